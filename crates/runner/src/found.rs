//! Failures in groups: what those of one group have in common, and how many there are.
//!
//! Memory stays bounded however much fails: of each group the first is kept, and of groups there are at most
//! [`FoundGroups::MOST`].

use dmlcts_model::{Case, Desc, Expectation, FeatureLevel, Outcome, Value};
use dmlcts_spec::{IdSet, Judgement, Library, Scratch, Validity};

use crate::{Class, Failure, Rate, Verdict, expect};

/// A case whose verdict was not expected. Its case can be read again by the index.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its index in the source.
    pub index: u64,
    /// The place of its strategy in [`Source::strategies`](crate::Source::strategies).
    pub strategy: usize,
    /// The place of its operator in the library.
    pub operator: usize,
    /// What it came to.
    pub verdict: Verdict,
    /// In which way it failed.
    pub class: Class,
    /// What the backend did.
    pub outcome: Outcome,
    /// What the spec says of its desc.
    pub judgement: Judgement,
    /// The value of its first enumeration, where it has one.
    pub mode: Option<i64>,
    /// How often it failed, where it is a flake.
    pub rate: Option<Rate>,
    /// How many of the cases that it stands for were run again alone: itself, and as the first of a group,
    /// others of it.
    pub again: u64,
    /// The place of the known failure that matches it, and that it does not fit.
    pub known: Option<usize>,
}

/// What failures of one group have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupKey {
    operator: usize,
    class: Class,
    violated: IdSet,
    questions: IdSet,
    mode: Option<i64>,
    is_flake: bool,
}

impl Found {
    /// The group that it belongs to.
    pub fn key(&self) -> GroupKey {
        GroupKey {
            operator: self.operator,
            class: self.class,
            violated: self.judgement.violated,
            questions: self.judgement.questions,
            mode: self.mode,
            is_flake: self.verdict == Verdict::Flake,
        }
    }

    /// The failure, where its case and what the backend did with it were kept, and the memory of its run was
    /// not. `None` where the case is of another operator.
    pub fn failure(
        &self,
        library: &'static Library,
        level: FeatureLevel,
        (case, strategy): (Case, &str),
        outcome: Outcome,
    ) -> Option<Failure> {
        let operator = library.operators().get(self.operator)?;
        if !std::sync::Arc::ptr_eq(operator.signature(), &case.desc.signature) {
            return None;
        }
        let judgement = operator.judge(&case.desc, level, &mut Scratch::default());
        let expectation = match judgement.validity() {
            Validity::Invalid => Expectation::Reject,
            Validity::Open => expect::open(operator, judgement.questions),
            Validity::Valid => Expectation::Output,
        };
        Some(Failure {
            index: self.index,
            strategy: strategy.to_owned(),
            case,
            operator,
            level,
            judgement,
            expectation,
            outcome,
            verdict: self.verdict,
            rate: self.rate,
            class: self.class,
            evidence: None,
        })
    }

    /// The value of the desc's first enumeration: operators with modes go wrong mode by mode.
    pub(crate) fn mode_of(desc: &Desc) -> Option<i64> {
        let members = desc.signature.members.iter().zip(&desc.members);
        members
            .filter(|(member, _)| matches!(member.kind, dmlcts_model::MemberKind::Enumeration(_)))
            .find_map(|(_, value)| match value {
                Value::Integer(value) => Some(*value),
                _ => None,
            })
    }
}

/// Failures by group: how many, and the first of each. There are at most [`FoundGroups::MOST`].
#[derive(Clone, Debug, Default)]
pub struct FoundGroups {
    /// The first failure of each group, and how many the group has, in the order of the first ones.
    pub groups: Vec<(Found, u64)>,
    /// Failures of groups that found no room.
    pub others: u64,
    /// Further failures of the groups of a chunk, for the case that the first ones are flakes.
    pub(crate) later: Vec<Found>,
    /// The first cases of a chunk that passed although they are known to fail, for the case that they fail at
    /// times.
    pub(crate) passes: Vec<Found>,
}

impl FoundGroups {
    /// How many groups are kept.
    pub const MOST: usize = 64;

    /// Of a chunk, so many failures of each group are kept.
    const LATER: u64 = 16;

    /// These groups, and so many failures of others.
    pub fn new(groups: Vec<(Found, u64)>, others: u64) -> Self {
        Self { groups, others, ..Self::default() }
    }

    /// Adds a failure of a chunk, and says whether it is the first of a group.
    pub(crate) fn add(&mut self, found: Found) -> bool {
        let later = found.clone();
        let key = later.key();
        let is_first = self.add_many(found, 1);
        let is_of_few = |(first, count): &(Found, u64)| *count <= Self::LATER && first.key() == key;
        if !is_first && self.groups.iter().any(is_of_few) {
            self.later.push(later);
        }
        is_first
    }

    /// Adds a case of a chunk that passed although it is known to fail. Of each known failure some are kept.
    pub(crate) fn add_pass(&mut self, found: Found) {
        let alike = self.passes.iter().filter(|pass| pass.known == found.known).count() as u64;
        if alike <= Self::LATER {
            self.passes.push(found);
        }
    }

    /// Whether a failure needs no closer look: there is one like it, or no room for one.
    pub(crate) fn knows(&self, found: &Found) -> bool {
        self.groups.len() >= Self::MOST || self.groups.iter().any(|(first, _)| first.key() == found.key())
    }

    /// Adds failures of one group, of which this is the first.
    pub fn add_many(&mut self, found: Found, cases: u64) -> bool {
        let key = found.key();
        if let Some((first, count)) = self.groups.iter_mut().find(|(first, _)| first.key() == key) {
            *count += cases;
            first.again += found.again;
        } else if self.groups.len() < Self::MOST {
            self.groups.push((found, cases));
            return true;
        } else {
            self.others += cases;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(index: u64, mode: i64) -> Found {
        Found {
            index,
            strategy: 0,
            operator: 0,
            verdict: Verdict::Fail,
            class: Class::Lost,
            outcome: Outcome::Lost,
            judgement: Judgement::default(),
            mode: Some(mode),
            rate: None,
            again: 0,
            known: None,
        }
    }

    #[test]
    fn groups_are_bounded_and_every_failure_is_counted() {
        let mut groups = FoundGroups::default();
        assert!(groups.add(found(3, 0)));
        assert!(!groups.add(found(4, 0)));
        for mode in 1..1000 {
            groups.add(found(5, mode));
        }
        assert_eq!(groups.groups.len(), FoundGroups::MOST);
        assert_eq!((groups.groups[0].0.index, groups.groups[0].1), (3, 2));
        let kept: u64 = groups.groups.iter().map(|group| group.1).sum();
        assert_eq!(kept + groups.others, 1001);
    }
}
