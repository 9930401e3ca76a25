//! `dmlcts snapshot review`, `accept` and `reject`: what becomes of a pending change.

use std::io::{self, Write as _};

use dmlcts_snapshots::{Folder, SnapshotError, Stored};

use super::{change, named};
use crate::{arguments::NamedArguments, exit::Exit, output, problem::Problem};

/// Accepts the changes.
pub(super) fn accept(arguments: &NamedArguments) -> Result<Exit, Problem> {
    each(arguments, "accepted", Folder::accept)
}

/// Removes the changes.
pub(super) fn reject(arguments: &NamedArguments) -> Result<Exit, Problem> {
    each(arguments, "rejected", Folder::reject)
}

/// Does this to all changes that the arguments name.
fn each(
    arguments: &NamedArguments,
    did: &str,
    act: impl Fn(&Folder, &Stored) -> Result<bool, SnapshotError>,
) -> Result<Exit, Problem> {
    let (folder, all) = named(arguments)?;
    let mut done = 0;
    for stored in all.iter().filter(|stored| stored.is_pending) {
        if act(&folder, stored)? {
            output::show(&format!("{did} {}", stored.name))?;
            done += 1;
        }
    }
    if done == 0 {
        output::show("nothing waits for a review")?;
    }
    Ok(Exit::Success)
}

/// Shows each change, and asks for an answer. The exit code says whether anything still waits.
pub(super) fn review(arguments: &NamedArguments) -> Result<Exit, Problem> {
    let (folder, all) = named(arguments)?;
    let pending: Vec<&Stored> = all.iter().filter(|stored| stored.is_pending).collect();
    let mut input = io::stdin().lock();
    let mut left = 0;
    for (place, stored) in pending.iter().enumerate() {
        let Some(changes) = change(&folder, stored)? else { continue };
        let text = format!("{}: {}", stored.name, changes.to_text());
        output::show(&format!("({} of {}) {}", place + 1, pending.len(), text.trim_end()))?;
        match ask(&mut input)? {
            Answer::Accept => {
                folder.accept(stored)?;
                output::show(&format!("accepted {}", stored.name))?;
            }
            Answer::Reject => {
                folder.reject(stored)?;
                output::show(&format!("rejected {}", stored.name))?;
            }
            Answer::Skip => left += 1,
            Answer::End => {
                left += pending.len() - place;
                break;
            }
        }
    }
    if pending.is_empty() {
        output::show("nothing waits for a review")?;
    }
    Ok(if left == 0 { Exit::Success } else { Exit::Unexpected })
}

/// An answer of the reviewer.
enum Answer {
    Accept,
    Reject,
    Skip,
    End,
}

/// Asks until the answer is one. At the end of the input, it ends the review.
fn ask(input: &mut impl io::BufRead) -> Result<Answer, Problem> {
    loop {
        let mut out = output::stdout();
        write!(out, "[a]ccept, [r]eject, [s]kip or [q]uit? ")?;
        out.flush()?;
        let mut line = String::new();
        let read = input.read_line(&mut line).map_err(|cause| {
            Problem::usage(format!("cannot read the answer: {cause}"), "answer with a, r, s or q, one a line")
        })?;
        if read == 0 {
            return Ok(Answer::End);
        }
        match line.trim() {
            "a" | "accept" => return Ok(Answer::Accept),
            "r" | "reject" => return Ok(Answer::Reject),
            "" | "s" | "skip" => return Ok(Answer::Skip),
            "q" | "quit" => return Ok(Answer::End),
            _ => {}
        }
    }
}
