//! The messages that precede all cases: the names of both sides, the backend's capabilities, and the feature
//! level to behave as.

use std::time::Duration;

use dmlcts_model::{DataType, FeatureLevel, printable};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use super::OperatorForm;
use crate::{Capabilities, Lack, Limits};

/// The version of the protocol that this program speaks.
pub const VERSION: u32 = 1;
/// The maximum length of the header of a `hello`, in bytes. It is read before the sender is known.
pub const LONGEST_HELLO: u64 = 1 << 20;
/// The maximum number of characters of a text in a `hello`.
pub(crate) const LONGEST: usize = 255;
/// The maximum number of elements of a list in a `hello`.
pub(crate) const MOST: usize = 1000;
/// The size of the smallest tensor, in bytes. A `TotalTensorSizeInBytes` is a multiple of it (page:
/// `ns-directml-dml_buffer_tensor_desc`).
const LEAST_TENSOR: u64 = 4;

/// The key that a `hello` of any version has.
#[derive(Deserialize)]
struct AnyHello {
    protocol: u32,
}

/// The version of the protocol that the header of a `hello` names, if it differs from this program's. The
/// other keys may then have another meaning.
pub(crate) fn another_version(header: &[u8]) -> Option<u32> {
    let hello: AnyHello = serde_json::from_slice(header).ok()?;
    Some(hello.protocol).filter(|version| *version != VERSION)
}

/// The message about a sender with another version of the protocol.
pub(crate) fn speaks(who: &str, version: u32) -> String {
    format!(
        "{who} speaks protocol version {version}; this program speaks {VERSION}: renew the older of the two"
    )
}

/// `hello`, to the backend: the first frame of all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "host", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HostHello {
    /// The version of the protocol: 1.
    pub protocol: u32,
    /// The host's name and version.
    #[cfg_attr(feature = "host", schemars(length(max = LONGEST)))]
    pub host: String,
    /// The operators that it asks for.
    #[serde(default)]
    pub operators: Vec<OperatorForm>,
}

/// `hello`, from the backend: its name and its capabilities, before it gets any case. It is the same at every
/// start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "host", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// The version of the protocol: 1.
    pub protocol: u32,
    /// The backend's name in reports.
    #[cfg_attr(feature = "host", schemars(length(max = LONGEST)))]
    pub name: String,
    /// The backend's own version.
    #[cfg_attr(feature = "host", schemars(length(max = LONGEST)))]
    pub version: String,
    /// The device that computes, in its maker's words.
    #[serde(default)]
    #[cfg_attr(feature = "host", schemars(length(max = LONGEST)))]
    pub device: String,
    /// The driver and its version.
    #[serde(default)]
    #[cfg_attr(feature = "host", schemars(length(max = LONGEST)))]
    pub driver: String,
    /// The highest `DML_FEATURE_LEVEL` supported, such as `6.4`.
    #[cfg_attr(feature = "host", schemars(length(max = LONGEST)))]
    pub feature_level: String,
    /// Whether the message `level` works.
    #[serde(default)]
    pub can_set_feature_level: bool,
    /// The operators that it has, as the pages spell them. Left out or null if it has every operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "host", schemars(length(max = MOST), inner(length(max = LONGEST))))]
    pub operators: Option<Vec<String>>,
    /// The data types that its operators can be created with, such as `FLOAT32`.
    #[cfg_attr(feature = "host", schemars(length(max = MOST), inner(length(max = LONGEST))))]
    pub data_types: Vec<String>,
    /// The valid descs that it does not support, although it has their operator, data types and rank. Usually
    /// left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "host", schemars(length(max = MOST)))]
    pub lacks: Vec<LackForm>,
    /// The dimension counts that its operators can be created with.
    pub ranks: Ranks,
    /// The limits of cases and batches.
    #[serde(default)]
    pub limits: LimitsForm,
    /// Whether it wants `packed` in place of `run`. False if it is left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub packed: bool,
    /// Whether it accepts the next cases before it has answered the last ones, and repeats their `number` in
    /// its `results`. False if it is left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ahead: bool,
}

