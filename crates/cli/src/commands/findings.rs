//! `dmlcts findings`: lists the findings of a folder, adds those of given cases, and joins two folders.

use std::time::Instant;

use dmlcts_model::escaped;
use dmlcts_report::{ListedFinding, counted, write_html_list, write_markdown_list};
use dmlcts_spec::Library;
use dmlcts_store::{Folder, SeenForm, Stored, cases, merge_folders};

use super::run;
use crate::{
    arguments::{
        AddFindingsArguments, FindingsArguments, FindingsCommand, ListFindingsArguments,
        MergeFindingsArguments,
    },
    exit::Exit,
    given,
    known::check_name,
    output,
    problem::Problem,
    reports::{prepare_report, write_report},
};

/// Lists or changes the findings of a folder. The time of a run counts from `started`.
pub(crate) fn findings(arguments: &FindingsArguments, started: Instant) -> Result<Exit, Problem> {
    match (&arguments.command, &arguments.list) {
        (Some(FindingsCommand::Add(arguments)), _) => add(arguments, started),
        (Some(FindingsCommand::Merge(arguments)), _) => merge(arguments),
        (None, Some(arguments)) => list(arguments),
        (None, None) => Err(Problem::usage("no folder is named", "name the folder of one backend")),
    }
}

/// Lists the findings of a folder, one line each.
fn list(arguments: &ListFindingsArguments) -> Result<Exit, Problem> {
    arguments.check_paths()?;
    let folder = Folder::new(&arguments.folder);
    let all = folder.read(Library::embedded())?;
    write_reports(arguments, &folder, &all)?;
    output::write(|out| {
        for stored in &all {
            let failure = stored.entry.failure();
            let reason = if failure.reason.is_empty() { "no reason" } else { &failure.reason };
            let reason = reason.lines().next().unwrap_or_default();
            let (status, kind) = (failure.status.id(), failure.kind.id());
            writeln!(out, "{status:<6} {kind:<11} {}  {}", escaped(&failure.id), escaped(reason))?;
        }
        if all.is_empty() {
            writeln!(out, "{} holds no finding", escaped(&arguments.folder))?;
        }
        Ok(())
    })?;
    Ok(Exit::Success)
}

/// Writes the findings as Markdown and as a page.
fn write_reports(arguments: &ListFindingsArguments, folder: &Folder, all: &[Stored]) -> Result<(), Problem> {
    arguments.markdown.iter().chain(&arguments.html).try_for_each(|path| prepare_report(path))?;
    let name = folder.name().unwrap_or_default();
    let findings: Vec<ListedFinding> = all.iter().map(listed).collect();
    if let Some(path) = &arguments.markdown {
        write_report(path, |out| write_markdown_list(out, &name, &findings))?;
    }
    if let Some(path) = &arguments.html {
        write_report(path, |out| write_html_list(out, &name, &findings))?;
    }
    Ok(())
}

/// A finding as reports list it.
fn listed(stored: &Stored) -> ListedFinding {
    let file = &stored.file;
    let seen = file.seen.as_ref().map(|SeenForm { first, last, with }| {
        let with = with.as_ref().map_or_else(String::new, |with| format!(", with {with}"));
        format!("{first} to {last}{with}")
    });
    let columns = [
        ("status", file.status.id().to_owned()),
        ("kind", file.kind.id().to_owned()),
        ("class", file.class.join(", ")),
        ("where", cases(file)),
        ("smallest", file.smallest.clone()),
        ("answer", file.answer.clone().unwrap_or_default()),
        ("reason", file.reason.clone().unwrap_or_default()),
        ("link", file.link.clone().unwrap_or_default()),
        ("seen", seen.unwrap_or_default()),
    ];
    // YAML folds long texts.
    let in_a_line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let columns = columns.map(|(name, value)| (name, in_a_line(value)));
    ListedFinding { id: file.finding.clone(), columns }
}

/// Runs cases, and accepts what fails.
fn add(arguments: &AddFindingsArguments, started: Instant) -> Result<Exit, Problem> {
    let mut run = arguments.backend.run();
    run.cases = given::with_files(&arguments.cases)?;
    run.verdicts.findings = Some(arguments.folder.clone());
    run.verdicts.name.clone_from(&arguments.name);
    run.verdicts.accept = true;
    run.selection.feature_level = arguments.feature_level;
    run::run(&run, started)
}

/// Joins the findings of a folder into another one.
fn merge(arguments: &MergeFindingsArguments) -> Result<Exit, Problem> {
    let (folder, from) = (Folder::new(&arguments.into), Folder::new(&arguments.from));
    check_name(&folder, arguments.name.as_deref(), &from.name().unwrap_or_default())?;
    let (merged, text) = merge_folders(&folder, &from)?;
    output::show(text.trim_end())?;
    if merged.conflicts.is_empty() {
        return Ok(Exit::Success);
    }
    Err(Problem::usage(
        format!(
            "nothing was written: {} cannot be joined",
            counted(merged.conflicts.len() as u64, "finding")
        ),
        "correct `seen` of one file, or delete the file that does not count",
    ))
}
