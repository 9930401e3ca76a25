//! Rules: the clauses and questions of a judge, evaluated together and fast.
//!
//! Most of what an operator's rules say depends on little of a desc: which pointers are null, how long the
//! lists are, data types, flags, the feature level. Descs of one run repeat that *shape*, part by part, over
//! and over. So what follows from a part alone is remembered, and only what depends on sizes, strides and
//! other values, or on several parts, is computed for each desc. What is not remembered, or does not fit 64
//! bits, is computed the long way.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use dmlcts_model::Signature;

use super::{
    Findings, Inputs, OpId, Program, Values,
    findings::{Kind, Rule, findings},
    quick::Quick,
    shape::{PARTS, Parts, Plan, Shapes, parts_of, plan, plan_given},
};
use crate::IdSet;

/// Clauses and questions that are evaluated together; at most [`IdSet::CAPACITY`] of each.
#[derive(Debug)]
pub struct Rules {
    /// Tells what is remembered for these rules from what is remembered for others.
    id: u64,
    program: Program,
    /// What follows from each part of a shape.
    plans: [Plan; PARTS],
    /// The rules that follow from no single part.
    lively: Vec<Rule>,
    /// The same as code, whose first operations are given by the shape.
    quick: Quick,
}

/// What rules remember from one desc to the next.
#[derive(Debug, Default)]
pub struct Memory {
    values: Values,
    shapes: Vec<(u64, Shapes)>,
}

/// How many rules' shapes are remembered at once.
const MOST_RULES: usize = 8;

impl Memory {
    /// The memory for evaluating other programs.
    fn split(&mut self, id: u64) -> (&mut Values, &mut Shapes) {
        let found = self.shapes.iter().position(|(known, _)| *known == id);
        let place = found.unwrap_or_else(|| {
            if self.shapes.len() == MOST_RULES {
                self.shapes.clear();
            }
            self.shapes.push((id, Shapes::default()));
            self.shapes.len() - 1
        });
        (&mut self.values, &mut self.shapes[place].1)
    }
}

impl Rules {
    /// Prepares the conditions of a program; those beyond [`IdSet::CAPACITY`] are left out.
    pub fn new(signature: &Arc<Signature>, program: Program, clauses: &[OpId], questions: &[OpId]) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let clauses = clauses.iter().enumerate().take(IdSet::CAPACITY);
        let clauses = clauses.map(|(place, &condition)| Rule::clause(&program, place, condition));
        let questions = questions.iter().enumerate().take(IdSet::CAPACITY);
        let questions = questions.map(|(place, &condition)| Rule::question(place, condition));
        let parts = parts_of(&program, signature);
        let (mut plans, lively) = plan(signature, &parts, clauses.chain(questions));
        let quick = extract(&program, &parts, &mut plans, &lively);
        let id = COUNT.fetch_add(1, Ordering::Relaxed);
        Self { id, program, plans, lively, quick }
    }

    /// The program of all conditions.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Whether a clause can be kept with nothing to spare: a comparison by order, or with `!=`, decides it.
    pub fn has_edge(&self, clause: usize) -> bool {
        self.all().any(|rule| rule.kind == Kind::Clause && rule.place == clause && !rule.edges.is_empty())
    }

    /// Evaluates all rules.
    pub fn find(&self, inputs: Inputs<'_>, memory: &mut Memory) -> Findings {
        let (values, shapes) = memory.split(self.id);
        let mut is_known = false;
        if let Some((lengths, steady, table)) = shapes.find(&self.plans, &inputs, self.quick.operations()) {
            is_known = true;
            if let Some(found) = self.quick.find(&inputs, lengths, table) {
                return found.and(steady);
            }
        }
        // Part of the shape is new, or a value did not fit 64 bits or what its member can hold.
        let evaluation = self.program.evaluate(inputs, values);
        if evaluation.is_wide() {
            return findings(self.all(), &evaluation.wide());
        }
        let view = evaluation.narrow();
        if !is_known {
            shapes.remember(&self.plans, &inputs, &view);
        }
        findings(self.all(), &view)
    }

    fn all(&self) -> impl Iterator<Item = &Rule> {
        self.plans.iter().flat_map(Plan::rules).chain(&self.lively)
    }
}

