//! The findings of earlier runs, whose ids a run or a merge keeps.

use dmlcts_results::{PartitionForm, earlier_findings};
use dmlcts_runner::StoredFinding;
use dmlcts_spec::Library;

use crate::{output, problem::Problem};

/// The findings of these results files, in order. A note names each file of another backend than this one,
/// and each file of a part of a run.
pub(crate) fn findings(paths: &[String], backend: &str) -> Result<Vec<StoredFinding>, Problem> {
    let mut all = Vec::new();
    for path in paths {
        let (header, found) = earlier_findings(path, Library::embedded())?;
        let other = header.backend.argument;
        if other != backend {
            output::note(&format!(
                "note: {path} is of the backend `{other}`, and this run is of `{backend}`"
            ));
        }
        if let Some(part) = header.selection.partition {
            let PartitionForm { part, of } = part;
            output::note(&format!(
                "note: {path} has the findings of part {part}/{of} alone; `dmlcts merge` joins all parts"
            ));
        }
        all.extend(found);
    }
    Ok(all)
}
