//! Cases that are given instead of a suite: as arguments, or with `-` on standard input, one line each, as
//! `dmlcts list` prints them. Empty lines and lines that begin with `#` are skipped, so that a file of cases
//! can have comments. Some commands also take the names of such files.

use std::{env, ffi::OsString, fs::File, io::Read, path::Path};

use dmlcts_model::{
    Case,
    line::{self, LineError},
};
use dmlcts_report::{bytes, command};
use dmlcts_spec::Library;

use crate::{problem::Problem, selection::parse_case};

/// The argument that means standard input.
const STDIN: &str = "-";
/// The name of standard input in messages.
const STDIN_NAME: &str = "standard input";
/// The maximum size of a list of cases. All its cases are held in memory at once.
const MOST: u64 = 64 << 20;

/// Whether given cases may break the rules of bindings.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bindings {
    /// They may, since nothing is bound.
    Any,
    /// They may not: the pages define no outcome for a bad binding, and it may remove the device.
    Kept,
}

/// The cases of the arguments in order, up to `most`.
pub(crate) fn cases(arguments: &[String], most: u64, bindings: Bindings) -> Result<Vec<Case>, Problem> {
    let mut cases = Vec::new();
    for argument in arguments {
        if argument == STDIN {
            let most = most.saturating_sub(cases.len() as u64);
            let text = read(std::io::stdin().lock(), STDIN_NAME, most)?;
            cases.extend(parse_list(&text, STDIN_NAME, most, bindings)?);
        } else {
            let case = parse_case(argument).map_err(|problem| {
                unquoted_backend(env::args_os().skip(1)).or_else(|| unquoted(arguments)).unwrap_or(problem)
            })?;
            if let Some(error) = bad_binding(argument, &case, bindings) {
                return Err(Problem::Line { line: argument.clone(), error });
            }
            cases.push(case);
        }
    }
    if cases.is_empty() {
        return Err(Problem::usage(
            "standard input holds no case",
            "write one case a line, as `dmlcts list` prints them; lines that begin with # are comments",
        ));
    }
    Ok(cases)
}

/// The arguments, with the lines of its cases in the place of each file. A file is a list of cases, as is an
/// input of a fuzz target that changes cases as cases. No case is one word, so that one word names a file.
pub(crate) fn with_files(arguments: &[String]) -> Result<Vec<String>, Problem> {
    let is_case = |argument: &str| argument.contains(char::is_whitespace) && !Path::new(argument).is_file();
    let mut lines = Vec::new();
    for argument in arguments {
        if argument == STDIN || is_case(argument) {
            lines.push(argument.clone());
        } else {
            lines.extend(cases_of_file(argument, arguments)?.iter().map(Case::to_string));
        }
    }
    Ok(lines)
}

/// The cases of a file, which is one of the arguments.
fn cases_of_file(path: &str, arguments: &[String]) -> Result<Vec<Case>, Problem> {
    let file = File::open(path).map_err(|error| {
        unquoted(arguments).filter(|_| is_operator(path)).unwrap_or_else(|| {
            Problem::usage(
                format!("cannot read {path}: {error}"),
                "name a file of cases, or write a case in quotes, as `dmlcts list` prints it",
            )
        })
    })?;
    let text = read(file, path, u64::MAX)?;
    let cases = parse_list(&text, path, u64::MAX, Bindings::Kept)?;
    if cases.is_empty() {
        return Err(Problem::usage(
            format!("{path} holds no case"),
            format!(
                "name a file with one case a line; if a fuzz target made a case of other bytes, `cargo fuzz fmt TARGET {path}` \
                 prints it: give this case in quotes"
            ),
        ));
    }
    Ok(cases)
}

fn is_operator(word: &str) -> bool {
    Library::embedded().operators().iter().any(|operator| operator.name() == word)
}

