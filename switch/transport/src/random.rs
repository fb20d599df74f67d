//! Random numbers that depend only on their place.

/// A number without order for each number: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
pub(crate) fn mix(value: u64) -> u64 {
    let mut mixed = value.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
