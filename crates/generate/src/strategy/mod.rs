//! The strategies that expand a spec to cases, one per file. They use the spec's clauses, types and levels,
//! and know no operator by name.

pub(crate) mod boundary;
pub(crate) mod covering;
pub(crate) mod documented;
mod driver;
pub(crate) mod enclosed;
pub(crate) mod exhaustive;
pub(crate) mod large;
pub(crate) mod layout;
pub(crate) mod mutated;
pub(crate) mod negative;
pub(crate) mod neighbour;
pub(crate) mod random;
pub(crate) mod twins;
pub(crate) mod vectors;

use std::{collections::HashSet, sync::OnceLock};

use dmlcts_model::{Case, DataType, Fill, Side};

use crate::{Length, edit::offset_mut, fill, suite::FillForm};

/// A strategy for one part: a number of cases, and the case at each index.
pub(crate) trait Generator: Send + Sync {
    /// The number of cases. The first call may search.
    fn length(&self) -> Length;

    /// Writes the case at an index over `case`, reusing its memory. The index must be below the length.
    fn case(&self, index: u128, case: &mut Case);

    /// What the search left out.
    fn omitted(&self) -> Omitted {
        Omitted::default()
    }

    /// The counts of an exhaustive part; empty for others.
    fn rows(&self) -> Vec<Row> {
        Vec::new()
    }
}

/// What the search for the cases of a part left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Omitted {
    /// Whether the search ended at a limit before it saw every desc within the bounds.
    pub is_cut: bool,
    /// The number of combinations that the strategy looks for and that no case has.
    pub combinations: usize,
}

impl Omitted {
    /// What two searches left out.
    pub(crate) fn and(self, other: Self) -> Self {
        Self { is_cut: self.is_cut || other.is_cut, combinations: self.combinations + other.combinations }
    }
}

/// One line of an exhaustive count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The operator.
    pub operator: String,
    /// The values of its enumerations, such as `PaddingMode=EDGE`; empty if it has none.
    pub setting: String,
    /// The number of dimensions.
    pub rank: usize,
    /// The number of valid tuples of one axis.
    pub tuples: usize,
    /// The number of cases with these tuples, over all types and fills.
    pub cases: u128,
}

/// A strategy that searches its cases once and keeps them.
pub(crate) struct Searched<F> {
    search: F,
    found: OnceLock<SearchResult>,
}

/// The result of a search.
#[derive(Default)]
pub(crate) struct SearchResult {
    pub(crate) cases: Vec<Case>,
    pub(crate) omitted: Omitted,
    /// The lines of the cases that were added.
    lines: HashSet<String>,
}

impl SearchResult {
    /// Adds a case that was not added before.
    pub(crate) fn add(&mut self, case: Case) {
        if self.lines.insert(case.to_string()) {
            self.cases.push(case);
        }
    }

    /// Adds the cases that were not added before.
    pub(crate) fn add_all(&mut self, cases: impl IntoIterator<Item = Case>) {
        for case in cases {
            self.add(case);
        }
    }
}

impl<F: Fn() -> SearchResult + Send + Sync> Searched<F> {
    pub(crate) fn new(search: F) -> Self {
        Self { search, found: OnceLock::new() }
    }

    fn found(&self) -> &SearchResult {
        self.found.get_or_init(|| {
            let mut found = (self.search)();
            found.cases.iter_mut().for_each(align_offsets);
            found
        })
    }
}

/// Sets a binding offset to 0 if it is not aligned as the changed desc promises, because the behaviour of a
/// library with such a binding is undefined.
fn align_offsets(case: &mut Case) {
    for side in Side::BOTH {
        let offset = offset_mut(&mut case.binding, side);
        let alignment = case.desc.tensor(side).map_or(0, |tensor| u64::from(tensor.alignment));
        if alignment != 0 && !offset.is_multiple_of(alignment) {
            *offset = 0;
        }
    }
}

impl<F: Fn() -> SearchResult + Send + Sync> Generator for Searched<F> {
    fn length(&self) -> Length {
        Length::Finite(self.found().cases.len() as u128)
    }

    fn case(&self, index: u128, case: &mut Case) {
        if let Some(found) = self.found().cases.get(index as usize) {
            case.desc.clone_from(&found.desc);
            case.binding = found.binding;
            case.fill = found.fill.clone();
        }
    }

    fn omitted(&self) -> Omitted {
        self.found().omitted
    }
}

/// The fills of a form, for a data type and a number of elements.
pub(crate) fn fill_variants(form: FillForm, data_type: DataType, elements: u64, seed: u64) -> Vec<Fill> {
    match form {
        FillForm::Iota => vec![Fill::Iota],
        FillForm::Coordinates => {
            (0..fill::passes(data_type, elements)).map(|pass| Fill::Coordinates { pass }).collect()
        }
        FillForm::Random => vec![Fill::Random { seed }],
        FillForm::Special => vec![Fill::Special { seed }],
    }
}

#[cfg(test)]
mod tests {
    use dmlcts_model::BindingOffsets;
    use dmlcts_spec::Library;

    use super::*;

    #[test]
    fn a_binding_keeps_what_a_changed_desc_promises() {
        let library = Library::embedded();
        let text = "SLICE UINT8 in=4 out=4 InputTensor.GuaranteedBaseOffsetAlignment=4096 \
                    OutputTensor.GuaranteedBaseOffsetAlignment=64 Offsets=0 Sizes=4 Strides=1 \
                    InputBinding.Offset=320 OutputBinding.Offset=320 fill=iota";
        let mut case = dmlcts_model::line::parse(text, library.signatures()).expect("a case");
        align_offsets(&mut case);
        assert_eq!(case.binding, BindingOffsets { input: 0, output: 320 });
    }
}
