//! The debug layers of Direct3D 12 and of DirectML: enables them, and reads their messages about failures and
//! without failures.

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

/// The maximum number of messages for one failure; the newest are kept.
const MOST_MESSAGES: usize = 8;
/// The maximum number of characters of a message.
const MOST_LETTERS: usize = 1000;

/// The debug layers of a device, with their messages. Both layers write to the queue of the Direct3D device.
/// The project's stand-in cannot do that and has its own queue. Without the word `debug` there are no layers.
#[derive(Debug, Default)]
pub(super) struct Layers {
    queues: Vec<ID3D12InfoQueue>,
    turn: Mutex<()>,
    /// Whether the current messages were reported with a failure.
    is_told: AtomicBool,
    /// The number of errors that were reported without a failure.
    passed_over: AtomicU64,
    /// A note about a layer that was requested but is missing.
    pub(super) note: Option<String>,
}

/// Enables the layer of Direct3D 12, which must happen before a device is created. The error says why there
/// is none.
pub(super) fn switch_on() -> Result<(), ErrorCode> {
    let mut debug: Option<ID3D12Debug> = None;
    // SAFETY: `debug` has room for one interface.
    let found = unsafe { D3D12GetDebugInterface(&raw mut debug) }.and_then(|()| given(debug));
    // SAFETY: the interface is alive.
    found.map(|debug| unsafe { debug.EnableDebugLayer() }).map_err(|error| code(&error))
}

/// Creates a DirectML device with its debug layer, or without it if only Direct3D's `layer` is installed. It
/// is an error if neither is installed.
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
    /// Clears earlier messages, and blocks other callers while the guard lives, so that new messages are
    /// about one call. Earlier errors that were not reported with a failure are reported first. Does nothing
    /// without a debug layer.
    pub(super) fn listen(&self) -> Option<MutexGuard<'_, ()>> {
        (!self.queues.is_empty()).then(|| {
            let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
            if !self.is_told.swap(false, Ordering::Relaxed) {
                for error in self.queues.iter().flat_map(|queue| read(queue, D3D12_MESSAGE_SEVERITY_ERROR)) {
                    self.pass_over(&error);
                }
            }
            for queue in &self.queues {
                // SAFETY: the queue is alive.
                unsafe { queue.ClearStoredMessages() };
            }
            turn
        })
    }

    /// Reports an error without a failure as a note on standard error, which a host shows to the user: the
    /// first one in full, and then the number of errors.
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

    /// The newest messages, if there are any. They stay in the queue, since a lost device may be queried
    /// again.
    pub(super) fn newest_messages(&self) -> Option<String> {
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
}

/// The messages of one queue with at least this severity, each on one line.
fn read(queue: &ID3D12InfoQueue, least: D3D12_MESSAGE_SEVERITY) -> Vec<String> {
    // SAFETY: the queue is alive.
    let count = unsafe { queue.GetNumStoredMessages() };
    (0..count).filter_map(|index| message(queue, index, least)).collect()
}

fn message(queue: &ID3D12InfoQueue, index: u64, least: D3D12_MESSAGE_SEVERITY) -> Option<String> {
    let mut length = 0;
    // SAFETY: without memory for the message, the call returns its length.
    unsafe { queue.GetMessage(index, None, &raw mut length) }.ok()?;
    // The units have eight bytes, so that the memory is aligned for the struct.
    let mut memory = vec![0_u64; length.max(size_of::<D3D12_MESSAGE>()).div_ceil(8)];
    let place = memory.as_mut_ptr().cast::<D3D12_MESSAGE>();
    // SAFETY: the memory has room for this many bytes.
    unsafe { queue.GetMessage(index, Some(place), &raw mut length) }.ok()?;
    // SAFETY: the call has written the struct, for which every value is valid, and its pointers point into
    // the same memory.
    let (severity, text) = unsafe {
        let message = &*place;
        if message.pDescription.is_null() {
            return None;
        }
        let text = std::slice::from_raw_parts(message.pDescription, message.DescriptionByteLength);
        (message.Severity, String::from_utf8_lossy(text).into_owned())
    };
    // Severity 0 is the gravest.
    if severity.0 > least.0 {
        return None;
    }
    let words: Vec<&str> = text.trim_end_matches('\0').split_whitespace().collect();
    let text: String = words.join(" ").chars().take(MOST_LETTERS).collect();
    (!text.is_empty()).then_some(text)
}
