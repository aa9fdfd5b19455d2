//! Tables.

use super::super::limits::left_out;
use crate::model::{Cell, Kind, Row, Table, Tone};
use maud::{Markup, html};

/// Largest number of rows of a table with the first rows only, and of any table.
const ROWS: usize = 40;
const MOST_ROWS: usize = 200;

/// Width of the longest bar, and of a line, in pixels.
const WIDTH: f64 = 200.0;

pub(super) fn table(of: &Table) -> Markup {
    let shown = if of.cut { ROWS } else { MOST_ROWS };
    html! {
        div.wide tabindex="0" role="group" aria-label="Table" {
            table {
                thead { tr { @for column in &of.columns {
                    @if column.name.is_empty() {
                        // A heading must have a text.
                        td {}
                    } @else {
                        th.n[column.kind == Kind::Numbers] scope="col" { (column.name) }
                    }
                } } }
                tbody { @for row in of.rows.iter().take(shown) { (one(of, row)) } }
            }
        }
        @if of.rows.len() > shown { p { (left_out(of.rows.len() - shown, "rows")) } }
    }
}

fn one(of: &Table, row: &Row) -> Markup {
    let tone = match row.tone {
        Tone::Plain => None,
        Tone::Good => Some("good"),
        Tone::Bad => Some("bad"),
    };
    html! {
        tr class=[tone] {
            @for (at, (cell, column)) in row.cells.iter().zip(&of.columns).enumerate() {
                @match (at, cell) {
                    (0, _) => th scope="row" { (content(cell)) },
                    (_, Cell::Heat(rate, title)) => td class={ "n heat h" (heat(*rate)) } title=(title) { (content(cell)) },
                    (_, Cell::Absent) => td.absent {},
                    _ => td.n[column.kind == Kind::Numbers] { (content(cell)) },
                }
            }
        }
    }
}

fn content(cell: &Cell) -> Markup {
    match cell {
        Cell::Code(text) => html! { code { (text) } },
        Cell::Bar(share) => {
            let width = (share.clamp(0.0, 1.0) * WIDTH) as u32;
            html! { i.amount style={ "width:" (width) "px" } {} }
        }
        Cell::Line(points) => line(points),
        _ => html! { (cell.plain()) },
    }
}

fn line(points: &[f64]) -> Markup {
    let highest = points.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let step = WIDTH / (points.len().max(2) - 1) as f64;
    let places = points.iter().enumerate().map(|(i, point)| {
        let (x, y) = (i as f64 * step, 22.0 - point / highest * 20.0);
        format!("{x:.1},{y:.1}")
    });
    let places: Vec<String> = places.collect();
    html! { svg width="204" height="24" aria-hidden="true" { polyline points=(places.join(" ")) {} } }
}

/// The colour of a rate by powers of ten: 0 for none, up to 6 for one in ten or more; `x` without data.
fn heat(rate: Option<f64>) -> String {
    match rate {
        None => "x".into(),
        Some(rate) if rate <= 0.0 => "0".into(),
        Some(rate) => ((rate.log10() + 7.0).floor().clamp(1.0, 6.0) as u32).to_string(),
    }
}
