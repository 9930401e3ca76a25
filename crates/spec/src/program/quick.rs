//! The rules that do not follow from a desc's shape, as short code over a table of fixed size.
//!
//! The code of an operation says all that its execution branches on, and its operands are bytes, so that no
//! index needs a check. The operations that are rare, or long in themselves, are left to [`step`].

#![expect(
    clippy::inline_always,
    reason = "what is not inlined into a task is compiled without the instructions that the task was found to have"
)]

use super::{
    Findings, Inputs, Leaf, ListSource, Mask, OpId, Operation, Program,
    evaluate::{Lengths, Table},
    findings::{Kind, Rule, findings},
    number::Number,
    step::{Place, Row, Task, equal, fast, less, load_list, step},
    view::{View, follows},
};
use crate::{
    IdSet,
    expression::{Binary, Comparison, Logic},
};

/// How many operations a table has room for: as many as a byte can name.
const CAPACITY: usize = 256;

/// Rules that are evaluated for every desc.
#[derive(Debug)]
pub(super) struct Quick {
    program: Program,
    rules: Vec<Rule>,
    /// Empty where the program is too long.
    code: Vec<Instruction>,
    checks: Vec<Check>,
    lists: Vec<ListLoad>,
    none: Table<i64>,
}

/// A list, and the values that its member can hold.
#[derive(Debug, Clone, Copy)]
struct ListLoad {
    source: ListSource,
    range: (i64, i64),
}

/// An operation, and the places of its result and its operands.
#[derive(Debug, Clone, Copy)]
struct Instruction {
    code: Code,
    out: u8,
    a: u8,
    b: u8,
}

/// What an instruction does: to lanes, or to one value that all lanes have. Arithmetic cannot overflow but
/// where it is said to be checked.
#[derive(Debug, Clone, Copy)]
enum Code {
    AddLanes,
    SubtractLanes,
    MultiplyLanes,
    Add,
    Multiply,
    AddChecked,
    MultiplyChecked,
    EqualLanes,
    UnequalLanes,
    LessLanes,
    NotLessLanes,
    Equal,
    Unequal,
    Less,
    NotLess,
    And,
    Or,
    Not,
    /// Loads the list at place `a` of [`Quick::lists`].
    List,
    /// Anything else.
    Step,
}

/// What is asked of a rule's values.
#[derive(Debug)]
struct Check {
    kind: Kind,
    /// The rule's place, as a set.
    bit: IdSet,
    condition: u8,
    per_axis: bool,
    edges: Vec<EdgeCheck>,
}

/// What is asked of a comparison that decides a rule.
#[derive(Debug)]
struct EdgeCheck {
    comparison: Comparison,
    out: u8,
    a: u8,
    b: u8,
    per_axis: bool,
    /// Conditions, whether they must hold for the comparison to be reached, and whether they are per axis.
    branches: Vec<(u8, bool, bool)>,
}

impl Quick {
    /// Compiles rules on a program whose `fixed` operations are to be computed, and whose others are given.
    pub(super) fn new(program: Program, rules: Vec<Rule>) -> Self {
        let mut quick = Self {
            program,
            rules,
            code: Vec::new(),
            checks: Vec::new(),
            lists: Vec::new(),
            none: Table::default(),
        };
        if quick.program.ops.len() <= CAPACITY {
            for index in 0..quick.program.fixed.len() {
                let instruction = quick.instruction(quick.program.fixed[index]);
                quick.code.push(instruction);
            }
            quick.checks = quick.rules.iter().map(|rule| quick.check(rule)).collect();
        }
        quick
    }

    /// How many operations there must be room for.
    pub(super) fn operations(&self) -> usize {
        self.program.ops.len().max(CAPACITY)
    }

    /// Evaluates the rules. The table holds the values that are given. `None` where a value was lost, or the
    /// rules are too many.
    pub(super) fn find(
        &self,
        inputs: &Inputs<'_>,
        lengths: &Lengths,
        table: &mut Table<i64>,
    ) -> Option<Findings> {
        if self.program.ops.len() > CAPACITY {
            return None;
        }
        let rows = table.rows.first_chunk_mut()?;
        let masks = table.masks.first_chunk_mut()?;
        let found = fast(Find { quick: self, inputs, lengths, rows, masks })?;
        // Where lists differ in length, each rule has its own lanes.
        found.or_else(|| {
            let view = View { program: &self.program, fixed: table, moving: &self.none, lengths };
            Some(findings(&self.rules, &view))
        })
    }

