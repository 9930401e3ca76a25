/** The module without dmlcts at the other end: `node --test crates/backend/js/dmlcts_backend.test.js`. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";

import * as dmlcts from "dmlcts-backend";

const FOLDER = dirname(fileURLToPath(import.meta.url));
const MAGIC = "\xf7dmlcts1";

function frame(kind, header, body = Buffer.alloc(0)) {
    const text = Buffer.from(typeof header === "string" ? header : JSON.stringify(header));
    const prefix = Buffer.alloc(32);
    prefix.write(MAGIC + kind.padEnd(8), "latin1");
    prefix.writeBigUInt64LE(BigInt(text.length), 16);
    prefix.writeBigUInt64LE(BigInt(body.length), 24);
    return Buffer.concat([prefix, text, body]);
}

function frames(written) {
    const found = [];
    for (let at = 0; at < written.length; ) {
        assert.equal(written.toString("latin1", at, at + 8), MAGIC);
        const [text, body] = [16, 24].map((field) => Number(written.readBigUInt64LE(at + field)));
        const start = at + 32;
        found.push({
            kind: written.toString("latin1", at + 8, at + 16).trimEnd(),
            header: JSON.parse(written.toString("utf8", start, start + text)),
            body: written.subarray(start + text, start + text + body),
        });
        at = start + text + body;
    }
    return found;
}

/**
 * Runs a script, whose standard output is a pipe of the system as it is under dmlcts, or a socket as Node
 * makes it.
 */
function converse(script, asked, isPipe) {
    const folder = fs.mkdtempSync(join(tmpdir(), "dmlcts-js-"));
    try {
        const module = JSON.stringify(join(FOLDER, "dmlcts_backend.js"));
        fs.writeFileSync(join(folder, "mine.mjs"), `import * as dmlcts from ${module};\n${script}`);
        const command = isPipe ? "cat | node mine.mjs 2>said | cat" : "exec node mine.mjs 2>said";
        const { stdout } = spawnSync("sh", ["-c", command], { cwd: folder, input: asked });
        return [frames(stdout), fs.readFileSync(join(folder, "said"), "utf8")];
    } finally {
        fs.rmSync(folder, { recursive: true });
    }
}

const HELLO = frame("hello", { protocol: 1, host: "a test" });
const BYE = frame("bye", {});

/** The columns of tensors in a `run`. */
function columns(types, lengths) {
    const none = types.map(() => null);
    return {
        DataType: types, Flags: none, DimensionCount: none, Sizes: none, Strides: none, TotalTensorSizeInBytes: lengths,
        GuaranteedBaseOffsetAlignment: none,
    };
}

function tensor(sizes, fields = {}) {
    const elements = sizes.reduce((product, size) => product * size, 1);
    return {
        DataType: 1, Flags: 0, DimensionCount: sizes.length, Sizes: sizes, Strides: null,
        TotalTensorSizeInBytes: BigInt(4 * elements), GuaranteedBaseOffsetAlignment: 0, ...fields,
    };
}

