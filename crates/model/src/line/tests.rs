//! Tests of the format: the meaning of lines, round trips of cases, and errors.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use smallvec::{SmallVec, smallvec};

use super::{parse, write};
use crate::{
    BindingOffsets, Case, DataType, Desc, Enumeration, Enumerator, Fill, List, Member, MemberKind, Signature,
    Signatures, Tensor, Value,
};

/// A signature with a member of each kind, and one like SLICE1's.
fn signatures() -> Signatures {
    let enumerators = [("CONSTANT", 0), ("EDGE", 1), ("WRAP", 4)]
        .map(|(name, value)| Enumerator { name: name.to_owned(), value });
    let mode = Enumeration { name: "DML_PADDING_MODE".to_owned(), enumerators: enumerators.into() };
    let signature = |operator: &str, members: Vec<(&str, MemberKind)>| {
        let members =
            members.into_iter().map(|(name, kind)| Member { name: name.to_owned(), kind }).collect();
        Arc::new(Signature { operator: operator.to_owned(), members })
    };
    Signatures::new([
        signature(
            "SLICE1",
            vec![
                ("DimensionCount", MemberKind::Count),
                ("InputWindowOffsets", MemberKind::U32List),
                ("InputWindowSizes", MemberKind::U32List),
                ("InputWindowStrides", MemberKind::I32List),
            ],
        ),
        signature(
            "EVERYTHING",
            vec![
                ("PaddingMode", MemberKind::Enumeration(Arc::new(mode))),
                ("PaddingValueDataType", MemberKind::DataType),
                ("PaddingValue", MemberKind::Scalar),
                ("DimensionCount", MemberKind::Count),
                ("StartPadding", MemberKind::U32List),
                ("Signed", MemberKind::I32),
                ("Unsigned", MemberKind::U32),
                ("Steps", MemberKind::I32List),
            ],
        ),
    ])
}

const EXAMPLE: &str = "SLICE1 FLOAT32 in=1,1,4,4 out=1,1,2,2 InputWindowOffsets=0,0,0,1 \
                       InputWindowSizes=1,1,4,3 InputWindowStrides=1,1,-2,2 fill=iota";

#[test]
fn a_documented_example_reads_as_the_desc_of_the_page() {
    let case = parse(EXAMPLE, &signatures()).unwrap();
    assert_eq!(case.to_string(), EXAMPLE);
    assert_eq!(case.desc.list("InputWindowStrides"), Some(&[1, 1, -2, 2][..]));
    assert_eq!(case.desc.integer("DimensionCount"), Some(4));
    assert_eq!(case.desc.input, Some(Tensor::packed(DataType::FLOAT32, smallvec![1, 1, 4, 4])));
    assert_eq!(case.fill, Fill::Iota);
}

#[test]
fn everything_unusual_is_written_and_in_its_place() {
    for line in [
        "SLICE1 14 in=null out= OutputTensor.DataType=INT8 InputTensor.DimensionCount=3 \
         InputTensor.Flags=1 InputTensor.Strides=7,0 InputTensor.TotalTensorSizeInBytes=18446744073709551615 \
         InputTensor.GuaranteedBaseOffsetAlignment=256 DimensionCount=9 InputWindowOffsets=null \
         InputWindowSizes= InputWindowStrides=-2147483648 InputBinding.Offset=16 OutputBinding.Offset=8 \
         fill=explicit:00ff",
        "SLICE1 FLOAT16 out=2 InputTensor=null DimensionCount=1 InputWindowOffsets=0 InputWindowSizes=1 \
         InputWindowStrides=1 fill=coordinates:3",
        "SLICE1 UNKNOWN InputTensor=null OutputTensor=null InputWindowOffsets=0 InputWindowSizes=1 \
         InputWindowStrides=1 fill=special:7",
        "EVERYTHING FLOAT32 in=1 out=2 PaddingMode=WRAP PaddingValueDataType=INT8 PaddingValue=nan:0x7fc00001 \
         StartPadding=1 Signed=-1 Unsigned=4294967295 Steps=-1 fill=coordinates",
        "EVERYTHING INT8 in=1 out=2 PaddingMode=-1 PaddingValueDataType=99 PaddingValue=0x00000000000001ff \
         StartPadding=1 Steps=0 fill=random:18446744073709551615",
    ] {
        let case = parse(line, &signatures()).unwrap_or_else(|error| panic!("{line}\n{error:?}"));
        let mut words: Vec<_> = line.split_whitespace().collect();
        let written = case.to_string();
        let mut back: Vec<_> = written.split_whitespace().collect();
        words.sort_unstable();
        back.sort_unstable();
        assert_eq!(back, words);
        assert_eq!(parse(&written, &signatures()), Ok(case));
    }
}

