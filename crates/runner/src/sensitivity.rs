//! The sensitivity of a case: the classes of faults that it can show. Only an output with a NaN can lose a
//! NaN's bits. Only an operator that runs on other data can remember its first run. An element from the wrong
//! place is sure to show only if no two elements are equal. An element that stayed 0 is sure to show only if
//! no expected element is 0.
//!
//! A known failure of such a class depends on the data as much as on the desc, and no predicate over descs
//! describes it. So an entry leaves out cases that are not sensitive to its class. A case that may pass
//! despite the fault does not disprove an entry when it passes: a quiet NaN may come through unchanged, and a
//! wrong element may hold the right value.

use dmlcts_model::{Allowed, DataType, Desc, Offsets, Tensor, Value, element_count};

use crate::{
    Class, Difference,
    compare::{bits, element, float_of},
};

/// Whether a case shows a fault of some class in its backend.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Sensitivity {
    /// Never.
    No,
    /// Sometimes: the case may pass despite the fault.
    Perhaps,
    /// Always.
    #[default]
    Yes,
}

/// The sensitivity of a case to every class.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sensitivities {
    floats: [Sensitivity; 3],
    remembered: Sensitivity,
    places: Sensitivity,
    answers: Sensitivity,
}

/// The differences that only some floating-point values can show. Their order is the order of `floats` in
/// [`Sensitivities`].
const OF_FLOATS: [Difference; 3] =
    [Difference::ZeroSign, Difference::DenormalFlushed, Difference::NanCanonicalised];

/// The maximum number of elements of a tensor that is searched for equal elements.
const MOST_COMPARED: u128 = 1 << 20;

impl Sensitivities {
    /// The sensitivities of a case, whose runs have these inputs and expected outputs. `on_other_data` is
    /// whether it runs on other data, too.
    pub(crate) fn of<'a>(
        desc: &Desc,
        runs: &(impl Iterator<Item = (&'a [u8], &'a [u8])> + Clone),
        on_other_data: bool,
    ) -> Self {
        let Some(output) = &desc.output else { return Self::default() };
        let floats = OF_FLOATS.map(|difference| {
            let of_runs = runs.clone().map(|(_, expected)| sensitivity(difference, output, expected));
            of_runs.max().unwrap_or(Sensitivity::No)
        });
        let tells_places = runs.clone().any(|(given, expected)| tells_places(desc, given, expected));
        Self {
            floats,
            remembered: if on_other_data { Sensitivity::Yes } else { Sensitivity::No },
            places: if tells_places { Sensitivity::Yes } else { Sensitivity::Perhaps },
            answers: Sensitivity::Yes,
        }
    }

    /// Adjusts the sensitivities for open questions that allow these answers. If none of them allows an
    /// output, the output is sure to show on two conditions: the answers allow exactly one way to run, and
    /// the data distinguish all elements.
    pub(crate) fn with_answers(self, allowed: &[Allowed]) -> Self {
        let mut runs = allowed.iter().filter(|answer| **answer != Allowed::Reject);
        let answers = match (runs.next(), runs.next()) {
            (None, _) => Sensitivity::Yes,
            (Some(Allowed::Output(_)), None) => self.places,
            _ => Sensitivity::Perhaps,
        };
        Self { answers, ..self }
    }

    /// The sensitivity to a class.
    pub fn to(self, class: Class) -> Sensitivity {
        match class {
            Class::Remembered => self.remembered,
            Class::Output(Difference::WrongValue) => self.places,
            Class::OutsideQuestion => self.answers,
            Class::Output(difference) => {
                let place = OF_FLOATS.iter().position(|known| *known == difference);
                place.map_or(Sensitivity::Yes, |place| self.floats[place])
            }
            _ => Sensitivity::Yes,
        }
    }
}

