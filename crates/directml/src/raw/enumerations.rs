//! The enumerations of `DirectML.h`. Each is a plain number, as in C, because a desc may have values without
//! a name: such descs are cases, too.

/// Declares enumerations together with their expected values.
macro_rules! enumerations {
    ($($(#[$about:meta])* $name:ident { $($(#[$what:meta])* $enumerator:ident = $value:expr,)* })*) => {
        $(
            $(#[$about])*
            #[repr(transparent)]
            #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
            pub struct $name(pub i32);

            $(
                $(#[$what])*
                pub const $enumerator: $name = $name($value);
            )*
        )*

        /// Every enumeration with its enumerators and their values.
        pub(super) const ENUMERATIONS: &[(&str, &[(&str, i32)])] =
            &[$((stringify!($name), &[$((stringify!($enumerator), $value)),*])),*];
    };
}

enumerations! {
    /// The operator of a [`DML_OPERATOR_DESC`](super::DML_OPERATOR_DESC).
    DML_OPERATOR_TYPE {
        /// SLICE, since feature level 1.0.
        DML_OPERATOR_SLICE = 60,
        /// SLICE1, since feature level 2.1.
        DML_OPERATOR_SLICE1 = 111,
        /// PADDING1, since feature level 5.0.
        DML_OPERATOR_PADDING1 = 155,
    }

    /// The data type of an element.
    DML_TENSOR_DATA_TYPE {
        /// No data type.
        DML_TENSOR_DATA_TYPE_UNKNOWN = 0,
        /// IEEE 754 binary32.
        DML_TENSOR_DATA_TYPE_FLOAT32 = 1,
        /// IEEE 754 binary16.
        DML_TENSOR_DATA_TYPE_FLOAT16 = 2,
        /// Unsigned, 32 bits.
        DML_TENSOR_DATA_TYPE_UINT32 = 3,
        /// Unsigned, 16 bits.
        DML_TENSOR_DATA_TYPE_UINT16 = 4,
        /// Unsigned, 8 bits.
        DML_TENSOR_DATA_TYPE_UINT8 = 5,
        /// Signed, 32 bits.
        DML_TENSOR_DATA_TYPE_INT32 = 6,
        /// Signed, 16 bits.
        DML_TENSOR_DATA_TYPE_INT16 = 7,
        /// Signed, 8 bits.
        DML_TENSOR_DATA_TYPE_INT8 = 8,
        /// IEEE 754 binary64.
        DML_TENSOR_DATA_TYPE_FLOAT64 = 9,
        /// Unsigned, 64 bits.
        DML_TENSOR_DATA_TYPE_UINT64 = 10,
        /// Signed, 64 bits.
        DML_TENSOR_DATA_TYPE_INT64 = 11,
        /// Unsigned, 4 bits.
        DML_TENSOR_DATA_TYPE_UINT4 = 12,
        /// Signed, 4 bits.
        DML_TENSOR_DATA_TYPE_INT4 = 13,
    }

    /// The type of the struct in a [`DML_TENSOR_DESC`](super::DML_TENSOR_DESC).
    DML_TENSOR_TYPE {
        /// None.
        DML_TENSOR_TYPE_INVALID = 0,
        /// [`DML_BUFFER_TENSOR_DESC`](super::DML_BUFFER_TENSOR_DESC).
        DML_TENSOR_TYPE_BUFFER = 1,
    }

    /// Flags of a tensor.
    DML_TENSOR_FLAGS {
        /// None.
        DML_TENSOR_FLAG_NONE = 0,
        /// The tensor is bound when the operator is initialised, and not when it is executed.
        DML_TENSOR_FLAG_OWNED_BY_DML = 1,
    }

    /// The rule of PADDING1 for elements around its input.
    DML_PADDING_MODE {
        /// A constant value.
        DML_PADDING_MODE_CONSTANT = 0,
        /// The nearest element.
        DML_PADDING_MODE_EDGE = 1,
        /// The input mirrored, without repeating its edge.
        DML_PADDING_MODE_REFLECTION = 2,
        /// The input mirrored, with its edge repeated.
        DML_PADDING_MODE_SYMMETRIC = 3,
        /// The input repeated, since feature level 6.4.
        DML_PADDING_MODE_WRAP = 4,
    }

    /// A feature level, which says what a device supports.
    DML_FEATURE_LEVEL {
        /// 1.0.
        DML_FEATURE_LEVEL_1_0 = 0x1000,
        /// 2.0.
        DML_FEATURE_LEVEL_2_0 = 0x2000,
        /// 2.1.
        DML_FEATURE_LEVEL_2_1 = 0x2100,
        /// 3.0.
        DML_FEATURE_LEVEL_3_0 = 0x3000,
        /// 3.1.
        DML_FEATURE_LEVEL_3_1 = 0x3100,
        /// 4.0.
        DML_FEATURE_LEVEL_4_0 = 0x4000,
        /// 4.1.
        DML_FEATURE_LEVEL_4_1 = 0x4100,
        /// 5.0.
        DML_FEATURE_LEVEL_5_0 = 0x5000,
        /// 5.1.
        DML_FEATURE_LEVEL_5_1 = 0x5100,
        /// 5.2.
        DML_FEATURE_LEVEL_5_2 = 0x5200,
        /// 6.0.
        DML_FEATURE_LEVEL_6_0 = 0x6000,
        /// 6.1.
        DML_FEATURE_LEVEL_6_1 = 0x6100,
        /// 6.2.
        DML_FEATURE_LEVEL_6_2 = 0x6200,
        /// 6.3.
        DML_FEATURE_LEVEL_6_3 = 0x6300,
        /// 6.4.
        DML_FEATURE_LEVEL_6_4 = 0x6400,
    }

    /// A question for `IDMLDevice::CheckFeatureSupport`.
    DML_FEATURE {
        /// Whether a data type is supported:
        /// [`DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT`](super::DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT).
        DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT = 0,
        /// The highest supported feature level of a list:
        /// [`DML_FEATURE_QUERY_FEATURE_LEVELS`](super::DML_FEATURE_QUERY_FEATURE_LEVELS).
        DML_FEATURE_FEATURE_LEVELS = 1,
    }

    /// Flags for creating a device.
    DML_CREATE_DEVICE_FLAGS {
        /// No flags.
        DML_CREATE_DEVICE_FLAG_NONE = 0,
        /// Enables the debug layer, which must be installed.
        DML_CREATE_DEVICE_FLAG_DEBUG = 1,
    }

    /// Flags for compiling an operator.
    DML_EXECUTION_FLAGS {
        /// No flags.
        DML_EXECUTION_FLAG_NONE = 0,
        /// Allows computing in half precision.
        DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION = 0x1,
        /// Disables the driver's own implementations.
        DML_EXECUTION_FLAG_DISABLE_META_COMMANDS = 0x2,
        /// Allows descriptors to change after a dispatch was recorded.
        DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE = 0x4,
    }

    /// The type of the struct in a [`DML_BINDING_DESC`](super::DML_BINDING_DESC).
    DML_BINDING_TYPE {
        /// None: nothing is bound.
        DML_BINDING_TYPE_NONE = 0,
        /// [`DML_BUFFER_BINDING`](super::DML_BUFFER_BINDING).
        DML_BINDING_TYPE_BUFFER = 1,
        /// [`DML_BUFFER_ARRAY_BINDING`](super::DML_BUFFER_ARRAY_BINDING).
        DML_BINDING_TYPE_BUFFER_ARRAY = 2,
    }
}
