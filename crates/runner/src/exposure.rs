//! What a case can show: only an output with a NaN in it can lose a NaN's bits, and only an operator that runs on other data
//! can remember the first.
//!
//! A known failure of such a class is about the data as much as about the desc, and no predicate over descs tells where it
//! shows. So an entry leaves out by itself what is not exposed to its class, and a case that may pass all the same, since a NaN that is
//! quiet already can come through, says nothing of an entry when it passes.

use dmlcts_model::{DataType, Offsets, Tensor};

use crate::{
    Class, Difference,
    compare::{bits, element, float_of},
};

/// Whether a case whose backend has a fault of some class shows it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Exposure {
    /// It cannot.
    No,
    /// It can, and can pass all the same.
    Perhaps,
    /// It does.
    #[default]
    Yes,
}

/// The exposure of a case to every class.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Exposures {
    floats: [Exposure; 3],
    remembered: Exposure,
}

/// The differences that only some values of floats suffer; their places in [`Exposures`].
const OF_FLOATS: [Difference; 3] =
    [Difference::ZeroSign, Difference::DenormalFlushed, Difference::NanCanonicalised];

impl Exposures {
    /// Of a case with these expected outputs, which may have run on other data.
    pub(crate) fn of<'a>(
        tensor: &Tensor,
        outputs: &(impl Iterator<Item = &'a [u8]> + Clone),
        on_other_data: bool,
    ) -> Self {
        let floats = OF_FLOATS.map(|difference| {
            outputs.clone().map(|output| exposure(difference, tensor, output)).max().unwrap_or(Exposure::No)
        });
        Self { floats, remembered: if on_other_data { Exposure::Yes } else { Exposure::No } }
    }

    /// To this class.
    pub fn to(self, class: Class) -> Exposure {
        match class {
            Class::Remembered => self.remembered,
            Class::Output(difference) => {
                let place = OF_FLOATS.iter().position(|known| *known == difference);
                place.map_or(Exposure::Yes, |place| self.floats[place])
            }
            _ => Exposure::Yes,
        }
    }
}

/// Whether an output with these expected elements could differ so.
fn exposure(difference: Difference, tensor: &Tensor, expected: &[u8]) -> Exposure {
    let Some(size) = tensor.data_type.element_size() else { return Exposure::No };
    let Some(sizes) = &tensor.sizes else { return Exposure::No };
    let mut most = Exposure::No;
    for offset in Offsets::new(sizes, tensor.strides.as_deref()) {
        let Some(element) = element(expected, offset, size) else { break };
        most = most.max(exposure_of(difference, tensor.data_type, bits(element)));
        if most == Exposure::Yes {
            break;
        }
    }
    most
}

/// The same of one element's bits.
fn exposure_of(difference: Difference, data_type: DataType, bits: u64) -> Exposure {
    let Some(float) = float_of(data_type) else { return Exposure::No };
    let (certain, possible) = match difference {
        // Arithmetic makes a signalling NaN quiet; what becomes of the other bits of one that is quiet is its own affair.
        Difference::NanCanonicalised => (float.is_signalling(bits), float.is_nan(bits)),
        Difference::DenormalFlushed => (float.is_denormal(bits), false),
        Difference::ZeroSign => (float.is_zero(bits) && bits != 0, bits == 0),
        Difference::WrongValue | Difference::Unwritten => (true, true),
    };
    match (certain, possible) {
        (true, _) => Exposure::Yes,
        (false, true) => Exposure::Perhaps,
        (false, false) => Exposure::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmlcts_model::List;

    #[test]
    fn only_what_a_value_can_lose_is_exposed() {
        use Exposure::{No, Perhaps, Yes};
        let of = |data_type, bits: u64| {
            let width = DataType::element_size(data_type).unwrap();
            let tensor = Tensor::packed(data_type, List::from_slice(&[1]));
            OF_FLOATS.map(|difference| exposure(difference, &tensor, &bits.to_le_bytes()[..width]))
        };
        // A zero's sign, a denormal, a NaN.
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
        let tensor = Tensor::packed(DataType::UINT8, List::from_slice(&[1]));
        let output: &[u8] = &[7];
        let of = |on_other_data| Exposures::of(&tensor, &std::iter::once(output), on_other_data);
        assert_eq!(of(false).to(Class::Remembered), Exposure::No);
        assert_eq!(of(true).to(Class::Remembered), Exposure::Yes);
        assert_eq!(of(false).to(Class::Output(Difference::WrongValue)), Exposure::Yes);
        assert_eq!(of(false).to(Class::Undeclared), Exposure::Yes);
    }
}
