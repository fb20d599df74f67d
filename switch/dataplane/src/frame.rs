//! The bytes of a frame, with free space in front of them.

use std::ops::{Deref, DerefMut};

/// Free bytes in front of a new frame: headers may grow by this much before any byte is copied. A Tofino's metadata in
/// front of a frame takes 16 to 32 bytes.
const HEADROOM: usize = 64;

/// A frame in a buffer. It is one pointer, because frames move often. If the headers change their length, the new
/// headers end where the old ones did, so the bytes behind them stay in place.
#[derive(Clone, Debug, Default)]
pub struct Frame(Option<Box<Bytes>>);

#[derive(Clone, Debug, Default)]
struct Bytes {
    buffer: Vec<u8>,
    start: usize,
}

impl Frame {
    fn bytes(&mut self) -> &mut Bytes {
        self.0.get_or_insert_default()
    }

    /// Empties the frame and keeps the buffer.
    pub(crate) fn clear(&mut self) {
        let bytes = self.bytes();
        bytes.buffer.resize(HEADROOM, 0);
        bytes.start = HEADROOM;
    }

    /// True if the buffer is worth keeping.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.0.is_some()
    }

    /// The bytes, to append more. The existing bytes must not change.
    #[inline]
    pub(crate) fn tail(&mut self) -> &mut Vec<u8> {
        &mut self.bytes().buffer
    }

    /// Truncates the frame to its first bytes.
    #[inline]
    pub(crate) fn truncate(&mut self, bytes: usize) {
        if let Some(own) = &mut self.0 {
            own.buffer.truncate(own.start.saturating_add(bytes));
        }
    }

    /// Free bytes in front of the frame.
    #[inline]
    pub(crate) fn headroom(&self) -> usize {
        self.0.as_ref().map_or(0, |bytes| bytes.start)
    }

    /// Extends the frame at its front. The space exists, and its bytes have been written.
    #[inline]
    pub(crate) fn begin_at(&mut self, start: usize) {
        if let Some(bytes) = &mut self.0 {
            debug_assert!(start <= bytes.buffer.len(), "the frame begins in its buffer");
            bytes.start = start;
        }
    }

    /// Replaces the first bytes. The bytes after them stay in place if there is enough space in front.
    pub(crate) fn replace_front(&mut self, old: usize, new: &[u8]) {
        let Bytes { buffer, start } = self.bytes();
        let end = (*start + old).min(buffer.len());
        if new.len() <= end {
            *start = end - new.len();
            buffer[*start..end].copy_from_slice(new);
        } else {
            let room = std::iter::repeat_n(0, HEADROOM);
            buffer.splice(..end, room.chain(new.iter().copied()));
            *start = HEADROOM;
        }
    }
}

impl From<&[u8]> for Frame {
    fn from(bytes: &[u8]) -> Frame {
        let mut frame = Frame::default();
        frame.clear();
        frame.tail().extend_from_slice(bytes);
        frame
    }
}

impl PartialEq for Frame {
    fn eq(&self, other: &Frame) -> bool {
        **self == **other
    }
}

impl Eq for Frame {}

impl Deref for Frame {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.0.as_ref().map_or(&[], |bytes| &bytes.buffer[bytes.start..])
    }
}

impl DerefMut for Frame {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        match &mut self.0 {
            Some(bytes) => &mut bytes.buffer[bytes.start..],
            None => &mut [],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_grow_and_shrink_in_front_of_a_payload_that_stays() {
        let mut frame = Frame::from(&[1, 2, 3, 4][..]);
        let payload = frame[2..].as_ptr();
        frame.replace_front(2, &[9; HEADROOM + 2]);
        assert_eq!((frame.len(), &frame[HEADROOM..]), (HEADROOM + 4, &[9, 9, 3, 4][..]));
        assert_eq!(frame[HEADROOM + 2..].as_ptr(), payload);
        frame.replace_front(HEADROOM + 2, &[7]);
        assert_eq!((&frame[..], frame[1..].as_ptr()), (&[7, 3, 4][..], payload));
        frame.truncate(2);
        assert_eq!(frame[..], [7, 3]);
    }

    #[test]
    fn headers_longer_than_the_room_move_the_payload_and_get_room_again() {
        let mut frame = Frame::from(&[1, 2][..]);
        frame.replace_front(1, &[5; HEADROOM + 2]);
        assert_eq!((frame.len(), frame.headroom()), (HEADROOM + 3, HEADROOM));
        assert_eq!(frame[HEADROOM + 1..], [5, 2]);
        frame.replace_front(1000, &[]);
        assert!(frame.is_empty());
    }
}
