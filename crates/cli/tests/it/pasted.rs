//! The CI examples of the README and the guide, as a reader pastes them: their commands work, from the parts
//! of a run to the files that are kept. The programs that they install are installed already, and
//! `venv/bin/python3 mine.py` is this program as a backend. `action.rs` tests how the steps of this
//! repository's action run.

#![cfg(unix)]

use std::fs;

use crate::common::pages::Page;
use crate::common::{finding, job::Job};
use serde_yaml::Value;

/// The beginnings of the commands that install something.
const INSTALLS: [&str; 4] =
    ["venv/bin/pip install ", "python3 -m venv ", "cargo install ", "apt-get update "];
/// The name of this repository as an action, before its version.
const ACTION: &str = "example/dmlcts@";

/// Runs the commands of this program, which must find nothing unexpected; the others install something.
fn run_all(job: &Job, commands: &[String]) {
    for command in commands {
        if INSTALLS.iter().any(|install| command.starts_with(install)) {
            continue;
        }
        // GitLab's job has the program in a folder of its own.
        let command = &command.replace(".dmlcts/bin/", "");
        assert!(
            command.starts_with("dmlcts ") || command.contains("/.ci/action"),
            "what is `{command}` for?"
        );
        let output = job.run(command);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{command}: {said}");
    }
}

#[track_caller]
fn check_files(job: &Job, names: &[String]) {
    for name in names {
        let length = fs::metadata(job.0.join(name)).map(|file| file.len());
        assert!(length.is_ok_and(|length| length > 0), "{name} is kept, and nothing wrote it");
    }
}

/// The page's example that contains this text.
fn example(page: &str, what: &str) -> Value {
    let blocks = Page::read(page.to_owned()).blocks();
    let mut found = blocks.iter().filter(|block| block.language == "yaml" && block.text.contains(what));
    let block = found.next().expect("the page has it");
    assert!(found.next().is_none(), "two examples of {page} have `{what}`");
    serde_yaml::from_str(&block.text).expect("it is YAML")
}

/// The texts of a list.
fn texts(list: &Value) -> Vec<String> {
    let list = list.as_sequence().expect("a list");
    list.iter().map(|text| text.as_str().expect("a text").to_owned()).collect()
}

/// The steps of a GitHub job, with this value of `matrix.part`.
fn steps(job: &Value, part: &str) -> Vec<Value> {
    let text = serde_yaml::to_string(&job["steps"]).expect("it came from YAML");
    let text = text.replace("${{ matrix.part }}", part);
    assert!(!text.contains("${{"), "an expression that this test does not know: {text}");
    serde_yaml::from_str::<Value>(&text).expect("still YAML").as_sequence().expect("steps").clone()
}

/// The command that a step of this repository's action runs, with its inputs in variables as in `action.yml`;
/// without a backend it only installs.
fn action(step: &Value) -> Option<String> {
    let inputs =
        step["uses"].as_str().filter(|uses| uses.starts_with(ACTION)).and(step["with"].as_mapping())?;
    let variables = inputs.iter().map(|(name, value)| {
        let (name, value) = (name.as_str().expect("a name"), value.as_str().expect("a text"));
        assert!(!value.contains('\''), "this test does not quote {value}");
        format!("INPUT_{}='{value}' ", name.to_uppercase().replace('-', "_"))
    });
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    Some(format!("{}bash '{folder}/.ci/action' run", variables.collect::<String>()))
}

/// The commands of the steps, and the files that they keep.
fn commands_and_files(steps: &[Value]) -> (Vec<String>, Vec<String>) {
    let commands =
        steps.iter().filter_map(|step| step["run"].as_str().map(str::to_owned).or_else(|| action(step)));
    let uploads = steps.iter().filter(|step| {
        step["uses"].as_str().is_some_and(|action| action.starts_with("actions/upload-artifact@"))
    });
    let files = uploads.flat_map(|step| step["with"]["path"].as_str().expect("what to keep").lines());
    (commands.collect(), files.map(str::to_owned).collect())
}

