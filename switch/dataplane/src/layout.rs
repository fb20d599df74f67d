//! Where each header field lives: headers, stacks and unions mapped to words of the packet header vector (PHV).
//!
//! A header is a block of words: validity, then its fields in order. A field of up to 64 bits has one word, a wider
//! one as many as it needs, least significant first. A variable-length field has its current length in bits in
//! front. A stack has one word more, the number of elements extracted or pushed.

use std::collections::HashMap;
use std::ops::Range;

use crate::json::{Json, Load};

/// Registers that simple_switch keeps beside the headers of a packet; the first words of every PHV.
pub(crate) mod register {
    /// Clone session of the last clone call, with `CLONE_REQUESTED` set.
    pub const CLONE: u32 = 0;
    pub const CLONE_FIELDS: u32 = 1;
    pub const RESUBMIT: u32 = 2;
    pub const RECIRCULATE: u32 = 3;
    pub const DIGEST: u32 = 4;
    /// Length on arrival, adjusted by every header added or removed.
    pub const LENGTH: u32 = 5;
    /// Length on arrival, which counters and meters charge.
    pub const ARRIVED: u32 = 6;
    /// Bytes of the deparsed frame to keep.
    pub const TRUNCATE: u32 = 7;
    pub const EXIT: u32 = 8;
    pub const COUNT: u32 = 9;
    pub const CLONE_REQUESTED: u64 = 1 << 15;
}

/// Words a packet's headers and metadata may take: 512 KiB, so that a corrupt program cannot ask for more.
const MAX_PHV_WORDS: usize = 1 << 16;
const MAX_FIELD_BITS: u64 = 1 << 14;
const MAX_STACK: usize = 1024;
const MAX_UNION: usize = 256;

#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub name: String,
    pub header: u32,
    /// First word of the value.
    pub slot: u32,
    /// Width in bits; of a variable-length field the maximum.
    pub width: u32,
    pub signed: bool,
    pub saturating: bool,
    /// The word with the current length in bits, if the length varies.
    pub length: Option<u32>,
}

impl Field {
    pub fn words(&self) -> usize {
        words(self.width)
    }

    pub fn span(&self) -> Range<usize> {
        let slot = self.slot as usize;
        slot..slot + self.words()
    }
}

/// Words for a value of this many bits.
pub(crate) fn words(width: u32) -> usize {
    width.div_ceil(64).max(1) as usize
}

/// All ones in the low `width` bits; all ones for 64 and more.
pub(crate) fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1u64 << width) - 1 }
}

#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub name: String,
    /// Index of its header type.
    pub kind: u32,
    pub metadata: bool,
    /// The validity word; the fields follow.
    pub valid: u32,
    /// Words of the block, validity included.
    pub len: u32,
    /// Index of its first field in `Layout::fields`.
    pub first_field: u32,
    pub field_count: u32,
    /// Bytes without the variable-length field.
    pub fixed_bytes: u32,
    /// Bits of all fixed-length fields.
    pub fixed_bits: u32,
    /// The variable-length field.
    pub varbit: Option<u32>,
    /// Validity words of the other members of its union.
    pub rivals: Vec<u32>,
}

impl Header {
    pub fn block(&self) -> Range<usize> {
        let start = self.valid as usize;
        start..start + self.len as usize
    }

    pub fn fields(&self) -> Range<usize> {
        let first = self.first_field as usize;
        first..first + self.field_count as usize
    }
}

