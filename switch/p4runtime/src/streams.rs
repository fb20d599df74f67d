//! The controllers' streams: arbitration, and what the switch sends by itself.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use p4sched_device::Notification;
use p4sched_proto::p4::v1 as p4rt;
use tokio::sync::mpsc;
use tonic::Status;

use crate::arbitration::{Answer, Arbitration, StreamId};
use crate::status;

/// Message down a stream.
pub type Outgoing = Result<p4rt::StreamMessageResponse, Status>;

pub struct Streams {
    state: Mutex<State>,
    /// Held while updates are applied: a new primary waits for the writes of the old one.
    pub writes: tokio::sync::Mutex<()>,
}

struct State {
    arbitration: Arbitration,
    open: HashMap<StreamId, Open>,
    next: StreamId,
    backlog: usize,
}

struct Open {
    sender: mpsc::Sender<Outgoing>,
    said: Said,
}

/// Number of messages over a stream since it was opened, without arbitration and errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// Packet-ins, digests and idle notices.
    pub by_switch: u64,
    /// Packet-outs and acknowledgements of digests that the switch has taken.
    pub by_controller: u64,
}

impl Streams {
    /// Streams without controllers. `backlog`: messages that may wait for each; further ones are dropped, so that a
    /// slow controller delays no other.
    pub fn new(device_id: u64, backlog: usize) -> Streams {
        let state = State {
            arbitration: Arbitration::new(device_id),
            open: HashMap::new(),
            next: 0,
            backlog,
        };
        Streams {
            state: Mutex::new(state),
            writes: tokio::sync::Mutex::new(()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A controller opens a stream; the receiver yields what is to be sent on it.
    pub fn open(&self) -> (StreamId, mpsc::Receiver<Outgoing>) {
        let mut state = self.state();
        let (sender, receiver) = mpsc::channel(state.backlog);
        state.next += 1;
        let stream = state.next;
        let said = Said::default();
        state.open.insert(stream, Open { sender, said });
        (stream, receiver)
    }

    /// A stream has ended.
    pub fn close(&self, stream: StreamId) {
        let mut state = self.state();
        state.open.remove(&stream);
        let answers = state.arbitration.close(stream);
        answers.into_iter().for_each(|answer| state.answer(answer));
    }

    /// A `MasterArbitrationUpdate`.
    ///
    /// # Errors
    /// The status with which the stream must end.
    pub async fn arbitrate(&self, stream: StreamId, request: &p4rt::MasterArbitrationUpdate) -> Result<(), Status> {
        let last = {
            let mut state = self.state();
            let mut answers = state.arbitration.update(stream, request).map_err(status::of)?;
            let last = answers.pop();
            answers.into_iter().for_each(|answer| state.answer(answer));
            last
        };
        if let Some(answer) = last {
            drop(self.writes.lock().await);
            self.state().answer(answer);
        }
        Ok(())
    }

    /// Sends one message on a stream, unless too many wait there already.
    pub fn send(&self, stream: StreamId, update: Notification) {
        self.state().send(stream, update);
    }

    /// Ends a stream with a status.
    pub async fn fail(&self, stream: StreamId, status: Status) {
        let sender = self.state().open.get(&stream).map(|open| open.sender.clone());
        if let Some(sender) = sender {
            // The controller may be gone already.
            let _ = sender.send(Err(status)).await;
        }
    }

    /// See [`Arbitration::check_write`].
    pub fn check_write(&self, device_id: u64, role: &str, id: Option<&p4rt::Uint128>) -> Result<(), Status> {
        let checked = self.state().arbitration.check_write(device_id, role, id);
        checked.map_err(status::of)
    }

    /// See [`Arbitration::check_device`].
    pub fn check_device(&self, device_id: u64) -> Result<(), Status> {
        self.state().arbitration.check_device(device_id).map_err(status::of)
    }

    /// See [`Arbitration::is_primary`].
    pub fn is_primary(&self, stream: StreamId) -> bool {
        self.state().arbitration.is_primary(stream)
    }

    /// Sends a notification to the primary controllers. Returns whether none of them has lost it.
    pub fn notify(&self, notification: &Notification) -> bool {
        let mut state = self.state();
        let mut taken = true;
        for stream in state.arbitration.primaries() {
            if state.send(stream, notification.clone()) {
                state.said(stream, |said| said.by_switch += 1);
            } else {
                taken = false;
            }
        }
        taken
    }

    /// Passes notifications on to the primary controllers until the device is gone.
    pub async fn pass_on(&self, mut notifications: mpsc::Receiver<Notification>) {
        while let Some(notification) = notifications.recv().await {
            self.notify(&notification);
        }
    }

    /// The switch has taken a message of this stream.
    pub fn taken(&self, stream: StreamId) {
        self.state().said(stream, |said| said.by_controller += 1);
    }

    /// Number of messages on the stream of the controller with this election identifier; `None` if there is none.
    pub fn said(&self, election_id: u128) -> Option<Said> {
        let state = self.state();
        let stream = state.arbitration.stream_of(election_id)?;
        state.open.get(&stream).map(|open| open.said)
    }
}

impl State {
    /// Full: the message is lost, as P4Runtime allows for packets, digests and idle notices.
    fn send(&mut self, stream: StreamId, update: Notification) -> bool {
        self.open.get(&stream).is_some_and(|open| {
            let message = p4rt::StreamMessageResponse { update: Some(update) };
            open.sender.try_send(Ok(message)).is_ok()
        })
    }

    fn said(&mut self, stream: StreamId, count: impl FnOnce(&mut Said)) {
        if let Some(open) = self.open.get_mut(&stream) {
            count(&mut open.said);
        }
    }

    /// An arbitration answer may not get lost: a controller that does not read any more loses its stream instead.
    fn answer(&mut self, (stream, update): Answer) {
        let response = p4rt::StreamMessageResponse {
            update: Some(Notification::Arbitration(update)),
        };
        let lost = self
            .open
            .get(&stream)
            .is_some_and(|open| open.sender.try_send(Ok(response)).is_err());
        if lost {
            self.open.remove(&stream);
        }
    }
}
