//! The debug layers of Direct3D 12 and of DirectML: switching them on, and reading what they say of a failure, and what they say where
//! nothing fails.

use std::{
    io::{self, Write},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use dmlcts_model::ErrorCode;
use windows::{
    Win32::{
        AI::MachineLearning::DirectML::IDMLDevice,
        Graphics::Direct3D12::{
            D3D12_MESSAGE, D3D12_MESSAGE_SEVERITY, D3D12_MESSAGE_SEVERITY_ERROR,
            D3D12_MESSAGE_SEVERITY_WARNING, D3D12GetDebugInterface, ID3D12Debug, ID3D12Device,
            ID3D12InfoQueue,
        },
    },
    core::Interface,
};

use super::{
    fault::{code, given},
    library::Library,
};
use crate::{
    OpenError,
    raw::{DML_CREATE_DEVICE_FLAG_DEBUG, DML_CREATE_DEVICE_FLAG_NONE},
};

/// So many messages are told of one failure, the newest.
const MOST_MESSAGES: usize = 8;
/// A longer one is cut here.
const MOST_LETTERS: usize = 1000;

/// The layers of a device, and what they say. Both write to the queue of Direct3D's device; the project's stand-in, which
/// cannot, has one of its own. Without the word `debug` there are none.
#[derive(Debug, Default)]
pub(super) struct Layers {
    queues: Vec<ID3D12InfoQueue>,
    turn: Mutex<()>,
    /// Whether what they say now was told with a failure.
    is_told: AtomicBool,
    /// How many errors they have reported with which nothing failed.
    passed_over: AtomicU64,
    /// What was wanted of them and is not there.
    pub(super) note: Option<String>,
}

/// Switches on the layer of Direct3D 12, which has to be on before a device is created; or says why there is none.
pub(super) fn switch_on() -> Result<(), ErrorCode> {
    let mut debug: Option<ID3D12Debug> = None;
    // SAFETY: `debug` is a place for one interface.
    let found = unsafe { D3D12GetDebugInterface(&raw mut debug) }.and_then(|()| given(debug));
    // SAFETY: the interface is alive.
    found.map(|debug| unsafe { debug.EnableDebugLayer() }).map_err(|error| code(&error))
}

/// A DirectML device with its layer, and one without where only the `layer` of Direct3D is installed. The error is that neither
/// is.
pub(super) fn create_device(
    library: &Library,
    direct3d: &ID3D12Device,
    layer: Result<(), ErrorCode>,
) -> Result<(windows::core::Result<IDMLDevice>, Layers), OpenError> {
    let mut created = library.create_device(direct3d, DML_CREATE_DEVICE_FLAG_DEBUG);
    let mut note = None;
    match (layer, created.as_ref().map_err(code)) {
        (Err(direct3d), Err(directml @ ErrorCode::COMPONENT_MISSING)) => {
            return Err(OpenError::NoDebugLayer { direct3d, directml });
        }
        (Ok(()), Err(directml @ ErrorCode::COMPONENT_MISSING)) => {
            note = Some(format!("without DirectML's debug layer ({directml})"));
            created = library.create_device(direct3d, DML_CREATE_DEVICE_FLAG_NONE);
        }
        (Err(direct3d), _) => note = Some(format!("without Direct3D's debug layer ({direct3d})")),
        _ => {}
    }
    let own = created.as_ref().ok().and_then(|directml| directml.cast().ok());
    let queues: Vec<_> = [direct3d.cast().ok(), own].into_iter().flatten().collect();
    if queues.is_empty() {
        let note = note.get_or_insert_default();
        note.push_str(if note.is_empty() { "" } else { ", and " });
        note.push_str("without a queue to read what debug layers say");
    }
    Ok((created, Layers { queues, note, ..Layers::default() }))
}

impl Layers {
    /// Forgets what was said before, and keeps others from calling for as long as what it returns lives, so that what comes
    /// is about one call. Errors among it that no failure was told with are told now. Without a debug layer it does nothing.
    pub(super) fn listen(&self) -> Option<MutexGuard<'_, ()>> {
        (!self.queues.is_empty()).then(|| {
            let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
            if !self.is_told.swap(false, Ordering::Relaxed) {
                for error in self.queues.iter().flat_map(|queue| read(queue, D3D12_MESSAGE_SEVERITY_ERROR)) {
                    self.pass_over(&error);
                }
            }
            self.clear();
            turn
        })
    }

    /// Tells of an error with which nothing failed, on standard error, where a host takes it for its run: of the first, and then of
    /// how many there are.
    fn pass_over(&self, error: &str) {
        let count = self.passed_over.fetch_add(1, Ordering::Relaxed) + 1;
        let _ = match count {
            1 => writeln!(io::stderr(), "note: a debug layer reports an error, and nothing failed: {error}"),
            _ if count == 10_u64.pow(count.ilog10()) => {
                writeln!(
                    io::stderr(),
                    "note: debug layers reported {count} errors so far with which nothing failed"
                )
            }
            _ => Ok(()),
        };
    }

    /// The newest messages, where there are any. They stay where they are: a device that is lost may be asked again.
    pub(super) fn heard(&self) -> Option<String> {
        let read = |queue| read(queue, D3D12_MESSAGE_SEVERITY_WARNING);
        let mut said: Vec<String> = self.queues.iter().flat_map(read).collect();
        self.is_told.store(!said.is_empty(), Ordering::Relaxed);
        let left_out = said.len().saturating_sub(MOST_MESSAGES);
        said.drain(..left_out);
        if left_out > 0 {
            said.insert(0, format!("({left_out} more before)"));
        }
        (!said.is_empty()).then(|| said.join(" | "))
    }

    fn clear(&self) {
        for queue in &self.queues {
            // SAFETY: the queue is alive.
            unsafe { queue.ClearStoredMessages() };
        }
    }
}

/// What is as bad as this or worse in one queue; without the end of lines.
fn read(queue: &ID3D12InfoQueue, least: D3D12_MESSAGE_SEVERITY) -> Vec<String> {
    // SAFETY: the queue is alive.
    let count = unsafe { queue.GetNumStoredMessages() };
    (0..count).filter_map(|index| message(queue, index, least)).collect()
}

fn message(queue: &ID3D12InfoQueue, index: u64, least: D3D12_MESSAGE_SEVERITY) -> Option<String> {
    let mut length = 0;
    // SAFETY: without a place for the message, it is asked how long it is.
    unsafe { queue.GetMessage(index, None, &raw mut length) }.ok()?;
    // In units of eight bytes, so that it is aligned for the struct.
    let mut memory = vec![0_u64; length.max(size_of::<D3D12_MESSAGE>()).div_ceil(8)];
    let place = memory.as_mut_ptr().cast::<D3D12_MESSAGE>();
    // SAFETY: there is room for so many bytes.
    unsafe { queue.GetMessage(index, Some(place), &raw mut length) }.ok()?;
    // SAFETY: the call has written the struct, whose every value is one, and what it points at lies in the same memory.
    let (severity, text) = unsafe {
        let message = &*place;
        if message.pDescription.is_null() {
            return None;
        }
        let text = std::slice::from_raw_parts(message.pDescription, message.DescriptionByteLength);
        (message.Severity, String::from_utf8_lossy(text).into_owned())
    };
    // The worst is 0.
    if severity.0 > least.0 {
        return None;
    }
    let words: Vec<&str> = text.trim_end_matches('\0').split_whitespace().collect();
    let text: String = words.join(" ").chars().take(MOST_LETTERS).collect();
    (!text.is_empty()).then_some(text)
}
