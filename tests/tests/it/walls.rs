//! Rules between the crates: which crates depend on each other, which may print, and which may know an
//! operator's name. ARCHITECTURE.md gives the reasons. Each package also has one test program.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Component, Path, PathBuf},
    process::Command,
};

use serde_json::Value;

/// Backends may depend only on these crates of the project, so that none can use the oracle.
const OPEN_TO_BACKENDS: [&str; 3] = ["dmlcts-model", "dmlcts-backend", "dmlcts-reference"];

/// Every backend that exists or is planned; a missing one is skipped.
const BACKENDS: [&str; 4] = ["dmlcts-reference", "dmlcts-wgpu", "dmlcts-directml", "dmlcts-mutants"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the workspace").to_owned()
}

/// Cargo's metadata of the workspace.
fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo prints JSON")
}

/// The normal dependencies of each crate on other crates of the workspace.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    metadata()["packages"]
        .as_array()
        .expect("packages")
        .iter()
        .map(|package| {
            let normal = package["dependencies"]
                .as_array()
                .expect("dependencies")
                .iter()
                .filter(|dependency| dependency["kind"].is_null() && !dependency["path"].is_null())
                .map(|dependency| text(&dependency["name"]))
                .collect();
            (text(&package["name"]), normal)
        })
        .collect()
}

/// All crates that a crate reaches through normal dependencies.
fn reachable(from: &str, graph: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(name) = open.pop() {
        for next in graph.get(&name).into_iter().flatten() {
            if found.insert(next.clone()) {
                open.push(next.clone());
            }
        }
    }
    found
}

/// The lines of a crate's sources, without comments and without modules for tests.
fn code_lines(crate_folder: &str) -> Vec<(PathBuf, usize, String)> {
    let mut lines = Vec::new();
    let mut folders = vec![root().join("crates").join(crate_folder).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a crate has sources") {
            let path = entry.expect("a folder lists").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && path.file_stem().is_some_and(|stem| stem != "tests")
            {
                let text = fs::read_to_string(&path).expect("a source is text");
                let mut tested = false;
                for (number, line) in text.lines().enumerate() {
                    // A module for tests is the last item in its file. An attribute on a declaration of such
                    // a module, `mod tests;`, hides nothing.
                    tested |= line == "mod tests {";
                    if !tested && !line.trim_start().starts_with("//") {
                        lines.push((path.clone(), number + 1, line.to_owned()));
                    }
                }
            }
        }
    }
    assert!(!lines.is_empty());
    lines
}

#[track_caller]
fn assert_absent(crate_folder: &str, words: &[&str], why: &str) {
    for (path, number, line) in code_lines(crate_folder) {
        for word in words {
            assert!(!line.contains(word), "{}:{number}: `{word}`: {why}", path.display());
        }
    }
}

#[test]
fn backends_see_neither_the_spec_nor_the_oracle() {
    let graph = dependencies();
    assert!(
        ["dmlcts-reference", "dmlcts-wgpu", "dmlcts-directml"].iter().all(|name| graph.contains_key(*name))
    );
    for backend in BACKENDS.iter().filter(|backend| graph.contains_key(**backend)) {
        for dependency in reachable(backend, &graph) {
            assert!(OPEN_TO_BACKENDS.contains(&dependency.as_str()), "{backend} depends on {dependency}");
        }
    }
}

#[test]
fn the_stand_in_shares_raw_types_with_its_client_and_no_program_links_it() {
    let graph = dependencies();
    assert_eq!(graph["dmlcts-directml-stand-in"], BTreeSet::from(["dmlcts-directml".to_owned()]));
    assert!(graph.values().all(|normal| !normal.contains("dmlcts-directml-stand-in")));
    for (path, number, line) in code_lines("directml/stand-in") {
        let shares = line.contains("dmlcts_directml::") && !line.contains("dmlcts_directml::raw");
        assert!(
            !shares,
            "{}:{number}: what the client knows, the stand-in has to know by itself",
            path.display()
        );
    }
}

/// A gate must not hold a backend that the author has not written, and the kit without it only serves.
#[test]
fn the_kit_holds_no_backend_and_needs_the_oracle_for_the_gate_alone() {
    let graph = dependencies();
    for backend in BACKENDS {
        assert!(!reachable("dmlcts-kit", &graph).contains(backend), "dmlcts-kit depends on {backend}");
    }
    let manifest = fs::read_to_string(root().join("crates/kit/Cargo.toml")).expect("a manifest");
    let (normal, _) = manifest.split_once("[dev-dependencies]").unwrap_or((&manifest, ""));
    for line in normal.lines().filter(|line| line.starts_with("dmlcts-")) {
        let is_open = OPEN_TO_BACKENDS.iter().any(|name| line.starts_with(&format!("{name}.")));
        assert!(is_open || line.contains("optional = true"), "{line}: it is for the gate alone");
    }
}

