//! Tests of texts: what is written is read back, and everything has room.

use std::fs;

use dmlcts_runner::{Class, Difference};

use crate::{
    Chance, Counts, Example, Examples, Finding, Folder, Further, Metadata, Place, Snapshot, SnapshotError,
    Statement, Stored, compare, compare_examples, make::fit,
};

fn finding(id: &str, cases: u64) -> Finding {
    Finding {
        id: id.to_owned(),
        class: Class::Output(Difference::WrongValue),
        place: Place::Where { predicate: "operator == SLICE and rank == 2".to_owned(), invalid: false },
        counts: Counts { cases, of: cases + 1, digest: "3f2a91c0".to_owned() },
        example: Some("SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=1 fill=iota".to_owned()),
        shows: Some("Output[0] is Input[1], expected Input[0]".to_owned()),
    }
}

fn chance(operator: &str, is_severe: bool, cases: u64) -> Chance {
    Chance { operator: operator.to_owned(), is_severe, cases, of: 1_000 }
}

fn snapshot() -> Snapshot {
    let about = Metadata {
        description: "new; \"quoted\": a\nline \u{1b}[0m # of text".to_owned(),
        backend: "mine: 1".to_owned(),
        version: "007".to_owned(),
        driver: "31.0 → \\".to_owned(),
        suite: "ci".to_owned(),
        ..Metadata::default()
    };
    let statement = |subject: &str, text: &str| Statement { subject: subject.into(), text: text.into() };
    let invalid = Finding {
        class: Class::AcceptedInvalid,
        place: Place::Where { predicate: "rank == 9".to_owned(), invalid: true },
        counts: Counts { cases: 1, of: 1, digest: "00000000".to_owned() },
        shows: None,
        ..finding("all-accepted-invalid-0001", 1)
    };
    Snapshot {
        about,
        findings: vec![invalid, finding("slice-wrong-value-7c1e", 38_391)],
        further: Some(Further { findings: 2, cases: 1_234, digest: "12345678".to_owned() }),
        chance: vec![chance("SLICE", false, 3), chance("SLICE1", true, 1)],
        answers: vec![statement("slice.stride-zero", "reads `min(Offsets, 1)` (630); is refused (1)")],
        refusals: vec![statement("all clauses", "at create, E_INVALIDARG")],
        lacks: vec!["FLOAT64".to_owned(), "rank 8".to_owned()],
    }
}

#[test]
fn a_snapshot_is_read_back_as_it_was_written() {
    let all = snapshot();
    let text = all.to_text();
    assert_eq!(Snapshot::parse("x.snap", &text).expect("it is one"), all);
    let windows = text.replace('\n', "\r\n");
    assert_eq!(Snapshot::parse("x.snap", &windows).expect("a checkout on Windows"), all);
    let without_end = text.trim_end();
    assert_eq!(Snapshot::parse("x.snap", without_end).expect("an editor cut the last line end"), all);
    insta::assert_snapshot!(all.body());
}

#[test]
fn a_header_that_another_program_wrote_again_is_read() {
    let all =
        Snapshot { about: Metadata { backend: "mine".to_owned(), ..Metadata::default() }, ..snapshot() };
    // With quotes around each value, and the keys in another order.
    let text = all.to_text().replace("backend: mine", "backend: \"mine\"");
    let text = text.replacen("source: dmlcts\ndescription: \"\"\n", "description: \"\"\nsource: dmlcts\n", 1);
    assert!(text.contains("\nsource: dmlcts\ninfo:\n  backend: \"mine\"\n"), "{text}");
    assert_eq!(Snapshot::parse("x.snap", &text).expect("it is one"), all);
}

