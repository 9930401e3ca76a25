//! The host's side of the ABI: loads a library, calls its seven functions, and checks the values that it
//! returns. Unknown codes count as failures of the library.

use std::{ffi::c_char, mem::ManuallyDrop, ptr, slice, sync::Arc, time::Duration};

use dmlcts_model::{BindingOffsets, DataType, Desc, ErrorCode, FeatureLevel, printable};

use super::{
    abi::{self, Memory, Opaque, Reason},
    desc::Descs,
};
use crate::{
    Capabilities, Lack, Limits, Operators, Refusal, RunError, Sequential,
    protocol::{LONGEST, MOST},
};

/// Why a library is not a backend.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DylibError {
    /// The file does not exist, or is not a library for this system and processor.
    #[error("`{0}` cannot be loaded as a shared library: {1}")]
    Load(String, String),
    /// A function is missing.
    #[error(
        "`{0}` has no function `{1}`; a backend exports each one that dmlcts_backend.h declares, with C linkage"
    )]
    Missing(String, &'static str),
    /// The library was built with another version of the header.
    #[error("`{0}` was built with version {1} of dmlcts_backend.h, and this program speaks version {VERSION}", VERSION = abi::VERSION)]
    Version(String, u32),
    /// The library does not open a backend.
    #[error("`{0}` does not open: {1}")]
    Open(String, String),
    /// The declaration is invalid.
    #[error("what `{0}` declares makes no sense: {1}")]
    Declares(String, String),
}

/// A shared library that is a backend. It stays loaded until the program ends, because it may have left
/// something behind that needs its code, such as threads.
pub struct Dylib {
    path: String,
    functions: Functions,
}

impl Dylib {
    /// Loads a library.
    pub fn load(path: &str) -> Result<Arc<Self>, DylibError> {
        // The system looks for a bare name only in its own folders.
        let file = std::fs::canonicalize(path).unwrap_or_else(|_| path.into());
        // SAFETY: loading runs the library's initialisers, which may do anything. The user who names a
        // library as a backend trusts it with the process, which is a worker by default.
        let library = unsafe { libloading::Library::new(file) };
        let library = library.map_err(|error| DylibError::Load(path.to_owned(), said(&error)))?;
        let library = ManuallyDrop::new(library);
        macro_rules! function {
            ($name:literal) => {{
                // SAFETY: if the library was built with this version of the header, the symbol is a function
                // of the declared type. The version is checked before any other function is called.
                let symbol = unsafe { library.get(concat!($name, "\0").as_bytes()) };
                *symbol.map_err(|_| DylibError::Missing(path.to_owned(), $name))?
            }};
        }
        let version: unsafe extern "C" fn() -> u32 = function!("dmlcts_abi_version");
        // SAFETY: the function takes no arguments, in every version of the header.
        let version = unsafe { version() };
        if version != abi::VERSION {
            return Err(DylibError::Version(path.to_owned(), version));
        }
        let functions = Functions {
            open: function!("dmlcts_open"),
            describe: function!("dmlcts_describe"),
            create: function!("dmlcts_create"),
            run: function!("dmlcts_run"),
            destroy: function!("dmlcts_destroy"),
            close: function!("dmlcts_close"),
        };
        Ok(Arc::new(Self { path: path.to_owned(), functions }))
    }

    /// Opens a backend.
    pub fn open(self: &Arc<Self>) -> Result<Sequential<DylibBackend>, DylibError> {
        let (mut backend, mut reason) = (ptr::null_mut(), Reason { text: [0; 256] });
        // SAFETY: both pointers point to live values of the types in the header.
        let result = unsafe { (self.functions.open)(&raw mut backend, &raw mut reason) };
        if result != abi::OK {
            return Err(DylibError::Open(self.path.clone(), described("dmlcts_open", result, &reason)));
        }
        // From here on, dropping `open` closes the backend.
        let open = Open { library: Arc::clone(self), backend };
        // SAFETY: the backend is open.
        let declared = unsafe { (self.functions.describe)(backend) };
        let capabilities =
            capabilities(declared).map_err(|what| DylibError::Declares(self.path.clone(), what))?;
        Ok(Sequential(DylibBackend { open: Arc::new(open), capabilities, descs: Descs::default() }))
    }
}

/// The functions of a library.
#[derive(Clone, Copy)]
struct Functions {
    open: unsafe extern "C" fn(*mut Opaque, *mut Reason) -> i32,
    describe: unsafe extern "C" fn(Opaque) -> *const abi::Capabilities,
    create: unsafe extern "C" fn(Opaque, *const abi::Desc, *mut Opaque, *mut Reason) -> i32,
    run: unsafe extern "C" fn(Opaque, Opaque, *const Memory, *mut Reason) -> i32,
    destroy: unsafe extern "C" fn(Opaque, Opaque),
    close: unsafe extern "C" fn(Opaque),
}

/// An open backend of a library. Dropping it closes the backend.
struct Open {
    library: Arc<Dylib>,
    backend: Opaque,
}

