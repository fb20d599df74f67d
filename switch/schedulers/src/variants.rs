//! Rules that differ from the text of the papers.
//!
//! The models follow the text. A variant makes a model follow the programs behind the published figures (Netbench, with
//! the ports of the papers' authors), a rule that keeps flows in order, or one against users who cheat. Programs in
//! `p4/` have no variants.

/// A rule that differs from the text. The default of each is the rule of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// RIFO: a packet that raises Max does not set Min. So the first packet of a tracking range sets Max alone. Until
    /// another packet sets Min, and while Max = Min, only the headroom admits. (The text resets both to the rank of
    /// the packet, and admits if Max = Min. The authors' very first range begins with Max = 0; here it is like the
    /// others.)
    MaxAlone,
    /// SP-PIFO: a packet that queue 1 drops does not push the bounds down.
    DropsKeepBounds,
    /// AIFO: a rank is compared with the window before it enters the window.
    CompareFirst,
    /// AIFO and PACKS: the quantile must be smaller than the threshold; equal is not enough.
    StrictlyBelow,
    /// AIFO and PACKS: while the window fills, its size is the number of its ranks, not |W|.
    FillingWindow,
    /// PACKS: queue i takes the share i/n of the total free room, not the free room of queues 1 to i.
    TotalOccupancy,
    /// SP-PIFO and PACKS: while packets of a flow wait, its next packet goes to their queue, or is dropped if that is
    /// full. So no packet overtakes one of its flow. Such a packet moves no bound of SP-PIFO; PACKS refuses it as
    /// before.
    FlowQueue,
    /// SP-PIFO and PACKS: the same, but the next packet goes to the queue of its flowlet, as a table of flowlets knows it
    /// ([`crate::flowlets`]), whether or not packets of the flow wait.
    FlowletQueue,
    /// PACKS: if the first queue whose condition holds is full, the packet is dropped.
    NoFallThrough,
    /// AIFO, RIFO and PACKS: each user has a window (RIFO: a tracking range) of its own packets. So a user that lies
    /// about its ranks, or sends many packets, changes its own quantiles alone. Packets without a user share one.
    OwnWindow,
    /// PIFO: equal ranks leave in the order of a binary heap ([`crate::heap`]), not in that of arrival.
    HeapOrder,
    /// FDPA: the rate of a user is at least the charges in the current interval so far. So a user that was quiet in the
    /// last interval leaves band 1 as soon as it has sent what band 1 is for.
    CurrentInterval,
}

impl Variant {
    pub const ALL: &[Variant] = &[
        Variant::MaxAlone,
        Variant::DropsKeepBounds,
        Variant::CompareFirst,
        Variant::StrictlyBelow,
        Variant::FillingWindow,
        Variant::TotalOccupancy,
        Variant::FlowQueue,
        Variant::FlowletQueue,
        Variant::NoFallThrough,
        Variant::OwnWindow,
        Variant::HeapOrder,
        Variant::CurrentInterval,
    ];

    /// The name in scenarios.
    pub fn name(self) -> &'static str {
        match self {
            Variant::MaxAlone => "max_alone",
            Variant::DropsKeepBounds => "drops_keep_bounds",
            Variant::CompareFirst => "compare_first",
            Variant::StrictlyBelow => "strictly_below",
            Variant::FillingWindow => "filling_window",
            Variant::TotalOccupancy => "total_occupancy",
            Variant::FlowQueue => "flow_queue",
            Variant::FlowletQueue => "flowlet_queue",
            Variant::NoFallThrough => "no_fall_through",
            Variant::OwnWindow => "own_window",
            Variant::HeapOrder => "heap_order",
            Variant::CurrentInterval => "current_interval",
        }
    }

    fn bit(self) -> u16 {
        1 << self as u8
    }
}

/// A set of variants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Variants(u16);

impl Variants {
    /// The rules of the papers' text.
    pub const NONE: Variants = Variants(0);

    pub fn of(variants: &[Variant]) -> Variants {
        Variants(variants.iter().fold(0, |set, variant| set | variant.bit()))
    }

    pub fn has(self, variant: Variant) -> bool {
        self.0 & variant.bit() != 0
    }
}
