"""A backend for dmlcts in Python, on the standard library alone.

Subclass `Backend`, implement `create`, and call `serve`:

    import dmlcts_backend as dmlcts

    class Mine(dmlcts.Backend):
        name, version = "mine", "1.0"
        operators = ["SLICE"]

        def create(self, desc):
            dmlcts.check_tensors(desc)       # raises Invalid
            if desc.Strides[0] > 1:
                raise dmlcts.Unsupported("strides above 1")
            def run(input, output):          # memory: TotalTensorSizeInBytes each, aligned to 64 bytes
                output[:] = ...              # exactly as many bytes
            return run

    dmlcts.serve(Mine())

`dmlcts run --backend 'exec:python3 mine.py'` then puts cases to it. What `print` writes goes to standard error: standard
output belongs to the protocol, which `crates/backend/PROTOCOL.md` of dmlcts specifies. Import this module before a library
that prints when it is imported.

For a library that works on packed arrays, subclass `ArrayBackend` and implement `slice`, `pad`, or both. It needs NumPy.

The end of this file is a part of its own, the pages' rules: `check_tensors`, `check_slice` and `check_padding` raise `Invalid` for a
desc that DirectML refuses, and return what is left to do. Use them where your library asks for less than DirectML, as
NumPy does. Do not use them where your own validation is what you want tested: they would answer in its place.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import stat
import struct
import sys
import threading
import time
import traceback
from operator import index
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

__all__ = [
    "Backend", "ArrayBackend", "Desc", "Tensor", "Run", "Invalid", "Unsupported", "Refused",
    "WrongShape", "WrongType", "serve",
    "ALIGNMENT", "DATA_TYPES", "PADDING_MODES", "element_size", "packed_strides", "byte_strides",
    "Walk", "check_tensors", "check_slice", "check_padding", "check_lists", "check_list",
]
__version__ = "0.1.0"

#: The codes of DML_TENSOR_DATA_TYPE, with the bytes of an element (None: less than one).
DATA_TYPES = {
    "FLOAT32": (1, 4), "FLOAT16": (2, 2), "UINT32": (3, 4), "UINT16": (4, 2), "UINT8": (5, 1), "INT32": (6, 4),
    "INT16": (7, 2), "INT8": (8, 1), "FLOAT64": (9, 8), "UINT64": (10, 8), "INT64": (11, 8), "UINT4": (12, None),
    "INT4": (13, None),
}
_SIZES = {code: size for code, size in DATA_TYPES.values()}
#: DML_PADDING_MODE: a mode's code is its place.
PADDING_MODES = ("CONSTANT", "EDGE", "REFLECTION", "SYMMETRIC", "WRAP")

#: What runs a created operator: it is called with the memory of the input and of the output, and writes into the latter.
Run = Callable[[memoryview, memoryview], None]
#: Both memories begin at a multiple of this many bytes, whatever place a case has in its batch. Many libraries take a
#: slower path, or refuse, where memory is aligned less.
ALIGNMENT = 64

_MAGIC = b"\xf7dmlcts1"
_PREFIX = struct.Struct("<8s8sQQ")
_TENSOR = (
    "DataType", "Flags", "DimensionCount", "Sizes", "Strides", "TotalTensorSizeInBytes",
    "GuaranteedBaseOffsetAlignment",
)
#: Where a case goes wrong that comes to this, unless its `phase` says otherwise.
_USUAL_PHASES = {"rejected": "create", "failed": "execute"}
#: Results are sent when this much has come together, or this many seconds have passed: often enough that a case that
#: crashes is found quickly, and seldom enough that tiny cases are fast.
_SEND_BYTES = 1 << 20
_SEND_SECONDS = 0.1


class Invalid(Exception):
    """The desc is invalid. The words are for people."""


class Unsupported(Exception):
    """The desc may be valid, but this backend cannot do it."""


class Refused(Exception):
    """Refused for another reason, such as memory; `code` is the HRESULT."""

    def __init__(self, reason: str, code: int) -> None:
        super().__init__(reason)
        self.code = code


class WrongShape(Exception):
    """The result has other sizes than the output: both, such as `[2, 3], expected [2, 4]`. Raise it in a run."""


class WrongType(Exception):
    """The result has another data type than the output: both. Raise it in a run."""


class Tensor:
    """DML_BUFFER_TENSOR_DESC, with its fields as attributes. `Sizes` and `Strides` are lists or None."""

    __slots__ = _TENSOR

    DataType: int
    Flags: int
    DimensionCount: int
    Sizes: Optional[List[int]]
    Strides: Optional[List[int]]
    TotalTensorSizeInBytes: int
    GuaranteedBaseOffsetAlignment: int

    def __repr__(self) -> str:
        return "Tensor(%s)" % ", ".join("%s=%r" % (name, getattr(self, name)) for name in _TENSOR)


class Desc:
    """An operator desc, valid or not. `operator` is its name; `InputTensor`, `OutputTensor` and every other member of
    its struct are attributes: integers, lists, None for a null pointer, eight bytes for a scalar union."""

    # Attributes are looked up in the columns of the batch when they are asked for: most descs are small, and many
    # backends look at a few members only.
    __slots__ = ("operator", "_run", "_case", "_place")

    def __init__(self, run, case, place):
        self.operator = run["operator"][case]
        self._run = run
        self._case = case
        self._place = place

    def _tensor(self, side: str) -> Optional[Tensor]:
        columns, case = self._run[side], self._case
        if columns["DataType"][case] is None:
            return None
        tensor = Tensor()
        for name in _TENSOR:
            setattr(tensor, name, columns[name][case])
        return tensor

    @property
    def InputTensor(self) -> Optional[Tensor]:
        return self._tensor("InputTensor")

    @property
    def OutputTensor(self) -> Optional[Tensor]:
        return self._tensor("OutputTensor")

    def __getattr__(self, name: str):
        column = self._run["members"][self.operator].get(name)
        if column is None:
            raise AttributeError("%s has no member %r" % (self.operator, name))
        value = column[self._place]
        return bytes.fromhex(value) if type(value) is str else value


class Backend:
    """What to subclass: what it is, as class attributes, and `create`."""

    name = "python"
    version = "0"
    #: The device and the driver, in their makers' words.
    device = ""
    driver = ""
    #: The DML_FEATURE_LEVEL that it behaves as.
    feature_level = "6.4"
    #: Whether `set_feature_level` works.
    can_set_feature_level = False
    #: The names of the operators that it has, and is asked for; None stands for whatever comes.
    operators: Optional[Sequence[str]] = None
    #: The data types and dimension counts that operators can be created with. What is valid and needs others is not asked.
    data_types = ("FLOAT32", "FLOAT16", "UINT32", "UINT16", "UINT8", "INT32", "INT16", "INT8", "FLOAT64", "UINT64", "INT64")
    ranks = (1, 8)
    #: The valid descs that it does not support all the same, and is not asked for: for an operator, conditions in the language
    #: of `--where`, and the reasons, such as {"PADDING1": {"PaddingMode != CONSTANT": "constant only"}}. A list of the
    #: declarations that a report prints works, too: [{"operator": ..., "where": ..., "reason": ...}].
    lacks: Union[Dict[str, Dict[str, str]], Sequence[Dict[str, str]]] = {}
    #: The largest tensor in bytes and in elements, and the most cases in a batch; None where there is no limit.
    tensor_bytes: Optional[int] = None
    elements: Optional[int] = None
    batch_cases: Optional[int] = None
    #: How many cases a batch has where there are enough of them; None where some hundred do.
    busy_cases: Optional[int] = None
    #: The seconds that creating an operator may take beyond `--case-timeout`, where each desc is compiled.
    create_timeout: Optional[float] = None

    def create(self, desc: Desc) -> Run:
        """Creates an operator, or raises `Invalid`, `Unsupported` or `Refused`. Returns a function that runs it."""
        raise NotImplementedError

    def set_feature_level(self, level: str) -> None:
        """Behaves as a device of this level, such as "4.1", from now on."""


class ArrayBackend(Backend):
    """A backend whose library works on packed arrays. Implement `slice`, `pad`, or both; where `operators` is None, the backend
    has the operators whose method it implements. Checks, types and views of memory are done here. It needs NumPy."""

    #: Each element is copied, so a tensor that repeats its elements by a stride of 0 may be too large.
    elements = 1 << 24
    #: The library's own word for each of `PADDING_MODES` that it has: `pad` gets it. The other modes are lacks.
    modes: Dict[str, Any] = {mode: mode for mode in PADDING_MODES}
    #: The modes that reach across one axis at most, such as ("REFLECTION",). Wider paddings are lacks.
    narrow_modes: Sequence[str] = ()
    #: The stop that takes the first element of an axis, too, if a step is negative: -1 for a library that
    #: counts no stop from the end, and -(1 << 31) for many that do.
    before_first: Optional[int] = None

    def __init__(self) -> None:
        if self.operators is None:
            methods = {"SLICE": "slice", "SLICE1": "slice", "PADDING1": "pad"}
            own = [name for name, method in methods.items() if getattr(type(self), method) is not getattr(ArrayBackend, method)]
            self.operators = own
        if "PADDING1" in self.operators:
            missing = ["PaddingMode == %s" % mode for mode in PADDING_MODES if mode not in self.modes]
            wide = [
                "PaddingMode == %s and any axis max(StartPadding, EndPadding) %s InputTensor.Sizes"
                % (mode, ">=" if mode == "REFLECTION" else ">") for mode in self.narrow_modes
            ]
            reasons = dict.fromkeys(missing, "there is no such mode")
            reasons.update(dict.fromkeys(wide, "paddings reach across one axis at most"))
            self.lacks = _lacks(self.lacks) + _lacks({"PADDING1": reasons})

    def slice(self, array, starts: List[int], stops: List[Optional[int]], steps: List[int]):
        """The elements of each axis from a start, `step` apart, up to a stop, which is left out. A step is not 0 and may be
        negative; then a stop of `before_first` means that the first element is taken as well. Returns an array."""
        raise NotImplementedError

    def pad(self, array, widths: List[Tuple[int, int]], mode: str, value):
        """The array with this many elements before and behind it on each axis. `mode` is a value of `modes`, and `value`
        is a NumPy scalar of the array's type, for CONSTANT. Returns an array."""
        raise NotImplementedError

    def create(self, desc: Desc) -> Run:
        import numpy

        source, target = check_tensors(desc)
        names = {code: name for name, (code, _) in DATA_TYPES.items()}
        dtype = numpy.dtype(names[source.DataType].lower())
        # Copies of unsigned integers touch no bit of a float.
        word = numpy.dtype("<u%d" % dtype.itemsize)
        if desc.operator == "PADDING1":
            widths, mode = check_padding(desc, source, target), PADDING_MODES[desc.PaddingMode]
            if mode not in self.modes:
                raise Unsupported("there is no mode %s" % mode)
            value = numpy.frombuffer(desc.PaddingValue, dtype, 1)[0]

            def move(array):
                return self.pad(array, widths, self.modes[mode], value)
        else:
            walks = check_slice(desc, source, target)
            starts, steps = ([walk[place] for walk in walks] for place in (0, 2))
            stops = [self.before_first if walk.stop is None else walk.stop for walk in walks]

            def move(array):
                return self.slice(array, starts, stops, steps)

        def run(input, output):
            elements = numpy.ndarray(source.Sizes, word, input, 0, byte_strides(source))
            # A copy, since some libraries take no memory that is read-only.
            made = numpy.asarray(move(numpy.array(elements, order="C").view(dtype)))
            if made.shape != tuple(target.Sizes):
                raise WrongShape("%s, expected %s" % (list(made.shape), target.Sizes))
            if made.dtype != dtype:
                raise WrongType("%s, expected %s" % (made.dtype, dtype))
            numpy.ndarray(target.Sizes, word, output, 0, byte_strides(target))[...] = made.view(word)

        return run