#[test]
fn order_and_blanks_are_free_and_the_usual_need_not_be_said() {
    let shuffled = "  SLICE1 FLOAT32\tInputWindowStrides=1,1,-2,2 InputWindowSizes=1,1,4,3 out=1,1,2,2 \
                    InputTensor.Flags=0 DimensionCount=4 InputWindowOffsets=0,0,0,1 in=1,1,4,4 ";
    assert_eq!(parse(shuffled, &signatures()), parse(EXAMPLE, &signatures()));
    let short = "EVERYTHING FLOAT32 in=1 out=2 PaddingMode=1 StartPadding=1 Steps=1 PaddingValue=0x9";
    assert_eq!(
        parse(short, &signatures()).unwrap().desc.scalar("PaddingValue"),
        Some([9, 0, 0, 0, 0, 0, 0, 0])
    );
}

#[test]
fn fills_of_any_extent_are_legal() {
    let fill = |fill: &str| {
        let line = format!(
            "SLICE1 UINT8 in=4 out=4 InputWindowOffsets=0 InputWindowSizes=4 InputWindowStrides=1 fill={fill}"
        );
        let case = parse(&line, &signatures()).expect("the line is well formed");
        assert_eq!(case.to_string(), line);
        case.fill
    };
    for length in [0, 1, 4, 9] {
        assert_eq!(
            fill(&format!("explicit:{}", "ab".repeat(length))),
            Fill::Explicit(vec![0xAB; length].into())
        );
    }
    assert_eq!(fill("coordinates:255"), Fill::Coordinates { pass: 255 });
}

/// The part of a line that a mistake's span covers, its message and its help.
fn mistake(line: &str) -> (String, String, String) {
    let error = parse(line, &signatures()).expect_err(line);
    (line[error.span].to_owned(), error.message, error.help)
}

