//! The backends that this program knows by the name on the command line, and the place where each runs. A
//! trusted backend runs in this process. Every other backend runs in processes of its own, where a crash or a
//! hang costs only its case. Processes are no sandbox. A built-in backend runs there as `dmlcts serve`, which
//! is this program.

use std::{
    ffi::OsStr,
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use dmlcts_backend::{
    Interleaved, OpenError, Purpose,
    dylib::Dylib,
    process::{Command, Deadline, Incidents, Launcher},
};
use dmlcts_model::{Desc, closest};
use dmlcts_mutants::{Mutant, Needs, Several};
use dmlcts_reference::Reference;
use dmlcts_report::command;
use dmlcts_runner::{Factory, RunError, Stop};
use dmlcts_spec::Library;

use crate::problem::{Problem, unknown};

/// The names of all backends.
pub(crate) const NAMES: &[&str] = &[
    "reference",
    #[cfg(feature = "directml")]
    "directml",
    #[cfg(feature = "wgpu")]
    "wgpu",
    "exec:<command>",
    "dylib:<path>",
    "mutant:<name>",
];

/// The backends with a part after a colon.
const KINDS: &[&str] = &["exec", "dylib", "wgpu", "directml", "mutant"];

/// The name of a backend, which it says only when it runs. `argument` names it on the command line.
pub(crate) fn name(backend: &Factory, argument: &str) -> Result<String, Problem> {
    let opened = backend(Purpose::Retries);
    let opened = opened.map_err(|error| Problem::start(RunError::Backend(error), argument))?;
    Ok(opened.capabilities().name.clone())
}

/// How backend processes are hosted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hosting {
    /// The time after which a process that has cases and is silent is ended. In this process, the time after
    /// which a device of DirectML is given up.
    pub(crate) case_timeout: Duration,
    /// The time limit of the run. The host waits for a process until a [moment](Stop::MOMENT) later.
    pub(crate) end: Option<Instant>,
    /// Whether it does not limit retries, and so the explanation of failures.
    pub(crate) ends_cases_alone: bool,
    /// The deadline that an interruption sets.
    pub(crate) deadline: Deadline,
    /// The number of hanging cases after which the run ends.
    pub(crate) max_hangs: Option<u64>,
    /// The maximum memory of a backend process in bytes.
    pub(crate) memory: Option<u64>,
    /// Receives incidents of the processes.
    pub(crate) incidents: Incidents,
    /// Whether a built-in backend runs in this process.
    pub(crate) in_process: bool,
    /// Whether this program is a backend process itself, and therefore ends soon after it is told to.
    pub(crate) is_served: bool,
}

/// The factory of the backend with this name. A colon and a word after it select one of several.
pub(crate) fn factory(name: &str, hosting: &Hosting) -> Result<Arc<Factory>, Problem> {
    check_memory(name, hosting)?;
    match name.split_once(':').unwrap_or((name, "")) {
        // A process of its own may crash, so its host asks more of it.
        ("reference", "") if hosting.is_served => {
            Ok(Arc::new(|_| Ok(Box::new(Interleaved::new(Reference::new())))))
        }
        ("reference", "") => Ok(Arc::new(|_| Ok(Box::new(Reference::backend())))),
        #[cfg(feature = "directml")]
        ("directml", words) => {
            let mut options: dmlcts_directml::Options = words.parse().map_err(|error| {
                Problem::usage(
                    format!("`--backend {name}`: {error}"),
                    "write words with commas between them, as in --backend directml:warp,no-metacommands",
                )
            })?;
            if !hosting.in_process {
                return served(name, hosting);
            }
            options.timeout = hosting.case_timeout;
            let directml = dmlcts_directml::DirectMl::open(&options).map_err(|error| unopened(&error))?;
            Ok(Arc::new(move |_| Ok(Box::new(directml.backend()))))
        }
        #[cfg(not(feature = "directml"))]
        ("directml", _) => Err(left_out("directml")),
        #[cfg(feature = "wgpu")]
        ("wgpu", adapter) if hosting.in_process => {
            let options = dmlcts_wgpu::Options { is_served: hosting.is_served, ..Default::default() };
            let gpu = dmlcts_wgpu::Gpu::open_with(adapter, options).map_err(|error| unopened(&error))?;
            Ok(Arc::new(move |_| Ok(Box::new(gpu.backend()))))
        }
        #[cfg(feature = "wgpu")]
        ("wgpu", _) => served(name, hosting),
        #[cfg(not(feature = "wgpu"))]
        ("wgpu", _) => Err(left_out("wgpu")),
        ("exec", _) if hosting.in_process => Err(Problem::usage(
            format!("`--backend {name}` is a process, and cannot run in this one"),
            "leave out --in-process",
        )),
        ("exec", command) => {
            let command = Command::parse(command).map_err(|error| {
                Problem::usage(
                    format!("`--backend {name}`: {error}"),
                    "write the command behind the colon, and quotes around both: --backend 'exec:python3 mine.py'",
                )
            })?;
            Ok(hosted(&command, hosting))
        }
        ("dylib", "") => Err(Problem::usage(
            "`--backend dylib:` names no library",
            "write its path behind the colon: --backend dylib:./mine.so",
        )),
        // Opening a pipe would wait for its writer.
        ("dylib", path) if is_path(path) && fs::metadata(path).is_ok_and(|about| !about.is_file()) => {
            Err(Problem::usage(format!("`{path}` is not a file"), "name a shared library behind dylib:"))
        }
        ("dylib", path) if hosting.in_process => {
            let library = Dylib::load(path).map_err(|error| unopened(&error))?;
            let is_served = hosting.is_served;
            Ok(Arc::new(move |_| match library.open() {
                Ok(backend) if is_served => Ok(Box::new(Interleaved::new(backend.0))),
                Ok(backend) => Ok(Box::new(backend)),
                Err(error) => Err(OpenError::Own(error.to_string())),
            }))
        }
        ("dylib", _) => served(name, hosting),
        ("mutant", own) => {
            let all: Vec<&Mutant> = own.split('+').map(mutant).collect::<Result<_, _>>()?;
            if !hosting.in_process {
                return served(name, hosting);
            }
            let is_guarded = |mutant: &&Mutant| matches!(mutant.needs, Needs::GuardedMemory(_));
            let is_guarded = hosting.is_served && all.iter().any(is_guarded);
            Ok(Arc::new(move |_| {
                Ok(match &all[..] {
                    [one] if is_guarded => Box::new(Interleaved::new(dmlcts_mutants::backend(one))),
                    [one] => Box::new(dmlcts_mutants::backend(one)),
                    all if is_guarded => Box::new(Interleaved::new(Several::new(all))),
                    all => Box::new(Several::new(all)),
                })
            }))
        }
        _ => Err(match own(name) {
            Some(meant) => {
                let kind = name.split_whitespace().next().filter(|kind| KINDS.contains(kind));
                let message = match kind {
                    Some(kind) => format!("there is no backend `{name}`; a colon stands behind `{kind}`"),
                    None => format!(
                        "there is no backend `{name}`; a program of your own stands behind `exec:`, and a library behind `dylib:`"
                    ),
                };
                Problem::usage(message, format!("write {}", command(&["--backend", &meant])))
            }
            None => Problem::usage(unknown("backend", name, NAMES), "name one of them behind --backend"),
        }),
    }
}

