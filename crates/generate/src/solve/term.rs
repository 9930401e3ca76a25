//! The solver's expressions: on one axis, over numbered unknowns, with all values that are fixed for the
//! search folded in.

use super::interval::Interval;

/// An integer expression on one axis.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Term {
    /// A constant.
    Number(i64),
    /// The unknown with this index.
    Unknown(usize),
    /// A value that the search does not know, such as a total size.
    Opaque,
    Add(Box<Term>, Box<Term>),
    Negate(Box<Term>),
    Multiply(Box<Term>, Box<Term>),
    /// Rounded towards negative infinity.
    Divide(Box<Term>, Box<Term>),
    /// Never negative.
    Modulo(Box<Term>, Box<Term>),
    Absolute(Box<Term>),
    Minimum(Box<Term>, Box<Term>),
    Maximum(Box<Term>, Box<Term>),
    If(Box<Condition>, Box<Term>, Box<Term>),
}

/// The relation of two terms. The other relations are expressed by swapping or negating.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Relation {
    Equal,
    NotEqual,
    /// Less than or equal.
    AtMost,
    Less,
}

/// A comparison: the difference of its sides, left minus right, compared with zero.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Comparison {
    pub(crate) relation: Relation,
    pub(crate) difference: Term,
    /// A bit for each unknown that occurs.
    pub(crate) unknowns: u32,
}

/// A condition on one axis. Negations are pushed inwards.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Condition {
    Constant(bool),
    /// A condition that the search does not know.
    Opaque,
    Compare(Comparison),
    All(Vec<Condition>),
    Any(Vec<Condition>),
    If(Box<Condition>, Box<Condition>, Box<Condition>),
}

/// The values of a term while one unknown varies: `slope` times the unknown, plus a value in `rest`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Affine {
    pub(crate) slope: i64,
    pub(crate) rest: Interval,
}

impl Affine {
    fn flat(rest: Interval) -> Self {
        Self { slope: 0, rest }
    }

    /// The values for all values of the unknown in its domain.
    fn spread(self, domain: Interval) -> Interval {
        if self.slope == 0 {
            return self.rest;
        }
        domain.multiply(Interval::single(self.slope)).add(self.rest)
    }
}

