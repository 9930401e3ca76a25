//! Faults of element values: numbers that pass through arithmetic, and the bytes of the padding value.

use dmlcts_model::DataType;

use crate::{
    fault::bits,
    kernel::OperatorKind,
    mutant::{ALL, Mutant, PADDING1},
};

/// The masks of a float type's sign, exponent and fraction.
struct Float {
    sign: u64,
    exponent: u64,
    fraction: u64,
}

const HALF: Float = Float::new(16, 10);
const SINGLE: Float = Float::new(32, 23);
const DOUBLE: Float = Float::new(64, 52);

impl Float {
    const fn new(length: u32, of_fraction: u32) -> Self {
        let (sign, fraction) = (1 << (length - 1), (1 << of_fraction) - 1);
        Self { sign, exponent: sign - 1 - fraction, fraction }
    }

    /// The masks of a type; `None` for an integer.
    const fn of(data_type: DataType) -> Option<Self> {
        match data_type {
            DataType::FLOAT16 => Some(HALF),
            DataType::FLOAT32 => Some(SINGLE),
            DataType::FLOAT64 => Some(DOUBLE),
            _ => None,
        }
    }

    /// Makes a NaN quiet.
    fn quieten(&self, bits: u64) -> u64 {
        let is_nan = bits & self.exponent == self.exponent && bits & self.fraction != 0;
        if is_nan { bits | (self.fraction + 1) >> 1 } else { bits }
    }

    /// Makes a negative zero positive.
    fn lose_sign_of_zero(&self, bits: u64) -> u64 {
        if bits == self.sign { 0 } else { bits }
    }

    /// Makes a denormal a zero of the same sign.
    fn flush(&self, bits: u64) -> u64 {
        if bits & self.exponent == 0 { bits & self.sign } else { bits }
    }
}

