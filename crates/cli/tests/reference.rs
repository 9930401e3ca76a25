//! Generates the reference of the guide: the commands from `--help`, the case line and the language from the
//! documentation of the modules that parse them. `DMLCTS_BLESS=1 cargo test -p dmlcts --test reference`
//! writes the pages.

mod common;

use std::{env, fmt::Write as _, fs, path::Path};

use common::{COMMANDS, stdout};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

#[track_caller]
fn check(page: &str, expected: &str) {
    let path = Path::new(ROOT).join("guide/src/reference").join(page);
    if env::var_os("DMLCTS_BLESS").is_some_and(|value| value == "1") {
        fs::write(&path, expected).expect("the guide takes it");
    }
    let is_up_to_date = fs::read_to_string(&path).is_ok_and(|actual| actual == expected);
    assert!(
        is_up_to_date,
        "{}: DMLCTS_BLESS=1 cargo test -p dmlcts --test reference renews it",
        path.display()
    );
}

#[test]
fn commands_are_as_their_help_says() {
    let mut page = "# Commands\n\nThis page is what `--help` of each command prints.\n".to_owned();
    for command in COMMANDS {
        let arguments: Vec<&str> = [command, "--help"].into_iter().filter(|word| !word.is_empty()).collect();
        let (name, help) = (["dmlcts", command].join(" "), stdout(&arguments));
        let help: String = help.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
        write!(page, "\n## {}\n\n```text\n{}```\n", name.trim_end(), help).expect("memory");
    }
    check("commands.md", &page);
}

/// The documentation of a module, with its headings one level below the page's title. Links to items of Rust
/// become their words.
fn documentation(source: &str) -> String {
    let text = fs::read_to_string(Path::new(ROOT).join(source)).expect("a source");
    let lines = text.lines().take_while(|line| line.starts_with("//!"));
    let mut page = String::new();
    for line in lines {
        let line = line.trim_start_matches("//!").strip_prefix(' ').unwrap_or_default();
        page += if line.starts_with("# ") { "#" } else { "" };
        page += line;
        page += "\n";
    }
    without_rust_links(&page)
}

/// `[words](crate::Item)` and `` [`Item`] `` become what is between the brackets; links to addresses and
/// headings stay.
fn without_rust_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        plain += before;
        let Some((words, behind)) = after.split_once(']').filter(|(words, _)| !words.contains(['\n', '[']))
        else {
            plain.push('[');
            rest = after;
            continue;
        };
        let target = behind.strip_prefix('(').and_then(|target| target.split_once(')'));
        rest = match target {
            Some((target, behind)) if !target.starts_with("http") && !target.starts_with('#') => {
                plain += words;
                behind
            }
            None if words.starts_with('`') => {
                plain += words;
                behind
            }
            _ => {
                plain.push('[');
                after
            }
        };
    }
    plain + rest
}

#[test]
fn the_case_line_is_as_its_module_says() {
    let text = documentation("crates/model/src/line.rs");
    check("case-line.md", &format!("# The case line\n\n{text}"));
}

#[test]
fn the_language_is_as_its_module_says() {
    let text = documentation("crates/spec/src/expression/mod.rs");
    // The following text is for those who work on the crate.
    let (text, _) = text.split_once("\n## From text to values").expect("the module has this part");
    check("language.md", &format!("# The language\n\n{text}"));
}

#[test]
fn links_to_items_become_words() {
    let text = "[a](crate::B), [`C`], [d](#e), [f](http://g), `[u32]` and [0, 1]";
    assert_eq!(without_rust_links(text), "a, `C`, [d](#e), [f](http://g), `[u32]` and [0, 1]");
}
