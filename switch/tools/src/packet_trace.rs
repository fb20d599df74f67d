//! `p4sched-packet-trace`: sends captured packets through a program. `p4sched trace` calls it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read as _, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, mpsc};
use std::thread;

use clap::Parser;
use p4sched_dataplane::{DROP_PORT, Event, EventKind};
use p4sched_p4runtime::{DeviceHandle, Job, read_program};
use p4sched_packet_trace::json;
use p4sched_packet_trace::text::{Detail, TextOptions, lines};
use p4sched_packet_trace::way::{Bench, NoPorts};
use p4sched_packet_trace::{Packet, Reader};
use p4sched_thrift::Identity;

/// Shows how captured packets pass through a program, in stepped time. Exit code 1 if an input cannot be read.
#[derive(Debug, Parser)]
#[command(name = "p4sched-packet-trace", version)]
struct Args {
    /// Program (BMv2 JSON).
    program: PathBuf,
    /// Capture (pcap or pcapng).
    capture: PathBuf,
    /// P4Info of the program, in protobuf text format.
    #[arg(long, value_name = "FILE")]
    p4info: Option<PathBuf>,
    /// Port on which the packets arrive.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(0..i64::from(DROP_PORT)))]
    port: u16,
    /// Show only this packet, from 1; the packets before it still pass.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    packet: Option<u64>,
    /// Print each event as a line of JSON.
    #[arg(long)]
    json: bool,
    /// Read entries first: serve BMv2's runtime interface over Thrift on a port of loopback until standard input ends.
    /// The first line of the output is the port.
    #[arg(long)]
    await_entries: bool,
}

/// The number of bytes of a frame to show in text.
const DATA_BYTES: usize = 64;

pub fn main(words: Vec<OsString>) -> ExitCode {
    let args = Args::parse_from(words);
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            // If this fails, nobody reads it.
            let _ = writeln!(io::stderr(), "{problem}");
            ExitCode::FAILURE
        }
    }
}

/// The reason why no more packets are shown.
enum Stop {
    /// An input is missing or cannot be read.
    Input(String),
    /// The output cannot be written.
    Output(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Output(error)
    }
}

fn run(args: &Args) -> Result<(), String> {
    let program = read_program(&args.program, args.p4info.as_deref())?;
    let mut bench = Bench::new(program).map_err(|problem| format!("{}: {problem}", args.program.display()))?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    let walked = walk(args, &mut bench, &mut out);
    let written = out.flush();
    match walked.and_then(|()| Ok(written?)) {
        Ok(()) => Ok(()),
        Err(Stop::Input(problem)) => Err(problem),
        // The reader closed the output because it has seen enough.
        Err(Stop::Output(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(Stop::Output(error)) => Err(format!("the output cannot be written: {error}")),
    }
}

fn walk(args: &Args, bench: &mut Bench, out: &mut impl Write) -> Result<(), Stop> {
    let wrong = |problem: String| Stop::Input(format!("{}: {problem}", args.capture.display()));
    let file = File::open(&args.capture).map_err(|error| wrong(error.to_string()))?;
    let mut reader = Reader::new(BufReader::new(file)).map_err(wrong)?;
    if args.await_entries {
        await_entries(bench, out)?;
    }
    let mut count = 0;
    while let Some(packet) = reader.next_packet().map_err(wrong)? {
        count += 1;
        let (events, ended) = bench.send(args.port, &packet);
        if args.packet.is_none_or(|wanted| wanted == count) {
            match args.json {
                true => events
                    .iter()
                    .try_for_each(|event| writeln!(out, "{}", json(event, usize::MAX)))?,
                false => {
                    let seconds = bench.since_first(&packet) as f64 / 1e9;
                    show(out, (count, seconds), &packet, &events, ended)?;
                }
            }
        }
        if args.packet == Some(count) {
            return Ok(());
        }
    }
    match args.packet {
        Some(wanted) => Err(wrong(format!("there is no packet {wanted}; there are {count}"))),
        None if count == 0 && !args.json => Ok(writeln!(out, "the capture holds no packets")?),
        None => Ok(()),
    }
}

/// Shows the path of a packet as text: its arrival, its events, and the packets that leave.
fn show(
    out: &mut impl Write,
    (number, seconds): (u64, f64),
    packet: &Packet,
    events: &[Event],
    ended: bool,
) -> io::Result<()> {
    const OPTIONS: TextOptions = TextOptions {
        detail: Detail::Trace,
        data_bytes: DATA_BYTES,
    };
    let captured = match packet.frame.len() {
        whole if whole >= packet.length as usize => String::new(),
        cut => format!(", of which {cut} were captured"),
    };
    writeln!(
        out,
        "packet {number}: {seconds:.6} s, {} bytes{captured}",
        packet.length
    )?;
    for event in events {
        let copy = match event.id.copy {
            0 => String::new(),
            copy => format!("copy {copy}: "),
        };
        for (_, text) in lines(event, OPTIONS) {
            writeln!(out, "  {copy}{}", text.replace("\n* ", "\n      "))?;
        }
    }
    if !ended {
        writeln!(out, "  The packet goes on for ever; here it ends.")?;
    }
    let sent = events.iter().filter_map(|event| match &event.what {
        EventKind::Transmitted { port, bytes, .. } => Some(format!("port {port}: {bytes} bytes")),
        _ => None,
    });
    let sent: Vec<String> = sent.collect();
    match sent.is_empty() {
        true => writeln!(out, "  => nothing\n"),
        false => writeln!(out, "  => {}\n", sent.join(", ")),
    }
}

/// Lets a client write entries until standard input ends.
fn await_entries(bench: &mut Bench, out: &mut impl Write) -> Result<(), Stop> {
    let no_server = |error: io::Error| Stop::Input(format!("no server for entries: {error}"));
    let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(no_server)?;
    let port = listener.local_addr().map_err(no_server)?.port();
    listener.set_nonblocking(true).map_err(no_server)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(no_server)?;
    let (jobs, waiting) = mpsc::channel::<Job>();
    let handle = DeviceHandle::new(jobs.clone(), Arc::new(|| {}));
    let _inside = runtime.enter();
    let listener = tokio::net::TcpListener::from_std(listener).map_err(no_server)?;
    let identity = Identity {
        device_id: 0,
        thrift_port: port,
        swap: false,
    };
    let log: p4sched_thrift::Log = Arc::new(|line| eprintln!("{line}"));
    runtime.spawn(p4sched_thrift::serve(listener, identity, handle, log));
    writeln!(out, "{port}")?;
    out.flush()?;
    let (exit_code, end) = mpsc::channel::<()>();
    thread::spawn(move || {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        let _ = exit_code.send(());
        // Wakes the loop below.
        let _ = jobs.send(Box::new(|_, _, _| {}));
    });
    for job in waiting {
        let (device, now) = bench.device();
        job(device, &mut NoPorts, now);
        if end.try_recv().is_ok() {
            break;
        }
    }
    Ok(())
}
