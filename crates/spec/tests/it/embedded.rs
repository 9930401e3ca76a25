//! The embedded specs equal those of `spec/`, and they load with all checks.

use std::{collections::BTreeSet, fs, path::Path};

use dmlcts_spec::Library;

#[test]
fn every_file_of_the_folder_is_embedded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec");
    let entries = fs::read_dir(folder).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    let names = paths.filter(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    let files: BTreeSet<String> =
        names.map(|path| format!("spec/{}", path.file_name().unwrap_or_default().display())).collect();
    let sources = Library::embedded_sources();
    assert_eq!(sources.iter().map(|source| source.name.clone()).collect::<BTreeSet<_>>(), files);
    assert_eq!(sources[0].name, "spec/common.yaml");
}

/// The hash is the same on every system: line ends differ on Windows, and a folder has no order.
#[test]
fn the_hash_depends_neither_on_line_ends_nor_on_the_order_of_files() {
    let mut sources = Library::embedded_sources();
    sources[1..].reverse();
    for source in &mut sources {
        source.text = source.text.replace('\n', "\r\n");
    }
    let load = |sources: &[dmlcts_spec::Source]| {
        Library::load(sources).unwrap_or_else(|error| panic!("{error}")).hash().to_owned()
    };
    assert_eq!(load(&sources), Library::embedded().hash());
    assert_eq!(sources[1].hash(), dmlcts_spec::Source::new("", sources[1].text.replace('\r', "")).hash());
    // Every other difference gives another hash.
    sources[1].text.push_str("# more");
    assert_ne!(load(&sources), Library::embedded().hash());
}

#[test]
fn embedded_specs_pass_every_check() {
    match Library::load(&Library::embedded_sources()) {
        Ok(library) => {
            let names: Vec<&str> = library.operators().iter().map(dmlcts_spec::Operator::name).collect();
            assert_eq!(names, ["SLICE", "SLICE1", "PADDING1"], "oldest first");
        }
        Err(error) => panic!("{error}"),
    }
}
