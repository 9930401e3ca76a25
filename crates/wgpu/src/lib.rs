//! SLICE, SLICE1 and PADDING1 as WGSL compute shaders, through wgpu: on Vulkan, Direct3D 12, Metal or OpenGL,
//! or on a software driver if there is no GPU.
//!
//! ```no_run
//! let gpu = dmlcts_wgpu::Gpu::open("")?; // the most powerful adapter
//! let backend = gpu.backend(); // one a thread; all share the adapter's device
//! # Ok::<(), dmlcts_wgpu::OpenError>(())
//! ```
//!
//! # The path of a batch
//!
//! Each desc is validated and becomes a plan: a few axes with strides and folds. Small plans are packed into
//! records. The records go to the device with the parts of the batch's arenas that hold their tensors. There
//! is one dispatch for each class of kernel, with one workgroup for each case. A plan that is not small has
//! dispatches of its own. All uploaded outputs come back whole. The next batch can be prepared in the
//! meantime.
//!
//! # Hazards
//!
//! | seen on devices | remedy |
//! |---|---|
//! | lavapipe before Mesa 25 ends an invocation silently after 65,535 loop iterations | the self-test detects it; no invocation takes more than 8,000, and larger cases get more invocations |
//! | bindings of 128 MiB | larger tensors are bound in parts, with a dispatch for each part of the input and of the output |
//! | 65,535 workgroups in a dimension | workgroups are arranged in rows |
//! | bounds checks apply to a binding, not to a case | the kernels check every offset against the span of its case; guards around each output are compared; gaps between inputs are poisoned |
//! | new buffers read as zero | outputs are uploaded with the runner's poison |
//! | the default error handler panics | scopes around each batch catch errors, and a handler records all others |
//! | after a loss, writes and submissions fail silently | only mapped data counts as an answer; the next batch runs on a new device |
//! | a map callback may run after the poll that completed it, if threads share a device | the backend waits for the callback |
//! | dropping a busy device waits for it | an abandoned device is never dropped |
//! | a loss first appears as a mistake of the caller | the device is polled before a fault is named |
//! | floating-point loads change NaNs and denormals | elements are moved as 32-bit words |
//! | buffers are overcommitted without an error | the buffers of all threads are counted; a thread that would exceed [`Options::memory`] waits for others, or gets an error. Tensors above 1 GiB are declared too large |
//! | several invocations write bytes of one word | packed: each word has one invocation; strided: each invocation flips the differing bits of its own element atomically |

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
