//! Time for one enqueue and one dequeue, with queues that are about full.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use p4sched_traffic_manager::{
    DISCIPLINES, Discipline, LEVELS, Levels, NodeConfig, Offered, PortConfig, TrafficManager, TreeConfig, name, reads,
};

/// An item as large as a packet of the data plane.
type Item = [u64; 10];

const PACKETS: u64 = 1000;

fn pass(tm: &mut TrafficManager<Item>, ports: u16, in_tree: bool, now: &mut u64, random: &mut u64) {
    for _ in 0..PACKETS {
        // One packet per 1.2 µs / ports; 1500 bytes take 1.2 µs at 10 Gbit/s. So all ports are fully loaded.
        *now += 1200 / u64::from(ports);
        *random = random
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        while let Some(departure) = tm.dequeue(*now) {
            black_box(departure.arrival_ns);
        }
        let bits = *random >> 32;
        black_box(tm.enqueue(
            *now,
            Offered {
                port: (bits % u64::from(ports)) as u16,
                priority: (bits >> 5 & 7) as u8,
                len: 1500,
                user: bits >> 8 & 1023,
                rank: bits >> 8 & 0xffff,
                levels: in_tree.then(|| {
                    Box::new(Levels {
                        leaf: 1 + (bits >> 20 & 1),
                        ranks: [bits >> 8 & 0xffff; LEVELS - 1],
                    })
                }),
                item: [bits; 10],
            },
        ));
    }
}

fn disciplines(c: &mut Criterion) {
    let mut group = c.benchmark_group("packet");
    group.throughput(Throughput::Elements(PACKETS));
    // A root that is a PIFO and two leaves, for the tree discipline.
    let nodes = [Discipline::Pifo, Discipline::Fifo, Discipline::Drr];
    let tree = TreeConfig {
        nodes: nodes.map(|node| NodeConfig::new(0, node)).to_vec(),
    };
    for &discipline in DISCIPLINES {
        for ports in [1, 4, 32] {
            let mut tm = TrafficManager::new();
            for port in 0..ports {
                let config = PortConfig {
                    rate_bps: 9_900_000_000,
                    delay_ns: 1_000_000,
                    discipline,
                    buffer_packets: 1000,
                    tree: tree.clone(),
                    ..PortConfig::default()
                };
                tm.set_port(0, port, config).expect("the configuration is valid");
            }
            let in_tree = reads(&tm.port_config(0)).leaf;
            let (mut now, mut random) = (0, 1);
            group.bench_function(BenchmarkId::new(name(discipline), format!("{ports} ports")), |b| {
                b.iter(|| pass(&mut tm, ports, in_tree, &mut now, &mut random));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, disciplines);
criterion_main!(benches);
