/**
 * A backend for dmlcts in JavaScript, on Node 20 or newer, without any dependency.
 *
 * Extend `Backend`, implement `create`, and call `serve`:
 *
 *     import * as dmlcts from "dmlcts-backend";
 *
 *     class Mine extends dmlcts.Backend {
 *         name = "mine";
 *         version = "1.0";
 *         operators = ["SLICE"];
 *
 *         create(desc) {
 *             dmlcts.checkTensors(desc);       // throws Invalid
 *             if (desc.Strides[0] > 1) throw new dmlcts.Unsupported("strides above 1");
 *             return (input, output) => {      // memory: a Uint8Array each, TotalTensorSizeInBytes long
 *                 output.set(...);
 *             };
 *         }
 *     }
 *
 *     dmlcts.serve(new Mine());
 *
 * `create` and the function that it returns may be async. `dmlcts run --backend 'exec:node mine.js'` then
 * puts cases to it. What it prints goes to standard error: standard output belongs to the protocol, which
 * `crates/backend/PROTOCOL.md` of dmlcts specifies. Import this module before a library that prints when it
 * is imported.
 *
 * For a library that works on packed arrays, extend `ArrayBackend` and implement `slice`, `pad`, or both.
 *
 * The end of this file is a part of its own, the pages' rules: `checkTensors`, `checkSlice` and
 * `checkPadding` throw `Invalid` for a desc that DirectML refuses, and return what is left to do. Use them
 * where your library asks for less than DirectML. Do not use them where your own validation is what you want
 * tested: they would answer in its place.
 */

import fs from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { inspect, promisify } from "node:util";
import { Worker } from "node:worker_threads";

/** The codes of DML_TENSOR_DATA_TYPE, with the bytes of an element (null: less than one). */
export const DATA_TYPES = {
    FLOAT32: [1, 4], FLOAT16: [2, 2], UINT32: [3, 4], UINT16: [4, 2], UINT8: [5, 1], INT32: [6, 4], INT16: [7, 2],
    INT8: [8, 1], FLOAT64: [9, 8], UINT64: [10, 8], INT64: [11, 8], UINT4: [12, null], INT4: [13, null],
};
/** DML_PADDING_MODE: a mode's code is its place. */
export const PADDING_MODES = ["CONSTANT", "EDGE", "REFLECTION", "SYMMETRIC", "WRAP"];
/**
 * The typed array that holds elements of a data type. Node 20 has none for FLOAT16: its elements are their
 * bits.
 */
export const TYPED_ARRAYS = {
    FLOAT32: Float32Array, FLOAT16: Uint16Array, UINT32: Uint32Array, UINT16: Uint16Array, UINT8: Uint8Array,
    INT32: Int32Array, INT16: Int16Array, INT8: Int8Array, FLOAT64: Float64Array, UINT64: BigUint64Array,
    INT64: BigInt64Array,
};

const WHOLE_TYPES = Object.keys(TYPED_ARRAYS);
const WORDS = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: BigUint64Array };
const MAGIC = Buffer.from("\xf7dmlcts1", "latin1");
const PREFIX_BYTES = 32;
const TENSOR_FIELDS = [
    "DataType", "Flags", "DimensionCount", "Sizes", "Strides", "TotalTensorSizeInBytes", "GuaranteedBaseOffsetAlignment",
];
/** The phase that an outcome has unless `phase` names another one. */
const USUAL_PHASES = { rejected: "create", failed: "execute" };
/** Results are sent after this many bytes or milliseconds: a crash is found soon, and tiny cases are fast. */
const SEND_BYTES = 1 << 20;
const SEND_MILLISECONDS = 100;

/** The desc is invalid. The words are for people. */
export class Invalid extends Error {}

/** The desc may be valid, but this backend cannot do it. */
export class Unsupported extends Error {}

/** Refused for another reason, such as memory; `code` is the HRESULT. */
export class Refused extends Error {
    constructor(reason, code) {
        super(reason);
        this.code = code;
    }
}

/** The result has other sizes than the output: both, such as `[2, 3], expected [2, 4]`. Throw it in a run. */
export class WrongShape extends Error {}

/** The result has another data type than the output: both. Throw it in a run. */
export class WrongType extends Error {}

