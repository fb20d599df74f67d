//! Lays out the headers, stacks and unions of the JSON in words, and finds them by name.

use std::collections::HashMap;

use super::json::{Json, Load};
use crate::bits::words;
use crate::run::layout::{
    Field, FieldOrValidity, FieldType, Header, HeaderType, Layout, Stack, Union, UnionStack, register,
};

/// Most words for the headers and metadata of a packet: 512 KiB. The limit protects against corrupt programs.
const MAX_PHV_WORDS: usize = 1 << 16;
const MAX_FIELD_BITS: u64 = 1 << 14;
const MAX_STACK: usize = 1024;
const MAX_UNION: usize = 256;
/// Bits of a variable-length field without a maximum in its header type.
const MAX_VARBIT: u32 = 2048 * 8;

impl Layout {
    pub fn load(root: &Json) -> Load<Layout> {
        let mut layout = Layout {
            words: register::COUNT as usize,
            ..Layout::default()
        };
        let type_names = layout.load_types(root)?;
        let header_ids = layout.load_headers(root, &type_names)?;
        layout.load_stacks(root, &type_names, &header_ids)?;
        let union_ids = layout.load_unions(root, &type_names, &header_ids)?;
        layout.load_union_stacks(root, &union_ids)?;
        layout.load_aliases(root)?;
        Ok(layout)
    }

    fn load_types(&mut self, root: &Json) -> Load<HashMap<String, u32>> {
        let mut names = HashMap::new();
        for json in root.list("header_types")? {
            let name = json.get("name")?.str()?.to_string();
            let mut fields = Vec::new();
            for field in json.get("fields")?.items()? {
                fields.push(field_type(&field)?);
            }
            if let Some(second) = fields.iter().filter(|f: &&FieldType| f.varbit).nth(1) {
                return json.error(format!(
                    "'{}' is a second variable-length field; one is allowed",
                    second.name
                ));
            }
            let max_bytes = json
                .opt("max_length")
                .map_or(Ok(0), |max| max.count(MAX_FIELD_BITS / 8))? as u32;
            names.insert(name.clone(), self.types.len() as u32);
            self.types.push(HeaderType {
                name,
                fields,
                max_bytes,
            });
        }
        Ok(names)
    }

    fn load_headers(&mut self, root: &Json, types: &HashMap<String, u32>) -> Load<HashMap<i64, u32>> {
        let mut ids = HashMap::new();
        for json in root.list("headers")? {
            let name = json.get("name")?.str()?.to_string();
            let kind = lookup(types, &json.get("header_type")?, "header type")?;
            let index = self.headers.len() as u32;
            let header = self.place_header(name.clone(), kind, json.flag("metadata")?);
            if !header.metadata && !header.fixed_bits.is_multiple_of(8) {
                return json.error(format!("{} bits are not a whole number of bytes", header.fixed_bits));
            }
            self.headers.push(header);
            if self.words > MAX_PHV_WORDS {
                return json.error("headers and metadata take too much room");
            }
            if self.header_names.insert(name.clone(), index).is_some() {
                return json.error(format!("another header has the name '{name}'"));
            }
            ids.insert(json.get("id")?.int()?, index);
        }
        Ok(ids)
    }

    fn place_header(&mut self, name: String, kind: u32, metadata: bool) -> Header {
        let header = self.headers.len() as u32;
        let start = self.words;
        let first_field = self.fields.len() as u32;
        let mut next = start + 1;
        let mut fixed_bits = 0;
        let mut varbit = None;
        let max_bits = self.types[kind as usize].max_bytes * 8;
        let fixed: u32 = self.types[kind as usize]
            .fields
            .iter()
            .filter(|f| !f.varbit)
            .map(|f| f.width)
            .sum();
        for field in self.types[kind as usize].fields.clone() {
            let index = self.fields.len() as u32;
            let mut width = field.width;
            let length = field.varbit.then(|| {
                width = if max_bits > fixed { max_bits - fixed } else { MAX_VARBIT };
                varbit = Some(index);
                next += 1;
                (next - 1) as u32
            });
            if length.is_none() {
                fixed_bits += width;
            }
            self.field_names.insert((header, field.name.clone()), index);
            self.fields.push(Field {
                name: field.name,
                header,
                slot: next as u32,
                width,
                signed: field.signed,
                saturating: field.saturating,
                length,
            });
            next += words(width);
        }
        self.words = next;
        Header {
            name,
            kind,
            metadata,
            valid: start as u32,
            len: (next - start) as u32,
            first_field,
            field_count: self.fields.len() as u32 - first_field,
            fixed_bytes: fixed_bits / 8,
            fixed_bits,
            varbit,
            rivals: Vec::new(),
        }
    }

