//! The findings of joined parts: the lines of all cases are explained as a run without experiments explains
//! its cases.
//!
//! Predicates that the experiments of a part confirmed stay where they are right about the whole run. So do
//! ids that a part took from an earlier run.

use std::collections::BTreeMap;

use dmlcts_diagnose::{EarlierFinding, Finding, Membership, RecordedRun, Rule};
use dmlcts_findings::Estimate;
use dmlcts_model::{Case, FeatureLevel};
use dmlcts_runner::{CaseSource, Class, Failure, Found, Group, RunOutcomes};
use dmlcts_spec::{expression::parse, program::Values};

use crate::{CaseForm, UnknownName, convert::Names};

/// The most bytes of lines that are kept if this program does not have the cases of a run. Later cases are
/// not explained.
const MOST_TEXT: usize = 64 << 20;

/// What the failures of joined parts are explained with.
#[derive(Clone, Copy)]
pub struct Analysis<'a> {
    /// The cases of the run. If this program does not have them, the lines are parsed.
    pub source: Option<&'a dyn CaseSource>,
    /// The findings of earlier runs, whose ids are kept.
    pub earlier: &'a [EarlierFinding],
}

impl std::fmt::Debug for Analysis<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Analysis").field("earlier", &self.earlier).finish_non_exhaustive()
    }
}

/// What the line of a case contributes to the explanation of failures.
#[derive(Debug)]
pub(crate) enum Witness {
    Nothing,
    /// A failure behind the last one that is kept.
    TooMany,
    Passed(Option<Box<Case>>),
    Failed(Box<Found>, Box<Case>),
}

impl Witness {
    /// Reads the line of a case, with the case itself if it failed. `with_passes` adds it if it passed.
    ///
    /// # Errors
    ///
    /// The line has a name that this program's spec does not have.
    pub(crate) fn read(
        form: &CaseForm<'_>,
        names: Names<'_>,
        level: FeatureLevel,
        with_passes: bool,
    ) -> Result<Self, UnknownName> {
        let case = || names.case(&form.line).map(Box::new);
        if form.has_passed() {
            return Ok(Self::Passed(if with_passes { Some(case()?) } else { None }));
        }
        if !form.has_failed() {
            return Ok(Self::Nothing);
        }
        let case = case()?;
        let failed = form.failed(&case, level, names)?;
        Ok(failed.map_or(Self::Nothing, |found| Self::Failed(Box::new(found), case)))
    }
}

