//! A switch process between two hosts, each in its own network namespace.

use std::io::{BufRead, BufReader};
use std::net::UdpSocket;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use p4sched_proto::DESCRIPTORS;
use p4sched_proto::p4::config::v1::P4Info;
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::p4_runtime_client::P4RuntimeClient;
use p4sched_proto::p4::v1::stream_message_request::Update as Request;
use p4sched_proto::p4sched::v1 as tm;
use p4sched_proto::p4sched::v1::traffic_manager_client::TrafficManagerClient;
use prost_reflect::DynamicMessage;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;

pub const JSON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../device/tests/programs/everything.json");
pub const P4INFO: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../device/tests/programs/everything.p4info.txtpb"
);

/// Whether the test can run; otherwise it prints the reason.
pub fn is_root() -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        println!("skipped: network namespaces need root");
    }
    root
}

pub fn ip(arguments: &str) {
    network_tool("ip", arguments);
}

pub fn tc(arguments: &str) -> String {
    network_tool("tc", arguments)
}

/// The output of a program of iproute2.
fn network_tool(program: &str, arguments: &str) -> String {
    let output = Command::new(program)
        .args(arguments.split_whitespace())
        .output()
        .expect("iproute2 is installed");
    assert!(
        output.status.success(),
        "{program} {arguments}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Moves the calling thread, and the processes and sockets that it creates, into a namespace.
pub fn enter(namespace: &str) {
    let file = std::fs::File::open(format!("/run/netns/{namespace}")).expect("the namespace exists");
    move_into_link_name_space(std::os::fd::AsFd::as_fd(&file), Some(LinkNameSpaceType::Network))
        .expect("root may enter it");
}

/// The namespaces of a switch and two hosts. They are removed on drop.
pub struct Lab {
    name: String,
}

impl Lab {
    /// Creates the namespaces and both links, and moves the calling thread into the switch's namespace.
    pub fn new(test: &str) -> Lab {
        let lab = Lab {
            name: format!("p4t{}{test}", std::process::id()),
        };
        for part in ["s", "1", "2"] {
            ip(&format!("netns add {}{part}", lab.name));
            ip(&format!("-n {}{part} link set lo up", lab.name));
        }
        lab.link(1);
        lab.link(2);
        enter(&format!("{}s", lab.name));
        lab
    }

    pub fn host(&self, host: u8) -> String {
        format!("{}{host}", self.name)
    }

    /// Connects a host: interface `sN` at the switch, `hN` at the host. It can be called again after the link is
    /// removed.
    pub fn link(&self, host: u8) {
        let (switch, own, other) = (format!("{}s", self.name), self.host(host), 3 - host);
        ip(&format!(
            "-n {switch} link add s{host} type veth peer name h{host} netns {own}"
        ));
        ip(&format!("-n {own} link set h{host} address 02:00:00:00:00:0{host}"));
        ip(&format!("-n {own} link set h{host} up"));
        ip(&format!("-n {own} addr add 10.9.0.{host}/24 dev h{host}"));
        ip(&format!(
            "-n {own} neigh add 10.9.0.{other} lladdr 02:00:00:00:00:0{other} dev h{host}"
        ));
        ip(&format!("-n {switch} link set s{host} up"));
    }

    pub fn socket(&self, host: u8) -> UdpSocket {
        let namespace = self.host(host);
        let open = move || {
            enter(&namespace);
            UdpSocket::bind(format!("10.9.0.{host}:5000")).expect("the host has this address")
        };
        let socket = std::thread::spawn(open).join().expect("the socket opens");
        socket
            .set_read_timeout(Some(Duration::from_secs(10)))
            .expect("a timeout can be set");
        socket
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        for part in ["s", "1", "2"] {
            // The next clean-up step must run even if this one fails.
            let _ = Command::new("ip")
                .args(["netns", "del", &format!("{}{part}", self.name)])
                .status();
        }
    }
}

pub struct Switch {
    process: Child,
    log: mpsc::Receiver<String>,
    pub address: String,
}

impl Switch {
    pub fn spawn(arguments: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_p4sched-switch"));
        command
            .args(arguments)
            .stderr(Stdio::piped())
            .spawn()
            .expect("the switch was built")
    }

    pub fn start(arguments: &[&str]) -> Switch {
        let mut process = Switch::spawn(&[&["--grpc-server-addr", "127.0.0.1:0"], arguments].concat());
        let lines = BufReader::new(process.stderr.take().expect("it is piped")).lines();
        let (say, log) = mpsc::channel();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| say.send(line)));
        let mut switch = Switch {
            process,
            log,
            address: String::new(),
        };
        let line = switch.wait_for("gRPC on");
        let address = line.split("gRPC on ").nth(1).and_then(|rest| rest.split(',').next());
        switch.address = format!("http://{}", address.expect("the line names the address"));
        switch
    }

    /// Reads the log until a line contains the text.
    pub fn wait_for(&mut self, text: &str) -> String {
        let mut read = Vec::new();
        loop {
            match self.log.recv_timeout(Duration::from_secs(20)) {
                Ok(line) if line.contains(text) => return line,
                Ok(line) => read.push(line),
                Err(error) => panic!("the switch did not say '{text}' ({error}), but {read:?}"),
            }
        }
    }

    pub fn stop(mut self) -> (ExitStatus, String) {
        let pid = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it runs");
        let last = self.wait_for("stopped:");
        (self.process.wait().expect("it ends"), last)
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        // After a failed test it is still running.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn p4info() -> P4Info {
    let text = std::fs::read_to_string(P4INFO).expect("the program is there");
    let descriptor = DESCRIPTORS.get_message_by_name("p4.config.v1.P4Info");
    let descriptor = descriptor.expect("P4Info is a message");
    let message = DynamicMessage::parse_text_format(descriptor, &text).expect("p4c writes valid text");
    message.transcode_to().expect("it is a P4Info")
}

fn update(entity: p4rt::entity::Entity) -> p4rt::Update {
    p4rt::Update {
        r#type: p4rt::update::Type::Insert.into(),
        entity: Some(p4rt::Entity { entity: Some(entity) }),
    }
}

/// An entry for the frames to a host: an action with one parameter.
fn host_entry(host: u8, action: &str, value: u8) -> p4rt::entity::Entity {
    let info = p4info();
    let table = info
        .tables
        .iter()
        .filter_map(|table| table.preamble.as_ref())
        .find(|table| table.alias == "hosts");
    let action = info
        .actions
        .iter()
        .filter_map(|action| action.preamble.as_ref())
        .find(|found| found.alias == action);
    let (table_id, action_id) = (table.expect("a table").id, action.expect("an action").id);
    let exact = p4rt::field_match::Exact {
        value: vec![2, 0, 0, 0, 0, host],
    };
    let matched = p4rt::FieldMatch {
        field_id: 1,
        field_match_type: Some(p4rt::field_match::FieldMatchType::Exact(exact)),
    };
    let params = vec![p4rt::action::Param {
        param_id: 1,
        value: vec![value],
    }];
    let action = p4rt::table_action::Type::Action(p4rt::Action { action_id, params });
    p4rt::entity::Entity::TableEntry(p4rt::TableEntry {
        table_id,
        r#match: vec![matched],
        action: Some(p4rt::TableAction { r#type: Some(action) }),
        ..Default::default()
    })
}

/// The primary controller of a switch with the program `everything.p4`.
pub struct Controller {
    client: P4RuntimeClient<Channel>,
    pub traffic_manager: TrafficManagerClient<Channel>,
    _stream: tokio::sync::mpsc::Sender<p4rt::StreamMessageRequest>,
}

impl Controller {
    pub async fn connect(switch: &Switch) -> Controller {
        let mut client = P4RuntimeClient::connect(switch.address.clone())
            .await
            .expect("the switch listens");
        let traffic_manager = TrafficManagerClient::connect(switch.address.clone())
            .await
            .expect("on the same port");
        let (requests, outgoing) = tokio::sync::mpsc::channel(1);
        let election_id = Some(p4rt::Uint128 { high: 0, low: 1 });
        let update = p4rt::MasterArbitrationUpdate {
            device_id: 1,
            election_id,
            ..Default::default()
        };
        let first = p4rt::StreamMessageRequest {
            update: Some(Request::Arbitration(update)),
        };
        requests.send(first).await.expect("the channel is open");
        let stream = client
            .stream_channel(ReceiverStream::new(outgoing))
            .await
            .expect("a stream opens");
        stream
            .into_inner()
            .message()
            .await
            .expect("the answer to the arbitration");
        Controller {
            client,
            traffic_manager,
            _stream: requests,
        }
    }

    /// Adds entries that forward the frames between the two hosts.
    pub async fn connect_hosts(&mut self) {
        let updates = [1, 2].map(|host: u8| update(host_entry(host, "forward", host)));
        self.write(updates.to_vec()).await;
    }

    /// Sends a copy of the frames for host 2 to `port`, or to `backup` while that port is down.
    pub async fn copy_frames(&mut self, port: u8, backup: u8) {
        let replica = p4rt::Replica {
            port_kind: Some(p4rt::replica::PortKind::Port(vec![port])),
            instance: 1,
            backup_replicas: vec![p4rt::BackupReplica {
                port: vec![backup],
                instance: 1,
            }],
        };
        let group = p4rt::MulticastGroupEntry {
            multicast_group_id: 5,
            replicas: vec![replica],
            ..Default::default()
        };
        let group = p4rt::PacketReplicationEngineEntry {
            r#type: Some(p4rt::packet_replication_engine_entry::Type::MulticastGroupEntry(group)),
        };
        let group = p4rt::entity::Entity::PacketReplicationEngineEntry(group);
        self.write(vec![update(group), update(host_entry(2, "multicast", 5))])
            .await;
    }

    async fn write(&mut self, updates: Vec<p4rt::Update>) {
        let request = p4rt::WriteRequest {
            device_id: 1,
            election_id: Some(p4rt::Uint128 { high: 0, low: 1 }),
            updates,
            ..Default::default()
        };
        self.client.write(request).await.expect("the entries are valid");
    }

    /// Replaces the active program with the same program and keeps everything that was written.
    pub async fn load_again(&mut self) {
        let config = p4rt::ForwardingPipelineConfig {
            p4info: Some(p4info()),
            p4_device_config: std::fs::read(JSON).expect("the program is there"),
            cookie: None,
        };
        let request = p4rt::SetForwardingPipelineConfigRequest {
            device_id: 1,
            election_id: Some(p4rt::Uint128 { high: 0, low: 1 }),
            action: p4rt::set_forwarding_pipeline_config_request::Action::ReconcileAndCommit.into(),
            config: Some(config),
            ..Default::default()
        };
        let set = self.client.set_forwarding_pipeline_config(request).await;
        set.expect("the program is the same");
    }

    pub async fn port(&mut self, port: u32) -> tm::PortStats {
        let stats = self
            .traffic_manager
            .get_stats(tm::GetStatsRequest { ports: vec![port] })
            .await;
        stats.expect("the port exists").into_inner().ports.remove(0)
    }
}
