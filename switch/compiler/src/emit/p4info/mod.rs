//! P4Info.

use p4sched_proto::p4::config::v1::P4Info;

use crate::{diagnostics::Reporter, ir::Ir, typed::tree::Program};

pub(crate) fn emit(_program: &Program, _ir: &Ir, _reporter: &mut Reporter) -> P4Info {
    P4Info::default()
}
