//! Converts the runner's values to the forms of lines, and back. Lines have names where the runner has
//! indices. A name that this program's spec lacks is an [`UnknownName`].
//!
//! The forms are types of their own, also where a type of the code has the same fields: their names and order
//! are the format's, which a rename in the code must not change.

use std::{borrow::Cow, collections::BTreeMap, convert::Infallible, time::Duration};

use dmlcts_model::{Case, ErrorCode, FeatureLevel, Mismatch, Outcome, Phase, Stray, StrayPlace, line};
use dmlcts_runner::{
    CaseAnswer, CaseDigest, CaseResult, Class, Details, Difference, Differences, Digest, Failure, FirstCase,
    Found, FoundGroups, Group, Progress, Refusal, Totals, Tried, Verdict,
};
use dmlcts_spec::{Answer, Coverage, IdSet, Judgement, Library, Operator, Predicate, Scratch};

use crate::{
    AnswerForm, CaseForm, DifferencesForm, GroupForm, OutcomeForm, RefusalForm, SkippedForm, TotalsForm,
    UnknownName, VerdictsForm, totals::CountedAnswer,
};

/// Longer texts of a backend are truncated to this number of characters.
const LONGEST: usize = 2_000;

/// The operators and strategies that names refer to.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    pub(crate) library: &'static Library,
    pub(crate) strategies: &'a [String],
}

impl Names<'_> {
    pub(crate) fn operator(&self, name: &str) -> Result<&'static Operator, UnknownName> {
        self.library.operator(name).ok_or_else(|| UnknownName::new("the operator", name))
    }

    pub(crate) fn case(&self, text: &str) -> Result<Case, UnknownName> {
        line::parse(text, self.library.signatures()).map_err(|_| UnknownName::new("the case", text))
    }

    pub(crate) fn predicate(&self, text: &str) -> Result<Predicate, UnknownName> {
        Predicate::parse(text, self.library).map_err(|_| UnknownName::new("the predicate", text))
    }

    fn strategy(&self, name: &str) -> Result<usize, UnknownName> {
        let place = self.strategies.iter().position(|strategy| strategy == name);
        place.ok_or_else(|| UnknownName::new("the strategy", name))
    }

    fn name_of(&self, operator: usize) -> String {
        self.library.operators().get(operator).map(|operator| operator.name().to_owned()).unwrap_or_default()
    }
}

pub(crate) fn clause_ids(operator: &Operator, places: IdSet) -> Vec<String> {
    places.items(operator.clauses()).map(|clause| clause.id.clone()).collect()
}

fn question_ids(operator: &Operator, places: IdSet) -> Vec<String> {
    places.items(operator.questions()).map(|question| question.id.clone()).collect()
}

fn clause_place(operator: &Operator, id: &str) -> Result<usize, UnknownName> {
    let place = operator.clauses().iter().position(|clause| clause.id == id);
    place.ok_or_else(|| UnknownName::new("the clause", id))
}

fn question_place(operator: &Operator, id: &str) -> Result<usize, UnknownName> {
    let place = operator.questions().iter().position(|question| question.id == id);
    place.ok_or_else(|| UnknownName::new("the question", id))
}

impl<'a> CaseForm<'a> {
    /// The form of a case that passed, which has no details.
    pub(crate) fn in_short(index: u64, line: &'a str, verdict: Verdict) -> Self {
        Self {
            index,
            line: Cow::Borrowed(line),
            verdict,
            strategy: None,
            outcome: None,
            class: None,
            violates: Vec::new(),
            answers: Vec::new(),
            known: None,
            rate: None,
            only_other_data: false,
            digest: None,
            output: None,
            differences: None,
        }
    }

    /// The form of a case's result. `strategies` are the names of the run's strategies.
    pub fn of_result(result: &CaseResult<'a>, library: &'static Library, strategies: &[String]) -> Self {
        Self::new(result, Names { library, strategies })
    }

    /// The form of a case's result.
    pub(crate) fn new(result: &CaseResult<'a>, names: Names<'_>) -> Self {
        let form = Self::in_short(result.index, result.line, result.verdict);
        let (Some(details), Some(operator)) =
            (result.details, names.library.operators().get(result.operator))
        else {
            return form;
        };
        let Details { outcome, class, judgement, answers, differences, known, rate, .. } = details;
        let Details { only_other_data, digest, output, .. } = details;
        Self {
            strategy: Some(names.strategies.get(result.strategy).cloned().unwrap_or_default()),
            outcome: Some(outcome.into()),
            class: *class,
            violates: clause_ids(operator, judgement.violated),
            answers: answers
                .iter()
                .filter_map(|(question, answer)| Some((operator.questions().get(*question)?, answer)))
                .map(|(question, answer)| AnswerForm {
                    question: question.id.clone(),
                    answer: answer_id(*answer),
                })
                .collect(),
            known: known.as_ref().map(|known| known.id.clone()),
            rate: *rate,
            only_other_data: *only_other_data,
            digest: digest.map(|digest| digest.to_string()),
            output: output.as_deref().map(in_hex),
            differences: differences.as_ref().map(Into::into),
            ..form
        }
    }

