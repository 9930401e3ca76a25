//! Predicates over cases, for `--where`, known failures and the bounds of suites. They use the language of
//! the specs and are compiled once for each operator.

use std::{fmt, sync::Arc};

use dmlcts_model::{Case, Enumeration, Enumerator, FeatureLevel, Signature};

use crate::{
    Library,
    expression::{CaseNames, Expression, Mistake, Scope, Span, parse},
    judge::Judge,
    oracle::Oracle,
    program::{Builder, Inputs, OpId, Program, Values},
};

/// A condition on cases.
///
/// A name that only some operators have is undefined for the others, so that conditions on it are not true
/// there. `operator` is the case's operator, for comparison with names such as `SLICE1`. `valid`, `invalid`
/// and `open` are conditions on the judgement of the desc at the feature level. `violations` is the number of
/// clauses that the desc violates, and `violation` is their name if they have only one.
/// `moves(nan)` and similar conditions are about the data of the case.
///
/// It is written as the text that it was made of. Two predicates are equal if their texts are.
#[derive(Clone)]
pub struct Predicate {
    text: Arc<str>,
    expression: Expression,
    operators: Arc<[Compiled]>,
}

/// The condition for one operator.
#[derive(Debug, Clone)]
struct Compiled {
    signature: Arc<Signature>,
    program: Program,
    root: OpId,
    /// Present if the condition asks what the judge says of a desc.
    judge: Option<Arc<Judge>>,
    /// Present if the condition asks for data.
    oracle: Option<Arc<Oracle>>,
}

impl Predicate {
    /// Compiles a text for every operator of a library.
    pub fn parse(text: &str, library: &Library) -> Result<Self, Mistake> {
        Self::compile(text, library.scopes())
    }

    /// Compiles a text for operators with these scopes. Fails only if the text is a mistake for every
    /// operator.
    pub fn compile<'a>(text: &str, scopes: impl IntoIterator<Item = &'a Scope>) -> Result<Self, Mistake> {
        if text.trim().is_empty() {
            return Err(Mistake::new(Span::new(0, text.len()), "there is no condition")
                .help("state one, such as `rank == 4` or `any axis InputTensor.Sizes > 1`"));
        }
        Self::of(text, parse(text)?, scopes)
    }

    /// Like [`Predicate::compile`], for an expression that is already parsed.
    pub fn from_expression<'a>(
        expression: Expression,
        scopes: impl IntoIterator<Item = &'a Scope>,
    ) -> Result<Self, Mistake> {
        Self::of(&expression.to_string(), expression, scopes)
    }

    fn of<'a>(
        text: &str,
        expression: Expression,
        scopes: impl IntoIterator<Item = &'a Scope>,
    ) -> Result<Self, Mistake> {
        let scopes: Vec<&Scope> = scopes.into_iter().collect();
        let names = scopes.iter().map(|scope| scope.signature().operator.clone()).zip(0..);
        let enumerators = names.map(|(name, value)| Enumerator { name, value }).collect();
        let operators = Arc::new(Enumeration { name: "operator".to_owned(), enumerators });
        let names = CaseNames { operators: &operators, scopes: &scopes };
        let mut compiled = Vec::new();
        let mut mistake = None;
        for scope in &scopes {
            // A name may be an integer for one operator and a list for another. For an operator whose types
            // do not fit, the predicate is false. It is a mistake only if it fits no operator.
            match scope.predicate(names, &expression) {
                Ok(term) => {
                    let mut builder = Builder::new(Arc::clone(scope.signature()));
                    let root = builder.add(&term);
                    let signature = Arc::clone(scope.signature());
                    let program = builder.finish();
                    let judge = scope.judge.as_ref().filter(|_| program.asks_for_judge()).map(Arc::clone);
                    let oracle = scope.oracle.as_ref().filter(|_| program.asks_for_data()).map(Arc::clone);
                    compiled.push(Compiled { signature, program, root, judge, oracle });
                }
                Err(found) => mistake = mistake.or(Some(found)),
            }
        }
        match mistake {
            Some(mistake) if compiled.is_empty() => Err(mistake),
            _ => Ok(Self { text: text.into(), expression, operators: compiled.into() }),
        }
    }

    /// The text that the predicate was made of.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the predicate is true of a case at a feature level. Undefined counts as not true.
    pub fn holds(&self, case: &Case, level: FeatureLevel, values: &mut Values) -> bool {
        let signature = &case.desc.signature;
        let of_case = |compiled: &&Compiled| Arc::ptr_eq(&compiled.signature, signature);
        let same = |compiled: &&Compiled| compiled.signature == *signature;
        let found = self.operators.iter().find(of_case).or_else(|| self.operators.iter().find(same));
        let Some(compiled) = found else { return false };
        let judged = compiled.judge.as_ref().map(|judge| judge.judged(&case.desc, level, values));
        let data = compiled.oracle.as_ref().zip(judged);
        let data = data.and_then(|(oracle, judged)| oracle.data(case, level, judged.validity, values));
        let inputs = Inputs { judged, data, ..Inputs::of_case(case, level) };
        let evaluation = compiled.program.evaluate(inputs, values);
        evaluation.verdict(compiled.root) == Some(true)
    }

    /// Whether it depends on the judgement of a desc, for some operator.
    pub fn asks_for_judge(&self) -> bool {
        self.operators.iter().any(|compiled| compiled.judge.is_some())
    }

    /// Whether it depends on the data of a case, for some operator.
    pub fn asks_for_data(&self) -> bool {
        self.operators.iter().any(|compiled| compiled.oracle.is_some())
    }

    /// The predicate's expression.
    pub fn expression(&self) -> &Expression {
        &self.expression
    }
}

