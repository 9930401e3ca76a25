//! A C++ compiler compares the declarations of `raw` with `DirectML.h`, on any system with a compiler.
//!
//! `DMLCTS_DIRECTML_HEADER` names the folder with `directx/DirectML.h`, as `.ci/directml-header` prints it.
//! Without it, the test reports that it was skipped, since `cargo test` needs only Rust. With
//! `DMLCTS_REQUIRE_DIRECTML_HEADER=1`, it fails.

use std::{
    env, fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::Once,
};

/// The includes that a C++ program needs before `DirectML.h`. Without a Windows SDK, the package has
/// replacements.
const PRELUDE: &str = "\
#include <cstddef>
#include <type_traits>
#ifdef _WIN32
#include <d3d12.h>
#else
#include <wsl/winadapter.h>
#include <directx/d3d12.h>
#endif
#define DML_TARGET_VERSION 0x6400
#include <directx/DirectML.h>
";

/// The folder with the header, or `None` after a message, which no captured output hides, that the tests are
/// skipped.
fn header() -> Option<PathBuf> {
    static SAID: Once = Once::new();
    let folder = env::var_os("DMLCTS_DIRECTML_HEADER").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    if folder.is_none() {
        let why = "DMLCTS_DIRECTML_HEADER names no folder to include DirectML.h from; .ci/directml-header prints one";
        assert!(env::var("DMLCTS_REQUIRE_DIRECTML_HEADER").as_deref() != Ok("1"), "{why}");
        SAID.call_once(|| {
            // An error of the message is ignored.
            let _ = write!(io::stderr(), "\n*** SKIPPED: the layout of DirectML.h's structs: {why} ***\n");
        });
    }
    folder
}

/// Compiles the claims with a C++ compiler.
fn compile(folder: &Path, claims: &str) -> Output {
    static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("layout-{number}.cpp"));
    fs::write(&source, format!("{PRELUDE}{claims}")).expect("the folder for temporary files can be written");
    Command::new(env::var_os("CXX").unwrap_or_else(|| "c++".into()))
        .args(["-std=c++17", "-fsyntax-only", "-w", "-I"])
        .arg(folder)
        .arg("-I")
        .arg(folder.join("wsl/stubs"))
        .arg(source)
        .output()
        .expect("a C++ compiler starts; CXX names another than c++")
}

#[test]
fn sizes_offsets_types_and_numbers_are_those_of_the_header() {
    let Some(folder) = header() else { return };
    let claims = dmlcts_directml::raw::assertions();
    assert!(claims.lines().count() > 150);
    let output = compile(&folder, &claims);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A compiler that accepts anything would prove nothing.
#[test]
fn a_wrong_claim_is_refused() {
    let Some(folder) = header() else { return };
    let claims = dmlcts_directml::raw::assertions();
    for (right, wrong) in [
        (
            "offsetof(DML_PADDING1_OPERATOR_DESC, PaddingValue) == 24",
            "offsetof(DML_PADDING1_OPERATOR_DESC, PaddingValue) == 20",
        ),
        ("static_cast<int>(DML_OPERATOR_SLICE1) == 111", "static_cast<int>(DML_OPERATOR_SLICE1) == 110"),
        ("InputWindowStrides), const INT*>", "InputWindowStrides), const UINT*>"),
    ] {
        assert!(claims.contains(right), "{right}");
        let output = compile(&folder, &claims.replace(right, wrong));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains("static assertion failed"), "{wrong}: {said}");
    }
}

/// The test runs itself without a header: a skipped check is reported, and fails if it is required.
#[test]
fn a_header_that_is_not_there_is_told_of_or_missed() {
    for (required, passes, words) in [
        (
            None,
            true,
            "*** SKIPPED: the layout of DirectML.h's structs: DMLCTS_DIRECTML_HEADER names no folder",
        ),
        (Some("1"), false, "DMLCTS_DIRECTML_HEADER names no folder"),
    ] {
        let mut command = Command::new(env::current_exe().expect("a program has a file"));
        command.args(["--exact", "header::sizes_offsets_types_and_numbers_are_those_of_the_header"]);
        command.env_remove("DMLCTS_DIRECTML_HEADER").env_remove("DMLCTS_REQUIRE_DIRECTML_HEADER");
        command.envs(required.map(|value| ("DMLCTS_REQUIRE_DIRECTML_HEADER", value)));
        let output = command.output().expect("it starts");
        let said =
            [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        assert!(output.status.success() == passes && said.contains(words), "{said}");
    }
}
