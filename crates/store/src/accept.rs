//! Makes the files of findings from a run, so that the next run expects what this one showed.

use std::collections::BTreeMap;

use dmlcts_backend::Capabilities;
use dmlcts_diagnose::{Diagnosis, Finding, Membership, Rule, Severity};
use dmlcts_model::{Case, Outcome, line};
use dmlcts_runner::{CauseKind, Class, Conclusion, Status, Summary, Verdict};
use dmlcts_spec::{Library, Predicate, Validity, program::Values};

use crate::{EvidenceForm, FindingFile, SeenForm, Stored};

/// The most cases of a finding without a predicate.
const MOST_LISTED: usize = 100;
/// The cases beside the smallest one of a finding with a predicate.
const REPLAYED: usize = 3;
/// A predicate may hold for one passing case in this many failures. The finding is partial then.
const FEW: u64 = 20;
/// The reason of a finding that nobody examined yet.
pub(crate) const UNEXAMINED: &str = "Not examined yet.";

/// A failed case of a run.
#[derive(Clone, Debug)]
pub struct FailedCase {
    /// The case as a line.
    pub line: String,
    /// The verdict.
    pub verdict: Verdict,
    /// How it failed.
    pub class: Class,
    /// The outcome of the backend.
    pub outcome: Outcome,
    /// The finding of the folder that expected it.
    pub known: Option<String>,
}

/// A run whose findings are accepted.
#[derive(Clone, Copy, Debug)]
pub struct AcceptedRun<'a> {
    /// What it came to.
    pub diagnosis: &'a Diagnosis,
    /// The failed cases, in the order of the run.
    pub failed: &'a [FailedCase],
    /// Whether the run has every case of its suite.
    pub is_whole: bool,
}

/// What a run changes in a folder.
#[derive(Debug, Default)]
pub struct Accepted {
    /// The files to write.
    pub changes: Vec<Change>,
    /// The findings that cannot become known.
    pub refused: Vec<Refused>,
}

impl Accepted {
    /// Adds what becomes of a finding, unless its file in the folder stays as it is.
    fn add(&mut self, id: &str, old: Option<&Stored>, made: Result<Change, String>) {
        match made {
            Ok(change) if old.is_some_and(|old| old.text == change.text) => {}
            Ok(change) => self.changes.push(change),
            Err(why) => self.refused.push(Refused { id: id.to_owned(), why }),
        }
    }
}

/// A file to write.
#[derive(Debug)]
pub struct Change {
    /// The id of the finding.
    pub id: String,
    /// What became of it: `new`, `changed`, `fixed` or `regressed`.
    pub what: &'static str,
    /// Its fields now.
    pub file: FindingFile,
    /// The text of the file.
    pub text: String,
}

/// A finding that cannot become known.
#[derive(Debug)]
pub struct Refused {
    /// The id of the finding.
    pub id: String,
    /// Why.
    pub why: String,
}

