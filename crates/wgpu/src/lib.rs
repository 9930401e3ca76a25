//! SLICE, SLICE1 and PADDING1 as WGSL compute, through wgpu: on Vulkan, Direct3D 12, Metal or OpenGL, and where there is no
//! GPU, on a driver in software.
//!
//! ```no_run
//! let gpu = dmlcts_wgpu::Gpu::open("")?; // the most powerful adapter
//! let backend = gpu.backend(); // one a thread; all share the adapter's device
//! # Ok::<(), dmlcts_wgpu::OpenError>(())
//! ```
//!
//! # How a batch goes
//!
//! Each desc is validated and becomes a plan: a few axes, with strides and folds. Small plans are packed into records that go to
//! the device together with the parts of the batch's arenas that they lie in: one dispatch for each class of kernel, a
//! workgroup a case. Any other plan has dispatches of its own. What is uploaded comes back whole. The next batch can be
//! prepared meanwhile.
//!
//! # Hazards
//!
//! | seen on devices | what is done |
//! |---|---|
//! | lavapipe before Mesa 25 ends an invocation silently after 65,535 loop iterations | the self-test finds it; no invocation takes more than 8,000, and larger cases get more invocations |
//! | bindings of 128 MiB | larger tensors are bound in parts, a dispatch for each part of the input and of the output |
//! | 65,535 workgroups in a dimension | workgroups lie in rows |
//! | bounds checks act on a binding and not on a case | the kernels check every place against its case's span; guards beside each output are compared; gaps between inputs are poisoned |
//! | fresh buffers read as zero | outputs are uploaded with the poison that the runner put there |
//! | the default handler of errors panics | errors are caught by scopes around each batch, and what no scope catches is noted |
//! | after a loss, writes and submissions are silent | only what a map returned is taken for an answer; the next batch runs on a new device |
//! | a map's callback may come after the poll that found it done, where threads share a device | the answer is waited for, not looked for |
//! | dropping a busy device waits for it | one that is given up is never dropped |
//! | a loss is first seen as a mistake of the caller | the device is polled before a fault is named |
//! | floating-point loads change NaNs and denormals | elements are moved as 32-bit words |
//! | buffers are overcommitted without an error | all buffers of all threads are counted; whoever would exceed [`Options::memory`] waits for others, or is told that there is no more. Tensors above 1 GiB are declared too large |
//! | invocations that write bytes of one word | packed: a word is one invocation's; strided: each flips the bits of its own element that differ, atomically |

mod adapter;
mod backend;
mod budget;
mod create;
mod device;
mod flight;
mod gpu;
mod kernels;
mod large;
mod measure;
mod plan;
mod record;
mod segment;
mod self_test;

pub use adapter::OpenError;
pub use backend::Wgpu;
pub use gpu::{Gpu, Options};
pub use kernels::Texts;
pub use self_test::Findings;