/// The mutant with this name.
pub(crate) fn mutant(name: &str) -> Result<&'static Mutant, Problem> {
    dmlcts_mutants::find(name).ok_or_else(|| {
        let meant = closest(name, dmlcts_mutants::all().map(|mutant| mutant.name));
        let meant = meant.map(|close| format!("; did you mean `{close}`?")).unwrap_or_default();
        Problem::usage(
            format!("there is no mutant `{name}`{meant}"),
            "`dmlcts mutants --list` lists the mutants",
        )
    })
}

/// The backend that a name without a colon probably means, if it looks like a command or like the path of a
/// script or library.
fn own(name: &str) -> Option<String> {
    let name = name.trim();
    if let Some((kind, rest)) = name.split_once(char::is_whitespace) {
        match kind {
            "reference" => return None,
            "dylib" => return Some(library(rest.trim())),
            _ if KINDS.contains(&kind) => return Some(format!("{kind}:{}", rest.trim())),
            _ => {}
        }
    }
    let path = Path::new(name);
    let is_script = path.extension().is_some_and(|extension| extension == "py");
    let is_known = is_script || is_library(path);
    let is_command = match name.split_once(char::is_whitespace) {
        None => false,
        // The first word of a command is not the folder of a path that goes on after a space.
        Some((program, _)) => {
            let is_cut = is_known && is_path(program) && !Path::new(program).is_file();
            !is_cut && !path.is_file()
        }
    };
    if is_command {
        Some(format!("exec:{name}"))
    } else if is_library(path) {
        Some(library(name))
    } else if is_script {
        Some(format!("exec:python3 {}", one_word(name)))
    } else if is_path(name) {
        Some(format!("exec:{}", one_word(name)))
    } else if path.is_file() {
        Some(format!("exec:{}", one_word(&format!("./{name}"))))
    } else {
        None
    }
}

fn is_path(name: &str) -> bool {
    name.contains(['/', '\\'])
}

/// Whether a path names a shared library, such as `libmine.so.1`.
fn is_library(path: &Path) -> bool {
    let is_numbered = |name: &str| {
        name.split_once(".so.").is_some_and(|(_, version)| {
            version.bytes().all(|letter| letter.is_ascii_digit() || letter == b'.')
        })
    };
    matches!(path.extension().and_then(OsStr::to_str), Some("so" | "dylib" | "dll"))
        || path.file_name().and_then(OsStr::to_str).is_some_and(is_numbered)
}

/// The backend of a library. The system would search its own folders for a name without a folder.
fn library(name: &str) -> String {
    if is_path(name) { format!("dylib:{name}") } else { format!("dylib:./{name}") }
}

/// A path as one word of a command after `exec:`.
fn one_word(path: &str) -> String {
    match path {
        _ if !path.contains(|letter: char| letter.is_whitespace() || letter == '\'') => path.to_owned(),
        _ if path.contains('\'') => format!("\"{path}\""),
        _ => format!("'{path}'"),
    }
}

