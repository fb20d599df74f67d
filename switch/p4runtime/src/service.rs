//! The P4Runtime service.

use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use p4sched_dataplane::Nanos;
use p4sched_device::{Device, Fault, Notification, Ports, Program};
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::get_forwarding_pipeline_config_request::ResponseType;
use p4sched_proto::p4::v1::p4_runtime_server::P4Runtime;
use p4sched_proto::p4::v1::set_forwarding_pipeline_config_request::Action;
use p4sched_proto::p4::v1::stream_error::Details;
use p4sched_proto::p4::v1::stream_message_request::Update;
use p4sched_proto::p4::v1::write_request::Atomicity;
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt as _};
use tonic::{Request, Response, Status, Streaming};

use crate::arbitration::{StreamId, requested_role};
use crate::handle::DeviceHandle;
use crate::status;
use crate::streams::{Outgoing, Streams};

/// The version of P4Runtime that this switch implements.
const API_VERSION: &str = "1.5.0";
/// The number of updates that are applied together if a batch need not be atomic. Packets pass in between.
const UPDATES_AT_A_TIME: usize = 64;
/// The most updates of a request that is short enough for [`DeviceHandle::edit`].
const FEW_UPDATES: usize = 8;
/// The most entities in one message of a read.
const ENTITIES_PER_RESPONSE: usize = 512;

/// The P4Runtime service of one device.
pub struct Service {
    device: DeviceHandle,
    streams: Arc<Streams>,
    client_metadata: usize,
}

impl Service {
    /// `streams` has the controllers; `client_metadata` is the size of metadata that clients accept, in bytes.
    pub fn new(device: DeviceHandle, streams: Arc<Streams>, client_metadata: usize) -> Service {
        Service {
            device,
            streams,
            client_metadata,
        }
    }
}

type Responses<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[tonic::async_trait]
impl P4Runtime for Service {
    type ReadStream = Responses<p4rt::ReadResponse>;
    type StreamChannelStream = Responses<p4rt::StreamMessageResponse>;

    async fn write(&self, request: Request<p4rt::WriteRequest>) -> Result<Response<p4rt::WriteResponse>, Status> {
        let mut request = request.into_inner();
        #[allow(deprecated, reason = "clients older than P4Runtime 1.4 number their roles")]
        let role = requested_role(&request.role, request.role_id);
        request.role = role;
        let (device, streams) = (self.device.clone(), Arc::clone(&self.streams));
        let client_metadata = self.client_metadata;
        // The whole batch must be applied even if the client goes away.
        let writing = to_the_end(async move {
            let _order = streams.writes.lock().await;
            streams.check_write(request.device_id, &request.role, request.election_id.as_ref())?;
            write_batch(&device, request, client_metadata).await
        });
        writing.await??;
        Ok(Response::new(p4rt::WriteResponse {}))
    }

    async fn read(&self, request: Request<p4rt::ReadRequest>) -> Result<Response<Self::ReadStream>, Status> {
        let request = request.into_inner();
        self.streams.check_device(request.device_id)?;
        let results = self
            .device
            .try_run(move |device, _, now| device.read_as(&request.role, &request.entities, now))
            .await?;
        let mut statuses = Vec::with_capacity(results.len());
        let mut entities = Vec::new();
        for result in results {
            statuses.push(result.map(|found| entities.extend(found)));
        }
        let failed = statuses
            .iter()
            .any(Result::is_err)
            .then(|| Err(status::of_batch("reads", &statuses, self.client_metadata)));
        let mut responses = Vec::with_capacity(entities.len() / ENTITIES_PER_RESPONSE + 2);
        let mut entities = entities
            .into_iter()
            .map(|entity| p4rt::Entity { entity: Some(entity) })
            .peekable();
        while entities.peek().is_some() {
            let entities = entities.by_ref().take(ENTITIES_PER_RESPONSE).collect();
            responses.push(Ok(p4rt::ReadResponse { entities }));
        }
        responses.extend(failed);
        Ok(Response::new(Box::pin(tokio_stream::iter(responses))))
    }

