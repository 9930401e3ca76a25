//! Failing on purpose, as the variable `DMLCTS_STAND_IN` says.
//!
//! It is a list with commas. An entry is one of
//!
//! | entry | what happens |
//! |---|---|
//! | `refuse@CALL` | E_INVALIDARG, whatever is asked |
//! | `out-of-memory@CALL` | E_OUTOFMEMORY |
//! | `fail@CALL` | E_FAIL |
//! | `unsupported@CALL` | DXGI_ERROR_UNSUPPORTED |
//! | `device-removed@CALL` | DirectML's device is removed, and every later call on it fails; Direct3D's goes on |
//! | `direct3d-removed@CALL` | Direct3D's device is removed, as by a driver's fault, and DirectML's with it; while anything holds on to it, no other is created |
//! | `crash@CALL` | the process ends |
//! | `hang@CALL` | the call does not return; a dispatch does, and keeps the device busy for a minute or so |
//! | `nothing@CALL` | the call says that it went well, and gives no interface; where one is to be given |
//! | `print@CALL` | the call goes well, and prints to standard output, as the runtime of Rust does and as that of C does |
//! | `complain@CALL` | the call goes well, and the debug layer reports an error; where an operator is created or dispatched |
//! | `accept-all` | operators are created of every desc; dispatching one that should have been refused removes the device |
//! | `wrong-element@dispatch` | the output's first element is not what it should be |
//! | `missing-element@dispatch` | the output's last element is not written |
//! | `outside@dispatch` | four bytes behind the output's binding are written |
//! | `input-changed@dispatch` | the input's first bytes are overwritten afterwards |
//! | `lost@barrier` | a barrier that the client records is not recorded, as if it had forgotten it |
//! | `level=LEVEL` | the device has this feature level, such as 2.1 |
//! | `known-levels=LEVEL` | to be asked for a higher feature level than this is an invalid argument |
//! | `without=TYPE` | the device lacks a data type, such as FLOAT64 |
//! | `flags=FLAGS` | operators are compiled with these execution flags alone: `none`, `no-metacommands`, `half-precision`, or both with a `+` between them |
//! | `debug-layer=TIMES` | there is a debug layer, and it says everything so many times |
//! | `alignment=BYTES` | a tensor's offset must be a multiple of this power of two, or binding it removes the device |
//! | `reasons` | standard error says why a desc is refused |
//!
//! | `CALL` | what is called |
//! |---|---|
//! | `device` | `DMLCreateDevice1`, or `DMLCreateDevice` |
//! | `recorder` | `CreateCommandRecorder` |
//! | `levels` | `CheckFeatureSupport`, asked for the feature level |
//! | `types` | `CheckFeatureSupport`, asked for a data type |
//! | `create` | `CreateOperator` |
//! | `compile` | `CompileOperator` |
//! | `initialize` | `CreateOperatorInitializer` |
//! | `table` | `CreateBindingTable` |
//! | `reset` | `Reset` of a binding table |
//! | `inputs` | `BindInputs` |
//! | `outputs` | `BindOutputs` |
//! | `temporary` | `BindTemporaryResource` |
//! | `persistent` | `BindPersistentResource` |
//! | `initializer-dispatch` | `RecordDispatch` of an initialiser |
//! | `dispatch` | `RecordDispatch` of a compiled operator |
//! | `barrier` | each barrier that is handed to `ResourceBarrier` of a command list, which is Direct3D's; nothing but `lost` happens there |
//!
//! Those that bind or record return nothing, so that what they would return removes the device.
//!
//! Each goes on for ever; `@dispatch:3` is the third such call in the process alone, and `@dispatch:3+` that
//! and all behind it. Whatever cannot be understood makes creating a device fail.

use std::{
    ops::RangeInclusive,
    sync::atomic::{AtomicU64, Ordering},
};

use dmlcts_directml::raw::{
    DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION, DML_EXECUTION_FLAG_DISABLE_META_COMMANDS,
    DML_EXECUTION_FLAG_NONE, DML_EXECUTION_FLAGS, DML_FEATURE_LEVEL, DML_TENSOR_DATA_TYPE,
};

use crate::level::Abilities;

