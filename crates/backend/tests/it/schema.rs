//! The JSON Schemas in `crates/backend/schema/` equal those of the messages. `DMLCTS_BLESS=1 cargo test -p
//! dmlcts-backend schema` writes them.

use dmlcts_backend::protocol::{
    Bye, CannotStart, Hello, HostHello, LevelForm, PackedForm, PhaseForm, Results, RunForm,
};

use crate::blessed;

#[test]
fn the_schema_of_every_message_is_current() {
    blessed::compare::<HostHello>("crates/backend/schema/host-hello.json");
    blessed::compare::<Hello>("crates/backend/schema/hello.json");
    blessed::compare::<CannotStart>("crates/backend/schema/cannot-start.json");
    blessed::compare::<LevelForm>("crates/backend/schema/level.json");
    blessed::compare::<RunForm>("crates/backend/schema/run.json");
    blessed::compare::<PackedForm>("crates/backend/schema/packed.json");
    blessed::compare::<PhaseForm>("crates/backend/schema/phase.json");
    blessed::compare::<Results>("crates/backend/schema/results.json");
    blessed::compare::<Bye>("crates/backend/schema/bye.json");
}

/// The page is all that an implementation needs, so it names every key of `hello`.
#[test]
fn the_page_names_every_key_of_hello() {
    let page = include_str!("../../PROTOCOL.md");
    let table = page.lines().filter(|line| line.starts_with("| `")).collect::<Vec<_>>().join("\n");
    let schema: serde_json::Value =
        serde_json::from_str(include_str!("../../schema/hello.json")).expect("JSON");
    let keys = |of: &serde_json::Value| -> Vec<String> {
        of["properties"].as_object().expect("an object").keys().cloned().collect()
    };
    for key in keys(&schema) {
        assert!(table.contains(&format!("`{key}`")), "{key}");
    }
    for key in keys(&schema["$defs"]["LimitsForm"]) {
        assert!(table.contains(&format!("`limits.{key}`")), "limits.{key}");
    }
}
