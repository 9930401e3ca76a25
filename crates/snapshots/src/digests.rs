//! The digests in the header of a file. A file that was edited by hand does not fit them.

use dmlcts_runner::Digest;

use crate::Metadata;

/// The number of digits for a line.
const DIGITS: usize = 2;

/// The digests of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Digests {
    /// Two digits for each value of the header, and then for each line of the body. They find the edited
    /// line.
    pub lines: String,
    /// The digest of the body.
    pub body: String,
    /// The digest of the header's values.
    pub header: String,
}

/// The place of an edit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Edited {
    /// The value of this key in the header.
    Value(&'static str),
    /// The line of the body at this index. It is missing if the body is not that long.
    Line(usize),
    /// The digest of this key, or what it stands for.
    Digest(&'static str),
}

impl Digests {
    /// The digests of a file with this header and this body. Editors change the end of a file, so it does not
    /// count.
    pub(crate) fn of(about: &Metadata, body: &str) -> Self {
        let body = body.trim_end();
        let values = about.values().map(|(key, value)| format!("{key}: {value}"));
        let lines = values.iter().map(String::as_str).chain(body.lines());
        let lines = lines.map(|line| Digest::of(line.as_bytes()).to_string()[..DIGITS].to_owned()).collect();
        let header =
            values.iter().fold(Digest::default(), |all, value| all.with(Digest::of(value.as_bytes())));
        Self { lines, body: Digest::of(body.as_bytes()).to_string(), header: header.to_string() }
    }

    /// The first place at which a file is not as it was written. `self` is what its header says, and `own`
    /// are the digests of the file.
    pub(crate) fn edited(&self, own: &Self, about: &Metadata) -> Option<Edited> {
        let values = about.values();
        let of = |digests: &Self, place: usize| {
            digests.lines.get(place * DIGITS..(place + 1) * DIGITS).map(str::to_owned)
        };
        if self.header != own.header {
            let key = (0..values.len()).find(|place| of(self, *place) != of(own, *place));
            return Some(key.map_or(Edited::Digest("header"), |place| Edited::Value(values[place].0)));
        }
        if self.body != own.body {
            let end = self.lines.len().max(own.lines.len()) / DIGITS;
            let line = (values.len()..end).find(|place| of(self, *place) != of(own, *place));
            return Some(line.map_or(Edited::Digest("body"), |place| Edited::Line(place - values.len())));
        }
        (self.lines != own.lines).then_some(Edited::Digest("lines"))
    }
}
