//! TCP flows of given sizes. The sender marks the TOS byte of each segment with its rank. The receiver reports
//! completion times.
//!
//! A connection begins with 20 bytes, big-endian: flow (4), size in bytes (8), start in ns of the monotonic clock (8).
//! The start is the time before the connection is opened, so the completion time includes the handshake. For a
//! connection that was opened ahead, it is the time before the first byte is written. The completion time ends when the
//! last byte arrives.

use std::net::{IpAddr, Ipv4Addr, SocketAddrV4};
use std::sync::Arc;
use std::time::Duration;

use rustix::net::SendFlags;
use serde::Serialize;
use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::clock::monotonic_ns;
use crate::error::{TrafficError, socket};
use crate::flow::{SEGMENT_BYTES, TcpFlow, distinct};
use crate::retransmissions::retransmitted;

/// Number of bytes with which a connection begins.
pub const HEADER_BYTES: usize = 20;
/// Number of connections that a host opens ahead at the same time. It is small, so that their opening segments never
/// fill a buffer.
pub const OPENED_AT_A_TIME: usize = 4;

/// When a flow's connection is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// At the flow's start. The completion time includes the handshake.
    AtStart,
    /// As soon as sending begins, a few connections at the same time.
    Ahead,
}

/// A flow that arrived completely.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CompletedFlow {
    pub flow: u32,
    pub size_bytes: u64,
    /// Flow completion time, from its start (see [`Opening`]) to the last byte, in ns.
    pub fct_ns: u64,
}

/// The result of a flow at its sender.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    pub flow: u32,
    pub size_bytes: u64,
    /// Whether the receiver confirmed the last byte.
    pub completed: bool,
    /// Number of segments sent again, if the flow completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmitted: Option<u32>,
    /// Reason why the flow did not complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether there was no connection, for another reason than the deadline.
    #[serde(skip)]
    pub unconnected: bool,
}

/// The first bytes of a flow's connection.
pub fn header(flow: &TcpFlow, started_ns: u64) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..4].copy_from_slice(&flow.flow.to_be_bytes());
    header[4..12].copy_from_slice(&flow.size_bytes.to_be_bytes());
    header[12..].copy_from_slice(&started_ns.to_be_bytes());
    header
}

/// Fails if flows found no receiver, because then the results of the others are useless.
///
/// # Errors
/// Names the first such flow, and why it had no connection.
pub fn all_connected(outcomes: &[Outcome]) -> Result<(), TrafficError> {
    let mut unconnected = outcomes.iter().filter(|outcome| outcome.unconnected);
    let Some(first) = unconnected.next() else { return Ok(()) };
    let reason = first.error.as_deref().unwrap_or("no reason known");
    Err(TrafficError::Flow(format!(
        "{} of {} flows could not connect; flow {}: {reason}",
        unconnected.count() + 1,
        outcomes.len(),
        first.flow
    )))
}

/// Accepts flows for the given time, or until the given number has completed. Reports the completed flows.
///
/// # Errors
/// If the address cannot be used for listening.
pub async fn serve(
    address: SocketAddrV4,
    duration: Duration,
    wanted: Option<usize>,
) -> Result<Vec<CompletedFlow>, TrafficError> {
    let listener = TcpListener::bind(address)
        .await
        .map_err(socket(format!("cannot listen on {address}")))?;
    let (report, mut reports) = mpsc::unbounded_channel();
    let end = Instant::now() + duration;
    let mut connections = JoinSet::new();
    let mut completed = Vec::new();
    while wanted.is_none_or(|wanted| completed.len() < wanted) {
        tokio::select! {
            accepted = listener.accept() => {
                // If a connection is reset before it is accepted, its sender reports the failure.
                let Ok((stream, _)) = accepted else { continue };
                let report = report.clone();
                connections.spawn(async move {
                    if let Ok(completed) = absorb(stream).await {
                        let _ = report.send(completed);
                    }
                });
            }
            Some(flow) = reports.recv() => completed.push(flow),
            () = tokio::time::sleep_until(end) => break,
        }
    }
    connections.shutdown().await;
    // Flows that completed while the connections were being closed count too.
    while let Ok(flow) = reports.try_recv() {
        completed.push(flow);
    }
    Ok(completed)
}

