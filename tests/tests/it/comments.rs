//! Comments are at most as wide as code. rustfmt holds code to this width, but its option for comments is
//! unstable.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The maximum width of a comment line, in characters: `max_width` in `rustfmt.toml`.
const WIDTH: usize = 110;

/// The comment's text, if the line holds nothing else.
fn comment(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("//").map(|text| text.trim_start_matches(['/', '!']).trim())
}

/// The numbers of the comment lines that are too wide and could be broken. Rows of tables, lines of code
/// blocks and single words, such as links, cannot be broken.
fn too_wide(source: &str) -> Vec<usize> {
    let mut is_code = false;
    let mut numbers = Vec::new();
    for (place, line) in source.lines().enumerate() {
        let Some(text) = comment(line) else {
            is_code = false;
            continue;
        };
        is_code ^= text.starts_with("```");
        let is_breakable = !is_code && !text.starts_with('|') && text.contains(' ');
        if is_breakable && line.chars().count() > WIDTH {
            numbers.push(place + 1);
        }
    }
    numbers
}

/// The Rust sources of the repository.
fn sources() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is in the workspace");
    let (mut sources, mut folders) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder can be listed") {
            let path = entry.expect("a folder can be listed").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                sources.push(path);
            }
        }
    }
    assert!(sources.len() > 100, "the workspace has more sources than {}", sources.len());
    sources
}

#[test]
fn comments_fit_the_width_of_code() {
    let mut found = Vec::new();
    for path in sources() {
        let source = fs::read_to_string(&path).expect("a source is text");
        found.extend(too_wide(&source).into_iter().map(|number| format!("{}:{number}", path.display())));
    }
    assert!(found.is_empty(), "break these comment lines after {WIDTH} characters:\n{}", found.join("\n"));
}

#[test]
fn only_lines_that_can_be_broken_are_too_wide() {
    let (words, word) = ("word ".repeat(22), "x".repeat(WIDTH));
    assert_eq!(too_wide(&format!("// {words}\n    /// {words}\nlet x = 1; // {words}")), [1, 2]);
    assert!(too_wide(&format!("// {}", &words[..WIDTH - 3])).is_empty());
    assert!(too_wide(&format!("//! | {words} |\n// <{word}>\n//! ```\n//! {words}\n//! ```")).is_empty());
    assert_eq!(too_wide(&format!("//! ```\n//! ```\n//! {words}")), [3]);
}
