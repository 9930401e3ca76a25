//! Reports of backends that misbehave: snapshots of whole reports.

use std::sync::Arc;

use dmlcts_backend::Job;
use dmlcts_diagnose::{Counterexample, Diagnosis, ExplainOptions, Limit, OtherFailures, Rule};
use dmlcts_findings::Estimate;
use dmlcts_model::{ErrorCode, Outcome, Phase, line};
use dmlcts_report::{
    Context, Options, Replay, Style, Terminal, write_findings, write_junit, write_markdown, write_summary,
};
use dmlcts_runner::{Class, Configuration, CutPart, Ending, Listed, Partition, QuestionAnswers, Run, Stop};
use dmlcts_spec::{Library, Predicate, Validity};

use crate::common::*;

fn failures(diagnosis: &Diagnosis, style: Style) -> String {
    let mut out = Vec::new();
    write_findings(&mut out, &context(), diagnosis, style).expect("memory takes it");
    String::from_utf8(out).expect("text")
}

/// The diagnosis without the line that depends on the machine, and without the hash that depends on every
/// word of the specs.
fn summary_text(diagnosis: &Diagnosis) -> String {
    let mut out = Vec::new();
    write_summary(&mut out, &context(), diagnosis, Style::PLAIN).expect("memory takes it");
    let text = String::from_utf8(out).expect("text");
    let hash = Library::embedded().short_hash();
    let stable = text.lines().filter(|line| !line.starts_with("speed"));
    stable.map(|line| line.replace(hash, "HASH") + "\n").collect()
}

/// A failure that shows only on this backend with these options has a command with both.
#[test]
fn running_it_again_repeats_what_bears_on_the_case() {
    let diagnosis = summary(&[EMPTY_WINDOW], backend(|job, _, _| job.outcome = Outcome::Accepted));
    let options = ["--backend", "exec:python3 it's.py", "--feature-level", "4.1", "--allow", "zero-sign"];
    let replay = Replay { options: options.map(str::to_owned).to_vec() };
    let again = format!(
        r"dmlcts run --backend 'exec:python3 it'\''s.py' --feature-level 4.1 --allow zero-sign '{EMPTY_WINDOW}'"
    );
    let mut out = Vec::new();
    let context = Context { replay, ..context() };
    write_findings(&mut out, &context, &diagnosis, Style::PLAIN).expect("memory takes it");
    let text = String::from_utf8(out).expect("text");
    assert!(text.contains(&format!("  {again}\n")), "{text}");
}

#[test]
fn wrong_elements_are_marked_and_name_their_origin() {
    let diagnosis = summary(&[REVERSAL], backend(forgets_to_reverse));
    insta::assert_snapshot!(failures(&diagnosis, Style::PLAIN));
}

#[test]
fn a_terminal_shows_wrong_elements_in_colour() {
    let diagnosis = summary(&[REVERSAL], backend(forgets_to_reverse));
    let text = failures(&diagnosis, Style { colour: true, width: None });
    assert!(text.contains("\x1b[1;31m"), "{text}");
    assert!(!text.contains('*'), "no marks beside colours: {text}");
}

#[test]
fn an_invalid_desc_that_was_accepted_names_the_clause_that_it_breaks() {
    let diagnosis = summary(&[EMPTY_WINDOW], backend(|job, _, _| job.outcome = Outcome::Accepted));
    insta::assert_snapshot!(failures(&diagnosis, Style::PLAIN));
}

#[test]
fn a_refusal_shows_phase_code_and_reason() {
    let refuse = |job: &mut Job, _: &[u8], _: &mut [u8]| {
        job.outcome = Outcome::Rejected {
            phase: Phase::Create,
            code: ErrorCode::INVALID_ARGUMENT,
            reason: "padding is hard".into(),
        };
    };
    insta::assert_snapshot!(failures(&summary(&[PADDING], backend(refuse)), Style::PLAIN));
}

