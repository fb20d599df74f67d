//! Times and ranks of the packets of a UDP flow. They follow from the seed.

use std::fmt::Write as _;
use std::path::Path;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::error::{TrafficError, file_error};
use crate::flow::{Arrivals, UdpFlow, distinct};
use crate::rank::RankSource;

/// Largest number of packets in a written schedule. They are sorted in memory.
const MAX_PACKETS: f64 = 2e7;

/// The packets of one flow, in order.
pub struct Schedule {
    flow: UdpFlow,
    random: ChaCha8Rng,
    ranks: RankSource,
    /// Time of the next packet, in ns from the start of the run. It keeps fractions, because rounding would change the
    /// rate.
    next_ns: f64,
    /// Number of remaining packets in this burst, and their rank.
    burst: (u32, u32),
}

impl Schedule {
    /// The schedule of a flow.
    ///
    /// # Errors
    /// If the flow is invalid.
    pub fn new(flow: &UdpFlow, seed: u64) -> Result<Schedule, TrafficError> {
        flow.check()?;
        Ok(Schedule {
            flow: flow.clone(),
            random: ChaCha8Rng::seed_from_u64(seed ^ (u64::from(flow.flow) << 32)),
            ranks: flow.ranks.source()?,
            next_ns: flow.start_s * 1e9,
            burst: (0, 0),
        })
    }

    /// Time of the next packet, in ns from the start of the run.
    pub fn next_ns(&self) -> f64 {
        self.next_ns
    }

    /// Whether the next packet is before the end of the flow. The first packet is always sent.
    pub fn has_next_packet(&self) -> bool {
        self.next_ns < self.flow.stop_s * 1e9
    }

    pub fn next_rank(&mut self) -> u32 {
        let Arrivals::Bursts(size) = self.flow.arrivals else {
            return self.ranks.next(&mut self.random);
        };
        let (left, rank) = self.burst;
        self.burst = match left {
            0 => (size - 1, self.ranks.next(&mut self.random)),
            _ => (left - 1, rank),
        };
        self.burst.1
    }

    /// Moves on to the next packet.
    pub fn advance(&mut self) {
        let mean = f64::from(self.flow.frame_bytes) * 8e9 / self.flow.rate_bps as f64;
        self.next_ns += match self.flow.arrivals {
            Arrivals::Constant => mean,
            Arrivals::Poisson => self.exponential(mean),
            Arrivals::Bursts(_) if self.burst.0 > 0 => 0.0,
            Arrivals::Bursts(size) => self.exponential(mean * f64::from(size)),
        };
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.random.random::<f64>()).ln()
    }
}

/// Writes the packets that [`super::send`] would send with this seed as CSV, in order of time:
/// `at_ns,flow,sequence,rank,frame_bytes`.
///
/// # Errors
/// If a flow is invalid, or the file cannot be written.
pub fn write(flows: &[UdpFlow], seed: u64, path: &Path) -> Result<(), TrafficError> {
    distinct(flows.iter().map(|flow| flow.flow))?;
    let expected: f64 = flows.iter().map(UdpFlow::expected_packets).sum();
    if expected > MAX_PACKETS {
        return Err(TrafficError::Flow(format!(
            "these flows have some {expected:.0} packets: a schedule holds {MAX_PACKETS}"
        )));
    }
    let mut packets = Vec::new();
    for flow in flows {
        let mut schedule = Schedule::new(flow, seed)?;
        for sequence in 0_u64.. {
            packets.push((schedule.next_ns() as u64, flow, sequence, schedule.next_rank()));
            schedule.advance();
            if !schedule.has_next_packet() {
                break;
            }
        }
    }
    // The sort is stable: bursts keep their order, and so do flows that send at the same instant.
    packets.sort_by_key(|&(at_ns, ..)| at_ns);
    let mut text = String::from("at_ns,flow,sequence,rank,frame_bytes\n");
    for (at_ns, flow, sequence, rank) in packets {
        let UdpFlow { flow, frame_bytes, .. } = flow;
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{at_ns},{flow},{sequence},{rank},{frame_bytes}");
    }
    std::fs::write(path, text).map_err(file_error(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::Ranks;

    fn flow(arrivals: Arrivals) -> UdpFlow {
        UdpFlow {
            flow: 3,
            src: None,
            dst: std::net::Ipv4Addr::LOCALHOST,
            port: 5376,
            rate_bps: 8_000_000,
            frame_bytes: 1000,
            ranks: Ranks::Drawn {
                distribution: "uniform".into(),
                below: 1000,
            },
            arrivals,
            start_s: 1.0,
            stop_s: 21.0,
        }
    }

    #[test]
    fn a_schedule_of_one_flow_twice_or_without_end_is_refused_before_it_is_drawn() {
        let path = Path::new("/nowhere");
        let flow = flow(Arrivals::Constant);
        let twice = write(&[flow.clone(), flow.clone()], 1, path).unwrap_err();
        assert!(twice.to_string().starts_with("flow 3 is given twice"), "{twice}");
        let long = UdpFlow {
            rate_bps: 400_000_000_000,
            ..flow
        };
        let refused = write(&[long], 1, path).unwrap_err();
        assert!(
            refused
                .to_string()
                .starts_with("these flows have some 1000000000 packets"),
            "{refused}"
        );
    }

    fn packets(flow: &UdpFlow, seed: u64) -> Vec<(f64, u32)> {
        let mut schedule = Schedule::new(flow, seed).unwrap();
        let mut found = Vec::new();
        while schedule.has_next_packet() {
            found.push((schedule.next_ns(), schedule.next_rank()));
            schedule.advance();
        }
        found
    }

    #[test]
    fn a_constant_flow_keeps_its_distance() {
        let sent = packets(&flow(Arrivals::Constant), 1);
        assert_eq!(sent.len(), 20_000);
        assert!(sent.windows(2).all(|pair| pair[1].0 - pair[0].0 == 1e6));
    }

    #[test]
    fn bursts_are_of_one_rank_and_one_instant_and_keep_the_rate() {
        let sent = packets(&flow(Arrivals::Bursts(10)), 1);
        // The number of bursts is a Poisson number with mean 2000. Four standard deviations are 180.
        assert!(sent.len().abs_diff(20_000) < 1800, "{}", sent.len());
        assert!(
            sent.chunks(10)
                .all(|burst| burst.iter().all(|packet| *packet == burst[0]))
        );
        let starts: Vec<f64> = sent.chunks(10).map(|burst| burst[0].0).collect();
        assert!(starts.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn the_written_schedule_is_in_order_and_that_of_the_seed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("schedule.csv");
        let late = UdpFlow {
            flow: 4,
            start_s: 0.5,
            ..flow(Arrivals::Constant)
        };
        write(&[flow(Arrivals::Poisson), late], 7, &path).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let rows: Vec<Vec<u64>> = text
            .lines()
            .skip(1)
            .map(|line| line.split(',').map(|value| value.parse().unwrap()).collect())
            .collect();
        assert!(rows.is_sorted_by_key(|row| row[0]));
        let poisson: Vec<(u64, u32)> = rows
            .iter()
            .filter(|row| row[1] == 3)
            .map(|row| (row[0], row[3] as u32))
            .collect();
        let asked: Vec<(u64, u32)> = packets(&flow(Arrivals::Poisson), 7)
            .into_iter()
            .map(|(at, rank)| (at as u64, rank))
            .collect();
        assert_eq!(poisson, asked);
        assert_eq!(rows.iter().filter(|row| row[1] == 4).count(), 20_500);
    }
}
