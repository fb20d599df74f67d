//! Metrics of a device in the text format of OpenMetrics 1.0, over HTTP.

use std::convert::Infallible;
use std::fmt::{Display, Write as _};
use std::task::{Context, Poll};

use p4sched_device::{Counts, Fidelity, TableFill, UpdateCounts};
use p4sched_proto::p4sched::v1::{Balance, GetStatsRequest, GetStatsResponse, PortStats, QueueStats};
use tokio::net::TcpListener;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::{self, http};
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;

use crate::handle::DeviceHandle;

const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const NANOS_PER_SECOND: f64 = 1e9;

/// Serves `/metrics` until a socket error.
///
/// # Errors
/// Those of the socket.
pub async fn serve_metrics(listener: TcpListener, device: DeviceHandle) -> Result<(), tonic::transport::Error> {
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    let server = Server::builder().accept_http1(true);
    server.serve_with_incoming(Service { device }, incoming).await
}

#[derive(Clone)]
struct Service {
    device: DeviceHandle,
}

impl codegen::Service<http::Request<Body>> for Service {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = codegen::BoxFuture<http::Response<Body>, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let device = self.device.clone();
        Box::pin(async move {
            let (status, kind, text) = if request.uri().path() != "/metrics" {
                (404, "text/plain", "the metrics are at /metrics\n".to_owned())
            } else if ![http::Method::GET, http::Method::HEAD].contains(request.method()) {
                (405, "text/plain", "use GET\n".to_owned())
            } else {
                match read(&device).await {
                    Ok(reading) => (200, CONTENT_TYPE, reading.text()),
                    Err(status) => (503, "text/plain", format!("{}\n", status.message())),
                }
            };
            let mut response = http::Response::new(Body::new(text));
            *response.status_mut() = http::StatusCode::from_u16(status).unwrap_or_default();
            let kind = http::HeaderValue::from_static(kind);
            response.headers_mut().insert(http::header::CONTENT_TYPE, kind);
            Ok(response)
        })
    }
}

/// Everything that the metrics show, at one instant.
struct Reading {
    device_id: u64,
    stats: GetStatsResponse,
    fidelity: Fidelity,
    tables: Vec<TableFill>,
    updates: UpdateCounts,
    notifications: Counts,
}

async fn read(device: &DeviceHandle) -> Result<Reading, Status> {
    let reading = device.try_run(|device, ports, now| {
        Ok(Reading {
            device_id: device.id(),
            stats: device.get_stats(&GetStatsRequest::default(), now, ports)?,
            fidelity: ports.fidelity(false),
            tables: device.tables(),
            updates: device.update_counts(),
            notifications: device.counts(),
        })
    });
    reading.await
}