#: The file to which results are written, once standard output is redirected.
_sink = None


def _redirect():
    """Keeps standard output for the protocol: whatever prints, in Python or below it, prints to standard error from now on."""
    global _sink
    if _sink is None:
        _sink = os.fdopen(os.dup(1), "wb", 0)
        os.dup2(2, 1)
        sys.stdout = sys.stderr


def _is_piped():
    """Whether standard input and output are pipes, as they are in a process that dmlcts starts."""
    try:
        return all(stat.S_ISFIFO(os.fstat(stream).st_mode) for stream in (0, 1))
    except OSError:
        return False


# Libraries may print as soon as they are imported.
if _is_piped():
    _redirect()


def serve(backend: Backend) -> None:
    """Answers dmlcts on standard input and output until it says bye."""
    _end_with_parent()
    _redirect()
    source, sink = os.fdopen(os.dup(0), "rb", 1 << 16), _sink
    if os.name == "nt":
        import msvcrt
        for stream in (source, sink):
            msvcrt.setmode(stream.fileno(), os.O_BINARY)
    while True:
        prefix = source.read(_PREFIX.size)
        if len(prefix) < _PREFIX.size:
            return
        magic, kind, header_length, body_length = _PREFIX.unpack(prefix)
        if magic != _MAGIC:
            raise SystemExit("what came on standard input is not a frame of dmlcts's protocol, version 1")
        header, body = json.loads(source.read(header_length)), source.read(body_length)
        kind = kind.rstrip().decode()
        if kind == "hello":
            if header["protocol"] != 1:
                raise SystemExit("dmlcts speaks protocol version %s; this module speaks 1" % header["protocol"])
            _send(sink, b"hello   ", _hello(backend), ())
        elif kind == "level":
            backend.set_feature_level(header["feature_level"])
        elif kind == "run":
            _run(backend, header, memoryview(body), sink)
        elif kind == "bye":
            return
        else:
            raise SystemExit("dmlcts sent the unknown message %r" % kind)