#[test]
fn an_answer_outside_an_open_question_lists_what_is_allowed() {
    let zero = |job: &mut Job, _: &[u8], outputs: &mut [u8]| {
        job.outcome = Outcome::Output;
        for run in &job.runs {
            outputs[run.output.clone()].fill(0);
        }
    };
    insta::assert_snapshot!(failures(&summary(&[STRIDE_ZERO], backend(zero)), Style::PLAIN));
}

#[test]
fn the_summary_of_a_run_without_failures() {
    let diagnosis = summary(&[REVERSAL, PADDING, EMPTY_WINDOW, STRIDE_ZERO], backend(|_, _, _| {}));
    insta::assert_snapshot!(summary_text(&diagnosis));
}

#[test]
fn the_summary_of_a_run_with_failures_ends_with_a_case_to_look_at() {
    let diagnosis = summary(&[REVERSAL, EMPTY_WINDOW], backend(|job, _, _| job.outcome = Outcome::Lost));
    insta::assert_snapshot!(summary_text(&diagnosis));
}

#[test]
fn a_single_question_is_shown_in_the_place_of_a_line_that_counts_it() {
    let mut diagnosis = summary(&[REVERSAL], backend(|_, _, _| {}));
    let operators = Library::embedded().operators().iter();
    let all =
        operators.flat_map(|operator| operator.questions().iter().map(move |question| (operator, question)));
    let recorded =
        |(operator, question)| QuestionAnswers { operator, question, answers: Vec::new(), together: 1 };
    diagnosis.summary.recorded = all.clone().take(5).map(recorded).collect();
    let text = summary_text(&diagnosis);
    assert_eq!(text.matches(": refused in 1 case, for this or another question\n").count(), 5, "{text}");
    assert!(!text.contains("further question"), "{text}");
    diagnosis.summary.recorded = all.take(6).map(recorded).collect();
    let text = summary_text(&diagnosis);
    assert_eq!(text.matches(": refused in 1 case, for this or another question\n").count(), 4, "{text}");
    assert!(text.contains("          and answers to 2 further questions\n"), "{text}");
}

/// The diagnosis says that some cases ran on other data, and so does a failure of such a run.
#[test]
fn a_second_run_on_other_data_is_named() {
    let remembers = backend(|job, _, outputs| {
        let first = job.runs.first().map(|run| run.output.clone());
        for run in job.runs.iter().skip(1) {
            first.clone().into_iter().for_each(|first| outputs.copy_within(first, run.output.start));
        }
    });
    let diagnosis = summary(&[REVERSAL], remembers);
    let text = failures(&diagnosis, Style::PLAIN);
    let note = "  seen in a second run, on other data than the case's fill (`--runs once` leaves it out)\n";
    assert!(text.contains(note), "{text}");
    let mut out = Vec::new();
    write_summary(&mut out, &context(), &diagnosis, Style::PLAIN).expect("memory takes it");
    let text = String::from_utf8(out).expect("text");
    assert!(text.contains(", 2 runs of an operator (1 case ran a second time, on other data), "), "{text}");
}

/// Cases that a part did not reach are not called left out, and the run did not end after all its cases.
#[test]
fn parts_that_ended_early_are_named() {
    let mut diagnosis = summary(&[REVERSAL, PADDING, EMPTY_WINDOW, STRIDE_ZERO], backend(|_, _, _| {}));
    (diagnosis.summary.totals.progress.read, diagnosis.summary.cases, diagnosis.summary.ending) =
        (100, Some(100), Ending::Timeout);
    let part = |part, ending, read| {
        let partition = Partition::new(part, 7).expect("a part");
        CutPart { partition, ending, read }
    };
    diagnosis.summary.cut = vec![part(2, Ending::Timeout, 40)];
    let text = summary_text(&diagnosis);
    assert!(text.contains(": 4 cases (96 left out or never asked for): "), "{text}");
    let ended = "ended     since its time was up (--budget), part 2/7 after 40 of 100 cases; its other cases were never asked for\n";
    assert!(text.contains(ended), "{text}");
    diagnosis.summary.cut.extend((3..7).map(|number| part(number, Ending::Interrupted, 7)));
    diagnosis.summary.ending = Ending::Interrupted;
    let ended = "ended     interrupted, part 2/7 after 40 of 100 cases, part 3/7 after 7 of 100 cases, part 4/7 after 7 of \
                 100 cases, part 5/7 after 7 of 100 cases, and 1 further part; the other cases of these parts were never \
                 asked for\n";
    let text = summary_text(&diagnosis);
    assert!(text.contains(ended), "{text}");
}

