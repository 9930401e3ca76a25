//! Packs plans into words for the kernel of small cases (`kernels/batched.wgsl`).

use crate::plan::Plan;

/// The class of a kernel: each is compiled for one element width, with or without folding, for packed or
/// strided outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Class {
    /// The number of bytes of an element.
    pub(crate) width: u32,
    pub(crate) folds: bool,
    pub(crate) packed: bool,
}

impl Class {
    /// The number of classes.
    pub(crate) const COUNT: usize = 16;

    /// The class of a plan.
    pub(crate) fn of(plan: &Plan) -> Self {
        Self { width: plan.shape.width, folds: plan.folds, packed: plan.shape.packed }
    }

    /// Its index among all classes.
    pub(crate) fn index(self) -> usize {
        (self.width.trailing_zeros() as usize & 3)
            | usize::from(self.folds) << 2
            | usize::from(self.packed) << 3
    }

    /// The class with this index.
    pub(crate) fn at(index: usize) -> Self {
        Self { width: 1 << (index & 3), folds: index & 4 != 0, packed: index & 8 != 0 }
    }
}

/// The location of a run's memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    /// The run's number in the dispatch.
    pub(crate) number: u32,
    /// The offset of its input, in words.
    pub(crate) input: u32,
    /// The offset of its output, in words.
    pub(crate) output: u32,
}

/// Records of runs, by class. Their memory is reused for the next batch.
#[derive(Debug, Default)]
pub(crate) struct Records {
    words: Vec<u32>,
    /// For each class, the offsets of its records in `words`.
    starts: [Vec<u32>; Class::COUNT],
}

/// The runs of one class in the table of packed records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) class: Class,
    /// The index of its first entry in the table.
    pub(crate) first: u32,
    pub(crate) count: u32,
}

impl Records {
    /// Removes all records.
    pub(crate) fn clear(&mut self) {
        self.words.clear();
        for starts in &mut self.starts {
            starts.clear();
        }
    }

    /// Adds a run. Its tensors must be smaller than 4 GiB.
    pub(crate) fn push(&mut self, plan: &Plan, place: Placement) {
        let starts = &mut self.starts[Class::of(plan).index()];
        starts.push(self.words.len() as u32);
        let axes = plan.axes();
        let [input_bytes, output_bytes] = plan.shape.bytes;
        self.words.extend([
            place.number,
            place.input,
            input_bytes as u32,
            place.output,
            output_bytes as u32,
            plan.shape.elements,
            axes.len() as u32 | u32::from(plan.constant) << 31,
            plan.first,
        ]);
        if plan.folds {
            self.words.extend(plan.fill);
            for axis in axes {
                let fold = axis.fold;
                self.words.extend([axis.size, axis.input_stride, axis.output_stride]);
                self.words.extend([fold.bias, fold.period, fold.mirror, fold.n]);
            }
        } else {
            for axis in axes {
                self.words.extend([axis.size, axis.input_stride, axis.output_stride]);
            }
        }
    }

    /// The number of words of the table and the records.
    pub(crate) fn len(&self) -> usize {
        self.words.len() + self.starts.iter().map(Vec::len).sum::<usize>()
    }

    /// Writes the table and then the records. Returns the entries of each class in the table.
    pub(crate) fn pack(&self, out: &mut Vec<u32>) -> impl Iterator<Item = Run> {
        out.clear();
        out.reserve(self.len());
        let table = (self.len() - self.words.len()) as u32;
        for starts in &self.starts {
            out.extend(starts.iter().map(|start| start + table));
        }
        out.extend_from_slice(&self.words);
        let mut first = 0;
        self.starts.iter().enumerate().filter_map(move |(index, starts)| {
            let run = Run { class: Class::at(index), first, count: starts.len() as u32 };
            first += run.count;
            (run.count > 0).then_some(run)
        })
    }
}