/// What a client calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// `DMLCreateDevice` or `DMLCreateDevice1`.
    Device,
    /// `CreateCommandRecorder`.
    Recorder,
    /// `CheckFeatureSupport` for the feature level.
    Levels,
    /// `CheckFeatureSupport` for a data type.
    Types,
    /// `CreateOperator`.
    Create,
    /// `CompileOperator`.
    Compile,
    /// `CreateOperatorInitializer`.
    Initialize,
    /// `CreateBindingTable`.
    Table,
    /// `Reset` of a binding table.
    Reset,
    /// `BindInputs`.
    Inputs,
    /// `BindOutputs`.
    Outputs,
    /// `BindTemporaryResource`.
    Temporary,
    /// `BindPersistentResource`.
    Persistent,
    /// `RecordDispatch` of an initialiser.
    InitializerDispatch,
    /// `RecordDispatch` of a compiled operator.
    Dispatch,
    /// One barrier of `ResourceBarrier`, which is Direct3D's.
    Barrier,
}

/// What a call does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It says that there is no memory.
    OutOfMemory,
    /// It removes the device.
    DeviceRemoved,
    /// It removes Direct3D's device, too.
    Direct3dRemoved,
    /// It says that an argument is invalid.
    Refuse,
    /// It fails, and says nothing of why.
    Fail,
    /// It says that it is not supported.
    Unsupported,
    /// It ends the process.
    Crash,
    /// It does not end.
    Hang,
    /// It says that it went well, and gives nothing.
    Nothing,
    /// It prints to standard output, and is right.
    Print,
    /// The first element is another.
    WrongElement,
    /// The last element is not there.
    MissingElement,
    /// Something is written behind the output.
    Outside,
    /// Something is written into the input.
    InputChanged,
    /// It is as if it had not been called.
    Lost,
    /// The debug layer says that it is wrong, and it is right.
    Complain,
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
    /// The execution flags that operators have to be compiled with, where only some are taken.
    pub flags: Option<DML_EXECUTION_FLAGS>,
    /// How often its debug layer says everything; 0 where there is none.
    pub debug_layer: usize,
    /// The alignment that it demands of tensors' offsets; 0 for the usual one.
    pub alignment: u32,
    faults: Vec<Planned>,
    calls: [AtomicU64; CALLS.len()],
}

#[derive(Clone, Debug)]
struct Planned {
    fault: Fault,
    call: Call,
    /// The numbers of such calls, from 1.
    numbers: RangeInclusive<u64>,
}

const CALLS: [(&str, Call); 16] = [
    ("device", Call::Device),
    ("recorder", Call::Recorder),
    ("levels", Call::Levels),
    ("types", Call::Types),
    ("create", Call::Create),
    ("compile", Call::Compile),
    ("initialize", Call::Initialize),
    ("table", Call::Table),
    ("reset", Call::Reset),
    ("inputs", Call::Inputs),
    ("outputs", Call::Outputs),
    ("temporary", Call::Temporary),
    ("persistent", Call::Persistent),
    ("initializer-dispatch", Call::InitializerDispatch),
    ("dispatch", Call::Dispatch),
    ("barrier", Call::Barrier),
];

/// What gives an interface.
const RETURNING_INTERFACES: [Call; 6] =
    [Call::Device, Call::Recorder, Call::Create, Call::Compile, Call::Initialize, Call::Table];

