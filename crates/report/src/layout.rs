//! Tensors as DirectML's pages lay them out: a line that names the tensor, its sizes and its data type, then
//! the elements in nested brackets, right-aligned by column.
//!
//! ```text
//! OutputTensor: (Sizes:{1, 1, 2, 2}, DataType:FLOAT32)
//! [[[[14, 16],
//!    [ 6,  8]]]]
//! ```
//!
//! Elements can be marked. A large tensor shows the neighbourhood of one element, and its first line says
//! which part that is. Without such an element, it shows the ends of each axis, with `...` for the elements
//! that are left out.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use dmlcts_model::{List, Tensor, element_count, element_to_text, packed_strides};

use crate::{Style, Tone};

/// A tensor with at most this number of elements is shown whole. A neighbourhood has at most as many.
const WHOLE: i64 = 40;
/// The number of columns of a neighbourhood. An odd number puts its element in the middle.
const COLUMNS: i64 = 7;
/// The number of rows of a neighbourhood.
const ROWS: i64 = 5;
/// The number of elements at each end of an axis: first for the innermost axis, then for the others. The
/// first pair that keeps a tensor within [`MOST_CELLS`] is used.
const ENDS: [(usize, usize); 6] = [(16, 16), (10, 6), (8, 4), (5, 3), (4, 2), (3, 1)];
/// The maximum number of elements at the ends of one tensor. The last pair of [`ENDS`] may exceed it.
const MOST_CELLS: usize = 256;

/// A tensor to lay out.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    /// `InputTensor` or `OutputTensor`.
    pub name: &'a str,
    /// A remark after the first line's bracket; may be empty.
    pub remark: &'a str,
    /// Sizes, strides and data type.
    pub tensor: &'a Tensor,
    /// The tensor's memory.
    pub memory: &'a [u8],
    /// The coordinates of elements to mark.
    pub marked: &'a [List],
    /// The element whose neighbourhood a large tensor shows.
    pub focus: Option<&'a [i64]>,
}

/// Numbers in braces, as the pages write lists: `{1, 1, 4, 4}`.
pub fn braces(values: &[i64]) -> String {
    let values: Vec<_> = values.iter().map(i64::to_string).collect();
    format!("{{{}}}", values.join(", "))
}

/// Coordinates in brackets, as the pages write them: `[0,0,1,0]`.
pub fn brackets(coordinates: &[i64]) -> String {
    let values: Vec<_> = coordinates.iter().map(i64::to_string).collect();
    format!("[{}]", values.join(","))
}

/// The first line: name, sizes, strides if there are any, data type.
pub fn heading(name: &str, tensor: &Tensor) -> String {
    let mut line = format!("{name}: (Sizes:");
    line += &tensor.sizes.as_ref().map_or_else(|| "null".to_owned(), |sizes| braces(sizes));
    if let Some(strides) = &tensor.strides {
        // Writing into a string cannot fail, here and below.
        let _ = write!(line, ", Strides:{}", braces(strides));
    }
    let _ = write!(line, ", DataType:{})", tensor.data_type);
    line
}