    fn load_stacks(&mut self, root: &Json, types: &HashMap<String, u32>, header_ids: &HashMap<i64, u32>) -> Load<()> {
        for json in root.list("header_stacks")? {
            let name = json.get("name")?.str()?.to_string();
            let kind = lookup(types, &json.get("header_type")?, "header type")?;
            let mut headers = Vec::new();
            for id in json.get("header_ids")?.items()? {
                let header = by_id(header_ids, &id, "header")?;
                if self.headers[header as usize].kind != kind {
                    return id.error("a header of another type than the stack's");
                }
                headers.push(header);
            }
            if headers.len() > MAX_STACK {
                return json.error(format!("a stack of more than {MAX_STACK} headers is not supported"));
            }
            let next = self.take_word();
            self.stack_names.insert(name, self.stacks.len() as u32);
            self.stacks.push(Stack { kind, headers, next });
        }
        Ok(())
    }

    fn load_unions(
        &mut self,
        root: &Json,
        types: &HashMap<String, u32>,
        header_ids: &HashMap<i64, u32>,
    ) -> Load<HashMap<i64, u32>> {
        for json in root.list("header_union_types")? {
            let mut members = Vec::new();
            for member in json.get("headers")?.items()? {
                let name = member.at(0)?.str()?.to_string();
                members.push((name, lookup(types, &member.at(1)?, "header type")?));
            }
            self.union_members.insert(json.get("name")?.str()?.to_string(), members);
        }
        let mut ids = HashMap::new();
        for json in root.list("header_unions")? {
            let name = json.get("name")?.str()?.to_string();
            let kind = json.get("union_type")?;
            let Some(members) = self.union_members.get(kind.str()?) else {
                return kind.error("no such header union type");
            };
            let mut headers = Vec::new();
            for id in json.get("header_ids")?.items()? {
                headers.push(by_id(header_ids, &id, "header")?);
            }
            let kinds = headers.iter().map(|&h| self.headers[h as usize].kind);
            if !kinds.eq(members.iter().map(|(_, kind)| *kind)) {
                return json.error("its headers differ from those of its union type");
            }
            if headers.len() > MAX_UNION {
                return json.error(format!("a union of more than {MAX_UNION} headers is not supported"));
            }
            for &header in &headers {
                let rivals = headers
                    .iter()
                    .filter(|&&h| h != header)
                    .map(|&h| self.headers[h as usize].valid);
                self.headers[header as usize].rivals = rivals.collect();
            }
            ids.insert(json.get("id")?.int()?, self.unions.len() as u32);
            self.union_names.insert(name, self.unions.len() as u32);
            self.unions.push(Union {
                kind: kind.str()?.to_string(),
                headers,
            });
        }
        Ok(ids)
    }

    fn load_union_stacks(&mut self, root: &Json, union_ids: &HashMap<i64, u32>) -> Load<()> {
        for json in root.list("header_union_stacks")? {
            let name = json.get("name")?.str()?.to_string();
            let kind = json.get("union_type")?.str()?.to_string();
            let mut unions = Vec::new();
            for id in json.get("header_union_ids")?.items()? {
                let union = by_id(union_ids, &id, "header union")?;
                if self.unions[union as usize].kind != kind {
                    return id.error("a header union of another type than the stack's");
                }
                unions.push(union);
            }
            if unions.len() > MAX_STACK {
                return json.error(format!(
                    "a stack of more than {MAX_STACK} header unions is not supported"
                ));
            }
            let next = self.take_word();
            self.union_stack_names
                .insert(name.clone(), self.union_stacks.len() as u32);
            self.union_stacks.push(UnionStack { kind, unions, next });
        }
        Ok(())
    }

