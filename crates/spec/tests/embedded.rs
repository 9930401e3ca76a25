//! The specs that the program carries load, completely checked.

use dmlcts_spec::Library;

#[test]
fn embedded_specs_pass_every_check() {
    match Library::load(&Library::embedded_sources()) {
        Ok(library) => assert_eq!(library.operators().len(), 3),
        Err(error) => panic!("{error}"),
    }
}
