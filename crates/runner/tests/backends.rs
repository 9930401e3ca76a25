//! Backends that misbehave, each in the way that its test's name says, and what a run makes of them.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use dmlcts_backend::{Backend, Batch, Capabilities, Job, Limits};
use dmlcts_model::{Case, DataType, Desc, ErrorCode, FeatureLevel, Outcome, Phase, line};
use dmlcts_reference::Reference;
use dmlcts_runner::{
    Class, Configuration, Difference, Ending, Event, Factory, Listed, Run, RunError, Stop, Summary, Verdict,
};
use dmlcts_spec::{Library, Operator, Predicate};

const REVERSAL: &str = "SLICE1 FLOAT32 in=2,4 out=2,4 InputWindowOffsets=0,0 InputWindowSizes=2,4 \
                        InputWindowStrides=1,-1 fill=iota";
const BYTES: &str = "SLICE1 UINT8 in=3 out=3 InputWindowOffsets=0 InputWindowSizes=3 InputWindowStrides=1 \
                     fill=explicit:b54a01";
const STRIDED: &str = "SLICE1 UINT16 in=4 out=2 OutputTensor.Strides=3 InputWindowOffsets=0 InputWindowSizes=4 \
                       InputWindowStrides=3 fill=iota";
const SPECIAL: &str = "SLICE1 FLOAT32 in=64 out=64 InputWindowOffsets=0 InputWindowSizes=64 \
                       InputWindowStrides=1 fill=special:1";
const EMPTY_WINDOW: &str = "SLICE1 FLOAT32 in=4 out=1 InputWindowOffsets=0 InputWindowSizes=0 \
                            InputWindowStrides=1 fill=iota";
const STRIDE_ZERO: &str = "SLICE FLOAT32 in=4 out=2 Offsets=1 Sizes=2 Strides=0 fill=iota";
const HUGE: &str = "SLICE1 UINT8 in=4294967295 out=4294967295 InputWindowOffsets=0 \
                    InputWindowSizes=4294967295 InputWindowStrides=1 fill=iota";

