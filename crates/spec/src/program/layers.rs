//! Rules in three layers. The first depends on one part of the desc's shape, and the second on the values of
//! one axis. The third has one value for the desc.
//!
//! Findings of the first layer are cached. The second runs on all axes at once. The third is computed by a
//! few [`scalars`](super::scalars) instructions from the gathered values of the axes.

use super::{
    Findings, Leaf, OpId, Operation, Program,
    axes::{AxisCode, AxisPlan, Gathered, MOST_GATHERED},
    findings::{Edge, Rule, RuleKind},
    number::Number,
    scalars::{CAPACITY, DEFINED, ScalarCode, Scalars, Slot, TRUE},
    shape::ShapeParts,
};
use crate::{
    IdSet,
    expression::{Comparison, Quantifier},
};

/// Rules in layers.
#[derive(Debug)]
pub(super) struct Layers {
    /// Operations that need no axis.
    pub(super) early: ScalarCode,
    /// Rules and operations on axes.
    pub(super) axes: AxisCode,
    /// Operations that need values gathered over the axes.
    pub(super) late: ScalarCode,
    checks: Vec<Check>,
}

/// The layer in which an operation is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Layer {
    /// With the shape.
    Given,
    /// Before the axes.
    Early,
    /// On each axis.
    Axis,
    /// Gathered over the axes.
    Gathered,
    /// After the axes.
    Late,
}

/// A rule that is decided by operations with one value for the desc.
#[derive(Debug)]
struct Check {
    kind: RuleKind,
    /// The set of the rule's index.
    bit: IdSet,
    condition: Slot,
    edges: Vec<EdgeCheck>,
}

/// A comparison that decides a rule.
#[derive(Debug)]
struct EdgeCheck {
    comparison: Comparison,
    out: Slot,
    a: Slot,
    b: Slot,
    /// The conditions of the `if`s around the comparison, and the value that each must have.
    branches: Vec<(Slot, bool)>,
}

/// The operations with one value for the desc that the rules need from the shape.
pub(super) fn given(program: &Program, parts: &[ShapeParts], rules: &[Rule]) -> Vec<OpId> {
    let mut needed = vec![false; program.ops.len()];
    for rule in rules {
        for id in rule.decisive().chain([rule.condition]) {
            program.reachable(id).into_iter().for_each(|id| needed[id.index()] = true);
        }
    }
    let ids = (0u32..).map(OpId).zip(needed).filter(|(_, needed)| *needed).map(|(id, _)| id);
    ids.filter(|id| is_given(program, parts, *id)).collect()
}

fn is_given(program: &Program, parts: &[ShapeParts], id: OpId) -> bool {
    let op = program.op(id);
    // Numbers beyond 64 bits need the full evaluation.
    let fits = !matches!(op.operation, Operation::Constant(value) if i64::narrow(value).is_none());
    !op.per_axis && parts[id.index()] != ShapeParts::NONE && fits
}

/// Arranges the rules in layers. `given` lists the operations whose values come first in the table. `None` if
/// a rule fits no layer.
pub(super) fn arrange(
    program: &Program,
    parts: &[ShapeParts],
    rules: &[Rule],
    given: &[OpId],
) -> Option<Layers> {
    let mut arranging = Arranging {
        program,
        parts,
        layers: vec![None; program.ops.len()],
        slots: vec![None; program.ops.len()],
        used: given.len(),
        early: ScalarCode::default(),
        late: ScalarCode::default(),
        gathered: Vec::new(),
        frontier: Vec::new(),
    };
    if given.len() > CAPACITY {
        return None;
    }
    for (slot, id) in given.iter().enumerate() {
        arranging.slots[id.index()] = Some(slot as Slot);
    }
    let mut checks = Vec::new();
    let mut axis_rules = Vec::new();
    let mut axis_edges = Vec::new();
    for rule in rules {
        if arranging.layer(rule.condition)? == Layer::Axis {
            if !rule.edges.iter().all(|edge| arranging.is_on_axis(edge)) {
                return None;
            }
            axis_rules.push(rule.clone());
            continue;
        }
        let mut edges = Vec::new();
        for edge in &rule.edges {
            if arranging.layer(edge.comparison)? == Layer::Axis {
                if !arranging.is_on_axis(edge) {
                    return None;
                }
                axis_edges.push((IdSet::of(rule.place), edge.clone()));
            } else {
                edges.push(arranging.edge_check(edge)?);
            }
        }
        let condition = arranging.slot(rule.condition)?;
        checks.push(Check { kind: rule.kind, bit: IdSet::of(rule.place), condition, edges });
    }
    let Arranging { early, late, gathered, frontier, .. } = arranging;
    let plan = AxisPlan { frontier, rules: axis_rules, edges: axis_edges, gathered };
    Some(Layers { early, axes: plan.extract(program)?, late, checks })
}

struct Arranging<'a> {
    program: &'a Program,
    parts: &'a [ShapeParts],
    /// The layer of each operation that has been arranged.
    layers: Vec<Option<Layer>>,
    slots: Vec<Option<Slot>>,
    /// The number of slots in use.
    used: usize,
    early: ScalarCode,
    late: ScalarCode,
    gathered: Vec<Gathered>,
    frontier: Vec<(OpId, Slot)>,
}

