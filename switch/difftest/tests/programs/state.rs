//! Registers of a program beside the cells of its model.

use p4sched_dataplane::Port;

use p4sched_simulator::model::{Model, ModelPort};
use p4sched_simulator::parameters::Scheme;
use p4sched_simulator::switch::Switch;

/// What a scheduler remembers, in the model and in the P4 program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    /// What it is, in the paper's words.
    pub name: &'static str,
    /// As the model has it.
    pub model: Vec<u64>,
    /// As the program has it.
    pub program: Vec<u64>,
}

/// Everything that both sides remember of a port and show.
pub fn compare(switch: &Switch, port: Port, model: &ModelPort, scheme: Scheme) -> Vec<Compared> {
    let cell = usize::from(port);
    let depths = |priority: usize| match scheme {
        // One buffer serves all priorities.
        Scheme::Pifo => model.depths().iter().sum(),
        _ => model.depths()[priority],
    };
    let mut compared = vec![Compared {
        name: "@queue_depth cells",
        model: (0..8).map(depths).collect(),
        program: (0..8)
            .map(|queue| switch.register("queue_depths", cell << 3 | queue))
            .collect(),
    }];
    if scheme != Scheme::Fdpa {
        compared.push(Compared {
            name: "virtual time",
            model: vec![model.virtual_time()],
            program: vec![switch.register("virtual_time", cell)],
        });
    }
    let register = |name: &str| switch.register(&format!("{}.{name}", scheme.ingress()), cell);
    let window = |cells: &[u32]| Compared {
        name: "window, by register",
        model: cells.iter().map(|&rank| u64::from(rank)).collect(),
        program: (0..cells.len())
            .map(|number| u64::from(!(register(&format!("window.cell_{number}.entry")) as u32)))
            .collect(),
    };
    match model.model() {
        Model::Aifo(aifo) => compared.push(window(aifo.window().cells())),
        Model::Packs(packs) => compared.push(window(packs.window().cells())),
        Model::Rifo(rifo) => {
            let (min, max) = rifo.range();
            compared.push(Compared {
                name: "Min, Max",
                model: vec![u64::from(min), u64::from(max)],
                program: vec![register("rank_range.min_rank"), register("rank_range.max_rank")],
            });
        }
        Model::SpPifo(sp_pifo) => {
            let lowered = register("mapping.lowered_by") as u32;
            // The top bit is 0 before the first push-up.
            let bound = |queue| match register(&format!("mapping.queue_{queue}.raised_bound")) {
                raised if raised >> 32 == 1 => (raised as u32).wrapping_sub(lowered),
                _ => 0,
            };
            compared.push(Compared {
                name: "bounds",
                model: sp_pifo.bounds().iter().map(|&bound| u64::from(bound)).collect(),
                program: (1..=sp_pifo.bounds().len())
                    .map(|queue| u64::from(bound(queue)))
                    .collect(),
            });
        }
        Model::Fifo(_) | Model::Pifo(_) | Model::Fdpa(_) => {}
    }
    compared
}
