//! Messages between a guest's virtio driver and the device behind it, limited to those that User-mode Linux sends.
//!
//! The protocol is QEMU's (docs/interop/vhost-user.rst). A message has a header of twelve bytes (request, flags, size
//! of the payload) and a payload. With in-band notifications, a kick of a queue is a message too. It arrives before the
//! message with which the guest waits. The calendar calls the driver (see [`crate::timetravel`]).

use crate::GuestError;

/// Length of a message's header in bytes.
pub const HEADER_BYTES: usize = 12;
/// Length of the longest accepted payload in bytes. A configuration space has at most 256 bytes.
pub const PAYLOAD_BYTES: usize = 512;

/// Device feature: the driver may ask for protocol features.
pub const F_PROTOCOL_FEATURES: u64 = 1 << 30;
/// Protocol feature: requests without an answer of their own, such as kicks, are acknowledged.
pub const PROTOCOL_REPLY_ACK: u64 = 1 << 3;
/// Protocol feature: the device sends requests too.
pub const PROTOCOL_BACKEND_REQUESTS: u64 = 1 << 5;
/// Protocol feature: the driver reads the configuration space with messages.
pub const PROTOCOL_CONFIG: u64 = 1 << 9;
/// Protocol feature: kicks and calls are messages.
pub const PROTOCOL_IN_BAND_NOTIFICATIONS: u64 = 1 << 14;
/// Features that in-band notifications need.
pub const PROTOCOL_FEATURES: u64 = PROTOCOL_BACKEND_REQUESTS | PROTOCOL_CONFIG | PROTOCOL_IN_BAND_NOTIFICATIONS;

const VERSION: u32 = 1;
const FLAG_REPLY: u32 = 1 << 2;
const FLAG_NEED_REPLY: u32 = 1 << 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub request: u32,
    /// Version, and whether the message is an answer or needs one.
    pub flags: u32,
    /// Number of payload bytes.
    pub size: u32,
}

impl Header {
    /// Decodes a header.
    ///
    /// # Errors
    /// [`GuestError::Protocol`] if the payload is longer than every known one.
    pub fn decode(bytes: [u8; HEADER_BYTES]) -> Result<Self, GuestError> {
        let header = Self {
            request: word(&bytes, 0),
            flags: word(&bytes, 4),
            size: word(&bytes, 8),
        };
        if header.size as usize > PAYLOAD_BYTES {
            return Err(GuestError::Protocol(format!(
                "a device got a message of {} bytes",
                header.size
            )));
        }
        Ok(header)
    }

    /// Whether the sender waits for an acknowledgement.
    pub fn needs_reply(self) -> bool {
        self.flags & FLAG_NEED_REPLY != 0
    }
}

/// A part of the guest's memory: a range of a file. The file descriptor came with the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Address in the guest.
    pub address: u64,
    /// Length in bytes.
    pub size: u64,
    /// Start in the file, in bytes.
    pub offset: u64,
}

/// A request of a driver to its device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Asks for the features.
    GetFeatures,
    /// Sets the features to use.
    SetFeatures(u64),
    /// Asks for the protocol features.
    GetProtocolFeatures,
    /// Sets the protocol features to use.
    SetProtocolFeatures(u64),
    /// Tells where the guest's memory is.
    SetMemory(Vec<Region>),
    /// Sets the number of entries of a queue.
    SetQueueSize(usize, u16),
    /// Sets the addresses in the guest of a queue's three parts.
    SetQueueAddresses {
        queue: usize,
        descriptors: u64,
        /// Address of the ring that holds the driver's next buffers.
        available: u64,
        /// Address of the ring that holds the device's used buffers.
        used: u64,
    },
    /// Sets the next entry of a queue.
    SetQueueBase(usize, u16),
    /// Enables or disables a queue.
    SetQueueEnabled(usize, bool),
    /// Sets the file descriptor for the device's own requests. It came with this message.
    SetBackendSocket,
    /// Asks for the first bytes of the configuration space.
    GetConfig(usize),
    /// Announces a new entry in a queue.
    Kick(usize),
    /// A request that a device without state can acknowledge and ignore.
    Other,
}

