/*
 * AsyncGetStackTrace, the frame iterator and the safepoint queue, for stock JDKs 17 to 28 on x86-64
 * Linux (libasgst.so). docs/walker.md says what they promise and what they cost.
 *
 * Names, structs, options, kinds and error codes are those of JEP 435 and of the two proposals that
 * followed it. Names that none of these documents has are under "Extensions".
 */
#ifndef ASGST_PROFILE2_H
#define ASGST_PROFILE2_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The version of this header. The library follows semantic versioning: a program that was compiled with an
 * older header of the same major version runs with a newer library. The name that the loader looks for has the
 * major version (libasgst.so.0), and each symbol has the version that introduced it (ASGST_0.1).
 */
#define ASGST_VERSION_MAJOR 0
#define ASGST_VERSION_MINOR 1
#define ASGST_VERSION_PATCH 0
#define ASGST_VERSION_NUMBER(major, minor, patch) ((major)*1000000 + (minor)*1000 + (patch))
#define ASGST_VERSION ASGST_VERSION_NUMBER(ASGST_VERSION_MAJOR, ASGST_VERSION_MINOR, ASGST_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Options, kinds, types and error codes --------------------------------------------------- */

enum ASGST_Options {
  /* include C/C++ and stub frames too */
  ASGST_INCLUDE_C_FRAMES = 1,
  /* the iterator's name for this option */
  ASGST_INCLUDE_NON_JAVA_FRAMES = 1,
  /* walk the stacks of C/C++, GC and compiler threads too */
  ASGST_INCLUDE_NON_JAVA_THREADS = 2,
  /* extension: where no debug info tells which methods are inlined, give those that the records on both sides have in
     common, as ASGST_FRAME_LIKELY */
  ASGST_GUESS_INLINED = 4
};

enum ASGST_TRACE_KIND {
  ASGST_JAVA_TRACE = 0,  /* of a Java thread */
  ASGST_CPP_TRACE = 1,   /* of a thread that has no Java frame: frames of C and C++ alone */
  ASGST_GC_TRACE = 2,    /* of a Java thread that stands still for a collection */
  ASGST_DEOPT_TRACE = 3, /* of a Java thread that exchanges a compiled frame for interpreted ones */
  ASGST_UNKNOWN_TRACE = 4
};

enum ASGST_FrameTypeId {
  ASGST_FRAME_JAVA = 1,         /* JIT compiled and interpreted */
  ASGST_FRAME_JAVA_INLINED = 2, /* inlined JIT compiled */
  ASGST_FRAME_NATIVE = 3,       /* native wrapper to call C methods from Java */
  ASGST_FRAME_STUB = 4,         /* stubs that the VM generated */
  ASGST_FRAME_CPP = 5,          /* C/C++/... frames */
  /* the iterator's names */
  ASGST_FRAME_JAVA_NATIVE = 3,
  ASGST_FRAME_NON_JAVA = 4
};

enum ASGST_Error {
  ASGST_NO_FRAME = 0,             /* come to an end */
  ASGST_NO_THREAD = -1,           /* no Java thread runs here */
  ASGST_THREAD_EXIT = -2,         /* dying thread */
  ASGST_UNSAFE_STATE = -3,        /* thread is in an unsafe state */
  ASGST_NO_TOP_JAVA_FRAME = -4,   /* no top Java frame */
  ASGST_ENQUEUE_NO_QUEUE = -5,    /* no queue registered */
  ASGST_ENQUEUE_FULL_QUEUE = -6,  /* safepoint queue is full */
  ASGST_ENQUEUE_OTHER_ERROR = -7, /* other error, like currently at a safepoint */
  /* everything lower than -16 is of this implementation: */
  ASGST_NOT_READY = -17,        /* ASGST_Initialize was not called, or failed */
  ASGST_UNWALKABLE_TOP = -18,   /* the code at the top cannot be walked at this instruction */
  ASGST_UNWALKABLE_CALLER = -19, /* a caller cannot be walked */
  ASGST_TORN_STACK = -20,       /* what was read makes no sense, or is gone */
  ASGST_DEOPTIMIZING = -21,     /* compiled frames are being exchanged for interpreted ones */
  /* of an enqueued element, behind its first frames: */
  ASGST_QUEUE_LEFT = -22,         /* the thread has returned to the frames below since */
  ASGST_QUEUE_UNMOUNTED = -23,    /* the virtual thread has left its carrier since */
  ASGST_QUEUE_NOT_SUSPENDED = -24 /* the thread could not be suspended: it has ended, for example */
};