/// The files of the findings of a run, and of the findings of the folder that are not as they were. `ids`
/// selects some of them; none selects all. `schema` is the path of the schema for editors, from the folder.
pub fn accept(
    stored: &[Stored],
    run: &AcceptedRun<'_>,
    ids: &[String],
    (library, schema): (&'static Library, Option<&str>),
) -> Accepted {
    let Diagnosis { summary, findings, .. } = run.diagnosis;
    let conclusions: BTreeMap<&str, Conclusion> = summary
        .known(run.is_whole)
        .map(|(tally, conclusion)| (tally.entry.id.as_str(), conclusion))
        .collect();
    let is_chosen = |id: &str| ids.is_empty() || ids.iter().any(|one| one == id);
    let old = |id: &str| stored.iter().find(|one| one.file.finding == id);
    let mut accepted = Accepted::default();
    for (finding, cases) in findings.iter().zip(cases_of(run, &conclusions, library)) {
        if !is_chosen(&finding.id) {
            continue;
        }
        let old = old(&finding.id);
        let what = match conclusions.get(finding.id.as_str()) {
            Some(Conclusion::Regressed) => "regressed",
            Some(Conclusion::New) | None => "new",
            Some(_) => "changed",
        };
        let file = check(finding)
            .and_then(|()| file(finding, &cases, old.map(|old| &old.file), (summary, library), false));
        accepted.add(&finding.id, old, file.map(|file| change(what, file, old, schema)));
    }
    for one in stored.iter().filter(|one| is_chosen(&one.file.finding)) {
        let id = one.file.finding.as_str();
        if findings.iter().any(|finding| finding.id == id) {
            continue;
        }
        // What fails of a changed one is in other findings, if all cases of the suite ran.
        let made = match conclusions.get(id) {
            Some(Conclusion::Changed) if !run.is_whole => {
                Err("it changed, and only a run of a whole suite says how".to_owned())
            }
            Some(Conclusion::Fixed | Conclusion::Changed) => {
                let file = FindingFile { status: Status::Fixed, ..one.file.clone() };
                Ok(change("fixed", file, Some(one), schema))
            }
            _ => continue,
        };
        accepted.add(id, Some(one), made);
    }
    accepted
}

/// The files of the findings of a run that looks for new ones. Nobody accepted them, so they have the status
/// `new`, unless the folder has them as known. One that was fixed has regressed. A finding without a
/// predicate lists some of its cases, and a flake is `flaky`. Nothing is said of findings of the folder that
/// the run did not meet.
pub fn add(
    stored: &[Stored],
    run: &AcceptedRun<'_>,
    (library, schema): (&'static Library, Option<&str>),
) -> Accepted {
    let Diagnosis { summary, findings, .. } = run.diagnosis;
    let mut added = Accepted::default();
    for (finding, cases) in findings.iter().zip(cases_of(run, &BTreeMap::new(), library)) {
        let old = stored.iter().find(|one| one.file.finding == finding.id);
        let is_flaky = is_flaky(finding);
        // What comes and goes has no predicate that a case could be held to.
        let finding = &Finding { rule: finding.rule.clone().filter(|_| !is_flaky), ..finding.clone() };
        let refused = if is_flaky { Ok(()) } else { check(finding) };
        let file =
            refused.and_then(|()| file(finding, &cases, old.map(|old| &old.file), (summary, library), true));
        let old_status = old.map(|old| old.file.status);
        let what = match old_status {
            None => "new",
            Some(Status::Fixed) => "regressed",
            Some(_) => "changed",
        };
        let status = old_status.filter(|status| *status == Status::Known).unwrap_or(Status::New);
        let made = file.map(|file| {
            let flaky = file.flaky || is_flaky;
            change(what, FindingFile { status, flaky, ..file }, old, schema)
        });
        added.add(&finding.id, old, made);
    }
    added
}

/// The file of a finding that was fixed and fails again: it is new.
pub fn regress(fixed: &Stored, schema: Option<&str>) -> Change {
    change("regressed", FindingFile { status: Status::New, ..fixed.file.clone() }, Some(fixed), schema)
}

fn change(what: &'static str, file: FindingFile, old: Option<&Stored>, schema: Option<&str>) -> Change {
    let text = file.to_yaml(old.map(|old| (old.text.as_str(), &old.file)), schema);
    Change { id: file.finding.clone(), what, file, text }
}

/// The failed cases of each finding. Cases that the folder expects belong to a finding only if their known
/// failure changed.
fn cases_of<'a>(
    run: &AcceptedRun<'a>,
    conclusions: &BTreeMap<&str, Conclusion>,
    library: &'static Library,
) -> Vec<Vec<&'a FailedCase>> {
    let Diagnosis { summary, findings, .. } = run.diagnosis;
    let mut all = vec![Vec::new(); findings.len()];
    let mut membership = Membership::new(findings, library, summary.level);
    for failed in run.failed {
        let holds = |id: &String| conclusions.get(id.as_str()) != Some(&Conclusion::Changed);
        if failed.verdict == Verdict::ExpectedFail && failed.known.as_ref().is_none_or(holds) {
            continue;
        }
        let Ok(case) = line::parse(&failed.line, library.signatures()) else { continue };
        let how = (failed.verdict, failed.class, &failed.outcome);
        if let Some(place) = membership.finding_of(&case, how) {
            all[place].push(failed);
        }
    }
    all
}

