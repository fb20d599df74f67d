//! All functions of a program, and their memory.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_codegen::ir::{AbiParam, Signature, Value, types};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{CodegenError, Context};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleError, default_libcall_names};

use super::arrays::Arrays;
use super::checksum::{ChecksumField, Inputs};
use super::function::{Calls, Function, translate};
use crate::bits::mask;
use crate::run::calculation::Input;
use crate::run::callbacks;
use crate::run::code::Code;
use crate::run::hash::Algorithm;
use crate::run::native::{Entries, Entry, FrameFunction, Native};
use crate::run::ops::{Address, Op};
use crate::run::program::{Checksum, Parts};
use crate::run::state::State;
use crate::run::wire::Segment;

/// Actions longer than this are called, not copied.
const MAX_COPIED: u32 = 512;
/// Largest number of copied operations in a program. Beyond it, all actions are called.
const MAX_COPIES: u64 = 1 << 15;
/// Number of operations of the largest program that is compiled: it should load in a second.
const MAX_OPS: usize = 1 << 17;

/// Reason why a program stays interpreted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CompileError {
    /// The processor or the program is not supported.
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

/// The memory of compiled code.
struct Memory(Option<JITModule>);

impl Drop for Memory {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        if let Some(module) = self.0.take() {
            // SAFETY: Only the `Native` that owns this memory can reach the functions, and it is being dropped.
            unsafe { module.free_memory() };
        }
    }
}

/// A program under translation.
struct Unit<'a> {
    module: &'a mut JITModule,
    context: Context,
    builder: FunctionBuilderContext,
    code: &'a Code,
    arrays: Arrays,
    calls: Calls,
}

impl Unit<'_> {
    fn define(&mut self, function: FuncId, write: impl FnOnce(&mut Function, &[Value])) -> Result<(), CompileError> {
        self.context.func.signature = self.module.declarations().get_function_decl(function).signature.clone();
        let contexts = (&mut self.context, &mut self.builder);
        translate(self.module, contexts, self.code, &self.arrays, &self.calls, write);
        self.module.define_function(function, &mut self.context)?;
        self.module.clear_context(&mut self.context);
        Ok(())
    }

    /// Defines a function with the signature of [`FrameFunction`].
    fn define_frame_function(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut Function, &[Value]),
    ) -> Result<FuncId, CompileError> {
        let mut signature = signature(self.module);
        signature.params.extend([AbiParam::new(types::I64); 2]);
        signature.returns.push(AbiParam::new(types::I64));
        let function = self.module.declare_function(name, Linkage::Local, &signature)?;
        self.define(function, write)?;
        Ok(function)
    }

    /// The deparser: updates checksums and then emits these headers, if each of them has whole bytes.
    fn deparser(
        &mut self,
        number: usize,
        updated: &[ChecksumField],
        emitted: &[u32],
    ) -> Result<Option<FuncId>, CompileError> {
        let code = self.code;
        let with_plan = |&header: &u32| {
            let plan = code.plans[header as usize].as_ref()?;
            Some((code.layout.headers[header as usize].valid, plan))
        };
        let Some(headers) = emitted.iter().map(with_plan).collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        let name = format!("deparser_{number}");
        let write = |f: &mut Function, arguments: &[Value]| {
            f.update(updated);
            f.write_headers(&headers, arguments[2], arguments[3]);
        };
        self.define_frame_function(&name, write).map(Some)
    }

    /// A function for a calculation that is the Internet checksum of 16-bit words.
    fn checksum(&mut self, number: usize, state: &State) -> Result<Option<FuncId>, CompileError> {
        let Some(inputs) = sum(self.code, state, number) else {
            return Ok(None);
        };
        let name = format!("checksum_{number}");
        self.define_frame_function(&name, |f, _| f.checksum(&inputs)).map(Some)
    }
}

