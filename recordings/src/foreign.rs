//! Formats that are recognised and not read, because they do not have whole stacks or are not described. The user is
//! told which format it is, and what to write instead.

use crate::bytes::Bytes;
use crate::error::Error;

/// A format that is not read.
struct Foreign {
    /// Whether a file with these first bytes has this format.
    fits: fn(&[u8]) -> bool,
    what: &'static str,
    instead: &'static str,
}

/// All of them. A file has the first format that fits.
const FOREIGN: [Foreign; 8] = [
    Foreign {
        fits: |head| is_html(head) && has(head, "class='bordered'"),
        what: "a heatmap of async-profiler",
        instead: "judge the JFR file that it was made from",
    },
    Foreign {
        fits: |head| is_html(head) && has(head, "#canvas"),
        what: "an HTML flame graph or call tree of async-profiler",
        instead: "record with `-o collapsed` or `-o jfr`, or write its stacks with `jfrconv -o collapsed`",
    },
    Foreign {
        fits: is_html,
        what: "an HTML page",
        instead: "record collapsed stacks or a JFR file",
    },
    Foreign {
        fits: |head| has(head, "<svg") && head.trim_ascii_start().starts_with(b"<"),
        what: "an SVG image",
        instead: "give the collapsed stacks that the flame graph was drawn from",
    },
    Foreign {
        fits: is_otlp,
        what: "a profile of OpenTelemetry (OTLP)",
        instead: "record with `-o collapsed` or `-o jfr`, or write pprof",
    },
    Foreign {
        fits: |head| head.starts_with(b"--- Execution profile ---"),
        what: "a summary of async-profiler (`traces`, `flat`)",
        instead: "record with `-o collapsed` or `-o jfr`",
    },
    Foreign {
        fits: |head| head.starts_with(b"PERFILE2"),
        what: "a recording of perf",
        instead: "write collapsed stacks with `perf script` and `stackcollapse-perf.pl`",
    },
    Foreign {
        fits: |head| head.starts_with(b"JAVA PROFILE 1."),
        what: "a heap dump",
        instead: "give a thread dump (`jcmd PID Thread.print`) or a recording of a profiler",
    },
];

/// The refusal of a file with these first bytes, if it has such a format.
pub(crate) fn refusal(head: &[u8]) -> Option<Error> {
    let foreign = FOREIGN.iter().find(|foreign| (foreign.fits)(head))?;
    Some(Error::Foreign {
        what: foreign.what,
        instead: foreign.instead,
    })
}

fn has(head: &[u8], text: &str) -> bool {
    head.windows(text.len()).any(|at| at == text.as_bytes())
}

fn is_html(head: &[u8]) -> bool {
    let start = head.trim_ascii_start().first_chunk::<14>();
    start.is_some_and(|start| start.eq_ignore_ascii_case(b"<!DOCTYPE html"))
        || head.trim_ascii_start().starts_with(b"<html")
}

/// Whether these are the first bytes of `ProfilesData`: the profiles of a resource (field 1), or the tables that all
/// profiles share (field 2). In JSON the first has its name.
fn is_otlp(head: &[u8]) -> bool {
    if head.trim_ascii_start().starts_with(b"{") {
        return has(head, "\"resourceProfiles\"");
    }
    let mut bytes = Bytes(head);
    let (key, length) = (bytes.varint(), bytes.varint());
    // A message of less than 128 bytes holds no profile, and might be text.
    if length.is_none_or(|length| length < 128) {
        return false;
    }
    // A resource, or the profiles of a scope; in a profile of pprof the field is a type of sample, with two numbers.
    // Each table is a message. There are seven.
    match (key, bytes.byte()) {
        (Some(0x0a), Some(within)) => matches!(within, 0x0a | 0x12),
        (Some(0x12), Some(within)) => within & 7 == 2 && (1..=7).contains(&(within >> 3)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(head: &[u8]) -> Option<&'static str> {
        match refusal(head) {
            Some(Error::Foreign { what, .. }) => Some(what),
            _ => None,
        }
    }

    #[test]
    fn formats_are_named() {
        for (head, expected) in [
            (
                &b"<!DOCTYPE html>\n<style>#canvas {}</style>"[..],
                "flame graph",
            ),
            (
                b"<!doctype HTML>\n<style>#canvas {}</style><div class='bordered'>",
                "heatmap",
            ),
            (b"\n<html><body>", "HTML page"),
            (b"<?xml version=\"1.0\"?>\n<svg width=\"1\">", "SVG"),
            (b"{\"resourceProfiles\": []}", "OTLP"),
            (&[0x12, 0x8d, 0xb8, 0x8b, 0x80, 0, 0x3a, 0x80], "OTLP"),
            (&[0x0a, 0x99, 0xff, 0x81, 0x80, 0, 0x12, 0x93], "OTLP"),
            (b"--- Execution profile ---\nTotal", "async-profiler"),
            (b"PERFILE2", "perf"),
            (b"JAVA PROFILE 1.0.2\0", "heap dump"),
        ] {
            let what = named(head).expect(expected);
            assert!(what.contains(expected), "{what}");
        }
    }

    #[test]
    fn formats_that_are_read_are_not_refused() {
        for head in [
            &b"a/B.m;c/D.n 5\n"[..],
            b"\n\n\na;b 5",
            b"{\"frames\": []}",
            b"\"main\" #1 prio=5",
            // A profile of pprof begins with a type of sample, or with a sample.
            &[0x0a, 4, 8, 1, 16, 2],
            &[0x12, 9, 0x0a, 5],
            b"",
        ] {
            assert_eq!(named(head), None, "{head:?}");
        }
    }
}
