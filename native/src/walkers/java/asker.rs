//! The thread that runs the Java code of walkers.
//!
//! A suspended thread may hold a lock that the Java code needs. So the caller waits for a limited time, and lets the
//! suspended thread run on in any case: then the Java code ends, and its answers are not used.

use crate::jvm::Jvm;
use crate::jvm::attached::AttachedThread;
use crate::jvm::jni::{Env, Global, Local};
use crate::walkers::walker::{StackElement, Walked, WalksInJava};
use oracle::Layer;
use std::io;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How long the answers may take while the thread is suspended.
const ASKED: Duration = Duration::from_millis(500);

/// How long the answers may take to be read.
const READ: Duration = Duration::from_secs(5);

/// How long the VM's end waits for the thread.
const END: Duration = Duration::from_secs(1);

static THREAD: AttachedThread = AttachedThread::new(END);

/// A walker, and the layer that asks it.
pub type Row = (Layer, &'static dyn WalksInJava);

/// A stack; `None` if the walker gave none.
pub type Answer = Option<Vec<StackElement>>;

/// A thread to walk, and the walkers to ask.
struct Request {
    rows: Range<usize>,
    thread: Global,
    tid: i32,
}

/// What the thread reports.
enum Report {
    /// All walkers were asked.
    Asked,
    /// What they answered, in the order of their rows.
    Read(Vec<Answer>),
}

/// The thread that asks.
pub struct Asker {
    rows: Vec<Layer>,
    /// The first rows, whose walkers walk virtual threads too.
    of_virtual: usize,
    /// `None` at the end.
    requests: Option<Sender<Request>>,
    reports: Receiver<Report>,
    /// The kernel id of the thread.
    own: Arc<OnceLock<i32>>,
    /// Whether an answer that nobody waits for is still to come.
    is_late: bool,
}

impl Asker {
    /// Starts the thread for these walkers; `None` if there are none.
    pub fn start(jvm: &'static Jvm, mut rows: Vec<Row>) -> io::Result<Option<Asker>> {
        if rows.is_empty() {
            return Ok(None);
        }
        rows.sort_by_key(|(_, walker)| !walker.walks_virtual());
        let of_virtual = rows.partition_point(|(_, walker)| walker.walks_virtual());
        let (requests, asked) = channel::<Request>();
        let (report, reports) = channel();
        let own = Arc::new(OnceLock::new());
        let (layers, id) = (rows.iter().map(|&(layer, _)| layer).collect(), own.clone());
        THREAD.start(jvm.vm, c"Stackwitness asks Java", move |env| {
            _ = id.set(crate::jvm::os::thread::id());
            for request in asked {
                let ended = answer(env, &rows, &request, &report);
                request.thread.delete(env);
                if ended.is_none() {
                    break;
                }
            }
        })?;
        Ok(Some(Asker {
            rows: layers,
            of_virtual,
            requests: Some(requests),
            reports,
            own,
            is_late: false,
        }))
    }

    /// The layers that ask.
    pub fn layers(&self) -> &[Layer] {
        &self.rows
    }

    /// The layers that ask for the stack of such a thread. Those of virtual threads are the first of
    /// [`Asker::layers`].
    pub fn layers_of(&self, is_virtual: bool) -> &[Layer] {
        if is_virtual {
            &self.rows[..self.of_virtual]
        } else {
            &self.rows
        }
    }

    /// Whether the thread with this kernel id is the one that asks.
    pub fn is(&self, tid: i32) -> bool {
        self.own.get() == Some(&tid)
    }

    /// Asks the walkers of these rows for the stack of `thread`, which may be suspended. Returns false if they did not
    /// answer in time.
    pub fn ask(&mut self, env: Env<'_>, thread: Walked<'_>, rows: Range<usize>) -> bool {
        while self.is_late {
            match self.reports.try_recv() {
                Ok(Report::Asked) => {}
                Ok(Report::Read(_)) => self.is_late = false,
                Err(_) => return false,
            }
        }
        let Some(object) = env.global(thread.object) else {
            return false;
        };
        let request = Request {
            rows,
            thread: object,
            tid: thread.tid,
        };
        let sent = self
            .requests
            .as_ref()
            .map(|requests| requests.send(request));
        self.is_late = sent.is_some_and(|sent| sent.is_ok());
        let is_asked = self.reports.recv_timeout(ASKED);
        matches!(is_asked, Ok(Report::Asked))
    }

    /// The answers after [`Asker::ask`] returned true, when the thread runs again. `None` if they did not come in time.
    pub fn answers(&mut self) -> Option<Vec<Answer>> {
        match self.reports.recv_timeout(READ) {
            Ok(Report::Read(answers)) => {
                self.is_late = false;
                Some(answers)
            }
            _ => None,
        }
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        self.requests = None;
        // Where Java code does not end, the thread is a daemon.
        _ = THREAD.finish();
    }
}

/// Asks the walkers of the request, and reports. `None` if nobody listens any more.
fn answer(env: Env<'_>, rows: &[Row], request: &Request, report: &Sender<Report>) -> Option<()> {
    let thread = Walked {
        object: request.thread.get(),
        tid: request.tid,
    };
    let rows = &rows[request.rows.clone()];
    let asked = rows.iter().map(|(_, walker)| walker.ask(env, thread));
    let asked: Vec<Option<Local<'_>>> = asked.collect();
    report.send(Report::Asked).ok()?;
    let read = rows.iter().zip(&asked).map(|((_, walker), answer)| {
        let answer = answer.as_ref()?;
        walker.read(env, answer.get(), thread)
    });
    report.send(Report::Read(read.collect())).ok()
}
