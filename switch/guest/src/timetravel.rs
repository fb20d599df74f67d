//! Messages between a guest and its calendar: include/uapi/linux/um_timetravel.h.
//!
//! The guest waits (WAIT) and says until when; the calendar lets it run (RUN). Only a question for the time is answered, with an
//! ACK of the same number. That is less than what the kernel's own mode says and answers (kernel/virtual-time.patch).

use crate::GuestError;

/// Length of every message in bytes: operation, number (both 32 bits) and time (64 bits).
pub const BYTES: usize = 16;

/// Operation of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Answer to the message with the same number.
    Ack,
    /// A guest connects; the time is its identity.
    Start,
    /// The guest will want to run at this time.
    Request,
    /// The guest wants to run at this time.
    Wait,
    /// The guest asks for the time.
    Get,
    /// The guest says what its time is; a kick follows.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    pub operation: Operation,
    /// Number: an answer repeats that of its question; in a WAIT it is the guest's time since the last RUN, in ns.
    pub number: u32,
    /// A time in ns, where the operation has one.
    pub time: u64,
}

impl Message {
    /// The message as it goes over the socket.
    pub fn encode(self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..4].copy_from_slice(&(self.operation as u32).to_ne_bytes());
        bytes[4..8].copy_from_slice(&self.number.to_ne_bytes());
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
            number: u32::from_ne_bytes([s0, s1, s2, s3]),
            time: u64::from_ne_bytes(time),
        })
    }

    /// The answer to this message, with a time where it was asked for.
    pub fn ack(self, time: u64) -> Self {
        Self {
            operation: Operation::Ack,
            number: self.number,
            time,
        }
    }

    /// The guest may run from this time on, and may advance by `free` ns (less than 2^24) without asking. `queues` have
    /// news: two bits for each device, by its number.
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