    async fn set_forwarding_pipeline_config(
        &self,
        request: Request<p4rt::SetForwardingPipelineConfigRequest>,
    ) -> Result<Response<p4rt::SetForwardingPipelineConfigResponse>, Status> {
        let request = request.into_inner();
        let action = request.action();
        #[allow(deprecated, reason = "clients older than P4Runtime 1.4 number their roles")]
        let role = requested_role(&request.role, request.role_id);
        let _order = self.streams.writes.lock().await;
        self.streams
            .check_write(request.device_id, &role, request.election_id.as_ref())?;
        let program = match (action, request.config) {
            (Action::Unspecified, _) => {
                return Err(status::of(Fault::invalid(
                    "an action is needed, for example VERIFY_AND_COMMIT",
                )));
            }
            (Action::Commit, Some(_)) => {
                return Err(status::of(Fault::invalid(
                    "COMMIT takes no config: it is the saved one",
                )));
            }
            (Action::Commit, None) => None,
            (_, None) => {
                return Err(status::of(Fault::invalid(format!(
                    "{} without a config",
                    action.as_str_name()
                ))));
            }
            (_, Some(config)) => {
                let parsing = tokio::task::spawn_blocking(move || Program::new(config));
                let parsed = parsing.await.map_err(|error| Status::internal(error.to_string()))?;
                Some(parsed.map_err(status::of)?)
            }
        };
        self.device
            .try_run(move |device, _, now| set_pipeline(device, action, program, now))
            .await?;
        Ok(Response::new(p4rt::SetForwardingPipelineConfigResponse {}))
    }

    async fn get_forwarding_pipeline_config(
        &self,
        request: Request<p4rt::GetForwardingPipelineConfigRequest>,
    ) -> Result<Response<p4rt::GetForwardingPipelineConfigResponse>, Status> {
        let request = request.into_inner();
        self.streams.check_device(request.device_id)?;
        let wanted = request.response_type();
        let (with_p4info, with_program) = match wanted {
            ResponseType::All => (true, true),
            ResponseType::CookieOnly => (false, false),
            ResponseType::P4infoAndCookie => (true, false),
            ResponseType::DeviceConfigAndCookie => (false, true),
        };
        let part = move |config: &p4rt::ForwardingPipelineConfig| p4rt::ForwardingPipelineConfig {
            p4info: config.p4info.clone().filter(|_| with_p4info),
            p4_device_config: if with_program {
                config.p4_device_config.clone()
            } else {
                Vec::new()
            },
            cookie: config.cookie,
        };
        let config = self.device.run(move |device, _, _| device.config().map(part)).await?;
        Ok(Response::new(p4rt::GetForwardingPipelineConfigResponse { config }))
    }

    async fn stream_channel(
        &self,
        request: Request<Streaming<p4rt::StreamMessageRequest>>,
    ) -> Result<Response<Self::StreamChannelStream>, Status> {
        let mut requests = request.into_inner();
        let (stream, outgoing) = self.streams.open();
        let (device, streams) = (self.device.clone(), Arc::clone(&self.streams));
        tokio::spawn(async move {
            // A message that cannot be decoded ends the stream too, with its status.
            while let Some(request) = requests.next().await {
                let handled = match request {
                    Ok(request) => handle(&device, &streams, stream, request).await,
                    Err(status) => Err(status),
                };
                if let Err(status) = handled {
                    streams.fail(stream, status).await;
                    break;
                }
            }
            streams.close(stream);
        });
        let outgoing: ReceiverStream<Outgoing> = ReceiverStream::new(outgoing);
        Ok(Response::new(Box::pin(outgoing)))
    }

    async fn capabilities(
        &self,
        request: Request<p4rt::CapabilitiesRequest>,
    ) -> Result<Response<p4rt::CapabilitiesResponse>, Status> {
        let device_id = request.into_inner().device_id;
        if device_id != 0 {
            self.streams.check_device(device_id)?;
        }
        let response = p4rt::CapabilitiesResponse {
            p4runtime_api_version: API_VERSION.to_owned(),
            experimental: None,
        };
        Ok(Response::new(response))
    }
}

/// Runs `work` to its end even if the caller is gone. It runs in a separate task, unless it ends immediately.
async fn to_the_end<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Result<T, Status> {
    let mut work = Box::pin(work);
    let begun = std::future::poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await;
    match begun {
        Poll::Ready(done) => Ok(done),
        Poll::Pending => tokio::spawn(work)
            .await
            .map_err(|error| Status::internal(error.to_string())),
    }
}

