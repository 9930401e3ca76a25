//! Pools of valid tuples, by setting and sizes. Each is filled on its first use.
//!
//! Most uniformly drawn tuples have an output size of 1. So a case draws the sizes first, and then a tuple
//! with these sizes. Solving for a tuple takes microseconds, which is too slow for each axis of each case.
//! The solver therefore fills a pool once, including extreme values, and cases draw from it.
//!
//! A run of a million cases uses some thousand pools, so the time for filling them matters. Settings with the
//! same conditions on axes share their pools. Valid and open tuples share a pool if no question can arise.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use dmlcts_model::Case;
use dmlcts_spec::{Scratch, Validity};

use crate::{
    draw::{Draws, mix},
    lower::{INPUT, OUTPUT},
    solve::{Condition, Domains, Interval, Problem},
    space::{Setting, Space},
};

/// Tuples of equal length.
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

    /// The tuple at an index; `None` past the end.
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

/// Values that are computed on first use, indexed by one or two sizes.
type Kept<T> = Vec<OnceLock<T>>;

fn kept<T>(count: usize) -> Kept<T> {
    std::iter::repeat_with(OnceLock::new).take(count).collect()
}

/// The pools of one operator, for sizes up to a limit.
pub(crate) struct Pools<'lib> {
    pub(crate) space: Arc<Space<'lib>>,
    seed: u64,
    /// The greatest size.
    most: usize,
    /// For each setting, the index of its share.
    places: Vec<usize>,
    shares: Vec<Share>,
    /// Memory for judging. The list grows to the number of threads that fill pools at the same time.
    workspaces: Mutex<Vec<Workspace>>,
}

/// The pools of all settings with the same conditions on an axis.
pub(crate) struct Share {
    place: usize,
    /// The first of these settings.
    first: usize,
    valid: Kept<Tuples>,
    /// Tuples that may raise questions; `None` if none can, so that the valid tuples are used.
    open: Kept<Option<Tuples>>,
    /// Indexed by openness, the given tensor and its size.
    reaches: [[Kept<Reach>; 2]; 2],
}

/// A setting's clauses and questions on an axis, simplified. Conditions that the setting decides are
/// constants.
fn asked(setting: &Setting) -> [Vec<Condition>; 2] {
    [&setting.rules, &setting.questions]
        .map(|rules| rules.iter().map(|rule| rule.that.simplified()).collect())
}

struct Workspace {
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
            // Settings with opaque conditions do not share pools, because the opaque parts may differ.
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
        Self { space, seed, most, places, shares, workspaces: Mutex::default() }
    }

    /// The pools of a setting.
    pub(crate) fn share(&self, setting: usize) -> &Share {
        &self.shares[self.places[setting]]
    }

    /// The sizes that the output may have if the input (`given` is [`INPUT`]) has this size, or the reverse.
    /// If `open` is set, tuples may raise questions. The range may be too wide, since it comes from narrowing
    /// alone. It is empty if no tuple exists.
    #[inline]
    pub(crate) fn reach(&self, share: &Share, open: bool, given: usize, size: usize) -> Reach {
        let kept = &share.reaches[usize::from(open)][given][size];
        // This is faster than `get_or_init` alone, which would force its arguments into memory even if the
        // value exists.
        match kept.get() {
            Some(reach) => *reach,
            None => *kept.get_or_init(|| self.find_reach(share, open, given, size)),
        }
    }

    /// Tuples of two sizes, which are at most `most`. If `open` is set, they may raise questions.
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

    /// The domains of a pool, with its two sizes fixed.
    fn domains(&self, place: usize) -> Domains {
        let side = self.most + 1;
        let mut domains = self.space.domains();
        domains[INPUT] = Interval::single((place / side) as i64);
        domains[OUTPUT] = Interval::single((place % side) as i64);
        domains
    }

    /// Whether a question may arise, according to narrowing.
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
        // Small sizes are drawn most often, and have the most varied tuples relative to their size.
        let is_small = domains[INPUT].high.max(domains[OUTPUT].high) <= 8;
        let wanted = if is_small { 16 } else { 6 };
        let problem = Problem::new(domains, setting.conditions(open)).and_then(Problem::tightened);
        let Some(problem) = problem else { return tuples };
        let stream = (share.place * share.valid.len() + place) as u64;
        let mut draws = Draws::new(mix(self.seed ^ stream));
        let mut workspace = self.workspace();
        for _ in 0..wanted * 2 {
            let Some(tuple) = problem.sample(&mut draws) else { continue };
            if tuples.iter().any(|known| known == &*tuple) {
                continue;
            }
            let judgement = space.judge_tuple(setting, &tuple, &mut workspace.case, &mut workspace.scratch);
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
        self.workspaces.lock().unwrap_or_else(PoisonError::into_inner).push(workspace);
        tuples
    }

    /// Takes memory for judging that no other thread uses.
    fn workspace(&self) -> Workspace {
        let free = self.workspaces.lock().unwrap_or_else(PoisonError::into_inner).pop();
        free.unwrap_or_else(|| Workspace { case: self.space.blank(), scratch: Scratch::default() })
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
        // Every mode asks about wrapping sums, and REFLECTION also about a single element.
        assert_eq!(pools.places, [0, 0, 1, 0, 0]);
    }

    #[test]
    fn open_tuples_are_apart_where_a_question_can_arise() {
        let (padding, slice, slice1) = (pools("PADDING1"), pools("SLICE"), pools("SLICE1"));
        let strided = |open| slice1.tuples(slice1.share(0), open, 5, 2);
        assert!(std::ptr::eq(strided(true), strided(false)), "SLICE1 has no question on an axis");
        let reflection = padding.share(2);
        let tuples = |open, input| padding.tuples(reflection, open, input, 5);
        assert_eq!(tuples(false, 1).len(), 0);
        assert!(tuples(true, 1).len() > 1);
        let wraps = |tuple: &[i64]| tuple[INPUT] + tuple[2] + tuple[3] > tuple[OUTPUT];
        assert!(tuples(true, 2).iter().any(wraps));
        assert!(!tuples(false, 2).iter().any(wraps));
        // An output that is smaller than the input has no other padding.
        assert!(padding.tuples(padding.share(0), true, 5, 2).iter().all(wraps));
        assert_eq!(padding.tuples(padding.share(0), false, 5, 2).len(), 0);
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
