//! The lists of known failures that a run names, and the question whether the run shows that their entries
//! are true.

use dmlcts_generate::Suite;
use dmlcts_results::{KnownFileForm, SelectionForm, SuiteForm};
use dmlcts_runner::KnownFailures;
use dmlcts_spec::{Library, Source, read_file};

use crate::{
    output,
    problem::{Problem, unknown},
};

/// The lists of a run.
pub(crate) struct Known {
    /// The entries of all files.
    pub(crate) failures: KnownFailures,
    /// The files, as a results file records them.
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

    /// Warns on standard error about suites that entries name and that are unknown.
    pub(crate) fn warn(&self, selection: &SelectionForm) {
        for warning in self.unknown_suites(selection.suite.as_ref().map(|suite| suite.name.as_str())) {
            output::note(&warning);
        }
    }

    /// A sentence for each suite that an entry names and that is unknown: it is not built in, and not
    /// `suite`, the one of this run. It may be a user's own suite or mistyped. Then no run shows whether the
    /// entry is true.
    fn unknown_suites(&self, suite: Option<&str>) -> Vec<String> {
        let built_in: Vec<&str> = Suite::names().collect();
        let mut seen: Vec<&str> = Vec::new();
        let mut said = Vec::new();
        for entry in self.failures.entries() {
            for name in &entry.suites {
                let name = name.as_str();
                if built_in.contains(&name) || suite == Some(name) || seen.contains(&name) {
                    continue;
                }
                seen.push(name);
                said.push(format!(
                    "warning: the known failure `{}` of {}: {}; if it is one of your own, only a run of its file says whether the \
                     entry is true",
                    entry.id,
                    entry.file,
                    unknown("suite", name, &built_in)
                ));
            }
        }
        said
    }
}

/// The suite, if the selection is a whole and usual run of it: every case, no differences allowed beyond the
/// default, and the seed that lists are made with. `None` for a suite with the name of a built-in suite and
/// another text, since a list cannot name it.
pub(crate) fn whole_suite(selection: &SelectionForm) -> Option<&str> {
    let suite = selection.suite.as_ref().filter(|suite| selection.is_usual() && has_own_name(suite));
    suite.map(|suite| suite.name.as_str())
}

/// Whether a suite is built in, or has a name that no built-in one has.
pub(crate) fn has_own_name(suite: &SuiteForm) -> bool {
    !Suite::names().any(|name| name == suite.name)
        || Suite::load(&suite.name).is_ok_and(|own| own.source().hash() == suite.hash)
}
