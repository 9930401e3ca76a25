//! Many conditions on the cases of one operator, compiled into one program. A search for predicates evaluates
//! a thousand conditions per case; the program computes their common parts once.

use std::sync::Arc;

use dmlcts_model::{Case, Enumeration, Enumerator, FeatureLevel};

use crate::{
    Scope,
    expression::{self, CaseNames, Position, parse},
    judge::Judge,
    oracle::Oracle,
    program::{Builder, Inputs, OpId, Program, Values},
};

/// Conditions on the cases of one operator.
#[derive(Debug, Clone)]
pub struct Conditions {
    texts: Vec<(Scope, String)>,
    program: Program,
    roots: Vec<OpId>,
    /// Present if any condition asks whether a desc is valid, invalid or open.
    judge: Option<Arc<Judge>>,
    /// Present if any condition asks for data.
    oracle: Option<Arc<Oracle>>,
}

/// The axes on which a condition is true of a case: one bit per axis, or a single bit for a condition about
/// the desc.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Truth {
    /// The axes where the condition is true.
    pub on: u8,
    /// The axes that the condition applies to. If the lists that it names are missing or differ in length,
    /// this is a single bit, and the condition is not true there.
    pub of: u8,
}

impl Conditions {
    /// Compiles the texts that are valid for the operator of this scope, and drops the others. A text with
    /// [`Scope::Axis`] is an expression that a predicate would put after `any axis` or `all axes`. A text
    /// with [`Scope::Desc`] is a predicate by itself.
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
        let judge = scope.judge.as_ref().filter(|_| program.asks_for_judge()).map(Arc::clone);
        let oracle = scope.oracle.as_ref().filter(|_| program.asks_for_data()).map(Arc::clone);
        Self { texts: kept, program, roots, judge, oracle }
    }

    /// The texts that were compiled, in the given order.
    pub fn texts(&self) -> &[(Scope, String)] {
        &self.texts
    }

    /// Evaluates every condition on a case of the operator, at a feature level. An undefined condition is not
    /// true.
    pub fn truths(&self, case: &Case, level: FeatureLevel, values: &mut Values, truths: &mut Vec<Truth>) {
        truths.clear();
        let judged = self.judge.as_ref().map(|judge| judge.judged(&case.desc, level, values));
        let data = self.oracle.as_ref().zip(judged);
        let data = data.and_then(|(oracle, judged)| oracle.data(case, level, judged.validity, values));
        let inputs = Inputs { judged, data, ..Inputs::of_case(case, level) };
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

    /// A condition on axes agrees with the predicates `any axis` and `all axes`.
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
