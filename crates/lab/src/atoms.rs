//! Simple conditions on cases ([`Atom`]), in the language of `--where`, and random conjunctions of them.
//!
//! Each conjunction has a witness, a case for which it holds. For each condition, a kind is drawn first, and
//! then a condition of this kind. So kinds with few conditions are as frequent as kinds with many, such as
//! bounds.
//!
//! A condition is kept if it holds for 2 % to 70 % of a sample of cases. Only cases of operators for which it
//! holds at all count. So a condition on a member says more than the name of the operator with this member.
//! Conditions on the operator itself are always kept. In the sample, no condition of a conjunction implies
//! another one, so each of them adds something.

use std::collections::{BTreeMap, BTreeSet};

use dmlcts_generate::draw::Draws;
use dmlcts_model::{Case, FeatureLevel, MemberKind, Side, Value, named_enum};
use dmlcts_spec::{ElementKind, Library, Predicate, program::Values};

/// The least and the greatest percentage of the sampled cases of its operators for which a condition holds.
const SHARE: (usize, usize) = (2, 70);

/// The number of conditions tried of a kind, and the number of kinds tried for each condition of a
/// conjunction.
const ATTEMPTS: usize = 32;

/// Bounds that code is likely to have: 0 to 5, each power of two up to 1024, and the number below it.
const BOUNDS: [i64; 20] = [0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 255, 256, 1023, 1024];

named_enum! {
    /// A kind of condition.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) enum AtomKind: name {
        /// The operator.
        Operator = "operator",
        /// The data type.
        DataType = "data type",
        /// The number of bytes of an element.
        Width = "width",
        /// The value of an enumeration.
        Mode = "mode",
        /// The number of dimensions.
        Rank = "rank",
        /// The number of axes that have a property.
        AxisCount = "number of axes",
        /// A bound on any axis, or on all axes.
        Bound = "bound",
        /// A bound on the first or the last axis.
        Edge = "edge",
        /// A comparison of two lists on an axis.
        Comparison = "comparison",
        /// A multiple on an axis.
        Multiple = "multiple",
        /// A remainder that the search for causes does not propose.
        Remainder = "remainder",
        /// The parity of a sum of two lists.
        Parity = "parity",
        /// A comparison of lists on two axes.
        OtherAxis = "other axis",
        /// The number of bytes of a tensor.
        Bytes = "bytes",
        /// The value of a scalar.
        Scalar = "scalar",
        /// Strides, alignment, total sizes and offsets of bindings.
        Layout = "layout",
        /// The number of elements of a tensor.
        Elements = "elements",
    }
}

/// A condition, and the cases of the sample for which it holds.
#[derive(Clone, Debug)]
pub(crate) struct Atom {
    /// The condition, as `--where` takes it.
    pub(crate) text: String,
    predicate: Predicate,
    held: Vec<bool>,
}

impl Atom {
    /// Whether it holds for every case of the sample for which the other holds.
    fn is_implied_by(&self, other: &Self) -> bool {
        self.held.iter().zip(&other.held).all(|(this, other)| *this || !other)
    }
}

/// Draws conditions and conjunctions of them.
#[derive(Debug)]
pub(crate) struct Atoms {
    library: &'static Library,
    sample: Vec<Case>,
    /// The conditions drawn so far, by text; `None` for one that too few or too many cases meet.
    known: BTreeMap<String, Option<Atom>>,
    values: Values,
}

impl Atoms {
    /// Creates a source of conditions that are neither rare nor common in this sample.
    pub(crate) fn new(library: &'static Library, sample: Vec<Case>) -> Self {
        Self { library, sample, known: BTreeMap::new(), values: Values::default() }
    }

    /// Draws `number` conditions that hold for the witness. `None` if too few are found: few conditions hold
    /// for some cases.
    pub(crate) fn conjunction(
        &mut self,
        witness: &Case,
        number: usize,
        draws: &mut Draws,
    ) -> Option<Vec<Atom>> {
        let mut chosen: Vec<Atom> = Vec::new();
        for _ in 0..ATTEMPTS * number {
            if chosen.len() == number {
                break;
            }
            let kind = AtomKind::ALL[draws.place(AtomKind::ALL.len())];
            chosen.extend(self.atom(kind, witness, &chosen, draws));
        }
        (chosen.len() == number).then_some(chosen)
    }