impl Term {
    pub(crate) fn add(self, other: Self) -> Self {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => Self::Number(a.saturating_add(b)),
            (Self::Number(0), term) | (term, Self::Number(0)) => term,
            (a, b) => Self::Add(Box::new(a), Box::new(b)),
        }
    }

    pub(crate) fn negate(self) -> Self {
        match self {
            Self::Number(number) => Self::Number(number.saturating_neg()),
            Self::Negate(term) => *term,
            term => Self::Negate(Box::new(term)),
        }
    }

    /// The terms that it is made of.
    fn parts(&self) -> impl Iterator<Item = &Self> {
        let parts = match self {
            Self::Number(_) | Self::Unknown(_) | Self::Opaque => [None, None],
            Self::Negate(a) | Self::Absolute(a) => [Some(a), None],
            Self::Add(a, b)
            | Self::Multiply(a, b)
            | Self::Divide(a, b)
            | Self::Modulo(a, b)
            | Self::Minimum(a, b)
            | Self::Maximum(a, b)
            | Self::If(_, a, b) => [Some(a), Some(b)],
        };
        parts.into_iter().flatten().map(|part| &**part)
    }

    /// The condition that chooses between its parts.
    fn condition(&self) -> Option<&Condition> {
        if let Self::If(condition, ..) = self { Some(condition) } else { None }
    }

    /// A bit for each unknown that occurs.
    pub(crate) fn unknowns(&self) -> u32 {
        let own = if let Self::Unknown(place) = self { 1 << place } else { 0 };
        let of_condition = self.condition().map_or(0, Condition::unknowns);
        self.parts().fold(own | of_condition, |mask, part| mask | part.unknowns())
    }

    /// Whether the term has no opaque parts.
    fn is_transparent(&self) -> bool {
        *self != Self::Opaque
            && self.condition().is_none_or(Condition::is_transparent)
            && self.parts().all(Self::is_transparent)
    }

    /// A bit for each unknown with an occurrence that [`Term::affine`] may not keep separate.
    pub(crate) fn nonlinear(&self) -> u32 {
        match self {
            Self::Number(_) | Self::Opaque | Self::Unknown(_) => 0,
            Self::Negate(a) => a.nonlinear(),
            Self::Add(a, b) => a.nonlinear() | b.nonlinear(),
            _ => self.unknowns(),
        }
    }

    /// The values of the term over `domains`, as an affine function of `unknown` if that is exact. `None` if
    /// the term may be undefined or is opaque.
    pub(crate) fn affine(&self, domains: &[Interval], unknown: usize) -> Option<Affine> {
        let spread = |term: &Self| -> Option<Interval> {
            let affine = term.affine(domains, unknown)?;
            Some(if affine.slope == 0 { affine.rest } else { affine.spread(domains[unknown]) })
        };
        Some(match self {
            Self::Number(number) => Affine::flat(Interval::single(*number)),
            Self::Unknown(place) if *place == unknown => Affine { slope: 1, rest: Interval::single(0) },
            Self::Unknown(place) => Affine::flat(domains[*place]),
            Self::Opaque => return None,
            Self::Add(a, b) => {
                let (a, b) = (a.affine(domains, unknown)?, b.affine(domains, unknown)?);
                Affine { slope: a.slope.saturating_add(b.slope), rest: a.rest.add(b.rest) }
            }
            Self::Negate(a) => {
                let a = a.affine(domains, unknown)?;
                Affine { slope: -a.slope, rest: a.rest.negate() }
            }
            Self::Multiply(a, b) => {
                let (a, b) = (a.affine(domains, unknown)?, b.affine(domains, unknown)?);
                match (a.slope, b.slope) {
                    (0, 0) => Affine::flat(a.rest.multiply(b.rest)),
                    (0, _) if a.rest.is_single() => {
                        Affine { slope: b.slope.saturating_mul(a.rest.low), rest: b.rest.multiply(a.rest) }
                    }
                    (_, 0) if b.rest.is_single() => {
                        Affine { slope: a.slope.saturating_mul(b.rest.low), rest: a.rest.multiply(b.rest) }
                    }
                    _ => {
                        let domain = domains[unknown];
                        Affine::flat(a.spread(domain).multiply(b.spread(domain)))
                    }
                }
            }
            Self::Divide(a, b) => Affine::flat(spread(a)?.divide(spread(b)?)?),
            Self::Modulo(a, b) => Affine::flat(spread(a)?.modulo(spread(b)?)?),
            Self::Absolute(a) => Affine::flat(spread(a)?.absolute()),
            Self::Minimum(a, b) => Affine::flat(spread(a)?.minimum(spread(b)?)),
            Self::Maximum(a, b) => Affine::flat(spread(a)?.maximum(spread(b)?)),
            Self::If(condition, a, b) => match condition.truth(domains) {
                Some(true) => a.affine(domains, unknown)?,
                Some(false) => b.affine(domains, unknown)?,
                None => Affine::flat(spread(a)?.union(spread(b)?)),
            },
        })
    }

    /// The values of the term over `domains`.
    pub(crate) fn range(&self, domains: &[Interval]) -> Option<Interval> {
        // No unknown has this index, so that no unknown is kept separate.
        self.affine(domains, usize::MAX).map(|affine| affine.rest)
    }
}

impl Comparison {
    pub(crate) fn new(relation: Relation, left: Term, right: Term) -> Self {
        let difference = left.add(right.negate());
        let unknowns = difference.unknowns();
        Self { relation, difference, unknowns }
    }

    /// The condition that the left side minus the right side is exactly `by`.
    pub(crate) fn apart(&self, by: i64) -> Condition {
        Condition::Compare(Self::new(Relation::Equal, self.difference.clone(), Term::Number(by)))
    }

    fn negated(self) -> Self {
        let Self { relation, difference, unknowns } = self;
        // `not (a <= b)` is `b < a`: the difference changes its sign, and the relation its strictness.
        let (relation, difference) = match relation {
            Relation::Equal => (Relation::NotEqual, difference),
            Relation::NotEqual => (Relation::Equal, difference),
            Relation::AtMost => (Relation::Less, difference.negate()),
            Relation::Less => (Relation::AtMost, difference.negate()),
        };
        Self { relation, difference, unknowns }
    }

    fn truth(&self, domains: &[Interval]) -> Option<bool> {
        let Interval { low, high } = self.difference.range(domains)?;
        match self.relation {
            Relation::Equal if low == 0 && high == 0 => Some(true),
            Relation::Equal if low > 0 || high < 0 => Some(false),
            Relation::NotEqual if low > 0 || high < 0 => Some(true),
            Relation::NotEqual if low == 0 && high == 0 => Some(false),
            Relation::AtMost if high <= 0 => Some(true),
            Relation::AtMost if low > 0 => Some(false),
            Relation::Less if high < 0 => Some(true),
            Relation::Less if low >= 0 => Some(false),
            _ => None,
        }
    }