    /// Checks the values that serde does not check: outcomes and answers.
    pub(crate) fn check(&self) -> Result<(), UnknownName> {
        self.outcome.as_ref().map(OutcomeForm::outcome).transpose()?;
        digest_of(self.digest.as_deref())?;
        self.answers.iter().try_for_each(AnswerForm::check)
    }

    /// Whether the case passed. A case that was only created has an outcome.
    pub(crate) fn has_passed(&self) -> bool {
        self.verdict == Verdict::Pass && self.outcome.is_none()
    }

    /// Whether the case failed each time.
    pub(crate) fn has_failed(&self) -> bool {
        matches!(self.verdict, Verdict::Fail | Verdict::Crash | Verdict::Timeout | Verdict::Lost)
    }

    /// The failure, if the case failed each time. `case` is the case of the line.
    pub(crate) fn failed(
        &self,
        case: &Case,
        level: FeatureLevel,
        names: Names<'_>,
    ) -> Result<Option<Found>, UnknownName> {
        let (true, Some(class), Some(outcome)) = (self.has_failed(), self.class, &self.outcome) else {
            return Ok(None);
        };
        let operator = names.operator(&case.desc.signature.operator)?;
        Ok(Some(Found {
            index: self.index,
            strategy: names.strategy(self.strategy.as_deref().unwrap_or_default())?,
            operator: operator.position(),
            verdict: self.verdict,
            class,
            outcome: outcome.outcome()?,
            alive: 0,
            judgement: operator.judge(&case.desc, level, &mut Scratch::default()),
            mode: Found::mode_of(&case.desc),
            rate: None,
            again: 0,
            known: None,
            only_other_data: self.only_other_data,
            digest: Some(CaseDigest::new(&self.line, class, digest_of(self.digest.as_deref())?)),
        }))
    }
}

/// The digest that a line holds, if it holds one.
pub(crate) fn digest_of(text: Option<&str>) -> Result<Option<Digest>, UnknownName> {
    text.map(|text| Digest::parse(text).ok_or_else(|| UnknownName::new("the digest", text))).transpose()
}

impl AnswerForm {
    /// Checks the answer, which serde does not check.
    pub(crate) fn check(&self) -> Result<(), UnknownName> {
        answer_of(&self.answer).map(drop)
    }
}

/// The text of [`AnswerForm::answer`].
fn answer_id(said: CaseAnswer) -> String {
    match said {
        CaseAnswer::Answer(Answer::Reject) => "reject".to_owned(),
        CaseAnswer::Answer(Answer::Accept) => "accept".to_owned(),
        CaseAnswer::Answer(Answer::Reading(0)) => "semantics".to_owned(),
        CaseAnswer::Answer(Answer::Reading(reading)) => format!("reading-{reading}"),
        CaseAnswer::RefusedTogether => "reject-together".to_owned(),
    }
}

fn answer_of(id: &str) -> Result<CaseAnswer, UnknownName> {
    Ok(CaseAnswer::Answer(match id {
        "reject" => Answer::Reject,
        "accept" => Answer::Accept,
        "semantics" => Answer::Reading(0),
        "reject-together" => return Ok(CaseAnswer::RefusedTogether),
        _ => {
            let reading = id.strip_prefix("reading-").and_then(|reading| reading.parse().ok());
            reading.map(Answer::Reading).ok_or_else(|| UnknownName::new("the answer", id))?
        }
    }))
}

