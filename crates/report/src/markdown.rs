//! A run's result as Markdown, for the summary of a pull request or of a job.
//!
//! Its length is bounded, since such pages are: a table of verdicts, and the first findings, folded up.

use std::io::{self, Write};

use dmlcts_diagnose::{Diagnosis, Finding};
use dmlcts_model::{escaped, printable};
use dmlcts_profiles::Claim;
use dmlcts_runner::{Summary, Verdict};

use crate::{
    Context, Style, Subject,
    behind::Text,
    failure::write_failure,
    finding::{about, left_out, title, unexplained, within},
    known::write_known,
    numbers::{counted, grouped},
    overview::{FindingRow, in_order},
    phrases::{ran_on, verdicts},
    skipped::skipped,
    statement,
    summary::{ended, exercised, is_cut_off, recorded},
};

/// The maximum number of findings.
const FINDINGS: usize = 10;
const LINES: usize = 60;
/// The maximum length of a line. An outcome may hold any text of a backend.
const LONGEST_LINE: usize = 500;

/// Writes a run's result.
pub fn write_markdown(out: &mut dyn Write, context: &Context, diagnosis: &Diagnosis) -> io::Result<()> {
    let (summary, findings) = (&diagnosis.summary, in_order(diagnosis));
    let head = conclusion(context, summary);
    writeln!(out, "## dmlcts: {head}\n")?;
    let what = match &context.subject {
        Subject::Suite { what, .. } => text(what),
        Subject::Given => "cases given".to_owned(),
    };
    writeln!(out, "{what} on {}: {}.\n", text(&ran_on(summary)), verdicts(summary))?;
    if let Some(ended) = ended(summary, context.time_limit) {
        writeln!(out, "It ended {}.\n", text(&ended))?;
    }
    if let Some(bad_end) = &summary.bad_end {
        writeln!(out, "At last, {}.\n", text(bad_end))?;
    }
    write_table(out, summary)?;
    write_findings(out, context, &findings)?;
    let mut known = Vec::new();
    write_known(&mut known, context, summary, Style::PLAIN)?;
    if !known.is_empty() {
        writeln!(out, "\nKnown failures that are not as they are known:\n")?;
        write_code(out, &String::from_utf8_lossy(&known), LINES)?;
    }
    let further = findings.len().saturating_sub(FINDINGS) as u64;
    if further > 0 {
        writeln!(out, "\nNot shown: {}.", counted(further, "further finding"))?;
    }
    if let Some(unexplained) = unexplained(diagnosis) {
        writeln!(out, "\n{unexplained}.")?;
    }
    if let Some(left_out) = left_out(&diagnosis.left_out, context.time_limit) {
        writeln!(out, "\n{left_out}.")?;
    }
    write!(out, "\nSpec `{}` at feature level {}", context.library.short_hash(), summary.level)?;
    if let Subject::Suite { obligations, .. } = &context.subject {
        write!(out, ": {}", text(&exercised(context.library, summary, obligations)))?;
    }
    writeln!(out, ".")?;
    let (skipped, answers) = (skipped(context.library, summary), recorded(summary));
    if !skipped.is_empty() || !answers.is_empty() {
        writeln!(out)?;
    }
    for why in skipped {
        writeln!(out, "- skipped: {}", text(&why))?;
    }
    for answers in answers {
        writeln!(out, "- recorded: {}", text(&answers))?;
    }
    match &context.claim {
        Some(claim) => write_statement(out, context, claim, summary),
        None => Ok(()),
    }
}

/// What a run came to, in a few words.
pub(crate) fn conclusion(context: &Context, summary: &Summary) -> String {
    let unexpected = summary.tally().unexpected();
    let known = summary.known(context.known.is_whole);
    let changed = known.filter(|(_, conclusion)| conclusion.is_unexpected()).count() as u64;
    if is_cut_off(summary) {
        "the run is not complete".to_owned()
    } else if unexpected > 0 {
        counted(unexpected, "unexpected verdict")
    } else if changed > 0 {
        format!("{} not as known", counted(changed, "known failure"))
    } else if summary.bad_end.is_some() {
        "the backend ended badly".to_owned()
    } else if summary.is_unjudged() {
        "nothing was judged".to_owned()
    } else if summary.is_uncompared() {
        "no output was compared".to_owned()
    } else {
        "nothing unexpected".to_owned()
    }
}

/// Writes the statement about a profile as a table.
fn write_statement(
    out: &mut dyn Write,
    context: &Context,
    claim: &Claim,
    summary: &Summary,
) -> io::Result<()> {
    let stated = claim.state(context.library, summary);
    let title = if stated.is_ok() { "Statement of conformance" } else { "No statement of conformance" };
    writeln!(out, "\n### {title}\n\n| | |\n|---|---|")?;
    for (head, what) in statement::lines(claim, &stated, context.library, summary) {
        writeln!(out, "| {head} | {} |", text(&what))?;
    }
    Ok(())
}

/// Writes that a run has no result, and why.
pub fn write_markdown_of_problem(out: &mut dyn Write, message: &str) -> io::Result<()> {
    writeln!(out, "## dmlcts: nothing was run\n")?;
    write_code(out, message, LINES)
}

