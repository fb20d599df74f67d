//! Messages between a guest and its calendar: include/uapi/linux/um_timetravel.h.
//!
//! The guest asks before its time moves, and waits until the calendar lets it run. Whoever gets a message answers it with
//! an ACK of the same sequence number.

use crate::GuestError;

/// Length of every message in bytes: operation, sequence number (both 32 bits) and time (64 bits).
pub const BYTES: usize = 16;

/// What a message wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Answer to the message with the same sequence number.
    Ack,
    /// A guest connects; the time is its identity.
    Start,
    /// The guest wants to run at this time; it forgets an earlier wish.
    Request,
    /// The guest waits for the time that it asked for.
    Wait,
    /// The guest asks for the time.
    Get,
    /// The guest says what its time is.
    Update,
    /// The guest may run; its time is this one.
    Run,
    /// The guest's time may move without asking, up to this one.
    FreeUntil,
    /// The guest asks for the time of the day.
    GetTimeOfDay,
}

impl Operation {
    const ALL: [Self; 9] = [
        Self::Ack,
        Self::Start,
        Self::Request,
        Self::Wait,
        Self::Get,
        Self::Update,
        Self::Run,
        Self::FreeUntil,
        Self::GetTimeOfDay,
    ];
}

/// One message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// What it wants.
    pub operation: Operation,
    /// Number that its answer repeats.
    pub sequence: u32,
    /// A time in ns, where the operation has one.
    pub time: u64,
}

impl Message {
    /// The message as it goes over the socket.
    pub fn encode(self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..4].copy_from_slice(&(self.operation as u32).to_ne_bytes());
        bytes[4..8].copy_from_slice(&self.sequence.to_ne_bytes());
        bytes[8..].copy_from_slice(&self.time.to_ne_bytes());
        bytes
    }

    /// The message that came over the socket.
    ///
    /// # Errors
    /// [`GuestError::Protocol`] if there is no such operation.
    pub fn decode(bytes: [u8; BYTES]) -> Result<Self, GuestError> {
        let [o0, o1, o2, o3, s0, s1, s2, s3, time @ ..] = bytes;
        let number = u32::from_ne_bytes([o0, o1, o2, o3]);
        let operation = *Operation::ALL.get(number as usize).ok_or_else(|| {
            GuestError::Protocol(format!("the calendar got operation {number}, which does not exist"))
        })?;
        Ok(Self {
            operation,
            sequence: u32::from_ne_bytes([s0, s1, s2, s3]),
            time: u64::from_ne_bytes(time),
        })
    }

    /// The answer to this message, with a time where it was asked for.
    pub fn ack(self, time: u64) -> Self {
        Self {
            operation: Operation::Ack,
            sequence: self.sequence,
            time,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_the_layout_of_the_kernels_structure() {
        let message = Message {
            operation: Operation::Run,
            sequence: 7,
            time: 0x0102_0304_0506_0708,
        };
        let bytes = message.encode();
        assert_eq!(bytes[..4], 6u32.to_ne_bytes());
        assert_eq!(bytes[4..8], 7u32.to_ne_bytes());
        assert_eq!(bytes[8..], 0x0102_0304_0506_0708u64.to_ne_bytes());
        assert_eq!(Message::decode(bytes).unwrap(), message);
    }

    #[test]
    fn an_answer_repeats_the_sequence_number() {
        let message = Message {
            operation: Operation::Get,
            sequence: 41,
            time: u64::MAX,
        };
        assert_eq!(
            message.ack(12),
            Message {
                operation: Operation::Ack,
                sequence: 41,
                time: 12
            }
        );
    }

    #[test]
    fn an_unknown_operation_is_refused() {
        let mut bytes = [0; BYTES];
        bytes[0] = 9;
        assert!(Message::decode(bytes).unwrap_err().to_string().contains("operation 9"));
    }
}
