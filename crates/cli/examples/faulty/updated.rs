//! A driver before and after an update: the reference with the faults that its arguments name.

use dmlcts_backend::{Backend, Batch, Capabilities, Job};
use dmlcts_model::{DataType, ErrorCode, FeatureLevel, Outcome, Phase};
use dmlcts_reference::Reference;
use dmlcts_spec::{Judgement, Library, Scratch};

/// The reference with faults.
struct Faulty {
    inner: Box<dyn Backend>,
    capabilities: Capabilities,
    faults: String,
    calls: usize,
    /// The rank of the case before.
    before: u32,
    /// The state of the draws of faults by chance.
    state: u64,
}

/// The backend `mine` with this driver and these faults, separated by commas. Of `wrong-once-in-20:7`, the
/// last number is the seed.
pub(crate) fn backend(driver: &str, faults: &str) -> impl Backend {
    let inner = Box::new(Reference::backend());
    let mut capabilities = inner.capabilities().clone();
    (capabilities.name, capabilities.driver) = ("mine".to_owned(), driver.to_owned());
    if faults.contains("no-float64") {
        capabilities.data_types.retain(|data_type| *data_type != DataType::FLOAT64);
    }
    let seed = faults.rsplit_once(':').and_then(|(_, seed)| seed.parse().ok());
    Faulty {
        inner,
        capabilities,
        faults: faults.to_owned(),
        calls: 0,
        before: 0,
        state: seed.unwrap_or_default(),
    }
}

impl Backend for Faulty {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn set_feature_level(&mut self, level: FeatureLevel) {
        self.inner.set_feature_level(level);
    }

    fn run(&mut self, batch: &mut Batch) {
        self.inner.run(batch);
        let (jobs, _, outputs) = batch.parts();
        for job in jobs {
            self.spoil(job, outputs);
        }
    }
}

impl Faulty {
    fn spoil(&mut self, job: &mut Job, outputs: &mut [u8]) {
        if job.outcome == Outcome::Output && self.draws("crash") {
            std::process::exit(7);
        }
        if job.outcome == Outcome::Output && self.draws("wrong") {
            let flip = self.draw_byte() | 1;
            job.runs.iter().for_each(|run| outputs[run.output.start] ^= flip);
        }
        let has = |fault: &str| self.faults.split(',').any(|one| one == fault);
        let operator = Library::embedded().operator(&job.desc.signature.operator).expect("it has all");
        let judgement = operator.judge(&job.desc, FeatureLevel::NEWEST, &mut Scratch::default());
        let is_slice = operator.name() == "SLICE";
        let rank = job.desc.output.as_ref().map_or(0, |output| output.dimension_count);
        let before = std::mem::replace(&mut self.before, rank);
        if has("slow") {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let refused =
            |phase| Outcome::Rejected { phase, code: ErrorCode::INVALID_ARGUMENT, reason: "".into() };
        let breaks = |clause: &str| {
            let broken: Vec<&str> = names(judgement, operator);
            broken == [clause]
        };
        if breaks("slice.reads-in-bounds") && has("late-refusal") {
            job.outcome = refused(Phase::Compile);
        }
        let asks = judgement.questions.iter().any(|place| {
            operator.questions().get(place).is_some_and(|one| one.id == "slice.input.total-size-multiple")
        });
        if asks && judgement.violated.is_empty() && has("other-answer") {
            job.outcome = refused(Phase::Create);
        }
        if job.outcome != Outcome::Output || !is_slice || !judgement.questions.is_empty() {
            return;
        }
        let flip = match rank {
            2 if has("wrong-at-2") => 1,
            2 if has("other-bytes-at-2") => 2,
            2 if self.faults.starts_with("garbage-at-2") => self.draw_byte() | 1,
            3 if has("wrong-at-3") => 1,
            1 if has("wrong-after-rank-4") && before == 4 => 1,
            5 if has("flaky-at-5") => {
                self.calls += 1;
                u8::from(self.calls % 3 == 1)
            }
            _ => 0,
        };
        job.runs.iter().for_each(|run| outputs[run.output.start] ^= flip);
    }

    /// Whether a fault by chance, such as `wrong-once-in-20:7`, shows in the next case.
    fn draws(&mut self, what: &str) -> bool {
        let Some((_, rest)) = self.faults.split_once(&format!("{what}-once-in-")) else { return false };
        let digits = rest.split(|letter: char| !letter.is_ascii_digit()).next().unwrap_or_default();
        let rate: u64 = digits.parse().expect("a number of cases");
        self.draw_byte();
        (self.state >> 33).is_multiple_of(rate)
    }

    fn draw_byte(&mut self) -> u8 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 56) as u8
    }
}

fn names(judgement: Judgement, operator: &dmlcts_spec::Operator) -> Vec<&str> {
    let clauses = judgement.violated.iter().filter_map(|place| operator.clauses().get(place));
    clauses.map(|clause| clause.id.as_str()).collect()
}
