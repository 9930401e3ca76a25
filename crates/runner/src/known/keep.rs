//! Edits the text of a list that a person wrote. Unchanged entries keep their text, with comments.
//!
//! The text is split by lines, which works for the usual shape of a list, but not for every YAML file. So the
//! result is parsed again, and is used only if it has the intended content.

use dmlcts_spec::{Source, yaml};

use super::{KnownFailureForm, KnownFailuresForm};

/// Edits the text `old` so that it has the content of `form`. If it has that content already, it is
/// unchanged. Otherwise unchanged entries keep their text, and changed ones keep the comments above them.
/// `None` if the text has another shape.
pub(super) fn edited(form: &KnownFailuresForm, old: &str) -> Option<String> {
    let listed = read(old)?;
    if says_the_same(&listed, form) {
        return Some(old.to_owned());
    }
    let parts = Parts::of(old).filter(|parts| parts.entries.len() == listed.failures.len())?;
    let mut text = parts.head;
    for entry in &form.failures {
        let place = listed.failures.iter().position(|other| other.id == entry.id);
        match place.map(|place| (&listed.failures[place], &parts.entries[place])) {
            Some((other, (above, own))) if is_as(other, entry) => text.extend([above.as_str(), own]),
            Some((_, (above, _))) => text.extend([above.as_str(), &indented(entry, parts.indent)]),
            None => text.push_str(&indented(entry, parts.indent)),
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    text.push_str(&parts.tail);
    read(&text).is_some_and(|read| says_the_same(&read, form)).then_some(text)
}

fn read(text: &str) -> Option<KnownFailuresForm> {
    yaml::read(&Source::new("list", text)).ok().map(|document| document.value)
}

fn says_the_same(one: &KnownFailuresForm, other: &KnownFailuresForm) -> bool {
    let both = one.failures.iter().zip(&other.failures);
    one.backend == other.backend
        && one.failures.len() == other.failures.len()
        && both.into_iter().all(|(one, other)| is_as(one, other))
}

/// Whether two entries have the same content. Whitespace around a reason does not count.
fn is_as(one: &KnownFailureForm, other: &KnownFailureForm) -> bool {
    let trimmed =
        |form: &KnownFailureForm| KnownFailureForm { reason: form.reason.trim().to_owned(), ..form.clone() };
    trimmed(one) == trimmed(other)
}

/// The text of an entry, with its dash in this column.
fn indented(entry: &KnownFailureForm, column: usize) -> String {
    let mut text = String::new();
    entry.write(&mut text);
    let lines = text.split_inclusive('\n').map(|line| line.strip_prefix("  ").unwrap_or(line));
    lines.flat_map(|line| [" ".repeat(column), line.to_owned()]).collect()
}

/// The text of a list, split into parts that cover all of it.
struct Parts {
    head: String,
    /// The comments above each entry, and the text of the entry itself.
    entries: Vec<(String, String)>,
    tail: String,
    /// The column of the entries' dashes.
    indent: usize,
}

impl Parts {
    /// `None` if the entries do not each start on a line of their own, with their dashes in one column.
    fn of(text: &str) -> Option<Self> {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let key = lines.iter().position(|line| line.starts_with("failures:"))?;
        let column = |line: &str| line.len() - line.trim_start_matches(' ').len();
        let is_comment = |line: &str| line.trim_start().starts_with('#') || line.trim().is_empty();
        let indent = lines[key + 1..].iter().find(|line| !is_comment(line)).map(|line| column(line))?;
        let (mut starts, mut end) = (Vec::new(), lines.len());
        for (place, line) in lines.iter().enumerate().skip(key + 1) {
            if is_comment(line) || column(line) > indent {
                continue;
            }
            if column(line) < indent || !line.trim_start().starts_with("- ") {
                end = place;
                break;
            }
            starts.push(place);
        }
        // A comment that is indented further than the dashes belongs to the entry above it.
        let above = |place: usize| {
            let is_above =
                |line: &&&str| is_comment(line) && (line.trim().is_empty() || column(line) <= indent);
            place - lines[key + 1..place].iter().rev().take_while(is_above).count()
        };
        let text = |from: usize, to: usize| lines[from..to].concat();
        let ends = starts.iter().skip(1).chain([&end]).map(|next| above(*next));
        let entries =
            starts.iter().zip(ends).map(|(start, end)| (text(above(*start), *start), text(*start, end)));
        let entries: Vec<_> = entries.collect();
        let first = *starts.first()?;
        Some(Self { head: text(0, above(first)), entries, tail: text(above(end), lines.len()), indent })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "\
# Mine.
backend: mine   # by its own name
failures:
  # What is slow to mend.
  - id: one
    suites: [ci]    # not smoke
    where: rank == 1
    signature: wrong-value
    kind: bug
    reason: >
      Words of mine,
      - in a block.
    # driver: {below: \"2\"}

  # See #7.
  - id: two
    suites: [ci]
    where: rank == 2
    signature: wrong-value
    kind: bug
    reason: Two.
  - {id: three, suites: [ci], where: rank == 3, signature: wrong-value, kind: bug, reason: Three.}
# The end.
";

    fn list(text: &str) -> KnownFailuresForm {
        read(text).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn a_list_that_says_it_already_is_left_as_it_is() {
        let flow = "backend: mine # my own\nfailures: []\n";
        for text in [OLD, flow, &OLD.replace('\n', "\r\n")] {
            assert_eq!(list(text).to_yaml(Some(text), None), text);
        }
    }

    #[test]
    fn what_is_as_it_was_keeps_its_text() {
        let mut form = list(OLD);
        form.failures[1].filter = Some("rank > 2".to_owned());
        form.failures.remove(2);
        let new = KnownFailureForm { id: "new".to_owned(), ..form.failures[1].clone() };
        form.failures.push(new);
        let (before, behind) = OLD.split_once("rank == 2").expect("it is there");
        let two = "    signature: wrong-value\n    kind: bug\n    reason: Two.\n";
        let new = format!("  - id: new\n    suites: [ci]\n    where: rank > 2\n{two}");
        let expected = format!("{before}rank > 2\n{two}{new}# The end.\n");
        assert!(behind.ends_with("# The end.\n"));
        assert_eq!(form.to_yaml(Some(OLD), None), expected);
        // The first entry is removed with the comments above it, and dashes may have another column.
        form.failures.remove(0);
        let left = OLD.replace("\n  ", "\n").replace("# The end.\n", "");
        let left = left
            .split_once("backend: mine   # by its own name\n")
            .map(|(_, rest)| format!("{rest}backend: mine\n"));
        let text = form.to_yaml(left.as_deref(), None);
        let start = "failures:\n\n# See #7.\n- id: two\n  suites: [ci]\n  where: rank > 2\n";
        assert!(text.starts_with(start) && text.ends_with("  reason: Two.\nbackend: mine\n"), "{text}");
    }

    /// A list in any shape is written with the intended content.
    #[test]
    fn a_list_of_another_shape_is_written_anew() {
        let flow = "# Mine.\nbackend: mine # by its own name\nfailures: [{id: one, suites: [ci], where: rank == 1, signature: wrong-value, kind: bug, reason: One.}]\n";
        let mut form = list(flow);
        "Other words.".clone_into(&mut form.failures[0].reason);
        let text = form.to_yaml(Some(flow), None);
        assert!(says_the_same(&list(&text), &form), "{text}");
        assert!(text.starts_with("# Mine.\nbackend: mine\nfailures:\n  - id: one\n"), "{text}");
        let mut none = list(OLD);
        none.failures.clear();
        assert_eq!(none.to_yaml(Some(OLD), None), "# Mine.\nbackend: mine\nfailures: []\n");
    }
}