/// A kind of valid descs of an operator that a backend does not support.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "host", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LackForm {
    /// The operator, such as `PADDING1`.
    #[cfg_attr(feature = "host", schemars(length(max = LONGEST)))]
    pub operator: String,
    /// The condition on its descs, in the language of the specs, such as `PaddingMode != CONSTANT`.
    #[serde(rename = "where")]
    #[cfg_attr(feature = "host", schemars(length(max = LONGEST)))]
    pub condition: String,
    /// Why, in a few words for reports.
    #[cfg_attr(feature = "host", schemars(length(max = LONGEST)))]
    pub reason: String,
}

/// The least and the greatest dimension count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "host", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Ranks {
    /// The least.
    pub min: u32,
    /// The greatest.
    pub max: u32,
}

/// The limits of cases and batches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "host", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LimitsForm {
    /// The largest `TotalTensorSizeInBytes` that it can run. Left out or null if there is no such limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tensor_bytes: Option<u64>,
    /// The largest number of elements of a tensor, the product of its sizes, that it can run. Left out or
    /// null if there is no such limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elements: Option<u64>,
    /// The maximum number of cases in one `run`. Left out or null if the host may choose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_cases: Option<u32>,
    /// The number of cases in one `run` that it works on for so long that the time to send them does not
    /// matter. Left out or null if a few hundred are enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_cases: Option<u32>,
    /// For a backend that passes lists on as bare arrays of C, in which a list cannot have another length
    /// than its count: the greatest count that it passes on. Left out or null if each list has its own
    /// length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bare_arrays: Option<u32>,
    /// The milliseconds that creating an operator may take beyond the host's time limit for a case, at most
    /// 600,000. Left out or null for a backend that does not compile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "host", schemars(range(max = 600_000)))]
    pub create_timeout: Option<u32>,
}

/// `level`, to a backend that can set its feature level: from now on, behave as a device of this level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "host", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LevelForm {
    /// The feature level, such as `4.1`.
    pub feature_level: String,
}

/// `bye`, to the backend: no case follows, so the process ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "host", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Bye {}

impl Default for HostHello {
    fn default() -> Self {
        Self {
            protocol: VERSION,
            host: concat!("dmlcts ", env!("CARGO_PKG_VERSION")).to_owned(),
            operators: Vec::new(),
        }
    }
}

impl From<&Capabilities> for Hello {
    fn from(capabilities: &Capabilities) -> Self {
        let limits = capabilities.limits;
        let wants_its_own = limits.busy_jobs != Limits::default().busy_jobs;
        Self {
            protocol: VERSION,
            name: cut(&capabilities.name),
            version: cut(&capabilities.version),
            device: cut(&capabilities.device),
            driver: cut(&capabilities.driver),
            feature_level: capabilities.feature_level.to_string(),
            can_set_feature_level: capabilities.can_set_feature_level,
            operators: capabilities.operators.clone(),
            data_types: capabilities.data_types.iter().map(DataType::to_string).collect(),
            lacks: capabilities.lacks.iter().map(LackForm::from).collect(),
            ranks: Ranks { min: *capabilities.ranks.start(), max: *capabilities.ranks.end() },
            limits: LimitsForm {
                tensor_bytes: Some(limits.tensor_bytes).filter(|bytes| *bytes != u64::MAX),
                elements: Some(limits.elements).filter(|elements| *elements != u64::MAX),
                batch_cases: u32::try_from(limits.batch_jobs).ok(),
                busy_cases: u32::try_from(limits.busy_jobs).ok().filter(|_| wants_its_own),
                bare_arrays: limits.bare_arrays,
                create_timeout: u32::try_from(limits.create_time.as_millis()).ok().filter(|time| *time > 0),
            },
            packed: false,
            ahead: false,
        }
    }
}

