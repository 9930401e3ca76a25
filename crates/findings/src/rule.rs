//! Rules: conjunctions of conditions. A condition asks an atom of the desc, or of the axes; the atoms of a
//! condition on axes hold together on one axis.

use crate::{
    atom::{Atom, Truth, UNCOUNTED},
    bits::Bits,
    universe::Universe,
};

/// What is asked of the lanes of atoms.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Form {
    /// The atoms are about the desc.
    Once,
    Any,
    All,
    /// No axis has all of the atoms.
    No,
    First,
    Last,
    AtLeast(u8),
    AtMost(u8),
    Exactly(u8),
}

impl Form {
    /// The forms of a condition on one atom of an axis. Counts are for atoms that are easy to read.
    pub(crate) fn of_axis(with_counts: bool) -> Vec<Self> {
        let mut forms = vec![Self::Any, Self::All, Self::First, Self::Last];
        if with_counts {
            forms.extend((2..8).map(Self::AtLeast));
            forms.extend((1..7).map(Self::AtMost));
            forms.extend((1..7).map(Self::Exactly));
        }
        forms
    }

    /// Whether the condition holds for these lanes.
    #[inline]
    pub(crate) fn holds(self, truth: Truth) -> bool {
        let Truth { on, of, .. } = truth;
        match self {
            Self::Once | Self::First => on & 1 == 1,
            Self::Any => on != 0,
            Self::All => of != 0 && on == of,
            Self::No => truth.count() == 0,
            Self::Last => of != 0 && on >> (of.count_ones() - 1) & 1 == 1,
            Self::AtLeast(_) | Self::AtMost(_) | Self::Exactly(_) => self.counts(truth.count()),
        }
    }

    /// Whether the condition holds for this number of lanes; for other forms, false.
    #[inline]
    fn counts(self, count: u8) -> bool {
        match self {
            Self::AtLeast(least) => count >= least && count != UNCOUNTED,
            Self::AtMost(most) => count <= most && count != UNCOUNTED,
            Self::Exactly(wanted) => count == wanted && count != UNCOUNTED,
            _ => false,
        }
    }

    /// The places of the truths for which the condition holds. `counts` are [`Truth::count`] of each. A
    /// search asks millions of truths, so that each form has a loop of its own.
    pub(crate) fn held(self, truths: &[Truth], counts: &[u8]) -> Bits {
        match self {
            Self::Once | Self::First => Bits::of(truths, |truth| Self::First.holds(*truth)),
            Self::Any => Bits::of(truths, |truth| Self::Any.holds(*truth)),
            Self::All => Bits::of(truths, |truth| Self::All.holds(*truth)),
            Self::No => Bits::of(counts, |count| *count == 0),
            Self::Last => Bits::of(truths, |truth| Self::Last.holds(*truth)),
            Self::AtLeast(least) => Bits::of(counts, |count| Self::AtLeast(least).counts(*count)),
            Self::AtMost(most) => Bits::of(counts, |count| Self::AtMost(most).counts(*count)),
            Self::Exactly(wanted) => Bits::of(counts, |count| Self::Exactly(wanted).counts(*count)),
        }
    }

    /// The number of truths for which the condition holds, as for [`Form::held`].
    pub(crate) fn count(self, truths: &[Truth], counts: &[u8]) -> usize {
        match self {
            Self::AtLeast(_) | Self::AtMost(_) | Self::Exactly(_) => {
                counts.iter().filter(|count| self.counts(**count)).count()
            }
            _ => truths.iter().filter(|truth| self.holds(**truth)).count(),
        }
    }

    fn weight(self) -> u32 {
        match self {
            Self::Once => 0,
            Self::Any => 2,
            Self::All => 3,
            Self::No => 6,
            Self::First | Self::Last => 8,
            Self::AtLeast(_) | Self::AtMost(_) => 14,
            Self::Exactly(_) => 16,
        }
    }
}

