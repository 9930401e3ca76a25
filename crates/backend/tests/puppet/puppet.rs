//! A backend process that misbehaves on request, for the tests of the host.
//!
//! `dmlcts-puppet each` answers each case as it is done, `dmlcts-puppet batch` all of them together, and `dmlcts-puppet packed`
//! does so, and wants to be asked in words. The second argument is the path of a file that remembers from one process to the
//! next.

mod trouble;

use std::{
    env, fs,
    io::{self, Write},
    path::Path,
    process, thread,
    time::Duration,
};

use dmlcts_backend::{
    Batch, Capabilities, Job, Limits,
    protocol::{Bounds, Frame, Hello, Kind, Results, prefix, read_packed, read_run, write_frame},
};
use dmlcts_model::{DataType, ErrorCode, FeatureLevel, Outcome, Phase};

use trouble::{Trouble, signatures};

fn main() -> io::Result<()> {
    let arguments: Vec<String> = env::args().collect();
    let way = arguments.get(1).map_or("each", String::as_str);
    let memory = arguments.get(2).map(Path::new);
    let has_run = memory.is_some_and(Path::exists);
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let bounds = Bounds { header: 1 << 20, body: 1 << 20 };
    while let Some(frame) = Frame::read(&mut input, bounds).map_err(io::Error::other)? {
        match frame.kind {
            Kind::Hello if way == "dies-at-second-start" && has_run => process::exit(9),
            Kind::Hello => {
                let name = if way == "fickle" && has_run { "another" } else { "puppet" };
                let mut hello = Hello { packed: way == "packed", ..hello(name) };
                hello.limits.busy_cases = (way == "busy").then_some(2000);
                write_frame(&mut output, Kind::Hello, &serde_json::to_vec(&hello)?, &[])?;
            }
            Kind::Run | Kind::Packed if is_broken(memory) => process::exit(5),
            Kind::Run | Kind::Packed => {
                let is_packed = frame.kind == Kind::Packed;
                if is_packed != (way == "packed") {
                    return Err(io::Error::other("it is asked in another way than it wants"));
                }
                let mut batch = Batch::default();
                let read = if is_packed { read_packed } else { read_run };
                read(&frame.header, &frame.body, &signatures(), &mut batch, 1 << 20)
                    .map_err(io::Error::other)?;
                let (jobs, inputs, outputs) = batch.parts();
                let mut answered = 0;
                for place in 0..jobs.len() {
                    act(&mut jobs[place], inputs, outputs, &mut output, memory)?;
                    if way != "batch" && way != "packed" {
                        answer(&jobs[place..=place], outputs, &mut output)?;
                        answered = place + 1;
                    }
                }
                if answered < jobs.len() {
                    answer(jobs, outputs, &mut output)?;
                }
            }
            Kind::Level => {}
            Kind::Results | Kind::Bye => return Ok(()),
        }
    }
    Ok(())
}

/// Whether an earlier process was asked for [`Trouble::Breaks`].
fn is_broken(memory: Option<&Path>) -> bool {
    memory.is_some_and(|path| fs::read(path).is_ok_and(|said| said == b"broken"))
}

fn hello(name: &str) -> Hello {
    Hello::from(&Capabilities {
        name: name.to_owned(),
        version: "1".to_owned(),
        device: String::new(),
        driver: String::new(),
        feature_level: FeatureLevel::NEWEST,
        can_set_feature_level: false,
        operators: Some(vec!["COPY".to_owned()]),
        data_types: vec![DataType::UINT8],
        lacks: Vec::new(),
        ranks: 1..=1,
        limits: Limits::default(),
    })
}

