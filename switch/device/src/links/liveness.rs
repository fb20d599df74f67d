//! Watch ports of group members, and the choice between a replica and its backups.

use p4sched_dataplane::Port;
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::{action_profile_action, action_profile_group};

use super::Links;
use crate::bytestring::full_width;
use crate::fault::Fault;

/// The width of v1model's port numbers.
const PORT_BITS: u32 = 9;

/// The port that a member of a one-shot watches.
pub fn of_choice(choice: &p4rt::ActionProfileAction) -> Option<Vec<u8>> {
    use action_profile_action::WatchKind;
    match choice.watch_kind.as_ref()? {
        #[allow(deprecated, reason = "clients older than P4Runtime 1.2 send this form")]
        WatchKind::Watch(port) => (*port != 0).then(|| port.to_be_bytes().to_vec()),
        WatchKind::WatchPort(port) => (!port.is_empty()).then(|| port.clone()),
    }
}

/// The port that a member of a group watches.
pub fn of_member(member: &p4rt::action_profile_group::Member) -> Option<Vec<u8>> {
    use action_profile_group::member::WatchKind;
    match member.watch_kind.as_ref()? {
        #[allow(deprecated, reason = "clients older than P4Runtime 1.2 send this form")]
        WatchKind::Watch(port) => (*port != 0).then(|| port.to_be_bytes().to_vec()),
        WatchKind::WatchPort(port) => (!port.is_empty()).then(|| port.clone()),
    }
}

fn port_of(watched: &[u8]) -> Option<Port> {
    let full = full_width(&"port", watched, PORT_BITS).ok()?;
    Some(Port::from_be_bytes([full[0], full[1]]))
}

/// Refuses a watch port that does not exist, with `INVALID_ARGUMENT`.
pub fn check_watch(links: &Links, owner: &str, watched: Option<Vec<u8>>) -> Result<(), Fault> {
    let Some(watched) = watched else { return Ok(()) };
    let port = port_of(&watched);
    if port.is_some_and(|port| links.is_empty() || links.contains_key(&port)) {
        return Ok(());
    }
    let known: Vec<String> = links.keys().map(Port::to_string).collect();
    let known = match known.is_empty() {
        true => "a port is a number of 16 bits".to_owned(),
        false => format!("the ports are {}", known.join(", ")),
    };
    Err(Fault::invalid(format!(
        "{owner}: a member watches port 0x{}; {known}",
        crate::bytestring::hex(&watched),
    )))
}

fn is_up(links: &Links, port: Port) -> bool {
    links.get(&port).is_none_or(|link| link.up)
}

/// Whether the watch port of a member is up. A member without a watch port is always alive.
pub fn is_alive(links: &Links, watched: Option<Vec<u8>>) -> bool {
    let port = watched.and_then(|watched| port_of(&watched));
    port.is_none_or(|port| is_up(links, port))
}

/// The live members of a group, each repeated by its weight.
pub fn shares(links: &Links, group: &p4rt::ActionProfileGroup) -> Vec<u32> {
    let alive = group.members.iter().filter(|member| is_alive(links, of_member(member)));
    let shares = alive.map(|member| std::iter::repeat_n(member.member_id, member.weight.max(1) as usize));
    shares.flatten().collect()
}

/// The destination of a copy: the first port that is up, of a replica and its backups. If none is up, it is the
/// replica's own port, and the copy is lost after egress.
pub fn first_alive(links: &Links, choices: &[(Port, u16)]) -> Option<(Port, u16)> {
    let alive = choices.iter().find(|(port, _)| is_up(links, *port));
    alive.or(choices.first()).copied()
}
