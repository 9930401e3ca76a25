//! YAML files for people, read so that every mistake keeps its place.
//!
//! A file is read twice: `granit-parser` gives a tree in which every key and value knows its bytes, and
//! `serde_yaml` gives the values. Between the two, the tree is held against the JSON Schema of the form, which is
//! generated from the same struct: that finds every unknown key, missing key and wrong type at once, where
//! serde would stop at the first. Anchors, aliases, tags, several documents, deep nesting and large files are
//! refused before anything is built from them.

mod place;
mod shape;
mod tree;
mod write;

use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;

pub use place::Place;
use tree::Node;
pub use write::{comments, quoted, scalar};

use crate::{Diagnostic, LoadError, Source, source::Located};

/// A file larger than this, in bytes, is refused.
pub const LARGEST_FILE: usize = 1 << 20;
/// A file nested deeper than this is refused.
pub const DEEPEST_NESTING: usize = 24;

/// A file that was read: its value, and where everything in it stands.
#[derive(Debug)]
pub struct Document<T> {
    /// What the file holds.
    pub value: T,
    source: Located,
    root: Node,
}

impl<T> Document<T> {
    /// The place of the whole file, from which to walk to others.
    pub fn root(&self) -> Place<'_> {
        Place::new(&self.source, &self.root)
    }
}

/// Reads a file into a form, or says everything that is wrong with its shape.
pub fn read<T: DeserializeOwned + JsonSchema>(source: &Source) -> Result<Document<T>, LoadError> {
    let located = Located::new(source);
    let root = tree::parse(&located).map_err(LoadError::of)?;
    let schema = SchemaGenerator::default().into_root_schema_for::<T>();
    LoadError::check(shape::check(&located, &root, schema.as_value()))?;
    match serde_yaml::from_str(&source.text) {
        Ok(value) => Ok(Document { value, source: located, root }),
        Err(error) => {
            let at = error.location().map_or(0, |location| location.index());
            let message = error.to_string();
            // serde_yaml ends its messages with the place, which the mistake shows anyway.
            let message = message.split(" at line ").next().unwrap_or(&message).to_owned();
            Err(LoadError::of(Diagnostic::new(&located, at..at + 1, message, "")))
        }
    }
}
