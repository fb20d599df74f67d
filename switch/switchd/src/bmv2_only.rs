//! Options of BMv2 that this switch accepts without effect, or refuses.

use clap::{ArgAction, Parser};

/// The number of queues of every port.
const QUEUES: u8 = 8;

/// Options of BMv2 that have no effect here, except perhaps a message.
#[derive(Debug, Parser)]
pub struct Ignored {
    /// No effect: every port has eight queues.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u8).range(1..=8))]
    priority_queues: Option<u8>,
    #[arg(long, hide = true)]
    nanolog: Option<String>,
    #[arg(long, hide = true)]
    notifications_addr: Option<String>,
    #[arg(long, hide = true)]
    trace_dir: Option<String>,
    #[arg(long, hide = true)]
    max_port_count: Option<u64>,
    #[arg(long, hide = true)]
    max_mc_groups: Option<u64>,
    #[arg(long, hide = true)]
    max_l1_entries: Option<u64>,
    #[arg(long, hide = true)]
    max_l2_entries: Option<u64>,
    /// No effect (an option of `simple_switch`): programs may always be swapped.
    #[arg(long, hide = true, conflicts_with = "disable_swap")]
    enable_swap: bool,
    #[arg(short = 'v', hide = true, action = ArgAction::Version)]
    short_version: Option<bool>,
}

impl Ignored {
    /// The options on the command line that have no effect, each with the reason.
    pub fn present(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let unlimited = "there is no such limit";
        let cases = [
            (
                "--priority-queues",
                self.priority_queues.is_some_and(|count| count != QUEUES),
                "every port has eight queues",
            ),
            (
                "--max-port-count",
                self.max_port_count.is_some(),
                "ports have numbers up to 510",
            ),
            ("--nanolog", self.nanolog.is_some(), "no events are published"),
            (
                "--notifications-addr",
                self.notifications_addr.is_some(),
                "digests and idle notices go over P4Runtime",
            ),
            (
                "--trace-dir",
                self.trace_dir.is_some(),
                "--log-json writes packets' ways",
            ),
            ("--max-mc-groups", self.max_mc_groups.is_some(), unlimited),
            ("--max-l1-entries", self.max_l1_entries.is_some(), unlimited),
            ("--max-l2-entries", self.max_l2_entries.is_some(), unlimited),
        ];
        let given = cases.into_iter().filter(|&(_, given, _)| given);
        given.map(|(option, _, why)| (option, why))
    }
}

/// Options of BMv2 that this switch refuses, because it cannot do what they need.
#[derive(Debug, Parser)]
pub struct Unsupported {
    #[arg(long, hide = true, value_parser = refuse("there is no debugger"), num_args = 0..=1, default_missing_value = "")]
    debugger: Vec<String>,
    #[arg(long, hide = true, value_parser = refuse("there is no debugger"))]
    debugger_addr: Vec<String>,
    #[arg(long, hide = true, value_parser = refuse("'p4sched trace' takes packets from files"), num_args = 0..=1, default_missing_value = "")]
    use_files: Vec<String>,
    #[arg(long, hide = true, value_parser = refuse("packets come from interfaces (-i PORT@IFACE)"))]
    packet_in: Vec<String>,
    #[arg(long, hide = true, value_parser = refuse("packets come from interfaces (-i PORT@IFACE)"))]
    dp_grpc_server_addr: Vec<String>,
    #[arg(long, hide = true, value_parser = refuse("state is written over P4Runtime"))]
    restore_state: Vec<String>,
    #[arg(long, hide = true, value_parser = refuse("externs are those of the architecture"))]
    load_modules: Vec<String>,
}

fn refuse(instead: &'static str) -> impl Fn(&str) -> Result<String, String> + Clone + Send + Sync + 'static {
    move |_| Err(format!("not supported by this switch: {instead}"))
}
