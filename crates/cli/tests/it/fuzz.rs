//! Campaigns: what they find and keep, and that they go on.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    sync::LazyLock,
    thread,
    time::Duration,
};

use crate::common::{dmlcts, faulty, text};

/// Two faults that do not mask each other.
const TWO: &str = "mutant:slice1-negative-from-offset+overlap-not-checked";
/// One of them.
const ONE: &str = "mutant:slice1-negative-from-offset";

fn fuzz(folder: &Path, more: &[&str]) -> String {
    let folder = folder.display().to_string();
    let name = folder.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    text(&[&["fuzz", "--findings", &folder, "--name", &name, "--in-process"], more].concat())
}

/// The files of findings by name.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let all = fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("an entry").path());
    let findings = all.filter(|path| path.extension().is_some_and(|end| end == "yaml"));
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    findings.map(|path| (name(&path), fs::read_to_string(&path).expect("it can be read"))).collect()
}

/// Runs a campaign of 5,000 cases with both faults in this folder, and returns its output. The program runs
/// once for all tests.
fn campaign(folder: &Path) -> String {
    static CAMPAIGN: LazyLock<(String, BTreeMap<PathBuf, Vec<u8>>)> = LazyLock::new(|| {
        let made = tempfile::tempdir().expect("a temporary folder");
        let folder = made.path().join("two");
        let said = fuzz(&folder, &["--backend", TWO, "--limit", "5000"]);
        let of = |name: &str| fs::read_dir(folder.join(name)).expect("it is there");
        let paths = of("").chain(of(".campaign")).map(|entry| entry.expect("an entry").path());
        let file = |path: PathBuf| {
            let name = path.strip_prefix(&folder).expect("it is in the folder").to_owned();
            (name, fs::read(path).expect("it can be read"))
        };
        (said, paths.filter(|path| path.is_file()).map(file).collect())
    });
    fs::create_dir_all(folder.join(".campaign")).expect("the temporary folder takes a folder");
    for (name, bytes) in &CAMPAIGN.1 {
        fs::write(folder.join(name), bytes).expect("it can be written");
    }
    CAMPAIGN.0.clone()
}

#[test]
fn a_campaign_keeps_each_finding_and_goes_on() {
    let made = tempfile::tempdir().expect("a temporary folder");
    let folder = made.path().join("two");
    let first = campaign(&folder);
    assert!(first.starts_with("exit 1\n"), "{first}");
    let found = files(&folder);
    let names: Vec<&String> = found.keys().filter(|name| name.starts_with("slice1-wrong-value-")).collect();
    let is_explained = |text: &str| {
        let smallest = "smallest: SLICE1 FLOAT32 in=2 out=1 InputWindowOffsets=0 InputWindowSizes=2 InputWindowStrides=-1";
        text.contains(smallest) && text.contains("where: operator == SLICE1 and any axis")
    };
    assert!(names.iter().any(|name| is_explained(&found[*name])), "{found:#?}");
    assert!(found.values().all(|text| text.contains("status: new")), "{found:#?}");
    // Outputs that overlap themselves are found within 5,000 cases.
    assert!(found.values().any(|text| text.contains("where: violation == output_disjoint\n")), "{found:#?}");
    let second = fuzz(&folder, &["--backend", TWO, "--limit", "1000"]);
    let in_all = |text: &str| {
        let (before, _) = text.split_once(" in all").expect("the cases are counted");
        before.rsplit(' ').next().expect("a number").to_owned()
    };
    assert!(second.contains(&format!("the campaign goes on after {} cases", in_all(&first))), "{second}");
    assert_ne!(in_all(&first), in_all(&second));
    let after = files(&folder);
    assert!(found.keys().all(|name| after.contains_key(name)), "{second}");
    assert!(second.starts_with("exit 1\n"), "what is new is unexpected until it is known: {second}");
    assert_eq!(fs::read_to_string(folder.join(".campaign/.gitignore")).expect("it is there"), "*\n");
}

#[test]
fn cases_and_seed_decide_what_is_found() {
    let made = tempfile::tempdir().expect("a temporary folder");
    let [one, three] = ["one", "three"].map(|name| made.path().join(name));
    fuzz(&one, &["--backend", ONE, "--limit", "400", "--jobs", "1"]);
    fuzz(&three, &["--backend", ONE, "--limit", "400", "--jobs", "3"]);
    assert!(!files(&one).is_empty());
    assert_eq!(files(&one), files(&three));
}

