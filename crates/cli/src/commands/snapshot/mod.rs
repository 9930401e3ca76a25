//! `dmlcts snapshot`: what a backend does, compared with what a person accepted.

mod again;
mod make;
mod outputs;
mod pending;
mod review;
mod show;

use std::time::Instant;

use dmlcts_snapshots::{
    Changes, Examples, Folder, Snapshot, SnapshotError, Stored, compare, compare_examples,
};

use crate::{
    arguments::{NamedArguments, SnapshotArguments, SnapshotCommand},
    exit::Exit,
    problem::{Problem, unknown},
};

/// Makes, compares or shows snapshots. `started` is the time at which the program started.
pub(crate) fn snapshot(arguments: &SnapshotArguments, started: Instant) -> Result<Exit, Problem> {
    match &arguments.command {
        None => make::make(&arguments.make, started),
        Some(SnapshotCommand::Diff(arguments)) => pending::diff(arguments),
        Some(SnapshotCommand::Review(arguments)) => review::review(arguments),
        Some(SnapshotCommand::Accept(arguments)) => review::each(arguments, "accepted", Folder::accept),
        Some(SnapshotCommand::Reject(arguments)) => review::each(arguments, "rejected", Folder::reject),
        Some(SnapshotCommand::Check(arguments)) => pending::check(arguments),
        Some(SnapshotCommand::Show(arguments)) => show::show(arguments),
    }
}

/// The snapshots of a folder that the arguments name. Without names, all of them.
fn named(arguments: &NamedArguments) -> Result<(Folder, Vec<Stored>), Problem> {
    let folder = arguments.all.folder()?;
    let mut all = folder.list()?;
    let is_missing = |name: &&String| !all.iter().any(|stored| stored.is_called(name));
    if let Some(name) = arguments.names.iter().find(is_missing) {
        if all.is_empty() {
            let message = format!("there is no snapshot in {}", folder.path().display());
            return Err(Problem::usage(message, "make one by `dmlcts snapshot`, or name a folder by --dir"));
        }
        let known: Vec<&str> = all.iter().map(|stored| stored.name.as_str()).collect();
        let message = unknown("snapshot", name, &known);
        return Err(Problem::usage(message, "name one of them, or another folder by --dir"));
    }
    all.retain(|one| arguments.names.is_empty() || arguments.names.iter().any(|name| one.is_called(name)));
    let backend = |one: &Stored| one.name.split('/').next().unwrap_or_default().to_owned();
    // The examples of a backend come last.
    all.sort_by_key(|one| (backend(one), one.is_of_examples(), one.name.clone()));
    Ok((folder, all))
}

/// The pending change of a snapshot; `None` if nothing is pending.
fn change(folder: &Folder, stored: &Stored) -> Result<Option<Changes>, SnapshotError> {
    let (accepted, pending) = (folder.accepted(&stored.name), folder.pending(&stored.name));
    let Some(new) = folder.text(&pending)? else { return Ok(None) };
    let old = folder.text(&accepted)?;
    let (old_path, new_path) = (accepted.display().to_string(), pending.display().to_string());
    let changes = if stored.is_of_examples() {
        let old = old.map(|text| Examples::parse(&old_path, &text)).transpose()?;
        compare_examples(old.as_ref(), &Examples::parse(&new_path, &new)?)
    } else {
        let old = old.map(|text| Snapshot::parse(&old_path, &text)).transpose()?;
        compare(old.as_ref(), &Snapshot::parse(&new_path, &new)?)
    };
    Ok(Some(changes))
}
