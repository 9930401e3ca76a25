//! A plain copy of one tensor to another, one element at a time. A [`Plan`] holds the numbers of a valid
//! desc. Its methods are the right behaviour, which a [`Fault`] replaces at one of its seams.

use dmlcts_model::{DataType, Desc, List, Tensor, packed_strides};

use crate::Fault;

/// The values of `DML_PADDING_MODE`.
pub(crate) const CONSTANT: i64 = 0;
pub(crate) const EDGE: i64 = 1;
pub(crate) const REFLECTION: i64 = 2;
pub(crate) const SYMMETRIC: i64 = 3;
pub(crate) const WRAP: i64 = 4;

/// An operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperatorKind {
    Slice,
    Slice1,
    Padding1,
}

/// The numbers of one axis. Those of another operator are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AxisNumbers {
    /// The input's size.
    pub(crate) n: i64,
    /// The output's size.
    pub(crate) out: i64,
    /// The input's stride, in elements.
    pub(crate) input_stride: i64,
    /// The output's stride, in elements.
    pub(crate) output_stride: i64,
    /// `Offsets` or `InputWindowOffsets`.
    pub(crate) offset: i64,
    /// `InputWindowSizes`.
    pub(crate) window: i64,
    /// `Strides` or `InputWindowStrides`.
    pub(crate) step: i64,
    /// `StartPadding`.
    pub(crate) start: i64,
    /// `EndPadding`.
    pub(crate) end: i64,
}

impl AxisNumbers {
    /// The input coordinate of the first output element of a slice.
    pub(crate) fn first(&self) -> i64 {
        self.offset + if self.step < 0 { self.window - 1 } else { 0 }
    }

    /// Whether the output leaves out a part of the input.
    pub(crate) fn is_cropped(&self) -> bool {
        self.out < self.n
    }

    /// Whether the axis is padded.
    pub(crate) fn is_padded(&self) -> bool {
        self.start + self.end > 0
    }

    /// Whether a slice reverses the whole axis.
    pub(crate) fn is_full_reverse(&self) -> bool {
        self.step == -1 && self.out == self.n && self.n > 1
    }
}

/// The numbers of an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) kind: OperatorKind,
    /// `PaddingMode`.
    pub(crate) mode: i64,
    pub(crate) data_type: DataType,
    /// The number of bytes of an element.
    pub(crate) width: usize,
    /// Outermost first.
    pub(crate) axes: Vec<AxisNumbers>,
    /// `PaddingValue`.
    pub(crate) value: [u8; 8],
    /// Whether the input's and the output's desc has strides.
    pub(crate) strided: [bool; 2],
}

/// The strides of a tensor. An absent list means packed.
fn strides(tensor: &Tensor, sizes: &List) -> List {
    tensor.strides.clone().unwrap_or_else(|| packed_strides(sizes))
}

impl Plan {
    /// Reads the numbers of a desc. `None` if a list is missing or has another length than the input's sizes.
    /// The desc may be invalid otherwise.
    pub(crate) fn of(desc: &Desc) -> Option<Self> {
        let (input, output) = (desc.input.as_ref()?, desc.output.as_ref()?);
        let (n, out) = (input.sizes.as_ref()?, output.sizes.as_ref()?);
        let (input_strides, output_strides) = (strides(input, n), strides(output, out));
        let mut axes = vec![AxisNumbers::default(); n.len()];
        let mut fill = |values: &[i64], field: fn(&mut AxisNumbers) -> &mut i64| {
            axes.iter_mut().zip(values).for_each(|(axis, value)| *field(axis) = *value);
            (values.len() == axes.len()).then_some(())
        };
        fill(n, |axis| &mut axis.n)?;
        fill(out, |axis| &mut axis.out)?;
        fill(&input_strides, |axis| &mut axis.input_stride)?;
        fill(&output_strides, |axis| &mut axis.output_stride)?;
        let kind = match desc.signature.operator.as_str() {
            "SLICE" => {
                fill(desc.list("Offsets")?, |axis| &mut axis.offset)?;
                fill(desc.list("Strides")?, |axis| &mut axis.step)?;
                OperatorKind::Slice
            }
            "SLICE1" => {
                fill(desc.list("InputWindowOffsets")?, |axis| &mut axis.offset)?;
                fill(desc.list("InputWindowSizes")?, |axis| &mut axis.window)?;
                fill(desc.list("InputWindowStrides")?, |axis| &mut axis.step)?;
                OperatorKind::Slice1
            }
            _ => {
                fill(desc.list("StartPadding")?, |axis| &mut axis.start)?;
                fill(desc.list("EndPadding")?, |axis| &mut axis.end)?;
                OperatorKind::Padding1
            }
        };
        Some(Self {
            kind,
            mode: desc.integer("PaddingMode").unwrap_or_default(),
            data_type: input.data_type,
            width: input.data_type.element_size()?,
            axes,
            value: desc.scalar("PaddingValue").unwrap_or_default(),
            strided: [input.strides.is_some(), output.strides.is_some()],
        })
    }