/// Copies, or does what the case asks for.
fn act(
    job: &mut Job,
    inputs: &[u8],
    outputs: &mut [u8],
    stdout: &mut impl Write,
    memory: Option<&Path>,
) -> io::Result<()> {
    job.outcome = if job.runs.is_empty() { Outcome::Accepted } else { Outcome::Output };
    let trouble = trouble(job);
    let results = serde_json::to_vec(&Results::of(std::slice::from_ref(job)))?;
    match trouble {
        Trouble::None | Trouble::AnswersTwice => {}
        Trouble::Refuses => {
            let (phase, code) = (Phase::Create, ErrorCode::INVALID_ARGUMENT);
            job.outcome = Outcome::Rejected { phase, code, reason: "as it was told".into() };
        }
        Trouble::Ends => {
            writeln!(io::stderr(), "loading\nZeroDivisionError: division by zero")?;
            process::exit(3);
        }
        Trouble::Aborts => process::abort(),
        Trouble::Hangs => thread::sleep(Duration::from_secs(3600)),
        Trouble::Prints => writeln!(stdout, "case done")?,
        Trouble::CutsShort => {
            stdout.write_all(&prefix(Kind::Results, 1000, 0))?;
            stdout.flush()?;
            process::exit(0);
        }
        Trouble::Announces => stdout.write_all(&prefix(Kind::Results, results.len(), 1 << 60))?,
        Trouble::AnswersTooMany => {
            let outcome = ["accepted"; 1000].join("\",\"");
            write_frame(stdout, Kind::Results, format!("{{\"outcome\":[\"{outcome}\"]}}").as_bytes(), &[])?;
        }
        Trouble::Floods => loop {
            write_frame(stdout, Kind::Results, br#"{"outcome":["accepted"]}"#, &[])?;
        },
        Trouble::Babbles => write_frame(stdout, Kind::Results, b"{\"outcome\":[\"maybe\"]}", &[])?,
        Trouble::SendsTooFewBytes => write_frame(stdout, Kind::Results, &results, &[1])?,
        Trouble::Repeats => {
            write_frame(stdout, Kind::Hello, &serde_json::to_vec(&hello("puppet"))?, &[])?;
        }
        Trouble::EndsOnce => {
            if let Some(path) = memory.filter(|path| !path.exists()) {
                fs::write(path, b"")?;
                process::exit(4);
            }
        }
        Trouble::Breaks => {
            if let Some(path) = memory {
                fs::write(path, b"broken")?;
            }
            process::exit(5);
        }
        Trouble::LeavesAnother => leave("sleep", &["50"], memory)?,
        Trouble::LeavesAStranger => leave("setsid", &["sleep", "5"], memory)?,
    }
    for run in job.runs.iter().filter(|_| job.outcome == Outcome::Output) {
        outputs[run.output.clone()].copy_from_slice(&inputs[run.input.clone()]);
    }
    Ok(())
}

/// Starts a program, writes down its number, and ends.
fn leave(program: &str, arguments: &[&str], memory: Option<&Path>) -> io::Result<()> {
    let left = process::Command::new(program).args(arguments).spawn()?;
    if let Some(path) = memory {
        fs::write(path, left.id().to_string())?;
    }
    process::exit(3);
}

/// What a case asks for.
fn trouble(job: &Job) -> Trouble {
    let code = job.desc.integer("Trouble").unwrap_or(0);
    Trouble::ALL.get(usize::try_from(code).unwrap_or(0)).copied().unwrap_or(Trouble::None)
}

fn answer(jobs: &[Job], outputs: &[u8], stdout: &mut impl Write) -> io::Result<()> {
    let runs = jobs.iter().filter(|job| job.outcome == Outcome::Output).flat_map(|job| &job.runs);
    let body: Vec<u8> = runs.flat_map(|run| outputs[run.output.clone()].to_vec()).collect();
    let mut frame = Vec::new();
    write_frame(&mut frame, Kind::Results, &serde_json::to_vec(&Results::of(jobs))?, &body)?;
    let times = if jobs.iter().any(|job| trouble(job) == Trouble::AnswersTwice) { 2 } else { 1 };
    stdout.write_all(&frame.repeat(times))?;
    stdout.flush()
}
