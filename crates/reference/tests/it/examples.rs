//! The eight examples of the three pages, typed from the pages.

use crate::common;

/// Runs a line on FLOAT32 numbers.
fn run(line: &str, input: &[f32]) -> Vec<f32> {
    let bytes: Vec<u8> = input.iter().flat_map(|value| value.to_le_bytes()).collect();
    let output = common::run(line, &bytes, 0xcd);
    output.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
}

/// The input of the examples of SLICE and SLICE1.
#[rustfmt::skip]
const NUMBERS: [f32; 16] = [
     1.0,  2.0,  3.0,  4.0,
     5.0,  6.0,  7.0,  8.0,
     9.0, 10.0, 11.0, 12.0,
    13.0, 14.0, 15.0, 16.0,
];

/// The input of the examples of PADDING1.
#[rustfmt::skip]
const ROWS: [f32; 16] = [
    1.0, 2.0, 3.0, 4.0,
    5.0, 6.0, 7.0, 8.0,
    1.0, 2.0, 3.0, 4.0,
    5.0, 6.0, 7.0, 8.0,
];

#[test]
fn slice_example_1_contiguous() {
    let output =
        run("SLICE FLOAT32 in=1,1,4,4 out=1,1,3,2 Offsets=0,0,1,2 Sizes=1,1,3,2 Strides=1,1,1,1", &NUMBERS);
    assert_eq!(output, [7.0, 8.0, 11.0, 12.0, 15.0, 16.0]);
}

#[test]
fn slice_example_2_strided() {
    let output =
        run("SLICE FLOAT32 in=1,1,4,4 out=1,1,2,2 Offsets=0,0,1,0 Sizes=1,1,2,2 Strides=1,1,2,3", &NUMBERS);
    assert_eq!(output, [5.0, 8.0, 13.0, 16.0]);
}

#[test]
fn slice1_example_1_positive_strides() {
    let output = run(
        "SLICE1 FLOAT32 in=1,1,4,4 out=1,1,2,2 InputWindowOffsets=0,0,0,1 InputWindowSizes=1,1,4,3 \
         InputWindowStrides=1,1,2,2",
        &NUMBERS,
    );
    assert_eq!(output, [2.0, 4.0, 10.0, 12.0]);
}

#[test]
fn slice1_example_2_negative_strides() {
    let output = run(
        "SLICE1 FLOAT32 in=1,1,4,4 out=1,1,2,2 InputWindowOffsets=0,0,0,1 InputWindowSizes=1,1,4,3 \
         InputWindowStrides=1,1,-2,2",
        &NUMBERS,
    );
    assert_eq!(output, [14.0, 16.0, 6.0, 8.0]);
}

/// Compares with rows of ten, which the examples' numbers fill as digits.
fn assert_padding(mode: &str, rows: [&str; 8]) {
    let output = run(
        &format!(
            "PADDING1 FLOAT32 in=1,1,4,4 out=1,1,8,10 PaddingMode={mode} PaddingValue=9 \
             StartPadding=0,0,1,2 EndPadding=0,0,3,4"
        ),
        &ROWS,
    );
    let lines: Vec<String> = output.chunks(10).map(|row| row.iter().map(f32::to_string).collect()).collect();
    assert_eq!(lines, rows);
}

#[test]
fn padding1_example_1_constant() {
    assert_padding(
        "CONSTANT",
        [
            "9999999999",
            "9912349999",
            "9956789999",
            "9912349999",
            "9956789999",
            "9999999999",
            "9999999999",
            "9999999999",
        ],
    );
}

#[test]
fn padding1_example_2_edge() {
    assert_padding(
        "EDGE",
        [
            "1112344444",
            "1112344444",
            "5556788888",
            "1112344444",
            "5556788888",
            "5556788888",
            "5556788888",
            "5556788888",
        ],
    );
}

#[test]
fn padding1_example_3_reflection() {
    assert_padding(
        "REFLECTION",
        [
            "7656787656",
            "3212343212",
            "7656787656",
            "3212343212",
            "7656787656",
            "3212343212",
            "7656787656",
            "3212343212",
        ],
    );
}

#[test]
fn padding1_example_4_symmetric() {
    assert_padding(
        "SYMMETRIC",
        [
            "2112344321",
            "2112344321",
            "6556788765",
            "2112344321",
            "6556788765",
            "6556788765",
            "2112344321",
            "6556788765",
        ],
    );
}
