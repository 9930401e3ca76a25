//! Atoms: the simplest conditions on a case or on an axis. Each has a text in the language of predicates and
//! can be asked of a universe without that text.

use dmlcts_spec::{
    Scope,
    expression::{Binary, Comparison, Expression, Form, parse},
};

use crate::{
    universe::TermValues,
    universe::Universe,
    vocabulary::{ValueKind, Word},
};

/// A question about terms, which are given by their indices.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Test {
    /// A comparison with a number.
    Number(usize, Comparison, i64),
    /// A comparison of two terms.
    Terms(usize, Comparison, usize),
    /// Whether a term has a remainder by a divisor (true), or not: first the divisor, then the remainder.
    Remainder(usize, i64, i64, bool),
    /// Whether a term is a multiple of another one (true), or not.
    MultipleOf(usize, usize, bool),
    /// Whether a condition is true or false.
    Flag(usize, bool),
    /// Whether a name is one of these (true), or none of these.
    Names(usize, Vec<i64>, bool),
    /// Whether a set of names has none but these, a bit each.
    Within(usize, i64),
    /// Whether one of two tests is true.
    Either(Box<Test>, Box<Test>),
    /// Whether two tests are true.
    Both(Box<Test>, Box<Test>),
}

/// A simple condition.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Atom {
    pub(crate) test: Test,
    pub(crate) text: String,
    pub(crate) weight: u32,
    pub(crate) is_axis: bool,
}

/// Where an atom is true.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Truth {
    /// The lanes where it is true.
    pub(crate) on: u8,
    /// The lanes where it is true or false.
    pub(crate) defined: u8,
    /// The lanes that it has.
    pub(crate) of: u8,
}

/// In place of a number of lanes: it is undefined.
pub(crate) const UNCOUNTED: u8 = u8::MAX;

impl Truth {
    /// Where both are true. Atoms about lists of different lengths have no axis in common.
    #[inline]
    pub(crate) fn and(self, other: Self) -> Self {
        let of = if self.of == other.of { self.of } else { 0 };
        Self { on: self.on & other.on & of, defined: self.defined & other.defined & of, of }
    }

    /// The number of lanes where it is true. Like a sum, it is undefined if one of its parts is.
    #[inline]
    pub(crate) fn count(self) -> u8 {
        if self.of != 0 && self.defined == self.of { self.on.count_ones() as u8 } else { UNCOUNTED }
    }
}

impl Atom {
    /// The atom of a test.
    pub(crate) fn new(test: Test, words: &[Word]) -> Self {
        let (text, weight) = read(&test, words);
        let is_axis = words[test.term()].scope == Scope::Axis;
        Self { test, text, weight, is_axis }
    }

    /// Where the atom is true of a case.
    pub(crate) fn truth(&self, universe: &Universe<'_>, case: usize) -> Truth {
        self.test.truth(universe, case)
    }

    /// Adds where the atom is true of each of these cases.
    pub(crate) fn truths(&self, universe: &Universe<'_>, cases: &[usize], truths: &mut Vec<Truth>) {
        self.test.visit(universe, cases, |truth| truths.push(truth));
    }
}

impl Test {
    /// Where it is true of a case.
    fn truth(&self, universe: &Universe<'_>, case: usize) -> Truth {
        let mut found = Truth { on: 0, defined: 0, of: 0 };
        self.visit(universe, &[case], |truth| found = truth);
        found
    }

    /// Passes on where it is true of each of these cases. A search asks millions of times, so that each kind
    /// of comparison has a loop of its own.
    fn visit(&self, universe: &Universe<'_>, cases: &[usize], mut next: impl FnMut(Truth)) {
        let column = universe.column(self.term());
        macro_rules! visit {
            (|$value:ident| $holds:expr) => {
                for case in cases {
                    next(each(column.lanes(*case), |$value| $holds));
                }
            };
            ($other:ident, |$one:ident, $two:ident| $holds:expr) => {
                for case in cases {
                    next(both(column.lanes(*case), $other.lanes(*case), |$one, $two| $holds));
                }
            };
        }
        match self {
            Self::Number(_, sign, number) => match sign {
                Comparison::Equal => visit!(|value| value == *number),
                Comparison::NotEqual => visit!(|value| value != *number),
                Comparison::Less => visit!(|value| value < *number),
                Comparison::LessOrEqual => visit!(|value| value <= *number),
                Comparison::Greater => visit!(|value| value > *number),
                Comparison::GreaterOrEqual => visit!(|value| value >= *number),
            },
            Self::Remainder(_, divisor, rest, is) => {
                visit!(|value| (value.rem_euclid(*divisor) == *rest) == *is);
            }
            Self::Flag(_, is) => visit!(|value| (value != 0) == *is),
            Self::Within(_, names) => visit!(|value| value & !names == 0),
            Self::Names(_, codes, is) => visit!(|value| codes.contains(&value) == *is),
            Self::Terms(_, sign, other) => {
                let other = universe.column(*other);
                match sign {
                    Comparison::Equal => visit!(other, |one, two| one == two),
                    Comparison::NotEqual => visit!(other, |one, two| one != two),
                    Comparison::Less => visit!(other, |one, two| one < two),
                    Comparison::LessOrEqual => visit!(other, |one, two| one <= two),
                    Comparison::Greater => visit!(other, |one, two| one > two),
                    Comparison::GreaterOrEqual => visit!(other, |one, two| one >= two),
                }
            }
            Self::MultipleOf(_, other, is) => {
                let other = universe.column(*other);
                for case in cases {
                    let (row, of) = (column.lanes(*case), other.lanes(*case));
                    let is_divisor = both(row, of, |_, divisor| divisor != 0);
                    let is_multiple =
                        |one: i64, divisor: i64| one.checked_rem_euclid(divisor).unwrap_or(0) == 0;
                    let truth =
                        both(row, of, |one, divisor| divisor != 0 && is_multiple(one, divisor) == *is);
                    next(Truth { defined: is_divisor.on, ..truth });
                }
            }
            Self::Either(one, or) => cases.iter().for_each(|case| {
                let (one, or) = (one.truth(universe, *case), or.truth(universe, *case));
                let on = one.on | or.on;
                let of = if one.of == or.of { one.of } else { 0 };
                next(Truth { on: on & of, defined: (on | one.defined & or.defined) & of, of });
            }),
            Self::Both(one, and) => {
                for case in cases {
                    next(one.truth(universe, *case).and(and.truth(universe, *case)));
                }
            }
        }
    }