def _end_with_parent():
    """Ends this process soon after dmlcts: where that is killed, it ends nobody any more, and a backend may hang."""
    parent = os.getppid()

    def watch():
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    if os.name != "nt":
        threading.Thread(target=watch, daemon=True).start()


def _milliseconds(name, seconds):
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 <= seconds < math.inf:
        raise SystemExit("%s is %r: write a number of seconds, such as 1.5, or None" % (name, seconds))
    return round(1000 * seconds)


def _lacks(lacks):
    """The list of the protocol, from either form of `lacks`."""
    keys = ["operator", "where", "reason"]
    if isinstance(lacks, dict):
        for operator, conditions in lacks.items():
            if not isinstance(conditions, dict):
                example = {"rank > 4": "up to four axes"}
                raise SystemExit("lacks[%r] is %r: write conditions with reasons, such as %r" % (operator, conditions, example))
        lacks = [
            dict(zip(keys, (operator, condition, reason)))
            for operator, conditions in lacks.items() for condition, reason in conditions.items()
        ]
    if not isinstance(lacks, (list, tuple)):
        raise SystemExit("lacks is %r: write a dict or a list" % (lacks,))
    for place, lack in enumerate(lacks):
        is_right = isinstance(lack, dict) and set(lack) == set(keys) and all(isinstance(text, str) for text in lack.values())
        if not is_right:
            raise SystemExit("lacks[%d] is %r: write a dict of the texts %s" % (place, lack, ", ".join(keys)))
    return list(lacks)