/// The file of a finding, or why it cannot become known. `old` is its file in the folder, and `may_cut`
/// whether a list of cases may end early.
fn file(
    finding: &Finding,
    cases: &[&FailedCase],
    old: Option<&FindingFile>,
    (summary, library): (&Summary, &Library),
    may_cut: bool,
) -> Result<FindingFile, String> {
    let selected = finding.rule.as_ref().and_then(|rule| selected(rule, finding, cases, library));
    let (filter, smallest, others) = if let Some((filter, smallest)) = selected {
        let others = others(cases, &smallest);
        (Some(filter), smallest, others)
    } else {
        let (smallest, others) = listed(finding, cases, may_cut)?;
        (None, smallest, others)
    };
    // Another case has another answer.
    let is_shown = smallest == finding.shown().case.to_string();
    let classes = classes(finding, cases);
    let rule = finding.rule.as_ref().filter(|_| filter.is_some());
    let Capabilities { version, driver, device, .. } = &summary.capabilities;
    let with = [("driver", driver), ("device", device)].into_iter().filter(|(_, name)| !name.is_empty());
    let with: Vec<String> = with.map(|(what, name)| format!("{what} {name}")).collect();
    let first = old.and_then(|old| Some(old.seen.as_ref()?.first.clone()));
    let seen = SeenForm {
        first: first.unwrap_or_else(|| version.clone()),
        last: version.clone(),
        with: (!with.is_empty()).then(|| with.join(", ")),
    };
    Ok(FindingFile {
        finding: finding.id.clone(),
        status: Status::Known,
        kind: old.map_or_else(|| CauseKind::of(classes[0]), |old| old.kind),
        evidence: rule.map(|rule| evidence(rule, finding, library)),
        filter,
        class: classes.iter().map(|class| class.id().to_owned()).collect(),
        answer: finding.shows.clone().filter(|_| is_shown),
        output: finding.output.filter(|_| is_shown).map(|digest| digest.to_string()),
        smallest,
        cases: others,
        partial: old.is_some_and(|old| old.partial) || rule.is_some_and(|rule| rule.passes > 0),
        flaky: old.is_some_and(|old| old.flaky),
        applies: old.and_then(|old| old.applies.clone()),
        seen: Some(seen),
        reason: old.map_or_else(|| Some(UNEXAMINED.to_owned()), |old| old.reason.clone()),
        link: old.and_then(|old| old.link.clone()),
    })
}

/// Whether its cases fail from time to time.
fn is_flaky(finding: &Finding) -> bool {
    finding.first.verdict == Verdict::Flake || finding.passed_again > 0
}

/// Checks that failures of this kind can be expected: they come each time, and on every machine.
fn check(finding: &Finding) -> Result<(), String> {
    let is_memory = |outcome: &Outcome| matches!(outcome, Outcome::Crashed(reason) if reason.starts_with("out of memory"));
    match finding.class {
        _ if is_flaky(finding) => {
            Err("its cases fail from time to time; write `flaky: true` into a file of your own".to_owned())
        }
        Class::TimedOut => Err("a time-out depends on the machine".to_owned()),
        Class::Lost => Err("its cases have no answer".to_owned()),
        _ if is_memory(&finding.first.outcome) => Err("a lack of memory depends on the machine".to_owned()),
        _ => Ok(()),
    }
}

/// The predicate of a finding as the `where` of its file, with a case for which it holds, the smallest if
/// that is one. `None` if it holds for too many cases that passed.
fn selected(
    rule: &Rule,
    finding: &Finding,
    cases: &[&FailedCase],
    library: &Library,
) -> Option<(String, String)> {
    if rule.passes * FEW > finding.cases {
        return None;
    }
    let filter = filter(rule, finding.class);
    let predicate = Predicate::parse(&filter, library).ok()?;
    let mut values = Values::default();
    let shown = finding.shown();
    let mut holds = |case: &Case| predicate.holds(case, shown.level, &mut values);
    let shown = [&shown.case, &finding.first.case].into_iter().find(|case| holds(case)).cloned();
    // A case that fails on other data only does not fulfil a condition on its data.
    let lines = || lines(cases).into_iter().filter_map(|line| line::parse(&line, library.signatures()).ok());
    let smallest = shown.or_else(|| lines().find(&mut holds))?;
    Some((filter, smallest.to_string()))
}

