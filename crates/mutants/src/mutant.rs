//! A mutant: a fault with a name, a description and a witness. Each mutant is built from defaults, so that it
//! says only what is its own.

use dmlcts_model::{DataType, Desc, ErrorCode, FeatureLevel};

use crate::{
    fault::{Asked, BackendState, Fault, Judge, Memory, PlanFault, RIGHT, ReadFault, Value},
    kernel::Plan,
};

// The operators in which a fault can show.
pub(crate) const ALL: &[&str] = &["SLICE", "SLICE1", "PADDING1"];
pub(crate) const SLICES: &[&str] = &["SLICE", "SLICE1"];
pub(crate) const SLICE: &[&str] = &["SLICE"];
pub(crate) const SLICE1: &[&str] = &["SLICE1"];
pub(crate) const PADDING1: &[&str] = &["PADDING1"];

/// A backend with one fault, as data.
#[derive(Debug)]
pub struct Mutant {
    /// The name, in kebab-case.
    pub name: &'static str,
    /// The fault, in one line.
    pub about: &'static str,
    /// Where the fault was seen: the issue of a library, or the kind of code that has such faults.
    pub seen_in: &'static str,
    /// The operators in which the fault can show.
    pub operators: &'static [&'static str],
    /// The requirements for killing the mutant.
    pub needs: Needs,
    /// The case line at which the backend is wrong, or several if the fault needs them. They run in this
    /// order, in one batch. `16x ` before a line repeats it, and `@4.0 ` sets the feature level.
    pub witness: &'static [&'static str],
    /// The planted fault.
    pub fault: Fault,
}

impl Mutant {
    /// Whether an operator may never answer. Such a backend has to run in a process of its own.
    pub fn hangs(&self) -> bool {
        self.fault.hangs
    }

    /// Whether it runs between guard pages, which worker processes have only on Unix.
    pub fn needs_guards(&self) -> bool {
        cfg!(unix) && matches!(self.needs, Needs::GuardedMemory(_))
    }

    /// A mutant without a fault, description and witness, which the methods below add. By default, killing it
    /// needs nothing, and the fault was seen in no library: it is a misreading of an operator's semantics.
    pub(crate) const fn new(name: &'static str, operators: &'static [&'static str]) -> Self {
        Self {
            name,
            about: "",
            seen_in: "semantics",
            operators,
            needs: Needs::Nothing,
            witness: &[],
            fault: RIGHT,
        }
    }

    pub(crate) const fn about(mut self, about: &'static str) -> Self {
        self.about = about;
        self
    }

    pub(crate) const fn seen_in(mut self, place: &'static str) -> Self {
        self.seen_in = place;
        self
    }

    pub(crate) const fn needs(mut self, needs: Needs) -> Self {
        self.needs = needs;
        self
    }

    pub(crate) const fn witness(mut self, cases: &'static [&'static str]) -> Self {
        self.witness = cases;
        self
    }

    pub(crate) const fn may_hang(mut self) -> Self {
        self.fault.hangs = true;
        self
    }

    // The seams of a fault follow, in the order in which a case meets them.

    pub(crate) const fn read(mut self, read: fn(&mut Desc)) -> Self {
        self.fault.read = read;
        self
    }

    pub(crate) const fn judge(mut self, judge: fn(&Asked<'_>, &mut BackendState) -> bool) -> Self {
        self.fault.judge = Judge::By(judge);
        self
    }

    pub(crate) const fn unchecked(mut self, reason: &'static str, is_so: fn(&Plan) -> bool) -> Self {
        self.fault.judge = Judge::Unchecked(reason, is_so);
        self
    }

    pub(crate) const fn refuses(mut self, is_so: fn(&Plan) -> bool) -> Self {
        self.fault.judge = Judge::Refuses(is_so);
        self
    }

    pub(crate) const fn code(mut self, code: ErrorCode) -> Self {
        self.fault.code = code;
        self
    }

    pub(crate) const fn plan(mut self, plan: fn(&mut Plan, &mut BackendState)) -> Self {
        self.fault.plan = PlanFault::By(plan);
        self
    }

    pub(crate) const fn plan_where(
        mut self,
        is_so: fn(&Plan, &BackendState) -> bool,
        change: fn(&mut Plan),
    ) -> Self {
        self.fault.plan = PlanFault::Where(is_so, change);
        self
    }

    pub(crate) const fn coordinates(mut self, coordinates: fn(&Plan, i64, &mut [i64])) -> Self {
        self.fault.coordinates = coordinates;
        self
    }

    pub(crate) const fn visits(mut self, visits: fn(&Plan, i64, &[i64]) -> bool) -> Self {
        self.fault.visits = visits;
        self
    }

    pub(crate) const fn source(mut self, source: fn(&Plan, usize, i64) -> Option<i64>) -> Self {
        self.fault.source = ReadFault::By(source);
        self
    }

    pub(crate) const fn folds(mut self, mode: i64, fold: fn(i64, i64) -> Option<i64>) -> Self {
        self.fault.source = ReadFault::Outside(mode, fold);
        self
    }

    pub(crate) const fn from(mut self, from: fn(&Plan, &[i64]) -> i64) -> Self {
        self.fault.from = from;
        self
    }

    pub(crate) const fn to(mut self, to: fn(&Plan, &[i64]) -> i64) -> Self {
        self.fault.to = to;
        self
    }

    pub(crate) const fn value(mut self, value: fn(&Plan, &mut [u8], bool)) -> Self {
        self.fault.value = Value::By(value);
        self
    }

    pub(crate) const fn converts(mut self, data_type: DataType, convert: fn(u64) -> u64) -> Self {
        self.fault.value = Value::Converted(data_type, convert);
        self
    }

    pub(crate) const fn converts_fill(mut self, data_type: DataType, convert: fn(u64) -> u64) -> Self {
        self.fault.value = Value::FillConverted(data_type, convert);
        self
    }

    pub(crate) const fn store(mut self, store: fn(&Plan, &mut [u8], i64, &[u8])) -> Self {
        self.fault.store = store;
        self
    }

    pub(crate) const fn after(mut self, after: fn(&Plan, &mut Memory<'_>, &mut BackendState)) -> Self {
        self.fault.after = after;
        self
    }
}

/// The requirements for killing a mutant, besides ordinary cases. The kill matrix excuses a suite that cannot
/// meet them. It runs the mutant at the feature level or between the guard pages that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing: every suite is expected to kill the mutant.
    Nothing,
    /// Tensors of a megabyte or more.
    Memory(&'static str),
    /// Cases that no suite has, because they need gigabytes or a thousand operators in one batch.
    Beyond(&'static str),
    /// Many thousands of cases.
    ManyCases(&'static str),
    /// Memory that ends where a tensor ends, so that reads out of bounds fail. A worker process with guard
    /// pages provides it, and runs the [operators](crate::Faulty) of the mutant one at a time.
    GuardedMemory(&'static str),
    /// A run at this feature level, which is older than the newest.
    OlderLevel(&'static str, &'static str),
}

impl Needs {
    /// The reason in words; `None` for [`Needs::Nothing`].
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Self::Nothing => None,
            Self::Memory(reason)
            | Self::Beyond(reason)
            | Self::ManyCases(reason)
            | Self::GuardedMemory(reason)
            | Self::OlderLevel(_, reason) => Some(reason),
        }
    }

    /// The feature level that a run must have; `None` for the newest.
    pub fn level(self) -> Option<FeatureLevel> {
        match self {
            Self::OlderLevel(level, _) => level.parse().ok(),
            _ => None,
        }
    }
}
