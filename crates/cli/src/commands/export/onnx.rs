//! A case as a model of ONNX with its data: a program in Python writes the files.

use dmlcts_model::DataType;

use super::{
    ValidCase,
    data::{bits, decimal, list, numpy_bits, numpy_type, tuple},
    operation::{Mode, Operation, Walk},
    template::fill,
};

/// ONNX counts a negative end from the end of the axis. The least end means before the first element.
const BEFORE_ALL: i64 = -(1 << 31);

/// A model of one node.
struct Model {
    operator: &'static str,
    /// The attributes, as arguments of a call in Python.
    attributes: String,
    /// The constants behind the input, as the entries of a dictionary in Python.
    constants: Vec<(&'static str, String)>,
}

/// The program of a valid case, or the reason why ONNX cannot express it.
pub(super) fn program(case: &ValidCase) -> Result<String, String> {
    let ValidCase { about, input, output, .. } = case;
    for (name, data) in [("input", input), ("output", output)] {
        if !data.is_packed() {
            return Err(format!("its tensors have no strides, and the {name} has"));
        }
    }
    let Model { operator, attributes, constants } = model(case)?;
    let constants: Vec<String> =
        constants.iter().map(|(name, value)| format!("    \"{name}\": {value},")).collect();
    Ok(fill(
        include_str!("onnx.txt"),
        &[
            ("ABOUT", about.join("\n")),
            ("INPUT", input.numpy_array(&input.elements())),
            ("INPUT_SIZES", tuple(input.sizes())),
            ("EXPECTED", output.numpy_array(&output.elements())),
            ("OUTPUT_SIZES", tuple(output.sizes())),
            ("CONSTANTS", constants.join("\n")),
            ("OPERATOR", operator.to_owned()),
            ("ATTRIBUTES", attributes),
            ("BITS", numpy_bits(output.tensor.data_type)),
        ],
    ))
}

fn model(case: &ValidCase) -> Result<Model, String> {
    if let Some(walks) = case.operation.walks(case.output.sizes()) {
        return Ok(slice(&walks));
    }
    let Operation::Padding1 { mode, value, start, end } = &case.operation else {
        return Err("it has no such operator".to_owned());
    };
    let name = match mode {
        Mode::Constant => "constant",
        Mode::Edge => "edge",
        Mode::Reflection => "reflect",
        Mode::Symmetric => return Err("Pad has no mode SYMMETRIC".to_owned()),
        Mode::Wrap => "wrap",
    };
    let sizes = case.input.sizes();
    let is_whole = |axis: usize| start[axis].max(end[axis]) >= sizes[axis];
    if *mode == Mode::Reflection && (0..sizes.len()).any(is_whole) {
        return Err("Pad reflects less than a whole axis".to_owned());
    }
    let mut constants = vec![("pads", int64(&[start.as_slice(), end.as_slice()].concat()))];
    if *mode == Mode::Constant {
        let value = &value[..case.input.element_size()];
        constants.push(("value", scalar(case.input.tensor.data_type, value)));
    }
    Ok(Model { operator: "Pad", attributes: format!(", mode=\"{name}\""), constants })
}

fn slice(walks: &[Walk]) -> Model {
    let stop = |walk: &Walk| if walk.stop < 0 { BEFORE_ALL } else { walk.stop };
    let of_each = |value: &dyn Fn(&Walk) -> i64| int64(&walks.iter().map(value).collect::<Vec<_>>());
    let axes: Vec<i64> = (0..walks.len() as i64).collect();
    Model {
        operator: "Slice",
        attributes: String::new(),
        constants: vec![
            ("starts", of_each(&|walk| walk.start)),
            ("ends", of_each(&stop)),
            ("axes", int64(&axes)),
            ("steps", of_each(&|walk| walk.step)),
        ],
    }
}

/// An array of NumPy without axes.
fn scalar(data_type: DataType, element: &[u8]) -> String {
    let name = numpy_type(data_type);
    match decimal(data_type, element) {
        Some(number) => format!("np.array({number}, {name})"),
        None => format!("np.array({}, {}).view({name})", bits(element), numpy_bits(data_type)),
    }
}

fn int64(values: &[i64]) -> String {
    format!("np.array([{}], np.int64)", list(values))
}
