//! DRR: deficit round robin (Shreedhar and Varghese, "Efficient Fair Queuing using Deficit Round Robin", SIGCOMM 1995).
//!
//! One queue per user; the users that have packets take turns.
//!
//!   enqueue: append to the user's queue; a user that had none joins the end of the round
//!            if the buffer is full, the last packet of the longest queue is pushed out (buffer stealing), unless the
//!            user's own queue would then be as long
//!   dequeue: at each turn a user's deficit grows by one quantum (bytes); it sends packets as long as the deficit
//!            covers them, then the turn passes on and the rest of the deficit is kept
//!            a user whose queue empties leaves the round, and its deficit is forgotten
//!
//! The ideal that FDPA is compared with. It needs a queue per user, which switches do not have.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

use crate::config::{ConfigError, MAX_PACKETS, in_range};
use crate::scheduler::{Nanos, Packet, Scheduler, Verdict};

#[derive(Clone, Debug, Default)]
struct UserQueue {
    packets: VecDeque<Packet>,
    /// Bytes this user may still send in its turn.
    deficit: u64,
}

/// Deficit round robin over users.
#[derive(Clone, Debug)]
pub struct Drr {
    queues: BTreeMap<u32, UserQueue>,
    /// Users with packets, the one whose turn it is first.
    round: VecDeque<u32>,
    /// Whether the first user of the round was given its quantum in this turn.
    granted: bool,
    waiting: usize,
    capacity: usize,
    quantum: u64,
}

impl Drr {
    /// A shared buffer of `capacity` packets, and a quantum in bytes (an MTU makes a turn O(1)).
    ///
    /// # Errors
    /// If either is 0 or too large.
    pub fn new(capacity: usize, quantum: u32) -> Result<Drr, ConfigError> {
        in_range("buffer", capacity, 1, MAX_PACKETS, "packets")?;
        in_range("quantum", quantum as usize, 1, u32::MAX as usize, "bytes")?;
        Ok(Drr {
            queues: BTreeMap::new(),
            round: VecDeque::new(),
            granted: false,
            waiting: 0,
            capacity,
            quantum: u64::from(quantum),
        })
    }

    /// Packets of one user that wait.
    pub fn user_len(&self, user: u32) -> usize {
        self.queues.get(&user).map_or(0, |queue| queue.packets.len())
    }

    /// The user with the longest queue; the smallest id among equals.
    fn longest(&self) -> Option<u32> {
        let longest = self
            .queues
            .iter()
            .max_by_key(|(user, queue)| (queue.packets.len(), Reverse(**user)));
        longest.map(|(&user, _)| user)
    }

    fn push_out(&mut self, user: u32) -> Option<Packet> {
        let queue = self.queues.get_mut(&user)?;
        let victim = queue.packets.pop_back()?;
        self.waiting -= 1;
        if queue.packets.is_empty() {
            self.leave_round(user);
        }
        Some(victim)
    }

    fn leave_round(&mut self, user: u32) {
        self.queues.remove(&user);
        if self.round.front() == Some(&user) {
            self.granted = false;
        }
        self.round.retain(|&other| other != user);
    }

    fn append(&mut self, packet: Packet) {
        let queue = self.queues.entry(packet.user).or_default();
        if queue.packets.is_empty() {
            self.round.push_back(packet.user);
        }
        queue.packets.push_back(packet);
        self.waiting += 1;
    }
}

impl Scheduler for Drr {
    fn enqueue(&mut self, _now: Nanos, packet: Packet) -> Verdict {
        if self.waiting < self.capacity {
            self.append(packet);
            return Verdict::Queued { queue: 0 };
        }
        let longest = self.longest().unwrap_or(packet.user);
        if self.user_len(packet.user) + 1 >= self.user_len(longest) {
            return Verdict::DroppedFull;
        }
        match self.push_out(longest) {
            Some(victim) => {
                self.append(packet);
                Verdict::PushedOut { queue: 0, victim }
            }
            None => Verdict::DroppedFull,
        }
    }

    fn dequeue(&mut self, _now: Nanos) -> Option<Packet> {
        loop {
            let user = *self.round.front()?;
            let queue = self.queues.get_mut(&user)?;
            if !self.granted {
                queue.deficit += self.quantum;
                self.granted = true;
            }
            let length = u64::from(queue.packets.front()?.len);
            if length > queue.deficit {
                self.round.rotate_left(1);
                self.granted = false;
                continue;
            }
            queue.deficit -= length;
            let packet = queue.packets.pop_front();
            self.waiting -= 1;
            if queue.packets.is_empty() {
                self.leave_round(user);
            }
            return packet;
        }
    }

    fn len(&self) -> usize {
        self.waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(id: u64, user: u32, len: u32) -> Packet {
        Packet {
            id,
            rank: 0,
            user,
            flow: user,
            len,
        }
    }

    #[test]
    fn users_get_equal_bytes_whatever_their_packet_size() {
        let mut drr = Drr::new(1000, 1500).unwrap();
        for id in 0..300 {
            drr.enqueue(0, packet(id, 1, 1500));
            drr.enqueue(0, packet(1000 + id, 2, 500));
        }
        let mut bytes = [0u64; 3];
        for _ in 0..200 {
            let sent = drr.dequeue(0).unwrap();
            bytes[sent.user as usize] += u64::from(sent.len);
        }
        assert!(bytes[1].abs_diff(bytes[2]) <= 1500, "{bytes:?}");
    }

    #[test]
    fn a_packet_larger_than_the_quantum_waits_for_several_turns() {
        let mut drr = Drr::new(10, 500).unwrap();
        drr.enqueue(0, packet(0, 1, 1500));
        for id in 1..5 {
            drr.enqueue(0, packet(id, 2, 500));
        }
        let order: Vec<u64> = std::iter::from_fn(|| drr.dequeue(0)).map(|p| p.id).collect();
        assert_eq!(order, [1, 2, 0, 3, 4]);
    }

    #[test]
    fn a_full_buffer_takes_from_the_longest_queue() {
        let mut drr = Drr::new(3, 1500).unwrap();
        for id in 0..3 {
            drr.enqueue(0, packet(id, 1, 100));
        }
        assert_eq!(drr.enqueue(0, packet(3, 1, 100)), Verdict::DroppedFull);
        assert_eq!(
            drr.enqueue(0, packet(4, 2, 100)),
            Verdict::PushedOut {
                queue: 0,
                victim: packet(2, 1, 100)
            }
        );
        assert_eq!(drr.len(), 3);
        assert_eq!((drr.user_len(1), drr.user_len(2)), (2, 1));
        assert_eq!(
            drr.enqueue(0, packet(5, 2, 100)),
            Verdict::DroppedFull,
            "its queue would be as long as the longest"
        );
    }

    #[test]
    fn nothing_to_work_with_is_refused() {
        assert!(Drr::new(0, 1500).is_err());
        assert_eq!(
            Drr::new(1, 0).unwrap_err().to_string(),
            "quantum = 0 is out of range: 1 to 4294967295 bytes"
        );
    }
}
