//! A fault: the seams at which a backend's behaviour can be replaced, and what each one is given.

use std::ops::Range;

use dmlcts_model::{DataType, Desc, ErrorCode, FeatureLevel, Tensor};
use dmlcts_reference::Reference;

use crate::kernel::{AxisNumbers, OperatorKind, Plan, put};

/// A backend's behaviour. Each seam is a function, and `RIGHT` has the right ones. A mutant replaces one or
/// two of them.
#[derive(Debug)]
pub struct Fault {
    /// Whether an operator may never answer, so that the backend has to run in a process of its own.
    pub(crate) hangs: bool,
    /// Reads the caller's desc: may change what everything else sees of it.
    pub(crate) read: fn(&mut Desc),
    /// Which descs to accept.
    pub(crate) judge: Judge,
    /// The code of refusals that the reference does not share.
    pub(crate) code: ErrorCode,
    /// Changes the numbers of a created operator. It may remember and recall operators.
    pub(crate) plan: PlanFault,
    /// The output coordinates of an index.
    pub(crate) coordinates: fn(&Plan, i64, &mut [i64]),
    /// Whether the element of an index, at these output coordinates, is written at all.
    pub(crate) visits: fn(&Plan, i64, &[i64]) -> bool,
    /// The input coordinate that an output coordinate of an axis reads; `None` for the padding value.
    pub(crate) source: ReadFault,
    /// The input element at input coordinates.
    pub(crate) from: fn(&Plan, &[i64]) -> i64,
    /// The output element at output coordinates.
    pub(crate) to: fn(&Plan, &[i64]) -> i64,
    /// Changes the bytes of an element on their way.
    pub(crate) value: Value,
    /// Writes an element at a byte of the output.
    pub(crate) store: fn(&Plan, &mut [u8], i64, &[u8]),
    /// Acts on memory after a run.
    pub(crate) after: fn(&Plan, &mut Memory<'_>, &mut BackendState),
}

/// The behaviour without a fault.
pub(crate) const RIGHT: Fault = Fault {
    hangs: false,
    read: |_| {},
    judge: Judge::By(|asked, _| asked.is_valid()),
    code: ErrorCode::INVALID_ARGUMENT,
    plan: PlanFault::By(|_, _| {}),
    coordinates: Plan::coordinates,
    visits: |_, _, _| true,
    source: ReadFault::By(Plan::source),
    from: Plan::from,
    to: Plan::to,
    value: Value::By(|_, _, _| {}),
    store: put,
    after: |_, _, _| {},
};

/// The descs that a backend accepts.
#[derive(Debug)]
pub(crate) enum Judge {
    /// Those for which the function is true.
    By(fn(&Asked<'_>, &mut BackendState) -> bool),
    /// The valid ones, and those with these numbers that only the checks with this reason would refuse.
    Unchecked(&'static str, fn(&Plan) -> bool),
    /// The valid ones without these numbers.
    Refuses(fn(&Plan) -> bool),
}

impl Judge {
    /// Whether the backend accepts a desc.
    pub(crate) fn accepts(&self, asked: &Asked<'_>, state: &mut BackendState) -> bool {
        match self {
            Self::By(judge) => judge(asked, state),
            Self::Unchecked(reason, is_so) => asked.but_for_where(reason, is_so),
            Self::Refuses(is_so) => asked.unless(is_so),
        }
    }
}

/// The change of an operator's numbers.
#[derive(Debug)]
pub(crate) enum PlanFault {
    /// What the function does.
    By(fn(&mut Plan, &mut BackendState)),
    /// What the second function does, for the operators and states for which the first one is true.
    Where(fn(&Plan, &BackendState) -> bool, fn(&mut Plan)),
}

impl PlanFault {
    /// Changes the numbers.
    pub(crate) fn change(&self, plan: &mut Plan, state: &mut BackendState) {
        match self {
            Self::By(change) => change(plan, state),
            Self::Where(is_so, change) if is_so(plan, state) => change(plan),
            Self::Where(..) => {}
        }
    }
}

/// The input coordinate that an output coordinate of an axis reads; `None` for the padding value.
#[derive(Debug)]
pub(crate) enum ReadFault {
    /// The one that the function returns.
    By(fn(&Plan, usize, i64) -> Option<i64>),
    /// In this mode of PADDING1, the one that the function returns for a coordinate outside of the input and
    /// for the input's size. The coordinate counts from the input's first element.
    Outside(i64, fn(i64, i64) -> Option<i64>),
}

impl ReadFault {
    /// The input coordinate, or `None`.
    pub(crate) fn of(&self, plan: &Plan, axis: usize, c: i64) -> Option<i64> {
        match self {
            Self::By(source) => source(plan, axis, c),
            Self::Outside(mode, fold) => {
                let AxisNumbers { n, start, .. } = plan.axes[axis];
                let at = c - start;
                let is_so =
                    plan.kind == OperatorKind::Padding1 && plan.mode == *mode && !(0..n).contains(&at);
                if is_so { fold(at, n) } else { plan.source(axis, c) }
            }
        }
    }
}

/// The change of an element's bytes.
#[derive(Debug)]
pub(crate) enum Value {
    /// What the function does. True stands for the padding value.
    By(fn(&Plan, &mut [u8], bool)),
    /// The bits of an element of this type become others.
    Converted(DataType, fn(u64) -> u64),
    /// The bits of a padding value of this type become others.
    FillConverted(DataType, fn(u64) -> u64),
}

impl Value {
    /// Changes the bytes.
    pub(crate) fn change(&self, plan: &Plan, bytes: &mut [u8], is_fill: bool) {
        let (data_type, convert) = match self {
            Self::By(change) => return change(plan, bytes, is_fill),
            Self::FillConverted(..) if !is_fill => return,
            Self::Converted(data_type, convert) | Self::FillConverted(data_type, convert) => {
                (*data_type, convert)
            }
        };
        if plan.data_type == data_type {
            let converted = convert(bits(bytes)).to_le_bytes();
            bytes.copy_from_slice(&converted[..bytes.len()]);
        }
    }
}

/// The bits of an element.
pub(crate) fn bits(element: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..element.len()].copy_from_slice(element);
    u64::from_le_bytes(bytes)
}

/// A desc to accept or to refuse.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) desc: &'a Desc,
    pub(crate) level: FeatureLevel,
    /// Why the reference refuses it; `None` if it does not.
    pub(crate) refusal: Option<&'a str>,
    /// Which is asked again without a check.
    pub(crate) reference: &'a Reference,
}

impl Asked<'_> {
    /// Whether the reference accepts the desc.
    pub(crate) fn is_valid(&self) -> bool {
        self.refusal.is_none()
    }

