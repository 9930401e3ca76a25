//! A backend process that misbehaves on request, for the tests of the host.
//!
//! The first argument is the way to answer. `dmlcts-puppet each` answers each case as it is done, and
//! `dmlcts-puppet batch` all together. `dmlcts-puppet ahead` also answers all together, and declares `packed`
//! and `ahead`. `dmlcts-puppet two` answers large batches in pairs. `fails-at-end`, `aborts-at-end`, `leaks`,
//! `prints-at-end`, `repeats-at-end` and `stays` misbehave when they are told to end.
//!
//! The second argument is the path of a file that keeps state from one process to the next.

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
    protocol::{
        Bounds, Frame, FrameKind, Hello, OutcomeWord, PhaseForm, PhaseWord, Results, prefix, read_packed,
        read_run, write_frame,
    },
};
use dmlcts_model::{DataType, ErrorCode, FeatureLevel, Outcome, Phase};

use trouble::{Trouble, signatures};

/// `two` holds its answer to a batch of this number of cases until it has the next batch.
const LARGE: usize = 5;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = env::args().collect();
    let way = arguments.get(1).map_or("each", String::as_str);
    let memory = arguments.get(2).map(Path::new);
    let has_run = memory.is_some_and(Path::exists);
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let bounds = Bounds { header: 1 << 20, body: 1 << 20 };
    let is_ahead = way == "ahead" || way == "two";
    let mut held = None;
    while let Some(frame) = Frame::read(&mut input, bounds).map_err(io::Error::other)? {
        match frame.kind {
            FrameKind::Hello if way == "dies-at-second-start" && has_run => process::exit(9),
            FrameKind::Hello => {
                let is_another = way == "fickle" && has_run;
                let name = if is_another { "another" } else { "puppet" };
                let mut hello = Hello { packed: is_ahead, ahead: is_ahead, ..hello(name) };
                let compiles = way == "compiles" || way == "phases";
                hello.limits.create_timeout = compiles.then_some(600_000);
                hello.limits.busy_cases = (way == "busy" || is_another).then_some(2000);
                write_frame(&mut output, FrameKind::Hello, &serde_json::to_vec(&hello)?, &[])?;
            }
            FrameKind::Run | FrameKind::Packed if is_broken(memory) => process::exit(5),
            FrameKind::Run | FrameKind::Packed => {
                if (frame.kind == FrameKind::Packed) != is_ahead {
                    return Err(io::Error::other("it is asked in another way than it wants"));
                }
                let question = Question::read(&frame)?;
                if way == "two" && held.is_none() && question.batch.jobs().len() >= LARGE {
                    held = Some(question);
                    continue;
                }
                let mut answers = Vec::new();
                for mut question in held.take().into_iter().chain([question]) {
                    // Held answers are sent in one write.
                    let output: &mut dyn Write = if way == "two" { &mut answers } else { &mut output };
                    let is_each = !is_ahead && !["batch", "compiles", "phases"].contains(&way);
                    question.answer(is_each, way == "phases", memory, output)?;
                }
                output.write_all(&answers)?;
                output.flush()?;
            }
            FrameKind::Level => {}
            FrameKind::Bye => return take_leave(way),
            FrameKind::Phase | FrameKind::Results => return Ok(()),
        }
    }
    Ok(())
}

/// Ends in the requested way.
fn take_leave(way: &str) -> io::Result<()> {
    match way {
        "fails-at-end" => process::exit(1),
        "aborts-at-end" => process::abort(),
        "leaks" => {
            writeln!(
                io::stderr(),
                "==7==ERROR: LeakSanitizer: detected memory leaks\n\nSUMMARY: 12 bytes leaked"
            )?;
            process::exit(23);
        }
        "prints-at-end" => writeln!(io::stdout(), "12 cases done, 0 failed")?,
        "repeats-at-end" => {
            write_frame(&mut io::stdout(), FrameKind::Hello, &serde_json::to_vec(&hello("puppet"))?, &[])?;
        }
        "stays" => thread::sleep(Duration::from_secs(3600)),
        _ => {}
    }
    Ok(())
}

/// Ends this process as another one would: with SIGKILL, where there are signals.
fn kill() {
    #[cfg(unix)]
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
}

/// Whether an earlier process had a case with [`Trouble::Breaks`].
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
        is_isolated: false,
    })
}

/// Cases, and the number of their run.
struct Question {
    batch: Batch,
    number: Option<u64>,
}

impl Question {
    fn read(frame: &Frame) -> io::Result<Self> {
        let mut batch = Batch::default();
        let read = if frame.kind == FrameKind::Packed { read_packed } else { read_run };
        let number = read(&frame.header, &frame.body, &signatures(), &mut batch, 1 << 20);
        Ok(Self { batch, number: number.map_err(io::Error::other)? })
    }

