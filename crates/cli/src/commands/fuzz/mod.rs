//! `dmlcts fuzz`: a campaign, which looks for findings without end and keeps each in a folder.
//!
//! It searches for a failure that no finding explains, with a run that ends there. Then it studies the
//! failure: a run of the cases from there on, which is explained. So what is found follows from cases and
//! answers, not from time.

mod status;

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::Arc,
    time::Instant,
};

use dmlcts_backend::process::Incidents;
use dmlcts_diagnose::{Diagnosis, EarlierFinding, Event, ExplainOptions};
use dmlcts_generate::{Suite, draw::derive};
use dmlcts_model::{Case, FeatureLevel, escaped};
use dmlcts_report::{Tone, command, counted, grouped};
use dmlcts_runner::{
    Applies, CaseSource, CauseKind, Class, Configuration, Cursor, Ending, Event as RunEvent, Factory, Group,
    KnownEntry, KnownFailure, KnownFailures, Run, Status, Stop, SuiteSource, Verdict,
};
use dmlcts_spec::{Library, Predicate};
use dmlcts_store::{
    Accepted, FailedCase, FailedCases, FindingFile, Folder, Position, PositionFile, Stored, add_run,
    regress_findings, sentences,
};

use self::status::CampaignStatus;
use super::run::{configuration, hosting};
use crate::{
    arguments::{FuzzArguments, Selection},
    backends, colour,
    exit::Exit,
    known::check_name,
    output,
    problem::Problem,
    selection::{load_suite, suite_problem},
    signals,
};

/// The number of cases that run to explain a failure, which is the first of them. They have some of every
/// kind, so that enough of them pass.
const STUDIED: u64 = 2_000;
/// The number of cases for explaining a finding: fewer than in `run`, since each crash among them costs a
/// process.
const EXPLAINED: usize = 500;
/// The number of cases that may hang while a failure is studied.
const HANGS: u64 = 3;

/// Runs a campaign until its time or its cases are over, or it is interrupted.
pub(crate) fn fuzz(arguments: &FuzzArguments, started: Instant) -> Result<Exit, Problem> {
    let run = arguments.of_suite.run(&arguments.suite);
    let (stop, begun) = signals::end_run();
    let deadline = arguments.time.and_then(|time| started.checked_add(time));
    let incidents = Incidents::default();
    let filter = run.selection.filter()?;
    let backend = backends::factory(&run.backend, &hosting(&run, deadline, &stop, &incidents))?;
    let suite = load_suite(&arguments.suite)?;
    let folder = Folder::new(&arguments.findings);
    let stored = folder.read_or_none(Library::embedded())?;
    let name = backends::name(&*backend, &run.backend)?;
    check_name(&folder, arguments.name.as_deref(), &name)?;
    let Some((file, last)) = PositionFile::open(&folder, arguments.of_suite.seed)? else {
        return Err(Problem::usage(
            format!("a campaign with seed {} runs on {}", arguments.of_suite.seed, arguments.findings),
            "wait for its end, or start one with another --seed beside it",
        ));
    };
    // The cases, except the seed: other ones begin anew.
    let (spec, filter_text) = (Library::embedded().short_hash(), arguments.of_suite.filter.as_deref());
    let of = format!("{} {} {spec} {}", suite.name(), suite.source().hash(), filter_text.unwrap_or_default());
    let goes_on = last.of == of;
    let position =
        if goes_on { Position { new: 0, known: 0, ..last } } else { Position { of, ..Position::default() } };
    output::note(&beginning(&folder, &stored, goes_on.then_some(&position)));
    begun.set();
    let configuration = Configuration { filter, deadline, incidents, ..configuration(&run) };
    let mut campaign = Campaign {
        arguments,
        selection: &run.selection,
        backend,
        configuration,
        stop,
        folder,
        before: stored.iter().map(|one| one.file.finding.clone()).collect(),
        flaky: stored.iter().filter(|one| one.file.flaky).filter_map(kind_of).collect(),
        stored,
        failed: BTreeMap::new(),
        status: CampaignStatus::new(file, position),
    };
    let ended = campaign.laps(&suite);
    // A worker that was left behind may have a process that hangs.
    dmlcts_backend::process::end_all();
    let written = campaign.status.write();
    let ending = ended?;
    written?;
    campaign.finish(ending)
}

