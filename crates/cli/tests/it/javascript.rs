//! Backends in JavaScript: the module for writing them, its example, and exported programs.
//!
//! They need Node 20 or newer, so that they are ignored by default. `.ci/run` runs them:
//! `cargo test -p dmlcts javascript:: -- --ignored`.

use std::process::{Command, Output};

use crate::common::{Scratch, exported::VALID, stdout, text};
use crate::export::{exported, with_another_byte};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../backend/js");

#[test]
#[ignore = "needs Node"]
fn the_example_agrees_with_the_spec() {
    let backend = format!("exec:node '{FOLDER}/example_backend.js'");
    let ran = stdout(&["run", "--backend", &backend]);
    assert!(ran.contains(" on javascript-example 1.0: ") && ran.contains(" 0 failed\n"), "{ran}");
    assert!(!ran.contains("skipped"), "{ran}");
}

/// The guide shows exactly the file that the tests run.
#[test]
fn the_guide_shows_the_example() {
    let chapter = include_str!("../../../../guide/src/backend/javascript.md");
    let (_, rest) = chapter.split_once("```javascript\n").expect("the chapter shows a backend");
    let (shown, _) = rest.split_once("```").expect("the block ends");
    assert_eq!(shown, include_str!("../../../backend/js/example_backend.js"));
}

/// Output, an exception and a missing answer of a script each get their verdict.
#[test]
#[ignore = "needs Node"]
fn a_script_that_prints_throws_and_declines_is_understood() {
    let script = format!(
        r#"
import * as dmlcts from {module:?};
import fs from "node:fs";
class Mine extends dmlcts.Backend {{
    name = "mine";
    version = "1";
    operators = ["SLICE"];
    ranks = [1, 4];
    lacks = {{ SLICE: {{ "any axis Strides == 6": "no stride of 6" }} }};
    async create(desc) {{
        console.log("creating", desc.operator);
        process.stdout.write("creating\n");
        if (process.platform !== "win32") fs.writeSync(1, "creating\n");
        dmlcts.checkTensors(desc);
        const stride = desc.Strides[0];
        if (stride === 2) return () => nothing.at(0);
        if (stride === 3) process.exit(5);
        if (stride === 4) throw new dmlcts.Refused("no memory", 0x8007000e);
        if (stride === 5) return () => {{ throw new dmlcts.WrongShape("[3], expected [2]"); }};
        return async (input, output) => output.set(input.subarray(0, output.length));
    }}
}}
dmlcts.serve(new Mine());
"#,
        module = format!("{FOLDER}/dmlcts_backend.js"),
    );
    let script = Scratch::new("mine.mjs", script);
    let backend = format!("exec:node '{}'", script.path());
    let case = |stride: u32| format!("SLICE UINT8 in=8 out=2 Offsets=0 Sizes=2 Strides={stride} fill=iota");
    let lines: Vec<String> = (1..=6).map(case).collect();
    let mut arguments = vec!["run", "--backend", &backend];
    arguments.extend(lines.iter().map(String::as_str));
    let ran = text(&arguments);
    assert!(ran.starts_with("exit 1\n"), "{ran}");
    assert!(ran.contains("held      1 passed, 1 skipped, 3 failed, 1 crashed"), "{ran}");
    assert!(
        ran.contains("ReferenceError: nothing is not defined (dmlcts-") && ran.contains("-mine.mjs:"),
        "{ran}"
    );
    assert!(ran.contains("exit status: 5") || ran.contains("exit code: 5"), "{ran}");
    assert!(ran.contains("0x8007000E E_OUTOFMEMORY") && ran.contains("[3], expected [2]"), "{ran}");
    assert!(ran.contains("no stride of 6"), "{ran}");
}

fn run_program(program: &str) -> Output {
    let file = Scratch::new("export.js", program);
    Command::new("node").arg(file.path()).output().expect("Node starts")
}

/// A program as printed passes, and fails if an expected byte is another one.
#[test]
#[ignore = "needs Node"]
fn exported_programs_pass_and_fail_at_a_wrong_byte() {
    // The largest tensor, which has more bytes than a call has arguments.
    let large = "SLICE UINT8 in=65536 out=65536 Offsets=0 Sizes=65536 Strides=1 fill=iota";
    for case in VALID.into_iter().chain([large]) {
        let program = exported("javascript", case);
        let ran = run_program(&program);
        assert!(ran.status.success(), "{case}: {}", String::from_utf8_lossy(&ran.stderr));
        assert_eq!(String::from_utf8_lossy(&ran.stdout), "the output is as expected\n", "{case}");
        let ran = run_program(&with_another_byte(&program));
        assert_eq!(ran.status.code(), Some(1), "{case}");
        let said = String::from_utf8_lossy(&ran.stdout);
        assert!(said.starts_with("output element 0") && said.contains(", expected "), "{case}: {said}");
    }
}
