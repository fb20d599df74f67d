//! Flows through one FIFO, between hosts of either kind. Both kinds should give about the same results.

use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use p4sched_dataplane::Nanos;
use p4sched_device::{Device, Ports, Program};
use p4sched_engine::Engine;
use p4sched_guest::{Options, kernel};
use p4sched_proto::p4sched::v1 as api;
use p4sched_proto::p4sched::v1::HostKind;
use p4sched_proto::p4sched::v1::run::Program as Traffic;
use p4sched_schedulers::Target;
use p4sched_simulator::program::Program as Compiled;
use p4sched_virtual::host::{Host, HostError, Outbox, TcpSettings};
use p4sched_virtual::kernel::KernelHost;
use p4sched_virtual::model::ModelHost;
use p4sched_virtual::run::Run;
use p4sched_virtual::world::World;
use p4sched_world::network_file::{HostPlace, Mac, NetworkFile};
use serde_json::{Value, json};

const SECOND: u64 = 1_000_000_000;
/// Number of hosts that send. The flows are distributed among them.
const SENDERS: u8 = 4;
const SERVER_PORT: u16 = 5;
const SERVER: &str = "10.1.5.1";
const FRAME_BITS: u64 = 1514 * 8;
/// Interval between two samples of the queue length, in ns.
const SAMPLE_NS: u64 = SECOND / 1000;
/// Additional duration of a flow beyond the measured time, in ns, because some flows connect late.
const LONGER: u64 = 20 * SECOND;
/// First port of the server. Each flow has its own port.
const FIRST_PORT: u16 = 5201;
/// Offset of the destination port in a frame, after the headers of Ethernet and IPv4, which have no options here.
const DESTINATION_PORT: usize = 14 + 20 + 2;

/// A link, its queue, and the number of flows that share it.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub rate_bps: u64,
    pub rtt_ns: u64,
    /// Size of the FIFO, in bandwidth-delay products.
    pub buffer: f64,
    pub flows: u64,
    /// The congestion controls of the flows, in turn: `cubic`, or `bbr,cubic`.
    pub control: &'static str,
    /// Whether the FIFO marks packets from 20 waiting packets on (`marking.p4`).
    pub marks: bool,
    /// Warm-up, which is excluded, and measured time, in whole seconds.
    pub warm_up_s: u64,
    pub measured_s: u64,
}

impl Row {
    /// Size of the FIFO in packets.
    pub fn room(&self) -> u32 {
        let packets = self.rate_bps as f64 * self.rtt_ns as f64 / SECOND as f64 / FRAME_BITS as f64;
        (packets * self.buffer).round().max(2.0) as u32
    }

    /// The congestion control of a flow.
    pub fn control(&self, flow: u64) -> &'static str {
        let count = self.control.split(',').count();
        let mut controls = self.control.split(',');
        controls.nth(flow as usize % count).unwrap_or_default()
    }
}

/// The result of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seen {
    /// Throughput as a share of the link's capacity.
    pub throughput: f64,
    /// Mean queue length in packets.
    pub length: f64,
    /// Jain's index of the flows' throughput.
    pub jain: f64,
    /// Number of segments that were sent again.
    pub again: f64,
    /// Share of all bytes that flows with the first congestion control got.
    pub first: f64,
}

impl Seen {
    /// The values in which hosts of the other kind differ: throughput by more than 5 %, mean length by 15 %, Jain's
    /// index by 0.03, retransmissions by a factor of 1.5.
    pub fn disagreements(&self, model: &Seen) -> Vec<&'static str> {
        let factor = |ours: f64, theirs: f64| (ours / theirs).max(theirs / ours);
        let differences = [
            ("throughput", (model.throughput / self.throughput - 1.0).abs() > 0.05),
            ("length", (model.length / self.length - 1.0).abs() > 0.15),
            ("Jain's index", (model.jain - self.jain).abs() > 0.03),
            ("sent again", factor(model.again, self.again) > 1.5),
        ];
        differences
            .into_iter()
            .filter(|(_, differs)| *differs)
            .map(|(what, _)| what)
            .collect()
    }
}

/// Creates the hosts of a network.
pub type Hosts<'a> = &'a dyn Fn(&HostPlace) -> Box<dyn Host>;

/// Creates a host that is a model.
pub fn models(place: &HostPlace) -> Box<dyn Host> {
    Box::new(ModelHost::new(place))
}

