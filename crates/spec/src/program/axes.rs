//! Findings for each axis of a desc, and their combination over all axes.

use super::{
    Findings, Inputs, MAXIMUM_AXES, Mask, OpId, Program,
    findings::{Edge, Rule, RuleKind},
    lengths::Lengths,
    scalars::{DEFINED, Scalar, Scalars, Slot, TRUE},
    step::{Lanes, run},
    table::{LaneRow, Table},
    view::View,
};
use crate::{IdSet, expression::Quantifier};

/// The largest number of operations that are gathered over the axes.
pub(super) const MOST_GATHERED: usize = 8;

/// The rules and operations that are evaluated on each axis.
#[derive(Debug)]
pub(super) struct AxisCode {
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
    pub(super) frontier: Vec<(OpId, Slot)>,
    /// See [`AxisCode`].
    pub(super) rules: Vec<Rule>,
    /// See [`AxisCode`].
    pub(super) edges: Vec<(IdSet, Edge)>,
    /// See [`AxisCode`].
    pub(super) gathered: Vec<Gathered>,
}

/// The values of a desc's axes.
#[derive(Debug, Default)]
pub(super) struct AxisValues {
    table: Table<i64>,
    none: Table<i64>,
}

/// A value that is gathered over the axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gathered {
    pub(super) quantifier: Quantifier,
    /// The operation on axes.
    pub(super) of: OpId,
    /// Where the value is stored.
    pub(super) slot: Slot,
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
    /// Extracts the operations on axes from a program. `None` if they exceed the capacity of findings.
    pub(super) fn extract(self, program: &Program) -> Option<AxisCode> {
        if self.rules.len() + self.edges.len() > u32::BITS as usize {
            return None;
        }
        let gathered = self.gathered.iter().map(|gathered| gathered.of);
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
        let clauses = rules.iter().enumerate().filter(|(_, rule)| rule.kind == RuleKind::Clause);
        let clauses = clauses.fold((0, IdSet::EMPTY), |(bits, all), (bit, rule)| {
            (bits | 1 << bit, all.union(IdSet::of(rule.place)))
        });
        Some(AxisCode {
            frontier: self.frontier.iter().map(|(_, slot)| *slot).collect(),
            program: own,
            bits: bits.collect(),
            clauses,
            edges: self.edges.iter().map(|(_, edge)| edge.renamed(rename)).collect(),
            gathered: self.gathered.iter().map(|one| Gathered { of: rename(one.of), ..*one }).collect(),
            rules,
        })
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
        memory: &mut AxisValues,
        table: &mut Scalars,
        found: &mut Findings,
    ) -> Option<()> {
        let mut all = [AxisFindings::default(); MAXIMUM_AXES];
        let known = all.get_mut(..usize::from(count))?;
        self.compute(inputs, memory, table, known)?;
        let axes = || known.iter();
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
            table.set(gathered.slot, gather(gathered.quantifier, place, axes)?);
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

    /// Computes the findings of all axes.
    fn compute(
        &self,
        inputs: &Inputs<'_>,
        memory: &mut AxisValues,
        scalars: &Scalars,
        axes: &mut [AxisFindings],
    ) -> Option<()> {
        let AxisValues { table, none } = memory;
        let lengths = Lengths::of(axes.len() as u8);
        table.grow(self.program.ops.len());
        for ((slot, row), mask) in self.frontier.iter().zip(&mut table.rows).zip(&mut table.masks) {
            let spread = |bit: u8| if scalars.mask(*slot) & bit == 0 { 0 } else { u8::MAX };
            *row = LaneRow([scalars.value(*slot); MAXIMUM_AXES]);
            *mask = Mask { truth: spread(TRUE), defined: spread(DEFINED) };
        }
        let mut lost = false;
        run(&self.program, &self.program.fixed, table, Lanes::Axes { inputs, lengths: &lengths }, &mut lost);
        if lost {
            return None;
        }
        let view = View { program: &self.program, fixed: table, moving: none, lengths: &lengths };
        self.collect(&view, axes);
        Some(())
    }

    fn collect(&self, view: &View<'_, i64>, axes: &mut [AxisFindings]) {
        let on = |lanes: u8, axis: usize, bit: usize| u32::from(lanes >> axis & 1) << bit;
        for (bit, rule) in self.rules.iter().enumerate() {
            let mask = view.mask(rule.condition);
            let edges = rule.edges.iter().fold(0, |lanes, edge| lanes | edge.lanes(view)) & mask.truth;
            for (at, axis) in axes.iter_mut().enumerate() {
                match rule.kind {
                    RuleKind::Question => axis.raised |= on(mask.truth, at, bit),
                    RuleKind::Clause => {
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
            let mask = view.mask(gathered.of);
            for (at, axis) in axes.iter_mut().enumerate() {
                axis.truth |= (mask.truth >> at & 1) << place;
                axis.defined |= (mask.defined >> at & 1) << place;
                axis.values[place] = view.fixed.rows[gathered.of.index()].0[at];
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
