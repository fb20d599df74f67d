//! A dumbbell in virtual time, and a controller that programs it over gRPC.

use std::path::Path;
use std::thread::JoinHandle;
use std::time::Duration;

use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::p4_runtime_client::P4RuntimeClient;
use p4sched_proto::p4sched::v1 as api;
use p4sched_proto::p4sched::v1::run::Program;
use p4sched_proto::p4sched::v1::simulation_client::SimulationClient;
use p4sched_proto::p4sched::v1::traffic_manager_client::TrafficManagerClient;
use p4sched_schedulers::Target;
use p4sched_simulator::program::Program as Compiled;
use p4sched_virtual::lockstep::{Message, Settings};
use p4sched_virtual::model::ModelHost;
use p4sched_virtual::server::Network;
use p4sched_virtual::world::World;
use p4sched_world::network_file::NetworkFile;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;
use tonic::transport::Channel;

pub const SECOND: u64 = 1_000_000_000;
pub const SERVER: &str = "10.2.0.1";

/// Two hosts on one side of s1, and a server on the other side, on port 3.
pub fn dumbbell() -> NetworkFile {
    let host = |name: &str, mac: &str, prefix: &str, own: u8, port: u16| {
        format!(
            r#"{{"name": "{name}", "mac": "{mac}", "address": "{prefix}.{own}", "gateway": "{prefix}.254",
                "gateway_mac": "02:00:00:00:00:fe", "switch": "s1", "port": {port}}}"#
        )
    };
    let hosts = [
        host("u1", "02:00:00:00:01:01", "10.1.1", 1, 1),
        host("u2", "02:00:00:00:01:02", "10.1.2", 1, 2),
        host("server", "02:00:00:00:02:01", "10.2.0", 1, 3),
    ];
    let text = format!(
        r#"{{"switches": [{{"name": "s1", "device_id": 1}}], "hosts": [{}]}}"#,
        hosts.join(",")
    );
    NetworkFile::parse(&text).expect("a dumbbell")
}

/// A running network, and a participant of its lock step.
pub struct Lab {
    pub simulation: SimulationClient<Channel>,
    pub traffic_manager: TrafficManagerClient<Channel>,
    p4runtime: P4RuntimeClient<Channel>,
    _stream: Streaming<p4rt::StreamMessageResponse>,
    _requests: mpsc::Sender<p4rt::StreamMessageRequest>,
    waits: mpsc::Sender<api::ParticipateRequest>,
    /// The conversations that the participant reports when it waits.
    pub conversations: Vec<api::Conversation>,
    answers: Streaming<api::ParticipateResponse>,
    network: std::sync::mpsc::Sender<Message>,
    thread: JoinHandle<Result<World, String>>,
}

impl Lab {
    /// The dumbbell with this program and its routes. The link to the server has 10 Mbit/s and a queue of `room`
    /// packets. The round-trip time is 10 ms.
    pub async fn start(program: &str, room: u32, patience: Duration) -> Lab {
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4");
        let program = Compiled::compile(&programs, program, Target::V1model).expect("it compiles");
        let settings = Settings {
            patience,
            pace: None,
            interpret: false,
        };
        let address = "127.0.0.1:0".parse().expect("an address");
        let topology = dumbbell();
        let network = Network::start(&topology, address, None, settings, |place| {
            Box::new(ModelHost::new(place))
        });
        let network = network.await.expect("it starts");
        let connect = |address: std::net::SocketAddr| {
            let endpoint = tonic::transport::Endpoint::from_shared(format!("http://{address}")).expect("an address");
            async move { endpoint.connect().await.expect("it listens") }
        };
        let (simulation, switch) = (network.address, network.switches[0].address);
        let messages = network.messages.clone();
        let thread = std::thread::spawn(move || network.run());
        let channel = connect(switch).await;
        let mut p4runtime = P4RuntimeClient::new(channel.clone());
        let mut simulation = SimulationClient::new(connect(simulation).await);
        let (waits, asked) = mpsc::channel(1);
        let answers = simulation.participate(ReceiverStream::new(asked));
        let answers = answers.await.expect("it joins").into_inner();
        let (requests, asked) = mpsc::channel(1);
        let arbitration = p4rt::MasterArbitrationUpdate {
            device_id: 1,
            election_id: Some(p4rt::Uint128 { high: 0, low: 1 }),
            ..Default::default()
        };
        let update = p4rt::stream_message_request::Update::Arbitration(arbitration);
        let first = p4rt::StreamMessageRequest { update: Some(update) };
        requests.send(first).await.expect("the channel is open");
        let stream = p4runtime.stream_channel(ReceiverStream::new(asked)).await;
        let mut stream = stream.expect("a stream opens").into_inner();
        stream.message().await.expect("it is the primary controller");
        let mut lab = Lab {
            simulation,
            traffic_manager: TrafficManagerClient::new(channel),
            p4runtime,
            _stream: stream,
            _requests: requests,
            waits,
            conversations: Vec::new(),
            answers,
            network: messages,
            thread,
        };
        lab.load(&program).await;
        lab.shape(10_000_000, room, 5_000_000).await;
        lab
    }

