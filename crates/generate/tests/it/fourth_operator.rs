//! An operator from a separate YAML file goes through every strategy without code for it.

use dmlcts_generate::{Length, Strategy, Suite};
use dmlcts_model::{FeatureLevel, List, line};
use dmlcts_spec::{Library, Scratch, Source, Validity};

const SUITE: &str = "
suite: fourth
purpose: Every strategy on one operator.
parts:
  - {id: documented, strategy: documented, operators: [TILE]}
  - {id: negative, strategy: negative, operators: [TILE]}
  - {id: boundary, strategy: boundary, operators: [TILE]}
  - id: exhaustive
    strategy: exhaustive
    operators: [TILE]
    ranks: {min: 1, max: 2}
    types: [INT8]
    bounds:
      - that: InputTensor.Sizes <= 3
      - that: Repeats <= 4
  - {id: covering, strategy: covering, operators: [TILE], strength: 3}
  - {id: layout, strategy: layout, operators: [TILE], count: 200}
  - {id: large, strategy: large, operators: [TILE], elements: 70000}
  - {id: twins, strategy: twins, operators: [TILE]}
  - {id: random, strategy: random, operators: [TILE], count: 2000}
";

#[test]
fn every_strategy_serves_an_operator_that_it_has_never_seen() {
    let mut sources = Library::embedded_sources();
    sources.push(Source::new("tile.yaml", include_str!("../../../spec/tests/data/tile.yaml")));
    let library = Library::load(&sources).unwrap_or_else(|error| panic!("{error}"));
    let tile = library.operator("TILE").unwrap();
    let suite = Suite::parse(&Source::new("fourth.yaml", SUITE)).unwrap_or_else(|error| panic!("{error}"));
    let expansion = suite.expand(&library, 0).unwrap_or_else(|error| panic!("{error}"));
    let mut case = expansion.blank().unwrap();
    let mut scratch = Scratch::default();
    let output_size = tile.clauses().iter().position(|clause| clause.id == "tile.output-size").unwrap();
    let mut is_output_size_broken_alone = false;
    for part in expansion.parts() {
        let Length::Finite(length) = part.length() else { panic!("{} never ends", part.id()) };
        assert!(length > 0, "{} has no cases", part.id());
        let (mut valid, mut elements) = (0, 0);
        for index in 0..length {
            assert!(part.case(index, &mut case));
            let text = case.to_string();
            assert_eq!(line::parse(&text, library.signatures()).unwrap(), case);
            let judgement = tile.judge(&case.desc, FeatureLevel::NEWEST, &mut scratch);
            valid += u128::from(judgement.validity() != Validity::Invalid);
            is_output_size_broken_alone |= judgement.violated.iter().eq([output_size]);
            let sizes = case.desc.output.as_ref().and_then(|tensor| tensor.sizes.as_ref());
            let count = |sizes: &List| sizes.iter().fold(1_i64, |count, &size| count.saturating_mul(size));
            elements += sizes.map_or(0, count).min(1 << 20);
        }
        match part.strategy() {
            Strategy::Negative => assert!(valid > 0 && valid * 2 <= length, "each desc has a twin"),
            Strategy::Covering | Strategy::Boundary => assert!(valid < length && valid * 2 > length),
            Strategy::Random => {
                assert_eq!(valid, length);
                assert!((12..=32).contains(&(elements / length as i64)), "{}", elements / length as i64);
            }
            // Three sizes with one to four repeats each, on one axis and on two.
            Strategy::Exhaustive => assert_eq!(length, 12 + 144),
            _ => assert_eq!(valid, length, "{}", part.id()),
        }
    }
    assert!(is_output_size_broken_alone);
}

#[test]
fn a_clause_that_ties_axes_together_is_not_counted_over() {
    let tile = include_str!("../../../spec/tests/data/tile.yaml").replace(
        "\nsemantics:",
        "  - id: few\n    that: sum axes Repeats <= 6\n    cite: nowhere\n\nsemantics:",
    );
    let mut sources = Library::embedded_sources();
    sources.push(Source::new("tile.yaml", tile));
    let library = Library::load(&sources).unwrap_or_else(|error| panic!("{error}"));
    let expand = |repeats: u32, axes: u32| {
        let text = format!(
            "suite: tied\npurpose: Axes that share.\nparts:\n  - id: exhaustive\n    strategy: exhaustive\n    \
             operators: [TILE]\n    types: [INT8]\n    ranks: {{min: 1, max: {axes}}}\n    bounds:\n      \
             - that: InputTensor.Sizes <= 3\n      - that: Repeats <= {repeats}\n"
        );
        let suite = Suite::parse(&Source::new("tied.yaml", text)).unwrap_or_else(|error| panic!("{error}"));
        suite.expand(&library, 0).map(|expansion| expansion.length()).map_err(|error| error.to_string())
    };
    // Four repeats on each of two axes are more than six, three are not.
    let refused = expand(4, 2).unwrap_err();
    assert!(refused.contains("`tile.few` ties the axes of TILE together"), "{refused}");
    assert_eq!(expand(4, 1), Ok(Length::Finite(12)));
    assert_eq!(expand(3, 2), Ok(Length::Finite(9 + 81)));
}
