//! Resources of the chips. The numbers are those of the open compiler's back end (p4lang/p4c, `backends/tofino/bf-p4c`,
//! commit 34b86e9b): `specs/mau_spec.h`, `specs/device.cpp`, `specs/parde_spec.h`, `specs/phv_spec.cpp`,
//! `mau/memories.h`, `mau/table_format.h`.

/// A chip and its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chip {
    /// The vendor's name.
    pub name: &'static str,
    /// Match-action stages, shared by ingress, egress and ghost.
    pub stages: usize,
    /// Comparisons in one run of a stateful ALU (`StatefulAluSpec::CmpUnits`).
    pub comparisons: usize,
    /// Values that one run of a stateful ALU returns (`OutputWords`).
    pub outputs: usize,
    /// Widest number that a stateful ALU computes with.
    pub alu_width: u32,
    /// True if a stateful ALU divides (`DivModUnit`).
    pub divides: bool,
    /// True if an action can compare two fields (`getHasCompareInstructions`).
    pub compares: bool,
    /// True if metadata is zero when the stages begin. On Tofino 2, p4c lets fields share a container in turn, and sets
    /// a field to zero in a table when its turn comes.
    pub zeroed: bool,
    /// True if the parser ORs what it writes into the field's value (no clear-on-write).
    pub parser_ors: bool,
    /// Bits of containers that the stages compute with, all sizes together.
    pub containers: u64,
    /// Bits that the parser passes to the deparser outside of these containers: Tofino 1's tagalong containers, Tofino 2's
    /// CLOTs (`byteMaxClotSize`, `maxClotsLivePerGress`).
    pub carried: u64,
    /// Bytes that egress parses at most (`maxParseDepth`).
    pub egress_bytes: Option<u64>,
}

/// 64 containers of 8 bits, 96 of 16 and 64 of 32; tagalong: 32, 48 and 32.
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

/// 64 containers of 8 bits, 96 of 16 and 64 of 32 that the parser fills; the dark ones it cannot fill are left out. A packet
/// has 16 CLOTs of 64 bytes.
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

/// RegisterActions of one register (`StatefulAluSpec::MaxInstructions`).
pub const ACTIONS_OF_A_REGISTER: usize = 4;
/// Different constants outside of -8 to 7 in the RegisterActions of one register (`MaxRegfileRows`).
pub const CONSTANTS_OF_A_REGISTER: usize = 4;
/// Bits of a memory word, and words of a memory block.
pub const SRAM_BITS: u64 = 128;
pub const SRAM_WORDS: u64 = 1024;
/// Key bytes that one TCAM block, and a pair of them, matches: 44 bits, of which 4 are shared by the pair.
pub const TCAM_PAIR_BYTES: u64 = 11;
pub const TCAM_BYTES: u64 = 6;
pub const TCAM_WORDS: u64 = 512;
/// Bits of match data that a gateway sees: 4 bytes as they are, and 12 bits through the hash.
pub const GATEWAY_BYTES: u32 = 4;
pub const GATEWAY_HASH_BITS: u32 = 12;
/// Rows of a gateway.
pub const GATEWAY_ROWS: usize = 4;
/// Widest key of kind `range`: 5 nibbles (`mau/resource_estimate.cpp`).
pub const RANGE_BITS: u32 = 20;
/// Bits that one state of the parser selects by: a half word and two bytes, or four bytes.
pub const SELECT_BITS: u32 = 32;
/// Rows of the parser's table, for ingress and for egress.
pub const PARSER_ROWS: usize = 256;

/// Resources of tables, or of a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Logical tables.
    pub tables: u64,
    /// Small ternary tables that conditions ask.
    pub gateways: u64,
    /// Stateful ALUs. Meters, filters and selectors sit in them too.
    pub stateful: u64,
    /// ALUs of counters.
    pub statistics: u64,
    /// Blocks of 1024 words of 128 bits.
    pub sram: u64,
    /// Memory other than blocks of counters, meters and registers.
    pub map_ram: u64,
    /// Blocks of 512 words of 44 bits.
    pub tcam: u64,
    /// Bytes of the crossbar for exact match, registers and gateways.
    pub exact_bytes: u64,
    /// Bytes of the crossbar for ternary match.
    pub ternary_bytes: u64,
    /// Bits that the hash units compute.
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
    /// Each amount, with its name as a message says it.
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

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Resources) -> Resources {
        self.each(other, u64::saturating_add)
    }

    /// The first amount that is more than a stage has, with how much it is and how much there is.
    #[must_use]
    pub fn over(&self) -> Option<(&'static str, u64, u64)> {
        let pairs = self.amounts().into_iter().zip(STAGE.amounts());
        pairs.map(|((name, a), (_, b))| (name, a, b)).find(|(_, a, b)| a > b)
    }
}
