//! A case as a program in C11, which exits with 1 if the output is wrong.

use super::{
    ValidCase,
    operation::{Mode, Operation},
    template::{comment, fill, indented},
};

/// The program of a valid case.
pub(super) fn program(case: &ValidCase) -> String {
    let operation = &case.operation;
    let members = case.members(
        |name, list| format!("const int64_t {name}[RANK] = {{{list}}};"),
        |name, bytes| format!("const unsigned char {name}[ELEMENT_SIZE] = {{{bytes}}};"),
    );
    let values = [
        ("MEMBERS", members),
        ("BEFORE", before(operation).to_owned()),
        ("READ", indented(12, read(operation))),
        ("COPY", indented(8, copy(operation))),
    ];
    case.program(include_str!("c.txt"), "//", &values)
}

/// The program of an invalid case.
pub(super) fn refusal(about: &[String]) -> String {
    fill(include_str!("c_refusal.txt"), &[("ABOUT", comment("//", about))])
}

fn is_constant(operation: &Operation) -> bool {
    matches!(operation, Operation::Padding1 { mode: Mode::Constant, .. })
}

fn before(operation: &Operation) -> &'static str {
    if is_constant(operation) { "\n        int is_inside = 1;" } else { "" }
}

/// Sets `from[axis]` to the input coordinate that the output coordinate `to[axis]` reads.
fn read(operation: &Operation) -> &'static [&'static str] {
    match operation {
        Operation::Slice { .. } => &["from[axis] = OFFSETS[axis] + STRIDES[axis] * to[axis];"],
        Operation::Slice1 { .. } => &[
            "// A negative stride starts at the window's far end.",
            "int64_t far = INPUT_WINDOW_STRIDES[axis] < 0 ? INPUT_WINDOW_SIZES[axis] - 1 : 0;",
            "from[axis] = INPUT_WINDOW_OFFSETS[axis] + far + INPUT_WINDOW_STRIDES[axis] * to[axis];",
        ],
        Operation::Padding1 { mode, .. } => match mode {
            Mode::Constant => &[
                "from[axis] = to[axis] - START_PADDING[axis];",
                "is_inside = is_inside && from[axis] >= 0 && from[axis] < INPUT_SIZES[axis];",
            ],
            Mode::Edge => &[
                "int64_t last = INPUT_SIZES[axis] - 1, place = to[axis] - START_PADDING[axis];",
                "from[axis] = place < 0 ? 0 : place > last ? last : place;",
            ],
            Mode::Reflection => &[
                "int64_t period = INPUT_SIZES[axis] > 1 ? 2 * (INPUT_SIZES[axis] - 1) : 1;",
                "int64_t place = ((to[axis] - START_PADDING[axis]) % period + period) % period;",
                "from[axis] = place < period - place ? place : period - place;",
            ],
            Mode::Symmetric => &[
                "int64_t period = 2 * INPUT_SIZES[axis];",
                "int64_t place = ((to[axis] - START_PADDING[axis]) % period + period) % period;",
                "from[axis] = place < period - 1 - place ? place : period - 1 - place;",
            ],
            Mode::Wrap => &[
                "int64_t period = INPUT_SIZES[axis];",
                "from[axis] = ((to[axis] - START_PADDING[axis]) % period + period) % period;",
            ],
        },
    }
}

/// Writes the element.
fn copy(operation: &Operation) -> &'static [&'static str] {
    if is_constant(operation) {
        &[
            "const unsigned char *element = is_inside ? input + place(from, INPUT_STRIDES) : PADDING_VALUE;",
            "memcpy(output + place(to, OUTPUT_STRIDES), element, ELEMENT_SIZE);",
        ]
    } else {
        &["memcpy(output + place(to, OUTPUT_STRIDES), input + place(from, INPUT_STRIDES), ELEMENT_SIZE);"]
    }
}
