//! Runs a parser: states extract headers and choose the next state by a key.

use super::call;
use super::code::Code;
use super::header_ops::mark_valid;
use super::layout::Layout;
use super::machine::run;
use super::observer::Observer;
use super::state::State;
use super::states::{Case, CaseKind, KeyPart, MAX_STEPS, ParseState, Parser, ParserOp};
use super::value_set::ValueSet;
use crate::bits::{self, words};
use crate::events::{EventKind, Number};

impl Parser {
    /// Parses `state.frame` from its beginning, and puts the start of the rest into `state.payload`. Returns the number
    /// of the error that stopped the parser.
    pub fn parse<O: Observer>(
        &self,
        code: &Code,
        sets: &[ValueSet],
        state: &mut State,
        observer: &mut O,
    ) -> Option<u32> {
        if let Some(entry) = code.native.as_ref().and_then(|native| native.parser(self.number)) {
            return call::parse(entry, code, state, (self, sets));
        }
        observer.event(|| EventKind::ParserStarted {
            parser: self.name.clone(),
        });
        let mut next = self.start;
        let mut at = 0;
        let mut steps = 0;
        let mut error = None;
        while let Some(current) = next {
            steps += 1;
            let outcome = if steps > MAX_STEPS {
                Err(self.errors.timeout)
            } else {
                self.visit(code, sets, state, &self.states[current as usize], &mut at, observer)
            };
            match outcome {
                Ok(following) => next = following,
                Err(number) => {
                    error = Some(number);
                    observer.event(|| EventKind::ParserFailed {
                        error: self.errors.name(number),
                    });
                    break;
                }
            }
        }
        state.payload = at;
        observer.event(|| EventKind::ParserEnded {
            parser: self.name.clone(),
            bytes: at,
        });
        error
    }

    fn visit<O: Observer>(
        &self,
        code: &Code,
        sets: &[ValueSet],
        state: &mut State,
        current: &ParseState,
        at: &mut usize,
        observer: &mut O,
    ) -> Result<Option<u32>, u32> {
        observer.event(|| EventKind::State {
            parser: self.name.clone(),
            state: current.name.clone(),
        });
        for op in &current.ops {
            self.execute(code, state, op, at, observer)?;
        }
        let next = self.next(code, sets, state, current, *at, observer)?;
        observer.event(|| self.choice(current, state, next));
        Ok(next)
    }

    /// Chooses the next state by the key of this state.
    fn choice(&self, current: &ParseState, state: &State, next: Option<u32>) -> EventKind {
        let mut at = 0;
        let mut bytes = Vec::new();
        // A state without a select has no key.
        let widths = match current.cases.is_empty() {
            true => &[][..],
            false => &current.widths,
        };
        for &width in widths {
            let part = &state.key[at..at + words(width)];
            at += part.len();
            bytes.extend(bits::to_bytes(part, width));
        }
        EventKind::Selected {
            state: current.name.clone(),
            key: (!bytes.is_empty()).then(|| Number {
                width: bytes.len() as u32 * u8::BITS,
                bytes,
            }),
            next: next.map(|next| self.states[next as usize].name.clone()),
        }
    }

    pub fn next<O: Observer>(
        &self,
        code: &Code,
        sets: &[ValueSet],
        state: &mut State,
        current: &ParseState,
        at: usize,
        observer: &mut O,
    ) -> Result<Option<u32>, u32> {
        if current.cases.is_empty() {
            return Ok(current.otherwise);
        }
        let mut key = std::mem::take(&mut state.key);
        key.clear();
        let built = self.build_key(code, state, &current.key, at, &mut key, observer);
        let next = built.map(|()| {
            let case = current.cases.iter().find(|case| matches(case, &key, sets));
            case.map_or(current.otherwise, |case| case.next)
        });
        state.key = key;
        next
    }

    fn build_key<O: Observer>(
        &self,
        code: &Code,
        state: &mut State,
        parts: &[KeyPart],
        at: usize,
        key: &mut Vec<u64>,
        observer: &mut O,
    ) -> Result<(), u32> {
        for part in parts {
            match *part {
                KeyPart::Words { first, count } => {
                    key.extend_from_slice(&state.words[first as usize..(first + count) as usize]);
                }
                KeyPart::Computed { code: start, word } => {
                    run(code, state, start, observer);
                    key.push(state.words[word as usize]);
                }
                KeyPart::Lookahead { offset, width } => {
                    let start = key.len();
                    key.resize(start + words(width), 0);
                    self.peek(&state.frame, at, offset, width, &mut key[start..])?;
                }
            }
        }
        Ok(())
    }

    fn peek(&self, frame: &[u8], at: usize, offset: usize, width: u32, out: &mut [u64]) -> Result<(), u32> {
        let start = at * 8 + offset;
        if start + width as usize > frame.len() * 8 {
            return Err(self.errors.packet_too_short);
        }
        bits::read(frame, start, width, out);
        Ok(())
    }

