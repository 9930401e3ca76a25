//! What explaining failures may cost: cases, hangs and the backend's time for each finding, and the backend's
//! time for the run. The time between the cases costs nothing, so that results do not depend on how busy the
//! machine is, as long as the backend is not slow.
//!
//! Experiments run before findings exist, so each operator and kind of failure has an account. Each finding
//! starts with what its experiments cost, and adds its repeats and its shrinking.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use dmlcts_model::Outcome;
use dmlcts_runner::{Examination, Stop};

use crate::{ExplainOptions, Finding, LeftOut, Limit};

/// The backend's time for all findings, with the usual number of cases or fewer. With more cases, it is
/// longer in proportion.
const TIME: Duration = Duration::from_secs(60);

/// The time is divided among the kinds of failures of the operators, into at most this number of shares.
const SHARES: u32 = 6;

/// The bytes of a case that count as another case.
const BYTES: usize = 1 << 18;

/// The cases of evidence, for an operator and a kind of failures. There are usually 6,000 small ones. Large
/// ones reach this limit before they reach that of time, so that the machine decides nothing.
const EVIDENCE: usize = 15_000;

/// What has been spent on a finding, or may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Account {
    /// The cases that ran. Large ones count several times.
    pub(crate) cases: usize,
    /// The cases that ran for evidence.
    pub(crate) evidence: usize,
    /// The time that they took.
    pub(crate) time: Duration,
    /// The cases without an answer in time.
    pub(crate) hangs: usize,
}

/// What an account is open for. Each stage has a lower limit than the next, so that something is left for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Experiments,
    Evidence,
    Repeats,
    Shrinking,
}

impl Stage {
    /// The part of a limit that may be spent at the end of this stage.
    fn of(self, time: Duration) -> Duration {
        match self {
            Self::Experiments => time / 20 * 13,
            Self::Evidence => time / 20 * 15,
            Self::Repeats => time / 20 * 17,
            Self::Shrinking => time,
        }
    }

    /// What a finding may have cost at the end of this stage. `all` is the limit of a finding.
    fn limit(self, all: Account) -> Account {
        let (cases, evidence, time) = (all.cases, all.evidence, self.of(all.time));
        match self {
            Self::Experiments => Account { cases: cases - cases / 5, evidence, time, hangs: 1 },
            Self::Evidence => Account { cases: usize::MAX, evidence: EVIDENCE, time, hangs: 1 },
            Self::Repeats => Account { cases: cases - cases / 10, evidence, time, hangs: 1 },
            Self::Shrinking => all,
        }
    }
}

impl Account {
    /// The limit of which nothing is left, if there is one.
    fn reached(&self, limit: &Self) -> Option<Limit> {
        let limits = [
            (self.hangs >= limit.hangs, Limit::Hangs),
            (self.cases >= limit.cases || self.evidence >= limit.evidence, Limit::Cases),
            (self.time >= limit.time, Limit::Time),
        ];
        limits.into_iter().find_map(|(is_reached, limit)| is_reached.then_some(limit))
    }

    /// What the dearer of two accounts has spent, in each respect.
    fn max(self, other: Self) -> Self {
        Self {
            cases: self.cases.max(other.cases),
            evidence: self.evidence.max(other.evidence),
            time: self.time.max(other.time),
            hangs: self.hangs.max(other.hangs),
        }
    }
}

/// Whose account is open.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Owner {
    /// The cases of findings of earlier runs.
    Earlier,
    /// Experiments on the failures of an operator, of one kind.
    Experiments { operator: String, kind: String },
    /// A finding, by the index of its first failure.
    Finding(u64),
}

/// When nothing more runs, whatever was spent.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// At once, for this reason.
    Now(Limit),
    /// At the deadline of the run, if it has one.
    Deadline(Option<Instant>),
}

impl End {
    /// Whether it is a deadline that is past.
    pub(crate) fn is_past(self) -> bool {
        matches!(self, Self::Deadline(Some(deadline)) if Instant::now() >= deadline)
    }
}

