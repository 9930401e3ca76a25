//! Pools of valid tuples, by setting and sizes, each filled on its first use.
//!
//! A uniformly drawn tuple has an output size of 1 most of the time; so sizes are drawn first, and a tuple
//! among those that fit them. Solving for one takes microseconds, which is too slow for each axis of each
//! case: the solver fills a pool once, wide values included, and cases draw from it.

use std::sync::{Arc, OnceLock};

use dmlcts_spec::{Scratch, Validity};

use crate::{
    draw::{Draws, mix},
    solve::{Interval, Problem},
    space::{INPUT, OUTPUT, Space},
};

/// Tuples of one width, side by side.
#[derive(Debug, Default)]
pub(crate) struct Tuples {
    width: usize,
    values: Vec<i64>,
}

impl Tuples {
    pub(crate) fn new(width: usize) -> Self {
        Self { width, values: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len().checked_div(self.width).unwrap_or(0)
    }

    pub(crate) fn push(&mut self, tuple: &[i64]) {
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

/// The pools of one operator, for sizes up to a limit.
pub(crate) struct Pools<'lib> {
    pub(crate) space: Arc<Space<'lib>>,
    seed: u64,
    most: usize,
    /// Whether tuples may raise questions.
    open: bool,
    by_sizes: Vec<OnceLock<Tuples>>,
    /// By setting and input size, then by setting and output size.
    reaches: [Vec<OnceLock<Reach>>; 2],
}

impl<'lib> Pools<'lib> {
    /// Empty pools for sizes up to `most`, of valid tuples or of those that may raise questions too.
    pub(crate) fn new(space: Arc<Space<'lib>>, most: usize, open: bool, seed: u64) -> Self {
        let settings = space.settings.len();
        let locks = |count: usize| std::iter::repeat_with(OnceLock::new).take(count);
        Self {
            seed,
            most,
            open,
            by_sizes: locks(settings * (most + 1) * (most + 1)).collect(),
            reaches: [0, 1]
                .map(|_| std::iter::repeat_with(OnceLock::new).take(settings * (most + 1)).collect()),
            space,
        }
    }

    /// No size is greater.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// What sizes the output may have where the input (`given` is [`INPUT`]) has this one, or the other way
    /// round. May be wider than what is there, since it is found by narrowing alone; empty where nothing is.
    pub(crate) fn reach(&self, setting: usize, given: usize, size: usize) -> Reach {
        let lock = &self.reaches[given][setting * (self.most + 1) + size];
        *lock.get_or_init(|| {
            let other = 1 - given;
            let mut domains = self.space.domains();
            domains[given] = Interval::single(size as i64);
            domains[other] = Interval::new(1, self.most as i64);
            let problem = Problem::new(domains, self.space.settings[setting].conditions(self.open));
            let reach = problem.and_then(|problem| problem.bounds(other));
            reach.map_or((1, 0), |reach| (reach.low.max(1) as u32, reach.high.max(0) as u32))
        })
    }

    /// Valid tuples of a setting and two sizes, which are at most `most`.
    pub(crate) fn tuples(&self, setting: usize, input: usize, output: usize) -> &Tuples {
        let side = self.most + 1;
        let place = (setting * side + input) * side + output;
        self.by_sizes[place].get_or_init(|| self.fill(setting, input, output, place as u64))
    }

    fn fill(&self, setting: usize, input: usize, output: usize, place: u64) -> Tuples {
        let space = &self.space;
        let mut domains = space.domains();
        domains[INPUT] = Interval::single(input as i64);
        domains[OUTPUT] = Interval::single(output as i64);
        let setting = &space.settings[setting];
        let mut tuples = Tuples::new(space.width());
        let problem = Problem::new(domains, setting.conditions(self.open)).and_then(Problem::tightened);
        let Some(problem) = problem else { return tuples };
        let mut draws = Draws::new(mix(self.seed ^ place));
        let (mut case, mut scratch) = (space.blank(), Scratch::default());
        let mut found: Vec<Vec<i64>> = Vec::new();
        // Small sizes are drawn most and have the most varied tuples for their size.
        let wanted = if input.max(output) <= 8 { 20 } else { 8 };
        for _ in 0..wanted * 2 {
            let Some(values) = problem.sample(&mut draws) else { continue };
            let tuple = values.to_vec();
            if found.contains(&tuple) {
                continue;
            }
            let judgement = space.judge_tuple(setting, &tuple, &mut case, &mut scratch);
            match judgement.validity() {
                Validity::Valid => {}
                Validity::Open if self.open => {}
                _ => continue,
            }
            found.push(tuple);
            if found.len() == wanted {
                break;
            }
        }
        for tuple in &found {
            tuples.push(tuple);
        }
        tuples
    }
}
