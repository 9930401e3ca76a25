//! The syntax tree of an expression, with the position of every part. Names are not resolved and types are
//! unknown here; see [`Term`](super::Term).

use dmlcts_model::{FeatureLevel, Side, named_enum};

use super::Span;

/// The largest height of a syntax tree. Functions that walk a tree recurse, so this bounds their stacks.
pub(super) const MAXIMUM_HEIGHT: u16 = 100;

/// An expression and its position. Equality ignores the position.
#[derive(Clone, Debug)]
pub struct Expression {
    /// The content.
    pub form: Form,
    /// The position in the text.
    pub span: Span,
    height: u16,
}

/// The kinds of expressions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Form {
    /// A literal, decimal or hexadecimal; never negative.
    Integer(i128),
    /// A power of two literals, such as `2^32`.
    Power(i128, u32),
    /// A feature level, such as `6.4`.
    Level(FeatureLevel),
    /// A name, or two names joined by a dot.
    Name(String),
    /// `fill`: no input element is read.
    Fill,
    /// `-a`.
    Negate(Box<Expression>),
    /// `not a`.
    Not(Box<Expression>),
    /// An operation on two integers.
    Binary(Binary, Box<[Expression; 2]>),
    /// A comparison, or a chain of them.
    Compare(Box<Expression>, Vec<(Comparison, Expression)>),
    /// `a in [b, c]`.
    In(Box<Expression>, Vec<Expression>),
    /// `a and b`, `a or b`.
    Logic(Logic, Box<[Expression; 2]>),
    /// `if a then b else c`.
    If(Box<[Expression; 3]>),
    /// A function that is not a [`Binary`].
    Call(Function, Vec<Expression>),
    /// `any axis a` and the other quantifiers.
    Over(Quantifier, Box<Expression>),
}

named_enum! {
    /// Operations on two integers.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum Binary: symbol {
        /// `a + b`.
        Add = "+",
        /// `a - b`.
        Subtract = "-",
        /// `a * b`.
        Multiply = "*",
        /// `a / b`, rounded towards negative infinity; undefined if `b` is 0.
        Divide = "/",
        /// `a mod b`: the distance from `a` down to the greatest multiple of `|b|` that is at most `a`. Never
        /// negative; undefined if `b` is 0.
        Modulo = "mod",
        /// `min(a, b)`.
        Minimum = "min",
        /// `max(a, b)`.
        Maximum = "max",
        /// `align(a, b)`: the least multiple of `|b|` that is at least `a`; undefined if `b` is 0.
        Align = "align",
    }
}

impl Binary {
    /// Whether it is written as a function call.
    pub fn is_function(self) -> bool {
        matches!(self, Self::Minimum | Self::Maximum | Self::Align)
    }
}

named_enum! {
    /// Comparisons.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    pub enum Comparison: symbol {
        /// `==`.
        Equal = "==",
        /// `!=`.
        NotEqual = "!=",
        /// `<`.
        Less = "<",
        /// `<=`.
        LessOrEqual = "<=",
        /// `>`.
        Greater = ">",
        /// `>=`.
        GreaterOrEqual = ">=",
    }
}

impl Comparison {
    /// Whether it needs an order rather than only equality.
    pub fn orders(self) -> bool {
        !matches!(self, Self::Equal | Self::NotEqual)
    }

    /// Whether it holds for two values in this order.
    pub fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }
}

/// The operations on two conditions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Logic {
    /// `and`: false as soon as one side is false.
    And,
    /// `or`: true as soon as one side is true.
    Or,
}

named_enum! {
    /// Functions beside those of [`Binary`].
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum Function: name, from_name {
        /// `abs(x)`.
        Absolute = "abs",
        /// `clamp(x, low, high)`: `min(max(x, low), high)`.
        Clamp = "clamp",
        /// `length(List)`: undefined for a null pointer. Null strides mean packed and are as long as the
        /// sizes.
        Length = "length",
        /// `present(X)`: a list or a tensor is not a null pointer.
        Present = "present",
        /// `overlaps(Tensor)`: two coordinates share an offset. Undefined where the sizes and strides make no
        /// sense, and where the search for such a pair grows too long.
        Overlaps = "overlaps",
        /// `unsettled(Tensor)`: the search for such a pair grows too long. Undefined where the sizes and
        /// strides make no sense.
        Unsettled = "unsettled",
        /// `spare(Scalar)`: the bytes of a scalar member behind those of an output element, as one number. 0
        /// for an element of eight bytes. Undefined where an element has no whole number of bytes.
        Spare = "spare",
        /// `code(X)`: the code of a member that is an enumeration or a data type.
        Code = "code",
        /// `size(X)`: the bytes of an element of the data type that a member holds. Undefined where an
        /// element has no whole number of bytes.
        Size = "size",
        /// `moves(kind)`: the expected output has an element of a kind. Only predicates over cases use it.
        Moves = "moves",
        /// `pads(kind)`: the padding that the expected output has is of a kind. Only predicates over cases
        /// use it.
        Pads = "pads",
        /// `next(x)`: the value on the next axis. Only predicates over cases use it and those below.
        Next = "next",
        /// `previous(x)`: the value on the previous axis.
        Previous = "previous",
        /// `first(x)`: the value on the first axis.
        First = "first",
        /// `last(x)`: the value on the last axis.
        Last = "last",
        /// `opposite(x)`: the value on the axis that takes this one's place if their order is reversed.
        Opposite = "opposite",
        /// `later(E)`: whether a condition holds on any later axis.
        Later = "later",
    }
}

