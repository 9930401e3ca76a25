//! Findings of earlier runs. A finding that is still there keeps its id and the words of its predicate, so
//! that neither another seed nor a change of the analysis renames it.
//!
//! The steps: [`Earlier::new`] finds out whether the earlier cases still fail. [`Earlier::as_in_snapshot`]
//! keeps accepted findings that are as they were. [`Earlier::keep`] puts earlier predicates in the place of
//! new ones, and [`Earlier::complete`] gives the ids.

use std::collections::{BTreeMap, BTreeSet};

use dmlcts_findings::{Cases, Cause, Estimate, Label, Outcomes};
use dmlcts_model::{Case, FeatureLevel, Outcome};
use dmlcts_runner::{Class, Failure, Found, Group, KnownEntry, RunOutcomes, Verdict};
use dmlcts_spec::{Library, Operator, Predicate, Scratch, Validity, program::Values};

use crate::{Finding, Membership, Rule, finding::LISTED, outcomes::digest};

/// Further earlier findings are ignored.
const MOST: usize = 1_000;

/// A finding of an earlier run: one of a folder, a snapshot, or a part of the run. Only that of a snapshot
/// may have a predicate and no case.
#[derive(Clone, Debug)]
pub struct EarlierFinding {
    /// The id.
    pub id: String,
    /// How its cases failed: one class at least.
    pub classes: Vec<Class>,
    /// What separated its cases from those that passed, if something did.
    pub predicate: Option<Predicate>,
    /// Whether the predicate is about valid descs or about invalid ones; `None` if that is unknown.
    pub validity: Option<Validity>,
    /// Cases that failed, the smallest first. A later one counts if this run does not show whether the
    /// earlier ones fail. If it shows that of none, the first failure for which the predicate holds counts.
    pub cases: Vec<Case>,
    /// The number of its failures.
    pub count: u64,
    /// The number of cases that experiments asked of the same backend, and what fresh cases said of the
    /// predicate. `None` for a finding of another run.
    pub fresh: Option<(u64, Estimate)>,
}

impl EarlierFinding {
    /// A known failure. One that is unexpected again, or of which a run shows that it lists too few cases,
    /// keeps its id.
    pub fn of_known(entry: &KnownEntry) -> Self {
        let (known, cases) = (entry.failure(), entry.cases());
        let is_invalid = known.classes == [Class::AcceptedInvalid];
        Self {
            id: known.id.clone(),
            classes: known.classes.clone(),
            predicate: entry.predicate().cloned(),
            validity: is_invalid.then_some(Validity::Invalid),
            count: cases.len() as u64,
            cases: cases.to_vec(),
            fresh: None,
        }
    }
}

/// What a case does when it runs alone.
pub(crate) enum Alone {
    Passed,
    Failed(AloneFailure),
    Unknown,
}

/// How a case fails alone.
pub(crate) struct AloneFailure {
    pub(crate) class: Class,
    pub(crate) outcome: Outcome,
    /// Whether the failure is known.
    pub(crate) is_expected: bool,
}

/// A case of an earlier finding that still fails in the same class.
enum Still {
    /// It is the failure of the run at this index.
    Found(u64),
    /// It is not among the failures of the run, and fails alone.
    Alone(Box<Case>, AloneFailure),
}

/// What a run shows of a case of an earlier finding.
enum Shown {
    /// It fails in the same class.
    Fails(Still),
    /// It passes or fails in another class.
    Otherwise,
    Nothing,
}

/// An earlier finding in this run.
struct Entry<'a> {
    earlier: &'a EarlierFinding,
    still: Option<Still>,
}

/// The earlier findings in this run: those of earlier runs first, then those of parts, each with the most
/// cases first.
pub(crate) struct Earlier<'a> {
    entries: Vec<Entry<'a>>,
    failures: &'a BTreeMap<u64, Found>,
    library: &'static Library,
    level: FeatureLevel,
}

/// A cause, with the words of its earlier predicate if it has one.
pub(crate) struct NamedCause {
    pub(crate) cause: Cause,
    pub(crate) words: Option<Predicate>,
}

