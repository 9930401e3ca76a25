//! The clauses, questions and semantics behind a failure, with their formulas and the values of its desc.

use dmlcts_model::Value;
use dmlcts_runner::{Failure, Reads, reads};
use dmlcts_spec::{Clause, Operator, Origin, Question, expression::Expression, program::Mask};
use maud::{Markup, html};

use crate::{
    Style,
    behind::{JudgedDesc, Text, write_answers, write_definitions, written_lines},
    numbers::counted,
};

/// The maximum number of clauses that a desc meets exactly and that are shown with their formulas.
const EXACT: usize = 6;

/// A formula of the spec, and what explains it.
struct Formula {
    /// How the desc relates to it: `breaks`.
    relation: &'static str,
    id: String,
    text: String,
    cite: String,
    /// Definitions, values and allowed answers, a line each.
    lines: Vec<String>,
}

/// The formulas in play: broken clauses and open questions, or else what the output should be.
pub(super) fn formulas(failure: &Failure) -> Markup {
    let Failure { operator, judgement, .. } = failure;
    let mut all: Vec<Formula> =
        judgement.violated.items(operator.clauses()).map(|clause| broken(failure, clause)).collect();
    all.extend(judgement.questions.items(operator.questions()).map(|one| question(operator, one)));
    let mut further = 0;
    if judgement.violated.is_empty() {
        all.extend(semantics(failure));
        let exact = judgement.boundary.items(operator.clauses());
        let exact = exact.filter(|clause| clause.origin == Origin::Operator);
        let exact: Vec<Formula> = exact.map(|clause| self::exact(operator, clause)).collect();
        further = exact.len().saturating_sub(EXACT);
        all.extend(exact.into_iter().take(EXACT));
    }
    html! {
        @if !all.is_empty() {
            h4 { "Behind it" }
            dl.formulas { @for formula in &all { (formula.markup()) } }
        }
        @if further > 0 { p.faint { "It meets " (counted(further as u64, "further clause")) " exactly." } }
    }
}

impl Formula {
    fn markup(&self) -> Markup {
        html! {
            div {
                dt { span.relation { (self.relation) } " " code.id { (self.id) } }
                dd {
                    code.formula { (self.text) }
                    @for line in &self.lines { code.formula.more { (line) } }
                    @if !self.cite.is_empty() { span.cite { (self.cite) } }
                }
            }
        }
    }
}

fn broken(failure: &Failure, clause: &Clause) -> Formula {
    let operator = failure.operator;
    let judged = JudgedDesc { operator, desc: &failure.case.desc, level: failure.level };
    let lines = written_lines(|out| {
        write_definitions(out, "", operator, &[&clause.expression], &mut Text::default())?;
        judged.write_values(out, "", (&clause.expression, &clause.term), Mask::falsehood, Style::PLAIN)
    });
    let cite = clause.cite.on(operator.page());
    Formula { relation: "breaks", id: clause.id.clone(), text: clause.text.clone(), cite, lines }
}

fn question(operator: &Operator, question: &Question) -> Formula {
    let lines = written_lines(|out| write_answers(out, "", operator, question, &mut Text::default()));
    let cite = question.cite.on(operator.page());
    Formula { relation: "open by", id: question.id.clone(), text: question.text.clone(), cite, lines }
}

fn exact(operator: &Operator, clause: &Clause) -> Formula {
    let lines = definitions(operator, &clause.expression);
    let cite = clause.cite.on(operator.page());
    Formula { relation: "meets exactly", id: clause.id.clone(), text: clause.text.clone(), cite, lines }
}

/// The semantics of the desc's mode, if the output was compared.
fn semantics(failure: &Failure) -> Option<Formula> {
    let operator = failure.operator;
    let wrong = failure.evidence.as_ref()?.differences.first.first()?;
    let semantics = operator.semantics();
    let mode = semantics.by.and_then(|member| match failure.case.desc.members.get(member) {
        Some(Value::Integer(value)) => Some(*value),
        _ => None,
    });
    let branch = semantics.branches.iter().find(|branch| branch.value.is_none() || branch.value == mode)?;
    let mut lines = definitions(operator, &branch.expression);
    if let Some(Reads::Member(name)) = reads(failure, &wrong.coordinates) {
        lines.push(format!("fill is {name}"));
    }
    let name = branch.name.as_ref().map(|name| format!(" with {name}")).unwrap_or_default();
    let text = format!("output[c] = input[{}] on each axis", branch.expression);
    let cite = semantics.cite.on(operator.page());
    Some(Formula { relation: "semantics of", id: format!("{}{name}", operator.name()), text, cite, lines })
}

fn definitions(operator: &Operator, expression: &Expression) -> Vec<String> {
    written_lines(|out| write_definitions(out, "", operator, &[expression], &mut Text::default()))
}
