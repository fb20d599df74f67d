//! Packets a second through the engine with the programs of `p4/`, compiled and interpreted, on one core; and how long a program
//! takes to load.

mod ready;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ready::{Ready, SCHEMES};

const PACKETS: usize = 1000;

fn packets(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("packets");
    group.throughput(Throughput::Elements(PACKETS as u64));
    for (scheme, interpret) in SCHEMES.into_iter().flat_map(|scheme| [(scheme, false), (scheme, true)]) {
        let mut ready = Ready::new(scheme, interpret);
        ready.receive(PACKETS);
        let way = if interpret { "interpreted" } else { "compiled" };
        group.bench_function(format!("{} {way}", scheme.name()), |bencher| {
            bencher.iter(|| ready.receive(PACKETS));
        });
    }
    group.finish();
    for scheme in SCHEMES {
        let program = ready::program(scheme);
        criterion.bench_function(&format!("load {}", scheme.name()), |bencher| {
            bencher.iter(|| program.pipeline().expect("a program that loads"));
        });
    }
}

criterion_group!(benches, packets);
criterion_main!(benches);
