//! `cargo bench -p dmlcts --bench directml` measures cases per second in whole runs on DirectML. One kind of
//! desc is created and refused (negative cases); the other is tiny, compiled and dispatched. Both run on
//! threads of one process and in worker processes.
//!
//! An argument after `--` is the part after `directml:` elsewhere, as in `warp`. The argument `stand-in`
//! replaces DirectML by the project's own library; the figures then describe the stand-in and the device
//! behind Direct3D. A run continues as long as it is measured, and its own progress reports are the clock, so
//! that no figure includes the start. It prints the median of some seconds, and the slowest and fastest of
//! them.
//!
//! On lavapipe, making or dropping a view of a buffer waits for the list that is executing, since both take
//! the lock of the queue. So a second thread gains nothing with a dispatch if the library makes views while a
//! list is recorded.

use std::{
    env,
    error::Error,
    io::{self, Write},
    process::{Command as Program, ExitCode},
    sync::Arc,
    time::{Duration, Instant},
};

use dmlcts_backend::{
    Backend, Capabilities, Purpose,
    process::{Command, Launcher},
};
use dmlcts_directml::{DirectMl, Options, marshal::Marshalled};
use dmlcts_generate::Suite;
use dmlcts_model::{Case, FeatureLevel, line};
use dmlcts_runner::{CaseSource, Configuration, Cursor, Ending, Event, Factory, Run, Stop, SuiteSource};
use dmlcts_spec::{Library, Source, Validity};

/// Each clause is broken alone. A valid desc comes with each broken one, and is left out.
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

/// The number of cases of a kind, which repeat during a run. A backend keeps thousands of compiled operators:
/// with more cases than that, each is compiled anew.
const CASES: usize = 50_000;
/// The time before measurement, in which a run starts processes, creates devices and fills caches.
const WARM: Duration = Duration::from_secs(2);
/// The length of a window. Each of the [`WINDOWS`] windows gives one figure.
const WINDOW: Duration = Duration::from_secs(1);
const WINDOWS: usize = 5;

/// Repeats the same cases without end.
struct Round(Arc<[Case]>);

impl CaseSource for Round {
    fn count(&self) -> Option<u64> {
        None
    }

    fn strategies(&self) -> Vec<String> {
        vec!["measured".to_owned()]
    }

    fn cursor(&self) -> Box<dyn Cursor + '_> {
        Box::new(Round(Arc::clone(&self.0)))
    }
}

impl Cursor for Round {
    fn read(&mut self, index: u64, case: &mut Case) -> usize {
        let mut cases = &*self.0;
        let place = index % cases.len() as u64;
        cases.read(place, case)
    }
}

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
    let backend = format!("directml:{words}");
    let program = env!("CARGO_BIN_EXE_dmlcts");
    let command = Command::of(program.as_ref(), &["serve", "--backend", &backend], "dmlcts serve");
    let launcher = Arc::new(Launcher::new(command, Duration::from_secs(60)));
    is_the_same(capabilities, launcher.host(Purpose::Cases)?.capabilities(), program)?;
    let at_home: Arc<Factory> = Arc::new(move |_| Ok(Box::new(directml.backend())));
    let in_processes: Arc<Factory> = Arc::new(move |purpose| Ok(Box::new(launcher.host(purpose)?)));
    write!(out, "{:<34}", "cases a second")?;
    for head in ["1 thread", "2 threads", "1 process", "2 processes"] {
        write!(out, "{head:>27}")?;
    }
    writeln!(out)?;
    for (kind, cases) in &kinds {
        write!(out, "{kind:<34}")?;
        for factory in [&at_home, &in_processes] {
            for jobs in [1, 2] {
                let [slowest, median, fastest] = rates(cases, factory, jobs)?;
                write!(out, "{:>27}", format!("{median:.0} ({slowest:.0} to {fastest:.0})"))?;
                out.flush()?;
            }
        }
        writeln!(out)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Starts this program again with the library that Cargo built beside it.
fn with_stand_in(words: &[String]) -> Result<ExitCode, Box<dyn Error>> {
    let own = env::current_exe()?;
    let library = own.with_file_name("directml_stand_in.dll");
    let status = Program::new(&own).args(words).env("DMLCTS_DIRECTML", library).status()?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Checks that processes load the same library: one beside the program takes precedence over the named one.
fn is_the_same(threads: &Capabilities, processes: &Capabilities, program: &str) -> Result<(), String> {
    let [here, there] = [threads, processes].map(|known| format!("{} {}", known.name, known.version));
    if here == there {
        return Ok(());
    }
    Err(format!(
        "worker processes have another library than threads, so that one table would be about both: {there} ({}), and not {here} ({}); \
         take away the DirectML.dll beside `{program}`, or name it in DMLCTS_DIRECTML",
        processes.driver, threads.driver
    ))
}

/// The first cases of a suite with this validity that reach `CreateOperator`.
fn cases(suite: &str, level: FeatureLevel, wanted: Validity) -> Result<Arc<[Case]>, Box<dyn Error>> {
    let library = Library::embedded();
    let suite = Suite::parse(&Source::new("measured.yaml", suite))?;
    let parts = SuiteSource::new(suite.expand(library, 0)?, &[]);
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
        if found.len() == CASES {
            break;
        }
    }
    // A backend keeps nothing of a refused desc, so that a few are enough.
    if found.is_empty() || (wanted == Validity::Valid && found.len() < CASES) {
        return Err(format!("the suite has only {} such cases", found.len()).into());
    }
    Ok(found.into())
}

/// Cases per second in the slowest, the median and the fastest window of one run.
fn rates(cases: &Arc<[Case]>, factory: &Arc<Factory>, jobs: usize) -> Result<[f64; 3], Box<dyn Error>> {
    let stop = Stop::default();
    let run = Run {
        library: Library::embedded(),
        source: Arc::new(Round(Arc::clone(cases))),
        backend: Arc::clone(factory),
        configuration: Configuration { jobs, ..Configuration::default() },
        stop: stop.clone(),
    };
    let mut first = None;
    // The start of the present window, and the number of cases at that time.
    let mut window: Option<(Instant, u64)> = None;
    let mut rates = Vec::new();
    let summary = dmlcts_runner::run(&run, &mut |event| {
        let Event::Progress(totals) = event else { return };
        let now = Instant::now();
        if now - *first.get_or_insert(now) < WARM || rates.len() == WINDOWS {
            return;
        }
        let (began, cases) = *window.get_or_insert((now, totals.progress.ran));
        let elapsed = now - began;
        if elapsed >= WINDOW {
            rates.push((totals.progress.ran - cases) as f64 / elapsed.as_secs_f64());
            window = Some((now, totals.progress.ran));
        }
        if rates.len() == WINDOWS {
            stop.request(Ending::Timeout);
        }
    })?;
    if summary.tally().unexpected() != 0 {
        return Err(format!("cases fail, so that nothing is said of speed: {:?}", summary.groups).into());
    }
    rates.sort_by(f64::total_cmp);
    match rates[..] {
        [slowest, .., fastest] => Ok([slowest, rates[rates.len() / 2], fastest]),
        _ => Err("the run ended before it was measured".into()),
    }
}
