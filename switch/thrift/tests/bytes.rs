//! Invalid input ends at most its own connection.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use crate::common::{Bench, CXT, JSON, Wires, text};
use p4sched_p4runtime::{DeviceHandle, Job};
use p4sched_thrift::answer::Failure;
use p4sched_thrift::protocol::{DecodeError, Message, MessageKind, encode, parse};
use p4sched_thrift::value::{Value, kind};
use p4sched_thrift::{Identity, Log, serve};
use proptest::prelude::*;

fn call(name: &str, args: Vec<Value>) -> Vec<u8> {
    encode(&Message {
        kind: MessageKind::Call,
        name: name.to_owned(),
        sequence: 7,
        fields: (1..).zip(args).collect(),
    })
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::Bool),
        any::<i32>().prop_map(Value::I32),
        any::<i64>().prop_map(Value::I64),
        prop::collection::vec(any::<u8>(), 0..20).prop_map(Value::String),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop::collection::vec((any::<i16>(), inner), 0..4).prop_map(Value::Struct)
    })
}

/// Checks the decoder: bytes are a message that encodes to the same bytes, or the start of a message, or invalid.
fn is_judged(bytes: &[u8]) -> Result<(), TestCaseError> {
    match parse(bytes) {
        Ok((message, used)) => {
            prop_assert!(used <= bytes.len());
            let written = encode(&message);
            prop_assert_eq!(parse(&written), Ok((message, written.len())));
        }
        Err(DecodeError::Incomplete(needed)) => prop_assert!(needed > bytes.len()),
        Err(DecodeError::Malformed(reason)) => prop_assert!(!reason.is_empty()),
    }
    Ok(())
}

proptest! {
    #[test]
    fn random_bytes_are_judged(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        is_judged(&bytes)?;
    }

    #[test]
    fn random_bytes_behind_a_header_are_judged(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut message = call("standard:bm_mt_add_entry", Vec::new());
        message.pop();
        message.extend(bytes);
        is_judged(&message)?;
    }

    #[test]
    fn a_message_is_read_as_it_was_written(values in prop::collection::vec(value(), 0..5), cut in any::<prop::sample::Index>()) {
        let bytes = call("standard:x", values);
        let (message, used) = parse(&bytes).expect("it is a message");
        prop_assert_eq!(used, bytes.len());
        prop_assert_eq!(encode(&message), bytes.clone());
        let front = &bytes[..cut.index(bytes.len())];
        prop_assert!(matches!(parse(front), Err(DecodeError::Incomplete(needed)) if needed <= bytes.len()));
    }
}

proptest! {
    // The number of cases is small because each one loads a program.
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn after_any_arguments_the_next_call_is_answered(
        method in prop::sample::select(METHODS),
        values in prop::collection::vec(value(), 0..6),
    ) {
        let mut bench = Bench::new();
        let first = bench.call(method, &values);
        prop_assert!(!matches!(first, Err(Failure::UnknownMethod | Failure::NoProgram)), "{method}: {first:?}");
        prop_assert_eq!(bench.done("bm_get_config", &[CXT]), Value::String(JSON.to_vec()));
    }
}

const METHODS: &[&str] = &[
    "bm_mt_add_entry",
    "bm_mt_indirect_add_entry",
    "bm_mt_get_entry_from_key",
    "bm_mt_act_prof_add_member",
    "bm_mt_set_meter_rates",
    "bm_meter_set_rates",
    "bm_register_write_range",
    "bm_set_crc32_custom_parameters",
    "bm_parse_vset_add",
    "bm_dev_mgr_add_port",
    "simple_pre_lag:bm_mc_node_create",
    "simple_pre_lag:bm_mc_set_lag_membership",
    "simple_switch:mirroring_session_add",
    "simple_switch:set_egress_priority_queue_rate",
];

#[test]
fn what_a_message_declares_is_bounded_before_it_comes() {
    let header = |count: i32| {
        let mut message = call("standard:x", Vec::new());
        message.pop();
        message.extend([kind::LIST, 0, 1, kind::BOOL]);
        message.extend(count.to_be_bytes());
        message
    };
    for count in [i32::MAX, -1, 1 << 24] {
        assert!(
            matches!(parse(&header(count)), Err(DecodeError::Malformed(_))),
            "{count}"
        );
    }
    let mut long = call("standard:x", Vec::new());
    long.pop();
    long.extend([kind::STRING, 0, 1]);
    long.extend((1_i32 << 30).to_be_bytes());
    assert!(matches!(parse(&long), Err(DecodeError::Malformed(_))));
    let mut deep = call("standard:x", Vec::new());
    deep.pop();
    deep.extend([kind::STRUCT, 0, 1].repeat(1000));
    assert!(matches!(parse(&deep), Err(DecodeError::Malformed(_))));
}