/// Inputs of a calculation, if it is the Internet checksum of 16-bit words.
fn sum<'a>(code: &'a Code, state: &State, number: usize) -> Option<Inputs<'a>> {
    let calculation = &code.calculations[number];
    let is_checksum = matches!(state.algorithms.get(number), Some(Algorithm::Checksum16));
    if !is_checksum || calculation.with_payload {
        return None;
    }
    let of_words = |input: &'a Input| match input {
        Input::Run(valid, plan) if plan.segments().iter().all(is_even) => Some((*valid, plan)),
        _ => None,
    };
    calculation.inputs.iter().map(of_words).collect()
}

/// Inputs and fields of these checksums, if [`sum`] finds the inputs of each.
fn checked<'a>(code: &'a Code, state: &State, checksums: &[Checksum]) -> Option<Vec<ChecksumField<'a>>> {
    let checked = |checksum: &Checksum| {
        let field = &code.layout.fields[checksum.field as usize];
        Some(ChecksumField {
            inputs: sum(code, state, checksum.calculation as usize)?,
            condition: checksum.condition,
            slot: field.slot,
            keep: mask(field.width),
            valid: code.layout.headers[field.header as usize].valid,
        })
    };
    checksums.iter().map(checked).collect()
}

/// True if a segment has whole 16-bit words.
fn is_even(segment: &Segment) -> bool {
    matches!(segment, Segment::Chunk { bytes, .. } if bytes % 2 == 0)
}

/// Compiles the given parts of the program, and all actions.
#[allow(unsafe_code)]
pub(crate) fn compile(code: &Code, state: &mut State, parts: &Parts) -> Result<Native, CompileError> {
    // Code uses addresses as words, and swaps the bytes of a frame.
    if cfg!(not(all(target_pointer_width = "64", target_endian = "little"))) {
        return Err(CompileError::Machine(
            "a processor of 64 bits, little-endian, is needed",
        ));
    }
    if code.ops.len() > MAX_OPS {
        return Err(CompileError::Machine("the program is too large"));
    }
    let mut memory = Memory(Some(JITModule::new(jit_builder()?)));
    let Some(module) = &mut memory.0 else {
        return Err(CompileError::Machine("no memory"));
    };
    let mut unit = Unit {
        calls: Calls::declare(module, code, &starts(code, &parts.entries))?,
        context: module.make_context(),
        builder: FunctionBuilderContext::new(),
        module,
        code,
        arrays: Arrays::of(state),
    };
    let functions = unit.calls.functions.clone();
    for (&start, &function) in &functions {
        unit.define(function, |f, _| f.whole_stretch(start))?;
    }
    let (mut parsers, mut deparsers, mut checksums) = (Vec::new(), Vec::new(), Vec::new());
    for (number, parser) in parts.parsers.iter().enumerate() {
        let write = |f: &mut Function, arguments: &[Value]| f.parse(parser, arguments[2], arguments[3]);
        parsers.push(unit.define_frame_function(&format!("parser_{number}"), write)?);
    }
    let updated = parts.updated.and_then(|checksums| checked(code, state, checksums));
    for (number, emitted) in parts.emitted.iter().enumerate() {
        deparsers.push(unit.deparser(number, updated.as_deref().unwrap_or(&[]), emitted)?);
    }
    let verified = parts.verified.and_then(|checksums| checked(code, state, checksums));
    let verify = match verified {
        Some(fields) => Some(unit.define_frame_function("verify", |f, _| f.verify(&fields))?),
        None => None,
    };
    for number in 0..code.calculations.len() {
        checksums.push(unit.checksum(number, state)?);
    }
    unit.module.finalize_definitions()?;
    let module = unit.module;
    let mut entries = Entries {
        code: vec![None; code.ops.len()],
        ..Entries::default()
    };
    for (&start, &function) in &functions {
        let place = module.get_finalized_function(function);
        // SAFETY: This is the start of a function with the signature of an `Entry`.
        entries.code[start as usize] = Some(unsafe { std::mem::transmute::<*const u8, Entry>(place) });
    }
    let asked = |function: FuncId| {
        let place = module.get_finalized_function(function);
        // SAFETY: This is the start of a function to which `define_frame_function` gave the signature of an `FrameFunction`.
        unsafe { std::mem::transmute::<*const u8, FrameFunction>(place) }
    };
    entries.parsers = parsers.into_iter().map(asked).collect();
    entries.deparsers = deparsers.into_iter().map(|function| function.map(asked)).collect();
    entries.verify = verify.map(asked);
    entries.updates = updated.is_some() && entries.deparsers.iter().all(Option::is_some);
    entries.checksums = checksums.into_iter().map(|function| function.map(asked)).collect();
    // SAFETY: The functions are in `memory`. They know the places of this state's arrays, which never move, and get its
    // words.
    Ok(unsafe { Native::new(entries, Box::new(memory)) })
}