impl From<&Lack> for LackForm {
    fn from(lack: &Lack) -> Self {
        let Lack { operator, condition, reason } = lack;
        Self { operator: operator.clone(), condition: condition.clone(), reason: cut(reason) }
    }
}

impl Hello {
    /// Reads the header of the message. The error names the key with a wrong value.
    pub(crate) fn read(header: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(header).map_err(|error| {
            let keys = serde_json::from_slice::<Map<String, Json>>(header).ok();
            keys.and_then(|keys| misplaced(&keys)).unwrap_or_else(|| error.to_string())
        })
    }

    /// Checks that no text and no list is too long. The error names the key.
    fn check_bounds(&self) -> Result<(), String> {
        check_text("name", &self.name)?;
        check_text("version", &self.version)?;
        check_text("device", &self.device)?;
        check_text("driver", &self.driver)?;
        check_text("feature_level", &self.feature_level)?;
        check_texts("operators", self.operators.as_deref().unwrap_or_default())?;
        check_texts("data_types", &self.data_types)?;
        check_list("lacks", &self.lacks)?;
        self.lacks.iter().enumerate().try_for_each(|(place, lack)| {
            check_text(&format!("lacks[{place}].operator"), &lack.operator)?;
            check_text(&format!("lacks[{place}].where"), &lack.condition)?;
            check_text(&format!("lacks[{place}].reason"), &lack.reason)?;
            if lack.reason.trim().is_empty() {
                return Err(format!("its `lacks[{place}].reason` is empty; say in a few words why"));
            }
            Ok(())
        })
    }

    /// The capabilities that the message declares.
    ///
    /// # Errors
    ///
    /// A value is out of bounds or unknown, or the backend declares that it can do nothing.
    pub fn capabilities(&self) -> Result<Capabilities, String> {
        if self.protocol != VERSION {
            return Err(speaks("it", self.protocol));
        }
        self.check_bounds()?;
        if self.name.trim().is_empty() {
            return Err("its `name` is empty".to_owned());
        }
        let level: FeatureLevel =
            self.feature_level.parse().map_err(|error| format!("its `feature_level`: {error}"))?;
        let data_type = |name: &String| {
            DataType::from_name(name).ok_or_else(|| {
                let known: Vec<String> = DataType::all().map(|known| known.to_string()).collect();
                let meant = dmlcts_model::closest(name, known.iter().map(String::as_str));
                let meant = meant.map(|close| format!("; did you mean `{close}`?")).unwrap_or_default();
                format!("its `data_types`: `{}` is not a data type{meant}", short(name))
            })
        };
        if self.data_types.is_empty() {
            return Err("its `data_types` are empty, so it can run no case".to_owned());
        }
        if self.operators.as_ref().is_some_and(Vec::is_empty) {
            return Err("its `operators` are empty, so it can run no case; leave the key out if it has every operator"
                .to_owned());
        }
        if self.ranks.min > self.ranks.max {
            let Ranks { min, max } = self.ranks;
            return Err(format!("the `max` of its `ranks`, {max}, is below the `min`, {min}"));
        }
        let lacks = self.lacks.iter().map(|LackForm { operator, condition, reason }| Lack {
            operator: operator.clone(),
            condition: condition.clone(),
            reason: short(reason),
        });
        let limits = Limits::default();
        let batch = self.limits.batch_cases.map_or(limits.batch_jobs, |cases| cases as usize);
        let busy = self.limits.busy_cases.map_or(limits.busy_jobs, |cases| cases as usize);
        let has_no_element = self.limits.elements == Some(0);
        let zeros = [("batch_cases", batch == 0), ("busy_cases", busy == 0), ("elements", has_no_element)];
        if let Some((key, _)) = zeros.into_iter().find(|(_, is_zero)| *is_zero) {
            return Err(format!("its `limits.{key}` is 0, so it can run no case"));
        }
        if let Some(bytes) = self.limits.tensor_bytes.filter(|bytes| *bytes < LEAST_TENSOR) {
            return Err(format!(
                "its `limits.tensor_bytes` is {bytes}, but the smallest tensor has {LEAST_TENSOR} bytes"
            ));
        }
        let create_time = Duration::from_millis(self.limits.create_timeout.unwrap_or_default().into());
        if create_time > Limits::LONGEST_CREATION {
            let most = Limits::LONGEST_CREATION.as_millis();
            return Err(format!("its `limits.create_timeout` is above {most} ms"));
        }
        Ok(Capabilities {
            device: short(&self.device),
            driver: short(&self.driver),
            feature_level: level,
            can_set_feature_level: self.can_set_feature_level,
            operators: self.operators.clone(),
            data_types: self.data_types.iter().map(data_type).collect::<Result<_, _>>()?,
            lacks: lacks.collect(),
            ranks: self.ranks.min..=self.ranks.max,
            limits: Limits {
                tensor_bytes: self.limits.tensor_bytes.unwrap_or(u64::MAX),
                elements: self.limits.elements.unwrap_or(u64::MAX),
                batch_jobs: batch.min(limits.batch_jobs),
                busy_jobs: busy,
                bare_arrays: self.limits.bare_arrays,
                create_time,
                ..limits
            },
            ..Capabilities::new(short(&self.name), short(&self.version))
        })
    }
}

