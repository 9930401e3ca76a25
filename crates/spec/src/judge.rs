//! Judging: one program evaluates every clause and question of an operator.

use std::sync::Arc;

use dmlcts_model::{Desc, Enumeration, Enumerator, FeatureLevel, Signature};

use crate::{
    Clause, IdSet, Judgement, Question,
    program::{Builder, Findings, Inputs, Judged, Memory, OpId, Rules, Values},
};

/// The clauses and questions of an operator, compiled.
#[derive(Debug)]
pub(crate) struct Judge {
    pub(crate) rules: Rules,
    /// For each clause, the clauses that must hold before it is judged.
    given: Vec<IdSet>,
    /// Every clause.
    all: IdSet,
    /// For each question, the clauses that must hold before it is raised.
    asked: Vec<IdSet>,
    /// For each clause, the index of its name.
    named: Vec<usize>,
    /// The names of the clauses, as predicates use them, with their codes.
    pub(crate) names: Arc<Enumeration>,
}

impl Judge {
    /// Compiles the clauses and questions.
    pub(crate) fn new(signature: &Arc<Signature>, clauses: &[Clause], questions: &[Question]) -> Self {
        let mut builder = Builder::new(Arc::clone(signature));
        let conditions: Vec<OpId> = clauses.iter().map(|clause| builder.add(&clause.term)).collect();
        let arises: Vec<OpId> = questions.iter().map(|question| builder.add(&question.term)).collect();
        let names = names(clauses);
        let place = |clause: &Clause| names.enumerators.iter().position(|it| it.name == clause.name());
        Self {
            rules: Rules::new(signature, builder.finish(), &conditions, &arises),
            given: clauses.iter().map(|clause| clause.given).collect(),
            all: (0..clauses.len()).collect(),
            asked: questions.iter().map(|question| question.given).collect(),
            named: clauses.iter().filter_map(place).collect(),
            names: Arc::new(names),
        }
    }

    /// Judges a desc of the operator.
    pub(crate) fn judge(&self, desc: &Desc, level: FeatureLevel, memory: &mut Memory) -> Judgement {
        self.conclude(self.rules.find(Inputs::new(desc, level), memory))
    }

    /// What the judge says of a desc, without any memory between descs.
    pub(crate) fn judged(&self, desc: &Desc, level: FeatureLevel, values: &mut Values) -> Judged {
        let judgement = self.conclude(self.rules.compute(Inputs::new(desc, level), values));
        let names: IdSet = judgement.violated.iter().map(|clause| self.named[clause]).collect();
        let only = names.iter().next().filter(|_| names.len() == 1);
        let violation = only.map(|name| self.names.enumerators[name].value);
        Judged { validity: judgement.validity(), violations: judgement.violated.len(), violation, names }
    }

    /// Applies `given`: drops the findings of clauses and questions whose conditions do not hold.
    fn conclude(&self, found: Findings) -> Judgement {
        let mut judgement = Judgement::default();
        if found.kept == self.all {
            judgement.satisfied = found.kept;
        } else {
            for place in found.kept.union(found.broken).iter() {
                if !judgement.satisfied.contains_all(self.given[place]) {
                    continue;
                }
                if found.kept.contains(place) {
                    judgement.satisfied.insert(place);
                } else {
                    judgement.violated.insert(place);
                }
            }
        }
        judgement.boundary = found.edges.intersection(judgement.satisfied);
        for place in found.raised.iter() {
            if judgement.satisfied.contains_all(self.asked[place]) {
                judgement.questions.insert(place);
            }
        }
        judgement
    }
}

/// The names of clauses, each once.
fn names(clauses: &[Clause]) -> Enumeration {
    let mut enumerators: Vec<Enumerator> = Vec::new();
    for name in clauses.iter().map(Clause::name) {
        if enumerators.iter().all(|known| known.name != name) {
            let value = code(&name).into();
            enumerators.push(Enumerator { name, value });
        }
    }
    Enumeration { name: "clauses".to_owned(), enumerators }
}

/// A number for a clause's name, the same for all operators: FNV-1a in 31 bits.
fn code(name: &str) -> u32 {
    let hash =
        name.bytes().fold(0x811C_9DC5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    hash >> 1
}
