/*
 * The fuzz body: walks from contexts that are altered at random. Registers are changed by small or
 * large amounts, exchanged, or set at random; the program counter is within instructions or outside
 * of all code; words of the stack are overwritten. A walk may answer or fail, but must not crash,
 * hang or take long.
 */
#define _GNU_SOURCE
#include "wild.h"
#include "profile2.h"
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <ucontext.h>

#define OVERWRITTEN 4
#define STACK_WORDS 512
#define SLOW 1000000

static uint64_t next(uint64_t *seed) {
  *seed ^= *seed << 13;
  *seed ^= *seed >> 7;
  *seed ^= *seed << 17;
  return *seed;
}

static long cpu_nanos(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

/* How often the kernel has interrupted the thread: page faults and switches. */
static long interruptions(void) {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt + usage.ru_majflt + usage.ru_nvcsw + usage.ru_nivcsw;
}

static uint64_t altered(uint64_t value, uint64_t *seed, const greg_t *registers) {
  switch (next(seed) % 8) {
  case 0: return value + next(seed) % 16;
  case 1: return value - next(seed) % 16;
  case 2: return value + 8 * (next(seed) % 512);
  case 3: return value - 8 * (next(seed) % 512);
  case 4: return value ^ (1ULL << next(seed) % 64);
  case 5: return (uint64_t)registers[next(seed) % 17];
  case 6: return value + next(seed) % (1 << 24) - (1 << 23);
  default: return next(seed) >> next(seed) % 64;
  }
}

void wild_walks(Wild *wild, ASGST_CallFrame *frames, int depth, const void *context, int count,
                uint64_t seed, const char *stack_end) {
  const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
  uint64_t *stack = (uint64_t *)(registers[REG_RSP] & ~7ULL);
  uint64_t words = stack_end && stack_end > (char *)stack ? (uint64_t)(stack_end - (char *)stack) / 8 : 0;
  if (words > STACK_WORDS) words = STACK_WORDS;
  seed |= 1;
  for (int i = 0; i < count; i++) {
    ucontext_t copy;
    memcpy(&copy, context, sizeof copy);
    greg_t *others = copy.uc_mcontext.gregs;
    int changes = words ? next(&seed) % 3 : 1 + next(&seed) % 4;
    for (int c = 0; c < changes; c++) {
      /* Half of the changes affect the most important registers. */
      static const int main_ones[] = {REG_RIP, REG_RSP, REG_RBP};
      int which = next(&seed) % 2 ? main_ones[next(&seed) % 3] : (int)(next(&seed) % 17);
      others[which] = (greg_t)altered((uint64_t)others[which], &seed, registers);
    }
    uint64_t *places[OVERWRITTEN], before[OVERWRITTEN];
    int overwritten = words ? OVERWRITTEN : 0;
    for (int w = 0; w < overwritten; w++) {
      places[w] = stack + next(&seed) % words;
      before[w] = *places[w];
      *places[w] = altered(*places[w], &seed, registers);
    }
    ASGST_CallTrace trace = {0, 0, frames, NULL};
    long before_walk = interruptions(), start = cpu_nanos();
    AsyncGetStackTrace(&trace, depth, &copy, next(&seed) % 4);
    long nanos = cpu_nanos() - start;
    for (int w = overwritten; w-- > 0;) *places[w] = before[w];
    if (nanos > SLOW) {
      wild->slow++;
      wild->slow_alone += interruptions() == before_walk;
    }
    wild->walks++;
    if (nanos > wild->longest_nanos) wild->longest_nanos = nanos;
    if (trace.num_frames > 0) wild->answers++;
    else wild->errors[-trace.num_frames & 63]++;
  }
}
