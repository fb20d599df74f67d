//! Protobuf's text format with one field in each line, as written by `protoc` and p4c.

use std::fmt::Write as _;

use p4sched_proto::{DESCRIPTORS, p4::config::v1::P4Info};
use prost::Message as _;
use prost_reflect::{DynamicMessage, MapKey, ReflectMessage as _, Value};

#[must_use]
pub fn p4info_text(p4info: &P4Info) -> String {
    let head = "# proto-file: p4/config/v1/p4info.proto\n# proto-message: p4.config.v1.P4Info\n\n";
    let mut text = head.to_owned();
    let descriptor = DESCRIPTORS.get_message_by_name("p4.config.v1.P4Info");
    let message = descriptor.and_then(|d| DynamicMessage::decode(d, p4info.encode_to_vec().as_slice()).ok());
    if let Some(message) = message {
        fields(&message, 0, &mut text);
    }
    text
}

fn fields(message: &DynamicMessage, depth: usize, text: &mut String) {
    // Fields are in order of their numbers; those of a 'oneof' are in order of declaration.
    for field in message.descriptor().fields() {
        if !message.has_field(&field) {
            continue;
        }
        match message.get_field(&field).as_ref() {
            Value::List(values) => {
                for value in values {
                    line(field.name(), value, &field, depth, text);
                }
            }
            Value::Map(entries) => {
                let mut entries: Vec<_> = entries.iter().collect();
                entries.sort_by_key(|(key, _)| match key {
                    MapKey::String(key) => key.clone(),
                    _ => String::new(),
                });
                for (key, value) in entries {
                    let indent = "  ".repeat(depth);
                    let _ = writeln!(text, "{indent}{} {{", field.name());
                    if let MapKey::String(key) = key {
                        let _ = writeln!(text, "{indent}  key: {}", quoted(key.as_bytes()));
                    }
                    line("value", value, &field, depth + 1, text);
                    let _ = writeln!(text, "{indent}}}");
                }
            }
            value => line(field.name(), value, &field, depth, text),
        }
    }
}

fn line(name: &str, value: &Value, field: &prost_reflect::FieldDescriptor, depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    let shown = match value {
        Value::Message(inner) => {
            let _ = writeln!(text, "{indent}{name} {{");
            fields(inner, depth + 1, text);
            let _ = writeln!(text, "{indent}}}");
            return;
        }
        Value::EnumNumber(number) => {
            let kind = field.kind();
            let value = kind.as_enum().and_then(|e| e.get_value(*number));
            value.map_or_else(|| number.to_string(), |v| v.name().to_owned())
        }
        Value::Bool(v) => v.to_string(),
        Value::I32(v) => v.to_string(),
        Value::I64(v) => v.to_string(),
        Value::U32(v) => v.to_string(),
        Value::U64(v) => v.to_string(),
        Value::F32(v) => v.to_string(),
        Value::F64(v) => v.to_string(),
        Value::String(v) => quoted(v.as_bytes()),
        Value::Bytes(v) => quoted(v),
        Value::List(_) | Value::Map(_) => return,
    };
    let _ = writeln!(text, "{indent}{name}: {shown}");
}

/// A string literal. Characters other than printable ASCII are octal.
fn quoted(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for byte in bytes {
        match byte {
            b'"' => text.push_str("\\\""),
            b'\'' => text.push_str("\\'"),
            b'\\' => text.push_str("\\\\"),
            b'\n' => text.push_str("\\n"),
            b'\r' => text.push_str("\\r"),
            b'\t' => text.push_str("\\t"),
            0x20..=0x7e => text.push(char::from(*byte)),
            other => {
                let _ = write!(text, "\\{other:03o}");
            }
        }
    }
    text.push('"');
    text
}
