//! Values of Thrift's types.

/// Type codes of the binary protocol.
pub mod kind {
    pub const STOP: u8 = 0;
    pub const BOOL: u8 = 2;
    pub const BYTE: u8 = 3;
    pub const DOUBLE: u8 = 4;
    pub const I16: u8 = 6;
    pub const I32: u8 = 8;
    pub const I64: u8 = 10;
    pub const STRING: u8 = 11;
    pub const STRUCT: u8 = 12;
    pub const MAP: u8 = 13;
    pub const SET: u8 = 14;
    pub const LIST: u8 = 15;
}

/// A value; strings are bytes.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Bool(bool),
    Byte(i8),
    Double(f64),
    I16(i16),
    I32(i32),
    I64(i64),
    String(Vec<u8>),
    /// Fields with their numbers.
    Struct(Vec<(i16, Value)>),
    /// A list or a set: the type of its elements, and the elements.
    List(u8, Vec<Value>),
    /// The types of keys and values, and the pairs.
    Map(u8, u8, Vec<(Value, Value)>),
}

impl Value {
    pub fn kind(&self) -> u8 {
        match self {
            Value::Bool(_) => kind::BOOL,
            Value::Byte(_) => kind::BYTE,
            Value::Double(_) => kind::DOUBLE,
            Value::I16(_) => kind::I16,
            Value::I32(_) => kind::I32,
            Value::I64(_) => kind::I64,
            Value::String(_) => kind::STRING,
            Value::Struct(_) => kind::STRUCT,
            Value::List(..) => kind::LIST,
            Value::Map(..) => kind::MAP,
        }
    }

    pub fn structs(items: impl Iterator<Item = Value>) -> Value {
        Value::List(kind::STRUCT, items.collect())
    }

    pub fn strings(items: impl IntoIterator<Item = Vec<u8>>) -> Value {
        Value::List(kind::STRING, items.into_iter().map(Value::String).collect())
    }

    pub fn handles(items: impl IntoIterator<Item = u32>) -> Value {
        let items = items.into_iter().map(|handle| Value::I32(handle.cast_signed()));
        Value::List(kind::I32, items.collect())
    }
}

/// The arguments of a call, or the fields of a structure.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'a>(pub &'a [(i16, Value)]);

/// A missing or wrong argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentError {
    /// The number of the field.
    pub field: i16,
    /// The expected type.
    pub expected: &'static str,
}

macro_rules! getters {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $pattern:pat => $value:expr, $expected:literal;)*) => {
        $($(#[$doc])*
        /// # Errors
        /// If the field is missing or has another type.
        pub fn $name(self, field: i16) -> Result<$type, ArgumentError> {
            match self.get(field) {
                Some($pattern) => Ok($value),
                _ => Err(ArgumentError { field, expected: $expected }),
            }
        })*
    };
}

impl<'a> Fields<'a> {
    /// A field, if it is there.
    pub fn get(self, field: i16) -> Option<&'a Value> {
        self.0
            .iter()
            .find(|(number, _)| *number == field)
            .map(|(_, value)| value)
    }

    getters! {
        bool: bool = Value::Bool(value) => *value, "a bool";
        i16: i16 = Value::I16(value) => *value, "an i16";
        i32: i32 = Value::I32(value) => *value, "an i32";
        i64: i64 = Value::I64(value) => *value, "an i64";
        double: f64 = Value::Double(value) => *value, "a double";
        /// Bytes.
        bytes: &'a [u8] = Value::String(value) => value, "a string";
        /// Elements.
        list: &'a [Value] = Value::List(_, items) => items, "a list";
        /// A structure.
        fields: Fields<'a> = Value::Struct(fields) => Fields(fields), "a struct";
    }

    /// A string in UTF-8.
    ///
    /// # Errors
    /// If the field is missing, has another type, or is not UTF-8.
    pub fn text(self, field: i16) -> Result<&'a str, ArgumentError> {
        let expected = "a string in UTF-8";
        std::str::from_utf8(self.bytes(field)?).map_err(|_| ArgumentError { field, expected })
    }

    /// A handle; errors are those of [`Fields::i32`].
    pub fn handle(self, field: i16) -> Result<u32, ArgumentError> {
        self.i32(field).map(i32::cast_unsigned)
    }

    /// A list of byte strings.
    ///
    /// # Errors
    /// If the field is missing or not a list of strings.
    pub fn strings(self, field: i16) -> Result<Vec<Vec<u8>>, ArgumentError> {
        let items = self.list(field)?.iter().map(|item| match item {
            Value::String(bytes) => Ok(bytes.clone()),
            _ => Err(ArgumentError {
                field,
                expected: "a list of strings",
            }),
        });
        items.collect()
    }

    /// A list of structures.
    ///
    /// # Errors
    /// If the field is missing or not a list of structures.
    pub fn structs(self, field: i16) -> Result<Vec<Fields<'a>>, ArgumentError> {
        let items = self.list(field)?.iter().map(|item| match item {
            Value::Struct(fields) => Ok(Fields(fields)),
            _ => Err(ArgumentError {
                field,
                expected: "a list of structs",
            }),
        });
        items.collect()
    }
}
