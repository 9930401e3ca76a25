//! Measures the cost of processes: tiny random cases per second in a whole run. The reference runs in this
//! process and behind the protocol, wgpu and a Python backend that echoes its input run behind the protocol.
//! It prints the minimum, the median and the maximum of several rounds.
//!
//! `cargo bench -p dmlcts --bench processes`; `DMLCTS_PYTHON` names an interpreter other than `python3`. It
//! exits with code 1 if a backend does not run or its cases fail.

use std::{process::ExitCode, sync::Arc, time::Duration};

use dmlcts_backend::process::{Command, Launcher};
use dmlcts_generate::Suite;
use dmlcts_reference::Reference;
use dmlcts_runner::{Configuration, Factory, Run, Stop, SuiteSource};
use dmlcts_spec::{Library, Source};

const SUITE: &str = "
suite: tiny
purpose: How fast a whole run is.
parts:
  - {id: random, strategy: random, elements: 64}
";

const ROUNDS: usize = 3;

/// A printed row.
struct Row {
    name: &'static str,
    backend: Arc<Factory>,
    /// The number of cases for each thread: a few seconds of them, so that the start, which counts once for
    /// each run, is a small part.
    cases: u64,
    /// Whether the backend returns its input as its output, so that most of its cases fail.
    is_wrong: bool,
    /// The goal for two threads, in cases per second.
    asked: &'static str,
}

fn process(command: &str) -> Arc<Factory> {
    let command = Command::parse(command).expect("a command");
    let launcher = Arc::new(Launcher::new(command, Duration::from_secs(60)));
    Arc::new(move |purpose| Ok(Box::new(launcher.host(purpose)?)))
}

fn rows() -> Vec<Row> {
    let python = std::env::var("DMLCTS_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let echo = concat!(env!("CARGO_MANIFEST_DIR"), "/../backend/python/echo_backend.py");
    let serve = |options: &str| process(&format!("'{}' serve{options}", env!("CARGO_BIN_EXE_dmlcts")));
    let row = |name, backend, cases, asked| Row { name, backend, cases, is_wrong: false, asked };
    vec![
        row("reference", Arc::new(|_| Ok(Box::new(Reference::backend()))), 4_000_000, "2.00 million"),
        row("reference in a process", serve(""), 3_000_000, "0.70 million"),
        #[cfg(feature = "wgpu")]
        row("wgpu in a process", serve(" --backend wgpu"), 2_000_000, "0.40 million, on lavapipe"),
        Row {
            is_wrong: true,
            ..row("echo in Python", process(&format!("'{python}' '{echo}'")), 500_000, "0.15 million")
        },
    ]
}

fn main() -> ExitCode {
    let library = Library::embedded();
    let suite = Suite::parse(&Source::new("tiny.yaml", SUITE)).expect("the suite is one");
    let parts = Arc::new(SuiteSource::new(suite.expand(library, 0).expect("the suite expands"), &[]));
    let mut ended = ExitCode::SUCCESS;
    for jobs in [1, 2] {
        for Row { name, backend, cases, is_wrong, asked } in rows() {
            let mut rates = Vec::new();
            for _ in 0..ROUNDS {
                let run = Run {
                    library,
                    source: Arc::clone(&parts) as Arc<_>,
                    backend: Arc::clone(&backend),
                    configuration: Configuration {
                        jobs,
                        limit: Some(cases * jobs as u64),
                        ..Configuration::default()
                    },
                    stop: Stop::default(),
                };
                match dmlcts_runner::run(&run, &mut |_| {}) {
                    Ok(summary) if is_wrong || summary.totals.verdicts().unexpected() == 0 => {
                        rates.push(summary.totals.progress.ran as f64 / summary.totals.elapsed.as_secs_f64());
                    }
                    Ok(summary) => {
                        println!("{name}: {} cases failed", summary.totals.verdicts().unexpected());
                        ended = ExitCode::FAILURE;
                    }
                    Err(error) => {
                        println!("{name}: {error}");
                        ended = ExitCode::FAILURE;
                    }
                }
            }
            rates.sort_by(f64::total_cmp);
            if let (Some(least), Some(median), Some(most)) =
                (rates.first(), rates.get(rates.len() / 2), rates.last())
            {
                let [least, median, most] = [least, median, most].map(|rate| rate / 1e6);
                let asked = if jobs == 2 { format!(", asked {asked}") } else { String::new() };
                println!(
                    "{name:24} {jobs} thread(s)  {median:.2} million cases/s ({least:.2} to {most:.2}){asked}"
                );
            }
        }
    }
    ended
}
