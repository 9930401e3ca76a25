//! Finding values for unknowns: domains are narrowed by solving each comparison for every unknown that
//! occurs linearly in it, the ends of the others are shaved off while interval arithmetic refutes them, and
//! what is left is enumerated or sampled, one axis at a time.

use smallvec::SmallVec;

use super::{interval::Interval, term::Condition};
use crate::draw::Draws;

/// The domain of each unknown.
pub(crate) type Domains = SmallVec<[Interval; 8]>;

/// Conditions on unknowns with their domains.
#[derive(Clone, Debug)]
pub(crate) struct Problem<'conditions> {
    domains: Domains,
    conditions: SmallVec<[Entry<'conditions>; 16]>,
    /// Single values that a condition forbids to an unknown. A domain with one in its middle is searched on either
    /// side of it: what divides by the unknown is undefined there and says nothing of the whole.
    forbidden: SmallVec<[(usize, i64); 2]>,
}

/// A condition, and a bit for each unknown that occurs in it, and that occurs in it nonlinearly.
#[derive(Clone, Copy, Debug)]
struct Entry<'conditions> {
    unknowns: u32,
    nonlinear: u32,
    condition: &'conditions Condition,
}

/// An unknown's domain was too wide to enumerate when its turn came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unbounded {
    pub(crate) unknown: usize,
}

/// How many stretches are cut at most from either end of a domain; halving a 32-bit one takes about 32.
const MOST_CUTS: u32 = 80;
/// How many values of one unknown are tried at most.
const WIDEST: u64 = 1 << 20;

impl<'conditions> Problem<'conditions> {
    /// A problem with its domains narrowed; `None` where that already shows that there is no solution.
    pub(crate) fn new(
        domains: Domains,
        conditions: impl IntoIterator<Item = &'conditions Condition>,
    ) -> Option<Self> {
        let entry = |condition: &'conditions Condition| Entry {
            unknowns: condition.unknowns(),
            nonlinear: condition.nonlinear(),
            condition,
        };
        let conditions: SmallVec<[Entry<'conditions>; 16]> = conditions.into_iter().map(entry).collect();
        let forbidden = conditions.iter().filter_map(|entry| entry.condition.forbidden(&domains)).collect();
        let mut problem = Self { domains, conditions, forbidden };
        let mut domains = problem.domains.clone();
        let possible =
            !domains.iter().any(|domain| domain.is_empty()) && problem.narrow(&mut domains, u32::MAX);
        problem.domains = domains;
        possible.then_some(problem)
    }

    /// The problem with one domain cut to an interval; `None` where that leaves no solution.
    pub(crate) fn within(&self, unknown: usize, interval: Interval) -> Option<Self> {
        let domains = self.cut(&self.domains, unknown, interval)?;
        Some(Self { domains, ..self.clone() })
    }

    /// The problem with every domain shaved, for when much is asked of it; `None` where that leaves no solution.
    pub(crate) fn tightened(self) -> Option<Self> {
        let mut domains = self.domains.clone();
        for (unknown, domain) in domains.iter_mut().enumerate().filter(|(_, domain)| !domain.is_single()) {
            *domain = self.bounds(unknown)?;
        }
        self.narrow(&mut domains, u32::MAX).then(|| Self { domains, ..self })
    }

    /// Domains with one of them cut to an interval, and narrowed; `None` where that leaves one empty.
    fn cut(&self, domains: &Domains, unknown: usize, interval: Interval) -> Option<Domains> {
        let mut domains = domains.clone();
        let domain = &mut domains[unknown];
        *domain = Interval::new(domain.low.max(interval.low), domain.high.min(interval.high));
        (!domains[unknown].is_empty() && self.narrow(&mut domains, 1 << unknown)).then_some(domains)
    }

    /// The domain of each unknown.
    pub(crate) fn domains(&self) -> &Domains {
        &self.domains
    }

    /// Whether an unknown may have more values than can be enumerated.
    pub(crate) fn is_wide(&self, unknown: usize) -> bool {
        self.domains[unknown].len() > WIDEST
    }

