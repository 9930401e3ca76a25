//! Failing on purpose, as the variable `DMLCTS_STAND_IN` says.
//!
//! It is a list with commas. An entry is one of
//!
//! | entry | what happens |
//! |---|---|
//! | `out-of-memory@CALL` | E_OUTOFMEMORY |
//! | `device-removed@CALL` | the device is removed, as by a driver's fault, and every later call on it fails |
//! | `refuse@CALL` | E_INVALIDARG, whatever the desc |
//! | `accept-all` | operators are created of every desc; dispatching one that should have been refused removes the device |
//! | `wrong-element@dispatch` | the output's first element is not what it should be |
//! | `missing-element@dispatch` | the output's last element is not written |
//! | `outside@dispatch` | four bytes behind the output's binding are written |
//! | `input-changed@dispatch` | the input's first bytes are overwritten afterwards |
//! | `crash@CALL` | the process ends |
//! | `level=LEVEL` | the device has this feature level, such as 2.1 |
//! | `without=TYPE` | the device lacks a data type, such as FLOAT64 |
//! | `reasons` | standard error says why a desc is refused |
//!
//! `CALL` is `device`, `create`, `compile`, `initialize` or `dispatch`. Each goes on for ever, or `@dispatch:3` is the third
//! such call in the process alone. A dispatch returns nothing, so that what it would return removes the device. Whatever cannot be
//! understood makes creating a device fail.

use std::sync::atomic::{AtomicU64, Ordering};

use dmlcts_directml::raw::{DML_FEATURE_LEVEL, DML_TENSOR_DATA_TYPE};

use crate::level::Abilities;

/// What a client calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// `DMLCreateDevice` or `DMLCreateDevice1`.
    Device,
    /// `CreateOperator`.
    Create,
    /// `CompileOperator`.
    Compile,
    /// `CreateOperatorInitializer`.
    Initialize,
    /// `RecordDispatch` of a compiled operator.
    Dispatch,
}

/// What a call does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It says that there is no memory.
    OutOfMemory,
    /// It removes the device.
    DeviceRemoved,
    /// It says that an argument is invalid.
    Refuse,
    /// It ends the process.
    Crash,
    /// The first element is another.
    WrongElement,
    /// The last element is not there.
    MissingElement,
    /// Something is written behind the output.
    Outside,
    /// Something is written into the input.
    InputChanged,
}

/// Everything that goes wrong in this process, and how far it is.
#[derive(Debug, Default)]
pub struct Misbehaviour {
    /// What devices are able to do.
    pub abilities: Abilities,
    /// Whether invalid descs are accepted.
    pub accepts_all: bool,
    /// Whether to say why a desc is refused.
    pub says_reasons: bool,
    faults: Vec<Planned>,
    calls: [AtomicU64; CALLS.len()],
}

#[derive(Clone, Copy, Debug)]
struct Planned {
    fault: Fault,
    call: Call,
    /// From 1; `None` for every one.
    number: Option<u64>,
}

const CALLS: [(&str, Call); 5] = [
    ("device", Call::Device),
    ("create", Call::Create),
    ("compile", Call::Compile),
    ("initialize", Call::Initialize),
    ("dispatch", Call::Dispatch),
];

/// Names, and whether only a dispatch can do it.
const FAULTS: [(&str, Fault, bool); 8] = [
    ("out-of-memory", Fault::OutOfMemory, false),
    ("device-removed", Fault::DeviceRemoved, false),
    ("refuse", Fault::Refuse, false),
    ("crash", Fault::Crash, false),
    ("wrong-element", Fault::WrongElement, true),
    ("missing-element", Fault::MissingElement, true),
    ("outside", Fault::Outside, true),
    ("input-changed", Fault::InputChanged, true),
];

/// In the order of the enumeration, from FLOAT32 on.
const TYPES: [&str; 11] = [
    "FLOAT32", "FLOAT16", "UINT32", "UINT16", "UINT8", "INT32", "INT16", "INT8", "FLOAT64", "UINT64", "INT64",
];

