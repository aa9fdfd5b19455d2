/*
 * The fuzz body: walks from contexts that are altered at random. Registers are changed by small or
 * large amounts, exchanged, or set at random; the program counter is within instructions or outside
 * of all code; words of the stack are overwritten. A walk may answer or fail, but must not crash,
 * hang or take long.
 */
#define _GNU_SOURCE
#include "wild.h"
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#define OVERWRITTEN 4
#define STACK_WORDS 512
#define SLOW 1000000
#define REPETITIONS 8

static uint64_t next(uint64_t *seed) {
  *seed ^= *seed << 13;
  *seed ^= *seed >> 7;
  *seed ^= *seed << 17;
  return *seed;
}

static uint64_t cpu_nanos(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t altered(uint64_t kind, uint64_t value, uint64_t *seed, const greg_t *registers) {
  switch (kind) {
  case WILD_UP: return value + next(seed) % 16;
  case WILD_DOWN: return value - next(seed) % 16;
  case WILD_WORDS_UP: return value + 8 * (next(seed) % 512);
  case WILD_WORDS_DOWN: return value - 8 * (next(seed) % 512);
  case WILD_BIT: return value ^ (1ULL << next(seed) % 64);
  case WILD_REGISTER: return (uint64_t)registers[next(seed) % 17];
  case WILD_FAR: return value + next(seed) % (1 << 24) - (1 << 23);
  default: return next(seed) >> next(seed) % 64;
  }
}

/* Alters `value`, and writes down how. */
static uint64_t change(Wild *wild, uint64_t place, uint64_t value, uint64_t *seed, const greg_t *registers) {
  uint64_t kind = next(seed) % WILD_KINDS;
  uint64_t after = altered(kind, value, seed, registers);
  wild->alterations[kind]++;
  wild->change[wild->changes++] = (WildChange){place, kind, value, after};
  return after;
}

/* The thread's CPU time for a walk. `frames` gets its answer. */
static uint64_t timed(Wild *wild, WildWalk walk, void *argument, ucontext_t *context, uint32_t options, int *frames) {
  wild->under_way = 1;
  atomic_signal_fence(memory_order_seq_cst);
  uint64_t start = cpu_nanos();
  *frames = walk(argument, context, options);
  uint64_t nanos = cpu_nanos() - start;
  atomic_signal_fence(memory_order_seq_cst);
  wild->under_way = 0;
  return nanos;
}

void wild_walks(Wild *wild, WildWalk walk, void *argument, const void *context, int count, uint64_t seed,
                const char *stack_end) {
  const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
  uint64_t *stack = (uint64_t *)(registers[REG_RSP] & ~7ULL);
  uint64_t words = stack_end && stack_end > (char *)stack ? (uint64_t)(stack_end - (char *)stack) / 8 : 0;
  if (words > STACK_WORDS) words = STACK_WORDS;
  seed |= 1;
  for (int i = 0; i < count; i++) {
    ucontext_t copy;
    memcpy(&copy, context, sizeof copy);
    greg_t *others = copy.uc_mcontext.gregs;
    wild->changes = 0;
    int changes = words ? next(&seed) % 3 : 1 + next(&seed) % 4;
    for (int c = 0; c < changes; c++) {
      /* Half of the changes affect the most important registers. */
      static const int main_ones[] = {REG_RIP, REG_RSP, REG_RBP};
      int which = next(&seed) % 2 ? main_ones[next(&seed) % 3] : (int)(next(&seed) % 17);
      others[which] = (greg_t)change(wild, (uint64_t)which, (uint64_t)others[which], &seed, registers);
    }
    memcpy(wild->registers, others, sizeof wild->registers);
    uint64_t *places[OVERWRITTEN], before[OVERWRITTEN];
    int overwritten = words ? OVERWRITTEN : 0;
    for (int w = 0; w < overwritten; w++) {
      places[w] = stack + next(&seed) % words;
      before[w] = *places[w];
      uint64_t place = WILD_STACK + (uint64_t)((char *)places[w] - (char *)stack);
      *places[w] = change(wild, place, *places[w], &seed, registers);
    }
    uint32_t options = next(&seed) % 4;
    int frames;
    uint64_t nanos = timed(wild, walk, argument, &copy, options, &frames);
    wild->walks++;
    wild->slow += nanos > SLOW;
    /* What interrupts a walk does not interrupt each of its repetitions. */
    for (int r = 0; r < REPETITIONS && nanos > wild->longest_nanos; r++) {
      uint64_t again = timed(wild, walk, argument, &copy, options, &frames);
      if (again < nanos) nanos = again;
    }
    if (nanos > wild->longest_nanos) wild->longest_nanos = nanos;
    for (int w = overwritten; w-- > 0;) *places[w] = before[w];
    if (frames > 0) wild->answers++;
    else wild->errors[-frames & 63]++;
  }
}