    /// A condition of a kind that holds for a case and adds something to the others.
    fn atom(&mut self, kind: AtomKind, witness: &Case, others: &[Atom], draws: &mut Draws) -> Option<Atom> {
        for _ in 0..ATTEMPTS {
            // `None` if these draws give no condition of this kind for the case.
            let Some(text) = text(kind, witness, draws) else { continue };
            let Some(atom) = self.measured(kind, text) else { continue };
            let adds = |other: &Atom| !atom.is_implied_by(other) && !other.is_implied_by(&atom);
            if others.iter().all(adds)
                && atom.predicate.holds(witness, FeatureLevel::NEWEST, &mut self.values)
            {
                return Some(atom);
            }
        }
        None
    }

    /// The condition with this text, unless too few or too many cases of the sample meet it.
    fn measured(&mut self, kind: AtomKind, text: String) -> Option<Atom> {
        if let Some(known) = self.known.get(&text) {
            return known.clone();
        }
        let predicate = Predicate::parse(&text, self.library).ok()?;
        let holds = |case: &Case| predicate.holds(case, FeatureLevel::NEWEST, &mut self.values);
        let held: Vec<bool> = self.sample.iter().map(holds).collect();
        let is_kept = kind == AtomKind::Operator || self.is_within_share(&held);
        let atom = is_kept.then(|| Atom { text: text.clone(), predicate, held });
        self.known.insert(text, atom.clone());
        atom
    }

    /// Whether a condition that holds for these cases of the sample is neither rare nor common.
    fn is_within_share(&self, held: &[bool]) -> bool {
        let name = |case: &Case| case.desc.signature.operator.clone();
        let cases = self.sample.iter().zip(held);
        let operators: BTreeSet<String> =
            cases.filter(|(_, held)| **held).map(|(case, _)| name(case)).collect();
        let all = self.sample.iter().filter(|case| operators.contains(&name(case))).count();
        let count = held.iter().filter(|held| **held).count() * 100;
        count >= SHARE.0 * all.max(1) && count <= SHARE.1 * all
    }
}

/// The conjunction of these conditions, as `--where` takes it.
pub(crate) fn joined(atoms: &[Atom]) -> String {
    // A quantifier extends to the closing parenthesis.
    let is_enclosed = |atom: &Atom| atoms.len() > 1 && atom.text.contains(" ax");
    let texts = atoms
        .iter()
        .map(|atom| if is_enclosed(atom) { format!("({})", atom.text) } else { atom.text.clone() });
    texts.collect::<Vec<_>>().join(" and ")
}

