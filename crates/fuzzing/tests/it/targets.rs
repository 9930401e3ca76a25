//! Runs the bodies of the fuzz targets on the committed corpus, and on bytes from a seed. It also tests that
//! the comparison behind the fuzzing finds a difference.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use arbitrary::Unstructured;
use dmlcts_backend::{Capabilities, Lack, Operators, Refusal, RunError};
use dmlcts_fuzzing::{NamedBackend, agreement, case_line, frames, spec_text};
use dmlcts_kit::{
    Compared, check,
    fuzz::{arbitrary_case, case_from, mutate_case},
};
use dmlcts_model::{BindingOffsets, Desc, FeatureLevel, line};
use dmlcts_reference::{Operator, Reference};
use dmlcts_spec::Library;

/// The committed inputs of a target.
fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut inputs: Vec<_> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| {
            let path = entry.expect("the folder lists").path();
            (path.display().to_string(), fs::read(&path).expect("the file reads"))
        })
        .collect();
    inputs.sort();
    assert!(inputs.len() >= 8, "{target} has {} inputs", inputs.len());
    inputs
}

/// Bytes that depend on a seed.
fn bytes(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}

/// A text with a few bytes replaced, left out or doubled.
fn disturbed(text: &[u8], seed: u64) -> Vec<u8> {
    let dice = bytes(seed, 32);
    let mut text = text.to_vec();
    for dice in dice.chunks_exact(4).take(1 + usize::from(dice[31] % 4)) {
        let place = usize::from(u16::from_le_bytes([dice[0], dice[1]])) % text.len().max(1);
        match dice[2] % 3 {
            _ if text.is_empty() => text.push(dice[3]),
            0 => text[place] = dice[3] & 0x7f,
            1 => drop(text.remove(place)),
            _ => text.insert(place, text[place]),
        }
    }
    text
}

#[test]
fn the_corpora_pass() {
    for (name, input) in corpus("agreement") {
        let text = String::from_utf8_lossy(&input);
        assert!(line::parse(&text, Library::embedded().signatures()).is_ok(), "{name} holds no case line");
        agreement(&input);
    }
    for (_, input) in corpus("case_line") {
        case_line(&input);
    }
    for (_, input) in corpus("spec_text") {
        spec_text(&input);
    }
    for (_, input) in corpus("frames") {
        frames(&input);
    }
}

#[test]
fn disturbed_corpora_pass() {
    for seed in 0..300 {
        for (_, input) in corpus("case_line") {
            case_line(&disturbed(&input, seed));
        }
        for (_, input) in corpus("frames") {
            frames(&disturbed(&input, seed));
        }
    }
    for seed in 0..3 {
        for (_, input) in corpus("spec_text") {
            spec_text(&disturbed(&input, seed));
        }
    }
}

#[test]
fn random_bytes_pass() {
    for seed in 0..2000 {
        let bytes = bytes(seed, (seed % 300) as usize);
        case_line(&bytes);
        frames(&bytes);
        spec_text(&bytes);
        agreement(&bytes);
    }
}

#[test]
fn arbitrary_cases_agree_and_both_kinds_are_common() {
    let (mut counts, mut operators) = (BTreeMap::new(), BTreeSet::new());
    let total = 20_000;
    for seed in 0..total {
        let case = arbitrary_case(&mut Unstructured::new(&bytes(seed, 512))).expect("enough bytes");
        let compared = check(&case, &mut Reference::new()).unwrap_or_else(|error| panic!("{error}"));
        *counts.entry(compared).or_insert(0) += 1;
        operators.insert(case.desc.signature.operator.clone());
    }
    assert_eq!(operators.len(), Library::embedded().operators().len(), "{operators:?}");
    let share = |compared| counts.get(&compared).copied().unwrap_or(0) * 100 / total;
    assert!(share(Compared::Output) >= 40, "{counts:?}");
    assert!(share(Compared::Refusal) >= 25, "{counts:?}");
    assert!(counts.contains_key(&Compared::Open), "{counts:?}");
}

