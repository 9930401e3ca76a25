//! The choice of the library, the features of the library and its adapters, and the messages of its debug
//! layer.

use super::*;

/// A missing answer of a library is not taken for an answer.
#[test]
fn an_old_library_names_the_features_that_it_cannot_report() {
    let (text, code) = run("level=1.0,unsupported@levels", &["--limit", "40"]);
    let words = "feature level 1.0; the level is assumed, since the library is too old to be asked for it \
                 (0x887A0004 DXGI_ERROR_UNSUPPORTED)";
    assert!(code == 0 && text.contains(words), "exit {code}\n{text}");
    // All requested levels except one are newer than the last of these libraries.
    for (told, words) in [
        ("known-levels=6.3", "feature level 6.3; the library does not know levels above 6.3"),
        ("known-levels=3.0,level=2.1", "feature level 2.1; the library does not know levels above 3.0"),
        ("known-levels=1.0,level=1.0", "feature level 1.0; the library does not know levels above 1.0"),
    ] {
        let (text, exit) = run(told, &["--limit", "40"]);
        let words = format!("{words} (0x80070057 E_INVALIDARG) ");
        assert!(exit == 0 && text.contains(&words), "{told}: exit {exit}\n{text}");
    }
    // FLOAT64 is the ninth; UINT64 and INT64 follow.
    for (way, code) in [WAYS[0], WAYS[3]] {
        let (text, exit) = run(&format!("{way}@types:9+"), &[SLICE1]);
        let words = format!("types that the library does not know: FLOAT64 ({code}), UINT64 ({code})");
        assert!(exit == 0 && text.contains(&words), "exit {exit}\n{text}");
    }
    for way in ["fail", "out-of-memory", "device-removed"] {
        let (text, exit) = run(&format!("{way}@types:9"), &[SLICE1]);
        assert!(exit == 3 && text.contains("CheckFeatureSupport of a data type"), "exit {exit}\n{text}");
    }
}

#[test]
fn execution_flags_arrive_where_operators_are_compiled() {
    let flags = ["none", "no-metacommands", "half-precision", "no-metacommands+half-precision"];
    for (number, wanted) in flags.iter().enumerate() {
        for (other, given) in flags.iter().enumerate() {
            let words = if other == 0 { String::new() } else { given.replace('+', ",") };
            let (text, code) = run_as(&words, &format!("flags={wanted}"), &[SLICE1]);
            let passes = code == 0 && text.contains("1 passed");
            let fails = code == 1 && text.contains("refused it (compile, 0x80070057 E_INVALIDARG)");
            assert!(
                if number == other { passes } else { fails },
                "{given} for {wanted}: exit {code}\n{text}"
            );
        }
    }
}

#[test]
fn debug_layers_explain_the_failure_of_a_call_and_no_other() {
    let (text, code) = run_as("debug", "debug-layer=1,fail@compile", &[EMPTY_WINDOW, SLICE1]);
    assert!(code == 1 && text.contains("1 passed, 1 failed"), "exit {code}\n{text}");
    assert!(text.contains("(compile, 0x80004005 E_FAIL): CompileOperator; the debug layer says: Compile: it was told to fail (1 of 1)"), "{text}");
    assert!(!text.contains("says: a desc is refused"), "{text}");
    let (text, _) = run_as("debug", "debug-layer=1,fail@initialize", &[SLICE1]);
    assert!(
        text.contains("0x80004005 E_FAIL; the debug layer says: Initialize: it was told to fail"),
        "{text}"
    );
    let (text, _) = run("debug-layer=1,fail@compile", &[SLICE1]);
    assert!(!text.contains("debug layer"), "nobody asked for it: {text}");
}

#[test]
fn debug_layers_explain_a_removed_device_in_a_few_messages() {
    let bad = format!("{SLICE1} InputBinding.Offset=64");
    let (text, code) = run_as("debug", "debug-layer=12,alignment=256", &[&bad]);
    let words = "DXGI_ERROR_DEVICE_REMOVED; the debug layer says: (4 more before) | \
                 the device is removed: the inputs: its offset of 64 bytes is no multiple of 256 (5 of 12) | ";
    assert!(code == 1 && text.contains(words) && text.contains("(12 of 12)"), "exit {code}\n{text}");
}

