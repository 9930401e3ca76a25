"""MNN on the CPU, held to its pages of MNN.expr.strided_slice and MNN.expr.pad (reflect, symmetric)."""

import dmlcts_backend as dmlcts
import MNN
import MNN.expr as F
import numpy as np

TYPES = {"float32": F.float, "int32": F.int}


class Mnn(dmlcts.ArrayBackend):
    name, version = "mnn", MNN.version()
    device = "CPU"
    data_types = ("FLOAT32", "INT32")
    modes = {"REFLECTION": F.REFLECT, "SYMMETRIC": F.SYMMETRIC}  # of constants, 0 alone
    narrow_modes = ("REFLECTION", "SYMMETRIC")
    lacks = {"SLICE1": {"any axis InputWindowStrides < 0": "a negative step corrupts the heap"}}

    def slice(self, array, starts, stops, steps):
        stops = [min(stop, (1 << 31) - 1) for stop in stops]
        return read(F.strided_slice(variable(array), *map(variable, map(np.int32, (starts, stops, steps)))), array)

    def pad(self, array, widths, mode, value):
        return read(F.pad(variable(array), variable(np.int32(widths)), mode), array)


def variable(array):
    return F.const(array, list(array.shape), F.NCHW, TYPES[array.dtype.name])


def read(made, array):
    return np.asarray(made.read(), array.dtype)


dmlcts.serve(Mnn())
