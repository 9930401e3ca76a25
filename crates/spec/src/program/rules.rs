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

use dmlcts_model::{Desc, List, MemberKind, Signature, Tensor, Value};
use smallvec::SmallVec;

use super::{
    Field, Inputs, Leaf, Mask, OpId, Operation, Program, Values,
    evaluate::{Lengths, Table},
    number::Number,
    step::{Place, Row, run},
    view::View,
};
use crate::{IdSet, expression::Comparison};

/// Clauses and questions that are evaluated together; at most [`IdSet::CAPACITY`] of each.
#[derive(Debug)]
pub struct Rules {
    /// Tells what is remembered for these rules from what is remembered for others.
    id: u64,
    program: Program,
    rules: Vec<Rule>,
    /// The members that belong to the shape.
    shape: Vec<bool>,
    /// What does not follow from the shape: its first operations are given by the shape.
    lively: Program,
    /// What those first operations are in the whole program.
    given: Vec<OpId>,
    /// The rules that do not follow from the shape.
    lively_rules: Vec<Rule>,
}

/// A clause or a question.
#[derive(Debug, Clone)]
struct Rule {
    kind: Kind,
    /// Its place among its kind.
    place: usize,
    condition: OpId,
    edges: Vec<Edge>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Clause,
    Question,
}

/// A comparison that decides a clause, and the branches in which it does.
#[derive(Debug, Clone)]
struct Edge {
    comparison: OpId,
    /// Whether each of these conditions is to hold or not to hold for the comparison to be reached.
    branches: SmallVec<[(OpId, bool); 2]>,
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

/// What rules remember from one desc to the next.
#[derive(Debug, Default)]
pub struct Memory {
    values: Values,
    shapes: Vec<(u64, Shapes)>,
}

/// How many rules' shapes are remembered at once.
const MOST_RULES: usize = 8;
/// How many shapes are remembered: a power of two.
const MOST_SHAPES: usize = 256;

/// The shapes of one set of rules, each at the place that its key hashes to.
#[derive(Debug, Default)]
struct Shapes {
    table: Table<i64>,
    remembered: Vec<Option<Shape>>,
    /// The shape whose given values are in the table.
    current: Option<usize>,
    none: Table<i64>,
}

/// What follows from a shape.
#[derive(Debug)]
struct Shape {
    key: Key,
    lengths: Lengths,
    given: Vec<(Row<i64>, Mask)>,
    findings: Findings,
}

type Key = [u64; KEY_WORDS];

/// Three words a tensor, one for the level, one for what kinds the members are, and one a member.
const KEY_WORDS: usize = 8 + KEY_MEMBERS;
const KEY_MEMBERS: usize = 8;

impl Rules {
    /// Prepares the conditions of a program; those beyond [`IdSet::CAPACITY`] are left out.
    pub fn new(signature: &Arc<Signature>, program: Program, clauses: &[OpId], questions: &[OpId]) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let mut rules = Vec::new();
        for (place, &condition) in clauses.iter().enumerate().take(IdSet::CAPACITY) {
            let mut edges = Vec::new();
            find_edges(&program, condition, &SmallVec::new(), &mut edges);
            rules.push(Rule { kind: Kind::Clause, place, condition, edges });
        }
        for (place, &condition) in questions.iter().enumerate().take(IdSet::CAPACITY) {
            rules.push(Rule { kind: Kind::Question, place, condition, edges: Vec::new() });
        }
        let kinds = signature.members.iter().map(|member| &member.kind);
        let shape: Vec<bool> = kinds.map(|kind| !matches!(kind, MemberKind::U32 | MemberKind::I32)).collect();
        let mut this = Self {
            id: COUNT.fetch_add(1, Ordering::Relaxed),
            program,
            rules,
            shape,
            lively: Program::default(),
            given: Vec::new(),
            lively_rules: Vec::new(),
        };
        this.split();
        this
    }

    /// The program of all conditions.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Whether a clause can be kept with nothing to spare: a comparison by order, or with `!=`, decides it.
    pub fn has_edge(&self, clause: usize) -> bool {
        let has_edge =
            |rule: &Rule| rule.kind == Kind::Clause && rule.place == clause && !rule.edges.is_empty();
        self.rules.iter().any(has_edge)
    }

    /// Evaluates all rules.
    pub fn find(&self, inputs: Inputs<'_>, memory: &mut Memory) -> Findings {
        let Memory { values, shapes } = memory;
        let shapes = shapes_of(shapes, self.id);
        let key = key_of(&inputs, &self.shape);
        let place = key.as_ref().map(place_of);
        let known = place.zip(key.as_ref()).filter(|(place, key)| shapes.remembers(*place, key));
        if let Some((place, _)) = known
            && let Some(found) = self.find_lively(&inputs, shapes, place)
        {
            return found;
        }
        // The shape is new, or a value did not fit 64 bits or what its member can hold.
        let evaluation = self.program.evaluate(inputs, values);
        if evaluation.is_wide() {
            return findings(&self.rules, &evaluation.wide());
        }
        if let (Some(place), Some(key), None) = (place, key, known) {
            shapes.insert(place, self.remember(key, &evaluation.narrow()));
        }
        findings(&self.rules, &evaluation.narrow())
    }