/**
 * DML_BUFFER_TENSOR_DESC, with its fields as properties. `Sizes` and `Strides` are arrays or null, and
 * `TotalTensorSizeInBytes` is a BigInt, since a number holds 53 bits only. The other fields are numbers.
 */
export class Tensor {
    constructor(fields) {
        Object.assign(this, fields);
    }
}

/**
 * An operator desc, valid or not. `operator` is its name; `InputTensor`, `OutputTensor` and every other
 * member of its struct are properties: numbers, arrays, null for a null pointer, a Uint8Array of eight bytes
 * for a scalar union.
 */
export class Desc {
    constructor(operator, members) {
        this.operator = operator;
        Object.assign(this, members);
    }
}

/** What to extend: what it is, as fields, and `create`. */
export class Backend {
    name = "javascript";
    version = "0";
    /** The device and the driver, in their makers' words. */
    device = "";
    driver = "";
    /** The DML_FEATURE_LEVEL that it behaves as. */
    featureLevel = "6.4";
    /** Whether `setFeatureLevel` works. */
    canSetFeatureLevel = false;
    /** The names of the operators that it has, and is asked for; null stands for whatever comes. */
    operators = null;
    /** The data types and dimension counts that it supports. It is not asked for valid descs of others. */
    dataTypes = WHOLE_TYPES;
    ranks = [1, 8];
    /**
     * The other valid descs that it does not support, and is not asked for: for an operator, conditions in
     * the language of `--where`, and the reasons, such as {PADDING1: {"PaddingMode != CONSTANT": "constant
     * only"}}. An array of the declarations that a report prints works, too: [{operator, where, reason}].
     */
    lacks = {};
    /** The largest tensor in bytes and in elements, and the most cases in a batch; null for no limit. */
    tensorBytes = null;
    elements = null;
    batchCases = null;
    /** The number of cases in a batch if enough are left; null for a few hundred. */
    busyCases = null;
    /** The milliseconds that creating an operator may take beyond `--case-timeout`, if each desc is compiled. */
    createTimeout = null;

    /**
     * Creates an operator, or throws `Invalid`, `Unsupported` or `Refused`. Returns a function that runs it.
     */
    create(desc) {
        throw new Error(`${this.constructor.name} has no method create`);
    }

    /** Behaves as a device of this level, such as "4.1", from now on. */
    setFeatureLevel(level) {
        throw new Error(`${this.constructor.name} has no method setFeatureLevel`);
    }
}

/**
 * An array without gaps: the name of its data type, its sizes, and its elements as a typed array
 * (`TYPED_ARRAYS`).
 */
export class PackedArray {
    constructor(dataType, sizes, data = new TYPED_ARRAYS[dataType](count(sizes))) {
        this.dataType = dataType;
        this.sizes = sizes;
        this.data = data;
    }
}

/**
 * A backend whose library works on packed arrays. Implement `slice`, `pad`, or both, as methods; both may be
 * async. Unless the class says otherwise, `operators` are those whose method it implements. Checks, types and
 * views of memory are done here.
 */
export class ArrayBackend extends Backend {
    operators = Object.entries({ SLICE: "slice", SLICE1: "slice", PADDING1: "pad" })
        .filter(([, method]) => this[method] !== ArrayBackend.prototype[method])
        .map(([operator]) => operator);
    /** Each element is copied, so a tensor that repeats its elements by a stride of 0 may be too large. */
    elements = 1 << 24;
    /** The library's own word for each of `PADDING_MODES` that it has: `pad` gets it. The others are lacks. */
    modes = Object.fromEntries(PADDING_MODES.map((mode) => [mode, mode]));
    /** The modes that reach across one axis at most, such as ["REFLECTION"]. Wider paddings are lacks. */
    narrowModes = [];
    /**
     * The stop that takes the first element of an axis, too, if a step is negative: -1 for a library that
     * counts no stop from the end, and -(2 ** 31) for many that do.
     */
    beforeFirst = null;

    /**
     * The elements of each axis from a start, `step` apart, up to a stop, which is left out. A step is not 0
     * and may be negative; then a stop of `beforeFirst` means that the first element is taken as well.
     * Returns a `PackedArray`, or any object with `sizes` and `data`.
     */
    slice(array, starts, stops, steps) {
        throw new Unsupported("there is no slice");
    }

