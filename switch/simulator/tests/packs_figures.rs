//! PACKS 6.1 in stepped time: 11 over 10 Gbit/s for one second, ranks 0 to 99, 8 queues of 10 packets, |W| = 1000,
//! k = 0.

use std::collections::BTreeMap;

use p4sched_schedulers::packs::{Packs, PacksConfig};
use p4sched_schedulers::{ConfigError, Headroom, Rank, Scheme, Sizes};
use p4sched_simulator::inversions::{Link, Outcome, of_scheme, run};
use p4sched_simulator::workload::{RankDistribution, RankSampler, independent, seeded};

const SECOND: u64 = 1_000_000_000;

fn stream(distribution: RankDistribution, count: usize, seed: u64) -> Vec<Rank> {
    independent(&RankSampler::new(distribution, 100).unwrap(), count, &mut seeded(seed))
}

fn one_second(distribution: RankDistribution) -> BTreeMap<Scheme, Outcome> {
    let ranks = stream(distribution, Link::PAPER.arrivals_in(SECOND), 1);
    let run = |scheme| {
        let outcome = of_scheme(scheme, &Sizes::PAPER, &ranks).unwrap();
        assert_only_the_excess_is_dropped(&outcome, ranks.len());
        (scheme, outcome)
    };
    Scheme::ALL
        .iter()
        .copied()
        .filter(|scheme| scheme.p4().ranks)
        .map(run)
        .collect()
}

/// An empty system admits every packet, and each service time contains an arrival. So the link is never idle: a packet
/// starts every 1.1 arrivals from the first one on. Lost are the packets that have not started by the last arrival,
/// except those that wait in the buffer of 80 then. This holds for every scheme and every distribution of ranks.
fn assert_only_the_excess_is_dropped(outcome: &Outcome, arrivals: usize) {
    let excess = arrivals as u64 - ((arrivals as u64 - 1) * 10 / 11 + 1);
    let drops = outcome.total_drops();
    assert!(
        (excess - 80..=excess).contains(&drops),
        "{drops} dropped, {excess} in excess"
    );
}

/// Inversions of SP-PIFO, AIFO and FIFO, each divided by those of PACKS.
fn ratios(outcomes: &BTreeMap<Scheme, Outcome>) -> [f64; 3] {
    let packs = outcomes[&Scheme::Packs].total_inversions() as f64;
    [Scheme::SpPifo, Scheme::Aifo, Scheme::Fifo].map(|scheme| outcomes[&scheme].total_inversions() as f64 / packs)
}

/// Figure 10: PACKS with each of these window sizes. The windows start full, with the last ranks of the past. So the
/// time to fill a long window does not count against it.
fn window_sizes(windows: &[usize], past: &[Rank], ranks: &[Rank]) -> Result<Vec<(usize, Outcome)>, ConfigError> {
    let sized = |&window| {
        let sizes = Sizes { window, ..Sizes::PAPER };
        Ok((window, run(&mut sizes.model(Scheme::Packs, past)?, Link::PAPER, ranks)))
    };
    windows.iter().map(sized).collect()
}

/// Figure 11: PACKS with the ranks of its window shifted by each of these amounts.
fn window_shifts(shifts: &[i64], ranks: &[Rank]) -> Vec<(i64, Outcome)> {
    let shifted = |&window_shift| {
        let sizes = Sizes {
            window_shift,
            ..Sizes::PAPER
        };
        (window_shift, of_scheme(Scheme::Packs, &sizes, ranks).unwrap())
    };
    shifts.iter().map(shifted).collect()
}

fn assert_within_15_percent(found: [f64; 3], expected: [f64; 3]) {
    for (found_one, expected_one) in found.iter().zip(expected) {
        assert!(
            (found_one / expected_one - 1.0).abs() <= 0.15,
            "{found:.2?} is not {expected:?}"
        );
    }
}

#[test]
fn uniform_ranks_give_the_papers_ratios_of_inversions_and_equal_drops() {
    let outcomes = one_second(RankDistribution::Uniform);
    assert_within_15_percent(ratios(&outcomes), [3.2, 10.9, 12.2]);
    assert_eq!(outcomes[&Scheme::Pifo].total_inversions(), 0);

    let lowest = |scheme| outcomes[&scheme].lowest_rank_dropped().unwrap();
    assert!(lowest(Scheme::Pifo) >= 90);
    assert!((77..=84).contains(&lowest(Scheme::Packs)), "{}", lowest(Scheme::Packs));
    assert_eq!(lowest(Scheme::Aifo), lowest(Scheme::Packs));
    assert!(
        (15..=28).contains(&lowest(Scheme::SpPifo)),
        "{}",
        lowest(Scheme::SpPifo)
    );
    assert_eq!(lowest(Scheme::Fifo), 0);
    assert_eq!(
        outcomes[&Scheme::Aifo].drops,
        outcomes[&Scheme::Packs].drops,
        "theorem 2"
    );
}