// SAFETY: the header allows any thread to use a backend, one thread at a time. [`DylibBackend`] is not shared
// between threads, and the operators that it creates live within a call to it.
unsafe impl Send for Open {}
// SAFETY: as above; only the reference count is shared.
unsafe impl Sync for Open {}

impl Drop for Open {
    fn drop(&mut self) {
        // SAFETY: the backend was opened and is closed once. All operators are destroyed by now, since each
        // of them holds this value.
        unsafe { (self.library.functions.close)(self.backend) }
    }
}

/// An operator that a library created. Dropping it destroys the operator.
pub struct DylibOperator {
    open: Arc<Open>,
    created: Opaque,
}

impl Drop for DylibOperator {
    fn drop(&mut self) {
        // SAFETY: this backend, which is open, created the operator. It is destroyed once.
        unsafe { (self.open.library.functions.destroy)(self.open.backend, self.created) }
    }
}

/// A backend in a shared library.
pub struct DylibBackend {
    open: Arc<Open>,
    capabilities: Capabilities,
    descs: Descs,
}

impl Operators for DylibBackend {
    type Operator = DylibOperator;

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn create(&mut self, desc: &Desc) -> Result<DylibOperator, Refusal> {
        let open = &self.open;
        let (mut created, mut reason) = (ptr::null_mut(), Reason { text: [0; 256] });
        let result = self.descs.with(desc, |desc| {
            // SAFETY: the backend is open. The desc and everything that it points to live until the call
            // returns, and so do the two values that the call writes to.
            unsafe { (open.library.functions.create)(open.backend, desc, &raw mut created, &raw mut reason) }
        });
        let why = || words(&reason.text).into();
        match result {
            abi::OK => Ok(DylibOperator { open: Arc::clone(open), created }),
            abi::INVALID => Err(Refusal::Invalid(why())),
            abi::UNSUPPORTED => Err(Refusal::Unsupported(why())),
            abi::OUT_OF_MEMORY => Err(Refusal::Other(ErrorCode::OUT_OF_MEMORY, why())),
            other => Err(Refusal::Failed(described("dmlcts_create", other, &reason).into())),
        }
    }

    fn run(
        &mut self,
        operator: &mut DylibOperator,
        binding: BindingOffsets,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), RunError> {
        let open = &self.open;
        let mut reason = Reason { text: [0; 256] };
        let memory = Memory {
            input: input.as_ptr(),
            input_bytes: input.len() as u64,
            output: output.as_mut_ptr(),
            output_bytes: output.len() as u64,
            input_offset: binding.input,
            output_offset: binding.output,
        };
        // SAFETY: the backend is open and created the operator. The memory has the given sizes and lives
        // until the call returns. No host can prevent a library from writing out of bounds, which is why it
        // runs in a worker process.
        let result = unsafe {
            (open.library.functions.run)(open.backend, operator.created, &raw const memory, &raw mut reason)
        };
        match result {
            abi::OK => Ok(()),
            abi::WRONG_SHAPE => Err(RunError::WrongShape(words(&reason.text).into())),
            abi::WRONG_TYPE => Err(RunError::WrongType(words(&reason.text).into())),
            other => Err(RunError::Failed(described("dmlcts_run", other, &reason).into())),
        }
    }
}

/// Describes the failure of a function for people.
fn described(function: &str, result: i32, reason: &Reason) -> String {
    let words = words(&reason.text);
    let what = match result {
        abi::INVALID => "it is invalid".to_owned(),
        abi::UNSUPPORTED => "it is not supported".to_owned(),
        abi::OUT_OF_MEMORY => "there is too little memory".to_owned(),
        abi::FAILED => "it failed".to_owned(),
        other => format!("`{function}` returned {other}, which dmlcts_backend.h does not have"),
    };
    if words.is_empty() { what } else { format!("{what}: {words}") }
}

/// The text that a library wrote, up to its first zero byte.
fn words(text: &[u8; 256]) -> String {
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    printable(&String::from_utf8_lossy(&text[..end]), text.len()).into_owned()
}

/// A loader error, on one line.
fn said(error: &libloading::Error) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
    format!("{error}{cause}").replace('\n', " ")
}

/// The text at a pointer, on one line; `None` for a null pointer. Reads at most the longest text and its zero
/// byte.
///
/// # Safety
///
/// The pointer is null, or all bytes from it on are readable up to the first zero byte or up to [`LONGEST`]
/// bytes and one more.
unsafe fn text_at(text: *const c_char) -> Result<Option<String>, String> {
    if text.is_null() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    loop {
        // SAFETY: no byte before this one is zero, and there are at most `LONGEST` of them.
        let byte = unsafe { text.add(bytes.len()).read() } as u8;
        match byte {
            0 => return Ok(Some(printable(&String::from_utf8_lossy(&bytes), LONGEST).into_owned())),
            _ if bytes.len() == LONGEST => {
                return Err(format!("has no zero byte within {} bytes", LONGEST + 1));
            }
            byte => bytes.push(byte),
        }
    }
}

