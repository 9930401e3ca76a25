//! The wrong outputs of the examples of findings: the files of a folder, for the review of a change.
//!
//! The name of a file is a hash of what identifies it in a snapshot, so that outputs of old and of new runs
//! lie in one folder. The folder may hold what a stranger put there: no link in it is followed, and a file
//! must be as long as the output.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use dmlcts_diagnose::Diagnosis;
use dmlcts_model::{Desc, FeatureLevel, Side, line};
use dmlcts_report::CaseOutputs;
use dmlcts_results::replace_entry;
use dmlcts_runner::{Class, Digest, RunKind};
use dmlcts_snapshots::{Change, Changes, Finding, entries};
use dmlcts_spec::Library;

use crate::{
    commands::case::{Judged, judged},
    problem::Problem,
};

/// The maximum size of a tensor of an example, in bytes.
const MOST_BYTES: u64 = 64 << 10;
/// The maximum number of changes of a snapshot with outputs.
const SHOWN: usize = 50;

/// A folder of outputs.
pub(super) struct Outputs<'a>(&'a Path);

impl<'a> Outputs<'a> {
    /// The folder to write into, which is made if it is not there.
    pub(super) fn to_write(path: &'a str) -> Result<Self, Problem> {
        let folder = Path::new(path);
        let made = fs::create_dir_all(folder).and_then(|()| tempfile::tempfile_in(folder));
        made.map_err(|cause| not_written(folder, &cause))?;
        Ok(Self(folder))
    }

    /// The folder to read.
    pub(super) fn to_read(path: &'a str) -> Result<Self, Problem> {
        fs::read_dir(path).map_err(|cause| {
            let help = "name a folder that `dmlcts snapshot --outputs` filled, and that you may read";
            Problem::usage(format!("cannot read the folder {path}: {cause}"), help)
        })?;
        Ok(Self(Path::new(path)))
    }

    /// Writes the outputs of a run's findings. Files of other runs stay.
    pub(super) fn write(&self, run: &Diagnosis) -> Result<(), Problem> {
        for (finding, found) in entries(run) {
            let shown = found.shown();
            let (Some(line), Some(evidence)) = (&finding.example, &shown.evidence) else { continue };
            let is_own_data = evidence.run != RunKind::OtherData;
            if is_own_data && is_small(&shown.case.desc) {
                let path = self.path(&finding, line);
                replace_entry(&path, &evidence.actual).map_err(|cause| not_written(&path, &cause))?;
            }
        }
        Ok(())
    }

    /// The outputs that each change shows.
    pub(super) fn of(&self, changes: &Changes) -> Vec<Vec<CaseOutputs>> {
        let before = if changes.is_first {
            "none: nothing was accepted"
        } else {
            "passed, or did not run: no finding"
        };
        let all = changes.list.iter().take(SHOWN);
        all.map(|change| self.of_change(change, before)).collect()
    }

    fn of_change(&self, change: &Change, before: &str) -> Vec<CaseOutputs> {
        let sides = [&change.new, &change.old];
        let compared = sides.into_iter().flatten().filter(|finding| is_compared(finding.class));
        let mut lines: Vec<&String> = compared.filter_map(|finding| finding.example.as_ref()).collect();
        lines.dedup();
        let library = Library::embedded();
        let cases = lines.into_iter().filter_map(|text| {
            let case = line::parse(text, library.signatures()).ok()?;
            Some((text, judged(case, FeatureLevel::NEWEST).ok()?))
        });
        let outputs = |(line, judged): (&String, Judged)| {
            let is_small = is_small(&judged.case.desc);
            let large = || Err("not shown: a tensor of the case has more than 64 KiB".to_owned());
            let memory = is_small.then(|| judged.memory());
            let (input, expected) = memory.map_or_else(|| (large(), large()), |one| (one.input, one.output));
            let side = |finding: &Option<Finding>, none: &str| match finding {
                Some(_) if !is_small => large(),
                Some(finding) => self.read(finding, line, &judged.case.desc),
                None => Err(none.to_owned()),
            };
            let old = side(&change.old, before);
            let new = side(&change.new, "passed, or did not run: no finding");
            CaseOutputs { case: judged.case, input, expected, old, new }
        };
        cases.map(outputs).collect()
    }

    /// The output that a finding's run gave for a case, or in words why it is not known.
    fn read(&self, finding: &Finding, line: &str, desc: &Desc) -> Result<Vec<u8>, String> {
        if !is_compared(finding.class) {
            return Err(format!("none: {}", finding.class.id()));
        }
        if finding.example.as_deref() != Some(line) {
            return Err("not kept: the finding has another example".to_owned());
        }
        let path = self.path(finding, line);
        let size = desc.output.as_ref().map_or(0, |output| output.total_size);
        let failed = |cause| format!("not shown: cannot read {}: {cause}", path.display());
        match fs::symlink_metadata(&path) {
            Err(cause) if cause.kind() == ErrorKind::NotFound => {
                Err("not kept: make it with --outputs (no file if it fails on other data only)".to_owned())
            }
            Err(cause) => Err(failed(cause)),
            Ok(about) if !about.is_file() || about.len() != size => {
                let what =
                    if about.is_file() { format!("{} bytes long", about.len()) } else { "no file".into() };
                Err(format!("not trusted: {} is {what}, and the output has {size} bytes", path.display()))
            }
            Ok(_) => fs::read(&path).map_err(failed),
        }
    }

    fn path(&self, finding: &Finding, line: &str) -> PathBuf {
        let hash = Digest::of(finding.counts.digest.as_bytes()).with(Digest::of(line.as_bytes()));
        self.0.join(format!("{hash}.bin"))
    }
}

/// Whether failures of a class have an output that was compared, on the data of the case.
fn is_compared(class: Class) -> bool {
    matches!(class, Class::Output(_) | Class::OutsideQuestion)
}

fn is_small(desc: &Desc) -> bool {
    let mut tensors = Side::BOTH.into_iter().filter_map(|side| desc.tensor(side));
    tensors.all(|tensor| tensor.total_size <= MOST_BYTES)
}

fn not_written(path: &Path, cause: &std::io::Error) -> Problem {
    let message = format!("cannot write {}: {cause}", path.display());
    Problem::usage(message, "name a folder by --outputs that you may write to, and make room")
}