#[test]
fn quiet_shows_failures_and_nothing_else() {
    for (spoil, shown) in [(Outcome::Output, false), (Outcome::Lost, true)] {
        let backend = backend(move |job, _, _| job.outcome = spoil.clone());
        let signatures = Library::embedded().signatures();
        let run = Run {
            library: Library::embedded(),
            source: Arc::new(Listed::new(vec![line::parse(REVERSAL, signatures).unwrap()], "listed")),
            backend,
            configuration: Configuration { ..Configuration::default() },
            stop: Stop::default(),
        };
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let options = Options { quiet: true, bar: false, style: Style::PLAIN };
        let mut terminal = Terminal::new(&mut out, &mut err, context(), options);
        let diagnosis = dmlcts_diagnose::run(&run, &ExplainOptions::NONE, &mut |event| terminal.show(&event));
        terminal.finish(&diagnosis.unwrap()).unwrap();
        assert_eq!(out.starts_with(b"FAIL 1"), shown);
        assert_eq!(out.is_empty(), !shown);
        assert!(err.is_empty());
    }
}

/// The cases of a finding stand in the place of a predicate where nothing separates them from the passes.
#[test]
fn a_finding_without_a_predicate_lists_its_cases() {
    let mut diagnosis = summary(&[EMPTY_WINDOW], backend(|job, _, _| job.outcome = Outcome::Accepted));
    let case = |size: u32| {
        let text = EMPTY_WINDOW.replace("in=4", &format!("in={size}"));
        line::parse(&text, Library::embedded().signatures()).expect("a case")
    };
    let finding = &mut diagnosis.findings[0];
    (finding.cases, finding.listed) = (30, (5..25).map(case).collect());
    let text = failures(&diagnosis, Style::PLAIN);
    let lines: Vec<&str> = text.lines().skip(1).take(5).collect();
    let [head, first, second, third, more] = lines[..] else { panic!("{text}") };
    assert_eq!(head, "  no condition separates these cases from those that passed:");
    for (line, size) in [(first, 5), (second, 6), (third, 7)] {
        assert_eq!(line, format!("    {}", case(size)));
    }
    assert_eq!(more, "    and 27 more (dmlcts failures FILE, for the FILE of --results)");
    let recorded = Context { failures: Some("dmlcts failures r.jsonl".to_owned()), ..context() };
    for write in [write_markdown, write_junit] {
        let mut out = Vec::new();
        write(&mut out, &recorded, &diagnosis).expect("memory takes it");
        let text = String::from_utf8(out).expect("text");
        assert!(text.contains(&format!("  {}\n", case(24))), "{text}");
        assert!(text.contains("  and 10 more (dmlcts failures r.jsonl)\n"), "{text}");
    }
}

