//! How long the clauses of an operator take: the program that they share, alone and within a judgement.

use criterion::{Criterion, criterion_group, criterion_main};
use dmlcts_model::{DataType, Desc, FeatureLevel, List, Tensor, Value};
use dmlcts_spec::{
    Library, Operator, Scratch,
    program::{Builder, Inputs, Program, Values},
};

/// The clauses of an operator in one program.
fn clauses(operator: &Operator) -> Program {
    let mut builder = Builder::new(operator.signature().clone());
    for clause in operator.clauses() {
        builder.add(&clause.term);
    }
    builder.finish()
}

/// A valid desc: a tensor of threes that stays as it is.
fn identity(operator: &Operator, rank: usize) -> Desc {
    let tensor = || Tensor::packed(DataType::FLOAT32, List::from_elem(3, rank));
    let mut desc = Desc::usual(operator.signature().clone(), tensor(), tensor());
    for (member, value) in operator.signature().members.iter().zip(&mut desc.members) {
        let fill =
            if member.name.ends_with("Sizes") { 3 } else { i64::from(member.name.ends_with("Strides")) };
        if let Value::List(Some(list)) = value {
            list.fill(fill);
        }
    }
    desc
}

fn evaluate(criterion: &mut Criterion) {
    let level = FeatureLevel::NEWEST;
    for operator in Library::embedded().operators() {
        let program = clauses(operator);
        println!("{}: {} operations", operator.name(), program.ops().len());
        for rank in [1, 4, 8] {
            let desc = identity(operator, rank);
            let mut scratch = Scratch::default();
            assert!(
                operator.judge_valid(&desc, level, &mut scratch).is_ok(),
                "{} of rank {rank}",
                operator.name()
            );
            let mut values = Values::default();
            let name = format!("{}/{rank}", operator.name());
            criterion.bench_function(&format!("clauses/{name}"), |bencher| {
                bencher.iter(|| {
                    program.evaluate(Inputs::new(&desc, level), &mut values);
                });
            });
            criterion.bench_function(&format!("judge/{name}"), |bencher| {
                bencher.iter(|| operator.judge(&desc, level, &mut scratch));
            });
        }
    }
}

criterion_group!(benches, evaluate);
criterion_main!(benches);
