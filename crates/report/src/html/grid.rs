//! The place of each element of a tensor in a picture: rows of the innermost axis below each other, with a
//! gap where an outer axis moves or elements are left out.

use dmlcts_model::List;

use crate::{Layout, layout::rows};

/// The height of a row.
pub(super) const ROW: i64 = 24;
/// The width of a character.
pub(super) const LETTER: i64 = 8;
/// The space on both sides of an element's text together.
const MARGIN: i64 = 14;
/// The space between blocks of rows, and in the place of columns that are left out.
const GAP: i64 = 12;

/// A tensor with the places of its elements, from the upper left corner on.
#[derive(Default)]
pub(super) struct Grid {
    pub(super) cells: Vec<Cell>,
    /// The index of each column, with the middle of the column.
    pub(super) columns: Vec<(i64, i64)>,
    /// The coordinates of each row on the outer axes, with the top of the row.
    pub(super) rows: Vec<(String, i64)>,
    /// The right end of the labels of the rows.
    pub(super) labels: i64,
    pub(super) width: i64,
    pub(super) height: i64,
}

/// An element.
pub(super) struct Cell {
    pub(super) coordinates: List,
    pub(super) text: String,
    pub(super) x: i64,
    pub(super) y: i64,
    pub(super) width: i64,
}

impl Grid {
    /// Places the elements that a layout shows.
    pub(super) fn new(layout: &Layout<'_>) -> Self {
        let sizes = layout.tensor.sizes.as_deref().unwrap_or_default();
        let shown = if sizes.iter().all(|&size| size > 0) { layout.shown(sizes) } else { Vec::new() };
        let inner = shown.last().map_or([0].as_slice(), Vec::as_slice);
        let rows = rows(&shown);
        let texts: Vec<Vec<String>> = rows
            .iter()
            .map(|row| inner.iter().map(|&index| layout.text(&whole(&row.outer, index, sizes))).collect())
            .collect();
        let longest = texts.iter().flatten().map(|text| text.chars().count()).max().unwrap_or(1);
        let names: Vec<String> = rows.iter().map(|row| name(&row.outer)).collect();
        let label = names.iter().map(String::len).max().unwrap_or(0) as i64;
        let labels = label * (LETTER - 1) + if label > 0 { 6 } else { 0 };
        let mut grid = Self { labels, height: ROW, ..Self::default() };
        let width = (longest as i64).max(2) * LETTER + MARGIN;
        let lefts = lefts(inner, grid.labels, width);
        grid.columns = inner.iter().zip(&lefts).map(|(&index, &x)| (index, x + width / 2)).collect();
        grid.width = lefts.last().map_or(grid.labels, |last| last + width);
        for (number, row) in rows.iter().enumerate() {
            // Rows are left out before it, or an axis moves other than the last outer one.
            if number > 0 && (row.gap > 0 || row.opening > 1) {
                grid.height += GAP;
            }
            let y = grid.height;
            grid.rows.push((names[number].clone(), y));
            for ((&index, &x), text) in inner.iter().zip(&lefts).zip(&texts[number]) {
                let coordinates = whole(&row.outer, index, sizes);
                grid.cells.push(Cell { coordinates, text: text.clone(), x, y, width });
            }
            grid.height += ROW;
        }
        grid
    }

    /// The cell of an element, if it is shown.
    pub(super) fn cell(&self, coordinates: &[i64]) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.coordinates.as_slice() == coordinates)
    }
}

/// The coordinates of an element of a row. A tensor without axes has one element.
fn whole(row: &[i64], index: i64, sizes: &[i64]) -> List {
    let inner = (!sizes.is_empty()).then_some(index);
    row.iter().copied().chain(inner).collect()
}

fn name(row: &[i64]) -> String {
    let indices: Vec<String> = row.iter().map(i64::to_string).collect();
    indices.join(",")
}

/// The left end of each column.
fn lefts(inner: &[i64], start: i64, width: i64) -> Vec<i64> {
    let mut x = start;
    let mut before = None;
    let mut lefts = Vec::with_capacity(inner.len());
    for &index in inner {
        if before.is_some_and(|before| index != before + 1) {
            x += GAP;
        }
        lefts.push(x);
        x += width;
        before = Some(index);
    }
    lefts
}