/// `.ci/insta` compares the files with those that `cargo insta` writes.
#[test]
fn a_header_has_quotes_where_insta_writes_them() {
    for (value, is_quoted) in [
        ("0.1.0", false),
        ("b8e35133e9fe", false),
        ("llvmpipe Mesa 22.3.6 (vulkan)", false),
        ("32.0.15 → x", false),
        ("a \"b\"", true),
        ("2.4", true),
        ("123456789012", true),
        ("1234567e9012", true),
        ("wgpu:llvmpipe", true),
        ("", true),
        (" a", true),
        ("No", true),
        ("-", true),
        ("0x12", true),
        (".inf", true),
        ("a\u{1b}[0m", true),
    ] {
        let about = Metadata { driver: value.to_owned(), ..Metadata::default() };
        let all = Snapshot { about, ..snapshot() };
        let text = all.to_text();
        assert_eq!(text.contains("\n  driver: \""), is_quoted, "{text}");
        assert_eq!(Snapshot::parse("x.snap", &text).expect("it is one"), all);
    }
}

#[test]
fn any_number_of_findings_has_room() {
    let long = |number: usize| Finding {
        example: Some("x".repeat(1_500)),
        ..finding(&format!("slice-wrong-value-{number:04}"), 100)
    };
    let (findings, further) = fit((0..1_000).map(long).collect());
    let further = further.expect("not all have room");
    assert_eq!(findings.len() as u64 + further.findings, 1_000);
    assert_eq!(further.cases, further.findings * 100);
    let all = Snapshot { findings, further: Some(further), ..snapshot() };
    let text = all.to_text();
    assert!(text.len() < 64 << 10 && text.len() > 32 << 10, "{}", text.len());
    assert_eq!(Snapshot::parse("x.snap", &text).expect("it is one"), all);
}

/// The line that the error of a spoiled file names. The file must be refused.
#[track_caller]
fn named_line(spoiled: &str) -> usize {
    let error = Snapshot::parse("x.snap", spoiled).expect_err(spoiled).to_string();
    let line = error.strip_prefix("x.snap:").and_then(|rest| rest.split(':').next()?.parse().ok());
    line.unwrap_or_else(|| panic!("no line is named: {error}"))
}

#[test]
fn every_edit_is_found_in_its_line() {
    let text = snapshot().to_text();
    let body = text.len() - snapshot().body().len();
    let (mut edits, mut elsewhere) = (0, Vec::new());
    for place in 0..text.trim_end().len() {
        let own = text.as_bytes()[..place].split(|byte| *byte == b'\n').count();
        for bit in [1, 2, 16] {
            let mut edited = text.clone().into_bytes();
            edited[place] ^= bit;
            let Ok(edited) = String::from_utf8(edited) else { continue };
            let line = named_line(&edited);
            if place >= body {
                edits += 1;
                elsewhere.extend((line != own).then_some((own, line)));
            } else {
                // A missing quote or a missing end of the header may be noticed below.
                assert!((1..=text.lines().count()).contains(&line), "{line}: {edited}");
            }
        }
    }
    // Two digits of an edited line are those of the line itself once in 256 times.
    assert!(elsewhere.len() * 64 < edits, "{} of {edits}: {elsewhere:?}", elsewhere.len());
}

#[test]
fn every_edited_value_of_the_header_is_found_in_its_line() {
    let text = snapshot().to_text();
    let lines: Vec<&str> = text.lines().collect();
    let end = lines.iter().skip(1).position(|line| *line == "---").expect("the header has an end") + 1;
    for place in (1..end).filter(|place| lines[*place] != "info:") {
        let (key, _) = lines[place].split_once(':').expect("a key");
        let edited = format!("{key}: edited");
        let all: Vec<&str> = [&lines[..place], &[&edited], &lines[place + 1..]].concat();
        assert_eq!(named_line(&all.join("\n")), place + 1, "{edited}");
    }
}

#[test]
fn every_cut_is_found() {
    let text = snapshot().to_text();
    for place in 0..text.trim_end().len() {
        let Some(cut) = text.get(..place) else { continue };
        let lines = cut.lines().count();
        let line = named_line(cut);
        assert!((1..=lines + 1).contains(&line), "{line} of {lines}: {cut}");
    }
}

