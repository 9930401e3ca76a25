//! Generates the reference of the guide: the commands from `--help`, the case line and the language from the
//! documentation of the modules that parse them. `DMLCTS_BLESS=1 cargo test -p dmlcts reference::`
//! writes the pages.

use std::{collections::BTreeSet, env, fmt::Write as _, fs, path::Path};

use crate::common::{COMMANDS, stdout};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

#[track_caller]
fn check(page: &str, expected: &str) {
    let path = Path::new(ROOT).join("guide/src/reference").join(page);
    if env::var_os("DMLCTS_BLESS").is_some_and(|value| value == "1") {
        fs::write(&path, expected).expect("the guide takes it");
    }
    let is_up_to_date = fs::read_to_string(&path).is_ok_and(|actual| actual == expected);
    assert!(is_up_to_date, "{}: DMLCTS_BLESS=1 cargo test --workspace reference:: renews it", path.display());
}

/// The heading of the options that every command takes. The page shows them once.
const COMMON: &str = "Options of every command:\n";

/// Takes the options of every command out of a help, and returns both.
fn without_common_options(help: &str) -> (String, String) {
    let (before, rest) = help.split_once(COMMON).expect("every command has them");
    let ends = |(place, _): &(usize, &str)| !rest[place + 1..].starts_with([' ', '\n']);
    let end = rest.match_indices('\n').find(ends).map_or(rest.len(), |(place, _)| place + 1);
    let (common, after) = rest.split_at(end);
    let rest = format!("{before}{after}");
    (format!("{}\n", rest.trim_end()), format!("{}\n", common.trim_end()))
}

#[test]
fn commands_are_as_their_help_says() {
    let mut sections = String::new();
    let mut common = Vec::new();
    for command in COMMANDS {
        let arguments: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let (name, help) = (["dmlcts", command].join(" "), stdout(&arguments));
        let help: String = help.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
        let (help, options) = without_common_options(&help);
        common.push(options);
        write!(sections, "\n## {}\n\n```text\n{help}```\n", name.trim_end()).expect("memory");
        sections += "\nIt also takes the [common options](#common-options).\n";
    }
    // A command without long descriptions has the same words in another layout.
    let words: BTreeSet<Vec<&str>> = common.iter().map(|text| text.split_whitespace().collect()).collect();
    assert_eq!(words.len(), 1, "a command has other common options: {words:?}");
    let common = &common[0];
    let page = format!(
        "# Commands\n\nThis page is what `--help` of each command prints. The options that every command takes are \
         shown once.\n\n## Common options\n\n```text\n{COMMON}{common}```\n{sections}"
    );
    check("commands.md", &page);
}

#[test]
fn common_options_are_taken_out_of_a_help() {
    let help = format!("Options:\n  -q\n\n{COMMON}  -h\n\n  -V\n\nExamples:\n  a\n");
    let (rest, common) = without_common_options(&help);
    assert_eq!((rest.as_str(), common.as_str()), ("Options:\n  -q\n\nExamples:\n  a\n", "  -h\n\n  -V\n"));
    let (rest, common) = without_common_options(&format!("Usage: a\n\n{COMMON}  -h\n"));
    assert_eq!((rest.as_str(), common.as_str()), ("Usage: a\n", "  -h\n"));
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
fn the_examples_of_fills_are_true() {
    let text = documentation("crates/model/src/line.rs");
    let (_, section) = text.split_once("\n## Fills\n").expect("the module has this part");
    let examples = section.lines().filter_map(|line| line.strip_suffix(" |")?.rsplit_once(" | `"));
    let examples: Vec<_> = examples.filter_map(|(_, example)| example.split_once("`: ")).collect();
    assert_eq!(examples.len(), 6, "{examples:?}");
    for (fill, elements) in examples {
        let case = format!("SLICE FLOAT32 in=4 out=4 Offsets=0 Sizes=4 Strides=1 fill={fill}");
        let shown = stdout(&["show", &case]);
        assert!(
            shown.contains(&format!("InputTensor: (Sizes:{{4}}, DataType:FLOAT32)\n[{elements}]\n")),
            "{shown}"
        );
    }
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
