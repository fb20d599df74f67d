//! What a port of the switch can be told, and how its packets get their user and rank.

use p4sched_dataplane::{FieldRef, Packet, Pipeline, Port};
use p4sched_traffic_manager::{ConfigError, Discipline, PortConfig};
use thiserror::Error;

/// A port's traffic manager, and the fields of the program that it looks at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PortSettings {
    /// Rate, delay, discipline, room.
    pub config: PortConfig,
    /// The field that names a packet's user, as `meta.user` or `ipv4.src_addr`; required by [`Discipline::Drr`],
    /// [`Discipline::Afq`] and [`Discipline::Stfq`]. Read when ingress is done; the low 64 bits count.
    pub user_field: Option<String>,
    /// The field that holds a packet's rank, smaller = more urgent; required by [`Discipline::Pifo`]. Read like
    /// `user_field`.
    pub rank_field: Option<String>,
}

/// Port settings that can not work.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PortError {
    /// A number out of range.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A discipline without the field that it orders packets by.
    #[error("port {port}: discipline {discipline} needs {setting}, the field of the program that holds {meaning}")]
    FieldMissing {
        /// The port.
        port: Port,
        /// `drr`, `afq`, `stfq` or `pifo`.
        discipline: &'static str,
        /// `user_field` or `rank_field`.
        setting: &'static str,
        /// What the field tells.
        meaning: &'static str,
    },
    /// A field that the loaded program does not have.
    #[error(
        "port {port}: {setting}: the program has no field '{field}'; user metadata is meta.NAME, headers are HEADER.FIELD"
    )]
    UnknownField {
        /// The port.
        port: Port,
        /// `user_field` or `rank_field`.
        setting: &'static str,
        /// What was asked for.
        field: String,
    },
    /// A port number that v1model can not express.
    #[error("port {port}: ports are 0..=510 (9 bits, 511 means drop)")]
    NoSuchPort {
        /// The port.
        port: Port,
    },
}

/// Where user and rank are in the packets of the loaded program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    user: Option<FieldRef>,
    rank: Option<FieldRef>,
}

impl Fields {
    /// Looks the fields up in the program.
    pub fn resolve(port: Port, settings: &PortSettings, program: &Pipeline) -> Result<Fields, PortError> {
        let find = |setting, name: &Option<String>| match name {
            None => Ok(None),
            Some(name) => match program.field(name) {
                None => Err(PortError::UnknownField {
                    port,
                    setting,
                    field: name.clone(),
                }),
                found => Ok(found),
            },
        };
        Ok(Fields {
            user: find("user_field", &settings.user_field)?,
            rank: find("rank_field", &settings.rank_field)?,
        })
    }

    /// A packet's user and rank; 0 where there is no field.
    pub fn classify(&self, program: &Pipeline, packet: &Packet) -> (u64, u64) {
        let read = |field: Option<FieldRef>| field.map_or(0, |field| program.read(packet, field) as u64);
        (read(self.user), read(self.rank))
    }
}

/// Checks what can be checked without a program.
pub(crate) fn check(port: Port, settings: &PortSettings) -> Result<(), PortError> {
    if port >= p4sched_dataplane::DROP_PORT {
        return Err(PortError::NoSuchPort { port });
    }
    settings.config.check(port)?;
    let needs_user = |discipline| match settings.user_field {
        Some(_) => Ok(()),
        None => Err(PortError::FieldMissing {
            port,
            discipline,
            setting: "user_field",
            meaning: "a packet's user (for example meta.user)",
        }),
    };
    match settings.config.discipline {
        Discipline::Drr => needs_user("drr"),
        Discipline::Afq => needs_user("afq"),
        Discipline::Stfq => needs_user("stfq"),
        Discipline::Pifo if settings.rank_field.is_none() => Err(PortError::FieldMissing {
            port,
            discipline: "pifo",
            setting: "rank_field",
            meaning: "a packet's rank (for example meta.rank)",
        }),
        _ => Ok(()),
    }
}
