//! Checks clauses and questions: resolves ids and `given`, and checks expressions.

use dmlcts_model::{Side, closest};

use super::{common::cite, support::SupportClause};
use crate::{
    AlternativeReading, Answer, Clause, Diagnostic, IdSet, Origin, Question, Scope,
    expression::{self, Expression, Position, Term},
    form::{AllowForm, ClauseForm, Each, QuestionForm},
    names::suggested,
    yaml::Place,
};

/// The clauses and questions of an operator that have been collected so far.
pub(super) struct Rules<'a> {
    /// The prefix of full ids: the operator's name in lower case and a dot.
    prefix: String,
    scope: &'a expression::Scope,
    broken: &'a Broken,
    /// The ids of clauses with mistakes, without the operator's prefix.
    failed: Vec<String>,
    pub(super) clauses: Vec<Clause>,
    pub(super) questions: Vec<Question>,
    pub(super) readings: Vec<AlternativeReading>,
}

/// The origin of rules, and the names that they may use.
#[derive(Clone, Copy)]
pub(super) struct Origins<'a> {
    /// The page that the file cites by default.
    pub(super) page: &'a str,
    pub(super) origin: Origin,
    /// The ids of the clauses that follow in the file.
    pub(super) below: &'a [String],
}

/// Names whose definition has a mistake. Mistakes that only follow from these names being unknown are not
/// reported.
#[derive(Debug, Default)]
pub(super) struct Broken(pub(super) Vec<String>);

impl Broken {
    /// Reports a mistake in an expression, unless it follows from another.
    pub(super) fn report(
        &self,
        text: &str,
        place: Place<'_>,
        mistake: expression::Mistake,
        wrong: &mut Vec<Diagnostic>,
    ) {
        let at = text.get(mistake.span.start..mistake.span.end);
        if at.is_none_or(|name| !self.0.iter().any(|broken| broken == name)) {
            wrong.push(place.mistaken(mistake));
        }
    }

    /// Parses and checks a text. Reports a mistake in it.
    pub(super) fn checked(
        &self,
        text: &str,
        place: Place<'_>,
        wrong: &mut Vec<Diagnostic>,
        check: impl FnOnce(&Expression) -> Result<Term, expression::Mistake>,
    ) -> Option<(Expression, Term)> {
        let checked = expression::parse(text).and_then(|expression| Ok((check(&expression)?, expression)));
        let reported = checked.map_err(|mistake| self.report(text, place, mistake, wrong));
        reported.ok().map(|(term, expression)| (expression, term))
    }
}

impl<'a> Rules<'a> {
    pub(super) fn new(operator: &str, scope: &'a expression::Scope, broken: &'a Broken) -> Self {
        let prefix = format!("{}.", operator.to_lowercase());
        Self {
            prefix,
            scope,
            broken,
            failed: Vec::new(),
            clauses: Vec::new(),
            questions: Vec::new(),
            readings: Vec::new(),
        }
    }

    /// Adds a clause of a file.
    pub(super) fn clause(
        &mut self,
        form: &ClauseForm,
        place: Place<'_>,
        of: Origins<'_>,
        wrong: &mut Vec<Diagnostic>,
    ) {
        for (side, each) in sides(form.each, place, of.origin, wrong) {
            let id = self.id(&form.id, side, place, wrong);
            let given = self.given(&form.given, side, place.key("given"), of.below, wrong);
            let that = place.key("that");
            let Some((expression, term)) = self.condition(&form.that, side, each, that, wrong) else {
                self.failed.push(short(&form.id, side));
                continue;
            };
            self.push(
                Clause {
                    id,
                    scope: each,
                    origin: of.origin,
                    given,
                    text: expression.to_string(),
                    expression,
                    term,
                    cite: cite(form.page.as_ref(), &form.cite, of.page),
                    note: form.note.clone(),
                    erratum: form.erratum.clone(),
                },
                place,
                wrong,
            );
        }
    }

    /// Adds a clause that is derived from a support row or a member's kind. If its text has a mistake, the
    /// names in it cannot be used in expressions, and the mistake is reported at `place`, their origin.
    pub(super) fn derived(
        &mut self,
        clause: &SupportClause,
        origin: Origin,
        place: Place<'_>,
        wrong: &mut Vec<Diagnostic>,
    ) {
        let given = clause.given.iter().filter_map(|name| self.find(name, None)).collect();
        let checked = expression::parse(&clause.text)
            .and_then(|expression| Ok((self.scope.condition(&expression, Position::Once)?, expression)));
        match checked {
            Ok((term, expression)) => self.push(
                Clause {
                    id: format!("{}{}", self.prefix, clause.id),
                    scope: Scope::Desc,
                    origin,
                    given,
                    text: clause.text.clone(),
                    expression,
                    term,
                    cite: clause.cite.clone(),
                    note: None,
                    erratum: None,
                },
                place,
                wrong,
            ),
            Err(mistake) => {
                let message =
                    format!("a name in it cannot be used in the clause `{}`: {mistake}", clause.text);
                wrong.push(place.mistake(message, ""));
            }
        }
    }

