//! The declarations of this module as a C++ program, which compiles only if the header has the same.

use std::fmt::Write;

use super::{
    DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT, DML_PERSISTENT_BUFFER_ALIGNMENT, DML_SCALAR_UNION,
    DML_TEMPORARY_BUFFER_ALIGNMENT, DML_TENSOR_DIMENSION_COUNT_MAX1, enumerations::ENUMERATIONS,
    structures::STRUCTURES,
};

/// A part of a C++ program: one `static_assert` for each size, alignment, offset, type and number in
/// [`crate::raw`]. `DirectML.h`, `<cstddef>` and `<type_traits>` must be included before it.
pub fn assertions() -> String {
    let mut text = String::new();
    // Writing into a string cannot fail.
    let mut assert = |claim: std::fmt::Arguments<'_>| {
        let _ = writeln!(text, "static_assert({claim});");
    };
    for (name, enumerators) in ENUMERATIONS {
        assert(format_args!("sizeof({name}) == {}", size_of::<i32>()));
        for (enumerator, value) in *enumerators {
            assert(format_args!("static_cast<int>({enumerator}) == {value}"));
        }
    }
    for (name, value) in [
        ("DML_TENSOR_DIMENSION_COUNT_MAX1", DML_TENSOR_DIMENSION_COUNT_MAX1),
        ("DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT", DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT),
        ("DML_TEMPORARY_BUFFER_ALIGNMENT", DML_TEMPORARY_BUFFER_ALIGNMENT),
        ("DML_PERSISTENT_BUFFER_ALIGNMENT", DML_PERSISTENT_BUFFER_ALIGNMENT),
    ] {
        assert(format_args!("{name} == {value}"));
    }
    assert(format_args!("sizeof(DML_SCALAR_UNION) == {}", size_of::<DML_SCALAR_UNION>()));
    assert(format_args!("alignof(DML_SCALAR_UNION) == {}", align_of::<DML_SCALAR_UNION>()));
    assert(format_args!("offsetof(DML_SCALAR_UNION, Bytes) == 0"));
    for layout in STRUCTURES {
        let name = layout.name;
        assert(format_args!("sizeof({name}) == {}", layout.size));
        assert(format_args!("alignof({name}) == {}", layout.alignment));
        for member in layout.members {
            assert(format_args!("offsetof({name}, {}) == {}", member.name, member.offset));
            assert(format_args!("std::is_same<decltype({name}::{}), {}>::value", member.name, member.cpp));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the header on x64, written by hand from the pages.
    #[test]
    #[cfg(target_pointer_width = "64")]
    fn layouts_are_those_of_x64() {
        let text = assertions();
        for claim in [
            "sizeof(DML_BUFFER_TENSOR_DESC) == 48",
            "offsetof(DML_BUFFER_TENSOR_DESC, Sizes) == 16",
            "offsetof(DML_BUFFER_TENSOR_DESC, Strides) == 24",
            "offsetof(DML_BUFFER_TENSOR_DESC, TotalTensorSizeInBytes) == 32",
            "offsetof(DML_BUFFER_TENSOR_DESC, GuaranteedBaseOffsetAlignment) == 40",
            "sizeof(DML_SLICE_OPERATOR_DESC) == 48",
            "sizeof(DML_SLICE1_OPERATOR_DESC) == 48",
            "std::is_same<decltype(DML_SLICE1_OPERATOR_DESC::InputWindowStrides), const INT*>::value",
            "sizeof(DML_PADDING1_OPERATOR_DESC) == 56",
            "offsetof(DML_PADDING1_OPERATOR_DESC, PaddingMode) == 16",
            "offsetof(DML_PADDING1_OPERATOR_DESC, PaddingValueDataType) == 20",
            "offsetof(DML_PADDING1_OPERATOR_DESC, PaddingValue) == 24",
            "offsetof(DML_PADDING1_OPERATOR_DESC, DimensionCount) == 32",
            "offsetof(DML_PADDING1_OPERATOR_DESC, StartPadding) == 40",
            "offsetof(DML_PADDING1_OPERATOR_DESC, EndPadding) == 48",
            "static_cast<int>(DML_OPERATOR_PADDING1) == 155",
        ] {
            assert!(text.contains(&format!("static_assert({claim});")), "{claim}\n{text}");
        }
    }
}
