//! The statements of profile runs for backends that are right, that leave something out, and that are wrong;
//! and the runs without a statement.

use std::sync::Arc;

use dmlcts_backend::{Capabilities, Limits};
use dmlcts_model::{DataType, Desc, Outcome};
use dmlcts_profiles::{Claim, Conformity, Failing, Profile, Reservation, Statement, Withheld, promised};
use dmlcts_runner::{Applies, Class, Difference, Factory, Partition, Run, Summary, Verdict};
use dmlcts_spec::{Library, Source};

use crate::fixture::{
    BYTES, EMPTY_WINDOW, HUGE, REVERSAL, SPECIAL, STRIDE_ZERO, behaving, correct, declared, declaring, known,
    run_of, spoiling, summary,
};

const CASES: [&str; 4] = [REVERSAL, BYTES, EMPTY_WINDOW, STRIDE_ZERO];
const LINE: &str =
    "SLICE1 FLOAT32 in=3 out=3 InputWindowOffsets=0 InputWindowSizes=3 InputWindowStrides=1 fill=iota";
const WRAP: &str = "PADDING1 UINT8 in=2 out=4 PaddingMode=WRAP StartPadding=1 EndPadding=1 fill=iota";

/// The claim to a profile with these cases at a level, with a memory of 1 MiB.
fn claim(run: &Run, level: &str) -> Claim {
    let parsed = level.parse().expect("a level");
    let operators = promised(run.library, &*run.source, parsed, 1 << 20).expect("listed cases end");
    let operators: Vec<String> = operators
        .iter()
        .map(|form| {
            let (name, cases, created_only) = (&form.operator, form.cases, form.created_only);
            let counts = format!("operator: {name}, cases: {cases}, created_only: {created_only}");
            format!("  - {{{counts}, lines: \"\", expectations: \"\"}}\n")
        })
        .collect();
    let text = format!(
        "profile: mine\nversion: 3\nsummary: none\nsuite: smoke\nseed: 0\nfeature_level: \"{level}\"\nmemory: 1048576\n\
         spec: \"{}\"\noperators:\n{}",
        Library::embedded().hash(),
        operators.concat()
    );
    let profile = Profile::parse(&Source::new("mine.yaml", text)).unwrap_or_else(|error| panic!("{error}"));
    let configuration = &run.configuration;
    let allow = configuration.allow.clone();
    Claim { profile, memory: configuration.memory, allow, is_part: configuration.partition.is_some() }
}

fn run_with(lines: &[&str], backend: Arc<Factory>) -> Run {
    let mut run = run_of(lines, backend);
    run.configuration.memory = 1 << 20;
    run
}

fn state_at(level: &str, run: &Run) -> Result<Statement, Withheld> {
    claim(run, level).state(run.library, &summary(run))
}

#[track_caller]
fn statement(run: &Run) -> Statement {
    state_at("6.4", run).expect("it is complete")
}

/// The reservations in the form of the files.
fn reservations(statement: &Statement) -> Vec<(&'static str, &str, u64)> {
    let spelled = |one: &'_ Reservation| (one.kind.id(), one.cases);
    let all = statement.reservations.iter();
    all.map(|one| (spelled(one).0, one.of.as_str(), one.cases)).collect()
}

#[test]
fn a_backend_that_is_right_conforms_and_recorded_answers_are_no_reservation() {
    let all = [&CASES[..], &[HUGE, WRAP]].concat();
    let found = statement(&run_with(&all, behaving(correct)));
    assert_eq!(found.conformity, Conformity::Conforms, "{found:?}");
    assert!(found.reservations.is_empty() && found.failing.is_empty(), "{found:?}");
}

#[test]
fn what_a_backend_does_not_have_is_a_reservation_operator_by_operator() {
    let capabilities = Capabilities {
        operators: Some(vec!["SLICE1".to_owned(), "PADDING1".to_owned()]),
        data_types: vec![DataType::FLOAT32],
        ranks: 1..=1,
        ..declared()
    };
    let has = |desc: &Desc| {
        let tensor = desc.input.as_ref().filter(|_| desc.signature.operator != "SLICE");
        tensor.is_some_and(|tensor| tensor.data_type == DataType::FLOAT32 && tensor.dimension_count == 1)
    };
    let backend = declaring(capabilities, move |batch| {
        correct(batch);
        for job in batch.parts().0.iter_mut().filter(|job| !has(&job.desc)) {
            job.outcome = Outcome::Unsupported("no".into());
        }
    });
    let found = statement(&run_with(&[REVERSAL, BYTES, STRIDE_ZERO, WRAP, BYTES, LINE], backend));
    assert_eq!(found.conformity, Conformity::WithReservations);
    assert_eq!(
        reservations(&found),
        [
            ("unsupported-operator", "SLICE", 1),
            ("unsupported-data-type", "SLICE1", 2),
            ("unsupported-data-type", "PADDING1", 1),
            ("unsupported-rank", "SLICE1", 1),
        ]
    );
}

