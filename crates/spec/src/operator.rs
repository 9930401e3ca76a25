//! A checked operator: the content of its YAML file, with every name resolved.

use std::{
    ops::RangeInclusive,
    sync::{Arc, OnceLock},
};

use dmlcts_model::{Case, DataType, Desc, Enumeration, FeatureLevel, Signature};

use crate::{
    AlternativeReading, Citation, Clause, Data, Judgement, Question, Scratch, Semantics, Validity, Ways,
    branching::{Branching, SemanticBranch},
    expression,
    judge::Judge,
    oracle::{Oracle, OracleError, Plan},
    program::{Builder, Inputs, Judged, OpId, Program, Values},
};

/// From which level on an enumerator can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModeSupport {
    /// The index of the member.
    pub member: usize,
    /// The enumerator's name, such as `WRAP`.
    pub name: String,
    /// The enumerator's value.
    pub value: i64,
    /// The level; never older than the operator.
    pub since: FeatureLevel,
    /// The source of the level.
    pub cite: Citation,
}

/// An example of the page. Loading checks that the spec judges it valid and computes its output.
#[derive(Debug)]
pub struct Example {
    /// The id, such as `slice1.example-1`.
    pub id: String,
    /// The page and section of the example.
    pub cite: Citation,
    /// The desc, with the input as an explicit fill.
    pub case: Case,
    /// The output's bytes, packed.
    pub output: Vec<u8>,
    /// Further information for readers.
    pub note: Option<String>,
}

/// The dimension counts and data types that are supported from a level on. Values that a row leaves out are
/// copied from the row before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Support {
    /// The level.
    pub since: FeatureLevel,
    /// The number of dimensions that a tensor may have.
    pub dimensions: RangeInclusive<u32>,
    /// The data types that a tensor may have.
    pub types: Vec<DataType>,
    /// The source of the row.
    pub cite: Citation,
    /// Further information for readers.
    pub note: Option<String>,
}

/// An erratum or a note that belongs to no single clause.
#[derive(Debug)]
pub struct Remark {
    /// The id, such as `slice1.window-size-index`.
    pub id: String,
    /// True for an erratum, false for a note.
    pub erratum: bool,
    /// The page and section of the remark.
    pub cite: Citation,
    /// The text of the remark.
    pub text: String,
}

/// A note that states what the pages expect of certain valid descs. A suite must have such a desc.
#[derive(Debug)]
pub struct Note {
    /// The id, such as `slice1.identity`.
    pub id: String,
    /// The condition that these descs meet, as text.
    pub text: String,
    /// The condition, compiled.
    program: Program,
    root: OpId,
}

impl Note {
    /// Compiles the condition of a note.
    pub(crate) fn new(id: String, text: String, signature: &Arc<Signature>, term: &expression::Term) -> Self {
        let mut builder = Builder::new(Arc::clone(signature));
        let root = builder.add(term);
        Self { id, text, program: builder.finish(), root }
    }

    /// Whether the note is about a desc. Undefined counts as false.
    pub(crate) fn holds(&self, desc: &Desc, level: FeatureLevel, values: &mut Values) -> bool {
        self.program.evaluate(Inputs::new(desc, level), values).verdict(self.root) == Some(true)
    }
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
    pub(crate) notes: Vec<Note>,
    pub(crate) judge: Arc<Judge>,
    pub(crate) ways: OnceLock<Ways>,
    pub(crate) branching: Branching,
    /// The index in [`Library::operators`](crate::Library::operators).
    pub(crate) position: usize,
    pub(crate) oracle: Arc<Oracle>,
}

impl Operator {
    /// The name as the pages spell it, such as `SLICE1`.
    pub fn name(&self) -> &str {
        &self.signature.operator
    }

    /// The operator's name and members.
    pub fn signature(&self) -> &Arc<Signature> {
        &self.signature
    }

    /// What the operator does, in one sentence.
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

    /// The ways to break each clause. The first call compiles them.
    pub fn ways(&self) -> &Ways {
        self.ways.get_or_init(|| Ways::new(&self.clauses, &self.scope))
    }

    /// The support rows, oldest level first.
    pub fn support(&self) -> &[Support] {
        &self.support
    }

    /// The row for a level; `None` before the operator was introduced.
    pub fn support_at(&self, level: FeatureLevel) -> Option<&Support> {
        self.support.iter().rev().find(|row| row.since <= level)
    }