pub(crate) const MUTANTS: &[Mutant] = &[
    Mutant::new("float32-nan-quietened", ALL)
        .about("a signalling NaN of FLOAT32 becomes quiet")
        .witness(&["SLICE FLOAT32 in=1 out=1 fill=explicit:0100807f Sizes=1 Offsets=0 Strides=1"])
        .converts(DataType::FLOAT32, |bits| SINGLE.quieten(bits)),
    Mutant::new("float16-nan-quietened", ALL)
        .about("a signalling NaN of FLOAT16 becomes quiet")
        .seen_in("ONNX Runtime 1.31, 1.32")
        .witness(&["SLICE FLOAT16 in=1 out=1 fill=explicit:017c Sizes=1 Offsets=0 Strides=1"])
        .converts(DataType::FLOAT16, |bits| HALF.quieten(bits)),
    Mutant::new("float64-nan-quietened", ALL)
        .about("a signalling NaN of FLOAT64 becomes quiet")
        .witness(&["SLICE FLOAT64 in=1 out=1 fill=explicit:010000000000f07f Sizes=1 Offsets=0 Strides=1"])
        .converts(DataType::FLOAT64, |bits| DOUBLE.quieten(bits)),
    Mutant::new("float32-nan-canonical", ALL)
        .about("every NaN of FLOAT32 becomes the canonical one")
        .seen_in("GPU")
        .witness(&["SLICE FLOAT32 in=1 out=1 fill=explicit:0100c07f Sizes=1 Offsets=0 Strides=1"])
        .converts(
            DataType::FLOAT32,
            |bits| {
                if f32::from_bits(bits as u32).is_nan() { 0x7fc0_0000 } else { bits }
            },
        ),
    Mutant::new("float16-nan-loses-low-bits", ALL)
        .about("a NaN of FLOAT16 keeps only the highest bit of its payload")
        .seen_in("ONNX Runtime 1.31, 1.32")
        .witness(&["SLICE FLOAT16 in=1 out=1 fill=explicit:017e Sizes=1 Offsets=0 Strides=1"])
        .converts(DataType::FLOAT16, |bits| if bits & 0x7c00 == 0x7c00 { bits & 0xfe00 } else { bits }),
    Mutant::new("float32-zero-loses-sign", ALL)
        .about("a FLOAT32 of -0 becomes 0")
        .seen_in("OpenVINO 2026.4.1")
        .witness(&["SLICE FLOAT32 in=1 out=1 fill=explicit:00000080 Sizes=1 Offsets=0 Strides=1"])
        .converts(DataType::FLOAT32, |bits| SINGLE.lose_sign_of_zero(bits)),
    Mutant::new("float16-zero-loses-sign", ALL)
        .about("a FLOAT16 of -0 becomes 0")
        .witness(&["SLICE FLOAT16 in=1 out=1 fill=explicit:0080 Sizes=1 Offsets=0 Strides=1"])
        .converts(DataType::FLOAT16, |bits| HALF.lose_sign_of_zero(bits)),
    Mutant::new("float64-zero-loses-sign", ALL)
        .about("a FLOAT64 of -0 becomes 0")
        .witness(&["SLICE FLOAT64 in=1 out=1 fill=explicit:0000000000000080 Sizes=1 Offsets=0 Strides=1"])
        .converts(DataType::FLOAT64, |bits| DOUBLE.lose_sign_of_zero(bits)),
    Mutant::new("float32-denormals-flushed", ALL)
        .about("denormals of FLOAT32 become 0")
        .seen_in("GPU")
        .witness(&["SLICE FLOAT32 in=1 out=1 fill=explicit:01000000 Sizes=1 Offsets=0 Strides=1"])
        .converts(DataType::FLOAT32, |bits| SINGLE.flush(bits)),
    Mutant::new("float16-denormals-flushed", ALL)
        .about("denormals of FLOAT16 become 0")
        .seen_in("GPU")
        .witness(&["SLICE FLOAT16 in=1 out=1 fill=explicit:0100 Sizes=1 Offsets=0 Strides=1"])
        .converts(DataType::FLOAT16, |bits| HALF.flush(bits)),
    Mutant::new("float64-denormals-flushed", ALL)
        .about("denormals of FLOAT64 become 0")
        .seen_in("GPU")
        .witness(&["SLICE FLOAT64 in=1 out=1 fill=explicit:0100000000000000 Sizes=1 Offsets=0 Strides=1"])
        .converts(DataType::FLOAT64, |bits| DOUBLE.flush(bits)),
    Mutant::new("float32-negative-denormal-loses-sign", ALL)
        .about("a negative denormal of FLOAT32 becomes positive")
        .seen_in("GPU")
        .witness(&["SLICE FLOAT32 in=1 out=1 fill=explicit:01000080 Sizes=1 Offsets=0 Strides=1"])
        .converts(DataType::FLOAT32, |bits| if bits & 0x7f80_0000 == 0 { bits & 0x7fff_ffff } else { bits }),
    Mutant::new("float32-infinity-saturates", ALL)
        .about("infinities of FLOAT32 become the largest number")
        .seen_in("GPU")
        .witness(&["SLICE FLOAT32 in=1 out=1 fill=explicit:0000807f Sizes=1 Offsets=0 Strides=1"])
        .converts(
            DataType::FLOAT32,
            |bits| {
                if f32::from_bits(bits as u32).is_infinite() { bits - 1 } else { bits }
            },
        ),
    Mutant::new("float16-in-bfloat16", ALL)
        .about("a FLOAT16 loses the three lowest bits of its fraction on the way through a BFLOAT16")
        .witness(&["SLICE FLOAT16 in=1 out=1 fill=explicit:013c Sizes=1 Offsets=0 Strides=1"])
        .converts(DataType::FLOAT16, |bits| bits & 0xfff8),
    Mutant::new("float64-in-float32", ALL)
        .about("a FLOAT64 passes through a float")
        .seen_in("Chromium's WebNN, TensorFlow-DirectML")
        .witness(&["SLICE FLOAT64 in=1 out=1 fill=explicit:010000000000f03f Sizes=1 Offsets=0 Strides=1"])
        .converts(DataType::FLOAT64, |bits| f64::from(f64::from_bits(bits) as f32).to_bits()),
    Mutant::new("int64-in-double", ALL)
        .about("an INT64 passes through a double")
        .seen_in("pytorch#170798")
        .witness(&["SLICE INT64 in=1 out=1 fill=explicit:0100000000002000 Sizes=1 Offsets=0 Strides=1"])
        .converts(DataType::INT64, |bits| (bits as i64 as f64) as i64 as u64),
    Mutant::new("uint64-in-double", ALL)
        .about("a UINT64 passes through a double")
        .seen_in("pytorch#170798")
        .witness(&["SLICE UINT64 in=1 out=1 fill=explicit:0100000000002000 Sizes=1 Offsets=0 Strides=1"])
        .converts(DataType::UINT64, |bits| (bits as f64) as u64),
    Mutant::new("uint64-in-int64", ALL)
        .about("a UINT64 is clamped to the range of INT64")
        .witness(&["SLICE UINT64 in=1 out=1 fill=explicit:0000000000000080 Sizes=1 Offsets=0 Strides=1"])
        .converts(DataType::UINT64, |bits| bits.min(i64::MAX as u64)),
    Mutant::new("int32-in-float", ALL)
        .about("an INT32 passes through a float")
        .seen_in("Chromium's WebNN, TensorFlow-DirectML")
        .witness(&["SLICE INT32 in=1 out=1 fill=explicit:01000001 Sizes=1 Offsets=0 Strides=1"])
        .converts(DataType::INT32, |bits| u64::from((bits as i32 as f32) as i32 as u32)),
    Mutant::new("uint32-in-float", ALL)
        .about("a UINT32 passes through a float")
        .seen_in("Chromium's WebNN, TensorFlow-DirectML")
        .witness(&["SLICE UINT32 in=1 out=1 fill=explicit:01000001 Sizes=1 Offsets=0 Strides=1"])
        .converts(DataType::UINT32, |bits| u64::from((bits as u32 as f32) as u32)),
    Mutant::new("uint32-in-int32", ALL)
        .about("a UINT32 is clamped to the range of INT32")
        .witness(&["SLICE UINT32 in=1 out=1 fill=explicit:00000080 Sizes=1 Offsets=0 Strides=1"])
        .converts(DataType::UINT32, |bits| bits.min(0x7fff_ffff)),
    Mutant::new("uint16-in-half", ALL)
        .about("a UINT16 passes through half precision, which rounds above 2048")
        .seen_in("GPU")
        .witness(&["SLICE UINT16 in=1 out=1 fill=explicit:0108 Sizes=1 Offsets=0 Strides=1"])
        .converts(DataType::UINT16, |bits| {
            let drop = (64 - bits.leading_zeros()).saturating_sub(11);
            bits >> drop << drop
        }),
    Mutant::new("int16-in-bfloat16", ALL)
        .about("an INT16 passes through a BFLOAT16, which rounds above 256")
        .seen_in("GPU")
        .witness(&["SLICE INT16 in=1 out=1 fill=explicit:0101 Sizes=1 Offsets=0 Strides=1"])
        .converts(DataType::INT16, |bits| {
            let magnitude = (bits as i16).unsigned_abs();
            let drop = (16 - magnitude.leading_zeros()).saturating_sub(8);
            let kept = magnitude >> drop << drop;
            u64::from(if bits < 0x8000 { kept } else { kept.wrapping_neg() })
        }),
    Mutant::new("int8-in-seven-bits", ALL)
        .about("the smallest INT8 becomes the next larger one, as in symmetric quantisation")
        .seen_in("GPU")
        .witness(&["SLICE INT8 in=1 out=1 fill=explicit:80 Sizes=1 Offsets=0 Strides=1"])
        .converts(DataType::INT8, |bits| if bits == 0x80 { 0x81 } else { bits }),
    Mutant::new("float32-rounded-to-integer", ALL)
        .about("a FLOAT32 is rounded to a whole number, which is right for counting data only")
        .witness(&["SLICE FLOAT32 in=1 out=1 fill=explicit:cdcc8c3f Sizes=1 Offsets=0 Strides=1"])
        .converts(DataType::FLOAT32, |bits| u64::from(f32::from_bits(bits as u32).round().to_bits())),
    Mutant::new("int64-upper-half-zero", ALL)
        .about("the upper half of an INT64 is 0, which is right for small numbers only")
        .seen_in("onnxruntime#26690")
        .witness(&["SLICE INT64 in=1 out=1 fill=explicit:ffffffffffffffff Sizes=1 Offsets=0 Strides=1"])
        .converts(DataType::INT64, |bits| bits & 0xffff_ffff),
    Mutant::new("uint16-upper-byte-zero", ALL)
        .about("the upper byte of a UINT16 is 0, which is right for small numbers only")
        .seen_in("onnxruntime#26690")
        .witness(&["SLICE UINT16 in=1 out=1 fill=explicit:ffff Sizes=1 Offsets=0 Strides=1"])
        .converts(DataType::UINT16, |bits| bits & 0xff),
    Mutant::new("padding-value-int64-in-double", PADDING1)
        .about("a padding value of INT64 passes through a double")
        .seen_in("pytorch#170798")
        .witness(&["PADDING1 INT64 in=1 out=2 PaddingMode=CONSTANT StartPadding=1 \
            PaddingValue=9007199254740993 EndPadding=0"])
        .converts_fill(DataType::INT64, |bits| (bits as i64 as f64) as i64 as u64),
    Mutant::new("padding-value-uint64-in-double", PADDING1)
        .about("a padding value of UINT64 passes through a double")
        .seen_in("pytorch#170798")
        .witness(&["PADDING1 UINT64 in=1 out=2 PaddingMode=CONSTANT StartPadding=1 \
            PaddingValue=9007199254740993 EndPadding=0"])
        .converts_fill(DataType::UINT64, |bits| (bits as f64) as u64),
    Mutant::new("padding-value-int32-in-float", PADDING1)
        .about("a padding value of INT32 passes through a float")
        .seen_in("OpenVINO 2026.4.1")
        .witness(&["PADDING1 INT32 in=1 out=2 PaddingMode=CONSTANT StartPadding=1 PaddingValue=16777217 \
            EndPadding=0"])
        .converts_fill(DataType::INT32, |bits| u64::from((bits as i32 as f32) as i32 as u32)),
    Mutant::new("padding-value-uint32-in-float", PADDING1)
        .about("a padding value of UINT32 passes through a float")
        .seen_in("Chromium's WebNN, TensorFlow-DirectML")
        .witness(&["PADDING1 UINT32 in=1 out=2 PaddingMode=CONSTANT StartPadding=1 PaddingValue=16777217 \
            EndPadding=0"])
        .converts_fill(DataType::UINT32, |bits| u64::from((bits as u32 as f32) as u32)),
    Mutant::new("padding-value-float64-in-float", PADDING1)
        .about("a padding value of FLOAT64 passes through a float")
        .seen_in("Chromium's WebNN, TensorFlow-DirectML")
        .witness(&[
            "PADDING1 FLOAT64 in=1 out=2 PaddingMode=CONSTANT StartPadding=1 PaddingValue=0.1 EndPadding=0",
        ])
        .converts_fill(DataType::FLOAT64, |bits| f64::from(f64::from_bits(bits) as f32).to_bits()),
    Mutant::new("padding-value-float32-in-bfloat16", PADDING1)
        .about("a padding value of FLOAT32 is cut to 16 bits")
        .seen_in("tt-metal#52326")
        .witness(&[
            "PADDING1 FLOAT32 in=1 out=2 PaddingMode=CONSTANT StartPadding=1 PaddingValue=1.1 EndPadding=0",
        ])
        .converts_fill(DataType::FLOAT32, |bits| bits & 0xffff_0000),
    Mutant::new("padding-value-float32-in-half", PADDING1)
        .about("a padding value of FLOAT32 loses the bits that half precision lacks")
        .seen_in("GPU")
        .witness(&[
            "PADDING1 FLOAT32 in=1 out=2 PaddingMode=CONSTANT StartPadding=1 PaddingValue=1.1 EndPadding=0",
        ])
        .converts_fill(DataType::FLOAT32, |bits| bits & 0xffff_e000),
    Mutant::new("padding-value-float32-zero-loses-sign", PADDING1)
        .about("a padding value of -0 in FLOAT32 becomes 0")
        .seen_in("TFLite converter, OpenVINO 2026.4.1")
        .witness(&[
            "PADDING1 FLOAT32 in=1 out=2 PaddingMode=CONSTANT StartPadding=1 PaddingValue=-0 EndPadding=0",
        ])
        .converts_fill(DataType::FLOAT32, |bits| SINGLE.lose_sign_of_zero(bits)),
    Mutant::new("padding-value-float16-zero-loses-sign", PADDING1)
        .about("a padding value of -0 in FLOAT16 becomes 0")
        .seen_in("TFLite converter")
        .witness(&[
            "PADDING1 FLOAT16 in=1 out=2 PaddingMode=CONSTANT StartPadding=1 PaddingValue=-0 EndPadding=0",
        ])
        .converts_fill(DataType::FLOAT16, |bits| HALF.lose_sign_of_zero(bits)),
    Mutant::new("padding-value-nan-quietened", PADDING1)
        .about("a padding value that is a signalling NaN of FLOAT32 becomes quiet")
        .witness(&["PADDING1 FLOAT32 in=1 out=2 PaddingMode=CONSTANT StartPadding=1 \
            PaddingValue=nan:0x7f800001 EndPadding=0"])
        .converts_fill(DataType::FLOAT32, |bits| SINGLE.quieten(bits)),
    Mutant::new("padding-value-denormal-flushed", PADDING1)
        .about("a padding value that is a denormal of FLOAT32 becomes 0")
        .seen_in("GPU")
        .witness(&[
            "PADDING1 FLOAT32 in=1 out=2 PaddingMode=CONSTANT StartPadding=1 PaddingValue=1e-45 EndPadding=0",
        ])
        .converts_fill(DataType::FLOAT32, |bits| SINGLE.flush(bits)),
    Mutant::new("padding-value-loses-sign", PADDING1)
        .about("the sign of an integer padding value is lost")
        .witness(&[
            "PADDING1 INT32 in=1 out=2 PaddingMode=CONSTANT StartPadding=1 PaddingValue=-5 EndPadding=0",
        ])
        .converts_fill(DataType::INT32, |bits| u64::from((bits as i32).unsigned_abs())),
    Mutant::new("padding-value-int8-clamped", PADDING1)
        .about("a padding value of INT8 is clamped to 0 and above")
        .witness(&[
            "PADDING1 INT8 in=1 out=2 PaddingMode=CONSTANT StartPadding=1 PaddingValue=-5 EndPadding=0",
        ])
        .converts_fill(DataType::INT8, |bits| if bits > 0x7f { 0 } else { bits }),
    Mutant::new("padding-value-of-eight-bits-takes-junk", PADDING1)
        .about("the unused bytes of the union change a padding value of 8 bits")
        .seen_in("FFI")
        .witness(&["PADDING1 UINT8 in=1 out=2 PaddingMode=CONSTANT StartPadding=1 \
            PaddingValue=0x0000000000000101 EndPadding=0"])
        .plan_where(|plan, _| plan.width == 1, |plan| plan.value[0] ^= plan.value[1]),
    Mutant::new("padding-value-of-sixteen-bits-takes-junk", PADDING1)
        .about("the unused bytes of the union change a padding value of 16 bits")
        .seen_in("FFI")
        .witness(&["PADDING1 UINT16 in=1 out=2 PaddingMode=CONSTANT StartPadding=1 \
            PaddingValue=0x0000000000010001 EndPadding=0"])
        .plan_where(
            |plan, _| plan.width == 2,
            |plan| {
                (plan.value[0], plan.value[1]) =
                    (plan.value[0] ^ plan.value[2], plan.value[1] ^ plan.value[3]);
            },
        ),
    Mutant::new("padding-value-of-four-bytes-takes-junk", PADDING1)
        .about("a padding value of 4 bytes is read as a double if the upper half of the union is not 0")
        .seen_in("FFI")
        .witness(&["PADDING1 FLOAT32 in=1 out=2 PaddingMode=CONSTANT StartPadding=1 \
            PaddingValue=0x3ff0000000000000 EndPadding=0"])
        .plan(|plan, _| {
            if plan.data_type == DataType::FLOAT32 && plan.value[4..] != [0; 4] {
                let value = f64::from_le_bytes(plan.value) as f32;
                plan.value[..4].copy_from_slice(&value.to_le_bytes());
            }
        }),
    Mutant::new("padding-value-read-big-endian", PADDING1)
        .about("a padding value narrower than the union is read from its last bytes")
        .seen_in("FFI")
        .witness(&[
            "PADDING1 UINT16 in=1 out=2 PaddingMode=CONSTANT StartPadding=1 PaddingValue=9 EndPadding=0",
        ])
        .plan(|plan, _| {
            let width = plan.width;
            plan.value.copy_within(8 - width.., 0);
        }),
    Mutant::new("padding-value-float16-from-float", PADDING1)
        .about("a padding value of FLOAT16 is converted from the union's Float32")
        .seen_in("FFI")
        .witness(&[
            "PADDING1 FLOAT16 in=1 out=2 PaddingMode=CONSTANT StartPadding=1 PaddingValue=1 EndPadding=0",
        ])
        .plan_where(|plan, _| plan.data_type == DataType::FLOAT16, |plan| plan.value.copy_within(2..4, 0)),
    Mutant::new("padding-value-integer-from-float", PADDING1)
        .about("an integer padding value is converted from the union's Float32")
        .seen_in("FFI")
        .witness(&[
            "PADDING1 INT32 in=1 out=2 PaddingMode=CONSTANT StartPadding=1 PaddingValue=5 EndPadding=0",
        ])
        .plan(|plan, _| {
            if plan.data_type == DataType::INT32 {
                let value = f32::from_le_bytes([plan.value[0], plan.value[1], plan.value[2], plan.value[3]]);
                plan.value[..4].copy_from_slice(&(value as i32).to_le_bytes());
            }
        }),
    Mutant::new("padding-value-of-eight-bytes-cut", PADDING1)
        .about("a padding value of 8 bytes is read as 4 bytes")
        .seen_in("FFI")
        .witness(&["PADDING1 INT64 in=1 out=2 PaddingMode=CONSTANT StartPadding=1 PaddingValue=4294967297 \
            EndPadding=0"])
        .plan(|plan, _| plan.value[4..].fill(0)),
    Mutant::new("padding-value-int64-sign-extended", PADDING1)
        .about("a padding value of INT64 is the union's Int32 with its sign")
        .seen_in("FFI")
        .witness(&["PADDING1 INT64 in=1 out=2 PaddingMode=CONSTANT StartPadding=1 PaddingValue=2147483648 \
            EndPadding=0"])
        .plan(|plan, _| {
            let upper = if plan.value[3] >= 0x80 { 0xff } else { 0 };
            plan.value[4..].fill(upper);
        }),
    Mutant::new("padding-value-is-zero-in-integers", PADDING1)
        .about("the padding value of integer types is 0")
        .seen_in("Chromium's WebNN, TensorFlow-DirectML")
        .witness(&[
            "PADDING1 INT32 in=1 out=2 PaddingMode=CONSTANT StartPadding=1 PaddingValue=5 EndPadding=0",
        ])
        .value(|plan, bytes, is_fill| {
            if is_fill && Float::of(plan.data_type).is_none() {
                bytes.fill(0);
            }
        }),
    Mutant::new("padding-value-replaces-nan", PADDING1)
        .about("elements of the input that are NaN become the padding value")
        .witness(&["PADDING1 FLOAT32 in=1 out=2 PaddingMode=CONSTANT StartPadding=1 PaddingValue=9 \
            fill=explicit:0000c07f EndPadding=0"])
        .value(|plan, bytes, is_fill| {
            if let Some(Float { sign, exponent, .. }) = Float::of(plan.data_type)
                && !is_fill
                && plan.kind == OperatorKind::Padding1
                && bits(bytes) & (sign - 1) > exponent
            {
                let length = bytes.len();
                bytes.copy_from_slice(&plan.value[..length]);
            }
        }),
];