/// A refusal is reported with its own errors. Of other errors, the first, the tenth, the hundredth and so on
/// are reported.
#[test]
fn debug_layers_are_heard_where_nothing_fails() {
    for (told, words) in [
        (
            "complain@create",
            "a debug layer reports an error, and nothing failed: Create: it was told to complain (1 of 3)",
        ),
        (
            "complain@dispatch",
            "a debug layer reports an error, and nothing failed: Dispatch: it was told to complain (1 of 3)",
        ),
    ] {
        let told = format!("debug-layer=3,{told}");
        let (text, code) = run_as("debug", &told, &[EMPTY_WINDOW, SLICE1, SLICE1, PADDING1, PADDING1]);
        assert!(code == 0 && text.contains("held      5 passed, 0 failed"), "exit {code}\n{text}");
        assert_eq!(text.matches("a debug layer reports").count(), 1, "{text}");
        assert!(text.contains(&format!("\nnote: {words}")), "{text}");
    }
    // After the last dispatch, the backend makes no call that would have to read messages itself.
    let (text, code) = run_as("debug", "debug-layer=1,complain@dispatch:1", &[SLICE1]);
    assert!(
        code == 0 && text.contains("nothing failed: Dispatch: it was told to complain"),
        "exit {code}\n{text}"
    );
    let many = run_as("debug", "debug-layer=3,complain@dispatch", &["--limit", "300"]);
    assert!(
        many.0.contains("note: debug layers reported 10 errors so far with which nothing failed"),
        "{}",
        many.0
    );
    let (text, _) = run_as("debug", "debug-layer=3,fail@dispatch", &[EMPTY_WINDOW, SLICE1]);
    assert!(text.contains("the debug layer says") && !text.contains("nothing failed"), "{text}");
    let backend = format!("{},debug", backend());
    let given = ["run", "--backend", &backend, "--jobs", "1", "--limit", "300"];
    let (text, code) = start(stand_in(), "debug-layer=1,complain@dispatch", &given);
    let words = "a backend process notes: a debug layer reports an error, and nothing failed: Dispatch";
    assert!(code == 0 && text.contains(words), "exit {code}\n{text}");
}

#[test]
fn debug_layers_that_are_not_installed_are_told_of_once() {
    let (text, code) = run_as("debug", "", &[SLICE1]);
    // The debug layer of Direct3D may be missing on Windows, and it is on Wine.
    let words = if code == 0 { "; without DirectML's debug layer" } else { "no debug layer is installed" };
    assert!(matches!(code, 0 | 3) && text.matches(words).count() == 1, "exit {code}\n{text}");
    assert!(text.contains("0x887A002D DXGI_ERROR_SDK_COMPONENT_MISSING"), "{text}");
}

/// A library beside the program precedes a named one, which precedes the system's.
#[test]
fn a_library_beside_the_program_is_the_first_to_be_taken() {
    let folder = env::temp_dir().join(format!("dmlcts-{}-beside", std::process::id()));
    fs::create_dir_all(&folder).expect("the temporary folder takes another");
    let [program, library] = ["dmlcts.exe", "DirectML.dll"].map(|name| folder.join(name));
    fs::copy(env!("CARGO_BIN_EXE_dmlcts"), &program).expect("there is room");
    fs::copy(stand_in(), &library).expect("there is room");
    let started = |told: &str| {
        let output = Command::new(&program)
            .args(["run", "--backend", &backend(), "--in-process", SLICE1])
            .env("DMLCTS_DIRECTML", &folder)
            .env("DMLCTS_STAND_IN", told)
            .output();
        printed(&output.expect("the program starts"))
    };
    let (text, code) = started("");
    let words =
        format!("; the one beside the program, and not `{}`, which DMLCTS_DIRECTML names", folder.display());
    assert!(text.contains(&words), "{text}");
    assert_eq!(passed((text, code)), 1);
    // The named file is no library, which shows as soon as there is no other.
    fs::remove_file(&library).expect("nobody uses it");
    let (text, code) = started("");
    assert!(code == 3 && text.contains("no DirectML.dll could be loaded"), "exit {code}\n{text}");
    // Without both, the system's library is loaded, which Wine does not have.
    let output = Command::new(&program).arg("backends").env_remove("DMLCTS_DIRECTML").output();
    let (text, code) = printed(&output.expect("the program starts"));
    fs::remove_dir_all(&folder).expect("nobody uses it");
    let windows = PathBuf::from(env::var_os("SystemRoot").expect("Windows says where it is"));
    let words = match windows.join("System32").join("DirectML.dll") {
        system if system.is_file() => system.display().to_string(),
        _ => "no DirectML.dll could be loaded (the system's: 0x8007007E, ".to_owned(),
    };
    assert!(
        code == 0 && text.to_lowercase().contains(&words.to_lowercase()),
        "exit {code}, not {words}\n{text}"
    );
}