/// Whether the output of a run shows every element from the wrong place, and every element that stayed 0.
/// That holds on three conditions. No two elements of the input are equal. None of them equals a scalar that
/// may take its place. No element of the expected output is 0.
pub(crate) fn tells_places(desc: &Desc, given: &[u8], expected: &[u8]) -> bool {
    let (Some(input), Some(output)) = (&desc.input, &desc.output) else { return false };
    let Some(size) = input.data_type.element_size() else { return false };
    let is_scalar = |element: &[u8]| {
        let mut members = desc.members.iter();
        members.any(|member| matches!(member, Value::Scalar(bytes) if bytes.starts_with(element)))
    };
    let is_element = |offset: u64| element(given, offset, size).is_some_and(is_scalar);
    are_distinct(input, given)
        && elements(output, expected).is_some_and(|all| !all.contains(&0))
        && input
            .sizes
            .as_ref()
            .is_some_and(|sizes| !Offsets::new(sizes, input.strides.as_deref()).any(is_element))
}

/// Whether no two elements of a tensor are equal, so that a value identifies its place. Two elements at one
/// place are equal.
fn are_distinct(tensor: &Tensor, memory: &[u8]) -> bool {
    let Some(mut elements) = elements(tensor, memory) else { return false };
    elements.sort_unstable();
    elements.windows(2).all(|pair| pair[0] != pair[1])
}

/// The elements of a tensor, in the order of coordinates; `None` if there are too many, or if the memory is
/// too short.
pub(crate) fn elements(tensor: &Tensor, memory: &[u8]) -> Option<Vec<u64>> {
    let (sizes, size) = (tensor.sizes.as_ref()?, tensor.data_type.element_size()?);
    if element_count(sizes) > MOST_COMPARED {
        return None;
    }
    let offsets = Offsets::new(sizes, tensor.strides.as_deref());
    offsets.map(|offset| element(memory, offset, size).map(bits)).collect()
}

/// The sensitivity of an output with these expected elements to a kind of difference.
fn sensitivity(difference: Difference, tensor: &Tensor, expected: &[u8]) -> Sensitivity {
    let Some(size) = tensor.data_type.element_size() else { return Sensitivity::No };
    let Some(sizes) = &tensor.sizes else { return Sensitivity::No };
    let mut most = Sensitivity::No;
    for offset in Offsets::new(sizes, tensor.strides.as_deref()) {
        let Some(element) = element(expected, offset, size) else { break };
        most = most.max(sensitivity_of(difference, tensor.data_type, bits(element)));
        if most == Sensitivity::Yes {
            break;
        }
    }
    most
}

