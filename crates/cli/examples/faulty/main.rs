//! Backends with faults, for this crate's tests, which start them as processes. An example is built with the
//! tests, and `cargo install` leaves it out.

mod bugs;
mod logging;
mod spoiled;
mod unruly;
mod updated;

use std::{env, io};

use dmlcts_backend::{Backend, protocol};

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["spoiled", way] => serve(&mut spoiled::backend(way, None)),
        ["declines", condition] => serve(&mut spoiled::backend("declines", Some(condition))),
        ["unruly", way] => serve(&mut unruly::backend(way, None)),
        ["unruly", way, case] => serve(&mut unruly::backend(way, Some(case))),
        ["logging"] => serve(&mut logging::backend()),
        ["updated", driver, faults] => serve(&mut updated::backend(driver, faults)),
        _ => panic!(
            "usage: faulty spoiled WAY | declines CONDITION | unruly WAY [CASE] | logging | updated DRIVER FAULTS"
        ),
    }
}

/// Answers a host on standard input and output.
fn serve(backend: &mut dyn Backend) {
    // A host that is killed closes the pipe.
    let _ = protocol::serve(backend, &mut io::stdin().lock(), &mut io::stdout().lock());
}
