//! Backends in Python: the module for writing them, and the NumPy backend of this repository.
//!
//! They need Python and NumPy, so that they are ignored by default. `.ci/run` runs them:
//! `DMLCTS_PYTHON=python3 cargo test -p dmlcts python:: -- --ignored`.

use std::process::{Command, Output};

use crate::common::{Scratch, stdout, text};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../backend/python");

fn python() -> String {
    std::env::var("DMLCTS_PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

/// `--backend` for a script beside the module.
fn example(name: &str) -> String {
    format!("exec:'{}' '{FOLDER}/{name}'", python())
}

#[test]
#[ignore = "needs Python with NumPy"]
fn numpy_agrees_with_the_spec() {
    let ran = stdout(&["run", "--backend", &example("numpy_backend.py")]);
    assert!(ran.contains(" on numpy ") && ran.contains(" passed, ") && ran.contains(" 0 failed"), "{ran}");
    assert!(!ran.contains("skipped"), "{ran}");
}

/// Parts that ONNX defines in other words pass, and what it lacks is declared.
#[test]
#[ignore = "needs Python with onnx and onnxruntime"]
fn onnxruntime_fails_as_it_is_known_to_and_in_no_other_way() {
    let backend = example("onnxruntime_backend.py");
    let known = concat!(env!("CARGO_MANIFEST_DIR"), "/../../findings/onnxruntime");
    let ran = stdout(&["run", "--backend", &backend, "--findings", known]);
    assert!(ran.contains(" failed as expected, 0 failed\n"), "{ran}");
    let entry = "padding1-nan-canonicalised-float16 ";
    assert!(ran.lines().any(|line| line.starts_with("known ") && line.contains(entry)), "{ran}");
    for reason in ["no Pad of this type", "no symmetric padding", "less than a whole axis"] {
        assert!(ran.contains(" cases of PADDING1 where ") && ran.contains(reason), "{reason}: {ran}");
    }
    let lacking =
        ["run", "--backend", &backend, "--where", "valid and InputTensor.DataType in [INT16, UINT16]"];
    let ran = stdout(&lacking);
    assert!(ran.contains(" skipped, 0 failed\n"), "{ran}");
    let ran = stdout(&["run", "--backend", &backend, "--where", "operator != PADDING1"]);
    assert!(
        ran.contains(" on onnxruntime ") && ran.contains(" 0 failed") && !ran.contains("skipped"),
        "{ran}"
    );
    let case = "PADDING1 FLOAT32 in=2 out=4 PaddingMode=SYMMETRIC StartPadding=1 EndPadding=1 fill=iota";
    let ran = text(&["run", "--backend", &backend, case]);
    assert!(ran.starts_with("exit 2\n") && ran.contains("ONNX has no symmetric padding"), "{ran}");
}

/// The guide shows exactly the file that the tests run.
#[test]
fn the_guide_shows_the_numpy_backend() {
    let chapter = include_str!("../../../../guide/src/backend/python.md");
    let (_, rest) = chapter.split_once("```python\n").expect("the chapter shows a backend");
    let (shown, _) = rest.split_once("```").expect("the block ends");
    assert_eq!(shown, include_str!("../../../backend/python/numpy_backend.py"));
}

/// Output, an exception and a missing answer of a script each get their verdict.
#[test]
#[ignore = "needs Python"]
fn a_script_that_prints_raises_and_declines_is_understood() {
    let script = format!(
        "import os, sys\n\
         sys.path.insert(0, {FOLDER:?})\n\
         import dmlcts_backend as dmlcts\n\
         class Mine(dmlcts.Backend):\n\
         \x20   name, version, operators, ranks = 'mine', '1', ['SLICE'], (1, 4)\n\
         \x20   def create(self, desc):\n\
         \x20       print('creating', desc.operator)\n\
         \x20       os.write(1, b'creating\\n')\n\
         \x20       if desc.operator != 'SLICE':\n\
         \x20           raise dmlcts.Unsupported('not there yet')\n\
         \x20       source, target = dmlcts.check_tensors(desc)\n\
         \x20       if desc.Strides[0] == 2:\n\
         \x20           return lambda input, output: 1 // 0\n\
         \x20       if desc.Strides[0] == 3:\n\
         \x20           os._exit(5)\n\
         \x20       if desc.Strides[0] == 4:\n\
         \x20           raise dmlcts.Refused('no memory', 0x8007000E)\n\
         \x20       def run(input, output):\n\
         \x20           output[:] = input[:len(output)]\n\
         \x20       return run\n\
         dmlcts.serve(Mine())\n"
    );
    let script = Scratch::new("mine.py", script);
    let backend = format!("exec:'{}' '{}'", python(), script.path());
    let case = |stride: u32| format!("SLICE UINT8 in=8 out=2 Offsets=0 Sizes=2 Strides={stride} fill=iota");
    let lines: Vec<String> = (1..=4).map(case).collect();
    let padding =
        "PADDING1 UINT8 in=8 out=8 PaddingMode=EDGE StartPadding=0 EndPadding=0 fill=iota".to_owned();
    let mut arguments = vec!["run", "--backend", &backend];
    arguments.extend(lines.iter().map(String::as_str));
    arguments.push(&padding);
    let ran = text(&arguments);
    assert!(ran.starts_with("exit 1\n"), "{ran}");
    assert!(ran.contains("held      1 passed, 1 skipped, 2 failed, 1 crashed"), "{ran}");
    assert!(ran.contains("ZeroDivisionError: "), "{ran}");
    assert!(ran.contains("exit status: 5") || ran.contains("exit code: 5"), "{ran}");
    assert!(ran.contains("0x8007000E E_OUTOFMEMORY"), "{ran}");
}

/// Runs a program in a folder of its own.
fn run_program(program: &str) -> Output {
    let folder = Scratch::nothing("export");
    std::fs::create_dir(folder.path()).expect("the temporary folder takes a folder");
    let file = Scratch::new("export.py", program);
    let ran = Command::new(python()).args([file.path(), folder.path()]).output().expect("Python starts");
    std::fs::remove_dir_all(folder.path()).expect("it is there");
    ran
}

/// The program with every bit of the output flipped before it is compared.
fn flipped(program: &str) -> String {
    let (before, after) = program.split_once("equal(output").expect("it compares its output");
    format!("{before}equal(~output{after}")
}

/// A program as printed passes, and fails if the output is another one.
#[test]
#[ignore = "needs Python with NumPy"]
fn exported_programs_agree_with_numpy() {
    for case in crate::common::exported::VALID {
        let program = stdout(&["export", "--as", "numpy", case]);
        let ran = run_program(&program);
        assert!(ran.status.success(), "{case}: {}", String::from_utf8_lossy(&ran.stderr));
        assert_eq!(String::from_utf8_lossy(&ran.stdout), "the output is as expected\n", "{case}");
        let changed = flipped(&program);
        let ran = run_program(&changed);
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.code() == Some(1) && said.contains("AssertionError"), "{case}: {said}");
    }
}

/// A model is written for each case that ONNX can express. ONNX Runtime gives the expected output, except
/// where `findings/onnxruntime` and the backend's file say what it lacks.
#[test]
#[ignore = "needs Python with onnx and onnxruntime"]
fn exported_models_agree_with_onnxruntime() {
    let mut ran_right = 0;
    for case in crate::common::exported::VALID {
        let said = text(&["export", "--as", "onnx", case]);
        let Some(program) = said.strip_prefix("exit 0\n--- stdout\n") else {
            assert!(said.contains("ONNX cannot express this case: "), "{said}");
            continue;
        };
        let ran = run_program(program);
        let (out, error) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        assert!(out.starts_with("wrote "), "{case}: {error}");
        if case.starts_with("PADDING1 INT16") || case.starts_with("PADDING1 UINT16") {
            assert!(error.contains("NotImplemented"), "{case}: {error}");
            continue;
        }
        assert!(ran.status.success() && out.ends_with("the output is as expected\n"), "{case}: {error}");
        ran_right += 1;
        // Another output is seen.
        let changed = flipped(program);
        let error = run_program(&changed).stderr;
        assert!(String::from_utf8_lossy(&error).contains("AssertionError"), "{case}");
    }
    assert!(ran_right >= 12, "{ran_right} models ran");
    // A known failure, `float16-through-float`: the signalling NaN becomes a quiet one.
    let case = "PADDING1 FLOAT16 in=1 out=2 PaddingMode=EDGE StartPadding=0 EndPadding=1 fill=explicit:017d";
    let ran = run_program(&stdout(&["export", "--as", "onnx", case]));
    let error = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.code() == Some(1) && error.contains("AssertionError"), "{error}");
}

