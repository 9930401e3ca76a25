//! The space of one operator's descs: the values of an axis, the settings of a whole desc, and the assembly
//! of descs from both.
//!
//! Everything is derived from the spec. A desc consists of a *setting* (one value for each enumeration and
//! scalar integer member), a data type, and a *tuple* for each axis. A tuple has an input size, an output
//! size, and one value of each list. Clauses on axes make the tuples of different axes independent, so that
//! tuples are found on one axis and combined freely.

use std::sync::Arc;

use dmlcts_model::{
    BindingOffsets, Case, DataType, Desc, FeatureLevel, Fill, List, MemberKind, Side, Signature, Tensor,
    Value,
};
use dmlcts_spec::{IdSet, Judgement, Operator, Scratch, Validity};

use crate::{
    draw::{Draws, mix},
    fill,
    lower::{self, INPUT, OUTPUT, Rule},
    solve::{Condition, Domains, Interval, Problem},
};

/// The largest number of settings of an operator; further ones are left out.
const MOST_SETTINGS: usize = 64;
/// The largest number of axes in DirectML.
pub(crate) const MOST_AXES: usize = 8;
/// The largest number of sizes and lists. An operator with more has no space.
const MOST_VARIABLES: usize = 12;

/// The meaning of one index of a tuple.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    /// The name in the spec, such as `InputTensor.Sizes` or `StartPadding`.
    pub(crate) name: String,
    /// The range of the member's type.
    pub(crate) range: Interval,
}

/// One value for each member that is neither a list nor derived: enumerations and scalar integers.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    /// Indexed by member; 0 for members that a setting does not decide.
    pub(crate) values: Vec<i64>,
    /// The values as text, such as `PaddingMode=EDGE`; empty if there are none.
    pub(crate) name: String,
    /// The clauses on each axis, with the setting's values folded in.
    pub(crate) rules: Vec<Rule>,
    /// The questions on each axis, in the same form. Their indices follow those of the clauses.
    pub(crate) questions: Vec<Rule>,
    /// The negations of the questions' conditions.
    pub(crate) closed: Vec<Condition>,
    /// The conditions on each axis of a valid desc: the rules without the alternatives that `closed`
    /// excludes, and `closed`.
    valid: Vec<Condition>,
    /// The comparisons of the semantics on each axis. The output coordinate is the unknown after the last
    /// variable.
    pub(crate) reads: Vec<Condition>,
    /// A valid tuple with sizes of 1, for axes that only contribute to the rank.
    pub(crate) unit: Vec<i64>,
}

impl Setting {
    /// The conditions on each axis of a desc that is not invalid (`open`), or that in addition raises no
    /// question.
    pub(crate) fn conditions(&self, open: bool) -> impl Iterator<Item = &Condition> {
        let (rules, valid): (&[Rule], &[Condition]) =
            if open { (&self.rules, &[]) } else { (&[], &self.valid) };
        rules.iter().map(|rule| &rule.that).chain(valid)
    }

    /// The clauses on axes that must hold if these clauses are broken. A clause that presupposes a broken one
    /// is left out, because it is not judged.
    pub(crate) fn rules_beside(&self, broken: IdSet, operator: &Operator) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(move |rule| {
            let given = operator.clauses()[rule.clause].given;
            !broken.contains(rule.clause) && broken.iter().all(|clause| !given.contains(clause))
        })
    }
}

/// The space of one operator's descs at a feature level.
pub(crate) struct Space<'lib> {
    pub(crate) operator: &'lib Operator,
    pub(crate) level: FeatureLevel,
    pub(crate) variables: Vec<Variable>,
    pub(crate) settings: Vec<Setting>,
    /// The supported data types.
    pub(crate) types: Vec<DataType>,
    /// The least and greatest supported rank.
    pub(crate) ranks: (usize, usize),
    /// The indices of the members that are scalar unions.
    scalars: Vec<usize>,
}

