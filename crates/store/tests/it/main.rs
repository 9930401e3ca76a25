//! The folder of findings: its format, its schema, and hostile files.

#[path = "../../../spec/tests/blessed/mod.rs"]
mod blessed;

use std::{
    fs,
    path::PathBuf,
    sync::atomic::{AtomicUsize, Ordering},
};

use dmlcts_spec::Library;
use dmlcts_store::{FindingFile, Folder, Merged, StoreError, Stored, merge};

const FILE: &str = "\
# About strides.
finding: slice1-wrong-value-8f43
status: known
kind: bug # for sure
where: operator == SLICE1 and any axis InputWindowStrides < 0
class: [wrong-value, nan-canonicalised]
evidence: {inside: \"205 of 205\", outside: \"0 of 45\", spec: \"b8e35133e9fe\"}
smallest: SLICE1 FLOAT32 in=2 out=1 InputWindowOffsets=0 InputWindowSizes=1 InputWindowStrides=-1 fill=iota
answer: Output[0] is Input[1], expected Input[0]
cases:
  - SLICE1 FLOAT32 in=3 out=1 InputWindowOffsets=0 InputWindowSizes=1 InputWindowStrides=-1 fill=iota
  # the second
  - SLICE1 FLOAT32 in=4 out=1 InputWindowOffsets=0 InputWindowSizes=1 InputWindowStrides=-1 fill=iota
partial: true
applies: {driver: {below: \"25.2\"}, device: \"llvm: pipe\"}
seen: {first: \"1.0\", last: \"1.2\", with: \"driver x\"}
# Why.
reason: >
  Starts at the
  wrong end.
link: https://example.org/issues/7
# The end.
";

/// A folder of its own with these files.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        // Tests run at the same time, and two of them may use one name.
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("dmlcts-store-{}-{name}-{count}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("the temporary folder takes a folder");
        for (name, text) in files {
            fs::write(path.join(name), text).expect("it can be written");
        }
        Self(path)
    }

    fn folder(&self) -> Folder {
        Folder::new(&self.0)
    }

    /// What reading the folder says, with `DIR` for its path.
    fn says(&self) -> String {
        match self.folder().read(Library::embedded()) {
            Ok(all) => format!("{} read", all.len()),
            Err(error) => error.to_string().replace(&self.0.display().to_string(), "DIR"),
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The fields of the file.
fn file(text: &str) -> FindingFile {
    let scratch = Scratch::new("fields", &[("slice1-wrong-value-8f43.yaml", text)]);
    let read = scratch.folder().read(Library::embedded());
    let mut read = read.unwrap_or_else(|error| panic!("{error}\n{text}"));
    read.remove(0).file
}

#[test]
fn the_schema_is_current() {
    blessed::compare::<FindingFile>("findings/schema.json");
}

#[test]
fn what_is_written_is_read_again() {
    let form =
        FindingFile { reason: Some("It: starts \"so\" #1\nand \\ goes\ton.".to_owned()), ..file(FILE) };
    let text = form.to_yaml(None, Some("../schema.json"));
    assert!(text.starts_with("# yaml-language-server: $schema=../schema.json\nfinding: slice1-"), "{text}");
    assert_eq!(file(&text), form);
    let bare = FindingFile {
        evidence: None,
        answer: None,
        cases: Vec::new(),
        partial: false,
        applies: None,
        seen: None,
        reason: None,
        link: None,
        ..form
    };
    assert_eq!(file(&bare.to_yaml(None, None)), bare);
}

/// Keys with the same value keep their text, and comments stay where their keys go.
#[test]
fn what_a_person_wrote_stays() {
    let form = file(FILE);
    assert_eq!(form.to_yaml(Some((FILE, &form)), None), FILE);
    let filter = "operator == SLICE1 and rank == 1";
    let changed = FindingFile { filter: Some(filter.to_owned()), answer: None, flaky: true, ..form.clone() };
    let expected = FILE
        .replace("operator == SLICE1 and any axis InputWindowStrides < 0", filter)
        .replace("answer: Output[0] is Input[1], expected Input[0]\n", "")
        .replace("partial: true\n", "partial: true\nflaky: true\n");
    assert_eq!(changed.to_yaml(Some((FILE, &form)), None), expected);
    let bare = FindingFile { reason: None, link: None, ..form.clone() };
    let text = bare.to_yaml(Some((FILE, &form)), None);
    assert!(text.ends_with("with: \"driver x\"}\n# Why.\n# The end.\n"), "{text}");
}

#[test]
fn mistakes_are_named_with_their_places() {
    let says = |from: &str, to: &str| {
        assert!(FILE.contains(from), "{from}");
        let text = FILE.replace(from, to);
        Scratch::new("mistakes", &[("slice1-wrong-value-8f43.yaml", &text)]).says()
    };
    let mut all = String::new();
    for (from, to) in [
        ("finding: slice1-wrong-value-8f43", "finding: Slice1"),
        ("finding: slice1-wrong-value-8f43", "finding: another"),
        ("status: known", "status: knwon"),
        ("any axis InputWindowStrides < 0", "any axis InputWindowStrides > 0"),
        ("any axis InputWindowStrides < 0", "any axis InputWindowStride < 0"),
        ("nan-canonicalised", "wrong-value"),
        ("[wrong-value, nan-canonicalised]", "[lost]"),
        ("[wrong-value, nan-canonicalised]", "[]"),
        ("in=2 out=1", "in=2 aut=1"),
        ("in=4 out=1", "in=4 out=x"),
        ("below: \"25.2\"", "below: new"),
        ("below: \"25.2\"", "from: \"26\", below: \"25.2\""),
        ("{below: \"25.2\"}", "{}"),
        ("https://example.org/issues/7", "issue 7"),
        ("partial: true", "partially: true"),
    ] {
        all.extend([to, "\n", &says(from, to), "\n\n"]);
    }
    insta::assert_snapshot!(all);
}

/// A file that was cut off, or in which bytes changed, is a message with a place, or a file with other words.
#[test]
fn damaged_files_are_messages() {
    let name = "slice1-wrong-value-8f43.yaml";
    let mut refused = 0;
    let mut state = 1_u64;
    for number in 0..1_000 {
        let mut bytes = FILE.as_bytes().to_vec();
        if number < 500 {
            bytes.truncate(number * bytes.len() / 500);
        } else {
            for _ in 0..=number % 3 {
                // A linear congruential generator: the same changes in every run.
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let place = (state >> 33) as usize % bytes.len();
                bytes[place] = (state >> 24) as u8;
            }
        }
        let scratch = Scratch::new("damaged", &[]);
        fs::write(scratch.0.join(name), &bytes).expect("it can be written");
        let said = scratch.says();
        if said != "1 read" {
            refused += 1;
            assert!(said.contains("DIR/slice1-wrong-value-8f43.yaml"), "{number}: {said}");
        }
    }
    assert!(refused > 600, "{refused}");
}

#[cfg(unix)]
#[test]
fn no_link_is_followed() {
    let scratch = Scratch::new("links", &[]);
    std::os::unix::fs::symlink("/etc/hostname", scratch.0.join("one.yaml")).expect("links can be made");
    assert_eq!(
        scratch.says(),
        "DIR/one.yaml is a symbolic link; what a stranger may have put there is not followed"
    );
    let wrote = scratch.folder().change(Library::embedded(), |_| (vec![], ()));
    assert!(matches!(wrote, Err(StoreError::Link { .. })), "{wrote:?}");
}

#[test]
fn a_folder_of_folders_and_no_folder_are_named() {
    let scratch = Scratch::new("folders", &[]);
    assert_eq!(scratch.says(), "0 read");
    fs::create_dir(scratch.0.join("mine")).expect("it can be made");
    let error = scratch.folder().read(Library::embedded()).expect_err("it has no finding");
    assert!(error.help().ends_with("/mine"), "{}", error.help());
    let none = Folder::new(scratch.0.join("none"));
    assert!(matches!(none.read(Library::embedded()), Err(StoreError::None { .. })));
    assert!(none.read_or_none(Library::embedded()).expect("there is none").is_empty());
}

/// A change holds the lock, and removes what a killed one left.
#[test]
fn a_change_replaces_files_and_leftovers() {
    let name = "slice1-wrong-value-8f43";
    let file = format!("{name}.yaml");
    let scratch = Scratch::new("change", &[(&file, FILE), (".dmlcts-x1.new", "half"), ("notes.txt", "")]);
    let new = FILE.replace("status: known", "status: fixed");
    let count = scratch
        .folder()
        .change(Library::embedded(), |stored| (vec![(name.to_owned(), new.clone())], stored.len()));
    assert_eq!(count.expect("it can be written"), 1);
    assert_eq!(fs::read_to_string(scratch.0.join(&file)).expect("it is there"), new);
    assert!(!scratch.0.join(".dmlcts-x1.new").exists() && scratch.0.join("notes.txt").exists());
}

const NAME: &str = "slice1-wrong-value-8f43";
const PREDICATE: &str = "operator == SLICE1 and any axis InputWindowStrides < 0";

/// The finding of a file, read and checked.
fn stored(name: &str, text: &str) -> Vec<Stored> {
    let scratch = Scratch::new(name, &[(&format!("{NAME}.yaml"), text)]);
    scratch.folder().read(Library::embedded()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// What the file of another folder changes. `FILE` was seen from 1.0 to 1.2.
fn merged(own: &str, other: &str) -> Merged {
    merge(&stored("own", own), &stored("other", other))
}

/// The text of the file after a merge.
fn text(own: &str, other: &str) -> String {
    let merged = merged(own, other);
    assert!(merged.conflicts.is_empty() && merged.twins.is_empty(), "{merged:?}");
    let [change] = &merged.changes[..] else { panic!("{merged:?}") };
    assert_eq!((change.id.as_str(), change.what), (NAME, "changed"));
    let again = stored("again", &change.text);
    // A folded text ends with a line break until it is written.
    let reason = change.file.reason.as_ref().map(|reason| reason.trim_end().to_owned());
    let read = again[0].file.reason.as_ref().map(|reason| reason.trim_end().to_owned());
    assert_eq!(read, reason);
    assert_eq!(
        FindingFile { reason: None, ..again[0].file.clone() },
        FindingFile { reason: None, ..change.file.clone() }
    );
    assert!(merge(&again, &stored("other", other)).changes.is_empty(), "a second merge changes nothing");
    change.text.clone()
}

/// Another text of the file, for a run of these versions.
fn seen(first: &str, last: &str) -> String {
    let changes = [
        (r#"first: "1.0", last: "1.2", with: "driver x""#, &*format!("first: {first:?}, last: {last:?}")),
        (PREDICATE, "operator == SLICE1 and rank == 1"),
        ("[wrong-value, nan-canonicalised]", "[wrong-value]"),
        ("205 of 205", "7 of 7"),
        ("in=2 out=1", "in=5 out=1"),
        ("Output[0] is Input[1]", "Output[0] is Input[3]"),
        ("in=4 out=1", "in=6 out=1"),
    ];
    changes.iter().fold(FILE.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    })
}

#[test]
fn the_file_that_was_seen_last_has_the_evidence() {
    let later = seen("1.0", "1.10").replace("  # the second\n", "");
    assert_eq!(text(FILE, &seen("1.1", "1.10")), later, "its last version is later, and its first is not");
    let earlier = FILE.replace("first: \"1.0\"", "first: \"0.9\"");
    assert_eq!(text(FILE, &seen("0.9", "1.1")), earlier, "only its first version counts");
    // A predicate that is not exact stays marked.
    let exact = FILE.replace("partial: true\n", "");
    assert!(text(&exact, &seen("1.0", "1.3")).contains("\npartial: true\n"));
    assert!(!text(&exact, &seen("0.9", "1.1")).contains("partial"));
}

#[test]
fn the_words_of_a_person_are_those_of_the_first_file() {
    let other = seen("1.0", "1.3");
    let changes = [
        ("status: known", "status: fixed"),
        ("kind: bug", "kind: question"),
        ("partial: true", "flaky: true"),
        ("below: \"25.2\"", "below: \"24\""),
        ("wrong end", "right end"),
        ("issues/7", "issues/8"),
        ("# the second\n", "# another\n"),
    ];
    let other = changes.iter().fold(other, |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    });
    let expected = seen("1.0", "1.3").replace("  # the second\n", "");
    assert_eq!(text(FILE, &other), expected);
    // The second file has the words that the first one lacks.
    let (reason, link) =
        ("reason: >\n  Starts at the\n  wrong end.\n", "link: https://example.org/issues/7\n");
    let without = FILE.replace(reason, "reason: Not examined yet.\n").replace(link, "");
    let text = text(&without, FILE);
    assert!(text.contains("\nreason: Starts at the wrong end.\nlink: https"), "{text}");
}

#[test]
fn equal_findings_are_kept_and_new_ones_copied() {
    let equal = FILE.replace("# Why.\n", "").replace("kind: bug # for sure", "kind:   bug");
    assert!(merged(FILE, &equal).changes.is_empty());
    let merged = merge(&[], &stored("new", FILE));
    let [change] = &merged.changes[..] else { panic!("{merged:?}") };
    assert_eq!((change.what, change.text.as_str()), ("new", FILE));
}

#[test]
fn a_new_finding_with_a_known_case_is_named() {
    let name = "backwards";
    let file = FILE.replace(NAME, name);
    let scratch = Scratch::new("twins", &[(&format!("{name}.yaml"), &file)]);
    let others = scratch.folder().read(Library::embedded()).expect("it is right");
    let own = stored("twin", FILE);
    let merged = merge(&own, &others);
    assert_eq!((merged.changes.len(), merged.changes[0].id.as_str()), (1, name));
    assert_eq!(merged.twins, [(own[0].path.clone(), others[0].path.clone())]);
    let both = [own, others.clone()].concat();
    assert!(merge(&both, &others).twins.is_empty(), "they are known as two");
}

#[test]
fn conflicts_change_nothing() {
    let says = |own: &str, other: &str| {
        let merged = merged(own, other);
        assert!(merged.changes.is_empty() && merged.twins.is_empty(), "{merged:?}");
        let [conflict] = &merged.conflicts[..] else { return "" };
        assert!(conflict.paths[0].contains("-own-"), "{conflict:?}");
        assert!(conflict.paths[1].contains("-other-"), "{conflict:?}");
        conflict.why
    };
    let without = |text: &str| {
        let lines = text.split_inclusive('\n').filter(|line| !line.starts_with("seen: "));
        lines.collect::<String>()
    };
    assert_eq!(says(FILE, &seen("1.0", "1.2.0")), "both were seen last in the same version");
    assert_eq!(says(FILE, &without(&seen("1.0", "1.2"))), "`seen` is missing");
    assert_eq!(says(&without(FILE), &seen("1.0", "1.2")), "`seen` is missing");
    assert_eq!(says(FILE, &seen("1.0", "main")), "a version in `seen` has no number to compare");
    assert_eq!(says(FILE, &seen("main", "1.3")), "a version in `seen` has no number to compare");
    // The same cases fail in the same way: nothing is to decide.
    assert_eq!(says(FILE, &FILE.replace("205 of 205", "7 of 7")), "");
    assert_eq!(says(FILE, &without(FILE)), "");
    // Without a predicate, each case counts.
    let listed = |text: &str| text.replace(&format!("where: {PREDICATE}\n"), "");
    let fewer = FILE.replace("in=4 out=1", "in=6 out=1");
    assert_eq!(says(FILE, &fewer), "");
    assert_eq!(says(&listed(FILE), &listed(&fewer)), "both were seen last in the same version");
    // One conflict keeps the others from being written.
    let new = FILE.replace(NAME, "backwards");
    let scratch = Scratch::new("several", &[("backwards.yaml", &new)]);
    let others = scratch.folder().read(Library::embedded()).expect("it is right");
    let others = [others, stored("other", &seen("1.0", "1.2"))].concat();
    let merged = merge(&stored("own", FILE), &others);
    assert_eq!((merged.changes.len(), merged.twins.len(), merged.conflicts.len()), (0, 0, 1));
}
