//! Frames that go in a circle without delay: the network reports them, and time stands still.

use std::path::Path;

use p4sched_device::{Device, Program};
use p4sched_engine::Engine;
use p4sched_proto::p4sched::v1 as api;
use p4sched_proto::p4sched::v1::run::Program as Traffic;
use p4sched_schedulers::Target;
use p4sched_simulator::program::Program as Compiled;
use p4sched_virtual::host::Host;
use p4sched_virtual::model::ModelHost;
use p4sched_virtual::world::{World, WorldError};
use p4sched_world::network_file::NetworkFile;
use serde_json::json;

const SECOND: u64 = 1_000_000_000;

/// A host on port 1 of each of two switches. Port 3 is the link between the switches.
fn topology() -> NetworkFile {
    let host = |number: u8| {
        json!({
            "name": format!("h{number}"), "mac": format!("02:00:00:00:01:{number:02x}"),
            "address": format!("10.1.{number}.1"), "gateway": format!("10.1.{number}.254"),
            "gateway_mac": "02:00:00:00:00:fe", "switch": format!("s{number}"), "port": 1,
        })
    };
    let text = json!({
        "switches": [{"name": "s1", "device_id": 1}, {"name": "s2", "device_id": 2}],
        "hosts": [host(1), host(2)],
        "links": [{"ends": [{"switch": "s1", "port": 3}, {"switch": "s2", "port": 3}]}],
    });
    NetworkFile::parse(&text.to_string()).expect("a network")
}

#[test]
fn frames_that_go_in_a_circle_without_delay_end_the_run_with_a_sentence() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/endless");
    let program = Compiled::compile(&folder, "port_3", Target::V1model).expect("it compiles");
    let device = |id| {
        let mut device = Device::new(id, Engine::new(), Box::new(|_| false));
        device
            .commit(Program::new(program.config()).expect("a program"))
            .expect("it is taken");
        device
    };
    let host = |place: &_| -> Box<dyn Host> { Box::new(ModelHost::new(place)) };
    let mut world = World::new(&topology(), vec![device(1), device(2)], host).expect("a network");
    let flows = json!([{
        "flow": 1, "src": "10.1.1.1", "dst": "10.1.2.1", "port": 5376, "rate_bps": 1_000_000, "frame_bytes": 1000,
        "ranks": {"fixed": 3}, "start_s": 0.0, "stop_s": 1.0,
    }]);
    let send = api::UdpSend {
        flows: flows.to_string(),
        seed: 1,
        log: false,
    };
    let run = api::Run {
        name: "send".into(),
        host: "h1".into(),
        start_ns: 2 * SECOND,
        program: Some(Traffic::UdpSend(send)),
    };
    world
        .start(vec![run])
        .expect("it makes sense")
        .expect("nothing moves yet");
    assert_eq!(world.advance(SECOND, usize::MAX), Ok(true));
    let error = world
        .advance(3 * SECOND, usize::MAX)
        .expect_err("the first frame never arrives");
    // The frame takes 80 ns on the uplink.
    assert_eq!(error, WorldError::Endless(2 * SECOND + 80));
    assert_eq!(
        error.to_string(),
        "more than 10000000 events at 2.00000008 s, and time does not advance: does a switch send frames in a loop?"
    );
    assert_eq!(world.now(), 2 * SECOND + 80);
    assert!(world.account().balanced(), "{:?}", world.account());
    // The results so far can still be read.
    assert_eq!(world.states(&[]).expect("all runs").len(), 1);
}
