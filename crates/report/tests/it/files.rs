//! Reports in files: JUnit XML and Markdown. `tests/data/` has the XML of these runs, which `.ci/run`
//! validates against the schema. `DMLCTS_BLESS=1 cargo test -p dmlcts-report files` writes it.

use std::{fs, path::Path, time::Duration};

use dmlcts_diagnose::Diagnosis;
use dmlcts_model::{DataType, Outcome};
use dmlcts_report::{
    Style, Subject, write_findings, write_junit, write_junit_of_problem, write_markdown, write_summary,
};
use dmlcts_runner::{Class, Difference, Ending, Failure, Rate, Verdict};
use dmlcts_spec::Library;
use quick_junit::{Report, TestCaseStatus};

use crate::common::*;

/// Failures of each form in XML: wrong values, a crash whose last words hold syntax of XML and Markdown, an
/// accepted invalid desc, and a valid desc that is answered `unsupported`.
fn failing() -> Diagnosis {
    let words =
        "</failure> & ]]> <b>`code`</b> ``` \u{1b}[31mred\u{0}\u{fffe}\u{ffff} | *stars*\nsecond line";
    let spoil = move |job: &mut dmlcts_backend::Job, inputs: &[u8], outputs: &mut [u8]| match job
        .desc
        .signature
        .operator
        .as_str()
    {
        "PADDING1" => job.outcome = Outcome::Crashed(words.into()),
        "SLICE" => job.outcome = Outcome::Unsupported("not today".into()),
        _ if job.runs.is_empty() => job.outcome = Outcome::Accepted,
        _ => forgets_to_reverse(job, inputs, outputs),
    };
    steady(summary(&[REVERSAL, PADDING, EMPTY_WINDOW, STRIDE_ZERO], backend(spoil)))
}

fn passing() -> Diagnosis {
    steady(summary(&[REVERSAL, PADDING, EMPTY_WINDOW, STRIDE_ZERO], backend(|_, _, _| ())))
}

/// A run that ended at once, with a reason.
fn lost() -> Diagnosis {
    let mut diagnosis = passing();
    diagnosis.summary.ending = Ending::BackendLost;
    diagnosis.summary.lost = Some("`mine` ended before its hello".to_owned());
    diagnosis
}

fn steady(mut diagnosis: Diagnosis) -> Diagnosis {
    diagnosis.summary.totals.elapsed = Duration::from_millis(1_234);
    diagnosis
}

fn junit(diagnosis: &Diagnosis) -> String {
    let mut out = Vec::new();
    write_junit(&mut out, &context(), diagnosis).expect("memory takes it");
    String::from_utf8(out).expect("text").replace(Library::embedded().hash(), "HASH")
}

fn markdown(diagnosis: &Diagnosis) -> String {
    let mut out = Vec::new();
    write_markdown(&mut out, &context(), diagnosis).expect("memory takes it");
    String::from_utf8(out).expect("text").replace(Library::embedded().short_hash(), "HASH")
}

#[test]
fn junit_is_what_is_committed_and_the_schema_was_asked_about() {
    let mut problem = Vec::new();
    let message = "the backend cannot be started: \u{1b}[31mno & <device>\u{ffff}";
    write_junit_of_problem(&mut problem, context().subject.name(), message).expect("memory takes it");
    let problem = String::from_utf8(problem).expect("text");
    let runs = [("failing", failing()), ("passing", passing()), ("lost", lost())];
    let runs = runs.map(|(name, diagnosis)| (name, junit(&diagnosis)));
    for (name, text) in runs.into_iter().chain([("problem", problem)]) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/junit-{name}.xml"));
        if std::env::var_os("DMLCTS_BLESS").is_some() {
            fs::write(&path, &text).expect("it can be written");
        }
        assert!(
            fs::read_to_string(&path).unwrap_or_default() == text,
            "{} is another:\n{text}",
            path.display()
        );
        // XML allows no other letter, not even escaped.
        let is_xml = |letter: char| matches!(letter, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..);
        assert!(text.chars().all(is_xml), "{text:?}");
    }
}

/// The schema names every element and attribute. (A validator in `.ci/run` checks their places.)
#[test]
fn junit_has_no_element_and_no_attribute_that_the_schema_does_not_name() {
    let schema = include_str!("../../schema/junit.xsd");
    for text in [junit(&failing()), junit(&passing()), junit(&lost())] {
        let mut tags = 0;
        // No text contains an angle bracket, and no attribute a quote.
        for tag in text
            .split('<')
            .skip(2)
            .filter_map(|rest| rest.split('>').next())
            .filter(|tag| !tag.starts_with('/'))
        {
            let name = tag.split([' ', '/']).next().unwrap_or_default();
            assert!(schema.contains(&format!("<xs:element name=\"{name}\"")), "{tag}");
            let attributes = tag.split("=\"").filter_map(|before| before.rsplit([' ', '"']).next());
            let count = tag.matches("=\"").count();
            for attribute in attributes.take(count) {
                assert!(
                    schema.contains(&format!("<xs:attribute name=\"{attribute}\"")),
                    "{attribute} in {tag}"
                );
            }
            tags += 1;
        }
        assert!(tags > 5, "{text}");
    }
}

