//! The hash and checksum algorithms of BMv2 (src/bm_sim/calculations.cpp). Each is a function of bytes.

use std::collections::HashMap;

use crc::{CRC_16_ARC, CRC_16_IBM_3740, CRC_32_ISO_HDLC, Crc, Table};

use crate::checksum::internet_checksum;

static CRC16: Crc<u16, Table<1>> = Crc::<u16, Table<1>>::new(&CRC_16_ARC);
static CRC16_CCITT: Crc<u16, Table<1>> = Crc::<u16, Table<1>>::new(&CRC_16_IBM_3740);
static CRC32: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISO_HDLC);

/// An algorithm, with its state between packets.
#[derive(Clone, Debug)]
pub(crate) enum Algorithm {
    Crc8,
    Crc16,
    CrcCcitt,
    Crc32,
    Crc64,
    Checksum16,
    Xor8,
    Xor16,
    Xor32,
    Identity,
    Xxh64,
    /// Counts calls.
    RoundRobin(u64),
    /// Numbers distinct inputs.
    RoundRobinConsistent(HashMap<Vec<u8>, u64>),
    /// A CRC with any polynomial.
    Polynomial(Box<Polynomial>),
}

/// Most distinct inputs that `RoundRobinConsistent` remembers.
const MAX_REMEMBERED: usize = 1 << 16;

impl Algorithm {
    pub fn compute(&mut self, bytes: &[u8]) -> u64 {
        match self {
            Algorithm::Crc8 => u64::from(crc8(bytes)),
            Algorithm::Crc16 => u64::from(CRC16.checksum(bytes)),
            Algorithm::CrcCcitt => u64::from(CRC16_CCITT.checksum(bytes)),
            Algorithm::Crc32 => u64::from(CRC32.checksum(bytes)),
            Algorithm::Crc64 => crc64(bytes),
            Algorithm::Checksum16 => u64::from(internet_checksum(0, bytes)),
            Algorithm::Xor8 => u64::from(bytes.iter().fold(0, |sum, byte| sum ^ byte)),
            Algorithm::Polynomial(polynomial) => polynomial.compute(bytes),
            Algorithm::Xor16 => bytes.chunks(2).fold(0, |sum, chunk| sum ^ padded(chunk, 2)),
            Algorithm::Xor32 => bytes.chunks(4).fold(0, |sum, chunk| sum ^ padded(chunk, 4)),
            Algorithm::Identity => bytes.iter().take(8).fold(0, |sum, &byte| sum << 8 | u64::from(byte)),
            Algorithm::Xxh64 => xxh64(bytes),
            Algorithm::RoundRobin(calls) => {
                *calls = calls.wrapping_add(1);
                calls.wrapping_sub(1)
            }
            Algorithm::RoundRobinConsistent(seen) => {
                let next = seen.len() as u64;
                match seen.get(bytes) {
                    Some(&number) => number,
                    None => {
                        if seen.len() < MAX_REMEMBERED {
                            seen.insert(bytes.to_vec(), next);
                        }
                        next
                    }
                }
            }
        }
    }
}

/// Parameters of a `CRCPolynomial` in TNA.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CrcParameters {
    /// Width of the remainder in bits, 1 to 64.
    pub width: u32,
    /// Polynomial without the term of the highest power.
    pub coefficient: u64,
    /// Input and output are reflected.
    pub reversed: bool,
    /// The output is reflected once more.
    pub mirrored: bool,
    pub init: u64,
    pub xor: u64,
    /// Output width in bits in the program.
    pub output_width: u32,
    /// A narrower output takes the most significant bits, not the least.
    pub msb: bool,
    /// A wider output repeats the remainder.
    pub extended: bool,
}

/// A CRC with its table of remainders for all bytes.
#[derive(Clone, Debug)]
pub(crate) struct Polynomial {
    parameters: CrcParameters,
    /// Aligned to the top of the word; if reflected, to the bottom.
    remainders: Vec<u64>,
}

impl Polynomial {
    pub fn new(parameters: CrcParameters) -> Polynomial {
        let top = parameters.coefficient << (64 - parameters.width);
        let remainder = |byte: u64| match parameters.reversed {
            true => (0..8).fold(byte, |r, _| (r >> 1) ^ ((r & 1) * top.reverse_bits())),
            false => (0..8).fold(byte << 56, |r, _| (r << 1) ^ ((r >> 63) * top)),
        };
        Polynomial {
            parameters,
            remainders: (0..256).map(remainder).collect(),
        }
    }

