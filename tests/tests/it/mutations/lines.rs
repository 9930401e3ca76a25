//! Cases for the conditions that decide no verdict: notes, and rules of bindings. Each line lists the notes
//! that it meets or the rules that it breaks, worked out by hand.

use dmlcts_model::{FeatureLevel, line};
use dmlcts_spec::{Coverage, Library, Obligation, Scratch};

const BROADCAST: &str = "broadcast";
const WRITTEN: &str = "written-bytes";
const IDENTITY: &str = "identity";
const LEAST: &str = "least-stride";
const GREATEST: &str = "greatest-stride";
const BEYOND: &str = "stride-beyond-window";
const VALUE: &str = "value-bytes";
const HALF: &str = "value-float16";
const NOTHING: &str = "no-padding";

/// Valid cases, and the notes that each of them meets.
#[rustfmt::skip]
const NOTES: &[(&str, &[&str])] = &[
    // A stride of 0 repeats elements on an axis of two or more elements.
    ("SLICE FLOAT32 in=2,3 out=1,1 InputTensor.Strides=0,1 Offsets=1,1 Sizes=1,1 Strides=1,1", &[BROADCAST]),
    ("SLICE FLOAT32 in=1,3 out=1,1 InputTensor.Strides=0,1 Offsets=0,1 Sizes=1,1 Strides=1,1", &[]),
    ("SLICE FLOAT32 in=3,3 out=1,1 InputTensor.Strides=3,1 Offsets=0,1 Sizes=1,1 Strides=1,1", &[]),
    // 12 elements of 4 bytes, and then 4 bytes more.
    ("SLICE FLOAT32 in=9,9 out=3,4 Offsets=1,1 Sizes=3,4 Strides=1,1", &[]),
    ("SLICE FLOAT32 in=9,9 out=3,4 OutputTensor.TotalTensorSizeInBytes=52 Offsets=1,1 Sizes=3,4 Strides=1,1", &[WRITTEN]),
    // 2 elements of 1 byte in 4 bytes.
    ("SLICE UINT8 in=9 out=2 Offsets=1 Sizes=2 Strides=1", &[WRITTEN]),
    // The whole tensor; then with an offset, with fewer elements, and with a stride of 2 on one axis.
    ("SLICE FLOAT32 in=3,4 out=3,4 Offsets=0,0 Sizes=3,4 Strides=1,1", &[IDENTITY]),
    ("SLICE FLOAT32 in=3,4 out=3,3 Offsets=0,1 Sizes=3,3 Strides=1,1", &[]),
    ("SLICE FLOAT32 in=3,4 out=3,3 Offsets=0,0 Sizes=3,3 Strides=1,1", &[]),
    ("SLICE FLOAT32 in=3,4 out=3,2 Offsets=0,0 Sizes=3,2 Strides=1,2", &[]),
    ("SLICE FLOAT32 in=3,1 out=3,1 Offsets=0,0 Sizes=3,1 Strides=1,2", &[]),
    ("SLICE1 FLOAT32 in=3,4 out=3,4 InputWindowOffsets=0,0 InputWindowSizes=3,4 InputWindowStrides=1,1", &[IDENTITY]),
    ("SLICE1 FLOAT32 in=3,4 out=3,3 InputWindowOffsets=0,1 InputWindowSizes=3,3 InputWindowStrides=1,1", &[]),
    ("SLICE1 FLOAT32 in=3,4 out=3,3 InputWindowOffsets=0,0 InputWindowSizes=3,3 InputWindowStrides=1,1", &[]),
    ("SLICE1 FLOAT32 in=3,4 out=3,3 InputWindowOffsets=0,0 InputWindowSizes=3,4 InputWindowStrides=1,1", &[]),
    ("SLICE1 FLOAT32 in=3,4 out=3,4 InputWindowOffsets=0,0 InputWindowSizes=3,4 InputWindowStrides=1,-1", &[]),
    ("SLICE1 FLOAT32 in=3,1 out=3,1 InputWindowOffsets=0,0 InputWindowSizes=3,1 InputWindowStrides=1,-1", &[]),
    ("SLICE1 FLOAT32 in=3,1 out=3,1 InputWindowOffsets=0,0 InputWindowSizes=3,1 InputWindowStrides=1,2", &[BEYOND]),
    // -2^31 and 2^31 - 1 on one of two axes, and their neighbours.
    ("SLICE1 FLOAT32 in=4,5 out=4,1 InputWindowOffsets=0,0 InputWindowSizes=4,5 InputWindowStrides=1,-2147483648", &[LEAST, BEYOND]),
    ("SLICE1 FLOAT32 in=4,5 out=4,1 InputWindowOffsets=0,0 InputWindowSizes=4,5 InputWindowStrides=1,-2147483647", &[BEYOND]),
    ("SLICE1 FLOAT32 in=4,5 out=4,1 InputWindowOffsets=0,0 InputWindowSizes=4,5 InputWindowStrides=1,2147483647", &[GREATEST, BEYOND]),
    ("SLICE1 FLOAT32 in=4,5 out=4,1 InputWindowOffsets=0,0 InputWindowSizes=4,5 InputWindowStrides=1,2147483646", &[BEYOND]),
    // A stride of the window's size, and one more, in both directions.
    ("SLICE1 FLOAT32 in=4,5 out=4,1 InputWindowOffsets=0,0 InputWindowSizes=4,5 InputWindowStrides=1,5", &[]),
    ("SLICE1 FLOAT32 in=4,5 out=4,1 InputWindowOffsets=0,0 InputWindowSizes=4,5 InputWindowStrides=1,-5", &[]),
    ("SLICE1 FLOAT32 in=4,5 out=4,1 InputWindowOffsets=0,0 InputWindowSizes=4,5 InputWindowStrides=1,6", &[BEYOND]),
    ("SLICE1 FLOAT32 in=4,5 out=4,1 InputWindowOffsets=0,0 InputWindowSizes=4,5 InputWindowStrides=1,-6", &[BEYOND]),
    // The value of a FLOAT16 takes 2 bytes of 8: one spare byte is set, all, or none.
    ("PADDING1 FLOAT16 in=3,4 out=3,6 PaddingMode=CONSTANT StartPadding=0,1 EndPadding=0,1 PaddingValue=0x0000000000010000", &[VALUE, HALF]),
    ("PADDING1 FLOAT16 in=3,4 out=3,6 PaddingMode=CONSTANT StartPadding=0,1 EndPadding=0,1 PaddingValue=0xffffffffffff3c00", &[VALUE, HALF]),
    ("PADDING1 FLOAT16 in=3,4 out=3,6 PaddingMode=CONSTANT StartPadding=0,1 EndPadding=0,1 PaddingValue=0x0000000000003c00", &[HALF]),
    ("PADDING1 FLOAT16 in=3,4 out=3,6 PaddingMode=EDGE StartPadding=0,1 EndPadding=0,1 PaddingValue=0x0000000000013c00", &[]),
    ("PADDING1 INT16 in=3,4 out=3,6 PaddingMode=CONSTANT StartPadding=0,1 EndPadding=0,1 PaddingValue=0x0000000000013c00", &[VALUE]),
    // Padding on one side of one axis is enough, and without padding the value is not written.
    ("PADDING1 FLOAT16 in=3,4 out=4,4 PaddingMode=CONSTANT StartPadding=1,0 EndPadding=0,0 PaddingValue=0x0000000000013c00", &[VALUE, HALF]),
    ("PADDING1 FLOAT16 in=3,4 out=4,4 PaddingMode=CONSTANT StartPadding=0,0 EndPadding=1,0 PaddingValue=0x0000000000013c00", &[VALUE, HALF]),
    ("PADDING1 FLOAT16 in=3,4 out=4,5 PaddingMode=CONSTANT StartPadding=1,1 EndPadding=0,0 PaddingValue=0x0000000000013c00", &[VALUE, HALF]),
    ("PADDING1 FLOAT16 in=3,4 out=3,4 PaddingMode=CONSTANT StartPadding=0,0 EndPadding=0,0 PaddingValue=0x0000000000013c00", &[NOTHING]),
    ("PADDING1 FLOAT16 in=3,4 out=4,4 PaddingMode=EDGE StartPadding=0,0 EndPadding=1,0", &[]),
];

