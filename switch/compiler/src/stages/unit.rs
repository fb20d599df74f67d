//! Units to place into stages: tables of the program, groups of statements between them (each becomes the action of a
//! table without a key: groups.rs), and conditions.

use crate::{
    ir::{Expr, ExprKind, Gress, Ir, Label, Primitive},
    source::{SourceMap, Span},
};

use super::{
    alu,
    cells::{Cells, Effect, Use, effect, read_by},
    chip::{Chip, Resources},
    gateway,
    groups::{groups, within},
    memory::{self, Memory},
    nodes::{Application, Node},
};

/// A decision on the way to a unit: the unit that decides, and the branch.
pub type Step = (usize, usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Index of a table.
    Table(usize),
    Statements,
    Condition,
}

/// A logical table, or a condition.
#[derive(Clone, Debug)]
pub struct Unit {
    pub name: String,
    pub kind: Kind,
    pub gress: Gress,
    pub span: Span,
    /// Cells that must have their values before the stage: keys, conditions, indexes, inputs of registers.
    pub inputs: Cells,
    /// Cells that its ALUs read.
    pub reads: Cells,
    pub writes: Cells,
    /// Decisions that lead to it.
    pub path: Vec<Step>,
    /// Units that decide whether it runs.
    pub after: Vec<usize>,
    /// Registers that it accesses, with the place of the access.
    pub registers: Vec<(usize, Span)>,
    /// Counters and meters that it indexes.
    pub counters: Vec<usize>,
    pub meters: Vec<String>,
    pub memory: Option<Memory>,
    /// Resources other than memory, registers, counters and meters.
    pub need: Resources,
}

impl Unit {
    /// True if the two never run for the same packet.
    #[must_use]
    pub fn excludes(&self, other: &Unit) -> bool {
        let differs = |(unit, branch): &Step| other.path.iter().any(|(u, b)| u == unit && b != branch);
        self.gress != other.gress || self.path.iter().any(differs)
    }
}

/// Makes units from the statements of controls.
pub struct Units<'a> {
    pub ir: &'a Ir,
    pub chip: &'a Chip,
    pub map: &'a SourceMap,
    pub list: Vec<Unit>,
    pub wrong: Vec<(Span, String)>,
    gress: Gress,
}

/// Place of the walk.
#[derive(Clone, Default)]
struct Place {
    path: Vec<Step>,
    after: Vec<usize>,
}

/// End of a sequence of statements.
#[derive(Default)]
struct End {
    /// True if no statement after it runs.
    always: bool,
    /// Decisions with a branch that leaves, and the blocks that it leaves; `None` is the whole control.
    left: Vec<(usize, Option<Label>)>,
}

