//! Backends in shared libraries, end to end: the example in C, one in Rust, libraries that misbehave, and
//! files that are no library.
//!
//! A C compiler builds them: `cc`, or the one that `CC` names. Without a compiler, the tests report that they
//! were skipped. With `DMLCTS_REQUIRE_CC=1`, which `.ci/run` sets, they fail.

#![cfg(unix)]

use std::{path::PathBuf, process::Command};

use dmlcts_tests::wait_until;

use crate::common::{Findings, Scratch, dmlcts, exported_library, finding, stdout, text};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../backend");
const CASE: &str = "SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota";

/// A library for one test, removed at its end.
struct Library(PathBuf);

impl Library {
    /// Builds a C file; `None` without a compiler.
    fn build(name: &str, file: &str) -> Option<Self> {
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        let library = std::env::temp_dir().join(format!("dmlcts-{}-{name}.so", std::process::id()));
        let built = Command::new(&compiler)
            .args([
                "-std=c11",
                "-O1",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-Wno-missing-field-initializers",
                "-Wno-unused-parameter",
            ])
            .args(["-shared", "-fPIC", "-I", &format!("{FOLDER}/include"), "-o"])
            .arg(&library)
            .arg(file)
            .output();
        match built {
            Ok(built) => assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr)),
            Err(error) => {
                assert!(
                    std::env::var_os("DMLCTS_REQUIRE_CC").is_none(),
                    "there is no C compiler `{compiler}`: {error}"
                );
                eprintln!("SKIPPED: there is no C compiler `{compiler}`: {error}");
                return None;
            }
        }
        Some(Self(library))
    }

    /// Builds the example with some of its lines changed.
    fn changed(name: &str, changes: &[(&str, &str)]) -> Option<Self> {
        let mut source = include_str!("../../../backend/c/example_backend.c").to_owned();
        for (from, to) in changes {
            assert!(source.contains(from), "the example has lost `{from}`");
            source = source.replacen(from, to, 1);
        }
        let file = Scratch::new(&format!("{name}.c"), source);
        Self::build(name, file.path())
    }

    fn backend(&self) -> String {
        format!("dylib:{}", self.0.display())
    }

    /// The output of `run` for a case, with the library called `mine.so`.
    fn says(&self) -> String {
        let path = self.0.display().to_string();
        text(&["run", "--backend", &self.backend(), CASE]).replace(&path, "mine.so")
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn the_example_in_c_passes() {
    let Some(library) = Library::build("example", &format!("{FOLDER}/c/example_backend.c")) else { return };
    for place in [&["--jobs", "2"][..], &["--in-process"]] {
        let ran = stdout(&[&["run", "--backend", &library.backend()][..], place].concat());
        assert!(ran.contains(" on example-c 1.0: ") && ran.contains(" 0 failed"), "{ran}");
        assert!(!ran.contains("skipped"), "{ran}");
    }
}

#[test]
fn a_backend_in_rust_passes() {
    let backend = format!("dylib:{}", exported_library());
    for selected in [&["--strategy", "documented"][..], &["--jobs", "2"], &["--in-process"]] {
        let ran = stdout(&[&["run", "--suite", "smoke", "--backend", &backend][..], selected].concat());
        assert!(ran.contains(" on exported 1: ") && ran.contains(" 0 failed"), "{ran}");
        assert!(!ran.contains("skipped"), "{ran}");
    }
}

/// A panic in Rust is a failure with its message, and a fault in a value is found.
#[test]
fn faults_of_a_backend_in_rust_are_found() {
    let library = exported_library();
    for (fault, exit, expected) in [
        ("no-device", 3, "does not open: it failed: there is no device"),
        ("open-panics", 3, "does not open: it failed: it panicked: the driver is old"),
        ("zero-byte", 3, "does not open: it failed: its `version` holds a zero byte"),
        ("create-panics", 1, "failed (create): it failed: it panicked: SLICE has 1 axes"),
        ("run-panics", 1, "failed (execute): it failed: it panicked: no kernel"),
        ("close-panics", 3, "signal: 6"),
        ("wrong-value", 1, "wrong values"),
    ] {
        let ran = dmlcts()
            .args(["run", "--backend", &format!("dylib:{library}"), CASE])
            .env("EXPORTED_FAULT", fault)
            .output()
            .expect("the program starts");
        let said = [ran.stdout, ran.stderr].map(|said| String::from_utf8_lossy(&said).into_owned()).concat();
        assert!(ran.status.code() == Some(exit) && said.contains(expected), "{fault}: {said}");
    }
}

#[test]
fn a_file_that_is_no_library_is_reported() {
    let file = Scratch::new("no-library", "text");
    let ran = text(&["run", "--backend", &format!("dylib:{}", file.path()), CASE]);
    assert!(ran.starts_with("exit 3\n") && ran.contains("cannot be loaded as a shared library: "), "{ran}");
    assert!(ran.contains("help: build ") && ran.contains("`nm -D "), "{ran}");
    let ran = text(&["run", "--backend", "dylib:./no-such-file.so", CASE]);
    assert!(ran.starts_with("exit 3\n") && ran.contains("`./no-such-file.so` cannot be loaded"), "{ran}");
    assert!(text(&["run", "--backend", "dylib:", CASE]).starts_with("exit 2\n"));
}

#[test]
fn a_library_that_is_no_backend_or_another_version_is_named() {
    let missing = [
        ("dmlcts_result dmlcts_run(", "dmlcts_result my_run("),
        (
            "uint32_t dmlcts_abi",
            "dmlcts_result my_run(dmlcts_backend *backend, dmlcts_operator *created, const dmlcts_memory *memory,\n    dmlcts_reason *reason);\nuint32_t dmlcts_abi",
        ),
    ];
    let Some(library) = Library::changed("missing", &missing) else { return };
    let says = library.says();
    assert!(says.contains("exit 3\n") && says.contains("`mine.so` has no function `dmlcts_run`; "), "{says}");
    let library =
        Library::changed("version", &[("return DMLCTS_ABI_VERSION;", "return 7;")]).expect("built before");
    let says = library.says();
    assert!(
        says.contains(
            "`mine.so` was built with version 7 of dmlcts_backend.h, and this program speaks version 1"
        ),
        "{says}"
    );
}

#[test]
fn what_a_library_lacks_is_skipped_with_its_reason() {
    let declared = "    static const dmlcts_capabilities capabilities = {";
    let lacks = format!(
        "    static const dmlcts_lack lacks[] = {{{{\"PADDING1\", \"PaddingMode != CONSTANT\", \"constant only\"}}}};\n{declared}"
    );
    let changes =
        [(declared, &*lacks), (".least_rank = 1,", ".least_rank = 1, .lacks = lacks, .lack_count = 1,")];
    let Some(library) = Library::changed("lacking", &changes) else { return };
    let ran = text(&["run", "--backend", &library.backend(), "--strategy", "documented"]);
    assert!(ran.contains(" cases of PADDING1 where PaddingMode != CONSTANT (constant only)\n"), "{ran}");
    assert!(ran.starts_with("exit 0\n"), "{ran}");
}

/// The declaration that a report prints is C to paste into the library.
#[test]
fn a_printed_declaration_compiles() {
    let made = "    dmlcts_result result = make(desc, made, reason);\n";
    let refuses = format!(
        "{made}    if (result == DMLCTS_OK && made->mode != 0)\n        \
         result = refuse(reason, DMLCTS_UNSUPPORTED, \"\\\"constant\\\" only\");\n"
    );
    let Some(library) = Library::changed("refusing", &[(made, &refuses)]) else { return };
    let ran = text(&["run", "--backend", &library.backend(), "--explain", "2000"]);
    let printed = ran.split("declare that it `lacks` them:\n").nth(1).and_then(|rest| rest.lines().next());
    let printed = printed.unwrap_or_else(|| panic!("{ran}"));
    assert!(printed.contains(r#"{"PADDING1", "PaddingMode "#), "{ran}");
    let declared = "    static const dmlcts_capabilities capabilities = {";
    let lacks = format!("    static const dmlcts_lack lacks[] = {{\n{printed}\n}};\n{declared}");
    let changes = [
        (made, &*refuses),
        (declared, &*lacks),
        (".least_rank = 1,", ".least_rank = 1, .lacks = lacks, .lack_count = 1,"),
    ];
    let library = Library::changed("pasted", &changes).expect("built before");
    let ran = text(&["run", "--backend", &library.backend()]);
    assert!(ran.starts_with("exit 0\n") && ran.contains("(\"constant\" only)\n"), "{ran}");
}

/// A library that compiles each desc says so, and does not hang. A run of an operator has no more time.
#[test]
fn a_create_timeout_is_no_hang() {
    let start = "    dmlcts_operator *made = (dmlcts_operator *)calloc(1, sizeof *made);\n";
    let slow = format!("    for (time_t end = time(NULL) + 2; time(NULL) < end;) {{}}\n{start}");
    let changes = [(start, &*slow), ("#include <string.h>", "#include <string.h>\n#include <time.h>")];
    let ran = |library: &Library| {
        text(&["run", "--backend", &library.backend(), "--case-timeout", "500ms", "--retries", "0", CASE])
    };
    let Some(library) = Library::changed("slow", &changes) else { return };
    let hung = ran(&library);
    assert!(!hung.starts_with("exit 0\n") && hung.contains("it was silent for 0.5 s"), "{hung}");
    assert!(hung.contains("a longer --case-timeout or the backend's `create_timeout`"), "{hung}");
    let declared = (".operator_count = 3", ".operator_count = 3, .create_timeout = 600000");
    let library = Library::changed("slow", &[changes[0], changes[1], declared]).expect("built before");
    let passed = ran(&library);
    assert!(passed.starts_with("exit 0\n"), "{passed}");
    let runs = "    (void)backend, (void)reason;\n    for (uint64_t element";
    let hangs = (runs, &*runs.replace("    for", "    for (;;) {}\n    for"));
    let library = Library::changed("slow", &[hangs, declared]).expect("built before");
    let hung = ran(&library);
    assert!(hung.contains("it was silent for 0.5 s"), "{hung}");
}

/// A library's declaration is checked before any case runs.
#[test]
fn declarations_that_make_no_sense_are_named() {
    for (name, from, to, expected) in [
        (
            "null",
            "    return &capabilities;",
            "    return (void)&capabilities, (void *)0;",
            "dmlcts_describe returned null",
        ),
        ("name", ".name = \"example-c\"", ".name = 0", "its `name` is null or empty"),
        ("level", ".feature_level = 0x6400", ".feature_level = 64", "its `feature_level` 0x0040 is none of"),
        (
            "types",
            ".data_types = 0xFFE",
            ".data_types = 0xFFFFE",
            "its `data_types` 0xFFFFE has no bit, or a bit",
        ),
        ("ranks", ".least_rank = 1", ".least_rank = 9", "its ranks end at 8 before they begin at 9"),
        (
            "operators",
            ".operator_count = 3",
            ".operator_count = 2000000000",
            "its `operator_count` is 2000000000",
        ),
        (
            "lacks",
            ".operator_count = 3",
            ".operator_count = 3, .lack_count = 1",
            "its `lack_count` is 1, and its `lacks` are null or more than 1000",
        ),
        (
            "unknown",
            "operators[] = {\"SLICE\"",
            "operators[] = {\"Slice\"",
            "there is no operator `Slice`; did you mean `SLICE`?",
        ),
        (
            "create",
            ".operator_count = 3",
            ".operator_count = 3, .create_timeout = 600001",
            "its `create_timeout` is above 600000 ms",
        ),
        (
            "endless",
            ".version = \"1.0\"",
            &format!(".version = \"{}\"", "x".repeat(256)),
            "its `version` has no zero byte within 256 bytes",
        ),
        (
            "open",
            "    return DMLCTS_OK;\n}\n\nvoid dmlcts_close",
            "    return refuse(reason, DMLCTS_FAILED, \"no device\");\n}\n\nvoid dmlcts_close",
            "`mine.so` does not open: it failed: no device",
        ),
    ] {
        let Some(library) = Library::changed(name, &[(from, to)]) else { return };
        let says = library.says();
        assert!(says.starts_with("exit 3\n") && says.contains(expected), "{name}: {says}");
        // The library is built right, and what it declares is wrong.
        let is_declared = name != "open";
        assert_eq!(
            says.contains("help: fix what `dmlcts_describe` returns: "),
            is_declared,
            "{name}: {says}"
        );
        assert!(!says.contains("nm -D"), "{name}: {says}");
    }
}

/// A fault in a call is the failure of the case of that call.
#[test]
fn misbehaviour_in_a_call_is_the_failure_of_its_case() {
    let run = "    uint32_t at[MOST_AXES] = {0}, width = output->width;\n";
    let with = |line: &str| format!("{run}    {line}\n");
    for (name, line, expected) in [
        ("segv", "*(volatile int *)0 = 1;".to_owned(), "signal: 11"),
        ("abort", "abort();".to_owned(), "signal: 6"),
        ("code", "return 77;".to_owned(), "`dmlcts_run` returned 77, which dmlcts_backend.h does not have"),
        (
            "why",
            "return refuse(reason, DMLCTS_FAILED, \"it is\\ncold\");".to_owned(),
            "failed (execute): it failed: it is\\ncold",
        ),
        ("unended", "memset(reason, 'x', sizeof *reason); return 1;".to_owned(), "it is invalid: xxxx"),
        (
            "further",
            "memory->output[memory->output_bytes + 100] = 1;".to_owned(),
            "the backend wrote at offset 100 past the end of the output",
        ),
        ("prints", "puts(\"running\"), fflush(stdout);".to_owned(), "1 passed"),
    ] {
        let Some(library) = Library::changed(name, &[(run, &with(&line))]) else { return };
        let says = library.says();
        assert!(says.contains(expected), "{name}: {says}");
    }
    let create = "    dmlcts_operator *made = (dmlcts_operator *)calloc(1, sizeof *made);\n";
    for (name, line, expected) in [
        (
            "created-code",
            "return -5;",
            "failed (create): `dmlcts_create` returned -5, which dmlcts_backend.h does",
        ),
        (
            "created-why",
            "return refuse(reason, DMLCTS_FAILED, \"it is\\ncold\");",
            "failed (create): it failed: it is\\ncold",
        ),
        (
            "created-memory",
            "return refuse(reason, DMLCTS_OUT_OF_MEMORY, \"it is full\");",
            "the backend refused it (create, 0x8007000E E_OUTOFMEMORY): it is full",
        ),
    ] {
        let line = format!("{create}    free(made);\n    {line}\n");
        let library = Library::changed(name, &[(create, &line)]).expect("built before");
        let says = library.says();
        assert!(says.contains(expected), "{name}: {says}");
    }
}

/// A write out of bounds gives the same failure, at the same place and for the same known failure, in a
/// process and in the program.
#[test]
fn a_stray_write_is_the_same_failure_in_a_worker_and_in_this_process() {
    let run = "    uint32_t at[MOST_AXES] = {0}, width = output->width;\n";
    for (name, line, class, said) in [
        (
            "behind",
            "if (created->mode == 2) memory->output[memory->output_bytes + 3] ^= 1;",
            "wrote-outside",
            "wrote at offset 3 past the end of the output",
        ),
        (
            "before",
            "if (created->mode == 2) memory->output[-1] ^= 1;",
            "wrote-outside",
            "wrote at offset 1 before the start of the output",
        ),
        (
            "input",
            "if (created->mode == 2) ((uint8_t *)memory->input)[2] ^= 1;",
            "input-changed",
            "changed byte 2 of the input",
        ),
        (
            "refused",
            "if (created->mode == 2) { memory->output[-2] ^= 1; return DMLCTS_UNSUPPORTED; }",
            "wrote-outside",
            "wrote at offset 2 before the start of the output",
        ),
        (
            "wrong",
            "if (created->mode == 2) { memory->output[memory->output_bytes] ^= 1; return DMLCTS_OK; }",
            "wrote-outside",
            "wrote at offset 0 past the end of the output",
        ),
    ] {
        let Some(library) =
            Library::changed(&format!("stray-{name}"), &[(run, &format!("{run}    {line}\n"))])
        else {
            return;
        };
        let backend = library.backend();
        let selected = [
            "run",
            "--backend",
            &backend,
            "--strategy",
            "random",
            "--jobs",
            "1",
            "--retries",
            "0",
            "--explain",
            "0",
        ];
        let smallest =
            "PADDING1 UINT8 in=2 out=3 PaddingMode=REFLECTION StartPadding=1 EndPadding=0 fill=iota";
        let strays = finding("reflection", Some("valid and PaddingMode == REFLECTION"), class, smallest);
        let known = Findings::new("example-c", &[("reflection", strays)]);
        let [worker, here] = [&[][..], &["--in-process"]].map(|place| {
            let results = Scratch::new(&format!("stray-{name}.jsonl"), "");
            let kept = ["--results", results.path(), "--overwrite"];
            let ran = text(&[&selected[..], place, &kept].concat());
            assert!(ran.starts_with("exit 1\n") && ran.contains(said), "{name}: {ran}");
            let list = ["--findings", known.path()];
            let expected = text(&[&selected[..], place, &list].concat());
            assert!(expected.starts_with("exit 0\n"), "{name}: {expected}");
            let lines = std::fs::read_to_string(results.path()).expect("the results");
            let cases: Vec<String> =
                lines.lines().filter(|line| line.starts_with("{\"case\"")).map(str::to_owned).collect();
            // The part that a person reads, without the duration and the commands.
            let report: Vec<String> = ran
                .lines()
                .take_while(|line| *line != "--- stderr")
                .filter(|line| !line.starts_with("speed ") && !line.contains("dmlcts "))
                .map(str::to_owned)
                .collect();
            (cases, report)
        });
        assert_eq!(worker.0.len(), 350);
        assert!(worker.0.iter().any(|line| line.contains("\"strayed\"")), "{name}");
        for (worker, here) in worker.0.iter().zip(&here.0) {
            assert_eq!(worker, here, "{name}");
        }
        assert_eq!((worker.0.len(), worker.1), (here.0.len(), here.1), "{name}");
    }
}

/// Reads and writes out of bounds that leave no trace end the process of a worker on a repeat.
#[test]
fn a_repeat_touches_a_guard_page_where_it_leaves_its_memory() {
    let run = "    uint32_t at[MOST_AXES] = {0}, width = output->width;\n";
    let [ends, starts] =
        [4, 5].map(|size| format!("SLICE FLOAT32 in={size} out=4 Offsets=0 Sizes=4 Strides=1 fill=iota"));
    for (name, line, case) in [
        ("reads-behind", "(void)*(volatile const float *)(memory->input + memory->input_bytes);", &ends),
        ("reads-before", "(void)((volatile const float *)memory->input)[-1];", &starts),
        (
            "writes-behind",
            "volatile uint8_t *far = memory->output + memory->output_bytes + 16; *far ^= 1; *far ^= 1;",
            &ends,
        ),
        ("writes-before", "volatile uint8_t *far = memory->output - 16; *far ^= 1; *far ^= 1;", &starts),
        (
            "writes-input",
            "volatile uint8_t *scratch = (uint8_t *)memory->input; *scratch ^= 1; *scratch ^= 1;",
            &ends,
        ),
    ] {
        let library = Library::changed(name, &[(run, &format!("{run}    {line}\n"))]);
        let Some(library) = library else { return };
        let says = |place: &[&str]| text(&[&["run", "--backend", &library.backend(), case], place].concat());
        assert!(says(&["--runs", "once"]).starts_with("exit 0\n"), "{name} leaves no trace");
        let ran = says(&[]);
        // A protected page is a SIGSEGV on Linux, and a SIGBUS on macOS.
        let is_crash = ran.contains("signal: 11") || ran.contains("signal: 10");
        assert!(ran.starts_with("exit 1\n") && is_crash, "{name}: {ran}");
    }
}

/// A library whose operators disturb each other passes as long as one is alive at a time.
#[test]
fn operators_that_are_alive_together_are_kept_apart() {
    let destroy = "void dmlcts_destroy(dmlcts_backend *backend, dmlcts_operator *created) {\n";
    let clears_newest = "    if (newest != NULL && newest != created) memset(newest, 0, sizeof *newest);\n    newest = NULL;\n";
    let changes = [
        (destroy, format!("static dmlcts_operator *newest;\n\n{destroy}{clears_newest}")),
        ("*created = made;", "*created = newest = made;".to_owned()),
    ];
    let changes = changes.each_ref().map(|(from, to)| (*from, to.as_str()));
    let Some(library) = Library::changed("mixed-up", &changes) else { return };
    let run = ["run", "--backend", &library.backend(), "--limit", "800", "--jobs", "1"];
    let one_at_a_time = text(&[&run[..], &["--in-process"]].concat());
    assert!(one_at_a_time.starts_with("exit 0\n"), "{one_at_a_time}");
    let ran = text(&[&run[..], &["--explain", "200"]].concat());
    assert!(ran.starts_with("exit 1\n") && ran.contains("FLAKE 1: "), "{ran}");
    assert!(ran.contains(" operators alive when it was found\n"), "{ran}");
    let in_batches = |line: &str| line.starts_with("  in batches with the ") && line.contains(" failed ");
    assert!(ran.lines().any(in_batches), "a flake fails again among others: {ran}");
}

/// A fault while a library is closed is no case's failure, and is reported.
#[test]
fn a_fault_in_close_fails_the_run() {
    let close = "void dmlcts_close(dmlcts_backend *backend) { (void)backend; }\n";
    for (name, line, expected) in
        [("close-aborts", "abort();", ": signal: 6"), ("close-exits", "exit(7);", ": exit status: 7")]
    {
        let Some(library) =
            Library::changed(name, &[(close, &close.replace("; }", &format!("; {line} }}")))])
        else {
            return;
        };
        let says = library.says();
        assert!(
            says.starts_with("exit 3\n") && says.contains("held      1 passed, 0 failed"),
            "{name}: {says}"
        );
        assert!(says.contains("\nerror: ") && says.contains(expected), "{name}: {says}");
    }
}

/// Cases that need something undeclared are skipped without a call, in every kind of host.
#[test]
fn undeclared_cases_are_skipped_in_every_process() {
    let run = "    uint32_t at[MOST_AXES] = {0}, width = output->width;\n";
    let changes = [
        (".data_types = 0xFFE", ".data_types = 1u << 1"),
        (run, &format!("{run}    if (width != 4) abort();\n")),
    ];
    let Some(library) = Library::changed("undeclared", &changes) else { return };
    let nested = format!("exec:'{}' serve --backend '{}'", env!("CARGO_BIN_EXE_dmlcts"), library.backend());
    let held = |backend: &str, place: &[&str]| {
        let ran = text(&[&["run", "--backend", backend, "--limit", "700"][..], place].concat());
        assert!(ran.starts_with("exit 0\n"), "{ran}");
        ran.lines().find(|line| line.starts_with("held ")).map(str::to_owned)
    };
    let worker = held(&library.backend(), &[]);
    assert!(worker.as_ref().is_some_and(|held| held.contains(" skipped, 0 failed")), "{worker:?}");
    assert_eq!(held(&library.backend(), &["--in-process"]), worker);
    assert_eq!(held(&nested, &[]), worker);
}

/// A library that hangs does not outlive the program, however the program ends.
#[test]
fn a_hang_ends_with_a_program_that_is_killed() {
    let run = "    uint32_t at[MOST_AXES] = {0}, width = output->width;\n";
    let number = Scratch::new("number", "");
    let hang = format!(
        "#include <stdio.h>\n#include <unistd.h>\n    FILE *file = fopen(\"{}\", \"w\");\n    \
         fprintf(file, \"%d.\", (int)getpid()), fclose(file);\n    for (;;) pause();\n",
        number.path()
    );
    let (head, body) = hang.split_at(hang.find("    FILE").expect("it is there"));
    let changes =
        [("#include <stdlib.h>\n", format!("#include <stdlib.h>\n{head}")), (run, format!("{run}{body}"))];
    let changes = changes.each_ref().map(|(from, to)| (*from, to.as_str()));
    let Some(library) = Library::changed("hangs", &changes) else { return };
    let mut program = Command::new(env!("CARGO_BIN_EXE_dmlcts"))
        .args(["run", "--backend", &library.backend(), "--case-timeout", "100s", CASE])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("the program starts");
    let said = || std::fs::read_to_string(number.path()).unwrap_or_default();
    wait_until(|| said().ends_with('.'));
    program.kill().expect("it runs");
    program.wait().expect("it was started here");
    let said = said();
    let is_there = || Command::new("kill").args(["-0", said.trim_end_matches('.')]).output();
    wait_until(|| is_there().is_ok_and(|asked| !asked.status.success()));
}

/// Any number of cases in a row can end their process: each has its verdict, and a known finding can hold
/// them.
#[test]
fn a_class_of_cases_that_crashes_is_judged_to_its_end() {
    let run = "    uint32_t at[MOST_AXES] = {0}, width = output->width;\n";
    let crash = format!("{run}    if (created->mode == 2) abort();\n");
    let Some(library) = Library::changed("reflection", &[(run, &crash)]) else { return };
    let backend = library.backend();
    let ran = text(&["run", "--backend", &backend, "--limit", "800", "--explain", "0"]);
    assert!(ran.starts_with("exit 1\n") && ran.contains(": 800 cases: "), "{ran}");
    assert!(ran.contains(" crashed\n") && !ran.contains(" lost"), "{ran}");
    let smallest = "PADDING1 UINT8 in=2 out=3 PaddingMode=REFLECTION StartPadding=1 EndPadding=0 fill=iota";
    let aborts = finding("reflection", Some("valid and PaddingMode == REFLECTION"), "crashed", smallest);
    let known = Findings::new("example-c", &[("reflection", aborts)]);
    let ran = text(&["run", "--backend", &backend, "--limit", "800", "--findings", known.path()]);
    assert!(ran.starts_with("exit 0\n"), "{ran}");
    // Only such cases, and none was answered before.
    let selected =
        ["--where", "operator == PADDING1 and valid and PaddingMode == REFLECTION", "--limit", "40"];
    let ran = text(&[&["run", "--backend", &backend, "--explain", "0"][..], &selected].concat());
    assert!(ran.starts_with("exit 1\n") && ran.contains(" 40 crashed\n") && !ran.contains(" lost"), "{ran}");
}