#[test]
fn mistakes_are_placed_explained_and_remedied() {
    let everything = |rest: &str| format!("EVERYTHING INT8 in=1 out=1 {rest}");
    for (line, span, message, help) in [
        ("", "", "the line is empty", "an operator comes first: SLICE1, EVERYTHING"),
        ("SLICE2 FLOAT32", "SLICE2", "`SLICE2` is not an operator", "did you mean `SLICE1`?"),
        ("TILE FLOAT32", "TILE", "`TILE` is not an operator", "known are SLICE1, EVERYTHING"),
        ("SLICE1", "", "the data type is missing", "it comes second, such as FLOAT32"),
        ("SLICE1 FLOAT23", "FLOAT23", "`FLOAT23` is not a data type", "did you mean `FLOAT32`?"),
        ("SLICE1 4294967296", "4294967296", "`4294967296` does not fit UINT", "UINT holds 0 to 4294967295"),
        ("SLICE1 INT8 in", "in", "`in` is not of the form key=value", "without blanks"),
        ("SLICE1 INT8 in=1 in=1", "in", "`in` is given twice", "keep one"),
        ("SLICE1 INT8 in=1,-1", "-1", "`-1` does not fit UINT", "UINT holds 0 to 4294967295"),
        ("SLICE1 INT8 in=1,,1", "", "a number is missing", "write a decimal integer"),
        ("SLICE1 INT8 in=1,x", "x", "`x` is not a number", "write a decimal integer"),
        ("SLICE1 INT8 in=0x10", "0x10", "`0x10` is not a number", "write a decimal integer"),
        (
            "SLICE1 INT8 InputWindowStride=1",
            "InputWindowStride",
            "`InputWindowStride` is not a member of SLICE1",
            "did you mean `InputWindowStrides`?",
        ),
        (
            "SLICE1 INT8 InputTensor.Stride=1",
            "InputTensor.Stride",
            "`InputTensor.Stride` is not a member",
            "did you mean `InputTensor.Strides`?",
        ),
        ("SLICE1 INT8 in=1 out=1", "", "`InputWindowOffsets=` is missing", "or `null` for a null pointer"),
        ("SLICE1 INT8 out=1", "", "the sizes of InputTensor are missing", "`InputTensor=null`"),
        ("SLICE1 INT8 InputTensor=null in=1", "in=1", "`in=1` speaks of a tensor", "leave it out"),
        ("SLICE1 INT8 in=1 InputTensor=null", "in=1", "`in=1` speaks of a tensor", "leave it out"),
        ("SLICE1 INT8 InputTensor=1,2", "1,2", "a tensor is said field by field", "`in=` and `out=`"),
        (
            "SLICE1 INT8 InputWindowStrides=2147483648",
            "2147483648",
            "`2147483648` does not fit INT",
            "INT holds -2147483648 to 2147483647",
        ),
        ("SLICE1 INT8 \0", "\0", "the control character '\\0' does not belong", "one line"),
        ("SLICE1 INT8 in=1\nout=1", "\n", "the control character '\\n' does not belong", "one line"),
        ("SLICE1 INT8 fill=itoa", "itoa", "`itoa` is not a fill", "did you mean `iota`?"),
        ("SLICE1 INT8 fill=random", "random", "`random` needs a seed", "write `random:0`"),
        ("SLICE1 INT8 fill=iota:1", "iota:1", "`iota` takes no parameter", "write `fill=iota`"),
        ("SLICE1 INT8 fill=explicit:0g", "g", "`g` is not a hex digit", "two hex digits each"),
        ("SLICE1 INT8 fill=explicit:abc", "abc", "half a byte is missing", "two hex digits each"),
        ("SLICE1 INT8 fill=coordinates:256", "256", "`256` does not fit UINT8", "UINT8 holds 0 to 255"),
        (
            &everything("PaddingMode=EGDE"),
            "EGDE",
            "`EGDE` is not an enumerator of DML_PADDING_MODE",
            "did you mean `EDGE`?",
        ),
        (
            &everything("PaddingMode=REFLECTION"),
            "REFLECTION",
            "`REFLECTION` is not an enumerator of DML_PADDING_MODE",
            "known are CONSTANT, EDGE, WRAP",
        ),
        (&everything("Steps="), "", "`PaddingMode=` is missing", "one of CONSTANT, EDGE, WRAP, or a number"),
        (&everything("PaddingValue=128"), "128", "`128` does not fit INT8", "`0x` and up to 16 hex digits"),
        (&everything("PaddingValue=0x00000000000000000"), "0x00000000000000000", "", ""),
        (&everything("PaddingValue=0x+1"), "0x+1", "`0x+1` is not eight bytes in hex", "up to 16 hex digits"),
        (&everything(&format!("Steps={}", "1,".repeat(70))), &"1,".repeat(70), "more than 64", "have 8"),
    ] {
        let (found_span, found_message, found_help) = mistake(line);
        assert_eq!(found_span, span, "{line}: {found_message}");
        assert!(found_message.contains(message), "{line}: {found_message}");
        assert!(found_help.contains(help), "{line}: {found_help}");
    }
}

fn uint() -> impl Strategy<Value = i64> {
    prop_oneof![0..20i64, 0..=i64::from(u32::MAX), Just(i64::from(u32::MAX))]
}

fn int() -> impl Strategy<Value = i64> {
    prop_oneof![-9..9i64, i64::from(i32::MIN)..=i64::from(i32::MAX), Just(i64::from(i32::MIN))]
}

fn list(value: impl Strategy<Value = i64>) -> impl Strategy<Value = Option<List>> {
    proptest::option::weighted(0.9, vec(value, 0..16).prop_map(List::from_vec))
}

fn data_type() -> impl Strategy<Value = DataType> {
    prop_oneof![0..16u32, any::<u32>()].prop_map(DataType)
}

