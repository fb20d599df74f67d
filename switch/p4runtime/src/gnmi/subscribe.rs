//! `Subscribe` streams.

use std::sync::Arc;
use std::time::Instant;

use p4sched_proto::gnmi::subscribe_request::Request;
use p4sched_proto::gnmi::subscribe_response::Response;
use p4sched_proto::gnmi::subscription_list::Mode;
use p4sched_proto::gnmi::{Encoding, Notification, SubscribeRequest, SubscribeResponse, SubscriptionList};
use tokio::sync::mpsc;
use tokio::time::sleep_until;
use tonic::{Status, Streaming};

use super::reader::Reader;
use super::subscription::Subscriptions;
use super::value::encoding;

const ONE_SUBSCRIPTION: &str = "a stream has one subscription; open another stream for another";

/// The messages of a stream to its client.
pub type Outgoing = mpsc::Sender<Result<SubscribeResponse, Status>>;

/// Why a stream ends: the client is gone (`None`), or a status for it.
type End = Option<Status>;

/// Serves one stream until the client ends it.
pub async fn run(reader: Arc<Reader>, mut requests: Streaming<SubscribeRequest>, outgoing: Outgoing) {
    if let Err(Some(status)) = serve(&reader, &mut requests, &outgoing).await {
        // The client may already be gone.
        let _ = outgoing.send(Err(status)).await;
    }
}

async fn serve(reader: &Reader, requests: &mut Streaming<SubscribeRequest>, outgoing: &Outgoing) -> Result<(), End> {
    let list = match next(requests).await? {
        None => return Ok(()),
        Some(Request::Subscribe(list)) => list,
        Some(Request::Poll(_)) => return Err(refused("a poll comes after a subscription with mode POLL")),
    };
    let mode = Mode::try_from(list.mode).map_err(|_| refused(&format!("no subscription mode {}", list.mode)))?;
    // Before the first reading: a change after it is noticed.
    let mut changes = reader.interfaces().changes();
    let now = Instant::now();
    let mut subscriptions = Subscriptions::new(&list, mode == Mode::Stream, wanted(&list)?, now).map_err(Some)?;
    send_all(reader, &mut subscriptions, list.updates_only, outgoing).await?;
    match mode {
        Mode::Once => Ok(()),
        Mode::Poll => loop {
            match next(requests).await? {
                None => return Ok(()),
                Some(Request::Poll(_)) => send_all(reader, &mut subscriptions, false, outgoing).await?,
                Some(Request::Subscribe(_)) => return Err(refused(ONE_SUBSCRIPTION)),
            }
        },
        Mode::Stream => stream(reader, &mut subscriptions, requests, &mut changes, outgoing).await,
    }
}

/// The encoding of a subscription. Clients of Stratum (ONOS, finsy) name none, which is JSON, and expect typed values.
fn wanted(list: &SubscriptionList) -> Result<Encoding, End> {
    match encoding(list.encoding).map_err(Some)? {
        Encoding::Json => Ok(Encoding::Proto),
        other => Ok(other),
    }
}

fn refused(problem: &str) -> End {
    Some(Status::invalid_argument(problem))
}

/// The next request; `None` if the client sends no more.
async fn next(requests: &mut Streaming<SubscribeRequest>) -> Result<Option<Request>, End> {
    match requests.message().await {
        Ok(Some(message)) => message.request.map(Some).ok_or_else(|| refused("the request is empty")),
        Ok(None) => Ok(None),
        Err(status) => Err(Some(status)),
    }
}

async fn send(response: Response, outgoing: &Outgoing) -> Result<(), End> {
    let response = SubscribeResponse {
        response: Some(response),
    };
    outgoing.send(Ok(response)).await.map_err(|_| None)
}

async fn send_each(notifications: Vec<Notification>, outgoing: &Outgoing) -> Result<(), End> {
    for notification in notifications {
        send(Response::Update(notification), outgoing).await?;
    }
    Ok(())
}

/// Sends all values, and that these were all.
async fn send_all(
    reader: &Reader,
    subscriptions: &mut Subscriptions,
    updates_only: bool,
    outgoing: &Outgoing,
) -> Result<(), End> {
    let reading = reader.read(subscriptions.has_counters()).await.map_err(Some)?;
    let all = subscriptions.all(&reading);
    if !updates_only {
        send_each(all, outgoing).await?;
    }
    send(Response::SyncResponse(true), outgoing).await
}

/// Sends what is due, until the client is gone. A client that reads slowly skips values. One that sends no more, but
/// reads, gets further values.
async fn stream(
    reader: &Reader,
    subscriptions: &mut Subscriptions,
    requests: &mut Streaming<SubscribeRequest>,
    changes: &mut tokio::sync::watch::Receiver<()>,
    outgoing: &Outgoing,
) -> Result<(), End> {
    let mut sends = true;
    loop {
        let due = subscriptions.next_due();
        let sleep = async {
            match due {
                Some(at) => sleep_until(at.into()).await,
                None => std::future::pending().await,
            }
        };
        let changed = tokio::select! {
            request = next(requests), if sends => {
                if request?.is_some() {
                    return Err(refused(ONE_SUBSCRIPTION));
                }
                sends = false;
                continue;
            }
            () = outgoing.closed() => return Ok(()),
            changed = changes.changed() => {
                changed.map_err(|_| Some(Status::unavailable("the switch is shutting down")))?;
                true
            }
            () = sleep => false,
        };
        let now = Instant::now();
        let counters = subscriptions.needs_counters(now);
        let reading = reader.read(counters).await.map_err(Some)?;
        send_each(subscriptions.due(&reading, now, changed), outgoing).await?;
    }
}
