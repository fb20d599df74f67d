//! Metrics over HTTP.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use p4sched_p4runtime::serve_metrics;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::update::Type;
use tokio::net::TcpListener;

use crate::server::fixture::{Bench, config, exact, ipv4};
use crate::server::{Controller, Server, start};

/// The head and the body of the answer to a request.
async fn ask(address: SocketAddr, request: &str) -> (String, String) {
    let request = format!("{request} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    let exchange = move || {
        let mut stream = TcpStream::connect(address).expect("the server listens");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers and closes");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head ends with an empty line");
        (head.to_owned(), body.to_owned())
    };
    tokio::task::spawn_blocking(exchange).await.expect("the exchange ends")
}

async fn listening(server: &Server) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has free ports");
    let address = listener.local_addr().expect("it is bound");
    tokio::spawn(serve_metrics(listener, server.handle.clone()));
    address
}

/// The value of a sample.
fn value(text: &str, sample: &str) -> f64 {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
    let line = line.unwrap_or_else(|| panic!("no {sample} in\n{text}"));
    line.parse().expect("a value is a number")
}

#[tokio::test]
async fn frames_drops_tables_and_writes_are_shown() {
    let server = start().await;
    let address = listening(&server).await;
    let (_, text) = ask(address, "GET /metrics").await;
    assert!(!text.contains("p4sched_table_entries{"), "there is no program");

    let mut controller = Controller::with_program(&server, config()).await;
    let bench = Bench::empty();
    let host = Entity::TableEntry(bench.host(2, 2));
    let refused = bench.entry("hosts", vec![exact(1, &[9])], 0, "drop", &[]);
    controller
        .write_one(Type::Insert, host.clone())
        .await
        .expect("it is new");
    let again = controller.write_one(Type::Insert, host).await;
    again.expect_err("it is there");
    let dropped = controller.write_one(Type::Insert, Entity::TableEntry(refused)).await;
    dropped.expect("it is new");
    assert_eq!(server.receive(1, ipv4(2, 1, 9, 6)).len(), 1);
    assert_eq!(server.receive(1, ipv4(9, 1, 9, 6)).len(), 0);

    let (head, text) = ask(address, "GET /metrics").await;
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert!(
        head.contains("content-type: application/openmetrics-text; version=1.0.0; charset=utf-8"),
        "{head}"
    );
    assert!(text.ends_with("\n# EOF\n"));
    let hosts = "{table=\"EverythingIngress.hosts\"}";
    assert_eq!(value(&text, &format!("p4sched_table_entries{hosts}")), 2.0);
    assert_eq!(value(&text, &format!("p4sched_table_size{hosts}")), 16.0);
    assert_eq!(value(&text, "p4sched_updates_total{result=\"applied\"}"), 2.0);
    assert_eq!(value(&text, "p4sched_updates_total{result=\"refused\"}"), 1.0);
    let sent = (0..8).map(|queue| {
        let labels = format!("port=\"2\",interface=\"eth2\",queue=\"{queue}\"");
        value(&text, &format!("p4sched_queue_sent_packets_total{{{labels}}}"))
    });
    assert_eq!(sent.sum::<f64>(), 1.0);
    let dropped = |reason: &str| value(&text, &format!("p4sched_dropped_packets_total{{reason=\"{reason}\"}}"));
    assert_eq!((dropped("ingress"), dropped("queue_full")), (1.0, 0.0));
    assert_eq!(value(&text, "p4sched_lateness_seconds_count"), 0.0);
}

#[tokio::test]
async fn only_get_of_metrics_is_answered() {
    let server = start().await;
    let address = listening(&server).await;
    let (head, body) = ask(address, "GET /").await;
    assert!(head.starts_with("HTTP/1.1 404"), "{head}");
    assert_eq!(body, "the metrics are at /metrics\n");
    let (head, _) = ask(address, "DELETE /metrics").await;
    assert!(head.starts_with("HTTP/1.1 405"), "{head}");
    let (head, body) = ask(address, "HEAD /metrics").await;
    assert!(head.starts_with("HTTP/1.1 200") && body.is_empty(), "{head}");
    let (head, _) = ask(address, "nonsense").await;
    assert!(head.starts_with("HTTP/1.1 400"), "{head}");
}
