/*
 * A JVMTI agent that asks threads whose names begin with "state-" for their states, each in a handler of a signal, and JVMTI
 * before and after. Where JVMTI says the same both times, the answers are compared. At the end of the VM it prints for each
 * thread how many answers were the same and how many differ: lines of names and numbers.
 */
#define _GNU_SOURCE
#include "profile2.h"
#include <jvmti.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MOST 16
/* In milliseconds. */
#define PATIENCE 10000

typedef struct {
  char name[32];
  jthread thread;
  pid_t id;
  atomic_int state;
  atomic_bool answered, ready;
  long same, differ, unlike;
} Asked;

static jvmtiEnv *jvmti;
static JavaVM *vm;
static Asked all[MOST];
static atomic_int count;
static atomic_bool stopping;
static pthread_t asker;
static __thread __attribute__((tls_model("initial-exec"))) Asked *self;

static void on_signal(int signal) {
  (void)signal;
  if (self == NULL) return;
  self->state = ASGST_ThreadState();
  self->answered = true;
}

/* What is not known of a wait. */
static jint known(jint state) {
  state &= ~JVMTI_THREAD_STATE_WAITING_INDEFINITELY;
  if (!(state & JVMTI_THREAD_STATE_SLEEPING)) state &= ~JVMTI_THREAD_STATE_WAITING_WITH_TIMEOUT;
  return state;
}

static void ask(Asked *one) {
  jint before, after;
  if ((*jvmti)->GetThreadState(jvmti, one->thread, &before) != JVMTI_ERROR_NONE) return;
  one->answered = false;
  if (syscall(SYS_tgkill, getpid(), one->id, SIGPROF)) return;
  for (int wait = 0; !one->answered; wait++) {
    if (stopping || wait == PATIENCE) return;
    usleep(1000);
  }
  if ((*jvmti)->GetThreadState(jvmti, one->thread, &after) != JVMTI_ERROR_NONE || before != after) return;
  /* A thread in the VM's own code, which JVMTI calls runnable. */
  bool in_vm = one->state == JVMTI_THREAD_STATE_ALIVE && (before & JVMTI_THREAD_STATE_RUNNABLE);
  if (in_vm) one->unlike++;
  else if (one->state == known(before)) one->same++;
  else if (one->differ++ == 0) printf("  %s: %x is not %x\n", one->name, one->state, before);
}

static void *ask_all(void *argument) {
  (void)argument;
  JNIEnv *env;
  if ((*vm)->AttachCurrentThreadAsDaemon(vm, (void **)&env, NULL) != JNI_OK) abort();
  while (!stopping) {
    for (int i = 0; i < count && !stopping; i++)
      if (all[i].ready) ask(&all[i]);
    usleep(1000);
  }
  (*vm)->DetachCurrentThread(vm);
  return NULL;
}

static void JNICALL thread_start(jvmtiEnv *j, JNIEnv *env, jthread thread) {
  jvmtiThreadInfo info;
  if ((*j)->GetThreadInfo(j, thread, &info) != JVMTI_ERROR_NONE || info.name == NULL) return;
  if (strncmp(info.name, "state-", 6) == 0) {
    int at = count++;
    if (at < MOST) {
      snprintf(all[at].name, sizeof all[at].name, "%s", info.name + 6);
      all[at].thread = (*env)->NewGlobalRef(env, thread);
      all[at].id = (pid_t)syscall(SYS_gettid);
      self = &all[at];
      all[at].ready = true;
    }
  }
  (*j)->Deallocate(j, (unsigned char *)info.name);
}

static void JNICALL vm_init(jvmtiEnv *j, JNIEnv *env, jthread thread) {
  (void)j, (void)thread;
  if (ASGST_Initialize(env) != 0) {
    printf("not ready\n");
    return;
  }
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  sigaction(SIGPROF, &action, NULL);
  pthread_create(&asker, NULL, ask_all, NULL);
}

static void JNICALL vm_death(jvmtiEnv *j, JNIEnv *env) {
  (void)j, (void)env;
  stopping = true;
  if (asker) pthread_join(asker, NULL);
  for (int i = 0; i < count && i < MOST; i++)
    printf("%s-same %ld %s-differ %ld %s-unlike %ld\n", all[i].name, all[i].same, all[i].name, all[i].differ, all[i].name,
           all[i].unlike);
  fflush(stdout);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *java_vm, char *options, void *reserved) {
  (void)options, (void)reserved;
  vm = java_vm;
  if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11)) return 1;
  jvmtiEventCallbacks callbacks = {.VMInit = vm_init, .VMDeath = vm_death, .ThreadStart = thread_start};
  (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks);
  static const jvmtiEvent events[] = {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_THREAD_START};
  for (size_t i = 0; i < sizeof events / sizeof *events; i++)
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events[i], NULL);
  return 0;
}
