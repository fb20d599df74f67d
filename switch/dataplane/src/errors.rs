//! Errors of a program or a control-plane request.

/// An error in a program to load.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// Invalid JSON.
    #[error("not JSON: {0}")]
    Syntax(String),
    /// A part of the JSON is missing, has the wrong type, refers to nothing, is out of range, or is not supported.
    #[error("{path}: {problem}")]
    Invalid {
        /// Place in the JSON, such as `pipelines[0].tables[3].key[1]`.
        path: String,
        /// The problem, and the right form if that helps.
        problem: String,
    },
}

/// An error in a control-plane request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    #[error("{table}: full, all {size} entries are used")]
    Full {
        /// Table or action profile.
        table: String,
        /// Largest number of entries or members.
        size: usize,
    },
    /// An entry with this key (and priority) already exists.
    #[error("{0}: an entry with this key exists")]
    Duplicate(String),
    #[error("{0}: no such entry")]
    NoEntry(String),
    /// The program declares the entries or the default action as const.
    #[error("{0}: const, the program does not let it change")]
    Const(String),
    /// The key has the wrong number or kind of fields, or a value does not fit.
    #[error("{table}: {problem}")]
    BadKey {
        table: String,
        /// The problem, and the right form.
        problem: String,
    },
    /// The table does not have this action, or the parameters do not fit.
    #[error("{table}: {problem}")]
    BadAction {
        /// Table or action profile.
        table: String,
        /// The problem, and the right form.
        problem: String,
    },
    /// The table has no direct counter, direct meter, action profile or selector.
    #[error("{0}: has no {1}")]
    Without(String, &'static str),
    /// The array does not have this cell.
    #[error("{array}: no cell {cell}, it has {size}")]
    NoCell {
        /// Counter, meter or register.
        array: String,
        cell: usize,
        /// Number of cells.
        size: usize,
    },
    /// The action profile has no such member or group.
    #[error("{profile}: no {kind} {id}")]
    NoMember {
        profile: String,
        /// "member" or "group".
        kind: &'static str,
        id: u32,
    },
    /// The member or group is in use.
    #[error("{profile}: {kind} {id} is in use")]
    InUse {
        profile: String,
        /// "member" or "group".
        kind: &'static str,
        id: u32,
    },
    /// The value is wider than the register, or the rates of the meter contradict each other.
    #[error("{0}: {1}")]
    BadValue(String, String),
}
