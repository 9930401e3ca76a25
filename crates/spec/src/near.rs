//! Close names: what somebody who misspelt a name probably meant.

/// The candidate that is closest to a name, where one is close enough to be what was meant.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let tolerance = name.chars().count().div_ceil(3).clamp(1, 4);
    let scored = candidates.into_iter().map(|candidate| (distance(name, candidate), candidate));
    let (score, candidate) = scored.min_by_key(|&(score, _)| score)?;
    // A name that is the beginning of another, or differs from it in case, is close however far it is.
    let (short, long) = (name.to_lowercase(), candidate.to_lowercase());
    let begins = short.len() >= 3 && (long.starts_with(&short) || short.starts_with(&long));
    (score <= tolerance || begins || short == long).then_some(candidate)
}

/// How many letters must be changed, added, dropped or swapped with their neighbour. Case counts as half a
/// change would: not at all beside a real one, so that `edge` finds `EDGE`.
fn distance(a: &str, b: &str) -> usize {
    let fold = |text: &str| text.chars().take(64).flat_map(char::to_lowercase).collect::<Vec<_>>();
    let (a, b) = (fold(a), fold(b));
    let mut rows = [Vec::new(), (0..=b.len()).collect::<Vec<_>>(), Vec::new()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            let changed = rows[1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = changed.min(rows[1][j] + 1).min(row[j - 1] + 1);
            if swap {
                best = best.min(rows[0][j - 2] + 1);
            }
            row.push(best);
        }
        rows = [std::mem::take(&mut rows[1]), row, Vec::new()];
    }
    rows[1].last().copied().unwrap_or(0)
}

/// Lists names for a message, as `a`, `b` or `c`; a long list is cut.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const MOST: usize = 12;
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => "nothing".to_owned(),
        [only] => only.clone(),
        [first @ .., last] if names.len() <= MOST => format!("{} or {last}", first.join(", ")),
        _ => format!("{} and {} more", names[..MOST].join(", "), names.len() - MOST),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_names_find_what_was_meant() {
        let names = ["InputWindowOffsets", "InputWindowSizes", "InputWindowStrides", "Sizes"];
        assert_eq!(nearest("InputWindowSize", names), Some("InputWindowSizes"));
        assert_eq!(nearest("inputwindowstrides", names), Some("InputWindowStrides"));
        assert_eq!(nearest("Szies", names), Some("Sizes"));
        assert_eq!(nearest("banana", names), None);
        assert_eq!(nearest("x", []), None);
    }

    #[test]
    fn lists_read_as_sentences() {
        assert_eq!(list(["a"]), "`a`");
        assert_eq!(list(["a", "b", "c"]), "`a`, `b` or `c`");
        assert_eq!(list([]), "nothing");
    }
}