impl<'a> Units<'a> {
    pub fn new(ir: &'a Ir, chip: &'a Chip, map: &'a SourceMap) -> Units<'a> {
        Units {
            ir,
            chip,
            map,
            list: Vec::new(),
            wrong: Vec::new(),
            gress: Gress::Ingress,
        }
    }

    /// Adds the units of a control.
    pub fn control(&mut self, gress: Gress, nodes: &[Node]) {
        self.gress = gress;
        self.sequence(nodes, Place::default());
    }

    fn place_of(&self, span: Span) -> String {
        match self.map.position(span) {
            Some(p) => {
                let file = p.file.rsplit('/').next().unwrap_or(&p.file);
                format!("{file}:{}", p.line)
            }
            None => "statements".to_owned(),
        }
    }

    fn add(&mut self, name: String, kind: Kind, span: Span, at: &Place, e: Effect) -> usize {
        let mut unit = Unit {
            name,
            kind,
            gress: self.gress,
            span,
            inputs: e.inputs,
            reads: e.reads,
            writes: e.writes,
            path: at.path.clone(),
            after: at.after.clone(),
            registers: Vec::new(),
            counters: Vec::new(),
            meters: Vec::new(),
            memory: None,
            need: Resources::default(),
        };
        for one in e.uses {
            unit.uses(one, span);
        }
        self.list.push(unit);
        self.list.len() - 1
    }

    fn sequence(&mut self, nodes: &[Node], mut at: Place) -> End {
        let mut end = End::default();
        let mut run: Vec<&Primitive> = Vec::new();
        for node in nodes {
            if let Node::Do(p) = node {
                run.push(p);
                continue;
            }
            self.statements(&std::mem::take(&mut run), &at);
            let inner = match node {
                Node::If(condition, yes, no, span) => {
                    let decision = self.condition(condition, *span, &at);
                    self.branches(decision, &[yes, no], &mut at)
                }
                Node::Apply(application) => self.application(application, &mut at),
                Node::Block(label, inner) => {
                    let mut inner = self.sequence(inner, at.clone());
                    let here = inner.left.iter().any(|(_, l)| *l == Some(*label));
                    inner.left.retain(|(_, l)| *l != Some(*label));
                    inner.always &= !here && !leaves_at_end(node, *label);
                    at.after.extend(inner.left.iter().map(|(d, _)| *d));
                    inner
                }
                Node::Break(_) | Node::Exit => End {
                    always: true,
                    left: Vec::new(),
                },
                Node::Loop(span) => {
                    let message = "a loop whose end is not known when compiling; a packet passes each stage once. Unroll the \
                                   loop, or recirculate the packet";
                    self.wrong.push((*span, message.to_owned()));
                    End::default()
                }
                Node::Call(code) => {
                    self.call(code, &at);
                    End::default()
                }
                Node::Do(_) => End::default(),
            };
            end.left.extend(inner.left);
            if inner.always {
                end.always = true;
                return end;
            }
        }
        self.statements(&run, &at);
        end
    }

    /// Branches of a decision. The next statements run after it; if only one branch continues, they run in this branch.
    fn branches(&mut self, decision: usize, lists: &[&Vec<Node>], at: &mut Place) -> End {
        let mut end = End::default();
        let mut goes_on = Vec::new();
        for (branch, list) in lists.iter().enumerate() {
            let mut inside = at.clone();
            inside.path.push((decision, branch));
            inside.after.push(decision);
            let mut inner = self.sequence(list, inside);
            if inner.always {
                end.left.push((decision, target_of(list)));
            } else {
                goes_on.push(branch);
            }
            end.left.append(&mut inner.left);
        }
        end.always = !lists.is_empty() && goes_on.is_empty();
        if !end.left.is_empty() {
            at.after.push(decision);
            at.after.extend(end.left.iter().map(|(d, _)| *d));
            if let [only] = goes_on.as_slice() {
                at.path.push((decision, *only));
            }
        }
        end
    }

    fn condition(&mut self, condition: &Expr, span: Span, at: &Place) -> usize {
        let e = Effect {
            inputs: read_by(self.ir, condition),
            ..Effect::default()
        };
        let name = format!("if {}", self.place_of(span));
        let unit = self.add(name, Kind::Condition, span, at, e);
        match gateway::cost(self.ir, condition) {
            Ok(cost) => {
                let need = &mut self.list[unit].need;
                need.gateways = cost.gateways;
                need.tables = cost.gateways;
                need.exact_bytes = cost.bytes;
                need.hash_bits = cost.hash_bits;
            }
            Err(message) => self.wrong.push((span, message)),
        }
        unit
    }

    /// An action that the control calls: a table without a key.
    fn call(&mut self, code: &[Node], at: &Place) {
        let mut operations: Vec<&Primitive> = Vec::new();
        for node in code {
            match node {
                Node::Do(p) => operations.push(p),
                Node::If(_, _, _, span) => return self.wrong.push((*span, alu::BRANCH.to_owned())),
                _ => {}
            }
        }
        let (code, mut all) = (operations, Effect::default());
        for p in &code {
            let e = effect(self.ir, p);
            self.once_in_action(&all, &e, p.span);
            all.add(e);
        }
        if let Some(first) = code.first() {
            self.same_index(&all.uses, first.span);
            self.group(&code, all, at);
        }
    }

    /// Groups of statements without a decision between them.
    fn statements(&mut self, run: &[&Primitive], at: &Place) {
        for (group, all) in groups(self.ir, run) {
            self.group(&group, all, at);
        }
    }

    fn group(&mut self, group: &[&Primitive], e: Effect, at: &Place) {
        let code: Vec<Primitive> = group.iter().map(|p| (*p).clone()).collect();
        self.wrong.extend(alu::check(self.ir, self.chip, &code));
        let (e, span) = (within(e, &code, self.ir), group[0].span);
        let unit = self.add(self.place_of(span), Kind::Statements, span, at, e);
        self.index_bytes(unit);
        self.list[unit].need.tables = 1;
    }

    fn application(&mut self, a: &Application, at: &mut Place) -> End {
        let unit = self.table(a, at);
        let exits = |action: &usize| self.ir.actions[*action].code.iter().any(|p| p.op == "exit");
        if self.ir.tables[a.table].actions.iter().any(|(action, _)| exits(action)) {
            at.after.push(unit);
        }
        let lists: Vec<&Vec<Node>> = a.branches.iter().collect();
        if lists.is_empty() {
            return End::default();
        }
        self.branches(unit, &lists, at)
    }

    fn table(&mut self, a: &Application, at: &Place) -> usize {
        let table = &self.ir.tables[a.table];
        let gress = self.gress;
        if let Some(known) = (0..self.list.len()).find(|i| {
            let unit = &self.list[*i];
            unit.kind == Kind::Table(a.table) && unit.gress == gress
        }) {
            return self.again(known, a, at);
        }
        let mut all = Effect::default();
        for key in &a.keys {
            all.inputs.extend(read_by(self.ir, key));
            if super::nodes::computes(key) {
                self.wrong.push((table.span, computed_key(self.ir, key)));
            }
        }
        let mut indexes: Vec<Use> = Vec::new();
        for (action, _) in &table.actions {
            let action = &self.ir.actions[*action];
            self.wrong.extend(alu::check(self.ir, self.chip, &action.code));
            let mut own = Effect::default();
            for p in &action.code {
                let e = effect(self.ir, p);
                self.once_in_action(&own, &e, p.span);
                own.add(e);
            }
            indexes.extend(own.uses.iter().cloned());
            all.add(within(own, &action.code, self.ir));
        }
        self.same_index(&indexes, table.span);
        let unit = self.add(table.name.clone(), Kind::Table(a.table), table.span, at, all);
        match memory::table(self.ir, table) {
            Ok(memory) => self.list[unit].memory = Some(memory),
            Err(message) => self.wrong.push((table.span, message)),
        }
        self.index_bytes(unit);
        unit
    }

    /// Another application of a table: the same logical table, reached by other paths.
    fn again(&mut self, known: usize, a: &Application, at: &Place) -> usize {
        let here = Unit {
            path: at.path.clone(),
            ..self.list[known].clone()
        };
        if !here.excludes(&self.list[known]) {
            let name = &self.list[known].name;
            let message = format!(
                "the table '{name}' is applied twice on one path, but a packet passes its stage once. Declare a second \
                 table, or apply it in exclusive branches"
            );
            self.wrong.push((a.span, message));
        }
        let unit = &mut self.list[known];
        let common = unit.path.iter().zip(&at.path).take_while(|(x, y)| x == y).count();
        unit.path.truncate(common);
        for decision in &at.after {
            if !unit.after.contains(decision) && *decision != known {
                unit.after.push(*decision);
            }
        }
        known
    }

    /// Checks that an action accesses a register only once.
    fn once_in_action(&mut self, before: &Effect, now: &Effect, span: Span) {
        for one in &now.uses {
            let Use::Register { register, .. } = one else { continue };
            let same = |u: &Use| matches!(u, Use::Register { register: r, .. } if r == register);
            // `read` and `write` of one cell in one action count as one access.
            let is_pair = |u: &Use| {
                matches!(
                    (u, one),
                    (Use::Register { action: None, .. }, Use::Register { action: None, .. })
                )
            };
            if before.uses.iter().any(|u| same(u) && !is_pair(u)) {
                self.wrong.push((span, super::twice(self.ir, *register)));
            }
        }
    }

    /// Checks that all registers of a table have the same index: the address comes with the entry, or from one hash.
    fn same_index(&mut self, uses: &[Use], span: Span) {
        let mut first: Option<(&Expr, usize)> = None;
        for one in uses {
            let Use::Register {
                register,
                index: Some(index),
                ..
            } = one
            else {
                continue;
            };
            let Some((known, other)) = first else {
                first = Some((index, *register));
                continue;
            };
            let by_entry = |e: &Expr| matches!(e.kind, ExprKind::Param(_) | ExprKind::Int(_));
            let one_address = known == index || (other == *register && by_entry(known) && by_entry(index));
            if !one_address {
                let (a, b) = (&self.ir.registers[other].name, &self.ir.registers[*register].name);
                let what = if a == b {
                    format!("'{a}'")
                } else {
                    format!("'{a}' and '{b}'")
                };
                let message = format!(
                    "a table accesses {what} at '{}' and at '{}', but it has one address for all its registers. Use one \
                     index, or make two tables",
                    gateway::show(self.ir, known),
                    gateway::show(self.ir, index)
                );
                self.wrong.push((span, message));
                return;
            }
        }
    }

    /// Bytes of the crossbar outside of the key: indexes, and inputs of registers.
    fn index_bytes(&mut self, unit: usize) {
        let ir = self.ir;
        let keys: Cells = match self.list[unit].kind {
            Kind::Table(t) => ir.tables[t]
                .keys
                .iter()
                .flat_map(|k| read_by(ir, &k.looked_up()))
                .collect(),
            _ => Cells::new(),
        };
        let bytes = self.list[unit].inputs.without(&keys);
        let bytes = bytes.iter().map(|(header, field)| {
            let fields = &ir.header_types[ir.headers[header].ty].fields;
            field.map_or(1, |f| u64::from(fields[f].width).div_ceil(8))
        });
        let bytes: u64 = bytes.sum();
        let is_used = !self.list[unit].registers.is_empty() || self.list[unit].need.hash_bits > 0;
        self.list[unit].need.exact_bytes += if is_used { bytes } else { 0 };
    }
}

fn computed_key(ir: &Ir, key: &Expr) -> String {
    format!(
        "'{}' is computed in a key. Compute it into a field of the metadata before the table is applied",
        gateway::show(ir, key)
    )
}

/// True if the last statement of a block is the break out of it.
fn leaves_at_end(block: &Node, label: Label) -> bool {
    matches!(block, Node::Block(_, inner) if matches!(inner.last(), Some(Node::Break(l)) if *l == label))
}

/// Block that a branch leaves at its end.
fn target_of(nodes: &[Node]) -> Option<Label> {
    match nodes.last() {
        Some(Node::Break(label)) => Some(*label),
        Some(Node::Block(_, inner)) => target_of(inner),
        Some(Node::If(_, yes, no, _)) => target_of(yes).or(target_of(no)),
        _ => None,
    }
}

impl Unit {
    fn uses(&mut self, one: Use, span: Span) {
        match one {
            Use::Register { register, .. } => {
                if !self.registers.iter().any(|(r, _)| *r == register) {
                    self.registers.push((register, span));
                }
            }
            Use::Counter(c) => {
                if !self.counters.contains(&c) {
                    self.counters.push(c);
                }
            }
            Use::Meter(name) => {
                if !self.meters.contains(&name) {
                    self.meters.push(name);
                }
            }
            Use::Hash(bits) => self.need.hash_bits += bits,
            Use::Random => {}
        }
    }
}
