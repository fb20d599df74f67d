//! Settings of the switch's ports, and the fields that hold the packets' users and ranks.

use p4sched_dataplane::{FieldRef, Packet, Pipeline, Port};
use p4sched_traffic_manager::{ConfigError, LEVELS, Levels, Marks, PortConfig, name, reads};
use thiserror::Error;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PortSettings {
    /// Rate, delay, discipline and buffer sizes.
    pub config: PortConfig,
    /// The field that holds a packet's user, for example `meta.user` or `ipv4.src_addr`. Disciplines that read the user
    /// ([`reads`]) require it. It is read at the end of ingress; the low 64 bits are used.
    pub user_field: Option<String>,
    /// The field that holds a packet's rank; in a tree, the rank at the root. Read like `user_field`.
    pub rank_field: Option<String>,
    /// The field that holds the number of a packet's leaf in a tree. Read like `user_field`.
    pub leaf_field: Option<String>,
    /// The fields that hold a packet's ranks at the levels of a tree below the root. Read like `user_field`.
    pub level_rank_fields: Vec<String>,
}

/// An invalid setting of a port.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PortError {
    /// A number is out of range.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The field that the discipline orders packets by is missing.
    #[error("port {port}: discipline {discipline} needs {setting}, the field of the program that holds {meaning}")]
    FieldMissing {
        port: Port,
        discipline: String,
        /// The name of the setting, for example `user_field`.
        setting: String,
        meaning: &'static str,
    },
    /// The loaded program does not have the field.
    #[error(
        "port {port}: {setting}: the program has no field '{field}'; user metadata is meta.NAME, headers are HEADER.FIELD"
    )]
    UnknownField {
        port: Port,
        /// The name of the setting, for example `user_field`.
        setting: String,
        /// The name of the missing field.
        field: String,
    },
    /// There are more levels than a tree can have.
    #[error("port {port}: {fields} rank_fields; a tree has at most {} levels below its root", LEVELS - 1)]
    TooManyRanks { port: Port, fields: usize },
    /// A port number that v1model cannot express.
    #[error("port {port}: ports are 0..=510 (9 bits, 511 means drop)")]
    NoSuchPort { port: Port },
}

/// Places of the fields that a discipline reads, in packets of the loaded program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    user: Option<FieldRef>,
    rank: Option<FieldRef>,
    levels: Option<Box<LevelFields>>,
}

/// The leaf in a tree, and the ranks below the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LevelFields {
    leaf: Option<FieldRef>,
    ranks: [Option<FieldRef>; LEVELS - 1],
}

impl Fields {
    pub fn resolve(port: Port, settings: &PortSettings, program: &Pipeline) -> Result<Fields, PortError> {
        let find = |setting: &str, name: Option<&String>| match name {
            None => Ok(None),
            Some(name) => match program.field(name) {
                None => Err(PortError::UnknownField {
                    port,
                    setting: setting.to_owned(),
                    field: name.clone(),
                }),
                found => Ok(found),
            },
        };
        let mut ranks = [None; LEVELS - 1];
        for (level, rank) in ranks.iter_mut().enumerate() {
            *rank = find("rank_fields", settings.level_rank_fields.get(level))?;
        }
        let leaf = find("leaf_field", settings.leaf_field.as_ref())?;
        let in_a_tree = leaf.is_some() || ranks.iter().any(Option::is_some);
        Ok(Fields {
            user: find("user_field", settings.user_field.as_ref())?,
            rank: find("rank_field", settings.rank_field.as_ref())?,
            levels: in_a_tree.then(|| Box::new(LevelFields { leaf, ranks })),
        })
    }

    /// The marks of a packet; 0 for a missing field.
    pub fn classify(&self, program: &Pipeline, packet: &Packet) -> Marks {
        let read = |field: Option<FieldRef>| field.map_or(0, |field| program.read(packet, field) as u64);
        Marks {
            user: read(self.user),
            rank: read(self.rank),
            levels: self.levels.as_deref().map(|&LevelFields { leaf, ranks }| {
                Box::new(Levels {
                    leaf: read(leaf),
                    ranks: ranks.map(read),
                })
            }),
        }
    }
}

/// Checks everything that does not depend on a program.
pub(crate) fn check(port: Port, settings: &PortSettings) -> Result<(), PortError> {
    if port >= p4sched_dataplane::DROP_PORT {
        return Err(PortError::NoSuchPort { port });
    }
    settings.config.check(port)?;
    let below_root = LEVELS - 1;
    if settings.level_rank_fields.len() > below_root {
        return Err(PortError::TooManyRanks {
            port,
            fields: settings.level_rank_fields.len(),
        });
    }
    let missing = |setting: &str, meaning| PortError::FieldMissing {
        port,
        discipline: name(settings.config.discipline),
        setting: setting.to_owned(),
        meaning,
    };
    let reads = reads(&settings.config);
    if reads.user && settings.user_field.is_none() {
        return Err(missing("user_field", "a packet's user (for example meta.user)"));
    }
    if reads.ranks[0] && settings.rank_field.is_none() {
        return Err(missing("rank_field", "a packet's rank (for example meta.rank)"));
    }
    if reads.leaf && settings.leaf_field.is_none() {
        let meaning = "the number of a packet's leaf (for example meta.leaf)";
        return Err(missing("leaf_field", meaning));
    }
    for level in 1..LEVELS {
        if reads.ranks[level] && settings.level_rank_fields.len() < level {
            let setting = format!("rank_fields number {level}");
            return Err(missing(&setting, "a packet's rank that many levels below the root"));
        }
    }
    Ok(())
}