/// Cases, and the rules of bindings that each of them breaks.
#[rustfmt::skip]
const BINDINGS: &[(&str, &[&str])] = &[
    ("SLICE UINT8 in=4 out=4 Offsets=0 Sizes=4 Strides=1 InputBinding.Offset=0", &[]),
    ("SLICE UINT8 in=4 out=4 Offsets=0 Sizes=4 Strides=1 InputBinding.Offset=16", &[]),
    ("SLICE UINT8 in=4 out=4 Offsets=0 Sizes=4 Strides=1 OutputBinding.Offset=32", &[]),
    ("SLICE UINT8 in=4 out=4 Offsets=0 Sizes=4 Strides=1 InputBinding.Offset=15", &["offset-minimum"]),
    ("SLICE UINT8 in=4 out=4 Offsets=0 Sizes=4 Strides=1 OutputBinding.Offset=8", &["offset-minimum"]),
    ("SLICE UINT8 in=4 out=4 Offsets=0 Sizes=4 Strides=1 InputBinding.Offset=17", &["offset-minimum"]),
    ("SLICE UINT8 in=4 out=4 Offsets=0 Sizes=4 Strides=1 InputTensor.GuaranteedBaseOffsetAlignment=64 InputBinding.Offset=64", &[]),
    ("SLICE UINT8 in=4 out=4 Offsets=0 Sizes=4 Strides=1 InputTensor.GuaranteedBaseOffsetAlignment=64 InputBinding.Offset=48", &["offset-guaranteed"]),
    ("SLICE UINT8 in=4 out=4 Offsets=0 Sizes=4 Strides=1 InputTensor.GuaranteedBaseOffsetAlignment=64 InputBinding.Offset=80", &["offset-guaranteed"]),
    ("SLICE UINT8 in=4 out=4 Offsets=0 Sizes=4 Strides=1 OutputTensor.GuaranteedBaseOffsetAlignment=32 OutputBinding.Offset=16", &["offset-guaranteed"]),
];

