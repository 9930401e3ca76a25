//! A case as a test in Rust: a file for `rustc --test`.

use super::{
    ValidCase,
    operation::{Mode, Operation},
    template::{comment, fill, indented},
};

/// The program of a valid case.
pub(super) fn program(case: &ValidCase) -> String {
    let operation = &case.operation;
    let members = case.members(
        |name, list| format!("const {name}: [i64; RANK] = [{list}];"),
        |name, bytes| format!("const {name}: [u8; ELEMENT_SIZE] = [{bytes}];"),
    );
    let values = [
        ("MEMBERS", members),
        ("READ", indented(12, read(operation))),
        ("COPY", indented(8, copy(operation))),
    ];
    case.program(include_str!("rust.txt"), "//!", &values)
}

/// The program of an invalid case.
pub(super) fn refusal(about: &[String]) -> String {
    fill(include_str!("rust_refusal.txt"), &[("ABOUT", comment("//!", about))])
}

/// Sets `from[axis]` to the input coordinate that the output coordinate `to[axis]` reads.
fn read(operation: &Operation) -> &'static [&'static str] {
    match operation {
        Operation::Slice { .. } => &["from[axis] = OFFSETS[axis] + STRIDES[axis] * to[axis];"],
        Operation::Slice1 { .. } => &[
            "// A negative stride starts at the window's far end.",
            "let far = if INPUT_WINDOW_STRIDES[axis] < 0 { INPUT_WINDOW_SIZES[axis] - 1 } else { 0 };",
            "from[axis] = INPUT_WINDOW_OFFSETS[axis] + far + INPUT_WINDOW_STRIDES[axis] * to[axis];",
        ],
        Operation::Padding1 { mode, .. } => match mode {
            Mode::Constant => &["from[axis] = to[axis] - START_PADDING[axis];"],
            Mode::Edge => &["from[axis] = (to[axis] - START_PADDING[axis]).clamp(0, INPUT_SIZES[axis] - 1);"],
            Mode::Reflection => &[
                "let period = (2 * (INPUT_SIZES[axis] - 1)).max(1);",
                "let place = (to[axis] - START_PADDING[axis]).rem_euclid(period);",
                "from[axis] = place.min(period - place);",
            ],
            Mode::Symmetric => &[
                "let period = 2 * INPUT_SIZES[axis];",
                "let place = (to[axis] - START_PADDING[axis]).rem_euclid(period);",
                "from[axis] = place.min(period - 1 - place);",
            ],
            Mode::Wrap => &["from[axis] = (to[axis] - START_PADDING[axis]).rem_euclid(INPUT_SIZES[axis]);"],
        },
    }
}

/// Writes the element.
fn copy(operation: &Operation) -> &'static [&'static str] {
    match operation {
        Operation::Padding1 { mode: Mode::Constant, .. } => &[
            "let is_inside = (0..RANK).all(|axis| (0..INPUT_SIZES[axis]).contains(&from[axis]));",
            "let element = if is_inside { &input[bytes(&from, &INPUT_STRIDES)] } else { &PADDING_VALUE[..] };",
            "output[bytes(&to, &OUTPUT_STRIDES)].copy_from_slice(element);",
        ],
        _ => &[
            "let element = &input[bytes(&from, &INPUT_STRIDES)];",
            "output[bytes(&to, &OUTPUT_STRIDES)].copy_from_slice(element);",
        ],
    }
}
