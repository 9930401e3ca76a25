//! Reads the results file of a run.

use std::sync::Arc;

use dmlcts_diagnose::{Diagnosis, EarlierFinding};
use dmlcts_generate::{Order, suite::Strategy};
use dmlcts_results::{Analysis, Header, RunFiles, SelectionForm};
use dmlcts_runner::{CaseSource, SuiteSource};
use dmlcts_spec::Library;

use crate::{
    problem::Problem,
    selection::{compile, load_suite},
};

/// The header of a results file of one run, and what the run came to. `take` gets each line. The findings
/// keep the ids and predicates of `earlier`.
pub(crate) fn read(
    path: &str,
    earlier: &[EarlierFinding],
    take: &mut dyn FnMut(&[u8]),
) -> Result<(Header, Diagnosis), Problem> {
    let library = Library::embedded();
    let files = RunFiles::open(&[path.to_owned()])?;
    let header = files.header().ok_or_else(|| Problem::usage(format!("{path} has no header"), ""))?;
    check_spec(path, &header, "use the version of dmlcts that wrote it")?;
    let suite = suite(&header.selection);
    let strategies = strategies(&header.selection, suite.as_deref());
    let source = suite.as_deref().filter(|_| header.program == env!("CARGO_PKG_VERSION"));
    let source = source.map(|source| source as &dyn CaseSource);
    let analysis = Analysis { source, earlier };
    let joined = files.join(library, &strategies, Some(analysis), &mut |line| {
        take(line);
        Ok(())
    })?;
    let run = joined.ok_or_else(|| Problem::usage(format!("{path} has no run"), ""))?;
    Ok((header, run))
}

/// Checks that the spec of this program judged the run of a file.
pub(crate) fn check_spec(path: &str, header: &Header, help: &str) -> Result<(), Problem> {
    let (spec, own) = (&header.spec, Library::embedded());
    if *spec == own.hash() {
        return Ok(());
    }
    let own = own.short_hash();
    let message = format!("{path} was judged by the spec {spec:.12}, and this program has {own}");
    Err(Problem::usage(message, help))
}

/// The names of the strategies of a run, whose suite may be known.
pub(crate) fn strategies(selection: &SelectionForm, suite: Option<&SuiteSource>) -> Vec<String> {
    match (&selection.suite, suite) {
        (None, _) => vec!["given".to_owned()],
        (Some(_), Some(parts)) => parts.strategies(),
        (Some(_), None) => Strategy::ALL.map(|strategy| strategy.name().to_owned()).to_vec(),
    }
}

/// The suite of a selection, if this program has it with the same text.
pub(crate) fn suite(selection: &SelectionForm) -> Option<Arc<SuiteSource>> {
    let form = selection.suite.as_ref()?;
    let suite = load_suite(&form.name).ok()?;
    if suite.source().hash() != form.hash {
        return None;
    }
    let expansion = suite.expand(Library::embedded(), selection.seed).ok()?;
    let strategies: Option<Vec<Strategy>> =
        selection.strategies.iter().map(|name| Strategy::from_name(name)).collect();
    let order = match &selection.order {
        Some(order) => Some(Order::from_id(order)?),
        None => None,
    };
    let filter = selection.filter.as_deref().map(compile).transpose().ok()?;
    let level = selection.feature_level.as_ref().map(|level| level.parse()).transpose().ok()?;
    Some(Arc::new(SuiteSource::in_order(order, expansion, &strategies?, (filter.as_ref(), level))))
}
