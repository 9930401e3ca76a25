//! Faults that lists of known failures describe: one of the [`BUGS`] of real libraries, or a change of the
//! output of each case in which a stride of SLICE1 is negative.

use dmlcts_backend::{Backend, Batch, Capabilities, Job, Lack};
use dmlcts_model::{DataType, FeatureLevel, List, Outcome, Phase, Tensor, Value};
use dmlcts_reference::Reference;

use crate::bugs::BUGS;

/// Runs the reference, and then a closure.
struct Spoiled {
    inner: Box<dyn Backend>,
    capabilities: Capabilities,
    way: String,
    /// The number of runs of operators so far.
    runs: u64,
}

/// The reference with a fault of this name. It declares to lack the descs of SLICE1 with this condition.
pub(crate) fn backend(way: &str, lacks: Option<&str>) -> impl Backend {
    let mut inner: Box<dyn Backend> = Box::new(Reference::backend());
    let mut capabilities = Capabilities {
        name: "wrong".to_owned(),
        driver: "Spoiler 2.5.1".to_owned(),
        lacks: lacks.into_iter().map(lack).collect(),
        ..inner.capabilities().clone()
    };
    if way == "fails-before-doubles" {
        // The last level at which FLOAT64 is invalid.
        let level = FeatureLevel::from_code(0x4000).expect("a feature level");
        (capabilities.feature_level, capabilities.can_set_feature_level) = (level, false);
        inner.set_feature_level(level);
    }
    Spoiled { inner, capabilities, way: way.to_owned(), runs: 0 }
}

fn lack(condition: &str) -> Lack {
    let (operator, condition) = ("SLICE1".to_owned(), condition.to_owned());
    Lack { operator, condition, reason: "nothing goes backwards".to_owned() }
}

impl Backend for Spoiled {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn set_feature_level(&mut self, level: FeatureLevel) {
        self.inner.set_feature_level(level);
    }

    fn run(&mut self, batch: &mut Batch) {
        let Self { inner, way, .. } = self;
        if let Some((_, bug)) = BUGS.iter().find(|(name, _)| name == way) {
            return bug.run(batch, |batch| inner.run(batch));
        }
        let before = batch.outputs.clone();
        self.inner.run(batch);
        let (jobs, _, outputs) = batch.parts();
        if self.way == "by-chance" {
            for run in jobs.iter().filter(|job| job.outcome == Outcome::Output).flat_map(|job| &job.runs) {
                self.runs += 1;
                if self.runs % 2_000 == 1_000 {
                    outputs[run.output.clone()].iter_mut().for_each(|byte| *byte = !*byte);
                }
            }
            return;
        }
        if self.way == "declines-for-two-reasons" {
            for job in
                jobs.iter_mut().filter(|job| is_created(job) && job.desc.signature.operator == "SLICE1")
            {
                if walks_back(job) {
                    let reason =
                        if is_double(job) { "no doubles backwards" } else { "nothing goes backwards" };
                    job.outcome = Outcome::Unsupported(reason.into());
                }
            }
            return;
        }
        if self.way == "declines-slice1" {
            for job in
                jobs.iter_mut().filter(|job| is_created(job) && job.desc.signature.operator == "SLICE1")
            {
                job.outcome = Outcome::Unsupported("not written yet".into());
            }
            return;
        }
        if self.way == "fails-before-doubles" {
            for job in jobs.iter_mut().filter(|job| !is_created(job) && is_double(job)) {
                job.outcome = Outcome::Failed { phase: Phase::Create, reason: "what is a double?".into() };
            }
            return;
        }
        if self.way == "declines" {
            for job in jobs.iter_mut().filter(|job| is_created(job) && walks_back(job)) {
                job.outcome = Outcome::Unsupported("nothing goes backwards".into());
            }
        }
        let scatters = self.way == "scattered";
        let is_spoiled = |job: &&mut Job| {
            job.outcome == Outcome::Output && is_plain(job) && (walks_back(job) || scatters && is_third(job))
        };
        for job in jobs.iter_mut().filter(is_spoiled) {
            let way = if !scatters {
                self.way.as_str()
            } else if walks_back(job) {
                "unwritten"
            } else {
                "inverted"
            };
            for run in &job.runs {
                let output = &mut outputs[run.output.clone()];
                match way {
                    "two-ways" if is_half(job) => output.copy_from_slice(&before[run.output.clone()]),
                    "two-ways" => output.iter_mut().for_each(|byte| *byte = !*byte),
                    // No value is its own inverse, and no NaN, zero or denormal has an inverse that is one of
                    // them.
                    "inverted" => output.iter_mut().for_each(|byte| *byte = !*byte),
                    "unwritten" => output.copy_from_slice(&before[run.output.clone()]),
                    "quieting" if is_half(job) => output.as_chunks_mut().0.iter_mut().for_each(quiet_nan),
                    "ends-at-three"
                        if job
                            .desc
                            .input
                            .as_ref()
                            .is_some_and(|input| input.sizes.as_deref() == Some(&[4, 4])) =>
                    {
                        std::process::exit(7);
                    }
                    _ => {}
                }
            }
        }
    }
}

/// Whether a stride is negative, which only SLICE1 allows.
fn walks_back(job: &Job) -> bool {
    let is_negative = |list: &List| list.iter().any(|value| *value < 0);
    job.desc.members.iter().any(|value| matches!(value, Value::List(Some(list)) if is_negative(list)))
}

/// Whether the sum of the sizes is a multiple of three, which no predicate can say.
fn is_third(job: &Job) -> bool {
    let sizes = job.desc.input.as_ref().and_then(|input| input.sizes.as_ref());
    sizes.is_some_and(|sizes| sizes.iter().sum::<i64>() % 3 == 1)
}

/// Whether the operator was created.
fn is_created(job: &Job) -> bool {
    matches!(job.outcome, Outcome::Output | Outcome::Accepted)
}

fn is_double(job: &Job) -> bool {
    job.desc.output.as_ref().is_some_and(|output| output.data_type == DataType::FLOAT64)
}

fn is_half(job: &Job) -> bool {
    job.desc.output.as_ref().is_some_and(|output| output.data_type == DataType::FLOAT16)
}

/// Sets the bit that makes a NaN quiet.
fn quiet_nan(element: &mut [u8; 2]) {
    let bits = u16::from_le_bytes(*element);
    if bits & 0x7FFF > 0x7C00 {
        *element = (bits | 0x0200).to_le_bytes();
    }
}

/// Whether the tensors raise no question.
fn is_plain(job: &Job) -> bool {
    let is_plain =
        |tensor: &Tensor| tensor.total_size.is_multiple_of(4) && !(1..16).contains(&tensor.alignment);
    [&job.desc.input, &job.desc.output].into_iter().flatten().all(is_plain)
}