impl From<&Outcome> for OutcomeForm {
    fn from(outcome: &Outcome) -> Self {
        let cut = |text: &str| text.chars().take(LONGEST).collect();
        let form = |kind: &str| Self { kind: kind.to_owned(), ..Self::default() };
        match outcome {
            Outcome::Output => form("output"),
            Outcome::Accepted => form("accepted"),
            Outcome::Rejected { phase, code, reason } => Self {
                phase: Some(phase.to_string()),
                code: Some(format!("{:#010x}", code.0)),
                reason: cut(reason),
                ..form("rejected")
            },
            Outcome::Unsupported(reason) => Self { reason: cut(reason), ..form("unsupported") },
            Outcome::Failed { phase, reason } => {
                Self { phase: Some(phase.to_string()), reason: cut(reason), ..form("failed") }
            }
            Outcome::Mismatched { what, reason } => Self { reason: cut(reason), ..form(what.id()) },
            Outcome::Strayed(stray) => Self {
                place: Some(stray.place.id().to_owned()),
                offset: Some(stray.offset),
                ..form("strayed")
            },
            Outcome::Crashed(reason) => Self { reason: cut(reason), ..form("crashed") },
            Outcome::TimedOut => form("timed-out"),
            Outcome::Lost => form("lost"),
        }
    }
}

impl OutcomeForm {
    /// The outcome in the form.
    ///
    /// # Errors
    ///
    /// The kind, the phase, the code or the place is unknown, or the offset is missing.
    pub fn outcome(&self) -> Result<Outcome, UnknownName> {
        let phase = || phase_of(self.phase.as_deref().unwrap_or_default());
        let code = || code_of(self.code.as_deref().unwrap_or_default());
        let stray = || {
            let name = self.place.as_deref().unwrap_or_default();
            let place = StrayPlace::from_id(name).ok_or_else(|| UnknownName::new("the place", name))?;
            let offset = self.offset.ok_or_else(|| UnknownName::new("the offset", ""))?;
            Ok(Stray { place, offset })
        };
        let reason = || Cow::Owned(self.reason.clone());
        Ok(match self.kind.as_str() {
            "output" => Outcome::Output,
            "accepted" => Outcome::Accepted,
            "rejected" => Outcome::Rejected { phase: phase()?, code: code()?, reason: reason() },
            "unsupported" => Outcome::Unsupported(reason()),
            "failed" => Outcome::Failed { phase: phase()?, reason: reason() },
            "wrong-shape" => Outcome::Mismatched { what: Mismatch::Shape, reason: reason() },
            "wrong-type" => Outcome::Mismatched { what: Mismatch::Type, reason: reason() },
            "strayed" => Outcome::Strayed(stray()?),
            "crashed" => Outcome::Crashed(reason()),
            "timed-out" => Outcome::TimedOut,
            "lost" => Outcome::Lost,
            kind => return Err(UnknownName::new("the outcome", kind)),
        })
    }
}

fn in_hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect()
}

fn phase_of(name: &str) -> Result<Phase, UnknownName> {
    const PHASES: [Phase; 5] = [Phase::Create, Phase::Compile, Phase::Bind, Phase::Execute, Phase::ReadBack];
    let phase = PHASES.into_iter().find(|phase| phase.to_string() == name);
    phase.ok_or_else(|| UnknownName::new("the phase", name))
}

fn code_of(text: &str) -> Result<ErrorCode, UnknownName> {
    let code = text.strip_prefix("0x").and_then(|digits| u32::from_str_radix(digits, 16).ok());
    code.map(ErrorCode).ok_or_else(|| UnknownName::new("the code", text))
}

impl RefusalForm {
    /// Checks the values that serde does not check.
    pub(crate) fn check(&self) -> Result<(), UnknownName> {
        phase_of(&self.phase)?;
        code_of(&self.code).map(drop)
    }

    fn new((refusal, cases): (Refusal, u64), names: Names<'_>) -> Option<Self> {
        let Refusal { operator, clause, phase, code } = refusal;
        let clause = names.library.operators().get(operator)?.clauses().get(clause)?.id.clone();
        let (phase, code) = (phase.to_string(), format!("{:#010x}", code.0));
        Some(Self { operator: names.name_of(operator), clause, phase, code, cases })
    }

    fn refusal(&self, names: Names<'_>) -> Result<Refusal, UnknownName> {
        let operator = names.operator(&self.operator)?;
        let clause = clause_place(operator, &self.clause)?;
        Ok(Refusal {
            operator: operator.position(),
            clause,
            phase: phase_of(&self.phase)?,
            code: code_of(&self.code)?,
        })
    }
}

impl From<&Differences> for DifferencesForm {
    fn from(differences: &Differences) -> Self {
        let first = differences.first.first();
        let counts = Difference::ALL.into_iter().zip(differences.counts);
        Self {
            elements: differences.elements,
            wrong: counts.filter(|(_, count)| *count > 0).collect(),
            at: first.map(|first| first.coordinates.to_vec()).unwrap_or_default(),
            expected: first.map(|first| format!("{:#x}", first.expected)),
            actual: first.map(|first| format!("{:#x}", first.actual)),
        }
    }
}

