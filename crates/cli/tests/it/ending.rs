//! A run that ends before its first case, while the cases of its suite are still being searched.

#[cfg(unix)]
use std::process::{Command, Stdio};

#[cfg(unix)]
use dmlcts_tests::wait_until;

#[cfg(unix)]
use crate::common::dmlcts;
use crate::common::{ENDLESS, Scratch, text};

/// A box that takes about a second to list.
const LONG_SEARCH: &str = "
    strategy: exhaustive
    ranks: {min: 1, max: 1}
    operators: [SLICE1]
    types: [INT8]
    bounds: [{that: InputTensor.Sizes <= 40}, {that: -9 <= InputWindowStrides <= 9}]
";

/// A suite whose boxes take minutes to list, all of them before its first case.
fn long_search() -> String {
    let parts = (0..100).map(|part| format!("  - id: box-{part}{LONG_SEARCH}"));
    format!("suite: huge\npurpose: Boxes that take minutes to list.\nparts:\n{}", parts.collect::<String>())
}

#[test]
fn a_timeout_cuts_the_search_for_cases_as_well() {
    let suite = Scratch::new("huge-timeout.yaml", long_search());
    let text = text(&["run", "--suite", suite.path(), "--timeout", "300ms"]);
    assert_eq!(
        text,
        "exit 2\n--- stderr\nerror: the time was up before a case ran\n  \
         help: give the run more time by --timeout or --budget\n"
    );
}

