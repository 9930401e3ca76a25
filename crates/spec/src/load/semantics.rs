//! Checks the semantics: the reads, and the member that chooses among them.

use dmlcts_model::{MemberKind, Signature, closest};

use super::{common::cite, rules::Broken};
use crate::{
    Branch, Diagnostic, Semantics,
    expression::{self, Type},
    form::OperatorForm,
    names::list,
    yaml::{Document, Place},
};

/// Checks the semantics.
pub(super) fn semantics(
    document: &Document<OperatorForm>,
    signature: &Signature,
    scope: &expression::Scope,
    broken: &Broken,
    wrong: &mut Vec<Diagnostic>,
) -> Option<Semantics> {
    let form = &document.value.semantics;
    let place = document.root().key("semantics");
    let mut branches = Vec::new();
    let mut by = None;
    match (&form.read, &form.by) {
        (Some(text), None) if form.reads.0.is_empty() => {
            branches.extend(branch(None, text, place.key("read"), (scope, broken), wrong));
        }
        (None, Some(member)) => {
            let position = signature.position(member);
            let kind = position.map(|position| &signature.members[position].kind);
            let Some(MemberKind::Enumeration(enumeration)) = kind else {
                let enumerations = signature.members.iter().filter_map(|member| match member.kind {
                    MemberKind::Enumeration(_) => Some(member.name.as_str()),
                    _ => None,
                });
                let message = format!("`{member}` is not a member that is an enumeration");
                let label = format!("expected {}", list(enumerations));
                wrong.push(place.key("by").mistake(message, label));
                return None;
            };
            by = position;
            let place = place.key("reads");
            let names = || enumeration.enumerators.iter().map(|enumerator| enumerator.name.as_str());
            for (name, text) in form.reads.iter() {
                let Some(value) = enumeration.value(name) else {
                    let message = format!("enumeration {} has no `{name}`", enumeration.name);
                    let label = format!("expected {}", list(names()));
                    wrong.push(place.name(name).mistake(message, label).near(closest(name, names())));
                    continue;
                };
                branches.extend(branch(Some((name, value)), text, place.key(name), (scope, broken), wrong));
            }
            let missing: Vec<&str> =
                names().filter(|name| form.reads.iter().all(|(written, _)| written != *name)).collect();
            if !missing.is_empty() {
                let message = format!("nothing says what is read where {member} is {}", list(missing));
                let at = document.root().key("semantics");
                wrong.push(at.name("reads").mistake(message, "add it to these"));
            }
        }
        _ => {
            let message = "semantics have either `read`, or `by` and `reads`";
            let at = document.root().name("semantics");
            wrong.push(at.mistake(message, "not one of the two").help(
                "`read` is one expression; `by` names the enumeration member that chooses among `reads`",
            ));
            return None;
        }
    }
    let fill = fill(document, signature, &branches, wrong);
    let cite = cite(None, &form.cite, &document.value.page);
    Some(Semantics { by, branches, fill, cite, note: form.note.clone() })
}

fn branch(
    mode: Option<(&str, i64)>,
    text: &str,
    place: Place<'_>,
    (scope, broken): (&expression::Scope, &Broken),
    wrong: &mut Vec<Diagnostic>,
) -> Option<Branch> {
    let (expression, term) = broken.checked(text, place, wrong, |read| scope.read(read))?;
    let (name, value) = mode.unzip();
    Some(Branch { name: name.map(str::to_owned), value, expression, term })
}

/// The scalar member for the fill. It is required if a read may be `fill`.
fn fill(
    document: &Document<OperatorForm>,
    signature: &Signature,
    branches: &[Branch],
    wrong: &mut Vec<Diagnostic>,
) -> Option<usize> {
    let place = document.root().key("semantics");
    let scalars = signature.members.iter().filter(|member| member.kind == MemberKind::Scalar);
    let scalars = list(scalars.map(|member| member.name.as_str()));
    let Some(name) = &document.value.semantics.fill else {
        if branches.iter().any(|branch| branch.term.value_type == Type::Read) {
            let message = "a read comes to `fill`, and nothing says what that is";
            let at = document.root().name("semantics");
            wrong.push(at.mistake(message, format!("add `fill`: {scalars}")));
        }
        return None;
    };
    let position = signature.position(name);
    let scalar = position.filter(|&at| signature.members[at].kind == MemberKind::Scalar);
    if scalar.is_none() {
        let message = format!("`{name}` is not a member that is a scalar");
        wrong.push(place.key("fill").mistake(message, format!("expected {scalars}")));
    }
    scalar
}
