//! The simple conditions that a predicate may be made of, from the members of an operator and from the values
//! that the cases have: what a member is, on which side of a bound it lies, how it compares with another
//! member, which clauses a desc breaks or meets exactly, and what it is judged.
//!
//! Bounds are found in the data: those that keep all failures on one side, those that keep all passes on the
//! other, and the small values that occur.

use std::collections::BTreeSet;

use dmlcts_model::{Case, DataType, Desc, MemberKind, Side, Value};
use dmlcts_spec::{
    Operator, Scope,
    expression::{Comparison, Form},
    program::Field,
};

/// So many of the small values that occur are bounds.
const SMALL: usize = 8;

/// What a case has of something: one value, or one on each axis.
type Values = dyn Fn(&Case) -> Vec<i64>;

/// A value, or one on each axis, as the language spells it and as a desc holds it.
struct Term {
    text: String,
    scope: Scope,
    values: Box<Values>,
}

/// Conditions that may tell cases that failed from cases that passed, without what is said twice. Each is
/// asked of the desc or of each axis.
pub(super) fn candidates(operator: &Operator, failed: &[Case], passed: &[Case]) -> Vec<(Scope, String)> {
    let mut found = Found(Vec::new());
    found.desc(["valid", "open", "not invalid"].map(str::to_owned));
    for term in terms(operator) {
        found.bounds(&term, failed, passed);
    }
    found.enumerations(operator, failed, passed);
    found.of_tensors();
    found.comparisons(operator);
    found.of_rules(operator);
    let mut seen = BTreeSet::new();
    found.0.retain(|(_, text)| seen.insert(text.clone()));
    found.0
}

struct Found(Vec<(Scope, String)>);

impl Found {
    fn desc(&mut self, texts: impl IntoIterator<Item = String>) {
        self.0.extend(texts.into_iter().map(|text| (Scope::Desc, text)));
    }

    fn axis(&mut self, texts: impl IntoIterator<Item = String>) {
        self.0.extend(texts.into_iter().map(|text| (Scope::Axis, text)));
    }

    /// That a value is a small one that occurs, or lies on one side of it, or of a bound that tells much.
    fn bounds(&mut self, term: &Term, failed: &[Case], passed: &[Case]) {
        let values = |cases: &[Case]| -> Vec<Vec<i64>> {
            cases.iter().map(|case| (term.values)(case)).filter(|values| !values.is_empty()).collect()
        };
        let (failed, passed) = (values(failed), values(passed));
        let greatest = |values: &Vec<i64>| values.iter().max().copied().unwrap_or(0);
        let least = |values: &Vec<i64>| values.iter().min().copied().unwrap_or(0);
        let occurring: BTreeSet<i64> = failed.iter().flatten().copied().collect();
        let mut small: Vec<i64> = occurring.iter().copied().collect();
        small.sort_by_key(|value| value.unsigned_abs());
        small.truncate(SMALL);
        let mut at_least: BTreeSet<i64> = small.iter().copied().collect();
        let mut at_most = at_least.clone();
        // Any value of some axis, and every value of all axes.
        at_least.extend(failed.iter().map(greatest).min());
        at_least.extend(failed.iter().map(least).min());
        at_least.extend(passed.iter().map(greatest).max().and_then(|value| value.checked_add(1)));
        at_most.extend(failed.iter().map(least).max());
        at_most.extend(failed.iter().map(greatest).max());
        at_most.extend(passed.iter().map(least).min().and_then(|value| value.checked_sub(1)));
        let text = &term.text;
        let equal =
            small.iter().flat_map(|value| [format!("{text} == {value}"), format!("{text} != {value}")]);
        let texts = equal
            .chain(at_least.iter().map(|bound| least_text(text, *bound)))
            .chain(at_most.iter().map(|bound| most_text(text, *bound)));
        self.0.extend(texts.map(|text| (term.scope, text)));
    }

