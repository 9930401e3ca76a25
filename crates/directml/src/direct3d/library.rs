//! Finds and loads `DirectML.dll`, and reads its version.

use std::{
    env,
    ffi::{OsString, c_void},
    os::windows::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
    ptr,
};

use windows::{
    Win32::{
        AI::MachineLearning::DirectML::IDMLDevice,
        Foundation::HMODULE,
        Graphics::Direct3D12::ID3D12Device,
        Storage::FileSystem::{
            GetFileVersionInfoSizeW, GetFileVersionInfoW, VS_FIXEDFILEINFO, VerQueryValueW,
        },
        System::{
            Diagnostics::Debug::{SEM_FAILCRITICALERRORS, SetThreadErrorMode, THREAD_ERROR_MODE},
            LibraryLoader::{
                GetModuleFileNameW, GetProcAddress, LOAD_LIBRARY_FLAGS, LOAD_LIBRARY_SEARCH_SYSTEM32,
                LOAD_WITH_ALTERED_SEARCH_PATH, LoadLibraryExW,
            },
        },
    },
    core::{GUID, HRESULT, Interface, PCSTR, PCWSTR, s, w},
};

use super::fault::{code, given};
use crate::{
    OpenError,
    raw::{DML_CREATE_DEVICE_FLAGS, DML_FEATURE_LEVEL, DML_FEATURE_LEVEL_1_0},
};

/// The environment variable that names a `DirectML.dll`.
pub(super) const VARIABLE: &str = "DMLCTS_DIRECTML";
const FILE: &str = "DirectML.dll";

/// `DMLCreateDevice`.
type CreateDevice = unsafe extern "system" fn(
    device: *mut c_void,
    flags: DML_CREATE_DEVICE_FLAGS,
    interface: *const GUID,
    created: *mut *mut c_void,
) -> HRESULT;

/// `DMLCreateDevice1`.
type CreateDevice1 = unsafe extern "system" fn(
    device: *mut c_void,
    flags: DML_CREATE_DEVICE_FLAGS,
    minimum: DML_FEATURE_LEVEL,
    interface: *const GUID,
    created: *mut *mut c_void,
) -> HRESULT;

/// A loaded DirectML. It stays loaded until the program ends, so that nothing of it can outlive it.
#[derive(Clone, Debug)]
pub(crate) struct Library {
    create: Create,
    /// The path of the file.
    pub(crate) path: PathBuf,
    /// The version in the file's resources; empty if there is none.
    pub(crate) version: String,
    /// Whether this is the project's own stand-in, which exports a function that says so.
    pub(crate) is_stand_in: bool,
    /// The file that the environment variable names, if another file next to the program takes precedence.
    pub(crate) passed_over: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug)]
enum Create {
    Device(CreateDevice),
    Device1(CreateDevice1),
}

impl Library {
    /// Loads the file next to the program, or the file that the environment variable names, or the system's.
    /// If the first of these that is present cannot be loaded, that is an error: otherwise another library
    /// would answer instead of it.
    pub(crate) fn load() -> Result<Self, OpenError> {
        let beside = env::current_exe().ok().and_then(|program| Some(program.parent()?.join(FILE)));
        let beside = beside.filter(|path| path.is_file());
        let named = env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
        let passed_over =
            beside.as_ref().zip(named.as_ref()).filter(|(beside, named)| !is_one_file(beside, named));
        let passed_over = passed_over.map(|(_, named)| named.clone());
        if let Some(path) = beside.or(named) {
            return Ok(Self { passed_over, ..Self::at(&path)? });
        }
        let loaded = load(Path::new(FILE), LOAD_LIBRARY_SEARCH_SYSTEM32);
        Self::new(loaded.map_err(|error| OpenError::NoLibrary { what: "the system's".to_owned(), error })?)
    }

    /// Loads the library at a path.
    pub(super) fn at(path: &Path) -> Result<Self, OpenError> {
        // Windows looks for the libraries that it needs in its folder only if the path is absolute.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let loaded = load(&path, LOAD_WITH_ALTERED_SEARCH_PATH);
        Self::new(loaded.map_err(|error| OpenError::NoLibrary { what: path.display().to_string(), error })?)
    }

    fn new(module: HMODULE) -> Result<Self, OpenError> {
        let path = path_of(module);
        let create = if let Some(function) = function(module, s!("DMLCreateDevice1")) {
            // SAFETY: the header declares this type for this name.
            Create::Device1(unsafe { std::mem::transmute::<Function, CreateDevice1>(function) })
        } else if let Some(function) = function(module, s!("DMLCreateDevice")) {
            // SAFETY: the header declares this type for this name.
            Create::Device(unsafe { std::mem::transmute::<Function, CreateDevice>(function) })
        } else {
            return Err(OpenError::NoFunction { path: path.display().to_string() });
        };
        let is_stand_in = function(module, s!("dmlcts_stand_in")).is_some();
        let version = version_of(&path).unwrap_or_default();
        Ok(Self { create, path, version, is_stand_in, passed_over: None })
    }

