//! Readings of all ports.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use p4sched_proto::p4sched::v1::{GetStatsRequest, PortStats};
use tonic::Status;

use super::interfaces::Interfaces;
use super::leaves::Port;
use super::path::Selection;
use crate::handle::DeviceHandle;

/// All ports at one instant, by number.
pub struct Reading {
    /// ns since 1970.
    pub at: u64,
    pub ports: Vec<Port>,
}

impl Reading {
    /// The ports that a path selects.
    pub fn selected<'a>(&'a self, selection: &'a Selection) -> impl Iterator<Item = &'a Port> {
        let wanted = selection.interface.as_ref();
        (self.ports.iter()).filter(move |port| wanted.is_none_or(|name| *name == port.name))
    }
}

/// The present time in ns since 1970.
pub fn unix_time() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// Reads ports, and remembers when they went up or down.
pub struct Reader {
    device: DeviceHandle,
    interfaces: Arc<dyn Interfaces>,
    /// By name: whether the interface was up, and since when.
    seen: Mutex<HashMap<String, (bool, u64)>>,
}

impl Reader {
    pub fn new(device: DeviceHandle, interfaces: Arc<dyn Interfaces>) -> Reader {
        Reader {
            device,
            interfaces,
            seen: Mutex::default(),
        }
    }

    pub fn interfaces(&self) -> &Arc<dyn Interfaces> {
        &self.interfaces
    }

    /// Reads all ports. The counters cost a request to the data plane, so they are left out if nobody asks for them.
    ///
    /// # Errors
    /// `UNAVAILABLE` if the switch is shutting down.
    pub async fn read(&self, counters: bool) -> Result<Reading, Status> {
        let found: Vec<(u16, String, Option<PortStats>)> = if counters {
            let all = GetStatsRequest::default();
            let stats = self
                .device
                .try_run(move |device, ports, now| device.get_stats(&all, now, ports))
                .await?;
            let port = |stats: PortStats| {
                let number = u16::try_from(stats.port).unwrap_or(u16::MAX);
                (number, stats.interface.clone(), Some(stats))
            };
            stats.ports.into_iter().map(port).collect()
        } else {
            let links = self.device.edit(|device, _| device.links().clone()).await?;
            (links.into_iter())
                .map(|(number, link)| (number, link.interface, None))
                .collect()
        };
        let interfaces = Arc::clone(&self.interfaces);
        let read = tokio::task::spawn_blocking(move || {
            (found.into_iter())
                .map(|(number, name, stats)| Port {
                    number,
                    interface: interfaces.read(&name),
                    last_change: 0,
                    stats,
                    name,
                })
                .collect::<Vec<Port>>()
        });
        let mut ports: Vec<Port> = read
            .await
            .map_err(|_| Status::unavailable("the switch is shutting down"))?;
        let at = unix_time();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.retain(|name, _| ports.iter().any(|port| port.name == *name));
        for port in &mut ports {
            let up = port.interface.is_some_and(|interface| interface.up);
            let since = seen.entry(port.name.clone()).or_insert((up, at));
            if since.0 != up {
                *since = (up, at);
            }
            port.last_change = since.1;
        }
        Ok(Reading { at, ports })
    }

    /// Notes when interfaces go up and down. Never returns while the switch runs.
    pub async fn follow(&self) {
        let mut changes = self.interfaces.changes();
        while self.read(false).await.is_ok() {
            if changes.changed().await.is_err() {
                break;
            }
        }
        std::future::pending().await
    }
}
