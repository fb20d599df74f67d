//! The service of the network. It passes gRPC requests on to the thread that owns the network.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;

use p4sched_dataplane::Nanos;
use p4sched_proto::p4sched::v1 as api;
use p4sched_proto::p4sched::v1::simulation_server::Simulation;
use p4sched_transport::Retransmissions;
use tokio::sync::{mpsc, oneshot};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tokio_stream::{Stream, StreamExt as _};
use tonic::{Request, Response, Status, Streaming};

use crate::host::TcpSettings;
use crate::lockstep::Message;
use crate::run::LAST_INSTANT;
use crate::world::{World, WorldError};

/// Size of a piece of a log in bytes. It is far below the limit of a gRPC message.
const PIECE: usize = 1 << 20;

/// A switch and the address of its server.
#[derive(Clone, Debug)]
pub struct SwitchServer {
    pub name: String,
    /// Device id in P4Runtime.
    pub device_id: u64,
    /// Address of its server.
    pub address: SocketAddr,
}

/// The connection to the thread that owns the network.
#[derive(Clone)]
pub struct Service {
    network: Sender<Message>,
    switches: Arc<[SwitchServer]>,
    participants: Arc<AtomicU64>,
}

type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

impl Service {
    /// A service. `switches` must have the order of the network.
    pub fn new(network: Sender<Message>, switches: Vec<SwitchServer>) -> Service {
        Service {
            network,
            switches: switches.into(),
            participants: Arc::default(),
        }
    }

    /// Runs a request on the thread of the network.
    async fn run<R: Send + 'static>(
        &self,
        request: impl FnOnce(&mut World) -> (R, Result<(), WorldError>) + Send + 'static,
    ) -> Result<R, Status> {
        let (answer, answered) = oneshot::channel();
        let request = Box::new(move |world: &mut World| {
            let (result, state) = request(world);
            // If the request was cancelled, the answer has no receiver.
            let _ = answer.send(result);
            state
        });
        let over = || Status::unavailable("the run is over");
        self.network.send(Message::Request(request)).map_err(|_| over())?;
        answered.await.map_err(|_| over())
    }

    /// Like [`Service::run`], for requests that the network may refuse.
    async fn ask<R: Send + 'static>(
        &self,
        request: impl FnOnce(&mut World) -> Result<Result<R, WorldError>, String> + Send + 'static,
    ) -> Result<R, Status> {
        let answer = self.run(move |world| match request(world) {
            Err(refused) => (Err(Status::invalid_argument(refused)), Ok(())),
            Ok(Err(error)) => (Err(Status::aborted(error.to_string())), Err(error)),
            Ok(Ok(result)) => (Ok(result), Ok(())),
        });
        answer.await?
    }
}

fn check_wait(asked: &api::ParticipateRequest, switches: &[SwitchServer]) -> Result<(), String> {
    let until = asked.until_ns;
    if until > LAST_INSTANT && until != Nanos::MAX {
        return Err(format!("until_ns is {until}: virtual time ends at {LAST_INSTANT} ns"));
    }
    let mut devices = asked.conversations.iter().map(|conversation| conversation.device_id);
    match devices.find(|id| switches.iter().all(|switch| switch.device_id != *id)) {
        None => Ok(()),
        Some(id) => Err(format!("there is no switch with the device id {id}")),
    }
}

#[tonic::async_trait]
impl Simulation for Service {
    async fn describe(&self, _: Request<api::DescribeRequest>) -> Result<Response<api::DescribeResponse>, Status> {
        let switches = self.switches.clone();
        let described = self.run(move |world| {
            let of = |(served, node): (&SwitchServer, &crate::world::SwitchNode)| api::VirtualSwitch {
                name: served.name.clone(),
                address: served.address.to_string(),
                device_id: served.device_id,
                ports: node.port_numbers().into_iter().map(u32::from).collect(),
            };
            let response = api::DescribeResponse {
                now_ns: world.now(),
                switches: switches.iter().zip(world.switches()).map(of).collect(),
                hosts: world.describe_hosts(),
            };
            (response, Ok(()))
        });
        Ok(Response::new(described.await?))
    }

    type ParticipateStream = Answers<api::ParticipateResponse>;

