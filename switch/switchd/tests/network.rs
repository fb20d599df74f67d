//! The switch on real interfaces: virtual Ethernet between network namespaces. The tests need root; otherwise they are
//! skipped.

mod lab;

use std::io::Read as _;
use std::time::{Duration, Instant};

use lab::{Controller, JSON, Lab, P4INFO, Switch, ip, is_root, tc};
use p4sched_proto::gnmi;
use p4sched_proto::gnmi::g_nmi_client::GNmiClient;
use p4sched_proto::p4sched::v1 as tm;

const PROGRAM: [&str; 7] = ["-i", "1@s1", "-i", "2@s2", JSON, "--p4info", P4INFO];

/// Runs a test on a separate thread, because the test moves its thread into the switch's namespace.
fn in_lab(name: &str, test: impl AsyncFnOnce(&Lab) + Send + 'static) {
    if !is_root() {
        return;
    }
    let name = name.to_owned();
    let run = move || {
        let lab = Lab::new(&name);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(test(&lab));
    };
    std::thread::spawn(run)
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

#[test]
fn frames_cross_the_switch_and_are_counted() {
    in_lab("a", async |lab| {
        let switch = Switch::start(&PROGRAM);
        let mut controller = Controller::connect(&switch).await;
        controller.connect_hosts().await;
        let (sender, receiver) = (lab.socket(1), lab.socket(2));
        for number in 0..200_u32 {
            // Transmit checksum offload is on, as it is by default: the receiver would drop a frame without its
            // checksum.
            sender
                .send_to(&number.to_be_bytes(), "10.9.0.2:5000")
                .expect("the neighbour is known");
            let mut buffer = [0; 16];
            let (length, from) = receiver.recv_from(&mut buffer).expect("the frame arrives");
            assert_eq!(
                (&buffer[..length], from.to_string()),
                (&number.to_be_bytes()[..], "10.9.0.1:5000".to_owned())
            );
        }
        let (first, second) = (controller.port(1).await, controller.port(2).await);
        assert_eq!((first.interface.as_str(), first.up, first.rx_lost), ("s1", true, 0));
        assert!(first.rx_packets >= 200 && second.tx_packets >= 200 && second.tx_errors == 0);
        assert_eq!(first.rx_bytes >= 200 * 46, second.tx_bytes >= 200 * 46);
        let fidelity = controller
            .traffic_manager
            .get_fidelity(tm::GetFidelityRequest { reset: true })
            .await;
        let fidelity = fidelity.expect("it is always known").into_inner();
        assert!(fidelity.departures >= 200 && fidelity.cpu_ns > 0 && fidelity.cpu_ns < fidelity.measured_ns);
        let again = controller
            .traffic_manager
            .get_fidelity(tm::GetFidelityRequest { reset: false })
            .await;
        assert!(
            again.expect("it is always known").into_inner().departures < 200,
            "a new measurement began"
        );
        let (status, last) = switch.stop();
        assert!(status.success());
        assert!(last.contains("frames received"), "{last}");
    });
}

#[test]
fn a_program_replaced_under_traffic_loses_no_frame() {
    for way in [&[][..], &["--no-jit"]] {
        in_lab(if way.is_empty() { "p" } else { "q" }, async move |lab| {
            const FRAMES: u32 = 2000;
            let switch = Switch::start(&[&PROGRAM[..], way].concat());
            let mut controller = Controller::connect(&switch).await;
            controller.connect_hosts().await;
            let (sender, receiver) = (lab.socket(1), lab.socket(2));
            // Each frame waits for one that came back, so 64 frames are on their way and no queue of the kernel is
            // full.
            let traffic = std::thread::spawn(move || {
                let mut received = Vec::new();
                for number in 0..FRAMES {
                    sender
                        .send_to(&number.to_be_bytes(), "10.9.0.2:5000")
                        .expect("the neighbour is known");
                    let wanted = if number + 1 < FRAMES {
                        (number + 1).saturating_sub(64)
                    } else {
                        FRAMES
                    };
                    while received.len() < wanted as usize {
                        let mut buffer = [0; 4];
                        receiver.recv_from(&mut buffer).expect("no frame is lost");
                        received.push(u32::from_be_bytes(buffer));
                    }
                }
                received
            });
            let mut replaced = 0;
            while !traffic.is_finished() || replaced < 3 {
                controller.load_again().await;
                replaced += 1;
            }
            let received = traffic.join().expect("all frames arrive");
            assert!(
                received.into_iter().eq(0..FRAMES),
                "in the order in which they were sent"
            );
            let (first, second) = (controller.port(1).await, controller.port(2).await);
            assert_eq!((first.rx_lost, second.tx_errors), (0, 0));
        });
    }
}

/// The frames of a pcap file, with their times in ns since 1970.
fn recorded(file: &std::path::Path) -> Vec<(u64, Vec<u8>)> {
    let bytes = std::fs::read(file).expect("the switch wrote it");
    let (header, mut rest) = bytes.split_at(24);
    let word = |bytes: &[u8], at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    assert_eq!((word(header, 0), word(header, 20)), (0xa1b2_3c4d, 1));
    let mut frames = Vec::new();
    while !rest.is_empty() {
        let length = word(rest, 8) as usize;
        let at = u64::from(word(rest, 0)) * 1_000_000_000 + u64::from(word(rest, 4));
        frames.push((at, rest[16..16 + length].to_vec()));
        rest = &rest[16 + length..];
    }
    frames
}

#[test]
fn frames_are_recorded_as_they_came_and_as_they_left() {
    in_lab("g", async |lab| {
        let folder = tempfile::tempdir().expect("a folder");
        let (pcap, log) = (
            format!("--pcap={}", folder.path().display()),
            folder.path().join("s.log"),
        );
        let log_file = [
            "--log-file",
            log.to_str().expect("the path is text"),
            "--nanolog",
            "ipc:///x",
        ];
        let begun = std::time::SystemTime::now();
        let switch = Switch::start(&[&PROGRAM[..], &[&pcap], &log_file].concat());
        let mut controller = Controller::connect(&switch).await;
        controller.connect_hosts().await;
        let (sender, receiver) = (lab.socket(1), lab.socket(2));
        for number in 0..20_u8 {
            sender
                .send_to(&[number; 40], "10.9.0.2:5000")
                .expect("the neighbour is known");
            receiver.recv_from(&mut [0; 64]).expect("the frame arrives");
        }
        assert!(switch.stop().0.success());
        let since = begun
            .duration_since(std::time::UNIX_EPOCH)
            .expect("it is later")
            .as_nanos() as u64;
        let datagrams = |file: &str| {
            let mut frames = recorded(&folder.path().join(file));
            frames.retain(|(_, frame)| frame.len() == 82 && frame[23] == 17);
            assert!(frames.iter().all(|&(at, _)| at >= since));
            frames
        };
        let (came, left) = (datagrams("s1_in.pcap"), datagrams("s2_out.pcap"));
        let numbers = |frames: &[(u64, Vec<u8>)]| frames.iter().map(|(_, frame)| frame[42]).collect::<Vec<_>>();
        assert_eq!(numbers(&came), (0..20).collect::<Vec<_>>());
        assert_eq!(numbers(&left), numbers(&came));
        assert!(came.iter().zip(&left).all(|((came, _), (left, _))| came <= left));
        assert!(datagrams("s1_out.pcap").is_empty() && datagrams("s2_in.pcap").is_empty());
        let said = std::fs::read_to_string(&log).expect("the log is there");
        assert!(
            said.contains("--nanolog is ignored") && said.contains("frames received"),
            "{said}"
        );
    });
}

#[test]
fn a_shaped_port_never_delivers_early() {
    in_lab("b", async |lab| {
        let switch = Switch::start(&PROGRAM);
        let mut controller = Controller::connect(&switch).await;
        controller.connect_hosts().await;
        let port = tm::PortConfig {
            port: 2,
            rate_bps: Some(8_000_000),
            delay_ns: Some(20_000_000),
            ..Default::default()
        };
        controller
            .traffic_manager
            .set_ports(tm::SetPortsRequest {
                ports: vec![port],
                memory: None,
            })
            .await
            .expect("port 2 exists");
        let (sender, receiver) = (lab.socket(1), lab.socket(2));
        let started = Instant::now();
        for _ in 0..20 {
            sender
                .send_to(&[0; 958], "10.9.0.2:5000")
                .expect("the neighbour is known");
        }
        let mut arrived = Vec::new();
        for _ in 0..20 {
            receiver.recv_from(&mut [0; 1000]).expect("the frame arrives");
            arrived.push(started.elapsed());
        }
        // 958 bytes of payload make a frame of 1000 bytes: 1 ms each at 8 Mbit/s, plus 20 ms of propagation.
        for (number, at) in (1..).zip(arrived) {
            assert!(
                at >= Duration::from_millis(20 + number),
                "frame {number} arrived after {at:?}"
            );
        }
    });
}

/// The number of bytes that the discipline of an interface has let through.
fn bytes_through(interface: &str) -> u64 {
    let shown = tc(&format!("-s qdisc show dev {interface}"));
    let number = shown.split("Sent ").nth(1).and_then(|rest| rest.split(' ').next());
    number.and_then(|bytes| bytes.parse().ok()).expect("tc shows the bytes")
}

/// Sends frames of 1000 bytes in one burst. Returns how many arrive, and the time until the last one.
fn burst(lab: &Lab, frames: u32) -> (Duration, u32) {
    let (sender, receiver) = (lab.socket(1), lab.socket(2));
    let started = Instant::now();
    for _ in 0..frames {
        sender
            .send_to(&[0; 958], "10.9.0.2:5000")
            .expect("the neighbour is known");
    }
    receiver
        .set_read_timeout(Some(Duration::from_millis(400)))
        .expect("a timeout can be set");
    let (mut arrived, mut last) = (0, Duration::ZERO);
    while receiver.recv_from(&mut [0; 1000]).is_ok() {
        (arrived, last) = (arrived + 1, started.elapsed());
    }
    (last, arrived)
}

#[test]
fn packets_wait_in_the_switch_for_an_interface_that_tc_limits() {
    in_lab("h", async |lab| {
        // 2 Mbit/s: one frame every 4 ms. The discipline itself has room for 100 frames.
        tc("qdisc add dev s2 root tbf rate 2mbit burst 2kb limit 100kb");
        let switch = Switch::start(&PROGRAM);
        let mut controller = Controller::connect(&switch).await;
        controller.connect_hosts().await;
        let (last, arrived) = burst(lab, 60);
        assert!(last >= Duration::from_millis(230), "240 ms at 2 Mbit/s took {last:?}");
        let stats = controller.port(2).await;
        let queues = stats.queues.iter();
        let (most, dropped) = queues.fold((0, 0), |(most, dropped), queue| {
            (most.max(queue.max_depth_packets), dropped + queue.dropped_packets)
        });
        assert_eq!(u64::from(arrived) + dropped, 60, "every frame arrives or is counted");
        // The kernel holds at most 16 frames; a sender that is delayed lets some leave meanwhile.
        assert!(most > 16, "of 60 frames at once the queue never held more than {most}");

        // With a rate of the traffic manager, frames go around the discipline.
        let port = tm::PortConfig {
            port: 2,
            rate_bps: Some(80_000_000),
            ..Default::default()
        };
        let set = tm::SetPortsRequest {
            ports: vec![port],
            memory: None,
        };
        controller.traffic_manager.set_ports(set).await.expect("port 2 exists");
        // The kernel itself sends a little (ICMPv6).
        let before = bytes_through("s2");
        assert!(before >= 50_000);
        let (_, arrived) = burst(lab, 60);
        assert_eq!((arrived, bytes_through("s2") - before < 1000), (60, true));
    });
}

#[test]
fn a_replica_takes_its_backup_while_the_other_end_of_its_link_is_down() {
    in_lab("w", async |lab| {
        let switch = Switch::start(&PROGRAM);
        let mut controller = Controller::connect(&switch).await;
        controller.copy_frames(2, 1).await;
        let sender = lab.socket(1);
        // Frames go to port 1 or 2. The notification about the link may come after the first frames.
        let mut leave_by = async |port: u32| {
            let before = controller.port(port).await.tx_packets;
            let begin = Instant::now();
            while controller.port(port).await.tx_packets < before + 3 {
                assert!(
                    begin.elapsed() < Duration::from_secs(10),
                    "no frame leaves by port {port}"
                );
                sender
                    .send_to(b"copy", "10.9.0.2:5000")
                    .expect("the neighbour is known");
            }
        };
        leave_by(2).await;
        let far_end = |state: &str| ip(&format!("-n {} link set h2 {state}", lab.host(2)));
        far_end("down");
        leave_by(1).await;
        far_end("up");
        leave_by(2).await;
    });
}

#[test]
fn the_switch_follows_what_tc_changes() {
    in_lab("i", async |lab| {
        let switch = Switch::start(&PROGRAM);
        let mut controller = Controller::connect(&switch).await;
        controller.connect_hosts().await;
        let limited = async |controller: &mut Controller| {
            let (_, arrived) = burst(lab, 50);
            assert_eq!(arrived, 50);
            let stats = controller.port(2).await;
            stats.queues.iter().map(|queue| queue.max_depth_packets).max()
        };
        let at_once = limited(&mut controller).await;
        assert!(at_once < Some(10), "without a limit {at_once:?} frames waited");
        tc("qdisc add dev s2 root handle 1: htb default 1");
        tc("class add dev s2 parent 1: classid 1:1 htb rate 2mbit");
        let behind_htb = limited(&mut controller).await;
        assert!(behind_htb >= Some(20), "behind 2 Mbit/s {behind_htb:?} frames waited");
        tc("qdisc del dev s2 root");
        let (last, arrived) = burst(lab, 50);
        assert_eq!(arrived, 50);
        assert!(
            last < Duration::from_millis(45),
            "without a limit 50 frames took {last:?}"
        );
        let stats = controller.port(2).await;
        assert_eq!((stats.tx_errors, stats.up), (0, true));
    });
}

#[test]
fn an_interface_that_disappears_takes_only_its_port_down() {
    in_lab("c", async |lab| {
        let mut switch = Switch::start(&PROGRAM);
        let mut controller = Controller::connect(&switch).await;
        controller.connect_hosts().await;
        let (sender, receiver) = (lab.socket(1), lab.socket(2));
        let send = || sender.send_to(b"x", "10.9.0.2:5000").expect("the neighbour is known");
        send();
        receiver.recv_from(&mut [0; 8]).expect("the frame arrives");
        drop(receiver);
        ip(&format!("-n {} link del h2", lab.host(2)));
        switch.wait_for("port 2: interface s2 disappeared");
        assert!(!controller.port(2).await.up);
        while controller.port(2).await.tx_errors < 10 {
            send();
        }
        assert!(controller.port(1).await.up);
        lab.link(2);
        switch.wait_for("port 2: interface s2 is back");
        let receiver = lab.socket(2);
        send();
        receiver.recv_from(&mut [0; 8]).expect("the frame arrives");
        assert!(switch.stop().0.success());
    });
}

#[test]
fn an_interface_that_is_set_down_comes_back() {
    in_lab("d", async |lab| {
        let mut switch = Switch::start(&PROGRAM);
        let mut controller = Controller::connect(&switch).await;
        controller.connect_hosts().await;
        ip("link set s2 down");
        switch.wait_for("port 2: interface s2 went down");
        assert!(!controller.port(2).await.up);
        ip("link set s2 up");
        switch.wait_for("port 2: interface s2 is back");
        let (sender, receiver) = (lab.socket(1), lab.socket(2));
        sender.send_to(b"x", "10.9.0.2:5000").expect("the neighbour is known");
        receiver.recv_from(&mut [0; 8]).expect("the frame arrives");
    });
}

#[test]
fn a_port_that_gnmi_takes_down_comes_back() {
    in_lab("g", async |lab| {
        let mut switch = Switch::start(&PROGRAM);
        let mut controller = Controller::connect(&switch).await;
        controller.connect_hosts().await;
        let mut client = GNmiClient::connect(switch.address.clone())
            .await
            .expect("on the same port");
        client.set(enabled("s2", false)).await.expect("root may do so");
        switch.wait_for("port 2: interface s2 went down");
        assert!(!controller.port(2).await.up && controller.port(1).await.up);
        client.set(enabled("s2", true)).await.expect("root may do so");
        switch.wait_for("port 2: interface s2 is back");
        let (sender, receiver) = (lab.socket(1), lab.socket(2));
        sender.send_to(b"x", "10.9.0.2:5000").expect("the neighbour is known");
        receiver.recv_from(&mut [0; 8]).expect("the frame arrives");
    });
}

/// A request that takes an interface up or down.
fn enabled(interface: &str, enabled: bool) -> gnmi::SetRequest {
    let elem = ["interfaces", "interface", "config", "enabled"].map(|name| gnmi::PathElem {
        name: name.to_owned(),
        key: (name == "interface")
            .then(|| ("name".to_owned(), interface.to_owned()))
            .into_iter()
            .collect(),
    });
    let path = gnmi::Path {
        elem: elem.into(),
        ..gnmi::Path::default()
    };
    let val = gnmi::TypedValue {
        value: Some(gnmi::typed_value::Value::BoolVal(enabled)),
    };
    gnmi::SetRequest {
        update: vec![gnmi::Update {
            path: Some(path),
            val: Some(val),
            duplicates: 0,
        }],
        ..gnmi::SetRequest::default()
    }
}

#[test]
fn frames_longer_than_the_mtu_are_counted_as_lost_and_explained_once() {
    in_lab("e", async |lab| {
        let mut switch = Switch::start(&PROGRAM);
        let mut controller = Controller::connect(&switch).await;
        controller.connect_hosts().await;
        // The MTU is raised after the start: the ring's slots have the size of the MTU at the start.
        ip("link set s1 mtu 9000");
        ip(&format!("-n {} link set h1 mtu 9000", lab.host(1)));
        let sender = lab.socket(1);
        for _ in 0..5 {
            sender
                .send_to(&[0; 4000], "10.9.0.2:5000")
                .expect("the neighbour is known");
        }
        let line = switch.wait_for("longer than the MTU of s1");
        assert!(line.contains("ethtool"), "{line}");
        while controller.port(1).await.rx_lost < 5 {}
        let (_, last) = switch.stop();
        assert!(last.contains("5 lost before reception"), "{last}");
    });
}

#[test]
fn a_switch_that_cannot_start_says_why() {
    in_lab("f", async |_| {
        let switch = Switch::start(&PROGRAM);
        let address = switch.address.trim_start_matches("http://").to_owned();
        let garbage = std::env::temp_dir().join(format!("p4sched-{}.json", std::process::id()));
        std::fs::write(&garbage, b"{ \"header_types\": [").expect("the folder is writable");
        let garbage_path = garbage.to_str().expect("the path is text");
        let cases: [(&[&str], i32, &str); 8] = [
            (&["-i", "1@nosuch"], 1, "there is no interface nosuch"),
            (&["--grpc-server-addr", &address], 1, "is in use"),
            (&["--grpc-server-addr", "nowhere"], 1, "give HOST:PORT"),
            (
                &["--grpc-server-addr", "127.0.0.1:0", "/nosuch.json"],
                1,
                "/nosuch.json: No such file",
            ),
            (&["--grpc-server-addr", "127.0.0.1:0", garbage_path], 1, "not JSON"),
            (
                &["-i", "1@s1", "--pcap=/nosuch"],
                1,
                "--pcap: /nosuch/s1_in.pcap: No such file",
            ),
            (
                &["--log-file", "/nosuch/log"],
                1,
                "--log-file: /nosuch/log: No such file",
            ),
            (&["-i", "1@s1", "-i", "1@s2"], 2, "port 1 has two interfaces"),
        ];
        for (arguments, expected_code, expected) in cases {
            let mut process = Switch::spawn(arguments);
            let code = process.wait().expect("it ends by itself").code();
            let mut said = String::new();
            process
                .stderr
                .take()
                .expect("it is piped")
                .read_to_string(&mut said)
                .expect("the log is text");
            assert_eq!(
                (code, said.contains(expected)),
                (Some(expected_code), true),
                "{arguments:?}: {said}"
            );
        }
        std::fs::remove_file(&garbage).expect("it was written above");
    });
}

#[test]
fn a_full_log_does_not_end_the_switch() {
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .expect("Linux has it");
    let mut switch = std::process::Command::new(env!("CARGO_BIN_EXE_p4sched-switch"))
        .args(["--grpc-server-addr", "127.0.0.1:0", "--no-p4"])
        .stderr(full)
        .spawn()
        .expect("the switch was built");
    // It is ready once it catches SIGTERM (bit 14 of SigCgt, proc(5)). Then it ends properly.
    let status = format!("/proc/{}/status", switch.id());
    let deadline = Instant::now() + Duration::from_secs(20);
    let ready = || {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
        let mask = u64::from_str_radix(caught.trim(), 16).ok()?;
        (mask & (1 << 14) != 0).then_some(())
    };
    while ready().is_none() && Instant::now() < deadline {
        std::thread::yield_now();
    }
    let pid = rustix::process::Pid::from_child(&switch);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it runs");
    assert!(switch.wait().expect("it ends").success());
}
