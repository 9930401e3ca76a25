//! The commands that messages about snapshots give: those that make a snapshot again, and subcommands for the
//! same folder.

use std::{
    env,
    path::{MAIN_SEPARATOR, Path},
};

use clap::Parser as _;
use dmlcts_report::command;
use dmlcts_snapshots::{Metadata, Stored, plain};

use crate::arguments::{AllArguments, Arguments};

/// The folder of a path that is not below the current folder. A snapshot is committed, and does not say how
/// the folders of a machine are called.
const ELSEWHERE: &str = "PATH";

/// A subcommand of `snapshot` for the folder that the arguments name.
pub(super) fn subcommand(word: &str, all: &AllArguments) -> String {
    command(&[&["dmlcts", "snapshot", word], &folder(all)[..]].concat())
}

/// What makes a stored snapshot again: one command, or a run and a command that takes its results.
pub(super) fn again(stored: &Stored, about: &Metadata, all: &AllArguments) -> String {
    let (backend, _) = stored.name.split_once('/').unwrap_or((&stored.name, ""));
    let name = if backend == plain(&about.backend) { vec![] } else { vec!["--name", backend] };
    let place = [name, folder(all)].concat();
    let recorded = words(&about.command);
    if recorded.first().is_some_and(|program| program != "dmlcts") {
        return format!("`{}`", about.command);
    }
    let [_, _, rest @ ..] = recorded.as_slice() else {
        return format!("`{}`", command(&[&["dmlcts", "snapshot"], &place[..]].concat()));
    };
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    let without_usual = match rest.iter().position(|word| *word == "--suite") {
        Some(place) if rest.get(place + 1) == Some(&"ci") => [&rest[..place], &rest[place + 2..]].concat(),
        _ => rest.clone(),
    };
    let made = [&["dmlcts", "snapshot"], &without_usual[..], &place[..]].concat();
    if Arguments::try_parse_from(&made).is_ok() {
        return format!("`{}`", command(&made));
    }
    // `run` has options that `snapshot` does not have.
    let run = [&["dmlcts", "run"], &rest[..], &["--results", "run.jsonl"]].concat();
    let made = [&["dmlcts", "snapshot", "--from", "run.jsonl"], &place[..]].concat();
    format!("`{}` and `{}`", command(&run), command(&made))
}

/// The recorded command without absolute paths: a path below the current folder is relative, and of another
/// one only the name is left.
pub(super) fn without_folders(recorded: &str) -> String {
    let current = env::current_dir().unwrap_or_default();
    let words: Vec<String> =
        words(recorded).iter().map(|word| without_folders_of_word(word, &current)).collect();
    if words.is_empty() { recorded.to_owned() } else { command(&words) }
}

fn folder(all: &AllArguments) -> Vec<&str> {
    all.dir.as_ref().map_or(vec![], |dir| vec!["--dir", dir])
}

/// The words of a command that [`command`] wrote. None if it has a word that only a shell can read.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut is_quoted) = (Vec::new(), None::<String>, false);
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => {
                is_quoted = !is_quoted;
                word.get_or_insert_default();
            }
            _ if is_quoted => word.get_or_insert_default().push(letter),
            '\\' => word.get_or_insert_default().extend(letters.next()),
            '"' | '$' => return Vec::new(),
            ' ' => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

fn without_folders_of_word(word: &str, current: &Path) -> String {
    match word.split_once(':') {
        Some(("exec", command)) => format!("exec:{}", without_folders_of_command(command, current)),
        Some(("dylib", path)) => format!("dylib:{}", without_folder(path, current)),
        _ => without_folder(word, current),
    }
}

/// The command of a backend. Quotes in it stay.
fn without_folders_of_command(text: &str, current: &Path) -> String {
    let (mut all, mut word, mut quote) = (String::new(), String::new(), None);
    for letter in text.chars() {
        let is_end = match quote {
            Some(open) => letter == open,
            None => letter.is_whitespace() || letter == '\'' || letter == '"' || letter == '=',
        };
        if !is_end {
            word.push(letter);
            continue;
        }
        all.push_str(&without_folder(&word, current));
        all.push(letter);
        word.clear();
        quote = if quote.is_none() && (letter == '\'' || letter == '"') { Some(letter) } else { None };
    }
    all + &without_folder(&word, current)
}

