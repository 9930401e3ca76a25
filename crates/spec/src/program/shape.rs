//! The shape of a desc: the part that most rules depend on, and that repeats in a run.
//!
//! A shape has four parts with a cache each. The few values of one part repeat soon; their combinations do
//! not.

use std::collections::HashMap;

use dmlcts_model::{Desc, List, MemberKind, Side, Signature, Tensor, Value};
use foldhash::fast::FixedState;

use super::{
    Field, Findings, Inputs, Leaf, OpId, Operation, Program,
    findings::{Rule, findings},
    scalars::{Scalar, Scalars},
    view::View,
};

/// The number of parts of a shape.
pub(super) const PARTS: usize = 4;

/// The parts of a shape that each suffice to determine a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ShapeParts(u8);

impl ShapeParts {
    /// No part: the value depends on several parts, or on more than the shape.
    pub(super) const NONE: Self = Self(0);
    /// Any part: the value is the same for all descs.
    const ANY: Self = Self(0b1111);
    /// Null pointers, list lengths and dimension counts.
    const EXTENT: Self = Self(0b0001);
    /// Data types and enumerations.
    const KINDS: Self = Self(0b0010);

    /// A tensor's data type, flags and alignment.
    fn promise(side: Side) -> Self {
        Self(if side == Side::Input { 0b0100 } else { 0b1000 })
    }

    fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The index of the part that is used if several suffice.
    fn first(self) -> Option<usize> {
        (self != Self::NONE).then_some(self.0.trailing_zeros() as usize)
    }
}

/// The parts that determine each operation of a program.
pub(super) fn parts_of(program: &Program, signature: &Signature) -> Vec<ShapeParts> {
    let mut parts: Vec<ShapeParts> = Vec::with_capacity(program.ops.len());
    for op in &program.ops {
        let own = match op.operation {
            Operation::Leaf(leaf) => parts_of_leaf(leaf, signature),
            // A gathered value depends on the number of axes.
            Operation::Over(..) | Operation::On(..) => ShapeParts::EXTENT,
            _ => ShapeParts::ANY,
        };
        let operands = op.operation.operands();
        parts.push(operands.fold(own, |parts_so_far, operand| parts_so_far.and(parts[operand.index()])));
    }
    parts
}

/// The parts whose key contains the leaf's value; see [`Plan::key`].
fn parts_of_leaf(leaf: Leaf, signature: &Signature) -> ShapeParts {
    match leaf {
        Leaf::Member(position) | Leaf::Size(position) => part_of_member(signature, position),
        Leaf::Field(side, Field::DataType | Field::ElementSize) => {
            ShapeParts::KINDS.or(ShapeParts::promise(side))
        }
        Leaf::Field(side, Field::Flags | Field::GuaranteedBaseOffsetAlignment) => ShapeParts::promise(side),
        Leaf::Field(_, Field::TotalTensorSizeInBytes)
        | Leaf::List(_)
        | Leaf::Overlaps(_)
        | Leaf::Unsettled(_)
        | Leaf::Spare(_)
        | Leaf::BindingOffset(_)
        | Leaf::Judged(_)
        | Leaf::Violations
        | Leaf::Violation
        | Leaf::ViolationsBeside(_)
        | Leaf::HasKind(..)
        | Leaf::Number(..)
        | Leaf::Coordinate => ShapeParts::NONE,
        Leaf::Field(_, Field::DimensionCount) | Leaf::ListPresent(_) | Leaf::Length(_) | Leaf::Axis => {
            ShapeParts::EXTENT
        }
        Leaf::TensorPresent(side) => ShapeParts::EXTENT.or(ShapeParts::KINDS).or(ShapeParts::promise(side)),
        Leaf::Level => ShapeParts::EXTENT.or(ShapeParts::KINDS),
    }
}

fn part_of_member(signature: &Signature, position: usize) -> ShapeParts {
    match signature.members.get(position).map(|member| &member.kind) {
        Some(MemberKind::U32 | MemberKind::I32) | None => ShapeParts::NONE,
        Some(MemberKind::Enumeration(_) | MemberKind::DataType) => ShapeParts::KINDS,
        _ => ShapeParts::EXTENT,
    }
}

