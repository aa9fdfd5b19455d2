//! Frames as APIs show them that give classes, methods and lines, such as `Thread.getStackTrace`.

use crate::trace::Frame;

/// A frame of the true stack, as an API shows it that gives no BCI.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct Element {
    /// The method, and the line in place of the BCI. All methods of one name in classes of one name have one key.
    pub frame: Frame,
    /// Whether the API may leave the frame out: the VM hides frames of some methods.
    pub may_be_left_out: bool,
}