#[test]
fn a_backend_that_has_nothing_of_a_profile_states_nothing() {
    let capabilities = Capabilities { data_types: vec![DataType::FLOAT64], ..declared() };
    let backend = declaring(capabilities, |batch| {
        for job in batch.parts().0 {
            job.outcome = Outcome::Unsupported("no".into());
        }
    });
    assert_eq!(state_at("6.4", &run_with(&[REVERSAL, BYTES], backend)), Err(Withheld::Unjudged));
}

#[test]
fn a_backend_that_breaks_when_it_is_told_to_end_states_nothing() {
    let run = run_with(&CASES, behaving(correct));
    let summary = Summary { bad_end: Some("it leaks".to_owned()), ..summary(&run) };
    let stated = claim(&run, "6.4").state(run.library, &summary);
    assert_eq!(stated, Err(Withheld::BadEnd("it leaks".to_owned())));
}

#[test]
fn a_backend_of_which_no_output_was_compared_states_nothing() {
    let limits = Limits { tensor_bytes: 4, ..Limits::default() };
    let backend = declaring(Capabilities { limits, ..declared() }, correct);
    assert_eq!(state_at("6.4", &run_with(&[REVERSAL, EMPTY_WINDOW], backend)), Err(Withheld::Uncompared));
}

/// Bare arrays excuse a desc whose lists differ in length from their counts, and no other desc.
#[test]
fn bare_arrays_excuse_what_they_cannot_say_and_nothing_else() {
    let long = "SLICE UINT8 in=4 out=4 Offsets=0,0 Sizes=4 Strides=1 fill=iota";
    let backend = |most: u32| {
        let limits = Limits { bare_arrays: Some(most), ..Limits::default() };
        declaring(Capabilities { limits, ..declared() }, move |batch| {
            correct(batch);
            for job in batch.parts().0 {
                let rank = job.desc.input.as_ref().map_or(0, |tensor| tensor.dimension_count);
                if job.desc.signature.operator == "SLICE" || rank > most {
                    job.outcome = Outcome::Unsupported("no".into());
                }
            }
        })
    };
    let found = statement(&run_with(&[REVERSAL, long], backend(8)));
    assert_eq!((found.conformity, found.unsayable), (Conformity::Conforms, 1), "{found:?}");
    let found = statement(&run_with(&[REVERSAL, long, LINE], backend(1)));
    assert_eq!((reservations(&found), found.unsayable), (vec![("unsupported-rank", "SLICE1", 1)], 1));
}

#[test]
fn what_is_created_only_for_want_of_memory_is_a_reservation() {
    let mut run = run_with(&[REVERSAL, BYTES, HUGE], behaving(correct));
    assert_eq!(
        statement(&run).conformity,
        Conformity::Conforms,
        "the profile has no memory for the other one"
    );
    run.configuration.memory = 16;
    assert_eq!(reservations(&statement(&run)), [("created-only", "", 1)]);
    let limits = Limits { tensor_bytes: 8, ..Limits::default() };
    let run = run_with(&[REVERSAL, BYTES, HUGE], declaring(Capabilities { limits, ..declared() }, correct));
    assert_eq!(reservations(&statement(&run)), [("created-only", "", 1)]);
}

/// A correct backend, except that a NaN loses its bits.
fn canonical() -> Arc<Factory> {
    spoiling(|job, outputs| {
        for run in &job.runs {
            for element in outputs[run.output.clone()].as_chunks_mut::<4>().0 {
                if f32::from_le_bytes(*element).is_nan() {
                    *element = f32::NAN.to_le_bytes();
                }
            }
        }
    })
}

#[test]
fn what_is_forgiven_is_a_reservation() {
    let mut run = run_with(&[SPECIAL], canonical());
    assert_eq!(statement(&run).conformity, Conformity::DoesNotConform);
    run.configuration.allow = vec![Difference::NanCanonicalised];
    let found = statement(&run);
    assert_eq!(found.conformity, Conformity::WithReservations);
    assert!(
        matches!(reservations(&found)[..], [("allowed-difference", "nan-canonicalised", 1..)]),
        "{found:?}"
    );
    // An allowed difference that does not occur is no reservation.
    let mut run = run_with(&CASES, behaving(correct));
    run.configuration.allow = vec![Difference::NanCanonicalised];
    assert_eq!(statement(&run).conformity, Conformity::Conforms);

    let canonicalised = Class::Output(Difference::NanCanonicalised);
    let known = known("nans", "operator == SLICE1", canonicalised, Applies::default());
    let mut run = run_with(&[SPECIAL, STRIDE_ZERO], canonical());
    run.configuration.known = known.clone();
    let found = statement(&run);
    assert_eq!(
        (found.conformity, reservations(&found)),
        (Conformity::WithReservations, vec![("known-failure", "nans", 1)])
    );
    // If a known failure passes, the run makes no statement until its file is changed. Bytes have no NaN that
    // could show the failure.
    let mut run = run_with(&[SPECIAL, BYTES], behaving(correct));
    run.configuration.known = known.clone();
    assert_eq!(state_at("6.4", &run), Err(Withheld::KnownPassed(1)));
    // A failure prevents conformance, whatever else passes.
    let mut run = run_with(&[SPECIAL, STRIDE_ZERO], spoiling(|job, _| job.outcome = Outcome::Accepted));
    run.configuration.known = known;
    assert_eq!(statement(&run).conformity, Conformity::DoesNotConform);
}

