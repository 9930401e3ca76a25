//! Findings as GitHub's workflow commands, which a job shows at the top of its page.

use std::io::{self, Write};

use dmlcts_diagnose::{Diagnosis, Finding};
use dmlcts_model::printable;

use crate::{
    Context,
    finding::{export, headline, standing},
    flake::shows_alone,
    numbers::counted,
};

/// GitHub shows ten errors of a step.
const MOST: usize = 10;
/// The maximum length of a message.
const LONGEST: usize = 2000;

/// Writes an error for each finding: `::error title=<id>::<what failed>`.
pub fn write_annotations(out: &mut dyn Write, context: &Context, diagnosis: &Diagnosis) -> io::Result<()> {
    let findings = context.shown(diagnosis);
    // The last of the ten says how many are left.
    let shown = if findings.len() > MOST { MOST - 1 } else { findings.len() };
    for finding in &findings[..shown] {
        write_one(out, &finding.id, &message(finding, context))?;
    }
    let left = findings.len() - shown;
    if left > 0 {
        let left = counted(left as u64, "further finding");
        write_one(out, "further findings", &format!("the log shows {left}"))?;
    }
    Ok(())
}

fn message(finding: &Finding, context: &Context) -> String {
    let mut lines = vec![headline(finding, usize::MAX)];
    if let Some(rule) = &finding.rule {
        lines.push(standing(rule));
    }
    let shown = finding.shown();
    lines.push(if shows_alone(shown) { context.replay.run(&shown.case) } else { shown.case.to_string() });
    lines.extend(export(finding));
    lines.join("\n")
}

fn write_one(out: &mut dyn Write, title: &str, message: &str) -> io::Result<()> {
    let lines: Vec<String> = message.lines().map(|line| printable(line, LONGEST).into_owned()).collect();
    writeln!(out, "::error title={}::{}", property(&printable(title, LONGEST)), data(&lines.join("\n")))
}

/// Escapes a message, so that no text in it is a command of its own.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line_and_no_other_command() {
        let mut out = Vec::new();
        write_one(&mut out, "a: b, c", "100 %\n::error::x\u{1b}[31m").expect("memory takes it");
        let text = String::from_utf8(out).expect("it is text");
        assert_eq!(text, "::error title=a%3A b%2C c::100 %25%0A:\\u{3a}error::x\\u{1b}[31m\n");
    }
}
