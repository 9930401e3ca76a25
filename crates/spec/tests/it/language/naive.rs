//! A naive interpreter, for comparison: it walks the parsed tree, one lane at a time, in 128 bits, as the
//! language's documentation says. It is plain rather than fast.

use std::cell::Cell;

use dmlcts_model::{DataType, Desc, Side, Tensor, Value};
use dmlcts_spec::{
    expression::{Binary, Expression, Form, Function, Logic, Quantifier},
    program::find_overlap,
};

/// The inputs of an evaluation.
pub(crate) struct Environment<'a> {
    pub(crate) desc: &'a Desc,
    pub(crate) level: u32,
    /// The output coordinate.
    pub(crate) c: i64,
    /// Set if a value exceeds 128 bits. Values computed from it are not compared.
    pub(crate) passed: Cell<bool>,
}

/// Conditions are 0 and 1. `None` is undefined.
type Outcome = Option<i128>;

impl Environment<'_> {
    /// The result of an operation that checks for overflow; any value if it overflows.
    #[expect(clippy::unnecessary_wraps, reason = "reads as one of the outcomes that it is among")]
    fn held(&self, value: Option<i128>) -> Outcome {
        self.passed.set(self.passed.get() || value.is_none());
        Some(value.unwrap_or(0))
    }

    pub(crate) fn value(&self, expression: &Expression, lane: usize) -> Outcome {
        let of = |expression: &Expression| self.value(expression, lane);
        match &expression.form {
            Form::Integer(value) => Some(*value),
            Form::Power(base, exponent) => Some(base.pow(*exponent)),
            Form::Level(level) => Some(i128::from(level.code())),
            Form::Fill => None,
            Form::Name(name) => self.name(name, lane),
            Form::Negate(a) => self.held(of(a)?.checked_neg()),
            Form::Not(a) => Some(1 - of(a)?),
            Form::Binary(binary, pair) => self.arithmetic(*binary, of(&pair[0])?, of(&pair[1])?),
            Form::Compare(first, rest) => {
                let mut left = first.as_ref();
                let mut links = Vec::new();
                for (comparison, right) in rest {
                    let pair = of(left).zip(of(right));
                    links.push(pair.map(|(a, b)| match comparison.symbol() {
                        "==" => a == b,
                        "!=" => a != b,
                        "<" => a < b,
                        "<=" => a <= b,
                        ">" => a > b,
                        _ => a >= b,
                    }));
                    left = right;
                }
                every(&links)
            }
            Form::In(a, members) => {
                let a = of(a);
                let hits: Vec<_> =
                    members.iter().map(|member| a.zip(of(member)).map(|(a, b)| a == b)).collect();
                some(&hits)
            }
            Form::Logic(logic, pair) => {
                let pair: Vec<_> = pair.iter().map(|part| of(part).map(|value| value == 1)).collect();
                if *logic == Logic::And { every(&pair) } else { some(&pair) }
            }
            Form::If(parts) => of(&parts[if of(&parts[0])? == 1 { 1 } else { 2 }]),
            Form::Call(function, arguments) => self.call(*function, arguments, lane),
            Form::Over(quantifier, a) => self.over(*quantifier, a),
        }
    }

    /// The number of axes of an expression's value: its lists must be present and have equal lengths.
    pub(crate) fn lanes(&self, expression: &Expression) -> Option<usize> {
        let mut names = Vec::new();
        axis_names(expression, &mut names);
        let mut lengths = names.into_iter().map(|name| self.list(name).map(|list| list.len()));
        let first = lengths.next()?;
        let agreed = lengths.all(|length| length == first);
        first.filter(|length| agreed && *length <= 8)
    }

    fn arithmetic(&self, binary: Binary, a: i128, b: i128) -> Outcome {
        // Computed from the truncated quotient, while the programs use the remainder.
        let floor = |a: i128, b: i128| {
            let quotient = self.held(a.checked_div(b))?;
            let exact = quotient.checked_mul(b) == Some(a);
            Some(if !exact && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
        };
        let divides = matches!(binary, Binary::Divide | Binary::Modulo | Binary::Align);
        if divides && b == 0 {
            return None;
        }
        let magnitude = self.held(b.checked_abs())?;
        match binary {
            Binary::Add => self.held(a.checked_add(b)),
            Binary::Subtract => self.held(a.checked_sub(b)),
            Binary::Multiply => self.held(a.checked_mul(b)),
            Binary::Divide => floor(a, b),
            Binary::Modulo => {
                let below = self.held(floor(a, magnitude)?.checked_mul(magnitude))?;
                self.held(a.checked_sub(below))
            }
            Binary::Minimum => Some(if a < b { a } else { b }),
            Binary::Maximum => Some(if a < b { b } else { a }),
            Binary::Align => {
                let below = self.held(floor(a, magnitude)?.checked_mul(magnitude))?;
                if below == a { Some(a) } else { self.held(below.checked_add(magnitude)) }
            }
        }
    }

    fn over(&self, quantifier: Quantifier, a: &Expression) -> Outcome {
        let lanes = self.lanes(a)?;
        let values: Vec<Outcome> = (0..lanes).map(|lane| self.value(a, lane)).collect();
        let conditions = || values.iter().map(|value| value.map(|value| value == 1)).collect::<Vec<_>>();
        match quantifier {
            Quantifier::Any => some(&conditions()),
            Quantifier::All => every(&conditions()),
            Quantifier::Sum => {
                values.into_iter().try_fold(0i128, |sum, value| self.held(sum.checked_add(value?)))
            }
            Quantifier::Product => {
                values.into_iter().try_fold(1i128, |product, value| self.held(product.checked_mul(value?)))
            }
        }
    }

    fn call(&self, function: Function, arguments: &[Expression], lane: usize) -> Outcome {
        let of = |index: usize| self.value(&arguments[index], lane);
        let Form::Name(name) = &arguments[0].form else {
            return match function {
                Function::Absolute => self.held(of(0)?.checked_abs()),
                _ => Some(of(0)?.max(of(1)?).min(of(2)?)),
            };
        };
        match function {
            Function::Absolute => self.held(of(0)?.checked_abs()),
            Function::Clamp => Some(of(0)?.max(of(1)?).min(of(2)?)),
            Function::Length => self.list(name).map(|list| list.len() as i128),
            Function::Present => match name.split_once('.') {
                None if name.ends_with("Tensor") => Some(i128::from(self.tensor(name).is_some())),
                None => Some(i128::from(self.desc.list(name).is_some())),
                Some((tensor, "Sizes")) => Some(i128::from(self.tensor(tensor)?.sizes.is_some())),
                Some((tensor, _)) => Some(i128::from(self.tensor(tensor)?.strides.is_some())),
            },
            Function::Spare => {
                let used = self.tensor("OutputTensor")?.data_type.element_size()?;
                let position = self.desc.signature.position(name)?;
                let Value::Scalar(bytes) = &self.desc.members[position] else { return None };
                let mut whole = [0; 16];
                whole[..8 - used].copy_from_slice(&bytes[used..]);
                Some(i128::from_le_bytes(whole))
            }
            // Predicates over cases alone have them.
            Function::Moves
            | Function::Pads
            | Function::Next
            | Function::Previous
            | Function::First
            | Function::Last
            | Function::Opposite
            | Function::Later => None,
            Function::Code => self.name(name, lane),
            Function::Size => {
                let code = u32::try_from(self.name(name, lane)?).ok()?;
                DataType(code).element_size().map(|size| size as i128)
            }
            Function::Overlaps | Function::Unsettled => {
                let tensor = self.tensor(name)?;
                let found = find_overlap(tensor.sizes.as_deref()?, tensor.strides.as_deref())?;
                let is_unsettled = Some(found.is_unsettled());
                let truth = if function == Function::Overlaps { found.is_somewhere() } else { is_unsettled };
                truth.map(i128::from)
            }
        }
    }

    fn tensor(&self, name: &str) -> Option<&Tensor> {
        self.desc.tensor(if name == "InputTensor" { Side::Input } else { Side::Output })
    }

    fn list(&self, name: &str) -> Option<Vec<i128>> {
        let widen = |list: &[i64]| list.iter().copied().map(i128::from).collect();
        let Some((tensor, field)) = name.split_once('.') else {
            return self.desc.list(name).map(widen);
        };
        let tensor = self.tensor(tensor)?;
        let sizes: Option<Vec<i128>> = tensor.sizes.as_deref().map(widen);
        if field == "Sizes" {
            return sizes;
        }
        tensor.strides.as_deref().map(widen).or_else(|| {
            let sizes = sizes?;
            let packed = |axis: usize| {
                sizes[axis + 1..].iter().rev().fold(1i128, |all, size| all.saturating_mul(*size))
            };
            Some((0..sizes.len()).map(packed).collect())
        })
    }

    fn name(&self, name: &str, lane: usize) -> Outcome {
        if let Some(constant) = constant(name) {
            return Some(constant);
        }
        match name {
            "axis" => return Some(lane as i128),
            "rank" => return self.list("InputTensor.Sizes").map(|list| list.len() as i128),
            "level" => return Some(i128::from(self.level)),
            "c" => return Some(i128::from(self.c)),
            "magnitude" => return self.name("WindowStrides", lane).map(i128::saturating_abs),
            "at" => return Some(i128::from(self.c) - self.name("Offsets", lane)?),
            "half" => return self.arithmetic(Binary::Divide, self.name("Limit", lane)?, 2),
            _ => {}
        }
        if is_list(name) {
            // A list of more than eight values has no axes.
            return self.list(name).filter(|list| list.len() <= 8)?.get(lane).copied();
        }
        let Some((tensor, field)) = name.split_once('.') else {
            return match self.desc.member(name)? {
                Value::Integer(value) => Some(i128::from(*value)),
                _ => None,
            };
        };
        let tensor = self.tensor(tensor)?;
        Some(match field {
            "DataType" => i128::from(tensor.data_type.0),
            "DimensionCount" => i128::from(tensor.dimension_count),
            "Flags" => i128::from(tensor.flags),
            "TotalTensorSizeInBytes" => i128::from(tensor.total_size),
            "GuaranteedBaseOffsetAlignment" => i128::from(tensor.alignment),
            _ => tensor.data_type.element_size()? as i128,
        })
    }
}

