//! Turns the statements of ingress and egress into a graph of tables and conditions.
//!
//! BMv2 executes nothing between tables. So statements become actions of hidden tables, as in p4c's output. All
//! statements between two tables form one action, with their decisions: a hidden table costs a lookup, a jump costs
//! nothing.

use std::collections::{HashMap, HashSet};

use super::{Lowerer, Named};
use crate::{
    ir::{self, Action, ActionCall, Condition, Label, Next, Node, Outcome, Pipeline, Stmt, Table},
    source::Span,
    typed::types::ActionId,
};

/// Node that follows a place in the graph.
type Follow = Option<Node>;

/// The same statements without blocks that no statement leaves early, and without unreachable code.
pub(super) fn flattened(stmts: Vec<Stmt>) -> Vec<Stmt> {
    flattened_but(stmts, &HashSet::new())
}

/// The same, but blocks with labels in `kept` stay.
pub(super) fn flattened_but(stmts: Vec<Stmt>, kept: &HashSet<Label>) -> Vec<Stmt> {
    let flattened = |stmts| flattened_but(stmts, kept);
    let mut out = Vec::new();
    for stmt in stmts {
        match stmt {
            Stmt::Block(label, inner) => {
                let mut inner = flattened(inner);
                // A break at the end of its block has no effect.
                while matches!(inner.last(), Some(Stmt::Break(l)) if *l == label) {
                    inner.pop();
                }
                drop_final_breaks(&mut inner, label);
                if leaves(&inner, label) || (kept.contains(&label) && !inner.is_empty()) {
                    out.push(Stmt::Block(label, inner))
                } else {
                    out.extend(inner)
                }
            }
            Stmt::If(condition, yes, no, span) => {
                let (yes, no) = (flattened(yes), flattened(no));
                if !yes.is_empty() || !no.is_empty() {
                    out.push(Stmt::If(condition, yes, no, span));
                }
            }
            Stmt::Loop(inner, span) => out.push(Stmt::Loop(flattened(inner), span)),
            Stmt::Apply(table, outcome, span) => {
                let outcome = match outcome {
                    Outcome::Any => Outcome::Any,
                    Outcome::HitMiss(hit, miss) => Outcome::HitMiss(flattened(hit), flattened(miss)),
                    Outcome::Action(cases, rest) => {
                        let cases = cases.into_iter().map(|(a, s)| (a, flattened(s))).collect();
                        Outcome::Action(cases, flattened(rest))
                    }
                };
                out.push(Stmt::Apply(table, outcome, span));
            }
            Stmt::Break(_) | Stmt::Exit(_) => {
                out.push(stmt);
                return out;
            }
            Stmt::Primitive(_) => out.push(stmt),
        }
    }
    out
}

/// Removes `Break(label)` at the ends of the branches of a final decision.
fn drop_final_breaks(stmts: &mut Vec<Stmt>, label: Label) {
    match stmts.last_mut() {
        Some(Stmt::Break(l)) if *l == label => {
            stmts.pop();
        }
        Some(Stmt::If(_, yes, no, _)) => {
            drop_final_breaks(yes, label);
            drop_final_breaks(no, label);
            if yes.is_empty() && no.is_empty() {
                stmts.pop();
            }
        }
        _ => {}
    }
}

/// True if `found` holds for a statement at any depth.
pub(super) fn any(stmts: &[Stmt], found: &mut impl FnMut(&Stmt) -> bool) -> bool {
    stmts.iter().any(|s| {
        found(s)
            || match s {
                Stmt::If(_, yes, no, _) => any(yes, found) || any(no, found),
                Stmt::Block(_, inner) | Stmt::Loop(inner, _) => any(inner, found),
                Stmt::Apply(_, Outcome::HitMiss(hit, miss), _) => any(hit, found) || any(miss, found),
                Stmt::Apply(_, Outcome::Action(cases, rest), _) => {
                    cases.iter().any(|(_, c)| any(c, found)) || any(rest, found)
                }
                _ => false,
            }
    })
}

fn leaves(stmts: &[Stmt], label: Label) -> bool {
    any(stmts, &mut |s| matches!(s, Stmt::Break(l) if *l == label))
}

/// True if a statement can be part of an action: it applies no table and does not jump out.
fn fits_action(stmt: &Stmt) -> bool {
    let one = std::slice::from_ref(stmt);
    let mut own = HashSet::new();
    any(one, &mut |s| {
        if let Stmt::Block(label, _) = s {
            own.insert(*label);
        }
        false
    });
    !any(one, &mut |s| match s {
        Stmt::Apply(..) => true,
        Stmt::Break(label) => !own.contains(label),
        _ => false,
    })
}

/// A graph under construction.
#[derive(Default)]
struct Graph {
    pipeline: Pipeline,
    /// Node after each block that can be left.
    labels: HashMap<Label, Follow>,
    loops: usize,
}