impl TotalsForm {
    /// Checks the values that serde does not: outcomes and answers.
    pub(crate) fn check(&self) -> Result<(), UnknownName> {
        self.groups.iter().try_for_each(|group| group.outcome.outcome().map(drop))?;
        self.answers.iter().try_for_each(|answer| answer.answer.check())?;
        self.refusals.iter().try_for_each(RefusalForm::check)
    }

    /// The form of the totals. `groups` has the cases of the groups in `totals`, in the same order.
    pub(crate) fn new(totals: &Totals, groups: &[Group], names: Names<'_>) -> Self {
        let operators = names.library.operators();
        let mut verdicts = Vec::new();
        for (strategy, name) in names.strategies.iter().enumerate() {
            for (place, operator) in operators.iter().enumerate() {
                let tally = totals.tally(strategy, place);
                let counts = Verdict::ALL.into_iter().map(|verdict| (verdict, tally.of(verdict)));
                let counts: BTreeMap<_, _> = counts.filter(|(_, cases)| *cases > 0).collect();
                let first = totals.first_unexpected(strategy, place);
                if !counts.is_empty() {
                    verdicts.push(VerdictsForm {
                        strategy: name.clone(),
                        operator: operator.name().to_owned(),
                        counts,
                        first: first.map(|first| FirstCase { index: first.index, line: first.line.clone() }),
                        class: first.and_then(|first| first.class),
                    });
                }
            }
        }
        let answers = totals.answers.in_order().filter_map(|(place, question, said, cases, first)| {
            let operator = operators.get(place)?;
            let question = operator.questions().get(question)?.id.clone();
            let answer = AnswerForm { question, answer: answer_id(said) };
            Some(CountedAnswer { operator: operator.name().to_owned(), answer, cases, first: first.clone() })
        });
        let skipped = totals.skipped.iter().map(|(place, undeclared, cases)| SkippedForm {
            operator: names.name_of(place),
            undeclared,
            cases,
        });
        let found = totals.found.groups.iter().zip(groups);
        Self {
            next: totals.next,
            milliseconds: totals.elapsed.as_millis() as u64,
            read: totals.progress.read,
            ran: totals.progress.ran,
            verdicts,
            coverage: operators
                .iter()
                .map(|operator| (operator.name().to_owned(), sets(totals, operator)))
                .collect(),
            work: totals.work,
            notes: totals.notes,
            answers: answers.collect(),
            refusals: totals.refusals.iter().filter_map(|one| RefusalForm::new(one, names)).collect(),
            skipped: skipped.collect(),
            known: totals.known.clone(),
            groups: found.map(|((found, cases), group)| group_form(found, *cases, group)).collect(),
            ungrouped: totals.found.others,
        }
    }

    /// The totals of the form, for a run with these strategies.
    ///
    /// # Errors
    ///
    /// The form uses a name that this program's spec does not have.
    pub fn totals(&self, library: &'static Library, strategies: &[String]) -> Result<Totals, UnknownName> {
        let names = Names { library, strategies };
        let mut totals = Totals::new(library, strategies.len());
        totals.next = self.next;
        totals.elapsed = Duration::from_millis(self.milliseconds);
        for form in &self.verdicts {
            let strategy = names.strategy(&form.strategy)?;
            let operator = names.operator(&form.operator)?.position();
            for (verdict, cases) in &form.counts {
                totals.count(strategy, operator, *verdict, *cases);
            }
            if let Some(FirstCase { index, line }) = &form.first {
                totals.note_unexpected((strategy, operator), *index, line, form.class);
            }
        }
        let unexpected =
            (0..strategies.len()).map(|strategy| totals.of_strategy(strategy).unexpected()).sum();
        totals.progress = Progress { read: self.read, ran: self.ran, unexpected };
        for (name, sets) in &self.coverage {
            let operator = names.operator(name)?;
            let mut marks = [IdSet::EMPTY; Coverage::SETS.len()];
            for (set, name) in marks.iter_mut().zip(Coverage::SETS) {
                let text = sets.get(name).map_or("0", String::as_str);
                let bits = u128::from_str_radix(text, 16)
                    .map_err(|_| UnknownName::new("the set of places", text))?;
                *set = IdSet::from_bits(bits);
            }
            totals.coverage.add(operator, marks);
        }
        totals.work = self.work;
        totals.notes = self.notes;
        for CountedAnswer { operator, answer, cases, first } in &self.answers {
            let operator = names.operator(operator)?;
            let question = question_place(operator, &answer.question)?;
            let answer = answer_of(&answer.answer)?;
            totals.answers.count_many(operator.position(), question, answer, (*cases, first.clone()));
        }
        for form in &self.refusals {
            totals.refusals.count(form.refusal(names)?, form.cases);
        }
        for SkippedForm { operator, undeclared, cases } in &self.skipped {
            totals.skipped.count(names.operator(operator)?.position(), *undeclared, *cases);
        }
        totals.known.clone_from(&self.known);
        let groups: Result<Vec<_>, _> =
            self.groups.iter().map(|group| Ok((group.found(names)?, group.cases))).collect();
        totals.found = FoundGroups::new(groups?, self.ungrouped);
        Ok(totals)
    }
}