describe("conversation", { skip: process.platform === "win32" && "needs a shell" }, () => {
    const script = `
        import fs from "node:fs";
        class Mine extends dmlcts.Backend {
            name = "mine";
            lacks = { PADDING1: { "PaddingMode != CONSTANT": "constant only" } };
            busyCases = 2000;
            async setFeatureLevel(level) {
                console.log("noise");
                process.stdout.write("more\\n");
                if (level === "4.1") fs.writeSync(1, "below\\n");
            }
        }
        dmlcts.serve(new Mine());`;

    for (const isPipe of [true, false]) {
        it(`hello says what the class says, and bye ends it: ${isPipe ? "pipe" : "socket"}`, () => {
            const level = frame("level", { feature_level: isPipe ? "4.1" : "4.0" });
            const [answers, said] = converse(script, Buffer.concat([HELLO, level, BYE]), isPipe);
            assert.deepEqual(said.split("\n"), ["noise", "more", ...(isPipe ? ["below"] : []), ""]);
            const [{ kind, header, body }] = answers;
            assert.deepEqual([answers.length, kind, header.name, body.length], [1, "hello", "mine", 0]);
            const lack = { operator: "PADDING1", where: "PaddingMode != CONSTANT", reason: "constant only" };
            assert.deepEqual(header.lacks, [lack]);
            const limits = {
                tensor_bytes: null, elements: null, batch_cases: null, busy_cases: 2000, create_timeout: null,
            };
            assert.deepEqual(header.limits, limits);
        });
    }

    it("a library that prints when it is imported spoils nothing", () => {
        const cutter = `
            console.log("loaded");
            class Cutter extends dmlcts.ArrayBackend {
                slice(array) { return array; }
            }
            dmlcts.serve(new Cutter());`;
        const [[{ header }], said] = converse(cutter, Buffer.concat([HELLO, BYE]), true);
        assert.equal(said, "loaded\n");
        // It has the operators whose method it implements.
        assert.deepEqual(header.operators, ["SLICE", "SLICE1"]);
    });

    it("ends although a library keeps the process alive", () => {
        const endless = "setInterval(() => {}, 1000);\ndmlcts.serve(new dmlcts.Backend());";
        assert.equal(converse(endless, Buffer.concat([HELLO, BYE]), false)[0].length, 1);
    });

    it("names what is no frame, another version and an unknown message", () => {
        for (const [asked, expected] of [
            [Buffer.alloc(32, "x"), "what came on standard input is not a frame of dmlcts's protocol, version 1\n"],
            [frame("hello", { protocol: 2 }), "dmlcts speaks protocol version 2; this module speaks 1\n"],
            [frame("dance", {}), "dmlcts sent the unknown message 'dance'\n"],
        ]) {
            assert.deepEqual(converse("dmlcts.serve(new dmlcts.Backend());", asked, true), [[], expected]);
        }
    });

    it("names a createTimeout that is no number of milliseconds", () => {
        for (const wrong of ["Infinity", "NaN", "'1500'", "-1"]) {
            const script = `
                const backend = new dmlcts.Backend();
                backend.createTimeout = ${wrong};
                dmlcts.serve(backend);`;
            const expected = `createTimeout is ${wrong}: write a number of milliseconds, such as 1500, or null\n`;
            assert.deepEqual(converse(script, HELLO, true), [[], expected]);
        }
    });

    it("takes the list of a report as lacks, and a mistake names its entry", () => {
        const script = (lacks) => `
            const backend = new dmlcts.Backend();
            backend.lacks = ${lacks};
            dmlcts.serve(backend);`;
        const listed = [{ operator: "PADDING1", where: "PaddingMode != CONSTANT", reason: "constant only" }];
        const [[{ header }]] = converse(script(JSON.stringify(listed)), Buffer.concat([HELLO, BYE]), true);
        assert.deepEqual(header.lacks, listed);
        const texts = "write an object of the texts operator, where, reason\n";
        const example = "write conditions with reasons, such as { 'rank > 4': 'up to four axes' }\n";
        for (const [wrong, expected] of [
            ["['rank > 4']", `lacks[0] is 'rank > 4': ${texts}`],
            ["[{ operator: 'SLICE' }]", `lacks[0] is { operator: 'SLICE' }: ${texts}`],
            ["{ SLICE: { 'rank > 4': 7 } }", `lacks[0] is { operator: 'SLICE', where: 'rank > 4', reason: 7 }: ${texts}`],
            ["{ SLICE: 'rank > 4' }", `lacks.SLICE is 'rank > 4': ${example}`],
            ["null", "lacks is null: write an object or an array\n"],
        ]) {
            assert.deepEqual(converse(script(wrong), HELLO, true), [[], expected]);
        }
    });

    it("modes that a library lacks and paddings that are too wide are lacks", () => {
        const padder = `
            class Padder extends dmlcts.ArrayBackend {
                modes = { CONSTANT: 0, REFLECTION: 1, WRAP: 2 };
                narrowModes = ["REFLECTION", "WRAP"];
                lacks = { PADDING1: { "rank > 4": "up to four axes" } };
                pad(array) { return array; }
            }
            dmlcts.serve(new Padder());`;
        const [[{ header }]] = converse(padder, Buffer.concat([HELLO, BYE]), true);
        assert.deepEqual(header.lacks.map(({ where }) => where), [
            "rank > 4", "PaddingMode == EDGE", "PaddingMode == SYMMETRIC",
            "PaddingMode == REFLECTION and any axis max(StartPadding, EndPadding) >= InputTensor.Sizes",
            "PaddingMode == WRAP and any axis max(StartPadding, EndPadding) > InputTensor.Sizes",
        ]);
    });

    it("integers of 64 bits are exact", () => {
        const run = JSON.stringify({
            cases: 1, number: 7, operator: ["SLICE"], runs: [0], output_fill: [], members: { SLICE: { Scale: ["1".repeat(16)] } },
            InputTensor: columns([1], ["x"]), OutputTensor: columns([null], [null]),
        }).replace('"x"', "18446744073709551615");
        const shows = `
            class Mine extends dmlcts.Backend {
                create({ InputTensor, OutputTensor, Scale }) {
                    throw new dmlcts.Invalid([InputTensor.TotalTensorSizeInBytes, OutputTensor, Scale].join(" "));
                }
            }
            dmlcts.serve(new Mine());`;
        const [[{ header }]] = converse(shows, Buffer.concat([frame("run", run), BYE]), true);
        assert.deepEqual(header.reason, [`18446744073709551615  ${Array(8).fill(17)}`]);
        assert.equal(header.number, 7);
    });

    it("a backend that compiles says which phase begins", () => {
        const tensors = columns([1, 1], [0, 0]);
        const run = frame("run", {
            cases: 2, operator: ["SLICE", "SLICE"], runs: [0, 2], output_fill: [7, 7], members: { SLICE: {} },
            InputTensor: tensors, OutputTensor: tensors,
        });
        const compiles = `
            class Mine extends dmlcts.Backend {
                createTimeout = 1500;
                create() { return () => {}; }
            }
            dmlcts.serve(new Mine());`;
        const [answers] = converse(compiles, Buffer.concat([run, BYE]), true);
        const results = answers.pop();
        const phases = ["create", "create", "execute", "execute"].map((phase) => ["phase", { phase }]);
        assert.deepEqual(answers.map(({ kind, header }) => [kind, header]), phases);
        assert.deepEqual(results.header.outcome, ["accepted", "output"]);
    });
});

