//! Covering arrays: rows of values in which every combination of a few parameters' values occurs, if it is
//! possible.
//!
//! The rows grow by one parameter at a time, which keeps every step small (Lei, Kacker, Kuhn, Okun and
//! Lawrence, "IPOG/IPOG-D: efficient test generation for multi-way combinatorial testing", 2008). First each
//! row takes the value that covers the largest number of open combinations. Combinations that no row can take
//! get new rows. Ties are broken by position, so that the same model gives the same rows on every machine.

/// A value that has not been chosen, or that a row does not have.
pub(super) const ANY: u8 = u8::MAX;

/// The parameters to cover.
pub(super) trait Model {
    /// The number of values of each parameter; fewer than [`ANY`].
    fn domains(&self) -> &[usize];

    /// Whether a row can be completed. Values that are not yet chosen are [`ANY`].
    fn allows(&self, row: &[u8]) -> bool;

    /// Whether the combinations of these parameters must be covered. The parameters are in ascending order.
    fn wants(&self, _parameters: &[usize]) -> bool {
        true
    }
}

/// A covering array.
#[derive(Default)]
pub(super) struct Covering {
    /// The rows. A parameter stays [`ANY`] if no value is possible in its row.
    pub(super) rows: Vec<Vec<u8>>,
    /// The number of combinations that the model wants and does not allow.
    pub(super) impossible: usize,
}

/// Covers every combination of `strength` parameters that the model wants and allows.
pub(super) fn cover(model: &dyn Model, strength: usize) -> Covering {
    let domains = model.domains();
    let strength = strength.min(domains.len());
    if strength == 0 {
        return Covering::default();
    }
    let mut rows: Vec<Vec<u8>> = Vec::new();
    let mut impossible = 0;
    for parameter in strength - 1..domains.len() {
        let mut left = Left::new(model, parameter, strength);
        let missing = |combination: &Combination| combination.open.len() - combination.count;
        impossible += left.combinations.iter().map(missing).sum::<usize>();
        for (place, row) in rows.iter_mut().enumerate() {
            left.grow(model, row, place);
        }
        left.append(model, &mut rows);
    }
    for (place, row) in rows.iter_mut().enumerate() {
        complete(model, row, place);
    }
    Covering { rows, impossible }
}

/// Chooses the open values of a row. The search starts from a different value in each row.
fn complete(model: &dyn Model, row: &mut [u8], place: usize) {
    for (parameter, &domain) in model.domains().iter().enumerate() {
        if row[parameter] != ANY {
            continue;
        }
        let values = (0..domain).map(|step| ((place + step) % domain) as u8);
        let chosen = values.into_iter().find(|&value| {
            row[parameter] = value;
            model.allows(row)
        });
        row[parameter] = chosen.unwrap_or(ANY);
    }
}

/// The combinations of one parameter with earlier ones that no row covers yet.
struct Left {
    parameter: usize,
    values: usize,
    combinations: Vec<Combination>,
}

/// One choice of parameters. The last one is the parameter that is being added.
struct Combination {
    before: Vec<usize>,
    /// Indexed by the values of the earlier parameters, the last changing fastest, and then by the value of
    /// the last parameter.
    open: Vec<bool>,
    count: usize,
}

impl Combination {
    /// The index of a row's values with the first value of the last parameter. `None` if a value is not
    /// chosen.
    fn place(&self, domains: &[usize], row: &[u8], values: usize) -> Option<usize> {
        let mut place = 0;
        for &parameter in &self.before {
            if row[parameter] == ANY {
                return None;
            }
            place = place * domains[parameter] + usize::from(row[parameter]);
        }
        Some(place * values)
    }
}

