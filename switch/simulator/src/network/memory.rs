//! The memory that the ports of a switch share: the rules of the traffic manager, with the models at the ports.

use p4sched_schedulers::{Config, Nanos, Verdict};
use p4sched_traffic_manager::Share;
use p4sched_world::topology::{Node, Topology};

use super::hosts::Net;
use super::port::Memory;

/// The memories of all switches.
#[derive(Debug)]
pub struct Memories {
    memory: Memory,
    /// Priorities of the queues of a port, by queue.
    priorities: Vec<u8>,
    switches: Vec<OfSwitch>,
    /// The queues of a switch, port by port, and from the lowest priority to the highest. Used within one call.
    shares: Vec<Share>,
}

/// The memory of a switch.
#[derive(Clone, Debug)]
struct OfSwitch {
    /// Its wires, by port.
    wires: Vec<u32>,
    /// The queue that last gave up a packet.
    last: usize,
    /// Number of the period in which each port last took thresholds for sizes.
    followed_in: Vec<Option<Nanos>>,
}

impl Memories {
    /// Empty memories. `scheduler`: that of all ports.
    pub fn new(memory: Memory, scheduler: &Config, topology: &Topology) -> Memories {
        let p4 = scheduler.scheme().p4();
        let queues = scheduler.queue_sizes().len();
        let of_switch = |switch: usize| {
            let mut wires: Vec<u32> = (0..)
                .zip(&topology.wires)
                .filter(|(_, wire)| wire.from == Node::Switch(switch as u32))
                .map(|(number, _)| number)
                .collect();
            wires.sort_by_key(|&wire| topology.wires[wire as usize].from_port);
            OfSwitch {
                last: (wires.len() * queues).saturating_sub(1),
                followed_in: vec![None; wires.len()],
                wires,
            }
        };
        Memories {
            memory,
            priorities: (0..queues).map(|queue| p4.priority(queue) as u8).collect(),
            switches: (0..topology.switches.len()).map(of_switch).collect(),
            shares: Vec::new(),
        }
    }

    /// Offers a packet to a port of a switch.
    pub fn offer(&mut self, switch: u32, wire: u32, number: u32, net: &mut Net) {
        let now = net.now();
        self.prepare(switch, wire, net);
        let verdict = net.lines[wire as usize].port.take(now, number, &mut net.packets);
        if let Verdict::Queued { .. } = verdict {
            self.reclaim(switch, net);
        }
        if let Some(at) = net.lines[wire as usize].port.send(now) {
            net.plan_sent(wire, at);
        }
        net.packets.drop_lost(number, verdict, &mut net.account);
    }

    /// Makes all departures that are due at the switch, and tells a port how much room the memory has for it.
    pub fn prepare(&mut self, switch: u32, wire: u32, net: &mut Net) {
        let now = net.now();
        let of = &mut self.switches[switch as usize];
        for &wire in &of.wires {
            net.lines[wire as usize].port.catch_up(now);
        }
        let place = of.wires.iter().position(|&one| one == wire);
        let place = place.expect("a packet leaves a switch by one of its wires");
        let period = self
            .memory
            .follow_every
            .map(|every| now.checked_div(every).unwrap_or(now));
        let follows = period.is_some() && of.followed_in[place] != period;
        of.followed_in[place] = period;
        self.list(switch, net);
        let port = &mut net.lines[wire as usize].port;
        let queues = self.priorities.len();
        for queue in 0..queues {
            let mut share = self.shares[place * queues + queues - 1 - queue];
            share.busy += u32::from(share.length == 0);
            let threshold = self.memory.config.threshold(&self.shares, &share) as usize;
            port.set_threshold(queue, threshold);
            if follows {
                port.set_size(queue, threshold);
            }
        }
    }

    /// Lists the queues of a switch.
    fn list(&mut self, switch: u32, net: &Net) {
        self.shares.clear();
        for &wire in &self.switches[switch as usize].wires {
            let port = &net.lines[wire as usize].port;
            let lengths = self.priorities.iter().enumerate().map(|(queue, _)| port.length(queue));
            let busy = lengths.clone().filter(|&length| length > 0).count() as u32;
            for (&priority, length) in self.priorities.iter().zip(lengths).rev() {
                self.shares.push(Share { priority, length, busy });
            }
        }
    }

    /// Drops the packet that a queue gives up after an arrival, if the memory is shared so.
    fn reclaim(&mut self, switch: u32, net: &mut Net) {
        let now = net.now();
        self.list(switch, net);
        let of = &mut self.switches[switch as usize];
        let Some(over) = self.memory.config.over(&self.shares, of.last) else {
            return;
        };
        of.last = over;
        let queues = self.priorities.len();
        let (place, queue) = (over / queues, queues - 1 - over % queues);
        let port = &mut net.lines[of.wires[place] as usize].port;
        if let Some(victim) = port.give_up(now, queue) {
            net.packets.drop(victim.id as u32, &mut net.account);
        }
    }
}