/** The answer to a batch of equal cases of SLICE, with these bytes as inputs. */
async function answers(create, lengths = [4], body = Buffer.from("abcd")) {
    const backend = new dmlcts.Backend();
    backend.create = create;
    const ones = lengths.map(() => 1);
    const tensors = columns(ones, lengths);
    const run = {
        operator: lengths.map(() => "SLICE"), runs: ones, output_fill: lengths.map((_, place) => 7 + place),
        InputTensor: tensors, OutputTensor: tensors, members: { SLICE: {} },
    };
    const sent = [];
    const error = console.error;
    console.error = () => {};
    try {
        await dmlcts.answer(backend, run, body, (results, outputs) => sent.push([results, Buffer.concat(outputs)]));
    } finally {
        console.error = error;
    }
    return sent;
}

async function answer(create) {
    const [[{ outcome, code, reason, phase }, body]] = await answers(create);
    return { outcome: outcome[0], code: code[0], reason: reason[0], phase: phase[0], body: body.toString() };
}

function throwing(error) {
    return () => {
        throw error;
    };
}

describe("a mistake of a script is the failure of its case, and spoils no frame", () => {
    it("the time is that of the step that took it", async () => {
        const slow = () => new Promise((resolve) => setTimeout(resolve, 50));
        const refuse = () => slow().then(throwing(new dmlcts.Invalid("")));
        for (const [create, step, other] of [
            [() => slow().then(() => () => {}), "create", "run"], [refuse, "create", "run"], [() => slow, "run", "create"],
        ]) {
            const [[{ times }]] = await answers(create);
            assert.ok(times[step] >= 45_000 && times[step] > times[other], JSON.stringify([step, times]));
        }
    });

    it("a code that is no HRESULT", async () => {
        const full = await answer(throwing(new dmlcts.Refused("full", 0x8007000e)));
        assert.deepEqual(full, { outcome: "rejected", code: 0x8007000e, reason: "full", phase: null, body: "" });
        for (const code of [-5, 2 ** 32, "E_FAIL", undefined, 1.5]) {
            const told = await answer(throwing(new dmlcts.Refused("strange", code)));
            assert.deepEqual([told.outcome, told.code], ["failed", null]);
            assert.match(told.reason, /^RangeError: the code of Refused\('strange', .+\) is no HRESULT/);
        }
        assert.match((await answer(throwing(new dmlcts.Refused("", -5)))).reason, /write -5 >>> 0$/);
    });

    it("where it went wrong", async () => {
        const [invalid, refused] = [new dmlcts.Invalid("odd"), new dmlcts.Refused("full", 0x8007000e)];
        // The usual phase is left out: a refusal is one to create, and a failure one to run.
        for (const [error, atCreate, atRun] of [
            [new TypeError("x"), "create", null], [invalid, null, "execute"], [refused, null, "execute"],
            [new dmlcts.Unsupported("no"), null, null], [new dmlcts.Refused("odd", -5), "create", null],
        ]) {
            const [early, late] = [await answer(throwing(error)), await answer(async () => throwing(error))];
            assert.deepEqual([early.phase, late.phase], [atCreate, atRun], String(error));
            assert.equal(early.outcome, late.outcome);
        }
        assert.equal((await answer(() => () => {})).phase, null);
    });

    it("a result that cannot be compared", async () => {
        const told = await answer(() => throwing(new dmlcts.WrongShape("[2, 3], expected [2, 4]")));
        assert.deepEqual([told.outcome, told.reason], ["wrong_shape", "[2, 3], expected [2, 4]"]);
        assert.equal((await answer(() => throwing(new dmlcts.WrongType("x")))).outcome, "wrong_type");
    });

    it("where an exception came from", async () => {
        const told = await answer((desc) => desc.nothing.at);
        assert.match(told.reason, /^TypeError: .* \(dmlcts_backend\.test\.js:\d+\)$/);
        const missing = await answer(dmlcts.Backend.prototype.create);
        assert.match(missing.reason, /^Error: Backend has no method create/);
    });

    it("something else than an error, and a reason that no text can hold", async () => {
        assert.equal((await answer(throwing(5308416))).reason, "thrown: 5308416");
        assert.equal((await answer(throwing(Object.create(null)))).reason, "thrown: [Object: null prototype] {}");
        assert.equal((await answer(throwing(new dmlcts.Invalid("\ud800.so")))).reason, "\ufffd.so");
    });

    it("an output that is gone, or too short for what is written", async () => {
        const gone = await answer(() => (input, output) => structuredClone(output.buffer, { transfer: [output.buffer] }));
        assert.match(gone.reason, /^Error: the memory of the output was transferred away/);
        const long = await answer(() => (input, output) => output.set([1, 2, 3, 4, 5]));
        assert.deepEqual([long.outcome, long.body], ["failed", ""]);
        assert.match(long.reason, /^RangeError: .* \(dmlcts_backend\.test\.js:\d+\)$/);
    });

    it("each memory is its own and filled, at any place of a batch, also where runs take turns", async () => {
        const lengths = [4, 12, 20, 36];
        const body = Buffer.from(Array.from({ length: 72 }, (_, at) => at + 1));
        const run = async (input, output) => {
            assert.deepEqual([input.byteOffset, output.byteOffset], [0, 0]);
            assert.equal(input.buffer.byteLength, input.length);
            assert.ok(output.every((byte) => byte === 7 + lengths.indexOf(output.length)));
            await null;
            output.set(input);
            input.fill(0);
        };
        const [[{ outcome }, sent]] = await answers(() => run, lengths, body);
        assert.deepEqual([outcome, sent], [lengths.map(() => "output"), body]);
    });

    it("an operator that was not declared", async () => {
        const backend = Object.assign(new dmlcts.Backend(), { operators: ["SLICE1"] });
        const none = columns([null], [null]);
        const run = {
            operator: ["SLICE"], runs: [0], output_fill: [], InputTensor: none, OutputTensor: none, members: { SLICE: {} },
        };
        await dmlcts.answer(backend, run, Buffer.alloc(0), ({ outcome, reason }) => {
            assert.deepEqual([outcome, reason], [["unsupported"], ["there is no SLICE"]]);
        });
    });
});