async fn absorb(mut stream: TcpStream) -> std::io::Result<CompletedFlow> {
    let flow = stream.read_u32().await?;
    let size_bytes = stream.read_u64().await?;
    let started_ns = stream.read_u64().await?;
    let mut left = size_bytes;
    let mut buffer = vec![0; 64 << 10];
    while left > 0 {
        let read = stream.read(&mut buffer).await? as u64;
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        left = left.saturating_sub(read);
    }
    let fct_ns = monotonic_ns().saturating_sub(started_ns);
    stream.write_u8(1).await?;
    Ok(CompletedFlow {
        flow,
        size_bytes,
        fct_ns,
    })
}

/// Sends all flows on their schedule. Flows that are not finished at the deadline are given up.
///
/// # Errors
/// If a flow is invalid. Then nothing was sent.
pub async fn send(
    flows: &[TcpFlow],
    congestion: &str,
    opening: Opening,
    deadline: Duration,
) -> Result<Vec<Outcome>, TrafficError> {
    flows.iter().try_for_each(TcpFlow::check)?;
    distinct(flows.iter().map(|flow| flow.flow))?;
    let start = Instant::now();
    let end = start + deadline;
    let congestion: Arc<str> = congestion.into();
    let turns = Arc::new(Semaphore::new(OPENED_AT_A_TIME));
    let mut senders = JoinSet::new();
    for flow in flows.iter().cloned() {
        let (congestion, turns) = (congestion.clone(), turns.clone());
        senders.spawn(async move {
            let begin = start + Duration::from_secs_f64(flow.start_s);
            let attempt = async {
                let not_open = |error| (error, true);
                let (stream, started_ns) = match opening {
                    Opening::AtStart => {
                        tokio::time::sleep_until(begin).await;
                        let started_ns = monotonic_ns();
                        (open(&flow, &congestion).await.map_err(not_open)?, started_ns)
                    }
                    Opening::Ahead => {
                        let turn = turns.acquire().await;
                        let stream = open(&flow, &congestion).await.map_err(not_open)?;
                        drop(turn);
                        tokio::time::sleep_until(begin).await;
                        (stream, monotonic_ns())
                    }
                };
                deliver(stream, &flow, started_ns).await.map_err(|error| (error, false))
            };
            let (retransmitted, error, unconnected) = match tokio::time::timeout_at(end, attempt).await {
                Ok(Ok(segments)) => (Some(segments), None, false),
                Ok(Err((error, unconnected))) => (None, Some(error.to_string()), unconnected),
                Err(_) => (None, Some("not done by the deadline".into()), false),
            };
            Outcome {
                flow: flow.flow,
                size_bytes: flow.size_bytes,
                completed: error.is_none(),
                retransmitted,
                error,
                unconnected,
            }
        });
    }
    let mut outcomes = senders.join_all().await;
    outcomes.sort_by_key(|outcome| outcome.flow);
    Ok(outcomes)
}

async fn open(flow: &TcpFlow, congestion: &str) -> std::io::Result<TcpStream> {
    let tcp = TcpSocket::new_v4()?;
    tcp.bind(SocketAddrV4::new(flow.src.unwrap_or(Ipv4Addr::UNSPECIFIED), 0).into())?;
    let options = SockRef::from(&tcp);
    options
        .set_tcp_congestion(congestion.as_bytes())
        .map_err(|error| std::io::Error::new(error.kind(), format!("congestion control '{congestion}': {error}")))?;
    options.set_tcp_nodelay(true)?;
    // Unsent data in the socket already has its rank, so there should be little of it.
    options.set_tcp_notsent_lowat(2 * SEGMENT_BYTES as u32)?;
    options.set_tos_v4(flow.tos.of_handshake().into())?;
    tcp.connect((IpAddr::from(flow.dst), flow.port).into()).await
}

/// Sends the flow's bytes. Returns the number of segments that were sent again.
async fn deliver(mut stream: TcpStream, flow: &TcpFlow, started_ns: u64) -> std::io::Result<u32> {
    let mut tos = flow.tos.byte(flow.size_bytes);
    SockRef::from(&stream).set_tos_v4(tos.into())?;

    stream.write_all(&header(flow, started_ns)).await?;

    let segment = [0; SEGMENT_BYTES as usize];
    let mut left = flow.size_bytes;
    while left > 0 {
        let rank = flow.tos.byte(left);
        if rank != tos {
            tos = rank;
            SockRef::from(&stream).set_tos_v4(tos.into())?;
        }
        left -= write_apart(&stream, &segment[..left.min(SEGMENT_BYTES) as usize]).await? as u64;
    }
    stream.read_u8().await?;
    retransmitted(&stream)
}

