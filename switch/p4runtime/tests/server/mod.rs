//! A device behind a server on loopback, and controllers as its clients.

#[path = "../../../device/tests/fixture/mod.rs"]
pub mod fixture;

use std::net::SocketAddr;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use fixture::{Bench, Wires, device};
use p4sched_compiler::{EmbeddedIncludes, Input, Options, compile};
use p4sched_dataplane::Port;
use p4sched_device::Device;
use p4sched_p4runtime::gnmi::Interfaces;
use p4sched_p4runtime::{CLIENT_METADATA_BYTES, DeviceHandle, Endpoint, Job, Tls, serve};
use p4sched_proto::google::rpc;
use p4sched_proto::p4::config::v1::P4Info;
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::get_forwarding_pipeline_config_request::ResponseType;
use p4sched_proto::p4::v1::p4_runtime_client::P4RuntimeClient;
use p4sched_proto::p4::v1::set_forwarding_pipeline_config_request::Action;
use p4sched_proto::p4::v1::stream_message_request::Update as Request;
use p4sched_proto::p4::v1::stream_message_response::Update as Response;
use p4sched_proto::p4::v1::update::Type;
use prost::Message as _;
use tokio::net::TcpListener;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;
use tonic::{Code, Status, Streaming};

pub fn compiled(name: &str, text: &str) -> p4rt::ForwardingPipelineConfig {
    let source = Input { name, text };
    let compiled = compile(&source, &EmbeddedIncludes, &Options::default()).unwrap_or_else(|errors| panic!("{errors}"));
    p4rt::ForwardingPipelineConfig {
        p4info: Some(compiled.p4info),
        p4_device_config: compiled.json.into_bytes(),
        cookie: None,
    }
}

/// The identifier of an object in P4Info.
pub fn id_in(info: &P4Info, alias: &str) -> u32 {
    let preambles = (info.tables.iter().map(|table| &table.preamble))
        .chain(info.actions.iter().map(|action| &action.preamble))
        .chain(info.action_profiles.iter().map(|profile| &profile.preamble))
        .chain(info.counters.iter().map(|counter| &counter.preamble))
        .chain(info.registers.iter().map(|register| &register.preamble))
        .chain(info.value_sets.iter().map(|set| &set.preamble))
        .chain(info.digests.iter().map(|digest| &digest.preamble));
    let found = preambles.flatten().find(|preamble| preamble.alias == alias);
    found.unwrap_or_else(|| panic!("no {alias} in P4Info")).id
}

/// A device on its own thread, behind a server on a free port.
pub struct Server {
    /// IP:PORT.
    pub place: SocketAddr,
    /// The same as a URL.
    pub address: String,
    pub handle: DeviceHandle,
    jobs: mpsc::Sender<Job>,
    _stop: tokio::sync::oneshot::Sender<()>,
    _thread: JoinHandle<()>,
}

/// Starts a server without encryption.
pub async fn start() -> Server {
    start_with(None).await
}

/// Starts a server with a device of the fixture.
pub async fn start_with(tls: Option<Tls>) -> Server {
    start_at(tls, None).await
}