describe("array backends", () => {
    const desc = (fields) => ({
        operator: "SLICE", DimensionCount: 2, Offsets: [0, 0], Sizes: [2, 2], Strides: [1, 1],
        InputTensor: tensor([2, 3], { Strides: [0, 1], ...fields }),
        OutputTensor: tensor([2, 2], { Strides: [1, 2], ...fields }),
    });
    const run = async (slice, fields = {}, input = new Uint32Array([1, 2, 3])) => {
        class Cutter extends dmlcts.ArrayBackend {}
        Cutter.prototype.slice = slice;
        const output = new Uint8Array(4 * input.BYTES_PER_ELEMENT).fill(7);
        await new Cutter().create(desc(fields))(new Uint8Array(input.buffer), output);
        return new input.constructor(output.buffer);
    };
    const cut = (array) => ({ sizes: [2, 2], data: array.data.filter((_, at) => at % 3 < 2) });

    it("elements are packed and laid out, bit by bit", async () => {
        const signalling = new Uint32Array([0x7f800001, 0xffa00000, 3]);
        const moved = await run(
            async (array, starts, stops, steps) => {
                assert.deepEqual([array.dataType, array.sizes, starts, stops, steps], ["FLOAT32", [2, 3], [0, 0], [2, 2], [1, 1]]);
                const made = new dmlcts.PackedArray("FLOAT32", [2, 2]);
                assert.ok(made.data instanceof Float32Array);
                const [from, to] = [dmlcts.words(array.data), dmlcts.words(made.data)];
                [0, 1, 3, 4].forEach((place, at) => (to[at] = from[place]));
                return made;
            },
            {},
            signalling,
        );
        assert.deepEqual([...moved], [0x7f800001, 0x7f800001, 0xffa00000, 0xffa00000]);
        const large = await run(cut, { DataType: 11, TotalTensorSizeInBytes: 32n }, new BigInt64Array([-1n, 2n ** 62n, 0n]));
        assert.deepEqual([...large], [-1n, -1n, 2n ** 62n, 2n ** 62n]);
        assert.deepEqual([...await run(cut, { DataType: 2 }, new Uint16Array([1, 2, 3]))], [1, 1, 2, 2]);
    });

    it("a stop before the first element is the one that the library takes", async () => {
        for (const beforeFirst of [null, -1]) {
            class Cutter extends dmlcts.ArrayBackend {
                beforeFirst = beforeFirst;

                slice(array, starts, stops, steps) {
                    assert.deepEqual([starts, stops, steps], [[1], [beforeFirst], [-1]]);
                    return { sizes: [2], data: array.data.toReversed() };
                }
            }
            const reversed = {
                operator: "SLICE1", DimensionCount: 1, InputWindowOffsets: [0], InputWindowSizes: [2], InputWindowStrides: [-1],
                InputTensor: tensor([2]), OutputTensor: tensor([2]),
            };
            const output = new Float32Array(2);
            await new Cutter().create(reversed)(new Uint8Array(Float32Array.of(1, 2).buffer), new Uint8Array(output.buffer));
            assert.deepEqual([...output], [2, 1]);
        }
    });

    it("results of other sizes, types and kinds are named", async () => {
        await assert.rejects(run((array) => array), (error) =>
            error instanceof dmlcts.WrongShape && error.message === "[2, 3], expected [2, 2]");
        await assert.rejects(run(() => ({ sizes: [2, 2], data: new Float32Array(3) })), dmlcts.WrongShape);
        await assert.rejects(run(() => ({ sizes: [2, 2], data: new Float64Array(4) })), dmlcts.WrongType);
        const words = () => ({ dataType: "UINT16", sizes: [2, 2], data: new Uint16Array(4) });
        await assert.rejects(run(words, { DataType: 2 }, new Uint16Array([1, 2, 3])), dmlcts.WrongType);
        await assert.rejects(run(() => [[1, 2], [3, 4]]), /no object with sizes and data/);
    });

    it("a value of the padding has the type of the array", async () => {
        const padding = {
            operator: "PADDING1", DimensionCount: 1, PaddingMode: 0, PaddingValueDataType: 9, StartPadding: [1], EndPadding: [0],
            PaddingValue: new Uint8Array(new Float64Array([0.1]).buffer),
            InputTensor: tensor([1], { DataType: 9, TotalTensorSizeInBytes: 8n }),
            OutputTensor: tensor([2], { DataType: 9, TotalTensorSizeInBytes: 16n }),
        };
        class Padder extends dmlcts.ArrayBackend {
            pad(array, widths, mode, value) {
                assert.deepEqual([widths, mode], [[[1, 0]], "CONSTANT"]);
                return { sizes: [2], data: Float64Array.of(value[0], array.data[0]) };
            }
        }
        const [backend, output] = [new Padder(), new Float64Array(2)];
        assert.deepEqual(backend.operators, ["PADDING1"]);
        await backend.create(padding)(new Uint8Array(new Float64Array([3]).buffer), new Uint8Array(output.buffer));
        assert.deepEqual([...output], [0.1, 3]);
    });
});