/// The code of the lively rules alone. Its first operations are given by the parts of the shape, whose plans
/// are told which.
fn extract(program: &Program, parts: &[Parts], plans: &mut [Plan; PARTS], rules: &[Rule]) -> Quick {
    let ops = &program.ops;
    let is_lively = |index: usize| parts[index] == Parts::NONE;
    let mut needed = vec![false; ops.len()];
    for id in rules.iter().flat_map(|rule| rule.decisive().chain([rule.condition])) {
        needed[id.index()] = true;
        // What an edge compares is read, though the comparison itself be given.
        ops[id.index()].operation.operands().for_each(|operand| needed[operand.index()] = true);
    }
    for index in (0..ops.len()).rev() {
        if needed[index] && is_lively(index) {
            ops[index].operation.operands().for_each(|operand| needed[operand.index()] = true);
        }
    }
    let ids = (0u32..).map(OpId).take(ops.len()).filter(|id| needed[id.index()]);
    let (given, computed): (Vec<OpId>, Vec<OpId>) = ids.partition(|id| !is_lively(id.index()));
    let given = plan_given(plans, parts, &given);
    let mut renamed = vec![OpId(0); ops.len()];
    for (id, new) in given.iter().chain(&computed).zip((0u32..).map(OpId)) {
        renamed[id.index()] = new;
    }
    let rename = |id: OpId| renamed[id.index()];
    let mut lively = Program { lists: program.lists.clone(), ..Program::default() };
    for &id in given.iter().chain(&computed) {
        let mut op = ops[id.index()].clone();
        op.operation = op.operation.renamed(rename);
        lively.ops.push(op);
    }
    lively.fixed = computed.iter().map(|&id| rename(id)).collect();
    let rules = rules.iter().map(|rule| rule.renamed(rename)).collect();
    Quick::new(lively, rules)
}

#[cfg(test)]
mod tests {
    use dmlcts_model::{DataType, Desc, FeatureLevel, List, Tensor, packed_strides};

    use super::*;
    use crate::{Library, program::Builder};

    /// Descs of every rank, data type and layout, with a few alignments.
    fn descs(signature: &Arc<Signature>) -> Vec<Desc> {
        let mut descs = Vec::new();
        for (rank, code) in (1..=8).flat_map(|rank| (1..=11).map(move |code| (rank, code))) {
            for layout in 0..36 {
                let tensor = |is_strided: bool, alignment: u32| {
                    let sizes = List::from_elem(2, rank);
                    let strides = is_strided.then(|| packed_strides(&sizes));
                    Tensor { strides, alignment, ..Tensor::packed(DataType(code), sizes) }
                };
                let input = tensor(layout % 2 == 1, [0, 16, 64][layout / 4 % 3]);
                let output = tensor(layout / 2 % 2 == 1, [0, 16, 64][layout / 12]);
                descs.push(Desc::usual(Arc::clone(signature), input, output));
            }
        }
        descs
    }

    #[test]
    fn the_shapes_of_varied_descs_stay_known() {
        for operator in Library::embedded().operators() {
            let mut builder = Builder::new(Arc::clone(operator.signature()));
            let clauses: Vec<OpId> =
                operator.clauses().iter().map(|clause| builder.add(&clause.term)).collect();
            let rules = Rules::new(operator.signature(), builder.finish(), &clauses, &[]);
            let descs = descs(operator.signature());
            let mut memory = Memory::default();
            let (mut known, mut count) = (0, 0);
            for round in 0..2 {
                for desc in &descs {
                    let inputs = Inputs::new(desc, FeatureLevel::NEWEST);
                    let (_, shapes) = memory.split(rules.id);
                    let is_known = shapes.find(&rules.plans, &inputs, rules.quick.operations()).is_some();
                    known += usize::from(is_known && round > 0);
                    count += usize::from(round > 0);
                    rules.find(inputs, &mut memory);
                }
            }
            assert!(known * 100 >= count * 98, "{}: {known} of {count}", operator.name());
        }
    }
}