/// Why a backend that runs in this program cannot be opened.
fn unopened(error: &dyn std::error::Error) -> RunError {
    RunError::Backend(OpenError::Own(error.to_string()))
}

/// Starts processes of a command. They are asked for the operators of the specs, and answer an example of
/// each as a probe.
fn hosted(command: &Command, hosting: &Hosting) -> Arc<Factory> {
    let launcher = |end: Option<Instant>| {
        let launcher = Launcher::new(command.clone(), hosting.case_timeout)
            .with_operators(Library::embedded().signatures())
            .with_probes(examples())
            .with_end(end)
            .with_deadline(hosting.deadline.clone())
            .with_max_hangs(hosting.max_hangs)
            .with_memory(hosting.memory)
            .with_incidents(hosting.incidents.clone());
        Arc::new(if hosting.is_served { launcher.with_short_grace() } else { launcher })
    };
    let cases = launcher(hosting.end.and_then(|end| end.checked_add(Stop::MOMENT)));
    let retries = if hosting.ends_cases_alone { launcher(None) } else { Arc::clone(&cases) };
    Arc::new(move |purpose| {
        let launcher = if purpose == Purpose::Cases { &cases } else { &retries };
        Ok(Box::new(launcher.host(purpose)?))
    })
}

/// An example of each operator. A working backend answers each of them in some way.
pub(crate) fn examples() -> Vec<Desc> {
    let operators = Library::embedded().operators().iter();
    operators
        .filter_map(|operator| operator.examples().first())
        .map(|example| example.case.desc.as_ref().clone())
        .collect()
}

/// Refuses a limit of memory that nothing would keep.
fn check_memory(name: &str, hosting: &Hosting) -> Result<(), Problem> {
    let kind = name.split(':').next().unwrap_or_default();
    let is_process = !hosting.in_process && !["reference", "mutant"].contains(&kind);
    match hosting.memory {
        Some(_) if !cfg!(target_os = "linux") => Err(Problem::usage(
            "`--backend-memory` needs Linux: only there a program learns how much memory another one uses",
            "leave out --backend-memory",
        )),
        Some(_) if !is_process => Err(Problem::usage(
            format!("`--backend-memory` is for a process, and `{name}` runs in this one"),
            "leave out --backend-memory",
        )),
        _ => Ok(()),
    }
}

/// Starts processes of this program that serve a built-in backend.
fn served(name: &str, hosting: &Hosting) -> Result<Arc<Factory>, Problem> {
    let program = std::env::current_exe().map_err(|error| {
        RunError::Backend(OpenError::Own(format!(
            "this program does not find itself, to run the backend in processes: {error}"
        )))
    })?;
    let text = format!("dmlcts serve --backend {name}");
    let own = std::process::id().to_string();
    let command = Command::of(program.as_os_str(), &["serve", "--backend", name, "--parent", &own], &text);
    Ok(hosted(&command, hosting))
}

/// The error that this program is built without a backend.
#[cfg(not(all(feature = "directml", feature = "wgpu")))]
fn left_out(name: &str) -> Problem {
    Problem::usage(
        format!("this program was built without the backend `{name}`"),
        "build it with its default features: cargo run --release -- …, or cargo install --path crates/cli",
    )
}

#[cfg(test)]
mod tests {
    use super::own;

    #[test]
    fn a_command_or_path_without_its_colon_is_told_from_a_misspelled_name() {
        for (name, meant) in [
            ("./mine.py", "exec:python3 ./mine.py"),
            ("mine.py", "exec:python3 mine.py"),
            ("python3 mine.py", "exec:python3 mine.py"),
            ("exec python3 mine.py", "exec:python3 mine.py"),
            ("target/release/mine", "exec:target/release/mine"),
            ("./libmine.so", "dylib:./libmine.so"),
            ("./libmine.so.1", "dylib:./libmine.so.1"),
            ("libmine.so.1.2", "dylib:./libmine.so.1.2"),
            ("dylib ./libmine.so", "dylib:./libmine.so"),
            ("dylib libmine.so", "dylib:./libmine.so"),
            ("./my lib.so", "dylib:./my lib.so"),
            ("wgpu llvmpipe", "wgpu:llvmpipe"),
            ("directml  warp,debug ", "directml:warp,debug"),
            ("reference now", ""),
            ("./my file.py", "exec:python3 './my file.py'"),
            ("./it's mine.py", "exec:python3 \"./it's mine.py\""),
            ("python3 ./mine.py --fast", "exec:python3 ./mine.py --fast"),
            ("python3 dir/mine.py", "exec:python3 dir/mine.py"),
            ("libmine.dylib", "dylib:./libmine.dylib"),
            (r"C:\backends\mine.dll", r"dylib:C:\backends\mine.dll"),
            ("Cargo.lock.sh", ""),
            ("Cargo.toml", "exec:./Cargo.toml"),
            ("refrence", ""),
            ("exec", ""),
            ("", ""),
        ] {
            assert_eq!(own(name).unwrap_or_default(), meant, "{name}");
        }
    }
}
