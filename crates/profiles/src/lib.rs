//! Profiles: named, versioned promises to which a backend can conform.
//!
//! A profile is a suite, a seed and a feature level ([`ProfileForm`] is the format, field by field). The
//! promise itself is the hash of the spec and, for each operator, the number of cases and the digests of
//! their lines and expectations. So a spec with only another wording can be distinguished from a spec with
//! other expectations. A [`Claim`] is a run that should show that a backend conforms. Its result is a
//! [`Statement`].

mod form;
mod promised;
mod statement;

use std::sync::Arc;

use dmlcts_case_files::PROFILES;
use dmlcts_generate::Suite;
use dmlcts_model::FeatureLevel;
use dmlcts_spec::{
    Library, LoadError, Source,
    yaml::{self, Document},
};

pub use form::{ProfileForm, PromisedForm};
pub use promised::promised;
pub use statement::{Claim, Conformity, Failing, Reservation, ReservationKind, Statement, Withheld};

/// A checked profile.
#[derive(Debug, Clone)]
pub struct Profile {
    form: Arc<ProfileForm>,
    level: FeatureLevel,
    source: Source,
}

/// A profile that was made for another spec than this program has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file} promises what the spec {promised:.12} says, and this program has {present:.12}")]
pub struct Outdated {
    /// The file of the profile.
    pub file: String,
    /// The hash of the profile's spec.
    pub promised: String,
    /// The hash of this program's spec.
    pub present: String,
}

impl Outdated {
    /// The way to repair it.
    pub fn help(&self) -> &'static str {
        "run a release of dmlcts, whose profiles are those of its spec; where you change the spec yourself, renew them: \
         DMLCTS_BLESS=1 cargo test -p dmlcts-tests profiles"
    }
}

impl Profile {
    /// The names of all profiles.
    pub fn names() -> impl Iterator<Item = &'static str> {
        PROFILES.iter().map(|profile| profile.0)
    }

    /// The profile with this name, if there is one.
    ///
    /// # Errors
    ///
    /// If the file is not a valid profile, which a test rules out.
    pub fn load(name: &str) -> Result<Option<Self>, LoadError> {
        let Some((_, text)) = PROFILES.iter().find(|profile| profile.0 == name) else { return Ok(None) };
        Self::parse(&Source::new(format!("cases/profiles/{name}.yaml"), *text)).map(Some)
    }

    /// Parses the text of a profile.
    ///
    /// # Errors
    ///
    /// Every mistake in its form, such as an unknown suite or feature level.
    pub fn parse(source: &Source) -> Result<Self, LoadError> {
        let document: Document<ProfileForm> = yaml::read(source)?;
        let (form, root) = (&document.value, document.root());
        let mut wrong = Vec::new();
        if !Suite::names().any(|name| name == form.suite) {
            let names: Vec<&str> = Suite::names().collect();
            let message = format!("there is no suite `{}`", form.suite);
            wrong.push(root.key("suite").mistake(message, format!("expected one of {}", names.join(", "))));
        }
        let level = form.feature_level.parse();
        if let Err(error) = &level {
            wrong.push(root.key("feature_level").mistake(format!("{error}"), ""));
        }
        LoadError::check(wrong)?;
        let level = level.unwrap_or(FeatureLevel::NEWEST);
        Ok(Self { form: Arc::new(document.value), level, source: source.clone() })
    }

    /// The profile's name.
    pub fn name(&self) -> &str {
        &self.form.profile
    }

    /// The edition of the profile: another edition has other cases or other expectations.
    pub fn version(&self) -> u32 {
        self.form.version
    }

    /// The profile as it was written.
    pub fn form(&self) -> &ProfileForm {
        &self.form
    }

    /// The file that the profile was read from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The feature level to judge at.
    pub fn level(&self) -> FeatureLevel {
        self.level
    }

    /// The number of cases of all operators.
    pub fn cases(&self) -> u64 {
        self.form.operators.iter().map(|promised| promised.cases).sum()
    }

    /// The number of valid cases that exceed the profile's memory limit, so that they are created but not
    /// run.
    pub fn created_only(&self) -> u64 {
        self.form.operators.iter().map(|promised| promised.created_only).sum()
    }

    /// Checks that the profile was made for this spec.
    ///
    /// # Errors
    ///
    /// If it was made for another one.
    pub fn check(&self, library: &Library) -> Result<(), Outdated> {
        if self.form.spec == library.hash() {
            return Ok(());
        }
        let (promised, present) = (self.form.spec.clone(), library.hash().to_owned());
        Err(Outdated { file: self.source.name.clone(), promised, present })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A profile in which one text is replaced.
    fn changed(from: &str, to: &str) -> Result<Profile, LoadError> {
        let text = PROFILES[0].1;
        assert!(text.contains(from));
        Profile::parse(&Source::new("mine.yaml", text.replacen(from, to, 1)))
    }

    #[test]
    fn a_profile_of_another_spec_is_refused_with_place_cause_and_remedy() {
        let library = Library::embedded();
        let profile = changed("spec: \"", "spec: \"0123").expect("any hash is one");
        let outdated = profile.check(library).expect_err("it is of another spec");
        let present = library.short_hash();
        let said = outdated.to_string();
        assert!(said.starts_with("mine.yaml promises what the spec 0123"), "{said}");
        assert!(said.ends_with(&format!(", and this program has {present}")), "{said}");
        assert!(outdated.help().contains("DMLCTS_BLESS=1 cargo test"));
    }

    #[test]
    fn what_a_profile_names_must_be_there() {
        let said = |from: &str, to: &str| changed(from, to).expect_err("it is wrong").to_string();
        assert!(said("suite: ci", "suite: cii").contains("there is no suite `cii`"));
        assert!(
            said("feature_level: \"6.4\"", "feature_level: \"7.0\"").contains("`7.0` is not a feature level")
        );
        assert!(said("seed: 0", "sead: 0").contains("sead"));
        assert!(Profile::load("directml-7.0").expect("no mistake").is_none());
    }
}