/// A condition of a kind, on the lists and values of a case. It need not hold for the case. `None` if the
/// case has no such condition.
fn text(kind: AtomKind, case: &Case, draws: &mut Draws) -> Option<String> {
    let desc = &case.desc;
    let quantifier = ["any axis", "all axes"][draws.place(2)];
    Some(match kind {
        AtomKind::Operator => format!("operator == {}", desc.signature.operator),
        AtomKind::DataType => {
            format!("InputTensor.DataType == {}", desc.tensor(Side::Input)?.data_type.name()?)
        }
        AtomKind::Width => format!("InputTensor.ElementSize {}", against(draws, &[1, 2, 4, 8])),
        AtomKind::Mode => mode(case, draws)?,
        AtomKind::Rank => format!("rank {}", against(draws, &[1, 2, 3, 4, 5, 6, 7, 8])),
        AtomKind::AxisCount => {
            let property = property(case, draws)?;
            let count = against(draws, &[0, 1, 2, 3, 4, 5, 6, 7]);
            format!("(sum axes (if {property} then 1 else 0)) {count}")
        }
        AtomKind::Bound => {
            let (list, is_signed) = list(case, draws)?;
            format!("{quantifier} {list} {}", bound(is_signed, draws))
        }
        AtomKind::Edge => {
            let (list, is_signed) = list(case, draws)?;
            let axis = ["0", "rank - 1"][draws.place(2)];
            format!("any axis axis == {axis} and {list} {}", bound(is_signed, draws))
        }
        AtomKind::Comparison => format!("{quantifier} {}", comparison(case, draws)?),
        AtomKind::Multiple => {
            let (list, _) = list(case, draws)?;
            let (divisor, sign) = ([2, 3, 4, 8, 16][draws.place(5)], ["==", "!="][draws.place(2)]);
            format!("{quantifier} {list} mod {divisor} {sign} 0")
        }
        AtomKind::Remainder => {
            let (list, _) = list(case, draws)?;
            let divisor = [3, 5, 6, 7, 10][draws.place(5)];
            format!("{quantifier} {list} mod {divisor} == {}", draws.below(divisor))
        }
        AtomKind::Parity => {
            let ((one, _), (other, _)) = (list(case, draws)?, list(case, draws)?);
            (one != other).then(|| format!("{quantifier} ({one} + {other}) mod 2 == {}", draws.below(2)))?
        }
        AtomKind::OtherAxis => {
            let ((one, _), (other, _)) = (list(case, draws)?, list(case, draws)?);
            let axis = ["next", "previous", "first", "last", "opposite"][draws.place(5)];
            let sign = ["<", "==", "!=", ">"][draws.place(4)];
            format!("any axis {one} {sign} {axis}({other})")
        }
        AtomKind::Bytes => {
            let tensor = side(draws);
            let bytes = match draws.place(2) {
                0 => format!("(product axes {tensor}.Sizes) * {tensor}.ElementSize"),
                _ => format!("{tensor}.TotalTensorSizeInBytes"),
            };
            format!("{bytes} {}", against(draws, &[12, 16, 24, 64, 100, 128, 256, 1000, 4096]))
        }
        AtomKind::Scalar => scalar(case, draws)?,
        AtomKind::Layout => layout(draws),
        AtomKind::Elements => {
            let tensor = side(draws);
            let elements = format!("(product axes {tensor}.Sizes)");
            match draws.place(3) {
                0 => format!("{elements} mod {} != 0", [2, 4, 8, 16, 32, 64][draws.place(6)]),
                _ => format!("{elements} {}", against(draws, &BOUNDS)),
            }
        }
    })
}

/// The name of a tensor.
fn side(draws: &mut Draws) -> &'static str {
    Side::BOTH[draws.place(2)].member_name()
}

/// A comparison with one of these numbers. `measured` drops comparisons that few cases meet, such as equality
/// with a large number.
fn against(draws: &mut Draws, bounds: &[i64]) -> String {
    let sign = [">=", "<", "=="][draws.place(3)];
    format!("{sign} {}", bounds[draws.place(bounds.len())])
}

/// A comparison of a value on an axis with a bound.
fn bound(is_signed: bool, draws: &mut Draws) -> String {
    let is_negative = is_signed && draws.chance(1, 2);
    against(draws, if is_negative { &[-1, -2, -3, -4] } else { &BOUNDS })
}

/// A list of the case's operator (a member, or the sizes or strides of a tensor), and whether its values may
/// be negative.
fn list(case: &Case, draws: &mut Draws) -> Option<(String, bool)> {
    let members = case.desc.signature.members.iter().filter(|member| member.kind.is_list());
    let mut lists: Vec<(String, bool)> =
        members.map(|member| (member.name.clone(), matches!(member.kind, MemberKind::I32List))).collect();
    for side in Side::BOTH {
        lists.extend(["Sizes", "Strides"].map(|field| (format!("{}.{field}", side.member_name()), false)));
    }
    draws.pick(&lists).cloned()
}

/// A comparison of two lists on an axis.
fn comparison(case: &Case, draws: &mut Draws) -> Option<String> {
    let ((one, _), (other, _)) = (list(case, draws)?, list(case, draws)?);
    let sign = ["<", "<=", "==", "!=", ">=", ">"][draws.place(6)];
    (one != other).then(|| format!("{one} {sign} {other}"))
}

