//! A backend process that misbehaves on request.
fn main() {}
