//! Which actions and tables the control plane knows, in p4c's order.

use std::rc::Rc;

use super::{FrameRef, Lowerer, Object};
use crate::{
    ir::Action,
    syntax::ast::Direction,
    typed::{
        annotations::has,
        tree::{Local, VarKind},
        types::{ActionId, ControlId, InstanceId},
    },
};

impl Lowerer<'_> {
    /// Lists what each block has: first the actions declared outside of it, in the order of their use, then its own.
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

    /// The instances of a control in the order of their declaration, those without a name last.
    fn inner_controls(&self, id: ControlId, frame: &FrameRef) -> Vec<(ControlId, FrameRef)> {
        let declared = self.program.controls[id.index()]
            .locals
            .iter()
            .filter_map(|local| match local {
                Local::Instance(instance) => Some(*instance),
                _ => None,
            });
        let mut order: Vec<InstanceId> = declared.collect();
        let frame = frame.borrow();
        let mut others: Vec<InstanceId> = frame.objects.keys().filter(|i| !order.contains(i)).copied().collect();
        others.sort();
        order.extend(others);
        let control = |instance: InstanceId| match frame.objects.get(&instance) {
            Some(Object::Control(id, inner)) => Some((*id, Rc::clone(inner))),
            _ => None,
        };
        order.into_iter().filter_map(control).collect()
    }

    fn list_tables(&mut self, id: ControlId, frame: &FrameRef) {
        for (id, inner) in self.inner_controls(id, frame) {
            self.list_tables(id, &inner);
        }
        for local in &self.program.controls[id.index()].locals {
            if let Local::Table(table) = local {
                let made = frame.borrow().tables.get(table).copied();
                if let Some(table) = made.filter(|t| !self.ir.tables[*t].hidden) {
                    self.ir.listed_tables.push(table);
                }
            }
        }
    }

    fn list_actions(&mut self, id: ControlId, frame: &FrameRef) {
        for (id, inner) in self.inner_controls(id, frame) {
            self.list_actions(id, &inner);
        }
        let path = frame.borrow().path.clone();
        for local in &self.program.controls[id.index()].locals {
            if let Local::Action(action) = local {
                self.list_action(*action, &path);
            }
        }
    }

    /// Lists an action that a table has or a statement calls; others are not part of the program.
    fn list_action(&mut self, id: ActionId, path: &str) {
        let source = &self.program.actions[id.index()];
        let name = self.full_name(path, &source.name, &source.annotations);
        let key = (name.clone(), id);
        let index = match self.actions.get(&key) {
            Some(index) => *index,
            None if self.called.contains(&key) => {
                // Its statements are where it was called; the name is for the control plane only.
                let mut params = Vec::new();
                for var in &source.params {
                    let def = &self.program.vars[var.index()];
                    if def.kind == VarKind::Parameter(Direction::None) {
                        self.action_param(def, &mut params);
                    }
                }
                let (annotations, span) = (source.annotations.clone(), source.span);
                self.ir.actions.push(Action {
                    name,
                    params,
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
        if !has(&source.annotations, "hidden") && !self.ir.listed_actions.contains(&index) {
            self.ir.listed_actions.push(index);
        }
    }
}
