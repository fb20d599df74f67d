//! A P4 program, compiled and ready to load.

use std::path::{Path, PathBuf};

use p4sched_compiler::{Arch, Define, IncludeResolver, Input, Options, compile, embedded};
use p4sched_dataplane::Pipeline;
use p4sched_proto::p4::config::v1::{P4Info, Preamble};
use p4sched_proto::p4::v1::ForwardingPipelineConfig;
use p4sched_schedulers::{Scheme, Target};

/// Reason why a program cannot run.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// The source cannot be read.
    #[error("cannot read {}: {error}", file.display())]
    Read {
        file: PathBuf,
        /// Error of the operating system.
        error: std::io::Error,
    },
    /// The scheme has no program for this target.
    #[error("there is no program of {scheme} for {target}")]
    Missing { scheme: &'static str, target: &'static str },
    /// The action of the program has other parameters than the description of the scheme.
    #[error("{file}: the parameters of the action {action} are {found}; the description has {described}")]
    Parameters {
        file: String,
        action: &'static str,
        found: String,
        described: String,
    },
    /// The compiler found errors.
    #[error("{0}")]
    Compile(String),
    /// The data plane refuses the JSON of the compiler.
    #[error("{file}: the compiler's JSON does not load: {error}")]
    Load {
        file: String,
        error: p4sched_dataplane::LoadError,
    },
    /// The program lacks a table or counter that every program of this project has.
    #[error("{file} has no {name}, which the programs of this project have")]
    Lacks {
        file: String,
        /// The table or counter.
        name: String,
    },
}

/// A compiled program.
#[derive(Clone, Debug)]
pub struct Program {
    name: String,
    target: Target,
    json: String,
    p4info: P4Info,
    queue_depth_registers: Vec<String>,
    interpreted: bool,
}

/// Finds included files in the folder of the including file, in other folders, and among those of the compiler.
struct FileIncludes<'a>(&'a [PathBuf]);

impl IncludeResolver for FileIncludes<'_> {
    fn include(&self, path: &str, from: &str, angled: bool) -> Option<(String, String)> {
        let own = Path::new(from).parent().filter(|_| !angled);
        for folder in own.into_iter().chain(self.0.iter().map(PathBuf::as_path)) {
            let file = folder.join(path);
            if let Ok(text) = std::fs::read_to_string(&file) {
                return Some((file.display().to_string(), text));
            }
        }
        embedded(path).map(|text| (path.to_owned(), text.to_owned()))
    }
}

impl Program {
    /// Compiles `directory`/`name`.p4.
    ///
    /// # Errors
    /// If the file cannot be read or does not compile.
    pub fn compile(directory: &Path, name: &str, target: Target) -> Result<Program, ProgramError> {
        Program::compile_with(directory, name, target, &[])
    }

    /// Compiles `directory`/`name`.p4 with these macros.
    ///
    /// # Errors
    /// Those of [`Program::compile`].
    pub fn compile_with(
        directory: &Path,
        name: &str,
        target: Target,
        macros: &[&str],
    ) -> Result<Program, ProgramError> {
        Program::compile_file(&directory.join(name).with_extension("p4"), target, macros, &[])
    }

    /// The program of a scheme. `directory`: folder of the laboratory's programs.
    ///
    /// # Errors
    /// Those of [`Program::compile`].
    pub fn of_scheme(scheme: Scheme, directory: &Path, target: Target) -> Result<Program, ProgramError> {
        match scheme {
            Scheme::Folder(described) => match described.program(target) {
                Some(file) => Program::compile_file(file, target, &[], described.includes(target)),
                None => Err(ProgramError::Missing {
                    scheme: described.name,
                    target: target.name(),
                }),
            },
            _ => Program::compile(directory, scheme.p4().program, target),
        }
    }

    fn compile_file(
        file: &Path,
        target: Target,
        macros: &[&str],
        includes: &[PathBuf],
    ) -> Result<Program, ProgramError> {
        let name = file.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        let text = std::fs::read_to_string(file).map_err(|error| ProgramError::Read {
            file: file.to_owned(),
            error,
        })?;
        let input = Input {
            name: &file.display().to_string(),
            text: &text,
        };
        let define = |name: &&str| Define {
            name: (*name).to_owned(),
            text: "1".to_owned(),
        };
        let options = Options {
            arch: match target {
                Target::V1model => Arch::V1model,
                Target::Tna => Arch::Tna,
                Target::T2na => Arch::T2na,
            },
            defines: macros.iter().map(define).collect(),
            ..Options::default()
        };
        let compiled = compile(&input, &FileIncludes(includes), &options)
            .map_err(|errors| ProgramError::Compile(errors.to_string()))?;
        let annotated = |preamble: &Preamble| preamble.annotations.iter().any(|text| text.contains("@queue_depth"));
        let preambles = compiled
            .p4info
            .registers
            .iter()
            .filter_map(|register| register.preamble.as_ref());
        Ok(Program {
            name: name.to_owned(),
            target,
            json: compiled.json,
            queue_depth_registers: preambles.filter(|p| annotated(p)).map(|p| p.name.clone()).collect(),
            p4info: compiled.p4info,
            interpreted: false,
        })
    }

    /// Name, such as `aifo`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Target that it was compiled for.
    pub fn target(&self) -> Target {
        self.target
    }

    /// A pipeline that runs the program, with empty tables and zero registers.
    ///
    /// # Errors
    /// If the data plane refuses the JSON of the compiler.
    pub fn pipeline(&self) -> Result<Pipeline, ProgramError> {
        let mut pipeline = Pipeline::from_json(self.json.as_bytes()).map_err(|error| ProgramError::Load {
            file: format!("{}.p4", self.name),
            error,
        })?;
        if !self.interpreted {
            pipeline.compile();
        }
        Ok(pipeline)
    }

    /// Makes its pipelines interpret the program instead of translating it to machine code.
    pub fn interpret(&mut self) {
        self.interpreted = true;
    }

    /// The program in the form that P4Runtime loads.
    pub fn config(&self) -> ForwardingPipelineConfig {
        ForwardingPipelineConfig {
            p4info: Some(self.p4info.clone()),
            p4_device_config: self.json.clone().into_bytes(),
            cookie: None,
        }
    }

    /// Names of all registers.
    pub fn registers(&self) -> Vec<String> {
        let preambles = self
            .p4info
            .registers
            .iter()
            .filter_map(|register| register.preamble.as_ref());
        preambles.map(|preamble| preamble.name.clone()).collect()
    }

    /// Names of the registers with the annotation `@queue_depth`.
    pub fn queue_depth_registers(&self) -> &[String] {
        &self.queue_depth_registers
    }
}
