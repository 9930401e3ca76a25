//! What changed between two snapshots, as data and as text.

use std::fmt::Write as _;

use dmlcts_diagnose::Severity;
use dmlcts_model::escaped;

use crate::Finding;

/// The most changes that are shown one by one.
const SHOWN: usize = 8;

/// How a change is judged, the worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Transition {
    /// Cases fail that passed.
    Broken,
    /// More cases fail, or the backend lacks more.
    Worse,
    /// The cases of a finding fail as before, and another predicate holds for them.
    Moved,
    /// The backend answers otherwise, or its failures are others.
    Other,
    /// Fewer cases fail, or the backend lacks less.
    Better,
    /// The cases of a finding pass.
    Fixed,
}

impl Transition {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Broken => "broken",
            Self::Worse => "worse",
            Self::Moved => "moved",
            Self::Other => "other answers",
            Self::Better => "better",
            Self::Fixed => "fixed",
        }
    }

    /// Whether it is for the better or for the worse; `None` if it is neither.
    pub fn is_good(self) -> Option<bool> {
        match self {
            Self::Broken | Self::Worse => Some(false),
            Self::Moved | Self::Other => None,
            Self::Better | Self::Fixed => Some(true),
        }
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// How it is judged.
    pub transition: Transition,
    /// What changed.
    pub what: String,
    /// Details, one line each.
    pub details: Vec<String>,
    /// How severe the failures are, if it is about failures.
    pub severity: Option<Severity>,
    /// The finding in the old snapshot, if it is about a finding that was there.
    pub old: Option<Finding>,
    /// The finding in the new snapshot, if it is about a finding that is there.
    pub new: Option<Finding>,
}

impl Change {
    pub(crate) fn new(transition: Transition, what: impl Into<String>, details: Vec<String>) -> Self {
        Self { transition, what: what.into(), details, severity: None, old: None, new: None }
    }

    /// The order of changes: the worst first, and of broken cases the most severe first.
    pub(crate) fn order(&self) -> (Transition, bool, Option<Severity>) {
        (self.transition, self.severity.is_none(), self.severity)
    }
}

/// The changes of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// The components of the run that changed, and those that did not.
    pub cause: String,
    /// The changes, the worst first.
    pub list: Vec<Change>,
    /// Whether the file must be accepted again although no line of it changed.
    pub is_outdated: bool,
    /// Whether nothing was accepted before.
    pub is_first: bool,
}

/// The number of changes of each kind, in their order.
fn counted(changes: &[Change]) -> Vec<(Transition, usize)> {
    changes
        .chunk_by(|one, next| one.transition == next.transition)
        .map(|of| (of[0].transition, of.len()))
        .collect()
}

impl Changes {
    /// Whether there is nothing to review.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty() && !self.is_outdated
    }

    /// The number of changes of each kind: `1 broken, 2 fixed`.
    pub fn counts(&self) -> String {
        if self.is_first {
            return "new".to_owned();
        }
        if self.list.is_empty() {
            return "no line changed".to_owned();
        }
        counted(&self.list)
            .iter()
            .map(|(kind, count)| format!("{count} {}", kind.name()))
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// The changes as lines: the cause, at most eight changes with details, and the number of the others. The
    /// texts of snapshots are escaped: a stranger may have written them.
    pub fn to_text(&self) -> String {
        self.to_text_with(|_| String::new())
    }

    /// The same, with more lines below each change that is shown.
    pub fn to_text_with(&self, mut below: impl FnMut(&Change) -> String) -> String {
        let mut text = format!("{}\n", escaped(&self.cause));
        for change in self.list.iter().take(SHOWN) {
            // Writing into a string cannot fail.
            let _ = writeln!(text, "{:<14} {}", change.transition.name(), escaped(&change.what));
            for detail in &change.details {
                let _ = writeln!(text, "{:<14} {}", "", escaped(detail));
            }
            text.push_str(&below(change));
        }
        for (transition, count) in counted(self.list.get(SHOWN..).unwrap_or_default()) {
            let _ = writeln!(text, "{:<14} +{count} similar", transition.name());
        }
        if self.list.is_empty() && !self.is_first {
            text.push_str("no line changed\n");
        }
        text
    }

    /// The same as Markdown, below a heading with the name of the snapshot.
    pub fn to_markdown(&self, name: &str) -> String {
        // Texts of backends may hold anything; in a code block only its end has a meaning.
        let text = self.to_text().replace("```", "'''");
        let (cause, rest) = text.split_once('\n').unwrap_or((&text, ""));
        format!("### {name}: {}\n\n```text\n{cause}\n\n{rest}```\n", self.counts())
    }
}
