//! Registers: the types of cells, and the limits on all RegisterActions of one register.

use std::collections::BTreeSet;

use crate::{
    ir::{Ir, Register},
    source::Span,
    stages::chip::{ACTIONS_OF_A_REGISTER, CONSTANTS_OF_A_REGISTER, Chip},
};

/// Errors in the registers and their RegisterActions.
pub fn check_registers(ir: &Ir, chip: &Chip) -> Vec<(Span, String)> {
    let mut wrong = Vec::new();
    for (index, register) in ir.registers.iter().enumerate() {
        let actions: Vec<_> = ir.register_actions.iter().filter(|a| a.register == index).collect();
        let lanes: Vec<u32> = match actions.first() {
            Some(action) => action.value.iter().map(|f| ir.field(f).width).collect(),
            None => vec![register.width],
        };
        wrong.extend(cell(chip, register, &lanes).map(|m| (register.span, m)));
        let mut constants = BTreeSet::new();
        for action in &actions {
            let (messages, large) = super::check(ir, chip, action);
            wrong.extend(messages);
            constants.extend(large);
        }
        if actions.len() > ACTIONS_OF_A_REGISTER {
            wrong.push((
                actions[ACTIONS_OF_A_REGISTER].span,
                format!(
                    "the register '{}' has {} RegisterActions, but a stateful ALU keeps {ACTIONS_OF_A_REGISTER}. Make one of \
                     several that differ in a number, which a field can give",
                    register.name,
                    actions.len()
                ),
            ));
        }
        if constants.len() > CONSTANTS_OF_A_REGISTER {
            wrong.push((
                register.span,
                format!(
                    "the RegisterActions of '{}' use {} constants outside of -8 to 7, but a stateful ALU keeps \
                     {CONSTANTS_OF_A_REGISTER}. Pass some as a field",
                    register.name,
                    constants.len()
                ),
            ));
        }
    }
    wrong
}

/// Error in the type of a register's cells, from the widths of its numbers.
fn cell(chip: &Chip, register: &Register, lanes: &[u32]) -> Option<String> {
    let single = |w: u32| matches!(w, 8 | 16 | 32) || (w == 64 && chip.outputs > 1);
    let fits = match lanes {
        // The cell may be one number as wide as a pair, if it is only copied.
        [w] => single(*w) || matches!(w, 1 | 64),
        [a, b] => a == b && single(*a),
        _ => false,
    };
    if fits {
        return None;
    }
    let shown: Vec<String> = lanes.iter().map(u32::to_string).collect();
    Some(format!(
        "a cell of '{}' has numbers of {} bits, but a stateful ALU of {} keeps one number of 1, 8, 16, 32 or 64 bits or two \
         of 8, 16 or 32. Widen the number, or split the register",
        register.name,
        shown.join(", "),
        chip.name
    ))
}
