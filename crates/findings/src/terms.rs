//! Terms: the words of a vocabulary that an operator's expressions may use, compiled into one program. So all
//! of them are computed once for each case, and an atom only compares numbers.

use std::sync::Arc;

use dmlcts_model::{Case, Enumeration, Enumerator, FeatureLevel};
use dmlcts_spec::{
    Operator, Scope,
    expression::{CaseNames, Term, TermKind, parse},
    program::{Builder, Inputs, OpId, Program, Values},
};

use crate::vocabulary::{ValueKind, Word, words};

/// The compiled vocabulary of an operator.
#[derive(Debug)]
pub(crate) struct Terms<'lib> {
    pub(crate) operator: &'lib Operator,
    pub(crate) level: FeatureLevel,
    pub(crate) words: Vec<Word>,
    program: Program,
    roots: Vec<OpId>,
}

/// The values of a term for one case: one lane, or one for each axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lanes {
    pub(crate) values: [i64; 8],
    /// The lanes with a value.
    pub(crate) defined: u8,
    /// The lanes that the term has; 0 if its lists are missing or differ in length.
    pub(crate) of: u8,
}

impl<'lib> Terms<'lib> {
    /// Compiles the vocabulary of an operator. Words that do not compile are dropped.
    pub(crate) fn new(operator: &'lib Operator, level: FeatureLevel) -> Self {
        let mut builder = Builder::new(Arc::clone(operator.signature()));
        let (mut kept, mut roots) = (Vec::new(), Vec::new());
        for word in words(operator) {
            if let Some(term) = checked(operator, &word) {
                roots.push(builder.add(&term));
                kept.push(word);
            }
        }
        Self { operator, level, words: kept, program: builder.finish(), roots }
    }

    /// Calls `visit` with the values of each term for a case.
    pub(crate) fn evaluate(&self, case: &Case, values: &mut Values, mut visit: impl FnMut(usize, Lanes)) {
        let judged = self.operator.judged(&case.desc, self.level, values);
        let data = self.operator.data(case, self.level, judged.validity, values);
        let inputs = Inputs { judged: Some(judged), data, ..Inputs::of_case(case, self.level) };
        let evaluation = self.program.evaluate(inputs, values);
        for (place, (root, word)) in self.roots.iter().zip(&self.words).enumerate() {
            let of = evaluation.lane_mask(*root);
            let mask = evaluation.mask(*root);
            let mut lanes = Lanes { values: [0; 8], defined: mask.defined & of, of };
            if matches!(word.kind, ValueKind::Violation(_)) {
                // Its own value is undefined if there are several names.
                let names = judged.names.bits() as i64 & i64::MAX;
                lanes = Lanes { values: [names; 8], defined: u8::from(names != 0), of: 1 };
            } else if word.kind == ValueKind::Condition {
                lanes.values = std::array::from_fn(|lane| i64::from(mask.truth >> lane & 1));
            } else if let Some(row) = evaluation.row(*root) {
                lanes.values = *row;
            } else {
                let wide = |lane| evaluation.integer(*root, lane).unwrap_or_default();
                lanes.values = std::array::from_fn(|lane| {
                    wide(lane).clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
                });
            }
            visit(place, lanes);
        }
    }
}

/// The checked term of a word. Only a predicate may name bindings, data and other axes, so a word is checked
/// as a part of one: as a condition on the axes, or as one side of a comparison.
fn checked(operator: &Operator, word: &Word) -> Option<Term> {
    let scope = operator.scope();
    let enumerators = vec![Enumerator { name: operator.name().to_owned(), value: 0 }];
    let operators = Arc::new(Enumeration { name: "operator".to_owned(), enumerators });
    let names = CaseNames { operators: &operators, scopes: &[scope] };
    let condition = match &word.kind {
        ValueKind::Condition => word.text.clone(),
        ValueKind::Name(names) => format!("{} == {}", word.text, names.first()?.1),
        ValueKind::Violation(names) => format!("{} == {}", word.text, names.first()?),
        _ => format!("{} == 0", word.text),
    };
    let is_axis = word.scope == Scope::Axis;
    let text = if is_axis { format!("any axis ({condition})") } else { condition };
    let mut term = scope.predicate(names, &parse(&text).ok()?).ok()?;
    if is_axis {
        let TermKind::Over(_, inner) = term.kind else { return None };
        term = *inner;
    }
    if word.kind == ValueKind::Condition {
        return Some(term);
    }
    let TermKind::Compare(_, pair) = term.kind else { return None };
    let [term, _] = *pair;
    Some(term)
}
