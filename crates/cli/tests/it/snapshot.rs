//! `dmlcts snapshot`, end to end, on planted updates of a driver.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use dmlcts_runner::Class;
use dmlcts_snapshots::{Counts, Finding, Metadata, Place, Snapshot, Statement};
use dmlcts_spec::Library;

use crate::common::{faulty, run, text};

/// A suite that shows every planted update, and takes less time than `smoke`.
const SUITE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suites/driver.yaml");

/// A folder of snapshots, removed at the end.
pub(crate) struct Snapshots(PathBuf);

impl Drop for Snapshots {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Snapshots {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("dmlcts-{}-snapshot-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }

    pub(crate) fn path(&self) -> &str {
        self.0.to_str().expect("a plain name")
    }

    /// The text of `snapshot` with a subcommand.
    pub(crate) fn does(&self, words: &[&str]) -> String {
        text(&[&["snapshot"], words, &["--dir", self.path()]].concat()).replace(self.path(), "DIR")
    }

    /// Makes a snapshot of the backend with this driver and these faults. Returns the text of the command.
    pub(crate) fn make(&self, driver: &str, faults: &str, more: &[&str]) -> String {
        let options = ["--backend", &backend(driver, faults), "--suite", SUITE];
        let options = if more.contains(&"--suite") { &options[..2] } else { &options[..] };
        self.does(&[options, more].concat())
    }

    /// Makes a snapshot, and accepts it.
    fn accepted(name: &str, driver: &str, faults: &str) -> Self {
        Self::accepted_of(name, (driver, faults), &[])
    }

    /// The same with more options.
    pub(crate) fn accepted_of(name: &str, (driver, faults): (&str, &str), more: &[&str]) -> Self {
        let all = Self::new(name);
        assert!(all.make(driver, faults, more).starts_with("exit 1\n"));
        let said = all.does(&["accept"]);
        assert!(said.starts_with("exit 0\n--- stdout\naccepted mine/"), "{said}");
        all
    }

    /// A folder for outputs.
    fn outputs(&self) -> String {
        self.0.join("outputs").display().to_string()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join("mine").join(name)
    }

    /// All files with their texts.
    pub(crate) fn files(&self) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = fs::read_dir(self.0.join("mine"))
            .expect("it is there")
            .map(|entry| entry.expect("it lists").path())
            .map(|path| (path.display().to_string(), fs::read_to_string(&path).expect("it is text")))
            .collect();
        all.sort();
        all
    }
}

pub(crate) fn backend(driver: &str, faults: &str) -> String {
    faulty(&format!("updated {driver} {faults}"))
}

pub(crate) const WRONG: &str = "wrong-at-2";

#[test]
#[ignore = "it takes long: .ci/run runs it if findings or snapshots changed"]
fn nothing_changes_whatever_the_jobs_and_the_parts() {
    let all = Snapshots::accepted("nothing", "1.0", WRONG);
    let before = all.files();
    for jobs in ["1", "2", "4", "7"] {
        let said = all.make("1.0", WRONG, &["--jobs", jobs]);
        assert!(said.contains("mine/driver: as accepted\nmine/examples: as accepted\n"), "{said}");
    }
    // Another driver that does the same is no change.
    assert!(all.make("2.0", WRONG, &[]).starts_with("exit 0\n"));
    let folder = Snapshots::new("parts");
    fs::create_dir_all(&folder.0).expect("a folder of this test's own");
    let file = |name: &str| folder.0.join(name).display().to_string();
    let parts = ["1/3", "2/3", "3/3"].map(|part| {
        let path = file(&part[..1]);
        run(&[
            "run",
            "--suite",
            SUITE,
            "--partition",
            part,
            "--backend",
            &backend("1.0", WRONG),
            "--results",
            &path,
        ]);
        path
    });
    let whole = file("whole");
    let [one, two, three] = &parts;
    run(&["merge", two, three, one, "--results", &whole]);
    assert!(all.does(&["--from", &whole]).starts_with("exit 0\n"));
    assert_eq!(all.files(), before);
    let said = all.does(&["--from", one]);
    assert!(said.starts_with("exit 3\n") && said.contains("parts 2 and 3 are missing"), "{said}");
    assert_eq!(all.files(), before);
}

/// Makes snapshots of a backend whose faults come by chance, with other seeds than the accepted one.
fn stays_as_accepted(fault: &str, jobs: &[&str]) {
    let all = Snapshots::accepted(fault, "1.0", &format!("{fault}:1"));
    let text = fs::read_to_string(all.file("driver.snap")).expect("it is there");
    assert!(text.contains("\nchance   ") && !text.contains("\nfinding "), "{fault}: {text}");
    let before = all.files();
    for (seed, jobs) in (2..).zip(jobs) {
        let said = all.make("1.0", &format!("{fault}:{seed}"), &["--jobs", jobs]);
        let diff = || all.does(&["diff"]);
        let is_same = said.contains("mine/driver: as accepted\nmine/examples: as accepted\n");
        assert!(is_same, "{fault}:{seed}, {jobs} jobs: {said}{}", diff());
    }
    // The faults are gone.
    let said = all.make("1.0", "none", &[]);
    assert!(said.starts_with("exit 0\n"), "{fault}: {said}{}", all.does(&["diff"]));
    assert_eq!(all.files(), before);
}

#[test]
fn failures_by_chance_are_accepted_once() {
    stays_as_accepted("wrong-once-in-100", &["2"]);
    // A predicate explains these failures.
    stays_as_accepted("garbage-at-2", &["1", "2"]);
    // The first snapshot has the answers of all questions that did not fail.
    let answers = |faults: &str| {
        let all = Snapshots::accepted(&format!("answers-{faults}"), "1.0", faults);
        let text = fs::read_to_string(all.file("driver.snap")).expect("it is there");
        text.matches("\nanswers  ").count()
    };
    assert!(answers("wrong-once-in-100:1") + 2 >= answers("none"));
    // The rate is more than ten times as high, or a failure repeats.
    let all = Snapshots::accepted("more", "1.0", "wrong-once-in-300:1");
    assert!(all.make("1.0", "wrong-once-in-8:1", &[]).starts_with("exit 1\n"));
    assert_line(&all.does(&["diff"]), "broken", &["fails by chance: SLICE, other: "]);
    assert!(all.make("1.0", &format!("{WRONG},wrong-once-in-300:1"), &[]).starts_with("exit 1\n"));
    assert_line(&all.does(&["diff"]), "broken", &["slice-wrong-value-", "rank == 2"]);
}

#[test]
#[ignore = "it takes long: .ci/run runs it if findings or snapshots changed"]
fn failures_by_chance_are_accepted_once_whatever_the_rate_and_the_jobs() {
    for fault in ["wrong-once-in-20", "wrong-once-in-200", "crash-once-in-200"] {
        stays_as_accepted(fault, &["1", "2", "7"]);
    }
}

/// The diff after an update of the driver, without the lines of the first heading.
fn update(before: &str, after: &str) -> String {
    let all = Snapshots::accepted(&format!("{before}-{after}"), "1.0", before);
    assert!(all.make("2.0", after, &[]).starts_with("exit 1\n"), "{before} → {after}");
    let said = all.does(&["diff"]);
    let cause = "mine/driver: driver 1.0 → 2.0; suite, spec and dmlcts unchanged\n";
    assert!(said.contains(cause), "{before} → {after}: {said}");
    assert!(said.lines().count() <= 25 + 2, "{before} → {after}: {said}");
    said
}

/// Checks that a line of a transition has these words.
#[track_caller]
fn assert_line(said: &str, transition: &str, words: &[&str]) {
    let mut lines = said.lines().filter(|line| line.starts_with(&format!("{transition:<14} ")));
    assert!(lines.any(|line| words.iter().all(|word| line.contains(word))), "{transition} {words:?}: {said}");
}

#[test]
#[ignore = "it takes long: .ci/run runs it if findings or snapshots changed"]
fn each_planted_update_is_told_in_few_lines() {
    let place = ["slice-wrong-value-", ": wrong-value where operator == SLICE and ", "rank == 2"];
    let said = update("none", WRONG);
    assert_line(&said, "broken", &place);
    assert!(said.contains("e.g. SLICE ") && said.contains(": Output[0,0] is "), "{said}");
    let said = update(WRONG, "none");
    assert_line(&said, "fixed", &place);
    let said = update(WRONG, "wrong-at-3");
    assert_line(&said, "broken", &["rank == 3"]);
    assert_line(&said, "fixed", &["rank == 2"]);
    let said = update(WRONG, "other-bytes-at-2");
    assert_line(&said, "other answers", &["other cases or other bytes", "wrong-value where ", "rank == 2"]);
    assert!(!said.contains("broken") && !said.contains("fixed"), "{said}");
    let said = update("none", "other-answer");
    assert_line(&said, "other answers", &["slice.input.total-size-multiple: refused in 4 cases"]);
    assert!(said.contains("before: runs as the semantics in 4 cases"), "{said}");
    let said = update("none", "late-refusal");
    assert_line(&said, "other answers", &["refuses slice.reads-in-bounds: at compile, E_INVALIDARG"]);
    let said = update("none", "no-float64");
    assert_line(&said, "worse", &["lacks FLOAT64"]);
    let said = update("none", "flaky-at-5");
    assert_line(&said, "broken", &["fails by chance: SLICE, other: "]);
    let said = update("none", "wrong-at-3,other-answer");
    assert_line(&said, "broken", &["rank == 3"]);
    assert_line(&said, "other answers", &["slice.input.total-size-multiple: refused in 4 cases"]);
}

/// A suite of one or two parts.
fn suite(folder: &Path, parts: &[&str]) -> String {
    let parts: Vec<String> =
        parts.iter().map(|part| format!("  - {{id: {part}, strategy: {part}}}\n")).collect();
    let parts = parts.concat();
    let path = folder.join("own.yaml");
    fs::write(&path, format!("suite: own\npurpose: a test\nparts:\n{parts}")).expect("it can be written");
    path.display().to_string()
}

#[test]
fn an_edited_suite_and_an_edited_spec_are_named() {
    let all = Snapshots::new("suite");
    fs::create_dir_all(&all.0).expect("a folder of this test's own");
    all.make("1.0", WRONG, &["--suite", &suite(&all.0, &["documented"])]);
    all.does(&["accept"]);
    let edited = suite(&all.0, &["documented", "boundary"]);
    assert!(all.make("1.0", WRONG, &["--suite", &edited]).starts_with("exit 1\n"));
    let said = all.does(&["diff", "mine/own"]);
    assert!(said.contains("mine/own: suite own ("), "{said}");
    assert!(
        said.contains("driver, spec and dmlcts unchanged; a new suite may change numbers of cases"),
        "{said}"
    );
    assert_line(&said, "worse", &["more cases fail: wrong-value where ", "rank == 2"]);
    assert!(said.lines().count() <= 27, "{said}");
    // With another driver, nothing tells which one is the cause.
    assert!(all.make("2.0", WRONG, &["--suite", &edited]).starts_with("exit 1\n"));
    let said = all.does(&["diff", "mine/own"]);
    assert!(said.contains("; driver 1.0 → 2.0; spec and dmlcts unchanged"), "{said}");
    assert!(said.contains("2 components changed at once"), "{said}");

    let all = Snapshots::accepted("spec", "1.0", "none");
    let (path, own) = (all.file("driver.snap"), Library::embedded().short_hash());
    let mut earlier = fs::read_to_string(&path)
        .map(|text| Snapshot::parse("driver.snap", &text).expect("it is one"))
        .expect("it is there");
    earlier.about.spec = "0123456789ab".to_owned();
    fs::write(&path, earlier.to_text()).expect("it can be written");
    let said = all.does(&["check"]);
    assert!(said.contains("mine/driver: accepted for the spec 0123456789ab, and this is "), "{said}");
    let faulty = format!("PATH{}faulty{}", std::path::MAIN_SEPARATOR, env::consts::EXE_SUFFIX);
    let again = format!(
        r"make it again by `dmlcts snapshot --backend 'exec:'\''{faulty}'\'' updated 1.0 none' --suite {} --dir DIR`",
        "tests/suites/driver.yaml"
    );
    assert!(said.contains(&again), "{said}");
    assert!(all.make("1.0", "none", &[]).starts_with("exit 1\n"));
    let said = all.does(&["diff"]);
    assert!(
        said.contains(&format!("mine/driver: spec 0123456789ab → {own}; driver, suite and dmlcts")),
        "{said}"
    );
    assert!(said.contains("\nno line changed\n"), "{said}");
}

#[test]
fn a_spoiled_snapshot_is_left_alone() {
    let all = Snapshots::accepted("spoiled", "1.0", WRONG);
    let path = all.file("driver.snap");
    let good = fs::read_to_string(&path).expect("it is there");
    let digits = good.find(" of ").expect("it has a finding") - 1;
    let mut counted = good.clone();
    counted.replace_range(digits..=digits, if &good[digits..=digits] == "7" { "8" } else { "7" });
    let cut = good.len() * 2 / 3;
    let cut_line = good[..cut].lines().count();
    let with_driver = good.replacen("driver: \"1.0\"", "driver: \"1.1\"", 1);
    let conflict = good.replacen("---\n", "<<<<<<< ours\n---\n", 1);
    let without_a_key = good.replacen("  driver:", "  other:", 1);
    let mut bytes = good.clone().into_bytes();
    bytes[good.find("\nanswers").expect("it has answers") + 3] = 0xff;
    // A message about the first line with these words.
    let at = |start: &str, part: &str, message: &str| {
        let is_it = |line: &str| line.starts_with(start) && line.contains(part);
        let place = good.lines().position(is_it).expect("it has the line");
        format!(":{}: {message}", place + 1)
    };
    let without_a_class = good.replace("  wrong-value where", "  wrong where");
    for (what, spoiled, message) in [
        ("a number was edited", counted.as_bytes(), at("  ", " of ", "the line is not as dmlcts wrote it")),
        ("its end is missing", &good.as_bytes()[..cut], format!(":{cut_line}: ")),
        ("a class was edited", without_a_class.as_bytes(), at("  wrong-value", "", "expected a class")),
        (
            "the driver was edited",
            with_driver.as_bytes(),
            at("  driver", "", "the value of `driver` is not as"),
        ),
        ("a byte is not UTF-8", &bytes, at("answers", "", "the line is not UTF-8")),
        ("its header is missing", &good.as_bytes()[4..], "expected `---`".to_owned()),
        ("a conflict", conflict.as_bytes(), ":1: expected `---`".to_owned()),
        ("a key is missing", without_a_key.as_bytes(), "driver".to_owned()),
        ("nothing is left", b"", ":1: expected `---`".to_owned()),
    ] {
        fs::write(&path, spoiled).expect("it can be written");
        for said in [all.make("2.0", "none", &[]), all.does(&["check"]), all.does(&["show"])] {
            assert!(said.starts_with("exit 2\n"), "{what}: {said}");
            assert!(said.contains("DIR/mine/driver.snap:") && said.contains(&message), "{what}: {said}");
            assert!(said.contains("help: restore the file"), "{what}: {said}");
        }
        assert_eq!(fs::read(&path).expect("it is there"), spoiled, "{what}");
        assert!(!all.file("driver.snap.new").exists(), "{what}");
    }
}

#[test]
fn nothing_is_written_of_a_run_that_is_not_complete() {
    let all = Snapshots::accepted("incomplete", "1.0", "none");
    let before = all.files();
    let said = all.does(&["--suite", "smoke", "--name", "mine", "--backend", "exec:false"]);
    assert!(said.starts_with("exit 3\n"), "{said}");
    let said = all.make("2.0", WRONG, &["--timeout", "1ms"]);
    assert!(said.starts_with("exit 2\n"), "{said}");
    let limited = all.0.join("limited.jsonl").display().to_string();
    run(&["run", "--limit", "9", "--backend", &backend("2.0", WRONG), "--results", &limited]);
    let said = all.does(&["--from", &limited]);
    assert!(said.starts_with("exit 2\n") && said.contains("it is not complete (limit)"), "{said}");
    assert_eq!(all.files(), before);
}

#[test]
fn changes_are_reviewed_one_by_one() {
    let all = Snapshots::accepted("review", "1.0", "none");
    let accepted = all.files();
    let review = |answers: &str| {
        let said = crate::common::text_with_input(&["snapshot", "review", "--dir", all.path()], answers);
        said.replace(all.path(), "DIR")
    };
    all.make("2.0", WRONG, &[]);
    let pending = all.files();
    assert!(pending.len() > accepted.len());
    let said = review("what\ns\n");
    assert!(said.starts_with("exit 1\n") && said.contains("(1 of ") && said.contains("broken"), "{said}");
    assert_eq!(all.files(), pending, "a skipped change and the end of the input change nothing");
    let said = review(&"r\n".repeat(2));
    assert!(said.starts_with("exit 0\n") && said.contains("rejected mine/driver"), "{said}");
    assert_eq!(all.files(), accepted);
    all.make("2.0", WRONG, &[]);
    let markdown = all.0.join("page.md");
    let page = markdown.to_str().expect("a plain name");
    let html = all.0.join("page.html").display().to_string();
    assert!(all.does(&["diff", "--markdown", page, "--html", &html]).starts_with("exit 1\n"));
    let html = fs::read_to_string(html).expect("it is there");
    assert!(html.contains("<h3>mine/driver: 1 broken</h3><p>driver 1.0 → 2.0; "), "{html}");
    assert!(html.contains("<span class=\"badge bad\">broken</span> slice-wrong-value-"), "{html}");
    let page = fs::read_to_string(&markdown).expect("it is there");
    assert!(page.starts_with("### mine/driver: 1 broken\n\n```text\ndriver 1.0 → 2.0; "), "{page}");
    let said = review(&"a\n".repeat(2));
    assert!(said.starts_with("exit 0\n") && said.contains("accepted mine/driver"), "{said}");
    assert!(all.make("2.0", WRONG, &[]).starts_with("exit 0\n"));
    // When the fault is gone again, a pending change is withdrawn.
    all.make("3.0", "none", &[]);
    assert!(all.file("driver.snap.new").exists());
    all.make("2.0", WRONG, &[]);
    assert!(!all.file("driver.snap.new").exists());
}

/// A program stands in for the one that opens files on a desktop.
#[cfg(target_os = "linux")]
#[test]
fn a_review_opens_the_page_of_a_change() {
    use std::os::unix::fs::PermissionsExt as _;
    let all = Snapshots::accepted("open", "1.0", "none");
    let outputs = all.outputs();
    all.make("2.0", WRONG, &["--outputs", &outputs]);
    let (opener, opened) = (all.0.join("xdg-open"), all.0.join("opened"));
    fs::write(&opener, format!("#!/bin/sh\ncp \"$1\" {0}.part && mv {0}.part {0}\n", opened.display()))
        .expect("it can be written");
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).expect("it can be changed");
    let mut child = crate::common::dmlcts()
        .args(["snapshot", "review", "--dir", all.path(), "--outputs", &outputs, "mine/driver"])
        .env("PATH", format!("{}:/usr/bin:/bin", all.0.display()))
        .env("TMPDIR", &all.0)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the program starts");
    std::io::Write::write_all(&mut child.stdin.take().expect("piped"), b"o\nq\n").expect("it reads");
    let said = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&said.stdout);
    let path = text.lines().find_map(|line| line.split_once("page     ")).expect("the page is named").1;
    let page = fs::read_to_string(path).expect("the page is there");
    assert!(page.contains("<h3>mine/driver: 1 broken</h3>"), "{page}");
    let item = format!("<li>Old output: {PASSED}</li><li>Output[0,0]: expected 1, new {}</li>", flipped(1));
    assert!(page.contains(&item), "{page}");
    // The opener runs on its own.
    let waits = (0..6_000).find(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        opened.exists()
    });
    assert!(waits.is_some(), "no program opened the page");
    assert_eq!(fs::read_to_string(opened).expect("it is there"), page);
    assert_eq!(said.status.code(), Some(1), "the change still waits");
}