/// The content of one part's cache entries, and the members of their key.
#[derive(Debug)]
pub(super) struct Plan {
    /// The integer members in the part's key.
    values: Vec<u8>,
    /// The list members whose lengths are in the part's key.
    lists: Vec<u8>,
    /// The operations of the whole program whose values are cached.
    given: Vec<OpId>,
    /// The index of the first of them in the table.
    first: usize,
    /// The rules that depend on this part alone.
    pub(super) rules: Vec<Rule>,
}

/// The number of words in a key.
const WORDS: usize = 8;

/// The values that identify a part of a shape; unused words are 0.
type Key = [u64; WORDS];

/// The words of a key that hold no members.
const FIXED_WORDS: usize = 4;
/// The number of list lengths that fit one word, in five bits each.
const MOST_LISTS: usize = 12;

/// Plans the cache of each part, and returns the rules that depend on more than one part as well.
pub(super) fn plan(
    signature: &Signature,
    parts: &[ShapeParts],
    rules: impl Iterator<Item = Rule>,
) -> ([Plan; PARTS], Vec<Rule>) {
    let mut plans = [ShapeParts(1), ShapeParts(2), ShapeParts(4), ShapeParts(8)].map(|part| {
        let belongs = |place: &u8| part_of_member(signature, usize::from(*place)) == part;
        let is_list = |place: &u8| {
            let member = signature.members.get(usize::from(*place));
            member.is_some_and(|member| matches!(member.kind, MemberKind::U32List | MemberKind::I32List))
        };
        let members = (0..=u8::MAX).take(signature.members.len()).filter(belongs);
        let (lists, values) = members.partition(is_list);
        Plan { values, lists, given: Vec::new(), first: 0, rules: Vec::new() }
    });
    let mut lively = Vec::new();
    for rule in rules {
        // The condition depends on everything that its deciding comparisons depend on.
        match parts[rule.condition.index()].first() {
            Some(part) => plans[part].rules.push(rule),
            None => lively.push(rule),
        }
    }
    (plans, lively)
}

/// Assigns the given operations to parts, and returns them in the order of the table.
pub(super) fn plan_given(plans: &mut [Plan; PARTS], parts: &[ShapeParts], given: &[OpId]) -> Vec<OpId> {
    let mut order = Vec::with_capacity(given.len());
    for (part, plan) in plans.iter_mut().enumerate() {
        let own = given.iter().copied().filter(|id| parts[id.index()].first() == Some(part));
        plan.given = own.collect();
        plan.first = order.len();
        order.extend(&plan.given);
    }
    order
}

impl Plan {
    /// The key of everything that this part's rules and operations read. `None` for an operator with more
    /// members than a key can hold.
    #[inline]
    fn key(&self, part: usize, inputs: &Inputs<'_>) -> Option<Key> {
        let Desc { input, output, members, .. } = inputs.desc;
        let mut key = Key::default();
        let mut kinds = 0;
        match part {
            0 => {
                key[1] = extent(input.as_ref());
                key[2] = extent(output.as_ref());
                for place in &self.lists {
                    let (kind, length) = match members.get(usize::from(*place)) {
                        Some(Value::List(list)) => (1, length(list.as_ref())),
                        _ => (0, 0),
                    };
                    kinds = kinds << 1 | kind;
                    key[3] = key[3] << 5 | length;
                }
            }
            1 => {
                key[1] = data_type(input.as_ref());
                key[2] = data_type(output.as_ref());
            }
            _ => {
                let tensor = if part == 2 { input } else { output };
                key[1] = data_type(tensor.as_ref());
                if let Some(tensor) = tensor {
                    key[2] = u64::from(tensor.flags) << 32 | u64::from(tensor.alignment);
                }
                return Some(key);
            }
        }
        if self.values.len() > WORDS - FIXED_WORDS || self.lists.len() > MOST_LISTS {
            return None;
        }
        for (word, place) in key[FIXED_WORDS..].iter_mut().zip(&self.values) {
            let (kind, value) = match members.get(usize::from(*place)) {
                Some(Value::Integer(value)) => (1, *value as u64),
                _ => (0, 0),
            };
            kinds = kinds << 1 | kind;
            *word = value;
        }
        key[0] = u64::from(inputs.level.code()) << 32 | kinds;
        Some(key)
    }
}

