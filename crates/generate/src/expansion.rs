//! A suite applied to a spec: a stream of cases with random access.

use std::{
    collections::HashMap,
    panic::resume_unwind,
    sync::{Arc, OnceLock},
    thread,
};

use dmlcts_model::{Case, FeatureLevel};
use dmlcts_spec::{Coverage, Diagnostic, Library, LoadError, Operator, Scratch};

use crate::{
    Length, Omitted, Order, Sequence,
    draw::derive,
    lower,
    pool::Pools,
    space::{Space, blank},
    strategy::{
        Generator, Row, SearchResult, Searched, boundary, covering, documented, enclosed,
        exhaustive::{Bounded, Exhaustive},
        large,
        layout::Layouts,
        mutated::Mutated,
        negative,
        random::{self, Random, Sampler},
        twins, vectors,
    },
    suite::{CheckedPart, Cross, FillForm, PartForm, Strategy, Suite, SuiteError},
    vectors::Vectors,
};

/// The number of cases among which the order by obligations looks for those that come first.
const LOOKED_AT: u64 = 1 << 15;

/// A suite applied to a spec. The case at `index` depends only on the spec, the suite, the seed and `index`.
/// Several threads can generate cases at the same time.
pub struct Expansion<'lib> {
    library: &'lib Library,
    suite: Suite,
    seed: u64,
    parts: Vec<Part<'lib>>,
    sequence: OnceLock<Sequence>,
}

/// One part of an expansion.
pub struct Part<'lib> {
    form: PartForm,
    generator: Arc<dyn Generator + 'lib>,
}

impl Part<'_> {
    /// The part's name in the suite.
    pub fn id(&self) -> &str {
        &self.form.id
    }

    /// The strategy of the part.
    pub fn strategy(&self) -> Strategy {
        self.form.strategy
    }

    /// The YAML form of the part.
    pub fn form(&self) -> &PartForm {
        &self.form
    }

    /// The number of cases of the part. The first call may search. This takes milliseconds (smoke) to seconds
    /// (the largest suites).
    pub fn length(&self) -> Length {
        self.generator.length()
    }

    /// Writes the case at an index of the part over `case`, reusing its memory. Returns false past the end
    /// and leaves `case` as it was.
    pub fn case(&self, index: u128, case: &mut Case) -> bool {
        let there = self.length().contains(index);
        if there {
            self.generator.case(index, case);
        }
        there
    }

    /// What the search for the cases left out. The first call may search.
    pub fn omitted(&self) -> Omitted {
        self.generator.omitted()
    }

    /// The counts of an exhaustive part, by operator, setting and rank; empty for other parts.
    pub fn rows(&self) -> Vec<Row> {
        self.generator.rows()
    }
}

impl Suite {
    /// Applies the suite to a spec. This only checks names and bounds, and returns at once. Parts search on
    /// their first use. A box that is unbounded, or that cannot be counted axis by axis, is a mistake.
    pub fn expand<'lib>(&self, library: &'lib Library, seed: u64) -> Result<Expansion<'lib>, SuiteError> {
        Ok(Expansion::new(self, library, seed)?)
    }
}

impl<'lib> Expansion<'lib> {
    fn new(suite: &Suite, library: &'lib Library, seed: u64) -> Result<Self, LoadError> {
        let checked = suite.check(library)?;
        let mut spaces =
            Spaces { seed, found: HashMap::new(), pools: HashMap::new(), vectors: Arc::default() };
        if suite.form().parts.iter().any(|part| part.strategy == Strategy::Vectors) {
            let files = Vectors::embedded(library)?;
            spaces.vectors = files.iter().flat_map(Vectors::cases).cloned().collect();
        }
        let forms = suite.form().parts.iter().cloned();
        let mut wrong: Vec<Diagnostic> = Vec::new();
        let mut parts: Vec<Part<'lib>> = Vec::new();
        for (at, (form, part)) in forms.zip(checked).enumerate() {
            let bounded = bounded(&part, &mut spaces);
            if form.strategy == Strategy::Exhaustive {
                let named = format!("suite `{}`, part `{}`", suite.name(), form.id);
                let place = suite.place().key("parts").index(at).name("bounds");
                enclosed::check(&bounded, part.ranks, &named, place, &mut wrong);
            }
            let generator = generator(&form, part, bounded, &mut spaces, derive(seed, &form.id), &parts);
            parts.push(Part { form, generator });
        }
        LoadError::check(wrong)?;
        Ok(Self { library, suite: suite.clone(), seed, parts, sequence: OnceLock::new() })
    }