/// The limit is exact for any number of threads, and what a part of the failures shows cannot be accepted.
#[test]
fn a_run_ends_at_so_many_failures_and_cannot_be_accepted() {
    let run = |limits: &[&str], results: &Scratch| {
        let backend = "mutant:slice1-negative-from-offset";
        let all = ["run", "--backend", backend, "--explain", "0", "--results", results.path()];
        text(&[&all, limits].concat())
    };
    let [whole, one, two] =
        ["whole", "one", "two"].map(|name| Scratch::nothing(&format!("max-failures-{name}.jsonl")));
    run(&[], &whole);
    let recorded = std::fs::read_to_string(whole.path()).expect("the run is recorded");
    let cases = recorded.lines().filter(|line| line.starts_with(r#"{"case":"#));
    let failed: Vec<usize> = cases
        .enumerate()
        .filter(|(_, line)| line.contains(r#""verdict":"fail""#))
        .map(|(at, _)| at)
        .collect();
    let first = run(&["--max-failures", "30", "--jobs", "1"], &one);
    let second = run(&["--max-failures", "30", "--jobs", "2"], &two);
    let ended = |text: &str| text.lines().find(|line| line.starts_with("ended")).map(str::to_owned);
    let expected =
        format!("since too many cases failed (--max-failures), after {} of 4,990 cases", failed[29] + 1);
    assert_eq!(ended(&first), Some(format!("ended     {expected}")));
    assert_eq!(ended(&first), ended(&second));
    let folder = Scratch::nothing("max-failures/mutant-slice1-negative-from-offset");
    let refused = text(&["accept", folder.path(), "--from", one.path()]);
    assert!(refused.contains("run it again without --fail-fast and --max-failures"), "{refused}");
    assert!(!std::path::Path::new(folder.path()).exists());
}

/// To prepare the suite takes longer, but its time does not count.
#[test]
fn a_budget_is_for_the_cases() {
    let text = text(&["run", "--suite", "soak", "--budget", "1s", "--limit", "1"]);
    assert!(text.starts_with("exit 0\n"), "{text}");
}

#[test]
fn a_budget_does_not_end_the_explanation_of_failures() {
    let served = format!("exec:'{}' serve --backend mutant:wrong-stride", env!("CARGO_BIN_EXE_dmlcts"));
    let text = text(&["run", "--suite", ENDLESS, "--budget", "1s", "--explain", "200", "--backend", &served]);
    for part in ["since its time was up (--budget)", "wrong values where ", "smaller than case "] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("at the end of --budget"), "{text}");
}

/// A budget runs the cases first that meet the most of the spec.
#[test]
fn a_few_hundred_cases_in_the_order_of_obligations_meet_all_that_the_suite_meets() {
    let met = |more: &[&str]| {
        let text = text(&[&["run"], more].concat());
        let met = text.split(" obligations met").next().and_then(|text| text.rsplit_once("; "));
        met.expect("it says so").1.to_owned()
    };
    assert_eq!(met(&["--order", "obligations", "--limit", "300"]), met(&[]));
    assert_eq!(met(&["--budget", "10m"]), met(&[]));
    // The first cases are chosen from those that the filter and the feature level leave.
    let filter = ["--where", "valid and InputTensor.DataType == FLOAT16", "--feature-level", "4.1"];
    let first = [&filter[..], &["--order", "obligations", "--limit", "20"]].concat();
    assert_eq!(met(&first), met(&filter));
}

#[test]
fn a_run_whose_first_cases_all_fail_alike_names_doctor() {
    let run = |backend: &str| text(&["run", "--backend", backend, "--limit", "100", "--explain", "0"]);
    let hint = "the first 20 cases all failed (elements never written); to try one step after another: \
                dmlcts doctor --backend mutant:does-nothing\n";
    let all = run("mutant:does-nothing");
    assert!(all.contains(hint), "{all}");
    let some = run("mutant:slice1-negative-from-offset");
    assert!(some.contains("first failure") && !some.contains("all failed"), "{some}");
}

/// Whether a process handles Ctrl-C, by the mask of signals that Linux shows.
#[cfg(target_os = "linux")]
fn handles_interrupts(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).expect("Linux lists it");
    let caught = u64::from_str_radix(caught.trim(), 16).expect("it is hexadecimal");
    // Bit 0 is signal 1, and SIGINT is 2.
    caught & 0b10 != 0
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_before_the_first_case_ends_the_program_at_once() {
    let suite = Scratch::new("huge-interrupt.yaml", long_search());
    let mut command = dmlcts();
    let child = command
        .args(["run", "--suite", suite.path()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    wait_until(|| handles_interrupts(child.id()));
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill starts").success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "interrupted before the first case\n");
    assert!(output.stdout.is_empty());
}

/// The output and the record of a run that gets a signal when it has come to this point.
#[cfg(unix)]
fn interrupted(arguments: &[&str], has_come: impl Fn(&str) -> bool) -> (String, String) {
    let results = Scratch::nothing("interrupted.jsonl");
    let mut command = dmlcts();
    command.args(["run", "--jobs", "1", "--results", results.path()]).args(arguments);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let recorded = || std::fs::read_to_string(results.path()).unwrap_or_default();
    wait_until(|| has_come(&recorded()));
    let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(sent.expect("kill starts").success());
    let output = child.wait_with_output().expect("it ends");
    let [said, shown] = [&output.stderr, &output.stdout].map(|text| String::from_utf8_lossy(text));
    assert_eq!(output.status.code(), Some(130), "{said}");
    let word = "interrupted: the run ends with the summary of what ran; a second signal ends it at once, without one";
    assert!(said.lines().any(|line| line == word), "{said}");
    (shown.into_owned(), recorded())
}

/// If the run ends, it does not wait for a case that hangs, and the case is no failure.
#[cfg(unix)]
#[test]
fn a_signal_ends_a_run_whatever_it_waits_for() {
    let case =
        |size: u32| format!("SLICE UINT8 in={size} out={size} Offsets=0 Sizes={size} Strides=1 fill=iota");
    let (before, hangs, behind) = (case(1), case(2), case(3));
    let cases = [&*before, &hangs, &behind];
    let backend = crate::common::broken("hangs", &hangs);
    let with = |options: &[&'static str]| [options, &["--backend"]].concat();
    let arguments = [&with(&["--case-timeout", "3h"])[..], &[&backend], &cases].concat();
    let (shown, recorded) = interrupted(&arguments, |recorded| recorded.contains("{\"case\""));
    assert!(shown.contains("held      1 passed, 0 failed\n"), "{shown}");
    assert!(recorded.contains(r#""ending":"interrupted","exit_code":130"#), "{recorded}");

    // The case is known to hang by now. The check whether it hangs each time starts a process for each retry.
    let starts = Scratch::new("starts", "");
    let script = format!("echo >>'{}'\n{}\n", starts.path(), backend.replace("exec:", "exec "));
    let script = Scratch::new("starts.sh", script);
    let backend = format!("exec:sh {}", script.path());
    let arguments = [&with(&["--retries", "1000", "--case-timeout", "1s"])[..], &[&backend], &cases].concat();
    let (shown, recorded) = interrupted(&arguments, |_| starts.text().lines().count() >= 9);
    assert!(shown.contains(" passed, 1 timed out\n"), "{shown}");
    assert!(recorded.contains(r#""ending":"interrupted","exit_code":130"#), "{recorded}");
}

/// A backend that can be asked nothing shows nothing.
#[cfg(unix)]
#[test]
fn a_run_of_which_every_case_is_skipped_is_no_success() {
    let hello = crate::common::frame("hello", &crate::common::hello(r#","operators":["SLICE1"]"#));
    let results = crate::common::frame("results", r#"{"outcome":["unsupported"],"reason":["not mine"]}"#);
    let (hello, results) =
        (Scratch::new("hello-of-slice1", hello), Scratch::new("results-of-slice1", results));
    // The question has more than this number of bytes.
    let backend = format!(
        "exec:sh -c 'cat {}; head -c 200 >/dev/null; cat {}; exec sleep 100'",
        hello.path(),
        results.path()
    );
    let case = "SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota";
    let report = Scratch::new("unjudged.md", "");
    let text = text(&["run", "--backend", &backend, "--markdown", report.path(), case]);
    assert!(text.starts_with("exit 2\n"), "{text}");
    let said = "error: nothing was judged: 1 case, and all skipped, since silent declares that it supports none of them\n  \
                help: `dmlcts doctor --backend ";
    assert!(text.contains(said), "{text}");
    let report = report.text();
    assert!(report.starts_with("## dmlcts: nothing was judged\n"), "{report}");
}

/// A verdict is the same whether or not the output is read.
#[cfg(unix)]
#[test]
fn a_verdict_keeps_its_exit_code_without_a_reader() {
    let case = "SLICE FLOAT32 in=4,4 out=3,2 Offsets=1,2 Sizes=3,2 Strides=1,1 fill=iota";
    let wrong = crate::common::broken("flips", case);
    let (good, bad) = (Scratch::new("good.jsonl", ""), Scratch::new("bad.jsonl", ""));
    crate::common::run(&["run", "--results", good.path(), case]);
    crate::common::run(&["run", "--results", bad.path(), "--backend", &wrong, case]);
    for arguments in [&["merge", bad.path()][..], &["diff", good.path(), bad.path()]] {
        let mut child = dmlcts()
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert_eq!(said, "", "{arguments:?}");
    }
}

/// A worker whose parent ended before its first look at it ends, too, though its input stays open.
#[cfg(unix)]
#[test]
fn a_worker_whose_parent_is_gone_already_ends() {
    let mut parent = Command::new("true").spawn().expect("`true` starts");
    parent.wait().expect("it was started here");
    let mut worker = dmlcts()
        .args(["serve", "--parent", &parent.id().to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let _input = worker.stdin.take();
    let status = worker.wait().expect("it was started here");
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    assert_eq!(signal, Some(9), "{status:?}");
}

/// A quiet run prints no report, and must not end with 3 without a word.
#[cfg(unix)]
#[test]
fn a_quiet_run_that_loses_its_backend_says_so() {
    let hello = Scratch::new("hello-and-end", crate::common::frame("hello", &crate::common::hello("")));
    let case = "SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota";
    let said = text(&["run", "--quiet", "--backend", &format!("exec:cat {}", hello.path()), case]);
    assert!(said.starts_with("exit 3\n--- stderr\n"), "{said}");
    assert!(said.contains("error: the run ended early, after "), "{said}");
}
