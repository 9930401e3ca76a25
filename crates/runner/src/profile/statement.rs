//! What a run of a profile says of a backend: that it conforms, that it conforms with reservations, or that it does not.
//!
//! A statement hides nothing: whatever was left out, forgiven or never looked at is a reservation with its number of cases, and a run
//! that did not put every case to the backend makes no statement at all. What it says follows from the summary alone, so that the parts of a run say
//! it once they are joined.

use std::fmt;

use dmlcts_spec::Library;

use super::Profile;
use crate::{Class, Difference, Ending, Summary, Undeclared, Verdict};

/// A run that is to show that a backend conforms to a profile.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The profile.
    pub profile: Profile,
    /// How many bytes a case may take in this run: as many as the profile says, or fewer.
    pub memory: u64,
    /// Differences that are no failures in this run.
    pub allow: Vec<Difference>,
    /// Whether only a part of the cases is run, which says nothing by itself.
    pub is_part: bool,
}

/// What a complete run of a profile says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Whether the backend conforms.
    pub conformity: Conformity,
    /// What of the profile was not shown, or was forgiven.
    pub reservations: Vec<Reservation>,
    /// What was unexpected: nothing, where the backend conforms.
    pub failing: Vec<Failing>,
    /// Cases that were not asked, since the backend's own level makes them valid and the profile's does not.
    pub above: u64,
    /// Invalid descs that were skipped, since the backend cannot be told them: its lists are bare arrays.
    pub unsayable: u64,
}

/// Whether a backend conforms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conformity {
    /// Every case came to what is expected, or to an answer that an open question allows.
    Conforms,
    /// So did every case that is not among the reservations.
    WithReservations,
    /// Something was unexpected.
    DoesNotConform,
}

impl Conformity {
    /// All of them, the best first.
    pub const ALL: [Self; 3] = [Self::Conforms, Self::WithReservations, Self::DoesNotConform];

    /// As files spell it.
    pub fn id(self) -> &'static str {
        match self {
            Self::Conforms => "conforms",
            Self::WithReservations => "conforms-with-reservations",
            Self::DoesNotConform => "does-not-conform",
        }
    }
}

/// In a few words.
impl fmt::Display for Conformity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Conforms => "conforms",
            Self::WithReservations => "conforms, with reservations",
            Self::DoesNotConform => "does not conform",
        })
    }
}

/// Cases of which a statement does not say that they came to what the profile promises.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    /// Why not.
    pub kind: ReservationKind,
    /// What it is about: an operator, a known failure, the differences that were allowed; empty where there is nothing to name.
    pub of: String,
    /// How many cases; of differences that were allowed, how many runs of an operator.
    pub cases: u64,
}

/// Why a case is a reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReservationKind {
    /// Skipped: the backend does not declare this of it. Never bare arrays, which leave out what cannot be said.
    Unsupported(Undeclared),
    /// Skipped, and nobody wrote down why.
    Skipped,
    /// Failed as a known failure says.
    KnownFailure,
    /// Not run, and at most created, although the profile has it run: larger than the memory of this run, or than the backend's limit.
    CreatedOnly,
    /// The output differed in a way that this run allows.
    Allowed,
}

impl ReservationKind {
    /// All of them, in the order of statements.
    pub const ALL: [Self; 7] = [
        Self::Unsupported(Undeclared::Operator),
        Self::Unsupported(Undeclared::DataType),
        Self::Unsupported(Undeclared::Rank),
        Self::Skipped,
        Self::KnownFailure,
        Self::CreatedOnly,
        Self::Allowed,
    ];

    /// As files spell it.
    pub fn id(self) -> &'static str {
        match self {
            Self::Unsupported(Undeclared::Operator) => "unsupported-operator",
            Self::Unsupported(Undeclared::DataType) => "unsupported-data-type",
            Self::Unsupported(Undeclared::Rank | Undeclared::BareArrays) => "unsupported-rank",
            Self::Skipped => "skipped",
            Self::KnownFailure => "known-failure",
            Self::CreatedOnly => "created-only",
            Self::Allowed => "allowed-difference",
        }
    }
}

/// Cases that came to the same that was not expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failing {
    /// Their operator.
    pub operator: String,
    /// What they came to.
    pub verdict: Verdict,
    /// In which way they failed; `None` where there are too many ways to tell them apart, and where a known failure passed.
    pub class: Option<Class>,
    /// How many.
    pub cases: u64,
}

/// Why a run makes no statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Withheld {
    /// It is one part of the profile's cases.
    Part,
    /// It ended early.
    Short,
    /// Processes of the backend ended badly that were told to end, so said: whoever breaks then may have been broken before.
    BadEnd(String),
    /// Every case was skipped.
    Unjudged,
    /// No output was compared: each was too large for the run or for the backend.
    Uncompared,
    /// All that was unexpected is that known failures passed.
    KnownPassed(u64),
    /// It did not have as many cases as the profile: those of an operator, those of the profile.
    Miscounted {
        /// The operator; empty for all together.
        operator: String,
        /// How many there were.
        ran: u64,
        /// How many there should be.
        promised: u64,
    },
}

impl fmt::Display for Withheld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Part => f.write_str(
                "this is a part of the profile's cases; `dmlcts merge` states what the parts come to",
            ),
            Self::Short => f.write_str("the run did not come to the end of the profile's cases"),
            Self::BadEnd(how) => f.write_str(how),
            Self::Unjudged => f.write_str("the backend declares nothing that the profile's cases need"),
            Self::Uncompared => {
                f.write_str("no output was compared, each being too large for the run or for the backend")
            }
            Self::KnownPassed(cases) => {
                write!(f, "{cases} of the known failures passed; take them out of the list, and run again")
            }
            Self::Miscounted { operator, ran, promised } => {
                let of = if operator.is_empty() { String::new() } else { format!(" of {operator}") };
                write!(f, "the run had {ran} cases{of}, and the profile has {promised}")
            }
        }
    }
}

