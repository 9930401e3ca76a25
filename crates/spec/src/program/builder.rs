//! Lowers terms to operations. Equal operations are stored once, so that clauses share their common parts.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use dmlcts_model::Signature;

use super::{Leaf, ListSource, Op, OpId, Operation, Program, Range};
use crate::expression::{Binary, Comparison, Definition, Logic, Term, TermKind};

/// The operations of a `read`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Read {
    /// The input coordinate; meaningless on lanes that read `fill`.
    pub coordinate: OpId,
    /// The condition for reading `fill`; `None` if this never happens.
    pub fill: Option<OpId>,
}

/// Builds a program.
#[derive(Debug)]
pub struct Builder {
    signature: Arc<Signature>,
    program: Program,
    known: HashMap<Operation, OpId>,
    /// The operations of definitions, by address. Holding each `Arc` ensures that no other definition gets
    /// its address.
    definitions: HashMap<*const Definition, (Arc<Definition>, OpId)>,
}

impl Builder {
    /// A builder for programs that read descs of this signature.
    pub fn new(signature: Arc<Signature>) -> Self {
        Self { signature, program: Program::default(), known: HashMap::new(), definitions: HashMap::new() }
    }

    /// Adds a term, and returns the operation that computes it. Here `fill` is undefined; use
    /// [`Builder::add_read`] for terms that may be `fill`.
    pub fn add(&mut self, term: &Term) -> OpId {
        match &term.kind {
            TermKind::Constant(value) => self.push(Operation::Constant(*value)),
            TermKind::Leaf(leaf) => self.push(Operation::Leaf(*leaf)),
            TermKind::Definition(definition) => self.definition(definition),
            TermKind::Missing | TermKind::Fill => self.push(Operation::Missing),
            TermKind::Negate(a) => {
                let a = self.add(a);
                match self.program.op(a).operation {
                    Operation::Constant(value) => self.push(Operation::Constant(value.saturating_neg())),
                    _ => self.push(Operation::Negate(a)),
                }
            }
            TermKind::Absolute(a) => {
                let a = self.add(a);
                self.push(Operation::Absolute(a))
            }
            TermKind::Not(a) => {
                let a = self.add(a);
                self.push(Operation::Not(a))
            }
            TermKind::Binary(binary, pair) => {
                let (a, b) = self.pair(pair);
                self.push(Operation::Binary(*binary, a, b))
            }
            TermKind::Clamp(parts) => {
                let [x, low, high] = &**parts;
                let (x, low, high) = (self.add(x), self.add(low), self.add(high));
                let raised = self.push(Operation::Binary(Binary::Maximum, x, low));
                self.push(Operation::Binary(Binary::Minimum, raised, high))
            }
            TermKind::Compare(comparison, pair) => {
                let (a, b) = self.pair(pair);
                self.push(Operation::Compare(*comparison, a, b))
            }
            TermKind::Agree(agree, pair) => {
                let (a, b) = self.pair(pair);
                let not = self.push(Operation::Not(b));
                let (then, otherwise) = if *agree { (b, not) } else { (not, b) };
                self.push(Operation::ChooseCondition(a, then, otherwise))
            }
            TermKind::In(a, members) => self.among(a, members),
            TermKind::Logic(logic, pair) => {
                let (a, b) = self.pair(pair);
                self.push(Operation::Logic(*logic, a, b))
            }
            TermKind::If(parts) => {
                let [condition, then, otherwise] = &**parts;
                let (condition, then, otherwise) = (self.add(condition), self.add(then), self.add(otherwise));
                self.push(if self.program.op(then).is_condition {
                    Operation::ChooseCondition(condition, then, otherwise)
                } else {
                    Operation::Choose(condition, then, otherwise)
                })
            }
            TermKind::Over(quantifier, a) => {
                let a = self.add(a);
                self.push(Operation::Over(*quantifier, a))
            }
            TermKind::On(other, a) => {
                let a = self.add(a);
                self.push(Operation::On(*other, a))
            }
        }
    }

