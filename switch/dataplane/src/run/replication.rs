//! Multicast and clones of v1model: one packet becomes several.

use super::core::{Core, set, set_in};
use super::layout::register;
use super::v1model::{V1model, instance};
use crate::ids::Port;
use crate::packet::{Enqueue, Outcomes, Packet};
use crate::values::CloneSession;

impl V1model {
    /// Hands a copy of the packet at work to the traffic manager.
    pub fn enqueue(&self, core: &mut Core, port: Port, frame: Vec<u8>, class_of_service: u8, out: &mut Outcomes) {
        let frame_len = self.frame_len(core, &frame);
        let mut phv = core.copy_phv();
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
                    set_in(&mut phv, field, u64::from(class_of_service));
                }
                phv[field.word as usize]
            }
            None => u64::from(class_of_service),
        };
        let packet = Packet {
            layout: core.program.identity,
            phv,
            frame,
            payload: core.state.payload,
        };
        if priority > 7 {
            // simple_switch drops it: "priority out of range".
            core.recycle(packet);
            out.dropped = true;
            return;
        }
        out.enqueue.push(Enqueue {
            packet,
            port,
            priority: priority as u8,
            frame_len,
        });
    }

    /// Copies of the packet at work to all ports of a group.
    pub fn multicast(&self, core: &mut Core, group: u64, out: &mut Outcomes) {
        if let Ok(group) = u16::try_from(group) {
            self.copy_to_group(core, group, 0, out);
        }
    }

    fn copy_to_group(&self, core: &mut Core, group: u16, class_of_service: u8, out: &mut Outcomes) {
        // Taken out while the copies are made.
        if let Some(replicas) = core.groups.remove(&group) {
            self.replicate(core, &replicas, class_of_service, out);
            core.groups.insert(group, replicas);
        }
    }

    fn replicate(&self, core: &mut Core, replicas: &[(Port, u16)], class_of_service: u8, out: &mut Outcomes) {
        // What ingress asked for is about the original, not about the copies.
        for register in [register::RECIRCULATE, register::EXIT] {
            core.state.words[register as usize] = 0;
        }
        for &(port, rid) in replicas {
            let field = self.metadata.egress_rid;
            set(&mut core.state, field, u64::from(rid));
            let mut frame = core.spare_frame();
            frame.extend_from_slice(&core.state.frame);
            self.enqueue(core, port, frame, class_of_service, out);
        }
    }

    /// The session of a clone call, if there was one and the session is configured.
    fn requested_clone(&self, core: &mut Core) -> Option<(u16, CloneSession, u64)> {
        let request = core.state.words[register::CLONE as usize];
        if request == 0 {
            return None;
        }
        let list = core.state.words[register::CLONE_FIELDS as usize];
        core.state.words[register::CLONE as usize] = 0;
        core.state.words[register::CLONE_FIELDS as usize] = 0;
        let id = (request & !register::REQUESTED) as u16;
        // Taken out while the copies are made; the caller puts it back.
        Some((id, core.sessions.remove(&id)?, list))
    }

    /// Ingress to egress: the packet as it arrived, parsed again.
    pub fn clone_at_ingress(&self, core: &mut Core, out: &mut Outcomes) {
        let Some((id, session, list)) = self.requested_clone(core) else {
            return;
        };
        let (saved, payload) = self.save(core);
        let arrived = core.state.words[register::ARRIVED as usize];
        let port = core.read_word(self.metadata.ingress_port);
        core.reset_words();
        core.state.words[register::ARRIVED as usize] = arrived;
        core.state.words[register::LENGTH as usize] = arrived;
        set(&mut core.state, Some(self.metadata.ingress_port), port);
        self.parser.parse(&core.program.code, &core.sets, &mut core.state);
        self.forget_metadata(core, &saved, list, instance::INGRESS_CLONE);
        self.emit_clones(core, &session, out);
        self.restore(core, saved, payload);
        core.sessions.insert(id, session);
    }

    /// Egress to egress: the packet with its headers as they are now.
    pub fn clone_at_egress(&self, core: &mut Core, out: &mut Outcomes) {
        let Some((id, session, list)) = self.requested_clone(core) else {
            return;
        };
        let (saved, payload) = self.save(core);
        self.forget_metadata(core, &saved, list, instance::EGRESS_CLONE);
        core.state.words[register::RECIRCULATE as usize] = 0;
        core.state.words[register::TRUNCATE as usize] = u64::MAX;
        self.emit_clones(core, &session, out);
        self.restore(core, saved, payload);
        core.sessions.insert(id, session);
    }

    fn emit_clones(&self, core: &mut Core, session: &CloneSession, out: &mut Outcomes) {
        if let Some(bytes) = session.truncate_to {
            core.state.words[register::TRUNCATE as usize] = u64::from(bytes);
        }
        let class_of_service = session.class_of_service.min(7);
        self.replicate(core, &session.replicas, class_of_service, out);
        if let Some(group) = session.group {
            self.copy_to_group(core, group, class_of_service, out);
        }
    }

    /// Clears all metadata but the fields of a field list, whose values are in `from`.
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
