//! The structs of `DirectML.h`, and how C++ spells the type of each member.

use std::{ffi::c_void, fmt, mem::offset_of};

use super::enumerations::{
    DML_BINDING_TYPE, DML_FEATURE_LEVEL, DML_OPERATOR_TYPE, DML_PADDING_MODE, DML_TENSOR_DATA_TYPE,
    DML_TENSOR_FLAGS, DML_TENSOR_TYPE,
};

/// A type of a member, and its name in C++.
pub(super) trait Spelled {
    /// As the header declares a member of this type.
    const CPP: &'static str;
}

/// Says how types are spelled in C++.
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

/// What the header is asked of a struct.
pub(super) struct Layout {
    pub(super) name: &'static str,
    pub(super) size: usize,
    pub(super) alignment: usize,
    pub(super) members: &'static [Place],
}

/// Where a member lies, in bytes, and what it is in C++.
pub(super) struct Place {
    pub(super) name: &'static str,
    pub(super) offset: usize,
    pub(super) cpp: &'static str,
}

/// Declares structs together with what the header is asked of them.
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

        /// Every struct, and where its members lie.
        pub(super) const STRUCTURES: &[Layout] = &[$(
            Layout {
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

/// A resource of Direct3D 12, of which nothing is known here.
#[repr(C)]
#[derive(Debug)]
pub struct ID3D12Resource([u8; 0]);

/// What a command recorder can dispatch, of which nothing is known here.
#[repr(C)]
#[derive(Debug)]
pub struct IDMLDispatchable([u8; 0]);

/// Eight bytes that hold one scalar of any type, little-endian from the first byte on. DirectML reads all of them even
/// where the type is narrower, so those beyond it are zero.
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
    /// A place in a descriptor heap, as the processor sees it.
    D3D12_CPU_DESCRIPTOR_HANDLE {
        /// The place.
        ptr: Address,
    }

    /// A place in a descriptor heap, as the device sees it.
    D3D12_GPU_DESCRIPTOR_HANDLE {
        /// The place.
        ptr: u64,
    }

    /// A tensor in a buffer.
    DML_BUFFER_TENSOR_DESC {
        /// What an element is.
        DataType: DML_TENSOR_DATA_TYPE,
        /// Flags.
        Flags: DML_TENSOR_FLAGS,
        /// How many sizes and strides there are.
        DimensionCount: u32,
        /// In elements, outermost axis first.
        Sizes: *const u32,
        /// In elements; null means packed.
        Strides: *const u32,
        /// Bytes from the first to behind the last element, rounded up to a multiple of four.
        TotalTensorSizeInBytes: u64,
        /// What the binding's offset is promised to be a multiple of; 0 promises nothing.
        GuaranteedBaseOffsetAlignment: u32,
    }

    /// A tensor of any kind.
    DML_TENSOR_DESC {
        /// Which struct is pointed at.
        Type: DML_TENSOR_TYPE,
        /// That struct.
        Desc: *const c_void,
    }

    /// An operator of any kind.
    DML_OPERATOR_DESC {
        /// Which struct is pointed at.
        Type: DML_OPERATOR_TYPE,
        /// That struct.
        Desc: *const c_void,
    }

    /// SLICE.
    DML_SLICE_OPERATOR_DESC {
        /// What to read.
        InputTensor: *const DML_TENSOR_DESC,
        /// Where to write.
        OutputTensor: *const DML_TENSOR_DESC,
        /// How many values each list has.
        DimensionCount: u32,
        /// Where reading starts.
        Offsets: *const u32,
        /// The output's sizes.
        Sizes: *const u32,
        /// Steps in the input.
        Strides: *const u32,
    }

    /// SLICE1.
    DML_SLICE1_OPERATOR_DESC {
        /// What to read.
        InputTensor: *const DML_TENSOR_DESC,
        /// Where to write.
        OutputTensor: *const DML_TENSOR_DESC,
        /// How many values each list has.
        DimensionCount: u32,
        /// Where the window starts.
        InputWindowOffsets: *const u32,
        /// The window's sizes.
        InputWindowSizes: *const u32,
        /// Steps in the window; negative ones start at its end.
        InputWindowStrides: *const i32,
    }

    /// PADDING1, which the crate `windows` lacks.
    DML_PADDING1_OPERATOR_DESC {
        /// What to read.
        InputTensor: *const DML_TENSOR_DESC,
        /// Where to write.
        OutputTensor: *const DML_TENSOR_DESC,
        /// What is put around the input.
        PaddingMode: DML_PADDING_MODE,
        /// What the value is.
        PaddingValueDataType: DML_TENSOR_DATA_TYPE,
        /// The value, where the mode uses one.
        PaddingValue: DML_SCALAR_UNION,
        /// How many values each list has.
        DimensionCount: u32,
        /// Elements before the first one.
        StartPadding: *const u32,
        /// Elements behind the last one.
        EndPadding: *const u32,
    }

    /// A part of a buffer.
    DML_BUFFER_BINDING {
        /// The buffer.
        Buffer: *mut ID3D12Resource,
        /// Where the part starts, in bytes.
        Offset: u64,
        /// How long it is.
        SizeInBytes: u64,
    }

    /// Parts of buffers.
    DML_BUFFER_ARRAY_BINDING {
        /// How many.
        BindingCount: u32,
        /// That many.
        Bindings: *const DML_BUFFER_BINDING,
    }

    /// A binding of any kind.
    DML_BINDING_DESC {
        /// Which struct is pointed at.
        Type: DML_BINDING_TYPE,
        /// That struct.
        Desc: *const c_void,
    }

    /// What must be bound besides inputs and outputs.
    DML_BINDING_PROPERTIES {
        /// Descriptors in the heap.
        RequiredDescriptorCount: u32,
        /// Bytes that must live while it is executed; 0 where there are none.
        TemporaryResourceSize: u64,
        /// Bytes that must live as long as the operator is used; 0 where there are none.
        PersistentResourceSize: u64,
    }

    /// What a binding table binds to, and its part of the descriptor heap.
    DML_BINDING_TABLE_DESC {
        /// An initializer or a compiled operator.
        Dispatchable: *mut IDMLDispatchable,
        /// The first descriptor, as the processor sees it.
        CPUDescriptorHandle: D3D12_CPU_DESCRIPTOR_HANDLE,
        /// The first descriptor, as the device sees it.
        GPUDescriptorHandle: D3D12_GPU_DESCRIPTOR_HANDLE,
        /// How many descriptors.
        SizeInDescriptors: u32,
    }

    /// Asks whether a data type is supported.
    DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT {
        /// Which.
        DataType: DML_TENSOR_DATA_TYPE,
    }

    /// Says whether a data type is supported.
    DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT {
        /// 0 where it is not.
        IsSupported: i32,
    }

    /// Asks for the highest supported level of some.
    DML_FEATURE_QUERY_FEATURE_LEVELS {
        /// How many.
        RequestedFeatureLevelCount: u32,
        /// That many.
        RequestedFeatureLevels: *const DML_FEATURE_LEVEL,
    }

    /// Says which level is the highest supported.
    DML_FEATURE_DATA_FEATURE_LEVELS {
        /// The level.
        MaxSupportedFeatureLevel: DML_FEATURE_LEVEL,
    }
}

/// `SIZE_T`: a number as wide as a pointer.
type Address = usize;

impl Spelled for Address {
    const CPP: &'static str = "SIZE_T";
}
