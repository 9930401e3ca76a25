//! The README's picture of a report, made from the program's output in colours. With `DMLCTS_BLESS`, the test
//! writes the pictures first.

use std::{fs, path::Path};

use crate::common::dmlcts;
use anstyle::{Color, RgbColor};
use anstyle_svg::{Term, VGA, WIN10_CONSOLE};

const BACKEND: &str = "mutant:wrong-stride";
const CASE: &str = "SLICE1 FLOAT32 in=4,4 out=2,2 InputWindowOffsets=0,1 InputWindowSizes=4,3 \
                    InputWindowStrides=-2,2 fill=iota";

/// The command of the picture, and what it prints.
fn report() -> String {
    let mut command = dmlcts();
    let words = ["run", "--backend", BACKEND, CASE];
    let output = command.args(words).args(["--color", "always"]).output().expect("the program starts");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let report = String::from_utf8(output.stdout).expect("reports are UTF-8");
    // The rest is the summary. The command repeats the case.
    let end = report.find("\n\n").unwrap_or(report.len());
    let lines = report[..end].lines().filter(|line| !line.starts_with("  dmlcts run "));
    let lines: Vec<&str> = lines.collect();
    format!("$ dmlcts run --backend {BACKEND} \\\n    '{CASE}'\n{}\n", lines.join("\n"))
}

#[test]
fn the_pictures_of_the_readme_show_what_the_program_prints() {
    let report = report();
    // The words that the page says are to be seen.
    assert!(report.contains("wrong values") && report.contains("expected Input[3,1] = 14"), "{report}");
    let readme = fs::read_to_string(root().join("README.md")).expect("it is there");
    let light = Term::new()
        .palette(VGA)
        .fg_color(Color::Rgb(RgbColor(0x1f, 0x23, 0x28)))
        .bg_color(Color::Rgb(RgbColor(0xf6, 0xf8, 0xfa)));
    let dark = Term::new()
        .palette(WIN10_CONSOLE)
        .fg_color(Color::Rgb(RgbColor(0xe6, 0xed, 0xf3)))
        .bg_color(Color::Rgb(RgbColor(0x15, 0x1b, 0x23)));
    // Many terminals with a dark background brighten bold colours, which are hard to read otherwise.
    let bright = report.replace("\u{1b}[1;31m", "\u{1b}[1;91m");
    for (scheme, term, report) in [("light", light, &report), ("dark", dark, &bright)] {
        let name = format!("guide/src/images/wrong-stride-{scheme}.svg");
        assert!(readme.contains(&name), "the README does not show {name}");
        let path = root().join(&name);
        let picture = term.render_svg(report);
        if std::env::var_os("DMLCTS_BLESS").is_some() {
            fs::create_dir_all(path.parent().expect("it has a folder")).expect("the folder can be made");
            fs::write(&path, &picture).expect("the picture can be written");
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            committed == picture,
            "{name} is not what the program prints: run this test with DMLCTS_BLESS=1, look at the picture, \
             and commit it"
        );
    }
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
