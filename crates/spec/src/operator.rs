//! A checked operator: what its YAML file says, with every name resolved.

use std::{ops::RangeInclusive, sync::Arc};

use dmlcts_model::{Case, DataType, Desc, FeatureLevel, Signature};

use crate::{
    IdSet, Judgement, Scratch, Validity,
    branching::{Branching, SemanticBranch},
    expression::{self, Expression, Term},
    judge::Judge,
    oracle::{Oracle, OracleError, Plan},
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

    /// What the page is about, as short as it can be said: `DML_SLICE1_OPERATOR_DESC`, or the name in its address
    /// where it is about more than one thing.
    pub fn subject(&self) -> String {
        match self.page.strip_prefix("ns-directml-").or_else(|| self.page.strip_prefix("ne-directml-")) {
            Some(name) => name.to_uppercase(),
            None => self.page.clone(),
        }
    }

    /// The citation as it reads where `page` goes without saying: the section alone, or behind what the page is about.
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

/// A reading that a question allows besides the semantics: what is read on the axes where the question
/// arises. The `n`-th of an operator is reading `n + 1`; reading 0 is the semantics.
#[derive(Debug)]
pub struct AlternativeReading {
    /// The place of its question.
    pub question: usize,
    /// The input coordinate that output coordinate `c` reads, or `fill`.
    pub expression: Expression,
    /// The same, with every name resolved.
    pub term: Term,
}

/// What the operator computes.
#[derive(Debug)]
pub struct Semantics {
    /// The place of the enumeration member that chooses among the branches; `None` where there is one branch.
    pub by: Option<usize>,
    /// What is read; one for each enumerator, or a single one.
    pub branches: Vec<Branch>,
    /// The place of the scalar member that an element holds as soon as one axis says `fill`.
    pub fill: Option<usize>,
    /// Who says so.
    pub cite: Citation,
    /// Anything that a reader should know.
    pub note: Option<String>,
}

/// One branch of the semantics.
#[derive(Debug)]
pub struct Branch {
    /// The enumerator that chooses it, by name; `None` where nothing chooses.
    pub name: Option<String>,
    /// The same enumerator's value.
    pub value: Option<i64>,
    /// The input coordinate that output coordinate `c` reads, or `fill`.
    pub expression: Expression,
    /// The same, with every name resolved.
    pub term: Term,
}

/// From which level on an enumerator can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModeSupport {
    /// The place of the member.
    pub member: usize,
    /// The enumerator: `WRAP`.
    pub name: String,
    /// Its value.
    pub value: i64,
    /// The level; never older than the operator.
    pub since: FeatureLevel,
    /// Who says so.
    pub cite: Citation,
}

/// One example of the page. Loading proved that the spec judges it valid and computes its output.
#[derive(Debug)]
pub struct Example {
    /// `slice1.example-1`.
    pub id: String,
    /// Where it stands.
    pub cite: Citation,
    /// The desc, with the input as an explicit fill.
    pub case: Case,
    /// The output's bytes, packed.
    pub output: Vec<u8>,
    /// Anything that a reader should know.
    pub note: Option<String>,
}

/// What is supported from a level on, with what earlier rows say filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Support {
    /// The level.
    pub since: FeatureLevel,
    /// How many dimensions a tensor may have.
    pub dimensions: RangeInclusive<u32>,
    /// The data types that a tensor may have.
    pub types: Vec<DataType>,
    /// Who says so.
    pub cite: Citation,
    /// Anything that a reader should know.
    pub note: Option<String>,
}

/// An erratum or a note that belongs to no single clause.
#[derive(Debug)]
pub struct Remark {
    /// `slice1.window-size-index`.
    pub id: String,
    /// Whether the page errs; a note otherwise.
    pub erratum: bool,
    /// Where.
    pub cite: Citation,
    /// What there is to say.
    pub text: String,
}

/// One operator, loaded and checked.
#[derive(Debug)]
pub struct Operator {
    pub(crate) signature: Arc<Signature>,
    pub(crate) summary: String,
    pub(crate) page: String,
    pub(crate) introduced: FeatureLevel,
    pub(crate) support: Vec<Support>,
    pub(crate) modes: Vec<ModeSupport>,
    pub(crate) scope: expression::Scope,
    pub(crate) clauses: Vec<Clause>,
    pub(crate) questions: Vec<Question>,
    pub(crate) readings: Vec<AlternativeReading>,
    pub(crate) semantics: Semantics,
    pub(crate) examples: Vec<Example>,
    pub(crate) remarks: Vec<Remark>,
    pub(crate) judge: Arc<Judge>,
    pub(crate) branching: Branching,
    /// The place in the library.
    pub(crate) position: usize,
    pub(crate) oracle: Oracle,
}