    async fn participate(
        &self,
        request: Request<Streaming<api::ParticipateRequest>>,
    ) -> Result<Response<Self::ParticipateStream>, Status> {
        let id = self.participants.fetch_add(1, Ordering::Relaxed);
        let (sender, answers) = mpsc::unbounded_channel();
        let refusal = sender.clone();
        let answer = move |response: Result<api::ParticipateResponse, String>| {
            // A participant that has disconnected leaves when its stream ends.
            let _ = sender.send(response.map_err(Status::aborted));
        };
        let over = |_| Status::unavailable("the run is over");
        self.network.send(Message::Join(id, Box::new(answer))).map_err(over)?;
        let (network, mut asked) = (self.network.clone(), request.into_inner());
        let switches = self.switches.clone();
        tokio::spawn(async move {
            while let Some(Ok(asked)) = asked.next().await {
                if let Err(why) = check_wait(&asked, &switches) {
                    // A participant that has disconnected needs no answer.
                    let _ = refusal.send(Err(Status::invalid_argument(why)));
                    break;
                }
                if network.send(Message::Wait(id, asked)).is_err() {
                    break;
                }
            }
            // If the run is over, the participant need not leave.
            let _ = network.send(Message::Leave(id));
        });
        Ok(Response::new(Box::pin(UnboundedReceiverStream::new(answers))))
    }

    async fn start_traffic(
        &self,
        request: Request<api::StartTrafficRequest>,
    ) -> Result<Response<api::StartTrafficResponse>, Status> {
        let runs = request.into_inner().runs;
        self.ask(move |world| world.start(runs)).await?;
        Ok(Response::new(api::StartTrafficResponse {}))
    }

    async fn stop_traffic(
        &self,
        request: Request<api::StopTrafficRequest>,
    ) -> Result<Response<api::StopTrafficResponse>, Status> {
        let names = request.into_inner().names;
        self.ask(move |world| world.stop(&names)).await?;
        Ok(Response::new(api::StopTrafficResponse {}))
    }

    async fn traffic(&self, request: Request<api::TrafficRequest>) -> Result<Response<api::TrafficResponse>, Status> {
        let names = request.into_inner().names;
        let response = self.ask(move |world| {
            Ok(Ok(api::TrafficResponse {
                now_ns: world.now(),
                runs: world.states(&names)?,
            }))
        });
        Ok(Response::new(response.await?))
    }

    type ReadLogStream = Answers<api::LogPiece>;

    async fn read_log(&self, request: Request<api::ReadLogRequest>) -> Result<Response<Self::ReadLogStream>, Status> {
        let name = request.into_inner().name;
        let log = self.ask(move |world| world.log(&name).map(Ok)).await?;
        let pieces: Vec<_> = log
            .chunks(PIECE)
            .map(|piece| Ok(api::LogPiece { text: piece.to_vec() }))
            .collect();
        Ok(Response::new(Box::pin(tokio_stream::iter(pieces))))
    }

    async fn set_hosts(
        &self,
        request: Request<api::SetHostsRequest>,
    ) -> Result<Response<api::SetHostsResponse>, Status> {
        let api::SetHostsRequest {
            names,
            rto_min_ns,
            initial_window,
            resent_rank,
        } = request.into_inner();
        if rto_min_ns == Some(0) || initial_window == Some(0) {
            return Err(Status::invalid_argument(
                "rto_min_ns and initial_window must be above 0",
            ));
        }
        let again = resent_rank.map(resent_rank_rule).transpose()?;
        let settings = TcpSettings {
            rto_min: rto_min_ns,
            initial_window,
        };
        self.ask(move |world| world.set_hosts(&names, settings, again).map(Ok))
            .await?;
        Ok(Response::new(api::SetHostsResponse {}))
    }

    async fn read_hosts(
        &self,
        request: Request<api::ReadHostsRequest>,
    ) -> Result<Response<api::ReadHostsResponse>, Status> {
        let names = request.into_inner().names;
        let response = self.ask(move |world| {
            let (now_ns, hosts) = (world.now(), world.counters(&names)?);
            Ok(hosts.map(|hosts| api::ReadHostsResponse { now_ns, hosts }))
        });
        Ok(Response::new(response.await?))
    }
}

fn resent_rank_rule(number: i32) -> Result<Retransmissions, Status> {
    match api::ResentRank::try_from(number) {
        Ok(api::ResentRank::Own) => Ok(Retransmissions::Own),
        Ok(api::ResentRank::Least) => Ok(Retransmissions::Least),
        Ok(api::ResentRank::Urgent) => Ok(Retransmissions::Urgent),
        _ => Err(Status::invalid_argument("resent_rank must be OWN, LEAST or URGENT")),
    }
}
