//! A ring of FIFO queues, one for each of the coming rounds.
//!
//! The head is the round that is served. When it is over, its queue is used again for the new last round. Elements that
//! still wait in it are late: they leave before all elements of later rounds. So elements leave in the order of rounds
//! and, within a round, of arrival, however the head moves.

use std::collections::VecDeque;
use std::fmt::Debug;

/// Stands for no round.
const NEVER: u64 = u64::MAX;

#[derive(Debug, Clone)]
pub(crate) struct Rounds<E> {
    /// The queue of round r is at index r modulo the number of queues.
    queues: Vec<VecDeque<E>>,
    /// Elements of rounds that are over.
    late: VecDeque<E>,
    head: u64,
    /// The first round, from the head on, with a waiting element.
    first: u64,
    length: usize,
}

impl<E> Rounds<E> {
    /// An empty ring at round 0.
    pub fn new(queues: u32) -> Rounds<E> {
        Rounds {
            queues: (0..queues).map(|_| VecDeque::new()).collect(),
            late: VecDeque::new(),
            head: 0,
            first: NEVER,
            length: 0,
        }
    }

    /// The round that is served.
    pub fn head(&self) -> u64 {
        self.head
    }

    /// The last round that has a queue.
    pub fn last(&self) -> u64 {
        self.head + (self.queues.len() as u64 - 1)
    }

    /// The first round with a waiting element; 0 if an element is late.
    pub fn first(&self) -> u64 {
        if self.late.is_empty() { self.first } else { 0 }
    }

    /// Number of elements in all rounds.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Number of elements in a round between the head and the last one.
    pub fn len_of(&self, round: u64) -> usize {
        self.queues[self.place(round)].len()
    }

    /// Files an element for a round between the head and the last one.
    pub fn push(&mut self, round: u64, element: E) {
        let place = self.place(round);
        self.queues[place].push_back(element);
        self.first = self.first.min(round);
        self.length += 1;
    }

    /// Removes the oldest late element. If there is none, moves the head to the first round with a waiting element and
    /// removes the oldest element there.
    pub fn pop(&mut self) -> Option<E> {
        if self.length == 0 {
            return None;
        }
        self.length -= 1;
        if let Some(element) = self.late.pop_front() {
            return Some(element);
        }
        self.head = self.first;
        let place = self.place(self.head);
        let element = self.queues[place].pop_front();
        if self.queues[place].is_empty() {
            self.first = self.next(self.head + 1);
        }
        element
    }

    /// Ends all rounds before this one.
    pub fn advance(&mut self, round: u64) {
        while self.first < round {
            let place = self.place(self.first);
            let queue = std::mem::take(&mut self.queues[place]);
            self.late.extend(queue);
            self.first = self.next(self.first + 1);
        }
        self.head = self.head.max(round);
    }

    /// Removes all elements. The head stays.
    pub fn drain(&mut self) -> Vec<E> {
        let in_order = (self.head..=self.last())
            .map(|round| self.place(round))
            .collect::<Vec<_>>();
        let mut elements: Vec<E> = self.late.drain(..).collect();
        for place in in_order {
            elements.extend(self.queues[place].drain(..));
        }
        (self.first, self.length) = (NEVER, 0);
        elements
    }

    fn place(&self, round: u64) -> usize {
        (round % self.queues.len() as u64) as usize
    }

    /// The first round, from this one on, with a waiting element.
    fn next(&self, round: u64) -> u64 {
        if self.length == self.late.len() {
            return NEVER;
        }
        (round..=self.last())
            .find(|&round| !self.queues[self.place(round)].is_empty())
            .unwrap_or(NEVER)
    }
}
