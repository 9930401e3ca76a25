//! Remedies for a backend that does not start.

use dmlcts_backend::{OpenError, dylib::DylibError, process::StartError};

/// The remedy if a user's own backend with this name does not start. The errors of other backends name
/// theirs.
pub(crate) fn of_backend(name: &str, error: &OpenError) -> Option<String> {
    match (name.split_once(':')?, error) {
        (("exec", command), OpenError::Process(error)) => of_process(command, error),
        (("dylib", path), error) => of_library(path, error),
        _ => None,
    }
}

/// The remedy if this library is no backend.
fn of_library(path: &str, error: &OpenError) -> Option<String> {
    // The error of a library in a worker process is a text.
    let said = error.to_string();
    let is = |kind: fn(String, String) -> DylibError| {
        said.contains(&kind(path.to_owned(), String::new()).to_string())
    };
    if matches!(error, OpenError::Declaration(_)) || is(DylibError::Declares) {
        let header = "crates/backend/include/dmlcts_backend.h explains each field of `dmlcts_capabilities`";
        return Some(format!("fix what `dmlcts_describe` returns: {header}"));
    }
    // The library gives its own reason.
    (!is(DylibError::Open)).then(|| {
        format!(
            "build {path} for this machine, with every function that crates/backend/include/dmlcts_backend.h declares; `nm -D {path}` lists \
             what it has, and `ldd {path}` what it needs"
        )
    })
}

/// The remedy if a process of this command does not start.
fn of_process(command: &str, error: &StartError) -> Option<String> {
    Some(match error {
        StartError::Spawn { is_other_format: true, .. } => {
            "the first line of a script must name what runs it, such as #!/usr/bin/env python3; a program must be built for this machine"
                .to_owned()
        }
        StartError::Spawn { .. } => {
            "no shell is asked, so no variable, `~` or `&&` is expanded: exec:sh -c '…' asks one; a script must be executable, or stand \
             behind what runs it, as in exec:python3 mine.py"
                .to_owned()
        }
        StartError::Ended { .. } => {
            format!("see why `{command}` ends, run by hand: it is to wait for its standard input")
        }
        StartError::Silent { .. } => format!(
            "see what `{command}` waits for: it is to say hello as soon as it is asked, before what takes long"
        ),
        StartError::Hello { .. } => {
            "fix what it says of itself: crates/backend/PROTOCOL.md has each key of a `hello`, and a JSON Schema".to_owned()
        }
        StartError::Refused(_) => return None,
        StartError::Protocol { .. } | StartError::Version { .. } | StartError::Changed { .. } => format!(
            "see that `{command}`, run by hand, prints nothing on standard output and waits for its standard input"
        ),
    })
}