const rejects = (call) => assert.throws(call, dmlcts.Invalid);

describe("rules", () => {
    const slice1 = (offsets, sizes, strides) => ({
        operator: "SLICE1", DimensionCount: offsets.length,
        InputWindowOffsets: offsets, InputWindowSizes: sizes, InputWindowStrides: strides,
    });

    it("a negative stride walks its window from the far end", () => {
        const walks = dmlcts.checkSlice(slice1([1, 0], [4, 3], [-2, 1]), tensor([6, 3]), tensor([2, 3]));
        assert.deepEqual(walks, [{ first: 4, length: 2, step: -2, stop: 0 }, { first: 0, length: 3, step: 1, stop: 3 }]);
        rejects(() => dmlcts.checkSlice(slice1([1, 0], [4, 3], [-2, 1]), tensor([6, 3]), tensor([3, 3])));
        rejects(() => dmlcts.checkSlice(slice1([1, 0], [4, 3], [0, 1]), tensor([6, 3]), tensor([2, 3])));
    });

    it("a walk stops at the end of a window that is read as a whole", () => {
        for (const [offset, size, stride, m, stop] of [
            [1, 6, 2, 3, 7], [2, 7, -2, 4, 1], [0, 5, -1, 5, null], [0, 5, -2, 3, null], [6, 3, 2, 2, 9],
            [0, 1, -7, 1, null], [0, 6, 2, 2, 4], [1, 8, -3, 2, 2], [0, 4, -2, 2, null],
        ]) {
            const [walk] = dmlcts.checkSlice(slice1([offset], [size], [stride]), tensor([9]), tensor([m]));
            assert.equal(walk.stop, stop);
        }
    });

    it("a slice may read the last element and none behind it", () => {
        const desc = { operator: "SLICE", DimensionCount: 1, Offsets: [1], Sizes: [3], Strides: [2] };
        const walk = { first: 1, length: 3, step: 2, stop: 7 };
        assert.deepEqual(dmlcts.checkSlice(desc, tensor([6]), tensor([3])), [walk]);
        rejects(() => dmlcts.checkSlice(desc, tensor([5]), tensor([3])));
        rejects(() => dmlcts.checkSlice({ ...desc, Strides: [0] }, tensor([6]), tensor([3])));
    });

    it("paddings and sizes agree", () => {
        const desc = { DimensionCount: 1, PaddingMode: 4, PaddingValueDataType: 1, StartPadding: [1], EndPadding: [2] };
        assert.deepEqual(dmlcts.checkPadding(desc, tensor([3]), tensor([6])), [[1, 2]]);
        for (const spoilt of [
            { PaddingMode: 5 }, { PaddingValueDataType: 2 }, { EndPadding: [1] }, { StartPadding: null },
            { EndPadding: [2, 0] }, { DimensionCount: 2 },
        ]) {
            rejects(() => dmlcts.checkPadding({ ...desc, ...spoilt }, tensor([3]), tensor([6])));
        }
    });
});