#[test]
fn junit_counts_what_it_lists_and_says_what_failed() {
    let report = Report::deserialize_from_str(&junit(&failing())).expect("a reader understands it");
    let listed: usize = report.test_suites.iter().map(|suite| suite.test_cases.len()).sum();
    assert_eq!((report.tests, listed), (8, 8), "four tests, and four findings");
    let status = |class: &str, name: &str| {
        let mut all = report.test_suites.iter().flat_map(|suite| &suite.test_cases);
        let test = all.find(|test| {
            test.name.as_str() == name && test.classname.as_ref().is_some_and(|own| own.as_str() == class)
        });
        match &test.unwrap_or_else(|| panic!("{class} {name}")).status {
            TestCaseStatus::NonSuccess { kind, message, .. } => {
                format!("{kind:?}: {}", message.as_ref().map_or("", |text| text.as_str()))
            }
            TestCaseStatus::Success { .. } => "success".to_owned(),
            TestCaseStatus::Skipped { .. } => "skipped".to_owned(),
        }
    };
    assert_eq!(status("dmlcts.test", "run"), "success");
    assert_eq!(status("dmlcts.test.listed", "PADDING1"), "Error: 1 of 1 case: 1 crashed");
    assert_eq!(status("dmlcts.test.listed", "SLICE1"), "Failure: 2 of 2 cases: 2 failed");
    let report = Report::deserialize_from_str(&junit(&lost())).expect("a reader understands it");
    assert_eq!((report.errors, report.failures), (1, 0));
}

#[test]
fn markdown_says_what_a_reviewer_asks() {
    insta::assert_snapshot!("markdown_failing", markdown(&failing()));
    insta::assert_snapshot!("markdown_passing", markdown(&passing()));
    insta::assert_snapshot!("markdown_lost", markdown(&lost()));
}

/// The title of a finding names its own failure, not the result of its example case when that ran again. It
/// gives the number of cases that ran again.
#[test]
fn a_finding_is_called_after_how_its_cases_failed() {
    let mut diagnosis = failing();
    let place = diagnosis.findings.iter().position(|finding| {
        finding.first.operator.name() == "SLICE1" && finding.class == Class::Output(Difference::WrongValue)
    });
    let finding = &mut diagnosis.findings[place.expect("one of SLICE1 fails")];
    let passed = Failure { verdict: Verdict::Pass, class: Class::Crashed, ..finding.first.clone() };
    (finding.cases, finding.smallest) = (100, Some(passed));
    let id = finding.id.clone();
    let head = "SLICE1, wrong values (100 cases, 1 run again)";
    let shown = |diagnosis: &Diagnosis| {
        let mut out = Vec::new();
        write_findings(&mut out, &context(), diagnosis, Style::PLAIN).expect("memory takes it");
        String::from_utf8(out).expect("text")
    };
    assert!(
        shown(&diagnosis).contains(": SLICE1, wrong values (100 cases, 1 run again)\n"),
        "{}",
        shown(&diagnosis)
    );
    assert!(
        markdown(&diagnosis).contains(&format!("<summary>{id}: {head}</summary>")),
        "{}",
        markdown(&diagnosis)
    );
    assert!(junit(&diagnosis).contains(&format!("message=\"{head}\"")), "{}", junit(&diagnosis));
    let finding = &mut diagnosis.findings[place.unwrap_or_default()];
    finding.first.verdict = Verdict::Flake;
    finding.first.rate = Some(Rate { failed: 1, runs: 3 });
    finding.again = 0;
    let head = "flaky, the first in 1 of 3 runs: SLICE1, wrong values (100 cases, not run again)";
    assert!(
        markdown(&diagnosis).contains(&format!("<summary>{id}: {head}</summary>")),
        "{}",
        markdown(&diagnosis)
    );
    assert!(junit(&diagnosis).contains(&format!("message=\"{head}\"")), "{}", junit(&diagnosis));
}

