//! `dmlcts accept`: writes the findings of a recorded run into a folder. `dmlcts findings` lists them.

use std::io::Write as _;

use dmlcts_model::escaped;
use dmlcts_spec::Library;
use dmlcts_store::Folder;

use crate::{
    arguments::{AcceptArguments, FindingsArguments},
    exit::Exit,
    known::{Failed, accept_run, check_name, is_whole},
    output,
    problem::Problem,
    recorded,
};

/// Accepts the findings of a recorded run.
pub(crate) fn accept(arguments: &AcceptArguments) -> Result<Exit, Problem> {
    let folder = Folder::new(&arguments.folder);
    // A folder with mistakes is named before the run is read.
    folder.read_or_none(Library::embedded())?;
    let mut failed = Failed::default();
    let (header, summary) = recorded::read(&arguments.from, &[], &mut |line| failed.on_line(line))?;
    check_name(&folder, arguments.name.as_deref(), &summary.capabilities.name)?;
    let is_whole = is_whole(&header.selection);
    let (exit, text) = accept_run(&folder, (&summary, &failed), is_whole, &arguments.ids)?;
    let mut out = output::stdout();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    output::unless_gone(written)?;
    Ok(exit)
}

/// Lists the findings of a folder, one line each.
pub(crate) fn findings(arguments: &FindingsArguments) -> Result<Exit, Problem> {
    let all = Folder::new(&arguments.folder).read(Library::embedded())?;
    let mut out = output::stdout();
    let mut write = || {
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
        out.flush()
    };
    let written = write();
    output::unless_gone(written)?;
    Ok(Exit::Success)
}
