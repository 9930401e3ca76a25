"""What the pages ask of a desc of SLICE, SLICE1 and PADDING1, in one place for the examples beside it.

NumPy and ONNX Runtime have operators that do the same and ask for less, so that a backend on them validates by itself. Each
function raises `Invalid` for a desc that DirectML refuses, and returns what is left to do, axis by axis.
"""

from __future__ import annotations

from typing import List, NamedTuple, Tuple

import dmlcts_backend as dmlcts
from dmlcts_backend import Desc, Invalid, Tensor, check_list

#: DML_PADDING_MODE.
CONSTANT, EDGE, REFLECTION, SYMMETRIC, WRAP = range(5)


class Walk(NamedTuple):
    """The elements of an axis that are read: `count` of them, from `first` on, `step` apart; a step may be negative."""

    first: int
    count: int
    step: int


def tensors(desc: Desc) -> Tuple[Tensor, Tensor]:
    """The tensors of any operator: the input and the output."""
    source, target = dmlcts.check_tensors(desc)
    if desc.DimensionCount != source.DimensionCount:
        raise Invalid("DimensionCount is not that of the tensors")
    return source, target


def walks(desc: Desc, source: Tensor, target: Tensor) -> List[Walk]:
    """What SLICE or SLICE1 reads."""
    return {"SLICE": slice_walks, "SLICE1": slice1_walks}[desc.operator](desc, source, target)


def slice_walks(desc: Desc, source: Tensor, target: Tensor) -> List[Walk]:
    """Page: ns-directml-dml_slice_operator_desc."""
    offsets, sizes, strides = lists(desc, source, "Offsets", "Sizes", "Strides")
    if target.Sizes != sizes:
        raise Invalid("OutputTensor.Sizes are not Sizes")
    for n, offset, size, stride in zip(source.Sizes, offsets, sizes, strides):
        # The page is silent about a stride of 0, and about one that no INT holds; DirectML refuses both.
        if not 1 <= stride < 1 << 31:
            raise Invalid("a stride is 0, or above INT_MAX")
        if offset + (size - 1) * stride >= n:
            raise Invalid("the slice reads outside of the input")
    return [Walk(*axis) for axis in zip(offsets, sizes, strides)]


def slice1_walks(desc: Desc, source: Tensor, target: Tensor) -> List[Walk]:
    """Page: ns-directml-dml_slice1_operator_desc."""
    windows = lists(desc, source, "InputWindowOffsets", "InputWindowSizes", "InputWindowStrides")
    found = []
    for n, m, offset, size, stride in zip(source.Sizes, target.Sizes, *windows):
        if size < 1 or stride == 0 or offset + size > n:
            raise Invalid("a window is empty, its stride is 0, or it reaches outside of the input")
        if m > 1 + (size - 1) // abs(stride):
            raise Invalid("the output is larger than what the window holds")
        # A negative stride begins at the far end of the window.
        found.append(Walk(offset if stride > 0 else offset + size - 1, m, stride))
    return found


def paddings(desc: Desc, source: Tensor, target: Tensor) -> List[Tuple[int, int]]:
    """How much PADDING1 adds before and behind the input. Page: ns-directml-dml_padding1_operator_desc."""
    if desc.PaddingMode not in (CONSTANT, EDGE, REFLECTION, SYMMETRIC, WRAP):
        raise Invalid("PaddingMode is no mode")
    if desc.PaddingValueDataType != source.DataType:
        raise Invalid("PaddingValueDataType is not that of the tensors")
    start, end = lists(desc, source, "StartPadding", "EndPadding")
    if target.Sizes != [n + before + after for n, before, after in zip(source.Sizes, start, end)]:
        raise Invalid("OutputTensor.Sizes are not the input's with both paddings")
    return list(zip(start, end))


def lists(desc: Desc, source: Tensor, *names: str) -> List[List[int]]:
    """Members that have one value an axis."""
    return [check_list(name, getattr(desc, name), source.DimensionCount) for name in names]
