//! The HTML page of a run: its structure, its policy, and that nothing a stranger wrote becomes markup.
//! `.ci/page` opens such pages in a browser.

use dmlcts_backend::Job;
use dmlcts_diagnose::{Diagnosis, Event, ExplainOptions};
use dmlcts_model::{FeatureLevel, Outcome, line};
use dmlcts_report::{write_html, write_html_of_problem};
use dmlcts_results::{CaseForm, CaseLog};
use dmlcts_runner::{Configuration, Event as RunEvent, Listed, Run, Stop};
use dmlcts_spec::{Library, Validity};
use sha2::{Digest as _, Sha256};

use crate::common::*;

/// Words that a browser would obey if they were not escaped, with letters that are invisible.
const HOSTILE: &str =
    "</script><script>bad()</script> </pre> \" onload='bad()' <!-- & \u{202e}evil \u{1b}[31m";

/// Runs cases, and returns the page's log with the diagnosis.
fn logged(
    lines: &[&str],
    spoil: impl Fn(&mut Job, &[u8], &mut [u8]) + Send + Sync + 'static,
) -> (Diagnosis, CaseLog) {
    let library = Library::embedded();
    let cases = lines.iter().map(|text| line::parse(text, library.signatures()).expect("a case")).collect();
    let run = Run {
        library,
        source: std::sync::Arc::new(Listed::new(cases, "listed")),
        backend: backend(spoil),
        configuration: Configuration { jobs: 1, record: true, ..Configuration::default() },
        stop: Stop::default(),
    };
    let mut log = CaseLog::new(library, FeatureLevel::NEWEST);
    let strategies = vec!["listed".to_owned()];
    let diagnosis = dmlcts_diagnose::run(&run, &ExplainOptions::NONE, &mut |event| {
        if let Event::Run(RunEvent::Cases { cases, .. }) = event {
            cases.iter().for_each(|case| log.add(&CaseForm::of_result(&case, library, &strategies)));
        }
    });
    (diagnosis.expect("the backend starts"), log)
}

fn page(diagnosis: &Diagnosis, log: &CaseLog) -> String {
    let mut out = Vec::new();
    write_html(&mut out, &context(), diagnosis, log).expect("memory takes it");
    String::from_utf8(out).expect("text")
}

fn all_wrong(job: &mut Job, inputs: &[u8], outputs: &mut [u8]) {
    match job.desc.signature.operator.as_str() {
        "PADDING1" => job.outcome = Outcome::Crashed(HOSTILE.into()),
        _ if job.runs.is_empty() => job.outcome = Outcome::Accepted,
        _ => forgets_to_reverse(job, inputs, outputs),
    }
}

/// The part of a page between two texts.
fn between<'a>(page: &'a str, start: &str, end: &str) -> &'a str {
    page.split_once(start).and_then(|(_, rest)| rest.split_once(end)).expect("it has this part").0
}

fn base64(bytes: &[u8]) -> String {
    let letters: Vec<char> = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['+', '/']).collect();
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits =
            (0..3).fold(0_usize, |bits, place| bits << 8 | usize::from(*chunk.get(place).unwrap_or(&0)));
        for place in 0..4 {
            text.push(if place > chunk.len() { '=' } else { letters[bits >> (18 - 6 * place) & 63] });
        }
    }
    text
}

#[test]
fn the_policy_allows_this_style_and_this_script_alone() {
    let (diagnosis, log) = logged(&[REVERSAL], all_wrong);
    let page = page(&diagnosis, &log);
    let policy = between(&page, "http-equiv=\"Content-Security-Policy\" content=\"", "\"");
    let hash = |text: &str| format!("'sha256-{}'", base64(&Sha256::digest(text)));
    let (style, script) = (between(&page, "<style>", "</style>"), between(&page, "<script>", "</script>"));
    assert_eq!(
        policy,
        format!(
            "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
            hash(style),
            hash(script)
        )
    );
    assert!(!page.contains("://"), "the page has the address of another");
    assert!(!page.contains(" style=") && !page.contains(" onclick="));
}

#[test]
fn words_of_a_backend_are_no_markup() {
    let (diagnosis, log) = logged(&[REVERSAL, PADDING, EMPTY_WINDOW], all_wrong);
    let mut context = context();
    context.replay.options = vec!["--backend".to_owned(), format!("exec:{HOSTILE}")];
    let mut out = Vec::new();
    write_html(&mut out, &context, &diagnosis, &log).expect("memory takes it");
    let page = String::from_utf8(out).expect("text");
    let mut problem = Vec::new();
    write_html_of_problem(&mut problem, HOSTILE).expect("memory takes it");
    let problem = String::from_utf8(problem).expect("text");
    for (page, scripts) in [(page, 2), (problem, 0)] {
        assert_eq!(page.matches("<script").count(), scripts);
        assert_eq!(page.matches("</script").count(), scripts);
        assert!(page.contains("bad()"), "the words are there");
        for bad in ["<!--", "\u{202e}", "\u{1b}"] {
            assert!(!page.contains(bad), "{bad:?}");
        }
        // JSON has quotes, but no attributes.
        let markup = page.split("<script").next().unwrap_or_default();
        assert!(!markup.contains("\" onload"));
    }
}