/* ---- AsyncGetStackTrace (JEP 435) ------------------------------------------------------------- */

typedef struct {
  uint8_t type;      /* frame type */
  int8_t comp_level; /* compilation level, 0 is interpreted, -1 is undefined, > 0 is JIT compiled */
  uint16_t bci;      /* bytecode index; 0 if there is none, or it is not known (see flags) */
  uint32_t flags;    /* extension, in what was padding: ASGST_FrameFlags */
  jmethodID method_id; /* null if none was made for the method */
} ASGST_JavaFrame;     /* of ASGST_FRAME_JAVA, _JAVA_INLINED and _NATIVE */

typedef struct {
  uint8_t type;       /* frame type */
  void *pc;           /* current program counter inside this frame */
} ASGST_NonJavaFrame; /* of ASGST_FRAME_STUB and _CPP */

typedef union {
  uint8_t type; /* to distinguish between JavaFrame and NonJavaFrame */
  ASGST_JavaFrame java_frame;
  ASGST_NonJavaFrame non_java_frame;
} ASGST_CallFrame;

typedef struct {
  jint num_frames;         /* number of frames in this trace; <= 0: an ASGST_Error */
  uint8_t kind;            /* kind of the trace: ASGST_TRACE_KIND */
  ASGST_CallFrame *frames; /* frames that make up this trace, callees first */
  void *frame_info;        /* more information on frames; not touched */
} ASGST_CallTrace;

/*
 * Stores at most depth frames of the calling thread, which was interrupted at ucontext: what its signal handler was given.
 * If ucontext is null, the walk begins at the thread's last Java frame: for native methods and events of JVMTI, where
 * nothing is interrupted. Without room (depth <= 0, or frames is null) num_frames is 0 for a stack that can be
 * walked. Unknown options are ignored. Async-signal-safe.
 */
void AsyncGetStackTrace(ASGST_CallTrace *trace, jint depth, void *ucontext, uint32_t options);

/* ---- The frame iterator ----------------------------------------------------------------------- */

typedef struct ASGST_Iterator ASGST_Iterator;
/*
 * Handles of methods and classes, which are no addresses: ask for their names, or compare them. No other class gets the handles
 * of a class that was unloaded.
 */
typedef struct ASGST_MethodOpaque *ASGST_Method;
typedef struct ASGST_ClassOpaque *ASGST_Class;

typedef struct {
  uint8_t type;        /* frame type: ASGST_FRAME_JAVA, _JAVA_INLINED, _JAVA_NATIVE or _NON_JAVA */
  uint8_t flags;       /* extension, in what was padding: ASGST_FrameFlags */
  int comp_level;      /* compilation level, 0 is interpreted, -1 is undefined */
  int bci;             /* -1 if there is none, or it is not known */
  ASGST_Method method; /* null if not available */
  void *pc;            /* current program counter inside this frame */
  void *sp;            /* current stack pointer inside this frame, might be null */
  void *fp;            /* current frame pointer inside this frame, might be null */
} ASGST_Frame;

typedef void (*ASGST_IteratorHandler)(ASGST_Iterator *iterator, void *argument);

/*
 * Creates an iterator on the stack and calls fun with it and argument; ucontext is that of AsyncGetStackTrace.
 * Returns an ASGST_Error (<= 0), or 1 + the ASGST_TRACE_KIND: 1, 3 or 4 with Java frames.
 * Async-signal-safe.
 */
int ASGST_RunWithIterator(void *ucontext, int32_t options, ASGST_IteratorHandler fun,
                          void *argument);

/*
 * Likewise, from a frame. The thread whose stack it lies on must be the calling one, or stopped.
 */
int ASGST_RunWithIteratorFromFrame(void *sp, void *fp, void *pc, int options,
                                   ASGST_IteratorHandler fun, void *argument);

/* Obtains the next frame: 1 if there is one, 0 at the end, or an ASGST_Error. Async-signal-safe. */
int ASGST_NextFrame(ASGST_Iterator *iterator, ASGST_Frame *frame);

/* Rewinds an iterator to the top frame. Async-signal-safe. */
void ASGST_RewindIterator(ASGST_Iterator *iterator);

/*
 * State of the iterator, as the next ASGST_NextFrame returns it; ASGST_NO_FRAME if iterator is
 * null. Async-signal-safe.
 */
int ASGST_State(ASGST_Iterator *iterator);

