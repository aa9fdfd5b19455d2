//! The queue of samples whose stacks are walked where the thread is suspended.
//!
//! A signal handler enqueues the top frame of its thread, and a [`Mark`](mark::Mark) of the frames below. A
//! helper thread stops the thread soon after (JVMTI SuspendThread), walks the frames below the top, and calls the
//! handler of the queue for each element. Frames to which the thread has returned in between are not
//! reported: the iterator ends with an error there.
//!
//! | module | holds |
//! |---|---|
//! | [`mark`] | what an element keeps of the stack |
//! | [`elements`] | the elements of one thread, and who owns them |
//! | [`halves`] | the two halves of the elements: one is filled while the other is processed |
//! | [`helper`] | all queues, and the thread that processes them |
//! | [`stop`] | a thread that is stopped, whatever it runs |
//! | [`stack`] | the stack of the thread whose elements are processed |
//! | [`jvmti`] | the functions of JVMTI that this needs |

pub mod elements;
pub mod halves;
pub mod helper;
pub mod jvmti;
pub mod mark;
pub mod room;
pub mod stack;
pub mod stop;
