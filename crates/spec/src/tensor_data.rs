//! The bytes of a packed tensor whose elements a YAML file states: those of examples and of test vectors.

use dmlcts_model::{Tensor, element_from_text};

use crate::{Diagnostic, form::TensorForm, yaml::Place};

/// The bytes of a packed tensor. Mistakes are added to `wrong`, at places below `place`.
pub fn tensor_bytes(
    form: &TensorForm,
    tensor: &Tensor,
    place: Place<'_>,
    wrong: &mut Vec<Diagnostic>,
) -> Option<Vec<u8>> {
    match (&form.rows, &form.hex) {
        (Some(rows), None) => of_rows(rows, tensor, place.key("rows"), wrong),
        (None, Some(text)) => of_hex(text, tensor, place.key("hex"), wrong),
        _ => {
            let message = "a tensor has either `rows` or `hex`";
            wrong.push(place.mistake(message, "not one of the two"));
            None
        }
    }
}

/// The sizes and the element size of a tensor that can be laid out.
fn packed<'a>(
    tensor: &'a Tensor,
    place: Place<'_>,
    wrong: &mut Vec<Diagnostic>,
) -> Option<(&'a [i64], usize)> {
    let (Some(sizes), Some(element_size), None) =
        (&tensor.sizes, tensor.data_type.element_size(), &tensor.strides)
    else {
        let message = "a tensor with elements is packed, and its elements are whole bytes";
        wrong.push(place.mistake(message, "cannot be laid out"));
        return None;
    };
    Some((sizes, element_size))
}

fn of_hex(text: &str, tensor: &Tensor, place: Place<'_>, wrong: &mut Vec<Diagnostic>) -> Option<Vec<u8>> {
    let (sizes, element_size) = packed(tensor, place, wrong)?;
    let digits: Vec<char> = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    let byte = |pair: &[char]| {
        let [high, low] = pair else { return None };
        u8::try_from(high.to_digit(16)? << 4 | low.to_digit(16)?).ok()
    };
    let Some(bytes) = digits.chunks(2).map(byte).collect::<Option<Vec<u8>>>() else {
        wrong.push(place.mistake("a byte is two hex digits", "expected pairs of 0 to 9 and a to f"));
        return None;
    };
    let elements = sizes.iter().fold(1, |count: i128, &size| count.saturating_mul(i128::from(size)));
    let wanted = elements.saturating_mul(element_size as i128);
    if i128::try_from(bytes.len()) != Ok(wanted) {
        let message = format!("the tensor has {} bytes, and its sizes make {wanted}", bytes.len());
        wrong.push(place.mistake(message, ""));
        return None;
    }
    Some(bytes)
}

fn of_rows(
    form: &[Vec<serde_json::Number>],
    tensor: &Tensor,
    place: Place<'_>,
    wrong: &mut Vec<Diagnostic>,
) -> Option<Vec<u8>> {
    let before = wrong.len();
    let (sizes, element_size) = packed(tensor, place, wrong)?;
    let (width, outer) = sizes.split_last()?;
    let rows: i128 = outer.iter().fold(1, |count: i128, &size| count.saturating_mul(i128::from(size)));
    if i128::try_from(form.len()) != Ok(rows) {
        let message = format!("the tensor has {} rows, and its sizes make {rows}", form.len());
        let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
        wrong.push(place.mistake(message, format!("its sizes are {}", sizes.join(", "))));
    }
    let mut bytes = Vec::new();
    for (index, row) in form.iter().enumerate() {
        let place = place.index(index);
        if i64::try_from(row.len()) != Ok(*width) {
            let message = format!("the row has {} elements, and the innermost size is {width}", row.len());
            wrong.push(place.mistake(message, format!("expected {width} elements")));
        }
        for (index, number) in row.iter().enumerate() {
            match element_from_text(tensor.data_type, &number.to_string()) {
                Ok(element) => bytes.extend_from_slice(&element[..element_size]),
                Err(error) => wrong.push(place.index(index).mistake(error.to_string(), "")),
            }
        }
    }
    (wrong.len() == before).then_some(bytes)
}