/*
 * State of the calling thread, as a subset of the JVMTI thread state: JVMTI_THREAD_STATE_ALIVE with _RUNNABLE (and _IN_NATIVE),
 * with _BLOCKED_ON_MONITOR_ENTER, with _WAITING and _IN_OBJECT_WAIT or _PARKED, or with _WAITING, _WAITING_WITH_TIMEOUT and
 * _SLEEPING. Whether another wait has a time limit is not known. _ALIVE alone in the VM's own code, for which JVMTI says
 * _RUNNABLE; 0 if no Java thread runs here. Async-signal-safe.
 */
int ASGST_ThreadState(void);

/* ---- The safepoint queue ---------------------------------------------------------------------- */

/*
 * A stock JDK calls nobody at a safepoint. So a thread of this library calls the handlers soon after a
 * sample. An element has the stack at the instant of the sample: ASGST_Enqueue keeps its frames, as long as the queue has room
 * for them, 64 frames an element on average. Of a stack without room it keeps the first frames, and the library suspends the
 * thread of the queue (JVMTI SuspendThread) for the others. These
 * are given if the thread has not returned to them in between; otherwise ASGST_NextFrame returns an
 * ASGST_Error behind the first frames: ASGST_QUEUE_LEFT, _UNMOUNTED or _NOT_SUSPENDED, or why the
 * frames cannot be walked.
 *
 * A queue belongs to a platform thread. While this thread carries a virtual thread, samples have the
 * frames of the virtual thread, and those of the carrier below. Where the library suspends the thread, it suspends
 * the virtual thread then. Frames that the virtual thread has in the heap are ASGST_UNWALKABLE_CALLER.
 *
 * Each element is given to the handler once: after it was enqueued, or when its queue is removed.
 */

typedef struct ASGST_Queue ASGST_Queue;

typedef struct {
  void *pc;  /* of the top Java frame */
  void *sp;
  void *fp;
  void *arg; /* the argument of ASGST_Enqueue; may be modified */
} ASGST_QueueElement;

typedef struct {
  jint size;     /* number of elements that wait */
  jint capacity; /* capacity of the queue */
  jint attempts; /* attempts to enqueue since the last elements were taken to be processed */
} ASGST_QueueSizeInfo;

/*
 * Called for each element, oldest first. Its thread may run meanwhile, unless a handler of the queue is offered an iterator
 * (ASGST_SetOnQueueProcessingStart, ASGST_SetOnQueueProcessingEnd), or an element lacks frames. May allocate and lock, but
 * must call neither JVMTI nor the functions of this part that are not async-signal-safe.
 */
typedef void (*ASGST_Handler)(ASGST_Iterator *iterator, void *queue_arg, void *arg);

/* Called before or after the elements of a queue are processed; iterator is null unless it was offered. */
typedef void (*ASGST_OnQueueSafepointHandler)(ASGST_Queue *queue, ASGST_Iterator *iterator, void *arg);

/*
 * Registers a queue of the platform thread with the environment env, which may be another one than the
 * calling thread; both must be attached. The size is a number of elements up to 1,048,576; a larger one counts as that, one
 * below 0 as 0. Options are those of the iterator. Elements of a queue whose fun is null are dropped. Returns null if the
 * queue cannot be made: ASGST_Initialize has not succeeded, a thread is not attached, or the capability can_suspend, which
 * only one agent may have, is not free, or there is no memory for so many.
 */
ASGST_Queue *ASGST_RegisterQueue(JNIEnv *env, int size, int options, ASGST_Handler fun,
                                 void *argument);

/*
 * Removes a queue, for example at ThreadEnd. The elements that wait are processed first, on the
 * calling thread. No handler of a signal may use the queue any more. Returns whether it was there.
 */
bool ASGST_DeregisterQueue(JNIEnv *env, ASGST_Queue *queue);

/*
 * Enqueues the current stack. Returns 1 + the ASGST_TRACE_KIND, or an ASGST_Error:
 * ASGST_ENQUEUE_OTHER_ERROR while another element of the queue is being enqueued, which this call has
 * interrupted. While elements are being processed, others can be enqueued; they are processed next. The
 * queue must be of the calling thread, or of one that stands still, for example in a handler of a signal
 * that waits: ucontext is then that of the other thread. Async-signal-safe.
 */
int ASGST_Enqueue(ASGST_Queue *queue, void *ucontext, void *argument);

/*
 * The nth element that waits: 0 is the oldest, -1 the youngest; null if there is none. Elements that are
 * being processed wait no more. Only for queues of the calling thread. Async-signal-safe.
 */
ASGST_QueueElement *ASGST_GetQueueElement(ASGST_Queue *queue, int n);