/// What `diff` says of an output without a finding.
const PASSED: &str = "passed, or did not run: no finding";

/// The number one with other low bits. The faulty backend flips bits of the first byte of an output, and the
/// example's first element is 1.
fn flipped(bits: u32) -> f32 {
    f32::from_bits(1_f32.to_bits() ^ bits)
}

#[test]
fn old_and_new_outputs_are_shown_beside_the_expected_ones() {
    let all = Snapshots::new("outputs");
    let (outputs, html) = (all.outputs(), all.0.join("page.html"));
    let page = html.display().to_string();
    let make = |driver, faults| all.make(driver, faults, &["--outputs", &outputs]);
    let diff = || all.does(&["diff", "--outputs", &outputs, "--values", "--html", &page]);
    make("1.0", WRONG);
    let (old, new) = (flipped(1), flipped(2));
    let said = diff();
    assert!(said.contains("OutputTensor, old: none: nothing was accepted\n"), "{said}");
    all.does(&["accept"]);
    make("2.0", "other-bytes-at-2");
    let said = diff();
    let tensor = "               OutputTensor: (Sizes:{1, 1}, DataType:FLOAT32), ";
    for (name, value) in [("expected", 1.0), ("old", old), ("new", new)] {
        let rows = format!("\n{tensor}{name}\n               [[*{value}]]\n");
        assert!(said.starts_with("exit 1\n") && said.contains(&rows), "{name}: {said}");
    }
    let sentence = format!("Output[0,0]: expected 1, old {old}, new {new}");
    assert!(said.ends_with(&format!("               {sentence}\n")), "{said}");
    let read = || fs::read_to_string(&html).expect("it is there");
    for (name, class, value) in [("Expected", "right", 1.0), ("Old", "wrong", old), ("New", "wrong", new)] {
        let page = read();
        let (_, rest) = page.split_once(&format!(">{name} output</text>")).expect("a tensor");
        let (_, cell) = rest.split_once(&format!("<g class=\"cell {class}\">")).expect("a cell");
        assert!(cell.split_once("</g>").expect("it ends").0.ends_with(&format!(">{value}</text>")), "{cell}");
    }
    assert!(read().contains(&format!("<ul class=\"elements\"><li>{sentence}</li></ul>")));
    // Without --values, the terminal shows the changes alone.
    assert!(!all.does(&["diff", "--outputs", &outputs]).contains("OutputTensor:"));
    make("3.0", "none");
    let said = diff();
    assert!(said.contains(&format!("OutputTensor, new: {PASSED}\n")), "{said}");
    assert!(said.contains(&format!("Output[0,0]: expected 1, old {old}\n")), "{said}");
}