impl<'lib> Space<'lib> {
    /// The space at a feature level. `None` if the operator is not supported there, or no desc was found.
    pub(crate) fn new(operator: &'lib Operator, level: FeatureLevel) -> Option<Self> {
        let row = operator.support_at(level)?;
        let least = (*row.dimensions.start()).max(1) as usize;
        let most = (*row.dimensions.end() as usize).min(MOST_AXES);
        let mut types = row.types.clone();
        types.retain(|data_type| data_type.element_size().is_some());
        let members = operator.signature().members.iter().enumerate();
        let scalars = members.filter(|(_, member)| member.kind == MemberKind::Scalar);
        let mut space = Self {
            operator,
            level,
            variables: variables(operator),
            settings: Vec::new(),
            types,
            ranks: (least, most),
            scalars: scalars.map(|(place, _)| place).collect(),
        };
        if least > most || space.types.is_empty() || space.width() > MOST_VARIABLES {
            return None;
        }
        let mut settings = space.candidate_settings();
        let mut scratch = Scratch::default();
        settings.retain_mut(|setting| space.find_unit(setting, &mut scratch));
        settings.truncate(MOST_SETTINGS);
        space.settings = settings;
        (!space.settings.is_empty()).then_some(space)
    }

    /// The length of a tuple.
    pub(crate) fn width(&self) -> usize {
        self.variables.len()
    }

    fn candidate_settings(&self) -> Vec<Setting> {
        let members = &self.operator.signature().members;
        let mut all = vec![(vec![0_i64; members.len()], Vec::<String>::new())];
        for (place, member) in members.iter().enumerate() {
            let choices: Vec<(i64, String)> = match &member.kind {
                MemberKind::Enumeration(enumeration) => enumeration
                    .enumerators
                    .iter()
                    .map(|known| (known.value, format!("{}={}", member.name, known.name)))
                    .collect(),
                MemberKind::U32 => (0..3).map(|value| (value, format!("{}={value}", member.name))).collect(),
                MemberKind::I32 => (-1..3).map(|value| (value, format!("{}={value}", member.name))).collect(),
                _ => continue,
            };
            all = all
                .iter()
                .flat_map(|(values, names)| {
                    choices.iter().map(move |(value, name)| {
                        let (mut values, mut names) = (values.clone(), names.clone());
                        values[place] = *value;
                        names.push(name.clone());
                        (values, names)
                    })
                })
                .collect();
        }
        all.into_iter()
            .map(|(values, names)| {
                let rules = lower::rules(self.operator, &values);
                let questions = lower::questions(self.operator, &values);
                let reads = lower::reads(self.operator, &values);
                let closed: Vec<Condition> =
                    questions.iter().map(|question| question.that.clone().negated()).collect();
                let strict = rules.iter().map(|rule| rule.that.clone().without(&closed));
                let valid = strict.chain(closed.iter().cloned()).collect();
                let name = names.join(" ");
                Setting { values, name, rules, questions, closed, valid, reads, unit: Vec::new() }
            })
            .collect()
    }

    /// Finds a valid tuple with sizes of 1. A setting without one is not used.
    fn find_unit(&self, setting: &mut Setting, scratch: &mut Scratch) -> bool {
        let domains = self.domains_of_sizes(Interval::single(1));
        let mut candidates = Vec::new();
        // Searches small values first, because the simplest tuple is the best unit.
        let mut near = domains.clone();
        for domain in near.iter_mut().skip(2) {
            *domain = Interval::new(domain.low.max(-2), domain.high.min(2));
        }
        if let Some(problem) = Problem::new(near, setting.conditions(false)) {
            // The domains are small enough to enumerate.
            let _ = problem.enumerate(&mut |values| {
                candidates.push(values.to_vec());
                candidates.len() < 1_000
            });
        }
        candidates.sort_by_key(|tuple| {
            (
                tuple.iter().map(|value| value.abs()).sum::<i64>(),
                tuple.iter().filter(|value| **value < 0).count(),
            )
        });
        if let Some(problem) = Problem::new(domains, setting.conditions(false)) {
            let mut draws = Draws::new(1);
            let samples = (0..32).filter_map(|_| problem.sample(&mut draws));
            candidates.extend(samples.map(|values| values.to_vec()));
        }
        let mut case = self.blank();
        for tuple in candidates {
            setting.unit = tuple;
            let judgement = self.judge_tuple(setting, &setting.unit, &mut case, scratch);
            if judgement.validity() == Validity::Valid {
                return true;
            }
        }
        false
    }

    /// The range of each variable.
    pub(crate) fn domains(&self) -> Domains {
        self.variables.iter().map(|variable| variable.range).collect()
    }

