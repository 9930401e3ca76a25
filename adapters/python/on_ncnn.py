"""ncnn on the CPU, held to its page "operators": Crop (starts, ends, axes) and Padding."""

import importlib.metadata

import dmlcts_backend as dmlcts
import ncnn
import numpy as np


class Ncnn(dmlcts.ArrayBackend):
    name, version = "ncnn", importlib.metadata.version("ncnn")
    device = "CPU"
    data_types = ("FLOAT32",)  # Crop of INT8 corrupts the heap
    ranks = (1, 3)
    lacks = {
        "SLICE": {"any axis Strides > 1 and Sizes > 1": "Crop has no steps"},
        "SLICE1": {"any axis InputWindowStrides != 1 and OutputTensor.Sizes > 1": "Crop has no steps"},
    }
    modes, narrow_modes = {"CONSTANT": 0, "EDGE": 1, "REFLECTION": 2}, ("REFLECTION",)

    def slice(self, array, starts, stops, steps):
        ends = [start + len(range(start, -1 if stop is None else stop, step)) for start, stop, step in zip(starts, stops, steps)]
        lists = (starts, ends, range(array.ndim))
        return run("Crop", " ".join("-233%02d=%s" % (9 + place, words(values)) for place, values in enumerate(lists)), array)

    def pad(self, array, widths, mode, value):
        sides = zip((7, 0, 2)[-array.ndim:], (8, 1, 3)[-array.ndim:], widths)
        pads = " ".join("%d=%d %d=%d" % (before, width[0], after, width[1]) for before, after, width in sides)
        return run("Padding", "%s 4=%d 5=%s" % (pads, mode, 0 if mode else float(value)), array)


def words(values):
    return ",".join(map(str, [len(values), *values]))


def run(layer, params, array):
    net = ncnn.Net()
    net.opt.num_threads = 1
    if net.load_param_mem("7767517\n2 2\nInput in 0 1 in\n%s out 1 1 in out %s\n" % (layer, params)):
        raise RuntimeError("load_param refuses the parameters %s" % params)
    net.load_model_mem(b"")
    extractor = net.create_extractor()
    extractor.input("in", ncnn.Mat(array).clone())
    failed, made = extractor.extract("out")
    if failed:
        raise RuntimeError("extract returned %d" % failed)
    return np.array(made)


dmlcts.serve(Ncnn())
