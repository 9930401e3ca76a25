//! The suites, profiles, test vectors and impossible pairs of dmlcts as texts. They are a package, so that
//! each crate that embeds them can be packaged: a package holds only files of its own folder. A reader sees
//! the lists in the order that they have here.

/// The suites: name and text. The smallest comes first.
pub const SUITES: [(&str, &str); 6] = [
    ("smoke", include_str!("suites/smoke.yaml")),
    ("ci", include_str!("suites/ci.yaml")),
    ("exhaustive", include_str!("suites/exhaustive.yaml")),
    ("exhaustive-large", include_str!("suites/exhaustive-large.yaml")),
    ("soak", include_str!("suites/soak.yaml")),
    ("fuzz", include_str!("suites/fuzz.yaml")),
];

/// The profiles: name and text. The newest and fullest comes first.
pub const PROFILES: [(&str, &str); 3] = [
    ("directml-6.4", include_str!("profiles/directml-6.4.yaml")),
    ("directml-5.0", include_str!("profiles/directml-5.0.yaml")),
    ("directml-6.4-smoke", include_str!("profiles/directml-6.4-smoke.yaml")),
];

/// The test vectors of other projects: name and text.
pub const VECTORS: [(&str, &str); 2] =
    [("onnx", include_str!("vectors/onnx.yaml")), ("onnxruntime", include_str!("vectors/onnxruntime.yaml"))];

/// The pairs of a way to break a clause and a type, mode, rank or axis that no desc shows.
pub const IMPOSSIBLE: &str = include_str!("impossible.yaml");

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    #[track_caller]
    fn assert_lists_all(folder: &str, list: &[(&str, &str)]) {
        let entries =
            fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).expect("the folder is there");
        let names = entries.map(|entry| entry.expect("a folder lists").file_name());
        let files: BTreeSet<_> = names.filter(|name| name != "NOTICE.md").collect();
        let listed: BTreeSet<_> = list.iter().map(|(name, _)| format!("{name}.yaml").into()).collect();
        assert_eq!(listed, files);
    }

    #[test]
    fn every_suite_profile_and_file_of_vectors_is_embedded() {
        assert_lists_all("suites", &SUITES);
        assert_lists_all("profiles", &PROFILES);
        assert_lists_all("vectors", &VECTORS);
    }
}
