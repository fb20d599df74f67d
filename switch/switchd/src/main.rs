//! `p4sched-switch`: the switch on real network interfaces, in real time.

mod bmv2_only;
mod clock;
mod gathering;
mod grpc_tls;
mod huge_pages;
mod lateness;
mod lending;
mod log;
mod options;
mod packet_log;
mod ports;
mod stalls;
mod switch;
mod waker;

use std::io;
use std::net::{TcpListener, ToSocketAddrs};
use std::process::ExitCode;
use std::sync::{Arc, mpsc};

use p4sched_device::{Device, Notification};
use p4sched_engine::Engine;
use p4sched_p4runtime::{DeviceHandle, Endpoint, NOTIFICATION_BACKLOG, Tls, read_program, serve, serve_metrics};
use tokio::signal::unix::{SignalKind, signal};

use clock::Clock;
use lending::Lending;
use log::Destination;
use options::{BMV2_JSON_VERSION, Options};
use ports::{Capture, Direction, KernelInterfaces, PortSpec, Receiver, Transmitter};
use switch::{Switch, Totals};
use waker::Waker;

fn main() -> ExitCode {
    huge_pages::ask();
    let options = match Options::from_command_line(std::env::args_os()) {
        Ok(options) => options,
        Err(error) => error.exit(),
    };
    if options.json_version {
        println!("{BMV2_JSON_VERSION}");
        return ExitCode::SUCCESS;
    }
    log::set_level(options.log_level);
    match run(options) {
        Ok(totals) => {
            log::info(&format!(
                "stopped: {} frames received, {} sent, {} dropped, {} for ports without an interface, {} lost before \
                 reception, {} refused by interfaces",
                totals.received, totals.sent, totals.dropped, totals.unconnected, totals.rx_lost, totals.tx_errors
            ));
            ExitCode::SUCCESS
        }
        Err(problem) => {
            log::always(&problem);
            ExitCode::FAILURE
        }
    }
}

fn open_port_problem(port: &PortSpec, error: &io::Error) -> String {
    let PortSpec { number, interface } = port;
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            format!("port {number}: no permission to open interface {interface}; run as root (or with CAP_NET_RAW)")
        }
        _ if ports::interface_index(interface).is_err() => {
            format!("port {number}: there is no interface {interface}; 'ip link' lists all interfaces")
        }
        _ => format!("port {number}: cannot open interface {interface}: {error}"),
    }
}

/// The socket of the Thrift server, if it is enabled. If the default port is in use, the switch runs without the
/// server.
fn listen_for_thrift(options: &Options) -> Result<Option<TcpListener>, String> {
    let Some(port) = options.thrift_port else {
        return Ok(None);
    };
    let listener = TcpListener::bind(("127.0.0.1", port)).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    match listener {
        Ok(listener) => Ok(Some(listener)),
        Err(error) if options.thrift_asked_for => Err(format!("--thrift-port {port}: {error}")),
        Err(error) => {
            log::warn(&format!(
                "no Thrift server: port {port}: {error}; use --thrift-port for another port"
            ));
            Ok(None)
        }
    }
}

/// A socket at the address that this flag gives.
fn listen(flag: &str, address: &str) -> Result<TcpListener, String> {
    let resolved = address
        .to_socket_addrs()
        .ok()
        .and_then(|mut addresses| addresses.next());
    let resolved = resolved.ok_or_else(|| format!("{flag} {address}: give HOST:PORT, for example 127.0.0.1:9559"))?;
    let listener = TcpListener::bind(resolved).map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => {
            format!("{resolved} is in use, perhaps by another switch; use {flag} for another address")
        }
        _ => format!("cannot listen on {resolved}: {error}"),
    })?;
    listener
        .set_nonblocking(true)
        .map_err(|error| format!("cannot listen on {resolved}: {error}"))?;
    Ok(listener)
}