impl Left {
    fn new(model: &dyn Model, parameter: usize, strength: usize) -> Self {
        let domains = model.domains();
        let values = domains[parameter];
        let mut combinations = Vec::new();
        for_each_choice(parameter, strength - 1, &mut |before| {
            let mut all = before.to_vec();
            all.push(parameter);
            if !model.wants(&all) {
                return;
            }
            let size = all.iter().map(|&parameter| domains[parameter]).product();
            let mut row = vec![ANY; domains.len()];
            let open: Vec<bool> = (0..size)
                .map(|place| {
                    let mut rest = place;
                    for &parameter in all.iter().rev() {
                        row[parameter] = (rest % domains[parameter]) as u8;
                        rest /= domains[parameter];
                    }
                    model.allows(&row)
                })
                .collect();
            let count = open.iter().filter(|open| **open).count();
            combinations.push(Combination { before: before.to_vec(), open, count });
        });
        Self { parameter, values, combinations }
    }

    /// Gives a row the value that covers the largest number of combinations. If no value covers any, the row
    /// stays open for [`Left::append`].
    fn grow(&mut self, model: &dyn Model, row: &mut [u8], turn: usize) {
        let domains = model.domains();
        let places: Vec<(usize, usize)> = self
            .combinations
            .iter()
            .enumerate()
            .filter(|(_, combination)| combination.count > 0)
            .filter_map(|(index, combination)| Some((index, combination.place(domains, row, self.values)?)))
            .collect();
        let mut best = (0, ANY);
        for step in 0..self.values {
            // Ties start from a different value in each row.
            let value = (turn + step) % self.values;
            let covers = |&&(index, place): &&(usize, usize)| self.combinations[index].open[place + value];
            let gain = places.iter().filter(covers).count();
            if gain > best.0 {
                row[self.parameter] = value as u8;
                if model.allows(row) {
                    best = (gain, value as u8);
                }
            }
        }
        row[self.parameter] = best.1;
        self.mark(domains, row);
    }

    /// Marks the combinations that a row covers.
    fn mark(&mut self, domains: &[usize], row: &[u8]) {
        let value = row[self.parameter];
        if value == ANY {
            return;
        }
        for combination in &mut self.combinations {
            let Some(place) = combination.place(domains, row, self.values) else { continue };
            if std::mem::replace(&mut combination.open[place + usize::from(value)], false) {
                combination.count -= 1;
            }
        }
    }

    /// Finds a row for each combination that is left, or adds one.
    fn append(&mut self, model: &dyn Model, rows: &mut Vec<Vec<u8>>) {
        let domains = model.domains();
        // A row whose values are all chosen cannot take a combination.
        let has_room = |row: &[u8], end: usize| row[..=end].contains(&ANY);
        let mut roomy: Vec<usize> =
            (0..rows.len()).filter(|&row| has_room(&rows[row], self.parameter)).collect();
        for index in 0..self.combinations.len() {
            for place in 0..self.combinations[index].open.len() {
                if !self.combinations[index].open[place] {
                    continue;
                }
                let mut wanted = vec![(self.parameter, (place % self.values) as u8)];
                let mut rest = place / self.values;
                for &parameter in self.combinations[index].before.iter().rev() {
                    wanted.push((parameter, (rest % domains[parameter]) as u8));
                    rest /= domains[parameter];
                }
                let fits = |row: &[u8]| {
                    wanted.iter().all(|&(parameter, value)| [ANY, value].contains(&row[parameter]))
                };
                let joined = roomy.iter().copied().find_map(|row| {
                    if !fits(&rows[row]) {
                        return None;
                    }
                    let mut joined = rows[row].clone();
                    for &(parameter, value) in &wanted {
                        joined[parameter] = value;
                    }
                    model.allows(&joined).then_some((row, joined))
                });
                let (row, joined) = joined.unwrap_or_else(|| {
                    let mut fresh = vec![ANY; domains.len()];
                    for &(parameter, value) in &wanted {
                        fresh[parameter] = value;
                    }
                    roomy.push(rows.len());
                    (rows.len(), fresh)
                });
                self.mark(domains, &joined);
                if row == rows.len() {
                    rows.push(joined);
                } else {
                    rows[row] = joined;
                }
            }
        }
    }
}

