//! Measures how fast a P4Runtime client inserts table entries into a switch without a program.
//!
//!     cargo bench --workspace --bench writes -- ADDRESS JSON P4INFO TABLE ENTRIES BATCH
//!
//! Loads `large.p4` and inserts ENTRIES entries into one of its tables, BATCH in each request, one request after the
//! other. Prints the duration of the requests in seconds, as JSON. The time for making the requests is not included.

use std::time::{Duration, Instant, SystemTime};
use std::{env, fs};

use p4sched_proto::DESCRIPTORS;
use p4sched_proto::p4::config::v1::P4Info;
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::action::Param;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::field_match::{Exact, FieldMatchType, Lpm, Range, Ternary};
use p4sched_proto::p4::v1::p4_runtime_client::P4RuntimeClient;
use p4sched_proto::p4::v1::set_forwarding_pipeline_config_request::Action;
use p4sched_proto::p4::v1::stream_message_request::Update as Request;
use p4sched_proto::p4::v1::table_action::Type as ActionKind;
use p4sched_proto::p4::v1::update::Type;
use prost::Message as _;
use prost::bytes::Bytes;
use prost_reflect::DynamicMessage;
use tokio::net::TcpStream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::{Channel, Endpoint};

const DEVICE_ID: u64 = 1;
/// Size of a message's head: a compression flag and the length.
const MESSAGE_HEAD_BYTES: usize = 5;
/// Larger than gRPC's 4 MiB: a batch of 10,000 entries and the program need more.
const MAX_MESSAGE_BYTES: usize = 256 << 20;

type Failure = Box<dyn std::error::Error>;

/// Identifiers of objects in P4Info.
struct Ids {
    table: u32,
    forward: u32,
}

/// Canonical bytes: no leading zeros.
fn bytes(value: u32) -> Vec<u8> {
    let bytes = value.to_be_bytes();
    bytes[(value.leading_zeros() as usize / 8).min(3)..].to_vec()
}

/// Spreads numbers over all values. Different numbers get different values.
fn spread(number: u32) -> u32 {
    number.wrapping_mul(0x9e37_79b1)
}

fn field(id: u32, kind: FieldMatchType) -> p4rt::FieldMatch {
    p4rt::FieldMatch {
        field_id: id,
        field_match_type: Some(kind),
    }
}

/// The key and priority of an entry.
fn key(table: &str, number: u32) -> (Vec<p4rt::FieldMatch>, i32) {
    match table {
        "exact_flows" => (
            vec![field(
                1,
                FieldMatchType::Exact(Exact {
                    value: bytes(spread(number)),
                }),
            )],
            0,
        ),
        "prefixes" => {
            // 2^20 prefixes: half have 24 bits, the others 20 to 32, similar to the tables of Internet routers.
            let length = if number.is_multiple_of(2) {
                24
            } else {
                20 + (number / 2 % 13).cast_signed()
            };
            let value = bytes(spread(number) >> (32 - length) << (32 - length));
            (
                vec![field(
                    1,
                    FieldMatchType::Lpm(Lpm {
                        value,
                        prefix_len: length,
                    }),
                )],
                0,
            )
        }
        _ => {
            // 16 masks of the destination.
            let mask = u32::MAX << (number % 16);
            let value = bytes(spread(number) & mask);
            let ternary = FieldMatchType::Ternary(Ternary {
                value,
                mask: bytes(mask),
            });
            let range = FieldMatchType::Range(Range {
                low: bytes(1024),
                high: bytes(2048 + number % 60000),
            });
            (vec![field(2, ternary), field(3, range)], (1 + number).cast_signed())
        }
    }
}

