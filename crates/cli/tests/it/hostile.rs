//! Untrusted files and names, end to end. A hostile text replaces each string of a file in turn, and is put
//! into names and arguments. In the program's output, no terminal obeys it, no CI service finds a command in
//! it, and it makes no line of its own.

use std::{collections::BTreeSet, fs, path::PathBuf, process::Output};

#[cfg(unix)]
use std::process::{Command, Stdio};

#[cfg(unix)]
use crate::common::Scratch;
use crate::common::{Findings, broken, dmlcts, finding};
use serde_json::{Value, json};

/// A title, a bell, a carriage return, a new line, right-to-left text, and commands of GitHub and Azure
/// Pipelines.
const HOSTILE: &str = "::warning::w\x1b]0;t\x07\x1b[2J\u{9b}0m\r\nSPOOFED\n  ::error::e\u{202e}\u{2028}##[error]x ##vso[task.y]@octocat";

/// A folder of this test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("dmlcts-hostile-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).expect("the temporary folder takes a folder");
        Self(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("it has a plain name").to_owned()
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::write(&path, text).expect("it can be written");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs a command and checks that it does not panic and prints plain text.
#[track_caller]
fn check(arguments: &[&str], what: &str) -> Output {
    let output = dmlcts().args(arguments).output().expect("the program starts");
    for stream in [&output.stdout, &output.stderr] {
        let text =
            std::str::from_utf8(stream).unwrap_or_else(|error| panic!("{what}: {arguments:?}: {error}"));
        let is_obeyed = |letter: char| {
            letter.is_control() && letter != '\n'
                || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2028}' | '\u{2029}')
        };
        assert!(!text.contains(is_obeyed), "{what}: {arguments:?}: {text:?}");
        for line in text.lines() {
            let start = line.trim_start();
            assert!(!start.starts_with("::") && !line.contains("##"), "{what}: {arguments:?}: {text}");
            assert!(!start.starts_with("SPOOFED"), "{what}: {arguments:?}: {text}");
        }
    }
    let code = output.status.code();
    assert!(
        matches!(code, Some(0..=3)),
        "{what}: {arguments:?}: {code:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// The paths of all strings and objects in a value.
fn places(value: &Value, at: &str, all: &mut BTreeSet<String>) {
    match value {
        Value::String(_) => _ = all.insert(at.to_owned()),
        Value::Array(parts) => {
            // All parts have the same form.
            parts.iter().take(1).for_each(|part| places(part, &format!("{at}/0"), all));
        }
        Value::Object(parts) => {
            all.insert(at.to_owned());
            parts.iter().for_each(|(key, part)| places(part, &format!("{at}/{key}"), all));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The value with this text at a path; in an object, as a key.
fn spoiled(value: &Value, place: &str, text: &str) -> Value {
    let mut value = value.clone();
    match value.pointer_mut(place).expect("it is there") {
        Value::Object(parts) => _ = parts.insert(text.to_owned(), json!(1)),
        part => *part = json!(text),
    }
    value
}

/// Each value with this text at one of its paths, with the path.
fn each_spoiled(value: &Value, text: &str) -> Vec<(String, Value)> {
    let mut all = BTreeSet::new();
    places(value, "", &mut all);
    all.into_iter().map(|place| (place.clone(), spoiled(value, &place, text))).collect()
}

/// The lines of a results file with failures, answers to questions and a known failure, one line of each
/// kind.
fn recorded(folder: &Folder) -> Vec<Value> {
    let suite =
        json!({"suite": "own", "purpose": "why", "parts": [{"id": "part", "strategy": "documented"}]});
    let suite = folder.file("suite.yaml", &suite.to_string());
    let list = crate::common::stdout(&["list", "--suite", &suite, "--where", "operator == SLICE1"]);
    let mut lines = list.lines().filter(|line| line.starts_with("SLICE1 FLOAT32 "));
    let [first, second] = [lines.next(), lines.next()].map(|line| line.expect("there are some"));
    let known = finding("known", None, "wrong-value", second);
    let known = Findings::new("reference", &[("known", known)]);
    let path = folder.path("whole.jsonl");
    let backend = broken("flips", first);
    // With fewer experiments, some fields of a finding are empty.
    let arguments =
        ["run", "--quiet", "--backend", &backend, "--suite", &suite, "--retries", "0", "--explain", "1000"];
    let output =
        check(&[&arguments[..], &["--findings", known.path(), "--results", &path]].concat(), "the run");
    assert_eq!(output.status.code(), Some(1));
    let text = fs::read_to_string(&path).expect("it is there");
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    let mut lines: Vec<Value> = lines.collect();
    let is = |line: &Value, kind: &str| line.get(kind).is_some();
    assert!(is(&lines[0], "header") && lines.last().is_some_and(|last| is(last, "summary")));
    assert!(lines.iter().any(|line| line["case"]["class"] == "wrong-value"));
    lines.retain(|line| !is(line, "checkpoint"));
    lines
}

fn text_of(lines: &[Value]) -> String {
    lines.iter().flat_map(|line| [line.to_string(), "\n".to_owned()]).collect()
}

/// The value as JSON in ASCII, which YAML reads, too. YAML refuses some letters that are not escaped.
fn ascii(value: &Value) -> String {
    let letters = value.to_string();
    let escape = |letter: char| match letter {
        ' '..='~' => letter.to_string(),
        _ => format!("\\u{:04x}", u32::from(letter)),
    };
    letters.chars().map(escape).collect()
}

/// The path of the failed case's line.
fn failed(lines: &[Value]) -> usize {
    lines.iter().position(|line| line["case"]["class"].is_string()).expect("one failed")
}

#[test]
fn no_string_of_a_results_file_gets_out_as_it_is() {
    let folder = Folder::new("results");
    let lines = recorded(&folder);
    let (whole, suite) = (folder.file("good.jsonl", &text_of(&lines)), folder.path("suite.yaml"));
    let mut tried = 0;
    for place in [0, failed(&lines), lines.len() - 1] {
        for (what, line) in each_spoiled(&lines[place], HOSTILE) {
            let mut lines = lines.clone();
            lines[place] = line;
            let file = folder.file("spoiled.jsonl", &text_of(&lines));
            check(&["failures", "--known", &file], &what);
            check(&["diff", &whole, &file], &what);
            check(&["merge", &file], &what);
            check(&["run", "--quiet", "--suite", &suite, "--resume", &file], &what);
            tried += 1;
        }
    }
    assert!(tried > 60, "{tried}");
    // Also after a torn part, and in the place of a header.
    let file = folder.file("nothing.jsonl", HOSTILE);
    for command in ["failures", "merge"] {
        assert_eq!(check(&[command, &file], "no results").status.code(), Some(2));
    }
}

#[test]
fn a_value_outside_of_its_set_is_refused_with_its_line() {
    let folder = Folder::new("sets");
    let lines = recorded(&folder);
    let (case, summary) = (failed(&lines), lines.len() - 1);
    for (place, pointer, what) in [
        (0, "/header/level", "feature level"),
        (0, "/header/backend/capabilities/data_types/0", "backend"),
        (case, "/case/verdict", "verdict"),
        (case, "/case/class", "class"),
        (case, "/case/outcome/kind", "outcome"),
        (case, "/case/differences/wrong", "difference"),
        (summary, "/summary/ending", "ending"),
        (summary, "/summary/totals/verdicts/0/counts", "verdict"),
        (summary, "/summary/totals/groups/0/class", "class"),
        (summary, "/summary/totals/groups/0/outcome/kind", "outcome"),
    ] {
        let mut lines = lines.clone();
        lines[place] = spoiled(&lines[place], pointer, "x\ntouch y");
        let file = folder.file("set.jsonl", &text_of(&lines));
        let whole = format!("error: line {} of {file} is not a line of a results file: ", place + 1);
        for command in [&["failures"][..], &["merge"], &["diff", &file]] {
            let output = check(&[command, &[&*file]].concat(), pointer);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{pointer}: {said}");
            assert!(
                said.starts_with(&whole) && said.contains(what) && said.contains(r"`x\ntouch y`"),
                "{pointer}: {said}"
            );
        }
    }
}

#[cfg(unix)]
#[test]
fn no_string_of_a_results_file_becomes_a_command() {
    let folder = Folder::new("shell");
    let lines = recorded(&folder);
    let made = folder.path("made");
    let text =
        format!("x\ntouch {made}\n'; touch {made}; '$(touch {made})`touch {made}`\"\r\ntouch {made} #");
    let mut ran = 0;
    for place in [0, failed(&lines)] {
        for (what, line) in each_spoiled(&lines[place], &text) {
            let mut lines = lines.clone();
            lines[place] = line;
            let file = folder.file("shell.jsonl", &text_of(&lines));
            let output = check(&["failures", &file], &what);
            // The result of the commands does not matter here. Some shells accept no comments at a prompt, so
            // the text after `#` is tried, too.
            let script = String::from_utf8_lossy(&output.stdout).replace(" # ", " ; : ");
            let script = format!("dmlcts() {{ :; }}\n{script}");
            let shell =
                Command::new("sh").arg("-c").arg(script).stdin(Stdio::null()).output().expect("sh starts");
            assert!(shell.status.success(), "{what}: {}", String::from_utf8_lossy(&shell.stderr));
            assert!(!fs::exists(&made).expect("its folder can be read"), "{what}");
            ran += usize::from(!output.stdout.is_empty());
        }
    }
    assert!(ran > 10, "{ran}");
    // An option in the place of a case would name a backend, which is a command.
    let mut lines = lines.clone();
    let place = failed(&lines);
    lines[place]["case"]["line"] = json!(format!("--backend=exec:touch {made}"));
    let file = folder.file("option.jsonl", &text_of(&lines));
    let output = check(&["failures", &file], "an option");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]), "{said}");
    assert!(said.starts_with(&format!("error: line {} of {file} is not a line", place + 1)), "{said}");
}

#[test]
fn no_string_of_a_yaml_file_gets_out_as_it_is() {
    let folder = Folder::new("yaml");
    let line = "SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota";
    let one = json!({"finding": "spoiled", "status": "known", "kind": "bug", "where": "rank == 1",
        "class": ["wrong-value"], "evidence": {"inside": "1 of 1", "outside": "0 of 1", "spec": "ab"},
        "smallest": line, "answer": "so", "cases": [line], "partial": true, "flaky": true,
        "applies": {"version": {"below": "9"}, "device": "", "driver": {"below": "9"}},
        "seen": {"first": "1", "last": "2", "with": "3"}, "reason": "why", "link": "https://example.org"});
    let store = Findings::new("reference", &[]);
    let suite = json!({"suite": "own", "purpose": "why",
        "parts": [{"id": "part", "strategy": "documented", "note": "what"}]});
    let path = folder.path("spoiled.yaml");
    let few = suite
        .to_string()
        .replace(r#""strategy":"documented""#, r#""strategy":"documented","types":["FLOAT32"]"#);
    let few = folder.file("few.yaml", &few);
    let commands: [(&Value, &[&[&str]]); 2] = [
        (
            &one,
            &[
                &["findings", store.path()],
                &["findings", "merge", store.path(), store.path()],
                &["run", "--suite", &few, "--findings", store.path()],
                &["replay", store.path()],
                &["fuzz", "--findings", store.path(), "--suite", &few, "--limit", "1"],
            ],
        ),
        (
            &suite,
            &[
                &["suites", &path],
                &["count", "--suite", &path],
                &["list", "--limit", "1", "--suite", &path],
                &["run", "--limit", "1", "--suite", &path],
                &["run", "--strategy", "random", "--suite", &path],
            ],
        ),
    ];
    for (value, commands) in commands {
        for (what, value) in each_spoiled(value, HOSTILE) {
            for command in commands {
                // A run may write the file again.
                folder.file("spoiled.yaml", &ascii(&value));
                fs::write(format!("{}/spoiled.yaml", store.path()), ascii(&value))
                    .expect("it can be written");
                check(command, &what);
            }
        }
    }
    let spec = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/slice.yaml");
    let spec: Value = serde_yaml::from_str(&fs::read_to_string(spec).expect("it is there")).expect("YAML");
    for (what, value) in each_spoiled(&spec, HOSTILE) {
        check(&["spec", "check", &folder.file("slice.yaml", &ascii(&value))], &what);
    }
    // Without quotes, as YAML allows: the text that a source line shows.
    for text in [
        HOSTILE.to_owned(),
        format!("operator: X\nmember: {HOSTILE}\n"),
        format!("# {HOSTILE}\noperator: [\r\n"),
    ] {
        let file = folder.file("raw.yaml", &text);
        fs::write(format!("{}/spoiled.yaml", store.path()), text).expect("it can be written");
        check(&["findings", store.path()], "raw");
        for command in [&["spec", "check"][..], &["suites"]] {
            let output = check(&[command, &[&*file]].concat(), "raw");
            assert_eq!(output.status.code(), Some(2), "{command:?}");
        }
    }
}

#[test]
fn no_argument_gets_out_as_it_is() {
    let folder = Folder::new("names");
    let name = folder.path(HOSTILE);
    let whole = folder.file("whole.jsonl", &text_of(&recorded(&folder)));
    // It is made faster than `smoke`.
    let suite = folder.path("suite.yaml");
    let commands: [&[&str]; 26] = [
        &["failures", &name],
        &["diff", &name, &whole],
        &["merge", &name],
        &["merge", &whole, "--results", &name],
        &["merge", &whole, "--markdown", &name],
        &["snapshot", "--from", &name],
        &["snapshot", "check", "--dir", &name],
        &["snapshot", "accept", HOSTILE],
        &["spec", "check", &name],
        &["spec", "show", HOSTILE],
        &["suites", &name],
        &["profiles", HOSTILE],
        &["count", "--suite", &name],
        &["list", "--where", HOSTILE],
        &["run", HOSTILE],
        &["run", "--suite", HOSTILE],
        &["run", "--backend", HOSTILE],
        &["run", "--suite", &suite, "--limit", "1", "--backend", &format!("exec:{HOSTILE}")],
        &["run", "--suite", &suite, "--limit", "1", "--backend", &format!("dylib:{HOSTILE}")],
        &["run", "--findings", &name],
        &["run", "--suite", &suite, "--limit", "1", "--resume", &name],
        &["run", "--suite", &suite, "--limit", "1", "--results", &name],
        &["run", "--suite", &suite, "--limit", "1", "--junit", &name],
        &["doctor", "--backend", &format!("exec:{HOSTILE}")],
        &["run", "--seed", HOSTILE],
        &[HOSTILE],
    ];
    // Without such a file, and with one.
    for round in ["nothing there", "something else there", "results there"] {
        for command in commands {
            match round {
                "nothing there" => _ = fs::remove_file(&name),
                "results there" => _ = fs::copy(&whole, &name).expect("it can be copied"),
                // Some systems refuse such a name.
                _ if fs::write(&name, HOSTILE).is_err() => return,
                _ => {}
            }
            check(command, round);
        }
    }
    // Text from standard input.
    let said = crate::common::text_with_input(&["run", "-"], &format!("SLICE {HOSTILE}\n"));
    assert!(said.starts_with("exit 2\n") && !said.contains(['\x1b', '\r', '\u{202e}']), "{said:?}");
}

#[cfg(unix)]
#[test]
fn nothing_that_a_backend_says_gets_out_as_it_is() {
    let hello = json!({"protocol": 1, "name": HOSTILE, "version": HOSTILE, "device": HOSTILE, "driver": HOSTILE,
        "feature_level": "6.4", "data_types": ["FLOAT32"], "ranks": {"min": 1, "max": 8}});
    let frame = Scratch::new("hostile-hello", crate::common::frame("hello", &hello.to_string()));
    let words = Scratch::new("hostile-words", format!("note: {HOSTILE}\n{HOSTILE}\n"));
    let backend = format!("exec:sh -c 'cat {}; cat {} >&2; exit 3'", frame.path(), words.path());
    let files = ["hostile.jsonl", "hostile.md"].map(Scratch::nothing);
    let [results, page] = files.each_ref().map(Scratch::path);
    let reports = ["--results", results, "--markdown", page];
    let run = ["run", "--limit", "2", "--strategy", "documented", "--backend", &backend];
    check(&[&run[..], &reports].concat(), "run");
    check(&["doctor", "--backend", &backend], "doctor");
    check(&["failures", results], "failures");
    check(&["diff", results, results], "diff");
    let page = files[1].text();
    assert!(page.contains("@&#8203;octocat") && !page.contains(['\x1b', '\r', '\u{202e}']), "{page}");
}
