//! Complete requests over loopback, from a gRPC client.

use crate::server::fixture::{Bench, config, update};
use crate::server::{Controller, error_codes, start};
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::get_forwarding_pipeline_config_request::ResponseType;
use p4sched_proto::p4::v1::p4_runtime_client::P4RuntimeClient;
use p4sched_proto::p4::v1::set_forwarding_pipeline_config_request::Action;
use p4sched_proto::p4::v1::stream_message_request::Update;
use p4sched_proto::p4::v1::stream_message_response::Update as Response;
use p4sched_proto::p4::v1::update::Type;
use p4sched_proto::p4sched::v1 as tm;
use p4sched_proto::p4sched::v1::traffic_manager_client::TrafficManagerClient;
use tokio_stream::StreamExt as _;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Code, Request, Status};

fn arrivals() -> Entity {
    Entity::CounterEntry(p4rt::CounterEntry::default())
}

#[tokio::test]
async fn a_controller_loads_a_program_writes_and_reads() {
    let server = start().await;
    let mut controller = Controller::connect(&server, 1).await;
    assert_eq!(controller.arbitration().await, Code::Ok);
    let before = controller.write(vec![]).await.expect_err("no program yet");
    assert_eq!(before.code(), Code::FailedPrecondition);
    assert_eq!(controller.get_pipeline(ResponseType::All).await, None);
    controller
        .set_pipeline(Action::VerifyAndCommit, Some(config()))
        .await
        .expect("the program loads");

    let bench = Bench::empty();
    let updates = vec![
        update(Type::Insert, Entity::TableEntry(bench.host(1, 1))),
        update(Type::Insert, Entity::TableEntry(bench.host(1, 1))),
        update(Type::Insert, Entity::TableEntry(bench.host(2, 1))),
    ];
    let status = controller
        .write(updates)
        .await
        .expect_err("the second is there already");
    assert_eq!(
        (status.code(), error_codes(&status)),
        (Code::Unknown, vec![0, Code::AlreadyExists as i32, 0])
    );

    let hosts = Entity::TableEntry(p4rt::TableEntry {
        table_id: bench.table("hosts"),
        ..Default::default()
    });
    let unknown = Entity::TableEntry(p4rt::TableEntry {
        table_id: 0x0200_0001,
        ..Default::default()
    });
    let (found, result) = controller.read(vec![hosts, unknown, arrivals()]).await;
    assert_eq!(found.len(), 2 + 8, "valid reads are answered");
    let status = result.expect_err("one read is not valid");
    assert_eq!(
        (status.code(), error_codes(&status)),
        (Code::Unknown, vec![0, Code::InvalidArgument as i32, 0])
    );
}

#[tokio::test]
async fn the_configuration_is_returned_in_the_parts_asked_for() {
    let server = start().await;
    let mut controller = Controller::connect(&server, 1).await;
    controller.arbitration().await;
    controller
        .set_pipeline(Action::Verify, Some(config()))
        .await
        .expect("the program is valid");
    assert_eq!(
        controller.get_pipeline(ResponseType::All).await,
        None,
        "VERIFY changes nothing"
    );
    controller
        .set_pipeline(Action::VerifyAndSave, Some(config()))
        .await
        .expect("the program is valid");
    controller
        .set_pipeline(Action::Commit, None)
        .await
        .expect("a program is saved");
    assert_eq!(controller.get_pipeline(ResponseType::All).await, Some(config()));
    let parts = [
        (ResponseType::CookieOnly, false, false),
        (ResponseType::P4infoAndCookie, true, false),
        (ResponseType::DeviceConfigAndCookie, false, true),
    ];
    for (wanted, p4info, program) in parts {
        let part = controller.get_pipeline(wanted).await.expect("a program is loaded");
        let got = (
            part.p4info.is_some(),
            !part.p4_device_config.is_empty(),
            part.cookie.map(|cookie| cookie.cookie),
        );
        assert_eq!(got, (p4info, program, Some(42)), "{wanted:?}");
    }
    let cases = [
        (Action::Commit, None, Code::NotFound),
        (Action::Commit, Some(config()), Code::InvalidArgument),
        (Action::Verify, None, Code::InvalidArgument),
        (Action::Unspecified, Some(config()), Code::InvalidArgument),
        (
            Action::VerifyAndCommit,
            Some(p4rt::ForwardingPipelineConfig::default()),
            Code::InvalidArgument,
        ),
    ];
    for (action, config, expected) in cases {
        let status = controller
            .set_pipeline(action, config)
            .await
            .expect_err("it is not valid");
        assert_eq!(status.code(), expected, "{action:?}: {}", status.message());
    }
    assert_eq!(
        controller.get_pipeline(ResponseType::All).await,
        Some(config()),
        "the old program stays"
    );
}