    /// The spec that the cases come from.
    pub fn library(&self) -> &'lib Library {
        self.library
    }

    /// The suite that was expanded.
    pub fn suite(&self) -> &Suite {
        &self.suite
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The parts, in the order of the suite.
    pub fn parts(&self) -> &[Part<'lib>] {
        &self.parts
    }

    /// The total number of cases; saturates. The first call searches every part.
    pub fn length(&self) -> Length {
        self.sequence().length()
    }

    /// The cases of some parts, in this order or else in that of the suite. Searches these parts. The order
    /// by obligations begins only with cases that `runs` accepts.
    pub fn sequence_of(
        &self,
        order: Option<Order>,
        mut is_chosen: impl FnMut(&Part<'lib>) -> bool,
        runs: impl FnMut(&Case) -> bool,
    ) -> Sequence {
        let chosen = self.parts.iter().enumerate().filter(|(_, part)| is_chosen(part));
        let order = order.unwrap_or(self.suite.form().order);
        let sequence = Sequence::new(order, chosen.map(|(place, part)| (place, part.length())));
        let firsts =
            if order == Order::Obligations { self.first_to_meet(&sequence, runs) } else { Vec::new() };
        sequence.beginning_with(&firsts)
    }

    /// The cases at the start of a sequence that run and meet an obligation that no earlier case meets.
    fn first_to_meet(&self, sequence: &Sequence, mut runs: impl FnMut(&Case) -> bool) -> Vec<u64> {
        let (level, mut scratch) = (FeatureLevel::NEWEST, Scratch::default());
        let (mut met, mut firsts) = (Coverage::new(self.library), Vec::new());
        let Some(mut case) = self.blank() else { return firsts };
        let places = (0..LOOKED_AT).map_while(|index| Some((index, sequence.place(index.into())?)));
        for (index, (part, within)) in places {
            self.parts[part].case(within, &mut case);
            if !runs(&case) {
                continue;
            }
            let Some(operator) = self.library.operator(&case.desc.signature.operator) else { continue };
            let before = met.clone();
            let judgement = operator.judge(&case.desc, level, &mut scratch);
            met.mark(operator, &case.desc, level, judgement, &mut scratch);
            if met != before {
                firsts.push(index);
            }
        }
        firsts
    }

    fn sequence(&self) -> &Sequence {
        self.sequence.get_or_init(|| self.sequence_of(None, |_| true, |_| true))
    }

    /// Writes the case at an index over `case`, reusing its memory, and returns the strategy that made it.
    /// Returns `None` past the end and leaves `case` as it was. The first call searches every part.
    pub fn case(&self, index: u128, case: &mut Case) -> Option<Strategy> {
        let (part, within) = self.sequence().place(index)?;
        let part = &self.parts[part];
        part.generator.case(within, case);
        Some(part.form.strategy)
    }

    /// A case to pass to [`Expansion::case`]; `None` if the spec has no operators.
    pub fn blank(&self) -> Option<Case> {
        Some(blank(self.library.operators().first()?.signature()))
    }
}

/// The spaces of the operators, which all parts share.
struct Spaces<'lib> {
    seed: u64,
    /// By the position of the operator.
    found: HashMap<usize, Option<Arc<Space<'lib>>>>,
    /// By the position of the operator and the greatest size.
    pools: HashMap<(usize, usize), Arc<Pools<'lib>>>,
    /// The test vectors, if a part has them.
    vectors: Arc<[Case]>,
}

