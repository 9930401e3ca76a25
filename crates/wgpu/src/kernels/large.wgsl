// One large case: an invocation writes sixteen bytes of the output, or where the output is strided, one element.
//
// Sixteen bytes that lie in one row of the output and read one run of the input, forwards or backwards, are moved as
// whole words. All others are put together element by element. Elements are never read as numbers.

// Bytes of an element: 1, 2, 4 or 8.
override WIDTH: u32 = 4u;
// Whether an axis folds its coordinate.
override FOLDS: bool = false;
// Whether only a part of the input is bound. What lies in no part is left as it is, for another dispatch to write.
override WINDOWED: bool = false;

const LANES: u32 = 64u;
const READ_OUTSIDE: u32 = 1u;
const WROTE_OUTSIDE: u32 = 2u;

struct Axis {
    size: u32,
    input_stride: u32,
    output_stride: u32,
    bias: u32,
    period: u32,
    mirror: u32,
    n: u32,
    unused: u32,
}

// All counts are in elements, but for the names that say otherwise.
struct Job {
    elements: u32,
    axes: u32,
    constant: u32,
    first: u32,
    fill: vec2<u32>,
    // What the tensors hold.
    input_elements: u32,
    output_elements: u32,
    // The part of the input that is bound, and the word that it starts at.
    window_first: u32,
    window_elements: u32,
    input_word: u32,
    // Whether this dispatch writes what lies outside of the input.
    writes_fill: u32,
    // The part of the output that is bound: its first cell, how many there are, and the cell that it starts at.
    cell_first: u32,
    cells: u32,
    output_cell: u32,
    unused: u32,
    axis: array<Axis, 8>,
}

@group(0) @binding(0) var<uniform> job: Job;
// The same memory twice, for aligned and for other reads.
@group(0) @binding(1) var<storage, read> input_words: array<u32>;
@group(0) @binding(2) var<storage, read> input_cells: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> output_cells: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> trap: atomic<u32>;

// Where an element comes from.
struct Source {
    place: u32,
    outside: bool,
}

// What an axis makes of a coordinate.
fn fold(axis: u32, c: u32) -> Source {
    if (!FOLDS) {
        return Source(c, false);
    }
    let n = job.axis[axis].n;
    let period = job.axis[axis].period;
    let mirror = job.axis[axis].mirror;
    let biased = c + job.axis[axis].bias;
    var folded = i32(biased);
    if (period != 0u) {
        folded = i32(biased % period);
    }
    if (mirror != 0u) {
        folded = min(folded, i32(mirror) - folded);
    }
    return Source(u32(clamp(folded, 0, i32(n) - 1)), job.constant != 0u && biased >= n);
}

// Where an element of the output comes from, but for its coordinate on the innermost axis, which is returned, too.
fn row_of(element: u32) -> vec3<u32> {
    var place = job.first;
    var outside = 0u;
    var rest = element;
    var c = 0u;
    if (job.axes > 0u) {
        let size = job.axis[0].size;
        rest = element / size;
        c = element - rest * size;
    }
    for (var axis = 1u; axis < job.axes; axis++) {
        let size = job.axis[axis].size;
        let next = rest / size;
        let source = fold(axis, rest - next * size);
        rest = next;
        place += source.place * job.axis[axis].input_stride;
        outside |= u32(source.outside);
    }
    return vec3(place, c, outside);
}

fn source_of(element: u32) -> Source {
    let row = row_of(element);
    let inner = fold(0u, row.y);
    return Source(row.x + inner.place * job.axis[0].input_stride, row.z != 0u || inner.outside);
}

fn is_readable(place: u32) -> bool {
    let inside = place < job.input_elements;
    if (!inside) {
        atomicOr(&trap, READ_OUTSIDE);
    }
    return inside;
}

// An element's bits, at the lower end.
fn element_at(place: u32) -> vec2<u32> {
    let at = place - job.window_first;
    if (WIDTH == 8u) {
        let word = job.input_word + at * 2u;
        return vec2(input_words[word], input_words[word + 1u]);
    }
    if (WIDTH == 4u) {
        return vec2(input_words[job.input_word + at], 0u);
    }
    let byte = at * WIDTH;
    let bits = input_words[job.input_word + byte / 4u] >> (8u * (byte % 4u));
    return vec2(bits & ones(), 0u);
}