#[test]
fn a_missing_a_doubled_and_a_moved_line_are_found() {
    let text = snapshot().to_text();
    let lines: Vec<&str> = text.lines().collect();
    for place in 0..lines.len() {
        let (before, behind) = (&lines[..place], &lines[place + 1..]);
        let missing = [before, behind].concat();
        let doubled = [before, &[lines[place]], &lines[place..]].concat();
        let moved = [before, behind, &[lines[place]]].concat();
        for spoiled in [missing, doubled, moved] {
            // The last line stays the last one.
            if spoiled != lines {
                named_line(&spoiled.join("\n"));
            }
        }
    }
}

#[test]
fn a_file_that_is_not_utf8_names_the_line() {
    let (_scratch, folder, stored) = folder();
    propose(&folder, &stored).expect("a plain folder");
    let path = folder.accepted(&stored.name);
    fs::write(&path, b"---\nsource: dmlcts\ndescription: \xff\n").expect("it can be written");
    let error = folder.accept(&stored).expect_err("it is not text").to_string();
    assert!(error.ends_with("smoke.snap:3: the line is not UTF-8"), "{error}");
}

#[test]
fn changes_are_listed_the_worst_first_and_few_in_full() {
    let (old, mut new) = (snapshot(), snapshot());
    assert!(compare(Some(&old), &new).is_empty());
    new.about.driver = "32.0".to_owned();
    assert!(compare(Some(&old), &new).is_empty(), "a driver that does the same");
    new.findings.remove(0);
    let worse = &mut new.findings.last_mut().expect("it has findings").counts;
    worse.cases += 1;
    new.findings.extend((0..12).map(|number| finding(&format!("slice-wrong-value-{number:04}"), 1)));
    new.answers[0].text = "reads `min(Offsets, 1)` (631); is refused (1)".to_owned();
    new.lacks.pop();
    insta::assert_snapshot!(compare(Some(&old), &new).to_text());
}

/// A folder of snapshots, with a stored one.
fn folder() -> (tempfile::TempDir, Folder, Stored) {
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let folder = Folder::new(scratch.path().join("snapshots"));
    let name = "mine/smoke".to_owned();
    (scratch, folder, Stored { name, is_accepted: true, is_pending: true })
}

/// Proposes a snapshot.
fn propose(folder: &Folder, stored: &Stored) -> Result<(), SnapshotError> {
    folder.propose(&stored.name, |_, _| Ok((Some(snapshot().to_text()), ())))
}

#[cfg(unix)]
#[test]
fn no_link_in_a_folder_is_followed() {
    use std::os::unix::fs::symlink;
    type Act = fn(&Folder, &Stored) -> Result<(), SnapshotError>;
    let acts: [(&str, Act); 5] = [
        ("list", |folder, _| folder.list().map(drop)),
        ("propose", propose),
        ("accept", |folder, stored| folder.accept(stored).map(drop)),
        ("reject", |folder, stored| folder.reject(stored).map(drop)),
        ("read", |folder, stored| folder.text(&folder.accepted(&stored.name)).map(drop)),
    ];
    for linked in ["mine", "mine/smoke.snap", "mine/smoke.snap.new"] {
        for (what, act) in acts {
            let (scratch, folder, stored) = folder();
            // The user's own folder may be a link.
            fs::create_dir(scratch.path().join("own")).expect("it can be made");
            symlink("own", scratch.path().join("snapshots")).expect("links can be made");
            propose(&folder, &stored).and_then(|()| folder.accept(&stored)).expect("a plain folder");
            propose(&folder, &stored).expect("a plain folder");
            let (link, precious) = (scratch.path().join("own").join(linked), scratch.path().join("precious"));
            fs::rename(&link, &precious).expect("it is there");
            symlink(&precious, &link).expect("links can be made");
            let before = texts(&precious);
            let error = act(&folder, &stored).err().map(|error| (error.to_string(), error.help()));
            assert_eq!(texts(&precious), before, "{what} {linked}");
            assert!(link.is_symlink() || what == "reject", "{what} {linked}");
            if let Some((error, help)) = error {
                assert!(error.contains(" is a symbolic link; "), "{what} {linked}: {error}");
                assert!(help.contains("remove the link"), "{help}");
            } else {
                // It has to do with the other file, or removes the link itself.
                let other = what == "reject" || what == "read" && linked.ends_with("new");
                assert!(other && linked != "mine", "{what} {linked}");
            }
        }
    }
}

