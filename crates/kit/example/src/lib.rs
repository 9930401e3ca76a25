//! A backend on the CPU as its author would write it: SLICE, one element at a time.
//!
//! It has one known bug, with a file in `findings/`: it refuses eight axes. `EXAMPLE_BUG` plants another one
//! or removes this one, and `.ci/run kit` checks that the gate finds it.

use std::{env, process, thread, time::Duration};

use dmlcts_kit::{
    BindingOffsets, Capabilities, Desc, List, Operators, Refusal, RunError, Walk, byte_strides, check_slice,
    check_tensors,
};

/// The backend.
pub struct Slices {
    capabilities: Capabilities,
    bug: String,
}

/// A created operator.
pub struct Copy {
    walks: Vec<Walk>,
    /// Those of the input and of the output, in bytes.
    strides: [List; 2],
    width: usize,
    bug: String,
}

impl Slices {
    /// Opens the backend.
    pub fn open() -> Result<Self, String> {
        let bug = env::var("EXAMPLE_BUG").unwrap_or_default();
        if bug == "no-device" {
            return Err("there is no device".to_owned());
        }
        let all = Capabilities::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        let capabilities = Capabilities { operators: Some(vec!["SLICE".to_owned()]), ..all };
        Ok(Self { capabilities, bug })
    }
}

impl Operators for Slices {
    type Operator = Copy;

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn create(&mut self, desc: &Desc) -> Result<Copy, Refusal> {
        if desc.signature.operator != "SLICE" {
            return Err(Refusal::Unsupported("only SLICE is there".into()));
        }
        let (input, output) = check_tensors(desc)?;
        let walks = match check_slice(desc, input, output) {
            Err(_) if self.bug == "accepts-invalid" => Vec::new(),
            walks => walks?,
        };
        let rank = walks.len();
        if rank == 8 && self.bug != "fixed" {
            return Err(Refusal::Unsupported("eight axes are not there yet".into()));
        }
        Ok(Copy {
            walks,
            strides: [byte_strides(input)?, byte_strides(output)?],
            width: input.data_type.element_size().unwrap_or_default(),
            bug: if rank == 3 { self.bug.clone() } else { String::new() },
        })
    }

    fn run(
        &mut self,
        copy: &mut Copy,
        _: BindingOffsets,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), RunError> {
        match copy.bug.as_str() {
            "abort" => process::abort(),
            "wrong-value" => copy.walks.iter_mut().for_each(|walk| walk.first = 0),
            "hang" => thread::sleep(Duration::from_secs(3600)),
            _ => {}
        }
        for mut index in 0..copy.walks.iter().map(|walk| walk.length).product() {
            let (mut from, mut to) = (0, 0);
            for (axis, walk) in copy.walks.iter().enumerate().rev() {
                let place = index % walk.length;
                index /= walk.length;
                from += (walk.first + place * walk.step) * copy.strides[0][axis];
                to += place * copy.strides[1][axis];
            }
            let (from, to) = (from as usize, to as usize);
            let source = input.get(from..from + copy.width);
            let target = output.get_mut(to..to + copy.width);
            let (Some(source), Some(target)) = (source, target) else {
                return Err(RunError::Failed("an element is outside of its tensor".into()));
            };
            target.copy_from_slice(source);
        }
        Ok(())
    }
}
