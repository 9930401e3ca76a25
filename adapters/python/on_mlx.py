"""MLX on the CPU, held to its pages "Indexing Arrays" ("as NumPy") and mlx.core.pad (constant and edge)."""

import dmlcts_backend as dmlcts
import mlx.core as mx

mx.set_default_device(mx.cpu)


class Mlx(dmlcts.ArrayBackend):
    name, version = "mlx", mx.__version__
    modes = {"CONSTANT": "constant", "EDGE": "edge"}

    def slice(self, array, starts, stops, steps):
        return convert(array)[tuple(map(slice, starts, stops, steps))]

    def pad(self, array, widths, mode, value):
        return mx.pad(convert(array), widths, mode, convert(value))


def convert(array):
    return mx.array(array, dtype=getattr(mx, array.dtype.name))


dmlcts.serve(Mlx())
