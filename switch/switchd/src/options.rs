//! The command line: the options of BMv2's `simple_switch_grpc`, as far as they apply, and a few of this switch.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{Arg, CommandFactory, FromArgMatches, Parser};
use p4sched_dataplane::{DROP_PORT, Port};
use p4sched_p4runtime::CLIENT_METADATA_BYTES;

use crate::bmv2_only::{Ignored, Unsupported};
use crate::grpc_tls::GrpcTls;
use crate::log::{Level, Rotation};
use crate::ports::PortSpec;
use crate::stalls::Stalls;

/// The highest port number of v1model; 511 means drop.
const LAST_PORT: Port = DROP_PORT - 1;

/// Names under which the switch uses BMv2's defaults: device 0, a Thrift server, and a gRPC server that other hosts can
/// reach. BMv2's `simple_switch` has no gRPC and often runs several times on one machine, so under that name a free
/// port is used.
const BMV2_NAMES: [(&str, &str); 2] = [("simple_switch_grpc", "0.0.0.0:9559"), ("simple_switch", "127.0.0.1:0")];

/// BMv2's defaults: the size of a log file in bytes, and the number of older files.
const BMV2_LOG_SIZE: u64 = 5 << 20;
const BMV2_LOG_FILES: u64 = 3;

/// The newest program format that BMv2 reads; this switch reads all formats of version 2.
pub const BMV2_JSON_VERSION: &str = "2.24";

/// BMv2 sends all details of an error, whatever their size. finsy accepts this many bytes.
const BMV2_CLIENT_METADATA: &str = "65536";

/// The name of the argument that collects words without an option.
const STRAYS: &str = "strays";

/// The default port of BMv2's Thrift server.
const BMV2_THRIFT_PORT: u16 = 9090;

/// A software switch for P4_16 programs (v1model, TNA, T2NA) with a traffic manager: strict-priority, fair and sorted
/// queues behind one shaped link per port. It loads BMv2 JSON and is controlled over P4Runtime.
#[derive(Debug, Parser)]
#[command(name = "p4sched-switch", version, max_term_width = 110)]
pub struct Options {
    /// Program to start with (BMv2 JSON). Without it the switch waits for SetForwardingPipelineConfig.
    #[arg(value_name = "PROGRAM.json")]
    pub program: Option<PathBuf>,

    /// P4Info of the program, in protobuf text format. Without it the switch chooses identifiers for the tables.
    #[arg(long, value_name = "FILE")]
    pub p4info: Option<PathBuf>,

    /// Attach a port to a network interface, for example 1@s1-eth1. Repeat it for every port.
    #[arg(short = 'i', long = "interface", value_name = "PORT@IFACE", value_parser = port_spec)]
    pub interfaces: Vec<PortSpec>,

    /// Device id in P4Runtime.
    #[arg(long, value_name = "ID", default_value_t = 1, allow_negative_numbers = true)]
    pub device_id: u64,

    /// Address of the gRPC server. 0.0.0.0:9559 admits other hosts.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:9559")]
    pub grpc_server_addr: String,

    /// Bytes of metadata that P4Runtime clients accept: the error details of a large batch are cut to this. gRPC
    /// clients accept 8192 by default; finsy accepts 65536.
    #[arg(long, value_name = "BYTES", default_value_t = CLIENT_METADATA_BYTES, value_parser = metadata_bytes)]
    pub grpc_client_metadata: usize,

