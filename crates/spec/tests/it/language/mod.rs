//! The expression language from outside: its messages, its canonical text, and its values against a naive
//! interpreter that shares nothing with the compiled programs.

mod fixture;
mod generator;
mod messages;
mod naive;
mod predicates;
mod properties;
mod values;