    /// Adds a read.
    pub fn add_read(&mut self, term: &Term) -> Read {
        let TermKind::If(parts) = &term.kind else {
            let coordinate = self.add(term);
            let fill = matches!(term.kind, TermKind::Fill).then(|| self.always());
            return Read { coordinate, fill };
        };
        let [condition, then, otherwise] = &**parts;
        let condition = self.add(condition);
        let (then, otherwise) = (self.add_read(then), self.add_read(otherwise));
        let always = |read: &Read, this: &Self| {
            read.fill.is_some_and(|fill| this.program.op(fill).operation == this.always_operation())
        };
        let coordinate = if always(&then, self) {
            otherwise.coordinate
        } else if always(&otherwise, self) {
            then.coordinate
        } else {
            self.push(Operation::Choose(condition, then.coordinate, otherwise.coordinate))
        };
        let fill = match (then.fill, otherwise.fill) {
            (None, None) => None,
            (Some(_), None) if always(&then, self) => Some(condition),
            (None, Some(_)) if always(&otherwise, self) => Some(self.push(Operation::Not(condition))),
            (then, otherwise) => {
                let never = self.never();
                let (then, otherwise) = (then.unwrap_or(never), otherwise.unwrap_or(never));
                Some(self.push(Operation::ChooseCondition(condition, then, otherwise)))
            }
        };
        Read { coordinate, fill }
    }

    /// The program of everything that was added.
    pub fn finish(self) -> Program {
        let mut program = self.program;
        let mut frontier = HashSet::new();
        for index in 0..program.ops.len() {
            let id = OpId(index as u32);
            if !program.ops[index].uses_coordinate {
                program.fixed.push(id);
                continue;
            }
            program.moving.push(id);
            for operand in program.ops[index].operation.operands() {
                if !program.op(operand).uses_coordinate && frontier.insert(operand) {
                    program.frontier.push(operand);
                }
            }
        }
        program
    }

    fn pair(&mut self, pair: &[Term; 2]) -> (OpId, OpId) {
        (self.add(&pair[0]), self.add(&pair[1]))
    }

    fn definition(&mut self, definition: &Arc<Definition>) -> OpId {
        if let Some((_, id)) = self.definitions.get(&Arc::as_ptr(definition)) {
            return *id;
        }
        let id = self.add(&definition.term);
        self.definitions.insert(Arc::as_ptr(definition), (Arc::clone(definition), id));
        id
    }

    /// Tests all constants from 0 to 63 with one bit set, and the other members one by one.
    fn among(&mut self, a: &Term, members: &[Term]) -> OpId {
        let a = self.add(a);
        let mut bits = 0u64;
        let mut whole: Option<OpId> = None;
        for member in members {
            if let TermKind::Constant(value @ 0..=63) = member.kind {
                bits |= 1 << value;
                continue;
            }
            let member = self.add(member);
            let one = self.push(Operation::Compare(Comparison::Equal, a, member));
            whole = Some(self.either(whole, one));
        }
        match whole {
            Some(whole) if bits == 0 => whole,
            _ => {
                let small = self.push(Operation::Among(a, bits));
                self.either(whole, small)
            }
        }
    }

    fn either(&mut self, a: Option<OpId>, b: OpId) -> OpId {
        a.map_or(b, |a| self.push(Operation::Logic(Logic::Or, a, b)))
    }

    /// The condition `0 in [0]`, since the language has no literal for true.
    fn always(&mut self) -> OpId {
        let zero = self.push(Operation::Constant(0));
        self.push(Operation::Among(zero, 1))
    }

    fn always_operation(&self) -> Operation {
        let zero = self.known.get(&Operation::Constant(0)).copied().unwrap_or(OpId(0));
        Operation::Among(zero, 1)
    }

