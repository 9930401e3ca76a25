//! The backend that `DMLCTS_FUZZ_BACKEND` names, such as `exec:python3 mine.py`, against the spec.
#![no_main]

dmlcts_kit::fuzz_target!(dmlcts_fuzzing::NamedBackend::from_environment);
