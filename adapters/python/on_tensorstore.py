"""TensorStore, held to its page "Indexing" ("NumPy-style indexing": intervals and strides)."""

import importlib.metadata

import dmlcts_backend as dmlcts
import tensorstore


class TensorStore(dmlcts.ArrayBackend):
    name, version = "tensorstore", importlib.metadata.version("tensorstore")
    before_first = -1

    def slice(self, array, starts, stops, steps):
        # An interval lies in the domain, also where its last step would leave it.
        ends = map(min, stops, array.shape)
        return tensorstore.array(array)[tuple(map(slice, starts, ends, steps))].read().result()


dmlcts.serve(TensorStore())
