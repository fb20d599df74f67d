//! What a subscription sends, and when. Time is an argument.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use p4sched_proto::gnmi::{Encoding, Notification, Path, Subscription, SubscriptionList, SubscriptionMode, Update};
use tonic::Status;

use super::leaves::{LEAVES, Port};
use super::path::{Selection, answer_prefix, of_interface, of_leaf, select};
use super::reader::Reading;
use super::value::Value;

/// The most paths of one subscription. A switch has at most 511 ports.
pub const MOST_PATHS: usize = 1024;
/// The shortest time between two samples, and between two heartbeats.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(100);
/// The time between two samples if the client does not choose it.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(1);

/// When the values of a path are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trigger {
    /// When they change.
    Change,
    /// Again and again.
    Sample { every: Duration, next: Instant },
}

/// A path of a subscription.
struct Subscribed {
    selection: Selection,
    trigger: Trigger,
    /// Whether a sample leaves out values that did not change.
    suppress_redundant: bool,
    /// The time between two messages with all values, and the time of the next one.
    heartbeat: Option<(Duration, Instant)>,
    /// The last value that was sent of each leaf, by interface and position in [`LEAVES`].
    sent: HashMap<(String, usize), Value>,
}

/// The paths of one `Subscribe` request.
pub struct Subscriptions {
    subscribed: Vec<Subscribed>,
    prefix: Option<Path>,
    encoding: Encoding,
}

fn interval(nanos: u64, default: Duration) -> Duration {
    match nanos {
        0 => default,
        nanos => Duration::from_nanos(nanos).max(SHORTEST_INTERVAL),
    }
}

/// The first time after `now` on the grid of `next` and `every`.
fn following(next: Instant, every: Duration, now: Instant) -> Instant {
    let missed = now.saturating_duration_since(next).as_nanos() / every.as_nanos();
    next + every * u32::try_from(missed + 1).unwrap_or(u32::MAX)
}

impl Subscribed {
    /// The parts of a path in a stream: the leaves that are sent when they change, and those that are sampled.
    fn of_stream(path: Selection, asked: &Subscription, now: Instant) -> Result<Vec<Subscribed>, Status> {
        let with = |leaves: Vec<usize>, trigger: Trigger| {
            let beat = interval(asked.heartbeat_interval, Duration::ZERO);
            let sampled = matches!(trigger, Trigger::Sample { .. });
            let beats = !beat.is_zero() && (!sampled || asked.suppress_redundant);
            Subscribed {
                selection: Selection { leaves, ..path.clone() },
                trigger,
                suppress_redundant: asked.suppress_redundant,
                heartbeat: beats.then(|| (beat, now + beat)),
                sent: HashMap::new(),
            }
        };
        let every = interval(asked.sample_interval, DEFAULT_INTERVAL);
        let next = now + every;
        let sample = Trigger::Sample { every, next };
        if SubscriptionMode::try_from(asked.mode).is_err() {
            return Err(Status::invalid_argument(format!(
                "{}: no subscription mode {}",
                path.text, asked.mode
            )));
        }
        let (counters, others): (Vec<usize>, Vec<usize>) =
            path.leaves.iter().partition(|&&leaf| LEAVES[leaf].is_counter());
        match asked.mode() {
            SubscriptionMode::Sample => Ok(vec![with(path.leaves.clone(), sample)]),
            SubscriptionMode::OnChange if others.is_empty() => Err(Status::invalid_argument(format!(
                "{}: counters change with every frame; subscribe to them with SAMPLE",
                path.text
            ))),
            SubscriptionMode::OnChange => Ok(vec![with(others, Trigger::Change)]),
            SubscriptionMode::TargetDefined => Ok([(others, Trigger::Change), (counters, sample)]
                .into_iter()
                .filter(|(leaves, _)| !leaves.is_empty())
                .map(|(leaves, trigger)| with(leaves, trigger))
                .collect()),
        }
    }

    fn once(selection: Selection) -> Subscribed {
        Subscribed {
            selection,
            trigger: Trigger::Change,
            suppress_redundant: false,
            heartbeat: None,
            sent: HashMap::new(),
        }
    }