impl Lowerer<'_> {
    pub(super) fn graph(&mut self, stmts: Vec<Stmt>) -> Pipeline {
        let mut graph = Graph::default();
        let stmts = flattened(stmts);
        graph.pipeline.first = self.sequence(&stmts, None, &mut graph);
        // The graph is built from its end, but listed from its start.
        graph.pipeline.tables.reverse();
        let last = graph.pipeline.conditions.len();
        graph.pipeline.conditions.reverse();
        let mirror = |node: &mut Option<Node>| {
            if let Some(Node::Condition(c)) = node {
                *c = last - 1 - *c;
            }
        };
        mirror(&mut graph.pipeline.first);
        for condition in &mut graph.pipeline.conditions {
            mirror(&mut condition.yes);
            mirror(&mut condition.no);
        }
        for (_, next) in &mut graph.pipeline.tables {
            match next {
                Next::Any(node) => mirror(node),
                Next::HitMiss(hit, miss) => {
                    mirror(hit);
                    mirror(miss);
                }
                Next::Action(nodes) => nodes.iter_mut().for_each(mirror),
            }
        }
        graph.pipeline
    }

    /// First node of statements that continue at `next`.
    fn sequence(&mut self, stmts: &[Stmt], next: Follow, graph: &mut Graph) -> Follow {
        let mut next = next;
        let mut end = stmts.len();
        while end > 0 {
            let start = (0..end)
                .rev()
                .take_while(|i| fits_action(&stmts[*i]))
                .last()
                .unwrap_or(end);
            if start < end {
                next = self.hidden(&stmts[start..end], next, graph);
                end = start;
                continue;
            }
            next = self.node(&stmts[end - 1], next, graph);
            end -= 1;
        }
        next
    }

    fn node(&mut self, stmt: &Stmt, next: Follow, graph: &mut Graph) -> Follow {
        match stmt {
            Stmt::If(condition, yes, no, span) => {
                let yes = self.sequence(yes, next, graph);
                let no = self.sequence(no, next, graph);
                if yes == no {
                    return yes;
                }
                graph.pipeline.conditions.push(Condition {
                    expr: condition.clone(),
                    yes,
                    no,
                    span: *span,
                });
                Some(Node::Condition(graph.pipeline.conditions.len() - 1))
            }
            Stmt::Block(label, inner) => {
                graph.labels.insert(*label, next);
                self.sequence(inner, next, graph)
            }
            Stmt::Break(label) => graph.labels.get(label).copied().unwrap_or(next),
            Stmt::Loop(_, span) => {
                self.error(*span, "BMv2 cannot apply tables in a loop");
                next
            }
            Stmt::Apply(table, outcome, span) => self.table_node(*table, outcome, next, *span, graph),
            Stmt::Primitive(_) | Stmt::Exit(_) => self.hidden(std::slice::from_ref(stmt), next, graph),
        }
    }

    fn table_node(&mut self, table: usize, outcome: &Outcome, next: Follow, span: Span, graph: &mut Graph) -> Follow {
        let follow = match outcome {
            Outcome::Any => Next::Any(next),
            Outcome::HitMiss(hit, miss) => {
                let hit = self.sequence(hit, next, graph);
                let miss = self.sequence(miss, next, graph);
                if hit == miss {
                    Next::Any(hit)
                } else {
                    Next::HitMiss(hit, miss)
                }
            }
            Outcome::Action(cases, rest) => {
                let rest = self.sequence(rest, next, graph);
                let mut targets: HashMap<ActionId, Follow> = HashMap::new();
                for (actions, stmts) in cases {
                    let first = self.sequence(stmts, next, graph);
                    targets.extend(actions.iter().map(|a| (*a, first)));
                }
                let follow = |a: &usize| {
                    let source = self.ir.actions[*a].source;
                    source.and_then(|s| targets.get(&s).copied()).unwrap_or(rest)
                };
                let list: Vec<Follow> = self.ir.tables[table].actions.iter().map(|(a, _)| follow(a)).collect();
                // A default action that is not listed is NoAction.
                if list.iter().all(|n| *n == rest) {
                    Next::Any(rest)
                } else {
                    Next::Action(list)
                }
            }
        };
        match graph.pipeline.tables.iter().find(|(t, _)| *t == table) {
            None => graph.pipeline.tables.push((table, follow)),
            Some((_, known)) if *known == follow => {}
            Some(_) => {
                let message = format!(
                    "the table '{}' is applied more than once, and not the same follows each time; the switch's JSON cannot say that. Give each its own table",
                    self.ir.tables[table].name
                );
                self.error(span, message);
            }
        }
        Some(Node::Table(table))
    }

    /// A table without a key, whose action runs all of `stmts`.
    fn hidden(&mut self, stmts: &[Stmt], next: Follow, graph: &mut Graph) -> Follow {
        let span = stmts.iter().find_map(place).unwrap_or_default();
        let code = self.action_code(stmts, span);
        if code.is_empty() {
            return next;
        }
        graph.loops += 1;
        let position = self.map.position(span);
        let stem = position.map_or(("act".to_owned(), 0), |p| {
            let file = p.file.rsplit('/').next().unwrap_or("").to_owned();
            let stem: String = file.split('.').next().unwrap_or("").chars().map(plain).collect();
            (stem, p.line)
        });
        let actions = &self.ir.actions;
        let taken = |name: &str| actions.iter().any(|a| a.name == name);
        let name = self
            .numbers
            .fresh(Named::Action, &format!("{}{}", stem.0, stem.1), taken);
        let annotations = ir::no_annotations();
        self.ir.actions.push(Action {
            name: name.clone(),
            params: Vec::new(),
            code,
            annotations: annotations.clone(),
            source: None,
            span,
        });
        let action = self.ir.actions.len() - 1;
        self.ir.tables.push(Table {
            name: format!("tbl_{name}"),
            keys: Vec::new(),
            actions: vec![(action, annotations.clone())],
            default: ActionCall {
                action,
                values: Vec::new(),
            },
            const_default: true,
            entries: None,
            const_entries: false,
            size: 1024,
            counter: None,
            meter: None,
            registers: Vec::new(),
            filters: Vec::new(),
            cell: None,
            profile: None,
            timeout: false,
            annotations,
            hidden: true,
            span,
        });
        let table = self.ir.tables.len() - 1;
        graph.pipeline.tables.push((table, Next::Any(next)));
        Some(Node::Table(table))
    }
}