fn ones() -> u32 {
    return select(0xffffffffu, (1u << (8u * (WIDTH & 3u))) - 1u, WIDTH < 4u);
}

// Sixteen bytes from an element on.
fn block_from(place: u32) -> vec4<u32> {
    let byte = (place - job.window_first) * WIDTH;
    let word = job.input_word + byte / 4u;
    if (WIDTH >= 4u || byte % 4u == 0u) {
        if (word % 4u == 0u) {
            return input_cells[word / 4u];
        }
        return vec4(
            input_words[word], input_words[word + 1u], input_words[word + 2u], input_words[word + 3u]
        );
    }
    let low = vec4(
        input_words[word], input_words[word + 1u], input_words[word + 2u], input_words[word + 3u]
    );
    let high = vec4(low.yzw, input_words[word + 4u]);
    let shift = vec4(8u * (byte % 4u));
    return (low >> shift) | (high << (vec4(32u) - shift));
}

// The same elements in reverse order.
fn reversed(block: vec4<u32>) -> vec4<u32> {
    if (WIDTH == 8u) {
        return block.zwxy;
    }
    let words = block.wzyx;
    if (WIDTH == 4u) {
        return words;
    }
    let halves = (words >> vec4(16u)) | (words << vec4(16u));
    if (WIDTH == 2u) {
        return halves;
    }
    return ((halves >> vec4(8u)) & vec4(0x00ff00ffu)) | ((halves << vec4(8u)) & vec4(0xff00ff00u));
}

// Sixteen bytes of the padding value.
fn fill_block() -> vec4<u32> {
    if (WIDTH == 8u) {
        return job.fill.xyxy;
    }
    if (WIDTH == 4u) {
        return job.fill.xxxx;
    }
    let element = job.fill.x & ones();
    if (WIDTH == 2u) {
        return vec4(element * 0x00010001u);
    }
    return vec4(element * 0x01010101u);
}

// Puts one element into a block.
fn put(block: vec4<u32>, index: u32, bits: vec2<u32>) -> vec4<u32> {
    var result = block;
    if (WIDTH == 8u) {
        result[index * 2u] = bits.x;
        result[index * 2u + 1u] = bits.y;
    } else if (WIDTH == 4u) {
        result[index] = bits.x;
    } else {
        let shift = 8u * ((index * WIDTH) % 4u);
        let word = index * WIDTH / 4u;
        result[word] = (result[word] & ~(ones() << shift)) | (bits.x << shift);
    }
    return result;
}

// Element by element, over what was there before.
fn slowly(before: vec4<u32>, first: u32, count: u32) -> vec4<u32> {
    var block = before;
    for (var i = 0u; i < count; i++) {
        let source = source_of(first + i);
        if (source.outside) {
            if (!WINDOWED || job.writes_fill != 0u) {
                block = put(block, i, vec2(job.fill.x & ones(), job.fill.y));
            }
        } else if (is_readable(source.place)) {
            if (!WINDOWED || source.place - job.window_first < job.window_elements) {
                block = put(block, i, element_at(source.place));
            }
        }
    }
    return block;
}

// A run of the input that a whole block reads: the element at its start and the step to the next one.
struct Stretch {
    start: u32,
    step: u32,
    outside: bool,
    found: bool,
}

// The run that so many coordinates of the innermost axis read, where they read one.
fn stretch(c: u32, count: u32) -> Stretch {
    let stride = job.axis[0].input_stride;
    if (c + count > job.axis[0].size) {
        return Stretch(0u, 0u, false, false);
    }
    if (!FOLDS) {
        return Stretch(c * stride, stride, false, true);
    }
    let n = job.axis[0].n;
    let period = job.axis[0].period;
    let mirror = job.axis[0].mirror;
    var at = c + job.axis[0].bias;
    if (period != 0u) {
        at = at % period;
    }
    if (at < n && n - at >= count) {
        return Stretch(at * stride, stride, false, true);
    }
    if (mirror != 0u && at >= n && mirror - at >= count - 1u) {
        return Stretch((mirror - at) * stride, 0u - stride, false, true);
    }
    // All before the input, or all behind it.
    let before = i32(at) < 0 && i32(at + count) <= 0;
    let behind = i32(at) >= i32(n);
    if (period == 0u && job.constant == 0u && (before || behind)) {
        return Stretch(select(n - 1u, 0u, before) * stride, 0u, false, true);
    }
    return Stretch(0u, 0u, job.constant != 0u && (before || behind), false);
}

