/*
 * A JVMTI agent that asks AsyncGetStackTrace and AsyncGetCallTrace for the stacks of `Shape.java` at signals, and checks each
 * answer against the order of calls that the program has. A stack is false if it lacks `run`, if a frame between `run` and the
 * last call of the order is not the one that its depth demands, if such a frame is at no call, or if the order goes on above
 * another method. At the end of the VM it prints how many answers were false. Options: the interval in microseconds, and how
 * many false stacks are shown.
 */
#define _GNU_SOURCE
#include "../support/asgct.h"
#include "../support/threads.h"
#include "profile2.h"
#include <dlfcn.h>
#include <jvmti.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 1024
#define MOST_CODE 1024

/* The methods of the order: `next`, and those that it calls. Then those that may stand at its ends. */
enum { NEXT, PLAIN, LARGE, OVERRIDDEN, EVEN, ODD, LOCKED, CATCHING, COPYING, LOOPING, RUN, KNOWN };

static const char *const names[KNOWN][2] = {
    [NEXT] = {"LShape;", "next"},        [PLAIN] = {"LShape;", "plain"},
    [LARGE] = {"LShape;", "large"},      [OVERRIDDEN] = {"LShape$Base;", "overridden"},
    [EVEN] = {"LShape$Even;", "step"},   [ODD] = {"LShape$Odd;", "step"},
    [LOCKED] = {"LShape;", "locked"},    [CATCHING] = {"LShape;", "catching"},
    [COPYING] = {"LShape;", "copying"},  [LOOPING] = {"LShape;", "looping"},
    [RUN] = {"LShape;", "run"},
};

static _Atomic(jmethodID) methods[KNOWN];
static unsigned char code[KNOWN][MOST_CODE];
static int code_size[KNOWN];

typedef struct {
  JNIEnv *env;
  CallFrame asgct[DEPTH];
  ASGST_CallFrame asgst[DEPTH];
} Thread;

typedef struct {
  int count;
  bool is_asgct;
  void *pc;
  jmethodID ids[DEPTH];
  jint bcis[DEPTH];
} Kept;

static void (*async_get_call_trace)(CallTrace *, jint, void *);
static JavaVM *vm;
static jvmtiEnv *jvmti;
static __thread __attribute__((tls_model("initial-exec"))) Thread *self;
static atomic_bool ready;
static atomic_long samples, asgst_judged, asgst_false, asgst_failed, asgst_outside, asgct_judged, asgct_false, asgct_failed,
    asgct_outside, deepest, kept_count;
static Kept kept[20];
static int to_keep = 3;

static int expected(int depth) {
  unsigned mixed = (unsigned)depth * 0x9E3779B9u;
  switch (((mixed ^ mixed >> 15) >> 3) & 7) {
    case 0: return PLAIN;
    case 1: return LARGE;
    case 2: return OVERRIDDEN;
    case 3: return depth & 1 ? ODD : EVEN;
    case 4: return LOCKED;
    case 5: return CATCHING;
    case 6: return COPYING;
    default: return LOOPING;
  }
}

static int known(jmethodID id) {
  for (int i = 0; i < KNOWN; i++)
    if (id != NULL && methods[i] == id) return i;
  return KNOWN;
}

/* Whether the instruction calls: invokevirtual to invokeinterface. */
static bool is_call(int method, int bci) {
  return bci >= 0 && bci < code_size[method] && code[method][bci] >= 0xb6 && code[method][bci] <= 0xb9;
}

typedef enum { TRUE, FALSE, OUTSIDE } Verdict;

/* Frames from the top on. */
static Verdict judge(const jmethodID *ids, const jint *bcis, int count) {
  int at = count - 1;
  while (at >= 0 && known(ids[at]) != RUN) {
    /* The order may begin behind `run` alone. */
    if (known(ids[at]) < RUN) return FALSE;
    at--;
  }
  if (at < 0) return OUTSIDE;
  at--;
  int depth = 0;
  for (; at >= 0; at--, depth++) {
    int wanted = depth % 2 ? expected(depth / 2) : NEXT;
    if (known(ids[at]) != wanted) break;
    /* All but the last call something. */
    bool calls_on = at > 0 && known(ids[at - 1]) < KNOWN;
    if (calls_on && !is_call(wanted, bcis[at])) return FALSE;
  }
  for (; at >= 0; at--)
    if (known(ids[at]) < KNOWN) return FALSE;
  long before = deepest;
  while (depth > before && !atomic_compare_exchange_weak(&deepest, &before, depth));
  return TRUE;
}

static void count(const jmethodID *ids, const jint *bcis, int frames, bool is_asgct, void *pc) {
  switch (judge(ids, bcis, frames)) {
    case TRUE: atomic_fetch_add(is_asgct ? &asgct_judged : &asgst_judged, 1); return;
    case OUTSIDE: atomic_fetch_add(is_asgct ? &asgct_outside : &asgst_outside, 1); return;
    case FALSE: break;
  }
  atomic_fetch_add(is_asgct ? &asgct_judged : &asgst_judged, 1);
  atomic_fetch_add(is_asgct ? &asgct_false : &asgst_false, 1);
  long at = is_asgct ? to_keep : atomic_fetch_add(&kept_count, 1);
  if (at >= to_keep || at >= 20) return;
  kept[at].count = frames;
  kept[at].pc = pc;
  memcpy(kept[at].ids, ids, frames * sizeof *ids);
  memcpy(kept[at].bcis, bcis, frames * sizeof *bcis);
}

