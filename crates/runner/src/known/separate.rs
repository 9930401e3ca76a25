//! Finding predicates that hold of cases that failed and of none that passed: as few as can be, each of as
//! few and as short conditions as can be.
//!
//! At first one is sought that holds of all failures: of one condition, then of two, then of three. The
//! conditions of a predicate hold of the desc, of any axis, of all axes, or together of one and the same
//! axis. Where none tells all failures, the one is taken that tells the most of them, and what it leaves is
//! told by others. The search is a beam: of all conjunctions of so many conditions the best [`WIDTH`] are
//! made longer.

use std::{cmp::Reverse, collections::BTreeSet};

use dmlcts_model::{Case, FeatureLevel};
use dmlcts_spec::{Conditions, Operator, Scope, Truth, program::Values};

use super::{bits::Bits, candidates::candidates};

/// As many conditions are joined.
const JOINED: usize = 3;
/// As many conjunctions of so many conditions are made longer by one.
const WIDTH: usize = 128;
/// As many predicates tell what has one operator and one class.
const MOST_PREDICATES: usize = 8;
/// As many conditions on an axis are joined with others.
const MOST_ATOMS: usize = 96;
/// A predicate of one condition more must hold of so many times the failures, and of half as many where it
/// holds of all: what fits a handful of cases by many conditions fits them by chance.
const FAILURES_A_CONDITION: usize = 4;
/// What makes a predicate harder to read, in letters: another condition, one that computes, the words `any
/// axis`.
const CONDITION: usize = 8;
const COMPUTED: usize = 16;
const ANY_AXIS: usize = 9;

/// Cases that failed and cases that passed, and where the conditions hold of them.
pub(super) struct Separation<'a> {
    operator: &'a Operator,
    /// What may be asked of the desc, of any axis and of all.
    parts: Vec<Part>,
    /// What may be asked of one axis together with others.
    atoms: Vec<Atom>,
    /// All failures.
    failed: Bits,
    /// All passes.
    passed: Bits,
    failed_count: usize,
    passed_count: usize,
}

/// A condition on a case.
struct Part {
    text: String,
    weight: usize,
    held: Held,
    /// Whether it is an atom of any axis.
    is_atom: bool,
}

/// A condition on an axis.
struct Atom {
    text: String,
    weight: usize,
    /// The axes where it holds, a bit an axis: of the failures, then of the passes.
    axes: Vec<u8>,
}

/// The cases of which something holds.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Held {
    failed: Bits,
    passed: Bits,
}

/// Conditions that are joined.
#[derive(Clone)]
struct Joint {
    parts: Vec<usize>,
    /// Those that hold of one axis together.
    axis: Vec<usize>,
    /// Of which the parts hold.
    of_parts: Held,
    held: Held,
    weight: usize,
}

/// What is sought.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sought {
    /// What holds of every failure that is left.
    All,
    /// What holds of many.
    Many,
}

