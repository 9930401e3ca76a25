"""The module without dmlcts at the other end: `python3 -m unittest discover crates/backend/python`."""

import ast
import contextlib
import ctypes
import io
import itertools
import json
import operator
import os
import struct
import subprocess
import sys
import time
import tokenize
import unittest

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, FOLDER)

import dmlcts_backend as dmlcts

MAGIC = b"\xf7dmlcts1"


def frame(kind, header, body=b""):
    text = json.dumps(header).encode()
    return MAGIC + kind.ljust(8).encode() + struct.pack("<QQ", len(text), len(body)) + text + body


def frames(written):
    source = io.BytesIO(written)
    while True:
        prefix = source.read(32)
        if not prefix:
            return
        kind, (header, body) = prefix[8:16].decode().strip(), struct.unpack("<QQ", prefix[16:])
        yield kind, json.loads(source.read(header)), source.read(body)


class Any:
    """A desc with just what a test gives it."""

    def __init__(self, **members):
        self.__dict__.update(members)


def tensor(*sizes, **fields):
    made = dmlcts.Tensor()
    count = 1
    for size in sizes:
        count *= size
    usual = dict(
        DataType=1, Flags=0, DimensionCount=len(sizes), Sizes=list(sizes), Strides=None,
        TotalTensorSizeInBytes=4 * count, GuaranteedBaseOffsetAlignment=0,
    )
    for name, value in {**usual, **fields}.items():
        setattr(made, name, value)
    return made


class Conversation(unittest.TestCase):
    def test_hello_says_what_the_class_says_and_bye_ends_it(self):
        script = (
            "import os, dmlcts_backend as dmlcts\n"
            "class Mine(dmlcts.Backend):\n"
            "    name, lacks, busy_cases = 'mine', {'PADDING1': {'PaddingMode != CONSTANT': 'constant only'}}, 2000\n"
            "    create_timeout = 1.5\n"
            "    def set_feature_level(self, level):\n"
            "        print('noise')\n"
            "        os.write(1, b'more')\n"
            "dmlcts.serve(Mine())\n"
        )
        asked = frame("hello", {"protocol": 1, "host": "a test"})
        # What a backend prints does not reach standard output, which is the protocol's.
        asked += frame("level", {"feature_level": "4.1"}) + frame("bye", {})
        ended = subprocess.run(
            [sys.executable, "-c", script], input=asked, cwd=FOLDER, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            check=True,
        )
        self.assertEqual(sorted(ended.stderr.split()), [b"more", b"noise"])
        [(kind, hello, body)] = frames(ended.stdout)
        self.assertEqual((kind, body, hello["name"]), ("hello", b"", "mine"))
        self.assertEqual(hello["lacks"], [
            {"operator": "PADDING1", "where": "PaddingMode != CONSTANT", "reason": "constant only"},
        ])
        self.assertEqual(hello["limits"], {
            "tensor_bytes": None, "elements": None, "batch_cases": None, "busy_cases": 2000, "create_timeout": 1500,
        })


    def test_a_create_timeout_that_is_no_number_of_seconds_is_named(self):
        for wrong in [float("inf"), float("nan"), "1.5", -1]:
            backend = dmlcts.Backend()
            backend.create_timeout = wrong
            with self.assertRaises(SystemExit) as raised:
                dmlcts._hello(backend)
            said = "create_timeout is %r: write a number of seconds, such as 1.5, or None" % wrong
            self.assertEqual(str(raised.exception), said)

    def test_lacks_may_be_the_list_of_a_report_and_a_mistake_names_its_entry(self):
        backend = dmlcts.Backend()
        listed = [{"operator": "PADDING1", "where": "PaddingMode != CONSTANT", "reason": "constant only"}]
        for lacks in [listed, {"PADDING1": {"PaddingMode != CONSTANT": "constant only"}}]:
            backend.lacks = lacks
            self.assertEqual(dmlcts._hello(backend)["lacks"], listed)
        entry = "lacks[1] is %r: write a dict of the texts operator, where, reason"
        without_reason = {"operator": "SLICE", "where": "rank > 4"}
        for wrong, said in [
            ([*listed, "rank > 4"], entry % "rank > 4"),
            ([*listed, ("SLICE", "rank > 4")], entry % (("SLICE", "rank > 4"),)),
            ([*listed, without_reason], entry % without_reason),
            ([*listed, {**without_reason, "reason": None}], entry % {**without_reason, "reason": None}),
            ({"SLICE": ["rank > 4"]}, "lacks['SLICE'] is ['rank > 4']: write conditions with reasons, such as"),
            ("rank > 4", "lacks is 'rank > 4': write a dict or a list"),
            (None, "lacks is None: write a dict or a list"),
        ]:
            backend.lacks = wrong
            with self.assertRaises(SystemExit) as raised:
                dmlcts._hello(backend)
            self.assertIn(said, str(raised.exception))

    def test_modes_that_a_library_lacks_and_paddings_that_are_too_wide_are_lacks(self):
        class Padder(dmlcts.ArrayBackend):
            modes, narrow_modes = {"CONSTANT": 0, "REFLECTION": 1, "WRAP": 2}, ("REFLECTION", "WRAP")
            lacks = {"PADDING1": {"rank > 4": "up to four axes"}}

            def pad(self, array, widths, mode, value):
                return array

        lacks = dmlcts._hello(Padder())["lacks"]
        self.assertEqual([lack["where"] for lack in lacks], [
            "rank > 4", "PaddingMode == EDGE", "PaddingMode == SYMMETRIC",
            "PaddingMode == REFLECTION and any axis max(StartPadding, EndPadding) >= InputTensor.Sizes",
            "PaddingMode == WRAP and any axis max(StartPadding, EndPadding) > InputTensor.Sizes",
        ])

    def test_a_library_that_prints_when_it_is_imported_spoils_nothing(self):
        script = (
            "import dmlcts_backend as dmlcts\n"
            "print('loaded')\n"
            "class Cutter(dmlcts.ArrayBackend):\n"
            "    def slice(self, array, starts, stops, steps):\n"
            "        return array\n"
            "dmlcts.serve(Cutter())\n"
        )
        asked = frame("hello", {"protocol": 1, "host": "a test"}) + frame("bye", {})
        ended = subprocess.run(
            [sys.executable, "-c", script], input=asked, cwd=FOLDER, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            check=True,
        )
        self.assertEqual(ended.stderr.split(), [b"loaded"])
        [(_, hello, _)] = frames(ended.stdout)
        # It has the operators whose method it implements.
        self.assertEqual(hello["operators"], ["SLICE", "SLICE1"])