/// A property of an axis.
fn property(case: &Case, draws: &mut Draws) -> Option<String> {
    if draws.chance(1, 3) {
        return comparison(case, draws);
    }
    let (list, is_signed) = list(case, draws)?;
    Some(match draws.place(if is_signed { 5 } else { 4 }) {
        0 => format!("{list} == 0"),
        1 => format!("{list} > 0"),
        2 => format!("{list} == 1"),
        3 => format!("{list} > 1"),
        _ => format!("{list} < 0"),
    })
}

/// An enumeration member equals its value in the case, or differs from a drawn enumerator.
fn mode(case: &Case, draws: &mut Draws) -> Option<String> {
    let members = case.desc.signature.members.iter().zip(&case.desc.members);
    let modes: Vec<_> = members
        .filter_map(|(member, value)| match (&member.kind, value) {
            (MemberKind::Enumeration(enumeration), Value::Integer(value)) => {
                Some((&member.name, enumeration, *value))
            }
            _ => None,
        })
        .collect();
    let (name, enumeration, value) = draws.pick(&modes)?;
    let other = &draws.pick(&enumeration.enumerators)?.name;
    if draws.chance(1, 4) {
        return Some(format!("{name} != {other}"));
    }
    Some(format!("{name} == {}", enumeration.name_of(*value)?))
}

/// A condition on a scalar member, or on the padding that it is.
fn scalar(case: &Case, draws: &mut Draws) -> Option<String> {
    let mut members = case.desc.signature.members.iter();
    let scalar = members.find(|member| matches!(member.kind, MemberKind::Scalar))?;
    Some(match draws.place(3) {
        0 => format!("spare({}) {}", scalar.name, ["!= 0", "mod 2 != 0"][draws.place(2)]),
        1 => format!("pads({})", ElementKind::ALL[draws.place(ElementKind::ALL.len())].name()),
        _ => {
            let number = ["padded_bits", "padded_precision", "padded_lowest_bit"][draws.place(3)];
            format!("{number} {}", against(draws, &[1, 2, 5, 8, 11, 16, 24, 31, 32]))
        }
    })
}

/// A condition on the memory of a tensor.
fn layout(draws: &mut Draws) -> String {
    let tensor = side(draws);
    let binding = tensor.replace("Tensor", "Binding");
    let power = [4, 8, 16, 64, 256][draws.place(5)];
    match draws.place(12) {
        10 => format!("{tensor}.Flags == 1"),
        11 => format!("any axis {tensor}.Strides == next({tensor}.Sizes * {tensor}.Strides)"),
        0 => format!("present({tensor}.Strides)"),
        1 => format!("not present({tensor}.Strides)"),
        2 => format!("any axis {tensor}.Sizes > 1 and {tensor}.Strides == 0"),
        3 => format!("any axis axis == rank - 1 and {tensor}.Strides != 1"),
        4 => format!("any axis axis > 0 and {tensor}.Strides > 64"),
        5 => format!("{tensor}.TotalTensorSizeInBytes mod {power} != 0"),
        6 => format!("(product axes {tensor}.Sizes) * {tensor}.ElementSize mod {power} != 0"),
        7 => {
            let needed = format!("(1 + sum axes ({tensor}.Sizes - 1) * {tensor}.Strides)");
            format!("{tensor}.TotalTensorSizeInBytes > align({needed} * {tensor}.ElementSize, 4)")
        }
        8 => format!("{tensor}.GuaranteedBaseOffsetAlignment >= {power}"),
        _ => format!("{binding}.Offset mod {} != 0", power * 16),
    }
}

#[cfg(test)]
mod tests {
    use dmlcts_generate::{Suite, draw::derive};

    use super::*;

    /// Cases of each operator, of many types, ranks and layouts.
    fn cases() -> Vec<Case> {
        let library = Library::embedded();
        let suite = Suite::load("smoke").and_then(|suite| suite.expand(library, 5));
        let suite = suite.expect("the suite expands");
        let parts = suite.parts().iter().filter(|part| ["random", "layout"].contains(&part.id()));
        let mut cases = Vec::new();
        for part in parts {
            let mut case = suite.blank().expect("there are operators");
            cases.extend((0..300).map_while(|index| part.case(index, &mut case).then(|| case.clone())));
        }
        cases
    }

