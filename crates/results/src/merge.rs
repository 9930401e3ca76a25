//! Joins the parts of a run that several machines shared.
//!
//! The result is the file that one machine would have written: the cases of all parts in the order of their
//! indices, and a summary of all of them. Files of different runs, overlapping or missing parts, runs that
//! were cut off, and counts that do not add up are errors.

use std::time::Duration;

use dmlcts_diagnose::{Diagnosis, Finding, LeftOut};
use dmlcts_model::FeatureLevel;
use dmlcts_runner::{Class, CutPart, Ending, Group, Partition, Summary, Totals};
use dmlcts_spec::Library;

use crate::{
    Analysis, Error, Header, Item, Reader, SummaryForm, UnknownName,
    analysis::{Lines, Witness},
    convert::Names,
    count::Count,
};

/// The maximum number of missing parts that a message names.
const MOST_NAMED: usize = 20;
/// The maximum number of bad ends of backends that the summary describes.
const MOST_BAD_ENDS: usize = 3;

/// The files of the parts of a run.
#[derive(Debug)]
pub struct RunFiles {
    readers: Vec<Reader>,
}

impl RunFiles {
    /// Opens the files, and checks that they are the parts of one run.
    ///
    /// # Errors
    ///
    /// A file cannot be read, the files are of different runs, or parts overlap or are missing.
    pub fn open(paths: &[String]) -> Result<Self, Error> {
        let readers: Vec<Reader> = paths.iter().map(|path| Reader::open(path)).collect::<Result<_, _>>()?;
        let Some((first, others)) = readers.split_first() else { return Ok(Self { readers }) };
        for other in others {
            let found = whole(first.header()).disagreements(&whole(other.header()));
            if !found.is_empty() {
                let what: Vec<String> =
                    found.iter().map(|one| one.describe("in the first", "in the second")).collect();
                let what = what.join("; ");
                return Err(Error::Different {
                    path: first.path().to_owned(),
                    other: other.path().to_owned(),
                    what,
                });
            }
        }
        check_parts(&readers)?;
        Ok(Self { readers })
    }

    /// The header of the whole run; `None` if there is no file.
    pub fn header(&self) -> Option<Header> {
        self.readers.first().map(|reader| whole(reader.header()))
    }

