//! The contents of each suite: counts by part and operator, and a digest of every case line, so that a change
//! in generation shows in review.

use std::{collections::BTreeMap, fmt::Write as _};

use dmlcts_generate::{Length, Omitted, Suite};
use dmlcts_model::line;
use dmlcts_spec::Library;

/// The number of cases from the start of a longer part that the digest includes.
const DIGESTED: u128 = 20_000;

fn composition(name: &str) -> String {
    let suite = Suite::load(name).unwrap_or_else(|error| panic!("{error}"));
    let expansion = suite.expand(Library::embedded(), 0).unwrap_or_else(|error| panic!("{error}"));
    let mut text = String::new();
    let mut case = expansion.blank().unwrap();
    let mut id = String::new();
    for part in expansion.parts() {
        let digested = match part.length() {
            Length::Finite(length) => length.min(DIGESTED),
            Length::Endless => DIGESTED,
        };
        let mut hasher = blake3::Hasher::new();
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for index in 0..digested {
            assert!(part.case(index, &mut case));
            id.clear();
            line::write(&case, &mut id);
            id.push('\n');
            hasher.update(id.as_bytes());
            *counts.entry(case.desc.signature.operator.clone()).or_default() += 1;
        }
        let counts: Vec<String> =
            counts.iter().map(|(operator, count)| format!("{operator} {count}")).collect();
        writeln!(text, "{} ({}): {}", part.id(), part.strategy(), part.length()).unwrap();
        let digest = &hasher.finalize().to_hex()[..16];
        writeln!(text, "  first {digested}: {}, digest {digest}", counts.join(", ")).unwrap();
        for row in part.rows() {
            let name = format!("{} {}", row.operator, row.setting);
            writeln!(text, "  {} rank {}: {}", name.trim_end(), row.rank, row.cases).unwrap();
        }
        let Omitted { is_cut, combinations } = part.omitted();
        if is_cut || combinations > 0 {
            writeln!(text, "  without {combinations} combinations; cut: {is_cut}").unwrap();
        }
    }
    text
}

#[test]
fn suites_are_made_of_what_the_snapshots_say() {
    for name in Suite::names() {
        insta::assert_snapshot!(name, composition(name));
    }
}
