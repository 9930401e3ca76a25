//! Pools of valid tuples, by setting and sizes, each filled on its first use.
//!
//! A uniformly drawn tuple has an output size of 1 most of the time; so sizes are drawn first, and a tuple
//! among those that fit them. Solving for one takes microseconds, which is too slow for each axis of each
//! case: the solver fills a pool once, wide values included, and cases draw from it.
//!
//! A run of a million cases uses some thousand pools, so that filling them is part of what it takes. Settings
//! that ask the same of an axis share theirs, and so do valid and open tuples where no question can arise.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use dmlcts_model::Case;
use dmlcts_spec::{Scratch, Validity};

use crate::{
    draw::{Draws, mix},
    solve::{Condition, Domains, Interval, Problem},
    space::{INPUT, OUTPUT, Setting, Space},
};

/// Tuples of one width, side by side.
#[derive(Debug, Default)]
pub(crate) struct Tuples {
    width: usize,
    count: usize,
    values: Vec<i64>,
}

impl Tuples {
    pub(crate) fn new(width: usize) -> Self {
        Self { width, count: 0, values: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    pub(crate) fn push(&mut self, tuple: &[i64]) {
        debug_assert_eq!(tuple.len(), self.width);
        self.count += 1;
        self.values.extend_from_slice(tuple);
    }

    /// The tuple at a place; `None` past the end.
    #[inline]
    pub(crate) fn get(&self, place: usize) -> Option<&[i64]> {
        self.values.get(place * self.width..(place + 1) * self.width)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[i64]> {
        self.values.chunks_exact(self.width.max(1))
    }
}

/// The least and greatest size that the other tensor may have.
type Reach = (u32, u32);

/// What is worked out on its first use, by one or two sizes.
type Kept<T> = Vec<OnceLock<T>>;

fn kept<T>(count: usize) -> Kept<T> {
    std::iter::repeat_with(OnceLock::new).take(count).collect()
}

/// The pools of one operator, for sizes up to a limit.
pub(crate) struct Pools<'lib> {
    pub(crate) space: Arc<Space<'lib>>,
    seed: u64,
    /// The limit.
    most: usize,
    /// By setting, its place in `shares`.
    places: Vec<usize>,
    shares: Vec<Share>,
    /// Memory to judge in, for as many threads as ever filled pools at once.
    benches: Mutex<Vec<Bench>>,
}

/// The pools of all settings that ask the same of an axis.
pub(crate) struct Share {
    place: usize,
    /// The first of the settings.
    first: usize,
    valid: Kept<Tuples>,
    /// Of tuples that may raise questions; `None` where none can, so that the valid ones are all there are.
    open: Kept<Option<Tuples>>,
    /// By openness and given tensor.
    reaches: [[Kept<Reach>; 2]; 2],
}

/// What a setting asks of an axis: its clauses and its questions, those that it rules out as constants.
fn asked(setting: &Setting) -> [Vec<Condition>; 2] {
    [&setting.rules, &setting.questions]
        .map(|rules| rules.iter().map(|rule| rule.that.simplified()).collect())
}

struct Bench {
    case: Case,
    scratch: Scratch,
}

impl<'lib> Pools<'lib> {
    /// Empty pools for sizes up to `most`.
    pub(crate) fn new(space: Arc<Space<'lib>>, most: usize, seed: u64) -> Self {
        let side = most + 1;
        let asked: Vec<[Vec<Condition>; 2]> = space.settings.iter().map(asked).collect();
        let (mut places, mut shares) = (Vec::new(), Vec::<Share>::new());
        for (place, conditions) in asked.iter().enumerate() {
            // What the solver does not see may ask something else in each setting.
            let is_seen = conditions.iter().flatten().all(Condition::is_transparent);
            let alike = |share: &Share| is_seen && asked[share.first] == *conditions;
            let shared = shares.iter().position(alike).unwrap_or_else(|| {
                shares.push(Share {
                    place: shares.len(),
                    first: place,
                    valid: kept(side * side),
                    open: kept(side * side),
                    reaches: [0, 1].map(|_| [0, 1].map(|_| kept(side))),
                });
                shares.len() - 1
            });
            places.push(shared);
        }
        Self { space, seed, most, places, shares, benches: Mutex::default() }
    }

    /// No size is greater.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// The pools of a setting.
    pub(crate) fn share(&self, setting: usize) -> &Share {
        &self.shares[self.places[setting]]
    }

    /// What sizes the output may have where the input (`given` is [`INPUT`]) has this one, or the other way
    /// round; where `open` is set, in tuples that may raise questions. May be wider than what is there, since it
    /// is found by narrowing alone; empty where nothing is.
    #[inline]
    pub(crate) fn reach(&self, share: &Share, open: bool, given: usize, size: usize) -> Reach {
        let kept = &share.reaches[usize::from(open)][given][size];
        // Spelled out, since what is passed to `get_or_init` would have to lie in memory even where it is there.
        match kept.get() {
            Some(reach) => *reach,
            None => *kept.get_or_init(|| self.find_reach(share, open, given, size)),
        }
    }

    /// Tuples of two sizes, which are at most `most`; where `open` is set, they may raise questions.
    #[inline]
    pub(crate) fn tuples<'a>(
        &'a self,
        share: &'a Share,
        open: bool,
        input: usize,
        output: usize,
    ) -> &'a Tuples {
        let place = input * (self.most + 1) + output;
        if open {
            return self.open_tuples(share, place);
        }
        match share.valid[place].get() {
            Some(tuples) => tuples,
            None => self.valid_tuples(share, place),
        }
    }