/// A JIT compiler for this processor, with the callbacks.
fn jit_builder() -> Result<JITBuilder, CompileError> {
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
    for (name, function) in [
        ("step", callbacks::step as *const u8),
        ("choose", callbacks::choose as *const u8),
        ("choose_by_word", callbacks::choose_by_word as *const u8),
        ("apply", callbacks::apply as *const u8),
        ("parse_op", callbacks::parse_op as *const u8),
        ("parse_next", callbacks::parse_next as *const u8),
    ] {
        builder.symbol(name, function);
    }
    Ok(builder)
}

/// Addresses of all code that is called.
fn starts(code: &Code, entries: &[Address]) -> BTreeSet<Address> {
    let called = code.ops.iter().filter_map(|op| match op {
        Op::Call { to } => Some(*to),
        _ => None,
    });
    // Actions of profile members are found while packets run. The others are copied to their tables, except long ones.
    let in_profiles = (code.tables.iter())
        .filter(|table| table.profile.is_some())
        .flat_map(|table| &table.actions);
    let in_profiles = in_profiles.map(|&(action, _)| &code.actions[action as usize]);
    let most = max_copied(code);
    let long = code.actions.iter().filter(|action| action.end - action.start > most);
    let actions = in_profiles.chain(long).map(|action| action.start);
    entries.iter().copied().chain(actions).chain(called).collect()
}

/// Number of operations of the longest action that is copied to the tables that use it.
fn max_copied(code: &Code) -> u32 {
    let uses = code.tables.iter().flat_map(|table| &table.actions);
    let lengths = uses.map(|&(action, _)| code.actions[action as usize].end - code.actions[action as usize].start);
    let copies: u64 = lengths.filter(|&length| length <= MAX_COPIED).map(u64::from).sum();
    if copies <= MAX_COPIES { MAX_COPIED } else { 0 }
}

/// Signature of an [`Entry`].
pub(super) fn signature(module: &JITModule) -> Signature {
    let mut signature = module.make_signature();
    signature.params = vec![AbiParam::new(types::I64); 2];
    signature
}

impl Calls {
    fn declare(module: &mut JITModule, code: &Code, starts: &BTreeSet<Address>) -> Result<Calls, CompileError> {
        let entry = signature(module);
        let mut asks = entry.clone();
        asks.returns.push(AbiParam::new(types::I64));
        let mut asks_at = asks.clone();
        asks_at.params.push(AbiParam::new(types::I64));
        let mut functions = BTreeMap::new();
        for &start in starts {
            let name = format!("at_{start}");
            functions.insert(start, module.declare_function(&name, Linkage::Local, &entry)?);
        }
        Ok(Calls {
            functions,
            step: module.declare_function("step", Linkage::Import, &entry)?,
            choose: module.declare_function("choose", Linkage::Import, &asks)?,
            choose_by_word: module.declare_function("choose_by_word", Linkage::Import, &asks_at)?,
            apply: module.declare_function("apply", Linkage::Import, &asks)?,
            parse_op: module.declare_function("parse_op", Linkage::Import, &asks_at)?,
            max_copied: max_copied(code),
            parse_next: module.declare_function("parse_next", Linkage::Import, &asks_at)?,
        })
    }
}
