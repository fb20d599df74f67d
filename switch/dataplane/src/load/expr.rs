//! Reads the expressions of the JSON and checks them against the program's headers and registers.

use std::collections::HashMap;

use num_bigint::{BigInt, Sign};

use super::json::{Json, Load};
use crate::run::expr::{Arithmetic, Bool, Comparison, Data, HeaderExpr, UnionExpr};
use crate::run::layout::{FieldOrValidity, Layout};

#[derive(Clone, Debug)]
pub(crate) enum Expr {
    Data(Data),
    Bool(Bool),
    Header(HeaderExpr),
    Union(UnionExpr),
    Stack(u32),
    UnionStack(u32),
}

pub(crate) struct Scope<'a> {
    pub layout: &'a Layout,
    pub registers: &'a HashMap<String, u32>,
    /// Word and width of each parameter of the enclosing action.
    pub params: &'a [(u32, u32)],
}

impl<'a> Scope<'a> {
    pub fn new(layout: &'a Layout, registers: &'a HashMap<String, u32>, params: &'a [(u32, u32)]) -> Self {
        Scope {
            layout,
            registers,
            params,
        }
    }

    pub fn data(&self, json: &Json) -> Load<Data> {
        match self.expr(json)? {
            Expr::Data(data) => Ok(data),
            // p4c writes conditions in places of numbers (assert, _jump_if_zero).
            Expr::Bool(truth) => Ok(Data::FromBool(Box::new(truth))),
            _ => json.error("should be a number"),
        }
    }

    pub fn bool(&self, json: &Json) -> Load<Bool> {
        match self.expr(json)? {
            Expr::Bool(truth) => Ok(truth),
            _ => json.error("should be a condition"),
        }
    }

    pub fn header(&self, json: &Json) -> Load<HeaderExpr> {
        match self.expr(json)? {
            Expr::Header(header) => Ok(header),
            _ => json.error("should be a header"),
        }
    }

    fn union(&self, json: &Json) -> Load<UnionExpr> {
        match self.expr(json)? {
            Expr::Union(union) => Ok(union),
            _ => json.error("should be a header union"),
        }
    }

    /// Reads a type-value object: `{"type": "field", "value": [...]}`.
    pub fn expr(&self, json: &Json) -> Load<Expr> {
        let value = json.get("value")?;
        let layout = self.layout;
        Ok(match json.get("type")?.str()? {
            "expression" if value.opt("op").is_some() => self.operation(&value)?,
            "expression" => self.expr(&value)?,
            "field" => Expr::Data(match layout.field(&value)? {
                FieldOrValidity::Field(field) => Data::Field(field),
                FieldOrValidity::Valid(header) => Data::Valid(header),
            }),
            "hexstr" => {
                let (negative, bytes) = value.hex()?;
                Expr::Data(Data::Const(BigInt::from_bytes_be(
                    if negative { Sign::Minus } else { Sign::Plus },
                    &bytes,
                )))
            }
            "bool" => Expr::Bool(Bool::Const(value.bool()?)),
            "local" | "runtime_data" => Expr::Data(self.param(&value)?),
            "header" => Expr::Header(HeaderExpr::Fixed(layout.header(&value)?)),
            "header_stack" => Expr::Stack(layout.stack(&value)?),
            "header_union" => Expr::Union(UnionExpr::Fixed(layout.union(&value)?)),
            "header_union_stack" => Expr::UnionStack(layout.union_stack(&value)?),
            "stack_field" => Expr::Data(self.stack_field(&value)?),
            "union_stack_field" => Expr::Data(self.union_stack_field(&value)?),
            "register" => {
                let register = self.register(&value.at(0)?)?;
                Expr::Data(Data::Register(register, Box::new(self.data(&value.at(1)?)?)))
            }
            other => return json.error(format!("an expression of type '{other}' is not supported")),
        })
    }

    fn param(&self, json: &Json) -> Load<Data> {
        let index = json.int()?;
        match usize::try_from(index).ok().and_then(|index| self.params.get(index)) {
            Some(&(slot, width)) => Ok(Data::Param(slot, width)),
            None => json.error(format!("no parameter {index}, the action has {}", self.params.len())),
        }
    }

    pub fn register(&self, json: &Json) -> Load<u32> {
        match self.registers.get(json.str()?) {
            Some(&register) => Ok(register),
            None => json.error(format!("no register '{}'", json.str()?)),
        }
    }

    /// Reads `[stack, field]`: the field in the last used element.
    pub fn stack_field(&self, json: &Json) -> Load<Data> {
        let stack = &self.layout.stacks[self.layout.stack(&json.at(0)?)? as usize];
        let offset = self.layout.offset(stack.kind, &json.at(1)?)?;
        let last = minus_one(Data::StackCount(stack.next));
        Ok(Data::FieldOf(
            Box::new(HeaderExpr::Indexed(stack.headers.clone(), Box::new(last))),
            offset,
        ))
    }

