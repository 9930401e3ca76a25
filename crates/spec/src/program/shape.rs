//! The shape of a desc: what most rules follow from, and what a run repeats over and over.
//!
//! A shape has four parts, each remembered on its own: what little each part can be repeats soon, where all
//! that they can be together would not.

use dmlcts_model::{Desc, List, MemberKind, Side, Signature, Tensor, Value};

use super::{
    Field, Findings, Inputs, Leaf, OpId, Operation, Program,
    findings::{Rule, findings},
    memo::Memo,
    scalars::{Scalar, Scalars},
    view::View,
};

/// How many parts a shape has.
pub(super) const PARTS: usize = 4;

/// Which parts of a shape something follows from: any one of these alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ShapeParts(u8);

impl ShapeParts {
    /// None: it follows from more than one part, or from more than the shape.
    pub(super) const NONE: Self = Self(0);
    /// Any: it is the same for all descs.
    const ANY: Self = Self(0b1111);
    /// What is null, how long the lists are, and the counts.
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

    /// The index of the part that is taken where several would do.
    fn first(self) -> Option<usize> {
        (self != Self::NONE).then_some(self.0.trailing_zeros() as usize)
    }
}

/// What each operation of a program follows from.
pub(super) fn parts_of(program: &Program, signature: &Signature) -> Vec<ShapeParts> {
    let mut parts: Vec<ShapeParts> = Vec::with_capacity(program.ops.len());
    for op in &program.ops {
        let own = match op.operation {
            Operation::Leaf(leaf) => parts_of_leaf(leaf, signature),
            // What is gathered depends on the number of axes.
            Operation::Over(..) => ShapeParts::EXTENT,
            _ => ShapeParts::ANY,
        };
        let operands = op.operation.operands();
        parts.push(operands.fold(own, |parts_so_far, operand| parts_so_far.and(parts[operand.index()])));
    }
    parts
}

/// A leaf may follow from all that the key of a part says; see [`Plan::key`].
fn parts_of_leaf(leaf: Leaf, signature: &Signature) -> ShapeParts {
    match leaf {
        Leaf::Member(position) => part_of_member(signature, position),
        Leaf::Field(side, Field::DataType | Field::ElementSize) => {
            ShapeParts::KINDS.or(ShapeParts::promise(side))
        }
        Leaf::Field(side, Field::Flags | Field::GuaranteedBaseOffsetAlignment) => ShapeParts::promise(side),
        Leaf::Field(_, Field::TotalTensorSizeInBytes)
        | Leaf::List(_)
        | Leaf::Overlaps(_)
        | Leaf::Unsettled(_)
        | Leaf::BindingOffset(_)
        | Leaf::Judged(_)
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

/// What is remembered of a part, and how it is told from others of its kind.
#[derive(Debug)]
pub(super) struct Plan {
    /// The members that belong to the part and are one value.
    values: Vec<u8>,
    /// The list members, where the part knows how long they are.
    lists: Vec<u8>,
    /// The operations of the whole program whose values are remembered.
    given: Vec<OpId>,
    /// Where they begin in the table.
    first: usize,
    /// The rules that follow from the part.
    rules: Vec<Rule>,
}

/// How many words a key has.
const WORDS: usize = 8;

/// The values that tell one shape, or one part of it, from another; words that are not needed are 0.
type Key = [u64; WORDS];

/// Words of a key that are no members.
const FIXED_WORDS: usize = 4;
/// How many lists' lengths fit one word, in five bits each.
const MOST_LISTS: usize = 12;

/// Says what to remember of each part: these rules, and these operations, in the order that is returned.
/// Rules that follow from no single part are returned too.
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
        // The parts of what decides a rule are among those of its condition.
        match parts[rule.condition.index()].first() {
            Some(part) => plans[part].rules.push(rule),
            None => lively.push(rule),
        }
    }
    (plans, lively)
}

/// Sets what is given by each part, and gives it in the order of the table.
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
    /// The rules that follow from the part.
    pub(super) fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// All that what follows from this part reads: two descs with one key are alike. `None` for an operator
    /// with more members than keys have room for.
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
                if let Some(tensor) = if part == 2 { input } else { output } {
                    key[1] = data_type(Some(tensor));
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

/// How many axes a tensor has by its count and by its lists.
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

/// A list's length in five bits, 0 for a null pointer. Whatever is longer than that is not remembered.
#[inline]
fn length(list: Option<&List>) -> u64 {
    list.map_or(0, |list| list.len().min(LONGEST) as u64 + 1)
}

/// A length that stands for all that are as long or longer.
const LONGEST: usize = 30;

/// Whether a list of the desc is too long for its key to say how long.
fn is_too_long(desc: &Desc) -> bool {
    let of_tensors = [&desc.input, &desc.output].into_iter().flatten();
    let of_tensors = of_tensors.flat_map(|tensor| [&tensor.sizes, &tensor.strides]).flatten();
    let of_members = desc.members.iter().filter_map(|member| match member {
        Value::List(list) => list.as_ref(),
        _ => None,
    });
    of_tensors.chain(of_members).any(|list| list.len() >= LONGEST)
}

/// What follows from a part.
#[derive(Debug, Default)]
struct Remembered {
    /// On how many axes all lists of the desc have values.
    axes: Option<u8>,
    /// The values that other rules read.
    given: Vec<Scalar>,
    findings: Findings,
}

/// How many are remembered of each part.
const MOST_PARTS: usize = 1 << 12;

/// How many whole shapes are remembered.
const MOST_SHAPES: usize = 1 << 13;

/// What follows from a whole shape.
#[derive(Debug)]
struct Whole {
    axes: Option<u8>,
    findings: Findings,
    values: Box<[i64]>,
    masks: Box<[u8]>,
}

/// The shapes that one set of rules remembers: those that are common as a whole, which takes one look, and the
/// parts of all.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    whole: Memo<Whole, WORDS, MOST_SHAPES>,
    parts: [Memo<Remembered, WORDS, MOST_PARTS>; PARTS],
    /// The given values of the desc, and behind them room for what is computed from them.
    pub(super) table: Box<Scalars>,
    /// The whole shape whose given values these are, and what else follows from it: descs of one shape come in a row.
    last: Option<(Key, Option<u8>, Findings)>,
}

