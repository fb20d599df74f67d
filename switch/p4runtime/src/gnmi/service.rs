//! The gNMI service, and the part of gNOI that tells the time.

use std::pin::Pin;
use std::sync::Arc;

use p4sched_proto::gnmi::g_nmi_server::GNmi;
use p4sched_proto::gnmi::get_request::DataType;
use p4sched_proto::gnmi::{
    CapabilityRequest, CapabilityResponse, GetRequest, GetResponse, ModelData, Notification, SetRequest, SetResponse,
    SubscribeRequest, SubscribeResponse, Update,
};
use p4sched_proto::gnoi::system::{TimeRequest, TimeResponse, system_server};
use tokio::sync::{Semaphore, mpsc};
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming};

use super::leaves::LEAVES;
use super::path::{MODELS, answer_prefix, of_leaf, select};
use super::reader::{Reader, unix_time};
use super::set::{set, unknown};
use super::subscribe;
use super::subscription::MOST_PATHS;
use super::value::{ENCODINGS, encoding};

/// The version of gNMI.
const VERSION: &str = "0.10.0";
/// The most `Subscribe` streams at the same time.
const MOST_STREAMS: usize = 64;
/// The most messages that wait for a client. A client that reads slowly skips values.
const STREAM_BACKLOG: usize = 16;

/// The gNMI service of one device.
pub struct Service {
    reader: Arc<Reader>,
    streams: Arc<Semaphore>,
}

impl Service {
    pub fn new(reader: Arc<Reader>) -> Service {
        Service {
            reader,
            streams: Arc::new(Semaphore::new(MOST_STREAMS)),
        }
    }
}

#[tonic::async_trait]
impl GNmi for Service {
    type SubscribeStream = Pin<Box<dyn Stream<Item = Result<SubscribeResponse, Status>> + Send>>;

    async fn capabilities(&self, _: Request<CapabilityRequest>) -> Result<Response<CapabilityResponse>, Status> {
        let models = MODELS.map(|(name, version)| ModelData {
            name: name.to_owned(),
            organization: "OpenConfig working group".to_owned(),
            version: version.to_owned(),
        });
        Ok(Response::new(CapabilityResponse {
            supported_models: models.into(),
            supported_encodings: ENCODINGS.map(i32::from).into(),
            g_nmi_version: VERSION.to_owned(),
        }))
    }

    async fn get(&self, request: Request<GetRequest>) -> Result<Response<GetResponse>, Status> {
        let request = request.into_inner();
        let prefix = request.prefix.as_ref();
        let encoding = encoding(request.encoding)?;
        let kind = DataType::try_from(request.r#type)
            .map_err(|_| Status::invalid_argument(format!("no type of data {}", request.r#type)))?;
        if request.path.is_empty() {
            return Err(Status::invalid_argument(
                "the request has no path; an empty path selects everything",
            ));
        }
        if request.path.len() > MOST_PATHS {
            return Err(Status::invalid_argument(format!(
                "{} paths; a request has at most {MOST_PATHS}",
                request.path.len()
            )));
        }
        let selections = request.path.iter().map(|path| select(prefix, path));
        let mut selections = selections.collect::<Result<Vec<_>, _>>()?;
        for selection in &mut selections {
            selection.leaves.retain(|&leaf| LEAVES[leaf].kind.is_of(kind));
        }
        let counters = selections.iter().flat_map(|selection| &selection.leaves);
        let counters = counters.copied().any(|leaf| LEAVES[leaf].is_counter());
        let reading = self.reader.read(counters).await?;
        let mut notification = Vec::with_capacity(selections.len());
        for selection in &selections {
            if let Some(name) = &selection.interface
                && reading.selected(selection).next().is_none()
            {
                let names: Vec<&str> = reading.ports.iter().map(|port| port.name.as_str()).collect();
                return Err(unknown(name, &names));
            }
            let update = reading.selected(selection).flat_map(|port| {
                let leaves = selection.leaves.iter().map(|&leaf| &LEAVES[leaf]);
                leaves.filter_map(move |leaf| {
                    Some(Update {
                        val: Some(leaf.value(port)?.encoded(encoding)),
                        path: Some(of_leaf(&port.name, leaf)),
                        duplicates: 0,
                    })
                })
            });
            notification.push(Notification {
                timestamp: reading.at.cast_signed(),
                prefix: answer_prefix(prefix),
                update: update.collect(),
                ..Notification::default()
            });
        }
        Ok(Response::new(GetResponse { notification }))
    }

    async fn set(&self, request: Request<SetRequest>) -> Result<Response<SetResponse>, Status> {
        set(&self.reader, request.into_inner()).await.map(Response::new)
    }

    async fn subscribe(
        &self,
        request: Request<Streaming<SubscribeRequest>>,
    ) -> Result<Response<Self::SubscribeStream>, Status> {
        let Ok(permit) = Arc::clone(&self.streams).try_acquire_owned() else {
            return Err(Status::resource_exhausted(format!(
                "{MOST_STREAMS} subscriptions are open; end one first"
            )));
        };
        let (outgoing, responses) = mpsc::channel(STREAM_BACKLOG);
        let reader = Arc::clone(&self.reader);
        let requests = request.into_inner();
        tokio::spawn(async move {
            subscribe::run(reader, requests, outgoing).await;
            drop(permit);
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(responses))))
    }
}

/// The clock of the switch, in gNOI. ONOS' driver for Stratum asks for it to see whether the switch answers.
pub struct System;

#[tonic::async_trait]
impl system_server::System for System {
    async fn time(&self, _: Request<TimeRequest>) -> Result<Response<TimeResponse>, Status> {
        Ok(Response::new(TimeResponse { time: unix_time() }))
    }
}
