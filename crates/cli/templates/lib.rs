//! A backend on the CPU: SLICE, one element at a time. Call your library in its place.

use dmlcts_kit::{
    BindingOffsets, Capabilities, Desc, List, Operators, Refusal, RunError, Walk, byte_strides, check_slice,
    check_tensors,
};

/// The backend.
pub struct Mine {
    capabilities: Capabilities,
}

/// A created operator.
pub struct Copy {
    walks: Vec<Walk>,
    /// Those of the input and of the output, in bytes.
    strides: [List; 2],
    width: usize,
}

impl Mine {
    /// Opens the backend.
    pub fn open() -> Result<Self, String> {
        let all = Capabilities::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        let capabilities = Capabilities { operators: Some(vec!["SLICE".to_owned()]), ..all };
        Ok(Self { capabilities })
    }
}

impl Operators for Mine {
    type Operator = Copy;

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn create(&mut self, desc: &Desc) -> Result<Copy, Refusal> {
        if desc.signature.operator != "SLICE" {
            return Err(Refusal::Unsupported("only SLICE is there".into()));
        }
        let (input, output) = check_tensors(desc)?;
        Ok(Copy {
            walks: check_slice(desc, input, output)?,
            strides: [byte_strides(input)?, byte_strides(output)?],
            width: input.data_type.element_size().unwrap_or_default(),
        })
    }

    fn run(
        &mut self,
        copy: &mut Copy,
        _: BindingOffsets,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), RunError> {
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