    fn instruction(&mut self, id: OpId) -> Instruction {
        let op = self.program.op(id);
        let (code, a, b) = match op.operation {
            Operation::Binary(binary, a, b) => {
                let code = match (binary, op.per_axis, op.proven) {
                    (Binary::Add, true, true) => Code::AddLanes,
                    (Binary::Subtract, true, true) => Code::SubtractLanes,
                    (Binary::Multiply, true, true) => Code::MultiplyLanes,
                    (Binary::Add, false, true) => Code::Add,
                    (Binary::Multiply, false, true) => Code::Multiply,
                    (Binary::Add, false, false) => Code::AddChecked,
                    (Binary::Multiply, false, false) => Code::MultiplyChecked,
                    _ => Code::Step,
                };
                (code, a, b)
            }
            Operation::Compare(comparison, a, b) => match (comparison, op.per_axis) {
                (Comparison::Equal, true) => (Code::EqualLanes, a, b),
                (Comparison::NotEqual, true) => (Code::UnequalLanes, a, b),
                (Comparison::Less, true) => (Code::LessLanes, a, b),
                (Comparison::Greater, true) => (Code::LessLanes, b, a),
                (Comparison::GreaterOrEqual, true) => (Code::NotLessLanes, a, b),
                (Comparison::LessOrEqual, true) => (Code::NotLessLanes, b, a),
                (Comparison::Equal, false) => (Code::Equal, a, b),
                (Comparison::NotEqual, false) => (Code::Unequal, a, b),
                (Comparison::Less, false) => (Code::Less, a, b),
                (Comparison::Greater, false) => (Code::Less, b, a),
                (Comparison::GreaterOrEqual, false) => (Code::NotLess, a, b),
                (Comparison::LessOrEqual, false) => (Code::NotLess, b, a),
            },
            Operation::Logic(Logic::And, a, b) => (Code::And, a, b),
            Operation::Logic(Logic::Or, a, b) => (Code::Or, a, b),
            Operation::Not(a) => (Code::Not, a, a),
            Operation::Leaf(Leaf::List(source)) => {
                let place = OpId(self.lists.len() as u32);
                self.lists
                    .push(ListLoad { source, range: (op.range.least as i64, op.range.greatest as i64) });
                (Code::List, place, place)
            }
            _ => (Code::Step, id, id),
        };
        Instruction { code, out: byte(id), a: byte(a), b: byte(b) }
    }

    fn check(&self, rule: &Rule) -> Check {
        let per_axis = |id: OpId| self.program.op(id).per_axis;
        let edges = rule.edges.iter().filter_map(|edge| {
            let Operation::Compare(comparison, a, b) = self.program.op(edge.comparison).operation else {
                return None;
            };
            Some(EdgeCheck {
                comparison,
                out: byte(edge.comparison),
                a: byte(a),
                b: byte(b),
                per_axis: per_axis(edge.comparison),
                branches: edge.branches.iter().map(|&(id, is)| (byte(id), is, per_axis(id))).collect(),
            })
        });
        Check {
            kind: rule.kind,
            bit: IdSet::of(rule.place),
            condition: byte(rule.condition),
            per_axis: per_axis(rule.condition),
            edges: edges.collect(),
        }
    }
}

/// The place of an operation in a program that is known to be short.
fn byte(id: OpId) -> u8 {
    id.index() as u8
}

type Rows = [Row<i64>; CAPACITY];
type Masks = [Mask; CAPACITY];

struct Find<'a> {
    quick: &'a Quick,
    inputs: &'a Inputs<'a>,
    lengths: &'a Lengths,
    rows: &'a mut Rows,
    masks: &'a mut Masks,
}

impl Task for Find<'_> {
    /// Nothing where a value was lost; no findings where the lists differ in length.
    type Output = Option<Option<Findings>>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let Self { quick, inputs, lengths, rows, masks } = self;
        let mut lost = false;
        for instruction in &quick.code {
            execute(quick, *instruction, rows, masks, (inputs, lengths), &mut lost);
        }
        if lost {
            return None;
        }
        let Some(lanes) = lengths.agreed_mask() else { return Some(None) };
        let mut found = Findings::default();
        for check in &quick.checks {
            check.find(lanes, rows, masks, &mut found);
        }
        Some(Some(found))
    }
}

