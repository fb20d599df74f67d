//! The parts of a Tofino program, and the metadata that the chip reads and writes.

use std::collections::HashMap;

use super::builder::Builder;
use super::calculation::inputs;
use super::flow;
use super::json::{Json, Load};
use super::parser;
use super::primitive::Objects;
use crate::bits::mask;
use crate::run::calculation::Input;
use crate::run::intrinsic::Chip;
use crate::run::layout::Layout;
use crate::run::ops::Address;
use crate::run::program::MetadataWord;
use crate::run::states::Errors;
use crate::run::tna::{Ghost, Gress, Metadata, Prefix, Tna};
use crate::run::value_set::ValueSet;

/// Largest number of a field list: 16 bits, and -1 means none.
const MAX_LIST: u64 = 0xfffe;

/// The controls of a Tofino program.
pub(crate) struct Controls {
    chip: Chip,
    ingress: Address,
    ingress_deparser: Address,
    egress: Address,
    egress_deparser: Address,
    ghost: Option<Address>,
}

impl Controls {
    pub fn load(root: &Json, chip: Chip, flows: &mut flow::Loader) -> Load<Controls> {
        let mut control = |name| flows.pipeline(&root.named("pipelines", name, user(chip))?);
        let (ingress, ingress_deparser) = (control("ingress")?, control("ingress_deparser")?);
        let (egress, egress_deparser) = (control("egress")?, control("egress_deparser")?);
        let has_ghost = (root.list("pipelines")?.iter()).any(|json| {
            json.opt("name")
                .is_some_and(|name| name.value().as_str() == Some("ghost"))
        });
        let ghost = match (chip, has_ghost) {
            (Chip::Tofino2, true) => Some(control("ghost")?),
            (Chip::Tofino1, true) => return root.get("pipelines")?.error("'ghost': only t2na has a ghost control"),
            (_, false) => None,
        };
        Ok(Controls {
            chip,
            ingress,
            ingress_deparser,
            egress,
            egress_deparser,
            ghost,
        })
    }
}

fn user(chip: Chip) -> &'static str {
    match chip {
        Chip::Tofino1 => "tna",
        Chip::Tofino2 => "t2na",
    }
}

impl Tna {
    pub fn load(
        root: &Json,
        controls: Controls,
        builder: &mut Builder,
        objects: &Objects,
        sets: &mut Vec<ValueSet>,
    ) -> Load<Tna> {
        let (layout, chip) = (builder.layout, controls.chip);
        let user = user(chip);
        let word = |name: &str| metadata(root, layout, user, name);
        let errors = Errors::load(root)?;
        let mut gress = |number, name: &str, short: &str, control, deparser| -> Load<Gress> {
            let parser_json = root.named("parsers", &format!("{name}_parser"), user)?;
            let deparser_json = root.named("deparsers", &format!("{name}_deparser"), user)?;
            let builder = &mut *builder;
            let loader = &mut parser::Loader { builder, objects, sets };
            Ok(Gress {
                parser: loader.load(&parser_json, errors.clone(), number)?,
                control,
                deparser,
                emit: layout.emitted(&deparser_json)?,
                timestamp: word(&format!("{short}_intr_md_from_prsr.global_tstamp"))?,
                parser_error: word(&format!("{short}_intr_md_from_prsr.parser_err"))?,
                drop_ctl: word(&format!("{short}_intr_md_for_dprsr.drop_ctl"))?,
            })
        };
        let ingress = gress(0, "ingress", "ig", controls.ingress, controls.ingress_deparser)?;
        let egress = gress(1, "egress", "eg", controls.egress, controls.egress_deparser)?;
        let ghost = match controls.ghost {
            Some(control) => Some(Ghost {
                control,
                length: word("gh_intr_md.qlength")?,
                queue: word("gh_intr_md.qid")?,
                pipe: word("gh_intr_md.pipe_id")?,
            }),
            None => None,
        };
        Ok(Tna {
            chip,
            ingress,
            egress,
            parser_errors_read: root
                .named("parsers", "ingress_parser", user)?
                .flag("parser_errors_read")?,
            ghost,
            prefixes: prefixes(root, layout)?,
            metadata: Metadata::load(&word)?,
        })
    }
}

impl Metadata {
    fn load(word: &dyn Fn(&str) -> Load<MetadataWord>) -> Load<Metadata> {
        let for_tm = |field: &str| word(&format!("ig_intr_md_for_tm.{field}"));
        let port = for_tm("ucast_egress_port")?;
        Ok(Metadata {
            port,
            bypass_egress: for_tm("bypass_egress")?,
            queue: for_tm("qid")?,
            cos: for_tm("ingress_cos")?,
            copy_to_cpu: for_tm("copy_to_cpu")?,
            cpu_cos: for_tm("icos_for_copy_to_cpu")?,
            groups: [for_tm("mcast_grp_a")?, for_tm("mcast_grp_b")?],
            unwritten: vec![
                port,
                word("ig_intr_md_for_dprsr.mirror_type")?,
                word("ig_intr_md_for_dprsr.resubmit_type")?,
                word("ig_intr_md_for_dprsr.digest_type")?,
                word("eg_intr_md_for_dprsr.mirror_type")?,
            ],
        })
    }
}

/// Finds a field of the architecture's metadata.
fn metadata(root: &Json, layout: &Layout, user: &str, name: &str) -> Load<MetadataWord> {
    let found = layout.find(name).map(|field| &layout.fields[field as usize]);
    match found.filter(|field| (1..64).contains(&field.width)) {
        Some(field) => Ok(MetadataWord {
            word: field.slot,
            keep: mask(field.width),
        }),
        None => root.error(format!("no field '{name}' of at most 63 bits, which {user} needs")),
    }
}

/// Headers of mirrored and resubmitted packets.
fn prefixes(root: &Json, layout: &Layout) -> Load<HashMap<u64, Prefix>> {
    let mut prefixes = HashMap::new();
    for json in root.list("field_lists")? {
        let elements = json.get("elements")?;
        let (inputs, with_payload) = inputs(&elements, layout)?;
        if with_payload {
            return elements.error("a header of a mirror or resubmission has no payload");
        }
        let bits: u64 = inputs.iter().map(|input| bits(input, layout)).sum();
        if !bits.is_multiple_of(8) {
            return elements.error(format!("{bits} bits are not a whole number of bytes"));
        }
        prefixes.insert(json.get("id")?.count(MAX_LIST)? as u64, Prefix(inputs));
    }
    Ok(prefixes)
}

fn bits(input: &Input, layout: &Layout) -> u64 {
    match input {
        Input::Field(field) => u64::from(layout.fields[*field as usize].width),
        Input::Header(header) => u64::from(layout.headers[*header as usize].fixed_bits),
        Input::Valid(_) => 1,
        Input::Constant(_, width) => u64::from(*width),
        Input::Run(_, plan) => plan.bytes as u64 * 8,
    }
}