/// A tensor's dimension count and the lengths of its lists.
#[inline]
fn extent(tensor: Option<&Tensor>) -> u64 {
    tensor.map_or(u64::MAX, |tensor| {
        u64::from(tensor.dimension_count) << 10
            | length(tensor.sizes.as_ref()) << 5
            | length(tensor.strides.as_ref())
    })
}

#[inline]
fn data_type(tensor: Option<&Tensor>) -> u64 {
    tensor.map_or(u64::MAX, |tensor| u64::from(tensor.data_type.0))
}

/// The length of a list plus one, in five bits, or 0 for a null pointer. A desc with a longer list is not
/// cached.
#[inline]
fn length(list: Option<&List>) -> u64 {
    list.map_or(0, |list| list.len().min(LONGEST) as u64 + 1)
}

/// This length stands for all lengths from it on.
const LONGEST: usize = 30;

/// Whether a list of the desc is too long for a key.
fn is_too_long(desc: &Desc) -> bool {
    let of_tensors = [&desc.input, &desc.output].into_iter().flatten();
    let of_tensors = of_tensors.flat_map(|tensor| [&tensor.sizes, &tensor.strides]).flatten();
    let of_members = desc.members.iter().filter_map(Value::list);
    of_tensors.chain(of_members).any(|list| list.len() >= LONGEST)
}

/// The cached results of a part.
#[derive(Debug, Default)]
struct Remembered {
    /// The number of axes, if all lists of the desc have the same length.
    axes: Option<u8>,
    /// The values that other rules read.
    given: Vec<Scalar>,
    findings: Findings,
}

/// The largest number of cache entries of each part.
const MOST_PARTS: usize = 1 << 12;

/// The shape caches of one set of rules, one for each part. A part that has no room for an entry is cleared.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    parts: [HashMap<[u64; WORDS], Remembered, FixedState>; PARTS],
    /// The given values of the desc, followed by room for values that are computed from them.
    pub(super) table: Box<Scalars>,
}

impl Shapes {
    /// The findings of the desc's shape, and the number of axes if all lists agree on it. Puts the given
    /// values into the table. `None` if a part is not cached.
    #[inline]
    pub(super) fn find(
        &mut self,
        plans: &[Plan; PARTS],
        inputs: &Inputs<'_>,
    ) -> Option<(Option<u8>, Findings)> {
        let mut findings = Findings::default();
        let mut axes = None;
        for (part, (plan, known)) in plans.iter().zip(&self.parts).enumerate() {
            let entry = known.get(&plan.key(part, inputs)?)?;
            findings = findings.and(entry.findings);
            if part == 0 {
                axes = entry.axes;
            }
            for (slot, given) in (plan.first..).zip(&entry.given) {
                self.table.set(u8::try_from(slot).ok()?, *given);
            }
        }
        Some((axes, findings))
    }

    /// Caches those parts of a desc's shape that are new.
    pub(super) fn remember(&mut self, plans: &[Plan; PARTS], inputs: &Inputs<'_>, view: &View<'_, i64>) {
        if is_too_long(inputs.desc) {
            return;
        }
        for (part, (plan, known)) in plans.iter().zip(&mut self.parts).enumerate() {
            let Some(key) = plan.key(part, inputs) else { continue };
            if known.contains_key(&key) {
                continue;
            }
            if known.len() == MOST_PARTS {
                known.clear();
            }
            let given = plan.given.iter().map(|&id| view.scalar(id)).collect();
            let findings = findings(&plan.rules, view);
            known.insert(key, Remembered { axes: view.lengths.agreed, given, findings });
        }
    }
}
