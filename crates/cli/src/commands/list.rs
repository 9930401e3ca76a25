//! `dmlcts list` and `dmlcts count`: lists and counts the cases of a selection.
//!
//! Several threads format lines, which are written in order. Each thread takes every n-th chunk and sends it
//! over its own channel. Reading the channels in turn gives the order. A closed pipe ends all threads at
//! once.

use std::{
    io::{self, Write},
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
};

use dmlcts_generate::{Length, Omitted};
use dmlcts_model::{Case, escaped, line};
use dmlcts_report::{counted, grouped};
use dmlcts_runner::{CaseSource, SuiteSource};

use super::{
    obligations::obligations,
    picker::{Picker, TRIES, blank, too_rare},
};
use crate::{
    arguments::{CountArguments, ListArguments, Selection},
    certificate::number,
    exit::Exit,
    output,
    problem::Problem,
};

/// The number of cases in a chunk.
const CHUNK: u64 = 2048;

/// The lines of a chunk and their number.
struct Lines {
    text: String,
    count: u64,
}

/// Lists cases until there are no more, the limit is reached, or the reader has gone away.
pub(crate) fn list(arguments: &ListArguments) -> Result<Exit, Problem> {
    let selection = &arguments.selection;
    let mut out = output::stdout();
    let mut listed = 0;
    let read = each_chunk(selection, true, |lines| {
        listed += lines.count;
        out.write_all(lines.text.as_bytes())
    })?;
    out.flush()?;
    if listed == 0 { Err(selection.nothing(read)) } else { Ok(Exit::Success) }
}

/// Counts cases; by part if no case has to be generated for it.
pub(crate) fn count(arguments: &CountArguments) -> Result<Exit, Problem> {
    let selection = &arguments.selection;
    if arguments.obligations {
        return obligations(selection, arguments.pairs);
    }
    let mut out = output::stdout();
    if selection.leaves_out() {
        let mut total = 0;
        each_chunk(selection, false, |lines| {
            total += lines.count;
            Ok(())
        })?;
        writeln!(out, "{}", grouped(total))?;
        out.flush()?;
        return Ok(Exit::Success);
    }
    let parts = selection.source()?;
    let mut total = Some(0_u128);
    for part in parts.expansion().parts() {
        if !selection.strategy.is_empty() && !selection.strategy.contains(&part.strategy()) {
            continue;
        }
        let length = match part.length() {
            Length::Finite(length) => {
                total = total.map(|total| total.saturating_add(length));
                number(length)
            }
            Length::Endless => {
                total = None;
                "endless".to_owned()
            }
        };
        writeln!(out, "{length:>15}  {} ({})", escaped(part.id()), part.strategy())?;
        let Omitted { is_cut, combinations } = part.omitted();
        if combinations > 0 {
            let combinations = counted(combinations as u64, "combination");
            writeln!(out, "{:>15}  note: found no case for {combinations}", "")?;
        }
        if is_cut {
            writeln!(out, "{:>15}  note: the search was cut short", "")?;
        }
    }
    // Without a limit, an endless suite has no end.
    let total = total.into_iter().chain(selection.limit.map(u128::from)).min();
    let total = total.map_or_else(|| "endless".to_owned(), number);
    writeln!(out, "{total:>15}  in all")?;
    out.flush()?;
    Ok(Exit::Success)
}

/// Passes the chunks of the selected cases to a closure in order. Returns the number of cases before
/// selection.
fn each_chunk(
    selection: &Selection,
    with_text: bool,
    mut take: impl FnMut(&Lines) -> io::Result<()>,
) -> Result<u64, Problem> {
    let parts = selection.source()?;
    let filter = selection.filter()?;
    let Some(blank) = blank() else { return Ok(0) };
    let end = match selection.limit {
        Some(limit) if !selection.leaves_out() => parts.count().unwrap_or(u64::MAX).min(limit),
        _ => parts.count().unwrap_or(u64::MAX),
    };
    if !with_text && end == u64::MAX && selection.limit.is_none() {
        return Err(Problem::usage(
            "an endless suite cannot be counted where cases are left out",
            "say how many to count at most: --limit 100000",
        ));
    }
    let threads = selection.threads().min(usize::try_from(end.div_ceil(CHUNK)).unwrap_or(usize::MAX)).max(1);
    thread::scope(|scope| {
        let channels: Vec<Receiver<Lines>> = (0..threads)
            .map(|thread| {
                let (sender, receiver) = sync_channel(2);
                let picker = Picker::new(filter.as_deref(), selection);
                let (parts, case) = (&parts, blank.clone());
                let chunks = (thread as u64..).step_by(threads);
                scope.spawn(move || format_chunks(parts, case, chunks, end, with_text, picker, &sender));
                receiver
            })
            .collect();
        let mut left = selection.limit.unwrap_or(u64::MAX);
        let (mut taken, mut tries) = (0, 0);
        for channel in channels.iter().cycle() {
            // A thread ends at the end of the cases, and there are no chunks after that.
            let Ok(mut lines) = channel.recv() else { break };
            taken += lines.count;
            tries = if lines.count == 0 { tries + CHUNK } else { 0 };
            if tries >= TRIES && end == u64::MAX {
                return Err(too_rare(taken, tries));
            }
            if lines.count >= left {
                let end = lines.text.match_indices('\n').nth(left as usize - usize::from(left > 0));
                lines.text.truncate(end.filter(|_| left > 0).map_or(0, |(end, _)| end + 1));
                lines.count = left;
            }
            left -= lines.count;
            take(&lines)?;
            if left == 0 {
                break;
            }
        }
        Ok(end)
    })
}

fn format_chunks(
    parts: &SuiteSource,
    mut case: Case,
    chunks: impl Iterator<Item = u64>,
    end: u64,
    with_text: bool,
    mut picker: Picker<'_>,
    sender: &SyncSender<Lines>,
) {
    let mut cursor = parts.cursor();
    for chunk in chunks {
        let Some(start) = chunk.checked_mul(CHUNK).filter(|start| *start < end) else { return };
        let mut lines =
            Lines { text: String::with_capacity(if with_text { 256 << 10 } else { 0 }), count: 0 };
        for index in start..start.saturating_add(CHUNK).min(end) {
            cursor.read(index, &mut case);
            if picker.picks(&case) {
                lines.count += 1;
                if with_text {
                    line::write(&case, &mut lines.text);
                    lines.text.push('\n');
                }
            }
        }
        if sender.send(lines).is_err() {
            return;
        }
    }
}
