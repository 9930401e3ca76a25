//! How fast the oracle is: planning and executing small tensors, measured by criterion, and large ones for
//! `oracle_against_numpy.py`, which sends case lines to `--lines` and reads a line of JSON for each.

use std::{
    hint::black_box,
    io::{BufRead, Write},
    time::{Duration, Instant},
};

use criterion::{Criterion, Throughput};
use dmlcts_model::{Case, DataType, FeatureLevel, element_count, line};
use dmlcts_spec::{Library, Scratch};

/// Small tensors of each operator, as they fill a run of many cases.
const SMALL: &[(&str, &str)] = &[
    ("slice rank 1", "SLICE FLOAT32 in=24 out=12 Offsets=1 Sizes=12 Strides=2 fill=iota"),
    (
        "slice rank 4",
        "SLICE FLOAT32 in=2,3,4,5 out=1,2,3,4 Offsets=1,0,1,1 Sizes=1,2,3,4 Strides=1,2,1,1 fill=iota",
    ),
    (
        "slice rank 8",
        "SLICE FLOAT32 in=1,2,1,3,2,1,4,2 out=1,2,1,3,1,1,2,2 Offsets=0,0,0,0,1,0,0,0 Sizes=1,2,1,3,1,1,2,2 \
         Strides=1,1,1,1,1,1,2,1 fill=iota",
    ),
    (
        "slice1 rank 1",
        "SLICE1 FLOAT32 in=48 out=24 InputWindowOffsets=0 InputWindowSizes=48 InputWindowStrides=-2 fill=iota",
    ),
    (
        "slice1 rank 4",
        "SLICE1 FLOAT32 in=2,3,4,5 out=2,3,2,2 InputWindowOffsets=0,0,0,1 InputWindowSizes=2,3,4,4 \
         InputWindowStrides=1,-1,-2,2 fill=iota",
    ),
    (
        "slice1 rank 8",
        "SLICE1 FLOAT32 in=1,2,1,3,2,1,4,2 out=1,2,1,3,1,1,2,2 InputWindowOffsets=0,0,0,0,1,0,0,0 \
         InputWindowSizes=1,2,1,3,1,1,4,2 InputWindowStrides=1,-1,1,-1,1,1,2,-1 fill=iota",
    ),
    (
        "padding1 constant rank 1",
        "PADDING1 FLOAT32 in=16 out=24 PaddingMode=CONSTANT PaddingValue=9 StartPadding=4 EndPadding=4 fill=iota",
    ),
    (
        "padding1 reflection rank 1",
        "PADDING1 FLOAT32 in=5 out=24 PaddingMode=REFLECTION StartPadding=9 EndPadding=10 fill=iota",
    ),
    (
        "padding1 symmetric rank 4",
        "PADDING1 FLOAT32 in=1,2,2,3 out=1,3,3,5 PaddingMode=SYMMETRIC StartPadding=0,1,0,1 \
         EndPadding=0,0,1,1 fill=iota",
    ),
    (
        "padding1 reflection rank 8",
        "PADDING1 FLOAT32 in=1,2,1,2,1,2,1,2 out=1,2,1,3,1,2,2,3 PaddingMode=REFLECTION \
         StartPadding=0,0,0,1,0,0,1,1 EndPadding=0,0,0,0,0,0,0,0 fill=iota",
    ),
];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(place) = arguments.iter().position(|argument| argument == "--lines") {
        let mib =
            |place: usize| arguments.get(place).and_then(|mib| mib.parse().ok()).unwrap_or(64_usize) << 20;
        serve(mib(place + 1), mib(place + 2));
        return;
    }
    let mut criterion = Criterion::default()
        .configure_from_args()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    small(&mut criterion);
    criterion.final_summary();
}

fn small(criterion: &mut Criterion) {
    let library = Library::embedded();
    let mut group = criterion.benchmark_group("oracle, plan and execute");
    for (name, text) in SMALL {
        let case = parse(text);
        let Some(operator) = library.operator(&case.desc.signature.operator) else { continue };
        let mut scratch = Scratch::default();
        let valid = operator.judge_valid(&case.desc, FeatureLevel::NEWEST, &mut scratch);
        let valid = valid.unwrap_or_else(|_| panic!("{name} is not valid"));
        let input = vec![1; memory(&case, true)];
        let mut output = vec![0; memory(&case, false)];
        group.throughput(Throughput::Elements(output.len() as u64 / 4));
        group.bench_function(*name, |bencher| {
            bencher.iter(|| {
                let mut plan = operator.plan(valid, 0, &mut scratch).expect("planned");
                plan.execute(black_box(&input), black_box(&mut output)).expect("executed");
            });
        });
    }
    group.finish();
}

fn parse(text: &str) -> Case {
    line::parse(text, Library::embedded().signatures()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The bytes of one of the tensors' memory.
fn memory(case: &Case, input: bool) -> usize {
    let tensor = if input { &case.desc.input } else { &case.desc.output };
    tensor.as_ref().map_or(0, |tensor| tensor.total_size as usize)
}

/// Answers each line of `ROUNDS CASE` by the best time of the oracle and of copying as many bytes, and a
/// digest of the output. The memory of all inputs and of all outputs is taken once, in this many bytes.
fn serve(input: usize, output: usize) {
    let library = Library::embedded();
    let mut scratch = Scratch::default();
    let words = (0..input as u64 / 8).map(|word| word.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let mut bytes = Vec::with_capacity(input);
    bytes.extend(words.flat_map(u64::to_le_bytes));
    let (input, mut output) = (bytes, vec![1; output]);
    println!("ready");
    for text in std::io::stdin().lock().lines() {
        let text = text.expect("standard input");
        let (rounds, text) = text.split_once(' ').expect("ROUNDS CASE");
        let case = parse(text);
        let operator = library.operator(&case.desc.signature.operator).expect("a known operator");
        let valid = operator.judge_valid(&case.desc, FeatureLevel::NEWEST, &mut scratch);
        let valid = valid.unwrap_or_else(|_| panic!("{text} is not valid"));
        let written = written(&case);
        let (mut copying, mut executing) = (f64::MAX, f64::MAX);
        for _ in 0..rounds.parse().unwrap_or(1) {
            let start = Instant::now();
            output[..written].copy_from_slice(black_box(&input[..written]));
            copying = copying.min(start.elapsed().as_secs_f64());
            let start = Instant::now();
            let mut plan = operator.plan(valid, 0, &mut scratch).expect("planned");
            plan.execute(&input, black_box(&mut output)).expect("executed");
            executing = executing.min(start.elapsed().as_secs_f64());
        }
        let digest = digest(&output[..memory(&case, false) / 8 * 8]);
        println!("{{\"oracle\": {executing}, \"memcpy\": {copying}, \"digest\": {digest}}}");
        std::io::stdout().flush().expect("standard output");
    }
}

/// The bytes of the output's elements, without its holes.
fn written(case: &Case) -> usize {
    let tensor = case.desc.output.as_ref();
    let elements = tensor.and_then(|tensor| tensor.sizes.as_ref()).map_or(0, |sizes| element_count(sizes));
    let size = tensor.map_or(DataType::UNKNOWN, |tensor| tensor.data_type).element_size().unwrap_or(0);
    elements as usize * size
}

/// The sum of the words, each times an odd number of its own.
fn digest(bytes: &[u8]) -> u64 {
    let words = bytes.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word));
    words.zip(0..).fold(0, |sum: u64, (word, index)| sum.wrapping_add(word.wrapping_mul(2 * index + 1)))
}
