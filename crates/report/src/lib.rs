//! Turns the events of a run into text for people.
//!
//! This is the only crate that formats results. Every function writes into an [`io::Write`](std::io::Write)
//! and returns its errors, so that a closed pipe causes no panic. [`Terminal`] shows a run's events.
//! [`Layout`] writes a tensor as DirectML's pages do, in every report that shows one.
//!
//! Without the features `files` and `terminal`, the reports of a run are there as text alone.

#![cfg_attr(
    not(all(feature = "files", feature = "terminal")),
    allow(dead_code, rustdoc::broken_intra_doc_links, reason = "the parts that are left out share helpers")
)]

mod annotations;
mod behind;
mod comparison;
mod context;
mod describe;
mod failure;
mod finding;
mod flake;
#[cfg(feature = "files")]
mod html;
#[cfg(feature = "files")]
mod junit;
mod known;
mod lack;
mod layout;
mod listed;
mod markdown;
mod numbers;
mod operator;
mod outputs;
mod overview;
mod phrases;
mod prose;
mod replay;
mod screen;
mod skipped;
mod statement;
mod style;
mod summary;
#[cfg(feature = "terminal")]
mod terminal;

pub use annotations::write_annotations;
pub use comparison::{write_comparison, write_markdown_comparison};
pub use context::{Context, KnownContext, Subject};
pub use describe::{
    CaseMemory, write_bindings, write_case, write_derivation, write_every_clause, write_judgement,
    write_tensor,
};
pub use finding::{headline, write_findings};
#[cfg(feature = "files")]
pub use html::{
    ComparedCases, SnapshotChanges, write_html, write_html_changes, write_html_comparison, write_html_list,
    write_html_of_problem,
};
#[cfg(feature = "files")]
pub use junit::{write_junit, write_junit_of_problem};
pub use known::write_known;
pub use layout::{Layout, braces, brackets, heading};
pub use listed::{ListedFinding, write_markdown_list, write_markdown_replay};
pub use markdown::{write_markdown, write_markdown_of_problem};
pub use numbers::{bytes, counted, grouped, rate, span};
pub use operator::write_operator;
pub use outputs::CaseOutputs;
pub use replay::{Replay, command};
pub use screen::Screen;
pub use style::{Painted, Style, Tone};
pub use summary::{ended, is_proof, write_summary};
#[cfg(feature = "terminal")]
pub use terminal::{Options, Terminal};
