//! Branches of the semantics: each `if` within a read has two. A suite has tested a branch only if a case
//! takes it.

use std::{fmt, sync::Arc};

use dmlcts_model::{Desc, FeatureLevel, Signature};
use smallvec::SmallVec;

use crate::{
    IdSet, Semantics,
    expression::{Expression, Form, Position, Scope},
    program::{Builder, Evaluation, Inputs, MAXIMUM_AXES, OpId, Program, Values},
};

/// One of the two branches of an `if` within a read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SemanticBranch {
    /// The enumerator that selects the read; `None` if the semantics have a single read.
    pub mode: Option<String>,
    /// The condition, as text.
    pub condition: String,
    /// Whether the condition holds.
    pub holds: bool,
}

impl fmt::Display for SemanticBranch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(mode) = &self.mode {
            write!(f, "{mode} ")?;
        }
        write!(f, "{} `{}`", if self.holds { "where" } else { "where not" }, self.condition)
    }
}

/// The conditions of all `if`s, compiled.
#[derive(Debug)]
pub(crate) struct Branching {
    program: Program,
    by: Option<usize>,
    conditions: Vec<Condition>,
    /// Two per condition: the first for true, the second for false.
    pub(crate) branches: Vec<SemanticBranch>,
}

/// The condition of an `if`.
#[derive(Debug)]
struct Condition {
    mode: Option<i64>,
    op: OpId,
    /// The enclosing conditions, and the value that each must have for this one to be reached.
    around: SmallVec<[(OpId, bool); 2]>,
}

/// Searches only the first coordinates of an axis. On a very long axis, a branch that is taken only beyond
/// this coordinate is not marked.
const FARTHEST: i64 = 64;

impl Branching {
    /// Finds and compiles the conditions. Branches beyond [`IdSet::CAPACITY`] are left out.
    pub(crate) fn new(signature: &Arc<Signature>, scope: &Scope, semantics: &Semantics) -> Self {
        let mut finder = Finder {
            scope,
            builder: Builder::new(Arc::clone(signature)),
            conditions: Vec::new(),
            branches: Vec::new(),
        };
        for branch in &semantics.branches {
            let mode = branch.value.map(|value| (value, branch.name.as_deref()));
            finder.find(&branch.expression, mode, &SmallVec::new());
        }
        let Finder { builder, conditions, branches, .. } = finder;
        Self { program: builder.finish(), by: semantics.by, conditions, branches }
    }

    /// The branches that a valid desc takes.
    pub(crate) fn taken(&self, desc: &Desc, level: FeatureLevel, values: &mut Values) -> IdSet {
        let mode = self.by.and_then(|by| desc.members.get(by)?.integer());
        let of_mode = || {
            let conditions = self.conditions.iter().enumerate();
            conditions.filter(|(_, condition)| condition.mode == mode)
        };
        let mut taken = IdSet::EMPTY;
        let mut evaluation = self.program.evaluate(Inputs::new(desc, level), values);
        let mut moving = false;
        for (place, condition) in of_mode() {
            if self.program.op(condition.op).uses_coordinate {
                moving = true;
            } else {
                condition.mark(place, &evaluation, u8::MAX, &mut taken);
            }
        }
        if !moving {
            return taken;
        }
        let sizes = desc.output.as_ref().and_then(|output| output.sizes.as_deref()).unwrap_or(&[]);
        for (axis, &size) in sizes.iter().enumerate().take(MAXIMUM_AXES) {
            for first in (0..size.min(FARTHEST)).step_by(MAXIMUM_AXES) {
                evaluation.at_coordinates(axis, first);
                let inside = (size - first).min(MAXIMUM_AXES as i64);
                let lanes = ((1u16 << inside) - 1) as u8;
                for (place, condition) in of_mode() {
                    if self.program.op(condition.op).uses_coordinate {
                        condition.mark(place, &evaluation, lanes, &mut taken);
                    }
                }
            }
        }
        taken
    }
}

impl Condition {
    /// Marks the branches that this condition takes on these lanes. An enclosing condition that does not
    /// depend on `c` has different lanes; it counts if it holds on any of them.
    fn mark(&self, place: usize, evaluation: &Evaluation<'_>, lanes: u8, taken: &mut IdSet) {
        let own = evaluation.lanes(self.op);
        let reached = self.around.iter().fold(lanes, |lanes, &(op, wanted)| {
            let mask = evaluation.mask(op);
            let here = if wanted { mask.truth } else { mask.falsehood() };
            if evaluation.lanes(op) == own {
                lanes & here
            } else if here != 0 {
                lanes
            } else {
                0
            }
        });
        let mask = evaluation.mask(self.op);
        if mask.truth & reached != 0 {
            taken.insert(2 * place);
        }
        if mask.falsehood() & reached != 0 {
            taken.insert(2 * place + 1);
        }
    }
}

struct Finder<'a> {
    scope: &'a Scope,
    builder: Builder,
    conditions: Vec<Condition>,
    branches: Vec<SemanticBranch>,
}

impl Finder<'_> {
    fn find(
        &mut self,
        expression: &Expression,
        mode: Option<(i64, Option<&str>)>,
        around: &SmallVec<[(OpId, bool); 2]>,
    ) {
        match &expression.form {
            Form::If(parts) => {
                let [condition, then, otherwise] = &**parts;
                self.find(condition, mode, around);
                // The whole expression has been type-checked, so its parts are well typed.
                let Ok(term) = self.scope.condition(condition, Position::Read) else { return };
                let op = self.builder.add(&term);
                let value = mode.map(|(value, _)| value);
                let known = self.conditions.iter().any(|it| it.op == op && it.mode == value);
                if !known && self.branches.len() + 2 <= IdSet::CAPACITY {
                    self.conditions.push(Condition { mode: value, op, around: around.clone() });
                    for holds in [true, false] {
                        self.branches.push(SemanticBranch {
                            mode: mode.and_then(|(_, name)| name).map(str::to_owned),
                            condition: condition.to_string(),
                            holds,
                        });
                    }
                }
                for (part, holds) in [(then, true), (otherwise, false)] {
                    let mut around = around.clone();
                    around.push((op, holds));
                    self.find(part, mode, &around);
                }
            }
            Form::Name(name) => {
                let scope = self.scope;
                if let Some(definition) = scope.definitions().iter().find(|it| it.name == *name) {
                    self.find(&definition.expression, mode, around);
                }
            }
            form => form.for_each(|part| self.find(part, mode, around)),
        }
    }
}