#[test]
fn poisson_ranks_give_the_papers_ratios_of_inversions_and_equal_drops() {
    let outcomes = one_second(RankDistribution::Poisson);
    assert_within_15_percent(ratios(&outcomes), [5.1, 15.9, 17.9]);
    let lowest = |scheme| outcomes[&scheme].lowest_rank_dropped().unwrap();
    // The paper: 59, 56, 56, 36 and 20. For the last two, this is where a rare rank first meets a full queue.
    assert!((58..=60).contains(&lowest(Scheme::Pifo)));
    assert!((55..=58).contains(&lowest(Scheme::Packs)));
    assert_eq!(lowest(Scheme::Aifo), lowest(Scheme::Packs));
    assert!((34..=44).contains(&lowest(Scheme::SpPifo)));
    assert!((15..=25).contains(&lowest(Scheme::Fifo)));
}

#[test]
fn inverse_exponential_ranks_give_the_papers_ratios_of_inversions_but_equal_drops() {
    // "over 7x, 14x and 15x". The paper does not give the mean. That of SP-PIFO's simulator matches.
    let outcomes = one_second(RankDistribution::InverseExponential);
    assert_within_15_percent(ratios(&outcomes), [7.0, 14.0, 15.0]);
    // In the paper SP-PIFO drops 42 % more than PACKS and AIFO, and these two differ. Both are impossible here: the
    // link is never idle, and theorem 2 holds.
    let drops = |scheme: Scheme| outcomes[&scheme].total_drops() as f64;
    assert!((drops(Scheme::SpPifo) / drops(Scheme::Packs) - 1.0).abs() < 0.001);
    assert_eq!(outcomes[&Scheme::Aifo].drops, outcomes[&Scheme::Packs].drops);
}

#[test]
fn packs_makes_the_fewest_inversions_but_pifo_for_the_other_distributions_too() {
    for distribution in [RankDistribution::Exponential, RankDistribution::Convex] {
        let [sp_pifo, aifo, fifo] = ratios(&one_second(distribution));
        assert!(
            1.0 < sp_pifo && sp_pifo < aifo && aifo < fifo,
            "{distribution:?}: {sp_pifo} {aifo} {fifo}"
        );
    }
}

#[test]
fn figure_10_longer_windows_make_fewer_inversions_and_spare_more_ranks() {
    let windows = [15, 25, 50, 100, 1000, 10_000];
    let ranks = stream(RankDistribution::Uniform, 300_000, 2);
    let past = stream(RankDistribution::Uniform, 10_000, 3);
    let by_window = window_sizes(&windows, &past, &ranks).unwrap();
    let inversions: Vec<u64> = by_window
        .iter()
        .map(|(_, outcome)| outcome.total_inversions())
        .collect();
    let lowest: Vec<Rank> = by_window
        .iter()
        .map(|(_, outcome)| outcome.lowest_rank_dropped().unwrap())
        .collect();
    assert!(
        inversions.is_sorted_by(|longer, shorter| longer >= shorter),
        "{inversions:?}"
    );
    // The paper: 34, 69, 78 and 80 for |W| = 15, 100, 1000 and 10000. Runs of a third to a whole second with other
    // seeds give 39-45, 70-73, 81-82 and 81-83: the most urgent rank among so many drops varies from run to run.
    assert!(lowest.is_sorted(), "{lowest:?}");
    for (window, range) in [(0, 34..=46), (3, 69..=75), (4, 77..=84), (5, 79..=85)] {
        assert!(range.contains(&lowest[window]), "|W| = {}: {lowest:?}", windows[window]);
    }
    let less = |longer: usize, shorter: usize| 1.0 - inversions[longer] as f64 / inversions[shorter] as f64;
    assert!(
        (0.14..0.23).contains(&less(4, 3)),
        "|W| = 1000 over 100, 22 % in the paper, 16 to 17 % in runs with other seeds: {:.3}",
        less(4, 3)
    );
    assert!(
        (-0.01..0.03).contains(&less(5, 4)),
        "|W| = 10000 over 1000, 1 % in the paper: {:.3}",
        less(5, 4)
    );

    let sp_pifo = of_scheme(Scheme::SpPifo, &Sizes::PAPER, &ranks).unwrap();
    let shortest = inversions[0] as f64 / sp_pifo.total_inversions() as f64;
    assert!(
        (0.70..0.70 * 1.15).contains(&shortest),
        "|W| = 15 makes 30 % less inversions than SP-PIFO in the paper: {shortest:.3} of them"
    );
    // The paper: 34 and 18.
    let of_sp_pifo = sp_pifo.lowest_rank_dropped().unwrap();
    assert!(lowest[0] >= of_sp_pifo + 10, "{} and {of_sp_pifo}", lowest[0]);
}

