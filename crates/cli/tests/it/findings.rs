//! Findings in every report: the terminal, results files, `merge`, `diff`, JUnit and workflow commands.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use crate::common::{Findings, Scratch, finding, run, text};

/// A few cases show some faults: most of the time goes into making `smoke`.
const THOUSAND: [&str; 2] = ["--suite", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suites/thousand.yaml")];

/// A fault on one axis of SLICE1 and a fault in PADDING1, with predicates that the suite alone shows.
pub(crate) const REACH: &str = "mutant:slice1-reach-rounded-down";
pub(crate) const MIRROR: &str = "mutant:padding-mirror-of-two-clamps";

/// Runs `smoke` on a backend, without experiments unless the options ask for them.
pub(crate) fn smoke(backend: &str, more: &[&str]) -> (String, Option<i32>) {
    let without = if more.contains(&"--explain") { &[][..] } else { &["--explain", "0"] };
    let output = run(&[&["run", "--backend", backend], without, more].concat());
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
}

/// The lines of findings: what failed, where, how far that is right, and the id.
fn findings(shown: &str) -> Vec<&str> {
    let starts = ["FAIL ", "  exactly ", "  no exact ", "  no case ", "  finding "];
    shown.lines().filter(|line| starts.iter().any(|start| line.starts_with(start))).collect()
}

#[test]
fn a_results_file_keeps_the_findings() {
    let file = Scratch::nothing("findings.jsonl");
    let (shown, code) = smoke(REACH, &["--results", file.path()]);
    assert_eq!(code, Some(1));
    let found = findings(&shown);
    assert!(found.iter().any(|line| line.contains(" where operator == SLICE1 and any axis ")), "{shown}");
    assert!(found.contains(&"  exactly these cases of the run; not confirmed by others"), "{shown}");
    let merged = run(&["merge", file.path()]);
    assert_eq!(findings(&String::from_utf8_lossy(&merged.stdout)), found);
}

/// The findings in the summary of a results file, as bytes.
fn recorded(file: &Scratch) -> String {
    let text = file.text();
    let summary = text.lines().last().unwrap_or_default();
    let findings = summary.split_once("\"findings\":").map_or("", |(_, findings)| findings);
    // Each part counts for itself what it left out.
    let findings = findings.split("],\"left_out\"").next().unwrap_or_default();
    // Each part ran its own failures again.
    let words = findings.split(',').map(|word| match word.strip_prefix("\"again\":") {
        Some(_) => "\"again\"",
        None => word,
    });
    words.collect::<Vec<_>>().join(",")
}

/// The results files of a run in three parts, with these options.
fn parts(backend: &str, name: &str, more: &[&str]) -> Vec<Scratch> {
    let part = |part: &str| {
        let file = Scratch::nothing(&format!("{name}-{}.jsonl", part.replace('/', "-")));
        smoke(backend, &[more, &["--partition", part, "--results", file.path()]].concat());
        file
    };
    ["1/3", "2/3", "3/3"].map(part).into()
}

fn merge(parts: &[Scratch], whole: &Scratch, more: &[&str]) -> String {
    let paths: Vec<&str> = parts.iter().map(Scratch::path).collect();
    let output = run(&[&["merge", "--overwrite", "--results", whole.path()], &paths[..], more].concat());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_parts_of_a_run_have_the_findings_of_the_whole() {
    let [whole, merged] = ["whole", "merged"].map(|name| Scratch::nothing(&format!("findings-{name}.jsonl")));
    let of_boundary = ["--strategy", "boundary,random"];
    let runs = [(MIRROR, THOUSAND), ("mutant:rank-one-refused", THOUSAND), (REACH, of_boundary)];
    for (backend, more) in runs {
        let parts = parts(backend, "findings-part", &more);
        merge(&parts, &merged, &[]);
        smoke(backend, &[&more[..], &["--results", whole.path(), "--overwrite"]].concat());
        assert!(recorded(&whole).contains("\"predicate\":"), "{}", recorded(&whole));
        assert_eq!(recorded(&merged), recorded(&whole), "{backend} {more:?}");
    }
}

/// Without the suite, the lines of the cases are parsed.
#[test]
fn parts_of_a_suite_that_is_gone_have_the_same_findings() {
    let text = include_str!("../suites/thousand.yaml");
    let suite = Scratch::new("gone.yaml", text);
    let [there, gone] = ["there", "gone"].map(|name| Scratch::nothing(&format!("findings-{name}.jsonl")));
    let parts = parts(REACH, "findings-gone", &["--suite", suite.path()]);
    merge(&parts, &there, &[]);
    fs::remove_file(suite.path()).expect("it was there");
    merge(&parts, &gone, &[]);
    assert!(recorded(&there).contains("\"predicate\":"), "{}", recorded(&there));
    assert_eq!(recorded(&gone), recorded(&there));
}

/// Experiments of a part confirm more than the lines of all parts.
#[test]
fn a_merge_keeps_what_experiments_confirmed() {
    let merged = Scratch::nothing("findings-confirmed.jsonl");
    let parts = parts(
        "mutant:rank-one-refused",
        "findings-confirmed-part",
        &[&THOUSAND[..], &["--explain", "100"]].concat(),
    );
    let shown = merge(&parts, &merged, &[]);
    let found = findings(&shown);
    assert!(found.iter().any(|line| line.contains(" where rank == 1 (")), "{shown}");
    assert!(found.iter().any(|line| line.starts_with("  no case contradicts it: fails in ")), "{shown}");
    // Up to five cases of each finding ran again in each part.
    let again = |line: &&&str| line.contains(" where rank == 1 (") && line.ends_with(", 15 run again)");
    assert!(found.iter().any(|line| again(&line)), "{shown}");
}

/// The parts have the ids of their folder, and the joined run keeps them.
#[test]
fn a_merge_keeps_the_ids_of_its_parts() {
    let merged = Scratch::nothing("findings-earlier.jsonl");
    let smallest = "PADDING1 INT8 in=9 out=9 InputTensor.Strides=1 OutputTensor.Strides=3 PaddingMode=EDGE \
                    PaddingValue=-117 StartPadding=0 EndPadding=0 fill=iota";
    let text = finding("old", Some("rank == 1"), "refused-valid", smallest);
    let text = text.replace("status: known", "status: new");
    let store = Findings::new("mutant-rank-one-refused", &[("old", text)]);
    let options = [&THOUSAND[..], &["--findings", store.path()]].concat();
    let parts = parts("mutant:rank-one-refused", "findings-earlier-part", &options);
    let shown = merge(&parts, &merged, &[]);
    assert!(findings(&shown).contains(&"  finding old"), "{shown}");
}

#[test]
fn each_failed_case_is_listed_with_its_finding() {
    let file = Scratch::nothing("findings-listed.jsonl");
    let (shown, _) = smoke("mutant:ffi-flags-of-input-for-both", &["--results", file.path()]);
    let listed = run(&["failures", file.path()]);
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let found = findings(&shown);
    let counts = found.iter().filter_map(|line| line.strip_prefix("FAIL ")?.rsplit_once('('));
    let counts: Vec<&str> = counts.filter_map(|(_, count)| count.split(' ').next()).collect();
    let ids = found.iter().filter_map(|line| line.strip_prefix("  finding "));
    let expected: Vec<(String, String)> =
        ids.map(str::to_owned).zip(counts.iter().map(|it| (*it).to_owned())).collect();
    assert!(expected.len() > 1, "{shown}");
    for (id, count) in expected {
        let lines = listed.lines().filter(|line| line.ends_with(&format!(", finding {id}'"))).count();
        assert_eq!(lines.to_string(), count, "{id}");
    }
}

#[test]
fn the_list_of_a_run_that_was_cut_off_says_so() {
    let file = Scratch::nothing("findings-cut.jsonl");
    smoke("reference", &["--strategy", "documented", "--results", file.path()]);
    let text = file.text();
    let lines: Vec<&str> = text.lines().collect();
    let is_case = |line: &&&str| line.starts_with("{\"case\"");
    fs::write(file.path(), lines[..lines.len() - 1].join("\n") + "\n").expect("it can be written");
    let listed = run(&["failures", file.path()]);
    let said = String::from_utf8_lossy(&listed.stderr).replace(file.path(), "FILE");
    let cases = lines.iter().filter(is_case).count();
    let start =
        format!("note: the run of FILE was cut off after {cases} cases, none of which failed; resume it: ");
    assert!(said.starts_with(&start) && said.ends_with(" --resume FILE\n"), "{said}");
    assert_eq!(listed.status.code(), Some(0));
}

#[test]
fn a_comparison_of_runs_names_new_and_fixed_findings() {
    let [old, new] = [REACH, MIRROR].map(|backend| {
        let file = Scratch::nothing(&format!("{}.jsonl", backend.replace(':', "-")));
        smoke(backend, &["--results", file.path()]);
        file
    });
    let compared = run(&["diff", old.path(), new.path()]);
    let compared = String::from_utf8_lossy(&compared.stdout);
    let line = |start: &str| compared.lines().find(|line| line.contains(start)).unwrap_or_default();
    assert!(line(" new padding1-wrong-value-").contains(", where operator == PADDING1"), "{compared}");
    assert!(line(" fixed slice1-refused-valid-").contains(", now 0 cases, where "), "{compared}");
}

#[test]
fn a_finding_is_a_test_and_a_workflow_command() {
    let junit = Scratch::nothing("findings.xml");
    let (shown, _) = smoke(REACH, &["--junit", junit.path(), "--annotations", "--quiet"]);
    let id =
        findings(&shown).into_iter().find_map(|line| line.strip_prefix("  finding ")).unwrap_or_default();
    assert!(id.starts_with("slice1-refused-valid-"), "{shown}");
    let command =
        format!("::error title={id}::a valid desc was refused as invalid where operator == SLICE1 and ");
    let is_command = |line: &str| line.starts_with(&command) && line.contains("%0Admlcts export --as ");
    assert!(shown.lines().any(is_command), "{shown}");
    let junit = fs::read_to_string(junit.path()).expect("it is written");
    assert!(
        junit.contains(&format!("<testcase name=\"{id}\" classname=\"dmlcts.smoke.findings\">")),
        "{junit}"
    );
    assert!(junit.contains(&format!("findings of SLICE1: {id}\n")), "{junit}");
}

#[test]
fn cases_that_are_given_have_no_predicate() {
    let case =
        "SLICE1 FLOAT32 in=4 out=2 InputWindowOffsets=1 InputWindowSizes=3 InputWindowStrides=2 fill=iota";
    let output = run(&["run", "--backend", "mutant:slice1-reach-rounded-down", case]);
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.starts_with("FAIL 1: SLICE1, a valid desc was refused as invalid (1 case)\n"), "{shown}");
}

/// The report names the case that a flake needs, and the command that runs both shows the same.
#[test]
fn a_flake_names_the_case_that_it_needs() {
    let [before, victim] =
        [0, 2].map(|offset| format!("SLICE FLOAT32 in=4 out=2 Offsets={offset} Sizes=2 Strides=1 fill=iota"));
    let other = "SLICE INT8 in=9 out=3 Offsets=1 Sizes=3 Strides=1 fill=iota";
    let backend = ["--backend", "mutant:cache-without-offsets"];
    let output = run(&[&["run", "--jobs", "1"], &backend[..], &[&before, other, &victim]].concat());
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    let command = format!("dmlcts run --backend mutant:cache-without-offsets --jobs 1 '{before}' '{victim}'");
    for line in [
        "FAIL 1: SLICE, wrong values (1 case)".to_owned(),
        "  expected an output; the backend gave another one".to_owned(),
        "  it fails in a backend that ran other cases, and passes in a fresh one".to_owned(),
        format!("  it fails only after: {before}"),
        format!("  run them again: {command}"),
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line}\n{shown}");
    }
    assert!(!shown.contains("FLAKE") && !shown.contains("InputTensor: ("), "{shown}");
    let again = run(&[&["run", "--jobs", "1"], &backend[..], &[&before, &victim]].concat());
    assert_eq!(again.status.code(), Some(1));
    let shown = String::from_utf8_lossy(&again.stdout).into_owned();
    assert!(shown.contains(&format!("  it fails only after: {before}\n")), "{shown}");
}

