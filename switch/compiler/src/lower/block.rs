//! The six blocks of v1model, and the storage that they share.

use super::{
    Block, Lowerer, Object,
    storage::SCALARS,
    value::{Loc, Value},
};
use crate::{
    ir::{Expr, Field, Pipeline, Stmt},
    source::Span,
    syntax::ast::Composite,
    typed::{
        tree::{self, ExprKind, Maker},
        types::{InstanceId, StructId, Type, VarId},
    },
};

/// What is said of anything else in the controls for checksums.
pub(super) const CHECKSUMS_ONLY: &str = "in checksum controls BMv2 takes only verify_checksum and update_checksum, \
                                         of fields and constants, and 'if' around them";

/// What all blocks work on.
pub(super) struct Shared {
    headers: Loc,
    metadata: Loc,
    standard: Loc,
}

impl Lowerer<'_> {
    /// Lowers the arguments of `V1Switch`.
    pub(super) fn switch(&mut self, args: &[Option<tree::Expr>], span: Span) {
        let instances: Option<Vec<InstanceId>> = args.iter().map(instance_of).collect();
        let Some(instances) = instances else {
            self.error(span, "the arguments of V1Switch must be instances");
            return;
        };
        let Some(shared) = self.shared_storage(instances[0]) else {
            return;
        };
        let blocks = [
            Block::Parser,
            Block::Verify,
            Block::Ingress,
            Block::Egress,
            Block::Update,
            Block::Deparser,
        ];
        let mut objects = Vec::new();
        for id in instances {
            let name = self.type_name(id);
            objects.push((self.instantiate_as(id, &name), id));
        }
        // p4c numbers hidden things of ingress and egress first; the order has no meaning beyond that.
        for (block, (object, id)) in blocks.into_iter().zip(&objects) {
            self.block = block;
            match object {
                Object::Parser(parser, frame) => {
                    let params = self.program.parsers[parser.index()].params.clone();
                    self.bind_block(frame, &params, &shared);
                    self.main_parser(*parser, frame);
                }
                Object::Control(control, frame) => {
                    let def = &self.program.controls[control.index()];
                    let (params, span, name) = (def.params.clone(), def.span, def.name.to_string());
                    self.bind_block(frame, &params, &shared);
                    let outer = std::mem::replace(&mut self.frame, frame.clone());
                    let mut out = Vec::new();
                    self.control_body(*control, &mut out);
                    self.finish_block(block, name, span, out);
                    self.frame = outer;
                }
                _ => self.error(
                    self.program.instances[id.index()].span,
                    "a parser or control is expected",
                ),
            }
        }
        self.list_symbols(objects.into_iter().map(|(object, _)| object).collect());
        self.deparser_check();
        self.pad_scalars();
    }

    fn finish_block(&mut self, block: Block, control: String, span: Span, out: Vec<Stmt>) {
        match block {
            Block::Ingress | Block::Egress => {
                let pipeline = self.pipeline(control, span, out);
                self.ir.pipelines.push(pipeline);
            }
            Block::Deparser => self.deparser(span, out),
            Block::Verify | Block::Update => self.checksum_block(out),
            Block::Parser => {}
        }
    }

    /// Checksum controls hold nothing but calls of the checksum functions.
    fn checksum_block(&mut self, stmts: Vec<Stmt>) {
        for stmt in super::flow::flattened(stmts) {
            let span = match &stmt {
                Stmt::Primitive(p) => p.span,
                Stmt::If(_, _, _, span) | Stmt::Apply(_, _, span) | Stmt::Exit(span) | Stmt::Loop(_, span) => *span,
                Stmt::Block(..) | Stmt::Break(_) => Span::default(),
            };
            self.error(span, CHECKSUMS_ONLY);
        }
    }

    fn type_name(&self, id: InstanceId) -> String {
        match &self.program.instances[id.index()].maker {
            Maker::Control(c) => self.program.controls[c.index()].name.to_string(),
            Maker::Parser(p) => self.program.parsers[p.index()].name.to_string(),
            _ => String::new(),
        }
    }

    /// An instance whose full name is that of its type.
    fn instantiate_as(&mut self, id: InstanceId, name: &str) -> Object {
        let object = self.instantiate(id, "");
        if self.program.instances[id.index()].name.as_ref() != name {
            return self.instantiate_renamed(id, name, object);
        }
        object
    }

    /// A named instance at the top level, as `MyIngress() ig;`: its parts are still named after its type.
    fn instantiate_renamed(&mut self, id: InstanceId, name: &str, object: Object) -> Object {
        let own = self.program.instances[id.index()].name.to_string();
        let rename = |text: &mut String| {
            if let Some(rest) = text.strip_prefix(&format!("{own}.")) {
                *text = format!("{name}.{rest}");
            }
        };
        self.ir.counters.iter_mut().for_each(|c| rename(&mut c.name));
        self.ir.meters.iter_mut().for_each(|m| rename(&mut m.name));
        self.ir.registers.iter_mut().for_each(|r| rename(&mut r.name));
        self.ir.profiles.iter_mut().for_each(|p| rename(&mut p.name));
        self.ir.value_sets.iter_mut().for_each(|v| rename(&mut v.name));
        if let Object::Control(_, frame) | Object::Parser(_, frame) = &object {
            rename_frames(frame, &own, name);
        }
        object
    }

    fn shared_storage(&mut self, parser: InstanceId) -> Option<Shared> {
        let Maker::Parser(id) = &self.program.instances[parser.index()].maker else {
            return None;
        };
        let params = &self.program.parsers[id.index()].params;
        let ty = |l: &Self, i: usize| params.get(i).map(|v| l.program.vars[v.index()].ty.clone());
        let (headers, metadata, standard) = (ty(self, 1)?, ty(self, 2)?, ty(self, 3)?);
        let Type::Struct(standard) = standard else { return None };
        let standard = self.fixed_headers(standard);
        let span = self.program.vars[params[1].index()].span;
        let headers = match &headers {
            Type::Struct(id) if self.program.types.get(*id).kind == Composite::Struct => {
                self.check_headers(*id);
                Loc::Struct(self.struct_storage("", *id, span))
            }
            other => {
                let shown = self.show(other);
                self.error(span, format!("the headers must be a struct of headers, not {shown}"));
                return None;
            }
        };
        let metadata = match &metadata {
            Type::Struct(id) if self.program.types.get(*id).kind == Composite::Struct => {
                Loc::Struct(self.struct_storage("userMetadata", *id, span))
            }
            Type::Tuple(types) if types.is_empty() => Loc::Struct(Vec::new()),
            other => {
                let shown = self.show(other);
                self.error(span, format!("the user metadata must be a struct, not {shown}"));
                return None;
            }
        };
        Some(Shared {
            headers,
            metadata,
            standard,
        })
    }

    /// The struct of headers holds headers, stacks, unions and structs of these.
    fn check_headers(&mut self, id: StructId) {
        for field in self.program.types.get(id).fields.clone() {
            match &field.ty {
                Type::Struct(inner) if self.program.types.get(*inner).kind == Composite::Struct => {
                    self.check_headers(*inner);
                }
                Type::Struct(_) | Type::Stack(..) => {}
                other => {
                    let (owner, shown) = (self.program.types.get(id).name.clone(), self.show(other));
                    let at = self.program.types.get(id).span;
                    let message = format!(
                        "{owner} is used for the packet's headers, so its field '{}' must be a header, not {shown}",
                        field.name
                    );
                    self.error(at, message);
                }
            }
        }
    }

    /// Binds the parameters of a block by their types.
    fn bind_block(&mut self, frame: &super::FrameRef, params: &[VarId], shared: &Shared) {
        let mut places = match self.block {
            Block::Parser | Block::Deparser => vec![None],
            _ => Vec::new(),
        };
        places.extend([Some(&shared.headers), Some(&shared.metadata), Some(&shared.standard)]);
        for (var, place) in params.iter().zip(places) {
            let value = match place {
                Some(loc) => Value::Place(loc.clone()),
                None if self.block == Block::Parser => Value::Object(Object::PacketIn),
                None => Value::Object(Object::PacketOut),
            };
            frame.borrow_mut().vars.insert(*var, value);
        }
        self.metadata = Some((shared.metadata.clone(), self.metadata_type(params)));
    }

    fn metadata_type(&self, params: &[VarId]) -> Option<StructId> {
        let at = if matches!(self.block, Block::Parser) { 2 } else { 1 };
        match params.get(at).map(|v| &self.program.vars[v.index()].ty) {
            Some(Type::Struct(id)) => Some(*id),
            _ => None,
        }
    }

    /// Fields of the user metadata annotated `@field_list(number)`.
    pub(super) fn metadata_fields(&mut self, number: u64) -> Vec<Expr> {
        let Some((Loc::Struct(parts), Some(id))) = self.metadata.clone() else {
            return Vec::new();
        };
        let mut list = Vec::new();
        self.collect_fields(id, &parts, number, false, &mut list);
        list
    }

    fn collect_fields(&self, id: StructId, parts: &[Loc], number: u64, all: bool, list: &mut Vec<Expr>) {
        for (field, part) in self.program.types.get(id).fields.iter().zip(parts) {
            let kept = all || Self::in_list(&field.annotations, number);
            match (part, &field.ty) {
                (Loc::Struct(inner), Type::Struct(id)) => self.collect_fields(*id, inner, number, kept, list),
                (Loc::Field(..), _) if kept => list.push(part.read().scalar()),
                (Loc::Header(header, id), _) if kept => {
                    list.extend(self.header_fields(header, *id).iter().map(|f| f.read().scalar()));
                }
                _ => {}
            }
        }
    }

    /// BMv2 takes headers of whole bytes only.
    fn pad_scalars(&mut self) {
        for (ty, name) in [(SCALARS, "_padding_0"), (super::storage::STANDARD, "_padding")] {
            let fields = &mut self.ir.header_types[ty].fields;
            let bits: u64 = fields.iter().map(|f| u64::from(f.width)).sum();
            if !bits.is_multiple_of(8) {
                let width = 8 - (bits % 8) as u32;
                fields.push(Field {
                    name: name.to_owned(),
                    width,
                    signed: false,
                    is_varbit: false,
                });
            }
        }
    }

    fn pipeline(&mut self, control: String, span: Span, out: Vec<Stmt>) -> Pipeline {
        let mut pipeline = self.graph(out);
        (pipeline.control, pipeline.span) = (control, span);
        pipeline
    }
}

fn rename_frames(frame: &super::FrameRef, own: &str, name: &str) {
    let inner: Vec<Object> = {
        let mut frame = frame.borrow_mut();
        if frame.path == own {
            frame.path = name.to_owned();
        } else if let Some(rest) = frame.path.strip_prefix(&format!("{own}.")) {
            frame.path = format!("{name}.{rest}");
        }
        frame.objects.values().cloned().collect()
    };
    for object in inner {
        if let Object::Control(_, frame) | Object::Parser(_, frame) = object {
            rename_frames(&frame, own, name);
        }
    }
}

fn instance_of(arg: &Option<tree::Expr>) -> Option<InstanceId> {
    match arg.as_ref().map(|e| &e.kind) {
        Some(ExprKind::Instance(id)) => Some(*id),
        _ => None,
    }
}
