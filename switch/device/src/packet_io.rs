//! Packets to and from the controller. The header before the frame becomes the metadata of the message, and back.

use p4sched_proto::p4::v1 as p4rt;

use crate::bits;
use crate::bytestring::{canonical, full_width};
use crate::fault::Fault;
use crate::index::HeaderField;

fn header_bytes(fields: &[HeaderField]) -> usize {
    fields
        .iter()
        .map(|field| field.width as usize)
        .sum::<usize>()
        .div_ceil(8)
}

/// The message for a frame that leaves through the CPU port; `None` if the frame is shorter than its header.
pub fn packet_in(fields: Option<&[HeaderField]>, frame: &[u8]) -> Option<p4rt::PacketIn> {
    let fields = fields.unwrap_or_default();
    let (header, payload) = frame.split_at_checked(header_bytes(fields))?;
    let mut start = 0;
    let metadata = fields.iter().map(|field| {
        let value = canonical(&bits::slice(header, start, field.width));
        start += field.width as usize;
        p4rt::PacketMetadata {
            metadata_id: field.id,
            value,
        }
    });
    Some(p4rt::PacketIn {
        metadata: metadata.collect(),
        payload: payload.to_vec(),
    })
}

/// The frame for a message; the header comes first.
///
/// # Errors
/// `INVALID_ARGUMENT` for missing, unknown or repeated metadata, `OUT_OF_RANGE` for values that are too wide.
pub fn packet_out(fields: Option<&[HeaderField]>, packet: &p4rt::PacketOut) -> Result<Vec<u8>, Fault> {
    let fields = fields.unwrap_or_default();
    for (position, given) in packet.metadata.iter().enumerate() {
        let id = given.metadata_id;
        if !fields.iter().any(|field| field.id == id) {
            let known: Vec<String> = fields
                .iter()
                .map(|field| format!("{} ({})", field.id, field.name))
                .collect();
            let known = if known.is_empty() {
                "none".to_owned()
            } else {
                known.join(", ")
            };
            return Err(Fault::invalid(format!(
                "packet-out: no metadata {id}; the program has {known}"
            )));
        }
        if packet.metadata[..position].iter().any(|other| other.metadata_id == id) {
            return Err(Fault::invalid(format!("packet-out: metadata {id} is given twice")));
        }
    }
    let mut header = bits::Writer::default();
    for field in fields {
        let given = packet.metadata.iter().find(|given| given.metadata_id == field.id);
        let given = given
            .ok_or_else(|| Fault::invalid(format!("packet-out: metadata {} ({}) is missing", field.id, field.name)))?;
        header.push(
            &full_width(&format_args!("packet-out: '{}'", field.name), &given.value, field.width)?,
            field.width,
        );
    }
    let mut frame = header.left_aligned();
    frame.extend_from_slice(&packet.payload);
    Ok(frame)
}

#[cfg(test)]
mod tests {
    use crate::fault::Code;

    use super::*;

    fn fields() -> Vec<HeaderField> {
        let field = |id, name: &str, width| HeaderField {
            id,
            name: name.to_owned(),
            width,
        };
        vec![field(1, "egress_port", 9), field(2, "_pad", 7)]
    }

    fn metadata(metadata_id: u32, value: &[u8]) -> p4rt::PacketMetadata {
        p4rt::PacketMetadata {
            metadata_id,
            value: value.to_vec(),
        }
    }

    #[test]
    fn header_fields_are_packed_and_unpacked_bit_by_bit() {
        let packet = p4rt::PacketOut {
            payload: b"frame".to_vec(),
            metadata: vec![metadata(2, &[0x05]), metadata(1, &[0x01, 0x02])],
        };
        let frame = packet_out(Some(&fields()), &packet).expect("valid metadata");
        assert_eq!(frame, [&[0b1000_0001, 0b0000_0101], b"frame".as_slice()].concat());
        let message = packet_in(Some(&fields()), &frame).expect("long enough");
        assert_eq!(message.payload, b"frame");
        assert_eq!(message.metadata, [metadata(1, &[0x01, 0x02]), metadata(2, &[0x05])]);
    }

    #[test]
    fn metadata_must_be_exactly_what_p4info_declares() {
        let cases = [
            (vec![metadata(1, &[1])], Code::InvalidArgument),
            (
                vec![metadata(1, &[1]), metadata(2, &[0]), metadata(3, &[0])],
                Code::InvalidArgument,
            ),
            (
                vec![metadata(1, &[1]), metadata(1, &[1]), metadata(2, &[0])],
                Code::InvalidArgument,
            ),
            (vec![metadata(1, &[2, 0]), metadata(2, &[0])], Code::OutOfRange),
        ];
        for (metadata, code) in cases {
            let packet = p4rt::PacketOut {
                payload: Vec::new(),
                metadata,
            };
            assert_eq!(
                packet_out(Some(&fields()), &packet).map_err(|fault| fault.code),
                Err(code),
                "{packet:?}"
            );
        }
    }

    #[test]
    fn without_controller_header_the_frame_is_the_payload() {
        let message = packet_in(None, b"frame").expect("no header");
        assert_eq!(
            (message.payload.as_slice(), message.metadata.len()),
            (b"frame".as_slice(), 0)
        );
        assert_eq!(packet_in(Some(&fields()), b"x"), None, "shorter than its header");
    }
}
