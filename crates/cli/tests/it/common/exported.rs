//! The valid cases that are exported to each language.

/// Every operator and mode, with data types of every width, strides, and values that a conversion changes.
pub(crate) const VALID: [&str; 24] = [
    "SLICE FLOAT32 in=1,1,4,4 out=1,1,2,2 Offsets=0,0,1,0 Sizes=1,1,2,2 Strides=1,1,2,3",
    "SLICE UINT8 in=7 out=3 Offsets=1 Sizes=3 Strides=2 fill=random:1",
    "SLICE UINT16 in=3 out=1 Offsets=2 Sizes=1 Strides=2147483647",
    "SLICE FLOAT64 in=20,3 out=20,2 Offsets=0,1 Sizes=20,2 Strides=1,1 fill=special:3",
    // Strides in both tensors, with holes.
    "SLICE INT64 in=2,3 InputTensor.Strides=1,4 out=2,2 OutputTensor.Strides=5,2 Offsets=0,1 Sizes=2,2 \
     Strides=1,1 fill=special:2",
    // A broadcast axis.
    "SLICE FLOAT16 in=3,4 InputTensor.Strides=0,1 out=2,2 Offsets=1,0 Sizes=2,2 Strides=1,3 fill=special:0",
    "SLICE1 FLOAT32 in=1,1,4,4 out=1,1,2,2 InputWindowOffsets=0,0,0,1 InputWindowSizes=1,1,4,3 \
     InputWindowStrides=1,1,-2,2",
    // Down to the first element, and an output that stops before it.
    "SLICE1 FLOAT64 in=5,4 out=5,2 InputWindowOffsets=0,0 InputWindowSizes=5,4 InputWindowStrides=-1,-1 \
     fill=special:1",
    "SLICE1 INT8 in=4 out=1 InputWindowOffsets=1 InputWindowSizes=3 InputWindowStrides=-2147483648",
    "SLICE1 UINT32 in=2,2,2 InputTensor.Strides=1,8,3 out=2,1,2 OutputTensor.Strides=4,9,2 \
     InputWindowOffsets=0,1,0 InputWindowSizes=2,1,2 InputWindowStrides=-1,3,1 fill=random:2",
    "SLICE1 INT16 in=1,2,1,2,1,2,1,2 out=1,2,1,2,1,2,1,2 InputWindowOffsets=0,0,0,0,0,0,0,0 \
     InputWindowSizes=1,2,1,2,1,2,1,2 InputWindowStrides=1,-1,1,1,1,-1,1,1",
    "PADDING1 FLOAT32 in=2,2 out=3,5 PaddingMode=CONSTANT PaddingValue=9 StartPadding=1,2 EndPadding=0,1",
    "PADDING1 FLOAT32 in=2 out=4 PaddingMode=CONSTANT PaddingValue=nan:0xff800001 StartPadding=1 \
     EndPadding=1 fill=special:4",
    "PADDING1 FLOAT16 in=2,3 InputTensor.Strides=1,2 out=4,5 OutputTensor.Strides=1,6 PaddingMode=CONSTANT \
     PaddingValue=nan:0x7d01 StartPadding=1,0 EndPadding=1,2",
    "PADDING1 FLOAT64 in=1 out=3 PaddingMode=CONSTANT PaddingValue=-0 StartPadding=1 EndPadding=1",
    "PADDING1 UINT64 in=2 out=4 PaddingMode=CONSTANT PaddingValue=18446744073709551615 StartPadding=1 \
     EndPadding=1 fill=special:0",
    "PADDING1 INT8 in=3 out=6 PaddingMode=CONSTANT PaddingValue=-128 StartPadding=0 EndPadding=3",
    "PADDING1 INT32 in=2,3 out=9,5 PaddingMode=EDGE StartPadding=4,0 EndPadding=3,2",
    "PADDING1 FLOAT32 in=4,3 out=7,5 PaddingMode=REFLECTION StartPadding=3,2 EndPadding=0,0 fill=special:7",
    // Each padding folds several times.
    "PADDING1 UINT8 in=1,3 out=1,20 PaddingMode=REFLECTION StartPadding=0,8 EndPadding=0,9",
    "PADDING1 INT64 in=1,3 out=4,20 PaddingMode=SYMMETRIC StartPadding=2,8 EndPadding=1,9 fill=special:1",
    "PADDING1 UINT16 in=2,2 out=4,3 PaddingMode=SYMMETRIC StartPadding=1,0 EndPadding=1,1",
    "PADDING1 FLOAT64 in=2,3 out=9,17 PaddingMode=WRAP StartPadding=3,7 EndPadding=4,7 fill=special:5",
    "PADDING1 INT16 in=3 out=5 PaddingMode=WRAP StartPadding=1 EndPadding=1",
];