    /// The number of axes.
    pub(crate) fn rank(&self) -> usize {
        self.axes.len()
    }

    /// The innermost axis. Every valid desc has one.
    pub(crate) fn inner(&self) -> AxisNumbers {
        self.axes.last().copied().unwrap_or_default()
    }

    /// The index of the innermost axis.
    pub(crate) fn last(&self) -> usize {
        self.rank().saturating_sub(1)
    }

    /// The number of output elements.
    pub(crate) fn elements(&self) -> i64 {
        self.axes.iter().map(|axis| axis.out).product()
    }

    /// The number of rows: output elements without the innermost axis.
    pub(crate) fn rows(&self) -> i64 {
        self.axes.iter().take(self.last()).map(|axis| axis.out).product()
    }

    /// Whether any axis is so.
    pub(crate) fn any(&self, is_so: impl Fn(&AxisNumbers) -> bool) -> bool {
        self.axes.iter().any(is_so)
    }

    /// The number of axes that are so.
    pub(crate) fn count(&self, is_so: impl Fn(&AxisNumbers) -> bool) -> usize {
        self.axes.iter().filter(|axis| is_so(axis)).count()
    }

    /// Whether every output element is the input element of the same coordinates.
    pub(crate) fn is_identity(&self) -> bool {
        match self.kind {
            OperatorKind::Padding1 => !self.any(AxisNumbers::is_padded),
            _ => !self.any(|axis| axis.out != axis.n || axis.step < 0),
        }
    }

    /// Whether the output element at these coordinates is the padding value.
    pub(crate) fn is_fill(&self, c: &[i64]) -> bool {
        (0..self.rank()).any(|axis| self.source(axis, c[axis]).is_none())
    }

    /// The number of axes on which these output coordinates are in the padding.
    pub(crate) fn outside(&self, c: &[i64]) -> usize {
        self.axes.iter().zip(c).filter(|(axis, c)| !(0..axis.n).contains(&(*c - axis.start))).count()
    }

    /// The output coordinates of the element with this index.
    pub(crate) fn coordinates(&self, index: i64, c: &mut [i64]) {
        let mut left = index;
        for (axis, c) in self.axes.iter().zip(c).rev() {
            // Most axes have one element or are not reached, which needs no division.
            (*c, left) = match axis.out {
                1 => (0, left),
                out if (0..out).contains(&left) => (left, 0),
                out => (left % out, left / out),
            };
        }
    }

    /// The input coordinate that an output coordinate of an axis reads; `None` for the padding value.
    pub(crate) fn source(&self, axis: usize, c: i64) -> Option<i64> {
        let axis = &self.axes[axis];
        match self.kind {
            OperatorKind::Slice | OperatorKind::Slice1 => Some(axis.first() + axis.step * c),
            OperatorKind::Padding1 => fold(self.mode, c - axis.start, axis.n),
        }
    }

    /// The input element at these coordinates.
    pub(crate) fn from(&self, at: &[i64]) -> i64 {
        self.axes.iter().zip(at).map(|(axis, at)| axis.input_stride * at).sum()
    }

    /// The output element at these coordinates.
    pub(crate) fn to(&self, c: &[i64]) -> i64 {
        self.axes.iter().zip(c).map(|(axis, c)| axis.output_stride * c).sum()
    }

    /// The packed strides of sizes that each axis gives.
    pub(crate) fn packed(&self, size: impl Fn(&AxisNumbers) -> i64) -> List {
        packed_strides(&self.axes.iter().map(size).collect::<List>())
    }

