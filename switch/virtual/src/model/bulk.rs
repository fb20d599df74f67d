//! Endless connections, like those of iperf3.

use p4sched_dataplane::Nanos;
use p4sched_traffic_generator::flow::Tos;
use serde_json::json;

use super::tcp::ConnectionParameters;
use super::{ModelHost, Work, text};
use crate::host::Outbox;
use crate::run::{BulkSend, Program};

/// Time that iperf3 waits for its connections, in ns. The laboratory sets it.
const CONNECT: Nanos = 10_000_000_000;

pub(super) struct Bulk {
    slots: Vec<usize>,
    /// Whether the connections have been checked.
    looked: bool,
    /// At the end of the warm-up: bytes acknowledged, bytes sent, and segments sent again.
    warm_up: Option<(u64, u64, u64)>,
}

impl Bulk {
    /// The time of the next work of a run that started at `start`.
    pub(super) fn next_wake(&self, start: Nanos, bulk: &BulkSend) -> Nanos {
        let warm_up = self.warm_up.is_none().then_some(bulk.warm_up);
        let look = (!self.looked).then_some(CONNECT);
        let next = warm_up.into_iter().chain(look).min();
        let end = bulk.warm_up + bulk.duration;
        start + next.unwrap_or(end).min(end)
    }
}

impl ModelHost {
    pub(super) fn open_bulk(&mut self, now: Nanos, run: usize, bulk: &BulkSend, out: &mut Outbox) -> Bulk {
        let mut slots = Vec::new();
        let config = self.tcp.named_config(&bulk.congestion_control);
        for connection in 0..bulk.connections as usize {
            let opened = ConnectionParameters {
                owner: (run, connection),
                from: bulk.source,
                to: (bulk.destination, bulk.port),
                tos: Tos::Fixed(bulk.tos),
                bytes: u64::MAX,
                head: Vec::new(),
                held: false,
            };
            slots.push(self.open(now, opened, &config, out));
        }
        Bulk {
            slots,
            looked: false,
            warm_up: None,
        }
    }

    pub(super) fn wake_bulk(&mut self, now: Nanos, run: usize, bulk: &BulkSend) {
        let start = self.runs[run].run.start;
        let Work::Bulk(work) = &self.runs[run].work else { return };
        let connected = |slot: &usize| {
            self.tcp
                .get(*slot)
                .is_some_and(|connection| connection.established.is_some())
        };
        let all_connected = work.slots.iter().all(connected);
        let totals = self.bulk_totals(&work.slots);
        let Work::Bulk(work) = &mut self.runs[run].work else {
            return;
        };
        if !work.looked && now >= start + CONNECT {
            work.looked = true;
            if !all_connected {
                return self.fail_bulk(now, run, "unable to connect to server: Connection timed out");
            }
        }
        if work.warm_up.is_none() && now >= start + bulk.warm_up {
            work.warm_up = Some(totals);
        }
        if now >= start + bulk.warm_up + bulk.duration {
            self.stop_run(now, run);
        }
    }

    fn bulk_totals(&self, slots: &[usize]) -> (u64, u64, u64) {
        let connections = slots.iter().filter_map(|&slot| self.tcp.get(slot));
        connections.fold((0, 0, 0), |(acknowledged, sent, again), connection| {
            (
                acknowledged + connection.progress,
                sent + connection.highest,
                again + connection.counted.retransmitted,
            )
        })
    }

    /// The report in the form of iperf3, limited to the values that the laboratory reads.
    pub(super) fn bulk_report(&self, now: Nanos, run: usize, bulk: &Bulk) -> String {
        let Program::BulkSend(asked) = &self.runs[run].run.program else {
            return String::new();
        };
        let (acknowledged, sent, again) = self.bulk_totals(&bulk.slots);
        let before = bulk.warm_up.unwrap_or((acknowledged, sent, again));
        let begun = self.runs[run].run.start + asked.warm_up;
        let seconds = now.saturating_sub(begun) as f64 / 1e9;
        let rate = |bytes: u64| {
            if seconds > 0.0 {
                bytes as f64 * 8.0 / seconds
            } else {
                0.0
            }
        };
        let (received, sent) = (acknowledged - before.0, sent - before.1);
        text(&json!({"end": {
            "sum_sent": {
                "seconds": seconds, "bytes": sent, "bits_per_second": rate(sent), "retransmits": again - before.2,
            },
            "sum_received": {"seconds": seconds, "bytes": received, "bits_per_second": rate(received)},
        }}))
    }

    pub(super) fn fail_bulk(&mut self, now: Nanos, run: usize, reason: &str) {
        let running = &mut self.runs[run];
        running.work = Work::Nothing;
        running.report = text(&json!({ "error": reason }));
        running.fail(now, format!("iperf3: error - {reason}\n"));
        for slot in self.tcp.of_run(run) {
            self.tcp.drop_connection(slot);
        }
    }
}
