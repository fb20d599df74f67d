//! A host that uses Linux's own TCP: a guest of User-mode Linux in virtual time (p4sched-guest).
//!
//! It is set up like the hosts of the emulation, and runs the same programs: iperf3 and p4sched-traffic.

mod boot;
mod counters;
mod setup;
mod words;

use std::fs;
use std::net::Ipv4Addr;
use std::path::PathBuf;

use p4sched_dataplane::Nanos;
use p4sched_guest::orders::{Event, Order};
use p4sched_guest::{BOOT_NS, Guest, GuestError, Options};
use p4sched_proto::p4sched::v1::run_state::Phase;
use p4sched_proto::p4sched::v1::{HostCounters, HostKind, RunState};
use p4sched_world::network_file::HostPlace;
use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};

use crate::host::{Host, HostError, Outbox, TcpSettings};
use crate::run::{Program, Run};

pub use boot::boot_all;

/// Name of the guest's interface in its kernel.
const INTERFACE: &str = "eth0";
const SIGTERM: i32 = 15;
/// First number of orders that do not belong to a run. The numbers of runs count from 0.
const READ: u64 = 1 << 32;
const SETTING: u64 = READ + 1;
const SETTING_FILE: &str = "setting";

/// A guest in a network.
#[derive(Debug)]
pub struct KernelHost {
    name: String,
    guest: Guest,
    folder: PathBuf,
    traffic: PathBuf,
    route: String,
    settings: TcpSettings,
    runs: Vec<PlannedRun>,
    now: Nanos,
    /// The error of a call that could not return it.
    failed: Option<HostError>,
}

#[derive(Debug)]
struct PlannedRun {
    run: Run,
    stopped: bool,
    state: RunState,
}

impl KernelHost {
    /// Boots a guest and sets it up for its place in the network. `traffic` is the path of p4sched-traffic.
    ///
    /// # Errors
    /// [`HostError`] if it does not start, or refuses a setting.
    pub fn boot(place: &HostPlace, options: &Options, traffic: PathBuf) -> Result<KernelHost, HostError> {
        stay_here();
        let mut guest = Guest::boot(options).map_err(sentence)?;
        setup::set_up(&mut guest, place, &options.folder).map_err(sentence)?;
        guest.settle().map_err(sentence)?;
        Ok(KernelHost {
            name: place.name.clone(),
            guest,
            folder: options.folder.clone(),
            traffic,
            route: setup::route(place),
            settings: TcpSettings::default(),
            runs: Vec::new(),
            now: 0,
            failed: None,
        })
    }

    /// The stem of the names of a run's files.
    fn stem(number: usize) -> String {
        format!("run-{number}")
    }

    fn start_due(&mut self, now: Nanos) -> Result<(), GuestError> {
        for number in 0..self.runs.len() {
            let planned = &mut self.runs[number];
            if planned.state.phase() != Phase::Planned || planned.run.start > now {
                continue;
            }
            planned.state.set_phase(Phase::Running);
            let stem = Self::stem(number);
            let words = words::words(&planned.run.program, &stem, &self.folder, &self.traffic)?;
            let order = Order::Start {
                id: number as u64,
                words,
                output: stem,
            };
            self.guest.order(guest_time(now), &order)?;
        }
        Ok(())
    }

    fn note_events(&mut self, now: Nanos) -> Result<(), GuestError> {
        let events: Vec<Event> = self.guest.take_events().collect();
        for event in events {
            match event {
                Event::Ended { id, status } if id < READ => self.note_end(id as usize, now, status),
                Event::Failed { id: Some(id), reason } if id < READ => self.fail(id as usize, now, reason),
                Event::Failed { reason, .. } => {
                    return Err(GuestError::Refused {
                        name: self.name.clone(),
                        reason,
                    });
                }
                Event::Ended { id: SETTING, status } if status != 0 => {
                    let reason = fs::read_to_string(self.folder.join(format!("{SETTING_FILE}.errors")))?;
                    return Err(GuestError::Refused {
                        name: self.name.clone(),
                        reason: reason.trim().to_owned(),
                    });
                }
                Event::Ended { .. } | Event::Ready | Event::Text { .. } => {}
            }
        }
        Ok(())
    }

    fn note_end(&mut self, number: usize, now: Nanos, status: i32) {
        let text = |name: String| {
            fs::read(self.folder.join(name))
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
                .unwrap_or_default()
        };
        let stem = Self::stem(number);
        let log_bytes = fs::metadata(self.folder.join(words::log_file(&stem))).map_or(0, |file| file.len());
        let (report, error) = (text(stem.clone()), text(format!("{stem}.errors")));
        let Some(planned) = self.runs.get_mut(number) else {
            return;
        };
        let state = &mut planned.state;
        let well = status == 0 || planned.stopped;
        state.set_phase(if well { Phase::Ended } else { Phase::Failed });
        state.ended_ns = now;
        state.error = if !well && error.is_empty() {
            reason(&report, status)
        } else {
            error
        };
        state.report = report;
        state.log_bytes = log_bytes;
    }

    fn fail(&mut self, number: usize, now: Nanos, reason: String) {
        if let Some(planned) = self.runs.get_mut(number) {
            planned.state.set_phase(Phase::Failed);
            planned.state.ended_ns = now;
            planned.state.error = reason;
        }
    }

    /// Keeps an error until it can be reported.
    fn keep<T>(&mut self, result: Result<T, GuestError>) -> Option<T> {
        result.map_err(|error| self.failed = Some(sentence(error))).ok()
    }