    /// The first term.
    pub(crate) fn term(&self) -> usize {
        match self {
            Self::Number(term, ..)
            | Self::Terms(term, ..)
            | Self::Remainder(term, ..)
            | Self::MultipleOf(term, ..)
            | Self::Flag(term, _)
            | Self::Names(term, ..)
            | Self::Within(term, _) => *term,
            Self::Either(one, _) | Self::Both(one, _) => one.term(),
        }
    }

    /// The number that it compares with.
    pub(crate) fn number(&self) -> Option<i64> {
        match self {
            Self::Number(_, _, number) | Self::Remainder(_, number, ..) => Some(*number),
            _ => None,
        }
    }
}

/// A question about a term, lane by lane.
#[inline]
fn each(one: TermValues<'_>, holds: impl Fn(i64) -> bool) -> Truth {
    let on = match <&[i64; 8]>::try_from(one.values) {
        // The compiler unrolls a loop of a known length.
        Ok(values) => (0..8).fold(0, |on, lane| on | u8::from(holds(values[lane])) << lane),
        Err(_) => one.values.first().map_or(0, |value| u8::from(holds(*value))),
    };
    Truth { on: on & one.defined, defined: one.defined, of: one.of }
}

/// A question about two terms, lane by lane.
#[inline]
fn both(one: TermValues<'_>, other: TermValues<'_>, holds: impl Fn(i64, i64) -> bool) -> Truth {
    // Lists of different lengths have no axes in common.
    let of = if one.of == other.of { one.of } else { 0 };
    let defined = one.defined & other.defined & of;
    let on = match (<&[i64; 8]>::try_from(one.values), <&[i64; 8]>::try_from(other.values)) {
        (Ok(one), Ok(other)) => {
            (0..8).fold(0, |on, lane| on | u8::from(holds(one[lane], other[lane])) << lane)
        }
        _ => one.values.first().zip(other.values.first()).map_or(0, |(one, two)| u8::from(holds(*one, *two))),
    };
    Truth { on: on & defined, defined, of }
}

/// The text of a test, and how hard it is to read.
fn read(test: &Test, words: &[Word]) -> (String, u32) {
    let word = &words[test.term()];
    let text = &word.text;
    match test {
        Test::Number(_, sign, number) => {
            // People write `> 0` and `> 1` where others write `>= 1` and `>= 2`.
            let number_read = match (sign, *number) {
                (Comparison::GreaterOrEqual, 1 | 2) => *number - 1,
                (Comparison::LessOrEqual, -1) => 0,
                _ => *number,
            };
            let weight = word.weight + number_weight(number_read) + u32::from(*sign == Comparison::NotEqual);
            (numbered(text, *sign, *number), weight)
        }
        Test::Terms(_, sign, other) => {
            let other = &words[*other];
            (format!("{text} {} {}", sign.symbol(), other.text), word.weight + other.weight)
        }
        Test::Remainder(_, divisor, rest, is) => {
            let divided = divided(text);
            let sign = if *is { "==" } else { "!=" };
            let weight = word.weight + 8 + number_weight(*divisor) + number_weight(*rest);
            (format!("{divided} mod {divisor} {sign} {rest}"), weight)
        }
        Test::MultipleOf(_, other, is) => {
            let (other, sign) = (&words[*other], if *is { "==" } else { "!=" });
            let divided = divided(text);
            (format!("{divided} mod {} {sign} 0", other.text), word.weight + other.weight + 8)
        }
        Test::Flag(_, true) => (text.clone(), word.weight),
        Test::Flag(_, false) if text.starts_with('(') => (format!("not {text}"), word.weight + 2),
        Test::Flag(_, false) => (format!("not {text}"), word.weight + 1),
        Test::Names(_, codes, is) => names(word, codes, *is),
        Test::Within(_, set) => within(word, *set),
        Test::Either(one, or) => {
            let ((one, weight), (or, more)) = (read(one, words), read(or, words));
            (format!("({one} or {or})"), weight + more)
        }
        Test::Both(one, and) => {
            let ((one, weight), (and, more)) = (read(one, words), read(and, words));
            (format!("{one} and {and}"), weight + more)
        }
    }
}