    /**
     * The array with this many elements before and behind it on each axis: `widths` has a pair for each axis.
     * `mode` is a value of `modes`. `value`, for CONSTANT, is a typed array of one element, of the kind
     * of `array.data`. Returns a `PackedArray`, or any object with `sizes` and `data`.
     */
    pad(array, widths, mode, value) {
        throw new Unsupported("there is no pad");
    }

    create(desc) {
        const [source, target] = checkTensors(desc);
        const dataType = WHOLE_TYPES.find((name) => DATA_TYPES[name][0] === source.DataType);
        const move = this.#move(desc, source, target, TYPED_ARRAYS[dataType]);
        return async (input, output) => {
            const array = new PackedArray(dataType, source.Sizes);
            const elements = words(array.data);
            const memory = memoryWords(input, elements);
            offsets(source.Sizes, stridesOf(source)).forEach((offset, place) => (elements[place] = memory[offset]));
            const made = await move(array);
            checkResult(made, array, target.Sizes);
            const results = words(made.data);
            const written = memoryWords(output, results);
            offsets(target.Sizes, stridesOf(target)).forEach((offset, place) => (written[offset] = results[place]));
        };
    }

    #move(desc, source, target, TypedArray) {
        if (desc.operator === "PADDING1") {
            const widths = checkPadding(desc, source, target);
            const value = new TypedArray(Uint8Array.from(desc.PaddingValue).buffer, 0, 1);
            const mode = PADDING_MODES[desc.PaddingMode];
            if (!(mode in this.modes)) throw new Unsupported(`there is no mode ${mode}`);
            return (array) => this.pad(array, widths, this.modes[mode], value);
        }
        const walks = checkSlice(desc, source, target);
        const [starts, steps] = ["first", "step"].map((field) => walks.map((walk) => walk[field]));
        const stops = walks.map(({ stop }) => stop ?? this.beforeFirst);
        return (array) => this.slice(array, starts, stops, steps);
    }
}

/** The lacks that follow from `modes` and `narrowModes`. */
function lacksOfModes({ operators, modes, narrowModes }) {
    if (!operators.includes("PADDING1")) return {};
    const missing = PADDING_MODES.filter((mode) => !(mode in modes)).map((mode) => `PaddingMode == ${mode}`);
    const wide = narrowModes.map((mode) => {
        const above = mode === "REFLECTION" ? ">=" : ">";
        return `PaddingMode == ${mode} and any axis max(StartPadding, EndPadding) ${above} InputTensor.Sizes`;
    });
    const reasons = [
        ...missing.map((condition) => [condition, "there is no such mode"]),
        ...wide.map((condition) => [condition, "paddings reach across one axis at most"]),
    ];
    return { PADDING1: Object.fromEntries(reasons) };
}

/** Throws unless a library made an array of these sizes and of the input's data type. */
function checkResult(made, input, sizes) {
    if (!ArrayBuffer.isView(made?.data) || made.sizes?.length === undefined) {
        throw new TypeError(`the result is ${inspect(made)}, no object with sizes and data`);
    }
    const shape = Array.from(made.sizes);
    if (!same(shape, sizes)) throw new WrongShape(`[${shape.join(", ")}], expected [${sizes.join(", ")}]`);
    const types = [made.dataType ?? input.dataType, made.data.constructor.name];
    const expected = [input.dataType, input.data.constructor.name];
    if (!same(types, expected)) throw new WrongType(`${types.join(" in ")}, expected ${expected.join(" in ")}`);
    if (made.data.length !== count(sizes)) {
        throw new WrongShape(`${made.data.length} elements of sizes [${shape.join(", ")}], expected ${count(sizes)}`);
    }
}

/** The memory of a tensor as words of the same kind. */
function memoryWords(memory, { constructor: Words, BYTES_PER_ELEMENT: width }) {
    return new Words(memory.buffer, memory.byteOffset, Math.floor(memory.byteLength / width));
}

// ---- The protocol ----

/** The descriptor to which results are written: 1, unless standard output could be moved away from there. */
let sink = null;

