//! All functions of a program, and the memory that they are in.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_codegen::ir::{AbiParam, Signature, types};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{CodegenError, Context};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleError, default_libcall_names};

use super::function::{Calls, translate};
use super::stretch::is_copied;
use crate::run::code::Code;
use crate::run::native::{self, Entry, Native};
use crate::run::ops::{Address, Op};
use crate::run::state::State;

/// Why a program stays interpreted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CompileError {
    /// Cranelift does not know this processor.
    #[error("{0}")]
    Machine(&'static str),
    #[error(transparent)]
    Settings(#[from] settings::SetError),
    #[error(transparent)]
    Codegen(#[from] CodegenError),
    #[error(transparent)]
    Module(#[from] Box<ModuleError>),
}

impl From<ModuleError> for CompileError {
    fn from(error: ModuleError) -> Self {
        CompileError::Module(Box::new(error))
    }
}

/// Cells of an array, for code that reads and writes them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cells {
    pub start: *mut u64,
    pub count: usize,
}

/// A register array.
#[derive(Clone, Copy, Debug)]
pub(super) struct RegisterCells {
    pub cells: Cells,
    pub width: u32,
    /// Where the interpreter keeps whether it is protected.
    pub protected: *const bool,
}

/// Where the arrays of a program are.
#[derive(Debug)]
pub(super) struct Arrays {
    pub registers: Vec<RegisterCells>,
    pub counters: Vec<Cells>,
}

impl Arrays {
    fn of(state: &mut State) -> Arrays {
        let registers = state.registers.0.iter_mut().map(|array| RegisterCells {
            cells: Cells {
                start: array.cells.as_mut_ptr(),
                count: array.cells.len(),
            },
            width: array.width,
            protected: &raw const array.protected,
        });
        Arrays {
            registers: registers.collect(),
            counters: (state.counters.iter_mut())
                .map(|array| Cells {
                    start: array.start(),
                    count: array.len(),
                })
                .collect(),
        }
    }
}

/// The memory that compiled code is in.
struct Memory(Option<JITModule>);

impl Drop for Memory {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        if let Some(module) = self.0.take() {
            // SAFETY: The functions are reached through the `Native` that owns this memory only, and it is being dropped.
            unsafe { module.free_memory() };
        }
    }
}

/// Compiles what begins at these addresses, and all actions.
#[allow(unsafe_code)]
pub(crate) fn compile(code: &Code, state: &mut State, entries: &[Address]) -> Result<Native, CompileError> {
    let mut flags = settings::builder();
    for (name, value) in [
        ("opt_level", "speed"),
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
    ] {
        flags.set(name, value)?;
    }
    let machine = cranelift_native::builder().map_err(CompileError::Machine)?;
    let machine = machine.finish(settings::Flags::new(flags))?;
    let mut builder = JITBuilder::with_isa(machine, default_libcall_names());
    builder.symbol("step", native::step as *const u8);
    builder.symbol("choose", native::choose as *const u8);
    builder.symbol("apply", native::apply as *const u8);
    let mut memory = Memory(Some(JITModule::new(builder)));
    let Some(module) = &mut memory.0 else {
        return Err(CompileError::Machine("no memory"));
    };
    let calls = Calls::declare(module, &starts(code, entries))?;
    let arrays = Arrays::of(state);
    let (mut context, mut builder_context) = (module.make_context(), FunctionBuilderContext::new());
    for (&start, &function) in &calls.functions {
        context.func.signature = signature(module);
        translate(module, &mut context, &mut builder_context, code, &arrays, &calls, start);
        define(module, &mut context, function)?;
    }
    module.finalize_definitions()?;
    let mut found = vec![None; code.ops.len()];
    for (&start, &function) in &calls.functions {
        let place = module.get_finalized_function(function);
        // SAFETY: It is the start of a function with the signature of an `Entry`.
        found[start as usize] = Some(unsafe { std::mem::transmute::<*const u8, Entry>(place) });
    }
    // SAFETY: The functions are in `memory`. They know the places of this state's arrays, which never move, and get its words.
    Ok(unsafe { Native::new(found, Box::new(memory)) })
}

/// The addresses at which something begins that is called.
fn starts(code: &Code, entries: &[Address]) -> BTreeSet<Address> {
    let called = code.ops.iter().filter_map(|op| match op {
        Op::Call { to } => Some(*to),
        _ => None,
    });
    // Those of a profile's members are found while packets run. The others are copied to their tables, unless they are long.
    let in_profiles = (code.tables.iter())
        .filter(|table| table.profile.is_some())
        .flat_map(|table| &table.actions);
    let in_profiles = in_profiles.map(|&(action, _)| &code.actions[action as usize]);
    let long = code.actions.iter().filter(|action| !is_copied(action));
    let actions = in_profiles.chain(long).map(|action| action.start);
    entries.iter().copied().chain(actions).chain(called).collect()
}

fn define(module: &mut JITModule, context: &mut Context, function: FuncId) -> Result<(), CompileError> {
    module.define_function(function, context)?;
    module.clear_context(context);
    Ok(())
}

/// Of an [`Entry`].
pub(super) fn signature(module: &JITModule) -> Signature {
    let mut signature = module.make_signature();
    signature.params = vec![AbiParam::new(types::I64); 2];
    signature
}

impl Calls {
    fn declare(module: &mut JITModule, starts: &BTreeSet<Address>) -> Result<Calls, CompileError> {
        let entry = signature(module);
        let mut asks = entry.clone();
        asks.returns.push(AbiParam::new(types::I64));
        let mut functions = BTreeMap::new();
        for &start in starts {
            let name = format!("at_{start}");
            functions.insert(start, module.declare_function(&name, Linkage::Local, &entry)?);
        }
        Ok(Calls {
            functions,
            step: module.declare_function("step", Linkage::Import, &entry)?,
            choose: module.declare_function("choose", Linkage::Import, &asks)?,
            apply: module.declare_function("apply", Linkage::Import, &asks)?,
        })
    }
}
