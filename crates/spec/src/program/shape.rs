//! The shape of a desc: what most rules follow from, and what a run repeats over and over.
//!
//! A shape has four parts, each remembered on its own: what little each part can be repeats soon, where all
//! that they can be together would not.

use dmlcts_model::{Desc, List, MemberKind, Side, Signature, Value};
use smallvec::SmallVec;

use super::{
    Field, Findings, Inputs, Leaf, Mask, OpId, Operation, Program,
    evaluate::{Lengths, Table},
    findings::{Rule, findings},
    step::Row,
    view::View,
};

/// How many parts a shape has.
pub(super) const PARTS: usize = 4;

/// Which parts of a shape something follows from: any one of these alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Parts(u8);

impl Parts {
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
pub(super) fn parts_of(program: &Program, signature: &Signature) -> Vec<Parts> {
    let mut parts: Vec<Parts> = Vec::with_capacity(program.ops.len());
    for op in &program.ops {
        let own = match op.operation {
            Operation::Leaf(leaf) => parts_of_leaf(leaf, signature),
            // What is gathered depends on the number of axes.
            Operation::Over(..) => Parts::EXTENT,
            _ => Parts::ANY,
        };
        let operands = op.operation.operands();
        parts.push(operands.fold(own, |parts_so_far, operand| parts_so_far.and(parts[operand.index()])));
    }
    parts
}

/// A leaf may follow from all that the key of a part says; see [`Plan::key`].
fn parts_of_leaf(leaf: Leaf, signature: &Signature) -> Parts {
    match leaf {
        Leaf::Member(position) => part_of_member(signature, position),
        Leaf::Field(side, Field::DataType | Field::ElementSize) => Parts::KINDS.or(Parts::promise(side)),
        Leaf::Field(side, Field::Flags | Field::GuaranteedBaseOffsetAlignment) => Parts::promise(side),
        Leaf::Field(_, Field::TotalTensorSizeInBytes)
        | Leaf::List(_)
        | Leaf::Overlaps(_)
        | Leaf::Unsettled(_)
        | Leaf::BindingOffset(_)
        | Leaf::Coordinate => Parts::NONE,
        Leaf::Field(_, Field::DimensionCount) | Leaf::ListPresent(_) | Leaf::Length(_) | Leaf::Axis => {
            Parts::EXTENT
        }
        Leaf::TensorPresent(side) => Parts::EXTENT.or(Parts::KINDS).or(Parts::promise(side)),
        Leaf::Level => Parts::EXTENT.or(Parts::KINDS),
    }
}

fn part_of_member(signature: &Signature, position: usize) -> Parts {
    match signature.members.get(position).map(|member| &member.kind) {
        Some(MemberKind::U32 | MemberKind::I32) | None => Parts::NONE,
        Some(MemberKind::Enumeration(_) | MemberKind::DataType) => Parts::KINDS,
        _ => Parts::EXTENT,
    }
}

/// What is remembered of a part, and how it is told from others of its kind.
#[derive(Debug)]
pub(super) struct Plan {
    /// The members that belong to the part.
    members: SmallVec<[u8; 8]>,
    /// The operations of the whole program whose values are remembered.
    given: Vec<OpId>,
    /// Where they begin in the table.
    first: usize,
    /// The rules that follow from the part.
    rules: Vec<Rule>,
}

/// Words of a key that are no members.
const FIXED_WORDS: usize = 4;
/// The most members of a part; a part with more is not remembered.
const MOST_MEMBERS: usize = 8;
/// What tells parts apart.
type Key = [u64; FIXED_WORDS + MOST_MEMBERS];

/// Says what to remember of each part: these rules, and these operations, in the order that is returned.
/// Rules that follow from no single part are returned too.
pub(super) fn plan(
    signature: &Signature,
    parts: &[Parts],
    rules: impl Iterator<Item = Rule>,
) -> ([Plan; PARTS], Vec<Rule>) {
    let mut plans = [Parts(1), Parts(2), Parts(4), Parts(8)].map(|part| {
        let belongs = |position: &usize| part_of_member(signature, *position) == part;
        let members = (0..signature.members.len()).filter(belongs).map(|position| position as u8).collect();
        Plan { members, given: Vec::new(), first: 0, rules: Vec::new() }
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
pub(super) fn plan_given(plans: &mut [Plan; PARTS], parts: &[Parts], given: &[OpId]) -> Vec<OpId> {
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
        let mut key = [0; FIXED_WORDS + MOST_MEMBERS];
        if part >= 2 {
            if let Some(tensor) = if part == 2 { input } else { output } {
                key[0] = u64::from(tensor.data_type.0) << 32 | u64::from(tensor.flags);
                key[1] = 1 << 32 | u64::from(tensor.alignment);
            }
            return Some(key);
        }
        key[0] = u64::from(inputs.level.code()) << 32 | members.len() as u64;
        for (at, tensor) in [input, output].into_iter().enumerate() {
            let Some(tensor) = tensor else { continue };
            key[1 + at] = if part == 0 {
                u64::from(tensor.dimension_count) << 32
                    | length(tensor.sizes.as_ref()) << 16
                    | length(tensor.strides.as_ref())
            } else {
                1 << 32 | u64::from(tensor.data_type.0)
            };
            key[3] |= 1 << at;
        }
        if self.members.len() > MOST_MEMBERS {
            return None;
        }
        let mut kinds = 0;
        for (word, &position) in key[FIXED_WORDS..].iter_mut().zip(&self.members) {
            let (kind, value) = match members.get(usize::from(position)) {
                None => (0, 0),
                Some(Value::Integer(value)) => (1, *value as u64),
                Some(Value::List(list)) => (2, length(list.as_ref())),
                Some(Value::Scalar(_)) => (3, 0),
            };
            *word = value;
            kinds = kinds << 2 | kind;
        }
        key[3] |= kinds << 2;
        Some(key)
    }

    /// The words of a key that are used.
    fn words(&self) -> usize {
        FIXED_WORDS + self.members.len().min(MOST_MEMBERS)
    }
}

/// A list's length in 16 bits, 0 for a null pointer.
fn length(list: Option<&List>) -> u64 {
    list.map_or(0, |list| list.len().min(0xFFFE) as u64 + 1)
}

/// What follows from a part.
#[derive(Debug, Default)]
struct Remembered {
    key: Key,
    lengths: Lengths,
    /// The values that the lively operations read.
    given: Vec<(Row<i64>, Mask)>,
    findings: Findings,
}

/// How many sets each part's memory has: a power of two.
const SETS: usize = 128;
/// How many are remembered in each set.
const WAYS: usize = 4;

/// What is remembered of one part: each key in one of the ways of the set that it hashes to.
#[derive(Debug, Default)]
struct Store {
    /// Empty until the first use. Replacing one reuses its memory.
    entries: Vec<Remembered>,
    /// The hashes of the keys, 0 where there is none.
    tags: Vec<[u32; WAYS]>,
    /// The way that is replaced next in each set.
    next: Vec<u8>,
    /// The entry whose given values are in the table.
    current: Option<usize>,
}

impl Store {
    /// The place of the part with this key; remembers it as the current one.
    fn find(&mut self, key: &Key, words: usize) -> Option<(usize, bool)> {
        if let Some(current) = self.current
            && self.entries[current].key[..words] == key[..words]
        {
            return Some((current, false));
        }
        let (set, tag) = place_of(&key[..words]);
        let tags = self.tags.get(set)?;
        for (way, _) in tags.iter().enumerate().filter(|(_, known)| **known == tag) {
            let place = set * WAYS + way;
            if self.entries[place].key[..words] == key[..words] {
                self.current = Some(place);
                return Some((place, true));
            }
        }
        None
    }

    /// Room for what has this key, in place of something else.
    fn make_room(&mut self, key: Key, words: usize) -> &mut Remembered {
        if self.entries.is_empty() {
            self.entries.resize_with(SETS * WAYS, Remembered::default);
            self.tags.resize(SETS, [0; WAYS]);
            self.next.resize(SETS, 0);
        }
        let (set, tag) = place_of(&key[..words]);
        let way = usize::from(self.next[set]) % WAYS;
        self.next[set] = self.next[set].wrapping_add(1);
        self.tags[set][way] = tag;
        self.current = None;
        let entry = &mut self.entries[set * WAYS + way];
        entry.key = key;
        entry
    }
}

/// The set of a key, and its tag there, which is not 0.
fn place_of(key: &[u64]) -> (usize, u32) {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut mixed = 0u64;
    for &word in key {
        mixed = (mixed ^ word).wrapping_mul(FACTOR);
        mixed ^= mixed >> 32;
    }
    (mixed as usize % SETS, (mixed >> 32) as u32 | 1)
}

/// The parts of shapes that one set of rules remembers.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    stores: [Store; PARTS],
    table: Table<i64>,
}

impl Shapes {
    /// What follows from the desc's shape, and the table with its given values. `None` where some part is not
    /// remembered.
    #[inline]
    pub(super) fn find(
        &mut self,
        plans: &[Plan; PARTS],
        inputs: &Inputs<'_>,
        operations: usize,
    ) -> Option<(&Lengths, Findings, &mut Table<i64>)> {
        self.table.grow(operations);
        let mut found = Findings::default();
        for (part, (plan, store)) in plans.iter().zip(&mut self.stores).enumerate() {
            let (place, is_new) = store.find(&plan.key(part, inputs)?, plan.words())?;
            let entry = &store.entries[place];
            found = found.and(entry.findings);
            if is_new {
                let (rows, masks) = (&mut self.table.rows[plan.first..], &mut self.table.masks[plan.first..]);
                for ((row, mask), given) in rows.iter_mut().zip(masks).zip(&entry.given) {
                    (*row, *mask) = *given;
                }
            }
        }
        let extent = &self.stores[0];
        Some((&extent.entries[extent.current?].lengths, found, &mut self.table))
    }

    /// Remembers those parts of a desc's shape that are new.
    pub(super) fn remember(&mut self, plans: &[Plan; PARTS], inputs: &Inputs<'_>, view: &View<'_, i64>) {
        for (part, (plan, store)) in plans.iter().zip(&mut self.stores).enumerate() {
            let Some(key) = plan.key(part, inputs) else { continue };
            // What is found but is not yet in the table is found again with the next desc.
            if store.find(&key, plan.words()).is_some() {
                store.current = None;
                continue;
            }
            let entry = store.make_room(key, plan.words());
            entry.lengths.clone_from(view.lengths);
            entry.given.clear();
            let given = plan.given.iter().map(|id| id.index());
            entry.given.extend(given.map(|index| (view.fixed.rows[index], view.fixed.masks[index])));
            entry.findings = findings(&plan.rules, view);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remember(store: &mut Store, word: u64) {
        let mut key = Key::default();
        key[0] = word;
        store.make_room(key, FIXED_WORDS);
    }

    fn knows(store: &mut Store, word: u64) -> bool {
        let mut key = Key::default();
        key[0] = word;
        store.find(&key, FIXED_WORDS).is_some()
    }

    #[test]
    fn hundreds_of_parts_are_remembered_at_once() {
        let mut store = Store::default();
        (0..200).for_each(|word| remember(&mut store, word));
        let known = (0..200).filter(|&word| knows(&mut store, word)).count();
        assert!(known >= 196, "{known} of 200");
    }

    #[test]
    fn what_was_replaced_is_forgotten() {
        let mut store = Store::default();
        (0..10_000).for_each(|word| remember(&mut store, word));
        let known = (0..10_000).filter(|&word| knows(&mut store, word)).count();
        assert_eq!(known, SETS * WAYS);
        assert!(knows(&mut store, 9_999));
    }
}
