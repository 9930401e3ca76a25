#![doc = include_str!("../../PROTOCOL.md")]

mod cannot_start;
mod frame;
mod guards;
mod hello;
mod operators;
mod packed;
mod question;
mod results;
mod run;
mod serve;
mod stdio;

pub use cannot_start::{CannotStart, refuse};
pub(crate) use frame::message;
pub use frame::{Bounds, Frame, FrameError, FrameKind, MAGIC, PREFIX, prefix, write_frame};
pub(crate) use guards::GUARD;
pub use hello::{Bye, Hello, HostHello, LONGEST_HELLO, LackForm, LevelForm, LimitsForm, Ranks, VERSION};
pub(crate) use hello::{LONGEST, MOST, another_version, check_text, short, speaks};
pub use operators::{DescMemberForm, EnumerationForm, KindForm, OperatorForm};
pub(crate) use operators::{forms, signatures};
pub use packed::{PackedForm, read_packed};
pub(crate) use question::{Manner, question};
pub use results::{OutcomeWord, PhaseForm, PhaseWord, Results, TimesForm};
pub use run::{BindingForm, ListForm, MemberForm, RunForm, TensorForm, read_run};
pub use serve::{ServeError, serve};
pub use stdio::{claim_stdout, end_with_parent};

/// The longest header of a frame behind the `hello`, in bytes.
pub const LONGEST_HEADER: u64 = 64 << 20;
