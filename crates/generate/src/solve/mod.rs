//! A small solver for constraints on one axis. It works on integers and does not know operators. Its
//! constraints are lowered from a spec's clauses.
//!
//! It only prunes. Every solution is judged before it becomes a case. A mistake here can lose cases, which
//! the counts would show, but cannot produce wrong ones.

pub(crate) mod interval;
pub(crate) mod search;
pub(crate) mod term;

pub(crate) use interval::{Interval, bound};
pub(crate) use search::{Domains, Problem};
pub(crate) use term::{Comparison, Condition, Relation, Term};

#[cfg(test)]
mod tests {
    use smallvec::smallvec;

    use super::*;
    use crate::draw::Draws;

    const N: usize = 0;
    const OUT: usize = 1;
    const OFFSET: usize = 2;
    const WINDOW: usize = 3;
    const STRIDE: usize = 4;

    fn unknown(place: usize) -> Term {
        Term::Unknown(place)
    }

    fn compare(relation: Relation, left: Term, right: Term) -> Condition {
        Condition::Compare(Comparison::new(relation, left, right))
    }

    /// A strided window, as an example with sums, products, a division and an absolute value.
    fn window() -> Vec<Condition> {
        let reachable = Term::Number(1).add(Term::Divide(
            Box::new(unknown(WINDOW).add(Term::Number(-1))),
            Box::new(Term::Absolute(Box::new(unknown(STRIDE)))),
        ));
        vec![
            compare(Relation::AtMost, Term::Number(1), unknown(N)),
            compare(Relation::AtMost, Term::Number(1), unknown(OUT)),
            compare(Relation::AtMost, Term::Number(1), unknown(WINDOW)),
            compare(Relation::AtMost, unknown(OFFSET).add(unknown(WINDOW)), unknown(N)),
            compare(Relation::NotEqual, unknown(STRIDE), Term::Number(0)),
            compare(Relation::AtMost, unknown(OUT), reachable),
        ]
    }

    fn domains(n: i64, stride: i64) -> Domains {
        let word = Interval::new(0, (1 << 32) - 1);
        smallvec![Interval::new(0, n), word, word, word, Interval::new(-stride, stride)]
    }

    #[test]
    fn the_strided_windows_of_the_documented_box_are_all_found_once() {
        let conditions = window();
        for (n, stride, expected) in [(8, 9, 2_888), (4, 9, 400)] {
            let problem = Problem::new(domains(n, stride), &conditions).unwrap();
            let mut found = Vec::new();
            problem
                .enumerate(&mut |values| {
                    // A stride of 0 makes the last condition undefined. The solver leaves such cases to the
                    // caller.
                    found.push(values.to_vec());
                    true
                })
                .unwrap();
            let count = found.len();
            found.sort();
            found.dedup();
            assert_eq!(found.len(), count, "each once");
            assert_eq!(count, expected);
        }
    }

    #[test]
    fn samples_reach_wide_values() {
        let conditions = window();
        let mut domains = domains(64, 1 << 31);
        domains[OUT] = Interval::single(1);
        let problem = Problem::new(domains, &conditions).unwrap();
        let mut draws = Draws::new(1);
        let samples: Vec<_> = (0..400).filter_map(|_| problem.sample(&mut draws)).collect();
        assert!(samples.len() > 200, "{}", samples.len());
        assert!(samples.iter().any(|values| values[STRIDE].abs() > 1 << 30));
        for values in &samples {
            assert!(values[OFFSET] + values[WINDOW] <= values[N]);
        }
    }

    #[test]
    fn a_sum_is_solved_for_whatever_is_left() {
        let sum = compare(Relation::Equal, unknown(1), unknown(0).add(unknown(2)));
        let word = Interval::new(0, (1 << 32) - 1);
        let problem =
            Problem::new(smallvec![Interval::single(4), word, Interval::new(0, 3)], [&sum]).unwrap();
        let mut found = Vec::new();
        problem
            .enumerate(&mut |values| {
                found.push(values[1]);
                true
            })
            .unwrap();
        assert_eq!(found, [4, 5, 6, 7]);
    }

    #[test]
    fn a_domain_that_nothing_bounds_is_reported() {
        let problem = Problem::new(smallvec![Interval::new(0, 1 << 40)], []).unwrap();
        assert_eq!(problem.enumerate(&mut |_| true), Err(search::Unbounded { unknown: 0 }));
    }

    #[test]
    fn negations_swap_and_turn() {
        let condition = Condition::All(vec![
            compare(Relation::AtMost, unknown(0), Term::Number(3)),
            compare(Relation::Equal, unknown(1), Term::Number(0)),
        ]);
        let negated = condition.clone().negated();
        for x in 0..6 {
            for y in 0..2 {
                let domains = [Interval::single(x), Interval::single(y)];
                assert_eq!(condition.truth(&domains), negated.truth(&domains).map(|truth| !truth));
            }
        }
    }

    #[test]
    fn alternatives_that_others_exclude_are_left_out() {
        let is = |value| compare(Relation::Equal, unknown(N).add(unknown(OUT)), Term::Number(value));
        let any = Condition::Any(vec![is(0), is(8), is(16)]);
        let closed = [Condition::All(vec![is(8).negated(), is(16).negated()])];
        assert_eq!(any.clone().without(&closed), is(0));
        assert_eq!(any.clone().without(&[is(8).negated()]), Condition::Any(vec![is(0), is(16)]));
        assert_eq!(any.clone().without(&[is(4).negated(), is(8)]), any);
        let none = any.without(&[is(0), is(8), is(16)].map(Condition::negated));
        assert_eq!(none.truth(&[Interval::single(0), Interval::single(0)]), Some(false));
    }

    #[test]
    fn branches_and_remainders_are_evaluated() {
        let fold = Term::If(
            Box::new(compare(Relation::Equal, unknown(0), Term::Number(1))),
            Box::new(Term::Number(0)),
            Box::new(Term::Modulo(Box::new(unknown(1)), Box::new(unknown(0).add(Term::Number(-1))))),
        );
        let at = |n, c| fold.range(&[Interval::single(n), Interval::single(c)]);
        assert_eq!(at(1, 7), Some(Interval::single(0)), "the other branch would divide by 0");
        assert_eq!(at(4, -1), Some(Interval::single(2)));
        let whole = compare(Relation::Less, fold.clone(), Term::Number(2));
        assert_eq!(whole.comparisons().len(), 2);
    }
}