    pub fn execute<O: Observer>(
        &self,
        code: &Code,
        state: &mut State,
        op: &ParserOp,
        at: &mut usize,
        observer: &mut O,
    ) -> Result<(), u32> {
        match op {
            ParserOp::Extract(header) => self.extract(code, state, *header, 0, at, observer),
            ParserOp::ExtractVarbit {
                header,
                code: start,
                bits,
            } => {
                run(code, state, *start, observer);
                let bits = state.words[*bits as usize];
                self.extract(code, state, *header, bits, at, observer)
            }
            ParserOp::ExtractNext { headers, next, varbit } => {
                let position = state.words[*next as usize];
                let Some(&header) = headers.get(position as usize) else {
                    return Err(self.errors.stack_out_of_bounds);
                };
                let mut bits = 0;
                if let Some((start, word)) = varbit {
                    run(code, state, *start, observer);
                    bits = state.words[*word as usize];
                }
                self.extract(code, state, header, bits, at, observer)?;
                state.words[*next as usize] = position + 1;
                Ok(())
            }
            ParserOp::Run(start) => {
                run(code, state, *start, observer);
                Ok(())
            }
            ParserOp::Lookahead {
                offset,
                width,
                to,
                code: start,
            } => {
                let to = *to as usize;
                let out = &mut state.words[to..to + words(*width)];
                self.peek(&state.frame, *at, *offset, *width, out)?;
                run(code, state, *start, observer);
                Ok(())
            }
            ParserOp::Verify {
                code: start,
                holds,
                error,
            } => {
                run(code, state, *start, observer);
                if state.words[*holds as usize] == 0 {
                    return Err(state.words[*error as usize] as u32);
                }
                Ok(())
            }
            ParserOp::Advance { code: start, bits } => {
                run(code, state, *start, observer);
                let bits = state.words[*bits as usize];
                if !bits.is_multiple_of(8) {
                    return Err(self.errors.invalid_argument);
                }
                if bits / 8 > (state.frame.len() - *at) as u64 {
                    return Err(self.errors.packet_too_short);
                }
                *at += (bits / 8) as usize;
                observer.event(|| EventKind::Advanced {
                    bytes: (bits / 8) as usize,
                });
                Ok(())
            }
        }
    }

    /// Extracts a header; `bits` is the length of its variable-length field, if it has one.
    #[inline]
    fn extract<O: Observer>(
        &self,
        code: &Code,
        state: &mut State,
        header: u32,
        bits: u64,
        at: &mut usize,
        observer: &mut O,
    ) -> Result<(), u32> {
        let layout = &code.layout;
        let begin = *at;
        if let Some(plan) = &code.plans[header as usize] {
            let rest = &state.frame[*at..];
            if rest.len() < plan.bytes {
                return Err(self.errors.packet_too_short);
            }
            plan.load(rest, &mut state.words);
            *at += plan.bytes;
        } else {
            self.extract_bits(layout, state, header, bits, at)?;
        }
        mark_valid(layout, state, header);
        observer.extracted(code, state, header, *at - begin);
        Ok(())
    }

    /// Extracts a header without whole bytes, or with variable length.
    fn extract_bits(
        &self,
        layout: &Layout,
        state: &mut State,
        header: u32,
        bits: u64,
        at: &mut usize,
    ) -> Result<(), u32> {
        let description = &layout.headers[header as usize];
        let available = (state.frame.len() - *at) as u64 * 8;
        if !bits.is_multiple_of(8) {
            return Err(self.errors.invalid_argument);
        }
        if u64::from(description.fixed_bits).saturating_add(bits) > available {
            return Err(self.errors.packet_too_short);
        }
        if let Some(varbit) = description.varbit
            && bits > u64::from(layout.fields[varbit as usize].width)
        {
            return Err(self.errors.header_too_short);
        }
        let mut bit = *at * 8;
        for field in &layout.fields[description.fields()] {
            let mut width = field.width;
            if let Some(length) = field.length {
                width = bits as u32;
                state.words[length as usize] = bits;
                state.words[field.span()].fill(0);
            }
            let slot = field.slot as usize;
            bits::read(&state.frame, bit, width, &mut state.words[slot..slot + words(width)]);
            bit += width as usize;
        }
        *at = bit / 8;
        Ok(())
    }
}

#[inline(always)]
fn matches(case: &Case, key: &[u64], sets: &[ValueSet]) -> bool {
    let equal = |value: &[u64]| match &case.mask {
        None => value == key,
        Some(mask) => value.iter().zip(key).zip(mask).all(|((v, k), m)| v & m == k & m),
    };
    match &case.what {
        CaseKind::Value(value) => equal(value),
        CaseKind::Set { set, usage } => sets[*set as usize].uses[*usage as usize].1.iter().any(|member| {
            let bits = member.value.iter().zip(key).zip(&member.mask).enumerate();
            let case = |i: usize| case.mask.as_ref().map_or(u64::MAX, |mask| mask[i]);
            bits.into_iter()
                .all(|(i, ((value, key), mask))| (value ^ key) & mask & case(i) == 0)
        }),
    }
}
