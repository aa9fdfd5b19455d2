/*
 * A JVMTI agent that measures what one walk costs: AsyncGetStackTrace and AsyncGetCallTrace walk the same
 * stacks in the same signal handler, in alternating order. Stacks of about 10, 100 and 500 frames count. Of each
 * stack the shortest walk of each walker counts: other programs on the machine make walks longer, and never shorter. At
 * the end of the VM it prints, for each of these depths, the number of stacks and the medians in nanoseconds.
 */
#define _GNU_SOURCE
#include "../tests/support/asgct.h"
#include "profile2.h"
#include <dlfcn.h>
#include <jvmti.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define DEPTH 1024
#define MOST 4000
/* So many walks by each walker of each stack are measured. The first pair is not measured: it fills the caches. */
#define WALKS 16
/* The main thread, which runs the fixtures, gets a signal each 300 microseconds. */
#define PERIOD 300000

typedef struct {
  int depth;
  int count;
  long asgct[MOST], asgst[MOST];
} Bucket;

static void (*async_get_call_trace)(CallTrace *, jint, void *);
static jvmtiEnv *jvmti;
static timer_t timer;
static Bucket buckets[] = {{.depth = 10}, {.depth = 100}, {.depth = 500}};
static __thread __attribute__((tls_model("initial-exec"))) JNIEnv *self;
static atomic_flag busy = ATOMIC_FLAG_INIT;
static CallFrame asgct_frames[DEPTH];
static ASGST_CallFrame asgst_frames[DEPTH];

static long nanos(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

static jint walk_asgct(void *context) {
  CallTrace trace = {self, 0, asgct_frames};
  async_get_call_trace(&trace, DEPTH, context);
  return trace.num_frames;
}

static jint walk_asgst(void *context) {
  ASGST_CallTrace trace = {0, 0, asgst_frames, NULL};
  AsyncGetStackTrace(&trace, DEPTH, context, 0);
  return trace.num_frames;
}

/* The bucket for a stack of this depth, up to a quarter more or less. */
static Bucket *bucket_of(jint frames) {
  for (size_t i = 0; i < sizeof buckets / sizeof *buckets; i++) {
    int depth = buckets[i].depth;
    if (4 * frames >= 3 * depth && 4 * frames <= 5 * depth) return &buckets[i];
  }
  return NULL;
}

static void handler(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info;
  if (self == NULL || atomic_flag_test_and_set(&busy)) return;
  jint asgst = walk_asgst(context), asgct = walk_asgct(context);
  Bucket *bucket = bucket_of(asgst);
  if (bucket && asgst == asgct && bucket->count < MOST) {
    long shortest[2] = {LONG_MAX, LONG_MAX};
    for (int i = 0; i < 2 * WALKS; i++) {
      /* First one walker, then the other, twice; then the other comes first. */
      int which = (i ^ i >> 1) & 1;
      long start = nanos();
      if (which) walk_asgst(context);
      else walk_asgct(context);
      long took = nanos() - start;
      if (took < shortest[which]) shortest[which] = took;
    }
    bucket->asgct[bucket->count] = shortest[0];
    bucket->asgst[bucket->count++] = shortest[1];
  }
  atomic_flag_clear(&busy);
}

static void JNICALL class_load(jvmtiEnv *j, JNIEnv *env, jthread thread, jclass class) {
  (void)j, (void)env, (void)thread, (void)class;
}

static void JNICALL class_prepare(jvmtiEnv *j, JNIEnv *env, jthread thread, jclass class) {
  (void)j, (void)env, (void)thread;
  prime(jvmti, class);
}

static void JNICALL vm_init(jvmtiEnv *j, JNIEnv *env, jthread thread) {
  (void)j, (void)thread;
  prime_loaded(jvmti);
  if (ASGST_Initialize(env) != 0) {
    printf("not ready\n");
    return;
  }
  self = env;
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigaction(SIGPROF, &action, NULL);
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
  event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
  struct itimerspec often = {{0, PERIOD}, {0, PERIOD}};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0) timer_settime(timer, 0, &often, NULL);
}

static int by_size(const void *a, const void *b) {
  long x = *(const long *)a, y = *(const long *)b;
  return (x > y) - (x < y);
}

static long median(long *values, int count) {
  qsort(values, count, sizeof *values, by_size);
  return count ? values[count / 2] : 0;
}

static void JNICALL vm_death(jvmtiEnv *j, JNIEnv *env) {
  (void)j, (void)env;
  timer_delete(timer);
  signal(SIGPROF, SIG_IGN);
  for (size_t i = 0; i < sizeof buckets / sizeof *buckets; i++) {
    Bucket *b = &buckets[i];
    printf("walk %d %d %ld %ld\n", b->depth, b->count, median(b->asgct, b->count), median(b->asgst, b->count));
  }
  fflush(stdout);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved) {
  (void)options, (void)reserved;
  async_get_call_trace = (void (*)(CallTrace *, jint, void *))dlsym(RTLD_DEFAULT, "AsyncGetCallTrace");
  if (async_get_call_trace == NULL || (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11)) return 1;
  jvmtiEventCallbacks callbacks = {
      .VMInit = vm_init, .VMDeath = vm_death, .ClassLoad = class_load, .ClassPrepare = class_prepare};
  (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks);
  static const jvmtiEvent events[] = {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_CLASS_LOAD,
                                      JVMTI_EVENT_CLASS_PREPARE};
  for (size_t i = 0; i < sizeof events / sizeof *events; i++)
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events[i], NULL);
  return 0;
}
