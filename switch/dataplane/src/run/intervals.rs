//! Prefixes of one word as intervals. A binary search among their ends finds the longest prefix, for any number of
//! lengths.

/// No prefix matches.
const NONE: u32 = u32::MAX;

/// Intervals that share a longest prefix.
#[derive(Debug)]
pub(crate) struct Intervals {
    /// First value of each interval, ascending; the first one is 0.
    starts: Vec<u64>,
    /// Slot of the longest prefix in each interval.
    slots: Vec<u32>,
}

impl Intervals {
    /// Makes intervals from prefixes of a field of at most 64 bits: value, length and slot of each.
    pub fn new(width: u32, mut prefixes: Vec<(u64, u32, u32)>) -> Intervals {
        prefixes.sort_unstable();
        let mut intervals = Intervals {
            starts: vec![0],
            slots: vec![NONE],
        };
        // Prefixes that contain the current value, the longest last: the first value after each, and its slot.
        let mut open: Vec<(u128, u32)> = Vec::new();
        for (value, length, slot) in prefixes {
            intervals.close(&mut open, u128::from(value));
            intervals.begin(value, slot);
            open.push((u128::from(value) + (1u128 << (width - length)), slot));
        }
        intervals.close(&mut open, u128::MAX);
        intervals
    }

    /// Closes the prefixes that end at or before a value.
    fn close(&mut self, open: &mut Vec<(u128, u32)>, value: u128) {
        while let Some(&(end, _)) = open.last().filter(|(end, _)| *end <= value) {
            open.pop();
            let around = open.last().map_or(NONE, |&(_, slot)| slot);
            if let Ok(end) = u64::try_from(end) {
                self.begin(end, around);
            }
        }
    }

    fn begin(&mut self, start: u64, slot: u32) {
        if self.starts.last() == Some(&start) {
            self.slots.pop();
        } else {
            self.starts.push(start);
        }
        self.slots.push(slot);
    }

    /// Slot of the longest prefix of a value.
    #[inline]
    pub fn find(&self, value: u64) -> Option<u32> {
        let at = self.starts.partition_point(|&start| start <= value);
        self.slots.get(at.wrapping_sub(1)).copied().filter(|&slot| slot != NONE)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_inner_prefix_interrupts_the_outer_one() {
        // 0x40/2 contains 0x50/4; 0x80/1 follows directly.
        let intervals = Intervals::new(8, vec![(0x40, 2, 1), (0x50, 4, 2), (0x80, 1, 3)]);
        let found = [0, 0x3f, 0x40, 0x4f, 0x50, 0x5f, 0x60, 0x7f, 0x80, 0xff].map(|value| intervals.find(value));
        let (none, outer, inner, last) = (None, Some(1), Some(2), Some(3));
        assert_eq!(
            found,
            [none, none, outer, outer, inner, inner, outer, outer, last, last]
        );
        assert_eq!(Intervals::new(64, vec![(0, 0, 7)]).find(u64::MAX), Some(7));
        assert_eq!(Intervals::new(8, Vec::new()).find(3), None);
    }

    proptest! {
        #[test]
        fn the_longest_prefix_is_found(
            prefixes in prop::collection::btree_set((any::<u8>(), 0u32..=8), 0..40),
            value in any::<u8>(),
        ) {
            let cut = |value: u8, length: u32| u64::from(value) >> (8 - length) << (8 - length);
            let mut unique: Vec<(u64, u32)> = prefixes.iter().map(|&(v, length)| (cut(v, length), length)).collect();
            unique.sort_unstable();
            unique.dedup();
            let numbered = unique.iter().zip(0..).map(|(&(v, length), slot)| (v, length, slot));
            let intervals = Intervals::new(8, numbered.clone().collect());
            let matching = numbered.filter(|&(v, length, _)| cut(value, length) == v);
            let expected = matching.max_by_key(|&(_, length, _)| length).map(|(_, _, slot)| slot);
            prop_assert_eq!(intervals.find(u64::from(value)), expected);
        }
    }
}
