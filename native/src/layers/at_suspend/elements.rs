//! Stacks as Java shows them: methods by name, and lines in place of BCIs.

use crate::jvm::jni::Env;
use crate::jvm::jvmti::{JMethodId, Jvmti};
use crate::truth::context::Truth;
use crate::walkers::walker::StackElement;
use oracle::Element;
use oracle::record::Evidence;
use oracle::trace::{Frame, Location, MethodKey};
use std::collections::HashMap;

/// The annotation of methods whose frames the VM hides from Java code.
const HIDDEN: &[u8] = b"Ljdk/internal/vm/annotation/Hidden;";

/// The annotation of methods that take part in mounting or unmounting a virtual thread.
const MOUNT_TRANSITION: &[u8] = b"Ljdk/internal/vm/annotation/JvmtiMountTransition;";

/// Frames of a method that no true stack has had so far.
const NO_METHOD: MethodKey = MethodKey(0);

/// The keys of methods by name.
#[derive(Default)]
pub struct Elements {
    /// By the binary name of the class, and the name of the method: the first such method that was seen.
    keys: HashMap<(String, String), MethodKey>,
    /// Whether a class has a method with this annotation.
    annotates: HashMap<(String, &'static [u8]), bool>,
}

impl Elements {
    /// The stack as Java may show it; `None` if a method is gone.
    pub fn of_stack(
        &mut self,
        truth: &Truth,
        env: Env<'_>,
        stack: &[Frame],
    ) -> Option<Vec<Element>> {
        let (methods, jvmti) = (&truth.methods, truth.jvm.jvmti);
        let element = |frame: &Frame| {
            let (internal, method) = methods.class_and_name(env, frame.method)?;
            let class = dotted(&internal);
            let may_be_left_out = is_of_hidden_class(&internal)
                || is_possibly_hidden(&class, &method)
                    && self.annotates(HIDDEN, jvmti, env, frame.method, &class);
            let key = self.keys.entry((class, method)).or_insert(frame.method);
            let location = match frame.location {
                Location::NATIVE => Location::NATIVE,
                location => methods
                    .line(JMethodId(frame.method.0), location)
                    .map_or(Location::UNKNOWN, |line| Location(line as i32)),
            };
            Some(Element {
                frame: Frame {
                    method: *key,
                    location,
                },
                may_be_left_out,
            })
        };
        stack.iter().map(element).collect()
    }

    /// `truth` for this answer, which may have one frame more on top.
    ///
    /// While a virtual thread mounts or unmounts, its top frame is a native method like `VirtualThread.notifyJvmtiUnmount`.
    /// GetStackTrace leaves out such frames: `JvmtiEnvBase::check_and_skip_hidden_frames` (jvmtiEnvBase.cpp) skips
    /// methods with `jvmti_mount_transition()`, "to hide notification methods". Java code shows them: the handshake of
    /// `java_lang_Thread::async_get_stack_trace` (javaClasses.cpp) skips `is_hidden()` alone. Both are right.
    pub fn as_java_shows(
        &mut self,
        truth: &Truth,
        env: Env<'_>,
        stack: &[Frame],
        (shown, answer): (&[Element], &[StackElement]),
    ) -> Vec<Element> {
        let (methods, jvmti) = (&truth.methods, truth.jvm.jvmti);
        let left_out = stack.first().zip(answer.first()).filter(|(top, element)| {
            let class = dotted(&element.class);
            let of_top = methods.class_and_name(env, top.method);
            element.line == Location::NATIVE
                && top.location != Location::NATIVE
                && of_top.is_some_and(|(of_top, _)| dotted(&of_top) == class)
                && self.annotates(MOUNT_TRANSITION, jvmti, env, top.method, &class)
        });
        let left_out = left_out.map(|_| Element {
            frame: self.of_answer(&answer[..1])[0],
            may_be_left_out: true,
        });
        left_out.into_iter().chain(shown.iter().copied()).collect()
    }

    /// Whether the constant pool of the method's class names the annotation.
    fn annotates(
        &mut self,
        annotation: &'static [u8],
        jvmti: Jvmti,
        env: Env<'_>,
        method: MethodKey,
        class: &str,
    ) -> bool {
        let key = (class.to_string(), annotation);
        if let Some(&known) = self.annotates.get(&key) {
            return known;
        }
        let declaring = jvmti.declaring_class(env, JMethodId(method.0));
        let pool = declaring.and_then(|class| jvmti.constant_pool(class.get()));
        let names = |pool: &[u8]| pool.windows(annotation.len()).any(|at| at == annotation);
        let is_named = pool.is_ok_and(|(_, pool)| names(&pool));
        self.annotates.insert(key, is_named);
        is_named
    }

    /// The stack that Java code gave.
    pub fn of_answer(&self, answer: &[StackElement]) -> Vec<Frame> {
        let frame = |element: &StackElement| {
            let name = (dotted(&element.class), element.method.clone());
            Frame {
                method: self.keys.get(&name).copied().unwrap_or(NO_METHOD),
                location: element.line,
            }
        };
        answer.iter().map(frame).collect()
    }

    /// Both stacks as text: frames show BCIs elsewhere, and have lines here.
    pub fn evidence(&self, answer: &[StackElement], truth: &[Element]) -> Evidence {
        let answered = answer.iter().map(|element| {
            let StackElement {
                class,
                method,
                line,
            } = element;
            format!("{class}.{method}:{}", line.0)
        });
        let name = |key| self.keys.iter().find(|(_, known)| **known == key);
        let shown = truth.iter().map(|element| {
            let (class, method) = name(element.frame.method).map_or(("", ""), |((c, m), _)| (c, m));
            let hidden = if element.may_be_left_out {
                " (may be hidden)"
            } else {
                ""
            };
            format!("{class}.{method}:{}{hidden}", element.frame.location.0)
        });
        let texts = [
            ("lines_of_walker", answered.collect::<Vec<_>>()),
            ("lines_of_truth", shown.collect()),
        ];
        let mut evidence = Evidence::default();
        let texts = texts.map(|(name, lines)| (name.to_string(), lines.join("; ")));
        evidence.other.extend(texts);
        evidence
    }
}

/// A name with dots in place of slashes: internal names have slashes, and so has the suffix of a hidden class in some
/// answers.
fn dotted(name: &str) -> String {
    name.replace('/', ".")
}

/// Whether this is the internal name of a hidden class: only there JVMTI gives names with a dot. The VM hides frames
/// of hidden classes (JEP 371).
fn is_of_hidden_class(internal: &str) -> bool {
    internal.contains('.')
}

/// Whether the VM hides frames of this method, if it hides frames of the method's class. In `Thread` it is one method.
fn is_possibly_hidden(class: &str, method: &str) -> bool {
    class != "java.lang.Thread" || method == "runWith"
}