/// The text of a file, or the files of a folder with their texts.
#[cfg(unix)]
fn texts(path: &std::path::Path) -> Vec<(std::path::PathBuf, String)> {
    let files = match fs::read_dir(path) {
        Ok(files) => files.map(|file| file.expect("it lists").path()).collect(),
        Err(_) => vec![path.to_owned()],
    };
    files.into_iter().map(|path| (path.clone(), fs::read_to_string(&path).unwrap_or_default())).collect()
}

#[test]
fn an_accepted_file_with_mistakes_is_not_replaced() {
    let (_scratch, folder, stored) = folder();
    propose(&folder, &stored).expect("a plain folder");
    let path = folder.accepted(&stored.name);
    fs::write(&path, "precious").expect("it can be written");
    let error = folder.accept(&stored).expect_err("it is not a snapshot").to_string();
    assert!(error.contains("smoke.snap:1: expected `---`"), "{error}");
    assert_eq!(fs::read_to_string(&path).expect("it is there"), "precious");
    assert!(folder.pending(&stored.name).exists());
}

#[test]
fn what_a_killed_command_left_is_named_and_removed() {
    let (_scratch, folder, stored) = folder();
    for act in [propose, |folder: &Folder, stored: &Stored| folder.accept(stored).map(drop)] {
        propose(&folder, &stored).expect("a plain folder");
        let left = folder.accepted(&stored.name).with_file_name(".dmlcts-a1B2.new");
        fs::write(&left, "half").expect("it can be written");
        assert_eq!(folder.leftovers().expect("it lists"), std::slice::from_ref(&left));
        assert_eq!(folder.list().expect("it lists").len(), 1);
        act(&folder, &stored).expect("it can be written");
        assert!(!left.exists());
        assert!(folder.leftovers().expect("it lists").is_empty());
    }
}

#[test]
fn text_of_a_stranger_controls_no_terminal_and_no_page() {
    const FORGED: &str = "\u{1b}[31m \u{9b}0m \u{202e} ##[error]x ```";
    let mut new = snapshot();
    for finding in &mut new.findings {
        finding.place = Place::Of(FORGED.to_owned());
        finding.shows = Some(FORGED.to_owned());
    }
    new.answers[0].text = FORGED.to_owned();
    new.refusals[0].subject = FORGED.to_owned();
    new.lacks = vec![FORGED.to_owned()];
    new.about.driver = FORGED.to_owned();
    let examples = |text: &str| Examples {
        about: Metadata::default(),
        all: vec![Example { id: text.to_owned(), is_right: false, lines: vec![text.to_owned(); 2] }],
    };
    for changes in [
        compare(Some(&snapshot()), &new),
        compare(Some(&new), &snapshot()),
        compare(None, &new),
        compare_examples(Some(&examples("")), &examples(FORGED)),
    ] {
        for text in [changes.to_text(), changes.to_markdown("mine/smoke")] {
            for part in ["\u{1b}", "\u{9b}", "\u{202e}", "##[error]"] {
                assert!(!text.contains(part), "{part:?} {text}");
            }
            assert!(text.contains(r"\u{1b}[31m \u{9b}0m \u{202e} #\u{23}[error]x"), "{text}");
        }
        assert_eq!(changes.to_markdown("mine/smoke").matches("```").count(), 2);
    }
}

