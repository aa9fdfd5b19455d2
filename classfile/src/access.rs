//! Access flags of classes, fields and methods (JVMS tables 4.1-B, 4.5-A, 4.6-A) that the workspace
//! uses.

/// `ACC_PUBLIC`.
pub const PUBLIC: u16 = 0x0001;
/// `ACC_PRIVATE`.
pub const PRIVATE: u16 = 0x0002;
/// `ACC_PROTECTED`.
pub const PROTECTED: u16 = 0x0004;
/// `ACC_STATIC`.
pub const STATIC: u16 = 0x0008;
/// `ACC_FINAL`.
pub const FINAL: u16 = 0x0010;
/// `ACC_SYNCHRONIZED`, of methods.
pub const SYNCHRONIZED: u16 = 0x0020;
/// `ACC_TRANSIENT`, of fields.
pub const TRANSIENT: u16 = 0x0080;
/// `ACC_VARARGS`, of methods.
pub const VARARGS: u16 = 0x0080;
/// `ACC_NATIVE`.
pub const NATIVE: u16 = 0x0100;
/// `ACC_INTERFACE`.
pub const INTERFACE: u16 = 0x0200;
/// `ACC_ABSTRACT`.
pub const ABSTRACT: u16 = 0x0400;
/// `ACC_SYNTHETIC`.
pub const SYNTHETIC: u16 = 0x1000;
