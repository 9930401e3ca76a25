//! Rules: the clauses and questions of a judge, evaluated together and fast.
//!
//! Most of what an operator's rules say depends on little of a desc: which pointers are null, how long the
//! lists are, data types, flags, the feature level. Descs of one run repeat that *shape* over and over. So
//! what follows from the shape alone is remembered, and only what depends on sizes, strides and other values
//! is computed for each desc. What is not remembered, or does not fit 64 bits, is computed the long way.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use dmlcts_model::{MemberKind, Signature};

use super::{
    Findings, Inputs, OpId, Operation, Program, Values,
    findings::{Kind, Rule, findings},
    quick::Quick,
    shape::{Shape, Shapes, follows_from_shape, key_of},
    view::View,
};
use crate::IdSet;

/// Clauses and questions that are evaluated together; at most [`IdSet::CAPACITY`] of each.
#[derive(Debug)]
pub struct Rules {
    /// Tells what is remembered for these rules from what is remembered for others.
    id: u64,
    program: Program,
    /// The rules that follow from the shape.
    steady: Vec<Rule>,
    /// Those that do not.
    lively: Vec<Rule>,
    /// The members that belong to the shape.
    shape: Vec<bool>,
    /// What does not follow from the shape: its first operations are given by the shape.
    quick: Quick,
    /// What those first operations are in the whole program.
    given: Vec<OpId>,
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
        let kinds = signature.members.iter().map(|member| &member.kind);
        let shape: Vec<bool> = kinds.map(|kind| !matches!(kind, MemberKind::U32 | MemberKind::I32)).collect();
        let is_lively = lively_operations(&program, &shape);
        let follows = |rule: &Rule| !rule.decisive().chain([rule.condition]).any(|id| is_lively[id.index()]);
        let (steady, lively): (Vec<Rule>, Vec<Rule>) = clauses.chain(questions).partition(follows);
        let (given, quick) = extract(&program, &is_lively, &lively);
        let id = COUNT.fetch_add(1, Ordering::Relaxed);
        Self { id, program, steady, lively, shape, quick, given }
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
        let key = key_of(&inputs, &self.shape);
        let mut is_known = false;
        if let Some(key) = &key
            && let Some((shape, table)) = shapes.find(key, self.quick.operations())
        {
            is_known = true;
            if let Some(found) = self.quick.find(&inputs, &shape.lengths, table) {
                return found.and(shape.findings);
            }
        }
        // The shape is new, or a value did not fit 64 bits or what its member can hold.
        let evaluation = self.program.evaluate(inputs, values);
        if evaluation.is_wide() {
            return findings(self.all(), &evaluation.wide());
        }
        let view = evaluation.narrow();
        if let Some(key) = key.filter(|_| !is_known) {
            shapes.insert(self.shape(key, &view));
        }
        findings(self.all(), &view)
    }

    fn all(&self) -> impl Iterator<Item = &Rule> {
        self.steady.iter().chain(&self.lively)
    }

    fn shape(&self, key: super::shape::Key, view: &View<'_, i64>) -> Shape {
        let given = self.given.iter().map(|id| (view.fixed.rows[id.index()], view.fixed.masks[id.index()]));
        Shape {
            key,
            lengths: view.lengths.clone(),
            given: given.collect(),
            findings: findings(&self.steady, view),
        }
    }
}

/// Tells the operations that do not follow from the shape from those that do.
fn lively_operations(program: &Program, shape: &[bool]) -> Vec<bool> {
    let mut is_lively = vec![false; program.ops.len()];
    for (index, op) in program.ops.iter().enumerate() {
        is_lively[index] = match op.operation {
            Operation::Leaf(leaf) => !follows_from_shape(leaf, shape),
            _ => op.operation.operands().any(|operand| is_lively[operand.index()]),
        };
    }
    is_lively
}

/// The program of the lively rules alone. Its first operations, the ones returned, are given by the shape.
fn extract(program: &Program, is_lively: &[bool], rules: &[Rule]) -> (Vec<OpId>, Quick) {
    let ops = &program.ops;
    let mut needed = vec![false; ops.len()];
    for id in rules.iter().flat_map(|rule| rule.decisive().chain([rule.condition])) {
        needed[id.index()] = true;
        // What an edge compares is read, though the comparison itself be given.
        ops[id.index()].operation.operands().for_each(|operand| needed[operand.index()] = true);
    }
    for index in (0..ops.len()).rev() {
        if needed[index] && is_lively[index] {
            ops[index].operation.operands().for_each(|operand| needed[operand.index()] = true);
        }
    }
    let ids = (0u32..).map(OpId).take(ops.len()).filter(|id| needed[id.index()]);
    let (given, computed): (Vec<OpId>, Vec<OpId>) = ids.partition(|id| !is_lively[id.index()]);
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
    (given, Quick::new(lively, rules))
}
