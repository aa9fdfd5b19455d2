//! Stack map frames (JVMS 4.7.4), written in the smallest form.

use super::vtype::{OBJECT, VType};

/// Writes the frames of one `StackMapTable`, each in its smallest form.
#[derive(Debug)]
pub struct FrameWriter<'s> {
    out: &'s mut Vec<u8>,
    /// Where the attribute starts in `out`.
    start: usize,
    last: Option<u32>,
    count: u32,
    /// The locals of the frame before.
    before: &'s mut Vec<VType>,
}

impl<'s> FrameWriter<'s> {
    /// Starts the attribute. `initial` holds the locals at method entry, and is changed by the
    /// writer.
    pub fn new(out: &'s mut Vec<u8>, name_index: u16, initial: &'s mut Vec<VType>) -> Self {
        let start = out.len();
        out.extend_from_slice(&name_index.to_be_bytes());
        out.extend_from_slice(&[0; 6]);
        Self {
            out,
            start,
            last: None,
            count: 0,
            before: initial,
        }
    }

    /// Adds a frame. `resolve` returns the class constants of parameters. If `resolve` fails, the
    /// frame is not complete.
    pub fn add<E>(
        &mut self,
        bci: u32,
        locals: &[VType],
        stack: &[VType],
        mut resolve: impl FnMut(u16) -> Result<u16, E>,
    ) -> Result<(), E> {
        let delta = (bci - self.last.map_or(0, |last| last + 1)) as u16;
        let d = delta.to_be_bytes();
        let (was, is) = (self.before.len(), locals.len());
        let common = self
            .before
            .iter()
            .zip(locals)
            .take_while(|(a, b)| a == b)
            .count();
        let same = common == was && common == is;
        let mut types = |out: &mut Vec<u8>, types: &[VType]| {
            for t in types {
                let (tag, data) = match *t {
                    VType::Parameter(nth) => (OBJECT, Some(resolve(nth)?)),
                    other => other.parts(),
                };
                out.push(tag);
                if let Some(data) = data {
                    out.extend_from_slice(&data.to_be_bytes());
                }
            }
            Ok(())
        };
        let out = &mut *self.out;
        match stack {
            [] if same && delta < 64 => out.push(delta as u8),
            [] if same => out.extend_from_slice(&[251, d[0], d[1]]),
            [] if common == was && is - was <= 3 => {
                out.extend_from_slice(&[251 + (is - was) as u8, d[0], d[1]]);
                types(out, &locals[was..])?;
            }
            [] if common == is && was - is <= 3 => {
                out.extend_from_slice(&[251 - (was - is) as u8, d[0], d[1]]);
            }
            [_] if same && delta < 64 => {
                out.push(64 + delta as u8);
                types(out, stack)?;
            }
            [_] if same => {
                out.extend_from_slice(&[247, d[0], d[1]]);
                types(out, stack)?;
            }
            _ => {
                out.extend_from_slice(&[255, d[0], d[1]]);
                out.extend_from_slice(&(is as u16).to_be_bytes());
                types(out, locals)?;
                out.extend_from_slice(&(stack.len() as u16).to_be_bytes());
                types(out, stack)?;
            }
        }
        self.last = Some(bci);
        self.count += 1;
        self.before.truncate(common);
        self.before.extend_from_slice(&locals[common..]);
        Ok(())
    }

    /// Ends the attribute; `false` if it has more frames than its count can hold.
    pub fn finish(self) -> bool {
        let n = (self.out.len() - self.start - 6) as u32;
        self.out[self.start + 2..self.start + 6].copy_from_slice(&n.to_be_bytes());
        self.out[self.start + 6..self.start + 8]
            .copy_from_slice(&(self.count as u16).to_be_bytes());
        self.count <= 65535
    }
}
