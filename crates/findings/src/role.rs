//! Members of the same role in several operators: one name ends with the other, as `InputWindowOffsets` ends
//! with `Offsets`. A condition on a member can be asked of the members of its role.

use dmlcts_model::{Case, Side};
use dmlcts_spec::{Library, Operator};

/// The first index that is read, and the least one: the same for operators that never walk backwards, which
/// lack the first name.
const START: &str = "start";
const LOWEST: &str = "lowest";

/// A condition on the cases of one operator, in the words of another. Members without a counterpart stay.
pub(crate) fn translated(condition: &str, from: &Operator, to: &Operator) -> String {
    let has = |name: &str| to.scope().definitions().iter().any(|definition| definition.name == name);
    renamed(condition, |name| {
        if name == START && !has(START) && has(LOWEST) {
            return Some(LOWEST.to_owned());
        }
        from.signature().members.iter().find(|member| member.name == name)?;
        let is_of_role = |other: &str| other.ends_with(name) || name.ends_with(other);
        let mut members = to.signature().members.iter().map(|member| member.name.as_str());
        members.find(|other| is_of_role(other)).map(str::to_owned)
    })
}

/// A condition with the shortest name of each role. Equal results are one condition on several operators.
pub(crate) fn canonical(condition: &str, library: &Library) -> String {
    renamed(condition, |name| {
        if name == START {
            return Some(LOWEST.to_owned());
        }
        let members = library.operators().iter().flat_map(|operator| &operator.signature().members);
        let shorter = members.map(|member| member.name.as_str()).filter(|other| name.ends_with(other));
        shorter.min_by_key(|other| other.len()).map(str::to_owned)
    })
}

/// What conditions of several operators, and on either tensor, have in common if they say the same.
pub(crate) fn form(condition: &str, library: &Library) -> String {
    let canonical = canonical(condition, library);
    let canonical = of_any_member(&canonical, library).unwrap_or(canonical);
    let canonical = of_any_list(canonical, library);
    of_any_tensor(&canonical).unwrap_or(canonical)
}

/// A condition that names violated clauses, without the members that these are about: a list that is absent
/// has a clause for each list of each operator. `None` if it names no clause.
fn of_any_member(condition: &str, library: &Library) -> Option<String> {
    let [before, clauses, after] = around_clauses(condition)?;
    let members = || library.operators().iter().flat_map(|operator| &operator.signature().members);
    let rule = |clause: &str| {
        let rest = members().find_map(|member| clause.strip_prefix(member.name.as_str()));
        rest.filter(|rest| rest.starts_with('_')).map_or_else(|| clause.to_owned(), str::to_owned)
    };
    let mut rules: Vec<String> = clauses.split(", ").map(rule).collect();
    rules.sort_unstable();
    rules.dedup();
    Some(format!("{before}violation in [{}]{after}", rules.join(", ")))
}

/// The clauses that a condition names as violated, between what comes before and after.
pub(crate) fn around_clauses(condition: &str) -> Option<[&str; 3]> {
    if let Some((before, rest)) = condition.split_once("violation in [") {
        let (clauses, after) = rest.split_once(']')?;
        return Some([before, clauses, after]);
    }
    let (before, rest) = condition.split_once("violation == ")?;
    let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let (clause, after) = rest.split_at(end.unwrap_or(rest.len()));
    Some([before, clause, after])
}

/// A condition with one name for the members that are lists, where it asks whether they are there or how long
/// they are: each operator has lists of its own.
fn of_any_list(mut condition: String, library: &Library) -> String {
    let members = library.operators().iter().flat_map(|operator| &operator.signature().members);
    for name in members.filter(|member| member.kind.is_list()).map(|member| &member.name) {
        for function in ["present", "length"] {
            condition = condition.replace(&format!("{function}({name})"), &format!("{function}(list)"));
        }
    }
    for of_all in ["present(list)", "length(list) == rank"] {
        let twice = format!("{of_all} and {of_all}");
        while condition.contains(&twice) {
            condition = condition.replace(&twice, of_all);
        }
    }
    condition
}

/// A condition with the name of the other tensor. `None` unless it names exactly one of them.
pub(crate) fn with_other_tensor(condition: &str) -> Option<String> {
    let any = of_any_tensor(condition)?;
    let side =
        Side::BOTH.into_iter().find(|side| !condition.contains(&format!("{}.", side.member_name())))?;
    Some(any.replace("Tensor.", &format!("{}.", side.member_name())))
}