class Mistakes(unittest.TestCase):
    """What a script gets wrong is the failure of the case that it does it in, and never spoils a frame."""

    def answer(self, create):
        backend, sink = dmlcts.Backend(), io.BytesIO()
        backend.create = create
        columns = {"DataType": [1], "TotalTensorSizeInBytes": [4]}
        run = {
            "operator": ["SLICE"], "runs": [1], "output_fill": [7], "InputTensor": columns, "OutputTensor": columns,
            "members": {"SLICE": {}},
        }
        with contextlib.redirect_stderr(io.StringIO()):
            dmlcts._run(backend, run, memoryview(b"abcd"), sink)
        [(_, results, body)] = frames(sink.getvalue())
        self.phase, self.times = results.get("phase", [None])[0], results["times"]
        return results["outcome"][0], results["code"][0], results["reason"][0], body

    def refuse(self, reason, code):
        def create(desc):
            raise dmlcts.Refused(reason, code)
        return self.answer(create)

    def test_a_code_that_is_no_hresult(self):
        self.assertEqual(self.refuse("full", 0x8007000E), ("rejected", 0x8007000E, "full", b""))
        for code in [-5, 1 << 32, "E_FAIL", None, 1.5]:
            outcome, sent, reason, _ = self.refuse("strange", code)
            self.assertEqual((outcome, sent), ("failed", None))
            self.assertIn("ValueError: the code of Refused('strange', %r) is no HRESULT" % code, reason)
        self.assertIn("write -5 & 0xFFFFFFFF", self.refuse("strange", -5)[2])

    def test_where_it_went_wrong(self):
        def raising(error):
            def do(*_):
                raise error
            return do

        invalid, refused = dmlcts.Invalid("odd"), dmlcts.Refused("full", 0x8007000E)
        # What goes without saying is not said: a refusal is one to create, and a failure one to run.
        for error, at_create, at_run in [
            (KeyError("x"), "create", None), (invalid, None, "execute"), (refused, None, "execute"),
            (dmlcts.Unsupported("no"), None, None), (dmlcts.Refused("odd", -5), "create", None),
        ]:
            outcome = self.answer(raising(error))[0]
            self.assertEqual(self.phase, at_create, error)
            self.assertEqual((self.answer(lambda desc: raising(error))[0], self.phase), (outcome, at_run), error)
        self.answer(lambda desc: lambda input, output: None)
        self.assertIsNone(self.phase)

    def test_a_backend_that_compiles_says_which_phase_begins(self):
        backend, sink = dmlcts.Backend(), io.BytesIO()
        backend.create, backend.create_timeout = (lambda desc: lambda input, output: None), 1.5
        sizes = {"DataType": [1, 1], "TotalTensorSizeInBytes": [4, 4]}
        dmlcts._run(backend, {
            "operator": ["SLICE"] * 2, "runs": [0, 2], "output_fill": [7, 7], "InputTensor": sizes, "OutputTensor": sizes,
            "members": {"SLICE": {}},
        }, memoryview(b"abcdabcd"), sink)
        *phases, (kind, results, _) = frames(sink.getvalue())
        self.assertEqual((kind, results["outcome"]), ("results", ["accepted", "output"]))
        expected = [("phase", {"phase": phase}, b"") for phase in ("create", "create", "execute", "execute")]
        self.assertEqual(phases, expected)

    def test_a_result_that_cannot_be_compared(self):
        def raising(error):
            def run(input, output):
                raise error
            return lambda desc: run

        answer = self.answer(raising(dmlcts.WrongShape("[2, 3], expected [2, 4]")))
        self.assertEqual(answer, ("wrong_shape", None, "[2, 3], expected [2, 4]", b""))
        answer = self.answer(raising(dmlcts.WrongType("float64, expected float32")))
        self.assertEqual(answer, ("wrong_type", None, "float64, expected float32", b""))

    def test_where_an_exception_came_from(self):
        def create(desc):
            return desc.nothing

        self.assertRegex(self.answer(create)[2], r"^AttributeError: .* \(test_dmlcts_backend\.py:\d+\)$")

    def test_an_output_of_another_length(self):
        def shorten(input, output):
            del output[-1:]

        def lengthen(input, output):
            output[:] = b"abcde"

        for run in [shorten, lengthen]:
            outcome, _, reason, body = self.answer(lambda desc: run)
            self.assertEqual((outcome, body), ("failed", b""))
            self.assertRegex(reason, r"Error: .*memory.* \(test_dmlcts_backend\.py:\d+\)$")

    def test_both_memories_are_aligned_at_any_place_of_a_batch(self):
        starts = []

        def run(input, output):
            self.assertTrue(input.readonly)
            self.assertEqual(bytes(output), bytes((7,)) * len(output))
            starts.append(address(output))
            output[:] = bytes(input)
            # Only writable memory has an address for ctypes: it says where the bytes of the input lie.
            starts.append(address(memoryview(input.obj)[0:]) + offset(input))

        def address(view):
            return ctypes.addressof(ctypes.c_char.from_buffer(view))

        def offset(view):
            return bytes(view.obj).index(bytes(view))

        backend, sink = dmlcts.Backend(), io.BytesIO()
        backend.create = lambda desc: run
        lengths = [4, 12, 20, 36]
        body = bytes(range(1, 1 + sum(lengths)))
        sizes = {"DataType": [1] * 4, "TotalTensorSizeInBytes": lengths}
        dmlcts._run(backend, {
            "operator": ["SLICE"] * 4, "runs": [1] * 4, "output_fill": [7] * 4,
            "InputTensor": sizes, "OutputTensor": sizes, "members": {"SLICE": {}},
        }, memoryview(body), sink)
        (_, header, answer), = frames(sink.getvalue())
        self.assertEqual((header["outcome"], answer), (["output"] * 4, body))
        self.assertEqual([start % dmlcts.ALIGNMENT for start in starts], [0] * 8)

    def test_the_time_is_that_of_the_step_that_took_it(self):
        def slow(*_):
            time.sleep(0.05)

        def refuse(desc):
            slow()
            raise dmlcts.Invalid("")

        for create, step in [
            (lambda desc: slow() or (lambda input, output: None), "create"),
            (refuse, "create"),
            (lambda desc: slow, "run"),
        ]:
            self.answer(create)
            other, = self.times.keys() - {step}
            self.assertGreaterEqual(self.times[step], 45_000)
            self.assertGreater(self.times[step], self.times[other])

    def test_a_reason_that_no_text_can_hold(self):
        self.assertEqual(self.refuse(os.fsdecode(b"\xff.so"), 1)[2], "?.so")


