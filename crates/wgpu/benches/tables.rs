//! `cargo bench -p dmlcts-wgpu`: tiny cases a second by the size of a batch, through the kernels alone,
//! through the backend and through a whole run; and gigabytes a second of large tensors, as a part of what
//! the device copies from buffer to buffer.
//!
//! Arguments behind `--`: a part of the adapter's name, and the MiB of a large tensor.

use std::{
    error::Error,
    io::{self, Write},
    sync::Arc,
    time::{Duration, Instant},
};

use dmlcts_backend::{Backend, Batch, Run as Memory};
use dmlcts_generate::Suite;
use dmlcts_model::{Case, line};
use dmlcts_runner::{CaseSource, Configuration, Run, Stop, SuiteSource};
use dmlcts_spec::{Library, Source};
use dmlcts_wgpu::Gpu;

const TINY: &str = "
suite: tiny
purpose: How fast tiny cases are.
parts:
  - {id: random, strategy: random, elements: 64}
";

/// Bytes between tensors, as the runner leaves them.
const GAP: usize = 32;

fn main() -> Result<(), Box<dyn Error>> {
    // `cargo bench` adds arguments of its own.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let (numbers, names): (Vec<_>, Vec<_>) =
        arguments.into_iter().partition(|word| word.parse::<u64>().is_ok());
    let gpu = Gpu::open(names.first().map_or("", String::as_str))?;
    let capabilities = gpu.capabilities();
    let mut out = io::stdout();
    writeln!(out, "adapter   {}", capabilities.device)?;
    writeln!(out, "driver    {}\n", capabilities.driver)?;
    let in_software = gpu.is_software();
    let library = Library::embedded();
    let suite = Suite::parse(&Source::new("tiny.yaml", TINY))?;
    let parts = Arc::new(SuiteSource::new(suite.expand(library, 0)?, &[]));
    batches(&mut out, &gpu, &parts, in_software)?;
    whole_runs(&mut out, &gpu, &parts, in_software)?;
    let mib =
        numbers.first().and_then(|word| word.parse().ok()).unwrap_or(if in_software { 16 } else { 256 });
    large(&mut out, &gpu, mib)
}

/// Tiny cases a second, through the kernels and through the backend.
fn batches(
    out: &mut impl Write,
    gpu: &Arc<Gpu>,
    parts: &SuiteSource,
    in_software: bool,
) -> Result<(), Box<dyn Error>> {
    writeln!(out, "tiny cases (to 64 elements, ranks 1 to 8), million a second on one thread")?;
    writeln!(out, "{:>10} {:>14} {:>18}", "batch", "kernels alone", "the backend alone")?;
    let sizes: &[u64] =
        if in_software { &[64, 512, 4096, 16384] } else { &[64, 512, 4096, 16384, 65536, 262_144] };
    for &size in sizes {
        let mut batch = batch(parts, size);
        let kernels = gpu.time_batch(&mut batch)?;
        let mut backend = gpu.backend();
        let mut best = Duration::MAX;
        let started = Instant::now();
        while started.elapsed() < Duration::from_millis(300) {
            let before = Instant::now();
            backend.run(&mut batch);
            best = best.min(before.elapsed());
        }
        let rate = |time: Duration| size as f64 / time.as_secs_f64() / 1e6;
        writeln!(out, "{size:>10} {:>14.2} {:>18.2}", rate(kernels), rate(best))?;
    }
    Ok(writeln!(out)?)
}

/// Valid tiny cases with their memory, as the runner lays it out.
fn batch(parts: &SuiteSource, size: u64) -> Batch {
    let mut cursor = parts.cursor();
    let mut batch = Batch::default();
    let mut case = first_case();
    for index in 0..size {
        cursor.read(index, &mut case);
        let (Some(input), Some(output)) = (&case.desc.input, &case.desc.output) else { continue };
        let (input, output) = (input.total_size as usize, output.total_size as usize);
        let place = |arena: &mut Vec<u8>, bytes: usize, fill: u8| {
            let start = (arena.len() + GAP).next_multiple_of(16);
            arena.resize(start + bytes, fill);
            start..start + bytes
        };
        let run = Memory {
            input: place(&mut batch.inputs, input, 0x11),
            output: place(&mut batch.outputs, output, 0xB5),
        };
        batch.push(&case.desc, case.binding).runs.push(run);
    }
    batch.inputs.resize(batch.inputs.len() + GAP, 0);
    batch.outputs.resize(batch.outputs.len() + GAP, 0xB5);
    batch
}

fn first_case() -> Case {
    parse("SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota")
}

