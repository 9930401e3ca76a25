//! `dmlcts completions`: scripts that shells accept, and that contain this program's commands and options.

use crate::common::{stdout, text};

const SHELLS: [&str; 5] = ["bash", "zsh", "fish", "powershell", "elvish"];

#[test]
fn each_shell_gets_a_script_with_the_commands_and_options() {
    for shell in SHELLS {
        let script = stdout(&["completions", shell]);
        for word in ["judge", "completions", "findings", "feature-level"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        assert!(!script.contains('\x1b'), "{shell}");
        assert_eq!(stdout(&["--color", "always", "completions", shell]), script, "it is no text for people");
    }
}

#[test]
fn a_shell_that_is_unknown_is_told_which_are_known() {
    let said = text(&["completions", "csh"]);
    assert!(said.starts_with("exit 2\n--- stderr\nerror: invalid value 'csh' for '<SHELL>'"), "{said}");
    for shell in SHELLS {
        assert!(said.contains(shell), "{shell}: {said}");
    }
    let help = stdout(&["completions", "-h"]);
    assert!(
        SHELLS.iter().all(|shell| help.contains(&format!("\n  {shell} "))),
        "help says where each goes: {help}"
    );
}

/// Asks bash for its completions.
#[cfg(target_os = "linux")]
#[test]
fn bash_completes_by_the_script() {
    let script = stdout(&["completions", "bash"]);
    for (words, current, completed) in [
        ("dmlcts jud", "jud", "judge"),
        ("dmlcts run --findi", "--findi", "--findings"),
        ("dmlcts completions f", "f", "fish"),
    ] {
        let place = words.split(' ').count() - 1;
        let asked = format!(
            "{script}\nCOMP_WORDS=({words}); COMP_CWORD={place}; _dmlcts dmlcts {current} \"${{COMP_WORDS[{place} - 1]}}\"; echo \"${{COMPREPLY[*]}}\""
        );
        let output = std::process::Command::new("bash").args(["-c", &asked]).output().expect("bash is there");
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!((said.trim(), output.stderr.len()), (completed, 0), "{words}");
    }
}
