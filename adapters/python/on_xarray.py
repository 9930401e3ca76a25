"""xarray, held to its own pages: DataArray.isel ("positional indexers, like NumPy's") and DataArray.pad ("like numpy.pad")."""

import dmlcts_backend as dmlcts
import xarray


class Xarray(dmlcts.ArrayBackend):
    name, version = "xarray", xarray.__version__

    def slice(self, array, starts, stops, steps):
        made = xarray.DataArray(array)
        return made.isel(dict(zip(made.dims, map(slice, starts, stops, steps))))

    def pad(self, array, widths, mode, value):
        made = xarray.DataArray(array)
        options = {"constant_values": value} if mode == "CONSTANT" else {}
        return made.pad(dict(zip(made.dims, widths)), {"REFLECTION": "reflect"}.get(mode, mode.lower()), **options)


dmlcts.serve(Xarray())
