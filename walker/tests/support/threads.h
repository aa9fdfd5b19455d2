/* The threads that are sampled, and the thread that sends each of them SIGPROF at regular intervals. */
#ifndef THREADS_H
#define THREADS_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MOST_THREADS 4096

static _Atomic pid_t threads[MOST_THREADS];
static atomic_bool stopping;
static pthread_t sampler;
/* In microseconds. */
static long interval = 1000;

/* The calling thread is sampled from now on. */
static inline void add_thread(void) {
  pid_t id = (pid_t)syscall(SYS_gettid);
  for (int i = 0; i < MOST_THREADS; i++) {
    pid_t none = 0;
    if (atomic_compare_exchange_strong(&threads[i], &none, id)) return;
  }
}

/* The calling thread is sampled no more. */
static inline void remove_thread(void) {
  pid_t id = (pid_t)syscall(SYS_gettid);
  for (int i = 0; i < MOST_THREADS; i++)
    if (threads[i] == id) threads[i] = 0;
}

/* The sampler's thread. */
static inline void *sample(void *argument) {
  (void)argument;
  struct timespec pause = {interval / 1000000, interval % 1000000 * 1000};
  while (!stopping) {
    nanosleep(&pause, NULL);
    for (int i = 0; i < MOST_THREADS && !stopping; i++)
      if (threads[i]) syscall(SYS_tgkill, getpid(), threads[i], SIGPROF);
  }
  return NULL;
}

#endif