/// A library that walks from the end of a slice: it is wrong where the step does not reach the last element.
const FROM_THE_END: &str = "\
import numpy as np
class FromTheEnd(np.ndarray):
    def __getitem__(self, cuts):
        [cut] = cuts if isinstance(cuts, tuple) else (cuts,)
        start, stop, step = cut.indices(len(self))
        count = len(range(start, stop, step))
        return np.asarray(self)[[stop - 1 - step * (count - 1 - at) for at in range(count)]]
";

/// The case and its program fail on the same library: a program that named another end of the window would
/// hide this bug.
#[test]
#[ignore = "needs Python with NumPy"]
fn an_exported_program_fails_on_the_library_on_which_its_case_fails() {
    // The library gets the window as the desc has it.
    let backend = "\
import dmlcts_backend as dmlcts
class Backend(dmlcts.Backend):
    operators = ['SLICE1']
    def create(self, desc):
        (offset,), (size,), (stride,) = desc.InputWindowOffsets, desc.InputWindowSizes, desc.InputWindowStrides
        def run(input, output):
            array = np.frombuffer(input, np.uint8, desc.InputTensor.Sizes[0]).view(FromTheEnd)
            made = array[offset:offset + size:stride].tobytes()
            output[:len(made)] = made
        return run
dmlcts.serve(Backend())
";
    let script = format!("import sys\nsys.path.insert(0, {FOLDER:?})\n{FROM_THE_END}{backend}");
    let script = Scratch::new("from_the_end.py", script);
    let backend = format!("exec:'{}' '{}'", python(), script.path());
    for (window, code) in [(5, 0), (6, 1)] {
        let case = format!(
            "SLICE1 UINT8 in=6 out=3 InputWindowOffsets=0 InputWindowSizes={window} InputWindowStrides=2"
        );
        let ran = text(&["run", "--backend", &backend, &case]);
        assert!(ran.starts_with(&format!("exit {code}\n")), "{case}: {ran}");
        let program = stdout(&["export", "--as", "numpy", &case]);
        let program = program.replace("run(INPUT)", "run(INPUT.view(FromTheEnd))");
        let ran = run_program(&format!("{FROM_THE_END}{program}"));
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!((ran.status.code(), said.contains("AssertionError")), (Some(code), code == 1), "{said}");
    }
}
