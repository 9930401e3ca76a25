//! Parses case lines. Every error has its position, states what was expected, and suggests a similar name for
//! an unknown one.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::LineError;
use super::words::{Integers, Word, words};
use crate::{
    BindingOffsets, Case, DataType, Desc, Fill, List, Member, MemberKind, Side, Signature, Signatures,
    Tensor, Value, element_from_text,
};

/// The fields of a tensor desc that a line can name, after `InputTensor.` and `OutputTensor.`.
const FIELDS: [&str; 6] = [
    "DataType",
    "DimensionCount",
    "Flags",
    "Strides",
    "TotalTensorSizeInBytes",
    "GuaranteedBaseOffsetAlignment",
];

/// Parses a line. See the [module's documentation](super) for the form.
pub fn parse(line: &str, signatures: &Signatures) -> Result<Case, LineError> {
    refuse_control_characters(line)?;
    let mut words = words(line);
    let missing = |what: &str, help: String| LineError::new(line.len()..line.len(), what, help);
    let operators = || signatures.iter().map(|signature| signature.operator.as_str());

    let operator = words.next().ok_or_else(|| {
        let operators = operators().collect::<Vec<_>>().join(", ");
        missing("the line is empty", format!("an operator comes first: {operators}"))
    })?;
    let signature = signatures
        .get(operator.text)
        .ok_or_else(|| operator.unknown("operator", operators().collect::<Vec<_>>()))?;
    let data_type = words
        .next()
        .ok_or_else(|| missing("the data type is missing", "it comes second, such as FLOAT32".to_owned()))?
        .data_type()?;

    let mut entries = Entries::new(signature, data_type);
    for word in words {
        entries.read(word)?;
    }
    entries.finish().map_err(|(what, help)| missing(&what, help))
}

/// Refuses control characters such as line breaks and NUL, which only occur in a line by accident.
fn refuse_control_characters(line: &str) -> Result<(), LineError> {
    let Some((place, letter)) =
        line.char_indices().find(|(_, letter)| letter.is_control() && *letter != '\t')
    else {
        return Ok(());
    };
    Err(LineError::new(
        place..place + letter.len_utf8(),
        format!("the control character {letter:?} does not belong in a case line"),
        "a case is one line of printable text",
    ))
}

/// The content of the words that have been read.
struct Entries<'a> {
    signature: &'a Arc<Signature>,
    data_type: DataType,
    /// Every key that has been read, since no key may occur twice.
    keys: SmallVec<[&'a str; 16]>,
    tensors: [TensorEntries<'a>; 2],
    members: SmallVec<[Option<Value>; 6]>,
    binding: BindingOffsets,
    fill: Fill,
}

/// The content of the words about one tensor.
struct TensorEntries<'a> {
    /// The word `InputTensor=null`.
    null: Option<Word<'a>>,
    /// A word that describes the tensor, which a null pointer must not have.
    said: Option<Word<'a>>,
    /// Whether `in=` or `out=` occurred, including as `null`.
    sizes_said: bool,
    dimension_count: Option<u32>,
    total_size: Option<u64>,
    /// The other fields.
    tensor: Tensor,
}

impl<'a> Entries<'a> {
    fn new(signature: &'a Arc<Signature>, data_type: DataType) -> Self {
        Self {
            signature,
            data_type,
            keys: SmallVec::new(),
            tensors: [TensorEntries::new(data_type), TensorEntries::new(data_type)],
            members: smallvec![None; signature.members.len()],
            binding: BindingOffsets::default(),
            fill: Fill::Iota,
        }
    }

    /// Every key that the line may use.
    fn known_keys(&self) -> Vec<String> {
        let plain = ["in", "out", "fill", "InputBinding.Offset", "OutputBinding.Offset"];
        let members = self.signature.members.iter().map(|member| member.name.clone());
        let fields = Side::BOTH.into_iter().flat_map(|side| {
            let field = move |field: &str| format!("{}.{field}", side.member_name());
            FIELDS.into_iter().map(field).chain([side.member_name().to_owned()])
        });
        members.chain(plain.map(str::to_owned)).chain(fields).collect()
    }

