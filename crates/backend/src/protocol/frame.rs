//! Frames: the form of messages in a pipe. A reader trusts no announced length and allocates memory as bytes
//! arrive. Bytes that do not start a frame are usually printed text, so the error shows them as text.

use std::io::{self, BufRead, Read, Write};

use dmlcts_model::{named_enum, printable};
use serde::Serialize;

use super::speaks;

/// The first bytes of every frame: a byte that UTF-8 never has, the name, and the version of the protocol.
pub const MAGIC: [u8; 8] = *b"\xF7dmlcts1";
/// The number of bytes before a frame's header.
pub const PREFIX: usize = 32;
/// The maximum number of bytes that are reserved before any byte arrives. Most frames fit, and a wrong length
/// does no harm.
const RESERVED: u64 = 1 << 20;
/// The maximum number of bytes that an error shows.
const EXCERPT: usize = 80;

named_enum! {
    /// The message that a frame holds.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FrameKind: name {
        /// From both sides: the name and the version of the sender.
        Hello = "hello",
        /// To the backend: behave as a device of this feature level.
        Level = "level",
        /// To the backend: cases, with the bytes of their inputs.
        Run = "run",
        /// To the backend: cases in binary form.
        Packed = "packed",
        /// From the backend: the phase that it begins.
        Phase = "phase",
        /// From the backend: outcomes of cases, with the bytes of their outputs.
        Results = "results",
        /// To the backend: no case follows.
        Bye = "bye",
    }
}

impl FrameKind {
    fn code(self) -> [u8; 8] {
        let mut code = [b' '; 8];
        code[..self.name().len()].copy_from_slice(self.name().as_bytes());
        code
    }
}

/// A message that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The message.
    pub kind: FrameKind,
    /// The header, as JSON.
    pub header: Vec<u8>,
    /// The bytes of tensors.
    pub body: Vec<u8>,
}

/// The maximum lengths of a frame's parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The maximum length of the header, in bytes.
    pub header: u64,
    /// The maximum length of the body, in bytes.
    pub body: u64,
}

/// The reason why bytes are not a frame.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// Other bytes stand where a frame must begin, usually printed text.
    #[error(
        "`{0}` stands where a frame must begin; standard output belongs to the protocol: print to standard error"
    )]
    Noise(String),
    /// The frame has another version of the protocol.
    #[error("{}", speaks("it", *.0))]
    Version(u32),
    /// The bytes end within a frame.
    #[error("a frame ends after {had} of {wanted} bytes of its {part}")]
    Short {
        /// The part that is incomplete.
        part: &'static str,
        /// The number of bytes that arrived.
        had: u64,
        /// The number of bytes that were announced.
        wanted: u64,
    },
    /// The message is unknown.
    #[error("`{0}` is not a message; the messages are hello, level, run, packed, phase, results, bye")]
    Kind(String),
    /// An announced length is out of bounds.
    #[error("a frame `{kind}` announces {length} bytes of {part}, and at most {most} are allowed")]
    Long {
        /// The message that the frame holds.
        kind: &'static str,
        /// The part that is too long.
        part: &'static str,
        /// The announced number of bytes.
        length: u64,
        /// The maximum number of bytes.
        most: u64,
    },
    /// The pipe broke.
    #[error("the pipe broke: {0}")]
    Io(String),
}

impl From<io::Error> for FrameError {
    fn from(error: io::Error) -> Self {
        Self::Io(error.to_string())
    }
}

impl Frame {
    /// Reads a frame. `None` if the bytes end before it begins.
    ///
    /// # Errors
    ///
    /// The bytes are not a frame, a length is out of bounds, or the pipe fails.
    pub fn read(input: &mut impl BufRead, bounds: Bounds) -> Result<Option<Self>, FrameError> {
        let start = loop {
            match input.fill_buf() {
                Ok(start) => break start,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        };
        if start.is_empty() {
            return Ok(None);
        }
        if !start.iter().zip(MAGIC).all(|(byte, magic)| *byte == magic) {
            return Err(no_frame(start));
        }
        let mut prefix = Vec::new();
        part(input, "prefix", PREFIX as u64, &mut prefix)?;
        let (magic, rest) = prefix.split_at(8);
        let (code, lengths) = rest.split_at(8);
        if magic != MAGIC {
            return Err(no_frame(magic));
        }
        let kind = FrameKind::ALL
            .into_iter()
            .find(|kind| kind.code() == *code)
            .ok_or_else(|| FrameError::Kind(excerpt(code.trim_ascii_end())))?;
        let length = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&lengths[at..at + 8]);
            u64::from_le_bytes(bytes)
        };
        let bounded = |part: &'static str, length: u64, most: u64| {
            if length > most {
                Err(FrameError::Long { kind: kind.name(), part, length, most })
            } else {
                Ok(length)
            }
        };
        let header_length = bounded("header", length(0), bounds.header)?;
        let body_length = bounded("body", length(8), bounds.body)?;
        let (mut header, mut body) = (Vec::new(), Vec::new());
        part(input, "header", header_length, &mut header)?;
        part(input, "body", body_length, &mut body)?;
        Ok(Some(Self { kind, header, body }))
    }
}

