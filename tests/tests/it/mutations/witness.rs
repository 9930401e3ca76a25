//! The cases of a suite, made and judged by the right specs, and the backends that answer them.

use std::sync::Arc;

use dmlcts_backend::{Capabilities, Operators, Pipelined, Refusal, RunError, Sequential};
use dmlcts_generate::Suite;
use dmlcts_model::{BindingOffsets, Case, Desc, FeatureLevel};
use dmlcts_reference::Reference;
use dmlcts_runner::{CaseSource, Configuration, Cursor, Factory, Run, Runs, Stop, SuiteSource, Verdict};
use dmlcts_spec::{Answer, Library, Scratch, Validity};

/// The largest memory of a case, in bytes. A run only creates the operators of larger cases.
const MEMORY: u64 = 16 << 20;

/// The most answers that open questions allow for one desc.
const MOST_ANSWERS: usize = 4;

/// The cases of a suite for one operator or for all, at one feature level.
pub(crate) struct Cases {
    suite: Arc<SuiteSource>,
    level: FeatureLevel,
    /// The indices of the valid and the invalid cases, which the reference answers.
    settled: Arc<[u64]>,
    /// The indices of the open cases, which have several right answers.
    open: Arc<[u64]>,
}

/// The suite with this name, made from the right specs.
pub(crate) fn suite(name: &str) -> Arc<SuiteSource> {
    let suite = Suite::load(name).unwrap_or_else(|error| panic!("{error}"));
    let expansion = suite.expand(Library::embedded(), 0).unwrap_or_else(|error| panic!("{error}"));
    Arc::new(SuiteSource::new(expansion, &[]))
}

impl Cases {
    /// The cases of these operators at a level.
    pub(crate) fn new(suite: &Arc<SuiteSource>, operators: &[&str], level: FeatureLevel) -> Self {
        let mut case = suite.expansion().blank().expect("the library has operators");
        let mut scratch = Scratch::default();
        let (mut settled, mut open, mut cursor) = (Vec::new(), Vec::new(), suite.cursor());
        for index in 0..suite.count().expect("the suite ends") {
            cursor.read(index, &mut case);
            let name = case.desc.signature.operator.as_str();
            if !operators.contains(&name) {
                continue;
            }
            let operator = Library::embedded().operator(name).expect("the suite is of the library");
            match operator.judge(&case.desc, level, &mut scratch).validity() {
                Validity::Valid | Validity::Invalid => settled.push(index),
                Validity::Open => open.push(index),
            }
        }
        Self { suite: Arc::clone(suite), level, settled: settled.into(), open: open.into() }
    }

    /// The first case that shows a difference between a library and the right one. The reference does not
    /// pass a settled case, or only one of the two libraries allows an answer to an open case.
    pub(crate) fn notice(&self, library: &'static Library) -> Option<String> {
        let reference: Arc<Factory> = Arc::new(|_| Ok(Box::new(Reference::backend())));
        let answered = |by: &'static Library, judged_by| {
            (0..MOST_ANSWERS).find_map(|choice| {
                let answers: Arc<Factory> = Arc::new(move |_| Ok(Answers::backend(by, choice)));
                self.other_than(Verdict::Recorded, judged_by, &self.open, answers)
            })
        };
        self.other_than(Verdict::Pass, library, &self.settled, reference)
            .or_else(|| answered(Library::embedded(), library))
            .or_else(|| answered(library, Library::embedded()))
    }

    /// The first case with another verdict than `right`.
    fn other_than(
        &self,
        right: Verdict,
        library: &'static Library,
        indices: &Arc<[u64]>,
        backend: Arc<Factory>,
    ) -> Option<String> {
        let source = Chosen { suite: Arc::clone(&self.suite), indices: Arc::clone(indices), library };
        let configuration = Configuration {
            level: Some(self.level),
            jobs: 1,
            memory: MEMORY,
            runs: Runs::Once,
            retries: 0,
            max_failures: Some(1),
            record: true,
            ..Configuration::default()
        };
        let run = Run { library, source: Arc::new(source), backend, configuration, stop: Stop::default() };
        let mut first = None;
        let summary = dmlcts_runner::run(&run, &mut |event| {
            if let (dmlcts_runner::Event::Cases { cases, .. }, None) = (event, &first) {
                let other = cases.iter().find(|case| case.verdict != right);
                first = other.map(|case| format!("{} ({})", case.line, case.verdict));
            }
        });
        let summary = summary.unwrap_or_else(|error| panic!("{error}"));
        if let Some(why) = summary.lost {
            return Some(format!("the backend is lost: {why}"));
        }
        first
    }
}