    /// What lies on either side of a forbidden value in the middle of a domain; `None` where there is none.
    fn sides(&self, domains: &Domains) -> Option<[Option<Domains>; 2]> {
        let inside = |&&(unknown, value): &&(usize, i64)| {
            let domain: Interval = domains[unknown];
            domain.low < value && value < domain.high
        };
        let &(unknown, value) = self.forbidden.iter().find(inside)?;
        let whole = domains[unknown];
        let halves = [Interval::new(whole.low, value - 1), Interval::new(value + 1, whole.high)];
        Some(halves.map(|half| self.cut(domains, unknown, half)))
    }

    /// Narrows every domain until nothing changes, or for a few rounds, where only unknowns whose bit is set
    /// in `changed` are new. Returns false where a domain is empty.
    fn narrow(&self, domains: &mut Domains, mut changed: u32) -> bool {
        for _ in 0..4 {
            let mut next = 0;
            for entry in self.conditions.iter().filter(|entry| entry.unknowns & changed != 0) {
                // A copy of plain values: cloning goes one by one.
                let before = Domains::from_slice(domains);
                if !entry.condition.narrow(domains) {
                    return false;
                }
                for (place, (old, new)) in before.iter().zip(&*domains).enumerate() {
                    next |= u32::from(old != new) << place;
                }
            }
            if next == 0 {
                break;
            }
            changed = next;
        }
        true
    }

    /// Whether a condition in which one of the unknowns occurs is certainly false.
    fn refuted(&self, domains: &Domains, unknowns: u32) -> bool {
        let mut concerned = self.conditions.iter().filter(|entry| entry.unknowns & unknowns != 0);
        concerned.any(|entry| entry.condition.truth(domains) == Some(false))
    }

    /// Cuts stretches from both ends of one domain while no value in them can satisfy the conditions. Finds
    /// what solving cannot: bounds through a division or an absolute value.
    fn shave(&self, domains: &mut Domains, unknown: usize) {
        let concerned: SmallVec<[&Condition; 8]> = self
            .conditions
            .iter()
            .filter(|entry| entry.nonlinear & 1 << unknown != 0)
            .map(|entry| entry.condition)
            .filter(|condition| !condition.is_solved_for(domains, unknown))
            .collect();
        if concerned.is_empty() {
            return;
        }
        for from_above in [false, true] {
            let mut stretch = domains[unknown].len().div_ceil(2);
            // Where only short stretches can be refuted, cutting them one by one would never end.
            for _ in 0..MOST_CUTS {
                if stretch == 0 || domains[unknown].is_empty() {
                    break;
                }
                let whole = domains[unknown];
                let length = stretch.min(whole.len()) as i64;
                let cut = if from_above {
                    Interval::new(whole.high - length + 1, whole.high)
                } else {
                    Interval::new(whole.low, whole.low + length - 1)
                };
                domains[unknown] = cut;
                let gone = concerned.iter().any(|condition| condition.truth(domains) == Some(false));
                domains[unknown] = whole;
                if gone {
                    if from_above {
                        domains[unknown].high = cut.low - 1;
                    } else {
                        domains[unknown].low = cut.high + 1;
                    }
                    stretch = stretch.min(domains[unknown].len());
                } else {
                    stretch /= 2;
                }
            }
        }
    }

    /// What narrowing and shaving leave of one unknown's domain; `None` where nothing is left. Every solution
    /// lies within, but not everything within need be one.
    pub(crate) fn bounds(&self, unknown: usize) -> Option<Interval> {
        self.bounds_within(&self.domains, unknown)
    }

    fn bounds_within(&self, domains: &Domains, unknown: usize) -> Option<Interval> {
        if let Some(sides) = self.sides(domains) {
            let sides = sides.into_iter().flatten();
            return sides.filter_map(|side| self.bounds_within(&side, unknown)).reduce(Interval::union);
        }
        let mut domains = domains.clone();
        self.shave(&mut domains, unknown);
        (!domains[unknown].is_empty()).then(|| domains[unknown])
    }

