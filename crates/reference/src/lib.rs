//! The CPU reference: SLICE, SLICE1 and PADDING1, written by hand from the pages' text and pseudo-code.
//!
//! It shares nothing with the spec and its oracle, not even the arithmetic of sizes and strides. Where two
//! independent implementations agree, the agreement is evidence. The reference is a backend like any other:
//! it validates every desc itself and answers in outcomes.
//!
//! # How to read it
//!
//! Each operator has one file (`slice.rs`, `slice1.rs`, `padding1.rs`) with the rules of the operator's page
//! for a desc, and the map from output to input coordinates. The rules of the page of buffer tensors are in
//! `tensor.rs` and `overlap.rs`. The support of each feature level is in `support.rs`, and the one loop that
//! moves elements is in `walk.rs`. Elements are moved as bytes and never read as numbers, so there is one
//! loop for each element width.
//!
//! # Where the pages leave a choice
//!
//! | point | choice | why |
//! |---|---|---|
//! | SLICE with a stride of 0 (open by the page of SLICE) | refused | as DirectML does; SLICE1's page forbids it |
//! | SLICE with a stride above `INT_MAX` (open by the page of SLICE) | refused | as DirectML does |
//! | a sum of a size and its paddings that equals the output's size only modulo 2^32 (open by the page of PADDING1) | refused | the page's sum, read mathematically |
//! | REFLECTION of a single element (open by the page of PADDING1) | repeats it | as DirectML does; the fold's limit |
//! | `TotalTensorSizeInBytes` that is not a multiple of 4 (open by the page of buffer tensors) | accepted if large enough | as DirectML does |
//! | alignments below 16 (the page: the element's size or more) | accepted | the page's text |
//! | strides that span more than 2^32 - 1 elements (open by the page of buffer tensors) | refused | a `UINT` counts elements |
//! | flags without a name (open by the page of tensor flags) | refused | their promise cannot be kept |

mod overlap;
mod padding1;
mod slice;
mod slice1;
mod support;
mod tensor;
mod walk;

use dmlcts_backend::{Capabilities, Operators, Refusal, RunError, Sequential};
use dmlcts_model::{BindingOffsets, Desc, FeatureLevel, Tensor};

use tensor::Pair;
use walk::Walk;

/// The reference, which creates and runs one operator at a time.
#[derive(Debug)]
pub struct Reference {
    capabilities: Capabilities,
    level: FeatureLevel,
}

/// A created operator: the plan of a copy. It owns no memory.
#[derive(Debug)]
pub struct Operator {
    plan: Plan,
    /// The number of bytes of an element.
    element_size: usize,
    /// The minimum numbers of bytes of the input and the output.
    required: [u64; 2],
}

#[derive(Debug)]
enum Plan {
    /// SLICE and SLICE1: an offset and a step on each axis.
    Slice(Walk<walk::Steps>),
    /// PADDING1: a fold on each axis, and the padding value.
    Padding(Walk<padding1::Padded>, [u8; 8]),
}

impl Reference {
    /// A reference at the newest feature level.
    pub fn new() -> Self {
        let capabilities = Capabilities {
            can_set_feature_level: true,
            data_types: support::EVERY_TYPE.to_vec(),
            ..Capabilities::new("reference", env!("CARGO_PKG_VERSION"))
        };
        Self { capabilities, level: FeatureLevel::NEWEST }
    }

    /// Why a reference would refuse the desc that lacks the checks whose reasons contain this text; `None` if
    /// it would not.
    pub fn refusal_without(&self, desc: &Desc, reason: &str) -> Option<Refusal> {
        check(desc, Checks { level: self.level, missing: Some(reason) }).err()
    }

    /// A reference as a backend.
    pub fn backend() -> Sequential<Self> {
        Sequential(Self::new())
    }
}

impl Default for Reference {
    fn default() -> Self {
        Self::new()
    }
}

