//! One packet through ingress and egress: an L3 router, and the FDPA program of this project.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use p4sched_compiler::{EmbeddedIncludes, IncludeResolver, Input, Options, compile, embedded};
use p4sched_dataplane::{ActionCall, MatchKey, Outcomes, Pipeline, Queueing};

/// The include files of the compiler, then those of this project.
struct Includes;

impl IncludeResolver for Includes {
    fn include(&self, path: &str, from: &str, angled: bool) -> Option<(String, String)> {
        if embedded(path).is_some() {
            return EmbeddedIncludes.include(path, from, angled);
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4");
        let beside = Path::new(from).parent().unwrap_or(Path::new("")).join(path);
        [beside, root.join(path)].into_iter().find_map(|file| {
            let text = std::fs::read_to_string(&file).ok()?;
            Some((file.to_string_lossy().into_owned(), text))
        })
    }
}

fn load(program: &str, compiled: bool) -> Pipeline {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4").join(program);
    let text = std::fs::read_to_string(&file).expect("the program");
    let input = Input {
        name: &file.to_string_lossy(),
        text: &text,
    };
    let json = compile(&input, &Includes, &Options::default()).expect("a program that compiles");
    let mut pipeline = Pipeline::from_json(json.json.as_bytes()).expect("a program that loads");
    assert_eq!(compiled, compiled && pipeline.compile());
    pipeline
}

fn table(pipeline: &Pipeline, name: &str) -> p4sched_dataplane::TableId {
    pipeline
        .table_ids()
        .find(|&table| pipeline.table_name(table).ends_with(name))
        .expect("the table")
}

/// Adds an entry with this action of the table.
fn add(pipeline: &mut Pipeline, name: &str, prefix: [u8; 4], length: u16, action: &str, params: &[&[u8]]) {
    let table = table(pipeline, name);
    let control = pipeline
        .table_name(table)
        .rsplit_once('.')
        .expect("a control")
        .0
        .to_string();
    let action = pipeline
        .table_action(table, &format!("{control}.{action}"))
        .expect("the action");
    let call = ActionCall::Action {
        action,
        params: params.iter().map(|p| p.to_vec()).collect(),
    };
    pipeline
        .table_insert(table, &[MatchKey::Lpm(prefix.to_vec(), length)], 0, &call)
        .expect("an entry");
}

/// A TCP packet of a user; 1500 bytes.
fn frame(user: u8) -> Vec<u8> {
    let mut frame = vec![0; 1514];
    frame[12..24].copy_from_slice(&[8, 0, 0x45, 0, 0x05, 0xdc, 0, 0, 0, 0, 64, 6]);
    frame[26..34].copy_from_slice(&[10, 0, 0, user, 10, 0, 1, 1]);
    let sum: u32 = frame[14..34]
        .chunks(2)
        .map(|c| u32::from(u16::from_be_bytes([c[0], c[1]])))
        .sum();
    let checksum = !((sum & 0xffff) + (sum >> 16)) as u16;
    frame[24..26].copy_from_slice(&checksum.to_be_bytes());
    frame
}

fn forward(criterion: &mut Criterion) {
    let programs = ["fifo.p4", "fdpa.p4", "aifo.p4", "packs.p4"];
    for (program, compiled) in programs
        .into_iter()
        .flat_map(|program| [(program, false), (program, true)])
    {
        let mut pipeline = load(program, compiled);
        add(
            &mut pipeline,
            "ipv4_routes",
            [10, 0, 1, 0],
            24,
            "forward",
            &[&[2], &[2, 0, 0, 0, 0, 9]],
        );
        for user in 1..=20 {
            add(
                &mut pipeline,
                "users_by_prefix",
                [10, 0, 0, user],
                32,
                "set_user",
                &[&[user], &[1, 0]],
            );
        }
        let frames: Vec<Vec<u8>> = (1..=20).map(frame).collect();
        let mut out = Outcomes::default();
        let mut now = 0;
        let way = if compiled { "compiled" } else { "interpreted" };
        criterion.bench_function(&format!("{program} {way}"), |bencher| {
            bencher.iter(|| {
                now += 10_000;
                out.clear();
                pipeline.ingress(now, 1, &frames[(now / 10_000 % 20) as usize], &mut out);
                let packet = out.enqueue.pop().expect("a route");
                let queueing = Queueing {
                    port: packet.port,
                    enq_ns: now,
                    ..Queueing::default()
                };
                pipeline.egress(now, packet.packet, queueing, &mut out);
                let sent = out.frame.take().expect("a frame");
                pipeline.recycle_frame(black_box(sent.frame));
            });
        });
    }
}

criterion_group!(benches, forward);
criterion_main!(benches);
