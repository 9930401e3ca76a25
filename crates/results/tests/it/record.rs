//! Recording a run, reading it, and continuing at the end of a file.

use std::{fs, sync::Arc};

use dmlcts_diagnose::Finding;
use dmlcts_model::FeatureLevel;
use dmlcts_results::{Error, Item, Line, Reader, Writer};
use dmlcts_runner::{Class, Run, Verdict};
use dmlcts_spec::Library;

use crate::common::*;

#[test]
fn a_record_says_of_each_case_what_there_is_to_say() {
    let file = Scratch::nothing("each.jsonl");
    record(file.path(), &lines(1), None);
    let text = file.text();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    // The number of checkpoints before the last one depends on the speed of the run.
    let is_kept = |at: usize| at + 2 >= lines.len() || !lines[at].starts_with("{\"checkpoint\"");
    let kept: String = (0..lines.len()).filter(|at| is_kept(*at)).map(|at| lines[at]).collect();
    // The duration differs from run to run.
    let (start, rest) = kept.split_once(r#""milliseconds":"#).expect("a checkpoint has the time");
    let text = format!("{start}{}", rest.trim_start_matches(|letter: char| letter.is_ascii_digit()));
    let (first, rest) = text.split_once(r#""milliseconds":"#).expect("so has a summary");
    let text = format!("{first}{}", rest.trim_start_matches(|letter: char| letter.is_ascii_digit()));
    insta::assert_snapshot!(text);
}

/// Lines that are built by hand equal those of serde.
#[test]
fn every_line_is_as_serde_writes_it() {
    let file = Scratch::nothing("serde.jsonl");
    record(file.path(), &lines(3), None);
    for line in file.text().lines() {
        let parsed: Line<'_> = serde_json::from_str(line).expect("it is a line");
        assert_eq!(serde_json::to_string(&parsed).expect("it is JSON"), line);
    }
}

#[test]
fn every_case_stands_there_once_and_the_summary_counts_them() {
    let file = Scratch::nothing("count.jsonl");
    let lines = lines(50);
    let summary = record(file.path(), &lines, None).summary;
    let (cases, last) = read(file.path());
    let totals = last.expect("it ended").totals;
    assert!(cases.iter().map(|case| case.index).eq(0..lines.len() as u64));
    assert!(cases.iter().zip(&lines).all(|(case, line)| case.line == *line));
    for verdict in Verdict::ALL {
        let told = cases.iter().filter(|case| case.verdict == verdict).count() as u64;
        let counted: u64 = totals.verdicts.iter().filter_map(|form| form.counts.get(&verdict)).sum();
        assert_eq!((told, counted), (summary.tally().of(verdict), summary.tally().of(verdict)), "{verdict}");
    }
    let library = Library::embedded();
    let again = totals.totals(library, &["given".to_owned()]).expect("it speaks of this spec");
    assert_eq!(format!("{:?}", again.coverage), format!("{:?}", summary.totals.coverage));
    assert_eq!(format!("{:?}", again.answers), format!("{:?}", summary.totals.answers));
    assert_eq!(again.progress, summary.totals.progress);
    let keys = |totals: &dmlcts_runner::Totals| -> Vec<_> {
        totals.found.groups.iter().map(|(found, cases)| (found.key(), found.index, *cases)).collect()
    };
    assert_eq!(keys(&again), keys(&summary.totals));
}

#[test]
fn a_file_that_has_something_in_it_is_written_over_only_on_request() {
    let file = Scratch::nothing("exists.jsonl");
    let create = |overwrite| Writer::create(file.path(), overwrite, Library::embedded(), Vec::new());
    fs::write(file.path(), "").expect("it can be written");
    drop(create(false).expect("there is nothing in it"));
    fs::write(file.path(), "mine").expect("it can be written");
    assert!(matches!(create(false), Err(Error::Exists { .. })));
    // It is kept until there is a header to write.
    drop(create(true).expect("it was asked for"));
    assert_eq!(file.text(), "mine");
}

#[test]
fn a_file_that_was_made_for_nothing_is_removed_and_no_other() {
    let file = Scratch::nothing("made-for-nothing.jsonl");
    let path = std::path::Path::new(file.path());
    let create = || Writer::create(file.path(), false, Library::embedded(), Vec::new());
    let writer = create().expect("it can be made");
    assert!(path.exists());
    drop(writer);
    assert!(!path.exists(), "nothing was written");
    fs::write(path, "").expect("it can be written");
    drop(create().expect("it is empty"));
    assert!(path.exists(), "it was there before");
    fs::remove_file(path).expect("it is there");
    let writer = create().expect("it can be made");
    fs::write(path, "mine").expect("it can be written");
    drop(writer);
    assert_eq!(file.text(), "mine");
    fs::remove_file(path).expect("it is there");
    record(file.path(), &lines(1), None);
    assert!(file.text().starts_with("{\"header\""));
}

#[cfg(unix)]
#[test]
fn a_file_that_took_the_name_of_the_one_that_was_made_stays() {
    let file = Scratch::nothing("made-and-replaced.jsonl");
    let writer = Writer::create(file.path(), false, Library::embedded(), Vec::new()).expect("it can be made");
    fs::remove_file(file.path()).expect("it is there");
    fs::write(file.path(), "").expect("it can be written");
    drop(writer);
    assert!(std::path::Path::new(file.path()).exists());
}

#[test]
fn other_files_are_refused_with_a_reason() {
    let file = Scratch::nothing("none.jsonl");
    let said = |text: &str| {
        fs::write(file.path(), text).expect("it can be written");
        let mut reader = match Reader::open(file.path()) {
            Ok(reader) => reader,
            Err(error) => return error.to_string().replace(file.path(), "FILE"),
        };
        loop {
            match reader.next() {
                Ok(Some(_)) => {}
                Ok(None) => return format!("{} torn", if reader.is_torn() { "is" } else { "not" }),
                Err(error) => return error.to_string().replace(file.path(), "FILE"),
            }
        }
    };
    record(file.path(), &lines(1), None);
    let whole = file.text();
    let header = whole.lines().next().expect("a header");
    let headless =
        "FILE has no header: it is not a results file, or its run was cut off before its first case";
    assert_eq!(said(""), headless);
    assert_eq!(said("{}\n"), headless);
    assert_eq!(said("\u{0}\u{0}\n"), headless);
    assert_eq!(said(header), headless, "its line is torn");
    assert_eq!(
        said("{\"header\":{\"format\":2}}\n"),
        "FILE has version 2 of the format; this program reads version 1"
    );
    assert_eq!(said(&format!("{header}\n")), "not torn");
    assert_eq!(said(&format!("{header}\n{{\"case\":")), "is torn");
    assert_eq!(
        said(&format!("{header}\n{header}\n")),
        "line 2 of FILE is not a line of a results file: a second header; `dmlcts merge` joins files"
    );
    let damaged = said(&format!("{header}\n{{\"case\":{{\"index\":1}}}}\n"));
    assert_eq!(
        damaged,
        "line 2 of FILE is not a line of a results file: missing field `line` at line 1 column 19"
    );
}

proptest::proptest! {
    /// Reading any file ends, with items or with an error.
    #[test]
    fn reading_survives_any_damage(at in 0usize..6000, bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..20)) {
        static WHOLE: std::sync::LazyLock<Vec<u8>> = std::sync::LazyLock::new(|| {
            let file = Scratch::nothing("damage.jsonl");
            record(file.path(), &lines(1), None);
            fs::read(file.path()).expect("it is there")
        });
        let mut text = WHOLE.clone();
        let at = at % text.len();
        let end = (at + bytes.len()).min(text.len());
        text[at..end].copy_from_slice(&bytes[..end - at]);
        if let Ok(mut reader) = Reader::new(Box::new(std::io::Cursor::new(text)), "damaged") {
            while let Ok(Some(item)) = reader.next() {
                if let Item::Summary(summary) = item {
                    let _ = summary.totals.totals(Library::embedded(), &["given".to_owned()]);
                }
            }
        }
    }
}

/// The findings of a run, and those that its file holds.
fn findings_of(lines: &[String], mutant: &str, name: &str) -> (Vec<Finding>, Vec<Finding>) {
    let fault = dmlcts_mutants::find(mutant).expect("there is such a mutant");
    let mut run = run_of(lines, None, None);
    run.backend = Arc::new(move |_| Ok(Box::new(dmlcts_mutants::backend(fault))));
    findings_of_run(run, None, lines, name)
}

fn findings_of_run(
    mut run: Run,
    cases: Option<usize>,
    lines: &[String],
    name: &str,
) -> (Vec<Finding>, Vec<Finding>) {
    run.configuration.jobs = 1;
    let file = Scratch::nothing(name);
    let writer = Writer::create(file.path(), true, run.library, run.source.strategies());
    let recorded =
        record_with(writer.expect("the file can be made"), (&run, cases), &selection(lines, None), true);
    let (_, stored) = read(file.path());
    let stored = stored.expect("it has a summary");
    let stored = stored.findings(run.library, &run.source.strategies(), FeatureLevel::NEWEST);
    (recorded.findings, stored.expect("its names are known"))
}

/// Rank 1 is wrong and rank 3 crashes: one rule separates both from rank 2.
#[test]
fn a_file_counts_the_failures_of_other_classes() {
    let of_rank = |rank: usize, last: u32| {
        let ones = "1,".repeat(rank - 1);
        let zeros = "0,".repeat(rank - 1);
        format!(
            "SLICE FLOAT32 in={ones}{last} out={ones}2 Offsets={zeros}1 Sizes={ones}2 Strides={ones}1 fill=iota"
        )
    };
    let lasts = |rank| (4..if rank == 3 { 8 } else { 10 }).map(move |last| of_rank(rank, last));
    let lines: Vec<String> = (1..=3).flat_map(lasts).collect();
    let (found, stored) = findings_of_run(run_of(&lines, None, None), Some(0), &lines, "classes.jsonl");
    let [finding] = found.as_slice() else { panic!("{found:#?}") };
    let [others] = finding.others.as_slice() else { panic!("{finding:#?}") };
    assert_eq!((finding.cases, others.class, others.cases), (10, Class::Crashed, 4));
    assert_eq!(stored[0].others, finding.others);
}

#[test]
fn a_file_says_what_was_tried_with_a_flake() {
    let line = |offset: u32| format!("SLICE FLOAT32 in=4 out=2 Offsets={offset} Sizes=2 Strides=1 fill=iota");
    let (found, stored) = findings_of(&[line(0), line(2)], "cache-without-offsets", "flake.jsonl");
    let tried = |findings: &[Finding]| findings.iter().find_map(|finding| finding.first.tried.clone());
    let tried_in_run = tried(&found).expect("there is a flake");
    let needs = &tried_in_run.replayed.as_ref().expect("there is a case before it").needs;
    assert_eq!(needs.iter().map(ToString::to_string).collect::<Vec<_>>(), [line(0)]);
    assert_eq!(tried(&stored), Some(tried_in_run));
}
