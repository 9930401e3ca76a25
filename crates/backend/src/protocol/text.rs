//! The little JSON that columns are made of, written into memory and read from it without a detour. The reader knows
//! only what the writer writes, and gives up on everything else.

/// Writes an integer.
pub(super) fn unsigned(value: u64, out: &mut Vec<u8>) {
    if value < 10 {
        out.push(b'0' + value as u8);
        return;
    }
    let (mut digits, mut first, mut left) = ([0; 20], 20, value);
    while left > 0 {
        first -= 1;
        digits[first] = b'0' + (left % 10) as u8;
        left /= 10;
    }
    out.extend_from_slice(&digits[first..]);
}

/// Writes an integer.
pub(super) fn signed(value: i64, out: &mut Vec<u8>) {
    if value < 0 {
        out.push(b'-');
    }
    unsigned(value.unsigned_abs(), out);
}

pub(super) fn null(out: &mut Vec<u8>) {
    out.extend_from_slice(b"null");
}

/// Writes a string.
pub(super) fn string(value: &str, out: &mut Vec<u8>) {
    if value.bytes().all(is_plain) {
        out.push(b'"');
        out.extend_from_slice(value.as_bytes());
        out.push(b'"');
    } else {
        // Writing to memory does not fail.
        let _ = serde_json::to_writer(out, value);
    }
}

/// Writes the name of a value.
pub(super) fn key(name: &str, out: &mut Vec<u8>) {
    string(name, out);
    out.push(b':');
}

/// Writes a column: an array with a value for each row.
pub(super) fn column<T>(
    rows: impl IntoIterator<Item = T>,
    out: &mut Vec<u8>,
    mut value: impl FnMut(T, &mut Vec<u8>),
) {
    out.push(b'[');
    let first = out.len();
    for row in rows {
        if out.len() > first {
            out.push(b',');
        }
        value(row, out);
    }
    out.push(b']');
}

/// Whether a byte stands for itself in a string.
fn is_plain(byte: u8) -> bool {
    byte >= 0x20 && byte != b'"' && byte != b'\\'
}

/// What is left of a text. Every method gives up, with `None`, where something else stands there; what is read is gone.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    /// Reads exactly this.
    pub(super) fn literal(&mut self, expected: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(expected)?;
        Some(())
    }

    /// Reads this byte if it is the next one.
    pub(super) fn skips(&mut self, byte: u8) -> bool {
        let is_next = self.0.first() == Some(&byte);
        self.0 = &self.0[usize::from(is_next)..];
        is_next
    }

    /// Reads `null` if it comes next.
    pub(super) fn skips_null(&mut self) -> bool {
        self.0.first() == Some(&b'n') && self.literal(b"null").is_some()
    }

    pub(super) fn unsigned(&mut self) -> Option<u64> {
        let digit = |byte: Option<&u8>| byte.map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10);
        let first = digit(self.0.first())?;
        let (mut value, mut digits) = (u64::from(first), 1);
        while let Some(digit) = digit(self.0.get(digits)) {
            value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
            digits += 1;
        }
        // JSON has no number with a zero before others.
        if digits > 1 && first == 0 {
            return None;
        }
        self.0 = &self.0[digits..];
        Some(value)
    }

    /// Reads an integer into its place, if it fits.
    pub(super) fn put<T: TryFrom<u64>>(&mut self, place: &mut T) -> Option<()> {
        *place = self.unsigned()?.try_into().ok()?;
        Some(())
    }

    pub(super) fn signed(&mut self) -> Option<i64> {
        if self.skips(b'-') {
            // To JSON's readers, -0 is no integer.
            0_i64.checked_sub_unsigned(self.unsigned().filter(|value| *value != 0)?)
        } else {
            self.unsigned()?.try_into().ok()
        }
    }

    /// Reads a string in which every byte stands for itself.
    pub(super) fn string(&mut self) -> Option<&'a str> {
        self.literal(b"\"")?;
        let end = self.0.iter().position(|byte| !is_plain(*byte))?;
        let (value, rest) = self.0.split_at(end);
        self.0 = rest;
        self.literal(b"\"")?;
        std::str::from_utf8(value).ok()
    }

    /// Reads an array, of which `value` reads one value at a time.
    pub(super) fn array(&mut self, mut value: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.literal(b"[")?;
        if self.skips(b']') {
            return Some(());
        }
        loop {
            value(self)?;
            if !self.skips(b',') {
                return self.literal(b"]");
            }
        }
    }

    /// Reads an array with a value for each row.
    pub(super) fn column<T>(
        &mut self,
        rows: impl IntoIterator<Item = T>,
        mut value: impl FnMut(&mut Self, T) -> Option<()>,
    ) -> Option<()> {
        let mut rows = rows.into_iter();
        self.array(|reader| value(reader, rows.next()?))?;
        rows.next().is_none().then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_read_back_at_their_ends() {
        for value in [0, 1, 9, 10, 99, 100, 4_294_967_295, i64::MAX, -1, -10, i64::MIN] {
            let mut out = Vec::new();
            signed(value, &mut out);
            assert_eq!(String::from_utf8_lossy(&out), value.to_string());
            let mut reader = Reader(&out);
            assert_eq!((reader.signed(), reader.0), (Some(value), &b""[..]));
        }
        let mut out = Vec::new();
        unsigned(u64::MAX, &mut out);
        assert_eq!(Reader(&out).unsigned(), Some(u64::MAX));
    }

    #[test]
    fn what_is_no_integer_is_given_up() {
        for text in
            ["", "-", "-0", "x", "01", "18446744073709551616", "9223372036854775808", "-9223372036854775809"]
        {
            assert_eq!(Reader(text.as_bytes()).signed(), None, "{text}");
        }
    }

    #[test]
    fn strings_read_back_unless_they_need_escapes() {
        for (value, is_plain) in
            [("SLICE1", true), ("größer", true), ("a \"b\"", false), ("c:\\d", false), ("\n", false)]
        {
            let mut out = Vec::new();
            string(value, &mut out);
            assert_eq!(serde_json::from_slice::<String>(&out).expect("it is JSON"), value);
            assert_eq!(Reader(&out).string(), is_plain.then_some(value));
        }
        assert_eq!(Reader(b"\"unfinished").string(), None);
    }

    #[test]
    fn a_column_has_a_value_for_each_row() {
        let read = |text: &str| {
            Reader(text.as_bytes()).column(0..3, |reader, row| (reader.unsigned()? == row).then_some(()))
        };
        assert_eq!(read("[0,1,2]"), Some(()));
        for text in ["[0,1]", "[0,1,2,3]", "[]", "[0,1,2", "[0,1,2,]", "0,1,2]", "[0 ,1,2]"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
