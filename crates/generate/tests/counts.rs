//! The counts that the exhaustive box must have, and the sizes that suites promise to keep to.

use std::time::Instant;

use dmlcts_generate::{Certificate, Length, Suite};
use dmlcts_spec::Library;

fn expand(name: &str) -> dmlcts_generate::Expansion<'static> {
    let suite = Suite::load(name).unwrap_or_else(|error| panic!("{error}"));
    suite.expand(Library::embedded(), 0).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_exhaustive_box_has_the_counts_of_the_prototype() {
    let start = Instant::now();
    let expansion = expand("exhaustive");
    let certificate = Certificate::of(&expansion).unwrap();
    println!("{certificate} {:?}", start.elapsed());
    let count = |part: usize, operator: &str| -> u128 {
        let rows = certificate.parts[part].rows.iter();
        rows.filter(|row| row.operator == operator).map(|row| row.cases).sum()
    };
    assert_eq!(["SLICE", "SLICE1", "PADDING1"].map(|name| count(0, name)), [480, 2_888, 19_363]);
    assert_eq!(["SLICE", "SLICE1", "PADDING1"].map(|name| count(1, name)), [10_816, 160_000, 2_138_309]);
    assert!(certificate.parts.iter().all(|part| part.remarks.is_empty()));
}

#[test]
fn suites_are_as_small_as_they_promise() {
    for (name, most) in [("smoke", 5_000), ("ci", 250_000)] {
        let start = Instant::now();
        let expansion = expand(name);
        println!("{name} expanded {:?}", start.elapsed());
        for part in expansion.parts() {
            let start = Instant::now();
            println!("  {} {} {:?}", part.id(), part.length(), start.elapsed());
            for remark in part.remarks() {
                println!("     {remark}");
            }
        }
        assert!(expansion.length() <= Length::Finite(most), "{name} has {} cases", expansion.length());
    }
    assert_eq!(expand("soak").length(), Length::Endless);
    println!("{}", expand("exhaustive-large").length());
}
