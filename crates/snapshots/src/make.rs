//! Makes a snapshot of a recorded run.

use dmlcts_diagnose::{self as diagnose, Diagnosis};
use dmlcts_model::{DataType, FeatureLevel, grouped};
use dmlcts_results::Header;
use dmlcts_runner::{Digest, Ending, QuestionAnswers, Summary, Verdict};
use dmlcts_spec::{Answer, Library, Validity};

use crate::{
    Finding, Further, Metadata, Snapshot, SnapshotError, Statement, chance,
    snapshot::{Counts, Place},
};

/// The room for findings, in bytes: a snapshot of any run fits in 64 KiB.
const ROOM: usize = 40 << 10;
/// A case with a longer line is not shown.
const LONGEST_CASE: usize = 2_000;
/// A longer predicate gives its finding no room.
const LONGEST_PREDICATE: usize = 8_000;

impl Snapshot {
    /// The snapshot of a run that this program's spec judged. A finding that is as in the `old` snapshot
    /// keeps its text.
    ///
    /// # Errors
    ///
    /// The run does not show what the backend does: it is incomplete, or known failures hide findings.
    pub fn new(header: &Header, run: &Diagnosis, old: Option<&Self>) -> Result<Self, SnapshotError> {
        let summary = &run.summary;
        check(header, summary)?;
        let library = Library::embedded();
        let (findings, further) = findings(run, old);
        let chance = chance::of_run(run, old.map_or(&[], |old| &old.chance));
        let keep = |new: Vec<Statement>, of: fn(&Self) -> &[Statement]| match old {
            Some(old) => chance::keep_statements(&new, of(old), &chance),
            None => new,
        };
        Ok(Self {
            about: Metadata::new(header),
            findings,
            further,
            answers: keep(answers(summary), |old| &old.answers),
            refusals: keep(refusals(summary, library), |old| &old.refusals),
            chance,
            lacks: lacks(summary, library),
        })
    }
}

/// The finding of each entry that a snapshot may have, as the snapshot has it and as the run found it.
pub fn entries(run: &Diagnosis) -> impl Iterator<Item = (Finding, &diagnose::Finding)> {
    let steady = run.findings.iter().filter(|finding| !chance::is_by_chance(finding));
    steady.map(|finding| (entry(finding), finding))
}

/// Checks that a run is whole and hides nothing.
fn check(header: &Header, summary: &Summary) -> Result<(), SnapshotError> {
    let unfit = |why: String, help: &str| Err(SnapshotError::Unfit { why, help: help.to_owned() });
    let rerun = "run the whole suite again, on a backend that runs to its end";
    if let Some(why) = summary.lost.as_ref().or(summary.bad_end.as_ref()) {
        return unfit(format!("the backend failed: {why}"), rerun);
    }
    if summary.ending != Ending::Complete {
        return unfit(format!("it is not complete ({})", summary.ending.id()), rerun);
    }
    let lost = summary.tally().of(Verdict::Lost);
    if !summary.abandoned.is_empty() || lost > 0 {
        return unfit("cases were never answered".to_owned(), rerun);
    }
    if header.selection.partition.is_some() {
        return unfit("it is one part of a run".to_owned(), "join the parts by `dmlcts merge --results`");
    }
    if header.selection.suite.is_none() {
        return unfit("its cases were given one by one".to_owned(), "run a suite");
    }
    if header.selection.findings.is_some() {
        let help = "run the suite without --findings: a snapshot shows all findings";
        return unfit("its known failures are in no finding".to_owned(), help);
    }
    if summary.is_unjudged() {
        return unfit("every case was skipped".to_owned(), "see what the backend declares: dmlcts doctor");
    }
    Ok(())
}

/// The findings by id, and those that have no room.
fn findings(run: &Diagnosis, old: Option<&Snapshot>) -> (Vec<Finding>, Option<Further>) {
    let (mut kept, further) = fit(entries(run).map(|(finding, _)| finding).collect());
    for finding in &mut kept {
        if let Some(same) = old.and_then(|old| old.findings.iter().find(|other| other.is_as(finding))) {
            *finding = same.clone();
        }
    }
    kept.sort_by(|one, other| one.id.cmp(&other.id));
    (kept, further)
}

/// The findings that have room, of findings with the most severe first, and the others in short.
pub(crate) fn fit(all: Vec<Finding>) -> (Vec<Finding>, Option<Further>) {
    let (mut kept, mut left, mut room) = (Vec::new(), Vec::new(), ROOM);
    for finding in all {
        // The most severe come first.
        let size = crate::write::finding(&finding).len();
        if size <= room && left.is_empty() {
            room -= size;
            kept.push(finding);
        } else {
            left.push(finding);
        }
    }
    let further = (!left.is_empty()).then(|| further(&left));
    (kept, further)
}

fn further(left: &[Finding]) -> Further {
    let (mut cases, mut sum) = (0_u64, 0_u64);
    for finding in left {
        let digest = Digest::of(crate::write::finding(finding).as_bytes());
        sum = sum.wrapping_add(digest.0);
        cases = cases.saturating_add(finding.counts.cases);
    }
    Further { findings: left.len() as u64, cases, digest: short(Digest(sum)) }
}

/// The start of a digest.
fn short(digest: Digest) -> String {
    digest.to_string().chars().take(8).collect()
}

