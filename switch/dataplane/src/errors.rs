//! Why a program or a control-plane request was refused.

/// Why a program could not be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// Not JSON.
    #[error("not JSON: {0}")]
    Syntax(String),
    /// Something in the JSON is missing, of the wrong type, dangling, out of range or not supported.
    #[error("{path}: {problem}")]
    Invalid {
        /// Where in the JSON, as `pipelines[0].tables[3].key[1]`.
        path: String,
        /// What is wrong with it and, where that helps, what would be right.
        problem: String,
    },
}

/// Why a control-plane request was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// No free entry.
    #[error("{table}: full, all {size} entries are used")]
    Full {
        /// The table or action profile.
        table: String,
        /// How many it holds.
        size: usize,
    },
    /// An entry with this key (and priority) exists.
    #[error("{0}: an entry with this key exists")]
    Duplicate(String),
    /// No such entry.
    #[error("{0}: no such entry")]
    NoEntry(String),
    /// The program declares the entries or the default action const.
    #[error("{0}: const, the program does not let it change")]
    Const(String),
    /// A key has the wrong number or kind of fields, or a value that does not fit.
    #[error("{table}: {problem}")]
    BadKey {
        /// The table.
        table: String,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// The action is not one of the table's, or its parameters do not fit.
    #[error("{table}: {problem}")]
    BadAction {
        /// The table or action profile.
        table: String,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// The table has no direct counter, direct meter, action profile or selector.
    #[error("{0}: has no {1}")]
    Without(String, &'static str),
    /// A cell that the array does not have.
    #[error("{array}: no cell {cell}, it has {size}")]
    NoCell {
        /// The counter, meter or register.
        array: String,
        /// The cell asked for.
        cell: usize,
        /// How many there are.
        size: usize,
    },
    /// No such action profile member or group.
    #[error("{profile}: no {kind} {id}")]
    NoMember {
        /// The action profile.
        profile: String,
        /// "member" or "group".
        kind: &'static str,
        /// The identifier asked for.
        id: u32,
    },
    /// The member or group is still used.
    #[error("{profile}: {kind} {id} is in use")]
    InUse {
        /// The action profile.
        profile: String,
        /// "member" or "group".
        kind: &'static str,
        /// Its identifier.
        id: u32,
    },
    /// A value wider than the register, or a meter whose rates contradict each other.
    #[error("{0}: {1}")]
    BadValue(String, String),
}
