/* Walks from contexts and stacks that are altered at random: see wild.c. */
#ifndef WILD_H
#define WILD_H

#include <stdint.h>

/* How a value is altered. */
enum {
  WILD_UP,       /* by less than 16 bytes: within an instruction, or to the next */
  WILD_DOWN,     /* likewise */
  WILD_WORDS_UP, /* by up to 511 words: to another frame */
  WILD_WORDS_DOWN,
  WILD_BIT,      /* one bit is inverted */
  WILD_REGISTER, /* the value of another register */
  WILD_FAR,      /* by up to 8 MB */
  WILD_RANDOM,   /* any number of any length */
  WILD_KINDS
};

#define WILD_MOST_CHANGES 8
#define WILD_REGISTERS 23
/* In `place` of a change: a word of the stack, so many bytes from the stack pointer. Lower numbers are registers. */
#define WILD_STACK 0x1000

typedef struct {
  uint64_t place, kind, before, after;
} WildChange;

/* All fields are words of eight bytes, so that a reader of the memory needs no other description. */
typedef struct {
  uint64_t walks, answers;
  /*
   * The CPU time of the longest walk. A walk that took longer than all walks before is repeated a few times,
   * from the same context and stack, and the shortest of these times counts: the clock of a thread runs on while the
   * processor handles an interrupt, or is not there because another virtual machine has it.
   */
  uint64_t longest_nanos;
  uint64_t slow; /* walks of more than 1 ms, without repetition */
  uint64_t errors[64];
  uint64_t alterations[WILD_KINDS];
  /* The walk that is under way, or the last walk: it is written before the walk begins. */
  uint64_t under_way;
  uint64_t registers[WILD_REGISTERS]; /* as altered, in the order of `gregs` */
  uint64_t changes;
  WildChange change[WILD_MOST_CHANGES];
} Wild;

/* Walks from `context`. Returns the number of frames, or an error code. */
typedef int (*WildWalk)(void *argument, void *context, uint32_t options);

/*
 * Walks `count` times from `context`, each time altered in another way, and with some words of the
 * stack below `stack_end` overwritten, if that is not null; they are put back. To be called in the handler that was
 * given the context. Counts in `wild`.
 */
void wild_walks(Wild *wild, WildWalk walk, void *argument, const void *context, int count, uint64_t seed,
                const char *stack_end);

#endif
