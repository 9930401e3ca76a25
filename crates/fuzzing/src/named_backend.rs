//! The backend that an environment variable names, for the target `backend`.

use std::{env, fmt::Display, sync::Arc, time::Duration};

use dmlcts_backend::{
    Backend, Batch, Capabilities, Operators, Purpose, Refusal, Run, RunError,
    dylib::Dylib,
    process::{Command, Launcher},
};
use dmlcts_model::{BindingOffsets, Desc, ErrorCode, Outcome, Phase};
use dmlcts_spec::Library;

/// The variable that names the backend.
const VARIABLE: &str = "DMLCTS_FUZZ_BACKEND";
/// The time that a process may be silent.
const CASE_TIMEOUT: Duration = Duration::from_secs(10);

/// A backend that runs one case at a time, at its own feature level.
pub struct NamedBackend {
    backend: Box<dyn Backend>,
    capabilities: Capabilities,
    batch: Batch,
}

impl NamedBackend {
    /// Opens the backend that `DMLCTS_FUZZ_BACKEND` names.
    ///
    /// # Errors
    ///
    /// The variable is not set, or [`Self::open`] fails.
    pub fn from_environment() -> Result<Self, String> {
        let name = env::var(VARIABLE).map_err(|error| {
            format!("{VARIABLE}: {error}; set it to a backend: {VARIABLE}='exec:python3 mine.py'")
        })?;
        Self::open(&name).map_err(|error| format!("{VARIABLE}={name}: {error}"))
    }

    /// Opens `exec:<command>` or `dylib:<path>`. The built-in backends are not linked, since wgpu alone would
    /// quadruple the crates that are built with a sanitizer: `exec:dmlcts serve` runs them.
    ///
    /// # Errors
    ///
    /// The name is of another kind, or the backend does not start.
    pub fn open(name: &str) -> Result<Self, String> {
        let failed = |error: &dyn Display| format!("{error}; `dmlcts doctor --backend '{name}'` says more");
        let backend: Box<dyn Backend> = match name.split_once(':') {
            Some(("exec", command)) => {
                let command = Command::parse(command)
                    .map_err(|error| format!("{error}; write a command behind exec:"))?;
                let launcher =
                    Launcher::new(command, CASE_TIMEOUT).with_operators(Library::embedded().signatures());
                let host = Arc::new(launcher).host(Purpose::Cases);
                Box::new(host.map_err(|error| failed(&error))?)
            }
            Some(("dylib", path)) => {
                let opened = Dylib::load(path).and_then(|library| library.open());
                Box::new(opened.map_err(|error| failed(&error))?)
            }
            _ => {
                return Err(format!(
                    "neither exec:<command> nor dylib:<path>; for a backend of dmlcts, write 'exec:dmlcts serve --backend {name}'"
                ));
            }
        };
        let capabilities = Capabilities { can_set_feature_level: false, ..backend.capabilities().clone() };
        Ok(Self { backend, capabilities, batch: Batch::default() })
    }

    /// The outcome of one job.
    fn outcome(&mut self) -> Outcome {
        self.backend.run(&mut self.batch);
        match self.backend.lost() {
            Some(reason) => Outcome::Crashed(reason.to_owned().into()),
            None => self.batch.jobs()[0].outcome.clone(),
        }
    }
}

impl Operators for NamedBackend {
    /// A process keeps no operator from one batch to the next.
    type Operator = Desc;

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn create(&mut self, desc: &Desc) -> Result<Desc, Refusal> {
        self.batch.clear();
        self.batch.push(desc, BindingOffsets::default());
        Err(match self.outcome() {
            Outcome::Accepted => return Ok(desc.clone()),
            Outcome::Unsupported(reason) => Refusal::Unsupported(reason),
            Outcome::Rejected { phase: Phase::Create, code: ErrorCode::INVALID_ARGUMENT, reason } => {
                Refusal::Invalid(reason)
            }
            Outcome::Rejected { code, reason, .. } => Refusal::Other(code, reason),
            other => Refusal::Failed(format!("{other:?}").into()),
        })
    }

    fn run(
        &mut self,
        desc: &mut Desc,
        binding: BindingOffsets,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), RunError> {
        self.batch.clear();
        self.batch.inputs.extend_from_slice(input);
        self.batch.outputs.extend_from_slice(output);
        let job = self.batch.push(desc, binding);
        job.runs.push(Run { input: 0..input.len(), output: 0..output.len() });
        match self.outcome() {
            Outcome::Output => {
                output.copy_from_slice(&self.batch.outputs);
                Ok(())
            }
            other => Err(RunError::Failed(format!("{other:?}").into())),
        }
    }
}
