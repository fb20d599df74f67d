//! A network in virtual time as its clients see it: P4Runtime, traffic, lock step.

use std::time::Duration;

use crate::lab::{Lab, SECOND, SERVER};
use p4sched_proto::p4sched::v1 as api;
use p4sched_proto::p4sched::v1::run::Program;
use p4sched_proto::p4sched::v1::run_state::Phase;
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(60);
/// A patience longer than a client needs for its next request on a busy machine.
const SHORT_PATIENCE: Duration = Duration::from_millis(400);
const U1: &str = "10.1.1.1";

fn bulk(source: &str, connections: u32, duration_ns: u64) -> Program {
    Program::BulkSend(api::BulkSend {
        source: source.into(),
        destination: SERVER.into(),
        port: 5201,
        connections,
        tos: 40,
        congestion_control: "cubic".into(),
        duration_ns,
        warm_up_ns: SECOND / 2,
    })
}

fn tcp_flows(open_ahead: bool, flows: &Value) -> Program {
    Program::TcpSend(api::TcpSend {
        flows: flows.to_string(),
        congestion_control: "cubic".into(),
        deadline_ns: 10 * SECOND,
        open_ahead,
    })
}

fn serve(flows: u64) -> Program {
    Program::TcpServe(api::TcpServe {
        address: SERVER.into(),
        port: 5001,
        duration_ns: 20 * SECOND,
        flows: Some(flows),
    })
}

fn flow(number: u32, size_bytes: u64, start_s: f64) -> Value {
    json!({
        "flow": number, "src": U1, "dst": SERVER, "port": 5001, "size_bytes": size_bytes, "start_s": start_s,
        "tos": {"remaining": {"largest_bytes": 100_000}},
    })
}

