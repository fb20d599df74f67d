//! Calculations: an algorithm over a list of fields, headers and constants, laid out as bytes.

use super::layout::Layout;
use super::state::State;
use super::wire::{Plan, write_field};
use crate::bits::Writer;

#[derive(Clone, Debug)]
pub(crate) enum Input {
    Field(u32),
    Valid(u32),
    Header(u32),
    Constant(Vec<u64>, u32),
    /// Several fields of one header with whole bytes: the validity word of the header, and the fields.
    Run(u32, Plan),
}

#[derive(Clone, Debug)]
pub(crate) struct Calculation {
    pub inputs: Vec<Input>,
    pub with_payload: bool,
}

impl Calculation {
    /// Lays out the inputs in `state.scratch`, without those of invalid headers.
    #[inline]
    pub fn gather(&self, layout: &Layout, state: &mut State) {
        let mut scratch = std::mem::take(&mut state.scratch);
        scratch.clear();
        let mut writer = Writer::new(&mut scratch);
        let valid = |header: u32| state.words[layout.headers[header as usize].valid as usize];
        for input in &self.inputs {
            match input {
                Input::Run(valid, plan) => {
                    if state.words[*valid as usize] != 0 {
                        plan.store(&state.words, writer.bytes());
                    }
                }
                Input::Field(field) => {
                    if valid(layout.fields[*field as usize].header) != 0 {
                        write_field(layout, &state.words, *field, &mut writer);
                    }
                }
                Input::Valid(header) => writer.word(valid(*header) & 1, 1),
                Input::Header(header) => {
                    if valid(*header) != 0 {
                        for field in layout.headers[*header as usize].fields() {
                            write_field(layout, &state.words, field as u32, &mut writer);
                        }
                    }
                }
                Input::Constant(value, width) => writer.field(value, *width),
            }
        }
        writer.finish();
        if self.with_payload {
            scratch.extend_from_slice(state.frame.get(state.payload..).unwrap_or(&[]));
        }
        state.scratch = scratch;
    }
}
