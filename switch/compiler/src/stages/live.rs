//! Removes statements with unused results, and temporaries that only pass on a result (p4c `frontends/p4/def_use`,
//! `midend/local_copyprop`).

use std::collections::{BTreeMap, HashMap};

use super::{
    cells::{Cell, Cells, effect, is_temporary, read_by},
    nodes::{Application, Node, each, field_cell},
};
use crate::ir::{Arg, Expr, ExprKind, Ir, Label, Primitive};

/// Removes unused statements. `roots`: cells that are read after the control.
pub fn prune(ir: &Ir, nodes: &mut Vec<Node>, roots: &Cells) {
    let mut end = roots.clone();
    for (at, header) in ir.headers.iter().enumerate() {
        let fields = 0..ir.header_types[header.ty].fields.len();
        let cells = fields.map(Some).chain([None]).map(|f| (at, f));
        end.extend(cells.filter(|c| is_seen(ir, *c)));
    }
    loop {
        let counts = reads(ir, nodes);
        let mut live = Live {
            ir,
            end: &end,
            labels: HashMap::new(),
            changed: false,
        };
        live.sequence(nodes, end.clone());
        if !live.changed && !retarget(ir, nodes, &counts) {
            return;
        }
    }
}

/// Live cells, computed from the end to the start.
struct Live<'a> {
    ir: &'a Ir,
    /// Cells that are read after the control.
    end: &'a Cells,
    /// Cells that are read after the enclosing blocks.
    labels: HashMap<Label, Cells>,
    changed: bool,
}

impl Live<'_> {
    /// Cells that are live before the statements; `after` are those live after them. Removes statements with unused
    /// results.
    fn sequence(&mut self, nodes: &mut Vec<Node>, after: Cells) -> Cells {
        let mut live = after;
        let mut at = nodes.len();
        while at > 0 {
            at -= 1;
            let keep = match &mut nodes[at] {
                Node::Do(p) => self.operation(p, &mut live),
                Node::If(condition, yes, no, _) => {
                    let mut both = self.sequence(yes, live.clone());
                    both.extend(self.sequence(no, live.clone()));
                    live = both;
                    let is_empty = yes.is_empty() && no.is_empty();
                    if !is_empty {
                        live.extend(read_by(self.ir, condition));
                    }
                    !is_empty
                }
                Node::Block(label, inner) => {
                    self.labels.insert(*label, live.clone());
                    live = self.sequence(inner, live);
                    true
                }
                Node::Break(label) => {
                    live = self.labels.get(label).unwrap_or(self.end).clone();
                    true
                }
                Node::Exit => {
                    live = self.end.clone();
                    true
                }
                Node::Call(inner) => {
                    live = self.sequence(inner, live);
                    !inner.is_empty()
                }
                Node::Loop(_) => true,
                Node::Apply(application) => {
                    live = self.application(application, live);
                    true
                }
            };
            if !keep {
                nodes.remove(at);
                self.changed = true;
            }
        }
        live
    }

    /// True if an operation's results are used.
    fn operation(&self, p: &Primitive, live: &mut Cells) -> bool {
        let e = effect(self.ir, p);
        let is_pure = matches!(p.op, "assign" | "modify_field_with_hash_based_offset");
        if is_pure && live.is_disjoint(&e.writes) {
            return false;
        }
        *live = live.without(&e.writes);
        live.extend(e.reads);
        live.extend(e.inputs);
        true
    }

    fn application(&mut self, a: &mut Application, after: Cells) -> Cells {
        let mut live = if a.branches.is_empty() {
            after.clone()
        } else {
            Cells::new()
        };
        for branch in &mut a.branches {
            live.extend(self.sequence(branch, after.clone()));
        }
        // A field that every action writes is not read before.
        let mut always: Option<Cells> = None;
        let mut read = Cells::new();
        for (action, _) in &self.ir.tables[a.table].actions {
            let mut own = Cells::new();
            for p in &self.ir.actions[*action].code {
                let e = effect(self.ir, p);
                read.extend(e.reads.without(&own));
                read.extend(e.inputs.without(&own));
                own.extend(e.writes);
            }
            always = Some(match always {
                None => own,
                Some(all) => all.both(&own),
            });
        }
        live = live.without(&always.unwrap_or_default());
        live.extend(read);
        for key in &a.keys {
            live.extend(read_by(self.ir, key));
        }
        live
    }
}

/// Number of reads of each cell.
fn reads(ir: &Ir, nodes: &[Node]) -> BTreeMap<Cell, usize> {
    let mut counts = BTreeMap::new();
    let mut add = |cells: Cells| cells.iter().for_each(|c| *counts.entry(c).or_default() += 1);
    each(nodes, &mut |node| match node {
        Node::Do(p) => {
            let e = effect(ir, p);
            add(e.reads);
            add(e.inputs);
        }
        Node::If(condition, ..) => add(read_by(ir, condition)),
        Node::Apply(a) => {
            a.keys.iter().for_each(|k| add(read_by(ir, k)));
            for (action, _) in &ir.tables[a.table].actions {
                for p in &ir.actions[*action].code {
                    let e = effect(ir, p);
                    add(e.reads);
                    add(e.inputs);
                }
            }
        }
        _ => {}
    });
    counts
}

/// True if a field is visible outside of the controls: headers of packets and the architecture's metadata are.
pub fn is_seen(ir: &Ir, (header, _): Cell) -> bool {
    let header = &ir.headers[header];
    !header.metadata || header.name.contains("intr_md")
}

/// Changes `tmp = r.execute(i); x = tmp;` to `x = r.execute(i);`.
fn retarget(ir: &Ir, nodes: &mut Vec<Node>, counts: &BTreeMap<Cell, usize>) -> bool {
    let mut changed = false;
    let mut i = 0;
    while i + 1 < nodes.len() {
        if let (Node::Do(first), Node::Do(second)) = (&nodes[i], &nodes[i + 1])
            && !effect(ir, first).uses.is_empty()
            && let ("assign", [Arg::Target(to), Arg::Value(from)]) = (second.op, second.args.as_slice())
            && let Some(cell) = copied(from)
            && is_temporary(ir, cell)
            && counts.get(&cell) == Some(&1)
            && let Some(at) = first
                .args
                .iter()
                .position(|a| matches!(a, Arg::Target(t) if field_cell(t) == Some(cell)))
        {
            let mut merged = first.clone();
            merged.args[at] = Arg::Target(to.clone());
            nodes.splice(i..i + 2, [Node::Do(merged)]);
            changed = true;
        }
        i += 1;
    }
    for node in nodes {
        changed |= match node {
            Node::If(_, yes, no, _) => retarget(ir, yes, counts) | retarget(ir, no, counts),
            Node::Block(_, inner) | Node::Call(inner) => retarget(ir, inner, counts),
            Node::Apply(a) => a.branches.iter_mut().fold(false, |c, b| retarget(ir, b, counts) | c),
            _ => false,
        };
    }
    changed
}

/// The original cell, if the expression is a copy, perhaps cut or widened.
fn copied(e: &Expr) -> Option<Cell> {
    match &e.kind {
        ExprKind::Field(f) => field_cell(f),
        ExprKind::Cast(inner) => copied(inner),
        _ => None,
    }
}