#[tokio::test]
async fn a_second_controller_takes_over_when_the_first_goes() {
    let server = start().await;
    let mut first = Controller::connect(&server, 1).await;
    assert_eq!(first.arbitration().await, Code::Ok);
    first
        .set_pipeline(Action::VerifyAndCommit, Some(config()))
        .await
        .expect("the program loads");
    let mut second = Controller::connect(&server, 2).await;
    assert_eq!(second.arbitration().await, Code::Ok);
    assert_eq!(first.arbitration().await, Code::AlreadyExists);
    let refused = first.write(vec![]).await.expect_err("it is backup");
    assert_eq!(refused.code(), Code::PermissionDenied);
    second.write(vec![]).await.expect("it is primary");
    drop(second);
    assert_eq!(first.arbitration().await, Code::NotFound, "there is no primary now");
    let again = p4rt::MasterArbitrationUpdate {
        device_id: 1,
        election_id: Some(p4rt::Uint128 { high: 1, low: 0 }),
        ..Default::default()
    };
    first.send(Update::Arbitration(again)).await;
    assert_eq!(first.arbitration().await, Code::Ok);
    assert!(
        first.get_pipeline(ResponseType::CookieOnly).await.is_some(),
        "the program outlives its controller"
    );
}

#[tokio::test]
async fn a_stream_ends_with_the_status_of_a_bad_arbitration() {
    let server = start().await;
    let mut first = Controller::connect(&server, 1).await;
    first.arbitration().await;
    let mut second = Controller::connect(&server, 1).await;
    let status = second.next().await.expect_err("the election id is in use");
    assert_eq!(status.code(), Code::InvalidArgument);
    first
        .write(vec![])
        .await
        .expect_err("no program, but the first controller is still primary");
}

#[tokio::test]
async fn stream_errors_name_what_caused_them() {
    let server = start().await;
    let mut primary = Controller::connect(&server, 2).await;
    primary.arbitration().await;
    primary
        .set_pipeline(Action::VerifyAndCommit, Some(config()))
        .await
        .expect("the program loads");
    let packet = p4rt::PacketOut {
        payload: vec![0; 60],
        metadata: vec![],
    };
    primary.send(Update::Packet(packet.clone())).await;
    let Ok(Response::Error(error)) = primary.next().await else {
        panic!("an error is reported")
    };
    let details = p4rt::stream_error::Details::PacketOut(p4rt::PacketOutError {
        packet_out: Some(packet.clone()),
    });
    assert_eq!(
        (error.canonical_code, error.details),
        (Code::InvalidArgument as i32, Some(details))
    );
    primary
        .send(Update::DigestAck(p4rt::DigestListAck {
            digest_id: 1,
            list_id: 1,
        }))
        .await;
    let Ok(Response::Error(error)) = primary.next().await else {
        panic!("an error is reported")
    };
    assert_eq!(error.canonical_code, Code::InvalidArgument as i32);

    let mut backup = Controller::connect(&server, 1).await;
    backup.arbitration().await;
    backup.send(Update::Packet(packet)).await;
    let Ok(Response::Error(error)) = backup.next().await else {
        panic!("an error is reported")
    };
    assert_eq!(error.canonical_code, Code::PermissionDenied as i32);
}

