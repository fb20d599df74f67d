//! Who may act when: participants of the lock step, requests of everybody, and the network's time.
//!
//! One thread owns the network. While a participant does not wait, time stands still and requests are answered. When all wait,
//! time goes on to the earliest time that one of them waits for, and that one is answered.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use p4sched_dataplane::Nanos;
use p4sched_p4runtime::Job;

use crate::world::{World, WorldError};

/// Things that happen between two looks at what was asked.
const EVENTS_AT_A_TIME: usize = 1024;
/// With a pace: how long, of the wall clock, the network sleeps at most between two looks.
const NAP: Duration = Duration::from_millis(1);

/// A request that needs the whole network.
pub type Request = Box<dyn FnOnce(&mut World) -> Result<(), WorldError> + Send>;
/// Tells a participant what time it is; or why the run has ended. Must not block.
pub type Answer = Box<dyn Fn(Result<Nanos, String>) + Send>;

/// What is said to the thread that owns the network.
pub enum Message {
    /// There are requests for this switch.
    Switch(usize),
    /// A request for the network.
    Request(Request),
    /// A participant joins under this number.
    Join(u64, Answer),
    /// A participant waits until this time.
    Wait(u64, Nanos),
    /// A participant leaves.
    Leave(u64),
    /// The run is over.
    End,
}

struct Participant {
    answer: Answer,
    /// Until when it waits, and since when in the order of waiting; `None` while it acts.
    waits: Option<(Nanos, u64)>,
}

/// How a run goes on.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How long, of the wall clock, a participant may say nothing while time stands still for it.
    pub patience: Duration,
    /// Virtual seconds a second of the wall clock; `None`: as fast as it goes.
    pub pace: Option<f64>,
}

/// The thread that owns the network.
pub struct LockStep {
    world: World,
    messages: Receiver<Message>,
    jobs: Vec<Receiver<Job>>,
    settings: Settings,
    participants: BTreeMap<u64, Participant>,
    /// How often somebody began to wait.
    waits: u64,
    /// Why time does not go on any more.
    broken: Option<WorldError>,
    begun: Instant,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// Time goes on up to this time.
    Advance(Nanos),
    /// The wall clock has to go on first.
    Nap,
    /// Time stands still until a participant waits that does not.
    Stand,
    /// Time stands still, and nobody owes a word.
    Idle,
}

impl LockStep {
    /// `jobs` has the requests of each switch.
    pub fn new(world: World, messages: Receiver<Message>, jobs: Vec<Receiver<Job>>, settings: Settings) -> LockStep {
        LockStep {
            world,
            messages,
            jobs,
            settings,
            participants: BTreeMap::new(),
            waits: 0,
            broken: None,
            begun: Instant::now(),
        }
    }

    /// Runs until the end is said, or nobody is there any more who could say it.
    ///
    /// # Errors
    /// Why the run ended before, in a sentence. Participants are told, too.
    pub fn run(mut self) -> Result<World, String> {
        let ended = self.until_the_end();
        for participant in self.participants.values() {
            let why = ended.clone().err().unwrap_or_else(|| "the run is over".into());
            (participant.answer)(Err(why));
        }
        ended?;
        let balance = self.world.balance();
        if balance.balanced() {
            Ok(self.world)
        } else {
            Err(format!(
                "a frame went missing between the parts of the network, which is a bug: {balance:?}"
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
        if self.broken.is_some() {
            return Next::Stand;
        }
        let waited_for = self.due().map(|(until, ..)| until);
        match (waited_for, self.settings.pace) {
            (None, None) => Next::Idle,
            (Some(Nanos::MAX), None) if self.world.is_at_rest() => Next::Stand,
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

    /// The participant that is answered first: until when it waits, since when, and its number.
    fn due(&self) -> Option<(Nanos, u64, u64)> {
        let now = self.world.now();
        let waiting = self.participants.iter();
        waiting
            .filter_map(|(&id, participant)| participant.waits.map(|(until, since)| (until.max(now), since, id)))
            .min()
    }

    fn advance(&mut self, limit: Nanos) {
        match self.world.advance(limit, EVENTS_AT_A_TIME) {
            Ok(false) => {}
            Ok(true) => {
                let now = self.world.now();
                let Some((_, _, id)) = self.due().filter(|&(until, ..)| until <= now) else {
                    return;
                };
                if let Some(participant) = self.participants.get_mut(&id) {
                    participant.waits = None;
                    (participant.answer)(Ok(now));
                }
            }
            Err(error) => self.fail(error),
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Switch(place) => {
                while let Some(job) = self.jobs.get(place).and_then(|jobs| jobs.try_recv().ok()) {
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
            Message::Wait(id, until) => {
                self.waits += 1;
                if let Some(participant) = self.participants.get_mut(&id) {
                    participant.waits = Some((until, self.waits));
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

    /// The network cannot go on. Time stands still from now on, and what there is can be read until all participants have left.
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
        match silent.count() {
            0 => format!("all participants wait for ever, and nothing will happen after {now} s of virtual time"),
            count => format!(
                "{count} of {} participants neither waited nor asked for anything for {seconds} s: \
                 the run ends at {now} s of virtual time",
                self.participants.len()
            ),
        }
    }
}
