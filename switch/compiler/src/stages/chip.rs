//! Resources of the chips. The numbers are those of the open compiler's back end (p4lang/p4c, `backends/tofino/bf-p4c`,
//! commit 34b86e9b): `specs/mau_spec.h`, `specs/device.cpp`, `specs/parde_spec.h`, `specs/phv_spec.cpp`,
//! `mau/memories.h`, `mau/table_format.h`.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chip {
    /// Name by the vendor.
    pub name: &'static str,
    /// Match-action stages, shared by ingress, egress and ghost.
    pub stages: usize,
    /// Number of comparisons in one run of a stateful ALU (`StatefulAluSpec::CmpUnits`).
    pub comparisons: usize,
    /// Number of values that one run of a stateful ALU returns (`OutputWords`).
    pub outputs: usize,
    /// Width of the widest number in a stateful ALU.
    pub alu_width: u32,
    /// True if a stateful ALU can divide (`DivModUnit`).
    pub divides: bool,
    /// True if an action can compare two fields (`getHasCompareInstructions`).
    pub compares: bool,
    /// True if metadata is zero when the stages begin. On Tofino 2, p4c lets fields share a container one after
    /// another, and sets a field to zero in a table before its first use.
    pub zeroed: bool,
    /// True if the parser ORs a written value into the old value of the field (no clear-on-write).
    pub parser_ors: bool,
    /// Bits of all containers with which the stages compute.
    pub containers: u64,
    /// Bits that pass from the parser to the deparser outside of these containers: tagalong containers on Tofino 1,
    /// CLOTs on Tofino 2 (`byteMaxClotSize`, `maxClotsLivePerGress`).
    pub carried: u64,
    /// Most bytes that egress parses (`maxParseDepth`).
    pub egress_bytes: Option<u64>,
}

/// 64 containers of 8 bits, 96 of 16 bits and 64 of 32 bits; tagalong: 32, 48 and 32.
pub const TOFINO: Chip = Chip {
    name: "Tofino 1",
    stages: 12,
    comparisons: 2,
    outputs: 1,
    alu_width: 32,
    divides: false,
    compares: false,
    zeroed: true,
    parser_ors: true,
    containers: 4096,
    carried: 2048,
    egress_bytes: Some(160),
};

/// 64 containers of 8 bits, 96 of 16 bits and 64 of 32 bits, without the dark ones, which the parser cannot fill. A
/// packet has 16 CLOTs of 64 bytes.
pub const TOFINO2: Chip = Chip {
    name: "Tofino 2",
    stages: 20,
    comparisons: 4,
    outputs: 4,
    alu_width: 32,
    divides: true,
    compares: true,
    zeroed: false,
    parser_ors: false,
    containers: 4096,
    carried: 16 * 64 * 8,
    egress_bytes: None,
};

/// Most RegisterActions of one register (`StatefulAluSpec::MaxInstructions`).
pub const ACTIONS_OF_A_REGISTER: usize = 4;
/// Most different constants outside of -8 to 7 in the RegisterActions of one register (`MaxRegfileRows`).
pub const CONSTANTS_OF_A_REGISTER: usize = 4;
/// Bits of a memory word, and words in a memory block.
pub const SRAM_BITS: u64 = 128;
pub const SRAM_WORDS: u64 = 1024;
/// Key bytes in a pair of TCAM blocks, and in one block; a block has 44 bits, and the pair shares 4 of them.
pub const TCAM_PAIR_BYTES: u64 = 11;
pub const TCAM_BYTES: u64 = 6;
pub const TCAM_WORDS: u64 = 512;
/// Bits of match data that a gateway sees: 4 bytes directly, and 12 bits through the hash.
pub const GATEWAY_BYTES: u32 = 4;
pub const GATEWAY_HASH_BITS: u32 = 12;
/// Rows of a gateway.
pub const GATEWAY_ROWS: usize = 4;
/// Widest key of kind `range`: 5 nibbles (`mau/resource_estimate.cpp`).
pub const RANGE_BITS: u32 = 20;
/// Bits by which one state of the parser selects: a half word and two bytes, or four bytes.
pub const SELECT_BITS: u32 = 32;
/// Rows of the parser's table, for ingress and for egress.
pub const PARSER_ROWS: usize = 256;

/// Resources of tables, or of a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Logical tables.
    pub tables: u64,
    /// Small ternary tables for conditions.
    pub gateways: u64,
    /// Stateful ALUs, also used by meters, filters and selectors.
    pub stateful: u64,
    /// ALUs of counters.
    pub statistics: u64,
    /// Blocks of 1024 words of 128 bits.
    pub sram: u64,
    /// Map RAM: memory for counters, meters and registers, besides blocks.
    pub map_ram: u64,
    /// Blocks of 512 words of 44 bits.
    pub tcam: u64,
    /// Bytes of the crossbar for exact match, registers and gateways.
    pub exact_bytes: u64,
    /// Bytes of the crossbar for ternary match.
    pub ternary_bytes: u64,
    /// Bits from the hash units.
    pub hash_bits: u64,
}

/// Resources of a stage. Hash bits: 8 groups of 52.
pub const STAGE: Resources = Resources {
    tables: 16,
    gateways: 16,
    stateful: 4,
    statistics: 4,
    sram: 80,
    map_ram: 48,
    tcam: 24,
    exact_bytes: 128,
    ternary_bytes: 66,
    hash_bits: 416,
};

impl Resources {
    /// Each amount, with its name in messages.
    #[must_use]
    pub fn amounts(&self) -> [(&'static str, u64); 10] {
        [
            ("tables", self.tables),
            ("gateways", self.gateways),
            ("stateful ALUs", self.stateful),
            ("counter ALUs", self.statistics),
            ("SRAM blocks", self.sram),
            ("map RAM blocks", self.map_ram),
            ("TCAM blocks", self.tcam),
            ("bytes of the exact-match crossbar", self.exact_bytes),
            ("bytes of the ternary crossbar", self.ternary_bytes),
            ("hash bits", self.hash_bits),
        ]
    }

    /// Combines amount by amount.
    #[must_use]
    pub fn each(self, other: Resources, f: impl Fn(u64, u64) -> u64) -> Resources {
        Resources {
            tables: f(self.tables, other.tables),
            gateways: f(self.gateways, other.gateways),
            stateful: f(self.stateful, other.stateful),
            statistics: f(self.statistics, other.statistics),
            sram: f(self.sram, other.sram),
            map_ram: f(self.map_ram, other.map_ram),
            tcam: f(self.tcam, other.tcam),
            exact_bytes: f(self.exact_bytes, other.exact_bytes),
            ternary_bytes: f(self.ternary_bytes, other.ternary_bytes),
            hash_bits: f(self.hash_bits, other.hash_bits),
        }
    }

    /// Sum of both.
    #[must_use]
    pub fn plus(self, other: Resources) -> Resources {
        self.each(other, u64::saturating_add)
    }

    /// The first amount that exceeds a stage: its name, its value and the limit.
    #[must_use]
    pub fn exceeded(&self) -> Option<(&'static str, u64, u64)> {
        let pairs = self.amounts().into_iter().zip(STAGE.amounts());
        pairs.map(|((name, a), (_, b))| (name, a, b)).find(|(_, a, b)| a > b)
    }
}
