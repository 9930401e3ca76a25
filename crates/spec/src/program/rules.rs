//! Rules: the clauses and questions of a judge, evaluated together.
//!
//! Most of an operator's rules depend on little of a desc. Its [*shape*](super::shape) consists of null
//! pointers, list lengths, data types, flags and the feature level. The descs of a run combine the same
//! shapes, so that findings that depend on the shape alone are cached. The rules on [axes](super::axes) and
//! the rest, [a handful of operations](super::scalars), are computed for each desc. If a part of the shape is
//! new or a value does not fit 64 bits, the whole program is evaluated.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use dmlcts_model::Signature;

use super::{
    Evaluation, Findings, Inputs, OpId, Program, Values,
    axes::AxisValues,
    findings::{Rule, RuleKind, findings},
    layers::{Layers, arrange, given},
    shape::{PARTS, Plan, Shapes, parts_of, plan, plan_given},
};
use crate::IdSet;

/// Clauses and questions that are evaluated together; at most [`IdSet::CAPACITY`] of each.
#[derive(Debug)]
pub struct Rules {
    /// Identifies these rules in a [`Memory`] that serves several.
    id: u64,
    program: Program,
    /// The rules and operations that depend on one part of the shape, for each part.
    plans: [Plan; PARTS],
    /// The rules that depend on more than one part.
    lively: Vec<Rule>,
    /// The `lively` rules in layers. `None` if some fit no layer; every desc is then evaluated by the whole
    /// program.
    layers: Option<Layers>,
}

/// The caches of rules, to be reused from desc to desc.
#[derive(Debug, Default)]
pub struct Memory {
    values: Values,
    known: Vec<(u64, RuleCaches)>,
}

/// The caches of one set of rules.
#[derive(Debug, Default)]
struct RuleCaches {
    shapes: Shapes,
    axes: AxisValues,
}

/// The reason why a lookup failed.
enum Unknown {
    /// A part of the shape.
    Shape,
    /// Caching does not help: the rules have no layers, or a value does not fit.
    Nothing,
}

/// The largest number of rule sets in a memory.
const MOST_RULES: usize = 8;

impl Memory {
    /// The values, for evaluating programs, and the caches of the rules with this id.
    fn split(&mut self, id: u64) -> (&mut Values, &mut RuleCaches) {
        let found = self.known.iter().position(|(known, _)| *known == id);
        let place = found.unwrap_or_else(|| {
            if self.known.len() == MOST_RULES {
                self.known.clear();
            }
            self.known.push((id, RuleCaches::default()));
            self.known.len() - 1
        });
        (&mut self.values, &mut self.known[place].1)
    }
}

impl Rules {
    /// Prepares the conditions of a program. Conditions beyond [`IdSet::CAPACITY`] are left out.
    pub fn new(signature: &Arc<Signature>, program: Program, clauses: &[OpId], questions: &[OpId]) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let clauses = clauses.iter().enumerate().take(IdSet::CAPACITY);
        let clauses = clauses.map(|(place, &condition)| Rule::clause(&program, place, condition));
        let questions = questions.iter().enumerate().take(IdSet::CAPACITY);
        let questions = questions.map(|(place, &condition)| Rule::question(place, condition));
        let parts = parts_of(&program, signature);
        let (mut plans, lively) = plan(signature, &parts, clauses.chain(questions));
        let given = plan_given(&mut plans, &parts, &given(&program, &parts, &lively));
        let layers = arrange(&program, &parts, &lively, &given);
        let id = COUNT.fetch_add(1, Ordering::Relaxed);
        Self { id, program, plans, lively, layers }
    }

    /// Whether a clause has a boundary: a comparison by order or with `!=` decides it.
    pub fn has_edge(&self, clause: usize) -> bool {
        self.all().any(|rule| rule.kind == RuleKind::Clause && rule.place == clause && !rule.edges.is_empty())
    }

    /// Evaluates all rules.
    pub fn find(&self, inputs: Inputs<'_>, memory: &mut Memory) -> Findings {
        let (values, known) = memory.split(self.id);
        let unknown = match self.look_up(&inputs, known) {
            Ok(found) => return found,
            Err(unknown) => unknown,
        };
        let evaluation = self.program.evaluate(inputs, values);
        if !evaluation.is_wide() && matches!(unknown, Unknown::Shape) {
            known.shapes.remember(&self.plans, &inputs, &evaluation.narrow());
        }
        self.evaluated(&evaluation)
    }

    /// Evaluates all rules by the whole program, without caches.
    pub fn compute(&self, inputs: Inputs<'_>, values: &mut Values) -> Findings {
        self.evaluated(&self.program.evaluate(inputs, values))
    }

    fn evaluated(&self, evaluation: &Evaluation<'_>) -> Findings {
        if evaluation.is_wide() {
            findings(self.all(), &evaluation.wide())
        } else {
            findings(self.all(), &evaluation.narrow())
        }
    }

    /// Evaluates all rules by layers.
    #[inline]
    fn look_up(&self, inputs: &Inputs<'_>, known: &mut RuleCaches) -> Result<Findings, Unknown> {
        let Some(layers) = &self.layers else { return Err(Unknown::Nothing) };
        let RuleCaches { shapes, axes } = known;
        let (count, mut found) = shapes.find(&self.plans, inputs).ok_or(Unknown::Shape)?;
        // If lists differ in length, the rules differ in their number of axes.
        let count = count.ok_or(Unknown::Nothing)?;
        let table = &mut *shapes.table;
        if !layers.early.run(inputs, table) {
            return Err(Unknown::Nothing);
        }
        layers.axes.find(inputs, count, axes, table, &mut found).ok_or(Unknown::Nothing)?;
        if !layers.late.run(inputs, table) {
            return Err(Unknown::Nothing);
        }
        layers.check(table, &mut found);
        found.edges = found.edges.intersection(found.kept);
        Ok(found)
    }

    fn all(&self) -> impl Iterator<Item = &Rule> {
        self.plans.iter().flat_map(|plan| &plan.rules).chain(&self.lively)
    }
}

