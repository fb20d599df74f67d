//! Command line, files and messages of the compiler.

use std::{
    ffi::OsString,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use crate::{
    Arch, Define, Diagnostics, IncludeDirectories, Input, Options, Severity, compile, p4info_text, place, preprocess,
};
use clap::{Parser, ValueEnum};
use p4sched_proto::{DESCRIPTORS, p4::config::v1::P4Info};
use prost::Message as _;
use prost_reflect::DynamicMessage;

use crate::p4c_options;

/// Compiles P4_16 programs for v1model, TNA and T2NA to BMv2 JSON and P4Info.
#[derive(Parser, Debug)]
#[command(name = "p4sched-p4c", version, args_override_self = true)]
struct Args {
    /// P4 program.
    program: PathBuf,
    /// Output file for the JSON. Under the name p4c: output folder; by default the current one.
    #[arg(short = 'o', long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Output files for P4Info, separated by commas: text for .txtpb and .txt, JSON for .json, otherwise binary. Under
    /// the name p4c, binary is .bin, and other suffixes are refused.
    #[arg(long, visible_alias = "p4runtime-file", value_name = "FILES", value_delimiter = ',')]
    p4runtime_files: Vec<PathBuf>,
    /// Format of P4Info, whatever the names of the files.
    #[arg(long, value_enum)]
    p4runtime_format: Option<Format>,
    /// Directory to search for included files.
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Macro to define.
    #[arg(short = 'D', value_name = "NAME[=TEXT]")]
    define: Vec<String>,
    /// Macro to undefine.
    #[arg(short = 'U', value_name = "NAME")]
    undefine: Vec<String>,
    /// Only preprocess; print to standard output.
    #[arg(short = 'E')]
    preprocess: bool,
    /// Version of the language; only p4-16 exists.
    #[arg(
        short = 'x',
        long,
        visible_alias = "p4v",
        value_name = "VERSION",
        default_value = "p4-16"
    )]
    std: String,
    /// Treat warnings as errors: all, or those of a class.
    #[arg(long = "Werror", value_name = "CLASS", num_args = 0..=1, require_equals = true, default_missing_value = "*")]
    errors: Vec<String>,
    /// Hide warnings: all, or those of a class.
    #[arg(long = "Wdisable", value_name = "CLASS", num_args = 0..=1, require_equals = true, default_missing_value = "*")]
    disable: Vec<String>,
    /// Target: bmv2, tofino (Tofino 1, or 2 with --arch t2na) or tofino2.
    #[arg(short = 'b', long)]
    target: Option<String>,
    /// Architecture: v1model, tna (Tofino 1) or t2na (Tofino 2); by default that of the target.
    #[arg(short = 'a', long)]
    arch: Option<String>,
    /// Only place the program's tables into the stages of the chip and print the places; --arch defaults to tna.
    #[arg(long)]
    stages: bool,
}

impl Args {
    /// Options for the name `p4c`: -o is a folder for NAME.json, and the format of P4Info must be known.
    fn in_p4cs_way(mut self) -> Result<Args, String> {
        let formless = |file: &&PathBuf| self.p4runtime_format.is_none() && format_of(file).is_none();
        if let Some(file) = self.p4runtime_files.iter().find(formless) {
            return Err(format!(
                "p4sched-p4c: --p4runtime-files {}: its name says no format; names end in .txtpb, .txt, .json or .bin\n",
                file.display()
            ));
        }
        if self.preprocess || self.stages {
            return Ok(self);
        }
        let folder = self.output.take().unwrap_or_else(|| PathBuf::from("."));
        fs::create_dir_all(&folder).map_err(|e| {
            format!(
                "p4sched-p4c: cannot make {}: {}\n",
                folder.display(),
                reason(&e, "directory")
            )
        })?;
        let name = self.program.file_name().unwrap_or(self.program.as_os_str());
        self.output = Some(folder.join(name).with_extension("json"));
        Ok(self)
    }
}

/// Formats of P4Info.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Protobuf's text format.
    Text,
    /// Protobuf's wire format.
    Binary,
    /// Protobuf's JSON format.
    Json,
}