impl<'a> Separation<'a> {
    /// Starts from cases of an operator that failed, and others that passed.
    /// Other predicates may be parts of new ones.
    pub(super) fn new(
        (operator, level): (&'a Operator, FeatureLevel),
        failed: &[Case],
        passed: &[Case],
        others: &[String],
    ) -> Self {
        let whole = format!("operator == {} and ", operator.name());
        let others = others.iter().filter_map(|other| other.strip_prefix(&whole));
        let others: Vec<String> = others.map(|other| format!("({other})")).collect();
        let known = others.iter().map(|other| (Scope::Desc, other.clone()));
        let candidates = candidates(operator, failed, passed).into_iter().chain(known);
        let conditions = Conditions::compile(candidates, operator.scope());
        let count = failed.len() + passed.len();
        let mut columns: Vec<Vec<Truth>> =
            conditions.texts().iter().map(|_| Vec::with_capacity(count)).collect();
        let (mut values, mut truths) = (Values::default(), Vec::new());
        for case in failed.iter().chain(passed) {
            conditions.truths(case, level, &mut values, &mut truths);
            columns.iter_mut().zip(&truths).for_each(|(column, truth)| column.push(*truth));
        }
        let mut separation = Self {
            operator,
            parts: Vec::new(),
            atoms: Vec::new(),
            failed: Bits::new(failed.iter().map(|_| true)),
            passed: Bits::new(passed.iter().map(|_| true)),
            failed_count: failed.len(),
            passed_count: passed.len(),
        };
        let mut all: Vec<_> = conditions.texts().iter().zip(columns).collect();
        // Of conditions that hold of the same cases the first is kept.
        all.sort_by_key(|((scope, text), _)| (weight(text), *scope == Scope::Axis, text.clone()));
        let (mut parts, mut atoms) = (BTreeSet::new(), BTreeSet::new());
        for ((scope, text), column) in all {
            let of = |holds: fn(&Truth) -> bool| {
                let held = |truths: &[Truth]| Bits::new(truths.iter().map(holds));
                Held { failed: held(&column[..failed.len()]), passed: held(&column[failed.len()..]) }
            };
            let is_axis = *scope == Scope::Axis;
            let any = if is_axis { format!("any axis {text}") } else { text.clone() };
            separation.add(any, is_axis, of(|truth| truth.on != 0), &mut parts);
            if is_axis {
                separation.add(
                    format!("all axes {text}"),
                    false,
                    of(|truth| truth.on == truth.of),
                    &mut parts,
                );
                let axes: Vec<u8> = column.iter().map(|truth| truth.on).collect();
                if atoms.insert(axes.clone()) {
                    separation.atoms.push(Atom { text: text.clone(), weight: weight(text), axes });
                }
            }
        }
        separation
    }

    fn add(&mut self, text: String, is_atom: bool, held: Held, known: &mut BTreeSet<Held>) {
        // What holds of all cases tells nothing, and what holds of no failure neither.
        let is_telling = !held.failed.is_empty() && !held.passed.contains(&self.passed);
        if is_telling && known.insert(held.clone()) {
            self.parts.push(Part { weight: weight(&text), text, held, is_atom });
        }
    }

    /// Predicates that together hold of as many failures as can be told, the one that tells the most first.
    pub(super) fn predicates(&self) -> Vec<String> {
        let mut left = self.failed.clone();
        let mut found = Vec::new();
        while !left.is_empty() && found.len() < MOST_PREDICATES {
            let joint = self.search(&left, Sought::All).or_else(|| self.search(&left, Sought::Many));
            let Some(joint) = joint else { break };
            left.remove(&joint.held.failed);
            found.push(self.text(&joint));
        }
        found
    }

    /// The best predicate for the failures that are left.
    fn search(&self, left: &Bits, sought: Sought) -> Option<Joint> {
        let none = Joint::none(Held { failed: self.failed.clone(), passed: self.passed.clone() });
        if self.passed.is_empty() {
            return Some(none);
        }
        let (parts, atoms) = (self.parts_for(left, sought), self.atoms_for(left, sought));
        let (mut states, mut best) = (vec![none], None::<(Reverse<usize>, usize, Joint)>);
        for joined in 1..=JOINED {
            let mut longer: Vec<(i64, usize, Joint)> = Vec::new();
            for joint in states.iter().flat_map(|state| self.longer(state, &parts, &atoms)) {
                let (failed, passed) = (joint.held.failed.common(left), joint.held.passed.count());
                let is_enough = match sought {
                    Sought::All => {
                        joint.held.failed.contains(left)
                            && 2 * failed >= FAILURES_A_CONDITION.pow(joined as u32)
                    }
                    Sought::Many => failed >= FAILURES_A_CONDITION.pow(joined as u32),
                };
                if is_enough && passed == 0 {
                    let worth = if sought == Sought::All { 0 } else { worth(failed, joined) };
                    let better =
                        |(most, least, _): &(_, usize, _)| (Reverse(worth), joint.weight) < (*most, *least);
                    if best.as_ref().is_none_or(better) {
                        best = Some((Reverse(worth), joint.weight, joint));
                    }
                } else if is_enough && joined < JOINED {
                    let rank = match sought {
                        Sought::All => passed as i64,
                        Sought::Many => -self.gain(left.count(), failed, passed),
                    };
                    longer.push((rank, joint.weight, joint));
                    if longer.len() >= 32 * WIDTH {
                        keep_best(&mut longer);
                    }
                }
            }
            if sought == Sought::All && best.is_some() {
                break;
            }
            keep_best(&mut longer);
            states = longer.into_iter().map(|(_, _, joint)| joint).collect();
        }
        best.map(|(_, _, joint)| joint)
    }

    /// The parts that are worth trying.
    fn parts_for(&self, left: &Bits, sought: Sought) -> Vec<usize> {
        let is_worth = |part: &Part| sought == Sought::Many || part.held.failed.contains(left);
        let parts = self.parts.iter().enumerate();
        parts.filter(|(_, part)| is_worth(part)).map(|(place, _)| place).collect()
    }

    /// The atoms that are worth trying, with what each holds of by itself.
    fn atoms_for(&self, left: &Bits, sought: Sought) -> Vec<usize> {
        let mut ranked: Vec<(i64, usize, usize)> = Vec::new();
        for (place, atom) in self.atoms.iter().enumerate() {
            let held = self.any(&atom.axes);
            let (failed, passed) = (held.failed.common(left), held.passed.count());
            let is_worth = match sought {
                Sought::All => held.failed.contains(left),
                Sought::Many => failed > 0,
            };
            if is_worth {
                ranked.push((-self.gain(left.count(), failed, passed), atom.weight, place));
            }
        }
        ranked.sort_unstable();
        ranked.truncate(MOST_ATOMS);
        let mut places: Vec<usize> = ranked.into_iter().map(|(_, _, place)| place).collect();
        places.sort_unstable();
        places
    }

    /// The conjunctions that have one condition more, and hold of fewer passes.
    fn longer(&self, state: &Joint, parts: &[usize], atoms: &[usize]) -> Vec<Joint> {
        let passed = state.held.passed.count();
        let mut longer = Vec::new();
        for &place in parts {
            let part = &self.parts[place];
            // A condition on some axis starts the one on an axis, where there is none yet.
            if part.is_atom && state.axis.is_empty() {
                continue;
            }
            let held = state.held.and(&part.held);
            if held.passed.count() < passed {
                let parts = state.parts.iter().copied().chain([place]).collect();
                let (of_parts, axis) = (state.of_parts.and(&part.held), state.axis.clone());
                longer.push(Joint { parts, axis, of_parts, held, weight: state.weight + part.weight });
            }
        }
        let axes = self.axes(&state.axis);
        for &place in atoms {
            let atom = &self.atoms[place];
            let joined: Vec<u8> = axes.iter().zip(&atom.axes).map(|(one, other)| one & other).collect();
            let held = state.of_parts.and(&self.any(&joined));
            if held.passed.count() < passed {
                let axis = state.axis.iter().copied().chain([place]).collect();
                let weight = state.weight + atom.weight + ANY_AXIS * usize::from(state.axis.is_empty());
                longer.push(Joint { axis, held, weight, ..state.clone() });
            }
        }
        longer
    }

    /// The axes where all of these hold.
    fn axes(&self, atoms: &[usize]) -> Vec<u8> {
        let mut axes = vec![u8::MAX; self.failed_count + self.passed_count];
        for atom in atoms {
            axes.iter_mut().zip(&self.atoms[*atom].axes).for_each(|(one, other)| *one &= other);
        }
        axes
    }

    /// The cases that have an axis among these.
    fn any(&self, axes: &[u8]) -> Held {
        let (failed, passed) = axes.split_at(self.failed_count);
        Held { failed: Bits::of_some(failed), passed: Bits::of_some(passed) }
    }

    /// How much more is known of a case of which something holds that holds of so many failures and passes:
    /// bits for all failures together, in thousandths.
    fn gain(&self, of: usize, failed: usize, passed: usize) -> i64 {
        let share =
            |failed: usize, passed: usize| (failed as f64 + 1.0) / (failed as f64 + passed as f64 + 1.0);
        let bits = share(failed, passed).log2() - share(of, self.passed_count).log2();
        (failed as f64 * bits * 1000.0) as i64
    }

    /// The predicate, with what reaches as far as it can at its end.
    fn text(&self, joint: &Joint) -> String {
        let mut texts: Vec<String> = joint.parts.iter().map(|part| self.parts[*part].text.clone()).collect();
        let atoms: Vec<&str> = joint.axis.iter().map(|atom| self.atoms[*atom].text.as_str()).collect();
        match atoms.as_slice() {
            [] => {}
            [one] => texts.push(format!("any axis {one}")),
            some => texts.push(format!("any axis ({})", some.join(" and "))),
        }
        texts.sort_by_key(|text| reaches(text));
        let mut predicate = format!("operator == {}", self.operator.name());
        for (place, text) in texts.iter().enumerate() {
            predicate.push_str(" and ");
            if reaches(text) && place + 1 < texts.len() {
                predicate.extend(["(", text, ")"]);
            } else {
                predicate.push_str(text);
            }
        }
        predicate
    }
}

impl Held {
    fn and(&self, other: &Self) -> Self {
        Self { failed: self.failed.and(&other.failed), passed: self.passed.and(&other.passed) }
    }
}

impl Joint {
    /// No condition, which holds of all.
    fn none(all: Held) -> Self {
        Self { parts: Vec::new(), axis: Vec::new(), of_parts: all.clone(), held: all, weight: 0 }
    }
}

/// What a predicate of so many conditions is worth that holds of so many failures: one condition more is
/// worth a tenth more of them.
fn worth(failed: usize, joined: usize) -> usize {
    failed * 9_usize.pow(joined as u32) * 10_usize.pow((JOINED - joined) as u32)
}

/// Keeps the best, of those that hold of the same cases one.
fn keep_best(longer: &mut Vec<(i64, usize, Joint)>) {
    longer.sort_by_key(|(rank, length, _)| (*rank, *length));
    let mut known = BTreeSet::new();
    longer.retain(|(_, _, joint)| {
        known.len() < WIDTH && known.insert((joint.axis.is_empty(), joint.held.clone()))
    });
}

fn reaches(text: &str) -> bool {
    text.starts_with("any axis ") || text.starts_with("all axes ")
}

/// How hard a condition is to read: its length, and more where it computes.
fn weight(text: &str) -> usize {
    let computes = ["ElementSize", "max(", " + ", " mod ", "product ", "not ("];
    text.len() + COMPUTED * computes.iter().filter(|word| text.contains(**word)).count() + CONDITION
}

#[cfg(test)]
mod tests {
    use dmlcts_model::line;
    use dmlcts_spec::Library;

