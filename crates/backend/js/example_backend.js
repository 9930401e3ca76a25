/** SLICE, SLICE1 and PADDING1 in plain JavaScript: dmlcts run --backend 'exec:node example_backend.js' */

import * as dmlcts from "dmlcts-backend";

/** The coordinate that an element of the padding repeats; -1 for none. */
const PLACES = {
    CONSTANT: (at, size) => (at >= 0 && at < size ? at : -1),
    EDGE: (at, size) => Math.min(Math.max(at, 0), size - 1),
    REFLECTION: (at, size) => fold(at, Math.max(2 * size - 2, 1), 0),
    SYMMETRIC: (at, size) => fold(at, 2 * size, 1),
    WRAP: (at, size) => modulo(at, size),
};
const modulo = (at, period) => ((at % period) + period) % period;
const fold = (at, period, gap) => Math.min(modulo(at, period), period - gap - modulo(at, period));

class Example extends dmlcts.ArrayBackend {
    name = "javascript-example";
    version = "1.0";

    slice(array, starts, stops, steps) {
        const coordinates = starts.map((start, axis) => {
            const count = Math.ceil(((stops[axis] ?? -1) - start) / steps[axis]);
            return Array.from({ length: count }, (_, place) => start + place * steps[axis]);
        });
        return gather(array, coordinates);
    }

    pad(array, widths, mode, value) {
        const coordinates = array.sizes.map((size, axis) => {
            const [before, after] = widths[axis];
            return Array.from({ length: before + size + after }, (_, place) => PLACES[mode](place - before, size));
        });
        return gather(array, coordinates, value);
    }
}

/** The elements at these coordinates of each axis, and `value` where a coordinate is -1. */
function gather(array, coordinates, value) {
    const strides = dmlcts.packedStrides(array.sizes);
    const step = (places, list, axis) =>
        places.flatMap((place) => list.map((at) => (place < 0 || at < 0 ? -1 : place + at * strides[axis])));
    const made = new dmlcts.PackedArray(array.dataType, coordinates.map((list) => list.length));
    const [from, to] = [dmlcts.words(array.data), dmlcts.words(made.data)];
    const outside = value && dmlcts.words(value)[0];
    coordinates.reduce(step, [0]).forEach((place, at) => (to[at] = place < 0 ? outside : from[place]));
    return made;
}

dmlcts.serve(new Example());
