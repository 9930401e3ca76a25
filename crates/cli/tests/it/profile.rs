//! `dmlcts run --profile` and `dmlcts profiles`, end to end: the statement at the end of a run, the files
//! that contain it, and the runs without one. Every result names the spec that judged it.

use std::{fs, sync::LazyLock};

use crate::common::{Scratch, run, stdout, text};
use dmlcts_spec::Library;

const SMOKE: [&str; 3] = ["run", "--profile", "directml-6.4-smoke"];

/// The output of the whole run.
static WHOLE: LazyLock<String> = LazyLock::new(|| stdout(&SMOKE));

/// The statement at the end of an output, without the answers to open questions, which other tests check.
fn stated(output: &str) -> String {
    let (_, statement) = output.split_once("tatement of conformance\n").unwrap_or_else(|| panic!("{output}"));
    let statement = statement.split("  answers ").next().unwrap_or_default();
    statement.replace(Library::embedded().hash(), "HASH")
}

#[test]
fn a_run_of_a_profile_ends_with_a_statement_and_every_file_has_it() {
    let files = ["xml", "md", "jsonl"].map(|name| Scratch::new(&format!("profile.{name}"), ""));
    let [xml, page, results] = &files;
    let shown = stdout(
        &[&SMOKE[..], &["--junit", xml.path(), "--markdown", page.path(), "--results", results.path()]]
            .concat(),
    );
    insta::assert_snapshot!(stated(&shown), @r"
    backend   reference 0.1.0 at feature level 6.4
    profile   directml-6.4-smoke version 3: 4,990 cases of suite smoke, seed 0, at feature level 6.4, of at most 1.0 GiB each
    spec      HASH
    by        dmlcts 0.1.0
    cases     4,753 passed, 53 created only, 184 recorded, 0 failed
    verdict   reference 0.1.0 conforms to directml-6.4-smoke version 3
    ");
    // The statement has the answers to all raised questions, one by one.
    let answers = shown.split_once("  answers ").expect("there are some").1.lines().count();
    assert!(answers > 20 && shown.contains("slice.stride-zero: refused "), "{shown}");
    let said = xml.text();
    assert!(said.contains(r#"<property name="profile" value="directml-6.4-smoke version 3"/>"#), "{said}");
    assert!(said.contains(r#"<property name="conformance" value="conforms"/>"#), "{said}");
    let said = page.text();
    assert!(
        said.contains("\n### Statement of conformance\n\n| | |\n|---|---|\n| backend | reference "),
        "{said}"
    );
    assert!(
        said.contains("| verdict | reference 0.1.0 conforms to directml-6.4-smoke version 3 |"),
        "{said}"
    );
    let said = results.text();
    assert!(said.contains(r#""command":"dmlcts run --profile directml-6.4-smoke","#), "{said}");
    assert!(said.contains(r#""profile":{"name":"directml-6.4-smoke","version":3}"#), "{said}");
    assert!(said.contains(r#""statement":{"conformity":"conforms","#), "{said}");
    assert_eq!(
        stdout(&[&SMOKE[..], &["--quiet"]].concat()),
        "",
        "whoever wants no summary wants no statement"
    );
}

#[test]
fn parts_state_nothing_and_what_they_are_joined_to_states_what_the_whole_does() {
    let parts = ["1/2", "2/2"].map(|part| {
        let file = Scratch::new(&format!("profile-{}.jsonl", part.replace('/', "-")), "");
        let shown = stdout(&[&SMOKE[..], &["--partition", part, "--results", file.path()]].concat());
        assert_eq!(
            stated(&shown),
            "  profile   directml-6.4-smoke version 3\n  because   this is a part of the profile's cases; `dmlcts merge` states what \
             the parts come to\n"
        );
        assert!(file.text().contains(r#""statement":{"withheld":"this is a part of the profile's cases"#));
        file
    });
    let joined = Scratch::new("profile-joined.jsonl", "");
    let files = [parts[0].path(), parts[1].path(), "--results", joined.path()];
    let shown = stdout(&[&["merge"], &files[..]].concat());
    assert_eq!(stated(&shown), stated(&WHOLE));
    assert!(joined.text().contains(r#""statement":{"conformity":"conforms","#));
    // A name in a header alone makes no claim.
    let whole = joined.text();
    for (from, to) in [
        (r#""version":3},"suite""#, r#""version":9},"suite""#),
        (r#""seed":0,"feature_level":"6.4""#, r#""seed":0,"where":"rank == 1","feature_level":"6.4""#),
        (r#"{"name":"directml-6.4-smoke""#, r#"{"name":"directml-6.4""#),
    ] {
        assert!(whole.contains(from), "{from}");
        fs::write(joined.path(), whole.replacen(from, to, 1)).expect("it can be written");
        let said = text(&["merge", joined.path()]);
        assert!(said.starts_with("exit 2\n--- stderr\nerror: the "), "{said}");
    }
}

#[test]
fn a_run_that_is_cut_off_states_nothing_and_goes_on_to_its_statement() {
    let file = Scratch::new("profile-cut.jsonl", "");
    assert!(run(&[&SMOKE[..], &["--results", file.path()]].concat()).status.success());
    let whole = file.text();
    fs::write(file.path(), &whole[..whole.len() / 2]).expect("it can be written");
    let said = text(&["run", "--resume", file.path()]);
    assert!(said.contains("--profile: none here, directml-6.4-smoke version 3 there"), "{said}");
    let shown = stdout(&[&SMOKE[..], &["--resume", file.path()]].concat());
    assert_eq!(stated(&shown), stated(&WHOLE));
}

#[test]
fn left_out_cases_are_reservations() {
    let shown = stdout(&[&SMOKE[..], &["--memory", "64B"]].concat());
    let lines: Vec<&str> = shown
        .lines()
        .filter(|line| line.starts_with("  verdict") || line.starts_with("  reserved"))
        .collect();
    let reserved = lines[1].trim_start_matches("  reserved  ").split(' ').next().unwrap_or_default();
    let reserved: u64 = reserved.replace(',', "").parse().expect("a number of cases");
    let held = 4_990 - reserved;
    let held = format!("{},{:03}", held / 1_000, held % 1_000);
    assert_eq!(
        lines[0],
        format!(
            "  verdict   reference 0.1.0 conforms to directml-6.4-smoke version 3 for {held} of 4,990 cases, with reservations"
        )
    );
    assert!(
        lines[1].starts_with("  reserved  ")
            && lines[1].ends_with(
                " cases not run but only created, because they are larger than 64 bytes, to which this run was bound"
            ),
        "{lines:?}"
    );
}

#[test]
fn a_profile_stands_for_its_options() {
    let mistakes: [&[&str]; 5] = [
        &["run", "--profile", "directml"],
        &["run", "--profile", "directml-6.4-smoke", "--memory", "2GiB"],
        &["profiles", "directml-7"],
        &["profiles", "--check"],
        &["suites", "smok"],
    ];
    let said: Vec<String> = mistakes.iter().map(|arguments| text(arguments)).collect();
    insta::assert_snapshot!(said.join("\n"));
    for option in [
        &["--suite", "ci"][..],
        &["--seed", "1"],
        &["--where", "rank == 1"],
        &["--strategy", "random"],
        &["--limit", "1"],
        &["--feature-level", "5.0"],
        &["SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota"],
    ] {
        let said = text(&[&SMOKE[..], option].concat());
        assert!(said.starts_with("exit 2\n") && said.contains("cannot be used with"), "{option:?}: {said}");
    }
}

#[test]
fn profiles_and_suites_are_listed_and_shown() {
    let listed = stdout(&["profiles"]);
    assert_eq!(listed.lines().count(), 3);
    assert!(listed.starts_with("directml-6.4        version 3   SLICE, SLICE1 and PADDING1 "), "{listed}");
    let shown = stdout(&["profiles", "directml-6.4-smoke", "--check"]);
    assert!(shown.contains(&format!("  spec      {}\n", Library::embedded().hash())), "{shown}");
    assert_eq!(shown.matches("\n            expectations ").count(), 3, "{shown}");
    assert!(
        shown.ends_with("\n  checked: this program asks these cases, and expects this of them\n"),
        "{shown}"
    );
    let shown = stdout(&["suites", "smoke"]);
    assert!(shown.starts_with("smoke\n  The strongest cases "), "{shown}");
    assert_eq!(shown.lines().count(), 3 + 10, "{shown}");
}

/// Every run and every file names the spec.
#[test]
fn every_result_says_by_which_spec_it_was_judged() {
    let (hash, short) = (Library::embedded().hash(), Library::embedded().short_hash());
    let case = "SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota";
    let whats: [&[&str]; 3] = [&[case], &["--strategy", "documented"], &["--profile", "directml-6.4-smoke"]];
    for (place, what) in whats.into_iter().enumerate() {
        let files = ["xml", "md", "jsonl"].map(|name| Scratch::new(&format!("spec-{place}.{name}"), ""));
        let [xml, page, results] = &files;
        let to = ["--junit", xml.path(), "--markdown", page.path(), "--results", results.path()];
        let shown = stdout(&[&["run"], what, &to].concat());
        assert!(shown.contains(&format!("(spec {short})")), "{shown}");
        assert!(xml.text().contains(&format!(r#"<property name="spec" value="{hash}"/>"#)), "{what:?}");
        assert!(page.text().contains(&format!("\nSpec `{short}` at feature level 6.4")), "{what:?}");
        assert!(
            results.text().lines().next().is_some_and(|line| line.contains(&format!(r#""spec":"{hash}""#)))
        );
    }
}
