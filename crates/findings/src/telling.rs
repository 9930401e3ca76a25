//! Judges conditions on data: whether they say where a failure happens, or only where it shows.

use dmlcts_model::FeatureLevel;
use dmlcts_spec::{Library, Predicate, Scratch, expression::parse, program::Values};

use crate::{
    data::has_only_distinct_elements,
    label::{Label, Labelled},
    learned::Learned,
    near::conjuncts,
    vocabulary::words,
};

/// Whether some condition on the data is false for a pass whose data show an element from a wrong place, if
/// there is such a pass. A condition that holds for all of them, such as that data are not all 0, says only
/// where a failure shows.
pub(crate) fn tells_data_apart<'a>(
    learned: &Learned,
    labelled: impl Iterator<Item = &'a Labelled>,
    (library, level): (&Library, FeatureLevel),
) -> bool {
    let Some(operator) = library.operator(&learned.operator) else { return false };
    let of_data = words(operator).into_iter().filter(|word| word.is_of_data).map(|word| word.text);
    let of_data: Vec<String> = of_data.collect();
    let conditions = learned.predicates.iter().filter_map(|found| parse(&found.condition).ok());
    let conditions = conditions.flat_map(conjuncts).filter(|one| {
        let text = one.to_string();
        of_data.iter().any(|word| text.contains(word.as_str()))
    });
    let conditions = conditions.filter_map(|one| Predicate::from_expression(one, [operator.scope()]).ok());
    let conditions: Vec<Predicate> = conditions.collect();
    let (mut values, mut scratch) = (Values::default(), Scratch::default());
    let telling = labelled.filter(|one| {
        one.label == Label::Passed
            && one.case.desc.signature.operator == learned.operator
            && has_only_distinct_elements(&one.case)
            && operator.judge(&one.case.desc, level, &mut scratch).validity() == learned.validity
    });
    let is_false =
        |one: &&Labelled| conditions.iter().any(|condition| !condition.holds(&one.case, level, &mut values));
    let mut telling = telling.peekable();
    telling.peek().is_none() || telling.find(is_false).is_some()
}
