//! Faults of memory: writes and reads outside of a tensor, and writes to the input. They act after a right
//! copy.

use crate::{
    kernel::{AxisNumbers, OperatorKind},
    mutant::{ALL, Mutant, Needs, PADDING1, SLICE1, SLICES},
};

/// A mutant of this theme.
const fn memory(name: &'static str, operators: &'static [&'static str]) -> Mutant {
    Mutant::new(name, operators).seen_in("memory")
}

pub(crate) const MUTANTS: &[Mutant] = &[
    memory("writes-a-byte-behind", ALL)
        .about("a byte behind the output is written")
        .witness(&["SLICE UINT8 in=4 out=4 Sizes=4 Offsets=0 Strides=1"])
        .after(|_, memory, _| memory.spoil_output(memory.output.len() as i64)),
    memory("writes-an-element-behind", ALL)
        .about("an element behind the output is written")
        .witness(&["SLICE FLOAT64 in=4 out=4 Sizes=4 Offsets=0 Strides=1"])
        .after(|plan, memory, _| {
            (0..plan.width).for_each(|byte| memory.spoil_output((memory.output.len() + byte) as i64));
        }),
    memory("writes-64-bytes-behind", ALL)
        .about("a byte 64 bytes behind the output is written")
        .witness(&["SLICE FLOAT32 in=4 out=4 Sizes=4 Offsets=0 Strides=1"])
        .after(|_, memory, _| memory.spoil_output(memory.output.len() as i64 + 64)),
    memory("writes-a-byte-before", ALL)
        .about("the byte before the output is written")
        .witness(&["SLICE FLOAT32 in=4 out=4 Sizes=4 Offsets=0 Strides=1"])
        .after(|_, memory, _| memory.spoil_output(-1)),
    memory("writes-a-row-before", PADDING1)
        .about("padding before the first row is written before the output")
        .witness(&["PADDING1 FLOAT32 in=4 out=5 PaddingMode=EDGE StartPadding=1 EndPadding=0"])
        .after(|plan, memory, _| {
            if plan.any(|axis| axis.start > 0) {
                memory.spoil_output(-(plan.width as i64));
            }
        }),
    memory("vectors-write-behind", ALL)
        .about("the last store has 16 bytes, even if the output ends within them")
        .witness(&["SLICE FLOAT32 in=5 out=5 Sizes=5 Offsets=0 Strides=1"])
        .after(|_, memory, _| {
            let length = memory.output.len();
            (length..length.next_multiple_of(16)).for_each(|byte| memory.spoil_output(byte as i64));
        }),
    memory("strided-vectors-write-behind", ALL)
        .about("the last store into a strided output has a whole stride")
        .witness(&["SLICE FLOAT32 in=2,2 out=2,2 OutputTensor.Strides=3,1 Sizes=2,2 Offsets=0,0 Strides=1,1"])
        .after(|plan, memory, _| {
            if plan.strided[1] && plan.inner().output_stride == 1 {
                memory.spoil_output(memory.output.len() as i64);
            }
        }),
    memory("bytes-write-behind", ALL)
        .about("outputs of 8-bit elements are written to in words from an odd start, one byte behind the end")
        .witness(&["SLICE UINT8 in=2 out=2 Offsets=0 Sizes=2 Strides=1"])
        .after(|plan, memory, _| {
            if plan.width == 1 && plan.elements() % 2 == 0 {
                memory.spoil_output(memory.output.len() as i64);
            }
        }),
    memory("large-outputs-write-behind", ALL)
        .about("a byte behind outputs of 1000 bytes or more is written")
        .witness(&["SLICE UINT8 in=1000 out=1000 Sizes=1000 Offsets=0 Strides=1"])
        .after(|_, memory, _| {
            if memory.output.len() >= 1000 {
                memory.spoil_output(memory.output.len() as i64);
            }
        }),
    memory("total-size-ignored-by-output", ALL)
        .about("the output is cleared from its last element on, beyond TotalTensorSizeInBytes")
        .witness(&[
            "SLICE FLOAT32 in=4 out=4 OutputTensor.TotalTensorSizeInBytes=20 Sizes=4 Offsets=0 Strides=1",
        ])
        .after(|plan, memory, _| {
            let used = (plan.to(&plan.axes.iter().map(|axis| axis.out - 1).collect::<Vec<_>>()) + 1) as usize
                * plan.width;
            if memory.output.len() >= used + 4 {
                memory.spoil_output((2 * memory.output.len() - used) as i64);
            }
        }),
    memory("input-is-scratch", ALL)
        .about("the first byte of the input is overwritten")
        .witness(&["SLICE FLOAT32 in=4 out=4 Sizes=4 Offsets=0 Strides=1"])
        .after(|_, memory, _| memory.spoil_input(0)),
    memory("input-loses-last-byte", ALL)
        .about("the last byte of the input's memory is overwritten")
        .witness(&["SLICE FLOAT32 in=4 out=4 Sizes=4 Offsets=0 Strides=1"])
        .after(|_, memory, _| memory.spoil_input(memory.input.len() - 1)),
    memory("input-reversed-in-place", SLICE1)
        .about("a reversal swaps two elements of its input on the way")
        .witness(&["SLICE1 FLOAT32 in=4 out=4 InputWindowStrides=-1 InputWindowOffsets=0 InputWindowSizes=4"])
        .after(|plan, memory, _| {
            if plan.any(|axis| axis.step < 0) {
                memory.spoil_input(plan.width);
            }
        }),
    memory("padding-in-place", PADDING1)
        .about("an input that becomes no larger than twice its size is padded in place")
        .witness(&["PADDING1 FLOAT32 in=4 out=5 PaddingMode=EDGE StartPadding=1 EndPadding=0"])
        .after(|plan, memory, _| {
            if plan.any(AxisNumbers::is_padded) && memory.output.len() <= 2 * memory.input.len() {
                memory.spoil_input(0);
            }
        }),
    memory("reads-an-element-behind", ALL)
        .about("an element behind the input is read and not used")
        .needs(Needs::GuardedMemory("an input that ends where memory ends"))
        .witness(&["SLICE FLOAT32 in=4 out=4 Sizes=4 Offsets=0 Strides=1"])
        .after(|plan, memory, _| {
            assert!(memory.inputs.len() >= memory.input.end + plan.width, "memory ends there");
        }),
    memory("reads-64-bytes-behind", ALL)
        .about("64 bytes behind the input are read and not used")
        .needs(Needs::GuardedMemory("an input that ends where memory ends"))
        .witness(&["SLICE FLOAT32 in=4 out=4 Sizes=4 Offsets=0 Strides=1"])
        .after(|_, memory, _| assert!(memory.inputs.len() >= memory.input.end + 64, "memory ends there")),
    memory("reads-an-element-before", ALL)
        .about("an element before the input is read and not used")
        .needs(Needs::GuardedMemory("an input that begins where memory begins"))
        .witness(&["SLICE FLOAT32 in=4 out=4 Sizes=4 Offsets=0 Strides=1"])
        .after(|plan, memory, _| assert!(memory.input.start >= plan.width, "memory begins there")),
    memory("last-element-from-behind", SLICES)
        .about("the last element of rows that end with the input is the one behind it")
        .witness(&["SLICE UINT8 in=4 out=4 Sizes=4 Offsets=0 Strides=1"])
        .after(|plan, memory, _| {
            let place = memory.input.end;
            let byte = memory.inputs.get(place).copied().unwrap_or(0x77);
            if plan.width == 1
                && plan.kind == OperatorKind::Slice
                && plan.is_identity()
                && !plan.strided[0]
                && !plan.strided[1]
            {
                let last = plan.elements() as usize - 1;
                memory.output()[last] = byte;
            }
        }),
];
