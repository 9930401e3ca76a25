//! How processes end that were told to. By themselves and with exit code 0, as the protocol has it, or otherwise: what goes
//! wrong after the last answer, such as a leak that is found at exit or a fault in a destructor, is no case's doing, and would
//! else be seen by nobody.

use std::time::Duration;

/// How long a process that was told to end may take to end.
pub(super) const GRACE: Duration = Duration::from_secs(3);

/// How a process ended that was told to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shutdown {
    /// By itself, with exit code 0.
    Well,
    /// By itself, in this other way.
    Badly(String),
    /// Not within this time, so that it was ended.
    Late(Duration),
}

/// How many processes of a backend ended in which way when they were told to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shutdowns {
    /// By themselves, with exit code 0.
    pub well: u64,
    /// By themselves, with another exit code or by a signal.
    pub badly: u64,
    /// Not within the time that they have, so that they were ended.
    pub late: u64,
    /// After something on standard output that nobody asked for, however they ended.
    pub noisy: u64,
    /// How the first one ended badly.
    first: Option<String>,
}

impl Shutdowns {
    /// Counts one more, and returns what there is to say of it at once: that one is late is said of the first.
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

    /// Counts one that sent this though nothing was asked, and returns what there is to say of the first.
    pub(super) fn count_surplus(&mut self, what: &str) -> Option<String> {
        self.noisy += 1;
        (self.noisy == 1).then(|| format!("a backend process went on after its last answer: {what}"))
    }

    /// What there is to say where some did not end, so that whatever goes wrong at exit has not been seen.
    pub fn late_end(&self) -> Option<String> {
        let what = match self.late {
            0 => return None,
            1 => "a backend process".to_owned(),
            late => format!("{late} backend processes"),
        };
        Some(format!("{what} did not end when told to, and had to be ended"))
    }

    /// What there is to say where some ended badly: how many, and how the first of them did.
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
        let late = "2 backend processes did not end when told to, and had to be ended";
        assert_eq!((Shutdowns::default().late_end(), shutdowns.late_end().as_deref()), (None, Some(late)));
        let noisy = "a backend process went on after its last answer: it sent another `hello`";
        assert_eq!(shutdowns.count_surplus("it sent another `hello`").as_deref(), Some(noisy));
        assert_eq!((shutdowns.count_surplus("it sent another `hello`"), shutdowns.noisy), (None, 2), "once");
    }
}