fn constant(name: &str) -> Option<i128> {
    let mode = super::fixture::mode().value(name).map(i128::from);
    mode.or_else(|| DataType::from_name(name).map(|kind| i128::from(kind.0)))
}

fn is_list(name: &str) -> bool {
    name.ends_with(".Sizes") || name.ends_with(".Strides") || ["Offsets", "WindowStrides"].contains(&name)
}

fn axis_names<'a>(expression: &'a Expression, names: &mut Vec<&'a str>) {
    match &expression.form {
        Form::Name(name) if is_list(name) => names.push(name),
        Form::Name(name) if name == "axis" => names.push("InputTensor.Sizes"),
        Form::Name(name) if name == "magnitude" => names.push("WindowStrides"),
        Form::Name(name) if name == "at" => names.push("Offsets"),
        Form::Over(..) | Form::Call(Function::Length | Function::Present, _) => {}
        form => form.for_each(|part| axis_names(part, names)),
    }
}

fn every(conditions: &[Option<bool>]) -> Outcome {
    if conditions.contains(&Some(false)) {
        return Some(0);
    }
    if conditions.contains(&None) { None } else { Some(1) }
}

fn some(conditions: &[Option<bool>]) -> Outcome {
    if conditions.contains(&Some(true)) {
        return Some(1);
    }
    if conditions.contains(&None) { None } else { Some(0) }
}