    /// Which names and data types there are among what failed, one by one and together.
    fn enumerations(&mut self, operator: &Operator, failed: &[Case], passed: &[Case]) {
        for (place, member) in operator.signature().members.iter().enumerate() {
            let MemberKind::Enumeration(enumeration) = &member.kind else { continue };
            let name = |case: &Case| match case.desc.members.get(place) {
                Some(Value::Integer(value)) => {
                    Some(enumeration.name_of(*value).map_or_else(|| value.to_string(), str::to_owned))
                }
                _ => None,
            };
            self.names(&member.name, name, failed, passed);
        }
        let data_type = |case: &Case| case.desc.tensor(Side::Input).map(|tensor| name_of(tensor.data_type));
        self.names("InputTensor.DataType", data_type, failed, passed);
    }

    fn names(
        &mut self,
        name: &str,
        value: impl Fn(&Case) -> Option<String>,
        failed: &[Case],
        passed: &[Case],
    ) {
        let seen = |cases: &[Case]| -> BTreeSet<String> { cases.iter().filter_map(&value).collect() };
        let (failed, passed) = (seen(failed), seen(passed));
        self.desc(failed.iter().map(|one| format!("{name} == {one}")));
        self.desc(passed.iter().map(|one| format!("{name} != {one}")));
        let alone: Vec<&str> = failed.difference(&passed).map(String::as_str).collect();
        let all: Vec<&str> = failed.iter().map(String::as_str).collect();
        for some in [alone, all] {
            if some.len() > 1 {
                self.desc([format!("{name} in [{}]", some.join(", "))]);
            }
        }
    }

    fn of_tensors(&mut self) {
        for side in Side::BOTH {
            let tensor = side.member_name();
            let strides = format!("present({tensor}.Strides)");
            self.desc([
                format!("not {strides}"),
                strides,
                format!("{tensor}.TotalTensorSizeInBytes mod 4 != 0"),
            ]);
        }
        self.desc(["overlaps(InputTensor)".to_owned()]);
    }

    /// How one list compares with another on an axis, and whether it is a multiple of it.
    fn comparisons(&mut self, operator: &Operator) {
        let members = operator.signature().members.iter();
        let unsigned: Vec<&str> = members
            .clone()
            .filter(|member| matches!(member.kind, MemberKind::U32List))
            .map(|member| member.name.as_str())
            .collect();
        let signed = members.filter(|member| matches!(member.kind, MemberKind::I32List));
        let sizes = Side::BOTH.map(|side| format!("{}.Sizes", side.member_name()));
        let mut lists: Vec<String> = unsigned.iter().map(|name| (*name).to_owned()).collect();
        lists.extend(signed.map(|member| format!("abs({})", member.name)));
        lists.extend(sizes.clone());
        let mut joined = Vec::new();
        for (place, one) in unsigned.iter().enumerate() {
            for other in &unsigned[place + 1..] {
                joined.extend([format!("max({one}, {other})"), format!("{one} + {other}")]);
            }
        }
        self.axis(joined.iter().flat_map(|sum| [format!("{sum} > 0"), format!("{sum} > 1")]));
        for (place, one) in lists.iter().enumerate() {
            for other in &lists[place + 1..] {
                self.axis(["==", "!=", "<", "<=", ">", ">="].map(|sign| format!("{one} {sign} {other}")));
                for (dividend, divisor) in [(one, other), (other, one)] {
                    for dividend in [dividend.clone(), format!("({dividend} - 1)")] {
                        self.axis(["==", "!="].map(|sign| format!("{dividend} mod {divisor} {sign} 0")));
                    }
                }
            }
        }
        for sum in &joined {
            for size in &sizes {
                self.axis(["==", "<", "<=", ">", ">="].map(|sign| format!("{sum} {sign} {size}")));
            }
        }
    }

    /// Which clauses a desc breaks and meets exactly, and which questions it raises.
    fn of_rules(&mut self, operator: &Operator) {
        for clause in operator.clauses() {
            self.0.push((clause.scope, format!("not ({})", clause.text)));
            if let Form::Compare(left, rest) = &clause.expression.form
                && let [(Comparison::LessOrEqual | Comparison::GreaterOrEqual, right)] = rest.as_slice()
            {
                self.0.push((clause.scope, format!("{left} == {right}")));
            }
        }
        for question in operator.questions() {
            self.0.push((question.scope, format!("({})", question.text)));
            self.0.push((question.scope, format!("not ({})", question.text)));
        }
    }
}

