//! The ledger: a file of each backend's answers to the questions that the pages leave open. Any allowed
//! answer is right, so no answer fails a run. But a changed answer deserves a look.
//!
//! The ledger is YAML for people, who commit it. Its order depends only on its contents.

mod file;
mod form;
mod news;

pub use file::{Ledger, LedgerError};
pub use form::{LedgerAnswer, LedgerEntry, LedgerForm, LedgerQuestion};
pub use news::{Against, LedgerChange, LedgerNews};

#[cfg(test)]
mod tests;
