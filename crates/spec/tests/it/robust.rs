//! No text makes the loader panic or take long: random text, random YAML, and the embedded specs with a few
//! bytes changed.

use dmlcts_spec::{Library, LoadError, Source};
use proptest::{prelude::*, sample::Index};

/// Every mistake points into its text, and can be shown.
fn check(result: Result<Library, LoadError>, sources: &[Source]) {
    let Err(error) = result else { return };
    assert!(!error.diagnostics().is_empty());
    for diagnostic in error.diagnostics() {
        let source = sources.iter().find(|source| source.name == diagnostic.source_name());
        let text = &source.expect("the source is one that was given").text;
        let span = diagnostic.span();
        assert!(span.start <= span.end && span.end <= text.len());
        assert!(text.is_char_boundary(span.start) && text.is_char_boundary(span.end));
        let (line, column) = diagnostic.line_and_column();
        assert!(line >= 1 && column >= 1);
        let shown = diagnostic.to_string();
        assert!(shown.starts_with(&format!("{}:{line}:{column}: ", source.expect("it was found").name)));
        let first = diagnostic.message().chars().next().expect("a message says something");
        assert!(!first.is_uppercase() && !diagnostic.message().ends_with('.'), "{shown}");
    }
}

fn load_as_operator(text: String) {
    let common = Library::embedded_sources()[0].clone();
    let sources = [common, Source::new("random.yaml", text)];
    check(Library::load(&sources), &sources);
}

/// Words of specs, so that random files pass the first check.
fn fragment() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "operator",
        "members",
        "clauses",
        "that",
        "given",
        "each",
        "axis",
        "semantics",
        "read",
        "by",
        "c",
        ": ",
        "- ",
        "\n",
        "\n  ",
        "\n    ",
        "{",
        "}",
        "[",
        "]",
        ",",
        "\"",
        "'",
        "|",
        ">",
        "&a",
        "*a",
        "!t",
        "#",
        "---",
        "\t",
        "0",
        "-1",
        "~",
        "true",
        "é",
        "\u{feff}",
        "%",
        "? ",
        "if",
        "then",
        "InputTensor.Sizes",
        "<=",
        "(",
        ")",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn random_text_is_refused_with_its_place(text in "\\PC{0,200}") {
        load_as_operator(text);
    }

    #[test]
    fn random_bytes_are_refused_with_their_place(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        load_as_operator(String::from_utf8_lossy(&bytes).into_owned());
    }

    #[test]
    fn random_yaml_is_refused_with_its_place(words in prop::collection::vec(fragment(), 0..60)) {
        load_as_operator(words.concat());
    }

}

proptest! {
    // A spec that is nearly right goes through every check.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(80) })]

    #[test]
    fn a_spec_with_changed_bytes_loads_or_says_why(
        file in 0..4_usize,
        edits in prop::collection::vec((any::<Index>(), 0..4_usize, fragment()), 1..4),
    ) {
        let mut sources = Library::embedded_sources();
        for (at, dropped, inserted) in edits {
            let text = &mut sources[file].text;
            let places: Vec<usize> = text.char_indices().map(|(place, _)| place).collect();
            let start = at.get(&places);
            let end = text[*start..].char_indices().nth(dropped).map_or(text.len(), |(place, _)| start + place);
            text.replace_range(*start..end, inserted);
        }
        check(Library::load(&sources), &sources);
    }

    #[test]
    fn a_spec_with_moved_lines_loads_or_says_why(
        file in 0..4_usize,
        from in any::<Index>(),
        to in any::<Index>(),
        copies in 0..3_usize,
    ) {
        let mut sources = Library::embedded_sources();
        let mut lines: Vec<&str> = sources[file].text.lines().collect();
        let line = lines.remove(from.index(lines.len()));
        let to = to.index(lines.len());
        for _ in 0..copies {
            lines.insert(to, line);
        }
        let text = lines.join("\n");
        sources[file].text = text;
        check(Library::load(&sources), &sources);
    }
}
