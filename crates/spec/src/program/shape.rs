//! The shape of a desc: what most rules follow from, and what a run repeats over and over.

use dmlcts_model::{Desc, List, Tensor, Value};

use super::{
    Field, Findings, Inputs, Leaf, Mask,
    evaluate::{Lengths, Table},
    step::Row,
};

/// How many shapes are remembered: a power of two.
const MOST_SHAPES: usize = 256;

/// What follows from a shape.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) key: Key,
    pub(super) lengths: Lengths,
    /// The values that the lively operations read.
    pub(super) given: Vec<(Row<i64>, Mask)>,
    pub(super) findings: Findings,
}

/// What tells shapes apart.
pub(super) type Key = [u64; KEY_WORDS];

/// Three words a tensor, one for the level, one for what kinds the members are, and one a member.
const KEY_WORDS: usize = 8 + KEY_MEMBERS;
const KEY_MEMBERS: usize = 8;

/// The shapes of one set of rules, each at the place that its key hashes to.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    remembered: Vec<Option<Shape>>,
    /// The shape whose given values are in the table.
    current: Option<usize>,
    table: Table<i64>,
}

impl Shapes {
    /// The shape with this key, and the table with its given values.
    pub(super) fn find(&mut self, key: &Key, operations: usize) -> Option<(&Shape, &mut Table<i64>)> {
        let place = place_of(key);
        let shape = self.remembered.get(place)?.as_ref().filter(|shape| shape.key == *key)?;
        if self.current != Some(place) {
            self.table.grow(operations);
            self.table.rows.iter_mut().zip(&shape.given).for_each(|(slot, (row, _))| *slot = *row);
            self.table.masks.iter_mut().zip(&shape.given).for_each(|(slot, (_, mask))| *slot = *mask);
            self.current = Some(place);
        }
        Some((shape, &mut self.table))
    }

    /// Remembers a shape in the place of another.
    pub(super) fn insert(&mut self, shape: Shape) {
        if self.remembered.is_empty() {
            self.remembered.resize_with(MOST_SHAPES, || None);
        }
        let place = place_of(&shape.key);
        self.remembered[place] = Some(shape);
        if self.current == Some(place) {
            self.current = None;
        }
    }
}

/// Whether a leaf is the same in all descs of one shape. `shape` says which members belong to it.
pub(super) fn follows_from_shape(leaf: Leaf, shape: &[bool]) -> bool {
    match leaf {
        Leaf::Member(position) => shape.get(position).copied().unwrap_or(false),
        Leaf::Field(_, field) => field != Field::TotalTensorSizeInBytes,
        Leaf::List(_) | Leaf::Overlaps(_) | Leaf::BindingOffset(_) | Leaf::Coordinate => false,
        Leaf::Length(_) | Leaf::ListPresent(_) | Leaf::TensorPresent(_) | Leaf::Axis | Leaf::Level => true,
    }
}

/// All that [`follows_from_shape`] reads: two descs with one key have one shape. `None` for a desc with more
/// members than keys have room for.
pub(super) fn key_of(inputs: &Inputs<'_>, shape: &[bool]) -> Option<Key> {
    let Desc { input, output, members, .. } = inputs.desc;
    let mut key = [0; KEY_WORDS];
    let (fixed, words) = key.split_at_mut(KEY_WORDS - KEY_MEMBERS);
    fixed[..3].copy_from_slice(&tensor_key(input.as_ref()));
    fixed[3..6].copy_from_slice(&tensor_key(output.as_ref()));
    fixed[6] = u64::from(inputs.level.code()) << 32 | members.len() as u64;
    if members.len() > KEY_MEMBERS {
        return None;
    }
    let mut kinds = 0;
    for ((member, word), in_shape) in members.iter().zip(words).zip(shape) {
        let (kind, value) = match member {
            Value::Integer(value) => (1, if *in_shape { *value as u64 } else { 0 }),
            Value::List(list) => (2, list.as_ref().map_or(0, |list| list.len() as u64 + 1)),
            Value::Scalar(_) => (3, 0),
        };
        kinds = kinds << 2 | kind;
        *word = value;
    }
    fixed[7] = kinds;
    Some(key)
}

fn tensor_key(tensor: Option<&Tensor>) -> [u64; 3] {
    let Some(tensor) = tensor else { return [u64::MAX; 3] };
    let length = |list: &Option<List>| list.as_ref().map_or(0, |list| list.len().min(0xFFFF) as u64 + 1);
    [
        u64::from(tensor.data_type.0) << 32 | u64::from(tensor.flags),
        u64::from(tensor.dimension_count) << 32 | u64::from(tensor.alignment),
        length(&tensor.sizes) << 32 | length(&tensor.strides),
    ]
}

/// The place of a key among the shapes.
fn place_of(key: &Key) -> usize {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut mixed = 0u64;
    for (at, &word) in key.iter().enumerate() {
        // An odd factor a word, so that the words' order matters and the multiplications overlap.
        mixed = mixed.wrapping_add(word.wrapping_mul(FACTOR.rotate_left(at as u32 * 4) | 1));
    }
    ((mixed ^ mixed >> 32).wrapping_mul(FACTOR) >> (64 - MOST_SHAPES.trailing_zeros())) as usize
}
