//! TNA and T2NA: the pipes of `Switch`, each with six blocks (T2NA also has a ghost control), and the metadata of the
//! chip.

use std::collections::HashMap;

use super::{Block, instance_of};
use crate::{
    ir::{Deparser, Expr, Gress, Header, HeaderRef, ParserOp, Stmt},
    lower::{
        FrameRef, Lowerer, Object,
        externs::tna::Extern,
        flow::{any, flattened, flattened_but},
        storage::SCALARS,
        value::{Loc, Value},
    },
    source::Span,
    syntax::ast::Composite,
    typed::{
        annotations::has,
        tree::{self, Maker},
        types::{FieldDef, InstanceId, StructId, Type, VarId},
    },
};

/// Metadata that the chip writes or reads: its struct, and the name of its header.
const METADATA: [(&str, &str); 7] = [
    ("ingress_intrinsic_metadata_from_parser_t", FROM_PARSER[0]),
    ("ingress_intrinsic_metadata_for_deparser_t", FOR_DEPARSER[0]),
    ("ingress_intrinsic_metadata_for_tm_t", "ig_intr_md_for_tm"),
    ("egress_intrinsic_metadata_from_parser_t", FROM_PARSER[1]),
    ("egress_intrinsic_metadata_for_deparser_t", FOR_DEPARSER[1]),
    ("egress_intrinsic_metadata_for_output_port_t", "eg_intr_md_for_oport"),
    ("ghost_intrinsic_metadata_t", "gh_intr_md"),
];
/// Names of metadata headers at ingress and at egress.
const FROM_PARSER: [&str; 2] = ["ig_intr_md_from_prsr", "eg_intr_md_from_prsr"];
const FOR_DEPARSER: [&str; 2] = ["ig_intr_md_for_dprsr", "eg_intr_md_for_dprsr"];
/// Headers in front of the frame, which the parsers extract.
const HEADERS: [(&str, &str); 2] = [
    ("ingress_intrinsic_metadata_t", "ig_intr_md"),
    ("egress_intrinsic_metadata_t", "eg_intr_md"),
];
/// Default name of a pipe.
const FIRST_PIPE: &str = "pipe0";

/// State of the lowering for TNA.
#[derive(Default)]
pub(in crate::lower) struct State {
    /// Places of the chip's metadata, by struct.
    places: HashMap<StructId, Loc>,
    pub externs: Vec<Extern>,
    /// Register actions by name and by the values of the parameters around them.
    pub register_actions: HashMap<(String, String), usize>,
    /// Index of the cell, while the body of a register action is lowered.
    pub executing: Option<Expr>,
    /// Field in which tables store the cell of the matching entry.
    pub entry_cell: Option<Loc>,
    /// Header types that do not fill their last byte: index, message for one in a packet, and place.
    pub odd_headers: Vec<(usize, Option<String>, Span)>,
}

/// One side of a pipe: the shared data of its blocks.
struct Side {
    gress: Gress,
    headers: Loc,
    metadata: Loc,
}