impl Misbehaviour {
    /// Reads the variable's text; `Err` is what could not be understood.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut read = Self::default();
        for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            read.add(entry).ok_or_else(|| format!("`{entry}` is not understood"))?;
        }
        Ok(read)
    }

    fn add(&mut self, entry: &str) -> Option<()> {
        if let Some(level) = entry.strip_prefix("level=") {
            self.abilities.level = parse_level(level)?;
        } else if let Some(name) = entry.strip_prefix("without=") {
            let index = TYPES.iter().position(|known| *known == name)?;
            self.abilities.lacking.push(DML_TENSOR_DATA_TYPE(index as i32 + 1));
        } else if entry == "accept-all" {
            self.accepts_all = true;
        } else if entry == "reasons" {
            self.says_reasons = true;
        } else {
            let (fault, call) = entry.split_once('@')?;
            let (call, number) = match call.split_once(':') {
                Some((call, number)) => (call, Some(number.parse().ok().filter(|number| *number > 0)?)),
                None => (call, None),
            };
            let (_, call) = *CALLS.iter().find(|(name, _)| *name == call)?;
            let (_, fault, dispatched) = *FAULTS.iter().find(|(name, ..)| *name == fault)?;
            if dispatched && call != Call::Dispatch {
                return None;
            }
            self.faults.push(Planned { fault, call, number });
        }
        Some(())
    }

    /// Counts a call, and says what goes wrong in it.
    pub fn next(&self, call: Call) -> Option<Fault> {
        let number = self.calls[call as usize].fetch_add(1, Ordering::Relaxed) + 1;
        let meant = |planned: &&Planned| {
            planned.call == call && planned.number.is_none_or(|planned| planned == number)
        };
        self.faults.iter().find(meant).map(|planned| planned.fault)
    }
}

/// `2.1` is 0x2100.
fn parse_level(text: &str) -> Option<DML_FEATURE_LEVEL> {
    let (major, minor) = text.split_once('.')?;
    let (major, minor): (i32, i32) = (major.parse().ok()?, minor.parse().ok()?);
    let known = (1..=6).contains(&major) && (0..=4).contains(&minor);
    known.then_some(DML_FEATURE_LEVEL(major << 12 | minor << 8))
}

#[cfg(test)]
mod tests {
    use dmlcts_directml::raw::{DML_FEATURE_LEVEL_2_1, DML_TENSOR_DATA_TYPE_FLOAT64};

    use super::*;

    #[test]
    fn faults_come_at_their_call_and_no_other() {
        let told =
            Misbehaviour::parse("out-of-memory@create:2, wrong-element@dispatch").expect("is understood");
        let created: Vec<_> = (0..4).map(|_| told.next(Call::Create)).collect();
        assert_eq!(created, [None, Some(Fault::OutOfMemory), None, None]);
        assert_eq!(told.next(Call::Compile), None);
        assert_eq!([told.next(Call::Dispatch), told.next(Call::Dispatch)], [Some(Fault::WrongElement); 2]);
    }

    #[test]
    fn abilities_can_be_taken_away() {
        let told =
            Misbehaviour::parse("level=2.1,without=FLOAT64,accept-all,reasons").expect("is understood");
        assert_eq!(told.abilities.level, DML_FEATURE_LEVEL_2_1);
        assert_eq!(told.abilities.lacking, [DML_TENSOR_DATA_TYPE_FLOAT64]);
        assert!(told.accepts_all && told.says_reasons);
        assert_eq!(Misbehaviour::parse("").expect("is understood").abilities, Abilities::default());
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for text in [
            "crash",
            "crash@",
            "crash@dispatch:0",
            "crash@run",
            "hang@create",
            "wrong-element@create",
            "level=9.9",
            "without=FLOAT8",
        ] {
            let mistake = Misbehaviour::parse(&format!("reasons,{text}")).expect_err(text);
            assert_eq!(mistake, format!("`{text}` is not understood"));
        }
    }
}