/// Names, and the calls that alone can do it; none where all of the library's can.
const FAULTS: [(&str, Fault, &[Call]); 16] = [
    ("out-of-memory", Fault::OutOfMemory, &[]),
    ("device-removed", Fault::DeviceRemoved, &[]),
    ("direct3d-removed", Fault::Direct3dRemoved, &[]),
    ("refuse", Fault::Refuse, &[]),
    ("fail", Fault::Fail, &[]),
    ("unsupported", Fault::Unsupported, &[]),
    ("crash", Fault::Crash, &[]),
    ("hang", Fault::Hang, &[]),
    ("print", Fault::Print, &[]),
    ("nothing", Fault::Nothing, &RETURNING_INTERFACES),
    ("wrong-element", Fault::WrongElement, &[Call::Dispatch]),
    ("missing-element", Fault::MissingElement, &[Call::Dispatch]),
    ("outside", Fault::Outside, &[Call::Dispatch]),
    ("input-changed", Fault::InputChanged, &[Call::Dispatch]),
    ("lost", Fault::Lost, &[Call::Barrier]),
    ("complain", Fault::Complain, &[Call::Create, Call::Dispatch]),
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
        } else if let Some(level) = entry.strip_prefix("known-levels=") {
            self.abilities.known = parse_level(level)?;
        } else if let Some(name) = entry.strip_prefix("without=") {
            let index = TYPES.iter().position(|known| *known == name)?;
            self.abilities.lacking.push(DML_TENSOR_DATA_TYPE(index as i32 + 1));
        } else if let Some(words) = entry.strip_prefix("flags=") {
            self.flags = Some(parse_flags(words)?);
        } else if let Some(times) = entry.strip_prefix("debug-layer=") {
            self.debug_layer = times.parse().ok().filter(|times| *times > 0)?;
        } else if let Some(bytes) = entry.strip_prefix("alignment=") {
            self.alignment = bytes.parse().ok().filter(|bytes: &u32| bytes.is_power_of_two())?;
        } else if entry == "accept-all" {
            self.accepts_all = true;
        } else if entry == "reasons" {
            self.says_reasons = true;
        } else {
            let (fault, call) = entry.split_once('@')?;
            let (call, numbers) = match call.split_once(':') {
                Some((call, number)) => {
                    let first = number.strip_suffix('+').unwrap_or(number).parse().ok();
                    let first = first.filter(|first| *first > 0)?;
                    (call, first..=if number.ends_with('+') { u64::MAX } else { first })
                }
                None => (call, 1..=u64::MAX),
            };
            let (_, call) = *CALLS.iter().find(|(name, _)| *name == call)?;
            let (_, fault, only) = *FAULTS.iter().find(|(name, ..)| *name == fault)?;
            if !(only.contains(&call) || only.is_empty() && call != Call::Barrier) {
                return None;
            }
            self.faults.push(Planned { fault, call, numbers });
        }
        Some(())
    }

    /// Counts a call, and says what goes wrong in it.
    pub fn next(&self, call: Call) -> Option<Fault> {
        let number = self.calls[call as usize].fetch_add(1, Ordering::Relaxed) + 1;
        let meant = |planned: &&Planned| planned.call == call && planned.numbers.contains(&number);
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

/// `half-precision+no-metacommands` is 3.
fn parse_flags(text: &str) -> Option<DML_EXECUTION_FLAGS> {
    let mut flags = DML_EXECUTION_FLAG_NONE;
    for word in text.split('+') {
        flags.0 |= match word {
            "none" => DML_EXECUTION_FLAG_NONE.0,
            "half-precision" => DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION.0,
            "no-metacommands" => DML_EXECUTION_FLAG_DISABLE_META_COMMANDS.0,
            _ => return None,
        };
    }
    Some(flags)
}

#[cfg(test)]
mod tests {
    use dmlcts_directml::raw::{DML_FEATURE_LEVEL_2_1, DML_TENSOR_DATA_TYPE_FLOAT64};

    use super::*;

    #[test]
    fn faults_come_at_their_call_and_no_other() {
        let told = Misbehaviour::parse("out-of-memory@create:2, fail@create:4+, wrong-element@dispatch")
            .expect("is understood");
        let created: Vec<_> = (0..5).map(|_| told.next(Call::Create)).collect();
        let (memory, fail) = (Some(Fault::OutOfMemory), Some(Fault::Fail));
        assert_eq!(created, [None, memory, None, fail, fail]);
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
    fn calls_are_counted_apart() {
        for (name, call) in CALLS {
            let fault = if call == Call::Barrier { "lost" } else { "fail" };
            let told = Misbehaviour::parse(&format!("{fault}@{name}")).expect("is understood");
            let failing: Vec<_> = CALLS.iter().filter(|(_, other)| told.next(*other).is_some()).collect();
            assert_eq!(failing, [&(name, call)]);
        }
    }

    #[test]
    fn execution_flags_can_be_insisted_on() {
        let flags = |words: &str| {
            let told = Misbehaviour::parse(&format!("flags={words}")).expect("is understood");
            told.flags.map(|flags| flags.0)
        };
        assert_eq!(["none", "half-precision", "no-metacommands"].map(flags), [Some(0), Some(1), Some(2)]);
        assert_eq!(flags("no-metacommands+half-precision"), Some(3));
        assert_eq!(Misbehaviour::parse("").expect("is understood").flags, None);
    }

    #[test]
    fn an_unknown_word_is_named() {
        for text in [
            "crash",
            "crash@",
            "crash@dispatch:0",
            "crash@dispatch:+",
            "crash@run",
            "hang@run",
            "wrong-element@create",
            "wrong-element@initializer-dispatch",
            "nothing@dispatch",
            "fail@barrier",
            "lost@dispatch",
            "level=9.9",
            "known-levels=7.0",
            "without=FLOAT8",
            "flags=fast",
            "debug-layer=0",
            "alignment=48",
        ] {
            let mistake = Misbehaviour::parse(&format!("reasons,{text}")).expect_err(text);
            assert_eq!(mistake, format!("`{text}` is not understood"));
        }
    }
}
