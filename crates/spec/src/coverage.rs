//! What a suite must exercise, and which part of it a run has exercised.
//!
//! The obligations of an operator follow from its spec. Every clause must be kept, broken and kept on its
//! boundary, and every question raised. Valid descs must use every branch of the semantics, mode, data type,
//! dimension count and row of support, and meet the condition of every note that has one. A [`Coverage`]
//! takes a few words of memory per operator. Each thread marks its own, and the threads merge them at the
//! end.

use dmlcts_model::{DataType, Desc, FeatureLevel, Side, Value};

use crate::{IdSet, Judgement, Library, Operator, Scratch, Validity};

/// One thing that a suite must exercise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Obligation {
    /// A desc keeps the clause at this index.
    Satisfied(usize),
    /// A desc breaks the clause at this index.
    Violated(usize),
    /// A desc keeps the clause at this index on its boundary.
    Boundary(usize),
    /// A desc raises the question at this index.
    Question(usize),
    /// A desc that is not invalid takes this branch of an `if` in the semantics. The index refers to
    /// [`Operator::branches`].
    Branch(usize),
    /// A desc that is not invalid uses the enumerator at this index of [`Operator::modes`].
    Mode(usize),
    /// A desc that is not invalid has this data type.
    Type(DataType),
    /// A desc that is not invalid has this number of dimensions.
    Rank(u32),
    /// A desc that is not invalid needs the row at this index of [`Operator::support`]: the row before does
    /// not allow it.
    Support(usize),
    /// A valid desc meets the condition of the note at this index of [`Operator::notes`].
    Note(usize),
}

impl Obligation {
    /// Describes the obligation, such as `slice1.stride-nonzero broken`.
    pub fn describe(self, operator: &Operator) -> String {
        let clause = |place: usize| operator.clauses().get(place).map_or("?", |clause| clause.id.as_str());
        match self {
            Self::Satisfied(place) => format!("{} kept", clause(place)),
            Self::Violated(place) => format!("{} broken", clause(place)),
            Self::Boundary(place) => format!("{} met exactly", clause(place)),
            Self::Question(place) => {
                let id = operator.questions().get(place).map_or("?", |question| question.id.as_str());
                format!("{id} raised")
            }
            Self::Branch(place) => match operator.branches().get(place) {
                Some(branch) => format!("{} {branch}", operator.name().to_lowercase()),
                None => "?".to_owned(),
            },
            Self::Mode(place) => {
                let mode = operator.modes().get(place).map_or("?", |mode| mode.name.as_str());
                format!("{} mode {mode}", operator.name().to_lowercase())
            }
            Self::Type(data_type) => format!("{} type {data_type}", operator.name().to_lowercase()),
            Self::Rank(rank) => format!("{} rank {rank}", operator.name().to_lowercase()),
            Self::Support(place) => {
                let since = operator.support().get(place).map_or(FeatureLevel::NEWEST, |row| row.since);
                format!("{} support since {since}", operator.name().to_lowercase())
            }
            Self::Note(place) => {
                let id = operator.notes().get(place).map_or("?", |note| note.id.as_str());
                format!("{id} exercised")
            }
        }
    }
}

impl Operator {
    /// Every obligation of the operator at a feature level.
    pub fn obligations(&self, level: FeatureLevel) -> Vec<Obligation> {
        let mut obligations = Vec::new();
        for place in 0..self.clauses().len() {
            obligations.push(Obligation::Satisfied(place));
            obligations.push(Obligation::Violated(place));
            if self.judge.rules.has_edge(place) {
                obligations.push(Obligation::Boundary(place));
            }
        }
        obligations.extend((0..self.questions().len()).map(Obligation::Question));
        obligations.extend((0..self.branches().len()).map(Obligation::Branch));
        let modes = self.modes().iter().enumerate().filter(|(_, mode)| mode.since <= level);
        obligations.extend(modes.map(|(place, _)| Obligation::Mode(place)));
        if let Some(row) = self.support_at(level) {
            obligations.extend(row.types.iter().copied().map(Obligation::Type));
            obligations.extend(row.dimensions.clone().map(Obligation::Rank));
        }
        let rows = self.support().iter().enumerate().filter(|(_, row)| row.since <= level);
        obligations.extend(rows.map(|(place, _)| Obligation::Support(place)));
        obligations.extend((0..self.notes().len()).map(Obligation::Note));
        obligations
    }
}

/// The exercised obligations of every operator of a library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    operators: Vec<Marks>,
}

/// The exercised obligations of one operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Marks {
    satisfied: IdSet,
    violated: IdSet,
    boundary: IdSet,
    questions: IdSet,
    branches: IdSet,
    modes: IdSet,
    /// Data types, by code.
    types: IdSet,
    /// Dimension counts.
    ranks: IdSet,
    support: IdSet,
    notes: IdSet,
}

impl Coverage {
    /// The names of an operator's sets, in the order of [`Coverage::of`].
    pub const SETS: [&str; 10] = [
        "satisfied",
        "violated",
        "boundary",
        "questions",
        "branches",
        "modes",
        "types",
        "ranks",
        "support",
        "notes",
    ];

    /// A coverage with nothing marked.
    pub fn new(library: &Library) -> Self {
        Self { operators: vec![Marks::default(); library.operators().len()] }
    }