/** Keeps standard output for the protocol: what prints, prints to standard error from now on. */
function redirect() {
    if (sink !== null) return;
    sink = 1;
    Object.defineProperty(process, "stdout", { configurable: true, get: () => process.stderr });
    try {
        // Code below JavaScript writes to descriptor 1, which becomes the standard error: the lowest free
        // number is taken.
        const kept = fs.openSync("/dev/stdout", "a");
        const spare = fs.openSync("/dev/stderr", "a");
        fs.closeSync(1);
        fs.openSync("/dev/stderr", "a");
        fs.closeSync(spare);
        sink = kept;
    } catch {
        // Windows has no such files, and a socket cannot be opened again: then JavaScript alone is
        // redirected.
    }
}

/** Whether standard input and output are pipes, as they are in a process that dmlcts starts. */
function isPiped() {
    try {
        return [0, 1].every((stream) => fs.fstatSync(stream).isFIFO());
    } catch {
        return false;
    }
}

// Libraries may print as soon as they are imported.
if (isPiped()) redirect();

/** Answers dmlcts on standard input and output until it says bye. */
export async function serve(backend) {
    endWithParent();
    redirect();
    for (;;) {
        const prefix = await read(PREFIX_BYTES);
        if (prefix === null) break;
        if (!prefix.subarray(0, 8).equals(MAGIC)) {
            fail("what came on standard input is not a frame of dmlcts's protocol, version 1");
        }
        const kind = prefix.toString("latin1", 8, 16).trimEnd();
        const text = await read(Number(prefix.readBigUInt64LE(16)));
        const body = await read(Number(prefix.readBigUInt64LE(24)));
        if (text === null || body === null) break;
        const header = parse(text.toString());
        if (kind === "hello") {
            if (header.protocol !== 1) fail(`dmlcts speaks protocol version ${header.protocol}; this module speaks 1`);
            send("hello", hello(backend), []);
        } else if (kind === "level") {
            await backend.setFeatureLevel(header.feature_level);
        } else if (kind === "run") {
            const enter = (phase) => backend.createTimeout === null || send("phase", { phase }, []);
            await answer(backend, header, body, (results, outputs) => send("results", results, outputs), enter);
        } else if (kind === "bye") {
            break;
        } else {
            fail(`dmlcts sent the unknown message ${inspect(kind)}`);
        }
    }
    // A library may leave threads or timers behind, which would keep the process alive.
    setTimeout(() => process.exit(), 1000).unref();
}

function fail(message) {
    console.error(message);
    process.exit(1);
}

/** The next bytes of standard input; null at its end. */
async function read(length) {
    const buffer = Buffer.alloc(length);
    for (let at = 0; at < length; ) {
        let bytesRead = 0;
        try {
            ({ bytesRead } = await promisify(fs.read)(0, buffer, at, length - at, null));
        } catch (error) {
            if (error.code !== "EOF") throw error; // so Windows reports the end of a pipe
        }
        if (bytesRead === 0) return null;
        at += bytesRead;
    }
    return buffer;
}

/**
 * A header. A number holds 53 bits, so integers of 16 digits or more become text, and `tensorAt` reads them.
 */
function parse(text) {
    return JSON.parse(text.replace(/(?<=[[,])\d{16,}(?=[,\]])/g, '"$&"'));
}

/**
 * Ends this process soon after dmlcts. A backend that hangs does not see the end of its input, so a thread
 * watches.
 */
function endWithParent() {
    if (process.platform === "win32") return;
    const watch = `setInterval(() => process.ppid === ${process.ppid} || process.kill(process.pid, "SIGKILL"), 1000)`;
    new Worker(watch, { eval: true }).unref();
}

function milliseconds(name, value) {
    if (value === null) return null;
    if (Number.isFinite(value) && value >= 0) return Math.round(value);
    return fail(`${name} is ${inspect(value)}: write a number of milliseconds, such as 1500, or null`);
}

