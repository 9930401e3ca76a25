"""Apache TVM on the CPU, held to its pages of topi.strided_slice and of topi.nn (pad and its modes)."""

import dmlcts_backend as dmlcts
import tvm
from tvm import te, topi

PADS = {"EDGE": topi.nn.replicate_pad, "WRAP": topi.nn.circular_pad}
MIRRORS = {"REFLECTION": "REFLECT", "SYMMETRIC": "SYMMETRIC"}


class Tvm(dmlcts.ArrayBackend):
    name, version = "tvm", tvm.__version__
    device = "CPU"
    #: Each case is compiled. These are as many as a short run can have.
    data_types, ranks = ("FLOAT32", "FLOAT64", "INT32", "UINT64"), (1, 3)
    busy_cases = 8
    narrow_modes = ("REFLECTION", "SYMMETRIC")  # mirror_pad reads outside of the input otherwise

    def slice(self, array, starts, stops, steps):
        stops = [-1 - size if stop is None else stop for stop, size in zip(stops, array.shape)]
        return run(array, lambda input: topi.strided_slice(input, starts, stops, steps))

    def pad(self, array, widths, mode, value):
        before, after = zip(*widths)
        if mode == "CONSTANT":
            fill = tvm.tirx.const(value.item(), array.dtype.name)
            return run(array, lambda input: topi.nn.pad(input, before, after, fill))
        if mode in MIRRORS:
            return run(array, lambda input: topi.nn.mirror_pad(input, before, after, MIRRORS[mode]))
        return run(array, lambda input: PADS[mode](input, before, after))


def run(array, operation):
    input = te.placeholder(array.shape, array.dtype.name)
    output = operation(input)
    made = tvm.runtime.empty([int(size) for size in output.shape], output.dtype)
    tvm.compile(te.create_prim_func([input, output]), "llvm")(tvm.runtime.tensor(array), made)
    return made.numpy()


dmlcts.serve(Tvm())
