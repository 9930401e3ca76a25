//! The files that a command names. A file that one option writes cannot be read or written by another option.
//! Otherwise each option would take the other's file for its own, and the last writer would win silently.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use crate::{
    arguments::{
        DiffArguments, ListFindingsArguments, MergeArguments, ReplayArguments, ReportArguments, RunArguments,
        ShowDiffArguments,
    },
    problem::Problem,
};

/// The maximum number of links that are followed to find the place of a new file.
const MOST_LINKS: usize = 40;

/// A file that an option names.
struct Named<'a> {
    /// The option, as messages name it.
    option: &'static str,
    path: &'a str,
    is_written: bool,
}

impl RunArguments {
    /// Checks that no file is named for two purposes, before any file is opened.
    pub(crate) fn check_paths(&self) -> Result<(), Problem> {
        let mut named: Vec<Named<'_>> = Vec::new();
        named.extend(
            Some(&self.selection.suite).filter(|name| name.contains(['.', '/', '\\'])).map(read("--suite")),
        );
        named.extend(self.results.iter().map(written("--results")));
        named.extend(self.resume.iter().map(written("--resume")));
        named.extend(self.reports.named());
        self.verdicts.findings.iter().try_for_each(|folder| check_folder(("--findings", folder), &named))?;
        check(&named)
    }
}

impl MergeArguments {
    /// Checks that no file is named for two purposes, before any file is opened.
    pub(crate) fn check_paths(&self) -> Result<(), Problem> {
        let mut named: Vec<Named<'_>> = self.files.iter().map(read("")).collect();
        named.extend(self.results.iter().map(written("--results")));
        named.extend(self.reports.named());
        check(&named)
    }
}

impl DiffArguments {
    /// Checks that no report replaces a file that the comparison reads, or the other report.
    pub(crate) fn check_paths(&self) -> Result<(), Problem> {
        let mut named: Vec<Named<'_>> = [&self.old, &self.new].map(read("")).into();
        named.extend(self.html.iter().map(written("--html")));
        named.extend(self.markdown.iter().map(written("--markdown")));
        check(&named)
    }
}

impl ListFindingsArguments {
    /// Checks that no report replaces a finding or the other report.
    pub(crate) fn check_paths(&self) -> Result<(), Problem> {
        let mut named: Vec<Named<'_>> = self.markdown.iter().map(written("--markdown")).collect();
        named.extend(self.html.iter().map(written("--html")));
        check_folder(("", &self.folder), &named)?;
        check(&named)
    }
}

impl ReplayArguments {
    /// Checks that the table replaces no finding.
    pub(crate) fn check_paths(&self) -> Result<(), Problem> {
        let Some(table) = &self.markdown else { return Ok(()) };
        self.paths.iter().try_for_each(|path| {
            check_folder(("", path), &[written("--markdown")(table)])?;
            check(&[read("")(path), written("--markdown")(table)])
        })
    }
}

impl ShowDiffArguments {
    /// Checks that no report is a snapshot of the folder or the other report, before any file is opened.
    pub(crate) fn check_paths(&self) -> Result<(), Problem> {
        let mut named: Vec<Named<'_>> = self.markdown.iter().map(written("--markdown")).collect();
        named.extend(self.html.iter().map(written("--html")));
        if named.is_empty() {
            return Ok(());
        }
        let folder = self.named.all.folder()?;
        let dir = folder.path().display();
        let stored = folder.list()?;
        let stored = stored.iter().flat_map(|one| [folder.accepted(&one.name), folder.pending(&one.name)]);
        let stored: Vec<String> = stored.map(|path| path.display().to_string()).collect();
        for Named { option, path, .. } in &named {
            let new = place(Path::new(path));
            let is_snapshot = new.file_name().is_some_and(|name| {
                let name = name.to_string_lossy().to_lowercase();
                [".snap", ".snap.new"].iter().any(|end| name.ends_with(end))
            });
            let is_inside = is_snapshot && new.starts_with(place(folder.path()));
            if is_inside || stored.iter().any(|one| is_same(one, path)) {
                return Err(Problem::usage(
                    format!("`{option} {path}` names a snapshot in `--dir {dir}`"),
                    "name another file: the report would replace the snapshot",
                ));
            }
        }
        check(&named)
    }
}