/// A condition with the output's sizes in place of a list that equals them in each failure. The list of the
/// same role that another operator has may differ from them. `None` if the condition names no such list.
pub(crate) fn on_output_sizes(condition: &str, failures: &[&Case]) -> Option<String> {
    let is_equal = |name: &str| {
        failures.iter().all(|case| {
            let sizes = case.desc.tensor(Side::Output).and_then(|output| output.sizes.as_deref());
            sizes.is_some() && case.desc.list(name) == sizes
        })
    };
    let members = &failures.first()?.desc.signature.members;
    let list = members.iter().find(|member| member.kind.is_list() && is_equal(&member.name))?;
    let output = format!("{}.Sizes", Side::Output.member_name());
    let renamed = renamed(condition, |name| (name == list.name).then(|| output.clone()));
    (renamed != condition).then_some(renamed)
}

/// A condition with one name for both tensors. `None` unless it names exactly one of them. A fault in what
/// both tensors share shows as one condition for each.
pub(crate) fn of_any_tensor(condition: &str) -> Option<String> {
    let [input, output] = Side::BOTH.map(|side| format!("{}.", side.member_name()));
    match (condition.contains(&input), condition.contains(&output)) {
        (true, false) => Some(condition.replace(&input, "Tensor.")),
        (false, true) => Some(condition.replace(&output, "Tensor.")),
        _ => None,
    }
}

/// A condition with other names. Names of fields, such as `InputTensor.Sizes`, stay.
fn renamed(condition: &str, new_name: impl Fn(&str) -> Option<String>) -> String {
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '.';
    let mut text = String::new();
    let mut rest = condition;
    while !rest.is_empty() {
        let length = rest.find(|letter| !is_of_name(letter)).unwrap_or(rest.len());
        let (name, tail) = rest.split_at(length);
        let new = if name.contains('.') { None } else { new_name(name) };
        text.push_str(&new.unwrap_or_else(|| name.to_owned()));
        let gap = tail.find(is_of_name).unwrap_or(tail.len());
        text.push_str(&tail[..gap]);
        rest = &tail[gap..];
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_one_role_take_each_other_s_place() {
        let library = Library::embedded();
        let operator = |name| library.operator(name).expect("it is built in");
        let condition = "any axis (InputWindowOffsets >= 65536 and InputTensor.Strides > 0)";
        let other = translated(condition, operator("SLICE1"), operator("SLICE"));
        assert_eq!(other, "any axis (Offsets >= 65536 and InputTensor.Strides > 0)");
        assert_eq!(translated(&other, operator("SLICE"), operator("SLICE1")), condition);
        assert_eq!(translated(&other, operator("SLICE"), operator("PADDING1")), other);
        assert_eq!(canonical(condition, library), other);
        assert_eq!(canonical(&other, library), other);
        let of_output = condition.replace("InputTensor", "OutputTensor");
        assert_eq!(of_any_tensor(condition), of_any_tensor(&of_output));
        assert_eq!(with_other_tensor(condition).as_ref(), Some(&of_output));
        assert_eq!(with_other_tensor("rank > 2"), None);
        assert_eq!(of_any_tensor("InputTensor.ElementSize < OutputTensor.ElementSize"), None);
        assert_eq!(of_any_tensor("rank > 2"), None);
    }

    #[test]
    fn the_clauses_of_one_rule_are_one_for_all_members_and_operators() {
        let of = |condition: &str| form(condition, Library::embedded());
        let absent = of("violation in [InputWindowOffsets_present, InputWindowSizes_present] and rank > 2");
        assert_eq!(absent, of("violation == StartPadding_present and rank > 2"));
        assert_ne!(absent, of("violation == StartPadding_present"));
        assert_ne!(absent, of("violation == DimensionCount_agrees and rank > 2"));
        assert_ne!(of("violation == types_agree"), of("violation == total_size"));
    }

    #[test]
    fn the_lists_of_each_operator_are_all_lists() {
        let of = |condition: &str| form(condition, Library::embedded());
        let of_slice = of("rank > 2 and (length(Offsets) == rank and length(Sizes) == rank)");
        assert_eq!(
            of_slice,
            of("rank > 2 and (length(StartPadding) == rank and length(EndPadding) == rank)")
        );
        assert_ne!(of_slice, of("rank > 2 and (present(StartPadding) and present(EndPadding))"));
        assert_ne!(of("any axis abs(Strides) > 1"), of("any axis abs(InputTensor.Strides) > 1"));
    }

    #[test]
    fn what_is_read_first_is_the_least_where_nothing_walks_backwards() {
        let library = Library::embedded();
        let operator = |name| library.operator(name).expect("it is built in");
        let condition = "any axis (start > 0 or highest >= OutputTensor.Sizes)";
        let of_slice = translated(condition, operator("SLICE1"), operator("SLICE"));
        assert_eq!(of_slice, "any axis (lowest > 0 or highest >= OutputTensor.Sizes)");
        assert_eq!(form(condition, library), form(&of_slice, library));
    }
}
