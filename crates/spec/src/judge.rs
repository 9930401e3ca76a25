//! Judging: every clause and question of an operator compiled into one program, evaluated at once.

use std::sync::Arc;

use dmlcts_model::{Desc, FeatureLevel, Signature};
use smallvec::SmallVec;

use crate::{
    Clause, IdSet, Judgement, Question,
    expression::Comparison,
    program::{Builder, Evaluation, Inputs, OpId, Operation, Program, Values},
};

/// The clauses and questions of an operator, compiled.
#[derive(Debug)]
pub(crate) struct Judge {
    program: Program,
    clauses: Vec<Rule>,
    questions: Vec<Rule>,
}

/// A compiled clause or question.
#[derive(Debug)]
struct Rule {
    condition: OpId,
    given: IdSet,
    edges: Vec<Edge>,
}

/// A comparison that decides a clause, and the branches in which it does.
#[derive(Debug)]
struct Edge {
    comparison: OpId,
    /// Whether each of these conditions is to hold or not to hold for the comparison to be reached.
    branches: SmallVec<[(OpId, bool); 2]>,
}

impl Judge {
    /// Compiles.
    pub(crate) fn new(signature: &Arc<Signature>, clauses: &[Clause], questions: &[Question]) -> Self {
        let mut builder = Builder::new(Arc::clone(signature));
        let conditions: Vec<OpId> = clauses.iter().map(|clause| builder.add(&clause.term)).collect();
        let arises: Vec<OpId> = questions.iter().map(|question| builder.add(&question.term)).collect();
        let program = builder.finish();
        let edges = |condition| {
            let mut edges = Vec::new();
            find_edges(&program, condition, &SmallVec::new(), &mut edges);
            edges
        };
        let clauses = clauses.iter().zip(conditions).map(|(clause, condition)| Rule {
            condition,
            given: clause.given,
            edges: edges(condition),
        });
        let clauses = clauses.collect();
        let questions = questions.iter().zip(arises).map(|(question, condition)| Rule {
            condition,
            given: question.given,
            edges: Vec::new(),
        });
        Self { clauses, questions: questions.collect(), program }
    }

    /// Judges a desc of the operator.
    pub(crate) fn judge(&self, desc: &Desc, level: FeatureLevel, values: &mut Values) -> Judgement {
        let evaluation = self.program.evaluate(Inputs::new(desc, level), values);
        let mut judgement = Judgement::default();
        for (place, clause) in self.clauses.iter().enumerate() {
            if !judgement.satisfied.contains_all(clause.given) {
                continue;
            }
            match evaluation.verdict(clause.condition) {
                Some(true) => {
                    judgement.satisfied.insert(place);
                    if clause.edges.iter().any(|edge| edge.is_met(&evaluation)) {
                        judgement.boundary.insert(place);
                    }
                }
                Some(false) => judgement.violated.insert(place),
                None => {}
            }
        }
        for (place, question) in self.questions.iter().enumerate() {
            if judgement.satisfied.contains_all(question.given)
                && evaluation.mask(question.condition).truth != 0
            {
                judgement.questions.insert(place);
            }
        }
        judgement
    }

    /// Whether a clause can be kept with nothing to spare: it compares by order, or with `!=`.
    pub(crate) fn has_boundary(&self, clause: usize) -> bool {
        self.clauses.get(clause).is_some_and(|rule| !rule.edges.is_empty())
    }
}

impl Edge {
    /// Whether the comparison is reached and holds with nothing to spare, on any lane.
    fn is_met(&self, evaluation: &Evaluation<'_>) -> bool {
        let reached = self.branches.iter().fold(u8::MAX, |lanes, &(condition, wanted)| {
            let mask = evaluation.mask(condition);
            lanes & if wanted { mask.truth } else { mask.falsehood() }
        });
        reached != 0 && evaluation.edge(self.comparison) & reached != 0
    }
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
