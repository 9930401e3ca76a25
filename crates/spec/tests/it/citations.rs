//! Every citation names a section that its page has. The sections are listed here by hand, as the pages have
//! them. A citation of another section fails until that section is added from the page.

use std::collections::BTreeSet;

use dmlcts_spec::{Citation, Library};

/// The sections of each page that a spec may cite.
const PAGES: &[(&str, &[&str])] = &[
    (
        "ns-directml-dml_buffer_tensor_desc",
        &[
            "Members / DataType",
            "Members / Flags",
            "Members / DimensionCount",
            "Members / Sizes",
            "Members / Strides",
            "Members / TotalTensorSizeInBytes",
            "Members / GuaranteedBaseOffsetAlignment",
        ],
    ),
    ("ns-directml-dml_tensor_desc", &["Members / Type", "Members / Desc"]),
    ("ns-directml-dml_buffer_binding", &["Members / Buffer", "Members / Offset", "Members / SizeInBytes"]),
    ("ne-directml-dml_tensor_flags", &["Constants", "Constants / DML_TENSOR_FLAG_OWNED_BY_DML"]),
    ("ne-directml-dml_tensor_data_type", &["Constants", "Remarks / DML_FEATURE_LEVEL_6_3"]),
    ("ns-directml-dml_scalar_union", &["Members"]),
    ("dml-helper-functions", &["DMLCalcBufferTensorSize", "CalculateStrides"]),
    (
        "dml-feature-level-history",
        &["DML_FEATURE_LEVEL_1_0", "DML_FEATURE_LEVEL_2_1", "DML_FEATURE_LEVEL_6_4"],
    ),
    (
        "ns-directml-dml_slice_operator_desc",
        &[
            "introduction",
            "Members / InputTensor",
            "Members / OutputTensor",
            "Members / DimensionCount",
            "Members / Offsets",
            "Members / Sizes",
            "Members / Strides",
            "Examples / Example 1. Contiguous slice",
            "Examples / Example 2. Strided slice",
            "Availability",
            "Tensor constraints",
            "Tensor support / DML_FEATURE_LEVEL_4_1 and above",
            "Tensor support / DML_FEATURE_LEVEL_3_0 and above",
            "Tensor support / DML_FEATURE_LEVEL_2_1 and above",
            "Tensor support / DML_FEATURE_LEVEL_1_0 and above",
        ],
    ),
    (
        "ns-directml-dml_slice1_operator_desc",
        &[
            "introduction",
            "Members / InputTensor",
            "Members / OutputTensor",
            "Members / DimensionCount",
            "Members / InputWindowOffsets",
            "Members / InputWindowSizes",
            "Members / InputWindowStrides",
            "Examples / Example 1. Strided slice with positive strides",
            "Examples / Example 2. Strided slice with negative strides",
            "Availability",
            "Tensor constraints",
            "Tensor support / DML_FEATURE_LEVEL_4_1 and above",
            "Tensor support / DML_FEATURE_LEVEL_3_0 and above",
            "Tensor support / DML_FEATURE_LEVEL_2_1 and above",
        ],
    ),
    (
        "ns-directml-dml_padding1_operator_desc",
        &[
            "Members / InputTensor",
            "Members / OutputTensor",
            "Members / PaddingMode",
            "Members / PaddingValueDataType",
            "Members / PaddingValue",
            "Members / DimensionCount",
            "Members / StartPadding",
            "Members / EndPadding",
            "Examples",
            "Examples / Example 1",
            "Examples / Example 2",
            "Examples / Example 3",
            "Examples / Example 4 (starting from DML_FEATURE_LEVEL_3_0)",
            "Availability",
            "Tensor constraints",
            "Tensor support",
        ],
    ),
];

#[test]
fn every_citation_names_a_section_of_its_page() {
    let library = Library::embedded();
    let mut cited: Vec<(&str, &Citation)> = Vec::new();
    cited.extend(library.remarks().iter().map(|remark| (remark.id.as_str(), &remark.cite)));
    for operator in library.operators() {
        cited.extend(operator.clauses().iter().map(|it| (it.id.as_str(), &it.cite)));
        cited.extend(operator.questions().iter().map(|it| (it.id.as_str(), &it.cite)));
        cited.extend(operator.examples().iter().map(|it| (it.id.as_str(), &it.cite)));
        cited.extend(operator.remarks().iter().map(|it| (it.id.as_str(), &it.cite)));
        cited.extend(operator.modes().iter().map(|it| (it.name.as_str(), &it.cite)));
        cited.extend(operator.support().iter().map(|it| (operator.name(), &it.cite)));
        cited.push((operator.name(), &operator.semantics().cite));
    }
    let has = |cite: &Citation| {
        let page = PAGES.iter().find(|(page, _)| *page == cite.page);
        page.is_some_and(|(_, sections)| sections.contains(&cite.section.as_str()))
    };
    let wrong: BTreeSet<String> = cited
        .iter()
        .filter(|(_, cite)| !has(cite))
        .map(|(id, cite)| format!("{id}: {}, {}", cite.page, cite.section))
        .collect();
    assert!(wrong.is_empty(), "no such section:\n{}", wrong.into_iter().collect::<Vec<_>>().join("\n"));
}