#[test]
fn a_backend_without_faults_has_no_finding() {
    let made = tempfile::tempdir().expect("a temporary folder");
    let folder = made.path().join("reference");
    let said = fuzz(&folder, &["--limit", "5000"]);
    assert!(said.starts_with("exit 0\n") && said.contains("no finding fails"), "{said}");
    assert!(files(&folder).is_empty());
}

/// What fails by chance has one file for each operator and class, and no more however often it fails.
#[test]
fn failures_by_chance_are_flaky_findings() {
    let made = tempfile::tempdir().expect("a temporary folder");
    let folder = made.path().join("wrong");
    let path = folder.display().to_string();
    let backend = faulty("spoiled by-chance");
    let words = ["fuzz", "--findings", &path, "--backend", &backend, "--limit", "20000", "--jobs", "1"];
    let said = text(&words);
    assert!(said.starts_with("exit 1\n") && !said.contains("; 0 further flakes"), "{said}");
    let found = files(&folder);
    assert!(!found.is_empty() && found.values().all(|text| text.contains("flaky: true\n")), "{found:#?}");
    let kinds: BTreeSet<&str> =
        found.keys().map(|name| name.rsplit_once('-').map_or("", |(kind, _)| kind)).collect();
    assert_eq!(kinds.len(), found.len(), "{kinds:?}");
}

/// It keeps its predicate and the words of people, and no other file changes.
#[test]
fn a_failure_that_was_fixed_has_regressed() {
    let made = tempfile::tempdir().expect("a temporary folder");
    let folder = made.path().join("two");
    campaign(&folder);
    let found = files(&folder);
    let wrong = found.iter().find(|(_, text)| text.contains("class: [wrong-value"));
    let wrong = wrong.expect("one fault gives wrong values").0.clone();
    for (name, text) in &found {
        let status = if *name == wrong { "status: fixed" } else { "status: known" };
        let text = text.replace("status: new", status).replace("Not examined yet.", "Ours.");
        fs::write(folder.join(name), text).expect("it can be written");
    }
    let before = files(&folder);
    fs::remove_dir_all(folder.join(".campaign")).expect("the position is there");
    let said = fuzz(&folder, &["--backend", TWO, "--limit", "2000"]);
    assert!(said.starts_with("exit 1\n") && said.contains("regressed "), "{said}");
    let mut after = files(&folder);
    let again = after.insert(wrong.clone(), before[&wrong].clone()).expect("it is still there");
    assert_eq!(again, before[&wrong].replace("status: fixed", "status: new"));
    assert_eq!(after, before, "{said}");
}

/// A study that ended early is repeated by the next command, though its finding has a predicate already.
#[test]
fn an_unfinished_study_is_repeated() {
    let made = tempfile::tempdir().expect("a temporary folder");
    let folder = made.path().join("one");
    fuzz(&folder, &["--backend", ONE, "--limit", "400"]);
    let path = folder.join(".campaign/seed-0.json");
    let text = fs::read_to_string(&path).expect("the position is there");
    let mut position: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let found = files(&folder);
    let ids = found.keys().map(|name| name.trim_end_matches(".yaml"));
    position["unfinished"] = ids.collect();
    position["next"] = 0.into();
    let studied = position["studied"].clone();
    fs::write(&path, position.to_string()).expect("it can be written");
    let said = fuzz(&folder, &["--backend", ONE, "--limit", "400"]);
    let text = fs::read_to_string(&path).expect("the position is there");
    let position: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(position["unfinished"], serde_json::json!([]), "{said}");
    assert!(position["studied"].as_u64() >= studied.as_u64());
    assert_eq!(files(&folder).keys().collect::<Vec<_>>(), found.keys().collect::<Vec<_>>(), "{said}");
}

/// Failures that no predicate separates have one list for each operator and class, in all laps.
#[test]
fn there_is_one_list_for_each_cause() {
    let made = tempfile::tempdir().expect("a temporary folder");
    let folder = made.path().join("wrong");
    let path = folder.display().to_string();
    let suite = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suites/thousand.yaml");
    let backend = faulty("spoiled scattered");
    let words = ["fuzz", "--findings", &path, "--backend", &backend, "--suite", suite, "--limit", "3500"];
    let said = text(&words);
    let found = files(&folder);
    let lists: Vec<&str> = found
        .iter()
        .filter(|(_, text)| !text.contains("where: "))
        .map(|(name, _)| name.rsplit_once('-').map_or("", |(kind, _)| kind))
        .collect();
    let kinds: BTreeSet<&str> = lists.iter().copied().collect();
    assert!(!lists.is_empty() && kinds.len() == lists.len(), "{said}{found:#?}");
}

