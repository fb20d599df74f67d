//! Time for one packet through the whole switch: parser, ingress, queue, shaped link, egress, deparser, delay.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use p4sched_compiler::{EmbeddedIncludes, Input, Options, compile};
use p4sched_engine::{
    DigestMessage, Discipline, Engine, Frame, FrameSink, Nanos, Output, Pipeline, Port, PortConfig, PortSettings,
};

struct Sink;

impl FrameSink for Sink {
    fn transmit(&mut self, port: Port, frame: &mut Frame, due: Nanos) {
        black_box((port, frame.len(), due));
    }
}

impl Output for Sink {
    fn packet_in(&mut self, frame: &[u8]) {
        black_box(frame.len());
    }

    fn digest(&mut self, digest: DigestMessage) {
        black_box(digest);
    }
}

const PACKETS: u64 = 1000;

fn switch(discipline: Discipline) -> Engine {
    let mut engine = Engine::new();
    let source = Input {
        name: "probe.p4",
        text: include_str!("../tests/programs/probe.p4"),
    };
    let compiled = compile(&source, &EmbeddedIncludes, &Options::default()).expect("the program compiles");
    let program = Pipeline::from_json(compiled.json.as_bytes()).expect("the program is valid");
    engine
        .load(program, &["depths".to_string()])
        .expect("the program has the register");
    let config = PortConfig {
        rate_bps: 10_000_000_000,
        delay_ns: 1_000_000,
        discipline,
        ..PortConfig::default()
    };
    let fields = (Some("meta.user".to_string()), Some("meta.rank".to_string()));
    engine
        .set_port(
            2,
            PortSettings {
                config,
                user_field: fields.0,
                rank_field: fields.1,
                ..PortSettings::default()
            },
        )
        .expect("the settings are valid");
    engine
}

fn packets(c: &mut Criterion) {
    let mut group = c.benchmark_group("switch");
    group.throughput(Throughput::Elements(PACKETS));
    let disciplines = [
        ("strict", Discipline::Strict),
        ("fifo", Discipline::Fifo),
        ("drr", Discipline::Drr),
        ("afq", Discipline::Afq),
        ("stfq", Discipline::Stfq),
        ("pifo", Discipline::Pifo),
    ];
    for (name, discipline) in disciplines {
        let mut engine = switch(discipline);
        // Operation 1 (forward to port 2), then priority, user and rank.
        let mut frame = vec![0u8; 1500];
        frame[..2].copy_from_slice(&[1, 2]);
        let (mut now, mut random) = (0, 1u64);
        group.bench_function(name, |b| {
            b.iter(|| {
                for _ in 0..PACKETS {
                    // 1500 bytes take 1.2 µs, so the link is about full.
                    now += 1200;
                    random = random
                        .wrapping_mul(6364136223846793005)
                        .wrapping_add(1442695040888963407);
                    frame[2..6].copy_from_slice(&[(random >> 61) as u8, (random >> 40) as u8, 0, (random >> 32) as u8]);
                    engine.receive(now, 1, &frame, &mut Sink);
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, packets);
criterion_main!(benches);
