//! The traffic manager's service: translates requests for the engine.

use std::collections::BTreeMap;

use p4sched_dataplane::{Nanos, Port};
use p4sched_engine::{Balance, CalendarConfig, Engine, MemoryConfig, NodeConfig, PortSettings, QUEUES, TreeConfig};
use p4sched_proto::constants::RECIRCULATION_PORT_V1MODEL;
use p4sched_proto::p4sched::v1 as tm;

use crate::device::Device;
use crate::fault::Fault;
use crate::ports::Ports;

/// A port whose settings may change: it has an interface, or it leads back to the parser.
fn configurable(number: u32, ports: &dyn Ports, engine: &Engine) -> Result<Port, Fault> {
    let leads_back = |&port: &Port| {
        port == RECIRCULATION_PORT_V1MODEL || engine.pipeline().is_some_and(|pipeline| pipeline.recirculates(port))
    };
    match Port::try_from(number).ok().filter(leads_back) {
        Some(port) => Ok(port),
        None => port_of(number, ports),
    }
}

fn number(port: i32) -> Result<u32, Fault> {
    u32::try_from(port).map_err(|_| Fault::invalid(format!("port {port} is below 0")))
}

fn port_of(number: u32, ports: &dyn Ports) -> Result<Port, Fault> {
    let known = ports.numbers();
    let port = Port::try_from(number).ok().filter(|port| known.contains(port));
    port.ok_or_else(|| {
        let known: Vec<String> = known.iter().map(Port::to_string).collect();
        Fault::not_found(format!("no port {number}; this switch has {}", known.join(", ")))
    })
}

/// The ports that a request names; all ports if it names none.
pub(crate) fn selected(numbers: &[u32], ports: &dyn Ports) -> Result<Vec<Port>, Fault> {
    if numbers.is_empty() {
        return Ok(ports.numbers());
    }
    numbers.iter().map(|&number| port_of(number, ports)).collect()
}

/// Changes the settings that a request gives.
fn apply(settings: &mut PortSettings, given: &tm::PortConfig) -> Result<(), Fault> {
    let config = &mut settings.config;
    config.rate_bps = given.rate_bps.unwrap_or(config.rate_bps);
    config.delay_ns = given.delay_ns.unwrap_or(config.delay_ns);
    config.buffer_packets = given.buffer_packets.unwrap_or(config.buffer_packets);
    config.quantum_bytes = given.quantum_bytes.unwrap_or(config.quantum_bytes);
    if let Some(calendar) = &given.calendar {
        apply_calendar(&mut config.calendar, calendar);
    }
    if let Some(scrr) = &given.scrr {
        config.scrr.flow_packets = scrr.flow_packets.unwrap_or(config.scrr.flow_packets);
        config.scrr.version = scrr.version.unwrap_or(config.scrr.version);
    }
    if let Some(tree) = &given.tree {
        config.tree = TreeConfig {
            nodes: tree.nodes.iter().map(node).collect(),
        };
        settings.leaf_field = Some(tree.leaf_field.clone()).filter(|field| !field.is_empty());
        settings.level_rank_fields.clone_from(&tree.rank_fields);
    }
    if given.discipline.is_some() {
        config.discipline = given.discipline();
    }
    for queue in &given.queues {
        let index = usize::try_from(queue.queue).ok().filter(|&index| index < QUEUES);
        let index = index.ok_or_else(|| {
            Fault::invalid(format!(
                "port {}: no queue {}; queues are 0 to {}",
                given.port,
                queue.queue,
                QUEUES - 1
            ))
        })?;
        let config = &mut config.queues[index];
        config.size_packets = queue.depth_packets.unwrap_or(config.size_packets);
        config.rate_pps = queue.rate_pps.unwrap_or(config.rate_pps);
    }
    if let Some(field) = &given.user_field {
        settings.user_field = Some(field.clone()).filter(|field| !field.is_empty());
    }
    if let Some(field) = &given.rank_field {
        settings.rank_field = Some(field.clone()).filter(|field| !field.is_empty());
    }
    Ok(())
}

fn apply_calendar(calendar: &mut CalendarConfig, given: &tm::Calendar) {
    let kept = *calendar;
    *calendar = CalendarConfig {
        queues: given.queues.unwrap_or(kept.queues),
        queue_packets: given.queue_packets.unwrap_or(kept.queue_packets),
        bytes_per_round: given.bytes_per_round.unwrap_or(kept.bytes_per_round),
        turn_bytes: given.turn_bytes.unwrap_or(kept.turn_bytes),
        turn_ns: given.turn_ns.unwrap_or(kept.turn_ns),
        place: given.place.map_or(kept.place, |_| given.place()),
        rank_width: given.rank_width.unwrap_or(kept.rank_width),
        levels: given.levels.unwrap_or(kept.levels),
        burst_rounds: given.burst_rounds.unwrap_or(kept.burst_rounds),
        whole_sets: given.whole_sets.unwrap_or(kept.whole_sets),
        wraps: kept.wraps,
    };
}