fn tensor() -> impl Strategy<Value = Option<Tensor>> {
    let fields = (
        data_type(),
        prop_oneof![Just(0), any::<u32>()],
        proptest::option::of(any::<u32>()),
        list(uint()),
        proptest::option::of(list(uint())),
        proptest::option::of(any::<u64>()),
        prop_oneof![Just(0), any::<u32>()],
    );
    let tensor = fields.prop_map(|(data_type, flags, count, sizes, strides, total_size, alignment)| {
        let usual_count = sizes.as_ref().map_or(0, SmallVec::len) as u32;
        let strides = strides.flatten();
        let dimension_count = count.unwrap_or(usual_count);
        let mut tensor =
            Tensor { data_type, flags, dimension_count, sizes, strides, total_size: 0, alignment };
        tensor.total_size = total_size.unwrap_or_else(|| tensor.usual_total_size());
        tensor
    });
    proptest::option::weighted(0.9, tensor)
}

fn member_value(kind: &MemberKind) -> BoxedStrategy<Value> {
    match kind {
        MemberKind::Count | MemberKind::U32 => uint().prop_map(Value::Integer).boxed(),
        MemberKind::I32 | MemberKind::Enumeration(_) => int().prop_map(Value::Integer).boxed(),
        MemberKind::DataType => data_type().prop_map(|code| Value::Integer(code.0.into())).boxed(),
        MemberKind::U32List => list(uint()).prop_map(Value::List).boxed(),
        MemberKind::I32List => list(int()).prop_map(Value::List).boxed(),
        MemberKind::Scalar => {
            let bits = prop_oneof![Just(0), 0..256u64, any::<u32>().prop_map(u64::from), any::<u64>()];
            bits.prop_map(|bits| Value::Scalar(bits.to_le_bytes())).boxed()
        }
    }
}

fn fill() -> impl Strategy<Value = Fill> {
    prop_oneof![
        Just(Fill::Iota),
        any::<u8>().prop_map(|pass| Fill::Coordinates { pass }),
        any::<u64>().prop_map(|seed| Fill::Random { seed }),
        any::<u64>().prop_map(|seed| Fill::Special { seed }),
        vec(any::<u8>(), 0..20).prop_map(|bytes| Fill::Explicit(bytes.into())),
    ]
}

fn case() -> impl Strategy<Value = Case> {
    let signatures: Vec<_> = signatures().iter().cloned().collect();
    proptest::sample::select(signatures).prop_flat_map(|signature| {
        let members: Vec<_> = signature.members.iter().map(|member| member_value(&member.kind)).collect();
        let binding = prop_oneof![Just((0, 0)), any::<(u64, u64)>()];
        (tensor(), tensor(), members, binding, fill()).prop_map(
            move |(input, output, members, binding, fill)| {
                let signature = Arc::clone(&signature);
                let desc = Desc { signature, input, output, members: members.into() };
                Case {
                    desc: Box::new(desc),
                    binding: BindingOffsets { input: binding.0, output: binding.1 },
                    fill,
                }
            },
        )
    })
}

proptest! {
    #[test]
    fn every_case_survives(case in case()) {
        let mut line = String::new();
        write(&case, &mut line);
        prop_assert!(!line.contains(['"', '\'', '$', '`', '\\', '*', ';', '&', '|', '<', '>', '%', '!']));
        let back = parse(&line, &signatures());
        prop_assert_eq!(back.as_ref(), Ok(&case), "{}", line);
    }

    #[test]
    fn no_text_panics_and_spans_lie_on_letters(
        text in ".*",
        operator in "SLICE1|EVERYTHING",
        rest in "( (in|out|fill|Steps|PaddingValue|PaddingMode|InputTensor\\.Flags)=[-,0-9a-z:é]{0,6}){0,6}",
    ) {
        for line in [text, format!("{operator} INT8{rest}")] {
            match parse(&line, &signatures()) {
                Ok(case) => prop_assert_eq!(parse(&case.to_string(), &signatures()), Ok(case)),
                Err(error) => prop_assert!(line.get(error.span).is_some()),
            }
        }
    }
}
