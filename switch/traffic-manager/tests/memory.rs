//! One memory for all queues: thresholds by hand, and the same decisions as plain lists.

use std::collections::VecDeque;

use p4sched_traffic_manager::{
    Discipline, Enqueued, MemoryConfig, MemorySharing, Offered, PortConfig, Share, TrafficManager,
};
use proptest::prelude::*;

fn memory(packets: u32, sharing: MemorySharing, alpha_256: u32) -> MemoryConfig {
    MemoryConfig {
        packets,
        sharing,
        alpha_256,
    }
}

fn share(priority: u8, length: u32, busy: u32) -> Share {
    Share { priority, length, busy }
}

#[test]
fn a_dynamic_threshold_is_alpha_times_what_is_free() {
    let queues = [share(0, 30, 1), share(0, 10, 1)];
    // 100 - 40 are free
    for (alpha_256, threshold) in [(128, 30), (256, 60), (512, 120), (100, 24)] {
        let memory = memory(100, MemorySharing::DynamicThresholds, alpha_256);
        assert_eq!(memory.threshold(&queues, &queues[0]), threshold);
    }
    assert_eq!(
        memory(40, MemorySharing::DynamicThresholds, 256).threshold(&queues, &queues[0]),
        0
    );
}

#[test]
fn abm_divides_by_the_congested_queues_of_the_priority_and_by_the_busy_queues_of_the_port() {
    // 60 are free. For n = 2 a queue with a port of its own has T = 30: two of them have 27 and more.
    let queues = [share(0, 28, 1), share(0, 27, 1), share(0, 3, 1), share(1, 2, 2)];
    let abm = memory(120, MemorySharing::Abm, 256);
    assert_eq!(abm.threshold(&queues, &queues[0]), 30);
    assert_eq!(abm.threshold(&queues, &queues[3]), 30);
    // With 26 packets in the second one, no n above 1 fits: 61 are free.
    let queues = [share(0, 28, 1), share(0, 26, 1), share(0, 3, 1), share(1, 2, 2)];
    assert_eq!(abm.threshold(&queues, &queues[0]), 61);
    assert_eq!(abm.threshold(&queues, &queues[3]), 31);
}

fn offered(port: u16, item: u32) -> Offered<u32> {
    Offered {
        port,
        priority: 0,
        len: 1000,
        user: 0,
        rank: u64::from(item % 5),
        levels: None,
        item,
    }
}

fn ports(count: u16, discipline: Discipline, rate_bps: u64) -> TrafficManager<u32> {
    let mut tm = TrafficManager::new();
    for port in 1..=count {
        let config = PortConfig {
            discipline,
            buffer_packets: 1000,
            rate_bps,
            ..PortConfig::default()
        };
        tm.set_port(0, port, config).unwrap();
    }
    tm
}

#[test]
fn one_long_queue_leaves_room_and_a_second_one_gets_it() {
    let mut tm = ports(2, Discipline::Fifo, 1_000_000);
    tm.set_memory(memory(90, MemorySharing::DynamicThresholds, 256))
        .unwrap();
    let mut offer = |port| {
        (0..90)
            .filter(|&item| matches!(tm.enqueue(0, offered(port, item)), Enqueued::Queued { .. }))
            .count()
    };
    // alone: len = 90 - len; beside 45: len = 45 - len
    assert_eq!((offer(1), offer(2)), (45, 23));
}

#[test]
fn occamy_takes_the_head_of_the_longer_queue_for_a_new_one() {
    let mut tm = ports(2, Discipline::Fifo, 1_000_000);
    tm.set_memory(memory(90, MemorySharing::Occamy, 256)).unwrap();
    for item in 0..45 {
        assert!(matches!(tm.enqueue(0, offered(1, item)), Enqueued::Queued { .. }));
    }
    let mut heads = Vec::new();
    for item in 100..190 {
        if let Enqueued::PushedOut { victim, .. } = tm.enqueue(0, offered(2, item)) {
            heads.push((victim.port, victim.item));
        }
    }
    // Both end with a third of the memory: 30 = 90 - 60. The first 15 heads of port 1 made room.
    assert_eq!((tm.length(1, 0), tm.length(2, 0)), (30, 30));
    assert_eq!(heads, (0..15).map(|item| (1, item)).collect::<Vec<_>>());
    assert_eq!(tm.queued(), 60);
    assert_eq!(tm.stats(1).queues[0].pushed_out.packets, 15);
}

#[test]
fn a_sorted_queue_exchanges_its_last_packet_at_the_threshold() {
    let mut tm = ports(1, Discipline::Pifo, 1_000_000);
    tm.set_memory(memory(4, MemorySharing::DynamicThresholds, 256)).unwrap();
    for item in [3, 4] {
        tm.enqueue(0, offered(1, item));
    }
    let Enqueued::PushedOut { victim, .. } = tm.enqueue(0, offered(1, 1)) else {
        panic!("rank 1 is below rank 4")
    };
    assert_eq!(victim.item, 4);
    assert!(matches!(tm.enqueue(0, offered(1, 3)), Enqueued::Dropped { .. }));
}

