//! Each mutant is a fault: at its witness, it differs from the reference in a way that the specification
//! forbids. So none is equivalent to the reference, whatever the suites find.

use std::{collections::BTreeSet, panic::catch_unwind};

use dmlcts_backend::{Backend, Batch, Run};
use dmlcts_model::{Case, ErrorCode, FeatureLevel, Offsets, Outcome, line};
use dmlcts_mutants::{Mutant, Needs, Several, all, backend, find};
use dmlcts_reference::Reference;
use dmlcts_spec::{Library, Scratch};

/// Inputs above this size are zero, except for their first and last bytes.
const SPARSE: u64 = 64 << 20;

/// Larger witnesses are not tried in a backend of several faults, which copies the memory for each.
const SMALL: usize = 1 << 20;

/// The cases of a witness, and the feature level that they run at.
fn witness(mutant: &Mutant) -> (Vec<Case>, FeatureLevel) {
    let (mut cases, mut level) = (Vec::new(), FeatureLevel::NEWEST);
    for line in mutant.witness {
        let (mut line, mut times) = (*line, 1);
        while let Some((word, rest)) = line.split_once(' ') {
            if let Some(named) = word.strip_prefix('@') {
                level = named.parse().expect("a level");
            } else if let Some(count) = word.strip_suffix('x') {
                times = count.parse().expect("a count");
            } else {
                break;
            }
            line = rest;
        }
        let case = line::parse(line, Library::embedded().signatures());
        let case = case.unwrap_or_else(|error| panic!("{}: {line}: {error}", mutant.name));
        cases.extend(std::iter::repeat_n(case, times));
    }
    (cases, level)
}

/// A batch of cases that run twice if the reference accepts them. Inputs have nothing behind the last one.
fn batch(cases: &[Case], level: FeatureLevel) -> Batch {
    let mut batch = Batch::default();
    for case in cases {
        batch.push(&case.desc, case.binding);
    }
    let mut reference = Reference::backend();
    reference.set_feature_level(level);
    reference.run(&mut batch);
    let accepted: Vec<bool> = batch.jobs().iter().map(|job| job.outcome == Outcome::Accepted).collect();
    // The arenas are allocated at once, so that memory of large tensors is touched only where it is used.
    let total = |case: &Case| {
        let size =
            |tensor: &Option<dmlcts_model::Tensor>| tensor.as_ref().map_or(0, |tensor| tensor.total_size);
        [size(&case.desc.input), size(&case.desc.output)]
    };
    let mut runs = Vec::new();
    let (mut inputs, mut outputs) = (0_usize, 256_usize);
    for (case, _) in cases.iter().zip(&accepted).filter(|(_, accepted)| **accepted) {
        let [input, output] = total(case).map(|size| size as usize);
        let is_large = |size: usize| size as u64 > SPARSE;
        let times = if is_large(output) { 0 } else { 2 - usize::from(is_large(input)) };
        let mut of_case = Vec::new();
        for _ in 0..times {
            let start = inputs.next_multiple_of(16);
            inputs = start + input;
            let begin = outputs.next_multiple_of(16);
            outputs = begin + output + 256;
            of_case.push(Run { input: start..inputs, output: begin..begin + output });
        }
        runs.push((case, of_case));
    }
    batch.clear();
    batch.inputs = vec![0; inputs];
    batch.outputs = vec![0; outputs];
    if outputs < SPARSE as usize {
        batch.outputs.fill(0xab);
    }
    let mut runs = runs.into_iter();
    for (case, accepted) in cases.iter().zip(accepted) {
        batch.push(&case.desc, case.binding);
        let Some((_, of_case)) = accepted.then(|| runs.next()).flatten() else { continue };
        for run in &of_case {
            let memory = &mut batch.inputs[run.input.clone()];
            let data_type = case.desc.input.as_ref().expect("it is valid").data_type;
            if memory.len() as u64 > SPARSE {
                memory[..64].fill(3);
                let end = memory.len() - 64;
                memory[end..].fill(5);
            } else {
                dmlcts_generate::fill::write(&case.fill, data_type, memory);
            }
        }
        let job = batch.jobs().len() - 1;
        batch.parts().0[job].runs = of_case;
    }
    batch
}

/// What a backend did that the specification is about: outcomes, memory outside of outputs, and the elements
/// of outputs. Holes and tails of an output are free.
#[derive(Debug, PartialEq)]
struct Observed {
    outcomes: Vec<String>,
    memory: Vec<u8>,
    inputs: u64,
}