/// A dividend, in parentheses if it is more than a name or a call.
fn divided(text: &str) -> String {
    if text.contains(' ') && !text.starts_with('(') { format!("({text})") } else { text.to_owned() }
}

/// A comparison with a number, as people write it.
fn numbered(text: &str, sign: Comparison, number: i64) -> String {
    let zero_sign = match (sign, number) {
        (Comparison::GreaterOrEqual, 1) => Some(Comparison::Greater),
        (Comparison::LessOrEqual, -1) => Some(Comparison::Less),
        (sign, 0) => Some(sign),
        _ => None,
    };
    if let Some((sign, [one, other])) = zero_sign.zip(difference(text)) {
        return format!("{one} {} {other}", sign.symbol());
    }
    match (sign, number) {
        (Comparison::GreaterOrEqual, 1 | 2) => format!("{text} > {}", number - 1),
        (Comparison::Less, 2) => format!("{text} <= 1"),
        (Comparison::LessOrEqual, -1) => format!("{text} < 0"),
        _ => format!("{text} {} {number}", sign.symbol()),
    }
}

/// The operands of a difference.
fn difference(text: &str) -> Option<[Expression; 2]> {
    let form = if text.contains(" - ") { parse(text).ok()?.form } else { return None };
    match form {
        Form::Binary(Binary::Subtract, pair) => Some(*pair),
        _ => None,
    }
}

/// How unusual a number is: those that code often has are light, such as the bounds of integer types.
pub(crate) fn number_weight(number: i64) -> u32 {
    let magnitude = number.unsigned_abs();
    let is_bound = [7, 8, 15, 16, 31, 32].iter().any(|bits| magnitude == 1 << bits);
    let of_magnitude = match magnitude {
        0 | 1 => 0,
        2..=4 => 1,
        5..=8 => 2,
        _ if is_bound => 2,
        _ if magnitude.is_power_of_two() => 3,
        _ if (magnitude + 1).is_power_of_two() || (magnitude - 1).is_power_of_two() => 4,
        _ => 6 + magnitude.ilog10(),
    };
    of_magnitude + u32::from(number < 0)
}

/// A condition on a set of names.
fn within(word: &Word, set: i64) -> (String, u32) {
    let ValueKind::Violation(known) = &word.kind else { return (String::new(), 0) };
    let named = known.iter().enumerate().filter(|(place, _)| set >> place & 1 == 1);
    let names: Vec<&str> = named.map(|(_, name)| name.as_str()).collect();
    let weight = word.weight + 3 * names.len() as u32;
    match names.as_slice() {
        [one] => (format!("{} == {one}", word.text), weight),
        several => (format!("{} in [{}]", word.text, several.join(", ")), weight + 4),
    }
}

/// A condition on a name.
fn names(word: &Word, codes: &[i64], is: bool) -> (String, u32) {
    let ValueKind::Name(known) = &word.kind else { return (String::new(), 0) };
    let name = |code: &i64| {
        let named = known.iter().find(|(value, _)| value == code);
        named.map_or_else(|| code.to_string(), |(_, name)| name.clone())
    };
    let text = &word.text;
    let weight = word.weight + 3 * codes.len() as u32;
    match (codes, is) {
        ([one], true) => (format!("{text} == {}", name(one)), weight),
        ([one], false) => (format!("{text} != {}", name(one)), weight + 2),
        _ => {
            let list = codes.iter().map(name).collect::<Vec<_>>().join(", ");
            let not = if is { "" } else { "not " };
            (format!("{not}{text} in [{list}]"), weight + 4)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_compared_by_its_operands() {
        let of = |text, sign, number| numbered(text, sign, number);
        assert_eq!(of("a - (b - c) * d", Comparison::GreaterOrEqual, 0), "a >= (b - c) * d");
        assert_eq!(of("a - b", Comparison::GreaterOrEqual, 1), "a > b");
        assert_eq!(of("rank - 1 - axis", Comparison::Equal, 0), "rank - 1 == axis");
        assert_eq!(of("a - b", Comparison::GreaterOrEqual, 2), "a - b > 1");
        assert_eq!(of("a - b + c", Comparison::Less, 0), "a - b + c < 0");
    }

    #[test]
    fn a_negative_number_is_heavier_than_its_magnitude() {
        assert_eq!([0, 1, -1, 2, -2].map(number_weight), [0, 0, 1, 1, 2]);
    }
}