    /// Reads `[union stack, member, field]`: the field in that member of the last used union.
    pub fn union_stack_field(&self, json: &Json) -> Load<Data> {
        let stack = &self.layout.union_stacks[self.layout.union_stack(&json.at(0)?)? as usize];
        let (member, kind) = self.layout.member(&stack.kind, &json.at(1)?)?;
        let offset = self.layout.offset(kind, &json.at(2)?)?;
        let headers = self.members(&stack.unions, member);
        let last = minus_one(Data::StackCount(stack.next));
        Ok(Data::FieldOf(
            Box::new(HeaderExpr::Indexed(headers, Box::new(last))),
            offset,
        ))
    }

    fn members(&self, unions: &[u32], member: u32) -> Vec<u32> {
        unions
            .iter()
            .map(|&u| self.layout.unions[u as usize].headers[member as usize])
            .collect()
    }

    fn operation(&self, json: &Json) -> Load<Expr> {
        let op = json.get("op")?;
        Ok(match op.str()? {
            "?" => self.ternary(json)?,
            "==" => Expr::Bool(self.equality(json)?),
            "!=" => Expr::Bool(Bool::Not(Box::new(self.equality(json)?))),
            "<" => self.comparison(json, Comparison::Less, "left", "right")?,
            ">" => self.comparison(json, Comparison::Less, "right", "left")?,
            "<=" => self.comparison(json, Comparison::LessOrEqual, "left", "right")?,
            ">=" => self.comparison(json, Comparison::LessOrEqual, "right", "left")?,
            "and" => Expr::Bool(Bool::And(
                self.boxed_bool(json, "left")?,
                self.boxed_bool(json, "right")?,
            )),
            "or" => Expr::Bool(Bool::Or(
                self.boxed_bool(json, "left")?,
                self.boxed_bool(json, "right")?,
            )),
            "not" => Expr::Bool(Bool::Not(self.boxed_bool(json, "right")?)),
            "d2b" => Expr::Bool(Bool::FromData(Box::new(self.data(&json.get("right")?)?))),
            "b2d" => Expr::Data(Data::FromBool(self.boxed_bool(json, "right")?)),
            "~" => Expr::Data(Data::BitNot(Box::new(self.data(&json.get("right")?)?))),
            "valid" => Expr::Bool(Bool::Valid(self.header(&json.get("right")?)?)),
            "valid_union" => Expr::Bool(Bool::ValidUnion(self.union(&json.get("right")?)?)),
            "dereference_stack" | "dereference_header_stack" | "dereference_union_stack" => self.dereference(json)?,
            "last_stack_index" => Expr::Data(minus_one(Data::StackCount(self.stack_count(&json.get("right")?)?))),
            "size_stack" => Expr::Data(Data::StackCount(self.stack_count(&json.get("right")?)?)),
            "access_field" => Expr::Data(self.access_field(json)?),
            "access_union_header" => Expr::Header(self.access_member(json)?),
            name => match arithmetic(name) {
                Some(arithmetic) => Expr::Data(self.binary(json, arithmetic)?),
                None => return op.error(format!("operator '{name}' is not supported")),
            },
        })
    }

    fn boxed_bool(&self, json: &Json, side: &str) -> Load<Box<Bool>> {
        Ok(Box::new(self.bool(&json.get(side)?)?))
    }

    fn binary(&self, json: &Json, op: Arithmetic) -> Load<Data> {
        let left = match json.opt("left") {
            Some(left) => self.data(&left)?,
            // Unary plus and minus.
            None if matches!(op, Arithmetic::Add | Arithmetic::Sub) => Data::Const(BigInt::ZERO),
            None => return json.error("no 'left'"),
        };
        Ok(Data::Binary(
            op,
            Box::new(left),
            Box::new(self.data(&json.get("right")?)?),
        ))
    }

    fn comparison(&self, json: &Json, op: Comparison, left: &str, right: &str) -> Load<Expr> {
        let left = self.data(&json.get(left)?)?;
        let right = self.data(&json.get(right)?)?;
        Ok(Expr::Bool(Bool::Compare(op, Box::new(left), Box::new(right))))
    }

    fn equality(&self, json: &Json) -> Load<Bool> {
        let left = self.expr(&json.get("left")?)?;
        let right = self.expr(&json.get("right")?)?;
        Ok(match (left, right) {
            (Expr::Data(l), Expr::Data(r)) => Bool::Compare(Comparison::Equal, Box::new(l), Box::new(r)),
            (Expr::Bool(l), Expr::Bool(r)) => Bool::Iff(Box::new(l), Box::new(r)),
            (Expr::Header(l), Expr::Header(r)) => Bool::HeaderEqual(l, r),
            (Expr::Union(l), Expr::Union(r)) => Bool::UnionEqual(l, r),
            _ => return json.error("the two sides cannot be compared"),
        })
    }

