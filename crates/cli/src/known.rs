//! Lists of known failures: the files that are named, and whether a run says if their entries are still true.

use dmlcts_results::{KnownFileForm, SelectionForm};
use dmlcts_runner::KnownFailures;
use dmlcts_spec::{Library, Source, read_file};

use crate::{arguments::RunArguments, problem::Problem};

/// The lists of a run.
pub(crate) struct Known {
    /// What they say.
    pub(crate) failures: KnownFailures,
    /// What a results file says of them.
    pub(crate) files: Vec<KnownFileForm>,
}

impl Known {
    /// Reads and checks the files.
    pub(crate) fn load(paths: &[String]) -> Result<Self, Problem> {
        let sources: Vec<Source> = paths.iter().map(|path| read_file(path)).collect::<Result<_, _>>()?;
        let failures = KnownFailures::load(&sources, Library::embedded())?;
        let file = |source: &Source| KnownFileForm { path: source.name.clone(), hash: source.hash() };
        Ok(Self { failures, files: sources.iter().map(file).collect() })
    }
}

/// The suite, where a run of this selection is a whole and usual run of it: every case, nothing allowed that is not
/// allowed by itself, and the seed that lists are made with.
pub(crate) fn whole_suite(selection: &SelectionForm) -> Option<&str> {
    let is_whole = selection.filter.is_none()
        && selection.strategies.is_empty()
        && selection.feature_level.is_none()
        && selection.partition.is_none()
        && selection.limit.is_none()
        && selection.allow.is_empty()
        && selection.memory == RunArguments::DEFAULT_MEMORY
        && selection.seed == 0;
    selection.suite.as_ref().filter(|_| is_whole).map(|suite| suite.name.as_str())
}
