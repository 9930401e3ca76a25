//! Finding a predicate that holds of some cases and of no others: the shortest conjunction of simple conditions.
//!
//! Every condition that holds of all the cases wanted is tried: sets of modes, data types and ranks, signs of members on
//! some axis or against the input's sizes, clauses broken and met exactly, questions raised, what the desc is judged. Of those, as few as can be must tell the wanted cases from all
//! others. Nothing else is tried, so that what is found can be read at a glance.

use std::collections::BTreeSet;

use dmlcts_model::{Case, DataType, FeatureLevel, MemberKind, Side, Value};
use dmlcts_spec::{
    Operator, Predicate, Scope,
    expression::{Comparison, Form},
    program::Values,
};

/// As many conditions are weighed against each other.
const MOST: usize = 64;
/// As many are joined.
const JOINED: usize = 3;

/// Conditions that hold of all cases wanted, and which of them hold together of cases that are not.
pub(super) struct Separation<'a> {
    operator: &'a Operator,
    level: FeatureLevel,
    conditions: Vec<(String, Predicate)>,
    /// For each case that is not wanted, the conditions that hold of it, as bits; those that are alike count once.
    others: BTreeSet<u64>,
    values: Values,
}

impl<'a> Separation<'a> {
    /// Starts from the cases wanted, which are of this operator.
    pub(super) fn new(operator: &'a Operator, level: FeatureLevel, wanted: &[Case]) -> Self {
        let mut values = Values::default();
        let mut conditions: Vec<(String, Predicate)> = Vec::new();
        let mut texts = conditions_of(operator, wanted);
        texts.sort_by_key(String::len);
        texts.dedup();
        for text in texts {
            let Ok(predicate) = Predicate::compile(&text, [operator.scope()]) else { continue };
            if conditions.len() < MOST && wanted.iter().all(|case| predicate.holds(case, level, &mut values))
            {
                conditions.push((text, predicate));
            }
        }
        Self { operator, level, conditions, others: BTreeSet::new(), values }
    }

    /// Takes note of a case that the predicate must not hold of.
    pub(super) fn exclude(&mut self, case: &Case) {
        let mut held = 0;
        for (place, (_, predicate)) in self.conditions.iter().enumerate() {
            held |= u64::from(predicate.holds(case, self.level, &mut self.values)) << place;
        }
        self.others.insert(held);
    }

    /// The shortest predicate of the fewest conditions; `None` where none tells the cases apart.
    pub(super) fn predicate(&self) -> Option<String> {
        let found = (0..=JOINED).find_map(|count| self.shortest(count, 0, 0, 0).map(|(_, chosen)| chosen))?;
        let chosen = self.conditions.iter().enumerate().filter(|(place, _)| found & 1 << place != 0);
        let mut texts: Vec<&str> = chosen.map(|(_, (text, _))| text.as_str()).collect();
        // What reaches as far as it can stands last, or in parentheses.
        texts.sort_by_key(|text| reaches(text));
        let mut predicate = format!("operator == {}", self.operator.name());
        for (place, text) in texts.iter().enumerate() {
            let is_last = place + 1 == texts.len();
            predicate.push_str(" and ");
            if reaches(text) && !is_last {
                predicate.extend(["(", text, ")"]);
            } else {
                predicate.push_str(text);
            }
        }
        Some(predicate)
    }

    /// The shortest choice of so many more conditions behind a place, with those chosen before: its length, and its bits.
    fn shortest(&self, more: usize, from: usize, chosen: u64, length: usize) -> Option<(usize, u64)> {
        if more == 0 {
            let separates = self.others.iter().all(|held| held & chosen != chosen);
            return separates.then_some((length, chosen));
        }
        let places = from..self.conditions.len();
        places
            .filter_map(|place| {
                let length = length + self.conditions[place].0.len();
                self.shortest(more - 1, place + 1, chosen | 1 << place, length)
            })
            .min()
    }
}

fn reaches(text: &str) -> bool {
    text.starts_with("any axis ")
}