fn case(text: &str) -> Case {
    line::parse(text, Library::embedded().signatures()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A backend that does with a batch what a closure says.
struct Closure<F> {
    capabilities: Capabilities,
    behave: F,
}

impl<F: FnMut(&mut Batch) + Send> Backend for Closure<F> {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn set_feature_level(&mut self, _: FeatureLevel) {}

    fn run(&mut self, batch: &mut Batch) {
        (self.behave)(batch);
    }
}

fn declared() -> Capabilities {
    let capabilities = Reference::backend().capabilities().clone();
    Capabilities { name: "closure".to_owned(), can_set_feature_level: false, ..capabilities }
}

/// A backend that behaves as a closure says.
fn behaving(behave: impl Fn(&mut Batch) + Send + Sync + 'static) -> Arc<Factory> {
    declaring(declared(), behave)
}

fn declaring(
    capabilities: Capabilities,
    behave: impl Fn(&mut Batch) + Send + Sync + 'static,
) -> Arc<Factory> {
    let behave = Arc::new(behave);
    Arc::new(move || {
        let behave = Arc::clone(&behave);
        Ok(Box::new(Closure {
            capabilities: capabilities.clone(),
            behave: move |batch: &mut Batch| behave(batch),
        }))
    })
}

fn honest(batch: &mut Batch) {
    Reference::backend().run(batch);
}

/// A backend that is right, and then spoils each job and its output as a closure says.
fn spoiling(spoil: impl Fn(&mut Job, &mut [u8]) + Send + Sync + 'static) -> Arc<Factory> {
    behaving(move |batch| {
        honest(batch);
        let (jobs, _, outputs) = batch.parts();
        for job in jobs {
            spoil(job, outputs);
        }
    })
}

fn run_of(lines: &[&str], backend: Arc<Factory>) -> Run {
    Run {
        library: Library::embedded(),
        source: Arc::new(Listed::new(lines.iter().map(|line| case(line)).collect(), "listed")),
        backend,
        configuration: Configuration { jobs: 2, ..Configuration::default() },
        stop: Stop::default(),
    }
}

fn summary(run: &Run) -> Summary {
    dmlcts_runner::run(run, &mut |_| {}).expect("the backend starts")
}

/// The single failure of a run of one case.
#[track_caller]
fn failure(line: &str, backend: Arc<Factory>) -> (Verdict, Class) {
    let summary = summary(&run_of(&[line], backend));
    assert_eq!(summary.groups.len(), 1, "{summary:?}");
    assert_eq!(summary.tally().unexpected(), 1);
    (summary.groups[0].first.verdict, summary.groups[0].first.class)
}

fn refuse(job: &mut Job, code: ErrorCode) {
    job.outcome = Outcome::Rejected { phase: Phase::Create, code, reason: "".into() };
}

#[test]
fn an_honest_backend_passes_and_is_recorded_where_the_pages_are_silent() {
    let lines = [REVERSAL, BYTES, STRIDED, SPECIAL, EMPTY_WINDOW, STRIDE_ZERO, HUGE];
    let summary = summary(&run_of(&lines, behaving(honest)));
    assert_eq!(summary.groups.len(), 0, "{:?}", summary.groups);
    assert_eq!(summary.tally().of(Verdict::Pass), 6);
    assert_eq!(summary.tally().of(Verdict::Recorded), 1);
    assert_eq!(summary.work.too_large, 1, "nobody allocates four gigabytes");
    assert_eq!(summary.ending, Ending::Complete);
}

#[test]
fn one_wrong_element_is_found_and_located() {
    let backend = spoiling(|job, outputs| outputs[job.runs[0].output.start + 8] ^= 0x80);
    let summary = summary(&run_of(&[REVERSAL], backend));
    let first = &summary.groups[0].first;
    assert_eq!((first.verdict, first.class), (Verdict::Fail, Class::Output(Difference::WrongValue)));
    let differences = &first.evidence.as_ref().unwrap().differences;
    assert_eq!(differences.wrong(), 1);
    assert_eq!(differences.first[0].coordinates.as_slice(), [0, 2]);
}

#[test]
fn a_wrong_element_names_the_input_element_that_was_taken() {
    // Copies without reversing: what should be 4 is 1, and so on.
    let backend = behaving(|batch| {
        honest(batch);
        let (jobs, inputs, outputs) = batch.parts();
        for run in jobs.iter().flat_map(|job| &job.runs) {
            outputs[run.output.clone()].copy_from_slice(&inputs[run.input.clone()]);
        }
    });
    let summary = summary(&run_of(&[REVERSAL], backend));
    let first = &summary.groups[0].first;
    let wrong = &first.evidence.as_ref().unwrap().differences.first[0];
    let origins = dmlcts_runner::origins(first, wrong);
    assert_eq!(origins.iter().map(|origin| origin.to_vec()).collect::<Vec<_>>(), [[0, 0]]);
}

#[test]
fn an_output_that_was_never_written_is_unwritten_even_where_it_holds_the_poison() {
    let lazy = || {
        behaving(|batch| {
            let (jobs, _, _) = batch.parts();
            for job in jobs {
                job.outcome = Outcome::Output;
            }
        })
    };
    assert_eq!(failure(REVERSAL, lazy()).1, Class::Output(Difference::Unwritten));
    // The expected bytes are those of both poisons: neither memory alone would tell.
    assert_eq!(failure(BYTES, lazy()).1, Class::Output(Difference::Unwritten));
}

#[test]
fn a_write_past_the_end_is_noticed() {
    let backend = spoiling(|job, outputs| outputs[job.runs[0].output.end] = 0);
    assert_eq!(failure(REVERSAL, backend).1, Class::WroteOutside);
}

#[test]
fn a_write_before_the_start_is_noticed() {
    let backend = spoiling(|job, outputs| outputs[job.runs[0].output.start - 1] = 0);
    assert_eq!(failure(REVERSAL, backend).1, Class::WroteOutside);
}

#[test]
fn writes_into_holes_and_tails_are_notes() {
    let holes = spoiling(|job, outputs| outputs[job.runs[0].output.start + 2] = 0);
    let strided = summary(&run_of(&[STRIDED], holes));
    assert_eq!((strided.tally().of(Verdict::Pass), strided.notes.holes), (1, 1));
    let tails = spoiling(|job, outputs| outputs[job.runs[0].output.end - 1] = 0);
    let bytes = summary(&run_of(&[BYTES], tails));
    assert_eq!((bytes.tally().of(Verdict::Pass), bytes.notes.tails), (1, 1));
}

#[test]
fn a_changed_input_is_noticed() {
    let backend = behaving(|batch| {
        honest(batch);
        let start = batch.jobs()[0].runs[0].input.start;
        batch.inputs[start] ^= 1;
    });
    assert_eq!(failure(REVERSAL, backend).1, Class::InputChanged);
}

#[test]
fn a_backend_that_refuses_everything_fails_on_what_is_valid() {
    let backend = spoiling(|job, _| refuse(job, ErrorCode::INVALID_ARGUMENT));
    let summary = summary(&run_of(&[REVERSAL, EMPTY_WINDOW], backend));
    assert_eq!((summary.tally().of(Verdict::Pass), summary.tally().of(Verdict::Fail)), (1, 1));
    assert_eq!(summary.groups[0].first.class, Class::RefusedValid);
}

#[test]
fn a_backend_that_accepts_everything_fails_on_what_is_invalid() {
    let backend = spoiling(|job, _| {
        job.outcome = if job.runs.is_empty() { Outcome::Accepted } else { Outcome::Output };
    });
    let summary = summary(&run_of(&[REVERSAL, EMPTY_WINDOW], backend));
    assert_eq!((summary.tally().of(Verdict::Pass), summary.tally().of(Verdict::Fail)), (1, 1));
    assert_eq!(summary.groups[0].first.class, Class::AcceptedInvalid);
    let operator = Library::embedded().operator("SLICE1").unwrap();
    let violated: Vec<&str> = summary.groups[0]
        .first
        .judgement
        .violated
        .iter()
        .map(|place| operator.clauses()[place].id.as_str())
        .collect();
    assert_eq!(violated, ["slice1.window-not-empty"]);
}

#[test]
fn running_out_of_memory_is_no_refusal_as_invalid() {
    let backend = || spoiling(|job, _| refuse(job, ErrorCode::OUT_OF_MEMORY));
    assert_eq!(failure(EMPTY_WINDOW, backend()).1, Class::RefusedOtherwise);
    assert_eq!(failure(REVERSAL, backend()).1, Class::RefusedOtherwise);
}

#[test]
fn what_is_declared_cannot_be_called_unsupported() {
    let unsupported = |job: &mut Job, _: &mut [u8]| job.outcome = Outcome::Unsupported("no".into());
    assert_eq!(failure(REVERSAL, spoiling(unsupported)).1, Class::Undeclared);

    let few = Capabilities { data_types: vec![DataType::UINT8], ..declared() };
    let backend = declaring(few, |batch| {
        let (jobs, _, _) = batch.parts();
        for job in jobs {
            job.outcome = Outcome::Unsupported("no floats".into());
        }
    });
    let summary = summary(&run_of(&[REVERSAL], backend));
    assert_eq!(summary.tally().of(Verdict::Skip), 1);
}

#[test]
fn accepting_without_running_is_not_enough() {
    let backend = spoiling(|job, _| job.outcome = Outcome::Accepted);
    assert_eq!(failure(REVERSAL, backend).1, Class::NotRun);
}

#[test]
fn a_backend_that_answers_nothing_is_lost() {
    assert_eq!(failure(REVERSAL, behaving(|_| {})).1, Class::Lost);
}

#[test]
fn canonical_nans_flushed_denormals_and_lost_signs_are_classes_of_their_own_and_can_be_allowed() {
    /// How to spoil the bits of a float.
    type Spoil = fn(u32) -> u32;
    let kinds: [(Difference, Spoil); 3] = [
        (Difference::NanCanonicalised, |bits| if f32::from_bits(bits).is_nan() { 0x7fc0_0000 } else { bits }),
        (Difference::DenormalFlushed, |bits| {
            if f32::from_bits(bits).is_subnormal() { bits & 0x8000_0000 } else { bits }
        }),
        (Difference::ZeroSign, |bits| if bits == 0x8000_0000 { 0 } else { bits }),
    ];
    for (difference, spoil) in kinds {
        let backend = move || {
            spoiling(move |job, outputs| {
                for run in &job.runs {
                    for element in outputs[run.output.clone()].as_chunks_mut::<4>().0 {
                        *element = spoil(u32::from_le_bytes(*element)).to_le_bytes();
                    }
                }
            })
        };
        assert_eq!(failure(SPECIAL, backend()).1, Class::Output(difference));
        let mut run = run_of(&[SPECIAL], backend());
        run.configuration.allow = vec![difference];
        assert_eq!(summary(&run).tally().of(Verdict::Pass), 1, "{difference} can be allowed");
        run.configuration.allow = vec![Difference::WrongValue];
        assert_eq!(summary(&run).tally().of(Verdict::Fail), 1, "and nothing else");
    }
}

#[test]
fn an_operator_that_remembers_its_first_data_is_found_by_a_second_run() {
    let backend = spoiling(|job, outputs| {
        let first = job.runs[0].output.clone();
        for run in &job.runs[1..] {
            outputs.copy_within(first.clone(), run.output.start);
        }
    });
    // One case in eight runs again; which ones depends on the index.
    let summary = summary(&run_of(&[REVERSAL; 64], backend));
    assert!((1..64).contains(&summary.tally().of(Verdict::Fail)), "{:?}", summary.tally());
    assert_eq!(summary.groups[0].first.class, Class::Remembered);
}

#[test]
fn a_case_that_fails_only_behind_another_one_is_a_flake() {
    let backend = behaving(|batch| {
        honest(batch);
        let (jobs, _, outputs) = batch.parts();
        if let [_, second, ..] = jobs {
            outputs[second.runs[0].output.start] ^= 1;
        }
    });
    let mut run = run_of(&[REVERSAL; 16], backend);
    run.configuration.jobs = 1;
    let summary = summary(&run);
    assert_eq!(summary.tally().of(Verdict::Flake), 1, "{:?}", summary.tally());
    assert_eq!(summary.groups[0].first.verdict, Verdict::Flake);
}

#[test]
fn a_panic_is_pinned_to_its_case_and_the_run_goes_on() {
    let backend = behaving(|batch| {
        assert!(!batch.jobs().iter().any(|job| job.desc.list("InputWindowSizes") == Some(&[0])), "window");
        honest(batch);
    });
    let lines = [REVERSAL, REVERSAL, EMPTY_WINDOW, REVERSAL];
    let summary = summary(&run_of(&lines, backend));
    assert_eq!((summary.tally().of(Verdict::Crash), summary.tally().of(Verdict::Pass)), (1, 3));
    let first = &summary.groups[0].first;
    assert_eq!((first.index, first.class), (2, Class::Crashed));
    assert_eq!(first.outcome, Outcome::Crashed("it panicked: window".into()));
}

#[test]
fn a_backend_that_panics_over_a_whole_batch_but_over_no_case_alone_passes_one_by_one() {
    let backend = behaving(|batch| {
        assert!(batch.jobs().len() < 2, "too many");
        honest(batch);
    });
    let mut run = run_of(&[REVERSAL; 40], backend);
    run.configuration.jobs = 1;
    assert_eq!(summary(&run).tally().of(Verdict::Pass), 40);
}

#[test]
fn open_questions_allow_their_answers_and_nothing_else() {
    let refusing = spoiling(|job, _| refuse(job, ErrorCode::INVALID_ARGUMENT));
    assert_eq!(summary(&run_of(&[STRIDE_ZERO], refusing)).tally().of(Verdict::Recorded), 1);
    // Repeats the element at the offset, which is 2.
    let repeating = behaving(|batch| {
        let (jobs, _, outputs) = batch.parts();
        for job in jobs {
            job.outcome = Outcome::Output;
            for run in &job.runs {
                outputs[run.output.clone()].copy_from_slice(&[2.0_f32, 2.0].map(f32::to_le_bytes).concat());
            }
        }
    });
    assert_eq!(summary(&run_of(&[STRIDE_ZERO], repeating)).tally().of(Verdict::Recorded), 1);
    let inventing = behaving(|batch| {
        let (jobs, _, outputs) = batch.parts();
        for job in jobs {
            job.outcome = Outcome::Output;
            job.runs.iter().for_each(|run| outputs[run.output.clone()].fill(0));
        }
    });
    assert_eq!(failure(STRIDE_ZERO, inventing).1, Class::OutsideQuestion);
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let lines: Vec<String> = (1..600)
        .map(|size| {
            let window = if size % 7 == 0 { 0 } else { size };
            format!(
                "SLICE1 UINT8 in={size} out=1 InputWindowOffsets=0 InputWindowSizes={window} \
                 InputWindowStrides=1 fill=iota"
            )
        })
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    // Fails on sizes that are multiples of 5, valid or not.
    let backend = || {
        spoiling(|job, _| {
            if job.desc.input.as_ref().unwrap().sizes.as_ref().unwrap()[0] % 5 == 0 {
                refuse(job, ErrorCode::OUT_OF_MEMORY);
            }
        })
    };
    let of = |jobs: usize, limit: Option<u64>, fail_fast: bool| {
        let mut run = run_of(&lines, backend());
        run.configuration =
            Configuration { jobs, limit, fail_fast, shrink: false, ..Configuration::default() };
        let mut events = Vec::new();
        let summary = dmlcts_runner::run(&run, &mut |event| {
            if let Event::Failed(failure) = event {
                events.push((failure.index, failure.class));
            }
        })
        .unwrap();
        (summary.progress, summary.tally(), summary.ending, events)
    };
    for (limit, fail_fast) in [(None, false), (Some(100), false), (None, true)] {
        let alone = of(1, limit, fail_fast);
        assert_eq!(of(3, limit, fail_fast), alone);
        assert_eq!(alone.0.ran, if fail_fast { 5 } else { limit.unwrap_or(599) });
    }
}

#[test]
fn a_limit_counts_the_cases_that_the_filter_lets_through() {
    let lines: Vec<&str> = [REVERSAL, BYTES].into_iter().cycle().take(1000).collect();
    let mut run = run_of(&lines, behaving(honest));
    let scopes = Library::embedded().operators().iter().map(Operator::scope);
    let filter = Predicate::compile("InputTensor.DataType == UINT8", scopes).unwrap();
    run.configuration.filter = Some(Arc::new(filter));
    run.configuration.limit = Some(37);
    let summary = summary(&run);
    assert_eq!((summary.progress.ran, summary.ending), (37, Ending::Limit));
    assert_eq!(summary.progress.read, 74);
}

#[test]
fn a_backend_that_hangs_is_left_behind_when_the_time_is_up() {
    let backend = behaving(|_| thread::sleep(Duration::from_secs(3600)));
    let mut run = run_of(&[REVERSAL; 4], backend);
    run.configuration.deadline = Some(Instant::now() + Duration::from_millis(100));
    run.configuration.grace = Duration::from_millis(100);
    let summary = summary(&run);
    assert_eq!(summary.ending, Ending::Timeout);
    assert!(!summary.abandoned.is_empty());
    assert_eq!(summary.progress.ran, 0);
}

#[test]
fn of_the_time_some_is_left_for_smaller_failing_cases_and_no_more_is_taken() {
    let mut capabilities = declared();
    capabilities.limits.batch_jobs = 16;
    let backend = declaring(capabilities, |batch| {
        honest(batch);
        let (jobs, _, outputs) = batch.parts();
        for run in jobs.iter().flat_map(|job| &job.runs) {
            outputs[run.output.start] ^= 1;
        }
        thread::sleep(Duration::from_millis(5));
    });
    let mut run = run_of(&vec![REVERSAL; 20_000], backend);
    let time = Duration::from_secs(1);
    let started = Instant::now();
    run.configuration.deadline = Some(started + time);
    let summary = summary(&run);
    assert_eq!(summary.ending, Ending::Timeout);
    assert!(summary.elapsed < time, "{:?}", summary.elapsed);
    assert!(summary.groups[0].smallest.is_some());
    assert!(started.elapsed() < 2 * time, "the search for smaller cases alone may take ten seconds");
}

#[test]
fn a_run_ends_with_the_summary_of_what_ran_when_it_is_stopped() {
    let stop = Stop::default();
    let (asked, counter) = (stop.clone(), AtomicUsize::new(0));
    let backend = behaving(move |batch| {
        honest(batch);
        if counter.fetch_add(1, Ordering::Relaxed) == 3 {
            asked.request(Ending::Interrupted);
        }
    });
    let mut run = run_of(&vec![REVERSAL; 4000], backend);
    run.stop = stop;
    let summary = summary(&run);
    assert_eq!(summary.ending, Ending::Interrupted);
    assert!((1..4000).contains(&summary.progress.ran), "{:?}", summary.progress);
    assert_eq!(summary.tally().of(Verdict::Pass), summary.progress.ran);
}

#[test]
fn a_backend_that_cannot_start_is_an_error_and_one_that_cannot_start_again_ends_the_run() {
    let mut run = run_of(&[REVERSAL], Arc::new(|| Err("no device".to_owned())));
    assert_eq!(dmlcts_runner::run(&run, &mut |_| {}).unwrap_err(), RunError::Backend("no device".into()));

    let started = AtomicUsize::new(0);
    run.backend = Arc::new(move || {
        if started.fetch_add(1, Ordering::Relaxed) == 0 {
            return Ok(Box::new(Reference::backend()));
        }
        Err("no second device".to_owned())
    });
    let summary = summary(&run);
    assert_eq!(summary.ending, Ending::BackendLost);
    assert_eq!(summary.lost.as_deref(), Some("no second device"));
}

#[test]
fn a_level_selects_cases_and_cannot_exceed_the_backends_own() {
    // Valid from level 3.0 on, since it has two dimensions.
    let mut run = run_of(&[REVERSAL, EMPTY_WINDOW], behaving(honest));
    run.configuration.level = Some("2.1".parse().unwrap());
    let selected = summary(&run);
    assert_eq!(
        (selected.progress.read, selected.progress.ran),
        (2, 1),
        "one is valid only at a higher level"
    );

    run.backend = Arc::new(|| Ok(Box::new(Reference::backend())));
    let set = summary(&run);
    assert_eq!(
        set.tally().of(Verdict::Pass),
        2,
        "the reference can be set to the level, and refuses it there"
    );

    let old = Capabilities { feature_level: "2.0".parse().unwrap(), ..declared() };
    run.backend = declaring(old, honest);
    assert!(matches!(dmlcts_runner::run(&run, &mut |_| {}), Err(RunError::Level { .. })));
}

#[test]
fn a_case_above_the_memory_budget_is_created_and_not_run() {
    let mut run = run_of(&[REVERSAL], behaving(honest));
    run.configuration.memory = 100;
    let summary = summary(&run);
    assert_eq!((summary.tally().of(Verdict::Pass), summary.work.runs, summary.work.too_large), (1, 0, 1));
}

#[test]
fn a_large_failing_case_is_shrunk_to_a_small_one_that_fails_alike() {
    let large = "SLICE1 INT16 in=3,5,7,9 out=2,4,3,9 OutputTensor.Strides=200,40,10,1 InputWindowOffsets=0,1,2,0 \
                 InputWindowSizes=3,4,5,9 InputWindowStrides=2,1,2,-1 fill=random:7";
    // Gets negative strides wrong, and nothing else.
    let backend = spoiling(|job, outputs| {
        let strides = job.desc.list("InputWindowStrides").unwrap_or_default();
        if strides.iter().any(|&stride| stride < 0) {
            for run in &job.runs {
                outputs[run.output.start] ^= 1;
            }
        }
    });
    let summary = summary(&run_of(&[large], backend));
    let group = &summary.groups[0];
    assert_eq!(group.first.case, case(large));
    let smallest = group.smallest.as_ref().expect("a smaller case");
    assert_eq!((smallest.verdict, smallest.class), (group.first.verdict, group.first.class));
    assert!(smallest.evidence.is_some());
    assert_eq!(smallest.case.desc.rank(), 1, "{}", smallest.case);
    assert!(smallest.case.desc.list("InputWindowStrides").unwrap()[0] < 0, "{}", smallest.case);
    assert!(smallest.case.to_string().len() < group.first.case.to_string().len());
}

/// A backend that takes two batches of four at a time, does its work as late as it may, and panics when it starts on a
/// batch of which the closure says so.
struct Patient<F> {
    capabilities: Capabilities,
    /// The number of jobs and the first desc of each batch that is started and not finished.
    started: VecDeque<(usize, Desc)>,
    most: Arc<AtomicUsize>,
    panics: Arc<F>,
}

impl<F: Fn(&Batch) -> bool + Send + Sync> Backend for Patient<F> {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn set_feature_level(&mut self, _: FeatureLevel) {}

    fn run(&mut self, _: &mut Batch) {
        panic!("nobody runs a batch at once");
    }

    fn start(&mut self, batch: &mut Batch) {
        assert!(!(self.panics)(batch), "no such batch");
        self.started.push_back((batch.jobs().len(), batch.jobs()[0].desc.clone()));
        self.most.fetch_max(self.started.len(), Ordering::Relaxed);
    }

    fn finish(&mut self, batch: &mut Batch) {
        let (jobs, first) = self.started.pop_front().expect("it was started");
        assert_eq!((jobs, &first), (batch.jobs().len(), &batch.jobs()[0].desc));
        honest(batch);
    }
}

/// A run of one thread over so many cases on such a backend, and how many batches it had at a time.
fn patiently(
    cases: usize,
    panics: impl Fn(&Batch) -> bool + Send + Sync + 'static,
) -> (Run, Arc<AtomicUsize>) {
    let lines: Vec<String> = (1..=cases)
        .map(|n| format!("SLICE UINT8 in={n} out={n} Offsets=0 Sizes={n} Strides=1 fill=iota"))
        .collect();
    let (most, panics) = (Arc::new(AtomicUsize::new(0)), Arc::new(panics));
    let mut capabilities = declared();
    capabilities.limits = Limits { busy_jobs: 4, in_flight: 2, ..capabilities.limits };
    let own = Arc::clone(&most);
    let backend: Arc<Factory> = Arc::new(move || {
        let (capabilities, most, panics) = (capabilities.clone(), Arc::clone(&own), Arc::clone(&panics));
        Ok(Box::new(Patient { capabilities, started: VecDeque::new(), most, panics }))
    });
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let mut run = run_of(&lines, backend);
    run.configuration.jobs = 1;
    (run, most)
}

#[test]
fn a_backend_that_takes_two_batches_has_the_next_one_while_it_works_on_the_first() {
    let (run, most) = patiently(150, |_| false);
    let summary = summary(&run);
    assert_eq!(summary.tally().of(Verdict::Pass), 150, "{:?}", summary.groups);
    assert_eq!(most.load(Ordering::Relaxed), 2);
}

#[test]
fn a_panic_over_one_of_two_batches_is_pinned_on_its_case_and_loses_no_other() {
    let is_77 = |batch: &Batch| batch.jobs().iter().any(|job| job.desc.list("Sizes") == Some(&[77]));
    let (run, _) = patiently(150, is_77);
    let summary = summary(&run);
    assert_eq!(summary.tally().of(Verdict::Crash), 1);
    assert_eq!(summary.tally().of(Verdict::Pass), 149);
    assert_eq!(summary.groups[0].first.case.desc.list("Sizes"), Some(&[77][..]));
}

#[test]
fn the_first_failure_ends_a_run_with_two_batches_under_way() {
    let (mut run, _) =
        patiently(150, |batch| batch.jobs().iter().any(|job| job.desc.list("Sizes") == Some(&[10])));
    run.configuration.fail_fast = true;
    let summary = summary(&run);
    assert_eq!((summary.tally().of(Verdict::Pass), summary.tally().of(Verdict::Crash)), (9, 1));
    assert_eq!(summary.ending, Ending::FirstFailure);
}
