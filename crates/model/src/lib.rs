//! The plain data of dmlcts: operator descriptions, cases, expectations and outcomes.
//!
//! This crate has no rules. It does not know which descs are valid; `dmlcts-spec` judges that. It knows no
//! operator by name: a [`Signature`] names an operator and its members, and comes from a spec. The crate
//! defines DirectML's vocabulary: data types and their codes, feature levels, and the fields of a buffer
//! tensor desc. It also defines the case line, the text form of a case, and writes the bytes of a [`fill`].
//!
//! A [`Desc`] is raw. It may hold anything that the C structs can hold, because invalid descs are cases, too.

mod case;
mod closest;
mod data_type;
mod desc;
mod element;
mod expectation;
mod feature_level;
pub mod fill;
mod float16;
pub mod line;
mod named_enum;
mod numbers;
mod outcome;
mod printable;
mod signature;
mod tensor;
mod walk;

pub use case::{BindingOffsets, Case, Fill};
pub use closest::closest;
pub use data_type::{DataType, NumberKind};
pub use desc::{Desc, List, Side, Value};
pub use element::{ElementError, element_from_text, element_to_text, write_element};
pub use expectation::{Allowed, Expectation};
pub use feature_level::{FeatureLevel, FeatureLevelError};
pub use numbers::{counted, grouped};
pub use outcome::{Change, ErrorCode, Mismatch, Outcome, Phase, Stray, StrayPlace};
pub use printable::{Escape, LineFilter, escaped, printable};
pub use signature::{Enumeration, Enumerator, Member, MemberKind, Signature, Signatures};
pub use tensor::{Tensor, element_count, packed_strides, required_bytes, span_elements};
pub use walk::{Offsets, coordinates_of};
