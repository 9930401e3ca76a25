//! Which descriptors are taken: a dispatch reads its own only when its command list is executed, so that
//! nothing else may lie there until then.

use std::{collections::BTreeMap, ops::Range};

/// The descriptors of every dispatch that may not have been executed yet. When a list was executed is not
/// known here; but whoever records into it anew, with another binding table, says that it was.
#[derive(Debug, Default)]
pub struct DescriptorsInUse {
    /// By where they start; no two overlap.
    places: BTreeMap<usize, Place>,
    /// Which table each list is recorded with, as far as it is in use.
    tables: BTreeMap<usize, u64>,
}

#[derive(Debug)]
struct Place {
    end: usize,
    list: usize,
}

impl DescriptorsInUse {
    /// Takes the descriptors of a dispatch, by their addresses: `list` is the command list's, and `table` a
    /// number that no other binding table has. The error says which dispatch has them.
    pub fn take(&mut self, list: usize, table: u64, descriptors: Range<usize>) -> Result<(), &'static str> {
        if self.tables.insert(list, table) != Some(table) {
            self.places.retain(|_, place| place.list != list);
        }
        let Range { start, end } = descriptors;
        if let Some((_, last)) = self.places.range(..end).next_back().filter(|(_, last)| last.end > start) {
            return Err(if last.list == list {
                "its descriptors are those of a dispatch before it in the list"
            } else {
                "its descriptors are those of a dispatch in another list"
            });
        }
        self.places.insert(start, Place { end, list });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: Result<(), &str> = Err("its descriptors are those of a dispatch before it in the list");
    const ELSEWHERE: Result<(), &str> = Err("its descriptors are those of a dispatch in another list");

    #[test]
    fn dispatches_of_a_list_have_descriptors_of_their_own() {
        let mut taken = DescriptorsInUse::default();
        assert_eq!(taken.take(1, 1, 100..104), Ok(()));
        assert_eq!([taken.take(1, 1, 104..108), taken.take(1, 1, 96..100)], [Ok(()), Ok(())]);
        for overlapping in [100..104, 103..104, 99..101, 90..200, 107..110] {
            assert_eq!(taken.take(1, 1, overlapping.clone()), BEFORE, "{overlapping:?}");
        }
    }

    #[test]
    fn lists_have_descriptors_of_their_own_until_they_are_recorded_anew() {
        let mut taken = DescriptorsInUse::default();
        assert_eq!([taken.take(1, 1, 0..4), taken.take(2, 2, 4..8)], [Ok(()), Ok(())]);
        assert_eq!(taken.take(2, 2, 2..4), ELSEWHERE);
        assert_eq!(taken.take(2, 3, 2..6), ELSEWHERE);
        assert_eq!(taken.take(1, 4, 8..12), Ok(()));
        assert_eq!([taken.take(2, 3, 0..4), taken.take(2, 3, 4..8)], [Ok(()), Ok(())]);
    }
}