    /// The open unknown with the fewest values left.
    fn next_unknown(domains: &Domains) -> Option<usize> {
        (0..domains.len())
            .filter(|&place| !domains[place].is_single())
            .min_by_key(|&place| domains[place].len())
    }

    /// Calls back with every assignment that no condition refutes, each once, until the callback returns
    /// false. Conditions that are undefined or opaque are left to the callback.
    pub(crate) fn enumerate(&self, found: &mut dyn FnMut(&[i64]) -> bool) -> Result<(), Unbounded> {
        self.descend(self.domains.clone(), u32::MAX, found).map(|_| ())
    }

    fn descend(
        &self,
        mut domains: Domains,
        changed: u32,
        found: &mut dyn FnMut(&[i64]) -> bool,
    ) -> Result<bool, Unbounded> {
        if !self.narrow(&mut domains, changed) {
            return Ok(true);
        }
        let Some(mut unknown) = Self::next_unknown(&domains) else {
            let values: SmallVec<[i64; 8]> = domains.iter().map(|domain| domain.low).collect();
            return Ok(self.refuted(&domains, u32::MAX) || found(&values));
        };
        if domains[unknown].len() > 64 {
            if let Some(sides) = self.sides(&domains) {
                for side in sides.into_iter().flatten() {
                    if !self.descend(side, 0, found)? {
                        return Ok(false);
                    }
                }
                return Ok(true);
            }
            for place in 0..domains.len() {
                if !domains[place].is_single() {
                    self.shave(&mut domains, place);
                }
            }
            if domains.iter().any(|domain| domain.is_empty()) {
                return Ok(true);
            }
            match Self::next_unknown(&domains) {
                Some(narrowest) => unknown = narrowest,
                None => return self.descend(domains, u32::MAX, found),
            }
        }
        let whole = domains[unknown];
        if whole.len() > WIDEST {
            return Err(Unbounded { unknown });
        }
        for value in whole.low..=whole.high {
            let mut next = domains.clone();
            next[unknown] = Interval::single(value);
            if !self.descend(next, 1 << unknown, found)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// One assignment that no condition refutes, drawn with a liking for the ends of domains; `None` where
    /// this draw led nowhere. The order in which unknowns are fixed is drawn too.
    pub(crate) fn sample(&self, draws: &mut Draws) -> Option<SmallVec<[i64; 8]>> {
        let mut domains = self.domains.clone();
        while let Some([below, above]) = self.sides(&domains) {
            let (first, second) = if draws.chance(1, 2) { (below, above) } else { (above, below) };
            domains = first.or(second)?;
        }
        let mut order: SmallVec<[usize; 8]> = (0..domains.len()).collect();
        draws.shuffle(&mut order);
        for unknown in order {
            if domains[unknown].is_single() {
                continue;
            }
            self.shave(&mut domains, unknown);
            if domains[unknown].is_empty() {
                return None;
            }
            let fixed = (0..4).find_map(|_| {
                let mut next = domains.clone();
                next[unknown] = Interval::single(draw_value(domains[unknown], draws));
                (self.narrow(&mut next, 1 << unknown) && !self.refuted(&next, 1 << unknown)).then_some(next)
            });
            domains = fixed?;
        }
        (!self.refuted(&domains, u32::MAX)).then(|| domains.iter().map(|domain| domain.low).collect())
    }
}

/// A value of a domain: often an end, often near zero, sometimes at the edge of a 16- or 32-bit word.
fn draw_value(domain: Interval, draws: &mut Draws) -> i64 {
    const EDGES: [i64; 8] =
        [1 << 15, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, -1, -(1 << 31), 1 - (1 << 31)];
    let near = |centre: i64, draws: &mut Draws| centre + draws.between(-9, 9);
    let value = match draws.below(8) {
        0 => domain.low,
        1 => domain.high,
        2 => near(domain.low, draws),
        3 | 4 => near(0, draws),
        5 if domain.len() > 1 << 15 => EDGES[draws.place(EDGES.len())],
        _ => domain.low + (draws.word() % domain.len()) as i64,
    };
    if domain.contains(value) { value } else { domain.low + (draws.word() % domain.len()) as i64 }
}
