//! Gives the program the commit that it is built from, for `dmlcts --version`: from Git in a checkout, and
//! from Cargo's file in a packaged crate. Elsewhere the commit is unknown, and the build continues.

use std::{fs, path::Path, process::Command};

/// The file that Cargo puts into a packaged crate.
const PACKAGED: &str = ".cargo_vcs_info.json";
/// The number of digits of a commit that are shown.
const DIGITS: usize = 12;

fn main() {
    watch("build.rs");
    let packaged = fs::read_to_string(PACKAGED).ok();
    let commit = match &packaged {
        Some(text) => {
            watch(PACKAGED);
            packaged_commit(text)
        }
        None => commit_of_checkout(),
    };
    println!("cargo::rustc-env=DMLCTS_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
}

/// Reruns this script when the path changes. A missing path would rerun it on every build.
fn watch(path: impl AsRef<Path>) {
    if path.as_ref().exists() {
        println!("cargo::rerun-if-changed={}", path.as_ref().display());
    }
}

/// The commit in Cargo's file: `{"git": {"sha1": "647c7c…", "dirty": true}, …}`.
pub(crate) fn packaged_commit(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("\"sha1\"")?;
    let commit = rest.split('"').nth(1)?;
    let is_dirty = rest.split_whitespace().collect::<String>().contains("\"dirty\":true");
    marked(commit, is_dirty)
}

/// The checked-out commit, with its date.
fn commit_of_checkout() -> Option<String> {
    // A packaged crate may be in a repository that is not its own.
    if git(&["rev-parse", "--show-prefix"])? != "crates/cli/" {
        return None;
    }
    let head = git(&["log", "-1", "--date=short", "--format=%H %cd"])?;
    let (commit, date) = head.split_once(' ')?;
    // A commit moves the branch without a change of HEAD; the branch's log gets a line for each move. Without
    // a log, the branch has a file of its own or is in the file of packed branches.
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]);
    for file in ["HEAD", "logs/HEAD", branch.as_deref().unwrap_or_default(), "packed-refs"] {
        if let Some(path) = git(&["rev-parse", "--git-path", file]).filter(|_| !file.is_empty()) {
            watch(path);
        }
    }
    let sources = sources();
    sources.iter().for_each(watch);
    let mut changes = vec!["diff", "--quiet", "HEAD", "--"];
    changes.extend(sources.iter().map(String::as_str));
    Some(format!("{} ({date})", marked(commit, git(&changes).is_none())?))
}

/// Sources of the program. Only changes here trigger a rebuild.
fn sources() -> Vec<String> {
    let crates = fs::read_dir("..").into_iter().flatten().flatten();
    let mut crates: Vec<String> =
        crates.filter_map(|entry| Some(format!("../{}", entry.file_name().to_str()?))).collect();
    crates.sort();
    let of_crates = crates
        .iter()
        .flat_map(|path| ["src", "templates", "Cargo.toml"].map(|name| format!("{path}/{name}")));
    let of_all = ["Cargo.toml", "Cargo.lock", "spec", "cases/suites", "cases/profiles"];
    let all = of_crates.chain(of_all.map(|name| format!("../../{name}")));
    all.filter(|path| Path::new(path).exists()).collect()
}

/// The first digits of a commit, with a mark if files differ from it.
fn marked(commit: &str, is_dirty: bool) -> Option<String> {
    let digits = commit.get(..DIGITS).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    Some(format!("{digits}{}", if is_dirty { "-dirty" } else { "" }))
}

/// Git's output, if Git is installed and succeeds.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).env("GIT_OPTIONAL_LOCKS", "0").output().ok()?;
    let said = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| said.trim().to_owned())
}
