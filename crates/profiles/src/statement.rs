//! The statement of a profile's run about a backend: it conforms, it conforms with reservations, or it does
//! not conform.
//!
//! A statement hides nothing. Cases that were skipped, forgiven or not run are reservations with their
//! counts. A run that did not run every case of the profile makes no statement. The statement depends on the
//! summary alone, so that merged parts of a run have one, too.

use std::fmt;

use dmlcts_backend::Lack;
use dmlcts_model::named_enum;
use dmlcts_runner::{Class, Difference, Ending, Status, Summary, Undeclared, Verdict, closed};
use dmlcts_spec::{Library, Operator};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Profile;

/// A run that should show that a backend conforms to a profile.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The profile.
    pub profile: Profile,
    /// The maximum number of bytes of a case in this run: the profile's limit or less.
    pub memory: u64,
    /// Kinds of differences that are not failures in this run.
    pub allow: Vec<Difference>,
    /// Whether the run covers only a part of the cases, which makes no statement alone.
    pub is_part: bool,
}

/// The statement of a complete run of a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Whether the backend conforms.
    pub conformity: Conformity,
    /// The parts of the profile that were not shown or were forgiven.
    pub reservations: Vec<Reservation>,
    /// The unexpected results; empty if the backend conforms.
    pub failing: Vec<Failing>,
    /// The number of cases that were left out, because the backend's level makes them valid and the profile's
    /// does not.
    pub above: u64,
    /// The number of invalid descs that were skipped, because the backend's bare arrays cannot represent
    /// them.
    pub unsayable: u64,
}

named_enum! {
    /// Whether a backend conforms, the best first.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Conformity: id {
        /// Every case came to what is expected, or to an answer that an open question allows.
        Conforms = "conforms",
        /// So did every case that is not among the reservations.
        WithReservations = "conforms-with-reservations",
        /// Something was unexpected.
        DoesNotConform = "does-not-conform",
    }
}

closed! {
    Conformity: "conformity", id;
    ReservationKind: "kind of reservation", id;
}

/// A short phrase.
impl fmt::Display for Conformity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Conforms => "conforms",
            Self::WithReservations => "conforms, with reservations",
            Self::DoesNotConform => "does not conform",
        })
    }
}

/// Cases that were not shown to have the promised outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reservation {
    /// The reason.
    pub kind: ReservationKind,
    /// An operator, a known failure, or the differences that were allowed; empty if there is nothing to name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub of: String,
    /// The number of cases. For allowed differences, the number of runs of an operator.
    pub cases: u64,
}

/// Why cases are a reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReservationKind {
    /// Skipped: the backend does not declare this part of the desc. Never bare arrays: those cases are
    /// counted in [`Statement::unsayable`].
    Unsupported(Undeclared),
    /// Skipped: the backend declares to lack it.
    Lack,
    /// Skipped, with no recorded reason.
    Skipped,
    /// Failed as a known failure describes.
    KnownFailure,
    /// Not run, although the profile runs it, and at most created: larger than this run's memory limit or the
    /// backend's limit.
    CreatedOnly,
    /// The output differed in a way that this run allows.
    Allowed,
}

impl ReservationKind {
    /// All kinds, in the order of statements.
    pub const ALL: [Self; 8] = [
        Self::Unsupported(Undeclared::Operator),
        Self::Unsupported(Undeclared::DataType),
        Self::Unsupported(Undeclared::Rank),
        Self::Lack,
        Self::Skipped,
        Self::KnownFailure,
        Self::CreatedOnly,
        Self::Allowed,
    ];

    /// The name in files.
    pub fn id(self) -> &'static str {
        match self {
            Self::Unsupported(Undeclared::Operator) => "unsupported-operator",
            Self::Unsupported(Undeclared::DataType) => "unsupported-data-type",
            Self::Unsupported(Undeclared::Rank | Undeclared::BareArrays) => "unsupported-rank",
            Self::Lack | Self::Unsupported(Undeclared::Lack(_)) => "lack",
            Self::Skipped => "skipped",
            Self::KnownFailure => "known-failure",
            Self::CreatedOnly => "created-only",
            Self::Allowed => "allowed-difference",
        }
    }
}

/// Cases with the same unexpected result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failing {
    /// Their operator.
    pub operator: String,
    /// Their verdict.
    pub verdict: Verdict,
    /// How they failed. `None` for cases beyond the groups of failures, and for known failures that passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// The number of cases.
    pub cases: u64,
}

/// Why a run makes no statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Withheld {
    /// It ran one part of the profile's cases.
    Part,
    /// It ended early.
    Short,
    /// Processes of the backend shut down badly, as this describes. Such a process may have been broken
    /// before.
    BadEnd(String),
    /// Every case was skipped.
    Unjudged,
    /// No output was compared: each was too large for the run or for the backend.
    Uncompared,
    /// The only unexpected results are this number of known failures that passed.
    KnownPassed(u64),
    /// The number of cases of an operator, or of all operators, differs from the profile.
    Miscounted {
        /// The operator; empty for all operators.
        operator: String,
        /// The number of cases that ran.
        ran: u64,
        /// The number of cases in the profile.
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
            Self::Unjudged => {
                f.write_str("the backend declares that it supports none of the profile's cases")
            }
            Self::Uncompared => {
                f.write_str("no output was compared, each being too large for the run or for the backend")
            }
            Self::KnownPassed(cases) => {
                write!(f, "{cases} of the known failures passed; accept that into the folder, and run again")
            }
            Self::Miscounted { operator, ran, promised } => {
                let of = if operator.is_empty() { String::new() } else { format!(" of {operator}") };
                write!(f, "the run had {ran} cases{of}, and the profile has {promised}")
            }
        }
    }
}

impl Claim {
    /// The statement of a run about its backend.
    ///
    /// # Errors
    ///
    /// Why the run makes no statement.
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

    /// Compares the number of cases with the profile, for each operator. Returns the number of cases that
    /// were left out because only a higher level makes them valid.
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

    /// The reservations, and the number of cases that bare arrays cannot represent.
    fn reservations(&self, library: &Library, summary: &Summary) -> (Vec<Reservation>, u64) {
        let (totals, tally) = (&summary.totals, summary.tally());
        let mut found = Vec::new();
        let mut add = |kind: ReservationKind, of: &str, cases: u64| {
            if cases > 0 {
                found.push(Reservation { kind, of: of.to_owned(), cases });
            }
        };
        let (mut unsayable, mut explained) = (0, 0);
        let mut skipped: Vec<_> = totals.skipped.iter().collect();
        skipped.sort_by_key(|(operator, undeclared, _)| (*undeclared, *operator));
        for (operator, undeclared, cases) in skipped {
            explained += cases;
            let name = library.operators().get(operator).map_or("", Operator::name);
            match undeclared {
                Undeclared::BareArrays => unsayable += cases,
                Undeclared::Lack(place) => {
                    let lack = summary.capabilities.lacks.get(place);
                    let of = lack.map_or_else(|| name.to_owned(), Lack::to_string);
                    add(ReservationKind::Lack, &of, cases);
                }
                undeclared => add(ReservationKind::Unsupported(undeclared), name, cases),
            }
        }
        add(ReservationKind::Skipped, "", tally.of(Verdict::Skip).saturating_sub(explained));
        let mut forgiven = 0;
        for known in totals.known.iter().filter(|known| known.entry.status == Status::Known) {
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

/// All unexpected results, by operator and class: first the groups of failures, then the cases of each
/// operator in no group.
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
