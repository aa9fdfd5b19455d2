//! A known class, in compact form.

use super::names::{ClassName, MethodId, Signature};
use classfile::outline::{Bcis, Refers};

/// The referent of a site, interned.
pub(super) type Refer = Refers<MethodId, ClassName>;

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Code {
    /// [`classfile::instruction::fingerprint`] of the bytes.
    pub(super) fingerprint: u64,
    pub(super) starts: Bcis,
    pub(super) throwing: Bcis,
    pub(super) sites: Box<[(u16, Refer)]>,
}

impl Code {
    pub(super) fn starts_at(&self, bci: u32) -> bool {
        self.starts.contains(bci)
    }

    pub(super) fn throws_at(&self, bci: u32) -> bool {
        self.throwing.contains(bci)
    }

    /// The first instruction, an instruction that may throw, and all instructions that call or
    /// link.
    pub(super) fn calling(&self) -> impl Iterator<Item = u32> + '_ {
        let throwing = (0..=u32::from(u16::MAX)).find(|&bci| self.throws_at(bci));
        let sites = self.sites.iter().map(|site| u32::from(site.0));
        sites.chain(throwing).chain([0])
    }

    pub(super) fn site(&self, bci: u32) -> Option<Refer> {
        let bci = u16::try_from(bci).ok()?;
        let at = self.sites.binary_search_by_key(&bci, |site| site.0).ok()?;
        Some(self.sites[at].1)
    }
}

/// A method that a class declares.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Declared {
    pub(super) signature: Signature,
    pub(super) flags: u16,
    pub(super) code: Option<Box<Code>>,
}

impl Declared {
    pub(super) fn is(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }
}

/// A known class.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Class {
    pub(super) super_name: Option<ClassName>,
    pub(super) interfaces: Box<[ClassName]>,
    pub(super) is_interface: bool,
    /// By signature.
    pub(super) methods: Box<[Declared]>,
}

impl Class {
    pub(super) fn method(&self, signature: Signature) -> Option<&Declared> {
        let methods = &self.methods;
        let at = methods.binary_search_by_key(&signature, |method| method.signature);
        Some(&methods[at.ok()?])
    }

    pub(super) fn methods(&self) -> impl Iterator<Item = &Declared> {
        self.methods.iter()
    }

    /// The direct supertypes.
    pub(super) fn above(&self) -> impl Iterator<Item = ClassName> + '_ {
        self.super_name.iter().chain(&self.interfaces).copied()
    }
}
