//! What explaining failures may cost: cases, hangs and the backend's time for each finding, and one deadline
//! for the run. The time between the cases costs nothing, so that results do not depend on how busy the
//! machine is, as long as the backend is not slow.
//!
//! Experiments run before findings exist, so each operator and kind of failure has an account. Each finding
//! starts with what its experiments cost, and adds its repeats and its shrinking.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use dmlcts_model::Outcome;

use crate::{Finding, LeftOut, Limit, Stop, judge::Examination};

/// Longer budgets end after this time: a clock cannot hold all sums.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The backend's time for a finding. If the budget of a run is longer than usual, it is a sixth of that.
const TIME: Duration = Duration::from_secs(10);

/// The time after a duration, or far in the future.
pub(crate) fn after(time: Duration) -> Instant {
    Instant::now() + time.min(LONGEST)
}

/// What has been spent on a finding, or may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Account {
    /// The cases that ran.
    pub(crate) cases: usize,
    /// The time that they took.
    pub(crate) time: Duration,
    /// The cases without an answer in time.
    pub(crate) hangs: usize,
}

/// What an account is open for. Each stage has a lower limit than the next, so that something is left for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Experiments,
    Repeats,
    Shrinking,
}

impl Stage {
    /// What a finding may have cost at the end of this stage. `time` is the limit of a finding.
    fn limit(self, time: Duration) -> Account {
        match self {
            Self::Experiments => Account { cases: 1_600, time: time * 15 / 20, hangs: 1 },
            Self::Repeats => Account { cases: 1_800, time: time * 17 / 20, hangs: 1 },
            Self::Shrinking => Account { cases: 2_000, time, hangs: 2 },
        }
    }
}

impl Account {
    /// The limit of which nothing is left, if there is one.
    fn reached(&self, limit: &Self) -> Option<Limit> {
        let limits = [
            (self.hangs >= limit.hangs, Limit::Hangs),
            (self.cases >= limit.cases, Limit::Cases),
            (self.time >= limit.time, Limit::Time),
        ];
        limits.into_iter().find_map(|(is_reached, limit)| is_reached.then_some(limit))
    }

    /// What the dearer of two accounts has spent, in each respect.
    fn max(self, other: Self) -> Self {
        Self {
            cases: self.cases.max(other.cases),
            time: self.time.max(other.time),
            hangs: self.hangs.max(other.hangs),
        }
    }
}

/// Whose account is open.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Owner {
    /// The cases of findings of earlier runs.
    Stored,
    /// Experiments on the failures of an operator, of one kind.
    Experiments { operator: String, kind: String },
    /// A finding, by the index of its first failure.
    Finding(u64),
}

/// When nothing more runs, and the limit that says so.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    /// `None` if nothing runs at all.
    pub(crate) at: Option<Instant>,
    pub(crate) limit: Limit,
}

/// Counts what explaining costs, and says when it is over.
pub(crate) struct Spending {
    stop: Stop,
    end: End,
    /// The time of a finding.
    time: Duration,
    accounts: BTreeMap<Owner, Account>,
    open: Option<Open>,
    pub(crate) left_out: LeftOut,
}

/// The account that is open.
struct Open {
    owner: Owner,
    limit: Account,
    /// When cases that were allowed to run began to do so.
    since: Option<Instant>,
    /// The limit that refused a case first.
    cut: Option<Limit>,
}

impl Spending {
    /// Nothing is spent yet of the budget of a run.
    pub(crate) fn new(stop: Stop, budget: Duration, end: End) -> Self {
        let time = TIME.max(budget.min(LONGEST) / 6);
        Self { stop, end, time, accounts: BTreeMap::new(), open: None, left_out: LeftOut::default() }
    }

    /// When nothing more runs.
    pub(crate) fn end(&self) -> Option<Instant> {
        self.end.at
    }

    /// Sets another deadline.
    pub(crate) fn end_at(&mut self, end: End) {
        self.end = end;
    }

    /// The reason why nothing more runs, for any finding. `None` if more may run.
    pub(crate) fn over(&self) -> Option<Limit> {
        if self.stop.is_interrupted() {
            return Some(Limit::Interrupted);
        }
        self.end.at.is_none_or(|end| Instant::now() >= end).then_some(self.end.limit)
    }

    /// Opens the account of the cases of earlier findings.
    pub(crate) fn open_stored(&mut self) {
        self.open(Owner::Stored, Stage::Experiments);
    }

    /// Opens the account of experiments.
    pub(crate) fn open_experiments(&mut self, operator: &str, kind: &str) {
        let owner = Owner::Experiments { operator: operator.to_owned(), kind: kind.to_owned() };
        self.open(owner, Stage::Experiments);
    }

