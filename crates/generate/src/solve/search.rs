//! Finds values for unknowns. Domains are narrowed by solving each comparison for every unknown that occurs
//! linearly in it. For other unknowns, ranges at the ends of the domain are removed if interval arithmetic
//! refutes them. The remaining values of an axis are enumerated or sampled.

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
    /// Single values that a condition excludes for an unknown. If such a value is inside a domain, both sides
    /// of it are searched separately. A division by the unknown is undefined there, so that narrowing learns
    /// nothing from the whole domain.
    forbidden: SmallVec<[(usize, i64); 2]>,
}

/// A condition, the bits of the unknowns that occur in it, and of those that occur nonlinearly.
#[derive(Clone, Copy, Debug)]
struct Entry<'conditions> {
    unknowns: u32,
    nonlinear: u32,
    condition: &'conditions Condition,
}

/// An unknown's domain is too wide to enumerate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unbounded {
    pub(crate) unknown: usize,
}

/// The largest number of ranges that are cut from one end of a domain. Halving a 32-bit domain takes about
/// 32.
const MOST_CUTS: u32 = 80;
/// The largest number of values of one unknown that are tried.
const WIDEST: u64 = 1 << 20;

impl<'conditions> Problem<'conditions> {
    /// A problem with its domains narrowed. `None` if narrowing shows that there is no solution.
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

    /// The problem with one domain restricted to an interval. `None` if this leaves no solution.
    pub(crate) fn within(&self, unknown: usize, interval: Interval) -> Option<Self> {
        let domains = self.cut(&self.domains, unknown, interval)?;
        Some(Self { domains, ..self.clone() })
    }

    /// The problem with every domain shaved, for problems that are used often. `None` if this leaves no
    /// solution.
    pub(crate) fn tightened(self) -> Option<Self> {
        let mut domains = self.domains.clone();
        for (unknown, domain) in domains.iter_mut().enumerate().filter(|(_, domain)| !domain.is_single()) {
            *domain = self.bounds(unknown)?;
        }
        self.narrow(&mut domains, u32::MAX).then(|| Self { domains, ..self })
    }

    /// Domains with one of them restricted to an interval, and narrowed. `None` if one becomes empty.
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

    /// Whether an unknown has too many values to enumerate.
    pub(crate) fn is_wide(&self, unknown: usize) -> bool {
        self.domains[unknown].len() > WIDEST
    }

    /// The two sides of an excluded value inside a domain; `None` if there is no such value.
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

    /// Narrows every domain until nothing changes, or for a few rounds. Only the unknowns whose bit is set in
    /// `changed` are assumed to be new. Returns false if a domain is empty.
    fn narrow(&self, domains: &mut Domains, mut changed: u32) -> bool {
        for _ in 0..4 {
            let mut next = 0;
            for entry in self.conditions.iter().filter(|entry| entry.unknowns & changed != 0) {
                // A bitwise copy; `clone` would copy the elements one by one.
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

    /// Whether a condition that contains one of the unknowns is certainly false.
    fn refuted(&self, domains: &Domains, unknowns: u32) -> bool {
        let mut concerned = self.conditions.iter().filter(|entry| entry.unknowns & unknowns != 0);
        concerned.any(|entry| entry.condition.truth(domains) == Some(false))
    }

    /// Cuts ranges from both ends of a domain while no value in them can satisfy the conditions. This finds
    /// bounds that solving cannot find, through a division or an absolute value.
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
            // If only short ranges can be refuted, cutting without a limit would take too long.
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

    /// The part of one unknown's domain that narrowing and shaving leave; `None` if it is empty. Every
    /// solution is inside, but not every value inside is a solution.
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

    /// The undecided unknown with the fewest values left.
    fn next_unknown(domains: &Domains) -> Option<usize> {
        (0..domains.len())
            .filter(|&place| !domains[place].is_single())
            .min_by_key(|&place| domains[place].len())
    }

    /// Calls `found` with every assignment that no condition refutes, each once, until it returns false. The
    /// caller must check conditions that are undefined or opaque.
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

    /// A random assignment that no condition refutes, with a preference for the ends of domains. `None` if
    /// this attempt failed. The order in which unknowns are fixed is random, too.
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

/// A random value of a domain: often an end, often near zero, sometimes near the limits of a 16- or 32-bit
/// word.
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
