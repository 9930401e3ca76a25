//! Continuing at the end of a file, and the lock of its writer. No test of this program may start a process,
//! which would briefly hold every lock of its parent.

use std::{fs, fs::File};

use dmlcts_results::{Error, Unfinished, Writer};
use dmlcts_runner::Event;
use dmlcts_spec::Library;

use crate::common::*;

/// A file can be cut at any byte: its run continues to the result of the whole run, and has every case once.
#[test]
fn a_file_that_was_cut_anywhere_is_gone_on_with() {
    let whole = Scratch::nothing("whole.jsonl");
    let lines = lines(4);
    record(whole.path(), &lines, None);
    let bytes = fs::read(whole.path()).expect("it is there");
    let header = bytes.iter().position(|byte| *byte == b'\n').expect("a header") + 1;
    let (cases, _) = read(whole.path());
    let cut = Scratch::nothing("cut.jsonl");
    let library = Library::embedded();
    let mut resumed_from = std::collections::BTreeSet::new();
    for length in (0..bytes.len()).step_by(97).chain([header - 1, header, bytes.len()]) {
        fs::write(cut.path(), &bytes[..length]).expect("it can be written");
        let unfinished = match Unfinished::open(cut.path()) {
            Ok(unfinished) => unfinished,
            Err(error) => {
                assert!(length < header && matches!(error, Error::NoHeader { .. }), "{length}: {error}");
                continue;
            }
        };
        let totals = unfinished.totals(library, &["given".to_owned()]).expect("it is of this spec");
        resumed_from.insert(totals.next);
        let run = run_of(&lines, None, Some(totals));
        let writer = unfinished.resume(library, vec!["given".to_owned()]).expect("it can be written");
        let summary = record_with(writer, (&run, None), &selection(&lines, None), false).summary;
        assert_eq!(summary.tally().total(), lines.len() as u64);
        let (again, last) = read(cut.path());
        assert_eq!(again, cases, "cut at {length}");
        assert_eq!(last.expect("it ended").totals.ran, lines.len() as u64);
    }
    assert!(resumed_from.contains(&0) && resumed_from.contains(&(lines.len() as u64)), "{resumed_from:?}");
}

/// A run that continues and is interrupted before the earlier point leaves the earlier cases.
#[test]
fn lines_after_the_checkpoint_stay_until_as_many_are_new() {
    let file = Scratch::nothing("behind.jsonl");
    let lines = lines(60);
    record(file.path(), &lines, None);
    let text = file.text();
    let is_case = |line: &&str| line.starts_with("{\"header\"") || line.starts_with("{\"case\"");
    let cases: String = text.split_inclusive('\n').filter(is_case).collect();
    // A torn line does not count.
    for torn in ["", "{\"case\":{\"ind"] {
        fs::write(file.path(), format!("{cases}{torn}")).expect("it can be written");
        let unfinished = Unfinished::open(file.path()).expect("it is a results file");
        let library = Library::embedded();
        let totals = unfinished.totals(library, &["given".to_owned()]).expect("it is of this spec");
        assert_eq!(totals.next, 0, "there is no checkpoint");
        let mut writer = unfinished.resume(library, vec!["given".to_owned()]).expect("it can be read");
        let (mut chunks, mut anew) = (0, 0);
        dmlcts_runner::run(&run_of(&lines, None, Some(totals)), &mut |event| {
            if let Event::Cases { cases: some, totals, groups } = event {
                if anew + some.len() >= lines.len() {
                    return;
                }
                writer.cases(some, totals, groups).expect("nothing is written yet");
                (chunks, anew) = (chunks + 1, anew + some.len());
                assert_eq!(file.text(), format!("{cases}{torn}"));
            }
        })
        .expect("the backend starts");
        assert!(chunks > 1 && anew > 0, "{anew} cases in {chunks} chunks");
    }
}

/// A kill tears only the last line. Lines after another damaged line are not discarded.
#[test]
fn a_line_that_is_damaged_is_the_end_only_where_it_is_the_last() {
    let file = Scratch::nothing("damaged.jsonl");
    record(file.path(), &lines(2), None);
    let whole = file.text();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let zeros = format!("{}\n", "\0".repeat(40));
    for (number, damage, torn) in [
        (3, "{\"case\":{\"ind\n", ""),
        (5, &zeros, ""),
        (lines.len() - 1, "{}\n", ""),
        (lines.len(), &zeros, "{"),
    ] {
        let text: String =
            (1..).zip(&lines).map(|(at, line)| if at == number { damage } else { line }).collect();
        let text = text + torn;
        fs::write(file.path(), &text).expect("it can be written");
        let error = Unfinished::open(file.path()).expect_err("a line is damaged");
        let said = format!("line {number} of {} is damaged, and lines follow it: ", file.path());
        assert!(error.to_string().starts_with(&said), "{error}");
        assert!(
            error.help().contains(&format!("copy the file up to line {} and ", number - 1)),
            "{}",
            error.help()
        );
        assert_eq!(file.text(), text, "nothing is changed");
    }
    for last in ["{\"case\":{\"ind", &zeros, "\0\0\0"] {
        fs::write(file.path(), lines[..5].concat() + last).expect("it can be written");
        let unfinished = Unfinished::open(file.path()).unwrap_or_else(|error| panic!("{last:?}: {error}"));
        drop(unfinished);
    }
}

#[test]
fn a_file_that_another_run_writes_is_left_alone() {
    let file = Scratch::nothing("busy.jsonl");
    record(file.path(), &lines(1), None);
    let before = fs::read(file.path()).expect("it is there");
    let other = File::open(file.path()).expect("it is there");
    other.lock().expect("it can be locked");
    let create = Writer::create(file.path(), true, Library::embedded(), Vec::new());
    assert!(matches!(create, Err(Error::Busy { .. })), "{create:?}");
    assert!(matches!(Unfinished::open(file.path()), Err(Error::Busy { .. })));
    drop(other);
    assert_eq!(fs::read(file.path()).expect("it is there"), before);
    assert!(Unfinished::open(file.path()).is_ok());
}
