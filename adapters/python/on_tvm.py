"""Apache TVM on the CPU, held to its pages of topi.strided_slice and of topi.nn (pad and its modes)."""

from functools import partial

import dmlcts_backend as dmlcts
import tvm
from tvm import te, topi


class Tvm(dmlcts.ArrayBackend):
    name, version = "tvm", tvm.__version__
    device = "CPU"
    #: Each case is compiled. These are as many as a short run can have.
    data_types, ranks = ("FLOAT32", "FLOAT64", "INT32", "UINT64"), (1, 3)
    busy_cases = 8
    modes = {
        "CONSTANT": topi.nn.pad,
        "EDGE": topi.nn.replicate_pad,
        "REFLECTION": partial(topi.nn.mirror_pad, mode="REFLECT"),
        "SYMMETRIC": partial(topi.nn.mirror_pad, mode="SYMMETRIC"),
        "WRAP": topi.nn.circular_pad,
    }
    narrow_modes = ("REFLECTION", "SYMMETRIC")  # mirror_pad reads outside of the input otherwise
    before_first = -(1 << 31)

    def slice(self, array, starts, stops, steps):
        return run(array, topi.strided_slice, starts, stops, steps)

    def pad(self, array, widths, mode, value):
        fill = [tvm.tirx.const(value.item(), array.dtype.name)] if mode is topi.nn.pad else []
        return run(array, mode, *zip(*widths), *fill)


def run(array, operation, *arguments):
    input = te.placeholder(array.shape, array.dtype.name)
    output = operation(input, *arguments)
    made = tvm.runtime.empty([int(size) for size in output.shape], output.dtype)
    tvm.compile(te.create_prim_func([input, output]), "llvm")(tvm.runtime.tensor(array), made)
    return made.numpy()


dmlcts.serve(Tvm())