    fn read(&mut self, word: Word<'a>) -> Result<(), LineError> {
        let Some((key, value)) = word.split_once('=') else {
            return Err(word.error(
                format!("`{}` is not of the form key=value", word.excerpt()),
                "a value follows its key and an equals sign, without blanks: `in=1,1,4,4`",
            ));
        };
        if self.keys.contains(&key.text) {
            return Err(key.error(format!("`{}` is given twice", key.text), "keep one of the two"));
        }
        self.keys.push(key.text);
        match key.text {
            "in" => self.tensors[0].sizes(word, value)?,
            "out" => self.tensors[1].sizes(word, value)?,
            "InputTensor" => self.tensors[0].null(word, value)?,
            "OutputTensor" => self.tensors[1].null(word, value)?,
            "InputBinding.Offset" => self.binding.input = value.integer(Integers::UINT64)? as u64,
            "OutputBinding.Offset" => self.binding.output = value.integer(Integers::UINT64)? as u64,
            "fill" => self.fill = read_fill(value)?,
            name => {
                if let Some(place) = self.signature.position(name) {
                    let member = &self.signature.members[place];
                    self.members[place] = Some(read_member(member, value, self.data_type)?);
                    return Ok(());
                }
                let (side, field) = match name.split_once('.') {
                    Some(("InputTensor", field)) if FIELDS.contains(&field) => (0, field),
                    Some(("OutputTensor", field)) if FIELDS.contains(&field) => (1, field),
                    _ => return Err(self.unknown(key)),
                };
                self.tensors[side].field(word, field, value)?;
            }
        }
        Ok(())
    }

    fn unknown(&self, key: Word<'_>) -> LineError {
        let known = self.known_keys();
        key.unknown(
            &format!("member of {} and no other key", self.signature.operator),
            known.iter().map(String::as_str),
        )
    }

    /// Fills in the usual values of omitted keys. If a required key is missing, the error is a message and
    /// its advice.
    fn finish(self) -> Result<Case, (String, String)> {
        let [input, output] = self.tensors;
        let input = input.finish(Side::Input)?;
        let output = output.finish(Side::Output)?;
        let mut desc =
            Desc { signature: Arc::clone(self.signature), input, output, members: SmallVec::new() };
        let rank = desc.rank();
        for (member, value) in self.signature.members.iter().zip(self.members) {
            let value = match (value, &member.kind) {
                (Some(value), _) => value,
                (None, MemberKind::Count) => Value::Integer(rank as i64),
                (None, MemberKind::U32 | MemberKind::I32) => Value::Integer(0),
                (None, MemberKind::DataType) => Value::Integer(self.data_type.0.into()),
                (None, MemberKind::Scalar) => Value::Scalar([0; 8]),
                (None, MemberKind::U32List | MemberKind::I32List) => {
                    let help = "write one value an axis, separated by commas, or `null` for a null pointer";
                    return Err((format!("`{}=` is missing", member.name), help.to_owned()));
                }
                (None, MemberKind::Enumeration(enumeration)) => {
                    let help = format!("write one of {}, or a number", enumeration.names().join(", "));
                    return Err((format!("`{}=` is missing", member.name), help));
                }
            };
            desc.members.push(value);
        }
        Ok(Case { desc: Box::new(desc), binding: self.binding, fill: self.fill })
    }
}

impl<'a> TensorEntries<'a> {
    fn new(data_type: DataType) -> Self {
        let tensor = Tensor::packed(data_type, List::new());
        Self { null: None, said: None, sizes_said: false, dimension_count: None, total_size: None, tensor }
    }

    fn sizes(&mut self, word: Word<'a>, value: Word<'a>) -> Result<(), LineError> {
        self.say(word)?;
        self.sizes_said = true;
        self.tensor.sizes = value.list(Integers::UINT)?;
        Ok(())
    }

    fn null(&mut self, word: Word<'a>, value: Word<'a>) -> Result<(), LineError> {
        if value.text != "null" {
            let help =
                "`null` is all that it can be; sizes are `in=` and `out=`, fields have a dot and a name";
            return Err(value.error("a tensor is said field by field", help));
        }
        self.null = Some(word);
        self.said.map_or(Ok(()), |said| Err(contradiction(said)))
    }

    fn field(&mut self, word: Word<'a>, field: &str, value: Word<'a>) -> Result<(), LineError> {
        self.say(word)?;
        match field {
            "DataType" => self.tensor.data_type = value.data_type()?,
            "DimensionCount" => self.dimension_count = Some(value.integer(Integers::UINT)? as u32),
            "Flags" => self.tensor.flags = value.integer(Integers::UINT)? as u32,
            "Strides" => self.tensor.strides = value.list(Integers::UINT)?,
            "TotalTensorSizeInBytes" => self.total_size = Some(value.integer(Integers::UINT64)? as u64),
            _ => self.tensor.alignment = value.integer(Integers::UINT)? as u32,
        }
        Ok(())
    }

