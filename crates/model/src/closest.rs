//! Finds the known name that is closest to a misspelled one. All messages with "did you mean" use this
//! function, so that they apply the same criterion.

/// The candidate closest to `name`, if it is close enough for a misspelling. Case does not matter. At most a
/// third of the letters may be wrong, missing, added or swapped.
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A name of hundreds of letters is no misspelling, and the table below is as wide as the name.
    if name.len() > 64 {
        return None;
    }
    let name: Vec<char> = name.chars().map(|letter| letter.to_ascii_lowercase()).collect();
    candidates
        .into_iter()
        .map(|candidate| (distance(&name, candidate), candidate))
        .filter(|&(distance, candidate)| distance <= (candidate.len().max(name.len()) / 3).max(1))
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// The number of letters to insert, delete, replace, or swap with their neighbour.
fn distance(name: &[char], candidate: &str) -> usize {
    let candidate: Vec<char> = candidate.chars().map(|letter| letter.to_ascii_lowercase()).collect();
    // `table[i][j]` compares the first i letters of the candidate with the first j of the name.
    let mut table = vec![vec![0; name.len() + 1]; candidate.len() + 1];
    table[0] = (0..=name.len()).collect();
    for i in 1..=candidate.len() {
        table[i][0] = i;
        for j in 1..=name.len() {
            let replaced = table[i - 1][j - 1] + usize::from(candidate[i - 1] != name[j - 1]);
            table[i][j] = replaced.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
            if i > 1 && j > 1 && candidate[i - 1] == name[j - 2] && candidate[i - 2] == name[j - 1] {
                table[i][j] = table[i][j].min(table[i - 2][j - 2] + 1);
            }
        }
    }
    table[candidate.len()][name.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_find_their_name_and_strangers_do_not() {
        let names = ["SLICE", "SLICE1", "PADDING1"];
        assert_eq!(closest("SLICE2", names), Some("SLICE"));
        assert_eq!(closest("slice1", names), Some("SLICE1"));
        assert_eq!(closest("PADING1", names), Some("PADDING1"));
        assert_eq!(closest("itoa", ["iota", "random"]), Some("iota"));
        assert_eq!(closest("CONVOLUTION", names), None);
        assert_eq!(closest("", names), None);
        assert_eq!(closest(&"S".repeat(1000), names), None);
    }
}
