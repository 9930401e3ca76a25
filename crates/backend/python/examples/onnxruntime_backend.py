"""SLICE, SLICE1 and PADDING1 on ONNX Runtime: `dmlcts run --backend 'exec:python3 onnxruntime_backend.py'`.

ONNX has Slice and Pad, which say the same in other words. SLICE and SLICE1 hold in whole. Of PADDING1 it cannot do everything, and
says so case by case: a declaration before any case knows operators, types and dimension counts, and no modes. So a run counts
what is missing, by its reason, apart from what is wrong: Pad takes FLOAT16 through float, where NaNs lose bits.

A session is created for each desc, which takes about a millisecond: this suits `smoke` and `ci`, and no longer suite.
"""

import collections
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper

import dmlcts_backend as dmlcts
from dmlcts_backend import Invalid, Unsupported, check_list

#: The data types by their DML code, as ONNX and NumPy have them. FLOAT16 is half.
TYPES = {
    1: (TensorProto.FLOAT, np.float32), 2: (TensorProto.FLOAT16, np.float16), 3: (TensorProto.UINT32, np.uint32),
    4: (TensorProto.UINT16, np.uint16), 5: (TensorProto.UINT8, np.uint8), 6: (TensorProto.INT32, np.int32),
    7: (TensorProto.INT16, np.int16), 8: (TensorProto.INT8, np.int8), 9: (TensorProto.DOUBLE, np.float64),
    10: (TensorProto.UINT64, np.uint64), 11: (TensorProto.INT64, np.int64),
}
#: DML_PADDING_MODE. ONNX has no SYMMETRIC (3).
MODES = {0: "constant", 1: "edge", 2: "reflect", 4: "wrap"}
#: As many sessions are kept: a created operator runs up to three times, and many cases differ in their data alone.
KEPT = 64


class OnnxRuntime(dmlcts.Backend):
    name, version = "onnxruntime", ort.__version__
    device = "CPUExecutionProvider"
    operators = ["SLICE", "SLICE1", "PADDING1"]

    def __init__(self):
        self.sessions = collections.OrderedDict()

    def create(self, desc):
        source, target = dmlcts.check_tensors(desc)
        if desc.DimensionCount != source.DimensionCount:
            raise Invalid("DimensionCount is not that of the tensors")
        model = {"SLICE": slice_, "SLICE1": slice1, "PADDING1": padding1}[desc.operator]
        key = model(desc, source, target)
        session = self.session(source.DataType, tuple(source.Sizes), tuple(target.Sizes), key)

        def run(input, output):
            elements = np.ascontiguousarray(view(input, source))
            made = session.run(None, {"input": elements})[0]
            view(output, target)[...] = made

        return run

    def session(self, *key):
        """The session for a model, and the constants in it."""
        session = self.sessions.pop(key, None) or make(*key)
        self.sessions[key] = session
        if len(self.sessions) > KEPT:
            self.sessions.popitem(last=False)
        return session


