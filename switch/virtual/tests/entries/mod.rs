//! Table entries that the tests write to switches.

use p4sched_proto::p4::config::v1::P4Info;
use p4sched_proto::p4::v1 as p4rt;

/// An entry of `ipv4_routes`.
pub fn route(p4info: &P4Info, port: u8, prefix: [u8; 4], mac: [u8; 6]) -> p4rt::Update {
    let table = p4info
        .tables
        .iter()
        .map(|table| table.preamble.as_ref().expect("a name"));
    let table = table
        .filter(|preamble| preamble.name.ends_with("ipv4_routes"))
        .map(|preamble| preamble.id);
    let action = p4info.actions.iter().find(|action| {
        let name = &action.preamble.as_ref().expect("a name").name;
        name.ends_with(".forward") || name == "forward"
    });
    let action = action.expect("an action");
    let value = |name: &str| if name == "port" { vec![port] } else { mac.to_vec() };
    let params = action.params.iter().map(|param| p4rt::action::Param {
        param_id: param.id,
        value: value(&param.name),
    });
    let matched = p4rt::field_match::FieldMatchType::Lpm(p4rt::field_match::Lpm {
        value: prefix.to_vec(),
        prefix_len: 24,
    });
    let entry = p4rt::TableEntry {
        table_id: table.into_iter().next().expect("a table"),
        r#match: vec![p4rt::FieldMatch {
            field_id: 1,
            field_match_type: Some(matched),
        }],
        action: Some(p4rt::TableAction {
            r#type: Some(p4rt::table_action::Type::Action(p4rt::Action {
                action_id: action.preamble.as_ref().expect("a name").id,
                params: params.collect(),
            })),
        }),
        ..Default::default()
    };
    p4rt::Update {
        r#type: p4rt::update::Type::Insert.into(),
        entity: Some(p4rt::Entity {
            entity: Some(p4rt::entity::Entity::TableEntry(entry)),
        }),
    }
}