#[test]
fn outputs_that_are_missing_or_spoiled_are_said_in_words() {
    let all = Snapshots::accepted("spoiled", "1.0", WRONG);
    let outputs = all.outputs();
    let diff = || all.does(&["diff", "--outputs", &outputs, "--values"]);
    let made = all.make("2.0", "other-bytes-at-2", &["--outputs", &outputs]);
    assert!(made.starts_with("exit 1\n"), "{made}");
    let said = diff();
    assert!(said.contains("OutputTensor, old: not kept: make it with --outputs ("), "{said}");
    assert!(said.contains(&format!("Output[0,0]: expected 1, new {}\n", flipped(2))), "{said}");
    let files: Vec<PathBuf> =
        fs::read_dir(&outputs).expect("it is there").map(|entry| entry.expect("it lists").path()).collect();
    let [file] = &files[..] else { panic!("{files:?}") };
    assert_eq!(fs::read(file).expect("it is there"), flipped(2).to_le_bytes());
    fs::write(file, [0; 3]).expect("it can be written");
    let name = file.display().to_string().replace(all.path(), "DIR");
    let said = diff();
    let untrusted =
        format!("OutputTensor, new: not trusted: {name} is 3 bytes long, and the output has 4 bytes\n");
    assert!(said.starts_with("exit 1\n") && said.contains(&untrusted), "{said}");
    #[cfg(unix)]
    {
        let precious = all.0.join("precious");
        fs::write(&precious, "four").expect("it can be written");
        fs::remove_file(file).expect("it is there");
        std::os::unix::fs::symlink(&precious, file).expect("links can be made");
        let said = diff();
        assert!(said.contains(&format!("not trusted: {name} is no file, ")), "{said}");
        all.make("2.0", "other-bytes-at-2", &["--outputs", &outputs]);
        assert_eq!(fs::read_to_string(&precious).expect("it is there"), "four");
        assert!(diff().contains(&format!("new {}\n", flipped(2))));
    }
}