#[test]
fn the_example_for_github_runs_in_parts_and_joins_them() {
    let (workflow, job) = (example("guide/src/gate.md", "runs-on: "), Job::new("github"));
    let (run, verdict) = (&workflow["jobs"]["run"], &workflow["jobs"]["verdict"]);
    assert_eq!(verdict["needs"].as_str(), Some("run"));
    // The parts start at the same time. Without a job before them, each part would build the missing program.
    assert_eq!(run["needs"].as_str(), Some("install"));
    let installs = workflow["jobs"]["install"]["steps"].as_sequence().expect("steps");
    assert_eq!(installs.len(), 1);
    assert!(installs[0]["uses"].as_str().is_some_and(|uses| uses.starts_with(ACTION)));
    assert!(installs[0]["with"].is_null(), "with a backend it runs a suite");
    let parts = run["strategy"]["matrix"]["part"].as_sequence().expect("a list");
    for part in parts {
        let part = part.as_u64().expect("a number").to_string();
        let (commands, files) = commands_and_files(&steps(run, &part));
        run_all(&job, &commands);
        assert_eq!(files.len(), 1);
        check_files(&job, &files);
    }
    let (commands, files) = commands_and_files(&steps(verdict, ""));
    run_all(&job, &commands);
    assert_eq!(files, ["results.jsonl", "junit.xml"]);
    check_files(&job, &files);
    check_files(&job, &["summary.md".to_owned()]);
    let part = job.0.join(format!("part-{}.jsonl", parts.len()));
    fs::remove_file(part).expect("each part has its own");
    let output = job.run(commands.last().expect("the merge"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(3) && said.contains(" is missing"), "{said}");
}

#[test]
fn the_shortest_example_for_github_is_a_gate() {
    let (workflow, job) = (example("README.md", "runs-on: "), Job::new("shortest"));
    let (commands, _) = commands_and_files(&steps(&workflow["jobs"]["conformance"], ""));
    run_all(&job, &commands);
    assert!(commands.iter().any(|command| command.contains("INPUT_SUITE='ci'")), "{commands:?}");
    check_files(&job, &["junit.xml", "../summary.md"].map(|name| format!("dmlcts/{name}")));
}

#[test]
fn the_example_for_gitlab_runs_on_one_machine() {
    let (pipeline, job) = (example("guide/src/gate.md", "image: rust"), Job::new("gitlab"));
    let conformance = &pipeline["conformance"];
    run_all(&job, &texts(&conformance["script"]));
    // Otherwise a failing job builds the program at every push.
    assert_eq!(conformance["cache"]["when"].as_str(), Some("always"));
    let kept = &conformance["artifacts"];
    check_files(&job, &texts(&kept["paths"]));
    check_files(&job, &[kept["reports"]["junit"].as_str().expect("a report").to_owned()]);
}

/// A job in a repository with a remote. Programs that ask a service only write their arguments to `calls`;
/// they fail if the arguments contain the text in `fails`. `jq` prints the text in `open`.
fn repository(name: &str) -> Job {
    let job = Job::new(name);
    let write = |name: &str, text: &str| fs::write(job.0.join(name), text).expect("the folder takes it");
    for program in ["gh", "curl", "apk"] {
        let call = format!("echo \"{program} $*\" >> calls");
        let script = format!("#!/bin/sh\n{call}\ncase \"$*\" in *\"$(cat fails)\"*) exit 1 ;; esac\n");
        write(&format!("dmlcts/bin/{program}"), &script);
    }
    write("dmlcts/bin/jq", "#!/bin/sh\ncat open\n");
    write("fails", "nothing");
    write("open", "");
    succeeds(
        &job,
        "chmod +x dmlcts/bin/*
        git init --quiet --bare remote.git
        git -c init.defaultBranch=main init --quiet
        git remote add origin remote.git
        git config url.remote.git.insteadOf https://snapshots:token@gitlab.example/group/project.git
        git -c user.name=me -c user.email=me@example.org commit --quiet --allow-empty --message first",
    );
    job
}

/// Runs a script, which must end with 0. Returns its standard output.
#[track_caller]
fn succeeds(job: &Job, script: &str) -> String {
    let output = job.run(&format!("export GIT_CONFIG_GLOBAL=/dev/null\n{script}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The calls of services since the last time.
fn calls(job: &Job) -> Vec<String> {
    let file = job.0.join("calls");
    let calls = fs::read_to_string(&file).unwrap_or_default();
    let _ = fs::remove_file(&file);
    calls.lines().map(str::to_owned).collect()
}

/// Checks that the branch on the remote has the accepted files, and nothing else.
#[track_caller]
fn check_branch(job: &Job) {
    let files = succeeds(job, "git -C remote.git ls-tree -r --name-only snapshots");
    assert_eq!(files, "snapshots/reference/examples.snap\nsnapshots/reference/smoke.snap\n");
    let page = fs::read_to_string(job.0.join("changes.md")).expect("the diff wrote it");
    assert!(page.starts_with("### reference/smoke: "), "{page}");
}

/// The commands of the only step of a GitHub job that contains this text.
fn step(job: &Value, what: &str) -> String {
    let steps = job["steps"].as_sequence().expect("steps");
    let mut found = steps.iter().filter_map(|step| step["run"].as_str()).filter(|run| run.contains(what));
    let run = found.next().expect("a step has it");
    assert!(found.next().is_none() && !run.contains("${{"), "{run}");
    run.to_owned()
}

#[test]
fn the_example_for_github_proposes_changed_snapshots() {
    let (workflow, job) = (example("guide/src/snapshots.md", "runs-on: "), repository("propose-github"));
    let (compare, propose) = (&workflow["jobs"]["compare"], &workflow["jobs"]["propose"]);
    // The job that runs the backend cannot write.
    assert_eq!(compare["permissions"], serde_yaml::from_str::<Value>("{contents: read}").expect("YAML"));
    let commands = step(compare, "dmlcts snapshot");
    succeeds(&job, &commands);
    assert_eq!(fs::read_to_string(job.0.join("output")).expect("it says so"), "changed=true\n");
    check_files(&job, &commands_and_files(compare["steps"].as_sequence().expect("steps")).1);
    let proposal = step(propose, "git push");
    let proposal = format!("export GITHUB_REF_NAME=main\n{proposal}");
    succeeds(&job, &proposal);
    check_branch(&job);
    let create = "gh pr create --base main --head snapshots --title Update snapshots --body-file changes.md";
    assert_eq!(calls(&job), ["gh auth setup-git", create]);
    fs::write(job.0.join("fails"), "pr create").expect("the folder takes it");
    succeeds(
        &job,
        "git switch --quiet main && git branch --quiet -D snapshots && mkdir snapshots && echo > snapshots/x",
    );
    succeeds(&job, &proposal);
    let edit = "gh pr edit snapshots --body-file changes.md";
    assert_eq!(calls(&job), ["gh auth setup-git", create, edit]);
}

#[test]
fn the_example_for_gitlab_proposes_changed_snapshots() {
    let (pipeline, job) = (example("guide/src/snapshots.md", "image: rust"), repository("propose-gitlab"));
    let (compare, propose) = (&pipeline["compare"], &pipeline["propose"]);
    run_all(&job, &texts(&compare["script"]));
    check_files(&job, &texts(&compare["artifacts"]["paths"]));
    let script = "
        export SNAPSHOTS_TOKEN=token CI_SERVER_HOST=gitlab.example CI_PROJECT_PATH=group/project
        export CI_API_V4_URL=https://gitlab.example/api/v4 CI_PROJECT_ID=7 CI_DEFAULT_BRANCH=main\n";
    let script = script.to_owned() + &texts(&propose["script"]).join("\n");
    succeeds(&job, &script);
    check_branch(&job);
    let curl = "curl --fail --silent --show-error --header PRIVATE-TOKEN: token";
    let requests = "https://gitlab.example/api/v4/projects/7/merge_requests";
    let installs = "apk add --no-cache curl git jq";
    let find = format!("{curl} {requests}?state=opened&source_branch=snapshots");
    let text = "--data-urlencode description@changes.md";
    let create =
        "--data source_branch=snapshots --data target_branch=main --data-urlencode title=Update snapshots";
    assert_eq!(calls(&job), [installs, &find, &format!("{curl} {create} {text} {requests}")]);
    // Nothing changed: no service is asked.
    succeeds(&job, &script);
    assert_eq!(calls(&job), [installs]);
    fs::write(job.0.join("open"), "3\n").expect("the folder takes it");
    succeeds(&job, &("git reset --quiet --soft HEAD~1\n".to_owned() + &script));
    assert_eq!(calls(&job), [installs, &find, &format!("{curl} --request PUT {text} {requests}/3")]);
}

/// The commands for the backend of these tests, with few cases.
fn short(commands: &str) -> String {
    let times = ["--time 60s", "--time 5h"];
    let own = commands.replace("findings/mine", "findings/reference");
    times.iter().fold(own, |commands, time| commands.replace(time, "--limit 500"))
}

/// A folder with a finding that was fixed.
fn with_a_finding(job: &Job) {
    let smallest = "SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota";
    let fixed = finding("fixed", Some("operator == SLICE"), "crashed", smallest);
    let folder = job.0.join("findings/reference");
    fs::create_dir_all(&folder).expect("the folder takes it");
    let fixed = fixed.replace("status: known", "status: fixed");
    fs::write(folder.join("fixed.yaml"), fixed).expect("the folder takes it");
}

#[test]
fn the_examples_for_pull_requests_replay_findings_and_look_for_new_ones() {
    let github = example("guide/src/campaigns.md", "on: pull_request");
    let gitlab = example("guide/src/campaigns.md", "image: rust");
    let (github, _) = commands_and_files(&steps(&github["jobs"]["findings"], ""));
    for (name, commands) in
        [("campaign-github", github), ("campaign-gitlab", texts(&gitlab["findings"]["script"]))]
    {
        let job = Job::new(name);
        with_a_finding(&job);
        let commands: Vec<String> = commands.iter().map(|command| short(command)).collect();
        assert!(commands.iter().any(|command| command.contains("fuzz")), "{commands:?}");
        run_all(&job, &commands);
    }
}

#[test]
fn the_example_for_github_proposes_findings() {
    let workflow = example("guide/src/campaigns.md", "cron: ");
    let (search, propose) = (&workflow["jobs"]["search"], &workflow["jobs"]["propose"]);
    assert_eq!(search["permissions"], serde_yaml::from_str::<Value>("{contents: read}").expect("YAML"));
    let job = repository("propose-findings");
    with_a_finding(&job);
    let (merge, fuzz) = (short(&step(search, "git fetch")), short(&step(search, "dmlcts fuzz")));
    // There is no proposal yet.
    succeeds(&job, &merge);
    succeeds(&job, &fuzz);
    assert_eq!(fs::read_to_string(job.0.join("output")).expect("it says so"), "changed=true\n");
    check_files(&job, &["findings.md".to_owned()]);
    let proposal = format!("export GITHUB_REF_NAME=main\n{}", step(propose, "git push"));
    succeeds(&job, &proposal);
    let files = succeeds(&job, "git -C remote.git ls-tree -r --name-only findings findings");
    assert_eq!(files, "findings/reference/fixed.yaml\n", "the position is no finding");
    // What nobody merged is in the next proposal.
    succeeds(
        &job,
        "git switch --quiet main && git branch --quiet -D findings && mkdir -p findings/reference",
    );
    succeeds(&job, &merge);
    check_files(&job, &["findings/reference/fixed.yaml".to_owned()]);
}

#[test]
fn examples_install_this_version() {
    let pinned = format!("v{}", env!("CARGO_PKG_VERSION"));
    let pages: String = crate::common::pages::for_users().into_iter().map(|page| page.text).collect();
    for start in [ACTION, "--tag ", "key: dmlcts-", "/dmlcts.git@", "$DMLCTS@"] {
        let mut found = pages.split(start).skip(1).peekable();
        assert!(found.peek().is_some(), "no example has `{start}`");
        for rest in found {
            let version = rest.split([' ', ',', '`', '#', '\n']).next().unwrap_or_default();
            assert_eq!(version, pinned, "behind `{start}`");
        }
    }
    for line in pages.lines().filter(|line| line.contains("cargo install ") && line.contains("--git")) {
        assert!(
            line.contains("--locked") && line.contains("--tag v"),
            "another day it installs another program: {line}"
        );
    }
}
