//! Congestion control: the growth of the congestion window, and its reduction after a loss or a mark.

mod aggregation;
mod bandwidth;
mod bbr;
mod cubic;
mod dctcp;
mod hystart;
mod prague;
mod window;

use crate::config::{Config, Control};
use bbr::Bbr;
pub(crate) use bbr::{Acknowledged, Repair, Sample};
use cubic::Cubic;
use dctcp::Dctcp;
use p4sched_schedulers::Nanos;
use prague::Prague;
pub(crate) use window::{Cause, Measurement, Window};

/// Smallest congestion window after a reduction, in segments, except after a timeout (RFC 5681, equation 4).
const LEAST: u32 = 2;

/// The congestion control algorithm of a flow, with its state.
#[derive(Clone, Debug)]
pub(crate) enum Algorithm {
    /// RFC 5681. pFabric grows its window in the same way.
    NewReno,
    Cubic(Cubic),
    Dctcp(Dctcp),
    Prague(Prague),
    Bbr(Box<Bbr>),
}

impl Algorithm {
    pub(crate) fn new(flow: u32, config: &Config) -> Self {
        match config.control {
            Control::NewReno | Control::PFabric | Control::Netbench | Control::Udp { .. } => Algorithm::NewReno,
            Control::Cubic => Algorithm::Cubic(Cubic::new(config.hystart, config.tick)),
            Control::Dctcp => Algorithm::Dctcp(Dctcp::new()),
            Control::Prague => Algorithm::Prague(Prague::new()),
            Control::Bbr => Algorithm::Bbr(Box::new(Bbr::new(flow, config))),
        }
    }

    /// Processes the measurement of an acknowledgement. It may end slow start.
    pub(crate) fn measure(&mut self, measurement: &Measurement, window: &mut Window) {
        match self {
            Algorithm::NewReno | Algorithm::Bbr(_) => {}
            Algorithm::Cubic(cubic) => cubic.measure(measurement, window),
            Algorithm::Dctcp(dctcp) => dctcp.measure(measurement),
            Algorithm::Prague(prague) => prague.measure(measurement, window),
        }
    }

    /// Grows the window for `acked` segments.
    pub(crate) fn grow(&mut self, now: Nanos, acked: u32, window: &mut Window) {
        if matches!(self, Algorithm::Prague(prague) if prague.is_marked()) {
            return;
        }
        let acked = if window.in_slow_start() {
            window.slow_start(acked)
        } else {
            acked
        };
        if acked == 0 {
            return;
        }
        let each = match self {
            Algorithm::NewReno | Algorithm::Dctcp(_) | Algorithm::Prague(_) | Algorithm::Bbr(_) => window.cwnd,
            Algorithm::Cubic(cubic) => cubic.segments_for_one_more(now, window.cwnd, acked),
        };
        window.additive(each, acked);
    }

    /// The slow start threshold after a reduction.
    pub(crate) fn reduced(&mut self, cwnd: u32, cause: Cause) -> u32 {
        let reduced = match self {
            Algorithm::Cubic(cubic) => cubic.reduced(cwnd),
            Algorithm::Dctcp(dctcp) if cause == Cause::Mark => dctcp.reduced(cwnd),
            Algorithm::NewReno | Algorithm::Dctcp(_) | Algorithm::Prague(_) => cwnd / 2,
            Algorithm::Bbr(bbr) => {
                bbr.keep(cwnd);
                u32::MAX
            }
        };
        reduced.max(LEAST)
    }

    /// Forgets what was learnt about the path, because the retransmission timer expired.
    pub(crate) fn timeout(&mut self) {
        match self {
            Algorithm::Cubic(cubic) => cubic.reset(),
            Algorithm::Bbr(bbr) => bbr.timeout(),
            Algorithm::NewReno | Algorithm::Dctcp(_) | Algorithm::Prague(_) => {}
        }
    }

    /// Pacing rate in bytes per second; `None` for a control that has only a window.
    pub(crate) fn rate(&self) -> Option<u64> {
        match self {
            Algorithm::Bbr(bbr) => Some(bbr.rate()),
            _ => None,
        }
    }

    /// BBR, which sets the window alone: reductions by others do not apply (Linux, `cong_control`).
    pub(crate) fn bbr(&mut self) -> Option<&mut Bbr> {
        match self {
            Algorithm::Bbr(bbr) => Some(bbr),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newreno_doubles_in_slow_start_and_then_adds_one_segment_a_window() {
        let (mut window, mut control) = (
            Window {
                cwnd: 10,
                ssthresh: 16,
                credit: 0,
            },
            Algorithm::NewReno,
        );
        control.grow(0, 6, &mut window);
        assert_eq!(window.cwnd, 16);
        control.grow(0, 15, &mut window);
        assert_eq!(window.cwnd, 16);
        control.grow(0, 1, &mut window);
        assert_eq!((window.cwnd, window.credit), (17, 0));
    }

    #[test]
    fn slow_start_hands_what_is_beyond_its_threshold_to_congestion_avoidance() {
        let (mut window, mut control) = (
            Window {
                cwnd: 10,
                ssthresh: 12,
                credit: 0,
            },
            Algorithm::NewReno,
        );
        control.grow(0, 10, &mut window);
        assert_eq!((window.cwnd, window.credit), (12, 8));
    }

    #[test]
    fn newreno_halves_and_keeps_two_segments() {
        assert_eq!(Algorithm::NewReno.reduced(11, Cause::Loss), 5);
        assert_eq!(Algorithm::NewReno.reduced(1, Cause::Loss), 2);
    }
}