impl NamedCause {
    /// The first failures, if no predicate describes them.
    pub(crate) fn listed(&self, read: &mut dyn FnMut(u64) -> Case) -> Vec<Case> {
        let has_predicate = self.cause.validity.is_some();
        let failures = self.cause.failures.iter().take(if has_predicate { 0 } else { LISTED });
        failures.map(|index| read(*index)).collect()
    }

    /// The finding. `class` is how most of its cases failed; `runs` are the numbers of cases that ran again
    /// and of those that then passed.
    pub(crate) fn finding(
        &self,
        class: Class,
        first: Failure,
        runs: [u64; 2],
        library: &'static Library,
    ) -> Finding {
        let Self { cause, words } = self;
        let all = library.operators();
        let names = all.iter().map(Operator::name);
        let operators: Vec<&'static str> =
            names.filter(|name| cause.operators().any(|one| one == *name)).collect();
        let predicate = words.clone().or_else(|| compiled(cause, library));
        let rule = cause.validity.zip(predicate).map(|(validity, predicate)| Rule {
            predicate,
            validity,
            within: None,
            passes: cause.passes as u64,
            is_sample: false,
            asked: cause.asked as u64,
            estimate: cause.estimate,
            missed: 0,
            counterexample: None,
            is_exact: cause.exact,
        });
        let [again, passed_again] = runs;
        let cases = cause.failures.len() as u64;
        let of_first = Finding::of_failure(first);
        let mut finding = Finding { class, operators, rule, cases, again, passed_again, ..of_first };
        finding.id = finding.new_id();
        finding
    }
}

/// The predicate of a new cause, if it has one.
fn compiled(cause: &Cause, library: &Library) -> Option<Predicate> {
    let text = cause.predicate(library.operators().len());
    cause.validity.and_then(|_| Predicate::parse(&text, library).ok())
}

/// An earlier predicate and the failures of one kind for which it holds.
struct Candidate {
    entry: usize,
    kind: String,
    held: BTreeSet<u64>,
    /// The validity of the descs that it is about.
    validity: Option<Validity>,
}

impl<'a> Earlier<'a> {
    /// Looks for the earlier cases among the failures. `ask` runs the others.
    pub(crate) fn new(
        earlier: &'a [EarlierFinding],
        failures: &'a BTreeMap<u64, Found>,
        (library, level): (&'static Library, FeatureLevel),
        read: &mut dyn FnMut(u64) -> Case,
        ask: &mut dyn FnMut(&Case) -> Alone,
    ) -> Self {
        let mut all: Vec<&EarlierFinding> = earlier.iter().take(MOST).collect();
        // Ids of earlier runs take precedence over ids that the parts made.
        all.sort_by_key(|earlier| (earlier.fresh.is_some(), std::cmp::Reverse(earlier.count)));
        let mut places: BTreeMap<String, Option<u64>> = BTreeMap::new();
        places.extend(all.iter().flat_map(|earlier| &earlier.cases).map(|case| (case.to_string(), None)));
        let searched = if places.is_empty() { None } else { Some(failures) };
        for index in searched.into_iter().flat_map(BTreeMap::keys) {
            if let Some(place) = places.get_mut(&read(*index).to_string()) {
                place.get_or_insert(*index);
            }
        }
        let mut values = Values::default();
        let mut entry = |earlier: &'a EarlierFinding| {
            // If nothing is shown, the first failure for which the predicate holds stands for the cases.
            let mut first = || {
                let predicate = earlier.predicate.as_ref()?;
                let mut of_class = failures.values().filter(|found| earlier.classes.contains(&found.class));
                let first = of_class.find(|found| predicate.holds(&read(found.index), level, &mut values));
                first.map(|found| Still::Found(found.index))
            };
            let still = match still(earlier, failures, &places, ask) {
                Shown::Fails(still) => Some(still),
                Shown::Otherwise => None,
                Shown::Nothing => first(),
            };
            Entry { earlier, still }
        };
        let entries = all.into_iter().map(&mut entry).collect();
        Self { entries, failures, library, level }
    }