/** The list of the protocol, from either form of `lacks`. */
function lacksOf(lacks) {
    const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
    if (!isObject(lacks) && !Array.isArray(lacks)) {
        return fail(`lacks is ${inspect(lacks)}: write an object or an array`);
    }
    const listed = Array.isArray(lacks) ? lacks : Object.entries(lacks).flatMap(([operator, conditions]) => {
        if (isObject(conditions)) {
            return Object.entries(conditions).map(([where, reason]) => ({ operator, where, reason }));
        }
        const example = inspect({ "rank > 4": "up to four axes" });
        return fail(`lacks.${operator} is ${inspect(conditions)}: write conditions with reasons, such as ${example}`);
    });
    const keys = ["operator", "where", "reason"];
    for (const [place, lack] of listed.entries()) {
        const isRight = isObject(lack) && Object.keys(lack).length === keys.length
            && keys.every((key) => typeof lack[key] === "string");
        if (!isRight) {
            return fail(`lacks[${place}] is ${inspect(lack)}: write an object of the texts ${keys.join(", ")}`);
        }
    }
    return listed;
}

function hello(backend) {
    return {
        protocol: 1, name: backend.name, version: backend.version, device: backend.device, driver: backend.driver,
        feature_level: backend.featureLevel, can_set_feature_level: backend.canSetFeatureLevel,
        operators: backend.operators, data_types: backend.dataTypes,
        ranks: { min: backend.ranks[0], max: backend.ranks[1] },
        lacks: [...lacksOf(backend.lacks), ...(backend instanceof ArrayBackend ? lacksOf(lacksOfModes(backend)) : [])],
        limits: {
            tensor_bytes: backend.tensorBytes, elements: backend.elements,
            batch_cases: backend.batchCases, busy_cases: backend.busyCases,
            create_timeout: milliseconds("createTimeout", backend.createTimeout),
        },
        ahead: true,
    };
}

function send(kind, header, outputs) {
    const text = Buffer.from(JSON.stringify(header));
    const prefix = Buffer.alloc(PREFIX_BYTES);
    MAGIC.copy(prefix);
    prefix.write(kind.padEnd(8), 8, "latin1");
    prefix.writeBigUInt64LE(BigInt(text.length), 16);
    prefix.writeBigUInt64LE(BigInt(outputs.reduce((sum, output) => sum + output.length, 0)), 24);
    const frame = Buffer.concat([prefix, text, ...outputs]);
    for (let at = 0; at < frame.length; ) at += fs.writeSync(sink, frame, at);
}

/**
 * Runs the cases of a batch, and sends what became of them as it goes. Tests call it; backends have no use
 * for it.
 */
export async function answer(backend, run, body, sendResults, enter = () => {}) {
    const number = "number" in run ? { number: run.number } : {};
    const places = {};
    let results, outputs, size, times, started;
    const begin = () => {
        [results, outputs, size] = [{ outcome: [], phase: [], code: [], reason: [] }, [], 0];
        [times, started] = [{ create: 0, execute: 0 }, performance.now()];
    };
    const finish = () => {
        const [create, run] = [times.create, times.execute].map((milliseconds) => Math.round(1000 * milliseconds));
        if (results.outcome.length > 0) sendResults({ ...results, times: { create, run }, ...number }, outputs);
        begin();
    };
    begin();
    let at = 0;
    let fill = 0;
    for (const [index, operator] of run.operator.entries()) {
        const place = places[operator] ?? 0;
        places[operator] = place + 1;
        const runs = run.runs[index];
        const inputSize = Number(run.InputTensor.TotalTensorSizeInBytes[index] ?? 0);
        const outputSize = Number(run.OutputTensor.TotalTensorSizeInBytes[index] ?? 0);
        const made = [];
        let step = "create";
        let told;
        let since = performance.now();
        try {
            if (backend.operators !== null && !backend.operators.includes(operator)) {
                throw new Unsupported(`there is no ${operator}`);
            }
            enter(step);
            const execute = await backend.create(descAt(run, index, place));
            const created = performance.now();
            times.create += created - since;
            [since, step] = [created, "execute"];
            for (let turn = 0; turn < runs; turn++) {
                enter(step);
                // Memory of its own, so that every typed array can view it.
                const start = at + turn * inputSize;
                const input = new Uint8Array(inputSize);
                input.set(body.subarray(start, start + inputSize));
                const output = new Uint8Array(outputSize).fill(run.output_fill[fill + turn]);
                await execute(input, output);
                if (output.length !== outputSize) throw new Error("the memory of the output was transferred away");
                made.push(output);
            }
            told = { outcome: runs > 0 ? "output" : "accepted" };
        } catch (error) {
            told = outcomeOf(error);
        }
        times[step] += performance.now() - since;
        at += runs * inputSize;
        fill += runs;
        results.outcome.push(told.outcome);
        results.phase.push((USUAL_PHASES[told.outcome] ?? step) === step ? null : step);
        results.code.push(told.code ?? null);
        // Half of a surrogate pair is no text that JSON can carry in UTF-8.
        results.reason.push(told.reason?.toWellFormed() ?? null);
        if (told.outcome === "output") {
            outputs.push(...made);
            size += outputSize * runs;
        }
        if (size > SEND_BYTES || performance.now() - started > SEND_MILLISECONDS) finish();
    }
    finish();
}

