//! What a process costs: tiny random cases a second through a whole run, with the reference at home, behind the protocol,
//! and with a Python backend that echoes its input. Best of several rounds, since starting counts once a run.
//!
//! `cargo bench -p dmlcts --bench processes`; `DMLCTS_PYTHON` names an interpreter other than `python3`.

use std::{sync::Arc, time::Duration};

use dmlcts_backend::process::{Command, Launcher};
use dmlcts_generate::Suite;
use dmlcts_reference::Reference;
use dmlcts_runner::{Configuration, Factory, Parts, Run, Stop};
use dmlcts_spec::{Library, Source};

const SUITE: &str = "
suite: tiny
purpose: How fast a whole run is.
parts:
  - {id: random, strategy: random, elements: 64}
";

const CASES: u64 = 500_000;
const ROUNDS: u32 = 4;

fn process(command: &str) -> Arc<Factory> {
    let command = Command::parse(command).expect("a command");
    let launcher = Arc::new(Launcher::new(command, Duration::from_secs(60)));
    Arc::new(move || Ok(Box::new(launcher.host()?)))
}

fn main() {
    let library = Library::embedded();
    let suite = Suite::parse(&Source::new("tiny.yaml", SUITE)).expect("the suite is one");
    let parts = Arc::new(Parts::new(suite.expand(library, 0).expect("the suite expands"), &[]));
    let python = std::env::var("DMLCTS_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let echo = concat!(env!("CARGO_MANIFEST_DIR"), "/../backend/python/echo_backend.py");
    let backends: [(&str, Arc<Factory>); 3] = [
        ("reference", Arc::new(|| Ok(Box::new(Reference::backend())))),
        ("reference in a process", process(&format!("'{}' serve", env!("CARGO_BIN_EXE_dmlcts")))),
        ("echo in Python", process(&format!("'{python}' '{echo}'"))),
    ];
    for jobs in [1, 2] {
        for (name, backend) in &backends {
            let mut best = 0.0_f64;
            for _ in 0..ROUNDS {
                let run = Run {
                    library,
                    source: Arc::clone(&parts) as Arc<_>,
                    backend: Arc::clone(backend),
                    configuration: Configuration {
                        jobs,
                        limit: Some(CASES),
                        shrink: false,
                        ..Configuration::default()
                    },
                    stop: Stop::default(),
                };
                match dmlcts_runner::run(&run, &mut |_| {}) {
                    Ok(summary) => {
                        best = best
                            .max(summary.totals.progress.ran as f64 / summary.totals.elapsed.as_secs_f64());
                    }
                    Err(error) => println!("{name}: {error}"),
                }
            }
            println!("{name:24} {jobs} thread(s) {best:9.0} cases/s");
        }
    }
}
