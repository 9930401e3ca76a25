"""SLICE, SLICE1 and PADDING1 on NumPy: `dmlcts run --backend 'exec:python3 numpy_backend.py'`.

Elements are moved as unsigned integers of their width, so that no bit of a float is touched.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import numpy as np

import dmlcts_backend as dmlcts
from dmlcts_backend import Invalid, check_list

MODES = {0: "constant", 1: "edge", 2: "reflect", 3: "symmetric", 4: "wrap"}
WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


class NumPy(dmlcts.Backend):
    name, version = "numpy", np.__version__
    operators = ["SLICE", "SLICE1", "PADDING1"]

    def create(self, desc):
        source, target = dmlcts.check_tensors(desc)
        if desc.DimensionCount != source.DimensionCount:
            raise Invalid("DimensionCount is not that of the tensors")
        move = {"SLICE": slice_, "SLICE1": slice1, "PADDING1": padding1}[desc.operator](desc, source, target)

        def run(input, output):
            view(output, target)[...] = move(view(input, source))

        return run


def view(memory, tensor):
    """The elements of a tensor, where they lie in memory."""
    word = np.dtype(WORDS[dmlcts.element_size(tensor)])
    strides = tensor.Strides or dmlcts.packed_strides(tensor.Sizes)
    elements = np.frombuffer(memory, np.uint8)
    bytes_of = [stride * word.itemsize for stride in strides]
    return np.ndarray(tensor.Sizes, word, elements, 0, bytes_of)


def slice_(desc, source, target):
    """Page: ns-directml-dml_slice_operator_desc."""
    rank = source.DimensionCount
    offsets, sizes, strides = (check_list(name, getattr(desc, name), rank) for name in ("Offsets", "Sizes", "Strides"))
    if target.Sizes != sizes:
        raise Invalid("OutputTensor.Sizes are not Sizes")
    cuts = []
    for n, offset, size, stride in zip(source.Sizes, offsets, sizes, strides):
        # The page is silent about a stride of 0, and about one that no INT holds; DirectML refuses both.
        if not 1 <= stride < 1 << 31:
            raise Invalid("a stride is 0, or above INT_MAX")
        last = offset + (size - 1) * stride
        if last >= n:
            raise Invalid("the slice reads outside of the input")
        cuts.append(slice(offset, last + 1, stride))
    return lambda elements: elements[tuple(cuts)]


def slice1(desc, source, target):
    """Page: ns-directml-dml_slice1_operator_desc."""
    names = "InputWindowOffsets", "InputWindowSizes", "InputWindowStrides"
    offsets, sizes, strides = (check_list(name, getattr(desc, name), source.DimensionCount) for name in names)
    cuts = []
    for n, m, offset, size, stride in zip(source.Sizes, target.Sizes, offsets, sizes, strides):
        if size < 1 or stride == 0 or offset + size > n:
            raise Invalid("a window is empty, its stride is 0, or it reaches outside of the input")
        if m > 1 + (size - 1) // abs(stride):
            raise Invalid("the output is larger than what the window holds")
        # A negative stride begins at the far end of the window, and may end at -1, which a slice takes for the end.
        first = offset if stride > 0 else offset + size - 1
        stop = first + m * stride
        cuts.append(slice(first, stop if stop >= 0 else None, stride))
    return lambda elements: elements[tuple(cuts)]


def padding1(desc, source, target):
    """Page: ns-directml-dml_padding1_operator_desc."""
    rank, mode = source.DimensionCount, desc.PaddingMode
    if mode not in MODES:
        raise Invalid("PaddingMode is no mode")
    if desc.PaddingValueDataType != source.DataType:
        raise Invalid("PaddingValueDataType is not that of the tensors")
    start, end = (check_list(name, getattr(desc, name), rank) for name in ("StartPadding", "EndPadding"))
    if target.Sizes != [n + before + after for n, before, after in zip(source.Sizes, start, end)]:
        raise Invalid("OutputTensor.Sizes are not the input's with both paddings")
    width = dmlcts.element_size(source)
    value = np.frombuffer(desc.PaddingValue[:width], WORDS[width])[0]
    options = {"constant_values": value} if mode == 0 else {}
    return lambda elements: np.pad(elements, list(zip(start, end)), MODES[mode], **options)


if __name__ == "__main__":
    dmlcts.serve(NumPy())
