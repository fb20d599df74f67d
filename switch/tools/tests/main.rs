//! `p4sched-tools` runs each program, by its subcommand and by the name of a link.

use std::path::Path;
use std::process::{Command, Output};

fn output(program: &Path, words: &[&str]) -> Output {
    Command::new(program).args(words).output().expect("it starts")
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).expect("text")
}

#[test]
fn a_link_and_a_subcommand_are_the_same_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let tools = folder.path().join("p4sched-tools");
    std::fs::copy(env!("CARGO_BIN_EXE_p4sched-tools"), &tools).expect("a copy");
    // A program from an earlier build.
    std::fs::write(folder.path().join("p4sched-stepped"), "old").expect("a file");
    text(&output(&tools, &["link"]));
    text(&output(&tools, &["link"]));
    let link = folder.path().join("p4sched-stepped");
    let schemes = text(&output(&link, &["--list-schemes"]));
    assert!(schemes.contains("\"packs\""), "{schemes}");
    assert_eq!(text(&output(&tools, &["stepped", "--list-schemes"])), schemes);
    let help = text(&output(&tools, &["traffic", "udp-send", "--help"]));
    assert!(help.contains("Usage: p4sched-traffic udp-send"), "{help}");
}

#[test]
fn an_unknown_program_is_refused_with_the_names_of_all() {
    let refused = output(Path::new(env!("CARGO_BIN_EXE_p4sched-tools")), &["simulat"]);
    assert_eq!(refused.status.code(), Some(2));
    let says = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(says.contains("a similar subcommand exists: 'simulate'"), "{says}");
    let all = text(&output(Path::new(env!("CARGO_BIN_EXE_p4sched-tools")), &["--help"]));
    for name in ["simulate", "virtual", "traffic", "packet-trace", "fuzz", "link"] {
        assert!(all.contains(&format!("  {name} ")), "{all}");
    }
}
