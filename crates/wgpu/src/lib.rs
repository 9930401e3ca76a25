//! SLICE, SLICE1 and PADDING1 as WGSL compute, through wgpu: on Vulkan, Direct3D 12, Metal or OpenGL, and where there is no
//! GPU, on a driver in software.

mod adapter;
mod backend;
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
