//! `dmlcts snapshot diff` and `dmlcts snapshot check`: what waits for a review.

use std::{io, path::PathBuf};

use dmlcts_generate::Suite;
use dmlcts_model::escaped;
use dmlcts_report::{CaseOutputs, SnapshotChanges, Tone, write_html_changes};
use dmlcts_snapshots::{Changes, Folder, Metadata, SnapshotError, Stored, check_text};
use dmlcts_spec::Library;

use super::{
    again::{again, subcommand},
    change, named,
    outputs::Outputs,
};
use crate::{
    arguments::{AllArguments, ShowDiffArguments},
    colour,
    exit::Exit,
    output,
    problem::Problem,
    reports::write_report,
};

/// The indentation of lines below a change.
const BELOW: &str = "               ";

/// Shows the changes that wait.
pub(super) fn diff(arguments: &ShowDiffArguments) -> Result<Exit, Problem> {
    arguments.check_paths()?;
    let outputs = arguments.outputs.outputs.as_deref().map(Outputs::to_read).transpose()?;
    let (folder, all) = named(&arguments.named)?;
    let mut changes = Vec::new();
    for stored in all.iter().filter(|stored| stored.is_pending) {
        changes.extend(change(&folder, stored)?.map(|change| {
            let outputs = outputs.as_ref().map(|outputs| outputs.of(&change)).unwrap_or_default();
            (&stored.name, change, outputs)
        }));
    }
    if let Some(path) = &arguments.markdown {
        let pages: Vec<String> = changes.iter().map(|(name, change, _)| change.to_markdown(name)).collect();
        let page = if pages.is_empty() { "No snapshot changed.\n".to_owned() } else { pages.join("\n") };
        write_report(path, |out| out.write_all(page.as_bytes()))?;
    }
    if let Some(path) = &arguments.html {
        let pages: Vec<SnapshotChanges<'_>> =
            changes.iter().map(|(name, change, outputs)| (name.as_str(), change, &outputs[..])).collect();
        write_report(path, |out| write_html_changes(out, &pages))?;
    }
    output::write(|out| {
        for (place, (name, change, outputs)) in changes.iter().enumerate() {
            if place > 0 {
                writeln!(out)?;
            }
            write!(out, "{}", painted(name, change, if arguments.values { outputs } else { &[] }))?;
        }
        if changes.is_empty() {
            writeln!(out, "nothing waits for a review")?;
        }
        Ok(())
    })?;
    Ok(if changes.is_empty() { Exit::Success } else { Exit::Unexpected })
}

/// The changes of a snapshot as text, in the colours of standard output, with the outputs of each change.
pub(super) fn painted(name: &str, changes: &Changes, outputs: &[Vec<CaseOutputs>]) -> String {
    let style = colour::style();
    let mut outputs = outputs.iter();
    let text = changes.to_text_with(|_| {
        let mut text = Vec::new();
        for one in outputs.next().into_iter().flatten() {
            // Writing into memory cannot fail.
            let _ = one.write(&mut text, BELOW, style);
        }
        String::from_utf8(text).unwrap_or_default()
    });
    let tone = |line: &str| match changes.list.iter().find(|one| line.starts_with(one.transition.name())) {
        Some(one) => Tone::of_change(one.transition.is_good()),
        None => Tone::Plain,
    };
    let (cause, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let mut all = format!("{name}: {}\n", style.paint(Tone::Strong, cause));
    for line in rest.lines() {
        all.extend([&style.paint(tone(line), line).to_string(), "\n"]);
    }
    all
}

/// Writes the page of a change into a file of its own, which stays. Returns its path.
pub(super) fn kept_page(name: &str, changes: &Changes, outputs: &[Vec<CaseOutputs>]) -> io::Result<PathBuf> {
    let mut file = tempfile::Builder::new().prefix("dmlcts-").suffix(".html").tempfile()?;
    write_html_changes(&mut file, &[(name, changes, outputs)])?;
    let (_, path) = file.keep()?;
    Ok(path)
}

/// Checks all snapshots of a folder.
pub(super) fn check(arguments: &AllArguments) -> Result<Exit, Problem> {
    let folder = arguments.folder()?;
    let all = folder.list()?;
    let mut mistakes = Vec::new();
    for stored in &all {
        mistakes.extend(mistakes_of(&folder, stored, arguments)?);
    }
    for path in folder.leftovers()? {
        let help = "remove it; the next command that writes into its folder does so, too";
        mistakes.push((format!("{}: left by a command that was killed", path.display()), help.to_owned()));
    }
    output::write(|out| {
        for (what, help) in &mistakes {
            writeln!(out, "{}\n  help: {}", escaped(what), escaped(help))?;
        }
        if mistakes.is_empty() {
            let accepted = all.iter().filter(|stored| stored.is_accepted).count();
            writeln!(out, "{accepted} accepted, nothing waits for a review")?;
        }
        Ok(())
    })?;
    Ok(if mistakes.is_empty() { Exit::Success } else { Exit::Unexpected })
}

/// What is wrong with a snapshot, and the remedies.
fn mistakes_of(
    folder: &Folder,
    stored: &Stored,
    arguments: &AllArguments,
) -> Result<Vec<(String, String)>, SnapshotError> {
    let mut mistakes = Vec::new();
    let (name, path) = (&stored.name, folder.accepted(&stored.name));
    if stored.is_pending {
        // It must be a snapshot, too.
        change(folder, stored)?;
        let [diff, accept, reject] = ["diff", "accept", "reject"].map(|word| subcommand(word, arguments));
        mistakes.push((format!("{name}: pending"), format!("see `{diff}`, then `{accept}` or `{reject}`")));
    }
    let Some(text) = folder.text(&path)? else { return Ok(mistakes) };
    let about = check_text(stored, &path.display().to_string(), &text)?;
    mistakes
        .extend(outdated(stored, &about, arguments).map(|(what, help)| (format!("{name}: {what}"), help)));
    Ok(mistakes)
}

/// Why an accepted snapshot is out of date, and the remedy.
fn outdated(stored: &Stored, about: &Metadata, arguments: &AllArguments) -> Option<(String, String)> {
    let again = format!("make it again by {}, and accept it", again(stored, about, arguments));
    let own = Library::embedded().hash();
    if !own.starts_with(&about.spec) {
        return Some((format!("accepted for the spec {}, and this is {own:.12}", about.spec), again));
    }
    if stored.is_of_examples() {
        return None;
    }
    if stored.suite() != about.suite {
        let what = format!("orphaned: it is of the suite `{}`", about.suite);
        return Some((what, "give the file the name of its suite, or remove it".to_owned()));
    }
    // A suite in a file of its own cannot be found by its name.
    let suite = Suite::load(&about.suite).ok()?;
    let hash = suite.source().hash();
    let is_current = hash.starts_with(&about.suite_hash);
    (!is_current).then(|| (format!("accepted for an earlier text of the suite `{}`", about.suite), again))
}