fn node(given: &tm::TreeNode) -> NodeConfig {
    let weight_1 = NodeConfig::new(given.parent, given.discipline());
    NodeConfig {
        buffer_packets: given.buffer_packets,
        quantum_bytes: given.quantum_bytes,
        scale: if given.scale == 0 { weight_1.scale } else { given.scale },
        ..weight_1
    }
}

fn calendar_message(calendar: CalendarConfig) -> tm::Calendar {
    tm::Calendar {
        queues: Some(calendar.queues),
        queue_packets: Some(calendar.queue_packets),
        bytes_per_round: Some(calendar.bytes_per_round),
        turn_bytes: Some(calendar.turn_bytes),
        turn_ns: Some(calendar.turn_ns),
        place: Some(calendar.place.into()),
        rank_width: Some(calendar.rank_width),
        levels: Some(calendar.levels),
        burst_rounds: Some(calendar.burst_rounds),
        whole_sets: Some(calendar.whole_sets),
    }
}

fn tree_message(settings: &PortSettings) -> Option<tm::Tree> {
    let nodes = &settings.config.tree.nodes;
    let nodes = nodes.iter().map(|node| tm::TreeNode {
        parent: node.parent,
        discipline: node.discipline.into(),
        buffer_packets: node.buffer_packets,
        quantum_bytes: node.quantum_bytes,
        scale: node.scale,
    });
    (nodes.len() > 0).then(|| tm::Tree {
        nodes: nodes.collect(),
        leaf_field: settings.leaf_field.clone().unwrap_or_default(),
        rank_fields: settings.level_rank_fields.clone(),
    })
}

fn to_response(port: Port, settings: PortSettings) -> tm::PortConfig {
    let tree = tree_message(&settings);
    let config = settings.config;
    let queues = config.queues.iter().zip(0..).map(|(queue, number)| tm::QueueConfig {
        queue: number,
        depth_packets: Some(queue.size_packets),
        rate_pps: Some(queue.rate_pps),
    });
    tm::PortConfig {
        port: u32::from(port),
        rate_bps: Some(config.rate_bps),
        delay_ns: Some(config.delay_ns),
        discipline: Some(config.discipline.into()),
        queues: queues.collect(),
        buffer_packets: Some(config.buffer_packets),
        user_field: settings.user_field,
        rank_field: settings.rank_field,
        quantum_bytes: Some(config.quantum_bytes),
        calendar: Some(calendar_message(config.calendar)),
        tree,
        scrr: Some(tm::Scrr {
            flow_packets: Some(config.scrr.flow_packets),
            version: Some(config.scrr.version),
        }),
    }
}

impl Device {
    /// Changes port settings: all that the request names, or none. Call [`Device::advance`] with the present time
    /// first.
    ///
    /// # Errors
    /// `NOT_FOUND` for an unknown port, `INVALID_ARGUMENT` for settings that cannot work.
    pub fn set_ports(&mut self, request: &tm::SetPortsRequest, ports: &dyn Ports) -> Result<(), Fault> {
        let mut changed: BTreeMap<Port, PortSettings> = BTreeMap::new();
        for given in &request.ports {
            let port = configurable(given.port, ports, self.engine())?;
            let settings = changed.entry(port).or_insert_with(|| self.engine().port(port));
            apply(settings, given)?;
        }
        for (&port, settings) in &changed {
            self.engine()
                .check_port(port, settings)
                .map_err(|error| Fault::invalid(error.to_string()))?;
        }
        let memory = request.memory.as_ref().map(|given| self.memory_with(given));
        if let Some(memory) = memory {
            self.engine_mut()
                .set_memory(memory)
                .map_err(|error| Fault::invalid(error.to_string()))?;
        }
        for (port, settings) in changed {
            self.engine_mut()
                .set_port(port, settings)
                .map_err(|error| Fault::invalid(error.to_string()))?;
        }
        Ok(())
    }

    /// The settings of the memory, with those that a request gives.
    fn memory_with(&self, given: &tm::Memory) -> MemoryConfig {
        let kept = self.engine().memory();
        MemoryConfig {
            packets: given.packets.unwrap_or(kept.packets),
            sharing: given.sharing.map_or(kept.sharing, |_| given.sharing()),
            alpha_256: given.alpha_256.unwrap_or(kept.alpha_256),
        }
    }

    /// The settings of the memory that the queues of all ports share.
    pub fn memory(&self) -> tm::Memory {
        let memory = self.engine().memory();
        tm::Memory {
            packets: Some(memory.packets),
            sharing: Some(memory.sharing.into()),
            alpha_256: Some(memory.alpha_256),
        }
    }

