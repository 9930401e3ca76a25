//! The simplest way to write a backend: one operator at a time.

use std::borrow::Cow;

use dmlcts_model::{BindingOffsets, Desc, ErrorCode, FeatureLevel, Mismatch, Outcome, Phase};

use crate::{Backend, Batch, Capabilities, Job, Pipelined};

/// A backend that creates and runs one operator at a time. [`Sequential`] turns it into a [`Backend`].
///
/// A complete example, which supports only the copy of a packed tensor:
///
/// ```
/// use dmlcts_backend::{Backend, Capabilities, Operators, Refusal, RunError, Sequential};
/// use dmlcts_model::{BindingOffsets, Desc};
///
/// struct Mine(Capabilities);
///
/// impl Operators for Mine {
///     type Operator = usize; // how many bytes to copy
///
///     fn capabilities(&self) -> &Capabilities {
///         &self.0
///     }
///
///     fn create(&mut self, desc: &Desc) -> Result<usize, Refusal> {
///         let (Some(input), Some(output)) = (&desc.input, &desc.output) else {
///             return Err(Refusal::Invalid("a tensor is null".into()));
///         };
///         match desc.signature.operator.as_str() {
///             "SLICE" if input == output && input.strides.is_none() => Ok(input.total_size as usize),
///             other => Err(Refusal::Unsupported(format!("{other} is not there yet").into())),
///         }
///     }
///
///     fn run(&mut self, &mut bytes: &mut usize, _: BindingOffsets, input: &[u8], output: &mut [u8])
///         -> Result<(), RunError>
///     {
///         output[..bytes].copy_from_slice(&input[..bytes]);
///         Ok(())
///     }
/// }
///
/// let only = Capabilities { operators: Some(vec!["SLICE".into()]), ..Capabilities::new("mine", "0.1") };
/// assert_eq!(Sequential(Mine(only)).capabilities().name, "mine");
/// ```
pub trait Operators: Send {
    /// A created operator.
    type Operator;

    /// What the backend is and what it supports. By default, everything at the newest feature level, under
    /// the name and version of [`Capabilities::of_program`]: those of the package only while Cargo runs the
    /// program. A crate gives its own: `Capabilities::new(env!("CARGO_PKG_NAME"),
    /// env!("CARGO_PKG_VERSION"))`.
    fn capabilities(&self) -> &Capabilities {
        Capabilities::of_program()
    }

    /// See [`Backend::set_feature_level`].
    fn set_feature_level(&mut self, _level: FeatureLevel) {}

    /// Creates an operator, or refuses.
    fn create(&mut self, desc: &Desc) -> Result<Self::Operator, Refusal>;

    /// Runs an operator. `input` and `output` each have the tensor's `TotalTensorSizeInBytes`. They begin at
    /// the first byte of the tensor: `binding` is only for a backend that copies them into buffers of its
    /// own.
    fn run(
        &mut self,
        operator: &mut Self::Operator,
        binding: BindingOffsets,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), RunError>;
}

/// Why an operator was not created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The desc is invalid, with the reason in the backend's own words.
    Invalid(Cow<'static, str>),
    /// The desc may be valid, but this backend does not support it.
    Unsupported(Cow<'static, str>),
    /// The operator was refused for another reason, such as a lack of memory.
    Other(ErrorCode, Cow<'static, str>),
    /// The operator was not refused: creating it failed, for this reason.
    Failed(Cow<'static, str>),
}

/// Why a run failed, in the backend's own words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// An error.
    #[error("{0}")]
    Failed(Cow<'static, str>),
    /// The result has other sizes than the output: both, such as `[2, 3], expected [2, 4]`.
    #[error("a result of other sizes: {0}")]
    WrongShape(Cow<'static, str>),
    /// The result has another data type than the output: both.
    #[error("a result of another data type: {0}")]
    WrongType(Cow<'static, str>),
}

impl From<RunError> for Outcome {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Failed(reason) => Self::Failed { phase: Phase::Execute, reason },
            RunError::WrongShape(reason) => Self::Mismatched { what: Mismatch::Shape, reason },
            RunError::WrongType(reason) => Self::Mismatched { what: Mismatch::Type, reason },
        }
    }
}

impl From<Refusal> for Outcome {
    fn from(refusal: Refusal) -> Self {
        let (code, reason) = match refusal {
            Refusal::Invalid(reason) => (ErrorCode::INVALID_ARGUMENT, reason),
            Refusal::Other(code, reason) => (code, reason),
            Refusal::Unsupported(reason) => return Self::Unsupported(reason),
            Refusal::Failed(reason) => return Self::Failed { phase: Phase::Create, reason },
        };
        Self::Rejected { phase: Phase::Create, code, reason }
    }
}

/// Turns [`Operators`] into a [`Backend`].
#[derive(Debug)]
pub struct Sequential<T>(pub T);

impl<T: Operators> Backend for Sequential<T> {
    fn capabilities(&self) -> &Capabilities {
        self.0.capabilities()
    }

    fn set_feature_level(&mut self, level: FeatureLevel) {
        self.0.set_feature_level(level);
    }

    fn run(&mut self, batch: &mut Batch) {
        self.run_in_phases(batch, &mut |_| ());
    }

    fn run_in_phases(&mut self, batch: &mut Batch, enter: &mut dyn FnMut(Phase)) {
        let (jobs, inputs, outputs) = batch.parts();
        for job in jobs {
            self.run_job(job, inputs, outputs, enter);
        }
    }
}

impl<T: Operators> Pipelined for Sequential<T> {}

impl<T: Operators> Sequential<T> {
    fn run_job(&mut self, job: &mut Job, inputs: &[u8], outputs: &mut [u8], enter: &mut dyn FnMut(Phase)) {
        enter(Phase::Create);
        // An operator may be large, so it is not moved after its creation.
        let mut created = self.0.create(&job.desc);
        job.outcome = match &mut created {
            Err(refusal) => refusal.clone().into(),
            Ok(_) if job.runs.is_empty() => Outcome::Accepted,
            Ok(operator) => job
                .runs
                .iter()
                .find_map(|run| {
                    enter(Phase::Execute);
                    let output = &mut outputs[run.output.clone()];
                    self.0.run(operator, job.binding, &inputs[run.input.clone()], output).err()
                })
                .map_or(Outcome::Output, Outcome::from),
        };
    }
}