    /// Marks what a judged desc of one of the library's operators exercises.
    #[inline]
    pub fn mark(
        &mut self,
        operator: &Operator,
        desc: &Desc,
        level: FeatureLevel,
        judgement: Judgement,
        scratch: &mut Scratch,
    ) {
        let Some(marks) = self.operators.get_mut(operator.position) else { return };
        marks.satisfied = marks.satisfied.union(judgement.satisfied);
        marks.violated = marks.violated.union(judgement.violated);
        marks.boundary = marks.boundary.union(judgement.boundary);
        if judgement.validity() != Validity::Invalid {
            marks.questions = marks.questions.union(judgement.questions);
            marks.accepted(operator, desc, level, scratch);
        }
        if judgement.validity() == Validity::Valid {
            marks.noted(operator, desc, level, scratch);
        }
    }

    /// Adds another thread's marks. Both must belong to the same library.
    pub fn merge(&mut self, other: &Self) {
        for (marks, other) in self.operators.iter_mut().zip(&other.operators) {
            for (set, other) in marks.sets().into_iter().zip({ *other }.sets()) {
                *set = set.union(*other);
            }
        }
    }

    /// The exercised obligations of an operator, in the order of [`Coverage::SETS`]. The sets hold indices,
    /// data type codes or dimension counts. Indices keep their meaning as long as the spec's hash stays the
    /// same.
    pub fn of(&self, operator: &Operator) -> [IdSet; Self::SETS.len()] {
        let mut marks = self.operators.get(operator.position).copied().unwrap_or_default();
        marks.sets().map(|set| *set)
    }

    /// Adds sets in the form that [`Coverage::of`] returns.
    pub fn add(&mut self, operator: &Operator, sets: [IdSet; Self::SETS.len()]) {
        let Some(marks) = self.operators.get_mut(operator.position) else { return };
        for (set, other) in marks.sets().into_iter().zip(sets) {
            *set = set.union(other);
        }
    }

    /// The number of met obligations, and the number of all, of the operators that have a met one.
    pub fn count(&self, library: &Library, level: FeatureLevel) -> [usize; 2] {
        let mut count = [0; 2];
        for operator in library.operators() {
            let obligations = operator.obligations(level);
            let met = obligations.iter().filter(|&&obligation| self.met(operator, obligation)).count();
            if met > 0 {
                count = [count[0] + met, count[1] + obligations.len()];
            }
        }
        count
    }

    /// Whether an obligation of an operator was met.
    pub fn met(&self, operator: &Operator, obligation: Obligation) -> bool {
        let Some(marks) = self.operators.get(operator.position) else { return false };
        match obligation {
            Obligation::Satisfied(place) => marks.satisfied.contains(place),
            Obligation::Violated(place) => marks.violated.contains(place),
            Obligation::Boundary(place) => marks.boundary.contains(place),
            Obligation::Question(place) => marks.questions.contains(place),
            Obligation::Branch(place) => marks.branches.contains(place),
            Obligation::Mode(place) => marks.modes.contains(place),
            Obligation::Type(data_type) => marks.types.contains(data_type.0 as usize),
            Obligation::Rank(rank) => marks.ranks.contains(rank as usize),
            Obligation::Support(place) => marks.support.contains(place),
            Obligation::Note(place) => marks.notes.contains(place),
        }
    }
}

impl Marks {
    fn sets(&mut self) -> [&mut IdSet; Coverage::SETS.len()] {
        let Self { satisfied, violated, boundary, questions, branches, modes, types, ranks, support, notes } =
            self;
        [satisfied, violated, boundary, questions, branches, modes, types, ranks, support, notes]
    }

    /// Marks the notes that a valid desc exercises. Only those that are left are evaluated.
    fn noted(&mut self, operator: &Operator, desc: &Desc, level: FeatureLevel, scratch: &mut Scratch) {
        for (place, note) in operator.notes().iter().enumerate().take(IdSet::CAPACITY) {
            if !self.notes.contains(place) && note.holds(desc, level, &mut scratch.values) {
                self.notes.insert(place);
            }
        }
    }

    /// Marks what only a desc that is not invalid can exercise.
    fn accepted(&mut self, operator: &Operator, desc: &Desc, level: FeatureLevel, scratch: &mut Scratch) {
        let Some(input) = desc.tensor(Side::Input) else { return };
        let (data_type, rank) = (input.data_type, input.dimension_count);
        if (data_type.0 as usize) < IdSet::CAPACITY {
            self.types.insert(data_type.0 as usize);
        }
        if (rank as usize) < IdSet::CAPACITY {
            self.ranks.insert(rank as usize);
        }
        // The remaining sets need a search. They are small, and a run soon fills them, so that the search is
        // skipped.
        if !self.modes.contains_all(IdSet::first(operator.modes().len())) {
            for (place, mode) in operator.modes().iter().enumerate().take(IdSet::CAPACITY) {
                if desc.members.get(mode.member) == Some(&Value::Integer(mode.value)) {
                    self.modes.insert(place);
                }
            }
        }
        if !self.support.contains_all(IdSet::first(operator.support().len())) {
            let allows = |place: usize| {
                let row = &operator.support()[place];
                row.types.contains(&data_type) && row.dimensions.contains(&rank)
            };
            // The row that first allowed this desc's data type and dimension count.
            let first = (0..operator.support().len().min(IdSet::CAPACITY)).find(|&place| allows(place));
            if let Some(place) = first {
                self.support.insert(place);
            }
        }
        if !self.branches.contains_all(IdSet::first(operator.branches().len())) {
            let taken = operator.branching.taken(desc, level, &mut scratch.values);
            self.branches = self.branches.union(taken);
        }
    }
}
