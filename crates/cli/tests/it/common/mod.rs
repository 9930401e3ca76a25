//! Shared by the end-to-end tests: running the built program, and frames of backends.

pub(crate) mod exported;
pub(crate) mod job;
pub(crate) mod pages;

use std::{
    collections::BTreeSet,
    io::Write as _,
    path::Path,
    process::{Command, Output, Stdio},
    sync::LazyLock,
};

#[cfg_attr(
    not(unix),
    allow(unused_imports, reason = "what every test program uses of it is for Unix alone")
)]
pub(crate) use dmlcts_tests::Scratch;

/// A suite without an end that takes less time to make than `soak`.
pub(crate) const ENDLESS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suites/endless.yaml");

/// Every command; the empty word is the program without a command.
pub(crate) const COMMANDS: [&str; 36] = [
    "",
    "run",
    "fuzz",
    "replay",
    "list",
    "count",
    "show",
    "explain",
    "judge",
    "export",
    "spec",
    "spec check",
    "spec show",
    "spec list",
    "backends",
    "init",
    "doctor",
    "serve",
    "failures",
    "accept",
    "findings",
    "findings add",
    "findings merge",
    "merge",
    "diff",
    "snapshot",
    "snapshot diff",
    "snapshot review",
    "snapshot accept",
    "snapshot reject",
    "snapshot check",
    "snapshot show",
    "suites",
    "profiles",
    "mutants",
    "completions",
];

/// The commands that a help lists, except `help`.
pub(crate) fn commands(words: &[&str]) -> BTreeSet<String> {
    let help = stdout(&[words, &["--help"]].concat());
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty()).filter(|line| line.starts_with("  "));
    let names =
        listed.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

pub(crate) fn dmlcts() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dmlcts"));
    command.env_remove("NO_COLOR").stdin(Stdio::null());
    command
}

/// A command's output on both streams, and its exit code.
pub(crate) fn text(arguments: &[&str]) -> String {
    describe(&run(arguments))
}

/// A list of backends without those that only some builds have; a build that has them names them.
pub(crate) fn without_features(text: &str) -> String {
    let optional = [(", directml", cfg!(feature = "directml")), (", wgpu", cfg!(feature = "wgpu"))];
    optional.into_iter().fold(text.to_owned(), |text, (backend, is_built_in)| {
        assert_eq!(text.contains(backend), is_built_in, "{backend}: {text}");
        text.replace(backend, "")
    })
}

fn describe(output: &Output) -> String {
    let code = output.status.code().expect("the program exits");
    let mut text = format!("exit {code}\n");
    for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        let said = String::from_utf8_lossy(bytes);
        // Only a slow run says where it is.
        let lines = said.split_inclusive('\n').filter(|line| !line.starts_with("at case "));
        let said: String = lines.collect();
        if !said.is_empty() {
            text.extend(["--- ", name, "\n", &said]);
        }
    }
    text
}

pub(crate) fn run(arguments: &[&str]) -> Output {
    dmlcts().args(arguments).output().expect("the program starts")
}

pub(crate) fn stdout(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the program prints UTF-8")
}

/// A command's output on both streams with this standard input, and its exit code.
pub(crate) fn text_with_input(arguments: &[&str], input: &str) -> String {
    let mut child = dmlcts()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut pipe = child.stdin.take().expect("piped");
    // A program that has read enough closes the pipe.
    let _ = pipe.write_all(input.as_bytes());
    drop(pipe);
    describe(&child.wait_with_output().expect("it ends"))
}

/// The command of a process that says hello with these keys beside the required ones, and then sends nothing.
#[cfg(unix)]
pub(crate) fn silent(name: &str) -> (Scratch, String) {
    let hello = Scratch::new(name, frame("hello", &hello("")));
    let backend = format!("exec:sh -c 'cat {}; exec sleep 100'", hello.path());
    (hello, backend)
}

/// The header of a `hello`: the required keys, and these.
#[cfg_attr(not(unix), expect(dead_code, reason = "the tests that use it are for Unix alone"))]
pub(crate) fn hello(more: &str) -> String {
    format!(
        r#"{{"protocol":1,"name":"silent","version":"1","feature_level":"6.4","data_types":["FLOAT32"],"ranks":{{"min":1,"max":8}}{more}}}"#
    )
}

/// A frame of the protocol without a body.
#[cfg_attr(not(unix), expect(dead_code, reason = "the tests that use it are for Unix alone"))]
pub(crate) fn frame(name: &str, header: &str) -> Vec<u8> {
    let mut frame = b"\xf7dmlcts1".to_vec();
    frame.extend(format!("{name:8}").as_bytes());
    frame.extend((header.len() as u64).to_le_bytes());
    frame.extend([0; 8]);
    frame.extend(header.as_bytes());
    frame
}

/// A backend that is correct except at one case, at which it misbehaves in this way of `examples/faulty`.
pub(crate) fn broken(way: &str, case: &str) -> String {
    faulty(&format!("unruly {way} '{case}'"))
}

/// `--backend` for one of the faulty backends in `examples/faulty`, with these arguments.
pub(crate) fn faulty(words: &str) -> String {
    format!("exec:'{}' {words}", faulty_program())
}

/// The program of the faulty backends. Cargo builds it with the tests, unless `--test` selects a target.
pub(crate) fn faulty_program() -> &'static str {
    static PROGRAM: LazyLock<String> = LazyLock::new(|| {
        let folder = Path::new(env!("CARGO_BIN_EXE_dmlcts")).with_file_name("examples");
        let program = folder.join(format!("faulty{}", std::env::consts::EXE_SUFFIX));
        assert!(program.exists(), "no {}: cargo build -p dmlcts --example faulty", program.display());
        program.to_str().expect("the target folder has a plain name").to_owned()
    });
    &PROGRAM
}

/// The shared library of `examples/exported`, which Cargo builds as it builds the faulty backends.
#[cfg(unix)]
pub(crate) fn exported_library() -> String {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    let folder = Path::new(env!("CARGO_BIN_EXE_dmlcts")).with_file_name("examples");
    let library = folder.join(format!("{DLL_PREFIX}exported{DLL_SUFFIX}"));
    assert!(library.exists(), "no {}: cargo build -p dmlcts --example exported", library.display());
    library.to_str().expect("the target folder has a plain name").to_owned()
}

/// A folder of findings of a backend, in a folder of this test's own.
pub(crate) struct Findings {
    /// Removes the folder at the end.
    _root: tempfile::TempDir,
    path: String,
}

impl Findings {
    /// A folder with a finding of each id and text.
    pub(crate) fn new(backend: &str, files: &[(&str, String)]) -> Self {
        // A space has to be quoted in printed commands.
        let root = tempfile::Builder::new().prefix("findings ").tempdir().expect("a temporary folder");
        let folder = root.path().join(backend);
        std::fs::create_dir_all(&folder).expect("the temporary folder takes a folder");
        for (id, text) in files {
            std::fs::write(folder.join(format!("{id}.yaml")), text).expect("it can be written");
        }
        Self { path: folder.to_str().expect("a plain name").to_owned(), _root: root }
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }
}

/// The text of a known finding, by a predicate or by its smallest case alone.
pub(crate) fn finding(id: &str, filter: Option<&str>, class: &str, smallest: &str) -> String {
    let filter = filter.map(|filter| format!("where: {filter}\n")).unwrap_or_default();
    format!(
        "finding: {id}\nstatus: known\nkind: bug\n{filter}class: [{class}]\nsmallest: {smallest}\nreason: Told to.\n"
    )
}