/// Calls `visit` with every ascending choice of `count` numbers below `end`.
pub(super) fn for_each_choice(end: usize, count: usize, visit: &mut dyn FnMut(&[usize])) {
    fn choose(
        from: usize,
        end: usize,
        count: usize,
        chosen: &mut Vec<usize>,
        visit: &mut dyn FnMut(&[usize]),
    ) {
        if count == 0 {
            return visit(chosen);
        }
        for next in from..end {
            chosen.push(next);
            choose(next + 1, end, count - 1, chosen, visit);
            chosen.pop();
        }
    }
    choose(0, end, count, &mut Vec::new(), visit);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Pairs of values that must not occur together. Trial decides whether a row can be completed.
    #[derive(Debug)]
    struct Forbidden {
        domains: Vec<usize>,
        pairs: Vec<[(usize, u8); 2]>,
    }

    impl Forbidden {
        fn is_whole(&self, row: &[u8]) -> bool {
            !self.pairs.iter().any(|pair| pair.iter().all(|&(parameter, value)| row[parameter] == value))
        }

        /// Every row that breaks no rule.
        fn all(&self) -> Vec<Vec<u8>> {
            let mut rows = vec![Vec::new()];
            for &domain in &self.domains {
                let longer = |row: &Vec<u8>| {
                    let row = row.clone();
                    (0..domain as u8).map(move |value| [row.as_slice(), &[value]].concat())
                };
                rows = rows.iter().flat_map(longer).collect();
            }
            rows.retain(|row| self.is_whole(row));
            rows
        }
    }

    impl Model for Forbidden {
        fn domains(&self) -> &[usize] {
            &self.domains
        }

        fn allows(&self, row: &[u8]) -> bool {
            let agrees =
                |whole: &Vec<u8>| row.iter().zip(whole).all(|(one, other)| [ANY, *other].contains(one));
            self.all().iter().any(agrees)
        }
    }

    /// The combinations that occur in some rows.
    fn combinations(rows: &[Vec<u8>], parameters: usize, strength: usize) -> BTreeSet<Vec<(usize, u8)>> {
        let mut found = BTreeSet::new();
        for_each_choice(parameters, strength, &mut |chosen| {
            found.extend(rows.iter().map(|row| chosen.iter().map(|&it| (it, row[it])).collect()));
        });
        found
    }

    #[test]
    fn without_rules_pairs_take_little_more_than_the_two_largest_domains() {
        let model = Forbidden { domains: vec![5, 4, 3, 3, 2, 2], pairs: Vec::new() };
        let rows = cover(&model, 2).rows;
        assert_eq!(combinations(&rows, 6, 2), combinations(&model.all(), 6, 2));
        assert!((20..=24).contains(&rows.len()), "{}", rows.len());
    }

    #[test]
    fn one_parameter_and_none_are_covered_too() {
        assert!(cover(&Forbidden { domains: Vec::new(), pairs: Vec::new() }, 2).rows.is_empty());
        assert_eq!(cover(&Forbidden { domains: vec![3], pairs: Vec::new() }, 2).rows, [[0], [1], [2]]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn every_possible_combination_is_covered_and_no_other(
            domains in prop::collection::vec(1_usize..4, 2..6),
            pairs in prop::collection::vec([(0_usize..6, 0_u8..3), (0_usize..6, 0_u8..3)], 0..6),
            strength in 2_usize..5,
        ) {
            let count = domains.len();
            let pairs = pairs
                .into_iter()
                .map(|pair| pair.map(|(parameter, value)| (parameter % count, value)))
                .filter(|[one, other]| one.0 != other.0)
                .collect();
            let model = Forbidden { domains, pairs };
            let Covering { rows, impossible } = cover(&model, strength);
            for row in &rows {
                prop_assert!(!row.contains(&ANY) && model.is_whole(row), "{row:?}");
            }
            let strength = strength.min(count);
            let possible = combinations(&model.all(), count, strength);
            let mut all = 0;
            for_each_choice(count, strength, &mut |chosen| {
                all += chosen.iter().map(|&parameter| model.domains[parameter]).product::<usize>();
            });
            prop_assert_eq!(impossible, all - possible.len());
            prop_assert_eq!(combinations(&rows, count, strength), possible);
        }
    }
}
