//! A full disk: a run records and reports on a file system of one megabyte. Only root can
//! make one. For other users, the tests with `/dev/full` and with limits on files cover some of it.

#![cfg(target_os = "linux")]

use std::{
    fs,
    process::{Command, Output},
};

use crate::common::Scratch;

/// The output of a script with a full disk at `$1`, the program at `$2` and a folder on another disk at `$3`;
/// `None` without the rights to make one.
fn on_full_disk(script: &str, out: &str) -> Option<Output> {
    let folder = std::env::temp_dir().join(format!("dmlcts-disk-{}-{}", std::process::id(), script.len()));
    fs::create_dir(&folder).expect("the temporary folder takes a folder");
    let folder_name = folder.to_str().expect("text");
    // The file system ends with the processes that see it.
    let mount = "mount -t tmpfs -o size=1m tmpfs \"$1\" || exit 77; ";
    let mut unshare = Command::new("unshare");
    let arguments = ["--mount", "sh", "-c", &format!("{mount}{script}"), "sh"];
    let output = unshare.args(arguments).args([folder_name, env!("CARGO_BIN_EXE_dmlcts"), out]).output();
    fs::remove_dir(&folder).expect("it is empty where nobody else sees the disk");
    let output = output.ok().filter(|output| {
        let said = String::from_utf8_lossy(&output.stderr);
        output.status.code() != Some(77) && !said.starts_with("unshare:")
    });
    if output.is_none() {
        println!("SKIPPED: it takes root to make a file system");
    }
    output
}

#[test]
#[ignore = "it takes long: .ci/nightly runs it"]
fn a_run_on_a_full_disk_ends_with_3_and_goes_on_where_there_is_room() {
    let copy = Scratch::new("disk.jsonl", "");
    let script = "
        \"$2\" run --quiet --suite ci --results \"$1/run.jsonl\"; code=$?
        # Behind the last whole line there is nothing.
        test \"$(tail -c 2 \"$1/run.jsonl\")\" = '}' || exit 99
        cp \"$1/run.jsonl\" \"$3\"
        cases() { grep -c '^{\"case\"' \"$1/run.jsonl\"; }
        before=$(cases \"$1\")
        \"$2\" run --quiet --suite ci --resume \"$1/run.jsonl\" 2>/dev/null; test $? = 3 || exit 98
        test \"$(cases \"$1\")\" -ge \"$before\" || exit 97
        exit $code";
    let Some(output) = on_full_disk(script, copy.path()) else { return };
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("; all earlier lines are intact"), "{said}");
    let resume = ["run", "--quiet", "--suite", "ci", "--resume", copy.path()];
    assert_eq!(crate::common::run(&resume).status.code(), Some(0));
    let cases = copy.text();
    let all = crate::common::stdout(&["count", "--suite", "ci"]);
    let count = cases.lines().filter(|line| line.starts_with("{\"case\"")).count();
    let all = all.lines().next_back().and_then(|line| line.trim().split(' ').next());
    assert_eq!(all.map(|all| all.replace(',', "")), Some(count.to_string()));
}

#[test]
#[ignore = "it takes long: .ci/nightly runs it"]
fn reports_and_snapshots_on_a_full_disk_end_with_3_and_what_was_accepted_stays() {
    let said = Scratch::new("disk.txt", "");
    let script = "
        \"$2\" snapshot --suite smoke --dir \"$1\" --name s; test $? = 1 || exit 98
        \"$2\" snapshot accept --dir \"$1\" || exit 98
        cp \"$1/s/smoke.snap\" \"$3\"
        old='finding: gone\\nstatus: known\\nkind: bug\\nwhere: operator == SLICE\\nclass: [wrong-value]\\nsmallest: %s\\n'
        mkdir \"$1/reference\"; printf \"$old\" 'SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota' > \"$1/reference/gone.yaml\"
        cp \"$1/reference/gone.yaml\" \"$3.yaml\"
        head -c 2000000 /dev/zero > \"$1/rest\" 2>/dev/null
        \"$2\" run --quiet --junit \"$1/junit.xml\"; test $? = 3 || exit 97
        \"$2\" run --quiet --markdown \"$1/page.md\"; test $? = 3 || exit 96
        \"$2\" run --quiet --accept --findings \"$1/reference\"; test $? = 3 || exit 93
        cmp \"$1/reference/gone.yaml\" \"$3.yaml\" || exit 92; rm \"$3.yaml\"
        \"$2\" snapshot --suite smoke --dir \"$1\" --name s --backend mutant:wrong-stride; code=$?
        cmp \"$1/s/smoke.snap\" \"$3\" || exit 95
        test \"$(ls -A \"$1\" | tr '\\n' ' ')\" = 'page.md reference rest s ' || exit 94
        exit $code";
    let Some(output) = on_full_disk(script, said.path()) else { return };
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("smoke.snap.new"), "{text}");
    assert!(text.contains("error: cannot write the report "), "{text}");
    assert!(text.contains("/reference/gone.yaml: No space left"), "{text}");
}
