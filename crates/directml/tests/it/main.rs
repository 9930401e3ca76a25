//! The declarations of DirectML's types, compared with its header.

mod header;
