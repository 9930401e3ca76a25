//! The promise of a suite at a feature level, for each operator: the number of cases, their lines, and their
//! expectations.
//!
//! The digests are computed from texts that a person could write by hand, one line for each case: the case as
//! `dmlcts list` prints it, and then its expectation. The texts depend on no backend and contain no names of
//! clauses or questions.

use dmlcts_generate::fill;
use dmlcts_model::{
    Allowed, BindingOffsets, Case, DataType, Desc, Expectation, FeatureLevel, Fill, List, Tensor, line,
};
use dmlcts_runner::{CaseSource, expect};
use dmlcts_spec::{Library, Operator, Scratch, ValidDesc};

use crate::PromisedForm;

/// The promise for each operator that has a case, in the order of the library. `None` for an endless source,
/// or if there is no operator.
pub fn promised(
    library: &Library,
    source: &dyn CaseSource,
    level: FeatureLevel,
    memory: u64,
) -> Option<Vec<PromisedForm>> {
    let count = source.count()?;
    let unit = || Tensor::packed(DataType::FLOAT32, List::from_elem(1, 1));
    let desc = Desc::usual(library.operators().first()?.signature().clone(), unit(), unit());
    let mut case = Case { desc: Box::new(desc), binding: BindingOffsets::default(), fill: Fill::Iota };
    let mut digests: Vec<Digest> = library.operators().iter().map(|_| Digest::default()).collect();
    let mut writer =
        Writer { level, memory, scratch: Scratch::default(), input: Vec::new(), output: Vec::new() };
    let (mut cursor, mut text) = (source.cursor(), String::new());
    for index in 0..count {
        cursor.read(index, &mut case);
        let Some(operator) = library.operator(&case.desc.signature.operator) else { continue };
        let digest = &mut digests[operator.position()];
        text.clear();
        line::write(&case, &mut text);
        text.push('\n');
        digest.cases += 1;
        digest.lines.update(text.as_bytes());
        let is_created_only = writer.write(operator, &case, &mut text);
        digest.created_only += u64::from(is_created_only);
        text.push('\n');
        digest.expectations.update(text.as_bytes());
    }
    let found = library.operators().iter().zip(digests).filter(|(_, digest)| digest.cases > 0);
    Some(found.map(|(operator, digest)| digest.finish(operator)).collect())
}

/// The counts and hashes of one operator's cases so far.
#[derive(Default)]
struct Digest {
    cases: u64,
    created_only: u64,
    lines: blake3::Hasher,
    expectations: blake3::Hasher,
}

impl Digest {
    fn finish(self, operator: &Operator) -> PromisedForm {
        PromisedForm {
            operator: operator.name().to_owned(),
            cases: self.cases,
            created_only: self.created_only,
            lines: short(self.lines.finalize()),
            expectations: short(self.expectations.finalize()),
        }
    }
}

/// Half of a hash is enough to distinguish all texts in practice.
fn short(hash: blake3::Hash) -> String {
    hash.to_hex()[..32].to_owned()
}

/// Writes the expectations of cases, in memory that is reused.
struct Writer {
    level: FeatureLevel,
    memory: u64,
    scratch: Scratch,
    input: Vec<u8>,
    output: Vec<u8>,
}