    fn never(&mut self) -> OpId {
        let always = self.always();
        self.push(Operation::Not(always))
    }

    fn push(&mut self, operation: Operation) -> OpId {
        let operation = self.simplified(operation);
        if let Some(&id) = self.known.get(&operation) {
            return id;
        }
        let op = self.describe(operation);
        let id = OpId(self.program.ops.len() as u32);
        self.program.ops.push(op);
        self.known.insert(operation, id);
        id
    }

    /// Folds constants, and sorts the operands of commutative operations, so that more operations are equal.
    fn simplified(&self, operation: Operation) -> Operation {
        let Operation::Binary(binary, a, b) = operation else { return operation };
        let constant = |id: OpId| match self.program.op(id).operation {
            Operation::Constant(value) => Some(value),
            _ => None,
        };
        if let (Some(a), Some(b)) = (constant(a), constant(b)) {
            let range = Range::binary(binary, Range::only(a), Range::only(b));
            if range.least == range.greatest && (b != 0 || !may_divide(binary)) {
                return Operation::Constant(range.least);
            }
        }
        match binary {
            Binary::Add | Binary::Multiply | Binary::Minimum | Binary::Maximum if b < a => {
                Operation::Binary(binary, b, a)
            }
            _ => operation,
        }
    }

    fn describe(&mut self, operation: Operation) -> Op {
        let op = |id: OpId| &self.program.ops[id.index()];
        let range = match operation {
            Operation::Constant(value) => Range::only(value),
            Operation::Leaf(leaf) => leaf.range(&self.signature),
            Operation::Missing => Range::only(0),
            Operation::Negate(a) => op(a).range.negate(),
            Operation::Absolute(a) => op(a).range.absolute(),
            Operation::Binary(binary, a, b) => Range::binary(binary, op(a).range, op(b).range),
            Operation::Choose(_, a, b) => op(a).range.with(op(b).range),
            Operation::On(_, a) => op(a).range,
            Operation::Over(quantifier, a) if !quantifier.is_condition() => {
                if quantifier == crate::expression::Quantifier::Sum {
                    op(a).range.sum()
                } else {
                    op(a).range.product()
                }
            }
            _ => Range::CONDITION,
        };
        let is_condition = match operation {
            Operation::Leaf(leaf) => leaf.is_condition(),
            Operation::Compare(..)
            | Operation::Among(..)
            | Operation::Not(_)
            | Operation::Logic(..)
            | Operation::ChooseCondition(..) => true,
            Operation::Over(quantifier, _) => quantifier.is_condition(),
            Operation::On(_, a) => op(a).is_condition,
            _ => false,
        };
        let mut per_axis = operation.operands().any(|operand| op(operand).per_axis);
        let mut uses_coordinate = operation.operands().any(|operand| op(operand).uses_coordinate);
        let mut lists =
            operation.operands().filter(|&it| op(it).per_axis).fold(0, |lists, it| lists | op(it).lists);
        match operation {
            // The operation keeps its operand's lists, because they determine which lanes it gathers.
            Operation::Over(..) => per_axis = false,
            Operation::Leaf(Leaf::Coordinate) => (per_axis, uses_coordinate) = (true, true),
            Operation::Leaf(leaf) => {
                if let Some(list) = leaf.list() {
                    per_axis = true;
                    lists = self.list_bit(list);
                }
            }
            _ => {}
        }
        Op { operation, is_condition, per_axis, uses_coordinate, range, proven: range.fits(), lists }
    }

    fn list_bit(&mut self, list: ListSource) -> u64 {
        let lists = &mut self.program.lists;
        let position = lists.iter().position(|known| *known == list).unwrap_or_else(|| {
            lists.push(list);
            lists.len() - 1
        });
        1 << position.min(63)
    }
}

fn may_divide(binary: Binary) -> bool {
    matches!(binary, Binary::Divide | Binary::Modulo | Binary::Align)
}
