//! The built program, end to end: its output and its exit codes. These tests are in this crate and not in
//! `tests/`, because Cargo passes the path of a program only to the tests of its own crate.

#[cfg(unix)]
use std::{
    io::{BufRead, BufReader, Read},
    process::{Command, Stdio},
};

use dmlcts_tests::at_once;

#[cfg(unix)]
use crate::common::dmlcts;
use crate::common::{ENDLESS, Scratch, run, stdout, text, without_features};

const EXAMPLE: &str = "SLICE1 FLOAT32 in=1,1,4,4 out=1,1,2,2 InputWindowOffsets=0,0,0,1 \
                       InputWindowSizes=1,1,4,3 InputWindowStrides=1,1,-2,2 fill=iota";
const PADDED: &str =
    "PADDING1 INT16 in=2 out=5 PaddingMode=CONSTANT PaddingValue=-7 StartPadding=1 EndPadding=2 fill=iota";
const EMPTY_WINDOW: &str =
    "SLICE1 FLOAT32 in=4 out=1 InputWindowOffsets=0 InputWindowSizes=0 InputWindowStrides=1 fill=iota";
const STRIDE_ZERO: &str = "SLICE FLOAT32 in=4 out=2 Offsets=1 Sizes=2 Strides=0 fill=iota";

/// The output extends past the last stride on each axis.
const UNREACHABLE: &str = "SLICE1 FLOAT32 in=4,8,8 out=3,8,8 InputWindowOffsets=0,0,0 InputWindowSizes=4,8,8 \
                           InputWindowStrides=-2,2,3 fill=iota";
/// Some clauses of the desc as a whole are broken: counts, types, lengths, codes.
const ODD: &str = "PADDING1 FLOAT32 in=4,4 out=4,4 PaddingMode=9 PaddingValueDataType=INT8 StartPadding=0 \
                   EndPadding=0,0 OutputTensor.DataType=INT8 OutputTensor.DimensionCount=3 fill=iota";
const OVERLAP: &str = "SLICE FLOAT32 in=4 out=4 Offsets=0 Sizes=4 Strides=1 OutputTensor.Strides=0 fill=iota";
const LARGE: &str =
    "SLICE FLOAT32 in=20000,1000 out=20000,1000 Offsets=0,0 Sizes=20000,1000 Strides=1,1 fill=iota";

/// A backend that accepts everything fails in it, too.
#[test]
fn the_endless_suite_has_invalid_descs() {
    let broken = "invalid and operator == SLICE and any axis OutputTensor.Strides == 0";
    let listed = stdout(&["list", "--suite", "soak", "--where", broken, "--limit", "1"]);
    assert!(listed.starts_with("SLICE "), "{listed}");
}

/// A search that may never find a case ends, and says where.
#[test]
fn a_filter_that_nothing_passes_ends_the_list_of_an_endless_suite() {
    let nothing = text(&["list", "--suite", ENDLESS, "--where", "rank > 100"]);
    let error = "error: the first 1,001,472 cases of the suite were left out, and it never ends\n";
    assert!(nothing.starts_with(&format!("exit 2\n--- stderr\n{error}")), "{nothing}");
    // Only the first case.
    let rare = "operator == SLICE and rank == 4 and (any axis Strides == 1497821481) \
                and (any axis Sizes == 108) and (any axis InputTensor.Sizes == 17)";
    let some = text(&["list", "--suite", "soak", "--where", rare]);
    assert!(some.starts_with("exit 2\n--- stdout\nSLICE FLOAT64 in=108,17,1,1 "), "{some}");
    let error = "error: behind the case that was taken, the next 1,001,472 cases of the suite were left out, and it never ends\n";
    assert!(some.contains(error), "{some}");
}

#[test]
fn a_case_is_shown_with_its_tensors() {
    insta::assert_snapshot!(stdout(&["show", PADDED]));
    insta::assert_snapshot!("show_invalid", stdout(&["show", EMPTY_WINDOW]));
    insta::assert_snapshot!("show_large", stdout(&["show", LARGE]));
}

#[test]
fn a_case_is_explained_element_by_element() {
    insta::assert_snapshot!("explain_slice1", stdout(&["explain", EXAMPLE]));
    insta::assert_snapshot!("explain_padding1", stdout(&["explain", PADDED]));
    insta::assert_snapshot!("explain_open", stdout(&["explain", STRIDE_ZERO]));
    insta::assert_snapshot!("explain_invalid", stdout(&["explain", EMPTY_WINDOW]));
    let many = "SLICE UINT8 in=1000 out=100 Offsets=0 Sizes=100 Strides=2 fill=iota";
    let explained = stdout(&["explain", many]);
    assert!(explained.contains("Output[63] = Input[126] = "), "{explained}");
    assert!(explained.ends_with("... and 36 more elements\n"), "{explained}");
}

