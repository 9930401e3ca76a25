"""SLICE, SLICE1 and PADDING1 on NumPy: dmlcts run --backend 'exec:python3 numpy_backend.py'"""

import dmlcts_backend as dmlcts
import numpy as np


class NumPy(dmlcts.ArrayBackend):
    name, version = "numpy", np.__version__

    def slice(self, array, starts, stops, steps):
        return array[tuple(map(slice, starts, stops, steps))]

    def pad(self, array, widths, mode, value):
        options = {"constant_values": value} if mode == "CONSTANT" else {}
        return np.pad(array, widths, {"REFLECTION": "reflect"}.get(mode, mode.lower()), **options)


dmlcts.serve(NumPy())
