//! One operator, from its form.

use dmlcts_model::{FeatureLevel, MemberKind};

use super::{
    Proof,
    common::{Common, cite, level_at},
    examples, members, proof,
    rules::{self, Origins, Rules, mistaken},
    semantics, support,
};
use crate::{
    Citation, Diagnostic, Operator, Origin, Remark,
    branching::Branching,
    expression::{self, Scope},
    form::{OperatorForm, RemarkForm},
    judge::Judge,
    oracle::Oracle,
    yaml::{Document, Place},
};

/// Loads an operator; `None` where something in it is wrong, which is then in `wrong`.
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
    let signature = members::signature(common, document, wrong);
    let introduced = level_at(root.key("introduced"), &form.introduced, wrong);
    let since = introduced.unwrap_or(FeatureLevel::NEWEST);
    let rows = if introduced.is_some() { support::rows(document, since, wrong) } else { Vec::new() };
    let modes = support::modes(common, &signature, since);

    let mut scope = Scope::new(signature.clone());
    for (name, text) in form.lets.iter() {
        let defined = expression::parse(text).and_then(|expression| scope.define(name, expression));
        if let Err(mistake) = defined {
            // Where the name itself cannot stand, the span is empty.
            let of_name =
                mistake.span.start == mistake.span.end && mistake.message.contains(&format!("`{name}`"));
            let place = root.key("let");
            let diagnostic = if of_name {
                let diagnostic = place.name(name).mistake(mistake.message, "");
                mistake.help.into_iter().fold(diagnostic, Diagnostic::help)
            } else {
                mistaken(place.key(name), mistake)
            };
            wrong.push(diagnostic);
        }
    }

    let mut rules = Rules::new(&form.operator, &scope);
    let shared = Origins { page: &common.document.value.page, origin: Origin::Tensor };
    let shared_place = common.document.root();
    // A mistake in what operators share is reported with the first operator only.
    let mut of_shared = Vec::new();
    for (index, clause) in common.document.value.clauses.iter().enumerate() {
        rules.clause(clause, shared_place.key("clauses").index(index), shared, &mut of_shared);
    }
    let introduced_at = Citation { page: form.page.clone(), section: "Availability".to_owned() };
    for clause in support::clauses(&signature, since, &rows, &modes, introduced_at) {
        rules.derived(&clause, Origin::Support, root.key("support"), wrong);
    }
    let count = signature.members.iter().find(|member| member.kind == MemberKind::Count);
    if let Some(count) = count {
        let of = |member: &str| Citation { page: form.page.clone(), section: format!("Members / {member}") };
        let place = |member: &str| root.key("members").name(member);
        rules.derived(
            &rules::count_clause(&count.name, of(&count.name)),
            Origin::Member,
            place(&count.name),
            wrong,
        );
        for member in signature.members.iter().filter(|member| member.kind.is_list()) {
            for clause in rules::list_clauses(&member.name, &count.name, &of(&member.name)) {
                rules.derived(&clause, Origin::Member, place(&member.name), wrong);
            }
        }
    }
    let own = Origins { page: &form.page, origin: Origin::Operator };
    for (index, clause) in form.clauses.iter().enumerate() {
        rules.clause(clause, root.key("clauses").index(index), own, wrong);
    }
    for (index, question) in common.document.value.questions.iter().enumerate() {
        rules.question(question, shared_place.key("questions").index(index), shared, &mut of_shared);
    }
    for (index, question) in form.questions.iter().enumerate() {
        rules.question(question, root.key("questions").index(index), own, wrong);
    }
    for diagnostic in of_shared {
        let same = |other: &Diagnostic| {
            (other.source_name(), other.span(), other.message())
                == (diagnostic.source_name(), diagnostic.span(), diagnostic.message())
        };
        if !wrong.iter().any(same) {
            wrong.push(diagnostic);
        }
    }
    let semantics = semantics::semantics(document, &signature, &scope, wrong);
    let Rules { clauses, questions, readings, .. } = rules;
    let prefix = format!("{}.", form.operator.to_lowercase());
    let mut remarks = remarks(&form.errata, true, root.key("errata"), &form.page, &prefix, wrong);
    remarks.extend(self::remarks(&form.notes, false, root.key("notes"), &form.page, &prefix, wrong));
    let (Some(semantics), true) = (semantics, wrong.len() == before) else { return None };

    let judge = Judge::new(&signature, &clauses, &questions);
    let branching = Branching::new(&signature, &scope, &semantics);
    let oracle = Oracle::new(&signature, &semantics, &readings, &questions);
    let mut operator = Operator {
        summary: form.summary.clone(),
        page: form.page.clone(),
        introduced: since,
        support: rows,
        modes,
        scope: scope.clone(),
        signature,
        clauses,
        questions,
        readings,
        semantics,
        examples: Vec::new(),
        remarks,
        judge,
        branching,
        // Known once every operator is loaded.
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

fn remarks(
    forms: &[RemarkForm],
    erratum: bool,
    place: Place<'_>,
    page: &str,
    prefix: &str,
    wrong: &mut Vec<Diagnostic>,
) -> Vec<Remark> {
    for (index, form) in forms.iter().enumerate() {
        if forms[..index].iter().any(|other| other.id == form.id) {
            let message = format!("the id `{}` is used twice", form.id);
            wrong.push(place.index(index).key("id").mistake(message, "the second one"));
        }
    }
    let remark = |form: &RemarkForm| Remark {
        id: format!("{prefix}{}", form.id),
        erratum,
        cite: cite(form.page.as_ref(), &form.cite, page),
        text: form.text.clone(),
    };
    forms.iter().map(remark).collect()
}
