//! The options of a run as words again: what a command that goes on from it must repeat to mean the same.

use dmlcts_runner::Difference;

use crate::arguments::{RunArguments, Selection};

impl RunArguments {
    /// What bears on a single case: who answers, at which level, what is allowed, and what is too large to run.
    pub(crate) fn words_of_a_case(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
        if self.backend != Self::DEFAULT_BACKEND {
            add("--backend", self.backend.clone());
        }
        if self.in_process {
            words.push("--in-process".to_owned());
        }
        let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
        if let Some(level) = self.selection.feature_level {
            add("--feature-level", level.to_string());
        }
        if !self.allow.is_empty() {
            let names: Vec<&str> = self.allow.iter().copied().map(Difference::name).collect();
            add("--allow", names.join(","));
        }
        if self.memory != Self::DEFAULT_MEMORY {
            add("--memory", self.memory.to_string());
        }
        if self.retries != Self::DEFAULT_RETRIES {
            add("--retries", self.retries.to_string());
        }
        if self.case_timeout != Self::DEFAULT_CASE_TIMEOUT {
            add("--case-timeout", format!("{}ms", self.case_timeout.as_millis()));
        }
        words
    }
}

impl RunArguments {
    /// Everything that bears on which cases are run and on what becomes of them, as a whole command.
    pub(crate) fn words_of_a_run(&self) -> Vec<String> {
        let mut words = vec!["dmlcts".to_owned(), "run".to_owned()];
        if let Some(profile) = &self.profile {
            // It stands for what picks the cases, and for their level.
            let mut others = self.clone();
            others.selection.feature_level = None;
            words.extend(others.words_of_a_case());
            words.extend(["--profile".to_owned(), profile.clone()]);
        } else {
            words.extend(self.words_of_a_case());
            if self.cases.is_empty() {
                words.extend(["--suite".to_owned(), self.selection.suite.clone()]);
            }
            words.extend(self.selection.words_of_a_pick());
        }
        words.extend(self.selection.words_of_a_part());
        for path in &self.known_failures {
            words.extend(["--known-failures".to_owned(), path.clone()]);
        }
        words.extend(self.cases.iter().cloned());
        words
    }
}

impl Selection {
    /// What picks cases of a suite, whichever it is: the filter, the strategies and the seed.
    pub(crate) fn words_of_a_pick(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
        if let Some(filter) = &self.filter {
            add("--where", filter.clone());
        }
        if !self.strategy.is_empty() {
            let names: Vec<&str> = self.strategy.iter().map(|strategy| strategy.name()).collect();
            add("--strategy", names.join(","));
        }
        if self.seed != 0 {
            add("--seed", self.seed.to_string());
        }
        words
    }

    /// The suite and what picks its cases: the words that make `list` show what `run` ran.
    pub(crate) fn words_of_a_list(&self) -> Vec<String> {
        let mut words = vec!["--suite".to_owned(), self.suite.clone()];
        words.extend(self.words_of_a_pick());
        if let Some(level) = self.feature_level {
            words.extend(["--feature-level".to_owned(), level.to_string()]);
        }
        words.extend(self.words_of_a_part());
        words
    }

    /// How much of what was picked is run.
    fn words_of_a_part(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
        if let Some(partition) = self.partition {
            add("--partition", partition.to_string());
        }
        if let Some(limit) = self.limit {
            add("--limit", limit.to_string());
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::arguments::{Arguments, Command};

    fn parse(words: &[String]) -> RunArguments {
        let all = ["dmlcts".to_owned(), "run".to_owned()].into_iter().chain(words.iter().cloned());
        match Arguments::try_parse_from(all).expect("options of `run`").command {
            Command::Run(arguments) => *arguments,
            other => panic!("not a run: {other:?}"),
        }
    }

    /// Reading the words back gives the same options, so that none that matters is lost.
    #[test]
    fn what_is_repeated_means_the_same() {
        let words = [
            "--backend",
            "exec:python3 it's.py",
            "--in-process",
            "--feature-level",
            "4.1",
            "--allow",
            "zero-sign,nan-canonicalised",
            "--memory",
            "64MiB",
            "--retries",
            "5",
            "--case-timeout",
            "1500ms",
            "--suite",
            "my suite.yaml",
            "--where",
            "operator == SLICE and rank > 1",
            "--strategy",
            "random,negative",
            "--seed",
            "7",
            "--limit",
            "40",
            "--partition",
            "2/3",
        ];
        let first = parse(&words.map(str::to_owned));
        let mut repeated = first.words_of_a_case();
        repeated.extend(first.selection.words_of_a_list().into_iter().filter(|word| {
            // The level stands among both.
            word != "--feature-level" && word != "4.1"
        }));
        let again = parse(&repeated);
        assert_eq!(format!("{again:?}"), format!("{first:?}"));
        let whole = first.words_of_a_run();
        assert_eq!(format!("{:?}", parse(&whole[2..])), format!("{first:?}"));
    }

    #[test]
    fn a_profile_is_repeated_by_its_name() {
        let words =
            ["--profile", "directml-5.0", "--memory", "64MiB", "--partition", "2/3"].map(str::to_owned);
        let (filled, claim) = parse(&words).of_profile().expect("there is one");
        assert!(claim.is_some());
        assert_eq!((filled.selection.suite.as_str(), filled.words_of_a_case()[1].as_str()), ("ci", "5.0"));
        let whole =
            ["dmlcts", "run", "--memory", "67108864", "--profile", "directml-5.0", "--partition", "2/3"];
        let words = filled.words_of_a_run();
        assert_eq!(words, whole);
        let (again, _) = parse(&words[2..]).of_profile().expect("it is there");
        assert_eq!(format!("{again:?}"), format!("{filled:?}"));
    }

    #[test]
    fn what_is_usual_is_not_repeated() {
        let usual = parse(&[]);
        assert!(usual.words_of_a_case().is_empty());
        assert!(usual.selection.words_of_a_pick().is_empty());
        assert_eq!(usual.selection.words_of_a_list(), ["--suite", "smoke"]);
    }
}