    fn holds(text: &str, case: &Case) -> bool {
        let predicate = Predicate::parse(text, Library::embedded()).expect(text);
        predicate.holds(case, FeatureLevel::NEWEST, &mut Values::default())
    }

    #[test]
    fn every_kind_has_conditions_in_the_language_of_predicates() {
        let mut draws = Draws::new(1);
        let cases = cases();
        for kind in AtomKind::ALL {
            let near = |case| text(kind, case, &mut draws);
            let texts: BTreeSet<String> = cases.iter().filter_map(near).collect();
            assert!(texts.len() >= 3, "{}: {texts:?}", kind.name());
            for text in &texts {
                assert!(Predicate::parse(text, Library::embedded()).is_ok(), "{}: {text}", kind.name());
            }
            let is_met = |text: &String| cases.iter().any(|case| holds(text, case));
            assert!(texts.iter().any(is_met), "{}: {texts:?}", kind.name());
        }
    }

    #[test]
    fn a_conjunction_holds_for_its_witness_and_for_fewer_cases_than_each_atom() {
        let cases = cases();
        let mut atoms = Atoms::new(Library::embedded(), cases.clone());
        let (mut drawn, mut operators) = (0, 0);
        for (seed, witness) in (0..).zip(cases.iter().step_by(5)) {
            let number = 1 + seed as usize % 4;
            let Some(chosen) = atoms.conjunction(witness, number, &mut Draws::new(seed)) else { continue };
            drawn += 1;
            assert_eq!(chosen.len(), number);
            let text = joined(&chosen);
            assert!(holds(&text, witness), "{text}: {witness}");
            operators += usize::from(text.contains("operator =="));
            let met = |text: &str| cases.iter().filter(|case| holds(text, case)).count();
            for atom in &chosen {
                // The share is of the cases of the operators for which the condition holds.
                assert!(met(&atom.text) * 100 <= 70 * cases.len(), "{}", atom.text);
                assert!(number == 1 || met(&text) < met(&atom.text), "{text}: {}", atom.text);
            }
        }
        assert!(drawn >= 100 && operators < drawn / 2, "{drawn} {operators}");
    }

    #[test]
    fn the_same_draws_give_the_same_conjunction() {
        let cases = cases();
        let draw = |seed, before: u64| {
            let mut atoms = Atoms::new(Library::embedded(), cases.clone());
            // Earlier conjunctions change nothing.
            for other in 0..before {
                atoms.conjunction(&cases[3], 2, &mut Draws::new(derive(other, "other")));
            }
            joined(&atoms.conjunction(&cases[7], 3, &mut Draws::new(seed)).expect("it is found"))
        };
        assert_eq!(draw(1, 0), draw(1, 5));
        assert_ne!(draw(1, 0), draw(2, 0));
    }

    #[test]
    fn rare_and_common_conditions_are_dropped() {
        let cases = cases();
        let mut atoms = Atoms::new(Library::embedded(), cases);
        for (text, is_kept) in [
            ("rank >= 1", false),
            ("rank >= 4", true),
            ("any axis InputTensor.Sizes == 1024", false),
            // Each case of SLICE1 meets it.
            ("(sum axes (if InputWindowSizes == 0 then 1 else 0)) < 2", false),
            ("any axis axis == 0 and InputWindowStrides < 0", true),
        ] {
            assert_eq!(atoms.measured(AtomKind::Bound, text.to_owned()).is_some(), is_kept, "{text}");
        }
    }

    #[test]
    fn an_atom_that_another_one_implies_adds_nothing() {
        let mut atoms = Atoms::new(Library::embedded(), cases());
        let mut atom = |text: &str| atoms.measured(AtomKind::Bound, text.to_owned()).expect(text);
        let (one, other) = (atom("any axis InputTensor.Sizes >= 8"), atom("any axis InputTensor.Sizes >= 7"));
        assert!(other.is_implied_by(&one) && !one.is_implied_by(&other));
        let other = atom("rank < 4");
        assert!(!other.is_implied_by(&one) && !one.is_implied_by(&other));
    }
}
