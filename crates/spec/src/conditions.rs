//! Many conditions on the cases of one operator, compiled into one program: whoever looks for a predicate asks a
//! thousand of them about each case, and they have most of their parts in common.

use std::sync::Arc;

use dmlcts_model::{Case, Enumeration, Enumerator, FeatureLevel};

use crate::{
    Scope,
    expression::{self, CaseNames, Position, parse},
    judge::Judge,
    program::{Builder, Inputs, Leaf, OpId, Operation, Program, Values},
};

/// Conditions on the cases of one operator.
#[derive(Debug, Clone)]
pub struct Conditions {
    texts: Vec<(Scope, String)>,
    program: Program,
    roots: Vec<OpId>,
    /// Where a condition asks what a desc is judged.
    judge: Option<Arc<Judge>>,
}

/// Where a condition is true of a case: a bit an axis, or one bit for what is asked of the desc.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Truth {
    /// The axes where it is true.
    pub on: u8,
    /// The axes that it is asked of. Where the lists that it names are missing or differ in length, that is one, and
    /// it is not true there.
    pub of: u8,
}

impl Conditions {
    /// Compiles those of the texts that mean something for the operator of this scope. A text for each axis stands behind `any axis`
    /// or `all axes` in a predicate; one for the desc stands as it is.
    pub fn compile(texts: impl IntoIterator<Item = (Scope, String)>, scope: &expression::Scope) -> Self {
        let signature = scope.signature();
        let enumerators = vec![Enumerator { name: signature.operator.clone(), value: 0 }];
        let operators = Arc::new(Enumeration { name: "operator".to_owned(), enumerators });
        let names = CaseNames { operators: &operators, scopes: &[scope] };
        let mut builder = Builder::new(Arc::clone(signature));
        let (mut kept, mut roots) = (Vec::new(), Vec::new());
        for (of, text) in texts {
            let Ok(expression) = parse(&text) else { continue };
            let term = match of {
                Scope::Desc => scope.predicate(names, &expression),
                Scope::Axis => scope.condition(&expression, Position::EachAxis),
            };
            let Ok(term) = term else { continue };
            roots.push(builder.add(&term));
            kept.push((of, text));
        }
        let program = builder.finish();
        let asks = program.ops().iter().any(|op| matches!(op.operation, Operation::Leaf(Leaf::Judged(_))));
        let judge = scope.judge().filter(|_| asks).map(Arc::clone);
        Self { texts: kept, program, roots, judge }
    }

    /// Those that were compiled, in the order in which they were given.
    pub fn texts(&self) -> &[(Scope, String)] {
        &self.texts
    }

    /// Where each is true of a case of the operator, at a feature level. What is undefined is not true.
    pub fn truths(&self, case: &Case, level: FeatureLevel, values: &mut Values, truths: &mut Vec<Truth>) {
        truths.clear();
        let validity = self.judge.as_ref().map(|judge| judge.validity(&case.desc, level, values));
        let inputs = Inputs { validity, ..Inputs::of_case(case, level) };
        let evaluation = self.program.evaluate(inputs, values);
        let scopes = self.texts.iter().map(|(scope, _)| scope);
        truths.extend(self.roots.iter().zip(scopes).map(|(&root, scope)| match scope {
            Scope::Desc => Truth { on: u8::from(evaluation.verdict(root) == Some(true)), of: 1 },
            Scope::Axis if evaluation.lanes(root).is_none() => Truth { on: 0, of: 1 },
            Scope::Axis => {
                let of = evaluation.lane_mask(root);
                Truth { on: evaluation.mask(root).truth & of, of }
            }
        }));
    }
}

#[cfg(test)]
mod tests {
    use dmlcts_model::line;

    use super::*;
    use crate::{Library, Predicate};

    /// What is said of each axis at once is what predicates say of any and of all.
    #[test]
    fn conditions_are_true_where_predicates_are() {
        let library = Library::embedded();
        let operator = library.operator("SLICE1").expect("it is built in");
        let texts = [
            (Scope::Axis, "InputWindowStrides < 0"),
            (Scope::Axis, "InputWindowSizes > OutputTensor.Sizes"),
            (Scope::Axis, "InputWindowSizes / InputWindowStrides >= 1"),
            (Scope::Desc, "valid"),
            (Scope::Desc, "rank == 2"),
            (Scope::Desc, "InputTensor.DataType in [UINT8, FLOAT32]"),
        ];
        let nonsense = [(Scope::Axis, "c > 0"), (Scope::Desc, "Offsets > 1"), (Scope::Axis, "and")];
        let all = texts.iter().chain(&nonsense).map(|(scope, text)| (*scope, (*text).to_owned()));
        let conditions = Conditions::compile(all, operator.scope());
        assert_eq!(conditions.texts().len(), texts.len(), "{:?}", conditions.texts());
        let (mut values, mut truths) = (Values::default(), Vec::new());
        for case in [
            "SLICE1 UINT8 in=4,4 out=2,4 InputWindowOffsets=0,0 InputWindowSizes=4,4 InputWindowStrides=-2,1 fill=iota",
            "SLICE1 FLOAT16 in=4 out=4 InputWindowOffsets=0 InputWindowSizes=4 InputWindowStrides=1 fill=iota",
            "SLICE1 FLOAT32 in=4 out=4 InputWindowOffsets=0 InputWindowSizes=4 InputWindowStrides=0 fill=iota",
            "SLICE1 FLOAT32 in=4,4 out=4,4 InputWindowOffsets=0,0 InputWindowSizes=4 InputWindowStrides=-1,-1 fill=iota",
        ] {
            let case = line::parse(case, library.signatures()).expect("a case");
            conditions.truths(&case, FeatureLevel::NEWEST, &mut values, &mut truths);
            let holds = |text: &str| {
                let predicate = Predicate::compile(text, [operator.scope()]).expect("a predicate");
                predicate.holds(&case, FeatureLevel::NEWEST, &mut Values::default())
            };
            for ((scope, text), truth) in conditions.texts().iter().zip(&truths) {
                let (any, all) = (truth.on != 0, truth.on == truth.of);
                match scope {
                    Scope::Desc => assert_eq!(any, holds(text), "{text} of {case}"),
                    Scope::Axis => {
                        assert_eq!(any, holds(&format!("any axis {text}")), "{text} of {case}");
                        assert_eq!(all, holds(&format!("all axes {text}")), "{text} of {case}");
                    }
                }
            }
        }
    }
}
