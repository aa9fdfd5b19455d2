/*
 * A JVMTI agent that samples through queues. The handler of the signal walks the stack with
 * AsyncGetStackTrace, keeps the answer, and enqueues the sample; the handler of the queue compares its
 * iterator with the answer. At the end of the VM it prints counts: lines of names and numbers.
 * Options: the interval in microseconds, the capacity of the queues, the options of the iterator, 1 if other threads
 * register the queues, and enqueue while a thread waits in its handler, and 1 if the handler before the elements gets no
 * iterator, so that threads are stopped only for elements that lack frames.
 */
#define _GNU_SOURCE
#include "../support/asgct.h"
#include "../support/threads.h"
#include "profile2.h"
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
#include <unistd.h>

#define DEPTH 512
/* More than both halves of a queue hold. */
#define MOST_KEPT 256

typedef struct {
  jint count;
  jmethodID methods[DEPTH];
  ASGST_Method first; /* by the iterator, at the signal */
  uint16_t bcis[DEPTH];
} Answer;

typedef struct {
  ASGST_Queue *queue;
  Answer answers[MOST_KEPT];
  long enqueued;
  atomic_long processed;
  ASGST_CallFrame frames[DEPTH];
} Thread;

static jvmtiEnv *jvmti;
static int capacity = 16, iterator_options;
/* Frames of C above the first Java frame, and between Java frames. */
static atomic_long c_on_top, c_between;
static atomic_long attempts, enqueued, full, busy, failed, processed, whole, gone, differ, out_of_order;
static atomic_long not_kept;
static atomic_long started, ended, sizes_wrong, with_iterator, whole_virtual, left, unmounted, not_suspended, unwalkable;
/*
 * The first sample that differs: the last result, its frames, those of the answer, and how many of them are the same.
 */
static atomic_int other_result, other_count, other_answered, other_same;
static __thread __attribute__((tls_model("initial-exec"))) Thread *self;

static void first_method(ASGST_Iterator *iterator, void *argument) {
  ASGST_Frame frame;
  if (ASGST_NextFrame(iterator, &frame) == 1) *(ASGST_Method *)argument = frame.method;
}

/* ---- Queues that other threads register, and enqueue to ---- */

typedef struct {
  JNIEnv *env;
  void *context;
  Thread *thread;
  Answer *answer;
  int result;
  atomic_int done;
} Request;

static int elsewhere, without_iterator;
static JavaVM *vm;
/* The threads that work for others have no queue. */
static __thread __attribute__((tls_model("initial-exec"))) int works_for_others;
static pthread_t enqueuer, registrar;
static _Atomic(Request *) to_enqueue;
static atomic_flag asking = ATOMIC_FLAG_INIT;
static pthread_mutex_t to_register_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t to_register_changed = PTHREAD_COND_INITIALIZER;
static Request *to_register;

/* This thread never waits for the VM, which may be waiting for a thread that waits here. */
static void *enqueue_for_others(void *argument) {
  (void)argument;
  for (;;) {
    Request *request = atomic_exchange(&to_enqueue, NULL);
    if (request == NULL) {
      usleep(20);
      continue;
    }
    request->result = ASGST_Enqueue(request->thread->queue, request->context, request->answer);
    request->done = 1;
  }
  return NULL;
}

static int enqueue_elsewhere(Thread *thread, void *context, Answer *answer) {
  Request request = {.context = context, .thread = thread, .answer = answer};
  while (atomic_flag_test_and_set(&asking)) sched_yield();
  atomic_store(&to_enqueue, &request);
  while (!request.done) sched_yield();
  atomic_flag_clear(&asking);
  return request.result;
}

static ASGST_Queue *new_queue(JNIEnv *env, Thread *thread);

static void *register_for_others(void *argument) {
  (void)argument;
  JNIEnv *own;
  works_for_others = 1;
  if ((*vm)->AttachCurrentThreadAsDaemon(vm, (void **)&own, NULL) != JNI_OK) abort();
  pthread_mutex_lock(&to_register_lock);
  for (;;) {
    while (to_register == NULL) pthread_cond_wait(&to_register_changed, &to_register_lock);
    Request *request = to_register;
    to_register = NULL;
    pthread_mutex_unlock(&to_register_lock);
    request->thread->queue = new_queue(request->env, request->thread);
    pthread_mutex_lock(&to_register_lock);
    request->done = 1;
    pthread_cond_broadcast(&to_register_changed);
  }
  return NULL;
}