    /// Opens the account of a finding, with what experiments on its failures cost.
    pub(crate) fn open_repeats<'a>(
        &mut self,
        first: u64,
        operators: impl Iterator<Item = &'a str>,
        kind: &str,
    ) {
        let of = |operator: &str| {
            let owner = Owner::Experiments { operator: operator.to_owned(), kind: kind.to_owned() };
            self.accounts.get(&owner).copied().unwrap_or_default()
        };
        let before = operators.map(of).fold(Account::default(), Account::max);
        // A flake is opened again for its trials.
        self.accounts.entry(Owner::Finding(first)).or_insert(before);
        self.open(Owner::Finding(first), Stage::Repeats);
    }

    /// Opens the account of a finding for shrinking.
    pub(crate) fn open_shrinking(&mut self, finding: &Finding) {
        self.open(Owner::Finding(finding.first.index), Stage::Shrinking);
    }

    fn open(&mut self, owner: Owner, stage: Stage) {
        self.close();
        let limit = stage.limit(self.time);
        self.open = Some(Open { owner, limit, since: None, cut: None });
    }

    /// Closes the open account. Returns whether it refused a case.
    pub(crate) fn close(&mut self) -> bool {
        let Some(Open { owner, cut, .. }) = self.open.take() else { return false };
        if owner != Owner::Stored {
            self.left_out.limits.extend(cut);
        }
        if cut.is_some() && matches!(owner, Owner::Experiments { .. }) {
            self.left_out.experiments += 1;
        }
        cut.is_some()
    }

    /// Whether another case may run on the open account. If not, the account is cut.
    pub(crate) fn may_run(&mut self) -> bool {
        self.may_run_cases(1)
    }

    /// Whether this number of cases may run on the open account. If not, the account is cut.
    pub(crate) fn may_run_cases(&mut self, cases: usize) -> bool {
        let over = self.over();
        let Some(open) = &mut self.open else { return false };
        let mut spent = self.accounts.get(&open.owner).copied().unwrap_or_default();
        spent.cases += cases - 1;
        let limit = over.or(spent.reached(&open.limit));
        open.cut = open.cut.or(limit);
        open.since = limit.is_none().then(Instant::now);
        limit.is_none()
    }

    /// The open account reached a limit.
    pub(crate) fn cut(&mut self, limit: Limit) {
        if let Some(open) = &mut self.open {
            open.cut = open.cut.or(Some(limit));
        }
    }

    /// Counts cases that ran on the open account, and the time since they were allowed to.
    pub(crate) fn count(&mut self, cases: usize) {
        if let Some(open) = &mut self.open {
            let account = self.accounts.entry(open.owner.clone()).or_default();
            account.cases += cases;
            account.time += open.since.take().map(|since| since.elapsed()).unwrap_or_default();
        }
    }

    /// Counts a case that ran on the open account, and its hang.
    pub(crate) fn note(&mut self, ran: Option<&Examination>) {
        self.count(1);
        let hung = ran.is_some_and(|ran| ran.outcome == Outcome::TimedOut);
        if let (Some(open), true) = (&self.open, hung) {
            self.accounts.entry(open.owner.clone()).or_default().hangs += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ending;

    /// An end after this time.
    fn end(time: Duration) -> End {
        End { at: Some(after(time)), limit: Limit::Budget }
    }

    /// The number of further cases that may run.
    fn left(spending: &mut Spending) -> usize {
        (0..9_999).take_while(|_| spending.may_run().then(|| spending.count(1)).is_some()).count()
    }

    #[test]
    fn experiments_repeats_and_shrinking_share_the_cases_of_a_finding() {
        let mut spending = Spending::new(Stop::default(), TIME, end(Duration::from_secs(600)));
        spending.open_experiments("SLICE", "wrong");
        assert_eq!(left(&mut spending), Stage::Experiments.limit(TIME).cases);
        spending.open_experiments("SLICE", "crash");
        assert!(spending.may_run(), "other failures have their own account");
        spending.open_repeats(5, ["SLICE", "SLICE1"].into_iter(), "wrong");
        assert_eq!(left(&mut spending), 200);
        spending.open_repeats(9, ["SLICE1"].into_iter(), "wrong");
        assert!(spending.may_run(), "no experiment of this finding ran");
        spending.open(Owner::Finding(5), Stage::Shrinking);
        assert_eq!(left(&mut spending), 200);
        assert!(spending.close());
        assert_eq!(spending.left_out.experiments, 1, "only one account was cut");
        assert_eq!(spending.left_out.limits, [Limit::Cases].into());
    }

    #[test]
    fn time_and_hangs_are_limited_too() {
        let mut spending = Spending::new(Stop::default(), TIME, end(Duration::MAX));
        for (limit, spent) in [
            (Limit::Hangs, Account { hangs: 2, ..Account::default() }),
            (Limit::Time, Account { time: Duration::from_secs(10), ..Account::default() }),
        ] {
            spending.open(Owner::Finding(0), Stage::Shrinking);
            assert!(spending.may_run());
            spending.accounts.insert(Owner::Finding(0), spent);
            assert!(!spending.may_run(), "{spent:?}");
            assert!(spending.close() && spending.left_out.limits.contains(&limit), "{limit:?}");
            spending.accounts.clear();
        }
    }

    #[test]
    fn nothing_runs_without_a_deadline_or_after_an_interrupt() {
        let stop = Stop::default();
        let mut spending = Spending::new(stop.clone(), TIME, End { at: None, limit: Limit::EndOfRun });
        spending.open_experiments("SLICE", "wrong");
        assert!(!spending.may_run());
        spending.end_at(end(Duration::from_secs(600)));
        assert!(spending.may_run());
        stop.request(Ending::Interrupted);
        assert!(!spending.may_run());
        spending.close();
        assert_eq!(spending.left_out.limits, [Limit::EndOfRun].into(), "the first reason counts");
        spending.open_experiments("SLICE", "wrong");
        assert!(!spending.may_run() && spending.close());
        assert!(spending.left_out.limits.contains(&Limit::Interrupted));
    }
}