/// Starts a server with its device on a thread. Returns its address and the lines of its log.
fn server() -> (SocketAddr, Arc<Mutex<Vec<String>>>, tokio::runtime::Runtime) {
    let (jobs, waiting) = mpsc::channel::<Job>();
    std::thread::spawn(move || {
        let (mut device, mut wires) = (crate::common::device(), Wires::default());
        while let Ok(job) = waiting.recv() {
            job(&mut device, &mut wires, 0);
        }
    });
    let lines = Arc::new(Mutex::new(Vec::new()));
    let log: Log = {
        let lines = Arc::clone(&lines);
        Arc::new(move |line| lines.lock().expect("no thread failed").push(line.to_owned()))
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build();
    let runtime = runtime.expect("a runtime");
    let listener = runtime
        .block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))
        .expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let identity = Identity {
        device_id: 3,
        thrift_port: address.port(),
        swap: true,
    };
    runtime.spawn(serve(listener, identity, DeviceHandle::new(jobs, Arc::new(|| {})), log));
    (address, lines, runtime)
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("it listens");
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .expect("a timeout");
    stream
}

/// The next answer.
fn answer(stream: &mut TcpStream) -> Message {
    let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        match parse(&bytes) {
            Ok((message, _)) => return message,
            Err(DecodeError::Malformed(problem)) => panic!("{problem}"),
            Err(DecodeError::Incomplete(_)) => {
                let count = stream.read(&mut chunk).expect("an answer");
                assert!(count > 0, "disconnected");
                bytes.extend_from_slice(&chunk[..count]);
            }
        }
    }
}

#[test]
fn rubbish_closes_its_connection_and_others_go_on_and_the_log_is_not_filled() {
    let (address, lines, _runtime) = server();
    let mut good = connect(address);
    for rubbish in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        &[0xff; 64],
        &[0x80, 1, 0, 1, 0x7f, 0xff, 0xff, 0xff],
    ] {
        let mut bad = connect(address);
        bad.write_all(rubbish).expect("it is open");
        let mut rest = Vec::new();
        // Unread bytes turn the end of the connection into a reset.
        let _ = bad.read_to_end(&mut rest);
        assert!(rest.is_empty());
    }
    let mut half = connect(address);
    half.write_all(&call("standard:bm_get_config_md5", Vec::new())[..10])
        .expect("it is open");
    half.shutdown(std::net::Shutdown::Write).expect("it is open");
    assert_eq!(half.read(&mut [0; 10]).expect("closed"), 0);
    good.write_all(&call("standard:bm_mgmt_get_info", Vec::new()))
        .expect("it is open");
    let info = answer(&mut good);
    assert_eq!((info.kind, info.sequence), (MessageKind::Reply, 7));
    let lines = lines.lock().expect("no thread failed");
    assert_eq!(lines.len(), 3, "the first, the second, the fourth: {lines:?}");
    assert!(lines.iter().all(|line| line.contains("disconnected: ")), "{lines:?}");
    assert!(lines[2].ends_with("; 4 connections so far"), "{lines:?}");
}

#[test]
fn a_program_comes_in_pieces_and_is_swapped() {
    let (address, _lines, _runtime) = server();
    let mut stream = connect(address);
    let load = call(
        "standard:bm_load_new_config",
        vec![Value::String(crate::common::JSON.to_vec())],
    );
    for piece in load.chunks(10_000) {
        stream.write_all(piece).expect("it is open");
    }
    assert_eq!(answer(&mut stream).kind, MessageKind::Reply);
    let both = [
        call("standard:bm_swap_configs", Vec::new()),
        call("standard:bm_reset_state", Vec::new()),
    ];
    stream.write_all(&both.concat()).expect("it is open");
    assert_eq!(answer(&mut stream).fields, []);
    let unknown = call("standard:nosuch", vec![CXT, text("x")]);
    let mut other = connect(address);
    other.write_all(&unknown).expect("it is open");
    assert_eq!(answer(&mut other).kind, MessageKind::Exception);
}
