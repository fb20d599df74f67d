//! A priority queue with both ends: smallest and largest in O(1), removal of either in O(log n), no allocation once grown.
//!
//! Source: Atkinson, Sack, Santoro, Strothotte, "Min-Max Heaps and Generalized Priority Queues", CACM 29(10), 1986. A
//! binary heap in which even levels (the root's is 0) hold minima of their subtrees and odd levels maxima.

/// The heap. The order of equal elements is undefined, so callers make all elements distinct.
#[derive(Debug)]
pub(crate) struct MinMaxHeap<T> {
    nodes: Vec<T>,
}

impl<T: Ord + Copy> MinMaxHeap<T> {
    pub fn new() -> Self {
        MinMaxHeap { nodes: Vec::new() }
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn max(&self) -> Option<T> {
        self.max_index().map(|i| self.nodes[i])
    }

    pub fn push(&mut self, value: T) {
        self.nodes.push(value);
        self.rise(self.nodes.len() - 1);
    }

    pub fn pop_min(&mut self) -> Option<T> {
        if self.nodes.is_empty() {
            None
        } else {
            Some(self.remove(0))
        }
    }

    pub fn pop_max(&mut self) -> Option<T> {
        self.max_index().map(|i| self.remove(i))
    }

    fn max_index(&self) -> Option<usize> {
        match self.nodes.len() {
            0 => None,
            1 => Some(0),
            2 => Some(1),
            _ if self.nodes[1] > self.nodes[2] => Some(1),
            _ => Some(2),
        }
    }

    fn remove(&mut self, index: usize) -> T {
        let removed = self.nodes.swap_remove(index);
        if index < self.nodes.len() {
            self.sink(index);
        }
        removed
    }

    /// True if the element at `a` belongs nearer to the root than the one at `b`, on levels like that of `level_of`.
    fn leads(&self, level_of: usize, a: usize, b: usize) -> bool {
        if is_min_level(level_of) {
            self.nodes[a] < self.nodes[b]
        } else {
            self.nodes[a] > self.nodes[b]
        }
    }

    fn rise(&mut self, mut index: usize) {
        if index == 0 {
            return;
        }
        let parent = (index - 1) / 2;
        if self.leads(parent, index, parent) {
            self.nodes.swap(index, parent);
            index = parent;
        }
        while index > 2 {
            let grandparent = ((index - 1) / 2 - 1) / 2;
            if !self.leads(index, index, grandparent) {
                return;
            }
            self.nodes.swap(index, grandparent);
            index = grandparent;
        }
    }

    fn sink(&mut self, mut index: usize) {
        loop {
            let first_child = 2 * index + 1;
            let first_grandchild = 2 * first_child + 1;
            let family = (first_child..first_child + 2).chain(first_grandchild..first_grandchild + 4);
            let Some(leader) = family
                .take_while(|&i| i < self.nodes.len())
                .reduce(|best, i| if self.leads(index, i, best) { i } else { best })
            else {
                return;
            };
            if !self.leads(index, leader, index) {
                return;
            }
            self.nodes.swap(leader, index);
            if leader < first_grandchild {
                return;
            }
            let parent = (leader - 1) / 2;
            if self.leads(parent, leader, parent) {
                self.nodes.swap(leader, parent);
            }
            index = leader;
        }
    }
}

fn is_min_level(index: usize) -> bool {
    (index + 1).ilog2().is_multiple_of(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[derive(Debug, Clone)]
    enum Step {
        Push(u8),
        PopMin,
        PopMax,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![3 => any::<u8>().prop_map(Step::Push), 1 => Just(Step::PopMin), 1 => Just(Step::PopMax)]
    }

    proptest! {
        #[test]
        fn both_ends_agree_with_a_sorted_set(steps in prop::collection::vec(step(), 0..400)) {
            let mut heap = MinMaxHeap::new();
            let mut sorted = BTreeSet::new();
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Push(value) => {
                        heap.push((value, number));
                        sorted.insert((value, number));
                    }
                    Step::PopMin => prop_assert_eq!(heap.pop_min(), sorted.pop_first()),
                    Step::PopMax => prop_assert_eq!(heap.pop_max(), sorted.pop_last()),
                }
                prop_assert_eq!(heap.max(), sorted.last().copied());
                prop_assert_eq!(heap.len(), sorted.len());
            }
        }
    }
}
