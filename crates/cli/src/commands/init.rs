//! `dmlcts init`: a backend to start from, its workflow for GitHub, and a folder for known findings. The
//! files in Python and C are those of the crate `dmlcts-backend`, under another name.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::Path,
};

use dmlcts_backend::starters::{C_EXAMPLE, C_HEADER, PYTHON_EXAMPLE, PYTHON_MODULE};
use dmlcts_model::escaped;
use dmlcts_report::command;

use crate::{
    arguments::{InitArguments, Language},
    exit::Exit,
    output,
    problem::Problem,
};

/// A file to write: its path in the folder, and its text.
type NewFile = (&'static str, String);

/// Writes the files, and prints their paths and the next steps.
pub(crate) fn init(arguments: &InitArguments) -> Result<Exit, Problem> {
    let folder = Path::new(&arguments.folder);
    let files = files(arguments.language);
    files.iter().try_for_each(|(name, _)| check(folder, name))?;
    let mut out = output::stdout();
    for (name, text) in &files {
        let path = folder.join(name);
        write(&path, text).map_err(|error| {
            Problem::usage(
                format!("cannot write {}: {error}", path.display()),
                "name a folder that you may write into, or that does not exist yet",
            )
        })?;
        writeln!(out, "wrote     {}", escaped(&path.display().to_string()))?;
    }
    for step in next(arguments.language, folder) {
        writeln!(out, "next      {step}")?;
    }
    out.flush()?;
    Ok(Exit::Success)
}

/// The files of a language.
fn files(language: Language) -> Vec<NewFile> {
    let (workflow, own) = match language {
        Language::Python => {
            let example = PYTHON_EXAMPLE.replace("\"numpy\", np.__version__", "\"mine\", \"1.0\"");
            let own = vec![
                ("mine.py", example.replace("numpy_backend", "mine")),
                ("dmlcts_backend.py", PYTHON_MODULE.to_owned()),
            ];
            (include_str!("../../templates/python.yml"), own)
        }
        Language::C => {
            let example = C_EXAMPLE.replace("-I../include ", "").replace("example_backend", "mine");
            let example = example.replace("libexample", "libmine").replace("\"example-c\"", "\"mine\"");
            let own = vec![("mine.c", example), ("dmlcts_backend.h", C_HEADER.to_owned())];
            (include_str!("../../templates/c.yml"), own)
        }
        Language::Rust => {
            let own = vec![
                ("Cargo.toml", include_str!("../../templates/manifest.toml").to_owned()),
                ("src/lib.rs", include_str!("../../templates/lib.rs").to_owned()),
                ("tests/conformance.rs", include_str!("../../templates/conformance.rs").to_owned()),
            ];
            (include_str!("../../templates/rust.yml"), own)
        }
    };
    let of_all = [
        (".github/workflows/dmlcts.yml", workflow.to_owned()),
        ("findings/mine/README.md", include_str!("../../templates/findings.md").to_owned()),
    ];
    own.into_iter().chain(of_all).collect()
}

/// Checks that a file does not exist, and that no folder on its way in the given folder is a link.
fn check(folder: &Path, name: &str) -> Result<(), Problem> {
    let path = folder.join(name);
    if path.symlink_metadata().is_ok() {
        return Err(Problem::usage(
            format!("{} exists, so nothing is written", path.display()),
            "move it away, or name another folder",
        ));
    }
    for parent in Path::new(name).ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty()) {
        let path = folder.join(parent);
        if path.symlink_metadata().is_ok_and(|found| !found.is_dir()) {
            return Err(Problem::usage(
                format!("{} is a link or a file, so nothing is written", path.display()),
                "put a folder in its place, or name another folder",
            ));
        }
    }
    Ok(())
}

/// Writes a file, and makes its folder. It replaces no file and follows no link.
fn write(path: &Path, text: &str) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    File::create_new(path)?.write_all(text.as_bytes())
}

/// The steps that build the backend and run it.
fn next(language: Language, folder: &Path) -> Vec<String> {
    let path = |name: &str| folder.join(name).display().to_string();
    let run = |backend: String| {
        command(&["dmlcts", "run", "--backend", &backend, "--findings", &path("findings/mine")])
    };
    match language {
        Language::Python => {
            let make = command(&["python3", "-m", "venv", &path("venv")]);
            let activate = command(&[".", &path("venv/bin/activate")]);
            vec![
                format!("{make} && {activate} && pip install numpy"),
                run(format!("exec:python3 {}", word(&path("mine.py")))),
            ]
        }
        Language::C => {
            let library = path("libmine.so");
            let flags = ["cc", "-std=c11", "-O2", "-shared", "-fPIC", "-o", &library, &path("mine.c")];
            vec![command(&flags), run(format!("dylib:{library}"))]
        }
        Language::Rust => vec![
            format!("put the address of dmlcts into {}", escaped(&path("Cargo.toml"))),
            command(&["cargo", "test", "--manifest-path", &path("Cargo.toml")]),
        ],
    }
}

/// A path as one word of the command behind `exec:`, in which two quoted parts side by side are one word.
fn word(path: &str) -> String {
    let is_plain = !path.contains(|letter: char| letter.is_whitespace() || "'\"".contains(letter));
    if is_plain { path.to_owned() } else { format!("\"{}\"", path.replace('"', "\"'\"'\"")) }
}
