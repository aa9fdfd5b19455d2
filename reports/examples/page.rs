//! Renders a report: `page REPORT FORMAT`, with `brief`, `text`, `html` or `markdown`.

use oracle::gate::{Rule, decide};
use reports::{Format, render, render::Style};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&args[1]).expect("a report");
    let report = serde_json::from_str(&text).expect("a report");
    let format = match args[2].as_str() {
        "brief" => Format::Brief(Style::Plain),
        "text" => Format::Text(Style::Plain),
        "markdown" => Format::Markdown,
        _ => Format::Html,
    };
    let decision = decide(&report, Rule::ObservedRates, &[]);
    print!("{}", render(&report, &decision, &args[1], format));
}