/// Conditions that may hold of all the cases.
fn conditions_of(operator: &Operator, wanted: &[Case]) -> Vec<String> {
    let mut texts = ["valid", "open", "not invalid"].map(str::to_owned).to_vec();
    let mut counts: Vec<&str> = Vec::new();
    for (place, member) in operator.signature().members.iter().enumerate() {
        match &member.kind {
            MemberKind::Enumeration(enumeration) => {
                let value = |case: &Case| match case.desc.members.get(place) {
                    Some(Value::Integer(value)) => {
                        let mut all = enumeration.enumerators.iter();
                        let name = all.find(|enumerator| enumerator.value == *value);
                        Some(name.map_or_else(|| value.to_string(), |enumerator| enumerator.name.clone()))
                    }
                    _ => None,
                };
                texts.extend(one_of(&member.name, wanted.iter().map(value)));
            }
            MemberKind::U32List => {
                signs(&member.name, &mut texts);
                counts.push(&member.name);
            }
            MemberKind::I32List => signs(&member.name, &mut texts),
            _ => {}
        }
    }
    against_sizes(&counts, &mut texts);
    let data_type = |case: &Case| case.desc.tensor(Side::Input).map(|tensor| name_of(tensor.data_type));
    texts.extend(one_of("InputTensor.DataType", wanted.iter().map(data_type)));
    let rank = |case: &Case| Some(case.desc.tensor(Side::Input)?.sizes.as_ref()?.len());
    texts.extend(one_of("rank", wanted.iter().map(|case| rank(case).map(|rank| rank.to_string()))));
    if let Some(ranks) = wanted.iter().map(rank).collect::<Option<Vec<_>>>() {
        texts.extend(ranks.iter().min().map(|least| format!("rank >= {least}")));
        texts.extend(ranks.iter().max().map(|most| format!("rank <= {most}")));
    }
    for side in Side::BOTH {
        let tensor = side.member_name();
        texts.extend([format!("present({tensor}.Strides)"), format!("not present({tensor}.Strides)")]);
        signs(&format!("{tensor}.Sizes"), &mut texts);
        signs(&format!("{tensor}.Strides"), &mut texts);
    }
    for clause in operator.clauses() {
        texts.push(on(clause.scope, &format!("not ({})", clause.text)));
        if let Form::Compare(left, rest) = &clause.expression.form
            && let [(Comparison::LessOrEqual | Comparison::GreaterOrEqual, right)] = rest.as_slice()
        {
            texts.push(on(clause.scope, &format!("{left} == {right}")));
        }
    }
    for question in operator.questions() {
        let raised = on(question.scope, &question.text);
        texts.extend([format!("not ({raised})"), raised]);
    }
    texts
}

fn on(scope: Scope, text: &str) -> String {
    match scope {
        Scope::Axis => format!("any axis {text}"),
        Scope::Desc => format!("({text})"),
    }
}

/// What a list can be on some axis or on all.
fn signs(list: &str, texts: &mut Vec<String>) {
    for sign in ["< 0", "== 0", "> 0", "> 1"] {
        texts.push(format!("any axis {list} {sign}"));
    }
    texts.extend([format!("not (any axis {list} < 0)"), format!("not (any axis {list} > 1)")]);
}

/// That one of these lists, or one of two, is as great as the input on some axis, or greater.
fn against_sizes(lists: &[&str], texts: &mut Vec<String>) {
    for (place, list) in lists.iter().enumerate() {
        let pairs = lists[place + 1..].iter().map(|other| format!("max({list}, {other})"));
        for greater in std::iter::once((*list).to_owned()).chain(pairs) {
            texts.extend([">=", ">"].map(|sign| format!("any axis {greater} {sign} InputTensor.Sizes")));
        }
    }
}

/// That something has one of the values which it has in the cases; nothing where it has none in some.
fn one_of(name: &str, values: impl Iterator<Item = Option<String>>) -> Option<String> {
    let values: BTreeSet<String> = values.collect::<Option<_>>()?;
    let listed: Vec<&str> = values.iter().map(String::as_str).collect();
    match listed.as_slice() {
        [] => None,
        [one] => Some(format!("{name} == {one}")),
        _ => Some(format!("{name} in [{}]", listed.join(", "))),
    }
}

fn name_of(data_type: DataType) -> String {
    data_type.name().map_or_else(|| data_type.0.to_string(), str::to_owned)
}
