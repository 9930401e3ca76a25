//! Cases that are given one by one, as arguments and on standard input, and the commands that a run suggests.

use crate::common::{ENDLESS, stdout, text, text_with_input};
use dmlcts_generate::Impossible;

const CASE: &str = "SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota";
const INVALID: &str = "SLICE FLOAT32 in=0 out=1 Offsets=0 Sizes=1 Strides=1 fill=iota";

/// The lines after `next`.
fn next(arguments: &[&str]) -> Vec<String> {
    let text = stdout(arguments);
    let lines = text.lines().skip_while(|line| !line.starts_with("next "));
    lines.map(|line| line[10..].split(" # ").next().unwrap_or_default().trim_end().to_owned()).collect()
}

#[test]
fn one_case_is_no_suite_and_its_report_is_short() {
    let shown = text(&["run", CASE]).replace(dmlcts_spec::Library::embedded().short_hash(), "HASH");
    insta::assert_snapshot!(shown, @r"
    exit 0
    --- stdout
    ran       1 case on reference 0.1.0 at feature level 6.4 (spec HASH)
    held      1 passed, 0 failed
    next      dmlcts explain 'SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota' # what the spec says of it
    ");
    let old = next(&["run", "--feature-level", "2.0", CASE]);
    assert_eq!(old, [format!("dmlcts explain --feature-level 2.0 '{CASE}'")]);
}

#[test]
fn a_dash_reads_cases_from_standard_input() {
    let list = format!("# found on Tuesday\n{CASE}\n\n   {INVALID}\r\n");
    let ran = text_with_input(&["run", "-"], &list);
    assert!(ran.starts_with("exit 0\n"), "{ran}");
    assert!(ran.contains("ran       2 cases on reference"), "{ran}");
    let ran = text_with_input(&["run", CASE, "-", "--limit", "2"], &list);
    assert!(ran.contains("ran       2 cases on reference"), "{ran}");
    let ran = text_with_input(&["run", "-", "--where", "InputTensor.DimensionCount == 2"], &list);
    assert!(ran.starts_with("exit 2\n"), "{ran}");
    assert!(ran.contains("none of the 2 cases of the selection was taken"), "{ran}");
}

#[test]
fn a_mistake_on_standard_input_names_its_line() {
    let list = format!("# first\n{CASE}\n  {}\n{CASE}\n", CASE.replace("Offsets", "Offset"));
    insta::assert_snapshot!(text_with_input(&["run", "-"], &list));
    insta::assert_snapshot!("no_case_on_standard_input", text_with_input(&["run", "-"], "# nothing\n"));
}

#[test]
fn a_list_runs_from_standard_input() {
    let list = stdout(&["list", "--limit", "200"]);
    let ran = text_with_input(&["run", "-"], &list);
    assert!(ran.contains("ran       200 cases on reference"), "{ran}");
    assert!(ran.contains(" 0 failed"), "{ran}");
}

#[test]
fn several_cases_are_judged_each_under_its_line() {
    let (one, other) = (stdout(&["judge", CASE]), stdout(&["judge", INVALID]));
    let both = format!("{CASE}\n{one}\n{INVALID}\n{other}");
    assert_eq!(stdout(&["judge", CASE, INVALID]), both);
    let list = format!("# found on Tuesday\n{CASE}\n\n  {INVALID}\r\n");
    assert_eq!(text_with_input(&["judge", "-"], &list), format!("exit 0\n--- stdout\n{both}"));
    assert_eq!(
        text_with_input(&["judge", "-"], CASE),
        format!("exit 0\n--- stdout\n{one}"),
        "it has no heading"
    );
    for command in ["show", "explain"] {
        let blocks = stdout(&[command, CASE, INVALID]);
        for case in [CASE, INVALID] {
            assert_eq!(blocks.lines().filter(|line| *line == case).count(), 1, "{command}: {blocks}");
            let block = stdout(&[command, case]);
            assert!(blocks.contains(&block), "{command}: {block} is not in {blocks}");
        }
    }
}

/// A mistake is reported before anything is printed.
#[test]
fn a_mistake_in_one_of_several_cases_is_all_that_is_said() {
    let mistaken = CASE.replace("Offsets", "Offset");
    let said = text(&["judge", CASE, &mistaken]);
    assert!(said.starts_with("exit 2\n--- stderr\nerror: `Offset` is not a member of SLICE"), "{said}");
    let said = text_with_input(&["judge", "-"], &format!("{CASE}\n{mistaken}\n"));
    assert!(said.starts_with("exit 2\n--- stderr\n") && said.contains("[standard input:2:"), "{said}");
}

/// The words of a case without quotes are joined again, for each command that takes cases.
#[test]
fn a_case_without_quotes_is_answered_with_the_command_that_has_them() {
    let words: Vec<&str> = CASE.split(' ').collect();
    for command in ["run", "judge", "show", "explain"] {
        let said = text(&[&[command, "--feature-level", "4.1"], &words[..]].concat());
        let help = format!("  help: write dmlcts {command} --feature-level 4.1 '{CASE}'\n");
        assert!(said.starts_with("exit 2\n--- stderr\n") && said.ends_with(&help), "{said}");
    }
    let one = text(&["run", "SLICE"]);
    assert!(!one.contains("quotes"), "one argument was not taken apart: {one}");
}

/// The command that names unexercised obligations counts the same cases as the run, also for an endless
/// suite.
#[test]
fn an_ended_run_names_the_command_for_its_missing_obligations() {
    for options in [&["--suite", ENDLESS][..], &["--suite", ENDLESS, "--where", "operator == SLICE"]] {
        let shown = stdout(&[&["run", "--limit", "300"], options].concat());
        let (counts, rest) = shown.split_once(" obligations met (`dmlcts ").expect("obligations");
        let (command, _) = rest.split_once("` names the others)").expect("a command");
        let words: Vec<&str> = command
            .split('\'')
            .enumerate()
            .flat_map(|(place, part)| match place % 2 {
                0 => part.split_whitespace().collect(),
                _ => vec![part],
            })
            .collect();
        let named = stdout(&words);
        let met: u64 = named
            .lines()
            .filter_map(|line| line.split_once(" obligations met")?.0.split(' ').nth(1)?.parse::<u64>().ok())
            .sum();
        let (_, count) = counts.rsplit_once("; ").expect("a count");
        assert_eq!(count.split(' ').next(), Some(&*met.to_string()), "{command}");
    }
}

/// The command that names obligations gives the same count as the run.
#[test]
fn obligations_that_a_suite_leaves_out_are_named_with_a_reason() {
    let named = stdout(&["count", "--obligations"]);
    insta::assert_snapshot!(named);
    let ran = stdout(&["run"]);
    let (_, counts) = ran.split_once("at the limit; ").expect("what a suite exercised");
    let (met, rest) = counts.split_once(" of ").expect("a share");
    assert!(rest.contains("(`dmlcts count --obligations --suite smoke` names the others)"), "{ran}");
    let sum = |place: usize| -> usize {
        let counts = named.lines().filter(|line| !line.starts_with(' '));
        counts.map(|line| line.split(' ').nth(place).and_then(|count| count.parse().ok()).unwrap_or(0)).sum()
    };
    assert_eq!((met, rest.split(' ').next()), (&*sum(1).to_string(), Some(&*sum(3).to_string())));
    let one = stdout(&["count", "--obligations", "--where", "operator == SLICE"]);
    assert!(one.ends_with("SLICE1: no case\nPADDING1: no case\n"), "{one}");
    assert!(text(&["count", "--obligations", "--suite", "soak"]).contains("--limit 100000"));
}

/// `ci` shows every pair of a way to break a clause and a type, mode, rank or axis that a desc can show. Each
/// other pair has a reason, and each reason is of a pair.
#[test]
fn ci_shows_every_pair_or_there_is_a_reason() {
    let named = stdout(&["count", "--suite", "ci", "--obligations", "--pairs"]);
    assert!(!named.contains("no case:"), "{named}");
    assert!(!named.contains("though cases/impossible.yaml"), "{named}");
    let reasons: Vec<&str> = Impossible::embedded().iter().map(|entry| entry.because.as_str()).collect();
    for because in reasons {
        assert!(named.contains(&format!(": {because}\n")), "no pair has the reason: {because}");
    }
}

#[test]
fn the_next_command_keeps_the_selection() {
    let selection = ["--where", "operator == SLICE", "--strategy", "random,negative", "--seed", "7"];
    let picked = "--where 'operator == SLICE' --strategy negative,random --seed 7";
    let mut arguments = vec!["run", "--allow", "zero-sign", "--feature-level", "4.1", "--limit", "90"];
    arguments.extend(selection);
    assert_eq!(
        next(&arguments)[..2],
        [
            format!("dmlcts run --suite ci --feature-level 4.1 --allow zero-sign {picked}"),
            format!("dmlcts list --suite smoke {picked} --feature-level 4.1 --limit 90 | head"),
        ]
    );
    let suite = concat!(env!("CARGO_MANIFEST_DIR"), "/../../cases/suites/soak.yaml");
    assert_eq!(
        next(&["run", "--suite", suite, "--limit", "10"])[0],
        format!("dmlcts list --suite {suite} --limit 10 | head")
    );
}

/// The words of a command after `exec:` are joined again, however clap parses them.
#[test]
fn a_backend_without_quotes_is_answered_with_the_command_that_has_them() {
    for (given, quoted) in [
        ("run --backend exec:python3 mine.py", "run --backend 'exec:python3 mine.py'"),
        ("run --backend=exec:python3 mine.py --jobs 2", "run --backend 'exec:python3 mine.py' --jobs 2"),
        (
            "run --suite smoke --backend exec:python3 mine.py --jobs 2",
            "run --suite smoke --backend 'exec:python3 mine.py' --jobs 2",
        ),
        ("doctor --backend exec:python3 mine.py", "doctor --backend 'exec:python3 mine.py'"),
        ("doctor --backend exec:python3 -u mine.py", "doctor --backend 'exec:python3 -u mine.py'"),
    ] {
        let said = text(&given.split(' ').collect::<Vec<_>>());
        let backend = if quoted.contains("-u") { "exec:python3 -u mine.py" } else { "exec:python3 mine.py" };
        let expected = format!(
            "exit 2\n--- stderr\nerror: the words behind exec: need quotes: --backend '{backend}'\n  help: write dmlcts {quoted}\n"
        );
        assert_eq!(said, expected);
    }
    // A case without quotes after a complete backend is still a case, and a case with quotes is not a part of
    // a command.
    let words: Vec<&str> = CASE.split(' ').collect();
    let said = text(&[&["run", "--backend", "exec:./mine"], &words[..]].concat());
    assert!(said.ends_with(&format!("help: write dmlcts run --backend exec:./mine '{CASE}'\n")), "{said}");
    let said = text(&["run", "--backend", "exec:python3", "mine.py", CASE]);
    let help = format!("help: write dmlcts run --backend 'exec:python3 mine.py' '{CASE}'\n");
    assert!(said.ends_with(&help), "{said}");
    let said = text(&["doctor", "--backend", "exec:./mine", "--jobs"]);
    assert!(!said.contains("quotes"), "{said}");
}

/// `judge` has neither --limit nor --suite.
#[test]
fn too_long_a_list_is_answered_with_what_each_command_has() {
    let line = format!("{CASE}\n");
    let said = text_with_input(&["judge", "-"], &line.repeat((64 << 20) / line.len() + 1));
    assert_eq!(
        said,
        "exit 2\n--- stderr\nerror: standard input has more than 64.0 MiB\n  \
         help: give fewer cases at once; `run` alone also takes --limit, or --suite instead of cases\n"
    );
}

#[test]
fn a_binding_that_the_pages_do_not_allow_is_judged_and_not_run() {
    let bad = format!("{CASE} OutputBinding.Offset=8");
    insta::assert_snapshot!("judge_of_a_bad_binding", text(&["judge", &bad]));
    assert!(text(&["explain", &bad]).contains("not run: a binding breaks offset-minimum"));
    insta::assert_snapshot!("run_of_a_bad_binding", text(&["run", &bad]));
    insta::assert_snapshot!(
        "run_of_a_bad_binding_in_a_list",
        text_with_input(&["run", "-"], &format!("# two\n{CASE}\n  {bad}\n"))
    );
    let promised =
        "SLICE FLOAT32 in=4 out=2 InputTensor.GuaranteedBaseOffsetAlignment=64 Offsets=0 Sizes=2 Strides=2";
    let bad = format!("{promised} InputBinding.Offset=32");
    insta::assert_snapshot!("run_of_a_broken_promise", text(&["run", &bad]));
    for good in [format!("{CASE} OutputBinding.Offset=48"), format!("{promised} InputBinding.Offset=128")] {
        let ran = text(&["run", &good]);
        assert!(ran.contains("1 passed, 0 failed") && !text(&["judge", &good]).contains("not run"), "{ran}");
    }
}