    /// Port for packets to and from the controller.
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(Port).range(0..=i64::from(LAST_PORT)))]
    pub cpu_port: Option<Port>,

    /// Wait for a program (the default without a program).
    #[arg(long)]
    pub no_p4: bool,

    /// Run the data plane at normal priority. By default it has real-time priority, so that hosts on the same machine
    /// do not make it late.
    #[arg(long)]
    pub no_realtime: bool,

    /// Interpret programs. By default they are compiled to machine code, which makes the same decisions in less time.
    #[arg(long)]
    pub no_jit: bool,

    /// Stop the data plane repeatedly, to measure the effect of lateness: once in PERIOD on average, for DURATION, in
    /// microseconds.
    #[arg(long, value_name = "PERIOD,DURATION")]
    pub inject_stall: Option<Stalls>,

    /// Level of messages. From debug on, the log shows the way of each packet, and programs are interpreted.
    #[arg(short = 'L', long, value_enum, default_value_t = Level::Info)]
    pub log_level: Level,

    /// Egress port that drops; v1model and this switch have only 511.
    #[arg(long, value_name = "PORT", default_value_t = DROP_PORT, value_parser = drop_port)]
    pub drop_port: Port,

    /// Also write messages and the way of each packet to this file; under BMv2's names to FILE.txt, as in BMv2.
    #[arg(long, value_name = "FILE")]
    pub log_file: Option<PathBuf>,

    /// Write the way of each packet to standard output, as without --log-file.
    #[arg(long)]
    pub log_console: bool,

    /// Write each line immediately: the lines of a frame are in the log before the frame leaves.
    #[arg(long)]
    pub log_flush: bool,

    /// Begin a new file when --log-file has this many bytes.
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..))]
    pub log_file_max_size: Option<u64>,

    /// Number of older files to keep [default: 3].
    #[arg(long, value_name = "COUNT")]
    pub log_file_max_files: Option<u64>,

    /// Write the way of each packet to this file as JSON lines, at any level.
    #[arg(long, value_name = "FILE")]
    pub log_json: Option<PathBuf>,

    /// Number of bytes of each frame to show in the log of packets.
    #[arg(long, value_name = "BYTES")]
    pub dump_packet_data: Option<usize>,

    /// Record all frames in pcap files, one for each port and direction: DIR/IFACE_in.pcap, DIR/IFACE_out.pcap.
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".")]
    pub pcap: Option<PathBuf>,

    /// Serve BMv2's runtime interface over Thrift on this port of loopback, for simple_switch_CLI and p4-utils.
    #[arg(long, value_name = "PORT")]
    pub thrift_port: Option<u16>,

    /// Serve metrics for Prometheus (OpenMetrics) over HTTP at this address, for example 127.0.0.1:9464: /metrics.
    #[arg(long, value_name = "HOST:PORT")]
    pub metrics: Option<String>,

    /// Refuse swaps of programs over Thrift.
    #[arg(long)]
    pub disable_swap: bool,

    /// Whether the Thrift port was given on the command line; then it must be free.
    #[arg(skip)]
    pub thrift_asked_for: bool,

    /// Words without an option. Under BMv2's names they are ignored, otherwise they are errors.
    #[arg(skip)]
    strays: Vec<String>,

    /// Encryption of gRPC.
    #[command(flatten)]
    pub grpc_tls: GrpcTls,

    /// Print the newest supported format of programs, and exit.
    #[arg(long, hide = true)]
    pub json_version: bool,

    #[command(flatten)]
    ignored: Ignored,

    #[command(flatten)]
    unsupported: Unsupported,
}

fn metadata_bytes(text: &str) -> Result<usize, String> {
    const MOST: usize = 1 << 20;
    match text.parse() {
        Ok(bytes) if (CLIENT_METADATA_BYTES..=MOST).contains(&bytes) => Ok(bytes),
        _ => Err(format!("use {CLIENT_METADATA_BYTES} to {MOST}")),
    }
}

fn drop_port(text: &str) -> Result<Port, String> {
    match text.parse() {
        Ok(DROP_PORT) => Ok(DROP_PORT),
        _ => Err(format!("use {DROP_PORT}: no other port drops")),
    }
}

fn port_spec(text: &str) -> Result<PortSpec, String> {
    let form = "give PORT@IFACE, for example 1@s1-eth1";
    let (number, interface) = text.split_once('@').ok_or(form)?;
    let number: Port = number
        .parse()
        .map_err(|_| format!("'{number}' is not a port number; {form}"))?;
    if number > LAST_PORT {
        return Err(format!("port {number}; ports are 0 to {LAST_PORT}"));
    }
    if interface.is_empty() {
        return Err(form.to_owned());
    }
    Ok(PortSpec {
        number,
        interface: interface.to_owned(),
    })
}

