//! One FIFO for each user in one shared buffer. The longest one is found without a search.
//!
//! Users with a waiting packet are listed by the length of their queue in packets. A length changes by one at a time,
//! so updating the longest queue takes O(1).

use hashbrown::HashMap;

use crate::packet::Element;
use crate::slab::Slab;

/// Number of a user with at least one packet. It is reused when the user has none.
pub(crate) type UserPlace = u32;

const NONE: u32 = u32::MAX;

#[derive(Debug, Clone)]
struct Node<E> {
    element: E,
    previous: u32,
    next: u32,
}

#[derive(Debug, Clone)]
struct User {
    key: u64,
    first: u32,
    last: u32,
    length: usize,
    /// Neighbours in the list of users with queues of the same length.
    list_previous: UserPlace,
    list_next: UserPlace,
}

#[derive(Debug, Clone)]
pub(crate) struct UserQueues<E> {
    elements: Slab<Node<E>>,
    users: Slab<User>,
    places: HashMap<u64, UserPlace>,
    /// Index = length of the queue; value = first user in the list of that length.
    by_length: Vec<UserPlace>,
    longest: usize,
    length: usize,
}

impl<E: Element> UserQueues<E> {
    pub fn new() -> Self {
        UserQueues {
            elements: Slab::new(),
            users: Slab::new(),
            places: HashMap::new(),
            by_length: vec![NONE],
            longest: 0,
            length: 0,
        }
    }

    /// Number of packets of all users.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Number of packets of one user.
    pub fn len_of(&self, user: u64) -> usize {
        self.places.get(&user).map_or(0, |&place| self.users.get(place).length)
    }

    /// The user with the most packets, and their number.
    pub fn longest(&self) -> Option<(UserPlace, usize)> {
        (self.longest > 0).then(|| (self.by_length[self.longest], self.longest))
    }

    /// Bytes of a user's oldest packet.
    pub fn head_bytes(&self, place: UserPlace) -> u32 {
        self.elements.get(self.users.get(place).first).element.bytes()
    }

    /// Appends to the user's queue. Returns true if the queue was empty.
    pub fn push_back(&mut self, element: E) -> (UserPlace, bool) {
        let key = element.user();
        let node = self.elements.insert(Node {
            element,
            previous: NONE,
            next: NONE,
        });
        self.length += 1;
        if let Some(&place) = self.places.get(&key) {
            let last = std::mem::replace(&mut self.users.get_mut(place).last, node);
            self.elements.get_mut(last).next = node;
            self.elements.get_mut(node).previous = last;
            self.set_length(place, self.users.get(place).length + 1);
            return (place, false);
        }
        let place = self.users.insert(User {
            key,
            first: node,
            last: node,
            length: 0,
            list_previous: NONE,
            list_next: NONE,
        });
        self.places.insert(key, place);
        self.set_length(place, 1);
        (place, true)
    }

    /// Removes a user's oldest packet. Returns true if the queue becomes empty, which frees the number.
    pub fn pop_front(&mut self, place: UserPlace) -> (E, bool) {
        let Node { element, next, .. } = self.elements.remove(self.users.get(place).first);
        self.users.get_mut(place).first = next;
        if next != NONE {
            self.elements.get_mut(next).previous = NONE;
        }
        (element, self.removed_one(place))
    }

    /// Removes a user's latest packet. Returns true if the queue becomes empty, which frees the number.
    pub fn pop_back(&mut self, place: UserPlace) -> (E, bool) {
        let Node { element, previous, .. } = self.elements.remove(self.users.get(place).last);
        self.users.get_mut(place).last = previous;
        if previous != NONE {
            self.elements.get_mut(previous).next = NONE;
        }
        (element, self.removed_one(place))
    }

    fn removed_one(&mut self, place: UserPlace) -> bool {
        self.length -= 1;
        let left = self.users.get(place).length - 1;
        self.set_length(place, left);
        if left == 0 {
            let user = self.users.remove(place);
            self.places.remove(&user.key);
        }
        left == 0
    }

    /// Moves the user between the lists of equal length, by one step up or down.
    fn set_length(&mut self, place: UserPlace, length: usize) {
        let old = std::mem::replace(&mut self.users.get_mut(place).length, length);
        if old > 0 {
            self.unlink(place, old);
        }
        if length > 0 {
            self.link(place, length);
        }
        if length > self.longest || (old == self.longest && self.by_length[old] == NONE) {
            self.longest = length;
        }
    }

    fn unlink(&mut self, place: UserPlace, length: usize) {
        let &User {
            list_previous: before,
            list_next: after,
            ..
        } = self.users.get(place);
        match before {
            NONE => self.by_length[length] = after,
            before => self.users.get_mut(before).list_next = after,
        }
        if after != NONE {
            self.users.get_mut(after).list_previous = before;
        }
    }

    fn link(&mut self, place: UserPlace, length: usize) {
        if self.by_length.len() <= length {
            self.by_length.resize(length + 1, NONE);
        }
        let after = std::mem::replace(&mut self.by_length[length], place);
        if after != NONE {
            self.users.get_mut(after).list_previous = place;
        }
        let user = self.users.get_mut(place);
        user.list_previous = NONE;
        user.list_next = after;
    }
}
