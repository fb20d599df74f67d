//! Numbered places that are reused, so that linked and sorted queues do not allocate memory once they have grown.

#[derive(Debug, Clone)]
pub(crate) struct Slab<T> {
    places: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub fn new() -> Self {
        Slab {
            places: Vec::new(),
            free: Vec::new(),
        }
    }

    pub fn insert(&mut self, value: T) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.places[place as usize] = Some(value);
                place
            }
            None => {
                self.places.push(Some(value));
                (self.places.len() - 1) as u32
            }
        }
    }

    pub fn remove(&mut self, place: u32) -> T {
        self.free.push(place);
        self.places[place as usize].take().expect("the place is in use")
    }

    /// Removes all values. The places stay allocated.
    pub fn drain(&mut self) -> Vec<T> {
        let values = self.places.iter_mut().filter_map(Option::take).collect();
        self.free = (0..self.places.len() as u32).rev().collect();
        values
    }

    pub fn get(&self, place: u32) -> &T {
        self.places[place as usize].as_ref().expect("the place is in use")
    }

    pub fn get_mut(&mut self, place: u32) -> &mut T {
        self.places[place as usize].as_mut().expect("the place is in use")
    }
}