class Rules(unittest.TestCase):
    def test_a_negative_stride_walks_its_window_from_the_far_end(self):
        desc = Any(
            operator="SLICE1", DimensionCount=2,
            InputWindowOffsets=[1, 0], InputWindowSizes=[4, 3], InputWindowStrides=[-2, 1],
        )
        source, target = tensor(6, 3), tensor(2, 3)
        self.assertEqual(dmlcts.check_slice(desc, source, target), [(4, 2, -2, 0), (0, 3, 1, 3)])
        for strides, sizes in [([-2, 1], (3, 3)), ([0, 1], (2, 3))]:
            desc.InputWindowStrides = strides
            with self.assertRaises(dmlcts.Invalid):
                dmlcts.check_slice(desc, source, tensor(*sizes))

    def test_a_walk_stops_where_a_slice_of_python_does(self):
        elements = list(range(9))
        # Offset, size and stride of the window, the size of the output, what is read, and where the walk stops: at the end of a
        # window that is read as a whole, since a library may find the number of elements from it.
        for offset, size, stride, m, read, stop in [
            (1, 6, 2, 3, [1, 3, 5], 7), (2, 7, -2, 4, [8, 6, 4, 2], 1), (0, 5, -1, 5, [4, 3, 2, 1, 0], None),
            (0, 5, -2, 3, [4, 2, 0], None), (6, 3, 2, 2, [6, 8], 9), (0, 1, -7, 1, [0], None),
            (0, 6, 2, 2, [0, 2], 4), (1, 8, -3, 2, [8, 5], 2), (0, 4, -2, 2, [3, 1], None),
        ]:
            desc = Any(operator="SLICE1", DimensionCount=1, InputWindowOffsets=[offset], InputWindowSizes=[size],
                       InputWindowStrides=[stride])
            [walk] = dmlcts.check_slice(desc, tensor(9), tensor(m))
            self.assertEqual((elements[walk.first:walk.stop:walk.step], walk.stop), (read, stop))

    def test_a_slice_may_read_the_last_element_and_none_behind_it(self):
        desc = Any(operator="SLICE", DimensionCount=1, Offsets=[1], Sizes=[3], Strides=[2])
        self.assertEqual(dmlcts.check_slice(desc, tensor(6), tensor(3)), [(1, 3, 2, 7)])
        with self.assertRaises(dmlcts.Invalid):
            dmlcts.check_slice(desc, tensor(5), tensor(3))

    def test_paddings_and_sizes_agree(self):
        desc = Any(DimensionCount=1, PaddingMode=4, PaddingValueDataType=1, StartPadding=[1], EndPadding=[2])
        self.assertEqual(dmlcts.check_padding(desc, tensor(3), tensor(6)), [(1, 2)])
        for spoilt in [
            dict(PaddingMode=5), dict(PaddingValueDataType=2), dict(EndPadding=[1]), dict(StartPadding=None),
            dict(EndPadding=[2, 0]), dict(DimensionCount=2),
        ]:
            with self.assertRaises(dmlcts.Invalid):
                dmlcts.check_padding(Any(**{**vars(desc), **spoilt}), tensor(3), tensor(6))


