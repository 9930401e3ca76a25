//! Reads YAML files so that every mistake has a position.
//!
//! `granit-parser` returns a tree with the byte range of every key and value. The tree is checked against the
//! JSON Schema that is generated from the form's struct. This check finds every unknown key, missing key and
//! wrong type at once, while serde would stop at the first. Then serde makes the form of the tree.
//! Anchors, aliases, tags, several documents, deep nesting and large files are refused before any value is
//! built from them.

mod deserialize;
mod place;
mod shape;
mod tree;
mod write;

use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;

pub use place::Place;
use tree::Node;
pub use write::{comments, quoted, scalar};

use crate::{Diagnostic, LoadError, Source, source::Located};

/// The largest size of a file, in bytes.
pub const LARGEST_FILE: usize = 1 << 20;
/// The deepest nesting of a file.
pub const DEEPEST_NESTING: usize = 24;

/// A parsed file: its value, and the position of everything in it.
#[derive(Debug)]
pub struct Document<T> {
    /// The content of the file.
    pub value: T,
    source: Located,
    root: Node,
}

impl<T> Document<T> {
    /// The place of the whole file. All other places are found from it.
    pub fn root(&self) -> Place<'_> {
        Place::new(&self.source, &self.root)
    }
}

/// Reads files of one form.
#[derive(Debug)]
pub struct Reader<T> {
    schema: Schema,
    form: PhantomData<T>,
}

impl<T: JsonSchema> Default for Reader<T> {
    fn default() -> Self {
        Self { schema: SchemaGenerator::default().into_root_schema_for::<T>(), form: PhantomData }
    }
}

impl<T: DeserializeOwned> Reader<T> {
    /// Parses a file into the form, or returns all mistakes in its shape.
    pub fn read(&self, source: &Source) -> Result<Document<T>, LoadError> {
        let located = Located::new(source);
        let root = tree::parse(&located).map_err(LoadError::of)?;
        LoadError::check(shape::check(&located, &root, self.schema.as_value()))?;
        match T::deserialize(&root) {
            Ok(value) => Ok(Document { value, source: located, root }),
            Err(error) => Err(LoadError::of(Diagnostic::new(&located, 0..0, error.to_string(), ""))),
        }
    }
}

/// Parses a file into a form, or returns all mistakes in its shape.
pub fn read<T: DeserializeOwned + JsonSchema>(source: &Source) -> Result<Document<T>, LoadError> {
    Reader::default().read(source)
}