/// Creates hosts that are guests and write into a folder. Their programs are in the workspace's folder for cargo's
/// output. Without a kernel for guests it prints the reason on standard error and returns `None`.
pub fn guests(folder: &Path, seed: u64) -> Option<impl Fn(&HostPlace) -> Box<dyn Host>> {
    let kernel = match kernel() {
        Ok(kernel) => kernel,
        Err(reason) => {
            eprintln!("skipped: {reason}");
            return None;
        }
    };
    let programs = std::env::current_exe().expect("a program");
    let programs = programs.ancestors().nth(2).expect("target/release").to_owned();
    Some(move |place: &HostPlace| -> Box<dyn Host> {
        let Mac(mac) = place.mac;
        let options = Options {
            name: place.name.clone(),
            kernel: kernel.clone(),
            init: programs.join("p4sched-guest-init"),
            folder: folder.join(&place.name),
            mac,
            seed: seed * 1000 + u64::from(place.port),
            memory_mib: 512,
            patience: Duration::from_secs(120),
        };
        let host = KernelHost::boot(place, &options, programs.join("p4sched-traffic"));
        Box::new(host.expect("a guest boots"))
    })
}

/// Runs a row once. With another `seed`, flows start some milliseconds earlier or later.
pub fn run(row: &Row, seed: u64, hosts: Hosts) -> Seen {
    let delivered = Delivered::new(row.flows);
    let counted = |place: &HostPlace| -> Box<dyn Host> {
        let host = hosts(place);
        if place.port == SERVER_PORT {
            Box::new(Counting {
                host,
                delivered: delivered.clone(),
            })
        } else {
            host
        }
    };
    let mut world = world(row, &counted);
    let runs = (0..row.flows).flat_map(|flow| transfer(row, flow, seed)).collect();
    world.start(runs).expect("they make sense").expect("it goes on");
    let begin = row.warm_up_s * SECOND;
    let end = begin + row.measured_s * SECOND;
    advance(&mut world, begin);
    let (sent, again) = (bottleneck(&world).0, retransmissions(&mut world));
    delivered.begin();
    let mut area = 0;
    while world.now() < end {
        let next = world.now() + SAMPLE_NS;
        advance(&mut world, next);
        area += bottleneck(&world).1;
    }
    let (all_sent, all_again) = (bottleneck(&world).0, retransmissions(&mut world));
    let got: Vec<f64> = delivered.since().iter().map(|bytes| *bytes as f64).collect();
    let squares: f64 = got.iter().map(|rate| rate * rate).sum();
    let of_first = (0..).zip(&got).filter(|(flow, _)| row.control(*flow) == row.control(0));
    let first: f64 = of_first.map(|(_, bytes)| bytes).sum();
    Seen {
        throughput: (all_sent - sent) as f64 * 8.0 / row.measured_s as f64 / row.rate_bps as f64,
        length: area as f64 * SAMPLE_NS as f64 / (end - begin) as f64,
        jain: got.iter().sum::<f64>().powi(2) / squares / got.len() as f64,
        again: (all_again - again) as f64,
        first: first / got.iter().sum::<f64>(),
    }
}

fn advance(world: &mut World, until: u64) {
    while !world.advance(until, 1 << 20).expect("the network goes on") {}
}

fn world(row: &Row, hosts: Hosts) -> World {
    let host = |number: u8| {
        let name = if u16::from(number) == SERVER_PORT {
            "server".to_owned()
        } else {
            format!("u{number}")
        };
        json!({
            "name": name, "mac": format!("02:00:00:00:01:{number:02x}"), "address": format!("10.1.{number}.1"),
            "gateway": format!("10.1.{number}.254"), "gateway_mac": "02:00:00:00:00:fe", "switch": "s1", "port": number,
        })
    };
    let described: Vec<Value> = (1..=SENDERS + 1).map(host).collect();
    let text = json!({"switches": [{"name": "s1", "device_id": 1}], "hosts": described});
    let topology = NetworkFile::parse(&text.to_string()).expect("a network");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (folder, name) = if row.marks {
        ("tests/bench", "marking")
    } else {
        ("../../p4", "fifo")
    };
    let config = Compiled::compile(&root.join(folder), name, Target::V1model)
        .expect("it compiles")
        .config();
    let p4info = config.p4info.clone().expect("P4Info");
    let mut device = Device::new(1, Engine::new(), Box::new(|_| false));
    device
        .commit(Program::new(config).expect("a program"))
        .expect("it is taken");
    let routes: Vec<_> = (1..=SENDERS + 1)
        .map(|host| super::entries::route(&p4info, host, [10, 1, host, 0], [2, 0, 0, 0, 1, host]))
        .collect();
    let written = device.write(&routes, 0).expect("there is a program");
    assert!(written.iter().all(Result::is_ok), "{written:?}");
    let mut world = World::new(&topology, vec![device], hosts).expect("a network");
    let port = |port, rate_bps, room| api::PortConfig {
        port,
        rate_bps: Some(rate_bps),
        delay_ns: Some(row.rtt_ns / 2),
        discipline: Some(api::Discipline::Fifo.into()),
        buffer_packets: Some(room),
        ..Default::default()
    };
    let mut ports: Vec<_> = (1..=u32::from(SENDERS)).map(|number| port(number, 0, 10_000)).collect();
    ports.push(port(SERVER_PORT.into(), row.rate_bps, row.room()));
    let request = api::SetPortsRequest { ports, memory: None };
    let job = Box::new(move |device: &mut Device, ports: &mut dyn Ports, _| {
        device.set_ports(&request, ports).expect("the ports are set");
    });
    world.request(0, job).expect("nothing moves yet");
    world
}

