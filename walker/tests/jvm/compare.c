/*
 * A JVMTI agent that asks AsyncGetStackTrace and AsyncGetCallTrace for the same stacks, at the same
 * signals; and AsyncGetStackTrace and GetStackTrace at the same JVMTI events. At the end of the VM
 * it prints how the answers compare: lines of names and numbers, then the first stacks that differ.
 * Options: the interval in microseconds, how many stacks are shown, and 1 to show the stacks for which
 * AsyncGetStackTrace has no answer.
 */
#define _GNU_SOURCE
#include "../support/asgct.h"
#include "../support/threads.h"
#include "profile2.h"
#include <dlfcn.h>
#include <jvmti.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define DEPTH 1024
#define MOST_KEPT 400

typedef struct {
  jint asgct, asgst;
  CallFrame asgct_frames[64];
  ASGST_CallFrame asgst_frames[64];
  void *pc, *sp, *fp;
  unsigned char code[32];
} Kept;

static void (*async_get_call_trace)(CallTrace *, jint, void *);
static JavaVM *vm;
static jvmtiEnv *jvmti;
static Kept kept[MOST_KEPT];
static int to_keep = 10;
/*
 * Whether stacks are shown for which AsyncGetStackTrace has no answer, instead of stacks that
 * differ.
 */
static int only_failed;

static atomic_long samples, asgct_failed, asgst_failed, both_failed, equal, top_bci, flagged, differ, kept_count;
static atomic_long asgct_errors[64], asgst_errors[64];
/* Stacks of each kind that have frames. */
static atomic_long kinds[ASGST_UNKNOWN_TRACE + 1];
static atomic_long asgct_nanos, asgst_nanos;
/*
 * The thread's data for the handler. The handler may touch only thread-local storage at a fixed
 * offset, because access to any other may call malloc.
 */
typedef struct {
  JNIEnv *env;
  CallFrame asgct[DEPTH];
  ASGST_CallFrame asgst[DEPTH];
  jvmtiFrameInfo here[DEPTH];
} Thread;

static __thread __attribute__((tls_model("initial-exec"))) Thread *self;

