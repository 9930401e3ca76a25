"""SLICE, SLICE1 and PADDING1 on ONNX Runtime: `dmlcts run --backend 'exec:python3 onnxruntime_backend.py'`.

ONNX has Slice and Pad, which say the same in other words. SLICE and SLICE1 hold in whole. Of PADDING1 it cannot do everything: what it
lacks is declared (`lacks`, `elements`) and not asked. The folder `findings/onnxruntime/` has what is wrong besides.

A session is created for each desc, which takes about a millisecond: this suits `smoke` and `ci`, and no longer suite.
"""

from __future__ import annotations

import collections

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper

import dmlcts_backend as dmlcts
from dmlcts_backend import Unsupported

#: The data types by their DML code, as ONNX and NumPy have them. FLOAT16 is half.
TYPES = {
    1: (TensorProto.FLOAT, np.float32), 2: (TensorProto.FLOAT16, np.float16), 3: (TensorProto.UINT32, np.uint32),
    4: (TensorProto.UINT16, np.uint16), 5: (TensorProto.UINT8, np.uint8), 6: (TensorProto.INT32, np.int32),
    7: (TensorProto.INT16, np.int16), 8: (TensorProto.INT8, np.int8), 9: (TensorProto.DOUBLE, np.float64),
    10: (TensorProto.UINT64, np.uint64), 11: (TensorProto.INT64, np.int64),
}
#: The padding modes, as Pad calls them. It has no SYMMETRIC.
MODES = {"CONSTANT": "constant", "EDGE": "edge", "REFLECTION": "reflect", "WRAP": "wrap"}
#: As many sessions are kept: a created operator runs up to three times, and many cases differ in their data alone.
KEPT = 64
#: A negative end counts from the end of the axis; what lies before the first element is said with the least end of all.
BEFORE_ALL = -(1 << 31)


class OnnxRuntime(dmlcts.Backend):
    name, version = "onnxruntime", ort.__version__
    device = "CPUExecutionProvider"
    operators = ["SLICE", "SLICE1", "PADDING1"]
    #: ONNX Runtime has no strides: the elements of a broadcast input are all copied.
    elements = 1 << 28
    lacks = {"PADDING1": {
        "InputTensor.DataType in [UINT16, INT16]": "the CPU has no Pad of this type",
        "PaddingMode == SYMMETRIC": "ONNX has no symmetric padding",
        "PaddingMode == REFLECTION and any axis max(StartPadding, EndPadding) >= InputTensor.Sizes":
            "Pad reflects less than a whole axis",
    }}

    def __init__(self) -> None:
        self.sessions = collections.OrderedDict()

    def create(self, desc: dmlcts.Desc) -> dmlcts.Run:
        source, target = dmlcts.check_tensors(desc)
        words = pad(desc, source, target) if desc.operator == "PADDING1" else cut(desc, source, target)
        session = self.session(source.DataType, tuple(source.Sizes), tuple(target.Sizes), words)

        def run(input, output):
            elements = np.ascontiguousarray(view(input, source))
            made = session.run(None, {"input": elements})[0]
            view(output, target)[...] = made

        return run

    def session(self, *key) -> ort.InferenceSession:
        """The session for a model, and the constants in it."""
        session = self.sessions.pop(key, None) or make(*key)
        self.sessions[key] = session
        if len(self.sessions) > KEPT:
            self.sessions.popitem(last=False)
        return session


def make(code: int, sizes: tuple, out: tuple, words: tuple) -> ort.InferenceSession:
    """A session for a model of one node: ONNX's operator, its attributes, and the names and values of its constants."""
    operator, attributes, constants = words
    element, _ = TYPES[code]
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
    except ort.capi.onnxruntime_pybind11_state.NotImplemented as error:
        raise Unsupported("ONNX Runtime has no %s for this type: %s" % (operator, str(error).split("\n")[0]))


def view(memory, tensor: dmlcts.Tensor) -> np.ndarray:
    """The elements of a tensor, where they lie in memory."""
    return np.ndarray(tensor.Sizes, TYPES[tensor.DataType][1], memory, 0, dmlcts.byte_strides(tensor))


def cut(desc: dmlcts.Desc, source: dmlcts.Tensor, target: dmlcts.Tensor) -> tuple:
    """SLICE and SLICE1 in ONNX's words."""
    walks = dmlcts.check_slice(desc, source, target)
    starts = [walk.first for walk in walks]
    ends = [BEFORE_ALL if walk.stop is None else walk.stop for walk in walks]
    steps = [walk.step for walk in walks]
    lists = (("starts", starts), ("ends", ends), ("axes", range(len(walks))), ("steps", steps))
    return "Slice", (), tuple((name, tuple(values)) for name, values in lists)


def pad(desc: dmlcts.Desc, source: dmlcts.Tensor, target: dmlcts.Tensor) -> tuple:
    """PADDING1 in ONNX's words, as far as it has any."""
    paddings, mode = dmlcts.check_padding(desc, source, target), dmlcts.PADDING_MODES[desc.PaddingMode]
    if mode not in MODES:
        raise Unsupported("ONNX has no symmetric padding")
    # Pad refuses it when it runs; a created operator is to run.
    if mode == "REFLECTION" and any(max(padding) >= n for n, padding in zip(source.Sizes, paddings)):
        raise Unsupported("ONNX Runtime reflects less than a whole axis")
    before, after = zip(*paddings)
    constants = [("pads", before + after)]
    if mode == "CONSTANT":
        constants.append(("value", desc.PaddingValue[:dmlcts.element_size(source)]))
    return "Pad", (("mode", MODES[mode]),), tuple(constants)


dmlcts.serve(OnnxRuntime())
