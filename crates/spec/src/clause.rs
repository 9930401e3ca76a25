//! Clauses and questions: what the pages promise, and what they leave open.

use crate::{
    IdSet,
    expression::{Expression, Term},
};

/// The page and section that say something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation {
    /// The page's name in its address: `ns-directml-dml_slice1_operator_desc`.
    pub page: String,
    /// The section: `Members / InputWindowStrides`.
    pub section: String,
}

impl Citation {
    /// The page's address.
    pub fn address(&self) -> String {
        match self.page.strip_prefix("ns-directml-").or_else(|| self.page.strip_prefix("ne-directml-")) {
            Some(_) => format!("https://learn.microsoft.com/windows/win32/api/directml/{}", self.page),
            None => format!("https://learn.microsoft.com/windows/ai/directml/{}", self.page),
        }
    }

    /// What the page is about, as short as it can be said: `DML_SLICE1_OPERATOR_DESC`, or the name in its
    /// address where it is about more than one thing.
    pub fn subject(&self) -> String {
        match self.page.strip_prefix("ns-directml-").or_else(|| self.page.strip_prefix("ne-directml-")) {
            Some(name) => name.to_uppercase(),
            None => self.page.clone(),
        }
    }

    /// The citation as it reads where `page` goes without saying: the section alone, or behind what the page
    /// is about.
    pub fn on(&self, page: &str) -> String {
        if self.page == page {
            return self.section.clone();
        }
        format!("{}, {}", self.subject(), self.section)
    }
}

/// What a clause or question is asked of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The desc as a whole.
    Desc,
    /// Each axis, where the lists agree on how many there are.
    Axis,
}

/// Where a clause comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The operator's own clauses.
    Operator,
    /// The rules of buffer tensors that all operators share.
    Tensor,
    /// The operator's support rows or an enumerator's `since`.
    Support,
    /// The kind of a member: a count agrees with the input, a list is there and as long as the count says.
    Member,
}

/// One normative statement.
#[derive(Debug)]
pub struct Clause {
    /// `slice1.window-in-bounds`.
    pub id: String,
    /// What it is asked of.
    pub scope: Scope,
    /// Where it comes from.
    pub origin: Origin,
    /// The clauses that must hold for this one to be judged, those that hold of themselves included.
    pub given: IdSet,
    /// What must be true, as text.
    pub text: String,
    /// The same, parsed.
    pub expression: Expression,
    /// The same, with every name resolved.
    pub term: Term,
    /// Who says so.
    pub cite: Citation,
    /// Anything that a reader should know.
    pub note: Option<String>,
    /// What the page gets wrong here.
    pub erratum: Option<String>,
}

impl Clause {
    /// The name in predicates: the id without the operator and the tensor, with underscores for hyphens and
    /// dots. Clauses on both tensors share it.
    pub fn name(&self) -> String {
        let (_, rest) = self.id.split_once('.').unwrap_or_default();
        let name = rest.strip_prefix("input.").or_else(|| rest.strip_prefix("output.")).unwrap_or(rest);
        name.replace(['-', '.'], "_")
    }
}

/// One answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Refused as invalid.
    Reject,
    /// Accepted, whatever comes out.
    Accept,
    /// Accepted, with the output of this reading; 0 is the semantics.
    Reading(usize),
}

/// A point that the pages leave open.
#[derive(Debug)]
pub struct Question {
    /// `slice.stride-zero`.
    pub id: String,
    /// What it is asked of.
    pub scope: Scope,
    /// The clauses that must hold for it to be asked.
    pub given: IdSet,
    /// Where it arises, as text.
    pub text: String,
    /// The same, parsed.
    pub expression: Expression,
    /// The same, with every name resolved.
    pub term: Term,
    /// The answers that are recorded; any other is a failure.
    pub allow: Vec<Answer>,
    /// Who leaves it open.
    pub cite: Citation,
    /// Anything that a reader should know.
    pub note: Option<String>,
}
