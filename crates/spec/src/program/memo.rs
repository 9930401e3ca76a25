//! A cache of results that depend on a part of a desc, keyed by the values of that part.
//!
//! The descs of a run combine the same few thousand shapes. A result that depends on a shape alone is
//! computed once and then looked up.

/// A hash map with keys of `WORDS` words. It holds at most `MOST` entries; if there is no room for more, it
/// is cleared.
#[derive(Debug)]
pub(super) struct Memo<T, const WORDS: usize, const MOST: usize> {
    /// Open addressing: the index of an entry plus one, or 0 if the slot is free. The table has a
    /// power-of-two size and at least four slots per entry, so that most lookups find their entry at once.
    slots: Vec<u32>,
    entries: Vec<([u64; WORDS], T)>,
}

impl<T, const WORDS: usize, const MOST: usize> Default for Memo<T, WORDS, MOST> {
    fn default() -> Self {
        Self { slots: Vec::new(), entries: Vec::new() }
    }
}

impl<T, const WORDS: usize, const MOST: usize> Memo<T, WORDS, MOST> {
    /// Clears the memo if there is no room for another entry. Indices stay valid until the memo is cleared.
    pub(super) fn make_room(&mut self) {
        if self.entries.len() == MOST {
            self.slots.fill(0);
            self.entries.clear();
        }
    }

    /// The index of the entry with this key.
    #[inline]
    pub(super) fn find(&self, key: &[u64; WORDS]) -> Option<usize> {
        let last = self.slots.len().checked_sub(1)?;
        let mut at = hash(key) as usize & last;
        loop {
            let place = (self.slots[at] as usize).checked_sub(1)?;
            // Compares without a branch per word: a call that compares 64 bytes would cost more.
            let known = &self.entries[place].0;
            if known.iter().zip(key).fold(0, |differ, (known, word)| differ | (known ^ word)) == 0 {
                return Some(place);
            }
            at = (at + 1) & last;
        }
    }

    /// The value at an index that was found.
    #[inline]
    pub(super) fn get(&self, place: usize) -> &T {
        &self.entries[place].1
    }

    /// Adds a new entry, and returns its index.
    pub(super) fn insert(&mut self, key: [u64; WORDS], value: T) -> usize {
        self.entries.push((key, value));
        if self.entries.len() * 4 > self.slots.len() {
            self.slots = vec![0; (self.entries.len() * 8).next_power_of_two()];
            for place in 0..self.entries.len() {
                self.link(place);
            }
        } else {
            self.link(self.entries.len() - 1);
        }
        self.entries.len() - 1
    }

    fn link(&mut self, place: usize) {
        let last = self.slots.len() - 1;
        let mut at = hash(&self.entries[place].0) as usize & last;
        while self.slots[at] != 0 {
            at = (at + 1) & last;
        }
        self.slots[at] = place as u32 + 1;
    }
}

/// Mixes all words. Each pair is multiplied, and the two halves of the product are combined.
#[inline]
fn hash<const WORDS: usize>(key: &[u64; WORDS]) -> u64 {
    const ODD: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xD1B5_4A32_D192_ED03];
    let (pairs, _) = key.as_chunks::<2>();
    pairs.iter().fold(0, |mixed: u64, &[a, b]| {
        let product = u128::from((a ^ ODD[0]).wrapping_add(mixed)) * u128::from(b ^ ODD[1]);
        product as u64 ^ (product >> 64) as u64
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(value: u64) -> [u64; 4] {
        std::array::from_fn(|word| if word == 3 { value } else { word as u64 })
    }

    #[test]
    fn what_is_remembered_is_found_and_nothing_else() {
        let mut memo = Memo::<u64, 4, 1000>::default();
        assert_eq!(memo.find(&key(0)), None);
        for value in 0..1000 {
            assert_eq!(memo.insert(key(value), value), value as usize);
        }
        for value in 0..1000 {
            let place = memo.find(&key(value)).unwrap();
            assert_eq!(*memo.get(place), value);
        }
        assert_eq!(memo.find(&key(1000)), None);
        assert_eq!(memo.find(&key(u64::MAX)), None);
    }

    #[test]
    fn room_is_made_by_forgetting_all() {
        let mut memo = Memo::<u64, 4, 1000>::default();
        for value in 0..2100 {
            memo.make_room();
            memo.insert(key(value), value);
        }
        assert_eq!(memo.entries.len(), 100);
        assert!(memo.find(&key(2099)).is_some() && memo.find(&key(0)).is_none());
    }

    #[test]
    fn neighbouring_keys_spread() {
        let places: std::collections::HashSet<u64> =
            (0..4096).map(|value| hash(&key(value)) % 4096).collect();
        assert!(places.len() > 2200, "{}", places.len());
    }
}