    use super::*;

    /// The predicates for those of these cases of which this says that they failed.
    fn told(operator: &str, lines: impl Iterator<Item = (String, bool)>) -> Vec<String> {
        let library = Library::embedded();
        let operator = library.operator(operator).expect("it is built in");
        let (mut failed, mut passed) = (Vec::new(), Vec::new());
        for (text, fails) in lines {
            let case = line::parse(&text, library.signatures()).expect("a case");
            if fails { failed.push(case) } else { passed.push(case) }
        }
        Separation::new((operator, FeatureLevel::NEWEST), &failed, &passed, &[]).predicates()
    }

    #[test]
    fn bounds_are_found_in_the_data() {
        let of = |stride: i64| {
            format!("SLICE UINT8 in=4,40 out=2,3 Offsets=0,0 Sizes=2,3 Strides=1,{stride} fill=iota")
        };
        let lines = (1..20).map(|stride| (of(stride), stride >= 11));
        assert_eq!(told("SLICE", lines), ["operator == SLICE and any axis Strides >= 11"]);
        let lines = (1..40).map(|stride| (of(stride), (7..=16).contains(&stride)));
        assert_eq!(told("SLICE", lines), ["operator == SLICE and any axis (Strides >= 7 and Strides <= 16)"]);
        // Two conditions that hold of three cases hold of them by chance.
        let lines = (1..20).map(|stride| (of(stride), (7..=9).contains(&stride)));
        assert_eq!(told("SLICE", lines), Vec::<String>::new());
    }

