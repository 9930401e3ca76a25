//! `--profile NAME`: the options that a profile sets, and the data of the run that its statement needs.

use dmlcts_profiles::{Claim, Profile};
use dmlcts_results::{ProfileEdition, SelectionForm};
use dmlcts_runner::{Configuration, Difference};
use dmlcts_spec::Library;

use crate::{
    arguments::RunArguments,
    problem::{Problem, unknown},
};

/// Loads the profile of this name, and checks that it was made for the spec of this program.
pub(crate) fn load(name: &str) -> Result<Profile, Problem> {
    let profile = Profile::load(name)?.ok_or_else(|| {
        let known: Vec<&str> = Profile::names().collect();
        Problem::usage(unknown("profile", name, &known), "see `dmlcts profiles`")
    })?;
    profile
        .check(Library::embedded())
        .map_err(|outdated| Problem::usage(outdated.to_string(), outdated.help()))?;
    Ok(profile)
}

impl RunArguments {
    /// These arguments with the profile's options filled in, and the claim to the profile, if one is named.
    pub(crate) fn of_profile(&self) -> Result<(Self, Option<Claim>), Problem> {
        let mut arguments = self.clone();
        let Some(name) = &self.profile else { return Ok((arguments, None)) };
        let profile = load(name)?;
        let form = profile.form();
        arguments.selection.suite.clone_from(&form.suite);
        arguments.selection.seed = form.seed;
        arguments.selection.feature_level = Some(profile.level());
        if self.limits.memory == Configuration::USUAL_MEMORY {
            arguments.limits.memory = form.memory;
        } else if self.limits.memory > form.memory {
            return Err(Problem::usage(
                format!("the profile {name} gives a case {} bytes, and --memory asks for more", form.memory),
                "leave --memory out, or ask for less: cases that are created only because of it are a reservation",
            ));
        }
        let is_part = arguments.selection.partition.is_some();
        let (memory, allow) = (arguments.limits.memory, arguments.verdicts.allow.clone());
        let claim = Claim { profile, memory, allow, is_part };
        Ok((arguments, Some(claim)))
    }
}

/// A claim, as a results file records it.
pub(crate) fn edition(claim: &Claim) -> ProfileEdition {
    ProfileEdition { name: claim.profile.name().to_owned(), version: claim.profile.version() }
}

/// The claim that a recorded run of this selection made.
pub(crate) fn claim(selection: &SelectionForm) -> Result<Option<Claim>, Problem> {
    let Some(ProfileEdition { name, version }) = &selection.profile else { return Ok(None) };
    let wrong = |message: String| Problem::usage(message, "join it with the version of dmlcts that wrote it");
    let profile = load(name)?;
    if profile.version() != *version {
        let own = profile.version();
        return Err(wrong(format!(
            "the run is of {name} version {version}, and this program has version {own}"
        )));
    }
    if !selection.is_of(&profile) {
        return Err(wrong(format!("the header names {name}, and selects other cases than that profile")));
    }
    let allow = Difference::ALL.into_iter().filter(|kind| selection.allow.iter().any(|id| id == kind.name()));
    let is_part = selection.partition.is_some();
    Ok(Some(Claim { memory: selection.memory, allow: allow.collect(), is_part, profile }))
}