    /// Keeps accepted findings that are as they were. Their failures leave the outcomes, and nothing is
    /// learned of them. A predicate must hold for the accepted number of failures, and for no pass. An
    /// accepted finding without a predicate has the other failures of the kind: its case must still fail, and
    /// their number must be the accepted one. If a kind has further failures, all of them are learned
    /// together, since the words of one finding depend on the others.
    pub(crate) fn as_in_snapshot(&self, outcomes: &mut Outcomes, cases: &mut dyn Cases) -> Vec<NamedCause> {
        let mut candidates = self.candidates(outcomes, cases);
        candidates.retain(|candidate| {
            let earlier = self.entries[candidate.entry].earlier;
            // Only findings of a snapshot have a predicate and no case.
            earlier.cases.is_empty()
                && earlier.fresh.is_none()
                && earlier.count == candidate.held.len() as u64
        });
        self.refute_by_passes(&mut candidates, &outcomes.passes, &[], cases);
        let mut listed = Vec::new();
        loop {
            let held: BTreeSet<u64> = candidates.iter().flat_map(|one| one.held.iter().copied()).collect();
            let mut others: BTreeMap<&String, BTreeSet<u64>> = BTreeMap::new();
            for (index, kind) in outcomes.failures.iter().filter(|(index, _)| !held.contains(index)) {
                others.entry(kind).or_default().insert(*index);
            }
            let is_kept = |kind: &String| candidates.iter().any(|candidate| candidate.kind == *kind);
            listed.clear();
            others.retain(|kind, others| {
                match self.listed_in_snapshot(others, cases).filter(|_| is_kept(kind)) {
                    Some(operator) => {
                        listed.push((operator, (*kind).clone(), std::mem::take(others)));
                        false
                    }
                    None => true,
                }
            });
            let is_of =
                |index: &u64| outcomes.failures.get(index).is_some_and(|kind| others.contains_key(kind));
            let before = candidates.len();
            candidates.retain(|candidate| !candidate.held.iter().any(is_of));
            if candidates.len() == before {
                break;
            }
        }
        let mut kept = Vec::new();
        for candidate in candidates {
            // Another finding may have taken the failures.
            if candidate.held.iter().all(|index| outcomes.failures.contains_key(index)) {
                outcomes.failures.retain(|index, _| !candidate.held.contains(index));
                let operators = self.operators(&candidate.held, cases);
                kept.push(self.take(&candidate, operators, &mut Vec::new(), &[]));
            }
        }
        for (operator, kind, failures) in listed {
            outcomes.failures.retain(|index, _| !failures.contains(index));
            let failures = failures.into_iter().collect();
            kept.push(NamedCause { cause: Cause::unexplained(kind, operator, failures), words: None });
        }
        kept
    }