/// Counts what explaining costs, and says when it is over.
pub(crate) struct Spending {
    stop: Stop,
    pub(crate) end: End,
    /// The limit of a finding.
    limit: Account,
    /// The limit of all accounts together.
    all: Duration,
    /// The time of all accounts together.
    time: Duration,
    accounts: BTreeMap<Owner, Account>,
    open: Option<Open>,
    /// The time for evidence, with the time between its cases.
    pub(crate) evidence: Duration,
    pub(crate) left_out: LeftOut,
}

/// The account that is open.
struct Open {
    owner: Owner,
    stage: Stage,
    limit: Account,
    /// The time that all accounts together may have cost.
    time: Duration,
    opened: Instant,
    /// When cases that were allowed to run began to do so.
    since: Option<Instant>,
    /// The limit that refused a case first.
    cut: Option<Limit>,
}

impl Spending {
    /// Nothing is spent yet. `cases` is the number of cases that a finding may cost, `all` the backend's time
    /// for all findings, and `kinds` the number of operators and kinds of failures.
    pub(crate) fn new(stop: Stop, cases: usize, all: Duration, kinds: usize, end: End) -> Self {
        let shares = u32::try_from(kinds).unwrap_or(SHARES).clamp(1, SHARES);
        let limit = Account { cases, evidence: usize::MAX, time: all / shares, hangs: 2 };
        let (accounts, left_out) = (BTreeMap::new(), LeftOut::default());
        let (time, evidence) = (Duration::ZERO, Duration::ZERO);
        Self { stop, end, limit, all, time, accounts, open: None, evidence, left_out }
    }

    /// The number of cases that a finding may cost.
    pub(crate) fn cases(&self) -> usize {
        self.limit.cases
    }

    /// The reason why nothing more runs, for any finding. `None` if more may run.
    pub(crate) fn over(&self) -> Option<Limit> {
        if self.stop.is_interrupted() {
            return Some(Limit::Interrupted);
        }
        if let End::Now(limit) = self.end {
            return Some(limit);
        }
        let limits = [
            (self.end.is_past(), Limit::Timeout),
            (self.limit.cases == 0, Limit::Cases),
            (self.time >= self.all, Limit::Budget),
        ];
        limits.into_iter().find_map(|(is_reached, limit)| is_reached.then_some(limit))
    }

    /// Opens the account of the cases of earlier findings.
    pub(crate) fn open_earlier(&mut self) {
        self.open(Owner::Earlier, Stage::Experiments);
    }

    /// Opens the account of experiments.
    pub(crate) fn open_experiments(&mut self, operator: &str, kind: &str) {
        let owner = Owner::Experiments { operator: operator.to_owned(), kind: kind.to_owned() };
        self.open(owner, Stage::Experiments);
    }

    /// Opens the account of experiments for the evidence of predicates.
    pub(crate) fn open_evidence(&mut self, operator: &str, kind: &str) {
        let owner = Owner::Experiments { operator: operator.to_owned(), kind: kind.to_owned() };
        self.open(owner, Stage::Evidence);
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
        let (limit, time) = (stage.limit(self.limit), stage.of(self.all));
        self.open = Some(Open { owner, stage, limit, time, opened: Instant::now(), since: None, cut: None });
    }

    /// Closes the open account. Returns whether it refused a case.
    pub(crate) fn close(&mut self) -> bool {
        let Some(Open { owner, stage, cut, opened, .. }) = self.open.take() else { return false };
        // The counts of a finding say how much evidence it has.
        if stage == Stage::Evidence {
            self.evidence += opened.elapsed();
            return cut.is_some();
        }
        if owner != Owner::Earlier {
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
        let limit = over.or((self.time >= open.time).then_some(Limit::Budget));
        let limit = limit.or(spent.reached(&open.limit));
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
            let spent = match open.stage {
                Stage::Evidence => &mut account.evidence,
                _ => &mut account.cases,
            };
            *spent += cases;
            let time = open.since.take().map(|since| since.elapsed()).unwrap_or_default();
            account.time += time;
            self.time += time;
        }
    }

    /// Counts a case that ran on the open account, with its bytes and its hang.
    pub(crate) fn note(&mut self, ran: Option<&Examination>) {
        self.count(cost(ran.map_or(0, |ran| ran.bytes)));
        let hung = ran.is_some_and(|ran| ran.outcome == Outcome::TimedOut);
        if let (Some(open), true) = (&self.open, hung) {
            self.accounts.entry(open.owner.clone()).or_default().hangs += 1;
        }
    }
}

