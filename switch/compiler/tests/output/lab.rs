//! The programs in `p4/`: names and ids on which the controller relies.

use p4sched_compiler::{Compiled, Input, Options, compile};
use p4sched_dataplane::Pipeline;

use crate::common::{Lab, lab_program};

fn program(name: &str) -> Compiled {
    let (file, text) = lab_program(name);
    let input = Input {
        name: &file,
        text: &text,
    };
    let includes = Lab {
        with_architecture: true,
    };
    match compile(&input, &includes, &Options::default()) {
        Ok(compiled) => compiled,
        Err(diagnostics) => panic!("{diagnostics}"),
    }
}

#[test]
fn every_program_compiles_without_a_warning_and_loads() {
    for name in ["aifo", "fdpa", "fifo", "packs", "rifo", "sp_pifo"] {
        let compiled = program(name);
        assert!(compiled.warnings.is_empty(), "{name}: {}", compiled.warnings);
        let loaded = Pipeline::from_json(compiled.json.as_bytes());
        assert!(
            loaded.is_ok(),
            "{name}: {}",
            loaded.err().map_or(String::new(), |e| e.to_string())
        );
    }
}

#[test]
fn the_register_of_queue_depths_carries_its_annotation() {
    for name in ["aifo", "packs", "rifo"] {
        let info = program(name).p4info;
        let preambles: Vec<_> = info.registers.iter().filter_map(|r| r.preamble.as_ref()).collect();
        let marked = preambles
            .iter()
            .filter(|p| p.annotations.iter().any(|a| a.starts_with("@queue_depth")));
        assert_eq!(marked.count(), 1, "{name}");
    }
}

#[test]
fn the_parameters_of_aifo_are_action_data_in_the_order_of_the_paper() {
    let info = program("aifo").p4info;
    let named =
        |p: &Option<p4sched_proto::p4::config::v1::Preamble>, name: &str| p.as_ref().is_some_and(|p| p.name == name);
    let table = info
        .tables
        .iter()
        .find(|t| named(&t.preamble, "AifoIngress.aifo_params"))
        .expect("a table");
    let action = info
        .actions
        .iter()
        .find(|a| named(&a.preamble, "AifoIngress.set_aifo"))
        .expect("an action");
    assert_eq!(
        table.action_refs[0].id,
        action.preamble.as_ref().expect("a preamble").id
    );
    let params: Vec<(&str, i32)> = action.params.iter().map(|p| (p.name.as_str(), p.bitwidth)).collect();
    assert_eq!(
        params,
        [
            ("target_packets", 16),
            ("capacity_packets", 16),
            ("headroom_256", 8),
            ("window_ranks", 8),
            ("sampling", 32)
        ]
    );
    // The defaults of the paper: C = 20, k = 0.1, |W| = 20, S = 15.
    let default = table.initial_default_action.as_ref().expect("a default");
    let values: Vec<u64> = default
        .arguments
        .iter()
        .map(|a| a.value.iter().fold(0, |n, b| n << 8 | u64::from(*b)))
        .collect();
    assert_eq!(values, [20, 20, 26, 20, 15]);
}