impl Shapes {
    /// What follows from the desc's shape, and on how many axes all its lists have values; the table holds the
    /// given values. `None` where some part is not remembered.
    #[inline]
    pub(super) fn find(
        &mut self,
        plans: &[Plan; PARTS],
        inputs: &Inputs<'_>,
    ) -> Option<(Option<u8>, Findings)> {
        let key = whole(plans, inputs);
        if let (Some(key), Some((last, axes, findings))) = (&key, self.last)
            && *key == last
        {
            return Some((axes, findings));
        }
        self.last = None;
        if let Some(key) = &key
            && let Some(place) = self.whole.find(key)
        {
            let Whole { axes, findings, values, masks } = self.whole.get(place);
            self.table.values.get_mut(..values.len())?.copy_from_slice(values);
            self.table.masks.get_mut(..masks.len())?.copy_from_slice(masks);
            self.last = Some((*key, *axes, *findings));
            return Some((*axes, *findings));
        }
        self.compose(plans, inputs, key)
    }

    /// The same from the parts. Remembers the whole.
    #[inline(never)]
    fn compose(
        &mut self,
        plans: &[Plan; PARTS],
        inputs: &Inputs<'_>,
        key: Option<Key>,
    ) -> Option<(Option<u8>, Findings)> {
        let mut findings = Findings::default();
        let mut axes = None;
        let mut end = 0;
        for (part, (plan, memo)) in plans.iter().zip(&self.parts).enumerate() {
            let entry = memo.get(memo.find(&plan.key(part, inputs)?)?);
            findings = findings.and(entry.findings);
            if part == 0 {
                axes = entry.axes;
            }
            end = plan.first + entry.given.len();
            for (slot, given) in (plan.first..end).zip(&entry.given) {
                self.table.set(u8::try_from(slot).ok()?, *given);
            }
        }
        if let Some(key) = key {
            self.whole.make_room(1);
            let (values, masks) = (self.table.values[..end].into(), self.table.masks[..end].into());
            self.whole.insert(key, Whole { axes, findings, values, masks });
        }
        Some((axes, findings))
    }

    /// Remembers those parts of a desc's shape that are new.
    pub(super) fn remember(&mut self, plans: &[Plan; PARTS], inputs: &Inputs<'_>, view: &View<'_, i64>) {
        if is_too_long(inputs.desc) {
            return;
        }
        for (part, (plan, memo)) in plans.iter().zip(&mut self.parts).enumerate() {
            let Some(key) = plan.key(part, inputs) else { continue };
            if memo.find(&key).is_some() {
                continue;
            }
            memo.make_room(1);
            let given = plan.given.iter().map(|&id| view.scalar(id)).collect();
            let findings = findings(&plan.rules, view);
            memo.insert(key, Remembered { axes: view.lengths.agreed(), given, findings });
        }
    }
}

/// The keys of all parts in one, where their values are small, as they mostly are. What differs in any part
/// differs here.
#[inline]
fn whole(plans: &[Plan; PARTS], inputs: &Inputs<'_>) -> Option<Key> {
    let Desc { input, output, members, .. } = inputs.desc;
    let mut key = Key::default();
    key[0] = u64::from(inputs.level.code());
    key[1] = whole_tensor(input.as_ref())?;
    key[2] = whole_tensor(output.as_ref())?;
    let [extent, kinds, ..] = plans;
    for place in &extent.lists {
        let Some(Value::List(list)) = members.get(usize::from(*place)) else { return None };
        key[3] = key[3] << 5 | length(list.as_ref());
    }
    let values = extent.values.iter().chain(&kinds.values);
    let mut words = key[FIXED_WORDS..].iter_mut();
    let mut kinds = 0;
    for place in values {
        // Nothing follows from the bytes of a scalar.
        let (kind, value) = match members.get(usize::from(*place)) {
            Some(Value::Integer(value)) => (1, *value as u64),
            _ => (0, 0),
        };
        kinds = kinds << 1 | kind;
        *words.next()? = value;
    }
    key[0] |= kinds << 32;
    (extent.lists.len() <= MOST_LISTS).then_some(key)
}

/// All that parts of a shape see of a tensor.
#[inline]
fn whole_tensor(tensor: Option<&Tensor>) -> Option<u64> {
    let Some(tensor) = tensor else { return Some(u64::MAX) };
    let Tensor { data_type, flags, dimension_count, sizes, strides, alignment, .. } = tensor;
    let is_small = *dimension_count < 32 && data_type.0 < 64 && *flags < 64;
    let lists = length(sizes.as_ref()) << 5 | length(strides.as_ref());
    is_small.then(|| {
        let small = u64::from(*dimension_count) << 12 | u64::from(data_type.0) << 6 | u64::from(*flags);
        (small << 10 | lists) << 32 | u64::from(*alignment)
    })
}
