//! The server: both services on one socket.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll};

use p4sched_device::Notification;
use p4sched_proto::p4::v1::p4_runtime_server::P4RuntimeServer;
use p4sched_proto::p4sched::v1::traffic_manager_server::{SERVICE_NAME as TRAFFIC_MANAGER, TrafficManagerServer};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tonic::body::Body;
use tonic::codegen::{self, http};
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;

use crate::handle::DeviceHandle;
use crate::streams::Streams;
use crate::tls::Tls;
use crate::{service, traffic_manager};

/// Largest request in bytes: p4c's JSON of a large program can have tens of megabytes.
const MAX_REQUEST_BYTES: usize = 256 << 20;

/// The most notifications that may wait between the data plane and the controllers' streams.
pub const NOTIFICATION_BACKLOG: usize = 4096;

/// The most messages that may wait for one controller.
const STREAM_BACKLOG: usize = 1024;

/// Serves both services until `shutdown` or a socket error. `notifications` come from the device. With `tls`, all
/// connections are encrypted. Error details of a batch fit into `client_metadata` bytes, the limit of the clients; at
/// least [`CLIENT_METADATA_BYTES`].
///
/// [`CLIENT_METADATA_BYTES`]: crate::CLIENT_METADATA_BYTES
///
/// # Errors
/// Those of the socket.
pub async fn serve(
    listener: TcpListener,
    tls: Option<Tls>,
    device_id: u64,
    client_metadata: usize,
    device: DeviceHandle,
    notifications: mpsc::Receiver<Notification>,
    shutdown: impl Future<Output = ()>,
) -> Result<(), tonic::transport::Error> {
    let streams = Arc::new(Streams::new(device_id, STREAM_BACKLOG));
    tokio::select! {
        served = serve_streams(listener, tls, Arc::clone(&streams), client_metadata, device, shutdown) => served,
        () = streams.pass_on(notifications) => Ok(()),
    }
}

/// Same as [`serve`], with `streams` for the device's own notifications.
///
/// # Errors
/// Those of the socket.
pub async fn serve_streams(
    listener: TcpListener,
    tls: Option<Tls>,
    streams: Arc<Streams>,
    client_metadata: usize,
    device: DeviceHandle,
    shutdown: impl Future<Output = ()>,
) -> Result<(), tonic::transport::Error> {
    let p4runtime = P4RuntimeServer::new(service::Service::new(device.clone(), streams, client_metadata))
        .max_decoding_message_size(MAX_REQUEST_BYTES)
        .max_encoding_message_size(MAX_REQUEST_BYTES);
    let traffic_manager = TrafficManagerServer::new(traffic_manager::Service::new(device));
    let services = Services {
        p4runtime,
        traffic_manager,
    };
    let server = Server::builder();
    let serving = async {
        match tls {
            Some(tls) => server.serve_with_incoming(services, tls.incoming(listener)).await,
            None => {
                let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
                server.serve_with_incoming(services, incoming).await
            }
        }
    };
    // Open streams would delay a graceful shutdown, so they are broken off.
    tokio::select! {
        served = serving => served,
        () = shutdown => Ok(()),
    }
}

/// Both services. A request for an unknown service gets P4Runtime's answer to an unknown method, `UNIMPLEMENTED`.
#[derive(Clone)]
struct Services {
    p4runtime: P4RuntimeServer<service::Service>,
    traffic_manager: TrafficManagerServer<traffic_manager::Service>,
}

impl codegen::Service<http::Request<Body>> for Services {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = codegen::BoxFuture<http::Response<Body>, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let service = request.uri().path().split('/').nth(1);
        match service {
            Some(TRAFFIC_MANAGER) => self.traffic_manager.call(request),
            _ => self.p4runtime.call(request),
        }
    }
}