#[test]
fn the_time_of_a_comparison_is_linear() {
    let with = |start: &str| {
        let statement = |number| Statement { subject: format!("{start}{number}"), text: "y (1)".to_owned() };
        let lack = |number| format!("{start}{number}");
        let of = |number| {
            let id = format!("{start}{number}");
            Finding { example: Some(format!("SLICE FLOAT32 in={number} Offsets={start}")), ..finding(&id, 1) }
        };
        Snapshot {
            findings: (0..8_000).map(of).collect(),
            answers: (0..100_000).map(statement).collect(),
            lacks: (0..100_000).map(lack).collect(),
            ..snapshot()
        }
    };
    let (old, new) = (with("x"), with("y"));
    let started = std::time::Instant::now();
    assert_eq!(compare(Some(&old), &new).list.len(), 2 * 8_000 + 4 * 100_000);
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
}

#[test]
fn numbers_of_cases_are_compared_in_a_phrase() {
    let details = |was: &str, is: &str| {
        let with = |text: &str| {
            let answers = vec![Statement { subject: "slice.span".to_owned(), text: text.to_owned() }];
            Snapshot { answers, ..snapshot() }
        };
        let changes = compare(Some(&with(was)), &with(is));
        let [change] = changes.list.as_slice() else { panic!("one change: {changes:?}") };
        format!("{}; {}", change.what, change.details.join("; "))
    };
    assert_eq!(
        details("is refused (2)", "is refused (1)"),
        "other numbers of cases for 1 answer; such as slice.span: refused in 1 case, before in 2"
    );
    assert_eq!(
        details(
            "reads `min(Offsets, 1)` (1); is refused (3)",
            "reads `min(Offsets, 1)` (1); is refused (1,234)"
        ),
        "other numbers of cases for 1 answer; \
         such as slice.span: reads `min(Offsets, 1)` in 1 case; refused in 1,234 cases, before in 3"
    );
    assert_eq!(
        details("is refused, perhaps for another question (2)", "is accepted (1)"),
        "slice.span: accepted in 1 case; before: refused, perhaps for another question, in 2 cases"
    );
    assert_eq!(
        details("at create, E_INVALIDARG", "at create, E_INVALIDARG (1); at compile, E_FAIL (2)"),
        "slice.span: at create, E_INVALIDARG, in 1 case; at compile, E_FAIL, in 2 cases; \
         before: at create, E_INVALIDARG"
    );
}

/// The changes between two snapshots as `TRANSITION: WHAT; DETAIL; …`.
fn changes(old: &Snapshot, new: &Snapshot) -> Vec<String> {
    let list = compare(Some(old), new).list;
    list.iter()
        .map(|change| format!("{}: {}; {}", change.transition.name(), change.what, change.details.join("; ")))
        .collect()
}

#[test]
fn the_most_severe_findings_come_first() {
    let all = [
        Class::RefusedValid,
        Class::Output(Difference::WrongValue),
        Class::AcceptedInvalid,
        Class::WroteOutside,
        Class::Crashed,
    ];
    let of = |class: Class| Finding { class, ..finding(&format!("a-{}", class.id()), 1) };
    let old = Snapshot { findings: Vec::new(), further: None, chance: Vec::new(), ..snapshot() };
    let new = Snapshot { findings: all.map(of).to_vec(), ..old.clone() };
    for list in [compare(Some(&old), &new).list, compare(None, &new).list] {
        let order: Vec<&str> = list.iter().filter_map(|change| change.what.split(':').next()).collect();
        assert_eq!(
            order,
            ["a-crashed", "a-wrote-outside", "a-accepted-invalid", "a-wrong-value", "a-refused-valid"]
        );
    }
}

