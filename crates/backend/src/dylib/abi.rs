//! `include/dmlcts_backend.h` in Rust. A test lets a C compiler check the offset of every field.

use std::ffi::{c_char, c_void};

/// The version of the header.
pub const VERSION: u32 = 1;

/// `dmlcts_result`.
pub(super) const OK: i32 = 0;
pub(super) const INVALID: i32 = 1;
pub(super) const UNSUPPORTED: i32 = 2;
pub(super) const OUT_OF_MEMORY: i32 = 3;
pub(super) const FAILED: i32 = 4;
pub(super) const WRONG_SHAPE: i32 = 5;
pub(super) const WRONG_TYPE: i32 = 6;

/// The `kind` of a member.
pub(super) const UINT: u32 = 0;
pub(super) const INT: u32 = 1;
pub(super) const UINTS: u32 = 2;
pub(super) const INTS: u32 = 3;
pub(super) const SCALAR: u32 = 4;

/// `dmlcts_reason`.
#[repr(C)]
pub struct Reason {
    pub(super) text: [u8; 256],
}

/// `dmlcts_tensor`.
#[repr(C)]
pub(super) struct Tensor {
    pub(super) data_type: u32,
    pub(super) flags: u32,
    pub(super) dimension_count: u32,
    pub(super) guaranteed_base_offset_alignment: u32,
    pub(super) sizes: *const u32,
    pub(super) strides: *const u32,
    pub(super) sizes_length: u32,
    pub(super) strides_length: u32,
    pub(super) total_tensor_size_in_bytes: u64,
}

/// The union in `dmlcts_member`.
#[repr(C)]
pub(super) union MemberValue {
    pub(super) as_uint: u32,
    pub(super) as_int: i32,
    /// For lists of both kinds of integers: both have 32 bits.
    pub(super) as_list: *const u32,
    pub(super) as_bytes: [u8; 8],
}

/// `dmlcts_member`.
#[repr(C)]
pub(super) struct Member {
    pub(super) name: *const c_char,
    pub(super) kind: u32,
    pub(super) length: u32,
    pub(super) value: MemberValue,
}

/// `dmlcts_desc`.
#[repr(C)]
pub struct Desc {
    pub(super) operator_name: *const c_char,
    pub(super) input: *const Tensor,
    pub(super) output: *const Tensor,
    pub(super) members: *const Member,
    pub(super) member_count: u32,
    pub(super) reserved: u32,
}

/// `dmlcts_memory`.
#[repr(C)]
pub struct Memory {
    pub(super) input: *const u8,
    pub(super) input_bytes: u64,
    pub(super) output: *mut u8,
    pub(super) output_bytes: u64,
    pub(super) input_offset: u64,
    pub(super) output_offset: u64,
}

/// `dmlcts_capabilities`.
#[repr(C)]
pub struct Capabilities {
    pub(super) name: *const c_char,
    pub(super) version: *const c_char,
    pub(super) device: *const c_char,
    pub(super) driver: *const c_char,
    pub(super) operators: *const *const c_char,
    pub(super) operator_count: u32,
    pub(super) feature_level: u32,
    pub(super) data_types: u32,
    pub(super) least_rank: u32,
    pub(super) greatest_rank: u32,
    pub(super) lack_count: u32,
    pub(super) tensor_bytes: u64,
    pub(super) elements: u64,
    pub(super) lacks: *const Lack,
    pub(super) create_timeout: u64,
}

/// `dmlcts_lack`.
#[repr(C)]
pub(super) struct Lack {
    pub(super) operator_name: *const c_char,
    pub(super) condition: *const c_char,
    pub(super) reason: *const c_char,
}

/// `dmlcts_backend *` and `dmlcts_operator *`: owned by the library, and only passed back to it.
pub type Opaque = *mut c_void;

#[cfg(test)]
mod tests {
    use std::{
        fmt::Write as _,
        mem::{offset_of, size_of},
        path::Path,
        process::Command,
    };

    use super::*;
    use crate::protocol::{LONGEST, MOST};

