//! Reads JSON. Every error names its path in the document.

use std::sync::Arc;

use serde_json::Value;

use crate::LoadError;
use crate::events::Source;

pub(crate) type Load<T> = Result<T, LoadError>;

/// A value and its path in the document.
#[derive(Clone)]
pub(crate) struct Json<'a> {
    value: &'a Value,
    path: String,
}

impl<'a> Json<'a> {
    pub fn root(value: &'a Value) -> Self {
        Json {
            value,
            path: String::new(),
        }
    }

    pub fn value(&self) -> &'a Value {
        self.value
    }

    /// An error about this value.
    pub fn error<T>(&self, problem: impl Into<String>) -> Load<T> {
        let path = if self.path.is_empty() {
            "the program"
        } else {
            &self.path
        };
        Err(LoadError::Invalid {
            path: path.to_string(),
            problem: problem.into(),
        })
    }

    /// A member that may be missing or null.
    pub fn opt(&self, key: &str) -> Option<Json<'a>> {
        let value = self.value.get(key)?;
        if value.is_null() {
            return None;
        }
        let path = if self.path.is_empty() {
            key.to_string()
        } else {
            format!("{}.{key}", self.path)
        };
        Some(Json { value, path })
    }

    /// A required member.
    pub fn get(&self, key: &str) -> Load<Json<'a>> {
        match self.opt(key) {
            Some(member) => Ok(member),
            None => self.error(format!("no '{key}'")),
        }
    }

    /// Place in the source of the program, if the compiler wrote it.
    pub fn source(&self) -> Option<Arc<Source>> {
        let source = self.value.get("source_info")?;
        Some(Arc::new(Source {
            file: source.get("filename")?.as_str()?.to_owned(),
            line: source.get("line")?.as_u64()?.try_into().ok()?,
            text: source.get("source_fragment")?.as_str()?.to_owned(),
        }))
    }

    pub fn at(&self, index: usize) -> Load<Json<'a>> {
        match self.value.get(index) {
            Some(value) => Ok(Json {
                value,
                path: format!("{}[{index}]", self.path),
            }),
            None => self.error(format!("no element {index}")),
        }
    }

    /// The elements of an array.
    pub fn items(&self) -> Load<Vec<Json<'a>>> {
        match self.value.as_array() {
            Some(array) => Ok(array
                .iter()
                .enumerate()
                .map(|(index, value)| Json {
                    value,
                    path: format!("{}[{index}]", self.path),
                })
                .collect()),
            None => self.error("should be an array"),
        }
    }

    /// The elements of an array member; empty if the member is missing.
    pub fn list(&self, key: &str) -> Load<Vec<Json<'a>>> {
        match self.opt(key) {
            Some(member) => member.items(),
            None => Ok(Vec::new()),
        }
    }

    /// The element with this `name` in an array member. `user` names what needs it, for the error.
    pub fn named(&self, key: &str, name: &str, user: &str) -> Load<Json<'a>> {
        let list = self.get(key)?;
        for json in list.items()? {
            if json.get("name")?.value().as_str() == Some(name) {
                return Ok(json);
            }
        }
        list.error(format!("no '{name}', which {user} needs"))
    }

    pub fn str(&self) -> Load<&'a str> {
        match self.value.as_str() {
            Some(text) => Ok(text),
            None => self.error("should be a string"),
        }
    }

    /// A boolean. p4c writes some of them as 0 and 1.
    pub fn bool(&self) -> Load<bool> {
        match (self.value.as_bool(), self.value.as_u64()) {
            (Some(value), _) => Ok(value),
            (None, Some(value @ 0..=1)) => Ok(value == 1),
            _ => self.error("should be true or false"),
        }
    }

    /// A boolean member; false if it is missing.
    pub fn flag(&self, key: &str) -> Load<bool> {
        self.flag_or(key, false)
    }

    pub fn flag_or(&self, key: &str, otherwise: bool) -> Load<bool> {
        self.opt(key).map_or(Ok(otherwise), |member| member.bool())
    }

    pub fn int(&self) -> Load<i64> {
        match self.value.as_i64() {
            Some(value) => Ok(value),
            None => self.error("should be an integer"),
        }
    }

    /// An integer from 0 to `max`.
    pub fn count(&self, max: u64) -> Load<usize> {
        match self.value.as_u64() {
            Some(value) if value <= max => Ok(value as usize),
            _ => self.error(format!("should be an integer from 0 to {max}")),
        }
    }

    /// Sign and bytes of a hex string such as "0x0800" or "-0x01".
    pub fn hex(&self) -> Load<(bool, Vec<u8>)> {
        let text = self.str()?;
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let digits = digits.strip_prefix("0x").unwrap_or(digits);
        if digits.len() > MAX_HEX_DIGITS {
            return self.error("a number this long is not supported");
        }
        match parse_hex(digits) {
            Some(bytes) => Ok((negative, bytes)),
            None => self.error(format!("'{text}' is not a hexadecimal number")),
        }
    }

    /// The bytes of an unsigned hex string.
    pub fn bytes(&self) -> Load<Vec<u8>> {
        match self.hex()? {
            (false, bytes) => Ok(bytes),
            (true, _) => self.error("should not be negative"),
        }
    }
}

/// Most digits of a hex string: 16 KiB, far more than any field.
const MAX_HEX_DIGITS: usize = 32 * 1024;

fn parse_hex(digits: &str) -> Option<Vec<u8>> {
    if digits.is_empty() {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len().div_ceil(2));
    let mut high = if digits.len() % 2 == 1 { Some(0u8) } else { None };
    for digit in digits.chars() {
        let nibble = digit.to_digit(16)? as u8;
        high = match high {
            None => Some(nibble),
            Some(first) => {
                bytes.push(first << 4 | nibble);
                None
            }
        };
    }
    Some(bytes)
}
