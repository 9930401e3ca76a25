//! Snapshot and end-to-end tests of the built program.
