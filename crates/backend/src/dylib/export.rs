//! The library's side of the ABI, for a backend in Rust: [`export!`](crate::export!) defines the header's
//! seven functions, which call the functions of this module.
//!
//! A panic in a call becomes `DMLCTS_FAILED`. Where the ABI has no result, in `dmlcts_destroy` and
//! `dmlcts_close`, a panic ends the process.

use std::{
    any::Any,
    ffi::{CStr, CString, c_char},
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr, slice,
    sync::Arc,
};

use dmlcts_model::{BindingOffsets, DataType, ErrorCode, List, Member, MemberKind, Signature, Tensor, Value};

use super::abi;
pub use super::abi::{Capabilities, Desc, Memory, Opaque, Reason, VERSION};
use crate::{Operators, Refusal, RunError, protocol::LONGEST};

/// Makes a shared library of a backend: defines the functions of `dmlcts_backend.h`, so that
/// `dmlcts run --backend dylib:PATH` loads the library.
///
/// The argument is a function or a closure that opens the backend, as for `dmlcts_kit::serve`. The crate is a
/// library with this in its `Cargo.toml`:
///
/// ```toml
/// [lib]
/// crate-type = ["cdylib", "rlib"]
/// ```
///
/// ```
/// # use dmlcts_backend::{Operators, Refusal, RunError};
/// # use dmlcts_model::{BindingOffsets, Desc};
/// pub struct Gpu;
///
/// impl Gpu {
///     pub fn open() -> Result<Self, String> {
///         Ok(Self)
///     }
/// }
/// # impl Operators for Gpu {
/// #     type Operator = ();
/// #     fn create(&mut self, _: &Desc) -> Result<(), Refusal> { Ok(()) }
/// #     fn run(&mut self, _: &mut (), _: BindingOffsets, _: &[u8], _: &mut [u8]) -> Result<(), RunError> {
/// #         Ok(())
/// #     }
/// # }
///
/// dmlcts_backend::export!(Gpu::open);
/// # fn main() {}
/// ```
///
/// A panic while a desc is created or run is the failure of its case, with the message of the panic. A panic
/// in a destructor ends the process, because the ABI has no result there. The backend goes on after a panic
/// in the state in which the panic left it.
///
/// The ABI does not carry all that a process can say. In a desc, counts and data types have the kind
/// [`MemberKind::U32`](dmlcts_model::MemberKind), and enumerations the kind `I32`. Feature levels cannot be
/// set, and limits on batches are ignored. A backend that declares [`Limits::bare_arrays`](crate::Limits)
/// does not open.
#[macro_export]
macro_rules! export {
    ($open:expr) => {
        const _: () = {
            use $crate::dylib::export as abi;

            #[unsafe(no_mangle)]
            extern "C" fn dmlcts_abi_version() -> u32 {
                abi::VERSION
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn dmlcts_open(backend: *mut abi::Opaque, reason: *mut abi::Reason) -> i32 {
                let package = (::core::env!("CARGO_PKG_NAME"), ::core::env!("CARGO_PKG_VERSION"));
                let open = || ($open)();
                // SAFETY: the host keeps the header's promises about the arguments.
                unsafe { abi::open(open, package, backend, reason) }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn dmlcts_describe(backend: abi::Opaque) -> *const abi::Capabilities {
                // SAFETY: as above.
                unsafe { abi::describe(backend) }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn dmlcts_create(
                backend: abi::Opaque,
                desc: *const abi::Desc,
                created: *mut abi::Opaque,
                reason: *mut abi::Reason,
            ) -> i32 {
                // SAFETY: as above.
                unsafe { abi::create(backend, desc, created, reason) }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn dmlcts_run(
                backend: abi::Opaque,
                created: abi::Opaque,
                memory: *const abi::Memory,
                reason: *mut abi::Reason,
            ) -> i32 {
                // SAFETY: as above.
                unsafe { abi::run(backend, created, memory, reason) }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn dmlcts_destroy(backend: abi::Opaque, created: abi::Opaque) {
                // SAFETY: as above.
                unsafe { abi::destroy(backend, created) }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn dmlcts_close(backend: abi::Opaque) {
                // SAFETY: as above.
                unsafe { abi::close(backend) }
            }
        };
    };
}

/// The result of a call other than `DMLCTS_OK`: a code of the header, and the reason.
type Failure = (i32, String);

/// An open backend, whatever its type is. The host's pointer to it is a `Box<Exported>`.
struct Exported {
    backend: Box<dyn Erased>,
    declared: Declared,
}

/// [`Operators`] without its type of operators.
trait Erased: Send {
    fn create(&mut self, desc: &dmlcts_model::Desc) -> Result<Opaque, Refusal>;

    /// # Safety
    ///
    /// This backend created the operator, which is not destroyed.
    unsafe fn run(
        &mut self,
        created: Opaque,
        binding: BindingOffsets,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), RunError>;

    /// # Safety
    ///
    /// As for `run`, and nothing uses the operator afterwards.
    unsafe fn destroy(&mut self, created: Opaque);
}

impl<T: Operators<Operator: Send>> Erased for T {
    fn create(&mut self, desc: &dmlcts_model::Desc) -> Result<Opaque, Refusal> {
        Operators::create(self, desc).map(|operator| Box::into_raw(Box::new(operator)).cast())
    }

    unsafe fn run(
        &mut self,
        created: Opaque,
        binding: BindingOffsets,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), RunError> {
        // SAFETY: `create` made the pointer of a box of this type.
        let operator = unsafe { &mut *created.cast::<T::Operator>() };
        Operators::run(self, operator, binding, input, output)
    }

    unsafe fn destroy(&mut self, created: Opaque) {
        // SAFETY: `create` made the pointer of a box of this type, which is dropped once.
        drop(unsafe { Box::from_raw(created.cast::<T::Operator>()) });
    }
}

/// A declaration and all that it points to.
struct Declared {
    capabilities: abi::Capabilities,
    _texts: Vec<CString>,
    _operators: Vec<*const c_char>,
    _lacks: Vec<abi::Lack>,
}

impl Declared {
    /// The header's form of a declaration, or what the header has no form for.
    fn of(said: &crate::Capabilities) -> Result<Self, String> {
        let mut texts = Vec::new();
        let mut text = |key: &str, text: &str| {
            let text = CString::new(text).map_err(|_| format!("its `{key}` holds a zero byte"))?;
            let pointer = text.as_ptr();
            texts.push(text); // Moving it does not move its bytes.
            Ok::<_, String>(pointer)
        };
        if said.limits.bare_arrays.is_some() {
            return Err("it declares `limits.bare_arrays`, and each list of a desc has a length".to_owned());
        }
        let (name, version) = (text("name", &said.name)?, text("version", &said.version)?);
        let (device, driver) = (text("device", &said.device)?, text("driver", &said.driver)?);
        let names = said.operators.as_deref().unwrap_or_default();
        let operators = names.iter().map(|name| text("operators", name)).collect::<Result<Vec<_>, _>>()?;
        let lacks = said.lacks.iter().map(|lack| {
            Ok(abi::Lack {
                operator_name: text("lacks.operator", &lack.operator)?,
                condition: text("lacks.condition", &lack.condition)?,
                reason: text("lacks.reason", &lack.reason)?,
            })
        });
        let lacks = lacks.collect::<Result<Vec<_>, String>>()?;
        let data_types = said.data_types.iter().try_fold(0, |bits, data_type| {
            let bit = 1_u32.checked_shl(data_type.0);
            Ok::<_, String>(bits | bit.ok_or_else(|| format!("it declares the data type {}", data_type.0))?)
        });
        let capabilities = abi::Capabilities {
            name,
            version,
            device,
            driver,
            operators: if said.operators.is_some() { operators.as_ptr() } else { ptr::null() },
            operator_count: operators.len() as u32,
            feature_level: said.feature_level.code(),
            data_types: data_types?,
            least_rank: *said.ranks.start(),
            greatest_rank: *said.ranks.end(),
            lack_count: lacks.len() as u32,
            // In the header, 0 is no limit.
            tensor_bytes: said.limits.tensor_bytes.max(1),
            elements: said.limits.elements.max(1),
            lacks: lacks.as_ptr(),
            create_timeout: said.limits.create_time.as_millis() as u64,
        };
        Ok(Self { capabilities, _texts: texts, _operators: operators, _lacks: lacks })
    }
}

/// `dmlcts_open`. A backend that declares nothing has the name and the version of its package.
///
/// # Safety
///
/// Both pointers are as the header says.
pub unsafe fn open<T: Operators<Operator: Send> + 'static, E: fmt::Display>(
    open: impl FnOnce() -> Result<T, E>,
    (name, version): (&str, &str),
    backend: *mut Opaque,
    reason: *mut Reason,
) -> i32 {
    let opened = caught(|| {
        let opened = open().map_err(|error| (abi::FAILED, error.to_string()))?;
        let said = opened.capabilities();
        let is_default = ptr::eq(said, crate::Capabilities::of_program());
        let named = is_default.then(|| crate::Capabilities::new(name, version));
        let declared = Declared::of(named.as_ref().unwrap_or(said)).map_err(|what| (abi::FAILED, what))?;
        Ok(Box::into_raw(Box::new(Exported { backend: Box::new(opened), declared })).cast())
    });
    // SAFETY: the caller promises it.
    unsafe { written(opened, backend, reason) }
}

/// `dmlcts_describe`.
///
/// # Safety
///
/// The backend is open.
pub unsafe fn describe(backend: Opaque) -> *const Capabilities {
    // SAFETY: `open` made the pointer.
    let exported = unsafe { &*backend.cast::<Exported>() };
    &raw const exported.declared.capabilities
}

/// `dmlcts_create`.
///
/// # Safety
///
/// The backend is open, no other thread uses it, and the other pointers are as the header says.
pub unsafe fn create(backend: Opaque, desc: *const Desc, created: *mut Opaque, reason: *mut Reason) -> i32 {
    let made = caught(|| {
        // SAFETY: `open` made the pointer, and one thread at a time uses it.
        let exported = unsafe { &mut *backend.cast::<Exported>() };
        // SAFETY: the caller promises it.
        let desc = unsafe { desc_at(desc) }.map_err(|what| (abi::FAILED, what))?;
        exported.backend.create(&desc).map_err(|refusal| match refusal {
            Refusal::Invalid(reason) => (abi::INVALID, reason.into()),
            Refusal::Unsupported(reason) => (abi::UNSUPPORTED, reason.into()),
            Refusal::Other(ErrorCode::OUT_OF_MEMORY, reason) => (abi::OUT_OF_MEMORY, reason.into()),
            // The header has no result for other codes.
            Refusal::Other(code, reason) => (abi::FAILED, format!("refused with {code}: {reason}")),
            Refusal::Failed(reason) => (abi::FAILED, reason.into()),
        })
    });
    // SAFETY: the caller promises it.
    unsafe { written(made, created, reason) }
}

/// `dmlcts_run`.
///
/// # Safety
///
/// As for `create`; the backend created the operator, and the memory is as the header says.
pub unsafe fn run(backend: Opaque, created: Opaque, memory: *const Memory, reason: *mut Reason) -> i32 {
    let ran = caught(|| {
        // SAFETY: `open` made the pointer, and one thread at a time uses it.
        let exported = unsafe { &mut *backend.cast::<Exported>() };
        // SAFETY: the caller promises it.
        let memory = unsafe { &*memory };
        let binding = BindingOffsets { input: memory.input_offset, output: memory.output_offset };
        // SAFETY: the memories have these sizes and do not overlap, and no other code has them in this call.
        let (input, output) = unsafe {
            (
                slice::from_raw_parts(memory.input, memory.input_bytes as usize),
                slice::from_raw_parts_mut(memory.output, memory.output_bytes as usize),
            )
        };
        // SAFETY: the backend created the operator, which is not destroyed.
        unsafe { exported.backend.run(created, binding, input, output) }.map_err(|error| match error {
            RunError::Failed(reason) => (abi::FAILED, reason.into()),
            RunError::WrongShape(reason) => (abi::WRONG_SHAPE, reason.into()),
            RunError::WrongType(reason) => (abi::WRONG_TYPE, reason.into()),
        })
    });
    let mut nothing = ();
    // SAFETY: the caller promises it.
    unsafe { written(ran, &raw mut nothing, reason) }
}

/// `dmlcts_destroy`.
///
/// # Safety
///
/// As for `run`, and nothing uses the operator afterwards.
pub unsafe fn destroy(backend: Opaque, created: Opaque) {
    // SAFETY: `open` made the pointer, and one thread at a time uses it.
    let exported = unsafe { &mut *backend.cast::<Exported>() };
    // SAFETY: the caller promises it.
    unsafe { exported.backend.destroy(created) }
}

/// `dmlcts_close`.
///
/// # Safety
///
/// The backend is open, its operators are destroyed, and nothing uses it afterwards.
pub unsafe fn close(backend: Opaque) {
    // SAFETY: `open` made the pointer of a box of this type, which is dropped once.
    drop(unsafe { Box::from_raw(backend.cast::<Exported>()) });
}

/// The result of a call, in which a panic is a failure.
fn caught<T>(call: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| Err((abi::FAILED, message(&*panic))))
}

/// The message of a panic.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("it panicked: {}", text.unwrap_or("without a message"))
}

/// Writes the result of a call, and returns its code.
///
/// # Safety
///
/// Both pointers point to values that may be written to.
unsafe fn written<T>(result: Result<T, Failure>, to: *mut T, reason: *mut Reason) -> i32 {
    match result {
        Ok(value) => {
            // SAFETY: the caller promises it.
            unsafe { to.write(value) };
            abi::OK
        }
        Err((code, why)) => {
            let end = (0..=LONGEST).rev().find(|end| why.is_char_boundary(*end)).unwrap_or_default();
            let why = &why.as_bytes()[..end];
            // SAFETY: the caller promises it.
            let text = unsafe { &mut (*reason).text };
            text[..why.len()].copy_from_slice(why);
            text[why.len()] = 0;
            code
        }
    }
}

/// The desc at a pointer.
///
/// # Safety
///
/// The pointer and all pointers in the struct are as the header says.
unsafe fn desc_at(desc: *const Desc) -> Result<dmlcts_model::Desc, String> {
    // SAFETY: the caller promises it, here and below.
    let desc = unsafe { &*desc };
    let members = match desc.member_count {
        0 => &[][..],
        // SAFETY: as above.
        count => unsafe { slice::from_raw_parts(desc.members, count as usize) },
    };
    // SAFETY: as above.
    let text = |text: *const c_char| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    let read = members.iter().map(|member| {
        // SAFETY: as above; `kind` says which part of the union is there.
        let (kind, value) = unsafe {
            match member.kind {
                abi::UINT => (MemberKind::U32, Value::Integer(member.value.as_uint.into())),
                abi::INT => (MemberKind::I32, Value::Integer(member.value.as_int.into())),
                abi::UINTS => {
                    let list = list_at(member.value.as_list, member.length, i64::from);
                    (MemberKind::U32List, Value::List(list))
                }
                abi::INTS => {
                    let list = list_at(member.value.as_list.cast::<i32>(), member.length, i64::from);
                    (MemberKind::I32List, Value::List(list))
                }
                abi::SCALAR => (MemberKind::Scalar, Value::Scalar(member.value.as_bytes)),
                other => return Err(format!("dmlcts_backend.h has no member of the kind {other}")),
            }
        };
        Ok((Member { name: text(member.name), kind }, value))
    });
    let (members, values): (Vec<_>, Vec<_>) = read.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
    Ok(dmlcts_model::Desc {
        signature: Arc::new(Signature { operator: text(desc.operator_name), members }),
        // SAFETY: as above.
        input: unsafe { tensor_at(desc.input) },
        // SAFETY: as above.
        output: unsafe { tensor_at(desc.output) },
        members: values.into(),
    })
}

/// The tensor at a pointer; `None` for a null pointer.
///
/// # Safety
///
/// The pointer is null, or it and all pointers in the struct are as the header says.
unsafe fn tensor_at(tensor: *const abi::Tensor) -> Option<Tensor> {
    // SAFETY: the caller promises it.
    let tensor = unsafe { tensor.as_ref() }?;
    // SAFETY: as above.
    let list = |values: *const u32, length: u32| unsafe { list_at(values, length, i64::from) };
    Some(Tensor {
        data_type: DataType(tensor.data_type),
        flags: tensor.flags,
        dimension_count: tensor.dimension_count,
        sizes: list(tensor.sizes, tensor.sizes_length),
        strides: list(tensor.strides, tensor.strides_length),
        total_size: tensor.total_tensor_size_in_bytes,
        alignment: tensor.guaranteed_base_offset_alignment,
    })
}

/// The list at a pointer; `None` for a null pointer.
///
/// # Safety
///
/// The pointer is null, or there are this many values.
unsafe fn list_at<T: Copy>(values: *const T, length: u32, value: impl Fn(T) -> i64) -> Option<List> {
    if values.is_null() {
        return None;
    }
    // SAFETY: the caller promises it.
    let values = unsafe { slice::from_raw_parts(values, length as usize) };
    Some(values.iter().map(|one| value(*one)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dylib::desc::Descs;

    /// Each kind of member arrives as it was sent, and so do null pointers and lists of another length.
    #[test]
    fn a_desc_arrives_as_it_was_sent() {
        let list = |values: &[i64]| Some(List::from_slice(values));
        let members = [
            (MemberKind::U32, Value::Integer(u32::MAX.into())),
            (MemberKind::I32, Value::Integer(-3)),
            (MemberKind::U32List, Value::List(list(&[0, u32::MAX.into()]))),
            (MemberKind::I32List, Value::List(list(&[i32::MIN.into(), -1, 7]))),
            (MemberKind::U32List, Value::List(None)),
            (MemberKind::I32List, Value::List(list(&[]))),
            (MemberKind::Scalar, Value::Scalar([1, 2, 3, 4, 5, 6, 7, 255])),
        ];
        let (kinds, members): (Vec<_>, Vec<_>) = members.into_iter().unzip();
        let named = kinds.into_iter().enumerate();
        let named = named.map(|(place, kind)| Member { name: format!("Member{place}"), kind }).collect();
        let tensor = Tensor {
            data_type: DataType(77),
            flags: 1,
            dimension_count: 9,
            sizes: list(&[4, u32::MAX.into()]),
            strides: None,
            total_size: u64::MAX,
            alignment: 3,
        };
        let strided = Tensor { sizes: list(&[]), strides: list(&[1, 2, 3]), ..tensor.clone() };
        let signature = Arc::new(Signature { operator: "MOVE".to_owned(), members: named });
        let sent = dmlcts_model::Desc {
            signature,
            input: Some(tensor),
            output: Some(strided),
            members: members.into(),
        };
        let null = dmlcts_model::Desc { input: None, output: None, ..sent.clone() };
        for sent in [sent, null] {
            // SAFETY: the desc and all that it points to live during the call.
            let received = Descs::default().with(&sent, |desc| unsafe { desc_at(desc) });
            assert_eq!(received, Ok(sent));
        }
    }

    /// A reason is cut between characters, and leaves room for its zero byte.
    #[test]
    fn a_long_reason_is_cut() {
        for (why, length) in [("x".repeat(300), 255), ("é".repeat(200), 254), (String::new(), 0)] {
            let (mut to, mut reason) = ((), Reason { text: [1; 256] });
            // SAFETY: both values are alive.
            let code = unsafe { written(Err((abi::FAILED, why.clone())), &raw mut to, &raw mut reason) };
            assert_eq!(code, abi::FAILED);
            assert_eq!(&reason.text[..length], &why.as_bytes()[..length]);
            assert_eq!(reason.text[length], 0);
        }
    }
}
