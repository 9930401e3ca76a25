//! Learns which cases fail: predicates, in the language of the specs, that separate the failures of a run
//! from its passes. The findings of a run are made of them in `dmlcts-diagnose`.
//!
//! The input is labelled cases, and optionally a function that runs more. The learner looks for one short
//! rule that holds for every failure and for no pass. Then it asks the cases that would refute the rule, and
//! learns again from the answers. The value of each step is the input of the next:
//!
//! | step | module |
//! |---|---|
//! | words about an operator's cases, compiled into terms | `vocabulary`, `terms` |
//! | cases with the values of all terms | `universe` |
//! | atoms: comparisons of terms | `proposals`, `atom` |
//! | candidates: atoms asked of the desc, of any axis, of all axes | `pool`, `rule` |
//! | a beam search over conjunctions | `search` |
//! | one rule for all failures, or several rules | `learn`, `covering`, `rule_set`, `modes`, `simplify` |
//! | passes that are asked again with other data | `again` |
//! | cases that may refute the rules | `fresh`, `mutate`, `data`, `substitutes`, `propose` |
//! | the loop of experiments | `experiment` |
//! | predicates with their counts, for each operator and class | `classes`, `learned` |
//! | many cases on each side of a final predicate | `evidence` (from `candidates`) |
//! | one predicate for several operators | `merge`, `role` |
//! | the failures of a whole run by cause | `explain`, `outcomes`, `join` |
//!
//! A result follows from the labels and the seed: the same input gives the same predicates.

mod again;
mod alternatives;
mod atom;
mod bits;
mod candidates;
mod cause;
mod classes;
mod covering;
mod data;
mod effort;
mod elsewhere;
mod evidence;
mod experiment;
mod explain;
mod fresh;
mod join;
mod label;
mod learn;
mod learned;
mod merge;
mod modes;
mod mutate;
mod near;
mod outcomes;
mod parallel;
mod pool;
mod proposals;
mod propose;
mod role;
mod rule;
mod rule_set;
mod search;
mod share;
mod simplify;
mod substitutes;
mod telling;
mod terms;
mod universe;
mod vocabulary;

pub use again::{with_other_data, with_separate_elements};
pub use cause::Cause;
pub use classes::learn;
pub use data::has_only_distinct_elements;
pub use experiment::{Budget, Estimate};
pub use explain::explain;
pub use fresh::Fresh;
pub use label::{Ask, Label, Labelled, RoundLimit};
pub use learned::{Learned, LearnedRule};
pub use mutate::{is_large, sweep, swept_members};
pub use outcomes::{Cases, Outcomes};