impl Options {
    /// A line for each BMv2 option on the command line that has no effect here.
    pub fn without_effect(&self) -> Vec<String> {
        let packets_logged = self.log_level >= Level::Debug || self.log_json.is_some();
        let no_file = self.log_file.is_none();
        let cases = [
            (
                "--p4info",
                self.p4info.is_some() && self.program.is_none(),
                "there is no program",
            ),
            (
                "--dump-packet-data",
                self.dump_packet_data.is_some() && !packets_logged,
                "packets are logged with -L debug or -L trace; --pcap records them",
            ),
            (
                "--log-file-max-size",
                self.log_file_max_size.is_some() && no_file,
                "there is no --log-file",
            ),
            (
                "--log-file-max-files",
                self.log_file_max_files.is_some() && self.log_file_max_size.is_none(),
                "--log-file has no --log-file-max-size",
            ),
        ];
        let given = cases.into_iter().filter(|&(_, given, _)| given);
        (self.ignored.present())
            .chain(given.map(|(option, _, why)| (option, why)))
            .chain(self.grpc_tls.without_effect())
            .map(|(option, why)| format!("{option} is ignored: {why}"))
            .collect()
    }

    /// A warning for each word without an option.
    pub fn stray_words(&self) -> impl Iterator<Item = String> {
        self.strays.iter().map(|word| {
            let meant = if port_spec(word).is_ok() {
                format!("; a port is attached by -i {word}")
            } else {
                String::new()
            };
            format!("'{word}' is ignored: it belongs to no option{meant}")
        })
    }

    /// The rotation of `--log-file`; `None` without a maximum size.
    pub fn rotation(&self) -> Option<Rotation> {
        self.log_file_max_size.map(|size| Rotation {
            size,
            files: self.log_file_max_files.unwrap_or(BMV2_LOG_FILES),
        })
    }