/// The first line for which a library finds other notes or broken rules than those listed.
pub(crate) fn notice(library: &Library) -> Option<String> {
    let is_known = |text: &str| text.split(' ').next().is_some_and(|name| library.operator(name).is_some());
    let other = |lines: &'static [(&str, &[&str])], found: fn(&Library, &str) -> Vec<String>| {
        let mut lines = lines.iter().filter(|(text, _)| is_known(text));
        lines
            .find(|(text, ids)| found(library, text) != *ids)
            .map(|(text, _)| format!("{text} {:?}", found(library, text)))
    };
    other(NOTES, notes).or_else(|| other(BINDINGS, broken))
}

/// The notes that a case meets, without the operator's name.
fn notes(library: &Library, text: &str) -> Vec<String> {
    let case = line::parse(text, library.signatures()).unwrap_or_else(|error| panic!("{text}: {error}"));
    let operator = library.operator(&case.desc.signature.operator).expect("the line named it");
    let (level, mut scratch, mut coverage) =
        (FeatureLevel::NEWEST, Scratch::default(), Coverage::new(library));
    let judgement = operator.judge(&case.desc, level, &mut scratch);
    coverage.mark(operator, &case.desc, level, judgement, &mut scratch);
    let met = |place: &usize| coverage.met(operator, Obligation::Note(*place));
    let places = (0..operator.notes().len()).filter(met);
    places.filter_map(|place| Some(operator.notes()[place].id.split_once('.')?.1.to_owned())).collect()
}

/// The rules of bindings that a case breaks.
fn broken(library: &Library, text: &str) -> Vec<String> {
    let case = line::parse(text, library.signatures()).unwrap_or_else(|error| panic!("{text}: {error}"));
    library.broken_bindings(&case).into_iter().map(|rule| rule.id.clone()).collect()
}
