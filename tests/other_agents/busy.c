// An agent that samples as profilers do: SIGPROF by CPU time, and a handler that takes its time. About half of the
// CPU time of the process passes in the handler.
#include <signal.h>
#include <sys/time.h>
#include <time.h>

static const long PERIOD_US = 1000, BUSY_NS = 500 * 1000;

static long cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void handler(int signal) {
  (void)signal;
  long start = cpu_ns();
  while (cpu_ns() - start < BUSY_NS) {
    // Most of the time is spent here, and not in the function of the C library that reads the clock.
    for (volatile int i = 0; i < 20000; i++) {
    }
  }
}

int Agent_OnLoad(void *vm, char *options, void *reserved) {
  (void)vm, (void)options, (void)reserved;
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  struct itimerval timer = {{0, PERIOD_US}, {0, PERIOD_US}};
  return sigaction(SIGPROF, &action, NULL) || setitimer(ITIMER_PROF, &timer, NULL);
}