/// Where unsafe code may be, below `crates/`: code that calls Direct3D and DirectML, the stand-in for
/// DirectML, the host of shared libraries, the code that protects pages of memory, the code that moves
/// standard output, and a loop whose benchmark shows its gain.
const UNSAFE: [&str; 8] = [
    "backend/src/dylib/",
    "backend/src/guard_pages.rs",
    "backend/src/protocol/stdio/",
    "directml/src/direct3d/",
    "directml/stand-in/src/com/",
    "directml/stand-in/src/operator.rs",
    "directml/stand-in/src/tensor.rs",
    "spec/src/program/step.rs",
];

#[test]
fn unsafe_code_is_where_it_is_said_to_be() {
    let crates = root().join("crates");
    let mut found = BTreeSet::new();
    let folders =
        fs::read_dir(&crates).expect("there are crates").map(|entry| entry.expect("a folder lists"));
    let names = folders.map(|entry| entry.file_name().into_string().expect("a crate has a plain name"));
    for folder in names.chain(["directml/stand-in".to_owned()]) {
        for (path, number, line) in code_lines(&folder) {
            let is_unsafe = line
                .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
                .any(|word| word == "unsafe");
            if is_unsafe {
                let file =
                    path.strip_prefix(&crates).expect("it lies there").to_string_lossy().replace('\\', "/");
                let place = UNSAFE.into_iter().find(|place| file.starts_with(place));
                found.insert(
                    place.unwrap_or_else(|| panic!("{file}:{number}: `unsafe`, outside of {UNSAFE:?}")),
                );
            }
        }
    }
    assert_eq!(found, BTreeSet::from(UNSAFE), "a place without unsafe code need not be named");
}

#[test]
fn the_spec_and_the_runner_know_no_backend() {
    let graph = dependencies();
    for name in ["dmlcts-spec", "dmlcts-generate", "dmlcts-findings"] {
        let found = reachable(name, &graph);
        assert!(!found.contains("dmlcts-backend"), "{name} depends on dmlcts-backend");
    }
    for name in [
        "dmlcts-spec",
        "dmlcts-generate",
        "dmlcts-findings",
        "dmlcts-runner",
        "dmlcts-profiles",
        "dmlcts-diagnose",
        "dmlcts-report",
        "dmlcts-snapshots",
    ] {
        for backend in BACKENDS {
            assert!(!reachable(name, &graph).contains(backend), "{name} depends on {backend}");
        }
    }
}

/// The log of cases is the wall between them: a run knows cases, and an explanation knows findings.
#[test]
fn the_runner_explains_nothing() {
    let graph = dependencies();
    let found = reachable("dmlcts-runner", &graph);
    for name in ["dmlcts-findings", "dmlcts-diagnose", "dmlcts-results", "dmlcts-store", "dmlcts-profiles"] {
        assert!(graph.contains_key(name) && !found.contains(name), "dmlcts-runner depends on {name}");
    }
    assert!(!reachable("dmlcts-findings", &graph).contains("dmlcts-runner"), "the search knows no run");
}

#[test]
fn the_report_judges_no_case() {
    assert_absent("report", &["line::parse", ".judge("], "`results` reads cases, and the report shows them");
}

#[test]
fn the_model_stands_alone_and_the_report_needs_no_generator() {
    let graph = dependencies();
    assert_eq!(graph["dmlcts-model"], BTreeSet::new());
    assert_eq!(reachable("dmlcts-backend", &graph), BTreeSet::from(["dmlcts-model".to_owned()]));
}

#[test]
fn the_core_knows_no_operator_by_name() {
    for folder in [
        "model",
        "spec",
        "generate",
        "findings",
        "runner",
        "profiles",
        "diagnose",
        "report",
        "snapshots",
        "fuzzing",
        "kit",
    ] {
        let names = ["SLICE", "PADDING", "InputWindow", "StartPadding", "PaddingMode", "\"Offsets"];
        assert_absent(folder, &names, "an operator's name stands in its YAML, not in the core");
    }
}

#[test]
fn only_the_report_and_the_program_print() {
    for folder in [
        "model",
        "spec",
        "generate",
        "findings",
        "backend",
        "reference",
        "wgpu",
        "directml",
        "runner",
        "profiles",
        "diagnose",
        "results",
        "store",
        "snapshots",
        "fuzzing",
        "kit",
    ] {
        assert_absent(
            folder,
            &["println!", "eprintln!", "print!(", "dbg!"],
            "libraries return what they have to say",
        );
    }
    // `println!` panics when the pipe is closed, so that no crate uses it.
    for folder in ["report", "cli", "lab"] {
        assert_absent(
            folder,
            &[" println!", "eprintln!", " print!("],
            "write to a stream and handle its error",
        );
    }
}

/// Resolves paths without the file system: `..` removes one folder.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
    }
    plain
}

