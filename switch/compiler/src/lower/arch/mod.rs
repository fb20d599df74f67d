//! Architectures: the blocks in the package `main`, and their shared storage. Each architecture has one file here, and
//! one in `externs` for its functions and objects. No architecture depends on another.

pub(super) mod tna;
pub(super) mod v1model;

use super::{FrameRef, Lowerer, Object};
use crate::{
    arch::Arch,
    ir::Stmt,
    source::Span,
    typed::{
        annotations::name_of,
        tree::{self, ExprKind, Maker},
        types::{ControlId, InstanceId},
    },
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Block {
    Parser,
    Control,
    Deparser,
    /// A control for checksums only.
    Checksums,
}

impl Lowerer<'_> {
    /// Lowers all blocks of the package that `main` instantiates.
    pub(super) fn architecture(&mut self, package: &str, args: &[Option<tree::Expr>], span: Span) {
        match self.ir.arch {
            Arch::V1model => self.v1model(package, args, span),
            Arch::Tna | Arch::T2na => self.tna(package, args, span),
        }
    }

    /// A parser or control of the package. Its full name is the name of its type, not of the instance.
    fn block_instance(&mut self, id: InstanceId) -> Object {
        let instance = &self.program.instances[id.index()];
        let of_type = match &instance.maker {
            Maker::Control(c) => self.program.controls[c.index()].name.to_string(),
            Maker::Parser(p) => self.program.parsers[p.index()].name.to_string(),
            _ => String::new(),
        };
        let name = name_of(&instance.annotations).unwrap_or(of_type);
        self.instantiate_named(id, name.trim_start_matches('.').to_owned())
    }

    /// Statements of a control with bound parameters.
    fn main_control(&mut self, control: ControlId, frame: &FrameRef) -> Vec<Stmt> {
        let outer = std::mem::replace(&mut self.frame, frame.clone());
        let mut out = Vec::new();
        self.control_body(control, &mut out);
        self.frame = outer;
        out
    }

    fn pipeline(&mut self, name: &'static str, control: String, span: Span, out: Vec<Stmt>) {
        let mut pipeline = self.graph(out);
        (pipeline.name, pipeline.control, pipeline.span) = (name, control, span);
        self.ir.pipelines.push(pipeline);
    }
}

/// Instances in the arguments of a package; `None` if an argument is not an instance.
fn instances(args: &[Option<tree::Expr>]) -> Option<Vec<InstanceId>> {
    args.iter().map(instance_of).collect()
}

fn instance_of(arg: &Option<tree::Expr>) -> Option<InstanceId> {
    match arg.as_ref().map(|e| &e.kind) {
        Some(ExprKind::Instance(id)) => Some(*id),
        _ => None,
    }
}
