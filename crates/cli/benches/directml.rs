//! `cargo bench -p dmlcts --bench directml`: cases a second through whole runs on DirectML, of descs that are created and refused
//! (negative cases), and of tiny ones that are compiled and dispatched; on threads of one process, and in worker processes.
//!
//! Arguments behind `--`: what stands behind `directml:` elsewhere, as in `warp`, and `stand-in`, which puts the project's own
//! library in the place of DirectML: then the figures are about the stand-in and whatever Direct3D computes on. Starting is not
//! counted: each figure comes of a short run and one that is four times as long, the best of several of each.

use std::{
    env,
    error::Error,
    io::{self, Write},
    process::{Command as Program, ExitCode},
    sync::Arc,
    time::Duration,
};

use dmlcts_backend::process::{Command, Launcher};
use dmlcts_directml::{DirectMl, Options, marshal::Marshalled};
use dmlcts_generate::Suite;
use dmlcts_model::{Case, FeatureLevel, line};
use dmlcts_runner::{Configuration, Factory, Listed, Parts, Run, Source, Stop};
use dmlcts_spec::{Library, Source as Text, Validity};

/// Every clause is broken alone; beside each desc comes a valid one, which is left out.
const NEGATIVE: &str = "
suite: negative
purpose: How fast descs are refused.
parts:
  - {id: negative, strategy: negative, each: 40}
";

const TINY: &str = "
suite: tiny
purpose: How fast tiny cases are.
parts:
  - {id: random, strategy: random, elements: 64}
";

/// So many cases of each kind in a short run, and in a long one. None is in both, since a compiled operator is kept for a while.
const SHORT: usize = 2000;
const LONG: usize = 4 * SHORT;
const ROUNDS: u32 = 4;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    // `cargo bench` adds arguments of its own.
    let mut words: Vec<String> = env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    if let Some(place) = words.iter().position(|word| word == "stand-in") {
        words.remove(place);
        return with_stand_in(&words);
    }
    let words = words.join(",");
    let mut out = io::stdout();
    let directml = match DirectMl::open(&words.parse::<Options>()?) {
        Ok(directml) => directml,
        Err(error) => {
            writeln!(out, "nothing is measured: {error}")?;
            return Ok(ExitCode::SUCCESS);
        }
    };
    let capabilities = directml.capabilities();
    let level = capabilities.feature_level;
    writeln!(out, "backend   {} {}", capabilities.name, capabilities.version)?;
    writeln!(out, "device    {}\n", capabilities.device)?;
    let kinds = [
        ("created and refused", cases(NEGATIVE, level, Validity::Invalid)?),
        ("created, compiled and dispatched", cases(TINY, level, Validity::Valid)?),
    ];
    let at_home: Arc<Factory> = Arc::new(move || Ok(Box::new(directml.backend())));
    let backend = format!("directml:{words}");
    let program = env!("CARGO_BIN_EXE_dmlcts");
    let command = Command::of(program.as_ref(), &["serve", "--backend", &backend], "dmlcts serve");
    let launcher = Arc::new(Launcher::new(command, Duration::from_secs(60)));
    let in_processes: Arc<Factory> = Arc::new(move || Ok(Box::new(launcher.host()?)));
    write!(out, "{:<34}", "cases a second")?;
    for head in ["1 thread", "2 threads", "1 process", "2 processes"] {
        write!(out, "{head:>13}")?;
    }
    writeln!(out)?;
    for (kind, cases) in &kinds {
        write!(out, "{kind:<34}")?;
        for factory in [&at_home, &in_processes] {
            for jobs in [1, 2] {
                write!(out, "{:>13.0}", rate(cases, factory, jobs)?)?;
                out.flush()?;
            }
        }
        writeln!(out)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Starts itself again with the library that Cargo put beside it.
fn with_stand_in(words: &[String]) -> Result<ExitCode, Box<dyn Error>> {
    let own = env::current_exe()?;
    let library = own.with_file_name("directml_stand_in.dll");
    let status = Program::new(&own).args(words).env("DMLCTS_DIRECTML", library).status()?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The first cases of a suite that are judged so, and that reach `CreateOperator`.
fn cases(suite: &str, level: FeatureLevel, wanted: Validity) -> Result<Vec<Case>, Box<dyn Error>> {
    let library = Library::embedded();
    let suite = Suite::parse(&Text::new("measured.yaml", suite))?;
    let parts = Parts::new(suite.expand(library, 0)?, &[]);
    let mut cursor = parts.cursor();
    let first = "SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota";
    let mut case = line::parse(first, library.signatures())?;
    let mut found = Vec::new();
    let mut scratch = dmlcts_spec::Scratch::default();
    for index in 0..parts.count().unwrap_or(u64::MAX) {
        cursor.read(index, &mut case);
        let Some(operator) = library.operator(&case.desc.signature.operator) else { continue };
        let is_wanted = operator.judge(&case.desc, level, &mut scratch).validity() == wanted;
        if is_wanted && Marshalled::new(&case.desc).is_ok() {
            found.push(case.clone());
        }
        if found.len() == SHORT + LONG {
            break;
        }
    }
    // Nothing is kept of a desc that is refused, so that each may come again.
    let distinct = found.len();
    if wanted == Validity::Invalid && distinct > 0 {
        found = found.into_iter().cycle().take(SHORT + LONG).collect();
    }
    if found.len() < SHORT + LONG {
        return Err(format!("the suite has only {distinct} such cases").into());
    }
    Ok(found)
}

/// Cases a second, without what a run takes to start.
fn rate(cases: &[Case], factory: &Arc<Factory>, jobs: usize) -> Result<f64, Box<dyn Error>> {
    let mut best = [f64::MAX; 2];
    for _ in 0..ROUNDS {
        for (cases, best) in [&cases[..SHORT], &cases[SHORT..]].into_iter().zip(&mut best) {
            let run = Run {
                library: Library::embedded(),
                source: Arc::new(Listed::new(cases.to_vec(), "measured")),
                backend: Arc::clone(factory),
                configuration: Configuration { jobs, shrink: false, ..Configuration::default() },
                stop: Stop::default(),
            };
            let summary = dmlcts_runner::run(&run, &mut |_| {})?;
            assert_eq!(summary.tally().unexpected(), 0, "{:?}", summary.groups);
            *best = best.min(summary.totals.elapsed.as_secs_f64());
        }
    }
    let [short, long] = best;
    Ok((LONG - SHORT) as f64 / (long - short))
}
