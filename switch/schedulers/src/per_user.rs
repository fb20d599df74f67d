//! State that each user has for itself ([`crate::Variant::OwnWindow`]).

use hashbrown::HashMap;

use crate::variants::{Variant, Variants};

/// A part of a scheduler's state for each user, if each has its own. Without, the one in use is that of all.
#[derive(Clone, Debug)]
pub(crate) struct PerUser<T>(Option<Box<States<T>>>);

#[derive(Clone, Debug)]
struct States<T> {
    /// That of a user without packets so far.
    initial: T,
    of_user: HashMap<u32, T>,
}

impl<T: Clone> PerUser<T> {
    /// All users share the state in use.
    pub(crate) const SHARED: PerUser<T> = PerUser(None);

    /// As the variants say. No user has sent a packet.
    pub(crate) fn of(variants: Variants, initial: &T) -> PerUser<T> {
        let own = variants.has(Variant::OwnWindow);
        PerUser(own.then(|| {
            Box::new(States {
                initial: initial.clone(),
                of_user: HashMap::new(),
            })
        }))
    }

    /// Exchanges the state of a user with the one in use. A second call for the same user undoes it.
    #[inline]
    pub(crate) fn exchange(&mut self, user: u32, in_use: &mut T) {
        if let Some(states) = &mut self.0 {
            let of_user = states.of_user.entry(user).or_insert_with(|| states.initial.clone());
            std::mem::swap(of_user, in_use);
        }
    }

    /// The states of all users, and that of the next one.
    pub(crate) fn all(&mut self) -> impl Iterator<Item = &mut T> {
        self.0
            .iter_mut()
            .flat_map(|states| states.of_user.values_mut().chain([&mut states.initial]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_finds_its_own_state_again() {
        let own = Variants::of(&[Variant::OwnWindow]);
        let (mut state, mut in_use) = (PerUser::of(own, &0), 9);
        for (user, change) in [(1, 5), (2, 7), (1, 1)] {
            state.exchange(user, &mut in_use);
            in_use += change;
            state.exchange(user, &mut in_use);
        }
        assert_eq!(in_use, 9);
        let found = [1, 2, 3].map(|user| {
            state.exchange(user, &mut in_use);
            let found = in_use;
            state.exchange(user, &mut in_use);
            found
        });
        assert_eq!(found, [6, 7, 0]);
    }
}
