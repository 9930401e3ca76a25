//! Lists of names in messages, and advice on names that are misspelled.

use dmlcts_model::FeatureLevel;

/// Lists alternatives: `a`, `b` or `c`. A long list is cut.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    joined(names, "or")
}

/// Lists names that belong together: `a`, `b` and `c`. A long list is cut.
pub(crate) fn all<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    joined(names, "and")
}

/// The feature levels, oldest first.
pub(crate) fn levels() -> String {
    FeatureLevel::all().iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Advises the name that is close to the one that is written, or something else if there is none.
pub(crate) fn suggested(near: Option<&str>, otherwise: impl FnOnce() -> String) -> String {
    near.map_or_else(otherwise, |near| format!("did you mean `{near}`?"))
}

fn joined<'a>(names: impl IntoIterator<Item = &'a str>, word: &str) -> String {
    const MOST: usize = 12;
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => "nothing".to_owned(),
        [only] => only.clone(),
        [first @ .., last] if names.len() <= MOST => format!("{} {word} {last}", first.join(", ")),
        _ => format!("{} and {} more", names[..MOST].join(", "), names.len() - MOST),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_read_as_sentences() {
        assert_eq!(list(["a"]), "`a`");
        assert_eq!(list(["a", "b", "c"]), "`a`, `b` or `c`");
        assert_eq!(list([]), "nothing");
    }
}