impl Arranging<'_> {
    /// Arranges an operation and its operands, and returns its layer.
    fn layer(&mut self, id: OpId) -> Option<Layer> {
        if let Some(layer) = self.layers[id.index()] {
            return Some(layer);
        }
        let layer = if is_given(self.program, self.parts, id) {
            Layer::Given
        } else if self.program.op(id).per_axis {
            self.arrange_on_axis(id)?
        } else if let Operation::Over(quantifier, a) = self.program.op(id).operation {
            self.gather(id, quantifier, a)?
        } else {
            self.arrange_scalar(id)?
        };
        self.layers[id.index()] = Some(layer);
        Some(layer)
    }

    fn arrange_on_axis(&mut self, id: OpId) -> Option<Layer> {
        match self.program.op(id).operation {
            Operation::Leaf(Leaf::List(_) | Leaf::Axis) => {}
            // Code on axes sees one axis at a time.
            Operation::Leaf(_) | Operation::On(..) => return None,
            _ => {}
        }
        for operand in self.program.op(id).operation.operands() {
            if !self.is_known_to_axes(operand) {
                return None;
            }
        }
        Some(Layer::Axis)
    }

    /// Whether code on axes can read an operation. A value that is the same for all axes is handed to it.
    fn is_known_to_axes(&mut self, id: OpId) -> bool {
        match self.layer(id) {
            Some(Layer::Axis) => true,
            Some(Layer::Given | Layer::Early) => {
                let is_new = self.frontier.iter().all(|(known, _)| *known != id);
                let is_constant = matches!(self.program.op(id).operation, Operation::Constant(_));
                let slot = self.slots[id.index()];
                if is_new
                    && !is_constant
                    && let Some(slot) = slot
                {
                    self.frontier.push((id, slot));
                }
                slot.is_some()
            }
            _ => false,
        }
    }

    fn is_on_axis(&mut self, edge: &Edge) -> bool {
        let branches = edge.branches.iter().map(|(id, _)| *id);
        self.layer(edge.comparison) == Some(Layer::Axis)
            && branches.into_iter().all(|id| self.is_known_to_axes(id))
    }

    fn gather(&mut self, id: OpId, quantifier: Quantifier, a: OpId) -> Option<Layer> {
        let slot = self.take_slot(id)?;
        if self.layer(a)? != Layer::Axis || self.gathered.len() == MOST_GATHERED {
            return None;
        }
        self.gathered.push(Gathered { quantifier, of: a, slot });
        Some(Layer::Gathered)
    }

    fn arrange_scalar(&mut self, id: OpId) -> Option<Layer> {
        let mut layer = Layer::Early;
        for operand in self.program.op(id).operation.operands() {
            match self.layer(operand)? {
                Layer::Axis => return None,
                Layer::Given | Layer::Early => {}
                Layer::Gathered | Layer::Late => layer = Layer::Late,
            }
        }
        self.take_slot(id)?;
        let slots = &self.slots;
        // Every operand has been arranged above.
        let slot = |id: OpId| slots[id.index()].unwrap_or_default();
        let code = if layer == Layer::Early { &mut self.early } else { &mut self.late };
        code.push(self.program, id, slot)?;
        Some(layer)
    }

    fn take_slot(&mut self, id: OpId) -> Option<Slot> {
        let slot = Slot::try_from(self.used).ok()?;
        self.used += 1;
        self.slots[id.index()] = Some(slot);
        Some(slot)
    }

    /// The slot of an operation with one value for the desc.
    fn slot(&mut self, id: OpId) -> Option<Slot> {
        self.layer(id)?;
        self.slots[id.index()]
    }

    fn edge_check(&mut self, edge: &Edge) -> Option<EdgeCheck> {
        let Operation::Compare(comparison, a, b) = self.program.op(edge.comparison).operation else {
            return None;
        };
        let mut branches = Vec::new();
        for &(condition, wanted) in &edge.branches {
            branches.push((self.slot(condition)?, wanted));
        }
        let (out, a, b) = (self.slot(edge.comparison)?, self.slot(a)?, self.slot(b)?);
        Some(EdgeCheck { comparison, out, a, b, branches })
    }
}

impl Layers {
    /// Adds the findings of rules that are decided by operations with one value for the desc.
    #[inline]
    pub(super) fn check(&self, table: &Scalars, found: &mut Findings) {
        for check in &self.checks {
            let mask = table.mask(check.condition);
            if check.kind == RuleKind::Question {
                if mask & TRUE != 0 {
                    found.raised = found.raised.union(check.bit);
                }
            } else if mask & TRUE != 0 {
                found.kept = found.kept.union(check.bit);
                if check.edges.iter().any(|edge| edge.is_met(table)) {
                    found.edges = found.edges.union(check.bit);
                }
            } else if mask != 0 {
                found.broken = found.broken.union(check.bit);
            }
        }
    }
}

impl EdgeCheck {
    /// Whether the comparison is reached and holds with no margin.
    #[inline]
    fn is_met(&self, table: &Scalars) -> bool {
        let (a, b) = (table.value(self.a), table.value(self.b));
        let is_near = match self.comparison {
            Comparison::Equal | Comparison::LessOrEqual | Comparison::GreaterOrEqual => a == b,
            Comparison::Less => a.follows(b),
            Comparison::Greater => b.follows(a),
            Comparison::NotEqual => a.follows(b) || b.follows(a),
        };
        let is_reached = |&(condition, wanted): &(Slot, bool)| {
            table.mask(condition) == if wanted { DEFINED | TRUE } else { DEFINED }
        };
        is_near && table.mask(self.out) & TRUE != 0 && self.branches.iter().all(is_reached)
    }
}