#[test]
fn a_predicate_that_is_not_exact_says_what_it_gets_wrong() {
    let mut diagnosis = summary(&[EMPTY_WINDOW], backend(|job, _, _| job.outcome = Outcome::Accepted));
    let case = diagnosis.findings[0].first.case.clone();
    let rule = Rule {
        passes: 4,
        asked: 600,
        estimate: Some(Estimate { held: 100, held_failing: 90, not_held: 150, not_held_passing: 148 }),
        missed: 7,
        counterexample: Some(Counterexample { case, fails: false }),
        is_exact: false,
        ..exact("rank == 1", Validity::Invalid)
    };
    diagnosis.findings[0].rule = Some(rule);
    diagnosis.left_out.experiments = 1;
    diagnosis.left_out.limits = [Limit::Hangs, Limit::Timeout, Limit::Interrupted].into();
    let text = failures(&diagnosis, Style::PLAIN);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[..4],
        [
            "FAIL 1: an invalid desc was accepted where rank == 1, among invalid descs (1 case)",
            "  no exact predicate; this one is the best: it holds for 4 cases that passed, and does not hold for \
             7 further failures of this kind, and is wrong for 12 of 250 fresh cases",
            "  for example, it holds for this case, which passes:",
            &format!("    {EMPTY_WINDOW}"),
        ]
    );
    let left_out = "left out, at 2 hangs a finding and at the end of --budget and at an interrupt: experiments on 1 kind of \
         failures";
    assert!(lines.contains(&left_out), "{text}");
    // On a terminal, prose ends at its width, and what a reader copies stays whole.
    for width in [60, 80, 120] {
        let text = failures(&diagnosis, Style { colour: false, width: Some(width) });
        let is_whole = |line: &str| line.contains(EMPTY_WINDOW) || line.len() <= width;
        assert!(text.lines().all(is_whole), "{text}");
        assert_eq!(text.matches(EMPTY_WINDOW).count(), 2, "{text}");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&text), words(&failures(&diagnosis, Style::PLAIN)));
    }
    let long = format!("rank in [{}]", (0..60).map(|rank| rank.to_string()).collect::<Vec<_>>().join(", "));
    let rule = diagnosis.findings[0].rule.as_mut().expect("it has one");
    rule.predicate = Predicate::parse(&long, Library::embedded()).expect("it is one");
    assert!(failures(&diagnosis, Style::PLAIN).contains("58, 59]"), "a file or a pipe has all of it");
    let text = failures(&diagnosis, Style { colour: false, width: Some(1_000) });
    let head = text.lines().next().unwrap_or_default();
    assert!(head.contains("0, 1, 2") && !head.contains("59"), "{head}");
    let length = diagnosis.findings[0].rule.as_ref().map_or(0, |rule| rule.predicate.to_string().len());
    assert!(head.contains(&format!(" ... (`--all` shows all {length} characters), among")), "{head}");
    let mut whole = Vec::new();
    let all = Context { all: true, ..context() };
    write_findings(&mut whole, &all, &diagnosis, Style::PLAIN).expect("memory takes it");
    assert!(String::from_utf8_lossy(&whole).contains("58, 59]"));
}

/// `0 of 0` would be no evidence.
#[test]
fn evidence_without_cases_inside_says_so() {
    let mut diagnosis = summary(&[EMPTY_WINDOW], backend(|job, _, _| job.outcome = Outcome::Accepted));
    let estimate = Estimate { held: 0, held_failing: 0, not_held: 3_000, not_held_passing: 3_000 };
    diagnosis.findings[0].rule =
        Some(Rule { estimate: Some(estimate), ..exact("rank == 1", Validity::Invalid) });
    let text = failures(&diagnosis, Style::PLAIN);
    let said = "  no case contradicts it: fails in 0 of 3,000 fresh cases outside; none was found inside";
    assert_eq!(text.lines().nth(1), Some(said));
}

/// Failures that the run expected stand beside those of a known finding that changed.
#[test]
fn expected_failures_of_a_finding_are_counted_apart() {
    let accepting = || backend(|job, _, _| job.outcome = Outcome::Accepted);
    let mut diagnosis = summary(&[EMPTY_WINDOW], accepting());
    let wrong = summary(&[REVERSAL], backend(forgets_to_reverse)).findings;
    diagnosis.findings.extend(wrong);
    diagnosis.findings[0].rule = Some(exact("rank == 1", Validity::Invalid));
    let unexplained = |diagnosis: &Diagnosis| {
        let text = failures(diagnosis, Style::PLAIN);
        text.lines().find(|line| line.contains("in no finding with an exact predicate")).map(str::to_owned)
    };
    let one = "1 of 2 failures are in no finding with an exact predicate";
    assert_eq!(unexplained(&diagnosis).as_deref(), Some(one));
    (diagnosis.findings[0].cases, diagnosis.findings[0].known) = (40, 39);
    assert_eq!(unexplained(&diagnosis).as_deref(), Some(one));
    let text = failures(&diagnosis, Style::PLAIN);
    assert!(text.contains("\nFAIL 1: ") && text.contains("(40 cases, 39 of them known"), "{text}");
    diagnosis.findings[0].others = vec![OtherFailures { class: Class::Crashed, cases: 3 }];
    let text = failures(&diagnosis, Style::PLAIN);
    assert!(text.contains("(40 cases, 3 of class crashed, 39 of them known"), "{text}");
    diagnosis.findings[0].known = 40;
    diagnosis.findings[0].others.clear();
    let text = failures(&diagnosis, Style::PLAIN);
    assert!(text.contains("\nKNOWN 1: ") && text.contains("(40 cases, all of them known"), "{text}");
    assert_eq!(unexplained(&diagnosis), None, "{text}");
}

