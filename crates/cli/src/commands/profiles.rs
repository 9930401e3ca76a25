//! `dmlcts profiles`: the profiles that a backend can be shown to conform to.

use std::{collections::BTreeSet, io::Write};

use dmlcts_profiles::{Profile, PromisedForm, promised};
use dmlcts_report::{bytes, counted, grouped};
use dmlcts_runner::SuiteSource;
use dmlcts_spec::Library;

use crate::{arguments::ProfilesArguments, exit::Exit, output, problem::Problem, profile, selection::expand};

/// Lists the profiles, or shows one of them.
pub(crate) fn profiles(arguments: &ProfilesArguments) -> Result<Exit, Problem> {
    let mut out = output::stdout();
    let mut exit = Exit::Success;
    if let Some(name) = &arguments.name {
        exit = show(&mut out, &profile::load(name)?, arguments.check)?;
    } else {
        for name in Profile::names() {
            let profile = profile::load(name)?;
            writeln!(out, "{name:<19} version {:<3} {}", profile.version(), summary(&profile))?;
        }
    }
    out.flush()?;
    Ok(exit)
}

/// The profile's summary on one line.
fn summary(profile: &Profile) -> String {
    profile.form().summary.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Shows everything in a profile. With `check`, compares it with the cases of its suite in this program.
fn show(out: &mut dyn Write, profile: &Profile, check: bool) -> Result<Exit, Problem> {
    let form = profile.form();
    writeln!(out, "{} version {}", profile.name(), profile.version())?;
    writeln!(out, "  {}\n", summary(profile))?;
    let facts = [
        ("suite", format!("{}, seed {}: {}", form.suite, form.seed, counted(profile.cases(), "case"))),
        ("level", profile.level().to_string()),
        ("memory", format!("{} a case", bytes(form.memory))),
        ("spec", form.spec.clone()),
    ];
    for (name, fact) in facts {
        writeln!(out, "  {name:<9} {fact}")?;
    }
    for PromisedForm { operator, cases, created_only, lines, expectations } in &form.operators {
        writeln!(
            out,
            "\n  {operator:<9} {}, of which {} too large to run",
            counted(*cases, "case"),
            grouped(*created_only)
        )?;
        writeln!(out, "            lines        {lines}\n            expectations {expectations}")?;
    }
    if !check {
        return Ok(Exit::Success);
    }
    let here = here(profile)?;
    let differ: BTreeSet<&str> = form
        .operators
        .iter()
        .filter(|promised| !here.contains(promised))
        .chain(here.iter().filter(|own| !form.operators.contains(own)))
        .map(|promised| promised.operator.as_str())
        .collect();
    if differ.is_empty() {
        writeln!(out, "\n  checked: this program asks these cases, and expects this of them")?;
        return Ok(Exit::Success);
    }
    writeln!(
        out,
        "\n  checked: this program asks or expects something else of {}",
        differ.into_iter().collect::<Vec<_>>().join(", ")
    )?;
    Ok(Exit::Unexpected)
}

/// The cases of the profile's suite and their expectations in this program, as digests.
fn here(profile: &Profile) -> Result<Vec<PromisedForm>, Problem> {
    let form = profile.form();
    let source = SuiteSource::new(expand(&form.suite, form.seed)?, &[]);
    promised(Library::embedded(), &source, profile.level(), form.memory)
        .ok_or_else(|| Problem::usage(format!("the suite {} has no end", form.suite), "name another profile"))
}
