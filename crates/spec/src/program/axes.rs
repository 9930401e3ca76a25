//! Findings for each axis of a desc, cached by the axis's values, and their combination over all axes.

use dmlcts_model::{Side, Signature};

use super::{
    Findings, Inputs, ListSource, MAXIMUM_AXES, Mask, OpId, Program,
    axis_key::{AxisKey, AxisKeys, KeyList, VALUES, put},
    findings::{Edge, Kind, Rule},
    leaf,
    lengths::Lengths,
    memo::Memo,
    scalars::{DEFINED, Scalar, Scalars, Slot, TRUE},
    step::{Lanes, run},
    table::{Row, Table},
    view::View,
};
use crate::{IdSet, expression::Quantifier};

/// The largest number of operations that are gathered over the axes.
pub(super) const MOST_GATHERED: usize = 4;

/// The rules and operations that are evaluated on each axis.
#[derive(Debug)]
pub(super) struct AxisCode {
    /// The lists whose values form an axis's key; `None` is the axis's index.
    lists: Vec<Option<KeyList>>,
    /// The slots of values that are the same for all axes. They are the first operations of the program.
    frontier: Vec<Slot>,
    /// The operations to compute on an axis.
    program: Program,
    /// The rules that apply to each axis.
    rules: Vec<Rule>,
    /// Comparisons on an axis that decide whether a rule about the desc is on its boundary.
    edges: Vec<Edge>,
    /// The rules that the bits of [`AxisFindings`] stand for: first `rules`, then `edges`.
    bits: Vec<IdSet>,
    /// The bits of the clauses that apply to axes, and these clauses.
    clauses: (u32, IdSet),
    /// The operations that are gathered over the axes.
    gathered: Vec<Gathered>,
}

/// The parts of an [`AxisCode`], in terms of the whole program's operations.
#[derive(Debug, Default)]
pub(super) struct AxisPlan {
    /// See [`AxisCode`].
    pub(super) lists: Vec<Option<ListSource>>,
    /// See [`AxisCode`].
    pub(super) frontier: Vec<(OpId, Slot)>,
    /// See [`AxisCode`].
    pub(super) rules: Vec<Rule>,
    /// See [`AxisCode`].
    pub(super) edges: Vec<(IdSet, Edge)>,
    /// See [`AxisCode`].
    pub(super) gathered: Vec<Gathered>,
}

/// The cache of axes.
#[derive(Debug, Default)]
pub(super) struct AxisMemory {
    memo: Memo<AxisFindings, { VALUES / 2 }, MOST_AXES>,
    table: Table<i64>,
    none: Table<i64>,
}

/// The largest number of axes in the cache.
const MOST_AXES: usize = 1 << 15;

/// A value that is gathered over the axes, and the slot that it is stored in.
#[derive(Clone, Copy, Debug)]
pub(super) enum Gathered {
    /// An operation's values, gathered by a quantifier.
    Axes(Quantifier, OpId, Slot),
    /// The distance in elements between a tensor's first and last element: the sum over all axes of `(size -
    /// 1) * stride`.
    Reach(Side, Slot),
}

/// The findings for one axis.
#[derive(Clone, Copy, Debug, Default)]
struct AxisFindings {
    /// One bit for each entry of [`AxisCode::bits`]; see [`Findings`].
    kept: u32,
    broken: u32,
    edges: u32,
    raised: u32,
    values: [i64; MOST_GATHERED],
    /// One bit for each gathered operation.
    truth: u8,
    defined: u8,
}