/// The predicate of a rule, with everything that it leaves to its context.
fn filter(rule: &Rule, class: Class) -> String {
    let of_any =
        matches!(class, Class::RefusedOtherwise | Class::Undeclared | Class::Failed | Class::Crashed);
    let validity = match rule.validity {
        // The answers to open questions are in a finding with the valid descs that fail in the same way.
        Validity::Valid => "not invalid",
        Validity::Invalid => "invalid",
        Validity::Open => "open",
    };
    let bracketed = |text: &str| {
        let is_joined = [" or ", " if "].iter().any(|word| text.contains(word));
        if is_joined { format!("({text})") } else { text.to_owned() }
    };
    let mut parts: Vec<String> = rule.within.iter().map(|within| format!("({within})")).collect();
    // Other classes fail only for descs of one validity. An accepted predicate names it already.
    parts.extend((of_any && !rule.predicate.asks_for_judge()).then(|| validity.to_owned()));
    if parts.is_empty() {
        return rule.predicate.to_string();
    }
    parts.push(bracketed(rule.predicate.text()));
    parts.join(" and ")
}

/// The cases of a finding without a predicate: the smallest one, and the others.
fn listed(finding: &Finding, cases: &[&FailedCase], may_cut: bool) -> Result<(String, Vec<String>), String> {
    let count = finding.cases;
    if may_cut {
        let smallest = finding.shown().case.to_string();
        let others = others(cases, &smallest);
        return Ok((smallest, others));
    }
    if finding.is_sample || cases.len() > MOST_LISTED || count > cases.len() as u64 {
        return Err(format!(
            "no predicate separates its {count} cases from those that passed, and a file lists at most {MOST_LISTED}"
        ));
    }
    let mut lines = lines(cases);
    if lines.is_empty() {
        return Err("the run does not name its cases".to_owned());
    }
    Ok((lines.remove(0), lines))
}

/// The shortest lines beside the one of the smallest case.
fn others(cases: &[&FailedCase], smallest: &str) -> Vec<String> {
    let mut others = lines(cases);
    others.retain(|line| line != smallest);
    others.truncate(REPLAYED);
    others
}

/// The lines of cases, the shortest first.
fn lines(cases: &[&FailedCase]) -> Vec<String> {
    let mut lines: Vec<String> = cases.iter().map(|case| case.line.clone()).collect();
    lines.sort_by_key(|line| (line.len(), line.clone()));
    lines.dedup();
    lines
}

/// The classes of the cases of a finding, the most severe first.
fn classes(finding: &Finding, cases: &[&FailedCase]) -> Vec<Class> {
    let of_cases = cases.iter().map(|case| case.class);
    // These depend on the machine.
    let of_cases = of_cases.filter(|class| !matches!(class, Class::TimedOut | Class::Lost));
    let mut all: Vec<Class> = of_cases.chain([finding.class]).collect();
    let place = |class: &Class| Class::ALL.iter().position(|one| one == class);
    all.sort_by_key(|class| (Severity::of(Verdict::Fail, *class), place(class)));
    all.dedup();
    all
}

/// What the run says of a predicate.
fn evidence(rule: &Rule, finding: &Finding, library: &Library) -> EvidenceForm {
    let of = |failed: u64, all: u64| format!("{failed} of {all}");
    let spec = library.short_hash().to_owned();
    let Some(fresh) = rule.estimate else {
        let inside = of(finding.cases, finding.cases + rule.passes);
        return EvidenceForm { inside, outside: None, spec };
    };
    let outside = (fresh.not_held - fresh.not_held_passing) as u64;
    EvidenceForm {
        inside: of(fresh.held_failing as u64, fresh.held as u64),
        outside: Some(of(outside, fresh.not_held as u64)),
        spec,
    }
}
