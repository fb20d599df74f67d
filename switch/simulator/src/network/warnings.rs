//! Scenarios that run, but whose results are likely to mislead.

use std::collections::HashMap;

use p4sched_schedulers::Nanos;
use p4sched_transport::Control;

use super::setup::Setup;

/// A sentence for each trap in the settings of a run.
pub fn warnings(setup: &Setup) -> Vec<String> {
    phase_lock(setup).into_iter().collect()
}

/// Two flows that send datagrams at the same rate, at the same time, and without jitter. At a full queue the one that
/// comes first finds room each time, and the other one loses nearly everything.
fn phase_lock(setup: &Setup) -> Option<String> {
    // By datagram length and rate: the flow that ends last, and its end.
    let mut sending: HashMap<(u32, u64), (usize, Nanos)> = HashMap::new();
    for (number, flow) in setup.flows.iter().enumerate() {
        let config = &setup.transports[flow.transport].config;
        let Control::Udp {
            rate_bps, jitter_ns: 0, ..
        } = config.control
        else {
            continue;
        };
        let takes = u128::from(flow.bytes) * 8_000_000_000 / u128::from(rate_bps);
        let end = flow
            .start_ns
            .saturating_add(Nanos::try_from(takes).unwrap_or(Nanos::MAX));
        let (before, until) = *sending.entry((config.mss, rate_bps)).or_insert((number, end));
        if before != number && flow.start_ns < until {
            return Some(format!(
                "flows {before} and {number} send datagrams at the same rate, so they keep their phase, and at a full \
                 queue one of them may lose nearly all. Give their transport jitter_ns, for example the time between \
                 two datagrams"
            ));
        }
        if end > until {
            sending.insert((config.mss, rate_bps), (number, end));
        }
    }
    None
}
