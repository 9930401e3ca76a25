//! `dmlcts export`: each program as printed passes, and fails if an expected byte is another one. Programs in
//! Python run in `python.rs`, and those in JavaScript in `javascript.rs`.
//!
//! Programs in C need a C compiler: `cc`, or the one that `CC` names. Without one, their tests report that
//! they were skipped. With `DMLCTS_REQUIRE_CC=1`, which `.ci/run` sets, they fail.

use std::{fs, path::PathBuf, process::Command};

use crate::common::exported::VALID;
use crate::common::{stdout, text, text_with_input};

/// Invalid descs: a list that is null, lists of other lengths, numbers without a name, a tensor that is null.
const INVALID: [&str; 5] = [
    "SLICE UINT8 in=4 out=9 Offsets=0 Sizes=9 Strides=1",
    "SLICE1 FLOAT32 in=4 out=1 InputWindowOffsets=null InputWindowSizes=0 InputWindowStrides=1",
    "PADDING1 FLOAT32 in=4,4 out=4,4 PaddingMode=9 PaddingValueDataType=INT8 StartPadding=0 EndPadding=0,0 \
     OutputTensor.DataType=77 OutputTensor.DimensionCount=3",
    "SLICE UINT8 InputTensor=null out=4 Offsets=0 Sizes=4 Strides=1",
    "SLICE UINT8 in=99999,99999 out=2,99999 Offsets=0,0 Sizes=2,99999 Strides=99999,1",
];

pub(crate) fn exported(format: &str, case: &str) -> String {
    stdout(&["export", "--as", format, case])
}

/// Changes the first expected byte, which is a byte of the first element.
pub(crate) fn with_another_byte(program: &str) -> String {
    let (before, after) = program.split_once("EXPECTED").expect("there is an expected output");
    let (between, bytes) = after.split_once("0x").expect("it has bytes");
    let byte = u8::from_str_radix(&bytes[..2], 16).expect("two digits");
    format!("{before}EXPECTED{between}0x{:02x}{}", byte ^ 1, &bytes[2..])
}

/// A folder of one test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("dmlcts-export-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).expect("the temporary folder takes a folder");
        Self(path)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).expect("it can be written");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs all programs in Rust as modules of one test program, which is built once.