#[test]
fn a_finding_with_another_predicate_is_moved() {
    let with = |findings: Vec<Finding>| {
        let about = Metadata { level: "6.4".to_owned(), ..Metadata::default() };
        Snapshot { about, findings, ..snapshot() }
    };
    let was = finding("slice-wrong-value-0001", 4);
    let place = |predicate: &str| Place::Where { predicate: predicate.to_owned(), invalid: false };
    let same_case = Finding { place: place("rank == 1"), ..finding("slice-wrong-value-0002", 5) };
    let moved = ["moved: slice-wrong-value-0002: wrong-value where rank == 1; \
         5 of 6 cases; digest 3f2a91c0; before: 4 of 5 cases; digest 3f2a91c0; \
         e.g. SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=1 fill=iota: Output[0] is Input[1], expected \
         Input[0]; before: slice-wrong-value-0001: wrong-value where operator == SLICE and rank == 2"];
    assert_eq!(changes(&with(vec![was.clone()]), &with(vec![same_case.clone()])), moved);
    // The smallest case is another one, and all cases for which the predicate holds fail.
    let other_case = Finding {
        counts: Counts { cases: 6, of: 6, digest: "3f2a91c0".to_owned() },
        example: Some("SLICE FLOAT32 in=1 out=1 Offsets=0 Sizes=1 Strides=1 fill=iota".to_owned()),
        ..same_case.clone()
    };
    let named = |findings: Finding| -> Vec<String> {
        let all = changes(&with(vec![was.clone()]), &with(vec![findings]));
        all.iter().filter_map(|change| Some(change.split(':').next()?.to_owned())).collect()
    };
    assert_eq!(named(other_case.clone()), ["moved"]);
    assert_eq!(named(Finding { place: place("rank == 2"), ..other_case.clone() }), ["broken", "fixed"]);
    assert_eq!(named(Finding { class: Class::Crashed, ..same_case }), ["broken", "fixed"]);
    let some_fail = Counts { cases: 5, of: 6, digest: "3f2a91c0".to_owned() };
    assert_eq!(named(Finding { counts: some_fail, ..other_case }), ["broken", "fixed"]);
}

#[test]
fn less_coverage_is_not_better() {
    let with = |lacks: &[&str], findings: Vec<Finding>| {
        let lacks = lacks.iter().map(|lack| (*lack).to_owned()).collect();
        Snapshot { lacks, findings, further: None, ..snapshot() }
    };
    let lacks = |old: &[&str], new: &[&str]| changes(&with(old, vec![]), &with(new, vec![]));
    assert_eq!(
        lacks(&["SLICE where rank > 4 (deep)"], &["rank 5"]),
        [
            "worse: lacks rank 5; ",
            "other answers: no longer lacks SLICE where rank > 4 (deep); \
             another lack is new, and may hold for the same cases",
        ]
    );
    assert_eq!(
        lacks(&["SLICE where rank > 4 (deep)"], &[]),
        ["better: no longer lacks SLICE where rank > 4 (deep); "]
    );
    assert_eq!(
        lacks(&["tensors above 1,024 bytes"], &["tensors above 512 bytes"]),
        ["worse: lacks tensors above 512 bytes; before: tensors above 1,024 bytes"]
    );
    assert_eq!(
        lacks(&["feature levels above 5.0"], &["feature levels above 6.1"]),
        ["better: lacks feature levels above 6.1; before: feature levels above 5.0"]
    );
    for (lack, transition) in [("FLOAT32", "other answers"), ("rank 1", "other answers"), ("INT8", "fixed")] {
        let changes = changes(&with(&[], vec![finding("a", 1)]), &with(&[lack], vec![]));
        let [lacks, finding] = changes.as_slice() else { panic!("{changes:?}") };
        assert!(lacks.starts_with("worse: lacks "), "{lacks}");
        assert!(finding.starts_with(transition), "{finding}");
    }
}