/// A failing test has a case to look at, and names the findings of its operator, which have tests of their
/// own.
#[test]
fn each_test_that_fails_has_a_case_to_look_at() {
    let diagnosis = failing();
    let ids = diagnosis.findings.iter().filter(|finding| finding.operators == ["SLICE1"]);
    let ids: Vec<&str> = ids.map(|finding| finding.id.as_str()).collect();
    assert_eq!(ids.len(), 2, "{ids:?}");
    let report = Report::deserialize_from_str(&junit(&diagnosis)).expect("a reader understands it");
    let mut tests = report.test_suites.iter().flat_map(|suite| &suite.test_cases);
    let test = tests.find(|test| test.name.as_str() == "SLICE1").expect("it is listed");
    let TestCaseStatus::NonSuccess { ty, description, .. } = &test.status else { panic!("{test:?}") };
    assert_eq!(ty.as_ref().map(quick_junit::XmlString::as_str), Some("wrong-value"));
    let expected = format!(
        "the first of them: wrong values\n{REVERSAL}\nrun it again: dmlcts run '{REVERSAL}'\n\
         findings of SLICE1: {}",
        ids.join(", ")
    );
    assert_eq!(description.as_ref().map(quick_junit::XmlString::as_str), Some(expected.as_str()));
    let findings = report.test_suites.iter().find(|suite| suite.name.as_str() == "test: findings");
    let named: Vec<&str> =
        findings.expect("it is listed").test_cases.iter().map(|test| test.name.as_str()).collect();
    assert!(ids.iter().all(|id| named.contains(id)), "{named:?}");
}

/// A backend that declares neither SLICE nor UINT8.
fn skipping() -> Diagnosis {
    let change = |capabilities: &mut dmlcts_backend::Capabilities| {
        capabilities.operators = Some(vec!["SLICE1".to_owned(), "PADDING1".to_owned()]);
        capabilities.data_types.retain(|data_type| *data_type != DataType::UINT8);
    };
    let spoil = |job: &mut dmlcts_backend::Job, _: &[u8], _: &mut [u8]| {
        if job.desc.signature.operator != "SLICE1" {
            job.outcome = Outcome::Unsupported("not here".into());
        }
    };
    steady(summary(&[REVERSAL, PADDING, EMPTY_WINDOW, STRIDE_ZERO], declaring(change, spoil)))
}

#[test]
fn why_cases_were_skipped_is_said_everywhere_and_only_others_count_as_work() {
    let diagnosis = skipping();
    let mut out = Vec::new();
    write_summary(&mut out, &context(), &diagnosis, Style::PLAIN).expect("memory takes it");
    let shown = String::from_utf8(out).expect("text");
    let (operators, types) = (
        "1 case of operators that it does not have: SLICE 1",
        "1 case of data types that it does not have (UINT8): PADDING1 1",
    );
    assert!(shown.contains(&format!("\nskipped   {operators}\n          {types}\n")), "{shown}");
    // One case ran twice, for four elements of four bytes; the other one must be refused.
    assert!(shown.contains(": 2 cases in 1.23 s, 2 runs of an operator (1 case ran a second time, on other data), 32 bytes of output\n"), "{shown}");
    assert!(!shown.contains("proved"), "of four cases it tried two: {shown}");
    let page = markdown(&diagnosis);
    assert!(page.contains(&format!("\n- skipped: {operators}\n- skipped: {types}\n")), "{page}");
    let tests = junit(&diagnosis);
    let need = "the backend declares not to have what these cases need; of";
    for why in
        ["SLICE in the whole run: 1 of operators that", "PADDING1 in the whole run: 1 of data types that"]
    {
        assert!(tests.contains(&format!("<skipped message=\"{need} {why} it does not have")), "{tests}");
    }
    assert!(tests.contains(&format!("skipped: {operators}\nskipped: {types}")), "{tests}");
}

/// Untrusted names and reasons stay on one line, without control characters and commands of a CI service.
#[test]
fn junit_escapes_what_strangers_wrote() {
    const HOSTILE: &str = "smoke\n::error::x\r\u{1b}[31m\u{202e}\u{7f}";
    const ESCAPED: &str = r"smoke\n::error::x\r\u{1b}[31m\u{202e}\u{7f}";
    let mut context = context();
    if let Subject::Suite { name, .. } = &mut context.subject {
        HOSTILE.clone_into(name);
    }
    let mut failing = failing();
    failing.summary.capabilities.device = HOSTILE.to_owned();
    failing.summary.bad_end = Some(HOSTILE.to_owned());
    for (strategy, _) in &mut failing.summary.strategies {
        strategy.push_str(HOSTILE);
    }
    let (mut run, mut problem) = (Vec::new(), Vec::new());
    write_junit(&mut run, &context, &failing).expect("memory takes it");
    write_junit_of_problem(&mut problem, HOSTILE, HOSTILE).expect("memory takes it");
    for (text, places) in [(run, 12), (problem, 3)] {
        let text = String::from_utf8(text).expect("text");
        let is_raw = |letter: char| letter != '\n' && (letter.is_control() || letter == '\u{202e}');
        assert!(!text.contains(is_raw), "{text:?}");
        assert!(!text.lines().any(|line| line.trim_start().starts_with("::")), "{text}");
        assert!(text.matches(ESCAPED).count() >= places, "{text}");
    }
}