#[test]
fn a_case_is_judged_at_a_level() {
    insta::assert_snapshot!("judge_valid", text(&["judge", EXAMPLE]));
    insta::assert_snapshot!("judge_old_level", text(&["judge", "--feature-level", "2.0", EXAMPLE]));
    insta::assert_snapshot!("judge_invalid", text(&["judge", EMPTY_WINDOW]));
    insta::assert_snapshot!("judge_open", text(&["judge", STRIDE_ZERO]));
    insta::assert_snapshot!("judge_unreachable", text(&["judge", UNREACHABLE]));
    insta::assert_snapshot!("judge_whole_desc", text(&["judge", ODD]));
    insta::assert_snapshot!("judge_overlap", text(&["judge", OVERLAP]));
}

#[test]
fn specs_are_listed_shown_and_checked() {
    assert_eq!(stdout(&["spec", "list"]).lines().count(), 3);
    for operator in ["SLICE", "SLICE1", "PADDING1"] {
        assert!(stdout(&["spec", "show", operator]).contains("clauses"));
    }
    assert!(stdout(&["spec", "show", "SLICE"]).contains("\nlet\n  last = Offsets + (Sizes - 1) * Strides\n"));
    assert!(stdout(&["spec", "check"]).contains("no mistakes"));
    let specs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec");
    let file = format!("{specs}/slice1.yaml");
    assert!(stdout(&["spec", "check", &file]).starts_with("SLICE1: "));
    let cited = stdout(&["spec", "show", "PADDING1"]);
    assert!(cited.contains("  padding1.output-size: padded - OutputTensor.Sizes in [0, 2^32, 2^33] (Members / OutputTensor)\n"), "{cited}");
    assert!(cited.contains(" InputTensor.Sizes >= 1 (DML_BUFFER_TENSOR_DESC, Members / Sizes)\n"), "{cited}");
    assert!(cited.contains("\n      when all axes StartPadding == 0 and EndPadding == 0\n"), "{cited}");
    assert!(
        cited.contains("  from 6.4: WRAP (dml-feature-level-history, DML_FEATURE_LEVEL_6_4)\n"),
        "{cited}"
    );
}

/// A spec has one hash, independent of the order of its files and of the command.
#[test]
fn the_same_specs_have_the_same_hash_everywhere() {
    let hash = |text: String| {
        let (_, rest) = text.split_once("(spec ").unwrap_or_else(|| panic!("no hash: {text}"));
        rest.split(')').next().expect("a closing parenthesis").to_owned()
    };
    let built_in = hash(stdout(&["spec", "check"]));
    assert_eq!(built_in.len(), 12);
    assert_eq!(hash(stdout(&["run", "--limit", "1"])), built_in);
    let file = |name: &str| format!("{}/../../spec/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    for order in [["common", "slice", "slice1", "padding1"], ["slice1", "padding1", "common", "slice"]] {
        let files = order.map(file);
        let mut arguments = vec!["spec", "check"];
        arguments.extend(files.iter().map(String::as_str));
        assert_eq!(hash(stdout(&arguments)), built_in, "{order:?}");
    }
    assert_ne!(hash(stdout(&["spec", "check", &file("slice1")])), built_in);
}

