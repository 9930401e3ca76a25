//! The outputs of a case before and after a change, beside the expected one.

use std::io::{self, Write};

use dmlcts_model::{Case, List, Side, coordinates_of, element_count, element_to_text};

use crate::{Layout, Style, brackets, failure::EXPLAINED, numbers::grouped};

/// The maximum number of elements that are compared.
const MOST_ELEMENTS: u128 = 1 << 16;

/// The memory of a tensor, or in words why there is none.
pub(crate) type Held = Result<Vec<u8>, String>;

/// The outputs of a case. Each is the memory of a tensor, or in words why there is none.
#[derive(Clone, Debug)]
pub struct CaseOutputs {
    /// The case.
    pub case: Case,
    /// The memory of `InputTensor`.
    pub input: Held,
    /// The memory of `OutputTensor` as it should be.
    pub expected: Held,
    /// The memory that the old snapshot's run gave.
    pub old: Held,
    /// The memory that the new snapshot's run gave.
    pub new: Held,
}

/// A tensor beside the others.
pub(crate) struct Shown<'a> {
    pub(crate) name: &'static str,
    pub(crate) side: Side,
    pub(crate) held: &'a Held,
    /// The coordinates of the elements that are wrong; in the expected output, of those of either output.
    pub(crate) marked: Vec<List>,
}

impl CaseOutputs {
    /// The number of tensors that are left out: without an output, the input and the expected output say
    /// nothing about the change.
    pub(crate) fn left_out(&self) -> usize {
        if self.old.is_err() && self.new.is_err() { 2 } else { 0 }
    }

    /// The tensors, from left to right on a page.
    pub(crate) fn tensors(&self) -> [Shown<'_>; 4] {
        let (old, new) = (self.wrong(&self.old), self.wrong(&self.new));
        let mut any = [old.clone(), new.clone()].concat();
        any.sort();
        any.dedup();
        [
            Shown { name: "input", side: Side::Input, held: &self.input, marked: Vec::new() },
            Shown { name: "expected", side: Side::Output, held: &self.expected, marked: any },
            Shown { name: "old", side: Side::Output, held: &self.old, marked: old },
            Shown { name: "new", side: Side::Output, held: &self.new, marked: new },
        ]
    }

    /// The coordinates at which an output is not the expected one.
    fn wrong(&self, actual: &Held) -> Vec<List> {
        let (Some(tensor), Ok(expected), Ok(actual)) = (&self.case.desc.output, &self.expected, actual)
        else {
            return Vec::new();
        };
        let sizes = tensor.sizes.as_deref().unwrap_or_default();
        let layout = |memory| Layout { name: "", remark: "", tensor, memory, marked: &[], focus: None };
        let (expected, actual) = (layout(expected), layout(actual));
        let all =
            (0..element_count(sizes).min(MOST_ELEMENTS) as u64).map(|index| coordinates_of(index, sizes));
        all.filter(|place| expected.element(place) != actual.element(place)).collect()
    }

    /// The first wrong elements of `tensors` in words, and the number of the others.
    pub(crate) fn sentences(&self, [_, outputs @ ..]: &[Shown<'_>; 4]) -> Vec<String> {
        let Some(tensor) = &self.case.desc.output else { return Vec::new() };
        let wrong = &outputs[0].marked;
        let mut all: Vec<String> = Vec::new();
        for place in wrong.iter().take(EXPLAINED) {
            let value = |one: &Shown<'_>| {
                let memory = one.held.as_deref().ok()?;
                let layout = Layout { name: "", remark: "", tensor, memory, marked: &[], focus: None };
                let element = layout.element(place)?;
                Some(format!("{} {}", one.name, element_to_text(tensor.data_type, element)))
            };
            let values: Vec<String> = outputs.iter().filter_map(value).collect();
            all.push(format!("Output{}: {}", brackets(place), values.join(", ")));
        }
        let more = wrong.len().saturating_sub(EXPLAINED) as u64;
        if more > 0 {
            all.push(format!("and {} more elements differ from the expected ones", grouped(more)));
        }
        all
    }

    /// Writes the tensors as a report of a run has them. Every line starts with `indent`.
    pub fn write(&self, out: &mut dyn Write, indent: &str, style: Style) -> io::Result<()> {
        writeln!(out, "{indent}{}", self.case)?;
        let all = self.tensors();
        let focus = all[1].marked.first().map(List::as_slice);
        for Shown { name, side, held, marked } in all.iter().skip(self.left_out()) {
            let (member, remark) = (side.member_name(), if *side == Side::Input { "" } else { name });
            match (self.case.desc.tensor(*side), held) {
                (Some(tensor), Ok(memory)) => {
                    let focus = focus.filter(|_| *side == Side::Output);
                    Layout { name: member, remark, tensor, memory, marked, focus }
                        .write(out, indent, style)?;
                }
                (_, Err(why)) => writeln!(out, "{indent}{member}, {name}: {why}")?,
                (None, Ok(_)) => {}
            }
        }
        self.sentences(&all).iter().try_for_each(|sentence| writeln!(out, "{indent}{sentence}"))
    }
}