#[test]
fn a_finding_counts_the_failures_of_a_known_one_that_changed() {
    let folder = Scratch::nothing("changed-counts/mine");
    let of = |mutant: &str, more: &[&str]| {
        let options =
            ["--name", "mine", "--findings", folder.path(), "--where", "valid", "--backend", mutant];
        text(&[&["run", "--explain", "100"], &options[..], more].concat())
    };
    of("mutant:slice1-negative-from-offset", &["--accept"]);
    let shown = of("mutant:slice1-negative-ignores-offset", &[]);
    let known = shown.split(" failed as expected").next().and_then(|text| text.rsplit(' ').next());
    assert!(shown.contains("CHANGED") && known.is_some_and(|known| known != "0"), "{shown}");
    assert!(shown.contains(&format!(" cases, {} of them known, ", known.unwrap_or_default())), "{shown}");
}

#[test]
fn a_report_says_what_is_left_out_and_within_which_filter() {
    let file = Scratch::nothing("left-out.jsonl");
    let filter = "operator == SLICE1 and rank < 6";
    let (shown, _) = smoke(REACH, &["--where", filter, "--results", file.path()]);
    let is_within = |line: &&str| line.contains(&format!(", within --where '{filter}'"));
    assert!(findings(&shown).iter().any(is_within), "{shown}");
    let left_out = |shown: &str| shown.lines().find(|line| line.starts_with("left out")).map(str::to_owned);
    let line = left_out(&shown).unwrap_or_default();
    let start = "left out, at the end of --explain: experiments on ";
    assert!(line.starts_with(start) && line.contains("; shrinking of "), "{shown}");
    let merged = run(&["merge", file.path()]);
    let merged = String::from_utf8_lossy(&merged.stdout);
    assert_eq!(left_out(&merged), Some(line), "a results file keeps it: {merged}");
    assert!(findings(&merged).iter().any(is_within), "{merged}");
}

