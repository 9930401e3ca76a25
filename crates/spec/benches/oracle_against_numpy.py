#!/usr/bin/env python3
"""Compares the oracle with NumPy and with memcpy on large tensors, one thread each, in one run.

NumPy is installed into a virtual environment in the target folder. For every case the two take turns, so that
what else the machine does falls on both; the best time of each counts. `np.copyto(out, x[...])` writes into
memory that is there; `np.pad` allocates its result, and that is part of its time. Both processes use huge pages:
NumPy asks for them itself, and for the oracle the C library is told to. Outputs are compared by a digest.

    crates/spec/benches/oracle_against_numpy.py [--mib 64] [--rounds 7] [--only TEXT]

Exit code 1 when a ratio exceeds its goal, 2 when an output differs.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time
import venv

ROOT = pathlib.Path(__file__).resolve().parents[3]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
TYPES = {1: "UINT8", 2: "UINT16", 4: "UINT32", 8: "UINT64"}
MODES = {"CONSTANT": "constant", "EDGE": "edge", "REFLECTION": "reflect", "SYMMETRIC": "symmetric", "WRAP": "wrap"}


def ensure_numpy():
    """Runs this script again where NumPy is installed."""
    try:
        import numpy  # noqa: F401
    except ImportError:
        folder = TARGET / "numpy"
        python = folder / "bin" / "python"
        if os.environ.get("DMLCTS_NUMPY"):
            sys.exit("NumPy was installed, and cannot be imported")
        if not python.exists():
            venv.create(folder, with_pip=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", "numpy"], check=True)
        os.environ["DMLCTS_NUMPY"] = "1"
        os.execv(python, [str(python), *sys.argv])


ensure_numpy()
import numpy as np  # noqa: E402


def start_oracle(inputs, outputs):
    """The benchmark binary, answering case lines; with its memory of so many MiB."""
    build = ["cargo", "bench", "-p", "dmlcts-spec", "--bench", "oracle", "--no-run", "--message-format=json"]
    built = subprocess.run(build, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    artifacts = [json.loads(line) for line in built.splitlines()]
    binary = next(a["executable"] for a in artifacts if a.get("executable") and a["target"]["name"] == "oracle")
    command = [binary, "--lines", str(inputs), str(outputs)]
    environment = {**os.environ, "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
    for attempt in range(30):
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        process.stdout.readline()
        huge, total = huge_pages(process.pid)
        # The C library's request does not always reach the kernel; another process may have more luck.
        if huge > 0.9 * total:
            return process
        process.stdin.close()
        process.wait()
    sys.exit("the oracle got no huge pages, and NumPy has them: strided reads would not be comparable")


def huge_pages(process):
    """How much of a process's memory lies in huge pages, and how much it is, in MiB."""
    lines = pathlib.Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    sizes = {line.split()[0]: int(line.split()[1]) // 1024 for line in lines[1:]}
    return sizes["AnonHugePages:"], sizes["Rss:"]


def numbers(values):
    return ",".join(str(value) for value in values)


def packed(sizes):
    strides = [1] * len(sizes)
    for axis in reversed(range(len(sizes) - 1)):
        strides[axis] = strides[axis + 1] * sizes[axis + 1]
    return strides


class Case:
    """One case line, and the same for NumPy."""

    def __init__(self, name, size, line, numpy, goal="numpy", output=None):
        self.name = f"{name}, {TYPES[size].lower()}"
        self.line = line
        self.numpy = numpy
        self.goal = goal
        self.output = output


def slice1(name, size, shape, start, window, step, out, goal="numpy", strides=None, out_strides=None):
    """x[...] of SLICE1; `start` is the window's offset, and a negative step starts at the window's end."""
    line = f"SLICE1 {TYPES[size]} in={numbers(shape)} out={numbers(out)}"
    if strides:
        line += f" InputTensor.Strides={numbers(strides)}"
    if out_strides:
        line += f" OutputTensor.Strides={numbers(out_strides)}"
    line += f" InputWindowOffsets={numbers(start)} InputWindowSizes={numbers(window)}"
    line += f" InputWindowStrides={numbers(step)} fill=iota"

    def view(flat):
        x = np.lib.stride_tricks.as_strided(flat, shape, [s * size for s in strides or packed(shape)])
        picks = []
        for axis, s in enumerate(step):
            first = start[axis] + (window[axis] - 1 if s < 0 else 0)
            end = first + s * out[axis]
            picks.append(slice(first, None if end < 0 else end, s))
        return x[tuple(picks)]

    def numpy(flat, result):
        y = np.lib.stride_tricks.as_strided(result, out, [s * size for s in out_strides or packed(out)])
        np.copyto(y, view(flat))

    reach = 1 + sum((n - 1) * s for n, s in zip(out, out_strides or packed(out)))
    return Case(name, size, line, numpy, goal, reach)


def padding(name, size, shape, before, after, mode, goal="numpy"):
    out = [n + b + a for n, b, a in zip(shape, before, after)]
    line = f"PADDING1 {TYPES[size]} in={numbers(shape)} out={numbers(out)} PaddingMode={mode}"
    if mode == "CONSTANT":
        line += " PaddingValue=7"
    line += f" StartPadding={numbers(before)} EndPadding={numbers(after)} fill=iota"
    count = int(np.prod(shape))
    options = {"constant_values": 7} if mode == "CONSTANT" else {}

    def numpy(flat, result):
        x = flat[:count].reshape(shape)
        return np.pad(x, list(zip(before, after)), mode=MODES[mode], **options)

    return Case(name, size, line, numpy, goal, int(np.prod(out)))


def cases(mib):
    """Every case; outputs hold about `mib` MiB each."""
    for size in TYPES:
        n = mib * 2**20 // size

        def one(name, step, margin=0):
            length = n * abs(step) + margin
            return slice1(name, size, [length], [0], [length], [step], [n])

        yield slice1("identity", size, [n], [0], [n], [1], [n], goal="memcpy")
        for step in (-1, 2, 3, 4, 5, 7, -2, -3, -5):
            yield one("reversed" if step == -1 else f"every {step}", step)
        for row in (8, 12, 32, 48, 128, 256, 1024, 4096, 65536):
            width = row // size
            rows = n // max(width, 1)
            if width < 2:
                continue
            goal = "memcpy" if row >= 1024 else "numpy"
            out = [rows, width]
            margin = max(width // 8, 1)
            wide = [rows, width + margin]
            yield slice1(f"window of {row} byte rows", size, wide, [0, margin // 2], out, [1, 1], out, goal=goal)
            if row < 1024:
                wide = [rows, 2 * width]
                yield slice1(f"every second {row} bytes", size, wide, [0, 0], out, [1, 1], out)
                yield slice1(f"every second of {row} byte rows", size, wide, [0, 0], [rows, 2 * width], [1, 2], out)
                yield slice1(f"reversed {row} byte rows", size, out, [0, 0], out, [1, -1], out)
                yield slice1(f"{row} byte rows, last first", size, out, [0, 0], out, [-1, 1], out)
            if row < 65536:
                for mode in MODES:
                    shape = [rows, width]
                    yield padding(f"{mode.lower()} around {row} byte rows", size, shape, [0, 1], [0, 1], mode)
        side = int(n**0.5) // 64 * 64
        square = [side, side]
        yield slice1("transposed", size, square, [0, 0], square, [1, 1], square, strides=[1, side])
        yield slice1("transposed output", size, square, [0, 0], square, [1, 1], square, out_strides=[1, side])
        yield slice1("output with holes", size, [n // 2], [0], [n // 2], [1], [n // 2], out_strides=[2])
        rows = [n // 16, 16]
        yield slice1("inner axis broadcast", size, rows, [0, 0], rows, [1, 1], rows, strides=[1, 0])
        yield slice1("outer axis broadcast", size, rows, [0, 0], rows, [1, 1], rows, strides=[0, 1])
        image = [n // 768, 256, 3]
        yield slice1("images mirrored", size, image, [0, 0, 0], image, [1, -1, 1], image)
        yield slice1("channels reversed", size, image, [0, 0, 0], image, [1, 1, -1], image)
        rows = n // 8192
        for mode in MODES:
            shape, pad = [rows - 200, 7992], [100, 100]
            yield padding(f"{mode.lower()} around a large image", size, shape, pad, pad, mode, goal="memcpy")
            tiny, before, after = [3, 5], [rows // 2, 4000], [rows - 3 - rows // 2, 4187]
            yield padding(f"{mode.lower()} around 3 x 5", size, tiny, before, after, mode)
            yield padding(f"{mode.lower()} around 7", size, [7], [n // 2], [n // 2 - 7], mode)


def digest(array):
    words = array.view(np.uint8)
    words = words[: len(words) // 8 * 8].view(np.uint64)
    with np.errstate(over="ignore"):
        return int((words * (2 * np.arange(len(words), dtype=np.uint64) + 1)).sum())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mib", type=int, default=64, help="MiB an output (64)")
    parser.add_argument("--rounds", type=int, default=7, help="turns of each (7)")
    parser.add_argument("--only", default="", help="only cases whose names contain this")
    options = parser.parse_args()
    inputs, outputs = 8 * options.mib + 1, 2 * options.mib + 1
    oracle = start_oracle(inputs, outputs)
    memory = np.arange(inputs * 2**17, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    result = np.ones(outputs * 2**20, np.uint8)
    worst = 0
    print(f"{'case':44} {'memcpy':>8} {'numpy':>8} {'oracle':>8}   {'/memcpy':>7} {'/numpy':>7}  goal")
    for case in cases(options.mib):
        if options.only not in case.name:
            continue
        size = next(size for size, name in TYPES.items() if case.name.endswith(", " + name.lower()))
        flat, out = memory.view(f"u{size}"), result.view(f"u{size}")
        out[: case.output] = 0
        best = {"numpy": 1e9, "oracle": 1e9, "memcpy": 1e9}
        padded = None
        for turn in range(options.rounds):
            start = time.perf_counter()
            returned = case.numpy(flat, out)
            best["numpy"] = min(best["numpy"], time.perf_counter() - start)
            padded = returned if turn == 0 else None
            if turn == 0:
                written = out[: case.output] if padded is None else padded.reshape(-1)
                # Totals are rounded up to four bytes, and those are part of the oracle's output.
                expected = digest(written) if written.nbytes % 8 == 0 else None
            del returned, padded
            oracle.stdin.write(f"1 {case.line}\n")
            answer = oracle.stdout.readline()
            if not answer:
                sys.exit(f"the oracle ended on {case.line}")
            answer = json.loads(answer)
            for key in ("oracle", "memcpy"):
                best[key] = min(best[key], answer[key])
        to_memcpy, to_numpy = best["oracle"] / best["memcpy"], best["oracle"] / best["numpy"]
        met = to_memcpy <= 1.5 if case.goal == "memcpy" else to_numpy <= 1.1
        differs = expected is not None and "holes" not in case.name and expected != answer["digest"]
        worst = max(worst, 2 if differs else 0 if met else 1)
        times = " ".join(f"{best[key] * 1e3:8.2f}" for key in ("memcpy", "numpy", "oracle"))
        note = "DIFFERENT OUTPUT" if differs else f"{case.goal}" if met else f"{case.goal} MISSED"
        print(f"{case.name:44} {times}   {to_memcpy:7.2f} {to_numpy:7.2f}  {note}", flush=True)
    for name, process in (("NumPy", os.getpid()), ("the oracle", oracle.pid)):
        print("huge pages of {}: {} of {} MiB".format(name, *huge_pages(process)))
    oracle.stdin.close()
    oracle.wait()
    sys.exit(worst)


if __name__ == "__main__":
    main()