/// What a campaign begins with.
fn beginning(folder: &Folder, stored: &[Stored], position: Option<&Position>) -> String {
    let path = folder.path().display();
    let findings = match stored.len() as u64 {
        0 => format!("{path} has no finding yet"),
        count => format!("{path} has {}", counted(count, "finding")),
    };
    match position {
        Some(position) => {
            format!("{findings}; the campaign goes on after {}", counted(position.cases, "case"))
        }
        None => format!("{findings}; a new campaign begins"),
    }
}

/// The operator and the class of failures.
type Cause = (String, Class);

/// The operator and the worst class of a finding.
fn kind_of(stored: &Stored) -> Option<Cause> {
    let smallest = stored.entry.cases().first()?;
    Some((operator(smallest), *stored.entry.failure().classes.first()?))
}

/// An entry that expects all failures of an operator in a class. `None` if there is no such operator or
/// class.
fn every(operator: &str, class: &str) -> Option<KnownEntry> {
    let class = Class::from_id(class)?;
    let predicate = Predicate::parse(&format!("operator == {operator}"), Library::embedded()).ok()?;
    let failure = KnownFailure {
        file: String::new(),
        id: format!("unexplained-{}-{}", operator.to_lowercase(), class.id()),
        cases: operator.to_owned(),
        classes: vec![class],
        status: Status::Known,
        kind: CauseKind::of(class),
        is_partial: true,
        is_flaky: false,
        reason: String::new(),
        link: None,
    };
    Some(KnownEntry::new(failure, Applies::default(), Some(predicate), Vec::new()))
}

fn operator(case: &Case) -> String {
    case.desc.signature.operator.clone()
}

struct Campaign<'a> {
    arguments: &'a FuzzArguments,
    selection: &'a Selection,
    backend: Arc<Factory>,
    configuration: Configuration,
    /// The switch of the command. Each run has one of its own, which only an interrupt shares.
    stop: Stop,
    folder: Folder,
    /// The findings of the folder.
    stored: Vec<Stored>,
    /// The ids that the folder had when the campaign began.
    before: BTreeSet<String>,
    /// The flakes that are known. More of the same kind are only counted.
    flaky: BTreeSet<Cause>,
    /// The number of failures of each finding of the folder.
    failed: BTreeMap<String, u64>,
    status: CampaignStatus,
}

