//! A hand: the few cases that a worker reads, judges and prepares together, one step after the other.
//!
//! Together these steps are more code than a core keeps at hand. Whoever takes case after case through all of them has the core
//! fetch most of it anew each time: 350 lines of its cache a case, and 53 where a step is taken with the whole hand.

use dmlcts_model::{BindingOffsets, Case, Desc, Expectation, Fill};
use dmlcts_spec::{Judgement, ValidDesc};

use super::{
    Worker,
    prepare::{Prepared, Turn},
};
use crate::lot::Planned;

/// Cases in a hand: enough that the steps' code is fetched seldom, and few enough that the cases stay with the core.
pub(super) const HAND: usize = 16;

/// A case of a hand.
pub(super) struct Read {
    pub(super) case: Case,
    pub(super) index: u64,
    pub(super) strategy: usize,
}

/// The operator's place in the library, and what the desc is judged; `None` where the case is none of the run's.
pub(super) type Judged<'a> = Option<(usize, Result<ValidDesc<'a>, Judgement>)>;

/// How far a hand was prepared.
#[derive(Default)]
pub(super) struct Taken {
    /// Cases, from the first on, that are in the lot or left out.
    pub(super) cases: usize,
    /// Those in the lot.
    pub(super) added: usize,
    /// Whether the next one waits for its [`Turn`].
    pub(super) waits: bool,
}

/// A hand of any cases.
pub(super) fn any(desc: &Desc) -> Vec<Read> {
    let case = || Case { desc: Box::new(desc.clone()), binding: BindingOffsets::default(), fill: Fill::Iota };
    (0..HAND).map(|_| Read { case: case(), index: 0, strategy: 0 }).collect()
}

impl<'run> Worker<'run> {
    /// Reads the cases from an index on, no more than `most`, and no more than there is room for. Returns how many.
    pub(super) fn read_hand(&mut self, index: u64, most: u64) -> usize {
        let room = self.pace.cases().saturating_sub(self.lot.planned.len() as u64);
        let count = most.min(room).clamp(1, HAND as u64) as usize;
        for (read, index) in self.hand.iter_mut().take(count).zip(index..) {
            self.shelf.exchange(&mut read.case.desc, self.shared);
            read.index = index;
            read.strategy = self.cursor.read(index, &mut read.case);
            self.shelf.note(&read.case.desc, self.shared);
        }
        count
    }

    /// Judges the first cases in hand and adds them to the lot until it is full, with the memory of their runs. Those that were
    /// added are other cases afterwards.
    pub(super) fn prepare_hand(
        &mut self,
        count: usize,
        thoroughly: bool,
        turn: Option<&Turn<'run>>,
    ) -> Taken {
        let mut hand = std::mem::take(&mut self.hand);
        let mut judged: [Judged<'_>; HAND] = [None; HAND];
        for (judged, read) in judged.iter_mut().zip(&hand).take(count) {
            *judged = self.judge(&read.case, thoroughly);
        }
        let before = self.lot.planned.len();
        let mut taken = Taken::default();
        // Which cases in hand the lot's new ones are.
        let mut places = [0; HAND];
        for (place, (read, judged)) in hand.iter().zip(judged).take(count).enumerate() {
            match self.prepare(read, judged, thoroughly, turn) {
                Prepared::Added => {
                    places[taken.added] = place;
                    taken.added += 1;
                    self.keep(&read.case);
                }
                Prepared::LeftOut => {}
                Prepared::Waits => {
                    taken.waits = true;
                    break;
                }
            }
            taken.cases += 1;
            if self.is_full() {
                break;
            }
        }
        for (new, place) in places.into_iter().take(taken.added).enumerate() {
            if let (Some(desc), Some(read)) = (self.lot.desc(before + new), hand.get_mut(place)) {
                // The next case is written over what an earlier job left behind; copying would cost more.
                std::mem::swap(desc, &mut read.case.desc);
            }
        }
        self.hand = hand;
        taken
    }

    /// Makes a lot of the first case in hand alone. Where it is large, the turn that comes with it is to be kept until the lot has
    /// been shrunk. Whether it is in the lot.
    pub(super) fn prepare_alone(&mut self, thoroughly: bool) -> (bool, Option<Turn<'run>>) {
        self.lot.clear();
        let taken = self.prepare_hand(1, thoroughly, None);
        if taken.waits {
            let turn = self.turn();
            return (self.prepare_hand(1, thoroughly, Some(&turn)).added == 1, Some(turn));
        }
        (taken.added == 1, None)
    }

    /// Judges a case, if it is one of the run's.
    fn judge<'a>(&mut self, case: &'a Case, thoroughly: bool) -> Judged<'a>
    where
        'run: 'a,
    {
        let Self { shared, scratch, values, lot, .. } = self;
        let (place, operator) = shared.operator_of(&case.desc)?;
        if shared.filter.as_ref().is_some_and(|filter| !filter.holds(case, shared.level, values)) {
            return None;
        }
        // A case that is run again alone was of this part, or was made smaller from one that is.
        if !thoroughly && shared.partition.is_some_and(|partition| !lot.is_of(partition, case)) {
            return None;
        }
        let valid = operator.judge_valid(&case.desc, shared.level, scratch);
        let is_left_out = shared.selected_level.is_some_and(|selected| {
            valid.is_ok() && operator.judge_valid(&case.desc, selected, scratch).is_err()
        });
        (!is_left_out).then_some((place, valid))
    }

    /// Keeps what is to be known later of the case that was added last.
    fn keep(&mut self, case: &Case) {
        let Self { shared, values, lot, .. } = self;
        let is_kept = shared.record || !shared.known.is_empty();
        let is_open = |planned: &Planned| matches!(planned.expectation, Expectation::Open(_));
        // An example of each answer to an open question is kept.
        lot.keep_line((is_kept || lot.planned.last().is_some_and(is_open)).then_some(case));
        if shared.known.is_empty() {
            return;
        }
        let place = lot.planned.len().saturating_sub(1);
        let known = lot.planned.last().map(|planned| {
            let about = (lot.line(place), &planned.expectation);
            let exposures = || lot.exposures(place, &case.desc);
            shared.known.matching(case, about, shared.level, values, exposures)
        });
        if let (Some(planned), Some(known)) = (lot.planned.last_mut(), known) {
            planned.known = known;
        }
    }
}
