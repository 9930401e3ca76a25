//! A desc as the header's structs. They point into memory that lives for the duration of a call.

use std::{ffi::CString, ptr, sync::Arc};

use dmlcts_model::{Desc, MemberKind, Signature, Tensor, Value};

use super::abi;

/// The names of an operator and of its members.
struct Names {
    signature: Arc<Signature>,
    operator: CString,
    members: Vec<CString>,
}

/// Turns descs into the header's structs. Caches the names of operators.
#[derive(Default)]
pub(super) struct Descs(Vec<Names>);

impl Descs {
    /// Calls a function with the header's form of a desc.
    pub(super) fn with<T>(&mut self, desc: &Desc, call: impl FnOnce(&abi::Desc) -> T) -> T {
        let place = self.0.iter().position(|names| names.signature == desc.signature);
        let place = place.unwrap_or_else(|| {
            // Names in a spec hold no zero byte. A name with one would be empty here.
            let text = |name: &str| CString::new(name).unwrap_or_default();
            self.0.push(Names {
                signature: Arc::clone(&desc.signature),
                operator: text(&desc.signature.operator),
                members: desc.signature.members.iter().map(|member| text(&member.name)).collect(),
            });
            self.0.len() - 1
        });
        let names = &self.0[place];
        let [input, output] = [&desc.input, &desc.output].map(|tensor| tensor.as_ref().map(TensorLists::of));
        let [input, output] = [&input, &output].map(|lists| lists.as_ref().map(TensorLists::tensor));
        let lists: Vec<Option<Vec<u32>>> = desc
            .members
            .iter()
            .map(|value| match value {
                Value::List(list) => list.as_deref().map(words),
                _ => None,
            })
            .collect();
        let parts = desc.signature.members.iter().zip(&names.members).zip(desc.members.iter().zip(&lists));
        let members: Vec<abi::Member> = parts
            .map(|((member, name), (value, list))| abi::Member {
                name: name.as_ptr(),
                kind: kind(&member.kind),
                length: list.as_ref().map_or(0, |list| list.len() as u32),
                value: match value {
                    Value::Integer(value) => abi::MemberValue { as_uint: *value as u32 },
                    Value::List(_) => abi::MemberValue { as_list: pointer(list.as_deref()) },
                    Value::Scalar(bytes) => abi::MemberValue { as_bytes: *bytes },
                },
            })
            .collect();
        let tensor = |tensor: &Option<abi::Tensor>| tensor.as_ref().map_or(ptr::null(), ptr::from_ref);
        call(&abi::Desc {
            operator_name: names.operator.as_ptr(),
            input: tensor(&input),
            output: tensor(&output),
            members: members.as_ptr(),
            member_count: members.len() as u32,
            reserved: 0,
        })
    }
}

/// A tensor and its lists.
struct TensorLists<'a> {
    tensor: &'a Tensor,
    sizes: Option<Vec<u32>>,
    strides: Option<Vec<u32>>,
}

impl<'a> TensorLists<'a> {
    fn of(tensor: &'a Tensor) -> Self {
        let [sizes, strides] = [&tensor.sizes, &tensor.strides].map(|list| list.as_deref().map(words));
        Self { tensor, sizes, strides }
    }

    /// The struct, which points into the lists.
    fn tensor(&self) -> abi::Tensor {
        let tensor = self.tensor;
        let length = |list: &Option<Vec<u32>>| list.as_ref().map_or(0, |list| list.len() as u32);
        abi::Tensor {
            data_type: tensor.data_type.0,
            flags: tensor.flags,
            dimension_count: tensor.dimension_count,
            guaranteed_base_offset_alignment: tensor.alignment,
            sizes: pointer(self.sizes.as_deref()),
            strides: pointer(self.strides.as_deref()),
            sizes_length: length(&self.sizes),
            strides_length: length(&self.strides),
            total_tensor_size_in_bytes: tensor.total_size,
        }
    }
}

/// The values as 32-bit words, signed or unsigned: the kind of a member bounds them to 32 bits.
fn words(list: &[i64]) -> Vec<u32> {
    list.iter().map(|value| *value as u32).collect()
}

fn pointer(list: Option<&[u32]>) -> *const u32 {
    list.map_or(ptr::null(), <[u32]>::as_ptr)
}

fn kind(kind: &MemberKind) -> u32 {
    match kind {
        MemberKind::Count | MemberKind::U32 | MemberKind::DataType => abi::UINT,
        MemberKind::I32 | MemberKind::Enumeration(_) => abi::INT,
        MemberKind::U32List => abi::UINTS,
        MemberKind::I32List => abi::INTS,
        MemberKind::Scalar => abi::SCALAR,
    }
}
