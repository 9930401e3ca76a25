//! The files that a backend in Python or C starts from, as text. `dmlcts init` writes them.

/// The module that a backend in Python imports, `dmlcts_backend.py`.
pub const PYTHON_MODULE: &str = include_str!("../python/dmlcts_backend.py");
/// A whole backend in Python, `numpy_backend.py`.
pub const PYTHON_EXAMPLE: &str = include_str!("../python/numpy_backend.py");
/// The header of a backend in C, `dmlcts_backend.h`.
pub const C_HEADER: &str = include_str!("../include/dmlcts_backend.h");
/// A whole backend in C, `example_backend.c`.
pub const C_EXAMPLE: &str = include_str!("../c/example_backend.c");
