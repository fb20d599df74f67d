//! Lookup of a packet in one table, by number of entries: time of a lookup, and memory of an entry.
//!
//!     GLIBC_TUNABLES=glibc.malloc.hugetlb=1 cargo bench --workspace --bench tables
//!
//! The variable gives the benchmark memory in large pages, as the switch has it. Prints JSON. The program is
//! `p4runtime/benches/large.p4`; the type of a frame chooses the table. Keys come in random order, so every lookup in a
//! large table misses the caches.

use std::fs;
use std::hint::black_box;
use std::path::Path;

use p4sched_compiler::{EmbeddedIncludes, Input, Options, compile};
use p4sched_dataplane::{ActionCall, MatchKey, Outcomes, Pipeline};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

const LOOKUPS: u32 = 300_000;
const ROUNDS: usize = 3;
const PAGE_BYTES: u64 = 4096;

/// A table and its entries.
struct Kind {
    table: &'static str,
    /// Type of the frames that use this table.
    frames: u8,
    sizes: &'static [u32],
    key: fn(u32) -> (Vec<MatchKey>, i32),
}

const KINDS: [Kind; 3] = [
    Kind {
        table: "LargeIngress.exact_flows",
        frames: 1,
        sizes: &[1_000, 10_000, 100_000, 1_000_000],
        key: |number| (vec![MatchKey::Exact(spread(number).to_be_bytes().to_vec())], 0),
    },
    Kind {
        table: "LargeIngress.prefixes",
        frames: 2,
        sizes: &[1_000, 10_000, 100_000, 500_000],
        key: |number| {
            (
                vec![MatchKey::Lpm(spread(number).to_be_bytes().to_vec(), length(number))],
                0,
            )
        },
    },
    Kind {
        table: "LargeIngress.classes",
        frames: 3,
        sizes: &[10, 100, 1_000, 10_000],
        key: |number| {
            let mask = (u32::MAX << (number % 16)).to_be_bytes().to_vec();
            let any = MatchKey::Ternary(vec![0; 4], vec![0; 4]);
            let destination = MatchKey::Ternary(spread(number).to_be_bytes().to_vec(), mask);
            let ports = MatchKey::Range(vec![4, 0], (1024 + number as u16 % 60_000).to_be_bytes().to_vec());
            (vec![any, destination, ports], 1 + number.cast_signed())
        },
    },
];

/// Spreads numbers over all values; it is one-to-one.
fn spread(number: u32) -> u32 {
    number.wrapping_mul(0x9e37_79b1)
}

/// Prefix length: half of the prefixes have 24 bits, the others 20 to 32.
fn length(number: u32) -> u16 {
    if number.is_multiple_of(2) {
        24
    } else {
        20 + (number / 2 % 13) as u16
    }
}

fn load(compiled: bool) -> Pipeline {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../p4runtime/benches/large.p4");
    let text = fs::read_to_string(&file).expect("the program");
    let input = Input {
        name: &file.to_string_lossy(),
        text: &text,
    };
    let json = compile(&input, &EmbeddedIncludes, &Options::default())
        .expect("it compiles")
        .json;
    let mut pipeline = Pipeline::from_json(json.as_bytes()).expect("it loads");
    assert_eq!(compiled, compiled && pipeline.compile());
    pipeline
}

fn fill(pipeline: &mut Pipeline, kind: &Kind, numbers: std::ops::Range<u32>) {
    let table = pipeline.table(kind.table).expect("the table");
    let action = pipeline
        .table_action(table, "LargeIngress.forward")
        .expect("the action");
    for number in numbers {
        let (key, priority) = (kind.key)(number);
        let params = vec![(number as u16 % 511).to_be_bytes().to_vec()];
        let call = ActionCall::Action { action, params };
        pipeline.table_insert(table, &key, priority, &call).expect("an entry");
    }
}

/// Nanoseconds for a packet whose destination matches an entry; the best of several rounds.
fn look_up(pipeline: &mut Pipeline, kind: &Kind, entries: u32) -> f64 {
    let mut frame = [0u8; 60];
    frame[13] = kind.frames;
    // Port 1024 is in every range.
    frame[24..26].copy_from_slice(&[4, 0]);
    let mut out = Outcomes::default();
    let mut round = || {
        let begun = cpu_ns();
        let mut random = 1u32;
        for now in 0..LOOKUPS {
            random ^= random << 13;
            random ^= random >> 17;
            random ^= random << 5;
            frame[18..22].copy_from_slice(&spread(random % entries).to_be_bytes());
            out.clear();
            pipeline.ingress(u64::from(now), 1, &frame, &mut out);
            assert_eq!(black_box(&out).enqueue.len(), 1, "an entry matches");
        }
        (cpu_ns() - begun) / f64::from(LOOKUPS)
    };
    (0..ROUNDS).map(|_| round()).fold(f64::INFINITY, f64::min)
}

/// CPU time of this thread. Other work on the machine matters only through the caches.
fn cpu_ns() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

fn resident_bytes() -> u64 {
    let statm = fs::read_to_string("/proc/self/statm").expect("Linux");
    statm
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<u64>().ok())
        .expect("a number")
        * PAGE_BYTES
}

fn measure(kind: &Kind, compiled: bool) -> Value {
    let mut pipeline = load(compiled);
    let before = resident_bytes();
    let (mut filled, mut sizes) = (0, Vec::new());
    for &size in kind.sizes {
        let begun = cpu_ns();
        fill(&mut pipeline, kind, filled..size);
        let insert_ns = (cpu_ns() - begun) / f64::from(size - filled);
        filled = size;
        let packet_ns = look_up(&mut pipeline, kind, size);
        sizes.push(json!({"entries": size, "packet_ns": packet_ns, "insert_ns": insert_ns}));
    }
    let bytes = (resident_bytes() - before) as f64 / f64::from(filled);
    json!({"table": kind.table, "compiled": compiled, "sizes": sizes, "bytes_per_entry": bytes})
}

fn main() {
    let kinds = KINDS
        .iter()
        .flat_map(|kind| [true, false].map(|compiled| measure(kind, compiled)));
    println!("{}", Value::from_iter(kinds));
}
