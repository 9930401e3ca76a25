//! What a backend says in place of `hello` if it cannot work.

use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize};

use super::{Bounds, Frame, FrameKind, LONGEST_HEADER, VERSION, write_frame};

/// `hello`, from a backend that cannot work, such as one that finds no GPU. It ends then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "host", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CannotStart {
    /// The version of the protocol: 1.
    pub protocol: u32,
    /// Why not, for people: lower-case, without a period.
    pub error: String,
}

/// Tells the host why there is no backend, once it says hello.
pub fn refuse(error: &str, input: &mut impl BufRead, output: &mut impl Write) -> io::Result<()> {
    let bounds = Bounds { header: LONGEST_HEADER, body: 0 };
    if Frame::read(input, bounds).is_ok_and(|frame| frame.is_some_and(|frame| frame.kind == FrameKind::Hello))
    {
        let refusal = CannotStart { protocol: VERSION, error: error.to_owned() };
        write_frame(output, FrameKind::Hello, &serde_json::to_vec(&refusal)?, &[])?;
    }
    Ok(())
}
