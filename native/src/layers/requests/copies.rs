//! Requests that the JVM makes itself, with copies of trace stacks.

use super::lines::Lines;
use super::source::Source;
use crate::jvm::os::requests::pool::Reader;
use crate::jvm::os::requests::wrapping::{Asking, wrap};
use crate::sampling::requests::{self, Copy};
use crate::truth::read_stack::ReadStack;
use oracle::record::Config;
use oracle::requests::{Copied, Request, RequestLine};
use std::io;

/// The copies.
pub struct Copies {
    reader: Reader<Copy>,
    asked: Vec<Asking>,
}

impl Copies {
    /// Starts to copy for the layers of `config`.
    pub fn begin(config: &Config) -> io::Result<Copies> {
        let asked = [Asking::Suspension, Asking::CpuTime].into_iter();
        let is_asked = |&asking: &Asking| config.layers.contains(&requests::layer(asking));
        Ok(Copies {
            reader: requests::make()?,
            asked: asked.filter(is_asked).collect(),
        })
    }
}

impl Source for Copies {
    fn write_new(&mut self, lines: &mut Lines<'_>) -> io::Result<usize> {
        for &asking in &self.asked {
            wrap(asking, requests::around)?;
        }
        let mut written = Ok(());
        let count = self.reader.read(|copy| {
            if written.is_ok() {
                written = write(copy, lines);
            }
        });
        written.map(|()| count)
    }

    fn end(&mut self, lines: &mut Lines<'_>) -> io::Result<()> {
        for &asking in &self.asked {
            let lost = requests::lost(asking);
            lines.write(&RequestLine::Lost(requests::layer(asking), lost))?;
        }
        Ok(())
    }
}

fn write(copy: &Copy, lines: &mut Lines<'_>) -> io::Result<()> {
    let stack = match copy.copied {
        Err(cause) => Copied::Lost(cause),
        Ok(()) => {
            let stack = ReadStack::new(&copy.stack, &lines.layers.truth.methods);
            let (number, new) = lines.interned.truth(&stack);
            if let Some(truth) = new {
                lines.write(&RequestLine::Truth(number, truth))?;
            }
            Copied::Truth(number)
        }
    };
    lines.write_code(copy.pc)?;
    lines.write(&RequestLine::Request(Request {
        layer: requests::layer(copy.asking),
        tid: copy.tid,
        from: copy.during.0,
        to: copy.during.1,
        stack,
        carried: copy.carried,
        pc: copy.pc,
    }))
}