    /// Computes what does not follow from the shape.
    fn find_lively(&self, inputs: &Inputs<'_>, shapes: &mut Shapes, place: usize) -> Option<Findings> {
        let Shapes { table, remembered, current, none } = shapes;
        let shape = remembered.get(place)?.as_ref()?;
        if *current != Some(place) {
            table.grow(self.lively.ops.len());
            for (index, (row, mask)) in shape.given.iter().enumerate() {
                table.rows[index] = *row;
                table.masks[index] = *mask;
            }
            *current = Some(place);
        }
        let mut lost = false;
        let lengths = &shape.lengths;
        run(&self.lively, &self.lively.fixed, table, Place::Axes { inputs, lengths }, &mut lost);
        if lost {
            return None;
        }
        let view = View { program: &self.lively, fixed: table, moving: none, lengths };
        Some(findings(&self.lively_rules, &view).and(shape.findings))
    }

    fn remember(&self, key: Key, view: &View<'_, i64>) -> Shape {
        let is_lively = |rule: &&Rule| {
            self.lively_rules.iter().any(|lively| (lively.kind, lively.place) == (rule.kind, rule.place))
        };
        let steady = self.rules.iter().filter(|rule| !is_lively(rule));
        Shape {
            key,
            lengths: view.lengths.clone(),
            given: self
                .given
                .iter()
                .map(|id| (view.fixed.rows[id.index()], view.fixed.masks[id.index()]))
                .collect(),
            findings: findings(steady, view),
        }
    }

    /// Tells what follows from the shape from what does not.
    fn split(&mut self) {
        let ops = &self.program.ops;
        let mut is_lively = vec![false; ops.len()];
        for (index, op) in ops.iter().enumerate() {
            is_lively[index] = match op.operation {
                Operation::Leaf(leaf) => !follows_from_shape(leaf, &self.shape),
                _ => op.operation.operands().any(|operand| is_lively[operand.index()]),
            };
        }
        let lively = |id: OpId| is_lively[id.index()];
        let mut needed = vec![false; ops.len()];
        let mut lively_rules = Vec::new();
        for rule in &self.rules {
            let decisive: Vec<OpId> = rule
                .edges
                .iter()
                .flat_map(|edge| edge.branches.iter().map(|(id, _)| *id).chain([edge.comparison]))
                .collect();
            if !lively(rule.condition) && !decisive.iter().copied().any(lively) {
                continue;
            }
            lively_rules.push(rule.clone());
            for id in decisive.into_iter().chain([rule.condition]) {
                needed[id.index()] = true;
                // What an edge compares is read, though the comparison itself be given.
                ops[id.index()].operation.operands().for_each(|operand| needed[operand.index()] = true);
            }
        }
        for index in (0..ops.len()).rev().filter(|&index| is_lively[index]) {
            if needed[index] {
                ops[index].operation.operands().for_each(|operand| needed[operand.index()] = true);
            }
        }
        let ids = || (0u32..).map(OpId).take(ops.len()).filter(|id| needed[id.index()]);
        let (given, computed): (Vec<OpId>, Vec<OpId>) = ids().partition(|&id| !lively(id));
        let mut renamed = vec![OpId(0); ops.len()];
        for (id, new) in given.iter().chain(&computed).zip((0u32..).map(OpId)) {
            renamed[id.index()] = new;
        }
        let rename = |id: OpId| renamed[id.index()];
        let mut program = Program { lists: self.program.lists.clone(), ..Program::default() };
        for &id in given.iter().chain(&computed) {
            let mut op = ops[id.index()].clone();
            op.operation = op.operation.renamed(rename);
            program.ops.push(op);
        }
        program.fixed = computed.iter().map(|&id| rename(id)).collect();
        for rule in &mut lively_rules {
            rule.condition = rename(rule.condition);
            for edge in &mut rule.edges {
                edge.comparison = rename(edge.comparison);
                edge.branches.iter_mut().for_each(|(id, _)| *id = rename(*id));
            }
        }
        (self.given, self.lively, self.lively_rules) = (given, program, lively_rules);
    }
}

impl Shapes {
    fn remembers(&self, place: usize, key: &Key) -> bool {
        matches!(self.remembered.get(place), Some(Some(shape)) if shape.key == *key)
    }

