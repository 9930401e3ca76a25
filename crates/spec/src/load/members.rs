//! Turns the members of a file into an operator's signature.

use std::sync::Arc;

use dmlcts_model::{Member, MemberKind, Signature, closest};

use super::{common::Common, rules::Broken};
use crate::{Diagnostic, form::OperatorForm, names::list, yaml::Document};

/// The kinds that are not enumerations, and their spelling.
const KINDS: [(&str, MemberKind); 7] = [
    ("count", MemberKind::Count),
    ("u32", MemberKind::U32),
    ("i32", MemberKind::I32),
    ("u32[]", MemberKind::U32List),
    ("i32[]", MemberKind::I32List),
    ("data_type", MemberKind::DataType),
    ("scalar", MemberKind::Scalar),
];

/// The signature of an operator. A member of unknown kind is left out, and its name is added to `broken`.
pub(super) fn signature(
    common: &Common,
    document: &Document<OperatorForm>,
    broken: &mut Broken,
    wrong: &mut Vec<Diagnostic>,
) -> Arc<Signature> {
    let form = &document.value;
    let place = document.root().key("members");
    let mut members = Vec::new();
    for (name, kind) in form.members.iter() {
        if !is_word(name) || matches!(name, "InputTensor" | "OutputTensor") {
            let message = format!("`{name}` cannot be the name of a member");
            let label = "a name has letters, digits and underscores, and is not that of a tensor";
            wrong.push(place.name(name).mistake(message, label));
            broken.0.push(name.to_owned());
            continue;
        }
        let known = KINDS.iter().find(|(written, _)| written == kind).map(|(_, kind)| kind.clone());
        let enumeration =
            || common.enumeration(kind).map(|known| MemberKind::Enumeration(Arc::clone(&known.enumeration)));
        if let Some(kind) = known.or_else(enumeration) {
            members.push(Member { name: name.to_owned(), kind });
            continue;
        }
        let enumerations = common.enumerations.iter().map(|known| known.enumeration.name.as_str());
        let names: Vec<&str> = KINDS.iter().map(|(name, _)| *name).chain(enumerations).collect();
        let message = format!("there is no kind of member `{kind}`");
        let label = format!("expected {}", list(names.iter().copied()));
        wrong.push(place.key(name).mistake(message, label).near(closest(kind, names)));
        broken.0.push(name.to_owned());
    }
    let counts = members.iter().filter(|member| member.kind == MemberKind::Count).count();
    let lists = members.iter().any(|member| member.kind.is_list());
    if broken.0.is_empty() && (counts > 1 || lists && counts == 0) {
        let message =
            format!("an operator with lists has one member of kind `count`, and this one has {counts}");
        wrong.push(document.root().name("members").mistake(message, "it says how long the lists are"));
    }
    Arc::new(Signature { operator: form.operator.clone(), members })
}

/// Whether a text can be a name in expressions and case lines.
pub(super) fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
