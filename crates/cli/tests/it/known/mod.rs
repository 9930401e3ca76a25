//! `dmlcts run --known-failures`, end to end, on a faulty backend. Known failures end a run with 0. A list
//! that is no longer true ends it with 1 and the edit that corrects the list.

use crate::common::{Scratch, faulty, faulty_program, text};

const LIST: &str = "\
backend: wrong
failures:
  - id: backwards
    suites: [smoke]
    where: operator == SLICE1 and any axis InputWindowStrides < 0
    signature: wrong-value
    kind: bug
    reason: Walks a window from the wrong end.
    link: https://example.org/issues/7
";

/// Bugs of real libraries, and the largest number of entries that describe them in `smoke`.
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
    ("remembers", 3),
];

/// `--backend` for a backend with this fault.
fn backend(way: &str) -> String {
    faulty(&format!("spoiled {way}"))
}

/// The output of a run on such a backend, without the parts that differ from machine to machine.
fn ran(way: &str, list: &Scratch, more: &[&str]) -> String {
    let backend = backend(way);
    let arguments = ["run", "--backend", &backend, "--known-failures", list.path()];
    let text = text(&[&arguments, more].concat()).replace(list.path(), "known.yaml");
    let text = text.replace(faulty_program(), "faulty");
    text.lines().filter(|line| !line.starts_with("speed ")).collect::<Vec<_>>().join("\n")
}

#[test]
fn known_failures_end_a_run_with_0() {
    let list = Scratch::new("holds.yaml", LIST);
    let held = ran("inverted", &list, &[]);
    assert!(held.starts_with("exit 0\n"), "{held}");
    insta::assert_snapshot!("holds", held);
    let of_another = Scratch::new("another.yaml", LIST.replace("backend: wrong", "backend: right"));
    let none = ran("mended", &of_another, &[]);
    assert!(none.starts_with("exit 0\n"), "{none}");
    assert!(none.contains("known     none of 1 known failure is of wrong "), "{none}");
    assert!(none.contains(" is of the backend right\n"), "{none}");
    // Bounds exclude it or include it.
    let bounded =
        |below: &str| Scratch::new("bounded.yaml", format!("{LIST}    driver: {{below: {below:?}}}\n"));
    let none = ran("mended", &bounded("2.5.1"), &[]);
    assert!(none.starts_with("exit 0\n"), "{none}");
    assert!(none.contains(" is of a driver below 2.5.1, and this one has "), "{none}");
    assert!(ran("mended", &bounded("2.6"), &[]).starts_with("exit 1\n"));
}

#[test]
fn a_list_that_is_not_true_any_more() {
    let list = Scratch::new("untrue.yaml", LIST);
    insta::assert_snapshot!("stale", ran("mended", &list, &["--quiet"]));
    let changed = ran("unwritten", &list, &["--quiet"]);
    let known = changed.find("KNOWN FAILURE").expect("it is said");
    assert!(changed.starts_with("exit 1\n"), "{changed}");
    insta::assert_snapshot!("changed", &changed[known..]);
    // A case that is answered `unsupported` is no longer a bug.
    let declined = ran("declines", &list, &["--quiet"]);
    let edit = "    signature: undeclared\n  -     kind: bug\n  +     kind: unsupported\n";
    assert!(declined.contains(edit), "{declined}");
    // A part of a suite does not show whether the rest still fails.
    insta::assert_snapshot!("stale_in_part", ran("mended", &list, &["--quiet", "--limit", "800"]));
    let wide = Scratch::new("wide.yaml", LIST.replace("any axis InputWindowStrides < 0", "rank > 3"));
    let wide = ran("inverted", &wide, &["--quiet"]);
    let known = wide.find("KNOWN FAILURE").expect("it is said");
    insta::assert_snapshot!("too_wide", &wide[known..]);
    let nothing = Scratch::new("nothing.yaml", LIST.replace("any axis InputWindowStrides < 0", "rank > 8"));
    insta::assert_snapshot!("matches_nothing", ran("mended", &nothing, &["--quiet"]));
}

