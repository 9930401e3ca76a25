/** TensorFlow.js on its backend `cpu` or `wasm`, held to the pages of tf.stridedSlice, tf.pad and tf.mirrorPad. */

import * as dmlcts from "dmlcts-backend";
import * as tf from "@tensorflow/tfjs-core";
import "@tensorflow/tfjs-backend-cpu";
import "@tensorflow/tfjs-backend-wasm";

const device = process.argv[2];
if (!(await tf.setBackend(device))) throw new Error(`usage: node on_tfjs.js cpu|wasm (not ${device})`);

class TensorFlowJs extends dmlcts.ArrayBackend {
    name = `tfjs-${device}`;
    version = tf.version_core;
    dataTypes = ["FLOAT32", "INT32"];
    ranks = [1, 6]; // its type Rank ends with R6
    modes = { CONSTANT: "constant", REFLECTION: "reflect", SYMMETRIC: "symmetric" };
    narrowModes = ["REFLECTION", "SYMMETRIC"];
    beforeFirst = -(2 ** 31);

    slice(array, starts, stops, steps) {
        return run(array, (input) => tf.stridedSlice(input, starts, stops, steps));
    }

    pad(array, widths, mode, value) {
        if (mode === "constant") return run(array, (input) => tf.pad(input, widths, value[0]));
        return run(array, (input) => tf.mirrorPad(input, widths, mode));
    }
}

function run({ data, sizes, dataType }, operation) {
    tf.engine().startScope();
    const made = operation(tf.tensor(data, sizes, dataType.toLowerCase()));
    const result = { sizes: made.shape, data: made.dataSync() };
    tf.engine().endScope();
    return result;
}

dmlcts.serve(new TensorFlowJs());
