//! Flow arrivals and sizes as in the simulations of the papers: Poisson arrivals at a given load, and sizes from the
//! web-search or data-mining distribution, scaled to the link.

use std::net::Ipv4Addr;

use p4sched_simulator::flow_sizes::{FlowSizes, poisson_starts};
use p4sched_simulator::workload::seeded;
use rand::Rng;

use crate::error::TrafficError;
use crate::flow::{SEGMENT_BYTES, Scale, TcpFlow, Tos};

/// Bytes on the link per byte of payload: Ethernet frames of full segments with timestamps.
const FRAME_SHARE: f64 = 1514.0 / SEGMENT_BYTES as f64;

/// Largest number of flows in a plan.
const MAX_FLOWS: f64 = 1e6;

#[derive(Clone, Debug)]
pub struct Plan {
    pub sizes: FlowSizes,
    /// Factor for all sizes, so that a slow link sees as many flows as a fast one.
    pub scale: f64,
    /// Load of the bottleneck in Ethernet frames, above 0 and at most 1.
    pub load: f64,
    /// Rate of the bottleneck in bit/s.
    pub link_bps: f64,
    /// Time within which flows start, in seconds.
    pub duration_s: f64,
    /// Sources. Each flow gets a random one.
    pub sources: Vec<Ipv4Addr>,
    /// Destinations. Each flow gets a random one.
    pub destinations: Vec<Ipv4Addr>,
    /// Destination port.
    pub port: u16,
    /// Scale from remaining bytes to ranks.
    pub rank_scale: Scale,
    /// Seed of all random choices.
    pub seed: u64,
}

impl Plan {
    /// Checks the plan.
    ///
    /// # Errors
    /// If the load is not in (0, 1], if a rate, time or scale is not positive, if a list is empty, or if there would be
    /// more than a million flows.
    pub fn check(&self) -> Result<(), TrafficError> {
        let wrong = |what: &str| Err(TrafficError::Flow(what.into()));
        let positive = |value: f64| value.is_finite() && value > 0.0;
        if !(positive(self.load) && self.load <= 1.0) {
            return wrong("the load must be above 0 and at most 1: a queue under a higher one grows without end");
        }
        if !(positive(self.link_bps) && positive(self.duration_s) && positive(self.scale)) {
            return wrong("link rate, duration and scale must be positive");
        }
        if self.sources.is_empty() || self.destinations.is_empty() {
            return wrong("at least one source and one destination are needed");
        }
        let expected = self.starts_per_s() * self.duration_s;
        if expected.is_nan() || expected > MAX_FLOWS {
            return Err(TrafficError::Flow(format!(
                "these sizes, load, rate and duration make {expected:.3e} flows; at most {MAX_FLOWS:.0} are planned"
            )));
        }
        Ok(())
    }

    fn starts_per_s(&self) -> f64 {
        self.load * self.link_bps / 8.0 / (self.sizes.mean() * self.scale * FRAME_SHARE)
    }

    /// The flows, in order of their start. Their sizes are a stratified sample.
    ///
    /// # Errors
    /// See [`Plan::check`].
    pub fn flows(&self) -> Result<Vec<TcpFlow>, TrafficError> {
        self.check()?;
        let mut random = seeded(self.seed);
        let starts_s = poisson_starts(self.starts_per_s(), self.duration_s, &mut random);
        let sizes = self.sizes.sample(starts_s.len(), self.scale, &mut random);
        let largest_bytes = (self.sizes.largest() * self.scale).ceil() as u64;
        let flows = (1..).zip(starts_s).zip(sizes).map(|((flow, start_s), size)| TcpFlow {
            flow,
            src: Some(self.sources[random.random_range(0..self.sources.len())]),
            dst: self.destinations[random.random_range(0..self.destinations.len())],
            port: self.port,
            size_bytes: size,
            start_s,
            tos: Tos::Remaining {
                largest_bytes,
                scale: self.rank_scale,
            },
        });
        Ok(flows.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(sizes: FlowSizes, load: f64) -> Plan {
        Plan {
            sizes,
            scale: 0.1,
            load,
            link_bps: 1e9,
            duration_s: 400.0,
            sources: vec![Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)],
            destinations: vec![Ipv4Addr::new(10, 0, 1, 1)],
            port: 5001,
            rank_scale: Scale::Logarithmic,
            seed: 3,
        }
    }

    fn offered(plan: &Plan, flows: &[TcpFlow]) -> f64 {
        let bytes: u64 = flows.iter().map(|flow| flow.size_bytes).sum();
        // 1448 bytes of payload in a frame of 1514
        bytes as f64 * (1514.0 / 1448.0) * 8.0 / plan.duration_s / plan.link_bps
    }

    #[test]
    fn the_offered_load_is_the_one_asked_for() {
        let plan = plan(FlowSizes::WebSearch, 0.6);
        let flows = plan.flows().unwrap();
        let load = offered(&plan, &flows);
        // About 167,000 flows: the standard error of a Poisson number is 0.25 % of it.
        assert!(
            (load - 0.6).abs() < 4.0 * 0.0025 * 0.6,
            "{load} with {} flows",
            flows.len()
        );
        assert!(flows.is_sorted_by(|a, b| a.start_s <= b.start_s));
    }

    #[test]
    fn in_a_short_run_only_the_number_of_flows_is_left_to_chance() {
        for seed in 1..=20 {
            let plan = Plan {
                duration_s: 2.0,
                seed,
                ..plan(FlowSizes::WebSearch, 0.8)
            };
            let flows = plan.flows().unwrap();
            let mean = flows.iter().map(|flow| flow.size_bytes as f64).sum::<f64>() / flows.len() as f64;
            // Some 1100 flows, each within its stratum. The last stratum is the widest: it spans 0.4 mean sizes and
            // holds 1/1100 of the flows. Without strata, the mean would have a standard error of 7 %.
            assert!(
                (mean / (FlowSizes::WebSearch.mean() * 0.1) - 1.0).abs() < 0.005,
                "{mean}"
            );
        }
    }

    #[test]
    fn a_plan_without_end_is_refused() {
        let endless = Plan {
            scale: 1e-12,
            ..plan(FlowSizes::WebSearch, 0.5)
        };
        let error = endless.flows().unwrap_err().to_string();
        assert!(error.ends_with("flows; at most 1000000 are planned"), "{error}");
        for (scale, link_bps) in [(f64::MIN_POSITIVE, 1e9), (f64::MIN_POSITIVE, f64::MAX), (1.0, f64::MAX)] {
            let plan = Plan {
                scale,
                link_bps,
                ..plan(FlowSizes::DataMining, 0.5)
            };
            assert!(plan.flows().is_err(), "{scale} {link_bps}");
        }
    }

    #[test]
    fn a_load_above_one_is_refused() {
        for load in [0.0, -0.5, 1.01, f64::NAN] {
            assert!(plan(FlowSizes::WebSearch, load).flows().is_err(), "{load}");
        }
        assert!(
            Plan {
                sources: vec![],
                ..plan(FlowSizes::WebSearch, 0.5)
            }
            .flows()
            .is_err()
        );
    }
}