    /// The enumerators of every enumeration member, in the order of the struct and then of the header.
    pub fn modes(&self) -> &[ModeSupport] {
        &self.modes
    }

    /// The names that this operator's expressions may use.
    pub fn scope(&self) -> &expression::Scope {
        &self.scope
    }

    /// Every clause. An [`IdSet`](crate::IdSet) of a [`Judgement`] holds indices into this list.
    pub fn clauses(&self) -> &[Clause] {
        &self.clauses
    }

    /// The index of the clause with this id.
    pub fn clause(&self, id: &str) -> Option<usize> {
        self.clauses.iter().position(|clause| clause.id == id)
    }

    /// Every question. [`Judgement::questions`] holds indices into this list.
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// The operator's semantics.
    pub fn semantics(&self) -> &Semantics {
        &self.semantics
    }

    /// Every branch of an `if` within a read.
    pub fn branches(&self) -> &[SemanticBranch] {
        &self.branching.branches
    }

    /// The index in [`Library::operators`](crate::Library::operators).
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

    /// The notes that state an expectation, the shared ones first.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Judges a desc. Its signature must be this operator's.
    pub fn judge(&self, desc: &Desc, level: FeatureLevel, scratch: &mut Scratch) -> Judgement {
        self.judge.judge(desc, level, &mut scratch.judge)
    }

    /// The names of the clauses in predicates, each with the code that [`Judged::violation`] has.
    pub fn clause_names(&self) -> &Enumeration {
        &self.judge.names
    }

    /// What the judge says of a desc, for a program that was built from a predicate.
    pub fn judged(&self, desc: &Desc, level: FeatureLevel, values: &mut Values) -> Judged {
        self.judge.judged(desc, level, values)
    }

    /// The data that a case moves, which a program that was built from a predicate reads. `validity` is that
    /// of the case's desc. `None` if the desc is invalid, or if a tensor spans more than 2^22 bytes.
    pub fn data(
        &self,
        case: &Case,
        level: FeatureLevel,
        validity: Validity,
        values: &mut Values,
    ) -> Option<Data> {
        self.oracle.data(case, level, validity, values)
    }

    /// Judges a desc and returns it as a [`ValidDesc`] if it is valid or open. For an invalid desc, the error
    /// is the judgement.
    pub fn judge_valid<'a>(
        &'a self,
        desc: &'a Desc,
        level: FeatureLevel,
        scratch: &mut Scratch,
    ) -> Result<ValidDesc<'a>, Judgement> {
        let judgement = self.judge(desc, level, scratch);
        self.valid(desc, level, judgement).ok_or(judgement)
    }

    /// Plans the execution of a desc by a reading. Reading 0 is the semantics. Reading `n` is the `n`-th
    /// entry of [`Operator::readings`] and replaces the read on the axes that raise its question.
    pub fn plan<'a>(
        &'a self,
        valid: ValidDesc<'a>,
        reading: usize,
        scratch: &'a mut Scratch,
    ) -> Result<Plan<'a>, OracleError> {
        self.oracle.plan(valid.desc, valid.level, reading, &mut scratch.oracle)
    }

    /// Wraps a desc that [`Operator::judge`] found valid or open.
    pub(crate) fn valid<'a>(
        &'a self,
        desc: &'a Desc,
        level: FeatureLevel,
        judgement: Judgement,
    ) -> Option<ValidDesc<'a>> {
        let valid = ValidDesc { operator: self, desc, level, judgement };
        (judgement.validity() != Validity::Invalid).then_some(valid)
    }
}

/// A desc that was judged valid or open. Only judging makes one, and the oracle takes no other type.
#[derive(Debug, Clone, Copy)]
pub struct ValidDesc<'a> {
    operator: &'a Operator,
    desc: &'a Desc,
    level: FeatureLevel,
    judgement: Judgement,
}

impl<'a> ValidDesc<'a> {
    /// The operator that the desc belongs to.
    pub fn operator(&self) -> &'a Operator {
        self.operator
    }

    /// The desc.
    pub fn desc(&self) -> &'a Desc {
        self.desc
    }

    /// The feature level at which it was judged.
    pub fn level(&self) -> FeatureLevel {
        self.level
    }

    /// The judgement.
    pub fn judgement(&self) -> Judgement {
        self.judgement
    }
}