    async fn load(&mut self, program: &Compiled) {
        let config = program.config();
        let p4info = config.p4info.clone().expect("P4Info");
        let routes: Vec<_> = [
            (1, [10, 1, 1, 0], 1, 1),
            (2, [10, 1, 2, 0], 1, 2),
            (3, [10, 2, 0, 0], 2, 1),
        ]
        .into_iter()
        .map(|(port, prefix, group, host)| crate::entries::route(&p4info, port, prefix, [2, 0, 0, 0, group, host]))
        .collect();
        let election_id = Some(p4rt::Uint128 { high: 0, low: 1 });
        let request = p4rt::SetForwardingPipelineConfigRequest {
            device_id: 1,
            election_id,
            action: p4rt::set_forwarding_pipeline_config_request::Action::VerifyAndCommit.into(),
            config: Some(config),
            ..Default::default()
        };
        let loaded = self.p4runtime.set_forwarding_pipeline_config(request).await;
        loaded.expect("the program is taken");
        let request = p4rt::WriteRequest {
            device_id: 1,
            election_id,
            updates: routes,
            ..Default::default()
        };
        self.p4runtime.write(request).await.expect("the routes are taken");
    }

    /// Shapes the port to the server, and sets the delay in both directions.
    async fn shape(&mut self, rate_bps: u64, room: u32, delay_ns: u64) {
        let port = |port, rate_bps, room| api::PortConfig {
            port,
            rate_bps: Some(rate_bps),
            delay_ns: Some(delay_ns),
            discipline: Some(api::Discipline::Fifo.into()),
            buffer_packets: Some(room),
            ..Default::default()
        };
        let ports = vec![port(1, 0, 1000), port(2, 0, 1000), port(3, rate_bps, room)];
        let request = api::SetPortsRequest { ports, memory: None };
        self.traffic_manager
            .set_ports(request)
            .await
            .expect("the ports are set");
    }

    /// Lets time advance up to `until_ns`. Returns the time.
    pub async fn until(&mut self, until_ns: u64) -> Result<u64, tonic::Status> {
        let waits = self
            .waits
            .send(api::ParticipateRequest {
                until_ns,
                conversations: self.conversations.clone(),
            })
            .await;
        waits.map_err(|_| tonic::Status::aborted("the stream has ended"))?;
        let answer = self.answers.message().await?;
        answer
            .map(|answer| answer.now_ns)
            .ok_or_else(|| tonic::Status::aborted("the stream has ended"))
    }

    pub async fn run(&mut self, name: &str, host: &str, start_ns: u64, program: Program) -> Result<(), tonic::Status> {
        let run = api::Run {
            name: name.into(),
            host: host.into(),
            start_ns,
            program: Some(program),
        };
        let request = api::StartTrafficRequest { runs: vec![run] };
        self.simulation.start_traffic(request).await.map(|_| ())
    }

    pub async fn state(&mut self, name: &str) -> api::RunState {
        let request = api::TrafficRequest {
            names: vec![name.into()],
        };
        let response = self.simulation.traffic(request).await.expect("there is such a run");
        response.into_inner().runs.remove(0)
    }

    /// The report of a run that has ended.
    pub async fn report(&mut self, name: &str) -> serde_json::Value {
        let state = self.state(name).await;
        assert_eq!(state.phase(), api::run_state::Phase::Ended, "{state:?}");
        serde_json::from_str(&state.report).expect("a report is JSON")
    }

    pub async fn log(&mut self, name: &str) -> String {
        let request = api::ReadLogRequest { name: name.into() };
        let mut pieces = self.simulation.read_log(request).await.expect("a log").into_inner();
        let mut text = Vec::new();
        while let Some(piece) = pieces.message().await.expect("a piece") {
            text.extend(piece.text);
        }
        String::from_utf8(text).expect("a log is text")
    }

    pub async fn counters(&mut self, host: &str) -> api::HostCounters {
        let request = api::ReadHostsRequest {
            names: vec![host.into()],
        };
        let response = self.simulation.read_hosts(request).await.expect("there is such a host");
        response.into_inner().hosts.remove(0)
    }

    /// Counters of the port to the server.
    pub async fn bottleneck(&mut self) -> api::PortStats {
        let request = api::GetStatsRequest { ports: vec![3] };
        let response = self.traffic_manager.get_stats(request).await.expect("counts");
        response.into_inner().ports.remove(0)
    }

    pub fn end(self) -> Result<World, String> {
        drop(self.waits);
        let _ = self.network.send(Message::End);
        self.thread.join().expect("the network does not panic")
    }

    /// Waits until the run ends by itself.
    pub fn ended(self) -> Result<World, String> {
        self.thread.join().expect("the network does not panic")
    }
}