    /// Removes values from the domain of `unknown` that cannot make the comparison true, by solving for the
    /// unknown if it occurs linearly.
    fn narrow(&self, domains: &mut [Interval], unknown: usize) {
        let Some(Affine { slope, rest }) = self.difference.affine(domains, unknown) else { return };
        if slope == 0 {
            return;
        }
        // Requires `slope * x + rest <= limit` for some value of `rest`.
        let at_most = |domain: &mut Interval, slope: i64, rest_low: i64, limit: i64| {
            let room = limit - rest_low;
            if slope > 0 {
                domain.high = domain.high.min(super::interval::floor_divide(room, slope));
            } else {
                // x >= room / slope, rounded up.
                domain.low = domain.low.max(-super::interval::floor_divide(room, -slope));
            }
        };
        let domain = &mut domains[unknown];
        match self.relation {
            Relation::AtMost => at_most(domain, slope, rest.low, 0),
            Relation::Less => at_most(domain, slope, rest.low, -1),
            Relation::Equal => {
                at_most(domain, slope, rest.low, 0);
                at_most(domain, -slope, -rest.high, 0);
            }
            Relation::NotEqual => {
                if rest.is_single() && rest.low % slope == 0 {
                    let forbidden = -rest.low / slope;
                    if domain.low == forbidden {
                        domain.low += 1;
                    }
                    if domain.high == forbidden {
                        domain.high -= 1;
                    }
                }
            }
        }
    }
}

impl Condition {
    /// The same condition with constants folded in, so that parts that a setting decides disappear.
    pub(crate) fn simplified(&self) -> Self {
        // `neutral` is the value that does not change the result; its opposite decides the result.
        let joined = |parts: &[Self], neutral: bool| {
            let mut parts: Vec<Self> = parts.iter().map(Self::simplified).collect();
            parts.retain(|part| *part != Self::Constant(neutral));
            if parts.contains(&Self::Constant(!neutral)) {
                return Self::Constant(!neutral);
            }
            match parts.len() {
                0 => Self::Constant(neutral),
                _ if neutral => Self::All(parts),
                _ => Self::Any(parts),
            }
        };
        match self {
            Self::Compare(comparison) if comparison.unknowns == 0 => {
                comparison.truth(&[]).map_or_else(|| self.clone(), Self::Constant)
            }
            Self::All(parts) => joined(parts, true),
            Self::Any(parts) => joined(parts, false),
            Self::Constant(_) | Self::Opaque | Self::Compare(_) | Self::If(..) => self.clone(),
        }
    }

    /// The condition without the alternatives that other conditions exclude word for word: `x == 0 or x == 8`
    /// becomes `x == 0` where `x != 8` holds. Narrowing cannot tell by itself which alternative is left.
    pub(crate) fn without(self, excluded: &[Self]) -> Self {
        let Self::Any(mut parts) = self else { return self };
        let is_excluded = |part: &Self| excluded.iter().any(|other| other.excludes(part));
        parts.retain(|part| !is_excluded(part));
        match (parts.pop(), parts.is_empty()) {
            (Some(only), true) => only,
            (last, _) => {
                parts.extend(last);
                Self::Any(parts)
            }
        }
    }

    /// Whether this condition, or a part of it that must hold, is the negation of the other.
    fn excludes(&self, other: &Self) -> bool {
        match self {
            Self::All(parts) => parts.iter().any(|part| part.excludes(other)),
            _ => *self == other.clone().negated(),
        }
    }

    pub(crate) fn negated(self) -> Self {
        match self {
            Self::Constant(truth) => Self::Constant(!truth),
            Self::Opaque => Self::Opaque,
            Self::Compare(comparison) => Self::Compare(comparison.negated()),
            Self::All(parts) => Self::Any(parts.into_iter().map(Self::negated).collect()),
            Self::Any(parts) => Self::All(parts.into_iter().map(Self::negated).collect()),
            Self::If(condition, a, b) => Self::If(condition, Box::new(a.negated()), Box::new(b.negated())),
        }
    }

    /// A bit for each unknown that occurs.
    pub(crate) fn unknowns(&self) -> u32 {
        match self {
            Self::Constant(_) | Self::Opaque => 0,
            Self::Compare(comparison) => comparison.unknowns,
            Self::All(parts) | Self::Any(parts) => parts.iter().fold(0, |mask, part| mask | part.unknowns()),
            Self::If(condition, a, b) => condition.unknowns() | a.unknowns() | b.unknowns(),
        }
    }

    /// Whether the condition has no opaque parts.
    pub(crate) fn is_transparent(&self) -> bool {
        match self {
            Self::Constant(_) => true,
            Self::Opaque => false,
            Self::Compare(comparison) => comparison.difference.is_transparent(),
            Self::All(parts) | Self::Any(parts) => parts.iter().all(Self::is_transparent),
            Self::If(condition, a, b) => [condition, a, b].iter().all(|part| part.is_transparent()),
        }
    }