    #[cold]
    fn find_reach(&self, share: &Share, open: bool, given: usize, size: usize) -> Reach {
        let other = 1 - given;
        let mut domains = self.space.domains();
        domains[given] = Interval::single(size as i64);
        domains[other] = Interval::new(1, self.most as i64);
        let problem = Problem::new(domains, self.conditions(share, open)).and_then(Problem::tightened);
        problem.map_or((1, 0), |problem| {
            let reach = problem.domains()[other];
            (reach.low.max(1) as u32, reach.high.max(0) as u32)
        })
    }

    #[cold]
    fn valid_tuples<'a>(&self, share: &'a Share, place: usize) -> &'a Tuples {
        share.valid[place].get_or_init(|| self.fill(share, false, place))
    }

    #[cold]
    fn open_tuples<'a>(&self, share: &'a Share, place: usize) -> &'a Tuples {
        let open = share.open[place]
            .get_or_init(|| self.can_be_open(share, place).then(|| self.fill(share, true, place)));
        open.as_ref().unwrap_or_else(|| self.valid_tuples(share, place))
    }

    fn conditions(&self, share: &Share, open: bool) -> impl Iterator<Item = &Condition> {
        self.space.settings[share.first].conditions(open)
    }

    /// The domains of a pool, whose sizes are fixed.
    fn domains(&self, place: usize) -> Domains {
        let side = self.most + 1;
        let mut domains = self.space.domains();
        domains[INPUT] = Interval::single((place / side) as i64);
        domains[OUTPUT] = Interval::single((place % side) as i64);
        domains
    }

    /// Whether narrowing leaves it possible that some question arises.
    fn can_be_open(&self, share: &Share, place: usize) -> bool {
        let questions = &self.space.settings[share.first].questions;
        questions.iter().any(|question| {
            let conditions = self.conditions(share, true).chain([&question.that]);
            Problem::new(self.domains(place), conditions).is_some()
        })
    }

    fn fill(&self, share: &Share, open: bool, place: usize) -> Tuples {
        let (space, setting) = (&*self.space, &self.space.settings[share.first]);
        let mut tuples = Tuples::new(space.width());
        let domains = self.domains(place);
        // Small sizes are drawn most and have the most varied tuples for their size.
        let is_small = domains[INPUT].high.max(domains[OUTPUT].high) <= 8;
        let wanted = if is_small { 16 } else { 6 };
        let problem = Problem::new(domains, setting.conditions(open)).and_then(Problem::tightened);
        let Some(problem) = problem else { return tuples };
        let stream = (share.place * share.valid.len() + place) as u64;
        let mut draws = Draws::new(mix(self.seed ^ stream));
        let mut bench = self.bench();
        for _ in 0..wanted * 2 {
            let Some(tuple) = problem.sample(&mut draws) else { continue };
            if tuples.iter().any(|known| known == &*tuple) {
                continue;
            }
            let judgement = space.judge_tuple(setting, &tuple, &mut bench.case, &mut bench.scratch);
            match judgement.validity() {
                Validity::Valid => {}
                Validity::Open if open => {}
                _ => continue,
            }
            tuples.push(&tuple);
            if tuples.len() == wanted {
                break;
            }
        }
        self.benches.lock().unwrap_or_else(PoisonError::into_inner).push(bench);
        tuples
    }

    /// Memory that no other thread judges in.
    fn bench(&self) -> Bench {
        let free = self.benches.lock().unwrap_or_else(PoisonError::into_inner).pop();
        free.unwrap_or_else(|| Bench { case: self.space.blank(), scratch: Scratch::default() })
    }
}

#[cfg(test)]
mod tests {
    use dmlcts_model::FeatureLevel;
    use dmlcts_spec::Library;

    use super::*;

    fn pools(operator: &str) -> Pools<'static> {
        let operator = Library::embedded().operator(operator).unwrap();
        let space = Space::new(operator, FeatureLevel::NEWEST).unwrap();
        Pools::new(Arc::new(space), 8, 0)
    }

    #[test]
    fn settings_share_pools_where_they_ask_the_same() {
        let pools = pools("PADDING1");
        // REFLECTION alone raises a question.
        assert_eq!(pools.places, [0, 0, 1, 0, 0]);
    }

    #[test]
    fn open_tuples_are_apart_where_a_question_can_arise() {
        let (padding, slice) = (pools("PADDING1"), pools("SLICE"));
        let reflection = padding.share(2);
        let tuples = |open, input| padding.tuples(reflection, open, input, 5);
        assert!(std::ptr::eq(tuples(true, 2), tuples(false, 2)));
        assert_eq!(tuples(false, 1).len(), 0);
        assert!(tuples(true, 1).len() > 1);
        let of_slice = |open| slice.tuples(slice.share(0), open, 5, 1);
        let raises = |tuple: &[i64]| tuple[4] == 0 || tuple[4] > i64::from(i32::MAX);
        assert!(of_slice(true).iter().any(raises));
        assert!(!of_slice(false).iter().any(raises));
    }

    #[test]
    fn sizes_reach_what_clauses_leave() {
        let (slice, padding) = (pools("SLICE"), pools("PADDING1"));
        assert_eq!(slice.reach(slice.share(0), false, INPUT, 3), (1, 3));
        assert_eq!(slice.reach(slice.share(0), true, INPUT, 3), (1, 8));
        assert_eq!(padding.reach(padding.share(0), false, OUTPUT, 5), (1, 5));
        assert_eq!(padding.reach(padding.share(2), false, INPUT, 1), (1, 1));
    }
}