impl Layout<'_> {
    /// Writes the tensor; every line starts with `indent`.
    pub fn write(&self, out: &mut dyn Write, indent: &str, style: Style) -> io::Result<()> {
        let heading = heading(self.name, self.tensor);
        let separator = if self.remark.is_empty() { "" } else { ", " };
        write!(out, "{indent}{heading}{separator}{}", style.paint(Tone::Strong, self.remark))?;
        let Some(sizes) = self.tensor.sizes.as_deref().filter(|sizes| sizes.iter().all(|&size| size > 0))
        else {
            return writeln!(out, "\n{indent}(no elements)");
        };
        let shown = self.shown(sizes);
        if self.focus.is_some() && !is_whole(sizes) {
            write!(out, ", only elements {}", ranges(&shown))?;
        }
        writeln!(out)?;
        let rows = rows(&shown);
        let cells: Vec<Vec<Cell>> = rows.iter().map(|row| self.cells(row, shown.last(), style)).collect();
        let columns = cells.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                cells.iter().filter_map(|row| row.get(column)).map(|cell| cell.width).max().unwrap_or(0)
            })
            .collect();
        for (number, row) in rows.iter().enumerate() {
            if row.gap > 0 {
                writeln!(out, "{indent}{}...", " ".repeat(row.gap))?;
            }
            let last = number + 1 == rows.len();
            let opening = if number == 0 { sizes.len() } else { row.opening };
            let closing = if last { sizes.len() } else { rows[number + 1].opening };
            write!(out, "{indent}{}{}", " ".repeat(sizes.len() - opening), "[".repeat(opening))?;
            for (column, cell) in cells[number].iter().enumerate() {
                let padding = " ".repeat(widths[column] - cell.width);
                let comma = if column == 0 { "" } else { ", " };
                write!(out, "{comma}{padding}{}", cell.text)?;
            }
            writeln!(out, "{}{}", "]".repeat(closing), if last { "" } else { "," })?;
        }
        Ok(())
    }

    /// The indices shown of each axis, in ascending order.
    pub(crate) fn shown(&self, sizes: &[i64]) -> Vec<Vec<i64>> {
        match self.focus {
            _ if is_whole(sizes) => sizes.iter().map(|&size| (0..size).collect()).collect(),
            Some(focus) => neighbourhood(sizes, focus),
            None => ends(sizes),
        }
    }

    fn cells(&self, row: &ElementRow, columns: Option<&Vec<i64>>, style: Style) -> Vec<Cell> {
        let mut cells = Vec::new();
        let inner = columns.map_or([0].as_slice(), Vec::as_slice);
        let mut next = inner.first().copied().unwrap_or_default();
        for &index in inner {
            if index > next {
                cells.push(Cell { text: "...".to_owned(), width: 3 });
            }
            next = index + 1;
            let mut coordinates = row.outer.clone();
            coordinates.extend(columns.map(|_| index));
            cells.push(self.cell(&coordinates, style));
        }
        cells
    }

    fn cell(&self, coordinates: &[i64], style: Style) -> Cell {
        let text = self.text(coordinates);
        if !self.marked.iter().any(|mark| mark.as_slice() == coordinates) {
            return Cell { width: text.chars().count(), text };
        }
        if style.colour {
            Cell { width: text.chars().count(), text: style.paint(Tone::Bad, text).to_string() }
        } else {
            Cell { width: text.chars().count() + 1, text: format!("*{text}") }
        }
    }

    /// An element as text; `?` where the memory ends before it.
    pub(crate) fn text(&self, coordinates: &[i64]) -> String {
        let bytes = self.element(coordinates);
        bytes.map_or_else(|| "?".to_owned(), |bytes| element_to_text(self.tensor.data_type, bytes))
    }

    /// The bytes of an element; `None` where the memory ends before it.
    pub(crate) fn element(&self, coordinates: &[i64]) -> Option<&[u8]> {
        let sizes = self.tensor.sizes.as_ref()?;
        let strides = self.tensor.strides.clone().unwrap_or_else(|| packed_strides(sizes));
        let place = coordinates.iter().zip(&strides).try_fold(0_u64, |sum, (&coordinate, &stride)| {
            sum.checked_add((coordinate as u64).checked_mul(stride as u64)?)
        })?;
        let size = self.tensor.data_type.element_size()?;
        let start = usize::try_from(place).ok()?.checked_mul(size)?;
        self.memory.get(start..start.checked_add(size)?)
    }
}

fn is_whole(sizes: &[i64]) -> bool {
    element_count(sizes) <= WHOLE as u128
}

/// The indices around an element: columns on the innermost axis that has several elements, rows on the next
/// one. Outer axes have more than one index only where that leaves room.
fn neighbourhood(sizes: &[i64], focus: &[i64]) -> Vec<Vec<i64>> {
    let mut room = WHOLE;
    let mut shown: Vec<Vec<i64>> = sizes
        .iter()
        .enumerate()
        .rev()
        .map(|(axis, &size)| {
            let most = if room == WHOLE { COLUMNS } else { ROWS };
            let count = size.min(most).min(room);
            room /= count;
            let middle = focus.get(axis).copied().unwrap_or_default();
            let first = (middle - count / 2).clamp(0, size - count);
            (first..first + count).collect()
        })
        .collect();
    shown.reverse();
    shown
}

/// The indices at both ends of each axis.
fn ends(sizes: &[i64]) -> Vec<Vec<i64>> {
    let last = sizes.len().saturating_sub(1);
    let choose = |(inner, outer): (usize, usize)| -> Vec<Vec<i64>> {
        let both = |(axis, &size): (usize, &i64)| {
            let ends = if axis == last { inner } else { outer } as i64;
            (0..size.min(ends)).chain(ends.max(size - ends)..size).collect()
        };
        sizes.iter().enumerate().map(both).collect()
    };
    let cells = |shown: &Vec<Vec<i64>>| shown.iter().map(Vec::len).product::<usize>();
    let fitting = ENDS.into_iter().map(choose).find(|shown| cells(shown) <= MOST_CELLS);
    fitting.unwrap_or_else(|| choose(ENDS[ENDS.len() - 1]))
}

