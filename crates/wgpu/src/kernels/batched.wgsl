// Many small cases in one dispatch: a workgroup is a case, and its invocations share the case's elements. What one
// invocation writes is whole words where elements are narrower than that and lie side by side, and otherwise one element.
//
// An invocation finds the places of four elements at a time, since reading the numbers of an axis takes longer than
// reckoning with them.
//
// Elements are moved as words and never read as numbers, so that no bit of them can change.

// Invocations in a workgroup.
override LANES: u32 = 32u;
// Bytes of an element: 1, 2, 4 or 8.
override WIDTH: u32 = 4u;
// Whether an axis folds its coordinate.
override FOLDS: bool = false;
// Whether the outputs' elements lie side by side.
override PACKED: bool = true;

// The dispatch's cases: a range of the table at the start of `records`.
struct Cases {
    first: u32,
    count: u32,
}

@group(0) @binding(0) var<uniform> cases: Cases;
// The table of records, then the records: nine words, then three for each axis, or seven where axes fold.
@group(0) @binding(1) var<storage, read> records: array<u32>;
@group(0) @binding(2) var<storage, read> inputs: array<u32>;
@group(0) @binding(3) var<storage, read_write> outputs: array<atomic<u32>>;
// One word a case: 1 where it would have read beside its input, 2 where it would have written beside its output.
@group(0) @binding(4) var<storage, read_write> traps: array<atomic<u32>>;

const READ_OUTSIDE: u32 = 1u;
const WROTE_OUTSIDE: u32 = 2u;

struct Case {
    trap: u32,
    // Where the tensors start, in words, and their bytes.
    input: u32,
    input_bytes: u32,
    output: u32,
    output_bytes: u32,
    elements: u32,
    // How many axes there are; the highest bit says that what lies outside of the input is `fill`.
    axes: u32,
    constant: bool,
    fill: vec2<u32>,
    // The element that reading starts at.
    first: u32,
    // Where the axes start.
    at: u32,
}

// Where four elements come from and go to, in elements.
struct Moves {
    source: vec4<u32>,
    target_place: vec4<u32>,
    outside: vec4<bool>,
}

fn read_case(at: u32) -> Case {
    var case_: Case;
    case_.trap = records[at];
    case_.input = records[at + 1u];
    case_.input_bytes = records[at + 2u];
    case_.output = records[at + 3u];
    case_.output_bytes = records[at + 4u];
    case_.elements = records[at + 5u];
    case_.axes = records[at + 6u] & 0xffu;
    case_.constant = (records[at + 6u] >> 31u) != 0u;
    case_.first = records[at + 7u];
    case_.at = at + 8u;
    if (FOLDS) {
        case_.fill = vec2(records[at + 8u], records[at + 9u]);
        case_.at = at + 10u;
    }
    return case_;
}

// `values / size` for values below 2^20. The quotient is at least 1 / (2 * size) away from a whole number, which is
// more than what three roundings of 24 bits can add up to.
fn quotients(values: vec4<u32>, size: u32) -> vec4<u32> {
    return vec4<u32>((vec4<f32>(values) + vec4(0.5)) / f32(size));
}

fn find(case_: Case, elements: vec4<u32>) -> Moves {
    var moves = Moves(vec4(case_.first), vec4(0u), vec4(false));
    var rest = elements;
    var at = case_.at;
    for (var axis = 0u; axis < case_.axes; axis++) {
        let size = records[at];
        let next = quotients(rest, size);
        let c = rest - next * size;
        rest = next;
        if (!PACKED) {
            moves.target_place += c * records[at + 2u];
        }
        if (FOLDS) {
            let n = records[at + 6u];
            let period = records[at + 4u];
            let mirror = records[at + 5u];
            let biased = c + vec4(records[at + 3u]);
            moves.outside |= (biased >= vec4(n)) & vec4(case_.constant);
            var folded = vec4<i32>(biased);
            if (period != 0u) {
                folded = vec4<i32>(biased - quotients(biased, period) * period);
            }
            if (mirror != 0u) {
                folded = min(folded, vec4(i32(mirror)) - folded);
            }
            moves.source += vec4<u32>(clamp(folded, vec4(0), vec4(i32(n) - 1))) * records[at + 1u];
            at += 7u;
        } else {
            moves.source += c * records[at + 1u];
            at += 3u;
        }
    }
    return moves;
}

fn is_readable(case_: Case, place: u32) -> bool {
    let inside = place < case_.input_bytes / WIDTH;
    if (!inside) {
        atomicOr(&traps[case_.trap], READ_OUTSIDE);
    }
    return inside;
}

// Whether a place can be written to, counted in units of so many bytes.
fn is_writable(case_: Case, place: u32, bytes: u32) -> bool {
    let inside = place < case_.output_bytes / bytes;
    if (!inside) {
        atomicOr(&traps[case_.trap], WROTE_OUTSIDE);
    }
    return inside;
}