fn plain(c: char) -> char {
    if c.is_ascii_alphanumeric() { c } else { '_' }
}

fn place(stmt: &Stmt) -> Option<Span> {
    match stmt {
        Stmt::Primitive(p) => Some(p.span),
        Stmt::If(_, _, _, span) | Stmt::Exit(span) | Stmt::Loop(_, span) | Stmt::Apply(_, _, span) => Some(*span),
        Stmt::Block(_, inner) => inner.iter().find_map(place),
        Stmt::Break(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Expr, Primitive, Ty};

    fn step(op: &'static str) -> Stmt {
        Stmt::Primitive(Primitive {
            op,
            args: Vec::new(),
            span: Span::default(),
        })
    }

    fn choice(yes: Vec<Stmt>, no: Vec<Stmt>) -> Stmt {
        let condition = Expr::new(ir::ExprKind::Param(0), Ty::Bool);
        Stmt::If(condition, yes, no, Span::default())
    }

    /// Statements as text.
    fn show(stmts: &[Stmt]) -> String {
        let one = |stmt: &Stmt| match stmt {
            Stmt::Primitive(p) => p.op.to_owned(),
            Stmt::If(_, yes, no, _) => format!("if[{}][{}]", show(yes), show(no)),
            Stmt::Block(label, inner) => format!("block{}[{}]", label.0, show(inner)),
            Stmt::Loop(inner, _) => format!("loop[{}]", show(inner)),
            Stmt::Break(label) => format!("break{}", label.0),
            Stmt::Apply(table, ..) => format!("apply{table}"),
            Stmt::Exit(_) => "exit".to_owned(),
        };
        stmts.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    fn block(stmts: Vec<Stmt>) -> String {
        show(&flattened(vec![Stmt::Block(Label(1), stmts), step("after")]))
    }

    #[test]
    fn a_block_that_nothing_leaves_early_is_opened() {
        assert_eq!(block(vec![step("a"), step("b")]), "a b after");
        assert_eq!(block(vec![step("a"), Stmt::Break(Label(1))]), "a after");
        let last = choice(vec![step("a"), Stmt::Break(Label(1))], vec![step("b")]);
        assert_eq!(block(vec![last]), "if[a][b] after");
    }

    #[test]
    fn a_block_that_is_left_early_stays() {
        let leave = choice(vec![Stmt::Break(Label(1))], Vec::new());
        assert_eq!(block(vec![leave, step("a")]), "block1[if[break1][] a] after");
    }

    #[test]
    fn what_follows_a_jump_and_empty_decisions_are_removed() {
        assert_eq!(show(&flattened(vec![Stmt::Exit(Span::default()), step("a")])), "exit");
        assert_eq!(show(&flattened(vec![choice(Vec::new(), Vec::new()), step("a")])), "a");
        let inner = choice(vec![Stmt::Break(Label(1)), step("never")], Vec::new());
        assert_eq!(block(vec![inner, step("a")]), "block1[if[break1][] a] after");
    }
}
