//! End-to-end tests of the program `dmlcts`, one module for each subject. `common` runs the program, and
//! `examples/faulty` has backends with faults.

mod action;
mod again;
mod cli;
mod color;
mod common;
mod completions;
mod diff;
mod disks;
mod doctor;
mod dylib;
mod ending;
mod exec;
mod export;
mod findings;
mod full;
mod fuzz;
mod given;
mod help;
mod hostile;
mod javascript;
mod kills;
mod known;
#[cfg(unix)]
mod lacks;
mod links;
mod merge;
mod mutants;
mod next;
mod pasted;
mod picture;
mod profile;
mod python;
mod readme;
mod reference;
mod replay;
mod reports;
mod results;
mod resume;
mod shutdown;
mod snapshot;
mod stand_in;
mod stored;
mod unruly;
mod version;
