//! Ids of findings from run to run: results files of older versions, other seeds and other suites.

use crate::common::{Scratch, run};

/// The findings that a command shows: the id and the predicate of each.
fn findings(arguments: &[&str]) -> Vec<(String, String)> {
    let output = run(arguments);
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{shown}{}", String::from_utf8_lossy(&output.stderr));
    let (mut all, mut predicate) = (Vec::new(), String::new());
    for line in shown.lines() {
        if let Some((_, text)) = line.strip_prefix("FAIL ").and_then(|line| line.split_once(" where ")) {
            text.rsplit_once(" (").map_or(text, |(text, _)| text).clone_into(&mut predicate);
        } else if let Some(id) = line.strip_prefix("  finding ") {
            all.push((id.to_owned(), std::mem::take(&mut predicate)));
        }
    }
    all
}

fn store(name: &str) -> String {
    format!("{}/tests/stores/{name}.jsonl", env!("CARGO_MANIFEST_DIR"))
}

/// The stores are results files without the lines of their cases. The versions that wrote them explained
/// failures in other ways.
#[test]
#[ignore = "it takes long: .ci/run runs it if findings or snapshots changed"]
fn findings_of_old_files_keep_their_ids() {
    let reworded = "operator == SLICE1 and any axis (1 < OutputTensor.Sizes and InputWindowSizes / magnitude \
                    == OutputTensor.Sizes - 1)";
    let cases = [
        ("reworded", "slice1-reach-rounded-down", "slice1-refused-valid-old1", Some(reworded)),
        ("without-predicate", "padding-reflection-folds-once", "padding1-wrong-value-old2", None),
        // The largest of three findings that are one now.
        ("one-per-operator", "rank-one-refused", "padding1-refused-valid-old3", Some("rank == 1")),
    ];
    for (file, mutant, id, words) in cases {
        let (file, backend) = (store(file), format!("mutant:{mutant}"));
        for options in [&["--explain", "0"][..], &["--seed", "7"]] {
            let with = |more: &[&str]| {
                findings(&[&["run", "--quiet", "--backend", &backend], options, more].concat())
            };
            let (found, new) = (with(&["--earlier", &file]), with(&[]));
            let [(own, predicate)] = &found[..] else { panic!("{found:?}") };
            assert_eq!(own, id);
            assert_ne!(new[0].0, id, "this version makes another id");
            if let Some(words) = words {
                assert_eq!(predicate, words, "{options:?}");
            }
        }
    }
}

#[test]
#[ignore = "it takes long: .ci/run runs it if findings or snapshots changed"]
fn a_finding_has_one_id_under_every_seed_and_in_every_suite() {
    let backend = "mutant:slice1-reach-rounded-down";
    let mut files: Vec<Scratch> = Vec::new();
    let mut ids = Vec::new();
    let of_suite = |suite, seed| ["run", "--quiet", "--backend", backend, "--suite", suite, "--seed", seed];
    for seed in ["0", "1", "2", "3", "4"] {
        let file = Scratch::nothing(&format!("stored-{seed}.jsonl"));
        let mut arguments = of_suite("smoke", seed).to_vec();
        arguments.extend(["--results", file.path()]);
        arguments.extend(files.last().iter().flat_map(|last| ["--earlier", last.path()]));
        ids.push(findings(&arguments));
        files.push(file);
    }
    let last = files.last().map_or("", |file| file.path());
    let only = ["--where", "operator == SLICE1", "--earlier", last];
    ids.push(findings(&[&of_suite("ci", "5")[..], &only].concat()));
    for found in &mut ids {
        for (_, predicate) in found {
            let (words, _) = predicate.split_once(", within --where").unwrap_or((predicate, ""));
            *predicate = words.to_owned();
        }
    }
    assert!(ids.iter().all(|found| found.len() == 1 && *found == ids[0]), "{ids:#?}");
}

/// Without experiments, a given case is still the case of a finding.
#[test]
fn a_given_case_has_the_id_of_its_finding() {
    let case =
        "SLICE1 FLOAT32 in=4 out=2 InputWindowOffsets=1 InputWindowSizes=3 InputWindowStrides=2 fill=iota";
    let backend = "mutant:slice1-reach-rounded-down";
    let found = findings(&["run", "--quiet", "--backend", backend, "--earlier", &store("reworded"), case]);
    assert_eq!(found, [("slice1-refused-valid-old1".to_owned(), String::new())]);
}

#[test]
fn a_file_of_another_backend_or_of_a_part_is_noted() {
    let part = Scratch::nothing("noted-part.jsonl");
    let case = "SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota";
    let of = ["--strategy", "documented", "--explain", "0"];
    run(&[&["run", "--quiet", "--partition", "1/3", "--results", part.path()], &of[..]].concat());
    let output = run(&["run", "--quiet", "--backend", "mutant:wrong-stride", "--earlier", part.path(), case]);
    let said = String::from_utf8_lossy(&output.stderr).replace(part.path(), "FILE");
    let notes = "note: FILE is of the backend `reference`, and this run is of `mutant:wrong-stride`\n\
                 note: FILE has the findings of part 1/3 alone; `dmlcts merge` joins all parts\n";
    assert_eq!(said, notes);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_file_that_stores_no_findings_is_refused() {
    let (cut, hostile) = (Scratch::nothing("cut.jsonl"), Scratch::nothing("hostile.jsonl"));
    let text = std::fs::read_to_string(store("reworded")).expect("it is there");
    let header = text.lines().next().unwrap_or_default();
    std::fs::write(cut.path(), format!("{header}\n")).expect("it can be written");
    let changed = text.replace("slice1-refused-valid-old1", "old\\n::error::x");
    std::fs::write(hostile.path(), changed).expect("it can be written");
    let said = |path: &str| {
        let output = run(&["run", "--earlier", path]);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).replace(path, "FILE"))
    };
    let (code, text) = said(cut.path());
    assert_eq!(code, Some(2), "{text}");
    let why = "error: the run of FILE was cut off: line 1 is its last one, and is no summary with findings\n";
    assert!(text.starts_with(why) && text.contains(" --resume FILE; or name the file of"), "{text}");
    let (code, text) = said(hostile.path());
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("the id of a finding `old\\n::error::x` is unknown"), "{text}");
}
