//! Messages between a guest and its calendar: include/uapi/linux/um_timetravel.h.
//!
//! The guest waits (WAIT) and says until when. The calendar lets it run (RUN). Only a question for the time is
//! answered, with an ACK of the same number. The unmodified kernel sends more messages and expects more answers
//! (kernel/virtual-time.patch).

use crate::GuestError;

/// Length of a message in bytes: operation and number (32 bits each), time (64 bits).
pub const BYTES: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Answers the message with the same number.
    Ack,
    /// A guest connects. The time field is its identity.
    Start,
    /// The guest will want to run at this time.
    Request,
    /// The guest waits until this time.
    Wait,
    /// The guest asks for the time.
    Get,
    /// The guest says its time. A kick follows.
    Update,
    /// The guest may run. Its time is the given one.
    Run,
    /// The guest may advance its time up to this one without asking.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    pub operation: Operation,
    /// In an answer, the number of its question. In a WAIT, the guest's time since the last RUN, in ns.
    pub number: u32,
    /// A time in ns, if the operation has one.
    pub time: u64,
}

impl Message {
    /// Encodes the message for the socket.
    pub fn encode(self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..4].copy_from_slice(&(self.operation as u32).to_ne_bytes());
        bytes[4..8].copy_from_slice(&self.number.to_ne_bytes());
        bytes[8..].copy_from_slice(&self.time.to_ne_bytes());
        bytes
    }

    /// Decodes a message from the socket.
    ///
    /// # Errors
    /// [`GuestError::Protocol`] if the operation is unknown.
    pub fn decode(bytes: [u8; BYTES]) -> Result<Self, GuestError> {
        let [o0, o1, o2, o3, s0, s1, s2, s3, time @ ..] = bytes;
        let number = u32::from_ne_bytes([o0, o1, o2, o3]);
        let operation = *Operation::ALL.get(number as usize).ok_or_else(|| {
            GuestError::Protocol(format!("the calendar got operation {number}, which does not exist"))
        })?;
        Ok(Self {
            operation,
            number: u32::from_ne_bytes([s0, s1, s2, s3]),
            time: u64::from_ne_bytes(time),
        })
    }

    /// The answer to this message. `time` is used if the message asks for a time.
    pub fn ack(self, time: u64) -> Self {
        Self {
            operation: Operation::Ack,
            number: self.number,
            time,
        }
    }

    /// The message that lets the guest run from `time` on. The guest may advance by `free` ns (less than 2^24) without
    /// asking. `queues` are the queues with news: two bits for each device, by its number.
    pub fn run(time: u64, free: u64, queues: u32) -> Self {
        Self {
            operation: Operation::Run,
            number: (free as u32) << 8 | queues & 0xff,
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
            number: 7,
            time: 0x0102_0304_0506_0708,
        };
        let bytes = message.encode();
        assert_eq!(bytes[..4], 6u32.to_ne_bytes());
        assert_eq!(bytes[4..8], 7u32.to_ne_bytes());
        assert_eq!(bytes[8..], 0x0102_0304_0506_0708u64.to_ne_bytes());
        assert_eq!(Message::decode(bytes).unwrap(), message);
    }

    #[test]
    fn an_answer_repeats_the_number() {
        let message = Message {
            operation: Operation::Get,
            number: 41,
            time: u64::MAX,
        };
        assert_eq!(
            message.ack(12),
            Message {
                operation: Operation::Ack,
                number: 41,
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
