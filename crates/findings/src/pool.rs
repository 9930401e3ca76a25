//! The conditions of a search that hold for enough failures, with the passes that each holds for.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    atom::{Atom, Truth},
    bits::Bits,
    parallel::{dealt, in_parts},
    rule::{Condition, Form},
    universe::Universe,
};

/// Conditions on the same cases that are kept, the lightest first.
const ALIKE: usize = 6;
/// Atoms up to this weight are counted over the axes.
const COUNTED: u32 = 24;
/// The failures that an atom is asked of at a time.
const CHUNK: usize = 16;
/// Atoms up to this weight hold with one of [`WIDE`] on some axis, and the number of such pairs, the lightest
/// first.
const JOINED: u32 = 16;
const PAIRS: usize = 60;

/// Whether an axis has several elements, or elements other than the first are read.
const WIDE: [&str; 3] = ["InputTensor.Sizes > 1", "OutputTensor.Sizes > 1", "highest > 0"];

/// The cases of a search, by their indices in the universe.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample {
    pub(crate) failed: Vec<usize>,
    pub(crate) passed: Vec<usize>,
}

impl Sample {
    /// A smaller sample: every n-th failure and every m-th pass, so that at most `most` failures and twice as
    /// many passes are left.
    pub(crate) fn fewer(&self, most: usize) -> Self {
        let some = |cases: &[usize], most: usize| {
            cases.iter().copied().step_by(cases.len().div_ceil(most).max(1)).collect()
        };
        Self { failed: some(&self.failed, most), passed: some(&self.passed, 2 * most) }
    }
}

/// A condition, the failures and passes for which it holds, and its weight.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) condition: Condition,
    pub(crate) weight: u32,
    pub(crate) failed: Bits,
    pub(crate) passed: Bits,
    /// Other conditions that hold for the same cases.
    pub(crate) alike: Vec<Condition>,
}

/// The conditions that hold for the same failures and passes, with their weights.
type Found = BTreeMap<(Bits, Bits), Vec<(u32, Condition)>>;

/// The conditions and the members of groups that a search chooses from, the lightest first. Each holds for at
/// least `least_failed` failures.
pub(crate) fn pool(
    atoms: &[Atom],
    universe: &Universe<'_>,
    sample: &Sample,
    least_failed: usize,
) -> (Vec<Candidate>, Vec<Member>) {
    let places = dealt(atoms.len(), universe.threads);
    let parts = in_parts(&places, universe.threads, |part| {
        let mut found = Found::default();
        let mut members = Members::default();
        let mut failed = Vec::with_capacity(sample.failed.len());
        let mut passed = Vec::with_capacity(sample.passed.len());
        for &place in part {
            let atom = &atoms[place];
            let Some(forms) = surviving(atom, universe, &sample.failed, least_failed, &mut failed) else {
                continue;
            };
            passed.clear();
            atom.truths(universe, &sample.passed, &mut passed);
            let counts = [&failed, &passed]
                .map(|truths| truths.iter().map(|truth| truth.count()).collect::<Vec<u8>>());
            for form in forms {
                // An atom may be a member of a group if it holds on some axis of each failure.
                if form == Form::Any {
                    members.add((atom, place), &failed, &passed);
                }
                let held = (form.held(&failed, &counts[0]), form.held(&passed, &counts[1]));
                // A condition that holds for every pass excludes nothing.
                if held.1.count() == sample.passed.len() && !sample.passed.is_empty() {
                    continue;
                }
                let condition = Condition { form, atoms: vec![place] };
                let weight = condition.weight(atoms);
                found.entry(held).or_default().push((weight, condition));
            }
        }
        (found, members)
    });
    let mut parts = parts.into_iter();
    let (mut found, mut members) = parts.next().unwrap_or_default();
    for (more, others) in parts {
        for (held, conditions) in more {
            found.entry(held).or_default().extend(conditions);
        }
        members.join(others);
    }
    // As with counts.
    if least_failed == sample.failed.len() {
        on_wide_axes(atoms, universe, sample, &mut found);
    }
    let mut candidates: Vec<Candidate> = found.into_iter().filter_map(candidate).collect();
    candidates.sort_by_key(|candidate| (candidate.weight, candidate.condition.clone()));
    (candidates, members.sorted())
}

