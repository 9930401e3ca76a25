//! The mutation score of the specs: would the suites notice if an expression were wrong?
//!
//! Each *change* replaces or leaves out one part of an expression, a row of support or a question. The right
//! specs make the cases of `smoke` and `ci`, and the changed specs judge them. A change is *noticed* if a
//! verdict changes. The reference answers the valid and the invalid cases. For open cases, a backend gives
//! each answer that either specs allow, and the other specs judge it. Notes and rules of bindings decide no
//! verdict, so the given [`lines`] test them. The loader *refuses* some changes, because it tries small axes
//! and the pages' examples.
//!
//! A change that no case notices fails the tests, unless the list [`EQUIVALENT`] proves that it changes no
//! verdict.

mod changes;
mod equivalent;
mod expressions;
mod lines;
mod tree;
mod witness;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use dmlcts_model::FeatureLevel;
use dmlcts_runner::SuiteSource;
use dmlcts_spec::{Library, Operator};

use changes::{Change, Files, Kind};
use equivalent::EQUIVALENT;
use witness::Cases;

/// The result of testing a change.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Fate {
    /// The changed specs do not load.
    Refused,
    /// A case notices the change. The text has the case.
    Noticed(String),
    /// No case notices the change.
    Survived,
}

/// The operators of a library, and a level.
type Part = (Vec<&'static str>, FeatureLevel);

/// A suite, and its cases for each part.
struct Judges {
    name: &'static str,
    suite: OnceLock<Arc<SuiteSource>>,
    cases: Mutex<BTreeMap<Part, Arc<Cases>>>,
}

impl Judges {
    fn new(name: &'static str) -> Self {
        Self { name, suite: OnceLock::new(), cases: Mutex::default() }
    }

    /// The cases of a library's operators. The first call makes them.
    fn cases(&self, library: &'static Library, level: FeatureLevel) -> Arc<Cases> {
        let operators: Vec<&'static str> = library.operators().iter().map(Operator::name).collect();
        let suite = self.suite.get_or_init(|| witness::suite(self.name));
        let mut all = self.cases.lock().expect("no thread panicked");
        let make = || Arc::new(Cases::new(suite, &operators, level));
        Arc::clone(all.entry((operators.clone(), level)).or_insert_with(make))
    }

    /// The first case whose verdict changes, at any level for a change of levels, or else at the newest
    /// level.
    fn notice(&self, library: &'static Library, is_of_levels: bool) -> Option<String> {
        let levels = if is_of_levels { FeatureLevel::all() } else { &[FeatureLevel::NEWEST] };
        levels.iter().rev().find_map(|&level| self.cases(library, level).notice(library))
    }
}

fn fate(files: &Files, change: &Change, suites: &[Judges]) -> Fate {
    let Ok(library) = files.load(change) else { return Fate::Refused };
    if let Some(line) = lines::notice(&library) {
        return Fate::Noticed(line);
    }
    // A run needs specs that live as long as the program.
    let library: &'static Library = Box::leak(Box::new(library));
    let case = suites.iter().find_map(|suite| suite.notice(library, change.kind == Kind::Support));
    case.map_or(Fate::Survived, Fate::Noticed)
}

/// The fates of changes, found on a thread for each processor.
fn fates(files: &Files, changes: &[&Change]) -> Vec<Fate> {
    let suites = ["smoke", "ci"].map(Judges::new);
    let (next, fates) = (AtomicUsize::new(0), Mutex::new(vec![Fate::Survived; changes.len()]));
    let work = || {
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(change) = changes.get(place) else { break };
            let fate = fate(files, change, &suites);
            fates.lock().expect("no thread panicked")[place] = fate;
        }
    };
    thread::scope(|scope| {
        (0..thread::available_parallelism().map_or(1, usize::from)).for_each(|_| {
            scope.spawn(work);
        });
    });
    fates.into_inner().expect("no thread panicked")
}

/// Prints the score of these changes, and fails if the survivors differ from the list of equivalent changes.
fn check(files: &Files, changes: &[&Change]) {
    let fates = fates(files, changes);
    let of = |kind: Kind| changes.iter().zip(&fates).filter(move |(change, _)| change.kind == kind);
    for kind in Kind::ALL {
        let count = |is: fn(&Fate) -> bool| of(kind).filter(|(_, fate)| is(fate)).count();
        let [refused, noticed, survived] = [
            count(|fate| *fate == Fate::Refused),
            count(|fate| matches!(fate, Fate::Noticed(_))),
            count(|fate| *fate == Fate::Survived),
        ];
        println!("{:20} {noticed:5} noticed {refused:5} refused {survived:5} survived", kind.id());
    }
    let proven = |change: &Change| EQUIVALENT.iter().any(|(text, _)| *text == change.to_string());
    let (mut mistakes, mut equivalent) = (Vec::new(), 0);
    for (change, fate) in changes.iter().zip(&fates) {
        match fate {
            Fate::Survived if proven(change) => equivalent += 1,
            Fate::Survived => mistakes.push(format!("no case notices: {change}")),
            Fate::Noticed(case) if proven(change) => {
                mistakes.push(format!("listed as equivalent, but noticed: {change}\n    by {case}"));
            }
            Fate::Refused if proven(change) => {
                mistakes.push(format!("listed as equivalent, but refused by the loader: {change}"));
            }
            Fate::Noticed(_) | Fate::Refused => {}
        }
    }
    println!(
        "spec: {} of {} changes are noticed, {equivalent} are proven equivalent, {} are refused by the loader",
        fates.iter().filter(|fate| matches!(fate, Fate::Noticed(_))).count(),
        changes.len(),
        fates.iter().filter(|fate| **fate == Fate::Refused).count(),
    );
    assert!(
        mistakes.is_empty(),
        "{} changes: add a case to a suite, or a proof to the list of equivalent changes:\n{}",
        mistakes.len(),
        mistakes.join("\n")
    );
}

#[test]
#[ignore = "takes minutes; .ci/nightly runs it"]
fn the_suites_notice_every_change_of_the_specs() {
    let files = Files::embedded();
    let changes = files.changes();
    check(&files, &changes.iter().collect::<Vec<_>>());
}

/// A sample of the changes, spread over all files.
#[test]
fn the_suites_notice_a_sample_of_changes() {
    const SAMPLE: usize = 20;
    let files = Files::embedded();
    let changes = files.changes();
    let step = changes.len() / SAMPLE;
    check(&files, &changes.iter().skip(step / 2).step_by(step).collect::<Vec<_>>());
}

#[test]
fn every_equivalent_change_is_a_change() {
    let texts: BTreeSet<String> = Files::embedded().changes().iter().map(ToString::to_string).collect();
    let listed: BTreeSet<&str> = EQUIVALENT.iter().map(|(text, _)| *text).collect();
    assert_eq!(listed.len(), EQUIVALENT.len(), "a change is listed twice");
    let unknown: Vec<&&str> = listed.iter().filter(|text| !texts.contains(**text)).collect();
    assert!(unknown.is_empty(), "the specs have no such changes: remove them from the list: {unknown:#?}");
}

/// The right specs change no verdict, so that each changed verdict is due to a change of the specs.
#[test]
fn the_right_specs_change_no_verdict() {
    let library = Library::embedded();
    assert_eq!(lines::notice(library), None);
    assert_eq!(Judges::new("smoke").notice(library, false), None);
}