class Tensors(unittest.TestCase):
    def test_what_every_tensor_keeps(self):
        dmlcts.check_tensors(Any(InputTensor=tensor(2, 2, Strides=[0, 1]), OutputTensor=tensor(2, 2)))
        for output in [
            tensor(2, 2, Strides=[0, 1]), tensor(2, 2, Strides=[1, 1]), tensor(2, 2, TotalTensorSizeInBytes=12),
            tensor(2, 0), tensor(2, 2, Flags=1), tensor(2, 2, GuaranteedBaseOffsetAlignment=3), None,
        ]:
            with self.assertRaises(dmlcts.Invalid):
                dmlcts.check_tensors(Any(InputTensor=tensor(2, 2), OutputTensor=output))

    def test_outputs_that_overlap(self):
        sizes, strides = range(1, 4), (0, 1, 2, 3, 5, 9)
        for shape in itertools.product(sizes, repeat=3):
            for steps in itertools.product(strides, repeat=3):
                places = [sum(map(operator.mul, steps, at)) for at in itertools.product(*map(range, shape))]
                overlaps = len(set(places)) < len(places)
                self.assertEqual(dmlcts._overlaps(shape, steps), overlaps, (shape, steps))
        # Of any size, and without a list of all places.
        self.assertTrue(dmlcts._overlaps((2, 2, 803976000, 1), (3, 4, 4, 4)))
        self.assertFalse(dmlcts._overlaps((2, 59393, 9), (3, 18, 2)))

    def test_strides_in_bytes(self):
        self.assertEqual(dmlcts.byte_strides(tensor(2, 3, DataType=9)), [24, 8])
        self.assertEqual(dmlcts.byte_strides(tensor(2, 3, DataType=2, Strides=[0, 5])), [0, 10])
        for no_bytes in [0, 12, 99]:  # UNKNOWN, UINT4, and what is no type
            with self.assertRaises(dmlcts.Invalid):
                dmlcts.byte_strides(tensor(2, 3, DataType=no_bytes))


