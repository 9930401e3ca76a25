//! The JSON Schemas in `crates/backend/schema/` are those of the messages. `DMLCTS_BLESS=1 cargo test -p dmlcts-backend
//! --test schema` writes them anew.

#[path = "../../spec/tests/blessed/mod.rs"]
mod blessed;

use dmlcts_backend::protocol::{Bye, Hello, HostHello, LevelForm, PackedForm, Results, RunForm};

#[test]
fn the_schema_of_every_message_is_current() {
    blessed::compare::<HostHello>("crates/backend/schema/host-hello.json");
    blessed::compare::<Hello>("crates/backend/schema/hello.json");
    blessed::compare::<LevelForm>("crates/backend/schema/level.json");
    blessed::compare::<RunForm>("crates/backend/schema/run.json");
    blessed::compare::<PackedForm>("crates/backend/schema/packed.json");
    blessed::compare::<Results>("crates/backend/schema/results.json");
    blessed::compare::<Bye>("crates/backend/schema/bye.json");
}