/// The error for other bytes in place of a frame.
fn no_frame(bytes: &[u8]) -> FrameError {
    match bytes.strip_prefix(&MAGIC[..MAGIC.len() - 1]) {
        Some([digit @ b'0'..=b'9', ..]) => FrameError::Version(u32::from(digit - b'0')),
        _ => FrameError::Noise(excerpt(bytes)),
    }
}

/// Reads one part of a frame. The memory grows as bytes arrive, whatever length was announced.
fn part(
    input: &mut impl BufRead,
    part: &'static str,
    length: u64,
    into: &mut Vec<u8>,
) -> Result<(), FrameError> {
    // If no memory is left, reading fails.
    let _ = into.try_reserve(length.min(RESERVED) as usize);
    let had = input.take(length).read_to_end(into)? as u64;
    if had < length { Err(FrameError::Short { part, had, wanted: length }) } else { Ok(()) }
}

/// The bytes before the header of a frame with this message and these lengths.
pub fn prefix(kind: FrameKind, header: usize, body: usize) -> [u8; PREFIX] {
    let mut prefix = [0; PREFIX];
    prefix[..8].copy_from_slice(&MAGIC);
    prefix[8..16].copy_from_slice(&kind.code());
    prefix[16..24].copy_from_slice(&(header as u64).to_le_bytes());
    prefix[24..].copy_from_slice(&(body as u64).to_le_bytes());
    prefix
}

/// A frame that holds a message and no body.
pub(crate) fn message<T: Serialize>(kind: FrameKind, message: &T) -> Vec<u8> {
    let header = serde_json::to_vec(message).unwrap_or_default();
    let mut bytes = prefix(kind, header.len(), 0).to_vec();
    bytes.extend(header);
    bytes
}

/// Writes a frame.
pub fn write_frame(output: &mut impl Write, kind: FrameKind, header: &[u8], body: &[u8]) -> io::Result<()> {
    output.write_all(&prefix(kind, header.len(), body.len()))?;
    output.write_all(header)?;
    output.write_all(body)?;
    output.flush()
}

/// The first line of bytes that may be text, within bounds.
fn excerpt(bytes: &[u8]) -> String {
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    printable(&String::from_utf8_lossy(&line[..line.len().min(EXCERPT)]), EXCERPT).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds { header: 100, body: 100 };

    fn frame() -> Vec<u8> {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, FrameKind::Run, b"{}", b"abc").expect("memory takes it");
        bytes
    }

    #[test]
    fn a_written_frame_reads_back_and_later_bytes_stay() {
        let mut bytes = frame();
        bytes.extend(frame());
        let mut input = bytes.as_slice();
        let expected = Frame { kind: FrameKind::Run, header: b"{}".to_vec(), body: b"abc".to_vec() };
        assert_eq!(Frame::read(&mut input, BOUNDS), Ok(Some(expected.clone())));
        assert_eq!(Frame::read(&mut input, BOUNDS), Ok(Some(expected)));
        assert_eq!(Frame::read(&mut input, BOUNDS), Ok(None));
    }

    #[test]
    fn every_truncated_frame_is_an_error() {
        let whole = frame();
        for end in 1..whole.len() {
            let read = Frame::read(&mut &whole[..end], BOUNDS);
            assert!(matches!(read, Err(FrameError::Short { .. })), "{end}: {read:?}");
        }
    }

    #[test]
    fn the_error_says_why_bytes_are_not_a_frame() {
        let said = |bytes: &[u8]| Frame::read(&mut &*bytes, BOUNDS).expect_err("no frame").to_string();
        assert!(said(b"loading model...\nready\n").starts_with("`loading model...` stands where"));
        assert!(said(b"\xF7dmlctsX").starts_with("`\u{FFFD}dmlctsX` stands where"));
        let older = "it speaks protocol version 2; this program speaks 1: renew the older of the two";
        assert_eq!(said(b"\xF7dmlcts2hello   "), older);
        let mut unknown = frame();
        unknown[8..16].copy_from_slice(b"runs    ");
        assert_eq!(
            said(&unknown),
            "`runs` is not a message; the messages are hello, level, run, packed, phase, results, bye"
        );
        let mut long = frame();
        long[24..32].copy_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(
            said(&long),
            "a frame `run` announces 18446744073709551615 bytes of body, and at most 100 are allowed"
        );
    }

    #[test]
    fn a_wrong_length_allocates_no_memory() {
        let mut wrong = frame();
        wrong[24..32].copy_from_slice(&(1_u64 << 50).to_le_bytes());
        let bounds = Bounds { header: 100, body: u64::MAX };
        assert!(matches!(Frame::read(&mut wrong.as_slice(), bounds), Err(FrameError::Short { had: 3, .. })));
    }
}
