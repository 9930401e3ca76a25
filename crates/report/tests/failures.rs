//! What a person sees of backends that misbehave: snapshots of whole reports.

use std::sync::Arc;

use dmlcts_backend::{Backend, Batch, Capabilities, Job};
use dmlcts_model::{ErrorCode, FeatureLevel, Outcome, Phase, line};
use dmlcts_reference::Reference;
use dmlcts_report::{
    Context, KnownContext, Options, Palette, Replay, Subject, Terminal, write_failures, write_summary,
};
use dmlcts_runner::{Configuration, Factory, Listed, Run, Stop, Summary};
use dmlcts_spec::Library;

const REVERSAL: &str = "SLICE1 FLOAT32 in=1,1,4,4 out=1,1,2,2 InputWindowOffsets=0,0,0,1 \
                        InputWindowSizes=1,1,4,3 InputWindowStrides=1,1,-2,2 fill=iota";
const PADDING: &str = "PADDING1 UINT8 in=2,2 out=3,4 PaddingMode=CONSTANT StartPadding=1,1 EndPadding=0,1 \
                       fill=explicit:01020304";
const EMPTY_WINDOW: &str = "SLICE1 FLOAT32 in=4 out=1 InputWindowOffsets=0 InputWindowSizes=0 \
                            InputWindowStrides=1 fill=iota";
const STRIDE_ZERO: &str = "SLICE FLOAT32 in=4 out=2 Offsets=1 Sizes=2 Strides=0 fill=iota";

/// The reference, whose outcomes and outputs a closure spoils.
struct Spoiled<F> {
    capabilities: Capabilities,
    spoil: Arc<F>,
}

impl<F: Fn(&mut Job, &[u8], &mut [u8]) + Send + Sync> Backend for Spoiled<F> {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn set_feature_level(&mut self, _: FeatureLevel) {}

    fn run(&mut self, batch: &mut Batch) {
        Reference::backend().run(batch);
        let (jobs, inputs, outputs) = batch.parts();
        for job in jobs {
            (self.spoil)(job, inputs, outputs);
        }
    }
}

fn backend(spoil: impl Fn(&mut Job, &[u8], &mut [u8]) + Send + Sync + 'static) -> Arc<Factory> {
    let spoil = Arc::new(spoil);
    let mut capabilities = Reference::backend().capabilities().clone();
    "closure".clone_into(&mut capabilities.name);
    "1.0".clone_into(&mut capabilities.version);
    Arc::new(move || Ok(Box::new(Spoiled { capabilities: capabilities.clone(), spoil: Arc::clone(&spoil) })))
}

fn summary(lines: &[&str], backend: Arc<Factory>) -> Summary {
    let signatures = Library::embedded().signatures();
    let cases = lines.iter().map(|text| line::parse(text, signatures).expect("a case")).collect();
    let run = Run {
        library: Library::embedded(),
        source: Arc::new(Listed::new(cases, "listed")),
        backend,
        configuration: Configuration { jobs: 1, shrink: false, ..Configuration::default() },
        stop: Stop::default(),
    };
    dmlcts_runner::run(&run, &mut |_| {}).expect("the backend starts")
}

fn context() -> Context {
    Context {
        library: Library::embedded(),
        subject: Subject::Suite {
            what: "a test".to_owned(),
            obligations: "dmlcts count --obligations".to_owned(),
        },
        replay: Replay::default(),
        known: KnownContext::default(),
        certificate: vec!["what a test can prove".to_owned()],
        next: vec![("dmlcts list | head".to_owned(), "the cases, one line each".to_owned())],
    }
}

fn failures(summary: &Summary, palette: Palette) -> String {
    let mut out = Vec::new();
    write_failures(&mut out, summary, &Replay::default(), palette).expect("memory takes it");
    String::from_utf8(out).expect("text")
}

/// The summary without the line that depends on the machine, and without the hash that depends on every word of the
/// specs.
fn summary_text(summary: &Summary) -> String {
    let mut out = Vec::new();
    write_summary(&mut out, &context(), summary, Palette::PLAIN).expect("memory takes it");
    let text = String::from_utf8(out).expect("text");
    let hash = Library::embedded().short_hash();
    let stable = text.lines().filter(|line| !line.starts_with("speed"));
    stable.map(|line| line.replace(hash, "HASH") + "\n").collect()
}

