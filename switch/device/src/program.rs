//! A program with its control-plane state, before it is active.

use std::borrow::Cow;

use p4sched_dataplane::Pipeline;
use p4sched_proto::p4::config::v1::P4Info;
use p4sched_proto::p4::v1 as p4rt;
use prost::Message as _;

use crate::entities::table_entries::adopt_initial;
use crate::fault::Fault;
use crate::forwarding::Forwarding;
use crate::{derived, translated};

/// A parsed and checked program, with its control-plane state. It is created outside the data-plane thread.
#[derive(Debug)]
pub struct Program {
    pub(crate) pipeline: Pipeline,
    pub(crate) forwarding: Forwarding,
}

/// The message around the JSON that early versions of simple_switch_grpc expect (p4.tmp.P4DeviceConfig of P4Runtime's
/// drafts). P4's tutorials and many controllers still send it.
#[derive(prost::Message)]
struct P4DeviceConfig {
    #[prost(bytes = "vec", tag = "3")]
    device_data: Vec<u8>,
}

/// The BMv2 JSON of a device configuration: either the whole of it, or the part inside a P4DeviceConfig.
pub fn program_json(config: &[u8]) -> Cow<'_, [u8]> {
    let is_json = config.trim_ascii_start().first() == Some(&b'{');
    match P4DeviceConfig::decode(config) {
        Ok(wrapped) if !is_json && !wrapped.device_data.is_empty() => Cow::Owned(wrapped.device_data),
        _ => Cow::Borrowed(config),
    }
}

impl Program {
    /// Parses, checks and compiles a pipeline configuration. It has P4Info and a device configuration: BMv2 JSON, alone
    /// or in a `p4.tmp.P4DeviceConfig`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if one of them is wrong, or if they do not belong together.
    pub fn new(mut config: p4rt::ForwardingPipelineConfig) -> Result<Program, Fault> {
        let p4info = config.p4info.take();
        Program::with(config, |_| p4info)
    }

    fn with(
        mut config: p4rt::ForwardingPipelineConfig,
        p4info: impl FnOnce(&Pipeline) -> Option<P4Info>,
    ) -> Result<Program, Fault> {
        let mut pipeline = Pipeline::from_json(&program_json(&config.p4_device_config)).map_err(|error| {
            Fault::invalid(format!(
                "p4_device_config is not a program of this switch (BMv2 JSON): {error}"
            ))
        })?;
        config.p4info = p4info(&pipeline);
        // A part that cannot be compiled is interpreted.
        pipeline.compile();
        let mut forwarding = Forwarding::new(config, &pipeline)?;
        adopt_initial(&mut forwarding, &pipeline)?;
        translated::keep_initial(&mut forwarding, &pipeline);
        Ok(Program { pipeline, forwarding })
    }

    /// Creates a program without P4Info. What the tables need from P4Info is derived from the program.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if the JSON is wrong.
    pub fn without_p4info(json: Vec<u8>) -> Result<Program, Fault> {
        let config = p4rt::ForwardingPipelineConfig {
            p4info: None,
            p4_device_config: json,
            cookie: None,
        };
        Program::with(config, |pipeline| Some(derived::p4info(pipeline)))
    }
}
