//! Random traffic through two switches: no frame is lost or added, none is too fast, and two runs give the same
//! results.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use p4sched_device::{Device, Program};
use p4sched_engine::Engine;
use p4sched_proto::p4sched::v1 as api;
use p4sched_proto::p4sched::v1::run::Program as Traffic;
use p4sched_schedulers::Target;
use p4sched_simulator::program::Program as Compiled;
use p4sched_virtual::model::ModelHost;
use p4sched_virtual::world::World;
use p4sched_world::network_file::NetworkFile;
use proptest::prelude::*;
use serde_json::json;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1000 * MS;

static FIFO: LazyLock<Compiled> = LazyLock::new(|| {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4");
    Compiled::compile(&programs, "fifo", Target::V1model).expect("it compiles")
});

/// Hosts h1 and h2 at s1, h3 and h4 at s2, on ports 1 and 2. Port 3 is the link between the switches.
fn topology() -> NetworkFile {
    let host = |number: u8| {
        json!({
            "name": format!("h{number}"), "mac": format!("02:00:00:00:01:{number:02x}"),
            "address": format!("10.1.{number}.1"), "gateway": format!("10.1.{number}.254"),
            "gateway_mac": "02:00:00:00:00:fe", "switch": if number < 3 { "s1" } else { "s2" },
            "port": (number - 1) % 2 + 1,
        })
    };
    let text = json!({
        "switches": [{"name": "s1", "device_id": 1}, {"name": "s2", "device_id": 2}],
        "hosts": [host(1), host(2), host(3), host(4)],
        "links": [{"ends": [{"switch": "s1", "port": 3}, {"switch": "s2", "port": 3}]}],
    });
    NetworkFile::parse(&text.to_string()).expect("a network")
}

#[derive(Clone, Copy, Debug)]
struct Links {
    rate_bps: u64,
    room: u32,
    delay_ns: u64,
}

fn world(links: Links) -> World {
    let topology = topology();
    let device = |id| {
        let mut device = Device::new(id, Engine::new(), Box::new(|_| false));
        let config = FIFO.config();
        let p4info = config.p4info.clone().expect("P4Info");
        device
            .commit(Program::new(config).expect("a program"))
            .expect("it is taken");
        let routes: Vec<_> = (1..5)
            .map(|host: u8| {
                let (near, mac) = ((host < 3) == (id == 1), [2, 0, 0, 0, 1, host]);
                let port = if near { (host - 1) % 2 + 1 } else { 3 };
                crate::entries::route(&p4info, port, [10, 1, host, 0], mac)
            })
            .collect();
        let results = device.write(&routes, 0).expect("there is a program");
        assert!(results.iter().all(Result::is_ok), "{results:?}");
        device
    };
    let host = |place: &_| -> Box<dyn p4sched_virtual::host::Host> { Box::new(ModelHost::new(place)) };
    let mut world = World::new(&topology, vec![device(1), device(2)], host).expect("a network");
    for switch in 0..2 {
        let port = |port| api::PortConfig {
            port,
            rate_bps: Some(links.rate_bps),
            delay_ns: Some(links.delay_ns),
            discipline: Some(api::Discipline::Fifo.into()),
            buffer_packets: Some(links.room),
            ..Default::default()
        };
        let ports = vec![port(1), port(2), port(3)];
        let request = api::SetPortsRequest { ports, memory: None };
        let job = Box::new(move |device: &mut Device, ports: &mut dyn p4sched_device::Ports, _| {
            device.set_ports(&request, ports).expect("the ports are set");
        });
        world.request(switch, job).expect("nothing moves yet");
    }
    world
}

