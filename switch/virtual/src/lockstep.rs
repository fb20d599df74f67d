//! The lock step: the order of participants, requests of clients, and the network's time.
//!
//! One thread owns the network. While a participant does not wait, time stands still and requests are answered. When
//! all wait, time advances to the earliest time that one of them waits for, and that participant is answered. A message
//! from a switch to a participating controller ends the controller's wait at that instant, before any other event.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use p4sched_dataplane::Nanos;
use p4sched_p4runtime::{Job, MessageCounts, Streams};
use p4sched_proto::p4sched::v1::{Conversation, ParticipateRequest, ParticipateResponse};

use crate::world::{World, WorldError};

/// Largest number of events between two checks for messages.
const EVENTS_AT_A_TIME: usize = 1024;
/// With a pace: longest sleep between two checks for messages, by the wall clock.
const NAP: Duration = Duration::from_millis(1);

/// A request that needs the whole network.
pub type Request = Box<dyn FnOnce(&mut World) -> Result<(), WorldError> + Send>;
/// Tells a participant the time and the messages of its switches, or why the run has ended. It must not block.
pub type Answer = Box<dyn Fn(Result<ParticipateResponse, String>) + Send>;

/// A message to the thread that owns the network.
pub enum Message {
    /// There are requests for this switch.
    Switch(usize),
    /// A request for the network.
    Request(Request),
    /// A participant joins. It has this number.
    Join(u64, Answer),
    Wait(u64, ParticipateRequest),
    Leave(u64),
    /// The run ends.
    End,
}

struct Participant {
    answer: Answer,
    /// `None` while the participant acts.
    waits: Option<Wait>,
}

struct Wait {
    request: ParticipateRequest,
    /// Place in the order of waiting.
    since: u64,
}

/// A switch, as controllers see it.
pub struct ControlledSwitch {
    /// Device id in P4Runtime.
    pub device_id: u64,
    /// Streams of its controllers.
    pub streams: Arc<Streams>,
    /// Requests for the switch.
    pub jobs: Receiver<Job>,
}

impl ControlledSwitch {
    fn counts(&self, conversation: &Conversation) -> Option<MessageCounts> {
        let id = u128::from(conversation.election_id_high) << 64 | u128::from(conversation.election_id_low);
        self.streams.message_counts(id)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Longest time, by the wall clock, that a participant may be silent while time stands still for it.
    pub patience: Duration,
    /// Virtual seconds per second of the wall clock; `None`: as fast as possible.
    pub pace: Option<f64>,
    /// Whether programs are interpreted instead of compiled.
    pub interpret: bool,
}

/// The network and its lock step. One thread runs it.
pub struct LockStep {
    world: World,
    messages: Receiver<Message>,
    switches: Vec<ControlledSwitch>,
    settings: Settings,
    participants: BTreeMap<u64, Participant>,
    /// Number of waits so far.
    waits: u64,
    /// The error that stopped time.
    broken: Option<WorldError>,
    begun: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// Time advances up to this time.
    Advance(Nanos),
    /// This participant gets the messages of its switches.
    Tell(u64),
    /// The wall clock must advance first.
    Nap,
    /// Time stands still until every participant waits.
    Stand,
    /// Time stands still, and no participant owes a message.
    Idle,
}

impl LockStep {
    /// A lock step at time 0. `switches` must have the order of the network.
    pub fn new(
        world: World,
        messages: Receiver<Message>,
        switches: Vec<ControlledSwitch>,
        settings: Settings,
    ) -> LockStep {
        LockStep {
            world,
            messages,
            switches,
            settings,
            participants: BTreeMap::new(),
            waits: 0,
            broken: None,
            begun: Instant::now(),
        }
    }

    /// Runs until [`Message::End`], or until no sender of messages is left.
    ///
    /// # Errors
    /// Says in a sentence why the run ended early. Participants get the same sentence.
    pub fn run(mut self) -> Result<World, String> {
        let ended = self.until_the_end();
        for participant in self.participants.values() {
            let why = ended.clone().err().unwrap_or_else(|| "the run is over".into());
            (participant.answer)(Err(why));
        }
        ended?;
        let account = self.world.account();
        if account.balanced() {
            Ok(self.world)
        } else {
            Err(format!(
                "a frame went missing between the parts of the network, which is a bug: {account:?}"
            ))
        }
    }