/// The sensitivity of one element's bits.
pub(crate) fn sensitivity_of(difference: Difference, data_type: DataType, bits: u64) -> Sensitivity {
    let Some(float) = float_of(data_type) else { return Sensitivity::No };
    let (certain, possible) = match difference {
        // Arithmetic makes a signalling NaN quiet. It may or may not change the other bits of a quiet NaN.
        Difference::NanCanonicalised => (float.is_signalling(bits), float.is_nan(bits)),
        Difference::DenormalFlushed => (float.is_denormal(bits), false),
        Difference::ZeroSign => (float.is_zero(bits) && bits != 0, bits == 0),
        Difference::WrongValue | Difference::Unwritten => (true, true),
    };
    match (certain, possible) {
        (true, _) => Sensitivity::Yes,
        (false, true) => Sensitivity::Perhaps,
        (false, false) => Sensitivity::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmlcts_model::List;

    #[test]
    fn only_values_that_can_lose_something_are_sensitive() {
        use Sensitivity::{No, Perhaps, Yes};
        let of = |data_type, bits: u64| {
            let width = DataType::element_size(data_type).unwrap();
            let tensor = Tensor::packed(data_type, List::from_slice(&[1]));
            OF_FLOATS.map(|difference| sensitivity(difference, &tensor, &bits.to_le_bytes()[..width]))
        };
        // In this order: a zero's sign, a denormal, a NaN.
        assert_eq!(of(DataType::FLOAT16, 0x3C00), [No, No, No], "1");
        assert_eq!(of(DataType::FLOAT16, 0x7C00), [No, No, No], "an infinity");
        assert_eq!(of(DataType::FLOAT16, 0x7C01), [No, No, Yes], "a signalling NaN");
        assert_eq!(of(DataType::FLOAT16, 0xFE01), [No, No, Perhaps], "a quiet NaN");
        assert_eq!(of(DataType::FLOAT32, 0x8000_0000), [Yes, No, No], "-0");
        assert_eq!(of(DataType::FLOAT32, 0), [Perhaps, No, No], "0");
        assert_eq!(of(DataType::FLOAT64, 1), [No, Yes, No], "the least denormal");
        assert_eq!(of(DataType::UINT16, 0x7C01), [No, No, No], "integers have none of this");
    }

    #[test]
    fn an_operator_that_ran_on_one_input_has_shown_nothing_of_its_memory() {
        let of = |on_other_data| of_bytes(&[7], on_other_data);
        assert_eq!(of(false).to(Class::Remembered), Sensitivity::No);
        assert_eq!(of(true).to(Class::Remembered), Sensitivity::Yes);
        assert_eq!(of(false).to(Class::Output(Difference::WrongValue)), Sensitivity::Yes);
        assert_eq!(of(false).to(Class::Undeclared), Sensitivity::Yes);
    }

    #[test]
    fn elements_from_the_wrong_place_show_where_no_two_are_alike() {
        let wrong = Class::Output(Difference::WrongValue);
        assert_eq!(of_bytes(&[1, 2, 3], false).to(wrong), Sensitivity::Yes);
        assert_eq!(of_bytes(&[1, 2, 1], false).to(wrong), Sensitivity::Perhaps);
        assert_eq!(of_bytes(&[1, 2, 0], false).to(wrong), Sensitivity::Perhaps);
        let mut broadcast = Tensor::packed(DataType::UINT8, List::from_slice(&[2, 2]));
        broadcast.strides = Some(List::from_slice(&[0, 1]));
        assert!(!are_distinct(&broadcast, &[1, 2]), "two coordinates are at one place");
        broadcast.strides = Some(List::from_slice(&[2, 1]));
        assert!(are_distinct(&broadcast, &[1, 2, 3, 4]) && !are_distinct(&broadcast, &[1, 2]));
    }

    #[test]
    fn an_output_that_no_question_allows_shows_where_one_alone_is_allowed() {
        use Allowed::{Accept, Output, Reject};
        let to = |bytes: &[u8], allowed: &[Allowed]| {
            of_bytes(bytes, false).with_answers(allowed).to(Class::OutsideQuestion)
        };
        assert_eq!(to(&[1, 2], &[Reject, Output(0)]), Sensitivity::Yes);
        assert_eq!(to(&[1, 1], &[Reject, Output(0)]), Sensitivity::Perhaps, "elements that are alike");
        assert_eq!(to(&[1, 2], &[Output(0), Output(1)]), Sensitivity::Perhaps, "the other reading's output");
        assert_eq!(to(&[1, 2], &[Reject, Accept]), Sensitivity::Perhaps, "any output");
        assert_eq!(to(&[1, 1], &[Reject]), Sensitivity::Yes, "no output");
    }

    /// The sensitivities of a case that copies these bytes.
    fn of_bytes(bytes: &[u8], on_other_data: bool) -> Sensitivities {
        let tensor = Tensor::packed(DataType::UINT8, List::from_slice(&[bytes.len() as i64]));
        let signature =
            std::sync::Arc::new(dmlcts_model::Signature { operator: "COPY".to_owned(), members: vec![] });
        let desc = Desc::usual(signature, tensor.clone(), tensor);
        Sensitivities::of(&desc, &std::iter::once((bytes, bytes)), on_other_data)
    }
}
