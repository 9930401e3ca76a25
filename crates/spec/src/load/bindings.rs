//! Loads the rules of bindings: one for each tensor and rule of the file.

use dmlcts_model::Side;

use super::{common::cite, rules::check_id};
use crate::{
    BindingRule, Diagnostic, Operator, Predicate,
    expression::{Expression, Form, parse},
    form::CommonForm,
    yaml::Document,
};

/// Loads the rules. Mistakes are added to `wrong`.
pub(super) fn load(
    document: &Document<CommonForm>,
    operators: &[Operator],
    wrong: &mut Vec<Diagnostic>,
) -> Vec<BindingRule> {
    let forms = &document.value.bindings;
    let mut rules = Vec::new();
    for (index, form) in forms.iter().enumerate() {
        let place = document.root().key("bindings").index(index);
        check_id(&form.id, forms[..index].iter().map(|other| &other.id), place, wrong);
        for side in Side::BOTH {
            let compiled = parse(&form.that).and_then(|expression| {
                let expression = expression.for_tensor(side);
                let text = expression.to_string();
                let span = expression.span;
                let broken = Expression::new(Form::Not(Box::new(expression)), span);
                Ok((text, Predicate::from_expression(broken, operators.iter().map(Operator::scope))?))
            });
            match compiled {
                Ok((text, broken)) => rules.push(BindingRule {
                    id: form.id.clone(),
                    side,
                    text,
                    broken,
                    cite: cite(form.page.as_ref(), &form.cite, &document.value.page),
                    note: form.note.clone(),
                }),
                // Both tensors have the same mistake.
                Err(mistake) if side == Side::Input => wrong.push(place.key("that").mistaken(mistake)),
                Err(_) => {}
            }
        }
    }
    rules
}