class Arrays(unittest.TestCase):
    def test_a_slice_gets_an_array_of_its_own_and_the_stop_that_the_library_takes(self):
        class Cutter(dmlcts.ArrayBackend):
            def slice(self, array, starts, stops, steps):
                got.append((array.flags.writeable, array.tolist(), starts, stops, steps))
                return array[::-1]

        desc = Any(operator="SLICE1", DimensionCount=1, InputWindowOffsets=[0], InputWindowSizes=[2], InputWindowStrides=[-1],
                   InputTensor=tensor(2), OutputTensor=tensor(2))
        input, output, got = memoryview(struct.pack("<2f", 1, 2)), memoryview(bytearray(8)), []
        for Cutter.before_first in [None, -1]:
            Cutter().create(desc)(input, output)
            self.assertEqual(got.pop(), (True, [1, 2], [1], [Cutter.before_first], [-1]))
            self.assertEqual(struct.unpack("<2f", output), (2, 1))


class Promises(unittest.TestCase):
    """What the README says of these files."""

    @staticmethod
    def code_lines(text):
        """The lines that hold code: neither blank, nor comment, nor docstring."""
        no_code = {
            tokenize.ENCODING, tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
            tokenize.ENDMARKER,
        }
        lines = set()
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type not in no_code:
                lines.update(range(token.start[0], token.end[0] + 1))
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
                docstring = node.body[0]
                lines.difference_update(range(docstring.lineno, docstring.end_lineno + 1))
        return len(lines)

    def test_lines_of_code_are_counted_as_a_person_counts_them(self):
        text = '"""About\n\nthis."""\n\n# why\nx = [\n    1,\n]\n\n\ndef f():  # g\n    """One."""\n    return """\n\n"""\n'
        self.assertEqual(self.code_lines(text), 7)

    def test_the_numpy_backend_takes_thirty_lines(self):
        with open(os.path.join(FOLDER, "numpy_backend.py"), encoding="utf-8") as file:
            text = file.read()
        self.assertLessEqual(self.code_lines(text), 30)
        # Thirty lines that a person reads, and not what thirty lines can hold.
        self.assertLessEqual(max(map(len, text.splitlines())), 120)
        self.assertNotIn(";", text)

    def test_everything_here_has_the_syntax_of_python_3_8(self):
        for name in sorted(os.listdir(FOLDER)):
            if name.endswith(".py"):
                with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
                    ast.parse(file.read(), name, feature_version=(3, 8))


if __name__ == "__main__":
    unittest.main()
