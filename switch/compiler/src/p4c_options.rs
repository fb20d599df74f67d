//! Options of `p4c` and `p4c-bm2-ss` that are accepted without effect.
//!
//! A build script with these options works as with p4c, and gets a note about each missing effect.

use std::ffi::OsString;

/// Argument of an option.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    /// A value: the next argument, after `=`, or directly after a short option.
    Value,
    /// A value after `=`, or none.
    Joined,
    /// A value directly after the option, or none.
    Attached,
}

use Takes::{Attached, Joined, Nothing, Value};

const NO_RULES: &str = "no rules for make are written";
const NO_PASSES: &str = "this compiler has other passes than p4c";
const NO_DUMP: &str = "this compiler has another intermediate representation than p4c";
const NO_LOG: &str = "the compiler keeps no log";
const STAY: &str = "annotations stay";
const NO_DEBUGGER: &str = "no debugger is started";
const ALWAYS: &str = "this is done, or not done, always";

/// Names, arguments and missing effect of each option. An empty text: no effect is missing.
const NOT_FOLLOWED: [(&str, Takes, &str); 69] = [
    ("-M", Nothing, NO_RULES),
    ("-MD", Nothing, NO_RULES),
    ("-MF", Value, NO_RULES),
    ("-MG", Nothing, NO_RULES),
    ("-MP", Nothing, NO_RULES),
    ("-MT", Value, NO_RULES),
    ("-MQ", Value, NO_RULES),
    ("-W", Value, "the preprocessor has no such warning"),
    (
        "--nocpp",
        Nothing,
        "the text is preprocessed, which changes nothing in a preprocessed one",
    ),
    (
        "-e",
        Nothing,
        "the text is preprocessed, which changes nothing in a preprocessed one",
    ),
    ("--disable-annotations", Joined, STAY),
    ("--disable-annotation", Joined, STAY),
    ("--disable-pragmas", Joined, STAY),
    ("--disable-pragma", Joined, STAY),
    ("--Winfo", Joined, "there are warnings and errors only"),
    ("--Wwarn", Joined, "a warning is a warning already"),
    ("--maxErrorCount", Value, "at most 50 errors are shown"),
    ("-T", Value, NO_LOG),
    ("-v", Nothing, NO_LOG),
    ("--debug", Nothing, NO_LOG),
    ("--top4", Value, NO_DUMP),
    ("--dump", Value, NO_DUMP),
    ("--toJSON", Value, NO_DUMP),
    ("--toJson", Value, NO_DUMP),
    ("--fromJSON", Value, NO_DUMP),
    ("--testJson", Nothing, NO_DUMP),
    (
        "--pp",
        Value,
        "the program is not printed; -E prints the preprocessed text",
    ),
    ("--doNotEmitIncludes", Nothing, NO_DUMP),
    ("--excludeFrontendPasses", Value, NO_PASSES),
    ("--excludeMidendPasses", Value, NO_PASSES),
    ("--listFrontendPasses", Nothing, NO_PASSES),
    ("--listMidendPasses", Nothing, NO_PASSES),
    ("--parser-inline-opt", Nothing, ALWAYS),
    ("--loopsUnroll", Nothing, ALWAYS),
    ("--ndebug", Nothing, ALWAYS),
    ("-O", Attached, ALWAYS),
    ("--metrics", Value, "no metrics are written"),
    (
        "--emit-externs",
        Nothing,
        "no extern outside of v1model can be run, and none is written",
    ),
    (
        "--p4runtime-entries-file",
        Value,
        "static entries are in the JSON, and not written as P4Runtime",
    ),
    (
        "--p4runtime-entries-files",
        Value,
        "static entries are in the JSON, and not written as P4Runtime",
    ),
    ("-g", Nothing, ""),
    ("-c", Nothing, ""),
    ("--compile", Nothing, ""),
    ("-###", Nothing, "there are no commands to print"),
    ("--test-only", Nothing, "there are no commands to print"),
    ("--gdb", Nothing, NO_DEBUGGER),
    ("--cgdb", Nothing, NO_DEBUGGER),
    ("--lldb", Nothing, NO_DEBUGGER),
    ("-S", Nothing, ""),
    ("-s", Nothing, ""),
    ("-Xpreprocessor", Value, "there is no other preprocessor"),
    ("-Xp4c", Value, "there is no other compiler"),
    ("-Xassembler", Value, "there is no assembler"),
    ("-Xlinker", Value, "there is no linker"),
    ("--create-graphs", Nothing, "no graphs are written"),
    ("--no-link", Nothing, ""),
    ("--archive", Joined, "no archive is written"),
    ("--archive-source", Nothing, "no archive is written"),
    ("--display-power-budget", Nothing, "the chip's power is not computed"),
    ("--bf-rt-schema", Value, "BF Runtime is not known; P4Runtime is"),
    ("--no-bf-rt-schema", Nothing, ""),
    ("--backward-compatible", Nothing, ALWAYS),
    ("--auto-init-metadata", Nothing, ALWAYS),
    ("--parser-timing-reports", Nothing, "no report is written"),
    ("--log-hashes", Nothing, "no report is written"),
    ("--ir-to-json", Value, NO_DUMP),
    ("--verbose", Value, NO_LOG),
    ("--p4runtime-force-std-externs", Nothing, ALWAYS),
    ("--program-name", Value, "the outputs are named for the file"),
];