    fn load_aliases(&mut self, root: &Json) -> Load<()> {
        for json in root.list("field_aliases")? {
            let alias = json.at(0)?.str()?.to_string();
            let field = self.field(&json.at(1)?)?;
            if let FieldOrValidity::Field(field) = field {
                self.aliases.insert(alias, field);
            }
        }
        Ok(())
    }

    fn take_word(&mut self) -> u32 {
        self.words += 1;
        (self.words - 1) as u32
    }

    /// The headers that a deparser emits, in order.
    pub fn emitted(&self, deparser: &Json) -> Load<Vec<u32>> {
        let mut headers = Vec::new();
        for name in deparser.list("order")? {
            let header = self.header(&name)?;
            let fixed_bits = self.headers[header as usize].fixed_bits;
            if !fixed_bits.is_multiple_of(8) {
                return name.error(format!("{fixed_bits} bits are not a whole number of bytes"));
            }
            headers.push(header);
        }
        Ok(headers)
    }

    pub fn header(&self, json: &Json) -> Load<u32> {
        lookup(&self.header_names, json, "header")
    }

    pub fn stack(&self, json: &Json) -> Load<u32> {
        lookup(&self.stack_names, json, "header stack")
    }

    pub fn union(&self, json: &Json) -> Load<u32> {
        lookup(&self.union_names, json, "header union")
    }

    pub fn union_stack(&self, json: &Json) -> Load<u32> {
        lookup(&self.union_stack_names, json, "header union stack")
    }

    /// Position of a field in its header type.
    pub fn offset(&self, kind: u32, json: &Json) -> Load<u32> {
        let name = json.str()?;
        match self.types[kind as usize].fields.iter().position(|f| f.name == name) {
            Some(offset) => Ok(offset as u32),
            None => json.error(format!(
                "header type {} has no field '{name}'",
                self.types[kind as usize].name
            )),
        }
    }

    /// Position of a member in its union, and its header type.
    pub fn member(&self, union_type: &str, json: &Json) -> Load<(u32, u32)> {
        let name = json.str()?;
        let members = self.union_members.get(union_type).map_or(&[][..], |m| m);
        match members.iter().position(|(member, _)| member == name) {
            Some(position) => Ok((position as u32, members[position].1)),
            None => json.error(format!("header union type {union_type} has no member '{name}'")),
        }
    }

    /// Reads a field reference `[header, field]`. The hidden field `$valid$` is the validity of the header.
    pub fn field(&self, json: &Json) -> Load<FieldOrValidity> {
        let header = self.header(&json.at(0)?)?;
        let name = json.at(1)?;
        if name.str()? == "$valid$" {
            return Ok(FieldOrValidity::Valid(header));
        }
        match self.field_names.get(&(header, name.str()?.to_string())) {
            Some(&field) => Ok(FieldOrValidity::Field(field)),
            None => {
                let header = &self.headers[header as usize];
                name.error(format!("header {} has no field '{}'", header.name, name.str()?))
            }
        }
    }
}

fn field_type(json: &Json) -> Load<FieldType> {
    let name = json.at(0)?.str()?.to_string();
    let width = json.at(1)?;
    let option = |index| match json.value().get(index) {
        Some(_) => json.at(index)?.bool(),
        None => Ok(false),
    };
    let varbit = width.value().as_str() == Some("*");
    let width = if varbit { 0 } else { width.count(MAX_FIELD_BITS)? as u32 };
    Ok(FieldType {
        name,
        width,
        varbit,
        signed: option(2)?,
        saturating: option(3)?,
    })
}

fn lookup(names: &HashMap<String, u32>, json: &Json, what: &str) -> Load<u32> {
    match names.get(json.str()?) {
        Some(&index) => Ok(index),
        None => json.error(format!("no {what} '{}'", json.str()?)),
    }
}

fn by_id(ids: &HashMap<i64, u32>, json: &Json, what: &str) -> Load<u32> {
    match ids.get(&json.int()?) {
        Some(&index) => Ok(index),
        None => json.error(format!("no {what} with this id")),
    }
}
