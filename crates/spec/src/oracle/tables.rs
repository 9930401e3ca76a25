//! A cache of the reads of short axes, keyed by the values of an axis that the read depends on.
//!
//! The tensors of a run are small and combine the same axes. An axis is evaluated when it first occurs, and
//! then looked up.

use dmlcts_model::{Side, Signature};

use crate::program::{
    Inputs, Leaf, ListSource, OpId, Operation, Program,
    axis_key::{AxisKey, AxisKeys, KeyList, VALUES, put},
    memo::Memo,
};

/// The largest number of cached axes per read.
const MOST_AXES: usize = 1 << 14;
/// The largest number of their coordinates.
const MOST_COORDINATES: usize = 1 << 19;
/// The largest number of cached reads.
const MOST_READS: usize = 32;

/// The values on an axis that a read depends on.
#[derive(Debug)]
pub(super) struct Dependencies {
    /// Identifies the read in the cache.
    id: u64,
    /// Starts with the output's sizes.
    lists: Vec<KeyList>,
    scalars: Vec<Leaf>,
    by_axis: bool,
}

impl Dependencies {
    /// The dependencies of these operations. `None` if they exceed the capacity of a key, or if an axis
    /// depends on other axes.
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
                Operation::Leaf(Leaf::List(ListSource::Strides(_) | ListSource::PackedStrides(_)))
                | Operation::Over(..)
                | Operation::On(..) => return None,
                Operation::Leaf(Leaf::List(source)) => told.lists.push(list(source)),
                Operation::Leaf(leaf @ (Leaf::Member(_) | Leaf::Level)) => told.scalars.push(leaf),
                Operation::Leaf(_) => return None,
                _ => {}
            }
        }
        let values = told.lists.len() + told.scalars.len() + usize::from(told.by_axis);
        (values <= VALUES).then_some(told)
    }

    /// The keys of a desc's axes. `None` if a list is shorter than the number of output axes, or if a value
    /// does not fit.
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

/// The cached axes of all reads.
#[derive(Debug, Default)]
pub(super) struct Tables {
    reads: Vec<(u64, Axes)>,
}

/// The cached axes of one read.
#[derive(Debug, Default)]
pub(super) struct Axes {
    memo: Memo<Table, { VALUES / 2 }, MOST_AXES>,
    coordinates: Vec<u32>,
    /// The keys of the current desc.
    keys: AxisKeys,
}

/// The range of an axis's table in [`Axes::coordinates`].
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
    /// Writes the reads of a desc's axes one after the other, outermost first, and returns the number of
    /// coordinates. `None` if an axis is not cached.
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

    /// Caches the axes of the last lookup that were missing, from the reads of all axes.
    pub(super) fn remember(&mut self, count: usize, mut coordinates: &[u32]) {
        if self.memo.make_room(count) || self.coordinates.len() + coordinates.len() > MOST_COORDINATES {
            self.memo.clear();
            self.coordinates.clear();
        }
        for key in self.keys.iter().take(count) {
            // The output's size is the first value.
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
