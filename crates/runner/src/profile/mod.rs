//! Profiles: named, versioned promises that a backend can say it conforms to.
//!
//! A profile is a suite, a seed and a feature level ([`ProfileForm`] is the format, field by field), together with what makes
//! it a promise: the hash of the spec, and for each operator how many cases there are and digests of their lines and of what is expected of
//! them. So a spec that only says the same in other words is told apart from one that expects something else. A [`Claim`] is a
//! run that is to show that a backend conforms; what it comes to is a [`Statement`].

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

/// A profile, checked.
#[derive(Debug, Clone)]
pub struct Profile {
    form: Arc<ProfileForm>,
    level: FeatureLevel,
    source: Source,
}

/// A profile whose promises are of another spec than there is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file} promises what the spec {promised:.12} says, and this program has {present:.12}")]
pub struct Outdated {
    /// Where the profile stands.
    pub file: String,
    /// The hash of its spec.
    pub promised: String,
    /// The hash of the spec that there is.
    pub present: String,
}

impl Outdated {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        "run a release of dmlcts, whose profiles are those of its spec; where you change the spec yourself, renew them: \
         DMLCTS_BLESS=1 cargo test -p dmlcts-tests --test profiles"
    }
}

impl Profile {
    /// The names of the profiles that there are.
    pub fn names() -> impl Iterator<Item = &'static str> {
        PROFILES.iter().map(|profile| profile.0)
    }

    /// The profile of this name; `None` where there is none.
    ///
    /// # Errors
    ///
    /// Where its text is no profile, which a test rules out.
    pub fn load(name: &str) -> Result<Option<Self>, LoadError> {
        let Some((_, text)) = PROFILES.iter().find(|profile| profile.0 == name) else { return Ok(None) };
        Self::parse(&Source::new(format!("cases/profiles/{name}.yaml"), *text)).map(Some)
    }

    /// A profile from its text.
    ///
    /// # Errors
    ///
    /// Every mistake of its form; a suite or a feature level that there is not.
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

    /// Its name.
    pub fn name(&self) -> &str {
        &self.form.profile
    }

    /// Which edition of it this is: another one expects something else, or has other cases.
    pub fn version(&self) -> u32 {
        self.form.version
    }

    /// What was written.
    pub fn form(&self) -> &ProfileForm {
        &self.form
    }

    /// Where it was written.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The feature level that it promises.
    pub fn level(&self) -> FeatureLevel {
        self.level
    }

    /// How many cases it has, of all operators.
    pub fn cases(&self) -> u64 {
        self.form.operators.iter().map(|promised| promised.cases).sum()
    }

    /// How many of its cases are larger than the memory that it gives a case, so that they are created and not run.
    pub fn created_only(&self) -> u64 {
        self.form.operators.iter().map(|promised| promised.created_only).sum()
    }

    /// Checks that it promises what this spec says.
    ///
    /// # Errors
    ///
    /// Where it was made for another one.
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

    /// A profile with a line of another one replaced.
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