/// Indices as they stand in coordinates, with the first and the last of several: `[0,0,8-12,9-15]`.
fn ranges(shown: &[Vec<i64>]) -> String {
    let range = |indices: &Vec<i64>| match indices.as_slice() {
        [first, .., last] => format!("{first}-{last}"),
        one => one.iter().map(i64::to_string).collect(),
    };
    let ranges: Vec<String> = shown.iter().map(range).collect();
    format!("[{}]", ranges.join(","))
}

struct Cell {
    text: String,
    /// In columns of a terminal, without colours.
    width: usize,
}

/// One line of elements.
pub(crate) struct ElementRow {
    /// The coordinates on all axes except the innermost.
    pub(crate) outer: List,
    /// The number of brackets that open before it.
    pub(crate) opening: usize,
    /// The column of the `...` for rows that were left out before it; 0 if there are none.
    pub(crate) gap: usize,
}

/// The rows of the shown indices, in order.
pub(crate) fn rows(shown: &[Vec<i64>]) -> Vec<ElementRow> {
    let outer = &shown[..shown.len().saturating_sub(1)];
    let count: usize = outer.iter().map(Vec::len).product();
    let mut rows = Vec::with_capacity(count);
    let mut places = vec![0; outer.len()];
    for _ in 0..count {
        let coordinates: List =
            places.iter().zip(outer).map(|(&place, indices): (&usize, _)| indices[place]).collect();
        // The outermost axis on which this row does not continue the previous one.
        let moved = places.iter().rposition(|&place| place > 0);
        let axis = places.iter().rev().take_while(|&&place| place == 0).count();
        let gap = moved
            .filter(|&axis| outer[axis][places[axis] - 1] + 1 < coordinates[axis])
            .map_or(0, |axis| axis + 1);
        rows.push(ElementRow { outer: coordinates, opening: axis + 1, gap });
        for axis in (0..places.len()).rev() {
            places[axis] += 1;
            if places[axis] < outer[axis].len() {
                break;
            }
            places[axis] = 0;
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmlcts_model::DataType;
    use proptest::prelude::*;

    fn text(tensor: &Tensor, memory: &[u8], marked: &[&[i64]], style: Style) -> String {
        let focus = marked.first().copied();
        let marked: Vec<List> = marked.iter().map(|mark| List::from_slice(mark)).collect();
        let mut out = Vec::new();
        let layout = Layout { name: "OutputTensor", remark: "", tensor, memory, marked: &marked, focus };
        layout.write(&mut out, "", style).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn floats(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
        values.into_iter().flat_map(f32::to_le_bytes).collect()
    }

    fn packed(data_type: DataType, sizes: &[i64]) -> Tensor {
        Tensor::packed(data_type, List::from_slice(sizes))
    }

    #[test]
    fn an_example_looks_as_on_its_page() {
        let tensor = packed(DataType::FLOAT32, &[1, 1, 4, 4]);
        let memory = floats((1..=16).map(|value| value as f32));
        insta::assert_snapshot!(text(&tensor, &memory, &[], Style::PLAIN), @r"
        OutputTensor: (Sizes:{1, 1, 4, 4}, DataType:FLOAT32)
        [[[[ 1,  2,  3,  4],
           [ 5,  6,  7,  8],
           [ 9, 10, 11, 12],
           [13, 14, 15, 16]]]]
        ");
    }

    #[test]
    fn blocks_close_and_open_where_an_outer_axis_moves() {
        let tensor = packed(DataType::UINT8, &[2, 1, 2, 2]);
        insta::assert_snapshot!(text(&tensor, &[1, 2, 3, 4, 5, 6, 7, 8], &[], Style::PLAIN), @r"
        OutputTensor: (Sizes:{2, 1, 2, 2}, DataType:UINT8)
        [[[[1, 2],
           [3, 4]]],
         [[[5, 6],
           [7, 8]]]]
        ");
    }

    #[test]
    fn a_mark_is_a_star_or_a_colour() {
        let tensor = packed(DataType::INT32, &[2, 2]);
        let memory: Vec<u8> = [1, -20, 300, 4].into_iter().flat_map(i32::to_le_bytes).collect();
        let marks: [&[i64]; 2] = [&[0, 0], &[1, 1]];
        insta::assert_snapshot!(text(&tensor, &memory, &marks, Style::PLAIN), @r"
        OutputTensor: (Sizes:{2, 2}, DataType:INT32)
        [[ *1, -20],
         [300,  *4]]
        ");
        let coloured = text(&tensor, &memory, &marks, Style { colour: true, width: None });
        assert!(coloured.contains("[[  \x1b[1;31m1\x1b[0m, -20]"), "{coloured}");
    }

    #[test]
    fn strides_are_named_and_followed() {
        let mut tensor = packed(DataType::UINT8, &[2, 2]);
        tensor.strides = Some(List::from_slice(&[1, 2]));
        insta::assert_snapshot!(text(&tensor, &[1, 2, 3, 4], &[], Style::PLAIN), @r"
        OutputTensor: (Sizes:{2, 2}, Strides:{1, 2}, DataType:UINT8)
        [[1, 3],
         [2, 4]]
        ");
    }

    #[test]
    fn a_large_tensor_shows_what_is_around_the_first_wrong_element() {
        let tensor = packed(DataType::UINT16, &[1000, 1000]);
        let memory: Vec<u8> = (0..1_000_000_u32).flat_map(|value| (value as u16).to_le_bytes()).collect();
        insta::assert_snapshot!(text(&tensor, &memory, &[&[500, 400], &[900, 1]], Style::PLAIN), @r"
        OutputTensor: (Sizes:{1000, 1000}, DataType:UINT16), only elements [498-502,397-403]
        [[39645, 39646, 39647,  39648, 39649, 39650, 39651],
         [40645, 40646, 40647,  40648, 40649, 40650, 40651],
         [41645, 41646, 41647, *41648, 41649, 41650, 41651],
         [42645, 42646, 42647,  42648, 42649, 42650, 42651],
         [43645, 43646, 43647,  43648, 43649, 43650, 43651]]
        ");
        insta::assert_snapshot!(text(&tensor, &memory, &[&[999, 0]], Style::PLAIN), @r"
        OutputTensor: (Sizes:{1000, 1000}, DataType:UINT16), only elements [995-999,0-6]
        [[ 11960, 11961, 11962, 11963, 11964, 11965, 11966],
         [ 12960, 12961, 12962, 12963, 12964, 12965, 12966],
         [ 13960, 13961, 13962, 13963, 13964, 13965, 13966],
         [ 14960, 14961, 14962, 14963, 14964, 14965, 14966],
         [*15960, 15961, 15962, 15963, 15964, 15965, 15966]]
        ");
        let outer = packed(DataType::UINT8, &[50, 1, 2, 1]);
        let memory: Vec<u8> = (0..100).collect();
        insta::assert_snapshot!(text(&outer, &memory, &[&[20, 0, 1, 0]], Style::PLAIN), @r"
        OutputTensor: (Sizes:{50, 1, 2, 1}, DataType:UINT8), only elements [18-22,0,0-1,0]
        [[[[ 36],
           [ 37]]],
         [[[ 38],
           [ 39]]],
         [[[ 40],
           [*41]]],
         [[[ 42],
           [ 43]]],
         [[[ 44],
           [ 45]]]]
        ");
    }

    #[test]
    fn a_large_tensor_without_a_wrong_element_shows_its_ends() {
        let tensor = packed(DataType::UINT8, &[41]);
        let memory: Vec<u8> = (0..41).collect();
        insta::assert_snapshot!(text(&tensor, &memory, &[], Style::PLAIN), @r"
        OutputTensor: (Sizes:{41}, DataType:UINT8)
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, ..., 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40]
        ");
        let whole = packed(DataType::UINT8, &[40]);
        assert!(!text(&whole, &memory, &[], Style::PLAIN).contains("..."));
    }

    #[test]
    fn memory_that_is_too_short_shows_as_unknown() {
        let tensor = packed(DataType::UINT8, &[3]);
        insta::assert_snapshot!(text(&tensor, &[1, 2], &[], Style::PLAIN), @r"
        OutputTensor: (Sizes:{3}, DataType:UINT8)
        [1, 2, ?]
        ");
    }

    proptest! {
        #[test]
        fn brackets_always_match(sizes in prop::collection::vec(1_i64..4, 1..6)) {
            let tensor = packed(DataType::UINT8, &sizes);
            let memory = vec![7; sizes.iter().product::<i64>() as usize];
            let text = text(&tensor, &memory, &[], Style::PLAIN);
            let body = text.split_once('\n').unwrap().1;
            let opened = body.matches('[').count();
            prop_assert_eq!(opened, body.matches(']').count());
            // One pair for the tensor, and one for each index of each axis except the innermost.
            let expected: i64 = 1 + (1..sizes.len()).map(|axis| sizes[..axis].iter().product::<i64>()).sum::<i64>();
            prop_assert_eq!(opened as i64, expected);
            let all_closed = "]".repeat(sizes.len());
            prop_assert!(body.trim_end().ends_with(&all_closed));
        }

        #[test]
        fn no_tensor_floods_the_terminal(sizes in prop::collection::vec(1_i64..100_000, 1..5)) {
            let tensor = packed(DataType::UINT8, &sizes);
            prop_assert!(text(&tensor, &[], &[], Style::PLAIN).len() < 16_000);
            let last: Vec<i64> = sizes.iter().map(|size| size - 1).collect();
            prop_assert!(text(&tensor, &[], &[&last], Style::PLAIN).len() < 400);
        }
    }
}