static void register_elsewhere(JNIEnv *env, Thread *thread) {
  Request request = {.env = env, .thread = thread};
  pthread_mutex_lock(&to_register_lock);
  while (to_register != NULL) pthread_cond_wait(&to_register_changed, &to_register_lock);
  to_register = &request;
  pthread_cond_broadcast(&to_register_changed);
  while (!request.done) pthread_cond_wait(&to_register_changed, &to_register_lock);
  pthread_mutex_unlock(&to_register_lock);
}

static void on_signal(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info;
  Thread *thread = self;
  if (thread == NULL || thread->queue == NULL) return;
  /* An answer is kept until its element is processed. */
  if (thread->enqueued - thread->processed >= MOST_KEPT) {
    atomic_fetch_add(&not_kept, 1);
    return;
  }
  Answer *answer = &thread->answers[thread->enqueued % MOST_KEPT];
  ASGST_CallTrace trace = {0, 0, thread->frames, NULL};
  AsyncGetStackTrace(&trace, DEPTH, context, 0);
  if (trace.num_frames <= 0 || trace.num_frames == DEPTH) return;
  answer->count = trace.num_frames;
  answer->first = NULL;
  ASGST_RunWithIterator(context, 0, first_method, &answer->first);
  for (int i = 0; i < trace.num_frames; i++) {
    answer->methods[i] = thread->frames[i].java_frame.method_id;
    answer->bcis[i] = thread->frames[i].java_frame.bci;
  }
  atomic_fetch_add(&attempts, 1);
  int result = elsewhere ? enqueue_elsewhere(thread, context, answer) : ASGST_Enqueue(thread->queue, context, answer);
  if (result == ASGST_ENQUEUE_FULL_QUEUE) atomic_fetch_add(&full, 1);
  else if (result == ASGST_ENQUEUE_OTHER_ERROR) atomic_fetch_add(&busy, 1);
  else if (result <= 0) atomic_fetch_add(&failed, 1);
  else {
    thread->enqueued++;
    atomic_fetch_add(&enqueued, 1);
  }
  ASGST_QueueSizeInfo size = ASGST_GetQueueSizeInfo(thread->queue);
  if (size.size < 0 || size.size > size.capacity || size.capacity != capacity) atomic_fetch_add(&sizes_wrong, 1);
}

/* The counter of what ended an element; null if nothing may end it so. */
static atomic_long *why(int result) {
  switch (result) {
    case ASGST_QUEUE_LEFT: return &left;
    case ASGST_QUEUE_UNMOUNTED: return &unmounted;
    case ASGST_QUEUE_NOT_SUSPENDED: return &not_suspended;
    case ASGST_UNWALKABLE_CALLER: return &unwalkable;
    default: return NULL;
  }
}

static bool enters_virtual_thread(ASGST_Method method) {
  char name[16] = "";
  ASGST_MethodInfo info = {.method_name = name, .method_name_length = sizeof name};
  ASGST_GetMethodInfo(method, &info);
  return strcmp(name, "enterSpecial") == 0;
}

static void on_element(ASGST_Iterator *iterator, void *queue_arg, void *arg) {
  Thread *thread = queue_arg;
  Answer *answer = arg;
  if (answer != &thread->answers[thread->processed % MOST_KEPT]) atomic_fetch_add(&out_of_order, 1);
  ASGST_Frame frame;
  int result, at = 0, same = 0;
  bool is_virtual = false;
  while ((result = ASGST_NextFrame(iterator, &frame)) == 1) {
    if (frame.type == ASGST_FRAME_NON_JAVA) {
      atomic_fetch_add(at ? &c_between : &c_on_top, 1);
      continue;
    }
    is_virtual |= enters_virtual_thread(frame.method);
    int is_other = at == 0 && frame.method != answer->first;
    /* The BCI of a frame without one is 0 in the answer, and -1 here. */
    if (at >= answer->count || (frame.bci >= 0 && frame.bci != answer->bcis[at])) is_other = 1;
    if (same == at && !is_other) same++;
    at++;
  }
  if (why(result) && same == at && at > 0) {
    atomic_fetch_add(&gone, 1);
    atomic_fetch_add(why(result), 1);
  } else if (result == 0 && same == at && at == answer->count) {
    atomic_fetch_add(&whole, 1);
    if (is_virtual) atomic_fetch_add(&whole_virtual, 1);
  } else if (atomic_fetch_add(&differ, 1) == 0) {
    other_result = result;
    other_count = at;
    other_answered = answer->count;
    other_same = same;
  }
  atomic_fetch_add(&processed, 1);
  thread->processed++;
}

static void before(ASGST_Queue *queue, ASGST_Iterator *iterator, void *arg) {
  (void)queue;
  if (iterator != NULL && arg == &started) atomic_fetch_add(&with_iterator, 1);
  atomic_fetch_add(&started, 1);
}

