//! The tensors of a failure as a picture: the input in the middle, the expected output on its left, and the
//! actual output on its right. Lines lead from input elements to the outputs that hold them, or should.
//!
//! The picture has no text of its own for people who do not see it. The list below it says the same.

use dmlcts_model::{List, Side, Tensor, element_to_text};
use dmlcts_runner::{Evidence, Failure, Reads, RunKind, WrongElement, origins, reads};
use maud::{Markup, html};

use super::grid::{Cell, Grid, LETTER, ROW};
use crate::{
    CaseOutputs, Layout, brackets,
    failure::{EXPLAINED, element_names, source, source_text},
    heading,
    numbers::grouped,
};

/// The space between two tensors, which the lines cross.
const BETWEEN: i64 = 88;
/// The space between two tensors without lines.
const APART: i64 = 32;
/// The height of the lines of text above a tensor.
const HEAD: i64 = 40;
/// How far a line goes down before it turns to the side.
const DIP: i64 = 28;
/// The height of an element's box.
const BOX: i64 = 20;

/// A wrong element with the input elements that explain it.
struct Explained<'a> {
    wrong: &'a WrongElement,
    /// The source of the expected element: an element of the input or the name of a member.
    expected: Option<Reads>,
    /// The input elements that equal the actual one.
    origins: Vec<List>,
}

impl Explained<'_> {
    /// The input element that belongs there.
    fn rightful(&self) -> Option<&List> {
        match &self.expected {
            Some(Reads::Input(source)) => Some(source),
            _ => None,
        }
    }
}

/// One of the three tensors, placed.
struct Panel {
    name: &'static str,
    about: String,
    grid: Grid,
    x: i64,
}

/// The tensors of a failure, and a list of its wrong elements. `None` if the failure has no memory. `name`
/// says whose they are.
pub(super) fn tensors(failure: &Failure, name: &str) -> Option<Markup> {
    let evidence = failure.evidence.as_ref()?;
    let (input, output) = (failure.case.desc.input.as_ref()?, failure.case.desc.output.as_ref()?);
    let first = evidence.differences.first.iter().take(EXPLAINED);
    let explained: Vec<Explained<'_>> = first
        .map(|wrong| Explained {
            wrong,
            expected: reads(failure, &wrong.coordinates),
            origins: origins(failure, wrong),
        })
        .collect();
    let note = match evidence.run {
        RunKind::First => None,
        RunKind::OtherPoison => Some("Seen in a second run, over memory that held something else before."),
        RunKind::OtherData => Some("Seen in a second run, on other data than the case's fill."),
    };
    Some(html! {
        @if let Some(note) = note { p { (note) } }
        div.scroll tabindex="0" role="region" aria-label={ "Tensors of " (name) } {
            (picture(failure, (input, output), evidence, &explained))
        }
        ul.legend aria-hidden="true" {
            li { span.swatch.good {} "from where it should come" }
            li { span.swatch.bad {} "from where it came" }
        }
        ul.elements { @for one in &explained { li { (in_words(output, one)) } } }
        @let more = evidence.differences.wrong().saturating_sub(explained.len() as u64);
        @if more > 0 {
            p { "and " (grouped(more)) " more of " (grouped(evidence.differences.elements)) " elements differ" }
        }
    })
}

fn in_words(output: &Tensor, one: &Explained<'_>) -> Markup {
    let size = output.data_type.element_size().unwrap_or(8).min(8);
    let text = |bits: u64| element_to_text(output.data_type, &bits.to_le_bytes()[..size]);
    let wrong = one.wrong;
    let from = element_names(&one.origins);
    html! {
        code { "Output" (brackets(&wrong.coordinates)) } " is " b.bad { (text(wrong.actual)) }
        ", expected " code { (source_text(one.expected.as_ref())) } b.good { (text(wrong.expected)) }
        @if !from.is_empty() { "; " (text(wrong.actual)) " is " code { (from) } }
    }
}

