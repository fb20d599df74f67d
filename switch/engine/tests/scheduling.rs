//! A P4 program in front of the queues: priorities, users, ranks, times and depths.

use crate::common::*;
use p4sched_engine::{
    CalendarConfig, CalendarPlace, Discipline, Engine, LoadError, NodeConfig, PortConfig, PortError, PortSettings,
    QueueConfig, TreeConfig,
};
use p4sched_traffic_manager::{DISCIPLINES, one_buffer};

/// A rate in bit/s at which 1500 bytes take 1 ms.
const ONE_A_MILLISECOND: u64 = 12_000_000;

#[test]
fn strict_priority_end_to_end() {
    let mut switch = Switch::with_port(2, shaped(ONE_A_MILLISECOND));
    // Each class alone would more than fill the link.
    for now in (0..SECOND).step_by(900_000) {
        switch.receive(now, Request { priority: 6, ..FULL });
        switch.receive(now, Request { priority: 1, ..FULL });
    }
    switch.advance(SECOND);
    let of = |priority| {
        switch
            .out
            .sent
            .iter()
            .filter(|probe| probe.priority == priority)
            .count()
    };
    assert_eq!((of(6), of(1)), (1000, 0));
}

#[test]
fn behind_a_port_with_room_for_one_packet_strict_priority_decides_each_time() {
    let mut settings = shaped(0);
    settings.config.queues[1].size_packets = 10;
    let mut switch = Switch::with_port(2, settings);
    switch.engine.set_room(2, Some(1));
    for priority in [1, 1, 1, 6, 6] {
        switch.receive(0, Request { priority, ..FULL });
    }
    switch.advance(MILLISECOND);
    let priorities = |switch: &Switch| switch.out.sent.iter().map(|probe| probe.priority).collect::<Vec<_>>();
    assert_eq!(priorities(&switch), [1], "the first was alone");
    let depths = |switch: &Switch| [1, 6].map(|priority| switch.depth_cell(2, priority));
    assert_eq!((depths(&switch), switch.engine.next_event()), ([2, 2], None));
    for left in [[2, 1], [2, 0], [1, 0], [0, 0]] {
        assert!(switch.engine.set_room(2, Some(1)), "a packet can leave at once");
        switch.advance(MILLISECOND);
        assert_eq!(depths(&switch), left);
    }
    assert!(!switch.engine.set_room(2, Some(1)));
    assert_eq!(priorities(&switch), [1, 6, 6, 1, 1]);
    // The size of their queue limits the waiting packets, as on any port.
    switch.engine.set_room(2, Some(0));
    for _ in 0..12 {
        switch.receive(2 * MILLISECOND, Request { priority: 1, ..FULL });
    }
    switch.advance(2 * MILLISECOND);
    assert_eq!((depths(&switch)[0], switch.balance().queue_dropped), (10, 2));
}

#[test]
fn a_packet_that_egress_drops_takes_the_room_of_one() {
    let mut switch = Switch::with_port(2, shaped(0));
    switch.engine.set_room(2, Some(1));
    let dropped = Request {
        op: DROP_AT_EGRESS,
        ..FULL
    };
    for request in [dropped, FULL] {
        switch.receive(0, request);
    }
    switch.advance(0);
    assert_eq!(switch.out.sent.len(), 0);
    // The receiver behind the port has taken everything, so there is room again.
    assert!(switch.engine.set_room(2, Some(1)));
    switch.advance(0);
    assert_eq!((switch.out.sent.len(), switch.balance().egress_dropped), (1, 1));
}

#[test]
fn the_link_carries_exactly_its_rate_and_delays_every_frame() {
    let mut settings = shaped(ONE_A_MILLISECOND);
    settings.config.delay_ns = 5 * MILLISECOND;
    let mut switch = Switch::with_port(2, settings);
    for _ in 0..50 {
        switch.receive(0, FULL);
    }
    switch.finish();
    let due: Vec<_> = switch.out.sent.iter().map(|probe| probe.due).collect();
    let ideal: Vec<_> = (1..=50).map(|number| number * MILLISECOND + 5 * MILLISECOND).collect();
    assert_eq!(due, ideal);
    assert_eq!(switch.balance().transmitted, 50);
}

