//! Checks that the bounds of an exhaustive part enclose a finite box whose descs can be counted axis by axis.
//! Interval arithmetic checks this before any enumeration. Without the check, a count could omit valid descs
//! or include invalid ones, and a certificate would be wrong.

use dmlcts_model::MemberKind;
use dmlcts_spec::{
    Diagnostic, Operator,
    expression::{Quantifier, Term, TermKind},
    program::{Field, Leaf, ListSource},
    yaml::Place,
};

use super::exhaustive::{Bounded, MOST_TUPLES};
use crate::{
    lower::{self, INPUT, OUTPUT},
    solve::{Interval, Problem},
    space::Setting,
};

/// Adds mistakes in the bounds of a part, at `place`. `part` is its name in messages.
pub(crate) fn check(
    boxes: &[Bounded<'_>],
    ranks: (usize, usize),
    part: &str,
    place: Place<'_>,
    wrong: &mut Vec<Diagnostic>,
) {
    for bounded in boxes {
        let space = &bounded.space;
        let ranks = ranks.0.max(space.ranks.0)..=ranks.1.min(space.ranks.1);
        // The mistakes and their settings, because a mistake often occurs in all settings.
        let mut faults: Vec<(Fault, Vec<&str>)> = Vec::new();
        for (place, setting) in space.settings.iter().enumerate() {
            let Some(problem) = bounded.problem(place) else { continue };
            let unbounded = unbounded(&problem, space.width());
            let mut found = Vec::new();
            if !unbounded.is_empty() {
                found.push(Fault::Unbounded(unbounded));
            } else if bounded.is_too_large(place, &problem) {
                found.push(Fault::Large);
            } else {
                let tied = ranks.clone().flat_map(|rank| tied(space.operator, setting, &problem, rank));
                found.extend(tied.map(Fault::Tied));
            }
            for fault in found {
                match faults.iter_mut().find(|(known, _)| *known == fault) {
                    Some((_, settings)) if settings.last() == Some(&setting.name.as_str()) => {}
                    Some((_, settings)) => settings.push(&setting.name),
                    None => faults.push((fault, vec![&setting.name])),
                }
            }
        }
        wrong.extend(faults.iter().map(|(fault, settings)| fault.diagnostic(bounded, settings, part, place)));
    }
}

/// The reason why a part cannot be counted.
#[derive(PartialEq)]
enum Fault {
    /// These variables have too many values to enumerate.
    Unbounded(Vec<usize>),
    /// An axis has more tuples than can be listed.
    Large,
    /// This clause depends on several axes at once, and can be false in the box.
    Tied(usize),
}

impl Fault {
    fn diagnostic(
        &self,
        bounded: &Bounded<'_>,
        settings: &[&str],
        part: &str,
        place: Place<'_>,
    ) -> Diagnostic {
        let operator = bounded.space.operator.name();
        let settings = settings.join(", ");
        let whom =
            if settings.is_empty() { operator.to_owned() } else { format!("{operator} with {settings}") };
        match self {
            Self::Unbounded(variables) => {
                let variables = variables.iter().map(|&variable| &bounded.space.variables[variable]);
                let names: Vec<&str> = variables.clone().map(|variable| variable.name.as_str()).collect();
                let remedies: Vec<String> = variables
                    .map(|variable| {
                        let low = if variable.range.low < 0 { "-8 <= " } else { "" };
                        format!("`- {{operator: {operator}, that: {low}{} <= 8}}`", variable.name)
                    })
                    .collect();
                place
                    .mistake(
                        format!("{part}: nothing bounds {} of {whom}", names.join(" and ")),
                        "not every value could be tried",
                    )
                    .help(format!("add a bound such as {}", remedies.join(" and ")))
            }
            Self::Large => place
                .mistake(
                    format!(
                        "{part}: more than {MOST_TUPLES} combinations of sizes and values fit these bounds on one axis of {whom}"
                    ),
                    "all of them are listed before the first case",
                )
                .help(format!("lower a bound, such as to `- {{operator: {operator}, that: InputTensor.Sizes <= 8}}`")),
            Self::Tied(clause) => {
                let clause = &bounded.space.operator.clauses()[*clause];
                place
                    .mistake(
                        format!("{part}: `{}` ties the axes of {whom} together", clause.id),
                        format!("within these bounds, `{}` can be false", clause.text.trim()),
                    )
                    .help(
                        "descs are counted axis by axis: lower the bounds or the ranks until it always holds, \
                         or name `operators` without this one",
                    )
            }
        }
    }
}

/// The variables without a bound. A variable that is found is then treated as bounded, so that variables that
/// follow from it are not reported.
fn unbounded(problem: &Problem<'_>, width: usize) -> Vec<usize> {
    let mut problem = problem.clone();
    let mut found = Vec::new();
    // The output's size follows from the other variables more often than they follow from it.
    for variable in [INPUT].into_iter().chain(OUTPUT + 1..width).chain([OUTPUT]) {
        if problem.is_wide(variable) {
            found.push(variable);
            let few = problem.within(variable, Interval::new(1, 8)).and_then(Problem::tightened);
            problem = few.unwrap_or(problem);
        }
    }
    found
}

/// The clauses that depend on several axes, and that a desc of this rank may violate although each of its
/// axes is valid.
fn tied(
    operator: &Operator,
    setting: &Setting,
    problem: &Problem<'_>,
    rank: usize,
) -> impl Iterator<Item = usize> {
    let clauses = operator.clauses().iter().enumerate();
    clauses
        .filter(move |(_, clause)| {
            let mut uses = Uses::default();
            // A condition on all axes applies to each axis and does not tie axes together.
            match &clause.term.kind {
                TermKind::Over(Quantifier::All, inner) => uses.look(operator, inner),
                _ => uses.look(operator, &clause.term),
            }
            let certain = || {
                let whole = lower::whole(operator, &setting.values, rank, &clause.term);
                whole.truth(problem.domains()) == Some(true)
            };
            uses.axis && uses.beyond && !uses.derived && !certain()
        })
        .map(|(place, _)| place)
}

/// The inputs of a clause.
#[derive(Default)]
struct Uses {
    /// Values that differ between the axes of a box.
    axis: bool,
    /// Values that one axis does not determine: other axes, its own index, the rank, the type.
    beyond: bool,
    /// Values that are derived to fit every desc, so that no clause about them is violated.
    derived: bool,
}

impl Uses {
    fn look(&mut self, operator: &Operator, term: &Term) {
        match &term.kind {
            TermKind::Leaf(leaf) => self.leaf(operator, *leaf),
            TermKind::Definition(definition) => self.look(operator, &definition.term),
            TermKind::In(a, _) => self.look(operator, a),
            TermKind::Over(..) | TermKind::On(..) => self.beyond = true,
            _ => {}
        }
        for part in term.kind.parts() {
            self.look(operator, part);
        }
    }

    fn leaf(&mut self, operator: &Operator, leaf: Leaf) {
        match leaf {
            Leaf::List(ListSource::Sizes(_) | ListSource::Member(_)) => self.axis = true,
            Leaf::Axis | Leaf::Field(_, Field::DimensionCount | Field::DataType | Field::ElementSize) => {
                self.beyond = true;
            }
            Leaf::Member(member) => {
                let kind = operator.signature().members.get(member).map(|member| &member.kind);
                self.beyond |=
                    matches!(kind, Some(MemberKind::Count | MemberKind::DataType | MemberKind::Scalar));
            }
            // Tensors are packed and have the size that they need.
            Leaf::List(ListSource::Strides(_) | ListSource::PackedStrides(_))
            | Leaf::Field(..)
            | Leaf::Overlaps(_) => self.derived = true,
            _ => {}
        }
    }
}
