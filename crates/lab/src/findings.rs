//! `dmlcts-lab findings`: how well the causes of faults are found from the cases that fail.
//!
//! Each fault runs the suite as `dmlcts run` does. A finding's predicate is right about a case if it holds
//! exactly where the fault shows.

use std::{collections::BTreeSet, io::Write, process::ExitCode, sync::Arc, time::Duration};

use dmlcts_diagnose::{Diagnosis, Event, ExplainOptions, Finding, Rule};
use dmlcts_findings::{
    Estimate, Fresh, is_large, sweep, swept_members, with_other_data, with_separate_elements,
};
use dmlcts_generate::{
    Length, Suite,
    draw::{Draws, derive},
};
use dmlcts_model::{Case, FeatureLevel, escaped};
use dmlcts_mutants::{Mutant, Needs};
use dmlcts_report::{counted, grouped};
use dmlcts_runner::{
    CaseResult, CaseSource, Configuration, Event as RunEvent, Factory, Listed, OTHER_DATA, Run, Runs, Stop,
    Verdict, side_by_side,
};
use dmlcts_spec::{Library, Operator, Scratch, Source, Validity, program::Values};

use crate::{Common, Problem, no_predicate, stdout};

/// The number of fresh valid and invalid cases.
const VALID: usize = 20_000;
const INVALID: usize = 5_000;
/// The number of cases that differ from others in one member, and the number of times that each is drawn.
const SWEPT: usize = 6_000;
const ATTEMPTS: usize = 16;
/// The cases that are printed of a predicate that is called exact and is wrong.
const PRINTED: usize = 4;

/// Invalid descs that no suite of the same seed has.
const BROKEN: &str = "
suite: broken
purpose: Invalid descs to judge predicates with.
parts:
  - {id: broken, strategy: negative}
";

/// A fault whose failures are explained.
pub(crate) struct FaultSubject {
    pub(crate) name: String,
    pub(crate) about: String,
    /// The number of conditions of a random fault; `None` for a mutant.
    pub(crate) conditions: Option<usize>,
    pub(crate) backend: Arc<Factory>,
}

/// What the cases of a fault allow to say.
enum Outcome {
    /// The suite does not find the fault.
    NotFound,
    /// Some failures depend on earlier cases, or on an operator's earlier runs.
    Stateful,
    /// The fault was explained.
    Explained(Box<Explained>),
}

/// The findings of a run, and the cases that their predicates get wrong.
struct Explained {
    findings: Vec<Finding>,
    /// The number of the suite's cases that the predicates get wrong.
    wrong_in_suite: usize,
    /// The number of fresh cases that the predicates get wrong.
    wrong: usize,
    /// Some of those cases, and whether they fail.
    examples: Vec<(Case, bool)>,
    /// The number of fresh cases with a verdict that counts.
    judged: usize,
    /// Some of the cases that contradict predicates that are called exact.
    contradicting: Vec<Case>,
    /// The time for explaining the failures, and the part of it for evidence.
    times: [Duration; 2],
}

impl Explained {
    /// The number of cases that experiments ran.
    fn asked(&self) -> u64 {
        self.findings.iter().filter_map(|finding| finding.rule.as_ref()).map(|rule| rule.asked).sum()
    }
}

/// Whether the report says that a finding has exactly these cases.
fn is_called_exact(finding: &Finding) -> bool {
    let rule = finding.rule.as_ref();
    rule.is_some_and(|rule| rule.is_exact && rule.estimate.is_some_and(Estimate::is_ample))
}

/// Whether a case showed the fault.
#[derive(Clone)]
pub(crate) struct Shown {
    case: Case,
    /// `None` if the case says nothing.
    failed: Option<bool>,
}

