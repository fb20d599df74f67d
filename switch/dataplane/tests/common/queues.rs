//! Queues that are always empty: every packet goes from ingress straight to egress.

use p4sched_dataplane::{Nanos, Outcomes, Pipeline, Port, Queueing};

/// Sends a frame in, and returns all frames that come out, in order, with their ports and queues. Recirculated frames
/// come out after another pass. `out` keeps all other results.
pub fn send(
    pipeline: &mut Pipeline,
    now: Nanos,
    queueing: Queueing,
    (port, frame): (Port, &[u8]),
    out: &mut Outcomes,
) -> Vec<(Port, u8, Vec<u8>)> {
    let mut sent = Vec::new();
    out.clear();
    pipeline.ingress(now, port, frame, out);
    let mut queue = 0;
    for _ in 0..100 {
        if !out.enqueue.is_empty() {
            let packet = out.enqueue.remove(0);
            queue = packet.priority;
            let queueing = Queueing {
                port: packet.port,
                qid: queue,
                ..queueing
            };
            pipeline.egress(now, packet.packet, queueing, out);
        } else if !out.recirculate.is_empty() {
            let packet = out.recirculate.remove(0);
            pipeline.reingress(now, packet, out);
        } else {
            return sent;
        }
        if let Some(transmit) = out.frame.take() {
            assert!(transmit.frame.len() < 1 << 16, "a frame that no port carries");
            sent.push((transmit.port, queue, transmit.frame.to_vec()));
        }
    }
    panic!("the packet does not leave the switch");
}