/// Some cases of a suite, with descs of another library's operators.
struct Chosen {
    suite: Arc<SuiteSource>,
    indices: Arc<[u64]>,
    library: &'static Library,
}

impl CaseSource for Chosen {
    fn count(&self) -> Option<u64> {
        Some(self.indices.len() as u64)
    }

    fn strategies(&self) -> Vec<String> {
        self.suite.strategies()
    }

    fn cursor(&self) -> Box<dyn Cursor + '_> {
        Box::new(ChosenCursor { chosen: self, cursor: self.suite.cursor() })
    }
}

struct ChosenCursor<'a> {
    chosen: &'a Chosen,
    cursor: Box<dyn Cursor + 'a>,
}

impl Cursor for ChosenCursor<'_> {
    fn read(&mut self, index: u64, case: &mut Case) -> usize {
        let strategy = self.cursor.read(self.chosen.indices[index as usize], case);
        *case.desc = owned_by(self.chosen.library, &case.desc);
        strategy
    }
}

/// The same desc, of the operator with the same name in another library.
fn owned_by(library: &'static Library, desc: &Desc) -> Desc {
    let operator = library.operator(&desc.signature.operator).expect("the library has the operator");
    Desc { signature: Arc::clone(operator.signature()), ..desc.clone() }
}

/// A backend that gives one of the answers that a library allows.
struct Answers {
    library: &'static Library,
    capabilities: Capabilities,
    level: FeatureLevel,
    choice: usize,
}

/// An accepted desc, and the reading that its output follows; `None` for any output.
struct Accepted(Desc, Option<usize>);

impl Answers {
    fn backend(library: &'static Library, choice: usize) -> Box<dyn Pipelined> {
        let capabilities = Reference::backend().0.capabilities().clone();
        Box::new(Sequential(Self { library, capabilities, level: FeatureLevel::NEWEST, choice }))
    }
}

impl Operators for Answers {
    type Operator = Accepted;

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn set_feature_level(&mut self, level: FeatureLevel) {
        self.level = level;
    }

    fn create(&mut self, desc: &Desc) -> Result<Accepted, Refusal> {
        let desc = owned_by(self.library, desc);
        let operator = self.library.operator(&desc.signature.operator).expect("it owns the desc");
        let judgement = operator.judge(&desc, self.level, &mut Scratch::default());
        match judgement.validity() {
            Validity::Valid => return Ok(Accepted(desc, Some(0))),
            Validity::Invalid => return Err(Refusal::Invalid("a clause is broken".into())),
            Validity::Open => {}
        }
        let asked: Vec<_> = judgement.questions.iter().map(|place| &operator.questions()[place]).collect();
        let mut answers: Vec<Answer> =
            asked.iter().flat_map(|question| question.allow.iter().copied()).collect();
        // A desc may be accepted only if every question allows that.
        let accepts = |answer: &Answer| *answer != Answer::Reject;
        if !asked.iter().all(|question| question.allow.iter().any(accepts)) {
            answers.retain(|answer| !accepts(answer));
        }
        let mut seen = Vec::new();
        answers.retain(|answer| {
            !seen.contains(answer) && {
                seen.push(*answer);
                true
            }
        });
        match answers[self.choice % answers.len()] {
            Answer::Reject => Err(Refusal::Invalid("an open question allows this".into())),
            Answer::Accept => Ok(Accepted(desc, None)),
            Answer::Reading(reading) => Ok(Accepted(desc, Some(reading))),
        }
    }

    fn run(
        &mut self,
        Accepted(desc, reading): &mut Accepted,
        _: BindingOffsets,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), RunError> {
        let Some(reading) = *reading else {
            output.fill(0);
            return Ok(());
        };
        let operator = self.library.operator(&desc.signature.operator).expect("it owns the desc");
        let mut scratch = Scratch::default();
        let valid = operator
            .judge_valid(desc, self.level, &mut scratch)
            .map_err(|_| RunError::Failed("invalid".into()))?;
        let plan = operator.plan(valid, reading, &mut scratch);
        let done = plan.and_then(|mut plan| plan.execute(input, output));
        done.map_err(|error| RunError::Failed(error.to_string().into()))
    }
}
