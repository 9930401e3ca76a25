//! Backends in other processes, end to end. The process is this program itself, which speaks the protocol as
//! `serve`.

#[cfg(unix)]
use crate::common::Scratch;
use crate::common::{stdout, text, without_features};

/// `--backend` for this program as a process.
fn served(backend: &str) -> String {
    format!("exec:'{}' serve --backend {backend}", env!("CARGO_BIN_EXE_dmlcts"))
}

/// A summary without the parts that differ from run to run: speed, and commands to continue with.
fn verdicts(text: &str) -> String {
    let kept = text.lines().take_while(|line| !line.starts_with("speed "));
    kept.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_reference_in_a_process_of_its_own_answers_as_it_does_at_home() {
    for arguments in
        [&["run"][..], &["run", "--feature-level", "2.1"], &["run", "--jobs", "1", "--limit", "700"]]
    {
        let at_home = stdout(arguments);
        let process = served("reference");
        let away = stdout(&[arguments, &["--backend", &process]].concat());
        assert_eq!(verdicts(&away), verdicts(&at_home), "{arguments:?}");
        assert!(away.contains(" on reference "), "{away}");
    }
}

#[test]
fn a_process_can_host_a_process() {
    let inner = served("reference").replace('\'', "");
    let nested = format!("exec:'{}' serve --backend \"{inner}\"", env!("CARGO_BIN_EXE_dmlcts"));
    let case = "SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota";
    assert!(stdout(&["run", "--backend", &nested, case]).contains("held      1 passed, 0 failed"));
}

#[test]
fn a_backend_that_does_not_start_is_named() {
    let program = env!("CARGO_BIN_EXE_dmlcts");
    let backend = |words: &str| format!("exec:{program} {words}");
    insta::assert_snapshot!(text(&["run", "--backend", "exec:"]));
    insta::assert_snapshot!("unfinished_quote", text(&["run", "--backend", "exec:python3 'mine.py"]));
    let missing = text(&["run", "--backend", "exec:no-such-program --fast"]);
    assert!(missing.starts_with("exit 3\n") && missing.contains("`no-such-program --fast`: "), "{missing}");
    assert!(missing.contains("; name a program by its path, or one that PATH finds"), "{missing}");
    assert!(
        missing.contains(
            "\n  help: no shell is asked, so no variable, `~` or `&&` is expanded: exec:sh -c '…' asks one; "
        ),
        "{missing}"
    );
    // Prints text that is no frame.
    let noise = text(&["run", "--backend", &backend("suites")]).replace(program, "dmlcts");
    insta::assert_snapshot!("noise", noise);
    // Ends at once, with the reason on standard error.
    let ended = text(&["run", "--backend", &backend("serve --backend refrence")]).replace(program, "dmlcts");
    let ended = without_features(&ended.replace("exit code: 2", "exit status: 2"));
    insta::assert_snapshot!("ended", ended);
}

#[test]
#[cfg(unix)]
fn a_program_that_echoes_is_no_backend() {
    insta::assert_snapshot!(text(&["run", "--backend", "exec:cat"]), @r"
    exit 3
    --- stderr
    error: the backend cannot be started: `cat` is not a backend: it answers with what it was sent
      help: see that `cat`, run by hand, prints nothing on standard output and waits for its standard input
    ");
}

/// Another version, in its frames or in its hello, which may have keys that this version does not know.
#[test]
#[cfg(unix)]
fn a_backend_of_another_version_of_the_protocol_is_named() {
    let mut frame = crate::common::frame("hello", "{}");
    frame[7] = b'2';
    let hello = crate::common::hello(r#","news":7"#).replace("\"protocol\":1", "\"protocol\":3");
    for (frame, version) in [(frame, 2), (crate::common::frame("hello", &hello), 3)] {
        let file = crate::common::Scratch::new("another-version", frame);
        let said = text(&["run", "--backend", &format!("exec:cat {}", file.path())]);
        let expected = format!(
            "exit 3\n--- stderr\nerror: the backend cannot be started: `cat {}` speaks protocol version {version}; this program \
             speaks 1: renew the older of the two\n",
            file.path()
        );
        assert!(said.starts_with(&expected), "{said}");
    }
}

/// It is refused for its length before it is read, so that it costs no memory and no time.
#[test]
#[cfg(unix)]
fn a_hello_beyond_its_bounds_is_refused() {
    for operators in [1001, 2_000_000] {
        let names = vec![r#""A""#; operators].join(",");
        let header = crate::common::hello(&format!(r#","operators":[{names}]"#));
        let expected = if operators == 1001 {
            "makes no sense: its `operators` has 1001 elements, and at most 1000 are allowed".to_owned()
        } else {
            let length = header.len();
            format!("a frame `hello` announces {length} bytes of header, and at most 1048576 are allowed")
        };
        let file = crate::common::Scratch::new("large-hello", crate::common::frame("hello", &header));
        let said = text(&["run", "--backend", &format!("exec:cat {}", file.path())]);
        assert!(said.starts_with("exit 3\n") && said.contains(&expected), "{said}");
        assert!(said.contains("\n  help: fix what it says of itself"), "{said}");
    }
}

#[test]
#[cfg(unix)]
fn the_time_of_a_run_bounds_the_wait_for_a_hello() {
    // A case that needs no search, which would also take time.
    let case = "SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota";
    let silent = text(&["run", "--backend", "exec:sleep 50", "--timeout", "300ms", case]);
    assert!(silent.starts_with("exit 3\n"), "{silent}");
    assert!(silent.contains("`sleep 50` did not say hello within 0."), "{silent}");
    assert!(silent.contains("\n  help: see what `sleep 50` waits for"), "{silent}");
    // Its header is no JSON or lacks a key, so that the message does not blame stray output.
    for more in [r#","busy":NaN"#, r#","operators":7"#] {
        let hello = crate::common::Scratch::new(
            "hello-that-is-none",
            crate::common::frame("hello", &crate::common::hello(more)),
        );
        let odd = text(&["run", "--backend", &format!("exec:cat {}", hello.path()), case]);
        assert!(
            odd.contains("` makes no sense: ") && odd.contains("\n  help: fix what it says of itself"),
            "{odd}"
        );
    }
}

/// When the time is up, unanswered cases count as not run, whatever the process is doing.
#[test]
fn a_hang_under_way_when_the_time_is_up_is_not_run() {
    let case = |size: u32| format!("SLICE FLOAT32 in={size} out=2 Offsets=0 Sizes=2 Strides=2 fill=iota");
    let backend = crate::common::broken("hangs", &case(5));
    let within = |seconds: u32| {
        let time = format!("{seconds}s");
        let options = ["--case-timeout", "1h", "--timeout", &time, "--jobs", "1", &case(4), &case(5)];
        text(&[&["run", "--backend", &backend][..], &options].concat())
    };
    // A slow machine needs more time for the first case.
    let has_answered = |said: &String| !said.starts_with("exit 2\n");
    let said = (1..20).map(|power| within(1 << power)).find(has_answered).expect("days are enough");
    assert!(said.starts_with("exit 0\n"), "{said}");
    assert!(said.contains("ended     since its time was up (--timeout), after 1 of 2 cases\n"), "{said}");
    assert!(said.contains("held      1 passed, 0 failed\n"), "{said}");
}

/// A process that uses more memory than it may is ended. Nothing keeps the limit for a backend in this
/// process.
#[test]
#[cfg(target_os = "linux")]
fn a_process_that_uses_too_much_memory_is_ended() {
    let case = "SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota";
    let backend = format!("exec:'{}' serve", env!("CARGO_BIN_EXE_dmlcts"));
    let run = |size: &str| text(&["run", "--backend", &backend, "--backend-memory", size, case]);
    let said = run("64GiB");
    assert!(said.starts_with("exit 0\n"), "{said}");
    let said = run("1k");
    assert!(said.starts_with("exit 3\n"), "{said}");
    assert!(said.contains("out of memory: it used more than the 1 KiB of --backend-memory"), "{said}");
    for command in [&["snapshot", "--suite", "smoke"][..], &["doctor"]] {
        let said = text(&[command, &["--backend", &backend, "--backend-memory", "1k"]].concat());
        assert!(said.contains("out of memory: it used more than the 1 KiB of --backend-memory"), "{said}");
    }
    for backend in ["reference", "mutant:slice-drops-offset"] {
        let said = text(&["run", "--backend", backend, "--backend-memory", "2GiB", case]);
        let why = format!("`--backend-memory` is for a process, and `{backend}` runs in this one");
        assert!(said.starts_with("exit 2\n") && said.contains(&why), "{said}");
    }
}

#[test]
fn serve_says_what_it_was_given_instead_of_frames() {
    insta::assert_snapshot!(crate::common::text_with_input(&["serve"], "SLICE FLOAT32\n"));
    assert_eq!(crate::common::text_with_input(&["serve"], ""), "exit 0\n");
}

/// The system does not start a script without a line that names its interpreter.
#[test]
#[cfg(unix)]
fn a_script_without_its_first_line_is_told_so() {
    use std::{fs, os::unix::fs::PermissionsExt as _};
    let script = crate::common::Scratch::new("no-first-line.py", "import sys\n");
    fs::set_permissions(script.path(), fs::Permissions::from_mode(0o755)).expect("it is ours");
    let said = text(&["run", "--backend", &format!("exec:{}", script.path())]);
    assert!(said.starts_with("exit 3\n") && said.contains("(os error 8)"), "{said}");
    let help = "\n  help: the first line of a script must name what runs it, such as #!/usr/bin/env python3; a program must be built for this machine\n";
    assert!(said.ends_with(help), "{said}");
}

#[cfg(unix)]
#[test]
fn a_backend_inherits_no_open_file() {
    let program = env!("CARGO_BIN_EXE_dmlcts");
    let inherited = Scratch::nothing("inherited");
    let script =
        format!("if (: <&9) 2>/dev/null; then : >'{0}'; fi\nexec '{program}' serve\n", inherited.path());
    let backend = Scratch::new("backend", script);
    let run = "exec 9</dev/null; (: <&9) && \"$0\" run --backend \"exec:sh '$1'\" \"$2\"";
    let case = "SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota";
    let mut command = std::process::Command::new("sh");
    let output = command.args(["-c", run, program, backend.path(), case]).output().expect("sh starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!std::path::Path::new(inherited.path()).exists());
}
