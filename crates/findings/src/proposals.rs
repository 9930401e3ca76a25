//! Proposes atoms: comparisons of terms with numbers that code has or that the data suggest, and comparisons
//! of terms with each other.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use dmlcts_spec::{Scope, expression::Comparison};

use crate::{
    atom::{Atom, Test, number_weight},
    universe::Universe,
    vocabulary::{NAME, VIOLATION, ValueKind, Word},
};

/// Numbers up to this magnitude are proposed if a case has them.
const SMALL: i64 = 17;
/// The number of failures' sets of clauses that are proposed.
const MOST_SETS: usize = 16;
/// The lightest numbers that are proposed between two neighbours among a term's values, beside the largest:
/// the cases at hand do not tell them apart, but experiments may.
const BETWEEN: usize = 2;
/// The largest divisor whose remainders other than 0 are proposed.
const LARGEST: i64 = 10;

/// Every atom that may separate failures from passes.
pub(crate) fn atoms(universe: &Universe<'_>, sample: &[usize]) -> Vec<Atom> {
    let words = &universe.terms.words;
    let mut tests = Vec::new();
    let violation = words.iter().position(|word| word.text == VIOLATION);
    for (term, word) in words.iter().enumerate() {
        match &word.kind {
            ValueKind::Clause(name) => {
                tests.extend([Test::Flag(term, true), Test::Flag(term, false)]);
                // A clause can be false without being violated: it is not judged where an earlier one is.
                let named = violation.map(|violation| Test::Within(violation, 1 << name));
                let both = |named| Test::Both(Box::new(named), Box::new(Test::Flag(term, false)));
                tests.extend(named.map(both));
            }
            ValueKind::Condition => tests.extend([Test::Flag(term, true), Test::Flag(term, false)]),
            ValueKind::Name(_) => names(universe, term, sample, &mut tests),
            ValueKind::Violation(_) => violations(universe, term, sample, &mut tests),
            ValueKind::Number | ValueKind::List | ValueKind::Elements => {
                numbers(universe, term, word, sample, &mut tests);
            }
            ValueKind::Parity => tests.extend([true, false].map(|is| Test::Remainder(term, 2, 0, is))),
            // It is compared with lists alone.
            ValueKind::OtherAxis => {}
        }
    }
    pairs(words, &mut tests);
    tests.into_iter().map(|test| Atom::new(test, words)).collect()
}

/// Each name that occurs, and the names that fail or always pass, together.
fn names(universe: &Universe<'_>, term: usize, sample: &[usize], tests: &mut Vec<Test>) {
    let mut seen: BTreeMap<i64, (usize, usize)> = BTreeMap::new();
    for case in sample {
        let lanes = universe.column(term).lanes(*case);
        if lanes.defined & 1 == 1 {
            let (failed, passed) = seen.entry(lanes.values[0]).or_default();
            *if universe.is_failure(*case) { failed } else { passed } += 1;
        }
    }
    for code in seen.keys() {
        tests.extend([true, false].map(|is| Test::Names(term, vec![*code], is)));
    }
    let failing: Vec<i64> =
        seen.iter().filter(|(_, (failed, _))| *failed > 0).map(|(code, _)| *code).collect();
    if failing.len() > 1 && failing.len() < seen.len() {
        tests.push(Test::Names(term, failing, true));
    }
}

/// Sets of clauses: each that a failure violates alone, those of one failure together, and those of all.
fn violations(universe: &Universe<'_>, term: usize, sample: &[usize], tests: &mut Vec<Test>) {
    let failures = sample.iter().filter(|case| universe.is_failure(**case));
    let lanes = failures.map(|case| universe.column(term).lanes(*case));
    let sets: BTreeSet<i64> = lanes.filter(|lanes| lanes.defined & 1 == 1).map(|it| it.values[0]).collect();
    let all = sets.iter().fold(0, |all, set| all | set);
    let each = (0..63).map(|name| 1 << name).filter(|name| all & name != 0);
    let distinct: BTreeSet<i64> = each.chain(sets.iter().copied().take(MOST_SETS)).chain([all]).collect();
    tests.extend(distinct.into_iter().filter(|set| *set != 0).map(|set| Test::Within(term, set)));
}

/// Bounds on a number, and its multiples.
fn numbers(universe: &Universe<'_>, term: usize, word: &Word, sample: &[usize], tests: &mut Vec<Test>) {
    let mut bounds = Bounds::default();
    for case in sample {
        let lanes = universe.column(term).lanes(*case);
        let values = (0..8).filter(|lane| lanes.defined >> lane & 1 == 1).map(|lane| lanes.values[lane]);
        bounds.add(values, universe.is_failure(*case));
    }
    for number in bounds.numbers() {
        // No case of the sample equals a number that none has.
        let is_seen = bounds.seen.contains(&number);
        // Among equals, the first is kept.
        for sign in
            [Comparison::Equal, Comparison::GreaterOrEqual, Comparison::LessOrEqual, Comparison::NotEqual]
        {
            if is_seen || matches!(sign, Comparison::GreaterOrEqual | Comparison::LessOrEqual) {
                tests.push(Test::Number(term, sign, number));
            }
        }
    }
    for divisor in word.divisors {
        tests.extend([true, false].map(|is| Test::Remainder(term, *divisor, 0, is)));
    }
    if matches!(word.kind, ValueKind::List | ValueKind::Elements) && !word.divisors.is_empty() {
        tests.extend(remainders(universe, term, sample));
    }
}