/// Atoms, by their indices, and what is asked of them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Condition {
    pub(crate) form: Form,
    pub(crate) atoms: Vec<usize>,
}

/// The weight of a condition beyond that of its atoms.
const CONDITION: u32 = 8;

impl Condition {
    /// Where its atoms hold together.
    pub(crate) fn truth(&self, atoms: &[Atom], universe: &Universe<'_>, case: usize) -> Truth {
        let truths = self.atoms.iter().map(|atom| atoms[*atom].truth(universe, case));
        truths.reduce(Truth::and).unwrap_or(Truth { on: 0, defined: 0, of: 0 })
    }

    /// Whether it holds for a case.
    pub(crate) fn holds(&self, atoms: &[Atom], universe: &Universe<'_>, case: usize) -> bool {
        self.form.holds(self.truth(atoms, universe, case))
    }

    /// How hard it is to read.
    pub(crate) fn weight(&self, atoms: &[Atom]) -> u32 {
        let atoms: u32 = self.atoms.iter().map(|atom| atoms[*atom].weight + CONDITION).sum();
        self.form.weight() + atoms
    }

    /// The text, and whether it extends to a closing parenthesis.
    fn text(&self, atoms: &[Atom]) -> (String, bool) {
        let texts: Vec<&str> = self.atoms.iter().map(|atom| atoms[*atom].text.as_str()).collect();
        let joined = texts.join(" and ");
        let counted =
            |sign: &str, count: u8| (format!("(sum axes (if {joined} then 1 else 0)) {sign} {count}"), false);
        match self.form {
            Form::Once => (joined, false),
            Form::Any if texts.len() == 1 => (format!("any axis {joined}"), true),
            Form::Any => (format!("any axis ({joined})"), true),
            Form::All if texts.len() == 1 => (format!("all axes {joined}"), true),
            Form::All => (format!("all axes ({joined})"), true),
            Form::No => (format!("not any axis ({joined})"), true),
            Form::First => (format!("first({joined})"), false),
            Form::Last => (format!("last({joined})"), false),
            Form::AtLeast(count) => counted(">=", count),
            Form::AtMost(count) => counted("<=", count),
            Form::Exactly(count) => counted("==", count),
        }
    }
}

/// Conditions that hold together.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Rule {
    pub(crate) conditions: Vec<Condition>,
}

impl Rule {
    /// Whether it holds for a case.
    pub(crate) fn holds(&self, atoms: &[Atom], universe: &Universe<'_>, case: usize) -> bool {
        self.conditions.iter().all(|condition| condition.holds(atoms, universe, case))
    }

    /// How hard it is to read.
    pub(crate) fn weight(&self, atoms: &[Atom]) -> u32 {
        self.conditions.iter().map(|condition| condition.weight(atoms)).sum()
    }

    /// The number of atoms.
    pub(crate) fn length(&self) -> usize {
        self.conditions.iter().map(|condition| condition.atoms.len()).sum()
    }

    /// The text, with the quantifiers at the end.
    pub(crate) fn text(&self, atoms: &[Atom]) -> String {
        // Conditions of the same axis are one.
        let mut joined: Vec<Condition> = Vec::new();
        for condition in &self.conditions {
            let is_of_axis = matches!(condition.form, Form::First | Form::Last);
            match joined.iter_mut().find(|known| is_of_axis && known.form == condition.form) {
                Some(known) => known.atoms.extend(&condition.atoms),
                None => joined.push(condition.clone()),
            }
        }
        let mut texts: Vec<(String, bool)> = joined.iter().map(|condition| condition.text(atoms)).collect();
        texts.sort_by_key(|(_, extends)| *extends);
        let mut all = String::new();
        let last = texts.len().saturating_sub(1);
        for (place, (text, extends)) in texts.into_iter().enumerate() {
            if place > 0 {
                all.push_str(" and ");
            }
            if extends && place < last { all.extend(["(", &text, ")"]) } else { all.push_str(&text) }
        }
        all
    }
}
