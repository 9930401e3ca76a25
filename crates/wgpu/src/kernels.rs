//! The kernels, which are compiled at their first use. Each is one WGSL text, specialised by constants.

use std::sync::OnceLock;

use wgpu::BufferBindingType::{Storage, Uniform};

use crate::{device::Device, record::Class};

/// A kernel for one large case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LargeKernel {
    width: u32,
    folds: bool,
    windowed: bool,
    shape: Shape,
}

/// The text and the entry point of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Gather,
    Scatter,
    Transpose,
}

impl LargeKernel {
    const COUNT: usize = 48;

    /// The kernel for elements of this width, with or without folding, for a whole input or parts of it, and
    /// for packed or strided outputs.
    pub(crate) fn general(width: u32, folds: bool, windowed: bool, packed: bool) -> Self {
        let shape = if packed { Shape::Gather } else { Shape::Scatter };
        Self { width, folds, windowed, shape }
    }

    /// The kernel that moves tiles.
    pub(crate) fn transpose(width: u32) -> Self {
        Self { width, folds: false, windowed: false, shape: Shape::Transpose }
    }

    fn index(self) -> usize {
        (self.width.trailing_zeros() as usize & 3)
            | usize::from(self.folds) << 2
            | usize::from(self.windowed) << 3
            | (self.shape as usize) << 4
    }
}

/// The WGSL texts of all kernels. Tests of the test suite insert faults into them.
#[derive(Clone, Debug)]
pub struct Texts {
    /// The kernel for many small cases in one dispatch.
    pub batched: String,
    /// The kernels for one large case.
    pub large: String,
    /// The kernel for one large case whose rows are the input's columns.
    pub transposed: String,
}

impl Default for Texts {
    fn default() -> Self {
        Self {
            batched: include_str!("kernels/batched.wgsl").to_owned(),
            large: include_str!("kernels/large.wgsl").to_owned(),
            transposed: include_str!("kernels/transposed.wgsl").to_owned(),
        }
    }
}

/// All kernels of a device.
pub(crate) struct Kernels {
    /// The number of invocations in a workgroup of the batched kernel.
    lanes: u32,
    batched: CompiledKernel,
    gather: CompiledKernel,
    scatter: CompiledKernel,
    transpose: CompiledKernel,
    batched_pipelines: [OnceLock<wgpu::ComputePipeline>; Class::COUNT],
    large_pipelines: [OnceLock<wgpu::ComputePipeline>; LargeKernel::COUNT],
}

/// A compiled text, with its layouts.
pub(crate) struct CompiledKernel {
    module: wgpu::ShaderModule,
    /// The binding numbers of its buffers: parameters, inputs, outputs, trap.
    pub(crate) bindings: Vec<u32>,
    pub(crate) group: wgpu::BindGroupLayout,
    pipeline: wgpu::PipelineLayout,
    entry: &'static str,
}

impl Kernels {
    pub(crate) fn new(device: &wgpu::Device, texts: &Texts, lanes: u32) -> Self {
        let module = |label, text: &str| {
            device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(label),
                source: wgpu::ShaderSource::Wgsl(text.into()),
            })
        };
        let large = module("large", &texts.large);
        let (read, write) = (Storage { read_only: true }, Storage { read_only: false });
        let kind =
            |module: wgpu::ShaderModule, entry, bindings: &[(u32, wgpu::BufferBindingType)], dynamic| {
                let group = layout(device, bindings, dynamic);
                let pipeline = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                    label: Some(entry),
                    bind_group_layouts: &[Some(&group)],
                    ..wgpu::PipelineLayoutDescriptor::default()
                });
                let bindings = bindings.iter().map(|(binding, _)| *binding).collect();
                CompiledKernel { module, bindings, group, pipeline, entry }
            };
        let gathered = [(0, Uniform), (1, read), (2, read), (3, write), (4, write)];
        let scattered = [(0, Uniform), (1, read), (2, read), (5, write), (4, write)];
        let transposed = [(0, Uniform), (1, read), (2, write), (3, write)];
        Self {
            lanes,
            batched: kind(module("batched", &texts.batched), "run", &gathered, true),
            gather: kind(large.clone(), "gather", &gathered, false),
            scatter: kind(large, "scatter", &scattered, false),
            transpose: kind(module("transposed", &texts.transposed), "run", &transposed, false),
            batched_pipelines: std::array::from_fn(|_| OnceLock::new()),
            large_pipelines: std::array::from_fn(|_| OnceLock::new()),
        }
    }

    /// The number of invocations in a workgroup of the batched kernel.
    pub(crate) fn lanes(&self) -> u32 {
        self.lanes
    }

    /// The bind group layout of the batched kernels.
    pub(crate) fn batched_layout(&self) -> &wgpu::BindGroupLayout {
        &self.batched.group
    }

    /// The text of a kernel.
    pub(crate) fn kind(&self, kernel: LargeKernel) -> &CompiledKernel {
        match kernel.shape {
            Shape::Gather => &self.gather,
            Shape::Scatter => &self.scatter,
            Shape::Transpose => &self.transpose,
        }
    }

    /// The batched kernel for a class.
    pub(crate) fn batched(&self, device: &Device, class: Class) -> &wgpu::ComputePipeline {
        self.batched_pipelines[class.index() % Class::COUNT].get_or_init(|| {
            let constants = [
                ("LANES", f64::from(self.lanes)),
                ("WIDTH", f64::from(class.width)),
                ("FOLDS", f64::from(u8::from(class.folds))),
                ("PACKED", f64::from(u8::from(class.packed))),
            ];
            self.batched.compile(device, &constants)
        })
    }

    /// A kernel for one large case.
    pub(crate) fn large(&self, device: &Device, kernel: LargeKernel) -> &wgpu::ComputePipeline {
        self.large_pipelines[kernel.index() % LargeKernel::COUNT].get_or_init(|| {
            let constants = [
                ("WIDTH", f64::from(kernel.width)),
                ("FOLDS", f64::from(u8::from(kernel.folds))),
                ("WINDOWED", f64::from(u8::from(kernel.windowed))),
            ];
            let used = if kernel.shape == Shape::Transpose { &constants[..1] } else { &constants };
            self.kind(kernel).compile(device, used)
        })
    }
}

impl CompiledKernel {
    fn compile(&self, device: &Device, constants: &[(&str, f64)]) -> wgpu::ComputePipeline {
        device.handle.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(self.entry),
            layout: Some(&self.pipeline),
            module: &self.module,
            entry_point: Some(self.entry),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants,
                // No kernel reads workgroup memory that it has not written.
                zero_initialize_workgroup_memory: false,
            },
            cache: None,
        })
    }
}

fn layout(
    device: &wgpu::Device,
    bindings: &[(u32, wgpu::BufferBindingType)],
    dynamic: bool,
) -> wgpu::BindGroupLayout {
    let entries: Vec<wgpu::BindGroupLayoutEntry> = bindings
        .iter()
        .map(|&(binding, ty)| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty,
                has_dynamic_offset: dynamic && ty == Uniform,
                min_binding_size: None,
            },
            count: None,
        })
        .collect();
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries })
}
