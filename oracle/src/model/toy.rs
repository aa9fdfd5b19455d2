//! Methods for tests.

use crate::trace::{HookId, Location, MethodKey, Methods, Presence, Site};

/// Methods whose number passes the test have a hook of this number, and stand in their own code. No
/// method is a hook or a constructor.
pub struct InOwnCode(pub fn(usize) -> bool);

impl Methods for InOwnCode {
    fn hook(&self, method: MethodKey, _: Location) -> Option<(HookId, Presence)> {
        let MethodKey(number) = method;
        (self.0)(number).then_some((HookId(number as u32), Presence::Present))
    }

    fn is_hook_call(&self, _: MethodKey) -> bool {
        false
    }

    fn is_constructor(&self, _: HookId) -> bool {
        false
    }

    fn site(&self, _: MethodKey, _: Location) -> Site {
        Site::Unknown
    }
}