#[test]
fn a_program_sees_depths_and_times_as_bmv2_shows_them() {
    let mut switch = Switch::with_port(2, shaped(ONE_A_MILLISECOND));
    for number in 0..4 {
        switch.receive(1_000 * number, FULL);
    }
    switch.finish();
    let seen: Vec<_> = switch
        .out
        .sent
        .iter()
        .map(|p| (p.enq_depth, p.deq_depth, p.enq_timestamp, p.deq_timedelta))
        .collect();
    // The first packet leaves at once; the others wait for the link. Depths do not include the packet itself; times are
    // in µs.
    assert_eq!(seen, [(0, 0, 0, 0), (0, 2, 1, 999), (1, 1, 2, 1998), (2, 0, 3, 2997)]);
}

#[test]
fn the_depth_register_is_exact_whatever_the_program_writes() {
    let mut switch = Switch::with_port(2, shaped(ONE_A_MILLISECOND));
    let mut random = 1u64;
    for now in (0..200 * MILLISECOND).step_by(300_000) {
        random = random
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let priority = (random >> 40) as u8 & 3;
        switch.advance(now);
        let before = switch.depth_cell(2, priority);
        switch.receive(now, Request { priority, ..FULL });
        for queue in 0..8 {
            let length = switch.engine.queue_stats(2).queues[usize::from(queue)].length.packets;
            assert_eq!(u64::from(switch.depth_cell(2, queue)), length);
        }
        let full = before == 100;
        assert_eq!(switch.depth_cell(2, priority), if full { 100 } else { before + 1 });
    }
    switch.finish();
    assert!(
        switch.balance().queue_dropped > 0,
        "the queues should overflow in this test"
    );
    for probe in &switch.out.sent {
        assert_eq!(probe.depth_at_ingress, u32::from(probe.enq_depth));
        assert_eq!(probe.depth_at_egress, u32::from(probe.deq_depth));
    }
}

#[test]
fn with_one_buffer_every_cell_of_the_port_holds_its_depth() {
    for discipline in DISCIPLINES.iter().copied().filter(|&one| one_buffer(one)) {
        let mut switch = Switch::with_port(2, with_discipline(discipline, shaped(ONE_A_MILLISECOND)));
        switch.receive(0, FULL);
        switch.advance(0);
        for (priority, length) in [(3, 1), (5, 2), (3, 3)] {
            switch.receive(0, Request { priority, ..FULL });
            assert!((0..8).all(|queue| switch.depth_cell(2, queue) == length));
            assert_eq!(switch.depth_cell(3, 0), 0);
        }
        switch.advance(MILLISECOND);
        assert!((0..8).all(|queue| switch.depth_cell(2, queue) == 2));
        // With one queue per priority again, the cells are also separate.
        switch.engine.set_port(2, shaped(ONE_A_MILLISECOND)).unwrap();
        let cells: Vec<_> = (0..8).map(|queue| switch.depth_cell(2, queue)).collect();
        assert_eq!(cells.iter().sum::<u32>(), 2);
    }
}

#[test]
fn drr_shares_the_link_between_the_users_that_the_program_names() {
    let mut switch = Switch::with_port(2, with_discipline(Discipline::Drr, shaped(ONE_A_MILLISECOND)));
    // User 1 sends four times as many bytes as user 2, in shorter frames. Each user offers more than half the link.
    for now in (0..SECOND).step_by(MILLISECOND as usize) {
        for _ in 0..6 {
            switch.receive(
                now,
                Request {
                    user: 1,
                    bytes: 1000,
                    ..FULL
                },
            );
        }
        switch.receive(
            now,
            Request {
                user: 2,
                bytes: 1000,
                ..FULL
            },
        );
    }
    switch.advance(SECOND);
    let bytes = |user| {
        switch
            .out
            .sent
            .iter()
            .filter(|p| p.user == user)
            .map(|p| p.bytes)
            .sum::<usize>() as i64
    };
    assert!(
        (bytes(1) - bytes(2)).abs() <= 1514 + 2 * 1000,
        "{} and {}",
        bytes(1),
        bytes(2)
    );
}

