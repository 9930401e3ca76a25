//! `dmlcts snapshot show`: snapshots as they are, or several side by side.

use std::{
    collections::{BTreeSet, HashMap},
    io::Write as _,
};

use dmlcts_model::escaped;
use dmlcts_report::counted;
use dmlcts_snapshots::{Folder, Snapshot, SnapshotError, Statement, Stored, check_text};

use super::named;
use crate::{arguments::ShowArguments, exit::Exit, output, problem::Problem};

/// Shows the accepted snapshot that the arguments name, or the differences between several. A snapshot that
/// waits for its first review is shown, too.
pub(super) fn show(arguments: &ShowArguments) -> Result<Exit, Problem> {
    let (folder, mut all) = named(&arguments.named)?;
    all.retain(|stored| !stored.is_of_examples() || arguments.named.names.contains(&stored.name));
    let mut out = output::stdout();
    if let [stored] = all.as_slice() {
        let text = text(&folder, stored)?;
        // An edited file shows what no backend did.
        check_text(stored, &path(&folder, stored).display().to_string(), &text)?;
        for line in text.lines() {
            writeln!(out, "{}", escaped(line))?;
        }
        out.flush()?;
        return Ok(Exit::Success);
    }
    let mut snapshots = Vec::new();
    for stored in all.iter().filter(|stored| !stored.is_of_examples()) {
        let path = path(&folder, stored).display().to_string();
        snapshots.push((stored.name.as_str(), Snapshot::parse(&path, &text(&folder, stored)?)?));
    }
    let mut same = 0;
    for (head, lines) in sections(&snapshots) {
        for (subject, texts) in lines {
            let is_same = texts.windows(2).all(|pair| pair[0].1 == pair[1].1);
            same += u64::from(is_same);
            if is_same && !arguments.all {
                continue;
            }
            let star = if is_same { " " } else { "*" };
            writeln!(out, "{star} {head}  {}", escaped(&subject))?;
            for (name, text) in texts {
                writeln!(out, "    {name}: {}", text.as_deref().map_or("-".into(), escaped))?;
            }
        }
    }
    if same > 0 && !arguments.all {
        let verb = if same == 1 { "is" } else { "are" };
        writeln!(out, "{} {verb} the same; --all shows them", counted(same, "statement"))?;
    }
    out.flush()?;
    Ok(Exit::Success)
}

fn path(folder: &Folder, stored: &Stored) -> std::path::PathBuf {
    if stored.is_accepted { folder.accepted(&stored.name) } else { folder.pending(&stored.name) }
}

fn text(folder: &Folder, stored: &Stored) -> Result<String, SnapshotError> {
    Ok(folder.text(&path(folder, stored))?.unwrap_or_default())
}

/// A subject, and what each snapshot says of it.
type Lines<'a> = Vec<(String, Vec<(&'a str, Option<String>)>)>;

/// What the snapshots say, side by side.
fn sections<'a>(all: &[(&'a str, Snapshot)]) -> [(&'static str, Lines<'a>); 5] {
    let side_by_side = |of: &dyn Fn(&Snapshot) -> Vec<Statement>| -> Lines<'a> {
        let mut lines: Lines<'a> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for (column, (_, snapshot)) in all.iter().enumerate() {
            for Statement { subject, text } in of(snapshot) {
                let place = *places.entry(subject).or_insert_with_key(|subject| {
                    let nothing = all.iter().map(|(name, _)| (*name, None)).collect();
                    lines.push((subject.clone(), nothing));
                    lines.len() - 1
                });
                // The first one counts if a subject stands there twice.
                lines[place].1[column].1.get_or_insert(text);
            }
        }
        lines
    };
    let findings = |snapshot: &Snapshot| {
        let all = snapshot.findings.iter();
        all.map(|one| Statement { subject: one.headline(), text: one.id.clone() }).collect()
    };
    let chance = |snapshot: &Snapshot| {
        snapshot.chance.iter().map(|one| Statement { subject: one.subject(), text: one.text() }).collect()
    };
    let lacks = |snapshot: &Snapshot| {
        let all: BTreeSet<&String> = snapshot.lacks.iter().collect();
        all.into_iter().map(|lack| Statement { subject: lack.clone(), text: "lacks it".to_owned() }).collect()
    };
    [
        ("finding", side_by_side(&findings)),
        ("chance ", side_by_side(&chance)),
        ("answers", side_by_side(&|snapshot| snapshot.answers.clone())),
        ("refuses", side_by_side(&|snapshot| snapshot.refusals.clone())),
        ("lacks", side_by_side(&lacks)),
    ]
}