/* The element that ASGST_Enqueue would append. Returns as ASGST_Enqueue does. Async-signal-safe. */
int ASGST_GetEnqueuableElement(void *ucontext, ASGST_QueueElement *element);

/*
 * Changes the capacity when the elements have been processed the next time; without memory for it, the capacity stays. The size
 * is as for ASGST_RegisterQueue. Async-signal-safe.
 */
void ASGST_ResizeQueue(ASGST_Queue *queue, int size);

/* What the queue holds. Async-signal-safe. */
ASGST_QueueSizeInfo ASGST_GetQueueSizeInfo(ASGST_Queue *queue);

/*
 * Sets what is called before the elements of a queue are processed; null removes it. If an iterator is offered, the library
 * suspends the thread whenever it processes the queue. That takes until the thread comes to a safepoint, up to a fifth of a
 * second where processors are few, and the queues of all threads fill meanwhile.
 */
void ASGST_SetOnQueueProcessingStart(ASGST_Queue *queue, int options, bool offerIterator,
                                     ASGST_OnQueueSafepointHandler before, void *arg);

/* Likewise, after the elements are processed. */
void ASGST_SetOnQueueProcessingEnd(ASGST_Queue *queue, int options, bool offerIterator,
                                   ASGST_OnQueueSafepointHandler end, void *arg);

/* ---- Methods and classes ---------------------------------------------------------------------- */

/*
 * Before the call: buffers (or null) and their sizes in bytes. After it: zero-terminated strings,
 * cut where a buffer is too small, and the lengths of the whole strings without the zero.
 */
typedef struct {
  char *method_name;
  int method_name_length;
  char *signature;
  int signature_length;
  char *generic_signature; /* JVMS 4.7.9.1; empty for a method that has none */
  int generic_signature_length;
  ASGST_Class klass; /* set by the call; null if the class was unloaded */
} ASGST_MethodInfo;

typedef struct {
  char *class_name; /* with slashes, as in class files */
  int class_name_length;
  char *generic_class_name; /* JVMS 4.7.9.1; empty for a class that has none */
  int generic_class_name_length;
} ASGST_ClassInfo;

/*
 * The names of a method. If its class was unloaded, or the library is not initialized, all strings are empty and klass is
 * null, also where the VM has put another class at the same address. If the class was redefined since the sample, the names
 * of a method that was replaced may be empty, too. Async-signal-safe.
 */
void ASGST_GetMethodInfo(ASGST_Method method, ASGST_MethodInfo *info);

/* The name of a class; empty if it was unloaded. Async-signal-safe. */
void ASGST_GetClassInfo(ASGST_Class klass, ASGST_ClassInfo *info);

/* ---- Capabilities ----------------------------------------------------------------------------- */

enum ASGST_Capabilities {
  ASGST_REGISTER_QUEUE = 1, /* everything safepoint queue related */
  ASGST_MARK_FRAME = 2      /* frame marking related */
};

/* The optional parts of the API that are there: ASGST_REGISTER_QUEUE, after ASGST_Initialize. Async-signal-safe. */
int ASGST_Capabilities(void);

/* ---- Extensions ------------------------------------------------------------------------------- */

enum ASGST_FrameFlags {
  /* Compiled code has no debug info record of this instruction alone: the BCI is not known. */
  ASGST_FRAME_NO_BCI = 1,
  /* Methods that are inlined here may be missing above this frame. This frame and all below are true, if they are not
     ASGST_FRAME_LIKELY. */
  ASGST_FRAME_MAY_MISS_INLINED = 2,
  /*
   * The frame is of the bytecode that the interrupted instruction belongs to, as the compiler has recorded it, or of
   * ASGST_GUESS_INLINED. But compilers move instructions, so that the method may not have begun yet, or have returned
   * already. Of a frame of the type ASGST_FRAME_JAVA, the method is certain. Frames below are not marked, and true.
   */
  ASGST_FRAME_LIKELY = 4
};

/*
 * The version of the library that runs, as ASGST_VERSION gives that of the header. May be called at any time.
 * Async-signal-safe.
 */
int ASGST_Version(void);

/*
 * Learns about the VM of this process, and puts a handler for faults of this library's own reads
 * before those of the VM. The handler and the library stay in the process, also where dlclose closes the library. Call it
 * once before all else, on an attached thread without a pending exception, from the event VMInit on. Returns 0, or
 * ASGST_NOT_READY if this VM is not one that can be walked. Not async-signal-safe.
 */
int ASGST_Initialize(JNIEnv *env);

#ifdef __cplusplus
}
#endif
#endif
