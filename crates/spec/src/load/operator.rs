//! Loads one operator from its form.

use std::sync::Arc;

use dmlcts_model::{FeatureLevel, MemberKind, Signature};

use super::{
    common::{Common, cite, level_at},
    examples, members,
    proof::{self, Proof},
    rules::{Broken, Origins, Rules, is_id},
    semantics,
    support::{self, SupportClause},
};
use crate::{
    Citation, Diagnostic, Note, Operator, Origin, Remark,
    branching::Branching,
    expression::{self, Expression, Position, Scope},
    form::{ClauseForm, OperatorForm, RemarkForm},
    judge::Judge,
    oracle::Oracle,
    yaml::{Document, Place},
};

/// Loads an operator. `None` if it has mistakes, which are added to `wrong`.
pub(super) fn load(
    common: &Common,
    document: &Document<OperatorForm>,
    thoroughness: Proof,
    wrong: &mut Vec<Diagnostic>,
) -> Option<Operator> {
    let before = wrong.len();
    let form = &document.value;
    let root = document.root();
    if !members::is_word(&form.operator) {
        let message = format!("`{}` cannot be the name of an operator", form.operator);
        wrong.push(root.key("operator").mistake(message, "a name has letters, digits and underscores"));
    }
    let mut broken = Broken::default();
    let signature = members::signature(common, document, &mut broken, wrong);
    let introduced = level_at(root.key("introduced"), &form.introduced, wrong);
    let since = introduced.unwrap_or(FeatureLevel::NEWEST);
    let rows = if introduced.is_some() { support::rows(document, since, wrong) } else { Vec::new() };
    let modes = support::modes(common, &signature, since);

    let scope = definitions(document, &signature, &mut broken, wrong);
    let mut rules = Rules::new(&form.operator, &scope, &broken);
    let introduced_at = Citation { page: form.page.clone(), section: "Availability".to_owned() };
    let of_support = support::clauses(&signature, since, &rows, &modes, &introduced_at);
    collect(&mut rules, common, document, &signature, &of_support, wrong);
    let semantics = semantics::semantics(document, &signature, &scope, &broken, wrong);
    let Rules { clauses, questions, readings, .. } = rules;
    let prefix = format!("{}.", form.operator.to_lowercase());
    let remarks = remarks([&form.errata, &form.notes], root, &form.page, &prefix, wrong);
    let mut of_shared = Vec::new();
    let shared = &common.document;
    let mut notes = notes(&shared.value.notes, shared.root(), &scope, &broken, &mut of_shared);
    add_once(of_shared, wrong);
    notes.extend(self::notes(&form.notes, root, &scope, &broken, wrong));
    let (Some(semantics), true) = (semantics, wrong.len() == before) else { return None };

    let judge = Arc::new(Judge::new(&signature, &clauses, &questions));
    let branching = Branching::new(&signature, &scope, &semantics);
    let oracle = Arc::new(Oracle::new(&signature, &semantics, &readings, &questions));
    let mut operator = Operator {
        summary: form.summary.clone(),
        page: form.page.clone(),
        introduced: since,
        support: rows,
        modes,
        scope: scope.clone().over_cases(&judge, &oracle),
        signature,
        clauses,
        questions,
        readings,
        semantics,
        examples: Vec::new(),
        remarks,
        notes,
        judge,
        ways: std::sync::OnceLock::new(),
        branching,
        // Set once every operator is loaded.
        position: 0,
        oracle,
    };
    if thoroughness == Proof::Full {
        proof::check(&operator, document, &common.document, wrong);
    }
    if wrong.len() == before {
        operator.examples = examples::examples(&operator, document, wrong);
    }
    (wrong.len() == before).then_some(operator)
}

/// Checks the definitions under `let`.
fn definitions(
    document: &Document<OperatorForm>,
    signature: &Arc<Signature>,
    broken: &mut Broken,
    wrong: &mut Vec<Diagnostic>,
) -> Scope {
    let mut scope = Scope::new(Arc::clone(signature));
    for (name, text) in document.value.lets.iter() {
        let defined = expression::parse(text).and_then(|expression| scope.define(name, expression));
        if let Err(mistake) = defined {
            // The span is empty if the name itself is invalid.
            let of_name =
                mistake.span.start == mistake.span.end && mistake.message.contains(&format!("`{name}`"));
            let place = document.root().key("let");
            if of_name {
                let diagnostic = place.name(name).mistake(mistake.message, "");
                wrong.push(mistake.help.into_iter().fold(diagnostic, Diagnostic::help));
            } else {
                broken.report(text, place.key(name), mistake, wrong);
            }
            broken.0.push(name.to_owned());
        }
    }
    scope
}