impl Operators for Reference {
    type Operator = Operator;

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn set_feature_level(&mut self, level: FeatureLevel) {
        self.level = level;
    }

    fn create(&mut self, desc: &Desc) -> Result<Operator, Refusal> {
        let checked = check(desc, Checks { level: self.level, missing: None })?;
        Ok(match checked {
            Checked::Slice(checked) => slice::create(checked),
            Checked::Slice1(checked) => slice1::create(checked),
            Checked::Padding1(checked) => padding1::create(checked),
        })
    }

    fn run(
        &mut self,
        operator: &mut Operator,
        _: BindingOffsets,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), RunError> {
        let [input_bytes, output_bytes] = operator.required;
        if (input.len() as u64) < input_bytes || (output.len() as u64) < output_bytes {
            return Err(RunError::Failed("a buffer is smaller than its tensor".into()));
        }
        match operator.element_size {
            1 => operator.plan.run::<1>(input, output),
            2 => operator.plan.run::<2>(input, output),
            4 => operator.plan.run::<4>(input, output),
            _ => operator.plan.run::<8>(input, output),
        }
        Ok(())
    }
}

impl Operator {
    #[inline]
    fn new(plan: Plan, pair: &Pair<'_>) -> Self {
        let required = [pair.input.required_bytes, pair.output.required_bytes];
        Self { plan, element_size: pair.element_size, required }
    }
}

impl Plan {
    /// Runs on elements of `WIDTH` bytes. The last bytes of a buffer may be less than an element; they belong
    /// to no element.
    fn run<const WIDTH: usize>(&self, input: &[u8], output: &mut [u8]) {
        let (input, _) = input.as_chunks::<WIDTH>();
        let (output, _) = output.as_chunks_mut::<WIDTH>();
        match self {
            Self::Slice(walk) => walk.run(input, output, [0; WIDTH]),
            Self::Padding(walk, value) => {
                let mut fill = [0; WIDTH];
                fill.copy_from_slice(&value[..WIDTH]);
                walk.run(input, output, fill);
            }
        }
    }
}

/// A desc that passed the checks, by its operator.
enum Checked<'a> {
    Slice(slice::Checked<'a>),
    Slice1(slice1::Checked<'a>),
    Padding1(padding1::Checked<'a>),
}

/// Validates a desc.
#[inline]
fn check<'a>(desc: &'a Desc, checks: Checks<'_>) -> Result<Checked<'a>, Refusal> {
    let checked = match desc.signature.operator.as_str() {
        "SLICE" => Checked::Slice(slice::check(desc, checks)?),
        "SLICE1" => Checked::Slice1(slice1::check(desc, checks)?),
        "PADDING1" => Checked::Padding1(padding1::check(desc, checks)?),
        _ => {
            return Err(Refusal::Unsupported("the reference has SLICE, SLICE1 and PADDING1 only".into()));
        }
    };
    // This comes last, because it can take too long. A desc that breaks another rule is invalid.
    if let Some(Tensor { sizes: Some(sizes), strides: Some(strides), .. }) = &desc.output
        && overlap::overlaps(sizes, strides)?
    {
        checks.refuse("the output's strides make it overlap itself")?;
    }
    Ok(checked)
}

/// Which checks of a desc are made.
#[derive(Clone, Copy)]
struct Checks<'a> {
    level: FeatureLevel,
    /// Part of the reasons of the checks that are missing. A faulty backend is made with it.
    missing: Option<&'a str>,
}

impl Checks<'_> {
    /// Refuses an invalid desc for this reason, unless the check is missing.
    #[inline]
    fn refuse(self, reason: &'static str) -> Result<(), Refusal> {
        match self.missing {
            Some(missing) if reason.contains(missing) => Ok(()),
            _ => Err(invalid(reason)),
        }
    }
}

/// A refusal of an invalid desc.
fn invalid(reason: &'static str) -> Refusal {
    Refusal::Invalid(reason.into())
}