#[inline(always)]
fn execute(
    quick: &Quick,
    instruction: Instruction,
    rows: &mut Rows,
    masks: &mut Masks,
    (inputs, lengths): (&Inputs<'_>, &Lengths),
    lost: &mut bool,
) {
    let Instruction { code, out, a, b } = instruction;
    let [out, a, b] = [out, a, b].map(usize::from);
    let defined = masks[a].defined & masks[b].defined;
    let (left, right) = (&rows[a].0, &rows[b].0);
    let lanes = |f: fn(i64, i64) -> i64| Row(std::array::from_fn(|lane| f(left[lane], right[lane])));
    let spread = |truth: bool| if truth { u8::MAX } else { 0 };
    let (row, truth) = match code {
        Code::AddLanes => (Some(lanes(i64::wrapping_add)), 0),
        Code::SubtractLanes => (Some(lanes(i64::wrapping_sub)), 0),
        Code::MultiplyLanes => (Some(lanes(i64::wrapping_mul)), 0),
        Code::Add => (Some(Row([left[0].wrapping_add(right[0]); 8])), 0),
        Code::Multiply => (Some(Row([left[0].wrapping_mul(right[0]); 8])), 0),
        Code::AddChecked => (Some(Row([left[0].add(right[0], lost); 8])), 0),
        Code::MultiplyChecked => (Some(Row([left[0].multiply(right[0], lost); 8])), 0),
        Code::EqualLanes => (None, equal(left, right)),
        Code::UnequalLanes => (None, !equal(left, right)),
        Code::LessLanes => (None, less(left, right)),
        Code::NotLessLanes => (None, !less(left, right)),
        Code::Equal => (None, spread(left[0] == right[0])),
        Code::Unequal => (None, spread(left[0] != right[0])),
        Code::Less => (None, spread(left[0] < right[0])),
        Code::NotLess => (None, spread(left[0] >= right[0])),
        Code::And | Code::Or | Code::Not => {
            let (left, right) = (masks[a], masks[b]);
            let (truth, falsehood) = match code {
                Code::And => (left.truth & right.truth, left.falsehood() | right.falsehood()),
                Code::Or => (left.truth | right.truth, left.falsehood() & right.falsehood()),
                _ => (left.falsehood(), left.truth),
            };
            masks[out] = Mask { truth, defined: truth | falsehood };
            return;
        }
        Code::List => {
            let Some(&ListLoad { source, range }) = quick.lists.get(a) else { return };
            let length = load_list(inputs, source, range, &mut rows[out].0, lost);
            masks[out] = Mask { truth: 0, defined: ((1u16 << length) - 1) as u8 };
            return;
        }
        Code::Step => {
            let place = Place::Axes { inputs, lengths };
            step_apart(&quick.program, OpId(out as u32), rows, masks, place, lost);
            return;
        }
    };
    if let Some(row) = row {
        rows[out] = row;
    }
    masks[out] = Mask { truth: truth & defined, defined };
}

/// [`step`], kept out of the loop that executes code: its many variables would crowd the registers there.
#[inline(never)]
fn step_apart(
    program: &Program,
    id: OpId,
    rows: &mut [Row<i64>],
    masks: &mut [Mask],
    place: Place<'_>,
    lost: &mut bool,
) {
    step(program, id, rows, masks, place, lost);
}

impl Check {
    /// Adds what the rule comes to.
    #[inline(always)]
    fn find(&self, lanes: u8, rows: &Rows, masks: &Masks, found: &mut Findings) {
        let own = if self.per_axis { lanes } else { 1 };
        let mask = masks[usize::from(self.condition)];
        if self.kind == Kind::Question {
            if mask.truth & own != 0 {
                found.raised = found.raised.union(self.bit);
            }
        } else if mask.falsehood() & own != 0 {
            found.broken = found.broken.union(self.bit);
        } else if mask.truth & own == own {
            found.kept = found.kept.union(self.bit);
            // A loop rather than `any`, whose closure would be compiled for any processor.
            for edge in &self.edges {
                if edge.is_met(lanes, rows, masks) {
                    found.edges = found.edges.union(self.bit);
                    break;
                }
            }
        }
    }
}

impl EdgeCheck {
    /// Whether the comparison is reached and true with nothing to spare, on any lane.
    #[inline(always)]
    fn is_met(&self, lanes: u8, rows: &Rows, masks: &Masks) -> bool {
        let own = if self.per_axis { lanes } else { 1 };
        let (a, b) = (&rows[usize::from(self.a)].0, &rows[usize::from(self.b)].0);
        let near = match self.comparison {
            Comparison::Equal | Comparison::LessOrEqual | Comparison::GreaterOrEqual => equal(a, b),
            Comparison::Less => follows(a, b),
            Comparison::Greater => follows(b, a),
            Comparison::NotEqual => follows(a, b) | follows(b, a),
        };
        let mut edge = near & own & masks[usize::from(self.out)].truth;
        for &(condition, wanted, per_axis) in &self.branches {
            let mask = masks[usize::from(condition)];
            let reached = if wanted { mask.truth } else { mask.falsehood() };
            edge &= if per_axis { reached & lanes } else { reached };
        }
        edge != 0
    }
}
