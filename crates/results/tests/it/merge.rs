//! Joining the parts of a run gives the file of one machine's run, and parts of different runs are refused.

use std::{fs, sync::Arc};

use dmlcts_backend::{Backend, Batch, Capabilities, Immediate};
use dmlcts_diagnose::{Diagnosis, Finding, Rule};
use dmlcts_model::FeatureLevel;
use dmlcts_reference::Reference;
use dmlcts_results::{Analysis, Error, Reader, RunFiles, SelectionForm, SuiteForm, Writer};
use dmlcts_runner::{CutPart, Ending, Partition, Undeclared};
use dmlcts_spec::Library;

use crate::common::*;

/// The lines of all cases, and what they came to.
fn join(paths: &[&str]) -> Result<(String, Diagnosis), Error> {
    let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
    let mut lines = Vec::new();
    let summary =
        RunFiles::open(&paths)?.join(Library::embedded(), &["given".to_owned()], None, &mut |line| {
            lines.extend_from_slice(line);
            Ok(())
        });
    Ok((String::from_utf8(lines).expect("it is text"), summary?.expect("there are files")))
}

fn cases_of(path: &str) -> String {
    let text = fs::read_to_string(path).expect("it is there");
    text.split_inclusive('\n').filter(|line| line.starts_with("{\"case\"")).collect()
}

/// Everything that two summaries must have in common.
fn essence(Diagnosis { summary, .. }: &Diagnosis) -> String {
    let groups = summary.groups.iter().map(|group| {
        let first = &group.first;
        (
            group.cases,
            first.index,
            first.case.to_string(),
            first.verdict,
            first.class,
            first.outcome.clone(),
            &first.expectation,
        )
    });
    format!(
        "{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}",
        summary.totals.skipped,
        groups.collect::<Vec<_>>(),
        summary.strategies,
        summary.recorded,
        summary.totals.coverage,
        summary.totals.work,
        summary.totals.progress,
        summary.ending
    )
}

/// Different cases of every kind, in this number.
fn many() -> Vec<String> {
    let mut all = lines(1);
    // Two open questions at once: it is unknown which of them a refusal answers.
    all.push("SLICE FLOAT32 in=4 out=2 InputTensor.Flags=2 Offsets=1 Sizes=2 Strides=0 fill=iota".to_owned());
    // Cases that need something undeclared are skipped.
    all.extend((2..6).map(|size| {
        format!("SLICE FLOAT16 in={size} out=1 Offsets=0 Sizes=1 Strides=1 fill=iota\n").trim().to_owned()
    }));
    all.extend((2..60).map(|size| {
        format!("SLICE UINT8 in={size} out=1 Offsets=0 Sizes=1 Strides=1 fill=iota\n").trim().to_owned()
    }));
    all
}

#[test]
fn the_parts_of_a_run_come_to_what_the_whole_comes_to() {
    let lines = many();
    let whole = Scratch::nothing("whole.jsonl");
    let expected = record(whole.path(), &lines, None);
    let parts: Vec<Scratch> = (1..=4).map(|part| Scratch::nothing(&format!("part-{part}.jsonl"))).collect();
    for (place, file) in parts.iter().enumerate() {
        record(file.path(), &lines, Partition::new(place as u64 + 1, 4));
    }
    // In any order.
    let (joined, summary) =
        join(&[2, 0, 3, 1].map(|place: usize| parts[place].path())).expect("they are the parts");
    assert_eq!(joined, cases_of(whole.path()));
    assert_eq!(essence(&summary), essence(&expected));
    assert_eq!(expected.summary.totals.skipped.of(0, Undeclared::DataType), 4);
    let (alone, summary) = join(&[whole.path()]).expect("it is whole");
    assert_eq!((alone, essence(&summary)), (joined, essence(&expected)));
}

