//! A valid desc as an operation with known members. The core knows no operator by name; these programs must,
//! since each one spells the operator out in another language.

use dmlcts_model::{Desc, List};

/// How `PADDING1` fills the elements around its input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    Constant,
    Edge,
    Reflection,
    Symmetric,
    Wrap,
}

impl Mode {
    /// The modes in the order of `DML_PADDING_MODE`.
    const ALL: [Self; 5] = [Self::Constant, Self::Edge, Self::Reflection, Self::Symmetric, Self::Wrap];
}

/// The operator and its members.
pub(super) enum Operation {
    /// `SLICE`
    Slice { offsets: List, sizes: List, strides: List },
    /// `SLICE1`
    Slice1 { offsets: List, sizes: List, strides: List },
    /// `PADDING1`
    Padding1 { mode: Mode, value: [u8; 8], start: List, end: List },
}

/// The elements that a slice reads on one axis.
pub(super) struct Walk {
    /// The coordinate of the first element.
    pub(super) start: i64,
    /// The coordinate at which it ends, which is not read: the end of the window if all that it reaches is
    /// read. It may be behind the axis, or below 0.
    pub(super) stop: i64,
    pub(super) step: i64,
}

impl Operation {
    /// The operation of a valid desc; `None` for an operator that is not known here.
    pub(super) fn of(desc: &Desc) -> Option<Self> {
        let list = |name| desc.list(name).map(List::from_slice);
        match desc.signature.operator.as_str() {
            "SLICE" => Some(Self::Slice {
                offsets: list("Offsets")?,
                sizes: list("Sizes")?,
                strides: list("Strides")?,
            }),
            "SLICE1" => Some(Self::Slice1 {
                offsets: list("InputWindowOffsets")?,
                sizes: list("InputWindowSizes")?,
                strides: list("InputWindowStrides")?,
            }),
            "PADDING1" => Some(Self::Padding1 {
                mode: *Mode::ALL.get(usize::try_from(desc.integer("PaddingMode")?).ok()?)?,
                value: desc.scalar("PaddingValue")?,
                start: list("StartPadding")?,
                end: list("EndPadding")?,
            }),
            _ => None,
        }
    }

    /// The members with a value for each axis, with the names that constants have in C and in Rust.
    pub(super) fn lists(&self) -> Vec<(&'static str, &[i64])> {
        match self {
            Self::Slice { offsets, sizes, strides } => {
                vec![("OFFSETS", offsets), ("SIZES", sizes), ("STRIDES", strides)]
            }
            Self::Slice1 { offsets, sizes, strides } => vec![
                ("INPUT_WINDOW_OFFSETS", offsets),
                ("INPUT_WINDOW_SIZES", sizes),
                ("INPUT_WINDOW_STRIDES", strides),
            ],
            Self::Padding1 { start, end, .. } => vec![("START_PADDING", start), ("END_PADDING", end)],
        }
    }

    /// What a slice reads on each axis, for an output of these sizes; `None` for other operators.
    pub(super) fn walks(&self, output: &[i64]) -> Option<Vec<Walk>> {
        let (offsets, sizes, strides, is_window) = match self {
            Self::Slice { offsets, sizes, strides } => (offsets, sizes, strides, false),
            Self::Slice1 { offsets, sizes, strides } => (offsets, sizes, strides, true),
            Self::Padding1 { .. } => return None,
        };
        let walk = |(axis, &count): (usize, &i64)| {
            let step = strides[axis];
            let (offset, size) = (offsets[axis], sizes[axis]);
            let start = offset + if step < 0 { size - 1 } else { 0 };
            let is_whole = is_window && count == (size - 1) / step.abs() + 1;
            let stop = if !is_whole {
                start + step * count
            } else if step < 0 {
                offset - 1
            } else {
                offset + size
            };
            Walk { start, stop, step }
        };
        Some(output.iter().enumerate().map(walk).collect())
    }
}
