//! Temporary files of tests.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering},
};

/// A file of one test in the folder for temporary files, removed at the test's end. Two files of the same
/// name have different paths.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// A file of this name with this content.
    ///
    /// # Panics
    ///
    /// If it cannot be written.
    pub fn new(name: &str, text: impl AsRef<[u8]>) -> Self {
        let file = Self::nothing(name);
        fs::write(&file.0, text).expect("the temporary folder takes a file");
        file
    }

    /// A path for a file of this name, which does not exist yet.
    pub fn nothing(name: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("dmlcts-{}-{count}-{name}", process::id()));
        // An earlier process may have had the same number.
        let _ = fs::remove_file(&path);
        Self(path)
    }

    /// The file's path, as an argument.
    ///
    /// # Panics
    ///
    /// If the path of the folder for temporary files is not Unicode.
    pub fn path(&self) -> &str {
        self.0.to_str().expect("the temporary folder has a plain name")
    }

    /// The present content of the file.
    ///
    /// # Panics
    ///
    /// If it does not exist, or is no text.
    pub fn text(&self) -> String {
        fs::read_to_string(&self.0).expect("the file is there, and text")
    }
}

impl AsRef<Path> for Scratch {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
