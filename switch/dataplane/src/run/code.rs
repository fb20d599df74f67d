//! A program as flat code, with what the code refers to.

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

/// What an operation is the first of; the log of packets tells it.
#[derive(Clone, Debug)]
pub(crate) enum Mark {
    /// A jump that is taken if a condition does not hold. In the control flow conditions have names, in actions not.
    Condition(Option<String>, Option<Arc<Source>>),
    /// A primitive.
    Statement(Arc<Source>),
    /// A table whose only action stands here.
    Table(u32),
    /// An action that stands here.
    Action(u32),
}

/// The immutable half of a program, as far as flat code needs it.
#[derive(Debug)]
pub(crate) struct Code {
    pub layout: Layout,
    /// How each header is read and written, where that goes by whole bytes.
    pub plans: Vec<Option<Plan>>,
    pub ops: Vec<Op>,
    pub lists: Vec<Vec<u32>>,
    pub calculations: Vec<Calculation>,
    pub tables: Vec<TableProgram>,
    pub actions: Vec<Action>,
    /// First word of the action parameters.
    pub param_base: usize,
    /// The word behind them.
    pub param_end: usize,
    /// Words whose values never change.
    pub constants: HashMap<Word, u64>,
    pub marks: HashMap<Address, Vec<Mark>>,
    /// The same code for the processor, once it is compiled.
    pub native: Option<Native>,
}

impl Code {
    /// The header `list[index]`, if there is one.
    #[inline]
    pub fn element(&self, list: u32, index: u64) -> Option<u32> {
        self.lists[list as usize].get(usize::try_from(index).ok()?).copied()
    }

    /// What expressions are evaluated against.
    #[inline]
    pub fn env<'a>(&'a self, state: &'a State) -> Env<'a> {
        Env {
            layout: &self.layout,
            words: &state.words,
            registers: &state.registers,
        }
    }
}
