//! The findings of a folder as Markdown, for a review. `html/listed.rs` has the same as a page.

use std::io::{self, Write};

use crate::{markdown::text, numbers::counted};

/// A finding of a folder. A text that the file lacks is empty.
#[derive(Clone, Debug)]
pub struct ListedFinding {
    /// The id.
    pub id: String,
    /// What is listed beside the id: names and values on one line each.
    pub columns: [(&'static str, String); 9],
}

/// Writes what became of findings as a table: a title, and for each finding the word, the id and the reason.
pub fn write_markdown_replay(out: &mut dyn Write, title: &str, rows: &[[String; 3]]) -> io::Result<()> {
    writeln!(out, "## dmlcts: {}\n\n| now | finding | why |\n|---|---|---|", text(title))?;
    for row in rows {
        writeln!(out, "| {} |", row.each_ref().map(|cell| text(cell)).join(" | "))?;
    }
    Ok(())
}

/// The title of a list: of the folder `name`.
pub(crate) fn title(name: &str, findings: &[ListedFinding]) -> String {
    format!("{} of {name}", counted(findings.len() as u64, "finding"))
}

/// Writes the findings of the folder `name` as a table.
pub fn write_markdown_list(out: &mut dyn Write, name: &str, findings: &[ListedFinding]) -> io::Result<()> {
    writeln!(out, "## dmlcts: {}", text(&title(name, findings)))?;
    for (place, finding) in findings.iter().enumerate() {
        let columns = finding.columns.each_ref();
        if place == 0 {
            let names = columns.map(|(name, _)| *name).join(" | ");
            writeln!(out, "\n| finding | {names} |\n|{}", "---|".repeat(1 + columns.len()))?;
        }
        let values = columns.map(|(_, value)| text(value)).join(" | ");
        writeln!(out, "| {} | {values} |", text(&finding.id))?;
    }
    Ok(())
}