impl PartialEq for Predicate {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl fmt::Debug for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Predicate").field(&self.text).finish()
    }
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use dmlcts_model::line;

    use super::*;

    #[test]
    fn violations_are_counted_at_the_level() {
        let library = Library::embedded();
        let predicate =
            |text: &str| Predicate::parse(text, library).unwrap_or_else(|error| panic!("{error:?}"));
        let mut values = Values::default();
        for (case, violations) in [
            ("SLICE FLOAT32 in=4 out=2 Offsets=1 Sizes=2 Strides=1 fill=iota", 0),
            // The last element lies outside.
            ("SLICE FLOAT32 in=4 out=2 Offsets=3 Sizes=2 Strides=1 fill=iota", 1),
            // It lies outside, and the output has another size.
            ("SLICE FLOAT32 in=4 out=3 Offsets=3 Sizes=2 Strides=1 fill=iota", 2),
        ] {
            let case = line::parse(case, library.signatures()).expect("it is a case");
            let mut holds = |text: &str| predicate(text).holds(&case, FeatureLevel::NEWEST, &mut values);
            assert!(holds(&format!("violations == {violations}")), "{case}");
            assert!(!holds(&format!("violations > {violations}")), "{case}");
            assert_eq!(holds("violations == 0"), holds("valid"), "{case}");
        }
    }

    #[test]
    fn a_violation_is_compared_with_names_of_clauses_only() {
        let said = |text: &str| match Predicate::parse(text, Library::embedded()) {
            Ok(_) => panic!("{text} compiles"),
            Err(mistake) => format!("{}; {}", mistake.message, mistake.help.unwrap_or_default()),
        };
        for text in ["violation == 3", "violation in [alignment, 3]"] {
            assert!(said(text).starts_with("`violation` is the name of a clause, and no number; "), "{text}");
        }
        for text in [
            "violation == stride-nonzero",
            "slice1.stride-nonzero != violation",
            "violation == strid_nonzero",
            "violation in [alignment, stride-nonzero]",
        ] {
            assert!(said(text).ends_with("; did you mean `stride_nonzero`?"), "{}", said(text));
        }
        let packed = said("any axis PackedStrides > 0");
        assert!(packed.ends_with("did you mean `InputTensor.PackedStrides`?"), "{packed}");
    }

    #[test]
    fn a_violation_has_the_name_of_its_clause() {
        let library = Library::embedded();
        let mut values = Values::default();
        let mut holds = |text: &str, case: &str| {
            let predicate = Predicate::parse(text, library).unwrap_or_else(|error| panic!("{error:?}"));
            let case = line::parse(case, library.signatures()).expect("it is a case");
            predicate.holds(&case, FeatureLevel::NEWEST, &mut values)
        };
        let outside = "SLICE FLOAT32 in=4 out=2 Offsets=3 Sizes=2 Strides=1 fill=iota";
        assert!(holds("violation == reads_in_bounds", outside));
        assert!(!holds("violation == output_size", outside));
        assert!(!holds("violation != reads_in_bounds", outside));
        // Two clauses, a clause of another operator, and none.
        let two = "SLICE FLOAT32 in=4 out=3 Offsets=3 Sizes=2 Strides=1 fill=iota";
        assert!(!holds("violation == reads_in_bounds", two) && !holds("violation != reads_in_bounds", two));
        assert!(holds("violation in [output_size, reads_in_bounds]", two));
        assert!(holds("violation in [output_size, reads_in_bounds, alignment]", two));
        assert!(!holds("violation in [output_size]", two) && !holds("violation in [alignment, types]", two));
        assert!(holds("not violation in [output_size]", two));
        assert!(!holds("violation == window_in_bounds", outside));
        assert!(holds("violation != window_in_bounds", outside));
        let valid = "SLICE FLOAT32 in=4 out=2 Offsets=1 Sizes=2 Strides=1 fill=iota";
        assert!(!holds("violation != reads_in_bounds", valid));
        assert!(!holds("violation in [reads_in_bounds]", valid));
        assert!(!holds("not violation in [reads_in_bounds]", valid));
        // The same clause on both tensors.
        let both = "SLICE FLOAT32 in=4 out=2 InputTensor.GuaranteedBaseOffsetAlignment=3 OutputTensor.GuaranteedBaseOffsetAlignment=3 Offsets=1 Sizes=2 Strides=1 fill=iota";
        assert!(holds("violations == 2 and violation == alignment", both));
        // The clauses of other operators are known.
        assert!(holds("violation in [value_type, reads_in_bounds]", outside));
    }

    #[test]
    fn the_names_of_clauses_have_different_codes() {
        let library = Library::embedded();
        let mut codes = std::collections::BTreeMap::new();
        for clause in library.operators().iter().flat_map(crate::Operator::clauses) {
            let all = library.operators().iter().find_map(|it| it.scope().constants(&clause.name()).next());
            let (code, _) = all.unwrap_or_else(|| panic!("{} has no code", clause.id));
            let known = codes.entry(code).or_insert_with(|| clause.name());
            assert_eq!(*known, clause.name());
        }
        assert!(codes.len() > 20);
    }

    #[test]
    fn packed_strides_do_not_depend_on_the_strides() {
        let library = Library::embedded();
        let mut values = Values::default();
        for strides in ["", "InputTensor.Strides=12,4,1", "InputTensor.Strides=0,1,2"] {
            let case = format!(
                "SLICE FLOAT32 in=2,3,4 out=2,3,4 {strides} Offsets=0,0,0 Sizes=2,3,4 Strides=1,1,1 fill=iota"
            );
            let case = line::parse(&case, library.signatures()).expect("it is a case");
            let mut holds = |text: &str| {
                let predicate = Predicate::parse(text, library).unwrap_or_else(|error| panic!("{error:?}"));
                predicate.holds(&case, FeatureLevel::NEWEST, &mut values)
            };
            assert!(holds("sum axes InputTensor.PackedStrides == 12 + 4 + 1"), "{case}");
            assert!(holds("any axis (axis == 0 and InputTensor.PackedStrides == 12)"), "{case}");
            let is_packed = holds("all axes InputTensor.Strides == InputTensor.PackedStrides");
            assert_eq!(is_packed, !strides.ends_with("0,1,2"), "{case}");
        }
    }
}
