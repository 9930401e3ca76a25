//! What the pages promise, as YAML that is judged and executed.
//!
//! A spec is one operator's YAML file. From it comes everything that the project knows of the operator: which
//! descs are valid ([`Operator::judge`]), what bytes they must produce ([`Operator::plan`]), what a suite has to
//! exercise ([`Operator::obligations`]), and why. This crate has no operator's name in it, and knows no backend.
//!
//! ```
//! use dmlcts_model::{FeatureLevel, line};
//! use dmlcts_spec::{Library, Scratch, Validity};
//!
//! let library = Library::embedded();
//! let case = "SLICE UINT8 in=6 out=3 Offsets=1 Sizes=3 Strides=2";
//! let case = line::parse(case, library.signatures())?;
//! let slice = library.operator("SLICE").ok_or("there is no SLICE")?;
//! let mut scratch = Scratch::default();
//!
//! let judgement = slice.judge(&case.desc, FeatureLevel::NEWEST, &mut scratch);
//! assert_eq!(judgement.validity(), Validity::Valid);
//! let last = slice.clause("slice.reads-in-bounds").ok_or("there is no such clause")?;
//! assert!(judgement.boundary.contains(last), "5 is the last element, and is read");
//!
//! let valid = slice.judge_valid(&case.desc, FeatureLevel::NEWEST, &mut scratch).map_err(|_| "it is invalid")?;
//! let mut output = [0; 3];
//! slice.plan(valid, 0, &mut scratch)?.execute(&[10, 11, 12, 13, 14, 15], &mut output)?;
//! assert_eq!(output, [11, 13, 15]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The rest of this page is the specification of the format.
//!
//! # Files
//!
//! A library is loaded from one file that operators share, `common.yaml` ([`form::CommonForm`]), and one file an
//! operator ([`form::OperatorForm`]). `spec/schema/` has a JSON Schema for each, and the first line of every file
//! names its schema, so that an editor completes and checks it.
//!
//! Files are YAML for people: no anchors, aliases, tags or second documents, no key twice, at most a mebibyte,
//! at most 24 levels deep. Keys that are not listed here are errors. Feature levels are texts, and need quotes:
//! `"2.1"`. A level, a data type, an enumerator, a member: each is spelled as the pages spell it, without
//! `DML_FEATURE_LEVEL_`, `DML_TENSOR_DATA_TYPE_` or the enumeration's prefix.
//!
//! # An operator
//!
//! | key | value | where it is left out |
//! |---|---|---|
//! | `operator` | the name: letters, digits, underscores | an error |
//! | `introduced` | the feature level that introduced it | an error |
//! | `page` | the page that everything cites where it names no other, as in its address | an error |
//! | `summary` | what it does, in a sentence | an error |
//! | `members` | [members](#members), in the order of the struct | an error |
//! | `support` | [rows of support](#support), oldest first | an error |
//! | `let` | names for [expressions](expression), each of which may use those above it | none |
//! | `clauses` | [clauses](#clauses) | none |
//! | `semantics` | [what it computes](#semantics) | an error |
//! | `questions` | [what the page leaves open](#questions) | none |
//! | `examples` | [the page's examples](#examples) | none |
//! | `errata`, `notes` | [remarks](#remarks) | none |
//!
//! ## Members
//!
//! A mapping from the member's name to its kind. `InputTensor` and `OutputTensor` come first in every struct and
//! are not listed.
//!
//! | kind | in C | usually |
//! |---|---|---|
//! | `count` | `UINT`: how long the lists are; exactly one where there are lists | the input's rank |
//! | `u32`, `i32` | `UINT`, `INT` | 0 |
//! | `u32[]`, `i32[]` | `const UINT*`, `const INT*`: one value an axis | has to be written |
//! | `data_type` | `DML_TENSOR_DATA_TYPE` | the input's |
//! | `scalar` | `DML_SCALAR_UNION` | zero |
//! | an enumeration of `common.yaml` | its values | has to be written |
//!
//! Kinds become clauses: `<count>.agrees` (with the input's `DimensionCount`), and for each list
//! `<list>.present` and `<list>.length` (as the count says).
//!
//! ## Support
//!
//! | key | value | where it is left out |
//! |---|---|---|
//! | `since` | the level from which the row holds; the first is the one that introduced the operator | an error |
//! | `dimensions` | `{min, max}`: how many dimensions a tensor may have | as in the row before |
//! | `types` | the data types that a tensor may have | as in the row before |
//! | `cite`, `page`, `note` | see [citations](#citations) | |
//!
//! Rows become the clauses `introduced`, `dimensions` and `types`, of the input; that the output agrees is for
//! the operator's clauses to say. An enumeration member becomes `mode` (`<member>.mode` where there are several),
//! with each enumerator's `since`.
//!
//! ## Clauses
//!
//! | key | value | where it is left out |
//! |---|---|---|
//! | `id` | lower case words joined by hyphens; the full id puts the operator before it: `slice1.stride-nonzero` | an error |
//! | `each` | `desc`, or `axis`: whether it is asked once, or of each axis, where a list stands for its value there | `desc` |
//! | `given` | the clauses, all further up, that must hold for it to be judged | none |
//! | `that` | the [condition](expression) | an error |
//! | `erratum` | what the page gets wrong here | none |
//! | `cite`, `page`, `note` | see [citations](#citations) | |
//!
//! `given` is what makes clauses break one at a time: a window of size 0 breaks `window-not-empty`, and it would
//! break `output-reachable` as well, if that were not given the former. A clause is judged where everything it is
//! given holds and its condition is defined. On an axis that takes the lists that it names to be there and
//! equally long. What is not judged is neither kept nor broken. Division by zero where everything given holds is
//! a mistake that loading finds, by trying every small axis.
//!
//! A clause is *on its boundary* where it holds and a comparison by order, or with `!=`, that decides it holds
//! with nothing to spare: a step of one, and it would not.
//!
//! ## Semantics
//!
//! | key | value | where it is left out |
//! |---|---|---|
//! | `read` | on each axis: the input coordinate that output coordinate `c` reads, or `fill` | there is `by` |
//! | `by` | the enumeration member that chooses among `reads` | there is `read` |
//! | `reads` | as `read`, for each enumerator | there is `read` |
//! | `fill` | the scalar member that an element holds as soon as one axis says `fill` | no read may say so |
//! | `cite`, `note` | see [citations](#citations) | |
//!
//! An operator maps axis by axis: what is read on one depends on nothing but that axis, and members that have one
//! value for the desc. Loading tries every small axis that is not invalid, and a read that leaves the input is a
//! mistake.
//!
//! ## Questions
//!
//! A question is a point that the page leaves open. A desc that breaks no clause and raises a question is *open*.
//!
//! | key | value | where it is left out |
//! |---|---|---|
//! | `id`, `each`, `given`, `cite`, `page`, `note` | as a clause's | |
//! | `when` | where it arises; undefined counts as false | an error |
//! | `allow` | the answers that are recorded; any other is a failure | an error |
//!
//! An answer is a mapping with one of the keys `reject: true` (refused as invalid), `accept: true` (accepted,
//! whatever comes out), `semantics: true` (accepted, and the semantics hold) and `read` (accepted, and on the
//! axes where the question arises this is read; every axis where it is asked of the desc).
//!
//! ## Examples
//!
//! | key | value | where it is left out |
//! |---|---|---|
//! | `id` | as a clause's | an error |
//! | `desc` | a [case line](dmlcts_model::line) without `fill`; both tensors packed | an error |
//! | `input`, `output` | `{rows}`: the tensor's innermost rows, one after the other | an error |
//! | `cite`, `page`, `note` | see [citations](#citations) | |
//!
//! Loading judges each example, which must be valid, and executes it, which must give its output.
//!
//! ## Remarks
//!
//! `errata` and `notes` are lists of `{id, text, cite, page}`, for what belongs to no single clause.
//!
//! ## Citations
//!
//! Everything that the pages say is cited: `cite` is the section, such as `Members / Strides`, and is needed;
//! `page` is the page's name in its address, and by default the file's. `note` is anything that a reader should
//! know. Facts carry over from the pages; their sentences do not.
//!
//! # What operators share
//!
//! | key | value | where it is left out |
//! |---|---|---|
//! | `page` | the page that this file cites by default | an error |
//! | `levels` | the feature levels, oldest first | an error |
//! | `data_types` | `{name, code, bits, kind}`, where `kind` is `float`, `unsigned` or `signed` | an error |
//! | `enumerations` | `{name, enumerators}`, with `{name, value, since, cite, page, note}` each | none |
//! | `clauses`, `questions` | as an operator's; `each` may also be `tensor` and `tensor axis` | an error; none |
//! | `errata`, `notes` | [remarks](#remarks) | none |
//!
//! Levels and data types are held against what the program knows, so that neither goes stale unnoticed. A rule
//! for each `tensor` becomes two: the name `Tensor` in it stands for `InputTensor` and `OutputTensor` in turn, and
//! `size-positive` becomes `slice1.input.size-positive` and `slice1.output.size-positive`. Such rules are part of
//! every operator, before its own clauses, which may name them in `given` as `input.size-positive`.
//!
//! # Expressions
//!
//! See [`expression`] for the language. In a spec, the names are the operator's members, the fields of its
//! tensors (`InputTensor.Sizes`), its `let`s, enumerators, data types, `level`, `rank`, `axis`, and in reads `c`.
//!
//! # Judging
//!
//! A desc is judged at a feature level. It is invalid where it breaks a clause, else open where it raises a
//! question, else valid: see [`Judgement`].
//!
//! # Mistakes
//!
//! A mistake in a file is a [`Diagnostic`]: file, line, column, the source line with a caret under the very word,
//! also within a quoted or folded text, what was expected there, and which name is close. One load reports as
//! many mistakes as it can find, and none that only follows from another.

mod branching;
mod conditions;
mod coverage;
pub mod expression;
mod file;
pub mod form;
mod judge;
mod judgement;
mod library;
mod load;
mod names;
mod operator;
mod oracle;
mod predicate;
pub mod program;
mod scratch;
mod source;
pub mod yaml;

pub use branching::SemanticBranch;
pub use conditions::{Conditions, Truth};
pub use coverage::{Coverage, Obligation};
pub use file::{FileError, FileReason, read_file};
pub use judgement::{IdSet, Judgement, Validity};
pub use library::Library;
pub use operator::{
    AlternativeReading, Answer, Branch, Citation, Clause, Example, ModeSupport, Operator, Origin, Question,
    Remark, Scope, Semantics, Support, ValidDesc,
};
pub use oracle::{OracleError, Plan};
pub use predicate::Predicate;
pub use scratch::Scratch;
pub use source::{Diagnostic, LoadError, Source};