/// Explains the mutants, and prints a table.
pub(crate) fn explain(mutants: &[&'static Mutant], common: &Common) -> Result<ExitCode, Problem> {
    let (subjects, apart) = of_mutants(mutants);
    explain_all(&subjects, &apart, common)
}

/// Explains these faults, and prints a table.
pub(crate) fn explain_all(
    subjects: &[FaultSubject],
    apart: &Apart,
    common: &Common,
) -> Result<ExitCode, Problem> {
    let suite = common.cases()?;
    let fresh: Arc<dyn CaseSource> = Arc::new(Listed::new(fresh(derive(common.seed, "findings"))?, "fresh"));
    let rows = side_by_side(subjects, common.threads(), |subject| {
        Ok::<_, Problem>((subject, outcome(subject, &suite, &fresh)?))
    })?;
    print(&rows, apart)?;
    Ok(ExitCode::SUCCESS)
}

/// The mutants that are not explained.
#[derive(Default)]
pub(crate) struct Apart {
    /// More than desc and data decide whether a case fails.
    names: Vec<&'static str>,
    /// No predicate describes the failures, with the reasons.
    no_predicate: Vec<(&'static str, &'static str)>,
}

/// The mutants whose failures can depend on desc and data alone, and the others.
fn of_mutants(mutants: &[&'static Mutant]) -> (Vec<FaultSubject>, Apart) {
    let (mut subjects, mut apart) = (Vec::new(), Apart::default());
    for mutant in mutants {
        if !can_be_explained(mutant) {
            apart.names.push(mutant.name);
        } else if let Some(reason) = no_predicate::reason(mutant.name) {
            apart.no_predicate.push((mutant.name, reason));
        } else {
            subjects.push(subject(mutant));
        }
    }
    (subjects, apart)
}

/// Whether desc and data alone can decide whether a case fails.
fn can_be_explained(mutant: &Mutant) -> bool {
    let needs_no_more = matches!(mutant.needs, Needs::Nothing | Needs::ManyCases(_));
    needs_no_more && !mutant.hangs() && !mutant.needs_guards()
}

/// The mutants whose failures can depend on desc and data alone.
pub(crate) fn subjects_of(mutants: &[&'static Mutant]) -> Vec<&'static Mutant> {
    mutants.iter().copied().filter(|mutant| can_be_explained(mutant)).collect()
}

fn subject(mutant: &'static Mutant) -> FaultSubject {
    let (name, about) = (mutant.name.to_owned(), mutant.about.to_owned());
    let backend: Arc<Factory> = Arc::new(move |_| Ok(Box::new(dmlcts_mutants::backend(mutant))));
    FaultSubject { name, about, conditions: None, backend }
}

/// The number of findings of a mutant, each with this number of cases, and the indices of the cases of the
/// suite that fail.
pub(crate) fn explained_alone(
    mutant: &'static Mutant,
    suite: &Arc<dyn CaseSource>,
    cases: usize,
) -> Result<(usize, BTreeSet<usize>), Problem> {
    let (diagnosis, shown) = run(&subject(mutant), suite, Some(cases))?;
    Ok((diagnosis.findings.len(), failing(&shown)))
}

/// Fresh cases, by which predicates are judged.
fn fresh(seed: u64) -> Result<Vec<Case>, Problem> {
    let library = Library::embedded();
    let mut found = Vec::new();
    for operator in library.operators() {
        found.extend(Fresh::new(library, operator, seed)?.take(VALID / library.operators().len()));
    }
    let broken = Suite::parse(&Source::new("broken", BROKEN))?.expand(library, seed)?;
    let Length::Finite(length) = broken.length() else { return Ok(found) };
    let Some(mut case) = broken.blank() else { return Ok(found) };
    let mut indices: Vec<u128> = (0..length).collect();
    Draws::new(seed).shuffle(&mut indices);
    for index in indices.into_iter().take(INVALID) {
        if broken.case(index, &mut case).is_some() {
            found.push(case.clone());
        }
    }
    Ok(found)
}

/// Cases that differ in one member from a failure or another case. Each member is changed equally often, over
/// its whole range.
fn swept(suite: &[Shown], fresh: &[Shown]) -> Vec<Case> {
    let library = Library::embedded();
    let (mut scratch, mut draws) = (Scratch::default(), Draws::new(derive(SWEPT as u64, "swept")));
    let all: Vec<&Shown> = suite.iter().chain(fresh).collect();
    let failing: Vec<&Shown> = all.iter().copied().filter(|one| one.failed == Some(true)).collect();
    let mut found = Vec::new();
    for turn in 0..SWEPT {
        let bases = if turn % 2 == 0 { &failing } else { &all };
        for _ in 0..ATTEMPTS {
            let Some(base) = draws.pick(bases) else { break };
            let Some(operator) = library.operator(&base.case.desc.signature.operator) else { break };
            let mut case = base.case.clone();
            sweep(&mut case, turn / 2 % swept_members(&base.case), &[], &mut draws);
            let mut judge = |case: &Case| operator.judge(&case.desc, FeatureLevel::NEWEST, &mut scratch);
            let (judgement, before) = (judge(&case), judge(&base.case).validity());
            let is_usable = judgement.questions.is_empty() && judgement.validity() == before;
            if is_usable && !is_large(&case) && library.broken_bindings(&case).is_empty() {
                found.push(case);
                break;
            }
        }
    }
    found
}

/// Runs the suite on a fault, and explains its failures.
fn outcome(
    subject: &FaultSubject,
    suite: &Arc<dyn CaseSource>,
    fresh: &Arc<dyn CaseSource>,
) -> Result<Outcome, Problem> {
    let (diagnosis, shown) = run(subject, suite, None)?;
    if diagnosis.findings.is_empty() {
        return Ok(Outcome::NotFound);
    }
    let flakes = diagnosis.findings.iter().any(|finding| finding.first.verdict == Verdict::Flake);
    if flakes || depends_on_runs(subject, suite, &shown)? {
        return Ok(Outcome::Stateful);
    }
    let (_, mut judges) = run(subject, fresh, None)?;
    let source: Arc<dyn CaseSource> = Arc::new(Listed::new(swept(&shown, &judges), "swept"));
    judges.extend(run(subject, &source, None)?.1);
    let (diagnosis, _) = run(subject, suite, Some(ExplainOptions::USUAL_CASES))?;
    let timings = diagnosis.summary.timings.unwrap_or_default();
    let (findings, times) = (diagnosis.findings, [timings.explanation, diagnosis.evidence]);
    let (wrong_in_suite, _) = mistakes(subject, &findings, &shown)?;
    let (wrong, judged) = mistakes(subject, &findings, &judges)?;
    let exact: Vec<Finding> = findings.iter().filter(|one| is_called_exact(one)).cloned().collect();
    let all = [shown.as_slice(), &judges].concat();
    let (against, _) = mistakes(subject, &exact, &all)?;
    // Failures that no predicate holds for may belong to the other findings.
    let is_against = |one: &&&Shown| exact.len() == findings.len() || one.failed == Some(false);
    let contradicting = against.iter().filter(is_against).map(|one| one.case.clone()).collect();
    let apart = wrong.len().div_ceil(PRINTED).max(1);
    let examples = wrong.iter().step_by(apart);
    let examples = examples.map(|one| (one.case.clone(), one.failed == Some(true))).collect();
    let (wrong_in_suite, wrong) = (wrong_in_suite.len(), wrong.len());
    let explained = Explained { findings, wrong_in_suite, wrong, examples, judged, contradicting, times };
    Ok(Outcome::Explained(Box::new(explained)))
}

/// The places of the cases that showed the fault.
fn failing(shown: &[Shown]) -> BTreeSet<usize> {
    (0..shown.len()).filter(|case| shown[*case].failed == Some(true)).collect()
}

/// Whether some failures come from an operator's earlier runs: they show only in a second run, and not if its
/// data are those of the first.
fn depends_on_runs(
    subject: &FaultSubject,
    suite: &Arc<dyn CaseSource>,
    shown: &[Shown],
) -> Result<bool, Problem> {
    let once = failing(&run_with(subject, suite, None, Runs::Once)?.1);
    let only_later = failing(shown).into_iter().filter(|case| !once.contains(case));
    let other = |case: usize| Case { fill: OTHER_DATA, ..shown[case].case.clone() };
    let cases: Vec<Case> = only_later.map(other).collect();
    let count = cases.len();
    let source: Arc<dyn CaseSource> = Arc::new(Listed::new(cases, "second runs"));
    Ok(count > 0 && failing(&run_with(subject, &source, None, Runs::Once)?.1).len() < count)
}

/// Runs cases on a fault. Returns what the run came to, and whether each case showed the fault.
pub(crate) fn run(
    subject: &FaultSubject,
    source: &Arc<dyn CaseSource>,
    explain: Option<usize>,
) -> Result<(Diagnosis, Vec<Shown>), Problem> {
    run_with(subject, source, explain, Runs::default())
}

fn run_with(
    subject: &FaultSubject,
    source: &Arc<dyn CaseSource>,
    explain: Option<usize>,
    runs: Runs,
) -> Result<(Diagnosis, Vec<Shown>), Problem> {
    let run = Run {
        library: Library::embedded(),
        source: Arc::clone(source),
        backend: Arc::clone(&subject.backend),
        configuration: Configuration { jobs: 1, record: true, runs, ..Configuration::default() },
        stop: Stop::default(),
    };
    let mut shown = Vec::new();
    let mut cursor = source.cursor();
    // Any case, to be written over.
    let blank = run.library.operators().iter().flat_map(Operator::examples).map(|one| &one.case).next();
    let mut on_event = |event: Event<'_>| {
        let Event::Run(RunEvent::Cases { cases, .. }) = event else { return };
        for result in cases.iter() {
            let Some(mut case) = blank.cloned() else { return };
            cursor.read(result.index, &mut case);
            shown.push(Shown { case, failed: failed(&result) });
        }
    };
    let explaining = ExplainOptions { cases: explain, shrink: explain.is_some(), ..ExplainOptions::NONE };
    Ok((dmlcts_diagnose::run(&run, &explaining, &mut on_event)?, shown))
}

/// Whether a result shows the fault. `None` if it says nothing.
fn failed(case: &CaseResult<'_>) -> Option<bool> {
    match case.verdict {
        // With details, the case was too large to run.
        Verdict::Pass if case.details.is_none() => Some(false),
        Verdict::Fail | Verdict::Crash | Verdict::Timeout | Verdict::Lost => Some(true),
        _ => None,
    }
}

/// The predicates of findings.
struct Predicates<'a> {
    rules: Vec<&'a Rule>,
    values: Values,
}

impl<'a> Predicates<'a> {
    fn new(findings: &'a [Finding]) -> Self {
        let rules = findings.iter().filter_map(|finding| finding.rule.as_ref()).collect();
        Self { rules, values: Values::default() }
    }

    /// Whether any predicate holds for a case of this validity.
    fn hold(&mut self, case: &Case, validity: Validity) -> bool {
        let Self { rules, values } = self;
        let mut of_validity = rules.iter().filter(|rule| rule.validity == validity);
        of_validity.any(|rule| rule.predicate.holds(case, FeatureLevel::NEWEST, values))
    }
}

/// The cases that the predicates get wrong, and the number of cases that say something. Open descs say
/// nothing.
fn wrong<'a>(findings: &[Finding], shown: &'a [Shown]) -> (Vec<&'a Shown>, usize) {
    let library = Library::embedded();
    let (mut predicates, mut scratch) = (Predicates::new(findings), Scratch::default());
    let (mut wrong, mut all) = (Vec::new(), 0);
    for one in shown {
        let case = &one.case;
        let Some(failed) = one.failed else { continue };
        let Some(operator) = library.operator(&case.desc.signature.operator) else { continue };
        let judgement = operator.judge(&case.desc, FeatureLevel::NEWEST, &mut scratch);
        let validity = judgement.validity();
        let says = judgement.questions.is_empty() || failed && validity == Validity::Invalid;
        if !says {
            continue;
        }
        all += 1;
        // The failure may be one of the run on other data.
        let with_other_data = Case { fill: OTHER_DATA, ..case.clone() };
        let is_held =
            predicates.hold(case, validity) || failed && predicates.hold(&with_other_data, validity);
        if is_held != failed {
            wrong.push(one);
        }
    }
    (wrong, all)
}

/// The cases that the predicates get wrong, and the number of all that say something.
///
/// A wrong element that equals the right one does not show. So a pass counts as wrong only if it passes with
/// other data, too. Elements that a stride of 0 makes one in memory are equal whatever the data. So the pass
/// runs with separate elements, too, if the predicates hold for that desc as well.
fn mistakes<'a>(
    subject: &FaultSubject,
    findings: &[Finding],
    shown: &'a [Shown],
) -> Result<(Vec<&'a Shown>, usize), Problem> {
    let (wrong, all) = wrong(findings, shown);
    let (mut mistakes, passes): (Vec<&Shown>, Vec<&Shown>) =
        wrong.into_iter().partition(|one| one.failed == Some(true));
    let mut predicates = Predicates::new(findings);
    let mut variants = |one: &&Shown| -> Vec<Case> {
        let separate = with_separate_elements(&one.case);
        let separate = separate.filter(|case| predicates.hold(case, Validity::Valid));
        let own = with_other_data(&one.case);
        own.chain(separate.iter().cloned()).chain(separate.iter().flat_map(with_other_data)).collect()
    };
    let again: Vec<Vec<Case>> = passes.iter().map(&mut variants).collect();
    let source: Arc<dyn CaseSource> = Arc::new(Listed::new(again.concat(), "again"));
    let mut answers = run(subject, &source, None)?.1.into_iter();
    for (pass, cases) in passes.into_iter().zip(&again) {
        let failed = answers.by_ref().take(cases.len()).filter(|one| one.failed == Some(true)).count();
        mistakes.extend((failed == 0).then_some(pass));
    }
    Ok((mistakes, all))
}

