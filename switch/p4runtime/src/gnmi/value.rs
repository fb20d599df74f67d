//! Values of leaves, and their encodings.

use p4sched_proto::gnmi::typed_value::Value as Typed;
use p4sched_proto::gnmi::{Encoding, TypedValue};
use serde_json::json;
use tonic::Status;

/// The encodings of values that a client may ask for.
pub const ENCODINGS: [Encoding; 3] = [Encoding::Proto, Encoding::Json, Encoding::JsonIetf];

/// The value of a leaf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Text(String),
    Bool(bool),
    Number(u32),
    /// A number of 64 bits. JSON of the IETF writes it as text (RFC 7951, section 6.1).
    Wide(u64),
}

/// The encoding with this number.
///
/// # Errors
/// `UNIMPLEMENTED` for all others than [`ENCODINGS`].
pub fn encoding(number: i32) -> Result<Encoding, Status> {
    let known = Encoding::try_from(number).ok();
    known.filter(|encoding| ENCODINGS.contains(encoding)).ok_or_else(|| {
        let name = known.map_or_else(|| number.to_string(), |encoding| encoding.as_str_name().to_owned());
        let names = ENCODINGS.map(|encoding| encoding.as_str_name());
        Status::unimplemented(format!("no encoding {name}; this switch has {}", names.join(", ")))
    })
}

impl Value {
    pub fn encoded(&self, encoding: Encoding) -> TypedValue {
        let value = match encoding {
            Encoding::Json => Typed::JsonVal(self.json(false)),
            Encoding::JsonIetf => Typed::JsonIetfVal(self.json(true)),
            _ => match self {
                Value::Text(text) => Typed::StringVal(text.clone()),
                Value::Bool(value) => Typed::BoolVal(*value),
                Value::Number(number) => Typed::UintVal(u64::from(*number)),
                Value::Wide(number) => Typed::UintVal(*number),
            },
        };
        TypedValue { value: Some(value) }
    }

    fn json(&self, ietf: bool) -> Vec<u8> {
        let value = match self {
            Value::Text(text) => json!(text),
            Value::Bool(value) => json!(value),
            Value::Number(number) => json!(number),
            Value::Wide(number) if ietf => json!(number.to_string()),
            Value::Wide(number) => json!(number),
        };
        value.to_string().into_bytes()
    }
}

/// A value of a request as JSON; `None` if it is of a kind that no leaf of this switch has.
pub fn requested(value: &TypedValue) -> Option<serde_json::Value> {
    match value.value.as_ref()? {
        Typed::BoolVal(value) => Some(json!(value)),
        Typed::StringVal(text) => Some(json!(text)),
        Typed::JsonVal(text) | Typed::JsonIetfVal(text) => serde_json::from_slice(text).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_json_of_the_ietf_writes_wide_numbers_as_text() {
        let typed = |value: Value, encoding| value.encoded(encoding).value.expect("it has a value");
        let wide = Value::Wide(1 << 60);
        assert_eq!(typed(wide.clone(), Encoding::Proto), Typed::UintVal(1 << 60));
        assert_eq!(
            typed(wide.clone(), Encoding::Json),
            Typed::JsonVal(b"1152921504606846976".to_vec())
        );
        assert_eq!(
            typed(wide, Encoding::JsonIetf),
            Typed::JsonIetfVal(b"\"1152921504606846976\"".to_vec())
        );
        assert_eq!(
            typed(Value::Number(7), Encoding::JsonIetf),
            Typed::JsonIetfVal(b"7".to_vec())
        );
    }
}
