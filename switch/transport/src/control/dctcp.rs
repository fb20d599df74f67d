//! DCTCP (RFC 8257): the share of marked segments determines the reduction of the window. Arithmetic as in Linux
//! (`tcp_dctcp.c`).

use super::window::Measurement;

/// alpha is in units of 1 / `ONE`.
pub(super) const ONE: u32 = 1 << 10;
/// g = 1/16 (RFC 8257 Section 4.2).
const GAIN_SHIFT: u32 = 4;

#[derive(Clone, Debug)]
pub(crate) struct Dctcp {
    /// Estimated share of marked segments.
    alpha: u32,
    /// The window of observation ends when this segment is acknowledged.
    end: u64,
    delivered: u32,
    marked: u32,
}

impl Dctcp {
    /// alpha starts at 1: the first mark halves the window (RFC 8257 Section 3.3).
    pub(crate) fn new() -> Self {
        Dctcp {
            alpha: ONE,
            end: 0,
            delivered: 0,
            marked: 0,
        }
    }

    /// RFC 8257 Section 3.3: alpha = (1 - g) alpha + g M, once per window.
    pub(crate) fn measure(&mut self, measurement: &Measurement) {
        self.delivered += measurement.delivered;
        self.marked += if measurement.marked { measurement.delivered } else { 0 };
        if measurement.una < self.end {
            return;
        }
        let decay = (self.alpha >> GAIN_SHIFT).max(1).min(self.alpha);
        let share = u64::from(self.marked) * u64::from(ONE >> GAIN_SHIFT) / u64::from(self.delivered.max(1));
        self.alpha = (self.alpha - decay + share as u32).min(ONE);
        (self.end, self.delivered, self.marked) = (measurement.next, 0, 0);
    }

    /// alpha, in units of 1 / `ONE`.
    pub(super) fn alpha(&self) -> u32 {
        self.alpha
    }

    /// RFC 8257 Section 3.3: cwnd (1 - alpha / 2).
    pub(crate) fn reduced(&self, cwnd: u32) -> u32 {
        cwnd - (u64::from(cwnd) * u64::from(self.alpha) / u64::from(2 * ONE)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The state after `windows` windows of ten segments, of which `marked` are marked.
    fn after(windows: u64, marked: u64) -> Dctcp {
        let mut dctcp = Dctcp {
            end: 10,
            ..Dctcp::new()
        };
        for segment in 1..=windows * 10 {
            dctcp.measure(&Measurement {
                now: 0,
                una: segment,
                next: segment + 10,
                delivered: 1,
                marked: segment % 10 < marked,
                rtt: None,
                burst_delay: 0,
            });
        }
        dctcp
    }

    #[test]
    fn alpha_goes_to_the_share_of_marked_segments() {
        assert!(after(200, 10).alpha == ONE);
        let half = f64::from(after(200, 5).alpha) / f64::from(ONE);
        assert!((half - 0.5).abs() < 0.02, "{half}");
        assert!(after(200, 0).alpha < 20);
    }

    #[test]
    fn without_marks_alpha_shrinks_by_a_sixteenth_a_window() {
        assert_eq!(after(1, 0).alpha, 960);
        assert_eq!(after(2, 0).alpha, 900);
    }

    #[test]
    fn a_mark_takes_half_of_alpha_from_the_window() {
        assert_eq!(Dctcp::new().reduced(100), 50);
        assert_eq!(
            Dctcp {
                alpha: ONE / 10,
                ..Dctcp::new()
            }
            .reduced(100),
            96
        ); // 100 (1 - 0.0996 / 2), rounded up.
    }
}
