//! `-V` and `--version`, and the source of the build script's commit.

#[expect(dead_code, reason = "the build script runs its other functions")]
#[path = "../../build.rs"]
mod build;

use std::process::Command;

use crate::common::stdout;

#[test]
fn the_short_version_is_one_line() {
    assert_eq!(stdout(&["-V"]), concat!("dmlcts ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn the_long_version_names_commit_spec_and_backends() {
    let said = stdout(&["--version"]);
    let lines: Vec<&str> = said.lines().collect();
    let [program, commit, spec, backends] = lines[..] else { panic!("{said}") };
    assert_eq!(program, concat!("dmlcts ", env!("CARGO_PKG_VERSION")));
    let hash = dmlcts_spec::Library::embedded().short_hash();
    assert_eq!(spec, format!("spec: {hash} (feature level 6.4)"));
    assert!(backends.starts_with("backends: reference, "), "{backends}");
    let commit = commit.strip_prefix("commit: ").unwrap_or_else(|| panic!("{said}"));
    match checked_out() {
        // Files may or may not differ from the commit.
        Some((head, date)) => {
            let named = [format!("{head} ({date})"), format!("{head}-dirty ({date})")];
            assert!(named.iter().any(|named| named == commit), "{commit} is not one of {named:?}");
        }
        None => assert!(commit == "unknown" || !commit.contains('('), "no date is known: {commit}"),
    }
}

/// The first digits of the checked-out commit in Git, and its date.
fn checked_out() -> Option<(String, String)> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let commit = git(&["rev-parse", "HEAD"])
        .filter(|_| git(&["rev-parse", "--show-prefix"]).is_some_and(|folder| folder == "crates/cli/"))?;
    Some((commit[..12].to_owned(), git(&["show", "--no-patch", "--date=short", "--format=%cd", "HEAD"])?))
}

#[test]
fn a_packaged_crate_has_its_commit_in_a_file() {
    let clean =
        r#"{"git": {"sha1": "0123456789abcdef0123456789abcdef01234567"}, "path_in_vcs": "crates/cli"}"#;
    assert_eq!(build::packaged_commit(clean).as_deref(), Some("0123456789ab"));
    let dirty = "{\n  \"git\": {\n    \"sha1\": \"0123456789abcdef0123456789abcdef01234567\",\n    \"dirty\": true\n  }\n}";
    assert_eq!(build::packaged_commit(dirty).as_deref(), Some("0123456789ab-dirty"));
    for other in
        ["", "{}", r#"{"git": {"sha1": "0123"}}"#, r#"{"git": {"sha1": "not a commit!"}}"#, "\"sha1\""]
    {
        assert_eq!(build::packaged_commit(other), None, "{other}");
    }
}
