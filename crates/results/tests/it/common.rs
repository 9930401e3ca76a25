//! Runs of a backend with known faults, recorded in temporary files.

use std::sync::Arc;

use dmlcts_backend::{Backend, Batch, Capabilities, Immediate};
use dmlcts_diagnose::{Diagnosis, Event, ExplainOptions};
use dmlcts_model::{DataType, FeatureLevel, Outcome, line};
use dmlcts_reference::Reference;
use dmlcts_results::{
    BackendOptions, CaseForm, GivenForm, Header, Item, Reader, SelectionForm, SummaryForm, Writer,
};
use dmlcts_runner::{Configuration, Event as RunEvent, Listed, Partition, Run, Stop, Totals};
use dmlcts_spec::Library;
pub(crate) use dmlcts_tests::Scratch;

/// Cases of several kinds: right, wrong, recorded, invalid, too large, crashing.
pub(crate) const LINES: [&str; 6] = [
    "SLICE1 FLOAT32 in=2,4 out=2,4 InputWindowOffsets=0,0 InputWindowSizes=2,4 InputWindowStrides=1,-1 fill=iota",
    "SLICE1 UINT8 in=3 out=3 InputWindowOffsets=0 InputWindowSizes=3 InputWindowStrides=1 fill=explicit:b54a01",
    "SLICE FLOAT32 in=4 out=2 Offsets=1 Sizes=2 Strides=0 fill=iota",
    "SLICE1 FLOAT32 in=4 out=1 InputWindowOffsets=0 InputWindowSizes=0 InputWindowStrides=1 fill=iota",
    "SLICE1 UINT8 in=4294967295 out=4294967295 InputWindowOffsets=0 InputWindowSizes=4294967295 InputWindowStrides=1 fill=iota",
    "SLICE INT64 in=1,1,1 out=1,1,1 Offsets=0,0,0 Sizes=1,1,1 Strides=1,1,1 fill=iota",
];

/// A correct backend, except that outputs of rank 1 are zeros, rank 3 crashes, and FLOAT16 is unsupported.
struct Wrong(Capabilities);

impl Backend for Wrong {
    fn capabilities(&self) -> &Capabilities {
        &self.0
    }

    fn set_feature_level(&mut self, _: FeatureLevel) {}

    fn run(&mut self, batch: &mut Batch) {
        Reference::backend().run(batch);
        let (jobs, _, outputs) = batch.parts();
        for job in jobs {
            if job.desc.input.as_ref().is_some_and(|input| input.data_type == DataType::FLOAT16) {
                job.outcome = Outcome::Unsupported("no halves".into());
                continue;
            }
            match job.desc.output.as_ref().map(|output| output.dimension_count) {
                Some(1) => job.runs.iter().for_each(|run| outputs[run.output.clone()].fill(0)),
                Some(3) => job.outcome = Outcome::Crashed("it said \"no\"\n\tand left".into()),
                _ => {}
            }
        }
    }
}

/// The lines, repeated this number of times.
pub(crate) fn lines(rounds: usize) -> Vec<String> {
    LINES.repeat(rounds).iter().map(|line| (*line).to_owned()).collect()
}

pub(crate) fn run_of(lines: &[String], partition: Option<Partition>, resume: Option<Totals>) -> Run {
    let library = Library::embedded();
    let case = |text: &String| {
        line::parse(text, library.signatures()).unwrap_or_else(|error| panic!("{text}: {error}"))
    };
    Run {
        library,
        source: Arc::new(Listed::new(lines.iter().map(case).collect(), "given")),
        backend: Arc::new(|_| {
            let mut capabilities = Reference::backend().capabilities().clone();
            capabilities.data_types.retain(|data_type| *data_type != DataType::FLOAT16);
            Ok(Box::new(Immediate(Wrong(Capabilities { can_set_feature_level: false, ..capabilities }))))
        }),
        configuration: Configuration { jobs: 2, record: true, partition, resume, ..Configuration::default() },
        stop: Stop::default(),
    }
}

pub(crate) fn selection(lines: &[String], partition: Option<Partition>) -> SelectionForm {
    SelectionForm {
        given: Some(GivenForm { cases: lines.len() as u64, hash: "00".repeat(32) }),
        partition,
        memory: 1 << 30,
        retries: 2,
        ..SelectionForm::default()
    }
}

/// Records a run in a file, and returns what it came to.
pub(crate) fn record(path: &str, lines: &[String], partition: Option<Partition>) -> Diagnosis {
    let run = run_of(lines, partition, None);
    let writer =
        Writer::create(path, true, run.library, run.source.strategies()).expect("the file can be made");
    record_with(writer, (&run, None), &selection(lines, partition), true)
}

/// Records a run, with its header unless it continues a file. `cases` is the number of cases that a finding
/// may cost.
pub(crate) fn record_with(
    mut writer: Writer,
    (run, cases): (&Run, Option<usize>),
    selection: &SelectionForm,
    is_new: bool,
) -> Diagnosis {
    let explaining = ExplainOptions { cases, ..ExplainOptions::NONE };
    let ran = dmlcts_diagnose::run(run, &explaining, &mut |event| {
        let Event::Run(event) = event else { return };
        let written = match event {
            RunEvent::Started { capabilities, level, cases } if is_new => {
                let what = (selection.clone(), "dmlcts run -".to_owned());
                let case_timeout = BackendOptions::USUAL_CASE_TIMEOUT;
                let asked = BackendOptions {
                    argument: "wrong".to_owned(),
                    in_process: false,
                    case_timeout,
                    memory: None,
                };
                writer.header(&Header::new(what, run.library.hash(), cases, level, (&asked, capabilities)))
            }
            RunEvent::Cases { cases, totals, groups } => writer.cases(cases, totals, groups),
            RunEvent::Pause { totals, groups } => writer.pause(totals, groups),
            _ => Ok(()),
        };
        written.expect("the file can be written");
    });
    let diagnosis = ran.expect("the backend starts");
    writer.finish(&diagnosis, 1, None).expect("the file can be written");
    diagnosis
}

/// Every case of a file, and the summary if there is one.
pub(crate) fn read(path: &str) -> (Vec<CaseForm<'static>>, Option<SummaryForm>) {
    let mut reader = Reader::open(path).expect("it has a header");
    let (mut cases, mut summary) = (Vec::new(), None);
    while let Some(item) = reader.next().expect("every line is one") {
        match item {
            Item::Case(case) => cases.push(CaseForm { line: case.line.into_owned().into(), ..*case }),
            Item::Summary(last) => summary = Some(*last),
            Item::Checkpoint(_) => {}
        }
    }
    (cases, summary)
}
