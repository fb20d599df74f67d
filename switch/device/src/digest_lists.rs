//! Digest messages, collected into lists. A message is not sent twice until the controller acknowledges it
//! (specification, section "DigestEntry").

use std::collections::{BTreeMap, HashSet};

use p4sched_dataplane::Nanos;
use p4sched_proto::p4::v1::digest_entry::Config;

/// The most messages in one list, even if the configuration allows more.
const MAX_LIST: usize = 1024;
/// The most unacknowledged messages of one digest. Above it, the oldest lists are forgotten.
const MAX_UNACKNOWLEDGED: usize = 65536;

/// The fields of a digest message.
pub type Message = Vec<Vec<u8>>;

/// A list that is due to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List {
    /// Identifier of the digest in P4Info.
    pub digest_id: u32,
    /// Number of the list, for its acknowledgement.
    pub list_id: u64,
    /// Different messages only.
    pub messages: Vec<Message>,
}

#[derive(Debug, Default)]
struct Learning {
    config: Config,
    buffer: Vec<Message>,
    first_at: Nanos,
    known: HashSet<Message>,
    /// Time of sending and messages of each list, by its number.
    sent: BTreeMap<u64, (Nanos, Vec<Message>)>,
    next_list: u64,
}

/// The lists of all enabled digests.
#[derive(Debug, Default)]
pub struct DigestLists {
    enabled: BTreeMap<u32, Learning>,
}

impl DigestLists {
    /// The configuration of a digest; `None` while it is disabled.
    pub fn config(&self, digest: u32) -> Option<Config> {
        self.enabled.get(&digest).map(|learning| learning.config)
    }

    /// Enables a digest, or changes its configuration.
    pub fn enable(&mut self, digest: u32, config: Config, now: Nanos) {
        let learning = self.enabled.entry(digest).or_default();
        learning.config = config;
        learning.forget_expired(now);
    }

    /// Disables a digest and forgets its messages.
    pub fn disable(&mut self, digest: u32) {
        self.enabled.remove(&digest);
    }

    /// Takes a message from the data plane; returns a list if the message completes one.
    pub fn offer(&mut self, digest: u32, message: Message, now: Nanos) -> Option<List> {
        let learning = self.enabled.get_mut(&digest)?;
        learning.forget_expired(now);
        if !learning.known.insert(message.clone()) {
            return None;
        }
        if learning.buffer.is_empty() {
            learning.first_at = now;
        }
        learning.buffer.push(message);
        let wanted = match usize::try_from(learning.config.max_list_size) {
            Ok(0) | Err(_) => MAX_LIST,
            Ok(size) => size.min(MAX_LIST),
        };
        let at_once = learning.config.max_timeout_ns <= 0;
        (at_once || learning.buffer.len() >= wanted).then(|| learning.send(digest, now))
    }

    /// Takes the lists that are due.
    pub fn due(&mut self, now: Nanos) -> Vec<List> {
        let due = self
            .enabled
            .iter_mut()
            .filter(|(_, learning)| learning.deadline().is_some_and(|at| at <= now));
        due.map(|(&digest, learning)| learning.send(digest, now)).collect()
    }

    /// The time at which the next list is due; `None` while no message waits.
    pub fn next_due(&self) -> Option<Nanos> {
        self.enabled.values().filter_map(Learning::deadline).min()
    }

    /// Processes an acknowledgement: the messages of the list may be sent again.
    pub fn acknowledge(&mut self, digest: u32, list: u64) {
        if let Some(learning) = self.enabled.get_mut(&digest) {
            learning.forget(list);
        }
    }
}

impl Learning {
    fn deadline(&self) -> Option<Nanos> {
        let timeout = u64::try_from(self.config.max_timeout_ns).unwrap_or(0);
        (!self.buffer.is_empty()).then(|| self.first_at.saturating_add(timeout))
    }

    fn send(&mut self, digest_id: u32, now: Nanos) -> List {
        let messages = std::mem::take(&mut self.buffer);
        self.next_list += 1;
        let list_id = self.next_list;
        self.sent.insert(list_id, (now, messages.clone()));
        if self.config.ack_timeout_ns <= 0 {
            self.forget(list_id);
        }
        while self.known.len() > MAX_UNACKNOWLEDGED
            && let Some(&oldest) = self.sent.keys().next()
        {
            self.forget(oldest);
        }
        List {
            digest_id,
            list_id,
            messages,
        }
    }

    fn forget(&mut self, list: u64) {
        for message in self
            .sent
            .remove(&list)
            .map(|(_, messages)| messages)
            .unwrap_or_default()
        {
            self.known.remove(&message);
        }
    }

    fn forget_expired(&mut self, now: Nanos) {
        let timeout = u64::try_from(self.config.ack_timeout_ns).unwrap_or(0);
        while let Some((&oldest, _)) = self
            .sent
            .first_key_value()
            .filter(|(_, (at, _))| at.saturating_add(timeout) <= now)
        {
            self.forget(oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: u32 = 0x1700_0001;

    fn lists(max_timeout_ns: i64, max_list_size: i32, ack_timeout_ns: i64) -> DigestLists {
        let mut lists = DigestLists::default();
        lists.enable(
            DIGEST,
            Config {
                max_timeout_ns,
                max_list_size,
                ack_timeout_ns,
            },
            0,
        );
        lists
    }

    fn message(value: u8) -> Message {
        vec![vec![value]]
    }

    #[test]
    fn a_list_is_sent_when_it_has_enough_distinct_messages() {
        let mut lists = lists(1000, 2, 0);
        assert_eq!(lists.offer(DIGEST, message(1), 10), None);
        assert_eq!(lists.offer(DIGEST, message(1), 11), None, "a duplicate does not count");
        let list = lists.offer(DIGEST, message(2), 12).expect("two distinct messages");
        assert_eq!(
            list,
            List {
                digest_id: DIGEST,
                list_id: 1,
                messages: vec![message(1), message(2)]
            }
        );
    }

    #[test]
    fn a_list_is_sent_when_its_first_message_has_waited_long_enough() {
        let mut lists = lists(1000, 10, 0);
        lists.offer(DIGEST, message(1), 10);
        lists.offer(DIGEST, message(2), 500);
        assert_eq!(lists.next_due(), Some(1010));
        assert!(lists.due(1009).is_empty());
        assert_eq!(lists.due(1010)[0].messages.len(), 2);
        assert_eq!(lists.next_due(), None);
    }

    #[test]
    fn a_message_returns_only_after_acknowledgement_or_timeout() {
        let mut lists = lists(0, 1, 1000);
        assert!(lists.offer(DIGEST, message(1), 0).is_some());
        assert_eq!(lists.offer(DIGEST, message(1), 999), None, "not acknowledged");
        assert_eq!(
            lists.offer(DIGEST, message(1), 1000).map(|list| list.list_id),
            Some(2),
            "timed out"
        );
        lists.acknowledge(DIGEST, 2);
        assert!(lists.offer(DIGEST, message(1), 1001).is_some(), "acknowledged");
    }

    #[test]
    fn without_ack_timeout_nothing_is_remembered() {
        let mut lists = lists(0, 0, 0);
        assert!(lists.offer(DIGEST, message(1), 0).is_some());
        assert!(lists.offer(DIGEST, message(1), 0).is_some());
        lists.disable(DIGEST);
        assert_eq!(lists.offer(DIGEST, message(1), 0), None, "disabled");
    }
}