/// Adds conditions on axes of several elements: that an axis has an atom, or that none has. The strides of
/// other axes change nothing, so that code often leaves these axes out. A rule has one group of atoms, and
/// these conditions stand beside it: a broadcast on one axis, and a gap on another.
fn on_wide_axes(atoms: &[Atom], universe: &Universe<'_>, sample: &Sample, found: &mut Found) {
    let is_wide = |place: &usize| WIDE.contains(&atoms[*place].text.as_str());
    let truths_of = |place: usize, cases: &[usize]| {
        let mut truths = Vec::with_capacity(cases.len());
        atoms[place].truths(universe, cases, &mut truths);
        truths
    };
    let of_wide = |place| (place, truths_of(place, &sample.failed), truths_of(place, &sample.passed));
    let wide: Vec<(usize, Vec<Truth>, Vec<Truth>)> = (0..atoms.len()).filter(is_wide).map(of_wide).collect();
    let is_light = |place: &usize| atoms[*place].is_axis && atoms[*place].weight <= COUNTED;
    let light: Vec<usize> = (0..atoms.len()).filter(is_light).collect();
    let pairs_of = |place: usize| {
        let mut pairs = Vec::new();
        let others = wide.iter().filter(|(wide, ..)| *wide != place);
        let forms = if atoms[place].weight <= JOINED { &[Form::No, Form::Any][..] } else { &[Form::No] };
        let mut alive: Vec<_> = others.flat_map(|wide| forms.iter().map(move |form| (wide, *form))).collect();
        // Most atoms fail at the first cases.
        for (chunk, cases) in sample.failed.chunks(CHUNK).enumerate() {
            let truths = truths_of(place, cases);
            alive.retain(|((_, failed, _), form)| {
                let mut both = failed[chunk * CHUNK..].iter().zip(&truths);
                both.all(|(wide, truth)| form.holds(wide.and(*truth)))
            });
            if alive.is_empty() {
                break;
            }
        }
        let truths = if alive.is_empty() { Vec::new() } else { truths_of(place, &sample.passed) };
        for ((wide, _, passed), form) in alive {
            let both: Vec<Truth> = passed.iter().zip(&truths).map(|(wide, truth)| wide.and(*truth)).collect();
            let held = Bits::of(&both, |truth| form.holds(*truth));
            // Two conditions on different axes say the same.
            let are_apart = |(wide, truth): &(&Truth, &Truth)| wide.on != 0 && truth.on != 0;
            let apart = passed.iter().zip(&truths).filter(are_apart).count();
            let most = if form == Form::Any { apart } else { passed.len() };
            if held.count() < most {
                let condition = Condition { form, atoms: vec![*wide, place] };
                pairs.push((condition.weight(atoms), condition, held));
            }
        }
        pairs
    };
    let of_part = |part: &[usize]| part.iter().flat_map(|place| pairs_of(*place)).collect::<Vec<_>>();
    let mut pairs = in_parts(&light, universe.threads, of_part).concat();
    pairs.sort();
    let mut known = BTreeSet::new();
    pairs.retain(|(_, condition, held)| {
        condition.form == Form::No || known.len() < PAIRS && known.insert(held.clone())
    });
    for (weight, condition, held) in pairs {
        found.entry((Bits::all(sample.failed.len()), held)).or_default().push((weight, condition));
    }
}