/// Each bad end is reported once, with the part in which it occurred.
#[test]
fn how_backends_ended_is_told_of_every_part() {
    let lines = lines(1);
    let bad_end = |ends: &[&str]| {
        let of = ends.len() as u64;
        let parts: Vec<Scratch> = (1..=of)
            .zip(ends)
            .map(|(part, end)| {
                let file = Scratch::nothing(&format!("end-{part}-of-{of}.jsonl"));
                record(file.path(), &lines, Partition::new(part, of).filter(|_| of > 1));
                let end = if end.is_empty() { String::new() } else { format!(r#","bad_end":"{end}""#) };
                let code = r#","exit_code":1"#;
                assert!(file.text().contains(code), "{}", file.text());
                fs::write(file.path(), file.text().replace(code, &format!("{code}{end}")))
                    .expect("it is ours");
                file
            })
            .collect();
        // In any order.
        join(&parts.iter().rev().map(Scratch::path).collect::<Vec<_>>())
            .expect("they are the parts")
            .1
            .summary
            .bad_end
    };
    assert_eq!(bad_end(&["", ""]), None);
    assert_eq!(bad_end(&["it leaks"]).as_deref(), Some("it leaks"));
    assert_eq!(bad_end(&["", "it leaks"]).as_deref(), Some("in part 2/2, it leaks"));
    let three = bad_end(&["it leaks", "it aborts", "it leaks"]);
    assert_eq!(three.as_deref(), Some("in part 1/3 and 1 more, it leaks; in part 2/3, it aborts"));
    let many = bad_end(&["a", "b", "c", "d", "b", "e", "d"]);
    let told = "in part 1/7, a; in part 2/7 and 1 more, b; in part 3/7, c; in 3 more, others did";
    assert_eq!(many.as_deref(), Some(told));
}

/// Cases that were never read count neither as run nor as left out, whether the parts are joined once or
/// twice.
#[test]
fn a_part_that_ended_early_is_named_with_how_far_it_came() {
    let lines = many();
    let (one, two, joined) =
        (Scratch::nothing("long"), Scratch::nothing("short"), Scratch::nothing("long-and-short"));
    record(one.path(), &lines, Partition::new(1, 2));
    let run = run_of(&lines, Partition::new(2, 2), None);
    let writer =
        Writer::create(two.path(), true, run.library, run.source.strategies()).expect("it can be made");
    run.stop.request(Ending::Timeout);
    let short = record_with(writer, (&run, None), &selection(&lines, Partition::new(2, 2)), true);
    let (text, all) = join(&[one.path(), two.path()]).expect("they are the parts");
    let expected = CutPart {
        partition: Partition::new(2, 2).expect("a part"),
        ending: Ending::Timeout,
        read: short.summary.totals.progress.read,
    };
    assert!(expected.read < lines.len() as u64, "it is over at once");
    assert_eq!((all.summary.ending, all.summary.cut.as_slice()), (Ending::Timeout, [expected].as_slice()));
    let reader = Reader::open(one.path()).expect("it is there");
    let mut writer =
        Writer::create(joined.path(), true, run.library, run.source.strategies()).expect("it can be made");
    let mut header = reader.header().clone();
    header.selection.partition = None;
    writer.header(&header).expect("it can be written");
    text.split_inclusive('\n').for_each(|line| writer.copy(line.as_bytes()).expect("it can be written"));
    writer.finish(&all, 0, None).expect("it can be written");
    let (again, run) = join(&[joined.path()]).expect("it is whole");
    assert_eq!((again, run.summary.cut.as_slice()), (text, [expected].as_slice()));
}

#[test]
fn parts_that_do_not_belong_together_are_refused() {
    let lines = many();
    let part = |name: &str, lines: &[String], part, of| {
        let file = Scratch::nothing(name);
        record(file.path(), lines, Partition::new(part, of));
        file
    };
    let (one, two, three) = (part("1", &lines, 1, 3), part("2", &lines, 2, 3), part("3", &lines, 3, 3));
    let (again, of_four, other) =
        (part("again", &lines, 2, 3), part("four", &lines, 2, 4), part("other", &lines[1..], 2, 3));
    let whole = Scratch::nothing("both");
    record(whole.path(), &lines, None);
    let cut = Scratch::nothing("cut");
    let text = two.text();
    let (before, _) = text.split_once("{\"summary\"").expect("it has a summary");
    fs::write(cut.path(), before).expect("it can be written");
    let less = Scratch::nothing("less");
    let kept: Vec<&str> = text.split_inclusive('\n').collect();
    fs::write(less.path(), [&kept[..1], &kept[2..]].concat().concat()).expect("it can be written");
    let twice = Scratch::nothing("twice");
    fs::write(twice.path(), [&kept[..2], &kept[1..]].concat().concat()).expect("it can be written");
    let said = |paths: &[&Scratch]| {
        let named: Vec<&str> = paths.iter().map(|file| file.path()).collect();
        let mut text = match join(&named) {
            Ok((_, run)) => format!("joined: {}", run.summary.totals.progress.ran),
            Err(error) => format!("{error}\n  help: {}", error.help()),
        };
        for (file, name) in [
            (&one, "one"),
            (&two, "two"),
            (&three, "three"),
            (&again, "again"),
            (&of_four, "of-four"),
            (&other, "other"),
            (&whole, "whole"),
            (&cut, "cut"),
            (&less, "less"),
            (&twice, "twice"),
        ] {
            text = text.replace(file.path(), name);
        }
        text
    };
    let all = [
        said(&[&one, &two, &three]),
        said(&[&one, &three]),
        said(&[&two]),
        said(&[&one, &two, &again, &three]),
        said(&[&one, &of_four]),
        said(&[&one, &other, &three]),
        said(&[&whole, &two]),
        said(&[&one, &cut, &three]),
        said(&[&one, &less, &three]),
        said(&[&one, &twice, &three]),
    ];
    insta::assert_snapshot!(all.join("\n"));
}

/// A correct backend, except that it leaves out bytes above 15. Cases whose own data are smaller fail for
/// other data only.
struct SmallBytes(Capabilities);

impl Backend for SmallBytes {
    fn capabilities(&self) -> &Capabilities {
        &self.0
    }

    fn set_feature_level(&mut self, _: FeatureLevel) {}

    fn run(&mut self, batch: &mut Batch) {
        Reference::backend().run(batch);
        let (jobs, _, outputs) = batch.parts();
        for run in jobs.iter().flat_map(|job| &job.runs) {
            outputs[run.output.clone()].iter_mut().filter(|byte| **byte > 15).for_each(|byte| *byte = 0);
        }
    }
}

/// The cause of such a failure is in other data. With the case's own data it would be in none.
#[test]
fn a_failure_for_other_data_only_is_explained_by_these_data() {
    let line = |[rows, columns]: [u32; 2]| {
        let (sizes, data) = (format!("{rows},{columns}"), "01".repeat((rows * columns) as usize));
        format!(
            "SLICE UINT8 in={sizes} out={sizes} Offsets=0,0 Sizes={sizes} Strides=1,1 fill=explicit:{data}"
        )
    };
    // Other data are a sample's: about an eighth of the cases.
    let lines: Vec<String> =
        (1..13).flat_map(|rows| (1..13).map(move |columns| line([rows, columns]))).collect();
    let mut run = run_of(&lines, None, None);
    run.backend = Arc::new(|_| {
        let capabilities = Reference::backend().capabilities().clone();
        Ok(Box::new(Immediate(SmallBytes(capabilities))))
    });
    let file = Scratch::nothing("other-data.jsonl");
    let writer = Writer::create(file.path(), true, run.library, run.source.strategies());
    let selection = SelectionForm {
        suite: Some(SuiteForm { name: "some".to_owned(), hash: "00".repeat(32) }),
        ..selection(&lines, None)
    };
    let whole = record_with(writer.expect("the file can be made"), (&run, Some(0)), &selection, true);
    // A merge must find what the run found, and not keep it.
    let text = file.text();
    let (before, summary) = text.trim_end().rsplit_once('\n').expect("it has lines");
    let mut summary: serde_json::Value = serde_json::from_str(summary).expect("it is JSON");
    summary["summary"]["findings"] = serde_json::Value::Array(Vec::new());
    fs::write(file.path(), format!("{before}\n{summary}\n")).expect("it is ours");
    let (cases, _) = read(file.path());
    let failed = cases.iter().filter(|case| case.class.is_some());
    assert!(failed.clone().count() >= 4 && failed.clone().all(|case| case.only_other_data), "{cases:#?}");
    let analysis = Analysis { source: None, earlier: &[] };
    let joined = RunFiles::open(&[file.path().to_owned()])
        .expect("it is there")
        .join(run.library, &run.source.strategies(), Some(analysis), &mut |_| Ok(()))
        .expect("it is whole")
        .expect("there is a file");
    let told = |findings: &[Finding]| -> Vec<(String, u64, Option<Rule>)> {
        let one = |finding: &Finding| (finding.id.clone(), finding.cases, finding.rule.clone());
        findings.iter().map(one).collect()
    };
    assert_eq!(told(&joined.findings), told(&whole.findings));
    let rules: Vec<&str> = (joined.findings.iter().flat_map(|finding| &finding.rule))
        .map(|rule| rule.predicate.text())
        .collect();
    assert_eq!(rules, ["operator == SLICE and moves(high_bit)"]);
}