#[test]
fn pifo_sends_the_smallest_rank_first_and_gives_up_the_largest() {
    let mut settings = with_discipline(Discipline::Pifo, shaped(ONE_A_MILLISECOND));
    settings.config.buffer_packets = 4;
    let mut switch = Switch::with_port(2, settings);
    switch.receive(0, Request { rank: 0, ..FULL });
    switch.advance(0);
    // AIFO, Fig. 2.
    for rank in [1, 4, 5, 1, 2, 2] {
        switch.receive(0, Request { rank, ..FULL });
    }
    switch.finish();
    let ranks: Vec<_> = switch.out.sent.iter().map(|probe| probe.rank).collect();
    assert_eq!(ranks, [0, 1, 1, 2, 2]);
    assert_eq!((switch.balance().pushed_out, switch.balance().queue_dropped), (2, 0));
}

#[test]
fn a_calendar_files_by_the_rank_that_the_program_names() {
    let mut settings = with_discipline(Discipline::Calendar, shaped(0));
    settings.config.calendar = CalendarConfig {
        queues: 4,
        turn_ns: 10 * MILLISECOND,
        place: CalendarPlace::Ahead,
        ..CalendarConfig::default()
    };
    let mut switch = Switch::with_port(2, settings);
    for rank in [2, 4, 0, 1] {
        switch.receive(3 * MILLISECOND, Request { rank, ..FULL });
    }
    switch.finish();
    let sent: Vec<_> = switch.out.sent.iter().map(|probe| (probe.rank, probe.due)).collect();
    assert_eq!(
        sent,
        [(0, 3 * MILLISECOND), (1, 10 * MILLISECOND), (2, 20 * MILLISECOND)]
    );
    assert_eq!(switch.balance().queue_dropped, 1, "four rounds ahead are too far");
    assert_eq!(switch.engine.calendar_round(2), Some(2));
}

#[test]
fn a_tree_orders_its_leaves_and_each_leaf_its_packets_by_fields_of_the_program() {
    let tree = |rank_fields: &[&str], leaf_field: Option<&str>| {
        let mut settings = with_discipline(Discipline::Tree, shaped(ONE_A_MILLISECOND));
        let [root, sorted, fair] =
            [Discipline::Pifo, Discipline::Pifo, Discipline::Drr].map(|one| NodeConfig::new(0, one));
        settings.config.tree = TreeConfig {
            nodes: vec![root, sorted, fair],
        };
        settings.rank_field = Some("meta.user".to_owned());
        settings.leaf_field = leaf_field.map(str::to_owned);
        settings.level_rank_fields = rank_fields.iter().map(|&field| field.to_owned()).collect();
        settings
    };
    let mut switch = Switch::new();
    for (settings, problem) in [
        (tree(&["meta.rank"], None), "port 2: discipline tree needs leaf_field"),
        (
            tree(&[], Some("meta.user")),
            "port 2: discipline tree needs rank_fields number 1",
        ),
        (
            tree(&["meta.rang"], Some("meta.user")),
            "port 2: rank_fields: the program has no field 'meta.rang'",
        ),
    ] {
        let error = switch.engine.set_port(2, settings).unwrap_err().to_string();
        assert!(error.starts_with(problem), "{error}");
    }
    // A packet's user is its leaf. Leaf 1 goes before leaf 2 and sorts by the rank at the root.
    let mut switch = Switch::with_port(2, tree(&["meta.rank"], Some("meta.user")));
    switch.receive(0, Request { user: 2, ..FULL });
    switch.advance(0);
    for (user, rank) in [(2, 1), (1, 9), (2, 0), (1, 4), (0, 0)] {
        switch.receive(0, Request { user, rank, ..FULL });
    }
    switch.finish();
    let sent: Vec<_> = switch.out.sent.iter().map(|probe| (probe.user, probe.rank)).collect();
    assert_eq!(sent, [(2, 0), (1, 4), (1, 9), (2, 1), (2, 0)]);
    assert_eq!(switch.balance().queue_dropped, 1, "node 0 is not a leaf");
}