function descAt(run, index, place) {
    const operator = run.operator[index];
    const members = { InputTensor: tensorAt(run.InputTensor, index), OutputTensor: tensorAt(run.OutputTensor, index) };
    for (const [name, column] of Object.entries(run.members[operator])) {
        const value = column[place];
        members[name] = typeof value === "string" ? Uint8Array.from(Buffer.from(value, "hex")) : value;
    }
    return new Desc(operator, members);
}

function tensorAt(columns, index) {
    if (columns.DataType[index] === null) return null;
    const tensor = new Tensor(Object.fromEntries(TENSOR_FIELDS.map((name) => [name, columns[name][index]])));
    tensor.TotalTensorSizeInBytes = BigInt(tensor.TotalTensorSizeInBytes);
    return tensor;
}

/** What an exception comes to. */
function outcomeOf(error) {
    const reason = error instanceof Error ? String(error.message) : inspect(error);
    if (error instanceof Invalid) return { outcome: "rejected", reason };
    if (error instanceof Unsupported) return { outcome: "unsupported", reason };
    if (error instanceof WrongShape) return { outcome: "wrong_shape", reason };
    if (error instanceof WrongType) return { outcome: "wrong_type", reason };
    if (error instanceof Refused) return refused(error.code, reason);
    console.error(error);
    // WebAssembly throws numbers, too.
    const name = error instanceof Error ? String(error.name) : "thrown";
    return { outcome: "failed", reason: `${name}: ${reason}${placeOf(error)}` };
}

/** What a `Refused` comes to: a refusal, or a failure if its code is no HRESULT. */
function refused(code, reason) {
    if (Number.isInteger(code) && code >= 0 && code < 2 ** 32) return { outcome: "rejected", code, reason };
    const isSigned = Number.isInteger(code) && code >= -(2 ** 31) && code < 0;
    const hint = isSigned ? `; for a signed one, write ${code} >>> 0` : "";
    const told = `the code of Refused(${inspect(reason)}, ${inspect(code)}) is no HRESULT, a number from 0 to 2^32 - 1`;
    return { outcome: "failed", reason: `RangeError: ${told}${hint}` };
}

/** The innermost place outside this module from which an exception came: ` (mine.js:35)`. */
function placeOf(error) {
    const own = basename(fileURLToPath(import.meta.url));
    for (const line of String(error?.stack).split("\n")) {
        const [, file, row] = line.match(/^ +at .*?([^/\\( ]+):(\d+):\d+\)?$/) ?? [];
        if (file !== undefined && file !== own && !line.includes("node:")) return ` (${file}:${row})`;
    }
    return "";
}

// ---- How a tensor lies in memory ----

/**
 * The bytes of an element. Throws `Invalid` for what is no data type, or one whose elements are not whole
 * bytes.
 */
export function elementSize(tensor) {
    const [, size] = Object.values(DATA_TYPES).find(([code]) => code === tensor.DataType) ?? [];
    if (!size) throw new Invalid("DataType is none whose elements are whole bytes");
    return size;
}

/** The strides, in elements, of a tensor without gaps. */
export function packedStrides(sizes) {
    return sizes.map((_, axis) => count(sizes.slice(axis + 1)));
}

/**
 * Returns the strides of a tensor in bytes: an array with a number for each axis, packed ones if it has none.
 */
export function byteStrides(tensor) {
    const width = elementSize(tensor);
    return stridesOf(tensor).map((stride) => stride * width);
}

/** The offset, in elements, of each element of a tensor with these strides, in the order of coordinates. */
export function offsets(sizes, strides) {
    return sizes.reduce((outer, size, axis) => {
        const made = new Uint32Array(outer.length * size);
        outer.forEach((offset, row) => {
            for (let at = 0; at < size; at++) made[row * size + at] = offset + at * strides[axis];
        });
        return made;
    }, new Uint32Array(1));
}

