/** ONNX Runtime Web on WebAssembly, held to the pages of ONNX's operators Slice-13 and Pad-19. */

import * as dmlcts from "dmlcts-backend";
import proto from "onnx-proto";
import * as ort from "onnxruntime-web";

class OnnxRuntimeWeb extends dmlcts.ArrayBackend {
    name = "onnxruntime-web";
    version = ort.env.versions.web;
    device = "wasm";
    modes = { CONSTANT: "constant", EDGE: "edge", REFLECTION: "reflect", WRAP: "wrap" };
    narrowModes = ["REFLECTION"];
    lacks = { PADDING1: { "InputTensor.DataType in [UINT16, INT16]": "there is no Pad of this type" } };
    beforeFirst = -(2 ** 31);

    slice(array, starts, stops, steps) {
        return run("Slice", [tensor(array), list(starts), list(stops), list(starts.keys()), list(steps)]);
    }

    pad(array, widths, mode, value) {
        const pads = list([0, 1].flatMap((side) => widths.map((pair) => pair[side])));
        return run("Pad", [tensor(array), pads, tensor({ ...array, sizes: [], data: value })], mode);
    }
}

const tensor = ({ dataType, sizes, data }) => new ort.Tensor(dataType.toLowerCase(), data, sizes);
const list = (values) => new ort.Tensor("int64", BigInt64Array.from(values, BigInt));

/** Runs an operator of ONNX: a model of one node, with an input for each tensor. */
async function run(opType, tensors, mode) {
    const names = tensors.map((_, place) => `input${place}`);
    const attribute = mode ? [{ name: "mode", type: 3, s: Buffer.from(mode) }] : [];
    const graph = {
        name: "case",
        node: [{ opType, input: names, output: ["output"], attribute }],
        input: tensors.map(({ type }, place) => described(names[place], type)),
        output: [described("output", tensors[0].type)],
    };
    const model = { irVersion: 9, opsetImport: [{ domain: "", version: 19 }], graph };
    const session = await ort.InferenceSession.create(proto.onnx.ModelProto.encode(model).finish());
    const { output } = await session.run(Object.fromEntries(tensors.map((input, place) => [names[place], input])));
    await session.release();
    return { sizes: output.dims, data: output.data };
}

function described(name, type) {
    const types = { float32: "FLOAT", float64: "DOUBLE" };
    const elemType = proto.onnx.TensorProto.DataType[types[type] ?? type.toUpperCase()];
    return { name, type: { tensorType: { elemType } } };
}

dmlcts.serve(new OnnxRuntimeWeb());