impl Campaign<'_> {
    /// Runs laps of the suite. Returns why the campaign ended.
    fn laps(&mut self, suite: &Suite) -> Result<Ending, Problem> {
        loop {
            let seed = match self.status.position.lap {
                0 => self.arguments.of_suite.seed,
                lap => derive(self.arguments.of_suite.seed, &format!("lap {lap}")),
            };
            let expansion = suite.expand(Library::embedded(), seed);
            let expansion = expansion.map_err(|error| suite_problem(&self.arguments.suite, error))?;
            let parts = Arc::new(SuiteSource::new(expansion, &[]));
            let cases = self.status.position.cases;
            let begins = self.status.position.next == 0;
            if let Some(ending) = self.lap(&parts)? {
                return Ok(ending);
            }
            if begins && self.status.position.cases == cases {
                return Err(self.selection.nothing(parts.count().unwrap_or(u64::MAX)));
            }
            let position = &mut self.status.position;
            (position.lap, position.next) = (position.lap + 1, 0);
            position.unexplained.clear();
        }
    }

    /// Runs the rest of a lap. Returns why the campaign ends, if it does.
    fn lap(&mut self, parts: &Arc<SuiteSource>) -> Result<Option<Ending>, Problem> {
        let end = parts.count().unwrap_or(u64::MAX);
        while self.status.position.next < end {
            if self.status.left(self.arguments.limit) == Some(0) {
                return Ok(Some(Ending::Limit));
            }
            let from = self.status.position.next;
            let found = self.search(parts, from..end)?;
            let next = from + found.summary.totals.next;
            let ending = match found.summary.ending {
                Ending::MaxFailures => self.meet(parts, &found, next..end)?,
                ending => {
                    self.status.position.next = next;
                    Some(ending).filter(|ending| *ending != Ending::Complete)
                }
            };
            self.status.write()?;
            if ending.is_some() {
                return Ok(ending);
            }
        }
        Ok(None)
    }

    /// Runs cases up to a failure that no finding explains.
    fn search(&mut self, parts: &Arc<SuiteSource>, cases: Range<u64>) -> Result<Diagnosis, Problem> {
        let limit = self.status.left(self.arguments.limit);
        // A fixed one that fails again is told by its own name.
        let fixed = self.stored.iter().filter(|one| one.file.status == Status::Fixed);
        let known = self.known().chain(fixed.map(|one| one.entry.clone())).collect();
        let known = KnownFailures::new(known);
        let configuration =
            Configuration { max_failures: Some(1), limit, known, ..self.configuration.clone() };
        self.run(parts, cases, configuration, &ExplainOptions::NONE, &mut |_| ())
    }

    /// Writes down the failure that a search ended at, studies it and goes on behind it. `rest` are the
    /// cases behind it.
    fn meet(
        &mut self,
        parts: &Arc<SuiteSource>,
        found: &Diagnosis,
        rest: Range<u64>,
    ) -> Result<Option<Ending>, Problem> {
        let groups = &found.summary.groups;
        let first = rest.start - 1;
        self.status.position.next = first;
        let Some(group) = groups.last() else {
            self.status.position.next = rest.start;
            return Ok(None);
        };
        if let Some(again) = self.regress(found)? {
            self.show(&again)?;
            return Ok(self.arguments.until_first.then_some(Ending::MaxFailures));
        }
        let cause = (operator(&group.first.case), group.first.class);
        let is_flake = group.first.verdict == Verdict::Flake;
        if is_flake && self.flaky.contains(&cause) {
            self.status.flakes += 1;
            self.status.position.next = rest.start;
            return Ok(None);
        }
        // It is in the folder before it is studied.
        let failed: Vec<FailedCase> = groups.iter().map(failed_case).collect();
        let added =
            if self.has_list(&cause) && !is_flake { Accepted::default() } else { self.add(found, &failed)? };
        if is_flake {
            self.show(&added)?;
            self.flaky.insert(cause);
            self.status.position.next = rest.start;
            return Ok(self.arguments.until_first.then_some(Ending::MaxFailures));
        }
        let (mut studied, failed) = self.study(parts, first..rest.end.min(first + STUDIED))?;
        let new: Vec<String> = added.changes.iter().map(|change| change.id.clone()).collect();
        // There is one list of cases for each cause.
        studied.findings.retain(|finding| {
            let cause = (operator(&finding.first.case), finding.class);
            finding.rule.is_some() || new.contains(&finding.id) || !self.has_list(&cause)
        });
        let explained = self.add(&studied, &failed.0)?;
        let refused: Vec<String> = explained.refused.iter().map(|refused| refused.id.clone()).collect();
        self.show(&since(added, explained))?;
        let ending = studied.summary.ending;
        if matches!(ending, Ending::Timeout | Ending::Interrupted | Ending::BackendLost) {
            // The next command studies it again.
            let ids = studied.findings.into_iter().map(|finding| finding.id).chain(new);
            self.status.position.unfinished = ids.collect();
            self.status.position.next = first;
            return Ok(Some(ending));
        }
        self.status.position.unfinished.clear();
        for finding in &studied.findings {
            let is_refused = refused.contains(&finding.id);
            self.tolerate_unexplained(&(operator(&finding.first.case), finding.class), is_refused);
        }
        self.tolerate_unexplained(&cause, cause.1 == Class::TimedOut);
        self.status.position.next = first + studied.summary.totals.next.max(1);
        Ok(self.arguments.until_first.then_some(Ending::MaxFailures))
    }

    /// Runs the cases from a failure on, and explains what no finding of the folder explains.
    fn study(
        &mut self,
        parts: &Arc<SuiteSource>,
        cases: Range<u64>,
    ) -> Result<(Diagnosis, FailedCases), Problem> {
        let known = KnownFailures::new(self.known().collect());
        let is_other = |one: &&Stored| known.failures().all(|failure| failure.id != one.file.finding);
        let stored =
            self.stored.iter().filter(is_other).map(|one| EarlierFinding::of_known(&one.entry)).collect();
        let explaining =
            ExplainOptions { cases: Some(EXPLAINED), shrink: true, limits_time: false, earlier: stored };
        let configuration =
            Configuration { record: true, max_hangs: Some(HANGS), known, ..self.configuration.clone() };
        let mut failed = FailedCases::default();
        let started = Instant::now();
        let studied =
            self.run(parts, cases, configuration, &explaining, &mut |event| failed.on_event(event))?;
        self.status.studied += started.elapsed();
        Ok((studied, failed))
    }

    fn run(
        &mut self,
        parts: &Arc<SuiteSource>,
        cases: Range<u64>,
        configuration: Configuration,
        explaining: &ExplainOptions,
        tell: &mut dyn FnMut(&RunEvent<'_>),
    ) -> Result<Diagnosis, Problem> {
        let run = Run {
            library: Library::embedded(),
            source: Arc::new(Stretch { parts: Arc::clone(parts), cases }),
            backend: Arc::clone(&self.backend),
            configuration,
            stop: self.stop.of_next_run(),
        };
        let status = &mut self.status;
        let start = (status.position.cases, status.position.next);
        let mut written = Ok(());
        let mut level = FeatureLevel::NEWEST;
        let ended = dmlcts_diagnose::run(&run, explaining, &mut |event| {
            let Event::Run(event) = &event else { return };
            tell(event);
            match event {
                RunEvent::Started { level: of_run, .. } => level = *of_run,
                RunEvent::Progress(totals) if written.is_ok() => {
                    let searched = if explaining.shrink { 0 } else { totals.progress.read };
                    let at = (start.0 + totals.progress.ran, start.1 + searched);
                    written = status.tick(at, &totals.coverage, level);
                    if written.is_err() {
                        run.stop.request(Ending::NotRecorded);
                    }
                }
                _ => {}
            }
        });
        let diagnosis =
            ended.map_err(|error| Problem::start(error, &self.arguments.of_suite.backend.backend))?;
        self.status.position.cases = start.0 + diagnosis.summary.totals.progress.ran;
        self.status.cover(&diagnosis.summary.totals.coverage, level);
        for tally in &diagnosis.summary.totals.known {
            *self.failed.entry(tally.entry.id.clone()).or_default() += tally.counts.as_expected;
        }
        self.count();
        written.map(|()| diagnosis)
    }

    /// What is no new finding: what the folder explains, and kinds of failures that nothing explains.
    fn known(&self) -> impl Iterator<Item = KnownEntry> + '_ {
        let unfinished = &self.status.position.unfinished;
        let explains = |file: &FindingFile| match file.status {
            Status::Known => true,
            Status::New => (file.filter.is_some() || file.flaky) && !unfinished.contains(&file.finding),
            Status::Fixed => false,
        };
        let of_folder = self.stored.iter().filter(move |one| explains(&one.file));
        of_folder.map(|one| one.entry.clone().tolerated()).chain(self.unexplained())
    }

    /// Makes the findings new that were fixed, and that a search met again. `None` if it met none.
    fn regress(&mut self, found: &Diagnosis) -> Result<Option<Accepted>, Problem> {
        let again = found
            .summary
            .totals
            .known
            .iter()
            .filter(|tally| tally.entry.status == Status::Fixed && tally.counts.as_expected > 0);
        let ids: Vec<String> = again.map(|tally| tally.entry.id.clone()).collect();
        if ids.is_empty() {
            return Ok(None);
        }
        let again = regress_findings(&self.folder, &ids)?;
        self.stored = self.folder.read(Library::embedded())?;
        self.count();
        Ok(Some(again))
    }

    /// Writes what a run found into the folder, and reads the folder again.
    fn add(&mut self, run: &Diagnosis, failed: &[FailedCase]) -> Result<Accepted, Problem> {
        let added = add_run(&self.folder, run, failed)?;
        self.stored = self.folder.read(Library::embedded())?;
        let unexpected = added.changes.iter().filter(|change| change.file.status == Status::New);
        for change in unexpected {
            if !self.before.contains(&change.id) {
                self.status.found();
            }
            *self.failed.entry(change.id.clone()).or_default() += 1;
        }
        self.count();
        Ok(added)
    }

    /// Counts the findings that failed.
    fn count(&mut self) {
        let [new, known] = self.failing().map(|findings| findings.len() as u64);
        (self.status.position.new, self.status.position.known) = (new, known);
    }

    /// The findings that failed: the new ones and the known ones.
    fn failing(&self) -> [Vec<&Stored>; 2] {
        let fails = |one: &&Stored| self.failed.get(&one.file.finding).is_some_and(|count| *count > 0);
        let (new, known) = self.stored.iter().filter(fails).partition(|one| one.file.status == Status::New);
        [new, known]
    }

    /// The failures that no predicate separates.
    fn unexplained(&self) -> impl Iterator<Item = KnownEntry> + '_ {
        self.status.position.unexplained.iter().filter_map(|(operator, class)| every(operator, class))
    }

    /// Whether a new finding lists cases of a cause.
    fn has_list(&self, cause: &Cause) -> bool {
        let is_listed =
            |one: &Stored| one.file.filter.is_none() && !one.file.flaky && one.file.status == Status::New;
        self.stored.iter().any(|one| is_listed(one) && kind_of(one).as_ref() == Some(cause))
    }

    /// Expects all failures of a kind for the rest of the lap, if a finding of the kind has no predicate, or
    /// cannot be in a folder.
    fn tolerate_unexplained(&mut self, cause: &Cause, is_refused: bool) {
        let has_file = self.has_list(cause);
        let unexplained = &mut self.status.position.unexplained;
        let cause = (cause.0.clone(), cause.1.id().to_owned());
        if (has_file || is_refused) && !unexplained.contains(&cause) {
            unexplained.push(cause);
        }
    }

    /// Shows what was written.
    fn show(&mut self, added: &Accepted) -> Result<(), Problem> {
        self.status.clear();
        let style = colour::style();
        output::write(|out| {
            for change in &added.changes {
                let text = sentences(self.folder.path(), std::slice::from_ref(change));
                for (place, line) in text.lines().enumerate() {
                    let tone = if place == 0 { Tone::Strong } else { Tone::Plain };
                    writeln!(out, "{}", style.paint(tone, style.wrap(10, line)))?;
                }
                writeln!(out, "          {}", escaped(&change.file.smallest))?;
            }
            for refused in &added.refused {
                writeln!(out, "left out  {}: {}", escaped(&refused.id), escaped(&refused.why))?;
            }
            Ok(())
        })
    }

    /// Sums up the campaign.
    fn finish(&mut self, ending: Ending) -> Result<Exit, Problem> {
        self.status.clear();
        let [new, known] = self.failing();
        let fresh = new.iter().filter(|one| !self.before.contains(&one.file.finding)).count();
        output::write(|out| {
            writeln!(out, "{}", self.status.sentence())?;
            let fail = match (new.len() + known.len()) as u64 {
                0 => "no finding fails".to_owned(),
                1 => "1 finding fails".to_owned(),
                count => format!("{} findings fail", grouped(count)),
            };
            writeln!(
                out,
                "{fail}: {} new, {} of them since the start; {} known; {}",
                grouped(new.len() as u64),
                grouped(fresh as u64),
                grouped(known.len() as u64),
                counted(self.status.flakes, "further flake"),
            )?;
            for entry in self.unexplained() {
                let failure = entry.failure();
                let count = self.failed.get(&failure.id).copied().unwrap_or_default();
                if count == 0 {
                    continue;
                }
                let (operator, class) = (&failure.cases, failure.class_ids());
                writeln!(
                    out,
                    "no predicate separates the failures of {operator} as {class}: {} more were not examined",
                    grouped(count)
                )?;
            }
            if !new.is_empty() {
                let path = self.folder.path().display().to_string();
                let list = command(&["dmlcts", "findings", &path]);
                writeln!(out, "`{list}` lists them; `status: known` in its file accepts one")?;
            }
            Ok(())
        })?;
        if self.status.is_idle() && ending == Ending::Timeout {
            return Err(Problem::usage(
                "the time was up before a case ran",
                "give the campaign more time by --time",
            ));
        }
        let unexpected = if self.arguments.new_only { fresh } else { new.len() };
        Ok(match ending {
            Ending::Interrupted => Exit::Interrupted,
            Ending::BackendLost | Ending::NotRecorded | Ending::Hangs => Exit::Broken,
            _ if unexpected > 0 => Exit::Unexpected,
            _ => Exit::Success,
        })
    }
}

