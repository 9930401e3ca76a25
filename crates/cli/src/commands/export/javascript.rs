//! A case as a program in JavaScript for Node, which exits with 1 if the output is wrong.

use super::{
    ValidCase,
    operation::{Mode, Operation},
    template::indented,
};

/// The program of a valid case.
pub(super) fn program(case: &ValidCase) -> String {
    let operation = &case.operation;
    let members = case.members(
        |name, list| format!("const {name} = [{list}];"),
        |name, bytes| format!("const {name} = new Uint8Array([{bytes}]);"),
    );
    let values = [
        ("MEMBERS", members),
        ("READ", indented(12, read(operation))),
        ("COPY", indented(8, copy(operation))),
    ];
    case.program(include_str!("javascript.txt"), "//", &values)
}

/// Returns the input coordinate that the output coordinate `place` reads on an axis.
fn read(operation: &Operation) -> &'static [&'static str] {
    match operation {
        Operation::Slice { .. } => &["return OFFSETS[axis] + STRIDES[axis] * place;"],
        Operation::Slice1 { .. } => &[
            "// A negative stride starts at the window's far end.",
            "const far = INPUT_WINDOW_STRIDES[axis] < 0 ? INPUT_WINDOW_SIZES[axis] - 1 : 0;",
            "return INPUT_WINDOW_OFFSETS[axis] + far + INPUT_WINDOW_STRIDES[axis] * place;",
        ],
        Operation::Padding1 { mode, .. } => match mode {
            Mode::Constant => &["return place - START_PADDING[axis];"],
            Mode::Edge => {
                &["return Math.min(Math.max(place - START_PADDING[axis], 0), INPUT_SIZES[axis] - 1);"]
            }
            Mode::Reflection => &[
                "const period = Math.max(2 * (INPUT_SIZES[axis] - 1), 1);",
                "const folded = (((place - START_PADDING[axis]) % period) + period) % period;",
                "return Math.min(folded, period - folded);",
            ],
            Mode::Symmetric => &[
                "const period = 2 * INPUT_SIZES[axis];",
                "const folded = (((place - START_PADDING[axis]) % period) + period) % period;",
                "return Math.min(folded, period - 1 - folded);",
            ],
            Mode::Wrap => &[
                "const period = INPUT_SIZES[axis];",
                "return (((place - START_PADDING[axis]) % period) + period) % period;",
            ],
        },
    }
}

/// Writes the element.
fn copy(operation: &Operation) -> &'static [&'static str] {
    match operation {
        Operation::Padding1 { mode: Mode::Constant, .. } => &[
            "const isInside = from.every((place, axis) => place >= 0 && place < INPUT_SIZES[axis]);",
            "element(output, to, OUTPUT_STRIDES).set(isInside ? element(input, from, INPUT_STRIDES) : PADDING_VALUE);",
        ],
        _ => &["element(output, to, OUTPUT_STRIDES).set(element(input, from, INPUT_STRIDES));"],
    }
}
