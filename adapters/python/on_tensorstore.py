"""TensorStore, held to its page "Indexing" ("NumPy-style indexing": intervals and strides)."""

import importlib.metadata

import dmlcts_backend as dmlcts
import tensorstore


class TensorStore(dmlcts.ArrayBackend):
    name, version = "tensorstore", importlib.metadata.version("tensorstore")

    def slice(self, array, starts, stops, steps):
        # An interval lies in the domain, also where its last step would leave it.
        stops = [-1 if stop is None else min(stop, size) for stop, size in zip(stops, array.shape)]
        walks = zip(starts, stops, steps)
        return tensorstore.array(array)[tuple(slice(*walk) for walk in walks)].read().result()


dmlcts.serve(TensorStore())
