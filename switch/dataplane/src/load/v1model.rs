//! The parts of a v1model program, and the fields that simple_switch uses.

use std::collections::HashMap;

use super::builder::Builder;
use super::expr::Scope;
use super::flow;
use super::json::{Json, Load};
use super::parser;
use super::primitive::{self, Objects};
use crate::bits::mask;
use crate::run::layout::{FieldOrValidity, Layout};
use crate::run::ops::{Address, Op};
use crate::run::program::{Checksum, MetadataWord};
use crate::run::states::Errors;
use crate::run::v1model::{Intrinsic, V1model};
use crate::run::value_set::ValueSet;
use crate::run::wire::Lengths;

const USER: &str = "simple_switch";

/// The controls of a v1model program.
pub(crate) struct Controls {
    ingress: Address,
    egress: Address,
}

impl Controls {
    pub fn load(root: &Json, flows: &mut flow::Loader) -> Load<Controls> {
        Ok(Controls {
            ingress: flows.pipeline(&root.named("pipelines", "ingress", USER)?)?,
            egress: flows.pipeline(&root.named("pipelines", "egress", USER)?)?,
        })
    }
}

impl V1model {
    pub fn load(
        root: &Json,
        controls: Controls,
        builder: &mut Builder,
        objects: &Objects,
        sets: &mut Vec<ValueSet>,
    ) -> Load<V1model> {
        let layout = builder.layout;
        let metadata = Intrinsic::load(root, layout)?;
        let parser_json = root.named("parsers", "parser", USER)?;
        let errors = Errors::load(root)?;
        let parser = parser::Loader { builder, objects, sets }.load(&parser_json, errors, 0)?;
        let deparser = root.named("deparsers", "deparser", USER)?;
        let primitives = deparser.list("primitives")?;
        let deparser_code = match primitives.is_empty() {
            true => None,
            false => Some(primitive::lower_all(builder, objects, &[], &primitives)?),
        };
        let (verify, update) = checksums(root, builder, objects)?;
        let emit = layout.emitted(&deparser)?;
        Ok(V1model {
            parser,
            ingress: controls.ingress,
            egress: controls.egress,
            verify,
            update,
            deparser_code,
            lengths: Lengths::new(layout, &emit),
            emit,
            field_lists: field_lists(root, layout)?,
            metadata,
        })
    }
}

type Checksums = (Vec<Checksum>, Vec<Checksum>);

fn checksums(root: &Json, builder: &mut Builder, objects: &Objects) -> Load<Checksums> {
    let (mut verify, mut update) = (Vec::new(), Vec::new());
    for json in root.list("checksums")? {
        if json.get("type")?.str()? != "generic" {
            return json
                .get("type")?
                .error("only checksums of type 'generic' are supported");
        }
        let target = json.get("target")?;
        let field = match builder.layout.field(&target)? {
            FieldOrValidity::Field(field) if builder.layout.fields[field as usize].length.is_none() => field,
            _ => return target.error("should be a field of fixed width"),
        };
        let calculation = objects.calculations.find(&json.get("calculation")?)?;
        let condition = match json.opt("if_cond") {
            Some(condition) => {
                let scope = Scope::new(builder.layout, objects.registers, &[]);
                let truth = scope.bool(&condition)?;
                let code = builder.address();
                let holds = builder.truth(&truth);
                builder.end_statement();
                builder.push(Op::End);
                Some((code, holds))
            }
            None => None,
        };
        if json.flag_or("verify", true)? {
            verify.push(Checksum {
                calculation,
                field,
                condition,
            });
        }
        if json.flag_or("update", true)? {
            update.push(Checksum {
                calculation,
                field,
                condition,
            });
        }
    }
    Ok((verify, update))
}

fn field_lists(root: &Json, layout: &Layout) -> Load<HashMap<u64, Vec<u32>>> {
    let mut lists = HashMap::new();
    for json in root.list("field_lists")? {
        let mut fields = Vec::new();
        for element in json.list("elements")? {
            // Constants matter only to hashes, and validity cannot be preserved.
            if element.get("type")?.str()? == "field"
                && let FieldOrValidity::Field(field) = layout.field(&element.get("value")?)?
            {
                fields.push(field);
            }
        }
        lists.insert(json.get("id")?.count(u64::from(u32::MAX))? as u64, fields);
    }
    Ok(lists)
}

impl Intrinsic {
    fn load(root: &Json, layout: &Layout) -> Load<Intrinsic> {
        let find = |name: &str| {
            let field = &layout.fields[layout.find(name)? as usize];
            (field.width <= 64).then(|| MetadataWord {
                word: field.slot,
                keep: mask(field.width),
            })
        };
        let need = |name: &str| match find(name) {
            Some(field) => Ok(field),
            None => root.error(format!(
                "no field '{name}' of at most 64 bits, which simple_switch needs"
            )),
        };
        Ok(Intrinsic {
            ingress_port: need("standard_metadata.ingress_port")?,
            packet_length: need("standard_metadata.packet_length")?,
            instance_type: need("standard_metadata.instance_type")?,
            egress_spec: need("standard_metadata.egress_spec")?,
            egress_port: need("standard_metadata.egress_port")?,
            parser_error: find("standard_metadata.parser_error"),
            checksum_error: find("standard_metadata.checksum_error"),
            ingress_timestamp: find("intrinsic_metadata.ingress_global_timestamp"),
            egress_timestamp: find("intrinsic_metadata.egress_global_timestamp"),
            mcast_grp: find("intrinsic_metadata.mcast_grp"),
            egress_rid: find("intrinsic_metadata.egress_rid"),
            priority: find("intrinsic_metadata.priority"),
            enq_timestamp: find("queueing_metadata.enq_timestamp"),
            enq_qdepth: find("queueing_metadata.enq_qdepth"),
            deq_timedelta: find("queueing_metadata.deq_timedelta"),
            deq_qdepth: find("queueing_metadata.deq_qdepth"),
            qid: find("queueing_metadata.qid"),
        })
    }
}