    /// The single value that the condition excludes for its only unknown.
    pub(crate) fn forbidden(&self, domains: &[Interval]) -> Option<(usize, i64)> {
        let Self::Compare(Comparison { relation: Relation::NotEqual, difference, unknowns }) = self else {
            return None;
        };
        let unknown = unknowns.trailing_zeros() as usize;
        if unknowns.count_ones() != 1 {
            return None;
        }
        let Affine { slope, rest } = difference.affine(domains, unknown)?;
        let whole = slope != 0 && rest.is_single() && rest.low % slope == 0;
        whole.then(|| (unknown, -rest.low / slope))
    }

    /// Whether narrowing has already removed every value of an unknown that the condition rules out.
    pub(crate) fn is_solved_for(&self, domains: &[Interval], unknown: usize) -> bool {
        let Self::Compare(comparison) = self else { return false };
        comparison.difference.affine(domains, unknown).is_some_and(|affine| affine.slope != 0)
    }

    /// A bit for each unknown with an occurrence that solving may not keep separate.
    pub(crate) fn nonlinear(&self) -> u32 {
        match self {
            Self::Constant(_) | Self::Opaque => 0,
            Self::Compare(comparison) => comparison.difference.nonlinear(),
            Self::All(parts) => parts.iter().fold(0, |mask, part| mask | part.nonlinear()),
            Self::Any(_) | Self::If(..) => self.unknowns(),
        }
    }

    /// The truth of joined parts. One whose truth is `decisive` decides alone: a false one of `and`, a true
    /// one of `or`.
    fn joined(parts: &[Self], domains: &[Interval], decisive: bool) -> Option<bool> {
        let mut joined = Some(!decisive);
        for part in parts {
            match part.truth(domains) {
                Some(truth) if truth == decisive => return Some(decisive),
                Some(_) => {}
                None => joined = None,
            }
        }
        joined
    }

    /// Whether it holds for all values in `domains`, or for none. `None` if this is not known or the
    /// condition may be undefined.
    pub(crate) fn truth(&self, domains: &[Interval]) -> Option<bool> {
        match self {
            Self::Constant(truth) => Some(*truth),
            Self::Opaque => None,
            Self::Compare(comparison) => comparison.truth(domains),
            Self::All(parts) => Self::joined(parts, domains, false),
            Self::Any(parts) => Self::joined(parts, domains, true),
            Self::If(condition, a, b) => match condition.truth(domains) {
                Some(true) => a.truth(domains),
                Some(false) => b.truth(domains),
                None => None,
            },
        }
    }

    /// Removes values from `domains` that cannot make the condition true. Returns false if nothing is left.
    pub(crate) fn narrow(&self, domains: &mut [Interval]) -> bool {
        match self {
            Self::Constant(truth) => *truth,
            Self::Opaque => true,
            Self::Compare(comparison) => {
                let mut rest = comparison.unknowns;
                while rest != 0 {
                    let unknown = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    if !domains[unknown].is_single() {
                        comparison.narrow(domains, unknown);
                        if domains[unknown].is_empty() {
                            return false;
                        }
                    }
                }
                comparison.truth(domains) != Some(false)
            }
            Self::All(parts) => parts.iter().all(|part| part.narrow(domains)),
            Self::Any(parts) => {
                let mut possible = parts.iter().filter(|part| part.truth(domains) != Some(false));
                match (possible.next(), possible.next()) {
                    (None, _) => false,
                    (Some(only), None) => only.narrow(domains),
                    _ => true,
                }
            }
            Self::If(condition, a, b) => match condition.truth(domains) {
                Some(true) => a.narrow(domains),
                Some(false) => b.narrow(domains),
                None => true,
            },
        }
    }

    /// Every comparison in the condition, including those inside terms.
    pub(crate) fn comparisons(&self) -> Vec<&Comparison> {
        match self {
            Self::Constant(_) | Self::Opaque => Vec::new(),
            Self::Compare(comparison) => [vec![comparison], comparison.difference.comparisons()].concat(),
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::comparisons).collect(),
            Self::If(condition, a, b) => [condition.comparisons(), a.comparisons(), b.comparisons()].concat(),
        }
    }
}

impl Term {
    /// Every comparison in the term.
    pub(crate) fn comparisons(&self) -> Vec<&Comparison> {
        let of_condition = self.condition().into_iter().flat_map(Condition::comparisons);
        of_condition.chain(self.parts().flat_map(Self::comparisons)).collect()
    }
}