/// The first key of a `hello` with a wrong value, and the mistake. Serde's errors do not name the key. So
/// each value, and then each part of the wrong one, is put into a correct `hello` and parsed again.
fn misplaced(keys: &Map<String, Json>) -> Option<String> {
    let (text, level) = (String::new, FeatureLevel::NEWEST.to_string());
    let right = json!({"protocol": VERSION, "name": text(), "version": text(), "feature_level": level,
        "data_types": [], "ranks": {"min": 1, "max": 1}});
    keys.iter().find_map(|(key, value)| {
        let wrong = |value: Json| {
            let mut probe = right.clone();
            probe[key] = value;
            serde_json::from_value::<Hello>(probe).err()
        };
        let whole = wrong(value.clone())?;
        let part = match value {
            Json::Object(parts) => parts.iter().find_map(|(name, part)| {
                let mut others = right.get(key).cloned().unwrap_or_else(|| json!({}));
                others[name] = part.clone();
                Some((format!("{key}.{name}"), wrong(others)?))
            }),
            Json::Array(parts) if wrong(json!([])).is_none() => parts
                .iter()
                .enumerate()
                .find_map(|(place, part)| Some((format!("{key}[{place}]"), wrong(json!([part]))?))),
            _ => None,
        };
        let (place, error) = part.unwrap_or_else(|| (key.clone(), whole));
        Some(format!("its `{}`: {error}", short(&place)))
    })
}

/// Checks that a text of the message is not too long.
/// Checks that a text is not too long.
pub(crate) fn check_text(key: &str, text: &str) -> Result<(), String> {
    let length = text.chars().count();
    if length <= LONGEST {
        return Ok(());
    }
    Err(format!("its `{key}` has {length} characters, and at most {LONGEST} are allowed"))
}

/// Checks that a list of the message is not too long.
fn check_list<T>(key: &str, list: &[T]) -> Result<(), String> {
    if list.len() <= MOST {
        return Ok(());
    }
    Err(format!("its `{key}` has {} elements, and at most {MOST} are allowed", list.len()))
}

/// Checks that a list of texts is not too long, and that none of them is.
fn check_texts(key: &str, texts: &[String]) -> Result<(), String> {
    check_list(key, texts)?;
    texts.iter().enumerate().try_for_each(|(place, text)| check_text(&format!("{key}[{place}]"), text))
}