#[test]
fn a_file_that_is_no_directml_ends_the_run() {
    let folder = PathBuf::from(env::var_os("SystemRoot").expect("Windows says where it is"));
    let other = folder.join("System32").join("kernel32.dll");
    let no_library = Scratch::new("text.dll", "This is no library.");
    let nowhere = env::temp_dir().join("dmlcts-nowhere.dll");
    let (bad_format, not_found) = (0x8007_00C1_u32, 0x8007_007E_u32);
    for (path, words) in [
        (other.as_path(), "has no function DMLCreateDevice, so it is not DirectML".to_owned()),
        (
            Path::new(no_library.path()),
            format!("no DirectML.dll could be loaded (* {bad_format:#010X}").replace("0X", "0x"),
        ),
        (&nowhere, format!("no DirectML.dll could be loaded (* {not_found:#010X}").replace("0X", "0x")),
    ] {
        let (text, code) = run_with(path, "", &["--in-process", SLICE1]);
        assert!(code == 3 && says(&text, &words), "{}: exit {code}, not {words}\n{text}", path.display());
    }
}

/// Like the first versions of DirectML. The newer function has another name in a copy of the stand-in.
#[test]
fn a_library_may_have_only_the_older_function_that_creates_devices() {
    let mut bytes = fs::read(stand_in()).expect("it is there");
    let name = b"DMLCreateDevice1\0";
    let places: Vec<_> = (0..bytes.len() - name.len()).filter(|at| bytes[*at..].starts_with(name)).collect();
    assert!(!places.is_empty());
    for place in places {
        // Names stay in order, since they are found by binary search.
        bytes[place + name.len() - 2] = b'0';
    }
    let older = Scratch::new("older.dll", bytes);
    assert_eq!(passed(run_with(older.path(), "", &["--in-process", SLICE1])), 1);
    let (text, code) = run_with(older.path(), "fail@device", &["--in-process", SLICE1]);
    assert!(code == 3 && says(&text, "DMLCreateDevice failed on the adapter * 0x80004005 E_FAIL"), "{text}");
}

#[test]
fn every_adapter_is_listed_with_the_word_that_asks_for_it() {
    let (text, code) = start(stand_in(), "level=4.1,without=FLOAT64", &["backends"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("\ndirectml:warp "), "{text}");
    let listed = text.lines().skip_while(|line| !line.starts_with("directml:")).take(4).collect::<Vec<_>>();
    assert!(text.contains(" directml-stand-in of unknown version, feature level 4.1"), "{text}");
    if let Some((word, _)) = listed[0].split_once(' ').filter(|(word, _)| *word != "directml:warp") {
        assert_eq!(word, "directml:#0");
        let (text, code) = start(stand_in(), "", &["run", "--backend", word, "--in-process", SLICE1]);
        assert_eq!(passed((text, code)), 1);
    }
    let (text, code) = start(stand_in(), "", &["run", "--backend", "directml:#99", "--in-process", SLICE1]);
    assert!(code == 3 && text.contains("there is no adapter #99"), "exit {code}\n{text}");
}
