//! A program as flat code, and the objects that the code uses.

use std::collections::HashMap;
use std::sync::Arc;

use super::calculation::Calculation;
use super::exact::Env;
use super::layout::Layout;
use super::native::Native;
use super::ops::{Address, Op, Word};
use super::state::State;
use super::table::{Action, TableProgram};
use super::wire::Plan;
use crate::events::Source;

/// The part of a program that starts at an operation; for the log of packets.
#[derive(Clone, Debug)]
pub(crate) enum Mark {
    /// A jump that is taken if a condition does not hold. Conditions in the control flow have names, those in actions
    /// have none.
    Condition(Option<String>, Option<Arc<Source>>),
    /// A primitive.
    Statement(Arc<Source>),
    /// A table whose only action starts here.
    Table(u32),
    /// An action that starts here.
    Action(u32),
}

/// The immutable part of a program that flat code needs.
#[derive(Debug)]
pub(crate) struct Code {
    pub layout: Layout,
    /// The layout of each header, if it has whole bytes.
    pub plans: Vec<Option<Plan>>,
    pub ops: Vec<Op>,
    pub lists: Vec<Vec<u32>>,
    pub calculations: Vec<Calculation>,
    pub tables: Vec<TableProgram>,
    pub actions: Vec<Action>,
    /// First word of the action parameters.
    pub param_base: usize,
    /// Word after the action parameters.
    pub param_end: usize,
    /// Words whose values never change.
    pub constants: HashMap<Word, u64>,
    pub marks: HashMap<Address, Vec<Mark>>,
    /// Machine code of the same program, if it was compiled.
    pub native: Option<Native>,
}

impl Code {
    /// The header `list[index]`, if there is one.
    #[inline]
    pub fn element(&self, list: u32, index: u64) -> Option<u32> {
        self.lists[list as usize].get(usize::try_from(index).ok()?).copied()
    }

    /// Environment in which expressions are evaluated.
    #[inline]
    pub fn env<'a>(&'a self, state: &'a State) -> Env<'a> {
        Env {
            layout: &self.layout,
            words: &state.words,
            registers: &state.registers,
        }
    }
}
