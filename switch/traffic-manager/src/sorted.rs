//! Numbers sorted by key, with fast access to both ends. Equal keys are sorted by arrival.
//!
//! The list is cut into pieces. A queue of a switch holds so few packets that moving some keys costs less than a heap.
//! Pieces keep the cost low for long queues. Nothing is allocated while one piece holds all entries.

/// Largest number of entries in a piece.
const PIECE: usize = 512;

#[derive(Debug, Clone)]
pub(crate) struct Sorted {
    /// Key and number, the largest key first; of equal keys the latest first. A piece is empty only if it is the only
    /// one.
    pieces: Vec<Vec<(u64, u32)>>,
    length: usize,
}

impl Sorted {
    pub fn new() -> Self {
        Sorted {
            pieces: vec![Vec::new()],
            length: 0,
        }
    }

    pub fn len(&self) -> usize {
        self.length
    }

    pub fn largest(&self) -> Option<u64> {
        self.pieces[0].first().map(|&(key, _)| key)
    }

    /// Inserts a number after all entries with the same key.
    pub fn insert(&mut self, key: u64, number: u32) {
        let all_above = |piece: &Vec<(u64, u32)>| piece.last().is_some_and(|&(last, _)| last > key);
        let last = self.pieces.len() - 1;
        let at = self.pieces[..last].partition_point(all_above);
        let piece = &mut self.pieces[at];
        let place = piece.partition_point(|&(other, _)| other > key);
        piece.insert(place, (key, number));
        self.length += 1;
        if piece.len() > PIECE {
            let rest = piece.split_off(PIECE / 2);
            self.pieces.insert(at + 1, rest);
        }
    }

    /// Removes the earliest number with the smallest key.
    pub fn pop_smallest(&mut self) -> Option<u32> {
        let last = self.pieces.len() - 1;
        let (_, number) = self.pieces[last].pop()?;
        self.removed_from(last);
        Some(number)
    }

    /// Removes the latest number with the largest key.
    pub fn pop_largest(&mut self) -> Option<u32> {
        if self.length == 0 {
            return None;
        }
        let (_, number) = self.pieces[0].remove(0);
        self.removed_from(0);
        Some(number)
    }

    fn removed_from(&mut self, at: usize) {
        self.length -= 1;
        if self.pieces[at].is_empty() && self.pieces.len() > 1 {
            self.pieces.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_of_entries_leave_by_key_and_equal_keys_in_order() {
        let mut sorted = Sorted::new();
        // Sorted by key, then by number, because the numbers rise.
        let mut expected: Vec<(u64, u32)> = Vec::new();
        let mut random = 1_u64;
        for number in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let key = random >> 40 & 0x3ff;
            sorted.insert(key, number);
            let place = expected.partition_point(|&other| other < (key, number));
            expected.insert(place, (key, number));
            match random >> 60 {
                0..4 => assert_eq!(sorted.pop_smallest(), Some(expected.remove(0).1)),
                4..6 => assert_eq!(sorted.pop_largest(), expected.pop().map(|(_, number)| number)),
                _ => {}
            }
            assert_eq!(sorted.largest(), expected.last().map(|&(key, _)| key));
            assert_eq!(sorted.len(), expected.len());
        }
        assert!(sorted.pieces.len() > 10);
        for (_, number) in expected {
            assert_eq!(sorted.pop_smallest(), Some(number));
        }
        assert_eq!(
            (sorted.pop_smallest(), sorted.pop_largest(), sorted.len()),
            (None, None, 0)
        );
    }
}
