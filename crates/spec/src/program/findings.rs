//! What rules come to: which clauses are kept and broken, which are kept with nothing to spare, and which
//! questions arise.

use smallvec::SmallVec;

use super::{OpId, Operation, Program, number::Number, view::View};
use crate::{IdSet, expression::Comparison};

/// A clause or a question.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    pub(super) kind: Kind,
    /// Its place among its kind.
    pub(super) place: usize,
    pub(super) condition: OpId,
    pub(super) edges: Vec<Edge>,
}

/// What a rule is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Clause,
    Question,
}

/// A comparison that decides a clause, and the branches in which it does.
#[derive(Debug, Clone)]
pub(super) struct Edge {
    pub(super) comparison: OpId,
    /// Whether each of these conditions is to hold or not to hold for the comparison to be reached.
    pub(super) branches: SmallVec<[(OpId, bool); 2]>,
}

/// What was found of rules, by place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Findings {
    /// The clauses that hold, on every lane that they have.
    pub kept: IdSet,
    /// The clauses that are false on some lane.
    pub broken: IdSet,
    /// The clauses that are kept, by a comparison that is true with nothing to spare on some lane.
    pub edges: IdSet,
    /// The questions that are true on some lane.
    pub raised: IdSet,
}

impl Findings {
    /// What was found of these rules and of others.
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
        Self { kind: Kind::Clause, place, condition, edges }
    }

    pub(super) fn question(place: usize, condition: OpId) -> Self {
        Self { kind: Kind::Question, place, condition, edges: Vec::new() }
    }

    /// The operations that decide it beside its condition.
    pub(super) fn decisive(&self) -> impl Iterator<Item = OpId> {
        self.edges.iter().flat_map(Edge::decisive)
    }

    /// The same rule of operations with other names.
    pub(super) fn renamed(&self, rename: impl Fn(OpId) -> OpId) -> Self {
        let edges = self.edges.iter().map(|edge| edge.renamed(&rename)).collect();
        Self { condition: rename(self.condition), edges, ..*self }
    }
}

impl Edge {
    /// The operations that decide it.
    pub(super) fn decisive(&self) -> impl Iterator<Item = OpId> {
        self.branches.iter().map(|(id, _)| *id).chain([self.comparison])
    }

    /// The same edge of operations with other names.
    pub(super) fn renamed(&self, rename: impl Fn(OpId) -> OpId) -> Self {
        let branches = self.branches.iter().map(|&(id, wanted)| (rename(id), wanted)).collect();
        Self { comparison: rename(self.comparison), branches }
    }

    /// Whether the comparison is reached and true with nothing to spare, on any lane.
    fn is_met<N: Number>(&self, view: &View<'_, N>) -> bool {
        self.lanes(view) != 0
    }

    /// The lanes on which it is.
    pub(super) fn lanes<N: Number>(&self, view: &View<'_, N>) -> u8 {
        let edge = view.edge(self.comparison);
        self.branches.iter().fold(edge, |lanes, &(condition, wanted)| {
            let mask = view.mask(condition);
            let reached = if wanted { mask.truth } else { mask.falsehood() };
            // What has one value for the desc reaches every lane.
            lanes & if reached != 0 && !view.program.op(condition).per_axis { u8::MAX } else { reached }
        })
    }
}

/// What rules come to.
pub(super) fn findings<'a, N: Number>(
    rules: impl IntoIterator<Item = &'a Rule>,
    view: &View<'_, N>,
) -> Findings {
    let mut found = Findings::default();
    for rule in rules {
        if rule.kind == Kind::Question {
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

/// The comparisons that decide a condition: not those within the values that it compares.
fn find_edges(
    program: &Program,
    condition: OpId,
    branches: &SmallVec<[(OpId, bool); 2]>,
    edges: &mut Vec<Edge>,
) {
    match program.op(condition).operation {
        // Who says that two things are equal has no boundary but that.
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
