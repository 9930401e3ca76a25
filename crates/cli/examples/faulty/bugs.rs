//! Bugs of real libraries, re-created on top of the reference: a bug changes the desc, an output, or the
//! answer to a desc. Each shows on small cases, and a condition on descs tells where.

use dmlcts_backend::{Batch, Job};
use dmlcts_model::{DataType, Desc, ErrorCode, List, Offsets, Outcome, Phase, Value, coordinates_of};

/// The effect of a bug.
pub(crate) enum Bug {
    /// Computes this desc instead of the given one.
    Instead(fn(&mut Desc)),
    /// Changes a right output, given the memory before it.
    Spoils(fn(&Desc, &mut Memory<'_>)),
    /// Gives another answer to a desc.
    Says(fn(&Job) -> Option<Outcome>),
    /// Repeats the output of the first run in each later run.
    Remembers,
}

/// An output's memory, and its content before the run.
pub(crate) struct Memory<'a> {
    is: &'a mut [u8],
    was: &'a [u8],
}

/// The bugs by name.
pub(crate) const BUGS: [(&str, Bug); 19] = [
    // The page's formula without its first line: a negative stride starts at the window's near end, and walks
    // forwards.
    (
        "forgets-to-reverse",
        Bug::Instead(|desc| {
            each(desc, "InputWindowStrides", |_, stride| stride.abs().min(i64::from(i32::MAX)));
        }),
    ),
    // oxionnx#4
    ("clamps-strides", Bug::Instead(|desc| each(desc, "InputWindowStrides", |_, stride| stride.max(1)))),
    // pytorch#95871
    (
        "honours-two-axes",
        Bug::Instead(|desc| {
            each(desc, "InputWindowOffsets", |axis, offset| if axis < 2 { offset } else { 0 });
        }),
    ),
    // coremltools#2280
    ("reflects-symmetric", Bug::Instead(|desc| mode(desc, |mode| if mode == 3 { 2 } else { mode }))),
    // Paddle-Lite#9506
    ("knows-one-mode", Bug::Instead(|desc| mode(desc, |mode| if (1..5).contains(&mode) { 0 } else { mode }))),
    // The change that pytorch#37844 makes to the axes, made to the ends.
    ("swaps-ends", Bug::Instead(swap_ends)),
    (
        "ignores-total-size",
        Bug::Instead(|desc| {
            for tensor in [&mut desc.input, &mut desc.output].into_iter().flatten() {
                tensor.total_size = tensor.total_size.max(tensor.usual_total_size());
            }
        }),
    ),
    // tensorflow#61424
    (
        "loses-the-last-step",
        Bug::Spoils(|desc, memory| {
            let (sizes, strides) = (desc.list("InputWindowSizes"), desc.list("InputWindowStrides"));
            let (Some(sizes), Some(strides)) = (sizes, strides) else { return };
            if sizes.iter().zip(strides).any(|(size, stride)| size % stride != 0) {
                memory.elements(desc, |place, count, _, element| {
                    if place + 1 == count {
                        element.fill(0);
                    }
                });
            }
        }),
    ),
    // TIM-VX#213, DirectML#445
    (
        "drops-axes",
        Bug::Spoils(|desc, memory| {
            if desc.rank() > 5 {
                memory.elements(desc, |_, _, _, element| element.fill(0));
            }
        }),
    ),
    // jax#39120
    ("never-pads", Bug::Spoils(|desc, memory| memory.restore(desc, |inside| !inside))),
    // DirectML#387
    ("never-copies", Bug::Spoils(|desc, memory| memory.restore(desc, |inside| inside))),
    // onnxruntime#8265
    (
        "folds-once",
        Bug::Spoils(|desc, memory| {
            let (Some(sizes), Some(starts)) = (sizes(desc), desc.list("StartPadding")) else { return };
            if desc.integer("PaddingMode") != Some(2) {
                return;
            }
            let (sizes, starts) = (sizes.to_vec(), starts.to_vec());
            memory.elements(desc, |_, _, at, element| {
                let beyond = |axis: usize| {
                    let (at, size) = (at[axis] - starts[axis], sizes[axis]);
                    size > 1 && !(1 - size..2 * size - 1).contains(&at)
                };
                if (0..at.len()).any(beyond) {
                    element.fill(0);
                }
            });
        }),
    ),
    (
        "quietens",
        Bug::Spoils(|desc, memory| {
            memory.floats(
                desc,
                |bits, float| {
                    if bits & !float.sign > float.exponent { bits | float.quiet } else { bits }
                },
            );
        }),
    ),
    (
        "flushes",
        Bug::Spoils(|desc, memory| {
            memory.floats(
                desc,
                |bits, float| {
                    if bits & float.exponent == 0 { bits & float.sign } else { bits }
                },
            );
        }),
    ),
    (
        "loses-signs",
        Bug::Spoils(|desc, memory| {
            memory.floats(desc, |bits, float| if bits == float.sign { 0 } else { bits });
        }),
    ),
    // mxnet#14105
    (
        "refuses-reversal",
        Bug::Says(|job| {
            let (sizes, strides) = (job.desc.list("InputWindowSizes")?, job.desc.list("InputWindowStrides")?);
            let whole = sizes.iter().zip(self::sizes(&job.desc)?.iter()).zip(strides);
            let refuses = whole.into_iter().any(|((window, size), stride)| window == size && *stride == -1);
            refuses.then(|| Outcome::Rejected {
                phase: Phase::Create,
                code: ErrorCode::INVALID_ARGUMENT,
                reason: "nothing is left".into(),
            })
        }),
    ),
    // TensorRT#763
    (
        "accepts-nothing",
        Bug::Says(|job| {
            let is_empty = job.desc.list("InputWindowSizes")?.contains(&0);
            (is_empty && matches!(job.outcome, Outcome::Rejected { .. })).then_some(Outcome::Accepted)
        }),
    ),
    (
        "accepts-everything",
        Bug::Says(|job| {
            (job.runs.is_empty() && matches!(job.outcome, Outcome::Rejected { .. }))
                .then_some(Outcome::Accepted)
        }),
    ),
    ("remembers", Bug::Remembers),
];

impl Bug {
    /// Runs a batch as a backend with this bug does.
    pub(crate) fn run(&self, batch: &mut Batch, honestly: impl FnOnce(&mut Batch)) {
        let before = batch.outputs.clone();
        let descs: Vec<Box<Desc>> = batch.jobs().iter().map(|job| job.desc.clone()).collect();
        if let Self::Instead(change) = self {
            batch.parts().0.iter_mut().for_each(|job| change(&mut job.desc));
        }
        honestly(batch);
        let (jobs, _, outputs) = batch.parts();
        for (job, desc) in jobs.iter_mut().zip(descs) {
            job.desc = desc;
            match self {
                Self::Spoils(spoil) if job.outcome == Outcome::Output => {
                    for run in &job.runs {
                        let output = run.output.clone();
                        let mut memory = Memory { is: &mut outputs[output.clone()], was: &before[output] };
                        spoil(&job.desc, &mut memory);
                    }
                }
                Self::Instead(_) | Self::Spoils(_) => {}
                Self::Says(say) => job.outcome = say(job).unwrap_or_else(|| job.outcome.clone()),
                Self::Remembers => {
                    let Some((first, later)) = job.runs.split_first() else { continue };
                    for run in later {
                        outputs.copy_within(first.output.clone(), run.output.start);
                    }
                }
            }
        }
    }
}

/// The fields of a floating-point type.
struct Float {
    sign: u64,
    exponent: u64,
    /// The bit of a NaN that makes it quiet.
    quiet: u64,
}

impl Memory<'_> {
    /// Calls a closure with each element: its index, the number of elements, its coordinates, its bytes.
    fn elements(&mut self, desc: &Desc, mut with: impl FnMut(u64, u64, &[i64], &mut [u8])) {
        let Some(output) = &desc.output else { return };
        let (Some(sizes), Some(width)) = (&output.sizes, output.data_type.element_size()) else { return };
        let count = sizes.iter().product::<i64>() as u64;
        for (place, offset) in (0..).zip(Offsets::new(sizes, output.strides.as_deref())) {
            let start = offset as usize * width;
            with(place, count, &coordinates_of(place, sizes), &mut self.is[start..start + width]);
        }
    }

