//! The states of a parser.

use std::collections::HashMap;

use super::ops::{Address, Word};

/// Most states that one packet may visit, so that a loop without extraction ends.
pub(crate) const MAX_STEPS: usize = 4096;

/// Numbers of the core errors in the program.
#[derive(Clone, Debug)]
pub(crate) struct Errors {
    pub packet_too_short: u32,
    pub stack_out_of_bounds: u32,
    pub header_too_short: u32,
    pub timeout: u32,
    pub invalid_argument: u32,
    /// Names of all errors of the program.
    pub names: HashMap<u32, String>,
}

impl Errors {
    /// Name of an error; its number if the program has no name for it.
    pub fn name(&self, error: u32) -> String {
        self.names
            .get(&error)
            .map_or_else(|| format!("error {error}"), String::clone)
    }

    /// Bits of `parser_err` for an error. Errors without a bit on the chip use that of a packet that no state matches.
    pub fn tofino_flags(&self, error: u32) -> u64 {
        const NO_MATCH: u64 = 0x01;
        const PARTIAL_HEADER: u64 = 0x02;
        const COUNTER_RANGE: u64 = 0x04;
        const TIMEOUT: u64 = 0x10;
        const SOURCE: u64 = 0x20;
        match error {
            error if error == self.packet_too_short || error == self.header_too_short => PARTIAL_HEADER,
            error if error == self.stack_out_of_bounds => COUNTER_RANGE,
            error if error == self.timeout => TIMEOUT,
            error if error == self.invalid_argument => SOURCE,
            _ => NO_MATCH,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Parser {
    pub name: String,
    /// 0, or 1 for the second parser of a Tofino.
    pub number: usize,
    pub states: Vec<ParseState>,
    pub start: Option<u32>,
    pub errors: Errors,
}

#[derive(Debug, Default)]
pub(crate) struct ParseState {
    pub name: String,
    pub ops: Vec<ParserOp>,
    pub key: Vec<KeyPart>,
    /// Widths in bits of the parts of the key.
    pub widths: Vec<u32>,
    pub cases: Vec<Case>,
    pub otherwise: Option<u32>,
}

#[derive(Debug)]
pub(crate) enum ParserOp {
    Extract(u32),
    /// Runs the code. It computes the length in bits of the variable-length field into the word.
    ExtractVarbit {
        header: u32,
        code: Address,
        bits: Word,
    },
    /// Extracts into the next element of a stack.
    ExtractNext {
        headers: Vec<u32>,
        next: Word,
        varbit: Option<(Address, Word)>,
    },
    Run(Address),
    /// Reads `width` bits at this offset from the current position into words from `to` on, then runs the code.
    Lookahead {
        offset: usize,
        width: u32,
        to: Word,
        code: Address,
    },
    /// Runs the code. It computes the condition and the error number.
    Verify {
        code: Address,
        holds: Word,
        error: Word,
    },
    /// Runs the code. It computes the number of bits.
    Advance {
        code: Address,
        bits: Word,
    },
}

#[derive(Debug)]
pub(crate) enum KeyPart {
    Words {
        first: Word,
        count: u32,
    },
    /// A word computed by code.
    Computed {
        code: Address,
        word: Word,
    },
    Lookahead {
        offset: usize,
        width: u32,
    },
}

#[derive(Debug)]
pub(crate) struct Case {
    pub what: CaseKind,
    pub mask: Option<Vec<u64>>,
    pub next: Option<u32>,
}

#[derive(Debug)]
pub(crate) enum CaseKind {
    Value(Vec<u64>),
    /// A use of a parser value set.
    Set {
        set: u32,
        usage: u32,
    },
}

impl Parser {
    /// Addresses of the code that the parser runs.
    pub fn entries(&self) -> impl Iterator<Item = Address> {
        let of_op = |op: &ParserOp| match *op {
            ParserOp::Extract(_) => None,
            ParserOp::ExtractVarbit { code, .. }
            | ParserOp::Run(code)
            | ParserOp::Lookahead { code, .. }
            | ParserOp::Verify { code, .. }
            | ParserOp::Advance { code, .. } => Some(code),
            ParserOp::ExtractNext { ref varbit, .. } => varbit.map(|(code, _)| code),
        };
        let of_key = |part: &KeyPart| match *part {
            KeyPart::Computed { code, .. } => Some(code),
            KeyPart::Words { .. } | KeyPart::Lookahead { .. } => None,
        };
        let of_state = move |state: &ParseState| -> Vec<Address> {
            let ops = state.ops.iter().filter_map(of_op);
            ops.chain(state.key.iter().filter_map(of_key)).collect()
        };
        self.states.iter().flat_map(of_state)
    }
}
