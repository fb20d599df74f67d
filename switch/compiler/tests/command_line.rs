//! The command `p4sched-p4c`: its flags, the files that it writes, and its error messages.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use p4sched_proto::p4::config::v1::P4Info;
use prost::Message as _;
use tempfile::TempDir;

const PROGRAM: &str = "#include <core.p4>
#include <v1model.p4>
#ifndef WIDTH
#define WIDTH 8
#endif
header h_t { bit<WIDTH> a; }
struct headers_t { h_t h; }
struct meta_t { bit<8> x; }
parser P(packet_in p, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start { p.extract(hdr.h); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply {} }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    action forward(bit<9> port) { sm.egress_spec = port; }
    table t { key = { hdr.h.a: exact; } actions = { forward; } default_action = forward(1); }
    apply { t.apply(); }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) { apply {} }
control C(inout headers_t hdr, inout meta_t meta) { apply {} }
control D(packet_out p, in headers_t hdr) { apply { p.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

/// A directory with files, in which the command runs.
struct Place(TempDir);

impl Place {
    fn new(files: &[(&str, &str)]) -> Place {
        let place = Place(TempDir::new().expect("a directory"));
        for (name, text) in files {
            let file = place.path(name);
            fs::create_dir_all(file.parent().expect("a parent")).expect("a directory");
            fs::write(file, text).expect("a file");
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_p4sched-p4c"));
        command.args(args).current_dir(self.0.path());
        command.output().expect("the command runs")
    }

    /// Runs the command under another name.
    fn run_as(&self, name: &str, args: &[&str]) -> Output {
        let link = self.path(name);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_p4sched-p4c"), &link).expect("a link");
        let mut command = Command::new(link);
        command.args(args).current_dir(self.0.path());
        command.output().expect("the command runs")
    }

    /// Standard output of a run that succeeds without messages.
    #[track_caller]
    fn succeeds(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert_eq!(said, "");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Exit code and standard error of a run that fails.
    #[track_caller]
    fn fails(&self, args: &[&str]) -> (i32, String) {
        let output = self.run(args);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "");
        let code = output.status.code().expect("no signal");
        assert_ne!(code, 0);
        (code, String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn names_of_tables(info: &P4Info) -> Vec<String> {
    let preambles = info.tables.iter().filter_map(|t| t.preamble.as_ref());
    preambles.map(|p| p.name.clone()).collect()
}

fn json(file: &Path) -> serde_json::Value {
    serde_json::from_slice(&fs::read(file).expect("a file")).expect("JSON")
}

#[test]
fn o_says_where_the_json_goes() {
    let place = Place::new(&[("a.p4", PROGRAM)]);
    place.succeeds(&["a.p4", "-o", "out.json"]);
    assert_eq!(json(&place.path("out.json"))["program"], "a.p4");
}

#[test]
fn under_the_name_p4c_it_writes_to_a_folder() {
    let place = Place::new(&[("src/a.p4", PROGRAM)]);
    let args = "-b bmv2 -a v1model -x p4-16 -g --output out/put --p4runtime-files out/put/a.txtpb src/a.p4";
    let output = place.run_as("p4c", &args.split(' ').collect::<Vec<_>>());
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert!(json(&place.path("out/put/a.json"))["pipelines"].is_array());
    assert!(place.path("out/put/a.txtpb").is_file());
}

#[test]
fn under_the_name_p4c_a_file_name_says_a_format_or_the_option_does() {
    let place = Place::new(&[("a.p4", PROGRAM)]);
    let output = place.run_as("p4c", &["a.p4", "--p4runtime-files", "a.p4info.txtpb,a.xyz"]);
    let said = String::from_utf8(output.stderr).expect("text");
    let expected =
        "p4sched-p4c: --p4runtime-files a.xyz: its name says no format; names end in .txtpb, .txt, .json or .bin\n";
    assert_eq!(said, expected);
    assert!(!output.status.success() && !place.path("a.json").exists());
    let place = Place::new(&[("a.p4", PROGRAM)]);
    let args = ["a.p4", "--p4runtime-files", "a.xyz", "--p4runtime-format", "text"];
    assert!(place.run_as("p4c", &args).status.success());
    assert!(
        fs::read_to_string(place.path("a.xyz"))
            .expect("text")
            .contains("tables {")
    );
}

#[test]
fn options_of_p4c_that_are_not_followed_are_reported() {
    let place = Place::new(&[("a.p4", PROGRAM)]);
    let args = "--p4v 16 --top4 last --emit-externs --ndebug -o a.json a.p4";
    let output = place.run_as("p4c-bm2-ss", &args.split(' ').collect::<Vec<_>>());
    let said = String::from_utf8(output.stderr).expect("text");
    assert!(output.status.success());
    let told = said.lines().map(|line| line.split(' ').nth(1));
    assert!(
        told.eq([Some("--top4"), Some("--emit-externs"), Some("--ndebug")]),
        "{said}"
    );
    assert!(json(&place.path("a.json"))["pipelines"].is_array());
}

#[test]
fn the_name_of_a_file_says_the_format_of_p4info() {
    let place = Place::new(&[("a.p4", PROGRAM)]);
    place.succeeds(&["a.p4", "--p4runtime-files", "a.txtpb,a.json,a.bin"]);
    let text = fs::read_to_string(place.path("a.txtpb")).expect("text");
    assert!(text.contains("tables {\n  preamble {\n    id: "), "{text}");
    let info = P4Info::decode(fs::read(place.path("a.bin")).expect("a file").as_slice()).expect("a message");
    assert_eq!(names_of_tables(&info), ["I.t"]);
    assert_eq!(json(&place.path("a.json"))["tables"][0]["preamble"]["name"], "I.t");
}

#[test]
fn the_format_of_p4info_may_be_given() {
    let place = Place::new(&[("a.p4", PROGRAM)]);
    place.succeeds(&["a.p4", "--p4runtime-files", "a.txt", "--p4runtime-format", "binary"]);
    let info = P4Info::decode(fs::read(place.path("a.txt")).expect("a file").as_slice()).expect("a message");
    assert_eq!(names_of_tables(&info), ["I.t"]);
}

#[test]
fn without_output_files_a_program_is_only_checked() {
    let place = Place::new(&[("a.p4", PROGRAM)]);
    assert_eq!(place.succeeds(&["a.p4"]), "");
    assert_eq!(fs::read_dir(place.0.path()).expect("a directory").count(), 1);
}

#[test]
fn of_an_option_that_is_given_twice_the_last_counts_as_in_p4c() {
    let place = Place::new(&[("a.p4", PROGRAM)]);
    place.succeeds(&[
        "--target", "tofino", "a.p4", "-o", "a.json", "--target", "bmv2", "-o", "b.json",
    ]);
    assert!(place.path("b.json").exists() && !place.path("a.json").exists());
}

#[test]
fn the_flags_of_p4c_for_language_and_target_are_taken() {
    let place = Place::new(&[("a.p4", PROGRAM)]);
    place.succeeds(&[
        "--std", "p4-16", "--target", "bmv2", "--arch", "v1model", "a.p4", "-o", "a.json",
    ]);
    let (code, said) = place.fails(&["--std", "p4-14", "a.p4"]);
    assert_eq!(
        (code, said.as_str()),
        (1, "p4sched-p4c: --std p4-14 is not known; it is p4-16\n")
    );
    let (_, said) = place.fails(&["--target", "dpdk", "a.p4"]);
    assert_eq!(
        said,
        "p4sched-p4c: --target dpdk is not known; it is bmv2, tofino or tofino2\n"
    );
    let (_, said) = place.fails(&["--arch", "psa", "a.p4"]);
    assert_eq!(
        said,
        "p4sched-p4c: --arch psa is not known; it is v1model, tna or t2na\n"
    );
}

#[test]
fn a_target_has_its_own_architectures() {
    let place = Place::new(&[("a.p4", "GENERATION __TARGET_TOFINO__ END\n")]);
    let generation = |args: &[&str]| {
        let text = place.succeeds(&[args, &["-E", "a.p4"]].concat());
        text.trim().to_owned()
    };
    assert_eq!(generation(&[]), "GENERATION __TARGET_TOFINO__ END");
    for args in [
        &["--arch", "tna"][..],
        &["--target", "tofino"],
        &["--target", "tofino", "--arch", "tna"],
    ] {
        assert_eq!(generation(args), "GENERATION 1 END", "{args:?}");
    }
    for args in [
        &["--arch", "t2na"][..],
        &["--target", "tofino2"],
        &["--target", "tofino", "--arch", "t2na"],
    ] {
        assert_eq!(generation(args), "GENERATION 2 END", "{args:?}");
    }
    let (code, said) = place.fails(&["--target", "bmv2", "--arch", "tna", "a.p4"]);
    let expected = "p4sched-p4c: --target bmv2 has the architecture v1model, not tna\n";
    assert_eq!((code, said.as_str()), (1, expected));
    let (_, said) = place.fails(&["--target", "tofino", "--arch", "v1model", "a.p4"]);
    assert_eq!(
        said,
        "p4sched-p4c: --target tofino has the architecture tna or t2na, not v1model\n"
    );
}

#[test]
fn stages_prints_where_tables_are_instead_of_compiling() {
    let program = |arch: &str, apply: &str| {
        let text = include_str!("stages/mixed.p4");
        let start = text.find("        meta.flag =").expect("the first statement");
        let end = text.find("    }\n}\ncontrol ID(").expect("the end of ingress");
        let includes = format!("#include <core.p4>\n#include <{arch}.p4>\n");
        format!("{includes}{}{apply}\n{}", &text[..start], &text[end..])
    };
    let long = "meta.x = meta.x + hdr.h.d; ".repeat(13) + "hdr.h.d = meta.x;";
    let place = Place::new(&[
        ("short.p4", &program("tna", "hdr.h.a = 1;")),
        ("long.p4", &program("tna", &long)),
        ("second.p4", &program("t2na", &long)),
        ("v1.p4", PROGRAM),
    ]);
    let report = place.succeeds(&["--stages", "short.p4"]);
    let first = "short.p4: 2 of the 12 stages of Tofino 1 (ingress 1, egress 2)";
    assert!(report.starts_with(first), "{report}");
    let report = place.succeeds(&["--stages", "--arch", "t2na", "second.p4"]);
    assert!(
        report.starts_with("second.p4: 14 of the 20 stages of Tofino 2"),
        "{report}"
    );
    // Too many stages are an error, but the report is printed.
    let output = place.run(&["--stages", "long.p4"]);
    assert_eq!(output.status.code(), Some(1));
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(
        report.starts_with("long.p4: 14 of the 12 stages of Tofino 1"),
        "{report}"
    );
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("the 12 stages of Tofino 1 have no room for"), "{said}");
    let (code, said) = place.fails(&["--stages", "--arch", "v1model", "v1.p4"]);
    let expected = "p4sched-p4c: v1model has no stages; --stages takes --arch tna or t2na\n";
    assert_eq!((code, said.as_str()), (1, expected));
}

#[test]
fn d_defines_a_macro_and_u_takes_it_back() {
    let place = Place::new(&[("a.p4", PROGRAM)]);
    let width = |args: &[&str]| {
        place.succeeds(&[args, &["a.p4", "-o", "a.json"]].concat());
        let types = json(&place.path("a.json"))["header_types"].clone();
        let types = types.as_array().expect("a list").clone();
        let header = types.into_iter().find(|t| t["name"] == "h_t").expect("a type");
        header["fields"][0][1].as_u64().expect("a width")
    };
    assert_eq!(width(&[]), 8);
    assert_eq!(width(&["-D", "WIDTH=16"]), 16);
    assert_eq!(width(&["-DWIDTH=24"]), 24);
    assert_eq!(width(&["-DWIDTH=24", "-UWIDTH"]), 8);
    assert_eq!(width(&["-DTWICE(n)=(n*2)", "-DWIDTH=TWICE(16)"]), 32);
    assert_eq!(width(&["-DNONE=", "-DWIDTH=NONE 24 NONE"]), 24);
}

#[test]
fn included_files_are_found_beside_the_program_and_in_the_i_directories_in_order() {
    let main = |include: &str| PROGRAM.replace("#ifndef WIDTH", &format!("#include {include}\n#ifndef WIDTH"));
    let place = Place::new(&[
        ("src/quoted.p4", &main("\"width.p4\"")),
        ("src/angled.p4", &main("<width.p4>")),
        ("src/width.p4", "#define WIDTH 16\n"),
        ("first/width.p4", "#define WIDTH 24\n"),
        ("second/width.p4", "#define WIDTH 32\n"),
    ]);
    let width = |program: &str| {
        let text = place.succeeds(&["-I", "first", "-Isecond", "-E", program]);
        let after = text.split("header h_t { bit<").nth(1).expect("a header").to_owned();
        after.split('>').next().expect("a width").to_owned()
    };
    assert_eq!(width("src/quoted.p4"), "16");
    assert_eq!(width("src/angled.p4"), "24");
}

#[test]
fn include_next_goes_on_behind_the_directory_of_the_file() {
    let place = Place::new(&[
        ("a.p4", "#include <x.p4>\nconst bit<8> n = N;\n"),
        ("first/x.p4", "#include_next <x.p4>\n#define N (M + 1)\n"),
        ("second/x.p4", "#define M 2\n"),
    ]);
    let text = place.succeeds(&["-I", "first", "-I", "second", "-E", "a.p4"]);
    assert!(text.contains("const bit<8> n = (2 + 1);"), "{text}");
    // The file of the second directory comes first, and `N` stays.
    let text = place.succeeds(&["-I", "second", "-I", "first", "-E", "a.p4"]);
    assert!(text.contains("const bit<8> n = N;"), "{text}");
}

#[test]
fn e_writes_the_text_that_the_preprocessor_leaves() {
    let place = Place::new(&[("a.p4", "#define N 3\n#if N > 2\nconst bit<8> x = N;\n#endif\n")]);
    assert_eq!(place.succeeds(&["-E", "a.p4"]), "const bit<8> x = 3;\n");
    // The output can be compiled again.
    let place = Place::new(&[("a.p4", PROGRAM)]);
    let text = place.succeeds(&["-E", "a.p4"]);
    fs::write(place.path("b.p4"), text).expect("a file");
    place.succeeds(&["b.p4", "-o", "b.json"]);
}

#[test]
fn a_message_shows_the_place_and_the_line() {
    let place = Place::new(&[("a.p4", &PROGRAM.replace("hdr.h.a: exact", "hdr.h.b: exact"))]);
    let (code, said) = place.fails(&["a.p4", "-o", "a.json"]);
    let expected = "a.p4:15:29: no field 'b' in h_t; did you mean 'a'?
        table t { key = { hdr.h.b: exact; } actions = { forward; } default_action = forward(1); }
                                ^
p4sched-p4c: 1 error(s) in a.p4
";
    assert_eq!((code, said.as_str()), (1, expected));
    assert!(!place.path("a.json").exists());
}

#[test]
fn warnings_are_shown_disabled_or_made_errors() {
    let place = Place::new(&[("a.p4", &PROGRAM.replace("forward(1)", "forward(512)"))]);
    let warning = "warning: 512 does not fit in bit<9>; it becomes 0 [overflow]";
    let output = place.run(&["a.p4", "-o", "a.json"]);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains(warning));
    place.succeeds(&["a.p4", "--Wdisable"]);
    place.succeeds(&["a.p4", "--Wdisable=overflow"]);
    let (_, said) = place.fails(&["a.p4", "--Werror", "-o", "b.json"]);
    assert!(said.contains("512 does not fit in bit<9>"), "{said}");
    assert!(!place.path("b.json").exists());
    place.fails(&["a.p4", "--Werror=unused", "--Werror=overflow"]);
    place.run(&["a.p4", "--Werror=unused", "-o", "c.json"]);
    assert!(place.path("c.json").exists());
}

#[test]
fn files_that_cannot_be_read_or_written_are_named() {
    let place = Place::new(&[("a.p4", PROGRAM), ("dir/x", "")]);
    let (code, said) = place.fails(&["nowhere.p4"]);
    assert_eq!(
        (code, said.as_str()),
        (1, "p4sched-p4c: cannot read nowhere.p4: there is no such file\n")
    );
    let (_, said) = place.fails(&["dir"]);
    assert_eq!(said, "p4sched-p4c: cannot read dir: it is a directory\n");
    let (_, said) = place.fails(&["a.p4", "-o", "none/a.json"]);
    assert_eq!(
        said,
        "p4sched-p4c: cannot write none/a.json: there is no such directory\n"
    );
    let (_, said) = place.fails(&["a.p4", "-o", "dir"]);
    assert_eq!(said, "p4sched-p4c: cannot write dir: it is a directory\n");
    let (_, said) = place.fails(&["a.p4", "--p4runtime-files", "none/a.txtpb"]);
    assert_eq!(
        said,
        "p4sched-p4c: cannot write none/a.txtpb: there is no such directory\n"
    );
}

#[test]
fn a_program_and_known_flags_are_needed() {
    let place = Place::new(&[("a.p4", PROGRAM)]);
    let (code, said) = place.fails(&[]);
    assert_eq!(code, 2);
    assert!(said.contains("<PROGRAM>"), "{said}");
    let (code, said) = place.fails(&["a.p4", "--p4runtime-fils", "x"]);
    assert_eq!(code, 2);
    assert!(said.contains("--p4runtime-files"), "{said}");
    let (code, said) = place.fails(&["a.p4", "b.p4"]);
    assert_eq!(code, 2);
    assert!(said.contains("unexpected argument 'b.p4'"), "{said}");
    let (_, said) = place.fails(&["a.p4", "--p4runtime-format", "xml"]);
    assert!(said.contains("[possible values: text, binary, json]"), "{said}");
}

#[test]
fn a_define_without_a_name_is_an_error() {
    let place = Place::new(&[("a.p4", PROGRAM)]);
    let (code, said) = place.fails(&["a.p4", "-D", "=3"]);
    assert_eq!(
        (code, said.as_str()),
        (
            1,
            "p4sched-p4c: -D =3: a macro has a name: -D NAME, -D NAME=TEXT or -D 'NAME(x)=TEXT'\n"
        )
    );
    let (_, said) = place.fails(&["a.p4", "-D", "8bits"]);
    assert_eq!(
        said,
        "p4sched-p4c: -D 8bits: a macro has a name: -D NAME, -D NAME=TEXT or -D 'NAME(x)=TEXT'\n"
    );
}

#[test]
fn a_program_that_is_not_text_gets_a_message() {
    let place = Place::new(&[]);
    fs::write(place.path("a.p4"), [0xff, 0xfe, 0, 1, 2]).expect("a file");
    let (code, said) = place.fails(&["a.p4"]);
    assert_eq!(code, 1);
    assert!(said.starts_with("a.p4:1:1: "), "{said}");
}

#[test]
fn a_full_disk_is_reported_and_messages_that_cannot_be_written_are_not_missed() {
    let place = Place::new(&[("p.p4", PROGRAM)]);
    let run = |words: &[&str], stdout: bool| {
        let full = fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .expect("Linux has it");
        let mut command = Command::new(env!("CARGO_BIN_EXE_p4sched-p4c"));
        command.args(words).current_dir(place.0.path());
        if stdout {
            command.stdout(full)
        } else {
            command.stderr(full)
        };
        command.output().expect("the command runs")
    };
    let preprocessed = run(&["-E", "p.p4"], true);
    assert_eq!(preprocessed.status.code(), Some(1));
    let message = String::from_utf8_lossy(&preprocessed.stderr).into_owned();
    assert!(
        message.starts_with("p4sched-p4c: cannot write to standard output"),
        "{message}"
    );
    assert_eq!(run(&["p.p4", "-o", "p.json"], false).status.code(), Some(0));
    assert_eq!(run(&["none.p4"], false).status.code(), Some(1));
}
