//! The structs of `DirectML.h`, with the C++ type of each member.

use std::{ffi::c_void, fmt, mem::offset_of};

use super::enumerations::{
    DML_BINDING_TYPE, DML_FEATURE_LEVEL, DML_OPERATOR_TYPE, DML_PADDING_MODE, DML_TENSOR_DATA_TYPE,
    DML_TENSOR_FLAGS, DML_TENSOR_TYPE,
};

/// A type of a member, and its name in C++.
pub(super) trait Spelled {
    /// The declaration of this type in the header.
    const CPP: &'static str;
}

/// Declares the C++ names of types.
macro_rules! spelled {
    ($($rust:ty: $cpp:literal,)*) => { $(impl Spelled for $rust { const CPP: &'static str = $cpp; })* };
}

spelled! {
    u32: "UINT",
    u64: "UINT64",
    i32: "BOOL",
    *const u32: "const UINT*",
    *const i32: "const INT*",
    *const c_void: "const void*",
    *const DML_TENSOR_DESC: "const DML_TENSOR_DESC*",
    *const DML_BUFFER_BINDING: "const DML_BUFFER_BINDING*",
    *const DML_FEATURE_LEVEL: "const DML_FEATURE_LEVEL*",
    *mut ID3D12Resource: "ID3D12Resource*",
    *mut IDMLDispatchable: "IDMLDispatchable*",
    D3D12_CPU_DESCRIPTOR_HANDLE: "D3D12_CPU_DESCRIPTOR_HANDLE",
    D3D12_GPU_DESCRIPTOR_HANDLE: "D3D12_GPU_DESCRIPTOR_HANDLE",
    DML_TENSOR_TYPE: "DML_TENSOR_TYPE",
    DML_TENSOR_DATA_TYPE: "DML_TENSOR_DATA_TYPE",
    DML_TENSOR_FLAGS: "DML_TENSOR_FLAGS",
    DML_OPERATOR_TYPE: "DML_OPERATOR_TYPE",
    DML_PADDING_MODE: "DML_PADDING_MODE",
    DML_SCALAR_UNION: "DML_SCALAR_UNION",
    DML_BINDING_TYPE: "DML_BINDING_TYPE",
    DML_FEATURE_LEVEL: "DML_FEATURE_LEVEL",
}

/// The expected layout of a struct.
pub(super) struct StructLayout {
    pub(super) name: &'static str,
    pub(super) size: usize,
    pub(super) alignment: usize,
    pub(super) members: &'static [Place],
}

/// The offset of a member in bytes, and its C++ type.
pub(super) struct Place {
    pub(super) name: &'static str,
    pub(super) offset: usize,
    pub(super) cpp: &'static str,
}

/// Declares structs together with their expected layouts.
macro_rules! structures {
    ($($(#[$about:meta])* $name:ident { $($(#[$what:meta])* $member:ident: $type:ty,)* })*) => {
        $(
            $(#[$about])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug)]
            pub struct $name {
                $($(#[$what])* pub $member: $type,)*
            }
        )*

        /// Every struct with the offsets of its members.
        pub(super) const STRUCTURES: &[StructLayout] = &[$(
            StructLayout {
                name: stringify!($name),
                size: size_of::<$name>(),
                alignment: align_of::<$name>(),
                members: &[$(Place {
                    name: stringify!($member),
                    offset: offset_of!($name, $member),
                    cpp: <$type as Spelled>::CPP,
                }),*],
            },
        )*];
    };
}

/// A resource of Direct3D 12, which is opaque here.
#[repr(C)]
#[derive(Debug)]
pub struct ID3D12Resource([u8; 0]);

/// An object that a command recorder can dispatch, which is opaque here.
#[repr(C)]
#[derive(Debug)]
pub struct IDMLDispatchable([u8; 0]);

/// Eight bytes that hold one scalar of any type, little-endian from the first byte on. DirectML reads all
/// eight even for a narrower type, so the others are zero.
#[repr(C, align(8))]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct DML_SCALAR_UNION {
    /// All of them.
    pub Bytes: [u8; 8],
}

impl fmt::Debug for DML_SCALAR_UNION {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#018x}", u64::from_le_bytes(self.Bytes))
    }
}

structures! {
    /// A descriptor in a heap, as the processor addresses it.
    D3D12_CPU_DESCRIPTOR_HANDLE {
        /// The address.
        ptr: Address,
    }

    /// A descriptor in a heap, as the device addresses it.
    D3D12_GPU_DESCRIPTOR_HANDLE {
        /// The address.
        ptr: u64,
    }

    /// A tensor in a buffer.
    DML_BUFFER_TENSOR_DESC {
        /// The data type of an element.
        DataType: DML_TENSOR_DATA_TYPE,
        /// Flags.
        Flags: DML_TENSOR_FLAGS,
        /// The number of sizes and strides.
        DimensionCount: u32,
        /// In elements, outermost axis first.
        Sizes: *const u32,
        /// In elements; null means packed.
        Strides: *const u32,
        /// The number of bytes from the first element to the end of the last one, rounded up to a multiple of
        /// four.
        TotalTensorSizeInBytes: u64,
        /// The binding's offset is a multiple of this; 0 promises nothing.
        GuaranteedBaseOffsetAlignment: u32,
    }

    /// A tensor of any kind.
    DML_TENSOR_DESC {
        /// The type of the struct that `Desc` points to.
        Type: DML_TENSOR_TYPE,
        /// That struct.
        Desc: *const c_void,
    }

    /// An operator of any kind.
    DML_OPERATOR_DESC {
        /// The type of the struct that `Desc` points to.
        Type: DML_OPERATOR_TYPE,
        /// That struct.
        Desc: *const c_void,
    }

    /// SLICE.
    DML_SLICE_OPERATOR_DESC {
        /// The tensor to read.
        InputTensor: *const DML_TENSOR_DESC,
        /// The tensor to write.
        OutputTensor: *const DML_TENSOR_DESC,
        /// The number of values of each list.
        DimensionCount: u32,
        /// The start of reading.
        Offsets: *const u32,
        /// The output's sizes.
        Sizes: *const u32,
        /// Steps in the input.
        Strides: *const u32,
    }

    /// SLICE1.
    DML_SLICE1_OPERATOR_DESC {
        /// The tensor to read.
        InputTensor: *const DML_TENSOR_DESC,
        /// The tensor to write.
        OutputTensor: *const DML_TENSOR_DESC,
        /// The number of values of each list.
        DimensionCount: u32,
        /// The start of the window.
        InputWindowOffsets: *const u32,
        /// The window's sizes.
        InputWindowSizes: *const u32,
        /// Steps in the window. With a negative step, reading starts at the window's end.
        InputWindowStrides: *const i32,
    }

    /// PADDING1, which the crate `windows` lacks.
    DML_PADDING1_OPERATOR_DESC {
        /// The tensor to read.
        InputTensor: *const DML_TENSOR_DESC,
        /// The tensor to write.
        OutputTensor: *const DML_TENSOR_DESC,
        /// The rule for elements around the input.
        PaddingMode: DML_PADDING_MODE,
        /// The data type of the value.
        PaddingValueDataType: DML_TENSOR_DATA_TYPE,
        /// The value, for a mode that uses one.
        PaddingValue: DML_SCALAR_UNION,
        /// The number of values of each list.
        DimensionCount: u32,
        /// Elements before the first one.
        StartPadding: *const u32,
        /// Elements after the last one.
        EndPadding: *const u32,
    }

    /// A part of a buffer.
    DML_BUFFER_BINDING {
        /// The buffer.
        Buffer: *mut ID3D12Resource,
        /// The offset of the part, in bytes.
        Offset: u64,
        /// The size of the part, in bytes.
        SizeInBytes: u64,
    }

    /// Parts of buffers.
    DML_BUFFER_ARRAY_BINDING {
        /// The number of parts.
        BindingCount: u32,
        /// An array of this many parts.
        Bindings: *const DML_BUFFER_BINDING,
    }

    /// A binding of any kind.
    DML_BINDING_DESC {
        /// The type of the struct that `Desc` points to.
        Type: DML_BINDING_TYPE,
        /// That struct.
        Desc: *const c_void,
    }

    /// The resources that must be bound besides inputs and outputs.
    DML_BINDING_PROPERTIES {
        /// The number of descriptors in the heap.
        RequiredDescriptorCount: u32,
        /// The number of bytes that must live during the execution; 0 for none.
        TemporaryResourceSize: u64,
        /// The number of bytes that must live as long as the operator is used; 0 for none.
        PersistentResourceSize: u64,
    }

    /// The object that a binding table binds, and its part of the descriptor heap.
    DML_BINDING_TABLE_DESC {
        /// An initializer or a compiled operator.
        Dispatchable: *mut IDMLDispatchable,
        /// The first descriptor, as the processor addresses it.
        CPUDescriptorHandle: D3D12_CPU_DESCRIPTOR_HANDLE,
        /// The first descriptor, as the device addresses it.
        GPUDescriptorHandle: D3D12_GPU_DESCRIPTOR_HANDLE,
        /// The number of descriptors.
        SizeInDescriptors: u32,
    }

    /// The question whether a data type is supported.
    DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT {
        /// The data type.
        DataType: DML_TENSOR_DATA_TYPE,
    }

    /// The answer whether a data type is supported.
    DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT {
        /// 0 if it is not.
        IsSupported: i32,
    }

    /// The question for the highest supported feature level of a list.
    DML_FEATURE_QUERY_FEATURE_LEVELS {
        /// The number of levels.
        RequestedFeatureLevelCount: u32,
        /// An array of this many levels.
        RequestedFeatureLevels: *const DML_FEATURE_LEVEL,
    }

    /// The answer with the highest supported feature level.
    DML_FEATURE_DATA_FEATURE_LEVELS {
        /// The level.
        MaxSupportedFeatureLevel: DML_FEATURE_LEVEL,
    }
}

/// `SIZE_T`: a number with the width of a pointer.
type Address = usize;

impl Spelled for Address {
    const CPP: &'static str = "SIZE_T";
}
