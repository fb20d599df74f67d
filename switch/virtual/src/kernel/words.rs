//! The command line of a run in a guest. The programs and their arguments are those of the emulation.

use std::fs;
use std::io;
use std::path::Path;

use p4sched_dataplane::Nanos;

use crate::run::{BulkSend, Program};

const IPERF3: &str = "iperf3";
const CONNECT_MILLISECONDS: u64 = 10_000;

/// The command line of a run in a guest. The names of the run's files begin with `stem`. The files are in the guest's
/// folder, in which programs start.
///
/// # Errors
/// If the list of flows cannot be written.
/// If the list of flows cannot be written.
pub fn words(program: &Program, stem: &str, folder: &Path, traffic: &Path) -> io::Result<Vec<String>> {
    let traffic = |words: &[&str]| {
        let mut all = vec![traffic.display().to_string()];
        all.extend(words.iter().map(|word| (*word).to_owned()));
        all
    };
    let log_file = log_file(stem);
    let log = |words: &mut Vec<String>, wanted: bool| {
        if wanted {
            words.extend(["--log".into(), log_file.clone()]);
        }
    };
    let list = |flows: serde_json::Result<String>| {
        let name = format!("{stem}.flows.json");
        fs::write(folder.join(&name), flows?)?;
        io::Result::Ok(name)
    };
    Ok(match program {
        Program::BulkSend(bulk) => client(bulk),
        Program::BulkReceive { port } => {
            let port = port.to_string();
            [IPERF3, "--server", "--one-off", "--version4", "--port", &port]
                .map(str::to_owned)
                .to_vec()
        }
        Program::UdpSend {
            flows,
            seed,
            log: wanted,
        } => {
            let flows = list(serde_json::to_string(flows))?;
            let mut words = traffic(&["udp-send", &flows, "--seed", &seed.to_string()]);
            log(&mut words, *wanted);
            words
        }
        Program::UdpReceive {
            address,
            ports,
            duration,
            interval,
            log: wanted,
        } => {
            let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
            let mut words = traffic(&[
                "udp-receive",
                "--address",
                &address.to_string(),
                "--ports",
                &ports.join(","),
            ]);
            words.extend([
                "--duration".into(),
                seconds(*duration),
                "--interval".into(),
                seconds(*interval),
            ]);
            log(&mut words, *wanted);
            words
        }
        Program::TcpSend {
            flows,
            congestion_control,
            deadline,
            open_ahead,
        } => {
            let flows = list(serde_json::to_string(flows))?;
            let mut words = traffic(&["tcp-send", &flows, "--congestion", congestion_control]);
            words.extend(["--deadline".into(), seconds(*deadline)]);
            words.extend(open_ahead.then(|| "--open-ahead".into()));
            words
        }
        Program::TcpServe {
            address,
            port,
            duration,
            flows,
        } => {
            let mut words = traffic(&["tcp-serve", "--address", &format!("{address}:{port}")]);
            words.extend(["--duration".into(), seconds(*duration)]);
            words.extend(flows.iter().flat_map(|flows| ["--flows".into(), flows.to_string()]));
            words
        }
        Program::Observe { duration, log: wanted } => {
            let mut words = traffic(&["observe", "--duration", &seconds(*duration)]);
            log(&mut words, *wanted);
            words
        }
        Program::ProbeSend { .. } | Program::ProbeReceive { .. } => Vec::new(),
        Program::Command { words } => words.clone(),
    })
}

/// The log file of a run, in the guest's folder.
pub fn log_file(stem: &str) -> String {
    format!("{stem}.log.csv")
}

fn client(bulk: &BulkSend) -> Vec<String> {
    let mut words = vec![
        IPERF3.to_owned(),
        "--client".into(),
        bulk.destination.to_string(),
        "--version4".into(),
    ];
    let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
    option("--port", bulk.port.to_string());
    option("--bind", bulk.source.to_string());
    option("--congestion", bulk.congestion_control.clone());
    option("--parallel", bulk.connections.to_string());
    option("--time", whole_seconds(bulk.duration).to_string());
    option("--omit", whole_seconds(bulk.warm_up).to_string());
    if bulk.tos > 0 {
        option("--tos", bulk.tos.to_string());
    }
    option("--interval", "0".into());
    option("--connect-timeout", CONNECT_MILLISECONDS.to_string());
    words.push("--json".into());
    words
}

/// A time as whole seconds, which iperf3 needs.
fn whole_seconds(time: Nanos) -> u64 {
    (time + 500_000_000) / 1_000_000_000
}

fn seconds(time: Nanos) -> String {
    format!("{}.{:09}", time / 1_000_000_000, time % 1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn line(program: &Program) -> String {
        words(program, "a", Path::new("/nowhere"), Path::new("/bin/p4sched-traffic"))
            .unwrap()
            .join(" ")
    }

    #[test]
    fn bulk_traffic_is_iperf3_with_the_words_of_the_emulation() {
        let bulk = BulkSend {
            source: Ipv4Addr::new(10, 1, 1, 1),
            destination: Ipv4Addr::new(10, 2, 0, 1),
            port: 5202,
            connections: 3,
            tos: 4,
            congestion_control: "bbr".into(),
            duration: 9_600_000_000,
            warm_up: 2_000_000_000,
        };
        assert_eq!(
            line(&Program::BulkSend(bulk)),
            "iperf3 --client 10.2.0.1 --version4 --port 5202 --bind 10.1.1.1 --congestion bbr --parallel 3 --time 10 \
             --omit 2 --tos 4 --interval 0 --connect-timeout 10000 --json"
        );
        assert_eq!(
            line(&Program::BulkReceive { port: 5202 }),
            "iperf3 --server --one-off --version4 --port 5202"
        );
    }

    #[test]
    fn a_receiver_gets_its_log_and_its_times() {
        let program = Program::UdpReceive {
            address: Ipv4Addr::new(10, 2, 0, 1),
            ports: vec![7001, 7002],
            duration: 1_500_000_000,
            interval: 100_000_000,
            log: true,
        };
        assert_eq!(
            line(&program),
            "/bin/p4sched-traffic udp-receive --address 10.2.0.1 --ports 7001,7002 --duration 1.500000000 \
             --interval 0.100000000 --log a.log.csv"
        );
    }
}
