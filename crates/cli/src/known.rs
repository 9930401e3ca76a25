//! Lists of known failures: the files that are named, and whether a run says if their entries are still true.

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

    /// Says on standard error which suites entries name that nobody here knows, in a run of this selection.
    pub(crate) fn warn(&self, selection: &SelectionForm) {
        for warning in self.unknown_suites(selection.suite.as_ref().map(|suite| suite.name.as_str())) {
            output::note(&warning);
        }
    }

    /// A sentence for each suite that entries name, and that nobody here knows: neither one that is built in, nor the one of this run,
    /// whose name is this. It may be a suite of somebody's own, or mistyped, and then no run says whether the entry is true.
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

/// The suite, where a run of this selection is a whole and usual run of it: every case, nothing allowed that is not
/// allowed by itself, and the seed that lists are made with. One that has the name of a built-in suite and another text is none that
/// a list can name.
pub(crate) fn whole_suite(selection: &SelectionForm) -> Option<&str> {
    let suite = selection.suite.as_ref().filter(|suite| selection.is_usual() && has_own_name(suite));
    suite.map(|suite| suite.name.as_str())
}

/// Whether a suite is built in, or has a name that no built-in one has.
pub(crate) fn has_own_name(suite: &SuiteForm) -> bool {
    !Suite::names().any(|name| name == suite.name)
        || Suite::load(&suite.name).is_ok_and(|own| own.source().hash() == suite.hash)
}
