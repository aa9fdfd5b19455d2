//! Constants that frames name.

use classfile::pool::{Additions, PoolFull};
use std::borrow::Cow;

/// Constants of a class that its frames name, each added when first needed.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub(super) attribute: Option<u16>,
    throwable: Option<u16>,
    overflow: Option<u16>,
}

impl Names {
    pub(super) fn throwable(&mut self, adds: &mut Additions<'_, '_>) -> Result<u16, PoolFull> {
        class(&mut self.throwable, adds, b"java/lang/Throwable")
    }

    pub(crate) fn overflow(&mut self, adds: &mut Additions<'_, '_>) -> Result<u16, PoolFull> {
        class(&mut self.overflow, adds, b"java/lang/StackOverflowError")
    }
}

fn class(
    known: &mut Option<u16>,
    adds: &mut Additions<'_, '_>,
    name: &'static [u8],
) -> Result<u16, PoolFull> {
    match *known {
        Some(index) => Ok(index),
        None => Ok(*known.insert(adds.class(Cow::Borrowed(name))?)),
    }
}
