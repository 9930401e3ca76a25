//! `dmlcts accept`: writes the findings of a recorded run into a folder.

use dmlcts_runner::Ending;
use dmlcts_spec::Library;
use dmlcts_store::{FailedCases, Folder};

use crate::{
    arguments::AcceptArguments,
    exit::Exit,
    known::{Acceptance, accept_run, check_name, is_whole},
    output,
    problem::Problem,
    recorded,
};

/// Accepts the findings of a recorded run.
pub(crate) fn accept(arguments: &AcceptArguments) -> Result<Exit, Problem> {
    let folder = Folder::new(&arguments.folder);
    // A folder with mistakes is named before the run is read.
    folder.read_or_none(Library::embedded())?;
    let mut failed = FailedCases::default();
    let (header, run) = recorded::read(&arguments.from, &[], &mut |line| failed.on_line(line))?;
    if run.summary.ending == Ending::MaxFailures {
        return Err(Problem::usage(
            format!(
                "the run of {} ended before its last case since cases failed, so that it does not show all of a finding",
                arguments.from
            ),
            "run it again without --fail-fast and --max-failures",
        ));
    }
    check_name(&folder, arguments.name.as_deref(), &run.summary.capabilities.name)?;
    let is_whole = is_whole(&header.selection);
    let Acceptance { exit, text, .. } = accept_run(&folder, (&run, &failed), is_whole, &arguments.ids)?;
    output::show(text.trim_end())?;
    Ok(exit)
}