/// Finds included files next to the including file, in the `-I` directories, and among the embedded files.
struct Files {
    directories: Vec<PathBuf>,
}

impl IncludeDirectories for Files {
    fn directories(&self) -> &[PathBuf] {
        &self.directories
    }

    fn read(&self, file: &Path) -> Option<(String, String)> {
        let text = fs::read(file).ok()?;
        Some((file.display().to_string(), String::from_utf8_lossy(&text).into_owned()))
    }
}

/// Runs the compiler with the words of a command line. The first word is its name. The exit code is 1 if the program has errors, or if a file cannot be read or written.
pub fn run(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let (arguments, not_followed) = p4c_options::without(words);
    let driver = arguments
        .first()
        .is_some_and(|name| Path::new(name).file_stem().is_some_and(|name| name == "p4c"));
    let args = Args::parse_from(arguments);
    not_followed.iter().for_each(|line| say(line));
    let done = if driver {
        args.in_p4cs_way().and_then(|args| compile_files(&args))
    } else {
        compile_files(&args)
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            say(&message);
            ExitCode::FAILURE
        }
    }
}

/// Prints to standard error. If that fails, compilation continues.
fn say(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

fn only(flag: &str, value: &str, allowed: &[&str]) -> Result<(), String> {
    if allowed.contains(&value) {
        return Ok(());
    }
    Err(format!(
        "p4sched-p4c: {flag} {value} is not known; it is {}\n",
        allowed[0]
    ))
}

/// Architecture from the given target and architecture.
fn architecture(target: Option<&str>, arch: Option<&str>) -> Result<Arch, String> {
    let targets: [(&str, &[Arch]); 3] = [
        ("bmv2", &[Arch::V1model]),
        ("tofino", &[Arch::Tna, Arch::T2na]),
        ("tofino2", &[Arch::T2na]),
    ];
    let list = |names: &[&str]| match names {
        [first @ .., before, last] => [first, &[&format!("{before} or {last}")]].concat().join(", "),
        _ => names.concat(),
    };
    let arch = arch
        .map(|name| {
            Arch::from_name(name).ok_or_else(|| {
                let known = list(&Arch::ALL.map(Arch::name));
                format!("p4sched-p4c: --arch {name} is not known; it is {known}\n")
            })
        })
        .transpose()?;
    let Some(target) = target else {
        return Ok(arch.unwrap_or_default());
    };
    let Some((_, possible)) = targets.iter().find(|(name, _)| *name == target) else {
        let known = list(&targets.map(|(name, _)| name));
        return Err(format!("p4sched-p4c: --target {target} is not known; it is {known}\n"));
    };
    let arch = arch.unwrap_or(possible[0]);
    if possible.contains(&arch) {
        return Ok(arch);
    }
    let possible = list(&possible.iter().map(|a| a.name()).collect::<Vec<_>>());
    let arch = arch.name();
    Err(format!(
        "p4sched-p4c: --target {target} has the architecture {possible}, not {arch}\n"
    ))
}

fn compile_files(args: &Args) -> Result<(), String> {
    only("--std", &args.std, &["p4-16", "p4_16", "p4-16.0", "16"])?;
    let wanted = match (&args.target, args.arch.as_deref()) {
        (None, None) if args.stages => Some(Arch::Tna.name()),
        (_, wanted) => wanted,
    };
    let arch = architecture(args.target.as_deref(), wanted)?;
    let program = args.program.display().to_string();
    let text =
        fs::read(&args.program).map_err(|e| format!("p4sched-p4c: cannot read {program}: {}\n", reason(&e, "file")))?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let input = Input {
        name: &program,
        text: &text,
    };
    let files = Files {
        directories: args.include.clone(),
    };
    let options = Options {
        arch,
        defines: defines(args)?,
        disabled_warnings: args.disable.clone(),
        warnings_as_errors: args.errors.clone(),
    };
    if args.preprocess {
        let text = preprocess(&input, &files, &options).map_err(|d| d.to_string())?;
        return io::stdout()
            .write_all(text.as_bytes())
            .map_err(|e| format!("p4sched-p4c: cannot write to standard output: {e}\n"));
    }
    if args.stages {
        return print_stages(&input, &files, &options);
    }
    let compiled = compile(&input, &files, &options).map_err(|d| refused(&d, &program))?;
    say(&compiled.warnings.to_string());
    if let Some(output) = &args.output {
        write(output, compiled.json.as_bytes())?;
    }
    for file in &args.p4runtime_files {
        let format = args
            .p4runtime_format
            .or_else(|| format_of(file))
            .unwrap_or(Format::Binary);
        write(file, &p4info_bytes(&compiled.p4info, format))?;
    }
    Ok(())
}

/// All messages on a program, and the number of errors.
fn refused(messages: &Diagnostics, program: &str) -> String {
    let errors = messages.iter().filter(|d| d.severity == Severity::Error).count();
    format!("{messages}p4sched-p4c: {errors} error(s) in {program}\n")
}

/// Prints the stages of the program's tables, even if the chip has too few stages.
fn print_stages(input: &Input, files: &Files, options: &Options) -> Result<(), String> {
    if options.arch == Arch::V1model {
        return Err("p4sched-p4c: v1model has no stages; --stages takes --arch tna or t2na\n".to_owned());
    }
    let placed = place(input, files, options);
    if let Some(report) = &placed.report {
        io::stdout()
            .write_all(report.to_string().as_bytes())
            .map_err(|e| format!("p4sched-p4c: cannot write to standard output: {e}\n"))?;
    }
    if placed.messages.has_errors() {
        return Err(refused(&placed.messages, input.name));
    }
    say(&placed.messages.to_string());
    Ok(())
}

fn defines(args: &Args) -> Result<Vec<Define>, String> {
    let mut list = Vec::new();
    for given in &args.define {
        let (name, text) = given.split_once('=').unwrap_or((given, "1"));
        let word = name.split('(').next().unwrap_or(name);
        let starts_well = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let ends_well = word.len() == name.len() || name.ends_with(')');
        if !starts_well || !ends_well || !word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(format!(
                "p4sched-p4c: -D {given}: a macro has a name: -D NAME, -D NAME=TEXT or -D 'NAME(x)=TEXT'\n"
            ));
        }
        if !args.undefine.iter().any(|u| u == word) {
            list.push(Define {
                name: name.to_owned(),
                text: text.to_owned(),
            });
        }
    }
    Ok(list)
}