/// Each of these exits with 2, and names the location of the mistake and the remedy.
#[test]
fn bad_input_is_explained() {
    let unknown_key = Scratch::new("unknown.yaml", "operator: X\nmember: 3\n");
    let bomb = Scratch::new("bomb.yaml", bomb());
    let not_text = Scratch::new("not-text.yaml", b"operator: \xff\n");
    let no_cases = Scratch::new(
        "no-cases.yaml",
        "suite: none\npurpose: none\nparts: [{id: none, strategy: documented, operators: [SLICE], ranks: {min: 1, max: 1}}]\n",
    );
    let ten_cases = Scratch::new(
        "ten-cases.yaml",
        "suite: ten\npurpose: ten\nparts: [{id: ten, strategy: random, count: 10}]\n",
    );
    let long_where = format!("{}rank == SLICE", "rank == 1 or ".repeat(10_000));
    let long_case = format!("SLICE FLOAT32 in={}x out=1", "1,".repeat(60_000));
    let long_line = Scratch::new("long-line.yaml", format!("operator: [{}]\n", "x, ".repeat(60_000)));
    let too_large = Scratch::new("too-large.yaml", vec![b'#'; (1 << 20) + 1]);
    let long = format!("SLICE1 FLOAT32 in={}", "1,".repeat(100));
    let cases: &[(&str, &[&str])] = &[
        ("no_command", &[]),
        ("unknown_command", &["rum"]),
        ("unknown_option", &["run", "--sweet", "smoke"]),
        ("unknown_backend", &["run", "--backend", "refrence"]),
        ("unknown_suite", &["run", "--suite", "smok"]),
        ("missing_suite_file", &["run", "--suite", "./no-such.yaml"]),
        ("unknown_strategy", &["list", "--strategy", "negativ"]),
        ("strategy_that_the_suite_lacks", &["list", "--suite", "soak", "--strategy", "documented"]),
        ("bad_level", &["run", "--feature-level", "7.0"]),
        ("bad_limit", &["run", "--limit", "many"]),
        ("negative_limit", &["run", "--limit", "-1"]),
        ("zero_limit", &["list", "--limit", "0"]),
        ("no_failures", &["run", "--max-failures", "0"]),
        ("negative_failures", &["run", "--max-failures", "-1"]),
        ("no_hangs", &["run", "--max-hangs", "0"]),
        ("budget_and_order", &["run", "--budget", "60s", "--order", "layered"]),
        ("budget_and_profile", &["run", "--budget", "60s", "--profile", "directml-6.4"]),
        ("bad_seed", &["run", "--seed", "x"]),
        ("negative_seed", &["run", "--seed", "-1"]),
        ("bad_timeout", &["run", "--timeout", "soon"]),
        ("zero_timeout", &["run", "--timeout", "0"]),
        ("negative_timeout", &["run", "--timeout", "-1s"]),
        ("fractional_memory", &["run", "--memory", "1.5GiB"]),
        ("negative_memory", &["run", "--memory", "-5"]),
        ("zero_memory", &["run", "--memory", "0"]),
        ("negative_jobs", &["run", "--jobs", "-1"]),
        ("nothing_to_run", &["run", "--suite", ten_cases.path(), "--where", "1 == 2"]),
        ("nothing_to_list", &["list", "--suite", ten_cases.path(), "--where", "1 == 2"]),
        ("nothing_of_a_strategy", &["list", "--suite", no_cases.path()]),
        ("no_time", &["run", "--suite", "soak", "--where", "1 == 2", "--timeout", "100ms"]),
        ("bad_memory", &["run", "--memory", "lots"]),
        ("bad_difference", &["run", "--allow", "nan"]),
        ("no_threads", &["run", "--jobs", "0"]),
        ("unknown_name_in_where", &["list", "--where", "PadingMode == REFLECTION"]),
        ("type_error_in_where", &["list", "--where", "InputTensor.Sizes + 1"]),
        ("scalar_in_where", &["list", "--where", "PaddingValue == 3"]),
        ("code_of_operator_in_where", &["list", "--where", "operator == 1"]),
        ("quotes_in_where", &["list", "--where", "operator == \"SLICE\""]),
        ("empty_where", &["list", "--where", " "]),
        ("open_parenthesis_in_where", &["list", "--where", "(rank == 1"]),
        ("nothing_near_in_where", &["list", "--where", "weight == 1"]),
        ("name_of_another_operator_in_where", &["list", "--where", "any axis StartPading > 1"]),
        ("long_where", &["list", "--where", &long_where]),
        ("long_case", &["run", &long_case]),
        ("long_line_in_spec", &["spec", "check", long_line.path()]),
        ("unfinished_where", &["list", "--where", "(1 == "]),
        ("empty_case", &["run", ""]),
        ("unknown_operator", &["run", "SLICE2 FLOAT32 in=1 out=1 fill=iota"]),
        ("unknown_member", &["run", "SLICE FLOAT32 in=1 out=1 Offset=0 Sizes=1 Strides=1 fill=iota"]),
        (
            "value_too_large",
            &["run", "SLICE FLOAT32 in=1 out=1 Offsets=4294967296 Sizes=1 Strides=1 fill=iota"],
        ),
        ("duplicate_key", &["run", "SLICE FLOAT32 in=1 in=1 out=1 Offsets=0 Sizes=1 Strides=1 fill=iota"]),
        ("bad_fill", &["run", "SLICE FLOAT32 in=1 out=1 Offsets=0 Sizes=1 Strides=1 fill=noise"]),
        ("long_list", &["run", &long]),
        ("unknown_operator_of_spec", &["spec", "show", "SLICE3"]),
        ("missing_spec", &["spec", "check", "no-such.yaml"]),
        ("unknown_key_in_spec", &["spec", "check", unknown_key.path()]),
        ("bomb", &["spec", "check", bomb.path()]),
        ("spec_that_is_no_text", &["spec", "check", not_text.path()]),
        ("spec_that_is_too_large", &["spec", "check", too_large.path()]),
        ("suite_that_is_no_text", &["run", "--suite", not_text.path()]),
        ("directory", &["spec", "check", env!("CARGO_MANIFEST_DIR")]),
        ("endless_count", &["count", "--suite", "soak", "--where", "1 == 1"]),
        ("endless_obligations", &["count", "--suite", "soak", "--obligations"]),
        ("snapshot_without_a_proper_name", &["snapshot", "--name", "Mine"]),
        ("unknown_snapshot", &["snapshot", "show", "--dir", "no-such-folder", "mine"]),
    ];
    for (name, arguments) in cases {
        let text = text(arguments);
        assert!(text.starts_with("exit 2\n--- stderr\n"), "{name}: {text}");
        assert!(text.len() < 5_000, "{name} floods the terminal");
        let files = [&unknown_key, &bomb, &not_text, &too_large, &long_line].map(Scratch::path);
        let shown = ["unknown.yaml", "bomb.yaml", "not-text.yaml", "too-large.yaml", "long-line.yaml"];
        let text = files.into_iter().zip(shown).fold(text, |text, (path, name)| text.replace(path, name));
        let mut text = text.replace(env!("CARGO_MANIFEST_DIR"), "directory");
        if *name == "unknown_backend" {
            text = without_features(&text);
        }
        insta::assert_snapshot!(format!("bad_{name}"), text);
    }
}

