//! The commands that a run suggests at its end, and `dmlcts failures`, which lists the failures.

use crate::common::{Findings, Scratch, broken, finding, run, stdout, text};

const ONE: &str = "SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota";
const OTHER: &str = "SLICE FLOAT32 in=4 out=2 Offsets=1 Sizes=2 Strides=2 fill=iota";

/// The output of a run on a faulty backend, with the names of program and file in place of their paths.
fn said(fault: &str, file: &Scratch, more: &[&str]) -> String {
    let backend = broken(fault, ONE);
    let said = text(&[&["run", "--backend", &backend, ONE, OTHER], more].concat());
    said.replace(env!("CARGO_BIN_EXE_dmlcts"), "PROGRAM").replace(file.path(), "FILE")
}

#[test]
fn a_run_that_ended_early_says_how_to_go_on() {
    let file = Scratch::nothing("next.jsonl");
    let recorded = ["--results", file.path()];
    let early = ["--max-hangs", "1", "--case-timeout", "2s", "--retries", "0", "--jobs", "1"];
    let hung = said("hangs", &file, &[&early[..], &recorded].concat());
    assert!(hung.starts_with("exit 3\n"), "{hung}");
    let next = hung.split_once("\nnext      ").expect("it says what to do").1;
    assert!(
        next.starts_with("dmlcts run --backend ") && next.contains(&format!("'{OTHER}' --resume FILE ")),
        "{hung}"
    );
    assert!(next.lines().next().is_some_and(|line| line.ends_with(" # go on with this run")), "{hung}");
    // A complete run has nothing to continue, and neither has a run without a record.
    let whole = said("flips", &file, &[&recorded[..], &["--overwrite"]].concat());
    assert!(!whole.contains("--resume"), "{whole}");
    assert!(whole.contains("\n          dmlcts failures FILE"), "{whole}");
    let unrecorded = said("flips", &file, &[]);
    assert!(!unrecorded.contains("dmlcts failures"), "{unrecorded}");
}

/// The lines that a run shows after `next`, each a command and its purpose.
fn next(said: &str) -> Vec<(&str, &str)> {
    let lines = said.split_once("\nnext ").map_or("", |(_, next)| next).lines();
    lines
        .filter_map(|line| line.split_once(" # "))
        .map(|(command, purpose)| (command.trim(), purpose))
        .collect()
}

/// Such a run did not pass, so that no larger suite comes next.
#[test]
fn a_run_at_a_limit_names_the_command_that_goes_further() {
    let within = |more: &[&str]| {
        let run = |time: &u32| {
            text(&[&["run", "--suite", "exhaustive", "--budget", &format!("{time}s")], more].concat())
        };
        // A slow machine needs more time for the first case.
        let times = std::iter::successors(Some(1), |time| Some(time * 2));
        times.map(|time| (time, run(&time))).find(|(_, said)| !said.starts_with("exit 2\n")).expect("in time")
    };
    let (time, unrecorded) = within(&[]);
    let longer = format!("dmlcts run --suite exhaustive --budget {}s", 2 * time);
    assert_eq!(next(&unrecorded), [(longer.as_str(), "the same again, with twice the time")], "{unrecorded}");

    let file = Scratch::nothing("next-limits.jsonl");
    let recorded = ["--results", file.path(), "--overwrite"];
    let (time, said) = within(&recorded);
    let resume = format!("dmlcts run --suite exhaustive --resume {} --budget {time}s", file.path());
    assert_eq!(next(&said), [(resume.as_str(), "go on with this run")]);

    let words =
        ["run", "--backend", "mutant:slice1-negative-from-offset", "--explain", "0", "--max-failures", "3"];
    let failed = text(&[&words[..], &recorded].concat());
    let run = "dmlcts run --backend mutant:slice1-negative-from-offset --suite smoke";
    let resume = format!("{run} --resume {} --max-failures 3", file.path());
    assert_eq!(next(&failed)[0], (resume.as_str(), "go on with this run"), "{failed}");
    let resume = format!("{run} --resume {}", file.path());
    assert_eq!(next(&text(&["merge", file.path()]))[0], (resume.as_str(), "go on with this run"));
}

/// A resumed run counts its own time and failures, and has the order of its start.
#[test]
fn a_resumed_run_has_its_own_limits() {
    let file = Scratch::nothing("next-resumed.jsonl");
    let mutant = "mutant:slice1-negative-from-offset";
    let run = |more: &[&str]| text(&[&["run", "--backend", mutant, "--explain", "0"], more].concat());
    let limits = ["--budget", "10m", "--max-failures", "3"];
    let held = |said: &str| said.lines().find_map(|line| Some(line.strip_prefix("held ")?.trim().to_owned()));
    let first = run(&[&limits[..], &["--results", file.path()]].concat());
    assert!(held(&first).is_some_and(|held| held.ends_with(", 3 failed")), "{first}");
    let refused = run(&["--resume", file.path()]);
    let help = format!(
        "help: limits such as --timeout are not recorded; go on with: dmlcts run --backend {mutant} --suite smoke --order \
         obligations --resume {}\n",
        file.path()
    );
    assert!(refused.starts_with("exit 2\n") && refused.ends_with(&help), "{refused}");
    let again = run(&[&limits[..], &["--resume", file.path()]].concat());
    assert!(held(&again).is_some_and(|held| held.ends_with(", 6 failed")), "{again}");
}