/// Starts the switch and runs it until SIGINT or SIGTERM.
fn run(options: Options) -> Result<Totals, String> {
    let clock = Clock::start();
    if let Some(path) = &options.log_file {
        log::set_file(Destination::File, path, options.rotation(), options.log_flush)
            .map_err(|error| format!("--log-file: {}: {error}", path.display()))?;
    }
    options.without_effect().iter().for_each(|line| log::info(line));
    options.stray_words().for_each(|line| log::warn(&line));
    let program = options
        .program
        .as_ref()
        .map(|json| read_program(json, options.p4info.as_deref()))
        .transpose()?;
    let tls = options
        .grpc_tls
        .files()?
        .map(|files| Tls::from_files(&files, Arc::new(log::info)))
        .transpose()?;
    let listener = listen("--grpc-server-addr", &options.grpc_server_addr)?;
    let metrics = options.metrics.as_ref().map(|address| listen("--metrics", address));
    let metrics = metrics.transpose()?;
    let thrift = listen_for_thrift(&options)?;
    let mut receiver =
        Receiver::open(options.interfaces.clone()).map_err(|(port, error)| open_port_problem(&port, &error))?;
    let mut transmitter = Transmitter::new(clock);
    for attachment in receiver.attachments() {
        transmitter
            .attach(attachment)
            .map_err(|error| format!("port {}: cannot open a packet socket: {error}", attachment.port))?;
    }

    if let Some(folder) = &options.pcap {
        receiver.record(|interface| Capture::create(folder, interface, Direction::In))?;
        transmitter.record(options.interfaces.iter(), |interface| {
            Capture::create(folder, interface, Direction::Out)
        })?;
    }

    let mut engine = Engine::new();
    engine.set_cpu_port(options.cpu_port);
    if options.no_jit {
        engine.interpret();
    }
    let log_writer = packet_log::open(&options, clock)?.and_then(|log| {
        engine.trace(log.sink);
        log.writer
    });
    let (notifications, notified) = tokio::sync::mpsc::channel(NOTIFICATION_BACKLOG);
    let notify = move |notification| {
        let stamped = clock.sample().stamp(notification);
        notifications.try_send(stamped).is_ok()
    };
    let mut device = Device::new(options.device_id, engine, Box::new(notify));
    if let Some(program) = program {
        device.commit(program).map_err(|fault| fault.to_string())?;
    }
    let waker = Waker::new().map_err(|error| format!("eventfd: {error}"))?;
    let (jobs, waiting) = mpsc::channel();
    let lending = Arc::new(Lending::new(device, waker.clone(), clock));
    let switch = Switch::new(
        Arc::clone(&lending),
        receiver,
        transmitter,
        waiting,
        waker.clone(),
        clock,
        options.inject_stall,
    );
    let interfaces = KernelInterfaces::new();
    let switch = switch.reporting_to(interfaces.clone());
    let wake = waker.clone();
    let handle =
        DeviceHandle::new(jobs, Arc::new(move || wake.wake())).with_shortcut(Arc::new(move |edit| lending.edit(edit)));

    let real_time = !options.no_realtime;
    let (finished, end) = tokio::sync::oneshot::channel::<()>();
    let data_plane = std::thread::Builder::new()
        .name("data-plane".to_owned())
        .spawn(move || {
            // Dropped even if the loop panics, so the end of the thread is always noticed.
            let _finished = finished;
            switch.run(real_time)
        })
        .map_err(|error| format!("cannot start the data-plane thread: {error}"))?;
    let listeners = Listeners {
        grpc: listener,
        tls,
        interfaces,
        thrift,
        metrics,
    };
    let served = serve_until_signal(&options, listeners, handle, notified, end);
    waker.wake();
    let totals = data_plane
        .join()
        .map_err(|_| "the data plane failed, see above".to_owned())?;
    // The data plane has ended, so no more events follow.
    if log_writer.is_some_and(|writer| writer.join().is_err()) {
        log::warn("the log of packets failed, see above");
    }
    served.map(|()| totals)
}

/// The sockets of the servers.
struct Listeners {
    grpc: TcpListener,
    tls: Option<Tls>,
    interfaces: KernelInterfaces,
    thrift: Option<TcpListener>,
    metrics: Option<TcpListener>,
}

fn serve_until_signal(
    options: &Options,
    listeners: Listeners,
    handle: DeviceHandle,
    notified: tokio::sync::mpsc::Receiver<Notification>,
    end: tokio::sync::oneshot::Receiver<()>,
) -> Result<(), String> {
    // One thread serves all requests: with several threads, a request would need one more wake-up.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start the gRPC server: {error}"))?;
    let served = runtime.block_on(async {
        let mut interrupt = signal(SignalKind::interrupt()).map_err(|error| error.to_string())?;
        let mut terminate = signal(SignalKind::terminate()).map_err(|error| error.to_string())?;
        let Listeners {
            grpc,
            tls,
            interfaces,
            thrift,
            metrics,
        } = listeners;
        let address = grpc.local_addr().map_err(|error| error.to_string())?;
        let listener = tokio::net::TcpListener::from_std(grpc).map_err(|error| error.to_string())?;
        let ports: Vec<String> = options
            .interfaces
            .iter()
            .map(|port| format!("{}@{}", port.number, port.interface))
            .collect();
        let ports = if ports.is_empty() {
            "none".to_owned()
        } else {
            ports.join(" ")
        };
        let encrypted = if tls.is_some() { ", with TLS" } else { "" };
        let mut servers = format!("gRPC on {address}{encrypted}");
        if let Some(thrift) = thrift {
            let at = start_thrift(options, thrift, handle.clone()).map_err(|error| format!("Thrift: {error}"))?;
            servers = format!("{servers}, Thrift on {at}");
        }
        if let Some(metrics) = metrics {
            let at = start_metrics(metrics, handle.clone()).map_err(|error| format!("metrics: {error}"))?;
            servers = format!("{servers}, metrics on {at}");
        }
        log::always(&format!("device {}, {servers}, ports {ports}", options.device_id));
        let shutdown = async {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                _ = end => {}
            }
        };
        let endpoint = Endpoint {
            listener,
            tls,
            client_metadata: options.grpc_client_metadata,
            interfaces: Some(Arc::new(interfaces)),
        };
        serve(endpoint, options.device_id, handle, notified, shutdown)
            .await
            .map_err(|error| format!("gRPC: {error}"))
    });
    // Does not wait for streams. Dropping the runtime drops the last senders of jobs, and that ends the data plane.
    runtime.shutdown_timeout(std::time::Duration::from_millis(200));
    served
}

/// Serves BMv2's runtime interface until the runtime ends. Returns the address.
fn start_thrift(options: &Options, listener: TcpListener, handle: DeviceHandle) -> io::Result<std::net::SocketAddr> {
    let address = listener.local_addr()?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let identity = p4sched_thrift::Identity {
        device_id: options.device_id,
        thrift_port: address.port(),
        swap: !options.disable_swap,
    };
    let log: p4sched_thrift::Log = Arc::new(log::info);
    tokio::spawn(p4sched_thrift::serve(listener, identity, handle, log));
    Ok(address)
}

/// Serves metrics until the runtime ends. Returns the address.
fn start_metrics(listener: TcpListener, handle: DeviceHandle) -> io::Result<std::net::SocketAddr> {
    let address = listener.local_addr()?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    tokio::spawn(async move {
        if let Err(error) = serve_metrics(listener, handle).await {
            log::warn(&format!("the metrics are gone: {error}"));
        }
    });
    Ok(address)
}
