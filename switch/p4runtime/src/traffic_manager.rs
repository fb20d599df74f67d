//! The traffic manager's service.

use std::pin::Pin;
use std::time::Duration;

use p4sched_proto::p4sched::v1 as tm;
use p4sched_proto::p4sched::v1::traffic_manager_server::TrafficManager;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt as _};
use tonic::{Request, Response, Status};

use crate::handle::DeviceHandle;

/// Shortest time between two snapshots.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(1);

/// The traffic manager service of one device.
pub struct Service {
    device: DeviceHandle,
}

impl Service {
    pub fn new(device: DeviceHandle) -> Service {
        Service { device }
    }
}

#[tonic::async_trait]
impl TrafficManager for Service {
    type WatchStream = Pin<Box<dyn Stream<Item = Result<tm::Snapshot, Status>> + Send>>;

    async fn set_ports(&self, request: Request<tm::SetPortsRequest>) -> Result<Response<tm::SetPortsResponse>, Status> {
        let request = request.into_inner();
        self.device
            .try_run(move |device, ports, _| device.set_ports(&request, ports))
            .await?;
        Ok(Response::new(tm::SetPortsResponse {}))
    }

    async fn get_ports(&self, request: Request<tm::GetPortsRequest>) -> Result<Response<tm::GetPortsResponse>, Status> {
        let request = request.into_inner();
        let response = self
            .device
            .try_run(move |device, ports, _| device.get_ports(&request, ports))
            .await?;
        Ok(Response::new(response))
    }

    async fn get_stats(&self, request: Request<tm::GetStatsRequest>) -> Result<Response<tm::GetStatsResponse>, Status> {
        let request = request.into_inner();
        let response = self
            .device
            .try_run(move |device, ports, now| device.get_stats(&request, now, ports))
            .await?;
        Ok(Response::new(response))
    }

    async fn get_fidelity(
        &self,
        request: Request<tm::GetFidelityRequest>,
    ) -> Result<Response<tm::GetFidelityResponse>, Status> {
        let reset = request.into_inner().reset;
        let fidelity = self.device.run(move |_, ports, _| ports.fidelity(reset)).await?;
        Ok(Response::new(tm::GetFidelityResponse {
            measured_ns: fidelity.measured_ns,
            departures: fidelity.departures,
            lateness_p50_ns: fidelity.lateness_p50_ns,
            lateness_p99_ns: fidelity.lateness_p99_ns,
            lateness_p999_ns: fidelity.lateness_p999_ns,
            lateness_max_ns: fidelity.lateness_max_ns,
            rx_lost: fidelity.rx_lost,
            tx_errors: fidelity.tx_errors,
            cpu_ns: fidelity.cpu_ns,
        }))
    }

    async fn watch(&self, request: Request<tm::WatchRequest>) -> Result<Response<Self::WatchStream>, Status> {
        let request = request.into_inner();
        let every = Duration::from_nanos(request.interval_ns);
        let first = snapshot(&self.device, &request).await?;
        if every.is_zero() {
            return Ok(Response::new(Box::pin(tokio_stream::once(Ok(first)))));
        }
        if every < SHORTEST_INTERVAL {
            return Err(Status::invalid_argument(
                "interval_ns: at least 1 ms, or 0 for one snapshot",
            ));
        }
        // One snapshot may wait: a slow client skips those in between.
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(watch(self.device.clone(), request, every, sender));
        Ok(Response::new(Box::pin(
            tokio_stream::once(Ok(first)).chain(ReceiverStream::new(receiver)),
        )))
    }
}

async fn snapshot(device: &DeviceHandle, request: &tm::WatchRequest) -> Result<tm::Snapshot, Status> {
    let request = request.clone();
    device
        .try_run(move |device, ports, now| device.snapshot(&request, now, ports))
        .await
}

/// Sends snapshots until one fails or the client is gone.
async fn watch(
    device: DeviceHandle,
    request: tm::WatchRequest,
    every: Duration,
    sender: mpsc::Sender<Result<tm::Snapshot, Status>>,
) {
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    ticks.tick().await;
    loop {
        tokio::select! {
            () = sender.closed() => return,
            _ = ticks.tick() => {}
        }
        let found = snapshot(&device, &request).await;
        let failed = found.is_err();
        if sender.send(found).await.is_err() || failed {
            return;
        }
    }
}
