//! Findings of earlier runs and entries of lists, whose ids and predicates a run keeps.

use dmlcts_diagnose::{EarlierFinding, ExplainOptions, Finding};
use dmlcts_generate::Suite;
use dmlcts_model::ErrorCode;
use dmlcts_runner::{
    Applies, BoundsForm, CauseKind, Class, Configuration, KnownEntry, KnownFailure, KnownFailures, Run,
    Status, Stop, SuiteSource,
};
use dmlcts_spec::{Library, Predicate, Validity};

use crate::fixture::*;

/// Cases of SLICE that no suite has.
const OF_RANK_SEVEN: &str = "SLICE FLOAT32 in=1,1,1,1,1,1,2 out=1,1,1,1,1,1,1 Offsets=0,0,0,0,0,0,1 \
                             Sizes=1,1,1,1,1,1,1 Strides=1,1,1,1,1,1,1 fill=iota";
const OF_RANK_EIGHT: &str = "SLICE FLOAT32 in=1,1,1,1,1,1,1,2 out=1,1,1,1,1,1,1,1 Offsets=0,0,0,0,0,0,0,1 \
                             Sizes=1,1,1,1,1,1,1,1 Strides=1,1,1,1,1,1,1,1 fill=iota";
const OF_RANK_ONE: &str = "SLICE FLOAT32 in=2 out=1 Offsets=1 Sizes=1 Strides=1 fill=iota";

const REFUSED: Class = Class::RefusedValid;

/// The findings of SLICE in `smoke` on a backend that refuses these ranks.
fn findings(
    ranks: &'static [usize],
    explain: usize,
    earlier: Vec<EarlierFinding>,
    known: KnownFailures,
) -> Vec<Finding> {
    let backend = spoiling(|job, _| {
        if job.desc.signature.operator == "SLICE" && ranks.contains(&job.desc.rank()) {
            refuse(job, ErrorCode::INVALID_ARGUMENT);
        }
    });
    let library = Library::embedded();
    let cases = Suite::load("smoke").and_then(|suite| suite.expand(library, 0)).expect("it expands");
    let filter = dmlcts_spec::Predicate::parse("operator == SLICE", library).expect("a predicate");
    let configuration =
        Configuration { filter: Some(std::sync::Arc::new(filter)), known, ..Configuration::default() };
    let source = std::sync::Arc::new(SuiteSource::new(cases, &[]));
    let run = Run { library, source, backend, configuration, stop: Stop::default() };
    let explaining = ExplainOptions { cases: Some(explain), earlier, ..ExplainOptions::NONE };
    dmlcts_diagnose::run(&run, &explaining, &mut |_| {}).expect("the backend starts").findings
}

const EXPERIMENTS: usize = ExplainOptions::USUAL_CASES;

fn earlier(id: &str, predicate: Option<&str>, case_line: &str, count: u64) -> EarlierFinding {
    EarlierFinding {
        id: id.to_owned(),
        classes: vec![REFUSED],
        predicate: predicate
            .map(|text| Predicate::parse(text, Library::embedded()).expect("it is a predicate")),
        validity: predicate.map(|_| Validity::Valid),
        cases: vec![case(case_line)],
        count,
        fresh: None,
    }
}

/// The ids and predicates.
fn named(findings: &[Finding]) -> Vec<(&str, &str)> {
    let predicate =
        |finding: &Finding| finding.rule.as_ref().map_or("", |rule| rule.predicate.text()).to_owned();
    findings.iter().map(|finding| (finding.id.as_str(), &*predicate(finding).leak())).collect()
}

#[test]
fn a_case_outside_the_suite_runs_again() {
    let old = || vec![earlier("old", None, OF_RANK_SEVEN, 1)];
    let of = |earlier, explain| findings(&[7], explain, earlier, KnownFailures::default());
    let new = of(Vec::new(), EXPERIMENTS);
    assert_eq!(named(&of(old(), EXPERIMENTS)), [("old", "operator == SLICE and rank == 7")]);
    let unknown = of(old(), 0);
    assert_eq!(named(&unknown), named(&new), "without experiments, only the suite's cases tell");
}

#[test]
fn a_case_that_passes_or_fails_in_another_way_keeps_no_id() {
    let passes = earlier("passes", None, OF_RANK_ONE, 1);
    let other = EarlierFinding { classes: vec![Class::Failed], ..earlier("other", None, OF_RANK_SEVEN, 1) };
    let found = findings(&[7], EXPERIMENTS, vec![passes, other], KnownFailures::default());
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].has_new_id(), "{}", found[0].id);
}