def make(code, sizes, out, words):
    operator, attributes, constants = words
    element, dtype = TYPES[code]
    initializers = []
    for name, values in constants:
        if isinstance(values, bytes):  # a scalar of the tensors' type
            initializers.append(helper.make_tensor(name, element, [], values, raw=True))
        else:
            initializers.append(helper.make_tensor(name, TensorProto.INT64, [len(values)], values))
    node = helper.make_node(operator, ["input"] + [name for name, _ in constants], ["output"], **dict(attributes))
    graph = helper.make_graph(
        [node], "case",
        [helper.make_tensor_value_info("input", element, sizes)],
        [helper.make_tensor_value_info("output", element, out)],
        initializers,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    # A model of one node has nothing to fuse.
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except (ort.capi.onnxruntime_pybind11_state.NotImplemented) as error:
        raise Unsupported("ONNX Runtime has no %s for this type: %s" % (operator, str(error).split("\n")[0]))


def view(memory, tensor):
    """The elements of a tensor, where they lie in memory."""
    dtype = np.dtype(TYPES[tensor.DataType][1])
    strides = tensor.Strides or dmlcts.packed_strides(tensor.Sizes)
    elements = np.frombuffer(memory, np.uint8)
    return np.ndarray(tensor.Sizes, dtype, elements, 0, [stride * dtype.itemsize for stride in strides])


def cut(starts, ends, steps):
    lists = (("starts", starts), ("ends", ends), ("axes", range(len(starts))), ("steps", steps))
    return "Slice", (), tuple((name, tuple(values)) for name, values in lists)


def slice_(desc, source, target):
    """Page: ns-directml-dml_slice_operator_desc."""
    rank = source.DimensionCount
    offsets, sizes, strides = (check_list(name, getattr(desc, name), rank) for name in ("Offsets", "Sizes", "Strides"))
    if target.Sizes != sizes:
        raise Invalid("OutputTensor.Sizes are not Sizes")
    ends = []
    for n, offset, size, stride in zip(source.Sizes, offsets, sizes, strides):
        # The page is silent about a stride of 0, and about one that no INT holds; DirectML refuses both.
        if not 1 <= stride < 1 << 31:
            raise Invalid("a stride is 0, or above INT_MAX")
        last = offset + (size - 1) * stride
        if last >= n:
            raise Invalid("the slice reads outside of the input")
        ends.append(last + 1)
    return cut(offsets, ends, strides)


def slice1(desc, source, target):
    """Page: ns-directml-dml_slice1_operator_desc."""
    names = "InputWindowOffsets", "InputWindowSizes", "InputWindowStrides"
    offsets, sizes, strides = (check_list(name, getattr(desc, name), source.DimensionCount) for name in names)
    starts, ends = [], []
    for n, m, offset, size, stride in zip(source.Sizes, target.Sizes, offsets, sizes, strides):
        if size < 1 or stride == 0 or offset + size > n:
            raise Invalid("a window is empty, its stride is 0, or it reaches outside of the input")
        if m > 1 + (size - 1) // abs(stride):
            raise Invalid("the output is larger than what the window holds")
        start = offset if stride > 0 else offset + size - 1
        last = start + (m - 1) * stride
        starts.append(start)
        # An end of -1 means the last element; what lies before the first one is said with the least end of all.
        ends.append(last + 1 if stride > 0 else last - 1 if last > 0 else -(1 << 31))
    return cut(starts, ends, strides)


def padding1(desc, source, target):
    """Page: ns-directml-dml_padding1_operator_desc."""
    rank, mode = source.DimensionCount, desc.PaddingMode
    if not 0 <= mode <= 4:
        raise Invalid("PaddingMode is no mode")
    if desc.PaddingValueDataType != source.DataType:
        raise Invalid("PaddingValueDataType is not that of the tensors")
    start, end = (check_list(name, getattr(desc, name), rank) for name in ("StartPadding", "EndPadding"))
    if target.Sizes != [n + before + after for n, before, after in zip(source.Sizes, start, end)]:
        raise Invalid("OutputTensor.Sizes are not the input's with both paddings")
    if mode not in MODES:
        raise Unsupported("ONNX has no symmetric padding")
    if mode == 2:
        for n, before, after in zip(source.Sizes, start, end):
            if n == 1 and before + after > 0:
                # The page is silent about it, so that a refusal is an answer.
                raise Invalid("there is nothing to reflect in an axis of one element")
            if max(before, after) >= n:
                raise Unsupported("ONNX Runtime reflects less than a whole axis")
    constants = [("pads", tuple(start) + tuple(end))]
    if mode == 0:
        constants.append(("value", desc.PaddingValue[:dmlcts.element_size(source)]))
    return "Pad", (("mode", MODES[mode]),), tuple(constants)


if __name__ == "__main__":
    dmlcts.serve(OnnxRuntime())
