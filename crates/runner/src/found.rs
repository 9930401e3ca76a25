//! Failures in groups: the common properties of a group's failures, and their number.
//!
//! The first failure of each group is kept, and there are at most [`FoundGroups::MOST`] groups. So memory is
//! bounded, however many cases fail.

use dmlcts_model::{Case, Desc, FeatureLevel, Outcome, Value};
use dmlcts_spec::{IdSet, Judgement, Library, Operator, Scratch};

use crate::{CaseDigest, Class, Failure, Rate, Verdict, expect};

/// A case with an unexpected verdict, or one that a known failure matches. The index is enough to read the
/// case again.
#[derive(Clone, Debug)]
pub struct Found {
    /// The index of the case in the source.
    pub index: u64,
    /// The index of its strategy in [`CaseSource::strategies`](crate::CaseSource::strategies).
    pub strategy: usize,
    /// The index of its operator in the library.
    pub operator: usize,
    /// The verdict.
    pub verdict: Verdict,
    /// The class of the failure.
    pub class: Class,
    /// The outcome of the backend.
    pub outcome: Outcome,
    /// The number of operators that were alive, itself included; 0 if unknown.
    pub alive: u32,
    /// The spec's judgement of its desc.
    pub judgement: Judgement,
    /// The value of its first enumeration, if it has one.
    pub mode: Option<i64>,
    /// How often it failed, if it is a flake.
    pub rate: Option<Rate>,
    /// The number of cases that were run again alone: the case itself, and for the first of a group, others
    /// of the group.
    pub again: u64,
    /// The index of the known failure that counts the case, if there is one.
    pub known: Option<usize>,
    /// Whether the runs on the case's own data are right, and only a run on [`OTHER_DATA`](crate::OTHER_DATA)
    /// is wrong.
    pub only_other_data: bool,
    /// The digest of the case, if the run is recorded.
    pub digest: Option<CaseDigest>,
}

/// The common properties of the failures of one group.
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

    /// The failure, from the recorded case and outcome, without the memory of its run. `None` if the case has
    /// another operator.
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
        Some(Failure { outcome, ..self.as_found(operator, level, (case, strategy), judgement) })
    }

    /// The failure before its case ran again: without evidence.
    pub(crate) fn as_found(
        &self,
        operator: &'static Operator,
        level: FeatureLevel,
        (case, strategy): (Case, &str),
        judgement: Judgement,
    ) -> Failure {
        Failure {
            index: self.index,
            strategy: strategy.to_owned(),
            case,
            operator,
            level,
            judgement,
            expectation: expect::by_judgement(operator, judgement),
            outcome: self.outcome.clone(),
            verdict: self.verdict,
            rate: self.rate,
            alive: self.alive,
            class: self.class,
            evidence: None,
            bytes_vary: false,
            tried: None,
        }
    }

    /// The value of the desc's first enumeration. A fault in an operator with modes often affects one mode.
    pub fn mode_of(desc: &Desc) -> Option<i64> {
        let members = desc.signature.members.iter().zip(&desc.members);
        members
            .filter(|(member, _)| matches!(member.kind, dmlcts_model::MemberKind::Enumeration(_)))
            .find_map(|(_, value)| match value {
                Value::Integer(value) => Some(*value),
                _ => None,
            })
    }
}

/// Groups of failures, of a batch or of a run. There are at most [`FoundGroups::MOST`].
#[derive(Clone, Debug, Default)]
pub struct FoundGroups {
    /// The first failure and the size of each group, in the order of the first failures.
    pub groups: Vec<(Found, u64)>,
    /// The number of failures in further groups.
    pub others: u64,
    /// Later failures of the groups of a batch. They replace first failures that are flakes.
    pub(crate) later: Vec<Found>,
    /// The first cases of a batch that passed although they are known to fail. They run again, in case they
    /// are flakes.
    pub(crate) passes: Vec<Found>,
}

impl FoundGroups {
    /// The maximum number of groups.
    pub const MOST: usize = 64;

    /// The maximum number of later failures of each group of a batch, and of passes of each known failure.
    const LATER: u64 = 16;

    /// These groups, and this number of failures in further groups.
    pub fn new(groups: Vec<(Found, u64)>, others: u64) -> Self {
        Self { groups, others, ..Self::default() }
    }

    /// Adds a failure of a batch. Returns whether it is the first of a group.
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

    /// Adds a case of a batch that passed although it is known to fail. Some of each known failure are kept.
    pub(crate) fn add_pass(&mut self, found: Found) {
        let alike = self.passes.iter().filter(|pass| pass.known == found.known).count() as u64;
        if alike <= Self::LATER {
            self.passes.push(found);
        }
    }

    /// Whether a failure needs no further examination: its group exists, or no further group is kept.
    pub(crate) fn knows(&self, found: &Found) -> bool {
        self.groups.len() >= Self::MOST || self.groups.iter().any(|(first, _)| first.key() == found.key())
    }

    /// Adds failures of one group, whose first is `found`. Returns whether the group is new.
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
            alive: 0,
            judgement: Judgement::default(),
            mode: Some(mode),
            rate: None,
            again: 0,
            known: None,
            only_other_data: false,
            digest: None,
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
