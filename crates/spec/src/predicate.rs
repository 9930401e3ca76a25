//! Predicates over cases: `--where`, known failures, the bounds of suites. The same language as the specs',
//! compiled once for each operator.

use std::sync::Arc;

use dmlcts_model::{Case, Enumeration, Enumerator, FeatureLevel, Signature};

use crate::{
    Library,
    expression::{CaseNames, Expression, Mistake, Scope, Span, parse},
    judge::Judge,
    program::{Builder, Inputs, Leaf, OpId, Operation, Program, Values},
};

/// A condition on cases.
///
/// A name that one operator has and another has not is undefined for the other, so that what follows from it
/// is not true there. `operator` is the case's operator, to be compared with names such as `SLICE1`. `valid`, `invalid` and
/// `open` say what its desc is judged at the feature level.
#[derive(Debug, Clone)]
pub struct Predicate {
    expression: Expression,
    operators: Vec<Compiled>,
}

/// The condition for one operator.
#[derive(Debug, Clone)]
struct Compiled {
    signature: Arc<Signature>,
    program: Program,
    root: OpId,
    /// Where the condition asks what a desc is judged.
    judge: Option<Arc<Judge>>,
}

impl Predicate {
    /// Compiles a text for every operator of a library.
    pub fn parse(text: &str, library: &Library) -> Result<Self, Mistake> {
        Self::compile(text, library.scopes())
    }

    /// Compiles a text for operators with these scopes. The mistake is one that it is for every operator.
    pub fn compile<'a>(text: &str, scopes: impl IntoIterator<Item = &'a Scope>) -> Result<Self, Mistake> {
        if text.trim().is_empty() {
            return Err(Mistake::new(Span::new(0, text.len()), "there is no condition")
                .help("state one, such as `rank == 4` or `any axis InputTensor.Sizes > 1`"));
        }
        Self::from_expression(parse(text)?, scopes)
    }

    /// As [`Predicate::compile`], of what was parsed already.
    pub fn from_expression<'a>(
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
            // The same name may be an integer here and a list there: where the types do not fit, the
            // predicate holds of no case. A mistake everywhere is a mistake.
            match scope.predicate(names, &expression) {
                Ok(term) => {
                    let mut builder = Builder::new(Arc::clone(scope.signature()));
                    let root = builder.add(&term);
                    let signature = Arc::clone(scope.signature());
                    let program = builder.finish();
                    let asks = program
                        .ops()
                        .iter()
                        .any(|op| matches!(op.operation, Operation::Leaf(Leaf::Judged(_))));
                    let judge = scope.judge().filter(|_| asks).map(Arc::clone);
                    compiled.push(Compiled { signature, program, root, judge });
                }
                Err(found) => mistake = mistake.or(Some(found)),
            }
        }
        match mistake {
            Some(mistake) if compiled.is_empty() => Err(mistake),
            _ => Ok(Self { expression, operators: compiled }),
        }
    }

    /// Whether it is true of a case at a feature level. What is undefined is not true.
    pub fn holds(&self, case: &Case, level: FeatureLevel, values: &mut Values) -> bool {
        let signature = &case.desc.signature;
        let of_case = |compiled: &&Compiled| Arc::ptr_eq(&compiled.signature, signature);
        let same = |compiled: &&Compiled| compiled.signature == *signature;
        let found = self.operators.iter().find(of_case).or_else(|| self.operators.iter().find(same));
        let Some(compiled) = found else { return false };
        let validity = compiled.judge.as_ref().map(|judge| judge.validity(&case.desc, level, values));
        let inputs = Inputs { validity, ..Inputs::of_case(case, level) };
        let evaluation = compiled.program.evaluate(inputs, values);
        evaluation.verdict(compiled.root) == Some(true)
    }

    /// What it says.
    pub fn expression(&self) -> &Expression {
        &self.expression
    }
}
