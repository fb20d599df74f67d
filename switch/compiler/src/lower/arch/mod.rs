//! Architectures: the blocks that the package `main` is made of, and the storage that they share. Each architecture has a
//! file here, and one in `externs` for its functions and objects; none knows another.

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

/// Kind of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Block {
    Parser,
    Control,
    Deparser,
    /// A control for checksums only.
    Checksums,
}

impl Lowerer<'_> {
    /// Lowers all blocks of the package that `main` is an instance of.
    pub(super) fn architecture(&mut self, package: &str, args: &[Option<tree::Expr>], span: Span) {
        match self.ir.arch {
            Arch::V1model => self.v1model(package, args, span),
            Arch::Tna | Arch::T2na => self.tna(package, args, span),
        }
    }

    /// A parser or control of the package. Its full name is that of its type, whatever the instance is called.
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

    /// The statements of a control whose parameters are bound.
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

/// The instances that a package's arguments are; `None` if one is anything else.
fn instances(args: &[Option<tree::Expr>]) -> Option<Vec<InstanceId>> {
    args.iter().map(instance_of).collect()
}

fn instance_of(arg: &Option<tree::Expr>) -> Option<InstanceId> {
    match arg.as_ref().map(|e| &e.kind) {
        Some(ExprKind::Instance(id)) => Some(*id),
        _ => None,
    }
}