fn picture(
    failure: &Failure,
    (input, output): (&Tensor, &Tensor),
    evidence: &Evidence,
    explained: &[Explained<'_>],
) -> Markup {
    let wrong: Vec<List> = evidence.differences.first.iter().map(|wrong| wrong.coordinates.clone()).collect();
    let rightful: Vec<&List> = explained.iter().filter_map(Explained::rightful).collect();
    let origins: Vec<&List> = explained.iter().filter_map(|one| one.origins.first()).collect();
    let source = evidence.differences.first.first().map(|wrong| source(failure, wrong));
    let (source, focus) = (source.as_deref(), wrong.first().map(List::as_slice));
    let grid = |tensor, memory, focus| {
        Grid::new(&Layout { name: "", remark: "", tensor, memory, marked: &[], focus })
    };
    let mut panels = [
        panel("Expected output", output, grid(output, &evidence.expected, focus)),
        panel("Input", input, grid(input, &evidence.input, source)),
        panel("Actual output", output, grid(output, &evidence.actual, focus)),
    ];
    let (width, height) = place(&mut panels, BETWEEN);
    let height = height + DIP;
    let classes: [&dyn Fn(&Cell) -> &'static str; 3] = [
        &|cell| if wrong.contains(&cell.coordinates) { "right" } else { "" },
        &|cell| match (rightful.contains(&&cell.coordinates), origins.contains(&&cell.coordinates)) {
            (true, true) => "right both",
            (true, false) => "right",
            (false, true) => "stray",
            (false, false) => "",
        },
        &|cell| if wrong.contains(&cell.coordinates) { "wrong" } else { "" },
    ];
    let threads: Vec<Thread> = explained.iter().flat_map(|one| threads(&panels, one)).collect();
    html! {
        svg.tensors width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) }
            role="img" aria-label="The list below says where the wrong elements come from." {
            // Behind the elements, so that a line crosses no number.
            @for thread in &threads { (thread.curve()) }
            @for (panel, class) in panels.iter().zip(classes) { (draw(panel, class)) }
            @for thread in &threads { (thread.ends()) }
        }
    }
}

/// Puts the tensors side by side. Returns the width and the height of the picture.
fn place(panels: &mut [Panel], between: i64) -> (i64, i64) {
    let mut x = 1;
    for panel in &mut *panels {
        panel.x = x;
        x += panel.width() + between;
    }
    (x - between + 1, HEAD + panels.iter().map(|panel| panel.grid.height).max().unwrap_or(0))
}

/// The outputs of a case before and after a change: the tensors side by side, and the differences in words.
pub(super) fn outputs(one: &CaseOutputs) -> Markup {
    let all = one.tensors();
    let focus = all[1].marked.first().map(List::as_slice);
    let (mut panels, mut marks, mut missing) = (Vec::new(), Vec::new(), Vec::new());
    let named = all.iter().zip(["Input", "Expected output", "Old output", "New output"]);
    for (shown, name) in named.skip(one.left_out()) {
        match (one.case.desc.tensor(shown.side), shown.held) {
            (Some(tensor), Ok(memory)) => {
                let focus = focus.filter(|_| shown.side == Side::Output);
                let layout = Layout { name: "", remark: "", tensor, memory, marked: &[], focus };
                panels.push(panel(name, tensor, Grid::new(&layout)));
                marks.push((&shown.marked, if shown.name == "expected" { "right" } else { "wrong" }));
            }
            (_, Err(why)) => missing.push((name, why)),
            (None, Ok(_)) => {}
        }
    }
    let (width, height) = place(&mut panels, APART);
    let line = one.case.to_string();
    html! {
        pre.line tabindex="0" { (line) }
        @if !panels.is_empty() {
            div.scroll tabindex="0" role="region" aria-label={ "Tensors of " (line) } {
                svg.tensors width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) }
                    role="img" aria-label="The list below says which elements differ." {
                    @for (panel, (wrong, class)) in panels.iter().zip(&marks) {
                        (draw(panel, &|cell| if wrong.contains(&cell.coordinates) { *class } else { "" }))
                    }
                }
            }
        }
        ul.elements {
            @for (name, why) in missing { li { (name) ": " (why) } }
            @for sentence in one.sentences(&all) { li { (sentence) } }
        }
    }
}