/// The lines of the cases of a run.
pub(crate) struct Lines<'a> {
    analysis: Analysis<'a>,
    names: Names<'a>,
    level: FeatureLevel,
    /// The predicate that the cases fulfil, if only such cases ran.
    within: Option<String>,
    run_outcomes: RunOutcomes,
    /// The cases that the source does not have: the places of their lines in `text`.
    places: BTreeMap<u64, usize>,
    text: String,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(
        analysis: Analysis<'a>,
        names: Names<'a>,
        level: FeatureLevel,
        filter: Option<String>,
    ) -> Self {
        // As the run itself writes it.
        let within = filter.map(|text| parse(&text).map_or(text, |parsed| parsed.to_string()));
        let run_outcomes = RunOutcomes::default();
        Self { analysis, names, level, within, run_outcomes, places: BTreeMap::new(), text: String::new() }
    }

    /// Whether ids of earlier findings are kept.
    pub(crate) fn keeps_ids(&self) -> bool {
        !self.analysis.earlier.is_empty()
    }

    /// Reads the line of a case. A line that this program cannot read explains nothing.
    pub(crate) fn read(&self, form: &CaseForm<'_>) -> Witness {
        if form.has_failed() && self.run_outcomes.is_full() {
            return Witness::TooMany;
        }
        let with_passes = self.analysis.source.is_none() && self.text.len() < MOST_TEXT;
        Witness::read(form, self.names, self.level, with_passes).unwrap_or(Witness::Nothing)
    }

    /// Adds a case. The cases come in order.
    pub(crate) fn add(&mut self, index: u64, witness: Witness) {
        let has_source = self.analysis.source.is_some();
        match witness {
            Witness::Passed(None) if !has_source => self.run_outcomes.leave_out_pass(),
            Witness::Passed(case) => {
                self.run_outcomes.add(&[index], Vec::new());
                self.keep(index, case.as_deref());
            }
            Witness::Failed(found, case) if has_source || self.text.len() < MOST_TEXT => {
                self.run_outcomes.add(&[], vec![*found]);
                self.keep(index, Some(&case).filter(|_| !has_source).map(|case| &**case));
            }
            Witness::Failed(..) | Witness::TooMany => self.run_outcomes.leave_out_failure(),
            Witness::Nothing => {}
        }
    }

    fn keep(&mut self, index: u64, case: Option<&Case>) {
        let Some(case) = case else { return };
        self.places.insert(index, self.text.len());
        self.text.extend([&case.to_string(), "\n"]);
    }

    /// The findings of the whole run. `groups` are its groups of failures, `firsts` the first cases of the
    /// groups of all parts with their classes, and `parts` the findings of the parts.
    pub(crate) fn findings(
        mut self,
        groups: &[Group],
        firsts: &[(u64, Class)],
        parts: &[Finding],
    ) -> Vec<Finding> {
        let Some(blank) = groups.first().map(|group| group.first.case.clone()) else { return Vec::new() };
        self.run_outcomes.rename(firsts);
        let earlier = [self.analysis.earlier.to_vec(), of_parts(parts)].concat();
        let (library, strategies) = (self.names.library, self.names.strategies);
        let within = self.within.as_deref();
        let run = RecordedRun { library, level: self.level, strategies, groups, within, earlier: &earlier };
        let mut cursor = self.analysis.source.map(CaseSource::cursor);
        let mut shared = blank.clone();
        let mut read = |index: u64| {
            let Some(cursor) = &mut cursor else { return self.case(index).unwrap_or_else(|| blank.clone()) };
            cursor.read(index, &mut shared);
            shared.clone()
        };
        let mut findings = run.findings(&self.run_outcomes, &mut read);
        for finding in &mut findings {
            finding.smallest = self.smallest(finding, parts);
            let shown = &finding.shown().case;
            let of_part = parts.iter().find(|part| part.shown().case == *shown);
            finding.shows = of_part.and_then(|part| part.shows.clone());
            finding.output = of_part.and_then(|part| part.output);
            finding.bytes_vary |= self.has_varied(finding, parts);
            if let Some(rule) = &mut finding.rule {
                add_estimates(rule, parts);
            }
        }
        Finding::join_flakes(&mut findings, |_| false);
        self.add_repeats(&mut findings, parts);
        findings
    }

    /// Adds up how many cases ran again in the parts.
    fn add_repeats(&self, findings: &mut [Finding], parts: &[Finding]) {
        let all = findings.to_vec();
        let mut membership = Membership::new(&all, self.names.library, self.level);
        let mut sums = vec![[0_u64; 2]; all.len()];
        for part in parts {
            let Failure { verdict, class, outcome, case, .. } = &part.first;
            if let Some(place) = membership.finding_of(case, (*verdict, *class, outcome)) {
                // Counts of a file may be any numbers.
                let [again, passed] = &mut sums[place];
                *again = again.saturating_add(part.again);
                *passed = passed.saturating_add(part.passed_again);
            }
        }
        for (finding, [again, passed]) in findings.iter_mut().zip(sums) {
            finding.again = finding.again.max(again).min(finding.cases);
            finding.passed_again = finding.passed_again.max(passed).min(finding.again);
        }
    }

    /// The case at an index, from its line.
    fn case(&self, index: u64) -> Option<Case> {
        let text = self.text.get(*self.places.get(&index)?..)?;
        self.names.case(text.lines().next()?).ok()
    }

    /// Whether a part saw other bytes when a case of the finding ran again.
    fn has_varied(&self, finding: &Finding, parts: &[Finding]) -> bool {
        let mut values = Values::default();
        let mut holds = |case: &Case| match &finding.rule {
            Some(rule) => rule.predicate.holds(case, self.level, &mut values),
            None => *case == finding.first.case,
        };
        let varied = parts.iter().filter(|part| part.bytes_vary && part.class == finding.class);
        varied.map(|part| &part.first.case).any(&mut holds)
    }

    /// The smallest case of a finding, from the part that has its first case or else from any part.
    fn smallest(&self, finding: &Finding, parts: &[Finding]) -> Option<Failure> {
        let mut values = Values::default();
        let mut fits = |smallest: &&Failure| match &finding.rule {
            Some(rule) => rule.predicate.holds(&smallest.case, self.level, &mut values),
            None => true,
        };
        let is_of_first = |part: &&Finding| part.first.index == finding.first.index;
        let (rule, class) = (finding.rule.is_some(), finding.class);
        let alike = parts.iter().filter(|part| part.class == class && part.rule.is_some() == rule);
        let own = alike.clone().find(is_of_first);
        match own.map(|own| own.smallest.as_ref()) {
            Some(None) => return None,
            Some(own) if own.iter().any(&mut fits) => return own.cloned(),
            _ => {}
        }
        // Findings without a predicate have nothing but their first case in common.
        let others = alike.filter(|part| rule && part.operators == finding.operators);
        let others = others.filter_map(|part| part.smallest.as_ref()).filter(fits);
        others.min_by_key(|smallest| (smallest.case.to_string().len(), smallest.index)).cloned()
    }
}