    /// Runs a command that changes a setting at once.
    fn set(&mut self, words: Vec<String>) {
        let order = Order::Start {
            id: SETTING,
            words,
            output: SETTING_FILE.into(),
        };
        let done = |event: &Event| matches!(event, Event::Ended { id: SETTING, .. });
        let asked = self.guest.ask(guest_time(self.now), &order, done);
        self.keep(asked);
        let noted = self.note_events(self.now);
        self.keep(noted);
    }

    fn send(&mut self, out: &mut Outbox) {
        for frame in self.guest.take_frames() {
            out.send(|buffer| buffer.extend_from_slice(&frame));
        }
    }
}

impl Host for KernelHost {
    fn kind(&self) -> HostKind {
        HostKind::Kernel
    }

    fn receive(&mut self, now: Nanos, frame: &[u8], _out: &mut Outbox) {
        self.now = now;
        let received = self.guest.receive(guest_time(now), frame);
        self.keep(received);
    }

    fn next_event(&self) -> Option<Nanos> {
        if self.failed.is_some() || self.guest.has_frames() {
            return Some(self.now);
        }
        let planned = self
            .runs
            .iter()
            .filter(|planned| planned.state.phase() == Phase::Planned);
        let wakes = self.guest.next_event().map(|time| time.saturating_sub(BOOT_NS));
        planned
            .map(|planned| planned.run.start)
            .chain(wakes)
            .min()
            .map(|time| time.max(self.now))
    }

    fn advance(&mut self, now: Nanos, out: &mut Outbox) -> Result<(), HostError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        self.now = now;
        self.start_due(now).map_err(sentence)?;
        self.guest.advance(guest_time(now)).map_err(sentence)?;
        self.send(out);
        self.note_events(now).map_err(sentence)
    }

    fn check(&self, run: &Run) -> Result<(), String> {
        match &run.program {
            Program::ProbeSend { .. } | Program::ProbeReceive { .. } => Err(format!(
                "{} has a kernel: there a probe is a command, such as `python3 -m p4sched.lab.probe`",
                self.name
            )),
            _ => Ok(()),
        }
    }

    fn plan(&mut self, now: Nanos, run: Run) {
        self.now = now;
        let mut state = RunState {
            name: run.name.clone(),
            ..RunState::default()
        };
        state.set_phase(Phase::Planned);
        self.runs.push(PlannedRun {
            run,
            stopped: false,
            state,
        });
    }

    fn stop(&mut self, now: Nanos, name: &str, out: &mut Outbox) {
        let Some(number) = self.runs.iter().position(|planned| planned.state.name == name) else {
            return;
        };
        self.now = now;
        let planned = &mut self.runs[number];
        match planned.state.phase() {
            Phase::Planned => {
                planned.state.set_phase(Phase::Ended);
                planned.state.ended_ns = now;
            }
            Phase::Running => {
                planned.stopped = true;
                let id = number as u64;
                let order = Order::Signal { id, signal: SIGTERM };
                let ended = |event: &Event| matches!(event, Event::Ended { id: ended, .. } if *ended == id);
                let asked = self.guest.ask(guest_time(now), &order, ended);
                self.keep(asked);
                self.send(out);
                let noted = self.note_events(now);
                self.keep(noted);
            }
            Phase::Ended | Phase::Failed | Phase::Unspecified => {}
        }
    }

    fn state(&self, name: &str) -> Option<RunState> {
        self.runs
            .iter()
            .find(|planned| planned.state.name == name)
            .map(|planned| planned.state.clone())
    }

    fn log(&self, name: &str) -> Vec<u8> {
        let number = self.runs.iter().position(|planned| planned.state.name == name);
        let path = number.map(|number| self.folder.join(words::log_file(&Self::stem(number))));
        path.and_then(|path| fs::read(path).ok()).unwrap_or_default()
    }

    fn expect_dctcp(&mut self, now: Nanos, with: Ipv4Addr) {
        self.now = now;
        self.set(setup::dctcp_route(&self.route, with));
    }

    fn set_tcp(&mut self, settings: TcpSettings) {
        self.settings.rto_min = settings.rto_min.or(self.settings.rto_min);
        self.settings.initial_window = settings.initial_window.or(self.settings.initial_window);
        self.set(setup::change_route(&self.route, self.settings));
    }

    fn counters(&mut self, now: Nanos) -> Result<HostCounters, HostError> {
        self.now = now;
        let mut texts: [String; 3] = Default::default();
        for (path, text) in counters::FILES.iter().zip(&mut texts) {
            *text = self.guest.read(guest_time(now), READ, path).map_err(sentence)?;
        }
        Ok(counters::counters(&self.name, INTERFACE, &texts))
    }
}

/// Keeps this process and the guests that it starts on the current processor. Only one of them runs at a time, and
/// waking another processor takes longer than their work.
fn stay_here() {
    let mut here = CpuSet::new();
    here.set(sched_getcpu());
    // If this fails, the guests are only slower.
    let _ = sched_setaffinity(None, &here);
}

/// The guest's time for a time of the network.
fn guest_time(now: Nanos) -> u64 {
    BOOT_NS + now
}

fn sentence(error: GuestError) -> HostError {
    HostError(error.to_string())
}

/// Reason why a program failed without an error message. iperf3 writes the reason into its report.
fn reason(report: &str, status: i32) -> String {
    let error = serde_json::from_str::<serde_json::Value>(report)
        .ok()
        .and_then(|report| report.get("error").and_then(|error| error.as_str()).map(str::to_owned));
    error.unwrap_or_else(|| format!("it ended with status {status}"))
}