    /// The operator of failures that are those of an accepted finding without a predicate.
    fn listed_in_snapshot(&self, failures: &BTreeSet<u64>, cases: &mut dyn Cases) -> Option<String> {
        let [operator] = <[String; 1]>::try_from(self.operators(failures, cases)).ok()?;
        let is_of_class = |earlier: &EarlierFinding, index: &u64| {
            self.failures.get(index).is_some_and(|found| earlier.classes.contains(&found.class))
        };
        let is_it = |entry: &&Entry<'_>| {
            let Entry { earlier, still } = entry;
            earlier.predicate.is_none()
                && earlier.fresh.is_none()
                && earlier.count == failures.len() as u64
                && still.is_some()
                && earlier.cases.iter().any(|case| case.desc.signature.operator == operator)
                && failures.iter().all(|index| is_of_class(earlier, index))
        };
        self.entries.iter().find(is_it).map(|_| operator)
    }

    /// Puts each earlier predicate that is exact in the place of the causes that it covers. It must hold for
    /// exactly their failures among all failures of their kind, and for no pass. No answer of an experiment
    /// may refute it. It may also take its failures out of those that no condition explains.
    pub(crate) fn keep(
        &self,
        causes: Vec<Cause>,
        outcomes: &Outcomes,
        answers: &[(Case, Label)],
        cases: &mut dyn Cases,
    ) -> Vec<NamedCause> {
        let mut candidates = self.candidates(outcomes, cases);
        candidates.retain(|candidate| covered(candidate, &causes).is_some());
        self.refute_by_passes(&mut candidates, &outcomes.passes, answers, cases);
        let (mut kept, mut left) = (Vec::new(), causes);
        for candidate in candidates {
            // Another earlier predicate may have taken the failures.
            let Some(places) = covered(&candidate, &left) else { continue };
            let is_new = |place: &usize| left.get(*place).and_then(|cause| compiled(cause, self.library));
            let new: Vec<Predicate> = places.iter().filter_map(is_new).collect();
            if !self.is_too_narrow(&candidate, &new, answers) {
                let operators = self.operators(&candidate.held, cases);
                kept.push(self.take(&candidate, operators, &mut left, answers));
            }
        }
        kept.extend(left.into_iter().map(|cause| NamedCause { cause, words: None }));
        kept
    }

    /// The earlier predicates, with the failures of each kind for which they hold.
    fn candidates(&self, outcomes: &Outcomes, cases: &mut dyn Cases) -> Vec<Candidate> {
        let agrees = |earlier: &EarlierFinding| earlier.fresh.is_none_or(|(_, fresh)| fresh.wrong() == 0);
        let entries: Vec<(usize, &Predicate)> = (self.entries.iter().enumerate())
            .filter(|(_, entry)| agrees(entry.earlier))
            .filter_map(|(place, entry)| Some((place, entry.earlier.predicate.as_ref()?)))
            .collect();
        let mut held: BTreeMap<(usize, &str), BTreeSet<u64>> = BTreeMap::new();
        let mut values = Values::default();
        for (index, kind) in outcomes.failures.iter().filter(|_| !entries.is_empty()) {
            let case = cases.read(*index);
            for (place, predicate) in &entries {
                if predicate.holds(&case, self.level, &mut values) {
                    held.entry((*place, kind)).or_default().insert(*index);
                }
            }
        }
        let is_of_class = |entry: usize, held: &BTreeSet<u64>| {
            let mut found = held.iter().filter_map(|index| self.failures.get(index));
            found.any(|found| self.entries[entry].earlier.classes.contains(&found.class))
        };
        let of_class = held.into_iter().filter(|((entry, _), held)| is_of_class(*entry, held));
        let candidate = |((entry, kind), held): ((usize, &str), BTreeSet<u64>)| {
            // A finding's file does not say it, but its cases do.
            let first = held.first().and_then(|index| self.failures.get(index));
            let judged = first.map(|found| found.judgement.validity());
            let judged = judged.filter(|validity| *validity != Validity::Open);
            let validity = self.entries[entry].earlier.validity.or(judged);
            Candidate { entry, kind: kind.to_owned(), held, validity }
        };
        of_class.map(candidate).collect()
    }

    /// Removes the candidates that hold for a pass of the run or of an experiment whose data could have shown
    /// the failure.
    fn refute_by_passes(
        &self,
        candidates: &mut Vec<Candidate>,
        passes: &[u64],
        answers: &[(Case, Label)],
        cases: &mut dyn Cases,
    ) {
        let mut values = Values::default();
        let mut contradicts = |candidate: &Candidate, case: &Case| {
            self.holds(candidate, case, &mut values) && self.is_about(candidate, case)
        };
        for index in passes {
            if candidates.is_empty() {
                return;
            }
            let case = cases.read(*index);
            candidates.retain(|one| {
                !contradicts(one, &case) || cases.blind_to(*index, &case).as_ref() == Some(&one.kind)
            });
        }
        let passed = answers.iter().filter(|(_, label)| *label == Label::Passed);
        passed.for_each(|(case, _)| candidates.retain(|one| !contradicts(one, case)));
    }

    /// Whether a failure of an experiment is explained by the new predicates, and not by the earlier one.
    fn is_too_narrow(&self, candidate: &Candidate, new: &[Predicate], answers: &[(Case, Label)]) -> bool {
        let mut values = Values::default();
        let kind = Label::Failed(candidate.kind.clone());
        answers.iter().filter(|(_, label)| *label == kind).any(|(case, _)| {
            self.is_about(candidate, case)
                && new.iter().any(|one| one.holds(case, self.level, &mut values))
                && !self.holds(candidate, case, &mut values)
        })
    }

    /// Takes the failures of a candidate out of the causes, and makes them one cause.
    fn take(
        &self,
        candidate: &Candidate,
        operators: Vec<String>,
        causes: &mut Vec<Cause>,
        answers: &[(Case, Label)],
    ) -> NamedCause {
        let earlier = self.entries[candidate.entry].earlier;
        let (mut validity, mut asked) = (candidate.validity, 0);
        for cause in causes.iter_mut().filter(|cause| cause.kind == candidate.kind) {
            let before = cause.failures.len();
            cause.failures.retain(|index| !candidate.held.contains(index));
            if cause.failures.len() < before {
                validity = validity.or(cause.validity);
                asked = asked.max(cause.asked);
            }
        }
        causes.retain(|cause| !cause.failures.is_empty());
        let fresh = self.estimate(candidate, &operators, answers).map(|fresh| (asked as u64, fresh));
        let fresh = fresh.or(earlier.fresh);
        let cause = Cause {
            kind: candidate.kind.clone(),
            conditions: operators.into_iter().map(|operator| (operator, None)).collect(),
            validity: validity.or(Some(Validity::Valid)),
            failures: candidate.held.iter().copied().collect(),
            passes: 0,
            estimate: fresh.map(|(_, fresh)| fresh),
            asked: fresh.map_or(asked, |(asked, _)| asked as usize),
            exact: true,
        };
        NamedCause { cause, words: earlier.predicate.clone() }
    }

    /// What the answers of the experiments say of a candidate that none of them refutes.
    fn estimate(
        &self,
        candidate: &Candidate,
        operators: &[String],
        answers: &[(Case, Label)],
    ) -> Option<Estimate> {
        let mut values = Values::default();
        let mut fresh = Estimate::default();
        for (case, label) in answers {
            if !operators.contains(&case.desc.signature.operator) || !self.is_about(candidate, case) {
                continue;
            }
            match label {
                Label::Passed => fresh.count(false, false),
                // Other failures of the kind have other causes.
                Label::Failed(kind)
                    if *kind == candidate.kind && self.holds(candidate, case, &mut values) =>
                {
                    fresh.count(true, true);
                }
                _ => {}
            }
        }
        (fresh.cases() > 0).then_some(fresh)
    }

    fn holds(&self, candidate: &Candidate, case: &Case, values: &mut Values) -> bool {
        let predicate = self.entries[candidate.entry].earlier.predicate.as_ref();
        predicate.is_some_and(|predicate| predicate.holds(case, self.level, values))
    }

    /// Whether a candidate is about descs like this case's. Open descs say nothing.
    fn is_about(&self, candidate: &Candidate, case: &Case) -> bool {
        let Some(operator) = self.library.operator(&case.desc.signature.operator) else { return false };
        let judgement = operator.judge(&case.desc, self.level, &mut Scratch::default());
        judgement.questions.is_empty()
            && candidate.validity.is_none_or(|validity| validity == judgement.validity())
    }

    /// The operators of failures, in the library's order.
    fn operators(&self, failures: &BTreeSet<u64>, cases: &mut dyn Cases) -> Vec<String> {
        let found: BTreeSet<String> =
            failures.iter().map(|index| cases.read(*index).desc.signature.operator.clone()).collect();
        let all = self.library.operators().iter().map(|operator| operator.name().to_owned());
        all.filter(|name| found.contains(name)).collect()
    }

    /// The findings in order, with their digests and ids: the findings of causes, each with its failures, and
    /// one for each group of flakes.
    pub(crate) fn complete(
        &self,
        mut found: Vec<(Finding, Vec<u64>)>,
        groups: &[Group],
        run_outcomes: &RunOutcomes,
    ) -> Vec<Finding> {
        for (finding, failures) in &mut found {
            finding.digest = digest(run_outcomes, finding, failures);
        }
        let flakes = groups.iter().filter(|group| group.first.verdict == Verdict::Flake);
        found.extend(flakes.map(|group| (Finding::of_group(group), vec![group.first.index])));
        found.sort_by_key(|(finding, _)| finding.order());
        self.name(&mut found);
        found.into_iter().map(|(finding, _)| finding).collect()
    }

    /// Gives the ids to findings, which are in order, each with its failures. A finding takes the id of the
    /// earlier finding whose case it contains; of several, one that fails in its class, and then the one with
    /// the most cases. No two findings get one id.
    pub(crate) fn name(&self, findings: &mut [(Finding, Vec<u64>)]) {
        let all: Vec<Finding> = findings.iter().map(|(finding, _)| finding.clone()).collect();
        let mut membership = Membership::new(&all, self.library, self.level);
        let mut place = |entry: &Entry<'_>| match entry.still.as_ref()? {
            Still::Found(index) => findings.iter().position(|(_, failures)| failures.contains(index)),
            Still::Alone(case, failure) => {
                let how = (Verdict::Fail, failure.class, &failure.outcome);
                let place = membership.finding_of(case, how)?;
                // A known failure has the cause of a finding only if that explains all of its cases.
                let mut cases = entry.earlier.cases.iter();
                let mut is_explained = || {
                    all[place].rule.as_ref().is_some_and(|rule| rule.is_exact)
                        && cases.all(|case| membership.finding_of(case, how) == Some(place))
                };
                (!failure.is_expected || is_explained()).then_some(place)
            }
        };
        let places: Vec<Option<usize>> = self.entries.iter().map(&mut place).collect();
        let mut taken: BTreeSet<String> = BTreeSet::new();
        let mut is_named = vec![false; findings.len()];
        for (place, (finding, _)) in findings.iter_mut().enumerate() {
            let own = self.entries.iter().zip(&places).filter(|(_, of)| **of == Some(place));
            let mut own: Vec<&EarlierFinding> = own.map(|(entry, _)| entry.earlier).collect();
            own.sort_by_key(|earlier| earlier.classes.first() != Some(&finding.class));
            let mut ids = own.into_iter().map(|earlier| &earlier.id);
            if let Some(id) = ids.find(|id| !taken.contains(*id)) {
                taken.insert(id.clone());
                finding.id.clone_from(id);
                is_named[place] = true;
            }
        }
        for ((finding, _), _) in findings.iter_mut().zip(is_named).filter(|(_, is_named)| !is_named) {
            let numbers = (2..).map(|number: u64| format!("{}-{number}", finding.id));
            let mut ids = std::iter::once(finding.id.clone()).chain(numbers);
            if let Some(id) = ids.find(|id| taken.insert(id.clone())) {
                finding.id = id;
            }
        }
    }
}