#[test]
fn reports_in_files_fail_where_the_run_does() {
    let (list, xml, page) =
        (Scratch::new("files.yaml", LIST), Scratch::new("known.xml", ""), Scratch::new("known.md", ""));
    let files = ["--quiet", "--junit", xml.path(), "--markdown", page.path()];
    assert!(ran("inverted", &list, &files).starts_with("exit 0"));
    let entry = r#"<testcase name="backwards" classname="dmlcts.smoke.known""#;
    assert!(xml.text().contains(&format!("{entry}/>")) && !xml.text().contains("<failure"), "{}", xml.text());
    assert!(page.text().starts_with("## dmlcts: nothing unexpected\n"), "{}", page.text());
    // It has no case left: no verdict is unexpected, and the entry is to be removed.
    let nothing =
        Scratch::new("files-none.yaml", LIST.replace("any axis InputWindowStrides < 0", "rank > 8"));
    assert!(ran("right", &nothing, &files).starts_with("exit 1"));
    let said = xml.text();
    assert!(said.contains(&format!("{entry}>")) && said.contains(r#"type="known-failure""#), "{said}");
    let said = page.text();
    assert!(
        said.contains("\n## dmlcts: 1 known failure to correct\n")
            && said.contains("KNOWN FAILURE backwards:"),
        "{said}"
    );
}

#[test]
fn parts_of_a_run_say_it_once_they_are_joined() {
    let list = Scratch::new("parts.yaml", LIST);
    let (one, two) = (Scratch::new("known-1.jsonl", ""), Scratch::new("known-2.jsonl", ""));
    for (way, exit) in [("inverted", "exit 0\n"), ("mended", "exit 1\n")] {
        for (part, file) in [("1/2", &one), ("2/2", &two)] {
            let options = ["--quiet", "--partition", part, "--overwrite", "--results", file.path()];
            let text = ran(way, &list, &options);
            assert!(text.starts_with(exit.trim()) && !text.contains("take out"), "{text}");
        }
        let whole = text(&["merge", "--quiet", one.path(), two.path()]).replace(list.path(), "known.yaml");
        let alone = ran(way, &list, &["--quiet"]);
        assert_eq!(whole.trim_end(), alone.trim_end(), "{way}");
        assert!(whole.starts_with(exit), "{whole}");
    }
    // A part that was run with another list belongs to another run.
    let other = Scratch::new("other.yaml", LIST.replace("rank", "rank ").replace("Walks", "It walks"));
    ran("mended", &other, &["--quiet", "--partition", "2/2", "--overwrite", "--results", two.path()]);
    let differs = text(&["merge", one.path(), two.path()]);
    assert!(differs.starts_with("exit 2\n") && differs.contains("--known-failures: "), "{differs}");
}

#[test]
fn a_blessed_list_holds_until_the_next_change() {
    let list = Scratch::new("blessed.yaml", "");
    std::fs::remove_file(list.path()).expect("it was there");
    let bless = |way: &str| {
        let backend = backend(way);
        let text = text(&["run", "--quiet", "--backend", &backend, "--bless", list.path()]);
        assert!(text.starts_with("exit 0\n"), "{text}");
        list.text()
    };
    insta::assert_snapshot!("blessed", bless("inverted"));
    assert_eq!(ran("inverted", &list, &["--quiet"]), "exit 0");
    // A person's additions stay, and right entries are unchanged.
    let written = list.text();
    let (before, reason) = written.split_once("    reason: ").expect("it has one");
    let behind = reason.split_once('\n').map_or("", |(_, behind)| behind);
    let reason = "    # In two lines.\n    reason: >\n      Walks wrong:\n      see #7.\n";
    let examined = format!("{before}{reason}{behind}");
    std::fs::write(list.path(), format!("# Mine.\n{examined}")).expect("it can be written");
    assert_eq!(bless("inverted"), format!("# Mine.\n{examined}"));
    insta::assert_snapshot!("blessed_again", bless("unwritten"));
    assert_eq!(ran("unwritten", &list, &["--quiet"]), "exit 0");
    insta::assert_snapshot!("blessed_when_mended", bless("mended"));
    assert_eq!(ran("mended", &list, &["--quiet"]), "exit 0");
    // A run with a crash and a part of a run make no entries.
    let before = std::fs::read(list.path()).expect("it is there");
    let crashed = text(&["run", "--quiet", "--backend", &backend("ends-at-three"), "--bless", list.path()]);
    assert!(crashed.contains("\n  help: fix these first: "), "{crashed}");
    let last = crashed.lines().rev().nth(1).unwrap_or_default();
    assert!(crashed.starts_with("exit 1\n"), "{crashed}");
    assert!(
        last.starts_with("nothing was blessed: ") && last.ends_with(" of the cases crashed"),
        "{crashed}"
    );
    let part = text(&["run", "--limit", "7", "--bless", list.path()]);
    assert!(
        part.starts_with("exit 2\n--- stderr\nerror: only a whole run of a suite can be blessed\n"),
        "{part}"
    );
    let endless = text(&["run", "--suite", "soak", "--bless", list.path()]);
    let said = "error: the suite `soak` never ends, and only a whole run of a suite can be blessed\n  help: bless a run of a";
    assert!(endless.starts_with("exit 2\n") && endless.contains(said), "{endless}");
    assert_eq!(std::fs::read(list.path()).expect("it is there"), before);
}

/// At its end, a run finds entries in its list that another run has blessed since it began: the backend adds
/// them.
#[test]
fn entries_that_another_run_blesses_meanwhile_stay() {
    const NOTHING: &str = "backend: wrong\nfailures: []\n";
    let list = Scratch::new("shared.yaml", "");
    let bless = |meanwhile: &str| {
        let theirs = Scratch::new("theirs.yaml", meanwhile);
        std::fs::write(list.path(), NOTHING).expect("it can be written");
        let (from, to) = (theirs.path(), list.path());
        let backend = format!("exec:sh -c 'cp {from} {to}; exec \"{}\" spoiled inverted'", faulty_program());
        let said = text(&["run", "--quiet", "--backend", &backend, "--bless", list.path()]);
        assert!(said.starts_with("exit 0\n"), "{said}");
        list.text()
    };
    let alone = bless(NOTHING);
    assert!(alone.contains("  - id: slice1-wrong-value\n"), "{alone}");
    let both = bless(&LIST.replace("[smoke]", "[ci]").replace("any axis InputWindowStrides < 0", "rank > 7"));
    assert!(both.contains("  - id: backwards\n") && both.contains("  - id: slice1-wrong-value\n"), "{both}");
    assert_eq!(bless(&alone), alone, "what both have blessed stands there once");
}

/// A program that changes the list has read it before. So a run must not bless anything before that program
/// is done.
#[cfg(target_os = "linux")]
#[test]
fn a_run_waits_for_the_lock_of_its_list() {
    let folder = std::env::temp_dir().join(format!("dmlcts-bless-{}", std::process::id()));
    std::fs::create_dir(&folder).expect("the temporary folder takes a folder");
    let list = folder.join("list.yaml");
    let lock = dmlcts_results::FileLock::acquire(&list);
    let mut command = crate::common::dmlcts();
    command.args(["run", "--quiet", "--backend", &backend("inverted"), "--bless"]).arg(&list);
    let mut run = command.stderr(std::process::Stdio::null()).spawn().expect("it starts");
    let mut ended = || run.try_wait().expect("it was started here").map(|status| status.code());
    dmlcts_tests::wait_until(|| dmlcts_tests::is_awaited(&folder) || ended().is_some());
    assert_eq!((ended(), list.exists()), (None, false));
    drop(lock);
    assert!(run.wait().expect("it ends").success());
    let text = std::fs::read_to_string(&list).expect("it was written");
    std::fs::remove_dir_all(&folder).expect("it is ours");
    assert!(text.contains("  - id: slice1-wrong-value\n"), "{text}");
}

/// The list after blessing a suite on a backend with a bug. The next run reports no news.
fn blessed(way: &str, suite: &str) -> String {
    let list = Scratch::new(&format!("bug-{way}.yaml"), "");
    std::fs::remove_file(list.path()).expect("it was there");
    let backend = backend(way);
    let arguments = ["run", "--quiet", "--retries", "1", "--suite", suite, "--backend", &backend];
    let said = text(&[&arguments[..], &["--bless", list.path()]].concat());
    assert!(said.starts_with("exit 0\n"), "{way}: {said}");
    let blessed = list.text();
    assert_eq!(ran(way, &list, &["--quiet", "--suite", suite]), "exit 0", "{way}: {blessed}");
    blessed
}

#[test]
#[ignore = "it takes long: .ci/nightly runs it"]
fn a_blessed_list_of_real_bugs_holds_in_the_next_run() {
    let mut all = String::new();
    for (way, most) in BUGS {
        let blessed = blessed(way, "smoke");
        let entries = blessed.matches("  - id: ").count();
        all.extend([way, "\n", blessed.split_once("failures:\n").map_or("", |(_, entries)| entries)]);
        assert!(entries <= most, "{way}: {blessed}");
    }
    insta::assert_snapshot!("blessed_bugs", all);
}

/// The bug of the guide, in a suite in which it fails tens of thousands of cases.
#[test]
#[ignore = "it takes long: .ci/nightly runs it"]
fn a_bug_of_a_line_is_blessed_in_a_line() {
    let blessed = blessed("forgets-to-reverse", "ci");
    insta::assert_snapshot!("blessed_ci", blessed);
}

/// A fault that needs a NaN in the data, and a fault that depends on descs alone: each becomes one entry, and
/// the entry holds.
#[test]
#[ignore = "it takes long: .ci/run runs it if findings or snapshots changed"]
fn what_only_some_data_show() {
    for way in ["quieting", "declines"] {
        let list = Scratch::new("some-data.yaml", "");
        std::fs::remove_file(list.path()).expect("it was there");
        let text =
            text(&["run", "--quiet", "--retries", "1", "--backend", &backend(way), "--bless", list.path()]);
        assert!(text.starts_with("exit 0\n"), "{text}");
        let blessed = list.text();
        insta::assert_snapshot!(format!("blessed_{way}"), blessed);
        assert_eq!(ran(way, &list, &["--quiet"]), "exit 0");
        // A case in which the fault cannot show says nothing if it passes; every other case does.
        let mended = ran("mended", &list, &["--quiet"]);
        assert!(mended.starts_with("exit 1\n") && mended.contains(" passed"), "{mended}");
        // Without the data, the entry is too wide.
        let words = [" and InputTensor.DataType == FLOAT16", " and not invalid"];
        let wide = words.iter().fold(blessed, |text, word| text.replace(word, ""));
        let wide = ran(way, &Scratch::new("wide-data.yaml", wide), &["--quiet"]);
        assert!(wide.starts_with("exit 1\n"), "{wide}");
    }
}

/// Entries with passing cases are removed or narrowed, whatever suites they name, and the run reports it. If
/// one entry becomes two, one keeps the person's text, and the other gets generated text.
#[test]
fn an_entry_whose_cases_pass_is_removed() {
    let bless = |way: &str, list: &Scratch| {
        let backend = backend(way);
        let said = text(&["run", "--quiet", "--retries", "1", "--backend", &backend, "--bless", list.path()]);
        (said.replace(list.path(), "known.yaml"), list.text())
    };
    let of_ci = LIST.replace("[smoke]", "[ci]");
    let list = Scratch::new("passes.yaml", of_ci.clone());
    let (said, text) = bless("mended", &list);
    assert!(
        said.starts_with("exit 0\n") && said.contains("\ntaken out: backwards, whose cases pass\n"),
        "{said}"
    );
    assert!(text.ends_with("failures: []\n"), "{text}");
    let list = Scratch::new("narrowed.yaml", of_ci.replace("any axis InputWindowStrides < 0", "rank > 0"));
    let (said, text) = bless("two-ways", &list);
    assert!(said.contains("\nchanged: backwards, of whose cases some "), "{said}");
    insta::assert_snapshot!("narrowed", text);
    assert_eq!(ran("two-ways", &list, &["--quiet"]), "exit 0");
}

/// One of two faults has no simple predicate. The other one is blessed, and the run names the failures that
/// are left.
#[test]
#[ignore = "it takes long: .ci/run runs it if findings or snapshots changed"]
fn failures_without_a_predicate_are_left_out() {
    let list = Scratch::new("scattered.yaml", "");
    std::fs::remove_file(list.path()).expect("it was there");
    let backend = backend("scattered");
    let arguments = ["run", "--quiet", "--retries", "1", "--backend", &backend];
    let said = text(&[&arguments[..], &["--bless", list.path()]].concat());
    assert!(said.starts_with("exit 1\n"), "{said}");
    let told: Vec<&str> = said.lines().filter(|line| line.starts_with("not in it: ")).collect();
    assert!(
        !told.is_empty() && said.contains("\n  help: fix the backend, or write an entry of your own"),
        "{said}"
    );
    assert!(
        told.iter().all(|line| line.contains(" failed (wrong-value), and no simple predicate tells them")),
        "{said}"
    );
    let blessed = list.text();
    assert!(blessed.contains("  - id: slice1-unwritten\n"), "{blessed}");
    // Only the failures that are left fail the next run.
    let again = text(&[&arguments[..], &["--known-failures", list.path()]].concat());
    assert!(again.starts_with("exit 1\n") && again.contains("wrong values"), "{again}");
    assert!(!again.contains("unwritten") && !again.contains("KNOWN FAILURE"), "{again}");
}

#[test]
fn a_list_of_another_backend_is_left_alone() {
    let list = Scratch::new("of-another.yaml", LIST.replace("backend: wrong", "backend: other"));
    let results = Scratch::new("of-another.jsonl", "");
    let before = std::fs::read(list.path()).expect("it is there");
    let arguments =
        ["run", "--quiet", "--backend", &backend("mended"), "--results", results.path(), "--bless"];
    let said = text(&[&arguments[..], &[list.path()]].concat()).replace(list.path(), "known.yaml");
    assert_eq!(
        said,
        "exit 2\n--- stderr\nerror: known.yaml lists what fails on `other`, and this run is on `wrong`\n  \
         help: name another file behind --bless, a new one or one of this backend\n"
    );
    assert_eq!(std::fs::read(list.path()).expect("it is there"), before);
    assert_eq!(std::fs::read(results.path()).expect("it is there"), b"", "no case ran");
    // An empty list also names a backend.
    let none = Scratch::new("of-none.yaml", "backend: other\nfailures: []\n");
    assert!(text(&[&arguments[..], &[none.path()]].concat()).starts_with("exit 2\n"));
}

/// Another suite named `smoke` says nothing about the real suite's list. An unknown name is reported.
#[test]
fn a_suite_is_more_than_its_name() {
    let suite =
        "suite: smoke\npurpose: A part of it.\nparts:\n  - id: documented\n    strategy: documented\n";
    let suite = Scratch::new("named-smoke.yaml", suite);
    let list = Scratch::new("smoke-list.yaml", LIST.replace("any axis InputWindowStrides < 0", "rank > 8"));
    let other = ran("mended", &list, &["--quiet", "--suite", suite.path()]);
    assert_eq!(other, "exit 0");
    assert!(
        ran("mended", &list, &["--quiet"]).starts_with("exit 1\n"),
        "the real one says that no case matches"
    );
    let bless = text(&["run", "--suite", suite.path(), "--bless", list.path()]);
    let said = "error: the suite of this run calls itself `smoke`, which is another one that is built in\n  help: give it";
    assert!(bless.starts_with("exit 2\n") && bless.contains(said), "{bless}");
    let untried = text(&["run", "--retries", "0", "--bless", list.path()]);
    assert!(untried.starts_with("exit 2\n"), "{untried}");
    assert!(
        untried.contains("with --retries 0 nothing is run again\n  help: leave out --retries 0"),
        "{untried}"
    );
    let typo = Scratch::new("typo.yaml", LIST.replace("[smoke]", "[smok, mine]"));
    let said = ran("inverted", &typo, &["--quiet"]);
    assert!(said.starts_with("exit 0\n"), "{said}");
    let warning = "warning: the known failure `backwards` of known.yaml: there is no suite `smok`; did you mean `smoke`? there \
                   are: smoke, ci, exhaustive, exhaustive-large, soak; if it is one of your own, only a run of its file says";
    assert!(said.contains(warning) && said.contains("there is no suite `mine`; there are: "), "{said}");
    let own = suite.text().replace("suite: smoke", "suite: mine");
    let own = Scratch::new("named-mine.yaml", own);
    let said = ran("inverted", &typo, &["--quiet", "--suite", own.path()]);
    assert!(said.contains("`smok`") && !said.contains("`mine`"), "{said}");
}

#[test]
fn a_summary_says_what_became_of_known_failures() {
    let line = |way: &str, list: String| {
        let said = ran(way, &Scratch::new("words.yaml", list), &[]);
        let line = said.lines().find(|line| line.starts_with("known ")).map(str::to_owned);
        line.unwrap_or_else(|| panic!("{said}"))
    };
    let nothing = LIST.replace("any axis InputWindowStrides < 0", "rank > 8");
    assert_eq!(line("right", nothing), "known     no case failed as known: backwards matches none (bug)");
    let passed = line("mended", LIST.to_owned());
    assert!(
        passed.starts_with("known     no case failed as known: backwards ")
            && passed.ends_with(" passed (bug)"),
        "{passed}"
    );
}

#[test]
fn mistakes_in_lists() {
    let wrong = LIST
        .replace("InputWindowStrides", "InputWindowStride")
        .replace("https://example.org/issues/7", "issue 7")
        + "  - id: backwards\n    suites: []\n    signature: crashed\n    kind: bug\n    reason: ''\n    version: {}\n";
    let wrong = Scratch::new("wrong.yaml", wrong);
    insta::assert_snapshot!("mistakes", ran("mended", &wrong, &[]));
    let unknown = Scratch::new(
        "unknown.yaml",
        LIST.replace("kind: bug", "kind: buggy\n    verdict: fail").replace("wrong-value", "wrong"),
    );
    insta::assert_snapshot!("unknown_keys", ran("mended", &unknown, &[]));
    let missing = text(&["run", "--known-failures", "no-such-list.yaml"]);
    assert!(missing.starts_with("exit 2\n") && missing.contains("no-such-list.yaml"), "{missing}");
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