impl AxisPlan {
    /// Extracts the operations on axes from a program. `None` if they exceed the capacity of keys or
    /// findings.
    pub(super) fn extract(self, program: &Program, signature: &Signature) -> Option<AxisCode> {
        let values = self.lists.len() + if self.frontier.is_empty() { 0 } else { 1 + self.frontier.len() };
        if values > VALUES || self.rules.len() + self.edges.len() > u32::BITS as usize {
            return None;
        }
        let gathered = self.gathered.iter().filter_map(|gathered| match gathered {
            Gathered::Axes(_, id, _) => Some(*id),
            Gathered::Reach(..) => None,
        });
        let roots = self.rules.iter().flat_map(|rule| rule.decisive().chain([rule.condition]));
        let roots = roots.chain(self.edges.iter().flat_map(|(_, edge)| edge.decisive())).chain(gathered);
        let mut needed = vec![false; program.ops.len()];
        roots.for_each(|id| needed[id.index()] = true);
        let is_given = |index: usize| self.frontier.iter().any(|(id, _)| id.index() == index);
        for index in (0..program.ops.len()).rev() {
            if needed[index] && !is_given(index) {
                program.ops[index].operation.operands().for_each(|operand| needed[operand.index()] = true);
            }
        }
        let computed = (0u32..).map(OpId).zip(needed).filter(|(id, needed)| *needed && !is_given(id.index()));
        let order: Vec<OpId> =
            self.frontier.iter().map(|(id, _)| *id).chain(computed.map(|(id, _)| id)).collect();
        let mut names = vec![OpId(0); program.ops.len()];
        for (&id, name) in order.iter().zip((0u32..).map(OpId)) {
            names[id.index()] = name;
        }
        let rename = |id: OpId| names[id.index()];
        let mut own = Program { lists: program.lists.clone(), ..Program::default() };
        for &id in &order {
            let mut op = program.ops[id.index()].clone();
            op.operation = op.operation.renamed(rename);
            own.ops.push(op);
        }
        own.fixed = order[self.frontier.len()..].iter().map(|&id| rename(id)).collect();
        let rules: Vec<Rule> = self.rules.iter().map(|rule| rule.renamed(rename)).collect();
        let bits =
            rules.iter().map(|rule| IdSet::of(rule.place)).chain(self.edges.iter().map(|(bit, _)| *bit));
        let clauses = rules.iter().enumerate().filter(|(_, rule)| rule.kind == Kind::Clause);
        let clauses = clauses.fold((0, IdSet::EMPTY), |(bits, all), (bit, rule)| {
            (bits | 1 << bit, all.union(IdSet::of(rule.place)))
        });
        let key_list = |list: &Option<ListSource>| list.map(|source| KeyList::new(source, signature));
        Some(AxisCode {
            lists: self.lists.iter().map(key_list).collect(),
            frontier: self.frontier.iter().map(|(_, slot)| *slot).collect(),
            program: own,
            bits: bits.collect(),
            clauses,
            edges: self.edges.iter().map(|(_, edge)| edge.renamed(rename)).collect(),
            gathered: self.gathered.iter().map(|gathered| gathered.renamed(rename)).collect(),
            rules,
        })
    }
}

impl Gathered {
    fn renamed(self, rename: impl Fn(OpId) -> OpId) -> Self {
        match self {
            Self::Axes(quantifier, id, slot) => Self::Axes(quantifier, rename(id), slot),
            Self::Reach(..) => self,
        }
    }
}

