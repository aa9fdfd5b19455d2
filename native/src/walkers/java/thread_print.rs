//! The text of a thread dump: the diagnostic command `Thread.print`, which `jcmd PID Thread.print` runs.

use super::prepared::JavaCode;
use crate::jvm::calls::{Argument, ObjectMethod};
use crate::jvm::jni::{Env, Global, Local, Ref};
use crate::walkers::walker::{StackElement, Walked};
use oracle::trace::Location;

/// The walker, in JDKs with the module `jdk.management`.
pub struct ThreadPrint {
    commands: Global,
    execute: ObjectMethod,
    command: Global,
}

impl JavaCode for ThreadPrint {
    const NAME: &'static str = "thread-print";

    fn find(env: Env<'_>) -> Option<ThreadPrint> {
        // This class loads the library of the command's native method when it is initialised.
        let provider = c"com/sun/management/internal/PlatformMBeanProviderImpl";
        let provider = env.find_class(provider)?;
        let list = c"getPlatformComponentList";
        env.object_method(provider.get(), list, c"()Ljava/util/List;")?;
        let class = env.find_class(c"com/sun/management/internal/DiagnosticCommandImpl")?;
        let bean = c"()Lcom/sun/management/DiagnosticCommandMBean;";
        let get = env.static_object_method(class.get(), c"getDiagnosticCommandMBean", bean)?;
        let commands = env.call_static(class.get(), get)?;
        let (execute, runs) = (
            c"executeDiagnosticCommand",
            c"(Ljava/lang/String;)Ljava/lang/String;",
        );
        let execute = env.object_method(class.get(), execute, runs)?;
        let command = env.string(c"Thread.print")?;
        env.call(commands.get(), execute, &[Argument::Object(command.get())])?;
        Some(ThreadPrint {
            execute,
            commands: env.global(commands.get())?,
            command: env.global(command.get())?,
        })
    }

    fn ask<'e>(&self, env: Env<'e>, _: Walked<'_>) -> Option<Local<'e>> {
        let command = Argument::Object(self.command.get());
        env.call(self.commands.get(), self.execute, &[command])
    }

    fn read(&self, env: Env<'_>, answer: Ref<'_>, thread: Walked<'_>) -> Option<Vec<StackElement>> {
        stack_of(&env.text(answer)?, thread.tid)
    }
}

/// The stack of the thread with this kernel id in a thread dump; `None` if the dump has no such thread, or shows a
/// frame in an unknown form. The frames of a virtual thread that the thread carries come after its own.
fn stack_of(dump: &str, tid: i32) -> Option<Vec<StackElement>> {
    let is_of = |line: &str| line.starts_with('"') && kernel_id(line) == Some(tid);
    let lines = dump.lines().skip_while(|line| !is_of(line));
    let is_own = |line: &&str| !line.is_empty() && !line.contains("Mounted virtual thread");
    let mut lines = lines.take_while(is_own).peekable();
    lines.peek()?;
    let frames = lines.filter_map(|line| line.trim_start().strip_prefix("at "));
    frames.map(element).collect()
}

/// The kernel id in a thread's first line: hexadecimal up to JDK 20, decimal since JDK 21.
fn kernel_id(line: &str) -> Option<i32> {
    let id = line.rsplit_once(" nid=")?.1;
    let id = id.split(' ').next()?;
    match id.strip_prefix("0x") {
        Some(digits) => i32::from_str_radix(digits, 16).ok(),
        None => id.parse().ok(),
    }
}

/// A frame such as `java.lang.Object.wait(java.base@17.0.15/Object.java:338)`.
fn element(frame: &str) -> Option<StackElement> {
    let (method, place) = frame.strip_suffix(')')?.split_once('(')?;
    let (class, method) = method.rsplit_once('.')?;
    let place = place.rsplit_once('/').map_or(place, |(_, place)| place);
    let line = match place {
        "Native Method" => Location::NATIVE,
        _ => {
            let line = place.rsplit_once(':').map(|(_, line)| line.parse());
            line.transpose().ok()?.map_or(Location::UNKNOWN, Location)
        }
    };
    Some(StackElement {
        class: class.into(),
        method: method.into(),
        line,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMP: &str = "2026-11-23 01:00:00\nFull thread dump OpenJDK 64-Bit Server VM:\n\n\
        \"main\" #1 prio=5 os_prio=0 cpu=1.0ms elapsed=1.0s tid=0x7f nid=0x1f runnable  [0x7f00]\n   \
        java.lang.Thread.State: RUNNABLE\n\
        \tat java.lang.Object.wait(java.base@17.0.15/Native Method)\n\
        \t- waiting on <0x00> (a java.lang.Object)\n\
        \tat Some$$Lambda/0x000001.run(Unknown Source)\n\
        \tat a.B.<init>(app//B.java:12)\n\
        \tat a.B.main(B.java)\n\n\
        \"at work\" #2 nid=33 runnable\n\tat C.d(C.java:1)\n\n";

    #[test]
    fn the_frames_of_one_thread_are_read() {
        let frame = |class: &str, method: &str, line| StackElement {
            class: class.into(),
            method: method.into(),
            line,
        };
        let expected = vec![
            frame("java.lang.Object", "wait", Location::NATIVE),
            frame("Some$$Lambda/0x000001", "run", Location::UNKNOWN),
            frame("a.B", "<init>", Location(12)),
            frame("a.B", "main", Location::UNKNOWN),
        ];
        assert_eq!(stack_of(DUMP, 0x1f), Some(expected));
        assert_eq!(stack_of(DUMP, 33), Some(vec![frame("C", "d", Location(1))]));
        assert_eq!(stack_of(DUMP, 34), None);
    }

    #[test]
    fn a_frame_in_an_unknown_form_is_not_guessed() {
        for frame in ["a.B.c", "abc(B.java:1)", "a.B.c(B.java:x)"] {
            assert_eq!(element(frame), None, "{frame}");
        }
    }
}
