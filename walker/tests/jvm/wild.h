/* Walks from contexts and stacks that are altered at random: see wild.c. */
#ifndef WILD_H
#define WILD_H

#include "profile2.h"
#include <stdint.h>

typedef struct {
  long walks, answers;
  long longest_nanos; /* of the thread's CPU time */
  long slow;          /* walks of more than 1 ms */
  long slow_alone;    /* of these, walks in which the kernel handled no page fault and took no processor away */
  long errors[64];
} Wild;

/*
 * Walks `count` times from `context`, each time altered in another way, and with some words of the
 * stack below `stack_end` overwritten, if that is not null; they are put back. To be called in the handler that was given
 * the context. Counts in `wild`; uses `frames`, which are the
 * calling thread's.
 */
void wild_walks(Wild *wild, ASGST_CallFrame *frames, int depth, const void *context, int count,
                uint64_t seed, const char *stack_end);

#endif
