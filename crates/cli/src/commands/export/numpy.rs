//! A case as a program in Python with NumPy alone.

use super::{
    ValidCase,
    data::{bits, decimal, numpy_bits, numpy_type, tuple},
    operation::{Mode, Operation, Walk},
    template::fill,
};

/// The program of a valid case.
pub(super) fn program(case: &ValidCase) -> String {
    let ValidCase { about, output, .. } = case;
    let note = if output.is_packed() {
        String::new()
    } else {
        let strides = tuple(&output.strides());
        format!(
            "\n# The case writes its output with these strides, in elements: {strides}. NumPy makes an array of its own."
        )
    };
    fill(
        include_str!("numpy.txt"),
        &[
            ("ABOUT", about.join("\n")),
            ("INPUT", input_array(case)),
            (
                "EXPECTED",
                format!("{}.reshape({})", output.numpy_array(&output.elements()), tuple(output.sizes())),
            ),
            ("NOTE", note),
            ("COMPUTE", compute(case)),
            ("BITS", numpy_bits(output.tensor.data_type)),
        ],
    )
}

/// The input, with its strides if it is not packed.
fn input_array(case: &ValidCase) -> String {
    let input = &case.input;
    let memory = input.numpy_array(&input.elements_of_memory());
    let sizes = tuple(input.sizes());
    if input.is_packed() {
        return format!("INPUT = {memory}.reshape({sizes})");
    }
    let strides = tuple(&input.strides());
    format!(
        "MEMORY = {memory}\n\
         STRIDES = {strides}  # in elements\n\
         INPUT = np.lib.stride_tricks.as_strided(MEMORY, {sizes}, [stride * MEMORY.itemsize for stride in STRIDES])"
    )
}

/// The output as NumPy computes it from `input`.
fn compute(case: &ValidCase) -> String {
    if let Some(walks) = case.operation.walks(case.output.sizes()) {
        let slices: Vec<String> = walks.iter().map(slice).collect();
        return format!("input[{}]", slices.join(", "));
    }
    let Operation::Padding1 { mode, value, start, end } = &case.operation else { return String::new() };
    let widths: Vec<String> = start.iter().zip(end).map(|(start, end)| format!("({start}, {end})")).collect();
    let widths = widths.join(", ");
    let data_type = case.input.tensor.data_type;
    match mode {
        Mode::Constant => {
            let value = &value[..case.input.element_size()];
            if let Some(number) = decimal(data_type, value) {
                return format!("np.pad(input, [{widths}], \"constant\", constant_values={number})");
            }
            // As bits, so that a NaN keeps its payload.
            let (types, name, value) = (numpy_bits(data_type), numpy_type(data_type), bits(value));
            format!(
                "np.pad(input.view({types}), [{widths}], \"constant\", constant_values={value}).view({name})"
            )
        }
        Mode::Edge => format!("np.pad(input, [{widths}], \"edge\")"),
        Mode::Reflection => format!("np.pad(input, [{widths}], \"reflect\")"),
        Mode::Symmetric => format!("np.pad(input, [{widths}], \"symmetric\")"),
        Mode::Wrap => format!("np.pad(input, [{widths}], \"wrap\")"),
    }
}

/// `start:stop:step`; without a stop if the slice walks down to the first element.
fn slice(walk: &Walk) -> String {
    let stop = if walk.stop < 0 { String::new() } else { walk.stop.to_string() };
    format!("{}:{stop}:{}", walk.start, walk.step)
}
