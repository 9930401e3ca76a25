//! The host's side: writes jobs as words.

use std::sync::Arc;

use dmlcts_model::{MemberKind, Side, Signature, Tensor, Value};

use super::{NULL, PackedForm, Word};
use crate::{
    Job,
    protocol::{FrameKind, PREFIX, prefix},
};

/// The number of words to reserve for a case: more than most cases need.
const MOST_WORDS: usize = 128;
/// The number of words to reserve for the prefix and the header of a frame. The header is known only at the
/// end, and is padded with spaces.
const FRONT_WORDS: usize = 48;

/// The words of cases, and their operators.
#[derive(Default)]
pub(crate) struct Packed<'a> {
    /// The first [`FRONT_WORDS`] are reserved.
    words: Vec<Word>,
    operators: Vec<&'a Arc<Signature>>,
    cases: usize,
    /// The bits that do not fit in a word: 0 if every member fits its integer type.
    excess: u64,
}

impl<'a> Packed<'a> {
    /// Packs cases. `output_fill` holds the byte that fills the output of each run, and `memory` is the size
    /// of the inputs in bytes. `None` if a member does not fit its type in the struct: only `run` can express
    /// that.
    pub(crate) fn of(jobs: &'a [Job], output_fill: &[u8], memory: usize) -> Option<Self> {
        let mut packed = Self { cases: jobs.len(), ..Self::default() };
        packed.words.reserve(FRONT_WORDS + MOST_WORDS * jobs.len() + memory.div_ceil(size_of::<Word>()));
        packed.words.resize(FRONT_WORDS, [b' '; 4]);
        let mut fills = output_fill.iter();
        for job in jobs {
            packed.job(job, &mut fills)?;
        }
        (packed.excess == 0).then_some(packed)
    }

    /// The frame without the inputs' memory, which takes `memory` bytes.
    pub(crate) fn into_frame(self, number: Option<u64>, memory: usize) -> Vec<u8> {
        let form = PackedForm {
            cases: self.cases as u64,
            number,
            operators: self.operators.iter().map(|signature| signature.operator.clone()).collect(),
            words: (self.words.len() - FRONT_WORDS) as u64,
        };
        let mut header = serde_json::to_vec(&form).unwrap_or_default();
        let mut bytes = self.words.into_flattened();
        let front = FRONT_WORDS * size_of::<Word>();
        header.resize(header.len().max(front - PREFIX), b' ');
        let body = bytes.len() - front + memory;
        let start = prefix(FrameKind::Packed, header.len(), body).into_iter().chain(header);
        // All but very long headers fit the reserved space, so that no words move.
        bytes.splice(..front, start);
        bytes
    }

    fn push<const N: usize>(&mut self, words: [u32; N]) {
        self.words.extend_from_slice(&words.map(u32::to_le_bytes));
    }

    fn job(&mut self, job: &'a Job, fills: &mut std::slice::Iter<'_, u8>) -> Option<()> {
        let Job { desc, binding, runs, .. } = job;
        let known = self.operators.iter().rposition(|known| Arc::ptr_eq(known, &desc.signature));
        let operator = known.unwrap_or_else(|| {
            self.operators.push(&desc.signature);
            self.operators.len() - 1
        });
        let [input, output] = [halves(binding.input), halves(binding.output)];
        self.push([operator as u32, input[0], input[1], output[0], output[1]]);
        for side in Side::BOTH {
            self.tensor(desc.tensor(side));
        }
        let members = &desc.signature.members;
        if members.len() != desc.members.len() {
            return None;
        }
        for (member, value) in members.iter().zip(&desc.members) {
            self.value(&member.kind, value)?;
        }
        self.push([u32::try_from(runs.len()).ok()?]);
        for _ in runs {
            self.push([u32::from(*fills.next()?)]);
        }
        Some(())
    }

    fn tensor(&mut self, tensor: Option<&Tensor>) {
        let Some(tensor) = tensor else { return self.push([0]) };
        let size = halves(tensor.total_size);
        self.push([
            1,
            tensor.data_type.0,
            tensor.flags,
            tensor.dimension_count,
            size[0],
            size[1],
            tensor.alignment,
        ]);
        self.list(tensor.sizes.as_deref(), unsigned_excess);
        self.list(tensor.strides.as_deref(), unsigned_excess);
    }

    #[inline]
    fn list(&mut self, list: Option<&[i64]>, excess: impl Fn(i64) -> u64) {
        let Some(list) = list else { return self.push([NULL]) };
        self.push([list.len() as u32]);
        self.excess |= list.iter().fold(0, |all, value| all | excess(*value));
        self.words.extend(list.iter().map(|value| (*value as u32).to_le_bytes()));
    }

    fn value(&mut self, kind: &MemberKind, value: &Value) -> Option<()> {
        match (kind, value) {
            (MemberKind::U32List, Value::List(values)) => self.list(values.as_deref(), unsigned_excess),
            (MemberKind::I32List, Value::List(values)) => self.list(values.as_deref(), signed_excess),
            (MemberKind::Scalar, Value::Scalar(bytes)) => self.words.extend_from_slice(bytes.as_chunks().0),
            (MemberKind::I32 | MemberKind::Enumeration(_), Value::Integer(value)) => {
                self.excess |= signed_excess(*value);
                self.push([*value as u32]);
            }
            (MemberKind::Count | MemberKind::U32 | MemberKind::DataType, Value::Integer(value)) => {
                self.excess |= unsigned_excess(*value);
                self.push([*value as u32]);
            }
            _ => return None,
        }
        Some(())
    }
}

/// The lower and the upper half of a number.
fn halves(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

/// The bits of an integer that an unsigned word does not hold.
fn unsigned_excess(value: i64) -> u64 {
    value as u64 >> 32
}

/// The bits of an integer that a signed word does not hold.
fn signed_excess(value: i64) -> u64 {
    (value ^ i64::from(value as i32)) as u64
}
