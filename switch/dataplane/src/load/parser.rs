//! Parsers in the JSON.

use std::collections::HashMap;

use super::builder::Builder;
use super::expr::{Expr, Scope};
use super::json::{Json, Load};
use super::primitive::{self, Objects};
use super::statement::Statement;
use crate::bits::{self, words};
use crate::run::expr::{Data, HeaderExpr};
use crate::run::ops::{Address, Op, Word};
use crate::run::states::{Case, CaseKind, Errors, KeyPart, ParseState, Parser, ParserOp};
use crate::run::value_set::ValueSet;

/// Parser errors of P4's core library, in the order of their usual numbers.
const CORE_ERRORS: [&str; 7] = [
    "NoError",
    "PacketTooShort",
    "NoMatch",
    "StackOutOfBounds",
    "HeaderTooShort",
    "ParserTimeout",
    "ParserInvalidArgument",
];

const MAX_BITS: u64 = 1 << 14;

impl Errors {
    pub fn load(root: &Json) -> Load<Errors> {
        let mut names = HashMap::new();
        for json in root.list("errors")? {
            names.insert(
                json.at(0)?.str()?.to_string(),
                json.at(1)?.count(u64::from(u32::MAX))? as u32,
            );
        }
        let mut free = names.values().max().map_or(0, |&max| max.saturating_add(1));
        let number = |index: usize| match names.get(CORE_ERRORS[index]) {
            Some(&number) => number,
            None if names.is_empty() => index as u32,
            None => {
                free += 1;
                free - 1
            }
        };
        // Errors that the switch itself reports.
        let found = [1, 3, 4, 5, 6];
        let numbers = found.map(number);
        let core = numbers
            .into_iter()
            .zip(found.map(|index| CORE_ERRORS[index].to_owned()));
        Ok(Errors {
            packet_too_short: numbers[0],
            stack_out_of_bounds: numbers[1],
            header_too_short: numbers[2],
            timeout: numbers[3],
            invalid_argument: numbers[4],
            names: core
                .chain(names.iter().map(|(name, &number)| (number, name.clone())))
                .collect(),
        })
    }
}

impl ValueSet {
    pub fn load_all(root: &Json) -> Load<Vec<ValueSet>> {
        let mut sets = Vec::new();
        for json in root.list("parse_vsets")? {
            let name = json.get("name")?.str()?.to_string();
            let width = json.get("compressed_bitwidth")?.count(MAX_BITS)? as u32;
            sets.push(ValueSet {
                name,
                width,
                uses: Vec::new(),
            });
        }
        Ok(sets)
    }
}

/// Builds a parser.
pub(crate) struct Loader<'a, 'l> {
    pub builder: &'a mut Builder<'l>,
    pub objects: &'a Objects<'a>,
    pub sets: &'a mut Vec<ValueSet>,
}