/// The forms in which an atom holds for at least `least_failed` failures; `None` if there are none. `truths`
/// receives the truths of the atom for the failures.
fn surviving(
    atom: &Atom,
    universe: &Universe<'_>,
    failed: &[usize],
    least_failed: usize,
    truths: &mut Vec<Truth>,
) -> Option<Vec<Form>> {
    // Counts separate all failures from passes, or nothing: elsewhere they only take time.
    let with_counts = atom.weight <= COUNTED && least_failed == failed.len();
    let forms = if atom.is_axis { Form::of_axis(with_counts) } else { vec![Form::Once] };
    let mut alive: Vec<(Form, usize)> = forms.into_iter().map(|form| (form, 0)).collect();
    let most_missed = failed.len() - least_failed.min(failed.len());
    truths.clear();
    // Most atoms fail at the first cases.
    for cases in failed.chunks(CHUNK) {
        let asked = truths.len();
        atom.truths(universe, cases, truths);
        let counts: Vec<u8> = truths[asked..].iter().map(|truth| truth.count()).collect();
        for (form, missed) in &mut alive {
            *missed += cases.len() - form.count(&truths[asked..], &counts);
        }
        alive.retain(|(_, missed)| *missed <= most_missed);
        if alive.is_empty() {
            return None;
        }
    }
    Some(alive.into_iter().map(|(form, _)| form).collect())
}

fn candidate(((failed, passed), mut conditions): ((Bits, Bits), Vec<(u32, Condition)>)) -> Option<Candidate> {
    conditions.sort();
    let mut conditions = conditions.into_iter();
    let (weight, condition) = conditions.next()?;
    let alike = conditions.take(ALIKE).map(|(_, condition)| condition).collect();
    Some(Candidate { condition, weight, failed, passed, alike })
}

/// Atoms that hold together on an axis: the axes of each case.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) atom: usize,
    pub(crate) weight: u32,
    pub(crate) failed: Vec<u8>,
    pub(crate) passed: Vec<u8>,
}

/// The atoms of axes that hold on `at_least` axes of `least_failed` failures, the lightest first.
pub(crate) fn members(
    atoms: &[Atom],
    universe: &Universe<'_>,
    sample: &Sample,
    least_failed: usize,
    at_least: u8,
) -> Vec<Member> {
    let places = dealt(atoms.len(), universe.threads);
    let parts = in_parts(&places, universe.threads, |part| {
        let mut members = Members::default();
        let [mut failed, mut passed] = [Vec::new(), Vec::new()];
        for &place in part.iter().filter(|place| atoms[**place].is_axis) {
            let atom = &atoms[place];
            failed.clear();
            atom.truths(universe, &sample.failed, &mut failed);
            let held = failed.iter().filter(|truth| truth.on.count_ones() >= u32::from(at_least)).count();
            if held >= least_failed {
                passed.clear();
                atom.truths(universe, &sample.passed, &mut passed);
                members.add((atom, place), &failed, &passed);
            }
        }
        members
    });
    let mut members = Members::default();
    for part in parts {
        members.join(part);
    }
    members.sorted()
}

/// Members, without those that hold on the same axes as a lighter one. A key is the axes of the failures and
/// of the passes, and a value the weight and the index of an atom.
#[derive(Default)]
struct Members(BTreeMap<(Vec<u8>, Vec<u8>), (u32, usize)>);

impl Members {
    fn add(&mut self, (atom, place): (&Atom, usize), failed: &[Truth], passed: &[Truth]) {
        let [failed, passed] =
            [failed, passed].map(|truths| truths.iter().map(|truth| truth.on).collect::<Vec<u8>>());
        self.keep((failed, passed), (atom.weight, place));
    }

    fn keep(&mut self, axes: (Vec<u8>, Vec<u8>), new: (u32, usize)) {
        let known = self.0.entry(axes).or_insert(new);
        *known = new.min(*known);
    }

    fn join(&mut self, others: Self) {
        for (axes, new) in others.0 {
            self.keep(axes, new);
        }
    }

    fn sorted(self) -> Vec<Member> {
        let of = |((failed, passed), (weight, atom))| Member { atom, weight, failed, passed };
        let mut members: Vec<Member> = self.0.into_iter().map(of).collect();
        members.sort_by_key(|member| (member.weight, member.atom));
        members
    }
}