/// The number of cases that a case with this many bytes counts as.
fn cost(bytes: usize) -> usize {
    1 + bytes / BYTES
}

/// The backend's time for all findings, if each may cost this number of cases.
pub(crate) fn run_time(cases: usize) -> Duration {
    let usual = ExplainOptions::USUAL_CASES;
    TIME.saturating_mul(u32::try_from(cases.div_ceil(usual)).unwrap_or(u32::MAX).max(1))
}

#[cfg(test)]
mod tests {
    use dmlcts_runner::Ending;

    use super::*;

    const CASES: usize = ExplainOptions::USUAL_CASES;
    const OPEN: End = End::Deadline(None);

    /// The number of further cases that may run.
    fn left(spending: &mut Spending) -> usize {
        (0..9_999).take_while(|_| spending.may_run().then(|| spending.count(1)).is_some()).count()
    }

    #[test]
    fn experiments_repeats_and_shrinking_share_the_cases_of_a_finding() {
        let mut spending = Spending::new(Stop::default(), CASES, TIME, 9, OPEN);
        spending.open_experiments("SLICE", "wrong");
        assert_eq!(left(&mut spending), 1_600);
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
    fn evidence_has_cases_of_its_own() {
        let mut spending = Spending::new(Stop::default(), CASES, TIME, 9, OPEN);
        spending.open_experiments("SLICE", "wrong");
        assert_eq!(left(&mut spending), 1_600);
        spending.open_evidence("SLICE", "wrong");
        spending.count(EVIDENCE - 5);
        assert_eq!(left(&mut spending), 5, "large cases count several times");
        assert!(spending.close());
        assert_eq!(spending.left_out.experiments, 1);
    }

    #[test]
    fn time_and_hangs_are_limited_too() {
        let mut spending = Spending::new(Stop::default(), CASES, TIME, 9, OPEN);
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
    fn large_cases_count_several_times() {
        assert_eq!([0, 1, BYTES - 1, BYTES, 5 * BYTES].map(cost), [1, 1, 1, 2, 6]);
    }

    #[test]
    fn the_time_of_a_run_is_limited_and_grows_with_the_cases() {
        for (cases, seconds) in
            [(1, 60), (CASES, 60), (10 * CASES, 600), (usize::MAX, 60 * u64::from(u32::MAX))]
        {
            let mut spending = Spending::new(Stop::default(), cases, run_time(cases), 1, OPEN);
            spending.open(Owner::Finding(0), Stage::Shrinking);
            spending.time = Duration::from_millis(seconds * 1_000 - 1);
            assert!(spending.may_run(), "{cases} cases");
            spending.time = Duration::from_secs(seconds);
            assert_eq!(spending.over(), Some(Limit::Budget), "{cases} cases");
            spending.time = Duration::from_secs(seconds) / 20 * 16;
            spending.open_experiments("SLICE", "wrong");
            assert!(!spending.may_run(), "{cases} cases: some time is kept for shrinking");
            spending.open(Owner::Finding(0), Stage::Shrinking);
            assert!(spending.may_run(), "{cases} cases");
        }
        assert_eq!(Spending::new(Stop::default(), 0, TIME, 1, OPEN).over(), Some(Limit::Cases));
        let mut spending = Spending::new(Stop::default(), CASES, Duration::MAX, 9, OPEN);
        spending.open_experiments("SLICE", "wrong");
        spending.time = Duration::from_secs(1 << 40);
        assert!(spending.may_run(), "time is no limit");
    }

    #[test]
    fn nothing_runs_without_a_deadline_or_after_an_interrupt() {
        let stop = Stop::default();
        let mut spending = Spending::new(stop.clone(), CASES, TIME, 1, End::Now(Limit::EndOfRun));
        spending.open_experiments("SLICE", "wrong");
        assert!(!spending.may_run());
        spending.end = End::Deadline(Some(Instant::now()));
        assert_eq!(spending.over(), Some(Limit::Timeout));
        spending.end = OPEN;
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
