//! Findings: which clauses are kept, broken or on their boundary, and which questions are raised.

use smallvec::SmallVec;

use super::{OpId, Operation, Program, number::Number, view::View};
use crate::{IdSet, expression::Comparison};

/// A clause or a question.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    pub(super) kind: RuleKind,
    /// The index among the rules of its kind.
    pub(super) place: usize,
    pub(super) condition: OpId,
    pub(super) edges: Vec<Edge>,
}

/// The kind of a rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum RuleKind {
    Clause,
    Question,
}

/// A comparison that decides a clause, and the branches that lead to it.
#[derive(Debug, Clone)]
pub(super) struct Edge {
    pub(super) comparison: OpId,
    /// The conditions of the `if`s around the comparison, and the value that each must have.
    pub(super) branches: SmallVec<[(OpId, bool); 2]>,
}

/// Sets of clauses and questions, by index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Findings {
    /// The clauses that hold on all their lanes.
    pub kept: IdSet,
    /// The clauses that are false on some lane.
    pub broken: IdSet,
    /// The kept clauses with a deciding comparison that holds with no margin on some lane.
    pub edges: IdSet,
    /// The questions that are true on some lane.
    pub raised: IdSet,
}

impl Findings {
    /// The union of these findings and others.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            kept: self.kept.union(other.kept),
            broken: self.broken.union(other.broken),
            raised: self.raised.union(other.raised),
            edges: self.edges.union(other.edges),
        }
    }
}

impl Rule {
    pub(super) fn clause(program: &Program, place: usize, condition: OpId) -> Self {
        let mut edges = Vec::new();
        find_edges(program, condition, &SmallVec::new(), &mut edges);
        Self { kind: RuleKind::Clause, place, condition, edges }
    }

    pub(super) fn question(place: usize, condition: OpId) -> Self {
        Self { kind: RuleKind::Question, place, condition, edges: Vec::new() }
    }

    /// The operations, beside the condition, that the edges need.
    pub(super) fn decisive(&self) -> impl Iterator<Item = OpId> {
        self.edges.iter().flat_map(Edge::decisive)
    }

    /// The same rule with its operations renumbered.
    pub(super) fn renamed(&self, rename: impl Fn(OpId) -> OpId) -> Self {
        let edges = self.edges.iter().map(|edge| edge.renamed(&rename)).collect();
        Self { condition: rename(self.condition), edges, ..*self }
    }
}

impl Edge {
    /// The operations that the edge needs.
    pub(super) fn decisive(&self) -> impl Iterator<Item = OpId> {
        self.branches.iter().map(|(id, _)| *id).chain([self.comparison])
    }

    /// The same edge with its operations renumbered.
    pub(super) fn renamed(&self, rename: impl Fn(OpId) -> OpId) -> Self {
        let branches = self.branches.iter().map(|&(id, wanted)| (rename(id), wanted)).collect();
        Self { comparison: rename(self.comparison), branches }
    }

    /// Whether the comparison is reached and holds with no margin on some lane.
    fn is_met<N: Number>(&self, view: &View<'_, N>) -> bool {
        self.lanes(view) != 0
    }

    /// The lanes on which the comparison is reached and holds with no margin.
    pub(super) fn lanes<N: Number>(&self, view: &View<'_, N>) -> u8 {
        let edge = view.edge(self.comparison);
        self.branches.iter().fold(edge, |lanes, &(condition, wanted)| {
            let mask = view.mask(condition);
            let reached = if wanted { mask.truth } else { mask.falsehood() };
            // A condition with one value for the desc applies to every lane.
            lanes & if reached != 0 && !view.program.op(condition).per_axis { u8::MAX } else { reached }
        })
    }
}

/// Evaluates rules on computed values.
pub(super) fn findings<'a, N: Number>(
    rules: impl IntoIterator<Item = &'a Rule>,
    view: &View<'_, N>,
) -> Findings {
    let mut found = Findings::default();
    for rule in rules {
        if rule.kind == RuleKind::Question {
            if view.mask(rule.condition).truth != 0 {
                found.raised.insert(rule.place);
            }
            continue;
        }
        match view.verdict(rule.condition) {
            Some(true) => {
                found.kept.insert(rule.place);
                if rule.edges.iter().any(|edge| edge.is_met(view)) {
                    found.edges.insert(rule.place);
                }
            }
            Some(false) => found.broken.insert(rule.place),
            None => {}
        }
    }
    found
}

/// Finds the comparisons that decide a condition. Comparisons inside the compared values do not count.
fn find_edges(
    program: &Program,
    condition: OpId,
    branches: &SmallVec<[(OpId, bool); 2]>,
    edges: &mut Vec<Edge>,
) {
    match program.op(condition).operation {
        // An equality has no boundary: every step of one breaks it.
        Operation::Compare(Comparison::Equal, ..) => {}
        Operation::Compare(..) => edges.push(Edge { comparison: condition, branches: branches.clone() }),
        Operation::Logic(_, a, b) => {
            find_edges(program, a, branches, edges);
            find_edges(program, b, branches, edges);
        }
        Operation::ChooseCondition(chosen, a, b) => {
            for (branch, wanted) in [(a, true), (b, false)] {
                let mut branches = branches.clone();
                branches.push((chosen, wanted));
                find_edges(program, branch, &branches, edges);
            }
        }
        Operation::Over(quantifier, a) if quantifier.is_condition() => {
            find_edges(program, a, branches, edges);
        }
        _ => {}
    }
}