async fn write_batch(device: &DeviceHandle, request: p4rt::WriteRequest, client_metadata: usize) -> Result<(), Status> {
    let results = if request.atomicity() == Atomicity::ContinueOnError {
        // The part returns with its results, because freeing its thousands of small allocations between two packets
        // would take long.
        let write = |part: p4rt::WriteRequest| {
            move |device: &mut Device, _: &mut dyn Ports, now: Nanos| (device.write_request(&part, now), part)
        };
        let mut results = Vec::with_capacity(request.updates.len());
        let written = if request.updates.len() <= FEW_UPDATES {
            let write = move |device: &mut Device, now| (device.write_request(&request, now), request);
            vec![device.edit(write).await?]
        } else {
            device.run_each(parts(request).map(write)).await?
        };
        for (written, _) in written {
            results.extend(written.map_err(status::of)?);
        }
        results
    } else {
        device
            .try_run(move |device, _, now| device.write_request(&request, now))
            .await?
    };
    if results.iter().any(Result::is_err) {
        return Err(status::of_batch("updates", &results, client_metadata));
    }
    Ok(())
}

/// Splits a request into parts of [`UPDATES_AT_A_TIME`] updates; one empty part if it has no updates.
fn parts(mut request: p4rt::WriteRequest) -> impl Iterator<Item = p4rt::WriteRequest> {
    let parts = request.updates.len().div_ceil(UPDATES_AT_A_TIME).max(1);
    let mut updates = std::mem::take(&mut request.updates).into_iter();
    (0..parts).map(move |_| p4rt::WriteRequest {
        updates: updates.by_ref().take(UPDATES_AT_A_TIME).collect(),
        ..request.clone()
    })
}

fn set_pipeline(device: &mut Device, action: Action, program: Option<Program>, now: Nanos) -> Result<(), Fault> {
    match (action, program) {
        (Action::VerifyAndSave, Some(program)) => device.save(program),
        (Action::VerifyAndCommit, Some(program)) => device.commit(program)?,
        (Action::ReconcileAndCommit, Some(program)) => device.reconcile_and_commit(program, now)?,
        (Action::Commit, _) => device.commit_saved()?,
        _ => {}
    }
    Ok(())
}

/// Handles one message of a controller; an error ends the controller's stream.
async fn handle(
    device: &DeviceHandle,
    streams: &Arc<Streams>,
    stream: StreamId,
    request: p4rt::StreamMessageRequest,
) -> Result<(), Status> {
    let (result, details) = match request.update {
        Some(Update::Arbitration(update)) => return streams.arbitrate(stream, &update).await,
        Some(Update::Packet(packet)) => {
            let details = Details::PacketOut(p4rt::PacketOutError {
                packet_out: Some(packet.clone()),
            });
            let send = move |device: &mut Device, ports: &mut dyn Ports, now| device.packet_out(&packet, now, ports);
            (if_primary(device, streams, stream, send).await?, details)
        }
        Some(Update::DigestAck(ack)) => {
            let details = Details::DigestListAck(p4rt::DigestListAckError {
                digest_list_ack: Some(ack),
            });
            let acknowledge = move |device: &mut Device, _: &mut dyn Ports, _| device.acknowledge_digests(ack);
            (if_primary(device, streams, stream, acknowledge).await?, details)
        }
        Some(Update::Other(other)) => {
            let details = Details::Other(p4rt::StreamOtherError { other: Some(other) });
            (
                Err(Fault::unimplemented("no messages beyond those of P4Runtime")),
                details,
            )
        }
        // A kind of message from a later version of P4Runtime is ignored too. Clients of BMv2, which also ignores it,
        // send one.
        None => return Ok(()),
    };
    if let Err(fault) = result {
        let error = p4rt::StreamError {
            canonical_code: fault.code as i32,
            message: fault.message,
            details: Some(details),
            ..p4rt::StreamError::default()
        };
        streams.send(stream, Notification::Error(error));
    }
    Ok(())
}

/// Passes on a message from the primary controller; a message from any other controller is refused.
async fn if_primary(
    device: &DeviceHandle,
    streams: &Arc<Streams>,
    stream: StreamId,
    request: impl FnOnce(&mut Device, &mut dyn Ports, Nanos) -> Result<(), Fault> + Send + 'static,
) -> Result<Result<(), Fault>, Status> {
    let (primary, count) = (streams.is_primary(stream), Arc::clone(streams));
    let take = move |device: &mut Device, ports: &mut dyn Ports, now| {
        count.taken(stream);
        if primary {
            request(device, ports, now)
        } else {
            Err(Fault::denied(
                "only the primary controller may send packets and acknowledgements",
            ))
        }
    };
    device.run(take).await
}
