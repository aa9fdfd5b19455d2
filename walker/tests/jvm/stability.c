/*
 * A JVMTI agent that tells whether a walker survives contexts and stacks that are altered at random (wild.c):
 * the JVM's AsyncGetCallTrace, or the library. The counts and the last altered context are in a file that is mapped
 * into memory, so that a crash leaves them.
 * Options: the file, the walker (asgct, asgst, or naive), the interval in microseconds, the number of walks at each
 * signal, the seed, and 1 if words of the stack are altered too.
 */
#define _GNU_SOURCE
#include "../support/asgct.h"
#include "../support/threads.h"
#include "profile2.h"
#include "wild.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <jvmti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define DEPTH 1024

static void (*async_get_call_trace)(CallTrace *, jint, void *);
static jvmtiEnv *jvmti;
static Wild *wild;
static WildWalk walk;
static int count, with_stack;
static unsigned long seed;
/* One thread at a time walks, because the file has one last walk. */
static atomic_flag busy = ATOMIC_FLAG_INIT;
static unsigned long turn;
static CallFrame asgct_frames[DEPTH];
static ASGST_CallFrame asgst_frames[DEPTH];

typedef struct {
  JNIEnv *env;
  /* A variable of the thread's first function. The stack above is not overwritten. */
  char *stack_end;
} Thread;

static __thread __attribute__((tls_model("initial-exec"))) Thread self;

static int walk_asgct(void *env, void *context, uint32_t options) {
  (void)options;
  CallTrace trace = {env, 0, asgct_frames};
  async_get_call_trace(&trace, DEPTH, context);
  return trace.num_frames;
}

static int walk_asgst(void *env, void *context, uint32_t options) {
  (void)env;
  ASGST_CallTrace trace = {0, 0, asgst_frames, NULL};
  AsyncGetStackTrace(&trace, DEPTH, context, options);
  return trace.num_frames;
}

/* Follows frame pointers, and checks nothing: a walker that crashes, to test the tester. */
static int walk_naive(void *env, void *context, uint32_t options) {
  (void)env, (void)options;
  void **frame = (void **)((ucontext_t *)context)->uc_mcontext.gregs[REG_RBP];
  int depth = 0;
  while (frame && depth < DEPTH) {
    asgct_frames[depth++].method_id = frame[1];
    frame = *frame;
  }
  return depth;
}

static void handler(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info;
  Thread *thread = &self;
  if (thread->env == NULL || atomic_flag_test_and_set(&busy)) return;
  int in_java = ASGST_ThreadState() == (JVMTI_THREAD_STATE_ALIVE | JVMTI_THREAD_STATE_RUNNABLE);
  turn++;
  wild_walks(wild, walk, thread->env, context, count, (turn + seed) * 0x9e3779b97f4a7c15ULL,
             with_stack && in_java && turn % 2 ? thread->stack_end : NULL);
  atomic_flag_clear(&busy);
}

static void JNICALL class_load(jvmtiEnv *j, JNIEnv *env, jthread thread, jclass class) {
  (void)j, (void)env, (void)thread, (void)class;
}

static void JNICALL class_prepare(jvmtiEnv *j, JNIEnv *env, jthread thread, jclass class) {
  (void)j, (void)env, (void)thread;
  prime(jvmti, class);
}

static void JNICALL thread_start(jvmtiEnv *j, JNIEnv *env, jthread thread) {
  (void)j, (void)thread;
  self = (Thread){env, __builtin_frame_address(0)};
  add_thread();
}

static void JNICALL thread_end(jvmtiEnv *j, JNIEnv *env, jthread thread) {
  (void)j, (void)env, (void)thread;
  remove_thread();
  self.env = NULL;
}

static void JNICALL vm_init(jvmtiEnv *j, JNIEnv *env, jthread thread) {
  prime_loaded(jvmti);
  if (ASGST_Initialize(env) != 0) {
    fprintf(stderr, "asgst: not ready\n");
    return;
  }
  thread_start(j, env, thread);
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigaction(SIGPROF, &action, NULL);
  pthread_create(&sampler, NULL, sample, NULL);
}

static void JNICALL vm_death(jvmtiEnv *j, JNIEnv *env) {
  (void)j, (void)env;
  stopping = true;
  pthread_join(sampler, NULL);
  signal(SIGPROF, SIG_IGN);
}

static Wild *map(const char *path) {
  int file = open(path, O_RDWR | O_CREAT, 0644);
  if (file < 0 || ftruncate(file, sizeof(Wild)) != 0) return NULL;
  void *memory = mmap(NULL, sizeof(Wild), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return memory == MAP_FAILED ? NULL : memory;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved) {
  (void)reserved;
  char path[1024], walker[16];
  if (!options || sscanf(options, "%1023[^,],%15[^,],%ld,%d,%lu,%d", path, walker, &interval, &count, &seed,
                         &with_stack) != 6)
    return 1;
  async_get_call_trace = (void (*)(CallTrace *, jint, void *))dlsym(RTLD_DEFAULT, "AsyncGetCallTrace");
  walk = !strcmp(walker, "asgct") ? walk_asgct : !strcmp(walker, "asgst") ? walk_asgst : walk_naive;
  wild = map(path);
  if (!wild || !async_get_call_trace || (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11)) return 1;
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
