//! PACKS, appendix B: worst cases of one scheduler against another, with 15 packets of ranks 1 to 11, |W| = 4, k = 0,
//! three queues of four packets. The search finds gaps at least as large as those of the paper's solver.

use p4sched_schedulers::aifo::{Aifo, AifoConfig};
use p4sched_schedulers::packs::{Packs, PacksConfig};
use p4sched_schedulers::pifo::Pifo;
use p4sched_schedulers::sp_pifo::SpPifo;
use p4sched_schedulers::window::WindowConfig;
use p4sched_schedulers::{Headroom, Rank, Reference, Target};
use p4sched_simulator::adversary::{BatchOutcome, Search, Trace, batch};
use p4sched_simulator::workload::seeded;

const HIGHEST: Rank = 11;
const QUEUES: [usize; 3] = [4; 3];
/// Queues so long that no packet is dropped: 15 packets fill less than a quarter of the buffer.
const LONG_QUEUES: [usize; 3] = [60; 3];

fn packs(trace: &Trace, queue_sizes: &[usize]) -> BatchOutcome {
    let mut packs = Packs::new(PacksConfig::new(queue_sizes, 4)).unwrap();
    packs.remember(&trace.window).unwrap();
    batch(&mut packs, &trace.ranks)
}

fn aifo(trace: &Trace) -> BatchOutcome {
    let window = WindowConfig::unsampled(4);
    let mut aifo = Aifo::new(AifoConfig {
        target: 12,
        capacity: 12,
        headroom: Headroom::NONE,
        window,
        on: Target::V1model,
    })
    .unwrap();
    aifo.remember(&trace.window).unwrap();
    batch(&mut aifo, &trace.ranks)
}

fn sp_pifo(trace: &Trace, queue_sizes: &[usize]) -> BatchOutcome {
    batch(&mut SpPifo::new(queue_sizes).unwrap(), &trace.ranks)
}

fn pifo(trace: &Trace) -> BatchOutcome {
    batch(&mut Pifo::new(12).unwrap(), &trace.ranks)
}

fn most_urgent_dropped(outcome: &BatchOutcome) -> usize {
    outcome.dropped.iter().filter(|&&rank| rank == 1).count()
}

#[test]
fn figure_16_aifo_makes_24_inversions_for_rank_1_where_packs_sorts() {
    // Only traces that PACKS sorts completely.
    let gap = |trace: &Trace| {
        let unsorted = packs(trace, &QUEUES)
            .inversions()
            .map(|(_, count)| count as i64)
            .sum::<i64>();
        aifo(trace).inversions_of(1) as i64 - 10 * unsorted
    };
    let (trace, _) = Search::APPENDIX_B.worst(gap, &mut seeded(16));
    let (by_aifo, by_packs) = (aifo(&trace), packs(&trace, &QUEUES));
    assert!(by_aifo.inversions_of(1) >= 24, "{trace:?}: {by_aifo:?}");
    assert!(by_packs.sent.is_sorted(), "{trace:?}: {by_packs:?}");
    let of_highest_priority = by_aifo.inversions().filter(|&(rank, _)| rank == 1);
    let longest_delay = of_highest_priority.map(|(_, count)| count).max().unwrap();
    assert!(
        longest_delay * 10 >= 12 * 6,
        "a packet is delayed by 60 % of the queue: {longest_delay} of 12"
    );
}

#[test]
fn figure_16_the_weighted_gap_of_aifo_is_above_that_of_the_papers_trace() {
    // 24 inversions of rank 1, each with weight 10.
    let gap =
        |trace: &Trace| aifo(trace).weighted_inversions(HIGHEST) - packs(trace, &QUEUES).weighted_inversions(HIGHEST);
    let (trace, found) = Search::APPENDIX_B.worst(gap, &mut seeded(17));
    assert!(found >= 360, "{found}: {trace:?}");
}

#[test]
fn figure_17_packs_is_worse_than_aifo_on_nearly_sorted_packets_of_higher_ranks() {
    let gap =
        |trace: &Trace| packs(trace, &QUEUES).weighted_inversions(HIGHEST) - aifo(trace).weighted_inversions(HIGHEST);
    let (trace, found) = Search::APPENDIX_B.worst(gap, &mut seeded(18));
    assert!(found >= 240, "{found}: {trace:?}");
    assert!(
        packs(&trace, &QUEUES).inversions_of(1) <= aifo(&trace).inversions_of(1),
        "never for the most urgent rank"
    );
    let rises = trace.ranks.windows(2).filter(|pair| pair[0] <= pair[1]).count();
    assert!(rises >= 8, "mostly rising: {trace:?}");
}

#[test]
fn figure_18_sp_pifo_drops_8_urgent_packets_more_with_two_thirds_of_its_queues_empty() {
    let gap =
        |trace: &Trace| sp_pifo(trace, &QUEUES).weighted_drops(HIGHEST) - packs(trace, &QUEUES).weighted_drops(HIGHEST);
    let (trace, found) = Search::APPENDIX_B.worst(gap, &mut seeded(19));
    assert!(found >= 80, "{found}: {trace:?}");

    let all_urgent = Trace {
        window: vec![1; 4],
        ranks: vec![1; 15],
    };
    let (by_sp_pifo, by_packs) = (sp_pifo(&all_urgent, &QUEUES), packs(&all_urgent, &QUEUES));
    assert_eq!(
        (most_urgent_dropped(&by_sp_pifo), most_urgent_dropped(&by_packs)),
        (11, 3)
    );
    assert_eq!(by_sp_pifo.sent.len(), 4, "8 of 12 places stayed empty");
}