    /// Assertions in C about a struct: its size and the offsets of its fields.
    macro_rules! assertions {
        ($c:ident, $rust:ty, $($field:ident),+) => {{
            let name = stringify!($c);
            let mut text = format!("_Static_assert(sizeof({name}) == {}, \"{name}\");\n", size_of::<$rust>());
            $(
                let (field, offset) = (stringify!($field), offset_of!($rust, $field));
                let _ = writeln!(text, "_Static_assert(offsetof({name}, {field}) == {offset}, \"{name}.{field}\");");
            )+
            text
        }};
    }

    fn c_compiler() -> String {
        std::env::var("CC").unwrap_or_else(|_| "cc".to_owned())
    }

    #[test]
    fn every_field_lies_where_the_header_has_it() {
        let mut text = "#include <stddef.h>\n#include \"dmlcts_backend.h\"\n".to_owned();
        text += &assertions!(dmlcts_reason, Reason, text);
        text += &assertions!(
            dmlcts_tensor,
            Tensor,
            data_type,
            flags,
            dimension_count,
            guaranteed_base_offset_alignment,
            sizes,
            strides,
            sizes_length,
            strides_length,
            total_tensor_size_in_bytes
        );
        text += &assertions!(dmlcts_member, Member, name, kind, length, value);
        text +=
            &assertions!(dmlcts_desc, Desc, operator_name, input, output, members, member_count, reserved);
        text += &assertions!(
            dmlcts_memory,
            Memory,
            input,
            input_bytes,
            output,
            output_bytes,
            input_offset,
            output_offset
        );
        text += &assertions!(
            dmlcts_capabilities,
            Capabilities,
            name,
            version,
            device,
            driver,
            operators,
            operator_count,
            feature_level,
            data_types,
            least_rank,
            greatest_rank,
            lack_count,
            tensor_bytes,
            elements,
            lacks,
            create_timeout
        );
        text += &assertions!(dmlcts_lack, Lack, operator_name, condition, reason);
        let numbers = [
            ("DMLCTS_ABI_VERSION", i64::from(VERSION)),
            ("DMLCTS_LONGEST_TEXT", LONGEST as i64),
            ("DMLCTS_MOST_OPERATORS", MOST as i64),
            ("DMLCTS_MOST_LACKS", MOST as i64),
            ("DMLCTS_OK", OK.into()),
            ("DMLCTS_INVALID", INVALID.into()),
            ("DMLCTS_UNSUPPORTED", UNSUPPORTED.into()),
            ("DMLCTS_OUT_OF_MEMORY", OUT_OF_MEMORY.into()),
            ("DMLCTS_FAILED", FAILED.into()),
            ("DMLCTS_WRONG_SHAPE", WRONG_SHAPE.into()),
            ("DMLCTS_WRONG_TYPE", WRONG_TYPE.into()),
            ("DMLCTS_UINT", UINT.into()),
            ("DMLCTS_INT", INT.into()),
            ("DMLCTS_UINTS", UINTS.into()),
            ("DMLCTS_INTS", INTS.into()),
            ("DMLCTS_SCALAR", SCALAR.into()),
        ];
        for (name, number) in numbers {
            let _ = writeln!(text, "_Static_assert({name} == {number}, \"{name}\");");
        }
        let file = std::env::temp_dir().join(format!("dmlcts-abi-{}.c", std::process::id()));
        std::fs::write(&file, &text).expect("the temporary folder takes a file");
        let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
        let ran = Command::new(c_compiler())
            .args(["-std=c11", "-fsyntax-only", "-Wall", "-Werror", "-I"])
            .arg(include)
            .arg(&file)
            .output();
        let _ = std::fs::remove_file(&file);
        match ran {
            Ok(ran) => assert!(ran.status.success(), "{}\n{text}", String::from_utf8_lossy(&ran.stderr)),
            Err(error) => {
                assert!(
                    std::env::var_os("DMLCTS_REQUIRE_CC").is_none(),
                    "there is no C compiler `{}`: {error}",
                    c_compiler()
                );
                eprintln!(
                    "SKIPPED: there is no C compiler `{}`, so that the header was not compared: {error}",
                    c_compiler()
                );
            }
        }
    }
}