    /// The range of each variable, with both sizes in an interval.
    pub(crate) fn domains_of_sizes(&self, sizes: Interval) -> Domains {
        let mut domains = self.domains();
        domains[INPUT] = sizes;
        domains[OUTPUT] = sizes;
        domains
    }

    /// Those of a part's types and ranks that the operator supports. `None` if there are none.
    pub(crate) fn supported(
        &self,
        types: &[DataType],
        ranks: (usize, usize),
    ) -> Option<(Vec<DataType>, (usize, usize))> {
        let types: Vec<DataType> = types.iter().copied().filter(|known| self.types.contains(known)).collect();
        let ranks = (ranks.0.max(self.ranks.0), ranks.1.min(self.ranks.1));
        (!types.is_empty() && ranks.0 <= ranks.1).then_some((types, ranks))
    }

    /// A case of this operator, for [`Space::assemble`] to overwrite.
    pub(crate) fn blank(&self) -> Case {
        blank(self.operator.signature())
    }

    /// Judges a desc at the space's feature level.
    pub(crate) fn judge(&self, desc: &Desc, scratch: &mut Scratch) -> Judgement {
        self.operator.judge(desc, self.level, scratch)
    }

    /// Judges a tuple on the last axis of a desc. Its other axes, if any are required, are units.
    pub(crate) fn judge_tuple(
        &self,
        setting: &Setting,
        tuple: &[i64],
        case: &mut Case,
        scratch: &mut Scratch,
    ) -> Judgement {
        let mut tuples = [setting.unit.as_slice(); MOST_AXES];
        tuples[self.ranks.0 - 1] = tuple;
        self.assemble(case, setting, self.types[0], &tuples[..self.ranks.0]);
        self.judge(&case.desc, scratch)
    }

    /// Sets every scalar union to a value of the data type that the bits of `word` choose. The bytes that the
    /// type does not use are zero in seven of eight cases. They mean nothing in the others.
    pub(crate) fn set_scalars(&self, desc: &mut Desc, data_type: DataType, word: u64) {
        for &member in &self.scalars {
            if let Some(value) = desc.members.get_mut(member) {
                let mut bytes = fill::scalar(data_type, word);
                if word >> 61 == 7 {
                    let used = data_type.element_size().unwrap_or(bytes.len());
                    bytes[used..].copy_from_slice(&mix(word).to_le_bytes()[used..]);
                }
                *value = Value::Scalar(bytes);
            }
        }
    }

    /// Writes a desc with packed tensors over `case`, reusing its memory. The desc has a setting, a data
    /// type, and one tuple per axis, for at most eight axes.
    pub(crate) fn assemble(
        &self,
        case: &mut Case,
        setting: &Setting,
        data_type: DataType,
        tuples: &[&[i64]],
    ) {
        let tuples = &tuples[..tuples.len().min(MOST_AXES)];
        let rank = tuples.len();
        // Lists are built in place and never grow, because this is the inner loop of listing a suite.
        let values = |place: usize| {
            let mut values = [0; MOST_AXES];
            for (value, tuple) in values.iter_mut().zip(tuples) {
                *value = tuple.get(place).copied().unwrap_or_default();
            }
            values
        };
        let signature = self.operator.signature();
        let desc = &mut case.desc;
        if !Arc::ptr_eq(&desc.signature, signature) {
            *desc = self.blank().desc;
        }
        for (slot, place) in [(&mut desc.input, INPUT), (&mut desc.output, OUTPUT)] {
            let tensor = slot.get_or_insert_with(|| Tensor::packed(data_type, List::new()));
            let sizes = values(place);
            let count = |count: u64, &size: &i64| count.saturating_mul(size.max(0) as u64);
            let elements = sizes[..rank].iter().fold(1, count);
            tensor.sizes = Some(List::from_buf_and_len(sizes, rank));
            tensor.data_type = data_type;
            tensor.flags = 0;
            tensor.dimension_count = rank as u32;
            tensor.strides = None;
            tensor.alignment = 0;
            tensor.total_size = match data_type.element_size() {
                Some(size) if elements > 0 && elements < 1 << 60 => {
                    (elements * size as u64).next_multiple_of(4)
                }
                _ => tensor.usual_total_size(),
            };
        }
        let mut lists = 2..;
        for ((value, member), &set) in desc.members.iter_mut().zip(&signature.members).zip(&setting.values) {
            match (&member.kind, value) {
                (MemberKind::Count, Value::Integer(held)) => *held = rank as i64,
                (MemberKind::DataType, Value::Integer(held)) => *held = i64::from(data_type.0),
                (_, Value::Integer(held)) => *held = set,
                (_, Value::Scalar(bytes)) => *bytes = [0; 8],
                (_, Value::List(list)) => {
                    let place = lists.next().unwrap_or_default();
                    *list = Some(List::from_buf_and_len(values(place), rank));
                }
            }
        }
        case.binding = BindingOffsets::default();
    }
}

