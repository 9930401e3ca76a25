//! Ids of findings from run to run: folders of older versions, other seeds and other suites.

use crate::common::{Findings, Scratch, finding, run};

/// The findings that a command shows: the id and the predicate of each.
fn findings(arguments: &[&str]) -> Vec<(String, String)> {
    let output = run(arguments);
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{shown}{}", String::from_utf8_lossy(&output.stderr));
    let (mut all, mut predicate) = (Vec::new(), String::new());
    for line in shown.lines() {
        if let Some((_, text)) = line.strip_prefix("FAIL ").and_then(|line| line.split_once(" where ")) {
            text.rsplit_once(" (").map_or(text, |(text, _)| text).clone_into(&mut predicate);
        } else if let Some(line) = line.strip_prefix("  finding ") {
            let id = line.split(',').next().unwrap_or(line);
            all.push((id.to_owned(), std::mem::take(&mut predicate)));
        }
    }
    all
}

const REWORDED: &str = "operator == SLICE1 and any axis (1 < OutputTensor.Sizes and InputWindowSizes / magnitude == \
                        OutputTensor.Sizes - 1)";
const OF_REACH: &str =
    "SLICE1 FLOAT32 in=4 out=2 InputWindowOffsets=1 InputWindowSizes=3 InputWindowStrides=2 fill=iota";

const FOLDS_OF_SUITE: &str = "PADDING1 FLOAT32 in=4,4 out=8,10 PaddingMode=REFLECTION StartPadding=1,2 \
    EndPadding=3,4 fill=explicit:0000803f0000004000004040000080400000a0400000c0400000e040000000410000803f0000004000004040000080400000a0400000c0400000e04000000041";

/// A folder with a finding that nobody accepted, so that its failures are still shown.
fn store(id: &str, backend: &str, filter: Option<&str>, class: &str, smallest: &str) -> Findings {
    let text = finding(id, filter, class, smallest).replace("status: known", "status: new");
    Findings::new(backend, &[(id, text)])
}

/// The findings of versions that explained failures in other ways.
#[test]
#[ignore = "it takes long: .ci/run runs it if findings or snapshots changed"]
fn findings_of_old_files_keep_their_ids() {
    let folds = "PADDING1 FLOAT32 in=2 out=4 PaddingMode=REFLECTION StartPadding=0 EndPadding=2 fill=iota";
    let edge = "PADDING1 INT8 in=9 out=9 InputTensor.Strides=1 OutputTensor.Strides=3 PaddingMode=EDGE \
                PaddingValue=-117 StartPadding=0 EndPadding=0 fill=iota";
    let cases = [
        ("slice1-reach-rounded-down", "slice1-refused-valid-old1", Some(REWORDED), "refused-valid", OF_REACH),
        ("padding-reflection-folds-once", "padding1-wrong-value-old2", None, "wrong-value", folds),
        // The findings of three operators are one now.
        (
            "rank-one-refused",
            "padding1-refused-valid-old3",
            Some("operator == PADDING1 and rank == 1"),
            "refused-valid",
            edge,
        ),
    ];
    for (mutant, id, words, class, smallest) in cases {
        let backend = format!("mutant:{mutant}");
        let backend_name = format!("mutant-{mutant}");
        let store = store(id, &backend_name, words, class, smallest);
        if words.is_none() {
            // Without experiments, a case of the suite says that the finding is still there.
            let path = format!("{}/{id}.yaml", store.path());
            let text = std::fs::read_to_string(&path).expect("it is there");
            std::fs::write(path, format!("{text}cases:\n  - {FOLDS_OF_SUITE}\n")).expect("it can be written");
        }
        for options in [&["--explain", "0"][..], &["--seed", "7"]] {
            let with = |more: &[&str]| {
                findings(&[&["run", "--quiet", "--backend", &backend], options, more].concat())
            };
            let (found, new) = (with(&["--findings", store.path()]), with(&[]));
            let [(own, predicate)] = &found[..] else { panic!("{found:?}") };
            assert_eq!(own, id);
            assert_ne!(new[0].0, id, "this version makes another id");
            if words == Some(REWORDED) {
                assert_eq!(predicate, REWORDED, "{options:?}");
            }
        }
    }
}

#[test]
#[ignore = "it takes long: .ci/run runs it if findings or snapshots changed"]
fn a_finding_has_one_id_under_every_seed_and_in_every_suite() {
    let backend = "mutant:slice1-reach-rounded-down";
    let store = Findings::new("mutant-slice1-reach-rounded-down", &[]);
    let mut ids = Vec::new();
    let of_suite = |suite, seed| ["run", "--quiet", "--backend", backend, "--suite", suite, "--seed", seed];
    for seed in ["0", "1", "2", "3", "4"] {
        let file = Scratch::nothing(&format!("stored-{seed}.jsonl"));
        let arguments =
            [&of_suite("smoke", seed)[..], &["--results", file.path()], &["--findings", store.path()]];
        ids.push(findings(&arguments.concat()));
        assert_eq!(run(&["accept", store.path(), "--from", file.path()]).status.code(), Some(0));
        renew(&store);
    }
    let only = ["--where", "operator == SLICE1", "--explain", "0", "--findings", store.path()];
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
    let name = "slice1-reach-rounded-down";
    let store = store(
        "slice1-refused-valid-old1",
        &format!("mutant-{name}"),
        Some(REWORDED),
        "refused-valid",
        OF_REACH,
    );
    let backend = format!("mutant:{name}");
    let found = findings(&["run", "--quiet", "--backend", &backend, "--findings", store.path(), OF_REACH]);
    assert_eq!(found, [("slice1-refused-valid-old1".to_owned(), String::new())]);
}

/// Makes the findings of a folder unexpected again, so that the next run shows them.
fn renew(store: &Findings) {
    for file in std::fs::read_dir(store.path()).expect("it is there") {
        let path = file.expect("it can be read").path();
        let text = std::fs::read_to_string(&path).expect("it can be read");
        std::fs::write(&path, text.replace("status: known", "status: new")).expect("it can be written");
    }
}
