//! A backend on the CPU as its author would write it: SLICE, one element at a time.
//!
//! It has one known bug, with a file in `findings/`: it refuses eight axes. `EXAMPLE_BUG` plants another one
//! or removes this one, and `.ci/run kit` checks that the gate finds it.

use std::{collections::HashSet, env, process, thread, time::Duration};

use dmlcts_kit::{BindingOffsets, Capabilities, DataType, Desc, List, Operators, Refusal, RunError, Tensor};

/// The backend.
pub struct Slices {
    capabilities: Capabilities,
    bug: String,
}

/// A created operator: the offsets of elements, in bytes, and their size.
pub struct Copy {
    input: Walk,
    output: Walk,
    sizes: Vec<u64>,
    width: usize,
    bug: String,
}

/// Where the elements of a tensor are, in elements.
struct Walk {
    start: u64,
    strides: Vec<u64>,
}

impl Slices {
    /// Opens the backend.
    pub fn open() -> Result<Self, String> {
        let bug = env::var("EXAMPLE_BUG").unwrap_or_default();
        if bug == "no-device" {
            return Err("there is no device".to_owned());
        }
        let all = Capabilities::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        let capabilities = Capabilities { operators: Some(vec!["SLICE".to_owned()]), ..all };
        Ok(Self { capabilities, bug })
    }
}

impl Operators for Slices {
    type Operator = Copy;

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn create(&mut self, desc: &Desc) -> Result<Copy, Refusal> {
        if desc.signature.operator != "SLICE" {
            return Err(Refusal::Unsupported("only SLICE is there".into()));
        }
        let (Some(input), Some(output)) = (&desc.input, &desc.output) else {
            return Err(invalid("a tensor is null"));
        };
        if (input.data_type, input.dimension_count) != (output.data_type, output.dimension_count) {
            return Err(invalid("the tensors differ in their type or in their rank"));
        }
        let rank = input.dimension_count as usize;
        let width = input.data_type.element_size().filter(|_| (1..=8).contains(&rank));
        let Some(width) = width else { return Err(invalid("no such type or rank")) };
        let (from, strides) = check_tensor(input, rank, width, 1)?;
        let (to, output_strides) = check_tensor(output, rank, width, 0)?;
        let list = |name| values(desc.list(name), rank);
        let (offsets, sizes, steps) = (list("Offsets")?, list("Sizes")?, list("Strides")?);
        if desc.integer("DimensionCount") != Some(rank as i64) || sizes != to {
            return Err(invalid("DimensionCount or Sizes is not that of the tensors"));
        }
        for axis in 0..rank {
            let last = u128::from(offsets[axis]) + u128::from(sizes[axis] - 1) * u128::from(steps[axis]);
            let is_outside = last >= u128::from(from[axis]) && self.bug != "accepts-invalid";
            if steps[axis] == 0 || steps[axis] > i32::MAX as u64 || is_outside {
                return Err(invalid("a stride is out of range, or the slice reads beyond the input"));
            }
        }
        if overlaps(&to, &output_strides) {
            return Err(invalid("elements of the output overlap"));
        }
        if rank == 8 && self.bug != "fixed" {
            return Err(Refusal::Unsupported("eight axes are not there yet".into()));
        }
        let input = Walk {
            start: offsets.iter().zip(&strides).map(|(offset, stride)| offset * stride).sum(),
            strides: steps.iter().zip(&strides).map(|(step, stride)| step.saturating_mul(*stride)).collect(),
        };
        let output = Walk { start: 0, strides: output_strides };
        Ok(Copy {
            input,
            output,
            sizes,
            width,
            bug: if rank == 3 { self.bug.clone() } else { String::new() },
        })
    }