/// Faults that were drawn by chance. Alone, each has one finding, and at most half of its failures are
/// failures of another one of the three. Of the 23 that were drawn, three are left out: two of their
/// faults became one finding. `ffi-mode-in-one-byte` and `ffi-null-padding-is-zero` accept what breaks a
/// clause, `three-padded-axes-of-wrap` and `padding-reflection-corners-unwritten` are about three axes, and
/// `total-size-rounded-down` and `alignment-of-1-for-two-bytes` accept what breaks a clause.
const THREE_FAULTS: [[&str; 3]; 20] = [
    ["row-counter-in-u16", "padding-value-integer-from-float", "input-overlap-refused"],
    ["value-type-checked-in-constant-only", "alignment-no-power-of-two", "vectors-write-behind"],
    ["types-of-one-width-agree", "slice1-reach-rounded-down", "any-mode-accepted"],
    ["float64-refused", "uint32-in-int32", "slice-reads-of-last-axis-not-checked"],
    ["slice-offset-of-last-element-refused", "output-strides-in-bytes", "padding-size-one-broadcasts"],
    ["owned-input-refused", "slice1-full-reverse-rejected", "accepts-everything"],
    ["output-strides-for-input", "slice-identity-not-copied", "padding-ignores-input-strides"],
    ["slice1-count-not-checked", "fold-with-four-steps", "unit-stride-means-packed-input"],
    ["slice1-empty-window-accepted", "float16-in-bfloat16", "slice-sizes-not-compared"],
    ["float16-nan-loses-low-bits", "padding-mirror-of-two-clamps", "int64-upper-half-zero"],
    ["size-zero-accepted", "input-index-in-i16", "refused-with-not-implemented"],
    ["padding-identity-filled", "rows-above-65535-cut", "total-size-not-checked"],
    ["transposed-input-of-rank-three", "alignment-of-2-for-eight-bytes", "padding-tests-start-only"],
    ["total-size-of-output-not-checked", "padding-reflection-period-long", "lanes-share-outer-test"],
    ["coordinate-in-f16", "padding-sum-of-inner-axis-not-checked", "padding-symmetric-folds-once"],
    ["float32-zero-loses-sign", "padding-wrap-folds-once", "slice-of-one-element-not-checked"],
    ["output-strides-ignored", "slice1-reach-in-32-bits", "slice1-negative-from-input-end"],
    ["ffi-count-in-one-byte", "writes-a-byte-behind", "padding-sum-of-first-axis-not-checked"],
    ["merged-outer-axes-forget-holes", "padding-value-int64-sign-extended", "crashes-at-long-wrap"],
    ["input-strides-sorted", "tail-of-256-elements-lost", "output-stride-in-u16"],
];

