//! The reference against the pages: examples, layouts and refusals.

mod common;
mod examples;
mod layouts;
mod rejections;
