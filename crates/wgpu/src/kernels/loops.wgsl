// Goes round a loop as often as it is told, and counts in memory, so that nothing can be left out.

// How often to go round, and how often it was.
@group(0) @binding(0) var<storage, read_write> rounds: array<u32, 2>;

@compute @workgroup_size(1)
fn run() {
    let asked = rounds[0];
    for (var i = 0u; i < asked; i++) {
        rounds[1] += 1u;
    }
}
