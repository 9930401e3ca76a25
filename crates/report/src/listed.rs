//! The findings of a folder as Markdown, for a review. `html/listed.rs` has the same as a page.

use std::io::{self, Write};

use crate::{markdown::text, numbers::counted};

/// A finding of a folder. A text that the file lacks is empty.
#[derive(Clone, Debug, Default)]
pub struct ListedFinding {
    /// The id.
    pub id: String,
    /// Whether the failures are expected.
    pub status: String,
    /// The kind of cause.
    pub kind: String,
    /// How the cases fail.
    pub class: String,
    /// The predicate, or the number of listed cases.
    pub filter: String,
    /// The smallest case.
    pub smallest: String,
    /// What the backend does with it.
    pub answer: String,
    /// Why the cases fail.
    pub reason: String,
    /// The address of an issue.
    pub link: String,
    /// The first and the last version that failed.
    pub seen: String,
}

impl ListedFinding {
    /// What is listed beside the id: names and values on one line each.
    pub(crate) fn columns(&self) -> [(&'static str, String); 9] {
        let all = [
            ("status", &self.status),
            ("kind", &self.kind),
            ("class", &self.class),
            ("where", &self.filter),
            ("smallest", &self.smallest),
            ("answer", &self.answer),
            ("reason", &self.reason),
            ("link", &self.link),
            ("seen", &self.seen),
        ];
        // YAML folds long texts.
        all.map(|(name, value)| (name, value.split_whitespace().collect::<Vec<_>>().join(" ")))
    }
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
        let columns = finding.columns();
        if place == 0 {
            let names = columns.each_ref().map(|(name, _)| *name).join(" | ");
            writeln!(out, "\n| finding | {names} |\n|{}", "---|".repeat(1 + columns.len()))?;
        }
        let values = columns.map(|(_, value)| text(&value)).join(" | ");
        writeln!(out, "| {} | {values} |", text(&finding.id))?;
    }
    Ok(())
}
