"""PyData Sparse, held to its page "Construct Sparse Arrays: Indexing" ("identical to NumPy")."""

import dmlcts_backend as dmlcts
import sparse


class Sparse(dmlcts.ArrayBackend):
    name, version = "sparse", sparse.__version__

    def slice(self, array, starts, stops, steps):
        return sparse.COO.from_numpy(array)[tuple(map(slice, starts, stops, steps))].todense()


dmlcts.serve(Sparse())
