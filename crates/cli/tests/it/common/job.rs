//! A folder in which commands of the pages run, as in a user's shell or a CI job, with `dmlcts` and `python3`
//! on the path.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_dmlcts");

pub(crate) struct Job(pub(crate) PathBuf);

impl Job {
    pub(crate) fn new(name: &str) -> Self {
        let folder = env::temp_dir().join(format!("dmlcts-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("dmlcts/bin")).expect("a folder of this test's own");
        let job = Self(folder);
        #[cfg(unix)]
        job.fill();
        job
    }

    /// `python3` is the interpreter that `DMLCTS_PYTHON` names. Without it, this program takes its place and
    /// serves the reference, so that commands run without NumPy. The folder also has the folders of a clone.
    #[cfg(unix)]
    fn fill(&self) {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let python = env::var("DMLCTS_PYTHON")
            .map_or_else(|_| format!("exec '{PROGRAM}' serve"), |python| format!("exec '{python}' \"$@\""));
        for (name, command) in [("dmlcts", format!("exec '{PROGRAM}' \"$@\"")), ("python3", python)] {
            let file = self.0.join("dmlcts/bin").join(name);
            fs::write(&file, format!("#!/bin/sh\n{command}\n")).expect("the folder takes it");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("it is ours");
        }
        // The pages' virtual environment, which has Python and no other program.
        fs::create_dir_all(self.0.join("venv/bin")).expect("the folder takes it");
        symlink(self.0.join("dmlcts/bin/python3"), self.0.join("venv/bin/python3"))
            .expect("the folder takes it");
        for folder in ["cases", "crates", "spec"] {
            let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
            symlink(target, self.0.join(folder)).expect("the folder takes it");
        }
    }

    /// A program with the environment of a CI job.
    pub(crate) fn command(&self, program: &str) -> Command {
        let built = Path::new(PROGRAM).parent().expect("a program lies in a folder").to_owned();
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = [self.0.join("dmlcts/bin"), built].into_iter().chain(env::split_paths(&path));
        let mut command = Command::new(program);
        command
            .current_dir(&self.0)
            .env("PATH", env::join_paths(folders).expect("folders have plain names"))
            .env("PYTHONPATH", concat!(env!("CARGO_MANIFEST_DIR"), "/../backend/python"))
            .env("GITHUB_STEP_SUMMARY", self.0.join("summary.md"))
            .env("GITHUB_OUTPUT", self.0.join("output"))
            .env("RUNNER_TEMP", &self.0);
        command
    }

    /// Runs a command as the shell of a CI does, and returns its result. The suite `smoke` takes the place of
    /// `ci`, which takes a minute in a program without optimisation.
    pub(crate) fn run(&self, command: &str) -> Output {
        // The option may be the last one.
        let command = format!("{command} ")
            .replace("--suite ci ", "--suite smoke ")
            .replace("--suite ci\n", "--suite smoke\n")
            .replace("INPUT_SUITE='ci'", "INPUT_SUITE='smoke'")
            .replace("dmlcts snapshot --backend", "dmlcts snapshot --suite smoke --backend");
        self.command("sh").args(["-e", "-c", &command]).output().expect("a shell")
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