/**
 * The same memory as a typed array of unsigned integers. Copy elements with it: JavaScript may change the
 * bits of a NaN when it reads a float.
 */
export function words(data) {
    return new WORDS[data.BYTES_PER_ELEMENT](data.buffer, data.byteOffset, data.length);
}

/** The number of elements. */
function count(sizes) {
    return sizes.reduce((product, size) => product * size, 1);
}

function stridesOf(tensor) {
    return tensor.Strides ?? packedStrides(tensor.Sizes ?? []);
}

function same(left, right) {
    return left.length === right.length && left.every((value, place) => value === right[place]);
}

// ---- The pages' rules ----
//
// What the pages ask of a desc, written from them by hand; data types and dimension counts are those of
// feature level 6.4 unless you say otherwise. When to use these, and when not, stands at the top of this
// file.

/**
 * Throws `Invalid` unless both tensors are there, agree in type and dimension count, and keep what every
 * operator asks of its tensors. Returns an array of both, the input first. Pages: DML_BUFFER_TENSOR_DESC,
 * DML_TENSOR_FLAGS.
 */
export function checkTensors(desc, dataTypes = WHOLE_TYPES, ranks = [1, 8]) {
    const { InputTensor: source, OutputTensor: target } = desc;
    check(source !== null, "InputTensor is null");
    check(target !== null, "OutputTensor is null");
    check(
        source.DataType === target.DataType && source.DimensionCount === target.DimensionCount,
        "the tensors' types or dimension counts differ",
    );
    check(dataTypes.some((name) => DATA_TYPES[name][0] === source.DataType), "the data type is not supported");
    const rank = source.DimensionCount;
    check(ranks[0] <= rank && rank <= ranks[1], "the dimension count is not supported");
    checkTensor("InputTensor", source, [0, 1]);
    checkTensor("OutputTensor", target, [0]);
    check(target.Strides === null || !overlaps(target.Sizes, target.Strides), "OutputTensor overlaps itself");
    return [source, target];
}

/**
 * Throws `Invalid` unless SLICE or SLICE1 can be created of the desc, whose tensors `checkTensors` has
 * passed. Returns an array with `{first, length, step, stop}` for each axis: `length` elements are read from
 * `first` on, `step` apart.
 *
 * A step may be negative. `stop` is where the walk ends, as a slice of Python takes it; null stands for
 * before the first element of the axis. It is the end of the window of SLICE1 if everything that the window
 * reaches is read, and one step behind the last element otherwise.
 */
export function checkSlice(desc, source, target) {
    return { SLICE: sliceWalks, SLICE1: slice1Walks }[desc.operator](desc, source, target);
}

/** Page: ns-directml-dml_slice_operator_desc. */
function sliceWalks(desc, source, target) {
    const [starts, sizes, strides] = checkLists(desc, source, "Offsets", "Sizes", "Strides");
    check(same(target.Sizes, sizes), "OutputTensor.Sizes are not Sizes");
    return source.Sizes.map((n, axis) => {
        const [first, length, step] = [starts[axis], sizes[axis], strides[axis]];
        // The page is silent about a stride of 0, and about one that no INT holds: refusing both is allowed.
        check(step >= 1 && step < 2 ** 31, "a stride is 0, or above INT_MAX");
        check(first + (length - 1) * step < n, "the slice reads outside of the input");
        return { first, length, step, stop: first + length * step };
    });
}

/** Page: ns-directml-dml_slice1_operator_desc. */
function slice1Walks(desc, source, target) {
    const names = ["InputWindowOffsets", "InputWindowSizes", "InputWindowStrides"];
    const windows = checkLists(desc, source, ...names);
    return source.Sizes.map((n, axis) => {
        const [offset, size, step] = windows.map((values) => values[axis]);
        const length = target.Sizes[axis];
        check(
            size >= 1 && step !== 0 && offset + size <= n,
            "a window is empty, its stride is 0, or it reaches outside of the input",
        );
        const reached = 1 + Math.floor((size - 1) / Math.abs(step));
        check(length <= reached, "the output is larger than what the window holds");
        // A negative stride begins at the far end of the window.
        const [first, end] = step > 0 ? [offset, offset + size] : [offset + size - 1, offset - 1];
        const stop = length === reached ? end : first + length * step;
        return { first, length, step, stop: stop < 0 ? null : stop };
    });
}

