"""SimpleITK, held to the pages of its filters ConstantPad, MirrorPad, WrapPad, ZeroFluxNeumannPad and Slice."""

import dmlcts_backend as dmlcts
import SimpleITK as sitk


class SimpleItk(dmlcts.ArrayBackend):
    name, version = "simpleitk", sitk.Version.VersionString()
    data_types = tuple(name for name in dmlcts.Backend.data_types if name != "FLOAT16")
    ranks = (2, 3)
    modes = {"CONSTANT": sitk.ConstantPad, "EDGE": sitk.ZeroFluxNeumannPad, "SYMMETRIC": sitk.MirrorPad, "WRAP": sitk.WrapPad}
    before_first = -1

    def slice(self, array, starts, stops, steps):
        made = sitk.Slice(sitk.GetImageFromArray(array, isVector=False), starts[::-1], stops[::-1], steps[::-1])
        return sitk.GetArrayFromImage(made)

    def pad(self, array, widths, mode, value):
        bounds = [list(side)[::-1] for side in zip(*widths)]
        more = [float(value)] if mode is sitk.ConstantPad else []
        return sitk.GetArrayFromImage(mode(sitk.GetImageFromArray(array, isVector=False), *bounds, *more))


dmlcts.serve(SimpleItk())