/// A path below the current folder is relative. Of another absolute path, only the last name is left.
fn without_folder(path: &str, current: &Path) -> String {
    let absolute = Path::new(path);
    if !absolute.is_absolute() {
        return path.to_owned();
    }
    match absolute.strip_prefix(current).map(|below| below.display().to_string()) {
        Ok(below) if below.is_empty() => ".".to_owned(),
        // Without a folder, the system would search its own folders for a program.
        Ok(below) if !below.contains(MAIN_SEPARATOR) => format!(".{MAIN_SEPARATOR}{below}"),
        Ok(below) => below,
        Err(_) => match absolute.file_name() {
            Some(name) => format!("{ELSEWHERE}{MAIN_SEPARATOR}{}", name.to_string_lossy()),
            None => ELSEWHERE.to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn no_absolute_path_is_left_in_a_command() {
        let current = Path::new("/home/me/mine");
        for (word, expected) in [
            ("--backend", "--backend"),
            ("/home/me/mine/cases/own.yaml", "cases/own.yaml"),
            ("/home/me/mine/own suite.yaml", "./own suite.yaml"),
            ("/home/me/other/own suite.yaml", "PATH/own suite.yaml"),
            ("dylib:/home/me/mine/target/libmine.so", "dylib:target/libmine.so"),
            ("exec:/home/me/mine/driver --fast", "exec:./driver --fast"),
            ("exec:/usr/bin/python3 /home/me/mine/a/b.py", "exec:PATH/python3 a/b.py"),
            ("exec:'/home/me/mine/a b/c' --data=/home/me/x", "exec:'a b/c' --data=PATH/x"),
            ("exec:\"/home/me/it's\" /", "exec:\"PATH/it's\" PATH"),
            ("rank / 2 == 1", "rank / 2 == 1"),
        ] {
            assert_eq!(without_folders_of_word(word, current), expected);
        }
    }

    #[test]
    fn a_command_is_split_into_the_words_that_it_joins() {
        let all = ["dmlcts", "run", "--backend", "exec:'it s' x", "##", "", "a'b"];
        assert_eq!(words(&command(&all)), all);
        assert!(words(&command(&["\u{1b}"])).is_empty());
    }

    #[test]
    fn a_snapshot_is_made_again_by_the_whole_command() {
        let stored = |name: &str| Stored { name: name.to_owned(), is_accepted: true, is_pending: false };
        let said = |name: &str, recorded: &str, dir: Option<&str>| {
            let about = Metadata {
                backend: "mine 1".to_owned(),
                command: recorded.to_owned(),
                ..Metadata::default()
            };
            again(&stored(name), &about, &AllArguments { dir: dir.map(str::to_owned) })
        };
        assert_eq!(
            said("mine-1/ci", "dmlcts run --backend 'exec:python3 mine.py' --suite ci --seed 4", None),
            "`dmlcts snapshot --backend 'exec:python3 mine.py' --seed 4`"
        );
        assert_eq!(
            said("gpu/smoke", "dmlcts run --backend 'exec:python3 mine.py' --suite smoke", Some("my own")),
            "`dmlcts snapshot --backend 'exec:python3 mine.py' --suite smoke --name gpu --dir 'my own'`"
        );
        assert_eq!(
            said("mine-1/ci", "dmlcts run --profile directml-5.0", None),
            "`dmlcts run --profile directml-5.0 --results run.jsonl` and `dmlcts snapshot --from run.jsonl`"
        );
        assert_eq!(said("mine-1/ci", "", None), "`dmlcts snapshot`");
        assert_eq!(said("mine-1/ci", "cargo test -- snapshot", None), "`cargo test -- snapshot`");
    }
}
