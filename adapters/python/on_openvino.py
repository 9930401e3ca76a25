"""OpenVINO on the CPU, held to the pages of its operations Slice-8 and Pad-12."""

import dmlcts_backend as dmlcts
import numpy as np
import openvino
from openvino import opset13 as op

CORE = openvino.Core()
CORE.set_property("CPU", {"INFERENCE_PRECISION_HINT": "f32"})


class OpenVino(dmlcts.ArrayBackend):
    name, version = "openvino", openvino.__version__
    device = "CPU"
    #: The plugin computes with these as they are. It converts FLOAT16, FLOAT64, INT64 and unsigned numbers of 16 bits and more.
    data_types = ("FLOAT32", "INT32", "INT8", "UINT8")
    modes = {"CONSTANT": "constant", "EDGE": "edge", "REFLECTION": "reflect", "SYMMETRIC": "symmetric"}
    narrow_modes = ("REFLECTION", "SYMMETRIC")
    before_first = -(1 << 31)

    def slice(self, array, starts, stops, steps):
        return run(array, op.slice, np.int64(starts), np.int64(stops), np.int64(steps))

    def pad(self, array, widths, mode, value):
        before, after = np.int64(widths).T
        return run(array, op.pad, before, after, mode, np.array(value))


def run(array, operation, *arguments):
    input = op.parameter(array.shape, array.dtype)
    model = openvino.Model([operation(input, *arguments)], [input])
    return CORE.compile_model(model, "CPU")([array])[0]


dmlcts.serve(OpenVino())
