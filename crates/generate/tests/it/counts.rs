//! The exact counts of the exhaustive box, and the maximum sizes of suites.

use dmlcts_generate::{Certificate, Length, Suite};
use dmlcts_spec::Library;

fn expand(name: &str) -> dmlcts_generate::Expansion<'static> {
    let suite = Suite::load(name).unwrap_or_else(|error| panic!("{error}"));
    suite.expand(Library::embedded(), 0).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_exhaustive_box_has_the_known_counts() {
    let expansion = expand("exhaustive");
    let certificate = Certificate::of(&expansion).unwrap();
    let count = |part: usize, operator: &str| -> u128 {
        let rows = certificate.parts[part].rows.iter();
        rows.filter(|row| row.operator == operator).map(|row| row.cases).sum()
    };
    assert_eq!(["SLICE", "SLICE1", "PADDING1"].map(|name| count(0, name)), [480, 2_888, 19_363]);
    assert_eq!(["SLICE", "SLICE1", "PADDING1"].map(|name| count(1, name)), [10_816, 160_000, 2_138_309]);
}

#[test]
fn suites_are_as_small_as_they_promise() {
    for (name, most) in [("smoke", 5_000), ("ci", 250_000)] {
        let length = expand(name).length();
        assert!(length <= Length::Finite(most), "{name} has {length} cases");
    }
    assert_eq!(expand("soak").length(), Length::Endless);
}

#[test]
fn a_suite_starts_at_once_and_any_index_can_be_asked_for() {
    // No program could list ten to the eighteenth cases.
    let expansion = expand("soak");
    let mut case = expansion.blank().unwrap();
    assert!(expansion.case(1_000_000_000_000_000_000, &mut case).is_some());
    let exhaustive = expand("exhaustive");
    let Length::Finite(length) = exhaustive.length() else { panic!("it ends") };
    assert!(exhaustive.case(length - 1, &mut case).is_some());
    assert!(exhaustive.case(length, &mut case).is_none());
    assert!(exhaustive.case(u128::MAX, &mut case).is_none());
}

#[test]
fn no_desc_of_the_box_comes_twice() {
    let expansion = expand("exhaustive");
    let part = &expansion.parts()[0];
    let mut case = expansion.blank().unwrap();
    let mut lines = std::collections::BTreeSet::new();
    let mut index = 0;
    while part.case(index, &mut case) {
        assert!(lines.insert(case.to_string()), "{case}");
        index += 1;
    }
    assert_eq!(Length::Finite(lines.len() as u128), part.length());
}
