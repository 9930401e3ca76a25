//! `dmlcts run --results` and `--resume`: a record stays whole whatever happens to the program, the disk or
//! standard output, and each way to end is reported.

use std::{fs, thread, time::Duration};

use dmlcts_tests::wait_until;

#[cfg(target_os = "linux")]
use crate::common::Findings;
use crate::common::{ENDLESS, Scratch, dmlcts, run, stdout, text};

/// A command's output, with the file's name in place of its path.
fn named(arguments: &[&str], file: &Scratch) -> String {
    text(arguments).replace(file.path(), "FILE")
}

/// The case lines of a results file, and its last line without the duration.
fn recorded(file: &Scratch) -> (Vec<String>, String) {
    let text = file.text();
    let cases = text.lines().filter(|line| line.starts_with("{\"case\"")).map(str::to_owned).collect();
    let last = text.lines().next_back().unwrap_or_default();
    let (before, after) = last.split_once("\"milliseconds\":").unwrap_or((last, ""));
    (cases, format!("{before}{}", after.trim_start_matches(|letter: char| letter.is_ascii_digit())))
}

const FEW: [&str; 4] = ["run", "--quiet", "--strategy", "documented"];

fn few<'a>(more: &[&'a str]) -> Vec<&'a str> {
    FEW.iter().chain(more).copied().collect()
}

#[test]
fn a_backend_that_does_not_start_leaves_no_results_file_behind() {
    let file = Scratch::nothing("never-started.jsonl");
    let none = ["run", "--backend", "exec:no-such-program", "--results", file.path()];
    assert_eq!(run(&none).status.code(), Some(3));
    assert!(!std::path::Path::new(file.path()).exists());
    let own = Scratch::new("own.jsonl", "");
    assert_eq!(
        run(&["run", "--backend", "exec:no-such-program", "--results", own.path()]).status.code(),
        Some(3)
    );
    assert_eq!(own.text(), "", "the program did not make it");
}