#[test]
fn a_folder_of_outputs_that_cannot_be_used_is_named_before_the_run() {
    let all = Snapshots::accepted("no-outputs", "1.0", "none");
    let (before, outputs) = (all.files(), all.outputs());
    fs::write(&outputs, "a file").expect("it can be written");
    let said = all.make("2.0", WRONG, &["--outputs", &outputs]);
    assert!(said.starts_with("exit 2\n") && said.contains("error: cannot write DIR/outputs: "), "{said}");
    assert!(said.contains("help: name a folder by --outputs that you may write to"), "{said}");
    assert_eq!(all.files(), before, "nothing ran");
    for word in ["diff", "review"] {
        let said = all.does(&[word, "--outputs", &outputs]);
        assert!(said.starts_with("exit 2\n"), "{said}");
        assert!(said.contains("error: cannot read the folder DIR/outputs: "), "{said}");
    }
}

#[test]
fn a_folder_is_checked_and_shown() {
    let all = Snapshots::accepted("folder", "1.0", WRONG);
    assert_eq!(all.does(&["check"]), "exit 0\n--- stdout\n2 accepted, nothing waits for a review\n");
    all.make("1.0", "none", &["--name", "other"]);
    let said = all.does(&["check"]);
    assert!(said.starts_with("exit 1\n") && said.contains("other/driver: pending\n  help: see "), "{said}");
    let said = all.does(&["show", "mine", "other"]);
    assert!(said.contains("* finding  wrong-value where "), "{said}");
    assert!(
        said.contains("\n    mine/driver: slice-wrong-value-") && said.contains("\n    other/driver: -\n"),
        "{said}"
    );
    assert!(
        !said.contains("refuses  all clauses") && said.ends_with(" the same; --all shows them\n"),
        "{said}"
    );
    let said = all.does(&["show", "mine", "other", "--all"]);
    assert!(said.contains("* finding  wrong-value where "), "{said}");
    assert!(said.contains("\n  refuses  all clauses\n    mine/driver: at create, E_INVALIDARG\n"), "{said}");
    assert!(!said.contains("--all shows them"), "{said}");
    let said = all.does(&["show", "mine/examples"]);
    assert!(
        said.contains("example slice1.example-2\n  SLICE1 FLOAT32 ") && said.contains("\n  14 16\n  6 8\n"),
        "{said}"
    );
    fs::copy(all.file("driver.snap"), all.file("gone.snap")).expect("it can be copied");
    let said = all.does(&["check"]);
    assert!(said.contains("mine/gone: orphaned: it is of the suite `driver`"), "{said}");
}