impl Request {
    /// Decodes a request from its header and payload.
    ///
    /// # Errors
    /// [`GuestError::Protocol`] if the request is unknown or its payload is too short.
    pub fn decode(header: Header, payload: &[u8]) -> Result<Self, GuestError> {
        let needed = match header.request {
            2 | 8 | 10 | 16 | 18 | 24 | 35 => 8,
            5 => 8 + 32 * payload.first().map_or(0, |regions| usize::from(*regions)),
            9 => 40,
            _ => 0,
        };
        if payload.len() < needed {
            return Err(GuestError::Protocol(format!(
                "request {} has {} bytes, not {needed}",
                header.request,
                payload.len()
            )));
        }
        // Every payload that is read here begins with two numbers of 32 bits, or with one of 64 bits.
        let state = || (word(payload, 0) as usize, word(payload, 4));
        Ok(match header.request {
            1 => Self::GetFeatures,
            2 => Self::SetFeatures(double_word(payload, 0)),
            // SET_OWNER, and writes to a configuration space that cannot be changed.
            3 | 25 => Self::Other,
            5 => Self::SetMemory(
                payload[8..needed]
                    .chunks_exact(32)
                    .map(|region| Region {
                        address: double_word(region, 0),
                        size: double_word(region, 8),
                        offset: double_word(region, 24),
                    })
                    .collect(),
            ),
            8 => Self::SetQueueSize(state().0, state().1 as u16),
            9 => Self::SetQueueAddresses {
                queue: word(payload, 0) as usize,
                descriptors: double_word(payload, 8),
                used: double_word(payload, 16),
                available: double_word(payload, 24),
            },
            10 => Self::SetQueueBase(state().0, state().1 as u16),
            15 => Self::GetProtocolFeatures,
            16 => Self::SetProtocolFeatures(double_word(payload, 0)),
            18 => Self::SetQueueEnabled(state().0, state().1 != 0),
            21 => Self::SetBackendSocket,
            24 => Self::GetConfig(state().1 as usize),
            35 => Self::Kick(state().0),
            other => {
                return Err(GuestError::Protocol(format!(
                    "a device got request {other}, which it does not know"
                )));
            }
        })
    }
}

/// The answer to a request: the same request number with this payload.
pub fn reply(request: u32, payload: &[u8]) -> Vec<u8> {
    message(request, VERSION | FLAG_REPLY, payload)
}

/// The answer to a request for the configuration space.
pub fn config_reply(request: u32, bytes: &[u8]) -> Vec<u8> {
    let mut payload = [0u32, bytes.len() as u32, 0].map(u32::to_ne_bytes).concat();
    payload.extend_from_slice(bytes);
    reply(request, &payload)
}

fn message(request: u32, flags: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = [request, flags, payload.len() as u32].map(u32::to_ne_bytes).concat();
    bytes.extend_from_slice(payload);
    bytes
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let mut four = [0; 4];
    four.copy_from_slice(&bytes[at..at + 4]);
    u32::from_ne_bytes(four)
}

fn double_word(bytes: &[u8], at: usize) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[at..at + 8]);
    u64::from_ne_bytes(eight)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(number: u32, payload: &[u8]) -> Result<Request, GuestError> {
        Request::decode(
            Header {
                request: number,
                flags: VERSION,
                size: payload.len() as u32,
            },
            payload,
        )
    }

    #[test]
    fn memory_regions_carry_address_size_and_offset() {
        let mut payload = [2u32, 0].map(u32::to_ne_bytes).concat();
        for number in [0x1000u64, 0x4000, 0x1000, 0x1000, 0x8000, 0x2000, 0x8000, 0x9000] {
            payload.extend(number.to_ne_bytes());
        }
        let regions = vec![
            Region {
                address: 0x1000,
                size: 0x4000,
                offset: 0x1000,
            },
            Region {
                address: 0x8000,
                size: 0x2000,
                offset: 0x9000,
            },
        ];
        assert_eq!(request(5, &payload).unwrap(), Request::SetMemory(regions));
        assert!(request(5, &payload[..60]).is_err(), "the second region is cut off");
    }

    #[test]
    fn addresses_of_a_queue_come_as_descriptors_used_available() {
        let mut payload = [1u32, 0].map(u32::to_ne_bytes).concat();
        for number in [0x100u64, 0x200, 0x300, u64::MAX] {
            payload.extend(number.to_ne_bytes());
        }
        let expected = Request::SetQueueAddresses {
            queue: 1,
            descriptors: 0x100,
            used: 0x200,
            available: 0x300,
        };
        assert_eq!(request(9, &payload).unwrap(), expected);
    }

    #[test]
    fn a_kick_names_its_queue() {
        assert_eq!(
            request(35, &[1u32, 0].map(u32::to_ne_bytes).concat()).unwrap(),
            Request::Kick(1)
        );
    }

    #[test]
    fn unknown_short_and_long_messages_are_refused() {
        assert!(request(22, &[0; 8]).unwrap_err().to_string().contains("request 22"));
        assert!(request(35, &[0; 4]).is_err());
        let mut header = [0; HEADER_BYTES];
        header[8..].copy_from_slice(&513u32.to_ne_bytes());
        assert!(Header::decode(header).is_err());
    }

    #[test]
    fn a_configuration_space_comes_with_its_length() {
        let bytes = config_reply(24, &[1, 2, 3]);
        assert_eq!(word(&bytes, 8), 15, "size of the payload");
        assert_eq!((word(&bytes, 12), word(&bytes, 16)), (0, 3), "offset and length");
        assert_eq!(bytes[24..], [1, 2, 3]);
    }
}
