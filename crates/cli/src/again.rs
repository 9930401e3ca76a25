//! The options of a run as data: their form in a results file, and the words of a command that means the
//! same.

use dmlcts_generate::Suite;
use dmlcts_profiles::Claim;
use dmlcts_results::{BackendOptions, FolderForm, GivenForm, SelectionForm, SuiteForm};
use dmlcts_runner::Difference;

use crate::{
    arguments::{RunArguments, Selection},
    profile::edition,
    units,
};

impl RunArguments {
    /// The backend of the run and the options for it.
    pub(crate) fn backend_options(&self) -> BackendOptions {
        BackendOptions {
            argument: self.backend.clone(),
            in_process: self.in_process,
            case_timeout: self.case_timeout,
            memory: self.backend_memory,
        }
    }

    /// The results file of the run, if it has one.
    pub(crate) fn recorded(&self) -> Option<&String> {
        self.resume.as_ref().or(self.results.as_ref())
    }

    /// The selection of the run's cases, from a suite or from these lines, with its folder of findings
    /// and its claim to a profile.
    pub(crate) fn selection_form(
        &self,
        suite: Option<&Suite>,
        given: &[String],
        findings: Option<FolderForm>,
        claim: Option<&Claim>,
    ) -> SelectionForm {
        // The number of threads changes no result, and a suite is identified by its text.
        let Selection { suite: _, filter, strategy, order, feature_level, seed, limit, partition, jobs: _ } =
            &self.selection;
        let mut strategies: Vec<String> =
            strategy.iter().map(|strategy| strategy.name().to_owned()).collect();
        strategies.sort();
        strategies.dedup();
        let mut allow: Vec<String> =
            self.verdicts.allow.iter().copied().map(Difference::name).map(str::to_owned).collect();
        allow.sort();
        allow.dedup();
        let given = suite.is_none().then(|| {
            let lines: String = given.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
            let hash = blake3::hash(lines.as_bytes()).to_hex().to_string();
            GivenForm { cases: given.len() as u64, hash }
        });
        SelectionForm {
            profile: claim.map(edition),
            suite: suite
                .map(|suite| SuiteForm { name: suite.name().to_owned(), hash: suite.source().hash() }),
            given,
            seed: *seed,
            filter: filter.clone(),
            strategies,
            order: order.map(|order| order.id().to_owned()),
            feature_level: feature_level.map(|level| level.to_string()),
            partition: *partition,
            limit: *limit,
            memory: self.limits.memory,
            runs: self.verdicts.runs,
            retries: self.verdicts.retries,
            allow,
            findings,
        }
    }

    /// The words of the options that affect a single case.
    pub(crate) fn words_of_a_case(&self, form: &SelectionForm) -> Vec<String> {
        [self.backend_options().words(), form.words_of_a_case()].concat()
    }

    /// The whole command, with all options that affect the choice and the results of the cases.
    pub(crate) fn words_of_a_run(&self, form: &SelectionForm) -> Vec<String> {
        let mut words = vec!["dmlcts".to_owned(), "run".to_owned()];
        words.extend(self.backend_options().words());
        if self.cases.is_empty() && self.profile.is_none() {
            words.extend(self.selection.words_of_a_suite());
        }
        words.extend(form.words_of_a_run());
        words.extend(self.cases.iter().cloned());
        words
    }

    /// The limits at which the run ends early, with this number of times its time.
    pub(crate) fn words_of_limits(&self, times: u32) -> Vec<String> {
        let time = self.limits.timeout.map(|time| units::written(time.saturating_mul(times)));
        let limits = [
            self.time_limit().zip(time),
            self.limits.max_failures.map(|most| ("--max-failures", most.to_string())),
            self.limits.max_hangs.map(|most| ("--max-hangs", most.to_string())),
        ];
        limits.into_iter().flatten().flat_map(|(option, value)| [option.to_owned(), value]).collect()
    }
}

impl Selection {
    /// The suite as it was named, by its path if it has one.
    pub(crate) fn words_of_a_suite(&self) -> [String; 2] {
        ["--suite".to_owned(), self.suite.clone()]
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

    /// The selection of these arguments, without the suite, which does not affect the words.
    fn form(arguments: &RunArguments, claim: Option<&Claim>) -> SelectionForm {
        let named = arguments.verdicts.findings.as_ref().map(|path| FolderForm {
            path: path.clone(),
            hash: "ab".repeat(32),
            name: arguments.verdicts.name.clone(),
        });
        arguments.selection_form(None, &[], named, claim)
    }

    /// Parsing the words gives the same options again, so that no option that matters is lost.
    #[test]
    fn repeated_words_mean_the_same() {
        let words = [
            "--backend",
            "exec:python3 it's.py",
            "--in-process",
            "--feature-level",
            "4.1",
            "--allow",
            "nan-canonicalised,zero-sign",
            "--memory",
            "64MiB",
            "--runs",
            "once",
            "--retries",
            "5",
            "--case-timeout",
            "1500ms",
            "--backend-memory",
            "2GiB",
            "--suite",
            "my suite.yaml",
            "--where",
            "operator == SLICE and rank > 1",
            "--strategy",
            "negative,random",
            "--seed",
            "7",
            "--order",
            "layered",
            "--limit",
            "40",
            "--partition",
            "2/3",
            "--findings",
            "known here",
            "--name",
            "mine",
        ];
        let first = parse(&words.map(str::to_owned));
        let form = form(&first, None);
        let whole = first.words_of_a_run(&form);
        assert_eq!(format!("{:?}", parse(&whole[2..])), format!("{first:?}"));
        // The level is in both lists of words.
        let of_list = form.words_of_a_list();
        let of_list = of_list.chunks(2).filter(|option| option[0] != "--feature-level").flatten().cloned();
        let mut repeated = first.words_of_a_case(&form);
        repeated.extend(first.selection.words_of_a_suite().into_iter().chain(of_list));
        assert_eq!(format!("{:?}", parse(&repeated)), format!("{first:?}"));
    }

    #[test]
    fn a_profile_is_repeated_by_its_name() {
        let words =
            ["--profile", "directml-5.0", "--memory", "64MiB", "--partition", "2/3"].map(str::to_owned);
        let (filled, claim) = parse(&words).of_profile().expect("there is one");
        assert!(claim.is_some());
        let form = form(&filled, claim.as_ref());
        assert_eq!(filled.selection.suite, "ci");
        assert_eq!(filled.words_of_a_case(&form), ["--feature-level", "5.0", "--memory", "64MiB"]);
        let whole = ["dmlcts", "run", "--profile", "directml-5.0", "--partition", "2/3", "--memory", "64MiB"];
        let words = filled.words_of_a_run(&form);
        assert_eq!(words, whole);
        let (again, _) = parse(&words[2..]).of_profile().expect("it is there");
        assert_eq!(format!("{again:?}"), format!("{filled:?}"));
    }

    #[test]
    fn defaults_are_not_repeated() {
        let usual = parse(&[]);
        let form = form(&usual, None);
        assert!(usual.words_of_a_case(&form).is_empty());
        assert!(form.words_of_a_choice().is_empty() && form.words_of_a_list().is_empty());
        assert_eq!(usual.words_of_a_run(&form), ["dmlcts", "run", "--suite", "smoke"]);
    }
}
