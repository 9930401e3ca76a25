"""SLICE, SLICE1 and PADDING1 on NumPy: `dmlcts run --backend 'exec:python3 numpy_backend.py'`.

Elements are moved as unsigned integers of their width, so that no bit of a float is touched. What makes a desc invalid stands
in `rules.py` beside this file.
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import numpy as np

import dmlcts_backend as dmlcts
import rules

#: DML_PADDING_MODE, as NumPy calls it.
MODES = {
    rules.CONSTANT: "constant", rules.EDGE: "edge", rules.REFLECTION: "reflect", rules.SYMMETRIC: "symmetric",
    rules.WRAP: "wrap",
}
#: Unsigned integers by their bytes.
WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


class NumPy(dmlcts.Backend):
    name, version = "numpy", np.__version__
    operators = ["SLICE", "SLICE1", "PADDING1"]

    def create(self, desc: dmlcts.Desc) -> dmlcts.Run:
        source, target = rules.tensors(desc)
        move = pad(desc, source, target) if desc.operator == "PADDING1" else cut(desc, source, target)

        def run(input, output):
            view(output, target)[...] = move(view(input, source))

        return run


def view(memory, tensor: dmlcts.Tensor) -> np.ndarray:
    """The elements of a tensor, where they lie in memory."""
    word = np.dtype(WORDS[dmlcts.element_size(tensor)])
    strides = tensor.Strides or dmlcts.packed_strides(tensor.Sizes)
    elements = np.frombuffer(memory, np.uint8)
    bytes_of = [stride * word.itemsize for stride in strides]
    return np.ndarray(tensor.Sizes, word, elements, 0, bytes_of)


def cut(desc: dmlcts.Desc, source: dmlcts.Tensor, target: dmlcts.Tensor):
    """SLICE and SLICE1, as a function of the input's elements."""
    cuts = []
    for first, count, step in rules.walks(desc, source, target):
        # A walk backwards may end at -1, which a slice takes for the end of the axis.
        stop = first + count * step
        cuts.append(slice(first, stop if stop >= 0 else None, step))
    return lambda elements: elements[tuple(cuts)]


def pad(desc: dmlcts.Desc, source: dmlcts.Tensor, target: dmlcts.Tensor):
    """PADDING1, as a function of the input's elements."""
    widths, mode = rules.paddings(desc, source, target), MODES[desc.PaddingMode]
    width = dmlcts.element_size(source)
    value = np.frombuffer(desc.PaddingValue[:width], WORDS[width])[0]
    options = {"constant_values": value} if mode == "constant" else {}
    return lambda elements: np.pad(elements, widths, mode, **options)


if __name__ == "__main__":
    dmlcts.serve(NumPy())
