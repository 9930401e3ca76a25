//! Explains 100,000 failures among a million cases, from the cases alone. The last line is the peak memory of
//! the process.

use std::{fs, time::Duration};

use criterion::Criterion;
use dmlcts_findings::{Budget, Outcomes, explain};
use dmlcts_generate::{Expansion, Suite};
use dmlcts_model::{Case, FeatureLevel};
use dmlcts_spec::{Library, Predicate, Source, program::Values};

const SUITE: &str = "
suite: million
purpose: A million valid descs.
parts:
  - {id: random, strategy: random, elements: 1024, count: 1000000}
";

/// Two faults, which fail about one case in ten.
const FAULTS: [&str; 2] = [
    "operator == PADDING1 and PaddingMode == REFLECTION and any axis (StartPadding >= 3 and InputTensor.Sizes > 1)",
    "operator == SLICE1 and rank >= 5 and any axis (InputWindowStrides < 0 and OutputTensor.Sizes > 1)",
];

fn cases() -> Expansion<'static> {
    let suite = Suite::parse(&Source::new("million", SUITE)).expect("the suite is right");
    suite.expand(Library::embedded(), 1).expect("the suite can be expanded")
}

fn outcomes(cases: &Expansion<'_>, case: &mut Case) -> Outcomes {
    let library = Library::embedded();
    let faults = FAULTS.map(|text| Predicate::parse(text, library).expect("the predicate is right"));
    let mut values = Values::default();
    let mut outcomes = Outcomes::default();
    for index in 0..1_000_000_u64 {
        assert!(cases.case(index.into(), case).is_some());
        if faults.iter().any(|fault| fault.holds(case, FeatureLevel::NEWEST, &mut values)) {
            outcomes.failures.insert(index, "wrong".to_owned());
        } else {
            outcomes.passes.push(index);
        }
    }
    outcomes
}

fn main() {
    let (cases, library) = (cases(), Library::embedded());
    let mut case = cases.blank().expect("the suite has cases");
    let outcomes = outcomes(&cases, &mut case);
    let failures = outcomes.failures.len();
    println!("{failures} failures among a million cases");
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(1))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    criterion.bench_function("explain a tenth of a million cases", |bencher| {
        bencher.iter(|| {
            let mut read = |index: u64| {
                cases.case(index.into(), &mut case);
                case.clone()
            };
            let causes =
                explain(&outcomes, (library, FeatureLevel::NEWEST), 0, Budget::NONE, &mut read, None);
            assert!(!causes.is_empty());
            causes
        });
    });
    criterion.final_summary();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM:"));
    println!("peak memory: {}", peak.map_or("unknown", |line| line.trim_start_matches("VmHWM:").trim()));
}
