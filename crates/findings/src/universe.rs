//! The universe of a search: cases, whether each failed, and the values of all terms for each.

use dmlcts_model::Case;
use dmlcts_spec::{Scope, program::Values};

use crate::{parallel::in_parts, terms::Terms};

/// Cases of one operator, with the values of all terms.
pub(crate) struct Universe<'a> {
    pub(crate) terms: &'a Terms<'a>,
    /// The threads that compute values and conditions. Their number changes no result.
    pub(crate) threads: usize,
    cases: Vec<Case>,
    failed: Vec<bool>,
    columns: Vec<Column>,
    values: Values,
}

/// The values of a term for one case: one value, or eight.
#[derive(Clone, Copy)]
pub(crate) struct TermValues<'a> {
    pub(crate) values: &'a [i64],
    /// The lanes with a value.
    pub(crate) defined: u8,
    /// The lanes that the term has; 0 if its lists are missing or differ in length.
    pub(crate) of: u8,
}

/// The values of one term.
#[derive(Default)]
pub(crate) struct Column {
    /// One value a case, or eight.
    values: Vec<i64>,
    defined: Vec<u8>,
    of: Vec<u8>,
    is_axis: bool,
}

impl<'a> Universe<'a> {
    /// A universe without cases.
    pub(crate) fn new(terms: &'a Terms<'a>, threads: usize) -> Self {
        let column = |scope| Column { is_axis: scope == Scope::Axis, ..Column::default() };
        let columns = terms.words.iter().map(|word| column(word.scope)).collect();
        Self { terms, threads, cases: Vec::new(), failed: Vec::new(), columns, values: Values::default() }
    }

    /// Adds a case.
    pub(crate) fn push(&mut self, case: Case, failed: bool) {
        let Self { terms, columns, values, .. } = self;
        terms.evaluate(&case, values, |place, lanes| {
            let column = &mut columns[place];
            let count = if column.is_axis { 8 } else { 1 };
            column.values.extend_from_slice(&lanes.values[..count]);
            column.defined.push(lanes.defined);
            column.of.push(lanes.of);
        });
        self.cases.push(case);
        self.failed.push(failed);
    }

    /// Adds cases, with whether each failed.
    pub(crate) fn extend(&mut self, cases: &[(Case, bool)]) {
        let terms = self.terms;
        let parts = in_parts(cases, self.threads, |part| {
            let mut own = Universe::new(terms, 1);
            for (case, failed) in part {
                own.push(case.clone(), *failed);
            }
            own
        });
        for part in parts {
            self.cases.extend(part.cases);
            self.failed.extend(part.failed);
            for (column, new) in self.columns.iter_mut().zip(part.columns) {
                column.values.extend(new.values);
                column.defined.extend(new.defined);
                column.of.extend(new.of);
            }
        }
    }

    /// The universe of some of its cases.
    pub(crate) fn only(&self, cases: &[usize]) -> Self {
        let column = |column: &Column| {
            let count = if column.is_axis { 8 } else { 1 };
            let values = cases.iter().flat_map(|case| &column.values[case * count..][..count]);
            Column {
                values: values.copied().collect(),
                defined: cases.iter().map(|case| column.defined[*case]).collect(),
                of: cases.iter().map(|case| column.of[*case]).collect(),
                is_axis: column.is_axis,
            }
        };
        Self {
            terms: self.terms,
            threads: self.threads,
            cases: cases.iter().map(|case| self.cases[*case].clone()).collect(),
            failed: cases.iter().map(|case| self.failed[*case]).collect(),
            columns: self.columns.iter().map(column).collect(),
            values: Values::default(),
        }
    }

    /// Puts a failure in the place of a case.
    pub(crate) fn replace_by_failure(&mut self, index: usize, case: Case) {
        let Self { terms, columns, values, .. } = self;
        terms.evaluate(&case, values, |place, lanes| {
            let column = &mut columns[place];
            let count = if column.is_axis { 8 } else { 1 };
            column.values[index * count..][..count].copy_from_slice(&lanes.values[..count]);
            column.defined[index] = lanes.defined;
            column.of[index] = lanes.of;
        });
        self.cases[index] = case;
        self.failed[index] = true;
    }

    /// The number of cases.
    pub(crate) fn len(&self) -> usize {
        self.cases.len()
    }

    /// The case with this index.
    pub(crate) fn case(&self, index: usize) -> &Case {
        &self.cases[index]
    }

    /// Every case.
    pub(crate) fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// The cases, and whether each failed.
    pub(crate) fn into_labels(self) -> (Vec<Case>, Vec<bool>) {
        (self.cases, self.failed)
    }

    /// Whether the case with this index failed.
    pub(crate) fn is_failure(&self, index: usize) -> bool {
        self.failed[index]
    }

    /// The indices of the cases that failed, or of those that passed.
    pub(crate) fn of_outcome(&self, failed: bool) -> Vec<usize> {
        (0..self.len()).filter(|index| self.failed[*index] == failed).collect()
    }

    /// The values of a term.
    pub(crate) fn column(&self, term: usize) -> &Column {
        &self.columns[term]
    }
}

impl Column {
    /// The values for a case.
    #[inline]
    pub(crate) fn lanes(&self, case: usize) -> TermValues<'_> {
        let values =
            if self.is_axis { &self.values[case * 8..case * 8 + 8] } else { &self.values[case..=case] };
        TermValues { values, defined: self.defined[case], of: self.of[case] }
    }
}