/// A flow: source host, destination host, bytes, start in ms, congestion control, and whether it is a UDP flow.
type Flow = (u8, u8, u64, u64, &'static str, bool);

fn plan(world: &mut World, flows: &[Flow]) {
    let mut runs = Vec::new();
    let mut run = |name: String, host: u8, start_ns: u64, program: Traffic| {
        runs.push(api::Run {
            name,
            host: format!("h{host}"),
            start_ns,
            program: Some(program),
        });
    };
    for host in 1..5 {
        let address = format!("10.1.{host}.1");
        let serve = api::TcpServe {
            address: address.clone(),
            port: 5001,
            duration_ns: 3600 * SECOND,
            flows: None,
        };
        run(format!("serve-{host}"), host, 0, Traffic::TcpServe(serve));
        let receive = api::UdpReceive {
            address,
            ports: vec![5376],
            duration_ns: 3600 * SECOND,
            interval_ns: 0,
            log: true,
        };
        run(format!("receive-{host}"), host, 0, Traffic::UdpReceive(receive));
    }
    for (number, &(from, to, bytes, start_ms, control, is_udp)) in flows.iter().enumerate() {
        let (src, dst) = (format!("10.1.{from}.1"), format!("10.1.{to}.1"));
        let program = if is_udp {
            let flows = json!([{
                "flow": number, "src": src, "dst": dst, "port": 5376, "rate_bps": 5_000_000, "frame_bytes": 1000,
                "ranks": {"fixed": 3}, "arrivals": "poisson", "start_s": 0.0, "stop_s": 0.05,
            }]);
            Traffic::UdpSend(api::UdpSend {
                flows: flows.to_string(),
                seed: bytes,
                log: false,
            })
        } else {
            let flows = json!([{
                "flow": number, "src": src, "dst": dst, "port": 5001, "size_bytes": bytes, "start_s": 0.0,
                "tos": {"remaining": {"largest_bytes": 200_000}},
            }]);
            Traffic::TcpSend(api::TcpSend {
                flows: flows.to_string(),
                congestion_control: control.into(),
                deadline_ns: 3000 * SECOND,
                open_ahead: false,
            })
        };
        run(format!("send-{number}"), from, start_ms * MS, program);
    }
    world
        .start(runs)
        .expect("they make sense")
        .expect("the network goes on");
}

/// All observable results of a run of the network.
fn results(world: &mut World) -> (Vec<api::RunState>, Vec<api::HostCounters>, Vec<Vec<u8>>, String) {
    let states = world.states(&[]).expect("all runs");
    let counters = world.counters(&[]).expect("all hosts").expect("the network goes on");
    let logs = states
        .iter()
        .map(|state| world.log(&state.name).expect("its log"))
        .collect();
    (states, counters, logs, format!("{:?}", world.account()))
}

fn flows() -> impl Strategy<Value = Vec<Flow>> {
    let control = prop::sample::select(vec!["cubic", "reno", "dctcp", "bbr"]);
    let flow = (
        1_u8..5,
        1_u8..4,
        1_u64..60_000,
        0_u64..100,
        control,
        prop::bool::weighted(0.3),
    );
    // The receiver must not be the sender.
    let apart = flow.prop_map(|(from, to, bytes, start, control, is_udp)| {
        (from, (from + to - 1) % 4 + 1, bytes, start, control, is_udp)
    });
    prop::collection::vec(apart, 1..8)
}

fn links() -> impl Strategy<Value = Links> {
    (1_000_000_u64..50_000_000, 4_u32..60, 0_u64..10 * MS).prop_map(|(rate_bps, room, delay_ns)| Links {
        rate_bps,
        room,
        delay_ns,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_frame_is_accounted_for_at_every_instant_and_two_runs_are_the_same(
        links in links(), flows in flows(), steps in prop::collection::vec(1_u64..40 * MS, 1..40),
    ) {
        let run = |steps: &[u64]| {
            let mut world = world(links);
            plan(&mut world, &flows);
            let mut now = 0;
            for step in steps {
                now += step;
                while !world.advance(now, 1).expect("the network goes on") {
                    assert!(world.account().balanced(), "{:?}", world.account());
                }
            }
            while !world.advance(3600 * SECOND, 1 << 20).expect("the network goes on") {}
            results(&mut world)
        };
        let found = run(&steps);
        // The division of time into steps makes no difference.
        prop_assert_eq!(&found, &run(&[]));

        let sizes: BTreeMap<u64, u64> = (0..).zip(flows.iter().map(|flow| flow.2)).collect();
        for state in found.0.iter().filter(|state| state.name.starts_with("serve")) {
            let completed: Vec<serde_json::Value> = serde_json::from_str(&state.report).expect("a report");
            for flow in completed {
                let number = flow["flow"].as_u64().expect("a flow");
                prop_assert_eq!(flow["size_bytes"].as_u64(), Some(sizes[&number]));
                // The SYN, its answer and the data take at least one and a half round trips over one link.
                prop_assert!(flow["fct_ns"].as_u64().expect("a time") >= 3 * links.delay_ns);
            }
        }
        for (state, log) in found.0.iter().zip(&found.2).filter(|(state, _)| state.name.starts_with("receive")) {
            let text = String::from_utf8_lossy(log);
            for line in text.lines().skip(1) {
                let times: Vec<u64> = line.split(',').skip(3).map(|at| at.parse().expect("a time")).collect();
                // The delay of one link, and the time of a 1000-byte frame on it.
                let least = links.delay_ns + 8_000 * SECOND / links.rate_bps;
                prop_assert!(times[1] - times[0] >= least, "{}: {}", state.name, line);
            }
        }
        // All flows end long before the deadline.
        for state in found.0.iter().filter(|state| state.name.starts_with("send")) {
            prop_assert_eq!(state.phase(), api::run_state::Phase::Ended, "{:?}", state);
            prop_assert!(!state.report.contains("\"completed\":false"), "{}", state.report);
        }
    }
}
