//! Cases from bytes. Random descs are nearly never valid, and comparing refusals only would test half of the
//! suite: so a case is built to be valid, from values that small sizes keep close to every edge, and then, half
//! of the time, spoilt.

use std::sync::Arc;

use arbitrary::{Result, Unstructured};
use dmlcts_model::{BindingOffsets, Case, DataType, Desc, Fill, List, Signature, Tensor, Value};
use dmlcts_spec::Library;

use crate::mutate::mutate;

/// A case of one of the embedded operators.
pub fn arbitrary_case(bytes: &mut Unstructured<'_>) -> Result<Case> {
    let operators = Library::embedded().operators();
    let signature = bytes.choose(operators)?.signature();
    let mut case = Case {
        desc: Box::new(valid_desc(signature, bytes)?),
        binding: BindingOffsets::default(),
        fill: match bytes.int_in_range(0..=3)? {
            0 => Fill::Iota,
            1 => Fill::Random { seed: bytes.arbitrary()? },
            2 => Fill::Special { seed: bytes.arbitrary()? },
            _ => Fill::Coordinates { pass: 0 },
        },
    };
    let spoilt = if bytes.ratio(1, 2)? { bytes.int_in_range(1..=3)? } else { 0 };
    for _ in 0..spoilt {
        mutate(&mut case, bytes)?;
    }
    Ok(case)
}

/// What is chosen for one axis.
struct Axis {
    input: i64,
    output: i64,
    /// The operator's own values, in the order of its list members.
    members: [i64; 3],
}

fn valid_desc(signature: &Arc<Signature>, bytes: &mut Unstructured<'_>) -> Result<Desc> {
    let types: Vec<DataType> =
        DataType::all().filter(|data_type| data_type.element_size().is_some()).collect();
    let data_type = *bytes.choose(&types)?;
    let rank = *bytes.choose(&[1, 1, 2, 2, 3, 4, 5, 8])?;
    let mut axes = Vec::with_capacity(rank);
    for _ in 0..rank {
        axes.push(axis(&signature.operator, bytes)?);
    }
    let list = |value: &dyn Fn(&Axis) -> i64| axes.iter().map(value).collect::<List>();
    let mut input = Tensor::packed(data_type, list(&|axis| axis.input));
    let mut output = Tensor::packed(data_type, list(&|axis| axis.output));
    stride(&mut input, true, bytes)?;
    stride(&mut output, false, bytes)?;

    let mut desc = Desc::usual(Arc::clone(signature), input, output);
    let lists: Vec<usize> =
        (0..signature.members.len()).filter(|&place| signature.members[place].kind.is_list()).collect();
    for (which, place) in lists.into_iter().enumerate() {
        desc.members[place] =
            Value::List(Some(list(&|axis| axis.members.get(which).copied().unwrap_or_default())));
    }
    if let Some(mode) = signature.position("PaddingMode") {
        desc.members[mode] = Value::Integer(bytes.int_in_range(0..=4)?);
    }
    if let (Some(value), Some(size)) = (signature.position("PaddingValue"), data_type.element_size()) {
        let mut scalar = [0; 8];
        bytes.fill_buffer(&mut scalar[..size])?;
        desc.members[value] = Value::Scalar(scalar);
    }
    Ok(desc)
}

/// Values that satisfy what the operator's page asks of one axis.
fn axis(operator: &str, bytes: &mut Unstructured<'_>) -> Result<Axis> {
    let input = bytes.int_in_range(1..=6)?;
    Ok(match operator {
        "SLICE" => {
            let offset = bytes.int_in_range(0..=input - 1)?;
            let stride = bytes.int_in_range(1..=4)?;
            let output = bytes.int_in_range(1..=1 + (input - 1 - offset) / stride)?;
            Axis { input, output, members: [offset, output, stride] }
        }
        "SLICE1" => {
            let offset = bytes.int_in_range(0..=input - 1)?;
            let window = bytes.int_in_range(1..=input - offset)?;
            let magnitude = bytes.int_in_range(1..=4)?;
            let output = bytes.int_in_range(1..=1 + (window - 1) / magnitude)?;
            let stride = if bytes.arbitrary()? { magnitude } else { -magnitude };
            Axis { input, output, members: [offset, window, stride] }
        }
        _ => {
            let start = bytes.int_in_range(0..=4)?;
            let end = bytes.int_in_range(0..=4)?;
            Axis { input, output: start + input + end, members: [start, end, 0] }
        }
    })
}

/// Leaves a tensor packed, or gives it strides: padded and permuted ones, and for inputs broadcast ones.
fn stride(tensor: &mut Tensor, is_input: bool, bytes: &mut Unstructured<'_>) -> Result<()> {
    let Some(sizes) = tensor.sizes.clone() else { return Ok(()) };
    if bytes.ratio(2, 3)? {
        return Ok(());
    }
    // From the innermost axis outwards in any order, each steps over what the ones before reach.
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    let mut strides = List::from_elem(0, sizes.len());
    let mut reach = 1;
    while !order.is_empty() {
        let axis = order.swap_remove(bytes.choose_index(order.len())?);
        if is_input && bytes.ratio(1, 4)? {
            continue;
        }
        strides[axis] = reach + bytes.int_in_range(0..=2)?;
        reach += (sizes[axis] - 1) * strides[axis];
    }
    tensor.strides = Some(strides);
    tensor.total_size = tensor.usual_total_size();
    Ok(())
}