/// Prints the id, the number of cases and the predicate of each finding.
pub(crate) fn print_findings(out: &mut impl Write, findings: &[Finding]) -> std::io::Result<()> {
    for finding in findings {
        let predicate = finding.rule.as_ref().map_or("no predicate", |rule| rule.predicate.text());
        let cases = counted(finding.cases, "case");
        writeln!(out, "    {}: {cases}: {}", finding.id, escaped(predicate))?;
    }
    Ok(())
}

/// Prints what was found of each fault, and the shares.
fn print(rows: &[(&FaultSubject, Outcome)], apart: &Apart) -> std::io::Result<()> {
    let mut out = stdout();
    let (mut not_found, mut stateful) = (Vec::new(), Vec::new());
    let mut explained = Vec::new();
    for (subject, outcome) in rows {
        match outcome {
            Outcome::NotFound => not_found.push(subject.name.as_str()),
            Outcome::Stateful => stateful.push(subject.name.as_str()),
            Outcome::Explained(one) => {
                writeln!(out, "{}: {}", escaped(&subject.name), escaped(&subject.about))?;
                writeln!(
                    out,
                    "  {}, wrong for {} of the suite's cases and for {} of {} fresh cases",
                    counted(one.findings.len() as u64, "finding"),
                    grouped(one.wrong_in_suite as u64),
                    grouped(one.wrong as u64),
                    grouped(one.judged as u64),
                )?;
                print_findings(&mut out, &one.findings)?;
                for (case, failed) in &one.examples {
                    let (does, holds) = if *failed { ("fails", "no") } else { ("passes", "a") };
                    writeln!(out, "    {does}, and {holds} predicate holds: {case}")?;
                }
                for case in one.contradicting.iter().take(PRINTED) {
                    writeln!(out, "    called exact, but wrong for: {case}")?;
                }
                explained.push((subject.conditions, one));
            }
        }
    }
    for (title, names) in [
        ("Not found by the suite", &not_found[..]),
        ("Failures that depend on earlier cases or runs", &stateful),
        ("Left out, since more than a desc decides", &apart.names),
    ] {
        if !names.is_empty() {
            writeln!(out, "\n{title} ({}): {}", names.len(), names.join(", "))?;
        }
    }
    if !apart.no_predicate.is_empty() {
        writeln!(out, "\nListed apart, since no predicate describes the failures:")?;
        for (name, reason) in &apart.no_predicate {
            writeln!(out, "  {name}: {reason}")?;
        }
    }
    let kinds: BTreeSet<Option<usize>> = explained.iter().map(|(conditions, _)| *conditions).collect();
    writeln!(out)?;
    for kind in kinds {
        let of_kind = explained.iter().filter(|(conditions, _)| *conditions == kind);
        let of: Vec<&Explained> = of_kind.map(|(_, one)| &***one).collect();
        let percent = |count: usize| 100.0 * count as f64 / of.len() as f64;
        let share = |count: usize| format!("{count} of {} ({:.0} %)", of.len(), percent(count));
        let title = kind.map_or_else(|| "mutants".to_owned(), |count| counted(count as u64, "condition"));
        let one = of.iter().filter(|one| one.findings.len() == 1).count();
        let agrees = of.iter().filter(|one| one.wrong == 0 && one.wrong_in_suite == 0).count();
        writeln!(
            out,
            "{title}: one finding for {}, right about every case for {}",
            share(one),
            share(agrees)
        )?;
        let of_times = |time: &dyn Fn([Duration; 2]) -> Duration, percent: usize| {
            let mut times: Vec<f64> = of.iter().map(|one| time(one.times).as_secs_f64()).collect();
            times.sort_by(f64::total_cmp);
            let place = (times.len() * percent / 100).min(times.len().saturating_sub(1));
            format!("{:.1}", times.get(place).copied().unwrap_or_default())
        };
        let exact = of.iter().filter(|one| one.findings.iter().all(is_called_exact)).count();
        let wrongly = of.iter().filter(|one| !one.contradicting.is_empty()).count();
        writeln!(out, "  called exact: {}, and wrongly so: {}", share(exact), share(wrongly))?;
        writeln!(
            out,
            "  medians: {} cases, {} s of search, {} s of evidence for a fault; 95 % search for at most {} s",
            grouped(median(of.iter().map(|one| one.asked())).unwrap_or(0)),
            of_times(&|[all, evidence]| all.saturating_sub(evidence), 50),
            of_times(&|[_, evidence]| evidence, 50),
            of_times(&|[all, evidence]| all.saturating_sub(evidence), 95)
        )?;
    }
    out.flush()
}

fn median<T: Ord>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    let middle = values.len() / 2;
    values.into_iter().nth(middle)
}
