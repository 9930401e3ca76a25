//! Compares the profiles with the present specs, and CHANGELOG.md with the changes of specs. After a change
//! of a spec, a suite or the generator, the tests name the outdated profiles, the operators with changed
//! expectations, and the remedy.
//!
//! `DMLCTS_BLESS=1 cargo test -p dmlcts-tests profiles` renews the files of `cases/profiles/`, and
//! raises the version of each profile with changed cases or expectations.

use std::{
    collections::BTreeSet,
    env, fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    thread,
};

use dmlcts_generate::Suite;
use dmlcts_profiles::{Profile, PromisedForm, promised};
use dmlcts_runner::SuiteSource;
use dmlcts_spec::{Library, Operator, read_file};

const REMEDY: &str = "\
DMLCTS_BLESS=1 cargo test -p dmlcts-tests profiles renews the profiles, and raises the versions of those with \
changes. Say under \"### Spec\" in CHANGELOG.md what changed, as the test below this one asks.";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the workspace").to_owned()
}

/// The profiles in the folder; those in the program may be older.
fn profiles() -> Vec<Profile> {
    let folder = fs::read_dir(root().join("cases/profiles")).expect("the folder is there");
    let mut paths: Vec<PathBuf> = folder.map(|entry| entry.expect("it can be read").path()).collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let source = read_file(path.to_str().expect("a plain name")).expect("a text");
        Profile::parse(&source).unwrap_or_else(|error| panic!("{error}"))
    };
    paths.iter().map(read).collect()
}

/// The present cases and expectations of a profile's suite.
fn present(profile: &Profile) -> Vec<PromisedForm> {
    let form = profile.form();
    let suite = Suite::load(&form.suite).unwrap_or_else(|error| panic!("{error}"));
    let expansion = suite.expand(Library::embedded(), form.seed).unwrap_or_else(|error| panic!("{error}"));
    let source = SuiteSource::new(expansion, &[]);
    promised(Library::embedded(), &source, profile.level(), form.memory).expect("the suite of a profile ends")
}

/// The changes of a profile's operators, one sentence each.
fn changes(before: &[PromisedForm], now: &[PromisedForm]) -> Vec<String> {
    let of = |all: &[PromisedForm], name: &str| all.iter().find(|one| one.operator == name).cloned();
    let mut names: Vec<&str> = before.iter().chain(now).map(|promised| promised.operator.as_str()).collect();
    names.dedup();
    let names: BTreeSet<&str> = names.into_iter().collect();
    let change = |name: &str| match (of(before, name), of(now, name)) {
        (None, Some(now)) => Some(format!("{name}: new; its cases: {}", now.cases)),
        (Some(before), None) => Some(format!("{name}: gone; its cases were: {}", before.cases)),
        (Some(before), Some(now)) if before.lines != now.lines => {
            Some(format!("{name}: other cases: {} before, {} now", before.cases, now.cases))
        }
        (Some(before), Some(now)) if before != now => {
            Some(format!("{name}: the same {} cases, of which something else is expected", now.cases))
        }
        _ => None,
    };
    names.into_iter().filter_map(change).collect()
}

/// The text of a profile with its generated part renewed. The part that people write stays.
fn renewed(text: &str, version: u32, spec: &str, operators: &[PromisedForm]) -> String {
    let by_people = text.lines().take_while(|line| !line.starts_with("spec: "));
    let mut renewed = String::new();
    for line in by_people {
        let line =
            if line.starts_with("version: ") { format!("version: {version}") } else { line.to_owned() };
        renewed.extend([line.as_str(), "\n"]);
    }
    renewed.extend(["spec: \"", spec, "\"\noperators:\n"]);
    for PromisedForm { operator, cases, created_only, lines, expectations } in operators {
        let digests = [("lines", lines), ("expectations", expectations)];
        let digests = digests.map(|(key, digest)| format!("    {key}: \"{digest}\"\n")).concat();
        let counts = format!("    cases: {cases}\n    created_only: {created_only}\n");
        renewed.extend(["  - operator: ", operator, "\n", &counts, &digests]);
    }
    renewed
}

/// The mistake in a profile, `None` if there is none. When blessing, the change that was made.
fn look_at(profile: &Profile) -> Option<String> {
    let (form, library) = (profile.form(), Library::embedded());
    let now = present(profile);
    let changes = changes(&form.operators, &now);
    if changes.is_empty() && form.spec == library.hash() {
        return None;
    }
    let name = profile.name();
    let mut said = format!(
        "`{name}` version {} is of the spec {:.12}, now {}:\n",
        form.version,
        form.spec,
        library.short_hash()
    );
    for change in &changes {
        said.extend(["  ", change, "\n"]);
    }
    if changes.is_empty() {
        said.push_str("  no expectation changes\n");
    }
    if env::var_os("DMLCTS_BLESS").is_some() {
        // A new profile has no earlier version to differ from.
        let is_other = !changes.is_empty() && !form.operators.is_empty();
        let version = form.version + u32::from(is_other);
        let text = renewed(&profile.source().text, version, library.hash(), &now);
        fs::write(&profile.source().name, text).expect("the profile can be written");
        said.extend(["  renewed as version ", &version.to_string(), "\n"]);
    }
    Some(said)
}