    fn push(&mut self, clause: Clause, place: Place<'_>, wrong: &mut Vec<Diagnostic>) {
        if self.clauses.len() == IdSet::CAPACITY {
            let message = format!("the operator has more than {} clauses", IdSet::CAPACITY);
            wrong.push(place.mistake(message, "the first one too many"));
        } else if self.clauses.len() < IdSet::CAPACITY {
            self.clauses.push(clause);
        }
    }

    /// Adds a question of a file.
    pub(super) fn question(
        &mut self,
        form: &QuestionForm,
        place: Place<'_>,
        of: Origins<'_>,
        wrong: &mut Vec<Diagnostic>,
    ) {
        for (side, each) in sides(form.each, place, of.origin, wrong) {
            let id = self.id(&form.id, side, place, wrong);
            let given = self.given(&form.given, side, place.key("given"), of.below, wrong);
            let allow = self.answers(&form.allow, place.key("allow"), wrong);
            let when = place.key("when");
            let Some((expression, term)) = self.condition(&form.when, side, each, when, wrong) else {
                continue;
            };
            if self.questions.len() == IdSet::CAPACITY {
                let message = format!("the operator has more than {} questions", IdSet::CAPACITY);
                wrong.push(place.mistake(message, "the first one too many"));
                return;
            }
            self.questions.push(Question {
                id,
                scope: each,
                given,
                text: expression.to_string(),
                expression,
                term,
                allow,
                cite: cite(form.page.as_ref(), &form.cite, of.page),
                note: form.note.clone(),
            });
        }
    }

    /// The answers that a question allows. A reading belongs to the question that is added next.
    fn answers(&mut self, forms: &[AllowForm], place: Place<'_>, wrong: &mut Vec<Diagnostic>) -> Vec<Answer> {
        if forms.is_empty() {
            let message = "a question that allows no answer forbids everything";
            wrong.push(place.mistake(message, "list what is allowed").help("what must not be is a clause"));
        }
        let mut answers = Vec::new();
        for (index, form) in forms.iter().enumerate() {
            let place = place.index(index);
            match (form.reject, form.accept, form.semantics, &form.read) {
                (true, false, false, None) => answers.push(Answer::Reject),
                (false, true, false, None) => answers.push(Answer::Accept),
                (false, false, true, None) => answers.push(Answer::Reading(0)),
                (false, false, false, Some(text)) => {
                    let scope = self.scope;
                    let read = self.broken.checked(text, place.key("read"), wrong, |read| scope.read(read));
                    if let Some((expression, term)) = read {
                        let question = self.questions.len();
                        self.readings.push(AlternativeReading { question, expression, term });
                        answers.push(Answer::Reading(self.readings.len()));
                    }
                }
                _ => wrong.push(
                    place
                        .mistake(
                            "an answer is one of `reject`, `accept`, `semantics` and `read`",
                            "exactly one of them",
                        )
                        .help(
                            "list several answers one after the other: [{reject: true}, {semantics: true}]",
                        ),
                ),
            }
        }
        answers
    }

    /// The full id of a rule. Reports an id that is malformed or already in use.
    fn id(&self, id: &str, side: Option<Side>, place: Place<'_>, wrong: &mut Vec<Diagnostic>) -> String {
        if !is_id(id) {
            let message = format!("`{id}` is not an id");
            wrong.push(place.key("id").mistake(message, "ids are lower case words joined by hyphens"));
        }
        let full = format!("{}{}", self.prefix, short(id, side));
        let clauses = self.clauses.iter().map(|clause| &clause.id);
        if clauses.chain(self.questions.iter().map(|question| &question.id)).any(|known| *known == full) {
            let message = format!("the id `{full}` is used twice");
            wrong.push(place.key("id").mistake(message, "the second one").help("every id names one rule"));
        }
        full
    }