#[test]
fn mutating_keeps_cases_readable_and_changes_them() {
    let start = b"SLICE1 FLOAT32 in=1,1,4,4 out=1,1,2,2 InputWindowOffsets=0,0,0,1 InputWindowSizes=1,1,4,3 \
                  InputWindowStrides=1,1,-2,2 fill=iota";
    let mut data = [0; 512];
    data[..start.len()].copy_from_slice(start);
    let (mut size, mut changes, mut operators) = (start.len(), 0, BTreeSet::new());
    for seed in 0..2000 {
        let before = data[..size].to_vec();
        let most = data.len();
        size = mutate_case(&mut data, size, most, seed);
        let text = std::str::from_utf8(&data[..size]).expect("a case line is text");
        let case = line::parse(text, Library::embedded().signatures()).expect("a case line");
        operators.insert(case.desc.signature.operator.clone());
        agreement(&data[..size]);
        changes += usize::from(before != data[..size]);
    }
    assert!(changes > 1500, "{changes}");
    assert_eq!(operators.len(), 3, "new cases come in: {operators:?}");
    // A wrong line becomes a case, and values that do not fit stay.
    let mut data = [b'?'; 512];
    let most = data.len();
    let size = mutate_case(&mut data, 9, most, 1);
    assert!(data[..size].starts_with(b"SLICE") || data[..size].starts_with(b"PADDING1"));
    assert_eq!(mutate_case(&mut [b'?'; 16], 9, 16, 1), 9);
}

#[test]
fn bytes_that_are_a_line_are_that_case() {
    let text = "SLICE UINT8 in=4 out=2 Offsets=1 Sizes=2 Strides=2 fill=random:7";
    assert_eq!(case_from(text.as_bytes()).map(|case| case.to_string()).as_deref(), Some(text));
}

/// The wrong part of a lying reference.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Deviation {
    RefusesAll,
    IgnoresLevels,
    FlipsABit,
}

/// The reference, with one deviation.
struct DeviatingReference(Reference, Deviation);

impl Operators for DeviatingReference {
    type Operator = Operator;

    fn capabilities(&self) -> &Capabilities {
        self.0.capabilities()
    }

    fn set_feature_level(&mut self, level: FeatureLevel) {
        if self.1 != Deviation::IgnoresLevels {
            self.0.set_feature_level(level);
        }
    }

    fn create(&mut self, desc: &Desc) -> Result<Operator, Refusal> {
        match self.1 {
            Deviation::RefusesAll => Err(Refusal::Invalid("no".into())),
            _ => self.0.create(desc),
        }
    }

    fn run(
        &mut self,
        operator: &mut Operator,
        binding: BindingOffsets,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), RunError> {
        self.0.run(operator, binding, input, output)?;
        if self.1 == Deviation::FlipsABit {
            output[1] ^= 1;
        }
        Ok(())
    }
}

#[test]
fn a_deviating_reference_is_noticed() {
    let line = "SLICE UINT8 in=4 out=2 Offsets=1 Sizes=2 Strides=2 fill=iota";
    let case = case_from(line.as_bytes()).expect("a case line");
    assert_eq!(check(&case, &mut Reference::new()).expect("the reference is honest"), Compared::Output);
    for (deviation, message) in [
        (Deviation::RefusesAll, "no clause is broken, but the answer is Invalid(\"no\")"),
        // Rank 1 begins with level 3.0.
        (Deviation::IgnoresLevels, "at feature level 1.0: accepted, though it breaks slice.dimensions"),
        (Deviation::FlipsABit, "byte 1 of the output is 0x04 by the spec and 0x05 by the backend"),
    ] {
        let found =
            check(&case, &mut DeviatingReference(Reference::new(), deviation)).unwrap_err().to_string();
        assert!(found.starts_with(line) && found.contains(message), "{found}");
    }
}

/// A reference that is only at the newest level, and refuses to be set to another one.
struct OneLevel(Reference, Capabilities);

impl Operators for OneLevel {
    type Operator = <Reference as Operators>::Operator;

    fn capabilities(&self) -> &Capabilities {
        &self.1
    }

