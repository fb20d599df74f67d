//! Sizes and well-known numbers that programs and controllers share. They are read from `p4/shared/constants.p4` at
//! compile time.

#![warn(clippy::all)]

const FILE: &[u8] = include_str!("../../../p4/shared/constants.p4").as_bytes();

/// Port for packets from and to the controller.
pub const CPU_PORT: u16 = defined("CPU_PORT") as u16;
/// Port of v1model programs without a link. Its queue paces the packets that return to ingress.
pub const RECIRCULATION_PORT_V1MODEL: u16 = defined("RECIRCULATION_PORT_V1MODEL") as u16;
/// The same of Tofino 1, in pipe 0.
pub const RECIRCULATION_PORT_TNA: u16 = defined("RECIRCULATION_PORT_TNA") as u16;
/// The same of Tofino 2, in pipe 0.
pub const RECIRCULATION_PORT_T2NA: u16 = defined("RECIRCULATION_PORT_T2NA") as u16;
/// Clone session of the length reports of Tofino 1.
pub const LENGTH_REPORT_SESSION: u16 = defined("LENGTH_REPORT_SESSION") as u16;
/// Size of a length report.
pub const LENGTH_REPORT_BYTES: u32 = defined("LENGTH_REPORT_BYTES") as u32;
/// EtherType of worker packets.
pub const ETHERTYPE_WORKER: u16 = defined("ETHERTYPE_WORKER") as u16;
/// Number of users + 1: users are 1 .. `MAX_USERS` - 1.
pub const MAX_USERS: u32 = defined("MAX_USERS") as u32;
/// Largest number of routes in a program.
pub const MAX_ROUTES: usize = defined("MAX_ROUTES") as usize;
/// Number of buckets in each group. A flow's hash selects one.
pub const ECMP_BUCKETS: u32 = defined("ECMP_BUCKETS") as u32;
/// The setting for ranks from the rank header.
pub const RANK_HEADER: u64 = defined("RANK_HEADER");
/// The setting for ranks that are virtual start times.
pub const RANK_STFQ: u64 = defined("RANK_STFQ");
/// First UDP port whose datagrams begin with a rank header.
pub const RANK_PORT: u16 = defined("RANK_PORT") as u16;

/// The value of `#define NAME VALUE` or `const bit<N> NAME = VALUE;`. If there is no such line, compilation fails.
const fn defined(name: &str) -> u64 {
    let name = name.as_bytes();
    let mut at = 0;
    while at + name.len() < FILE.len() {
        if at > 0 && FILE[at - 1] == b' ' && begins(at, name) && FILE[at + name.len()] == b' ' && is_definition(at) {
            return number(at + name.len());
        }
        at += 1;
    }
    panic!("p4/shared/constants.p4 lacks a number")
}

const fn begins(at: usize, text: &[u8]) -> bool {
    let mut offset = 0;
    while offset < text.len() {
        if at + offset >= FILE.len() || FILE[at + offset] != text[offset] {
            return false;
        }
        offset += 1;
    }
    true
}

/// Whether a definition begins at the line of this position.
const fn is_definition(mut at: usize) -> bool {
    while at > 0 && FILE[at - 1] != b'\n' {
        at -= 1;
    }
    begins(at, b"#define ") || begins(at, b"const bit<")
}

/// The number after blanks and an equals sign.
const fn number(mut at: usize) -> u64 {
    while FILE[at] == b' ' || FILE[at] == b'=' {
        at += 1;
    }
    let base = if begins(at, b"0x") { 16 } else { 10 };
    if base == 16 {
        at += 2;
    }
    let start = at;
    let mut value = 0;
    while at < FILE.len() {
        let digit = match FILE[at] {
            digit @ b'0'..=b'9' => digit - b'0',
            digit @ b'a'..=b'f' if base == 16 => digit - b'a' + 10,
            _ => break,
        };
        value = value * base + digit as u64;
        at += 1;
    }
    assert!(at > start, "a definition of p4/shared/constants.p4 is not a number");
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_file() {
        assert_eq!(
            (CPU_PORT, ETHERTYPE_WORKER, MAX_USERS, MAX_ROUTES),
            (509, 0x88b5, 4096, 1024)
        );
        assert_eq!(
            (
                RECIRCULATION_PORT_V1MODEL,
                RECIRCULATION_PORT_TNA,
                RECIRCULATION_PORT_T2NA
            ),
            (510, 68, 6)
        );
        assert_eq!((LENGTH_REPORT_SESSION, LENGTH_REPORT_BYTES), (1, 32));
        assert_eq!((ECMP_BUCKETS, RANK_HEADER, RANK_STFQ, RANK_PORT), (64, 1, 3, 5376));
    }
}
