//! P4Runtime and the traffic manager's service over gRPC.

mod p4runtime;
mod streams;
mod traffic_manager;

use std::future::Future;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use p4sched_dataplane::Nanos;
use p4sched_proto::p4::v1::p4_runtime_server::P4RuntimeServer;
use p4sched_proto::p4sched::v1::traffic_manager_server::TrafficManagerServer;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tonic::Status;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;

use crate::{Device, Job, Notification, Ports};
use streams::Streams;

/// Largest request in bytes: p4c's JSON of large programs has tens of megabytes.
const MAX_REQUEST_BYTES: usize = 256 << 20;

/// Notifications that may wait between the data plane and the controllers' streams.
pub const NOTIFICATION_BACKLOG: usize = 4096;

/// The way to the thread that owns the device.
#[derive(Clone)]
pub struct DeviceHandle {
    jobs: Sender<Job>,
    wake: Arc<dyn Fn() + Send + Sync>,
}

impl DeviceHandle {
    /// `jobs` leads to the thread that owns the device; `wake` makes it look.
    pub fn new(jobs: Sender<Job>, wake: Arc<dyn Fn() + Send + Sync>) -> DeviceHandle {
        DeviceHandle { jobs, wake }
    }

    /// Runs a request on the device's thread, between two packets, and returns its answer.
    ///
    /// # Errors
    /// `UNAVAILABLE` if the switch is shutting down.
    pub async fn run<R: Send + 'static>(
        &self,
        request: impl FnOnce(&mut Device, &mut dyn Ports, Nanos) -> R + Send + 'static,
    ) -> Result<R, Status> {
        let (answer, answered) = oneshot::channel();
        let job: Job = Box::new(move |device, ports, now| {
            // Nobody waits for the answer of a request that was cancelled.
            let _ = answer.send(request(device, ports, now));
        });
        let stopping = || Status::unavailable("the switch is shutting down");
        self.jobs.send(job).map_err(|_| stopping())?;
        (self.wake)();
        answered.await.map_err(|_| stopping())
    }
}

/// Serves both services until `shutdown`, or until a socket error. `notifications` come from the device.
///
/// # Errors
/// Those of the socket.
pub async fn serve(
    listener: TcpListener,
    device_id: u64,
    device: DeviceHandle,
    notifications: mpsc::Receiver<Notification>,
    shutdown: impl Future<Output = ()>,
) -> Result<(), tonic::transport::Error> {
    let streams = Arc::new(Streams::new(device_id));
    let p4runtime = P4RuntimeServer::new(p4runtime::Service::new(device.clone(), Arc::clone(&streams)))
        .max_decoding_message_size(MAX_REQUEST_BYTES)
        .max_encoding_message_size(MAX_REQUEST_BYTES);
    let traffic_manager = TrafficManagerServer::new(traffic_manager::Service::new(device));
    let serving = Server::builder()
        .add_service(p4runtime)
        .add_service(traffic_manager)
        .serve_with_incoming(TcpIncoming::from(listener).with_nodelay(Some(true)));
    // Open streams would keep a graceful shutdown waiting: the controllers see them break instead.
    tokio::select! {
        served = serving => served,
        () = shutdown => Ok(()),
        () = streams.pass_on(notifications) => Ok(()),
    }
}