// Where an invocation stands among all of a dispatch whose workgroups lie in rows.
fn number(group: vec3<u32>, groups: vec3<u32>, lane: u32) -> u32 {
    return (group.x + group.y * groups.x) * LANES + lane;
}

@compute @workgroup_size(LANES)
fn gather(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = number(group, groups, lane);
    if (index >= job.cells) {
        return;
    }
    let in_block = 16u / WIDTH;
    let first = (job.cell_first + index) * in_block;
    if (first >= job.elements) {
        return;
    }
    let place = job.output_cell + index;
    let count = min(in_block, job.elements - first);
    if (!WINDOWED && count == in_block) {
        let row = row_of(first);
        if (row.z != 0u && row.y + count <= job.axis[0].size) {
            output_cells[place] = fill_block();
            return;
        }
        let run = stretch(row.y, count);
        if (run.found) {
            let start = row.x + run.start;
            let end = start + run.step * (count - 1u);
            if (!is_readable(start) || !is_readable(end)) {
                return;
            }
            if (run.step == 1u) {
                output_cells[place] = block_from(start);
                return;
            }
            if (run.step == 0xffffffffu) {
                output_cells[place] = reversed(block_from(end));
                return;
            }
            var block = vec4(0u);
            if (WIDTH == 8u) {
                block = vec4(element_at(start), element_at(end));
            } else if (WIDTH == 4u) {
                block = vec4(
                    element_at(start).x,
                    element_at(start + run.step).x,
                    element_at(start + 2u * run.step).x,
                    element_at(end).x,
                );
            } else {
                let in_word = 4u / WIDTH;
                var from_ = start;
                for (var word = 0u; word < 4u; word++) {
                    var bits = 0u;
                    for (var i = 0u; i < in_word; i++) {
                        bits |= element_at(from_).x << (8u * WIDTH * i);
                        from_ += run.step;
                    }
                    block[word] = bits;
                }
            }
            output_cells[place] = block;
            return;
        }
        if (run.outside) {
            output_cells[place] = fill_block();
            return;
        }
    }
    output_cells[place] = slowly(output_cells[place], first, count);
}

// Strided outputs: an element each. `output_cells` is not used.
@group(0) @binding(5) var<storage, read_write> output_words: array<atomic<u32>>;

@compute @workgroup_size(LANES)
fn scatter(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let element = number(group, groups, lane);
    if (element >= job.elements) {
        return;
    }
    var rest = element;
    var target_place = 0u;
    for (var axis = 0u; axis < job.axes; axis++) {
        let size = job.axis[axis].size;
        let next = rest / size;
        target_place += (rest - next * size) * job.axis[axis].output_stride;
        rest = next;
    }
    if (target_place >= job.output_elements) {
        atomicOr(&trap, WROTE_OUTSIDE);
        return;
    }
    // Another part of the output is not for this dispatch.
    let in_cell = 16u / WIDTH;
    if (target_place / in_cell - job.cell_first >= job.cells) {
        return;
    }
    let source = source_of(element);
    var bits = job.fill;
    if (source.outside) {
        if (WINDOWED && job.writes_fill == 0u) {
            return;
        }
    } else {
        if (!is_readable(source.place)) {
            return;
        }
        if (WINDOWED && source.place - job.window_first >= job.window_elements) {
            return;
        }
        bits = element_at(source.place);
    }
    let at = target_place - job.cell_first * in_cell;
    let start = job.output_cell * 4u;
    if (WIDTH >= 4u) {
        let words = WIDTH / 4u;
        atomicStore(&output_words[start + at * words], bits.x);
        if (WIDTH == 8u) {
            atomicStore(&output_words[start + at * words + 1u], bits.y);
        }
        return;
    }
    // Others may write to the same word at the same time. Nobody else changes this element's bits, so that flipping those
    // that differ leaves the right ones, and all others as they are.
    let byte = at * WIDTH;
    let shift = 8u * (byte % 4u);
    let mine = ones() << shift;
    let old = atomicLoad(&output_words[start + byte / 4u]);
    atomicXor(&output_words[start + byte / 4u], (old ^ (bits.x << shift)) & mine);
}