/// Message of the operating system. If the path does not exist, `missing` says what kind of thing is missing.
fn reason(error: &io::Error, missing: &str) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => format!("there is no such {missing}"),
        io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}

fn write(file: &Path, bytes: &[u8]) -> Result<(), String> {
    let failed = |e: io::Error| {
        format!(
            "p4sched-p4c: cannot write {}: {}\n",
            file.display(),
            reason(&e, "directory")
        )
    };
    fs::write(file, bytes).map_err(failed)
}

/// Format for the suffix of a file name.
fn format_of(file: &Path) -> Option<Format> {
    match file.extension().and_then(|e| e.to_str()) {
        Some("txt" | "txtpb" | "pbtxt" | "p4info") => Some(Format::Text),
        Some("json") => Some(Format::Json),
        Some("bin") => Some(Format::Binary),
        _ => None,
    }
}

fn p4info_bytes(p4info: &P4Info, format: Format) -> Vec<u8> {
    let bytes = p4info.encode_to_vec();
    let descriptor = DESCRIPTORS.get_message_by_name("p4.config.v1.P4Info");
    let message = descriptor.and_then(|d| DynamicMessage::decode(d, bytes.as_slice()).ok());
    match (format, message) {
        (Format::Text, _) => p4info_text(p4info).into_bytes(),
        (Format::Json, Some(message)) => {
            let text = serde_json::to_string_pretty(&message).unwrap_or_default();
            (text + "\n").into_bytes()
        }
        _ => bytes,
    }
}