impl AxisCode {
    /// Adds the findings of a desc's axes, and puts the gathered values into the table. `None` if a value
    /// does not fit 64 bits.
    #[inline]
    pub(super) fn find(
        &self,
        inputs: &Inputs<'_>,
        count: u8,
        memory: &mut AxisMemory,
        table: &mut Scalars,
        found: &mut Findings,
    ) -> Option<()> {
        let mut keys = AxisKeys::default();
        let keys = keys.get_mut(..usize::from(count))?;
        self.load_keys(inputs, table, keys)?;
        let mut places = [0; MAXIMUM_AXES];
        let mut missing = 0_u8;
        memory.memo.make_room(MAXIMUM_AXES);
        for (axis, (key, place)) in keys.iter().zip(&mut places).enumerate() {
            match memory.memo.find(key) {
                Some(known) => *place = known,
                None => missing |= 1 << axis,
            }
        }
        if missing != 0 {
            self.meet(inputs, keys, missing, memory, table, &mut places)?;
        }
        let places = &places[..keys.len()];
        let axes = || places.iter().map(|place| memory.memo.get(*place));
        let (mut kept, mut broken, mut edges, mut raised) = (self.clauses.0, 0, 0, 0);
        for axis in axes() {
            kept &= axis.kept;
            broken |= axis.broken;
            edges |= axis.edges;
            raised |= axis.raised;
        }
        let clauses = if kept == self.clauses.0 { self.clauses.1 } else { self.meaning(kept) };
        found.kept = found.kept.union(clauses);
        found.broken = found.broken.union(self.meaning(broken));
        found.raised = found.raised.union(self.meaning(raised));
        // For rules about the desc, a later layer decides whether they are kept.
        found.edges = found.edges.union(self.meaning(edges));
        for (place, gathered) in self.gathered.iter().enumerate() {
            let (slot, value) = match *gathered {
                Gathered::Axes(quantifier, _, slot) => (slot, gather(quantifier, place, axes)?),
                Gathered::Reach(side, slot) => (slot, reach(inputs, side)?),
            };
            table.set(slot, value);
        }
        Some(())
    }

    /// The rules that these bits stand for.
    #[inline]
    fn meaning(&self, mut bits: u32) -> IdSet {
        let mut rules = IdSet::EMPTY;
        while bits != 0 {
            if let Some(rule) = self.bits.get(bits.trailing_zeros() as usize) {
                rules = rules.union(*rule);
            }
            bits &= bits - 1;
        }
        rules
    }

    /// Loads the keys of a desc's axes. `None` if a list is shorter than expected, or a value is out of its
    /// member's range.
    #[inline]
    fn load_keys(&self, inputs: &Inputs<'_>, table: &Scalars, keys: &mut [AxisKey]) -> Option<()> {
        for (place, list) in self.lists.iter().enumerate() {
            match list {
                Some(list) => list.load(inputs.desc, keys, place)?,
                None => (0..).zip(&mut *keys).for_each(|(axis, key)| put(key, place, axis)),
            }
        }
        if self.frontier.is_empty() {
            return Some(());
        }
        let mut kinds = 0;
        for (place, slot) in (self.lists.len() + 1..).zip(&self.frontier) {
            kinds = kinds << 2 | u32::from(table.mask(*slot));
            let value = i32::try_from(table.value(*slot)).ok()?;
            for key in &mut *keys {
                put(key, place, value as u32);
            }
        }
        for key in keys {
            put(key, self.lists.len(), kinds);
        }
        Some(())
    }

    /// Computes the findings of all axes, and caches those that are missing.
    #[inline(never)]
    fn meet(
        &self,
        inputs: &Inputs<'_>,
        keys: &[AxisKey],
        missing: u8,
        memory: &mut AxisMemory,
        scalars: &Scalars,
        places: &mut [usize; MAXIMUM_AXES],
    ) -> Option<()> {
        let AxisMemory { memo, table, none } = memory;
        let lengths = Lengths::of(keys.len() as u8);
        table.grow(self.program.ops.len());
        for ((slot, row), mask) in self.frontier.iter().zip(&mut table.rows).zip(&mut table.masks) {
            let spread = |bit: u8| if scalars.mask(*slot) & bit == 0 { 0 } else { u8::MAX };
            *row = Row([scalars.value(*slot); MAXIMUM_AXES]);
            *mask = Mask { truth: spread(TRUE), defined: spread(DEFINED) };
        }
        let mut lost = false;
        run(&self.program, &self.program.fixed, table, Lanes::Axes { inputs, lengths: &lengths }, &mut lost);
        if lost {
            return None;
        }
        let view = View { program: &self.program, fixed: table, moving: none, lengths: &lengths };
        let mut axes = [AxisFindings::default(); MAXIMUM_AXES];
        self.collect(&view, &mut axes[..keys.len()]);
        for ((axis, key), place) in keys.iter().enumerate().zip(places) {
            if missing >> axis & 1 == 1 {
                // Two axes of a desc may have the same key.
                *place = memo.find(key).unwrap_or_else(|| memo.insert(*key, axes[axis]));
            }
        }
        Some(())
    }