/// The failed cases of a backend, each with the id of its finding.
fn failures(backend: &str, more: &[&str]) -> (String, BTreeMap<String, String>) {
    let file = Scratch::nothing("three-faults.jsonl");
    let (shown, _) = smoke(backend, &[&["--results", file.path(), "--overwrite"], more].concat());
    let listed = run(&["failures", file.path()]);
    let listed = String::from_utf8(listed.stdout).expect("cases are text");
    let of_line = |line: &str| {
        let (command, why) = line.split_once("' # '")?;
        let (_, case) = command.rsplit_once('\'')?;
        let (_, id) = why.trim_end_matches('\'').split_once("finding ")?;
        Some((case.to_owned(), id.to_owned()))
    };
    (shown, listed.lines().filter_map(of_line).collect())
}

#[test]
#[ignore = "it takes long: .ci/nightly runs it"]
fn the_first_screen_names_each_of_three_faults() {
    for faults in THREE_FAULTS {
        let alone = faults.map(|fault| failures(&format!("mutant:{fault}"), &["--explain", "0"]).1);
        let backend = format!("mutant:{}", faults.join("+"));
        let (shown, together) = failures(&backend, &["--explain", "2000"]);
        let table = shown.lines().take_while(|line| !line.is_empty()).count();
        assert!((4..24).contains(&table), "{backend}: {shown}");
        let mut named = BTreeSet::new();
        for (place, cases) in alone.iter().enumerate() {
            let is_of_others = |case: &str| (0..3).any(|at| at != place && alone[at].contains_key(case));
            let own = cases.keys().filter(|case| !is_of_others(case)).filter_map(|case| together.get(case));
            let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
            own.for_each(|id| *counts.entry(id).or_default() += 1);
            let most = counts.into_iter().max_by_key(|(_, count)| *count);
            named.extend(most.map(|(id, _)| id));
        }
        assert_eq!(named.len(), 3, "{backend}: {named:?}\n{shown}");
    }
}
