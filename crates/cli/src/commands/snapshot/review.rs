//! `dmlcts snapshot review`, `accept` and `reject`: what becomes of a pending change.

use std::io::{self, IsTerminal as _, Write as _};

use console::{Key, Term};
use dmlcts_model::escaped;
use dmlcts_snapshots::{Changes, Folder, SnapshotError, Stored};

use super::{
    change, named,
    outputs::Outputs,
    pending::{kept_page, painted},
};
use crate::{
    arguments::{NamedArguments, ReviewArguments},
    exit::Exit,
    output,
    problem::Problem,
};

/// Accepts or rejects all changes that the arguments name.
pub(super) fn each(
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

/// Shows each change, and asks for an answer: a key on a terminal, a line elsewhere. The exit code says
/// whether anything still waits.
pub(super) fn review(arguments: &ReviewArguments) -> Result<Exit, Problem> {
    let outputs = arguments.outputs.outputs.as_deref().map(Outputs::to_read).transpose()?;
    let (folder, all) = named(&arguments.named)?;
    let pending: Vec<&Stored> = all.iter().filter(|stored| stored.is_pending).collect();
    let mut left = 0;
    for (place, stored) in pending.iter().enumerate() {
        let Some(changes) = change(&folder, stored)? else { continue };
        let text = painted(&stored.name, &changes, &[]);
        output::show(&format!("({} of {}) {}", place + 1, pending.len(), text.trim_end()))?;
        let answer = loop {
            match ask()? {
                Answer::Open => open(&stored.name, &changes, outputs.as_ref())?,
                answer => break answer,
            }
        };
        match answer {
            Answer::Accept => {
                folder.accept(stored)?;
                output::show(&format!("accepted {}", stored.name))?;
            }
            Answer::Reject => {
                folder.reject(stored)?;
                output::show(&format!("rejected {}", stored.name))?;
            }
            Answer::Skip | Answer::Open => left += 1,
            Answer::Quit => {
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

/// Opens the page of a change. Where nothing opens it, its path is enough.
fn open(name: &str, changes: &Changes, outputs: Option<&Outputs<'_>>) -> Result<(), Problem> {
    let path = kept_page(name, changes, &outputs.map(|outputs| outputs.of(changes)).unwrap_or_default())
        .map_err(|cause| Problem::Report { path: std::env::temp_dir().display().to_string(), cause })?;
    output::show(&format!("page     {}", path.display()))?;
    if let Err(cause) = open::that_detached(&path) {
        output::note(&format!("note: no program opened the page: {cause}"));
    }
    Ok(())
}

/// An answer of the reviewer.
#[derive(Clone, Copy)]
enum Answer {
    Accept,
    Reject,
    Open,
    Skip,
    Quit,
}

impl Answer {
    /// The answer that begins with a letter.
    fn of(letter: char) -> Option<Self> {
        Some(match letter.to_ascii_lowercase() {
            'a' => Self::Accept,
            'r' => Self::Reject,
            'o' => Self::Open,
            's' => Self::Skip,
            'q' => Self::Quit,
            _ => return None,
        })
    }
}

/// Asks until the answer is one. The end of the input ends the review.
fn ask() -> Result<Answer, Problem> {
    let terminal = Some(Term::stdout()).filter(|term| term.is_term() && io::stdin().is_terminal());
    loop {
        let mut out = output::stdout();
        write!(out, "[a]ccept, [r]eject, [s]kip, [o]pen the page or [q]uit? ")?;
        out.flush()?;
        let read = match &terminal {
            Some(terminal) => terminal.read_key().map(Some),
            None => line(),
        };
        let key = read.map_err(|cause| {
            Problem::usage(format!("cannot read the answer: {cause}"), "answer with a, r, s, o or q")
        })?;
        let answer = match key {
            Some(Key::Char(letter)) => Answer::of(letter),
            Some(Key::Enter) => Some(Answer::Skip),
            Some(Key::Escape) | None => Some(Answer::Quit),
            Some(_) => None,
        };
        if let (Some(_), Some(Key::Char(letter))) = (&terminal, &key) {
            output::show(&escaped(&letter.to_string()))?;
        } else if terminal.is_some() {
            output::show("")?;
        }
        if let Some(answer) = answer {
            return Ok(answer);
        }
    }
}

/// The first letter of a line of standard input; `None` at its end.
fn line() -> io::Result<Option<Key>> {
    let mut line = String::new();
    let read = io::stdin().read_line(&mut line)?;
    Ok((read > 0).then(|| line.trim().chars().next().map_or(Key::Enter, Key::Char)))
}
