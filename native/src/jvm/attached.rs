//! A thread of the agent that is attached to the VM, and for whose end the end of the VM waits.

use super::jni::{Env, Vm};
use std::ffi::CStr;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;
use std::{io, thread};

/// Lets a thread attach itself and end, with a name and without one, and waits for its end.
///
/// The VM posts no ClassPrepare event for a class that a thread prepares while it attaches itself, as the thread has no
/// JVMTI state yet (`jvmtiExport.cpp`). Seen with `SoftReference` and `Class$ReflectionData` on 21 and 25, and with
/// `Thread$ThreadNumbering`. Behind this call such classes are prepared, unless later threads need others.
pub fn rehearse(vm: Vm) {
    let attach = move || {
        for name in [Some(c"Stackwitness"), None] {
            vm.attached(name, |_| ());
        }
    };
    // Without this thread the classes are found later, one by one.
    _ = thread::Builder::new()
        .spawn(attach)
        .map(|thread| thread.join());
}

/// A thread that is started at most once.
pub struct AttachedThread {
    /// Gets a word when the thread has ended.
    ended: OnceLock<Mutex<Receiver<()>>>,
    /// How long the end of the VM waits.
    patience: Duration,
}

impl AttachedThread {
    /// A thread that was not started. The end of the VM waits for it for this long.
    pub const fn new(patience: Duration) -> AttachedThread {
        AttachedThread {
            ended: OnceLock::new(),
            patience,
        }
    }

    /// Starts the thread under this name, as a daemon thread of the VM. In the live phase.
    pub fn start(
        &self,
        vm: Vm,
        name: &'static CStr,
        work: impl FnOnce(Env<'_>) + Send + 'static,
    ) -> io::Result<()> {
        let (end, ended) = channel();
        _ = self.ended.set(Mutex::new(ended));
        let body = move || {
            vm.attached(Some(name), work);
            _ = end.send(());
        };
        let named = thread::Builder::new().name(name.to_string_lossy().into_owned());
        named.spawn(body).map(drop)
    }

    /// Waits for the end of the thread, if it was started. Returns false if the end does not come in time.
    pub fn finish(&self) -> bool {
        let ended = self.ended.get().map(|ended| ended.lock());
        ended.is_none_or(|ended| ended.is_ok_and(|ended| ended.recv_timeout(self.patience).is_ok()))
    }
}
