//! Whole reports of runs: for terminals, in files and as HTML.

mod common;
mod failures;
mod files;
mod html;