    /// The name of the function that creates devices. Older libraries have only `DMLCreateDevice`.
    pub(crate) fn function(&self) -> &'static str {
        match self.create {
            Create::Device(_) => "DMLCreateDevice",
            Create::Device1(_) => "DMLCreateDevice1",
        }
    }

    /// Creates a DirectML device on a Direct3D 12 device.
    pub(crate) fn create_device(
        &self,
        device: &ID3D12Device,
        flags: DML_CREATE_DEVICE_FLAGS,
    ) -> windows::core::Result<IDMLDevice> {
        let mut created: Option<IDMLDevice> = None;
        let (iid, place) = (std::ptr::from_ref(&IDMLDevice::IID), (&raw mut created).cast());
        let result = match self.create {
            // SAFETY: the device is alive, and `created` has room for one pointer to the interface with this
            // id.
            Create::Device(create) => unsafe { create(device.as_raw(), flags, iid, place) },
            // SAFETY: as above.
            Create::Device1(create) => unsafe {
                create(device.as_raw(), flags, DML_FEATURE_LEVEL_1_0, iid, place)
            },
        };
        result.ok()?;
        given(created)
    }
}

fn is_one_file(one: &Path, other: &Path) -> bool {
    let [one, other] = [one, other].map(|path| path.canonicalize().ok());
    one.is_some() && one == other
}

type Function = unsafe extern "system" fn() -> isize;

fn load(path: &Path, flags: LOAD_LIBRARY_FLAGS) -> Result<HMODULE, String> {
    let wide = wide(path);
    let loaded = without_boxes(|| {
        // SAFETY: the text ends with a zero. The library's initialisers may do anything; the user who names a
        // library trusts it.
        unsafe { LoadLibraryExW(PCWSTR(wide.as_ptr()), None, flags) }
    });
    loaded.map_err(|error| format!("{}, {}", code(&error), error.message()))
}

/// Does something without the dialog box that Windows shows for an invalid library, which waits until a user
/// closes it. Restores the thread's error mode afterwards, since other code may depend on it.
fn without_boxes<T>(act: impl FnOnce() -> T) -> T {
    let mut before = THREAD_ERROR_MODE::default();
    // SAFETY: `before` has room for one mode.
    let is_set = unsafe { SetThreadErrorMode(SEM_FAILCRITICALERRORS, Some(&raw mut before)) }.is_ok();
    let done = act();
    if is_set {
        // SAFETY: the thread had this mode before.
        let _ = unsafe { SetThreadErrorMode(before, None) };
    }
    done
}

fn function(module: HMODULE, name: PCSTR) -> Option<Function> {
    // SAFETY: the module was loaded and is never freed. The name is a literal that ends with a zero.
    unsafe { GetProcAddress(module, name) }
}

fn path_of(module: HMODULE) -> PathBuf {
    let mut letters = vec![0; 1 << 15];
    // SAFETY: the module was loaded, and the call gets the length of the buffer.
    let length = unsafe { GetModuleFileNameW(Some(module), &mut letters) };
    letters.truncate(length as usize);
    PathBuf::from(OsString::from_wide(&letters))
}

/// The version in the file's resources, as in `1.15.4.0`.
fn version_of(path: &Path) -> Option<String> {
    let wide = wide(path);
    let path = PCWSTR(wide.as_ptr());
    // SAFETY: the text ends with a zero.
    let size = unsafe { GetFileVersionInfoSizeW(path, None) };
    if size == 0 {
        return None;
    }
    let mut block = vec![0_u64; (size as usize).div_ceil(8)];
    // SAFETY: the block has room for this many bytes.
    unsafe { GetFileVersionInfoW(path, None, size, block.as_mut_ptr().cast()) }.ok()?;
    let (mut found, mut length) = (ptr::null_mut(), 0);
    // SAFETY: the previous call filled the block, which outlives all reads of what is found in it.
    let is_found =
        unsafe { VerQueryValueW(block.as_ptr().cast(), w!("\\"), &raw mut found, &raw mut length) };
    if !is_found.as_bool() || (length as usize) < size_of::<VS_FIXEDFILEINFO>() || found.is_null() {
        return None;
    }
    // SAFETY: the block has a struct of this type at this name, with at least its size. Its alignment may be
    // only four.
    let info = unsafe { ptr::read_unaligned(found.cast::<VS_FIXEDFILEINFO>()) };
    let words = [info.dwFileVersionMS, info.dwFileVersionLS].map(|pair| [pair >> 16, pair & 0xFFFF]);
    let [[major, minor], [build, revision]] = words;
    Some(format!("{major}.{minor}.{build}.{revision}"))
}

/// A path in UTF-16 with a zero at the end, for Windows.
fn wide(path: &Path) -> Vec<u16> {
    path.as_os_str().encode_wide().chain([0]).collect()
}

#[cfg(test)]
mod tests {
    use windows::Win32::System::Diagnostics::Debug::{GetThreadErrorMode, SEM_NOOPENFILEERRORBOX};

    use super::*;

    #[test]
    fn a_library_is_loaded_without_boxes_and_the_mode_is_left_as_it_was() {
        // SAFETY: the call has no requirements.
        let mode = || unsafe { GetThreadErrorMode() };
        // SAFETY: the mode is valid.
        unsafe { SetThreadErrorMode(SEM_NOOPENFILEERRORBOX, None) }.expect("a mode can be set");
        assert_eq!(without_boxes(mode), SEM_FAILCRITICALERRORS.0);
        assert_eq!(mode(), SEM_NOOPENFILEERRORBOX.0);
    }

    #[test]
    fn the_version_of_a_library_is_four_numbers_of_its_file() {
        let folder = PathBuf::from(env::var_os("SystemRoot").expect("Windows says where it is"));
        let version = version_of(&folder.join("System32").join("kernel32.dll")).expect("it has one");
        let numbers: Vec<u32> = version.split('.').map(|number| number.parse().expect(&version)).collect();
        assert_eq!(numbers.len(), 4, "{version}");
        assert!(matches!(numbers[0], 6 | 10), "that of Windows: {version}");
        assert_eq!(version_of(&folder.join("nowhere.dll")), None);
    }
}