/// The project's own snapshot. `dmlcts snapshot --suite ci` and `dmlcts snapshot accept` renew it.
#[test]
fn the_snapshot_of_the_reference_is_current() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../snapshots");
    let copy = Snapshots::new("own");
    fs::create_dir_all(copy.0.join("reference")).expect("a folder of this test's own");
    for name in ["ci.snap", "examples.snap"] {
        fs::copy(own.join("reference").join(name), copy.0.join("reference").join(name)).expect("it is there");
    }
    let said = copy.does(&["--in-process"]);
    assert!(said.starts_with("exit 0\n"), "{said}\nrenew it by dmlcts snapshot and dmlcts snapshot accept");
    assert!(copy.does(&["check"]).starts_with("exit 0\n"));
}

#[cfg(unix)]
#[test]
fn a_link_in_the_folder_is_refused_before_the_run() {
    let all = Snapshots::accepted("links", "1.0", "none");
    let precious = all.0.join("precious");
    fs::write(&precious, "precious").expect("it can be written");
    std::os::unix::fs::symlink("../precious", all.file("driver.snap.new")).expect("links can be made");
    let make = all.make("2.0", WRONG, &[]);
    assert!(!make.contains("verdict"), "{make}");
    for said in [make, all.does(&["accept"]), all.does(&["check"]), all.does(&["diff"])] {
        assert!(said.starts_with("exit 2\n"), "{said}");
        assert!(said.contains("DIR/mine/driver.snap.new is a symbolic link; "), "{said}");
        assert!(said.contains("help: remove the link"), "{said}");
    }
    assert_eq!(fs::read_to_string(&precious).expect("it is there"), "precious");
}

