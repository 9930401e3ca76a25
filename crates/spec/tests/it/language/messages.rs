//! The messages for mistakes in expressions.

use dmlcts_spec::expression::Position::{self, Definition, EachAxis, Once, Read};
use insta::assert_snapshot;

use super::fixture::{complaint, scope, shown};

#[test]
fn the_fixture_has_no_mistakes() {
    assert_eq!(complaint("Limit == 0", Once), "no mistake in `Limit == 0`: a condition");
}

#[test]
fn words_and_signs() {
    assert_snapshot!(complaint("Limit = 0", Once), @r"
    Limit = 0
          ^
    `=` is not an operator of this language
    help: write `==`
    ");
    assert_snapshot!(complaint("Limit == 0 && rank == 1", Once), @r"
    Limit == 0 && rank == 1
               ^^
    `&&` is not an operator of this language
    help: write `and`
    ");
    assert_snapshot!(complaint("Limit == 12px", Once), @r"
    Limit == 12px
             ^^^^
    `12px` is not an integer
    help: write decimal digits, or `0x` and hexadecimal digits
    ");
    assert_snapshot!(complaint("Limit == 2.5", Once), @r"
    Limit == 2.5
             ^^^
    `2.5` is not a feature level
    help: the levels are 1.0, 2.0, 2.1, 3.0, 3.1, 4.0, 4.1, 5.0, 5.1, 5.2, 6.0, 6.1, 6.2, 6.3, 6.4; there are no fractions
    ");
    assert_snapshot!(complaint("Limit == 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF", Once), @r"
    Limit == 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF
             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    this integer is too large
    help: a literal is less than 2^126
    ");
    assert_snapshot!(complaint("Limit == 2^200", Once), @r"
    Limit == 2^200
             ^^^^^
    this integer is too large
    help: a literal is less than 2^126
    ");
    assert_snapshot!(complaint("Limit == “four”", Once), @r"
    Limit == “four”
             ^
    `“` has no meaning here
    ");
}

#[test]
fn grammar() {
    assert_snapshot!(complaint("", Once), @r"

    ^
    expected a value, found the end
    help: a value is a name, a number or something in parentheses
    ");
    assert_snapshot!(complaint("(Limit + 1 == 3", Once), @r"
    (Limit + 1 == 3
                   ^
    expected `)` to close the parenthesis, found the end
    help: add the `)`, or leave out the `(` that it belongs to
    ");
    assert_snapshot!(complaint("Limit + 1) == 3", Once), @r"
    Limit + 1) == 3
             ^
    expected an operator or the end, found `)`
    help: this parenthesis was never opened
    ");
    assert_snapshot!(complaint("Limit ==", Once), @r"
    Limit ==
            ^
    expected a value, found the end
    help: a value is a name, a number or something in parentheses
    ");
    assert_snapshot!(complaint("if Limit == 1 then Limit", Definition), @r"
    if Limit == 1 then Limit
                            ^
    expected `else` after the `then` branch of an `if`, found the end
    ");
    assert_snapshot!(complaint("any axes Offsets == 1", Once), @r"
    any axes Offsets == 1
        ^^^^
    expected `axis` after `any`, found `axes`
    ");
    assert_snapshot!(complaint("Limit in 3", Once), @r"
    Limit in 3
             ^
    expected `[` after `in`, found the integer 3
    ");
    assert_snapshot!(complaint("0 < Limit in [1]", Once), @r"
    0 < Limit in [1]
      ^^^^^^^^^^
    `in` cannot be chained with comparisons
    help: join them with `and`
    ");
    assert_snapshot!(complaint("Limit + not Shift", Once), @r"
    Limit + not Shift
            ^^^
    `not` binds looser than the operator before it
    help: put the `not` and its condition in parentheses
    ");
    assert_snapshot!(complaint("clmp(Limit, 0, 1) == 1", Once), @r"
    clmp(Limit, 0, 1) == 1
    ^^^^
    there is no function `clmp`
    help: did you mean `clamp`?
    ");
    assert_snapshot!(complaint("clamp(Limit, 0) == 1", Once), @r"
    clamp(Limit, 0) == 1
    ^^^^^^^^^^^^^^^
    `clamp` takes 3 arguments, found 2
    ");
    let deep = "(".repeat(5000);
    assert!(complaint(&deep, Once).ends_with("give parts of it a name under `let`"));
    let long = format!("0 {} == 0", "+ 0".repeat(5000));
    assert!(complaint(&long, Once).ends_with("give parts of it a name under `let`"));
}

#[test]
fn names() {
    assert_snapshot!(complaint("Limits == 0", Once), @r"
    Limits == 0
    ^^^^^^
    `Limits` means nothing here
    help: did you mean `Limit`?
    ");
    assert_snapshot!(complaint("Elephant == 0", Once), @r"
    Elephant == 0
    ^^^^^^^^
    `Elephant` means nothing here
    help: the members of FOLD are InputTensor, OutputTensor, PaddingMode, Direction, ValueDataType, Value, DimensionCount, Limit, Shift, Offsets, WindowStrides
    ");
    assert_snapshot!(complaint("PaddingMode == REFLECTIVE", Once), @r"
    PaddingMode == REFLECTIVE
                   ^^^^^^^^^^
    `REFLECTIVE` means nothing here
    help: did you mean `REFLECTION`?
    ");
    assert_snapshot!(complaint("PaddingMode == ELEPHANT", Once), @r"
    PaddingMode == ELEPHANT
                   ^^^^^^^^
    `ELEPHANT` means nothing here
    help: the enumerators of DML_PADDING_MODE are CONSTANT, EDGE, REFLECTION, SYMMETRIC
    ");
    assert_snapshot!(complaint("InputTensor.DataType == FLOAT31", Once), @r"
    InputTensor.DataType == FLOAT31
                            ^^^^^^^
    `FLOAT31` means nothing here
    help: did you mean `FLOAT32`?
    ");
    assert_snapshot!(complaint("InputTensor.Colour == 0", Once), @r"
    InputTensor.Colour == 0
    ^^^^^^^^^^^^^^^^^^
    `InputTensor.Colour` means nothing here
    help: did you mean `InputTensor.Flags`?
    ");
    assert_snapshot!(complaint("InputTensor.Rank > 1", Once), @r"
    InputTensor.Rank > 1
    ^^^^^^^^^^^^^^^^
    `InputTensor.Rank` means nothing here
    help: did you mean `rank`?
    ");
    assert_snapshot!(complaint("all axes Tensor.Sizes >= 1", Once), @r"
    all axes Tensor.Sizes >= 1
             ^^^^^^^^^^^^
    `Tensor.Sizes` means nothing here
    help: `Tensor` stands for both tensors in clauses that are stated for each tensor; elsewhere write `InputTensor` or `OutputTensor`
    ");
    assert_snapshot!(complaint("EDGE == EDGE", Once), @r"
    EDGE == EDGE
            ^^^^
    `EDGE` could be an enumerator of DML_PADDING_MODE or an enumerator of DML_AXIS_DIRECTION
    help: compare it with a member, whose type then decides
    ");
}

#[test]
fn types() {
    assert_snapshot!(complaint("Limit", Once), @r"
    Limit
    ^^^^^
    expected a condition, found an integer
    help: a condition is a comparison, or several joined by `and`, `or`, `not`
    ");
    assert_snapshot!(complaint("Limit and rank == 1", Once), @r"
    Limit and rank == 1
    ^^^^^
    expected a condition, found an integer
    help: a condition is a comparison, or several joined by `and`, `or`, `not`
    ");
    assert_snapshot!(complaint("PaddingMode < EDGE", Once), @r"
    PaddingMode < EDGE
    ^^^^^^^^^^^^^^^^^^
    `<` needs an order, which an enumerator of DML_PADDING_MODE has not
    help: compare with `==`, `!=` or `in`
    ");
    assert_snapshot!(complaint("PaddingMode == Direction", Once), @r"
    PaddingMode == Direction
    ^^^^^^^^^^^^^^^^^^^^^^^^
    an enumerator of DML_AXIS_DIRECTION cannot be compared with an enumerator of DML_PADDING_MODE
    ");
    assert_snapshot!(complaint("PaddingMode == Limit", Once), @r"
    PaddingMode == Limit
    ^^^^^^^^^^^^^^^^^^^^
    an integer cannot be compared with an enumerator of DML_PADDING_MODE
    help: the enumerators of DML_PADDING_MODE are CONSTANT, EDGE, REFLECTION, SYMMETRIC, or a literal code such as 5
    ");
    assert_snapshot!(complaint("5 < PaddingMode", Once), @r"
    5 < PaddingMode
    ^^^^^^^^^^^^^^^
    `<` needs an order, which an enumerator of DML_PADDING_MODE has not
    help: compare with `==`, `!=` or `in`
    ");
    assert_snapshot!(complaint("InputTensor.DataType >= 1", Once), @r"
    InputTensor.DataType >= 1
    ^^^^^^^^^^^^^^^^^^^^^^^^^
    `>=` needs an order, which a data type has not
    help: compare with `==`, `!=` or `in`
    ");
    assert_snapshot!(complaint("PaddingMode == FLOAT32", Once), @r"
    PaddingMode == FLOAT32
    ^^^^^^^^^^^^^^^^^^^^^^
    a data type cannot be compared with an enumerator of DML_PADDING_MODE
    ");
    assert_snapshot!(complaint("level >= 3", Once), @r"
    level >= 3
    ^^^^^^^^^^
    an integer cannot be compared with a feature level
    help: the levels are 1.0, 2.0, 2.1, 3.0, 3.1, 4.0, 4.1, 5.0, 5.1, 5.2, 6.0, 6.1, 6.2, 6.3, 6.4
    ");
    assert_snapshot!(complaint("Value == 0", Once), @r"
    Value == 0
    ^^^^^
    `Value` is a scalar union, whose bits are no integer
    help: how they read depends on the data type, and floating-point numbers are no integers; it can only be what a read is filled with
    ");
    assert_snapshot!(complaint("InputTensor == OutputTensor", Once), @r"
    InputTensor == OutputTensor
    ^^^^^^^^^^^
    `InputTensor` is a tensor, not a value
    help: name one of its fields, such as `InputTensor.Sizes`
    ");
    assert_snapshot!(complaint("length(InputTensor) == 1", Once), @r"
    length(InputTensor) == 1
           ^^^^^^^^^^^
    `length` takes a list, which `InputTensor` is not
    ");
    assert_snapshot!(complaint("present(1 + 2)", Once), @r"
    present(1 + 2)
            ^^^^^
    `present` takes the name of a list or a tensor
    ");
    assert_snapshot!(complaint("if Limit == 1 then 1 else FLOAT32", Definition), @r"
    if Limit == 1 then 1 else FLOAT32
                              ^^^^^^^
    this branch is a data type, the other is an integer
    help: both branches of an `if` have one type
    ");
}

#[test]
fn places() {
    assert_snapshot!(complaint("Offsets == 0", Once), @r"
    Offsets == 0
    ^^^^^^^
    `Offsets` has a value on each axis, but no axis is meant here
    help: gather the axes with `any axis`, `all axes`, `sum axes` or `product axes`, or state the clause with `each: axis`
    ");
    assert_snapshot!(complaint("c < 3", EachAxis), @r"
    c < 3
    ^
    `c` exists in semantics only
    help: `c` is the output coordinate that a `read` is for
    ");
    assert_snapshot!(complaint("at < 3", EachAxis), @r"
    at < 3
    ^^
    `at` depends on `c`, which exists in semantics only
    help: `c` is the output coordinate that a `read` is for
    ");
    assert_snapshot!(complaint("any axis any axis Offsets == 0", Once), @r"
    any axis any axis Offsets == 0
             ^^^^^^^^^^^^^^^^^^^^^
    `any axis` inside another quantifier
    help: a quantifier reaches to the closing parenthesis or the end: put the first one in parentheses
    ");
    assert_snapshot!(complaint("any axis Limit == 0", Once), @r"
    any axis Limit == 0
             ^^^^^^^^^^
    `any axis` over something that is the same on every axis
    help: name a list or `axis` in it, or leave the quantifier out
    ");
    assert_snapshot!(complaint("any axis at == 0", Position::Read), @r"
    any axis at == 0
             ^^
    `at` depends on `c`, which exists in semantics only
    help: `c` is the output coordinate that a `read` is for
    ");
    assert_snapshot!(complaint("fill == 0", Once), @r"
    fill == 0
    ^^^^
    `fill` cannot stand here
    help: `fill` is what a `read` comes to, or a branch of an `if` that it comes to
    ");
    assert_snapshot!(complaint("1 + (if at == 0 then fill else 0)", Read), @r"
    1 + (if at == 0 then fill else 0)
                         ^^^^
    `fill` cannot stand here
    help: `fill` is what a `read` comes to, or a branch of an `if` that it comes to
    ");
    assert_snapshot!(complaint("at == 0", Read), @r"
    at == 0
    ^^^^^^^
    expected a coordinate or `fill`, found a condition
    ");
}

#[test]
fn definitions() {
    let define = |name: &str, text: &str| {
        let expression = dmlcts_spec::expression::parse(text).unwrap();
        shown(text, &scope().define(name, expression).unwrap_err())
    };
    assert_snapshot!(define("Limit", "1"), @r"
    1
    ^
    `Limit` already means something
    help: choose a name of its own for each definition
    ");
    assert_snapshot!(define("if", "1"), @r"
    1
    ^
    `if` cannot be a name
    help: a name has letters, digits and underscores, and is no word of the language
    ");
    assert_snapshot!(define("REFLECTION", "1"), @r"
    1
    ^
    `REFLECTION` already means something
    help: choose a name of its own for each definition
    ");
    assert_snapshot!(define("x", "x + 1"), @r"
    x + 1
    ^
    `x` means nothing here
    help: did you mean `c`?
    ");
    // The cost of definitions that double each other is their length, and their depth is bounded.
    let mut scope = scope();
    let mut last = "1".to_owned();
    let mut mistake = None;
    for index in 0..1000 {
        let expression = dmlcts_spec::expression::parse(&format!("{last} + {last}")).unwrap();
        last = format!("d{index}");
        if let Err(found) = scope.define(&last, expression) {
            mistake = Some(found);
            break;
        }
    }
    assert_eq!(mistake.unwrap().message, "definitions nest too deeply here");
}