/// A failure that shows only on this backend and with these options is seen again with them alone.
#[test]
fn running_it_again_repeats_what_bears_on_the_case() {
    let summary = summary(&[EMPTY_WINDOW], backend(|job, _, _| job.outcome = Outcome::Accepted));
    let options = ["--backend", "exec:python3 it's.py", "--feature-level", "4.1", "--allow", "zero-sign"];
    let replay = Replay { options: options.map(str::to_owned).to_vec() };
    let again = format!(
        r"dmlcts run --backend 'exec:python3 it'\''s.py' --feature-level 4.1 --allow zero-sign '{EMPTY_WINDOW}'"
    );
    let mut out = Vec::new();
    write_failures(&mut out, &summary, &replay, Palette::PLAIN).expect("memory takes it");
    let text = String::from_utf8(out).expect("text");
    assert!(text.contains(&format!("  run it again: {again}\n")), "{text}");
    let mut out = Vec::new();
    write_summary(&mut out, &Context { replay, ..context() }, &summary, Palette::PLAIN)
        .expect("memory takes it");
    let text = String::from_utf8(out).expect("text");
    assert!(text.contains(&format!("next      {again}\n")), "{text}");
}

fn forgets_to_reverse(job: &mut Job, inputs: &[u8], outputs: &mut [u8]) {
    // Starts at the beginning of the window, whatever the sign of the stride.
    for run in &job.runs {
        for (row, from) in [(0, 1), (1, 9)] {
            for (column, element) in [(0, from), (1, from + 2)] {
                let (to, from) = (run.output.start + 4 * (2 * row + column), run.input.start + 4 * element);
                outputs[to..to + 4].copy_from_slice(&inputs[from..from + 4]);
            }
        }
    }
}

#[test]
fn wrong_elements_are_marked_and_name_their_origin() {
    let summary = summary(&[REVERSAL], backend(forgets_to_reverse));
    insta::assert_snapshot!(failures(&summary, Palette::PLAIN));
}

#[test]
fn a_terminal_shows_wrong_elements_in_colour() {
    let summary = summary(&[REVERSAL], backend(forgets_to_reverse));
    let text = failures(&summary, Palette { colour: true });
    assert!(text.contains("\x1b[1;31m"), "{text}");
    assert!(!text.contains('*'), "no marks beside colours: {text}");
}

#[test]
fn an_invalid_desc_that_was_accepted_names_the_clause_that_it_breaks() {
    let summary = summary(&[EMPTY_WINDOW], backend(|job, _, _| job.outcome = Outcome::Accepted));
    insta::assert_snapshot!(failures(&summary, Palette::PLAIN));
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
    insta::assert_snapshot!(failures(&summary(&[PADDING], backend(refuse)), Palette::PLAIN));
}

#[test]
fn an_answer_outside_an_open_question_lists_what_is_allowed() {
    let zero = |job: &mut Job, _: &[u8], outputs: &mut [u8]| {
        job.outcome = Outcome::Output;
        for run in &job.runs {
            outputs[run.output.clone()].fill(0);
        }
    };
    insta::assert_snapshot!(failures(&summary(&[STRIDE_ZERO], backend(zero)), Palette::PLAIN));
}

#[test]
fn the_summary_of_a_run_without_failures() {
    let summary = summary(&[REVERSAL, PADDING, EMPTY_WINDOW, STRIDE_ZERO], backend(|_, _, _| {}));
    insta::assert_snapshot!(summary_text(&summary));
}

#[test]
fn the_summary_of_a_run_with_failures_ends_with_a_case_to_look_at() {
    let summary = summary(&[REVERSAL, EMPTY_WINDOW], backend(|job, _, _| job.outcome = Outcome::Lost));
    insta::assert_snapshot!(summary_text(&summary));
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
            configuration: Configuration { shrink: false, ..Configuration::default() },
            stop: Stop::default(),
        };
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let options = Options { quiet: true, bar: false, palette: Palette::PLAIN };
        let mut terminal = Terminal::new(&mut out, &mut err, context(), options);
        dmlcts_runner::run(&run, &mut |event| terminal.show(&event).unwrap()).unwrap();
        assert_eq!(out.starts_with(b"FAIL 1"), shown);
        assert_eq!(out.is_empty(), !shown);
        assert!(err.is_empty());
    }
}
