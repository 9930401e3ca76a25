"""MLX on the CPU, held to its pages "Indexing Arrays" ("as NumPy") and mlx.core.pad (constant and edge)."""

import dmlcts_backend as dmlcts
import mlx.core as mx

mx.set_default_device(mx.cpu)


class Mlx(dmlcts.ArrayBackend):
    name, version = "mlx", mx.__version__
    modes = {"CONSTANT": "constant", "EDGE": "edge"}

    def slice(self, array, starts, stops, steps):
        return mx.array(array, dtype=getattr(mx, array.dtype.name))[tuple(map(slice, starts, stops, steps))]

    def pad(self, array, widths, mode, value):
        dtype = getattr(mx, array.dtype.name)
        return mx.pad(mx.array(array, dtype=dtype), widths, mode, mx.array(value, dtype=dtype))


dmlcts.serve(Mlx())
