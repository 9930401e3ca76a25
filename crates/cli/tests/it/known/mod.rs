//! A folder of findings as a gate, end to end, on faulty backends: what is known ends a run with 0. What is
//! new, changed, fixed or regressed ends it with 1, and `--accept` and `accept` write it into the folder.

use std::{fs, path::PathBuf};

use crate::common::{Findings, Scratch, broken, faulty, faulty_program, stdout, text};

/// The backend walks a window from the wrong end.
const FINDING: &str = "\
finding: backwards
status: known
kind: bug
where: operator == SLICE1 and any axis InputWindowStrides < 0
class: [wrong-value]
smallest: SLICE1 FLOAT32 in=2 out=1 InputWindowOffsets=0 InputWindowSizes=1 InputWindowStrides=-1 fill=iota
reason: Walks a window from the wrong end.
link: https://example.org/issues/7
";

/// Bugs of real libraries, and the largest number of findings that describe them in `smoke`.
const BUGS: [(&str, usize); 19] = [
    ("forgets-to-reverse", 2),
    ("clamps-strides", 3),
    ("honours-two-axes", 3),
    ("reflects-symmetric", 1),
    ("knows-one-mode", 3),
    ("swaps-ends", 6),
    ("ignores-total-size", 6),
    ("loses-the-last-step", 3),
    ("drops-axes", 8),
    ("never-pads", 3),
    ("never-copies", 3),
    ("folds-once", 1),
    ("quietens", 3),
    ("flushes", 6),
    ("loses-signs", 3),
    ("refuses-reversal", 1),
    ("accepts-nothing", 1),
    ("accepts-everything", 3),
    ("remembers", 1),
];

/// `--backend` for a backend with this fault.
fn backend(way: &str) -> String {
    faulty(&format!("spoiled {way}"))
}

/// The folder of the backend `wrong`, in a folder of this test's own.
struct Store(PathBuf);

impl Store {
    fn empty(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("dmlcts-{}-store-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("the temporary folder takes a folder");
        Self(path)
    }

    /// A folder with one finding.
    fn with(name: &str, finding: &str) -> Self {
        let store = Self::empty(name);
        fs::create_dir(store.0.join("wrong")).expect("it can be made");
        fs::write(store.file("backwards"), finding).expect("it can be written");
        store
    }

    fn path(&self) -> String {
        self.0.join("wrong").display().to_string()
    }

    fn file(&self, id: &str) -> PathBuf {
        self.0.join("wrong").join(format!("{id}.yaml"))
    }

    fn text(&self, id: &str) -> String {
        fs::read_to_string(self.file(id)).unwrap_or_default()
    }

    /// The files by name, each with its text.
    fn all(&self) -> String {
        let files = fs::read_dir(self.0.join("wrong")).expect("it is there");
        let mut files: Vec<PathBuf> = files.map(|file| file.expect("it can be read").path()).collect();
        files.sort();
        let named = files.iter().map(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            format!("== {name}\n{}", fs::read_to_string(path).expect("it can be read"))
        });
        named.collect()
    }

    /// The output of a command with `DIR` for the folder, without what differs from machine to machine.
    fn plain(&self, said: &str) -> String {
        let text = said.replace(&self.path(), "DIR").replace(faulty_program(), "faulty");
        text.lines().filter(|line| !line.starts_with("speed ")).collect::<Vec<_>>().join("\n")
    }

    /// A run of `smoke` on a faulty backend with this folder.
    fn ran(&self, way: &str, more: &[&str]) -> String {
        let (backend, path) = (backend(way), self.path());
        let arguments = ["run", "--quiet", "--retries", "1", "--backend", &backend, "--findings", &path];
        // Fewer experiments than usual take less time.
        let explain = if more.contains(&"--explain") { &[][..] } else { &["--explain", "500"] };
        self.plain(&text(&[&arguments, explain, more].concat()))
    }

