//! The metadata that a Tofino puts in front of a frame, before ingress and before egress. Widths and order are those of
//! the public headers (p4c's tofino1_base.p4 and tofino2_base.p4).

use crate::bits::{Writer, mask};
use crate::ids::{Nanos, Port};

/// A value that no field can have: the program has not written the field. Bit 63 is beyond the width of all fields that
/// use this mark.
pub(crate) const UNWRITTEN: u64 = 1 << 63;

/// `ingress_intrinsic_metadata_t`, in bytes.
const INTRINSIC_BYTES: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chip {
    /// Architecture `tna`.
    Tofino1,
    /// Architecture `t2na`.
    Tofino2,
}

impl Chip {
    /// Bytes of metadata in front of a frame at ingress.
    pub fn ingress_bytes(self) -> usize {
        INTRINSIC_BYTES + self.port_metadata_bytes()
    }

    /// Bytes between the ingress metadata and the frame: port metadata, or the data of a resubmission.
    fn port_metadata_bytes(self) -> usize {
        match self {
            Chip::Tofino1 => 8,
            Chip::Tofino2 => 24,
        }
    }

    /// True for ports whose frames come back at ingress: one port in each of the four pipes.
    pub fn recirculates(self, port: Port) -> bool {
        let in_pipe = match self {
            Chip::Tofino1 => 68,
            Chip::Tofino2 => 6,
        };
        port < 512 && port & 0x7f == in_pipe
    }

    /// Width in bits of times in the egress metadata.
    fn time_bits(self) -> u32 {
        match self {
            Chip::Tofino1 => 18,
            Chip::Tofino2 => 32,
        }
    }

    /// Writes the metadata in front of a frame at ingress; `resubmitted`: the data of a resubmission.
    pub fn write_ingress(self, now: Nanos, port: Port, resubmitted: Option<&[u8]>, out: &mut Vec<u8>) {
        let flag = u64::from(resubmitted.is_some()) << 15;
        let mut writer = Writer::new(out);
        writer.word(flag | u64::from(port) & mask(9), 16);
        writer.word(now & mask(48), 48);
        let end = out.len() + self.port_metadata_bytes();
        let data = resubmitted.unwrap_or(&[]);
        out.extend_from_slice(&data[..data.len().min(self.port_metadata_bytes())]);
        out.resize(end, 0);
    }

    /// Writes the metadata in front of a frame at egress.
    pub fn write_egress(self, egress: &EgressMetadata, out: &mut Vec<u8>) {
        let time = mask(self.time_bits());
        let length = |packets: u32| u64::from(packets).min(mask(19));
        let mut writer = Writer::new(out);
        writer.word(u64::from(egress.port) & mask(9), 16);
        writer.word(length(egress.enq_qdepth), 24);
        // enq_congest_stat: no queue is congested.
        writer.word(0, 8);
        writer.word(egress.enq_ns & time, 32);
        writer.word(length(egress.deq_qdepth), 24);
        // deq_congest_stat, app_pool_congest_stat
        writer.word(0, 16);
        writer.word(egress.delay_ns & time, 32);
        writer.word(u64::from(egress.rid), 16);
        writer.word(u64::from(egress.rid_first), 8);
        writer.word(u64::from(egress.qid), 8);
        writer.word(u64::from(egress.cos), 8);
        // deflection_flag
        writer.word(0, 8);
        writer.word(u64::from(egress.bytes).min(mask(16)), 16);
        if self == Chip::Tofino2 {
            writer.word(0, 8);
        }
    }
}

/// `egress_intrinsic_metadata_t`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EgressMetadata {
    pub port: Port,
    /// Packets in the queue; the chip counts cells of 80 bytes (Tofino 1) or 176 bytes (Tofino 2).
    pub enq_qdepth: u32,
    pub deq_qdepth: u32,
    pub enq_ns: Nanos,
    pub delay_ns: Nanos,
    pub rid: u16,
    pub rid_first: bool,
    pub qid: u8,
    pub cos: u8,
    /// Bytes of the frame without this metadata.
    pub bytes: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::read;

    fn field(bytes: &[u8], at: usize, width: u32) -> u64 {
        let mut out = [0];
        read(bytes, at, width, &mut out);
        out[0]
    }

    #[test]
    fn ingress_metadata_stands_where_the_public_header_says() {
        for (chip, bytes) in [(Chip::Tofino1, 16), (Chip::Tofino2, 32)] {
            let mut out = Vec::new();
            chip.write_ingress(0x1234_5678_9abc, 0x1ff, None, &mut out);
            assert_eq!(out.len(), bytes);
            assert_eq!((field(&out, 0, 1), field(&out, 7, 9)), (0, 0x1ff));
            assert_eq!(field(&out, 16, 48), 0x1234_5678_9abc);
            out.clear();
            chip.write_ingress(0, 3, Some(&[1, 2, 3]), &mut out);
            assert_eq!(
                (field(&out, 0, 1), field(&out, 7, 9), field(&out, 64, 24)),
                (1, 3, 0x010203)
            );
            assert_eq!(out.len(), bytes);
        }
    }

    #[test]
    fn egress_metadata_stands_where_the_public_headers_say() {
        let metadata = EgressMetadata {
            port: 0x155,
            enq_qdepth: 1 << 20,
            deq_qdepth: 7,
            enq_ns: 0x1_2345_6789,
            delay_ns: 0x8_0000_0003,
            rid: 0xbeef,
            rid_first: true,
            qid: 31,
            cos: 5,
            bytes: 1500,
        };
        let mut out = Vec::new();
        Chip::Tofino1.write_egress(&metadata, &mut out);
        assert_eq!(out.len() * 8, 216);
        assert_eq!((field(&out, 7, 9), field(&out, 21, 19)), (0x155, 0x7ffff));
        assert_eq!(
            (field(&out, 48, 32), field(&out, 120, 32)),
            (0x1_2345_6789 & 0x3ffff, 3)
        );
        assert_eq!((field(&out, 85, 19), field(&out, 152, 16)), (7, 0xbeef));
        assert_eq!(
            (field(&out, 175, 1), field(&out, 179, 5), field(&out, 189, 3)),
            (1, 31, 5)
        );
        assert_eq!(field(&out, 200, 16), 1500);
        out.clear();
        Chip::Tofino2.write_egress(&metadata, &mut out);
        assert_eq!(out.len() * 8, 224);
        assert_eq!(field(&out, 48, 32), 0x2345_6789);
        assert_eq!((field(&out, 177, 7), field(&out, 200, 16)), (31, 1500));
    }

    #[test]
    fn each_pipe_has_a_recirculation_port() {
        let ports = |chip: Chip| (0..512).filter(|&port| chip.recirculates(port)).collect::<Vec<Port>>();
        assert_eq!(ports(Chip::Tofino1), [68, 196, 324, 452]);
        assert_eq!(ports(Chip::Tofino2), [6, 134, 262, 390]);
    }
}