fn insert(ids: &Ids, table: &str, number: u32) -> p4rt::Update {
    let (r#match, priority) = key(table, number);
    let port = Param {
        param_id: 1,
        value: bytes(number % 511),
    };
    let action = p4rt::Action {
        action_id: ids.forward,
        params: vec![port],
    };
    let entry = p4rt::TableEntry {
        table_id: ids.table,
        r#match,
        priority,
        action: Some(p4rt::TableAction {
            r#type: Some(ActionKind::Action(action)),
        }),
        ..p4rt::TableEntry::default()
    };
    p4rt::Update {
        r#type: Type::Insert.into(),
        entity: Some(p4rt::Entity {
            entity: Some(Entity::TableEntry(entry)),
        }),
    }
}

fn read_p4info(path: &str) -> Result<P4Info, Failure> {
    let descriptor = DESCRIPTORS
        .get_message_by_name("p4.config.v1.P4Info")
        .ok_or("no P4Info")?;
    Ok(DynamicMessage::parse_text_format(descriptor, &fs::read_to_string(path)?)?.transcode_to()?)
}

fn ids(p4info: &P4Info, table: &str) -> Result<Ids, Failure> {
    let table = p4info
        .tables
        .iter()
        .filter_map(|found| found.preamble.as_ref())
        .find(|found| found.alias == table);
    let forward = p4info
        .actions
        .iter()
        .filter_map(|found| found.preamble.as_ref())
        .find(|found| found.alias == "forward");
    Ok(Ids {
        table: table.ok_or("no such table")?.id,
        forward: forward.ok_or("no action 'forward'")?.id,
    })
}

/// Becomes the primary controller. The stream stays open until the sender is dropped.
async fn become_primary(
    client: &mut P4RuntimeClient<Channel>,
) -> Result<(p4rt::Uint128, tokio::sync::mpsc::Sender<p4rt::StreamMessageRequest>), Failure> {
    let low = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_micros() as u64;
    let election_id = p4rt::Uint128 { high: 0, low };
    let update = p4rt::MasterArbitrationUpdate {
        device_id: DEVICE_ID,
        election_id: Some(election_id),
        ..p4rt::MasterArbitrationUpdate::default()
    };
    let (requests, outgoing) = tokio::sync::mpsc::channel(4);
    let update = Some(Request::Arbitration(update));
    requests.send(p4rt::StreamMessageRequest { update }).await?;
    let mut responses = client.stream_channel(ReceiverStream::new(outgoing)).await?.into_inner();
    responses.message().await?.ok_or("the switch closed the stream")?;
    tokio::spawn(async move { while let Ok(Some(_)) = responses.message().await {} });
    Ok((election_id, requests))
}

/// Sends requests with as little work as gRPC allows, so that the benchmark measures the switch and not the client.
/// Like gRPC's own libraries, it sends head and message in one segment; tonic's client sends them one after the other.
struct Writer {
    requests: h2::client::SendRequest<Bytes>,
    uri: http::Uri,
}

impl Writer {
    async fn connect(address: &str) -> Result<Writer, Failure> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (requests, connection) = h2::client::handshake(stream).await?;
        tokio::spawn(connection);
        let uri = format!("http://{address}/p4.v1.P4Runtime/Write").parse()?;
        Ok(Writer { requests, uri })
    }

    async fn write(&mut self, request: &p4rt::WriteRequest) -> Result<(), Failure> {
        let mut message = vec![0; MESSAGE_HEAD_BYTES];
        request.encode(&mut message)?;
        let length = u32::try_from(message.len() - MESSAGE_HEAD_BYTES)?;
        message[1..MESSAGE_HEAD_BYTES].copy_from_slice(&length.to_be_bytes());
        let head = http::Request::post(self.uri.clone())
            .header("te", "trailers")
            .header("content-type", "application/grpc")
            .body(())?;
        std::future::poll_fn(|context| self.requests.poll_ready(context)).await?;
        let (response, mut body) = self.requests.send_request(head, false)?;
        body.send_data(message.into(), true)?;
        let (head, mut body) = response.await?.into_parts();
        while let Some(data) = body.data().await {
            body.flow_control().release_capacity(data?.len())?;
        }
        // A response without a message has its status in the head.
        let trailers = body.trailers().await?.unwrap_or(head.headers);
        match trailers.get("grpc-status") {
            Some(status) if status == "0" => Ok(()),
            _ => Err(format!("the switch refuses a request: {trailers:?}").into()),
        }
    }
}

async fn run(arguments: &[String]) -> Result<(), Failure> {
    let [address, json, p4info, table, entries, batch] = arguments else {
        return Err("give ADDRESS JSON P4INFO TABLE ENTRIES BATCH".into());
    };
    let (entries, batch): (u32, u32) = (entries.parse()?, batch.parse()?);
    let p4info = read_p4info(p4info)?;
    let ids = ids(&p4info, table)?;
    let channel = Endpoint::from_shared(format!("http://{address}"))?
        .tcp_nodelay(true)
        .connect()
        .await?;
    let mut client = P4RuntimeClient::new(channel).max_encoding_message_size(MAX_MESSAGE_BYTES);
    let (election_id, _stream) = become_primary(&mut client).await?;
    let config = p4rt::ForwardingPipelineConfig {
        p4info: Some(p4info),
        p4_device_config: fs::read(json)?,
        cookie: None,
    };
    let request = p4rt::SetForwardingPipelineConfigRequest {
        device_id: DEVICE_ID,
        election_id: Some(election_id),
        action: Action::VerifyAndCommit.into(),
        config: Some(config),
        ..p4rt::SetForwardingPipelineConfigRequest::default()
    };
    client.set_forwarding_pipeline_config(request).await?;
    let mut writer = Writer::connect(address).await?;
    let mut taken = Duration::ZERO;
    let mut longest = Duration::ZERO;
    for first in (0..entries).step_by(batch.max(1) as usize) {
        let updates = (first..entries.min(first + batch)).map(|number| insert(&ids, table, number));
        let request = p4rt::WriteRequest {
            device_id: DEVICE_ID,
            election_id: Some(election_id),
            updates: updates.collect(),
            ..p4rt::WriteRequest::default()
        };
        let began = Instant::now();
        writer.write(&request).await?;
        let needed = began.elapsed();
        taken += needed;
        longest = longest.max(needed);
    }
    println!(
        "{{\"entries\": {entries}, \"batch\": {batch}, \"seconds\": {}, \"longest_s\": {}}}",
        taken.as_secs_f64(),
        longest.as_secs_f64()
    );
    Ok(())
}

fn main() -> Result<(), Failure> {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(run(&arguments))
}