#[test]
fn an_exact_predicate_is_kept_word_for_word() {
    let words = "(7 == rank) and operator == SLICE";
    let wide = "operator == SLICE and rank > 6";
    let narrow = "operator == SLICE and rank == 7 and InputTensor.DataType == FLOAT32";
    let with = |words: &'static str, explain| {
        let found = findings(
            &[7],
            explain,
            vec![earlier("old", Some(words), OF_RANK_SEVEN, 1)],
            KnownFailures::default(),
        );
        assert_eq!(found.len(), 1, "{words}: {found:?}");
        found[0].rule.clone().unwrap_or_else(|| panic!("{words}"))
    };
    for explain in [EXPERIMENTS, 0] {
        let kept = with(words, explain);
        assert_eq!((kept.predicate.text(), kept.is_exact, kept.passes), (words, true, 0));
        assert_eq!(kept.estimate.is_some_and(|fresh| fresh.cases() > 100 && fresh.wrong() == 0), explain > 0);
        // It holds for passes of rank 8, or for a part of the failures.
        assert_eq!(with(wide, explain).predicate.text(), "operator == SLICE and rank == 7");
        assert_eq!(with(narrow, explain).predicate.text(), "operator == SLICE and rank == 7");
    }
}

/// Accepted findings have no case beside their predicate.
#[test]
fn an_accepted_finding_is_kept_beside_one_without_a_predicate() {
    let new = findings(&[1, 7], EXPERIMENTS, Vec::new(), KnownFailures::default());
    let count = |rank: &str| {
        let of_rank = |found: &&Finding| named(std::slice::from_ref(*found))[0].1.ends_with(rank);
        new.iter().find(of_rank).unwrap_or_else(|| panic!("{rank}: {new:?}")).cases
    };
    let words = "operator == SLICE and (7 == rank)";
    let of = |of_rank_one: u64| {
        let accepted = earlier("accepted", Some(words), OF_RANK_SEVEN, count("rank == 7"));
        let accepted = EarlierFinding { cases: Vec::new(), ..accepted };
        let listed = earlier("listed", None, OF_RANK_ONE, of_rank_one);
        let found = findings(&[1, 7], EXPERIMENTS, vec![accepted, listed], KnownFailures::default());
        let mut named = named(&found);
        named.sort_unstable();
        named.into_iter().map(|(id, predicate)| (id.to_owned(), predicate.to_owned())).collect::<Vec<_>>()
    };
    let one = |id: &str, predicate: &str| (id.to_owned(), predicate.to_owned());
    let ones = count("rank == 1");
    assert_eq!(of(ones), [one("accepted", words), one("listed", "")]);
    // Another number of failures is a change: they are learned again.
    assert_eq!(of(ones + 1)[1], one("listed", "operator == SLICE and rank == 1"));
}

#[test]
fn no_two_findings_have_one_id() {
    let found = findings(
        &[1, 7],
        EXPERIMENTS,
        vec![earlier("old", None, OF_RANK_SEVEN, 1), earlier("old", None, OF_RANK_ONE, 1)],
        KnownFailures::default(),
    );
    let ids: Vec<&str> = found.iter().map(|finding| finding.id.as_str()).collect();
    assert_eq!(ids.iter().filter(|id| **id == "old").count(), 1, "{ids:?}");
    assert_eq!(ids[0], "old", "the larger one comes first: {ids:?}");
}

/// Two findings of an earlier run, which one predicate covers now.
#[test]
fn a_merged_finding_has_the_id_with_more_cases() {
    let few = earlier("few", Some("operator == SLICE and rank == 1"), OF_RANK_ONE, 3);
    let many = earlier("many", Some("operator == SLICE and rank == 7"), OF_RANK_SEVEN, 30);
    let all = findings(
        &[1, 2, 3, 4, 5, 6, 7, 8],
        EXPERIMENTS,
        vec![few.clone(), many.clone()],
        KnownFailures::default(),
    );
    assert_eq!(all.iter().map(|finding| &*finding.id).collect::<Vec<_>>(), ["many"], "{all:?}");
    // The earlier predicates separate the failures of two causes, and the finding of one takes both apart.
    let two = findings(&[1, 7], EXPERIMENTS, vec![few, many], KnownFailures::default());
    let mut ids = named(&two);
    ids.sort_unstable();
    assert_eq!(ids.iter().map(|(id, _)| *id).collect::<Vec<_>>(), ["few", "many"], "{ids:?}");
}