    fn collect(&self, view: &View<'_, i64>, axes: &mut [AxisFindings]) {
        let on = |lanes: u8, axis: usize, bit: usize| u32::from(lanes >> axis & 1) << bit;
        for (bit, rule) in self.rules.iter().enumerate() {
            let mask = view.mask(rule.condition);
            let edges = rule.edges.iter().fold(0, |lanes, edge| lanes | edge.lanes(view)) & mask.truth;
            for (at, axis) in axes.iter_mut().enumerate() {
                match rule.kind {
                    Kind::Question => axis.raised |= on(mask.truth, at, bit),
                    Kind::Clause => {
                        axis.kept |= on(mask.truth, at, bit);
                        axis.broken |= on(mask.falsehood(), at, bit);
                        axis.edges |= on(edges, at, bit);
                    }
                }
            }
        }
        for (bit, edge) in (self.rules.len()..).zip(&self.edges) {
            let lanes = edge.lanes(view);
            axes.iter_mut().enumerate().for_each(|(at, axis)| axis.edges |= on(lanes, at, bit));
        }
        for (place, gathered) in self.gathered.iter().enumerate() {
            let Gathered::Axes(_, id, _) = gathered else { continue };
            let mask = view.mask(*id);
            for (at, axis) in axes.iter_mut().enumerate() {
                axis.truth |= (mask.truth >> at & 1) << place;
                axis.defined |= (mask.defined >> at & 1) << place;
                axis.values[place] = view.fixed.rows[id.index()].0[at];
            }
        }
    }
}

/// Gathers one operation. `None` if the result does not fit.
#[inline]
fn gather<'a, I: Iterator<Item = &'a AxisFindings>>(
    quantifier: Quantifier,
    place: usize,
    axes: impl Fn() -> I,
) -> Option<Scalar> {
    let (mut any, mut all, mut falsehood, mut whole) = (0, u8::MAX, 0, u8::MAX);
    for axis in axes() {
        any |= axis.truth;
        all &= axis.truth;
        falsehood |= axis.defined & !axis.truth;
        whole &= axis.defined;
    }
    let is = |bits: u8| bits >> place & 1 == 1;
    let condition = |truth: bool, is_known: bool| {
        if is_known { Scalar::condition(truth) } else { Scalar::UNDEFINED }
    };
    let value = |axis: &AxisFindings| axis.values[place];
    Some(match quantifier {
        Quantifier::Any => condition(is(any), is(any) || is(whole)),
        Quantifier::All => condition(is(all), is(falsehood) || is(whole)),
        Quantifier::Sum | Quantifier::Product if !is(whole) => Scalar::UNDEFINED,
        Quantifier::Sum => Scalar::integer(axes().map(value).try_fold(0_i64, i64::checked_add)?),
        Quantifier::Product => Scalar::integer(axes().map(value).try_fold(1_i64, i64::checked_mul)?),
    })
}

/// `None` if the result does not fit, or if a size is below 1: packed strides of such a tensor have another
/// reach.
#[inline]
fn reach(inputs: &Inputs<'_>, side: Side) -> Option<Scalar> {
    let sizes = leaf::list(inputs.desc, ListSource::Sizes(side))?;
    if sizes.iter().any(|&size| size < 1) {
        return None;
    }
    let reach = match leaf::list(inputs.desc, ListSource::Strides(side)) {
        None => sizes.iter().try_fold(1_i64, |count, &size| count.checked_mul(size))? - 1,
        Some(strides) => sizes
            .iter()
            .zip(strides)
            .try_fold(0_i64, |reach, (size, &stride)| reach.checked_add((size - 1).checked_mul(stride)?))?,
    };
    Some(Scalar::integer(reach))
}
