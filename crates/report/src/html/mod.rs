//! A run, the differences between two runs, or a folder of findings as one HTML page that needs no network.
//!
//! The page is complete without its script: the summary, the findings, the clauses and the answers. The
//! script adds the table of cases with its filters, from JSON in the page. A Content-Security-Policy allows
//! this style and this script alone, by their hashes. Every text goes through `maud`, which escapes it for
//! HTML, and texts of strangers also through `escaped`, so that no letter is invisible.

mod answers;
mod card;
mod changed;
mod clauses;
mod comparison;
mod grid;
mod island;
mod listed;
mod matrix;
mod page;
mod run;
mod tensors;

pub use self::{
    changed::{SnapshotChanges, write_html_changes},
    comparison::{ComparedCases, write_html_comparison},
    listed::write_html_list,
    page::write_html_of_problem,
    run::write_html,
};