    /// Changes each axis.
    pub(crate) fn each(&mut self, change: impl FnMut(&mut AxisNumbers)) {
        self.axes.iter_mut().for_each(change);
    }

    /// Changes each axis that is so.
    pub(crate) fn each_where(
        &mut self,
        is_so: impl Fn(&AxisNumbers) -> bool,
        change: impl FnMut(&mut AxisNumbers),
    ) {
        self.axes.iter_mut().filter(|axis| is_so(axis)).for_each(change);
    }

    /// Makes the input's strides packed.
    pub(crate) fn pack_input(&mut self) {
        let packed = self.packed(|axis| axis.n);
        self.axes.iter_mut().zip(packed).for_each(|(axis, stride)| axis.input_stride = stride);
    }

    /// Makes the output's strides packed.
    pub(crate) fn pack_output(&mut self) {
        let packed = self.packed(|axis| axis.out);
        self.axes.iter_mut().zip(packed).for_each(|(axis, stride)| axis.output_stride = stride);
    }

    /// Makes the operator write nothing.
    pub(crate) fn write_nothing(&mut self) {
        self.each(|axis| axis.out = 0);
    }
}

/// The input coordinate that a coordinate of a padding reads, which counts from the input's first element.
pub(crate) fn fold(mode: i64, at: i64, n: i64) -> Option<i64> {
    match mode {
        _ if (0..n).contains(&at) => Some(at),
        CONSTANT => None,
        EDGE => Some(at.clamp(0, n - 1)),
        REFLECTION => Some(mirror(at.rem_euclid((2 * (n - 1)).max(1)), 2 * (n - 1))),
        SYMMETRIC => Some(mirror(at.rem_euclid(2 * n), 2 * n - 1)),
        _ => Some(at.rem_euclid(n)),
    }
}

/// The place on the way back from the far end, if it is nearer.
pub(crate) fn mirror(place: i64, far: i64) -> i64 {
    place.min(far - place)
}

/// Folds a coordinate outside of the input once, as REFLECTION does. The result may be outside, too.
pub(crate) fn reflect_once(at: i64, n: i64) -> i64 {
    match at {
        ..0 => -at,
        _ if at >= n => 2 * (n - 1) - at,
        _ => at,
    }
}

/// Writes an element. Writes outside of the output are dropped, as robust buffer access does.
pub(crate) fn put(_: &Plan, output: &mut [u8], byte: i64, element: &[u8]) {
    let start = usize::try_from(byte).unwrap_or(usize::MAX);
    if let Some(place) = start.checked_add(element.len()).and_then(|end| output.get_mut(start..end)) {
        place.copy_from_slice(element);
    }
}

/// Copies each element of the output. Elements outside of the input are 0, as robust buffer access reads
/// them.
pub(crate) fn copy(fault: &Fault, plan: &Plan, input: &[u8], output: &mut [u8]) {
    let (rank, width) = (plan.rank(), plan.width);
    let (mut c, mut at) = (vec![0; rank], vec![0; rank]);
    // A mutant that accepts 2^32 elements for a few bytes would write the same bytes for minutes.
    let most = (output.len() as i64 * 4).max(1 << 20);
    for index in 0..plan.elements().min(most) {
        (fault.coordinates)(plan, index, &mut c);
        if !(fault.visits)(plan, index, &c) {
            continue;
        }
        let mut is_fill = false;
        for axis in 0..rank {
            match fault.source.of(plan, axis, c[axis]) {
                Some(place) => at[axis] = place,
                None => is_fill = true,
            }
        }
        let mut element = [0; 8];
        if is_fill {
            element = plan.value;
        } else {
            let start = (fault.from)(plan, &at).checked_mul(width as i64);
            let start = start.and_then(|start| usize::try_from(start).ok()).unwrap_or(usize::MAX);
            if let Some(bytes) = start.checked_add(width).and_then(|end| input.get(start..end)) {
                element[..width].copy_from_slice(bytes);
            }
        }
        fault.value.change(plan, &mut element[..width], is_fill);
        (fault.store)(plan, output, (fault.to)(plan, &c) * width as i64, &element[..width]);
    }
}