/// The findings of parts whose predicates or ids stay: experiments confirmed the predicate, or the id is of
/// an earlier run.
fn of_parts(parts: &[Finding]) -> Vec<EarlierFinding> {
    let mut all: Vec<EarlierFinding> = Vec::new();
    for part in parts {
        let rule = part.rule.as_ref();
        let fresh = rule.and_then(|rule| Some((rule.asked, rule.estimate?)));
        if fresh.is_none() && part.has_new_id() {
            continue;
        }
        let smallest = part.smallest.iter().map(|smallest| smallest.case.clone());
        let new = EarlierFinding {
            id: part.id.clone(),
            classes: vec![part.class],
            predicate: rule.map(|rule| rule.predicate.clone()),
            validity: rule.map(|rule| rule.validity),
            cases: smallest.chain([part.first.case.clone()]).collect(),
            count: part.cases,
            fresh: fresh.filter(|_| part.has_new_id()),
        };
        let is_same = |one: &&mut EarlierFinding| {
            one.id == new.id
                && one.classes == new.classes
                && (&one.predicate, one.validity) == (&new.predicate, new.validity)
        };
        match all.iter_mut().find(is_same) {
            Some(one) => {
                // Counts of a file may be any numbers.
                one.count = one.count.saturating_add(new.count);
                one.fresh = both(one.fresh, new.fresh);
                one.cases.extend(new.cases);
            }
            None => all.push(new),
        }
    }
    all
}

fn both(one: Option<(u64, Estimate)>, other: Option<(u64, Estimate)>) -> Option<(u64, Estimate)> {
    match (one, other) {
        (Some((asked, one)), Some((more, other))) => Some((asked.saturating_add(more), one.stronger(other))),
        (one, other) => one.or(other),
    }
}
/// Adds what the experiments of parts said of the same predicate. Some may have refuted it.
fn add_estimates(rule: &mut Rule, parts: &[Finding]) {
    if rule.estimate.is_some() {
        return;
    }
    let alike = parts.iter().filter_map(|part| part.rule.as_ref());
    let alike = alike.filter(|part| part.predicate == rule.predicate && part.validity == rule.validity);
    for part in alike {
        let Some(estimate) = part.estimate else { continue };
        rule.estimate = Some(rule.estimate.map_or(estimate, |one| one.stronger(estimate)));
        rule.asked = rule.asked.saturating_add(part.asked);
        rule.is_exact &= part.is_exact;
        rule.counterexample = rule.counterexample.take().or_else(|| part.counterexample.clone());
    }
}