describe("tensors", () => {
    it("what every tensor keeps", () => {
        dmlcts.checkTensors({ InputTensor: tensor([2, 2], { Strides: [0, 1] }), OutputTensor: tensor([2, 2]) });
        for (const output of [
            tensor([2, 2], { Strides: [0, 1] }), tensor([2, 2], { Strides: [1, 1] }),
            tensor([2, 2], { TotalTensorSizeInBytes: 12n }), tensor([2, 0]), tensor([2, 2], { Flags: 1 }),
            tensor([2, 2], { GuaranteedBaseOffsetAlignment: 3 }), tensor([2, 2], { Sizes: null }), null,
        ]) {
            rejects(() => dmlcts.checkTensors({ InputTensor: tensor([2, 2]), OutputTensor: output }));
        }
        // Products that no number of 53 bits holds.
        const most = 2 ** 32 - 1;
        const vast = tensor(Array(8).fill(most), { TotalTensorSizeInBytes: 2n ** 64n - 1n });
        rejects(() => dmlcts.checkTensors({ InputTensor: vast, OutputTensor: vast }));
    });

    it("outputs that overlap", () => {
        const triples = (values) => values.flatMap((a) => values.flatMap((b) => values.map((c) => [a, b, c])));
        for (const shape of triples([1, 2, 3])) {
            for (const strides of triples([0, 1, 2, 3, 5, 9])) {
                const places = dmlcts.offsets(shape, strides);
                assert.equal(dmlcts.overlaps(shape, strides), new Set(places).size < places.length, `${shape} ${strides}`);
            }
        }
        // Of any size, and without a list of all places.
        assert.ok(dmlcts.overlaps([2, 2, 803976000, 1], [3, 4, 4, 4]));
        assert.ok(!dmlcts.overlaps([2, 59393, 9], [3, 18, 2]));
    });

    it("strides in bytes", () => {
        assert.deepEqual(dmlcts.byteStrides(tensor([2, 3], { DataType: 9 })), [24, 8]);
        assert.deepEqual(dmlcts.byteStrides(tensor([2, 3], { DataType: 2, Strides: [0, 5] })), [0, 10]);
        // UNKNOWN, UINT4, and what is no type.
        for (const code of [0, 12, 99]) rejects(() => dmlcts.byteStrides(tensor([2, 3], { DataType: code })));
    });
});
