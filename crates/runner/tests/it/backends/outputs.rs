//! Backends that write wrong values or to wrong places, and the results of their runs.

use std::sync::Arc;

use dmlcts_backend::Batch;
use dmlcts_model::Outcome;
use dmlcts_runner::{Class, Configuration, Difference, Ending, Factory, Run, Runs, Verdict};

use crate::fixture::{
    BYTES, EMPTY_WINDOW, HUGE, REVERSAL, SPECIAL, STRIDE_ZERO, STRIDED, behaving, correct, failure, run_of,
    spoiling, summary,
};

#[test]
fn an_honest_backend_passes_and_is_recorded_where_the_pages_are_silent() {
    let lines = [REVERSAL, BYTES, STRIDED, SPECIAL, EMPTY_WINDOW, STRIDE_ZERO, HUGE];
    let summary = summary(&run_of(&lines, behaving(correct)));
    assert_eq!(summary.groups.len(), 0, "{:?}", summary.groups);
    assert_eq!(summary.tally().of(Verdict::Pass), 6);
    assert_eq!(summary.tally().of(Verdict::Recorded), 1);
    assert_eq!(summary.totals.work.too_large, 1, "nobody allocates four gigabytes");
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
    // Copies without reversing: the expected 4 is 1, and so on.
    let backend = behaving(|batch| {
        correct(batch);
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
    // The expected bytes are the bytes of both poisons, so that no single memory shows the fault.
    assert_eq!(failure(BYTES, lazy()).1, Class::Output(Difference::Unwritten));
}

/// A wrong value may be unwritten memory: with another fill it changes.
#[test]
fn what_holds_the_fill_of_one_run_alone_was_written() {
    const ONE: &str =
        "SLICE1 UINT8 in=1 out=1 InputWindowOffsets=0 InputWindowSizes=1 InputWindowStrides=1 fill=iota";
    const TWO: &str =
        "SLICE1 UINT8 in=2 out=2 InputWindowOffsets=0 InputWindowSizes=2 InputWindowStrides=1 fill=iota";
    let backend = || {
        spoiling(|job, outputs| {
            for run in &job.runs {
                outputs[run.output.start..][..2].copy_from_slice(&[0xB5, 7]);
            }
        })
    };
    assert_eq!(failure(ONE, backend()).1, Class::Output(Difference::WrongValue));
    // Cases that fail in the same way are one group, also with later ones, whatever their first class was.
    let run = run_of(&[ONE, TWO, ONE], backend());
    let run = Run { configuration: Configuration { jobs: 1, ..Configuration::default() }, ..run };
    let groups: Vec<_> = summary(&run).groups.iter().map(|group| (group.first.class, group.cases)).collect();
    assert_eq!(groups, [(Class::Output(Difference::WrongValue), 3)]);
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
    assert_eq!((strided.tally().of(Verdict::Pass), strided.totals.notes.holes), (1, 1));
    let tails = spoiling(|job, outputs| outputs[job.runs[0].output.end - 1] = 0);
    let bytes = summary(&run_of(&[BYTES], tails));
    assert_eq!((bytes.tally().of(Verdict::Pass), bytes.totals.notes.tails), (1, 1));
}

#[test]
fn a_changed_input_is_noticed() {
    let backend = behaving(|batch| {
        correct(batch);
        let start = batch.jobs()[0].runs[0].input.start;
        batch.inputs[start] ^= 1;
    });
    assert_eq!(failure(REVERSAL, backend).1, Class::InputChanged);
}

#[test]
fn canonical_nans_flushed_denormals_and_lost_signs_are_classes_of_their_own_and_can_be_allowed() {
    /// Changes the bits of a float.
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
        let allowed = summary(&run);
        assert_eq!(allowed.tally().of(Verdict::Pass), 1, "{difference} can be allowed");
        assert!(allowed.totals.notes.forgiven > 0, "{difference} is forgiven, and counted");
        run.configuration.allow = vec![Difference::WrongValue];
        assert_eq!(summary(&run).tally().of(Verdict::Fail), 1, "and nothing else");
    }
}

/// The class of the single failure before it ran again.
fn class_found(line: &str, backend: Arc<Factory>) -> Class {
    let summary = summary(&run_of(&[line], backend));
    let [(found, 1)] = summary.totals.found.groups.as_slice() else { panic!("{summary:?}") };
    found.class
}

/// Copies the window's elements in order, for either sign of the stride.
fn forwards(batch: &mut Batch) {
    correct(batch);
    let (jobs, inputs, outputs) = batch.parts();
    for run in jobs.iter().flat_map(|job| &job.runs) {
        let length = run.output.len();
        outputs[run.output.clone()].copy_from_slice(&inputs[run.input.clone()][..length]);
    }
}

#[test]
fn an_element_from_the_wrong_place_is_no_flushed_denormal() {
    // The last element must come first. It is a denormal, and the wrong element is 0.
    let one = "SLICE1 FLOAT32 in=4 out=1 InputWindowOffsets=0 InputWindowSizes=4 InputWindowStrides=-1 fill=coordinates";
    assert_eq!(class_found(one, behaving(forwards)), Class::Output(Difference::WrongValue));
    let flush = || {
        behaving(|batch| {
            correct(batch);
            let (jobs, _, outputs) = batch.parts();
            for run in jobs.iter().flat_map(|job| &job.runs) {
                for element in outputs[run.output.clone()].as_chunks_mut::<4>().0 {
                    if f32::from_le_bytes(*element).is_subnormal() {
                        element[..3].fill(0);
                        element[3] &= 0x80;
                    }
                }
            }
        })
    };
    // All of them are 0 then, and the input has a 0. Other data show the fault, and so do several flushed
    // elements together.
    let flushed = Class::Output(Difference::DenormalFlushed);
    assert_eq!(class_found(one, flush()), flushed);
    assert_eq!(class_found(&one.replace("out=1", "out=3"), flush()), flushed);
}

#[test]
fn what_the_first_data_could_not_show_is_not_remembered() {
    let alike = "SLICE1 UINT8 in=4 out=4 InputWindowOffsets=0 InputWindowSizes=4 InputWindowStrides=-1 fill=explicit:07070707";
    assert_eq!(class_found(alike, behaving(forwards)), Class::Output(Difference::WrongValue));
}

#[test]
fn what_arithmetic_changes_in_other_data_alone_is_not_remembered() {
    let through_float = || {
        behaving(|batch| {
            correct(batch);
            let (jobs, _, outputs) = batch.parts();
            for run in jobs.iter().flat_map(|job| &job.runs) {
                for element in outputs[run.output.clone()].as_chunks_mut::<8>().0 {
                    *element = f64::from(f64::from_le_bytes(*element) as f32).to_le_bytes();
                }
            }
        })
    };
    // The first data are small whole numbers, which a float holds. The only element of the second case is 0,
    // and so is the float of the other data.
    for (size, fill) in [(4, "iota"), (1, "coordinates")] {
        let line = format!(
            "SLICE1 FLOAT64 in={size} out={size} InputWindowOffsets=0 InputWindowSizes={size} \
             InputWindowStrides=1 fill={fill}"
        );
        assert_eq!(class_found(&line, through_float()), Class::Output(Difference::WrongValue), "{line}");
    }
}

/// Each later run has the right output of the first.
fn remembering() -> Arc<Factory> {
    spoiling(|job, outputs| {
        let first = job.runs[0].output.clone();
        for run in &job.runs[1..] {
            outputs.copy_within(first.clone(), run.output.start);
        }
    })
}

#[test]
fn an_operator_that_remembers_its_first_data_is_found_by_a_second_run() {
    // One case in eight runs again, selected by its index.
    let summary = summary(&run_of(&[REVERSAL; 64], remembering()));
    let failed = summary.tally().of(Verdict::Fail);
    assert!((1..64).contains(&failed), "{:?}", summary.tally());
    assert_eq!(summary.groups[0].first.class, Class::Remembered);
    let work = &summary.totals.work;
    assert_eq!((work.on_other_data, work.runs), (failed, 64 + failed));
}

#[test]
fn without_second_runs_each_operator_runs_once() {
    // An operator that writes nothing where its poison is expected: only another poison shows the fault.
    let poisoned = "SLICE1 UINT8 in=4 out=4 InputWindowOffsets=0 InputWindowSizes=4 InputWindowStrides=1 fill=explicit:b5b5b5b5";
    let special = REVERSAL.replace("fill=iota", "fill=special:1");
    for (line, more) in [(REVERSAL, 0), (poisoned, 64), (special.as_str(), 64)] {
        let mut run = run_of(&[line; 64], behaving(correct));
        let sampled = summary(&run).totals.work;
        assert!(sampled.on_other_data > 0 && sampled.runs >= 64 + more, "{line}: {sampled:?}");
        run.configuration.runs = Runs::Once;
        let once = summary(&run).totals.work;
        assert_eq!((once.on_other_data, once.runs), (0, 64), "{line}");
    }
    let mut run = run_of(&[REVERSAL; 64], remembering());
    run.configuration.runs = Runs::Once;
    assert_eq!(summary(&run).tally().of(Verdict::Pass), 64);
}