/// `x > 0` rather than `x >= 1`, where the bound is one that everybody thinks of.
fn least_text(text: &str, bound: i64) -> String {
    match bound {
        1 | 2 => format!("{text} > {}", bound - 1),
        _ => format!("{text} >= {bound}"),
    }
}

fn most_text(text: &str, bound: i64) -> String {
    match bound {
        -1 => format!("{text} < 0"),
        _ => format!("{text} <= {bound}"),
    }
}

/// What has an order, and so a bound.
fn terms(operator: &Operator) -> Vec<Term> {
    let once = |text: &str, value: fn(&Desc) -> Option<i64>| Term {
        text: text.to_owned(),
        scope: Scope::Desc,
        values: Box::new(move |case| value(&case.desc).into_iter().collect()),
    };
    let mut terms = vec![
        once("rank", |desc| Some(desc.tensor(Side::Input)?.sizes.as_ref()?.len() as i64)),
        once("InputTensor.ElementSize", |desc| {
            Some(desc.tensor(Side::Input)?.data_type.element_size()? as i64)
        }),
    ];
    terms.push(Term {
        text: "axis".to_owned(),
        scope: Scope::Axis,
        values: Box::new(|case| (0..case.desc.rank() as i64).collect()),
    });
    for (name, offset) in [
        ("InputBinding.Offset", (|case| case.binding.input) as fn(&Case) -> u64),
        ("OutputBinding.Offset", |case| case.binding.output),
    ] {
        terms.push(Term {
            text: name.to_owned(),
            scope: Scope::Desc,
            values: Box::new(move |case| i64::try_from(offset(case)).into_iter().collect()),
        });
    }
    for (place, member) in operator.signature().members.iter().enumerate() {
        let is_list = member.kind.is_list();
        if !is_list && !matches!(member.kind, MemberKind::U32 | MemberKind::I32) {
            continue;
        }
        terms.push(Term {
            text: member.name.clone(),
            scope: if is_list { Scope::Axis } else { Scope::Desc },
            values: Box::new(move |case| match case.desc.members.get(place) {
                Some(Value::List(Some(list))) => list.to_vec(),
                Some(Value::Integer(value)) => vec![*value],
                _ => Vec::new(),
            }),
        });
    }
    for side in Side::BOTH {
        let name = side.member_name();
        let sizes = move |desc: &Desc| desc.tensor(side).and_then(|tensor| tensor.sizes.clone());
        let strides = move |desc: &Desc| desc.tensor(side).and_then(|tensor| tensor.strides.clone());
        terms.push(Term {
            text: format!("{name}.Sizes"),
            scope: Scope::Axis,
            values: Box::new(move |case| sizes(&case.desc).map(|list| list.to_vec()).unwrap_or_default()),
        });
        terms.push(Term {
            text: format!("{name}.Strides"),
            scope: Scope::Axis,
            values: Box::new(move |case| strides(&case.desc).map(|list| list.to_vec()).unwrap_or_default()),
        });
        let product = move |case: &Case| {
            let product =
                |list: dmlcts_model::List| list.iter().try_fold(1, |all: i64, size| all.checked_mul(*size));
            sizes(&case.desc).and_then(product).into_iter().collect()
        };
        terms.push(Term {
            text: format!("product axes {name}.Sizes"),
            scope: Scope::Desc,
            values: Box::new(product),
        });
        for field in [Field::Flags, Field::GuaranteedBaseOffsetAlignment] {
            terms.push(Term {
                text: format!("{name}.{}", field.name()),
                scope: Scope::Desc,
                values: Box::new(move |case| {
                    let tensor = case.desc.tensor(side);
                    let value = tensor.map(|tensor| match field {
                        Field::Flags => tensor.flags,
                        _ => tensor.alignment,
                    });
                    value.map(i64::from).into_iter().collect()
                }),
            });
        }
    }
    terms
}

fn name_of(data_type: DataType) -> String {
    data_type.name().map_or_else(|| data_type.0.to_string(), str::to_owned)
}
