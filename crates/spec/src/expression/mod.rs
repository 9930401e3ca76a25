//! The expression language of specs, suites and `--where`: small, typed and total.
//!
//! # Grammar
//!
//! From the loosest to the tightest binding:
//!
//! | form | meaning |
//! |---|---|
//! | `if A then B else C` | only the branch taken is evaluated; extends as far right as possible |
//! | `any axis E`, `all axes E` | over the axes; extends to the closing parenthesis, the comma or the end |
//! | `A or B`, `A and B`, `not A` | conditions |
//! | `a < b`, `<=`, `>`, `>=`, `==`, `!=`, chained as in `0 <= at < n`; `a in [x, y]` | comparisons; enumerations and data types only have `==`, `!=` and `in`, with a name or a bare code |
//! | `a + b`, `a - b` | |
//! | `sum axes E`, `product axes E` | over the axes; extends over all arithmetic, up to a comparison |
//! | `a * b`, `a / b`, `a mod b` | `/` rounds towards negative infinity; `mod` is the remainder by the divisor's magnitude, never negative |
//! | `-a` | |
//! | `7`, `0x1F`, `2^32`, `6.4` (a feature level), `name`, `Tensor.Field`, `f(a, b)`, `(a)`, `fill` | |
//!
//! Functions:
//!
//! - `abs(x)`, `min(a, b)`, `max(a, b)`, `clamp(x, low, high)`
//! - `align(x, n)`: `x` rounded up to the next multiple of `n`
//! - `length(List)`: the number of values in a list
//! - `present(X)`: a list or tensor is not a null pointer
//! - `overlaps(Tensor)`: two coordinates share an offset
//! - `unsettled(Tensor)`: finding out whether two coordinates share an offset takes too long
//! - `spare(Scalar)`: the bytes of a scalar member that an element of the output does not use, as one number
//! - `code(X)`: the code of a member that is an enumeration or a data type, as an integer
//! - `size(X)`: the bytes of an element of the data type that a member holds
//! - `moves(kind)`, `pads(kind)`: see [data of a case](#data-of-a-case)
//! - `next(x)`, `previous(x)`, `last(x)`, `later(E)`: see [other axes](#other-axes)
//!
//! # Names of a tensor
//!
//! Its fields are `Tensor.Sizes`, `Tensor.Strides` and so on, for `InputTensor` and `OutputTensor`. `Strides`
//! are packed where the pointer is null. Three more names are not fields of the struct:
//!
//! - `Tensor.PackedStrides` are the strides of a packed tensor of these sizes.
//! - `Tensor.ElementSize` is the size of an element in bytes.
//! - `rank` is the length of `InputTensor.Sizes`.
//!
//! The definitions of a spec are names, too, such as `magnitude` of SLICE1: `dmlcts spec show` lists them.
//! For predicates, each defines `highest`, the highest input coordinate that is read on an axis. SLICE and
//! SLICE1 define `lowest`, too; PADDING1 reads from 0 on.
//!
//! # Names of a case
//!
//! Predicates over cases (`--where`, known findings) have more names than a spec:
//!
//! - `operator` is the case's operator, for comparison with names such as `SLICE1`.
//! - `valid`, `invalid` and `open` are conditions on the judgement of the case's desc at the feature level of
//!   the run. Exactly one of them holds.
//! - `violations` is the number of clauses that the desc violates at that level. A clause counts only if the
//!   clauses that it depends on hold.
//! - `violation` is the name of the clause that the desc violates, for comparison with names such as
//!   `size_positive`: the clause's id without operator and tensor, with underscores. It is undefined for
//!   a desc that violates no clause, or clauses with different names. `violation in [a, b]` holds if the
//!   desc violates clauses of these names and no others.
//! - `InputBinding.Offset` and `OutputBinding.Offset` are in bytes.
//! - The names of every operator are known. They are undefined for a case of another operator.
//!
//! # Other axes
//!
//! Where a predicate over cases names values of an axis, it can ask for those of another axis:
//!
//! - `next(x)` and `previous(x)`: the number or condition `x` on the next or the previous axis. They are
//!   undefined on the last and the first axis, respectively.
//! - `first(x)` and `last(x)`: the number or condition `x` on the first axis, which is the outermost, or on
//!   the last one. A condition may also stand alone: `last(OutputTensor.Sizes > 1)`.
//! - `opposite(x)`: the number or condition `x` on axis `rank - 1 - axis`, which takes the place of this axis
//!   if the order of the axes is reversed.
//! - `later(E)`: the condition `E` holds on any later axis. On the last axis it is false.
//!
//! So `any axis InputTensor.Strides < next(InputTensor.Strides)` holds if two neighbouring axes are
//! transposed.
//!
//! # Data of a case
//!
//! Predicates over cases can ask which elements the expected output has, whatever a backend computed:
//!
//! - `moves(kind)`: an element is of this kind, as in `moves(nan)`. It may come from the input or from the
//!   padding value.
//! - `pads(kind)`: the padding value is of this kind, and the output has elements that are padding.
//! - `moved_precision`: the greatest number of significant bits of an element, from the highest to the lowest
//!   set bit of its magnitude. For floats, the significand counts; NaNs and infinities have 0. A double holds
//!   53 significant bits, a float 24, and half precision 11.
//! - `moved_bits`: the position of the highest set bit of any element, counted from 1, as it lies in memory.
//!   So a negative number has all bits of its type.
//! - `moved_signed_bits`: the greatest number of bits that a signed integer needs to give the bits of an
//!   element, as they lie in memory, if it is widened with its sign: 1 if all bits are alike, and 9 for 128
//!   in a type of 16 bits.
//! - `moved_lowest_bit`: the position of the lowest set bit of any element, counted from 1, as it lies in
//!   memory. Undefined if all elements are 0.
//! - `padded_precision`, `padded_bits`, `padded_signed_bits` and `padded_lowest_bit`: the same numbers for
//!   the padding value. Undefined if the output has no padding.
//!
//! | kind | elements |
//! |---|---|
//! | `anything` | any element: `pads(anything)` asks whether the output has padding |
//! | `nan`, `signalling_nan` | a NaN; a NaN whose fraction has its highest bit clear |
//! | `nan_payload` | a NaN whose fraction has other bits than the highest |
//! | `infinity`, `denormal` | an infinity or a denormal float, of either sign |
//! | `negative_zero` | a float of −0 |
//! | `fraction` | a finite float that is no whole number |
//! | `negative` | a float or a signed integer with its sign bit set |
//! | `high_bit` | an unsigned integer with its highest bit set |
//! | `greatest`, `least` | the greatest or least finite number of the data type |
//!
//! For an open desc, the expected output is that of the semantics. All of these names are undefined if the
//! desc is invalid, or if the elements of a tensor span more than 2^22 bytes. `moves` and `pads` are false
//! for kinds that a data type lacks.
//!
//! # Values
//!
//! Integers are mathematical: they do not overflow. An expression without a value is *undefined*: a quotient
//! by zero, a field of a null tensor, or the element size of a data type that has none. Arithmetic and
//! comparisons with an undefined operand are undefined. `and`, `or`, `any axis` and `all axes` follow
//! Kleene's logic: `false and undefined` is false, and `true or undefined` is true. An `if` is defined if its
//! condition and the branch taken are.
//!
//! # From text to values
//!
//! [`parse`] returns an [`Expression`]. A [`Scope`] knows the names and checks the expression into a
//! [`Term`], in which every name is resolved and every type is known. A [`Builder`](crate::program::Builder)
//! lowers terms into one flat [`Program`](crate::program::Program). A failure at any step is a [`Mistake`]
//! with its position in the text.

mod ast;
mod check;
mod lexer;
mod mistake;
mod parser;
mod print;
mod scope;
mod term;

pub use ast::{Binary, Comparison, Expression, Form, Function, Logic, OtherAxis, Quantifier};
pub use mistake::{Mistake, Span};
pub use parser::parse;
pub use scope::{CaseNames, Definition, Position, Scope, Type};
pub use term::{Term, TermKind};