    fn has_counters(&self) -> bool {
        self.selection.leaves.iter().any(|&leaf| LEAVES[leaf].is_counter())
    }

    /// The times at which it sends something, whatever changes.
    fn times(&self) -> impl Iterator<Item = Instant> {
        let sample = match self.trigger {
            Trigger::Sample { next, .. } => Some(next),
            Trigger::Change => None,
        };
        sample.into_iter().chain(self.heartbeat.map(|(_, next)| next))
    }

    fn is_due(&self, now: Instant) -> bool {
        self.times().any(|at| at <= now)
    }

    /// Whether to send all values at this time, only those that changed, or none.
    fn turn(&mut self, now: Instant, changed: bool) -> Option<bool> {
        let mut all = false;
        if let Some((every, next)) = &mut self.heartbeat
            && *next <= now
        {
            *next = following(*next, *every, now);
            all = true;
        }
        match &mut self.trigger {
            Trigger::Sample { every, next } if *next <= now => {
                *next = following(*next, *every, now);
                Some(all || !self.suppress_redundant)
            }
            Trigger::Change if changed => Some(all),
            _ => all.then_some(true),
        }
    }

    /// The values of a port to send, and remembers them.
    fn values(&mut self, port: &Port, all: bool, encoding: Encoding) -> Vec<Update> {
        let remember = self.trigger == Trigger::Change || self.suppress_redundant;
        let mut updates = Vec::new();
        for &leaf in &self.selection.leaves {
            let Some(value) = LEAVES[leaf].value(port) else {
                continue;
            };
            if remember {
                let before = self.sent.insert((port.name.clone(), leaf), value.clone());
                if !all && before.as_ref() == Some(&value) {
                    continue;
                }
            }
            updates.push(Update {
                path: Some(of_leaf(&port.name, &LEAVES[leaf])),
                val: Some(value.encoded(encoding)),
                duplicates: 0,
            });
        }
        updates
    }

    /// The interfaces that were sent and are no more.
    fn gone(&mut self, reading: &Reading) -> Vec<Path> {
        let names: HashSet<&str> = reading.ports.iter().map(|port| port.name.as_str()).collect();
        let mut gone: Vec<String> = self.sent.keys().map(|(name, _)| name.clone()).collect();
        gone.retain(|name| !names.contains(name.as_str()));
        gone.sort();
        gone.dedup();
        self.sent.retain(|(name, _), _| names.contains(name.as_str()));
        gone.iter().map(|name| of_interface(name)).collect()
    }
}

impl Subscriptions {
    /// The paths of a `Subscribe` request. In a stream, its times start from now.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for unknown paths, modes and too many paths.
    pub fn new(
        list: &SubscriptionList,
        streams: bool,
        encoding: Encoding,
        now: Instant,
    ) -> Result<Subscriptions, Status> {
        if list.subscription.is_empty() {
            return Err(Status::invalid_argument(
                "the subscription has no path; an empty path selects everything",
            ));
        }
        if list.subscription.len() > MOST_PATHS {
            return Err(Status::invalid_argument(format!(
                "{} paths; a subscription has at most {MOST_PATHS}",
                list.subscription.len()
            )));
        }
        let mut subscribed = Vec::with_capacity(list.subscription.len());
        for asked in &list.subscription {
            let path = asked.path.clone().unwrap_or_default();
            let selection = select(list.prefix.as_ref(), &path)?;
            match streams {
                true => subscribed.extend(Subscribed::of_stream(selection, asked, now)?),
                false => subscribed.push(Subscribed::once(selection)),
            }
        }
        Ok(Subscriptions {
            subscribed,
            prefix: answer_prefix(list.prefix.as_ref()),
            encoding,
        })
    }

    /// Whether any path has counters.
    pub fn has_counters(&self) -> bool {
        self.subscribed.iter().any(Subscribed::has_counters)
    }

    /// Whether a path that is due at this time has counters.
    pub fn needs_counters(&self, now: Instant) -> bool {
        let mut due = self.subscribed.iter().filter(|subscribed| subscribed.is_due(now));
        due.any(Subscribed::has_counters)
    }

    /// The next time at which something is sent, whatever changes.
    pub fn next_due(&self) -> Option<Instant> {
        self.subscribed.iter().flat_map(Subscribed::times).min()
    }

