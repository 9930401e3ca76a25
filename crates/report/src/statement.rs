//! The statement about a profile that a vendor can publish: the backend, the profile, the verdict in one
//! line, every reservation with its number of cases, and every answer to an open question.
//!
//! A statement is complete without the summary above it and the results file. A reader who has both can check
//! it.

use std::io::{self, Write};

use dmlcts_model::escaped;
use dmlcts_profiles::{Claim, Conformity, Failing, Reservation, ReservationKind, Statement, Withheld};
use dmlcts_runner::{Summary, Verdict};
use dmlcts_spec::Library;

use crate::{
    Style, Tone,
    numbers::{bytes, counted, grouped},
    phrases::{answers, ran_on, verdicts},
    skipped,
};

/// A line of a statement: its head and its text. Further lines under the same head have an empty head.
pub(crate) type Line = (&'static str, String);

/// Writes the statement at the end of a profile's run, or the reason why there is none.
pub(crate) fn write_statement(
    out: &mut dyn Write,
    claim: &Claim,
    (library, summary): (&Library, &Summary),
    style: Style,
) -> io::Result<()> {
    let stated = claim.state(library, summary);
    let title = if stated.is_ok() { "Statement of conformance" } else { "No statement of conformance" };
    writeln!(out, "\n{}", style.paint(Tone::Strong, title))?;
    for (head, text) in lines(claim, &stated, library, summary) {
        let text = escaped(&text);
        let text = match (&stated, head) {
            (Ok(statement), "verdict") => style.paint(tone(statement.conformity), &text).to_string(),
            _ => text.into_owned(),
        };
        let line = format!("  {} {text}", style.paint(Tone::Strong, format_args!("{head:<9}")));
        writeln!(out, "{}", style.wrap(12, &line))?;
    }
    Ok(())
}

fn tone(conformity: Conformity) -> Tone {
    match conformity {
        Conformity::Conforms => Tone::Good,
        Conformity::WithReservations => Tone::Note,
        Conformity::DoesNotConform => Tone::Bad,
    }
}

/// The verdict in a few words, as a test page shows it beside the name of the profile.
pub(crate) fn conformity(stated: &Result<Statement, Withheld>) -> String {
    match stated {
        Ok(statement) => statement.conformity.to_string(),
        Err(withheld) => format!("none: {withheld}"),
    }
}

/// The lines of a statement.
pub(crate) fn lines(
    claim: &Claim,
    stated: &Result<Statement, Withheld>,
    library: &Library,
    summary: &Summary,
) -> Vec<Line> {
    let profile = &claim.profile;
    let statement = match stated {
        Ok(statement) => statement,
        Err(withheld) => {
            return vec![
                ("profile", format!("{} version {}", profile.name(), profile.version())),
                ("because", withheld.to_string()),
            ];
        }
    };
    let backend = &summary.capabilities;
    let set =
        if summary.level < backend.feature_level && statement.above == 0 && backend.can_set_feature_level {
            format!(", set to {} for this", summary.level)
        } else {
            String::new()
        };
    let (form, cases) = (profile.form(), counted(profile.cases(), "case"));
    let mut lines = vec![
        ("backend", format!("{} at feature level {}{set}", ran_on(summary), backend.feature_level)),
        ("driver", backend.driver.clone()),
        (
            "profile",
            format!(
                "{} version {}: {cases} of suite {}, seed {}, at feature level {}, of at most {} each",
                profile.name(),
                profile.version(),
                form.suite,
                form.seed,
                profile.level(),
                bytes(form.memory),
            ),
        ),
        ("spec", library.hash().to_owned()),
        ("by", format!("dmlcts {}", env!("CARGO_PKG_VERSION"))),
        ("cases", verdicts(summary)),
    ];
    lines.retain(|(_, text)| !text.is_empty());
    let above = statement.above;
    if above > 0 {
        lines.push((
            "not asked",
            format!("{} that only a level above {} makes valid", counted(above, "case"), profile.level()),
        ));
    }
    if statement.unsayable > 0 {
        let descs = counted(statement.unsayable, "invalid desc");
        lines.push((
            if above > 0 { "" } else { "not asked" },
            format!("{descs} that bare arrays of C cannot say"),
        ));
    }
    lines.push(("verdict", verdict(claim, statement, summary)));
    push(&mut lines, "failing", statement.failing.iter().map(failing));
    push(&mut lines, "reserved", reservations(claim, statement, library, summary).into_iter());
    push(&mut lines, "answers", summary.recorded.iter().map(answers));
    lines
}

/// Adds lines; only the first one has the head.
fn push(lines: &mut Vec<Line>, head: &'static str, texts: impl Iterator<Item = String>) {
    lines.extend(texts.enumerate().map(|(place, text)| (if place == 0 { head } else { "" }, text)));
}

fn verdict(claim: &Claim, statement: &Statement, summary: &Summary) -> String {
    let backend = &summary.capabilities;
    let who = format!("{} {}", backend.name, backend.version);
    let what = format!("{} version {}", claim.profile.name(), claim.profile.version());
    match statement.conformity {
        Conformity::Conforms => format!("{who} conforms to {what}"),
        Conformity::WithReservations => {
            let reserved = statement.reservations.iter().map(|reservation| reservation.cases).sum::<u64>();
            let all = claim.profile.cases();
            let held = grouped(all.saturating_sub(reserved));
            format!("{who} conforms to {what} for {held} of {}, with reservations", counted(all, "case"))
        }
        Conformity::DoesNotConform => format!("{who} does not conform to {what}"),
    }
}

fn failing(failing: &Failing) -> String {
    let Failing { operator, verdict, class, cases } = failing;
    let way = match class {
        Some(class) => format!(": {class}"),
        None if *verdict == Verdict::UnexpectedPass => String::new(),
        None => " in further ways".to_owned(),
    };
    format!("{operator}: {} {verdict}{way}", grouped(*cases))
}

/// The reservations; those of one kind share a line.
fn reservations(claim: &Claim, statement: &Statement, library: &Library, summary: &Summary) -> Vec<String> {
    let of_kind = |kind: ReservationKind| {
        let of_kind: Vec<&Reservation> =
            statement.reservations.iter().filter(|reservation| reservation.kind == kind).collect();
        let cases = of_kind.iter().map(|reservation| reservation.cases).sum::<u64>();
        let each: Vec<String> = of_kind
            .iter()
            .map(|Reservation { of, cases, .. }| format!("{of} {}", grouped(*cases)).trim_start().to_owned())
            .collect();
        (cases > 0).then(|| reservation(kind, (cases, &each.join(", ")), claim, library, summary))
    };
    ReservationKind::ALL.into_iter().filter_map(of_kind).collect()
}

fn reservation(
    kind: ReservationKind,
    (count, each): (u64, &str),
    claim: &Claim,
    library: &Library,
    summary: &Summary,
) -> String {
    let (cases, backend) = (counted(count, "case"), &summary.capabilities);
    match kind {
        ReservationKind::Unsupported(undeclared) => {
            let what = skipped::what(undeclared, library, claim.profile.level(), summary);
            format!("{cases} skipped {what}: {each}")
        }
        ReservationKind::Lack => format!("{cases} skipped that it declares to lack: {each}"),
        ReservationKind::Skipped => format!("{cases} skipped for a reason that was not recorded"),
        ReservationKind::KnownFailure => format!("{cases} failed as known: {each}"),
        ReservationKind::CreatedOnly => {
            let mut why = Vec::new();
            if claim.memory < claim.profile.form().memory {
                why.push(format!("than {}, to which this run was bound", bytes(claim.memory)));
            }
            let limit = backend.limits.tensor_bytes;
            if limit < claim.profile.form().memory {
                why.push(format!("than {}, the backend's limit of a tensor", bytes(limit)));
            }
            let limit = backend.limits.elements;
            if limit != u64::MAX {
                why.push(format!("than {}, the backend's limit of a tensor", counted(limit, "element")));
            }
            let larger = if why.is_empty() { "than it can run".to_owned() } else { why.join(", or ") };
            format!("{cases} not run but only created, because they are larger {larger}")
        }
        ReservationKind::Allowed => {
            let of = claim.allow.iter().map(|difference| difference.name()).collect::<Vec<_>>().join(", ");
            format!("in {} of an operator, differences that were allowed ({of})", counted(count, "run"))
        }
    }
}
