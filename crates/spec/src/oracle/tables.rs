//! What short axes read, remembered by the values that the read sees of an axis.
//!
//! The tensors of a run are small and put together from the same axes over and over: an axis is worked out when
//! it is first met, and looked up from then on.

use dmlcts_model::{Side, Signature};

use crate::program::{
    Inputs, Leaf, ListSource, OpId, Operation, Program,
    axis_key::{AxisKey, AxisKeys, KeyList, VALUES, put},
    memo::Memo,
};

/// How many axes are remembered of one read.
const MOST_AXES: usize = 1 << 14;
/// How many coordinates they have together at most.
const MOST_COORDINATES: usize = 1 << 19;
/// How many reads are remembered.
const MOST_READS: usize = 32;

/// What a read's value on an axis follows from.
#[derive(Debug)]
pub(super) struct Dependencies {
    /// Tells what is remembered of this read from what is remembered of others.
    id: u64,
    /// The output's sizes come first.
    lists: Vec<KeyList>,
    scalars: Vec<Leaf>,
    by_axis: bool,
}

impl Dependencies {
    /// By what the axes of these operations are told apart; `None` where it is more than a key holds, or where an
    /// axis follows from others.
    pub(super) fn new(signature: &Signature, program: &Program, operations: &[OpId]) -> Option<Self> {
        use std::sync::atomic::{AtomicU64, Ordering};
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let id = COUNT.fetch_add(1, Ordering::Relaxed);
        let list = |source: ListSource| KeyList::new(source, signature);
        let sizes = list(ListSource::Sizes(Side::Output));
        let mut told = Self { id, lists: vec![sizes], scalars: Vec::new(), by_axis: false };
        for &id in operations {
            match program.op(id).operation {
                Operation::Leaf(Leaf::Coordinate) => {}
                Operation::Leaf(Leaf::Axis) => told.by_axis = true,
                Operation::Leaf(Leaf::List(ListSource::Strides(_))) | Operation::Over(..) => return None,
                Operation::Leaf(Leaf::List(source)) => told.lists.push(list(source)),
                Operation::Leaf(leaf @ (Leaf::Member(_) | Leaf::Level)) => told.scalars.push(leaf),
                Operation::Leaf(_) => return None,
                _ => {}
            }
        }
        let values = told.lists.len() + told.scalars.len() + usize::from(told.by_axis);
        (values <= VALUES).then_some(told)
    }

    /// The keys of a desc's axes. `None` where a list is shorter than the output has axes, or a value does not fit.
    #[inline]
    fn keys(&self, inputs: &Inputs<'_>, keys: &mut [AxisKey]) -> Option<()> {
        keys.fill(AxisKey::default());
        for (place, list) in self.lists.iter().enumerate() {
            list.load(inputs.desc, keys, place)?;
        }
        for (place, leaf) in (self.lists.len()..).zip(&self.scalars) {
            let value = i32::try_from(leaf.scalar(inputs)?).ok()?;
            for key in &mut *keys {
                put(key, place, value as u32);
            }
        }
        if self.by_axis {
            (0..).zip(keys).for_each(|(axis, key)| put(key, VALUES - 1, axis));
        }
        Some(())
    }
}

/// What is remembered, by read.
#[derive(Debug, Default)]
pub(super) struct Tables {
    reads: Vec<(u64, Axes)>,
}

/// The axes of one read.
#[derive(Debug, Default)]
pub(super) struct Axes {
    memo: Memo<Table, { VALUES / 2 }, MOST_AXES>,
    coordinates: Vec<u32>,
    /// Of the desc in hand.
    keys: AxisKeys,
}

/// Where the table of an axis lies in [`Axes::coordinates`].
#[derive(Debug, Clone, Copy)]
struct Table {
    start: u32,
    end: u32,
}

impl Tables {
    /// The axes of a read.
    #[inline]
    pub(super) fn of(&mut self, told: &Dependencies) -> &mut Axes {
        let found = self.reads.iter().position(|(id, _)| *id == told.id);
        let place = found.unwrap_or_else(|| {
            if self.reads.len() == MOST_READS {
                self.reads.clear();
            }
            self.reads.push((told.id, Axes::default()));
            self.reads.len() - 1
        });
        &mut self.reads[place].1
    }
}

impl Axes {
    /// Puts what the axes of a desc read behind each other, outermost first, and gives how many coordinates that
    /// are. `None` where some axis is not known.
    #[inline]
    pub(super) fn find(
        &mut self,
        told: &Dependencies,
        inputs: &Inputs<'_>,
        count: usize,
        coordinates: &mut [u32],
    ) -> Option<usize> {
        let keys = self.keys.get_mut(..count)?;
        told.keys(inputs, keys)?;
        let mut known = 0;
        for key in &*keys {
            let Table { start, end } = *self.memo.get(self.memo.find(key)?);
            let table = self.coordinates.get(start as usize..end as usize)?;
            coordinates.get_mut(known..known + table.len())?.copy_from_slice(table);
            known += table.len();
        }
        Some(known)
    }

    /// Remembers the axes that were looked for last and are not known, from what all of them read.
    pub(super) fn remember(&mut self, count: usize, mut coordinates: &[u32]) {
        if self.memo.make_room(count) || self.coordinates.len() + coordinates.len() > MOST_COORDINATES {
            self.memo.clear();
            self.coordinates.clear();
        }
        for key in self.keys.iter().take(count) {
            // The size of the output is the first value.
            let size = (key[0] as u32 as usize).min(coordinates.len());
            let (table, rest) = coordinates.split_at(size);
            coordinates = rest;
            if self.memo.find(key).is_none() {
                let start = self.coordinates.len() as u32;
                self.coordinates.extend_from_slice(table);
                self.memo.insert(*key, Table { start, end: self.coordinates.len() as u32 });
            }
        }
    }
}
