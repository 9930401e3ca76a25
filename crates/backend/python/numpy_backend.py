"""SLICE, SLICE1 and PADDING1 on NumPy: dmlcts run --backend 'exec:python3 numpy_backend.py'"""

import numpy as np

import dmlcts_backend as dmlcts

MODES = ["constant", "edge", "reflect", "symmetric", "wrap"]  # by their numbers in DML_PADDING_MODE


class NumPy(dmlcts.Backend):
    name, version = "numpy", np.__version__
    operators = ["SLICE", "SLICE1", "PADDING1"]

    def create(self, desc):
        # NumPy asks for less than DirectML does. The rules of the module refuse what is invalid.
        source, target = dmlcts.check_tensors(desc)
        prepare = pad if desc.operator == "PADDING1" else cut
        move = prepare(desc, source, target)

        def run(input, output):
            view(output, target)[...] = move(view(input, source))

        return run


def view(memory, tensor):
    """A tensor's elements where they lie in memory, as unsigned integers, so that no bit of a float is touched."""
    word = "<u%d" % dmlcts.element_size(tensor)
    return np.ndarray(tensor.Sizes, word, memory, 0, dmlcts.byte_strides(tensor))


def cut(desc, source, target):
    """SLICE and SLICE1, as a function of the input's elements."""
    walks = dmlcts.check_slice(desc, source, target)
    cuts = tuple(slice(walk.first, walk.stop, walk.step) for walk in walks)
    return lambda elements: elements[cuts]


def pad(desc, source, target):
    """PADDING1, as a function of the input's elements."""
    widths = dmlcts.check_padding(desc, source, target)
    mode = MODES[desc.PaddingMode]
    value = np.frombuffer(desc.PaddingValue, "<u%d" % dmlcts.element_size(source))[0]
    options = {"constant_values": value} if mode == "constant" else {}
    return lambda elements: np.pad(elements, widths, mode, **options)


dmlcts.serve(NumPy())