/// What this run shows of an earlier finding: of its first case that says something here.
fn still(
    earlier: &EarlierFinding,
    failures: &BTreeMap<u64, Found>,
    places: &BTreeMap<String, Option<u64>>,
    ask: &mut dyn FnMut(&Case) -> Alone,
) -> Shown {
    for case in &earlier.cases {
        let index = places.get(&case.to_string()).copied().flatten();
        if let Some(found) = index.and_then(|index| failures.get(&index)) {
            let is_same = earlier.classes.contains(&found.class);
            return if is_same { Shown::Fails(Still::Found(found.index)) } else { Shown::Otherwise };
        }
        // A hang costs much time.
        match if earlier.classes.contains(&Class::TimedOut) { Alone::Unknown } else { ask(case) } {
            Alone::Failed(failure) if earlier.classes.contains(&failure.class) => {
                return Shown::Fails(Still::Alone(Box::new(case.clone()), failure));
            }
            Alone::Failed(..) | Alone::Passed => return Shown::Otherwise,
            Alone::Unknown => {}
        }
    }
    Shown::Nothing
}

/// The places of the causes that a candidate covers. `None` if it holds for a part of an explained cause, or
/// if it holds for failures that the causes do not have.
fn covered(candidate: &Candidate, causes: &[Cause]) -> Option<Vec<usize>> {
    let (mut places, mut failures) = (Vec::new(), 0);
    for (place, cause) in causes.iter().enumerate().filter(|(_, cause)| cause.kind == candidate.kind) {
        let held = cause.failures.iter().filter(|index| candidate.held.contains(index)).count();
        if held > 0 {
            places.push(place);
            failures += held;
        }
        if held > 0 && held < cause.failures.len() && cause.validity.is_some() {
            return None;
        }
    }
    (failures == candidate.held.len()).then_some(places)
}