/// Without --dir, the folder may have been made by a stranger, so that it must not be a link.
#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_the_usual_folder_is_refused() {
    let all = Snapshots::accepted("usual", "1.0", "none");
    let folder = Snapshots::new("usual-link");
    fs::create_dir_all(&folder.0).expect("a folder of this test's own");
    std::os::unix::fs::symlink(&all.0, folder.0.join("snapshots")).expect("links can be made");
    let does = |words: &[&str]| {
        let mut command = crate::common::dmlcts();
        let done = command.args(words).current_dir(&folder.0).output().expect("it starts");
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    let make: &[&str] = &["snapshot", "--suite", "smoke", "--in-process"];
    for words in [make, &["snapshot", "check"], &["snapshot", "diff"], &["snapshot", "accept"]] {
        let (code, said) = does(words);
        assert!(code == Some(2) && said.contains("snapshots is a symbolic link; "), "{words:?}: {said}");
    }
    assert_eq!(does(&["snapshot", "check", "--dir", "snapshots"]).0, Some(0));
}

#[test]
fn what_a_killed_command_left_is_named_and_removed() {
    let all = Snapshots::accepted("left", "1.0", "none");
    fs::write(all.file(".dmlcts-x1.new"), "half").expect("it can be written");
    let said = all.does(&["check"]);
    assert!(said.starts_with("exit 1\n"), "{said}");
    assert!(said.contains("DIR/mine/.dmlcts-x1.new: left by a command that was killed\n  help: "), "{said}");
    all.make("1.0", "none", &[]);
    assert!(all.does(&["check"]).starts_with("exit 0\n"));
}

