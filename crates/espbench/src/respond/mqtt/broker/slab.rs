//! Values by small numbers, which are used again.

/// List of values whose places stay theirs until they are removed.
#[derive(Debug)]
pub(super) struct Slab<T> {
    places: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub(super) const fn new() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }

    /// Returns how many values it holds.
    pub(super) const fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Puts a value into the first free place and returns its number.
    pub(super) fn insert(&mut self, value: T) -> u32 {
        if let Some(at) = self.free.pop() {
            self.places[at as usize] = Some(value);
            return at;
        }
        self.places.push(Some(value));
        (self.places.len() - 1) as u32
    }

    /// Takes a value out.
    pub(super) fn remove(&mut self, at: u32) -> Option<T> {
        let value = self.places.get_mut(at as usize)?.take()?;
        self.free.push(at);
        Some(value)
    }

    pub(super) fn get(&self, at: u32) -> Option<&T> {
        self.places.get(at as usize)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, at: u32) -> Option<&mut T> {
        self.places.get_mut(at as usize)?.as_mut()
    }

    /// Returns the numbers in use.
    pub(super) fn numbers(&self) -> Vec<u32> {
        (0..self.places.len() as u32).filter(|&at| self.get(at).is_some()).collect()
    }
}