impl Claim {
    /// What a run says of its backend.
    ///
    /// # Errors
    ///
    /// Why it says nothing.
    pub fn state(&self, library: &Library, summary: &Summary) -> Result<Statement, Withheld> {
        if self.is_part {
            return Err(Withheld::Part);
        }
        let is_whole = summary.abandoned.is_empty() && summary.cut.is_empty();
        if summary.ending != Ending::Complete || !is_whole {
            return Err(Withheld::Short);
        }
        if let Some(how) = &summary.bad_end {
            return Err(Withheld::BadEnd(how.clone()));
        }
        if summary.is_unjudged() {
            return Err(Withheld::Unjudged);
        }
        if summary.has_no_output() {
            return Err(Withheld::Uncompared);
        }
        let above = self.count(library, summary)?;
        let tally = summary.tally();
        if tally.unexpected() > 0 && tally.unexpected() == tally.of(Verdict::UnexpectedPass) {
            return Err(Withheld::KnownPassed(tally.unexpected()));
        }
        let (reservations, unsayable) = self.reservations(library, summary);
        let conformity = match (tally.unexpected(), reservations.is_empty()) {
            (0, true) => Conformity::Conforms,
            (0, false) => Conformity::WithReservations,
            _ => Conformity::DoesNotConform,
        };
        Ok(Statement { conformity, reservations, failing: failing(library, summary), above, unsayable })
    }

    /// Holds the cases that ran against those of the profile, operator by operator, and says how many were left out because only a higher
    /// level makes them valid.
    fn count(&self, library: &Library, summary: &Summary) -> Result<u64, Withheld> {
        let may_leave_out = summary.level > self.profile.level();
        let mut all = 0;
        for operator in library.operators() {
            let strategies = 0..summary.strategies.len();
            let ran = strategies.map(|place| summary.totals.tally(place, operator.position()).total()).sum();
            let named = |promised: &&super::PromisedForm| promised.operator == operator.name();
            let promised =
                self.profile.form().operators.iter().find(named).map_or(0, |promised| promised.cases);
            if ran > promised || (ran < promised && !may_leave_out) {
                return Err(Withheld::Miscounted { operator: operator.name().to_owned(), ran, promised });
            }
            all += ran;
        }
        let (read, promised) = (summary.totals.progress.read, self.profile.cases());
        if read != promised {
            return Err(Withheld::Miscounted { operator: String::new(), ran: read, promised });
        }
        Ok(promised - all)
    }

    /// What is to be said beside that everything else is as expected, and how many cases nobody can say to the backend.
    fn reservations(&self, library: &Library, summary: &Summary) -> (Vec<Reservation>, u64) {
        let (totals, tally) = (&summary.totals, summary.tally());
        let mut found = Vec::new();
        let mut add = |kind: ReservationKind, of: &str, cases: u64| {
            if cases > 0 {
                found.push(Reservation { kind, of: of.to_owned(), cases });
            }
        };
        let (mut unsayable, mut explained) = (0, 0);
        for undeclared in Undeclared::ALL {
            for operator in library.operators() {
                let cases = totals.skipped.of(operator.position(), undeclared);
                explained += cases;
                if undeclared == Undeclared::BareArrays {
                    unsayable += cases;
                } else {
                    add(ReservationKind::Unsupported(undeclared), operator.name(), cases);
                }
            }
        }
        add(ReservationKind::Skipped, "", tally.of(Verdict::Skip).saturating_sub(explained));
        let mut forgiven = 0;
        for known in &totals.known {
            forgiven += known.counts.as_expected;
            add(ReservationKind::KnownFailure, &known.entry.id, known.counts.as_expected);
        }
        add(ReservationKind::KnownFailure, "", tally.of(Verdict::ExpectedFail).saturating_sub(forgiven));
        add(
            ReservationKind::CreatedOnly,
            "",
            totals.work.too_large.saturating_sub(self.profile.created_only()),
        );
        let allowed: Vec<&str> = self.allow.iter().map(|difference| difference.name()).collect();
        add(ReservationKind::Allowed, &allowed.join(", "), totals.notes.forgiven);
        (found, unsayable)
    }
}

/// Everything unexpected, by operator and class: what the groups of failures have, and of each operator what is in none of them.
fn failing(library: &Library, summary: &Summary) -> Vec<Failing> {
    let totals = &summary.totals;
    let mut found: Vec<Failing> = Vec::new();
    for (place, operator) in library.operators().iter().enumerate() {
        let operator = operator.name().to_owned();
        let from = found.len();
        for (first, cases) in totals.found.groups.iter().filter(|(first, _)| first.operator == place) {
            let (verdict, class, cases) = (first.verdict, Some(first.class), *cases);
            match found[from..].iter_mut().find(|known| (known.verdict, known.class) == (verdict, class)) {
                Some(known) => known.cases += cases,
                None => found.push(Failing { operator: operator.clone(), verdict, class, cases }),
            }
        }
        for verdict in Verdict::ALL.into_iter().filter(|verdict| verdict.is_unexpected()) {
            let strategies = 0..summary.strategies.len();
            let all: u64 = strategies.map(|strategy| totals.tally(strategy, place).of(verdict)).sum();
            let grouped = found[from..].iter().filter(|known| known.verdict == verdict);
            let cases = all.saturating_sub(grouped.map(|known| known.cases).sum());
            if cases > 0 {
                found.push(Failing { operator: operator.clone(), verdict, class: None, cases });
            }
        }
    }
    found
}