/// An argument that looks like something else gets a hint.
#[test]
fn close_names_are_proposed() {
    let cases: [(&str, &[&str]); 6] = [
        ("script_for_backend", &["run", "--backend", "./mine.py"]),
        ("command_for_backend", &["doctor", "--backend", "python3 mine.py"]),
        ("library_for_backend", &["run", "--backend", "./libmine.so"]),
        ("timeout_without_unit", &["run", "--timeout", "10"]),
        ("memory_without_unit", &["run", "--memory", "1"]),
        ("case_without_quotes", &["run", "--jobs", "1", "SLICE", "FLOAT32", "in=4", "out=2", "Strides=2"]),
    ];
    for (name, arguments) in cases {
        let text = text(arguments);
        assert!(text.starts_with("exit 2\n--- stderr\n"), "{name}: {text}");
        insta::assert_snapshot!(format!("bad_{name}"), text);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_without_end_is_not_read_to_its_end() {
    for arguments in [["spec", "check", "/dev/zero"], ["run", "--suite", "/dev/zero"]] {
        let text = text(&arguments);
        assert!(
            text.starts_with("exit 2\n--- stderr\nerror: cannot read /dev/zero: it has more than"),
            "{text}"
        );
    }
}

/// Ten aliases of ten aliases of …
fn bomb() -> String {
    let level = |level: u32| {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        format!("a{level}: &a{level} [{aliases}]\n")
    };
    format!("a0: &a0 [x]\n{}", (1..10).map(level).collect::<String>())
}

#[test]
fn invalid_descs_are_legal_lines_and_nothing_is_allocated_for_them() {
    let many = "SLICE1 FLOAT32 in=65536,65536 out=65536,65536 InputWindowOffsets=0,0 \
                InputWindowSizes=65536,65536 InputWindowStrides=1,1 fill=iota";
    let nine = "SLICE FLOAT32 in=1,1,1,1,1,1,1,1,1 out=1,1,1,1,1,1,1,1,1 Offsets=0,0,0,0,0,0,0,0,0 \
                Sizes=1,1,1,1,1,1,1,1,1 Strides=1,1,1,1,1,1,1,1,1 fill=iota";
    let zero = "SLICE FLOAT32 in=0 out=1 Offsets=0 Sizes=1 Strides=1 fill=iota";
    let short = "SLICE FLOAT32 in=4,4 out=1,1 Offsets=0 Sizes=1,1 Strides=1,1 fill=iota";
    for line in [many, nine, zero, short] {
        assert!(stdout(&["judge", line]).starts_with("invalid"), "{line}");
        assert!(stdout(&["run", line]).contains("1 passed, 0 failed"), "{line}");
        stdout(&["explain", line]);
        stdout(&["show", line]);
    }
}

#[test]
fn the_default_run_says_what_was_promised_what_ran_and_what_held() {
    let output = run(&["run"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    for head in [
        "promised  SLICE, SLICE1, PADDING1",
        "ran       suite smoke, seed 0 on reference",
        "held",
        "speed",
        "next",
    ] {
        assert!(text.lines().any(|line| line.starts_with(head)), "{head}: {text}");
    }
    assert!(text.contains(" 0 failed"), "{text}");
}

#[test]
fn quiet_prints_nothing_where_nothing_fails() {
    assert_eq!(text(&["run", "--quiet", "--limit", "100"]), "exit 0\n");
}

#[test]
fn a_limit_a_filter_and_a_strategy_pick_the_cases_that_a_list_shows() {
    let listed = stdout(&[
        "list",
        "--where",
        "operator == PADDING1",
        "--strategy",
        "random,negative",
        "--limit",
        "40",
    ]);
    assert_eq!(listed.lines().count(), 40);
    assert!(listed.lines().all(|line| line.starts_with("PADDING1 ")));
    let ran =
        stdout(&["run", "--where", "operator == PADDING1", "--strategy", "random,negative", "--limit", "40"]);
    assert!(ran.contains(": 40 cases"), "{ran}");
    let count = stdout(&["count", "--where", "operator == PADDING1", "--strategy", "random"]);
    let lines = stdout(&["list", "--where", "operator == PADDING1", "--strategy", "random"]);
    assert_eq!(count.trim().replace(',', ""), lines.lines().count().to_string());
}

#[test]
fn a_list_does_not_depend_on_the_number_of_threads() {
    let all = stdout(&["list", "--jobs", "1"]);
    assert_eq!(stdout(&["list", "--jobs", "3"]), all);
    let counted = stdout(&["count"]);
    assert!(counted.contains("\n                 note: found no case for "), "{counted}");
    let total = counted.lines().last().expect("a line").trim().replace(',', "");
    assert_eq!(total, format!("{}  in all", all.lines().count()));
}

#[test]
fn a_listed_line_runs_as_it_is() {
    for line in stdout(&["list", "--strategy", "negative", "--limit", "5"]).lines() {
        let ran = stdout(&["run", line]);
        assert!(ran.contains("0 failed"), "{line}: {ran}");
    }
}

#[test]
fn a_seed_changes_what_is_drawn_and_nothing_else() {
    let random = |seed: &str| stdout(&["list", "--strategy", "random", "--limit", "50", "--seed", seed]);
    assert_eq!(random("7"), random("7"));
    assert_ne!(random("7"), random("8"));
}

#[test]
fn a_lower_level_runs_what_is_promised_there() {
    let text = stdout(&["run", "--feature-level", "3.0", "--limit", "500"]);
    assert!(text.contains("at feature level 3.0"), "{text}");
    assert!(text.contains(" 0 failed"), "{text}");
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_ends_an_endless_list_quietly() {
    let mut child = dmlcts()
        .args(["list", "--suite", ENDLESS])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    assert!(lines.next().expect("a line").is_ok());
    drop(lines);
    let mut said = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut said).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    assert_eq!(said, "");
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_run_with_the_summary_of_what_ran() {
    let mut child = dmlcts()
        .args(["run", "--suite", ENDLESS])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // A line of progress shows that cases are running.
    let mut said = BufReader::new(child.stderr.take().expect("piped"));
    let mut line = String::new();
    said.read_line(&mut line).expect("text");
    assert!(line.starts_with("at case "), "{line}");
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill starts").success());
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(130), "{text}");
    assert!(text.contains("ended     interrupted, after "), "{text}");
    assert!(text.contains("held      "), "{text}");
}

/// The report names the option that the user wrote.
#[test]
fn a_limit_on_time_ends_a_long_run_and_is_no_failure() {
    at_once([(ENDLESS, "--timeout"), ("exhaustive", "--budget")], |(suite, option)| {
        let within = |seconds: u32| text(&["run", "--suite", suite, option, &format!("{seconds}s")]);
        // A slow machine needs more time for the first case.
        let has_run = |said: &String| !said.starts_with("exit 2\n");
        let text = (0..20).map(|power| within(1 << power)).find(has_run).expect("days are enough");
        assert!(text.starts_with("exit 0\n"), "{text}");
        assert!(text.contains(&format!("ended     since its time was up ({option}), after ")), "{text}");
        assert!(!text.contains("timeout") || option == "--timeout", "{text}");
    });
}

/// Without an adapter, one sentence says what to install. wgpu's own variable asks for a kind of adapter that
/// this system does not have or, on Linux, whose drivers are hidden.
#[cfg(feature = "wgpu")]
#[test]
fn without_an_adapter_the_program_says_what_to_install_and_exits_with_3() {
    let hidden = if cfg!(target_os = "macos") { "dx12" } else { "metal" };
    let without = |arguments: &[&str]| {
        let run = |kind: &str| {
            let mut command = dmlcts();
            command.args(arguments).env("WGPU_BACKEND", kind);
            command.env("VK_DRIVER_FILES", "/nonexistent.json").env("VK_ICD_FILENAMES", "/nonexistent.json");
            command.output().expect("the program starts")
        };
        let output = run(hidden);
        if cfg!(target_os = "linux") {
            assert_eq!(run("vulkan"), output);
        }
        output
    };
    let output = without(&["run", "--backend", "wgpu"]);
    insta::assert_snapshot!(String::from_utf8_lossy(&output.stderr), @"error: the backend cannot be started: no GPU adapter was found, not even one in software; install a Vulkan driver (on Debian or Ubuntu, `apt-get install mesa-vulkan-drivers` has one that needs no GPU)");
    assert_eq!(output.status.code(), Some(3));
    let listed = without(&["backends"]);
    let lines = String::from_utf8_lossy(&listed.stdout);
    // The text about DirectML depends on the system.
    let lines: Vec<&str> = lines.lines().filter(|line| !line.starts_with("directml")).collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    reference   written by hand for the CPU; feature levels 1.0 to 6.4, data types of 8 to 64 bits
    wgpu        no GPU adapter was found, not even one in software; install a Vulkan driver (on Debian or Ubuntu, `apt-get install mesa-vulkan-drivers` has one that needs no GPU)
    dylib:<...> a shared library that speaks the ABI of crates/backend/include/dmlcts_backend.h
    exec:<...>  a process that speaks the protocol of crates/backend/PROTOCOL.md
    mutant:<...> the reference with a planted fault, to measure suites, or with several: mutant:A+B; see `dmlcts mutants --list`
    ");
    assert_eq!(listed.status.code(), Some(0));
}

/// DirectML runs only on Windows. Elsewhere its name exists, and one sentence says why it cannot run.
#[cfg(all(feature = "directml", not(windows)))]
#[test]
fn directml_exits_with_3_without_windows() {
    let output = dmlcts().args(["run", "--backend", "directml:warp"]).output().expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("the backend cannot be started: DirectML is a part of Windows"), "{said}");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(3), 0));
    let listed = dmlcts().arg("backends").output().expect("the program starts");
    assert!(String::from_utf8_lossy(&listed.stdout).contains("directml    DirectML is a part of Windows"));
    let output =
        dmlcts().args(["run", "--backend", "directml:warp,Intel"]).output().expect("the program starts");
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("`warp` and `Intel` cannot both be the adapter")
    );
    assert_eq!(output.status.code(), Some(2));
}

/// `--order layered` takes the parts in turn, also in a run that goes on and in the command that repeats it.
#[test]
fn a_few_hundred_layered_cases_have_some_of_everything() {
    let file = Scratch::nothing("layered.jsonl");
    let run = ["run", "--order", "layered", "--limit", "300", "--results", file.path()];
    let said = text(&run);
    let ran = said.lines().find(|line| line.starts_with("ran ")).expect("it says what ran");
    for strategy in ["documented 32", "negative 32", "covering 31", "twins 31", "vectors 19"] {
        assert!(ran.contains(strategy), "{strategy}: {said}");
    }
    assert!(file.text().contains("dmlcts run --suite smoke --order layered --limit 300"), "{}", file.text());
    let other = text(&["run", "--limit", "300", "--resume", file.path()]);
    assert!(other.starts_with("exit 2\n") && other.contains("--order"), "{other}");
    assert_eq!(text(&["merge", file.path()]).lines().next(), Some("exit 0"));
}
