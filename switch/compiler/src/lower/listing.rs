//! Which actions and tables the control plane knows, in the order of their declaration.

use super::{FrameRef, Lowerer, Object, annotations::has};
use crate::{
    ir::Action,
    syntax::ast::Direction,
    typed::{
        tree::{Local, VarKind},
        types::{ActionId, ControlId},
    },
};

impl Lowerer<'_> {
    pub(super) fn list_symbols(&mut self, blocks: Vec<Object>) {
        for index in 0..self.program.actions.len() {
            if self.program.actions[index].top_level {
                self.list_action(ActionId(index as u32), "");
            }
        }
        for object in blocks {
            if let Object::Control(id, frame) = object {
                self.list_control(id, &frame);
            }
        }
    }

    fn list_control(&mut self, id: ControlId, frame: &FrameRef) {
        let path = frame.borrow().path.clone();
        for local in &self.program.controls[id.index()].locals {
            match local {
                Local::Instance(instance) => {
                    let object = frame.borrow().objects.get(instance).cloned();
                    if let Some(Object::Control(id, inner)) = object {
                        self.list_control(id, &inner);
                    }
                }
                Local::Action(action) => self.list_action(*action, &path),
                Local::Table(table) => {
                    let made = frame.borrow().tables.get(table).copied();
                    if let Some(table) = made.filter(|t| !self.ir.tables[*t].hidden) {
                        self.ir.listed_tables.push(table);
                    }
                }
                Local::Variable(..) | Local::ValueSet(_) => {}
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
                self.ir.actions.len() - 1
            }
            None => return,
        };
        if !has(&source.annotations, "hidden") && !self.ir.listed_actions.contains(&index) {
            self.ir.listed_actions.push(index);
        }
    }
}