#[test]
fn figure_11_a_positive_shift_leads_to_fifo_and_a_negative_one_empties_the_queues() {
    let ranks = stream(RankDistribution::Uniform, 300_000, 4);
    let shifts = [-100, -50, 0, 25, 50, 75, 100];
    let by_shift = window_shifts(&shifts, &ranks);
    let inversions: Vec<u64> = by_shift.iter().map(|(_, outcome)| outcome.total_inversions()).collect();
    assert!(inversions.is_sorted(), "{inversions:?}");
    let fifo = of_scheme(Scheme::Fifo, &Sizes::PAPER, &ranks).unwrap();
    let at_100 = &by_shift[6].1;
    assert!((inversions[6] as f64 / fifo.total_inversions() as f64 - 1.0).abs() < 0.03);
    assert_eq!(at_100.lowest_rank_dropped(), Some(0));

    let sp_pifo = of_scheme(Scheme::SpPifo, &Sizes::PAPER, &ranks).unwrap();
    assert!(
        inversions[3] as f64 <= 0.66 * sp_pifo.total_inversions() as f64,
        "a shift of 25 still saves 34 %"
    );
    // Every rank looks like the least urgent one: a packet enters only if the buffer is empty.
    assert_eq!(by_shift[0].1.lowest_rank_dropped(), Some(0));
    assert!(inversions[0] * 20 < inversions[2]);
}

#[test]
fn figure_11_a_negative_shift_drops_the_least_urgent_ranks_only_but_no_more_than_the_excess() {
    let ranks = stream(RankDistribution::Uniform, 300_000, 4);
    for (shift, outcome) in window_shifts(&[-75, -50, -25], &ranks) {
        // The paper, with TCP: 75, 50 and 25 % of the packets, those of the lowest priority. A constant stream keeps
        // the link busy, so only the excess of 9 % is lost. It is lost among the same ranks.
        assert_only_the_excess_is_dropped(&outcome, ranks.len());
        // 100 + shift is the first rank that no rank of the shifted window exceeds. A share of |W| = 1000 ranks is off
        // by up to 5 standard deviations, 5 sqrt(0.25 0.75 / 1000) = 0.07, or 7 ranks.
        let spared = (100 + shift) as Rank;
        let lowest = outcome.lowest_rank_dropped().unwrap();
        assert!((spared - 7..=spared).contains(&lowest), "{shift}: {lowest}");
    }
}

#[test]
fn a_setup_that_cannot_work_is_refused() {
    let ranks = [1, 2, 3];
    let no_window = Sizes {
        window: 0,
        ..Sizes::PAPER
    };
    let error = of_scheme(Scheme::Packs, &no_window, &ranks).unwrap_err();
    assert_eq!(error.to_string(), "window |W| = 0 is out of range: 1 to 65536 ranks");
    let error = window_sizes(&[10], &[1, 2], &ranks).unwrap_err();
    assert_eq!(
        error.to_string(),
        "starting window: 2 values given, 10 needed (one rank for each cell of the window)"
    );
    let no_queue = Sizes {
        queues: 0,
        ..Sizes::PAPER
    };
    assert!(of_scheme(Scheme::SpPifo, &no_queue, &ranks).is_err());
    assert!(Headroom::new(4, 2).is_err());
}

/// Ranks 2 1 2 5 4 1, with the first packet on the right.
#[test]
fn packs_figure_5_the_repeating_sequence_settles_at_the_same_output() {
    let ranks = [1, 4, 5, 2, 1, 2].repeat(100);
    let mut packs = Packs::new(PacksConfig::new(&[2, 2], 6)).unwrap();
    // The link carries four of every six packets.
    let outcome = run(
        &mut packs,
        Link {
            arrival_mbps: 6,
            drain_mbps: 4,
        },
        &ranks,
    );
    let sent: Vec<Rank> = outcome.sent.iter().map(|&id| ranks[id as usize]).collect();
    for period in sent[20..380].chunks(4) {
        assert_eq!(period, [1, 1, 2, 2]);
    }
}