/// A line between an input element and an output element that holds it, or should.
struct Thread {
    from: (i64, i64),
    to: (i64, i64),
    class: &'static str,
}

/// The lines of a wrong element: from its source to the expected output, and from its origin to the actual
/// one.
fn threads([expected, input, actual]: &[Panel; 3], one: &Explained<'_>) -> Vec<Thread> {
    let place = &one.wrong.coordinates;
    let below = |source: &List| Some(input.below(input.grid.cell(source)?));
    let rightful = one.rightful().and_then(below);
    let rightful = rightful.zip(expected.grid.cell(place).map(|cell| expected.right(cell)));
    let stray = one.origins.first().and_then(below);
    let stray = stray.zip(actual.grid.cell(place).map(|cell| actual.left(cell)));
    let both = [(rightful, "good"), (stray, "bad")].into_iter();
    both.filter_map(|(ends, class)| ends.map(|(from, to)| Thread { from, to, class })).collect()
}

fn panel(name: &'static str, tensor: &Tensor, grid: Grid) -> Panel {
    let about = heading("", tensor);
    let about = about.trim_start_matches(": (").trim_end_matches(')').replace(':', " ");
    Panel { name, about, grid, x: 0 }
}

impl Panel {
    fn width(&self) -> i64 {
        let text = self.about.chars().count().max(self.name.len()) as i64;
        self.grid.width.max(text * (LETTER - 1) + 4)
    }

    fn below(&self, cell: &Cell) -> (i64, i64) {
        (self.x + cell.x + cell.width / 2, HEAD + cell.y + i64::midpoint(ROW, BOX))
    }

    fn left(&self, cell: &Cell) -> (i64, i64) {
        (self.x + cell.x + 1, HEAD + cell.y + ROW / 2)
    }

    fn right(&self, cell: &Cell) -> (i64, i64) {
        (self.x + cell.x + cell.width - 1, HEAD + cell.y + ROW / 2)
    }
}

fn draw(panel: &Panel, class: &dyn Fn(&Cell) -> &'static str) -> Markup {
    let grid = &panel.grid;
    html! {
        g transform={ "translate(" (panel.x) " 0)" } {
            text.name x="0" y="14" { (panel.name) }
            text.about x="0" y="31" { (panel.about) }
            g transform={ "translate(0 " (HEAD) ")" } {
                @for (index, middle) in &grid.columns { text.index x=(middle) y=(ROW - 8) { (index) } }
                @for (name, top) in &grid.rows {
                    text.row x=(grid.labels - 5) y=(top + 16) { (name) }
                }
                @for cell in &grid.cells {
                    g.cell.(class(cell)) {
                        rect x=(cell.x + 1) y=(cell.y + (ROW - BOX) / 2) width=(cell.width - 2) height=(BOX) rx="4" {}
                        text x=(cell.x + cell.width / 2) y=(cell.y + 16) { (cell.text) }
                    }
                }
            }
        }
    }
}

impl Thread {
    /// A curve that leaves the input element downwards and arrives at the other one from the side.
    fn curve(&self) -> Markup {
        let Self { from, to, class } = self;
        let side = if to.0 < from.0 { BETWEEN } else { -BETWEEN };
        html! {
            path.thread.(class) d={
                "M" (from.0) " " (from.1) "C" (from.0) " " (from.1 + DIP) " " (to.0 + side) " " (to.1) " " (to.0) " " (to.1)
            } {}
        }
    }

    fn ends(&self) -> Markup {
        html! { @for (x, y) in [self.from, self.to] { circle.end.(self.class) cx=(x) cy=(y) r="2.5" {} } }
    }
}