#[test]
fn a_run_is_recorded_and_another_does_not_write_over_it() {
    let file = Scratch::new("once.jsonl", "");
    assert_eq!(named(&few(&["--results", file.path()]), &file), "exit 0\n");
    let (cases, summary) = recorded(&file);
    assert_eq!(cases.len(), 88);
    assert!(summary.starts_with(r#"{"summary":{"ending":"complete","exit_code":0,"#), "{summary}");
    insta::assert_snapshot!(named(&few(&["--results", file.path()]), &file));
    assert_eq!(recorded(&file).0, cases);
    let other = ["--seed", "7", "--results", file.path(), "--overwrite"];
    assert_eq!(named(&few(&other), &file), "exit 0\n");
    // A complete run continues with no case and has the same result.
    let before = recorded(&file);
    assert_eq!(named(&few(&["--seed", "7", "--resume", file.path()]), &file), "exit 0\n");
    assert_eq!(recorded(&file), before);
}

#[test]
fn a_run_goes_on_only_with_its_like() {
    let file = Scratch::new("like.jsonl", "");
    assert!(run(&few(&["--results", file.path()])).status.success());
    let before = fs::read(file.path()).expect("it is there");
    let others = [
        named(&few(&["--resume", file.path(), "--seed", "3", "--where", "rank == 1"]), &file),
        named(&["run", "--suite", "ci", "--resume", file.path()], &file),
        named(&few(&["--resume", file.path(), "--partition", "1/2", "--memory", "1MiB"]), &file),
        named(
            &[
                "run",
                "--resume",
                file.path(),
                "SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota",
            ],
            &file,
        ),
    ];
    insta::assert_snapshot!(others.join("\n"));
    // The same backend with other options.
    let serve = format!("exec:'{}' serve", env!("CARGO_BIN_EXE_dmlcts"));
    let asked = ["--backend", &serve, "--retries", "7", "--in-process", "--case-timeout", "1m"];
    for (place, difference) in [
        format!("--backend: {serve} here, reference there"),
        "--retries: 7 here, 2 there".to_owned(),
        "--in-process: given here, none there".to_owned(),
        "--case-timeout: 60000ms here, 10000ms there".to_owned(),
    ]
    .iter()
    .enumerate()
    {
        let from = [0, 2, 4, 5, 7];
        let said =
            named(&few(&[&["--resume", file.path()], &asked[from[place]..from[place + 1]]].concat()), &file);
        assert!(said.starts_with("exit 2\n"), "{said}");
        assert!(said.contains(&format!("error: FILE is of another run: {difference}\n")), "{said}");
    }
    assert_eq!(fs::read(file.path()).expect("it is there"), before, "and leaves the file alone");
    // With another backend, the command of the header would also be refused.
    let (own, other) = (r#""name":"reference","version":""#, r#""name":"reference","version":"9"#);
    assert_eq!(file.text().matches(own).count(), 1);
    fs::write(file.path(), file.text().replace(own, other)).expect("it can be written");
    let said = named(&few(&["--resume", file.path()]), &file);
    assert!(
        said.starts_with("exit 2\n") && said.contains("error: FILE is of another run: backend: reference "),
        "{said}"
    );
    assert!(
        said.contains("\n  help: go on with dmlcts and the backend as they were when the run was started"),
        "{said}"
    );
}

#[test]
fn files_that_cannot_be_used_are_named_with_a_remedy() {
    let file = Scratch::new("none.jsonl", "mine\n");
    let missing = Scratch::new("missing.jsonl", "");
    fs::remove_file(missing.path()).expect("it was there");
    let folder = format!("{}/folder/results.jsonl", missing.path());
    let mut shown = named(&few(&["--resume", file.path()]), &file);
    for arguments in [["--resume", missing.path()], ["--results", &folder]] {
        shown.push_str(&named(&few(&arguments), &missing));
    }
    insta::assert_snapshot!(shown);
    assert_eq!(file.text(), "mine\n");
}

#[test]
fn of_two_runs_on_one_file_the_second_gives_way() {
    let file = Scratch::new("two.jsonl", "");
    let endless = ["run", "--suite", ENDLESS, "--quiet", "--results", file.path()];
    let mut first = dmlcts().args(endless).spawn().expect("the program starts");
    // The lock is taken before anything is written.
    wait_until(|| fs::metadata(file.path()).expect("it is there").len() > 0);
    let second = named(&few(&["--results", file.path(), "--overwrite"]), &file);
    let third = named(&["run", "--suite", ENDLESS, "--resume", file.path()], &file);
    first.kill().expect("it can be killed");
    first.wait().expect("it ends");
    let said = "exit 2\n--- stderr\nerror: another run is writing the results file FILE\n  \
                help: name another file, or wait for that run to end\n";
    assert_eq!((second.as_str(), third.as_str()), (said, said));
    assert!(recorded(&file).0.len() > 100);
}

/// A line was lost outside the program: the file looks as if it could be continued, and is refused.
#[test]
fn a_file_that_does_not_add_up_is_not_gone_on_with() {
    let file = Scratch::new("lost-line.jsonl", "");
    assert!(run(&few(&["--results", file.path()])).status.success());
    let whole = file.text();
    let mut lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let last = lines.split_off(lines.len() - 2);
    // The number of checkpoints before the last one depends on the speed of the run.
    lines.retain(|line| !line.starts_with("{\"checkpoint\""));
    lines.extend(last);
    let said = |kept: &dyn Fn(usize) -> bool| {
        let kept: String =
            lines.iter().enumerate().filter(|(at, _)| kept(*at)).map(|(_, line)| *line).collect();
        fs::write(file.path(), &kept).expect("it can be written");
        let said = named(&few(&["--resume", file.path()]), &file);
        assert_eq!(file.text(), kept, "it is left alone");
        said
    };
    // Line 0 is the header; the last two are a checkpoint and the summary.
    let (checkpoint, summary) = (lines.len() - 2, lines.len() - 1);
    let without = |what: &str| {
        format!(
            "exit 2\n--- stderr\nerror: the cases of FILE do not add up: the {what} counts 88 of verdict `pass`, and there \
             are 87\n  help: another program changed or removed lines: run it again\n"
        )
    };
    let line = format!("checkpoint in line {checkpoint}");
    assert_eq!(said(&|at| at != 50 && at != summary), without(&line));
    assert_eq!(said(&|at| at != 50), without(&line));
    let line = format!("summary in line {checkpoint}");
    assert_eq!(said(&|at| at != 50 && at != checkpoint), without(&line));
    // Cases after the last checkpoint run again.
    assert!(named(&few(&["--results", file.path(), "--overwrite"]), &file).starts_with("exit 0"));
    let behind = |at: usize| at != 50 && at < checkpoint;
    fs::write(
        file.path(),
        lines.iter().enumerate().filter(|(at, _)| behind(*at)).map(|(_, line)| *line).collect::<String>(),
    )
    .expect("it can be written");
    assert_eq!(named(&few(&["--resume", file.path()]), &file), "exit 0\n");
    assert_eq!(recorded(&file).0.len(), 88);
}

/// A run that is killed again and again at different moments has the result of an undisturbed run.
#[test]
#[ignore = "it takes long: .ci/nightly runs it"]
fn a_run_that_is_killed_at_any_moment_loses_and_repeats_nothing() {
    let (whole, killed) = (Scratch::new("whole.jsonl", ""), Scratch::new("killed.jsonl", ""));
    let many = |option: &str, file: &Scratch| {
        let mut command = dmlcts();
        command.args(["run", "--quiet", "--suite", "ci", "--jobs", "2", "--where"]);
        // A selection that leaves out cases, so that fewer are recorded than read.
        command.args(["operator != SLICE or rank > 1", option, file.path()]);
        command
    };
    assert!(many("--results", &whole).status().expect("the program starts").success());
    let mut moment = u64::from(std::process::id());
    let (mut kills, mut option) = (0, "--results");
    loop {
        moment = moment.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let wait = Duration::from_millis(250 + (moment >> 33) % 400);
        let mut child = many(option, &killed).spawn().expect("the program starts");
        thread::sleep(wait);
        let ended = child.try_wait().expect("it is ours");
        if kills < 4 && ended.is_none() {
            child.kill().expect("it can be killed");
            child.wait().expect("it ends");
            // A run that was killed before its header cannot be continued.
            option = if recorded(&killed).1.is_empty() { "--results" } else { "--resume" };
            kills += 1;
            continue;
        }
        assert!(child.wait().expect("it ends").success());
        break;
    }
    assert!(kills > 0, "it was never killed");
    let (cases, summary) = recorded(&killed);
    let (all, undisturbed) = recorded(&whole);
    assert_eq!(cases.len(), all.len(), "after {kills} kills");
    assert!(cases == all, "the cases differ after {kills} kills");
    assert_eq!(summary, undisturbed, "after {kills} kills");
}

/// The run continues, since its results are recorded, and ends with its usual exit code.
#[test]
fn a_reader_that_goes_away_does_not_end_a_run() {
    let file = Scratch::new("reader.jsonl", "");
    let mut command = dmlcts();
    command.args(["run", "--suite", "ci", "--limit", "20000", "--results", file.path()]);
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().expect("the program starts");
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    let (cases, summary) = recorded(&file);
    assert_eq!(cases.len(), 20_000);
    assert!(summary.starts_with(r#"{"summary":{"ending":"limit","exit_code":0,"#), "{summary}");
}

/// Accepting turns a failure into a success, and an unwritable report turns a success into a failure. The
/// summary has the final exit code.
#[cfg(target_os = "linux")]
#[test]
fn the_summary_has_the_exit_code_that_the_program_ends_with() {
    let (file, known) = (Scratch::nothing("code.jsonl"), Findings::new("reference", &[]));
    let case = stdout(&["list", "--limit", "1"]);
    let wrong = crate::common::broken("flips", case.trim_end());
    let whole = ["run", "--quiet", "--explain", "0", "--results", file.path(), "--overwrite"];
    let nothing = ["--where", "rank == 1 and rank == 2"];
    let joined = Scratch::nothing("code-joined.jsonl");
    let merge = ["merge", "--quiet", file.path(), "--results", joined.path(), "--overwrite"];
    let full = ["--junit", "/dev/full"];
    for (arguments, written, code) in [
        ([&whole[..], &["--backend", &wrong]].concat(), &file, 1),
        ([&whole[..], &["--backend", &wrong, "--accept", "--findings", known.path()]].concat(), &file, 0),
        ([&whole[..], &full].concat(), &file, 3),
        ([&whole[..], &nothing].concat(), &file, 2),
        ([&whole[..], &[]].concat(), &file, 0),
        ([&merge[..], &full].concat(), &joined, 3),
        ([&merge[..], &[]].concat(), &joined, 0),
    ] {
        let output = run(&arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        let summary = recorded(written).1;
        assert!(summary.contains(&format!(r#","exit_code":{code},"#)), "{arguments:?}: {summary}");
    }
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "it takes long: .ci/nightly runs it"]
fn a_full_disk_ends_a_run_with_what_was_recorded_whole() {
    let device = text(&few(&["--results", "/dev/full"]));
    assert!(
        device.starts_with("exit 3\n--- stderr\nerror: cannot write the results file /dev/full: "),
        "{device}"
    );
    // A file with a limit of about two megabytes; the signal that reports the limit is ignored.
    let file = Scratch::new("full.jsonl", "");
    let script = "trap '' XFSZ; ulimit -f 4000; exec \"$0\" run --suite ci --results \"$1\"";
    let mut shell = std::process::Command::new("sh");
    let output =
        shell.args(["-c", script, env!("CARGO_BIN_EXE_dmlcts"), file.path()]).output().expect("sh starts");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(3), "{out}{err}");
    assert!(out.contains("what becomes of them cannot be recorded any more"), "{out}");
    assert!(
        err.contains("; all earlier lines are intact\n  help: make room, and continue with --resume"),
        "{err}"
    );
    let text = file.text();
    assert!(text.ends_with("}\n"), "its last line is whole");
    let cases = recorded(&file).0;
    // Continuing without space, at any limit, loses none of the record.
    for blocks in ["1", "12", "500", "3999", "4000", "4001"] {
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" run --suite ci --resume \"$1\"");
        let mut shell = std::process::Command::new("sh");
        let output = shell.args(["-c", &script, env!("CARGO_BIN_EXE_dmlcts"), file.path()]).output();
        let output = output.expect("sh starts");
        assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
        let kept = recorded(&file).0;
        assert!(kept.len() >= cases.len(), "{blocks} blocks: {} of {}", kept.len(), cases.len());
        assert!(kept[..cases.len()] == cases, "{blocks} blocks: other cases");
    }
    let cases = cases.len();
    // The limit applies to one process: the next one has space.
    let rest = ["run", "--quiet", "--suite", "ci", "--resume", file.path()];
    assert_eq!(
        run(&[&rest[..], &["--limit", "170000"]].concat()).status.code(),
        Some(2),
        "a limit makes it another run"
    );
    assert!(run(&rest).status.success());
    let all = stdout(&["count", "--suite", "ci"]);
    let all = all
        .lines()
        .next_back()
        .and_then(|total| total.split_whitespace().next())
        .map(|count| count.replace(',', ""));
    assert_eq!((cases > 100, Some(recorded(&file).0.len().to_string())), (true, all));
}

/// The system would wait for a writer when it opens a pipe as a library.
#[cfg(unix)]
#[test]
fn a_pipe_is_not_a_library() {
    let pipe = Scratch::nothing("library.so");
    let made = std::process::Command::new("mkfifo").arg(pipe.path()).status();
    assert!(made.expect("mkfifo starts").success());
    let said = text(&["run", "--backend", &format!("dylib:{}", pipe.path())]);
    assert!(said.starts_with("exit 2\n") && said.contains("library.so` is not a file"), "{said}");
}

/// Opening a pipe waits for its other end, which may come later.
#[cfg(unix)]
#[test]
fn an_awaited_pipe_is_named_and_read() {
    use std::{io::Read as _, process::Stdio};
    let pipe = Scratch::nothing("awaited");
    let made = std::process::Command::new("mkfifo").arg(pipe.path()).status();
    assert!(made.expect("mkfifo starts").success());
    for words in [["spec", "check"].as_slice(), &["merge"], &["run", "--suite"], &["snapshot", "--from"]] {
        let mut command = dmlcts();
        command.args(words).arg(pipe.path()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut waits = command.spawn().expect("it starts");
        let mut stderr = waits.stderr.take().expect("it is piped");
        let expected = format!("waiting for a program that writes to the pipe {}\n", pipe.path());
        let mut said = vec![0; expected.len()];
        stderr.read_exact(&mut said).expect("it waits");
        assert_eq!(String::from_utf8_lossy(&said), expected, "{words:?}");
        fs::write(pipe.path(), "it is neither YAML nor JSON: [").expect("it is read");
        let mut rest = String::new();
        stderr.read_to_string(&mut rest).expect("it ends");
        assert_eq!(waits.wait().expect("it ends").code(), Some(2), "{words:?} {rest}");
        assert!(rest.starts_with("error:"), "{words:?} {rest}");
    }
}

/// Opening a pipe waits for its other end, forever if there is none.
#[cfg(unix)]
#[test]
fn a_pipe_that_nobody_reads_is_refused_at_once() {
    let pipe = std::env::temp_dir().join(format!("dmlcts-{}-pipe", std::process::id()));
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo starts").success());
    let name = pipe.to_str().expect("a plain name");
    for option in ["--results", "--resume", "--junit", "--markdown"] {
        let said = text(&few(&[option, name]));
        assert!(said.starts_with("exit 2\n"), "{said}");
        assert!(
            said.contains(&format!("{name}: it is neither a file nor a device\n  help: name a file")),
            "{said}"
        );
    }
    fs::remove_file(&pipe).expect("it is there");
    // A pipe that another process holds open is read.
    let shown = stdout(&few(&["--results", "/dev/stdout"]));
    assert_eq!(shown.lines().filter(|line| line.starts_with("{\"case\"")).count(), 88);
}

/// The program never learns that the reader of its own pipe is missing.
#[cfg(unix)]
#[test]
fn a_pipe_whose_reader_has_gone_ends_the_run() {
    let (reader, pipe) = std::io::pipe().expect("the system has pipes");
    drop(reader);
    let mut command = dmlcts();
    let output = command.args(few(&["--limit", "10", "--results", "/dev/stdout"])).stdout(pipe).output();
    let output = output.expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(
        said.starts_with("error: cannot write the results file /dev/stdout: Broken pipe")
            && said.ends_with("\n  help: let the reader read to the end, or record into a file\n"),
        "{said}"
    );
}

/// The backend does it after the run has made its file.
#[cfg(unix)]
#[test]
fn a_file_that_is_taken_away_under_a_run_fails_it() {
    let file = Scratch::nothing("away.jsonl");
    let moved = Scratch::nothing("moved.jsonl");
    let (path, elsewhere) = (file.path(), moved.path());
    for (done, code) in [
        (format!("rm {path}"), 3),
        (format!("mv {path} {elsewhere}"), 3),
        (format!("rm {path}; cp {elsewhere} {path}"), 3),
        (format!("mv {path} {path}.1; mv {path}.1 {path}"), 0),
    ] {
        let backend = format!("exec:sh -c '{done}; exec \"{}\" serve'", env!("CARGO_BIN_EXE_dmlcts"));
        let options = ["--jobs", "1", "--backend", &backend, "--overwrite", "--results", path];
        let said = named(&few(&options), &file);
        assert!(said.starts_with(&format!("exit {code}\n")), "{done}: {said}");
        let gone = "error: the results file FILE was removed, renamed or replaced while it was written\n  help: run it again, ";
        assert_eq!(said.contains(gone), code == 3, "{done}: {said}");
    }
}

#[test]
fn the_parts_of_a_suite_are_together_the_suite() {
    let whole: Vec<String> = stdout(&["list"]).lines().map(str::to_owned).collect();
    let mut parts = Vec::new();
    for part in ["1/3", "2/3", "3/3"] {
        let listed = stdout(&["list", "--partition", part]);
        let counted = stdout(&["count", "--partition", part]);
        assert_eq!(listed.lines().count().to_string(), counted.trim().replace(',', ""));
        parts.extend(listed.lines().map(str::to_owned));
    }
    let (mut sorted, mut all) = (parts, whole);
    sorted.sort();
    all.sort();
    assert!(sorted == all);
    let wrong = text(&["run", "--partition", "0/3"]);
    assert!(wrong.contains("`0/3` is no partition; write which of how many, such as 3/16"), "{wrong}");
    // A single case is in one of many parts, and the other parts do not fail.
    let case = "SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota";
    let ran = |part: &str| stdout(&["run", "--partition", part, case]).contains("ran       1 case on");
    assert_eq!(["1/3", "2/3", "3/3"].map(ran).iter().filter(|ran| **ran).count(), 1);
}

#[test]
fn runs_that_differ_in_how_often_operators_run_are_not_joined_or_gone_on_with() {
    let (one, two) = (Scratch::nothing("runs-1.jsonl"), Scratch::nothing("runs-2.jsonl"));
    let part = |part: &str, how: &[&str], file: &Scratch| {
        let words = ["run", "--partition", part, "--results", file.path()];
        assert!(run(&[&words[..], how].concat()).status.success());
    };
    part("1/2", &["--runs", "once"], &one);
    part("2/2", &[], &two);
    assert!(one.text().lines().next().is_some_and(|header| header.contains(" --runs once")), "its command");
    let merged = text(&["merge", one.path(), two.path()]);
    assert!(merged.starts_with("exit 2\n") && merged.contains("--runs: once"), "{merged}");
    let resumed = text(&["run", "--partition", "1/2", "--resume", one.path()]);
    assert!(resumed.contains("is of another run: --runs: sampled here, once there"), "{resumed}");
}
