//! How processes shut down. By the protocol, a process ends by itself with exit code 0. No case causes a
//! fault after the last answer, such as a leak that is found at exit or a crash in a destructor. So it is
//! counted here and would otherwise go unnoticed.

use std::time::Duration;

/// The maximum time that a process may take to shut down.
pub(super) const GRACE: Duration = Duration::from_secs(3);

/// How a process shut down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shutdown {
    /// By itself, with exit code 0.
    Well,
    /// By itself, but in this other way.
    Badly(String),
    /// Not within this time, so that the host ended it.
    Late(Duration),
}

/// The numbers of processes that shut down in each way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shutdowns {
    /// Processes that ended by themselves, with exit code 0.
    pub well: u64,
    /// Processes that ended by themselves, with another exit code or by a signal.
    pub badly: u64,
    /// Processes that did not end in time, so that the host ended them.
    pub late: u64,
    /// Processes that sent something on standard output without a question, however they ended.
    pub noisy: u64,
    /// How the first process of [`Shutdowns::badly`] ended.
    first: Option<String>,
}

impl Shutdowns {
    /// Counts one shutdown. Returns a sentence for the first process that did not end in time.
    pub(super) fn count(&mut self, shutdown: Shutdown) -> Option<String> {
        match shutdown {
            Shutdown::Well => self.well += 1,
            Shutdown::Badly(how) => {
                self.badly += 1;
                self.first.get_or_insert(how);
            }
            Shutdown::Late(grace) => {
                self.late += 1;
                return (self.late == 1).then(|| {
                    format!(
                        "a backend process did not end within {:.1} s of `bye`, so that it was ended; it is to end by itself, with \
                         exit code 0",
                        grace.as_secs_f64()
                    )
                });
            }
        }
        None
    }

    /// Counts a process that sent something without a question. Returns a sentence for the first one.
    pub(super) fn count_surplus(&mut self, what: &str) -> Option<String> {
        self.noisy += 1;
        (self.noisy == 1).then(|| format!("a backend process went on after its last answer: {what}"))
    }

    /// A sentence about processes that ended badly, if there are any: their number, and how the first one
    /// ended.
    pub fn bad_end(&self) -> Option<String> {
        let first = self.first.as_ref()?;
        Some(if self.badly == 1 {
            format!("a backend process ended badly when it was told to end: {first}")
        } else {
            format!(
                "{} backend processes ended badly when they were told to end; the first: {first}",
                self.badly
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_counted_and_the_first_bad_one_is_kept() {
        let mut shutdowns = Shutdowns::default();
        let badly = |how: &str| Shutdown::Badly(how.to_owned());
        assert_eq!((shutdowns.count(Shutdown::Well), shutdowns.bad_end()), (None, None));
        assert_eq!(shutdowns.count(badly("exit status: 23; it said: leaks")), None);
        let one = "a backend process ended badly when it was told to end: exit status: 23; it said: leaks";
        assert_eq!(shutdowns.bad_end().as_deref(), Some(one));
        assert_eq!(shutdowns.count(badly("signal: 6 (SIGABRT)")), None);
        let two = "2 backend processes ended badly when they were told to end; the first: exit status: 23; it said: leaks";
        assert_eq!(shutdowns.bad_end().as_deref(), Some(two));
        let late = shutdowns.count(Shutdown::Late(GRACE)).expect("the first is told");
        assert!(late.starts_with("a backend process did not end within 3.0 s of `bye`"), "{late}");
        assert_eq!(shutdowns.count(Shutdown::Late(GRACE)), None, "once");
        assert_eq!((shutdowns.well, shutdowns.badly, shutdowns.late), (1, 2, 2));
        let noisy = "a backend process went on after its last answer: it sent another `hello`";
        assert_eq!(shutdowns.count_surplus("it sent another `hello`").as_deref(), Some(noisy));
        assert_eq!((shutdowns.count_surplus("it sent another `hello`"), shutdowns.noisy), (None, 2), "once");
    }
}
