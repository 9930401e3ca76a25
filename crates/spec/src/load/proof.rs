//! Checks by trying every small axis: clauses and reads are defined if their `given` clauses hold, and no
//! read is outside the input.
//!
//! This proves nothing about larger axes. But mistakes such as a divisor that may be 0, or a bound that is
//! off by one, show on the smallest axes.

use dmlcts_model::{DataType, Desc, FeatureLevel, MemberKind, Tensor, Value};
use smallvec::smallvec;

use crate::{
    Diagnostic, IdSet, Operator, OracleError, Origin, Scratch, ValidDesc,
    form::{CommonForm, OperatorForm},
    yaml::{Document, Place},
};

/// The greatest size that is tried, and the greatest magnitude of other values.
const GREATEST: i64 = 4;
/// The largest number of descs that are tried. With many members, fewer values of each are tried.
const MOST: usize = 100_000;

/// How thoroughly to check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proof {
    /// Everything.
    Full,
    /// Not what takes the longest and was proven when the program was tested: that no expression is
    /// undefined where it should not be, and that no read leaves the input.
    Tested,
}

/// Tries every small axis, and reports each clause and read that goes wrong once.
pub(super) fn check(
    operator: &Operator,
    document: &Document<OperatorForm>,
    common: &Document<CommonForm>,
    wrong: &mut Vec<Diagnostic>,
) {
    let mut reads = Reads::default();
    let mut reported = IdSet::EMPTY;
    let mut scratch = Scratch::default();
    let variables = Variables::new(operator);
    for index in 0..variables.count() {
        let desc = variables.desc(operator, index);
        let judgement = operator.judge(&desc, FeatureLevel::NEWEST, &mut scratch);
        let judged = judgement.satisfied.union(judgement.violated).union(reported);
        for (place, clause) in operator.clauses().iter().enumerate() {
            if judged.contains(place) || !judgement.satisfied.contains_all(clause.given) {
                continue;
            }
            reported.insert(place);
            let message = format!("`{}` is undefined where {}", clause.id, variables.describe(&desc));
            let label = "although everything that it is given holds";
            let diagnostic = clause_place(operator, place, document, common).mistake(message, label);
            wrong.push(diagnostic.help(
                "a divisor is 0 there: add the clause that rules this out to `given`, or guard it with `if`",
            ));
        }
        if let Some(valid) = operator.valid(&desc, FeatureLevel::NEWEST, judgement) {
            reads.check(valid, &variables, document, wrong);
        }
    }
}

/// The place of a clause in its file. Clauses that are derived from support and members are never undefined.
fn clause_place<'a>(
    operator: &Operator,
    clause: usize,
    document: &'a Document<OperatorForm>,
    common: &'a Document<CommonForm>,
) -> Place<'a> {
    let clause = &operator.clauses()[clause];
    let id = clause.id.split_once('.').map_or("", |(_, id)| id);
    let (root, forms) = if clause.origin == Origin::Tensor {
        (common.root(), &common.value.clauses)
    } else {
        (document.root(), &document.value.clauses)
    };
    let id = id.strip_prefix("input.").or_else(|| id.strip_prefix("output.")).unwrap_or(id);
    match forms.iter().position(|form| form.id == id) {
        Some(index) => root.key("clauses").index(index).key("that"),
        None => root.key("clauses"),
    }
}

/// The values that vary: the two sizes, and every member that is not a count, data type or scalar.
struct Variables {
    /// Each member's index and values. The sizes come first, with `None` as the index.
    values: Vec<(Option<usize>, Vec<i64>)>,
}

impl Variables {
    fn new(operator: &Operator) -> Self {
        let has_few = |greatest: &i64| Self::up_to(operator, *greatest).count() <= MOST;
        Self::up_to(operator, (2..=GREATEST).rev().find(has_few).unwrap_or(1))
    }

    fn up_to(operator: &Operator, greatest: i64) -> Self {
        let sizes = || (None, (0..=greatest).collect());
        let mut values = vec![sizes(), sizes()];
        for (place, member) in operator.signature().members.iter().enumerate() {
            let of_member = match &member.kind {
                MemberKind::U32List | MemberKind::U32 => (0..=greatest).collect(),
                MemberKind::I32List | MemberKind::I32 => (-greatest..=greatest).collect(),
                MemberKind::Enumeration(enumeration) => {
                    enumeration.enumerators.iter().map(|enumerator| enumerator.value).collect()
                }
                MemberKind::Count | MemberKind::DataType | MemberKind::Scalar => continue,
            };
            values.push((Some(place), of_member));
        }
        Self { values }
    }

    /// The number of descs, saturating.
    fn count(&self) -> usize {
        self.values.iter().fold(1, |count: usize, (_, values)| count.saturating_mul(values.len()))
    }

