//! The pictures of reports in the README and the guide, made from the program's output in colours. With
//! `DMLCTS_BLESS`, the tests write the pictures first.

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
    let light = Term::new()
        .palette(VGA)
        .fg_color(Color::Rgb(RgbColor(0x1f, 0x23, 0x28)))
        .bg_color(Color::Rgb(RgbColor(0xf6, 0xf8, 0xfa)));
    assert_shows("README.md", "guide/src/images/wrong-stride-light.svg", &light.render_svg(&report));
    assert_shows("README.md", "guide/src/images/wrong-stride-dark.svg", &dark(&report));
}

/// A report on a terminal with a dark background.
fn dark(report: &str) -> String {
    let term = Term::new()
        .palette(WIN10_CONSOLE)
        .fg_color(Color::Rgb(RgbColor(0xe6, 0xed, 0xf3)))
        .bg_color(Color::Rgb(RgbColor(0x15, 0x1b, 0x23)));
    // Many of them brighten bold colours, which are hard to read otherwise.
    term.render_svg(&report.replace("\u{1b}[1;31m", "\u{1b}[1;91m"))
}

/// That a page shows the picture, and that the file has it.
fn assert_shows(page: &str, name: &str, picture: &str) {
    let text = fs::read_to_string(root().join(page)).expect("it is there");
    let shown = name.strip_prefix("guide/src/").filter(|_| page != "README.md").unwrap_or(name);
    assert!(text.contains(shown), "{page} does not show {shown}");
    let path = root().join(name);
    if std::env::var_os("DMLCTS_BLESS").is_some() {
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("the folder can be made");
        fs::write(&path, picture).expect("the picture can be written");
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == picture,
        "{name} is not what the program prints: run this test with DMLCTS_BLESS=1, look at the picture, and \
         commit it"
    );
}

/// The first screen of a command in this folder, on a terminal of 100 columns and 24 rows.
#[cfg(unix)]
fn screen(folder: &Path, words: &[&str]) -> String {
    use std::{fs::File, io::Read as _, process::Stdio};

    let size = nix::pty::Winsize { ws_row: 24, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
    let pty = nix::pty::openpty(Some(&size), None).expect("there is a terminal");
    let mut command = dmlcts();
    command.current_dir(folder).args(words).args(["--color", "always"]);
    command.stdout(Stdio::from(pty.slave)).stderr(Stdio::null());
    let mut child = command.spawn().expect("the program starts");
    // As long as it is open here, the terminal has no end.
    drop(command);
    let mut said = Vec::new();
    // On Linux, the end of a terminal is an error.
    let _ = File::from(pty.master).read_to_end(&mut said);
    assert_eq!(child.wait().expect("the program ends").code(), Some(1));
    let said = String::from_utf8(said).expect("reports are UTF-8").replace("\r\n", "\n");
    // The line that begins with the seconds is not the same each time.
    let is_same = |line: &&str| !line.contains(" s: ");
    let command = format!("$ dmlcts {}", words.join(" "));
    let all = std::iter::once(command.as_str()).chain(said.lines().take_while(is_same));
    // As a terminal does. Only lines without colours are that long.
    let broken = all.flat_map(|line| {
        if line.is_empty() || line.contains('\u{1b}') {
            return vec![line.to_owned()];
        }
        line.chars().collect::<Vec<_>>().chunks(100).map(|part| part.iter().collect()).collect()
    });
    broken.take(24).collect::<Vec<String>>().join("\n") + "\n"
}

#[test]
#[cfg(unix)]
fn the_pictures_of_the_guide_show_what_the_program_prints() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let faults = "mutant:wrong-stride+rank-one-refused+padding-mirror-of-two-clamps";
    let new = screen(folder.path(), &["run", "--explain", "100", "--backend", faults]);
    assert!(new.contains("3 findings: ") && new.contains("rank == 1"), "{new}");
    assert_shows("guide/src/report.md", "guide/src/images/new-backend.svg", &dark(&new));
    let name = "mutant-slice1-negative-from-offset";
    let words = ["fuzz", "--backend", &name.replacen('-', ":", 1), "--findings", name, "--limit", "2000"];
    let campaign = screen(folder.path(), &words);
    assert!(campaign.contains("operator == SLICE1 and any axis"), "{campaign}");
    assert_shows("guide/src/campaigns.md", "guide/src/images/campaign.svg", &dark(&campaign));
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