    /// All values.
    pub fn all(&mut self, reading: &Reading) -> Vec<Notification> {
        self.notifications(reading, |_| Some(true))
    }

    /// The values to send at this time. `changed` says that an interface may have changed.
    pub fn due(&mut self, reading: &Reading, now: Instant, changed: bool) -> Vec<Notification> {
        self.notifications(reading, |subscribed| subscribed.turn(now, changed))
    }

    /// One notification for each path and port.
    fn notifications(
        &mut self,
        reading: &Reading,
        mut turn: impl FnMut(&mut Subscribed) -> Option<bool>,
    ) -> Vec<Notification> {
        let mut notifications = Vec::new();
        let mut send = |update: Vec<Update>, delete: Vec<Path>| {
            if !update.is_empty() || !delete.is_empty() {
                notifications.push(Notification {
                    timestamp: reading.at.cast_signed(),
                    prefix: self.prefix.clone(),
                    update,
                    delete,
                    atomic: false,
                });
            }
        };
        for subscribed in &mut self.subscribed {
            let Some(all) = turn(subscribed) else { continue };
            send(Vec::new(), subscribed.gone(reading));
            let selection = subscribed.selection.clone();
            for port in reading.selected(&selection) {
                send(subscribed.values(port, all, self.encoding), Vec::new());
            }
        }
        notifications
    }
}

#[cfg(test)]
mod tests {
    use p4sched_proto::gnmi::PathElem;
    use p4sched_proto::gnmi::typed_value::Value as Typed;
    use p4sched_proto::p4sched::v1::PortStats;

    use super::*;
    use crate::gnmi::Interface;

    const SECOND: Duration = Duration::from_secs(1);

    fn reading(ports: &[(&str, bool, u64)]) -> Reading {
        let port = |(&(name, up, rx_bytes), number): (&(&str, bool, u64), u16)| Port {
            name: name.to_owned(),
            number,
            interface: Some(Interface {
                enabled: true,
                up,
                mac: [2, 0, 0, 0, 0, 1],
                speed: Some(10_000),
            }),
            last_change: 0,
            stats: Some(PortStats {
                rx_bytes,
                ..PortStats::default()
            }),
        };
        Reading {
            at: 5,
            ports: ports.iter().zip(1..).map(port).collect(),
        }
    }

    fn list(names: &[&str], asked: Subscription) -> SubscriptionList {
        let mut path = of_interface("*");
        path.elem.extend(names.iter().map(|&name| PathElem {
            name: name.to_owned(),
            ..PathElem::default()
        }));
        let path = Some(path);
        SubscriptionList {
            subscription: vec![Subscription { path, ..asked }],
            ..SubscriptionList::default()
        }
    }

    fn stream(names: &[&str], asked: Subscription, now: Instant) -> Subscriptions {
        Subscriptions::new(&list(names, asked), true, Encoding::Proto, now).expect("the request is right")
    }

    fn mode(mode: SubscriptionMode) -> Subscription {
        Subscription {
            mode: mode.into(),
            ..Subscription::default()
        }
    }

    /// The values of some notifications, as `interface last-element=value`.
    fn shown(notifications: &[Notification]) -> Vec<String> {
        let mut lines = Vec::new();
        for notification in notifications {
            for gone in &notification.delete {
                lines.push(format!("{} gone", gone.elem[1].key["name"]));
            }
            for update in &notification.update {
                let path = &update.path.as_ref().expect("it has a path").elem;
                let value = match update.val.as_ref().and_then(|value| value.value.as_ref()) {
                    Some(Typed::StringVal(text)) => text.clone(),
                    Some(Typed::UintVal(number)) => number.to_string(),
                    other => format!("{other:?}"),
                };
                lines.push(format!("{} {}={value}", path[1].key["name"], path[path.len() - 1].name));
            }
        }
        lines
    }

