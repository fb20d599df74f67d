//! Lists the actions and tables of the control plane, in p4c's order.

use std::rc::Rc;

use super::{FrameRef, Lowerer, Object};
use crate::{
    ir::Action,
    typed::{
        annotations::has,
        tree::Local,
        types::{ActionId, ControlId, InstanceId},
    },
};

/// A part of a control that the control plane may see.
enum Part {
    Control(ControlId, FrameRef),
    Table(usize),
    Action(ActionId),
}

impl Lowerer<'_> {
    /// Lists the parts of each block: first the actions declared outside of it, in order of use, then its own.
    pub(super) fn list_symbols(&mut self, blocks: Vec<Object>) {
        for object in blocks {
            if let Object::Control(id, frame) = object {
                let first = self.ir.listed_tables.len();
                self.list_tables(id, &frame);
                let used: Vec<usize> = self.ir.listed_tables[first..].to_vec();
                for table in used {
                    for (action, _) in self.ir.tables[table].actions.clone() {
                        let source = self.ir.actions[action].source;
                        if let Some(source) = source.filter(|s| self.program.actions[s.index()].top_level) {
                            self.list_action(source, "");
                        }
                    }
                }
                self.list_called();
                self.list_actions(id, &frame);
            }
        }
    }

    fn list_called(&mut self) {
        for index in 0..self.program.actions.len() {
            let action = &self.program.actions[index];
            let id = ActionId(index as u32);
            if action.top_level
                && self
                    .called
                    .contains(&(self.full_name("", &action.name, &action.annotations), id))
            {
                self.list_action(id, "");
            }
        }
    }

    /// Parts of a control in order of declaration; an instance that is applied directly comes last.
    fn parts(&self, id: ControlId, frame: &FrameRef) -> Vec<Part> {
        let frame = frame.borrow();
        let control = |instance: InstanceId| match frame.objects.get(&instance) {
            Some(Object::Control(id, inner)) => Some(Part::Control(*id, Rc::clone(inner))),
            _ => None,
        };
        let mut declared: Vec<InstanceId> = Vec::new();
        let mut parts = Vec::new();
        for local in &self.program.controls[id.index()].locals {
            match local {
                Local::Instance(instance) => {
                    declared.push(*instance);
                    parts.extend(control(*instance));
                }
                Local::Table(table) => parts.extend(frame.tables.get(table).copied().map(Part::Table)),
                Local::Action(action) => parts.push(Part::Action(*action)),
                Local::Variable(..) | Local::ValueSet(_) => {}
            }
        }
        let direct = frame.objects.keys().filter(|i| !declared.contains(i));
        let mut direct: Vec<InstanceId> = direct.copied().collect();
        direct.sort();
        parts.extend(direct.into_iter().filter_map(control));
        parts
    }

    fn list_tables(&mut self, id: ControlId, frame: &FrameRef) {
        for part in self.parts(id, frame) {
            match part {
                Part::Control(id, inner) => self.list_tables(id, &inner),
                Part::Table(table) if !self.ir.tables[table].hidden => self.ir.listed_tables.push(table),
                Part::Table(_) | Part::Action(_) => {}
            }
        }
    }

    fn list_actions(&mut self, id: ControlId, frame: &FrameRef) {
        let path = frame.borrow().path.clone();
        for part in self.parts(id, frame) {
            match part {
                Part::Control(id, inner) => self.list_actions(id, &inner),
                Part::Action(action) => self.list_action(action, &path),
                Part::Table(_) => {}
            }
        }
    }

    /// Lists an action in a table's list or in a call. Unused actions are not part of the program.
    fn list_action(&mut self, id: ActionId, path: &str) {
        let source = &self.program.actions[id.index()];
        let name = self.full_name(path, &source.name, &source.annotations);
        let key = (name.clone(), id);
        let index = match self.actions.get(&key) {
            Some(index) => *index,
            None if self.called.contains(&key) => {
                // Its statements are inlined at the call, with all parameters. The name is only for the control plane.
                let (annotations, span) = (source.annotations.clone(), source.span);
                self.ir.actions.push(Action {
                    name,
                    params: Vec::new(),
                    code: Vec::new(),
                    annotations,
                    source: Some(id),
                    span,
                });
                self.actions.insert(key, self.ir.actions.len() - 1);
                self.ir.actions.len() - 1
            }
            None => return,
        };
        if has(&source.annotations, "hidden") || self.ir.listed_actions.contains(&index) {
            return;
        }
        let name = &self.ir.actions[index].name;
        let same = |other: &&usize| self.ir.actions[**other].name == *name;
        if let Some(other) = self.ir.listed_actions.iter().find(same)
            && self.ir.actions[*other].source != Some(id)
        {
            let message = format!("two actions have the name '{name}' for the control plane");
            self.error(source.span, message);
        }
        self.ir.listed_actions.push(index);
    }
}