/// Each word that the spec defines is explained once, where it is used first.
#[test]
fn the_words_of_a_predicate_are_explained_below_it() {
    let mut diagnosis = summary(&[REVERSAL], backend(forgets_to_reverse));
    diagnosis.findings[0].rule = Some(exact("operator == SLICE1 and any axis lowest > 0", Validity::Valid));
    let text = failures(&diagnosis, Style::PLAIN);
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let definitions: Vec<&&str> = lines.iter().filter(|line| line.starts_with("where lowest = ")).collect();
    assert_eq!(definitions.len(), 1, "{text}");
    assert!(definitions[0].contains("InputWindowStrides"), "{text}");
}

/// The most severe finding comes first, unless a twentieth of the cases fail: then the largest does.
#[test]
fn several_findings_begin_with_a_line_each() {
    let mut diagnosis = summary(&[EMPTY_WINDOW], backend(|job, _, _| job.outcome = Outcome::Accepted));
    let wrong = summary(&[REVERSAL], backend(forgets_to_reverse)).findings;
    diagnosis.findings.extend(wrong);
    diagnosis.findings[1].cases = 40;
    diagnosis.summary.totals.progress.ran = 1_000;
    let severe = failures(&diagnosis, Style::PLAIN);
    let lines: Vec<&str> = severe.lines().take(5).collect();
    assert_eq!(
        lines,
        [
            "2 findings: 41 of 1,000 cases fail",
            "  1   1  accepted-invalid  SLICE1: it accepted it, which breaks slice1.window-not-empty",
            "  2  40  wrong-value       SLICE1: Output[0,0,0,0] is Input[0,0,0,1], expected Input[0,0,3,1]",
            "",
            "FAIL 1: SLICE1, an invalid desc was accepted (1 case)",
        ]
    );
    diagnosis.summary.totals.progress.ran = 10;
    let many = failures(&diagnosis, Style::PLAIN);
    assert!(
        many.contains("\n  1  40  wrong-value ") && many.contains("\nFAIL 1: SLICE1, wrong values"),
        "{many}"
    );
    diagnosis.findings[0].cases = 50;
    let invalid = failures(&diagnosis, Style::PLAIN);
    let hint = "50 of them are about invalid descs: `--where valid` leaves these out\n";
    assert!(invalid.contains(hint) && !many.contains("--where valid"), "{invalid}");
    let narrow = failures(&diagnosis, Style { colour: false, width: Some(60) });
    let narrow: Vec<&str> = narrow.lines().skip(1).take(2).collect();
    assert_eq!(
        narrow,
        [
            "  1  50  accepted-invalid  SLICE1: it accepted it, which ...",
            "  2  40  wrong-value       SLICE1: Output[0,0,0,0] is In ...",
        ]
    );
    let again = diagnosis.findings[0].clone();
    diagnosis.findings.extend(vec![again; 5]);
    let folded = failures(&diagnosis, Style::PLAIN);
    assert_eq!(folded.matches("\nFAIL ").count(), 5, "{folded}");
    assert!(folded.contains("\nand 2 further findings: `--all` shows them in full here, "), "{folded}");
    let mut whole = Vec::new();
    let all = Context { all: true, ..context() };
    write_findings(&mut whole, &all, &diagnosis, Style::PLAIN).expect("memory takes it");
    assert_eq!(String::from_utf8_lossy(&whole).matches("\nFAIL ").count(), 7);
}
