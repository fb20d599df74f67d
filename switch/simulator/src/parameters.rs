//! The parameters of one port: for the model, and as the action data of the P4 program.

use p4sched_schedulers::scheme::TailDrop;
use p4sched_schedulers::{Config, Scheme, Target};
use rand::{Rng, RngCore};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// Configuration of the model.
    pub config: Config,
    /// True if the program drops at a full queue, false if the traffic manager does.
    pub at_ingress: bool,
}

impl Parameters {
    /// Parameters for which the program of this target drops at a full queue, if it can.
    pub fn new(config: Config, target: Target) -> Parameters {
        let at_ingress = config.scheme().tail_drop(target) != TailDrop::Queue;
        let config = config.on(target);
        Parameters { config, at_ingress }
    }

    /// Draws random parameters. They may replace the parameters `before`.
    pub fn draw(scheme: Scheme, target: Target, random: &mut impl RngCore, before: Option<&Parameters>) -> Parameters {
        let mut drawn = Parameters::new(scheme.draw(random, before.map(|before| &before.config)), target);
        if scheme.tail_drop(target) == TailDrop::Either {
            drawn.at_ingress = random.random();
        }
        drawn
    }

    /// The arguments of the program's action.
    pub fn arguments(&self) -> Vec<u64> {
        let sizes = self.config.queue_sizes();
        self.config.arguments(if self.at_ingress { sizes } else { &[] })
    }

    /// Size in packets of the traffic manager's queue of this priority; `None` if the program keeps the queue short at
    /// ingress.
    pub fn queue_size(&self, priority: usize) -> Option<usize> {
        if self.at_ingress {
            return None;
        }
        let p4 = self.config.scheme().p4();
        let sizes = self.config.queue_sizes();
        (0..sizes.len())
            .find(|&queue| p4.priority(queue) == priority)
            .map(|queue| sizes[queue])
    }
}