fn parse(text: &str) -> Case {
    line::parse(text, Library::embedded().signatures()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Tiny cases a second, through whole runs.
fn whole_runs(
    out: &mut impl Write,
    gpu: &Arc<Gpu>,
    parts: &Arc<SuiteSource>,
    in_software: bool,
) -> Result<(), Box<dyn Error>> {
    writeln!(out, "whole runs (generate, judge, fill, expect, run, compare) of tiny cases, in this process")?;
    writeln!(out, "{:>10} {:>14} {:>14}", "threads", "cases", "million/s")?;
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    let mut threads = 1;
    while threads <= most {
        let cases = if in_software { 200_000 } else { 1_000_000 } * threads as u64;
        let own = Arc::clone(gpu);
        let run = Run {
            library: Library::embedded(),
            source: Arc::clone(parts) as Arc<_>,
            backend: Arc::new(move |_| Ok(Box::new(own.backend()))),
            configuration: Configuration { jobs: threads, limit: Some(cases), ..Configuration::default() },
            stop: Stop::default(),
        };
        let summary = dmlcts_runner::run(&run, &mut |_| {})?;
        assert_eq!(summary.tally().unexpected(), 0, "{:?}", summary.groups);
        let rate = summary.totals.progress.ran as f64 / summary.totals.elapsed.as_secs_f64() / 1e6;
        writeln!(out, "{threads:>10} {cases:>14} {rate:>14.2}")?;
        threads *= 2;
    }
    Ok(writeln!(out)?)
}

/// Gigabytes of output a second.
fn large(out: &mut impl Write, gpu: &Arc<Gpu>, mib: u64) -> Result<(), Box<dyn Error>> {
    let bytes = mib << 20;
    let copy = bytes as f64 / gpu.time_copy(bytes)?.as_secs_f64() / 1e9;
    writeln!(
        out,
        "outputs of about {mib} MiB: GB/s of output, and percent of a copy from buffer to buffer ({copy:.2} GB/s)"
    )?;
    write!(out, "{:<22}", "")?;
    for name in ["1 byte", "2 bytes", "4 bytes", "8 bytes"] {
        write!(out, " {name:>15}")?;
    }
    writeln!(out)?;
    for (kind, ranks) in KINDS {
        for &rank in ranks {
            write!(out, "{:<22}", format!("{kind}, rank {rank}"))?;
            for (data_type, width) in [("UINT8", 1), ("UINT16", 2), ("UINT32", 4), ("UINT64", 8)] {
                let case = parse(&large_case(kind, rank, data_type, bytes / width));
                let total = case.desc.output.as_ref().map_or(0, |tensor| tensor.total_size);
                let rate = total as f64 / gpu.time_large(&case.desc)?.as_secs_f64() / 1e9;
                write!(out, " {rate:>9.2} {:>4.0}%", rate / copy * 100.0)?;
                out.flush()?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}

const KINDS: [(&str, &[usize]); 10] = [
    ("contiguous", &[1, 4]),
    ("window", &[2, 4, 8]),
    ("reversed", &[1, 2, 4]),
    ("stride 2", &[1, 2, 4]),
    ("transposed", &[2, 4, 8]),
    ("CONSTANT", &[1, 2, 4, 8]),
    ("EDGE", &[2, 4]),
    ("REFLECTION", &[2, 4]),
    ("SYMMETRIC", &[2, 4]),
    ("WRAP", &[2, 4]),
];

/// A case of this kind whose output has about so many elements.
fn large_case(kind: &str, rank: usize, data_type: &str, elements: u64) -> String {
    let shape: Vec<u64> = match rank {
        1 => vec![elements],
        2 => vec![elements / 4096, 4096],
        4 => vec![4, 8, elements / (32 * 1024), 1024],
        _ => vec![2, 2, 2, 2, 2, 2, elements / (64 * 1024), 1024],
    };
    let text = |values: &[u64]| values.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    let each = |value: &str| vec![value; rank].join(",");
    let sizes = text(&shape);
    // The two innermost axes a little longer.
    let widened = |by: u64| {
        let axes = shape.iter().enumerate();
        axes.map(|(axis, size)| if axis + 2 >= rank { size + by } else { *size }).collect::<Vec<u64>>()
    };
    let ones = text(&widened(1).iter().zip(&shape).map(|(wide, size)| wide - size).collect::<Vec<_>>());
    match kind {
        "contiguous" => format!(
            "SLICE {data_type} in={sizes} out={sizes} Offsets={} Sizes={sizes} Strides={} fill=iota",
            each("0"),
            each("1")
        ),
        "window" => {
            let input = widened(1);
            format!(
                "SLICE {data_type} in={} out={sizes} Offsets={} Sizes={sizes} Strides={} fill=iota",
                text(&input),
                ones,
                each("1")
            )
        }
        "reversed" => format!(
            "SLICE1 {data_type} in={sizes} out={sizes} InputWindowOffsets={} InputWindowSizes={sizes} \
             InputWindowStrides={} fill=iota",
            each("0"),
            each("-1")
        ),
        "stride 2" => {
            let mut output = shape.clone();
            output[rank - 1] /= 2;
            let mut strides = vec![1; rank];
            strides[rank - 1] = 2;
            format!(
                "SLICE {data_type} in={sizes} out={} Offsets={} Sizes={} Strides={} fill=iota",
                text(&output),
                each("0"),
                text(&output),
                text(&strides)
            )
        }
        "transposed" => {
            // The input lies in memory with its last two axes swapped.
            let mut swapped = shape.clone();
            swapped.swap(rank - 1, rank - 2);
            let mut strides = vec![1; rank];
            for axis in (0..rank - 1).rev() {
                strides[axis] = strides[axis + 1] * swapped[axis + 1];
            }
            strides.swap(rank - 1, rank - 2);
            format!(
                "SLICE {data_type} in={sizes} out={sizes} InputTensor.Strides={} Offsets={} Sizes={sizes} Strides={} fill=iota",
                text(&strides),
                each("0"),
                each("1")
            )
        }
        mode => {
            let output = widened(3);
            format!(
                "PADDING1 {data_type} in={sizes} out={} PaddingMode={mode} StartPadding={} EndPadding={} fill=iota",
                text(&output),
                ones,
                text(&widened(2).iter().zip(&shape).map(|(wide, size)| wide - size).collect::<Vec<_>>())
            )
        }
    }
}
