//! Compile-time checks that the structs of `raw` that are passed to the crate `windows` have the same layout
//! as its own.

use std::mem::offset_of;

use windows::Win32::{AI::MachineLearning::DirectML as theirs, Graphics::Direct3D12 as direct3d};

use crate::raw as ours;

macro_rules! alike {
    ($($name:ident of $theirs:ident { $($member:ident),* })*) => {
        $(const _: () = {
            assert!(size_of::<ours::$name>() == size_of::<$theirs::$name>());
            assert!(align_of::<ours::$name>() == align_of::<$theirs::$name>());
            $(assert!(offset_of!(ours::$name, $member) == offset_of!($theirs::$name, $member));)*
        };)*
    };
}

alike! {
    DML_BUFFER_TENSOR_DESC of theirs {
        DataType, Flags, DimensionCount, Sizes, Strides, TotalTensorSizeInBytes, GuaranteedBaseOffsetAlignment
    }
    DML_TENSOR_DESC of theirs { Type, Desc }
    DML_OPERATOR_DESC of theirs { Type, Desc }
    DML_SLICE_OPERATOR_DESC of theirs { InputTensor, OutputTensor, DimensionCount, Offsets, Sizes, Strides }
    DML_SLICE1_OPERATOR_DESC of theirs {
        InputTensor, OutputTensor, DimensionCount, InputWindowOffsets, InputWindowSizes, InputWindowStrides
    }
    DML_BUFFER_BINDING of theirs { Buffer, Offset, SizeInBytes }
    DML_BUFFER_ARRAY_BINDING of theirs { BindingCount, Bindings }
    DML_BINDING_DESC of theirs { Type, Desc }
    DML_BINDING_PROPERTIES of theirs { RequiredDescriptorCount, TemporaryResourceSize, PersistentResourceSize }
    DML_BINDING_TABLE_DESC of theirs { Dispatchable, CPUDescriptorHandle, GPUDescriptorHandle, SizeInDescriptors }
    DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT of theirs { DataType }
    DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT of theirs { IsSupported }
    DML_FEATURE_QUERY_FEATURE_LEVELS of theirs { RequestedFeatureLevelCount, RequestedFeatureLevels }
    DML_FEATURE_DATA_FEATURE_LEVELS of theirs { MaxSupportedFeatureLevel }
    D3D12_CPU_DESCRIPTOR_HANDLE of direct3d { ptr }
    D3D12_GPU_DESCRIPTOR_HANDLE of direct3d { ptr }
}