impl ReportArguments {
    fn named(&self) -> impl Iterator<Item = Named<'_>> {
        let junit = self.junit.iter().map(written("--junit"));
        let markdown = self.markdown.iter().map(written("--markdown"));
        let html = self.html.iter().map(written("--html"));
        junit.chain(markdown).chain(html)
    }
}

fn read(option: &'static str) -> impl Fn(&String) -> Named<'_> {
    move |path| Named { option, path, is_written: false }
}

fn written(option: &'static str) -> impl Fn(&String) -> Named<'_> {
    move |path| Named { option, path, is_written: true }
}

fn check(named: &[Named<'_>]) -> Result<(), Problem> {
    for (place, one) in named.iter().enumerate() {
        let clashes =
            |other: &&Named<'_>| (one.is_written || other.is_written) && is_same(one.path, other.path);
        if let Some(other) = named[..place].iter().find(clashes) {
            return Err(Problem::usage(
                format!("`{}` and `{}` name the same file", other.text(), one.text()),
                "name a file of its own for each: what one of them writes, the other would lose",
            ));
        }
    }
    Ok(())
}

impl Named<'_> {
    fn text(&self) -> String {
        format!("{} {}", self.option, self.path).trim_start().to_owned()
    }
}

/// Checks that no report replaces a finding of a folder that an option names.
fn check_folder((given, folder): (&'static str, &str), named: &[Named<'_>]) -> Result<(), Problem> {
    let inside = |file: &&Named<'_>| {
        let path = place(Path::new(file.path));
        path.extension().is_some_and(|end| end.eq_ignore_ascii_case("yaml"))
            && path.parent().is_some_and(|parent| place(parent) == place(Path::new(folder)))
    };
    match named.iter().filter(|file| file.is_written).find(inside) {
        Some(Named { option, path, .. }) => Err(Problem::usage(
            format!("`{option} {path}` names a finding in `{}`", format!("{given} {folder}").trim_start()),
            "name another file: what it writes would replace the finding",
        )),
        None => Ok(()),
    }
}

/// Whether two names are of the same file, which may not exist yet. A name that is not a regular file, such
/// as `/dev/null`, can be used several times.
fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (place(Path::new(one)), place(Path::new(other)));
    let is_no_file = fs::metadata(&one).is_ok_and(|about| !about.is_file());
    !is_no_file && (one == other || is_linked(&one, &other))
}

