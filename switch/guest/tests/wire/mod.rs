//! The smallest world: two guests, connected by a wire with a delay.

use p4sched_guest::orders::{Event, Order};
use p4sched_guest::{Guest, Options, kernel};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

pub const SECOND: u64 = 1_000_000_000;

pub struct Wire {
    pub guests: Vec<Guest>,
    delay: u64,
    /// Frames in flight: the arrival time, the number, and the receiving guest.
    flying: BTreeMap<(u64, u64), (usize, Vec<u8>)>,
    sent: u64,
    /// FNV-1a hash of the bytes of all frames so far, in order of arrival.
    pub hash: u64,
    pub events: Vec<(u64, usize, Event)>,
    folder: TempDir,
}

pub fn options(folder: &Path, number: u8, seed: u64) -> Option<Options> {
    let kernel = match kernel() {
        Ok(kernel) => kernel,
        Err(reason) => {
            eprintln!("skipped: {reason}");
            return None;
        }
    };
    Some(Options {
        name: format!("h{number}"),
        kernel,
        init: PathBuf::from(env!("CARGO_BIN_EXE_p4sched-guest-init")),
        folder: folder.join(format!("h{number}")),
        mac: [2, 0, 0, 0, 0, number],
        seed: seed + u64::from(number),
        memory_mib: 256,
        patience: Duration::from_secs(30),
    })
}

pub fn start(id: u64, words: &[&str], output: &str) -> Order {
    let words = words.iter().map(|word| (*word).to_owned()).collect();
    Order::Start {
        id,
        words,
        output: output.to_owned(),
    }
}

/// A guest that has just booted.
pub fn unsettled() -> Option<(TempDir, Guest)> {
    let folder = TempDir::new().unwrap();
    let guest = Guest::boot(&options(folder.path(), 1, 1)?).unwrap();
    Some((folder, guest))
}

/// Two guests, 10.0.0.1 and 10.0.0.2; `None` if the guests' kernel is missing.
pub fn pair(seed: u64, delay: u64) -> Option<Wire> {
    let folder = TempDir::new().unwrap();
    let mut guests = Vec::new();
    for number in 1..=2u8 {
        let mut guest = Guest::boot(&options(folder.path(), number, seed)?).unwrap();
        let other = 3 - number;
        guest
            .run(&["ip", "address", "add", &format!("10.0.0.{number}/24"), "dev", "eth0"])
            .unwrap();
        guest.run(&["ip", "link", "set", "eth0", "up"]).unwrap();
        let (address, mac) = (format!("10.0.0.{other}"), format!("02:00:00:00:00:0{other}"));
        guest
            .run(&[
                "ip",
                "neighbour",
                "replace",
                &address,
                "lladdr",
                &mac,
                "dev",
                "eth0",
                "nud",
                "permanent",
            ])
            .unwrap();
        guest.settle().unwrap();
        guests.push(guest);
    }
    Some(Wire {
        guests,
        delay,
        flying: BTreeMap::new(),
        sent: 0,
        hash: 0xcbf2_9ce4_8422_2325,
        events: Vec::new(),
        folder,
    })
}

impl Wire {
    pub fn start(&mut self, guest: usize, now: u64, id: u64, words: &[&str], output: &str) {
        self.guests[guest].order(now, &start(id, words, output)).unwrap();
    }

    pub fn text(&self, guest: usize, output: &str) -> String {
        fs::read_to_string(self.folder.path().join(format!("h{}", guest + 1)).join(output)).unwrap()
    }

    /// Lets time pass until an event is `wanted`, or until `end`. Returns the time at which it stopped.
    pub fn run(&mut self, end: u64, wanted: impl Fn(usize, &Event) -> bool) -> u64 {
        loop {
            let arrival = self.flying.keys().next().map(|(time, _)| *time);
            let next = self.guests.iter().filter_map(Guest::next_event).chain(arrival).min();
            let Some(now) = next.filter(|time| *time < end) else {
                return end;
            };
            while let Some(entry) = self.flying.first_entry().filter(|entry| entry.key().0 == now) {
                let (guest, frame) = entry.remove();
                for byte in &frame {
                    self.hash = (self.hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
                }
                self.guests[guest].receive(now, &frame).unwrap();
            }
            for place in 0..2 {
                self.guests[place].advance(now).unwrap();
                for frame in self.guests[place].take_frames() {
                    self.flying.insert((now + self.delay, self.sent), (1 - place, frame));
                    self.sent += 1;
                }
                let events: Vec<_> = self.guests[place].take_events().collect();
                let found = events.iter().any(|event| wanted(place, event));
                self.events.extend(events.into_iter().map(|event| (now, place, event)));
                if found {
                    return now;
                }
            }
        }
    }
}