#[test]
fn crashes_that_are_known_are_named_and_others_are_not_beside_no_failure() {
    let file = Scratch::nothing("next-known.jsonl");
    let list = Findings::new("reference", &[("ends", finding("ends", None, "crashed", ONE))]);
    let known = said("crashes", &file, &["--findings", list.path()]);
    assert!(known.starts_with("exit 0\n"), "{known}");
    let line = "\nknown     1 case failed as known, of which 1 crashed the backend: ends 1 (bug); 1 bug has no `link` to where it is reported\n";
    assert!(known.contains(line), "{known}");
    let news = said("crashes", &file, &[]);
    assert!(news.contains("\nheld      1 passed, 1 crashed\n"), "{news}");
}

#[test]
fn a_first_look_at_a_profile_is_followed_by_the_whole_of_it() {
    let said = stdout(&["run", "--profile", "directml-6.4-smoke"]);
    let next = said.split_once("\nnext      ").expect("it says what to do").1;
    assert!(next.starts_with("dmlcts run --profile directml-6.4 "), "{said}");
}

/// The order is that of the guide's page on backends.
#[test]
fn a_run_that_passes_names_the_run_that_asks_for_more() {
    let next = |options: &[&str]| {
        let said = stdout(&[&["run", "--limit", "60", "--jobs", "1"], options].concat());
        let (_, next) = said.split_once("\nnext      ").expect("it says what to do");
        let commands: Vec<String> = next
            .lines()
            .filter_map(|line| Some(line.split_once(" # ")?.0.trim().to_owned()))
            .filter(|command| ["dmlcts run", "dmlcts fuzz"].iter().any(|start| command.starts_with(start)))
            .collect();
        commands.join("\n")
    };
    assert_eq!(next(&["--strategy", "documented"]), "dmlcts run --where valid");
    assert_eq!(next(&["--where", "valid"]), "dmlcts run");
    assert_eq!(next(&[]), "dmlcts run --suite ci");
    assert_eq!(
        next(&["--suite", "ci", "--in-process"]),
        "dmlcts run --suite exhaustive --in-process\n\
         dmlcts fuzz --time 10m --findings findings/mine --name mine --in-process\n\
         dmlcts run --profile directml-6.4 --in-process"
    );
}

#[test]
fn each_case_that_failed_is_listed_as_a_command() {
    let file = Scratch::nothing("next-failures.jsonl");
    let backend = broken("flips", ONE);
    let recording = ["run", "--quiet", "--memory", "1MiB", "--results", file.path(), "--backend", &backend];
    assert_eq!(run(&[&recording[..], &[ONE, OTHER]].concat()).status.code(), Some(1));
    let listed = stdout(&["failures", file.path()]);
    let quoted = format!("'{}'", backend.replace('\'', r"'\''"));
    let (command, how) = listed.rsplit_once(" # ").expect("it says how the case failed");
    assert_eq!(command, format!("dmlcts run --backend {quoted} --memory 1MiB '{ONE}'"));
    assert!(how.starts_with("'wrong-value, finding slice-wrong-value-"), "{how}");
    // A run without a failure gets one sentence.
    let right = ["run", "--quiet", "--overwrite", "--results", file.path(), ONE, OTHER];
    assert_eq!(run(&right).status.code(), Some(0));
    assert_eq!(text(&["failures", file.path()]), "exit 0\n--- stderr\nnone of 2 cases failed\n");
    // `--known` also lists known failures.
    let list = Findings::new("reference", &[("bit", finding("bit", None, "wrong-value", ONE))]);
    let known = ["--overwrite", "--findings", list.path(), ONE, OTHER];
    assert_eq!(run(&[&recording[..], &known].concat()).status.code(), Some(0));
    assert!(stdout(&["failures", file.path()]).is_empty());
    let listed = stdout(&["failures", "--known", file.path()]);
    assert!(listed.ends_with(&format!("'{ONE}' # 'wrong-value, known as bit'\n")), "{listed}");
}

#[cfg(unix)]
#[test]
fn a_listed_line_can_be_pasted_into_a_shell() {
    let file = Scratch::nothing("next-pasted.jsonl");
    let backend = broken("flips", ONE);
    let recording = ["run", "--quiet", "--results", file.path(), "--backend", &backend, ONE, OTHER];
    assert_eq!(run(&recording).status.code(), Some(1));
    let program = env!("CARGO_BIN_EXE_dmlcts");
    let script = stdout(&["failures", file.path()]).replacen("dmlcts", &format!("'{program}'"), 1);
    let output = std::process::Command::new("sh").args(["-c", &script]).output().expect("sh starts");
    assert_eq!(output.status.code(), Some(1), "{script}");
    assert!(String::from_utf8_lossy(&output.stdout).contains(ONE), "{script}");
}

#[test]
fn a_failure_is_followed_by_the_command_for_a_program_without_dmlcts() {
    let file = Scratch::nothing("next-export.jsonl");
    let failed = said("flips", &file, &[]);
    let line = format!("\n          dmlcts export --as c '{ONE}' # a program without dmlcts\n");
    assert!(failed.contains(&line), "{failed}");
    assert!(stdout(&["export", "--as", "c", ONE]).contains(ONE), "the command works");
    // An open case has no single output.
    let open = "SLICE FLOAT32 in=4 out=2 Offsets=1 Sizes=2 Strides=0 fill=iota";
    let failed = text(&["run", "--backend", &broken("crashes", open), open]);
    assert!(failed.starts_with("exit 1\n") && failed.contains("dmlcts explain"), "{failed}");
    assert!(!failed.contains("dmlcts export"), "{failed}");
}