    /// Passes the lines of all cases to `take` in order, each with its line end, and returns what the run
    /// came to. `strategies` are those of the run. Without an `analysis`, it has no findings.
    ///
    /// # Errors
    ///
    /// A file cannot be read, two parts have the same case, a run was cut off, counts do not add up, or
    /// `take` fails.
    pub fn join(
        self,
        library: &'static Library,
        strategies: &[String],
        analysis: Option<Analysis<'_>>,
        take: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<Option<Diagnosis>, Error> {
        let mut parts: Vec<OpenPart> = self.readers.into_iter().map(OpenPart::new).collect();
        let Some(first) = parts.first().map(|part| &part.reader) else { return Ok(None) };
        let unknown = |cause| Error::UnknownName { path: first.path().to_owned(), cause };
        let level = first.header().feature_level().map_err(unknown)?;
        // A run of given cases looks for no predicates.
        let is_explained = first.header().selection.suite.is_some();
        let names = Names { library, strategies };
        let analysis = analysis.filter(|_| is_explained);
        let filter = first.header().selection.filter.clone();
        let mut lines = analysis.map(|analysis| Lines::new(analysis, names, level, filter.clone()));
        for part in &mut parts {
            part.advance(lines.as_ref())?;
        }
        while let Some((index, place)) = next(&parts) {
            let duplicate = parts.iter().skip(place + 1).find(|part| part.index == Some(index));
            if let Some(other) = duplicate {
                let (path, other) = (parts[place].reader.path().to_owned(), other.reader.path().to_owned());
                return Err(Error::Overlap { path, other, what: format!("both have case {index}") });
            }
            take(parts[place].reader.raw())?;
            let witness = std::mem::replace(&mut parts[place].witness, Witness::Nothing);
            if let Some(lines) = &mut lines {
                lines.add(index, witness);
            }
            parts[place].advance(lines.as_ref())?;
        }
        summarise(parts, (names, level), lines)
    }
}

/// The next case of all parts, and the first part that has it.
fn next(parts: &[OpenPart]) -> Option<(u64, usize)> {
    parts.iter().enumerate().filter_map(|(place, part)| Some((part.index?, place))).min()
}

/// The header of the run that a part belongs to.
fn whole(header: &Header) -> Header {
    let mut header = header.clone();
    if let Some(partition) = header.selection.partition.take() {
        header.command = header.command.replace(&format!(" --partition {partition}"), "");
    }
    header
}

/// Checks that there is one file for each part, or a single file of a whole run.
fn check_parts(readers: &[Reader]) -> Result<(), Error> {
    let overlap = |path: &Reader, other: &Reader, what: String| {
        Err(Error::Overlap { path: path.path().to_owned(), other: other.path().to_owned(), what })
    };
    for (place, reader) in readers.iter().enumerate() {
        let Some(part) = reader.header().selection.partition else {
            return match readers.iter().enumerate().find(|(other, _)| *other != place) {
                Some((_, other)) => overlap(reader, other, "the first one has the whole run".to_owned()),
                None => Ok(()),
            };
        };
        for other in &readers[..place] {
            let Some(others) = other.header().selection.partition else { continue };
            if others.of() != part.of() {
                return overlap(other, reader, format!("one is part {others}, the other part {part}"));
            }
            if others.part() == part.part() {
                return overlap(other, reader, format!("both are part {part}"));
            }
        }
    }
    let parts = || readers.iter().filter_map(|reader| reader.header().selection.partition);
    let Some(of) = parts().map(Partition::of).next() else { return Ok(()) };
    let there: std::collections::BTreeSet<u64> = parts().map(Partition::part).collect();
    let missing = of.saturating_sub(there.len() as u64);
    if missing == 0 {
        return Ok(());
    }
    let named: Vec<String> =
        (1..=of).filter(|part| !there.contains(part)).take(MOST_NAMED).map(|part| part.to_string()).collect();
    let further = missing - named.len() as u64;
    let missing = match named.as_slice() {
        [one] if further == 0 => format!("part {one} is missing"),
        [others @ .., last] if further == 0 => format!("parts {} and {last} are missing", others.join(", ")),
        _ => format!("parts {} and {further} more are missing", named.join(", ")),
    };
    Err(Error::Incomplete { of, missing })
}

/// A part that is being read.
struct OpenPart {
    reader: Reader,
    /// The index of the current case; `None` after the last one.
    index: Option<u64>,
    /// What its line says of it.
    witness: Witness,
    count: Count,
    summary: Option<SummaryForm>,
}

impl OpenPart {
    fn new(reader: Reader) -> Self {
        Self { reader, index: None, witness: Witness::Nothing, count: Count::default(), summary: None }
    }