/// A text, truncated to the length that a `hello` may hold.
fn cut(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

/// A text of the backend, truncated and on one line.
pub(crate) fn short(text: &str) -> String {
    printable(text, LONGEST).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello() -> Hello {
        let text = r#"{"protocol": 1, "name": "mine", "version": "2", "feature_level": "5.0",
            "data_types": ["FLOAT32", "INT8"], "ranks": {"min": 1, "max": 4}}"#;
        serde_json::from_str(text).expect("what is required is there")
    }

    #[test]
    fn a_key_that_is_left_out_has_its_default_and_others_read_back() {
        let capabilities = hello().capabilities().expect("it is whole");
        assert_eq!((capabilities.operators.clone(), capabilities.can_set_feature_level), (None, false));
        assert_eq!(capabilities.limits, Limits::default());
        assert_eq!(Hello::from(&capabilities).capabilities(), Ok(capabilities.clone()));
        let limits = Limits { bare_arrays: Some(16), busy_jobs: 2000, ..Limits::default() };
        let limits = Limits { elements: 1 << 28, ..limits };
        let lacks = vec![Lack {
            operator: "PADDING1".to_owned(),
            condition: "PaddingMode != CONSTANT".to_owned(),
            reason: "constant only".to_owned(),
        }];
        let full = Capabilities { lacks, limits, ..capabilities };
        assert_eq!(Hello::from(&full).capabilities(), Ok(full));
    }

    #[test]
    fn a_value_of_another_type_is_reported_with_its_key() {
        let said = |spoil: fn(&mut Json)| {
            let mut hello = serde_json::to_value(hello()).expect("it is JSON");
            spoil(&mut hello);
            Hello::read(&serde_json::to_vec(&hello).expect("it is JSON")).expect_err("it is another kind")
        };
        let (text, number) = ("invalid type: string \"4\", expected", "invalid type: integer `4`, expected");
        assert_eq!(said(|hello| hello["name"] = json!(4)), format!("its `name`: {number} a string"));
        assert_eq!(said(|hello| hello["ranks"]["max"] = json!("4")), format!("its `ranks.max`: {text} u32"));
        assert_eq!(
            said(|hello| hello["data_types"][1] = json!(4)),
            format!("its `data_types[1]`: {number} a string")
        );
        assert_eq!(
            said(|hello| hello["limits"]["busy_cases"] = json!("4")),
            format!("its `limits.busy_cases`: {text} u32")
        );
        assert_eq!(
            said(|hello| hello["ranks"] = json!([1])),
            "its `ranks`: invalid length 1, expected struct Ranks with 2 elements"
        );
        assert!(said(|hello| hello["ranges"] = json!({})).contains("unknown field `ranges`"));
        let left_out = Hello::read(br#"{"protocol": 1}"#).expect_err("it says too little");
        assert!(left_out.starts_with("missing field `name`"), "{left_out}");
        let cut = Hello::read(br#"{"protocol": 1"#).expect_err("it is no JSON");
        assert!(cut.ends_with("at line 1 column 14"), "{cut}");
    }

    #[test]
    fn a_contradiction_is_reported_with_its_key() {
        let said = |spoil: fn(&mut Hello)| {
            let mut hello = hello();
            spoil(&mut hello);
            hello.capabilities().expect_err("it makes no sense")
        };
        assert!(said(|hello| hello.protocol = 2).contains("version 2"));
        assert!(said(|hello| hello.name = " ".to_owned()).contains("`name`"));
        assert!(said(|hello| hello.feature_level = "5".to_owned()).contains("`feature_level`: `5`"));
        assert!(said(|hello| hello.data_types.push("F32".to_owned())).contains("`F32` is not a data type"));
        assert!(
            said(|hello| hello.data_types[0] = "Float32".to_owned()).ends_with("did you mean `FLOAT32`?")
        );
        assert!(said(|hello| hello.data_types.clear()).contains("`data_types` are empty"));
        assert!(said(|hello| hello.operators = Some(Vec::new())).contains("`operators` are empty"));
        assert!(said(|hello| hello.ranks.min = 5).contains("`max` of its `ranks`, 4, is below the `min`, 5"));
        assert!(said(|hello| hello.limits.batch_cases = Some(0)).contains("batch_cases"));
        assert!(said(|hello| hello.limits.busy_cases = Some(0)).contains("busy_cases"));
        assert!(said(|hello| hello.limits.create_timeout = Some(600_001)).contains("create_timeout"));
        assert!(
            said(|hello| hello.limits.tensor_bytes = Some(3)).contains("the smallest tensor has 4 bytes")
        );
        assert!(said(|hello| hello.limits.elements = Some(0)).contains("elements"));
        let lack = |hello: &mut Hello| hello.lacks.push(LackForm { reason: " ".to_owned(), ..lack() });
        assert!(said(lack).contains("its `lacks[0].reason` is empty"));
    }

    /// The start of the error, and the change that causes it.
    type Spoil = (&'static str, fn(&mut Hello));

    /// A text that is too long.
    fn text() -> String {
        "x".repeat(LONGEST + 1)
    }

    fn lack() -> LackForm {
        let text = str::to_owned;
        LackForm { operator: text("SLICE"), condition: text("rank > 4"), reason: text("four loops") }
    }

    #[test]
    fn a_text_or_list_that_is_too_long_is_reported_with_the_limit() {
        let spoils: [Spoil; 12] = [
            ("name` has 256 characters", |hello| hello.name = text()),
            ("version` has 256 characters", |hello| hello.version = text()),
            ("device` has 256 characters", |hello| hello.device = text()),
            ("driver` has 256 characters", |hello| hello.driver = text()),
            ("feature_level` has 256 characters", |hello| hello.feature_level = text()),
            ("operators[1]` has 256 characters", |hello| {
                hello.operators = Some(vec![String::new(), text()]);
            }),
            ("operators` has 1001 elements", |hello| hello.operators = Some(vec![String::new(); MOST + 1])),
            ("data_types` has 1001 elements", |hello| hello.data_types = vec!["INT8".to_owned(); MOST + 1]),
            ("lacks` has 1001 elements", |hello| hello.lacks = vec![lack(); MOST + 1]),
            ("lacks[0].operator` has 256 characters", |hello| {
                hello.lacks = vec![LackForm { operator: text(), ..lack() }];
            }),
            ("lacks[0].where` has 256 characters", |hello| {
                hello.lacks = vec![LackForm { condition: text(), ..lack() }];
            }),
            ("lacks[0].reason` has 256 characters", |hello| {
                hello.lacks = vec![LackForm { reason: text(), ..lack() }];
            }),
        ];
        for (expected, spoil) in spoils {
            let mut hello = hello();
            spoil(&mut hello);
            let said = hello.capabilities().expect_err("it is beyond a bound");
            let bound = if expected.ends_with("elements") { MOST } else { LONGEST };
            assert_eq!(said, format!("its `{expected}, and at most {bound} are allowed"));
        }
        let mut full = hello();
        full.device = "\u{fc}".repeat(LONGEST);
        full.data_types = vec!["INT8".to_owned(); MOST];
        assert!(full.capabilities().is_ok(), "it is within its bounds");
        let host = HostHello { host: text(), ..HostHello::default() };
        assert!(check_text("host", &host.host).is_err_and(|said| said.starts_with("its `host` has 256")));
    }

    #[test]
    fn a_long_text_of_a_backend_is_truncated_in_its_hello() {
        let mut capabilities = hello().capabilities().expect("it is whole");
        capabilities.driver = "x".repeat(LONGEST + 1);
        let hello = Hello::from(&capabilities);
        assert_eq!(hello.driver.len(), LONGEST);
        assert!(hello.capabilities().is_ok());
    }
}