    #[test]
    fn conditions_hold_of_one_axis_together() {
        let mut lines = Vec::new();
        for (sizes, strides) in [
            ([4, 1], [-1, 1]),
            ([3, 2], [1, -2]),
            ([3, 3], [-2, -1]),
            ([1, 4], [-1, -3]),
            ([2, 2], [-1, 1]),
            ([2, 5], [1, -1]),
            ([5, 1], [-3, 2]),
            ([3, 1], [-4, -5]),
        ] {
            let fails = [0, 1].iter().any(|axis| strides[*axis] < 0 && sizes[*axis] > 1);
            lines.push((sizes, strides, fails));
        }
        for (sizes, strides) in
            [([4, 1], [1, -1]), ([1, 3], [-2, 1]), ([1, 1], [-1, -1]), ([3, 3], [1, 2]), ([2, 2], [1, 1])]
        {
            lines.push((sizes, strides, false));
        }
        let line = |[a, b]: [i64; 2], [c, d]: [i64; 2]| {
            format!(
                "SLICE1 UINT8 in=5,5 out=1,1 InputWindowOffsets=0,0 InputWindowSizes={a},{b} InputWindowStrides={c},{d} fill=iota"
            )
        };
        let lines = lines.into_iter().map(|(sizes, strides, fails)| (line(sizes, strides), fails));
        assert_eq!(
            told("SLICE1", lines),
            ["operator == SLICE1 and any axis (InputWindowStrides < 0 and InputWindowSizes > 1)"]
        );
    }

    #[test]
    fn what_no_condition_tells_is_not_told() {
        let line =
            |fill: i64| format!("SLICE UINT8 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=random:{fill}");
        assert_eq!(told("SLICE", (0..40).map(|fill| (line(fill), fill % 3 == 0))), Vec::<String>::new());
        assert_eq!(told("SLICE", (0..4).map(|fill| (line(fill), true))), ["operator == SLICE"]);
    }
}