/// The sets of the operator's exercised clauses, questions and so on. Empty sets are left out.
fn sets(totals: &Totals, operator: &Operator) -> BTreeMap<String, String> {
    let sets = Coverage::SETS.into_iter().zip(totals.coverage.of(operator));
    sets.filter(|(_, set)| !set.is_empty())
        .map(|(name, set)| (name.to_owned(), format!("{:x}", set.bits())))
        .collect()
}

/// What was tried with a flake, with the lines of the cases that it needs.
fn tried_lines(tried: &Tried) -> Tried<String> {
    let Ok(tried) = tried.try_map(|case| Ok::<_, Infallible>(case.to_string()));
    tried
}

fn group_form(found: &Found, cases: u64, group: &Group) -> GroupForm {
    GroupForm {
        mode: found.mode,
        verdict: found.verdict,
        rate: found.rate,
        only_other_data: found.only_other_data,
        ..GroupForm::new(&group.first, found.class, cases, found.again)
    }
}

impl GroupForm {
    /// A group of `cases` failures, with its first one. Most of them failed in this class, and `again` ran
    /// again alone.
    pub(crate) fn new(first: &Failure, class: Class, cases: u64, again: u64) -> Self {
        Self {
            cases,
            operator: first.operator.name().to_owned(),
            class,
            violates: clause_ids(first.operator, first.judgement.violated),
            raises: question_ids(first.operator, first.judgement.questions),
            mode: None,
            index: first.index,
            strategy: first.strategy.clone(),
            line: first.case.to_string(),
            verdict: first.verdict,
            rate: first.rate,
            tried: first.tried.as_deref().map(tried_lines).map(Box::new),
            // The line of its first case tells.
            only_other_data: false,
            again: Some(again),
            outcome: (&first.outcome).into(),
            smallest: None,
        }
    }

    /// The first failure of the group, for a run that is resumed.
    pub(crate) fn found(&self, names: Names<'_>) -> Result<Found, UnknownName> {
        let operator = names.operator(&self.operator)?;
        let clauses: Result<IdSet, _> = self.violates.iter().map(|id| clause_place(operator, id)).collect();
        let questions: Result<IdSet, _> = self.raises.iter().map(|id| question_place(operator, id)).collect();
        Ok(Found {
            index: self.index,
            strategy: names.strategy(&self.strategy)?,
            operator: operator.position(),
            verdict: self.verdict,
            class: self.class,
            outcome: self.outcome.outcome()?,
            // The file does not hold it.
            alive: 0,
            judgement: Judgement { violated: clauses?, questions: questions?, ..Judgement::default() },
            mode: self.mode,
            rate: self.rate,
            again: self.again.unwrap_or(self.cases),
            known: None,
            only_other_data: self.only_other_data,
            digest: None,
        })
    }

    /// The group, without the tensors of any case.
    pub(crate) fn group(
        &self,
        cases: u64,
        level: FeatureLevel,
        names: Names<'_>,
    ) -> Result<Group, UnknownName> {
        let mut first = self.failure(&self.line, level, names)?;
        let tried = self.tried.as_ref().map(|tried| tried.try_map(|text| names.case(text)));
        first.tried = tried.transpose()?.map(Box::new);
        Ok(Group { cases, again: self.again.unwrap_or(cases), first })
    }

    /// The smaller case, without its tensors.
    pub(crate) fn smallest(
        &self,
        level: FeatureLevel,
        names: Names<'_>,
    ) -> Result<Option<Failure>, UnknownName> {
        self.smallest.as_deref().map(|text| self.failure(text, level, names)).transpose()
    }

    fn failure(&self, text: &str, level: FeatureLevel, names: Names<'_>) -> Result<Failure, UnknownName> {
        let (case, found, outcome) = (names.case(text)?, self.found(names)?, self.outcome.outcome()?);
        let failure = found.failure(names.library, level, (case, &self.strategy), outcome);
        failure.ok_or_else(|| UnknownName::new("the case", text))
    }
}
