//! The reference as a backend process, to try the target `backend` on. With a feature level as its argument,
//! it judges by that level and declares the newest one, which is a bug to find.

use std::{env, process::ExitCode};

use dmlcts_backend::Operators as _;
use dmlcts_reference::Reference;

fn main() -> ExitCode {
    dmlcts_kit::serve(|| {
        let mut reference = Reference::new();
        if let Some(level) = env::args().nth(1) {
            reference.set_feature_level(level.parse()?);
        }
        Ok::<_, Box<dyn std::error::Error>>(reference)
    })
}
