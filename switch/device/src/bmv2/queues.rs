//! The settings of BMv2's queues: size and packet rate.

use std::ops::Range;

use p4sched_dataplane::{DROP_PORT, Port};
use p4sched_engine::QUEUES;

use crate::device::Device;

/// A selection of queues: one port or all, one priority or all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queues {
    /// `None`: all ports.
    pub port: Option<i32>,
    /// `None`: all priorities.
    pub priority: Option<i32>,
}

/// The range that holds one number, or all numbers below a limit. Empty if the number is not below the limit.
fn selected(given: Option<i32>, limit: usize) -> Range<usize> {
    match given.map(usize::try_from) {
        None => 0..limit,
        Some(Ok(number)) if number < limit => number..number + 1,
        Some(_) => 0..0,
    }
}

impl Device {
    /// Sets the size of queues in packets; like BMv2, it ignores unknown queues.
    pub fn set_queue_sizes(&mut self, queues: Queues, packets: i32) {
        let packets = u32::try_from(packets).unwrap_or(0);
        self.set_queues(queues, |queue| queue.size_packets = packets);
    }

    /// Sets the rate of each selected queue in packets per second; 0 means no limit.
    pub fn set_queue_rates(&mut self, queues: Queues, packets_per_second: i64) {
        let rate = u64::try_from(packets_per_second).unwrap_or(0);
        self.set_queues(queues, |queue| queue.rate_pps = rate);
    }

    fn set_queues(&mut self, queues: Queues, set: impl Fn(&mut p4sched_engine::QueueConfig)) {
        for port in selected(queues.port, usize::from(DROP_PORT)) {
            let port = port as Port;
            let mut settings = self.engine().port(port);
            settings.config.queues[selected(queues.priority, QUEUES)]
                .iter_mut()
                .for_each(&set);
            // Settings that were valid stay valid when only their queues change.
            let changed = self.engine_mut().set_port(port, settings);
            debug_assert!(changed.is_ok(), "port {port}: {changed:?}");
        }
    }
}
