//! The ledger: what each backend answers to the questions that the pages leave open, kept in a file from run
//! to run. Any allowed answer is right, so that none ever fails a run; that an answer is another one than
//! last time is worth a look all the same.
//!
//! It is a file for people, committed beside what it is about: YAML, in an order that depends on its contents
//! alone.

mod file;
mod form;
mod news;

pub use file::{Ledger, LedgerError};
pub use form::{LedgerAnswer, LedgerEntry, LedgerForm, LedgerQuestion};
pub use news::{Against, LedgerChange, LedgerNews};

#[cfg(test)]
mod tests;