/// A family: its name, its kind, its help, and the value of a sample.
type Family<T, V> = (&'static str, &'static str, &'static str, fn(&T) -> V);

type Labels<'a> = &'a [(&'a str, &'a dyn Display)];

/// The text of metrics.
#[derive(Default)]
struct Text(String);

impl Text {
    /// Writes a family: its head, and what `samples` writes with the name of its samples.
    fn family(&mut self, name: &str, kind: &str, help: &str, samples: impl FnOnce(&mut Text, &str)) {
        self.line(format_args!("# TYPE {name} {kind}\n# HELP {name} {help}"));
        match kind {
            "counter" => samples(self, &format!("{name}_total")),
            "info" => samples(self, &format!("{name}_info")),
            _ => samples(self, name),
        }
    }

    fn sample(&mut self, name: &str, labels: Labels<'_>, value: impl Display) {
        let escaped = |text: &dyn Display| {
            let text = text.to_string();
            text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
        };
        let labels: Vec<String> = (labels.iter())
            .map(|(label, text)| format!("{label}=\"{}\"", escaped(*text)))
            .collect();
        match labels.is_empty() {
            true => self.line(format_args!("{name} {value}")),
            false => self.line(format_args!("{name}{{{}}} {value}", labels.join(","))),
        }
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // A string takes everything.
        let _ = writeln!(self.0, "{line}");
    }
}

impl Reading {
    fn text(&self) -> String {
        let mut text = Text::default();
        text.family("p4sched_switch", "info", "The switch.", |text, name| {
            let version = env!("CARGO_PKG_VERSION");
            text.sample(name, &[("device_id", &self.device_id), ("version", &version)], 1);
        });
        self.ports(&mut text);
        self.queues(&mut text);
        self.program(&mut text);
        self.fidelity(&mut text);
        text.line(format_args!("# EOF"));
        text.0
    }

    fn ports(&self, text: &mut Text) {
        text.family(
            "p4sched_port_up",
            "gauge",
            "Whether the interface of a port is up.",
            |text, name| {
                for port in &self.stats.ports {
                    let labels: Labels<'_> = &[("port", &port.port), ("interface", &port.interface)];
                    text.sample(name, labels, u8::from(port.up));
                }
            },
        );
        let families: [Family<PortStats, [u64; 2]>; 3] = [
            (
                "p4sched_port_frames",
                "counter",
                "Frames that a port received and sent.",
                |port| [port.rx_packets, port.tx_packets],
            ),
            (
                "p4sched_port_bytes",
                "counter",
                "Bytes that a port received and sent.",
                |port| [port.rx_bytes, port.tx_bytes],
            ),
            (
                "p4sched_port_lost_frames",
                "counter",
                "Frames lost before the switch read them (in), and refused by the interface (out).",
                |port| [port.rx_lost, port.tx_errors],
            ),
        ];
        for (family, kind, help, counts) in families {
            text.family(family, kind, help, |text, name| {
                for port in &self.stats.ports {
                    for (direction, count) in ["in", "out"].iter().zip(counts(port)) {
                        let labels: Labels<'_> = &[
                            ("port", &port.port),
                            ("interface", &port.interface),
                            ("direction", direction),
                        ];
                        text.sample(name, labels, count);
                    }
                }
            });
        }
    }

    fn queues(&self, text: &mut Text) {
        let families: [Family<QueueStats, u64>; 4] = [
            (
                "p4sched_queue_packets",
                "gauge",
                "Packets that wait in a queue.",
                |queue| u64::from(queue.depth_packets),
            ),
            ("p4sched_queue_bytes", "gauge", "Bytes that wait in a queue.", |queue| {
                queue.depth_bytes
            }),
            (
                "p4sched_queue_sent_packets",
                "counter",
                "Packets that left a queue.",
                |queue| queue.dequeued_packets,
            ),
            (
                "p4sched_queue_dropped_packets",
                "counter",
                "Packets that a queue dropped: refused, pushed out, or flushed.",
                |queue| queue.dropped_packets,
            ),
        ];
        for (family, kind, help, value) in families {
            text.family(family, kind, help, |text, name| {
                for port in &self.stats.ports {
                    for queue in &port.queues {
                        let labels: Labels<'_> = &[
                            ("port", &port.port),
                            ("interface", &port.interface),
                            ("queue", &queue.queue),
                        ];
                        text.sample(name, labels, value(queue));
                    }
                }
            });
        }
        let balance = self.stats.balance.unwrap_or_default();
        let drops = "Packets dropped, by reason.";
        text.family("p4sched_dropped_packets", "counter", drops, |text, name| {
            for (reason, count) in reasons(&balance) {
                text.sample(name, &[("reason", &reason)], count);
            }
        });
    }

    fn program(&self, text: &mut Text) {
        let errors = "Packets that the parser rejected.";
        text.family("p4sched_parser_errors", "counter", errors, |text, name| {
            text.sample(name, &[], self.stats.parser_error_packets);
        });
        let families: [Family<TableFill, usize>; 2] = [
            ("p4sched_table_entries", "gauge", "Entries in a table.", |table| {
                table.entries
            }),
            (
                "p4sched_table_size",
                "gauge",
                "The largest number of entries in a table.",
                |table| table.size,
            ),
        ];
        for (family, kind, help, value) in families {
            text.family(family, kind, help, |text, name| {
                for table in &self.tables {
                    text.sample(name, &[("table", &table.name)], value(table));
                }
            });
        }
        let updates = "Updates in writes of controllers.";
        text.family("p4sched_updates", "counter", updates, |text, name| {
            text.sample(name, &[("result", &"applied")], self.updates.applied);
            text.sample(name, &[("result", &"refused")], self.updates.refused);
        });
        let balance = self.stats.balance.unwrap_or_default();
        let packets = "Packets from the controller (in) and to it (out).";
        text.family("p4sched_controller_packets", "counter", packets, |text, name| {
            text.sample(name, &[("direction", &"in")], balance.packets_out);
            text.sample(name, &[("direction", &"out")], balance.packets_in);
        });
        let lost = "Packets, digests and notices that no controller took.";
        text.family("p4sched_lost_notifications", "counter", lost, |text, name| {
            text.sample(name, &[], self.notifications.notifications_dropped);
        });
    }

    /// The fidelity since its last reset, by `GetFidelity` of the traffic manager.
    fn fidelity(&self, text: &mut Text) {
        let seconds = |nanos: u64| nanos as f64 / NANOS_PER_SECOND;
        let fidelity = &self.fidelity;
        let late = "Time from the ideal departure of a frame to its departure.";
        text.family("p4sched_lateness_seconds", "summary", late, |text, name| {
            let quantiles = [
                ("0.5", fidelity.lateness_p50_ns),
                ("0.99", fidelity.lateness_p99_ns),
                ("0.999", fidelity.lateness_p999_ns),
                ("1.0", fidelity.lateness_max_ns),
            ];
            for (quantile, nanos) in quantiles {
                text.sample(name, &[("quantile", &quantile)], seconds(nanos));
            }
            text.sample(&format!("{name}_count"), &[], fidelity.departures);
        });
        let cpu = "Processor time of the data plane.";
        text.family("p4sched_data_plane_cpu_seconds", "counter", cpu, |text, name| {
            text.sample(name, &[], seconds(fidelity.cpu_ns));
        });
    }
}

fn reasons(balance: &Balance) -> [(&'static str, u64); 9] {
    [
        ("no_program", balance.no_program),
        ("ingress", balance.ingress_dropped),
        ("egress", balance.egress_dropped),
        ("queue_full", balance.queue_dropped),
        ("pushed_out", balance.pushed_out),
        ("flushed", balance.flushed),
        ("clone_depth", balance.clone_depth_dropped),
        ("recirculation", balance.recirculation_dropped),
        ("link_delay", balance.delay_dropped),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_interfaces_and_tables_are_escaped() {
        let mut text = Text::default();
        text.family("t", "counter", "Help.", |text, name| {
            text.sample(name, &[("table", &"a\\b\"c\nd")], 3);
        });
        assert_eq!(
            text.0,
            "# TYPE t counter\n# HELP t Help.\nt_total{table=\"a\\\\b\\\"c\\nd\"} 3\n"
        );
    }
}