    fn insert(&mut self, place: usize, shape: Shape) {
        if self.remembered.is_empty() {
            self.remembered.resize_with(MOST_SHAPES, || None);
        }
        self.remembered[place] = Some(shape);
        self.current = None;
    }
}

impl Findings {
    /// What was found of these rules and of others.
    fn and(self, other: Self) -> Self {
        Self {
            kept: self.kept.union(other.kept),
            broken: self.broken.union(other.broken),
            raised: self.raised.union(other.raised),
            edges: self.edges.union(other.edges),
        }
    }
}

impl Edge {
    /// Whether the comparison is reached and true with nothing to spare, on any lane.
    fn is_met<N: Number>(&self, view: &View<'_, N>) -> bool {
        let edge = view.edge(self.comparison);
        if edge == 0 || self.branches.is_empty() {
            return edge != 0;
        }
        let reached = self.branches.iter().fold(u8::MAX, |lanes, &(condition, wanted)| {
            let mask = view.mask(condition);
            let reached = if wanted { mask.truth } else { mask.falsehood() };
            // What has one value for the desc reaches every lane.
            lanes & if reached != 0 && !view.program.op(condition).per_axis { u8::MAX } else { reached }
        });
        edge & reached != 0
    }
}

fn findings<'a, N: Number>(rules: impl IntoIterator<Item = &'a Rule>, view: &View<'_, N>) -> Findings {
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

fn follows_from_shape(leaf: Leaf, shape: &[bool]) -> bool {
    match leaf {
        Leaf::Member(position) => shape.get(position).copied().unwrap_or(false),
        Leaf::Field(_, field) => field != Field::TotalTensorSizeInBytes,
        Leaf::List(_) | Leaf::Overlaps(_) | Leaf::BindingOffset(_) | Leaf::Coordinate => false,
        Leaf::Length(_) | Leaf::ListPresent(_) | Leaf::TensorPresent(_) | Leaf::Axis | Leaf::Level => true,
    }
}

/// All that [`follows_from_shape`] reads: two descs with one key have one shape. `None` for a desc with more
/// members than keys have room for.
fn key_of(inputs: &Inputs<'_>, shape: &[bool]) -> Option<Key> {
    let Desc { input, output, members, .. } = inputs.desc;
    let mut key = [0; KEY_WORDS];
    let (fixed, words) = key.split_at_mut(KEY_WORDS - KEY_MEMBERS);
    fixed[..3].copy_from_slice(&tensor_key(input.as_ref()));
    fixed[3..6].copy_from_slice(&tensor_key(output.as_ref()));
    fixed[6] = u64::from(inputs.level.code()) << 32 | members.len() as u64;
    if members.len() > KEY_MEMBERS {
        return None;
    }
    let mut kinds = 0;
    for ((member, word), in_shape) in members.iter().zip(words).zip(shape) {
        let (kind, value) = match member {
            Value::Integer(value) => (1, if *in_shape { *value as u64 } else { 0 }),
            Value::List(list) => (2, list.as_ref().map_or(0, |list| list.len() as u64 + 1)),
            Value::Scalar(_) => (3, 0),
        };
        kinds = kinds << 2 | kind;
        *word = value;
    }
    fixed[7] = kinds;
    Some(key)
}

fn tensor_key(tensor: Option<&Tensor>) -> [u64; 3] {
    let Some(tensor) = tensor else { return [u64::MAX; 3] };
    let length = |list: &Option<List>| list.as_ref().map_or(0, |list| list.len().min(0xFFFF) as u64 + 1);
    [
        u64::from(tensor.data_type.0) << 32 | u64::from(tensor.flags),
        u64::from(tensor.dimension_count) << 32 | u64::from(tensor.alignment),
        length(&tensor.sizes) << 32 | length(&tensor.strides),
    ]
}

/// The place of a key among the shapes.
fn place_of(key: &Key) -> usize {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut mixed = 0u64;
    for (at, &word) in key.iter().enumerate() {
        // An odd factor a word, so that the words' order matters and the multiplications overlap.
        mixed = mixed.wrapping_add(word.wrapping_mul(FACTOR.rotate_left(at as u32 * 4) | 1));
    }
    ((mixed ^ mixed >> 32).wrapping_mul(FACTOR) >> (64 - MOST_SHAPES.trailing_zeros())) as usize
}

/// The shapes of the rules with this id.
fn shapes_of(all: &mut Vec<(u64, Shapes)>, id: u64) -> &mut Shapes {
    let found = all.iter().position(|(known, _)| *known == id);
    let place = found.unwrap_or_else(|| {
        if all.len() == MOST_RULES {
            all.clear();
        }
        all.push((id, Shapes::default()));
        all.len() - 1
    });
    &mut all[place].1
}