#[test]
fn a_report_does_not_replace_a_snapshot() {
    let all = Snapshots::accepted("report", "1.0", "none");
    let before = all.files();
    for name in ["mine/driver.snap", "mine/driver.snap.new", "mine/new.snap", "./mine/../mine/EXAMPLES.SNAP"]
    {
        let path = all.0.join(name).display().to_string();
        let said = all.does(&["diff", "--markdown", &path]);
        assert!(said.starts_with("exit 2\n"), "{said}");
        assert!(said.contains(&format!("`--markdown DIR/{name}` names a snapshot in `--dir DIR`")), "{said}");
        assert_eq!(all.files(), before);
    }
    #[cfg(unix)]
    for (number, name) in ["mine/driver.snap", "mine/new.snap"].into_iter().enumerate() {
        let link = all.0.join(format!("link{number}"));
        std::os::unix::fs::symlink(name, &link).expect("links can be made");
        let said = all.does(&["diff", "--markdown", link.to_str().expect("a plain name")]);
        assert!(said.starts_with("exit 2\n") && said.contains(" names a snapshot in "), "{said}");
        assert_eq!(all.files(), before);
    }
}

#[test]
fn a_suite_called_as_the_examples_is_refused_before_the_run() {
    let all = Snapshots::new("examples");
    fs::create_dir_all(&all.0).expect("a folder of this test's own");
    let path = suite(&all.0, &["documented"]);
    let text = fs::read_to_string(&path).expect("it is there").replace("suite: own", "suite: examples");
    fs::write(&path, text).expect("it can be written");
    let results = all.0.join("run.jsonl").display().to_string();
    run(&["run", "--suite", &path, "--backend", &backend("1.0", "none"), "--results", &results]);
    for options in [["--suite", &path], ["--from", &results]] {
        let said = all.does(&options);
        let message = "the suite `examples` cannot have a snapshot: its file would be examples.snap";
        assert!(said.starts_with("exit 2\n") && said.contains(message), "{said}");
        assert!(said.contains("help: ") && said.contains("give the suite another name"), "{said}");
    }
    assert!(!all.0.join("mine").exists() && !all.0.join("reference").exists());
}