impl<'l> Loader<'_, 'l> {
    /// Loads a parser. `number`: 0, or 1 for the second parser of a Tofino.
    pub fn load(&mut self, json: &Json, errors: Errors, number: usize) -> Load<Parser> {
        let states = json.get("parse_states")?.items()?;
        let mut names = HashMap::new();
        for (index, state) in states.iter().enumerate() {
            names.insert(state.get("name")?.str()?.to_string(), index as u32);
        }
        let find = |json: Option<Json>| match json {
            None => Ok(None),
            Some(json) => match names.get(json.str()?) {
                Some(&state) => Ok(Some(state)),
                None => json.error(format!("no parser state '{}'", json.str()?)),
            },
        };
        let start = find(json.opt("init_state"))?;
        let mut parser = Parser {
            name: json.get("name")?.str()?.to_string(),
            number,
            states: Vec::new(),
            start,
            errors,
        };
        for state in &states {
            parser.states.push(self.state(state, &find)?);
        }
        Ok(parser)
    }

    fn state<'j>(&mut self, json: &Json<'j>, find: &dyn Fn(Option<Json<'j>>) -> Load<Option<u32>>) -> Load<ParseState> {
        let mut state = ParseState {
            name: json.get("name")?.str()?.to_string(),
            ..ParseState::default()
        };
        for op in json.list("parser_ops")? {
            let op = self.op(&op)?;
            state.ops.push(op);
        }
        let mut widths = Vec::new();
        for part in json.list("transition_key")? {
            let (part, width) = self.key_part(&part)?;
            state.key.push(part);
            widths.push(width);
        }
        for transition in json.list("transitions")? {
            let next = find(transition.opt("next_state"))?;
            let value = transition.opt("value");
            let kind = match transition.opt("type") {
                Some(kind) => kind.str()?,
                None => "hexstr",
            };
            // In old files, the default is a hexstr "default".
            let is_default = kind == "default"
                || kind == "hexstr" && value.as_ref().is_some_and(|v| v.value().as_str() == Some("default"));
            if is_default {
                state.otherwise = next;
                continue;
            }
            let case = self.case(&transition, kind, &widths, next)?;
            state.cases.push(case);
        }
        state.widths = widths;
        Ok(state)
    }

    fn case(&mut self, json: &Json, kind: &str, widths: &[u32], next: Option<u32>) -> Load<Case> {
        let value = json.get("value")?;
        let mask = match json.opt("mask") {
            Some(mask) => Some(split(&mask, widths)?),
            None => None,
        };
        let what = match kind {
            "hexstr" => {
                let mut value = split(&value, widths)?;
                if let Some(mask) = &mask {
                    value.iter_mut().zip(mask).for_each(|(v, m)| *v &= m);
                }
                CaseKind::Value(value)
            }
            "parse_vset" => {
                let Some(set) = self
                    .sets
                    .iter()
                    .position(|set| Some(set.name.as_str()) == value.value().as_str())
                else {
                    return value.error("no such parser value set");
                };
                if widths.iter().sum::<u32>() != self.sets[set].width {
                    return value.error("the value set is not as wide as the key of this state");
                }
                self.sets[set].uses.push((widths.to_vec(), Vec::new()));
                CaseKind::Set {
                    set: set as u32,
                    usage: self.sets[set].uses.len() as u32 - 1,
                }
            }
            other => return json.error(format!("a transition of type '{other}' is not supported")),
        };
        Ok(Case { what, mask, next })
    }

    fn scope(&self) -> Scope<'_> {
        Scope::new(self.builder.layout, self.objects.registers, &[])
    }

    fn statement(&mut self) -> Statement<'_, 'l, '_> {
        let scope = Scope::new(self.builder.layout, self.objects.registers, &[]);
        Statement {
            builder: self.builder,
            scope,
        }
    }

    /// Code that computes a number into a word of its own.
    fn computed(&mut self, data: &Data) -> (Address, Word) {
        let word = self.builder.own_word();
        let code = self.builder.address();
        self.builder.value_into(data, word, u64::MAX);
        self.builder.end_statement();
        self.builder.push(Op::End);
        (code, word)
    }

    /// As `computed`, for a length or amount. A negative or huge value becomes a number beyond every limit.
    fn computed_amount(&mut self, data: &Data) -> (Address, Word) {
        let word = self.builder.own_word();
        let code = self.builder.address();
        let (a, m) = (self.builder.cell(data), self.builder.constant(u64::MAX));
        self.builder.push(Op::Move { d: word, a, m });
        self.builder.end_statement();
        self.builder.push(Op::End);
        (code, word)
    }

    fn op(&mut self, json: &Json) -> Load<ParserOp> {
        let op = json.get("op")?;
        let parameters = json.get("parameters")?;
        let parameter = |index| parameters.at(index);
        Ok(match op.str()? {
            "extract" => self.extract(&parameter(0)?, None)?,
            "extract_VL" => {
                let length = self.scope().data(&parameter(1)?)?;
                let length = self.computed_amount(&length);
                self.extract(&parameter(0)?, Some(length))?
            }
            "set" => self.set(&parameter(0)?, &parameter(1)?)?,
            "verify" => self.verify(&parameter(0)?, &parameter(1)?)?,
            "shift" => {
                let bits = Data::Const((8 * parameter(0)?.count(MAX_BITS)?).into());
                let (code, bits) = self.computed_amount(&bits);
                ParserOp::Advance { code, bits }
            }
            "advance" => {
                let bits = self.scope().data(&parameter(0)?)?;
                let (code, bits) = self.computed_amount(&bits);
                ParserOp::Advance { code, bits }
            }
            "primitive" => {
                let primitives = parameters.items()?;
                ParserOp::Run(primitive::lower_all(self.builder, self.objects, &[], &primitives)?)
            }
            other => return op.error(format!("parser operation '{other}' is not supported")),
        })
    }

    fn extract(&mut self, json: &Json, length: Option<(Address, Word)>) -> Load<ParserOp> {
        let layout = self.builder.layout;
        let value = json.get("value")?;
        let (headers, next) = match json.get("type")?.str()? {
            "regular" => (vec![layout.header(&value)?], None),
            "stack" => {
                let stack = &layout.stacks[layout.stack(&value)? as usize];
                (stack.headers.clone(), Some(stack.next))
            }
            "union_stack" => {
                let stack = &layout.union_stacks[layout.union_stack(&value.at(0)?)? as usize];
                let (member, _) = layout.member(&stack.kind, &value.at(1)?)?;
                let headers = stack
                    .unions
                    .iter()
                    .map(|&u| layout.unions[u as usize].headers[member as usize]);
                (headers.collect(), Some(stack.next))
            }
            other => return json.error(format!("cannot extract to a '{other}'")),
        };
        let Some(&first) = headers.first() else {
            return json.error("cannot extract to an empty stack");
        };
        let header = &layout.headers[first as usize];
        if !header.fixed_bits.is_multiple_of(8) {
            return json.error(format!("{} bits are not a whole number of bytes", header.fixed_bits));
        }
        let varies = header.varbit.is_some();
        if varies && length.is_none() {
            return json.error("a header with a variable-length field needs extract_VL");
        }
        let varbit = if varies { length } else { None };
        Ok(match (next, varbit) {
            (Some(next), varbit) => ParserOp::ExtractNext { headers, next, varbit },
            (None, Some((code, bits))) => ParserOp::ExtractVarbit {
                header: first,
                code,
                bits,
            },
            (None, None) => ParserOp::Extract(first),
        })
    }

    fn set(&mut self, to: &Json, from: &Json) -> Load<ParserOp> {
        let value = from.get("value")?;
        if from.get("type")?.str()? != "lookahead" {
            let code = self.builder.address();
            let value = self.scope().data(from)?;
            self.statement().assign(to, value)?;
            self.builder.end_statement();
            self.builder.push(Op::End);
            return Ok(ParserOp::Run(code));
        }
        let offset = value.at(0)?.count(MAX_BITS)?;
        let width = value.at(1)?.count(MAX_BITS)? as u32;
        let word = self.builder.own_word();
        for _ in 1..words(width) {
            self.builder.own_word();
        }
        let code = self.builder.address();
        self.statement().assign(to, Data::Param(word, width))?;
        self.builder.end_statement();
        self.builder.push(Op::End);
        Ok(ParserOp::Lookahead {
            offset,
            width,
            to: word,
            code,
        })
    }

    fn verify(&mut self, condition: &Json, error: &Json) -> Load<ParserOp> {
        let condition = self.scope().bool(condition)?;
        let error = match error.value().as_u64() {
            Some(number) => Data::Const(number.into()),
            None => self.scope().data(error)?,
        };
        let (holds, number) = (self.builder.own_word(), self.builder.own_word());
        let code = self.builder.address();
        self.builder.truth_into(&condition, holds);
        self.builder.value_into(&error, number, u64::from(u32::MAX));
        self.builder.end_statement();
        self.builder.push(Op::End);
        Ok(ParserOp::Verify {
            code,
            holds,
            error: number,
        })
    }

    fn key_part(&mut self, json: &Json) -> Load<(KeyPart, u32)> {
        let value = json.get("value")?;
        let data = match json.get("type")?.str()? {
            "lookahead" => {
                let offset = value.at(0)?.count(MAX_BITS)?;
                let width = value.at(1)?.count(MAX_BITS)? as u32;
                return Ok((KeyPart::Lookahead { offset, width }, width));
            }
            "field" | "stack_field" | "union_stack_field" => match self.scope().expr(json)? {
                Expr::Data(data) => data,
                _ => return json.error("should be a field"),
            },
            other => return json.error(format!("a key of type '{other}' is not supported")),
        };
        let layout = self.builder.layout;
        Ok(match &data {
            Data::Field(field) => {
                let field = &layout.fields[*field as usize];
                (
                    KeyPart::Words {
                        first: field.slot,
                        count: field.words() as u32,
                    },
                    field.width,
                )
            }
            Data::Valid(header) => (
                KeyPart::Words {
                    first: layout.headers[*header as usize].valid,
                    count: 1,
                },
                1,
            ),
            Data::FieldOf(header, offset) => {
                let width = match &**header {
                    HeaderExpr::Indexed(headers, _) => self.builder.word_offset(headers, *offset).map(|(_, w)| w),
                    HeaderExpr::Fixed(_) => None,
                };
                let Some(width) = width else {
                    return json.error("a stack field of more than 64 bits cannot be a key");
                };
                let (code, word) = self.computed(&data);
                (KeyPart::Computed { code, word }, width)
            }
            _ => return json.error("should be a field"),
        })
    }
}

/// Splits a value of byte-padded fields into the words of a key.
fn split(json: &Json, widths: &[u32]) -> Load<Vec<u64>> {
    let bytes = json.bytes()?;
    let expected: usize = widths.iter().map(|w| w.div_ceil(8) as usize).sum();
    if bytes.len() != expected {
        return json.error(format!("has {} bytes, the key has {expected}", bytes.len()));
    }
    let mut key = Vec::new();
    let mut rest = &bytes[..];
    for &width in widths {
        let (field, after) = rest.split_at(width.div_ceil(8) as usize);
        let start = key.len();
        key.resize(start + words(width), 0);
        let padding = field.len() * 8 - width as usize;
        bits::read(field, padding, width, &mut key[start..]);
        rest = after;
    }
    Ok(key)
}
