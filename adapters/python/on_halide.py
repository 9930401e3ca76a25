"""Halide, held to its page BoundaryConditions and to lesson 1 of its tutorial (a Func of coordinates)."""

import importlib.metadata

import dmlcts_backend as dmlcts
import halide as hl
import numpy as np
from halide import BoundaryConditions


class Halide(dmlcts.ArrayBackend):
    name, version = "halide", importlib.metadata.version("halide")
    device = "CPU"
    #: Each case is compiled. These are as many as a short run can have.
    data_types, ranks = ("FLOAT32", "FLOAT64"), (1, 3)
    busy_cases = 8
    modes = {
        "CONSTANT": BoundaryConditions.constant_exterior,
        "EDGE": BoundaryConditions.repeat_edge,
        "REFLECTION": BoundaryConditions.mirror_interior,
        "SYMMETRIC": BoundaryConditions.mirror_image,
        "WRAP": BoundaryConditions.repeat_image,
    }
    before_first = -1

    # The first axis of Halide is the last one of NumPy.

    def slice(self, array, starts, stops, steps):
        input, func, at = hl.Buffer(array), hl.Func(), [hl.Var() for _ in starts]
        walks = list(zip(starts, stops, steps))[::-1]
        func[at] = input[[number(start) + number(step) * place for (start, _, step), place in zip(walks, at)]]
        return np.array(func.realize([len(range(*walk)) for walk in walks]))

    def pad(self, array, widths, mode, value):
        input = hl.Buffer(array)
        exterior = [hl.Param(input.type(), value.item())] if mode is BoundaryConditions.constant_exterior else []
        sizes = [before + size + after for (before, after), size in zip(widths, array.shape)]
        made = hl.Buffer(input.type(), sizes[::-1])
        made.set_min([-before for before, _ in widths][::-1])
        mode(input, *exterior).realize(made)
        return np.array(made)


def number(value):
    return hl.Param(hl.Int(32), value)  # no constant, since Halide refuses to fold one that overflows


dmlcts.serve(Halide())
