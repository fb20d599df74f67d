//! Reading programs from files.

use std::fs;
use std::path::Path;

use p4sched_device::Program;
use p4sched_proto::DESCRIPTORS;
use p4sched_proto::p4::config::v1::P4Info;
use p4sched_proto::p4::v1::ForwardingPipelineConfig;
use prost_reflect::DynamicMessage;

fn p4info_from_text(text: &str) -> Result<P4Info, String> {
    let descriptor = DESCRIPTORS
        .get_message_by_name("p4.config.v1.P4Info")
        .ok_or("P4Info is not known")?;
    let text = text.trim_start_matches('\u{feff}');
    let message = DynamicMessage::parse_text_format(descriptor, text).map_err(|error| error.to_string())?;
    message.transcode_to().map_err(|error| error.to_string())
}

/// Reads BMv2 JSON and, if given, P4Info in text format.
///
/// # Errors
/// One line that names the file and the problem.
pub fn read_program(json: &Path, p4info: Option<&Path>) -> Result<Program, String> {
    let at = |path: &Path, problem: &dyn std::fmt::Display| format!("{}: {problem}", path.display());
    let program = fs::read(json).map_err(|error| at(json, &error))?;
    let Some(path) = p4info else {
        return Program::without_p4info(program).map_err(|fault| at(json, &fault));
    };
    let text = fs::read_to_string(path).map_err(|error| at(path, &error))?;
    let p4info =
        p4info_from_text(&text).map_err(|error| at(path, &format_args!("not P4Info in text format: {error}")))?;
    let config = ForwardingPipelineConfig {
        p4info: Some(p4info),
        p4_device_config: program,
        cookie: None,
    };
    Program::new(config).map_err(|fault| at(json, &fault))
}