#[test]
fn every_profile_promises_what_the_specs_and_suites_say_now() {
    let profiles = profiles();
    let found: Vec<String> = thread::scope(|scope| {
        let looking: Vec<_> = profiles.iter().map(|profile| scope.spawn(|| look_at(profile))).collect();
        looking.into_iter().filter_map(|looking| looking.join().expect("it looks at every case")).collect()
    });
    if env::var_os("DMLCTS_BLESS").is_some() {
        // Not captured, so that the changes for the changelog can be read when blessing.
        let _ = io::stderr().write_all(found.concat().as_bytes());
    } else {
        assert!(found.is_empty(), "\n{}{REMEDY}", found.concat());
    }
}

#[test]
fn every_profile_of_the_folder_is_in_the_program_under_its_name() {
    let embedded: BTreeSet<String> = Profile::names().map(str::to_owned).collect();
    let folder: BTreeSet<String> = profiles().iter().map(|profile| profile.name().to_owned()).collect();
    assert_eq!(embedded, folder);
    for profile in profiles() {
        let text = &profile.source().text;
        let file = format!("cases/profiles/{}.yaml", profile.name());
        assert!(profile.source().name.replace('\\', "/").ends_with(&file), "{}", profile.source().name);
        let modeline = "# yaml-language-server: $schema=../schema/profile.json";
        assert_eq!(text.lines().next(), Some(modeline), "{file}");
        // Blessing writes the text that the test expects.
        let form = profile.form();
        assert_eq!(renewed(text, form.version, &form.spec, &form.operators), *text, "{file}");
    }
}

/// The sections of a changelog with this title, joined.
fn sections(changelog: &str, title: &str) -> String {
    let mut is_inside = false;
    let mut found = String::new();
    for line in changelog.lines() {
        if line.starts_with('#') {
            is_inside = line == title;
        } else if is_inside {
            found.extend([line, "\n"]);
        }
    }
    found
}

/// The missing entries under "### Spec": the present spec with the operators whose expectations changed, and
/// the present version of each profile.
fn missing(changelog: &str, spec: &str, profiles: &[(String, u32)], operators: &[&str]) -> Vec<String> {
    let section = sections(changelog, "### Spec");
    let mut missing = Vec::new();
    let mut items = section.split("\n- ").map(|item| item.trim_start_matches("- "));
    match items.find(|item| item.starts_with(&format!("`{spec}`"))) {
        None => missing.push(format!(
            "a line \"- `{spec}`: …\" with the operators whose expectations changed with that spec and how, or with \
             the words \"no expectation changes\""
        )),
        Some(item) => {
            let says = item.contains("no expectation changes")
                || operators.iter().any(|operator| item.contains(operator));
            if !says {
                missing.push(format!(
                    "in the line of `{spec}`, the operators whose expectations changed, or the words \"no expectation \
                     changes\""
                ));
            }
        }
    }
    for (name, version) in profiles {
        let named = format!("`{name}` version {version}");
        if !section.contains(&named) {
            missing.push(format!("{named}, with what has changed since the version before"));
        }
    }
    missing
}

#[test]
fn the_changelog_says_what_changed_with_the_spec() {
    let changelog = fs::read_to_string(root().join("CHANGELOG.md")).expect("it is there");
    let versions: Vec<(String, u32)> =
        profiles().iter().map(|profile| (profile.name().to_owned(), profile.version())).collect();
    let library = Library::embedded();
    let operators: Vec<&str> = library.operators().iter().map(Operator::name).collect();
    let missing = missing(&changelog, library.short_hash(), &versions, &operators);
    assert!(missing.is_empty(), "CHANGELOG.md lacks under \"### Spec\":\n  {}", missing.join("\n  "));
}

#[test]
fn a_missing_changelog_entry_is_named() {
    let lacks =
        |changelog: &str| missing(changelog, "0123456789ab", &[("mine".to_owned(), 2)], &["SLICE"]).len();
    assert_eq!(lacks("### Changed\n\n- `0123456789ab`: SLICE, `mine` version 2\n"), 2, "it stands elsewhere");
    assert_eq!(lacks("### Spec\n\n- `0123456789ab`: better words\n- `ffff`: SLICE, `mine` version 2\n"), 1);
    assert_eq!(lacks("### Spec\n\n- `0123456789ab`: SLICE refuses more\n- `ffff`: `mine` version 1\n"), 1);
    assert_eq!(lacks("### Spec\n\n- `0123456789ab`: no expectation changes\n- `f`: `mine` version 2\n"), 0);
}

#[test]
fn words_are_told_from_expectations_and_expectations_from_cases() {
    let promised = |operator: &str, cases: u64, lines: &str, expectations: &str| PromisedForm {
        operator: operator.to_owned(),
        cases,
        created_only: 0,
        lines: lines.to_owned(),
        expectations: expectations.to_owned(),
    };
    let before = [promised("A", 7, "1", "1"), promised("B", 7, "1", "1"), promised("C", 7, "1", "1")];
    assert!(changes(&before, &before).is_empty());
    let now = [promised("A", 7, "1", "2"), promised("B", 8, "2", "2"), promised("D", 1, "1", "1")];
    assert_eq!(
        changes(&before, &now),
        [
            "A: the same 7 cases, of which something else is expected",
            "B: other cases: 7 before, 8 now",
            "C: gone; its cases were: 7",
            "D: new; its cases: 1",
        ]
    );
}
