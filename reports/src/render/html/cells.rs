//! Tables.

use super::super::escape::xml;
use super::super::limits::left_out;
use crate::model::{Cell, Kind, Table, Tone};
use std::fmt::Write;

/// How many rows of a table are shown.
const ROWS: usize = 40;

/// The width of the longest bar, and of a line, in pixels.
const WIDTH: f64 = 200.0;

pub(super) fn table(out: &mut String, table: &Table) {
    *out += "<table><tr>";
    for column in &table.columns {
        let _ = write!(out, "<th{}>{}", class(column.kind), xml(column.name));
    }
    *out += "</tr>\n";
    let shown = if table.cut { ROWS } else { usize::MAX };
    for row in table.rows.iter().take(shown) {
        *out += match row.tone {
            Tone::Plain => "<tr>",
            Tone::Good => "<tr class=\"good\">",
            Tone::Bad => "<tr class=\"bad\">",
        };
        for (place, (cell, column)) in row.cells.iter().zip(&table.columns).enumerate() {
            match place {
                0 => {
                    let _ = write!(out, "<th>{}", content(cell));
                }
                _ => one(out, cell, column.kind),
            }
        }
        *out += "</tr>\n";
    }
    *out += "</table>\n";
    if table.rows.len() > shown {
        let left = left_out(table.rows.len() - shown, "rows");
        let _ = writeln!(out, "<p>{left}</p>");
    }
}

fn class(kind: Kind) -> &'static str {
    match kind {
        Kind::Words | Kind::Drawings => " class=\"text\"",
        Kind::Numbers => "",
    }
}

fn one(out: &mut String, cell: &Cell, kind: Kind) {
    let _ = match cell {
        Cell::Heat(rate, title) => {
            let (heat, title) = (heat(*rate), xml(title));
            write!(
                out,
                "<td class=\"heat h{heat}\" title=\"{title}\">{}",
                content(cell)
            )
        }
        Cell::Absent => write!(out, "<td class=\"absent\">"),
        _ => write!(out, "<td{}>{}", class(kind), content(cell)),
    };
}

fn content(cell: &Cell) -> String {
    match cell {
        Cell::Code(text) => format!("<code>{}</code>", xml(text)),
        Cell::Bar(share) => {
            let width = (share.clamp(0.0, 1.0) * WIDTH) as u32;
            format!("<i class=\"bar\" style=\"width:{width}px\"></i>")
        }
        Cell::Line(points) => line(points),
        _ => xml(&cell.plain()),
    }
}

fn line(points: &[f64]) -> String {
    let highest = points.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let step = WIDTH / (points.len().max(2) - 1) as f64;
    let places = points.iter().enumerate();
    let places = places.map(|(i, point)| {
        let (x, y) = (i as f64 * step, 22.0 - point / highest * 20.0);
        format!("{x:.1},{y:.1}")
    });
    let places: Vec<String> = places.collect();
    format!(
        "<svg width=\"204\" height=\"24\"><polyline points=\"{}\"/></svg>",
        places.join(" ")
    )
}

/// The colour of a rate by powers of ten: 0 for none, up to 6 for one in ten or more; `x` without
/// data.
fn heat(rate: Option<f64>) -> String {
    match rate {
        None => "x".into(),
        Some(rate) if rate <= 0.0 => "0".into(),
        Some(rate) => ((rate.log10() + 7.0).floor().clamp(1.0, 6.0) as u32).to_string(),
    }
}