/**
 * Throws `Invalid` unless PADDING1 can be created of the desc, whose tensors `checkTensors` has passed.
 * Returns an array with a pair for each axis: the elements added before and behind the input. Page:
 * ns-directml-dml_padding1_operator_desc.
 */
export function checkPadding(desc, source, target) {
    check(desc.PaddingMode in PADDING_MODES, "PaddingMode is no mode");
    check(desc.PaddingValueDataType === source.DataType, "PaddingValueDataType is not that of the tensors");
    const [start, end] = checkLists(desc, source, "StartPadding", "EndPadding");
    const sizes = checkList("InputTensor.Sizes", source.Sizes, source.DimensionCount);
    const padded = sizes.map((n, axis) => n + start[axis] + end[axis]);
    check(same(target.Sizes, padded), "OutputTensor.Sizes are not the input's with both paddings");
    return start.map((before, axis) => [before, end[axis]]);
}

/**
 * Throws `Invalid` unless DimensionCount is that of the tensors, and these members have one value an axis;
 * returns them.
 */
export function checkLists(desc, source, ...names) {
    const rank = source.DimensionCount;
    check(desc.DimensionCount === rank, "DimensionCount is not that of the tensors");
    return names.map((name) => checkList(name, desc[name], rank));
}

/** Throws `Invalid` unless the list has one value an axis; returns it. */
export function checkList(name, values, rank) {
    check(Array.isArray(values) && values.length === rank, `${name} has not one value an axis`);
    return values;
}

function check(holds, otherwise) {
    if (!holds) throw new Invalid(otherwise);
}

function checkTensor(name, tensor, flags) {
    const width = elementSize(tensor);
    const sizes = checkList(`${name}.Sizes`, tensor.Sizes, tensor.DimensionCount);
    let span = count(sizes);
    check(span > 0 && span < 2 ** 32, `${name} has no element, or more than 2^32 - 1`);
    if (tensor.Strides !== null) {
        const strides = checkList(`${name}.Strides`, tensor.Strides, tensor.DimensionCount);
        span = sizes.reduce((sum, size, axis) => sum + (size - 1) * strides[axis], 1);
        check(span < 2 ** 32, `${name} spans more than 2^32 - 1 elements`);
    }
    const least = Math.ceil((span * width) / 4) * 4;
    check(tensor.TotalTensorSizeInBytes >= least, `${name}.TotalTensorSizeInBytes is too small`);
    const alignment = tensor.GuaranteedBaseOffsetAlignment;
    check(
        alignment === 0 || ((alignment & (alignment - 1)) === 0 && alignment >= width),
        `${name}.GuaranteedBaseOffsetAlignment is no power of two of the element's size or more`,
    );
    check(flags.includes(tensor.Flags), `${name}.Flags are not for it`);
}

/** Whether two elements lie in the same place: whether steps along the axes, not all 0, come back to it. */
export function overlaps(sizes, strides) {
    const axes = sizes.map((size, axis) => ({ stride: strides[axis], most: size - 1 })).filter(({ most }) => most > 0);
    if (axes.some(({ stride }) => stride === 0)) return true;
    axes.sort((left, right) => right.stride - left.stride);
    // How far the axes from each one on reach.
    const reaches = [...axes, null].map((_, place) =>
        axes.slice(place).reduce((sum, { stride, most }) => sum + stride * most, 0));
    let tried = 0;
    const comesBack = (place, distance, moved) => {
        tried += 1;
        if (tried > 1 << 20) throw new Unsupported("an output whose axes interleave in more ways than are tried");
        if (place === axes.length) return moved && distance === 0;
        const { stride, most } = axes[place];
        const reach = reaches[place + 1];
        const last = Math.min(most, Math.floor((reach - distance) / stride));
        for (let steps = Math.max(-most, -Math.floor((distance + reach) / stride)); steps <= last; steps++) {
            if (comesBack(place + 1, distance + steps * stride, moved || steps !== 0)) return true;
        }
        return false;
    };
    return comesBack(0, 0, false);
}
