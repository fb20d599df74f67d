//! Boot of all guests of a network.

use std::collections::HashMap;
use std::env;
use std::path::Path;
use std::time::Duration;

use p4sched_guest::{GuestError, Options, init, kernel};
use p4sched_world::network_file::{HostPlace, Mac, NetworkFile};

use super::KernelHost;
use crate::host::HostError;

/// Memory of a guest in MiB. Only used memory costs anything: some 40 MiB, and the buffers of its connections.
const MEMORY_MIB: u32 = 512;
const TRAFFIC: &str = "p4sched-traffic";

/// Boots a guest for each host, by name. Each writes into a folder of its name in `folder`. The random numbers of a
/// guest follow from the seed and the guest's place among the hosts.
///
/// # Errors
/// [`HostError`] if a program is missing or a guest does not start.
/// [`HostError`] if a program is missing or a guest does not come up.
pub fn boot_all(
    topology: &NetworkFile,
    seed: u64,
    patience: Duration,
    folder: &Path,
) -> Result<HashMap<String, KernelHost>, HostError> {
    let sentence = |error: GuestError| HostError(error.to_string());
    let (kernel, init) = (kernel().map_err(sentence)?, init().map_err(sentence)?);
    let traffic = env::current_exe()
        .map_err(|error| sentence(error.into()))?
        .with_file_name(TRAFFIC);
    let boot = |(number, place): (u64, &HostPlace)| {
        let Mac(mac) = place.mac;
        let options = Options {
            name: place.name.clone(),
            kernel: kernel.clone(),
            init: init.clone(),
            folder: folder.join(&place.name),
            mac,
            seed: seed.wrapping_mul(1 << 32).wrapping_add(number),
            memory_mib: MEMORY_MIB,
            patience,
        };
        Ok((place.name.clone(), KernelHost::boot(place, &options, traffic.clone())?))
    };
    (0..).zip(&topology.hosts).map(boot).collect()
}