static long nanos(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

static int same(const CallFrame *a, const ASGST_CallFrame *b) {
  if (a->method_id != b->java_frame.method_id) return 0;
  if (b->type == ASGST_FRAME_NATIVE || (b->java_frame.flags & ASGST_FRAME_NO_BCI)) return 1;
  return a->lineno == b->java_frame.bci;
}

static void keep(const Thread *thread, jint asgct, jint asgst, void *context) {
  long at = atomic_fetch_add(&kept_count, 1);
  if (at >= to_keep || at >= MOST_KEPT) return;
  Kept *k = &kept[at];
  k->asgct = asgct;
  k->asgst = asgst;
  memcpy(k->asgct_frames, thread->asgct, sizeof k->asgct_frames);
  memcpy(k->asgst_frames, thread->asgst, sizeof k->asgst_frames);
  mcontext_t *registers = &((ucontext_t *)context)->uc_mcontext;
#ifdef __aarch64__
  k->pc = (void *)registers->pc;
  k->sp = (void *)registers->sp;
  k->fp = (void *)registers->regs[29];
#else
  k->pc = (void *)registers->gregs[REG_RIP];
  k->sp = (void *)registers->gregs[REG_RSP];
  k->fp = (void *)registers->gregs[REG_RBP];
#endif
  memcpy(k->code, k->pc, sizeof k->code);
}

static void handler(int signal, siginfo_t *info, void *context) {
  (void)signal;
  (void)info;
  Thread *thread = self;
  if (thread == NULL) return;
  CallFrame *asgct_frames = thread->asgct;
  ASGST_CallFrame *asgst_frames = thread->asgst;
  CallTrace asgct = {thread->env, 0, asgct_frames};
  ASGST_CallTrace asgst = {0, 0, asgst_frames, NULL};
  long turn = atomic_fetch_add(&samples, 1);
  long t0 = nanos();
  if (turn % 2) async_get_call_trace(&asgct, DEPTH, context);
  else AsyncGetStackTrace(&asgst, DEPTH, context, 0);
  long t1 = nanos();
  if (turn % 2) AsyncGetStackTrace(&asgst, DEPTH, context, 0);
  else async_get_call_trace(&asgct, DEPTH, context);
  long t2 = nanos();
  if (asgct.num_frames > 0 && asgst.num_frames > 0) {
    atomic_fetch_add(turn % 2 ? &asgct_nanos : &asgst_nanos, t1 - t0);
    atomic_fetch_add(turn % 2 ? &asgst_nanos : &asgct_nanos, t2 - t1);
  }
  if (asgct.num_frames <= 0) atomic_fetch_add(&asgct_errors[-asgct.num_frames & 63], 1);
  if (asgst.num_frames <= 0) atomic_fetch_add(&asgst_errors[-asgst.num_frames & 63], 1);
  else if (asgst.kind <= ASGST_UNKNOWN_TRACE) atomic_fetch_add(&kinds[asgst.kind], 1);
  if (asgct.num_frames <= 0 && asgst.num_frames <= 0) {
    atomic_fetch_add(&both_failed, 1);
    if (only_failed && asgst.num_frames < ASGST_NO_TOP_JAVA_FRAME) keep(thread, asgct.num_frames, asgst.num_frames, context);
    return;
  }
  if (asgct.num_frames <= 0) {
    atomic_fetch_add(&asgct_failed, 1);
    return;
  }
  if (asgst.num_frames <= 0) {
    atomic_fetch_add(&asgst_failed, 1);
    keep(thread, asgct.num_frames, asgst.num_frames, context);
    return;
  }
  int skip = 0;
  if (asgst_frames[0].java_frame.flags & (ASGST_FRAME_MAY_MISS_INLINED | ASGST_FRAME_LIKELY)) {
    atomic_fetch_add(&flagged, 1);
    /* The inlined frames that AsyncGetCallTrace reports here are not judged. */
    skip = asgct.num_frames - asgst.num_frames;
  }
  int is_same = skip >= 0 && asgct.num_frames - skip == asgst.num_frames;
  for (int i = 1; is_same && i < asgst.num_frames; i++)
    is_same = same(&asgct_frames[i + skip], &asgst_frames[i]);
  if (is_same && !same(&asgct_frames[skip], &asgst_frames[0])) {
    /* AsyncGetCallTrace takes the BCI of the interpreter's last call, or of the next record. */
    is_same = asgct_frames[skip].method_id == asgst_frames[0].java_frame.method_id;
    if (is_same) atomic_fetch_add(&top_bci, 1);
  }
  if (is_same) {
    atomic_fetch_add(&equal, 1);
  } else {
    atomic_fetch_add(&differ, 1);
    if (!only_failed) keep(thread, asgct.num_frames, asgst.num_frames, context);
  }
}

static atomic_bool ready;
static atomic_long here, here_equal, here_differ, here_failed;

/* At an event, in the event's own thread: both walkers see the same stack. */
static void compare_here(jthread thread) {
  if (!ready || self == NULL) return;
  jvmtiFrameInfo *frames = self->here;
  jint count;
  if ((*jvmti)->GetStackTrace(jvmti, thread, 0, DEPTH, frames, &count) != JVMTI_ERROR_NONE) return;
  if (count == 0) return;
  /* The handler has a buffer of its own. */
  static atomic_flag busy = ATOMIC_FLAG_INIT;
  static ASGST_CallFrame others[DEPTH];
  while (atomic_flag_test_and_set(&busy)) sched_yield();
  ASGST_CallTrace trace = {0, 0, others, NULL};
  AsyncGetStackTrace(&trace, DEPTH, NULL, 0);
  atomic_fetch_add(&here, 1);
  if (trace.num_frames <= 0) {
    atomic_fetch_add(&here_failed, 1);
  }
  /*
   * The frames of the carrier are below the frames of a virtual thread. GetStackTrace leaves them
   * out.
   */
  int is_same = trace.num_frames >= count;
  for (int i = 0; is_same && i < count; i++) {
    CallFrame frame = {(jint)frames[i].location, frames[i].method};
    is_same = same(&frame, &others[i]) && others[i].java_frame.flags == 0;
  }
  if (is_same && trace.num_frames > count) {
    const ASGST_JavaFrame *next = &others[count].java_frame;
    is_same = next->type == ASGST_FRAME_NATIVE;
  }
  atomic_fetch_add(is_same ? &here_equal : &here_differ, 1);
  long at = is_same ? MOST_KEPT : atomic_fetch_add(&kept_count, 1);
  if (at < to_keep && at < MOST_KEPT) {
    Kept *k = &kept[at];
    k->asgct = count;
    k->asgst = trace.num_frames;
    for (int i = 0; i < 64; i++) {
      k->asgct_frames[i] = (CallFrame){(jint)frames[i].location, frames[i].method};
      k->asgst_frames[i] = others[i];
    }
  }
  atomic_flag_clear(&busy);
}

static void name(jmethodID id, char *text, size_t size) {
  char *method = NULL, *signature = NULL;
  jclass class = NULL;
  snprintf(text, size, "%p", (void *)id);
  if (id == NULL || (*jvmti)->GetMethodName(jvmti, id, &method, NULL, NULL) != JVMTI_ERROR_NONE) return;
  if ((*jvmti)->GetMethodDeclaringClass(jvmti, id, &class) == JVMTI_ERROR_NONE)
    (*jvmti)->GetClassSignature(jvmti, class, &signature, NULL);
  snprintf(text, size, "%s%s", signature ? signature : "?", method);
}

static void show(const Kept *k) {
  printf("  asgct %d, asgst %d, pc %p, sp %p, fp %p, code", k->asgct, k->asgst, k->pc, k->sp, k->fp);
  for (size_t i = 0; i < sizeof k->code; i++) printf(" %02x", k->code[i]);
  printf("\n");
  for (int i = 0; i < 64 && (i < k->asgct || i < k->asgst); i++) {
    char a[200] = "", b[200] = "";
    if (i < k->asgct) name(k->asgct_frames[i].method_id, a, sizeof a);
    if (i < k->asgst) name(k->asgst_frames[i].java_frame.method_id, b, sizeof b);
    const ASGST_JavaFrame *f = &k->asgst_frames[i].java_frame;
    printf("    %-70s %5d | %-70s %5d type %d level %d flags %u\n", a,
           i < k->asgct ? k->asgct_frames[i].lineno : 0, b, f->bci, f->type, f->comp_level, f->flags);
  }
}

static void JNICALL class_load(jvmtiEnv *j, JNIEnv *env, jthread thread, jclass class) {
  (void)j, (void)env, (void)thread, (void)class;
}

static void JNICALL class_prepare(jvmtiEnv *j, JNIEnv *env, jthread thread, jclass class) {
  (void)j, (void)env;
  prime(jvmti, class);
  compare_here(thread);
}

static void JNICALL sampled_object(jvmtiEnv *j, JNIEnv *env, jthread thread, jobject object, jclass class,
                                   jlong size) {
  (void)j, (void)env, (void)object, (void)class, (void)size;
  compare_here(thread);
}

static void JNICALL exception(jvmtiEnv *j, JNIEnv *env, jthread thread, jmethodID method, jlocation at,
                              jobject object, jmethodID catching, jlocation catching_at) {
  (void)j, (void)env, (void)method, (void)at, (void)object, (void)catching, (void)catching_at;
  compare_here(thread);
}

static void enter_thread(JNIEnv *env) {
  if (self == NULL) {
    Thread *thread = calloc(1, sizeof *thread);
    if (thread == NULL) return;
    thread->env = env;
    self = thread;
  }
  add_thread();
}

static void JNICALL thread_start(jvmtiEnv *j, JNIEnv *env, jthread thread) {
  (void)j, (void)thread;
  enter_thread(env);
}

static void JNICALL thread_end(jvmtiEnv *j, JNIEnv *env, jthread thread) {
  (void)j, (void)env, (void)thread;
  remove_thread();
  Thread *old = self;
  self = NULL;
  free(old);
}

static void JNICALL vm_init(jvmtiEnv *j, JNIEnv *env, jthread thread) {
  (void)j, (void)thread;
  prime_loaded(jvmti);
  int result = ASGST_Initialize(env);
  if (result != 0) {
    printf("asgst: not ready %d\n", result);
    return;
  }
  ready = true;
  enter_thread(env);
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigaction(SIGPROF, &action, NULL);
  pthread_create(&sampler, NULL, sample, NULL);
}

/* Errors, except the error for a thread without a Java frame, and errors of threads that end. */
static long unanswered(atomic_long *counts, int no_frame) {
  long sum = 0;
  for (int i = 0; i < 64; i++)
    if (i != 0 && i != 2 && i != no_frame) sum += counts[i];
  return sum;
}

static void errors(const char *walker, atomic_long *counts) {
  printf("%s errors:", walker);
  for (int i = 0; i < 64; i++)
    if (counts[i]) printf(" %d:%ld", -i, counts[i]);
  printf("\n");
}

static void JNICALL vm_death(jvmtiEnv *j, JNIEnv *env) {
  (void)j, (void)env;
  stopping = true;
  pthread_join(sampler, NULL);
  signal(SIGPROF, SIG_IGN);
  printf("asgst: samples %ld equal %ld top_bci %ld differ %ld flagged %ld asgct_failed %ld asgst_failed %ld "
         "both_failed %ld asgct_nanos %ld asgst_nanos %ld\n",
         samples, equal, top_bci, differ, flagged, asgct_failed, asgst_failed, both_failed,
         asgct_nanos / (equal + differ + 1), asgst_nanos / (equal + differ + 1));
  printf("here: events %ld here_equal %ld here_differ %ld here_failed %ld\n", here, here_equal, here_differ, here_failed);
  printf("asgct_unanswered %ld asgst_unanswered %ld asgst_unwalkable %ld\n", unanswered(asgct_errors, 3),
         unanswered(asgst_errors, 4), asgst_errors[-ASGST_UNWALKABLE_CALLER]);
  printf("java_traces %ld cpp_traces %ld gc_traces %ld deopt_traces %ld unknown_traces %ld\n", kinds[ASGST_JAVA_TRACE],
         kinds[ASGST_CPP_TRACE], kinds[ASGST_GC_TRACE], kinds[ASGST_DEOPT_TRACE], kinds[ASGST_UNKNOWN_TRACE]);
  errors("asgct", asgct_errors);
  errors("asgst", asgst_errors);
  for (int i = 0; i < to_keep && i < kept_count && i < MOST_KEPT; i++) show(&kept[i]);
  fflush(stdout);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *java_vm, char *options, void *reserved) {
  (void)reserved;
  vm = java_vm;
  if (options) sscanf(options, "%ld,%d,%d", &interval, &to_keep, &only_failed);
  async_get_call_trace = (void (*)(CallTrace *, jint, void *))dlsym(RTLD_DEFAULT, "AsyncGetCallTrace");
  if (async_get_call_trace == NULL || (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11)) return 1;
  jvmtiCapabilities capabilities = {.can_generate_sampled_object_alloc_events = 1,
                                    .can_generate_exception_events = 1};
  if ((*jvmti)->AddCapabilities(jvmti, &capabilities) != JVMTI_ERROR_NONE) return 1;
  (*jvmti)->SetHeapSamplingInterval(jvmti, 4096);
  jvmtiEventCallbacks callbacks = {.VMInit = vm_init,
                                   .VMDeath = vm_death,
                                   .ThreadStart = thread_start,
                                   .ThreadEnd = thread_end,
                                   .ClassLoad = class_load,
                                   .ClassPrepare = class_prepare,
                                   .SampledObjectAlloc = sampled_object,
                                   .Exception = exception};
  (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks);
  jvmtiEvent events[] = {JVMTI_EVENT_VM_INIT,    JVMTI_EVENT_VM_DEATH,      JVMTI_EVENT_THREAD_START,
                         JVMTI_EVENT_THREAD_END, JVMTI_EVENT_CLASS_LOAD,    JVMTI_EVENT_CLASS_PREPARE,
                         JVMTI_EVENT_EXCEPTION,  JVMTI_EVENT_SAMPLED_OBJECT_ALLOC};
  for (size_t i = 0; i < sizeof events / sizeof *events; i++)
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events[i], NULL);
  return 0;
}
