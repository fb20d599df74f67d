//! Compares the preprocessor with the C preprocessor, called as p4c calls it, on generated programs.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use super::generator::Random;
use crate::{
    IncludeResolver, Input, Options, preprocess,
    syntax::{lexer, token::Tok},
};

/// Files that the programs include.
const FILES: [(&str, &str); 6] = [
    (
        "inc/a.p4",
        "in_a A B __FILE__ __INCLUDE_LEVEL__\n#undef A\n#define A from_a\n",
    ),
    (
        "inc/b.p4",
        "#ifndef GUARD\n#define GUARD\nin_b F(2)\n#include \"c.p4\"\n#endif",
    ),
    ("inc/c.p4", "#pragma once\nin_c __LINE__ F"),
    ("inc2/a.p4", "in_second_a F(A,B)\n"),
    ("inc2/d.p4", "in_d\n#include_next <d.p4>\n"),
    ("inc2/e.p4", "#import <d.p4>\n#if 1\n#define E(x) x ## A\n#endif\n"),
];

/// Files in a directory, found in the same way as by `cpp -I inc -I inc2`.
struct Beside<'a>(&'a Path);

impl Beside<'_> {
    fn find(&self, path: &str, directories: &[&str]) -> Option<(String, String)> {
        directories.iter().find_map(|directory| {
            let name = format!("{directory}{path}");
            let text = fs::read_to_string(self.0.join(&name)).ok()?;
            Some((name, text))
        })
    }
}

impl IncludeResolver for Beside<'_> {
    fn include(&self, path: &str, from: &str, angled: bool) -> Option<(String, String)> {
        let beside = from.rfind('/').map_or("", |end| &from[..=end]);
        let all = [beside, "inc/", "inc2/"];
        self.find(path, if angled { &all[1..] } else { &all })
    }

    fn include_next(&self, path: &str, from: &str) -> Option<(String, String)> {
        self.find(path, if from.starts_with("inc/") { &["inc2/"] } else { &[] })
    }
}

/// Tokens of the output, each with a flag for the start of a line; `None` after an error.
type Left = Option<Vec<(Tok, bool)>>;

fn left(text: &str) -> Left {
    // In a string over several lines, cpp replaces directives by blanks.
    let bare = |tok| match tok {
        Tok::Str(text) if text.contains('\n') => Tok::Str(text.split_whitespace().collect::<Vec<_>>().join(" ").into()),
        tok => tok,
    };
    let tokens = lexer::tokens(text, 0).into_iter();
    Some(tokens.map(|token| (bare(token.tok), token.starts_line)).collect())
}

fn by_cpp(directory: &Path, text: &str) -> Left {
    fs::write(directory.join("main.p4"), text).unwrap();
    let mut command = Command::new("cpp");
    command.args([
        "-C",
        "-undef",
        "-nostdinc",
        "-x",
        "assembler-with-cpp",
        "-I",
        "inc",
        "-I",
        "inc2",
        "main.p4",
    ]);
    let output = command.current_dir(directory).stderr(Stdio::null()).output().unwrap();
    left(&String::from_utf8_lossy(&output.stdout)).filter(|_| output.status.success())
}

fn by_us(directory: &Path, text: &str) -> Left {
    let input = Input { name: "main.p4", text };
    let result = preprocess(&input, &Beside(directory), &Options::default());
    result.ok().and_then(|text| left(&text))
}

/// The program without all lines that the difference does not need.
fn shrunk(directory: &Path, text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let mut at = 0;
    while at < lines.len() {
        let line = lines.remove(at);
        let shorter = lines.join("\n") + "\n";
        if by_cpp(directory, &shorter) == by_us(directory, &shorter) {
            lines.insert(at, line);
            at += 1;
        }
    }
    lines.join("\n") + "\n"
}

/// Most differences that are shown.
const MOST_DIFFERENCES: usize = 4;

/// Runs `PROPTEST_CASES` programs; 60 by default.
#[test]
fn generated_programs_become_what_cpp_makes_of_them() {
    if Command::new("cpp").arg("--version").output().is_err() {
        eprintln!("skipped: there is no cpp on this machine");
        return;
    }
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let cases = number("PROPTEST_CASES").unwrap_or(60);
    let seed = number("PROPTEST_RNG_SEED").unwrap_or(1);
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in FILES {
        let file = directory.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let (mut taken, mut refused) = (0, 0);
    let mut differences = Vec::new();
    for case in 0..cases {
        let mut random = Random::new(seed, case);
        let text = random.lines(3, 24);
        let (theirs, ours) = (by_cpp(directory.path(), &text), by_us(directory.path(), &text));
        if theirs != ours {
            let text = shrunk(directory.path(), &text);
            let (theirs, ours) = (by_cpp(directory.path(), &text), by_us(directory.path(), &text));
            differences.push(format!(
                "case {case} of seed {seed}\n{text}\ncpp:  {theirs:?}\nours: {ours:?}\n"
            ));
        }
        if differences.len() == MOST_DIFFERENCES {
            break;
        }
        *if theirs.is_some() { &mut taken } else { &mut refused } += 1;
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(
        taken > cases / 4 && refused > cases / 20,
        "{taken} taken, {refused} refused"
    );
}
