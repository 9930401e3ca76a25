//! A run's result as JUnit's XML, for the test pages of a CI.
//!
//! A test is a pair of a strategy and an operator, not a case. A suite may have millions of cases, too many
//! for a page, and their names change with the seed. The names of the pairs stay the same from run to run, so
//! that a page can show their history. A failing test gives the number of its failed cases and names the
//! findings of its operator. Each finding is one more failing test, with a case to run again.
//!
//! One more test stands for the run itself. It fails if the run did not complete, so that a backend that is
//! lost at once does not look like one without failures. It also fails if the backend ended badly at its
//! shutdown.

use std::{
    io::{self, Write},
    time::Duration,
};

use dmlcts_diagnose::{Diagnosis, Finding, Severity};
use dmlcts_model::escaped;
use dmlcts_runner::{Summary, Tally, Verdict};
use dmlcts_spec::Operator;
use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use crate::{
    Context, Style,
    behind::{Text, written_lines},
    failure::{in_short_with_class, write_clauses},
    finding::{about, export, title},
    flake::shows_alone,
    known::{became, details},
    numbers::{counted, grouped},
    overview::{in_order, overview},
    skipped::{skipped, skipped_of},
    statement::conformity,
    summary::{ended, is_cut_off},
};

/// Writes a run's result.
pub fn write_junit(out: &mut dyn Write, context: &Context, diagnosis: &Diagnosis) -> io::Result<()> {
    let summary = &diagnosis.summary;
    let run = context.subject.name();
    let mut report = Report::new("dmlcts");
    report.set_time(summary.totals.elapsed);
    report.add_test_suite(course(run, context, diagnosis));
    for (place, (strategy, tally)) in summary.strategies.iter().enumerate() {
        if tally.total() == 0 {
            continue;
        }
        let mut suite = suite_of(&format!("{run}: {strategy}"));
        for operator in context.library.operators() {
            let tally = summary.totals.tally(place, operator.position());
            if tally.total() > 0 {
                let status = status((place, operator), &tally, context, diagnosis);
                let mut test = test(operator.name(), &format!("dmlcts.{run}.{strategy}"), status);
                test.set_system_out(format!("{}: {}", counted(tally.total(), "case"), verdicts(&tally)));
                suite.add_test_case(test);
            }
        }
        report.add_test_suite(suite);
    }
    if !diagnosis.findings.is_empty() {
        report.add_test_suite(findings(run, context, &diagnosis.findings));
    }
    if !summary.totals.known.is_empty() {
        report.add_test_suite(known(run, context, summary));
    }
    write(out, &report)
}

/// Writes a report without the letters that XML forbids and `quick_junit` leaves in. They may come from a
/// backend, an argument or a file name.
fn write(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let text = report.to_string().map_err(io::Error::other)?;
    out.write_all(text.replace(['\u{fffe}', '\u{ffff}'], "").as_bytes())
}

/// Writes that the run of this name has no result, and why. The page then shows a test with an error, and not
/// a run that has not started.
pub fn write_junit_of_problem(out: &mut dyn Write, run: &str, message: &str) -> io::Result<()> {
    let status = failed(NonSuccessKind::Error, "not-run", message, String::new());
    let mut suite = suite_of(run);
    suite.set_time(Duration::ZERO);
    suite.add_test_case(test("run", &format!("dmlcts.{run}"), status));
    let mut report = Report::new("dmlcts");
    report.set_time(Duration::ZERO);
    report.add_test_suite(suite);
    write(out, &report)
}

/// The test suite of the run itself.
fn course(run: &str, context: &Context, diagnosis: &Diagnosis) -> TestSuite {
    let summary = &diagnosis.summary;
    let status = match ended(summary, context.time_limit) {
        Some(ended) if is_cut_off(summary) => {
            failed(NonSuccessKind::Error, "incomplete", &format!("it ended {ended}"), String::new())
        }
        _ => match &summary.bad_end {
            Some(bad_end) => failed(NonSuccessKind::Error, "bad-end", bad_end, String::new()),
            None => TestCaseStatus::success(),
        },
    };
    let mut test = test("run", &format!("dmlcts.{run}"), status);
    let ended = ended(summary, context.time_limit).filter(|_| !is_cut_off(summary));
    let ended = ended.map(|ended| format!("it ended {ended}"));
    let skipped = skipped(context.library, summary).into_iter().map(|why| format!("skipped: {why}"));
    let said = ended.into_iter().chain(skipped).map(|line| escaped(&line).into_owned());
    let said: Vec<String> =
        overview(diagnosis, &in_order(diagnosis), Style::PLAIN).into_iter().chain(said).collect();
    if !said.is_empty() {
        test.set_system_out(said.join("\n"));
    }
    let mut suite = suite_of(run);
    suite.set_time(summary.totals.elapsed);
    let backend = &summary.capabilities;
    let properties = [
        ("spec", context.library.hash().to_owned()),
        ("feature-level", summary.level.to_string()),
        ("backend", format!("{} {}", backend.name, backend.version)),
        ("device", backend.device.clone()),
        ("driver", backend.driver.clone()),
        ("cases", summary.totals.progress.ran.to_string()),
    ];
    let stated = context.claim.iter().flat_map(|claim| {
        let (profile, stated) = (&claim.profile, claim.state(context.library, summary));
        let name = format!("{} version {}", profile.name(), profile.version());
        [("profile", name), ("conformance", conformity(&stated))]
    });
    for (name, value) in properties.into_iter().chain(stated) {
        if !value.is_empty() {
            suite.add_property(Property::new(name, &*escaped(&value)));
        }
    }
    suite.add_test_case(test);
    suite
}

