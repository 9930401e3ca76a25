//! A fourth operator from a separate YAML file, judged and executed without code for it.

use dmlcts_model::{Case, FeatureLevel, line};
use dmlcts_spec::{Answer, Coverage, Library, Obligation, Scratch, Source, Validity};

fn library() -> Library {
    let mut sources = Library::embedded_sources();
    sources.push(Source::new("tile.yaml", include_str!("../data/tile.yaml")));
    Library::load(&sources).unwrap_or_else(|error| panic!("{error}"))
}

fn case(library: &Library, text: &str) -> Case {
    line::parse(text, library.signatures()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn it_is_judged() {
    let library = library();
    let tile = library.operator("TILE").expect("it was loaded");
    let mut scratch = Scratch::default();
    let mut broken = |text: &str| {
        let judgement = tile.judge(&case(&library, text).desc, FeatureLevel::NEWEST, &mut scratch);
        judgement.violated.iter().map(|place| tile.clauses()[place].id.clone()).collect::<Vec<_>>()
    };
    assert!(broken("TILE UINT8 in=2,3 out=4,3 Repeats=2,1").is_empty());
    assert_eq!(broken("TILE UINT8 in=2,3 out=4,4 Repeats=2,1"), ["tile.output-size"]);
    assert_eq!(broken("TILE UINT8 in=2,3 out=4,3 Repeats=2,1,1"), ["tile.Repeats.length"]);
    assert_eq!(broken("TILE UINT64 in=2,3 out=4,3 Repeats=2,1"), ["tile.types"]);
    // 2^17 times 2^15 is 2^32: nothing wraps to 0.
    assert_eq!(
        broken("TILE UINT8 in=131072 out=0 Repeats=32768"),
        ["tile.output.size-positive", "tile.output-size"]
    );
}

#[test]
fn it_is_executed() {
    let library = library();
    let tile = library.operator("TILE").expect("it was loaded");
    let mut scratch = Scratch::default();
    let case = case(&library, "TILE UINT8 in=2,3 out=4,6 Repeats=2,2");
    let valid = tile.judge_valid(&case.desc, FeatureLevel::NEWEST, &mut scratch).expect("it is valid");
    let mut plan = tile.plan(valid, 0, &mut scratch).expect("it can be planned");
    let mut output = [0; 24];
    plan.execute(&[1, 2, 3, 4, 5, 6], &mut output).expect("the memory is large enough");
    let rows = [[1, 2, 3, 1, 2, 3], [4, 5, 6, 4, 5, 6], [1, 2, 3, 1, 2, 3], [4, 5, 6, 4, 5, 6]];
    assert_eq!(output.as_slice(), rows.as_flattened());
    assert_eq!(plan.source(&[3, 4]).expect("it is inside").expect("it is no fill").as_slice(), [1, 1]);
}

#[test]
fn a_question_may_have_a_reading_of_its_own() {
    let library = library();
    let tile = library.operator("TILE").expect("it was loaded");
    let mut scratch = Scratch::default();
    let case = case(&library, "TILE UINT8 in=2,2 out=2,14 Repeats=1,7");
    let valid = tile.judge_valid(&case.desc, FeatureLevel::NEWEST, &mut scratch).expect("it is open");
    assert_eq!(valid.judgement().validity(), Validity::Open);
    let question = tile.questions().iter().position(|question| question.id == "tile.repeat-backwards");
    let question = question.expect("it was loaded");
    assert!(valid.judgement().questions.contains(question));
    assert_eq!(tile.questions()[question].allow, [Answer::Reading(0), Answer::Reading(1)]);
    let mut output = [0; 28];
    let mut plan = tile.plan(valid, 1, &mut scratch).expect("it can be planned");
    plan.execute(&[1, 2, 3, 4], &mut output).expect("the memory is large enough");
    // Only the axis that raises the question is read backwards.
    assert_eq!(output[..4], [2, 1, 2, 1]);
    assert_eq!(output[14..18], [4, 3, 4, 3]);
}

#[test]
fn coverage_follows_from_its_spec() {
    let library = library();
    let tile = library.operator("TILE").expect("it was loaded");
    let (mut scratch, level) = (Scratch::default(), FeatureLevel::NEWEST);
    let mut threads = [Coverage::new(&library), Coverage::new(&library)];
    for (thread, text) in [
        "TILE UINT8 in=1,1,2,3 out=1,1,4,3 Repeats=1,1,2,1",
        "TILE INT8 in=2,3 out=4,4 Repeats=2,1",
        "TILE INT16 in=2 out=14 Repeats=7",
    ]
    .into_iter()
    .enumerate()
    {
        let case = case(&library, text);
        let judgement = tile.judge(&case.desc, level, &mut scratch);
        threads[thread % 2].mark(tile, &case.desc, level, judgement, &mut scratch);
    }
    let [mut coverage, other] = threads;
    coverage.merge(&other);
    let clause = tile.clause("tile.output-size").expect("it was loaded");
    let met = |obligation| {
        assert!(tile.obligations(level).contains(&obligation), "{obligation:?}");
        coverage.met(tile, obligation)
    };
    assert!(met(Obligation::Satisfied(clause)) && met(Obligation::Violated(clause)));
    assert!(met(Obligation::Rank(4)) && met(Obligation::Rank(1)));
    assert!(!met(Obligation::Rank(2)), "the desc of two dimensions was invalid");
    assert!(met(Obligation::Support(0)) && met(Obligation::Support(1)));
    let arises = Obligation::Question(tile.questions().len() - 1);
    assert!(met(arises), "{}", arises.describe(tile));
    let unmet = tile.obligations(level).into_iter().filter(|&obligation| !coverage.met(tile, obligation));
    assert!(unmet.map(|obligation| obligation.describe(tile)).any(|text| text == "tile type FLOAT32"));
}

#[test]
fn branches_of_the_semantics_are_obligations() {
    let library = Library::embedded();
    let (mut scratch, level) = (Scratch::default(), FeatureLevel::NEWEST);
    let taken = |lines: &[&str], scratch: &mut Scratch| {
        let mut coverage = Coverage::new(library);
        let mut operator = None;
        for line in lines {
            let case = case(library, line);
            let of_case = library.operator(&case.desc.signature.operator).expect("the line named it");
            let judgement = of_case.judge(&case.desc, level, scratch);
            coverage.mark(of_case, &case.desc, level, judgement, scratch);
            operator = Some(of_case);
        }
        let operator = operator.expect("there is a line");
        let branches = (0..operator.branches().len()).map(Obligation::Branch);
        let met = branches.filter(|&branch| coverage.met(operator, branch));
        met.map(|branch| branch.describe(operator)).collect::<Vec<_>>()
    };
    let slice1 = "SLICE1 UINT8 in=4 out=2 InputWindowOffsets=0 InputWindowSizes=4 InputWindowStrides=-2";
    assert_eq!(taken(&[slice1], &mut scratch), ["slice1 where `InputWindowStrides < 0`"]);
    let inside = "PADDING1 UINT8 in=4 out=4 PaddingMode=CONSTANT StartPadding=0 EndPadding=0";
    assert_eq!(taken(&[inside], &mut scratch), ["padding1 CONSTANT where `0 <= at < n`"]);
    let padded = "PADDING1 UINT8 in=4 out=40 PaddingMode=CONSTANT StartPadding=0 EndPadding=36";
    assert_eq!(taken(&[padded], &mut scratch).len(), 2);
    let reflected = "PADDING1 UINT8 in=1 out=4 PaddingMode=REFLECTION StartPadding=0 EndPadding=3";
    assert_eq!(taken(&[reflected], &mut scratch), ["padding1 REFLECTION where `n == 1`"]);
}
