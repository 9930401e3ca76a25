// One large case whose rows of the output are columns of the input: a workgroup moves a square tile through its own
// memory, so that both reading and writing go along rows.
//
// For whole inputs, packed outputs whose rows are whole words, and axes that do not fold.

// Bytes of an element: 1, 2, 4 or 8.
override WIDTH: u32 = 4u;

const SIDE: u32 = 32u;
// One element more in a row of the tile keeps a column out of a single bank of memory.
const PITCH: u32 = 33u;
const ROWS: u32 = 8u;
const READ_OUTSIDE: u32 = 1u;
const WROTE_OUTSIDE: u32 = 2u;

struct Job {
    // The axis along which the input lies in rows.
    across: u32,
    axes: u32,
    tiles: u32,
    first: u32,
    input_elements: u32,
    output_elements: u32,
    input_word: u32,
    output_word: u32,
    // Size, input stride and output stride of each.
    axis: array<vec4<u32>, 8>,
}

@group(0) @binding(0) var<uniform> job: Job;
@group(0) @binding(1) var<storage, read> inputs: array<u32>;
@group(0) @binding(2) var<storage, read_write> outputs: array<u32>;
@group(0) @binding(3) var<storage, read_write> trap: atomic<u32>;

var<workgroup> low: array<u32, 1056>;
var<workgroup> high: array<u32, 1056>;

fn size_of(axis: u32) -> u32 {
    return job.axis[axis].x;
}

fn take(place: u32, at: u32) {
    if (place >= job.input_elements) {
        atomicOr(&trap, READ_OUTSIDE);
        return;
    }
    if (WIDTH == 8u) {
        low[at] = inputs[job.input_word + place * 2u];
        high[at] = inputs[job.input_word + place * 2u + 1u];
    } else if (WIDTH == 4u) {
        low[at] = inputs[job.input_word + place];
    } else {
        let byte = place * WIDTH;
        low[at] = inputs[job.input_word + byte / 4u] >> (8u * (byte % 4u));
    }
}

// Writes what starts at this element of the output: one element of a word or more, or all of a word.
fn put(place: u32, at: u32) {
    if (place >= job.output_elements) {
        atomicOr(&trap, WROTE_OUTSIDE);
        return;
    }
    if (WIDTH == 8u) {
        outputs[job.output_word + place * 2u] = low[at];
        outputs[job.output_word + place * 2u + 1u] = high[at];
    } else if (WIDTH == 4u) {
        outputs[job.output_word + place] = low[at];
    } else {
        let ones = (1u << (8u * (WIDTH & 3u))) - 1u;
        var bits = 0u;
        for (var i = 0u; i < 4u / WIDTH; i++) {
            bits |= (low[at + i * PITCH] & ones) << (8u * WIDTH * i);
        }
        outputs[job.output_word + place * WIDTH / 4u] = bits;
    }
}

@compute @workgroup_size(SIDE, ROWS)
fn run(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_id) lane: vec3<u32>,
) {
    let tile = group.x + group.y * groups.x;
    // The last row of workgroups may be longer than the tiles that are left: it takes the last one again, so that all
    // invocations meet at the barrier.
    var rest = min(tile, job.tiles - 1u);
    let size = size_of(0u);
    let depth = size_of(job.across);
    let along = (size + SIDE - 1u) / SIDE;
    let inner = (rest % along) * SIDE;
    rest = rest / along;
    let deep = (depth + SIDE - 1u) / SIDE;
    let outer = (rest % deep) * SIDE;
    rest = rest / deep;
    var source = job.first;
    var target_place = 0u;
    for (var axis = 1u; axis < job.axes; axis++) {
        if (axis != job.across) {
            let next = rest / size_of(axis);
            let c = rest - next * size_of(axis);
            rest = next;
            source += c * job.axis[axis].y;
            target_place += c * job.axis[axis].z;
        }
    }
    // Rows of the input: neighbours on the axis across.
    if (outer + lane.x < depth) {
        for (var row = lane.y; row < min(SIDE, size - inner); row += ROWS) {
            let place = source + (outer + lane.x) * job.axis[job.across].y + (inner + row) * job.axis[0].y;
            take(place, row * PITCH + lane.x);
        }
    }
    workgroupBarrier();
    // Rows of the output: neighbours on the innermost axis. A word of narrow elements is one invocation's.
    let in_word = max(4u / WIDTH, 1u);
    let column = lane.x * in_word;
    if (column < min(SIDE, size - inner)) {
        for (var row = lane.y; row < min(SIDE, depth - outer); row += ROWS) {
            let place = target_place + (outer + row) * job.axis[job.across].z + inner + column;
            put(place, column * PITCH + row);
        }
    }
}