/// What became of the folder since a failure was met: `first` when it was written down, and `then` when it
/// was explained.
fn since(first: Accepted, then: Accepted) -> Accepted {
    let mut all = then;
    for change in first.changes {
        match all.changes.iter_mut().find(|one| one.id == change.id) {
            Some(one) => one.what = change.what,
            None => all.changes.push(change),
        }
    }
    all
}

/// The first case of a group, as a failed case of a run.
fn failed_case(group: &Group) -> FailedCase {
    let first = &group.first;
    FailedCase {
        line: first.case.to_string(),
        verdict: first.verdict,
        class: first.class,
        outcome: first.outcome.clone(),
        known: None,
    }
}

/// Some cases of a suite in a row.
struct Stretch {
    parts: Arc<SuiteSource>,
    cases: Range<u64>,
}

impl CaseSource for Stretch {
    fn count(&self) -> Option<u64> {
        Some(self.cases.end - self.cases.start)
    }

    fn strategies(&self) -> Vec<String> {
        self.parts.strategies()
    }

    fn cursor(&self) -> Box<dyn Cursor + '_> {
        Box::new(StretchCursor { parts: self.parts.cursor(), start: self.cases.start })
    }
}

struct StretchCursor<'a> {
    parts: Box<dyn Cursor + 'a>,
    start: u64,
}

impl Cursor for StretchCursor<'_> {
    fn read(&mut self, index: u64, case: &mut Case) -> usize {
        self.parts.read(self.start + index, case)
    }
}