    fn until_the_end(&mut self) -> Result<(), String> {
        loop {
            let next = self.next();
            let wait = match next {
                Next::Advance(limit) => {
                    self.advance(limit);
                    Some(Duration::ZERO)
                }
                Next::Tell(id) => {
                    self.answer(id);
                    Some(Duration::ZERO)
                }
                Next::Nap => Some(NAP),
                Next::Stand => Some(self.settings.patience),
                Next::Idle => None,
            };
            let heard = match wait {
                Some(wait) => self.messages.recv_timeout(wait),
                None => self.messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match heard {
                Ok(Message::End) | Err(RecvTimeoutError::Disconnected) => break,
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Timeout) if next == Next::Stand => return Err(self.silence()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if self.broken.is_some() && self.participants.is_empty() {
                break;
            }
        }
        self.broken.take().map_or(Ok(()), |why| Err(why.to_string()))
    }

    fn next(&self) -> Next {
        if self
            .participants
            .values()
            .any(|participant| participant.waits.is_none())
        {
            return Next::Stand;
        }
        if self.broken.is_some() || self.on_its_way().is_some() {
            return Next::Stand;
        }
        if let Some(id) = self.longest_waiting_with_messages() {
            return Next::Tell(id);
        }
        let waited_for = self.due().map(|(until, ..)| until);
        match (waited_for, self.settings.pace) {
            (None, None) => Next::Idle,
            (Some(Nanos::MAX), None) if self.world.is_idle() => Next::Stand,
            (Some(until), None) => Next::Advance(until),
            (until, Some(pace)) => {
                let wall = (self.begun.elapsed().as_secs_f64() * pace * 1e9) as Nanos;
                let limit = until.map_or(wall, |until| until.min(wall));
                if limit > self.world.now() || until.is_some_and(|until| until <= self.world.now()) {
                    Next::Advance(limit)
                } else {
                    Next::Nap
                }
            }
        }
    }

    /// The participant that is answered first: the end of its wait, its place in the order of waiting, and its number.
    fn due(&self) -> Option<(Nanos, u64, u64)> {
        let now = self.world.now();
        let waiting = self.participants.iter();
        waiting
            .filter_map(|(&id, participant)| Some((id, participant.waits.as_ref()?)))
            .map(|(id, wait)| (wait.request.until_ns.max(now), wait.since, id))
            .min()
    }

    /// The conversations of waiting participants, with the numbers of messages on their streams.
    fn conversations(&self) -> impl Iterator<Item = (u64, &Wait, &Conversation, MessageCounts)> {
        let waiting = self.participants.iter();
        let waiting = waiting.filter_map(|(&id, participant)| Some((id, participant.waits.as_ref()?)));
        waiting.flat_map(move |(id, wait)| {
            let found = wait.request.conversations.iter();
            found.filter_map(move |conversation| {
                let switch = self
                    .switches
                    .iter()
                    .find(|switch| switch.device_id == conversation.device_id)?;
                Some((id, wait, conversation, switch.counts(conversation)?))
            })
        })
    }

    /// A device for which a switch has not yet taken all messages of a participant, and the number of missing messages.
    fn on_its_way(&self) -> Option<(u64, u64)> {
        let mut all = self.conversations();
        let found = all.find(|(_, _, conversation, counts)| counts.by_controller < conversation.to_switch)?;
        Some((found.2.device_id, found.2.to_switch - found.3.by_controller))
    }

    /// The participant that has waited longest, among those with unread messages from their switches.
    fn longest_waiting_with_messages(&self) -> Option<u64> {
        let all = self.conversations();
        let unheard = all.filter(|(_, _, conversation, counts)| counts.by_switch > conversation.from_switch);
        unheard.map(|(id, wait, ..)| (wait.since, id)).min().map(|(_, id)| id)
    }

    /// Answers a waiting participant.
    fn answer(&mut self, id: u64) {
        let now_ns = self.world.now();
        let counts = self.conversations().filter(|(of, ..)| *of == id);
        let conversations = counts.map(|(_, _, conversation, counts)| Conversation {
            from_switch: counts.by_switch,
            to_switch: counts.by_controller,
            ..*conversation
        });
        let conversations = conversations.collect();
        if let Some(participant) = self.participants.get_mut(&id) {
            participant.waits = None;
            (participant.answer)(Ok(ParticipateResponse { now_ns, conversations }));
        }
    }

    fn advance(&mut self, limit: Nanos) {
        match self.world.advance(limit, EVENTS_AT_A_TIME) {
            Ok(false) => {}
            Ok(true) => {
                let now = self.world.now();
                let Some((_, _, id)) = self.due().filter(|&(until, ..)| until <= now) else {
                    return;
                };
                self.answer(id);
            }
            Err(error) => self.fail(error),
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Switch(place) => {
                while let Some(job) = self.switches.get(place).and_then(|switch| switch.jobs.try_recv().ok()) {
                    let done = self.world.request(place, job);
                    done.unwrap_or_else(|error| self.fail(error));
                }
            }
            Message::Request(request) => request(&mut self.world).unwrap_or_else(|error| self.fail(error)),
            Message::Join(id, answer) => {
                if let Some(why) = &self.broken {
                    answer(Err(why.to_string()));
                }
                self.participants.insert(id, Participant { answer, waits: None });
            }
            Message::Wait(id, request) => {
                self.waits += 1;
                let since = self.waits;
                if let Some(participant) = self.participants.get_mut(&id) {
                    participant.waits = Some(Wait { request, since });
                    if let Some(why) = &self.broken {
                        (participant.answer)(Err(why.to_string()));
                    }
                }
            }
            Message::Leave(id) => {
                self.participants.remove(&id);
            }
            Message::End => {}
        }
    }

    /// Stops the network after an error. Time stands still. The state can be read until all participants have left.
    fn fail(&mut self, error: WorldError) {
        for participant in self.participants.values() {
            (participant.answer)(Err(error.to_string()));
        }
        self.broken.get_or_insert(error);
    }

    fn silence(&self) -> String {
        if let Some(why) = &self.broken {
            return why.to_string();
        }
        let silent = self
            .participants
            .values()
            .filter(|participant| participant.waits.is_none());
        let seconds = self.settings.patience.as_secs_f64();
        let now = self.world.now() as f64 / 1e9;
        if let Some((device, missing)) = self.on_its_way() {
            return format!(
                "{missing} messages that a participant says it has sent to device {device} did not arrive within {seconds} s: \
                 the run ends at {now} s of virtual time"
            );
        }
        match silent.count() {
            0 => format!("all participants wait, and nothing will happen after {now} s of virtual time"),
            count => format!(
                "{count} of {} participants neither waited nor asked for anything for {seconds} s: \
                 the run ends at {now} s of virtual time",
                self.participants.len()
            ),
        }
    }
}