    #[test]
    fn on_change_sends_what_changed_and_what_is_gone() {
        let now = Instant::now();
        let mut asked = stream(&["state", "oper-status"], mode(SubscriptionMode::OnChange), now);
        let both = reading(&[("s1", true, 0), ("s2", true, 0)]);
        assert_eq!(shown(&asked.all(&both)), ["s1 oper-status=UP", "s2 oper-status=UP"]);
        assert_eq!(asked.next_due(), None);
        assert!(asked.due(&both, now + SECOND, true).is_empty());
        let down = reading(&[("s1", true, 9), ("s2", false, 9)]);
        assert_eq!(shown(&asked.due(&down, now, true)), ["s2 oper-status=DOWN"]);
        let one = reading(&[("s2", false, 9)]);
        assert_eq!(shown(&asked.due(&one, now, true)), ["s1 gone"]);
        assert_eq!(
            shown(&asked.due(&both, now, true)),
            ["s1 oper-status=UP", "s2 oper-status=UP"]
        );
    }

    #[test]
    fn a_sample_has_all_values_and_missed_ones_are_skipped() {
        let now = Instant::now();
        let sample = Subscription {
            sample_interval: 2_000_000_000,
            ..mode(SubscriptionMode::Sample)
        };
        let mut asked = stream(&["state", "counters", "in-octets"], sample, now);
        assert!(asked.has_counters() && !asked.needs_counters(now));
        assert_eq!(asked.next_due(), Some(now + 2 * SECOND));
        let ports = reading(&[("s1", true, 70)]);
        assert!(
            asked.due(&ports, now + SECOND, true).is_empty(),
            "a change alone sends no sample"
        );
        assert!(asked.needs_counters(now + 7 * SECOND));
        assert_eq!(shown(&asked.due(&ports, now + 7 * SECOND, false)), ["s1 in-octets=70"]);
        assert_eq!(asked.next_due(), Some(now + 8 * SECOND));
        assert_eq!(shown(&asked.due(&ports, now + 8 * SECOND, false)), ["s1 in-octets=70"]);
    }

    #[test]
    fn redundant_samples_are_left_out_until_the_heartbeat() {
        let now = Instant::now();
        let sample = Subscription {
            sample_interval: 1_000_000_000,
            suppress_redundant: true,
            heartbeat_interval: 3_000_000_000,
            ..mode(SubscriptionMode::Sample)
        };
        let mut asked = stream(&["state", "counters", "in-octets"], sample, now);
        let ports = reading(&[("s1", true, 70)]);
        assert_eq!(asked.all(&ports).len(), 1);
        assert!(asked.due(&ports, now + SECOND, false).is_empty());
        let more = reading(&[("s1", true, 71)]);
        assert_eq!(shown(&asked.due(&more, now + 2 * SECOND, false)), ["s1 in-octets=71"]);
        assert_eq!(shown(&asked.due(&more, now + 3 * SECOND, false)), ["s1 in-octets=71"]);
    }

    #[test]
    fn the_switch_chooses_on_change_but_for_counters() {
        let now = Instant::now();
        let mut asked = stream(&["state"], mode(SubscriptionMode::TargetDefined), now);
        let ports = reading(&[("s1", true, 70)]);
        assert_eq!(asked.all(&ports).len(), 2);
        assert_eq!(asked.next_due(), Some(now + SECOND));
        let down = reading(&[("s1", false, 71)]);
        assert_eq!(shown(&asked.due(&down, now, true)), ["s1 oper-status=DOWN"]);
        let sampled = shown(&asked.due(&down, now + SECOND, false));
        assert_eq!((sampled.len(), sampled[0].as_str()), (14, "s1 in-octets=71"));
    }

    #[test]
    fn counters_cannot_be_sent_on_change_and_intervals_have_a_minimum() {
        let now = Instant::now();
        let counters = list(&["state", "counters"], mode(SubscriptionMode::OnChange));
        let refused = Subscriptions::new(&counters, true, Encoding::Proto, now).err();
        assert_eq!(
            refused.expect("it cannot be").message(),
            "/interfaces/interface[name=*]/state/counters: counters change with every frame; subscribe to them with SAMPLE"
        );
        let often = Subscription {
            sample_interval: 1,
            ..mode(SubscriptionMode::Sample)
        };
        let asked = stream(&["state"], often, now);
        assert_eq!(asked.next_due(), Some(now + SHORTEST_INTERVAL));
    }
}
