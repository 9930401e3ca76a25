//! What a buffer must be to be bound.

/// The part of a buffer that a client binds, and what is known of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where it starts, in bytes.
    pub offset: u64,
    /// How long it is, in bytes.
    pub size: u64,
    /// Whether the resource is a buffer, and not a texture.
    pub buffer: bool,
    /// Whether the buffer allows unordered access.
    pub unordered: bool,
    /// How long the whole buffer is, in bytes.
    pub width: u64,
}

impl Part {
    /// Why it cannot be bound where so many bytes are needed, at an offset that is a multiple of `alignment`.
    pub fn fault(&self, needed: u64, alignment: u64) -> Option<String> {
        let Self { offset, size, width, .. } = *self;
        if !self.buffer {
            Some("it is no buffer".to_owned())
        } else if !self.unordered {
            Some("its buffer does not allow unordered access".to_owned())
        } else if !offset.is_multiple_of(alignment) {
            Some(format!("its offset of {offset} bytes is no multiple of {alignment}"))
        } else if offset.checked_add(size).is_none_or(|end| end > width) {
            Some(format!("{size} bytes from {offset} on end behind its buffer of {width}"))
        } else if size < needed {
            Some(format!("it has {size} bytes, and {needed} are needed"))
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_part_is_described() {
        let good = Part { offset: 32, size: 96, buffer: true, unordered: true, width: 128 };
        assert_eq!(good.fault(96, 16), None);
        let fault = |part: Part| part.fault(96, 16).expect("it is wrong");
        assert_eq!(fault(Part { buffer: false, ..good }), "it is no buffer");
        assert_eq!(fault(Part { unordered: false, ..good }), "its buffer does not allow unordered access");
        assert_eq!(fault(Part { offset: 24, ..good }), "its offset of 24 bytes is no multiple of 16");
        assert_eq!(fault(Part { width: 127, ..good }), "96 bytes from 32 on end behind its buffer of 127");
        assert!(fault(Part { offset: 32, size: u64::MAX, ..good }).contains("end behind its buffer"));
        assert_eq!(fault(Part { size: 95, ..good }), "it has 95 bytes, and 96 are needed");
    }
}
