//! Repairs to received frames: work that the sender left to offloads, which a virtual link does not have.

use p4sched_dataplane::internet_checksum;

const ADDRESSES: usize = 12;

/// Puts a VLAN tag (protocol and tag control) back in its place after the two addresses.
pub fn insert_tag(frame: &mut Vec<u8>, (protocol, control): (u16, u16)) {
    let place = frame.len().min(ADDRESSES);
    let tag = [protocol.to_be_bytes(), control.to_be_bytes()];
    frame.splice(place..place, tag.into_iter().flatten());
}

/// Computes the TCP or UDP checksum of an untagged IPv4 or IPv6 frame whose sender left it to its interface. Any other
/// frame stays unchanged.
pub fn complete_checksum(frame: &mut [u8]) {
    let Some(kind) = frame.get(12..14) else { return };
    let (addresses, start, end, protocol) = match (kind, frame.len()) {
        ([0x08, 0x00], 34..) => {
            let start = 14 + usize::from(frame[14] & 15) * 4;
            let end = 14 + usize::from(u16::from_be_bytes([frame[16], frame[17]]));
            (26..34, start, end, frame[23])
        }
        ([0x86, 0xdd], 54..) => (
            22..54,
            54,
            54 + usize::from(u16::from_be_bytes([frame[18], frame[19]])),
            frame[20],
        ),
        _ => return,
    };
    let field = match protocol {
        6 => start + 16,
        17 => start + 6,
        _ => return,
    };
    if end > frame.len() || field + 2 > end {
        return;
    }
    frame[field..field + 2].fill(0);
    let pseudo = u64::from(!internet_checksum(0, &frame[addresses])) + u64::from(protocol) + (end - start) as u64;
    let checksum = match internet_checksum(pseudo, &frame[start..end]) {
        0 if protocol == 17 => 0xffff,
        checksum => checksum,
    };
    frame[field..field + 2].copy_from_slice(&checksum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A UDP datagram "abc" from 10.0.0.1:1 to 10.0.0.2:2, padded to the minimum length of Ethernet.
    fn datagram() -> Vec<u8> {
        let mut frame = vec![0; 12];
        frame.extend([
            0x08, 0x00, 0x45, 0, 0, 31, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
        ]);
        frame.extend([0, 1, 0, 2, 0, 11, 0xbe, 0xef]);
        frame.extend(b"abc");
        frame.resize(60, 0);
        frame
    }

    #[test]
    fn udp_checksum_covers_pseudo_header_and_odd_payload_but_not_padding() {
        let mut frame = datagram();
        complete_checksum(&mut frame);
        // 0a00+0001+0a00+0002 +0011+000b +0001+0002+000b +6162+6300 = d88f; its complement:
        assert_eq!(frame[40..42], [0x27, 0x70]);
    }

    #[test]
    fn other_and_cut_frames_stay_as_they_are() {
        for length in [0, 13, 20, 34, 41, 44] {
            let mut frame = datagram();
            frame.truncate(length);
            let before = frame.clone();
            complete_checksum(&mut frame);
            assert_eq!(frame, before, "{length} bytes");
        }
        let mut arp = datagram();
        arp[13] = 6;
        let before = arp.clone();
        complete_checksum(&mut arp);
        assert_eq!(arp, before);
    }

    #[test]
    fn a_stripped_tag_returns_behind_the_addresses() {
        let mut frame: Vec<u8> = (0..14).collect();
        insert_tag(&mut frame, (0x8100, 0x2007));
        assert_eq!(frame, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0x81, 0, 0x20, 7, 12, 13]);
    }
}