/// The remainders that most failures have: of each small divisor, the one that fewest passes have.
fn remainders(universe: &Universe<'_>, term: usize, sample: &[usize]) -> Vec<Test> {
    let mut failures = 0;
    // By divisor and remainder, the numbers of failures and of passes with a value of that remainder.
    let mut counts = [[(0_usize, 0_usize); LARGEST as usize]; LARGEST as usize + 1];
    for case in sample {
        let lanes = universe.column(term).lanes(*case);
        let failed = universe.is_failure(*case);
        failures += usize::from(failed);
        for divisor in 3..=LARGEST {
            let with = (0..8).filter(|lane| lanes.defined >> lane & 1 == 1);
            let seen = with.fold(0_u32, |seen, lane| {
                seen | 1 << lanes.values[lane % lanes.values.len()].rem_euclid(divisor)
            });
            for rest in (0..divisor).filter(|rest| seen >> rest & 1 == 1) {
                let (failing, passing) = &mut counts[divisor as usize][rest as usize];
                *if failed { failing } else { passing } += 1;
            }
        }
    }
    let mut tests = Vec::new();
    for divisor in 3..=LARGEST {
        let of_divisor = counts[divisor as usize].iter().take(divisor as usize).enumerate();
        let most = of_divisor.filter(|(_, (failing, _))| *failing * 2 > failures && failures > 0);
        if let Some((rest, _)) = most.min_by_key(|(_, (failing, passing))| (*passing, Reverse(*failing))) {
            tests.push(Test::Remainder(term, divisor, rest as i64, true));
        }
    }
    tests
}

/// The numbers that a term has, and how they bound failures and passes.
#[derive(Default)]
struct Bounds {
    seen: BTreeSet<i64>,
    /// The least and greatest of the least and greatest values of failures, and of passes.
    failed: Option<[i64; 4]>,
    passed: Option<[i64; 4]>,
}

impl Bounds {
    fn add(&mut self, values: impl Iterator<Item = i64>, failed: bool) {
        let mut of_case: Option<(i64, i64)> = None;
        for value in values {
            self.seen.insert(value);
            of_case =
                Some(of_case.map_or((value, value), |(least, most)| (least.min(value), most.max(value))));
        }
        let Some((least, most)) = of_case else { return };
        let bounds = if failed { &mut self.failed } else { &mut self.passed };
        let known = bounds.get_or_insert([least, least, most, most]);
        *known = [known[0].min(least), known[1].max(least), known[2].min(most), known[3].max(most)];
    }

    /// The numbers to compare with.
    fn numbers(&self) -> BTreeSet<i64> {
        let (Some(least), Some(most)) = (self.seen.first().copied(), self.seen.last().copied()) else {
            return BTreeSet::new();
        };
        let of_failures = self.failed.into_iter().flatten();
        let of_passes = self.passed.into_iter().flatten();
        let beside = of_passes.flat_map(|bound| [bound.saturating_sub(1), bound.saturating_add(1)]);
        // Beyond small numbers, code has powers of two and their neighbours.
        let powers = (4..33).flat_map(|power| [-1, 0, 1].map(|step| (1 << power) + step));
        let all = of_failures.chain(beside).chain(-4..=SMALL).chain(powers);
        // A bound that no case exceeds only asks whether there is a value.
        let all = all.filter(|number| (least..=most).contains(number));
        let (mut kept, unseen): (BTreeSet<i64>, BTreeSet<i64>) =
            all.partition(|number| self.seen.contains(number));
        let unseen: Vec<i64> = unseen.into_iter().collect();
        for gap in unseen.chunk_by(|one, next| self.seen.range(one..next).next().is_none()) {
            kept.extend(gap.last());
            let mut gap = gap.to_vec();
            gap.sort_by_key(|number| number_weight(*number));
            kept.extend(gap.into_iter().take(BETWEEN));
        }
        kept
    }
}

/// Comparisons of two terms of one kind, and multiples.
fn pairs(words: &[Word], tests: &mut Vec<Test>) {
    for (one, word) in words.iter().enumerate() {
        for (other, second) in words.iter().enumerate() {
            let is_pair =
                word.kind == second.kind && matches!(word.kind, ValueKind::List | ValueKind::Elements);
            // Computed numbers, which weigh more than members, are not compared with another axis.
            let is_member = word.kind == ValueKind::List && word.weight <= NAME + 1;
            let is_other = is_member && second.kind == ValueKind::OtherAxis;
            if one < other && is_pair || is_other {
                tests.extend(Comparison::ALL.map(|sign| Test::Terms(one, sign, other)));
            }
            // A multiple of a stride says nothing about the sign of the stride.
            let is_list = is_pair && word.scope == Scope::Axis && one != other;
            if is_list && !second.text.contains(' ') {
                tests.extend([true, false].map(|is| Test::MultipleOf(one, other, is)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_numbers_between_two_values_are_proposed() {
        let mut bounds = Bounds::default();
        bounds.add([4, 5].into_iter(), true);
        bounds.add([100].into_iter(), false);
        let numbers: Vec<i64> = bounds.numbers().into_iter().collect();
        assert_eq!(numbers, [4, 5, 6, 7, 99], "and not 8 to 98");
    }
}
