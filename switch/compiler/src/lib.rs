//! A compiler from P4_16 for v1model, TNA and T2NA to BMv2 JSON and P4Info.
//!
//! Each stage is a module: [`source`] and [`diagnostics`]; `preprocess`; `syntax` (lexer, parser, syntax tree);
//! `check`, which makes the tree of `typed`; `lower`, which makes the flat program of `ir`; `emit`.
//!
//! The library reads no files, but for [`cli`]. [`compile`] gets the text of the program, and an [`IncludeResolver`] for
//! included files.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may fail"))]

mod arch;
mod check;
pub mod cli;
pub mod diagnostics;
mod emit;
mod include;
mod ir;
mod lower;
pub mod names;
mod p4c_options;
mod preprocess;
pub mod source;
pub mod stages;
mod syntax;
mod typed;

pub use arch::Arch;
pub use diagnostics::{Diagnostic, Diagnostics, Severity};
pub use emit::p4info::p4info_text;
pub use include::{EmbeddedIncludes, IncludeDirectories, IncludeResolver, embedded};
pub use preprocess::Define;
pub use syntax::token::KEYWORDS;

use diagnostics::Reporter;
use p4sched_proto::p4::config::v1::P4Info;
use preprocess::Preprocessed;
use source::SourceMap;

/// Main file of a compilation.
#[derive(Clone, Debug)]
pub struct Input<'a> {
    /// Name, for messages and for the place of objects in the JSON.
    pub name: &'a str,
    pub text: &'a str,
}

#[derive(Clone, Debug, Default)]
pub struct Options {
    pub arch: Arch,
    /// Macros defined before the first line.
    pub defines: Vec<Define>,
    /// Classes of hidden warnings; `*` means all.
    pub disabled_warnings: Vec<String>,
    /// Classes of warnings that are errors; `*` means all.
    pub warnings_as_errors: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Compiled {
    /// BMv2 JSON.
    pub json: String,
    pub p4info: P4Info,
    pub warnings: Diagnostics,
}

/// Stack size in bytes of the thread that compiles. The deepest tree that the parser accepts needs only a part of it.
const STACK: usize = 512 << 20;

/// Compiles a program.
///
/// # Errors
/// All messages on the program with their places, warnings included.
pub fn compile(input: &Input, includes: &dyn IncludeResolver, options: &Options) -> Result<Compiled, Diagnostics> {
    on_large_stack(|| compile_here(input, includes, options))
}

/// A program placed into the stages of a Tofino.
#[derive(Clone, Debug)]
pub struct PlacedProgram {
    /// Tables by stage, even if the program needs more stages than the chip has.
    pub report: Option<stages::Report>,
    /// Messages of the compiler, and those on the limits of the chip.
    pub messages: Diagnostics,
}

/// Places a TNA or T2NA program into the stages of its chip.
pub fn place(input: &Input, includes: &dyn IncludeResolver, options: &Options) -> PlacedProgram {
    on_large_stack(|| {
        let mut front = Front::default();
        let flat = flat(&mut front, input, includes, options);
        let report = flat.and_then(|(_, ir)| stages::stages(&ir, input.name, &front.map, &mut front.reporter));
        let messages = front.finish(options);
        PlacedProgram { report, messages }
    })
}

/// Text of the program after the preprocessor.
///
/// # Errors
/// Messages of the preprocessor.
pub fn preprocess(input: &Input, includes: &dyn IncludeResolver, options: &Options) -> Result<String, Diagnostics> {
    on_large_stack(|| {
        let mut front = Front::default();
        let preprocessed = front.preprocessed(input, includes, options);
        if front.reporter.has_errors() {
            Err(front.finish(options))
        } else {
            Ok(preprocessed.text)
        }
    })
}

fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    // A browser gives no threads. There, the page's worker has the stack.
    if cfg!(target_family = "wasm") {
        return work();
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => panic!("the operating system gives no thread to compile in: {error}"),
        }
    })
}

/// State that the stages of the front end share.
struct Front {
    map: SourceMap,
    reporter: Reporter,
}

impl Default for Front {
    fn default() -> Front {
        Front {
            map: SourceMap::default(),
            reporter: Reporter::new(),
        }
    }
}

impl Front {
    fn preprocessed(&mut self, input: &Input, includes: &dyn IncludeResolver, options: &Options) -> Preprocessed {
        let Some(main) = self.map.add(input.name, input.text.to_owned()) else {
            self.reporter
                .error(source::Span::default(), format!("{} is too large", input.name));
            return Preprocessed {
                text: String::new(),
                tokens: Vec::new(),
            };
        };
        preprocess::preprocess(
            main,
            options.arch,
            &options.defines,
            includes,
            &mut self.map,
            &mut self.reporter,
        )
    }

    fn finish(self, options: &Options) -> Diagnostics {
        self.finish_with_map(options).0
    }

    fn finish_with_map(self, options: &Options) -> (Diagnostics, SourceMap) {
        let mut list = self.reporter.finish(&self.map);
        let named =
            |classes: &[String], class: Option<&str>| classes.iter().any(|c| c == "*" || Some(c.as_str()) == class);
        list.retain(|d| d.severity == Severity::Error || !named(&options.disabled_warnings, d.class));
        list.make_errors(|class| named(&options.warnings_as_errors, class));
        (list, self.map)
    }
}

/// The flat program, and the typed program that it comes from; `None` after an error.
fn flat(
    front: &mut Front,
    input: &Input,
    includes: &dyn IncludeResolver,
    options: &Options,
) -> Option<(typed::tree::Program, ir::Ir)> {
    let tokens = front.preprocessed(input, includes, options).tokens;
    if front.reporter.has_errors() {
        return None;
    }
    let decls = syntax::parser::parse(&tokens, &mut front.reporter);
    if front.reporter.has_errors() {
        return None;
    }
    let (program, _) = check::check(&decls, options.arch, &front.map, &mut front.reporter);
    if front.reporter.has_errors() {
        return None;
    }
    let ir = lower::lower(&program, options.arch, &front.map, &mut front.reporter)?;
    Some((program, ir))
}

/// Names of a program and their types. A program without errors is also lowered, for the messages of that stage.
fn checked_names(
    front: &mut Front,
    input: &Input,
    includes: &dyn IncludeResolver,
    options: &Options,
) -> (names::Found, typed::types::Types) {
    let tokens = front.preprocessed(input, includes, options).tokens;
    let decls = syntax::parser::parse(&tokens, &mut front.reporter);
    // a declaration with a syntax error is missing: what follows from this is not worth a message
    let mut unseen = Reporter::new();
    let reporter = if front.reporter.has_errors() {
        &mut unseen
    } else {
        &mut front.reporter
    };
    let (program, found) = check::check(&decls, options.arch, &front.map, reporter);
    if !front.reporter.has_errors()
        && let Some(ir) = lower::lower(&program, options.arch, &front.map, &mut front.reporter)
    {
        emit::p4info::emit(&program, &ir, &mut front.reporter);
    }
    (found, program.types)
}

fn compile_here(input: &Input, includes: &dyn IncludeResolver, options: &Options) -> Result<Compiled, Diagnostics> {
    let mut front = Front::default();
    let Some((program, ir)) = flat(&mut front, input, includes, options) else {
        return Err(front.finish(options));
    };
    let json = emit::json::emit(&ir, &front.map, &program.errors, input.name);
    let p4info = emit::p4info::emit(&program, &ir, &mut front.reporter);
    let warnings = front.finish(options);
    if warnings.has_errors() {
        Err(warnings)
    } else {
        Ok(Compiled { json, p4info, warnings })
    }
}
