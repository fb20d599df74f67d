//! Mirroring sessions, on top of P4Runtime's clone sessions.

use p4sched_dataplane::{CloneSession, Port};
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::replica::PortKind;

use super::{MirroringCode, Refusal, Runtime};

/// The largest session number: BMv2 uses 15 bits.
const LAST_SESSION: i32 = 0x7fff;

/// The destination of a session's clones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mirror {
    /// One copy to this port.
    pub port: Option<Port>,
    /// Copies to the ports of this multicast group's nodes.
    pub group: Option<u16>,
}

fn no_session(id: i32) -> Refusal {
    MirroringCode::SessionNotFound.because(format!("no mirroring session {id}"))
}

impl Runtime<'_> {
    pub fn set_mirror(&mut self, id: i32, mirror: Mirror) -> Result<(), Refusal> {
        let number = u16::try_from(id).ok().filter(|_| id <= LAST_SESSION);
        let number = number.ok_or_else(|| {
            MirroringCode::SessionNotFound.because(format!("session {id}; sessions are 0 to {LAST_SESSION}"))
        })?;
        let replicas = mirror.port.iter().map(|port| p4rt::Replica {
            port_kind: Some(PortKind::Port(crate::bytestring::canonical(&port.to_be_bytes()))),
            ..p4rt::Replica::default()
        });
        let entry = p4rt::CloneSessionEntry {
            session_id: u32::from(number),
            replicas: replicas.collect(),
            ..p4rt::CloneSessionEntry::default()
        };
        let session = CloneSession {
            replicas: mirror.port.iter().map(|&port| (port, 0)).collect(),
            group: mirror.group,
            ..CloneSession::default()
        };
        self.pipeline.clone_session_set(number, session);
        self.forwarding.clones.insert(u32::from(number), entry);
        Ok(())
    }

    pub fn delete_mirror(&mut self, id: i32) -> Result<(), Refusal> {
        let number = u16::try_from(id).map_err(|_| no_session(id))?;
        self.forwarding.clones.remove(&u32::from(number));
        let known = self.pipeline.clone_session_delete(number);
        known.then_some(()).ok_or_else(|| no_session(id))
    }

    /// A session; if it has several ports, the first one.
    pub fn mirror(&self, id: i32) -> Result<Mirror, Refusal> {
        let session = u16::try_from(id)
            .ok()
            .and_then(|number| self.pipeline.clone_session(number));
        let session = session.ok_or_else(|| no_session(id))?;
        Ok(Mirror {
            port: session.replicas.first().map(|&(port, _)| port),
            group: session.group,
        })
    }
}