#[test]
fn one_campaign_a_seed_and_one_folder_a_backend() {
    let made = tempfile::tempdir().expect("a temporary folder");
    let folder = made.path().join("reference");
    let path = folder.display().to_string();
    let mut first = dmlcts();
    first.args(["fuzz", "--findings", &path]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut first = first.spawn().expect("it starts");
    while !folder.join(".campaign/seed-0.json").exists() {
        assert!(first.try_wait().expect("it can be waited for").is_none(), "it goes on until it is ended");
        std::thread::yield_now();
    }
    let second = text(&["fuzz", "--findings", &path, "--limit", "10"]);
    let third = text(&["fuzz", "--findings", &path, "--limit", "10", "--seed", "1"]);
    // A campaign that is killed has a position.
    first.kill().and_then(|()| first.wait()).expect("it can be ended");
    assert!(second.starts_with("exit 2\n") && second.contains("a campaign with seed 0 runs on"), "{second}");
    assert!(third.starts_with("exit 0\n"), "{third}");
    let after = text(&["fuzz", "--findings", &path, "--limit", "10"]);
    assert!(after.starts_with("exit 0\n") && after.contains("goes on after"), "{after}");
    let other = text(&["fuzz", "--findings", &made.path().join("other").display().to_string()]);
    assert!(
        other.starts_with("exit 2\n")
            && other.contains("the folder of the backend `reference` is called `reference`"),
        "{other}"
    );
    assert!(!made.path().join("other").exists());
}

#[test]
fn a_campaign_without_a_case_is_an_error() {
    let made = tempfile::tempdir().expect("a temporary folder");
    let suite = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suites/thousand.yaml");
    let said = fuzz(&made.path().join("none"), &["--suite", suite, "--where", "rank > 100"]);
    assert!(said.starts_with("exit 2\n") && said.contains("none of the"), "{said}");
}

/// The case of the first lap from which the next command goes on.
fn next(folder: &Path) -> u64 {
    let text = fs::read_to_string(folder.join(".campaign/seed-0.json")).unwrap_or_else(|_| "{}".to_owned());
    let position: serde_json::Value = serde_json::from_str(&text).expect("the file is whole");
    position["next"].as_u64().unwrap_or_default()
}

/// A campaign that is killed again and again has the findings of an undisturbed one.
#[test]
#[ignore = "it takes long: .ci/nightly runs it"]
fn a_campaign_that_is_killed_loses_and_doubles_nothing() {
    const KILLS: u64 = 100;
    let made = tempfile::tempdir().expect("a temporary folder");
    let [whole, killed] = ["whole", "killed"].map(|name| made.path().join(name));
    fuzz(&whole, &["--backend", TWO, "--limit", "6000"]);
    let (expected, end) = (files(&whole), next(&whole));
    fs::create_dir(&killed).expect("the folder takes it");
    let path = killed.display().to_string();
    let mut moment = u64::from(std::process::id());
    for kill in 0..=KILLS {
        let mut command = dmlcts();
        command.args(["fuzz", "--findings", &path, "--name", "killed", "--in-process", "--backend", TWO]);
        let mut child =
            command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
        moment = moment.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        thread::sleep(Duration::from_millis(20 + (moment >> 33) % 1_500));
        // The last one comes to the end.
        while kill == KILLS && next(&killed) < end {
            assert!(child.try_wait().expect("it is ours").is_none(), "it goes on until it is killed");
            thread::sleep(Duration::from_millis(20));
        }
        child.kill().and_then(|()| child.wait()).expect("it can be ended");
        let listed = text(&["findings", &path]);
        assert!(listed.starts_with("exit 0\n"), "after {kill} kills: {listed}");
    }
    let found = files(&killed);
    for (name, text) in &expected {
        assert_eq!(found.get(name), Some(text), "{name}");
    }
    let smallest =
        |text: &String| text.lines().find(|line| line.starts_with("smallest: ")).map(str::to_owned);
    let cases: BTreeSet<_> = found.values().map(smallest).collect();
    assert_eq!(cases.len(), found.len(), "no finding is there twice: {found:#?}");
}
