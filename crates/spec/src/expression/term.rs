//! Terms: expressions in which every name is resolved and every type is known.

use std::sync::Arc;

use super::{Binary, Comparison, Definition, Logic, Mistake, OtherAxis, Quantifier, Span, Type};
use crate::program::Leaf;

/// The largest depth of a term, including the definitions that it uses.
const MAXIMUM_DEPTH: u16 = 400;

/// An expression in which every name is resolved and every type is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Term {
    /// The content.
    pub kind: TermKind,
    /// The type of its value.
    pub value_type: Type,
    /// Whether it has one value per axis rather than one for the desc.
    pub per_axis: bool,
    /// Whether it depends on the output coordinate `c`.
    pub uses_coordinate: bool,
    /// The position in the text.
    pub span: Span,
    pub(super) depth: u16,
}

/// The kinds of terms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TermKind {
    /// A literal or an enumerator.
    Constant(i128),
    /// A value that is read from the desc.
    Leaf(Leaf),
    /// A definition's value.
    Definition(Arc<Definition>),
    /// A name of another operator; always undefined.
    Missing,
    /// See [`Form::Fill`](super::Form::Fill).
    Fill,
    /// `-a`.
    Negate(Box<Term>),
    /// `abs(a)`.
    Absolute(Box<Term>),
    /// `not a`.
    Not(Box<Term>),
    /// An operation on two integers.
    Binary(Binary, Box<[Term; 2]>),
    /// `clamp(a, b, c)`.
    Clamp(Box<[Term; 3]>),
    /// A comparison of two integers, or of two members of one type.
    Compare(Comparison, Box<[Term; 2]>),
    /// Whether two conditions are equal; unequal if the flag is false.
    Agree(bool, Box<[Term; 2]>),
    /// `a in [b, c]`.
    In(Box<Term>, Vec<Term>),
    /// `a and b`, `a or b`. A chain of comparisons is joined by `and`.
    Logic(Logic, Box<[Term; 2]>),
    /// `if a then b else c`.
    If(Box<[Term; 3]>),
    /// `any axis a` and the other quantifiers.
    Over(Quantifier, Box<Term>),
    /// `next(a)` and the like.
    On(OtherAxis, Box<Term>),
}

impl TermKind {
    /// The terms inside, except for that of a definition and the left side of `in`.
    pub fn parts(&self) -> &[Term] {
        match self {
            Self::Constant(_) | Self::Leaf(_) | Self::Definition(_) | Self::Missing | Self::Fill => &[],
            Self::Negate(a) | Self::Absolute(a) | Self::Not(a) | Self::Over(_, a) | Self::On(_, a) => {
                std::slice::from_ref(a)
            }
            Self::Binary(_, pair) | Self::Compare(_, pair) | Self::Agree(_, pair) | Self::Logic(_, pair) => {
                pair.as_slice()
            }
            Self::Clamp(parts) | Self::If(parts) => parts.as_slice(),
            // The caller handles the left side.
            Self::In(_, members) => members,
        }
    }
}

/// Builds a term. Its dependencies follow from its parts.
pub(super) fn build(kind: TermKind, value: Type, span: Span) -> Result<Term, Mistake> {
    let (mut depth, mut per_axis, mut uses_coordinate) = (0, false, false);
    for part in kind.parts() {
        depth = depth.max(part.depth);
        per_axis |= part.per_axis;
        uses_coordinate |= part.uses_coordinate;
    }
    match &kind {
        TermKind::Leaf(leaf) => {
            uses_coordinate = *leaf == Leaf::Coordinate;
            per_axis = uses_coordinate || matches!(leaf, Leaf::List(_) | Leaf::Axis);
        }
        TermKind::Definition(definition) => {
            depth = definition.term.depth;
            per_axis = definition.term.per_axis;
            uses_coordinate = definition.term.uses_coordinate;
        }
        _ => {}
    }
    limited(Term { kind, value_type: value, per_axis, uses_coordinate, span, depth: depth + 1 })
}

/// The term, or a mistake if it is too deep.
pub(super) fn limited(term: Term) -> Result<Term, Mistake> {
    if term.depth <= MAXIMUM_DEPTH {
        return Ok(term);
    }
    Err(Mistake::new(term.span, "definitions nest too deeply here")
        .help(format!("at most {MAXIMUM_DEPTH} levels, counting those of the definitions used")))
}