static void handler(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info;
  Thread *thread = self;
  if (thread == NULL || !ready) return;
  atomic_fetch_add(&samples, 1);
  jmethodID ids[DEPTH];
  jint bcis[DEPTH];
  CallTrace asgct = {thread->env, 0, thread->asgct};
  ASGST_CallTrace asgst = {0, 0, thread->asgst, NULL};
  async_get_call_trace(&asgct, DEPTH, context);
  AsyncGetStackTrace(&asgst, DEPTH, context, 0);
  for (int i = 0; i < asgct.num_frames; i++) {
    ids[i] = thread->asgct[i].method_id;
    bcis[i] = thread->asgct[i].lineno;
  }
  if (asgct.num_frames > 0) count(ids, bcis, asgct.num_frames, true, NULL);
  else if (asgct.num_frames < 0 && asgct.num_frames != -3) atomic_fetch_add(&asgct_failed, 1);
  for (int i = 0; i < asgst.num_frames; i++) {
    ids[i] = thread->asgst[i].java_frame.method_id;
    bcis[i] = thread->asgst[i].java_frame.bci;
  }
  if (asgst.num_frames > 0) count(ids, bcis, asgst.num_frames, false, NULL);
  else if (asgst.num_frames < 0 && asgst.num_frames != ASGST_NO_TOP_JAVA_FRAME) atomic_fetch_add(&asgst_failed, 1);
}

static void learn(jclass class) {
  char *of = NULL;
  if ((*jvmti)->GetClassSignature(jvmti, class, &of, NULL) != JVMTI_ERROR_NONE || strncmp(of, "LShape", 6) != 0) return;
  jint count;
  jmethodID *ids;
  if ((*jvmti)->GetClassMethods(jvmti, class, &count, &ids) != JVMTI_ERROR_NONE) return;
  for (int i = 0; i < count; i++) {
    char *name = NULL;
    unsigned char *bytes = NULL;
    jint size = 0;
    if ((*jvmti)->GetMethodName(jvmti, ids[i], &name, NULL, NULL) != JVMTI_ERROR_NONE) continue;
    for (int k = 0; k < KNOWN; k++) {
      if (strcmp(of, names[k][0]) != 0 || strcmp(name, names[k][1]) != 0) continue;
      if ((*jvmti)->GetBytecodes(jvmti, ids[i], &size, &bytes) != JVMTI_ERROR_NONE || size > MOST_CODE) abort();
      memcpy(code[k], bytes, size);
      code_size[k] = size;
      methods[k] = ids[i];
    }
  }
}

static void JNICALL class_load(jvmtiEnv *j, JNIEnv *env, jthread thread, jclass class) {
  (void)j, (void)env, (void)thread, (void)class;
}

static void JNICALL class_prepare(jvmtiEnv *j, JNIEnv *env, jthread thread, jclass class) {
  (void)j, (void)env, (void)thread;
  prime(jvmti, class);
  learn(class);
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
  (void)j;
  /* Threads of the VM and of the JDK wait, or run nothing of the order. */
  jvmtiThreadInfo info = {0};
  if ((*jvmti)->GetThreadInfo(jvmti, thread, &info) == JVMTI_ERROR_NONE && strcmp(info.name, "shape") == 0)
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
  if (ASGST_Initialize(env) != 0) {
    printf("asgst: not ready\n");
    return;
  }
  ready = true;
  enter_thread(env);
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigaction(SIGPROF, &action, NULL);
  pthread_create(&sampler, NULL, sample, NULL);
}

static void show(const Kept *k) {
  for (int i = 0; i < k->count; i++) {
    char *name = NULL;
    if (k->ids[i] != NULL) (*jvmti)->GetMethodName(jvmti, k->ids[i], &name, NULL, NULL);
    printf("    %s %d\n", name ? name : "?", k->bcis[i]);
  }
  printf("\n");
}

static void JNICALL vm_death(jvmtiEnv *j, JNIEnv *env) {
  (void)j, (void)env;
  if (!ready) return;
  stopping = true;
  pthread_join(sampler, NULL);
  signal(SIGPROF, SIG_IGN);
  printf("samples %ld deepest %ld\n", samples, deepest);
  printf("asgst_judged %ld asgst_false %ld asgst_failed %ld asgst_outside %ld\n", asgst_judged, asgst_false, asgst_failed,
         asgst_outside);
  printf("asgct_judged %ld asgct_false %ld asgct_failed %ld asgct_outside %ld\n", asgct_judged, asgct_false, asgct_failed,
         asgct_outside);
  for (int i = 0; i < to_keep && i < kept_count && i < 20; i++) show(&kept[i]);
  fflush(stdout);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *java_vm, char *options, void *reserved) {
  (void)reserved;
  vm = java_vm;
  if (options) sscanf(options, "%ld,%d", &interval, &to_keep);
  async_get_call_trace = (void (*)(CallTrace *, jint, void *))dlsym(RTLD_DEFAULT, "AsyncGetCallTrace");
  if (async_get_call_trace == NULL || (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11)) return 1;
  jvmtiCapabilities capabilities = {.can_get_bytecodes = 1};
  if ((*jvmti)->AddCapabilities(jvmti, &capabilities) != JVMTI_ERROR_NONE) return 1;
  jvmtiEventCallbacks callbacks = {.VMInit = vm_init,
                                   .VMDeath = vm_death,
                                   .ThreadStart = thread_start,
                                   .ThreadEnd = thread_end,
                                   .ClassLoad = class_load,
                                   .ClassPrepare = class_prepare};
  (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks);
  jvmtiEvent events[] = {JVMTI_EVENT_VM_INIT,    JVMTI_EVENT_VM_DEATH,   JVMTI_EVENT_THREAD_START,
                         JVMTI_EVENT_THREAD_END, JVMTI_EVENT_CLASS_LOAD, JVMTI_EVENT_CLASS_PREPARE};
  for (size_t i = 0; i < sizeof events / sizeof *events; i++)
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events[i], NULL);
  return 0;
}
