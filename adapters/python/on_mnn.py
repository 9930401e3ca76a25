"""MNN on the CPU, held to its pages of MNN.expr.strided_slice and MNN.expr.pad (reflect, symmetric)."""

import dmlcts_backend as dmlcts
import MNN
import MNN.expr as F
import numpy as np

TYPES = {"float32": F.float, "int32": F.int}
MODES = {"REFLECTION": F.REFLECT, "SYMMETRIC": F.SYMMETRIC}


class Mnn(dmlcts.ArrayBackend):
    name, version = "mnn", MNN.version()
    device = "CPU"
    data_types = ("FLOAT32", "INT32")
    lacks = {
        "SLICE1": {"any axis InputWindowStrides < 0": "a negative step corrupts the heap"},
        "PADDING1": {
            "not PaddingMode in [REFLECTION, SYMMETRIC]": "pad has no other value than 0, no edge and no wrap",
            "PaddingMode == REFLECTION and any axis max(StartPadding, EndPadding) >= InputTensor.Sizes":
                "pad reflects less than a whole axis",
            "PaddingMode == SYMMETRIC and any axis max(StartPadding, EndPadding) > InputTensor.Sizes":
                "pad mirrors at most a whole axis",
        },
    }

    def slice(self, array, starts, stops, steps):
        stops = [min(stop, (1 << 31) - 1) for stop in stops]
        return read(F.strided_slice(variable(array), *map(variable, map(np.int32, (starts, stops, steps)))), array)

    def pad(self, array, widths, mode, value):
        return read(F.pad(variable(array), variable(np.int32(widths)), MODES[mode]), array)


def variable(array):
    return F.const(array, list(array.shape), F.NCHW, TYPES[array.dtype.name])


def read(made, array):
    return np.asarray(made.read(), array.dtype)


dmlcts.serve(Mnn())
