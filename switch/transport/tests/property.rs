//! Whichever segments are lost, late or marked: all bytes arrive, each once.

use crate::wire::{Fate, MS, Path, Run, SECOND, US, run};
use p4sched_transport::{Config, Control, Endpoint, Kind, Recovery};
use proptest::prelude::*;

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        4 => Just(Fate::Lost),
        3 => (0..30 * MS).prop_map(Fate::Late),
        1 => (0..3 * SECOND).prop_map(Fate::Late),
        2 => Just(Fate::Marked),
    ]
}

prop_compose! {
    fn config()(
        control in prop_oneof![Just(Control::NewReno), Just(Control::Cubic), Just(Control::Dctcp), Just(Control::Prague), Just(Control::Bbr), Just(Control::PFabric)],
        recovery in prop_oneof![Just(Recovery::Timeouts), Just(Recovery::NewReno), Just(Recovery::Sack), Just(Recovery::Rack), Just(Recovery::Quic), Just(Recovery::GoBackN)],
        mss in prop_oneof![Just(1_u32), Just(100), Just(1448)],
        initial_window in 1..20_u32,
        window in 1..100_u64,
        handshake: bool,
        delayed_ack in prop_oneof![Just(None), Just(Some(MS)), Just(Some(40 * MS))],
        quick_acks in 0..20_u32,
        ecn: bool,
        min_rto in prop_oneof![Just(10 * US), Just(MS), Just(200 * MS)],
        tick in prop_oneof![Just(0), Just(4 * MS)],
        offload: bool,
    ) -> Config {
        Config {
            mss,
            initial_window,
            window: window * u64::from(mss),
            handshake,
            delayed_ack,
            quick_acks,
            recovery,
            ecn: ecn || control.is_scalable(),
            min_rto,
            max_rto: 2 * SECOND,
            tick,
            offload,
            ..Config::kernel(control)
        }
    }
}

prop_compose! {
    fn path()(
        rate_bps in prop_oneof![Just(0_u64), 1_000_000..100_000_000_u64],
        delay in prop_oneof![Just(10 * US), Just(MS), Just(20 * MS)],
        queue in prop_oneof![Just(usize::MAX), 2..40_usize],
        mark_at in prop_oneof![Just(usize::MAX), 1..20_usize],
        fates in prop::collection::btree_map(0..300_u64, fate(), 0..60),
        fates_back in prop::collection::btree_map(0..200_u64, fate(), 0..40),
    ) -> Path {
        Path { rate_bps, delay, queue, mark_at, fates, fates_back }
    }
}

/// Checks the properties of every run, however it ends.
fn check(run: &Run, config: &Config) -> Result<(), TestCaseError> {
    let data = || run.sent.iter().filter(|sent| sent.segment.kind == Kind::Data);
    prop_assert_eq!(data().count() as u64, run.sender.statistics().sent);
    let again = data().scan(0, |highest, sent| {
        let is_again = sent.segment.seq < *highest;
        *highest = (*highest).max(sent.segment.seq + u64::from(sent.segment.len));
        Some(u64::from(is_again))
    });
    prop_assert!(again.sum::<u64>() >= run.sender.statistics().retransmitted);
    let acks = run.acks();
    prop_assert!(acks.is_sorted());
    let mut allowed = run
        .answers
        .iter()
        .filter(|sent| sent.segment.kind == Kind::Ack)
        .peekable();
    let mut edge = config.window;
    for sent in data() {
        // The acknowledgements so far determine what the receiver has allowed.
        while let Some(ack) = allowed.next_if(|ack| ack.at <= sent.at) {
            edge = edge.max(ack.segment.ack + config.window);
        }
        prop_assert!(sent.segment.seq + u64::from(sent.segment.len) <= edge);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn all_bytes_arrive_once(config in config(), path in path(), segments in 0..150_u64, rest in 0..1448_u64) {
        let bytes = segments * u64::from(config.mss) + rest % u64::from(config.mss);
        let run = run(&config, bytes, &path, 3600 * SECOND);
        prop_assert!(run.sender.finished(), "{:?}", run.sender);
        prop_assert_eq!((run.receiver.received(), run.receiver.delivered()), (bytes, bytes));
        prop_assert_eq!(run.sender.next_timer(), None);
        check(&run, &config)?;
    }

    /// The congestion window limits the segments in flight. Only a tail loss probe may exceed it, by one segment.
    #[test]
    fn what_is_sent_fits_the_window(config in config(), path in path()) {
        let run = run(&config, 200 * u64::from(config.mss), &path, 3600 * SECOND);
        for event in &run.sends {
            prop_assert!(event.sent <= 1 || event.in_flight <= event.cwnd, "{event:?}");
        }
    }

    #[test]
    fn the_same_run_twice_is_the_same(config in config(), path in path()) {
        let bytes = 100 * u64::from(config.mss);
        let (first, second) = (run(&config, bytes, &path, 3600 * SECOND), run(&config, bytes, &path, 3600 * SECOND));
        prop_assert_eq!(first.windows, second.windows);
        prop_assert_eq!(first.sent.iter().map(|sent| (sent.at, sent.segment)).collect::<Vec<_>>(),
            second.sent.iter().map(|sent| (sent.at, sent.segment)).collect::<Vec<_>>());
    }
}
