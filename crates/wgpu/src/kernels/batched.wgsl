// Many small cases in one dispatch: a workgroup is a case, and its invocations share the case's cells. A cell is what
// one invocation writes: an output word where elements are narrower than that and lie side by side, and otherwise one
// element.
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

// Where an element comes from and goes to, in elements.
struct Move {
    source: u32,
    target_place: u32,
    outside: bool,
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

// `value / size` for values below 2^20. The quotient is at least 1 / (2 * size) away from a whole number, which is
// more than what three roundings of 24 bits can add up to.
fn quotient(value: u32, size: u32) -> u32 {
    return u32((f32(value) + 0.5) / f32(size));
}

fn find(case_: Case, element: u32) -> Move {
    var move_ = Move(case_.first, 0u, false);
    var rest = element;
    var at = case_.at;
    for (var axis = 0u; axis < case_.axes; axis++) {
        let size = records[at];
        let quotient_ = quotient(rest, size);
        let c = rest - quotient_ * size;
        rest = quotient_;
        if (!PACKED) {
            move_.target_place += c * records[at + 2u];
        }
        if (FOLDS) {
            let n = records[at + 6u];
            let period = records[at + 4u];
            let mirror = records[at + 5u];
            let biased = c + records[at + 3u];
            move_.outside |= case_.constant && biased >= n;
            var folded = i32(biased);
            if (period != 0u) {
                folded = i32(biased - quotient(biased, period) * period);
            }
            if (mirror != 0u) {
                folded = min(folded, i32(mirror) - folded);
            }
            move_.source += u32(clamp(folded, 0, i32(n) - 1)) * records[at + 1u];
            at += 7u;
        } else {
            move_.source += c * records[at + 1u];
            at += 3u;
        }
    }
    return move_;
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
fn narrow(case_: Case, move_: Move) -> u32 {
    let ones = (1u << (8u * (WIDTH & 3u))) - 1u;
    if (move_.outside) {
        return case_.fill.x & ones;
    }
    if (!is_readable(case_, move_.source)) {
        return 0u;
    }
    let byte = move_.source * WIDTH;
    return (inputs[case_.input + byte / 4u] >> (8u * (byte % 4u))) & ones;
}

// Several elements side by side in a word of their own.
fn write_word_of_narrow(case_: Case, word: u32) {
    let first = word * (4u / WIDTH);
    let elements = min(4u / WIDTH, case_.elements - first);
    if (!is_writable(case_, word, 4u)) {
        return;
    }
    var bits = 0u;
    for (var i = 0u; i < elements; i++) {
        bits |= narrow(case_, find(case_, first + i)) << (8u * WIDTH * i);
    }
    let place = case_.output + word;
    if (elements < 4u / WIDTH) {
        // The tensor ends in this word, and what is behind it stays.
        let mine = (1u << (8u * WIDTH * elements)) - 1u;
        bits |= atomicLoad(&outputs[place]) & ~mine;
    }
    atomicStore(&outputs[place], bits);
}

// One narrow element in a word that others may write to at the same time. Nobody else changes this element's bits, so
// that flipping those that differ leaves the right ones, and all others as they are.
fn write_narrow(case_: Case, element: u32) {
    let move_ = find(case_, element);
    if (!is_writable(case_, move_.target_place, WIDTH)) {
        return;
    }
    let byte = move_.target_place * WIDTH;
    let shift = 8u * (byte % 4u);
    let mine = ((1u << (8u * (WIDTH & 3u))) - 1u) << shift;
    let place = case_.output + byte / 4u;
    let old = atomicLoad(&outputs[place]);
    atomicXor(&outputs[place], (old ^ (narrow(case_, move_) << shift)) & mine);
}

// One element of one word or two.
fn write_wide(case_: Case, element: u32) {
    let words = WIDTH / 4u;
    let move_ = find(case_, element);
    let target_place = select(move_.target_place, element, PACKED);
    if (!is_writable(case_, target_place, WIDTH)) {
        return;
    }
    var bits = case_.fill;
    if (!move_.outside) {
        if (!is_readable(case_, move_.source)) {
            return;
        }
        let from_ = case_.input + move_.source * words;
        bits = vec2(inputs[from_], inputs[from_ + words - 1u]);
    }
    let place = case_.output + target_place * words;
    atomicStore(&outputs[place], bits.x);
    if (WIDTH == 8u) {
        atomicStore(&outputs[place + 1u], bits.y);
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
    var cells = case_.elements;
    if (PACKED && WIDTH < 4u) {
        cells = (cells * WIDTH + 3u) / 4u;
    }
    for (var cell = lane; cell < cells; cell += LANES) {
        if (WIDTH >= 4u) {
            write_wide(case_, cell);
        } else if (PACKED) {
            write_word_of_narrow(case_, cell);
        } else {
            write_narrow(case_, cell);
        }
    }
}