fn run_rust(name: &str, programs: &[String]) -> String {
    let folder = Folder::new(name);
    let mut modules = Vec::new();
    for (place, program) in programs.iter().enumerate() {
        folder.file(&format!("case_{place}.rs"), program);
        modules.push(format!("mod case_{place};"));
    }
    let main = folder.file("main.rs", &modules.join("\n"));
    let built = folder.0.join("main");
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    // Any edition builds it, so that a reader need not know of editions.
    let output =
        Command::new(compiler).args(["--test", "-D", "warnings", "-o"]).args([&built, &main]).output();
    let output = output.expect("rustc starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let ran = Command::new(&built).output().expect("it starts");
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

#[test]
fn programs_in_rust_pass_and_fail_at_a_wrong_byte() {
    let programs: Vec<String> = VALID.iter().map(|case| exported("rust", case)).collect();
    let count = programs.len();
    let ran = run_rust("right", &programs);
    assert!(ran.contains(&format!("{count} passed; 0 failed")), "{ran}");
    let changed: Vec<String> = programs.iter().map(|program| with_another_byte(program)).collect();
    let ran = run_rust("wrong", &changed);
    assert!(ran.contains(&format!("0 passed; {count} failed")), "{ran}");
    assert!(ran.contains("bytes of output element [0, 0, 0, 0]"), "{ran}");
}

#[test]
fn programs_in_rust_ask_whether_an_invalid_desc_is_refused() {
    let programs: Vec<String> = INVALID.iter().map(|case| exported("rust", case)).collect();
    let count = programs.len();
    let ran = run_rust("refused", &programs);
    assert!(ran.contains(&format!("{count} passed; 0 failed")), "{ran}");
    let accepting: Vec<String> =
        programs.iter().map(|program| program.replace("\n    false\n", "\n    true\n")).collect();
    let ran = run_rust("accepted", &accepting);
    assert!(ran.contains(&format!("0 passed; {count} failed")), "{ran}");
}

/// Builds and runs a program in C; `None` without a compiler.
#[cfg(unix)]
fn run_c(folder: &Folder, program: &str) -> Option<std::process::Output> {
    let file = folder.file("case.c", program);
    let built = folder.0.join("case");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let strict = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-o"];
    match Command::new(&compiler).args(strict).args([&built, &file]).output() {
        Ok(output) => {
            assert!(output.status.success(), "{program}\n{}", String::from_utf8_lossy(&output.stderr));
        }
        Err(error) => {
            assert!(
                std::env::var_os("DMLCTS_REQUIRE_CC").is_none(),
                "there is no C compiler `{compiler}`: {error}"
            );
            eprintln!("SKIPPED: there is no C compiler `{compiler}`: {error}");
            return None;
        }
    }
    Some(Command::new(&built).output().expect("it starts"))
}

#[cfg(unix)]
#[test]
fn programs_in_c_pass_and_fail_at_a_wrong_byte() {
    let folder = Folder::new("c");
    for case in VALID {
        let program = exported("c", case);
        let Some(ran) = run_c(&folder, &program) else { return };
        assert_eq!((ran.status.code(), ran.stdout.len()), (Some(0), 0), "{case}: {ran:?}");
        let ran = run_c(&folder, &with_another_byte(&program)).expect("built before");
        assert_eq!(ran.status.code(), Some(1), "{case}");
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(said.starts_with("output element 0") && said.contains(", expected "), "{case}: {said}");
    }
}

#[cfg(unix)]
#[test]
fn programs_in_c_ask_whether_an_invalid_desc_is_refused() {
    let folder = Folder::new("c-refusal");
    for case in INVALID {
        let program = exported("c", case);
        let Some(ran) = run_c(&folder, &program) else { return };
        assert_eq!(ran.status.code(), Some(0), "{case}");
        let ran = run_c(&folder, &program.replace("return false;", "return true;")).expect("built before");
        assert_eq!(ran.status.code(), Some(1), "{case}");
        assert_eq!(String::from_utf8_lossy(&ran.stdout), "an invalid desc was accepted\n", "{case}");
    }
}

/// A program is read by people. Each format is shown for one case.
#[test]
fn programs_are_short_and_plain() {
    let case = VALID[6];
    for format in ["rust", "c", "numpy", "onnx", "javascript"] {
        insta::assert_snapshot!(format!("program_{format}"), exported(format, case));
    }
    insta::assert_snapshot!("program_strided", exported("numpy", VALID[13]));
    insta::assert_snapshot!("program_invalid", exported("rust", INVALID[1]));
}

#[test]
fn an_invalid_desc_has_no_program_without_a_desc() {
    for format in ["numpy", "onnx", "javascript"] {
        let said = text(&["export", "--as", format, INVALID[0]]);
        assert_eq!(
            said,
            "exit 2\n--- stderr\nerror: the desc is invalid: it has no output, and NumPy, ONNX and JavaScript \
             have no desc to refuse\n  help: write `--as rust` or `--as c`: their programs ask whether the desc is refused\n"
        );
    }
    // A desc that is valid at the newest level is invalid at an older one.
    let said = text(&["export", "--as", "numpy", "--feature-level", "4.0", VALID[6]]);
    assert!(said.starts_with("exit 0\n"), "{said}");
    let said = text(&["export", "--as", "numpy", "--feature-level", "2.0", VALID[6]]);
    assert!(said.starts_with("exit 2\n--- stderr\nerror: the desc is invalid: "), "{said}");
}

#[test]
fn an_open_case_has_no_program() {
    let case = "SLICE FLOAT32 in=4 out=2 Offsets=1 Sizes=2 Strides=0 fill=iota";
    for format in ["numpy", "onnx", "rust", "c", "javascript"] {
        let said = text(&["export", "--as", format, case]);
        let error = "exit 2\n--- stderr\nerror: the pages leave this case open (slice.stride-zero), ";
        assert!(said.starts_with(error), "{said}");
        assert!(said.contains(&format!("dmlcts explain '{case}'")), "{said}");
    }
    let said = text(&["export", "--as", "c", "--feature-level", "4.1", case]);
    assert!(said.contains(&format!("dmlcts explain --feature-level 4.1 '{case}'")), "{said}");
}

#[test]
fn a_program_holds_tensors_up_to_a_limit() {
    let case = |size: u32| format!("SLICE UINT8 in={size} out=2 Offsets=0 Sizes=2 Strides=2");
    for format in ["numpy", "onnx", "rust", "c", "javascript"] {
        assert!(exported(format, &case(65536)).lines().count() > 4096, "{format}");
        let said = text(&["export", "--as", format, &case(65537)]);
        let error = "exit 2\n--- stderr\nerror: a tensor of the case has 65,540 bytes, and a program holds tensors of up to 65,536\n";
        assert!(said.starts_with(error) && said.contains("shrinks"), "{said}");
    }
    let large = "SLICE UINT8 in=1 InputTensor.Strides=1 InputTensor.TotalTensorSizeInBytes=4000000000000 out=1 \
                 Offsets=0 Sizes=1 Strides=1";
    let said = text(&["export", "--as", "c", large]);
    assert!(
        said.starts_with("exit 2\n--- stderr\nerror: a tensor of the case has 4,000,000,000,000 bytes, "),
        "{said}"
    );
}

#[test]
fn onnx_says_what_it_cannot_express() {
    for (case, reason) in [
        (VALID[4], "its tensors have no strides, and the input has"),
        (VALID[20], "Pad has no mode SYMMETRIC"),
        (VALID[19], "Pad reflects less than a whole axis"),
        (
            "SLICE UINT8 in=2,2 out=2,2 OutputTensor.Strides=3,1 Offsets=0,0 Sizes=2,2 Strides=1,1",
            "its tensors have no strides, and the output has",
        ),
    ] {
        let said = text(&["export", "--as", "onnx", case]);
        assert_eq!(
            said,
            format!(
                "exit 2\n--- stderr\nerror: ONNX cannot express this case: {reason}\n  help: write `--as numpy`, \
                 `--as rust`, `--as c` or `--as javascript`\n"
            )
        );
    }
    // Strides that say the same as none, also on an axis that is never walked.
    let packed = "SLICE UINT8 in=1,2 InputTensor.Strides=77,1 out=1,2 OutputTensor.Strides=2,1 Offsets=0,0 \
                  Sizes=1,2 Strides=1,1";
    assert!(exported("onnx", packed).contains("\"starts\": np.array([0, 0], np.int64)"));
}

#[test]
fn arguments_that_are_no_case_are_named() {
    let garbage = "\"\"\"@INPUT@\x1b[2J\n*/ #include \"x\" \\";
    let said = text(&["export", "--as", "numpy", garbage]);
    assert!(said.starts_with("exit 2\n--- stderr\nerror: "), "{said}");
    assert!(!said.contains('\x1b') && !said.contains("import"), "{said}");
    let said = text(&["export", "--as", "c", "SLICE", "UINT8", "in=4"]);
    assert!(said.contains("write dmlcts export --as c 'SLICE UINT8 in=4'"), "{said}");
    let said = text(&["export", "--as", "c", VALID[0], VALID[1]]);
    assert!(said.starts_with("exit 2\n--- stderr\nerror: a program shows one case, and there are several\n"));
    assert!(text(&["export", VALID[0]]).starts_with("exit 2\n"), "the format is required");
    let said = text(&["export", "--as", "java", VALID[0]]);
    assert!(said.starts_with("exit 2\n") && said.contains("numpy, onnx, rust, c, javascript"), "{said}");
    let bad = "SLICE UINT8 in=4 out=4 Offsets=0 Sizes=4 Strides=1 InputBinding.Offset=3";
    let said = text(&["export", "--as", "c", bad]);
    assert!(said.starts_with("exit 2\n") && said.contains("the binding breaks"), "{said}");
}

#[test]
fn a_case_of_standard_input_is_exported() {
    let program = text_with_input(&["export", "--as", "c", "-"], &format!("# one\n{}\n", VALID[1]));
    assert_eq!(program, format!("exit 0\n--- stdout\n{}", exported("c", VALID[1])));
}

/// Offsets of bindings are no part of a desc, and a failure may depend on them.
#[test]
fn a_program_names_the_offsets_of_bindings() {
    let bound = format!("{} InputBinding.Offset=16 OutputBinding.Offset=32", VALID[1]);
    let note = "// In their buffers, the input starts at byte 16 and the output at byte 32.\n";
    assert!(exported("c", &bound).contains(note));
    assert!(!exported("c", VALID[1]).contains("In their buffers"));
}
