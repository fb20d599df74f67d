//! v1model: the six blocks of `V1Switch`, and their shared storage.

use super::{Block, instances};
use crate::{
    ir::{Deparser, Expr, Gress, Header, HeaderRef, Stmt},
    lower::{
        FrameRef, Lowerer, Object,
        externs::v1model::in_list,
        flow::flattened,
        storage::SCALARS,
        value::{Loc, Value},
    },
    source::Span,
    syntax::ast::Composite,
    typed::{
        annotations::text_of,
        tree::{self, Maker},
        types::{InstanceId, StructId, Type, VarId},
    },
};

/// Message for any other statement in a checksum control.
const CHECKSUMS_ONLY: &str = "in checksum controls BMv2 takes only verify_checksum and update_checksum, \
                              of fields and constants, and 'if' around them";
/// Index of the header `standard_metadata` in the program.
const STANDARD: usize = 1;

/// State of the lowering for v1model.
#[derive(Default)]
pub(in crate::lower) struct State {
    /// Storage of the user metadata, and its struct.
    metadata: Option<(Loc, Option<StructId>)>,
    /// Field lists for numbers in `@field_list`.
    pub field_lists: std::collections::HashMap<u64, u32>,
}

/// Data that all blocks share.
pub(super) struct Shared {
    headers: Loc,
    metadata: Loc,
    standard: Loc,
}

