//! The process: the thread of the network, and the servers in front of it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};

use p4sched_device::Device;
use p4sched_engine::Engine;
use p4sched_p4runtime::{CLIENT_METADATA_BYTES, DeviceHandle, Endpoint, Streams, serve_streams};
use p4sched_proto::p4sched::v1::simulation_server::SimulationServer;
use p4sched_world::network_file::{HostPlace, NetworkFile};
use p4sched_world::topology::TopologyError;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;

use crate::host::Host;
use crate::lockstep::{ControlledSwitch, LockStep, Message, Settings};
use crate::service::{Service, SwitchServer};
use crate::world::World;

/// Largest size of a request. gRPC's default of 4 MB is too small for a hundred thousand flows, which are far below
/// this.
const MAX_REQUEST_BYTES: usize = 256 << 20;
/// Largest number of waiting messages to a controller at one instant: an idle notice for each of its entries, and more.
const STREAM_BACKLOG: usize = 1 << 20;

/// Reason why a network could not be started.
#[derive(Debug, Error)]
pub enum StartError {
    /// The description is not a valid network.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// A server cannot listen on its address.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        address: SocketAddr,
        source: std::io::Error,
    },
}

/// A network whose servers listen. Time stands still.
pub struct Network {
    /// Address of the simulation's service.
    pub address: SocketAddr,
    /// Switches in the order of the description.
    pub switches: Vec<SwitchServer>,
    /// Sends messages to the thread of the network.
    pub messages: Sender<Message>,
    lock_step: LockStep,
    over: watch::Sender<bool>,
}

impl Network {
    /// Starts all servers on loopback: the service at `address`, and each switch at a free port, or at ports from
    /// `first_port` on in the order of the description. `host` creates each host.
    ///
    /// # Errors
    /// If the description is not a valid network, or an address is in use.
    pub async fn start(
        topology: &NetworkFile,
        address: SocketAddr,
        first_port: Option<u16>,
        settings: Settings,
        host: impl FnMut(&HostPlace) -> Box<dyn Host>,
    ) -> Result<Network, StartError> {
        let (messages, heard) = mpsc::channel();
        let (over, _) = watch::channel(false);
        let (mut devices, mut controlled, mut switches) = (Vec::new(), Vec::new(), Vec::new());
        for (place, switch) in topology.switches.iter().enumerate() {
            let port = first_port.map_or(0, |first| first.saturating_add(place as u16));
            let (listener, address) = listen(SocketAddr::new(address.ip(), port)).await?;
            let mut engine = Engine::new();
            engine.set_cpu_port(switch.cpu_port);
            if settings.interpret {
                engine.interpret();
            }
            let device_id = switch.device_id;
            let streams = Arc::new(Streams::new(device_id, STREAM_BACKLOG));
            let to_controllers = Arc::clone(&streams);
            let notify = move |notification| to_controllers.notify(&notification);
            devices.push(Device::new(device_id, engine, Box::new(notify)));
            let (jobs, waiting) = mpsc::channel();
            controlled.push(ControlledSwitch {
                device_id,
                streams: Arc::clone(&streams),
                jobs: waiting,
            });
            let wake = messages.clone();
            let handle = DeviceHandle::new(
                jobs,
                Arc::new(move || {
                    // If the thread of the network has ended, the request is dropped, and its client gets an error.
                    let _ = wake.send(Message::Switch(place));
                }),
            );
            let mut shutdown = over.subscribe();
            let endpoint = Endpoint {
                listener,
                tls: None,
                client_metadata: CLIENT_METADATA_BYTES,
                interfaces: None,
            };
            tokio::spawn(serve_streams(endpoint, streams, handle, async move {
                let _ = shutdown.wait_for(|over| *over).await;
            }));
            switches.push(SwitchServer {
                name: switch.name.clone(),
                device_id,
                address,
            });
        }
        let world = World::new(topology, devices, host)?;
        let (listener, address) = listen(address).await?;
        let service = SimulationServer::new(Service::new(messages.clone(), switches.clone()))
            .max_decoding_message_size(MAX_REQUEST_BYTES)
            .max_encoding_message_size(MAX_REQUEST_BYTES);
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        tokio::spawn(Server::builder().serve_with_incoming(service, incoming));
        Ok(Network {
            address,
            switches,
            lock_step: LockStep::new(world, heard, controlled, settings),
            messages,
            over,
        })
    }

    /// Runs the network on the calling thread until it is told to end.
    ///
    /// # Errors
    /// Says in a sentence why it ended early.
    pub fn run(self) -> Result<World, String> {
        let ended = self.lock_step.run();
        self.over.send_replace(true);
        ended
    }
}

async fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), StartError> {
    let failed = |source| StartError::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    Ok((listener, address))
}