    /// Whether the reference would accept the desc without the checks whose reasons contain this text.
    pub(crate) fn but_for(&self, reason: &str) -> bool {
        self.is_valid()
            || self.is_refused_for(reason) && self.reference.refusal_without(self.desc, reason).is_none()
    }

    /// Whether this is the first reason for which the reference refuses the desc.
    pub(crate) fn is_refused_for(&self, reason: &str) -> bool {
        self.refusal.is_some_and(|refusal| refusal.contains(reason))
    }

    /// Whether the reference accepts the desc, or would accept it without these checks if this is so.
    pub(crate) fn but_for_if(&self, reason: &str, is_so: bool) -> bool {
        self.is_valid() || is_so && self.but_for(reason)
    }

    /// The same, but only for descs with these numbers.
    pub(crate) fn but_for_where(&self, reason: &str, is_so: impl Fn(&Plan) -> bool) -> bool {
        self.is_valid() || self.but_for(reason) && Plan::of(self.desc).is_some_and(|plan| is_so(&plan))
    }

    /// Whether the reference accepts the desc, and it does not have these numbers.
    pub(crate) fn unless(&self, is_so: impl Fn(&Plan) -> bool) -> bool {
        self.is_valid() && !Plan::of(self.desc).is_some_and(|plan| is_so(&plan))
    }

