//! Hosts that are guests, in a network.

use crate::bench::{Row, Seen, guests, models, run};

const ROW: Row = Row {
    rate_bps: 20_000_000,
    rtt_ns: 20_000_000,
    buffer: 1.0,
    flows: 2,
    control: "cubic",
    marks: false,
    warm_up_s: 1,
    measured_s: 4,
};

fn kernels(row: &Row) -> Option<Seen> {
    let folder = tempfile::tempdir().unwrap();
    Some(run(row, 1, &guests(folder.path(), 1)?))
}

#[test]
fn dctcp_keeps_the_queue_where_it_is_marked_and_loses_nothing() {
    let row = Row {
        control: "dctcp",
        marks: true,
        buffer: 8.0,
        ..ROW
    };
    let Some(kernel) = kernels(&row) else { return };
    // Marks begin at 20 packets (marking.p4). A FIFO of eight bandwidth-delay products has room for 264, and Cubic
    // fills it.
    for seen in [kernel, run(&row, 1, &models)] {
        assert!((10.0..30.0).contains(&seen.length), "{seen:?}");
        assert!(seen.throughput > 0.99 && seen.again < 1.0, "{seen:?}");
    }
}

#[test]
fn bbr_keeps_the_queue_shorter_than_cubic() {
    let cubic = Row { buffer: 8.0, ..ROW };
    let bbr = Row {
        control: "bbr",
        ..cubic
    };
    let check = |bbr: Seen, cubic: Seen| {
        assert!(bbr.throughput > 0.9 && cubic.throughput > 0.99, "{bbr:?} {cubic:?}");
        assert!(bbr.length < cubic.length / 2.0, "{bbr:?} {cubic:?}");
    };
    check(run(&bbr, 1, &models), run(&cubic, 1, &models));
    if let Some(kernel) = kernels(&bbr) {
        check(kernel, kernels(&cubic).unwrap());
    }
}

#[test]
fn models_agree_with_kernels() {
    let row = Row {
        flows: 5,
        warm_up_s: 3,
        measured_s: 10,
        ..ROW
    };
    let Some(kernel) = kernels(&row) else { return };
    let model = run(&row, 1, &models);
    assert!(kernel.disagreements(&model).is_empty(), "{kernel:?} {model:?}");
    // The same seed gives the same results.
    assert_eq!(kernels(&row).unwrap(), kernel);
}
