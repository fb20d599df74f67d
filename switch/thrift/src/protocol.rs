//! Thrift's binary protocol in its strict form: decodes and encodes messages.
//!
//! Input is limited before it is stored: the bytes and values of a message, and the depth of nesting.

use crate::value::{Value, kind};

const VERSION: u32 = 0x8001_0000;
const VERSION_MASK: u32 = 0xffff_0000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    Call = 1,
    Reply = 2,
    Exception = 3,
    Oneway = 4,
}

/// A message: a call or its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    pub kind: MessageKind,
    /// `SERVICE:METHOD` in a call, `METHOD` in an answer.
    pub name: String,
    /// The number that the caller gave to the call.
    pub sequence: i32,
    /// The arguments or the result.
    pub fields: Vec<(i16, Value)>,
}

/// The longest name of a method, in bytes.
const MAX_NAME: usize = 256;
/// The most values in one message.
const MAX_VALUES: usize = 100_000;
/// The deepest nesting of structures.
const MAX_DEPTH: u32 = 8;
/// The longest message in bytes. A [`LONG_CALL`] may be longer, because it contains a program.
const MAX_MESSAGE: usize = 1 << 20;
const MAX_LONG_MESSAGE: usize = 64 << 20;
const LONG_CALL: &str = "standard:bm_load_new_config";

/// A decoding error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecodeError {
    /// The message has at least this many bytes; some have not arrived yet.
    Incomplete(usize),
    Malformed(String),
}

fn malformed<T>(problem: impl Into<String>) -> Result<T, DecodeError> {
    Err(DecodeError::Malformed(problem.into()))
}

/// Decodes the message at the start of these bytes. Returns it with its length.
///
/// # Errors
/// If more bytes are needed, or the bytes are not a message.
pub fn parse(bytes: &[u8]) -> Result<(Message, usize), DecodeError> {
    let mut reader = Reader {
        bytes,
        at: 0,
        values: 0,
        limit: MAX_MESSAGE,
    };
    let version = reader.u32()?;
    if version & VERSION_MASK != VERSION {
        return malformed("not Thrift's binary protocol (strict, not framed)");
    }
    let kind = match version & 0xff {
        1 => MessageKind::Call,
        2 => MessageKind::Reply,
        3 => MessageKind::Exception,
        4 => MessageKind::Oneway,
        other => return malformed(format!("a message of kind {other}")),
    };
    let length = reader.length()?;
    if length > MAX_NAME {
        return malformed(format!("a method name of {length} bytes"));
    }
    let Ok(name) = String::from_utf8(reader.take(length)?.to_vec()) else {
        return malformed("a method name that is not UTF-8");
    };
    if name == LONG_CALL {
        reader.limit = MAX_LONG_MESSAGE;
    }
    let sequence = reader.u32()?.cast_signed();
    let fields = reader.fields(0)?;
    let message = Message {
        kind,
        name,
        sequence,
        fields,
    };
    Ok((message, reader.at))
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    values: usize,
    limit: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        let end = self.at.saturating_add(count);
        if end > self.limit {
            return malformed(format!("a message of more than {} bytes", self.limit));
        }
        let taken = self.bytes.get(self.at..end).ok_or(DecodeError::Incomplete(end))?;
        self.at = end;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn u8(&mut self) -> Result<u8, DecodeError> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn u32(&mut self) -> Result<u32, DecodeError> {
        self.array().map(u32::from_be_bytes)
    }

    fn i16(&mut self) -> Result<i16, DecodeError> {
        self.array().map(i16::from_be_bytes)
    }

    fn length(&mut self) -> Result<usize, DecodeError> {
        match i32::from_be_bytes(self.array()?) {
            length @ 0.. => Ok(length as usize),
            length => malformed(format!("a length of {length}")),
        }
    }

    /// The number of elements of a container with `values` values each. It is checked against the limit before the
    /// elements are read.
    fn count(&mut self, values: usize) -> Result<usize, DecodeError> {
        let count = self.length()?;
        match count.checked_mul(values).and_then(|new| new.checked_add(self.values)) {
            Some(total) if total <= MAX_VALUES => Ok(count),
            _ => malformed(format!("a container of {count} elements")),
        }
    }

    fn fields(&mut self, depth: u32) -> Result<Vec<(i16, Value)>, DecodeError> {
        if depth > MAX_DEPTH {
            return malformed(format!("more than {MAX_DEPTH} nested structures"));
        }
        let mut fields = Vec::new();
        loop {
            let kind = self.u8()?;
            if kind == kind::STOP {
                return Ok(fields);
            }
            let number = self.i16()?;
            fields.push((number, self.value(kind, depth)?));
        }
    }

    fn value(&mut self, kind: u8, depth: u32) -> Result<Value, DecodeError> {
        self.values += 1;
        if self.values > MAX_VALUES {
            return malformed(format!("more than {MAX_VALUES} values in a message"));
        }
        Ok(match kind {
            kind::BOOL => Value::Bool(self.u8()? != 0),
            kind::BYTE => Value::Byte(self.u8()?.cast_signed()),
            kind::DOUBLE => Value::Double(f64::from_be_bytes(self.array()?)),
            kind::I16 => Value::I16(self.i16()?),
            kind::I32 => Value::I32(self.u32()?.cast_signed()),
            kind::I64 => Value::I64(i64::from_be_bytes(self.array()?)),
            kind::STRING => {
                let length = self.length()?;
                Value::String(self.take(length)?.to_vec())
            }
            kind::STRUCT => Value::Struct(self.fields(depth + 1)?),
            kind::LIST | kind::SET => {
                self.nested(depth)?;
                let element = self.u8()?;
                let count = self.count(1)?;
                let items = (0..count).map(|_| self.value(element, depth + 1));
                Value::List(element, items.collect::<Result<_, _>>()?)
            }
            kind::MAP => {
                self.nested(depth)?;
                let (key, value) = (self.u8()?, self.u8()?);
                let count = self.count(2)?;
                let pairs = (0..count).map(|_| Ok((self.value(key, depth + 1)?, self.value(value, depth + 1)?)));
                Value::Map(key, value, pairs.collect::<Result<_, _>>()?)
            }
            other => return malformed(format!("a value of type {other}")),
        })
    }

    fn nested(&self, depth: u32) -> Result<(), DecodeError> {
        match depth >= MAX_DEPTH {
            true => malformed(format!("more than {MAX_DEPTH} nested containers")),
            false => Ok(()),
        }
    }
}

