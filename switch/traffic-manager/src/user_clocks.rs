//! A virtual clock for each user, for example in bytes sent. A clock never runs back.

use hashbrown::HashMap;

/// With fewer users than this, none is forgotten.
pub(crate) const FEW_USERS: usize = 1024;

/// A reading for each user. A reading at or before the virtual time has no effect; such readings are deleted now and
/// then.
#[derive(Debug, Clone)]
pub(crate) struct UserClocks {
    readings: HashMap<u64, u64>,
    /// Number of readings at which the old ones are deleted.
    crowded: usize,
}

impl UserClocks {
    pub fn new() -> Self {
        UserClocks {
            readings: HashMap::new(),
            crowded: FEW_USERS,
        }
    }

    /// Clocks for a virtual time that may step back. No reading is deleted.
    pub fn keeping_all() -> Self {
        UserClocks {
            readings: HashMap::new(),
            crowded: usize::MAX,
        }
    }

    /// The user's reading, or the virtual time if that is later.
    pub fn at_least(&self, user: u64, virtual_time: u64) -> u64 {
        self.readings
            .get(&user)
            .map_or(virtual_time, |&reading| reading.max(virtual_time))
    }

    pub fn set(&mut self, user: u64, reading: u64, virtual_time: u64) {
        if self.readings.len() >= self.crowded {
            self.readings.retain(|_, reading| *reading > virtual_time);
            self.crowded = FEW_USERS.max(2 * self.readings.len());
        }
        self.readings.insert(user, reading);
    }
}