/// The known failures, one test each. The test of one that is not as it is known fails.
fn known(run: &str, context: &Context, summary: &Summary) -> TestSuite {
    let mut suite = suite_of(&format!("{run}: known failures"));
    for (tally, conclusion) in summary.known(context.known.is_whole) {
        let status = if conclusion.is_unexpected() {
            let what = format!("{}: {}", conclusion.id(), became(tally));
            failed(NonSuccessKind::Failure, "known-failure", &what, details(tally, conclusion))
        } else {
            TestCaseStatus::success()
        };
        suite.add_test_case(test(&tally.entry.id, &format!("dmlcts.{run}.known"), status));
    }
    suite
}

/// The status of the cases of one strategy, given by its index, and one operator.
fn status(
    (strategy, operator): (usize, &Operator),
    tally: &Tally,
    context: &Context,
    diagnosis: &Diagnosis,
) -> TestCaseStatus {
    let unexpected = tally.unexpected();
    if unexpected == 0 {
        return if tally.of(Verdict::Skip) == tally.total() {
            let mut status = TestCaseStatus::skipped();
            status.set_message(&*escaped(&why_skipped(operator, context, &diagnosis.summary)));
            status
        } else {
            TestCaseStatus::success()
        };
    }
    let is_error =
        [Verdict::Crash, Verdict::Timeout, Verdict::Lost].into_iter().any(|verdict| tally.of(verdict) > 0);
    let kind = if is_error { NonSuccessKind::Error } else { NonSuccessKind::Failure };
    let message =
        format!("{} of {}: {}", grouped(unexpected), counted(tally.total(), "case"), verdicts(tally));
    let (class, text) = failures((strategy, operator), context, diagnosis);
    failed(kind, class, &message, text)
}

fn why_skipped(operator: &Operator, context: &Context, summary: &Summary) -> String {
    let (name, why) = (operator.name(), skipped_of(operator, context.library, summary));
    format!("the backend declares not to have what these cases need; of {name} in the whole run: {why}")
}

/// The failure of the cases of one strategy and one operator. It names the findings of the operator, which
/// have tests of their own, and shows the first of these cases.
fn failures(
    (strategy, operator): (usize, &Operator),
    context: &Context,
    diagnosis: &Diagnosis,
) -> (&'static str, String) {
    let first = diagnosis.summary.totals.first_unexpected(strategy, operator.position());
    let operator = operator.name();
    let findings = diagnosis.findings.iter().filter(|finding| finding.operators.contains(&operator));
    let ids: Vec<&str> = findings.map(|finding| finding.id.as_str()).collect();
    let mut lines = Vec::new();
    if let Some(first) = first {
        let how = first.class.map_or_else(|| Verdict::UnexpectedPass.to_string(), |class| class.to_string());
        let again = format!("run it again: {}", context.replay.run(&first.line));
        lines.extend([format!("the first of them: {how}"), first.line.clone(), again]);
    }
    if !ids.is_empty() {
        lines.push(format!("findings of {operator}: {}", ids.join(", ")));
    }
    let class = first.and_then(|first| first.class);
    let text = lines.iter().flat_map(|line| [escaped(line), "\n".into()]).collect();
    (class.map_or("unexpected", |class| class.id()), text)
}

/// The findings, one failing test each.
fn findings(run: &str, context: &Context, findings: &[Finding]) -> TestSuite {
    let mut suite = suite_of(&format!("{run}: findings"));
    for finding in findings {
        let shown = finding.shown();
        let mut lines = about(finding, usize::MAX, context);
        let again = format!("run it again: {}", context.replay.run(&shown.case));
        let again = Some(again).filter(|_| shows_alone(shown));
        lines.extend([shown.case.to_string(), in_short_with_class(shown)]);
        // With the values of the clauses that its desc breaks.
        lines.extend(written_lines(|out| write_clauses(out, shown, &mut Text::default())));
        lines.extend(again);
        lines.extend(export(finding).map(|command| format!("as a program without dmlcts: {command}")));
        let text = lines.iter().flat_map(|line| [escaped(line), "\n".into()]).collect();
        let is_error = Severity::of(finding.first.verdict, finding.class) == Severity::Crash;
        let kind = if is_error { NonSuccessKind::Error } else { NonSuccessKind::Failure };
        let status = failed(kind, finding.class.id(), &title(finding), text);
        suite.add_test_case(test(&finding.id, &format!("dmlcts.{run}.findings"), status));
    }
    suite
}

/// A test suite of this name, which may be untrusted text.
fn suite_of(name: &str) -> TestSuite {
    TestSuite::new(&*escaped(name))
}

/// A test of this name and class, which may be untrusted text.
fn test(name: &str, class: &str, status: TestCaseStatus) -> TestCase {
    let mut test = TestCase::new(&*escaped(name), status);
    test.set_classname(&*escaped(class));
    test
}

/// A failure. Each line of `text` is escaped already.
fn failed(kind: NonSuccessKind, class: &str, message: &str, text: String) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(class).set_message(&*escaped(message));
    if !text.is_empty() {
        status.set_description(text);
    }
    status
}

/// The number of cases with each verdict.
fn verdicts(tally: &Tally) -> String {
    let counts = Verdict::ALL.into_iter().map(|verdict| (verdict, tally.of(verdict)));
    let counts = counts.filter(|(_, cases)| *cases > 0);
    counts.map(|(verdict, cases)| format!("{} {verdict}", grouped(cases))).collect::<Vec<_>>().join(", ")
}