    /// Sets the rate of a port in bit/s; 0 means no limit. Call [`Device::advance`] with the present time first.
    ///
    /// # Errors
    /// Those of [`Device::set_ports`], and `INVALID_ARGUMENT` for a negative number.
    pub fn set_port_rate(&mut self, port: i32, rate_bps: i64, ports: &dyn Ports) -> Result<(), Fault> {
        let rate_bps = u64::try_from(rate_bps)
            .map_err(|_| Fault::invalid(format!("port {port}: a rate of {rate_bps} bit/s is below 0")))?;
        let config = tm::PortConfig {
            port: number(port)?,
            rate_bps: Some(rate_bps),
            ..tm::PortConfig::default()
        };
        self.set_ports(
            &tm::SetPortsRequest {
                ports: vec![config],
                memory: None,
            },
            ports,
        )
    }

    /// The rate of a port in bit/s; 0 means no limit.
    ///
    /// # Errors
    /// `NOT_FOUND` for an unknown port.
    pub fn port_rate(&self, port: i32, ports: &dyn Ports) -> Result<u64, Fault> {
        let port = configurable(number(port)?, ports, self.engine())?;
        Ok(self.engine().port(port).config.rate_bps)
    }

    /// The settings of the requested ports.
    ///
    /// # Errors
    /// `NOT_FOUND` for an unknown port.
    pub fn get_ports(&self, request: &tm::GetPortsRequest, ports: &dyn Ports) -> Result<tm::GetPortsResponse, Fault> {
        let selected = selected(&request.ports, ports)?.into_iter();
        let ports = selected
            .map(|port| to_response(port, self.engine().port(port)))
            .collect();
        Ok(tm::GetPortsResponse {
            ports,
            memory: Some(self.memory()),
        })
    }

    /// The counts of the requested ports and of the program. Call [`Device::advance`] with the present time first.
    ///
    /// # Errors
    /// `NOT_FOUND` for an unknown port.
    pub fn get_stats(
        &self,
        request: &tm::GetStatsRequest,
        now: Nanos,
        ports: &mut dyn Ports,
    ) -> Result<tm::GetStatsResponse, Fault> {
        let selected = selected(&request.ports, ports)?.into_iter();
        let ports = selected.map(|port| self.port_stats(port, ports)).collect();
        let balance = self.engine().balance();
        Ok(tm::GetStatsResponse {
            now_ns: now,
            ports,
            ingress_dropped_packets: balance.ingress_dropped,
            egress_dropped_packets: balance.egress_dropped,
            parser_error_packets: balance.parser_errors,
            balance: Some(to_message(balance)),
        })
    }

    fn port_stats(&self, port: Port, ports: &mut dyn Ports) -> tm::PortStats {
        let counts = ports.counts(port);
        let traffic = self.engine().traffic(port);
        let queues = self.engine().queue_stats(port).queues;
        let queues = queues.iter().zip(0..).map(|(queue, number)| {
            let lost = queue.lost();
            tm::QueueStats {
                queue: number,
                depth_packets: u32::try_from(queue.length.packets).unwrap_or(u32::MAX),
                depth_bytes: queue.length.bytes,
                enqueued_packets: queue.enqueued.packets,
                enqueued_bytes: queue.enqueued.bytes,
                dequeued_packets: queue.dequeued.packets,
                dequeued_bytes: queue.dequeued.bytes,
                dropped_packets: lost.packets,
                dropped_bytes: lost.bytes,
                max_depth_packets: queue.max_length_packets,
                pushed_out_packets: queue.pushed_out.packets,
                flushed_packets: queue.flushed.packets,
            }
        });
        tm::PortStats {
            port: u32::from(port),
            interface: counts.interface,
            up: counts.up,
            rx_packets: counts.rx_packets,
            rx_bytes: counts.rx_bytes,
            tx_packets: counts.tx_packets,
            tx_bytes: counts.tx_bytes,
            tx_errors: counts.tx_errors,
            rx_lost: counts.rx_lost,
            queues: queues.collect(),
            taken_packets: traffic.received.packets,
            left_packets: traffic.transmitted.packets,
            round: self.engine().calendar_round(port),
        }
    }
}

fn to_message(balance: Balance) -> tm::Balance {
    tm::Balance {
        received: balance.received,
        packets_out: balance.packets_out,
        copies: balance.copies,
        transmitted: balance.transmitted,
        packets_in: balance.packets_in,
        no_program: balance.no_program,
        ingress_dropped: balance.ingress_dropped,
        egress_dropped: balance.egress_dropped,
        queue_dropped: balance.queue_dropped,
        pushed_out: balance.pushed_out,
        flushed: balance.flushed,
        clone_depth_dropped: balance.clone_depth_dropped,
        recirculation_dropped: balance.recirculation_dropped,
        delay_dropped: balance.delay_dropped,
        queued: balance.queued,
        recirculating: balance.recirculating,
        delayed: balance.delayed,
    }
}