#[test]
fn waiting_packets_get_user_and_rank_when_the_discipline_changes() {
    let mut switch = Switch::with_port(
        2,
        PortSettings {
            rank_field: None,
            ..shaped(ONE_A_MILLISECOND)
        },
    );
    for rank in [0, 7, 3, 5] {
        switch.receive(0, Request { rank, ..FULL });
    }
    switch
        .engine
        .set_port(2, with_discipline(Discipline::Pifo, shaped(ONE_A_MILLISECOND)))
        .unwrap();
    switch.finish();
    let ranks: Vec<_> = switch.out.sent.iter().map(|probe| probe.rank).collect();
    assert_eq!(ranks, [0, 3, 5, 7]);
}

#[test]
fn settings_that_can_not_work_name_the_port_and_what_is_wrong() {
    let mut switch = Switch::new();
    let mistyped = PortSettings {
        user_field: Some("meta.usr".into()),
        ..shaped(0)
    };
    let error = switch.engine.set_port(2, mistyped).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("port 2: user_field: the program has no field 'meta.usr'"),
        "{error}"
    );

    let no_user = PortSettings {
        user_field: None,
        ..with_discipline(Discipline::Drr, shaped(0))
    };
    let error = switch.engine.set_port(2, no_user).unwrap_err();
    assert!(
        error.to_string().starts_with("port 2: discipline drr needs user_field"),
        "{error}"
    );

    assert_eq!(
        switch.engine.set_port(511, shaped(0)),
        Err(PortError::NoSuchPort { port: 511 })
    );
    assert_eq!(switch.engine.port(2), PortSettings::default());
}

#[test]
fn a_program_without_the_fields_or_registers_asked_for_is_not_loaded() {
    let mut engine = Engine::new();
    let error = engine.load(probe_program(), &["deps".to_string()]).unwrap_err();
    assert_eq!(error, LoadError::NoRegister("deps".to_string()));
    assert!(engine.pipeline().is_none());

    engine
        .set_port(
            2,
            PortSettings {
                user_field: Some("meta.nobody".into()),
                ..shaped(0)
            },
        )
        .unwrap();
    assert!(matches!(
        engine.load(probe_program(), &[]),
        Err(LoadError::Port(PortError::UnknownField { .. }))
    ));
    engine.set_port(2, shaped(0)).unwrap();
    engine.load(probe_program(), &[]).unwrap();
}

#[test]
fn bmv2_packet_rates_work_end_to_end() {
    let config = PortConfig {
        queues: [QueueConfig {
            size_packets: 64,
            rate_pps: 1000,
        }; 8],
        ..PortConfig::default()
    };
    let mut switch = Switch::with_port(
        2,
        PortSettings {
            config,
            ..PortSettings::default()
        },
    );
    for _ in 0..10 {
        switch.receive(0, Request { priority: 7, ..FULL });
        switch.receive(0, FULL);
    }
    switch.finish();
    // As in BMv2, the queues do not compete: each sends at its rate.
    let due = |priority| {
        switch
            .out
            .sent
            .iter()
            .filter(|p| p.priority == priority)
            .map(|p| p.due)
            .collect::<Vec<_>>()
    };
    let each_millisecond: Vec<_> = (0..10).map(|number| number * MILLISECOND).collect();
    assert_eq!((due(7), due(0)), (each_millisecond.clone(), each_millisecond));
}
