//! Errors of a program or a control-plane request.

/// Error of loading a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// Invalid JSON.
    #[error("not JSON: {0}")]
    Syntax(String),
    /// Something in the JSON is missing, of the wrong type, dangling, out of range or not supported.
    #[error("{path}: {problem}")]
    Invalid {
        /// Place in the JSON, such as `pipelines[0].tables[3].key[1]`.
        path: String,
        /// Fault, and the right form if that helps.
        problem: String,
    },
}

/// Error of a control-plane request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    #[error("{table}: full, all {size} entries are used")]
    Full {
        /// The table or action profile.
        table: String,
        /// Largest number.
        size: usize,
    },
    /// An entry with this key (and priority) exists.
    #[error("{0}: an entry with this key exists")]
    Duplicate(String),
    #[error("{0}: no such entry")]
    NoEntry(String),
    /// The program declares the entries or the default action const.
    #[error("{0}: const, the program does not let it change")]
    Const(String),
    /// A key has the wrong number or kind of fields, or a value that does not fit.
    #[error("{table}: {problem}")]
    BadKey {
        table: String,
        /// Fault, and the right form.
        problem: String,
    },
    /// The action is not one of the table's, or its parameters do not fit.
    #[error("{table}: {problem}")]
    BadAction {
        /// The table or action profile.
        table: String,
        /// Fault, and the right form.
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
        /// Number of them.
        size: usize,
    },
    /// No such member or group of an action profile.
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
        id: u32,
    },
    /// A value wider than the register, or a meter whose rates contradict each other.
    #[error("{0}: {1}")]
    BadValue(String, String),
}