/// Writes bytes that are not joined with later ones (MSG_EOR), because later bytes have their own rank. Otherwise the
/// kernel appends later bytes to unsent ones, up to 64 kB, even beyond the limit for unsent bytes.
async fn write_apart(stream: &TcpStream, bytes: &[u8]) -> std::io::Result<usize> {
    let send = || Ok(rustix::net::send(stream, bytes, SendFlags::EOR)?);
    stream.async_io(Interest::WRITABLE, send).await
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;
    use crate::flow::{Scale, Tos};

    async fn over_loopback(opening: Opening) -> Vec<CompletedFlow> {
        let port = std::net::TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let server = tokio::spawn(serve(
            SocketAddrV4::new(Ipv4Addr::LOCALHOST, port),
            Duration::from_secs(60),
            Some(20),
        ));
        let flows: Vec<TcpFlow> = (1..=20u32)
            .map(|flow| TcpFlow {
                flow,
                src: None,
                dst: Ipv4Addr::LOCALHOST,
                port,
                size_bytes: u64::from(flow) * 10_000,
                start_s: 1.0 + f64::from(flow) * 0.01,
                tos: Tos::Remaining {
                    largest_bytes: 200_000,
                    scale: Scale::Logarithmic,
                },
            })
            .collect();
        let outcomes = send(&flows, "cubic", opening, Duration::from_secs(60)).await.unwrap();
        // On a busy machine, retransmissions happen over loopback too. The test only needs the kernel's number.
        assert!(
            outcomes
                .iter()
                .all(|outcome| outcome.completed && outcome.retransmitted.is_some()),
            "{outcomes:?}"
        );
        all_connected(&outcomes).unwrap();
        let mut completed = server.await.unwrap().unwrap();
        completed.sort_by_key(|flow| flow.flow);
        completed
    }

    #[tokio::test]
    async fn flows_complete_over_loopback_and_report_their_times() {
        for opening in [Opening::AtStart, Opening::Ahead] {
            let completed = over_loopback(opening).await;
            assert_eq!(completed.len(), 20);
            assert_eq!(completed[4].size_bytes, 50_000);
            // A connection that was opened ahead waits a second for its flow to start. No completion time includes
            // this second, so at least one is shorter, also on a busy machine.
            assert!(completed.iter().all(|flow| flow.fct_ns > 0));
            assert!(completed.iter().any(|flow| flow.fct_ns < 1_000_000_000));
        }
    }

    #[tokio::test]
    async fn a_receiver_that_does_not_read_leaves_few_segments_with_their_ranks_decided() {
        let listener = TcpSocket::new_v4().unwrap();
        listener.set_recv_buffer_size(4096).unwrap();
        listener.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let listener = listener.listen(1).unwrap();
        let SocketAddr::V4(address) = listener.local_addr().unwrap() else {
            panic!("not an IPv4 address")
        };
        let flow = TcpFlow {
            flow: 1,
            src: None,
            dst: *address.ip(),
            port: address.port(),
            size_bytes: 1_000_000,
            start_s: 0.0,
            tos: Tos::Fixed(8),
        };
        let stream = open(&flow, "cubic").await.unwrap();
        let mut accepted = 0;
        let segment = [0; SEGMENT_BYTES as usize];
        let endless = async {
            loop {
                accepted += write_apart(&stream, &segment).await.unwrap();
            }
        };
        let _: Result<(), _> = tokio::time::timeout(Duration::from_millis(300), endless).await;
        // At most the receiver's buffer, which the kernel doubles, the 2 segments that may wait unsent, and the segment
        // that exceeded that limit. If segments were joined, it would be 64 kB.
        assert!((1..=2 * 4096 + 3 * 1448).contains(&accepted), "{accepted} bytes");
    }

    #[tokio::test]
    async fn a_flow_to_nobody_says_so() {
        let port = std::net::TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let flow = TcpFlow {
            flow: 1,
            src: None,
            dst: Ipv4Addr::LOCALHOST,
            port,
            size_bytes: 10,
            start_s: 0.0,
            tos: Tos::Fixed(8),
        };
        let outcomes = send(&[flow], "cubic", Opening::AtStart, Duration::from_secs(1))
            .await
            .unwrap();
        assert!(!outcomes[0].completed && outcomes[0].error.as_deref().unwrap().contains("refused"));
        let error = all_connected(&outcomes).unwrap_err().to_string();
        assert!(
            error.starts_with("1 of 1 flows could not connect; flow 1: Connection refused"),
            "{error}"
        );
    }
}