impl Operator {
    /// As the pages spell it: `SLICE1`.
    pub fn name(&self) -> &str {
        &self.signature.operator
    }

    /// Name and members.
    pub fn signature(&self) -> &Arc<Signature> {
        &self.signature
    }

    /// What it does, in a sentence.
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// The page's name in its address.
    pub fn page(&self) -> &str {
        &self.page
    }

    /// The feature level that introduced it.
    pub fn introduced(&self) -> FeatureLevel {
        self.introduced
    }

    /// What is supported, oldest level first.
    pub fn support(&self) -> &[Support] {
        &self.support
    }

    /// The row in force at a level; `None` before the operator was introduced.
    pub fn support_at(&self, level: FeatureLevel) -> Option<&Support> {
        self.support.iter().rev().find(|row| row.since <= level)
    }

    /// The enumerators of every enumeration member, in the order of the struct and the header.
    pub fn modes(&self) -> &[ModeSupport] {
        &self.modes
    }

    /// What names mean in this operator's expressions.
    pub fn scope(&self) -> &expression::Scope {
        &self.scope
    }

    /// Every clause. An [`IdSet`] of a [`Judgement`] holds places in this list.
    pub fn clauses(&self) -> &[Clause] {
        &self.clauses
    }

    /// The place of a clause.
    pub fn clause(&self, id: &str) -> Option<usize> {
        self.clauses.iter().position(|clause| clause.id == id)
    }

    /// Every question, in the order of [`Judgement::questions`].
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// What it computes.
    pub fn semantics(&self) -> &Semantics {
        &self.semantics
    }

    /// Every way that an `if` within a read can go.
    pub fn branches(&self) -> &[SemanticBranch] {
        &self.branching.branches
    }

    /// The place in [`Library::operators`](crate::Library::operators).
    pub fn position(&self) -> usize {
        self.position
    }

    /// The readings that questions allow besides the semantics.
    pub fn readings(&self) -> &[AlternativeReading] {
        &self.readings
    }

    /// The page's examples.
    pub fn examples(&self) -> &[Example] {
        &self.examples
    }

    /// Errata and notes that belong to no single clause.
    pub fn remarks(&self) -> &[Remark] {
        &self.remarks
    }

    /// Judges a desc, whose signature must be this operator's.
    pub fn judge(&self, desc: &Desc, level: FeatureLevel, scratch: &mut Scratch) -> Judgement {
        self.judge.judge(desc, level, &mut scratch.judge)
    }

    /// Judges a desc, and hands it on where it is valid or open; what was judged of an invalid one is the error.
    pub fn judge_valid<'a>(
        &'a self,
        desc: &'a Desc,
        level: FeatureLevel,
        scratch: &mut Scratch,
    ) -> Result<ValidDesc<'a>, Judgement> {
        let judgement = self.judge(desc, level, scratch);
        self.valid(desc, level, judgement).ok_or(judgement)
    }

    /// Plans how a desc is executed, by a reading: 0 is the semantics, `n` the `n`-th of [`Operator::readings`],
    /// which replaces the read on the axes where its question arises.
    pub fn plan<'a>(
        &'a self,
        valid: ValidDesc<'a>,
        reading: usize,
        scratch: &'a mut Scratch,
    ) -> Result<Plan<'a>, OracleError> {
        self.oracle.plan(valid.desc, valid.level, reading, &mut scratch.oracle)
    }

    /// Hands on a desc that [`Operator::judge`] found valid or open.
    pub(crate) fn valid<'a>(
        &'a self,
        desc: &'a Desc,
        level: FeatureLevel,
        judgement: Judgement,
    ) -> Option<ValidDesc<'a>> {
        (judgement.validity() != Validity::Invalid).then_some(ValidDesc {
            operator: self,
            desc,
            level,
            judgement,
        })
    }
}

/// A desc that was judged valid or open: only judging makes one. The oracle takes no other.
#[derive(Debug, Clone, Copy)]
pub struct ValidDesc<'a> {
    operator: &'a Operator,
    desc: &'a Desc,
    level: FeatureLevel,
    judgement: Judgement,
}

impl<'a> ValidDesc<'a> {
    /// Whose desc it is.
    pub fn operator(&self) -> &'a Operator {
        self.operator
    }

    /// The desc.
    pub fn desc(&self) -> &'a Desc {
        self.desc
    }

    /// The feature level that it was judged at.
    pub fn level(&self) -> FeatureLevel {
        self.level
    }

    /// What judging said.
    pub fn judgement(&self) -> Judgement {
        self.judgement
    }
}