/// The bytes of a message.
pub fn encode(message: &Message) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(64);
    bytes.extend((VERSION | message.kind as u32).to_be_bytes());
    put_bytes(&mut bytes, message.name.as_bytes());
    bytes.extend(message.sequence.to_be_bytes());
    put_fields(&mut bytes, &message.fields);
    bytes
}

fn put_length(bytes: &mut Vec<u8>, length: usize) {
    // The longest answer is a program, and that came in a message of at most 64 MiB.
    bytes.extend((length as u32).to_be_bytes());
}

fn put_bytes(bytes: &mut Vec<u8>, value: &[u8]) {
    put_length(bytes, value.len());
    bytes.extend_from_slice(value);
}

fn put_fields(bytes: &mut Vec<u8>, fields: &[(i16, Value)]) {
    for (number, value) in fields {
        bytes.push(value.kind());
        bytes.extend(number.to_be_bytes());
        put(bytes, value);
    }
    bytes.push(kind::STOP);
}

fn put(bytes: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Bool(value) => bytes.push(u8::from(*value)),
        Value::Byte(value) => bytes.push(value.cast_unsigned()),
        Value::Double(value) => bytes.extend(value.to_be_bytes()),
        Value::I16(value) => bytes.extend(value.to_be_bytes()),
        Value::I32(value) => bytes.extend(value.to_be_bytes()),
        Value::I64(value) => bytes.extend(value.to_be_bytes()),
        Value::String(value) => put_bytes(bytes, value),
        Value::Struct(fields) => put_fields(bytes, fields),
        Value::List(element, items) => {
            bytes.push(*element);
            put_length(bytes, items.len());
            items.iter().for_each(|item| put(bytes, item));
        }
        Value::Map(key, value, pairs) => {
            bytes.extend([*key, *value]);
            put_length(bytes, pairs.len());
            for (key, value) in pairs {
                put(bytes, key);
                put(bytes, value);
            }
        }
    }
}
