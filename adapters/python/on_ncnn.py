"""ncnn on the CPU, held to its page "operators": Crop (starts, ends, axes) and Padding."""

import dmlcts_backend as dmlcts
import ncnn
import numpy as np

MODEL = "7767517\n2 2\nInput in 0 1 in\n%s out 1 1 in out %s\n"


class Ncnn(dmlcts.ArrayBackend):
    name, version = "ncnn", ncnn.__version__
    device = "CPU"
    data_types = ("FLOAT32",)  # Crop of INT8 corrupts the heap
    ranks = (1, 3)
    lacks = {
        "SLICE": {"any axis Strides != 1": "Crop has no steps"},
        "SLICE1": {"any axis InputWindowStrides != 1": "Crop has no steps"},
    }
    modes = {"CONSTANT": 0, "EDGE": 1, "REFLECTION": 2}
    narrow_modes = ("REFLECTION",)

    def slice(self, array, starts, stops, steps):
        lists = [",".join(map(str, [array.ndim, *values])) for values in (starts, stops, range(array.ndim))]
        return run("Crop", "-23309=%s -23310=%s -23311=%s" % tuple(lists), array)

    def pad(self, array, widths, mode, value):
        numbers = ((7, 8), (0, 1), (2, 3))[-array.ndim:]  # of the parameters in front and behind
        sides = ["%d=%d %d=%d" % (front, before, behind, after) for (front, behind), (before, after) in zip(numbers, widths)]
        return run("Padding", "%s 4=%d 5=%s" % (" ".join(sides), mode, 0 if mode else float(value)), array)


def run(layer, params, array):
    net = ncnn.Net()
    if net.load_param_mem(MODEL % (layer, params)):
        raise RuntimeError("load_param refuses the parameters %s" % params)
    net.load_model_mem(b"")
    extractor = net.create_extractor()
    extractor.input("in", ncnn.Mat(array).clone())
    failed, made = extractor.extract("out")
    if failed:
        raise RuntimeError("extract returned %d" % failed)
    return np.array(made)


dmlcts.serve(Ncnn())