/// Starts a server whose gNMI shows these interfaces.
pub async fn start_at(tls: Option<Tls>, interfaces: Option<Arc<dyn Interfaces>>) -> Server {
    let mut bench = Bench::empty();
    let (sender, notifications) = tokio::sync::mpsc::channel(64);
    bench.device = device(Box::new(move |notification| sender.try_send(notification).is_ok()));
    let (jobs, waiting) = mpsc::channel::<Job>();
    let thread = std::thread::spawn(move || {
        for job in waiting {
            bench.now += 1000;
            job(&mut bench.device, &mut bench.wires, bench.now);
            bench.device.advance(bench.now, &mut bench.wires);
        }
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has free ports");
    let place = listener.local_addr().expect("it is bound");
    let scheme = if tls.is_some() { "https" } else { "http" };
    let (stop, stopped) = tokio::sync::oneshot::channel();
    let handle = DeviceHandle::new(jobs.clone(), Arc::new(|| {}));
    let endpoint = Endpoint {
        listener,
        tls,
        client_metadata: CLIENT_METADATA_BYTES,
        interfaces,
    };
    tokio::spawn(serve(endpoint, 1, handle.clone(), notifications, async {
        let _ = stopped.await;
    }));
    Server {
        place,
        address: format!("{scheme}://{place}"),
        handle,
        jobs,
        _stop: stop,
        _thread: thread,
    }
}

impl Server {
    /// Calls `work` with the device and the time, between two requests.
    pub fn with<T: Send + 'static>(&self, work: impl FnOnce(&mut Device, u64) -> T + Send + 'static) -> T {
        let (sender, answer) = mpsc::channel();
        let job: Job = Box::new(move |device, _, now| {
            let _ = sender.send(work(device, now));
        });
        self.jobs.send(job).expect("the device lives as long as the server");
        answer.recv().expect("the device answers")
    }

    /// Receives a frame and returns the frames that are sent because of it.
    pub fn receive(&self, port: Port, frame: Vec<u8>) -> Vec<(Port, Vec<u8>)> {
        self.with(move |device, now| {
            let mut wires = Wires::default();
            device.receive(now, port, &frame, &mut wires);
            device.advance(now, &mut wires);
            wires.sent.into_iter().map(|(port, frame, _)| (port, frame)).collect()
        })
    }
}

/// A controller with an open stream.
pub struct Controller {
    pub client: P4RuntimeClient<Channel>,
    pub requests: tokio::sync::mpsc::Sender<p4rt::StreamMessageRequest>,
    responses: Streaming<p4rt::StreamMessageResponse>,
    pub election_id: p4rt::Uint128,
    role: String,
}

impl Controller {
    pub async fn connect(server: &Server, election_id: u64) -> Controller {
        Controller::connect_as(server, election_id, "").await
    }

    pub async fn connect_as(server: &Server, election_id: u64, role: &str) -> Controller {
        let mut client = P4RuntimeClient::connect(server.address.clone())
            .await
            .expect("the server listens");
        let (requests, outgoing) = tokio::sync::mpsc::channel(16);
        let election_id = p4rt::Uint128 {
            high: 0,
            low: election_id,
        };
        let update = p4rt::MasterArbitrationUpdate {
            device_id: 1,
            role: (!role.is_empty()).then(|| p4rt::Role {
                name: role.to_owned(),
                ..Default::default()
            }),
            election_id: Some(election_id),
            ..Default::default()
        };
        let first = p4rt::StreamMessageRequest {
            update: Some(Request::Arbitration(update)),
        };
        requests.send(first).await.expect("the channel is open");
        let responses = client
            .stream_channel(ReceiverStream::new(outgoing))
            .await
            .expect("a stream opens")
            .into_inner();
        Controller {
            client,
            requests,
            responses,
            election_id,
            role: role.to_owned(),
        }
    }

    pub async fn send(&self, update: Request) {
        self.requests
            .send(p4rt::StreamMessageRequest { update: Some(update) })
            .await
            .expect("the stream is open");
    }

    pub async fn next(&mut self) -> Result<Response, Status> {
        let response = self.responses.message().await?;
        response
            .and_then(|response| response.update)
            .ok_or_else(|| Status::aborted("the stream has ended"))
    }

    /// The status code of the next message, which must be an arbitration update.
    pub async fn arbitration(&mut self) -> Code {
        match self.next().await {
            Ok(Response::Arbitration(update)) => Code::from(update.status.map_or(-1, |status| status.code)),
            other => panic!("not an arbitration update: {other:?}"),
        }
    }

    pub async fn set_pipeline(
        &mut self,
        action: Action,
        config: Option<p4rt::ForwardingPipelineConfig>,
    ) -> Result<(), Status> {
        let request = p4rt::SetForwardingPipelineConfigRequest {
            device_id: 1,
            election_id: Some(self.election_id),
            action: action.into(),
            config,
            ..Default::default()
        };
        self.client.set_forwarding_pipeline_config(request).await.map(|_| ())
    }

    pub async fn get_pipeline(&mut self, wanted: ResponseType) -> Option<p4rt::ForwardingPipelineConfig> {
        let request = p4rt::GetForwardingPipelineConfigRequest {
            device_id: 1,
            response_type: wanted.into(),
        };
        let response = self
            .client
            .get_forwarding_pipeline_config(request)
            .await
            .expect("the device is known");
        response.into_inner().config
    }

    pub async fn write(&mut self, updates: Vec<p4rt::Update>) -> Result<(), Status> {
        let request = p4rt::WriteRequest {
            device_id: 1,
            role: self.role.clone(),
            election_id: Some(self.election_id),
            updates,
            ..Default::default()
        };
        self.client.write(request).await.map(|_| ())
    }

    pub async fn read(&mut self, entities: Vec<Entity>) -> (Vec<Entity>, Result<(), Status>) {
        let entities = entities
            .into_iter()
            .map(|entity| p4rt::Entity { entity: Some(entity) })
            .collect();
        let request = p4rt::ReadRequest {
            device_id: 1,
            role: self.role.clone(),
            entities,
        };
        let mut stream = self
            .client
            .read(request)
            .await
            .expect("the request is valid")
            .into_inner();
        let mut found = Vec::new();
        loop {
            match stream.message().await {
                Ok(Some(response)) => found.extend(response.entities.into_iter().filter_map(|entity| entity.entity)),
                Ok(None) => return (found, Ok(())),
                Err(status) => return (found, Err(status)),
            }
        }
    }

    /// A primary controller, with a program.
    pub async fn with_program(server: &Server, config: p4rt::ForwardingPipelineConfig) -> Controller {
        let mut controller = Controller::connect(server, 1).await;
        assert_eq!(controller.arbitration().await, Code::Ok);
        let set = controller.set_pipeline(Action::VerifyAndCommit, Some(config)).await;
        set.expect("the program loads");
        controller
    }

    /// Writes one update and returns the code of its error, if any.
    pub async fn write_one(&mut self, kind: Type, entity: Entity) -> Result<(), Code> {
        let written = self.write(vec![fixture::update(kind, entity)]).await;
        written.map_err(|status| Code::from(error_codes(&status)[0]))
    }

    pub async fn read_one(&mut self, filter: Entity) -> Result<Vec<Entity>, Code> {
        let (found, result) = self.read(vec![filter]).await;
        result
            .map(|()| found)
            .map_err(|status| Code::from(error_codes(&status)[0]))
    }
}

/// The code of each update or read: 0 if it succeeded.
pub fn error_codes(status: &Status) -> Vec<i32> {
    let details = rpc::Status::decode(status.details())
        .expect("the details are a google.rpc.Status")
        .details;
    let code = |any: &prost_types::Any| {
        p4rt::Error::decode(&*any.value)
            .expect("each is a p4.v1.Error")
            .canonical_code
    };
    details.iter().map(code).collect()
}