def _hello(backend):
    return {
        "protocol": 1, "name": backend.name, "version": backend.version, "device": backend.device,
        "driver": backend.driver, "feature_level": backend.feature_level,
        "can_set_feature_level": backend.can_set_feature_level,
        "operators": None if backend.operators is None else list(backend.operators),
        "data_types": list(backend.data_types), "ranks": {"min": backend.ranks[0], "max": backend.ranks[1]},
        "lacks": _lacks(backend.lacks),
        "limits": {
            "tensor_bytes": backend.tensor_bytes, "elements": backend.elements,
            "batch_cases": backend.batch_cases, "busy_cases": backend.busy_cases,
            "create_timeout": _milliseconds("create_timeout", backend.create_timeout),
        },
        "ahead": True,
    }


def _send(sink, kind, header, body):
    header = json.dumps(header, separators=(",", ":")).encode()
    frame = b"".join([_PREFIX.pack(_MAGIC, kind, len(header), sum(map(len, body))), header, *body])
    view = memoryview(frame)
    while view:
        view = view[sink.write(view):]


def _run(backend, run, body, sink):
    """Runs the cases of a batch, and sends what became of them as it goes."""
    create, known, clock = backend.create, backend.operators, time.perf_counter
    input_sizes = run["InputTensor"]["TotalTensorSizeInBytes"]
    output_sizes = run["OutputTensor"]["TotalTensorSizeInBytes"]
    places, fills, at = {}, iter(run["output_fill"]), 0
    outcome, phase, code, reason, outputs, size = [], [], [], [], [], 0
    times = {"create": 0.0, "execute": 0.0}
    started = clock()
    number = {"number": run["number"]} if "number" in run else {}

    def enter(phase):
        if backend.create_timeout is not None:
            _send(sink, b"phase   ", {"phase": phase}, ())

    for case, (operator, runs) in enumerate(zip(run["operator"], run["runs"])):
        place = places.get(operator, 0)
        places[operator] = place + 1
        word, why, how, step = "accepted", None, None, "create"
        end, made = at + runs * (input_sizes[case] or 0), []
        poisons = [next(fills) for _ in range(runs)]
        since = clock()
        try:
            if known is not None and operator not in known:
                raise Unsupported("there is no %s" % operator)
            enter(step)
            operator = create(Desc(run, case, place))
            created = clock()
            times[step] += created - since
            since, step = created, "execute"
            for poison in poisons:
                enter(step)
                input_end = at + input_sizes[case]
                source, output = _aligned(input_sizes[case], 0), _aligned(output_sizes[case], poison)
                source[:] = body[at:input_end]
                operator(source.toreadonly(), output)
                made.append(output)
                at, word = input_end, "output"
        except Invalid as error:
            word, why = "rejected", str(error)
        except Unsupported as error:
            word, why = "unsupported", str(error)
        except Refused as error:
            word, why, how = _refused(error)
        except (WrongShape, WrongType) as error:
            word, why = "wrong_shape" if isinstance(error, WrongShape) else "wrong_type", str(error)
        except Exception as error:
            traceback.print_exc()
            word, why = "failed", "%s: %s%s" % (type(error).__name__, error, _place(error))
        times[step] += clock() - since
        at = end
        outcome.append(word)
        phase.append(None if step == _USUAL_PHASES.get(word, step) else step)
        # Half of a surrogate pair, as names of files may hold, is no text that JSON can carry.
        reason.append(why and why.encode("utf-8", "replace").decode())
        code.append(how)
        if word == "output":
            outputs += made
            size += len(made[0]) * len(made)
        if size > _SEND_BYTES or clock() - started > _SEND_SECONDS:
            results = {"outcome": outcome, "phase": phase, "code": code, "reason": reason, "times": times}
            _send_results(sink, {**results, **number}, outputs)
            outcome, phase, code, reason, outputs, size = [], [], [], [], [], 0
            times = {"create": 0.0, "execute": 0.0}
            started = clock()
    if outcome:
        results = {"outcome": outcome, "phase": phase, "code": code, "reason": reason, "times": times}
        _send_results(sink, {**results, **number}, outputs)


