//! The server: all services on one socket.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll};

use p4sched_device::Notification;
use p4sched_proto::gnmi::g_nmi_server::{GNmiServer, SERVICE_NAME as GNMI};
use p4sched_proto::gnoi::system::system_server::{SERVICE_NAME as SYSTEM, SystemServer};
use p4sched_proto::p4::v1::p4_runtime_server::P4RuntimeServer;
use p4sched_proto::p4sched::v1::traffic_manager_server::{SERVICE_NAME as TRAFFIC_MANAGER, TrafficManagerServer};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tonic::body::Body;
use tonic::codegen::{self, http};
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;

use crate::gnmi::{self, Interfaces};
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

/// The socket of a server, and what its clients may expect.
pub struct Endpoint {
    pub listener: TcpListener,
    /// If set, all connections are encrypted.
    pub tls: Option<Tls>,
    /// Error details of a batch fit into so many bytes, the limit of the clients; at least [`CLIENT_METADATA_BYTES`].
    ///
    /// [`CLIENT_METADATA_BYTES`]: crate::CLIENT_METADATA_BYTES
    pub client_metadata: usize,
    /// The interfaces that gNMI shows; `None` for a switch without gNMI.
    pub interfaces: Option<Arc<dyn Interfaces>>,
}

/// Serves all services until `shutdown` or a socket error. `notifications` come from the device.
///
/// # Errors
/// Those of the socket.
pub async fn serve(
    endpoint: Endpoint,
    device_id: u64,
    device: DeviceHandle,
    notifications: mpsc::Receiver<Notification>,
    shutdown: impl Future<Output = ()>,
) -> Result<(), tonic::transport::Error> {
    let streams = Arc::new(Streams::new(device_id, STREAM_BACKLOG));
    tokio::select! {
        served = serve_streams(endpoint, Arc::clone(&streams), device, shutdown) => served,
        () = streams.pass_on(notifications) => Ok(()),
    }
}

/// Same as [`serve`], with `streams` for the device's own notifications.
///
/// # Errors
/// Those of the socket.
pub async fn serve_streams(
    endpoint: Endpoint,
    streams: Arc<Streams>,
    device: DeviceHandle,
    shutdown: impl Future<Output = ()>,
) -> Result<(), tonic::transport::Error> {
    let Endpoint {
        listener,
        tls,
        client_metadata,
        interfaces,
    } = endpoint;
    let p4runtime = P4RuntimeServer::new(service::Service::new(device.clone(), streams, client_metadata))
        .max_decoding_message_size(MAX_REQUEST_BYTES)
        .max_encoding_message_size(MAX_REQUEST_BYTES);
    let traffic_manager = TrafficManagerServer::new(traffic_manager::Service::new(device.clone()));
    let reader = interfaces.map(|interfaces| Arc::new(gnmi::Reader::new(device, interfaces)));
    let services = Services {
        p4runtime,
        traffic_manager,
        gnmi: (reader.clone()).map(|reader| GNmiServer::new(gnmi::Service::new(reader))),
        system: reader.is_some().then(|| SystemServer::new(gnmi::System)),
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
    let following = async {
        match reader {
            Some(reader) => reader.follow().await,
            None => std::future::pending().await,
        }
    };
    // Open streams would delay a graceful shutdown, so they are broken off.
    tokio::select! {
        served = serving => served,
        () = following => Ok(()),
        () = shutdown => Ok(()),
    }
}

/// All services. A request for an unknown service gets P4Runtime's answer to an unknown method, `UNIMPLEMENTED`.
#[derive(Clone)]
struct Services {
    p4runtime: P4RuntimeServer<service::Service>,
    traffic_manager: TrafficManagerServer<traffic_manager::Service>,
    gnmi: Option<GNmiServer<gnmi::Service>>,
    system: Option<SystemServer<gnmi::System>>,
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
        match (service, &mut self.gnmi, &mut self.system) {
            (Some(TRAFFIC_MANAGER), _, _) => self.traffic_manager.call(request),
            (Some(GNMI), Some(gnmi), _) => gnmi.call(request),
            (Some(SYSTEM), _, Some(system)) => system.call(request),
            _ => self.p4runtime.call(request),
        }
    }
}