// The bits of a narrow element, at the lower end of a word.
fn narrow(case_: Case, source: u32, outside: bool) -> u32 {
    let ones = (1u << (8u * (WIDTH & 3u))) - 1u;
    if (outside) {
        return case_.fill.x & ones;
    }
    if (!is_readable(case_, source)) {
        return 0u;
    }
    let byte = source * WIDTH;
    return (inputs[case_.input + byte / 4u] >> (8u * (byte % 4u))) & ones;
}

// So many elements of a word of their own, that lie side by side from an element on, with their bits there.
fn write_word_of_narrow(case_: Case, first: u32, bits_: u32) {
    let word = first * WIDTH / 4u;
    let elements = min(4u / WIDTH, case_.elements - first);
    if (!is_writable(case_, word, 4u)) {
        return;
    }
    var bits = bits_;
    let place = case_.output + word;
    if (elements < 4u / WIDTH) {
        // The tensor ends in this word, and what is behind it stays.
        let mine = (1u << (8u * WIDTH * elements)) - 1u;
        bits = (bits & mine) | (atomicLoad(&outputs[place]) & ~mine);
    }
    atomicStore(&outputs[place], bits);
}

// One narrow element in a word that others may write to at the same time. Nobody else changes this element's bits, so
// that flipping those that differ leaves the right ones, and all others as they are.
fn write_narrow(case_: Case, target_place: u32, bits: u32) {
    if (!is_writable(case_, target_place, WIDTH)) {
        return;
    }
    let byte = target_place * WIDTH;
    let shift = 8u * (byte % 4u);
    let mine = ((1u << (8u * (WIDTH & 3u))) - 1u) << shift;
    let place = case_.output + byte / 4u;
    let old = atomicLoad(&outputs[place]);
    atomicXor(&outputs[place], (old ^ (bits << shift)) & mine);
}

// One element of one word or two.
fn write_wide(case_: Case, source: u32, target_place: u32, outside: bool) {
    let words = WIDTH / 4u;
    if (!is_writable(case_, target_place, WIDTH)) {
        return;
    }
    var bits = case_.fill;
    if (!outside) {
        if (!is_readable(case_, source)) {
            return;
        }
        let from_ = case_.input + source * words;
        bits = vec2(inputs[from_], inputs[from_ + words - 1u]);
    }
    let place = case_.output + target_place * words;
    atomicStore(&outputs[place], bits.x);
    if (WIDTH == 8u) {
        atomicStore(&outputs[place + 1u], bits.y);
    }
}

// Four elements, which lie side by side where they are narrow and the output is packed. Those behind the last
// element of the case are nobody's.
fn write_four(case_: Case, elements: vec4<u32>) {
    let moves = find(case_, elements);
    if (PACKED && WIDTH < 4u) {
        var bits = vec4(0u);
        for (var i = 0u; i < 4u; i++) {
            if (elements[i] < case_.elements) {
                bits[i] = narrow(case_, moves.source[i], moves.outside[i]);
            }
        }
        if (WIDTH == 1u) {
            let word = bits.x | (bits.y << 8u) | (bits.z << 16u) | (bits.w << 24u);
            write_word_of_narrow(case_, elements.x, word);
        } else {
            write_word_of_narrow(case_, elements.x, bits.x | (bits.y << 16u));
            if (elements.z < case_.elements) {
                write_word_of_narrow(case_, elements.z, bits.z | (bits.w << 16u));
            }
        }
        return;
    }
    let target_place = select(moves.target_place, elements, PACKED);
    for (var i = 0u; i < 4u; i++) {
        if (elements[i] < case_.elements) {
            if (WIDTH >= 4u) {
                write_wide(case_, moves.source[i], target_place[i], moves.outside[i]);
            } else {
                write_narrow(case_, target_place[i], narrow(case_, moves.source[i], moves.outside[i]));
            }
        }
    }
}

@compute @workgroup_size(LANES)
fn run(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    // Rows of workgroups, since one dimension of a dispatch is too short for many cases.
    let index = group.x + group.y * groups.x;
    if (index >= cases.count) {
        return;
    }
    let case_ = read_case(records[cases.first + index]);
    if (PACKED && WIDTH < 4u) {
        // Whole words: four neighbours are one invocation's.
        for (var first = lane * 4u; first < case_.elements; first += LANES * 4u) {
            write_four(case_, vec4(first) + vec4(0u, 1u, 2u, 3u));
        }
    } else {
        // Neighbours are different invocations', which read and write side by side.
        for (var first = lane; first < case_.elements; first += LANES * 4u) {
            write_four(case_, vec4(first) + vec4(0u, 1u, 2u, 3u) * LANES);
        }
    }
}