    /// Runs the cases, and answers each as it is done, or all together.
    fn answer(
        &mut self,
        each: bool,
        has_phases: bool,
        memory: Option<&Path>,
        mut output: &mut dyn Write,
    ) -> io::Result<()> {
        let (jobs, inputs, outputs) = self.batch.parts();
        let is_wrong = jobs.len() > 1 && jobs.iter().any(|job| trouble(job) == Trouble::SpeaksAnother);
        let mut answered = 0;
        for place in 0..jobs.len() {
            if has_phases {
                enter(PhaseWord::Create, output)?;
                if trouble(&jobs[place]) == Trouble::Compiles {
                    thread::sleep(Duration::from_secs(2));
                }
                enter(PhaseWord::Execute, output)?;
            }
            act(&mut jobs[place], inputs, outputs, self.number, &mut output, memory)?;
            if is_wrong {
                jobs[place].runs.iter().for_each(|run| outputs[run.output.clone()].fill(0));
            }
            if each {
                answer(&jobs[place..=place], outputs, self.number, &mut output)?;
                answered = place + 1;
            }
        }
        if answered < jobs.len() { answer(jobs, outputs, self.number, &mut output) } else { Ok(()) }
    }
}

/// Says that a phase begins.
fn enter(phase: PhaseWord, output: &mut dyn Write) -> io::Result<()> {
    write_frame(&mut &mut *output, FrameKind::Phase, &serde_json::to_vec(&PhaseForm { phase })?, &[])
}

/// Copies the input, or does what the case asks for.
fn act(
    job: &mut Job,
    inputs: &[u8],
    outputs: &mut [u8],
    number: Option<u64>,
    stdout: &mut impl Write,
    memory: Option<&Path>,
) -> io::Result<()> {
    job.outcome = if job.runs.is_empty() { Outcome::Accepted } else { Outcome::Output };
    let trouble = trouble(job);
    let results = serde_json::to_vec(&Results { number, ..Results::of(std::slice::from_ref(job)) })?;
    let accepted = |cases: usize| {
        let outcome = vec![OutcomeWord::Accepted; cases];
        serde_json::to_vec(&Results { outcome, number, ..Results::default() })
    };
    match trouble {
        Trouble::None | Trouble::AnswersTwice | Trouble::Compiles => {}
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
            stdout.write_all(&prefix(FrameKind::Results, 1000, 0))?;
            stdout.flush()?;
            process::exit(0);
        }
        Trouble::Announces => stdout.write_all(&prefix(FrameKind::Results, results.len(), 1 << 60))?,
        Trouble::AnswersTooMany => {
            write_frame(stdout, FrameKind::Results, &accepted(1000)?, &[])?;
        }
        Trouble::Floods => {
            let mut frame = Vec::new();
            write_frame(&mut frame, FrameKind::Results, &accepted(1)?, &[])?;
            // Many at once, so that the host always finds another one behind its answers.
            let frames = frame.repeat(1000);
            loop {
                stdout.write_all(&frames)?;
            }
        }
        Trouble::Babbles => write_frame(stdout, FrameKind::Results, b"{\"outcome\":[\"maybe\"]}", &[])?,
        Trouble::SendsTooFewBytes => write_frame(stdout, FrameKind::Results, &results, &[1])?,
        Trouble::Repeats => {
            write_frame(stdout, FrameKind::Hello, &serde_json::to_vec(&hello("puppet"))?, &[])?;
        }
        Trouble::Misnumbers => {
            let results = Results { number: Some(77), ..Results::of(std::slice::from_ref(job)) };
            write_frame(stdout, FrameKind::Results, &serde_json::to_vec(&results)?, &[])?;
        }
        Trouble::EndsOnce => {
            if let Some(path) = memory.filter(|path| !path.exists()) {
                fs::write(path, b"")?;
                process::exit(4);
            }
        }
        Trouble::IsKilledOnce => {
            if let Some(path) = memory.filter(|path| !path.exists()) {
                fs::write(path, b"")?;
                kill();
            }
        }
        Trouble::IsKilled => kill(),
        // Written, because the system gives memory only when it is used.
        Trouble::TakesMemory => std::mem::forget(vec![1_u8; 256 << 20]),
        Trouble::Breaks => {
            if let Some(path) = memory {
                fs::write(path, b"broken")?;
            }
            process::exit(5);
        }
        Trouble::ClosesOutput => {
            #[cfg(unix)]
            rustix::stdio::dup2_stdout(io::stderr())?;
            thread::sleep(Duration::from_secs(3600));
        }
        Trouble::TakesLong => thread::sleep(Duration::from_millis(100)),
        Trouble::HangsOnce => {
            if let Some(path) = memory.filter(|path| !path.exists()) {
                fs::write(path, b"")?;
                thread::sleep(Duration::from_secs(3600));
            }
        }
        Trouble::SpeaksAnother => stdout.write_all(b"\xf7dmlcts2results ")?,
        Trouble::EntersForever => loop {
            enter(PhaseWord::Execute, stdout)?;
        },
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

fn answer(jobs: &[Job], outputs: &[u8], number: Option<u64>, stdout: &mut impl Write) -> io::Result<()> {
    let runs = jobs.iter().filter(|job| job.outcome == Outcome::Output).flat_map(|job| &job.runs);
    let body: Vec<u8> = runs.flat_map(|run| outputs[run.output.clone()].to_vec()).collect();
    let mut frame = Vec::new();
    write_frame(
        &mut frame,
        FrameKind::Results,
        &serde_json::to_vec(&Results { number, ..Results::of(jobs) })?,
        &body,
    )?;
    let times = if jobs.iter().any(|job| trouble(job) == Trouble::AnswersTwice) { 2 } else { 1 };
    stdout.write_all(&frame.repeat(times))?;
    stdout.flush()
}