#[test]
fn whatever_is_unexpected_is_counted_by_operator_and_class() {
    let backend = spoiling(|job, _| match job.desc.signature.operator.as_str() {
        "SLICE" => job.outcome = Outcome::Crashed("it fell".into()),
        "SLICE1" if !job.runs.is_empty() => job.outcome = Outcome::Accepted,
        _ => {}
    });
    let found = statement(&run_with(&[REVERSAL, BYTES, EMPTY_WINDOW, STRIDE_ZERO, WRAP], backend));
    assert_eq!(found.conformity, Conformity::DoesNotConform);
    let failing = |operator: &str, verdict, class, cases| Failing {
        operator: operator.to_owned(),
        verdict,
        class: Some(class),
        cases,
    };
    assert_eq!(
        found.failing,
        [
            failing("SLICE", Verdict::Crash, Class::Crashed, 1),
            failing("SLICE1", Verdict::Fail, Class::NotRun, 2),
        ]
    );
}

/// For any number of ways to fail, every failed case is counted with its operator.
#[test]
fn what_fails_in_too_many_ways_is_still_counted() {
    // Each combination of seven ways to break a desc is a group.
    let broken = |ways: u32| {
        let way = |place: u32, text: &'static str| if ways >> place & 1 == 1 { text } else { "" };
        format!(
            "SLICE UINT8 in=4 out=4{}{}{}{} Offsets={} Sizes={} Strides={} fill=iota",
            way(0, " InputTensor.TotalTensorSizeInBytes=0"),
            way(1, " OutputTensor.TotalTensorSizeInBytes=0"),
            way(2, " InputTensor.GuaranteedBaseOffsetAlignment=3"),
            way(3, " OutputTensor.GuaranteedBaseOffsetAlignment=3"),
            if ways >> 4 & 1 == 1 { "0,0" } else { "0" },
            if ways >> 5 & 1 == 1 { "4,4" } else { "4" },
            if ways >> 6 & 1 == 1 { "1,1" } else { "1" },
        )
    };
    let lines: Vec<String> = (1..128).map(broken).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let found = statement(&run_with(&lines, spoiling(|job, _| job.outcome = Outcome::Accepted)));
    let all: u64 = found.failing.iter().map(|failing| failing.cases).sum();
    assert_eq!((all, found.failing.len()), (127, 2), "{found:?}");
    assert!(found.failing.iter().all(|failing| failing.operator == "SLICE"));
    assert_eq!(found.failing[1].class, None, "there is no room for so many groups");
}

#[test]
fn what_only_a_higher_level_makes_valid_is_not_asked_of_a_backend_that_has_it() {
    let mut run = run_with(&[REVERSAL, WRAP], behaving(correct));
    run.configuration.level = Some("5.0".parse().expect("a level"));
    let found = state_at("5.0", &run).expect("it is complete");
    assert_eq!((found.conformity, found.above), (Conformity::Conforms, 1));
    // A missing case was not run, either.
    let more = run_with(&[REVERSAL, WRAP, WRAP], behaving(correct));
    let counted = claim(&more, "5.0").state(run.library, &summary(&run));
    assert!(matches!(counted, Err(Withheld::Miscounted { ran: 2, promised: 3, .. })), "{counted:?}");
    // At its own level, no case may be left out.
    assert!(matches!(state_at("6.4", &run), Err(Withheld::Miscounted { ran: 0, promised: 1, .. })));
}

#[test]
fn a_run_that_did_not_put_every_case_to_the_backend_says_nothing() {
    let mut run = run_with(&CASES, behaving(correct));
    run.configuration.limit = Some(2);
    assert_eq!(state_at("6.4", &run), Err(Withheld::Short));
    let mut run = run_with(&CASES, behaving(correct));
    run.configuration.partition = Partition::new(1, 2);
    assert_eq!(state_at("6.4", &run), Err(Withheld::Part));
    let lost = run_with(&CASES, Arc::new(|_| Err("gone".to_owned().into())));
    assert!(dmlcts_runner::run(&lost, &mut |_| {}).is_err());
    let mut run = run_with(&CASES, spoiling(|job, _| job.outcome = Outcome::Crashed("no".into())));
    run.configuration.max_failures = Some(1);
    assert_eq!(state_at("6.4", &run), Err(Withheld::Short));
    // One case more or less than the profile has.
    let (fewer, all) = (run_with(&CASES[1..], behaving(correct)), run_with(&CASES, behaving(correct)));
    let counted = claim(&all, "6.4").state(all.library, &summary(&fewer));
    assert!(matches!(counted, Err(Withheld::Miscounted { ran: 2, promised: 3, .. })), "{counted:?}");
    let counted = claim(&fewer, "6.4").state(all.library, &summary(&all));
    assert!(matches!(counted, Err(Withheld::Miscounted { ran: 3, promised: 2, .. })), "{counted:?}");
}