    /// Reads the next case. With `lines`, also what explains failures.
    fn advance(&mut self, lines: Option<&Lines<'_>>) -> Result<(), Error> {
        self.index = None;
        while let Some(item) = self.reader.next()? {
            match item {
                Item::Case(case) => {
                    self.witness = lines.map_or(Witness::Nothing, |lines| lines.read(&case));
                    self.index = Some(case.index);
                    let counted = self.count.case(&case);
                    drop(case);
                    return counted.map_err(|cause| self.reader.wrong(cause));
                }
                Item::Summary(summary) => self.summary = Some(*summary),
                Item::Checkpoint(_) => {}
            }
        }
        Ok(())
    }
}

/// What parts that were read to the end came to.
fn summarise(
    parts: Vec<OpenPart>,
    (names, level): (Names<'_>, FeatureLevel),
    lines: Option<Lines<'_>>,
) -> Result<Option<Diagnosis>, Error> {
    let Names { library, strategies } = names;
    let Some(header) = parts.first().map(|part| part.reader.header().clone()) else { return Ok(None) };
    let path = parts[0].reader.path().to_owned();
    let unknown = |path: &str| {
        let path = path.to_owned();
        move |cause| Error::UnknownName { path, cause }
    };
    let mut all = Totals::new(library, strategies.len());
    let (mut found, mut ending, mut lost, mut abandoned) = (Vec::new(), Ending::Complete, None, Vec::new());
    let (mut read, mut cut, mut bad_ends) = (0, Vec::new(), Vec::new());
    let is_whole = parts.len() == 1;
    // Files of earlier versions have groups only.
    let (mut has_findings, mut found_causes) = (true, Vec::new());
    let mut left_out = LeftOut::default();
    for part in parts {
        let (path, partition) = (part.reader.path(), part.reader.header().selection.partition);
        let Some(summary) = part.summary else {
            let command = part.reader.header().command.clone();
            return Err(Error::CutOff { path: path.to_owned(), command });
        };
        let totals = summary.totals.totals(library, strategies).map_err(unknown(path))?;
        let counted = part.count.check("the summary", &summary.totals);
        counted.map_err(|cause| Error::Miscounted { path: path.to_owned(), cause })?;
        let own_read = totals.progress.read;
        read = read.max(own_read);
        all.found.others += totals.found.others;
        all.add(&totals);
        has_findings &= !summary.findings.is_empty() || totals.found.groups.is_empty();
        found_causes.extend(summary.findings);
        left_out.add(&summary.left_out);
        found.extend(totals.found.groups.into_iter().zip(summary.totals.groups));
        let own = summary.ending;
        ending = graver(ending, own);
        cut.extend(summary.cut);
        if let Some(partition) = partition.filter(|_| own != Ending::Complete) {
            cut.push(CutPart { partition, ending: own, read: own_read });
        }
        lost = lost.or(summary.lost);
        bad_ends.extend(summary.bad_end.map(|how| (partition, how)));
        abandoned.extend(summary.abandoned.into_iter().map(|(from, to)| from..to));
    }
    // Each part counts the cases of all parts as read.
    all.progress.read = read;
    if ending == Ending::Complete {
        all.next = read;
    }
    cut.sort_by_key(|part| part.partition.part());
    found.sort_by_key(|((found, _), _)| found.index);
    let firsts: Vec<(u64, Class)> = found.iter().map(|((found, _), _)| (found.index, found.class)).collect();
    let mut groups: Vec<Group> = Vec::new();
    for ((first, cases), form) in found {
        if all.found.add_many(first, cases) {
            groups.push(form.group(cases, level, names).map_err(unknown(&path))?);
        }
    }
    for (group, (first, cases)) in groups.iter_mut().zip(&all.found.groups) {
        (group.cases, group.again) = (*cases, first.again);
    }
    let own: Result<Vec<Finding>, _> = found_causes.iter().map(|form| form.finding(level, names)).collect();
    let own = own.map_err(unknown(&path))?;
    let findings = match lines {
        // The run itself knows more of its findings than its lines.
        Some(lines) if !is_whole || !has_findings || lines.keeps_ids() => {
            lines.findings(&groups, &firsts, &own)
        }
        _ if is_whole && has_findings => own,
        _ => Finding::of_groups(&groups),
    };
    let capabilities = header.backend.capabilities.capabilities();
    let capabilities = capabilities
        .map_err(|_| unknown(&path)(UnknownName::new("the backend", &header.backend.argument)))?;
    let summary = Summary {
        capabilities,
        level,
        cases: header.cases,
        strategies: all.by_strategy(strategies),
        recorded: all.recorded(library),
        totals: all,
        timings: None,
        groups,
        ending,
        abandoned,
        lost,
        bad_end: all_bad_ends(bad_ends),
        cut,
    };
    Ok(Some(Diagnosis { summary, findings, left_out, evidence: Duration::ZERO }))
}

/// The bad ends of backends that were asked to end. Each one is described once, with the first part that it
/// occurred in.
fn all_bad_ends(mut found: Vec<(Option<Partition>, String)>) -> Option<String> {
    found.sort_by_key(|(part, _)| part.map(Partition::part));
    let mut ways: Vec<(Option<Partition>, String, usize)> = Vec::new();
    for (part, how) in found {
        match ways.iter_mut().find(|(_, known, _)| *known == how) {
            Some((_, _, others)) => *others += 1,
            None => ways.push((part, how, 0)),
        }
    }
    let (described, left) = ways.split_at(ways.len().min(MOST_BAD_ENDS));
    let mut sentences: Vec<String> = described
        .iter()
        .map(|(part, how, others)| match part {
            None => how.clone(),
            Some(part) if *others == 0 => format!("in part {part}, {how}"),
            Some(part) => format!("in part {part} and {others} more, {how}"),
        })
        .collect();
    let left: usize = left.iter().map(|(_, _, others)| others + 1).sum();
    if left > 0 {
        sentences.push(format!("in {left} more, others did"));
    }
    Some(sentences.join("; ")).filter(|all| !all.is_empty())
}

/// The ending of a run that has parts with these endings: the more serious one.
fn graver(one: Ending, other: Ending) -> Ending {
    const BY_GRAVITY: [Ending; Ending::ALL.len()] = [
        Ending::Interrupted,
        Ending::BackendLost,
        Ending::NotRecorded,
        Ending::Hangs,
        Ending::MaxFailures,
        Ending::Timeout,
        Ending::Limit,
        Ending::Complete,
    ];
    BY_GRAVITY.into_iter().find(|ending| [one, other].contains(ending)).unwrap_or(one)
}