#[tokio::test]
async fn an_empty_stream_message_is_ignored() {
    let server = start().await;
    let mut controller = Controller::connect(&server, 1).await;
    let empty = p4rt::StreamMessageRequest { update: None };
    controller
        .requests
        .send(empty.clone())
        .await
        .expect("the stream is open");
    assert_eq!(controller.arbitration().await, Code::Ok, "it is the first answer");
    controller.requests.send(empty).await.expect("the stream is open");
    controller.send(Update::Packet(p4rt::PacketOut::default())).await;
    let Ok(Response::Error(error)) = controller.next().await else {
        panic!("the stream goes on, and the packet is answered")
    };
    assert_eq!(error.canonical_code, Code::FailedPrecondition as i32, "no program");
}

#[tokio::test]
async fn a_controller_whose_stream_was_ended_is_primary_no_longer() {
    let server = start().await;
    let mut controller = Controller::connect(&server, 1).await;
    assert_eq!(controller.arbitration().await, Code::Ok);
    let elsewhere = p4rt::MasterArbitrationUpdate {
        device_id: 2,
        ..Default::default()
    };
    controller.send(Update::Arbitration(elsewhere)).await;
    let status = controller.next().await.expect_err("the stream is for another device");
    assert_eq!(status.code(), Code::FailedPrecondition);
    let mut next = Controller::connect(&server, 1).await;
    assert_eq!(next.arbitration().await, Code::Ok, "its election id is free again");
}

#[tokio::test]
async fn bytes_that_are_no_stream_message_end_the_stream_with_an_error() {
    let server = start().await;
    let channel = Channel::from_shared(server.address.clone()).expect("an address");
    let channel = channel.connect().await.expect("the server listens");
    let mut client = tonic::client::Grpc::new(channel);
    client.ready().await.expect("it is connected");
    let path = PathAndQuery::from_static("/p4.v1.P4Runtime/StreamChannel");
    // Field 1 has the length 100, but no bytes follow.
    let messages = tokio_stream::iter([vec![0x0a, 100]]).chain(tokio_stream::pending());
    let response = client
        .streaming(Request::new(messages), path, Raw)
        .await
        .expect("the stream opens");
    let status = response.into_inner().message().await.expect_err("it cannot be decoded");
    assert_eq!(status.code(), Code::Internal, "{status:?}");
}

/// A codec that sends raw bytes and does not decode answers.
#[derive(Default)]
struct Raw;

impl Codec for Raw {
    type Encode = Vec<u8>;
    type Decode = ();
    type Encoder = Raw;
    type Decoder = Raw;

    fn encoder(&mut self) -> Raw {
        Raw
    }

    fn decoder(&mut self) -> Raw {
        Raw
    }
}

impl Encoder for Raw {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, bytes: Vec<u8>, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        prost::bytes::BufMut::put_slice(buffer, &bytes);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = ();
    type Error = Status;

    fn decode(&mut self, _buffer: &mut DecodeBuf<'_>) -> Result<Option<()>, Status> {
        Ok(Some(()))
    }
}

#[tokio::test]
async fn requests_for_another_device_are_not_found() {
    let server = start().await;
    let mut client = P4RuntimeClient::connect(server.address.clone())
        .await
        .expect("the server listens");
    let read = client
        .read(p4rt::ReadRequest {
            device_id: 2,
            ..Default::default()
        })
        .await
        .map(|_| ());
    let write = client
        .write(p4rt::WriteRequest {
            device_id: 2,
            ..Default::default()
        })
        .await
        .map(|_| ());
    let get = p4rt::GetForwardingPipelineConfigRequest {
        device_id: 2,
        ..Default::default()
    };
    let get = client.get_forwarding_pipeline_config(get).await.map(|_| ());
    let capabilities = client
        .capabilities(p4rt::CapabilitiesRequest { device_id: 2 })
        .await
        .map(|_| ());
    for result in [read, write, get, capabilities] {
        assert_eq!(result.map_err(|status| status.code()), Err(Code::NotFound));
    }
    let capabilities = client
        .capabilities(p4rt::CapabilitiesRequest { device_id: 0 })
        .await
        .expect("server-wide");
    assert_eq!(capabilities.into_inner().p4runtime_api_version, "1.5.0");
}