    fn compute(&self, bytes: &[u8]) -> u64 {
        let CrcParameters { width, init, xor, .. } = self.parameters;
        let top = init << (64 - width);
        let remainder = if self.parameters.reversed {
            let step = |r: u64, &byte: &u8| r >> 8 ^ self.remainders[usize::from(r as u8 ^ byte)];
            bytes.iter().fold(top.reverse_bits(), step)
        } else {
            let step = |r: u64, &byte: &u8| r << 8 ^ self.remainders[usize::from((r >> 56) as u8 ^ byte)];
            bytes.iter().fold(top, step) >> (64 - width)
        };
        let remainder = match self.parameters.mirrored {
            true => remainder.reverse_bits() >> (64 - width),
            false => remainder,
        };
        self.fit(remainder ^ xor)
    }

    /// The remainder in the program's output width.
    fn fit(&self, remainder: u64) -> u64 {
        let CrcParameters {
            width, output_width, ..
        } = self.parameters;
        if output_width < width && self.parameters.msb {
            return remainder >> (width - output_width);
        }
        let mut value = remainder;
        let mut filled = width;
        while self.parameters.extended && filled < output_width.min(64) {
            value |= remainder << filled;
            filled += width;
        }
        value
    }
}

/// A big-endian number, with zeros appended up to `length`.
fn padded(chunk: &[u8], length: usize) -> u64 {
    let value = chunk.iter().fold(0, |value, &byte| value << 8 | u64::from(byte));
    value << (8 * (length - chunk.len()))
}

/// CRC-8: polynomial 0x07, nothing reflected, start and final XOR 0.
fn crc8(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |remainder, &byte| {
        (0..8).fold(
            remainder ^ byte,
            |r, _| if r & 0x80 != 0 { r << 1 ^ 0x07 } else { r << 1 },
        )
    })
}

/// CRC-64: polynomial 0x1b, reflected in and out, start and final XOR 0.
fn crc64(bytes: &[u8]) -> u64 {
    let polynomial = 0x1bu64.reverse_bits();
    bytes.iter().fold(0, |remainder, &byte| {
        (0..8).fold(remainder ^ u64::from(byte), |r, _| {
            if r & 1 != 0 { r >> 1 ^ polynomial } else { r >> 1 }
        })
    })
}

const PRIMES: [u64; 5] = [
    0x9e3779b185ebca87,
    0xc2b2ae3d27d4eb4f,
    0x165667b19e3779f9,
    0x85ebca77c2b2ae63,
    0x27d4eb2f165667c5,
];

fn xxh_round(accumulator: u64, lane: u64) -> u64 {
    accumulator
        .wrapping_add(lane.wrapping_mul(PRIMES[1]))
        .rotate_left(31)
        .wrapping_mul(PRIMES[0])
}