#[derive(Clone, Debug)]
pub(crate) struct HeaderType {
    pub name: String,
    pub fields: Vec<FieldType>,
    /// Maximum bytes of a header with a variable-length field; 0 when the program gives none.
    pub max_bytes: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct FieldType {
    pub name: String,
    pub width: u32,
    pub varbit: bool,
    pub signed: bool,
    pub saturating: bool,
}

/// A stack of headers.
#[derive(Clone, Debug)]
pub(crate) struct Stack {
    pub kind: u32,
    pub headers: Vec<u32>,
    /// The word that counts its elements.
    pub next: u32,
}

/// A header union: its headers, in order.
#[derive(Clone, Debug)]
pub(crate) struct Union {
    pub kind: String,
    pub headers: Vec<u32>,
}

#[derive(Clone, Debug)]
pub(crate) struct UnionStack {
    pub kind: String,
    pub unions: Vec<u32>,
    pub next: u32,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    pub types: Vec<HeaderType>,
    pub fields: Vec<Field>,
    pub headers: Vec<Header>,
    pub stacks: Vec<Stack>,
    pub unions: Vec<Union>,
    pub union_stacks: Vec<UnionStack>,
    /// Names of the members of each union type.
    pub union_members: HashMap<String, Vec<(String, u32)>>,
    /// Words of a PHV.
    pub words: usize,
    header_names: HashMap<String, u32>,
    stack_names: HashMap<String, u32>,
    union_names: HashMap<String, u32>,
    union_stack_names: HashMap<String, u32>,
    field_names: HashMap<(u32, String), u32>,
    aliases: HashMap<String, u32>,
}

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
                return json.error(format!("a second header '{name}'"));
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
                return json.error("its headers are not those of its union type");
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
            if let Place::Field(field) = field {
                self.aliases.insert(alias, field);
            }
        }
        Ok(())
    }

    fn take_word(&mut self) -> u32 {
        self.words += 1;
        (self.words - 1) as u32
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

    /// Position of a union's member, and its header type.
    pub fn member(&self, union_type: &str, json: &Json) -> Load<(u32, u32)> {
        let name = json.str()?;
        let members = self.union_members.get(union_type).map_or(&[][..], |m| m);
        match members.iter().position(|(member, _)| member == name) {
            Some(position) => Ok((position as u32, members[position].1)),
            None => json.error(format!("header union type {union_type} has no member '{name}'")),
        }
    }

    /// A field reference `[header, field]`; the hidden field `$valid$` is a header's validity.
    pub fn field(&self, json: &Json) -> Load<Place> {
        let header = self.header(&json.at(0)?)?;
        let name = json.at(1)?;
        if name.str()? == "$valid$" {
            return Ok(Place::Valid(header));
        }
        match self.field_names.get(&(header, name.str()?.to_string())) {
            Some(&field) => Ok(Place::Field(field)),
            None => {
                let header = &self.headers[header as usize];
                name.error(format!("header {} has no field '{}'", header.name, name.str()?))
            }
        }
    }

    /// A field by `header.field`, aliases first.
    pub fn find(&self, name: &str) -> Option<u32> {
        if let Some(&field) = self.aliases.get(name) {
            return Some(field);
        }
        // Header names may contain dots, and so may field names (`scalars`, `userMetadata.user`).
        name.match_indices('.').find_map(|(dot, _)| {
            let header = *self.header_names.get(&name[..dot])?;
            self.field_names.get(&(header, name[dot + 1..].to_string())).copied()
        })
    }

    /// A field under any of the names that programmers use for it.
    pub fn find_p4(&self, name: &str) -> Option<u32> {
        let name = name.strip_prefix("hdr.").unwrap_or(name);
        self.find(name).or_else(|| self.find_user(name.strip_prefix("meta.")?))
    }

    /// User metadata: the field `<struct>.a.b` of the header `scalars`, where the struct's name is up to the compiler
    /// (`userMetadata`, or the P4 type), or `<struct>._a_b7` where p4c has flattened nested structs.
    fn find_user(&self, name: &str) -> Option<u32> {
        let flat = format!("_{}", name.replace('.', "_"));
        let scalars = self.headers.iter().find(|header| header.name == "scalars")?;
        let found = scalars.fields().find(|&index| {
            let Some((_, field)) = self.fields[index].name.split_once('.') else {
                return false;
            };
            let number = field.strip_prefix(&flat);
            let flattened = number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
            field == name || flattened
        });
        found.map(|index| index as u32)
    }
}

/// Bits of a variable-length field whose header type gives no maximum.
const MAX_VARBIT: u32 = 2048 * 8;

/// What a field reference stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    Field(u32),
    Valid(u32),
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