fn entry(finding: &diagnose::Finding) -> Finding {
    let operators = finding.operators.join(", ");
    let shown = finding.shown().case.to_string();
    let example = Some(shown).filter(|line| line.len() <= LONGEST_CASE);
    let rule = finding.rule.as_ref().filter(|rule| rule.predicate.text().len() <= LONGEST_PREDICATE);
    let place = match rule {
        Some(rule) => Place::Where {
            predicate: rule.predicate.to_string(),
            invalid: rule.validity == Validity::Invalid,
        },
        None => Place::Of(operators),
    };
    let passes = rule.map_or(0, |rule| rule.passes);
    let counts = Counts {
        cases: finding.cases,
        of: finding.cases.saturating_add(passes),
        digest: short(finding.digest.unwrap_or_default()),
    };
    let of_class = || crate::answered::outcome(&finding.shown().outcome);
    let shows = finding.shows.clone().or_else(of_class);
    let shows = shows.filter(|_| example.is_some());
    Finding { id: finding.id.clone(), class: finding.class, place, counts, example, shows }
}

/// The answers to open questions.
fn answers(summary: &Summary) -> Vec<Statement> {
    let of = |recorded: &QuestionAnswers| {
        let readings = recorded.operator.readings();
        let words = |answer: Answer| match answer {
            Answer::Reject => "is refused".to_owned(),
            Answer::Accept => "is accepted".to_owned(),
            Answer::Reading(0) => "runs as the semantics".to_owned(),
            Answer::Reading(reading) => {
                let read = readings.get(reading - 1).map(|reading| reading.expression.to_string());
                format!("reads `{}`", read.unwrap_or_default())
            }
        };
        let answers = recorded.answers.iter();
        let answers = answers.map(|answer| format!("{} ({})", words(answer.answer), grouped(answer.cases)));
        let mut texts: Vec<String> = answers.collect();
        if recorded.together > 0 {
            let cases = grouped(recorded.together);
            texts.push(format!("is refused, perhaps for another question ({cases})"));
        }
        Statement { subject: recorded.question.id.clone(), text: texts.join("; ") }
    };
    summary.recorded.iter().map(of).collect()
}

/// How invalid descs are refused: what most clauses share, and then the exceptions.
fn refusals(summary: &Summary, library: &Library) -> Vec<Statement> {
    let mut clauses: Vec<(String, Vec<(String, u64)>)> = Vec::new();
    for (refusal, cases) in summary.totals.refusals.iter() {
        let clause = library
            .operators()
            .get(refusal.operator)
            .and_then(|operator| operator.clauses().get(refusal.clause));
        let Some(clause) = clause else { continue };
        let way = format!("at {}, {}", refusal.phase, crate::answered::code(refusal.code));
        match clauses.last_mut() {
            Some((last, ways)) if *last == clause.id => ways.push((way, cases)),
            _ => clauses.push((clause.id.clone(), vec![(way, cases)])),
        }
    }
    let single = |ways: &[(String, u64)]| match ways {
        [(way, _)] => Some(way.clone()),
        _ => None,
    };
    let mut shared: Vec<(String, usize)> = Vec::new();
    for way in clauses.iter().filter_map(|(_, ways)| single(ways)) {
        match shared.iter_mut().find(|(known, _)| *known == way) {
            Some((_, count)) => *count += 1,
            None => shared.push((way, 1)),
        }
    }
    let Some((usual, _)) = shared.into_iter().rev().max_by_key(|(_, count)| *count) else {
        return clauses.into_iter().map(exception).collect();
    };
    let others = clauses.into_iter().filter(|(_, ways)| single(ways).as_ref() != Some(&usual));
    let others: Vec<Statement> = others.map(exception).collect();
    let subject = if others.is_empty() { "all clauses" } else { "other clauses" }.to_owned();
    std::iter::once(Statement { subject, text: usual }).chain(others).collect()
}

/// How one clause is refused. The numbers tell several ways apart.
fn exception((subject, ways): (String, Vec<(String, u64)>)) -> Statement {
    let text = match ways.as_slice() {
        [(way, _)] => way.clone(),
        ways => {
            let ways = ways.iter().map(|(way, cases)| format!("{way} ({})", grouped(*cases)));
            ways.collect::<Vec<_>>().join("; ")
        }
    };
    Statement { subject, text }
}

/// What the backend declares not to support, of what the newest level has.
fn lacks(summary: &Summary, library: &Library) -> Vec<String> {
    let backend = &summary.capabilities;
    let names = library.operators().iter().map(dmlcts_spec::Operator::name);
    let is_there =
        |name: &str| backend.operators.as_ref().is_none_or(|all| all.iter().any(|one| one == name));
    let mut all: Vec<String> = names.clone().filter(|name| !is_there(name)).map(str::to_owned).collect();
    let types = DataType::all().filter(|data_type| data_type.element_size().is_some());
    let types = types.filter(|data_type| !backend.data_types.contains(data_type));
    all.extend(types.map(|data_type| data_type.to_string()));
    for lack in &backend.lacks {
        // A backend may name an operator that this program does not have.
        if names.clone().any(|name| name == lack.operator) {
            // Its reason may be put in other words, and nothing has changed then.
            all.push(lack.descs());
        }
    }
    let (low, high) = (*backend.ranks.start(), *backend.ranks.end());
    all.extend((1..=8_u32).filter(|rank| !(low..=high).contains(rank)).map(|rank| format!("rank {rank}")));
    if backend.feature_level != FeatureLevel::NEWEST {
        all.push(format!("feature levels above {}", backend.feature_level));
    }
    if backend.limits.tensor_bytes != u64::MAX {
        all.push(format!("tensors above {} bytes", grouped(backend.limits.tensor_bytes)));
    }
    if backend.limits.elements != u64::MAX {
        all.push(format!("tensors above {} elements", grouped(backend.limits.elements)));
    }
    all
}