    /// The index of a clause, by its name in `given`.
    fn find(&self, name: &str, side: Option<Side>) -> Option<usize> {
        let wanted = format!("{}{}", self.prefix, short(name, side));
        self.clauses.iter().position(|clause| clause.id == wanted)
    }

    fn given(
        &self,
        names: &[String],
        side: Option<Side>,
        place: Place<'_>,
        below: &[String],
        wrong: &mut Vec<Diagnostic>,
    ) -> IdSet {
        let mut given = IdSet::EMPTY;
        for (index, name) in names.iter().enumerate() {
            let found = side.and_then(|_| self.find(name, side)).or_else(|| self.find(name, None));
            if let Some(found) = found {
                given.insert(found);
                continue;
            }
            // A rule for both tensors reports a mistake once. A clause that was already reported is not
            // reported again.
            let failed = |side| self.failed.contains(&short(name, side));
            if side == Some(Side::Output) || failed(side) || failed(None) {
                continue;
            }
            if below.contains(name) {
                let message = format!("`{name}` stands below this clause");
                let help =
                    "a clause is given only clauses that stand above it, so that none waits for itself";
                wrong.push(place.index(index).mistake(message, "not stated yet").help(help));
                continue;
            }
            let known: Vec<&str> =
                self.clauses.iter().filter_map(|clause| clause.id.strip_prefix(&self.prefix)).collect();
            let message = format!("`{name}` is no clause above this one");
            let near = closest(name, known.iter().copied());
            let help = suggested(near, || "a clause is given only clauses that stand above it".to_owned());
            wrong.push(place.index(index).mistake(message, "not a clause that was stated before").help(help));
        }
        given
    }

    fn condition(
        &self,
        text: &str,
        side: Option<Side>,
        each: Scope,
        place: Place<'_>,
        wrong: &mut Vec<Diagnostic>,
    ) -> Option<(Expression, Term)> {
        let position = if each == Scope::Axis { Position::EachAxis } else { Position::Once };
        let checked = expression::parse(text).and_then(|expression| {
            let expression = side.map_or_else(|| expression.clone(), |side| expression.for_tensor(side));
            Ok((self.scope.condition(&expression, position)?, expression))
        });
        match checked {
            Ok((term, expression)) => Some((expression, term)),
            Err(mut mistake) => {
                // A rule for both tensors reports a mistake once, with `Tensor` instead of the tensor's name.
                if side.is_some() {
                    let tensor = |text: &str| text.replace("InputTensor", "Tensor");
                    mistake.message = tensor(&mistake.message);
                    mistake.help = mistake.help.map(|help| tensor(&help));
                }
                if side != Some(Side::Output) {
                    self.broken.report(text, place, mistake, wrong);
                }
                None
            }
        }
    }
}

/// The tensors that a rule applies to, or `None`, and whether it applies to each axis.
fn sides(
    each: Each,
    place: Place<'_>,
    origin: Origin,
    wrong: &mut Vec<Diagnostic>,
) -> Vec<(Option<Side>, Scope)> {
    let both = |scope| Side::BOTH.map(|side| (Some(side), scope)).to_vec();
    match each {
        Each::Desc => vec![(None, Scope::Desc)],
        Each::Axis => vec![(None, Scope::Axis)],
        _ if origin != Origin::Tensor => {
            let message = "`each: tensor` is for the rules that all operators share";
            let help = "name the tensor in the expression: `InputTensor.Sizes` or `OutputTensor.Sizes`";
            wrong.push(place.key("each").mistake(message, "expected `desc` or `axis`").help(help));
            Vec::new()
        }
        Each::Tensor => both(Scope::Desc),
        Each::TensorAxis => both(Scope::Axis),
    }
}

/// An id without the operator's prefix.
fn short(id: &str, side: Option<Side>) -> String {
    match side {
        Some(Side::Input) => format!("input.{id}"),
        Some(Side::Output) => format!("output.{id}"),
        None => id.to_owned(),
    }
}

/// Whether a text is an id: lower-case words and digits, joined by hyphens.
pub(super) fn is_id(text: &str) -> bool {
    let word =
        |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    text.split('-').all(word)
}

/// Reports an `id` that is none, or that is among those before it.
pub(super) fn check_id<'a>(
    id: &str,
    mut before: impl Iterator<Item = &'a String>,
    place: Place<'_>,
    wrong: &mut Vec<Diagnostic>,
) {
    if !is_id(id) || before.any(|other| other == id) {
        let message = format!("`{id}` is not an id, or is used twice");
        let label = "ids are lower case words joined by hyphens, each used once";
        wrong.push(place.key("id").mistake(message, label));
    }
}