    fn run(
        &mut self,
        copy: &mut Copy,
        _: BindingOffsets,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), RunError> {
        match copy.bug.as_str() {
            "abort" => process::abort(),
            "wrong-value" => copy.input.start = 0,
            "hang" => thread::sleep(Duration::from_secs(3600)),
            _ => {}
        }
        let elements: u64 = copy.sizes.iter().product();
        for mut index in 0..elements {
            let (mut from, mut to) = (copy.input.start, copy.output.start);
            for axis in (0..copy.sizes.len()).rev() {
                let place = index % copy.sizes[axis];
                index /= copy.sizes[axis];
                from += place * copy.input.strides[axis];
                to += place * copy.output.strides[axis];
            }
            let (from, to) = (from as usize * copy.width, to as usize * copy.width);
            let source = input.get(from..from + copy.width);
            let target = output.get_mut(to..to + copy.width);
            let (Some(source), Some(target)) = (source, target) else {
                return Err(RunError::Failed("an element is outside of its tensor".into()));
            };
            target.copy_from_slice(source);
        }
        Ok(())
    }
}

/// The sizes and strides of a valid tensor.
fn check_tensor(
    tensor: &Tensor,
    rank: usize,
    width: usize,
    flags: u32,
) -> Result<(Vec<u64>, Vec<u64>), Refusal> {
    let most = u64::from(u32::MAX);
    let sizes = values(tensor.sizes.as_deref(), rank)?;
    let count = sizes.iter().try_fold(1_u64, |count, size| count.checked_mul(*size));
    let Some(count) = count.filter(|count| (1..=most).contains(count)) else {
        return Err(invalid("a tensor has no elements, or too many"));
    };
    let mut strides = vec![1; rank];
    for axis in (1..rank).rev() {
        strides[axis - 1] = strides[axis] * sizes[axis];
    }
    let mut span = count;
    if let Some(given) = &tensor.strides {
        strides = values(Some(given), rank)?;
        let reach = sizes.iter().zip(&strides).map(|(size, stride)| (size - 1) * stride);
        span = reach.fold(1, u64::saturating_add);
    }
    let is_aligned =
        tensor.alignment == 0 || tensor.alignment.is_power_of_two() && tensor.alignment as usize >= width;
    if span > most
        || tensor.total_size < (span * width as u64).next_multiple_of(4)
        || !is_aligned
        || tensor.flags > flags
        || tensor.data_type == DataType::UNKNOWN
    {
        return Err(invalid("a tensor's span, size, alignment or flags are wrong"));
    }
    Ok((sizes, strides))
}

/// A list with a `UINT` for each axis.
fn values(list: Option<&[i64]>, rank: usize) -> Result<Vec<u64>, Refusal> {
    let list = list.filter(|list| list.len() == rank).map(List::from_slice);
    let list = list.ok_or_else(|| invalid("a list is null, or has another length"))?;
    let values = list.iter().map(|value| u32::try_from(*value).map(u64::from)).collect::<Result<_, _>>();
    values.map_err(|_| invalid("a list has a value that is no UINT"))
}

/// Whether two elements of a tensor are in the same place.
fn overlaps(sizes: &[u64], strides: &[u64]) -> bool {
    let mut axes: Vec<(u64, u64)> =
        strides.iter().copied().zip(sizes.iter().copied()).filter(|(_, size)| *size > 1).collect();
    axes.sort_unstable();
    // If each axis steps over all inner ones, no two elements meet.
    let mut span = 1;
    let is_nested = axes.iter().all(|(stride, size)| {
        let steps_over = *stride >= span;
        span += (size - 1) * stride;
        steps_over
    });
    let mut places = HashSet::from([0]);
    let mut is_distinct = |axes: &[(u64, u64)]| {
        for (stride, size) in axes {
            let next: HashSet<u64> =
                (0..*size).flat_map(|step| places.iter().map(move |place| place + step * stride)).collect();
            if next.len() as u64 != places.len() as u64 * size {
                return false;
            }
            places = next;
        }
        true
    };
    !is_nested && !is_distinct(&axes)
}

fn invalid(reason: &'static str) -> Refusal {
    Refusal::Invalid(reason.into())
}
