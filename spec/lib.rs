//! The specs of DirectML's operators as texts. They are a package of their own so that each crate that embeds
//! them can be packaged: a package holds only files of its own folder.

/// Each file of this folder that ends in `.yaml`: its name from the repository's root, such as
/// `spec/slice.yaml`, and its text. The file that operators share comes first, then the operators, oldest
/// first.
pub const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/files.rs"));