/// A known failure that refuses these cases.
fn list(filter: Option<&str>, lines: &[&str], below: Option<&str>) -> KnownFailures {
    let failure = KnownFailure {
        file: "of-the-list.yaml".to_owned(),
        id: "of-the-list".to_owned(),
        cases: filter.unwrap_or_default().to_owned(),
        classes: vec![REFUSED],
        status: Status::Known,
        kind: CauseKind::Bug,
        is_partial: false,
        is_flaky: false,
        reason: "It refuses.".to_owned(),
        link: None,
    };
    let version = below.map(|below| BoundsForm { from: None, below: Some(below.to_owned()) });
    let applies = Applies { version, ..Applies::default() };
    let predicate = filter.map(|text| Predicate::parse(text, Library::embedded()).expect("it is right"));
    let cases = lines.iter().map(|line| case(line)).collect();
    KnownFailures::new(vec![KnownEntry::new(failure, applies, predicate, cases)])
}

#[test]
fn a_known_failure_of_another_version_keeps_its_id_and_its_words() {
    let of = |filter| list(Some(filter), &[OF_RANK_SEVEN], Some("0.0.1"));
    let found = findings(&[7], 0, Vec::new(), of("rank == 7 and operator == SLICE"));
    assert_eq!(named(&found), [("of-the-list", "rank == 7 and operator == SLICE")]);
    // The first failure for which this holds belongs to the finding, but the predicate is too narrow.
    let found = findings(&[7], 0, Vec::new(), of("operator == SLICE and rank == 7 and any axis Offsets > 0"));
    assert_eq!(named(&found), [("of-the-list", "operator == SLICE and rank == 7")]);
}

#[test]
fn a_list_of_too_few_cases_names_the_finding_that_explains_them_all() {
    let found = findings(&[7], EXPERIMENTS, Vec::new(), list(None, &[OF_RANK_SEVEN], None));
    assert_eq!(named(&found), [("of-the-list", "operator == SLICE and rank == 7")]);
    // The predicate does not hold for the other case.
    let both = list(None, &[OF_RANK_SEVEN, OF_RANK_EIGHT], None);
    let found = findings(&[7], EXPERIMENTS, Vec::new(), both);
    assert!(found.iter().all(Finding::has_new_id), "{found:?}");
}

/// An accepted finding has a predicate, a number of failures and no case.
#[test]
fn an_accepted_finding_that_is_as_it_was_is_not_learned_again() {
    let words = "(7 == rank) and operator == SLICE";
    let new = findings(&[7], 0, Vec::new(), KnownFailures::default());
    let [as_found] = new.as_slice() else { panic!("one finding: {new:?}") };
    let with = |words, count| {
        let accepted =
            EarlierFinding { cases: Vec::new(), ..earlier("old", Some(words), OF_RANK_SEVEN, count) };
        let found = findings(&[7], EXPERIMENTS, vec![accepted], KnownFailures::default());
        let rule = found[0].rule.clone().unwrap_or_else(|| panic!("{found:?}"));
        (found[0].id.clone(), rule.predicate.text().to_owned(), rule.asked > 0)
    };
    assert_eq!(with(words, as_found.cases), ("old".to_owned(), words.to_owned(), false));
    // With another number of failures, experiments test the words.
    assert_eq!(with(words, as_found.cases + 1), ("old".to_owned(), words.to_owned(), true));
    let (_, learned, is_learned) = with("operator == SLICE and rank > 6", as_found.cases);
    assert_eq!((learned.as_str(), is_learned), ("operator == SLICE and rank == 7", true));
}

#[test]
fn failures_beside_an_accepted_finding_are_learned_together_with_it() {
    let words = "(7 == rank) and operator == SLICE";
    let new = findings(&[7], 0, Vec::new(), KnownFailures::default());
    let [as_found] = new.as_slice() else { panic!("one finding: {new:?}") };
    let accepted =
        EarlierFinding { cases: Vec::new(), ..earlier("old", Some(words), OF_RANK_SEVEN, as_found.cases) };
    let found = findings(&[5, 7], EXPERIMENTS, vec![accepted], KnownFailures::default());
    let is_learned = |one: &Finding| one.rule.as_ref().is_none_or(|rule| rule.asked > 0);
    assert!(found.iter().all(is_learned), "{found:?}");
}
