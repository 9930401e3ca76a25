//! `doctor`, end to end: on a correct backend, on faulty ones, and on a program that is no backend.

use crate::common::{broken, faulty, faulty_program, text};
use dmlcts_tests::at_once;

/// The doctor's output about a backend, without the parts that differ from run to run.
fn says(backend: &str) -> String {
    let said = text(&["doctor", "--backend", backend]);
    let said = said.replace(faulty_program(), "faulty");
    let lines = said.lines().map(|line| match line.split_once(" in ") {
        Some((head, _)) if head.ends_with("starts                  ") => head.to_owned(),
        _ if line.contains(" cases/s: ") => "ok    keeps up".to_owned(),
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// One of the pages' examples.
const EXAMPLE: &str = "SLICE FLOAT32 in=4,4 out=3,2 Offsets=1,2 Sizes=3,2 Strides=1,1 fill=iota";

#[test]
fn a_backend_that_is_well() {
    insta::assert_snapshot!(says("reference"));
}

/// The printed commands do not name the variables on which a backend depends.
#[cfg(unix)]
#[test]
fn a_backend_that_depends_on_variables_is_told_to_name_them() {
    let faulty = faulty_program();
    let says = |command: &str| {
        let backend = format!("exec:{command}");
        let output = crate::common::dmlcts()
            .args(["doctor", "--backend", &backend])
            .env("MINE_DRIVER", "25.1")
            .output()
            .expect("the program starts");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let command = format!("sh -c \"exec {faulty} updated ${{MINE_DRIVER:-none}} none\"");
    let said = says(&command);
    assert!(said.contains("declares                 mine "), "{said}");
    let note = "note  depends on variables     without the variables of this environment it is mine ";
    assert!(said.contains(note) && said.contains(" none\n"), "{said}");
    let named = says(&format!("env MINE_DRIVER=25.1 {command}"));
    assert!(named.contains("declares                 mine ") && !named.contains("variables"), "{named}");
}

#[test]
fn a_backend_with_a_wrong_bit() {
    insta::assert_snapshot!(says(&broken("flips", EXAMPLE)));
}

#[test]
fn a_backend_that_crashes_at_an_example() {
    let said = says(&broken("crashes", EXAMPLE));
    assert!(said.starts_with("exit 1\n"), "{said}");
    assert!(said.contains("FAIL  answers the examples     1 of 88 are wrong\n"), "{said}");
    assert!(said.contains(" for one: the backend crashed: it "), "{said}");
    assert!(said.contains(" look at it: dmlcts run --backend "), "{said}");
}

/// Failures of invalid descs and of the valid descs beside them are on separate lines.
#[test]
fn what_goes_wrong_beside_invalid_descs_is_told_apart() {
    let invalid = "SLICE INT8 in=5 out=4 InputTensor.Strides=2 OutputTensor.Strides= Offsets=1 Sizes=4 Strides=1 \
                   fill=iota";
    let neighbour = "SLICE INT64 in=3,1,1,1,3 out=3,1,1,1,2 InputTensor.GuaranteedBaseOffsetAlignment=128 \
                     Offsets=0,0,0,0,0 Sizes=3,1,1,1,2 Strides=1,7,1647366793,614250484,1 fill=iota";
    let faults = [("garbles", invalid), ("flips", neighbour), ("lies", invalid)];
    let said = at_once(faults, |(way, case)| says(&broken(way, case)));
    let [garbles, flips, lies] = said.try_into().expect("one for each fault");
    let said: String = garbles;
    assert!(said.contains("FAIL  survives invalid descs   1 of "), "{said}");
    assert!(said.contains("ok    refuses them "), "{said}");
    assert!(said.contains(" look at it: dmlcts run --backend "), "{said}");
    let said = flips;
    assert!(said.contains("ok    survives invalid descs "), "{said}");
    assert!(said.contains("ok    refuses them "), "{said}");
    assert!(
        said.contains("FAIL  answers their neighbours 1 valid case beside invalid ones went wrong"),
        "{said}"
    );
    // A backend that accepts invalid descs survives them, and the valid ones can still pass.
    let said = lies;
    assert!(said.contains("ok    survives invalid descs "), "{said}");
    assert!(said.contains("FAIL  refuses them             1 of "), "{said}");
    assert!(!said.contains("answers their neighbours"), "{said}");
}

/// A backend that says hello and then sends nothing.
#[cfg(unix)]
#[test]
fn a_backend_that_never_answers_is_not_said_to_be_well() {
    let (_hello, backend) = crate::common::silent("silent-hello");
    let said = text(&["doctor", "--case-timeout", "300ms", "--timeout", "20s", "--backend", &backend]);
    assert!(said.starts_with("exit 3\n"), "{said}");
    assert!(said.contains("FAIL  answers  "), "{said}");
    assert_eq!(said.matches("ok   ").count(), 2, "it starts and declares, and no more is known: {said}");
    // If one case may take longer than all checks together, the time limit comes first.
    let within = |seconds: u32| {
        let time = format!("{seconds}s");
        text(&["doctor", "--case-timeout", "1h", "--timeout", &time, "--backend", &backend])
    };
    // A slow machine needs more time to start it.
    let has_started = |said: &String| said.contains("FAIL  answers");
    let said = (1..20).map(|power| within(1 << power)).find(has_started).expect("days are enough");
    let found = "FAIL  answers                  to no case within ";
    assert!(said.starts_with("exit 1\n") && said.contains(found), "{said}");
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_changes_no_verdict() {
    use std::{io::Read as _, process::Stdio};
    let mut child = crate::common::dmlcts()
        .args(["doctor", "--backend", &broken("flips", EXAMPLE)])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut first = [0; 2];
    child.stdout.take().expect("piped").read_exact(&mut first).expect("it says something");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_it_at_once() {
    use std::process::{Command, Stdio};
    let (_hello, backend) = crate::common::silent("silent-interrupted");
    let mut child = crate::common::dmlcts()
        .args(["doctor", "--case-timeout", "60s", "--backend", &backend])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut said = std::io::BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    // Its declaration is on the second line. From there on, the doctor waits for answers.
    for _ in 0..2 {
        std::io::BufRead::read_line(&mut said, &mut line).expect("text");
    }
    assert!(line.contains("declares"), "{line}");
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill starts").success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "interrupted\n");
}

#[test]
fn what_does_not_start() {
    insta::assert_snapshot!(says("exec:no-such-program").lines().take(2).collect::<Vec<_>>().join("\n"), @r"
    exit 3
    --- stdout
    ");
    #[cfg(unix)]
    insta::assert_snapshot!(says("exec:cat"), @r"
    exit 3
    --- stdout
    FAIL  starts                   `cat` is not a backend: it answers with what it was sent
                                   see that `cat`, run by hand, prints nothing on standard output and waits for its standard input
    ");
}

/// Checks that were not tried for lack of time are no success.
#[test]
fn checks_that_were_not_tried_for_want_of_time_fail() {
    let slow = faulty("updated none slow");
    let within = |time: f64| text(&["doctor", "--backend", &slow, "--timeout", &format!("{time:.0}ms")]);
    let is_cut = |said: &String| {
        said.contains("ok    answers the examples") && said.contains("not tried: the time was up")
    };
    let said =
        (0..60).map(|power| within(100.0 * 1.3_f64.powi(power))).find(is_cut).expect("one limit ends there");
    assert!(said.starts_with("exit 1\n"), "{said}");
    let checks = said.matches("  not tried: the time was up").count();
    let others = if checks == 1 { "check was" } else { "checks were" };
    let line = format!(
        "FAIL  tries every check        {checks} {others} not tried for want of time; --timeout gives more\n"
    );
    assert!(said.contains(&line), "{said}");
}