    /// Reads the command line. The separator `--`, which BMv2 puts before the options of its target, is ignored.
    ///
    /// # Errors
    /// The message of clap; it is an error for `--help` and `--version` too.
    pub fn from_command_line(arguments: impl IntoIterator<Item = OsString>) -> Result<Options, clap::Error> {
        let arguments: Vec<OsString> = arguments.into_iter().filter(|argument| argument != "--").collect();
        let name = arguments.first().and_then(|path| Path::new(path).file_name()?.to_str());
        let bmv2 = BMV2_NAMES.iter().find(|(bmv2, _)| name == Some(bmv2));
        let mut command = Options::command();
        if let Some((_, address)) = bmv2 {
            command = command
                .mut_arg("device_id", |id| id.default_value("0"))
                .mut_arg("grpc_server_addr", |given| given.default_value(*address))
                .mut_arg("grpc_client_metadata", |bytes| {
                    bytes.default_value(BMV2_CLIENT_METADATA)
                })
                .arg(Arg::new(STRAYS).hide(true).num_args(0..));
        } else {
            command = command
                .mut_arg("program", |program| program.conflicts_with("no_p4"))
                .mut_arg("p4info", |p4info| p4info.requires("program"));
        }
        let given = command.try_get_matches_from(arguments)?;
        let mut options = Options::from_arg_matches(&given)?;
        options.thrift_asked_for = options.thrift_port.is_some();
        if bmv2.is_some() {
            let program = options.program.take_if(|_| options.no_p4);
            let program = program.map(|path| path.display().to_string());
            let others = given.get_many(STRAYS).into_iter().flatten().cloned();
            options.strays = program.into_iter().chain(others).collect();
            options.thrift_port = options.thrift_port.or(Some(BMV2_THRIFT_PORT));
            if let Some(path) = &mut options.log_file {
                // spdlog, which writes BMv2's log, appends it to the name.
                path.as_mut_os_string().push(".txt");
                options.log_file_max_size = options.log_file_max_size.or(Some(BMV2_LOG_SIZE));
            }
            let default = |name| given.value_source(name) == Some(ValueSource::DefaultValue);
            // BMv2 has no log by default. If a log is requested, it has all levels.
            if default("log_level") && (options.log_console || options.log_file.is_some()) {
                options.log_level = Level::Trace;
            }
        }
        // '--pcap a.json': BMv2 also accepts a folder after a space, but a program is not a folder.
        let is_program = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
        if options.program.is_none() && options.pcap.as_ref().is_some_and(is_program) {
            options.program = options.pcap.replace(PathBuf::from("."));
        }
        let wrong = |problem| clap::Error::raw(clap::error::ErrorKind::ValueValidation, format!("{problem}\n"));
        options.grpc_tls.files().map_err(wrong)?;
        for (position, port) in options.interfaces.iter().enumerate() {
            for other in &options.interfaces[..position] {
                let problem = if other.number == port.number {
                    format!(
                        "port {} has two interfaces: {} and {}",
                        port.number, other.interface, port.interface
                    )
                } else if other.interface == port.interface {
                    format!(
                        "interface {} has two ports: {} and {}",
                        port.interface, other.number, port.number
                    )
                } else {
                    continue;
                };
                return Err(wrong(problem));
            }
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        let arguments = std::iter::once("p4sched-switch")
            .chain(line.split_whitespace())
            .map(OsString::from);
        Options::from_command_line(arguments).map_err(|error| error.to_string())
    }

    #[test]
    fn a_bmv2_command_line_is_understood() {
        let line = "--device-id 3 -i 1@s1-eth1 -i 2@s1-eth2 --thrift-port 9090 --log-console -L warn fdpa.json -- \
                    --grpc-server-addr 0.0.0.0:50051 --cpu-port 255 --drop-port 511 --priority-queues 8";
        let options = parse(line).expect("as mininet starts simple_switch_grpc");
        assert_eq!(options.device_id, 3);
        let ports: Vec<_> = options
            .interfaces
            .iter()
            .map(|port| (port.number, port.interface.as_str()))
            .collect();
        assert_eq!(ports, [(1, "s1-eth1"), (2, "s1-eth2")]);
        assert_eq!(options.grpc_server_addr, "0.0.0.0:50051");
        assert_eq!((options.cpu_port, options.log_level), (Some(255), Level::Warn));
        assert_eq!(options.program, Some(PathBuf::from("fdpa.json")));
    }

    #[test]
    fn the_command_line_of_the_tutorials_of_p4_is_understood() {
        let line = "-i 1@s1-eth1 -i 2@s1-eth2 --pcap pcaps --nanolog ipc:///tmp/bm-0-log.ipc --device-id 0 build/basic.json \
                    --log-console --thrift-port 9090 --log-file logs/s1.log --log-flush --dump-packet-data 10000 -- \
                    --grpc-server-addr 0.0.0.0:50051 --cpu-port 510";
        let options = parse(line).expect("utils/p4runtime_switch.py writes such a line");
        assert_eq!(options.device_id, 0);
        assert_eq!(options.program, Some(PathBuf::from("build/basic.json")));
        assert_eq!(options.pcap, Some(PathBuf::from("pcaps")));
        assert_eq!(options.log_file, Some(PathBuf::from("logs/s1.log")));
        assert_eq!(options.thrift_port, Some(9090));
        let ignored = ["--nanolog", "--dump-packet-data"];
        let lines = options.without_effect();
        assert_eq!(lines.len(), ignored.len());
        for (line, option) in lines.iter().zip(ignored) {
            assert!(line.starts_with(&format!("{option} is ignored: ")), "{line}");
        }
        let limits =
            parse("--no-p4 --p4info a.txtpb -- --priority-queues 4 --max-port-count 3").expect("flags of BMv2");
        assert_eq!(
            limits.without_effect(),
            [
                "--priority-queues is ignored: every port has eight queues",
                "--max-port-count is ignored: ports have numbers up to 510",
                "--p4info is ignored: there is no program",
            ]
        );
        let all = parse("--no-p4 -- --priority-queues 8").expect("flags of BMv2");
        assert_eq!(all.without_effect(), [""; 0]);
        let here = parse("--pcap a.json").expect("the folder is left out");
        assert_eq!(
            (here.pcap, here.program),
            (Some(PathBuf::from(".")), Some(PathBuf::from("a.json")))
        );
    }

    #[test]
    fn under_bmv2s_name_it_has_bmv2s_defaults() {
        let parse = |line: &str| {
            let arguments = line.split_whitespace().map(OsString::from);
            let options = Options::from_command_line(arguments).expect("the line is right");
            (options.device_id, options.grpc_server_addr)
        };
        assert_eq!(
            parse("/opt/bin/simple_switch_grpc --no-p4"),
            (0, "0.0.0.0:9559".to_owned())
        );
        assert_eq!(
            parse("simple_switch_grpc --device-id 4 --no-p4 -- --grpc-server-addr 127.0.0.1:1"),
            (4, "127.0.0.1:1".to_owned())
        );
        assert_eq!(parse("simple_switch --no-p4"), (0, "127.0.0.1:0".to_owned()));
        let help = Options::from_command_line(["simple_switch_grpc", "--help"].map(OsString::from));
        let help = help.expect_err("the help").to_string();
        assert!(
            help.contains("[default: 0]") && help.contains("[default: 0.0.0.0:9559]"),
            "{help}"
        );
    }

    #[test]
    fn under_bmv2s_name_words_that_belong_to_no_option_are_ignored_with_a_warning() {
        let warnings = |line: &str| {
            let arguments = line.split_whitespace().map(OsString::from);
            let options = Options::from_command_line(arguments).expect("BMv2 takes it");
            let ports: Vec<_> = options.interfaces.iter().map(|port| port.number).collect();
            (
                options.program.clone(),
                ports,
                options.stray_words().collect::<Vec<_>>(),
            )
        };
        let forgotten = "'3@veth4' is ignored: it belongs to no option; a port is attached by -i 3@veth4".to_owned();
        assert_eq!(
            warnings("simple_switch_grpc -i 2@veth2 3@veth4 -i 4@veth6 --no-p4 -- --cpu-port 255"),
            (None, vec![2, 4], vec![forgotten.clone()])
        );
        assert_eq!(
            warnings("simple_switch a.json -i 2@veth2 3@veth4 b.json"),
            (
                Some(PathBuf::from("a.json")),
                vec![2],
                vec![forgotten, "'b.json' is ignored: it belongs to no option".to_owned()]
            )
        );
        assert_eq!(warnings("simple_switch -i 2@veth2 a.json").2, [""; 0]);
        let elsewhere = parse("-i 2@veth2 3@veth4 --no-p4").expect_err("BMv2's names only");
        assert!(elsewhere.contains("cannot be used with"), "{elsewhere}");
        let elsewhere = parse("a.json -i 2@veth2 3@veth4").expect_err("BMv2's names only");
        assert!(elsewhere.contains("unexpected argument '3@veth4'"), "{elsewhere}");
    }

    #[test]
    fn error_details_are_cut_to_what_a_client_takes_and_hardly_so_under_bmv2s_name() {
        let metadata = |line: &str| {
            let arguments = line.split_whitespace().map(OsString::from);
            Options::from_command_line(arguments).map(|options| options.grpc_client_metadata)
        };
        assert_eq!(metadata("p4sched-switch --no-p4").ok(), Some(8192));
        assert_eq!(metadata("simple_switch_grpc --no-p4").ok(), Some(65536));
        let given = metadata("simple_switch_grpc --no-p4 --grpc-client-metadata 8192");
        assert_eq!(given.ok(), Some(8192));
        let refused = metadata("p4sched-switch --no-p4 --grpc-client-metadata 100");
        let refused = refused.expect_err("less than any client takes").to_string();
        assert!(refused.contains("use 8192 to 1048576"), "{refused}");
    }

    #[test]
    fn under_bmv2s_name_a_log_that_is_asked_for_tells_of_each_packet() {
        let parse = |line: &str| {
            let arguments = line.split_whitespace().map(OsString::from);
            let options = Options::from_command_line(arguments).expect("the line is right");
            assert!(options.without_effect().is_empty());
            let size = options.rotation().map(|rotation| rotation.size);
            let name = options.log_file.map(|path| path.display().to_string());
            (options.log_level, name, size)
        };
        let file = |name: &str| Some(name.to_owned());
        assert_eq!(parse("simple_switch_grpc --no-p4"), (Level::Info, None, None));
        assert_eq!(
            parse("simple_switch_grpc --no-p4 --log-console"),
            (Level::Trace, None, None)
        );
        let with_file = "simple_switch_grpc --no-p4 --log-file logs/s1.log";
        let bmv2s = file("logs/s1.log.txt");
        assert_eq!(parse(with_file), (Level::Trace, bmv2s.clone(), Some(5_242_880)));
        assert_eq!(
            parse(&format!("{with_file} -L info")),
            (Level::Info, bmv2s, Some(5_242_880))
        );
    }

    #[test]
    fn files_of_tls_are_used_only_with_the_flags_of_bmv2_that_ask_for_them() {
        let files = "--grpc-server-cert s.crt --grpc-server-key s.key --grpc-server-cacert ca.crt";
        let ignored = |line: &str| parse(line).expect("BMv2 takes it").without_effect();
        assert_eq!(ignored(files).len(), 3);
        assert_eq!(
            ignored(&format!("--grpc-server-ssl {files}")),
            ["--grpc-server-cacert is ignored: clients need no certificate without --grpc-server-with-client-auth"]
        );
        let both = parse(&format!(
            "a.json -- --grpc-server-ssl {files} --grpc-server-with-client-auth"
        ))
        .expect("all that BMv2 asks for");
        let found = both.grpc_tls.files().expect("it is whole").expect("it is asked for");
        assert_eq!(
            (found.certificate, found.key, found.clients),
            (Path::new("s.crt"), Path::new("s.key"), Some(Path::new("ca.crt")))
        );
    }

    #[test]
    fn bmv2s_limits_of_multicast_and_its_questions_for_versions_are_known() {
        let limits =
            parse("--no-p4 -- --max-mc-groups 9 --max-l1-entries 9 --max-l2-entries 9").expect("BMv2 has them");
        assert_eq!(
            limits.without_effect()[0],
            "--max-mc-groups is ignored: there is no such limit"
        );
        assert_eq!(limits.without_effect().len(), 3);
        assert!(parse("--json-version").expect("BMv2 has it").json_version);
        assert_eq!(
            parse("-v").expect_err("it ends"),
            parse("--version").expect_err("it ends")
        );
    }

    #[test]
    fn nothing_listens_beyond_loopback_unless_asked() {
        assert_eq!(
            parse("--no-p4").map(|options| options.grpc_server_addr),
            Ok("127.0.0.1:9559".to_owned())
        );
    }

    #[test]
    fn wrong_options_say_what_would_be_right() {
        let cases = [
            ("-i s1-eth1", "give PORT@IFACE, for example 1@s1-eth1"),
            ("--no-p4 --enable-swap --disable-swap", "cannot be used with"),
            ("--no-p4 --grpc-server-with-client-auth", "needs --grpc-server-ssl"),
            ("-i 511@a", "ports are 0 to 510"),
            ("-i 1@a -i 1@b", "port 1 has two interfaces: a and b"),
            ("-i 1@a -i 2@a", "interface a has two ports: 1 and 2"),
            ("--restore-state x", "not supported by this switch"),
            ("--use-files 1", "'p4sched trace' takes packets from files"),
            ("--dp-grpc-server-addr 0.0.0.0:50052", "packets come from interfaces"),
            ("--debugger-addr ipc:///x", "there is no debugger"),
            (
                "--grpc-server-ssl --grpc-server-cert a --no-p4",
                "needs --grpc-server-cert FILE and --grpc-server-key FILE",
            ),
            (
                "--grpc-server-ssl --grpc-server-cert a --grpc-server-key b --grpc-server-with-client-auth",
                "needs --grpc-server-cacert FILE",
            ),
            ("--load-modules x.so", "externs are those of the architecture"),
            ("--drop-port 3", "use 511: no other port drops"),
            ("--inject-stall 5", "give PERIOD,DURATION in microseconds"),
            ("--no-p4 a.json", "cannot be used with"),
            ("--p4info a.txtpb", "required"),
            ("--grpc-server-adr 1:1", "--grpc-server-addr"),
            ("--device-id s1", "invalid digit"),
        ];
        for (line, expected) in cases {
            let message = parse(line).expect_err(line);
            assert!(message.contains(expected), "{line}: {message}");
        }
    }
}