/// Writes verdicts by strategy, without the verdicts that did not occur.
fn write_table(out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
    let all = summary.tally();
    let columns: Vec<Verdict> = Verdict::ALL
        .into_iter()
        .filter(|verdict| *verdict == Verdict::Pass || all.of(*verdict) > 0)
        .collect();
    write!(out, "| strategy | cases |")?;
    columns.iter().try_for_each(|verdict| write!(out, " {verdict} |"))?;
    write!(out, "\n|---|---:|")?;
    columns.iter().try_for_each(|_| write!(out, "---:|"))?;
    writeln!(out)?;
    for (strategy, tally) in &summary.strategies {
        if tally.total() == 0 {
            continue;
        }
        write!(out, "| {strategy} | {} |", grouped(tally.total()))?;
        columns.iter().try_for_each(|verdict| write!(out, " {} |", grouped(tally.of(*verdict))))?;
        writeln!(out)?;
    }
    Ok(())
}

/// The first findings: a table, and each of them folded up.
fn write_findings(out: &mut dyn Write, context: &Context, findings: &[&Finding]) -> io::Result<()> {
    if findings.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n| finding | what failed | cases | where | its smallest case |\n|---|---|---:|---|---|")?;
    for finding in findings.iter().take(FINDINGS) {
        let (what, predicate) = (format!("{}", finding.class), finding.rule.as_ref());
        let predicate = match predicate {
            Some(rule) => {
                let exact = if rule.is_exact { "" } else { " (not exact)" };
                format!("{}{exact}{}", rule.predicate, within(rule))
            }
            None => finding.operators.join(", "),
        };
        let (id, cases, fact) =
            (text(&finding.id), grouped(finding.cases), text(&FindingRow::new(finding).fact));
        writeln!(out, "| {id} | {} | {cases} | {} | {fact} |", text(&what), text(&predicate))?;
    }
    for finding in findings.iter().take(FINDINGS) {
        let mut whole = Vec::new();
        for line in about(finding, usize::MAX, context) {
            writeln!(whole, "  {}", escaped(&line))?;
        }
        write_failure(&mut whole, finding.shown(), &context.replay, &mut Text::default())?;
        let whole = String::from_utf8_lossy(&whole);
        let head = format!("{}: {}", finding.id, title(finding));
        // Inside a block of HTML, Markdown parses nothing before an empty line, so that a backslash would be
        // shown.
        writeln!(out, "\n<details><summary>{}</summary>\n", html(&head))?;
        write_code(out, &whole, LINES)?;
        writeln!(out, "\n</details>")?;
    }
    Ok(())
}

/// Writes a text verbatim, up to a number of lines.
pub(crate) fn write_code(out: &mut dyn Write, whole: &str, most: usize) -> io::Result<()> {
    let fence = fence(whole);
    writeln!(out, "{fence}text")?;
    for line in whole.lines().take(most) {
        let more = if line.chars().nth(LONGEST_LINE).is_some() { " ..." } else { "" };
        writeln!(out, "{}{more}", printable(line, LONGEST_LINE))?;
    }
    if whole.lines().count() > most {
        writeln!(out, "...")?;
    }
    writeln!(out, "{fence}")
}

/// A run of backticks that is longer than any in the text.
fn fence(text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

/// Escapes a text so that it holds no syntax of Markdown or HTML: no emphasis, strikethrough or formula, and
/// no end of a table cell. Pages that show it find no user to notify, no issue and no address to link.
pub(crate) fn text(plain: &str) -> String {
    let mut shown = String::new();
    for letter in html(plain).chars() {
        if matches!(letter, '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' | '\\') {
            shown.push('\\');
        }
        shown.push(letter);
    }
    shown
}

/// A space without width. Pages look for names, numbers and addresses after Markdown has removed the
/// backslashes.
const GAP: &str = "&#8203;";

/// Escapes a text for one line of HTML. No name, number or address in it becomes a link.
fn html(plain: &str) -> String {
    let plain = escaped(plain);
    let mut shown = String::new();
    for (place, letter) in plain.char_indices() {
        let (before, behind) = (&plain[..place], &plain[place + letter.len_utf8()..]);
        if letter == '.' && ends_in_www(before) {
            shown.push_str(GAP);
        }
        match letter {
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '&' => shown.push_str("&amp;"),
            _ => shown.push(letter),
        }
        let is_live = match letter {
            '@' | '#' => true,
            ':' => behind.starts_with("//"),
            _ => false,
        };
        if is_live {
            shown.push_str(GAP);
        }
    }
    shown
}

fn ends_in_www(text: &str) -> bool {
    let start = text.len().checked_sub(3);
    start.and_then(|start| text.get(start..)).is_some_and(|end| end.eq_ignore_ascii_case("www"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_stays_plain_in_markdown_and_html() {
        assert_eq!(html("a_b <i>\n& $x$"), r"a_b &lt;i&gt;\n&amp; $x$");
        assert_eq!(text("a_b | ~~c~~ <i> $x$ \\"), r"a\_b \| \~\~c\~\~ &lt;i&gt; \$x\$ \\");
    }

    #[test]
    fn names_numbers_and_addresses_are_not_live() {
        for (plain, expected) in [
            ("@octocat, @org/team", "@&#8203;octocat, @&#8203;org/team"),
            ("#1, owner/name#1", "#&#8203;1, owner/name#&#8203;1"),
            ("https://a.test ftp://b.test", "https:&#8203;//a.test ftp:&#8203;//b.test"),
            ("www.a.test WWW.b.test w.c", "www&#8203;.a.test WWW&#8203;.b.test w.c"),
            ("someone@a.test mailto:someone@a.test", "someone@&#8203;a.test mailto:someone@&#8203;a.test"),
            ("wgpu: slice.c 1:2", "wgpu: slice.c 1:2"),
        ] {
            assert_eq!(html(plain), expected);
            assert_eq!(text(plain), expected);
        }
    }
}