/// Collects every clause and question: those of tensors, support, members, and the operator's own.
fn collect(
    rules: &mut Rules<'_>,
    common: &Common,
    document: &Document<OperatorForm>,
    signature: &Signature,
    of_support: &[SupportClause],
    wrong: &mut Vec<Diagnostic>,
) {
    let form = &document.value;
    let (root, shared_root) = (document.root(), common.document.root());
    let ids = |clauses: &[ClauseForm]| clauses.iter().map(|clause| clause.id.clone()).collect::<Vec<_>>();
    let (shared_ids, own_ids) = (ids(&common.document.value.clauses), ids(&form.clauses));
    let shared = |below| Origins { page: &common.document.value.page, origin: Origin::Tensor, below };
    let own = |below| Origins { page: &form.page, origin: Origin::Operator, below };
    // Mistakes in the shared rules are reported once, rather than for each operator.
    let mut of_shared = Vec::new();
    for (index, clause) in common.document.value.clauses.iter().enumerate() {
        let place = shared_root.key("clauses").index(index);
        rules.clause(clause, place, shared(&shared_ids[index..]), &mut of_shared);
    }
    for clause in of_support {
        rules.derived(clause, Origin::Support, root.key("support"), wrong);
    }
    members_clauses(rules, document, signature, wrong);
    for (index, clause) in form.clauses.iter().enumerate() {
        rules.clause(clause, root.key("clauses").index(index), own(&own_ids[index..]), wrong);
    }
    for (index, question) in common.document.value.questions.iter().enumerate() {
        rules.question(question, shared_root.key("questions").index(index), shared(&[]), &mut of_shared);
    }
    for (index, question) in form.questions.iter().enumerate() {
        rules.question(question, root.key("questions").index(index), own(&[]), wrong);
    }
    add_once(of_shared, wrong);
}

/// Adds mistakes in what operators share, each for the first operator that has it.
fn add_once(found: Vec<Diagnostic>, wrong: &mut Vec<Diagnostic>) {
    for diagnostic in found {
        let key = |it: &Diagnostic| (it.source_name().to_owned(), it.span(), it.message().to_owned());
        if !wrong.iter().any(|known| key(known) == key(&diagnostic)) {
            wrong.push(diagnostic);
        }
    }
}

/// The clauses that follow from the kinds of members.
fn members_clauses(
    rules: &mut Rules<'_>,
    document: &Document<OperatorForm>,
    signature: &Signature,
    wrong: &mut Vec<Diagnostic>,
) {
    let Some(count) = signature.members.iter().find(|member| member.kind == MemberKind::Count) else {
        return;
    };
    let page = &document.value.page;
    let of = |member: &str| Citation { page: page.clone(), section: format!("Members / {member}") };
    let place = |member: &str| document.root().key("members").name(member);
    let count = &count.name;
    let (agrees, is_rank) = (format!("{count}.agrees"), format!("{count} == InputTensor.DimensionCount"));
    let of_count = SupportClause::new(&agrees, &["input.present"], is_rank, &of(count));
    rules.derived(&of_count, Origin::Member, place(count), wrong);
    for list in signature.members.iter().filter(|member| member.kind.is_list()).map(|member| &member.name) {
        let (present, length) = (format!("{list}.present"), format!("{list}.length"));
        let has_length = format!("length({list}) == {count}");
        for clause in [
            SupportClause::new(&present, &[], format!("present({list})"), &of(list)),
            SupportClause::new(&length, &[&present, &agrees], has_length, &of(list)),
        ] {
            rules.derived(&clause, Origin::Member, place(list), wrong);
        }
    }
}

/// The notes of a file that state an expectation.
fn notes(
    forms: &[RemarkForm],
    root: Place<'_>,
    scope: &Scope,
    broken: &Broken,
    wrong: &mut Vec<Diagnostic>,
) -> Vec<Note> {
    let operator = scope.signature().operator.to_lowercase();
    let mut notes = Vec::new();
    for (index, form) in forms.iter().enumerate() {
        let Some(text) = &form.when else { continue };
        let place = root.key("notes").index(index).key("when");
        let condition = |when: &Expression| scope.condition(when, Position::Once);
        if let Some((expression, term)) = broken.checked(text, place, wrong, condition) {
            let id = format!("{operator}.{}", form.id);
            notes.push(Note::new(id, expression.to_string(), scope.signature(), &term));
        }
    }
    notes
}

/// The errata and notes of a file.
pub(super) fn remarks(
    [errata, notes]: [&[RemarkForm]; 2],
    root: Place<'_>,
    page: &str,
    prefix: &str,
    wrong: &mut Vec<Diagnostic>,
) -> Vec<Remark> {
    let mut remarks: Vec<Remark> = Vec::new();
    for (forms, key) in [(errata, "errata"), (notes, "notes")] {
        for (index, form) in forms.iter().enumerate() {
            let id = format!("{prefix}{}", form.id);
            let place = root.key(key).index(index).key("id");
            if !is_id(&form.id) {
                let message = format!("`{}` is not an id", form.id);
                wrong.push(place.mistake(message, "ids are lower case words joined by hyphens"));
            } else if remarks.iter().any(|known| known.id == id) {
                wrong.push(place.mistake(format!("the id `{id}` is used twice"), "the second one"));
            }
            if form.when.is_some() && key == "errata" {
                let place = root.key(key).index(index).key("when");
                wrong.push(place.mistake("an erratum has no `when`", "only notes state an expectation"));
            }
            let cite = cite(form.page.as_ref(), &form.cite, page);
            remarks.push(Remark { id, erratum: key == "errata", cite, text: form.text.clone() });
        }
    }
    remarks
}