/// Options with which p4c prints lists. Here they print the help.
const HELP: [&str; 9] = [
    "--help-targets",
    "--target-help",
    "--targets-help",
    "--help-pragmas",
    "--pragma-help",
    "--pragmas-help",
    "--help-annotations",
    "--annotation-help",
    "--annotations-help",
];

/// Removes these options from the arguments. Returns one line for each missing effect.
pub fn without(arguments: impl IntoIterator<Item = OsString>) -> (Vec<OsString>, Vec<String>) {
    let (mut rest, mut lines) = (Vec::new(), Vec::new());
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        if HELP.iter().any(|&asked| argument == asked) {
            rest.push("--help".into());
            continue;
        }
        let found = argument.to_str().and_then(|text| {
            NOT_FOLLOWED.iter().find_map(|&(name, takes, why)| {
                let behind = text.strip_prefix(name)?;
                let joined = !name.starts_with("--") && takes == Value || takes == Attached;
                let fits = behind.is_empty() || joined || (takes != Nothing && behind.starts_with('='));
                fits.then_some((name, takes == Value && behind.is_empty(), why))
            })
        });
        let Some((name, next, why)) = found else {
            rest.push(argument);
            continue;
        };
        if next {
            arguments.next();
        }
        if !why.is_empty() {
            lines.push(format!("p4sched-p4c: {name} is not followed: {why}\n"));
        }
    }
    (rest, lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> (Vec<String>, usize) {
        let (rest, lines) = without(line.split(' ').map(OsString::from));
        (
            rest.into_iter().map(|text| text.into_string().expect("text")).collect(),
            lines.len(),
        )
    }

    #[test]
    fn options_go_with_their_values_and_nothing_else() {
        let kept = |rest: &[&str], lines| (rest.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>(), lines);
        assert_eq!(split("--dump out -o a.json a.p4"), kept(&["-o", "a.json", "a.p4"], 1));
        assert_eq!(split("--dump=out a.p4"), kept(&["a.p4"], 1));
        assert_eq!(split("-Tlexer:4 -O2 -g a.p4"), kept(&["a.p4"], 2));
        assert_eq!(split("-O -M --pp b.p4 a.p4"), kept(&["a.p4"], 3));
        assert_eq!(split("--target-help"), kept(&["--help"], 0));
        assert_eq!(split("--disable-annotations a.p4"), kept(&["a.p4"], 1));
        assert_eq!(split("-MD -MF x.d -I inc a.p4"), kept(&["-I", "inc", "a.p4"], 2));
        assert_eq!(split("--dumps -o -Werror a.p4").0, ["--dumps", "-o", "a.p4"]);
    }

    #[test]
    fn every_option_is_there_once() {
        for (at, (name, ..)) in NOT_FOLLOWED.iter().enumerate() {
            assert!(NOT_FOLLOWED[..at].iter().all(|(other, ..)| other != name), "{name}");
        }
    }
}
