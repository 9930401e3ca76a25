//! Operator specs: YAML files that this crate loads, judges descs by and executes.
//!
//! A spec is the YAML file of one operator. It states which descs are valid ([`Operator::judge`]), which
//! bytes a valid desc produces ([`Operator::plan`]), and what a suite must exercise
//! ([`Operator::obligations`]). Every statement cites the page behind it. This crate contains no operator's
//! name and knows no backend.
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
//! The rest of this page specifies the format.
//!
//! # Files
//!
//! A library is loaded from several files. `common.yaml` ([`form::CommonForm`]) holds the rules that all
//! operators share. Each operator has its own file ([`form::OperatorForm`]). `spec/schema/` has a JSON Schema
//! for both. The first line of every file names its schema, so that an editor can complete and check the
//! file.
//!
//! Files are plain YAML. Anchors, aliases, tags, second documents and duplicate keys are errors, and so are
//! keys that this page does not list. A file has at most 1 MiB and at most 24 levels of nesting. Feature
//! levels are strings and need quotes: `"2.1"`. Levels, data types, enumerators and members are spelled as on
//! the pages, without `DML_FEATURE_LEVEL_`, `DML_TENSOR_DATA_TYPE_` or the enumeration's prefix.
//!
//! # An operator
//!
//! | key | value | default |
//! |---|---|---|
//! | `operator` | the name: letters, digits, underscores | required |
//! | `introduced` | the feature level that introduced it | required |
//! | `page` | the name in the address of the page that citations refer to by default | required |
//! | `summary` | what it does, in one sentence | required |
//! | `members` | [members](#members), in the order of the struct | required |
//! | `support` | [rows of support](#support), oldest first | required |
//! | `let` | named [expressions](expression); each may use the names above it | none |
//! | `clauses` | [clauses](#clauses) | none |
//! | `semantics` | [what it computes](#semantics) | required |
//! | `questions` | [what the page leaves open](#questions) | none |
//! | `examples` | [the page's examples](#examples) | none |
//! | `errata`, `notes` | [remarks](#remarks) | none |
//!
//! ## Members
//!
//! A mapping from each member's name to its kind. `InputTensor` and `OutputTensor` come first in every struct
//! and are not listed.
//!
//! | kind | in C | default in a case line |
//! |---|---|---|
//! | `count` | `UINT`: the length of the lists; a struct with lists has exactly one | the input's rank |
//! | `u32`, `i32` | `UINT`, `INT` | 0 |
//! | `u32[]`, `i32[]` | `const UINT*`, `const INT*`: one value per axis | required |
//! | `data_type` | `DML_TENSOR_DATA_TYPE` | the input's |
//! | `scalar` | `DML_SCALAR_UNION` | zero |
//! | an enumeration of `common.yaml` | its values | required |
//!
//! Kinds become clauses. `<count>.agrees` requires that the count equals the input's `DimensionCount`. Each
//! list gets `<list>.present` and `<list>.length`: it is not null, and its length equals the count.
//!
//! ## Support
//!
//! | key | value | default |
//! |---|---|---|
//! | `since` | the level from which the row holds; the first row has the level that introduced the operator | required |
//! | `dimensions` | `{min, max}`: the number of dimensions that a tensor may have | as in the row before |
//! | `types` | the data types that a tensor may have | as in the row before |
//! | `cite`, `page`, `note` | see [citations](#citations) | |
//!
//! Rows become the clauses `introduced`, `dimensions` and `types`. They apply to the input; the operator's
//! own clauses require that the output agrees. An enumeration member becomes the clause `mode`, with each
//! enumerator's `since`. An operator with several enumeration members has `<member>.mode` for each.
//!
//! ## Clauses
//!
//! | key | value | default |
//! |---|---|---|
//! | `id` | lower-case words joined by hyphens; the full id starts with the operator: `slice1.stride-nonzero` | required |
//! | `each` | `desc`: judged once; `axis`: judged on each axis, where a list's name means its value on that axis | `desc` |
//! | `given` | earlier clauses that must hold before this one is judged | none |
//! | `that` | the [condition](expression) | required |
//! | `erratum` | the error of the page that this clause corrects | none |
//! | `cite`, `page`, `note` | see [citations](#citations) | |
//!
//! `given` lets clauses break one at a time. For example, a window of size 0 breaks `window-not-empty`. It
//! would also break `output-reachable` if that clause did not list `window-not-empty` in `given`.
//!
//! A clause is judged if all its `given` clauses hold and its condition is defined. A condition on axes is
//! defined only if the lists that it names are present and have equal lengths. A clause that is not judged is
//! neither kept nor broken. Division by zero is a mistake if all `given` clauses hold. Loading finds it by
//! trying every small axis.
//!
//! A clause is *on its boundary* if it holds by the smallest possible margin: a step of one in a deciding
//! comparison would break it. Only comparisons by order and `!=` count.
//!
//! ## Semantics
//!
//! | key | value | default |
//! |---|---|---|
//! | `read` | on each axis: the input coordinate that output coordinate `c` reads, or `fill` | required without `by` |
//! | `by` | the enumeration member that chooses among `reads` | required without `read` |
//! | `reads` | one `read` for each enumerator | required without `read` |
//! | `fill` | the scalar member whose value an element gets if any axis reads `fill` | no read may use `fill` |
//! | `cite`, `note` | see [citations](#citations) | |
//!
//! An operator maps coordinates axis by axis. A read depends only on its own axis and on members with one
//! value for the whole desc. Loading tries every small axis that is not invalid. A read outside the input is
//! a mistake.
//!
//! ## Questions
//!
//! A question is a point that the page leaves open. A desc that breaks no clause and raises a question is
//! *open*.
//!
//! | key | value | default |
//! |---|---|---|
//! | `id`, `each`, `given`, `cite`, `page`, `note` | as for clauses | |
//! | `when` | the condition that raises the question; undefined counts as false | required |
//! | `allow` | the answers that are recorded; any other answer is a failure | required |
//!
//! An answer is a mapping with one of these keys:
//!
//! - `reject: true`: the desc is refused as invalid.
//! - `accept: true`: the desc is accepted, with any output.
//! - `semantics: true`: the desc is accepted, and the output follows the semantics.
//! - `read`: the desc is accepted, and this expression replaces the read on the axes that raise the question.
//!   A question about the desc replaces it on every axis.
//!
//! ## Examples
//!
//! | key | value | default |
//! |---|---|---|
//! | `id` | as for clauses | required |
//! | `desc` | a [case line](dmlcts_model::line) without `fill`; both tensors are packed | required |
//! | `input`, `output` | `{rows}`: the tensor's innermost rows in order; or `{hex}`: its bytes, two hex digits each | required |
//! | `cite`, `page`, `note` | see [citations](#citations) | |
//!
//! Loading judges and executes each example. The desc must be valid, and the result must equal `output`.
//!
//! ## Remarks
//!
//! `errata` and `notes` are lists of `{id, text, cite, page}`, for remarks that belong to no single clause.
//!
//! A note may state what the pages expect of certain valid descs, such as broadcast inputs. Its key `when`
//! then holds the [condition](expression) that these descs meet, on the desc as a whole. A suite must have a
//! valid desc that meets it: an [obligation](Obligation::Note). A note of `common.yaml` has one for each
//! operator.
//!
//! ## Citations
//!
//! Every statement cites its source. `cite` is required and names the section, such as `Members / Strides`.
//! `page` is the page's name in its address; the default is the file's `page`. `note` holds further
//! information for readers. A spec takes facts from the pages, but not their sentences.
//!
//! # What operators share
//!
//! | key | value | default |
//! |---|---|---|
//! | `page` | the page that this file cites by default | required |
//! | `levels` | the feature levels, oldest first | required |
//! | `data_types` | `{name, code, bits, kind}`, where `kind` is `float`, `unsigned` or `signed` | required |
//! | `enumerations` | `{name, enumerators}`, with `{name, value, since, cite, page, note}` each | none |
//! | `clauses`, `questions` | as for an operator; `each` may also be `tensor` and `tensor axis` | required; none |
//! | `bindings` | [rules of bindings](#bindings) | none |
//! | `errata`, `notes` | [remarks](#remarks) | none |
//!
//! Loading compares levels and data types with those that the program knows, so that neither list becomes
//! outdated unnoticed. A rule for each `tensor` becomes two rules, in which `Tensor` stands for `InputTensor`
//! and `OutputTensor`. For example, `size-positive` becomes `slice1.input.size-positive` and
//! `slice1.output.size-positive`. Shared rules precede every operator's own clauses. An operator's `given`
//! may name them, as in `input.size-positive`.
//!
//! ## Bindings
//!
//! A binding says where a tensor lies in its buffer. It is a part of a case, but not of a desc, so that no
//! clause judges it. A case that breaks a rule of bindings has no defined outcome: `judge` says so, and `run`
//! refuses it. A rule has the keys `id`, `that`, `cite`, `page` and `note`, as a clause has. Its condition
//! applies to both tensors: `Binding.Offset` is the offset of the tensor that `Tensor` stands for. An
//! undefined condition counts as true.
//!
//! # Expressions
//!
//! See [`expression`] for the language. A spec may use these names: the operator's members, the fields of its
//! tensors (`InputTensor.Sizes`), its `let`s, enumerators, data types, `level`, `rank`, `axis`, and in reads
//! `c`.
//!
//! # Judging
//!
//! A desc is judged at a feature level. It is invalid if it breaks a clause. Otherwise it is open if it
//! raises a question, and valid if it raises none. See [`Judgement`].
//!
//! # Mistakes
//!
//! A mistake in a file is a [`Diagnostic`]. It has the file, the line, the column and the source line with a
//! caret under the exact word, even inside quoted or folded text. It also states what was expected, and
//! suggests a similar name if there is one. One load reports as many independent mistakes as it can find, and
//! no mistake that only follows from another.

mod binding;
mod branching;
mod clause;
mod conditions;
mod coverage;
mod elements;
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
mod semantics;
mod source;
mod tensor_data;
mod ways;
pub mod yaml;

pub use binding::BindingRule;
pub use branching::SemanticBranch;
pub use clause::{Answer, Citation, Clause, Origin, Question, Scope};
pub use conditions::{Conditions, Truth};
pub use coverage::{Coverage, Obligation};
pub use elements::{Data, ElementKind, ElementNumber, Elements};
pub use file::{FileError, FileReason, open_file, read_file};
pub use judgement::{IdSet, Judgement, Validity};
pub use library::Library;
pub use operator::{Example, ModeSupport, Note, Operator, Remark, Support, ValidDesc};
pub use oracle::{OracleError, Plan};
pub use predicate::Predicate;
pub use scratch::Scratch;
pub use semantics::{AlternativeReading, Branch, Semantics};
pub use source::{Diagnostic, LoadError, Source};
pub use tensor_data::tensor_bytes;
pub use ways::{Way, Ways};