    fn desc(&self, operator: &Operator, index: usize) -> Desc {
        let mut rest = index;
        let mut picks = self.values.iter().map(|(member, values)| {
            let pick = values.get(rest % values.len().max(1)).copied().unwrap_or(0);
            rest /= values.len().max(1);
            (*member, pick)
        });
        let mut size = || picks.next().map_or(1, |(_, size)| size);
        let tensor = |size: i64| Tensor::packed(DataType::FLOAT32, smallvec![size]);
        let (input, output) = (tensor(size()), tensor(size()));
        let mut desc = Desc::usual(operator.signature().clone(), input, output);
        for (member, pick) in picks {
            match member.and_then(|member| desc.members.get_mut(member)) {
                Some(Value::List(list)) => *list = Some(smallvec![pick]),
                Some(value) => *value = Value::Integer(pick),
                None => {}
            }
        }
        desc
    }

    /// Lists the values of a desc, for a message.
    fn describe(&self, desc: &Desc) -> String {
        let size =
            |tensor: Option<&Tensor>| tensor.and_then(|it| it.sizes.as_ref()?.first().copied()).unwrap_or(0);
        let mut words = vec![
            format!("InputTensor.Sizes is {}", size(desc.input.as_ref())),
            format!("OutputTensor.Sizes is {}", size(desc.output.as_ref())),
        ];
        for place in self.values.iter().filter_map(|(member, _)| *member) {
            let member = &desc.signature.members[place];
            let value = match &desc.members[place] {
                Value::Integer(value) => *value,
                Value::List(Some(list)) => list.first().copied().unwrap_or(0),
                _ => continue,
            };
            let name = match &member.kind {
                MemberKind::Enumeration(enumeration) => enumeration.name_of(value).map(str::to_owned),
                _ => None,
            };
            words.push(format!("{} is {}", member.name, name.unwrap_or_else(|| value.to_string())));
        }
        let last = words.pop().unwrap_or_default();
        format!("{} and {last}", words.join(", "))
    }
}

/// Tries the reads of the semantics and of alternative readings.
#[derive(Default)]
struct Reads {
    /// The reads that have been reported: one for each branch of the semantics, then one for each reading.
    reported: IdSet,
    scratch: Scratch,
}

impl Reads {
    fn check(
        &mut self,
        valid: ValidDesc<'_>,
        variables: &Variables,
        document: &Document<OperatorForm>,
        wrong: &mut Vec<Diagnostic>,
    ) {
        let (operator, desc, questions) = (valid.operator(), valid.desc(), valid.judgement().questions);
        let semantics = operator.semantics();
        let mode = semantics.by.and_then(|by| desc.members.get(by)?.integer());
        let branches = semantics.branches.iter().map(|branch| branch.value == mode);
        let readings = operator.readings().iter().map(|reading| questions.contains(reading.question));
        let used: Vec<bool> = branches.chain(readings).collect();
        for (place, _) in used.iter().enumerate().filter(|(_, used)| **used) {
            if self.reported.contains(place) {
                continue;
            }
            if let Some(mistake) = self.wrong_read(place, valid) {
                self.reported.insert(place.min(IdSet::CAPACITY - 1));
                let message = format!("the read {mistake}, where {}", variables.describe(desc));
                let place = read_place(operator, place, document);
                wrong.push(place.mistake(message, "on a desc that no clause forbids"));
            }
        }
    }

    /// The first error of a read, by output coordinate.
    fn wrong_read(&mut self, place: usize, valid: ValidDesc<'_>) -> Option<String> {
        let reading = (place + 1).saturating_sub(valid.operator().semantics().branches.len());
        let plan = valid.operator().plan(valid, reading, &mut self.scratch);
        // No size exceeds `GREATEST`.
        match plan.and_then(|mut plan| plan.execute(&[0; 64], &mut [0; 64])) {
            Err(OracleError::Undefined { coordinate, .. }) => {
                Some(format!("is undefined at c = {coordinate}"))
            }
            Err(OracleError::OutsideInput { coordinate, read, .. }) => {
                Some(format!("gives {read} at c = {coordinate}, which is outside of the input"))
            }
            _ => None,
        }
    }
}

/// The place of a read in its file.
fn read_place<'a>(operator: &Operator, place: usize, document: &'a Document<OperatorForm>) -> Place<'a> {
    let semantics = document.root().key("semantics");
    let branches = &operator.semantics().branches;
    let Some(branch) = branches.get(place) else {
        let reading = place - branches.len();
        let question = operator.readings().get(reading).map_or(0, |reading| reading.question);
        let id = operator.questions().get(question).map_or("", |question| question.id.as_str());
        let id = id.split_once('.').map_or("", |(_, id)| id);
        let index = document.value.questions.iter().position(|form| form.id == id).unwrap_or(0);
        return document.root().key("questions").index(index).key("allow");
    };
    match &branch.name {
        Some(name) => semantics.key("reads").key(name),
        None => semantics.key("read"),
    }
}
