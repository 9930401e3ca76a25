//! The expression language of specs, suites and `--where`: small, typed and total.
//!
//! # Grammar
//!
//! From the loosest to the tightest binding:
//!
//! | form | meaning |
//! |---|---|
//! | `if A then B else C` | only the branch taken counts; reaches as far right as it can |
//! | `any axis E`, `all axes E` | over the axes; reaches to the closing parenthesis, the comma or the end |
//! | `A or B`, `A and B`, `not A` | conditions |
//! | `a < b`, `<=`, `>`, `>=`, `==`, `!=`, chained as in `0 <= at < n`; `a in [x, y]` | comparisons; enumerations and data types are equal or not, to a name or a bare code |
//! | `a + b`, `a - b` | |
//! | `sum axes E`, `product axes E` | over the axes; reaches over all arithmetic, up to a comparison |
//! | `a * b`, `a / b`, `a mod b` | `/` rounds towards negative infinity; `mod` is the remainder by the divisor's magnitude, never negative |
//! | `-a` | |
//! | `7`, `0x1F`, `2^32`, `6.4` (a feature level), `name`, `Tensor.Field`, `f(a, b)`, `(a)`, `fill` | |
//!
//! Functions: `abs(x)`, `min(a, b)`, `max(a, b)`, `clamp(x, low, high)`, `align(x, n)` (up to the next
//! multiple of `n`), `length(List)`, `present(X)` (a list or tensor is not a null pointer),
//! `overlaps(Tensor)` (two coordinates share an offset) and `unsettled(Tensor)` (whether they do takes too long
//! to find out).
//!
//! # Names of a case
//!
//! Predicates over cases (`--where`, known failures) have more names than a spec: `operator`, to be compared with
//! names such as `SLICE1`; `valid`, `invalid` and `open`, the conditions of which exactly one holds, by what the
//! case's desc is judged at the feature level of the run; `InputBinding.Offset` and `OutputBinding.Offset`, in bytes; and
//! the names of every operator, which are undefined for a case of another one.
//!
//! # Values
//!
//! Integers are mathematical. What has no value is *undefined*: a quotient by zero, a field of a null
//! tensor, the element size of a data type that has none. Arithmetic and comparisons of something undefined
//! are undefined. `and`, `or`, `any axis` and `all axes` follow Kleene: `false and undefined` is false,
//! `true or undefined` is true. An `if` is as defined as its condition and the branch taken.
//!
//! # From text to values
//!
//! [`parse`] gives an [`Expression`]; a [`Scope`] knows the names and checks it into a [`Term`], in which
//! every name is resolved and every type is known; a [`Builder`](crate::program::Builder) lowers terms into
//! one flat [`Program`](crate::program::Program). Whatever goes wrong on the way is a [`Mistake`] with the
//! place in the text.

mod ast;
mod check;
mod lexer;
mod mistake;
mod parser;
mod print;
mod scope;
mod term;

pub use ast::{Binary, Comparison, Expression, Form, Function, Logic, Quantifier};
pub use mistake::{Mistake, Span};
pub use parser::parse;
pub use scope::{CaseNames, Definition, Position, Scope, Type};
pub use term::{Term, TermKind};