/// Reads the declaration of a library, or says what is wrong with it.
fn capabilities(declared: *const abi::Capabilities) -> Result<Capabilities, String> {
    // SAFETY: the pointer is null, or points to the struct of this version of the header, which does not
    // change while the backend is open.
    let Some(declared) = (unsafe { declared.as_ref() }) else {
        return Err("dmlcts_describe returned null".to_owned());
    };
    let text = |key: &str, text: *const c_char| {
        // SAFETY: the header requires a text that ends with a zero byte and does not change while the backend
        // is open.
        unsafe { text_at(text) }.map_err(|what| format!("its `{key}` {what}"))
    };
    let name = text("name", declared.name)?
        .filter(|name| !name.trim().is_empty())
        .ok_or("its `name` is null or empty")?;
    let version = text("version", declared.version)?.ok_or("its `version` is null")?;
    let level = declared.feature_level;
    let feature_level = FeatureLevel::from_code(level).ok_or_else(|| {
        format!("its `feature_level` {level:#06X} is none of DML_FEATURE_LEVEL, such as 0x6400")
    })?;
    let data_types: Vec<DataType> =
        DataType::all().filter(|data_type| declared.data_types >> data_type.0 & 1 == 1).collect();
    if data_types.len() as u32 != declared.data_types.count_ones() || data_types.is_empty() {
        return Err(format!(
            "its `data_types` {:#X} has no bit, or a bit of no data type",
            declared.data_types
        ));
    }
    let ranks = declared.least_rank..=declared.greatest_rank;
    if ranks.is_empty() {
        return Err(format!("its ranks end at {} before they begin at {}", ranks.end(), ranks.start()));
    }
    if (1..4).contains(&declared.tensor_bytes) {
        return Err(format!(
            "its `tensor_bytes` is {}, and no tensor has less than 4",
            declared.tensor_bytes
        ));
    }
    let operators = if declared.operators.is_null() {
        None
    } else {
        let count = declared.operator_count;
        if count == 0 || count as usize > MOST {
            return Err(format!("its `operator_count` is {count}, and not from 1 to {MOST}"));
        }
        // SAFETY: the header requires this number of pointers to texts, which do not change while the backend
        // is open.
        let names = unsafe { slice::from_raw_parts(declared.operators, count as usize) };
        let names = names.iter().enumerate().map(|(place, name)| {
            let key = format!("operators[{place}]");
            text(&key, *name)?.ok_or_else(|| format!("its `{key}` is null"))
        });
        Some(names.collect::<Result<_, _>>()?)
    };
    let lacks = if declared.lack_count == 0 {
        Vec::new()
    } else {
        let count = declared.lack_count;
        if declared.lacks.is_null() || count as usize > MOST {
            return Err(format!("its `lack_count` is {count}, and its `lacks` are null or more than {MOST}"));
        }
        // SAFETY: the header requires this number of structs, which do not change while the backend is open.
        let lacks = unsafe { slice::from_raw_parts(declared.lacks, count as usize) };
        let lacks = lacks.iter().enumerate().map(|(place, lack)| {
            let text = |key: &str, pointer: *const c_char| {
                let key = format!("lacks[{place}].{key}");
                let text = text(&key, pointer)?.filter(|text| !text.trim().is_empty());
                text.ok_or_else(|| format!("its `{key}` is null or empty"))
            };
            Ok::<_, String>(Lack {
                operator: text("operator_name", lack.operator_name)?,
                condition: text("condition", lack.condition)?,
                reason: text("reason", lack.reason)?,
            })
        });
        lacks.collect::<Result<_, _>>()?
    };
    let limit = |most: u64| if most == 0 { u64::MAX } else { most };
    let create_time = Duration::from_millis(declared.create_timeout);
    if create_time > Limits::LONGEST_CREATION {
        let most = Limits::LONGEST_CREATION.as_millis();
        return Err(format!("its `create_timeout` is above {most} ms"));
    }
    Ok(Capabilities {
        device: text("device", declared.device)?.unwrap_or_default(),
        driver: text("driver", declared.driver)?.unwrap_or_default(),
        feature_level,
        operators,
        data_types,
        lacks,
        ranks,
        limits: Limits {
            tensor_bytes: limit(declared.tensor_bytes),
            elements: limit(declared.elements),
            create_time,
            ..Limits::default()
        },
        ..Capabilities::new(name, version)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_byte_is_read_behind_a_text_or_its_bound() {
        let read = |bytes: Vec<u8>| {
            let bytes = bytes.into_boxed_slice();
            // SAFETY: the memory holds a zero byte, or one byte more than the longest text.
            unsafe { text_at(bytes.as_ptr().cast()) }
        };
        assert_eq!(read(b"mine\0".to_vec()), Ok(Some("mine".to_owned())));
        let longest = [vec![b'x'; LONGEST], vec![0]].concat();
        assert_eq!(read(longest), Ok(Some("x".repeat(LONGEST))));
        assert_eq!(read(vec![b'x'; LONGEST + 1]), Err("has no zero byte within 256 bytes".to_owned()));
        // SAFETY: the pointer is null.
        assert_eq!(unsafe { text_at(ptr::null()) }, Ok(None));
    }
}
