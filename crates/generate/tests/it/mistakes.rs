//! The messages for mistakes in a suite: the location, the expectation, and the closest name.

use dmlcts_generate::Suite;
use dmlcts_spec::{Library, Source};

/// The message for a suite with this part.
fn message(part: &str) -> String {
    let text =
        format!("suite: try\npurpose: To be refused.\nparts:\n  - {}\n", part.trim().replace('\n', "\n    "));
    refused(&text)
}

fn refused(text: &str) -> String {
    let suite = match Suite::parse(&Source::new("try.yaml", text)) {
        Ok(suite) => suite,
        Err(error) => return error.to_string(),
    };
    match suite.expand(Library::embedded(), 0) {
        Ok(_) => panic!("nothing is wrong with\n{text}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn mistakes_name_their_place_and_the_remedy() {
    let parts = [
        "id: a\nstrategy: randm",
        "id: a\nstrategy: random\ncounts: 7",
        "id: a\nstrategy: random\ncount: many",
        "strategy: random",
        "id: a\nstrategy: random\noperators: [SLICE2]",
        "id: a\nstrategy: random\ntypes: [FLOAT31, INT4]",
        "id: a\nstrategy: random\nranks: {min: 3, max: 9}",
        "id: a\nstrategy: random\nelements: 0",
        "id: a\nstrategy: negative\ncount: 7",
        "id: a\nstrategy: covering\nstrength: 5",
        "id: a\nstrategy: random\nstrength: 2",
        "id: a\nstrategy: exhaustive",
        "id: a\nstrategy: exhaustive\nbounds:\n  - that: InputTensor.Size <= 8",
        "id: a\nstrategy: exhaustive\nbounds:\n  - that: InputTensor.Sizes + 8",
        "id: a\nstrategy: exhaustive\nbounds:\n  - that: InputTensor.Sizes <=",
        "id: a\nstrategy: exhaustive\nbounds:\n  - {operator: SLICE, that: StartPadding <= 1}",
        "id: a\nstrategy: exhaustive\nbounds:\n  - {operator: PADDING, that: StartPadding <= 1}",
    ];
    let mut all: Vec<String> = parts.into_iter().map(message).collect();
    all.push(refused(
        "suite: try\npurpose: Twice.\nparts:\n  - {id: a, strategy: large}\n  - {id: a, strategy: large}\n",
    ));
    all.push(refused("suite: [\n"));
    insta::assert_snapshot!(all.join("\n\n----\n\n"));
}

#[test]
fn a_suite_that_is_not_there_is_said_not_to_be() {
    assert_eq!(
        Suite::load("smok").unwrap_err().to_string(),
        "there is no suite `smok`; name one of smoke, ci, exhaustive, exhaustive-large, soak, fuzz, or the path of a YAML file"
    );
    // The system's own message follows.
    let unread = Suite::load("no/such.yaml").unwrap_err().to_string();
    assert!(unread.starts_with("cannot read no/such.yaml: "), "{unread}");
}

#[test]
fn a_box_without_an_end_is_refused_with_what_lacks_a_bound() {
    let boxes = [
        // In SLICE1, everything except the strides follows from the input's size.
        "id: a\nstrategy: exhaustive\nranks: {min: 1, max: 2}\nbounds:\n  - that: InputTensor.Sizes <= 8",
        "id: a\nstrategy: exhaustive\noperators: [SLICE1]\nbounds:\n  - that: InputTensor.Sizes >= 3",
        "id: a\nstrategy: exhaustive\noperators: [PADDING1]\nbounds:\n  - that: InputTensor.Sizes <= 8\n  \
         - that: StartPadding <= 2\n  - that: PaddingMode == EDGE or EndPadding <= 2",
    ];
    insta::assert_snapshot!(boxes.map(message).join("\n\n----\n\n"));
    // The additions that the messages suggest are enough.
    let [first, ..] = boxes;
    let added: String = message(first)
        .lines()
        .filter(|line| line.contains("add a bound"))
        .flat_map(|line| line.split('`').skip(1).step_by(2).map(|bound| format!("\n  {bound}")))
        .collect();
    let text = format!(
        "suite: try\npurpose: Mended.\nparts:\n  - {}\n",
        format!("{first}{added}").replace('\n', "\n    ")
    );
    let suite = Suite::parse(&Source::new("try.yaml", text)).unwrap();
    let expansion = suite.expand(Library::embedded(), 0).map(|expansion| expansion.parts().len());
    assert!(matches!(expansion, Ok(1)), "{}", expansion.unwrap_err());
}

/// Memory and time before the first case are bounded.
#[test]
fn a_box_with_too_many_tuples_is_refused_at_its_bounds() {
    let sized = |size: u32| {
        format!(
            "id: a\nstrategy: exhaustive\noperators: [SLICE1]\nranks: {{min: 1, max: 1}}\nbounds:\n  \
             - that: InputTensor.Sizes <= {size}\n  - that: -9 <= InputWindowStrides <= 9"
        )
    };
    insta::assert_snapshot!(message(&sized(1_000_000)));
    let text = format!("suite: try\npurpose: Fits.\nparts:\n  - {}\n", sized(20).replace('\n', "\n    "));
    let suite = Suite::parse(&Source::new("try.yaml", text)).unwrap();
    assert!(suite.expand(Library::embedded(), 0).is_ok());
}

#[test]
fn a_box_in_which_a_rule_of_whole_tensors_can_fail_is_refused() {
    let sized = |size: u32| {
        format!(
            "id: a\nstrategy: exhaustive\noperators: [SLICE1]\nranks: {{min: 8, max: 8}}\nbounds:\n  \
             - that: InputTensor.Sizes <= {size}\n  - that: InputWindowStrides == 1"
        )
    };
    // 16 to the eighth is 2^32.
    insta::assert_snapshot!(message(&sized(16)));
    let text = format!("suite: try\npurpose: Fits.\nparts:\n  - {}\n", sized(15).replace('\n', "\n    "));
    let suite = Suite::parse(&Source::new("try.yaml", text)).unwrap();
    assert!(suite.expand(Library::embedded(), 0).is_ok());
}

#[test]
fn parts_that_can_have_no_cases_are_refused() {
    let mut all = vec![refused("suite: try\npurpose: Nothing.\nparts: []\n")];
    for empty in ["count: 0", "types: []", "operators: []", "fills: []"] {
        all.push(message(&format!("id: a\nstrategy: random\n{empty}")));
    }
    all.push(message("id: a\nstrategy: negative\neach: 0"));
    insta::assert_snapshot!(all.join("\n\n----\n\n"));
}
