//! The search that the strategies share: draw a valid desc of one operator, change it, and judge the result.
//! Each strategy decides which descs it starts from, which changes it tries and which results it keeps.

use dmlcts_model::{Case, Fill};
use dmlcts_spec::{Judgement, Scratch, Validity};

use super::{
    neighbour::Change,
    random::{Sampler, Shape},
};
use crate::{draw::Draws, space::Space};

/// Draws, changes and judges descs of one operator.
pub(super) struct Driver<'a, 'lib> {
    pub(super) sampler: &'a Sampler<'lib>,
    pub(super) space: &'a Space<'lib>,
    /// The case that the last change made.
    pub(super) changed: Case,
    /// Memory for judging.
    pub(super) scratch: Scratch,
}

impl<'a, 'lib> Driver<'a, 'lib> {
    pub(super) fn new(sampler: &'a Sampler<'lib>) -> Self {
        let space = sampler.space();
        Self { sampler, space, changed: space.blank(), scratch: Scratch::default() }
    }

    /// Judges a case.
    pub(super) fn judge(&mut self, case: &Case) -> Judgement {
        self.space.judge(&case.desc, &mut self.scratch)
    }

    /// Whether a case is valid and raises no question.
    pub(super) fn is_valid(&mut self, case: &Case) -> bool {
        self.judge(case).validity() == Validity::Valid
    }

    /// Draws a case of a shape. `None` if it is not valid or raises a question.
    pub(super) fn draw(&mut self, shape: &Shape, draws: &mut Draws) -> Option<Case> {
        let mut case = self.space.blank();
        self.sampler.draw(shape, draws, &mut case);
        case.fill = Fill::Iota;
        self.is_valid(&case).then_some(case)
    }

    /// Applies a change to a base with this setting, and judges the changed case.
    pub(super) fn change(&mut self, setting: usize, base: &Case, change: &Change) -> Judgement {
        change.apply(base, &self.space.settings[setting].unit, &mut self.changed);
        self.space.judge(&self.changed.desc, &mut self.scratch)
    }
}
