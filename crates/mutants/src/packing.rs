//! Faults of elements in words: stores that are too wide, loads that assume alignment, and element widths.

use dmlcts_model::DataType;

use crate::{
    kernel::{AxisNumbers, put},
    mutant::{ALL, Mutant, PADDING1, SLICES},
};

/// Writes zeros to the word of four bytes that has this byte.
fn clear_word(output: &mut [u8], byte: i64) {
    let word = usize::try_from(byte).unwrap_or(usize::MAX) / 4 * 4;
    if let Some(bytes) = output.get_mut(word..word.saturating_add(4)) {
        bytes.fill(0);
    }
}

/// A mutant of this theme.
const fn packing(name: &'static str, operators: &'static [&'static str]) -> Mutant {
    Mutant::new(name, operators).seen_in("packing")
}

pub(crate) const MUTANTS: &[Mutant] = &[
    packing("bytes-clobber-their-word", ALL)
        .about("a store of 8 bits clears the other bytes of its word")
        .seen_in("llama.cpp#28045")
        .witness(&["SLICE UINT8 in=4 out=4 Sizes=4 Offsets=0 Strides=1"])
        .store(|plan, output, byte, element| {
            if plan.width == 1 {
                clear_word(output, byte);
            }
            put(plan, output, byte, element);
        }),
    packing("halves-clobber-their-word", ALL)
        .about("a store of 16 bits clears the other half of its word")
        .seen_in("llama.cpp#28045")
        .witness(&["SLICE UINT16 in=2 out=2 Sizes=2 Offsets=0 Strides=1"])
        .store(|plan, output, byte, element| {
            if plan.width == 2 {
                clear_word(output, byte);
            }
            put(plan, output, byte, element);
        }),
    packing("strided-bytes-clobber-their-word", ALL)
        .about("a store of 8 bits into a strided output clears the other bytes of its word")
        .seen_in("llama.cpp#28045")
        .witness(&["SLICE UINT8 in=2,2 out=2,2 OutputTensor.Strides=1,2 Sizes=2,2 Offsets=0,0 Strides=1,1"])
        .store(|plan, output, byte, element| {
            if plan.width == 1 && plan.strided[1] {
                clear_word(output, byte);
            }
            put(plan, output, byte, element);
        }),
    packing("bytes-of-tail-lost", ALL)
        .about("the last elements of 8 bits are lost if they do not fill a word")
        .witness(&["SLICE UINT8 in=5 out=5 Sizes=5 Offsets=0 Strides=1"])
        .visits(|plan, index, _| plan.width != 1 || plan.elements() < 4 || index < plan.elements() / 4 * 4),
    packing("odd-half-lost", ALL)
        .about("the last element of 16 bits is lost if their number is odd")
        .witness(&["SLICE UINT16 in=3 out=3 Sizes=3 Offsets=0 Strides=1"])
        .visits(|plan, index, _| plan.width != 2 || plan.elements() < 2 || index < plan.elements() / 2 * 2),
    packing("single-byte-lost", ALL)
        .about("an output of a single element of 8 bits is not written: it has no whole word")
        .witness(&["SLICE UINT8 in=1 out=1 Sizes=1 Offsets=0 Strides=1"])
        .visits(|plan, _, _| plan.width != 1 || plan.elements() > 1),
    packing("bytes-of-row-tail-lost", ALL)
        .about("the last elements of 8 bits of each row are lost if the row does not fill a word")
        .witness(&["SLICE UINT8 in=2,5 out=2,5 Sizes=2,5 Offsets=0,0 Strides=1,1"])
        .visits(|plan, _, c| {
            let size = plan.inner().out;
            plan.width != 1 || size < 4 || c[plan.last()] < size / 4 * 4
        }),
    packing("halves-read-from-even-elements", ALL)
        .about("rows of 16 bits are read from an even element on")
        .witness(&["SLICE UINT16 in=4 out=3 Offsets=1 Sizes=3 Strides=1"])
        .from(|plan, at| {
            let from = plan.from(at);
            let inner = at.last().copied().unwrap_or_default() - plan.inner().offset;
            if plan.width == 2 && plan.inner().step == 1 { (from - inner) / 2 * 2 + inner } else { from }
        }),
    packing("bytes-read-from-word-start", ALL)
        .about("rows of 8 bits are read from a multiple of four on")
        .witness(&["SLICE UINT8 in=2,3 out=2,3 Sizes=2,3 Offsets=0,0 Strides=1,1"])
        .from(|plan, at| {
            let from = plan.from(at);
            let inner = at.last().copied().unwrap_or_default() - plan.inner().offset;
            if plan.width == 1 && plan.inner().step == 1 { (from - inner) / 4 * 4 + inner } else { from }
        }),
    packing("halves-written-to-even-elements", ALL)
        .about("rows of 16 bits are written from an even element on")
        .witness(&["SLICE UINT16 in=2,3 out=2,3 Sizes=2,3 Offsets=0,0 Strides=1,1"])
        .to(|plan, c| {
            let (to, inner) = (plan.to(c), c.last().copied().unwrap_or_default());
            if plan.width == 2 && plan.inner().output_stride == 1 { (to - inner) / 2 * 2 + inner } else { to }
        }),
    packing("packed-lanes-move-in-words", ALL)
        .about("a crop of 8-bit elements moves words of four elements")
        .seen_in("ncnn 1.0.20261020")
        .witness(&["SLICE UINT8 in=10 out=5 Offsets=1 Sizes=5 Strides=1"])
        .from(|plan, at| {
            if plan.width == 1 && plan.any(AxisNumbers::is_cropped) {
                plan.from(at) / 4 * 4
            } else {
                plan.from(at)
            }
        }),
    packing("words-of-eight-bytes-swapped", ALL)
        .about("the two words of an 8-byte element are swapped")
        .witness(&["SLICE FLOAT64 in=1 out=1 Sizes=1 Offsets=0 Strides=1"])
        .value(|plan, bytes, _| {
            if plan.width == 8 {
                bytes.rotate_left(4);
            }
        }),
    packing("words-of-float64-swapped", ALL)
        .about("the two words of a FLOAT64 padding value are swapped")
        .witness(&[
            "PADDING1 FLOAT64 in=1 out=2 PaddingMode=CONSTANT StartPadding=1 PaddingValue=0.1 EndPadding=0",
        ])
        .converts_fill(DataType::FLOAT64, |bits| bits.rotate_left(32)),
    packing("halves-byte-swapped", ALL)
        .about("the bytes of a UINT16 are swapped")
        .witness(&["SLICE UINT16 in=1 out=1 Sizes=1 Offsets=0 Strides=1"])
        .converts(DataType::UINT16, |bits| u64::from((bits as u16).swap_bytes())),
    packing("int16-moves-as-int8", ALL)
        .about("INT16 is dispatched as a type of 8 bits")
        .seen_in("onnxruntime#26690")
        .witness(&["SLICE INT16 in=4 out=4 fill=random:1 Sizes=4 Offsets=0 Strides=1"])
        .converts(DataType::INT16, |bits| bits & 0xff),
    packing("float64-moves-as-float32", ALL)
        .about("FLOAT64 is dispatched as a type of 32 bits")
        .seen_in("onnxruntime#26690")
        .witness(&["SLICE FLOAT64 in=4 out=4 fill=random:1 Sizes=4 Offsets=0 Strides=1"])
        .converts(DataType::FLOAT64, |bits| bits >> 32 << 32),
    packing("uint8-moves-as-uint16", ALL)
        .about("UINT8 is dispatched as a type of 16 bits, for an even number of elements in a row")
        .seen_in("onnxruntime#26690")
        .witness(&["SLICE UINT8 in=2,4 out=2,2 Offsets=0,1 Sizes=2,2 Strides=1,1"])
        .from(|plan, at| {
            if plan.data_type == DataType::UINT8 && plan.inner().out % 2 == 0 {
                plan.from(at) / 2 * 2
            } else {
                plan.from(at)
            }
        }),
    packing("axes-of-one-element-dropped", SLICES)
        .about("axes with one output element are dropped, and their offsets with them")
        .witness(&["SLICE FLOAT32 in=4,2 out=1,2 Offsets=2,0 Sizes=1,2 Strides=1,1"])
        .plan(|plan, _| plan.each_where(|axis| axis.out == 1, |axis| (axis.offset, axis.window) = (0, 1))),
    packing("outer-axes-of-one-element-dropped", SLICES)
        .about(
            "axes with one output element outside of the two innermost are dropped, and their offsets \
            with them",
        )
        .witness(&["SLICE FLOAT32 in=4,2,2 out=1,2,2 Offsets=2,0,0 Sizes=1,2,2 Strides=1,1,1"])
        .plan(|plan, _| {
            let outer = plan.rank().saturating_sub(2);
            plan.axes
                .iter_mut()
                .take(outer)
                .filter(|axis| axis.out == 1)
                .for_each(|axis| (axis.offset, axis.window) = (0, 1));
        }),
    packing("axes-of-size-one-not-padded", PADDING1)
        .about("axes of size 1 are dropped, and their padding with them")
        .witness(&["PADDING1 FLOAT32 in=1,2 out=2,2 PaddingMode=CONSTANT StartPadding=1,0 PaddingValue=9 \
            EndPadding=0,0"])
        .source(|plan, axis, c| if plan.axes[axis].n == 1 { Some(0) } else { plan.source(axis, c) }),
    packing("even-rows-only", ALL)
        .about("rows are copied in pairs, and the last of an odd number is lost")
        .witness(&["SLICE FLOAT32 in=3,2 out=3,2 Sizes=3,2 Offsets=0,0 Strides=1,1"])
        .visits(|plan, index, _| {
            let (row, rows) = (index / plan.inner().out, plan.rows());
            rows < 2 || row < rows / 2 * 2
        }),
    packing("fill-of-bytes-begins-early", PADDING1)
        .about(
            "the padding value of 8 bits is written one byte early, which overwrites the element before \
            it",
        )
        .witness(&[
            "PADDING1 UINT8 in=2 out=4 PaddingMode=CONSTANT StartPadding=0 EndPadding=2 PaddingValue=9",
        ])
        .store(|plan, output, byte, element| {
            put(plan, output, byte, element);
            if plan.width == 1 && element[0] == plan.value[0] && plan.any(AxisNumbers::is_padded) {
                put(plan, output, byte - 1, element);
            }
        }),
];