fn observe(mut backend: impl Backend, cases: &[Case], level: FeatureLevel, mut batch: Batch) -> Observed {
    backend.set_feature_level(level);
    backend.run(&mut batch);
    let mut outcomes = Vec::new();
    for (case, job) in cases.iter().zip(batch.jobs().to_vec()) {
        outcomes.push(match job.outcome {
            Outcome::Rejected { code, .. } if code == ErrorCode::INVALID_ARGUMENT => "invalid".to_owned(),
            Outcome::Rejected { code, .. } => format!("refused: {code}"),
            other => format!("{other:?}"),
        });
        for run in &job.runs {
            let tensor = case.desc.output.as_ref().expect("it is valid");
            let sizes = tensor.sizes.as_ref().expect("it is valid");
            let width = tensor.data_type.element_size().expect("it is valid");
            if run.output.len() as u64 > SPARSE {
                continue;
            }
            let memory = &mut batch.outputs[run.output.clone()];
            let mut elements = vec![0; memory.len()];
            for offset in Offsets::new(sizes, tensor.strides.as_deref()) {
                let place = offset as usize * width..(offset as usize + 1) * width;
                elements[place.clone()].copy_from_slice(&memory[place]);
            }
            memory.copy_from_slice(&elements);
        }
    }
    let inputs = batch.inputs.chunks(64).take(1 << 20);
    let inputs =
        inputs.flatten().fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
    Observed { outcomes, memory: batch.outputs, inputs }
}

#[test]
fn each_mutant_differs_from_the_reference_at_its_witness() {
    let mut faultless = Vec::new();
    for mutant in all() {
        let (cases, level) = witness(mutant);
        let right = observe(Reference::backend(), &cases, level, batch(&cases, level));
        let kernel = observe(dmlcts_mutants::without_fault(), &cases, level, batch(&cases, level));
        if kernel.outcomes != right.outcomes {
            faultless.push(format!("{}: the kernel differs: {:?}", mutant.name, kernel.outcomes));
        } else if kernel != right {
            faultless.push(format!("{}: the kernel differs", mutant.name));
        }
        if mutant.hangs() {
            continue;
        }
        let memory = batch(&cases, level);
        let is_small = memory.inputs.len() + memory.outputs.len() <= SMALL;
        let of_several = || observe(Several::new(&[mutant]), &cases, level, batch(&cases, level));
        let wrong = catch_unwind(|| observe(backend(mutant), &cases, level, memory)).ok();
        if is_small && catch_unwind(of_several).ok() != wrong {
            faultless.push(format!("{}: it differs in a backend of several faults", mutant.name));
        }
        if wrong.is_some_and(|wrong| wrong == right) {
            faultless.push(format!("{}: no difference; {:?}", mutant.name, right.outcomes));
        }
    }
    assert!(faultless.is_empty(), "{} mutants: {faultless:#?}", faultless.len());
}

#[test]
fn no_witness_is_a_matter_of_an_open_question() {
    for mutant in all() {
        let (cases, level) = witness(mutant);
        for case in cases.iter().take(20) {
            let operator = Library::embedded().operator(&case.desc.signature.operator).expect("it is there");
            let judgement = operator.judge(&case.desc, level, &mut Scratch::default());
            let is_settled = !judgement.violated.is_empty() || judgement.questions.is_empty();
            assert!(is_settled, "{}: {case}", mutant.name);
        }
    }
}

#[test]
fn mutants_are_described_and_have_names_of_their_own() {
    let mut names = BTreeSet::new();
    for mutant in all() {
        let name = mutant.name;
        let is_kebab = name.split('-').all(|word| {
            !word.is_empty()
                && word.bytes().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit())
        });
        assert!(is_kebab, "{name}");
        assert!(names.insert(name), "{name} is there twice");
        assert!(!mutant.seen_in.is_empty() && !mutant.about.is_empty(), "{name}");
        assert!(!mutant.about.contains('\n') && !mutant.about.ends_with('.'), "{name}");
        assert!(!mutant.operators.is_empty() && !mutant.witness.is_empty(), "{name}");
        assert!(mutant.needs == Needs::Nothing || mutant.needs.reason().is_some_and(|why| !why.is_empty()));
        let level = mutant.needs.level().unwrap_or(FeatureLevel::NEWEST);
        assert_eq!(witness(mutant).1, level, "{name}: its witness runs at the level that it needs");
        assert_eq!(find(name).map(|found| found.name), Some(name));
        assert_eq!(backend(mutant).capabilities().name, format!("mutant:{name}"));
    }
    assert!(names.len() >= 120, "{}", names.len());
}