/// The error for a case that may not run because of a binding.
fn bad_binding(line: &str, case: &Case, bindings: Bindings) -> Option<LineError> {
    if bindings == Bindings::Any {
        return None;
    }
    let rule = Library::embedded().broken_bindings(case).into_iter().next()?;
    let name = rule.side.binding_name();
    let start = line.find(name).unwrap_or_default();
    let length = line[start..].find(char::is_whitespace).unwrap_or(line.len() - start);
    Some(LineError {
        span: start..start + length,
        message: format!("no outcome is defined: the binding breaks `{}` ({})", rule.text, rule.cite.on("")),
        help: format!("write {name}=0, or another offset that keeps the rule"),
    })
}

/// The error for a case that was given without quotes, so that the shell split it. No case is one word, so
/// several arguments after a single word are one unquoted case.
fn unquoted(arguments: &[String]) -> Option<Problem> {
    let first = arguments.first().filter(|first| *first != STDIN && !first.contains(char::is_whitespace))?;
    if arguments.len() < 2 {
        return None;
    }
    let quoted = quoted(env::args_os().skip(1), arguments);
    Some(Problem::usage(
        format!(
            "`{first}` is not a case: without quotes, the shell takes one case for {} arguments",
            arguments.len()
        ),
        format!("write {quoted}"),
    ))
}

/// The error for a command after `--backend exec:` that was given without quotes, so that the shell split it.
pub(crate) fn unquoted_backend(words: impl Iterator<Item = OsString>) -> Option<Problem> {
    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    let start = words.iter().enumerate().find_map(|(place, word)| match word.strip_prefix("--backend") {
        Some("") => words.get(place + 1)?.starts_with("exec:").then_some(place + 1),
        Some(value) => value.starts_with("=exec:").then_some(place),
        None => None,
    })?;
    let (head, rest) = words.split_at(start + 1);
    // A command ends at an option of this program or at a case.
    let ends =
        |word: &String| word.starts_with("--") || word.contains(char::is_whitespace) || is_operator(word);
    let end = rest.iter().position(ends).unwrap_or(rest.len());
    // Short options at its end may belong to this program.
    let end = rest[..end].iter().rposition(|word| !word.starts_with('-'))? + 1;
    let (tail, others) = rest.split_at(end);
    let (last, before) = head.split_last()?;
    let value = last.strip_prefix("--backend=").unwrap_or(last);
    let backend = [&[value.to_owned()], tail].concat().join(" ");
    let mut before = before.to_vec();
    if value.len() < last.len() {
        before.push("--backend".to_owned());
    }
    let whole = [&["dmlcts".to_owned()], &before[..], std::slice::from_ref(&backend), others].concat();
    Some(Problem::usage(
        format!("the words behind exec: need quotes: {}", command(&["--backend", &backend])),
        format!("write {}", command(&whole)),
    ))
}

/// The command of these words, with one quoted argument in the place of several. Options may be between them.
fn quoted(words: impl Iterator<Item = OsString>, arguments: &[String]) -> String {
    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    let mut left = arguments;
    let mut kept = Vec::new();
    // The search starts at the end, since an option's value usually precedes the case.
    for word in words.into_iter().rev() {
        match left.split_last() {
            Some((last, others)) if *last == word => {
                left = others;
                if left.is_empty() {
                    kept.push(arguments.join(" "));
                }
            }
            _ => kept.push(word),
        }
    }
    kept.push("dmlcts".to_owned());
    kept.reverse();
    command(&kept)
}