    fn ternary(&self, json: &Json) -> Load<Expr> {
        let condition = Box::new(self.bool(&json.get("cond")?)?);
        Ok(
            match (self.expr(&json.get("left")?)?, self.expr(&json.get("right")?)?) {
                (Expr::Data(l), Expr::Data(r)) => Expr::Data(Data::Select(condition, Box::new(l), Box::new(r))),
                (Expr::Bool(l), Expr::Bool(r)) => Expr::Bool(Bool::Select(condition, Box::new(l), Box::new(r))),
                _ => return json.error("both sides of '?' should be numbers, or both conditions"),
            },
        )
    }

    fn dereference(&self, json: &Json) -> Load<Expr> {
        let index = Box::new(self.data(&json.get("right")?)?);
        let left = json.get("left")?;
        Ok(match self.expr(&left)? {
            Expr::Stack(stack) => {
                let headers = self.layout.stacks[stack as usize].headers.clone();
                Expr::Header(HeaderExpr::Indexed(headers, index))
            }
            Expr::UnionStack(stack) => {
                let unions = self.layout.union_stacks[stack as usize].unions.clone();
                Expr::Union(UnionExpr::Indexed(unions, index))
            }
            _ => return left.error("should be a stack"),
        })
    }

    fn stack_count(&self, json: &Json) -> Load<u32> {
        match self.expr(json)? {
            Expr::Stack(stack) => Ok(self.layout.stacks[stack as usize].next),
            Expr::UnionStack(stack) => Ok(self.layout.union_stacks[stack as usize].next),
            _ => json.error("should be a stack"),
        }
    }

    fn access_field(&self, json: &Json) -> Load<Data> {
        let header = self.header(&json.get("left")?)?;
        let right = json.get("right")?;
        let kind = match &header {
            HeaderExpr::Fixed(header) => self.layout.headers[*header as usize].field_count,
            HeaderExpr::Indexed(headers, _) => headers
                .iter()
                .map(|&h| self.layout.headers[h as usize].field_count)
                .min()
                .unwrap_or(0),
        };
        let offset = right.count(u64::from(kind))? as u32;
        match header {
            // The hidden validity field comes after the others.
            HeaderExpr::Fixed(header) if offset == kind => Ok(Data::Valid(header)),
            HeaderExpr::Indexed(..) if offset == kind => Ok(Data::FromBool(Box::new(Bool::Valid(header)))),
            HeaderExpr::Fixed(header) => Ok(Data::Field(self.layout.headers[header as usize].first_field + offset)),
            HeaderExpr::Indexed(..) => Ok(Data::FieldOf(Box::new(header), offset)),
        }
    }

    fn access_member(&self, json: &Json) -> Load<HeaderExpr> {
        let union = self.union(&json.get("left")?)?;
        let right = json.get("right")?;
        let unions = match &union {
            UnionExpr::Fixed(union) => std::slice::from_ref(union),
            UnionExpr::Indexed(unions, _) => unions,
        };
        let members = unions
            .iter()
            .map(|&u| self.layout.unions[u as usize].headers.len())
            .min()
            .unwrap_or(0);
        let member = right.int()?;
        if !(0..members as i64).contains(&member) {
            return right.error(format!("no member {member}, the union has {members}"));
        }
        let headers = self.members(unions, member as u32);
        Ok(match union {
            UnionExpr::Fixed(_) => HeaderExpr::Fixed(headers[0]),
            UnionExpr::Indexed(_, index) => HeaderExpr::Indexed(headers, index),
        })
    }
}

fn minus_one(data: Data) -> Data {
    Data::Binary(Arithmetic::Sub, Box::new(data), Box::new(Data::Const(BigInt::from(1))))
}

fn arithmetic(op: &str) -> Option<Arithmetic> {
    Some(match op {
        "+" => Arithmetic::Add,
        "-" => Arithmetic::Sub,
        "*" => Arithmetic::Mul,
        "/" => Arithmetic::Div,
        "%" => Arithmetic::Mod,
        "<<" => Arithmetic::Shl,
        ">>" => Arithmetic::Shr,
        "&" => Arithmetic::And,
        "|" => Arithmetic::Or,
        "^" => Arithmetic::Xor,
        "two_comp_mod" => Arithmetic::TwoComp,
        "usat_cast" => Arithmetic::SaturateUnsigned,
        "sat_cast" => Arithmetic::SaturateSigned,
        _ => return None,
    })
}
