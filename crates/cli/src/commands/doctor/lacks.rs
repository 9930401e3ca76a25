//! Asks a backend for cases that it declares to lack, which no run asks it for. It must refuse them or fail:
//! otherwise its declaration leaves out cases that it can do, or hides wrong answers.

use std::{sync::Arc, time::Instant};

use dmlcts_backend::{Backend, Batch, Capabilities, Immediate, Lack, OpenError, Pipelined, Purpose};
use dmlcts_diagnose::ExplainOptions;
use dmlcts_model::FeatureLevel;
use dmlcts_report::counted;
use dmlcts_runner::{Class, Configuration, Factory, SuiteSource, Verdict};
use dmlcts_spec::{Library, Operator, Predicate};

use super::{report::Report, run::run};
use crate::{problem::Problem, selection::expand};

/// The number of cases that are asked for each lack.
const ASKED: u64 = 3;

/// Asks for a few valid cases of each lack.
pub(super) fn refuses(
    report: &mut Report,
    (factory, capabilities): (&Arc<Factory>, &Capabilities),
    deadline: Option<Instant>,
) -> Result<(), Problem> {
    let whole = Capabilities { lacks: Vec::new(), ..capabilities.clone() };
    for lack in &capabilities.lacks {
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            report.late(WHAT)?;
            continue;
        }
        let (factory, whole) = (Arc::clone(factory), whole.clone());
        let declaring = move |purpose: Purpose| -> Result<Box<dyn Pipelined>, OpenError> {
            let (inner, capabilities) = (factory(purpose)?, whole.clone());
            Ok(Box::new(Immediate(Declaring { inner, capabilities })))
        };
        ask(report, lack, Arc::new(declaring), deadline)?;
    }
    Ok(())
}

/// The name of the check.
const WHAT: &str = "refuses what it lacks";

fn ask(
    report: &mut Report,
    lack: &Lack,
    factory: Arc<Factory>,
    deadline: Option<Instant>,
) -> Result<(), Problem> {
    let operators = Library::embedded().operators().iter().filter(|one| one.name() == lack.operator);
    let condition = format!("valid and ({})", lack.condition);
    // The run of `smoke` has checked the condition.
    let Ok(filter) = Predicate::compile(&condition, operators.map(Operator::scope)) else { return Ok(()) };
    let source = Arc::new(SuiteSource::new(expand("smoke", 0)?, &[]));
    let configuration = Configuration {
        filter: Some(Arc::new(filter)),
        limit: Some(ASKED),
        jobs: 1,
        retries: 0,
        deadline,
        ..Configuration::default()
    };
    let (diagnosis, failures) = run(source, factory, (configuration, &ExplainOptions::NONE))?;
    let tally = diagnosis.summary.tally();
    if tally.total() == 0 {
        return report.untried(WHAT, &format!("no valid case of `smoke` is of {lack}"));
    }
    // A library may fail only when it is called.
    let is_refusal = |class| {
        matches!(class, Class::Undeclared | Class::RefusedValid | Class::RefusedOtherwise | Class::Failed)
    };
    if let Some(other) = failures.all(|failed| !is_refusal(failed.class)).next() {
        let remedy = "refuse these cases, or do not declare them as lacking";
        return report.wrong(WHAT, &format!("{}, of {lack}: {}", other.line, other.cause), remedy);
    }
    let done = tally.of(Verdict::Pass) + tally.of(Verdict::Recorded);
    if done > 0 {
        let found = format!("it does {done} of {} of {lack}", counted(tally.total(), "case"));
        return report.wrong(
            WHAT,
            &found,
            "it lacks less than it says: narrow the condition, or leave it out",
        );
    }
    report.fine(WHAT, &format!("{} of {lack}", counted(tally.total(), "case")))
}

/// A backend with another declaration.
struct Declaring {
    inner: Box<dyn Pipelined>,
    capabilities: Capabilities,
}

impl Backend for Declaring {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn set_feature_level(&mut self, level: FeatureLevel) {
        self.inner.set_feature_level(level);
    }

    fn run(&mut self, batch: &mut Batch) {
        self.inner.run(batch);
    }

    fn lost(&self) -> Option<&str> {
        self.inner.lost()
    }
}