#[cfg(test)]
mod tests {
    use dmlcts_model::{DataType, Desc, FeatureLevel, List, Tensor, Value, packed_strides};

    use super::*;
    use crate::{Library, program::Builder};

    /// Descs of every rank, data type and layout, with a few alignments.
    fn descs(signature: &Arc<Signature>) -> Vec<Desc> {
        let mut descs = Vec::new();
        for (rank, code) in (1..=8).flat_map(|rank| (1..=11).map(move |code| (rank, code))) {
            for layout in 0..36 {
                let tensor = |is_strided: bool, alignment: u32| {
                    let sizes = List::from_elem(2, rank);
                    let strides = is_strided.then(|| packed_strides(&sizes));
                    Tensor { strides, alignment, ..Tensor::packed(DataType(code), sizes) }
                };
                let input = tensor(layout % 2 == 1, [0, 16, 64][layout / 4 % 3]);
                let output = tensor(layout / 2 % 2 == 1, [0, 16, 64][layout / 12]);
                descs.push(Desc::usual(Arc::clone(signature), input, output));
            }
        }
        descs
    }

    /// The rules of an operator, compiled as its judge does.
    fn rules_of(operator: &crate::Operator) -> Rules {
        let mut builder = Builder::new(Arc::clone(operator.signature()));
        let clauses: Vec<OpId> = operator.clauses().iter().map(|clause| builder.add(&clause.term)).collect();
        let questions: Vec<OpId> =
            operator.questions().iter().map(|question| builder.add(&question.term)).collect();
        Rules::new(operator.signature(), builder.finish(), &clauses, &questions)
    }

    /// Changes one value of a desc, often so that it breaks a rule.
    fn disturb(desc: &mut Desc, mut word: u64) {
        const VALUES: [i64; 12] =
            [0, 1, 2, 3, 4, 5, 7, -1, -3, i32::MIN as i64, i32::MAX as i64, u32::MAX as i64];
        let mut draw = |count: usize| {
            word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (word >> 33) as usize % count
        };
        let value = VALUES[draw(VALUES.len())];
        let kind = draw(9);
        let tensor = if draw(2) == 0 { &mut desc.input } else { &mut desc.output };
        match (kind, tensor) {
            (0, tensor) if draw(8) == 0 => *tensor = None,
            (1, Some(tensor)) => tensor.total_size = value as u64,
            (2, Some(tensor)) => tensor.alignment = value as u32,
            (3, Some(tensor)) => tensor.strides = tensor.sizes.as_deref().map(packed_strides),
            (4, Some(Tensor { sizes: list, .. })) | (5, Some(Tensor { strides: list, .. })) => {
                change(list, value, &mut draw);
            }
            _ => {
                let place = draw(desc.members.len());
                match &mut desc.members[place] {
                    Value::Integer(integer) => *integer = value,
                    Value::List(list) => change(list, value, &mut draw),
                    Value::Scalar(_) => {}
                }
            }
        }
    }

    fn change(list: &mut Option<List>, value: i64, draw: &mut impl FnMut(usize) -> usize) {
        let Some(values) = list else { return };
        match draw(24) {
            0 => *list = None,
            1 => values.push(value),
            _ if values.is_empty() => {}
            _ => {
                let place = draw(values.len());
                values[place] = value;
            }
        }
    }

    #[test]
    fn layers_find_what_the_long_way_finds() {
        for operator in Library::embedded().operators() {
            let rules = rules_of(operator);
            assert!(rules.layers.is_some(), "{}", operator.name());
            let (mut memory, mut values) = (Memory::default(), Values::default());
            let (mut by_layers, mut sound) = (0, 0);
            let count = 60_000_u64;
            for round in 0..count {
                let example = &operator.examples()[round as usize % operator.examples().len()];
                let mut desc = example.case.desc.clone();
                (0..round % 5).for_each(|step| disturb(&mut desc, round * 8 + step));
                let inputs = Inputs::new(&desc, FeatureLevel::NEWEST);
                let expected = rules.compute(inputs, &mut values);
                let (_, known) = memory.split(rules.id);
                by_layers += u64::from(rules.look_up(&inputs, known).is_ok());
                // The first round fills the caches that the second one uses.
                for _ in 0..2 {
                    assert_eq!(rules.find(inputs, &mut memory), expected, "{desc:?}");
                }
                sound += u64::from(expected.broken.is_empty());
            }
            assert!(by_layers * 2 > count, "{}: {by_layers} of {count}", operator.name());
            assert!(sound * 10 > count && sound * 10 < count * 9, "{}: {sound} of {count}", operator.name());
        }
    }

    #[test]
    fn the_shapes_of_varied_descs_stay_known() {
        for operator in Library::embedded().operators() {
            let rules = rules_of(operator);
            let descs = descs(operator.signature());
            let mut memory = Memory::default();
            let (mut known, mut count) = (0, 0);
            for round in 0..2 {
                for desc in &descs {
                    let inputs = Inputs::new(desc, FeatureLevel::NEWEST);
                    let (_, known_before) = memory.split(rules.id);
                    let is_known = rules.look_up(&inputs, known_before).is_ok();
                    known += usize::from(is_known && round > 0);
                    count += usize::from(round > 0);
                    rules.find(inputs, &mut memory);
                }
            }
            assert!(known * 100 >= count * 98, "{}: {known} of {count}", operator.name());
        }
    }
}