/// A client and a server of iperf3.
fn transfer(row: &Row, flow: u64, seed: u64) -> [api::Run; 2] {
    let sender = flow % u64::from(SENDERS) + 1;
    let port = u32::from(FIRST_PORT) + flow as u32;
    // Each flow starts in its own hundredth of a second.
    let start_ns = SECOND / 10 + flow * SECOND / 100 + seed * (flow + 1) * 7_919_001 % (SECOND / 100);
    let send = api::BulkSend {
        source: format!("10.1.{sender}.1"),
        destination: SERVER.into(),
        port,
        connections: 1,
        tos: 0,
        congestion_control: row.control(flow).into(),
        duration_ns: (row.warm_up_s + row.measured_s) * SECOND + LONGER,
        warm_up_ns: 0,
    };
    let run = |name: String, host: String, start_ns, program| api::Run {
        name,
        host,
        start_ns,
        program: Some(program),
    };
    [
        run(
            format!("serve-{flow}"),
            "server".into(),
            0,
            Traffic::BulkReceive(api::BulkReceive { port }),
        ),
        run(
            format!("send-{flow}"),
            format!("u{sender}"),
            start_ns,
            Traffic::BulkSend(send),
        ),
    ]
}

/// Number of bytes that the bottleneck has sent, and number of packets in its queue.
fn bottleneck(world: &World) -> (u64, u64) {
    let queues = world.switches()[0].device().engine().queue_stats(SERVER_PORT).queues;
    queues.iter().fold((0, 0), |(sent, length), queue| {
        (sent + queue.dequeued.bytes, length + queue.length.packets)
    })
}

fn retransmissions(world: &mut World) -> u64 {
    let counters = world.counters(&[]).expect("all hosts").expect("the network goes on");
    counters.iter().map(|host| host.segments_retransmitted).sum()
}

/// Bytes of the frames that the server has received, for each flow.
#[derive(Clone)]
struct Delivered(Arc<Mutex<Vec<u64>>>);

impl Delivered {
    fn new(flows: u64) -> Delivered {
        Delivered(Arc::new(Mutex::new(vec![0; flows as usize])))
    }

    fn begin(&self) {
        self.0.lock().expect("nobody panics").fill(0);
    }

    fn since(&self) -> Vec<u64> {
        self.0.lock().expect("nobody panics").clone()
    }

    fn note(&self, frame: &[u8]) {
        let port = frame.get(DESTINATION_PORT..DESTINATION_PORT + 2);
        let flow = port.and_then(|port| u16::from_be_bytes([port[0], port[1]]).checked_sub(FIRST_PORT));
        let mut all = self.0.lock().expect("nobody panics");
        if let Some(bytes) = flow.and_then(|flow| all.get_mut(usize::from(flow))) {
            *bytes += frame.len() as u64;
        }
    }
}

/// The server, which counts the bytes that it receives.
struct Counting {
    host: Box<dyn Host>,
    delivered: Delivered,
}

impl Host for Counting {
    fn kind(&self) -> HostKind {
        self.host.kind()
    }
    fn receive(&mut self, now: Nanos, frame: &[u8], out: &mut Outbox) {
        self.delivered.note(frame);
        self.host.receive(now, frame, out);
    }
    fn next_event(&self) -> Option<Nanos> {
        self.host.next_event()
    }
    fn advance(&mut self, now: Nanos, out: &mut Outbox) -> Result<(), HostError> {
        self.host.advance(now, out)
    }
    fn check(&self, run: &Run) -> Result<(), String> {
        self.host.check(run)
    }
    fn plan(&mut self, now: Nanos, run: Run) {
        self.host.plan(now, run);
    }
    fn stop(&mut self, now: Nanos, name: &str, out: &mut Outbox) {
        self.host.stop(now, name, out);
    }
    fn state(&self, name: &str) -> Option<api::RunState> {
        self.host.state(name)
    }
    fn log(&self, name: &str) -> Vec<u8> {
        self.host.log(name)
    }
    fn expect_dctcp(&mut self, now: Nanos, with: Ipv4Addr) {
        self.host.expect_dctcp(now, with);
    }
    fn set_tcp(&mut self, settings: TcpSettings) {
        self.host.set_tcp(settings);
    }
    fn counters(&mut self, now: Nanos) -> Result<api::HostCounters, HostError> {
        self.host.counters(now)
    }
}
