//! P4Info for the data plane: every translated value has the width that it has in the program.

use std::collections::HashMap;

use p4sched_dataplane::Pipeline;
use p4sched_proto::p4::config::v1 as p4info;
use p4sched_proto::p4::config::v1::p4_bitstring_like_type_spec::TypeSpec as Bits;
use p4sched_proto::p4::config::v1::p4_data_type_spec::TypeSpec;
use p4sched_proto::p4::config::v1::p4_new_type_spec::Representation;

/// The width of a type that the program does not use.
const UNKNOWN_WIDTH: u32 = 32;

type Name = Option<p4info::P4NamedType>;

/// The width in bits, in the data plane, of the types for which `is_translated` holds, as far as the program shows it.
pub fn widths(
    info: &p4info::P4Info,
    pipeline: &Pipeline,
    is_translated: &dyn Fn(&Name) -> bool,
) -> HashMap<String, u32> {
    let mut widths = HashMap::new();
    let mut saw = |name: &Name, width: u32| {
        if let Some(name) = name.as_ref().filter(|_| is_translated(name) && width > 0) {
            widths.entry(name.name.clone()).or_insert(width);
        }
    };
    for table in &info.tables {
        let name = table.preamble.as_ref().map_or("", |preamble| &preamble.name);
        let Some(place) = pipeline.table(name) else { continue };
        for (field, in_program) in table.match_fields.iter().zip(pipeline.table_key(place)) {
            saw(&field.type_name, in_program.width);
        }
    }
    let actions: HashMap<&str, &[(String, u32)]> = pipeline
        .table_ids()
        .flat_map(|table| pipeline.table_actions(table))
        .map(|action| (pipeline.action_name(action), pipeline.action_params(action)))
        .collect();
    for action in &info.actions {
        let name = action.preamble.as_ref().map_or("", |preamble| &preamble.name);
        let params = actions.get(name).copied().unwrap_or_default();
        for (param, (_, width)) in action.params.iter().zip(params) {
            saw(&param.type_name, *width);
        }
    }
    for register in &info.registers {
        let name = register.preamble.as_ref().map_or("", |preamble| &preamble.name);
        let spec = register.type_spec.as_ref().and_then(|spec| spec.type_spec.as_ref());
        if let (Some(TypeSpec::NewType(cell)), Some(place)) = (spec, pipeline.register(name)) {
            saw(&Some(cell.clone()), pipeline.register_width(place));
        }
    }
    for header in &info.controller_packet_metadata {
        for (field, width) in header
            .metadata
            .iter()
            .zip(header_widths(header, pipeline, is_translated))
        {
            saw(&field.type_name, width);
        }
    }
    for set in &info.value_sets {
        let name = set.preamble.as_ref().map_or("", |preamble| &preamble.name);
        let mut unknown = set.r#match.iter().filter(|field| is_translated(&field.type_name));
        if let (Some(only), None, Some(place)) = (unknown.next(), unknown.next(), pipeline.value_set(name)) {
            let others = set.r#match.iter().filter(|field| field.id != only.id);
            let others: u32 = others.map(|field| field.bitwidth.unsigned_abs()).sum();
            saw(&only.type_name, pipeline.value_set_width(place).saturating_sub(others));
        }
    }
    widths
}

/// The widths of the fields of the header type with these metadata; empty if there is none.
fn header_widths(
    header: &p4info::ControllerPacketMetadata,
    pipeline: &Pipeline,
    is_translated: &dyn Fn(&Name) -> bool,
) -> Vec<u32> {
    let fits = |fields: &Vec<(&str, u32)>| {
        fields.len() == header.metadata.len()
            && header.metadata.iter().zip(fields).all(|(field, (name, width))| {
                let same_width = u32::try_from(field.bitwidth) == Ok(*width);
                field.name == *name && (same_width || is_translated(&field.type_name))
            })
    };
    let found = pipeline.header_types().find(fits).unwrap_or_default();
    found.into_iter().map(|(_, width)| width).collect()
}

/// P4Info with the widths of the data plane and without translated types.
pub fn lowered(
    info: &p4info::P4Info,
    widths: &HashMap<String, u32>,
    is_translated: &dyn Fn(&Name) -> bool,
) -> p4info::P4Info {
    let mut info = info.clone();
    let width_of = |name: &Name| {
        let name = name.as_ref().filter(|_| is_translated(name))?;
        Some(widths.get(&name.name).copied().unwrap_or(UNKNOWN_WIDTH).cast_signed())
    };
    let lower = |bitwidth: &mut i32, name: &Name, always: bool| {
        if let Some(width) = width_of(name).filter(|&width| always || *bitwidth < width) {
            *bitwidth = width;
        }
    };
    for field in info.tables.iter_mut().flat_map(|table| &mut table.match_fields) {
        lower(&mut field.bitwidth, &field.type_name, false);
    }
    // A restriction compares numbers with the controller's width.
    for param in info.actions.iter_mut().flat_map(|action| &mut action.params) {
        lower(&mut param.bitwidth, &param.type_name, false);
    }
    for field in info.value_sets.iter_mut().flat_map(|set| &mut set.r#match) {
        lower(&mut field.bitwidth, &field.type_name, true);
    }
    for field in info
        .controller_packet_metadata
        .iter_mut()
        .flat_map(|header| &mut header.metadata)
    {
        lower(&mut field.bitwidth, &field.type_name, true);
    }
    for (name, spec) in info.type_info.iter_mut().flat_map(|types| &mut types.new_types) {
        if let Some(Representation::TranslatedType(_)) = &spec.representation {
            let bitwidth = widths.get(name).copied().unwrap_or(UNKNOWN_WIDTH).cast_signed();
            let bits = p4info::P4BitstringLikeTypeSpec {
                type_spec: Some(Bits::Bit(p4info::P4BitTypeSpec { bitwidth })),
                ..p4info::P4BitstringLikeTypeSpec::default()
            };
            spec.representation = Some(Representation::OriginalType(p4info::P4DataTypeSpec {
                type_spec: Some(TypeSpec::Bitstring(bits)),
            }));
        }
    }
    info
}