#[test]
fn a_memory_without_alpha_or_rule_is_refused() {
    let mut tm = ports(1, Discipline::Fifo, 0);
    for config in [
        memory(10, MemorySharing::Abm, 0),
        memory(10, MemorySharing::Unspecified, 1),
    ] {
        tm.set_memory(config).unwrap_err();
    }
    assert_eq!(tm.memory(), MemoryConfig::default());
}

const FRAME_NS: u64 = 8000;

/// Plain lists: a queue of (item, priority) for each priority of each port, and links that send a frame in `FRAME_NS`.
struct Lists {
    memory: MemoryConfig,
    queues: Vec<[VecDeque<u32>; 8]>,
    free_at: Vec<u64>,
    turn: (usize, usize),
}

impl Lists {
    fn sent_until(&mut self, now: u64) {
        for (queues, free_at) in self.queues.iter_mut().zip(&mut self.free_at) {
            while *free_at <= now {
                let Some(queue) = queues.iter_mut().rev().find(|queue| !queue.is_empty()) else {
                    break;
                };
                queue.pop_front();
                *free_at += FRAME_NS;
            }
        }
    }

    fn all(&self) -> impl Iterator<Item = &VecDeque<u32>> {
        self.queues.iter().flatten()
    }

    /// alpha (B - Q) / parts as a fraction: is it above this length?
    fn above(&self, length: usize, parts: usize) -> bool {
        let free = i64::from(self.memory.packets) - self.all().map(|queue| queue.len() as i64).sum::<i64>();
        ((length * 256 * parts) as i64) < i64::from(self.memory.alpha_256) * free.max(0)
    }

    /// The item that is lost, if any.
    fn offer(&mut self, now: u64, port: usize, priority: usize, item: u32) -> Option<u32> {
        self.sent_until(now);
        let busy =
            |queues: &[VecDeque<u32>; 8], extra: usize| (0..8).filter(|&q| !queues[q].is_empty() || q == extra).count();
        let mut parts = 1;
        if self.memory.sharing == MemorySharing::Abm {
            let near = |n: usize| {
                let close = |queues: &&[VecDeque<u32>; 8]| {
                    let (length, busy) = (queues[priority].len(), busy(queues, 8));
                    // the least length that takes no packet
                    let full = || (0..).find(|&length| !self.above(length, n * busy)).unwrap();
                    length > 0 && 10 * length >= 9 * full()
                };
                self.queues.iter().filter(close).count()
            };
            let n = (2..=self.queues.len()).rev().find(|&n| near(n) >= n).unwrap_or(1);
            parts = n * busy(&self.queues[port], priority);
        }
        if !self.above(self.queues[port][priority].len(), parts) {
            return Some(item);
        }
        if self.all().flatten().next().is_none() || self.queues[port].iter().all(VecDeque::is_empty) {
            self.free_at[port] = self.free_at[port].max(now);
        }
        self.queues[port][priority].push_back(item);
        if self.memory.sharing != MemorySharing::Occamy {
            return None;
        }
        let names = (0..self.queues.len()).flat_map(|port| (0..8).map(move |priority| (port, priority)));
        let (after, before): (Vec<_>, Vec<_>) = names.partition(|&name| name > self.turn);
        let over = after.into_iter().chain(before).find(|&(port, priority)| {
            let length = self.queues[port][priority].len();
            length > 0 && !self.above(length - 1, 1)
        })?;
        self.turn = over;
        self.queues[over.0][over.1].pop_front()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Each packet is taken, dropped or makes another one leave exactly by the rule.
    #[test]
    fn the_memory_decides_as_the_rule_says(
        packets in 4..60u32,
        sharing in prop::sample::select(vec![MemorySharing::DynamicThresholds, MemorySharing::Abm, MemorySharing::Occamy]),
        alpha_256 in prop::sample::select(vec![64, 128, 200, 256, 512, 2048]),
        steps in prop::collection::vec((0..4usize, 0..3usize, 0..9000u64), 1..500),
    ) {
        let mut tm = TrafficManager::new();
        for port in 0..4 {
            let queues = [p4sched_traffic_manager::QueueConfig { size_packets: 1000, rate_pps: 0 }; 8];
            let config = PortConfig { queues, rate_bps: 1_000_000_000, ..PortConfig::default() };
            tm.set_port(0, port, config).unwrap();
        }
        let config = memory(packets, sharing, alpha_256);
        tm.set_memory(config).unwrap();
        let mut lists = Lists {
            memory: config,
            queues: vec![Default::default(); 4],
            free_at: vec![0; 4],
            turn: (0, 0),
        };
        let mut now = 0;
        for (item, (port, priority, pause)) in (0..).zip(steps) {
            now += pause;
            while tm.dequeue(now).is_some() {}
            let offered = Offered { priority: priority as u8, ..offered(port as u16, item) };
            let lost = match tm.enqueue(now, offered) {
                Enqueued::Queued { .. } => None,
                Enqueued::Dropped { item, .. } => Some(item),
                Enqueued::PushedOut { victim, .. } => Some(victim.item),
            };
            prop_assert_eq!(lost, lists.offer(now, port, priority, item), "item {}", item);
            while tm.dequeue(now).is_some() {}
            lists.sent_until(now);
        }
    }
}
