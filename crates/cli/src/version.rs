//! The text of `--version`: the program, the commit that it was built from, the spec that it judges by, and
//! its backends.

use std::sync::LazyLock;

use dmlcts_model::FeatureLevel;
use dmlcts_spec::Library;

use crate::backends;

/// The whole text after the program's name. `-V` prints the first line alone.
pub(crate) fn long() -> &'static str {
    static LONG: LazyLock<String> = LazyLock::new(|| {
        format!(
            "{}\ncommit: {}\nspec: {} (feature level {})\nbackends: {}",
            env!("CARGO_PKG_VERSION"),
            env!("DMLCTS_COMMIT"),
            Library::embedded().short_hash(),
            FeatureLevel::NEWEST,
            backends::NAMES.join(", ")
        )
    });
    &LONG
}
