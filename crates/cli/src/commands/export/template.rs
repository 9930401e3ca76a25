//! Templates of programs: text with `@NAME@` in the place of each value.

/// Fills in a template. Values are not searched for names, so that a value cannot start another one.
///
/// # Panics
///
/// If the template has a name without a value. Every template is a part of this program.
pub(super) fn fill(template: &str, values: &[(&str, String)]) -> String {
    let mut text = String::new();
    for (place, part) in template.split('@').enumerate() {
        if place % 2 == 0 {
            text += part;
        } else {
            let value = values.iter().find(|(name, _)| *name == part);
            text += &value.unwrap_or_else(|| unreachable!("the template's `{part}` has no value")).1;
        }
    }
    text
}

/// Lines behind a comment's mark.
pub(super) fn comment(mark: &str, lines: &[String]) -> String {
    let lines: Vec<String> =
        lines.iter().map(|line| format!("{mark} {line}").trim_end().to_owned()).collect();
    lines.join("\n")
}

/// Lines with this indentation, which a template has before the first one.
pub(super) fn indented(indent: usize, lines: &[&str]) -> String {
    lines.join(&format!("\n{}", " ".repeat(indent)))
}
