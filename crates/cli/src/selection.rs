//! Makes a stream of cases from the options that select them.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        mpsc::{RecvTimeoutError, sync_channel},
    },
    thread,
    time::Instant,
};

use dmlcts_generate::{Expansion, Suite, SuiteError};
use dmlcts_model::{Case, line};
use dmlcts_report::grouped;
use dmlcts_runner::SuiteSource;
use dmlcts_spec::{Library, Operator, Predicate};

use crate::{
    arguments::Selection,
    problem::{Problem, unknown},
};

impl Selection {
    /// The suite's cases, before the filter.
    pub(crate) fn source(&self) -> Result<SuiteSource, Problem> {
        let expansion = expand(&self.suite, self.seed)?;
        let has: HashSet<_> = expansion.parts().iter().map(dmlcts_generate::Part::strategy).collect();
        if let Some(missing) = self.strategy.iter().find(|strategy| !has.contains(strategy)) {
            let mut names: Vec<&str> = expansion.parts().iter().map(|part| part.strategy().name()).collect();
            names.dedup();
            let suite = expansion.suite().name();
            return Err(Problem::usage(
                format!("the suite `{suite}` has no part that the strategy `{missing}` makes"),
                format!("its strategies are: {}", names.join(", ")),
            ));
        }
        let filter = self.filter()?;
        let left = (filter.as_deref(), self.feature_level);
        Ok(SuiteSource::in_order(self.order, expansion, &self.strategy, left))
    }

    /// The suite's cases before the filter, or `None` if they are not found before the deadline. A search
    /// that takes too long stays behind on its own thread, which ends with the program.
    pub(crate) fn source_until(&self, deadline: Option<Instant>) -> Result<Option<SuiteSource>, Problem> {
        let Some(deadline) = deadline else { return self.source().map(Some) };
        let (sender, receiver) = sync_channel(1);
        let selection = self.clone();
        // If the search ends too late, the receiver is gone and the parts are dropped.
        let searching = thread::spawn(move || drop(sender.send(selection.source())));
        match receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(parts) => parts.map(Some),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => match searching.join() {
                Ok(()) => Ok(None),
                Err(panic) => std::panic::resume_unwind(panic),
            },
        }
    }

    /// Whether cases may be left out. Then their number is unknown until they are read.
    pub(crate) fn leaves_out(&self) -> bool {
        self.filter.is_some() || self.feature_level.is_some() || self.partition.is_some()
    }

    /// The filter, compiled.
    pub(crate) fn filter(&self) -> Result<Option<Arc<Predicate>>, Problem> {
        self.filter.as_deref().map(|text| compile(text).map(Arc::new)).transpose()
    }

    /// The error that none of the first `read` cases was selected.
    pub(crate) fn nothing(&self, read: u64) -> Problem {
        let message = match read {
            0 => "the selection has no cases".to_owned(),
            1 => "the one case of the selection was left out".to_owned(),
            _ => format!("none of the {} cases of the selection was taken", grouped(read)),
        };
        let help = match (&self.filter, self.feature_level) {
            _ if self.partition.is_some() => "another --partition may have some",
            (Some(_), _) => "ask for less by --where; `dmlcts list` without it shows which cases there are",
            (None, Some(_)) => "a later --feature-level takes more",
            (None, None) => {
                "name other strategies or another suite; `dmlcts count` says how many cases each has"
            }
        };
        Problem::usage(message, help)
    }

    /// The number of threads.
    pub(crate) fn threads(&self) -> usize {
        threads(self.jobs)
    }
}

/// The number of threads: as `--jobs` says, or one per processor.
pub(crate) fn threads(jobs: Option<u16>) -> usize {
    jobs.map_or_else(|| thread::available_parallelism().map_or(1, usize::from), usize::from)
}

/// A filter, compiled.
pub(crate) fn compile(text: &str) -> Result<Predicate, Problem> {
    let scopes = Library::embedded().operators().iter().map(Operator::scope);
    Predicate::compile(text, scopes).map_err(|mistake| Problem::Predicate { text: text.to_owned(), mistake })
}

/// A suite by name or path.
pub(crate) fn load_suite(name: &str) -> Result<Suite, Problem> {
    Suite::load(name).map_err(|error| suite_problem(name, error))
}

/// The parts of a suite by name or path.
pub(crate) fn expand(name: &str, seed: u64) -> Result<Expansion<'static>, Problem> {
    load_suite(name)?.expand(Library::embedded(), seed).map_err(|error| suite_problem(name, error))
}

pub(crate) fn suite_problem(name: &str, error: SuiteError) -> Problem {
    match error {
        SuiteError::Unknown { .. } => {
            let known: Vec<&str> = Suite::names().collect();
            Problem::usage(unknown("suite", name, &known), "name one of them, or the path of a YAML file")
        }
        SuiteError::File(error) => Problem::File(error),
        SuiteError::Mistakes(error) => Problem::Load(error),
    }
}

/// A case from its line.
pub(crate) fn parse_case(text: &str) -> Result<Case, Problem> {
    line::parse(text, Library::embedded().signatures())
        .map_err(|error| Problem::Line { line: text.to_owned(), error })
}