async fn two_seconds_of_cubic() -> (Value, api::PortStats, api::HostCounters) {
    let mut lab = Lab::start("fifo", 50, PATIENCE).await;
    let server = Program::BulkReceive(api::BulkReceive { port: 5201 });
    lab.run("server", "server", 0, server).await.unwrap();
    lab.run("client", "u1", 0, bulk(U1, 1, 3 * SECOND / 2)).await.unwrap();
    assert_eq!(lab.until(2 * SECOND).await.unwrap(), 2 * SECOND);
    let found = (
        lab.report("client").await,
        lab.bottleneck().await,
        lab.counters("u1").await,
    );
    assert_eq!(lab.end().unwrap().now(), 2 * SECOND);
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cubic_flow_fills_its_link_and_two_runs_are_the_same() {
    let (report, bottleneck, counters) = two_seconds_of_cubic().await;
    let received = report["end"]["sum_received"]["bits_per_second"].as_f64().unwrap();
    // 10 Mbit/s of frames, of which 1448 of 1514 bytes are payload. If there is a hole at the end, up to 50 packets,
    // the size of the queue, are not acknowledged yet.
    assert!((9.0e6..9.57e6).contains(&received), "{report}");
    assert!(bottleneck.tx_bytes * 8 > 2 * 9_900_000, "{bottleneck:?}");
    let again = report["end"]["sum_sent"]["retransmits"].as_u64().unwrap();
    let dropped: u64 = bottleneck.queues.iter().map(|queue| queue.dropped_packets).sum();
    assert!(
        dropped > 0 && counters.segments_retransmitted >= again,
        "{bottleneck:?} {counters:?}"
    );
    assert_eq!((counters.frames_unknown, counters.syn_retransmissions), (0, 0));
    let queued: u64 = bottleneck
        .queues
        .iter()
        .map(|queue| u64::from(queue.depth_packets))
        .sum();
    let enqueued: u64 = bottleneck.queues.iter().map(|queue| queue.enqueued_packets).sum();
    let dequeued: u64 = bottleneck.queues.iter().map(|queue| queue.dequeued_packets).sum();
    assert_eq!(enqueued, dequeued + queued);
    // Every packet from u1 was dropped, waits at the bottleneck, is in flight behind it, or has arrived.
    assert!(dequeued - bottleneck.tx_packets < 10 && counters.segments_sent - enqueued - dropped < 10);
    assert_eq!(two_seconds_of_cubic().await, (report, bottleneck, counters));
}

#[tokio::test(flavor = "multi_thread")]
async fn flows_of_given_sizes_complete_in_the_time_that_the_link_takes() {
    for open_ahead in [false, true] {
        let mut lab = Lab::start("fifo", 1000, PATIENCE).await;
        let log = true;
        let observe = api::Observe {
            duration_ns: 9 * SECOND,
            log,
        };
        lab.run("observe", "server", 0, Program::Observe(observe))
            .await
            .unwrap();
        lab.run("serve", "server", 0, serve(2)).await.unwrap();
        let flows = json!([flow(1, 1, 1.0), flow(2, 100_000, 2.0)]);
        lab.run("send", "u1", 0, tcp_flows(open_ahead, &flows)).await.unwrap();
        lab.until(10 * SECOND).await.unwrap();
        let sent = lab.report("send").await;
        assert_eq!(
            sent[1],
            json!({"flow": 2, "size_bytes": 100_000, "completed": true, "retransmitted": 0})
        );
        let served = lab.report("serve").await;
        let fct = |place: usize| served[place]["fct_ns"].as_u64().unwrap();
        // A round trip takes 10 ms, and a byte takes half of it. A handshake takes one round trip before that.
        let ahead = if open_ahead { 0 } else { 10_000_000 };
        assert!((5_000_000..5_500_000).contains(&(fct(0) - ahead)), "{served}");
        // 69 full segments of 1.2 ms and the rest, and at most some round trips of slow start.
        assert!((88_500_000..120_000_000).contains(&(fct(1) - ahead)), "{served}");
        let observed = lab.report("observe").await;
        let segments = observed
            .as_array()
            .unwrap()
            .iter()
            .map(|seen| seen["segments"].as_u64().unwrap());
        assert_eq!(segments.sum::<u64>(), 1 + 70);
        let log = lab.log("observe").await;
        let tos: Vec<u8> = log
            .lines()
            .skip(1)
            .map(|line| line.split(',').nth(3).unwrap().parse().unwrap())
            .collect();
        assert_eq!((tos[1], *tos.last().unwrap()), (252, 0));
        lab.end().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ranked_datagrams_arrive_with_their_ranks_or_are_dropped() {
    let mut lab = Lab::start("fifo", 10, PATIENCE).await;
    let receive = api::UdpReceive {
        address: SERVER.into(),
        ports: vec![5376],
        duration_ns: 3 * SECOND,
        interval_ns: 0,
        log: true,
    };
    lab.run("receive", "server", 0, Program::UdpReceive(receive))
        .await
        .unwrap();
    let flows = json!([{
        "flow": 7, "src": U1, "dst": SERVER, "port": 5376, "rate_bps": 20_000_000, "frame_bytes": 1250,
        "ranks": {"drawn": {"distribution": "uniform", "below": 100}}, "start_s": 0.0, "stop_s": 1.0,
    }]);
    let send = api::UdpSend {
        flows: flows.to_string(),
        seed: 1,
        log: true,
    };
    lab.run("send", "u1", 0, Program::UdpSend(send)).await.unwrap();
    lab.until(4 * SECOND).await.unwrap();
    let (sent, received) = (lab.report("send").await, lab.report("receive").await);
    assert_eq!(
        (&sent[0]["packets"], &sent[0]["rate_bps"]),
        (&json!(2000), &json!(20e6))
    );
    let dropped: u64 = lab
        .bottleneck()
        .await
        .queues
        .iter()
        .map(|queue| queue.dropped_packets)
        .sum();
    assert_eq!(received[0]["packets"].as_u64().unwrap() + dropped, 2000);
    // A queue of 10 packets, the packet that is being sent, and 5 ms.
    assert!(received[0]["delay_max_ns"].as_u64().unwrap() < 17_000_000, "{received}");
    let (all, arrived) = (lab.log("send").await, lab.log("receive").await);
    let all: Vec<&str> = all.lines().collect();
    let matches = |line: &str| all.iter().any(|sent| line.starts_with(sent));
    assert!(arrived.lines().skip(1).all(matches));
    lab.end().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_probe_shows_what_arrived_and_when() {
    let mut lab = Lab::start("fifo", 10, PATIENCE).await;
    let receive = Program::ProbeReceive(api::ProbeReceive { port: 7000 });
    lab.run("receive", "server", 0, receive).await.unwrap();
    let send = api::ProbeSend {
        source: U1.into(),
        destination: SERVER.into(),
        port: 7000,
        packets_per_s: 1000.0,
    };
    lab.run("send", "u1", SECOND, Program::ProbeSend(send)).await.unwrap();
    lab.until(2 * SECOND).await.unwrap();
    lab.simulation
        .stop_traffic(api::StopTrafficRequest { names: vec![] })
        .await
        .unwrap();
    assert_eq!(lab.report("send").await, json!(1001));
    let arrivals = lab.report("receive").await;
    let arrivals = arrivals.as_array().unwrap();
    // 5 ms, and the time of 106 bytes at 10 Mbit/s, before the end.
    assert_eq!(arrivals.len(), 995);
    assert_eq!(arrivals[0][1], json!(1.0));
    assert!(
        (arrivals[0][2].as_f64().unwrap() - 1.005_084_8).abs() < 1e-6,
        "{}",
        arrivals[0]
    );
    lab.end().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn who_listens_nowhere_refuses_and_what_makes_no_sense_is_refused() {
    let mut lab = Lab::start("fifo", 10, PATIENCE).await;
    lab.run("client", "u1", 0, bulk(U1, 1, SECOND)).await.unwrap();
    lab.run("send", "u1", 0, tcp_flows(false, &json!([flow(1, 1000, 0.0)])))
        .await
        .unwrap();
    lab.until(SECOND).await.unwrap();
    let client = lab.state("client").await;
    assert_eq!(client.phase(), Phase::Failed);
    assert_eq!(
        client.report,
        "{\"error\":\"unable to connect to server: Connection refused\"}\n"
    );
    let send = lab.state("send").await;
    assert_eq!(send.phase(), Phase::Failed);
    assert!(
        send.error
            .starts_with("p4sched-traffic: 1 of 1 flows could not connect; flow 1: Connection refused")
    );
    for (name, host, program, problem) in [
        ("a", "u9", bulk(U1, 1, SECOND), "there is no host 'u9'"),
        (
            "client",
            "u1",
            bulk(U1, 1, SECOND),
            "run 'client' is there already: each has a name of its own",
        ),
        (
            "a",
            "u1",
            bulk("10.1.2.1", 1, SECOND),
            "run 'a': 10.1.2.1 is not an address of this host; it has 10.1.1.1",
        ),
        (
            "a",
            "u1",
            bulk(U1, 0, SECOND),
            "run 'a': 0 connections: there can be 1 to 128",
        ),
        (
            "a",
            "u1",
            tcp_flows(false, &json!([flow(1, 0, 0.0)])),
            "run 'a': flow 1: size_bytes is 0: a flow has at least 1 byte",
        ),
        (
            "a",
            "u1",
            Program::Command(api::Command {
                words: vec!["ls".into()],
            }),
            "run 'a': a model host has no programs, so it cannot run 'ls'; --hosts kernel has them",
        ),
    ] {
        let refused = lab.run(name, host, 0, program).await.unwrap_err();
        assert_eq!(
            (refused.code(), refused.message()),
            (tonic::Code::InvalidArgument, problem)
        );
    }
    lab.end().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_participant_that_falls_silent_ends_the_run_with_a_sentence() {
    let mut lab = Lab::start("fifo", 10, SHORT_PATIENCE).await;
    lab.until(SECOND).await.unwrap();
    let sentence = lab.ended().err().unwrap();
    assert_eq!(
        sentence,
        "1 of 1 participants neither waited nor asked for anything for 0.4 s: the run ends at 1 s of virtual time"
    );
}

/// The report of the lab's controller about its stream with a device.
fn conversation(device_id: u64, to_switch: u64) -> Vec<api::Conversation> {
    vec![api::Conversation {
        device_id,
        election_id_low: 1,
        to_switch,
        ..Default::default()
    }]
}

#[tokio::test(flavor = "multi_thread")]
async fn time_waits_for_what_a_participant_says_it_has_sent() {
    let mut lab = Lab::start("fifo", 10, SHORT_PATIENCE).await;
    lab.conversations = conversation(1, 0);
    assert_eq!(lab.until(SECOND).await.unwrap(), SECOND);
    lab.conversations = conversation(1, 2);
    let error = lab.until(2 * SECOND).await.unwrap_err();
    assert_eq!(
        error.message(),
        "2 messages that a participant says it has sent to device 1 did not arrive within 0.4 s: \
         the run ends at 1 s of virtual time"
    );
    lab.ended().err().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_with_a_switch_of_the_network() {
    let mut lab = Lab::start("fifo", 10, PATIENCE).await;
    lab.conversations = conversation(7, 0);
    let refused = lab.until(SECOND).await.unwrap_err();
    assert_eq!(refused.message(), "there is no switch with the device id 7");
    lab.end().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_waits_for_ever_for_nothing() {
    let mut lab = Lab::start("fifo", 10, SHORT_PATIENCE).await;
    let error = lab.until(u64::MAX).await.unwrap_err();
    assert!(
        error
            .message()
            .starts_with("all participants wait, and nothing will happen"),
        "{error}"
    );
    lab.ended().err().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn virtual_time_ends_before_64_bits_do() {
    let mut lab = Lab::start("fifo", 10, PATIENCE).await;
    let refused = lab.until(u64::MAX - 1).await.unwrap_err();
    assert_eq!(
        refused.message(),
        "until_ns is 18446744073709551614: virtual time ends at 9223372036854775807 ns"
    );
    lab.end().unwrap();
}

/// TOS of the segments that arrive of a flow through a queue of 5 packets, and the number of segments sent again.
async fn tos_of_a_flow_with_losses(rule: Option<api::ResentRank>) -> (Vec<u8>, u64) {
    let mut lab = Lab::start("fifo", 5, PATIENCE).await;
    let settings = api::SetHostsRequest {
        resent_rank: rule.map(Into::into),
        ..api::SetHostsRequest::default()
    };
    lab.simulation.set_hosts(settings).await.unwrap();
    let observe = api::Observe {
        duration_ns: 9 * SECOND,
        log: true,
    };
    lab.run("observe", "server", 0, Program::Observe(observe))
        .await
        .unwrap();
    lab.run("serve", "server", 0, serve(1)).await.unwrap();
    let flows = json!([{
        "flow": 1, "src": U1, "dst": SERVER, "port": 5001, "size_bytes": 300_000, "start_s": 1.0, "tos": {"fixed": 40},
    }]);
    lab.run("send", "u1", 0, tcp_flows(false, &flows)).await.unwrap();
    lab.until(10 * SECOND).await.unwrap();
    let again = lab.report("send").await[0]["retransmitted"].as_u64().unwrap();
    let log = lab.log("observe").await;
    let tos = |line: &str| line.split(',').nth(3).unwrap().parse().unwrap();
    lab.end().unwrap();
    (log.lines().skip(1).map(tos).collect(), again)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rank_of_data_that_is_sent_again_can_be_the_most_urgent() {
    for rule in [None, Some(api::ResentRank::Own), Some(api::ResentRank::Least)] {
        let (tos, again) = tos_of_a_flow_with_losses(rule).await;
        assert!(again > 0 && tos.iter().all(|tos| *tos == 40), "{again} {tos:?}");
    }
    let (tos, again) = tos_of_a_flow_with_losses(Some(api::ResentRank::Urgent)).await;
    let urgent = tos.iter().filter(|tos| **tos == 0).count() as u64;
    // Some of these may be lost once more.
    assert!((1..=again).contains(&urgent), "{urgent} of {again}: {tos:?}");
    assert!(tos.iter().all(|tos| [0, 40].contains(tos)), "{tos:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_rank_of_data_that_is_sent_again_is_refused() {
    let mut lab = Lab::start("fifo", 5, PATIENCE).await;
    for number in [0, 4, -1] {
        let settings = api::SetHostsRequest {
            resent_rank: Some(number),
            ..api::SetHostsRequest::default()
        };
        let refused = lab.simulation.set_hosts(settings).await.unwrap_err();
        assert_eq!(refused.message(), "resent_rank must be OWN, LEAST or URGENT");
    }
    lab.end().unwrap();
}