/// The strings between quotation marks.
fn literals(text: &str) -> impl Iterator<Item = &str> {
    text.split('"').skip(1).step_by(2)
}

/// The strings by which a source may name other files: in a macro that reads files, or in the path of a
/// module, up to the statement's end.
fn file_names(source: &str) -> Vec<&str> {
    let starts = ["include_str!(", "include_bytes!(", "include!(", "#[path"];
    let uses = starts.iter().flat_map(|start| source.split(start).skip(1));
    uses.flat_map(|rest| literals(rest.split(';').next().unwrap_or(rest))).collect()
}

/// The sources in a package, without tests, benchmarks and examples. A package within another one is
/// separate.
fn packaged_sources(package: &Path, packages: &[PathBuf]) -> Vec<PathBuf> {
    let (mut sources, mut open) = (Vec::new(), vec![package.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("a folder lists") {
            let path = entry.expect("a folder lists").path();
            let left_out = ["tests", "benches", "examples"].iter().any(|name| path == package.join(name));
            if path.is_dir() && !left_out && !packages.contains(&path) {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                sources.push(path);
            }
        }
    }
    sources
}

/// The folder of each package, with the names and sources of its test programs.
fn test_programs() -> Vec<(PathBuf, Vec<(String, PathBuf)>)> {
    let metadata = metadata();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let programs = |package: &Value| {
        let targets = package["targets"].as_array().expect("targets").iter();
        let tests = targets.filter(|target| target["kind"][0] == "test");
        tests.map(|target| (text(&target["name"]), plain(Path::new(&text(&target["src_path"]))))).collect()
    };
    let packages = metadata["packages"].as_array().expect("packages").iter();
    packages
        .map(|package| {
            let manifest = text(&package["manifest_path"]);
            (Path::new(&manifest).parent().expect("it lies there").to_owned(), programs(package))
        })
        .collect()
}

/// Linking a test program takes longer than most of its tests.
#[test]
fn a_package_has_one_test_program() {
    let packages = test_programs();
    assert!(packages.iter().any(|(_, programs)| !programs.is_empty()));
    for (folder, programs) in packages {
        for (name, source) in programs {
            assert!(
                name == "it" && source == folder.join("tests/it/main.rs"),
                "{}: make it a module of tests/it/main.rs",
                source.display()
            );
        }
    }
}

/// Neither Cargo nor the compiler reports a file of tests that no program contains.
#[test]
fn every_file_of_tests_is_a_module_of_the_program() {
    let list = |folder: PathBuf| {
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        entries.map(|entry| entry.expect("a folder lists").path()).collect::<Vec<_>>()
    };
    let is_source = |path: &Path| path.extension().is_some_and(|extension| extension == "rs");
    for (folder, _) in test_programs().iter().filter(|(_, programs)| !programs.is_empty()) {
        for path in list(folder.join("tests")) {
            assert!(!is_source(&path), "{}: move it into the folder `it`", path.display());
        }
        let main = fs::read_to_string(folder.join("tests/it/main.rs")).expect("the program is text");
        for path in list(folder.join("tests/it")) {
            let name = path.file_stem().expect("it has a name").to_string_lossy();
            let is_module = is_source(&path) && name != "main" || path.join("mod.rs").exists();
            let is_declared = main.lines().any(|line| {
                line.strip_prefix("mod ")
                    .is_some_and(|rest| rest.trim_start_matches("r#") == format!("{name};"))
            });
            assert!(!is_module || is_declared, "{}: main.rs does not declare it", path.display());
        }
    }
}

#[test]
fn a_package_is_built_from_files_of_its_own_folder() {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    let path_of = |value: &Value| Path::new(value.as_str().expect("a path")).to_owned();
    let folder =
        |package: &Value| path_of(&package["manifest_path"]).parent().expect("it lies there").to_owned();
    let folders: Vec<PathBuf> = packages.iter().map(folder).collect();
    let mut seen = 0;
    for (package, folder) in packages.iter().zip(&folders) {
        for target in package["targets"].as_array().expect("targets") {
            let root = plain(&path_of(&target["src_path"]));
            assert!(root.starts_with(folder), "{} is not in {}", root.display(), folder.display());
        }
        for path in packaged_sources(folder, &folders) {
            let source = fs::read_to_string(&path).expect("a source is text");
            let script = path == folder.join("build.rs");
            let names = if script { literals(&source).collect() } else { file_names(&source) };
            seen += names.len();
            for name in names {
                // A name in `concat!` that begins with a slash follows the package's folder.
                let from =
                    if script || name.starts_with('/') { folder } else { path.parent().expect("a folder") };
                let file = plain(&from.join(name.trim_start_matches('/')));
                assert!(file.starts_with(folder), "{} reads {name}, which its package lacks", path.display());
            }
        }
    }
    assert!(seen > 10, "kernels, suites, profiles and the protocol's page are read so");
}