#[test]
fn figure_19_packs_drops_at_least_3_urgent_packets_more_than_sp_pifo() {
    let gap =
        |trace: &Trace| packs(trace, &QUEUES).weighted_drops(HIGHEST) - sp_pifo(trace, &QUEUES).weighted_drops(HIGHEST);
    let (trace, found) = Search::APPENDIX_B.worst(gap, &mut seeded(20));
    assert!(found >= 40, "more than 3 packets of rank 1 weigh: {found}: {trace:?}");
    assert!(
        found < 80,
        "less than SP-PIFO's worst case against PACKS: {found}: {trace:?}"
    );
    let urgent = |outcome: BatchOutcome| outcome.dropped.iter().filter(|&&rank| rank <= HIGHEST / 2).count();
    let (by_packs, by_sp_pifo) = (urgent(packs(&trace, &QUEUES)), urgent(sp_pifo(&trace, &QUEUES)));
    assert!(by_packs >= by_sp_pifo + 3, "{by_packs} against {by_sp_pifo}: {trace:?}");
}

#[test]
fn figure_19_at_most_3_packets_holds_of_the_most_urgent_rank_only() {
    // Rank 1 has quantile 0 in every window. So PACKS drops it only if all 12 places are taken: at most 3 of 15.
    let of_rank_1 = |trace: &Trace| {
        let (by_packs, by_sp_pifo) = (packs(trace, &QUEUES), sp_pifo(trace, &QUEUES));
        most_urgent_dropped(&by_packs) as i64 - most_urgent_dropped(&by_sp_pifo) as i64
    };
    let rank_1_last = Trace {
        window: vec![8, 3, 8, 4],
        ranks: vec![2, 4, 6, 11, 11, 3, 11, 11, 7, 11, 7, 5, 1, 1, 1],
    };
    assert_eq!(of_rank_1(&rank_1_last), 3);
    let (trace, found) = Search::APPENDIX_B.worst(of_rank_1, &mut seeded(25));
    assert!(found <= 3, "{found}: {trace:?}");

    // Weighted by priority, which the appendix maximises, PACKS loses more: six packets of ranks 2 to 5 against none.
    let trace = Trace {
        window: vec![5, 1, 2, 3],
        ranks: vec![4, 4, 4, 3, 5, 11, 11, 1, 1, 2, 2, 3, 3, 4, 11],
    };
    let sorted = |mut outcome: BatchOutcome| {
        outcome.dropped.sort_unstable();
        outcome.dropped
    };
    let (by_packs, by_sp_pifo) = (packs(&trace, &QUEUES), sp_pifo(&trace, &QUEUES));
    assert_eq!(
        by_packs.weighted_drops(HIGHEST) - by_sp_pifo.weighted_drops(HIGHEST),
        47
    );
    assert_eq!(sorted(by_packs), [2, 2, 3, 3, 4, 5, 11, 11]);
    assert_eq!(sorted(by_sp_pifo), [11, 11, 11]);
}

#[test]
fn figures_20_and_21_without_drops_packs_has_the_slightly_worse_worst_case() {
    let inversions = |outcome: &BatchOutcome| {
        assert!(outcome.dropped.is_empty());
        outcome.weighted_inversions(HIGHEST)
    };
    let by_packs = |trace: &Trace| inversions(&packs(trace, &LONG_QUEUES));
    let by_sp_pifo = |trace: &Trace| inversions(&sp_pifo(trace, &LONG_QUEUES));

    let (trace_20, gap_20) = Search::APPENDIX_B.worst(|trace| by_sp_pifo(trace) - by_packs(trace), &mut seeded(21));
    let suffered = sp_pifo(&trace_20, &LONG_QUEUES).inversions_of(1);
    assert!(suffered >= 20, "{suffered}: {trace_20:?}");

    let (trace_21, gap_21) = Search::APPENDIX_B.worst(|trace| by_packs(trace) - by_sp_pifo(trace), &mut seeded(22));
    let suffered = packs(&trace_21, &LONG_QUEUES).inversions_of(1);
    assert!(suffered >= 24, "{suffered}: {trace_21:?}");
    assert!(gap_21 > gap_20, "{gap_21} against {gap_20}");
}

#[test]
fn figure_22_rising_ranks_are_the_worst_for_drops_against_pifo_and_the_same_for_aifo() {
    let rising = Trace {
        window: vec![1; 4],
        ranks: vec![1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8],
    };
    let (by_packs, by_aifo) = (packs(&rising, &QUEUES), aifo(&rising));
    assert_eq!(by_packs.dropped, by_aifo.dropped);
    assert!(
        by_packs.dropped.len() > 3 && pifo(&rising).dropped.len() == 3,
        "{by_packs:?}"
    );

    let gap = |trace: &Trace| packs(trace, &QUEUES).weighted_drops(HIGHEST) - pifo(trace).weighted_drops(HIGHEST);
    let (trace, found) = Search::APPENDIX_B.worst(gap, &mut seeded(23));
    assert!(found >= gap(&rising).max(55), "{found}: {trace:?}");
    assert_eq!(packs(&trace, &QUEUES).dropped, aifo(&trace).dropped);
}

#[test]
fn figure_23_falling_ranks_are_the_worst_for_inversions_and_packs_is_a_fifo_then() {
    let gap = |trace: &Trace| packs(trace, &QUEUES).weighted_inversions(HIGHEST);
    let (trace, found) = Search::APPENDIX_B.worst(gap, &mut seeded(24));
    assert!(found >= 500, "{found}: {trace:?}");
    let outcome = packs(&trace, &QUEUES);
    assert!(
        outcome.sent.is_sorted_by(|earlier, later| earlier >= later),
        "{outcome:?}"
    );
    assert_eq!(outcome, aifo(&trace));
}
