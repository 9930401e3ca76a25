//! The findings of earlier runs, whose ids a run or a merge keeps.

use dmlcts_results::earlier_findings;
use dmlcts_runner::StoredFinding;
use dmlcts_spec::Library;

use crate::problem::Problem;

/// The findings of these results files, in order.
pub(crate) fn findings(paths: &[String]) -> Result<Vec<StoredFinding>, Problem> {
    let mut all = Vec::new();
    for path in paths {
        all.extend(earlier_findings(path, Library::embedded())?);
    }
    Ok(all)
}