impl Lowerer<'_> {
    /// Lowers the arguments of `V1Switch`.
    pub(super) fn v1model(&mut self, package: &str, args: &[Option<tree::Expr>], span: Span) {
        if package != "V1Switch" || args.len() != 6 {
            let message = format!("'main' must be an instance of V1Switch, not of {package}");
            return self.error(span, message);
        }
        let Some(instances) = instances(args) else {
            return self.error(span, "the arguments of V1Switch must be instances");
        };
        self.globals();
        let Some(shared) = self.shared_storage(instances[0]) else {
            return;
        };
        let blocks = [
            (Block::Parser, Gress::Ingress),
            (Block::Checksums, Gress::Ingress),
            (Block::Control, Gress::Ingress),
            (Block::Control, Gress::Egress),
            (Block::Checksums, Gress::Egress),
            (Block::Deparser, Gress::Egress),
        ];
        let objects: Vec<(Object, InstanceId)> =
            instances.into_iter().map(|id| (self.block_instance(id), id)).collect();
        // As in p4c, hidden tables of ingress and egress get the first numbers; the order has no other meaning.
        for ((block, gress), (object, id)) in blocks.into_iter().zip(&objects) {
            (self.block, self.gress) = (block, gress);
            self.calls_only = (block == Block::Checksums).then_some(CHECKSUMS_ONLY);
            match object {
                Object::Parser(parser, frame) => {
                    let params = self.program.parsers[parser.index()].params.clone();
                    self.bind_block(frame, &params, &shared);
                    self.main_parser("parser", *parser, frame);
                }
                Object::Control(control, frame) => {
                    let params = self.program.controls[control.index()].params.clone();
                    self.bind_block(frame, &params, &shared);
                    let out = self.main_control(*control, frame);
                    let def = &self.program.controls[control.index()];
                    let (span, name) = (def.span, def.name.to_string());
                    match (block, gress) {
                        (Block::Checksums, _) => self.checksum_block(out),
                        (Block::Deparser, _) => self.deparser(span, out),
                        (_, Gress::Ingress) => self.pipeline("ingress", name, span, out),
                        _ => self.pipeline("egress", name, span, out),
                    }
                }
                _ => self.error(
                    self.program.instances[id.index()].span,
                    "a parser or control is expected",
                ),
            }
        }
        self.check_direct_meters();
        self.list_symbols(objects.into_iter().map(|(object, _)| object).collect());
        self.check_emitted();
        self.pad(SCALARS, "_padding_0");
        self.pad(STANDARD, "_padding");
    }

    /// Checks direct meters: BMv2 measures at every hit, and needs the field for the colour.
    fn check_direct_meters(&mut self) {
        for index in 0..self.ir.meters.len() {
            let meter = &self.ir.meters[index];
            let span = meter.span;
            let message = match (meter.table, meter.result.is_some()) {
                _ if !meter.direct => continue,
                (None, false) | (Some(_), true) => continue,
                (None, true) => format!("no table has the direct meter '{}' as its 'meters'", meter.name),
                (Some(table), false) => format!(
                    "no action of '{}' reads its direct meter '{}'",
                    self.ir.tables[table].name, meter.name
                ),
            };
            self.error(span, message);
        }
    }

    /// Lowers the deparser: headers to emit, after primitives without decisions.
    fn deparser(&mut self, span: Span, stmts: Vec<Stmt>) {
        let mut deparser = Deparser {
            name: "deparser",
            order: Vec::new(),
            primitives: Vec::new(),
            span,
        };
        for stmt in flattened(stmts) {
            match stmt {
                Stmt::Primitive(p) if p.op == "emit" => deparser.order.extend(Self::emitted(&p)),
                // BMv2 runs all primitives before it emits. The deparser only reads headers, so the result is the same.
                Stmt::Primitive(p) => deparser.primitives.push(p),
                Stmt::If(_, _, _, span) | Stmt::Apply(_, _, span) | Stmt::Loop(_, span) | Stmt::Exit(span) => {
                    let message = "BMv2's deparser takes no conditions: invalid headers are skipped anyway";
                    self.error(span, message);
                }
                Stmt::Block(..) | Stmt::Break(_) => {}
            }
        }
        self.ir.deparsers.push(deparser);
    }

    /// Lowers a checksum control, which only calls checksum functions.
    fn checksum_block(&mut self, stmts: Vec<Stmt>) {
        for stmt in flattened(stmts) {
            let span = match &stmt {
                Stmt::Primitive(p) => p.span,
                Stmt::If(_, _, _, span) | Stmt::Apply(_, _, span) | Stmt::Exit(span) | Stmt::Loop(_, span) => *span,
                Stmt::Block(..) | Stmt::Break(_) => Span::default(),
            };
            self.error(span, CHECKSUMS_ONLY);
        }
    }

    fn shared_storage(&mut self, parser: InstanceId) -> Option<Shared> {
        let Maker::Parser(id) = &self.program.instances[parser.index()].maker else {
            return None;
        };
        let params = &self.program.parsers[id.index()].params;
        let ty = |l: &Self, i: usize| params.get(i).map(|v| l.program.vars[v.index()].ty.clone());
        let (headers, metadata, standard) = (ty(self, 1)?, ty(self, 2)?, ty(self, 3)?);
        let Type::Struct(standard) = standard else { return None };
        let standard = self.standard_metadata(standard);
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

    /// Makes the metadata headers of every program: `scalars` and `standard_metadata`.
    fn standard_metadata(&mut self, standard: StructId) -> Loc {
        self.scalars();
        let ty = self.header_type(standard);
        self.ir.header_types[ty].name = "standard_metadata".to_owned();
        self.ir.headers.push(Header {
            name: "standard_metadata".to_owned(),
            ty,
            metadata: true,
        });
        self.names.insert("standard_metadata".to_owned());
        let fields = self.program.types.get(standard).fields.iter();
        self.ir.standard_aliases = fields
            .filter_map(|field| Some((text_of(&field.annotations, "alias")?, field.name.to_string())))
            .collect();
        Loc::Struct(self.header_fields(&HeaderRef::Static(STANDARD), standard))
    }

    /// Storage of the architecture's metadata.
    pub(in crate::lower) fn standard_header() -> HeaderRef {
        HeaderRef::Static(STANDARD)
    }

    /// Checks the struct of headers: it may have headers, stacks, unions, and structs of these.
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
    fn bind_block(&mut self, frame: &FrameRef, params: &[VarId], shared: &Shared) {
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
        self.v1model.metadata = Some((shared.metadata.clone(), self.metadata_type(params)));
    }

    fn metadata_type(&self, params: &[VarId]) -> Option<StructId> {
        let at = if matches!(self.block, Block::Parser) { 2 } else { 1 };
        match params.get(at).map(|v| &self.program.vars[v.index()].ty) {
            Some(Type::Struct(id)) => Some(*id),
            _ => None,
        }
    }

    /// Fields of the user metadata with `@field_list(number)`.
    pub(in crate::lower) fn metadata_fields(&mut self, number: u64) -> Vec<Expr> {
        let Some((Loc::Struct(parts), Some(id))) = self.v1model.metadata.clone() else {
            return Vec::new();
        };
        let mut list = Vec::new();
        self.collect_fields(id, &parts, number, false, &mut list);
        list
    }

    fn collect_fields(&self, id: StructId, parts: &[Loc], number: u64, all: bool, list: &mut Vec<Expr>) {
        for (field, part) in self.program.types.get(id).fields.iter().zip(parts) {
            let kept = all || in_list(&field.annotations, number);
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
}
