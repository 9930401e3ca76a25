//! Names of backends and suites as those of folders and files.

/// A name with lower-case letters, digits and hyphens alone, of at most 60 letters.
pub(crate) fn plain(name: &str) -> String {
    let letters = name
        .to_lowercase()
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' })
        .collect::<String>();
    let words: Vec<&str> = letters.split('-').filter(|word| !word.is_empty()).collect();
    words.join("-").chars().take(60).collect()
}
