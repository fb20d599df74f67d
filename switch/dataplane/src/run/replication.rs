//! Multicast and clones: one packet becomes several.

use super::layout::register;
use super::pipeline::{Pipeline, instance, set, set_in};
use crate::ids::Port;
use crate::packet::{Enqueue, Outcomes, Packet};
use crate::values::CloneSession;

impl Pipeline {
    /// Hands a copy of the packet at work to the traffic manager.
    pub(crate) fn enqueue(&mut self, port: Port, frame: Vec<u8>, class_of_service: u8, out: &mut Outcomes) {
        let frame_len = self.frame_len(&frame);
        let mut phv = self.spare_phv();
        phv.extend_from_slice(&self.state.words[..self.program.blank.len()]);
        for register in [
            register::CLONE,
            register::CLONE_FIELDS,
            register::RESUBMIT,
            register::DIGEST,
        ] {
            phv[register as usize] = 0;
        }
        let priority = match self.program.metadata.priority {
            Some(field) => {
                if phv[field.word as usize] == 0 {
                    set_in(&mut phv, field, u64::from(class_of_service));
                }
                phv[field.word as usize]
            }
            None => u64::from(class_of_service),
        };
        let packet = Packet {
            layout: self.program.identity,
            phv,
            frame,
            payload: self.state.payload,
        };
        if priority > 7 {
            // simple_switch drops it: "priority out of range".
            self.recycle(packet);
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
    pub(crate) fn multicast(&mut self, group: u64, out: &mut Outcomes) {
        let Some(group) = u16::try_from(group)
            .ok()
            .filter(|group| self.groups.contains_key(group))
        else {
            return;
        };
        let replicas = self.groups.remove(&group).unwrap_or_default();
        self.replicate(&replicas, 0, out);
        self.groups.insert(group, replicas);
    }

    fn replicate(&mut self, replicas: &[(Port, u16)], class_of_service: u8, out: &mut Outcomes) {
        // What ingress asked for is about the original, not about the copies.
        for register in [register::RECIRCULATE, register::EXIT] {
            self.state.words[register as usize] = 0;
        }
        for &(port, rid) in replicas {
            let field = self.program.metadata.egress_rid;
            set(&mut self.state, field, u64::from(rid));
            let mut frame = self.spare_frame();
            frame.extend_from_slice(&self.state.frame);
            self.enqueue(port, frame, class_of_service, out);
        }
    }

    /// The session of a clone call, if there was one and the session is configured.
    fn requested_clone(&mut self) -> Option<(u16, CloneSession, u64)> {
        let request = self.state.words[register::CLONE as usize];
        if request == 0 {
            return None;
        }
        let list = self.state.words[register::CLONE_FIELDS as usize];
        self.state.words[register::CLONE as usize] = 0;
        self.state.words[register::CLONE_FIELDS as usize] = 0;
        let id = (request & !register::CLONE_REQUESTED) as u16;
        // Taken out while the copies are made; the caller puts it back.
        Some((id, self.sessions.remove(&id)?, list))
    }

    /// Ingress to egress: the packet as it arrived, parsed again.
    pub(crate) fn clone_at_ingress(&mut self, out: &mut Outcomes) {
        let Some((id, session, list)) = self.requested_clone() else {
            return;
        };
        let (saved, payload) = self.save();
        let arrived = self.state.words[register::ARRIVED as usize];
        let port = self.read_word(self.program.metadata.ingress_port);
        self.reset_words();
        self.state.words[register::ARRIVED as usize] = arrived;
        self.state.words[register::LENGTH as usize] = arrived;
        set(&mut self.state, Some(self.program.metadata.ingress_port), port);
        self.program
            .parser
            .parse(&self.program.code, &self.sets, &mut self.state);
        self.forget_metadata(&saved, list, instance::INGRESS_CLONE);
        self.emit_clones(&session, out);
        self.restore(saved, payload);
        self.sessions.insert(id, session);
    }

    /// Egress to egress: the packet with its headers as they are now.
    pub(crate) fn clone_at_egress(&mut self, out: &mut Outcomes) {
        let Some((id, session, list)) = self.requested_clone() else {
            return;
        };
        let (saved, payload) = self.save();
        self.forget_metadata(&saved, list, instance::EGRESS_CLONE);
        self.state.words[register::RECIRCULATE as usize] = 0;
        self.state.words[register::TRUNCATE as usize] = u64::MAX;
        self.emit_clones(&session, out);
        self.restore(saved, payload);
        self.sessions.insert(id, session);
    }

    fn emit_clones(&mut self, session: &CloneSession, out: &mut Outcomes) {
        if let Some(bytes) = session.truncate_to {
            self.state.words[register::TRUNCATE as usize] = u64::from(bytes);
        }
        self.replicate(&session.replicas, session.class_of_service.min(7), out);
    }

    /// Clears all metadata but the fields of a field list, whose values are in `from`.
    fn forget_metadata(&mut self, from: &[u64], list: u64, instance_type: u64) {
        let layout = &self.program.code.layout;
        for header in layout.headers.iter().filter(|header| header.metadata) {
            self.state.words[header.block()].copy_from_slice(&self.program.blank[header.block()]);
        }
        for &field in self.program.field_lists.get(&list).map_or(&[][..], |fields| fields) {
            let span = layout.fields[field as usize].span();
            self.state.words[span.clone()].copy_from_slice(&from[span]);
        }
        let field = self.program.metadata.instance_type;
        set(&mut self.state, Some(field), instance_type);
    }

    fn save(&mut self) -> (Vec<u64>, usize) {
        let mut saved = self.spare_phv();
        saved.extend_from_slice(&self.state.words[..self.program.blank.len()]);
        (saved, self.state.payload)
    }

    fn restore(&mut self, saved: Vec<u64>, payload: usize) {
        self.state.words[..saved.len()].copy_from_slice(&saved);
        self.state.payload = payload;
        self.keep_phv(saved);
    }
}