#[tokio::test]
async fn a_long_read_comes_in_several_messages() {
    let server = start().await;
    let mut controller = Controller::connect(&server, 1).await;
    controller.arbitration().await;
    controller
        .set_pipeline(Action::VerifyAndCommit, Some(config()))
        .await
        .expect("the program loads");
    let register = p4rt::RegisterEntry {
        register_id: Bench::empty().register("queue_depths"),
        ..Default::default()
    };
    let (found, result) = controller.read(vec![Entity::RegisterEntry(register)]).await;
    result.expect("the register is known");
    assert_eq!(found.len(), 4096);
}

#[tokio::test]
async fn the_traffic_manager_answers_on_the_same_port() {
    let server = start().await;
    let mut client = TrafficManagerClient::connect(server.address.clone())
        .await
        .expect("the server listens");
    let port = tm::PortConfig {
        port: 2,
        rate_bps: Some(500_000_000),
        delay_ns: Some(5_000_000),
        ..Default::default()
    };
    client
        .set_ports(tm::SetPortsRequest {
            ports: vec![port],
            memory: None,
        })
        .await
        .expect("port 2 exists");
    let ports = client
        .get_ports(tm::GetPortsRequest { ports: vec![2] })
        .await
        .expect("port 2 exists")
        .into_inner()
        .ports;
    assert_eq!(
        (ports[0].rate_bps, ports[0].delay_ns),
        (Some(500_000_000), Some(5_000_000))
    );
    let stats = client
        .get_stats(tm::GetStatsRequest::default())
        .await
        .expect("all ports")
        .into_inner();
    assert_eq!(stats.ports.iter().map(|port| port.port).collect::<Vec<_>>(), [1, 2, 3]);
    let unknown = client
        .get_ports(tm::GetPortsRequest { ports: vec![4] })
        .await
        .expect_err("there is no port 4");
    assert_eq!(
        (unknown.code(), unknown.message()),
        (Code::NotFound, "no port 4; this switch has 1, 2, 3")
    );
    client
        .get_fidelity(tm::GetFidelityRequest { reset: true })
        .await
        .expect("it is always known");
}

#[tokio::test]
async fn snapshots_come_by_themselves_or_one_at_a_time() {
    let server = start().await;
    let mut client = TrafficManagerClient::connect(server.address.clone())
        .await
        .expect("the server listens");
    let of = |interval_ns| tm::WatchRequest {
        interval_ns,
        ports: vec![2],
        ..Default::default()
    };
    let mut one = client.watch(of(0)).await.expect("port 2 exists").into_inner();
    let first = one.message().await.expect("no error").expect("one snapshot");
    assert_eq!(first.lengths, [0; 8]);
    assert_eq!(one.message().await.expect("no error"), None);
    let mut many = client.watch(of(1_000_000)).await.expect("port 2 exists").into_inner();
    let mut before = first.now_ns;
    for _ in 0..3 {
        let next = many.message().await.expect("no error").expect("another one");
        assert!(next.now_ns > before);
        before = next.now_ns;
    }
    let unknown = tm::WatchRequest {
        ports: vec![4],
        ..of(1_000_000)
    };
    let refused = [unknown, of(1)];
    let mut codes = Vec::new();
    for request in refused {
        codes.push(client.watch(request).await.expect_err("it makes no sense").code());
    }
    assert_eq!(codes, [Code::NotFound, Code::InvalidArgument]);
}
