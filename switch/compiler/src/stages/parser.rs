//! Limits of the parser: the key of a state, allowed computations, and the length of a packet's headers (p4c
//! `specs/parde_spec.h`, `specs/match_register_spec.h`).

use super::{
    cells::{Cells, headers, read_by},
    chip::{Chip, PARSER_ROWS, SELECT_BITS},
    gateway::show,
    nodes::is_operand,
};
use crate::{
    ir::{Expr, ExprKind, FieldRef, Gress, Ir, Parser, ParserOp, ParserState},
    source::Span,
};

/// Errors in a parser.
pub fn check(ir: &Ir, chip: &Chip, gress: Gress, parser: &Parser) -> Vec<(Span, String)> {
    let states = &parser.states;
    let span = states.get(parser.start).map_or(Span::default(), |s| s.span);
    let mut wrong = Vec::new();
    let mut rows = 0;
    for state in states {
        rows += state.transitions.len().max(1);
        let bits: u32 = state.key.iter().map(|k| k.ty.width()).sum();
        if bits > SELECT_BITS {
            wrong.push((
                state.span,
                format!(
                    "the state '{}' selects by {bits} bits, but the parser looks at {SELECT_BITS} at a time. Select by a \
                     part, and by the rest in the next state",
                    state.name
                ),
            ));
        }
        for op in &state.ops {
            if let ParserOp::Set(to, value) = op
                && !copies(value)
                && !of_the_parser(ir, to, value)
            {
                wrong.push((
                    state.span,
                    format!(
                        "the state '{}' computes '{}', but the parser only copies. Compute it in the first table of the \
                         control",
                        state.name,
                        show(ir, value)
                    ),
                ));
            }
        }
    }
    if rows > PARSER_ROWS {
        wrong.push((
            span,
            format!(
                "the parser's states have {rows} cases, but its table has {PARSER_ROWS} rows. Parse fewer headers, or \
                 match some fields in a table"
            ),
        ));
    }
    let longest = longest(ir, states, parser.start);
    let room = chip.containers + chip.carried;
    if longest > room {
        wrong.push((
            span,
            format!(
                "the headers of one packet take {longest} bits, but the chip has containers for {room}. Leave headers that \
                 no table needs in the payload"
            ),
        ));
    } else if let Some(bytes) = chip.egress_bytes
        && gress == Gress::Egress
        && longest > bytes * 8
    {
        let needs = longest.div_ceil(8);
        wrong.push((
            span,
            format!(
                "egress parses {needs} bytes of a packet, but {} parses {bytes} there. Leave headers that egress does not \
                 need in the payload",
                chip.name
            ),
        ));
    }
    wrong
}

/// True if an assignment concerns variables of checksums and counters: the parser has units for these.
fn of_the_parser(ir: &Ir, to: &FieldRef, value: &Expr) -> bool {
    let is_variable = |h: usize| ir.headers[h].name == "scalars";
    headers(ir, &to.header).into_iter().any(is_variable) || read_by(ir, value).iter().any(|(h, _)| is_variable(h))
}

fn copies(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Lookahead(..) | ExprKind::LastIndex(_) => true,
        ExprKind::Cast(inner) => copies(inner) || is_operand(e),
        _ => is_operand(e),
    }
}

/// Bits of the longest sequence of headers in a packet. Each header counts once.
fn longest(ir: &Ir, states: &[ParserState], start: usize) -> u64 {
    let mut known: Vec<Option<u64>> = vec![None; states.len()];
    from(ir, states, start, &mut known, 0)
}

/// Depth at which the search stops: no packet has so many headers.
const DEPTH: usize = 4096;

fn from(ir: &Ir, states: &[ParserState], at: usize, known: &mut Vec<Option<u64>>, depth: usize) -> u64 {
    let Some(state) = states.get(at) else { return 0 };
    if let Some(bits) = known[at] {
        return bits;
    }
    if depth > DEPTH {
        return 0;
    }
    // A loop ends here without adding bits; the stack that it fills counts as a whole.
    known[at] = Some(0);
    let loops = state.transitions.iter().any(|(_, to)| *to == Some(at));
    let own: u64 = state.ops.iter().map(|op| taken(ir, op, loops)).sum();
    let next = state.transitions.iter().filter_map(|(_, to)| *to);
    let next: Vec<usize> = next.collect();
    let rest = next.into_iter().map(|to| from(ir, states, to, known, depth + 1)).max();
    let total = own + rest.unwrap_or(0);
    known[at] = Some(total);
    total
}

/// Bits that an operation takes from the packet. In a state of a loop, a stack counts as a whole.
fn taken(ir: &Ir, op: &ParserOp, loops: bool) -> u64 {
    let ParserOp::Extract(header, _) = op else { return 0 };
    let each = headers(ir, header);
    let times = if loops { each.len() } else { 1 };
    let bits = each.first().map_or(0, |h| {
        let fields = &ir.header_types[ir.headers[*h].ty].fields;
        fields.iter().map(|f| u64::from(f.width)).sum()
    });
    bits * times as u64
}

/// Fields that a state extracts.
pub fn extracted(ir: &Ir, state: &ParserState) -> Cells {
    let mut cells = Cells::new();
    for op in &state.ops {
        if let ParserOp::Extract(header, _) = op {
            for h in headers(ir, header) {
                cells.extend((0..ir.header_types[ir.headers[h].ty].fields.len()).map(|f| (h, Some(f))));
            }
        }
    }
    cells
}

/// Bits of a cell; one for the validity of a header.
#[must_use]
pub fn width(ir: &Ir, (header, field): super::cells::Cell) -> u64 {
    let fields = &ir.header_types[ir.headers[header].ty].fields;
    field.map_or(1, |f| u64::from(fields[f].width))
}