fn little(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

/// XXH64 with seed 0 (the xxHash specification).
fn xxh64(bytes: &[u8]) -> u64 {
    let stripes = bytes.chunks_exact(32);
    let mut rest = stripes.remainder();
    let mut hash = if bytes.len() >= 32 {
        let mut lanes = [
            PRIMES[0].wrapping_add(PRIMES[1]),
            PRIMES[1],
            0,
            0u64.wrapping_sub(PRIMES[0]),
        ];
        for stripe in stripes {
            for (lane, part) in lanes.iter_mut().zip(stripe.chunks_exact(8)) {
                *lane = xxh_round(*lane, little(part));
            }
        }
        let mixed = [1, 7, 12, 18]
            .iter()
            .zip(lanes)
            .fold(0u64, |h, (&r, lane)| h.wrapping_add(lane.rotate_left(r)));
        lanes.iter().fold(mixed, |h, &lane| {
            (h ^ xxh_round(0, lane)).wrapping_mul(PRIMES[0]).wrapping_add(PRIMES[3])
        })
    } else {
        PRIMES[4]
    };
    hash = hash.wrapping_add(bytes.len() as u64);
    while let Some((eight, tail)) = rest.split_first_chunk::<8>() {
        hash = (hash ^ xxh_round(0, little(eight)))
            .rotate_left(27)
            .wrapping_mul(PRIMES[0])
            .wrapping_add(PRIMES[3]);
        rest = tail;
    }
    if let Some((four, tail)) = rest.split_first_chunk::<4>() {
        hash = (hash ^ little(four).wrapping_mul(PRIMES[0]))
            .rotate_left(23)
            .wrapping_mul(PRIMES[1]);
        hash = hash.wrapping_add(PRIMES[2]);
        rest = tail;
    }
    for &byte in rest {
        hash = (hash ^ u64::from(byte).wrapping_mul(PRIMES[4]))
            .rotate_left(11)
            .wrapping_mul(PRIMES[0]);
    }
    hash = (hash ^ hash >> 33).wrapping_mul(PRIMES[1]);
    hash = (hash ^ hash >> 29).wrapping_mul(PRIMES[2]);
    hash ^ hash >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compute(mut algorithm: Algorithm, bytes: &[u8]) -> u64 {
        algorithm.compute(bytes)
    }

    /// Check values of the CRC catalogue for "123456789".
    #[test]
    fn crcs_have_their_catalogued_check_values() {
        let check = b"123456789";
        assert_eq!(compute(Algorithm::Crc8, check), 0xf4);
        assert_eq!(compute(Algorithm::Crc16, check), 0xbb3d);
        assert_eq!(compute(Algorithm::CrcCcitt, check), 0x29b1);
        assert_eq!(compute(Algorithm::Crc32, check), 0xcbf43926);
        assert_eq!(compute(Algorithm::Crc64, check), 0x46a5a9388a5beffe);
    }

    /// Check values of this catalogue: CRC-16/ARC, CRC-16/IBM-3740, CRC-32/ISO-HDLC, CRC-64/XZ, CRC-5/USB, CRC-3/GSM.
    #[test]
    fn polynomials_have_their_catalogued_check_values() {
        let crc = |width, coefficient, reversed, init, xor| {
            let parameters = CrcParameters {
                width,
                coefficient,
                reversed,
                init,
                xor,
                ..CrcParameters::default()
            };
            Polynomial::new(CrcParameters {
                output_width: width,
                ..parameters
            })
            .compute(b"123456789")
        };
        assert_eq!(crc(16, 0x8005, true, 0, 0), 0xbb3d);
        assert_eq!(crc(16, 0x1021, false, 0xffff, 0), 0x29b1);
        assert_eq!(crc(32, 0x04c1_1db7, true, 0xffff_ffff, 0xffff_ffff), 0xcbf4_3926);
        assert_eq!(
            crc(64, 0x42f0_e1eb_a9ea_3693, true, u64::MAX, u64::MAX),
            0x995d_c9bb_df19_39fa
        );
        assert_eq!(crc(5, 0x05, true, 0x1f, 0x1f), 0x19);
        assert_eq!(crc(3, 0x3, false, 0, 7), 0x4);
    }

    #[test]
    fn a_crc_is_cut_or_repeated_as_the_program_asks() {
        let arc = |output_width, msb, extended| {
            let parameters = CrcParameters {
                width: 16,
                coefficient: 0x8005,
                reversed: true,
                ..CrcParameters::default()
            };
            Polynomial::new(CrcParameters {
                output_width,
                msb,
                extended,
                ..parameters
            })
            .compute(b"123456789")
        };
        assert_eq!(arc(8, true, false), 0xbb);
        assert_eq!(arc(8, false, false) & 0xff, 0x3d);
        assert_eq!(arc(32, false, true), 0xbb3d_bb3d);
        assert_eq!(arc(32, false, false), 0xbb3d);
    }

    #[test]
    fn xxh64_of_known_inputs() {
        assert_eq!(xxh64(b""), 0xef46db3751d8e999);
        assert_eq!(xxh64(b"a"), 0xd24ec4f1a98c6e5b);
        assert_eq!(xxh64(b"Nobody inspects the spammish repetition"), 0xfbcea83c8a378bf1);
    }

    #[test]
    fn short_tails_are_padded_behind() {
        assert_eq!(compute(Algorithm::Xor16, &[0xab, 0xcd, 0x12]), 0xabcd ^ 0x1200);
        assert_eq!(compute(Algorithm::Xor32, &[0xab, 0xcd]), 0xabcd0000);
        assert_eq!(compute(Algorithm::Identity, &[1, 2, 3]), 0x010203);
    }

    #[test]
    fn round_robins_count() {
        let mut plain = Algorithm::RoundRobin(0);
        assert_eq!(
            [plain.compute(b"x"), plain.compute(b"x"), plain.compute(b"y")],
            [0, 1, 2]
        );
        let mut consistent = Algorithm::RoundRobinConsistent(HashMap::new());
        assert_eq!(
            [
                consistent.compute(b"x"),
                consistent.compute(b"y"),
                consistent.compute(b"x")
            ],
            [0, 1, 0]
        );
    }
}