    /// Records a word that describes the tensor, so that it is not null.
    fn say(&mut self, word: Word<'a>) -> Result<(), LineError> {
        self.said = Some(word);
        self.null.map_or(Ok(()), |_| Err(contradiction(word)))
    }

    fn finish(self, side: Side) -> Result<Option<Tensor>, (String, String)> {
        if self.null.is_some() {
            return Ok(None);
        }
        let name = side.member_name();
        if !self.sizes_said {
            let key = if side == Side::Input { "in" } else { "out" };
            return Err((
                format!("the sizes of {name} are missing"),
                format!("write `{key}=` and its sizes, `{key}=null` or `{name}=null`"),
            ));
        }
        let mut tensor = self.tensor;
        let usual_count = tensor.sizes.as_ref().map_or(0, SmallVec::len) as u32;
        tensor.dimension_count = self.dimension_count.unwrap_or(usual_count);
        tensor.total_size = self.total_size.unwrap_or_else(|| tensor.usual_total_size());
        Ok(Some(tensor))
    }
}

fn contradiction(word: Word<'_>) -> LineError {
    word.error(
        format!("`{}` speaks of a tensor that the line makes null", word.excerpt()),
        "leave it out, or leave `=null` out",
    )
}

fn read_member(member: &Member, value: Word<'_>, data_type: DataType) -> Result<Value, LineError> {
    Ok(match &member.kind {
        MemberKind::Count | MemberKind::U32 => Value::Integer(value.integer(Integers::UINT)? as i64),
        MemberKind::I32 => Value::Integer(value.integer(Integers::INT)? as i64),
        MemberKind::U32List => Value::List(value.list(Integers::UINT)?),
        MemberKind::I32List => Value::List(value.list(Integers::INT)?),
        MemberKind::DataType => Value::Integer(value.data_type()?.0.into()),
        MemberKind::Enumeration(enumeration) => {
            if let Some(known) = enumeration.value(value.text) {
                Value::Integer(known)
            } else if value.text.starts_with(|first: char| first.is_ascii_digit() || first == '-') {
                Value::Integer(value.integer(Integers::INT)? as i64)
            } else {
                let what = format!("enumerator of {}", enumeration.name);
                return Err(value.unknown(&what, enumeration.names()));
            }
        }
        MemberKind::Scalar => Value::Scalar(read_scalar(value, data_type)?),
    })
}

/// Reads all eight bytes in hex, or a number of the line's data type.
fn read_scalar(value: Word<'_>, data_type: DataType) -> Result<[u8; 8], LineError> {
    let help = "`0x` and up to 16 hex digits, the most significant first, say all eight bytes of any scalar";
    let Some((_, hex)) = value.text.starts_with("0x").then(|| value.split_once('x')).flatten() else {
        return element_from_text(data_type, value.text)
            .map_err(|error| value.error(error.to_string(), help));
    };
    let digits =
        (1..=16).contains(&hex.text.len()) && hex.text.bytes().all(|digit| digit.is_ascii_hexdigit());
    u64::from_str_radix(hex.text, 16)
        .ok()
        .filter(|_| digits)
        .map(u64::to_le_bytes)
        .ok_or_else(|| value.error(format!("`{}` is not eight bytes in hex", value.excerpt()), help))
}

fn read_fill(value: Word<'_>) -> Result<Fill, LineError> {
    let (kind, parameter) = match value.split_once(':') {
        Some((kind, parameter)) => (kind, Some(parameter)),
        None => (value, None),
    };
    match (kind.text, parameter) {
        ("iota", None) => Ok(Fill::Iota),
        ("coordinates", None) => Ok(Fill::Coordinates { pass: 0 }),
        ("coordinates", Some(pass)) => Ok(Fill::Coordinates { pass: pass.integer(Integers::UINT8)? as u8 }),
        ("random", Some(seed)) => Ok(Fill::Random { seed: seed.integer(Integers::UINT64)? as u64 }),
        ("special", Some(seed)) => Ok(Fill::Special { seed: seed.integer(Integers::UINT64)? as u64 }),
        ("explicit", Some(bytes)) => Ok(Fill::Explicit(bytes.bytes()?.into())),
        ("iota", Some(_)) => Err(value.error("`iota` takes no parameter", "write `fill=iota`")),
        ("random" | "special", None) => {
            Err(value.error(format!("`{}` needs a seed", kind.text), format!("write `{}:0`", kind.text)))
        }
        ("explicit", None) => Err(value.error("`explicit` needs its bytes", "write `explicit:0000803f`")),
        _ => Err(kind.unknown("fill", ["iota", "coordinates", "random", "special", "explicit"])),
    }
}
