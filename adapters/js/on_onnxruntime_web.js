/** ONNX Runtime Web on WebAssembly, held to the pages of ONNX's operators Slice-13 and Pad-19. */

import * as dmlcts from "dmlcts-backend";
import proto from "onnx-proto";
import * as ort from "onnxruntime-web";

const { FLOAT, DOUBLE, INT64, ...OTHERS } = proto.onnx.TensorProto.DataType;
const TYPES = { FLOAT32: FLOAT, FLOAT64: DOUBLE, INT64, ...OTHERS };
const sessions = new Map();

class OnnxRuntimeWeb extends dmlcts.ArrayBackend {
    name = "onnxruntime-web";
    version = ort.env.versions.web;
    device = "wasm";
    modes = { CONSTANT: "constant", EDGE: "edge", REFLECTION: "reflect", WRAP: "wrap" };
    narrowModes = ["REFLECTION"];
    lacks = { PADDING1: { "InputTensor.DataType in [UINT16, INT16]": "there is no Pad of this type" } };

    slice(array, starts, stops, steps) {
        const axes = starts.map((_, axis) => axis);
        return run("Slice", array, [starts, stops.map((stop) => stop ?? -(2 ** 31)), axes, steps].map(list));
    }

    pad(array, widths, mode, value) {
        const pads = list([0, 1].flatMap((side) => widths.map((pair) => pair[side])));
        return run("Pad", array, [pads, tensor({ ...array, sizes: [], data: value })], mode);
    }
}

const list = (values) => new ort.Tensor("int64", BigInt64Array.from(values, BigInt), [values.length]);
const tensor = ({ dataType, sizes, data }) => new ort.Tensor(dataType.toLowerCase(), data, sizes);

/** Runs an operator of ONNX. A session is kept for each type and mode. */
async function run(opType, array, constants, mode) {
    const key = [opType, array.dataType, mode].join();
    if (!sessions.has(key)) {
        const made = model(opType, TYPES[array.dataType], constants, mode);
        sessions.set(key, await ort.InferenceSession.create(made));
    }
    const inputs = [tensor(array), ...constants].map((input, place) => [`input${place}`, input]);
    const { output } = await sessions.get(key).run(Object.fromEntries(inputs));
    return { sizes: output.dims, dataType: output.type.toUpperCase(), data: output.data };
}

function model(opType, elemType, constants, mode) {
    const value = (name, type) => ({ name, type: { tensorType: { elemType: type } } });
    const types = [elemType, ...constants.map(({ type, dims }) => (dims.length ? INT64 : elemType))];
    const input = types.map((type, place) => value(`input${place}`, type));
    const attribute = mode ? [{ name: "mode", type: 3, s: Buffer.from(mode) }] : [];
    const node = [{ opType, input: input.map(({ name }) => name), output: ["output"], attribute }];
    const graph = { name: "case", node, input, output: [value("output", elemType)] };
    return proto.onnx.ModelProto.encode({ irVersion: 9, opsetImport: [{ domain: "", version: 19 }], graph }).finish();
}

dmlcts.serve(new OnnxRuntimeWeb());