/// A snapshot that a stranger wrote.
fn forged(findings: usize, answers: usize, text: &str) -> String {
    let finding = |number| Finding {
        id: format!("finding-{number}"),
        class: Class::AcceptedInvalid,
        place: Place::Of(format!("{text}{number}")),
        counts: Counts { cases: 1, of: 1, digest: "00000000".to_owned() },
        example: None,
        shows: None,
    };
    let answer = |number| Statement { subject: format!("a{number}"), text: text.to_owned() };
    let forged = Snapshot {
        about: Metadata::default(),
        findings: (0..findings).map(finding).collect(),
        further: None,
        chance: Vec::new(),
        answers: (0..answers).map(answer).collect(),
        refusals: vec![Statement { subject: text.to_owned(), text: text.to_owned() }],
        lacks: vec![text.to_owned()],
    };
    forged.to_text()
}

#[test]
fn forged_snapshots_are_shown_escaped_and_in_linear_time() {
    let all = Snapshots::new("forged");
    let write = |name: &str, text: &str| {
        fs::create_dir_all(all.0.join(name)).expect("a folder of this test's own");
        fs::write(all.0.join(name).join("own.snap"), text).expect("it can be written");
    };
    write("mine", &forged(2, 2, "\u{1b}[31m\u{9b}0m\u{202e}##[error]x"));
    write("other", &forged(1, 1, "x"));
    let page = all.0.join("page.md");
    fs::copy(all.file("own.snap"), all.file("own.snap.new")).expect("it can be copied");
    fs::remove_file(all.file("own.snap")).expect("it is ours");
    let html = all.0.join("page.html");
    let [markdown, html] = [&page, &html].map(|path| path.to_str().expect("a plain name"));
    let diff = all.does(&["diff", "--color", "always", "--markdown", markdown, "--html", html]);
    // The colours of the lines themselves.
    let diff = ["\u{1b}[1m", "\u{1b}[1;31m", "\u{1b}[32m", "\u{1b}[33m", "\u{1b}[0m"]
        .iter()
        .fold(diff, |diff, own| diff.replace(own, ""));
    let [page, html] = [markdown, html].map(|path| fs::read_to_string(path).expect("it is there"));
    let show = |words: &[&str]| all.does(&[&["show", "--color", "always"], words].concat());
    let check = all.does(&["check", "--color", "always"]);
    for said in [show(&[]), show(&["mine"]), diff, page, html] {
        assert!(said.contains(r"\u{1b}[31m\u{9b}0m\u{202e}#\u{23}[error]x"), "{said}");
        let is_live = |part: &&str| said.contains(*part);
        assert_eq!(["\u{1b}", "\u{9b}", "\u{202e}", "##[error]"].iter().find(|part| is_live(part)), None);
    }
    assert!(check.contains("mine/own: pending"), "{check}");
    write("mine", &forged(4_000, 30_000, "x"));
    write("other", &forged(4_000, 30_000, "y"));
    let started = std::time::Instant::now();
    let said = all.does(&["show"]);
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    assert!(
        said.contains("* answers  a29999\n    mine/own: x\n    other/own: y\n* refuses  x\n"),
        "{said:.200}"
    );
}
