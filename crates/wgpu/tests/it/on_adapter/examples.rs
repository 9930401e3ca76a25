//! The examples of the operators' pages, run on the adapter.

use std::fmt::Write;

use dmlcts_backend::{Backend, Batch, Run};
use dmlcts_generate::fill;
use dmlcts_model::Outcome;
use dmlcts_spec::Library;
use dmlcts_wgpu::Options;

use super::common::gpu;

#[test]
fn the_pages_examples_come_out_as_printed() {
    let Some(gpu) = gpu(Options::default()) else { return };
    let mut text = String::new();
    for operator in Library::embedded().operators() {
        for example in operator.examples() {
            let case = &example.case;
            let (Some(input), Some(output)) = (&case.desc.input, &case.desc.output) else {
                panic!("tensors")
            };
            let (from, to) = (input.total_size as usize, output.total_size as usize);
            let mut batch = Batch::default();
            batch.inputs.resize(from, 0);
            fill::write(&case.fill, input.data_type, &mut batch.inputs);
            batch.outputs.resize(to, 0xB5);
            batch.push(&case.desc, case.binding).runs.push(Run { input: 0..from, output: 0..to });
            gpu.backend().run(&mut batch);
            assert_eq!(batch.jobs()[0].outcome, Outcome::Output, "{case}");
            let numbers: Vec<f32> =
                batch.outputs.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
            let name = &operator.signature().operator;
            writeln!(
                text,
                "{name} {}: {:?} {numbers:?}",
                example.id,
                output.sizes.as_deref().unwrap_or_default()
            )
            .expect("a text grows");
        }
    }
    insta::assert_snapshot!(text);
}