/// The text up to the line of the last case that is needed.
fn read(mut input: impl Read, name: &str, most: u64) -> Result<String, Problem> {
    let cannot = |what: &str| {
        Problem::usage(
            format!("cannot read {name}: {what}"),
            "give it text in UTF-8, one case a line, as `dmlcts list` prints them",
        )
    };
    let mut text: Vec<u8> = Vec::new();
    let (mut lines, mut line_start) = (0, 0);
    let mut piece = vec![0; 64 << 10];
    while lines < most {
        let length = match input.read(&mut piece) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(cannot(&error.to_string())),
        };
        let fresh = text.len();
        text.extend_from_slice(&piece[..length]);
        for end in (fresh..text.len()).filter(|&at| text[at] == b'\n') {
            lines += u64::from(is_case(&text[line_start..end]));
            line_start = end + 1;
        }
        if text.len() as u64 > MOST {
            return Err(Problem::usage(
                format!("{name} has more than {}", bytes(MOST)),
                "give fewer cases at once; `run` alone also takes --limit, or --suite instead of cases",
            ));
        }
    }
    String::from_utf8(text).map_err(|error| cannot(&error.utf8_error().to_string()))
}

/// Whether a line holds a case, right or wrong.
fn is_case(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    !line.is_empty() && !line.starts_with(b"#")
}

/// The cases of a text with this name, one line each.
fn parse_list(text: &str, name: &str, most: u64, bindings: Bindings) -> Result<Vec<Case>, Problem> {
    let signatures = Library::embedded().signatures();
    let mut start = 0;
    let mut cases = Vec::new();
    for line in text.split_inclusive('\n') {
        let content = line.trim();
        if is_case(content.as_bytes()) {
            if cases.len() as u64 == most {
                break;
            }
            let indented = start + (line.len() - line.trim_start().len());
            let parsed = line::parse(content, signatures)
                .and_then(|case| bad_binding(content, &case, bindings).map_or(Ok(case), Err));
            cases.push(parsed.map_err(|mut error| {
                error.span = indented + error.span.start..indented + error.span.end;
                Problem::List { name: name.to_owned(), text: text.to_owned(), error }
            })?);
        }
        start += line.len();
    }
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASE: &str = "SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota";

    #[test]
    fn comments_and_empty_lines_are_no_cases() {
        let text = format!("# two cases\n\n  {CASE}\r\n\t# and\n{CASE}");
        assert_eq!(parse_list(&text, STDIN_NAME, u64::MAX, Bindings::Any).expect("cases").len(), 2);
        assert_eq!(parse_list(&text, STDIN_NAME, 1, Bindings::Any).expect("cases").len(), 1);
        assert!(
            parse_list("# nothing\n", STDIN_NAME, u64::MAX, Bindings::Any).expect("no mistake").is_empty()
        );
    }

    #[test]
    fn a_case_without_quotes_is_quoted_where_it_stands() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let of = |text: &str, arguments: &str| {
            quoted(words(text).into_iter().map(OsString::from), &words(arguments))
        };
        assert_eq!(of("run SLICE in=4 --jobs 1", "SLICE in=4"), "dmlcts run 'SLICE in=4' --jobs 1");
        assert_eq!(
            of("--color never judge SLICE in=4", "SLICE in=4"),
            "dmlcts --color never judge 'SLICE in=4'"
        );
        assert_eq!(of("run SLICE --jobs 4 in=4", "SLICE in=4"), "dmlcts run 'SLICE in=4' --jobs 4");
        assert_eq!(of("run --suite SLICE SLICE in=4", "SLICE in=4"), "dmlcts run --suite SLICE 'SLICE in=4'");
    }

    #[test]
    fn an_endless_list_is_read_up_to_the_cases_that_are_wanted() {
        struct Endless(u64);
        impl Read for Endless {
            fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
                self.0 += 1;
                let line = format!("{CASE}\n");
                buffer[..line.len()].copy_from_slice(line.as_bytes());
                Ok(line.len())
            }
        }
        let mut endless = Endless(0);
        let text = read(&mut endless, STDIN_NAME, 10).expect("ten lines");
        assert_eq!(
            (parse_list(&text, STDIN_NAME, 10, Bindings::Any).expect("cases").len(), endless.0),
            (10, 10)
        );
        let Err(problem) = read(Endless(0), STDIN_NAME, u64::MAX) else { panic!("it has no end") };
        assert!(problem.to_string().contains("more than 64.0 MiB"), "{problem}");
    }
}
