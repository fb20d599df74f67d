//! The traffic manager's service.

use p4sched_proto::p4sched::v1 as tm;
use p4sched_proto::p4sched::v1::traffic_manager_server::TrafficManager;
use tonic::{Request, Response, Status};

use crate::handle::DeviceHandle;

/// The traffic manager of one device.
pub struct Service {
    device: DeviceHandle,
}

impl Service {
    /// Requests go to `device`.
    pub fn new(device: DeviceHandle) -> Service {
        Service { device }
    }
}

#[tonic::async_trait]
impl TrafficManager for Service {
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
}
