//! Reads the results file of a run.

use dmlcts_diagnose::{Diagnosis, StoredFinding};
use dmlcts_results::{Analysis, Header, PartFiles};
use dmlcts_runner::Source;
use dmlcts_spec::Library;

use crate::{commands::merge, problem::Problem};

/// The header of a results file of one run, and what the run came to. `take` gets each line. The findings
/// keep the ids and predicates of `earlier`.
pub(crate) fn read(
    path: &str,
    earlier: &[StoredFinding],
    take: &mut dyn FnMut(&[u8]),
) -> Result<(Header, Diagnosis), Problem> {
    let library = Library::embedded();
    let files = PartFiles::open(&[path.to_owned()])?;
    let header = files.header().ok_or_else(|| Problem::usage(format!("{path} has no header"), ""))?;
    if header.spec != library.hash() {
        let (spec, own) = (&header.spec, library.short_hash());
        return Err(Problem::usage(
            format!("{path} was judged by the spec {spec:.12}, and this program has {own}"),
            "use the version of dmlcts that wrote it",
        ));
    }
    let suite = merge::suite(&header.selection);
    let strategies = merge::strategies(&header.selection, suite.as_deref());
    let source = suite.as_deref().filter(|_| header.program == env!("CARGO_PKG_VERSION"));
    let source = source.map(|source| source as &dyn Source);
    let analysis = Analysis { source, earlier };
    let joined = files.join(library, &strategies, Some(analysis), &mut |line| {
        take(line);
        Ok(())
    })?;
    let run = joined.ok_or_else(|| Problem::usage(format!("{path} has no run"), ""))?;
    Ok((header, run))
}
