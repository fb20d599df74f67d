//! Multicast and clones of v1model.

use super::core::{Core, lose, set, set_in};
use super::layout::register;
use super::observer::{Nobody, Observer};
use super::v1model::{V1model, instance};
use crate::events::{EventKind, Loss};
use crate::ids::Port;
use crate::packet::{Enqueue, Outcomes, Packet};
use crate::values::CloneSession;

impl V1model {
    /// Hands a packet for a port to the traffic manager.
    pub fn enqueue<O: Observer>(
        &self,
        core: &mut Core,
        (mut packet, frame_len): (Packet, u32),
        port: Port,
        class_of_service: u8,
        out: &mut Outcomes,
        observer: &mut O,
    ) {
        let phv = packet.body.phv.as_mut_slice();
        for register in [
            register::CLONE,
            register::CLONE_FIELDS,
            register::RESUBMIT,
            register::DIGEST,
        ] {
            phv[register as usize] = 0;
        }
        let priority = match self.metadata.priority {
            Some(field) => {
                if phv[field.word as usize] == 0 {
                    set_in(phv, field, u64::from(class_of_service));
                }
                phv[field.word as usize]
            }
            None => u64::from(class_of_service),
        };
        if priority > 7 {
            // simple_switch also drops it: "priority out of range".
            core.recycle(packet);
            return lose(Loss::NoSuchQueue, out, observer);
        }
        out.enqueue.push(Enqueue {
            packet,
            port,
            priority: priority as u8,
            frame_len,
        });
    }

    /// Copies the working packet to all ports of a group.
    pub fn multicast<O: Observer>(&self, core: &mut Core, group: u64, out: &mut Outcomes, observer: &mut O) {
        if let Ok(group) = u16::try_from(group) {
            self.copy_to_group(core, group, 0, out, observer);
        }
    }

    fn copy_to_group<O: Observer>(
        &self,
        core: &mut Core,
        group: u16,
        class_of_service: u8,
        out: &mut Outcomes,
        observer: &mut O,
    ) {
        // Taken out of the map while copies are made.
        if let Some(replicas) = core.groups.remove(&group) {
            self.replicate(core, &replicas, class_of_service, out, observer);
            core.groups.insert(group, replicas);
        }
    }

    fn replicate<O: Observer>(
        &self,
        core: &mut Core,
        replicas: &[(Port, u16)],
        class_of_service: u8,
        out: &mut Outcomes,
        observer: &mut O,
    ) {
        // These requests of ingress concern the original, not the copies.
        for register in [register::RECIRCULATE, register::EXIT] {
            core.state.words[register as usize] = 0;
        }
        for &(port, rid) in replicas {
            let field = self.metadata.egress_rid;
            set(&mut core.state, field, u64::from(rid));
            let mut frame = core.spare_frame();
            frame.tail().extend_from_slice(&core.state.frame);
            let id = observer.copy();
            observer.event(|| EventKind::Copied {
                to: id.copy,
                port,
                instance: rid,
            });
            let frame_len = self.frame_len(core, &frame);
            let packet = core.copy_packet(id, frame);
            self.enqueue(core, (packet, frame_len), port, class_of_service, out, observer);
        }
    }

    /// Session of a clone call at ingress or egress, if there was a call and the session is configured.
    fn requested_clone<O: Observer>(
        &self,
        core: &mut Core,
        at: &'static str,
        observer: &mut O,
    ) -> Option<(u16, CloneSession, u64)> {
        let request = core.state.words[register::CLONE as usize];
        if request == 0 {
            return None;
        }
        let list = core.state.words[register::CLONE_FIELDS as usize];
        core.state.words[register::CLONE as usize] = 0;
        core.state.words[register::CLONE_FIELDS as usize] = 0;
        let id = (request & !register::REQUESTED) as u16;
        observer.event(|| EventKind::Cloned {
            at,
            session: id,
            known: core.sessions.contains_key(&id),
        });
        // Taken out of the map while copies are made; the caller puts it back.
        Some((id, core.sessions.remove(&id)?, list))
    }

    /// Clones from ingress to egress: the packet as it arrived, parsed again.
    pub fn clone_at_ingress<O: Observer>(&self, core: &mut Core, out: &mut Outcomes, observer: &mut O) {
        let Some((id, session, list)) = self.requested_clone(core, "ingress", observer) else {
            return;
        };
        let (saved, payload) = self.save(core);
        let arrived = core.state.words[register::ARRIVED as usize];
        let port = core.read_word(self.metadata.ingress_port);
        core.reset_words();
        core.state.words[register::ARRIVED as usize] = arrived;
        core.state.words[register::LENGTH as usize] = arrived;
        set(&mut core.state, Some(self.metadata.ingress_port), port);
        // The parser visits the same states again.
        self.parser
            .parse(&core.program.code, &core.sets, &mut core.state, &mut Nobody);
        self.forget_metadata(core, &saved, list, instance::INGRESS_CLONE);
        self.emit_clones(core, &session, out, observer);
        self.restore(core, saved, payload);
        core.sessions.insert(id, session);
    }

    /// Clones from egress to egress: the packet with its current headers.
    pub fn clone_at_egress<O: Observer>(&self, core: &mut Core, out: &mut Outcomes, observer: &mut O) {
        let Some((id, session, list)) = self.requested_clone(core, "egress", observer) else {
            return;
        };
        let (saved, payload) = self.save(core);
        self.forget_metadata(core, &saved, list, instance::EGRESS_CLONE);
        core.state.words[register::RECIRCULATE as usize] = 0;
        core.state.words[register::TRUNCATE as usize] = u64::MAX;
        self.emit_clones(core, &session, out, observer);
        self.restore(core, saved, payload);
        core.sessions.insert(id, session);
    }

    fn emit_clones<O: Observer>(&self, core: &mut Core, session: &CloneSession, out: &mut Outcomes, observer: &mut O) {
        if let Some(bytes) = session.truncate_to {
            core.state.words[register::TRUNCATE as usize] = u64::from(bytes);
        }
        let class_of_service = session.class_of_service.min(7);
        self.replicate(core, &session.replicas, class_of_service, out, observer);
        if let Some(group) = session.group {
            self.copy_to_group(core, group, class_of_service, out, observer);
        }
    }

    /// Clears all metadata except the fields of a field list, whose values are in `from`.
    fn forget_metadata(&self, core: &mut Core, from: &[u64], list: u64, instance_type: u64) {
        let layout = &core.program.code.layout;
        for header in layout.headers.iter().filter(|header| header.metadata) {
            core.state.words[header.block()].copy_from_slice(&core.program.blank[header.block()]);
        }
        for &field in self.field_lists.get(&list).map_or(&[][..], |fields| fields) {
            let span = layout.fields[field as usize].span();
            core.state.words[span.clone()].copy_from_slice(&from[span]);
        }
        let field = self.metadata.instance_type;
        set(&mut core.state, Some(field), instance_type);
    }

    fn save(&self, core: &mut Core) -> (Vec<u64>, usize) {
        let mut saved = core.spare_phv();
        saved.extend_from_slice(&core.state.words[..core.program.blank.len()]);
        (saved, core.state.payload)
    }

    fn restore(&self, core: &mut Core, saved: Vec<u64>, payload: usize) {
        core.state.words[..saved.len()].copy_from_slice(&saved);
        core.state.payload = payload;
        core.keep_phv(saved);
    }
}