impl Function {
    /// How many arguments it takes.
    pub fn arity(self) -> usize {
        if self == Self::Clamp { 3 } else { 1 }
    }
}

/// The axis whose value an expression takes instead of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OtherAxis {
    /// `next(x)`: undefined on the last axis.
    Next,
    /// `previous(x)`: undefined on the first axis.
    Previous,
    /// `first(x)`.
    First,
    /// `last(x)`.
    Last,
    /// `opposite(x)`: axis `rank - 1 - axis`.
    Opposite,
    /// `later(E)`: a condition on any later axis. On the last axis it is false.
    Later,
}

named_enum! {
    /// Operations that gather the axes into one value.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum Quantifier: words {
        /// `any axis`: false if there are no axes.
        Any = "any axis",
        /// `all axes`: true if there are no axes.
        All = "all axes",
        /// `sum axes`.
        Sum = "sum axes",
        /// `product axes`.
        Product = "product axes",
    }
}

impl Quantifier {
    /// Whether it takes conditions rather than integers.
    pub fn is_condition(self) -> bool {
        matches!(self, Self::Any | Self::All)
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.form == other.form
    }
}

impl Eq for Expression {}

impl Expression {
    /// An expression at `span`.
    pub fn new(form: Form, span: Span) -> Self {
        let mut height = 0;
        form.for_each(|part| height = height.max(part.height));
        Self { form, span, height: height.saturating_add(1) }
    }

    /// The height of the syntax tree; at most 100 for parsed expressions.
    pub fn height(&self) -> u16 {
        self.height
    }

    /// The expression with `Tensor` replaced by the name of one of the two tensors, and `Binding.Offset` by
    /// that of its binding. This makes two clauses of one that is stated for each tensor.
    #[must_use]
    pub fn for_tensor(&self, side: Side) -> Self {
        let Form::Name(name) = &self.form else {
            return self.map_parts(&mut |part| part.for_tensor(side));
        };
        let name = match name.strip_prefix("Tensor") {
            Some(rest) if rest.is_empty() || rest.starts_with('.') => {
                format!("{}{rest}", side.member_name())
            }
            None if name == "Binding.Offset" => side.binding_name().to_owned(),
            _ => name.clone(),
        };
        Self::new(Form::Name(name), self.span)
    }

    /// The expression with each of its direct parts changed.
    pub(crate) fn map_parts(&self, change: &mut dyn FnMut(&Self) -> Self) -> Self {
        let mut copy = self.clone();
        copy.form.for_each_mut(|part| *part = change(part));
        Self::new(copy.form, copy.span)
    }

    /// Every name in the expression, from left to right, with repetitions.
    pub fn names(&self) -> Vec<&str> {
        fn walk<'a>(expression: &'a Expression, names: &mut Vec<&'a str>) {
            match &expression.form {
                Form::Name(name) => names.push(name),
                form => form.for_each(|part| walk(part, names)),
            }
        }
        let mut names = Vec::new();
        walk(self, &mut names);
        names
    }
}

impl Form {
    /// Visits the direct parts, from left to right.
    pub fn for_each<'a>(&'a self, mut visit: impl FnMut(&'a Expression)) {
        match self {
            Self::Integer(_) | Self::Power(..) | Self::Level(_) | Self::Name(_) | Self::Fill => {}
            Self::Negate(a) | Self::Not(a) | Self::Over(_, a) => visit(a),
            Self::Binary(_, pair) | Self::Logic(_, pair) => pair.iter().for_each(visit),
            Self::Compare(first, rest) => {
                visit(first);
                for (_, part) in rest {
                    visit(part);
                }
            }
            Self::In(a, list) => {
                visit(a);
                list.iter().for_each(visit);
            }
            Self::If(parts) => parts.iter().for_each(visit),
            Self::Call(_, arguments) => arguments.iter().for_each(visit),
        }
    }

    /// Visits the direct parts, from left to right, so that they can be changed.
    fn for_each_mut(&mut self, mut visit: impl FnMut(&mut Expression)) {
        match self {
            Self::Integer(_) | Self::Power(..) | Self::Level(_) | Self::Name(_) | Self::Fill => {}
            Self::Negate(a) | Self::Not(a) | Self::Over(_, a) => visit(a),
            Self::Binary(_, pair) | Self::Logic(_, pair) => pair.iter_mut().for_each(visit),
            Self::Compare(first, rest) => {
                visit(first);
                for (_, part) in rest {
                    visit(part);
                }
            }
            Self::In(a, list) => {
                visit(a);
                list.iter_mut().for_each(visit);
            }
            Self::If(parts) => parts.iter_mut().for_each(visit),
            Self::Call(_, arguments) => arguments.iter_mut().for_each(visit),
        }
    }
}