/// The path of an existing or new file, independent of the name that leads to it.
fn place(name: &Path) -> PathBuf {
    let mut path = name.to_owned();
    for _ in 0..MOST_LINKS {
        if let Ok(found) = fs::canonicalize(&path) {
            return found;
        }
        // A link to a file that does not exist yet.
        let Ok(target) = fs::read_link(&path) else { break };
        path = path.parent().map_or_else(|| target.clone(), |folder| folder.join(&target));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.map(Path::to_owned).or_else(|| env::current_dir().ok()).unwrap_or_default();
    fs::canonicalize(&folder).unwrap_or(folder).join(path.file_name().unwrap_or_default())
}

/// Whether two different names are hard links to one file.
#[cfg(unix)]
fn is_linked(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let about = |path: &Path| fs::metadata(path).ok().map(|about| (about.dev(), about.ino()));
    about(one).is_some_and(|one| about(other) == Some(one))
}

#[cfg(not(unix))]
fn is_linked(_: &Path, _: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    #[cfg(unix)]
    use super::{fs, is_same};
    use crate::arguments::{Arguments, Command};

    /// The error message for the paths of a command; empty if there is none.
    fn said(words: &[&str]) -> String {
        let parsed = Arguments::try_parse_from(std::iter::once(&"dmlcts").chain(words));
        let checked = match parsed.expect("they are options").command {
            Command::Run(arguments) => arguments.check_paths(),
            Command::Merge(arguments) => arguments.check_paths(),
            Command::Diff(arguments) => arguments.check_paths(),
            Command::Findings(arguments) => arguments.list.expect("they list").check_paths(),
            other => panic!("{other:?}"),
        };
        checked.err().map(|problem| problem.to_string()).unwrap_or_default()
    }

    #[test]
    fn no_file_is_named_for_two_purposes() {
        let same = |one: &str, other: &str| format!("`{one}` and `{other}` name the same file");
        let writing = ["--results", "--junit", "--markdown", "--html"];
        for (place, one) in writing.iter().enumerate() {
            for other in &writing[place + 1..] {
                assert_eq!(
                    said(&["run", one, "no.x", other, "./no.x"]),
                    same(&format!("{one} no.x"), &format!("{other} ./no.x"))
                );
            }
            assert_eq!(said(&["run", one, "no.x"]), "");
        }
        assert_eq!(said(&["run", "--resume", "x", "--junit", "x"]), same("--resume x", "--junit x"));
        assert_eq!(
            said(&["run", "--suite", "x.yaml", "--junit", "x.yaml"]),
            same("--suite x.yaml", "--junit x.yaml")
        );
        assert_eq!(said(&["run", "--suite", "smoke", "--junit", "smoke"]), "", "it is a name there");
        // A report must not replace a finding.
        let known = ["run", "--findings", "k"];
        let inside = "`--junit k/x.yaml` names a finding in `--findings k`";
        assert_eq!(said(&[&known[..], &["--junit", "k/x.yaml"]].concat()), inside);
        assert_eq!(said(&[&known[..], &["--junit", "k/x.xml"]].concat()), "");
        assert_eq!(said(&[&known[..], &["--junit", "x.yaml"]].concat()), "");
        let inside = "`--html k/x.YAML` names a finding in `k`";
        assert_eq!(said(&["findings", "k", "--html", "k/x.YAML"]), inside);
        let inside = "`--markdown ./k/x.yaml` names a finding in `k/`";
        assert_eq!(said(&["findings", "k/", "--markdown", "./k/x.yaml"]), inside);
        assert_eq!(
            said(&["findings", "k", "--markdown", "x", "--html", "./x"]),
            same("--markdown x", "--html ./x")
        );
        assert_eq!(said(&["findings", "k", "--markdown", "k/x.md", "--html", "x.yaml"]), "");
        assert_eq!(said(&["merge", "a", "b", "--results", "b"]), same("b", "--results b"));
        assert_eq!(said(&["merge", "a", "b", "--junit", "a"]), same("a", "--junit a"));
        assert_eq!(said(&["merge", "a", "b", "--junit", "c", "--markdown", "d"]), "");
        assert_eq!(said(&["diff", "a", "b", "--html", "b"]), same("b", "--html b"));
        assert_eq!(said(&["diff", "a", "b", "--markdown", "a"]), same("a", "--markdown a"));
        assert_eq!(
            said(&["diff", "a", "b", "--html", "c", "--markdown", "c"]),
            same("--html c", "--markdown c")
        );
        assert_eq!(said(&["diff", "a", "a", "--html", "b", "--markdown", "c"]), "");
        assert_eq!(said(&["merge", "a", "a"]), "", "that they overlap is told by what is in them");
    }

    #[cfg(unix)]
    #[test]
    fn whatever_a_file_is_called() {
        let folder = std::env::temp_dir().join(format!("dmlcts-paths-{}", std::process::id()));
        fs::create_dir(&folder).expect("the temporary folder takes a folder");
        let name = |name: &str| folder.join(name).to_str().expect("a plain name").to_owned();
        fs::write(name("file"), "").expect("it can be written");
        fs::hard_link(name("file"), name("hard")).expect("it can be linked");
        std::os::unix::fs::symlink("file", name("soft")).expect("it can be linked");
        std::os::unix::fs::symlink("none", name("dangling")).expect("it can be linked");
        for (one, other, same) in [
            ("file", "hard", true),
            ("file", "soft", true),
            ("none", "dangling", true),
            ("file", "dangling", false),
            ("../nowhere/x", "../nowhere/x", true),
        ] {
            assert_eq!(is_same(&name(one), &name(other)), same, "{one} {other}");
        }
        assert!(!is_same("/dev/null", "/dev/null"), "it takes everything");
        fs::remove_dir_all(&folder).expect("it is ours");
    }
}
