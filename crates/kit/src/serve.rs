//! A backend as a process of its own, which speaks dmlcts's protocol on standard input and output.

use std::{fmt, io, process::ExitCode};

use dmlcts_backend::{
    Interleaved, Operators,
    protocol::{self, claim_stdout, end_with_parent, refuse},
};

/// Opens a backend and answers the host on standard input and output, until the host ends the conversation.
/// `dmlcts run --backend exec:PROGRAM` runs a program whose `main` is this call.
///
/// ```no_run
/// # use dmlcts_kit::{BindingOffsets, Desc, Operators, Refusal, RunError};
/// # struct Gpu;
/// # impl Gpu { fn open() -> Result<Self, String> { Ok(Self) } }
/// # impl Operators for Gpu {
/// #     type Operator = ();
/// #     fn create(&mut self, _: &Desc) -> Result<(), Refusal> { Ok(()) }
/// #     fn run(&mut self, _: &mut (), _: BindingOffsets, _: &[u8], _: &mut [u8]) -> Result<(), RunError> {
/// #         Ok(())
/// #     }
/// # }
/// fn main() -> std::process::ExitCode {
///     dmlcts_kit::serve(Gpu::open)
/// }
/// ```
pub fn serve<T: Operators, E: fmt::Display>(open: impl FnOnce() -> Result<T, E>) -> ExitCode {
    match answer(open) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            // The exit code tells the host, if nothing reads this.
            let _ = io::Write::write_all(&mut io::stderr(), format!("{reason}\n").as_bytes());
            ExitCode::FAILURE
        }
    }
}

fn answer<T: Operators, E: fmt::Display>(open: impl FnOnce() -> Result<T, E>) -> Result<(), String> {
    let failed = |error: io::Error| format!("the backend cannot be served: {error}");
    end_with_parent(None).map_err(failed)?;
    // Libraries and drivers may print while they are loaded.
    let mut output = claim_stdout().map_err(failed)?;
    let mut input = io::stdin().lock();
    match open() {
        Ok(backend) => protocol::serve(&mut Interleaved::new(backend), &mut input, &mut output)
            .map_err(|error| error.to_string()),
        Err(error) => {
            let reason = format!("the backend cannot be opened: {error}");
            refuse(&reason, &mut input, &mut output).map_err(failed)?;
            Err(reason)
        }
    }
}