    /// Whether the desc is one of this operator.
    pub(crate) fn is_of(&self, operator: &str) -> bool {
        self.desc.signature.operator == operator
    }

    /// The input and the output.
    pub(crate) fn tensors(&self) -> [Option<&Tensor>; 2] {
        [self.desc.input.as_ref(), self.desc.output.as_ref()]
    }

    /// Whether both tensors are so.
    pub(crate) fn tensors_are(&self, is_so: impl Fn(&Tensor) -> bool) -> bool {
        self.tensors().into_iter().all(|tensor| tensor.is_some_and(&is_so))
    }

    /// Whether the input is so.
    pub(crate) fn input_is(&self, is_so: impl FnOnce(&Tensor) -> bool) -> bool {
        self.desc.input.as_ref().is_some_and(is_so)
    }

    /// The integer in a member; 0 if the operator has no such member.
    pub(crate) fn integer(&self, member: &str) -> i64 {
        self.desc.integer(member).unwrap_or_default()
    }

    /// `TotalTensorSizeInBytes` of the input and the output.
    pub(crate) fn total_sizes(&self) -> [u64; 2] {
        self.tensors().map(|tensor| tensor.map_or(0, |tensor| tensor.total_size))
    }

    /// The bytes that the elements of the input and the output need: exact, not rounded up.
    pub(crate) fn needed(&self) -> [i128; 2] {
        let Some(plan) = Plan::of(self.desc) else { return [0; 2] };
        let span = |reach: fn(&AxisNumbers) -> i128| {
            (plan.axes.iter().map(reach).sum::<i128>() + 1) * plan.width as i128
        };
        [
            span(|axis| i128::from(axis.n - 1) * i128::from(axis.input_stride)),
            span(|axis| i128::from(axis.out - 1) * i128::from(axis.output_stride)),
        ]
    }
}

/// What a backend remembers. It lives as long as the backend.
#[derive(Debug, Default)]
pub(crate) struct BackendState {
    /// The number of operators created before this one.
    pub(crate) created: u64,
    /// The number of runs before this one.
    pub(crate) runs: u64,
    /// The number of runs of this operator before this one.
    pub(crate) runs_of_operator: u64,
    /// The operators that exist besides this one: those before it in the batch.
    pub(crate) live: Vec<Plan>,
    /// Operators by their keys, for faults of caches.
    pub(crate) cache: Vec<(Plan, Plan)>,
    /// Operators that a fault remembers.
    pub(crate) plans: Vec<Plan>,
    /// Bytes that a fault remembers.
    pub(crate) bytes: Vec<u8>,
}

/// The memory of a run, and of all other runs of its batch.
#[derive(Debug)]
pub(crate) struct Memory<'a> {
    pub(crate) inputs: &'a mut [u8],
    pub(crate) outputs: &'a mut [u8],
    /// The input of the run.
    pub(crate) input: Range<usize>,
    /// The output of the run.
    pub(crate) output: Range<usize>,
}

impl Memory<'_> {
    /// The bytes of the output.
    pub(crate) fn output(&mut self) -> &mut [u8] {
        &mut self.outputs[self.output.clone()]
    }

    /// Changes the byte this far behind the output's start, or before it.
    pub(crate) fn spoil_output(&mut self, distance: i64) {
        let place = (self.output.start as i64 + distance) as usize;
        if let Some(byte) = self.outputs.get_mut(place) {
            *byte ^= 0x5a;
        }
    }

    /// Changes a byte of the input.
    pub(crate) fn spoil_input(&mut self, place: usize) {
        if let Some(byte) = self.inputs.get_mut(self.input.start + place) {
            *byte ^= 0x5a;
        }
    }
}