#[test]
fn a_page_has_the_findings_the_clauses_and_the_answers() {
    let (diagnosis, log) = logged(&[REVERSAL, EMPTY_WINDOW, STRIDE_ZERO], all_wrong);
    let page = page(&diagnosis, &log);
    let cards = page.matches("<article class=\"card").count();
    assert_eq!(cards, diagnosis.findings.len());
    // An accepted invalid desc is more severe than wrong values.
    let order = ["slice1-accepted-invalid", "slice1-wrong-value"].map(|id| page.find(id).expect("a card"));
    assert!(order.is_sorted(), "{order:?}");
    // The picture has the three tensors, and the list says what is wrong in words.
    for text in ["Expected output", ">Input<", "Actual output"] {
        assert_eq!(between(&page, "<svg", "</svg>").matches(text).count(), 1, "{text}");
    }
    let elements = between(&page, "<ul class=\"elements\">", "</ul>");
    assert!(elements.contains("<code>Output[0,0,0,0]</code> is <b class=\"bad\">2</b>"), "{elements}");
    assert!(elements.contains("Input[0,0,3,1]"), "{elements}");
    // The matrix counts the broken clause, and a click selects its case.
    assert!(page.contains("data-verdict=\"fail\" data-clause=\"slice1.window-not-empty\""));
    let ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    for (place, id) in ids.iter().enumerate() {
        assert!(!ids[..place].contains(id), "{id} is there twice");
    }
}

#[test]
fn the_data_for_the_script_has_the_failed_cases() {
    let (diagnosis, log) = logged(&[REVERSAL, EMPTY_WINDOW, STRIDE_ZERO], |job, _, _| {
        if job.runs.is_empty() {
            job.outcome = Outcome::Accepted;
        }
    });
    let page = page(&diagnosis, &log);
    let data = between(&page, "<script type=\"application/json\" id=\"data\">", "</script>");
    let data: serde_json::Value = serde_json::from_str(data).expect("JSON");
    let rows = data["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 1);
    let text = |column: usize| {
        let place = rows[0][column].as_u64().expect("a place in the texts");
        data["texts"][usize::try_from(place).expect("it is small")].as_str().expect("a text").to_owned()
    };
    assert_eq!(rows[0][0], 1, "the index");
    assert_eq!(rows[0][1], EMPTY_WINDOW.split_whitespace().collect::<Vec<_>>().join(" "));
    assert_eq!([text(2), text(3), text(6)], ["fail", "accepted-invalid", "invalid"]);
    assert_eq!(text(4), diagnosis.findings[0].id);
    assert_eq!(rows[0][5].as_array().map(Vec::len), Some(1), "the broken clause");
}

#[test]
fn a_page_says_how_to_declare_what_a_backend_refuses_in_words() {
    let refuses = |job: &mut Job, _: &[u8], _: &mut [u8]| {
        job.outcome = Outcome::Unsupported("rank > 3 <b>".into());
    };
    let (mut diagnosis, log) = logged(&[REVERSAL], refuses);
    diagnosis.findings[0].rule = Some(exact("operator == SLICE1 and rank > 3", Validity::Valid));
    let page = page(&diagnosis, &log);
    let card = between(&page, "<article", "</article>");
    assert!(card.contains("If the backend is not meant to do them, declare that it `lacks` them:"), "{card}");
    let declaration = between(card, "{&quot;operator&quot;: ", "</pre>");
    let expected = "&quot;SLICE1&quot;, &quot;where&quot;: &quot;rank &gt; 3&quot;, &quot;reason&quot;: &quot;rank &gt; 3 &lt;b&gt;&quot;}";
    assert_eq!(declaration, expected);
}

#[test]
fn a_page_without_failures_has_no_script() {
    let log = CaseLog::new(Library::embedded(), FeatureLevel::NEWEST);
    let page = page(&summary(&[REVERSAL], backend(|_, _, _| {})), &log);
    assert!(page.contains("<h1 class=\"good\">Nothing unexpected</h1>"), "{page}");
    assert!(page.contains("Nothing failed unexpectedly."));
    assert!(!page.contains("<script"));
}
