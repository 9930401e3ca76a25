//! Files of tests, which go away.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process,
};

/// A file of one test in the folder for temporary files, removed at the test's end. Tests that run at the same time need names of their own.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// A file of this name that holds this.
    ///
    /// # Panics
    ///
    /// Where it cannot be written.
    pub fn new(name: &str, text: impl AsRef<[u8]>) -> Self {
        let file = Self::nothing(name);
        fs::write(&file.0, text).expect("the temporary folder takes a file");
        file
    }

    /// A place for a file of this name, where there is none yet.
    pub fn nothing(name: &str) -> Self {
        let path = env::temp_dir().join(format!("dmlcts-{}-{name}", process::id()));
        // A process of before may have had the same number.
        let _ = fs::remove_file(&path);
        Self(path)
    }

    /// The file's path, as an argument.
    ///
    /// # Panics
    ///
    /// Where the folder for temporary files has a name that is not Unicode.
    pub fn path(&self) -> &str {
        self.0.to_str().expect("the temporary folder has a plain name")
    }

    /// What the file holds now.
    ///
    /// # Panics
    ///
    /// Where it is gone, or no text.
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
