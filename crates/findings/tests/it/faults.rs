//! Faults with known causes: predicates, and mutants of the reference.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::LazyLock,
};

use dmlcts_backend::{Backend, Batch, Run};
use dmlcts_findings::{Budget, Fresh, Label, Labelled};
use dmlcts_generate::Suite;
use dmlcts_model::{Case, FeatureLevel, Offsets, Outcome};
use dmlcts_mutants::Mutant;
use dmlcts_reference::Reference;
use dmlcts_spec::{Library, Predicate, Scratch, Validity, program::Values};

/// What experiments may cost.
pub(crate) const BUDGET: Budget = Budget { cases: 1_200, ..Budget::NONE };

/// The cases of the suite `smoke`.
pub(crate) static SMOKE: LazyLock<Vec<Case>> = LazyLock::new(|| suite("smoke"));

/// The largest tensor that is run, in bytes.
const LARGEST: u64 = 1 << 20;

/// A fault.
pub(crate) struct Fault {
    pub(crate) kind: Kind,
}

/// How a fault decides.
pub(crate) enum Kind {
    /// It is wrong at valid cases of this predicate.
    Predicate(Box<Predicate>),
    Mutant(&'static Mutant),
}

impl Fault {
    /// A fault at the valid cases of a predicate.
    pub(crate) fn of_predicate(text: &str) -> Self {
        let predicate = Predicate::parse(text, Library::embedded()).expect(text);
        Self { kind: Kind::Predicate(Box::new(predicate)) }
    }

    /// What happens to cases.
    pub(crate) fn labels(&self, cases: &[Case]) -> Vec<Label> {
        match &self.kind {
            Kind::Predicate(predicate) => {
                let mut values = Values::default();
                let label = |case: &Case| {
                    let holds = predicate.holds(case, FeatureLevel::NEWEST, &mut values);
                    match (validity(case), holds) {
                        (Validity::Open, _) => Label::Unknown,
                        (Validity::Valid, true) => Label::Failed("wrong".to_owned()),
                        _ => Label::Passed,
                    }
                };
                cases.iter().map(label).collect()
            }
            Kind::Mutant(mutant) => cases.iter().map(|case| run(mutant, case)).collect(),
        }
    }
}

/// Whether a desc is valid.
pub(crate) fn validity(case: &Case) -> Validity {
    let operator = Library::embedded().operator(&case.desc.signature.operator).expect("it is built in");
    operator.judge(&case.desc, FeatureLevel::NEWEST, &mut Scratch::default()).validity()
}

/// Runs a mutant on a case, and compares it with the reference.
fn run(mutant: &'static Mutant, case: &Case) -> Label {
    let validity = validity(case);
    let is_large = [&case.desc.input, &case.desc.output]
        .iter()
        .any(|tensor| tensor.as_ref().is_some_and(|tensor| tensor.total_size > LARGEST));
    if validity == Validity::Open || is_large && validity == Validity::Valid {
        return Label::Unknown;
    }
    let right = observe(Reference::backend(), case, validity);
    let wrong = catch_unwind(AssertUnwindSafe(|| observe(dmlcts_mutants::backend(mutant), case, validity)));
    let failed = |class: &str| Label::Failed(class.to_owned());
    match (right, wrong) {
        (_, Err(_)) => failed("crash"),
        (Some(right), Ok(Some(wrong))) if right == wrong => Label::Passed,
        (Some(_), Ok(Some(_))) => failed("wrong"),
        (Some(_), Ok(None)) => failed("refused"),
        (None, Ok(Some(_))) => failed("accepted"),
        (None, Ok(None)) => Label::Passed,
    }
}

/// The output's elements; `None` if the desc is refused.
fn observe(mut backend: impl Backend, case: &Case, validity: Validity) -> Option<Vec<u8>> {
    let mut batch = Batch::default();
    batch.push(&case.desc, case.binding);
    let (input, output) = (case.desc.input.as_ref(), case.desc.output.as_ref());
    if let (Validity::Valid, Some(input), Some(output)) = (validity, input, output) {
        batch.inputs = vec![0; input.total_size as usize];
        batch.outputs = vec![0xab; output.total_size as usize];
        dmlcts_generate::fill::write(&case.fill, input.data_type, &mut batch.inputs);
        let run = Run { input: 0..batch.inputs.len(), output: 0..batch.outputs.len() };
        batch.parts().0[0].runs = vec![run];
    }
    backend.run(&mut batch);
    match &batch.jobs()[0].outcome {
        Outcome::Accepted => Some(Vec::new()),
        Outcome::Output => {
            let tensor = output?;
            let width = tensor.data_type.element_size()?;
            let mut elements = Vec::new();
            for offset in Offsets::new(tensor.sizes.as_ref()?, tensor.strides.as_deref()) {
                elements.extend_from_slice(&batch.outputs[offset as usize * width..][..width]);
            }
            Some(elements)
        }
        _ => None,
    }
}

/// The cases of a suite.
pub(crate) fn suite(name: &str) -> Vec<Case> {
    let suite = Suite::load(name).and_then(|suite| suite.expand(Library::embedded(), 0)).expect(name);
    let mut case = suite.blank().expect("there are operators");
    (0..).map_while(|index| suite.case(index, &mut case).map(|_| case.clone())).collect()
}

/// Cases with their labels.
pub(crate) fn labelled(fault: &Fault, cases: &[Case]) -> Vec<Labelled> {
    let labels = fault.labels(cases).into_iter();
    cases.iter().cloned().zip(labels).map(|(case, label)| Labelled { case, label }).collect()
}

/// Fresh valid cases of each operator in turn.
pub(crate) fn fresh(count: usize, seed: u64) -> Vec<Case> {
    let library = Library::embedded();
    let streams = library.operators().iter().map(|operator| Fresh::new(library, operator, seed));
    let mut streams: Vec<_> = streams.map(|stream| stream.expect("the suite expands")).collect();
    let mut cases = Vec::new();
    while cases.len() < count {
        for stream in &mut streams {
            cases.extend(stream.next().filter(|case| validity(case) == Validity::Valid));
        }
    }
    cases.truncate(count);
    cases
}

/// A mutant as a fault.
pub(crate) fn mutant(name: &str) -> Fault {
    let mutant = dmlcts_mutants::find(name).unwrap_or_else(|| panic!("there is no mutant {name}"));
    Fault { kind: Kind::Mutant(mutant) }
}
