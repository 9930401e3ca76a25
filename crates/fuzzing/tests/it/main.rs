//! The bodies of the fuzz targets on their corpora and on random bytes.

mod targets;
