//! What the wrong elements of an output have in common.

use std::fmt;

use dmlcts_model::{List, Value};
use dmlcts_runner::{Failure, Reads, WrongElement, origins, reads};

/// The wrong elements that are looked at.
const MOST: usize = 64;

/// What all wrong elements of an output have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Each is the element of the input that lies this far from the right one on an axis.
    Shifted {
        /// The axis.
        axis: usize,
        /// The distance.
        by: i64,
    },
    /// Each is the element of the input on the other side of an axis.
    Mirrored {
        /// The axis.
        axis: usize,
    },
    /// Each is the element of the input whose coordinates on two axes are exchanged.
    Exchanged {
        /// The axes.
        axes: (usize, usize),
    },
    /// Each is the value of the fill, where the input's data belongs.
    Filled,
    /// Each is data of the input, where the value of the fill belongs.
    DataForFill,
}

/// The pattern of the wrong elements of a failure. `None` if there are fewer than two, or they have nothing
/// in common.
pub fn pattern(failure: &Failure) -> Option<Pattern> {
    let evidence = failure.evidence.as_ref()?;
    let input = failure.case.desc.input.as_ref()?;
    let sizes = input.sizes.as_ref()?;
    let wrong: Vec<Traced> =
        evidence.differences.first.iter().take(MOST).filter_map(|one| Traced::new(failure, one)).collect();
    if wrong.len() < 2 || wrong.len() < evidence.differences.first.len().min(MOST) {
        return None;
    }
    let rank = sizes.len();
    let shifts = || {
        let Traced { expected: Some(expected), origins, .. } = wrong.first()? else { return None };
        let of_axis = |axis: usize| origins.iter().map(move |origin| (axis, origin[axis] - expected[axis]));
        let shifts = (0..rank).flat_map(of_axis).filter(|(_, by)| *by != 0);
        let patterns = shifts.map(|(axis, by)| Pattern::Shifted { axis, by });
        patterns.into_iter().find(|pattern| wrong.iter().all(|one| one.fits(*pattern, sizes)))
    };
    let mirrored = (0..rank).map(|axis| Pattern::Mirrored { axis });
    let pairs = (0..rank).flat_map(|one| (one + 1..rank).map(move |other| (one, other)));
    let exchanged = pairs.map(|axes| Pattern::Exchanged { axes });
    let others = mirrored.chain(exchanged).chain([Pattern::Filled, Pattern::DataForFill]);
    shifts().or_else(|| others.into_iter().find(|pattern| wrong.iter().all(|one| one.fits(*pattern, sizes))))
}

/// A wrong element, and where it should come from and does.
struct Traced {
    /// The element of the input that belongs there; `None` for the value of the fill.
    expected: Option<List>,
    /// The elements of the input that it may be.
    origins: Vec<List>,
    is_fill: bool,
}

impl Traced {
    fn new(failure: &Failure, wrong: &WrongElement) -> Option<Self> {
        let expected = match reads(failure, &wrong.coordinates)? {
            Reads::Input(source) => Some(source),
            Reads::Member(_) => None,
        };
        let size = failure.case.desc.output.as_ref()?.data_type.element_size()?;
        let fill = failure.operator.semantics().fill.and_then(|member| failure.case.desc.members.get(member));
        let actual = wrong.actual.to_le_bytes();
        let is_fill = fill.and_then(Value::scalar).is_some_and(|bytes| bytes[..size] == actual[..size]);
        Some(Self { expected, origins: origins(failure, wrong), is_fill })
    }

    /// Whether the element fits a pattern.
    fn fits(&self, pattern: Pattern, sizes: &List) -> bool {
        let Some(expected) = &self.expected else {
            return pattern == Pattern::DataForFill && !self.origins.is_empty();
        };
        let mut wanted = expected.clone();
        match pattern {
            Pattern::Filled => return self.is_fill,
            Pattern::DataForFill => return false,
            Pattern::Shifted { axis, by } => wanted[axis] += by,
            Pattern::Mirrored { axis } => wanted[axis] = sizes[axis] - 1 - wanted[axis],
            Pattern::Exchanged { axes: (one, other) } => wanted.swap(one, other),
        }
        self.origins.contains(&wanted)
    }
}

/// A sentence about the wrong elements.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shifted { axis, by } => {
                let (distance, way) = (by.unsigned_abs(), if *by < 0 { "before" } else { "after" });
                write!(
                    f,
                    "each wrong element is the input element {distance} {way} the right one on axis {axis}"
                )
            }
            Self::Mirrored { axis } => {
                write!(f, "each wrong element is the expected input element mirrored on axis {axis}")
            }
            Self::Exchanged { axes: (one, other) } => {
                write!(
                    f,
                    "each wrong element is the one with the coordinates of axes {one} and {other} exchanged"
                )
            }
            Self::Filled => f.write_str("each wrong element holds the padding value instead of input data"),
            Self::DataForFill => {
                f.write_str("each wrong element holds input data instead of the padding value")
            }
        }
    }
}