impl Writer {
    /// Writes the expectation of a case. Returns whether the case is valid but too large to run.
    fn write(&mut self, operator: &Operator, case: &Case, text: &mut String) -> bool {
        let desc = &case.desc;
        let (Ok(valid), Some(input), Some(output)) =
            (operator.judge_valid(desc, self.level, &mut self.scratch), &desc.input, &desc.output)
        else {
            text.push_str("reject");
            return false;
        };
        let questions = valid.judgement().questions;
        let expectation =
            if questions.is_empty() { Expectation::Output } else { expect::open(operator, questions) };
        let is_too_large = expect::bytes_of_a_run(input, output, &expectation) > self.memory;
        if !is_too_large {
            self.input.clear();
            self.input.resize(input.total_size as usize, 0);
            fill::write(&case.fill, input.data_type, &mut self.input);
        }
        match &expectation {
            Expectation::Output if is_too_large => text.push_str("accept"),
            Expectation::Open(allowed) => {
                let mut answers: Vec<String> = allowed
                    .iter()
                    .map(|answer| match answer {
                        Allowed::Reject => "reject".to_owned(),
                        Allowed::Accept => "accept".to_owned(),
                        Allowed::Output(_) if is_too_large => "output".to_owned(),
                        Allowed::Output(reading) => self.output(valid, *reading, output),
                    })
                    .collect();
                // The order in which a spec lists its answers has no meaning.
                answers.sort();
                answers.dedup();
                text.extend(["open ", &answers.join(" or ")]);
            }
            _ => text.push_str(&self.output(valid, 0, output)),
        }
        is_too_large
    }

    /// The output of a reading, as the hash of its elements. The memory between them counts as zeros.
    fn output(&mut self, valid: ValidDesc<'_>, reading: usize, tensor: &Tensor) -> String {
        let Self { scratch, input, output, .. } = self;
        output.clear();
        output.resize(tensor.total_size as usize, 0);
        if expect::write_output(valid, reading, input, output, scratch) {
            format!("output {}", blake3::hash(output).to_hex())
        } else {
            "accept".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use dmlcts_runner::Listed;

    use super::*;

    fn promised_of(lines: &[&str], level: &str, memory: u64) -> Vec<PromisedForm> {
        let library = Library::embedded();
        let case = |text: &&str| line::parse(text, library.signatures()).expect(text);
        let source = Listed::new(lines.iter().map(case).collect(), "given");
        promised(library, &source, level.parse().expect("a level"), memory).expect("it ends")
    }

    const WRAP: &str = "PADDING1 UINT8 in=2 out=4 PaddingMode=WRAP StartPadding=1 EndPadding=1 fill=iota";
    const COPY: &str = "SLICE UINT8 in=4 out=4 Offsets=0 Sizes=4 Strides=1 fill=iota";
    const OPEN: &str = "SLICE UINT8 in=4 out=2 Offsets=1 Sizes=2 Strides=0 fill=iota";

    /// The texts of the digests, written by hand.
    #[test]
    fn a_digest_is_of_what_a_person_could_write_down() {
        let digest = |text: &str| short(blake3::hash(text.as_bytes()));
        let elements = |bytes: &[u8]| format!("output {}", blake3::hash(bytes).to_hex());
        let found = promised_of(&[COPY, OPEN, WRAP], "6.4", 1 << 20);
        assert_eq!(
            found.iter().map(|found| found.operator.as_str()).collect::<Vec<_>>(),
            ["SLICE", "PADDING1"]
        );
        assert_eq!((found[0].cases, found[0].created_only), (2, 0));
        assert_eq!(found[0].lines, digest(&format!("{COPY}\n{OPEN}\n")));
        // A stride of zero is refused, or reads the same element repeatedly. Outputs take whole words.
        let (copy, again) = (elements(&[1, 2, 3, 4]), elements(&[2, 2, 0, 0]));
        let text = format!("{COPY}\n{copy}\n{OPEN}\nopen {again} or reject\n");
        assert_eq!(found[0].expectations, digest(&text));
        assert_eq!(found[1].expectations, digest(&format!("{WRAP}\n{}\n", elements(&[2, 1, 2, 1]))));
    }

    #[test]
    fn level_and_memory_change_what_is_expected_and_not_which_cases_there_are() {
        let (newest, older) = (promised_of(&[WRAP], "6.4", 1 << 20), promised_of(&[WRAP], "5.0", 1 << 20));
        assert_eq!(newest[0].lines, older[0].lines);
        assert_ne!(newest[0].expectations, older[0].expectations, "WRAP came with 6.4");
        let small = promised_of(&[WRAP], "6.4", 4);
        assert_eq!((small[0].created_only, newest[0].created_only, older[0].created_only), (1, 0, 0));
        assert_ne!(small[0].expectations, newest[0].expectations);
    }
}