    fn set_feature_level(&mut self, level: FeatureLevel) {
        panic!("it was set to {level}");
    }

    fn create(&mut self, desc: &Desc) -> Result<Self::Operator, Refusal> {
        self.0.create(desc)
    }

    fn run(
        &mut self,
        operator: &mut Self::Operator,
        binding: BindingOffsets,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), RunError> {
        self.0.run(operator, binding, input, output)
    }
}

#[test]
fn a_backend_with_one_level_is_asked_at_this_level_alone() {
    let reference = Reference::new();
    let capabilities = Capabilities { can_set_feature_level: false, ..reference.capabilities().clone() };
    let mut backend = OneLevel(reference, capabilities);
    // Rank 1 begins with level 3.0.
    let line = "SLICE UINT8 in=4 out=2 Offsets=1 Sizes=2 Strides=2 fill=iota";
    let case = case_from(line.as_bytes()).expect("a case line");
    assert_eq!(check(&case, &mut backend).expect("it is right at its own level"), Compared::Output);
}

/// The error for a name of a backend.
fn unopened(name: &str) -> String {
    NamedBackend::open(name).err().unwrap_or_else(|| panic!("`{name}` opens"))
}

#[test]
fn a_named_process_is_compared_at_its_own_level() {
    let served = env!("CARGO_BIN_EXE_served_reference");
    let mut right = NamedBackend::open(&format!("exec:'{served}'")).expect("it starts");
    let mut counts = BTreeMap::new();
    for (name, input) in corpus("agreement") {
        let case = case_from(&input).expect("a case");
        let compared = check(&case, &mut right).unwrap_or_else(|error| panic!("{name}: {error}"));
        *counts.entry(compared).or_insert(0) += 1;
    }
    assert!(counts[&Compared::Output] > 5 && counts[&Compared::Refusal] > 5, "{counts:?}");

    let mut wrong = NamedBackend::open(&format!("exec:'{served}' 1.0")).expect("it starts");
    // Rank 1 begins with level 3.0.
    let line = "SLICE UINT8 in=4 out=2 Offsets=1 Sizes=2 Strides=2 fill=iota";
    let case = case_from(line.as_bytes()).expect("a case line");
    let found = check(&case, &mut wrong).unwrap_err().to_string();
    assert!(found.contains("no clause is broken, but the answer is Invalid"), "{found}");
    // A backend is not asked for what it does not declare.
    let rank_4 = Capabilities { ranks: 4..=5, ..wrong.capabilities().clone() };
    let mut lacking = Declaring(wrong, rank_4);
    assert_eq!(check(&case, &mut lacking).expect("nothing is compared"), Compared::Nothing);
    let condition = "rank == 1".to_owned();
    let lack = Lack { operator: "SLICE".to_owned(), condition, reason: "Too new.".to_owned() };
    lacking.1 = Capabilities { ranks: 1..=8, lacks: vec![lack], ..lacking.1 };
    assert_eq!(check(&case, &mut lacking).expect("nothing is compared"), Compared::Nothing);
}

#[test]
fn the_name_of_a_backend_is_checked() {
    assert!(unopened("wgpu").contains("write 'exec:dmlcts serve --backend wgpu'"));
    assert!(unopened("exec:no-such-program").contains("`dmlcts doctor --backend 'exec:no-such-program'`"));
    assert!(unopened("dylib:./none.so").contains("`./none.so` cannot be loaded"));
    let served = env!("CARGO_BIN_EXE_served_reference");
    assert!(unopened(&format!("exec:'{served}' none")).contains("the backend cannot be opened"));
}

/// A backend with another declaration.
struct Declaring(NamedBackend, Capabilities);

impl Operators for Declaring {
    type Operator = Desc;

    fn capabilities(&self) -> &Capabilities {
        &self.1
    }

    fn create(&mut self, desc: &Desc) -> Result<Desc, Refusal> {
        self.0.create(desc)
    }

    fn run(
        &mut self,
        operator: &mut Desc,
        binding: BindingOffsets,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), RunError> {
        self.0.run(operator, binding, input, output)
    }
}
