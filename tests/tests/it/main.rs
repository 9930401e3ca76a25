//! The project as a whole: its rules, and independent evidence for its specs and suites.

mod r#box;
mod ci;
mod comments;
mod mutations;
mod profiles;
mod properties;
mod reference;
mod walls;
