//! Received bytes: a sorted list of ranges that do not touch.

use crate::segment::Bytes;

/// A set of bytes. Its memory depends on the number of holes, not on the number of bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ranges(Vec<Bytes>);

impl Ranges {
    /// Adds `start..end`. Returns the whole range that then contains it.
    pub(crate) fn insert(&mut self, (start, end): Bytes) -> Bytes {
        let first = self.0.partition_point(|range| range.1 < start);
        let last = self.0.partition_point(|range| range.0 <= end);
        let merged = self.0[first..last]
            .iter()
            .fold((start, end), |all, range| (all.0.min(range.0), all.1.max(range.1)));
        self.0.splice(first..last, [merged]);
        merged
    }

    /// Removes and returns the first range if it begins at or before `byte`.
    pub(crate) fn take_from(&mut self, byte: u64) -> Option<Bytes> {
        (self.0.first()?.0 <= byte).then(|| self.0.remove(0))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All ranges, in order.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = Bytes> {
        self.0.iter().copied()
    }

    /// The parts of `start..end` that are missing.
    pub(crate) fn holes(&self, (start, end): Bytes) -> impl Iterator<Item = Bytes> {
        let first = self.0.partition_point(|range| range.1 <= start);
        let inside = self.0[first..].iter().copied().take_while(move |range| range.0 < end);
        let mut from = start;
        inside.chain([(end, end)]).filter_map(move |range| {
            let hole = (from, range.0);
            from = range.1;
            (hole.0 < hole.1).then_some(hole)
        })
    }

    /// Removes everything before `byte`.
    pub(crate) fn remove_before(&mut self, byte: u64) {
        let gone = self.0.partition_point(|range| range.1 <= byte);
        self.0.drain(..gone);
        if let Some(first) = self.0.first_mut() {
            first.0 = first.0.max(byte);
        }
    }

    /// The range that contains all of `start..end`.
    pub(crate) fn covering(&self, (start, end): Bytes) -> Option<Bytes> {
        let range = *self.0.get(self.0.partition_point(|range| range.1 < end))?;
        (range.0 <= start && end <= range.1).then_some(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_touch_become_one() {
        let mut ranges = Ranges::default();
        assert_eq!(ranges.insert((10, 20)), (10, 20));
        assert_eq!(ranges.insert((30, 40)), (30, 40));
        assert_eq!(ranges.insert((20, 25)), (10, 25));
        assert_eq!(ranges.insert((24, 31)), (10, 40));
        assert_eq!(ranges.covering((12, 40)), Some((10, 40)));
        assert_eq!(ranges.covering((12, 41)), None);
        assert_eq!(ranges.take_from(9), None);
        assert_eq!(ranges.take_from(10), Some((10, 40)));
    }

    #[test]
    fn holes_are_what_is_missing() {
        let mut ranges = Ranges::default();
        ranges.insert((10, 20));
        ranges.insert((30, 40));
        assert_eq!(ranges.holes((0, 50)).collect::<Vec<_>>(), [(0, 10), (20, 30), (40, 50)]);
        assert_eq!(ranges.holes((15, 35)).collect::<Vec<_>>(), [(20, 30)]);
        assert_eq!(ranges.holes((12, 18)).count(), 0);
        ranges.remove_before(35);
        assert_eq!(ranges.iter().collect::<Vec<_>>(), [(35, 40)]);
    }
}
