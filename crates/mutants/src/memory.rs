//! Faults of memory: writes and reads outside of a tensor, and writes to the input. They act after a right
//! copy.

use crate::{
    Fault, Mutant, Needs,
    fault::RIGHT,
    kernel::{Axis, Kind},
};

pub(crate) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "writes-a-byte-behind",
        about: "a byte behind the output is written",
        seen_in: "memory",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT8 in=4 out=4 Sizes=4 Offsets=0 Strides=1"],
        fault: Fault { after: |_, memory, _| memory.spoil_output(memory.output.len() as i64), ..RIGHT },
    },
    Mutant {
        name: "writes-an-element-behind",
        about: "an element behind the output is written",
        seen_in: "memory",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT64 in=4 out=4 Sizes=4 Offsets=0 Strides=1"],
        fault: Fault {
            after: |plan, memory, _| {
                (0..plan.width).for_each(|byte| memory.spoil_output((memory.output.len() + byte) as i64));
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "writes-64-bytes-behind",
        about: "a byte 64 bytes behind the output is written",
        seen_in: "memory",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=4 out=4 Sizes=4 Offsets=0 Strides=1"],
        fault: Fault { after: |_, memory, _| memory.spoil_output(memory.output.len() as i64 + 64), ..RIGHT },
    },
    Mutant {
        name: "writes-a-byte-before",
        about: "the byte before the output is written",
        seen_in: "memory",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=4 out=4 Sizes=4 Offsets=0 Strides=1"],
        fault: Fault { after: |_, memory, _| memory.spoil_output(-1), ..RIGHT },
    },
    Mutant {
        name: "writes-a-row-before",
        about: "padding before the first row is written before the output",
        seen_in: "memory",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &["PADDING1 FLOAT32 in=4 out=5 PaddingMode=EDGE StartPadding=1 EndPadding=0"],
        fault: Fault {
            after: |plan, memory, _| {
                if plan.any(|axis| axis.start > 0) {
                    memory.spoil_output(-(plan.width as i64));
                }
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "vectors-write-behind",
        about: "the last store has 16 bytes, even if the output ends within them",
        seen_in: "memory",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=5 out=5 Sizes=5 Offsets=0 Strides=1"],
        fault: Fault {
            after: |_, memory, _| {
                let length = memory.output.len();
                (length..length.next_multiple_of(16)).for_each(|byte| memory.spoil_output(byte as i64));
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "strided-vectors-write-behind",
        about: "the last store into a strided output has a whole stride",
        seen_in: "memory",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=2,2 out=2,2 OutputTensor.Strides=3,1 Sizes=2,2 Offsets=0,0 Strides=1,1"],
        fault: Fault {
            after: |plan, memory, _| {
                if plan.strided[1] && plan.inner().output_stride == 1 {
                    memory.spoil_output(memory.output.len() as i64);
                }
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "bytes-write-behind",
        about: "outputs of 8-bit elements are written to in words from an odd start, one byte behind the end",
        seen_in: "memory",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT8 in=2 out=2 Offsets=0 Sizes=2 Strides=1"],
        fault: Fault {
            after: |plan, memory, _| {
                if plan.width == 1 && plan.elements() % 2 == 0 {
                    memory.spoil_output(memory.output.len() as i64);
                }
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "large-outputs-write-behind",
        about: "a byte behind outputs of 1000 bytes or more is written",
        seen_in: "memory",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT8 in=1000 out=1000 Sizes=1000 Offsets=0 Strides=1"],
        fault: Fault {
            after: |_, memory, _| {
                if memory.output.len() >= 1000 {
                    memory.spoil_output(memory.output.len() as i64);
                }
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "total-size-ignored-by-output",
        about: "the output is cleared from its last element on, beyond TotalTensorSizeInBytes",
        seen_in: "memory",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE FLOAT32 in=4 out=4 OutputTensor.TotalTensorSizeInBytes=20 Sizes=4 Offsets=0 Strides=1",
        ],
        fault: Fault {
            after: |plan, memory, _| {
                let used = (plan.to(&plan.axes.iter().map(|axis| axis.out - 1).collect::<Vec<_>>()) + 1)
                    as usize
                    * plan.width;
                if memory.output.len() >= used + 4 {
                    memory.spoil_output((2 * memory.output.len() - used) as i64);
                }
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "input-is-scratch",
        about: "the first byte of the input is overwritten",
        seen_in: "memory",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=4 out=4 Sizes=4 Offsets=0 Strides=1"],
        fault: Fault { after: |_, memory, _| memory.spoil_input(0), ..RIGHT },
    },
    Mutant {
        name: "input-loses-last-byte",
        about: "the last byte of the input's memory is overwritten",
        seen_in: "memory",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=4 out=4 Sizes=4 Offsets=0 Strides=1"],
        fault: Fault { after: |_, memory, _| memory.spoil_input(memory.input.len() - 1), ..RIGHT },
    },
    Mutant {
        name: "input-reversed-in-place",
        about: "a reversal swaps two elements of its input on the way",
        seen_in: "memory",
        operators: &["SLICE1"],
        needs: Needs::Nothing,
        witness: &["SLICE1 FLOAT32 in=4 out=4 InputWindowStrides=-1 InputWindowOffsets=0 InputWindowSizes=4"],
        fault: Fault {
            after: |plan, memory, _| {
                if plan.any(|axis| axis.step < 0) {
                    memory.spoil_input(plan.width);
                }
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "padding-in-place",
        about: "an input that becomes no larger than twice its size is padded in place",
        seen_in: "memory",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &["PADDING1 FLOAT32 in=4 out=5 PaddingMode=EDGE StartPadding=1 EndPadding=0"],
        fault: Fault {
            after: |plan, memory, _| {
                if plan.any(Axis::is_padded) && memory.output.len() <= 2 * memory.input.len() {
                    memory.spoil_input(0);
                }
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "reads-an-element-behind",
        about: "an element behind the input is read and not used",
        seen_in: "memory",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::GuardedMemory("an input that ends where memory ends"),
        witness: &["SLICE FLOAT32 in=4 out=4 Sizes=4 Offsets=0 Strides=1"],
        fault: Fault {
            after: |plan, memory, _| {
                assert!(memory.inputs.len() >= memory.input.end + plan.width, "memory ends there");
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "reads-64-bytes-behind",
        about: "64 bytes behind the input are read and not used",
        seen_in: "memory",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::GuardedMemory("an input that ends where memory ends"),
        witness: &["SLICE FLOAT32 in=4 out=4 Sizes=4 Offsets=0 Strides=1"],
        fault: Fault {
            after: |_, memory, _| assert!(memory.inputs.len() >= memory.input.end + 64, "memory ends there"),
            ..RIGHT
        },
    },
    Mutant {
        name: "reads-an-element-before",
        about: "an element before the input is read and not used",
        seen_in: "memory",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::GuardedMemory("an input that begins where memory begins"),
        witness: &["SLICE FLOAT32 in=4 out=4 Sizes=4 Offsets=0 Strides=1"],
        fault: Fault {
            after: |plan, memory, _| assert!(memory.input.start >= plan.width, "memory begins there"),
            ..RIGHT
        },
    },
    Mutant {
        name: "last-element-from-behind",
        about: "the last element of rows that end with the input is the one behind it",
        seen_in: "memory",
        operators: &["SLICE", "SLICE1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT8 in=4 out=4 Sizes=4 Offsets=0 Strides=1"],
        fault: Fault {
            after: |plan, memory, _| {
                let place = memory.input.end;
                let byte = memory.inputs.get(place).copied().unwrap_or(0x77);
                if plan.width == 1
                    && plan.kind == Kind::Slice
                    && plan.is_identity()
                    && !plan.strided[0]
                    && !plan.strided[1]
                {
                    let last = plan.elements() as usize - 1;
                    memory.output()[last] = byte;
                }
            },
            ..RIGHT
        },
    },
];