    fn accepts(&self, way: &str, more: &[&str]) -> String {
        self.ran(way, &[&["--accept"], more].concat())
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The paragraph about the finding `backwards`.
fn about(said: &str) -> String {
    let words = ["CHANGED", "FIXED", "REGRESSED"];
    let start = words.iter().find_map(|word| said.find(&format!("{word} backwards:")));
    let rest = start.map_or("", |start| &said[start..]);
    rest.split("\n\n").next().unwrap_or_default().to_owned()
}

/// Each row of the guide's table of what a finding of the folder means.
#[test]
fn each_row_of_the_table() {
    let says = |finding: &str, way: &str, more: &[&str]| {
        // What becomes of a finding needs no explanation of other failures.
        let said = Store::with("table", finding).ran(way, &[&["--explain", "0"], more].concat());
        (said.lines().next().unwrap_or_default().to_owned(), about(&said))
    };
    let expected = ("exit 0".to_owned(), String::new());
    let mut table = String::new();
    let mut row = |what: &str, (exit, said): (String, String)| {
        assert_eq!(exit, "exit 1", "{what}: {said}");
        table.extend(["== ", what, "\n", &said, "\n"]);
    };
    let wide = FINDING.replace("any axis InputWindowStrides < 0", "rank > 3");
    let wide = wide.replace("in=2 out=1", "in=1,1,1,2 out=1,1,1,1");
    let wide = wide.replace("Offsets=0 ", "Offsets=0,0,0,0 ").replace("Sizes=1 ", "Sizes=1,1,1,1 ");
    let wide = wide.replace("Strides=-1", "Strides=1,1,1,-1");
    let fixed = FINDING.replace("status: known", "status: fixed");
    let with = |line: &str| format!("{FINDING}{line}\n");
    // Known, and all that can show it fail.
    assert_eq!(says(FINDING, "inverted", &[]), expected);
    // Known, and some pass.
    row("some pass", says(&wide, "inverted", &[]));
    assert_eq!(says(&wide, "mended", &["--where", "operator == SLICE"]), expected, "none of its cases ran");
    // Known, and all pass.
    row("all pass", says(FINDING, "mended", &[]));
    row("20 pass in a part", says(FINDING, "mended", &["--limit", "800"]));
    row("few pass in a part", says(FINDING, "mended", &["--limit", "40"]));
    assert_eq!(says(&with("flaky: true"), "mended", &[]), expected);
    row("all pass of a part", says(&with("partial: true"), "mended", &[]));
    // Known, with another class.
    row("another class", says(FINDING, "unwritten", &[]));
    // Known, with another wrong output of the smallest case.
    row("another output", says(&with("output: \"0123456789abcdef\""), "inverted", &[]));
    // Fixed.
    assert_eq!(says(&fixed, "mended", &[]), expected);
    row("fixed, and fails again", says(&fixed, "inverted", &[]));
    // New.
    let (exit, said) = says(&FINDING.replace("status: known", "status: new"), "inverted", &[]);
    assert_eq!((exit.as_str(), said.as_str()), ("exit 1", ""));
    // It does not apply.
    let bounded = |below: &str| with(&format!("applies: {{driver: {{below: {below:?}}}}}"));
    assert_eq!(says(&bounded("2.5.1"), "mended", &[]), expected);
    row("it applies", says(&bounded("2.6"), "mended", &[]));
    insta::assert_snapshot!("table", table);
}

#[test]
fn another_output_of_the_smallest_case_is_accepted() {
    let old = "0123456789abcdef";
    let store = Store::with("output", &format!("{FINDING}output: {old:?}\n"));
    let accepted = store.accepts("inverted", &[]);
    assert!(accepted.starts_with("exit 0") && about(&accepted).is_empty(), "{accepted}");
    let text = store.text("backwards");
    assert!(text.contains("output: \"") && !text.contains(old), "{text}");
    assert_eq!(about(&store.ran("inverted", &[])), "");
}

#[test]
fn a_summary_names_known_findings() {
    let store = Store::with("summary", FINDING);
    let (backend, path) = (backend("inverted"), store.path());
    let held = store.plain(&text(&["run", "--backend", &backend, "--findings", &path]));
    assert!(held.starts_with("exit 0\n"), "{held}");
    insta::assert_snapshot!("holds", held);
    let partial = FINDING.replace("any axis InputWindowStrides < 0", "rank > 0") + "partial: true\n";
    fs::write(store.file("backwards"), partial).expect("it can be written");
    let wide = store.plain(&text(&["run", "--backend", &backend, "--findings", &path]));
    let line = wide.lines().find(|line| line.starts_with("known ")).unwrap_or_default();
    assert!(wide.starts_with("exit 0\n") && line.contains("; backwards is wide: "), "{wide}");
    let listed = text(&["findings", &path]);
    assert_eq!(
        listed,
        "exit 0\n--- stdout\nknown  bug         backwards  Walks a window from the wrong end.\n"
    );
}

#[test]
fn reports_in_files_fail_where_the_run_does() {
    let (xml, page) = (Scratch::new("known.xml", ""), Scratch::new("known.md", ""));
    let files = ["--junit", xml.path(), "--markdown", page.path()];
    let store = Store::with("files", FINDING);
    assert!(store.ran("inverted", &files).starts_with("exit 0"));
    let entry = r#"<testcase name="backwards" classname="dmlcts.smoke.known""#;
    assert!(xml.text().contains(&format!("{entry}/>")) && !xml.text().contains("<failure"), "{}", xml.text());
    assert!(page.text().starts_with("## dmlcts: nothing unexpected\n"), "{}", page.text());
    assert!(store.ran("mended", &files).starts_with("exit 1"));
    let said = xml.text();
    assert!(said.contains(&format!("{entry}>")) && said.contains(r#"type="known-failure""#), "{said}");
    let said = page.text();
    assert!(said.contains(" unexpected verdicts\n") && said.contains("FIXED backwards:"), "{said}");
}

#[test]
fn parts_of_a_run_are_judged_once_they_are_joined() {
    let store = Store::with("parts", FINDING);
    let (one, two) = (Scratch::new("known-1.jsonl", ""), Scratch::new("known-2.jsonl", ""));
    for (way, exit) in [("inverted", "exit 0"), ("mended", "exit 1")] {
        for (part, file) in [("1/2", &one), ("2/2", &two)] {
            let options = ["--partition", part, "--overwrite", "--results", file.path()];
            assert!(store.ran(way, &options).starts_with(exit), "{way}");
        }
        let whole = store.plain(&text(&["merge", "--quiet", one.path(), two.path()]));
        let alone = store.ran(way, &[]);
        let commands = |line: &&str| !line.starts_with("  take the file out");
        let alone: Vec<&str> = alone.lines().filter(commands).collect();
        assert_eq!(whole.trim_end(), alone.join("\n").trim_end(), "{way}");
        assert!(whole.starts_with(exit), "{whole}");
    }
    // A part that was run with another folder belongs to another run.
    fs::write(store.file("backwards"), FINDING.replace("Walks", "It walks")).expect("it can be written");
    store.ran("mended", &["--partition", "2/2", "--overwrite", "--results", two.path()]);
    let differs = text(&["merge", one.path(), two.path()]);
    assert!(differs.starts_with("exit 2\n") && differs.contains("--findings: "), "{differs}");
}

/// What is accepted holds until the next change. A finding that changes keeps its id and a person's words.
#[test]
fn an_accepted_folder_holds_until_the_next_change() {
    let store = Store::empty("accepted");
    let said = store.accepts("inverted", &[]);
    assert!(said.starts_with("exit 0\n") && said.contains("\nnew       DIR/slice1-wrong-value-"), "{said}");
    insta::assert_snapshot!("accepted", store.all());
    assert_eq!(store.ran("inverted", &[]), "exit 0");
    let before = store.all();
    assert!(store.accepts("inverted", &[]).contains("DIR is as it was: the run shows nothing new"));
    assert_eq!(store.all(), before);
    store.accepts("unwritten", &[]);
    insta::assert_snapshot!("accepted_again", store.all());
    assert_eq!(store.ran("unwritten", &[]), "exit 0");
    assert!(store.ran("inverted", &[]).contains("REGRESSED slice1-wrong-value-"));
    store.accepts("mended", &[]);
    assert!(store.all().matches("status: fixed\n").count() == 2, "{}", store.all());
    assert_eq!(store.ran("mended", &[]), "exit 0");
}

/// A predicate of refusals names the validity of its descs once, however often it is accepted.
#[test]
fn a_refusal_that_is_accepted_twice_keeps_its_predicate() {
    let store = Store::empty("refused-twice");
    store.accepts("declines", &[]);
    let before = store.all();
    assert!(before.contains("\nwhere: not invalid and "), "{before}");
    assert!(store.accepts("declines", &[]).contains("DIR is as it was"), "{}", store.all());
    assert_eq!(store.all(), before);
}

#[test]
fn a_sharper_predicate_keeps_the_id_and_the_words_of_a_person() {
    let wide = format!("# Mine.\n{}", FINDING.replace("any axis InputWindowStrides < 0", "rank > 0"));
    let store = Store::with("sharper", &wide);
    let said = store.accepts("inverted", &[]);
    assert!(said.starts_with("exit 0\n") && said.contains("\nchanged   DIR/backwards.yaml\n"), "{said}");
    let text = store.text("backwards");
    assert!(text.starts_with("# Mine.\nfinding: backwards\n"), "{text}");
    assert!(text.contains("\nwhere: operator == SLICE1 and any axis InputWindowStrides < 0\n"), "{text}");
    assert!(text.contains("\nreason: Walks a window from the wrong end.\n"), "{text}");
    assert_eq!(store.ran("inverted", &[]), "exit 0");
}

/// `accept` makes of a results file what `--accept` makes of the run, and takes the ids that it is given.
#[test]
fn a_recorded_run_is_accepted_afterwards() {
    let results = Scratch::new("accepted.jsonl", "");
    let (now, later) = (Store::empty("now"), Store::empty("later"));
    let record = ["--overwrite", "--results", results.path()];
    now.accepts("swaps-ends", &record);
    let accept = |more: &[&str]| {
        let path = later.path();
        later.plain(&text(&[&["accept", &path, "--from", results.path()], more].concat()))
    };
    let names = now.all();
    let names: Vec<&str> = names.lines().filter_map(|line| line.strip_prefix("finding: ")).collect();
    assert!(names.len() > 1, "{names:?}");
    let unknown = accept(&[names[0], "slice1-none"]);
    let why = "neither the run nor the folder has a finding `slice1-none`";
    assert!(unknown.starts_with("exit 2\n") && unknown.contains(why), "{unknown}");
    assert_eq!(later.all(), "", "nothing is written then");
    assert!(accept(&names[..1]).starts_with("exit 0\n"));
    assert_eq!(later.text(names[0]), now.text(names[0]));
    assert!(later.text(names[1]).is_empty(), "it was not named");
    assert!(accept(&[]).starts_with("exit 0\n"));
    assert_eq!(later.all(), now.all());
}

/// The finding of a crash file of a fuzz target is shrunk, and its predicate holds in a suite.
#[test]
fn a_case_or_a_file_of_cases_becomes_a_finding() {
    let large = "SLICE1 FLOAT32 in=1,3,4,5 out=1,2,4,3 InputWindowOffsets=0,1,0,0 InputWindowSizes=1,2,4,5 \
                 InputWindowStrides=1,1,1,-2 fill=iota";
    let fine =
        "SLICE1 FLOAT32 in=4 out=2 InputWindowOffsets=0 InputWindowSizes=4 InputWindowStrides=2 fill=iota";
    let store = Store::empty("added");
    let add = |arguments: &[&str]| {
        let (path, backend) = (store.path(), backend("inverted"));
        store.plain(&text(&[&["findings", "add", &path, "--backend", &backend], arguments].concat()))
    };
    let refused = |arguments: &[&str], why: &str| {
        let said = add(arguments);
        assert!(said.starts_with("exit 2\n") && said.contains(why) && said.contains("  help: "), "{said}");
        assert!(!store.0.join("wrong").exists(), "{said}");
    };
    let file = |name: &str, bytes: &[u8]| {
        let file = Scratch::new(name, "");
        fs::write(file.path(), bytes).expect("it can be written");
        file
    };
    refused(&[fine], "no case fails, so that no finding was added");
    refused(&["crash-none"], "cannot read crash-none: ");
    refused(&["SLICE", "UINT8", "in=4"], "write dmlcts findings add ");
    refused(&[file("crash-empty", b"\n").path()], "crash-empty holds no case");
    refused(&[file("crash-bytes", b"\xff\0").path()], "crash-bytes: invalid utf-8 sequence");
    let mistaken = file("crash-mistaken", format!("{fine}\n{}", fine.replace("in=4", "in=x")).as_bytes());
    refused(&[mistaken.path()], "crash-mistaken:2:19");

    let crash = file("crash", large.as_bytes());
    let said = add(&[crash.path(), fine]);
    assert!(said.starts_with("exit 0\n") && said.contains("\nnew       DIR/slice1-wrong-value-"), "{said}");
    insta::assert_snapshot!("added", store.all());
    assert!(add(&[large]).contains("DIR is as it was: the run shows nothing new"));
    assert_eq!(store.ran("inverted", &[]), "exit 0");
}

/// The backend's level is older than the newest, at which the case is valid.
#[test]
fn a_case_becomes_a_finding_at_the_level_of_the_backend() {
    let case =
        "SLICE1 FLOAT64 in=4 out=2 InputWindowOffsets=0 InputWindowSizes=4 InputWindowStrides=2 fill=iota";
    let (way, store) = ("fails-before-doubles", Store::empty("level"));
    let said = text(&["findings", "add", &store.path(), "--backend", &backend(way), case]);
    assert!(said.starts_with("exit 0\n"), "{said}");
    let all = store.all();
    let condition = all.lines().find(|line| line.starts_with("where: "));
    assert!(condition.is_some_and(|condition| condition.contains("invalid and")), "{all}");
    assert_eq!(store.ran(way, &[case]), "exit 0");
}

/// The fault is at an older level than that of the backend.
#[test]
fn a_case_becomes_a_finding_at_the_level_of_the_option() {
    let case = "PADDING1 FLOAT32 in=4 out=4 StartPadding=0 EndPadding=0 PaddingMode=CONSTANT fill=iota";
    let store = Store::empty("older");
    let add = |more: &[&str]| {
        let (path, mutant) = (store.path(), "mutant:padding-before-level");
        let arguments = ["findings", "add", &path, "--backend", mutant, "--name", "wrong", case];
        store.plain(&text(&[&arguments, more].concat()))
    };
    let said = add(&[]);
    assert!(said.starts_with("exit 2\n") && said.contains("no case fails"), "{said}");
    let said = add(&["--feature-level", "4.1"]);
    assert!(said.starts_with("exit 0\n") && said.contains("\nnew       DIR/padding1-accepted-"), "{said}");
}

/// Two runs may share a folder: at its end, a run finds what another one has accepted meanwhile.
#[cfg(target_os = "linux")]
#[test]
fn a_run_waits_for_the_lock_of_its_folder() {
    let store = Store::empty("lock");
    fs::create_dir(store.path()).expect("it can be made");
    let lock = dmlcts_results::FileLock::acquire(store.path().as_ref());
    let mut command = crate::common::dmlcts();
    let (backend, path) = (backend("inverted"), store.path());
    command.args(["run", "--quiet", "--backend", &backend, "--accept", "--findings", &path]);
    let mut run = command.stdout(std::process::Stdio::null()).spawn().expect("it starts");
    let mut ended = || run.try_wait().expect("it was started here").map(|status| status.code());
    dmlcts_tests::wait_until(|| dmlcts_tests::is_awaited(store.path().as_ref()) || ended().is_some());
    assert_eq!((ended(), store.all()), (None, String::new()));
    fs::write(store.file("backwards"), FINDING.replace("known", "fixed")).expect("it can be written");
    drop(lock);
    assert!(run.wait().expect("it ends").success());
    let all = store.all();
    assert!(all.contains("== backwards.yaml\n") && all.contains("== slice1-wrong-value-"), "{all}");
}

/// The folder after accepting a run of a suite on a backend with a bug. The next run has no news.
fn accepted(way: &str, suite: &str) -> String {
    let store = Store::empty(&format!("bug-{way}"));
    let of = ["--suite", suite, "--explain", "2000"];
    let said = store.accepts(way, &[&of[..], &["--annotations"]].concat());
    assert!(said.starts_with("exit 0\n"), "{way}: {said}");
    // What is known now is no failure.
    assert!(!said.contains("FAIL ") && !said.contains("::error"), "{way}: {said}");
    assert_eq!(store.ran(way, &of), "exit 0", "{way}: {}", store.all());
    store.all()
}

/// The lines of files that tell findings apart.
fn in_short(all: &str) -> String {
    let keys = ["finding: ", "where: ", "class: "];
    let lines = all.lines().filter(|line| keys.iter().any(|key| line.starts_with(key)));
    lines.flat_map(|line| ["  ", line, "\n"]).collect()
}

#[test]
#[ignore = "it takes long: .ci/nightly runs it"]
fn an_accepted_folder_of_real_bugs_holds_in_the_next_run() {
    let mut all = String::new();
    for (way, most) in BUGS {
        let accepted = accepted(way, "smoke");
        let findings = accepted.matches("\nfinding: ").count();
        all.extend([way, "\n", &in_short(&accepted)]);
        assert!(findings <= most, "{way}: {accepted}");
    }
    insta::assert_snapshot!("accepted_bugs", all);
}

/// The bug of the guide, in a suite in which it fails tens of thousands of cases.
#[test]
#[ignore = "it takes long: .ci/nightly runs it"]
fn a_bug_of_a_line_is_accepted_in_a_line() {
    insta::assert_snapshot!("accepted_ci", in_short(&accepted("forgets-to-reverse", "ci")));
}

/// A fault that needs a NaN in the data, and a fault that depends on descs alone: each becomes one finding,
/// and the finding holds.
#[test]
#[ignore = "it takes long: .ci/run runs it if findings or snapshots changed"]
fn what_only_some_data_show() {
    for way in ["quieting", "declines"] {
        let store = Store::empty(way);
        let said = store.accepts(way, &["--explain", "2000"]);
        assert!(said.starts_with("exit 0\n"), "{said}");
        insta::assert_snapshot!(format!("accepted_{way}"), in_short(&store.all()));
        assert_eq!(store.ran(way, &[]), "exit 0");
        // A case in which the fault cannot show says nothing if it passes; every other case does.
        let mended = store.ran("mended", &[]);
        assert!(mended.starts_with("exit 1\n") && mended.contains("FIXED "), "{mended}");
    }
}

/// One of two faults has no simple predicate. The other one becomes known, and the failures that are left
/// are named.
#[test]
#[ignore = "it takes long: .ci/run runs it if findings or snapshots changed"]
fn failures_without_a_predicate_are_left_out() {
    let store = Store::empty("scattered");
    let said = store.accepts("scattered", &["--explain", "2000"]);
    assert!(said.starts_with("exit 1\n"), "{said}");
    let left: Vec<&str> = said.lines().filter(|line| line.starts_with("left out  ")).collect();
    assert!(!left.is_empty() && left.iter().all(|line| line.contains("no predicate separates")), "{said}");
    assert!(store.all().contains("class: [unwritten]\n"), "{}", store.all());
    // Only the failures that are left fail the next run.
    let again = store.ran("scattered", &[]);
    assert!(again.starts_with("exit 1\n") && again.contains("wrong values"), "{again}");
    assert!(!again.contains("unwritten") && !again.contains("CHANGED"), "{again}");
}

/// What depends on the machine does not become known.
#[test]
fn a_time_out_is_left_out() {
    let case = stdout(&["list", "--strategy", "documented", "--limit", "1"]);
    let backend = broken("hangs", case.trim_end());
    let store = Findings::new("reference", &[]);
    let of = ["--strategy", "documented", "--limit", "3", "--case-timeout", "300ms"];
    let run = ["run", "--quiet", "--backend", &backend, "--findings", store.path(), "--accept"];
    let said = text(&[&run[..], &of].concat());
    assert!(said.starts_with("exit 1\n") && said.contains("\nFAIL 1: "), "{said}");
    assert!(
        said.contains("\nleft out  slice-timed-out-") && said.contains(": a time-out depends on"),
        "{said}"
    );
    assert_eq!(fs::read_dir(store.path()).expect("it is there").count(), 0);
}

#[test]
fn the_folder_of_another_backend_is_left_alone() {
    let store = Store::with("another", FINDING);
    let other = store.0.join("other").display().to_string();
    fs::rename(store.path(), &other).expect("it can be moved");
    let results = Scratch::new("of-another.jsonl", "");
    let backend = backend("mended");
    let run = ["run", "--quiet", "--backend", &backend, "--findings", &other];
    let said = text(&[&run[..], &["--results", results.path()]].concat());
    let refused = said.replace(&other, "OTHER").replace(&store.path(), "DIR");
    assert_eq!(
        refused,
        "exit 2\n--- stderr\nerror: OTHER is called `other`, and the folder of the backend `wrong` is called `wrong`\n  \
         help: name the folder DIR, or keep this one by --name other\n"
    );
    assert_eq!(fs::read(results.path()).expect("it is there"), b"", "no case ran");
    assert!(text(&[&run[..], &["--name", "other"]].concat()).starts_with("exit 1\n"));
    let said = text(&[&run[..], &["--name", "third"]].concat());
    assert!(
        said.starts_with("exit 2\n") && said.contains(" is not called `third`, as --name says"),
        "{said}"
    );
    // `accept` takes the folder without an option.
    text(&[&run[..2], &["--backend", &backend, "--results", results.path(), "--overwrite"]].concat());
    let accepted = text(&["accept", &other, "--from", results.path()]).replace(&other, "OTHER");
    assert_eq!(accepted.replace(&store.path(), "DIR"), refused);
    let folders = store.0.display().to_string();
    let said = text(&["run", "--backend", &backend, "--findings", &folders]);
    assert!(said.starts_with("exit 2\n") && said.contains("/other\n"), "{said}");
    let none = text(&["run", "--findings", "no-such-folder"]);
    assert!(none.starts_with("exit 2\n") && none.contains("there is no folder no-such-folder"), "{none}");
}

#[test]
fn mistakes_in_a_folder_are_named_before_the_run() {
    let wrong = FINDING.replace("InputWindowStrides <", "InputWindowStride <").replace("known", "knwon");
    let store = Store::with("mistakes", &wrong);
    insta::assert_snapshot!("mistakes", store.ran("mended", &[]));
}

/// Several questions fail in one way: the first shows a case, in the smallest form that was found, and the
/// number of cases.
#[test]
fn a_doctor_shows_one_bug_once() {
    let said = text(&["doctor", "--backend", &backend("inverted")]);
    assert!(said.starts_with("exit 1\n"), "{said}");
    let count = |what: &str| said.matches(what).count();
    assert_eq!((count("FAIL "), count(" look at it: ")), (1, 1), "{said}");
    assert!(count("\nalso  ") >= 1 && count(", in the same way as above\n") == count("\nalso  "), "{said}");
    assert!(said.contains(" cases of SLICE1: wrong values\n"), "{said}");
    // Two elements tell where a wrong one comes from.
    let small = "'SLICE1 FLOAT32 in=2 out=1 InputWindowOffsets=0 InputWindowSizes=1 InputWindowStrides=-1 fill=iota'\n";
    assert!(said.contains(small), "{said}");
}

/// A finding as a run of this version saw it.
fn seen(version: &str, filter: &str) -> String {
    let text = FINDING.replace("any axis InputWindowStrides < 0", filter);
    format!("{text}seen: {{first: \"{version}\", last: \"{version}\"}}\n")
}

/// The output of `findings merge` with `INTO` and `FROM` for the folders.
fn merged(into: &Store, from: &Store, more: &[&str]) -> String {
    let paths = [into.path(), from.path()];
    let said = text(&[&["findings", "merge", &paths[0], &paths[1]], more].concat());
    said.replace(&paths[0], "INTO").replace(&paths[1], "FROM").replace('\\', "/")
}

#[test]
fn a_folder_joins_another_one() {
    let (into, from) = (Store::with("into", &seen("1.0", "rank > 0")), Store::empty("from"));
    assert!(merged(&into, &from, &[]).contains("there is no folder FROM"));
    fs::create_dir(from.path()).expect("it can be made");
    assert_eq!(merged(&into, &from, &[]), "exit 0\n--- stdout\nINTO is as it was: FROM has nothing new\n");
    let later = seen("1.1", "rank == 1").replace("Walks", "Always walks");
    fs::write(from.file("backwards"), later).expect("it can be written");
    let twin = seen("1.1", "rank == 1").replace("finding: backwards", "finding: twin");
    fs::write(from.file("twin"), &twin).expect("it can be written");
    let before = from.all();
    assert_eq!(
        merged(&into, &from, &[]),
        "exit 0\n--- stdout\nchanged   INTO/backwards.yaml\n          wrong-value where operator == SLICE1 and rank == 1\n\
         new       INTO/twin.yaml\n          wrong-value where operator == SLICE1 and rank == 1\n\
         same case INTO/backwards.yaml and FROM/twin.yaml\n"
    );
    let joined = seen("1.0", "rank == 1").replace("last: \"1.0\"", "last: \"1.1\"");
    assert_eq!((into.text("backwards"), into.text("twin")), (joined, twin));
    assert!(merged(&into, &from, &[]).contains("INTO is as it was: FROM has nothing new"));
    assert_eq!(from.all(), before, "it is only read");
}

#[test]
fn a_merge_that_cannot_be_decided_writes_nothing() {
    let into = Store::with("undecided", &seen("1.0", "rank > 0"));
    let from = Store::with("undecided-from", &seen("1.0", "rank == 1"));
    fs::write(from.file("other"), FINDING.replace("backwards", "other")).expect("it can be written");
    let before = into.all();
    assert_eq!(
        merged(&into, &from, &[]),
        "exit 2\n--- stdout\nconflict  INTO/backwards.yaml and FROM/backwards.yaml: both were seen last in the same \
         version\n--- stderr\nerror: nothing was written: 1 finding cannot be joined\n  help: correct `seen` of one \
         file, or delete the file that does not count\n"
    );
    assert_eq!(into.all(), before);
    // A mistake in a file of either folder.
    fs::write(from.file("other"), "finding: other\n").expect("it can be written");
    assert!(merged(&into, &from, &[]).starts_with("exit 2\n"));
    assert_eq!(into.all(), before);
    assert!(merged(&from, &into, &[]).starts_with("exit 2\n"));
}

#[test]
fn folders_of_two_backends_are_joined_by_name() {
    let (into, from) = (Store::empty("names"), Store::with("names-from", FINDING));
    let other = into.0.join("other").display().to_string();
    let merge = |more: &[&str]| text(&[&["findings", "merge", &other, &from.path()], more].concat());
    let said = merge(&[]);
    let why = "other is called `other`, and the folder of the backend `wrong` is called `wrong`";
    assert!(said.starts_with("exit 2\n") && said.contains(why), "{said}");
    let said = merge(&["--name", "third"]);
    assert!(said.starts_with("exit 2\n") && said.contains("is not called `third`, as --name says"), "{said}");
    assert!(!fs::exists(&other).expect("it can be looked for"), "it was not made");
    assert!(merge(&["--name", "other"]).starts_with("exit 0\n"));
    let copy = fs::read_to_string(into.0.join("other").join("backwards.yaml"));
    assert_eq!(copy.expect("it was copied"), FINDING);
}

#[cfg(unix)]
#[test]
fn a_merge_follows_no_link_of_a_folder() {
    let (into, from) = (Store::with("links", FINDING), Store::with("links-from", FINDING));
    let outside = into.0.join("outside");
    fs::write(&outside, FINDING.replace("backwards", "linked")).expect("it can be written");
    for store in [&from, &into] {
        std::os::unix::fs::symlink(&outside, store.file("linked")).expect("links can be made");
        let said = merged(&into, &from, &[]);
        assert!(said.starts_with("exit 2\n") && said.contains("linked.yaml is a symbolic link"), "{said}");
        fs::remove_file(store.file("linked")).expect("it is there");
    }
}

#[test]
fn findings_are_listed_in_files() {
    let reason = "reason: <b>See</b> https://a.test | and\n  @octocat.";
    let hostile = FINDING.replace("reason: Walks a window from the wrong end.", reason);
    let store = Store::with("listed", &hostile);
    let (table, page) = (Scratch::new("listed.md", "old"), Scratch::new("listed.html", "old"));
    let path = store.path();
    let files = ["--markdown", table.path(), "--html", page.path()];
    let said = text(&[&["findings", &path], &files[..]].concat());
    assert!(said.starts_with("exit 0\n--- stdout\nknown  bug         backwards  <b>See</b>"), "{said}");
    assert_eq!(
        table.text(),
        "## dmlcts: 1 finding of wrong\n\n\
         | finding | status | kind | class | where | smallest | answer | reason | link | seen |\n\
         |---|---|---|---|---|---|---|---|---|---|\n\
         | backwards | known | bug | wrong-value | operator == SLICE1 and any axis InputWindowStrides &lt; 0 \
         | SLICE1 FLOAT32 in=2 out=1 InputWindowOffsets=0 InputWindowSizes=1 InputWindowStrides=-1 fill=iota |  \
         | &lt;b&gt;See&lt;/b&gt; https:&#8203;//a.test \\| and @&#8203;octocat. \
         | https:&#8203;//example.org/issues/7 |  |\n"
    );
    let shown = page.text();
    assert!(
        shown.starts_with("<!DOCTYPE html>") && shown.contains("<h1 class=\"note\">1 finding of wrong</h1>")
    );
    let reason = "<dd>&lt;b&gt;See&lt;/b&gt; https://a.test | and @octocat.</dd>";
    assert!(shown.contains(reason) && !shown.contains("href=\"http"), "{shown}");
    // Nothing is replaced by a list of a folder with mistakes, or of a wrong name.
    let inside = store.file("backwards").display().to_string();
    for option in ["--markdown", "--html"] {
        let said = text(&["findings", &path, option, &inside]);
        assert!(said.starts_with("exit 2\n") && said.contains(" names a finding in "), "{said}");
    }
    let same = text(&["findings", &path, "--markdown", page.path(), "--html", page.path()]);
    assert!(same.starts_with("exit 2\n") && same.contains(" name the same file"), "{same}");
    assert_eq!(store.text("backwards"), hostile);
    fs::write(store.file("backwards"), "finding: backwards\n").expect("it can be written");
    assert!(text(&[&["findings", &path], &files[..]].concat()).starts_with("exit 2\n"));
    assert_eq!(page.text(), shown);
}

/// A folder that is called like the command is named by a path.
#[test]
fn a_folder_called_merge_is_listed() {
    let root = Store::empty("called");
    fs::create_dir(root.0.join("merge")).expect("it can be made");
    let list = |name: &str| {
        let mut command = crate::common::dmlcts();
        command.args(["findings", name]).current_dir(&root.0).output().expect("it starts").status.code()
    };
    assert_eq!((list("./merge"), list("merge")), (Some(0), Some(2)));
}