    /// Restores the elements for which `is_left` holds. For padding, it is told whether an element comes from
    /// the input.
    fn restore(&mut self, desc: &Desc, is_left: impl Fn(bool) -> bool) {
        let (Some(sizes), Some(starts)) = (sizes(desc), desc.list("StartPadding")) else { return };
        let (sizes, starts, was) = (sizes.to_vec(), starts.to_vec(), self.was);
        self.elements(desc, |_, _, at, element| {
            let inside =
                (0..at.len()).all(|axis| (starts[axis]..starts[axis] + sizes[axis]).contains(&at[axis]));
            if is_left(inside) {
                // All of the memory holds the same byte.
                element.fill(was[0]);
            }
        });
    }

    fn floats(&mut self, desc: &Desc, spoil: impl Fn(u64, &Float) -> u64) {
        let fraction = match desc.output.as_ref().map(|output| output.data_type) {
            Some(DataType::FLOAT16) => 10,
            Some(DataType::FLOAT32) => 23,
            Some(DataType::FLOAT64) => 52,
            _ => return,
        };
        self.elements(desc, |_, _, _, element| {
            let mut bytes = [0; 8];
            bytes[..element.len()].copy_from_slice(element);
            let sign = 1 << (element.len() * 8 - 1);
            let float =
                Float { sign, exponent: (sign - 1) & !((1 << fraction) - 1), quiet: 1 << (fraction - 1) };
            let spoiled = spoil(u64::from_le_bytes(bytes), &float).to_le_bytes();
            element.copy_from_slice(&spoiled[..element.len()]);
        });
    }
}

fn sizes(desc: &Desc) -> Option<&List> {
    desc.input.as_ref()?.sizes.as_ref()
}

/// Changes the values of a list, given their axes.
fn each(desc: &mut Desc, member: &str, change: fn(usize, i64) -> i64) {
    let place = desc.signature.position(member);
    if let Some(Value::List(Some(list))) = place.and_then(|place| desc.members.get_mut(place)) {
        list.iter_mut().enumerate().for_each(|(axis, value)| *value = change(axis, *value));
    }
}

fn mode(desc: &mut Desc, change: fn(i64) -> i64) {
    let place = desc.signature.position("PaddingMode");
    if let Some(Value::Integer(mode)) = place.and_then(|place| desc.members.get_mut(place)) {
        *mode = change(*mode);
    }
}

fn swap_ends(desc: &mut Desc) {
    let place = |name| desc.signature.position(name);
    if let (Some(start), Some(end)) = (place("StartPadding"), place("EndPadding")) {
        desc.members.swap(start, end);
    }
}
