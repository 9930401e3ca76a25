//! The tests without an adapter: they run again in a process from which all adapters are hidden.

use std::process::{Command, Output};

/// A short test that needs an adapter.
const NEEDS_ONE: &str = "on_adapter::hazards::the_self_test_finds_what_every_case_rests_on";

/// Each way to hide all adapters: a kind without a driver, or a kind that this system does not have.
fn hidden() -> Vec<[(&'static str, &'static str); 3]> {
    let nowhere = "/nonexistent/driver.json";
    let drivers =
        |kind| [("WGPU_BACKEND", kind), ("VK_DRIVER_FILES", nowhere), ("VK_ICD_FILENAMES", nowhere)];
    let mut ways = vec![drivers(if cfg!(target_os = "macos") { "dx12" } else { "metal" })];
    if cfg!(target_os = "linux") {
        ways.push(drivers("vulkan"));
    }
    ways
}

fn without_adapters(variables: [(&str, &str); 3], required: Option<&str>) -> Output {
    let own = std::env::current_exe().expect("this program has a path");
    let mut command = Command::new(own);
    command.args(["--exact", NEEDS_ONE]).envs(variables).env_remove("DMLCTS_REQUIRE_WGPU");
    command.envs(required.map(|value| ("DMLCTS_REQUIRE_WGPU", value)));
    command.output().expect("this program starts")
}

#[test]
fn a_test_without_an_adapter_says_aloud_that_it_was_skipped() {
    for variables in hidden() {
        for required in [None, Some("0")] {
            let output = without_adapters(variables, required);
            // The captured output of a passing test is not shown, so that the shown message was not captured.
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{variables:?}: {said}");
            assert!(
                said.contains("*** SKIPPED: tests of the wgpu backend: no GPU adapter was found"),
                "{said}"
            );
            assert!(said.contains("apt-get install mesa-vulkan-drivers"), "{said}");
        }
    }
}

#[test]
fn a_test_without_an_adapter_fails_where_one_is_required() {
    for variables in hidden() {
        let output = without_adapters(variables, Some("1"));
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(!output.status.success(), "{variables:?}: {said}");
        assert!(said.contains("DMLCTS_REQUIRE_WGPU asks for an adapter: no GPU adapter was found"), "{said}");
    }
}
