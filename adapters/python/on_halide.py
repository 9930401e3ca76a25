"""Halide, held to its page BoundaryConditions and to lesson 1 of its tutorial (a Func of coordinates)."""

import functools
import importlib.metadata

import dmlcts_backend as dmlcts
import halide as hl
import numpy as np

MODES = {"EDGE": "repeat_edge", "REFLECTION": "mirror_interior", "SYMMETRIC": "mirror_image", "WRAP": "repeat_image"}


class Halide(dmlcts.ArrayBackend):
    name, version = "halide", importlib.metadata.version("halide")
    device = "CPU"
    #: A pipeline is compiled for each data type, rank and mode.
    ranks = (1, 4)
    data_types = tuple(name for name in dmlcts.Backend.data_types if name != "UINT64")  # hl.Buffer refuses it
    lacks = {"PADDING1": {"PaddingMode == CONSTANT and InputTensor.DataType == FLOAT16": "Param has no set for FLOAT16"}}

    def slice(self, array, starts, stops, steps):
        sizes = [len(range(start, -1 if stop is None else stop, step)) for start, stop, step in zip(starts, stops, steps)]
        input, params, func = slicing(array.dtype.name, array.ndim)
        for param, number in zip(params, starts[::-1] + steps[::-1]):
            param.set(number)
        return realize(input, func, array, sizes, [0] * array.ndim)

    def pad(self, array, widths, mode, value):
        input, param, func = padding(array.dtype.name, array.ndim, mode)
        if mode == "CONSTANT":
            param.set(value.item())
        sizes = [before + size + after for (before, after), size in zip(widths, array.shape)]
        return realize(input, func, array, sizes, [-before for before, _ in widths])


def element(dtype):
    return hl.Buffer(np.zeros(1, dtype)).type()


@functools.cache
def slicing(dtype, rank):
    input, func, at = hl.ImageParam(element(dtype), rank), hl.Func(), [hl.Var() for _ in range(rank)]
    starts, steps = ([hl.Param(hl.Int(32)) for _ in range(rank)] for _ in range(2))
    func[at] = input[[start + step * place for start, step, place in zip(starts, steps, at)]]
    return input, starts + steps, func


@functools.cache
def padding(dtype, rank, mode):
    input, param = hl.ImageParam(element(dtype), rank), hl.Param(element(dtype))
    if mode == "CONSTANT":
        return input, param, hl.BoundaryConditions.constant_exterior(input, param)
    return input, param, getattr(hl.BoundaryConditions, MODES[mode])(input)


def realize(input, func, array, sizes, least):
    held = hl.Buffer(array.copy())  # set keeps a pointer alone
    input.set(held)
    made = hl.Buffer(element(array.dtype), sizes[::-1])
    made.set_min(least[::-1])
    func.realize(made)
    return np.array(made)


dmlcts.serve(Halide())