impl Lowerer<'_> {
    /// Lowers the arguments of `Switch`. All pipes run the program of the first one.
    pub(super) fn tna(&mut self, package: &str, args: &[Option<tree::Expr>], span: Span) {
        if !matches!(package, "Switch" | "MultiParserSwitch") {
            let message = format!("'main' must be an instance of Switch(Pipeline(...)), not of {package}");
            return self.error(span, message);
        }
        let Some((blocks, pipe)) = args.first().and_then(instance_of).and_then(|id| self.pipe(id)) else {
            return self.error(
                span,
                "the first argument of Switch must be a Pipeline of parsers and controls",
            );
        };
        for (i, other) in args.iter().enumerate().skip(1) {
            let other = instance_of(other).and_then(|id| self.pipe(id));
            if other.is_some_and(|(o, _)| !self.same_types(&o, &blocks)) {
                let message = format!("pipe{i} differs from pipe0; this switch runs the program of pipe0 in all pipes");
                self.reporter.warning("pipes", span, message);
            }
        }
        self.control_plane = format!("{pipe}.");
        self.globals();
        self.scalars();
        self.chip_metadata(span);
        let objects: Vec<Object> = blocks.iter().map(|id| self.block_instance(*id)).collect();
        let Some((ingress, egress)) = self
            .side(Gress::Ingress, &objects[0])
            .zip(self.side(Gress::Egress, &objects[3]))
        else {
            return self.error(span, "a parser of the pipe has no parameters for headers and metadata");
        };
        for (i, object) in objects.iter().enumerate() {
            let side = if (3..6).contains(&i) { &egress } else { &ingress };
            self.gress = if i == 6 { Gress::Ghost } else { side.gress };
            self.pipe_block(object, i % 3, side, self.program.instances[blocks[i].index()].span);
        }
        self.list_symbols(objects);
        self.check_emitted();
        self.pad(SCALARS, "_padding_0");
        let metadata: Vec<usize> = self.ir.headers.iter().filter(|h| h.metadata).map(|h| h.ty).collect();
        metadata.into_iter().for_each(|ty| self.pad(ty, "_padding"));
        self.note_parser_errors();
        self.odd_headers();
    }

    /// Pads headers that hold only metadata to whole bytes; refuses all other headers without whole bytes.
    fn odd_headers(&mut self) {
        let ops = self.ir.parsers.iter().flat_map(|p| &p.states).flat_map(|s| &s.ops);
        let extracted = ops.filter_map(|op| match op {
            ParserOp::Extract(header, _) => Some(self.ir.header_type(header)),
            _ => None,
        });
        let emitted = self.ir.deparsers.iter().flat_map(|d| &d.order);
        let in_packets: Vec<usize> = extracted.chain(emitted.map(|h| self.ir.headers[*h].ty)).collect();
        for (ty, message, span) in std::mem::take(&mut self.tna.odd_headers) {
            match message.filter(|_| in_packets.contains(&ty)) {
                Some(message) => self.error(span, message),
                None => self.pad(ty, "_padding"),
            }
        }
    }

    /// True if the compiler may choose the layout of a header (`@flexible`): only the program itself reads it.
    pub(in crate::lower) fn is_flexible(&self, id: StructId) -> bool {
        let def = self.program.types.get(id);
        let inner = |ty: &Type| matches!(ty, Type::Struct(id) if self.is_flexible(*id));
        let marked = |f: &FieldDef| has(&f.annotations, "flexible") || inner(&f.ty);
        has(&def.annotations, "flexible") || def.fields.iter().any(marked)
    }

    /// Blocks of a pipe (with several parsers, the first one), and its name on the control plane.
    fn pipe(&self, id: InstanceId) -> Option<(Vec<InstanceId>, String)> {
        let instance = &self.program.instances[id.index()];
        let Maker::Package(package, _) = &instance.maker else {
            return None;
        };
        let kind = &*self.program.packages[package.index()].name;
        let first = |arg: InstanceId| {
            let parsers = &self.program.instances[arg.index()];
            match parsers.maker {
                Maker::Package(..) => parsers.args.first().and_then(instance_of),
                _ => Some(arg),
            }
        };
        let given = instance.args.iter().take_while(|arg| arg.is_some());
        let blocks: Option<Vec<InstanceId>> = given.map(|arg| instance_of(arg).and_then(first)).collect();
        let name = match &*instance.name {
            own if own == kind => FIRST_PIPE,
            own => own,
        };
        let blocks = blocks.filter(|b| (6..=7).contains(&b.len()) && kind.ends_with("Pipeline"))?;
        Some((blocks, name.to_owned()))
    }

    fn same_types(&self, a: &[InstanceId], b: &[InstanceId]) -> bool {
        let maker = |id: &InstanceId| &self.program.instances[id.index()].maker;
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| maker(a) == maker(b))
    }

    fn struct_called(&self, name: &str) -> Option<StructId> {
        let found = self.program.types.structs.iter().position(|s| &*s.name == name)?;
        Some(StructId(found as u32))
    }

    /// Declares the metadata and headers of the chip, even if the program does not use them.
    fn chip_metadata(&mut self, span: Span) {
        let metadata = METADATA.iter().map(|m| (m, true));
        for ((ty, name), metadata) in metadata.chain(HEADERS.iter().map(|h| (h, false))) {
            let Some(id) = self.struct_called(ty) else {
                if *name != "gh_intr_md" {
                    self.error(
                        span,
                        format!("the declaration of {ty} is missing: include <tna.p4> or <t2na.p4>"),
                    );
                }
                continue;
            };
            let header_type = self.header_type(id);
            self.names.insert((*name).to_owned());
            self.ir.headers.push(Header {
                name: (*name).to_owned(),
                ty: header_type,
                metadata,
            });
            let header = HeaderRef::Static(self.ir.headers.len() - 1);
            let loc = if self.program.types.get(id).kind == Composite::Header {
                Loc::Header(header, id)
            } else {
                Loc::Struct(self.header_fields(&header, id))
            };
            self.tna.places.insert(id, loc);
        }
    }

    /// Makes storage for the headers and metadata of a side. The parser determines their types.
    fn side(&mut self, gress: Gress, parser: &Object) -> Option<Side> {
        let Object::Parser(id, _) = parser else { return None };
        let vars = self.program.parsers[id.index()].params.iter();
        let vars: Vec<&tree::Var> = vars.map(|v| &self.program.vars[v.index()]).collect();
        let own = |l: &Self, ty: &Type| match ty {
            Type::Extern(..) => false,
            Type::Struct(id) => !l.tna.places.contains_key(id),
            _ => true,
        };
        let mut own = vars.into_iter().filter(|v| own(self, &v.ty));
        let (headers, metadata) = (own.next()?, own.next()?);
        let prefix = |name: &str| match gress {
            Gress::Egress if name.is_empty() => "egress".to_owned(),
            Gress::Egress => format!("egress.{name}"),
            _ => name.to_owned(),
        };
        let headers = match &headers.ty {
            Type::Struct(id) if self.program.types.get(*id).kind == Composite::Struct => {
                Loc::Struct(self.struct_storage(&prefix(""), *id, headers.span))
            }
            other => self.storage(&prefix("hdr"), other, headers.span),
        };
        Some(Side {
            gress,
            headers,
            metadata: self.storage(&prefix("userMetadata"), &metadata.ty, metadata.span),
        })
    }

    /// Lowers the parser (0), control (1) or deparser (2) of a side.
    fn pipe_block(&mut self, object: &Object, kind: usize, side: &Side, span: Span) {
        let ghost = self.gress == Gress::Ghost;
        let egress = usize::from(self.gress == Gress::Egress);
        match object {
            Object::Parser(parser, frame) if kind == 0 => {
                self.block = Block::Parser;
                let params = self.program.parsers[parser.index()].params.clone();
                self.bind_side(frame, &params, side);
                self.main_parser(["ingress_parser", "egress_parser"][egress], *parser, frame);
            }
            Object::Control(control, frame) if kind != 0 || ghost => {
                self.block = if kind == 2 { Block::Deparser } else { Block::Control };
                let params = self.program.controls[control.index()].params.clone();
                self.bind_side(frame, &params, side);
                let out = self.main_control(*control, frame);
                let def = &self.program.controls[control.index()];
                let (span, name) = (def.span, def.name.to_string());
                if kind == 2 {
                    return self.tna_deparser(egress, name, span, out);
                }
                self.ir
                    .bodies
                    .push((self.gress, flattened_but(out.clone(), &self.ir.calls)));
                let out = flattened(out);
                let pipeline = if ghost { "ghost" } else { ["ingress", "egress"][egress] };
                self.pipeline(pipeline, name, span, out);
            }
            _ => self.error(
                span,
                "a pipe consists of parser, control, deparser for ingress, and the same for egress",
            ),
        }
    }

    /// Binds the parameters of a block. Those of the architecture are bound by type, as they may be missing; the others
    /// are headers and metadata, in this order.
    fn bind_side(&mut self, frame: &FrameRef, params: &[VarId], side: &Side) {
        let mut own = [&side.headers, &side.metadata].into_iter();
        for var in params {
            let ty = &self.program.vars[var.index()].ty;
            let place = match ty {
                Type::Struct(id) => self.tna.places.get(id).cloned(),
                _ => None,
            };
            let value = match (ty, place) {
                (Type::Extern(..), _) if self.block == Block::Parser => Value::Object(Object::PacketIn),
                (Type::Extern(..), _) => Value::Object(Object::PacketOut),
                (_, Some(place)) => Value::Place(place),
                (_, None) => Value::Place(own.next().cloned().unwrap_or(Loc::Nowhere)),
            };
            frame.borrow_mut().vars.insert(*var, value);
        }
    }

    /// Lowers the statements of a deparser, except emits, into a pipeline that runs before the headers are emitted.
    fn tna_deparser(&mut self, egress: usize, control: String, span: Span, stmts: Vec<Stmt>) {
        let (mut order, mut rest) = (Vec::new(), Vec::new());
        for stmt in flattened(stmts) {
            match stmt {
                Stmt::Primitive(p) if p.op == "emit" => order.extend(Self::emitted(&p)),
                other => rest.push(other),
            }
        }
        let mut conditional = None;
        any(&rest, &mut |stmt| {
            if let Stmt::Primitive(p) = stmt
                && p.op == "emit"
            {
                conditional = Some(p.span);
            }
            false
        });
        if let Some(span) = conditional {
            let message = "headers are emitted without condition; make those invalid that are not to be sent";
            self.error(span, message);
        }
        let (deparser, pipeline) = [
            ("ingress_deparser", "ingress_deparser"),
            ("egress_deparser", "egress_deparser"),
        ][egress];
        self.ir.deparsers.push(Deparser {
            name: deparser,
            order,
            primitives: Vec::new(),
            span,
        });
        let rest = self.with_sent_values(rest, &mut Vec::new());
        self.pipeline(pipeline, control, span, rest);
    }

    /// Field of the metadata for the deparser of this side.
    pub(in crate::lower) fn for_deparser(&self, field: &str) -> Option<Expr> {
        let name = FOR_DEPARSER[usize::from(self.gress == Gress::Egress)];
        let struct_name = METADATA.iter().find(|(_, n)| *n == name)?.0;
        let id = self.struct_called(struct_name)?;
        let index = self
            .program
            .types
            .get(id)
            .fields
            .iter()
            .position(|f| &*f.name == field)?;
        Some(self.field_loc(self.tna.places.get(&id)?, index).read().scalar())
    }

    /// Packets with a parser error continue if a control reads the error.
    fn note_parser_errors(&mut self) {
        for (i, header) in FROM_PARSER.into_iter().enumerate() {
            let Some(header) = self.ir.headers.iter().position(|h| h.name == header) else {
                continue;
            };
            let fields = &self.ir.header_types[self.ir.headers[header].ty].fields;
            let field = fields.iter().position(|f| f.name == "parser_err");
            let mut read = false;
            self.ir
                .visit_reads(&mut |h, f| read |= *h == HeaderRef::Static(header) && f == field);
            if let Some(parser) = self.ir.parsers.get_mut(i) {
                parser.errors_read = read;
            }
        }
    }
}
