//! Equal-cost multipath: every program sends a flow only on the path of its 5-tuple's hash.

use std::collections::BTreeMap;
use std::path::Path;

use p4sched_dataplane::{MatchKey, Port};
use p4sched_proto::constants::ECMP_BUCKETS;
use p4sched_schedulers::{Scheme, Target};
use p4sched_simulator::frames::{Datagram, RANKED_PORT, is_forwarded};
use p4sched_simulator::program::Program;
use p4sched_simulator::switch::{Sent, Switch};

const GROUP: u64 = 7;
/// Ports of the paths. The buckets are distributed in turn: 22, 21 and 21 buckets.
const PATHS: [Port; 3] = [11, 12, 13];
/// The next hop behind a port has this MAC address plus the number of the port.
const MAC: u64 = 0x0200_0000_0000;
const MICROSECOND: u64 = 1_000;
const FLOWS: u16 = 1000;
const PACKETS_PER_FLOW: u64 = 3;

/// A switch with a route to 10.200.0.0/16 over the group.
fn switch(scheme: Scheme, target: Target) -> Switch {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let p4 = project.join(target.directory());
    let program = Program::compile(&p4, scheme.p4().program, target).unwrap_or_else(|error| panic!("{error}"));
    let mut switch = Switch::new(&program, scheme).unwrap_or_else(|error| panic!("{error}"));
    let route = [MatchKey::Lpm(vec![10, 200, 0, 0], 16)];
    switch.set_entry("forwarding.ipv4_routes", &route, "choose_path", &[GROUP]);
    switch
}

fn deal(switch: &mut Switch, bucket: u32, port: Port) {
    let key = [
        MatchKey::Exact(GROUP.to_be_bytes().to_vec()),
        MatchKey::Exact(bucket.to_be_bytes().to_vec()),
    ];
    let data = [u64::from(port), MAC | u64::from(port)];
    switch.set_entry("forwarding.ecmp_paths", &key, "forward", &data);
}

fn deal_in_turn(switch: &mut Switch) {
    for bucket in 0..ECMP_BUCKETS {
        deal(switch, bucket, PATHS[bucket as usize % PATHS.len()]);
    }
}

fn datagram(flow: u16) -> Datagram {
    Datagram {
        id: u64::from(flow),
        source: [10, 1, 0, (flow % 7) as u8],
        destination: [10, 200, 0, (flow % 5) as u8],
        source_port: 40_000 + flow,
        destination_port: RANKED_PORT,
        tos: 0,
        rank: 0,
        len: 100,
    }
}

/// Sends the packet at this microsecond. Returns the port and the frame that leaves.
fn send(switch: &mut Switch, at: u64, datagram: &Datagram) -> Option<(Port, Vec<u8>)> {
    let (mut frame, mut sent) = (Vec::new(), Sent::default());
    datagram.write(&mut frame);
    switch.receive(at * MICROSECOND, &frame, &mut sent);
    while let Some(due) = switch.next_event() {
        switch.advance(due, &mut sent);
    }
    let (port, _, _, left) = sent.frames.pop()?;
    assert!(sent.frames.is_empty() && is_forwarded(&left, &frame));
    Some((port, left))
}

#[test]
fn every_program_sends_a_flow_where_its_hash_says() {
    for &scheme in Scheme::ALL {
        for &target in scheme.targets() {
            sends_a_flow_where_its_hash_says(scheme, target);
        }
    }
}

fn sends_a_flow_where_its_hash_says(scheme: Scheme, target: Target) {
    let mut switch = switch(scheme, target);
    deal_in_turn(&mut switch);
    let mut flows: BTreeMap<Port, u32> = BTreeMap::new();
    for at in 0..u64::from(FLOWS) * PACKETS_PER_FLOW {
        let flow = (at % u64::from(FLOWS)) as u16;
        let datagram = datagram(flow);
        let expected = PATHS[(datagram.flow_hash() % ECMP_BUCKETS) as usize % PATHS.len()];
        let (port, frame) = send(&mut switch, at, &datagram).expect("a path");
        assert_eq!(port, expected, "{scheme:?} for {target:?}, flow {flow}");
        assert_eq!(frame[..6], (MAC | u64::from(port)).to_be_bytes()[2..]);
        *flows.entry(port).or_default() += 1;
    }
    // Binomial: 328 or 344 of 1000 flows, with a standard deviation of 15. The bounds are five standard deviations
    // away.
    for (port, packets) in &flows {
        let share = packets / PACKETS_PER_FLOW as u32;
        assert!(
            (253..=419).contains(&share),
            "{scheme:?} for {target:?}: {share} flows over port {port}"
        );
    }
    assert_eq!(flows.len(), PATHS.len());
}

#[test]
fn a_bucket_that_was_dealt_to_nobody_drops_and_others_do_not() {
    let mut switch = switch(Scheme::Fifo, Target::V1model);
    let known = datagram(1);
    let stranger = (2..FLOWS)
        .map(datagram)
        .find(|other| other.flow_hash() % ECMP_BUCKETS != known.flow_hash() % ECMP_BUCKETS)
        .expect("another bucket");
    deal(&mut switch, known.flow_hash() % ECMP_BUCKETS, PATHS[0]);
    assert_eq!(send(&mut switch, 0, &known).map(|(port, _)| port), Some(PATHS[0]));
    assert_eq!(send(&mut switch, 1, &stranger), None);
}

#[test]
fn dealing_a_bucket_anew_moves_its_flows_only() {
    let mut switch = switch(Scheme::Fifo, Target::V1model);
    deal_in_turn(&mut switch);
    let before: Vec<_> = (0..FLOWS)
        .map(|flow| send(&mut switch, u64::from(flow), &datagram(flow)))
        .collect();
    let moved = datagram(1).flow_hash() % ECMP_BUCKETS;
    deal(&mut switch, moved, 14);
    for flow in 0..FLOWS {
        let after = send(&mut switch, u64::from(FLOWS + flow), &datagram(flow)).map(|(port, _)| port);
        let same = before[flow as usize].as_ref().map(|(port, _)| *port);
        let expected = if datagram(flow).flow_hash() % ECMP_BUCKETS == moved {
            Some(14)
        } else {
            same
        };
        assert_eq!(after, expected);
    }
}