static void after(ASGST_Queue *queue, ASGST_Iterator *iterator, void *arg) {
  (void)queue;
  if (iterator == NULL && arg == &ended) atomic_fetch_add(&ended, 1);
}

static ASGST_Queue *new_queue(JNIEnv *env, Thread *thread) {
  return ASGST_RegisterQueue(env, capacity, iterator_options, on_element, thread);
}

static void enter(JNIEnv *env) {
  if (works_for_others) return;
  Thread *thread = calloc(1, sizeof *thread);
  if (thread == NULL) return;
  if (elsewhere) register_elsewhere(env, thread);
  else thread->queue = new_queue(env, thread);
  if (thread->queue) {
    ASGST_SetOnQueueProcessingStart(thread->queue, 0, !without_iterator, before, &started);
    ASGST_SetOnQueueProcessingEnd(thread->queue, 0, false, after, &ended);
  }
  self = thread;
  add_thread();
}

static void JNICALL thread_start(jvmtiEnv *j, JNIEnv *env, jthread thread) {
  (void)j, (void)thread;
  enter(env);
}

static void JNICALL thread_end(jvmtiEnv *j, JNIEnv *env, jthread thread) {
  (void)j, (void)thread;
  remove_thread();
  Thread *old = self;
  self = NULL;
  if (old == NULL) return;
  /* What was enqueued last is processed now: nothing must be lost. */
  if (old->queue) ASGST_DeregisterQueue(env, old->queue);
  free(old);
}

static void JNICALL class_prepare(jvmtiEnv *j, JNIEnv *env, jthread thread, jclass class) {
  (void)j, (void)env, (void)thread;
  prime(jvmti, class);
}

static void JNICALL vm_init(jvmtiEnv *j, JNIEnv *env, jthread thread) {
  (void)j, (void)thread;
  if (ASGST_Initialize(env) != 0 || (ASGST_Capabilities() & ASGST_REGISTER_QUEUE) == 0) {
    printf("not ready\n");
    return;
  }
  if (elsewhere) {
    pthread_create(&enqueuer, NULL, enqueue_for_others, NULL);
    pthread_create(&registrar, NULL, register_for_others, NULL);
  }
  enter(env);
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigaction(SIGPROF, &action, NULL);
  pthread_create(&sampler, NULL, sample, NULL);
}

static void JNICALL vm_death(jvmtiEnv *j, JNIEnv *env) {
  (void)j, (void)env;
  stopping = true;
  if (sampler) pthread_join(sampler, NULL);
  signal(SIGPROF, SIG_IGN);
  /* Handlers that have begun end first. */
  for (int wait = 0; wait < 2000 && attempts != enqueued + full + busy + failed; wait++) usleep(1000);
  for (int wait = 0; wait < 2000 && processed < enqueued; wait++) usleep(1000);
  printf("attempts %ld enqueued %ld full %ld busy %ld failed %ld processed %ld\n", attempts, enqueued, full, busy,
         failed, processed);
  printf("c_on_top %ld c_between %ld not_kept %ld\n", c_on_top, c_between, not_kept);
  printf("whole %ld gone %ld differ %ld out_of_order %ld started %ld ended %ld with_iterator %ld sizes_wrong %ld\n",
         whole, gone, differ, out_of_order, started, ended, with_iterator, sizes_wrong);
  printf("whole_virtual %ld left %ld unmounted %ld not_suspended %ld unwalkable %ld\n", whole_virtual, left, unmounted,
         not_suspended, unwalkable);
  if (differ)
    printf("first that differs: result %d frames %d answer %d same %d\n", other_result, other_count, other_answered, other_same);
  fflush(stdout);
}

/* Of tests/soak/allocations.c, if it is preloaded. */
void count_allocations_of(void *function) __attribute__((weak));

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *java_vm, char *options, void *reserved) {
  (void)reserved;
  vm = java_vm;
  if (count_allocations_of) count_allocations_of((void *)(uintptr_t)AsyncGetStackTrace);
  if (options) sscanf(options, "%ld,%d,%d,%d,%d", &interval, &capacity, &iterator_options, &elsewhere, &without_iterator);
  if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11)) return 1;
  jvmtiEventCallbacks callbacks = {.VMInit = vm_init,
                                   .VMDeath = vm_death,
                                   .ThreadStart = thread_start,
                                   .ThreadEnd = thread_end,
                                   .ClassPrepare = class_prepare};
  (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks);
  static const jvmtiEvent events[] = {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_THREAD_START,
                                      JVMTI_EVENT_THREAD_END, JVMTI_EVENT_CLASS_PREPARE};
  for (size_t i = 0; i < sizeof events / sizeof *events; i++)
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events[i], NULL);
  return 0;
}