impl Space<'_> {
    /// The setting of a desc; `None` if no setting has its values.
    pub(crate) fn setting_of(&self, desc: &Desc) -> Option<usize> {
        self.settings.iter().position(|setting| {
            let members = desc.signature.members.iter().zip(&desc.members).zip(&setting.values);
            members.into_iter().all(|((member, value), wanted)| match (&member.kind, value) {
                (MemberKind::U32 | MemberKind::I32 | MemberKind::Enumeration(_), Value::Integer(held)) => {
                    held == wanted
                }
                _ => true,
            })
        })
    }

    /// Valid tuples in which one tensor ([`INPUT`] or [`OUTPUT`]) has this size, and the other tensor has its
    /// least or greatest possible size. May be empty. If `open` is set, the tuples may raise questions.
    pub(crate) fn tuples_of_size(
        &self,
        setting: &Setting,
        place: usize,
        size: i64,
        open: bool,
    ) -> Vec<Vec<i64>> {
        let mut domains = self.domains();
        domains[place] = Interval::single(size);
        let other = 1 - place;
        domains[other].low = 1;
        let problem = Problem::new(domains, setting.conditions(open)).and_then(Problem::tightened);
        let Some(problem) = problem else { return Vec::new() };
        let Some(reach) = problem.bounds(other) else { return Vec::new() };
        let (mut case, mut scratch) = (self.blank(), Scratch::default());
        let mut draws = Draws::new(size.unsigned_abs());
        let mut found: Vec<Vec<i64>> = Vec::new();
        for end in [reach.low, reach.high] {
            let Some(problem) = problem.within(other, Interval::single(end)) else { continue };
            let samples = (0..16).filter_map(|_| problem.sample(&mut draws)).map(|values| values.to_vec());
            let mut valid = samples.filter(|tuple| {
                match self.judge_tuple(setting, tuple, &mut case, &mut scratch).validity() {
                    Validity::Valid => true,
                    Validity::Open => open,
                    Validity::Invalid => false,
                }
            });
            found.extend(valid.next());
        }
        found.dedup();
        found
    }

    /// For each size, a tuple as in [`Space::tuples_of_size`], in each way that all sizes have.
    pub(crate) fn tuples_of_sizes(
        &self,
        setting: &Setting,
        place: usize,
        sizes: &[i64],
        open: bool,
    ) -> Vec<Vec<Vec<i64>>> {
        let tuples: Vec<_> =
            sizes.iter().map(|&size| self.tuples_of_size(setting, place, size, open)).collect();
        let count = tuples.iter().map(Vec::len).min().unwrap_or(0);
        (0..count).map(|of| tuples.iter().map(|of_size| of_size[of].clone()).collect()).collect()
    }
}

/// A case to write others into, of the operator with this signature.
pub(crate) fn blank(signature: &Arc<Signature>) -> Case {
    let tensor = Tensor::packed(DataType::FLOAT32, List::from_elem(1, 1));
    let desc = Desc::usual(Arc::clone(signature), tensor.clone(), tensor);
    Case { desc: Box::new(desc), binding: BindingOffsets::default(), fill: Fill::Iota }
}

/// The variables of an axis: both sizes, followed by each list in the order of the struct.
fn variables(operator: &Operator) -> Vec<Variable> {
    let size = Interval::new(0, i64::from(u32::MAX));
    let sizes =
        Side::BOTH.map(|side| Variable { name: format!("{}.Sizes", side.member_name()), range: size });
    let lists = operator.signature().members.iter().filter(|member| member.kind.is_list());
    sizes
        .into_iter()
        .chain(lists.map(|member| {
            let (low, high) = member.kind.range().unwrap_or_default();
            Variable { name: member.name.clone(), range: Interval::new(low, high) }
        }))
        .collect()
}
