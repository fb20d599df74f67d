//! Errors of BMv2's runtime interface: a code of the interface, and a sentence for the log.

use crate::fault::{Code, Fault};

/// A refused request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Refusal {
    /// Code of the fault in the interface; each kind of request has its own codes.
    pub code: i32,
    /// The fault, its place, and what would be right.
    pub reason: String,
}

macro_rules! codes {
    ($(#[$doc:meta])* $name:ident { $($code:ident = $number:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(missing_docs, reason = "these are the names of the interface")]
        pub enum $name { $($code = $number),* }

        impl $name {
            /// A refusal with this code.
            pub fn because(self, reason: impl Into<String>) -> Refusal {
                Refusal { code: self as i32, reason: reason.into() }
            }
        }
    };
}

codes!(/// Tables and action profiles.
TableCode {
    TableFull = 1, InvalidHandle = 2, CountersDisabled = 4, MetersDisabled = 5, AgeingDisabled = 6,
    InvalidTableName = 7, InvalidActionName = 8, WrongTableType = 9, InvalidMemberHandle = 10,
    MemberStillUsed = 11, MemberAlreadyInGroup = 12, MemberNotInGroup = 13, InvalidGroupHandle = 14,
    GroupStillUsed = 15, EmptyGroup = 16, DuplicateEntry = 17, BadMatchKey = 18, InvalidMeterOperation = 19,
    DefaultEntryIsConst = 21, InvalidActionProfileName = 23, NoActionProfileSelection = 24,
    ImmutableTableEntries = 25, BadActionData = 26, NoTableKey = 27, Error = 100,
});
codes!(/// Counter arrays.
    CounterCode { InvalidCounterName = 1, InvalidIndex = 2 });
codes!(/// Meter arrays.
MeterCode {
    InvalidMeterName = 1, InvalidIndex = 2, BadRatesList = 3, InvalidInfoRateValue = 4, InvalidBurstSizeValue = 5,
});
codes!(/// Register arrays.
    RegisterCode { InvalidRegisterName = 1, InvalidIndex = 2, Error = 3 });
codes!(/// Parser value sets.
    ValueSetCode { InvalidParseVsetName = 1, Error = 2 });
codes!(/// Multicast.
    ReplicationCode { InvalidMgid = 2, InvalidMgrpHandle = 3, InvalidL1Handle = 4, Error = 5 });
codes!(/// Mirroring sessions.
    MirroringCode { SessionNotFound = 1 });
codes!(/// Swaps of programs.
    SwapCode { ConfigSwapDisabled = 1, OngoingSwap = 2, NoOngoingSwap = 3 });
codes!(/// Ports.
    PortCode { Error = 1 });
codes!(/// Parameters of CRCs.
    CrcCode { InvalidCalculationName = 1, WrongTypeCalculation = 2 });

/// Converts an error of the tables that both interfaces share.
impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Refusal {
        let code = match fault.code {
            Code::AlreadyExists => TableCode::DuplicateEntry,
            Code::ResourceExhausted => TableCode::TableFull,
            Code::NotFound => TableCode::InvalidHandle,
            Code::PermissionDenied => TableCode::ImmutableTableEntries,
            Code::InvalidArgument
            | Code::OutOfRange
            | Code::FailedPrecondition
            | Code::Aborted
            | Code::Unimplemented => TableCode::Error,
        };
        code.because(fault.message)
    }
}