impl<'lib> Spaces<'lib> {
    /// The space of an operator at the newest level, which includes everything that older levels allow.
    fn of(&mut self, operator: &'lib Operator) -> Option<Arc<Space<'lib>>> {
        let space = || Space::new(operator, FeatureLevel::NEWEST).map(Arc::new);
        self.found.entry(operator.position()).or_insert_with(space).clone()
    }

    /// The pools of a space for axes up to a length. Parts with the same limit share them.
    fn pools(&mut self, space: &Arc<Space<'lib>>, longest: usize) -> Arc<Pools<'lib>> {
        let seed = derive(self.seed, space.operator.name());
        let pools = || Arc::new(Pools::new(Arc::clone(space), longest, seed));
        Arc::clone(self.pools.entry((space.operator.position(), longest)).or_insert_with(pools))
    }
}

/// The spaces that a part uses, with its bounds.
fn bounded<'lib>(part: &CheckedPart<'lib>, spaces: &mut Spaces<'lib>) -> Vec<Bounded<'lib>> {
    let operators = part.operators.iter().zip(&part.bounds);
    let bounded = operators.filter_map(|(operator, terms)| {
        let space = spaces.of(operator)?;
        let settings = space.settings.iter();
        let bounds = settings
            .map(|setting| terms.iter().map(|term| lower::bound(operator, &setting.values, term)).collect())
            .collect();
        Some(Bounded::new(space, bounds))
    });
    bounded.collect()
}

/// The generator of the cases of a part behind others.
fn generator<'lib>(
    form: &PartForm,
    part: CheckedPart<'lib>,
    bounded: Vec<Bounded<'lib>>,
    spaces: &mut Spaces<'lib>,
    seed: u64,
    before: &[Part<'lib>],
) -> Arc<dyn Generator + 'lib> {
    let CheckedPart { operators, types, ranks, .. } = part;
    let each = form.each.unwrap_or(4) as usize;
    // These parts start from small random descs.
    let elements = match form.strategy {
        Strategy::Negative | Strategy::Boundary | Strategy::Twins => SMALL,
        _ => form.elements.unwrap_or(USUAL),
    };
    let length = form.count.map_or(Length::Endless, |count| Length::Finite(count.into()));
    let sizes = random::sizes(elements);
    let layouts = if form.strategy == Strategy::Layout { Layouts::All } else { Layouts::Some };
    let all: Vec<Arc<Space<'lib>>> = bounded.iter().map(|bounded| Arc::clone(&bounded.space)).collect();
    let sampler = |space| {
        // Small tensors use the pools that all parts share.
        let pools = spaces.pools(space, Sampler::longest_axis(elements.max(USUAL)));
        let fills = form.fills.clone().unwrap_or_default();
        Sampler::new(pools, &types, ranks, fills, layouts, Arc::clone(&sizes))
    };
    let samplers = || -> Vec<Sampler<'lib>> { all.iter().filter_map(sampler).collect() };
    match form.strategy {
        Strategy::Exhaustive => {
            let fills = form.fills.clone().unwrap_or_else(|| vec![FillForm::Coordinates]);
            Arc::new(Exhaustive::new(bounded, ranks, types, fills, seed))
        }
        Strategy::Random | Strategy::Layout => Arc::new(Random::new(samplers(), seed, length)),
        Strategy::Mutated => {
            let others = before.iter().map(|part| Arc::clone(&part.generator));
            Arc::new(Mutated { parts: others.collect(), seed, length })
        }
        Strategy::Vectors => {
            let cases = Arc::clone(&spaces.vectors);
            searched([cases], move |cases| vectors::search(cases, &operators, &types, ranks))
        }
        Strategy::Documented => searched(all, move |space| documented::search(space, &types, ranks)),
        Strategy::Covering => {
            let strength = form.strength.unwrap_or(2) as usize;
            searched(all, move |space| covering::search(space, &types, ranks, strength, seed))
        }
        Strategy::Large => {
            let limits = (form.beyond, form.elements, form.each);
            searched(all, move |space| large::search(space, &types, ranks, limits, seed))
        }
        Strategy::Negative => {
            let cross = form.cross.clone();
            let cross = cross.unwrap_or_else(|| Cross::USUAL.to_vec());
            searched(samplers(), move |sampler| negative::search(sampler, &cross, seed))
        }
        Strategy::Boundary => searched(samplers(), move |sampler| boundary::search(sampler, each, seed)),
        Strategy::Twins => searched(samplers(), move |sampler| twins::search(sampler, each, seed)),
    }
}

/// The default of `elements`: the largest number of elements of a tensor.
const USUAL: u32 = 64;
/// The largest number of elements of the descs whose neighbours are searched.
const SMALL: u32 = 24;

/// A generator that searches the operators on its first use, each on a thread of its own.
fn searched<'lib, T: Send + Sync + 'lib>(
    operators: impl IntoIterator<Item = T>,
    search: impl Fn(&T) -> SearchResult + Send + Sync + 'lib,
) -> Arc<dyn Generator + 'lib> {
    let operators: Vec<T> = operators.into_iter().collect();
    Arc::new(Searched::new(move || {
        let mut all = SearchResult::default();
        let search = &search;
        thread::scope(|scope| {
            let started: Vec<_> =
                operators.iter().map(|operator| scope.spawn(move || search(operator))).collect();
            for thread in started {
                let found = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
                all.cases.extend(found.cases);
                all.omitted = all.omitted.and(found.omitted);
            }
        });
        all
    }))
}
