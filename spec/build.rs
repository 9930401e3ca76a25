//! Lists the YAML files of this folder, so that a new file becomes part of the program: the file that
//! operators share first, then the operators, oldest first.

use std::{env, ffi::OsStr, fmt::Write, fs, io, path::Path};

/// What operators share; it comes first.
const COMMON: &str = "common.yaml";

fn main() -> io::Result<()> {
    // Cargo runs a build script in the folder of its package.
    println!("cargo::rerun-if-changed=.");
    let mut files = Vec::new();
    for entry in fs::read_dir(".")? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        if let Some(name) = path.file_name().and_then(OsStr::to_str) {
            files.push((name != COMMON, introduced(&fs::read_to_string(&path)?), name.to_owned()));
        }
    }
    files.sort();
    let mut code = String::from("&[\n");
    for (_, _, name) in &files {
        println!("cargo::rerun-if-changed={name}");
        // Formatted for debugging, a string is a literal.
        let (title, path) = (format!("spec/{name}"), format!("/{name}"));
        let _ = writeln!(code, "({title:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {path:?}))),");
    }
    code.push_str("]\n");
    fs::write(Path::new(&env::var("OUT_DIR").unwrap_or_default()).join("files.rs"), code)
}

/// The feature level that an operator's file says it is as old as. What is wrong with a file is told when it
/// is loaded; here it only has its place.
fn introduced(text: &str) -> Option<(u32, u32)> {
    let line = text.lines().find_map(|line| line.strip_prefix("introduced:"))?;
    let (major, minor) = line.trim().trim_matches('"').split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