def _aligned(size, fill):
    """Memory of this many bytes, each of them `fill`, at a multiple of `ALIGNMENT`."""
    memory = bytearray((fill,)) * (size + ALIGNMENT - 1)
    start = -ctypes.addressof(ctypes.c_char.from_buffer(memory)) % ALIGNMENT
    return memoryview(memory)[start:start + size]


def _send_results(sink, results, outputs):
    if not any(results["phase"]):
        del results["phase"]
    times = results["times"]
    results["times"] = {"create": round(1e6 * times["create"]), "run": round(1e6 * times["execute"])}
    _send(sink, b"results ", results, outputs)


def _place(error):
    """Where the backend's own code raised an exception, or had it raised: `` (mine.py:35)``."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
    return " (%s:%s)" % (os.path.basename(frames[-1].filename), frames[-1].lineno) if frames else ""


def _refused(error):
    """What a `Refused` comes to: a refusal, or a failure where its code is no HRESULT."""
    try:
        code = index(error.code)
        if 0 <= code < 1 << 32:
            return "rejected", str(error), code
        hint = "; for a signed one, write %d & 0xFFFFFFFF" % code if -(1 << 31) <= code < 0 else ""
    except TypeError:
        hint = ""
    return "failed", "ValueError: the code of Refused(%r, %r) is no HRESULT, a number from 0 to 2^32 - 1%s" % (
        str(error), error.code, hint), None


# How a tensor lies in memory.


def element_size(tensor: Tensor) -> int:
    """The bytes of an element. Raises `Invalid` for what is no data type, or one whose elements are not whole bytes."""
    size = _SIZES.get(tensor.DataType)
    if size is None:
        raise Invalid("DataType is none whose elements are whole bytes")
    return size


def packed_strides(sizes: Sequence[int]) -> List[int]:
    """The strides, in elements, of a tensor without gaps."""
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step)
        step *= size
    return strides[::-1]


def byte_strides(tensor: Tensor) -> List[int]:
    """Returns the strides of a tensor in bytes: a list with a value for each axis, packed strides where it has none."""
    width, strides = element_size(tensor), tensor.Strides
    if strides is None:
        strides = packed_strides(tensor.Sizes or [])
    return [stride * width for stride in strides]


# ---- The pages' rules ----
#
# What the pages ask of a desc, written from them by hand; data types and dimension counts are those of feature level 6.4 unless you
# say otherwise. When to use these, and when not, stands at the top of this file.


def check_tensors(
    desc: Desc, data_types: Sequence[str] = Backend.data_types, ranks: Tuple[int, int] = Backend.ranks
) -> Tuple[Tensor, Tensor]:
    """Raises `Invalid` unless both tensors are there, agree in type and dimension count, and keep what every operator asks of
    its tensors. Returns the pair of both, the input first. Pages: DML_BUFFER_TENSOR_DESC, DML_TENSOR_FLAGS."""
    source, target = desc.InputTensor, desc.OutputTensor
    if source is None or target is None:
        raise Invalid("%s is null" % ("InputTensor" if source is None else "OutputTensor"))
    if source.DataType != target.DataType or source.DimensionCount != target.DimensionCount:
        raise Invalid("the tensors' types or dimension counts differ")
    if source.DataType not in {DATA_TYPES[name][0] for name in data_types}:
        raise Invalid("the data type is not supported")
    if not ranks[0] <= source.DimensionCount <= ranks[1]:
        raise Invalid("the dimension count is not supported")
    _check_tensor("InputTensor", source, is_output=False)
    _check_tensor("OutputTensor", target, is_output=True)
    return source, target


class Walk(NamedTuple):
    """The elements that are read along an axis: `length` of them, from `first` on, `step` apart. A step may be negative.

    `stop` is where the walk ends, as `slice(first, stop, step)` takes it; None stands for before the first element of the axis.
    It is the end of the window of SLICE1 if everything that the window reaches is read, and one step behind the last element
    otherwise."""

    first: int
    length: int
    step: int
    stop: Optional[int]


def check_slice(desc: Desc, source: Tensor, target: Tensor) -> List[Walk]:
    """Raises `Invalid` unless SLICE or SLICE1 can be created of the desc, whose tensors `check_tensors` has passed. Returns
    a list with a `Walk` for each axis: the elements that are read."""
    return {"SLICE": _slice_walks, "SLICE1": _slice1_walks}[desc.operator](desc, source, target)


def _slice_walks(desc, source, target):
    """Page: ns-directml-dml_slice_operator_desc."""
    offsets, sizes, strides = check_lists(desc, source, "Offsets", "Sizes", "Strides")
    if target.Sizes != sizes:
        raise Invalid("OutputTensor.Sizes are not Sizes")
    for n, offset, size, stride in zip(source.Sizes, offsets, sizes, strides):
        # The page is silent about a stride of 0, and about one that no INT holds: refusing both is allowed.
        if not 1 <= stride < 1 << 31:
            raise Invalid("a stride is 0, or above INT_MAX")
        if offset + (size - 1) * stride >= n:
            raise Invalid("the slice reads outside of the input")
    return [Walk(offset, size, stride, offset + size * stride) for offset, size, stride in zip(offsets, sizes, strides)]


def _slice1_walks(desc, source, target):
    """Page: ns-directml-dml_slice1_operator_desc."""
    windows = check_lists(desc, source, "InputWindowOffsets", "InputWindowSizes", "InputWindowStrides")
    walks = []
    for n, m, offset, size, stride in zip(source.Sizes, target.Sizes, *windows):
        if size < 1 or stride == 0 or offset + size > n:
            raise Invalid("a window is empty, its stride is 0, or it reaches outside of the input")
        reached = 1 + (size - 1) // abs(stride)
        if m > reached:
            raise Invalid("the output is larger than what the window holds")
        # A negative stride begins at the far end of the window.
        first, end = (offset, offset + size) if stride > 0 else (offset + size - 1, offset - 1)
        stop = end if m == reached else first + m * stride
        walks.append(Walk(first, m, stride, None if stop < 0 else stop))
    return walks


def check_padding(desc: Desc, source: Tensor, target: Tensor) -> List[Tuple[int, int]]:
    """Raises `Invalid` unless PADDING1 can be created of the desc, whose tensors `check_tensors` has passed. Returns a
    list with a pair for each axis: the elements added before and behind the input. Page: ns-directml-dml_padding1_operator_desc."""
    if desc.PaddingMode not in range(len(PADDING_MODES)):
        raise Invalid("PaddingMode is no mode")
    if desc.PaddingValueDataType != source.DataType:
        raise Invalid("PaddingValueDataType is not that of the tensors")
    start, end = check_lists(desc, source, "StartPadding", "EndPadding")
    sizes = check_list("InputTensor.Sizes", source.Sizes, source.DimensionCount)
    if target.Sizes != [n + before + after for n, before, after in zip(sizes, start, end)]:
        raise Invalid("OutputTensor.Sizes are not the input's with both paddings")
    return list(zip(start, end))


def check_lists(desc: Desc, source: Tensor, *names: str) -> List[List[int]]:
    """Raises `Invalid` unless DimensionCount is that of the tensors, and these members have one value an axis; returns them."""
    rank = source.DimensionCount
    if desc.DimensionCount != rank:
        raise Invalid("DimensionCount is not that of the tensors")
    return [check_list(name, getattr(desc, name), rank) for name in names]


def check_list(name: str, values: Optional[List[int]], rank: int) -> List[int]:
    """Raises `Invalid` unless the list has one value an axis; returns it."""
    if values is None or len(values) != rank:
        raise Invalid("%s has not one value an axis" % name)
    return values


def _check_tensor(name, tensor, is_output):
    rank, width = tensor.DimensionCount, element_size(tensor)
    sizes = check_list(name + ".Sizes", tensor.Sizes, rank)
    count = 1
    for size in sizes:
        count *= size
    if count == 0 or count >= 1 << 32:
        raise Invalid("%s has no element, or more than 2^32 - 1" % name)
    span = count
    if tensor.Strides is not None:
        strides = check_list(name + ".Strides", tensor.Strides, rank)
        span = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides))
        if span >= 1 << 32:
            raise Invalid("%s spans more than 2^32 - 1 elements" % name)
        if is_output and _overlaps(sizes, strides):
            raise Invalid("%s overlaps itself" % name)
    if tensor.TotalTensorSizeInBytes < -(-span * width // 4) * 4:
        raise Invalid("%s.TotalTensorSizeInBytes is too small" % name)
    alignment = tensor.GuaranteedBaseOffsetAlignment
    if alignment and (alignment & (alignment - 1) or alignment < width):
        raise Invalid("%s.GuaranteedBaseOffsetAlignment is no power of two of the element's size or more" % name)
    if tensor.Flags not in ((0,) if is_output else (0, 1)):
        raise Invalid("%s.Flags are not for it" % name)


def _overlaps(sizes, strides):
    """Whether two elements lie in the same place: whether steps along the axes, not all 0, come back to it."""
    axes = sorted(((stride, size - 1) for size, stride in zip(sizes, strides) if size > 1), reverse=True)
    if any(stride == 0 for stride, _ in axes):
        return True
    # How far the axes from each one on reach.
    reaches = [sum(stride * most for stride, most in axes[place:]) for place in range(len(axes) + 1)]
    tried = 0

    def comes_back(place, distance, moved):
        nonlocal tried
        tried += 1
        if tried > 1 << 20:
            raise Unsupported("an output whose axes interleave in more ways than are tried")
        if place == len(axes):
            return moved and distance == 0
        stride, most = axes[place]
        reach = reaches[place + 1]
        least = max(-most, -((distance + reach) // stride))
        most = min(most, (reach - distance) // stride)
        return any(
            comes_back(place + 1, distance + steps * stride, moved or steps != 0) for steps in range(least, most + 1)
        )

    return comes_back(0, 0, False)
