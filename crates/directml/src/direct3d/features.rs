//! The features of a device, as it reports them. Some errors mean that a library is too old for a question:
//! they are noted with the version. Any other error prevents the start, since the features are unknown.

use dmlcts_model::{DataType, ErrorCode, FeatureLevel};
use windows::Win32::AI::MachineLearning::DirectML::DML_FEATURE;

use super::{adapter::failed, device::Device, fault::code};
use crate::{
    OpenError,
    raw::{
        DML_FEATURE_DATA_FEATURE_LEVELS, DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT,
        DML_FEATURE_FEATURE_LEVELS, DML_FEATURE_LEVEL, DML_FEATURE_LEVEL_1_0,
        DML_FEATURE_QUERY_FEATURE_LEVELS, DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT,
        DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT, DML_TENSOR_DATA_TYPE,
    },
};

/// The features of a device.
pub(super) struct Features {
    /// The highest feature level.
    pub(super) level: FeatureLevel,
    pub(super) data_types: Vec<DataType>,
    /// Answers that are missing or assumed.
    pub(super) notes: Vec<String>,
}

impl Features {
    pub(super) fn of(device: &Device) -> Result<Self, OpenError> {
        let mut notes = Vec::new();
        let level = level(device, &mut notes)?;
        let data_types = data_types(device, &mut notes)?;
        Ok(Self { level, data_types, notes })
    }
}

/// By the page of `CheckFeatureSupport`, the error is DXGI_ERROR_UNSUPPORTED if the library does not know the
/// question, and E_INVALIDARG if a parameter is wrong. The page does not say which applies to a level that is
/// newer than the library. So the question is repeated with fewer levels.
fn level(device: &Device, notes: &mut Vec<String>) -> Result<FeatureLevel, OpenError> {
    let all = FeatureLevel::all();
    let levels: Vec<_> = all.iter().map(|level| DML_FEATURE_LEVEL(level.code() as i32)).collect();
    let mut count = levels.len();
    let highest = loop {
        match highest(device, &levels[..count]) {
            Ok(highest) => break highest,
            Err(error) => match code(&error) {
                ErrorCode::INVALID_ARGUMENT if count > 1 => count -= 1,
                code @ ErrorCode::UNSUPPORTED => {
                    notes.push(format!(
                        "the level is assumed, since the library is too old to be asked for it ({code})"
                    ));
                    return Ok(all[0]);
                }
                _ => return Err(failed("CheckFeatureSupport of the feature level", &device.adapter, &error)),
            },
        }
    };
    if count < all.len() {
        let (known, code) = (all[count - 1], ErrorCode::INVALID_ARGUMENT);
        notes.push(format!("the library does not know levels above {known} ({code})"));
    }
    let code = highest.0 as u32;
    Ok(all.iter().rev().find(|level| level.code() <= code).copied().unwrap_or(all[0]))
}

/// The highest of these levels that the device supports.
fn highest(device: &Device, levels: &[DML_FEATURE_LEVEL]) -> windows::core::Result<DML_FEATURE_LEVEL> {
    let query = DML_FEATURE_QUERY_FEATURE_LEVELS {
        RequestedFeatureLevelCount: levels.len() as u32,
        RequestedFeatureLevels: levels.as_ptr(),
    };
    let mut answer = DML_FEATURE_DATA_FEATURE_LEVELS { MaxSupportedFeatureLevel: DML_FEATURE_LEVEL_1_0 };
    check(device, DML_FEATURE_FEATURE_LEVELS.0, &query, &mut answer)?;
    Ok(answer.MaxSupportedFeatureLevel)
}

/// By the same page, the error is E_INVALIDARG if a parameter is wrong, such as a data type that is newer
/// than the library.
fn data_types(device: &Device, notes: &mut Vec<String>) -> Result<Vec<DataType>, OpenError> {
    let (mut supported, mut unknown) = (Vec::new(), Vec::new());
    for data_type in DataType::all() {
        let query =
            DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT { DataType: DML_TENSOR_DATA_TYPE(data_type.0 as i32) };
        let mut answer = DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT { IsSupported: 0 };
        match check(device, DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT.0, &query, &mut answer) {
            Ok(()) if answer.IsSupported != 0 => supported.push(data_type),
            Ok(()) => {}
            Err(error) => {
                let code = code(&error);
                let is_unknown = matches!(code, ErrorCode::UNSUPPORTED | ErrorCode::INVALID_ARGUMENT);
                unknown.push(format!("{data_type} ({code})"));
                // A library that knows no data type does not know the question.
                if !is_unknown || unknown.len() == DataType::all().len() {
                    return Err(failed("CheckFeatureSupport of a data type", &device.adapter, &error));
                }
            }
        }
    }
    if !unknown.is_empty() {
        notes.push(format!("types that the library does not know: {}", unknown.join(", ")));
    }
    Ok(supported)
}

fn check<Q, A>(device: &Device, feature: i32, query: &Q, answer: &mut A) -> windows::core::Result<()> {
    let (query_size, answer_size) = (size_of::<Q>() as u32, size_of::<A>() as u32);
    let query = std::ptr::from_ref(query).cast();
    // SAFETY: both are structs of the header, with their sizes. The memory behind the query's pointers
    // outlives the call.
    unsafe {
        device.directml.0.CheckFeatureSupport(
            DML_FEATURE(feature),
            query_size,
            Some(query),
            answer_size,
            std::ptr::from_mut(answer).cast(),
        )
    }
}
